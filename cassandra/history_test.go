package cassandra

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// event is one event with memory of its own.
type event struct {
	Event
	Partition Partition
	Row       Row
	Marker    Marker
}

// table is a random table: what an SSTable may hold.
type table struct {
	version     Version
	partitioner string // "": ByteOrdered
	header      *Header
	events      []event
}

var (
	versions   = []Version{"ma", "mb", "mc", "md", "me", "na", "nb", "nc", "oa", "da"}
	keyClasses = []string{
		"Int32Type", "UTF8Type", "BytesType", "LongType", "ReversedType(Int32Type)", "ReversedType(UTF8Type)",
		"SimpleDateType", "ByteType", "UUIDType", "TimeUUIDType", "DecimalType", "IntegerType", "InetAddressType", "DoubleType",
		"FrozenType(" + marshal + "ListType(" + marshal + "Int32Type))", "BooleanType", "TimestampType", "LexicalUUIDType",
	}
	valueClasses = append([]string{
		"CounterColumnType", "DurationType", "EmptyType", "VectorType(" + marshal + "FloatType , 3)",
		"VectorType(" + marshal + "UTF8Type , 2)", "TupleType(" + marshal + "Int32Type)", "DynamicCompositeType(a=>" + marshal + "BytesType)",
		"ListType(" + marshal + "Int32Type)", "SetType(" + marshal + "UTF8Type)", "MapType(" + marshal + "Int32Type," + marshal + "LongType)",
		"UserType(ks,74,61:" + marshal + "Int32Type)",
	}, keyClasses...)
)

// values draws the bytes of a value: often of the right length, always
// acceptable to the body.
func drawValue(t *rapid.T, c *Column) []byte {
	if c.valueLen == 0 || rapid.IntRange(0, 9).Draw(t, "empty") == 0 {
		return []byte{}
	}
	if c.valueLen > 0 {
		return rapid.SliceOfN(rapid.Byte(), c.valueLen, c.valueLen).Draw(t, "fixed")
	}
	return rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "bytes")
}

// drawTime draws a timestamp, near the usual ones or from the edges.
func drawTime(t *rapid.T) int64 {
	if rapid.IntRange(0, 9).Draw(t, "odd time") == 0 {
		return rapid.SampledFrom([]int64{0, -1, math.MaxInt64, math.MinInt64 + 1, 1, -1 << 62}).Draw(t, "time")
	}
	return 1_700_000_000_000_000 + rapid.Int64Range(-1000, 1000).Draw(t, "time")
}

func drawDeletionTime(t *rapid.T, v Version) int64 {
	raw := uint32(1_700_000_000 + rapid.Int64Range(-1000, 1000).Draw(t, "ldt"))
	if rapid.IntRange(0, 9).Draw(t, "odd ldt") == 0 {
		raw = rapid.Uint32().Draw(t, "ldt")
	}
	return v.LocalDeletionTime(raw)
}

func drawDeletion(t *rapid.T, v Version) rowgroup.Deletion {
	d := rowgroup.Deletion{MarkedForDeleteAt: drawTime(t), LocalDeletionTime: drawDeletionTime(t, v)}
	if v.unsignedDeletionTimes() { // whose indexes hold no negative one
		d.MarkedForDeleteAt &= math.MaxInt64
	}
	return d
}

func noDeletion(v Version) rowgroup.Deletion {
	return rowgroup.Deletion{MarkedForDeleteAt: rowgroup.NoDeletion, LocalDeletionTime: v.NoDeletionTime()}
}

func drawHeader(t *rapid.T, tb testing.TB) *Header {
	classes := func(all []string, most int, name string) []string {
		var list []string
		n := rapid.IntRange(0, most).Draw(t, name)
		for i := range n {
			class := rapid.SampledFrom(all).Draw(t, name)
			if name != "clustering" {
				class = fmt.Sprintf("%s%02d %s", name, i, class)
			}
			list = append(list, class)
		}
		return list
	}
	most := func(usual, many int) int {
		if rapid.IntRange(0, 9).Draw(t, "wide") == 0 {
			return many
		}
		return usual
	}
	h := makeHeader(tb, rapid.SampledFrom(keyClasses).Draw(t, "key class"),
		classes(keyClasses, most(3, 70), "clustering"), classes(valueClasses, 2, "s"), classes(valueClasses, most(4, 140), "r"))
	h.MinTimestamp = 1_700_000_000_000_000
	h.MinLocalDeletionTime = 1_700_000_000
	if rapid.Bool().Draw(t, "sentinels") { // as ScyllaDB writes them
		h.MinLocalDeletionTime, h.MinTTL = -1, math.MaxInt64
	}
	return h
}

