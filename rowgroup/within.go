package rowgroup

import (
	"math"
	"math/bits"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/simd"
)

// RowRange says which rows of a block are wanted: those between two bounds in an
// IntOrder, or all.
type RowRange struct {
	Order      *IntOrder // nil: all
	Start, End IntBound
	Limit      int  // at most so many of them, or -1
	Last       bool // the last ones, not the first
}

// rows are the rows [lo, hi) of the n that form r, which has no spread.
func (x *RowRange) rows(r encoding.Ramp, n int) (lo, hi int) {
	lo, hi = 0, n
	if x.Order != nil {
		lo = searchRamp(r, n, x.Order.flip, x.Start)
		hi = max(lo, searchRamp(r, n, x.Order.flip, x.End))
	}
	switch {
	case x.Limit < 0 || x.Limit >= hi-lo:
	case x.Last:
		lo = hi - x.Limit
	default:
		hi = lo + x.Limit
	}
	return lo, hi
}

// decodeWithin is decodeWhole of the rows that are wanted, of which it returns how
// many there are. Of the other groups it reads what says where their bodies lie.
func (d *blockDecoder) decodeWithin(dst *Batch, key []byte, t *Template, groups, rows, parts int, body []byte, x *RowRange, o *ScanOptions) (n int, ok bool) {
	if parts > 1 {
		return 0, false
	}
	w, off, ok := d.beginWhole(dst, key, t, groups, rows, parts, body, o)
	if !ok || len(dst.parts) > 1 { // where one partition ends another begins
		return 0, false
	}
	each := rows / groups
	lo, hi := 0, rows
	if x.Order == nil {
		lo, hi = x.rows(encoding.Ramp{}, rows)
	}
	var y progressions
	want := wanted{all: o.Columns == nil, list: o.Columns}
	for i := range w.streams {
		s := &w.streams[i]
		out := s.given && (s.column < 0 && !o.WithoutMetadata || s.column >= 0 && (s.key || want.has(int(s.column))))
		var size int
		switch s.class {
		case ClassFloat32, ClassFloat64:
			size, ok = d.floatsWithin(dst, s, each, off, lo, hi, out)
		default:
			if size, ok = d.wholeRun(&y, w, i, each, off); !ok {
				return 0, false
			}
			if s.key && x.Order != nil { // the one clustering column, before all that is given
				if y.varied != nil || y.Spread != 0 {
					return 0, false
				}
				lo, hi = x.rows(y.Ramp, rows)
			}
			if out {
				d.intsWithin(dst, w, s, &y, lo, hi)
			}
		}
		if !ok {
			return 0, false
		}
		off += size
	}
	if off != len(body) {
		return 0, false
	}
	d.finishWhole(dst, hi-lo, o)
	return hi - lo, true
}

// intsWithin puts out rows [lo, hi) of stream s, whose values are x.
func (d *blockDecoder) intsWithin(dst *Batch, w *whole, s *wholeStream, x *progressions, lo, hi int) {
	n := hi - lo
	if s.column >= 0 {
		if v := &dst.vecs[s.column]; s.class == ClassInt32 {
			v.i32 = sized(v.i32, n)
			d.narrowWithin(v.i32, x, lo)
		} else {
			v.i64 = sized(v.i64, n)
			d.wideWithin(v.i64, x, lo)
		}
		return
	}
	if s.ramp.zero && w.ramps[s.k] == (encoding.Ramp{}) { // times that are all 0 are left out
		return
	}
	switch m := &dst.meta; -1 - s.column {
	case rWriteTime:
		m.WriteTimes = sized(m.WriteTimes, n)
		d.wideWithin(m.WriteTimes, x, lo)
	case rExpiry:
		m.Expiries = sized(m.Expiries, n)
		d.wideWithin(m.Expiries, x, lo)
	case rTTL:
		m.TTLs = sized(m.TTLs, n)
		d.narrowWithin(m.TTLs, x, lo)
	}
}

// wideWithin sets dst to the values of x from row lo on.
func (d *blockDecoder) wideWithin(dst []int64, x *progressions, lo int) {
	w := uint(bits.Len64(x.Spread))
	for len(dst) > 0 {
		n, first := len(dst), x.First+int64(lo)*x.Step
		if x.varied != nil {
			g := lo / x.n
			n, first = min(n, (g+1)*x.n-lo), first+x.varied[g]
		}
		switch {
		case w == 0:
			simd.Fill64(dst[:n:len(dst)], first, x.Step)
		case n <= fewCodes:
			for i := range dst[:n] {
				dst[i] = first + int64(bitsAt(x.codes, uint(lo+i)*w, w))
				first += x.Step
			}
		default:
			skip := lo % 8 // codes begin with a byte
			all := sized(d.tmp.i64, skip+n)
			d.tmp.i64 = all
			c := simd.Packed64(x.codes[lo/8*int(w):], w)
			simd.Ramp64(all, &c, first-int64(skip)*x.Step, x.Step)
			copy(dst, all[skip:])
		}
		dst, lo = dst[n:], lo+n
	}
}

