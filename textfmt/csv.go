package textfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/colsst/colsst/encoding"
)

const (
	firstBuffer = 256 << 10
	// maxRecord bounds the bytes of one record, hence a Scanner's memory.
	maxRecord = 2 * encoding.MaxValueBytes
)

// Field is one field of a record. Text belongs to the Scanner and is valid
// until the next call of Scan.
type Field struct {
	Text   []byte // without the quotes around it; every byte inside kept
	Quoted bool   // it stood in quotes, which tells "" from nothing
	Line   int64  // where it begins, from 1
	Column int    // byte of that line, from 1, after a byte order mark
	Null   bool   // no value, in formats that have a word for it; a Scanner leaves it
}

// Scanner cuts CSV into fields as RFC 4180 says, with any byte as separator.
// Lines end with LF or CRLF, the last one also with the end of the input; line
// ends inside quotes are bytes of the field. Blank lines are skipped. A byte
// order mark at the start is dropped. Anything else is an error: a quote in a
// field that does not begin with one, text after a closing quote, a quote that
// is never closed, a CR alone outside quotes, a record with another number of
// fields than the first.
type Scanner struct {
	// Fields is the number of fields of every record; 0 takes that of the
	// first record.
	Fields int
	// TrailingSeparator says that every line ends with a separator after its
	// last field.
	TrailingSeparator bool

	r        io.Reader
	name     string
	buf      []byte
	from, to int // buf[from:to] is not yet scanned
	line     int64
	blank    int64 // lines that were skipped
	started  bool
	scanned  bool  // the last record was cut into fields, whatever they are
	readErr  error // what ended the input
	err      error // sticky
	fields   []Field
	escaped  []int      // fields with doubled quotes
	ends     [256]uint8 // 1 at bytes that end an unquoted field or may not stand in one
	sep      byte
	window   int // bytes of text to seek the next block in
}

// NewScanner reads from r; name stands in errors. The separator can be any
// byte but quote, CR and LF.
func NewScanner(r io.Reader, name string, separator byte) (*Scanner, error) {
	if separator == '"' || separator == '\r' || separator == '\n' {
		return nil, fmt.Errorf("separator %q cannot separate fields", separator)
	}
	s := &Scanner{r: r, name: name, sep: separator, line: 1}
	for _, c := range []byte{separator, '"', '\r', '\n'} {
		s.ends[c] = 1
	}
	return s, nil
}

// Scan is the next record, or io.EOF after the last one. The slice belongs to
// the Scanner and is valid until the next call. An error stays.
func (s *Scanner) Scan() ([]Field, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.err = s.start(); s.err != nil {
		return nil, s.err
	}
	s.scanned = false
	for {
		n, whole, err := s.record()
		if err != nil {
			s.err = err
			return nil, err
		}
		if whole {
			s.from += n
			s.scanned = true
			break
		}
		if s.err = s.fill(); s.err != nil {
			return nil, s.err
		}
	}
	s.unescape()
	if s.err = s.count(); s.err != nil {
		return nil, s.err
	}
	return s.fields, nil
}

// start fills the buffer for the first time and looks for a byte order mark.
func (s *Scanner) start() error {
	if s.started {
		return nil
	}
	s.started = true
	if s.buf == nil {
		s.buf = make([]byte, firstBuffer)
	}
	if err := s.fill(); err != nil {
		return err
	}
	data := s.buf[:s.to]
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		return &SyntaxError{File: s.name, Line: 1, Column: 1, Value: "UTF-16",
			Expected: "UTF-8", Hint: "convert the file first, for example with iconv -f UTF-16 -t UTF-8"}
	}
	if bytes.HasPrefix(data, []byte(byteOrderMark)) {
		s.from = len(byteOrderMark)
	}
	return nil
}

const byteOrderMark = "\xef\xbb\xbf"

// fill reads more input behind what is not yet scanned, at least a byte or the
// end. It reads until the buffer is full, so that a record is scanned again a
// bounded number of times however the input is cut.
func (s *Scanner) fill() error {
	if s.from > 0 {
		copy(s.buf, s.buf[s.from:s.to])
		s.from, s.to = 0, s.to-s.from
	}
	if s.to == len(s.buf) {
		if len(s.buf) >= maxRecord {
			return &SyntaxError{File: s.name, Line: s.line, Column: 1, Value: fmt.Sprintf("a record of more than %d bytes", maxRecord),
				Expected: "the end of a record", Hint: "a quote before this place may not be closed"}
		}
		s.buf = slices.Grow(s.buf, len(s.buf))[:2*len(s.buf)]
	}
	for empty := 0; s.to < len(s.buf) && s.readErr == nil; {
		n, err := s.r.Read(s.buf[s.to:])
		s.to += n
		s.readErr = err
		if n > 0 {
			empty = 0
		} else if empty++; empty == 100 {
			s.readErr = io.ErrNoProgress
		}
	}
	if s.readErr != nil && !errors.Is(s.readErr, io.EOF) {
		return fmt.Errorf("%s: %w", s.name, s.readErr)
	}
	return nil
}

