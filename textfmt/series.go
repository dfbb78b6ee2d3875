package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// series are the points of a text in which every line names its series, as
// InfluxDB's line protocol and the formats of Prometheus do. The names of a
// series are columns of text in the partition key, empty where a point has none
// of that name.
type series struct {
	*lines
	format  *seriesFormat
	columns []seriesColumn
	names   map[string]int
	learn   bool // take new columns
	fields  []Field
	row     int64   // the row that is read
	rows    []int64 // by column: the row that it was last found in
	likely  int     // the column that should come next
	text    []byte  // unescaped texts of the row
	data    []byte  // the lines of the row
	at      int     // in data
	open    bool    // the row failed because its string does not end
}

// seriesColumn is a column and what its values look like.
type seriesColumn struct {
	name  string
	kind  valueKind
	empty bool // what is missing is the empty text
}

// valueKind is how a format writes a value.
type valueKind uint8

const (
	anyKind valueKind = iota
	tagKind
	timeKind
	floatKind
	intKind
	uintKind
	stringKind
	boolKind
)

var valueKinds = [...]struct {
	name string
	typ  rowgroup.Type
}{
	tagKind: {"a tag", rowgroup.Text}, timeKind: {"the time", rowgroup.Type{}}, floatKind: {"a float", rowgroup.Double}, intKind: {"an integer", rowgroup.Bigint},
	uintKind: {"an unsigned integer", rowgroup.Type{Kind: rowgroup.KindUint64}}, stringKind: {"a string", rowgroup.Text},
	boolKind: {"a boolean", rowgroup.Boolean},
}

// seriesFormat opens series of one format.
type seriesFormat struct {
	name    string
	options *TableOptions
	series  []byte // the column that names the measurement or metric
	time    []byte // the time column
	columns []seriesColumn
	// parse reads the line in data into fields.
	parse func(*series) (lineState, error)
	whole bool // every line is whole
}

// lineState is what a line turned out to be.
type lineState uint8

const (
	pointLine lineState = iota
	blankLine           // or a comment
	openLine            // a string goes on
)

func (f *seriesFormat) open(part []byte, line int64) records {
	return f.records(partLines(part, f.name, line))
}

func (f *seriesFormat) cut(data []byte) int { return lineCut(data) }

func (f *seriesFormat) records(l *lines) *series {
	s := &series{lines: l, format: f, names: map[string]int{}}
	for _, c := range f.columns {
		s.add(c)
	}
	return s
}

func (s *series) add(c seriesColumn) {
	s.names[c.name] = len(s.columns)
	s.columns, s.fields, s.rows = append(s.columns, c), append(s.fields, Field{}), append(s.rows, 0)
}

// newReader reads a sample, settles the schema, and reads from the start.
func (f *seriesFormat) newReader(r io.Reader) (*Reader, error) {
	r = withoutMark(r)
	head := &tape{r: r}
	choices, err := f.choose(head)
	if err != nil {
		return nil, err
	}
	in := head.rewind()
	var cut *input
	if f.whole {
		cut = &input{r: in, line: 1, splitter: f}
	}
	return newReader(f.name, f.options, choices, f.records(newLines(in, f.name)), cut)
}

// choose finds the columns and settles their types.
func (f *seriesFormat) choose(head *tape) ([]Choice, error) {
	o := f.options
	f.columns = []seriesColumn{{name: string(f.series), kind: tagKind}, {name: string(f.time), kind: timeKind}}
	if o.Schema == nil {
		if err := f.sample(head); err != nil {
			return nil, err
		}
	} else {
		for i := range o.Schema.NumColumns() {
			f.given(o.Schema.Column(i).Name)
		}
	}
	for _, name := range append(sortedKeys(o.Types), o.WriteTime, o.TTL, o.Expiry) {
		f.given(name)
	}
	if o.Schema == nil && o.PartitionKey == nil {
		for _, c := range f.columns {
			if c.kind == tagKind {
				o.PartitionKey = append(o.PartitionKey, c.name)
			}
		}
	}
	var names []string
	choices := make([]Choice, len(f.columns))
	for i := range f.columns {
		c := &f.columns[i]
		names = append(names, c.name)
		choices[i] = Choice{Column: c.name, Layout: o.Layouts[c.name]}
		if choices[i].Type, choices[i].Given = o.given(c.name); choices[i].Given {
			if c.kind != tagKind && c.kind != timeKind {
				c.kind = anyKind
			}
		} else {
			choices[i].Type, choices[i].Why = valueKinds[c.kind].typ, valueKinds[c.kind].name
		}
		inKey := slices.Contains(o.PartitionKey, c.name)
		if o.Schema != nil {
			col := o.Schema.Lookup(c.name)
			inKey = col >= 0 && o.Schema.Role(col) == rowgroup.PartitionKey
		}
		c.empty = inKey && isText(choices[i].Type)
	}
	if err := o.check(names); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return choices, nil
}

// given adds a column of the options unless it is there.
func (f *seriesFormat) given(name string) {
	if name != "" && !slices.ContainsFunc(f.columns, func(c seriesColumn) bool { return c.name == name }) {
		f.columns = append(f.columns, seriesColumn{name: name})
	}
}

