package textfmt

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/colsst/colsst/rowgroup"
)

// DumpReader reads what a DumpWriter that is Exact writes, with everything that
// it says. It is an iterator of batches.
type DumpReader struct {
	in     *bufio.Reader
	name   string
	schema *rowgroup.Schema
	line   int64
	text   []byte
	b      *rowgroup.Batch // to fill
	row    int
	size   int    // bytes of the lines in b
	key    []byte // of the partition at hand
	begun  bool
	err    error
}

// NewDumpReader makes a reader of the dump of a table of schema s. name is
// that of the input in errors, which are SyntaxErrors where a line is not as a
// DumpWriter writes it. The order of rows is not checked.
func NewDumpReader(r io.Reader, name string, s *rowgroup.Schema) *DumpReader {
	return &DumpReader{in: bufio.NewReaderSize(r, 64<<10), name: name, schema: s}
}

// Schema is the schema of the rows.
func (d *DumpReader) Schema() *rowgroup.Schema { return d.schema }

// Close does nothing.
func (d *DumpReader) Close() error { return nil }

type (
	dumpLine struct {
		Type       string                     `json:"type"`
		Key        json.RawMessage            `json:"key"` // the bytes are in KeyHex
		KeyHex     *string                    `json:"key_hex"`
		Deletion   *dumpDeletion              `json:"deletion"`
		Static     *dumpStatic                `json:"static"`
		Clustering map[string]json.RawMessage `json:"clustering"`
		Liveness   *dumpLiveness              `json:"liveness"`
		Cells      map[string]dumpCell        `json:"cells"`
		Kind       string                     `json:"kind"`
		Close      *dumpDeletion              `json:"close"`
		Open       *dumpDeletion              `json:"open"`
		File       string                     `json:"file"`
	}
	dumpDeletion struct {
		MarkedForDeleteAt int64 `json:"marked_for_delete_at"`
		LocalDeletionTime int64 `json:"local_deletion_time"`
		Shadowable        bool  `json:"shadowable"`
	}
	dumpStatic struct {
		Liveness *dumpLiveness       `json:"liveness"`
		Deletion *dumpDeletion       `json:"deletion"`
		Cells    map[string]dumpCell `json:"cells"`
	}
	dumpLiveness struct {
		WriteTime int64  `json:"write_time"`
		TTL       *int32 `json:"ttl"`
		Expiry    int64  `json:"expiry"`
		Expired   bool   `json:"expired"`
	}
	dumpCell struct {
		Value             json.RawMessage `json:"value"`
		Deleted           bool            `json:"deleted"`
		Live              bool            `json:"live"`
		Expiring          bool            `json:"expiring"`
		WriteTime         *int64          `json:"write_time"`
		TTL               *int32          `json:"ttl"`
		Expiry            *int64          `json:"expiry"`
		LocalDeletionTime int64           `json:"local_deletion_time"`

		Path     json.RawMessage `json:"path"`     // of a cell of a multi-cell column
		Deletion *dumpDeletion   `json:"deletion"` // of a multi-cell column
		Cells    *[]dumpCell     `json:"cells"`    // of a multi-cell column
	}
)

// Next fills b with the next rows.
func (d *DumpReader) Next(b *rowgroup.Batch) (bool, error) {
	b.Clear()
	d.b, d.row, d.size = b, 0, 0
	if d.begun {
		d.begin(true)
		if err := d.cells(nil, rowgroup.Static, 0); err != nil {
			return false, err
		}
	}
	for d.err == nil && d.row < batchRows && d.size < batchBytes {
		var more bool
		if more, d.err = d.next(); d.err != nil || !more {
			if d.err == nil {
				d.err = io.EOF
			}
		}
	}
	b.SetLen(d.row)
	d.align()
	if d.err == nil || errors.Is(d.err, io.EOF) && d.size > 0 {
		return true, nil
	}
	b.Reset()
	if errors.Is(d.err, io.EOF) {
		return false, nil
	}
	return false, d.err
}

