package alp

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/internal/frame"
)

// repeat appends the body of the chunk in the way of the one before, if that
// serves as it is: no search is due, there are neither exceptions nor patches,
// and but for the first value of differences no parameter is another. This is
// what choose would find, at less cost. The parameters are then e.last.
func (e *chunk[F, I]) repeat(dst []byte) (out []byte, ok bool) {
	n, mode := len(e.src), Mode(e.last[pMode])
	if !e.ofMode.Waits() || !e.ofFrame.Waits() || n != e.values || e.last[pExceptions] != 0 || e.prev.Patches != 0 {
		return dst, false
	}
	r := &e.ints
	switch {
	case mode.decimal():
		if !e.with(pairOf(e.last[pPair])) || len(e.exceptions) > 0 {
			return dst, false
		}
	case mode == Bits || mode == BitsDelta:
		r = &e.ordered
		if int64(e.order()) != e.last[pZeros] || e.seemDecimals() {
			return dst, false
		}
	default:
		return dst, false
	}
	x, packed, first := r, r.v, e.last[pFirst]
	if mode.delta() {
		x = &e.deltas[0]
		differences(x, r.v)
		packed, first = x.v[1:], e.prev.High(int64(r.v[0]), e.m)
	}
	f, ok := frame.Again(packed, x.lo, x.hi, n, e.prev)
	bits := 8*e.prev.Len(n) + encoding.Distance(first, e.last[pFirst])
	if !ok || f.Patches > 0 || bits > e.bits+e.bits/32 || bits >= n*int(e.m) {
		return dst, false
	}
	e.ofMode.Turn()
	e.ofFrame.Turn()
	if mode.delta() {
		e.last[pFirst] = first
		x.v[0] = I(f.Lead(int64(r.v[0])))
	}
	return frame.Append(&e.frames, dst, f, x.v), true
}
