package cql

import (
	"strconv"
	"strings"

	"github.com/colsst/colsst/rowgroup"
)

// userType takes what follows CREATE TYPE: [ks.]name (field type, ...).
func (p *parser) userType() error {
	p.words("if", "not", "exists")
	keyspace, name, err := p.qualified()
	if err != nil {
		return err
	}
	t := rowgroup.Type{Kind: rowgroup.KindUDT, Keyspace: keyspace, Name: name}
	if !p.accept('(') {
		return p.expected("an opening parenthesis")
	}
	for {
		c, _, err := p.column(keyspace)
		if err != nil {
			return err
		}
		t.Fields = append(t.Fields, c.Name)
		t.Args = append(t.Args, c.Type)
		if p.accept(')') {
			break
		}
		if !p.accept(',') {
			return p.expected("a comma or closing parenthesis")
		}
	}
	p.script.types[keyspace+"\x00"+name] = t
	return nil
}

// typ is the type in the tokens from one to the next. Where the script has user
// types a name can be one of them; a string is a class.
func (p *parser) typ(keyspace string, from int) (t rowgroup.Type, err error) {
	end := p.next
	first := p.tokens[from]
	if len(p.script.types) == 0 && first.kind != '\'' {
		text := string(p.text[first.at:p.tokens[end-1].end])
		if t, err = rowgroup.ParseType(text); err != nil {
			err = p.syntax(first.at, "a type", strings.TrimPrefix(err.Error(), "rowgroup: "))
		}
		return t, err
	}
	p.next = from
	if t, err = p.nested(keyspace, 0); err == nil && p.next != end {
		err = p.expected("the end of the type")
	}
	p.next = max(p.next, end)
	return t, err
}

// constructors are the types that have others inside, with how many; -1: any.
var constructors = map[string]struct {
	kind rowgroup.Kind
	args int
}{
	"list": {rowgroup.KindList, 1}, "set": {rowgroup.KindSet, 1}, "map": {rowgroup.KindMap, 2},
	"frozen": {rowgroup.KindFrozen, 1}, "tuple": {rowgroup.KindTuple, -1}, "vector": {rowgroup.KindVector, 1},
}

const maxDepth = 64

func (p *parser) nested(keyspace string, depth int) (t rowgroup.Type, err error) {
	at := p.tokens[p.next]
	if depth > maxDepth {
		return t, p.expected("fewer types inside types")
	}
	if at.kind == '\'' {
		p.next++
		if t, err = rowgroup.ParseMarshal(at.text); err != nil {
			err = p.syntax(at.at, "a class", err.Error())
		}
		return t, err
	}
	name, err := p.name()
	if err != nil {
		return t, err
	}
	if x, ok := constructors[name]; ok && at.kind == 'w' && p.accept('<') {
		t.Kind = x.kind
		for {
			if t.Kind == rowgroup.KindVector && len(t.Args) == 1 {
				n, err := strconv.ParseInt(p.tokens[p.next].text, 10, 32)
				if err != nil || n < 1 {
					return t, p.expected("a length")
				}
				t.Length = int32(n)
				p.next++
			} else {
				arg, err := p.nested(keyspace, depth+1)
				if err != nil {
					return t, err
				}
				t.Args = append(t.Args, arg)
			}
			if p.accept('>') {
				break
			}
			if !p.accept(',') {
				return t, p.expected("a comma or >")
			}
		}
		if x.args >= 0 && len(t.Args) != x.args || t.Kind == rowgroup.KindVector && t.Length == 0 {
			return t, p.syntax(at.at, "a "+name+" of its arguments", quote(p.text[at.at:p.tokens[p.next-1].end]))
		}
		return t, nil
	}
	if p.accept('.') {
		keyspace = name
		if name, err = p.name(); err != nil {
			return t, err
		}
	}
	if t, ok := p.script.types[keyspace+"\x00"+name]; ok {
		return t, nil
	}
	end := p.tokens[p.next-1].end
	if at.kind == 'w' && p.accept('(') { // timestamp(us)
		for p.tokens[p.next].kind != 0 && !p.accept(')') {
			p.next++
		}
		end = p.tokens[p.next-1].end
	}
	if t, err = rowgroup.ParseType(string(p.text[at.at:end])); err != nil {
		err = p.syntax(at.at, "a type", strings.TrimPrefix(err.Error(), "rowgroup: "))
	}
	return t, err
}
