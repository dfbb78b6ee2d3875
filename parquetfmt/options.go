package parquetfmt

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/parquetfmt/alp"
	"github.com/colsst/colsst/parquetfmt/internal/page"
	"github.com/colsst/colsst/rowgroup"
)

// Encoding is how the values of a column are encoded.
type Encoding string

// The encodings that a Writer has. A column that an encoding is not for, or
// whose dictionary would grow too large, takes another.
const (
	Plain                Encoding = "plain"
	Dictionary           Encoding = "dictionary"
	DeltaBinaryPacked    Encoding = "delta_binary_packed"
	DeltaLengthByteArray Encoding = "delta_length_byte_array"
	ByteStreamSplit      Encoding = "byte_stream_split"
	ALP                  Encoding = "alp" // of floats, where it is smaller than byte_stream_split; few readers know it yet
)

// Encodings are all of them.
var Encodings = []Encoding{Plain, Dictionary, DeltaBinaryPacked, DeltaLengthByteArray, ByteStreamSplit, ALP}

var encodingNumbers = map[Encoding]format.Encoding{
	Plain: format.Plain, Dictionary: format.RLEDictionary, DeltaBinaryPacked: format.DeltaBinaryPacked,
	DeltaLengthByteArray: format.DeltaLengthByteArray, ByteStreamSplit: format.ByteStreamSplit, ALP: alp.Format,
}

// Compression is how pages are compressed.
type Compression string

// The compressions that a Writer has.
const (
	Uncompressed Compression = "none"
	Snappy       Compression = "snappy"
	Gzip         Compression = "gzip"
	LZ4          Compression = "lz4_raw"
	Zstd         Compression = "zstd"
)

var codecNumbers = map[Compression]format.CompressionCodec{
	Uncompressed: format.Uncompressed, Snappy: format.Snappy, Gzip: format.Gzip, LZ4: format.Lz4Raw, Zstd: format.Zstd,
}

// Option is an option of NewWriter.
type Option func(*writeOptions) error

type writeOptions struct {
	groupRows, groupBytes int
	pageRows, pageBytes   int
	pageVersion           int
	codec                 format.CompressionCodec
	encodings             map[string]format.Encoding // "*": of all columns that can
	dictionaryBytes       int
	lossless              bool
	rowMetadata           bool
	writeTimeDelays       bool
	delayUnit             rowgroup.Unit
	replace               bool
	filter                bool
	decimals              map[string]fixedPoint // "*": of all
	user                  map[string][]byte
}

func defaults() writeOptions {
	return writeOptions{
		groupRows: 1 << 17, groupBytes: 64 << 20, pageRows: 20_000, pageBytes: 1 << 20, pageVersion: 2,
		codec: format.Zstd, encodings: map[string]format.Encoding{}, dictionaryBytes: 1 << 20, filter: true,
		decimals: map[string]fixedPoint{}, user: map[string][]byte{},
	}
}

// MaxRowGroups is how many row groups a file can have.
const MaxRowGroups = 32767

// WithRowGroups limits row groups to this many rows and bytes of values;
// 131,072 and 64 MiB unless said. A file has at most MaxRowGroups of them.
func WithRowGroups(rows, bytes int) Option {
	return func(o *writeOptions) error {
		if rows < 1 || bytes < 1 {
			return errors.New("parquetfmt: a row group has at least one row and byte")
		}
		o.groupRows, o.groupBytes = rows, min(bytes, 1<<31-1)
		return nil
	}
}

// WithPages limits pages to this many rows and about so many bytes of values;
// 20,000 and 1 MiB unless said.
func WithPages(rows, bytes int) Option {
	return func(o *writeOptions) error {
		if rows < 1 || bytes < 1 {
			return errors.New("parquetfmt: a page has at least one row and byte")
		}
		o.pageRows, o.pageBytes = min(rows, page.MaxValues), min(bytes, 1<<28)
		return nil
	}
}

// WithPageVersion sets the version of data pages: 1 or 2, which is the default.
func WithPageVersion(version int) Option {
	return func(o *writeOptions) error {
		if version != 1 && version != 2 {
			return fmt.Errorf("parquetfmt: data pages of version %d; there are 1 and 2", version)
		}
		o.pageVersion = version
		return nil
	}
}

// WithCompression sets how pages are compressed: by Zstd unless said.
func WithCompression(c Compression) Option {
	return func(o *writeOptions) (err error) {
		codec, ok := codecNumbers[c]
		if !ok {
			return fmt.Errorf("parquetfmt: there is no compression %q", c)
		}
		o.codec = codec
		return nil
	}
}

// WithEncoding sets the encoding of a column, by its name or of all ("*") that
// it is for. Without it integers are DELTA_BINARY_PACKED, floats
// BYTE_STREAM_SPLIT, and byte strings a dictionary where one is small.
func WithEncoding(column string, e Encoding) Option {
	return func(o *writeOptions) error {
		n, ok := encodingNumbers[e]
		if !ok {
			return fmt.Errorf("parquetfmt: there is no encoding %q", e)
		}
		o.encodings[column] = n
		return nil
	}
}

// WithLossless makes the file hold every unfiltered with all its metadata, in
// columns of their own: see the package comment. Without it the batches must be
// of a live view, and only current values are written.
func WithLossless() Option {
	return func(o *writeOptions) error { o.lossless = true; return nil }
}

// WithRowMetadata adds the columns $write_time, $ttl and $expiry to a live view.
func WithRowMetadata() Option {
	return func(o *writeOptions) error { o.rowMetadata = true; return nil }
}

// WithWriteTimeDelays is WithRowMetadata, but with a column $write_delay in
// place of $write_time: the µs from the row's time, its last clustering column.
// That is a timestamp, or an int or bigint that counts the unit.
func WithWriteTimeDelays(unit rowgroup.Unit) Option {
	return func(o *writeOptions) error {
		o.rowMetadata, o.writeTimeDelays, o.delayUnit = true, true, unit
		return nil
	}
}

// WithReplacement puts U+FFFD in place of bytes of texts that are no UTF-8,
// which are an error without it. A lossless file keeps them in any case.
func WithReplacement() Option {
	return func(o *writeOptions) error { o.replace = true; return nil }
}

// WithFilter says whether row groups have Bloom filters of the partition key's
// columns; they have unless said, but for columns of one value, which their
// bounds tell.
func WithFilter(on bool) Option {
	return func(o *writeOptions) error { o.filter = on; return nil }
}

// WithDecimal makes the decimals of a column, or of all ("*"), DECIMAL(p,s), into
// which every value must fit, in place of a group of unscaled value and scale. A
// column of type decimal(p,s) is that without it.
func WithDecimal(column string, precision, scale int32) Option {
	return func(o *writeOptions) error {
		if precision < 1 || precision > 1000 || scale < 0 || scale > precision {
			return fmt.Errorf("parquetfmt: decimal(%d,%d): a precision is 1 to 1000, a scale at most that", precision, scale)
		}
		o.decimals[column] = fixedPoint{precision, scale}
		return nil
	}
}

// WithUserData keeps a key and value for Reader.UserData.
func WithUserData(key string, value []byte) Option {
	return func(o *writeOptions) error { o.user[key] = append([]byte(nil), value...); return nil }
}

// CheckOptions says what NewWriter would say of the options whatever the table.
func CheckOptions(opts ...Option) error {
	o := defaults()
	for _, opt := range opts {
		if err := opt(&o); err != nil {
			return err
		}
	}
	return nil
}
