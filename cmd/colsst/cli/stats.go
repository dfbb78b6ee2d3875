package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/rowgroup"
)

// columnStats is what stats prints of a column. Text and other values that are
// no numbers have the lengths of their serialised form in bins. A static column
// has one value a partition.
type columnStats struct {
	Name     string  `json:"name"`
	Type     string  `json:"type"`
	Rows     int64   `json:"rows"` // of a static column: partitions
	Nulls    int64   `json:"nulls"`
	NaNs     int64   `json:"nans"`
	Infinite int64   `json:"infinite"`
	Min      *string `json:"min"` // as text; null without values
	Max      *string `json:"max"`
	Mean     float64 `json:"mean"`   // of numbers and times, finite ones; else of lengths
	Binned   string  `json:"binned"` // value or length
	Bins     []bin   `json:"bins"`

	lo, hi   float64
	finite   int64
	integer  bool // there is nothing between two integers
	min, max []byte
	typ      rowgroup.Type
	col      int
	series   []envelope
	placed   int64 // values that have been looked at again
	buf      []byte
}

// bin counts the values from From up to To, which the last one holds too.
type bin struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	Count int64   `json:"count"`
}

type fileStats struct {
	File    string         `json:"file"`
	Rows    int64          `json:"rows"`
	Columns []*columnStats `json:"columns"`
}

type stats struct {
	*tool
	out     outFlags
	columns []string
	bins    int
	plot    string
}

func newStats() *cobra.Command {
	s := &stats{}
	s.tool = command("stats FILE... [flags]", "Count and draw the values of columns",
		`Stats prints of every column the rows, nulls, least and greatest value and mean,
and a histogram; of values that are no numbers the histogram is of their
lengths. A static column has a value a partition. --plot draws the columns into an SVG file: numbers over the rows in the
order of the table, the least and greatest of each stretch, and their
histograms. Colours are left out where NO_COLOR is set or the output is no
terminal.`,
		arguments{1, -1, "at least one FILE"}, func(_ *tool, args []string) error { return s.run(args) })
	f := s.cmd.Flags()
	f.StringSliceVar(&s.columns, "columns", nil, "columns to look at: a,b,... (default: all)")
	f.IntVar(&s.bins, "bins", 24, "bars of a histogram")
	f.StringVar(&s.plot, "plot", "", "SVG file to draw into, of one FILE")
	s.namesFlag()
	s.out.report(s.tool, "table", "json")
	return s.cmd
}

func (s *stats) run(args []string) error {
	if err := oneOf("format", s.out.format, "table", "json"); err != nil {
		return err
	}
	if s.bins < 1 || s.bins > 1000 {
		return usagef("--bins %d: expected 1 to 1000", s.bins)
	}
	var svg *output
	if s.plot != "" {
		paths, err := expand(args, isTable)
		if err != nil {
			return err
		}
		if len(paths) > 1 {
			return usagef("--plot draws one file: give one")
		}
		if err := checkOutputs(paths, s.out.path, s.plot); err != nil {
			return err
		}
		if svg, err = s.createOutput(&outFlags{path: s.plot, force: s.out.force}); err != nil {
			return err
		}
		defer svg.abort()
	}
	return s.eachFile(args, &s.out, func(path string, w *bufio.Writer) error {
		f, err := s.file(path)
		if err != nil {
			return err
		}
		if svg != nil {
			if err := drawSVG(svg.w, f); err != nil {
				return err
			}
			if err := svg.commit(); err != nil {
				return err
			}
		}
		if s.out.format == "json" {
			return printJSON(w, f)
		}
		return s.print(w, f)
	})
}