// record finds the fields of the record at from. It is whole if its end is in
// the buffer; n counts its bytes with its line end.
func (s *Scanner) record() (n int, whole bool, err error) {
	atEnd := s.readErr != nil
	s.skipBlank(atEnd)
	data := s.buf[s.from:s.to]
	s.fields, s.escaped = s.fields[:0], s.escaped[:0]
	if len(data) == 0 {
		if !atEnd {
			return 0, false, nil
		}
		return 0, false, io.EOF
	}
	i, line, lineStart := 0, s.line, 0
	for {
		f := Field{Line: line, Column: i - lineStart + 1}
		if i < len(data) && data[i] == '"' {
			start := i + 1
			i = start
			doubled := false
			for {
				k := bytes.IndexByte(data[i:], '"')
				if k < 0 {
					if !atEnd {
						return 0, false, nil
					}
					return 0, false, s.syntax(f.Line, f.Column, "the end of the input", "a quote that closes the one here")
				}
				i += k + 1
				if i == len(data) && !atEnd {
					return 0, false, nil
				}
				if i == len(data) || data[i] != '"' {
					break
				}
				i++
				doubled = true
			}
			f.Text, f.Quoted = data[start:i-1:i-1], true
			if doubled {
				s.escaped = append(s.escaped, len(s.fields))
			}
			if k := bytes.LastIndexByte(f.Text, '\n'); k >= 0 {
				line += int64(bytes.Count(f.Text, []byte{'\n'}))
				lineStart = start + k + 1
			}
		} else {
			start := i
			for i < len(data) && s.ends[data[i]] == 0 {
				i++
			}
			f.Text = data[start:i:i]
		}
		s.fields = append(s.fields, f)
		if i == len(data) {
			if !atEnd {
				return 0, false, nil
			}
			s.line = line
			return i, true, nil
		}
		switch c := data[i]; {
		case c == s.sep:
			i++
			continue
		case c == '\n':
			s.line = line + 1
			return i + 1, true, nil
		case c == '\r' && i+1 == len(data):
			if !atEnd {
				return 0, false, nil
			}
			s.line = line
			return i + 1, true, nil
		case c == '\r' && data[i+1] == '\n':
			s.line = line + 1
			return i + 2, true, nil
		case f.Quoted && line > f.Line:
			// Rather than the text behind it, the quote is at fault that opens the lines.
			return 0, false, s.syntax(f.Line, f.Column, fmt.Sprintf("%s behind the next quote, in line %d, column %d", quote(data[i:i+1]), line, i-lineStart+1),
				"a quote that closes the one here, and a separator or the end of the line behind it")
		case f.Quoted:
			return 0, false, s.syntax(line, i-lineStart+1, quote(data[i:i+1]), "a separator or the end of the line after a closing quote")
		case c == '\r':
			return 0, false, s.syntax(line, i-lineStart+1, "a carriage return alone", "a line that ends with LF or CRLF, or quotes around the field")
		default:
			return 0, false, s.syntax(line, i-lineStart+1, "a quote inside a field", "quotes around the whole field, and quotes inside it doubled")
		}
	}
}

// skipBlank moves from behind blank lines.
func (s *Scanner) skipBlank(atEnd bool) {
	for {
		data := s.buf[s.from:s.to]
		switch {
		case len(data) > 0 && data[0] == '\n':
			s.from++
		case len(data) > 1 && data[0] == '\r' && data[1] == '\n':
			s.from += 2
		case atEnd && len(data) == 1 && data[0] == '\r':
			s.from++
			s.blank++
			return
		default:
			return
		}
		s.line++
		s.blank++
	}
}

// skipRecord goes on behind a record that is an error: behind its first line,
// if it could not be cut into fields.
func (s *Scanner) skipRecord() {
	s.err = nil
	for !s.scanned {
		if n := bytes.IndexByte(s.buf[s.from:s.to], '\n'); n >= 0 {
			s.from += n + 1
			s.line++
			return
		}
		if s.readErr != nil {
			s.from = s.to
			return
		}
		if s.to-s.from == len(s.buf) && len(s.buf) >= maxRecord {
			s.from = s.to
		}
		s.err = s.fill()
		if s.err != nil {
			return
		}
	}
}

func (s *Scanner) syntax(line int64, column int, found, expected string) error {
	return &SyntaxError{File: s.name, Line: line, Column: column, Value: found, Expected: expected}
}

// unescape makes one quote of two in the fields that have some. The record is
// not scanned again after that.
func (s *Scanner) unescape() {
	for _, i := range s.escaped {
		t := s.fields[i].Text
		w := 0
		for r := 0; r < len(t); r++ {
			t[w] = t[r]
			w++
			if t[r] == '"' {
				r++
			}
		}
		s.fields[i].Text = t[:w:w]
	}
}

// count checks the number of fields and their lengths.
func (s *Scanner) count() error {
	if s.TrailingSeparator {
		last := &s.fields[len(s.fields)-1]
		if len(s.fields) < 2 || len(last.Text) > 0 || last.Quoted {
			return s.syntax(last.Line, last.Column, quote(last.Text), "a separator at the end of the line")
		}
		s.fields = s.fields[:len(s.fields)-1]
	}
	if s.Fields == 0 {
		s.Fields = len(s.fields)
	}
	if len(s.fields) != s.Fields {
		f := &s.fields[min(s.Fields, len(s.fields)-1)]
		return s.syntax(f.Line, f.Column, plural(len(s.fields), "field"), plural(s.Fields, "field"))
	}
	for i := range s.fields {
		if f := &s.fields[i]; len(f.Text) > encoding.MaxValueBytes {
			return s.syntax(f.Line, f.Column, plural(len(f.Text), "byte"), fmt.Sprintf("at most %d bytes in a field", encoding.MaxValueBytes))
		}
	}
	return nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
