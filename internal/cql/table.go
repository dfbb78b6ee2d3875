package cql

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

func (p *parser) name() (string, error) {
	t := p.tokens[p.next]
	if t.kind != 'w' && t.kind != '"' {
		return "", p.expected("a name")
	}
	p.next++
	return t.text, nil
}

// column is a column as it is declared.
type column struct {
	rowgroup.Column
	static bool
}

// table takes what follows CREATE TABLE.
func (p *parser) table() error {
	t := &Table{}
	t.Line, t.Column = lineOf(p.text, p.tokens[p.next-1].at)
	p.words("if", "not", "exists")
	var err error
	if t.Keyspace, t.Name, err = p.qualified(); err != nil {
		return err
	}
	if !p.accept('(') {
		return p.expected("an opening parenthesis")
	}
	var columns []column
	var key, clustering []string
	keys := 0
	for more := true; more; {
		if p.words("primary", "key") {
			keys++
			if key, clustering, err = p.primaryKey(); err != nil {
				return err
			}
		} else {
			c, primary, err := p.column(t.Keyspace)
			if err != nil {
				return err
			}
			if primary {
				keys++
				key = []string{c.Name}
			}
			columns = append(columns, c)
		}
		more = p.accept(',') && p.tokens[p.next].kind != ')' // CQL allows a comma at the end
	}
	if keys != 1 {
		return p.expected("one PRIMARY KEY")
	}
	if !p.accept(')') {
		return p.expected("a comma or closing parenthesis")
	}
	desc, err := p.options(t)
	if err != nil {
		return err
	}
	if err := t.assign(p.file, columns, key, clustering, desc); err != nil {
		return err
	}
	p.script.Tables = append(p.script.Tables, t)
	return nil
}

// column takes name type [STATIC] [PRIMARY KEY].
func (p *parser) column(keyspace string) (c column, primary bool, err error) {
	if c.Name, err = p.name(); err != nil {
		return c, false, err
	}
	from, depth := p.next, 0
	for ; ; p.next++ {
		t := p.tokens[p.next]
		if t.kind == 0 || depth == 0 && (t.kind == ',' || t.kind == ')' || t.kind == ';' || p.next > from && t.kind == 'w' && (t.text == "static" || t.text == "primary")) {
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
	if c.Type, err = p.typ(keyspace, from); err != nil {
		return c, false, err
	}
	c.static = p.words("static")
	primary = p.words("primary", "key")
	return c, primary, nil
}

// primaryKey takes (a, b) or ((a, b), c).
func (p *parser) primaryKey() (key, clustering []string, err error) {
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
func (p *parser) names() (names []string, err error) {
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
func (p *parser) options(t *Table) (desc map[string]bool, err error) {
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
		if p.words("compact", "storage") {
			t.Compact = true
		}
		if p.words("id") && p.accept('=') {
			for ; p.tokens[p.next].kind == 'w' && p.tokens[p.next].text != "and" || p.tokens[p.next].kind == '-'; p.next++ {
				t.ID += strings.Trim(p.tokens[p.next].text, "-")
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
func (p *parser) order(desc map[string]bool) error {
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
func (t *Table) assign(file string, columns []column, key, clustering []string, desc map[string]bool) error {
	find := func(name string) (column, error) {
		i := slices.IndexFunc(columns, func(c column) bool { return c.Name == name })
		if i < 0 {
			return column{}, fmt.Errorf("%s: PRIMARY KEY: there is no column %q", file, name)
		}
		return columns[i], nil
	}
	for _, name := range key {
		c, err := find(name)
		if err != nil {
			return err
		}
		t.PartitionKey = append(t.PartitionKey, c.Column)
	}
	for _, name := range clustering {
		c, err := find(name)
		if err != nil {
			return err
		}
		c.Desc = desc[name]
		t.Clustering = append(t.Clustering, c.Column)
	}
	for _, name := range slices.Sorted(maps.Keys(desc)) {
		if !slices.Contains(clustering, name) {
			return fmt.Errorf("%s: CLUSTERING ORDER BY: %q is no clustering column", file, name)
		}
	}
	for _, c := range columns {
		switch {
		case slices.Contains(key, c.Name) || slices.Contains(clustering, c.Name):
		case c.static:
			t.Static = append(t.Static, c.Column)
		default:
			t.Regular = append(t.Regular, c.Column)
		}
	}
	return nil
}
