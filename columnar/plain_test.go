package columnar

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// plainTypes are clustering columns of one integer each.
var plainTypes = []string{"bigint", "int", "timestamp", "date", "time", "smallint", "uint64"}

// plainTable is a table mostly of nothing but rows and values, in few
// partitions or many: clocks that go on, that jitter or that jump, of one
// integer, either way round. Odd is how often a run of rows has something else.
func plainTable(t *rapid.T, typ rowgroup.Type, odd int) *rowgroup.Batch {
	desc := rapid.Bool().Draw(t, "desc")
	var static []rowgroup.Column
	if rapid.Bool().Draw(t, "static") {
		static = []rowgroup.Column{{Name: "st", Type: rowgroup.Text}}
	}
	list, err := rowgroup.ParseType("list<int>")
	require.NoError(t, err)
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}},
		[]rowgroup.Column{{Name: "c", Type: typ, Desc: desc}}, static,
		[]rowgroup.Column{{Name: "d", Type: rowgroup.Double}, {Name: "f", Type: rowgroup.Float}, {Name: "n", Type: rowgroup.Int},
			{Name: "m", Type: rowgroup.Bigint}, {Name: "s", Type: rowgroup.Text}, {Name: "l", Type: list}})
	require.NoError(t, err)
	b := rowgroup.NewBatch(s)
	r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	step := rapid.SampledFrom([]int64{1, 2, 5}).Draw(t, "step")
	jitter := rapid.SampledFrom([]int64{0, 0, 0, 1, 2}).Draw(t, "jitter")
	noise := rapid.SampledFrom([]int64{1, 7, 1000}).Draw(t, "noise")
	expiring := rapid.Bool().Draw(t, "expiring")
	stillWrites := rapid.Bool().Draw(t, "still writes")
	alike := rapid.Bool().Draw(t, "alike")
	walks := rapid.Bool().Draw(t, "walks")
	parts, most := rapid.IntRange(1, 4).Draw(t, "partitions"), 300
	if rapid.Bool().Draw(t, "small") {
		parts, most = rapid.IntRange(1, 60).Draw(t, "small partitions"), 8
	}
	n := r.IntN(most + 1)
	for p := range parts {
		h := b.BeginPartition(fmt.Appendf(nil, "host%03d", p))
		if static != nil {
			b.StaticMeta().Liveness = append(b.StaticMeta().Liveness, rowgroup.LivenessNone)
			state := rowgroup.CellAbsent
			if r.IntN(20) < odd {
				h.Static, state = rowgroup.StaticFull, rowgroup.CellLive|rowgroup.CellOwnTime
			}
			appendCell(b, s.Lookup("st"), state, r)
		}
		if !alike {
			n = r.IntN(most + 1)
		}
		at, strange := r.Int64N(100), false
		if desc {
			at += int64(n) * 2 * (step + jitter + 20)
		}
		for i := range n {
			if i%32 == 0 {
				strange = r.IntN(20) < odd
			}
			x := step + r.Int64N(jitter+1)
			if r.IntN(100) < odd {
				x += r.Int64N(20)
			}
			if desc {
				x = -x
			}
			at += x
			if typ.Physical().Class() == rowgroup.ClassInt32 {
				*b.Int32s(s.Lookup("c")) = append(*b.Int32s(s.Lookup("c")), int32(at))
			} else {
				*b.Int64s(s.Lookup("c")) = append(*b.Int64s(s.Lookup("c")), at)
			}
			m, live := b.Meta(), rowgroup.LivenessLive
			if expiring {
				live = rowgroup.LivenessExpiring
			}
			w := int64(0)
			if !stillWrites {
				w = at*1000 + r.Int64N(noise)
			}
			m.Liveness, m.WriteTimes = append(m.Liveness, live), append(m.WriteTimes, w)
			m.TTLs, m.Expiries = append(m.TTLs, 600), append(m.Expiries, w/1000+600)
			if !expiring {
				m.TTLs[len(m.TTLs)-1], m.Expiries[len(m.TTLs)-1] = 0, 0
			}
			for _, name := range []string{"d", "f", "n", "m", "s"} {
				state := rowgroup.CellAsRow
				if strange && r.IntN(8) == 0 {
					state = []rowgroup.Cell{rowgroup.CellAbsent, rowgroup.CellTombstone, rowgroup.CellLive | rowgroup.CellOwnTime}[r.IntN(3)]
				}
				appendCell(b, s.Lookup(name), state, r)
			}
			if walks { // ALP of differences
				d, f := *b.Float64s(s.Lookup("d")), *b.Float32s(s.Lookup("f"))
				d[len(d)-1], f[len(f)-1] = float64(at)/10+float64(r.IntN(3)), float32(at%997)/4
			}
			state := rowgroup.CellAbsent
			if strange && r.IntN(8) == 0 {
				state = rowgroup.CellAsRow
			}
			appendCells(b, s.Lookup("l"), state, r)
		}
	}
	require.NoError(t, b.Check())
	return b
}

// absentCells has absent cells look as those of columns without any.
func absentCells(lines []string) []string {
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(l+" ", fmt.Sprintf(":%02x ", rowgroup.CellAbsent), ":- ")
	}
	return append([]string{}, lines...)
}

