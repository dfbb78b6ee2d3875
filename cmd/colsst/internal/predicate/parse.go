// Package predicate holds conditions on the values of rows, as in
//
//	load > 0.5 and (host = 'web1' or note is not null)
//
// and evaluates them on batches, column by column.
//
//	condition  = term { "or" term }
//	term       = factor { "and" factor }
//	factor     = "not" factor | "(" condition ")" | comparison
//	comparison = column ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
//	           | column [ "not" ] "in" "(" value { "," value } ")"
//	           | column "is" [ "not" ] "null"
//
// "==" is "=", and "<>" is "!=". A column is a word, or any name in double
// quotes; a value is a word, or any text in quotes, two of which stand for one
// of them. Values are read by the column's type.
//
// A comparison with a null is unknown, as in SQL: not, and and or carry that
// on, and a row is chosen only where the whole is true. Numbers compare by
// value, so that -0 equals 0; a NaN is neither less nor greater than any
// number, is equal to NaN alone and is no null.
package predicate

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Expr is a condition that is not yet about a table.
type Expr struct {
	root    expr
	columns []string
}

// Columns are the names of the columns that the condition looks at, each once.
func (e *Expr) Columns() []string { return e.columns }

// expr is a condition as it was parsed: andExpr, orExpr, notExpr, compareExpr
// or nullExpr.
type expr interface{}

type (
	andExpr     struct{ a, b expr }
	orExpr      struct{ a, b expr }
	notExpr     struct{ a expr }
	compareExpr struct {
		column string
		op     op
		value  string
	}
	nullExpr struct{ column string }
)

// op is a comparison.
type op uint8

const (
	equal op = iota
	notEqual
	less
	lessOrEqual
	greater
	greaterOrEqual
	never  // of values
	always // of values
)

var operators = map[string]op{
	"=": equal, "==": equal, "!=": notEqual, "<>": notEqual,
	"<": less, "<=": lessOrEqual, ">": greater, ">=": greaterOrEqual,
}

// token is a piece of a condition.
type token struct {
	kind byte // 'w' word, '\'' or '"' quoted, '=' operator, else itself; 0 at the end
	text string
	at   int // characters before it
}

func (t *token) String() string {
	if t.kind == 0 {
		return "the end"
	}
	return fmt.Sprintf("%q", t.text)
}

// is reports whether t is this word, in any case.
func (t *token) is(word string) bool { return t.kind == 'w' && strings.EqualFold(t.text, word) }

// special are the characters that end a word.
const special = " \t\r\n()=<>!,'\""

func tokenize(s string) ([]token, error) {
	var tokens []token
	whole := s
	for {
		s = strings.TrimLeft(s, " \t\r\n")
		t := token{at: utf8.RuneCountInString(whole[:len(whole)-len(s)])}
		if s == "" {
			return append(tokens, t), nil
		}
		n := 1
		switch c := s[0]; c {
		case '(', ')', ',':
			t.kind, t.text = c, s[:1]
		case '=', '<', '>', '!':
			if len(s) > 1 {
				if _, two := operators[s[:2]]; two {
					n = 2
				}
			}
			t.kind, t.text = '=', s[:n]
			if _, ok := operators[t.text]; !ok {
				return nil, fmt.Errorf("at character %d: expected =, !=, <, <=, > or >=, found %q", t.at+1, t.text)
			}
		case '\'', '"':
			t.kind = c
			for n < len(s) {
				if s[n] == c {
					if n+1 == len(s) || s[n+1] != c {
						break
					}
					n++
				}
				n++
			}
			if n == len(s) {
				return nil, fmt.Errorf("at character %d: a quote without its end", t.at+1)
			}
			t.text = strings.ReplaceAll(s[1:n], string(c)+string(c), string(c))
			n++
		default:
			if n = strings.IndexAny(s, special); n < 0 {
				n = len(s)
			}
			t.kind, t.text = 'w', s[:n]
		}
		tokens = append(tokens, t)
		s = s[n:]
	}
}

