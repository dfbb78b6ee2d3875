package columnar

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func viewSchema(t testing.TB, d [2]bool, static, multiset bool) *rowgroup.Schema {
	var st []rowgroup.Column
	if static {
		st = []rowgroup.Column{{Name: "st", Type: rowgroup.Text}, {Name: "sn", Type: rowgroup.Int}}
	}
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "a", Type: rowgroup.Text, Desc: d[0]}, {Name: "b", Type: rowgroup.Bigint, Desc: d[1]}},
		st, []rowgroup.Column{{Name: "v", Type: rowgroup.Double}, {Name: "n", Type: rowgroup.Int}, {Name: "s", Type: rowgroup.Text}})
	require.NoError(t, err)
	return s
}

type viewPlace struct {
	a      int // -1 null, 0 empty, else letter
	b      int // -1 null, -2 empty, else number
	prefix int
	weight int
}

func viewCell(b *rowgroup.Batch, r *rand.Rand, c, i int, l rowgroup.Liveness, marker bool) {
	s := b.Schema()
	switch s.Column(c).Type.Physical().Class() {
	case rowgroup.ClassInt32:
		*b.Int32s(c) = append(*b.Int32s(c), int32(r.IntN(1000)))
	case rowgroup.ClassFloat64:
		*b.Float64s(c) = append(*b.Float64s(c), float64(r.IntN(1000))/10)
	default:
		_ = b.Bytes(c).Append(fmt.Appendf(nil, "%d", r.IntN(100)))
	}
	m := b.CellMeta(c)
	x := rowgroup.CellAbsent
	if !marker {
		kinds := []rowgroup.Cell{rowgroup.CellAbsent, rowgroup.CellLive, rowgroup.CellExpiring, rowgroup.CellTombstone}
		if l == rowgroup.LivenessLive || l == rowgroup.LivenessExpiring {
			kinds = append(kinds, rowgroup.CellAsRow, rowgroup.CellAsRow, rowgroup.CellAsRow)
		}
		x = kinds[r.IntN(len(kinds))]
		k := x
		if k != rowgroup.CellAbsent && k != rowgroup.CellAsRow && (l == rowgroup.LivenessNone || r.IntN(2) == 0) {
			x |= rowgroup.CellOwnTime
		}
		if k == rowgroup.CellExpiring && (l != rowgroup.LivenessExpiring || r.IntN(2) == 0) {
			x |= rowgroup.CellOwnExpiry
		}
		if k != rowgroup.CellAbsent && k != rowgroup.CellTombstone {
			switch r.IntN(8) {
			case 0:
				x |= rowgroup.CellEmpty
			case 1:
				x |= rowgroup.CellException
				m.Exceptions = append(m.Exceptions, rowgroup.Exception{Row: i, Value: fmt.Appendf(nil, "ex%d", r.IntN(1000))})
			}
		}
	}
	m.Cells = append(m.Cells, x)
	m.WriteTimes = append(m.WriteTimes, r.Int64N(100))
	m.TTLs = append(m.TTLs, int32(r.IntN(100)))
	m.Expiries = append(m.Expiries, r.Int64N(100))
}

func viewMeta(m *rowgroup.RowMeta, r *rand.Rand) rowgroup.Liveness {
	l := rowgroup.Liveness(r.IntN(4))
	m.Liveness = append(m.Liveness, l)
	m.WriteTimes = append(m.WriteTimes, r.Int64N(100))
	m.TTLs = append(m.TTLs, int32(r.IntN(100)))
	m.Expiries = append(m.Expiries, r.Int64N(100))
	return l
}

func viewDeletion(r *rand.Rand) rowgroup.Deletion {
	return rowgroup.Deletion{MarkedForDeleteAt: r.Int64N(60), LocalDeletionTime: r.Int64N(100)}
}

