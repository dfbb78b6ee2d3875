package cassandra

import "io"

// window holds the bytes of a stream that are being looked at, as one slice.
type window struct {
	src      io.Reader
	srcErr   error
	unit     int // least growth
	buf      []byte
	pos, end int   // unread: buf[pos:end]
	base     int64 // position in the stream of buf[0]
}

// position is where the unread bytes begin in the stream.
func (w *window) position() int64 { return w.base + int64(w.pos) }

func (w *window) unread() []byte { return w.buf[w.pos:w.end] }

// shrink gives the memory of a large row back once it is gone, if n unread
// bytes are all that is needed, and reports whether it did. Slices of the old
// buffer stay as they are.
func (w *window) shrink(n int) bool {
	most := 64 * w.unit
	if len(w.buf) <= most || n >= most/2 || w.end-w.pos >= most/2 {
		return false
	}
	kept := w.unread()
	w.base, w.pos, w.end = w.position(), 0, len(kept)
	w.buf = make([]byte, most)
	copy(w.buf, kept)
	return true
}

// more makes at least n unread bytes available, or fails: with io.EOF if there
// are not as many. It grows by what is there, never by what is only said to
// come. Slices of the buffer are no longer valid.
func (w *window) more(n int) error {
	for idle := 0; w.end-w.pos < n; {
		if w.srcErr != nil {
			return w.srcErr
		}
		if w.pos > 0 {
			copy(w.buf, w.buf[w.pos:w.end])
			w.base += int64(w.pos)
			w.pos, w.end = 0, w.end-w.pos
		}
		w.shrink(n)
		if w.end == len(w.buf) {
			// By as much again at most, and never to more than is asked for.
			size := min(2*len(w.buf), (n+w.unit-1)/w.unit*w.unit)
			grown := make([]byte, max(size, len(w.buf)+w.unit))
			copy(grown, w.buf)
			w.buf = grown
		}
		var k int
		k, w.srcErr = w.src.Read(w.buf[w.end:])
		w.end += k
		if idle++; k > 0 {
			idle = 0
		} else if idle == 100 && w.srcErr == nil {
			w.srcErr = io.ErrNoProgress
		}
	}
	return nil
}