// file reads a file twice: for the ends of the bins, and for what is in them.
func (s *stats) file(path string) (*fileStats, error) {
	r, in, err := s.openTable(path)
	if err != nil {
		return nil, err
	}
	defer in.close()
	f, err := s.columnsOf(r, in.name)
	if err != nil {
		return nil, err
	}
	in.bar = s.newProgress(in.name, 2*r.Rows(), false)
	for pass := range 2 {
		if err := s.scan(r, f, pass, in.bar); err != nil {
			return nil, orElse(exitData, named(in.name, err))
		}
		if pass == 0 {
			for _, c := range f.Columns {
				c.makeBins(s.bins)
			}
		}
	}
	s.sum.Rows += f.Rows
	return f, nil
}

func (s *stats) columnsOf(r table, name string) (*fileStats, error) {
	schema := r.Schema()
	names := s.columns
	if len(names) == 0 {
		names = sourceColumns(r)
	}
	f := &fileStats{File: name, Columns: []*columnStats{}}
	for _, n := range names {
		col := schema.Lookup(n)
		if col < 0 {
			return nil, usagef("%s: there is no column %q; there are %s", name, n, columnList(schema))
		}
		t := schema.Column(col).Type
		c := &columnStats{Name: n, Type: t.String(), Binned: "length", Bins: []bin{}, lo: math.Inf(1), hi: math.Inf(-1), typ: t, col: col, buf: []byte{}}
		if _, ok := numberOf(t, zeroOf(t)); ok {
			c.Binned = "value"
		}
		f.Columns = append(f.Columns, c)
	}
	return f, nil
}

// zeroOf is a value of a type whose values are numbers of a fixed size.
func zeroOf(t rowgroup.Type) []byte {
	switch bareType(t).Physical().Class() {
	case rowgroup.ClassInt32, rowgroup.ClassInt64:
		return rowgroup.AppendInt(nil, bareType(t), 0)
	case rowgroup.ClassFloat32:
		return rowgroup.AppendFloat32(nil, 0)
	case rowgroup.ClassFloat64:
		return rowgroup.AppendFloat64(nil, 0)
	}
	v, _ := rowgroup.AppendUnscaled(nil, t, []byte{0}) // nil unless it is a decimal(p,s)
	return v
}

// bareType is t without what only says that it is frozen or reversed.
func bareType(t rowgroup.Type) rowgroup.Type {
	for (t.Kind == rowgroup.KindReversed || t.Kind == rowgroup.KindFrozen) && len(t.Args) == 1 {
		t = t.Args[0]
	}
	return t
}

// numberOf is a value as a number, where its type has numbers.
func numberOf(t rowgroup.Type, v []byte) (float64, bool) {
	t = bareType(t)
	switch t.Physical().Class() {
	case rowgroup.ClassInt32, rowgroup.ClassInt64:
		n, ok := rowgroup.IntOf(t, v)
		if t.Kind == rowgroup.KindUint64 {
			return float64(uint64(n)), ok
		}
		return float64(n) / math.Pow10(int(t.Scale)), ok
	case rowgroup.ClassFloat32:
		f, ok := rowgroup.Float32Of(v)
		return float64(f), ok
	case rowgroup.ClassFloat64:
		return rowgroup.Float64Of(v)
	}
	if t.Kind == rowgroup.KindNumeric && len(v) > 0 {
		n, err := strconv.ParseFloat(string(rowgroup.AppendText(nil, t, v)), 64)
		return n, err == nil
	}
	return 0, false
}

func (s *stats) scan(r table, f *fileStats, pass int, bar *progress) error {
	schema := r.Schema()
	o := rowgroup.ScanOptions{Live: true, Now: math.MinInt64, Columns: []int{}}
	for _, c := range f.Columns {
		if schema.Role(c.col) >= rowgroup.Static && !slices.Contains(o.Columns, c.col) {
			o.Columns = append(o.Columns, c.col)
		}
	}
	f.Rows = 0
	return eachBatch(s.ctx(), r.Scan(s.ctx(), o), schema, -1, func(b *rowgroup.Batch) error {
		bar.rows(int64(b.Len()))
		f.Rows += int64(b.Len())
		for _, c := range f.Columns {
			look := c.add
			if pass > 0 {
				look = c.place
			}
			if err := c.values(b, look); err != nil {
				return err
			}
		}
		return nil
	})
}

