package cli

import (
	"bufio"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

// parquetMagic is how a Parquet file begins.
const parquetMagic = "PAR1"

var _ table = (*parquetfmt.Reader)(nil)

// parquetFlags say how to write a Parquet file.
type parquetFlags struct {
	lossless, live, replace bool
	delays                  string
	decimals                []string
}

var parquetOnly = []string{"lossless", "live", "write-delays", "replace-invalid", "decimal", "output-size"}

func (x *parquetFlags) add(t *tool) {
	f := t.cmd.Flags()
	f.BoolVar(&x.live, "live", false, "Parquet: current values at --now, which is the default")
	f.BoolVar(&x.lossless, "lossless", false, "Parquet: every row, marker and deletion with all metadata, in columns of their own; such a file becomes the same table again")
	t.choice(&x.delays, "write-delays", "", "Parquet with --row-metadata: write times as their distance from the row's time ($write_delay), of this unit where that is an integer: s, ms, us or ns", "s", "ms", "us", "ns")
	f.Lookup("write-delays").NoOptDefVal = "ms"
	f.BoolVar(&x.replace, "replace-invalid", false, "Parquet: U+FFFD in place of bytes of texts that are no UTF-8, which are an error otherwise")
	f.StringArrayVar(&x.decimals, "decimal", nil, "Parquet: decimals as DECIMAL(p,s): p,s for all or col=p,s; repeatable (default: unscaled value and scale)")
}

// options are those of a writer. The flags of table files count as far as
// Parquet has the like.
func (x *parquetFlags) options(t *tool, table *tableFlags, metadata bool) ([]parquetfmt.Option, error) {
	opts := []parquetfmt.Option{parquetfmt.WithFilter(table.filter)}
	if x.live && x.lossless {
		return nil, usagef("--live and --lossless exclude one another")
	}
	if x.delays != "" && !metadata {
		return nil, usagef("--write-delays is for --row-metadata")
	}
	switch {
	case x.lossless && metadata:
		return nil, usagef("--row-metadata is for --live; --lossless has all of it")
	case x.lossless:
		opts = append(opts, parquetfmt.WithLossless())
	case x.delays != "":
		if err := oneOf("write-delays", x.delays, "s", "ms", "us", "ns"); err != nil {
			return nil, err
		}
		opts = append(opts, parquetfmt.WithWriteTimeDelays(rowgroup.Unit(slices.Index([]string{"s", "ms", "us", "ns"}, x.delays))))
	case metadata:
		opts = append(opts, parquetfmt.WithRowMetadata())
	}
	if x.replace {
		opts = append(opts, parquetfmt.WithReplacement())
	}
	groupRows, groupBytes, pageRows, pageBytes := 1<<17, 64<<20, 20_000, 1<<20
	for _, s := range table.set {
		name, value, ok := strings.Cut(s, "=")
		n, err := strconv.ParseInt(value, 10, 32)
		if !ok || err != nil || n < 1 {
			return nil, usagef("--set %s: expected name=value, a number from 1 on of at most 31 bits", s)
		}
		switch name {
		case "row_group_rows":
			groupRows = int(n)
		case "row_group_size_in_bytes":
			groupBytes = int(n)
		case "page_rows":
			pageRows = int(n)
		case "page_size_in_bytes":
			pageBytes = int(n)
		case "page_version":
			opts = append(opts, parquetfmt.WithPageVersion(int(n)))
		default:
			return nil, usagef("--set %s: Parquet has row_group_rows, row_group_size_in_bytes, page_rows, page_size_in_bytes and page_version", name)
		}
	}
	opts = append(opts, parquetfmt.WithRowGroups(groupRows, groupBytes), parquetfmt.WithPages(pageRows, pageBytes))
	for _, s := range table.encoding {
		column, name, ok := cutLast(s, "=")
		if !ok || !slices.Contains(parquetfmt.Encodings, parquetfmt.Encoding(name)) {
			return nil, usagef("--encoding %s: expected col=ENCODING; Parquet has %s", s, joined(parquetfmt.Encodings))
		}
		opts = append(opts, parquetfmt.WithEncoding(column, parquetfmt.Encoding(name)))
	}
	if t.changed("compression") {
		opts = append(opts, parquetfmt.WithCompression(parquetfmt.Compression(table.compression)))
	}
	for _, s := range x.decimals {
		column, digits, ok := cutLast(s, "=")
		if !ok {
			column, digits = "*", s
		}
		p, sc, ok := strings.Cut(digits, ",")
		precision, err1 := strconv.ParseInt(p, 10, 32)
		scale, err2 := strconv.ParseInt(sc, 10, 32)
		if !ok || err1 != nil || err2 != nil {
			return nil, usagef("--decimal %s: expected p,s or col=p,s", s)
		}
		opts = append(opts, parquetfmt.WithDecimal(column, int32(precision), int32(scale)))
	}
	return opts, tryParquet(opts)
}

// tryParquet says what a writer of any table would say of the options.
func tryParquet(opts []parquetfmt.Option) error {
	if err := parquetfmt.CheckOptions(opts...); err != nil {
		return usagef("%s", strings.TrimPrefix(err.Error(), "parquetfmt: "))
	}
	return nil
}

func joined[T ~string](names []T) string {
	var b strings.Builder
	for i, n := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(n))
	}
	return b.String()
}

