package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/colsst/colsst/rowgroup"
)

// History is a table that holds everything the storage model knows, at random:
// two partition key columns, partition deletions, static rows, null and empty
// clustering values, markers of every kind and prefix, livenesses, row
// deletions and cells of every state. Partitions are in Murmur3 order, the
// second clustering column descends.
type History struct {
	Partitions int
	Names      int // distinct values of the first clustering column in a partition, at least 1
	Times      int // rows of each, at least 1
	Seed       uint64
}

// The columns of History.
const (
	histHost = iota
	histShard
	histName
	histTime
	histLabel
	histLevel
	histValue
	histSmall
	histCount
	histFlag
	histNote
	histRaw
)

// Schema is the table's schema.
func (History) Schema() *rowgroup.Schema {
	type columns = []rowgroup.Column
	s, err := rowgroup.NewSchema(
		columns{{Name: "host", Type: rowgroup.Text}, {Name: "shard", Type: rowgroup.Int}},
		columns{{Name: "name", Type: rowgroup.Text}, {Name: "time", Type: rowgroup.Timestamp(rowgroup.Millis), Desc: true}},
		columns{{Name: "label", Type: rowgroup.Text}, {Name: "level", Type: rowgroup.Bigint}},
		columns{
			{Name: "value", Type: rowgroup.Double}, {Name: "small", Type: rowgroup.Float}, {Name: "count", Type: rowgroup.Bigint},
			{Name: "flag", Type: rowgroup.Boolean}, {Name: "note", Type: rowgroup.Text}, {Name: "raw", Type: rowgroup.Blob},
		},
		rowgroup.WithOrder("murmur3"))
	if err != nil {
		panic(err) // the columns are constants
	}
	return s
}

// Batch is the whole table.
func (h History) Batch() *rowgroup.Batch {
	s := h.Schema()
	g := &history{b: rowgroup.NewBatch(s), r: rand.New(rand.NewPCG(h.Seed, 1)), open: rowgroup.LiveDeletion}
	var keys [][]byte
	for i := range h.Partitions {
		shard := rowgroup.AppendInt(nil, rowgroup.Int, int64(i%3-1))
		keys = append(keys, rowgroup.AppendKey(nil, s.KeyTypes(), [][]byte{fmt.Appendf(nil, "host%02d", i/3), shard}))
	}
	slices.SortFunc(keys, func(a, b []byte) int {
		c, _ := s.ComparePartitions(a, b)
		return c
	})
	for _, key := range keys {
		g.partition(key)
		for name := range h.Names {
			g.name(name, h.Times)
		}
	}
	return g.b
}

// history fills the batch of a History.
type history struct {
	b    *rowgroup.Batch
	r    *rand.Rand
	open rowgroup.Deletion // the range deletion that is open
}

// one reports true once in n times.
func (g *history) one(n int) bool { return g.r.IntN(n) == 0 }

func (g *history) deletion() rowgroup.Deletion {
	return rowgroup.Deletion{MarkedForDeleteAt: start*1_000_000 + g.r.Int64N(1_000_000), LocalDeletionTime: start + g.r.Int64N(1000)}
}

func (g *history) partition(key []byte) {
	p := g.b.NumPartitions()
	head := g.b.BeginPartition(key)
	if g.one(3) {
		head.Deletion = g.deletion()
	}
	head.Static = rowgroup.StaticState(g.r.IntN(3))
	live := rowgroup.LivenessNone
	if head.Static == rowgroup.StaticFull {
		live = rowgroup.Liveness(g.r.IntN(4))
		if g.one(4) {
			m := g.b.StaticMeta()
			m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: p, Deletion: g.deletion()})
		}
	}
	g.liveness(g.b.StaticMeta(), live)
	for _, col := range []int{histLabel, histLevel} {
		state := rowgroup.CellAbsent
		if head.Static == rowgroup.StaticFull {
			state = g.state(col, live)
		}
		g.cell(col, state)
	}
}

