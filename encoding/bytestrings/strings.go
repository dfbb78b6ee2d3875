package bytestrings

import (
	"bytes"
	"errors"
	"math"
	"slices"
)

// MaxData is the greatest total number of bytes in a Strings.
const MaxData = math.MaxUint32

// ErrTooLarge says that a Strings would exceed MaxData bytes.
var ErrTooLarge = errors.New("byte strings exceed 4 GiB in total")

// Strings is a list of byte strings in one buffer: string i is
// Data[Ends[i-1]:Ends[i]], where Ends[-1] counts as 0. Ends never descends,
// and its last element is len(Data). The zero value is an empty list.
type Strings struct {
	Data []byte
	Ends []uint32
}

// Len is the number of strings.
func (s *Strings) Len() int { return len(s.Ends) }

// At is string i, a slice of s.Data that an append cannot grow into.
func (s *Strings) At(i int) []byte {
	start, end := s.start(i), s.Ends[i]
	return s.Data[start:end:end]
}

// start is where string i begins, i at most Len.
func (s *Strings) start(i int) uint32 {
	if i == 0 {
		return 0
	}
	return s.Ends[i-1]
}

// Fits reports whether n more bytes keep s within MaxData.
func (s *Strings) Fits(n int) bool {
	return n >= 0 && uint64(n) <= MaxData-uint64(len(s.Data))
}

// Append appends a copy of b. It fails with ErrTooLarge, s unchanged, if b
// does not fit.
func (s *Strings) Append(b []byte) error {
	if !s.Fits(len(b)) {
		return ErrTooLarge
	}
	s.Data = append(s.Data, b...)
	s.Ends = append(s.Ends, uint32(len(s.Data)))
	return nil
}

// AppendFrom appends copies of strings i to j-1 of src, which may be s itself.
// It fails with ErrTooLarge, s unchanged, if they do not fit.
func (s *Strings) AppendFrom(src *Strings, i, j int) error {
	from, to := src.start(i), src.start(j)
	if !s.Fits(int(to - from)) {
		return ErrTooLarge
	}
	shift := uint32(len(s.Data)) - from // modulo 2^32
	s.Data = append(s.Data, src.Data[from:to]...)
	at := len(s.Ends)
	s.Ends = append(s.Ends, src.Ends[i:j]...)
	for k := range s.Ends[at:] {
		s.Ends[at+k] += shift
	}
	return nil
}

// View is strings i to j-1 of s. It shares the bytes of s, so it is valid as
// long as s is not changed and must not be appended to; its Ends are kept in
// ends, which the next View with the same ends overwrites.
func (s *Strings) View(i, j int, ends *[]uint32) Strings {
	from, to := s.start(i), s.start(j)
	*ends = append((*ends)[:0], s.Ends[i:j]...)
	for k := range *ends {
		(*ends)[k] -= from
	}
	return Strings{Data: s.Data[from:to:to], Ends: *ends}
}

// Reset empties s and keeps its memory.
func (s *Strings) Reset() { s.Truncate(0) }

// Truncate keeps the first n strings.
func (s *Strings) Truncate(n int) {
	s.Data = s.Data[:s.start(n)]
	s.Ends = s.Ends[:n]
}

// Equal reports whether s and t hold the same strings.
func (s *Strings) Equal(t *Strings) bool {
	if s.Len() != t.Len() {
		return false
	}
	for i, end := range s.Ends {
		if end != t.Ends[i] {
			return false
		}
	}
	return bytes.Equal(s.Data, t.Data)
}

// Reverse turns the order of the strings round, in place but for a copy of
// the data.
func (s *Strings) Reverse() {
	if len(s.Ends) < 2 {
		return
	}
	old := Strings{Data: slices.Clone(s.Data), Ends: slices.Clone(s.Ends)}
	s.Truncate(0)
	for i := len(old.Ends) - 1; i >= 0; i-- {
		s.Data = append(s.Data, old.At(i)...)
		s.Ends = append(s.Ends, uint32(len(s.Data)))
	}
}
