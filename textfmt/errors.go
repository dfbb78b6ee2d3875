package textfmt

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// SyntaxError says that text is not what its place asks for.
type SyntaxError struct {
	File     string // the input's name
	Line     int64  // from 1
	Column   int    // byte of the line, from 1
	Field    string // the column's name, or ""
	Value    string // what was found, cut to a readable length
	Expected string // what the place asks for
	Hint     string // the option that would help, or ""
}

func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	b.WriteString(strconv.FormatInt(e.Line, 10))
	b.WriteByte(':')
	b.WriteString(strconv.Itoa(e.Column))
	b.WriteString(": ")
	if e.Field != "" {
		b.WriteString("column ")
		b.WriteString(strconv.Quote(e.Field))
		b.WriteString(": ")
	}
	b.WriteString("expected ")
	b.WriteString(e.Expected)
	b.WriteString(", found ")
	b.WriteString(e.Value)
	if e.Hint != "" {
		b.WriteString("; ")
		b.WriteString(e.Hint)
	}
	return b.String()
}

// quote makes a readable form of a value for an error.
func quote(b []byte) string {
	const most = 60
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "…"
	}
	return strconv.Quote(string(b))
}

// OrderError says that a row comes before one that it should follow.
type OrderError struct {
	File   string
	Line   int64  // of the row, from 1
	Column string // the column whose value goes back, or "partition key"
	Before string // its value in the row before
	Value  string // its value in the row
}

func (e *OrderError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	b.WriteString("line ")
	b.WriteString(strconv.FormatInt(e.Line, 10))
	b.WriteString(": ")
	if e.Column == partitionKey {
		b.WriteString(partitionKey)
	} else {
		b.WriteString(strconv.Quote(e.Column))
	}
	b.WriteString(" goes back from ")
	b.WriteString(e.Before)
	b.WriteString(" to ")
	b.WriteString(e.Value)
	b.WriteString("; give --sort")
	return b.String()
}

// SchemaError says that the columns of a text are not those of the schema that
// it is read with.
type SchemaError struct{ Reason string }

func (e *SchemaError) Error() string { return e.Reason }

const partitionKey = "partition key"

// FlagValue is name=value as a shell takes it for the value of a flag: in quotes
// where it needs them.
func FlagValue(name, value string) string {
	s := name + "=" + value
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r >= utf8.RuneSelf || strings.ContainsRune("_-.,:/+%@=", r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
