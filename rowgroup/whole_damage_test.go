package rowgroup

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// steadyBlocks are n blocks of steady rows, the first of their tables and others.
func steadyBlocks(t testing.TB, n int) (all []*testBlock) {
	for seed := 0; len(all) < n; seed++ {
		b := rapid.Custom(steadyRows).Example(seed)
		spans := groupsOf(b, 32)
		seg, err := NewSegmentEncoder(b.Schema(), EncodeOptions{}).Encode(b, spans)
		require.NoError(t, err)
		from := seed % 2
		x := &testBlock{batch: b, dec: NewBlockDecoder(b.Schema()), groups: min(1+seed%5, len(spans)-from), parts: 1 - from}
		x.rows = 32 * x.groups
		var ts TemplateSet
		_, x.tm, _ = ts.Choose(seg, from, from+x.groups)
		x.body = seg.AppendBlock(nil, from, from+x.groups, x.tm)
		if x.got = NewBatch(b.Schema()); x.whole() {
			all = append(all, x)
		}
	}
	return all
}

// passesAgree requires of a block, damaged or not, that what is decoded in one
// pass, all of it or some rows, is what decoding it group by group gives. dec and
// got may have been used before.
func passesAgree(t testing.TB, dec *BlockDecoder, got *Batch, tm *Template, groups, rows, parts int, body []byte, o *ScanOptions, r *RowRange) (whole, some bool) {
	s := got.schema
	got.clear()
	got.BeginPartition([]byte("k")).Continued = true
	want := NewBatch(s)
	slow := NewBlockDecoder(s)
	err := slow.Open(tm, groups, rows, parts, body)
	if err == nil {
		for k := range slow.asked {
			slow.asked[k] = rampNone
		}
		if slow.parts[0] == 0 {
			want.BeginPartition([]byte("k")).Continued = true
		}
		for g := 0; g < groups && err == nil; g++ {
			err = slow.Decode(want, g, g+1, o)
		}
	}
	got.clear()
	if whole = dec.DecodeWhole(got, []byte("k"), tm, groups, rows, parts, body, o); whole {
		require.NoError(t, err)
		sameButZeros(t, want, got)
	}
	got.clear()
	n, some := dec.DecodeWithin(got, []byte("k"), tm, groups, rows, parts, body, r, o)
	if !some || err != nil { // what is wrong may be in groups that were not read
		return whole, some
	}
	lo, hi := 0, want.Len()
	if r.Order != nil {
		at := func(i int) int64 { v, _ := r.Order.At(want, i); return v }
		for i := 1; i < want.Len(); i++ {
			if at(i) <= at(i-1) { // damage: any of them will do
				return whole, some
			}
		}
		var ok bool
		lo, ok = r.Order.Search(want, 0, hi, r.Start)
		require.True(t, ok)
		hi, ok = r.Order.Search(want, lo, hi, r.End)
		require.True(t, ok)
	}
	if left := hi - lo; r.Limit >= 0 && r.Last {
		lo = hi - min(left, r.Limit)
	} else if r.Limit >= 0 {
		hi = lo + min(left, r.Limit)
	}
	require.Equal(t, hi-lo, n)
	require.Equal(t, n, got.Len())
	if n == 0 {
		return whole, some
	}
	want.Cut(0, lo, hi)
	sameButZeros(t, want, got)
	return whole, some
}

// sameButZeros is sameBatch where times that are all 0 may be left out.
func sameButZeros(t testing.TB, want, got *Batch) {
	for _, b := range []*Batch{want, got} {
		m := &b.meta
		m.WriteTimes, m.TTLs, m.Expiries = unlessZero(m.WriteTimes), unlessZero(m.TTLs), unlessZero(m.Expiries)
	}
	sameBatch(t, want, got)
}

func unlessZero[T int32 | int64](s []T) []T {
	for _, x := range s {
		if x != 0 {
			return s
		}
	}
	return []T{}
}

