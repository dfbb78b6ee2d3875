package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/colsst/colsst/rowgroup"
)

// NewNDJSONReader reads newline-delimited JSON, an object a line (RFC 8259;
// blank lines are skipped). The members of an object are the columns of its
// row; what is missing or null is null. Where the schema is not given, up to 64
// Ki rows or 16 MiB are read first to find columns and types.
//
// A nested object has a column for each of its members, by names joined with
// points: {"cpu":{"user":1}} is the column cpu.user, and {"cpu":{}} no column.
// Arrays are an error, unless the type of their column is given: as text an
// array or object stays the JSON that it is.
//
// Strings are no numbers and booleans unless the column's type says so, except
// for the NaN, +Inf and -Inf that NDJSONWriter writes. Integers are never taken
// for doubles if that changes them. Two bytes of a string that begin a pair of
// surrogates without a second, \udc80 to \udcff, are the byte 80 to ff: so
// NDJSONWriter keeps text that is not UTF-8. Other single surrogates are
// errors, as is a member that occurs twice.
func NewNDJSONReader(r io.Reader, name string, o TableOptions) (*Reader, error) {
	r = withoutMark(r)
	head := &tape{r: r}
	f := &ndjsonFormat{name: name, options: &o}
	choices, err := f.choose(head)
	if err != nil {
		return nil, err
	}
	in := head.rewind()
	return newReader(name, &o, choices, f.records(newLines(in, name)), &input{r: in, line: 1, splitter: f})
}

// ndjsonFormat opens records of NDJSON.
type ndjsonFormat struct {
	name    string
	options *TableOptions
	columns []string
	keep    map[string]bool // columns whose nested values stay JSON
}

// choose finds the columns and settles their types.
func (f *ndjsonFormat) choose(head *tape) ([]Choice, error) {
	o := f.options
	f.keep = map[string]bool{}
	seen := sampler{o: o}
	add := func(name string) {
		if !slices.Contains(seen.names, name) {
			seen.column(name, true)
		}
	}
	if o.Schema != nil {
		for i := range o.Schema.NumColumns() {
			c := o.Schema.Column(i)
			add(c.Name)
			f.keep[c.Name] = keepsJSON(c.Type)
		}
		for _, name := range []string{o.WriteTime, o.TTL, o.Expiry} {
			if name != "" {
				add(name)
			}
		}
	}
	for name, t := range o.Types {
		f.keep[name] = keepsJSON(t)
	}
	f.columns = slices.Clone(seen.names)
	var err error
	if o.Schema == nil {
		err = f.sample(head, add, func(row []Field) {
			for i := range row {
				seen.add(i, &row[i], row[i].Null)
			}
		})
	} else { // metadata need not be among its columns
		err = f.sample(head, func(name string) {
			if slices.Contains(metadataNames[:], name) && o.Schema.Lookup(name) < 0 {
				add(name)
			}
		}, func([]Field) {})
	}
	if err != nil {
		return nil, err
	}
	f.columns = nil
	found := len(seen.names)
	for _, name := range sortedKeys(o.Types) {
		add(name)
	}
	if len(seen.names) == 0 {
		return nil, &SyntaxError{File: f.name, Line: 1, Column: 1, Expected: "a JSON object with members", Value: "nothing"}
	}
	if err := o.check(seen.names); err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	choices := seen.choices()
	for i := range choices {
		f.columns = append(f.columns, choices[i].Column)
		if i >= found {
			choices[i].Note = "not among the first rows"
		}
	}
	return choices, nil
}

// sample reads the first rows. New members go to add before rows that have them
// go to look.
func (f *ndjsonFormat) sample(head *tape, add func(name string), look func([]Field)) error {
	j := f.records(newLines(head, f.name))
	j.grow = add
	for n := 0; n < sampleRows && head.length <= sampleBytes; n++ {
		row, err := j.next()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *SyntaxError
		if err != nil && !(errors.As(err, &syntax) && f.options.OnError != nil) { // of which reading tells
			return err
		}
		look(row)
	}
	return nil
}

// keepsJSON reports whether an array or object can be a value of t.
func keepsJSON(t rowgroup.Type) bool { return t.Physical().Class() == rowgroup.ClassBytes }

func (f *ndjsonFormat) records(l *lines) *jsonRecords {
	j := &jsonRecords{lines: l, columns: f.columns, keep: f.keep, names: map[string]int{}}
	for i, name := range f.columns {
		j.names[name] = i
	}
	j.fields, j.rows = make([]Field, len(f.columns)), make([]int64, len(f.columns))
	return j
}

func (f *ndjsonFormat) cut(data []byte) int { return lineCut(data) }

func (f *ndjsonFormat) open(part []byte, line int64) records {
	return f.records(partLines(part, f.name, line))
}

