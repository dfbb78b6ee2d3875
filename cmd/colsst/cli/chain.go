package cli

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/colsst/colsst/internal/rowdiff"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// source is an input as rows.
type source struct {
	in      *input
	schema  *rowgroup.Schema
	columns []string          // in the order of the text
	user    map[string][]byte // user data of a table file
	rows    rowgroup.Iter
	ended   func() // after the last row
}

// chain is the rows of several inputs, one after another. They must have one
// schema and, unless they will be sorted, follow one another.
type chain struct {
	open     func(i int) (*source, error) // of input i > 0
	n        int
	anyOrder bool
	at       int
	current  *source
	last     *rowgroup.Batch // the last row of the inputs before, if there was one
	key      []byte          // of its partition
	head     string          // of that, as headOf describes it
	begun    bool            // there was a partition
	edge     bool            // the next batch is the first of its input
	schema   *rowgroup.Schema
	name     string // of the first input
	inputs   []string
	border   [2]string // inputs of the last row before the last edge and of the first behind it
	lastFrom string    // input of last
}

func newChain(first *source, n int, anyOrder bool, open func(i int) (*source, error)) *chain {
	c := &chain{open: open, n: n, anyOrder: anyOrder, current: first, schema: first.schema, name: first.in.name, last: rowgroup.NewBatch(first.schema), inputs: []string{first.in.name}}
	c.last.Clear()
	return c
}

// Next fills b with rows of the input that is read, or the one after it.
func (c *chain) Next(b *rowgroup.Batch) (bool, error) {
	for {
		more, err := c.current.rows.Next(b)
		if err != nil {
			return false, named(c.current.in.name, err)
		}
		if more {
			return true, c.follow(b)
		}
		c.current.ended()
		if c.at+1 == c.n {
			return false, nil
		}
		if err := c.Close(); err != nil {
			return false, err
		}
		c.at++
		next, err := c.open(c.at)
		if err != nil {
			return false, err
		}
		c.current, c.edge = next, true
		c.inputs = append(c.inputs, next.in.name)
		if d := differ(c.name, c.schema, next.in.name, next.schema); d != "" {
			return false, &exitError{exitData, fmt.Errorf("%s: has another schema than the first input: %s", next.in.name, d)}
		}
	}
}

// differ says in what way the schemas of two files differ, or "".
func differ(nameA string, a *rowgroup.Schema, nameB string, b *rowgroup.Schema) string {
	if d := rowdiff.Schemas(rowdiff.Side{Name: nameA, Schema: a}, rowdiff.Side{Name: nameB, Schema: b}); len(d) > 0 {
		return d[0]
	}
	for i := range a.NumColumns() {
		if x, y := a.Column(i).Name, b.Column(i).Name; x != y {
			return fmt.Sprintf("column %d is %q, not %q", i+1, y, x)
		}
	}
	return ""
}

// follow joins a batch to the rows before it.
func (c *chain) follow(b *rowgroup.Batch) error {
	n, parts := b.Len(), b.NumPartitions()
	if parts == 0 {
		return nil
	}
	if c.edge && c.begun {
		c.border = [2]string{c.lastFrom, c.current.in.name}
		same := bytes.Equal(c.key, b.Key(0))
		from, to := c.schema.Range(rowgroup.Clustering)
		back := bytes.Compare(b.Key(0), c.key) < 0 || same && from < to && n > 0 && c.last.Len() > 0 &&
			c.schema.CompareUnfiltered(c.last, 0, b, 0) > 0
		if back && !c.anyOrder {
			return &exitError{exitData, errors.New(c.current.in.name + ": its first row comes before the last one of the input before it; give the inputs in the order of their rows, or --sort if they are text")}
		}
		if same {
			head, err := c.headOf(b, 0)
			if err != nil {
				return err
			}
			if head != c.head {
				return &exitError{exitData, fmt.Errorf("%s: its first partition is the last one of %s, but with another static row or deletion; a partition has one", c.current.in.name, c.lastFrom)}
			}
			b.Partition(0).Continued = true
		}
	}
	c.edge = false
	if c.at+1 == c.n {
		return nil // nothing follows
	}
	if !b.Partition(parts - 1).Continued {
		head, err := c.headOf(b, parts-1)
		if err != nil {
			return err
		}
		c.head = head
	}
	c.begun, c.lastFrom = true, c.current.in.name
	c.key = append(c.key[:0], b.Key(parts-1)...)
	c.last.Clear()
	if n == 0 {
		return nil
	}
	return c.last.AppendParts(b, n-1, n, 0, 0)
}

// headOf is all that partition p of b has beside its rows, as dump prints it.
func (c *chain) headOf(b *rowgroup.Batch, p int) (string, error) {
	var text strings.Builder
	head := rowgroup.NewBatch(c.schema)
	head.Clear()
	at := b.Partition(p).Start
	if err := head.AppendParts(b, at, at, p, p+1); err != nil {
		return "", err
	}
	w := textfmt.NewDumpWriter(&text, c.schema)
	w.Exact = true
	if err := w.Write(head); err != nil {
		return "", err
	}
	err := w.Flush()
	return text.String(), err
}

// sources names the inputs that two rows of one key are of, which no input has
// by itself: those on both sides of an edge; of sorted rows any.
func (c *chain) sources(sorted bool) string {
	const most = 5
	names := c.inputs
	if !sorted {
		names = c.border[:]
	}
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Close ends the input that is read.
func (c *chain) Close() error {
	err := c.current.rows.Close()
	c.current.in.close()
	return err
}
