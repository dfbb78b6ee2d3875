package textfmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// ParseSchema reads a schema, as JSON if the text begins with a brace:
//
//	{"columns": [
//	   {"name": "host", "type": "text", "role": "partition_key"},
//	   {"name": "time", "type": "timestamp(ms)", "role": "clustering", "desc": true},
//	   {"name": "owner", "type": "text", "role": "static"},
//	   {"name": "value", "type": "double"}],
//	 "order": "bytes", "multiset": false}
//
// and else as the CREATE TABLE statement of a CQL script. In JSON a column
// without a role is regular, those of metadata and other members are not
// looked at, and order and multiset can be left out. In CQL names fold to lower
// case unless they stand in quotes, types are those of rowgroup.ParseType (a
// timestamp counts milliseconds, timestamp(us) is allowed too), the other
// options of a table are not looked at, and the table is no multiset. The
// name stands in errors, which are *SyntaxErrors or those of
// rowgroup.NewSchema.
func ParseSchema(text []byte, name string) (*rowgroup.Schema, error) {
	text = bytes.TrimPrefix(text, []byte(byteOrderMark))
	var d tableDefinition
	var err error
	if trimmed := bytes.TrimLeft(text, " \t\r\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		err = d.parseJSON(text, name)
	} else {
		err = d.parseCQL(text, name)
	}
	if err != nil {
		return nil, err
	}
	s, err := rowgroup.NewSchema(d.columns[rowgroup.PartitionKey], d.columns[rowgroup.Clustering], d.columns[rowgroup.Static],
		d.columns[rowgroup.Regular], d.options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// tableDefinition is what a text says of a table.
type tableDefinition struct {
	columns [rowgroup.Regular + 1][]rowgroup.Column // by role
	options []rowgroup.SchemaOption
}

// lineOf is the line and column of a byte of text.
func lineOf(text []byte, at int) (line int64, column int) {
	before := text[:min(max(at, 0), len(text))]
	return 1 + int64(bytes.Count(before, []byte{'\n'})), len(before) - bytes.LastIndexByte(before, '\n')
}

func (d *tableDefinition) parseJSON(text []byte, file string) error {
	var in struct {
		Columns []struct {
			Name, Type, Role string
			Desc             bool
		}
		Order    string
		Multiset bool
	}
	if err := json.Unmarshal(text, &in); err != nil {
		e := &SyntaxError{File: file, Expected: "a schema in JSON", Value: err.Error()}
		var syntax *json.SyntaxError
		var typ *json.UnmarshalTypeError
		switch {
		case errors.As(err, &syntax):
			e.Line, e.Column = lineOf(text, int(syntax.Offset)-1)
		case errors.As(err, &typ):
			e.Line, e.Column = lineOf(text, int(typ.Offset)-1)
		}
		return e
	}
	for _, c := range in.Columns {
		if c.Type == "" && strings.HasPrefix(c.Name, "$") {
			continue // the key of the partitions, in a description of a file
		}
		role := rowgroup.Regular
		for r := rowgroup.PartitionKey; r <= rowgroup.Regular; r++ {
			if c.Role == r.String() {
				role = r
			}
		}
		if c.Role != "" && c.Role != role.String() {
			if c.Role == "metadata" {
				continue
			}
			return fmt.Errorf("%s: column %q: role %q; expected partition_key, clustering, static or regular", file, c.Name, c.Role)
		}
		t, err := rowgroup.ParseType(c.Type)
		if err != nil {
			return fmt.Errorf("%s: column %q: %w", file, c.Name, err)
		}
		d.columns[role] = append(d.columns[role], rowgroup.Column{Name: c.Name, Type: t, Desc: c.Desc})
	}
	if in.Order != "" {
		d.options = append(d.options, rowgroup.WithOrder(in.Order))
	}
	if in.Multiset {
		d.options = append(d.options, rowgroup.WithMultiset())
	}
	return nil
}

// cqlToken is a word, a name in double quotes, a string in single quotes, or
// one other byte.
type cqlToken struct {
	text string // words in lower case, quotes left out
	kind byte   // 'w' for words and numbers, '"', '\'', the byte, or 0 at the end
	at   int    // where it begins
	end  int
}

// cqlParser reads a script by recursive descent.
type cqlParser struct {
	file   string
	text   []byte
	tokens []cqlToken
	next   int
}

func (d *tableDefinition) parseCQL(text []byte, file string) error {
	p := &cqlParser{file: file, text: text}
	if err := p.scan(); err != nil {
		return err
	}
	if !p.find() {
		return p.expected("CREATE TABLE")
	}
	if err := p.table(d); err != nil {
		return err
	}
	if p.find() {
		p.next--
		return p.expected("one table only")
	}
	return nil
}

// scan cuts the text into tokens, without comments.
func (p *cqlParser) scan() error {
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
		t := cqlToken{kind: c, text: string(c), at: i, end: i + 1}
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
	p.tokens = append(p.tokens, cqlToken{at: len(b), end: len(b)})
	return nil
}

func isWord(c byte) bool { return c == '_' || c|0x20-'a' < 26 || c-'0' < 10 || c >= 0x80 }

func (p *cqlParser) syntax(at int, expected, found string) error {
	e := &SyntaxError{File: p.file, Expected: expected, Value: found}
	e.Line, e.Column = lineOf(p.text, at)
	return e
}

// expected is an error at the next token.
func (p *cqlParser) expected(what string) error {
	t := p.tokens[p.next]
	found := "the end of the text"
	if t.kind != 0 {
		found = quote(p.text[t.at:t.end])
	}
	return p.syntax(t.at, what, found)
}

// words takes the words if they are next.
func (p *cqlParser) words(words ...string) bool {
	for i, w := range words {
		if t := p.tokens[min(p.next+i, len(p.tokens)-1)]; t.kind != 'w' || t.text != w {
			return false
		}
	}
	p.next += len(words)
	return true
}

// accept takes the byte c if it is next.
func (p *cqlParser) accept(c byte) bool {
	if p.tokens[p.next].kind == c {
		p.next++
		return true
	}
	return false
}

// find moves behind the next CREATE TABLE.
func (p *cqlParser) find() bool {
	for ; p.tokens[p.next].kind != 0; p.next++ {
		if p.words("create", "table") {
			return true
		}
	}
	return false
}

func (p *cqlParser) name() (string, error) {
	t := p.tokens[p.next]
	if t.kind != 'w' && t.kind != '"' {
		return "", p.expected("a name")
	}
	p.next++
	return t.text, nil
}

// cqlColumn is a column and where it is declared.
type cqlColumn struct {
	rowgroup.Column
	static bool
}

func (p *cqlParser) table(d *tableDefinition) error {
	p.words("if", "not", "exists")
	if _, err := p.name(); err != nil {
		return err
	}
	if p.accept('.') {
		if _, err := p.name(); err != nil {
			return err
		}
	}
	if !p.accept('(') {
		return p.expected("an opening parenthesis")
	}
	var columns []cqlColumn
	var key, clustering []string
	keys := 0
	for more := true; more; {
		if p.words("primary", "key") {
			keys++
			var err error
			if key, clustering, err = p.primaryKey(); err != nil {
				return err
			}
		} else {
			c, primary, err := p.column()
			if err != nil {
				return err
			}
			if primary {
				keys++
				key = []string{c.Name}
			}
			columns = append(columns, c)
		}
		more = p.accept(',')
	}
	if keys != 1 {
		return p.expected("one PRIMARY KEY")
	}
	if !p.accept(')') {
		return p.expected("a comma or closing parenthesis")
	}
	desc, err := p.options()
	if err != nil {
		return err
	}
	return d.assign(p.file, columns, key, clustering, desc)
}

// column takes name type [STATIC] [PRIMARY KEY].
func (p *cqlParser) column() (c cqlColumn, primary bool, err error) {
	if c.Name, err = p.name(); err != nil {
		return c, false, err
	}
	from, depth := p.next, 0
	for ; ; p.next++ {
		t := p.tokens[p.next]
		if t.kind == 0 || depth == 0 && (t.kind == ',' || t.kind == ')' || p.next > from && t.kind == 'w' && (t.text == "static" || t.text == "primary")) {
			break
		}
		switch t.kind {
		case '<', '(', '{':
			depth++
		case '>', ')', '}':
			depth--
		}
	}
	if p.next == from {
		return c, false, p.expected("a type")
	}
	if c.Type, err = rowgroup.ParseType(string(p.text[p.tokens[from].at:p.tokens[p.next-1].end])); err != nil {
		return c, false, p.syntax(p.tokens[from].at, "a type", strings.TrimPrefix(err.Error(), "rowgroup: "))
	}
	c.static = p.words("static")
	primary = p.words("primary", "key")
	return c, primary, nil
}

// primaryKey takes (a, b) or ((a, b), c).
func (p *cqlParser) primaryKey() (key, clustering []string, err error) {
	if !p.accept('(') {
		return nil, nil, p.expected("an opening parenthesis")
	}
	if p.accept('(') {
		if key, err = p.names(); err != nil {
			return nil, nil, err
		}
	} else {
		name, err := p.name()
		if err != nil {
			return nil, nil, err
		}
		key = []string{name}
	}
	if p.accept(',') {
		clustering, err = p.names()
		return key, clustering, err
	}
	if !p.accept(')') {
		return nil, nil, p.expected("a comma or closing parenthesis")
	}
	return key, nil, nil
}

// names takes a, b).
func (p *cqlParser) names() (names []string, err error) {
	for {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		if p.accept(')') {
			return names, nil
		}
		if !p.accept(',') {
			return nil, p.expected("a comma or closing parenthesis")
		}
	}
}

// options takes WITH ... up to the end of the statement, and the clustering
// order out of it.
func (p *cqlParser) options() (desc map[string]bool, err error) {
	desc = map[string]bool{}
	if !p.words("with") {
		if t := p.tokens[p.next]; t.kind != 0 && t.kind != ';' {
			return nil, p.expected("WITH or a semicolon")
		}
		return desc, nil
	}
	for {
		if p.words("clustering", "order", "by") {
			if err := p.order(desc); err != nil {
				return nil, err
			}
		}
		for t := p.tokens[p.next]; t.kind != 0 && t.kind != ';' && (t.kind != 'w' || t.text != "and"); t = p.tokens[p.next] {
			p.next++
		}
		if !p.words("and") {
			return desc, nil
		}
	}
}

// order takes (a [ASC|DESC], ...).
func (p *cqlParser) order(desc map[string]bool) error {
	if !p.accept('(') {
		return p.expected("an opening parenthesis")
	}
	for {
		name, err := p.name()
		if err != nil {
			return err
		}
		if desc[name] = p.words("desc"); !desc[name] {
			p.words("asc")
		}
		if p.accept(')') {
			return nil
		}
		if !p.accept(',') {
			return p.expected("a comma or closing parenthesis")
		}
	}
}

// assign gives the columns of a table their roles.
func (d *tableDefinition) assign(file string, columns []cqlColumn, key, clustering []string, desc map[string]bool) error {
	find := func(name string) (cqlColumn, error) {
		i := slices.IndexFunc(columns, func(c cqlColumn) bool { return c.Name == name })
		if i < 0 {
			return cqlColumn{}, fmt.Errorf("%s: PRIMARY KEY: there is no column %q", file, name)
		}
		return columns[i], nil
	}
	for _, name := range key {
		c, err := find(name)
		if err != nil {
			return err
		}
		d.columns[rowgroup.PartitionKey] = append(d.columns[rowgroup.PartitionKey], c.Column)
	}
	for _, name := range clustering {
		c, err := find(name)
		if err != nil {
			return err
		}
		c.Desc = desc[name]
		d.columns[rowgroup.Clustering] = append(d.columns[rowgroup.Clustering], c.Column)
	}
	for _, name := range sortedKeys(desc) {
		if !slices.Contains(clustering, name) {
			return fmt.Errorf("%s: CLUSTERING ORDER BY: %q is no clustering column", file, name)
		}
	}
	for _, c := range columns {
		role := rowgroup.Regular
		if c.static {
			role = rowgroup.Static
		}
		if !slices.Contains(key, c.Name) && !slices.Contains(clustering, c.Name) {
			d.columns[role] = append(d.columns[role], c.Column)
		}
	}
	return nil
}
