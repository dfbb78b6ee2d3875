package columnar

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

var bg = context.Background()

// testSchemas are tables of every shape.
func testSchemas(t testing.TB) map[string]*rowgroup.Schema {
	type cols = []rowgroup.Column
	key := cols{{Name: "k", Type: rowgroup.Text}}
	time := cols{{Name: "time", Type: rowgroup.Bigint}}
	regular := cols{{Name: "v", Type: rowgroup.Double}, {Name: "n", Type: rowgroup.Int}, {Name: "s", Type: rowgroup.Text}}
	m := map[string]*rowgroup.Schema{}
	add := func(name string, k, c, s, r cols, opts ...rowgroup.SchemaOption) {
		sc, err := rowgroup.NewSchema(k, c, s, r, opts...)
		require.NoError(t, err)
		m[name] = sc
	}
	add("keyless", nil, time, nil, regular, rowgroup.WithMultiset())
	add("lines", nil, nil, nil, regular)
	add("series", key, time, nil, regular)
	add("desc", key, cols{{Name: "time", Type: rowgroup.Bigint, Desc: true}}, nil, regular)
	add("static", key, time, cols{{Name: "st", Type: rowgroup.Text}, {Name: "sn", Type: rowgroup.Bigint}}, regular)
	add("two", cols{{Name: "k", Type: rowgroup.Text}}, cols{{Name: "name", Type: rowgroup.Text}, {Name: "time", Type: rowgroup.Bigint}}, nil, regular, rowgroup.WithOrder("murmur3"))
	add("multi", key, time, nil, regular, rowgroup.WithMultiset())
	var cells cols
	for _, text := range []string{"list<int>", "set<text>", "map<text,double>", "udt<ks.u{a:int,b:text}>"} {
		typ, err := rowgroup.ParseType(text)
		require.NoError(t, err)
		cells = append(cells, rowgroup.Column{Name: typ.Kind.String(), Type: typ})
	}
	add("cells", key, time, cols{{Name: "st", Type: cells[2].Type}}, append(cells, regular[0]))
	return m
}

// historyOptions shape random histories.
type historyOptions struct {
	partitions, rows int
	plain            bool // rows alone: no markers, deletions, odd cells
}

// history makes a table of random unfiltereds.
func history(t testing.TB, s *rowgroup.Schema, r *rand.Rand, o historyOptions) *rowgroup.Batch {
	b := rowgroup.NewBatch(s)
	n := func() int { return 1 + r.IntN(max(1, 2*o.rows)) }
	if len(s.Columns(rowgroup.PartitionKey)) == 0 {
		fillPartition(s, b, r, n(), o.plain)
		fix(b)
		require.NoError(t, b.Check())
		return b
	}
	var keys []string
	for i := range o.partitions {
		keys = append(keys, fmt.Sprintf("host-%03d.%c", i/3, 'a'+i%3))
	}
	slices.SortFunc(keys, func(x, y string) int {
		c, _ := s.ComparePartitions([]byte(x), []byte(y))
		return c
	})
	for _, k := range keys {
		h := b.BeginPartition([]byte(k))
		if !o.plain && r.IntN(4) == 0 {
			h.Deletion = rowgroup.Deletion{MarkedForDeleteAt: r.Int64N(1000), LocalDeletionTime: r.Int64N(100)}
		}
		if from, to := s.Range(rowgroup.Static); to > from {
			h.Static = rowgroup.StaticState(r.IntN(3))
			m := b.StaticMeta()
			m.Liveness = append(m.Liveness, rowgroup.LivenessNone)
			m.WriteTimes = append(m.WriteTimes, 0)
			m.TTLs = append(m.TTLs, 0)
			m.Expiries = append(m.Expiries, 0)
			for c := from; c < to; c++ {
				state := rowgroup.CellAbsent
				if h.Static == rowgroup.StaticFull {
					state = rowgroup.CellLive | rowgroup.CellOwnTime
				}
				appendCell(b, c, state, r)
			}
		}
		fillPartition(s, b, r, n(), o.plain)
	}
	fix(b)
	require.NoError(t, b.Check())
	return b
}