// values calls look with every value of the column in b, nil for a null.
func (c *columnStats) values(b *rowgroup.Batch, look func(v []byte)) error {
	cell := func(i int) {
		v, ok := b.AppendValue(c.buf[:0], c.col, i)
		if c.buf = v; !ok {
			v = nil
		}
		look(v)
	}
	switch schema := b.Schema(); schema.Role(c.col) {
	case rowgroup.PartitionKey:
		for p := range b.NumPartitions() {
			parts, err := rowgroup.SplitKey(schema.KeyTypes(), b.Key(p))
			if err != nil {
				return err
			}
			for from, to := b.PartitionRows(p); from < to; from++ {
				look(append([]byte{}, parts[c.col]...))
			}
		}
	case rowgroup.Static:
		for p := range b.NumPartitions() {
			switch h := b.Partition(p); {
			case h.Continued: // it was in the batch before
			case h.Static == rowgroup.StaticFull:
				cell(p)
			default:
				look(nil)
			}
		}
	default:
		for i := range b.Len() {
			cell(i)
		}
	}
	return nil
}

// add looks at a value for the first time.
func (c *columnStats) add(v []byte) {
	c.Rows++
	if v == nil {
		c.Nulls++
		return
	}
	x := float64(len(v))
	if c.Binned == "value" {
		n, ok := numberOf(c.typ, v)
		switch {
		case !ok:
			return // a value that its type does not hold
		case math.IsNaN(n):
			c.NaNs++
			return
		case math.IsInf(n, 0):
			c.Infinite++
		}
		x = n
	}
	if c.min == nil || c.compare(v, c.min) < 0 {
		c.min = append(c.min[:0:0], v...)
	}
	if c.max == nil || c.compare(v, c.max) > 0 {
		c.max = append(c.max[:0:0], v...)
	}
	if math.IsInf(x, 0) {
		return
	}
	c.lo, c.hi = min(c.lo, x), max(c.hi, x)
	c.finite++
	c.Mean += float64(x/float64(c.finite)) - float64(c.Mean/float64(c.finite))
}

func (c *columnStats) compare(a, b []byte) int {
	if t := bareType(c.typ); t.Ordered() {
		return t.Compare(a, b)
	}
	return bytes.Compare(a, b)
}

// makeBins lays bins over the values, one for each integer where they are few.
func (c *columnStats) makeBins(n int) {
	text := func(b []byte) *string {
		if b == nil {
			return nil
		}
		const most = 40
		t := []rune(string(rowgroup.AppendText(nil, c.typ, b)))
		s := string(t)
		if len(t) > most {
			s = string(t[:most]) + "…"
		}
		return &s
	}
	c.Min, c.Max = text(c.min), text(c.max)
	if c.finite == 0 {
		return
	}
	class := bareType(c.typ).Physical().Class()
	c.integer = c.Binned == "length" || (class == rowgroup.ClassInt32 || class == rowgroup.ClassInt64) && bareType(c.typ).Scale == 0
	width := c.hi/float64(n) - c.lo/float64(n)
	if c.hi == c.lo || width == 0 {
		n = 1
	} else if c.integer && c.hi-c.lo < float64(n) {
		n, width = int(c.hi-c.lo)+1, 1
	}
	edge := func(i int) float64 {
		x := c.lo + float64(float64(i)*width)
		if part := float64(i) / float64(n); math.IsInf(x, 0) { // a range wider than that of a float64
			x = float64(c.lo*(1-part)) + float64(c.hi*part)
		}
		return x
	}
	for i := range n {
		c.Bins = append(c.Bins, bin{From: edge(i), To: edge(i + 1)})
	}
	c.Bins[n-1].To = max(c.hi, c.Bins[n-1].From)
	if c.Binned == "value" {
		c.series = make([]envelope, 0, plotWidth)
	}
}

