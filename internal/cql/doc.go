// Package cql reads schemas from CQL scripts: the statements CREATE TABLE,
// CREATE TYPE and ALTER TABLE ... DROP or ADD of what DESCRIBE prints or a
// snapshot holds. Other statements are passed over.
package cql

import (
	"fmt"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// Script is what a script creates.
type Script struct {
	Tables []*Table
	types  map[string]rowgroup.Type // user types by keyspace, a zero byte and name
}

// Table is a table that a script creates.
type Table struct {
	Keyspace, Name                            string // Keyspace "": the script does not say
	ID                                        string // 32 hexadecimal digits, of WITH ID, or ""
	PartitionKey, Clustering, Static, Regular []rowgroup.Column
	Compact                                   bool // WITH COMPACT STORAGE
	Dropped                                   []Dropped

	Line   int64 // where the word TABLE stands
	Column int
}

// Dropped is a column that ALTER TABLE has dropped.
type Dropped struct {
	rowgroup.Column
	Static bool
	At     int64 // µs, of USING TIMESTAMP, or 0
}

// Find is the table of that name; keyspace "" stands for any. ok is false where
// there is none, or more than one.
func (s *Script) Find(keyspace, name string) (t *Table, ok bool) {
	for _, x := range s.Tables {
		if x.Name == name && (keyspace == "" || x.Keyspace == "" || x.Keyspace == keyspace) {
			if t != nil {
				return nil, false
			}
			t = x
		}
	}
	return t, t != nil
}

// Parse reads a script. The file's name stands in errors, which are
// *SyntaxErrors or say what of a table does not fit together.
func Parse(text []byte, file string) (*Script, error) {
	p := &parser{file: file, text: text}
	p.script.types = map[string]rowgroup.Type{}
	if err := p.scan(); err != nil {
		return nil, err
	}
	for p.tokens[p.next].kind != 0 {
		var err error
		switch {
		case p.words("create", "table"), p.words("create", "columnfamily"):
			err = p.table()
		case p.words("create", "type"):
			err = p.userType()
		case p.words("alter", "table"):
			err = p.alter()
		case (p.next == 0 || p.tokens[p.next-1].kind == ';') && p.words("use"):
			p.keyspace, err = p.name()
		default:
			p.next++
		}
		if err != nil {
			return nil, err
		}
	}
	return &p.script, nil
}

// alter takes [ks.]name DROP column [USING TIMESTAMP n] or ADD column type.
// Other changes are passed over.
func (p *parser) alter() error {
	keyspace, name, err := p.qualified()
	if err != nil {
		return err
	}
	t, ok := p.script.Find(keyspace, name)
	switch {
	case !ok:
		return nil
	case p.words("drop"):
		if t0 := p.tokens[p.next]; t0.kind != 'w' && t0.kind != '"' || t0.text == "compact" {
			return nil
		}
		column, err := p.name()
		if err != nil {
			return err
		}
		at := int64(0)
		if p.words("using", "timestamp") {
			if _, err := fmt.Sscan(p.tokens[p.next].text, &at); err != nil {
				return p.expected("a number")
			}
		}
		for k, list := range []*[]rowgroup.Column{&t.Static, &t.Regular} {
			if i := slices.IndexFunc(*list, func(c rowgroup.Column) bool { return c.Name == column }); i >= 0 {
				t.Dropped = append(t.Dropped, Dropped{(*list)[i], k == 0, at})
				*list = slices.Delete(*list, i, i+1)
			}
		}
	case p.words("add"):
		c, _, err := p.column(keyspace)
		if err != nil {
			return err
		}
		list := &t.Regular
		if c.static {
			list = &t.Static
		}
		*list = append(*list, c.Column)
	}
	return nil
}

// qualified takes [keyspace.]name.
func (p *parser) qualified() (keyspace, name string, err error) {
	if name, err = p.name(); err != nil || !p.accept('.') {
		return p.keyspace, name, err
	}
	keyspace = name
	name, err = p.name()
	return keyspace, name, err
}