// drawCell draws a cell of a row.
func drawCell(t *rapid.T, v Version, row *Row, column int, c *Column) Cell {
	x := Cell{Column: column, Timestamp: drawTime(t), Kind: rowgroup.CellLive}
	if row.Liveness != rowgroup.LivenessNone && rapid.IntRange(0, 3).Draw(t, "own time") > 0 {
		x.Timestamp = row.Timestamp
	}
	x.Value = drawValue(t, c)
	switch rapid.IntRange(0, 4).Draw(t, "cell") {
	case 0:
		x.Kind, x.LocalDeletionTime, x.Value = rowgroup.CellTombstone, drawDeletionTime(t, v), nil
	case 1:
		x.Kind, x.LocalDeletionTime, x.TTL = rowgroup.CellExpiring, drawDeletionTime(t, v), rapid.Int32().Draw(t, "ttl")
	case 2:
		if row.Liveness == rowgroup.LivenessExpiring {
			x.Kind, x.LocalDeletionTime, x.TTL = rowgroup.CellExpiring, row.ExpirationTime, row.TTL
		}
	}
	return x
}

func drawRow(t *rapid.T, v Version, cols []Column, static bool) Row {
	row := Row{Liveness: rowgroup.LivenessNone, Deletion: noDeletion(v)}
	if !static || rapid.Bool().Draw(t, "static liveness") {
		row.Liveness = rowgroup.Liveness(rapid.IntRange(0, 3).Draw(t, "liveness"))
	}
	if row.Liveness != rowgroup.LivenessNone {
		row.Timestamp = drawTime(t)
	}
	switch row.Liveness {
	case rowgroup.LivenessExpiring:
		row.TTL, row.ExpirationTime = rapid.Int32Range(0, math.MaxInt32-1).Draw(t, "ttl"), drawDeletionTime(t, v)
	case rowgroup.LivenessExpired:
		row.TTL, row.ExpirationTime = expiredTTL, drawDeletionTime(t, v)
	}
	if row.HasDeletion = rapid.IntRange(0, 3).Draw(t, "deleted") == 0; row.HasDeletion {
		row.Deletion = drawDeletion(t, v)
		row.Shadowable = rapid.Bool().Draw(t, "shadowable")
	}
	sparse := rapid.IntRange(0, 3).Draw(t, "sparse") // 0: all columns; 3: few
	deleted := false
	for i := range cols {
		if sparse > 0 && rapid.IntRange(0, 3).Draw(t, "present") < sparse {
			continue
		}
		if !cols[i].Complex {
			row.Cells = append(row.Cells, drawCell(t, v, &row, i, &cols[i]))
			continue
		}
		x := ComplexColumn{Column: i, Deletion: noDeletion(v), Cells: []Cell{}}
		if rapid.Bool().Draw(t, "complex deletion") {
			x.Deletion = drawDeletion(t, v)
			deleted = true
		}
		for range rapid.IntRange(0, 3).Draw(t, "cells") {
			c := drawCell(t, v, &row, i, &Column{valueLen: -1})
			c.Path = rapid.SliceOfN(rapid.Byte(), 1, 16).Draw(t, "path")
			x.Cells = append(x.Cells, c)
		}
		typ := cols[i].PathType()
		byPath := func(a, b Cell) int { return typ.Collate(a.Path, b.Path) }
		slices.SortStableFunc(x.Cells, byPath)
		x.Cells = slices.CompactFunc(x.Cells, func(a, b Cell) bool { return byPath(a, b) == 0 })
		row.Complex = append(row.Complex, x)
	}
	if deleted && rapid.Bool().Draw(t, "as 5.0 writes live") { // from a Long.MAX_VALUE cut to 32 bits
		for i := range row.Complex {
			if row.Complex[i].Deletion.Live() {
				row.Complex[i].Deletion.LocalDeletionTime = v.LocalDeletionTime(math.MaxUint32)
			}
		}
	}
	return row
}

