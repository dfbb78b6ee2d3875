package textfmt

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

const (
	batchRows  = 4096
	batchBytes = 4 << 20 // of texts, after which a batch ends early
)

// builder puts the cells of rows into batches.
type builder struct {
	*table
	zone     wallZone
	order    bool // rows must be in order
	distinct bool // and have keys of their own

	batch     *rowgroup.Batch
	row       int // rows in batch
	bytes     int // of texts in batch
	rows      int64
	firstLine int64 // of the batch's first row
	lastLine  int64 // of the row before, 0 where it is not known
	keyTypes  []rowgroup.Type
	keyParts  [][]byte // components of the row's key, in scratch
	key, last []byte   // the row's key and that of the row before
	lastRow   *rowgroup.Batch
	scratch   []byte

	writeTime, ttl, expiry int64
	hasTTL, hasExpiry      bool
	metadata               bool // some column holds metadata
	expires                bool

	keyColumns []int // of the text
	clustering struct {
		at, direction int // of the only column, if its integers have the order of rows; else 0
		class         rowgroup.Class
	}

	inexact bool    // the last value was rounded
	tallies tallies // of the rows so far
}

func newBuilder(t *table, o *TableOptions) *builder {
	b := &builder{
		table: t, zone: o.zone(), order: !o.AnyOrder, distinct: o.NoDuplicates,
		keyTypes: t.schema.KeyTypes(), keyParts: make([][]byte, len(t.schema.KeyTypes())),
		lastRow:  rowgroup.NewBatch(t.schema),
		metadata: o.WriteTime != "", expires: o.TTL != "",
	}
	for i := range t.columns {
		if t.columns[i].to == toKey {
			b.keyColumns = append(b.keyColumns, i)
		}
	}
	if from, to := t.schema.Range(rowgroup.Clustering); to == from+1 {
		c := t.schema.Column(from)
		b.clustering.at, b.clustering.class = from, c.Type.Physical().Class()
		switch b.clustering.class {
		case rowgroup.ClassInt32:
			b.clustering.direction = rowgroup.CompareInt32(c.Type, 1, 0)
		case rowgroup.ClassInt64:
			if up := rowgroup.CompareInt64(c.Type, 1, 0); up != rowgroup.CompareInt64(c.Type, -1, 0) {
				b.clustering.direction = up
			}
		}
		if c.Desc {
			b.clustering.direction *= -1
		}
	}
	return b
}

// job is a builder of the same table for another goroutine.
func (b *builder) job() *builder {
	c := *b
	c.keyParts, c.lastRow = make([][]byte, len(b.keyTypes)), rowgroup.NewBatch(b.schema)
	c.batch, c.key, c.last, c.scratch, c.tallies = nil, nil, nil, nil, tallies{}
	return &c
}

// restart forgets the rows before.
func (b *builder) restart() { b.rows, b.lastLine = 0, 0 }

// begin starts a batch.
func (b *builder) begin(batch *rowgroup.Batch) {
	batch.Reset()
	if len(b.keyTypes) == 0 && b.rows > 0 {
		batch.Partition(0).Continued = true
	}
	b.batch, b.row, b.bytes = batch, 0, 0
}

// full reports whether the batch should end.
func (b *builder) full() bool { return b.row >= batchRows || b.bytes >= batchBytes }

// problem says what is wrong with a cell: what its place expects and what
// would help.
type problem struct{ expected, hint string }

// beginRow forgets the row before.
func (b *builder) beginRow() {
	b.scratch = b.scratch[:0]
	b.writeTime, b.ttl, b.expiry, b.hasTTL, b.hasExpiry = 0, 0, 0, false, false
}

// null takes a cell of column c that is null.
func (b *builder) null(c *column) *problem {
	if c.required && !c.spared {
		if c.to == toWriteTime {
			return &problem{expected: "a write time: every row has one"}
		}
		return &problem{expected: "a value: it is in the key of its row"}
	}
	if c.to != toValue {
		return nil
	}
	switch c.class {
	case rowgroup.ClassInt32:
		s := b.batch.Int32s(c.at)
		*s = append(*s, 0)
	case rowgroup.ClassInt64:
		s := b.batch.Int64s(c.at)
		*s = append(*s, 0)
	case rowgroup.ClassFloat32:
		s := b.batch.Float32s(c.at)
		*s = append(*s, 0)
	case rowgroup.ClassFloat64:
		s := b.batch.Float64s(c.at)
		*s = append(*s, 0)
	case rowgroup.ClassBytes:
		if err := b.batch.Bytes(c.at).Append(nil); err != nil {
			return &problem{expected: err.Error()}
		}
	}
	b.state(c, rowgroup.CellAbsent)
	return nil
}