// fix makes aligned slices of all columns whole.
func fix(b *rowgroup.Batch) {
	n := b.Len()
	s := b.Schema()
	from, to := s.Range(rowgroup.Regular)
	for c := from; c < to; c++ {
		if m := b.CellMeta(c); len(m.Cells) > 0 && len(m.Cells) != n {
			panic("cells")
		}
	}
}

// appendCells adds the cells of a multi-cell column in the last row; those of
// odd number have another state than the first.
func appendCells(b *rowgroup.Batch, c int, state rowgroup.Cell, r *rand.Rand) {
	m, row, typ := b.MultiCells(c), b.Len()-1, b.Schema().Column(c).Type
	if b.Schema().Role(c) == rowgroup.Static {
		row = b.NumPartitions() - 1
	}
	if state == rowgroup.CellAbsent {
		m.Pad(row + 1)
		return
	}
	m.Begin(row)
	if r.IntN(4) == 0 {
		m.Delete(rowgroup.Deletion{MarkedForDeleteAt: r.Int64N(1000), LocalDeletionTime: r.Int64N(100)})
	}
	for k := range r.IntN(5) {
		cell := rowgroup.MultiCell{Path: fmt.Appendf(nil, "%d", k), State: state, WriteTime: r.Int64N(1000), TTL: 60, Expiry: r.Int64N(200)}
		if state != rowgroup.CellAsRow && k%2 == 1 {
			cell.State = rowgroup.CellTombstone | state&rowgroup.CellOwnTime
		}
		switch typ.Kind {
		case rowgroup.KindUDT:
			cell.Path, cell.Value = []byte{0, byte(k)}, fmt.Append(nil, r.IntN(1000))
		case rowgroup.KindList:
			cell.Value = binary.BigEndian.AppendUint32(nil, r.Uint32N(50))
		case rowgroup.KindMap:
			cell.Value = binary.BigEndian.AppendUint64(nil, math.Float64bits(float64(r.IntN(50))/10))
		}
		if r.IntN(20) == 0 && typ.Kind != rowgroup.KindSet {
			cell.Value = cell.Value[:r.IntN(2)]
		}
		if err := m.Append(&cell); err != nil {
			panic(err)
		}
	}
}

func appendCell(b *rowgroup.Batch, c int, state rowgroup.Cell, r *rand.Rand) {
	if b.MultiCells(c) != nil {
		appendCells(b, c, state, r)
		return
	}
	switch b.Schema().Column(c).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		*b.Int32s(c) = append(*b.Int32s(c), int32(r.IntN(100)))
	case rowgroup.ClassInt64:
		*b.Int64s(c) = append(*b.Int64s(c), r.Int64N(1000))
	case rowgroup.ClassFloat64:
		v := math.Round(r.Float64()*1000) / 10
		if r.IntN(20) == 0 {
			v = math.Float64frombits(r.Uint64())
		}
		*b.Float64s(c) = append(*b.Float64s(c), v)
	case rowgroup.ClassFloat32:
		*b.Float32s(c) = append(*b.Float32s(c), float32(r.IntN(1000))/10)
	default:
		b.Bytes(c).Append([]byte(strings.Repeat("x", r.IntN(3)) + fmt.Sprint(r.IntN(1000))))
	}
	m := b.CellMeta(c)
	m.Cells = append(m.Cells, state)
	m.WriteTimes = append(m.WriteTimes, 0)
	m.TTLs = append(m.TTLs, 0)
	m.Expiries = append(m.Expiries, 0)
	i := len(m.Cells) - 1
	if state&rowgroup.CellOwnTime != 0 {
		m.WriteTimes[i] = r.Int64N(1000)
	}
	if state&rowgroup.CellOwnExpiry != 0 {
		m.TTLs[i], m.Expiries[i] = 60, r.Int64N(200)
	}
	if state.Kind() == rowgroup.CellTombstone {
		m.Expiries[i] = r.Int64N(200)
	}
}

