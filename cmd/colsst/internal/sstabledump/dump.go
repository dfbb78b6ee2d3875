// Package sstabledump writes SSTables as the tool sstabledump of Cassandra 5.0
// does, byte for byte.
package sstabledump

import (
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// Options are those of sstabledump.
type Options struct {
	Lines      bool     // -l: a partition a line
	RawTimes   bool     // -t: times as numbers
	KeysOnly   bool     // -e
	Debug      bool     // -d: a row a line, in the form of Cassandra's own messages
	Tombstones bool     // -o: only what is deleted or has expired
	Keys       []string // -k: these partitions alone, as text
	Exclude    []string // -x: not these
	Now        int64    // s, for what has expired
}

// dumper writes one SSTable.
type dumper struct {
	printer
	s       *cassandra.SSTable
	r       *cassandra.Scanner
	o       *Options
	clock   clock
	millis  clock // of values
	key     *rowgroup.Type
	static  []column
	regular []column
	times   times
	buf     []byte
}

// column is a column as the dump has it.
type column struct {
	*cassandra.Column
	quoted string // its name as CQL writes it, in JSON
	head   string // of a cell that is not deleted, if the column is not complex, up to its value
	value  *rowgroup.Type
	path   rowgroup.Type
}

func newColumns(cols []cassandra.Column, lines bool) []column {
	list := make([]column, len(cols))
	for i := range cols {
		c := &list[i]
		*c = column{Column: &cols[i], value: bare(&cols[i].Type)}
		c.quoted = string(appendQuoted(nil, []byte(columnName(c.Name))))
		if !c.Complex {
			if c.head = `{ "name" : ` + c.quoted + `, "value" : `; lines {
				c.head = `{"name":` + c.quoted + `,"value":`
			}
			continue
		}
		c.path = c.PathType()
		switch c.Type.Kind {
		case rowgroup.KindSet:
			c.value = &rowgroup.Type{Kind: rowgroup.KindEmpty}
		case rowgroup.KindMap:
			c.value = bare(&c.Type.Args[1])
		case rowgroup.KindList:
			c.value = bare(&c.Type.Args[0])
		}
	}
	return list
}

// flushLength is how many bytes are gathered.
const flushLength = 256 << 10

// ctxEvery is after how many rows the context is looked at.
const ctxEvery = 4096

// Dump writes an SSTable to w.
func Dump(ctx context.Context, w io.Writer, s *cassandra.SSTable, o *Options) (err error) {
	r, err := s.Scan()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	lines := o.Lines && !o.KeysOnly
	d := &dumper{
		printer: printer{lines: lines}, s: s, r: r, o: o, key: bare(&s.Header.Key.Type),
		static: newColumns(s.Header.Static, lines), regular: newColumns(s.Header.Regular, lines), times: newTimes(s),
		millis: clock{form: jsonForm},
	}
	if o.Debug && !o.KeysOnly {
		return d.run(ctx, w, &messages{dumper: d})
	}
	return d.run(ctx, w, newDocument(d))
}

// sink is told what the partitions hold that are asked for, without rows that
// hold nothing. A position is where an unfiltered begins, or what stands before
// it and holds nothing; that of a partition, and of its static row, is where the
// rows begin.
type sink interface {
	begin()
	partition(position int64)
	row(row *cassandra.Row, static bool, position int64)
	marker(m *cassandra.Marker, position int64)
	endPartition()
	end()
}

func (d *dumper) run(ctx context.Context, w io.Writer, sink sink) error {
	var (
		wanted bool
		headed bool  // the partition has been begun
		start  int64 // position of its rows, or -1: not yet known
		at     int64 // position of the next unfiltered, or -1: where it begins
	)
	head := func() {
		if !headed {
			headed = true
			sink.partition(start)
		}
	}
	sink.begin()
	for n := 0; ; n++ {
		if n%ctxEvery == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(d.out) >= flushLength {
			if err := d.flush(w); err != nil {
				return err
			}
		}
		e, err := d.r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if !wanted && e != cassandra.PartitionBegin {
			continue
		}
		if e == cassandra.StaticRow {
			at = d.r.UnreadPosition()
		} else if at < 0 {
			at = d.r.Position()
		}
		if start < 0 {
			start = at
		}
		switch e {
		case cassandra.PartitionBegin:
			wanted, headed, start, at = d.wants(d.r.Partition().Key), false, -1, -1
			if wanted && d.o.KeysOnly {
				sink.partition(d.r.UnreadPosition())
				wanted = false
			}
		case cassandra.StaticRow:
			if row := d.r.Row(); holds(row) && d.shows(row) {
				head()
				sink.row(row, true, at)
			}
		case cassandra.ClusteringRow:
			row := d.r.Row()
			if !holds(row) {
				continue
			}
			if d.shows(row) {
				head()
				sink.row(row, false, at)
			}
			at = -1
		case cassandra.RangeMarker:
			head()
			sink.marker(d.r.Marker(), at)
			at = -1
		case cassandra.PartitionEnd:
			if !d.o.Tombstones || !d.r.Partition().Deletion.Live() {
				head()
			}
			if headed {
				sink.endPartition()
			}
		}
	}
	sink.end()
	return d.flush(w)
}

// holds reports whether Cassandra would see the row.
func holds(row *cassandra.Row) bool {
	if row.Liveness != rowgroup.LivenessNone || row.HasDeletion || len(row.Cells) > 0 {
		return true
	}
	for i := range row.Complex {
		if !row.Complex[i].Deletion.Live() || len(row.Complex[i].Cells) > 0 {
			return true
		}
	}
	return false
}

// shows reports whether a row is to be shown: with -o, if anything of it is
// deleted or has expired.
func (d *dumper) shows(row *cassandra.Row) bool {
	if !d.o.Tombstones || row.HasDeletion {
		return true
	}
	if row.Liveness == rowgroup.LivenessExpiring || row.Liveness == rowgroup.LivenessExpired {
		if d.o.Now >= d.times.expiry(row.ExpirationTime, row.TTL) {
			return true
		}
	}
	gone := func(c *cassandra.Cell) bool {
		return c.Kind == rowgroup.CellTombstone || c.Kind == rowgroup.CellExpiring && d.o.Now >= d.times.expiry(c.LocalDeletionTime, c.TTL)
	}
	for i := range row.Cells {
		if gone(&row.Cells[i]) {
			return true
		}
	}
	for i := range row.Complex {
		x := &row.Complex[i]
		if !x.Deletion.Live() {
			return true
		}
		for k := range x.Cells {
			if gone(&x.Cells[k]) {
				return true
			}
		}
	}
	return false
}

// flush hands what is there to w.
func (d *dumper) flush(w io.Writer) error {
	_, err := w.Write(d.out)
	d.out = d.out[:0]
	return err
}

// wants reports whether a partition is asked for.
func (d *dumper) wants(key []byte) bool {
	if len(d.o.Keys)+len(d.o.Exclude) == 0 {
		return true
	}
	name := string(d.keyString(nil, key))
	if len(d.o.Keys) > 0 && !slices.Contains(d.o.Keys, name) {
		return false
	}
	return !slices.Contains(d.o.Exclude, name)
}

// keyString appends a partition key as it is given with -k and -x.
func (d *dumper) keyString(dst, key []byte) []byte {
	dst, _ = appendString(dst, d.key, key)
	return dst
}

// times makes of local deletion times what Cassandra 5.0 does: it adds up the
// difference in the file and the least one in the header, each of 32 bits with
// a sign, and takes what is out of range for an invalid one.
type times struct {
	least    int64 // of the header
	unsigned bool
}

// invalidTime is Cassandra's local deletion time that is none.
const invalidTime = math.MaxUint32 - 1

func newTimes(s *cassandra.SSTable) times {
	return times{least: int64(int32(s.Header.MinLocalDeletionTime)), unsigned: s.Version.NoDeletionTime() == math.MaxUint32}
}

// sum is the time as Cassandra adds it up.
func (t times) sum(seconds int64) int64 {
	return int64(int32(uint32(seconds)-uint32(t.least))) + t.least
}

// expiry is that of a cell or a row; of a cell that is deleted, the time when,
// with a TTL of 0.
func (t times) expiry(seconds int64, ttl int32) int64 {
	switch x := t.sum(seconds); {
	case x >= int64(ttl), ttl == math.MaxInt32 && x >= 0:
		return x
	case x < 0 && t.unsigned:
		return int64(uint32(x))
	}
	return invalidTime
}

// deletion is the time of a deletion within a partition.
func (t times) deletion(seconds int64) int64 {
	if x := t.sum(seconds); x >= 0 && x < invalidTime {
		return x
	}
	return invalidTime
}

// expired reports whether a cell that is live until then has expired now, of
// which Cassandra takes 32 bits with a sign.
func (d *dumper) expired(expiry int64) bool { return int64(int32(d.o.Now)) >= expiry }

// partitionDeletion is the time of a partition's deletion.
func partitionDeletion(seconds int64) int64 {
	if seconds < 0 {
		return invalidTime
	}
	return seconds
}

// reserved are the words of CQL that no name is without quotes.
//
//nolint:misspell // CQL spells them so
var reserved = strings.Fields(`add allow alter and apply asc authorize batch begin by columnfamily create delete desc describe drop
entries execute from full grant if in index infinity insert into is keyspace limit materialized modify nan norecursive not null of
on or order primary rename revoke schema select set table to token truncate unlogged update use using view where with`)

// columnName is a name as CQL writes it.
func columnName(name string) string {
	plain := name != "" && name[0] >= 'a' && name[0] <= 'z' && !slices.Contains(reserved, name)
	for _, c := range []byte(name) {
		plain = plain && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_')
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// field is the number of the field of a user type that a path names, if it has
// such a field.
func (c *column) field(path []byte) (n int, ok bool) {
	v, ok := rowgroup.IntOf(rowgroup.Smallint, path)
	return int(v), ok && v >= 0 && v < int64(len(c.Type.Args))
}

// pathText appends the path of a cell of a complex column.
func (c *column) pathText(dst, path []byte) []byte {
	if c.Type.Kind != rowgroup.KindUDT {
		dst, _ = appendString(dst, &c.path, path)
		return dst
	}
	if n, ok := c.field(path); ok {
		return append(dst, c.Type.Fields[n]...)
	}
	return strconv.AppendQuote(dst, string(path))
}

// valueType is the type of the value of a cell.
func (c *column) valueType(path []byte) *rowgroup.Type {
	if c.Complex && c.Type.Kind == rowgroup.KindUDT {
		if n, ok := c.field(path); ok {
			return bare(&c.Type.Args[n])
		}
		return &rowgroup.Blob
	}
	return c.value
}