// sample finds columns: the name of the series, its tags by name, the time, and
// the other columns in the order of the text.
func (f *seriesFormat) sample(head *tape) error {
	s := f.records(newLines(head, f.name))
	s.learn = true
	for n := 0; n < sampleRows && head.length <= sampleBytes; n++ {
		_, err := s.next()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *SyntaxError
		if err != nil && !(errors.As(err, &syntax) && f.options.OnError != nil) { // of which reading tells
			return err
		}
	}
	var tags, rest []seriesColumn
	for _, c := range s.columns[2:] {
		if c.kind == tagKind {
			tags = append(tags, c)
		} else {
			rest = append(rest, c)
		}
	}
	slices.SortFunc(tags, func(a, b seriesColumn) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	f.columns = append(append(append(f.columns[:1:1], tags...), f.columns[1]), rest...)
	return nil
}

func (s *series) next() ([]Field, error) {
	line, err := s.lines.next()
	for err == nil {
		s.data, s.at, s.likely, s.text = trimEnd(line), 0, 0, s.text[:0]
		s.row++
		for i := range s.fields {
			s.fields[i] = Field{Null: !s.columns[i].empty, Quoted: true, Line: s.number, Column: 1}
		}
		state, parseErr := s.format.parse(s)
		if parseErr != nil {
			return nil, parseErr
		}
		switch state {
		case blankLine:
			line, err = s.lines.next()
		case openLine:
			if line, err = s.close(line); errors.Is(err, io.EOF) {
				s.open, s.data = true, trimEnd(line)
				e := s.misplaced(nil, s.at, "a quote that ends the string here")
				e.Value = "the end of the text"
				return nil, e
			}
		default:
			return s.fields, nil
		}
	}
	return nil, err
}

// close adds lines to one whose string is open, up to one with a quote.
func (s *series) close(line []byte) ([]byte, error) {
	for {
		n := len(line)
		var err error
		if line, err = s.more(); err != nil {
			return s.buf[s.start:s.end], err // more may have moved it
		}
		if bytes.IndexByte(line[n:], '"') >= 0 {
			return line, nil
		}
	}
}

// skip moves behind the point that failed: behind its first line, if that has a
// string which never ends.
func (s *series) skip() {
	if s.open {
		s.open = false
		s.lines.rewind()
	}
}

// place is the line and column of a byte of data.
func (s *series) place(at int) (line int64, column int) {
	before := s.data[:at]
	return s.number + int64(bytes.Count(before, []byte{'\n'})), at - bytes.LastIndexByte(before, '\n')
}

// expected is an error at the cursor.
func (s *series) expected(what string) error {
	e := &SyntaxError{File: s.name, Expected: what, Value: "the end of the line"}
	if s.at < len(s.data) {
		e.Value = quote(s.data[s.at:])
	}
	e.Line, e.Column = s.place(s.at)
	return e
}

// blanks moves behind blanks.
func (s *series) blanks() (n int) {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\t') {
		s.at++
		n++
	}
	return n
}

// set gives the named column a value, which begins at a byte of data.
func (s *series) set(name, text []byte, kind valueKind, at int) error {
	col := s.likely
	if col >= len(s.columns) || s.columns[col].name != string(name) {
		known := false
		if col, known = s.names[string(name)]; !known {
			col = len(s.columns)
			if !s.learn {
				e := s.misplaced(name, at, "one of the columns")
				e.Value, e.Hint = quote(name), "it is not among the first rows; give --type "+FlagValue(string(name), "TYPE")
				if kind == tagKind {
					e.Hint = "it is not among the first rows; give all tags, --partition-key " + string(s.format.series) + ",..."
				}
				return e
			}
			s.add(seriesColumn{name: string(name), kind: kind})
		}
	}
	c := &s.columns[col]
	if c.kind != kind && c.kind != anyKind {
		e := s.misplaced(name, at, valueKinds[c.kind].name)
		e.Value = fmt.Sprintf("%s: %s", valueKinds[kind].name, quote(text))
		switch {
		case c.kind <= timeKind || kind <= timeKind:
			e.Hint = "the time, tags and fields need different names"
		case c.kind <= uintKind && kind <= uintKind:
			e.Hint = "give --type " + FlagValue(string(name), "double") + " or --type " + FlagValue(string(name), "decimal") + " for both"
		default:
			e.Hint = "give --type " + FlagValue(string(name), "text") + " for both"
		}
		return e
	}
	if s.rows[col] == s.row {
		e := s.misplaced(name, at, "one value of that name")
		e.Value = "a second one"
		return e
	}
	s.rows[col], s.likely = s.row, col+1
	f := &s.fields[col]
	f.Text, f.Quoted, f.Null = text, kind == tagKind || kind == stringKind, false
	f.Line, f.Column = s.number, at+1
	if at > 0 && s.number != s.count {
		f.Line, f.Column = s.place(at)
	}
	return nil
}

func (s *series) misplaced(name []byte, at int, expected string) *SyntaxError {
	e := &SyntaxError{File: s.name, Field: string(name), Expected: expected}
	e.Line, e.Column = s.place(at)
	return e
}

// isFloat reports whether b is a plain decimal number or NaN or an infinity.
func isFloat(b []byte) bool {
	if _, ok := parseNumber(b); ok {
		return true
	}
	_, ok := floatWord(b)
	return ok
}
