package columnar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/rawfile"
)

// ReaderAtContext is what a source of Open may have beside io.ReaderAt: reads
// that end when a context does. A Reader then reads through it, with the
// context of the call or of the iterator.
type ReaderAtContext interface {
	// ReadAtContext reads as io.ReaderAt does: it is safe for concurrent use,
	// and returns an error where it reads less than len(p).
	ReadAtContext(ctx context.Context, p []byte, off int64) (n int, err error)
}

// file gives access to the bytes of a table file. It is safe for concurrent
// use once it is set up.
type file struct {
	r         io.ReaderAt
	ctx       ReaderAtContext // or nil
	mem       []byte          // the whole file, where it is in memory
	seen      *verified       // of what is in memory
	mapped    bool            // mem is a mapping, which may fault
	size      int64
	name      string
	streamLen int64
	chunk     int     // logical bytes a chunk, or 0
	chunkAt   []int64 // where each chunk begins in the file, and where the last ends
	tail      []byte  // the end of the file
}

func newFile(r io.ReaderAt, size int64, name string) file {
	f := file{r: r, size: size, name: name}
	f.ctx, _ = r.(ReaderAtContext)
	return f
}

// OpenBytes opens a table file that is in memory. Nothing is copied: blocks
// are decoded where they lie, so b must stay as it is until the Reader is
// closed and its iterators are at their end or closed. The checksum of a block
// is verified when it is first read; with WithEveryChecksum each time.
func OpenBytes(b []byte, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	return newReader(file{mem: b, size: int64(len(b)), name: o.name}, &o, nil)
}

// OpenFile opens the table file at path, which Close closes. With WithMmap it
// maps the file and decodes blocks where they lie, as OpenBytes. The name in
// errors is the path unless WithName gives another.
func OpenFile(path string, opts ...Option) (*Reader, error) {
	o := newOptions(opts)
	if o.name == "" {
		o.name = path
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	src := newFile(rawfile.NewReader(f), info.Size(), o.name)
	release := f.Close
	if o.mmap && src.size >= fileHeaderLen+trailerLen && src.size == int64(int(src.size)) {
		switch mem, err := rawfile.Map(f, int(src.size)); {
		case err == nil:
			if err := f.Close(); err != nil {
				return nil, errors.Join(err, rawfile.Unmap(mem))
			}
			src.mem, src.mapped, src.r = mem, true, nil
			release = func() error { return rawfile.Unmap(mem) }
		case !errors.Is(err, errors.ErrUnsupported):
			return nil, errors.Join(err, f.Close())
		}
	}
	r, err := newReader(src, &o, release)
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return r, nil
}

// verified remembers blocks whose checksum was right, those of a file in
// memory: of each granule of the stream where the last two of them begin that
// were verified.
type verified struct{ granules []atomic.Uint32 }

// granule is the length of a granule: places in it, counted from 1, are
// numbers of 16 bits.
const granule = 4096

func newVerified(stream int64) *verified {
	return &verified{make([]atomic.Uint32, (stream+granule-1)/granule)}
}

func (v *verified) has(off int64) bool {
	x, at := v.granules[off/granule].Load(), uint32(off%granule+1)
	return x&0xffff == at || x>>16 == at
}

func (v *verified) add(off int64) {
	g := &v.granules[off/granule]
	g.Store(g.Load()<<16 | uint32(off%granule+1))
}

// crc is the number of bytes of an item's checksum.
func (f *file) crc() int {
	if f.chunk > 0 {
		return 0
	}
	return crcBytes
}

// physical is the file offset of a logical offset, or of the chunk that holds
// it.
func (f *file) physical(off int64) int64 {
	if f.chunk == 0 {
		return off + fileHeaderLen
	}
	i := off / int64(f.chunk)
	if i < 0 || i >= int64(len(f.chunkAt)) {
		return -1
	}
	return f.chunkAt[i]
}

// inMemory are the n bytes at a file offset, or nil if they must be read.
func (f *file) inMemory(at, n int64) []byte {
	if f.mem != nil {
		return within(f.mem, at, n)
	}
	if from := at - (f.size - int64(len(f.tail))); from >= 0 && from+n <= int64(len(f.tail)) {
		return within(f.tail, from, n)
	}
	return nil
}

// bytes are n bytes at a file offset, which lie within the file: where they
// are in memory, or read.
func (f *file) bytes(ctx context.Context, at, n int64) ([]byte, error) {
	if b := f.inMemory(at, n); b != nil {
		return b, nil
	}
	b := make([]byte, n)
	return b, f.readAt(ctx, b, at)
}

// readAt reads len(dst) bytes at a file offset, which lie within the file.
func (f *file) readAt(ctx context.Context, dst []byte, at int64) error {
	if b := f.inMemory(at, int64(len(dst))); b != nil {
		copy(dst, b)
		return nil
	}
	var n int
	var err error
	if f.ctx != nil {
		n, err = f.ctx.ReadAtContext(ctx, dst, at)
	} else {
		n, err = f.r.ReadAt(dst, at)
	}
	switch {
	case n == len(dst):
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return &encoding.CorruptError{
			File: f.name, Part: truncatedPart, Offset: at,
			Reason: fmt.Sprintf("truncated: %d of %d bytes", n, len(dst)),
		}
	}
	return &readError{file: f.name, at: at, n: len(dst), err: err}
}

// truncatedPart is the part of a file that ends too early until at names it.
const truncatedPart = "file"

// readError is a read that failed.
type readError struct {
	file, part string
	at         int64 // file offset
	n          int
	err        error
}

func (e *readError) Error() string {
	text := fmt.Sprintf("read %d bytes at %d", e.n, e.at)
	if e.part != "" {
		text = e.part + ": " + text
	}
	if e.file != "" {
		text = e.file + ": " + text
	}
	return text + ": " + e.err.Error()
}

func (e *readError) Unwrap() error { return e.err }

// at adds to an error the file, the part and the file offset of the logical
// offset where it begins. Errors that are not about the bytes pass through;
// those of reading are given the part.
func (f *file) at(err error, part string, off int64) error {
	if err == nil {
		return nil
	}
	return f.atPhysical(err, part, f.physical(off))
}

func (f *file) atPhysical(err error, part string, at int64) error {
	var read *readError
	if errors.As(err, &read) {
		if read.part == "" {
			read.part = part
		}
		return err
	}
	var c *encoding.CorruptError
	if !errors.As(err, &c) {
		if errors.Is(err, encoding.ErrUnsupported) && f.name != "" {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		return err
	}
	if c.Offset >= 0 {
		if c.Part == truncatedPart {
			c.Part = part
		}
		return err
	}
	e := &encoding.CorruptError{File: f.name, Part: part, Offset: at, Err: err}
	if direct, ok := err.(*encoding.CorruptError); ok && strings.HasPrefix(part, direct.Part) { //nolint:errorlint // not one that something wraps
		e.Reason, e.Err = direct.Reason, direct.Err
	}
	return e
}