func viewHistory(t testing.TB, s *rowgroup.Schema, r *rand.Rand, parts, rows int) *rowgroup.Batch {
	b := rowgroup.NewBatch(s)
	af, _ := s.Range(rowgroup.Clustering)
	place := func(dst *rowgroup.Batch, p viewPlace) {
		for c, v := range []int{p.a, p.b} {
			m := dst.CellMeta(af + c)
			st := rowgroup.CellAsRow
			val := v
			if v == -1 {
				st, val = rowgroup.CellAbsent, 0
			}
			if c == 0 {
				if v <= 0 {
					_ = dst.Bytes(af).Append(nil)
				} else {
					_ = dst.Bytes(af).Append([]byte{byte('a' + v)})
				}
			} else {
				if v == -2 {
					st = rowgroup.CellEmpty
				}
				*dst.Int64s(af + 1) = append(*dst.Int64s(af + 1), int64(val))
			}
			m.Cells = append(m.Cells, st)
		}
	}
	sf, stt := s.Range(rowgroup.Static)
	rf, rt := s.Range(rowgroup.Regular)
	for p := range parts {
		h := b.BeginPartition(fmt.Appendf(nil, "k%03d", p))
		if r.IntN(4) == 0 {
			h.Deletion = viewDeletion(r)
		}
		if stt > sf {
			h.Static = rowgroup.StaticState(r.IntN(3))
			l := viewMeta(b.StaticMeta(), r)
			for c := sf; c < stt; c++ {
				viewCell(b, r, c, p, l, h.Static != rowgroup.StaticFull)
			}
			if h.Static == rowgroup.StaticFull && r.IntN(3) == 0 {
				b.StaticMeta().Deletions = append(b.StaticMeta().Deletions, rowgroup.RowDeletion{Row: p, Deletion: viewDeletion(r)})
			}
		}
		var places []viewPlace
		for range r.IntN(rows + 1) {
			q := viewPlace{a: r.IntN(6) - 1, b: r.IntN(30) - 2, prefix: 2}
			if r.IntN(4) == 0 {
				q.prefix, q.weight = r.IntN(3), 1-2*r.IntN(2)
				if q.prefix < 2 {
					q.b = 0
				}
				if q.prefix < 1 {
					q.a = 0
				}
			}
			places = append(places, q)
		}
		scratch := rowgroup.NewBatch(s)
		scratch.BeginPartition([]byte("x"))
		for i, q := range places {
			place(scratch, q)
			if q.weight != 0 {
				k := rowgroup.InclStart
				if q.weight > 0 {
					k = rowgroup.ExclStart
				}
				*scratch.Markers() = append(*scratch.Markers(), rowgroup.Marker{Row: i, Prefix: q.prefix, Kind: k})
			}
		}
		idx := make([]int, len(places))
		for i := range idx {
			idx[i] = i
		}
		sort.SliceStable(idx, func(x, y int) bool { return s.CompareUnfiltered(scratch, idx[x], scratch, idx[y]) < 0 })
		idx = slices.CompactFunc(idx, func(x, y int) bool { return s.CompareUnfiltered(scratch, x, scratch, y) == 0 })
		lastMarker := -1
		for k, i := range idx {
			if places[i].weight != 0 {
				lastMarker = k
			}
		}
		open := rowgroup.LiveDeletion
		for k, i := range idx {
			q := places[i]
			row := b.Len()
			if q.weight != 0 {
				m := rowgroup.Marker{Row: row, Prefix: q.prefix, Close: rowgroup.LiveDeletion, Open: rowgroup.LiveDeletion}
				end := k == lastMarker || r.IntN(2) == 0
				switch {
				case open.Live() && k == lastMarker:
					continue
				case open.Live() && q.weight < 0:
					m.Kind = rowgroup.InclStart
				case open.Live():
					m.Kind = rowgroup.ExclStart
				case q.weight < 0 && end:
					m.Kind = rowgroup.ExclEnd
				case q.weight < 0:
					m.Kind = rowgroup.ExclEndInclStart
				case end:
					m.Kind = rowgroup.InclEnd
				default:
					m.Kind = rowgroup.InclEndExclStart
				}
				if m.Kind.Closes() {
					m.Close = open
				}
				open = rowgroup.LiveDeletion
				if m.Kind.Opens() {
					open = viewDeletion(r)
					m.Open = open
				}
				*b.Markers() = append(*b.Markers(), m)
				place(b, q)
				l := viewMeta(b.Meta(), r)
				for c := rf; c < rt; c++ {
					viewCell(b, r, c, row, l, true)
				}
				continue
			}
			place(b, q)
			l := viewMeta(b.Meta(), r)
			if r.IntN(8) == 0 {
				b.Meta().Deletions = append(b.Meta().Deletions, rowgroup.RowDeletion{Row: row, Deletion: viewDeletion(r), Shadowable: r.IntN(2) == 0})
			}
			for c := rf; c < rt; c++ {
				viewCell(b, r, c, row, l, false)
			}
		}
	}
	require.NoError(t, b.Check())
	require.NoError(t, s.CheckOrder(b))
	return b
}