// Ranges, latest rows and scans of plain tables, from every kind of source, are
// what the rows say.
func TestPlainTables(tt *testing.T) {
	rapid.Check(tt, func(t *rapid.T) {
		typ, err := rowgroup.ParseType(rapid.SampledFrom(plainTypes).Draw(t, "type"))
		require.NoError(t, err)
		b := plainTable(t, typ, rapid.SampledFrom([]int{0, 0, 1, 4}).Draw(t, "odd"))
		s := b.Schema()
		opts := []Option{
			WithRowGroupRows(rapid.SampledFrom([]int{1, 5, 8, 13, 32, 128}).Draw(t, "group")), WithBlockBytes(rapid.SampledFrom([]int{1, 300, 4096}).Draw(t, "block")),
			WithCompression(rapid.SampledFrom([]int{0, 0, 1}).Draw(t, "outer")),
		}
		file := write(tt, b, 1<<30, opts...)
		require.True(t, bytes.Equal(file, write(tt, b, 37, append(opts, WithConcurrency(3))...)))
		var rd *Reader
		switch rapid.IntRange(0, 2).Draw(t, "source") {
		case 0:
			rd = open(tt, file)
		case 1:
			rd = open(tt, file, WithCache(NewCache(1<<20)))
		default:
			rd, err = OpenBytes(slices.Clip(file))
			require.NoError(t, err)
		}
		require.NoError(t, rd.Verify(bg, VerifyValues, nil))
		var columns [][]int
		for _, names := range [][]string{nil, {}, {"s"}, {"f", "d"}, {"n", "l"}} {
			var cols []int
			if names != nil {
				cols = []int{}
			}
			for _, n := range names {
				cols = append(cols, s.Lookup(n))
			}
			columns = append(columns, cols)
		}
		for range 4 {
			o := rowgroup.ScanOptions{
				Desc: rapid.Bool().Draw(t, "backwards"), Columns: rapid.SampledFrom(columns).Draw(t, "columns"),
				WithoutMetadata: rapid.Bool().Draw(t, "bare"), Live: rapid.IntRange(0, 3).Draw(t, "live") == 0, Now: 700,
			}
			src := b.Clone()
			if o.Live {
				var f rowgroup.LiveFilter
				f.Reset(o.Now, false)
				f.Apply(src)
			}
			if o.Desc {
				src.Reverse()
			}
			src.Strip(&rowgroup.ScanOptions{Columns: o.Columns, WithoutMetadata: o.WithoutMetadata})
			got, err := drain(rd.Scan(bg, o), s)
			require.NoError(t, err)
			require.Equal(t, absentCells(dump(src)), absentCells(got), "%+v", o)
			for range 3 {
				if src.NumPartitions() == 0 {
					break
				}
				p := rapid.IntRange(0, src.NumPartitions()-1).Draw(t, "partition")
				q, err := rd.Partition(bg, src.Key(p))
				require.NoError(t, err)
				pf, pt := src.PartitionRows(p)
				lines := absentCells(rows(dump(onePart(tt, src, p))))
				require.Len(t, lines, pt-pf)
				if o.Desc { // as it is stored
					slices.Reverse(lines)
				}
				pick := func(what string) rowgroup.Bound {
					if pf == pt || rapid.IntRange(0, 4).Draw(t, what+" open") == 0 {
						return rowgroup.Bound{}
					}
					pos, _, err := rowgroup.ParsePosition(s, s.AppendPosition(nil, src, pf+rapid.IntRange(0, pt-pf-1).Draw(t, what)))
					require.NoError(t, err)
					v, ok := rowgroup.IntOf(typ, pos.Prefix[0])
					require.True(t, ok)
					v += rapid.Int64Range(-1, 1).Draw(t, what+" beside")
					return rowgroup.Bound{Prefix: [][]byte{rowgroup.AppendInt(nil, typ, v)}, Inclusive: rapid.Bool().Draw(t, what+" inclusive")}
				}
				from, to := pick("from"), pick("to")
				stored := src.Clone()
				if o.Desc {
					stored.Reverse()
				}
				sp := p
				if o.Desc {
					sp = stored.NumPartitions() - 1 - p
				}
				sf, st := stored.PartitionRows(sp)
				lo := stored.Schema().SearchBound(stored, sf, st, from, true)
				hi := max(lo, s.SearchBound(stored, sf, st, to, false))
				want := append([]string{}, lines[lo-sf:hi-sf]...)
				if o.Desc {
					slices.Reverse(want)
				}
				got, err := drain(q.Range(bg, from, to, o), s)
				require.NoError(t, err)
				require.Equal(t, want, absentCells(rows(got)), "range %+v %+v %+v", o, from, to)
				if head := absentCells(dump(onePart(tt, src, p))[:1]); len(want) > 0 {
					require.Equal(t, head, absentCells(got[:1]))
				}
				n := rapid.SampledFrom([]int{0, 1, 2, 9, 100}).Draw(t, "latest")
				want = append([]string{}, lines...)
				if !s.Columns(rowgroup.Clustering)[0].Desc {
					slices.Reverse(want)
				}
				got, err = drain(q.Latest(bg, n, o), s)
				require.NoError(t, err)
				require.Equal(t, want[:min(n, len(want))], absentCells(rows(got)), "latest %d %+v", n, o)
			}
		}
	})
}