// state sets the state of the row's cell.
func (b *builder) state(c *column, s rowgroup.Cell) {
	cells := &b.batch.CellMeta(c.at).Cells
	*cells = append(extend(*cells, b.row), s)
}

// extend makes s n long with zeros.
func extend[T any](s []T, n int) []T {
	var zero T
	for len(s) < n {
		s = append(s, zero)
	}
	return s
}

// value takes a cell of column c with this text.
func (b *builder) value(c *column, text []byte) *problem {
	switch c.class {
	case rowgroup.ClassInt32, rowgroup.ClassInt64:
		v, p := b.integer(c, text)
		if p != nil {
			return p
		}
		return b.putInt(c, v)
	case rowgroup.ClassFloat32:
		v, ok := parseFloat32(text)
		if !ok {
			return c.misfit(text)
		}
		b.inexact = b.inexact || rounded(text, float64(v), 6, 32)
		if c.to == toKey {
			b.component(c, rowgroup.AppendFloat32(b.scratch, v))
			return nil
		}
		s := b.batch.Float32s(c.at)
		*s = append(*s, v)
	case rowgroup.ClassFloat64:
		v, ok := parseFloat64(text)
		if !ok {
			return c.misfit(text)
		}
		b.inexact = b.inexact || rounded(text, v, 15, 64)
		if c.to == toKey {
			b.component(c, rowgroup.AppendFloat64(b.scratch, v))
			return nil
		}
		s := b.batch.Float64s(c.at)
		*s = append(*s, v)
	default:
		return b.putBytes(c, text)
	}
	return nil
}

// component keeps a component of the key, which was appended to b.scratch.
func (b *builder) component(c *column, scratch []byte) {
	b.keyParts[c.at] = scratch[len(b.scratch):len(scratch):len(scratch)]
	b.scratch = scratch
}

func (b *builder) putInt(c *column, v int64) *problem {
	switch c.to {
	case toKey:
		b.component(c, rowgroup.AppendInt(b.scratch, c.typ, v))
	case toWriteTime:
		b.writeTime = v
	case toTTL:
		if v < 0 {
			return &problem{expected: "a TTL of 0 or more seconds"}
		}
		b.ttl, b.hasTTL = v, v > 0
	case toExpiry:
		b.expiry, b.hasExpiry = v, true
	default:
		if c.class == rowgroup.ClassInt32 {
			s := b.batch.Int32s(c.at)
			*s = append(*s, int32(v))
		} else {
			s := b.batch.Int64s(c.at)
			*s = append(*s, v)
		}
	}
	return nil
}

// ranges are the values of the kinds whose texts are those of integers alone.
var ranges = map[rowgroup.Kind][2]int64{
	rowgroup.KindTinyint:  {math.MinInt8, math.MaxInt8},
	rowgroup.KindSmallint: {math.MinInt16, math.MaxInt16},
	rowgroup.KindInt:      {math.MinInt32, math.MaxInt32},
	rowgroup.KindBigint:   {math.MinInt64, math.MaxInt64},
	rowgroup.KindUint8:    {0, math.MaxUint8},
	rowgroup.KindUint16:   {0, math.MaxUint16},
	rowgroup.KindUint32:   {0, math.MaxUint32},
}

