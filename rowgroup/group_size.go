package rowgroup

import (
	"github.com/colsst/colsst/encoding"
)

// FixedBytes is what one row (of role Clustering and Regular) or static row
// counts for row_group_size_in_bytes, whatever it holds: 4 or 8 bytes a column,
// 8 for one of byte strings. The bytes of byte strings, of exceptions and of
// keys count besides.
func (s *Schema) FixedBytes(r Role) int {
	n := 0
	for i := s.from[r]; i < s.from[r+1]; i++ {
		switch s.cols[i].Type.Physical().Class() {
		case ClassInt32, ClassFloat32:
			n += 4
		default:
			n += 8
		}
	}
	return n
}

// groupLimits are what row groups of several rows or partitions may hold: the
// table's row_group_rows and row_group_size_in_bytes.
type groupLimits struct {
	rows, bytes   int
	width, static int // FixedBytes of a row and of a static row
	left          int // bytes that the strings of the group at hand may still take
}

func newGroupLimits(s *Schema) groupLimits {
	return groupLimits{
		rows: encoding.MaxGroupRows, bytes: encoding.MaxGroupBytes,
		width: s.FixedBytes(Clustering) + s.FixedBytes(Regular), static: s.FixedBytes(Static),
	}
}

// SetLimits says what the row groups of the table hold at most: unfiltereds
// or partitions, and bytes of values (see Schema.FixedBytes) where a group has
// more than one row or partition. Larger ones are corrupt.
func (d *BlockDecoder) SetLimits(rows, bytes int) { d.limits.rows, d.limits.bytes = rows, bytes }

// single reports whether a group is of at most one row of one partition, which
// may be of any size.
func single(rows, parts int) bool { return rows <= 1 && parts <= 1 }

// check refuses a group of this many rows and partitions, or sets left.
func (m *groupLimits) check(rows, parts int) error {
	if rows > m.rows || parts > m.rows {
		return encoding.Corruptf("block parameters", "a row group of %d rows, %d partitions; the limit is %d", rows, parts, m.rows)
	}
	m.left = encoding.MaxRowBytes
	if !single(rows, parts) {
		m.left = m.bytes
	}
	fixed := int64(rows)*int64(m.width) + int64(parts)*int64(m.static)
	if fixed > int64(m.left) {
		return encoding.Corruptf("block parameters", "a row group of %d bytes; the limit is %d", fixed, m.left)
	}
	m.left -= int(fixed)
	return nil
}

// GroupBytes is about what the values and keys of group g take in a batch,
// metadata not counted: never less than they do, or the table's limit for
// groups of several rows or partitions.
func (d *BlockDecoder) GroupBytes(g int) int {
	rows, parts := d.rows[g], d.parts[g]
	size := rows*d.limits.width + parts*d.limits.static
	var slots [numSlots]int64
	for k, l := range d.t.streams[1:] {
		st := int(l.stream)
		n := d.count(st, g)
		if n == 0 || d.l.streams[st].class != ClassBytes {
			continue
		}
		d.slots(d.t, k+1, g, &slots)
		id := encoding.ID(slots[slotID])
		if n > 1 && id != encoding.LengthBytes { // may repeat bytes
			return max(size, d.limits.bytes)
		}
		var p encoding.Params
		copy(p[:], slots[slotParam:])
		if plain, err := d.bodyLen(st, id, slots[slotID], &p, n); err == nil {
			size += plain
		}
	}
	return size
}