// viewDump is dump with everything.
func viewDump(b *rowgroup.Batch, columns []int, bare bool) []string {
	s := b.Schema()
	var lines []string
	cells := func(role rowgroup.Role, i int, meta *rowgroup.RowMeta) string {
		l := rowgroup.LivenessLive
		if len(meta.Liveness) > 0 {
			l = meta.Liveness[i]
		}
		out := ""
		from, to := s.Range(role)
		for c := from; c < to; c++ {
			if columns != nil && !slices.Contains(columns, c) {
				if columnLen(b, c) != 0 || len(b.CellMeta(c).Cells) != 0 {
					out += " UNWANTED"
				}
				continue
			}
			m := b.CellMeta(c)
			x := b.Cell(c, i)
			if columnLen(b, c) == 0 && len(m.Cells) == 0 {
				x = rowgroup.CellAbsent
			}
			if !bare {
				switch {
				case x.Kind() == rowgroup.CellLive && x&rowgroup.CellOwnTime == 0 && l == rowgroup.LivenessLive,
					x.Kind() == rowgroup.CellExpiring && x&(rowgroup.CellOwnTime|rowgroup.CellOwnExpiry) == 0 && l == rowgroup.LivenessExpiring:
					x &^= 7
				}
			}
			v, ok := b.AppendValue(nil, c, i)
			if bare {
				x = 0
			}
			out += fmt.Sprintf(" %s:%02x=%x,%v", s.Column(c).Name, x, v, ok)
			if bare {
				continue
			}
			if x&rowgroup.CellOwnTime != 0 {
				out += fmt.Sprintf("@%d", m.WriteTimes[i])
			}
			if x&rowgroup.CellOwnExpiry != 0 {
				out += fmt.Sprintf("!%d/%d", m.TTLs[i], m.Expiries[i])
			} else if x.Kind() == rowgroup.CellTombstone {
				out += fmt.Sprintf("!%d", m.Expiries[i])
			}
		}
		return out
	}
	meta := func(m *rowgroup.RowMeta, i int) string {
		if bare {
			return ""
		}
		l := rowgroup.LivenessLive
		if len(m.Liveness) > 0 {
			l = m.Liveness[i]
		}
		at := func(v []int64) int64 {
			if len(v) == 0 {
				return 0
			}
			return v[i]
		}
		out := fmt.Sprint(l)
		if l != rowgroup.LivenessNone {
			out += fmt.Sprintf(" w%d", at(m.WriteTimes))
		}
		if l == rowgroup.LivenessExpiring {
			ttl := int32(0)
			if len(m.TTLs) > 0 {
				ttl = m.TTLs[i]
			}
			out += fmt.Sprintf(" t%d", ttl)
		}
		if l >= rowgroup.LivenessExpiring {
			out += fmt.Sprintf(" e%d", at(m.Expiries))
		}
		for _, d := range m.Deletions {
			if d.Row == i {
				out += fmt.Sprintf(" del%v", d)
			}
		}
		return out
	}
	for p := range b.NumPartitions() {
		h := b.Partition(p)
		if !h.Continued {
			line := fmt.Sprintf("P %q %v %d ", b.Key(p), h.Deletion, h.Static)
			if h.Static == rowgroup.StaticFull {
				line += meta(b.StaticMeta(), p) + cells(rowgroup.Static, p, b.StaticMeta())
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
			lines = append(lines, fmt.Sprintf("R %x %s%s", pos, meta(b.Meta(), i), cells(rowgroup.Regular, i, b.Meta())))
		}
	}
	return lines
}

func viewDrain(t testing.TB, it rowgroup.Iter, s *rowgroup.Schema, columns []int, bare bool) []string {
	defer it.Close()
	b := rowgroup.NewBatch(s)
	var lines []string
	for {
		ok, err := it.Next(b)
		require.NoError(t, err)
		if !ok {
			return lines
		}
		// row numbers in deletions are batch-relative: normalise
		lines = append(lines, viewDump(b, columns, bare)...)
	}
}

func TestViews(t *testing.T) {
	seeds := uint64(15)
	if testing.Short() {
		seeds = 4
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 77))
		s := viewSchema(t, [2]bool{r.IntN(2) == 0, r.IntN(2) == 0}, r.IntN(2) == 0, false)
		b := viewHistory(t, s, r, 1+r.IntN(8), 1+r.IntN(150))
		opts := []Option{WithRowGroupRows(1 + r.IntN(20)), WithBlockBytes(1 + r.IntN(600)), WithCompression(r.IntN(2)), WithRowGroupBytes(1 + r.IntN(3000))}
		if r.IntN(2) == 0 {
			opts = append(opts, WithColumnCompression("*"))
		}
		file := write(t, b, 1<<30, opts...)
		for _, n := range []int{1, 5, 50} {
			require.True(t, bytes.Equal(file, write(t, b, n, opts...)), "seed %d batches of %d", seed, n)
		}
		rd := open(t, file)
		rd.step = []int{1, 500, stepBytes}[seed%3] // of bytes that are decoded at once
		require.NoError(t, rd.Verify(bg, VerifyValues, nil))
		what := fmt.Sprint("seed ", seed)
		norm := func(l []string) []string { // positions of deletions are relative to the batch
			l = slices.Clone(l)
			for i := range l {
				l[i] = delRow.ReplaceAllString(l[i], "del{")
			}
			return l
		}
		rev := b.Clone()
		rev.Reverse()
		same(t, norm(viewDump(b, nil, false)), norm(viewDrain(t, rd.Scan(bg, rowgroup.ScanOptions{}), s, nil, false)), what)
		same(t, norm(viewDump(rev, nil, false)), norm(viewDrain(t, rd.Scan(bg, rowgroup.ScanOptions{Desc: true}), s, nil, false)), what)
		sv, err := Salvage(bg, bytes.NewReader(file), int64(len(file)))
		require.NoError(t, err)
		same(t, norm(viewDump(b, nil, false)), norm(viewDrain(t, sv, s, nil, false)), what)
		rf, rt := s.Range(rowgroup.Regular)
		sf, _ := s.Range(rowgroup.Static)
		for _, live := range []bool{false, true} {
			now := int64(r.IntN(100))
			src := b.Clone()
			if live {
				var f rowgroup.LiveFilter
				f.Reset(now, false)
				f.Apply(src)
			}
			for _, cols := range [][]int{nil, {}, {rf}, {rt - 1, sf}} {
				for _, bare := range []bool{false, true} {
					o := rowgroup.ScanOptions{Live: live, Now: now, Columns: cols, WithoutMetadata: bare}
					got := norm(viewDrain(t, rd.Scan(bg, o), s, cols, bare))
					same(t, norm(project(src, cols, bare)), got, what, o)
					o.Desc = true
					got = norm(viewDrain(t, rd.Scan(bg, o), s, cols, bare))
					srev := src.Clone()
					srev.Reverse()
					same(t, norm(project(srev, cols, bare)), got, what, o)
					for p := range src.NumPartitions() {
						q, err := rd.Partition(bg, src.Key(p))
						require.NoError(t, err)
						pf, pt := src.PartitionRows(p)
						var bounds []rowgroup.Bound
						bounds = append(bounds, rowgroup.Bound{})
						for range 3 {
							if pf == pt {
								break
							}
							ps, _, err := rowgroup.ParsePosition(s, s.AppendPosition(nil, src, pf+r.IntN(pt-pf)))
							require.NoError(t, err)
							n := r.IntN(len(ps.Prefix) + 1)
							pre := slices.Clone(ps.Prefix[:n])
							if n == 2 && r.IntN(3) == 0 {
								pre[1] = binary.BigEndian.AppendUint64(nil, uint64(r.IntN(30)))
							}
							bounds = append(bounds, rowgroup.Bound{Prefix: pre, Inclusive: r.IntN(2) == 0})
						}
						for _, from := range bounds {
							for _, to := range bounds {
								lo := s.SearchBound(src, pf, pt, from, true)
								hi := max(lo, s.SearchBound(src, pf, pt, to, false))
								one := rowgroup.NewBatch(s)
								one.Clear()
								one.BeginPartition(src.Key(p))
								padStatics(one)
								require.NoError(t, one.AppendParts(src, lo, hi, 0, 0))
								want := rows(project(one, cols, bare))
								for _, desc := range []bool{false, true} {
									o.Desc = desc
									w := want
									if desc {
										w = reversed(want)
									}
									got := rows(viewDrain(t, q.Range(bg, from, to, o), s, cols, bare))
									same(t, norm(w), norm(got), what, o, from, to)
								}
							}
						}
						if d := s.Columns(rowgroup.Clustering); d[0].Desc == d[1].Desc {
							for _, n := range []int{1, 3, 20} {
								want := latestOf(src, p, n, d[0].Desc, cols, bare)
								got := rows(viewDrain(t, q.Latest(bg, n, o), s, cols, bare))
								same(t, norm(want), norm(got), what, "latest", n, o)
							}
						} else {
							for _, n := range []int{1, 3, 20, 1000} {
								got := onlyRows(rows(viewDrain(t, q.Latest(bg, n, o), s, cols, bare)))
								same(t, norm(latestByRuns(src, p, n, cols, bare)), norm(got), what, "latest by runs", n, o)
							}
						}
					}
				}
			}
		}
	}
}

