package columnar

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// Limits of options.
const (
	maxChunkKiB   = 16 << 10
	maxBlockBytes = 64 << 20

	maxConcurrency = 256
)

// Option is an option of NewWriter and Open. Options that concern only the
// other are ignored.
type Option func(*options)

type columnEncodings struct {
	column string
	ids    []encoding.ID
}

type options struct {
	groupRows, groupBytes, blockBytes int
	encodings                         []columnEncodings
	zstd                              []string
	chunkKiB                          int
	filter                            bool
	user                              map[string][]byte
	name                              string
	mmap, everyChecksum               bool
	pageBytes                         int64
	concurrency                       int
	cache                             *Cache
}

func newOptions(opts []Option) options {
	o := options{groupRows: 128, groupBytes: 64 << 10, blockBytes: 4096, filter: true, pageBytes: pageBytes, concurrency: 1}
	for _, f := range opts {
		f(&o)
	}
	return o
}

// WithRowGroupRows sets row_group_rows, the greatest number of unfiltereds in
// a row group, 1 to 65,536. The default is 128.
func WithRowGroupRows(n int) Option { return func(o *options) { o.groupRows = n } }

// WithRowGroupBytes sets row_group_size_in_bytes, an upper bound on the bytes
// that the values and keys of a row group take in memory, 1 to 256 MiB; a group
// has at least one row, whatever its size. The default is 64 KiB.
func WithRowGroupBytes(n int) Option { return func(o *options) { o.groupBytes = n } }

// WithBlockBytes sets block_size_in_bytes, the stored size at which a block is
// closed, 1 to 64 MiB; a block has at least one row group. The default is 4096.
func WithBlockBytes(n int) Option { return func(o *options) { o.blockBytes = n } }

// WithEncoding allows a column only these encodings. Column "" or "*" means
// every column that no other WithEncoding names.
func WithEncoding(column string, ids ...encoding.ID) Option {
	return func(o *options) { o.encodings = append(o.encodings, columnEncodings{column, ids}) }
}

// WithColumnCompression compresses the chunks of these columns with Zstd,
// where that makes a chunk smaller. Column "*" means all columns and metadata.
func WithColumnCompression(columns ...string) Option {
	return func(o *options) { o.zstd = append(o.zstd, columns...) }
}

// WithCompression cuts the whole stream into chunks of chunkKiB KiB
// (chunk_length_in_kb, 1 to 16,384) and compresses each with Zstd. 0, the
// default, means none.
func WithCompression(chunkKiB int) Option { return func(o *options) { o.chunkKiB = chunkKiB } }

// WithFilter says whether a file of at least two partitions gets a filter of
// partition keys. The default is yes.
func WithFilter(on bool) Option { return func(o *options) { o.filter = on } }

// WithUserData stores a value of the user's under a key, to be had again from
// Reader.UserData.
func WithUserData(key string, value []byte) Option {
	return func(o *options) {
		if o.user == nil {
			o.user = map[string][]byte{}
		}
		o.user[key] = slices.Clone(value)
	}
}

// WithName names the file in errors.
func WithName(name string) Option { return func(o *options) { o.name = name } }

// WithMmap makes OpenFile map the file into memory, where the system can, and
// decode blocks where they lie. The file must not become shorter while it is
// mapped: reads of what is gone fail then with an error, reads of what was
// replaced may give either bytes. Blocks are verified as OpenBytes says.
func WithMmap() Option { return func(o *options) { o.mmap = true } }

// WithEveryChecksum verifies the checksum of a block in memory each time that
// it is read. Without it OpenBytes, and OpenFile with WithMmap, do so when it is
// read first. Other sources are verified with every read.
func WithEveryChecksum() Option { return func(o *options) { o.everyChecksum = true } }

// WithCache makes queries of a Reader keep the blocks that they read in c, and
// look there first.
func WithCache(c *Cache) Option { return func(o *options) { o.cache = c } }

// WithIndexMemory bounds the bytes of index pages that a Reader keeps, about.
// The default is 16 MiB; without room every query reads its index pages.
func WithIndexMemory(bytes int64) Option { return func(o *options) { o.pageBytes = bytes } }

// WithConcurrency lets a Writer encode up to n segments of the file at a time,
// 1 to 256, each on a goroutine of its own where n is more than 1. The bytes are
// the same for any n. Append and Close alone write to the writer's io.Writer,
// perhaps rows of an earlier Append; no goroutine is left after Close, Abort or
// an error. Memory grows by a segment, 64 row groups, with each, but the rows
// of all take no more than 32 MiB or those of one. The default is 1.
func WithConcurrency(n int) Option { return func(o *options) { o.concurrency = n } }

