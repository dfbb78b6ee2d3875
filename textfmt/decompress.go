package textfmt

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/therootcompany/xz"

	"github.com/colsst/colsst/encoding"
)

// windowBytes bounds the memory of a decompressor: text that was packed with a
// larger window (zstd --long=27, xz -9) is refused.
const windowBytes = 128 << 20

// compression is a form of packed text.
type compression struct {
	name, magic string
	open        func(r *packed) (io.Reader, error)
}

const gzipMagic = "\x1f\x8b"

var compressions = []compression{
	{"gzip", gzipMagic, openGzip},
	{"zstd", "\x28\xb5\x2f\xfd", func(r *packed) (io.Reader, error) {
		// With one decoder there is no goroutine to be closed.
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(windowBytes))
	}},
	{"bzip2", "BZh", func(r *packed) (io.Reader, error) { return bzip2.NewReader(r), nil }},
	{"xz", "\xfd7zXZ\x00", func(r *packed) (io.Reader, error) { return xz.NewReader(r, windowBytes) }},
}

// compressionOf finds the form that data begins like, or nil.
func compressionOf(head []byte) *compression {
	for i := range compressions {
		c := &compressions[i]
		if !bytes.HasPrefix(head, []byte(c.magic)) {
			continue
		}
		// BZh could be a text: a level and the start of a block or of the end follow.
		if c.name == "bzip2" && (len(head) < 10 || string(head[4:10]) != "1AY&SY" && string(head[4:10]) != "\x17rE8P\x90") {
			continue
		}
		return c
	}
	return nil
}

// Decompress unpacks r if it begins like gzip, zstd, bzip2 or xz, one member or
// several, and else returns its bytes as they are. The name stands in errors.
// Damaged or cut input is an encoding.CorruptError.
func Decompress(r io.Reader, name string) (io.Reader, error) {
	b := bufio.NewReaderSize(r, 64<<10)
	head, err := b.Peek(10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	c := compressionOf(head)
	if c == nil {
		return b, nil
	}
	u := &unpacker{name: name, part: c.name + " data", packed: &packed{r: b}}
	if u.r, err = c.open(u.packed); err != nil {
		return nil, u.corrupt(err)
	}
	return u, nil
}

// unpacker reads packed data and tells damage from failures to read it.
type unpacker struct {
	name, part string
	packed     *packed
	r          io.Reader
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
	e := &encoding.CorruptError{File: u.name, Part: u.part, Offset: -1, Err: err}
	switch {
	case errors.Is(err, errBehind):
		e.Reason, e.Err = err.Error(), nil
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, xz.ErrBuf):
		e.Reason, e.Err = "it ends early", nil
	}
	return e
}

// members reads the members of gzip data one after the other.
type members struct {
	z *gzip.Reader
	r *packed
}

func openGzip(r *packed) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return &members{z, r}, nil
}

// errBehind says that what follows a member is none.
var errBehind = errors.New("bytes after the end of the gzip data")

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			return n, nil // it comes again
		}
		if n > 0 || !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, err
		}
		head, err := m.r.r.Peek(len(gzipMagic))
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			m.r.keep(err)
			return 0, err
		case len(head) == 0:
			return 0, io.EOF
		case !strings.HasPrefix(gzipMagic, string(head)):
			return 0, errBehind
		}
		if err := m.z.Reset(m.r); err != nil {
			return 0, err
		}
		m.z.Multistream(false)
	}
}

// packed remembers why it could not be read.
type packed struct {
	r   *bufio.Reader
	err error
}

func (s *packed) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.keep(err)
	return n, err
}

// ReadByte keeps decompressors from buffering once more.
func (s *packed) ReadByte() (byte, error) {
	c, err := s.r.ReadByte()
	s.keep(err)
	return c, err
}

func (s *packed) keep(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
}
