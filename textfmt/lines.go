package textfmt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// lines cuts a text at its line ends.
type lines struct {
	r          io.Reader
	name       string
	buf        []byte
	start, end int   // buf[start:end] is the line read last
	to         int   // buf[end:to] is not yet read
	number     int64 // of the line read last, its first one
	count      int64 // line ends read
	readErr    error // what ended the input
}

func newLines(r io.Reader, name string) *lines { return &lines{r: r, name: name} }

// withoutMark is r without a byte order mark at its start.
func withoutMark(r io.Reader) io.Reader {
	b := bufio.NewReader(r)
	// An error comes again when the text is read.
	if head, _ := b.Peek(len(byteOrderMark)); string(head) == byteOrderMark {
		_, _ = b.Discard(len(byteOrderMark))
	}
	return b
}

// partLines are the lines of a part of a text.
func partLines(part []byte, name string, line int64) *lines {
	return &lines{name: name, buf: part, to: len(part), count: line - 1, readErr: io.EOF}
}

// next is the next line with its end, valid until the next call, or io.EOF.
func (l *lines) next() ([]byte, error) {
	if l.buf == nil {
		l.buf = make([]byte, firstBuffer)
	}
	l.start, l.number = l.end, l.count+1
	return l.more()
}

// more is the line read last with the one behind it at its end, or io.EOF if
// there is none.
func (l *lines) more() ([]byte, error) {
	seen := l.end
	for {
		if n := bytes.IndexByte(l.buf[seen:l.to], '\n'); n >= 0 {
			l.end = seen + n + 1
			l.count++
			return l.buf[l.start:l.end], nil
		}
		if l.readErr != nil {
			if l.end == l.to {
				return nil, io.EOF
			}
			l.end = l.to
			return l.buf[l.start:l.end], nil
		}
		unread := l.to - l.start
		if err := l.fill(); err != nil {
			return nil, err
		}
		seen = l.start + unread
	}
}

// rewind makes the line read last its first one alone.
func (l *lines) rewind() {
	if n := bytes.IndexByte(l.buf[l.start:l.to], '\n'); n >= 0 {
		l.end, l.count = l.start+n+1, l.number
	}
}

// skip moves behind the line that is an error, which it is already.
func (l *lines) skip() {}

// fill reads more, at least a byte or the end, and moves the line to the front
// of the buffer.
func (l *lines) fill() error {
	copy(l.buf, l.buf[l.start:l.to])
	l.end, l.to, l.start = l.end-l.start, l.to-l.start, 0
	if l.to == len(l.buf) {
		if len(l.buf) >= maxRecord {
			l.end = l.to // to go on behind it
			return &SyntaxError{File: l.name, Line: l.number, Column: 1, Value: fmt.Sprintf("a line of more than %d bytes", maxRecord),
				Expected: "the end of the line"}
		}
		l.buf = append(make([]byte, 0, 2*len(l.buf)), l.buf...)
		l.buf = l.buf[:cap(l.buf)]
	}
	read, err := readFull(l.r, l.buf[:l.to:len(l.buf)], len(l.buf))
	l.to = len(read)
	if l.readErr = err; err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: %w", l.name, err)
	}
	return nil
}

// lineCut is the length of the lines of data that end.
func lineCut(data []byte) int { return bytes.LastIndexByte(data, '\n') + 1 }

// trimEnd is line without its end.
func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}
