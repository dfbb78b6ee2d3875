// Package codecs measures the encodings of single columns: ours at every level
// of instructions and those of other Go libraries, on the same values.
package codecs

import (
	"unsafe"

	"github.com/colsst/colsst/encoding"
)

type number interface {
	int32 | int64 | float32 | float64
}

// block is some consecutive values, encoded. Only our planned form keeps
// parameters apart from the bytes.
type block struct {
	rows   int
	params encoding.Params
	bytes  []byte
}

// codec is one way to encode blocks. encode appends to b.bytes[:0] and decode
// to dst[:0], both reused from block to block as far as a library allows.
type codec[T number] struct {
	name   string
	form   string // ours: planned or self-contained
	encode func(b *block, src []T) error
	decode func(dst []T, b *block) ([]T, error)
	reset  func() // forgets the history, where there is one
}

// size is the bytes of a value.
func size[T number]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// raw is the memory of values, for libraries that take bytes and to compare
// values bit for bit.
func raw[T number](v []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*size[T]())
}

func equal[T number](a, b []T) bool {
	return len(a) == len(b) && string(raw(a)) == string(raw(b))
}
