package alp

import (
	"math"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/simd"
)

// Chunk is one of several chunks whose bodies lie in one source.
type Chunk struct {
	Params   encoding.Params
	N        int // values
	Off, Len int // of the body in the source
}

// body is the body of c, with the capacity of src behind it.
func (c *Chunk) body(src []byte) []byte { return src[c.Off : c.Off+c.Len] }

// Float64s is Float64 of one chunk after another, in fewer steps where they are
// alike. dst has as many values as all of them. It returns how many chunks are
// without fault; the error is about the next one.
func (d *Decoder) Float64s(dst []float64, src []byte, chunks []Chunk) (done int, err error) {
	for done < len(chunks) {
		l, k, n, err := d.runs64.gather(src, chunks[done:], 64)
		if err != nil {
			return done + k, err
		}
		now := chunks[done : done+max(k, 1)]
		ok := true
		switch {
		case k == 0:
			ok, n = false, now[0].N
		case l.mode == BitsDelta:
			simd.SumOrderedRuns64(dst[:n], src, d.runs64.runs, d.runs64.highs(), l.zeros)
		default:
			ok = simd.SumDecimalRuns64(dst[:n], src, d.runs64.runs, d.runs64.highs(), pow10[l.pair.f], inv10[l.pair.e])
		}
		d.runs64.end()
		at := 0
		for i := range now {
			c := &now[i]
			v := dst[at : at+c.N]
			switch {
			case !ok: // by itself
				err = d.Float64(v, &c.Params, c.body(src))
			case c.Params[pExceptions] > 0:
				err = d.exceptions64(v, c, src)
			}
			if err != nil {
				return done + i, err
			}
			at += c.N
		}
		dst, done = dst[n:], done+len(now)
	}
	return done, nil
}

// Float32s is Float64s for float32 values.
func (d *Decoder) Float32s(dst []float32, src []byte, chunks []Chunk) (done int, err error) {
	for done < len(chunks) {
		l, k, n, err := d.runs32.gather(src, chunks[done:], 32)
		if err != nil {
			return done + k, err
		}
		now := chunks[done : done+max(k, 1)]
		ok := true
		switch {
		case k == 0:
			ok, n = false, now[0].N
		case l.mode == BitsDelta:
			simd.SumOrderedRuns32(dst[:n], src, d.runs32.runs, d.runs32.highs(), l.zeros)
		default:
			ok = simd.SumDecimalRuns32(dst[:n], src, d.runs32.runs, d.runs32.highs(), pow10[l.pair.f], inv10[l.pair.e])
		}
		d.runs32.end()
		at := 0
		for i := range now {
			c := &now[i]
			v := dst[at : at+c.N]
			switch {
			case !ok:
				err = d.Float32(v, &c.Params, c.body(src))
			case c.Params[pExceptions] > 0:
				err = d.exceptions32(v, c, src)
			}
			if err != nil {
				return done + i, err
			}
			at += c.N
		}
		dst, done = dst[n:], done+len(now)
	}
	return done, nil
}

// exceptions64 puts the exceptions of c into v, its values.
func (d *Decoder) exceptions64(v []float64, c *Chunk, src []byte) error {
	l, err := d.layoutOf(&c.Params, c.N, 64)
	if err != nil {
		return err
	}
	at, raw, err := d.exceptions(l, c.N, c.body(src)[l.frame.Len(c.N):])
	for i, p := range at {
		v[p] = math.Float64frombits(le.Uint64(raw[8*i:]))
	}
	return err
}

func (d *Decoder) exceptions32(v []float32, c *Chunk, src []byte) error {
	l, err := d.layoutOf(&c.Params, c.N, 32)
	if err != nil {
		return err
	}
	at, raw, err := d.exceptions(l, c.N, c.body(src)[l.frame.Len(c.N):])
	for i, p := range at {
		v[p] = math.Float32frombits(le.Uint32(raw[4*i:]))
	}
	return err
}

// gathered are the runs of chunks for one call of a kernel.
type gathered[I int32 | int64, U uint32 | uint64] struct {
	runs    []simd.Run[I]
	n       int  // codes
	all     []U  // what patches add to them: zeros between the calls
	patched bool // some of all are not
}

// highs are what is added to the codes, if anything.
func (g *gathered[I, U]) highs() []U {
	if !g.patched {
		return nil
	}
	return g.room(g.n)
}

// room is all of at least n values.
func (g *gathered[I, U]) room(n int) []U {
	if len(g.all) < n {
		g.all = append(g.all, make([]U, n-len(g.all))...)
	}
	return g.all[:n]
}

// end makes all zeros again.
func (g *gathered[I, U]) end() {
	if g.patched {
		clear(g.all)
	}
}

// gather takes the first k of chunks, of values of m bits, which are all
// differences of one kind and have n values; l is the layout of one of them.
// The error is about the next one.
func (g *gathered[I, U]) gather(src []byte, chunks []Chunk, m uint) (l layout, k, n int, err error) {
	g.runs, g.n, g.patched = g.runs[:0], 0, false
	var next layout
	for k = range chunks {
		c := &chunks[k]
		if err = next.parse(&c.Params, c.N, m); err == nil && next.len != c.Len {
			err = errLength(&next, c.Len)
		}
		if err != nil {
			g.end()
			return l, k, g.n, err
		}
		if !next.mode.delta() || k > 0 && (next.mode != l.mode || next.pair != l.pair || next.zeros != l.zeros) {
			return l, k, g.n, nil
		}
		l = next
		add := I(l.frame.Base())
		g.runs = append(g.runs, simd.Run[I]{Off: c.Off, N: c.N, Width: l.frame.Width, First: I(l.first) - add, Add: add})
		if l.frame.Patches > 0 {
			g.patched = true
			if err := frame.Highs(&l.frame, part, g.room(g.n + c.N)[g.n:], c.body(src), 1); err != nil {
				g.end()
				return l, k, g.n, err
			}
		}
		g.n += c.N
	}
	return l, len(chunks), g.n, nil
}