// next takes a line.
func (d *DumpReader) next() (more bool, err error) {
	d.text = d.text[:0]
	for {
		part, err := d.in.ReadSlice('\n')
		d.text = append(d.text, part...)
		switch {
		case err == nil:
		case errors.Is(err, bufio.ErrBufferFull):
			if len(d.text) > maxRecord {
				return false, d.fail("a shorter line", d.text)
			}
			continue
		case errors.Is(err, io.EOF) && len(d.text) > 0:
		case errors.Is(err, io.EOF):
			return false, nil
		default:
			return false, err
		}
		break
	}
	d.line++
	d.size += len(d.text)
	var l dumpLine
	dec := json.NewDecoder(bytes.NewReader(d.text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&l); err != nil {
		return false, d.fail("an object as dump writes it: "+err.Error(), d.text)
	}
	switch {
	case l.Type == "file" && !d.begun:
		return true, nil
	case l.Type == "partition" && l.KeyHex != nil:
		return true, d.partition(&l)
	case l.Type == "row" && d.begun:
		return true, d.rowLine(&l)
	case l.Type == "marker" && d.begun:
		return true, d.marker(&l)
	}
	return false, d.fail("a partition of one table, and then its rows and markers", d.text)
}

func (d *DumpReader) fail(expected string, found []byte) error {
	return &SyntaxError{File: d.name, Line: d.line, Column: 1, Expected: expected, Value: quote(found)}
}

// begin begins the partition at hand in the batch.
func (d *DumpReader) begin(continued bool) *rowgroup.PartitionHead {
	h := d.b.BeginPartition(d.key)
	h.Start, h.Continued = d.row, continued
	return h
}

// partition takes the head of a partition.
func (d *DumpReader) partition(l *dumpLine) (err error) {
	if d.key, err = hex.DecodeString(*l.KeyHex); err != nil {
		return d.fail("a key in hexadecimal", []byte(*l.KeyHex))
	}
	d.begun = true
	h := d.begin(false)
	if l.Deletion != nil {
		h.Deletion = l.Deletion.time()
	}
	p := d.b.NumPartitions() - 1
	if l.Static == nil {
		return d.cells(nil, rowgroup.Static, p)
	}
	if h.Static = rowgroup.StaticFull; l.Static.Liveness == nil && l.Static.Deletion == nil && l.Static.Cells == nil {
		h.Static = rowgroup.StaticEmpty
		return d.cells(nil, rowgroup.Static, p)
	}
	m := d.b.StaticMeta()
	l.Static.Liveness.add(m, p)
	if x := l.Static.Deletion; x != nil {
		m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: p, Deletion: x.time(), Shadowable: x.Shadowable})
	}
	return d.cells(l.Static.Cells, rowgroup.Static, p)
}

func (x *dumpDeletion) time() rowgroup.Deletion {
	return rowgroup.Deletion{MarkedForDeleteAt: x.MarkedForDeleteAt, LocalDeletionTime: x.LocalDeletionTime}
}

// add is the liveness of row i, or none.
func (x *dumpLiveness) add(m *rowgroup.RowMeta, i int) {
	state := rowgroup.LivenessLive
	switch {
	case x == nil:
		x, state = &dumpLiveness{}, rowgroup.LivenessNone
	case x.Expired:
		state = rowgroup.LivenessExpired
	case x.TTL != nil:
		state = rowgroup.LivenessExpiring
	}
	m.Liveness = append(extend(m.Liveness, i), state)
	m.WriteTimes = append(extend(m.WriteTimes, i), x.WriteTime)
	ttl := int32(0)
	if x.TTL != nil {
		ttl = *x.TTL
	}
	m.TTLs = append(extend(m.TTLs, i), ttl)
	m.Expiries = append(extend(m.Expiries, i), x.Expiry)
}

func (d *DumpReader) rowLine(l *dumpLine) error {
	from, to := d.schema.Range(rowgroup.Clustering)
	for col := from; col < to; col++ {
		name := d.schema.Column(col).Name
		raw, there := l.Clustering[name]
		if !there {
			return d.fail("a value of clustering column "+name, d.text)
		}
		if err := d.put(col, d.row, raw); err != nil {
			return err
		}
	}
	if len(l.Clustering) > to-from {
		return d.fail("the clustering columns of the schema", d.text)
	}
	m := d.b.Meta()
	l.Liveness.add(m, d.row)
	if x := l.Deletion; x != nil {
		m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: d.row, Deletion: x.time(), Shadowable: x.Shadowable})
	}
	if err := d.cells(l.Cells, rowgroup.Regular, d.row); err != nil {
		return err
	}
	d.row++
	return nil
}

