package codecs

import (
	"encoding/binary"
	"errors"

	vmdecimal "github.com/VictoriaMetrics/VictoriaMetrics/lib/decimal"
	vmencoding "github.com/VictoriaMetrics/VictoriaMetrics/lib/encoding"
	"github.com/influxdata/influxdb/tsdb/engine/tsm1"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/bytestreamsplit"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// Names of peers that targets compare with.
const (
	parquetDelta   = "parquet-go DELTA_BINARY_PACKED"
	parquetStreams = "parquet-go BYTE_STREAM_SPLIT"
	copyMemory     = "copy"
)

var errShort = errors.New("the block is too short")

// peer is a codec without parameters; its block is what encode returns.
func peer[T number](name string, encode func(dst []byte, src []T) ([]byte, error), decode func(dst []T, src []byte, n int) ([]T, error)) codec[T] {
	return codec[T]{
		name: name,
		encode: func(b *block, src []T) (err error) {
			b.rows = len(src)
			b.bytes, err = encode(b.bytes[:0], src)
			return err
		},
		decode: func(dst []T, b *block) ([]T, error) { return decode(dst[:0], b.bytes, b.rows) },
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // options are constants
	}
	return v
}

func zstdEncoder(l zstd.EncoderLevel) *zstd.Encoder {
	return must(zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(l)))
}

func zstdDecoder() *zstd.Decoder { return must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))) }

// general are compressors of bytes, over the values as they lie in memory.
func general[T number]() []codec[T] {
	bytes := func(name string, encode func(dst, src []byte) []byte, decode func(dst, src []byte) ([]byte, error)) codec[T] {
		return peer(name,
			func(dst []byte, src []T) ([]byte, error) { return encode(dst, raw(src)), nil },
			func(dst []T, src []byte, n int) ([]T, error) {
				dst = dst[:n]
				out, err := decode(raw(dst)[:0], src)
				if err == nil && len(out) != n*size[T]() {
					err = errShort
				}
				return dst, err
			})
	}
	zd, fast, normal := zstdDecoder(), zstdEncoder(zstd.SpeedFastest), zstdEncoder(zstd.SpeedDefault)
	unzstd := func(dst, src []byte) ([]byte, error) { return zd.DecodeAll(src, dst) }
	return []codec[T]{
		bytes(copyMemory, func(dst, src []byte) []byte { return append(dst, src...) },
			func(dst, src []byte) ([]byte, error) { return append(dst, src...), nil }),
		bytes("zstd fastest", func(dst, src []byte) []byte { return fast.EncodeAll(src, dst) }, unzstd),
		bytes("zstd", func(dst, src []byte) []byte { return normal.EncodeAll(src, dst) }, unzstd),
		bytes("s2", func(dst, src []byte) []byte { return s2.Encode(dst[:cap(dst)], src) },
			func(dst, src []byte) ([]byte, error) { return s2.Decode(dst[:cap(dst)], src) }),
	}
}

// withZstd compresses what another codec wrote.
func withZstd[T number](c codec[T], level zstd.EncoderLevel, name string) codec[T] {
	ze, zd := zstdEncoder(level), zstdDecoder()
	var inner, read block
	return peer(c.name+name,
		func(dst []byte, src []T) ([]byte, error) {
			if err := c.encode(&inner, src); err != nil {
				return nil, err
			}
			return ze.EncodeAll(inner.bytes, dst), nil
		},
		func(dst []T, src []byte, n int) (_ []T, err error) {
			read.rows = n
			if read.bytes, err = zd.DecodeAll(src, read.bytes[:0]); err != nil {
				return nil, err
			}
			return c.decode(dst, &read)
		})
}

// as runs a codec of 64 bits over a column of 32, as its user would have to.
func as[T, W number](c codec[W]) codec[T] {
	var in, out []W
	return codec[T]{
		name: c.name + " as 64 bits",
		encode: func(b *block, src []T) error {
			in = in[:0]
			for _, v := range src {
				in = append(in, W(v))
			}
			return c.encode(b, in)
		},
		decode: func(dst []T, b *block) (_ []T, err error) {
			if cap(out) < b.rows {
				out = make([]W, 0, b.rows+64)
			}
			if out, err = c.decode(out, b); err != nil {
				return nil, err
			}
			dst = dst[:0]
			for _, v := range out {
				dst = append(dst, T(v))
			}
			return dst, nil
		},
	}
}

