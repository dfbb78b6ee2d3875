// Package sstabledump writes SSTables as JSON in the form of the tool
// sstabledump of Cassandra 5.0.
package sstabledump

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

// Options are those of sstabledump.
type Options struct {
	Lines    bool     // -l: a partition a line
	RawTimes bool     // -t: times as numbers
	KeysOnly bool     // -e
	Keys     []string // -k: these partitions alone, as text
	Exclude  []string // -x: not these
	Now      int64    // s, for what has expired
}

// dumper writes one SSTable.
type dumper struct {
	printer
	s   *cassandra.SSTable
	r   *cassandra.Scanner
	o   *Options
	buf []byte
}

// flushLength is how many bytes are gathered.
const flushLength = 64 << 10

// Dump writes an SSTable to w.
func Dump(ctx context.Context, w io.Writer, s *cassandra.SSTable, o *Options) (err error) {
	r, err := s.Scan()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	d := &dumper{printer: printer{lines: o.Lines}, s: s, r: r, o: o}
	if !o.Lines || o.KeysOnly {
		d.begin(true)
	}
	first, wanted := true, false
	begun := false // the head of the partition has been written
	head := func(position int64) {
		if begun || !wanted {
			return
		}
		begun = true
		if o.Lines && !first {
			d.out = append(d.out, '\n')
		}
		first = false
		d.partition(position)
	}
	for n := 0; ; n++ {
		if n%4096 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if len(d.out) >= flushLength {
			if err := d.flush(w); err != nil {
				return err
			}
		}
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch e {
		case cassandra.PartitionBegin:
			wanted, begun = d.wants(r.Partition().Key), false
			if wanted && o.KeysOnly {
				d.key(r.Partition().Key)
			}
			wanted = wanted && !o.KeysOnly
		case cassandra.StaticRow:
			if row := r.Row(); wanted && (len(row.Cells)+len(row.Complex) > 0 || row.HasDeletion || row.Liveness != rowgroup.LivenessNone) {
				head(r.UnreadPosition())
				d.row(row, s.Header.Static, "static_block")
			}
		case cassandra.ClusteringRow:
			if head(r.Position()); wanted {
				d.row(r.Row(), s.Header.Regular, "row")
			}
		case cassandra.RangeMarker:
			if head(r.Position()); wanted {
				d.marker(r.Marker())
			}
		case cassandra.PartitionEnd:
			if head(r.Position()); wanted {
				d.end() // of the rows
				d.end()
			}
		}
	}
	if !o.Lines || o.KeysOnly {
		d.end()
	}
	return d.flush(w)
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
	name := strings.Join(d.keyTexts(key), ":")
	if len(d.o.Keys) > 0 && !slices.Contains(d.o.Keys, name) {
		return false
	}
	return !slices.Contains(d.o.Exclude, name)
}

func (d *dumper) keyTexts(key []byte) (texts []string) {
	t := d.s.Header.Key.Type
	if t.Kind != rowgroup.KindComposite {
		return []string{text(&t, key)}
	}
	for i := range t.Args {
		if len(key) < 3 {
			break
		}
		n := int(binary.BigEndian.Uint16(key))
		if len(key) < n+3 {
			break
		}
		texts = append(texts, text(&t.Args[i], key[2:2+n]))
		key = key[n+3:]
	}
	return texts
}

func (d *dumper) key(key []byte) {
	d.objects, d.arrays = true, true
	d.begin(true)
	for _, s := range d.keyTexts(key) {
		d.text(s)
	}
	d.end()
	d.objects, d.arrays = false, false
}

// partition writes a partition up to the start of its rows. The position is
// that of the first unfiltered.
func (d *dumper) partition(position int64) {
	p := d.r.Partition()
	d.begin(false)
	d.name("table kind")
	d.text("REGULAR")
	d.name("partition")
	d.begin(false)
	d.name("key")
	d.key(p.Key)
	d.name("position")
	d.number(position)
	if !p.Deletion.Live() {
		d.deletion(p.Deletion)
	}
	d.end()
	d.name("rows")
	d.begin(true)
}

func (d *dumper) row(row *cassandra.Row, cols []cassandra.Column, kind string) {
	d.begin(false)
	d.name("type")
	d.text(kind)
	d.name("position")
	if kind == "row" {
		d.number(d.r.Position())
		d.clustering(row.Clustering)
	} else {
		d.number(d.r.UnreadPosition())
	}
	live := row.Liveness != rowgroup.LivenessNone
	if live {
		d.name("liveness_info")
		d.objects = true
		d.begin(false)
		d.name("tstamp")
		d.micros(row.Timestamp)
		if row.Liveness != rowgroup.LivenessLive {
			d.name("ttl")
			d.number(int64(row.TTL))
			d.name("expires_at")
			d.seconds(row.ExpirationTime)
			d.name("expired")
			d.boolean(row.ExpirationTime < d.o.Now)
		}
		d.end()
		d.objects = false
	}
	if row.HasDeletion && !row.Deletion.Live() {
		d.deletion(row.Deletion)
	}
	d.name("cells")
	d.begin(true)
	for i := range row.Cells {
		d.cell(row, &row.Cells[i], &cols[row.Cells[i].Column])
	}
	for i := range row.Complex {
		x := &row.Complex[i]
		if !x.Deletion.Live() {
			d.objects = true
			d.begin(false)
			d.name("name")
			d.text(columnName(cols[x.Column].Name))
			d.deletion(x.Deletion)
			d.objects = true
			d.end()
			d.objects = false
		}
		for k := range x.Cells {
			d.cell(row, &x.Cells[k], &cols[x.Column])
		}
	}
	d.end()
	d.end()
}