// sstable is as much of an SSTable as knows the order of keys.
func (x *table) sstable() *SSTable {
	return &SSTable{Statistics: &StatisticsFile{Validation: &Validation{partitionerPrefix + cmp.Or(x.partitioner, byteOrderedPartitioner), 0.01}}}
}

// drawTable draws a table of one of the versions, with partitions and
// unfiltereds in order.
func drawTable(t *rapid.T, tb testing.TB, of ...Version) table {
	x := table{
		version: rapid.SampledFrom(of).Draw(t, "version"), header: drawHeader(t, tb),
		partitioner: rapid.SampledFrom([]string{byteOrderedPartitioner, murmur3Partitioner, randomPartitioner}).Draw(t, "partitioner"),
	}
	v, h := x.version, x.header
	keys := rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 'a', 0xff}), 1, 4), 0, 6,
		func(b []byte) string { return string(b) }).Draw(t, "keys")
	order, err := x.sstable().keyOrder()
	require.NoError(t, err)
	slices.SortFunc(keys, func(a, b []byte) int {
		c, _ := order.ComparePartitions(a, b)
		return c
	})
	for _, key := range keys {
		p := Partition{Key: key, Deletion: noDeletion(v)}
		if rapid.IntRange(0, 3).Draw(t, "partition deleted") == 0 {
			p.Deletion = drawDeletion(t, v)
		}
		x.events = append(x.events, event{Event: PartitionBegin, Partition: p})
		if len(h.Static) > 0 {
			x.events = append(x.events, event{Event: StaticRow, Row: drawRow(t, v, h.Static, true)})
		}
		x.events = append(x.events, drawUnfiltereds(t, v, h)...)
		x.events = append(x.events, event{Event: PartitionEnd})
	}
	return x
}

func drawUnfiltereds(t *rapid.T, v Version, h *Header) (list []event) {
	clustering := func(n int) (values [][]byte) {
		values = [][]byte{}
		for i := range n {
			value := drawValue(t, &h.Clustering[i])
			if rapid.IntRange(0, 19).Draw(t, "null") == 0 {
				value = nil
			}
			values = append(values, value)
		}
		return values
	}
	var prefixes []Prefix
	most := 8
	if len(h.Clustering) == 0 {
		most = 1
	}
	for range rapid.IntRange(0, most).Draw(t, "unfiltereds") {
		if len(h.Clustering) > 0 && rapid.IntRange(0, 2).Draw(t, "marker") == 0 {
			kind := rapid.SampledFrom([]rowgroup.BoundKind{0, 1, 6, 7}).Draw(t, "kind")
			prefixes = append(prefixes, Prefix{kind, clustering(rapid.IntRange(0, len(h.Clustering)).Draw(t, "prefix"))})
			continue
		}
		prefixes = append(prefixes, Prefix{kindClustering, clustering(len(h.Clustering))})
	}
	slices.SortStableFunc(prefixes, func(a, b Prefix) int {
		c, _ := comparePrefixes(h.Clustering, a, b)
		return c
	})
	prefixes = slices.CompactFunc(prefixes, func(a, b Prefix) bool {
		c, _ := comparePrefixes(h.Clustering, a, b)
		return c == 0
	})
	// Of the markers some become boundaries, so that they open and close in turn.
	open, last := rowgroup.Deletion{}, -1
	for i, p := range prefixes {
		if p.Kind != kindClustering {
			last = i
		}
	}
	isOpen := false
	for i, p := range prefixes {
		if p.Kind == kindClustering {
			row := drawRow(t, v, h.Regular, false)
			row.Clustering = p.Values
			list = append(list, event{Event: ClusteringRow, Row: row})
			continue
		}
		before := weight(p.Kind) < 0
		m := Marker{Close: noDeletion(v), Open: noDeletion(v)}
		m.Values = p.Values
		switch {
		case !isOpen && i == last: // nothing would close it
			continue
		case !isOpen:
			m.Kind = map[bool]rowgroup.BoundKind{true: rowgroup.InclStart, false: rowgroup.ExclStart}[before]
		case i == last:
			m.Kind = map[bool]rowgroup.BoundKind{true: rowgroup.ExclEnd, false: rowgroup.InclEnd}[before]
		default:
			m.Kind = map[bool]rowgroup.BoundKind{true: rowgroup.ExclEndInclStart, false: rowgroup.InclEndExclStart}[before]
		}
		if m.Kind.Closes() {
			m.Close, isOpen = open, false
		}
		if m.Kind.Opens() {
			open, isOpen = drawDeletion(t, v), true
			m.Open = open
		}
		list = append(list, event{Event: RangeMarker, Marker: m})
	}
	return list
}