// latestOf is the last n rows of partition p with the markers among them.
func latestOf(b *rowgroup.Batch, p, n int, forward bool, cols []int, bare bool) []string {
	lines := rows(project(onePart(nil, b, p), cols, bare))
	if !forward {
		slices.Reverse(lines)
	}
	k := 0
	for i, l := range lines {
		if l[0] == 'R' {
			if k++; k == n {
				return lines[:i+1]
			}
		}
	}
	return lines
}

// onlyRows are the lines of rows.
func onlyRows(lines []string) []string {
	return slices.DeleteFunc(lines, func(l string) bool { return l[0] != 'R' })
}

// latestByRuns is latestOf where the two clustering columns have opposite
// orders, without markers.
func latestByRuns(b *rowgroup.Batch, p, n int, cols []int, bare bool) []string {
	s := b.Schema()
	var runs [][]string
	var last []byte
	lines := rows(project(onePart(nil, b, p), cols, bare))
	from, _ := b.PartitionRows(p)
	for i, line := range lines {
		if line[0] != 'R' {
			continue
		}
		pos, _, err := rowgroup.ParsePosition(s, s.AppendPosition(nil, b, from+i))
		if err != nil {
			panic(err)
		}
		if a := pos.Prefix[0]; len(runs) == 0 || !bytes.Equal(a, last) || (a == nil) != (last == nil) {
			runs, last = append(runs, nil), a
		}
		runs[len(runs)-1] = append(runs[len(runs)-1], line)
	}
	d := s.Columns(rowgroup.Clustering)
	if !d[0].Desc {
		slices.Reverse(runs)
	}
	var out []string
	for _, r := range runs {
		if !d[1].Desc {
			slices.Reverse(r)
		}
		out = append(out, r...)
	}
	return out[:min(n, len(out))]
}

func onePart(t testing.TB, b *rowgroup.Batch, p int) *rowgroup.Batch {
	one := rowgroup.NewBatch(b.Schema())
	one.Clear()
	from, to := b.PartitionRows(p)
	if err := one.AppendParts(b, from, to, p, p+1); err != nil {
		panic(err)
	}
	return one
}

func padStatics(b *rowgroup.Batch) {
	s := b.Schema()
	from, to := s.Range(rowgroup.Static)
	for c := from; c < to; c++ {
		if s.Column(c).Type.Physical().Class() == rowgroup.ClassBytes {
			_ = b.Bytes(c).Append(nil)
		} else {
			*b.Int32s(c) = append(*b.Int32s(c), 0)
		}
		b.CellMeta(c).Cells = append(b.CellMeta(c).Cells, rowgroup.CellAbsent)
	}
}

func project(b *rowgroup.Batch, cols []int, bare bool) []string {
	c := b.Clone()
	if cols != nil {
		c.Strip(&rowgroup.ScanOptions{Columns: cols})
	}
	return viewDump(c, cols, bare)
}

var delRow = regexp.MustCompile(`del\{\d+ `)