// name adds the unfiltereds of one value of the first clustering column: null,
// zero-length, then others.
func (g *history) name(name, times int) {
	now := int64(start) * 1000
	wide := g.one(3) // a range deletion over the whole name
	if wide {
		g.marker(name, 0, 1, rowgroup.InclStart)
	}
	for i := range times {
		now -= 1 + g.r.Int64N(10_000)
		if wide {
			if g.one(6) { // in two at this time
				g.marker(name, now, 2, []rowgroup.BoundKind{rowgroup.ExclEndInclStart, rowgroup.InclEndExclStart}[g.r.IntN(2)])
				now--
			}
		} else if g.one(5) {
			if g.open.Live() {
				g.marker(name, now, 2, []rowgroup.BoundKind{rowgroup.InclStart, rowgroup.ExclStart}[g.r.IntN(2)])
			} else {
				g.marker(name, now, 2, []rowgroup.BoundKind{rowgroup.InclEnd, rowgroup.ExclEnd}[g.r.IntN(2)])
			}
			now--
		}
		state := rowgroup.CellAsRow
		switch {
		case i == 0 && g.one(4) && g.open.Live(): // a null stands first
			state = rowgroup.CellAbsent
		case i == times-1 && g.one(4) && g.open.Live(): // in descending order no bytes stand last
			state = rowgroup.CellEmpty
		}
		g.row(name, now, state)
	}
	if !g.open.Live() {
		g.marker(name, 0, 1, rowgroup.InclEnd)
	}
}

// clustering adds the clustering values of an unfiltered.
func (g *history) clustering(name int, time int64, state rowgroup.Cell) {
	text, nameState := []byte{}, rowgroup.CellAsRow
	switch {
	case name == 0:
		nameState = rowgroup.CellAbsent
	case name > 1:
		text = fmt.Appendf(nil, "name%03d", name)
	}
	g.text(histName, text)
	g.cells(histName, nameState)
	if state != rowgroup.CellAsRow {
		time = 0
	}
	*g.b.Int64s(histTime) = append(*g.b.Int64s(histTime), time)
	g.cells(histTime, state)
}

// text appends to a column of bytes.
func (g *history) text(col int, b []byte) {
	if err := g.b.Bytes(col).Append(b); err != nil {
		panic(err) // 4 GiB in a batch
	}
}

func (g *history) cells(col int, state rowgroup.Cell) {
	m := g.b.CellMeta(col)
	m.Cells = append(m.Cells, state)
}

func (g *history) marker(name int, time int64, prefix int, kind rowgroup.BoundKind) {
	m := rowgroup.Marker{Row: g.b.Len(), Prefix: prefix, Kind: kind, Close: rowgroup.LiveDeletion, Open: rowgroup.LiveDeletion}
	if kind.Closes() {
		m.Close = g.open
	}
	g.open = rowgroup.LiveDeletion
	if kind.Opens() {
		g.open = g.deletion()
		m.Open = g.open
	}
	*g.b.Markers() = append(*g.b.Markers(), m)
	g.clustering(name, time, rowgroup.CellAsRow)
	g.liveness(g.b.Meta(), rowgroup.LivenessLive)
	for col := histValue; col <= histRaw; col++ {
		g.cell(col, rowgroup.CellAbsent)
	}
}

func (g *history) row(name int, time int64, state rowgroup.Cell) {
	if g.one(8) {
		m := g.b.Meta()
		m.Deletions = append(m.Deletions, rowgroup.RowDeletion{Row: g.b.Len(), Deletion: g.deletion(), Shadowable: g.one(3)})
	}
	live := rowgroup.Liveness(max(0, g.r.IntN(8)-4))
	g.clustering(name, time, state)
	g.liveness(g.b.Meta(), live)
	for col := histValue; col <= histRaw; col++ {
		g.cell(col, g.state(col, live))
	}
}