// narrowWithin is wideWithin for values of which the low bits are wanted.
func (d *blockDecoder) narrowWithin(dst []int32, x *progressions, lo int) {
	if x.Spread == 0 && x.varied == nil {
		simd.Fill32(dst, int32(x.First+int64(lo)*x.Step), int32(x.Step))
		return
	}
	all := sized(d.tmp.wide, len(dst))
	d.tmp.wide = all
	d.wideWithin(all, x, lo)
	for i, y := range all {
		dst[i] = int32(y)
	}
}

// floatsWithin finds how many bytes stream s takes, of n rows a group and its
// bodies at off, and puts out its rows [lo, hi) if they are asked for.
func (d *blockDecoder) floatsWithin(dst *Batch, s *wholeStream, n, off, lo, hi int, out bool) (size int, ok bool) {
	from, to := 0, 0 // groups
	if out && lo < hi {
		from, to = lo/n, (hi-1)/n+1
	}
	bits := uint(64)
	if s.class == ClassFloat32 {
		bits = 32
	}
	at, size, ok := d.lengthsWithin(s, n, bits, from)
	if !ok || size > len(d.body)-off {
		return 0, false
	}
	if !out {
		return size, true
	}
	v := &dst.vecs[s.column]
	src := d.body[off+at:]
	skip, all := lo-from*n, (to-from)*n
	if s.class == ClassFloat32 {
		v.f32, d.tmp.f32, ok = someOf(v.f32, d.tmp.f32, all, skip, hi-lo, func(to32 []float32) bool {
			_, ok := d.alp.Consecutive32(to32, src, n, to-from, d.paramsOf(s, from, to))
			return ok
		})
	} else {
		v.f64, d.tmp.f64, ok = someOf(v.f64, d.tmp.f64, all, skip, hi-lo, func(to64 []float64) bool {
			_, ok := d.alp.Consecutive64(to64, src, n, to-from, d.paramsOf(s, from, to))
			return ok
		})
	}
	return size, ok
}

// someOf decodes all values and makes v the n of them behind skip; where that is
// not all, they pass through tmp.
func someOf[T float32 | float64](v, tmp []T, all, skip, n int, decode func([]T) bool) (values, memory []T, ok bool) {
	v = sized(v, n)
	if n == 0 {
		return v, tmp, true
	}
	if n == all {
		return v, tmp, decode(v)
	}
	tmp = sized(tmp, all)
	ok = decode(tmp)
	copy(v, tmp[skip:])
	return v, tmp, ok
}

// lengthsWithin is how many bytes the bodies of stream s take, of n values of this
// many bits each, and those of the groups before from.
func (d *blockDecoder) lengthsWithin(s *wholeStream, n int, bits uint, from int) (before, size int, ok bool) {
	l := &d.listed[s.k]
	if l.alike {
		if l.lenOf != n {
			stored, err := d.storedLen(int(d.of.streams[s.k].stream), d.slots(int(s.k), 0), n)
			if err != nil {
				return 0, 0, false
			}
			l.lenOf, l.len = n, stored
		}
		return l.len * from, l.len * d.groups, int64(l.len)*int64(d.groups) <= math.MaxInt32
	}
	if !l.framed {
		return 0, 0, false
	}
	var param [len(l.frame)]int64 // of group 0, or the least
	var bit, width [len(l.frame)]uint
	for i, at := range l.frame {
		if at.stored < 0 {
			param[i] = l.values[at.slot]
			continue
		}
		x := &d.dyns[at.stored]
		param[i], width[i] = d.seeds[at.stored].first, uint(x.w)
		bit[i] = uint(x.before) * uint(d.groups)
	}
	for g := range d.groups {
		if g == from {
			before = size
		}
		p := param
		for i, w := range width {
			if w > 0 {
				p[i] += int64(bitsAt(d.packed, bit[i], w))
				bit[i] += w
			}
		}
		len, ok := alp.FramedLen(n, bits, &p)
		if !ok {
			return 0, 0, false
		}
		size += len
	}
	return before, size, size <= math.MaxInt32
}

// paramsOf are the parameters of stream s, of floats, in groups [from, to).
func (d *blockDecoder) paramsOf(s *wholeStream, from, to int) *encoding.ParamColumns {
	l := &d.listed[s.k]
	v := &l.values
	for i := range d.params {
		d.params[i] = v[slotParam+i:][:1]
	}
	for i := l.from; i < l.to; i++ {
		at := d.dyns[i].slot
		switch {
		case d.dyns[i].kind == shapeBlock:
			v[at] = d.seeds[i].first
		case to-from == 1 && !d.filled[i]:
			v[at] = d.valueAt(i, from)
		default:
			d.params[at-slotParam] = d.column(i)[from:to]
		}
	}
	return &d.params
}