// maxDepth is how deep conditions may be nested.
const maxDepth = 100

type parser struct {
	tokens  []token
	depth   int
	columns []string
}

// Parse reads a condition. Errors say at which character they are.
func Parse(text string) (*Expr, error) {
	tokens, err := tokenize(text)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens}
	root, err := p.condition()
	if err != nil {
		return nil, err
	}
	if t := p.next(); t.kind != 0 {
		return nil, expected("and, or or the end", t)
	}
	return &Expr{root, p.columns}, nil
}

func expected(what string, t *token) error {
	return fmt.Errorf("at character %d: expected %s, found %s", t.at+1, what, t)
}

func (p *parser) peek() *token { return &p.tokens[0] }

func (p *parser) next() *token {
	t := &p.tokens[0]
	if t.kind != 0 {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept takes the next token if it is this word.
func (p *parser) accept(word string) bool {
	if !p.peek().is(word) {
		return false
	}
	p.next()
	return true
}

func (p *parser) condition() (expr, error) {
	a, err := p.term()
	for err == nil && p.accept("or") {
		var b expr
		b, err = p.term()
		a = orExpr{a, b}
	}
	return a, err
}

func (p *parser) term() (expr, error) {
	a, err := p.factor()
	for err == nil && p.accept("and") {
		var b expr
		b, err = p.factor()
		a = andExpr{a, b}
	}
	return a, err
}

func (p *parser) factor() (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("at character %d: nested deeper than %d", p.peek().at+1, maxDepth)
	}
	defer func() { p.depth-- }()
	if p.peek().kind == '(' {
		p.next()
		a, err := p.condition()
		if err != nil {
			return nil, err
		}
		if t := p.next(); t.kind != ')' {
			return nil, expected("and, or or )", t)
		}
		return a, nil
	}
	if p.accept("not") {
		a, err := p.factor()
		return notExpr{a}, err
	}
	return p.comparison()
}

func (p *parser) comparison() (expr, error) {
	t := p.next()
	if t.kind != 'w' && t.kind != '"' {
		return nil, expected("a column", t)
	}
	column := t.text
	p.look(column)
	t = p.next()
	switch {
	case t.kind == '=':
		v, err := p.value()
		return compareExpr{column, operators[t.text], v}, err
	case t.is("is"):
		negated := p.accept("not")
		if t := p.next(); !t.is("null") {
			return nil, expected("null", t)
		}
		if negated {
			return notExpr{nullExpr{column}}, nil
		}
		return nullExpr{column}, nil
	case t.is("in"):
		return p.list(column)
	case t.is("not") && p.accept("in"):
		a, err := p.list(column)
		return notExpr{a}, err
	}
	return nil, expected("=, !=, <, <=, >, >=, in or is", t)
}

// look notes that a column is looked at.
func (p *parser) look(column string) {
	for _, c := range p.columns {
		if c == column {
			return
		}
	}
	p.columns = append(p.columns, column)
}

func (p *parser) value() (string, error) {
	t := p.next()
	switch {
	case t.kind != 'w' && t.kind != '\'' && t.kind != '"':
		return "", expected("a value", t)
	case t.is("null"):
		return "", fmt.Errorf("at character %d: nothing compares with null: write is null or is not null", t.at+1)
	}
	return t.text, nil
}

// list reads ( value, ... ): one of them.
func (p *parser) list(column string) (a expr, err error) {
	if t := p.next(); t.kind != '(' {
		return nil, expected("(", t)
	}
	for {
		v, err := p.value()
		if err != nil {
			return nil, err
		}
		var b expr = compareExpr{column, equal, v}
		if a != nil {
			b = orExpr{a, b}
		}
		a = b
		switch t := p.next(); t.kind {
		case ')':
			return a, nil
		case ',':
		default:
			return nil, expected(", or )", t)
		}
	}
}