// FuzzWhole damages a template or a body.
func FuzzWhole(f *testing.F) {
	blocks := steadyBlocks(f, 24)
	for i := range blocks {
		f.Add(uint8(i), uint16(0), uint16(0), []byte(nil), uint16(i), uint16(50+i), uint8(i))
		f.Add(uint8(i), uint16(3+i), uint16(i), []byte{1 << (i % 8)}, uint16(i), uint16(50+i), uint8(i))
		f.Add(uint8(i), uint16(1<<15+i), uint16(i), []byte{byte(i)}, uint16(i), uint16(50+i), uint8(i))
	}
	f.Fuzz(func(t *testing.T, which uint8, at, cut uint16, mask []byte, first, last uint16, how uint8) {
		x := blocks[int(which)%len(blocks)]
		s := x.batch.schema
		tm, body := x.tm.AppendTo(nil), append([]byte(nil), x.body...)
		target := &body
		if at >= 1<<15 {
			target = &tm
		}
		for i, m := range mask {
			if p := int(at%(1<<15)) + i; p < len(*target) {
				(*target)[p] ^= m
			}
		}
		if cut%8 == 7 {
			*target = (*target)[:len(*target)-min(len(*target), int(cut/8)%5)]
		}
		parsed, err := ParseTemplate(s, tm)
		if err != nil {
			return
		}
		order, _ := s.IntOrder()
		r := &RowRange{Limit: -1, Last: how&1 > 0}
		if how&2 > 0 {
			r.Limit = int(how >> 4)
		}
		if how&4 > 0 {
			r.Order = &order
			value := func(i uint16) int64 { v, _ := order.At(x.got, int(i)%x.rows); return v }
			r.Start, r.End = IntBound{value(first), how&16 > 0}, IntBound{value(last), how&32 > 0}
		}
		o := &ScanOptions{WithoutMetadata: how&8 > 0}
		if how&64 > 0 {
			o.Columns = []int{3}
		}
		dec, got := NewBlockDecoder(s), NewBatch(s)
		for range 2 { // as new, and used
			passesAgree(t, dec, got, parsed, x.groups, x.rows, x.parts, body, o, r)
		}
	})
}

// A pass in a decoder and a batch that other blocks, whole and damaged, were
// decoded with is what it is in new ones.
func TestPassesUnderDamage(t *testing.T) {
	blocks := steadyBlocks(t, 16)
	decs := map[*testBlock]*BlockDecoder{}
	wholes, somes := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		x := rapid.SampledFrom(blocks).Draw(rt, "block")
		s := x.batch.schema
		if decs[x] == nil {
			decs[x] = NewBlockDecoder(s)
		}
		tm, body := x.tm.AppendTo(nil), append([]byte(nil), x.body...)
		parsed := x.tm
		if kind := rapid.IntRange(0, 2).Draw(rt, "what"); kind == 1 {
			body[rapid.IntRange(0, min(60, len(body)-1)).Draw(rt, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		} else if kind == 2 {
			tm[rapid.IntRange(0, len(tm)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
			var err error
			if parsed, err = ParseTemplate(s, tm); err != nil {
				return
			}
		}
		order, _ := s.IntOrder()
		r := &RowRange{Limit: rapid.SampledFrom([]int{-1, 1, 7, 40}).Draw(rt, "limit"), Last: rapid.Bool().Draw(rt, "last")}
		if rapid.Bool().Draw(rt, "range") {
			r.Order = &order
			row := rapid.IntRange(0, x.rows-1)
			bound := func(name string) IntBound {
				v, _ := order.At(x.got, row.Draw(rt, name))
				return IntBound{v + rapid.Int64Range(-1, 1).Draw(rt, "off"), rapid.Bool().Draw(rt, "after")}
			}
			r.Start, r.End = bound("start"), bound("end")
		}
		o := &ScanOptions{WithoutMetadata: rapid.Bool().Draw(rt, "bare"), Columns: rapid.SampledFrom([][]int{nil, {}, {2}, {3, 4}}).Draw(rt, "columns")}
		whole, some := passesAgree(t, decs[x], NewBatch(s), parsed, x.groups, x.rows, x.parts, body, o, r)
		if whole {
			wholes++
		}
		if some {
			somes++
		}
	})
	require.NotZero(t, wholes)
	require.NotZero(t, somes)
}

// Rows of a block in which a partition begins behind another are of no one
// partition.
func TestRowsOfTwoPartitions(t *testing.T) {
	n := 0
	for _, x := range steadyBlocks(t, 32) {
		if x.groups < 4 {
			continue
		}
		b := NewBatch(x.batch.schema)
		require.NoError(t, b.AppendParts(x.batch, 0, 64, 0, 1))
		b.BeginPartition([]byte("l"))
		require.NoError(t, b.AppendParts(x.batch, 64, 128, 0, 0))
		seg, err := NewSegmentEncoder(b.schema, EncodeOptions{}).Encode(b, groupsOf(b, 32))
		require.NoError(t, err)
		var ts TemplateSet
		for from := range 2 { // both begin in the block, or one
			_, tm, _ := ts.Choose(seg, from, 4)
			body := seg.AppendBlock(nil, from, 4, tm)
			dec, got := NewBlockDecoder(b.schema), NewBatch(b.schema)
			whole, some := passesAgree(t, dec, got, tm, 4-from, 32*(4-from), 2-from, body, &ScanOptions{}, &RowRange{Limit: 20})
			require.False(t, some)
			if whole {
				n++
			}
		}
	}
	require.NotZero(t, n)
}