// cell writes a cell. Behind a deletion_info its members are on lines of their
// own.
func (d *dumper) cell(row *cassandra.Row, c *cassandra.Cell, col *cassandra.Column) {
	d.begin(false)
	d.objects = true
	d.name("name")
	d.text(columnName(col.Name))
	t := col.Type
	if col.Complex {
		d.name("path")
		d.arrays = true
		d.begin(true)
		path := col.PathType()
		switch t.Kind {
		case rowgroup.KindUDT:
			field := 0
			if n, ok := rowgroup.IntOf(path, c.Path); ok {
				field = int(n)
			}
			if field < 0 || field >= len(t.Args) {
				d.text(strconv.Itoa(field))
				t = rowgroup.Blob
				break
			}
			d.text(t.Fields[field])
			t = t.Args[field]
		case rowgroup.KindMap:
			d.text(text(&path, c.Path))
			t = t.Args[1]
		case rowgroup.KindSet:
			d.text(text(&path, c.Path))
			t = rowgroup.Type{Kind: rowgroup.KindEmpty}
		default:
			d.text(text(&path, c.Path))
			t = t.Args[0]
		}
		d.end()
		d.arrays = false
	}
	if c.Kind == rowgroup.CellTombstone {
		d.name("deletion_info")
		d.objects = true
		d.begin(false)
		d.name("local_delete_time")
		d.seconds(c.LocalDeletionTime)
		d.end()
		d.objects = false
	} else {
		d.name("value")
		d.buf = appendJSON(d.buf[:0], &t, c.Value)
		d.raw(d.buf)
	}
	live := row.Liveness != rowgroup.LivenessNone
	if !live || c.Timestamp != row.Timestamp {
		d.name("tstamp")
		d.micros(c.Timestamp)
	}
	if c.Kind == rowgroup.CellExpiring && (!live || c.TTL != row.TTL) {
		d.name("ttl")
		d.number(int64(c.TTL))
		d.name("expires_at")
		d.seconds(c.LocalDeletionTime)
		d.name("expired")
		d.boolean(d.o.Now >= c.LocalDeletionTime)
	}
	d.end()
	d.objects = false
}

func (d *dumper) marker(m *cassandra.Marker) {
	d.begin(false)
	d.name("type")
	if m.Kind.Opens() && m.Kind.Closes() {
		d.text("range_tombstone_boundary")
	} else {
		d.text("range_tombstone_bound")
	}
	if m.Kind.Opens() {
		d.bound("start", m.Kind == rowgroup.InclStart || m.Kind == rowgroup.ExclEndInclStart, m.Values, m.Open)
	}
	if m.Kind.Closes() {
		d.bound("end", m.Kind == rowgroup.InclEnd || m.Kind == rowgroup.InclEndExclStart, m.Values, m.Close)
	}
	d.end()
	d.objects = false
}

func (d *dumper) bound(name string, inclusive bool, values [][]byte, del rowgroup.Deletion) {
	d.name(name)
	d.begin(false)
	d.name("type")
	d.text([2]string{"exclusive", "inclusive"}[b2i(inclusive)])
	d.clustering(values)
	d.deletion(del)
	d.end()
}

func (d *dumper) clustering(values [][]byte) {
	if len(values) == 0 {
		return
	}
	d.name("clustering")
	d.objects = true
	d.begin(true)
	d.arrays = true
	for i := range d.s.Header.Clustering {
		switch {
		case i >= len(values):
			d.text("*")
		case values[i] == nil:
			d.raw([]byte("null"))
		default:
			d.buf = appendJSON(d.buf[:0], &d.s.Header.Clustering[i].Type, values[i])
			d.raw(d.buf)
		}
	}
	d.end()
	d.objects, d.arrays = false, false
}

func (d *dumper) deletion(x rowgroup.Deletion) {
	d.name("deletion_info")
	d.objects = true
	d.begin(false)
	d.name("marked_deleted")
	d.micros(x.MarkedForDeleteAt)
	d.name("local_delete_time")
	d.seconds(x.LocalDeletionTime)
	d.end()
	d.objects = false
}

func (d *dumper) micros(t int64) {
	nanos := t * 1000
	if t > math.MaxInt64/1000 {
		nanos = math.MaxInt64
	} else if t < math.MinInt64/1000 {
		nanos = math.MinInt64
	}
	d.time(t, t/1_000_000, (nanos%1e9+1e9)%1e9)
}

func (d *dumper) seconds(t int64) { d.time(t, t, 0) }

// time writes a time as Java's Instant does, with 0, 3, 6 or 9 digits.
func (d *dumper) time(raw, sec, nanos int64) {
	if d.o.RawTimes {
		d.text(strconv.FormatInt(raw, 10))
		return
	}
	layout := "2006-01-02T15:04:05"
	switch {
	case nanos == 0:
	case nanos%1e6 == 0:
		layout += ".000"
	case nanos%1e3 == 0:
		layout += ".000000"
	default:
		layout += ".000000000"
	}
	t := time.Unix(sec, nanos).UTC()
	s := t.Format(layout + "Z")
	if t.Year() > 9999 {
		s = "+" + s
	}
	d.text(s)
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
