package rowgroup

import (
	"github.com/colsst/colsst/encoding"
)

// FixedBytes is what one row (of role Clustering and Regular) or static row
// counts for row_group_size_in_bytes, whatever it holds: 4 or 8 bytes a column,
// 8 for one of byte strings and a multi-cell one. The bytes of byte strings, of
// exceptions and of keys count besides, and so do cells of multi-cell columns:
// see CellBytes.
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
}

func newGroupLimits(s *Schema) groupLimits {
	return groupLimits{
		rows: encoding.MaxGroupRows, bytes: encoding.MaxGroupBytes,
		width: s.FixedBytes(Clustering) + s.FixedBytes(Regular), static: s.FixedBytes(Static),
	}
}

// SetLimits says what the row groups of the table hold at most: unfiltereds
// or partitions, and bytes of values (see Schema.FixedBytes) where a group has
// more than one row or partition. Larger ones are corrupt. It counts from the
// next Open on.
func (d *BlockDecoder) SetLimits(rows, bytes int) {
	d.limits.rows, d.limits.bytes = rows, bytes
	d.laid = evenGroups{}
}

// single reports whether a group is of at most one row of one partition, which
// may be of any size.
func single(rows, parts int) bool { return rows <= 1 && parts <= 1 }

// room is how many bytes of strings a group of this many rows and partitions
// may have; it refuses the group if it is too large without any.
func (m *groupLimits) room(rows, parts int) (int, error) {
	if rows > m.rows || parts > m.rows {
		return 0, encoding.Corruptf("block parameters", "a row group of %d rows, %d partitions; the limit is %d", rows, parts, m.rows)
	}
	limit := encoding.MaxRowBytes
	if !single(rows, parts) {
		limit = m.bytes
	}
	fixed := int64(rows)*int64(m.width) + int64(parts)*int64(m.static)
	if fixed > int64(limit) {
		return 0, encoding.Corruptf("block parameters", "a row group of %d bytes; the limit is %d", fixed, limit)
	}
	return limit - int(fixed), nil
}

// GroupBytes is about what the values and keys of group g take in a batch,
// metadata not counted: never less than they do, or the table's limit for
// groups of several rows or partitions.
func (d *BlockDecoder) GroupBytes(g int) int {
	rows, parts := d.rows[g], d.parts[g]
	size := rows*d.limits.width + parts*d.limits.static
	for _, paths := range d.l.paths {
		size += d.count(paths, g) * CellBytes
	}
	for _, k := range d.texts {
		st := int(d.t.streams[k].stream)
		n := d.count(st, g)
		if n == 0 {
			continue
		}
		v := d.slots(int(k), g)
		if n > 1 && encoding.ID(v[slotID]) != encoding.LengthBytes { // may repeat bytes
			return max(size, d.limits.bytes)
		}
		if plain, err := d.bodyLen(st, v, n); err == nil {
			size += plain
		}
	}
	return size
}
