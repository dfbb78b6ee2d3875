package codecs

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/encoding/bss"
	"github.com/colsst/colsst/encoding/deltadelta"
)

const (
	planned       = "planned"
	selfContained = "self-contained"
)

// plannedForm is a codec as row groups use it: parameters apart from bodies,
// a history from block to block.
func plannedForm[T number](name string, reset func(), encode func([]byte, []T, *encoding.Params) []byte, decode func([]T, *encoding.Params, []byte) error) codec[T] {
	return codec[T]{
		name: name, form: planned, reset: reset,
		encode: func(b *block, src []T) error {
			b.rows, b.bytes = len(src), encode(b.bytes[:0], src, &b.params)
			return nil
		},
		decode: func(dst []T, b *block) ([]T, error) {
			dst = dst[:b.rows]
			return dst, decode(dst, &b.params, b.bytes)
		},
	}
}

// inLine is a codec as a user of nothing else has it.
func inLine[T number](name string, encode func([]byte, []T) []byte, decode func([]T, []byte) ([]byte, error)) codec[T] {
	return codec[T]{
		name: name, form: selfContained,
		encode: func(b *block, src []T) error {
			b.rows, b.bytes = len(src), encode(b.bytes[:0], src)
			return nil
		},
		decode: func(dst []T, b *block) ([]T, error) {
			dst = dst[:b.rows]
			_, err := decode(dst, b.bytes)
			return dst, err
		},
	}
}

const (
	deltas  = "colsst/deltadelta"
	decimal = "colsst/alp"
	streams = "colsst/bss"
)

func ourInt64() []codec[int64] {
	var e deltadelta.Encoder
	var d deltadelta.Decoder
	return []codec[int64]{
		plannedForm(deltas, e.Reset, e.AppendInt64, d.Int64),
		inLine(deltas, deltadelta.AppendInt64, deltadelta.DecodeInt64),
	}
}

func ourInt32() []codec[int32] {
	var e deltadelta.Encoder
	var d deltadelta.Decoder
	return []codec[int32]{
		plannedForm(deltas, e.Reset, e.AppendInt32, d.Int32),
		inLine(deltas, deltadelta.AppendInt32, deltadelta.DecodeInt32),
	}
}

func ourFloat64() []codec[float64] {
	var e alp.Encoder
	var d alp.Decoder
	return []codec[float64]{
		plannedForm(decimal, e.Reset, e.AppendFloat64, d.Float64),
		inLine(decimal, alp.AppendFloat64, alp.DecodeFloat64),
		inLine(streams, bss.AppendFloat64, bss.DecodeFloat64),
	}
}

func ourFloat32() []codec[float32] {
	var e alp.Encoder
	var d alp.Decoder
	return []codec[float32]{
		plannedForm(decimal, e.Reset, e.AppendFloat32, d.Float32),
		inLine(decimal, alp.AppendFloat32, alp.DecodeFloat32),
		inLine(streams, bss.AppendFloat32, bss.DecodeFloat32),
	}
}
