package alp

import (
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/simd"
)

// Float64s is Float64 of one chunk after another, in fewer steps where they are
// alike: their bodies lie in src, their parameters are p, and dst has as many
// values as all of them. It returns how many chunks it took; the error is about
// the next one.
func (d *Decoder) Float64s(dst []float64, src []byte, bodies []encoding.Body, p *encoding.ParamColumns) (done int, err error) {
	return chunks(&d.runs64, dst, src, bodies, p, 64, sum64, simd.Patches64, d.Float64, d.exceptions64)
}

// Float32s is Float64s for float32 values.
func (d *Decoder) Float32s(dst []float32, src []byte, bodies []encoding.Body, p *encoding.ParamColumns) (done int, err error) {
	return chunks(&d.runs32, dst, src, bodies, p, 32, sum32, simd.Patches32, d.Float32, d.exceptions32)
}

// sum64 sets dst to what the runs in src sum up to; ok is false where an integer is
// too large.
func sum64(g *runs[int64, uint64], dst []float64, src []byte) (ok bool) {
	if g.mode == BitsDelta {
		simd.SumOrderedRuns64(dst, src, g.list, g.highs, g.zeros)
		return true
	}
	return simd.SumDecimalRuns64(dst, src, g.list, g.highs, pow10[g.pair.f], inv10[g.pair.e])
}

// sum32 sets dst to what the runs in src sum up to; ok is false where an integer is
// too large.
func sum32(g *runs[int32, uint32], dst []float32, src []byte) (ok bool) {
	if g.mode == BitsDelta {
		simd.SumOrderedRuns32(dst, src, g.list, g.highs, g.zeros)
		return true
	}
	return simd.SumDecimalRuns32(dst, src, g.list, g.highs, pow10[g.pair.f], inv10[g.pair.e])
}

// chunks decodes chunks of values of m bits: by sums where they are differences
// of one kind, else by one. Exceptions follow the sums.
func chunks[F float, I int32 | int64, U uint32 | uint64](g *runs[I, U], dst []F, src []byte, bodies []encoding.Body, p *encoding.ParamColumns, m uint,
	sums func(*runs[I, U], []F, []byte) bool, patches func([]U, []byte, []simd.Run[I]) bool, one, exceptions func([]F, *encoding.Params, []byte) error) (done int, err error) {
	for done < len(bodies) {
		to := g.gather(src, bodies, done, p, m)
		decode := one
		if to > done {
			ok := g.patch(src, patches) && sums(g, dst[:g.n:len(dst)], src)
			clear(g.highs)
			switch {
			case ok && g.exceptions == 0:
				dst, done = dst[g.n:], to
				continue
			case ok:
				decode = exceptions
			}
		}
		for to = max(to, done+1); done < to; done++ {
			b := &bodies[done]
			if b.N == 0 {
				continue
			}
			params := p.Of(done)
			if err := decode(dst[:b.N], &params, b.In(src)); err != nil {
				return done, err
			}
			dst = dst[b.N:]
		}
	}
	return done, nil
}

// exceptions64 puts the exceptions into dst, which holds the other values.
func (d *Decoder) exceptions64(dst []float64, p *encoding.Params, body []byte) error {
	l, err := d.layoutOf(p, len(dst), 64)
	if err != nil {
		return err
	}
	at, raw, err := d.exceptions(l, len(dst), body[l.frame.Len(len(dst)):])
	for i, p := range at {
		dst[p] = math.Float64frombits(le.Uint64(raw[8*i:]))
	}
	return err
}

func (d *Decoder) exceptions32(dst []float32, p *encoding.Params, body []byte) error {
	l, err := d.layoutOf(p, len(dst), 32)
	if err != nil {
		return err
	}
	at, raw, err := d.exceptions(l, len(dst), body[l.frame.Len(len(dst)):])
	for i, p := range at {
		dst[p] = math.Float32frombits(le.Uint32(raw[4*i:]))
	}
	return err
}

// runs are those of chunks that one call of a kernel sums.
type runs[I int32 | int64, U uint32 | uint64] struct {
	list       []simd.Run[I]
	mode       Mode
	pair       pair
	zeros      uint
	n          int // codes
	patches    int // of all
	exceptions int // chunks that have some
	highs      []U // what patches add to the codes, if there are any
	zero       []U // between calls: highs are the first of them
}

// patch sets highs; ok is false where a patch is not where it may be.
func (g *runs[I, U]) patch(src []byte, patches func([]U, []byte, []simd.Run[I]) bool) (ok bool) {
	g.highs = nil
	if g.patches == 0 {
		return true
	}
	if len(g.zero) < g.n {
		g.zero = make([]U, g.n)
	}
	g.highs = g.zero[:g.n]
	if !patches(g.highs, src, g.list) {
		return false
	}
	at := 0
	for i := range g.list {
		r := &g.list[i]
		if r.Patches > 0 && g.highs[at] != 0 { // the low bits of a first value
			return false
		}
		at += r.N
	}
	return true
}

// gather takes the chunks [from, to), of values of m bits, which are differences
// of one kind and without fault, as far as that shows before they are summed.
func (g *runs[I, U]) gather(src []byte, bodies []encoding.Body, from int, p *encoding.ParamColumns, m uint) (to int) {
	g.list, g.n, g.patches, g.exceptions = g.list[:0], 0, 0, 0
	mode, c := p.At(pMode, from), p.At(pPair, from)
	g.mode = Mode(mode)
	if !g.mode.delta() || !g.kind(c, m) {
		return from
	}
	for to = from; to < len(bodies); to++ {
		b := &bodies[to]
		n := b.N
		if n == 0 {
			continue
		}
		f, err := frame.Check(part, p.At(2, to), p.At(3, to), p.At(4, to), p.At(5, to), n, m)
		first, x := p.At(pFirst, to), p.At(pExceptions, to)
		switch {
		case p.At(pMode, to) != mode || p.At(pPair, to) != c || err != nil || !frame.Fits(first, m-f.Width):
			return to
		case x != 0:
			if x < 0 || x > int64(n) || g.mode == BitsDelta {
				return to
			}
			g.exceptions++
		}
		if b.Len != f.Len(n)+bitpack.PositionsLen(int(x), n)+int(x)*int(m/8) {
			return to
		}
		r := frame.RunOf[I](&f, n, b.Off)
		r.First = I(first<<f.Width) - r.Add // the first code stands above no base
		g.list = append(g.list, r)
		g.patches += f.Patches
		g.n += n
	}
	return to
}

// kind sets what parameter c says of the mode, and reports whether it may.
func (g *runs[I, U]) kind(c int64, m uint) bool {
	if g.mode == DecimalDelta {
		g.pair = pairOf(c)
		return 0 <= c && c>>5 <= maxExponent && c&31 <= maxExponent
	}
	g.zeros = uint(c)
	return 0 <= c && c < int64(m)
}
