package rowgroup

import (
	"math/bits"

	"github.com/colsst/colsst/simd"
)

// decodeRange appends unfiltereds [lo, hi) of group g, which is at hand, of a
// template that is plain, to dst, which has no others.
func (d *blockDecoder) decodeRange(dst *Batch, g, lo, hi int, o *ScanOptions) error {
	l := &d.l.rows
	sp := span{from: g, to: g + 1, n: hi - lo}
	from, to := d.schema.Range(Clustering)
	for c := from; c < to; c++ {
		if err := d.valuesOf(&dst.vecs[c], d.l.clustering+2*(c-from)+1, g, lo, hi); err != nil {
			return err
		}
	}
	if !o.WithoutMetadata {
		live := liveness{all: Liveness(d.listed[d.where[l.base+rLiveness]].values[slotParam])}
		if live.all != LivenessLive {
			d.setLiveness(&dst.meta, &sp, &live)
		}
		if err := d.timesWithin(&dst.meta, live.all.counts(1), g, lo, hi); err != nil {
			return err
		}
	}
	want := wanted{all: o.Columns == nil, list: o.Columns}
	for c := l.from; c < l.to; c++ {
		if !want.has(c) {
			continue
		}
		v := &dst.vecs[c]
		if v.multi != nil {
			v.multi.Pad(sp.n)
			continue
		}
		if err := d.valuesOf(v, l.value(c, cValue), g, lo, hi); err != nil {
			return err
		}
	}
	if dst.Len() != sp.n {
		dst.n = sp.n
	}
	return nil
}

// timesWithin sets the write times, TTLs and expiries of rows [lo, hi) of group
// g, of those that counts is 1 of.
func (d *blockDecoder) timesWithin(m *RowMeta, counts [3]int, g, lo, hi int) error {
	for i, st := range [...]int{rWriteTime, rTTL, rExpiry} {
		st += d.l.rows.base
		if counts[i] == 0 || d.zero(st, g, g+1) {
			continue
		}
		var err error
		switch st - d.l.rows.base {
		case rWriteTime:
			m.WriteTimes = sized(m.WriteTimes, hi-lo)
			err = d.int64sWithin(m.WriteTimes, st, g, lo)
		case rTTL:
			m.TTLs = sized(m.TTLs, hi-lo)
			err = d.int32sWithin(m.TTLs, st, g, lo)
		case rExpiry:
			m.Expiries = sized(m.Expiries, hi-lo)
			err = d.int64sWithin(m.Expiries, st, g, lo)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// valuesOf sets v to values [lo, hi) of stream st in group g.
func (d *blockDecoder) valuesOf(v *vector, st, g, lo, hi int) error {
	rows := span{from: g, to: g + 1, n: d.rows[g]}
	switch v.class {
	case ClassInt32:
		v.i32 = sized(v.i32, hi-lo)
		return d.int32sWithin(v.i32, st, g, lo)
	case ClassInt64:
		v.i64 = sized(v.i64, hi-lo)
		return d.int64sWithin(v.i64, st, g, lo)
	case ClassFloat32:
		all := sized(d.tmp.f32, rows.n)
		d.tmp.f32, v.f32 = all, sized(v.f32, hi-lo)
		err := dense(d, all, st, &rows, d.decodeFloat32, d.alp.Float32s)
		copy(v.f32, all[lo:hi])
		return err
	case ClassFloat64:
		all := sized(d.tmp.f64, rows.n)
		d.tmp.f64, v.f64 = all, sized(v.f64, hi-lo)
		err := dense(d, all, st, &rows, d.decodeFloat64, d.alp.Float64s)
		copy(v.f64, all[lo:hi])
		return err
	}
	all := &d.tmp.str
	all.Reset()
	if err := d.decodeBytes(all, st, g); err != nil {
		return err
	}
	return v.str.AppendFrom(all, lo, hi)
}

// fewCodes is how many codes above a ramp are looked at one by one.
const fewCodes = 12

// int64sWithin sets dst to the values from number lo on of integer stream st in
// group g, which has one for each unfiltered.
func (d *blockDecoder) int64sWithin(dst []int64, st, g, lo int) error {
	r, codes, n, _ := d.rampsOf(st, g, g+1)
	if n == 0 {
		all, err := d.intStream(st, g)
		if err == nil {
			copy(dst, all[lo:])
		}
		return err
	}
	first := r.First + int64(lo)*r.Step
	w := uint(bits.Len64(r.Spread))
	switch {
	case w == 0:
		simd.Fill64(dst, first, r.Step)
	case len(dst) <= fewCodes:
		for i := range dst {
			dst[i] = first + int64(bitsAt(codes, uint(lo+i)*w, w))
			first += r.Step
		}
	default:
		skip := lo % 8 // codes begin with a byte
		all := sized(d.tmp.i64, skip+len(dst))
		d.tmp.i64 = all
		c := simd.Packed64(codes[(lo-skip)/8*int(w):], w)
		simd.Ramp64(all, &c, first-int64(skip)*r.Step, r.Step)
		copy(dst, all[skip:])
	}
	return nil
}

// int32sWithin is int64sWithin for values that fit.
func (d *blockDecoder) int32sWithin(dst []int32, st, g, lo int) error {
	if r, _, n, _ := d.rampsOf(st, g, g+1); n > 0 && r.Spread == 0 {
		simd.Fill32(dst, int32(r.First+int64(lo)*r.Step), int32(r.Step))
		return nil
	}
	all := sized(d.tmp.wide, len(dst))
	d.tmp.wide = all
	if err := d.int64sWithin(all, st, g, lo); err != nil {
		return err
	}
	for i, x := range all {
		dst[i] = int32(x)
	}
	return nil
}

// DecodeRows is Decode of unfiltereds [lo, hi) of group g alone, into dst, in
// which the caller has begun the partition and nothing else. It reports whether
// it could: where partitions begin in the group, or there is more to know of its
// unfiltereds than values and the times of their rows, it does nothing.
func (d *BlockDecoder) DecodeRows(dst *Batch, g, lo, hi int, o *ScanOptions) (bool, error) {
	if !d.plain || d.parts[g] != 0 || lo < 0 || lo >= hi || hi > d.rows[g] {
		return false, nil
	}
	d.begin(g, g+1)
	if err := d.headless(g, g+1); err != nil {
		return true, err
	}
	return true, tooLarge(d.decodeRange(dst, g, lo, hi, o))
}

// SearchInt is the first unfiltered of group g that lies behind the bound in the
// order o, or how many it has. ok is false where only decoding the group can say.
func (d *BlockDecoder) SearchInt(o *IntOrder, g int, bound IntBound) (i int, ok bool) {
	r, ok := d.intRamp(o, g)
	if !ok {
		return 0, false
	}
	return searchRamp(r, d.rows[g], o.flip, bound), true
}