// place puts a value into its bin.
func (c *columnStats) place(v []byte) {
	at := c.placed
	c.placed++
	if v == nil || len(c.Bins) == 0 {
		return
	}
	x := float64(len(v))
	if c.Binned == "value" {
		n, ok := numberOf(c.typ, v)
		if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
			return
		}
		x = n
		c.trace(x, at, c.Rows)
	}
	i := 0
	if len(c.Bins) > 1 {
		width := c.Bins[0].To - c.Bins[0].From
		i = int(x/width - c.lo/width)
	}
	c.Bins[min(max(i, 0), len(c.Bins)-1)].Count++
}

// colours reports whether to print colours.
func (s *stats) colours() bool {
	return os.Getenv("NO_COLOR") == "" && s.out.path == "-" && isTerminal(s.cmd.OutOrStdout())
}

func (s *stats) print(out *bufio.Writer, f *fileStats) error {
	on, off := "", ""
	if s.colours() {
		on, off = "\x1b[36m", "\x1b[0m"
	}
	fmt.Fprintf(out, "%s: %s\n", printable(f.File), plural(f.Rows, "row"))
	for _, c := range f.Columns {
		fmt.Fprintf(out, "\n%s  %s", visible(c.Name), c.Type)
		for _, x := range []struct {
			n         int64
			one, many string
		}{{c.Nulls, "null", "nulls"}, {c.NaNs, "NaN", "NaNs"}, {c.Infinite, "infinity", "infinities"}} {
			if x.n > 0 {
				fmt.Fprintf(out, ", %s", plural(x.n, x.one, x.many))
			}
		}
		if c.Min == nil {
			fmt.Fprintln(out, ", no values")
			continue
		}
		fmt.Fprintf(out, ", %s to %s", visible(*c.Min), visible(*c.Max))
		if c.finite > 0 {
			mean := number(c.Mean)
			if t := bareType(c.typ); t.Kind == rowgroup.KindTimestamp || t.Kind == rowgroup.KindDate {
				mean = string(rowgroup.AppendText(nil, t, rowgroup.AppendInt(nil, t, whole(c.Mean))))
			}
			if c.Binned == "length" {
				mean += " bytes"
			}
			fmt.Fprintf(out, ", mean %s", mean)
		}
		fmt.Fprintln(out)
		if err := c.histogram(out, on, off); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(out)
	return err
}

// whole is the integer at v or below it, within those of 64 bits.
func whole(v float64) int64 {
	switch v = math.Floor(v); {
	case v >= 1<<63:
		return math.MaxInt64
	case v < -1<<63:
		return math.MinInt64
	}
	return int64(v)
}

// number is v with all digits before the point, as far as it has them, and six
// in all.
func number(v float64) string {
	if a := math.Abs(v); a >= 1e6 && a < 1<<53 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// histogram prints a bar for each bin.
func (c *columnStats) histogram(out *bufio.Writer, on, off string) error {
	const width = 40
	most := int64(1)
	for _, b := range c.Bins {
		most = max(most, b.Count)
	}
	g := grid{align: "rrl", indent: "  "}
	for _, b := range c.Bins {
		label := number(b.From)
		if c.integer {
			label = fmt.Sprintf("%.0f", b.From)
		}
		if t := bareType(c.typ); c.Binned == "value" && (t.Kind == rowgroup.KindTimestamp || t.Kind == rowgroup.KindDate || t.Kind == rowgroup.KindTime) {
			label = string(rowgroup.AppendText(nil, t, rowgroup.AppendInt(nil, t, whole(b.From))))
		}
		g.add(label, humanize.Comma(b.Count), bar(on, float64(b.Count)/float64(most)*width, off))
	}
	return g.print(out)
}

// bar is a bar of n characters in a colour.
func bar(on string, n float64, off string) string {
	if n == 0 {
		return ""
	}
	return on + blocks(n) + off
}

// blocks is a bar of n characters, to an eighth.
func blocks(n float64) string {
	eighths := int(math.Ceil(n * 8))
	bar := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		bar += string(rune('█' + 8 - rest))
	}
	return bar
}
