// Package encoding is the vocabulary that every codec of colsst shares: the
// identities of the encodings, the parameters of a chunk, the limits of the
// format and the errors for bad input. It holds no codec.
//
// A codec turns the values of one column of one row group (a chunk) into
//
//	parameters   a fixed set of small integers (Params), and
//	body         bytes whose length follows from the parameters and the count
//
// The planned form keeps the two apart: a row group stores the parameters of
// its chunks as columns of the block's header, and the bodies one after
// another without any header of their own. The self-contained form
// (AppendFloat64, DecodeFloat64 and the like) writes both in line, for users
// of a single codec.
package encoding

import (
	"errors"
	"fmt"
)

// ID identifies an encoding in a file. An ID is never reused.
type ID uint8

// The encodings. The comment of each names the package that owns it.
const (
	Raw             ID = 0  // encoding/raw: values as they are, little-endian
	Constant        ID = 1  // encoding/constant: one value for the whole chunk
	DeltaOfDelta    ID = 2  // encoding/deltadelta: integers, steps, deltas, deltas of deltas, jitter
	Function        ID = 3  // encoding/function: integers computed from other columns, plus residuals
	RunLength       ID = 4  // encoding/runlength: integers as runs
	ALP             ID = 5  // encoding/alp: floats as decimals, ALP-RD, ordered bits
	ByteStreamSplit ID = 6  // encoding/bss: floats, bytes of equal rank together
	Dictionary      ID = 7  // encoding/dict: byte strings by distinct values
	LengthBytes     ID = 8  // encoding/bytestrings: packed lengths, then the bytes
	FrontCoded      ID = 9  // encoding/bytestrings: shared prefixes with the string before
	numIDs             = 10 // one past the newest
)

var names = [numIDs]string{
	Raw:             "raw",
	Constant:        "constant",
	DeltaOfDelta:    "delta_of_delta",
	Function:        "function",
	RunLength:       "run_length",
	ALP:             "alp",
	ByteStreamSplit: "byte_stream_split",
	Dictionary:      "dictionary",
	LengthBytes:     "length_bytes",
	FrontCoded:      "front_coded",
}

// Valid reports whether id is an encoding that this version knows.
func (id ID) Valid() bool { return id < numIDs }

// String is the name of the encoding as table options and the tool write it.
func (id ID) String() string {
	if id.Valid() {
		return names[id]
	}
	return fmt.Sprintf("encoding(%d)", uint8(id))
}

// ParseID is the inverse of String.
func ParseID(name string) (ID, bool) {
	for i, n := range names {
		if n == name {
			return ID(i), true
		}
	}
	return 0, false
}

// NumParams is the number of parameters of a chunk.
const NumParams = 8

// Params are the parameters of one chunk. What each means is the codec's
// own; those that a codec does not use are zero. A codec picks them so that
// chunks that follow one another have equal or near values, since a block
// stores them as columns.
type Params [NumParams]int64

// Limits of the format, refused at write and at read.
const (
	MaxGroupRows  = 1 << 16    // rows in one row group, hence values in one chunk
	MaxValueBytes = 256 << 20  // bytes in one value
	MaxGroupBytes = 256 << 20  // bytes of the values in one row group of several rows
	MaxRowBytes   = 1 << 30    // bytes of the values of one row, its key and static row included
	MaxKeyBytes   = 64<<10 - 1 // bytes in one partition key
	MaxColumns    = 1 << 15    // columns in a table
)

// ErrCorrupt is what every CorruptError matches with errors.Is.
var ErrCorrupt = errors.New("corrupt data")

// ErrUnsupported marks input that is newer than this version or of a kind
// that it does not know. The error that wraps it names what.
var ErrUnsupported = errors.New("unsupported")

// CorruptError says that bytes are not what the format allows.
type CorruptError struct {
	File   string // the file, where one is known
	Part   string // which part: "footer", "block 12", "column value"
	Offset int64  // where the part begins in the file, or -1
	Reason string // what is wrong
	Err    error  // a cause, or nil
}

func (e *CorruptError) Error() string {
	s := e.Part
	if e.Offset >= 0 {
		s = fmt.Sprintf("%s at %d", s, e.Offset)
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if e.File != "" {
		s = e.File + ": " + s
	}
	return s
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap is the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// Corruptf is a CorruptError without file and offset, for a layer that knows
// neither; the layers above add them.
func Corruptf(part, format string, args ...any) *CorruptError {
	return &CorruptError{Part: part, Offset: -1, Reason: fmt.Sprintf(format, args...)}
}