// jsonRecords are the objects of NDJSON.
type jsonRecords struct {
	*lines
	columns []string
	names   map[string]int
	keep    map[string]bool
	grow    func(name string) // takes new columns; nil: they are errors
	fields  []Field
	row     int64   // the row that is read
	rows    []int64 // by column: the row that it was last found in
	likely  int     // the column that should come next
	path    []byte
	text    []byte // unescaped strings of the row
	data    []byte // the line
	at      int    // in data
}

// maxNesting bounds the depth of nested objects and arrays.
const maxNesting = 64

func (j *jsonRecords) next() ([]Field, error) {
	for {
		line, err := j.lines.next()
		if err != nil {
			return nil, err
		}
		j.data, j.at = trimEnd(line), 0
		j.blanks()
		if j.at < len(j.data) {
			break
		}
	}
	j.row++
	j.likely, j.path, j.text = 0, j.path[:0], j.text[:0]
	for i := range j.fields {
		j.fields[i] = Field{Line: j.number, Column: 1, Null: true}
	}
	if j.data[j.at] != '{' {
		e := j.expected("a JSON object")
		if j.data[j.at] == '[' {
			e.Hint = "one array of objects becomes NDJSON with jq -c '.[]'"
		}
		return nil, e
	}
	if e := j.object(0); e != nil {
		return nil, e
	}
	j.blanks()
	if j.at < len(j.data) {
		return nil, j.expected("the end of the line after an object")
	}
	return j.fields, nil
}

func (j *jsonRecords) expected(what string) *SyntaxError {
	found := "the end of the line"
	if j.at < len(j.data) {
		found = quote(j.data[j.at:])
	}
	return &SyntaxError{File: j.name, Line: j.number, Column: j.at + 1, Expected: what, Value: found}
}

func (j *jsonRecords) blanks() {
	for j.at < len(j.data) && (j.data[j.at] == ' ' || j.data[j.at] == '\t' || j.data[j.at] == '\r') {
		j.at++
	}
}

// accept takes c, with blanks on both sides, if it is next.
func (j *jsonRecords) accept(c byte) bool {
	j.blanks()
	if j.at == len(j.data) || j.data[j.at] != c {
		return false
	}
	j.at++
	j.blanks()
	return true
}

// object reads an object, whose members are columns below path.
func (j *jsonRecords) object(depth int) *SyntaxError {
	if depth > maxNesting {
		return j.expected(fmt.Sprintf("objects nested at most %d deep", maxNesting))
	}
	j.accept('{')
	if j.accept('}') {
		return nil
	}
	for {
		at := j.at
		key, e := j.str()
		if e != nil {
			return e
		}
		above := len(j.path)
		if depth > 0 {
			j.path = append(j.path, '.')
		}
		j.path = append(j.path, key...)
		if !j.accept(':') {
			return j.expected("a colon")
		}
		if e := j.member(depth, at); e != nil {
			return e
		}
		j.path = j.path[:above]
		switch {
		case j.accept(','):
		case j.accept('}'):
			return nil
		default:
			return j.expected("a comma or the end of the object")
		}
	}
}

// member reads the value at path, whose name stood at nameAt.
func (j *jsonRecords) member(depth, nameAt int) *SyntaxError {
	if j.at == len(j.data) {
		return j.expected("a value")
	}
	c := j.data[j.at]
	if c == '{' && !j.keep[string(j.path)] {
		return j.object(depth + 1)
	}
	col, known := j.column()
	if !known {
		if j.grow == nil {
			return &SyntaxError{File: j.name, Line: j.number, Column: nameAt + 1, Expected: "a member that is a column",
				Value: quote(j.path), Hint: "it is not among the first rows; give --type " + FlagValue(string(j.path), "TYPE")}
		}
		col = len(j.columns)
		j.columns = append(j.columns, string(j.path))
		j.names[j.columns[col]] = col
		j.grow(j.columns[col])
		j.fields, j.rows = append(j.fields, Field{}), append(j.rows, 0)
	}
	f := &j.fields[col]
	if j.rows[col] == j.row {
		return &SyntaxError{File: j.name, Line: j.number, Column: nameAt + 1, Field: j.columns[col], Value: "a second one", Expected: "one member of that name"}
	}
	j.rows[col], j.likely = j.row, col+1
	*f = Field{Line: j.number, Column: j.at + 1}
	var e *SyntaxError
	switch {
	case c == '"':
		f.Quoted = true
		f.Text, e = j.str()
	case c == '{' || c == '[' && j.keep[j.columns[col]]:
		at := j.at
		e = j.nested(0)
		f.Quoted, f.Text = true, bytes.TrimRight(j.data[at:j.at:j.at], " \t\r")
	case c == '[':
		e = j.expected("no array")
		e.Field, e.Hint = j.columns[col], "give --type "+FlagValue(j.columns[col], "text")+" to keep it as JSON"
	default:
		e = j.word(f)
	}
	return e
}

// column is the column at path.
func (j *jsonRecords) column() (col int, known bool) {
	if j.likely < len(j.columns) && j.columns[j.likely] == string(j.path) {
		return j.likely, true
	}
	col, known = j.names[string(j.path)]
	return col, known
}