func fillPartition(s *rowgroup.Schema, b *rowgroup.Batch, r *rand.Rand, n int, plain bool) {
	cf, ct := s.Range(rowgroup.Clustering)
	rf, rt := s.Range(rowgroup.Regular)
	time, name := int64(r.IntN(100)), 0
	desc := ct > cf && s.Column(ct-1).Desc
	open := rowgroup.LiveDeletion
	if desc {
		time = 1 << 30
	}
	advance := func() {
		step := int64(1 + r.IntN(3))
		if s.Multiset() {
			step = int64(r.IntN(2))
		}
		if desc {
			step = -step
		}
		time += step
		if ct-cf == 2 && r.IntN(20) == 0 {
			name++
			time = 0
		}
	}
	clustering := func() {
		for c := cf; c < ct; c++ {
			if s.Column(c).Name == "name" {
				b.Bytes(c).Append(fmt.Appendf(nil, "name%05d", name))
			} else {
				*b.Int64s(c) = append(*b.Int64s(c), time)
			}
		}
	}
	meta := func(l rowgroup.Liveness) {
		m := b.Meta()
		m.Liveness = append(m.Liveness, l)
		w, ttl, exp := int64(0), int32(0), int64(0)
		if l != rowgroup.LivenessNone {
			w = 500 + time%100
		}
		if l >= rowgroup.LivenessExpiring {
			exp = time%100 + 50
		}
		if l == rowgroup.LivenessExpiring {
			ttl = 60
		}
		m.WriteTimes, m.TTLs, m.Expiries = append(m.WriteTimes, w), append(m.TTLs, ttl), append(m.Expiries, exp)
	}
	marker := func(kind rowgroup.BoundKind) {
		m := rowgroup.Marker{Row: b.Len(), Prefix: ct - cf, Kind: kind, Close: rowgroup.LiveDeletion, Open: rowgroup.LiveDeletion}
		if kind.Closes() {
			m.Close = open
		}
		open = rowgroup.LiveDeletion
		if kind.Opens() {
			open = rowgroup.Deletion{MarkedForDeleteAt: r.Int64N(1000), LocalDeletionTime: r.Int64N(100)}
			m.Open = open
		}
		*b.Markers() = append(*b.Markers(), m)
		clustering()
		meta(rowgroup.LivenessLive)
		for c := rf; c < rt; c++ {
			appendCell(b, c, rowgroup.CellAbsent, r)
		}
	}
	markers := !plain && ct > cf && !s.Multiset() && r.IntN(3) > 0
	for range n {
		advance()
		if markers && r.IntN(12) == 0 {
			switch {
			case open.Live():
				marker(rowgroup.InclStart)
			case r.IntN(3) == 0:
				marker(rowgroup.ExclEndInclStart)
			default:
				marker(rowgroup.ExclEnd)
			}
			if r.IntN(2) == 0 {
				advance()
			}
		}
		l := rowgroup.LivenessLive
		if !plain {
			l = rowgroup.Liveness(max(0, r.IntN(8)-4))
		}
		clustering()
		if !plain && r.IntN(15) == 0 {
			b.Meta().Deletions = append(b.Meta().Deletions, rowgroup.RowDeletion{
				Row:      len(b.Meta().Liveness),
				Deletion: rowgroup.Deletion{MarkedForDeleteAt: r.Int64N(1000), LocalDeletionTime: 7},
			})
		}
		meta(l)
		for c := rf; c < rt; c++ {
			state := rowgroup.CellAsRow
			switch {
			case plain:
				if r.IntN(10) == 0 {
					state = rowgroup.CellAbsent
				}
			case l == rowgroup.LivenessNone:
				state = []rowgroup.Cell{
					rowgroup.CellAbsent, rowgroup.CellLive | rowgroup.CellOwnTime,
					rowgroup.CellExpiring | rowgroup.CellOwnTime | rowgroup.CellOwnExpiry, rowgroup.CellTombstone | rowgroup.CellOwnTime,
				}[r.IntN(4)]
			case r.IntN(5) == 0:
				state = []rowgroup.Cell{
					rowgroup.CellAbsent, rowgroup.CellLive, rowgroup.CellExpiring | rowgroup.CellOwnExpiry,
					rowgroup.CellTombstone,
				}[r.IntN(4)]
			}
			appendCell(b, c, state, r)
		}
	}
	if !open.Live() {
		advance()
		marker(rowgroup.InclEnd)
	}
}

