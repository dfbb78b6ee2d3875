package frame

// Rest lets a search, or a trial, wait for more and more chunks where it keeps
// finding what the chunk before had. The zero value does not wait.
type Rest struct{ wait, span uint8 }

// Waits reports whether the search rests for the next chunk.
func (r *Rest) Waits() bool { return r.wait > 0 }

// Turn counts a chunk, and reports whether the search rests for it.
func (r *Rest) Turn() bool {
	if r.wait == 0 {
		return false
	}
	r.wait--
	return true
}

// Found says whether a search found the same again. If so the next one waits for
// least chunks, later for twice as many and one, up to most.
func (r *Rest) Found(same bool, least, most uint8) {
	if !same {
		*r = Rest{}
		return
	}
	r.span = min(max(2*r.span+1, least), most)
	r.wait = r.span
}