// check refuses values out of range and unknown columns.
func (o *options) check(s *rowgroup.Schema) error {
	groupBytes := encoding.MaxGroupBytes
	if s.HasMultiCells() {
		groupBytes = rowgroup.MaxCellsBytes
	}
	for _, v := range []struct {
		name        string
		n, min, max int
	}{
		{"row_group_rows", o.groupRows, 1, encoding.MaxGroupRows},
		{"row_group_size_in_bytes", o.groupBytes, 1, groupBytes},
		{"block_size_in_bytes", o.blockBytes, 1, maxBlockBytes},
		{"chunk_length_in_kb", o.chunkKiB, 0, maxChunkKiB},
		{"concurrency", o.concurrency, 1, maxConcurrency},
	} {
		if v.n < v.min || v.n > v.max {
			return fmt.Errorf("option %s: %d is out of %d to %d", v.name, v.n, v.min, v.max)
		}
	}
	for _, e := range o.encodings {
		if e.column != "" && e.column != "*" && s.Lookup(e.column) < 0 {
			return fmt.Errorf("option column_encodings: no column %q", e.column)
		}
		if ofKey(s, e.column) {
			return fmt.Errorf("option column_encodings: column %q is part of the partition key, which is no column of a file", e.column)
		}
		for _, id := range e.ids {
			if !id.Valid() {
				return fmt.Errorf("option column_encodings: column %q: unknown %s", e.column, id)
			}
			if i := s.Lookup(e.column); i >= 0 && !s.Holds(i, id) {
				return fmt.Errorf("option column_encodings: column %q of type %s cannot be encoded as %s", e.column, s.Column(i).Type, id)
			}
		}
	}
	for _, c := range o.zstd {
		if c != "*" && s.Lookup(c) < 0 {
			return fmt.Errorf("option column_compression: no column %q", c)
		}
		if ofKey(s, c) {
			return fmt.Errorf("option column_compression: column %q is part of the partition key, which only \"*\" compresses", c)
		}
	}
	return nil
}

// ofKey reports whether a column is part of the partition key.
func ofKey(s *rowgroup.Schema, column string) bool {
	i := s.Lookup(column)
	return i >= 0 && s.Role(i) == rowgroup.PartitionKey
}

// encode are the options for row groups.
func (o *options) encode(s *rowgroup.Schema) rowgroup.EncodeOptions {
	e := rowgroup.EncodeOptions{Encodings: map[int][]encoding.ID{}, Zstd: map[int]bool{}}
	for _, c := range o.encodings {
		if c.column != "" && c.column != "*" {
			continue
		}
		for i := range s.NumColumns() {
			e.Encodings[i] = slices.DeleteFunc(slices.Clone(c.ids), func(id encoding.ID) bool { return !s.Holds(i, id) })
		}
	}
	for _, c := range o.encodings {
		if i := s.Lookup(c.column); i >= 0 {
			e.Encodings[i] = c.ids
		}
	}
	for _, c := range o.zstd {
		if c != "*" {
			e.Zstd[s.Lookup(c)] = true
			continue
		}
		e.ZstdMeta = true
		for i := range s.NumColumns() {
			e.Zstd[i] = true
		}
	}
	return e
}

// pair is a named value of the footer.
type pair struct {
	name  string
	value []byte
}

// pairs are the options as the footer keeps them, by name.
func (o *options) pairs() []pair {
	var enc []string
	for _, c := range o.encodings {
		names := make([]string, len(c.ids))
		for i, id := range c.ids {
			names[i] = id.String()
		}
		column := c.column
		if column == "" {
			column = "*"
		}
		enc = append(enc, column+"="+strings.Join(names, ","))
	}
	compression := "none"
	if o.chunkKiB > 0 {
		compression = "zstd"
	}
	p := []pair{
		{"block_size_in_bytes", strconv.AppendInt(nil, int64(o.blockBytes), 10)},
		{"column_compression", []byte(strings.Join(o.zstd, ","))},
		{"column_encodings", []byte(strings.Join(enc, ";"))},
		{"compression", []byte(compression)},
		{"row_group_rows", strconv.AppendInt(nil, int64(o.groupRows), 10)},
		{"row_group_size_in_bytes", strconv.AppendInt(nil, int64(o.groupBytes), 10)},
	}
	if o.chunkKiB > 0 {
		p = append(p, pair{"chunk_length_in_kb", strconv.AppendInt(nil, int64(o.chunkKiB), 10)})
	}
	p = slices.DeleteFunc(p, func(p pair) bool { return len(p.value) == 0 })
	slices.SortFunc(p, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	return p
}

// userPairs are the user's values, by key.
func (o *options) userPairs() []pair {
	var p []pair
	for k, v := range o.user {
		p = append(p, pair{k, v})
	}
	slices.SortFunc(p, func(a, b pair) int { return strings.Compare(a.name, b.name) })
	return p
}