// isParquet reports whether an output of these flags is a Parquet file.
func (o *outFlags) isParquet() bool {
	return o.format == formatParquet || o.format == "" && formatOf(o.path) == formatParquet
}

// parquetSink writes a Parquet file.
type parquetSink struct{ w *parquetfmt.Writer }

func newParquetSink(out *output, s *rowgroup.Schema, columns []string, opts []parquetfmt.Option) (*parquetSink, error) {
	if columns != nil {
		b, err := marshalColumns(columns)
		if err != nil {
			return nil, err
		}
		opts = append(opts, parquetfmt.WithUserData(columnsKey, b))
	}
	w, err := parquetfmt.NewWriter(out.w, s, opts...)
	if err != nil {
		return nil, coded(exitUsage, err)
	}
	return &parquetSink{w}, nil
}

func (p *parquetSink) write(b *rowgroup.Batch) error { return parquetFailure(p.w.Append(b)) }
func (p *parquetSink) end() error                    { return parquetFailure(p.w.Close()) }

// parquetFailure gives an error of a writer its code.
func parquetFailure(err error) error {
	if errors.Is(err, parquetfmt.ErrTooManyRowGroups) {
		return coded(exitUsage, &outputError{fmt.Errorf("a Parquet file has at most %d row groups: make them larger by --set row_group_rows=N", parquetfmt.MaxRowGroups)})
	}
	return orElse(exitData, err)
}

// parquet opens the input as a Parquet file.
func (in *input) parquet(opts ...parquetfmt.ReadOption) (*parquetfmt.Reader, error) {
	if in.size < 0 {
		if err := in.spool(); err != nil {
			return nil, err
		}
	}
	r, err := parquetfmt.Open(inputReaderAt{in}, in.size, append(opts, parquetfmt.WithName(in.name))...)
	if err != nil {
		return nil, orElse(exitData, err)
	}
	return r, nil
}

// parquetSource reads a Parquet file: one of ours as the table that it is, one of
// others by the flags for text that say what its columns are for.
func (c *convert) parquetSource(in *input, outFormat string) (*source, error) {
	if err := c.refuse("is for text; "+in.name+" is a Parquet file", append([]string{"on-error", "type", "layout", "schema", "tz", "shift-skipped"}, csvFlags...)...); err != nil {
		return nil, err
	}
	r, err := in.parquet()
	own := false
	if err == nil {
		var all bool
		if own, all = r.Own(); own && !all && (c.changed("partition-key") || c.changed("time") || c.changed("clustering")) {
			from, to := r.Schema().Range(rowgroup.Clustering)
			own = from < to || len(r.Schema().KeyTypes()) > 0
		}
	}
	keys := []string{"sort", "unique", "time", "partition-key", "clustering", "write-time", "ttl", "expiry"}
	if own {
		if err := c.refuse("is for text and for Parquet files of others; "+in.name+" has a schema of its own", keys...); err != nil {
			return nil, err
		}
	} else if slices.ContainsFunc(keys, c.changed) {
		r, err = in.parquet(c.keyOptions()...)
	}
	if err != nil {
		return nil, err
	}
	s := r.Schema()
	if from, to := s.Range(rowgroup.Clustering); from == to && len(s.KeyTypes()) == 0 && c.text.sort {
		return nil, errNoKey("--sort")
	}
	in.bar = c.newProgress(in.name, r.Rows(), false)
	exact := c.keepsAll(outFormat)
	src := &source{schema: s, columns: sourceColumns(r), user: map[string][]byte{}}
	for _, key := range r.UserDataKeys() {
		src.user[key], _ = r.UserData(key) // it is there
	}
	if own && exact {
		src.columns = nil
	}
	counted := &counted{Iter: r.Scan(c.ctx(), rowgroup.ScanOptions{Live: own && !exact || c.nowGiven, Now: c.second}), bar: in.bar, clock: math.MinInt64}
	if !exact && !c.nowGiven {
		counted.clock = time.Now().Unix()
	}
	src.rows = counted
	src.ended = func() { c.noteExpired(in.name, counted.hidden) }
	return src, nil
}