func (d *DumpReader) marker(l *dumpLine) error {
	m := rowgroup.Marker{Row: d.row, Prefix: len(l.Clustering)}
	known := false
	for kind, name := range boundNames {
		if name == l.Kind {
			m.Kind, known = kind, true
		}
	}
	if !known || m.Kind.Closes() != (l.Close != nil) || m.Kind.Opens() != (l.Open != nil) {
		return d.fail("a kind of marker with its deletions", d.text)
	}
	if l.Close != nil {
		m.Close = l.Close.time()
	}
	if l.Open != nil {
		m.Open = l.Open.time()
	}
	from, to := d.schema.Range(rowgroup.Clustering)
	for col := from; col < to; col++ {
		raw, there := l.Clustering[d.schema.Column(col).Name]
		if there != (col-from < m.Prefix) {
			return d.fail("the first clustering columns", d.text)
		}
		if err := d.put(col, d.row, raw); err != nil {
			return err
		}
	}
	if err := d.cells(nil, rowgroup.Regular, d.row); err != nil {
		return err
	}
	*d.b.Markers() = append(*d.b.Markers(), m)
	d.row++
	return nil
}

// put appends the value of a clustering column; nil is none.
func (d *DumpReader) put(col, i int, raw json.RawMessage) error {
	there := raw != nil && string(raw) != "null"
	var v []byte
	var err error
	if there {
		if v, err = d.value(d.schema.Column(col).Name, d.schema.Column(col).Type, raw); err != nil {
			return err
		}
		if len(v) > 0 && rowgroup.Valid(d.schema.Column(col).Type, v) != nil {
			return d.fail("a value of clustering column "+d.schema.Column(col).Name, raw)
		}
	}
	return d.b.PutValue(col, i, v, there)
}

// cells appends the cells of all columns of a role as those of row (or
// partition) i.
func (d *DumpReader) cells(cells map[string]dumpCell, role rowgroup.Role, i int) error {
	from, to := d.schema.Range(role)
	known := 0
	for col := from; col < to; col++ {
		c, there := cells[d.schema.Column(col).Name]
		if m := d.b.MultiCells(col); m != nil {
			if there {
				known++
				if err := d.multiCells(m, &c, col, i); err != nil {
					return err
				}
			}
			continue
		}
		if !there {
			if err := d.b.PutValue(col, i, nil, false); err != nil {
				return err
			}
			continue
		}
		known++
		if err := d.cell(&c, col, i); err != nil {
			return err
		}
	}
	if known < len(cells) {
		return d.fail("cells of columns of the schema", d.text)
	}
	return nil
}

func (d *DumpReader) cell(c *dumpCell, col, i int) (err error) {
	var v []byte
	if c.Deleted != (c.Value == nil) || !c.consistent() || c.Path != nil || c.Cells != nil || c.Deletion != nil {
		return d.fail("a cell", d.text)
	}
	if !c.Deleted {
		if v, err = d.value(d.schema.Column(col).Name, d.schema.Column(col).Type, c.Value); err != nil {
			return err
		}
	}
	if err := d.b.PutValue(col, i, v, !c.Deleted); err != nil {
		return err
	}
	m := d.b.CellMeta(col)
	state := rowgroup.CellAsRow
	if c.Deleted {
		state = rowgroup.CellTombstone
	} else if len(m.Cells) > i {
		state = m.Cells[i]
	}
	switch {
	case c.Live:
		state |= rowgroup.CellLive
	case c.Expiring:
		state |= rowgroup.CellExpiring
	}
	if c.WriteTime != nil {
		state |= rowgroup.CellOwnTime
		m.WriteTimes = append(extend(m.WriteTimes, i), *c.WriteTime)
	}
	switch {
	case c.Deleted:
		m.Expiries = append(extend(m.Expiries, i), c.LocalDeletionTime)
	case c.TTL != nil:
		state |= rowgroup.CellOwnExpiry
		m.TTLs = append(extend(m.TTLs, i), *c.TTL)
		m.Expiries = append(extend(m.Expiries, i), *c.Expiry)
	}
	if state != rowgroup.CellAsRow {
		m.Cells = append(extend(m.Cells, i)[:i], state)
	}
	return nil
}

// consistent reports whether the members of a cell go together.
func (c *dumpCell) consistent() bool {
	return !(c.Live && (c.Expiring || c.Deleted) || c.Expiring && c.Deleted) && (c.TTL == nil) == (c.Expiry == nil)
}

