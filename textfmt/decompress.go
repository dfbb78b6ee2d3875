package textfmt

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/colsst/colsst/encoding"
)

// Decompress unpacks r if it begins like gzip, one member or several, and else
// returns its bytes as they are. The name stands in errors. Damaged or cut
// input is an encoding.CorruptError.
func Decompress(r io.Reader, name string) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	magic, err := b.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return b, nil
	}
	u := &unpacker{name: name, packed: &source{r: b}}
	if u.r, err = gzip.NewReader(u.packed); err != nil {
		return nil, u.corrupt(err)
	}
	return u, nil
}

// unpacker reads packed data and tells damage from failures to read it.
type unpacker struct {
	name   string
	packed *source
	r      io.Reader
}

func (u *unpacker) Read(p []byte) (int, error) {
	n, err := u.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = u.corrupt(err)
	}
	return n, err
}

func (u *unpacker) corrupt(err error) error {
	if u.packed.err != nil {
		return u.packed.err
	}
	e := &encoding.CorruptError{File: u.name, Part: "gzip data", Offset: -1, Err: err}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		e.Reason, e.Err = "it ends early", nil
	}
	return e
}

// source remembers why it could not be read.
type source struct {
	r   *bufio.Reader
	err error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.keep(err)
	return n, err
}

// ReadByte keeps gzip from buffering once more.
func (s *source) ReadByte() (byte, error) {
	c, err := s.r.ReadByte()
	s.keep(err)
	return c, err
}

func (s *source) keep(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
}
