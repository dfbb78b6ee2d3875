package alp

import (
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/simd"
)

// Consecutive64 decodes chunks of n values each, of one mode that is Framed,
// whose bodies lie one behind the other from the start of src on: their
// parameters are p. It returns how many bytes they take. dst has room for all
// their values, or is empty where only the size is wanted. ok is false where
// Float64s has to say what is wrong, or to decode what is not as alike as that.
func (d *Decoder) Consecutive64(dst []float64, src []byte, n, chunks int, p *encoding.ParamColumns) (size int, ok bool) {
	g := &d.runs64
	if size, ok = g.follow(src, n, chunks, p, 64); !ok || len(dst) == 0 {
		return size, ok
	}
	if g.mode.delta() {
		ok = g.patch(src, simd.Patches64) && sum64(g, dst, src)
		clear(g.highs)
		return size, ok && (g.exceptions == 0 || each(g, dst, src[:size:cap(src)], p, d.exceptions64))
	}
	return size, each(g, dst, src[:size:cap(src)], p, d.Float64)
}

// Consecutive32 is Consecutive64 for float32 values.
func (d *Decoder) Consecutive32(dst []float32, src []byte, n, chunks int, p *encoding.ParamColumns) (size int, ok bool) {
	g := &d.runs32
	if size, ok = g.follow(src, n, chunks, p, 32); !ok || len(dst) == 0 {
		return size, ok
	}
	if g.mode.delta() {
		ok = g.patch(src, simd.Patches32) && sum32(g, dst, src)
		clear(g.highs)
		return size, ok && (g.exceptions == 0 || each(g, dst, src[:size:cap(src)], p, d.exceptions32))
	}
	return size, each(g, dst, src[:size:cap(src)], p, d.Float32)
}

// follow takes chunks of n values of m bits, one behind the other, and returns
// the size of them all.
func (g *runs[I, U]) follow(src []byte, n, chunks int, p *encoding.ParamColumns, m uint) (size int, ok bool) {
	g.list = slices.Grow(g.list[:0], chunks)[:chunks]
	g.n, g.patches, g.exceptions = n*chunks, 0, 0
	g.mode = Mode(p.At(pMode, 0))
	if n < 0 || len(p[pMode]) != 1 || len(p[pPair]) != 1 || !Framed(int64(g.mode)) || g.mode.delta() && !g.kind(p.At(pPair, 0), m) {
		return 0, false
	}
	mostExceptions, mostFirsts := int64(n), ^uint64(0)
	if !g.mode.decimal() {
		mostExceptions = 0
	}
	if !g.mode.delta() {
		mostFirsts = 0
	}
	position := bitpack.PositionWidth(n)
	firsts, bases, widths, patches, highs, exceptions := columnOf(p, pFirst), columnOf(p, 2), columnOf(p, 3), columnOf(p, 4), columnOf(p, 5), columnOf(p, pExceptions)
	for i := range g.list {
		first, base, w, c, high, x := firsts.at(i), bases.at(i), uint64(widths.at(i)), uint64(patches.at(i)), highs.at(i), exceptions.at(i)
		sign := high >> 63
		high = high ^ sign - sign
		if w > uint64(m) || c > uint64(n) || uint64(high) > uint64(m)-w || (c == 0) != (high == 0) || uint64(x) > uint64(mostExceptions) ||
			uint64(first)&^mostFirsts != 0 || !frame.Fits(first, m-uint(w)) || !frame.Fits(base, m-frame.Shift(uint(w))) {
			return 0, false
		}
		base <<= frame.Shift(uint(w))
		r := &g.list[i] // all of it is set
		r.Off, r.N, r.Width = size, n, uint(w)
		r.First, r.Add = I(first<<w-base), I(base) // as in gather
		size += simd.PackedLen(n, uint(w))
		r.Patches, r.Positions, r.PositionWidth = int(c), size, position
		size += simd.PackedLen(int(c), position)
		r.Highs, r.HighWidth = size, uint(high)
		size += simd.PackedLen(int(c), uint(high))
		r.Sign = I(1) << ((uint(high) - 1) & 63) & I(sign)
		g.patches += int(c)
		if x > 0 {
			size += simd.PackedLen(int(x), position) + int(x)*int(m/8)
			g.exceptions++
		}
	}
	return size, size <= len(src)
}

// column is a parameter of many chunks.
type column struct {
	v    []int64
	mask int // of a chunk's number
}

func columnOf(p *encoding.ParamColumns, k int) column {
	if len(p[k]) == 1 {
		return column{v: p[k]}
	}
	return column{p[k], -1}
}

func (c *column) at(i int) int64 { return c.v[i&c.mask] }

// each decodes the chunks that g has, one by one.
func each[F float, I int32 | int64, U uint32 | uint64](g *runs[I, U], dst []F, src []byte, p *encoding.ParamColumns, decode func([]F, *encoding.Params, []byte) error) bool {
	for i := range g.list {
		n, from, to := g.list[i].N, g.list[i].Off, len(src)
		if i+1 < len(g.list) {
			to = g.list[i+1].Off
		}
		params := p.Of(i)
		if decode(dst[:n:len(dst)], &params, src[from:to]) != nil {
			return false
		}
		dst = dst[n:]
	}
	return true
}
