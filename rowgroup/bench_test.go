package rowgroup

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// irregular is metrics5 with gaps after 1 % of the points, 1 % of the values null
// and 1 % of the rows in place of deleted ones.
func irregular(t testing.TB, points int) *Batch {
	b := metrics5(t, 1, points, false)
	r := rand.New(rand.NewPCG(7, 7))
	times, v, m := *b.Int32s(1), &b.vecs[2], b.Meta()
	gap := int32(0)
	v.Cells = make([]Cell, len(times))
	for i := range times {
		if r.IntN(100) == 0 {
			gap += 5 * (1 + r.Int32N(3))
		}
		times[i] += gap
		m.WriteTimes[i] += int64(gap) * 1_000_000
		m.TTLs[i] += gap
		m.Expiries[i] = m.WriteTimes[i]/1_000_000 + int64(m.TTLs[i])
		if r.IntN(100) == 0 {
			v.Cells[i] = CellAbsent
		}
		if r.IntN(100) == 0 {
			m.Deletions = append(m.Deletions, RowDeletion{Row: i, Deletion: Deletion{m.WriteTimes[i] - 1, int64(times[i])}})
		}
	}
	require.NoError(t, b.Check())
	return b
}

// testBlock is a block of groups [from, from+groups) of 128 rows of b.
type testBlock struct {
	tm          *Template
	groups      int
	rows, parts int
	body        []byte
	batch       *Batch
	dec         *BlockDecoder
	got         *Batch
	o           ScanOptions
}

func newTestBlock(t testing.TB, b *Batch, from, groups int) *testBlock {
	spans := groupsOf(b, 128)
	seg, err := NewSegmentEncoder(b.Schema(), EncodeOptions{}).Encode(b, spans)
	require.NoError(t, err)
	var ts TemplateSet
	x := &testBlock{groups: groups, batch: b, dec: NewBlockDecoder(b.Schema()), got: NewBatch(b.Schema())}
	_, x.tm, _ = ts.Choose(seg, from, from+groups)
	x.body = seg.AppendBlock(nil, from, from+groups, x.tm)
	for _, sp := range spans[from : from+groups] {
		x.rows += sp.ToRow - sp.FromRow
		x.parts += sp.ToPart - sp.FromPart
	}
	require.NoError(t, x.open())
	require.NoError(t, x.decode(0, groups))
	return x
}

func (x *testBlock) open() error { return x.dec.Open(x.tm, x.groups, x.rows, x.parts, x.body) }

func (x *testBlock) decode(from, to int) error {
	x.got.Clear()
	if x.dec.GroupPartitions(from) == 0 {
		x.got.BeginPartition(x.batch.Key(0)).Continued = true
	}
	return x.dec.Decode(x.got, from, to, &x.o)
}

func (x *testBlock) whole() bool {
	x.got.Clear()
	return x.dec.DecodeWhole(x.got, x.batch.Key(0), x.tm, x.groups, x.rows, x.parts, x.body, &x.o)
}

// testBlocks are blocks of 8 groups of 128 rows.
func testBlocks(t testing.TB) map[string]*testBlock {
	projected := newTestBlock(t, metrics5(t, 1, 128*32, false), 8, 8)
	projected.o = ScanOptions{Columns: []int{2}, WithoutMetadata: true}
	return map[string]*testBlock{
		"full":      newTestBlock(t, metrics5(t, 1, 128*32, false), 8, 8),
		"first":     newTestBlock(t, metrics5(t, 1, 128*32, false), 0, 8),
		"2dec":      newTestBlock(t, metrics5(t, 1, 128*32, true), 8, 8),
		"irregular": newTestBlock(t, irregular(t, 128*32), 8, 8),
		"projected": projected,
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	for name, x := range testBlocks(t) {
		require.Zero(t, testing.AllocsPerRun(20, func() {
			if x.open() != nil || x.decode(0, x.groups) != nil || x.decode(3, 4) != nil {
				t.Fatal(name)
			}
		}), name)
	}
}

var cleared [24 * 1024]byte

// A block is opened and all of it decoded; then its groups are decoded one by
// one.
func BenchmarkDecodeMetrics5(b *testing.B) {
	for _, name := range []string{"full", "2dec", "irregular", "projected"} {
		x := testBlocks(b)[name]
		perRow := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*x.rows), "ns/row")
		}
		b.Run(name+"/block", func(b *testing.B) {
			for b.Loop() {
				_ = x.open()
				_ = x.decode(0, x.groups)
			}
			perRow(b)
		})
		b.Run(name+"/whole", func(b *testing.B) {
			for b.Loop() {
				_ = x.whole()
			}
			perRow(b)
		})
		b.Run(name+"/groups", func(b *testing.B) {
			for b.Loop() {
				for g := range x.groups {
					_ = x.decode(g, g+1)
				}
			}
			perRow(b)
		})
		b.Run(name+"/open", func(b *testing.B) {
			for b.Loop() {
				_ = x.open()
			}
			perRow(b)
		})
	}
	b.Run("memset", func(b *testing.B) {
		for b.Loop() {
			clear(cleared[:])
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1024), "ns/row")
	})
}

func BenchmarkEncodeMetrics5(b *testing.B) {
	for name, batch := range map[string]*Batch{
		"full": metrics5(b, 1, 128*64, false), "2dec": metrics5(b, 1, 128*64, true), "irregular": irregular(b, 128*64),
	} {
		b.Run(name, func(b *testing.B) {
			e := NewSegmentEncoder(batch.Schema(), EncodeOptions{})
			spans := groupsOf(batch, 128)
			for b.Loop() {
				_, _ = e.Encode(batch, spans)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Len()), "ns/row")
		})
	}
}