// wordByte is true for bytes of numbers and of words like true.
var wordByte = func() (word [256]bool) {
	for _, c := range []byte("+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
		word[c] = true
	}
	return word
}()

// word reads a number, true, false or null.
func (j *jsonRecords) word(f *Field) *SyntaxError {
	end := j.at
	for end < len(j.data) && wordByte[j.data[end]] {
		end++
	}
	text := j.data[j.at:end:end]
	switch string(text) {
	case "null":
		f.Null = true
	case "true", "false", "NaN", "Infinity", "-Infinity": // the latter three as Python writes them
		f.Text = text
	default:
		if !isJSONNumber(text) {
			return j.expected("a JSON value")
		}
		f.Text = text
	}
	j.at = end
	return nil
}

// isJSONNumber reports whether b is -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
func isJSONNumber(b []byte) bool {
	run := func() (n int) {
		for n < len(b) && b[n]-'0' <= 9 {
			n++
		}
		b = b[n:]
		return n
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	zero := len(b) > 0 && b[0] == '0'
	if n := run(); n == 0 || zero && n > 1 {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		b = b[1:]
		if run() == 0 {
			return false
		}
	}
	if len(b) > 0 && b[0]|0x20 == 'e' {
		b = b[1:]
		if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if run() == 0 {
			return false
		}
	}
	return len(b) == 0
}

// nested moves behind a value of any kind.
func (j *jsonRecords) nested(depth int) *SyntaxError {
	if depth > maxNesting {
		return j.expected(fmt.Sprintf("values nested at most %d deep", maxNesting))
	}
	if j.at == len(j.data) {
		return j.expected("a value")
	}
	switch open := j.data[j.at]; open {
	case '"':
		_, e := j.str()
		return e
	case '{', '[':
		end := open + 2 // } and ] stand two behind
		j.accept(open)
		if j.accept(end) {
			return nil
		}
		for {
			if open == '{' {
				if _, e := j.str(); e != nil {
					return e
				}
				if !j.accept(':') {
					return j.expected("a colon")
				}
			}
			if e := j.nested(depth + 1); e != nil {
				return e
			}
			switch {
			case j.accept(','):
			case j.accept(end):
				return nil
			default:
				return j.expected("a comma or the end of the " + map[byte]string{'{': "object", '[': "array"}[open])
			}
		}
	}
	return j.word(&Field{})
}

// plainByte is true for bytes that stand for themselves in a string.
var plainByte = func() (plain [256]bool) {
	for c := 0x20; c < 256; c++ {
		plain[c] = c != '"' && c != '\\'
	}
	return plain
}()

// str reads a string. The bytes are those of the line, or of text where some
// of them are escaped.
func (j *jsonRecords) str() ([]byte, *SyntaxError) {
	if j.at == len(j.data) || j.data[j.at] != '"' {
		return nil, j.expected("a string in quotes")
	}
	begin := j.at
	j.at++
	start := j.at
	for j.at < len(j.data) && plainByte[j.data[j.at]] {
		j.at++
	}
	if j.at < len(j.data) && j.data[j.at] == '"' {
		j.at++
		return j.data[start : j.at-1 : j.at-1], nil
	}
	from := len(j.text)
	for {
		j.text = append(j.text, j.data[start:j.at]...)
		if j.at == len(j.data) {
			j.at = begin
			return nil, j.expected("a string that ends on its line")
		}
		switch j.data[j.at] {
		case '"':
			j.at++
			return j.text[from:len(j.text):len(j.text)], nil
		case '\\':
			if e := j.escape(); e != nil {
				return nil, e
			}
		default:
			return nil, j.expected("no control character")
		}
		start = j.at
		for j.at < len(j.data) && plainByte[j.data[j.at]] {
			j.at++
		}
	}
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

// escape appends what an escape in a string stands for.
func (j *jsonRecords) escape() *SyntaxError {
	if j.at+1 < len(j.data) {
		if c := escapes[j.data[j.at+1]]; c != 0 {
			j.text = append(j.text, c)
			j.at += 2
			return nil
		}
	}
	r, ok := j.unicode(j.at)
	if !ok {
		return j.expected("an escape")
	}
	if 0xdc80 <= r && r <= 0xdcff {
		j.text = append(j.text, byte(r))
		j.at += 6
		return nil
	}
	n := 6
	if utf16.IsSurrogate(r) {
		second, _ := j.unicode(j.at + 6)
		if r = utf16.DecodeRune(r, second); r == utf8.RuneError {
			return j.expected("a pair of surrogates")
		}
		n = 12
	}
	j.text = utf8.AppendRune(j.text, r)
	j.at += n
	return nil
}

// unicode reads \uXXXX.
func (j *jsonRecords) unicode(at int) (rune, bool) {
	if at+6 > len(j.data) || j.data[at] != '\\' || j.data[at+1] != 'u' {
		return 0, false
	}
	v, err := strconv.ParseUint(string(j.data[at+2:at+6]), 16, 16)
	return rune(v), err == nil
}