// dump writes every unfiltered and partition of b as a line.
func dump(b *rowgroup.Batch) []string {
	s := b.Schema()
	var lines []string
	at := func(v []int64, i int) int64 {
		if len(v) == 0 {
			return 0
		}
		return v[i]
	}
	cells := func(role rowgroup.Role, i int) string {
		var line strings.Builder
		from, to := s.Range(role)
		for c := from; c < to; c++ {
			if cells := b.MultiCells(c); cells != nil {
				fmt.Fprintf(&line, " %s:%s", s.Column(c).Name, multiText(b, c, i, role == rowgroup.Regular))
				continue
			}
			m := b.CellMeta(c)
			n := columnLen(b, c)
			if n == 0 && len(m.Cells) == 0 {
				fmt.Fprintf(&line, " %s:-", s.Column(c).Name)
				continue
			}
			cell := b.Cell(c, i)
			if m := b.Meta(); role == rowgroup.Regular && cell == rowgroup.CellLive && (len(m.Liveness) == 0 || m.Liveness[i] == rowgroup.LivenessLive) {
				cell = rowgroup.CellAsRow // which says the same
			}
			fmt.Fprintf(&line, " %s:%02x", s.Column(c).Name, cell)
			if cell.HasValue() {
				fmt.Fprintf(&line, "=%s", cellText(b, c, i))
			}
			if cell&rowgroup.CellOwnTime != 0 {
				fmt.Fprintf(&line, "@%d", at(m.WriteTimes, i))
			}
			if cell&rowgroup.CellOwnExpiry != 0 || cell.Kind() == rowgroup.CellTombstone {
				fmt.Fprintf(&line, "!%d", at(m.Expiries, i))
			}
		}
		return line.String()
	}
	for p := range b.NumPartitions() {
		h := b.Partition(p)
		if !h.Continued {
			line := fmt.Sprintf("P %q %v %d", b.Key(p), h.Deletion, h.Static)
			if h.Static == rowgroup.StaticFull {
				line += cells(rowgroup.Static, p)
			}
			lines = append(lines, line)
		}
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			pos := s.AppendPosition(nil, b, i)
			if m := b.MarkerAt(i); m != nil {
				lines = append(lines, fmt.Sprintf("M %x %d %v %v", pos, m.Kind, m.Close, m.Open))
				continue
			}
			m := b.Meta()
			l := rowgroup.LivenessLive
			if len(m.Liveness) > 0 {
				l = m.Liveness[i]
			}
			line := fmt.Sprintf("R %x %d", pos, l)
			if l != rowgroup.LivenessNone {
				line += fmt.Sprintf(" w%d", at(m.WriteTimes, i))
			}
			if l >= rowgroup.LivenessExpiring {
				line += fmt.Sprintf(" e%d", at(m.Expiries, i))
			}
			for _, d := range m.Deletions {
				if d.Row == i {
					line += fmt.Sprintf(" del%v", d.Deletion)
				}
			}
			lines = append(lines, line+cells(rowgroup.Regular, i))
		}
	}
	return lines
}

// multiText is what a row has of a multi-cell column.
func multiText(b *rowgroup.Batch, c, i int, regular bool) string {
	m, meta := b.MultiCells(c), b.Meta()
	if !regular {
		meta = b.StaticMeta()
	}
	from, to, there := m.Row(i)
	if !there {
		return "-"
	}
	var w strings.Builder
	fmt.Fprintf(&w, "{%v", m.Deletion(i))
	for k := from; k < to; k++ {
		var cell rowgroup.MultiCell
		m.Get(&cell, k)
		if cell.State&^(rowgroup.CellEmpty|rowgroup.CellException) == rowgroup.CellLive && (len(meta.Liveness) == 0 || meta.Liveness[i] == rowgroup.LivenessLive) {
			cell.State &^= rowgroup.CellLive // which says the same
		}
		fmt.Fprintf(&w, " %q:%x %02x @%d %d !%d", cell.Path, cell.Value, cell.State, cell.WriteTime, cell.TTL, cell.Expiry)
	}
	return w.String() + "}"
}

