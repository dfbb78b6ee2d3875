package cli

import (
	"io"
	"strconv"
	"strings"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// tableFlags say how to write a table file.
type tableFlags struct {
	set               []string
	encoding          []string
	columnCompression string
	compression       string
	filter            bool
}

func (x *tableFlags) add(t *tool) {
	f := t.cmd.Flags()
	f.StringArrayVar(&x.set, "set", nil, "table option name=value: row_group_rows, row_group_size_in_bytes, block_size_in_bytes (Parquet: page_rows, page_size_in_bytes, page_version in place of the last); repeatable")
	f.StringArrayVar(&x.encoding, "encoding", nil, "encodings to choose from for a column (* for the others): col=alp,byte_stream_split (Parquet: one); repeatable")
	f.StringVar(&x.columnCompression, "column-compression", "", "zstd for all columns, or col=zstd,...; kept where smaller")
	f.StringVar(&x.compression, "compression", "none", "of the whole stream: none or zstd[:chunk KiB] (Parquet: of pages: zstd, the default there, none, snappy, gzip, lz4_raw)")
	f.BoolVar(&x.filter, "filter", true, "a filter of partition keys (Parquet: Bloom filters)")
}

// options are those of a writer.
func (x *tableFlags) options() ([]columnar.Option, error) {
	opts := []columnar.Option{columnar.WithFilter(x.filter)}
	for _, s := range x.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, usagef("--set %s: expected name=value", s)
		}
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return nil, usagef("--set %s: expected a number of at most 31 bits", s)
		}
		switch name {
		case "row_group_rows":
			opts = append(opts, columnar.WithRowGroupRows(int(n)))
		case "row_group_size_in_bytes":
			opts = append(opts, columnar.WithRowGroupBytes(int(n)))
		case "block_size_in_bytes":
			opts = append(opts, columnar.WithBlockBytes(int(n)))
		default:
			return nil, usagef("--set %s: there are row_group_rows, row_group_size_in_bytes and block_size_in_bytes", name)
		}
		if err := tryOptions(opts[len(opts)-1:]); err != nil {
			return nil, usagef("--set %s: %s", s, plain(err))
		}
	}
	for _, s := range x.encoding {
		column, list, ok := strings.Cut(s, "=")
		if !ok {
			return nil, usagef("--encoding %s: expected col=encoding,...", s)
		}
		var ids []encoding.ID
		for name := range strings.SplitSeq(list, ",") {
			id, ok := encoding.ParseID(name)
			if !ok {
				return nil, usagef("--encoding %s: there is no encoding %q; there are %s", s, name, strings.Join(encodingNames(), ", "))
			}
			ids = append(ids, id)
		}
		opts = append(opts, columnar.WithEncoding(column, ids...))
	}
	zstd, err := parseColumnCompression(x.columnCompression)
	if err != nil {
		return nil, err
	}
	if len(zstd) > 0 {
		opts = append(opts, columnar.WithColumnCompression(zstd...))
	}
	kib, err := parseCompression(x.compression)
	if err != nil {
		return nil, err
	}
	opts = append(opts, columnar.WithCompression(kib))
	if err := tryOptions(opts[len(opts)-1:]); err != nil {
		return nil, usagef("--compression %s: %s", x.compression, plain(err))
	}
	return opts, nil
}

// tryOptions says what a writer of any table would say of the options.
func tryOptions(opts []columnar.Option) error {
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Int}})
	if err != nil {
		return err
	}
	_, err = columnar.NewWriter(io.Discard, s, opts...)
	return err
}

// encodingNames are the names of all encodings.
func encodingNames() (names []string) {
	for id := encoding.ID(0); id.Valid(); id++ {
		names = append(names, id.String())
	}
	return names
}

// parseColumnCompression lists the columns to compress.
func parseColumnCompression(s string) ([]string, error) {
	var columns []string
	for part := range strings.SplitSeq(s, ",") {
		name, how, ok := cutLast(part, "=")
		if !ok {
			name, how = "*", part
		}
		switch how {
		case "zstd":
			columns = append(columns, name)
		case "none", "":
		default:
			return nil, usagef("--column-compression %s: expected zstd or col=zstd,...", s)
		}
	}
	return columns, nil
}

// parseCompression is the length of outer chunks in KiB, 0 for none.
func parseCompression(s string) (kib int, err error) {
	how, length, given := strings.Cut(s, ":")
	switch {
	case s == "none":
		return 0, nil
	case how == "zstd" && !given:
		return 16, nil
	case how == "zstd":
		if kib, err = strconv.Atoi(length); err == nil && kib > 0 {
			return kib, nil
		}
	}
	return 0, usagef("--compression %s: expected none or zstd[:chunk KiB]", s)
}