// integer reads a text of a type whose values are integers in memory.
func (b *builder) integer(c *column, text []byte) (int64, *problem) {
	if c.plain {
		if v, ok := parseInt(text); ok && c.least <= v && v <= c.most {
			return v, nil
		}
	}
	switch c.typ.Kind {
	case rowgroup.KindBoolean:
		if foldEqual(text, "true") {
			return 1, nil
		}
		if foldEqual(text, "false") {
			return 0, nil
		}
		return 0, c.misfit(text)
	case rowgroup.KindTimestamp:
		return b.timestamp(c, text)
	case rowgroup.KindNumeric:
		if n, ok := parsePlain(text); ok {
			if v, ok := n.units(&c.typ); ok {
				return v, nil
			}
		}
	case rowgroup.KindDate:
		if t, ok := parseInstant(text); ok && t.day {
			return t.sec / 86400, nil
		}
	}
	if _, ok := ranges[c.typ.Kind]; ok {
		return 0, c.misfit(text)
	}
	buf, err := rowgroup.ParseText(nil, c.typ, string(text))
	if err != nil {
		return 0, c.misfit(text)
	}
	v, ok := rowgroup.IntOf(c.typ, buf)
	if !ok {
		return 0, c.misfit(text)
	}
	return v, nil
}

func (b *builder) timestamp(c *column, text []byte) (int64, *problem) {
	unit := c.typ.Unit
	t, ok := c.layout.parse(text)
	if !ok && c.layout != nil {
		return 0, &problem{expected: "a time like " + c.layout.String()}
	}
	if !ok {
		v, ok := parseInt(text)
		switch {
		case !ok:
			return 0, c.misfit(text)
		case !c.units:
			return 0, &problem{c.typ.String() + " in text", "for numbers give their unit, as in --type " + FlagValue(c.name, c.typ.String())}
		}
		return v, nil
	}
	if !t.local(b.zone) {
		return 0, &problem{"a time that exists in " + b.zone.loc.String(), "a change of clocks skips it: give --tz UTC if the times are UTC, --shift-skipped to count on from the hour before, or mend the line"}
	}
	v, exact, fits := t.in(unit)
	if !exact {
		return 0, &problem{fmt.Sprintf("%s, which has %d digits of a second", c.typ, 3*unit),
			"give --type " + FlagValue(c.name, rowgroup.Timestamp(unitOf(t.digits)).String())}
	}
	if !fits {
		return 0, &problem{c.typ.String() + ", which reaches from 1677 to 2262",
			"give --type " + FlagValue(c.name, rowgroup.Timestamp(rowgroup.Micros).String())}
	}
	return v, nil
}

// putBytes takes a value that is bytes in memory.
func (b *builder) putBytes(c *column, text []byte) *problem {
	b.bytes += len(text)
	if c.typ.Kind == rowgroup.KindText {
		// Bytes that are no UTF-8 are kept, in the exceptions of their column
		// where it has some.
		if c.to == toValue && !c.required && !utf8.Valid(text) {
			meta := b.batch.CellMeta(c.at)
			meta.Exceptions = append(meta.Exceptions, rowgroup.Exception{Row: b.row, Value: bytes.Clone(text)})
			b.state(c, rowgroup.CellAsRow|rowgroup.CellException)
			text = nil
		}
		return b.appendBytes(c, text)
	}
	buf, err := rowgroup.ParseText(b.scratch, c.typ, string(text))
	if err != nil {
		return c.misfit(text)
	}
	if c.to == toKey {
		b.component(c, buf)
		return nil
	}
	return b.appendBytes(c, buf[len(b.scratch):])
}

func (b *builder) appendBytes(c *column, v []byte) *problem {
	if c.to == toKey {
		b.component(c, append(b.scratch, v...))
		return nil
	}
	if err := b.batch.Bytes(c.at).Append(v); err != nil {
		return &problem{expected: err.Error()}
	}
	return nil
}

// misfit says that text is not of the column's type, and which type would do.
func (c *column) misfit(text []byte) *problem {
	p := &problem{expected: c.typ.String()}
	if c.typ.Kind == rowgroup.KindNumeric {
		p.expected += fmt.Sprintf(": %s before the point and %d behind it at most", plural(int(c.typ.Precision-c.typ.Scale), "digit"), c.typ.Scale)
	}
	if c.to != toValue && c.to != toKey {
		return p
	}
	better := rowgroup.Text
	if n, ok := parseNumber(text); ok {
		switch kind := c.typ.Kind; {
		case kind == rowgroup.KindDouble || kind == rowgroup.KindVarint || kind == rowgroup.KindNumeric:
			better = rowgroup.Decimal
		case n.integer && kind == rowgroup.KindBigint:
			better = rowgroup.Varint
		case n.integer:
			better = rowgroup.Bigint
		case kind == rowgroup.KindBigint:
			better = rowgroup.Double
		}
	} else if _, ok := floatWord(text); ok && c.typ.Kind == rowgroup.KindBigint {
		better = rowgroup.Double
	}
	if better.Kind == c.typ.Kind {
		better = rowgroup.Text
	}
	p.hint = "give --type " + FlagValue(c.name, better.String())
	if !c.required {
		p.hint += ", or --null if it stands for no value"
	}
	return p
}

