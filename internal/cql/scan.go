package cql

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// SyntaxError says that a script is not what its place asks for.
type SyntaxError struct {
	File     string
	Line     int64 // from 1
	Column   int   // byte of the line, from 1
	Expected string
	Found    string // cut to a readable length
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d:%d: expected %s, found %s", e.File, e.Line, e.Column, e.Expected, e.Found)
}

// lineOf is the line and column of a byte of text.
func lineOf(text []byte, at int) (line int64, column int) {
	before := text[:min(max(at, 0), len(text))]
	return 1 + int64(bytes.Count(before, []byte{'\n'})), len(before) - bytes.LastIndexByte(before, '\n')
}

// quote makes a readable form of a token.
func quote(b []byte) string {
	const most = 60
	if len(b) > most {
		return strconv.Quote(string(b[:most])) + "…"
	}
	return strconv.Quote(string(b))
}

// token is a word, a name in double quotes, a string in single quotes, or
// one other byte.
type token struct {
	text string // words in lower case, quotes left out
	kind byte   // 'w' for words and numbers, '"', '\'', the byte, or 0 at the end
	at   int    // where it begins
	end  int
}

// parser reads a script by recursive descent.
type parser struct {
	file     string
	text     []byte
	tokens   []token
	next     int
	script   Script
	keyspace string // of USE
}

// scan cuts the text into tokens, without comments.
func (p *parser) scan() error {
	b := p.text
	for i := 0; i < len(b); {
		c := b[i]
		rest := b[i:]
		skip := 0
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			i++
			continue
		case bytes.HasPrefix(rest, []byte("--")), bytes.HasPrefix(rest, []byte("//")):
			if skip = bytes.IndexByte(rest, '\n'); skip < 0 {
				skip = len(rest)
			}
		case bytes.HasPrefix(rest, []byte("/*")):
			if skip = bytes.Index(rest, []byte("*/")) + 2; skip < 4 {
				return p.syntax(i, "a comment that ends", "the end of the text")
			}
		}
		if skip > 0 {
			i += skip
			continue
		}
		t := token{kind: c, text: string(c), at: i, end: i + 1}
		switch {
		case c == '"' || c == '\'':
			var text []byte
			j := i + 1
			for ; ; j++ {
				if j == len(b) {
					return p.syntax(i, "a quote that closes the one here", "the end of the text")
				}
				if b[j] == c {
					if j+1 == len(b) || b[j+1] != c {
						break
					}
					j++
				}
				text = append(text, b[j])
			}
			t.text, t.end = string(text), j+1
		case isWord(c):
			j := i
			for j < len(b) && isWord(b[j]) {
				j++
			}
			t.kind, t.text, t.end = 'w', strings.ToLower(string(b[i:j])), j
		}
		p.tokens = append(p.tokens, t)
		i = t.end
	}
	p.tokens = append(p.tokens, token{at: len(b), end: len(b)})
	return nil
}

func isWord(c byte) bool { return c == '_' || c|0x20-'a' < 26 || c-'0' < 10 || c >= 0x80 }

func (p *parser) syntax(at int, expected, found string) error {
	e := &SyntaxError{File: p.file, Expected: expected, Found: found}
	e.Line, e.Column = lineOf(p.text, at)
	return e
}

// expected is an error at the next token.
func (p *parser) expected(what string) error {
	t := p.tokens[p.next]
	found := "the end of the text"
	if t.kind != 0 {
		found = quote(p.text[t.at:t.end])
	}
	return p.syntax(t.at, what, found)
}

// words takes the words if they are next.
func (p *parser) words(words ...string) bool {
	for i, w := range words {
		if t := p.tokens[min(p.next+i, len(p.tokens)-1)]; t.kind != 'w' || t.text != w {
			return false
		}
	}
	p.next += len(words)
	return true
}

// accept takes the byte c if it is next.
func (p *parser) accept(c byte) bool {
	if p.tokens[p.next].kind == c {
		p.next++
		return true
	}
	return false
}