// body is the table's body and where its partitions begin.
func (x *table) body(tb require.TestingT) []byte {
	var b bytes.Buffer
	w := NewBodyWriter(&b, x.version, x.header)
	for i := range x.events {
		e := &x.events[i]
		if e.Event == PartitionBegin {
			e.Partition.Position = w.Position()
		}
		var err error
		switch e.Event {
		case PartitionBegin:
			err = w.BeginPartition(e.Partition.Key, e.Partition.Deletion)
		case StaticRow:
			err = w.StaticRow(&e.Row)
		case ClusteringRow:
			err = w.Row(&e.Row)
		case RangeMarker:
			err = w.Marker(&e.Marker)
		case PartitionEnd:
			err = w.EndPartition()
		}
		require.NoError(tb, err)
	}
	require.NoError(tb, w.Flush())
	return b.Bytes()
}

// collect reads all events, each with memory of its own and without sizes.
func collect(r *BodyReader) (events []event, err error) {
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, r.clone(e))
	}
}

// clone is the event e that r has just read.
func (r *BodyReader) clone(e Event) event {
	x := event{Event: e}
	switch e {
	case PartitionBegin:
		x.Partition = *r.Partition()
		x.Partition.Key = bytes.Clone(x.Partition.Key)
	case StaticRow, ClusteringRow:
		x.Row = cloneRow(r.Row())
	case RangeMarker:
		x.Marker = *r.Marker()
		x.Marker.Values = cloneValues(x.Marker.Values)
		x.Marker.PreviousSize = 0
	}
	return x
}

func cloneValues(values [][]byte) [][]byte {
	c := make([][]byte, len(values))
	for i, v := range values {
		c[i] = bytes.Clone(v)
	}
	return c
}

func cloneCells(cells []Cell) []Cell {
	c := slices.Clone(cells)
	for i := range c {
		c[i].Path, c[i].Value = bytes.Clone(c[i].Path), bytes.Clone(c[i].Value)
	}
	return c
}

func cloneRow(row *Row) Row {
	c := *row
	c.Clustering = nil
	if len(row.Clustering) > 0 {
		c.Clustering = cloneValues(row.Clustering)
	}
	c.PreviousSize = 0
	c.Cells = nil
	if len(row.Cells) > 0 {
		c.Cells = cloneCells(row.Cells)
	}
	c.Complex = nil
	for _, x := range row.Complex {
		x.Cells = cloneCells(x.Cells)
		if x.Cells == nil {
			x.Cells = []Cell{}
		}
		c.Complex = append(c.Complex, x)
	}
	return c
}

func sameEvents(tb require.TestingT, want, got []event) {
	require.Equal(tb, len(want), len(got))
	for i := range want {
		w, g := want[i], got[i]
		if len(w.Row.Clustering) == 0 {
			w.Row.Clustering = nil
		}
		if len(w.Marker.Values) == 0 {
			w.Marker.Values, g.Marker.Values = nil, nil
		}
		require.Equal(tb, w, g, "event %d", i)
	}
}

func partitionsOf(events []event) (list []Partition) {
	for _, e := range events {
		if e.Event == PartitionBegin {
			list = append(list, e.Partition)
		}
	}
	slices.SortFunc(list, func(a, b Partition) int { return cmp.Compare(a.Position, b.Position) })
	return list
}