// endRow ends the row, which began at this line of the file.
func (b *builder) endRow(file string, line int64) error {
	if b.metadata || b.expires {
		if p := b.rowMeta(); p != nil {
			return &SyntaxError{File: file, Line: line, Column: 1, Value: "a row with a TTL and no expiry", Expected: p.expected, Hint: p.hint}
		}
	}
	if len(b.keyTypes) > 0 {
		if err := b.partition(file, line); err != nil {
			return err
		}
	}
	if b.order && b.rows > 0 {
		if err := b.follows(file, line); err != nil {
			return err
		}
	}
	if b.row == 0 {
		b.firstLine = line
	}
	b.lastLine = line
	b.row++
	b.rows++
	return nil
}

// follow takes a batch that another builder made, whose first and last row began
// at these lines, as the next of the table.
func (b *builder) follow(batch *rowgroup.Batch, file string, line, lastLine int64) error {
	b.batch, b.row = batch, 0
	if b.rows > 0 {
		key, head := batch.Key(0), batch.Partition(0)
		if b.order && bytes.Compare(key, b.last) < 0 {
			return &OrderError{File: file, Line: line, Column: partitionKey, Before: b.keyText(b.last), Value: b.keyText(key)}
		}
		head.Continued = bytes.Equal(key, b.last)
		if b.order {
			if err := b.follows(file, line); err != nil {
				return err
			}
		}
	}
	b.last = append(b.last[:0], batch.Key(batch.NumPartitions()-1)...)
	b.row = batch.Len()
	b.rows += int64(b.row)
	b.lastLine = lastLine
	b.keepLast()
	return nil
}

// keepLast keeps the last row to compare the next batch's first with.
func (b *builder) keepLast() {
	if b.order {
		b.lastRow.Reset()
		_ = b.lastRow.AppendParts(b.batch, b.row-1, b.row, 0, 0) // one row fits
	}
}

// partition begins the row's partition unless it is that of the row before.
func (b *builder) partition(file string, line int64) error {
	total := 0
	for _, p := range b.keyParts {
		total += len(p) + 3
	}
	if total > encoding.MaxKeyBytes {
		return &SyntaxError{File: file, Line: line, Column: 1, Field: b.keyNames(), Value: plural(total, "byte"),
			Expected: fmt.Sprintf("a partition key of at most %d bytes", encoding.MaxKeyBytes)}
	}
	b.key = rowgroup.AppendKey(b.key[:0], b.keyTypes, b.keyParts)
	same := b.rows > 0 && bytes.Equal(b.key, b.last)
	if b.order && b.rows > 0 && bytes.Compare(b.key, b.last) < 0 {
		return &OrderError{File: file, Line: line, Column: partitionKey, Before: b.keyText(b.last), Value: b.keyText(b.key)}
	}
	if !same || b.row == 0 {
		head := b.batch.BeginPartition(b.key)
		head.Start, head.Continued = b.row, same
	}
	if !same {
		b.last = append(b.last[:0], b.key...)
	}
	return nil
}

// keyNames are the names of the partition key's columns.
func (b *builder) keyNames() string {
	var names []string
	for _, c := range b.schema.Columns(rowgroup.PartitionKey) {
		names = append(names, c.Name)
	}
	return strings.Join(names, ", ")
}

// keyText is a key for people.
func (b *builder) keyText(key []byte) string {
	parts, err := rowgroup.SplitKey(b.keyTypes, key)
	if err != nil {
		return quote(key)
	}
	var text []byte
	for i, p := range parts {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = rowgroup.AppendText(text, b.keyTypes[i], p)
	}
	return string(text)
}