func (g *history) liveness(m *rowgroup.RowMeta, l rowgroup.Liveness) {
	var written, expiry int64
	var ttl int32
	if l != rowgroup.LivenessNone {
		written = start*1_000_000 + g.r.Int64N(1_000_000)
	}
	if l == rowgroup.LivenessExpiring {
		ttl = int32(60 * (1 + g.r.IntN(3)))
	}
	if l >= rowgroup.LivenessExpiring {
		expiry = written/1_000_000 + int64(ttl)
	}
	m.Liveness, m.WriteTimes = append(m.Liveness, l), append(m.WriteTimes, written)
	m.TTLs, m.Expiries = append(m.TTLs, ttl), append(m.Expiries, expiry)
}

// state is a state that a cell of a row of this liveness can have.
func (g *history) state(col int, l rowgroup.Liveness) rowgroup.Cell {
	if l == rowgroup.LivenessLive && g.one(2) {
		return rowgroup.CellAsRow
	}
	c := rowgroup.Cell(g.r.IntN(5))
	if c != rowgroup.CellAsRow && c != rowgroup.CellAbsent && (l == rowgroup.LivenessNone || g.one(2)) {
		c |= rowgroup.CellOwnTime
	}
	switch c.Kind() {
	case rowgroup.CellAsRow:
		if l == rowgroup.LivenessNone {
			return rowgroup.CellAbsent
		}
	case rowgroup.CellExpiring:
		if l != rowgroup.LivenessExpiring || g.one(2) {
			c |= rowgroup.CellOwnExpiry
		}
	}
	if k := c.Kind(); k == rowgroup.CellAbsent || k == rowgroup.CellTombstone || !g.one(6) {
		return c
	}
	if g.b.Schema().Column(col).Type.Physical().Class() == rowgroup.ClassBytes {
		return c
	}
	return c | []rowgroup.Cell{rowgroup.CellEmpty, rowgroup.CellException}[g.r.IntN(2)]
}

// cell adds a cell in this state.
func (g *history) cell(col int, state rowgroup.Cell) {
	r := g.r
	switch col {
	case histLevel, histCount:
		v := g.b.Int64s(col)
		*v = append(*v, int64(len(*v)*7)+r.Int64N(3))
	case histFlag:
		*g.b.Int32s(col) = append(*g.b.Int32s(col), int32(r.IntN(2)))
	case histValue:
		v := math.Round(r.Float64()*10_000) / 100
		if g.one(20) {
			v = math.Float64frombits(r.Uint64())
		}
		*g.b.Float64s(col) = append(*g.b.Float64s(col), v)
	case histSmall:
		*g.b.Float32s(col) = append(*g.b.Float32s(col), float32(r.NormFloat64()))
	case histRaw:
		raw := make([]byte, r.IntN(4))
		for i := range raw {
			raw[i] = byte(r.Uint32())
		}
		g.text(col, raw)
	default:
		text := []string{"", "on", "off", "a \"quoted\" text,\nof two lines", "Zürich", "\xff no UTF-8"}
		g.text(col, []byte(text[r.IntN(len(text))]))
	}
	m := g.b.CellMeta(col)
	i := len(m.Cells)
	var written, expiry int64
	var ttl int32
	if state&rowgroup.CellOwnTime != 0 {
		written = start*1_000_000 + r.Int64N(1_000_000)
	}
	if state&rowgroup.CellOwnExpiry != 0 {
		ttl, expiry = 3600, start+3600+r.Int64N(10)
	}
	if state.Kind() == rowgroup.CellTombstone {
		expiry = start + r.Int64N(1000)
	}
	if state&rowgroup.CellException != 0 {
		m.Exceptions = append(m.Exceptions, rowgroup.Exception{Row: i, Value: []byte{2, 3, 5}[:1+r.IntN(3)]})
	}
	m.Cells, m.WriteTimes = append(m.Cells, state), append(m.WriteTimes, written)
	m.TTLs, m.Expiries = append(m.TTLs, ttl), append(m.Expiries, expiry)
}