// multiCells appends what row i has of multi-cell column col.
func (d *DumpReader) multiCells(m *rowgroup.MultiCells, c *dumpCell, col, i int) error {
	if c.Cells == nil {
		return d.fail("cells of a multi-cell column", d.text)
	}
	m.Begin(i)
	if c.Deletion != nil {
		m.Delete(c.Deletion.time())
	}
	for k := range *c.Cells {
		x := &(*c.Cells)[k]
		if x.Path == nil || !x.consistent() || x.Cells != nil || x.Deletion != nil ||
			x.Deleted && x.Value != nil || !x.Deleted && x.Value == nil && !m.IsSet() {
			return d.fail("a cell of a multi-cell column", d.text)
		}
		cell := rowgroup.MultiCell{State: rowgroup.CellAsRow}
		var err error
		name := d.schema.Column(col).Name
		if cell.Path, err = d.value(name, m.PathType(), x.Path); err != nil {
			return err
		}
		if x.Value != nil {
			if cell.Value, err = d.value(name, m.ValueType(cell.Path), x.Value); err != nil {
				return err
			}
		}
		switch {
		case x.Deleted:
			cell.State, cell.Expiry = rowgroup.CellTombstone, x.LocalDeletionTime
		case x.Live:
			cell.State = rowgroup.CellLive
		case x.Expiring:
			cell.State = rowgroup.CellExpiring
		}
		if x.WriteTime != nil {
			cell.State, cell.WriteTime = cell.State|rowgroup.CellOwnTime, *x.WriteTime
		}
		if x.TTL != nil && !x.Deleted {
			cell.State, cell.TTL, cell.Expiry = cell.State|rowgroup.CellOwnExpiry, *x.TTL, *x.Expiry
		}
		if err := m.Append(&cell); err != nil {
			return err
		}
	}
	return nil
}

// value is a JSON value of a column, of type t, serialised.
func (d *DumpReader) value(column string, t rowgroup.Type, raw json.RawMessage) ([]byte, error) {
	fail := func() ([]byte, error) {
		return nil, d.fail(fmt.Sprintf("a value of column %q, %s", column, t), raw)
	}
	switch raw[0] {
	case '{':
		var odd struct {
			Hex *string `json:"hex"`
			NaN *string `json:"nan"`
		}
		if err := json.Unmarshal(raw, &odd); err != nil || (odd.Hex == nil) == (odd.NaN == nil) {
			return fail()
		}
		text := odd.Hex
		if text == nil {
			text = odd.NaN
		}
		v, err := hex.DecodeString(*text)
		if err != nil {
			return fail()
		}
		if v == nil {
			v = []byte{}
		}
		return v, nil
	case '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return fail()
		}
		if isText(t) {
			return []byte(text), nil
		}
		raw = []byte(text)
	}
	v, err := rowgroup.ParseText([]byte{}, t, string(raw))
	if err != nil {
		return fail()
	}
	return v, nil
}

// align gives what has entries for some rows entries for all.
func (d *DumpReader) align() {
	meta := func(m *rowgroup.RowMeta, n int) {
		if len(m.Liveness) > 0 {
			m.Liveness, m.WriteTimes = extend(m.Liveness, n), extend(m.WriteTimes, n)
			m.TTLs, m.Expiries = extend(m.TTLs, n), extend(m.Expiries, n)
		}
	}
	parts := d.b.NumPartitions()
	meta(d.b.Meta(), d.row)
	meta(d.b.StaticMeta(), parts)
	from, _ := d.schema.Range(rowgroup.Clustering)
	for col := from; col < d.schema.NumColumns(); col++ {
		n := d.row
		if d.schema.Role(col) == rowgroup.Static {
			n = parts
		}
		if m := d.b.MultiCells(col); m != nil {
			m.Pad(n)
			continue
		}
		m := d.b.CellMeta(col)
		if len(m.Cells) > 0 {
			m.Cells = extend(m.Cells, n)
		}
		if len(m.WriteTimes) > 0 {
			m.WriteTimes = extend(m.WriteTimes, n)
		}
		if len(m.TTLs) > 0 {
			m.TTLs = extend(m.TTLs, n)
		}
		if len(m.Expiries) > 0 {
			m.Expiries = extend(m.Expiries, n)
		}
	}
}