func peersInt64() []codec[int64] {
	var e delta.BinaryPackedEncoding
	packed := peer(parquetDelta, e.EncodeInt64, func(dst []int64, src []byte, _ int) ([]int64, error) { return e.DecodeInt64(dst, src) })
	all := []codec[int64]{packed, withZstd(packed, zstd.SpeedDefault, " + zstd")}
	return append(append(all, int64Only()...), general[int64]()...)
}

func peersInt32() []codec[int32] {
	var e delta.BinaryPackedEncoding
	packed := peer(parquetDelta, e.EncodeInt32, func(dst []int32, src []byte, _ int) ([]int32, error) { return e.DecodeInt32(dst, src) })
	all := []codec[int32]{packed, withZstd(packed, zstd.SpeedDefault, " + zstd")}
	for _, c := range int64Only() {
		all = append(all, as[int32](c))
	}
	return append(all, general[int32]()...)
}

func peersFloat64() []codec[float64] {
	var e bytestreamsplit.Encoding
	split := peer(parquetStreams, e.EncodeDouble, func(dst []float64, src []byte, _ int) ([]float64, error) { return e.DecodeDouble(dst, src) })
	all := []codec[float64]{split, withZstd(split, zstd.SpeedFastest, " + zstd fastest"), withZstd(split, zstd.SpeedDefault, " + zstd")}
	return append(append(all, float64Only()...), general[float64]()...)
}

func peersFloat32() []codec[float32] {
	var e bytestreamsplit.Encoding
	split := peer(parquetStreams, e.EncodeFloat, func(dst []float32, src []byte, _ int) ([]float32, error) { return e.DecodeFloat(dst, src) })
	all := []codec[float32]{split, withZstd(split, zstd.SpeedFastest, " + zstd fastest"), withZstd(split, zstd.SpeedDefault, " + zstd")}
	for _, c := range float64Only() {
		all = append(all, as[float32](c))
	}
	return append(all, general[float32]()...)
}

// int64Only are codecs of time series databases for 64 bits alone.
func int64Only() []codec[int64] {
	var times, integers []int64
	return []codec[int64]{
		// A block is the type, the first value, and the rest.
		peer("VictoriaMetrics MarshalTimestamps",
			func(dst []byte, src []int64) ([]byte, error) {
				dst = append(dst, make([]byte, 9)...)
				dst, kind, first := vmencoding.MarshalTimestamps(dst, src, 64)
				dst[0] = byte(kind)
				binary.LittleEndian.PutUint64(dst[1:], uint64(first))
				return dst, nil
			},
			func(dst []int64, src []byte, n int) ([]int64, error) {
				if len(src) < 9 {
					return nil, errShort
				}
				return vmencoding.UnmarshalTimestamps(dst, src[9:], vmencoding.MarshalType(src[0]), int64(binary.LittleEndian.Uint64(src[1:])), n)
			}),
		prometheusTimes("Prometheus XOR", 0),
		prometheusTimes("Prometheus XOR, chunks of 120", 120),
		// Influx overwrites what it encodes.
		peer("InfluxDB TimeArrayEncodeAll",
			func(dst []byte, src []int64) ([]byte, error) {
				times = append(times[:0], src...)
				return tsm1.TimeArrayEncodeAll(times, dst)
			},
			func(dst []int64, src []byte, _ int) ([]int64, error) { return tsm1.TimeArrayDecodeAll(src, dst) }),
		peer("InfluxDB IntegerArrayEncodeAll",
			func(dst []byte, src []int64) ([]byte, error) {
				integers = append(integers[:0], src...)
				return tsm1.IntegerArrayEncodeAll(integers, dst)
			},
			func(dst []int64, src []byte, _ int) ([]int64, error) { return tsm1.IntegerArrayDecodeAll(src, dst) }),
	}
}