// keyOptions are the flags that say what the columns of a file are for.
func (c *convert) keyOptions() []parquetfmt.ReadOption {
	o := &c.options
	var clustering []parquetfmt.Clustering
	there := o.Time == nil
	for _, x := range o.Clustering {
		if !there && x.Column == o.Time.Column {
			x.Desc, there = x.Desc || o.Time.Desc, true
		}
		clustering = append(clustering, parquetfmt.Clustering{Column: x.Column, Desc: x.Desc})
	}
	if !there {
		clustering = append(clustering, parquetfmt.Clustering{Column: o.Time.Column, Desc: o.Time.Desc})
	}
	opts := []parquetfmt.ReadOption{parquetfmt.WithPartitionKey(o.PartitionKey...), parquetfmt.WithClustering(clustering...),
		parquetfmt.WithMetadata(c.text.writeTime, c.text.ttl, c.text.expiry)}
	if o.Time != nil && o.Time.UnitSet {
		opts = append(opts, parquetfmt.WithTimeUnit(o.Time.Column, o.Time.Unit))
	}
	if c.text.unique != "" {
		opts = append(opts, parquetfmt.WithUnique())
	}
	return opts
}

// keepsAll reports whether an output of this format has every row with its
// metadata.
func (c *convert) keepsAll(format string) bool {
	return format == formatTable || format == formatParquet && c.parquet.lossless
}

// verifyParquet checks a Parquet file.
func (t *tool) verifyParquet(v *verification, in *input, level columnar.Level, report func(error)) error {
	r, err := in.parquet()
	switch {
	case err == nil:
		d := r.Describe()
		v.Rows, v.RowGroups = d.Rows, d.RowGroups
		err = r.Verify(t.ctx(), parquetfmt.Level(level), report)
	case ExitCode(err) == exitData:
		report(err)
		return nil
	}
	if err != nil && len(v.Findings) == 0 {
		return orElse(exitData, err)
	}
	return nil
}

// parquetDescription is what describe prints of a Parquet file.
type parquetDescription struct {
	File   string `json:"file"`
	Format string `json:"format"`
	*parquetfmt.Description
}

func (t *tool) describeParquet(w *bufio.Writer, in *input, format string) error {
	r, err := in.parquet()
	if err != nil {
		return err
	}
	d := r.Describe()
	t.sum.Rows += d.Rows
	if format == "json" {
		return printJSON(w, parquetDescription{in.name, formatParquet, d})
	}
	facts := grid{align: "lrl", indent: "  "}
	facts.add("rows", humanize.Comma(d.Rows), "")
	facts.add("row groups", humanize.Comma(d.RowGroups), fmt.Sprintf("of up to %s", plural(d.MaxRows, "row")))
	facts.add("bytes", humanize.Comma(d.Bytes), humanize.IBytes(uint64(d.Bytes)))
	text := grid{align: "ll", indent: "  "}
	text.add("format", fmt.Sprintf("Parquet, version %d", d.Version))
	text.add("created by", visible(d.CreatedBy))
	if d.View != "" {
		text.add("view", d.View)
	}
	if len(d.SortedBy) > 0 {
		text.add("sorted by", visible(strings.Join(d.SortedBy, ", ")))
	}
	per := func(n int64) string {
		if d.Rows == 0 {
			return "-"
		}
		return fmt.Sprintf("%.3f", float64(n)/float64(d.Rows))
	}
	layers := grid{align: "lrr", indent: "  "}
	layers.add("layer", "bytes", "bytes/row")
	l := &d.Layers
	for _, x := range []struct {
		name string
		n    int64
	}{{"pages", l.Pages}, {"column_index", l.ColumnIndex}, {"offset_index", l.OffsetIndex}, {"filter", l.Filter}, {"footer", l.Footer}, {"other", l.Other}, {"all", d.Bytes}} {
		layers.add(x.name, humanize.Comma(x.n), per(x.n))
	}
	columns := grid{align: "llllrrrl", indent: "  "}
	columns.add("column", "Parquet type", "type", "role", "nulls", "bytes", "bytes/row", "encodings (pages)")
	for i := range d.Columns {
		c := &d.Columns[i]
		var how []string
		for _, e := range slices.Sorted(maps.Keys(c.Encodings)) {
			if n := c.Encodings[e]; n > 0 {
				e = fmt.Sprintf("%s %s", e, humanize.Comma(n))
			}
			how = append(how, e)
		}
		how = append(how, slices.Sorted(maps.Keys(c.Compression))...)
		role := c.Role
		if c.Desc {
			role += " desc"
		}
		columns.add(visible(c.Name), c.Parquet, c.Type, role, humanize.Comma(c.Nulls), humanize.Comma(c.Bytes), per(c.Bytes), strings.Join(how, ", "))
	}
	if _, err := fmt.Fprintf(w, "%s\n", printable(in.name)); err != nil {
		return err
	}
	for _, g := range []*grid{&facts, &text, &layers, &columns} {
		if err := g.print(w); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}
