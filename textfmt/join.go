package textfmt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Join makes one column of several, in the place of the first of them: their
// texts with a space between them. It is null where one of them is. The columns
// joined are left out unless they are kept.
type Join struct {
	Name    string   // of the column made
	Columns []string // at least one
	Keep    bool     // leave the columns joined beside it
}

// ParseJoin reads name=a+b or, to keep the columns joined, name=a+b+.
func ParseJoin(s string) (Join, error) {
	name, list, ok := strings.Cut(s, "=")
	list, keep := strings.CutSuffix(list, "+")
	columns := strings.Split(list, "+")
	if !ok || name == "" || slices.Contains(columns, "") {
		return Join{}, fmt.Errorf("join %q: expected name=column+column", s)
	}
	return Join{name, columns, keep}, nil
}

// joiner makes the rows of a table of records, some of whose columns are
// joined. Nil leaves records as they are.
type joiner struct {
	parts  [][]int  // by column of the table: fields of the record
	null   []string // texts that are null
	fields []Field
	text   []byte
}

// newJoiner is for records of the named fields; columns are the names of the
// table's.
func newJoiner(joins []Join, names, null []string) (j *joiner, columns []string, err error) {
	if len(joins) == 0 {
		return nil, names, nil
	}
	j = &joiner{null: null}
	gone := map[string]bool{}
	at := map[int][]Join{}
	for _, join := range joins {
		if len(join.Columns) == 0 {
			return nil, nil, errors.New("a join of no columns")
		}
		for _, name := range join.Columns {
			if !slices.Contains(names, name) {
				return nil, nil, fmt.Errorf("--join: there is no column %q; there are %s", name, strings.Join(names, ", "))
			}
			gone[name] = gone[name] || !join.Keep
		}
		i := slices.Index(names, join.Columns[0])
		at[i] = append(at[i], join)
	}
	for i, name := range names {
		for _, join := range at[i] {
			var parts []int
			for _, c := range join.Columns {
				parts = append(parts, slices.Index(names, c))
			}
			columns, j.parts = append(columns, join.Name), append(j.parts, parts)
		}
		if !gone[name] {
			columns, j.parts = append(columns, name), append(j.parts, []int{i})
		}
	}
	for i, name := range columns {
		if slices.Index(columns, name) < i {
			return nil, nil, fmt.Errorf("--join: there are two columns %q", name)
		}
	}
	return j, columns, nil
}

// clone is a joiner with scratch of its own.
func (j *joiner) clone() *joiner {
	if j == nil {
		return nil
	}
	return &joiner{parts: j.parts, null: j.null}
}

// row is the table's row of a record, valid until the next call.
func (j *joiner) row(fields []Field) []Field {
	j.fields, j.text = j.fields[:0], j.text[:0]
	for _, parts := range j.parts {
		f := fields[parts[0]]
		if len(parts) > 1 {
			start := len(j.text)
			for i, p := range parts {
				if i > 0 {
					j.text = append(j.text, ' ')
				}
				g := &fields[p]
				j.text = append(j.text, g.Text...)
				f.Null = f.Null || isMark(j.null, g.Text)
			}
			f.Text = j.text[start:len(j.text):len(j.text)]
		}
		j.fields = append(j.fields, f)
	}
	return j.fields
}