// follows checks that the row comes after the row before it, or beside it.
func (b *builder) follows(file string, line int64) error {
	from, to := b.schema.Range(rowgroup.Clustering)
	if from == to && (!b.distinct || len(b.keyTypes) == 0) {
		return nil // rows of one partition in the order in which they came
	}
	prev, i := b.batch, b.row-1
	if b.row == 0 {
		prev, i = b.lastRow, 0
	}
	if n := b.batch.NumPartitions(); n > 0 {
		if h := b.batch.Partition(n - 1); h.Start == b.row && !h.Continued {
			return nil // the first row of its partition
		}
	}
	for col := from; col < to; col++ {
		if cells := &b.batch.CellMeta(col).Cells; len(*cells) > 0 {
			*cells = extend(*cells, b.row+1)
		}
	}
	switch c := b.schema.CompareUnfiltered(prev, i, b.batch, b.row); {
	case c == 0 && b.distinct && b.lastLine > 0:
		p := max(b.batch.NumPartitions()-1, 0)
		return &DuplicateError{Key: describeKey(b.batch, p, b.row), File: file, Before: b.lastLine, Line: line}
	case c <= 0:
		return nil
	}
	e := &OrderError{File: file, Line: line}
	for col := from; col < to; col++ {
		e.Column = b.schema.Column(col).Name
		e.Before, e.Value = string(appendValue(nil, prev, col, i, &b.scratch)), string(appendValue(nil, b.batch, col, b.row, &b.scratch))
		if e.Before != e.Value {
			break
		}
	}
	return e
}

// rowMeta appends the row's metadata.
func (b *builder) rowMeta() *problem {
	m := b.batch.Meta()
	m.WriteTimes = append(m.WriteTimes, b.writeTime)
	if !b.expires {
		return nil
	}
	if b.hasTTL && !b.hasExpiry {
		if !b.metadata {
			return &problem{expected: "an expiry beside each TTL, or a write time"}
		}
		b.expiry, b.hasExpiry = floorDiv(b.writeTime, 1e6)+b.ttl, true
	}
	if !b.hasTTL {
		b.expiry = 0
	}
	state := rowgroup.LivenessLive
	if b.hasTTL {
		state = rowgroup.LivenessExpiring
	}
	m.Liveness = append(m.Liveness, state)
	m.TTLs = append(m.TTLs, int32(b.ttl))
	m.Expiries = append(m.Expiries, b.expiry)
	return nil
}

// undo takes back what was put of rows that do not end.
func (b *builder) undo() {
	for i := range b.columns {
		c := &b.columns[i]
		if c.to != toValue {
			continue
		}
		switch c.class {
		case rowgroup.ClassInt32:
			shorten(b.batch.Int32s(c.at), b.row)
		case rowgroup.ClassInt64:
			shorten(b.batch.Int64s(c.at), b.row)
		case rowgroup.ClassFloat32:
			shorten(b.batch.Float32s(c.at), b.row)
		case rowgroup.ClassFloat64:
			shorten(b.batch.Float64s(c.at), b.row)
		case rowgroup.ClassBytes:
			if s := b.batch.Bytes(c.at); s.Len() > b.row {
				s.Truncate(b.row)
			}
		}
		meta := b.batch.CellMeta(c.at)
		shorten(&meta.Cells, b.row)
		for n := len(meta.Exceptions); n > 0 && meta.Exceptions[n-1].Row >= b.row; n-- {
			meta.Exceptions = meta.Exceptions[:n-1]
		}
	}
	m := b.batch.Meta()
	shorten(&m.Liveness, b.row)
	shorten(&m.WriteTimes, b.row)
	shorten(&m.TTLs, b.row)
	shorten(&m.Expiries, b.row)
}

// shorten cuts s to n elements at most.
func shorten[T any](s *[]T, n int) { *s = (*s)[:min(n, len(*s))] }

func floorDiv(a, d int64) int64 {
	q := a / d
	if a%d < 0 {
		q--
	}
	return q
}

// end ends the batch: cell states become as many as rows, and its last row is
// kept to compare the next with.
func (b *builder) end() {
	for i := range b.columns {
		c := &b.columns[i]
		if c.to != toValue {
			continue
		}
		if cells := &b.batch.CellMeta(c.at).Cells; len(*cells) > 0 {
			*cells = extend(*cells, b.row)
		}
	}
	if b.row == 0 {
		return
	}
	b.batch.SetLen(b.row)
	b.keepLast()
}