func columnLen(b *rowgroup.Batch, c int) int {
	switch b.Schema().Column(c).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		return len(*b.Int32s(c))
	case rowgroup.ClassInt64:
		return len(*b.Int64s(c))
	case rowgroup.ClassFloat32:
		return len(*b.Float32s(c))
	case rowgroup.ClassFloat64:
		return len(*b.Float64s(c))
	}
	return b.Bytes(c).Len()
}

func cellText(b *rowgroup.Batch, c, i int) string {
	switch b.Schema().Column(c).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		return fmt.Sprint((*b.Int32s(c))[i])
	case rowgroup.ClassInt64:
		return fmt.Sprint((*b.Int64s(c))[i])
	case rowgroup.ClassFloat32:
		return fmt.Sprintf("%x", math.Float32bits((*b.Float32s(c))[i]))
	case rowgroup.ClassFloat64:
		return fmt.Sprintf("%x", math.Float64bits((*b.Float64s(c))[i]))
	}
	return fmt.Sprintf("%q", b.Bytes(c).At(i))
}

// drain reads an iterator to its end.
func drain(it rowgroup.Iter, s *rowgroup.Schema) ([]string, error) {
	defer it.Close()
	b := rowgroup.NewBatch(s)
	var lines []string
	for {
		ok, err := it.Next(b)
		if err != nil || !ok {
			return lines, err
		}
		lines = append(lines, dump(b)...)
	}
}

// write writes b in batches of n unfiltereds.
func write(t testing.TB, b *rowgroup.Batch, n int, opts ...Option) []byte {
	var buf bytes.Buffer
	w, err := NewWriter(&buf, b.Schema(), opts...)
	require.NoError(t, err)
	part := rowgroup.NewBatch(b.Schema())
	p := 0
	for from := 0; from < b.Len() || p < b.NumPartitions(); {
		to := min(b.Len(), from+n)
		q := p
		for q < b.NumPartitions() && (b.Partition(q).Start < to || to == b.Len()) {
			q++
		}
		part.Clear()
		if q == p || b.Partition(p).Start > from {
			part.BeginPartition(b.Key(p - 1)).Continued = true
			if sf, st := b.Schema().Range(rowgroup.Static); st > sf {
				for c := sf; c < st; c++ {
					appendCell(part, c, rowgroup.CellAbsent, rand.New(rand.NewPCG(1, 1)))
				}
				m := part.StaticMeta()
				m.Liveness = append(m.Liveness, rowgroup.LivenessNone)
			}
		}
		require.NoError(t, part.AppendParts(b, from, to, p, q))
		require.NoError(t, w.Append(part))
		from, p = to, q
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

func open(t testing.TB, file []byte, opts ...Option) *Reader {
	r, err := Open(bytes.NewReader(file), int64(len(file)), opts...)
	require.NoError(t, err)
	return r
}

func bound(v int64, inclusive bool) rowgroup.Bound {
	return rowgroup.Bound{Prefix: [][]byte{binary.BigEndian.AppendUint64(nil, uint64(v))}, Inclusive: inclusive}
}

// same compares dumps and shows the first line that differs.
func same(t testing.TB, want, got []string, what ...any) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		switch {
		case i >= len(want):
			require.Fail(t, fmt.Sprint("too many lines: ", len(got), " for ", len(want), ": ", got[i]), what...)
		case i >= len(got):
			require.Fail(t, fmt.Sprint("too few lines: ", len(got), " for ", len(want), ": ", want[i]), what...)
		case want[i] != got[i]:
			require.Fail(t, fmt.Sprintf("line %d of %d:\nwant %s\n got %s", i, len(want), want[i], got[i]), what...)
		}
	}
}