func float64Only() []codec[float64] {
	var ints []int64
	return []codec[float64]{
		// A block is the type, the first value, the exponent, and the rest.
		peer("VictoriaMetrics decimal + MarshalValues",
			func(dst []byte, src []float64) ([]byte, error) {
				dst = append(dst, make([]byte, 11)...)
				var exponent int16
				ints, exponent = vmdecimal.AppendFloatToDecimal(ints[:0], src)
				dst, kind, first := vmencoding.MarshalValues(dst, ints, 64)
				dst[0] = byte(kind)
				binary.LittleEndian.PutUint64(dst[1:], uint64(first))
				binary.LittleEndian.PutUint16(dst[9:], uint16(exponent))
				return dst, nil
			},
			func(dst []float64, src []byte, n int) (_ []float64, err error) {
				if len(src) < 11 {
					return nil, errShort
				}
				ints, err = vmencoding.UnmarshalValues(ints[:0], src[11:], vmencoding.MarshalType(src[0]), int64(binary.LittleEndian.Uint64(src[1:])), n)
				if err != nil {
					return nil, err
				}
				return vmdecimal.AppendDecimalToFloat(dst, ints, int16(binary.LittleEndian.Uint16(src[9:]))), nil
			}),
		prometheusValues("Prometheus XOR", 0),
		prometheusValues("Prometheus XOR, chunks of 120", 120),
		peer("InfluxDB FloatArrayEncodeAll",
			func(dst []byte, src []float64) ([]byte, error) { return tsm1.FloatArrayEncodeAll(src, dst) },
			func(dst []float64, src []byte, _ int) ([]float64, error) { return tsm1.FloatArrayDecodeAll(src, dst) }),
	}
}

// prometheusTimes stores times with a constant value, as Prometheus has no
// encoding of times alone.
func prometheusTimes(name string, per int) codec[int64] {
	return peer(name,
		func(dst []byte, src []int64) ([]byte, error) {
			return prometheusEncode(dst, len(src), per, func(i int) (int64, float64) { return src[i], 0 })
		},
		func(dst []int64, src []byte, _ int) ([]int64, error) {
			err := prometheusDecode(src, func(t int64, _ float64) { dst = append(dst, t) })
			return dst, err
		})
}

// prometheusValues stores values with regular times.
func prometheusValues(name string, per int) codec[float64] {
	return peer(name,
		func(dst []byte, src []float64) ([]byte, error) {
			return prometheusEncode(dst, len(src), per, func(i int) (int64, float64) { return int64(i) * 5000, src[i] })
		},
		func(dst []float64, src []byte, _ int) ([]float64, error) {
			err := prometheusDecode(src, func(_ int64, v float64) { dst = append(dst, v) })
			return dst, err
		})
}

// prometheusEncode appends chunks of per samples (0: one chunk of all), each
// after its length.
func prometheusEncode(dst []byte, n, per int, at func(i int) (int64, float64)) ([]byte, error) {
	if per == 0 {
		per = n
	}
	c := &chunkenc.XORChunk{}
	for from := 0; from < n; from += per {
		start := len(dst)
		dst = append(dst, 0, 0, 0, 0, 0, 0) // the length, and the chunk's header
		c.Reset(dst[start+4 : start+6])
		app, err := c.Appender()
		if err != nil {
			return nil, err
		}
		for i := from; i < min(from+per, n); i++ {
			t, v := at(i)
			app.Append(0, t, v)
		}
		chunk := c.Bytes()
		dst = append(dst[:start+4], chunk...)
		binary.LittleEndian.PutUint32(dst[start:], uint32(len(chunk)))
	}
	return dst, nil
}

func prometheusDecode(src []byte, each func(t int64, v float64)) error {
	c := &chunkenc.XORChunk{}
	var it chunkenc.Iterator
	for len(src) > 0 {
		if len(src) < 6 {
			return errShort
		}
		n := int(binary.LittleEndian.Uint32(src))
		if n > len(src)-4 {
			return errShort
		}
		c.Reset(src[4 : 4+n])
		src = src[4+n:]
		it = c.Iterator(it)
		for it.Next() != chunkenc.ValNone {
			each(it.At())
		}
		if err := it.Err(); err != nil {
			return err
		}
	}
	return nil
}
