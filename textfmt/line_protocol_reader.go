package textfmt

import (
	"fmt"
	"io"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// NewLineProtocolReader reads InfluxDB's line protocol:
//
//	measurement,tag=value,... field=1.5,other=3i,name="text",ok=true 1392388200000000000
//
// The column measurement and the tags in the order of their names are the
// partition key, unless the options say otherwise; a point without one of the
// tags has the empty text there, which no tag can have. Then come the time
// column, named time unless the options name one, and the fields: a float is a
// double, 3i a bigint, 3u a uint64, a string a text. Where the options give no
// schema, up to 64 Ki points or 16 MiB are read first to find tags and fields.
// A field of two types is an error, unless its type is given.
//
// The unit of the timestamps must be given with the time column, since lines do
// not tell it (InfluxDB's default is ns). A point without one is an error.
// Comments and blank lines are skipped. Strings may go on over lines.
func NewLineProtocolReader(r io.Reader, name string, o TableOptions) (*Reader, error) {
	if o.Time == nil {
		o.Time = &TimeSpec{Column: "time"}
	}
	f := &seriesFormat{name: name, options: &o, series: []byte("measurement"), time: []byte(o.Time.Column), parse: parseLineProtocol}
	if t, given := o.given(o.Time.Column); !given || t.Kind != rowgroup.KindTimestamp {
		return nil, fmt.Errorf("%s: line protocol does not tell the unit of its timestamps: give --time %s:ns (InfluxDB's default), :us, :ms or :s", name, o.Time.Column)
	}
	return f.newReader(r)
}

func parseLineProtocol(s *series) (lineState, error) {
	s.blanks()
	if s.at == len(s.data) || s.data[s.at] == '#' {
		return blankLine, nil
	}
	start := s.at
	name := s.escaped(" ,", ", ")
	if len(name) == 0 {
		return 0, s.expected("a measurement")
	}
	if err := s.set(s.format.series, name, tagKind, start); err != nil {
		return 0, err
	}
	for s.at < len(s.data) && s.data[s.at] == ',' {
		s.at++
		if err := s.tag(); err != nil {
			return 0, err
		}
	}
	if s.blanks() == 0 {
		return 0, s.expected("a space and fields")
	}
	for {
		if closed, err := s.field(); err != nil {
			return 0, err
		} else if !closed {
			return openLine, nil
		}
		if s.at == len(s.data) || s.data[s.at] != ',' {
			break
		}
		s.at++
	}
	s.blanks()
	start = s.at
	for s.at < len(s.data) && s.data[s.at] != ' ' && s.data[s.at] != '\t' {
		s.at++
	}
	text := s.data[start:s.at:s.at]
	if _, ok := parseInt(text); !ok {
		s.at = start
		return 0, s.expected("a timestamp")
	}
	if err := s.set(s.format.time, text, timeKind, start); err != nil {
		return 0, err
	}
	s.blanks()
	if s.at < len(s.data) {
		return 0, s.expected("the end of the line")
	}
	return pointLine, nil
}

// escaped reads a name up to one of the bytes of end. A backslash before one of
// the bytes of special is left out, any other is one.
func (s *series) escaped(end, special string) []byte {
	start, from := s.at, -1
	for ; s.at < len(s.data); s.at++ {
		c := s.data[s.at]
		if c == '\\' && s.at+1 < len(s.data) && strings.IndexByte(special, s.data[s.at+1]) >= 0 {
			if from < 0 {
				from = len(s.text)
				s.text = append(s.text, s.data[start:s.at]...)
			}
			s.at++
			c = s.data[s.at]
		} else if strings.IndexByte(end, c) >= 0 {
			break
		}
		if from >= 0 {
			s.text = append(s.text, c)
		}
	}
	if from >= 0 {
		return s.text[from:len(s.text):len(s.text)]
	}
	return s.data[start:s.at:s.at]
}

// equals reads the name of a tag or field and the = behind it.
func (s *series) equals(what string) (name []byte, err error) {
	name = s.escaped(",= ", ",= ")
	if len(name) == 0 {
		return nil, s.expected("the name of a " + what)
	}
	if s.at == len(s.data) || s.data[s.at] != '=' {
		return nil, s.expected("= and the value of the " + what)
	}
	s.at++
	return name, nil
}

func (s *series) tag() error {
	name, err := s.equals("tag")
	if err != nil {
		return err
	}
	start := s.at
	value := s.escaped(",= ", ",= ")
	if len(value) == 0 {
		return s.expected("the value of a tag")
	}
	if s.at < len(s.data) && s.data[s.at] == '=' {
		return s.expected("a comma or space behind a tag")
	}
	return s.set(name, value, tagKind, start)
}

// field reads a field; closed is false for a string that goes on, at which the
// cursor stays then.
func (s *series) field() (closed bool, err error) {
	name, err := s.equals("field")
	if err != nil {
		return true, err
	}
	start := s.at
	if s.at < len(s.data) && s.data[s.at] == '"' {
		value, closed := s.quoted("\"\\", "")
		if !closed {
			s.at = start
			return false, nil
		}
		if s.at < len(s.data) && s.data[s.at] != ',' && s.data[s.at] != ' ' && s.data[s.at] != '\t' {
			return true, s.expected("a comma or space behind a string")
		}
		return true, s.set(name, value, stringKind, start)
	}
	for s.at < len(s.data) && s.data[s.at] != ',' && s.data[s.at] != ' ' && s.data[s.at] != '\t' {
		s.at++
	}
	text := s.data[start:s.at:s.at]
	kind := floatKind
	switch string(text) {
	case "t", "T", "true", "True", "TRUE":
		return true, s.set(name, trueText, boolKind, start)
	case "f", "F", "false", "False", "FALSE":
		return true, s.set(name, falseText, boolKind, start)
	}
	if n := len(text) - 1; n > 0 {
		switch {
		case text[n] == 'i' && isInteger(text[:n]):
			kind, text = intKind, text[:n]
		case text[n] == 'u' && isInteger(text[:n]) && text[0] != '-':
			kind, text = uintKind, text[:n]
		}
	}
	if _, ok := parseNumber(text); !ok {
		s.at = start
		return true, s.expected("the value of a field: 1.5, 3i, 3u, true, false or a string in quotes")
	}
	return true, s.set(name, text, kind, start)
}

var trueText, falseText = []byte("true"), []byte("false")

// isInteger reports whether b is digits, or a minus and digits.
func isInteger(b []byte) bool {
	if b[0] == '-' {
		b = b[1:]
	}
	for _, c := range b {
		if c-'0' > 9 {
			return false
		}
	}
	return len(b) > 0
}

// quoted reads a string in quotes. A backslash before one of the bytes of
// special is left out, before n of newline it is a line end, any other is one.
func (s *series) quoted(special, newline string) (text []byte, closed bool) {
	s.at++
	start, from := s.at, -1
	for ; s.at < len(s.data); s.at++ {
		c := s.data[s.at]
		if c == '"' {
			s.at++
			if from >= 0 {
				return s.text[from:len(s.text):len(s.text)], true
			}
			return s.data[start : s.at-1 : s.at-1], true
		}
		if c == '\\' && s.at+1 < len(s.data) && (strings.IndexByte(special, s.data[s.at+1]) >= 0 || strings.IndexByte(newline, s.data[s.at+1]) >= 0) {
			if from < 0 {
				from = len(s.text)
				s.text = append(s.text, s.data[start:s.at]...)
			}
			s.at++
			if c = s.data[s.at]; newline != "" && c == newline[0] {
				c = '\n'
			}
		}
		if from >= 0 {
			s.text = append(s.text, c)
		}
	}
	return nil, false
}
