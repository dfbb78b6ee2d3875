package textfmt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/colsst/colsst/internal/cql"
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

func (d *tableDefinition) parseCQL(text []byte, file string) error {
	script, err := cql.Parse(text, file)
	var syntax *cql.SyntaxError
	if errors.As(err, &syntax) {
		return &SyntaxError{File: file, Line: syntax.Line, Column: syntax.Column, Expected: syntax.Expected, Value: syntax.Found}
	}
	switch {
	case err != nil:
		return err
	case len(script.Tables) == 0:
		e := &SyntaxError{File: file, Expected: "CREATE TABLE", Value: "the end of the text"}
		e.Line, e.Column = lineOf(text, len(text))
		return e
	case len(script.Tables) > 1:
		t := script.Tables[1]
		return &SyntaxError{File: file, Line: t.Line, Column: t.Column, Expected: "one table only", Value: quote([]byte("table"))}
	}
	t := script.Tables[0]
	d.columns = [...][]rowgroup.Column{t.PartitionKey, t.Clustering, t.Static, t.Regular}
	return nil
}
