package rowgroup

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A history is what one partition holds, row by row, to judge it slowly.
type history struct {
	key       int32
	deletion  Deletion
	hasStatic bool
	static    historyRow // one cell
	rows      []historyRow
}

type historyRow struct {
	marker   *Marker
	at       int64 // the clustering value
	liveness Liveness
	written  int64
	ttl      int32
	expiry   int64
	deletion *RowDeletion
	cells    [2]historyCell
}

type historyCell struct {
	state   Cell
	written int64
	ttl     int32
	expiry  int64
	value   string
}

func historySchema(t require.TestingT, desc bool) *Schema {
	s, err := NewSchema([]Column{{Name: "k", Type: Int}}, []Column{{Name: "c", Type: Bigint, Desc: desc}},
		[]Column{{Name: "s", Type: Text}}, []Column{{Name: "a", Type: Int}, {Name: "b", Type: Text}})
	require.NoError(t, err)
	return s
}

func historyBatch(t require.TestingT, s *Schema, partitions []history) *Batch {
	b := NewBatch(s)
	for p, h := range partitions {
		head := b.BeginPartition(binary.BigEndian.AppendUint32(nil, uint32(h.key)))
		head.Deletion = h.deletion
		head.Static = StaticAbsent
		if h.hasStatic {
			head.Static = StaticFull
		}
		appendHistoryRow(t, b, &b.static, &h.static, p, 3)
		for i := range h.rows {
			r := &h.rows[i]
			row := b.Len()
			*b.Int64s(1) = append(*b.Int64s(1), r.at)
			appendHistoryRow(t, b, &b.meta, r, row, 0)
			if r.marker != nil {
				m := *r.marker
				m.Row = row
				b.markers = append(b.markers, m)
			}
		}
	}
	require.NoError(t, b.Check())
	return b
}

// appendHistoryRow appends the metadata and cells of r, at position row.
func appendHistoryRow(t require.TestingT, b *Batch, m *RowMeta, r *historyRow, row, kind int) {
	m.Liveness = append(m.Liveness, r.liveness)
	m.WriteTimes = append(m.WriteTimes, r.written)
	m.TTLs = append(m.TTLs, r.ttl)
	m.Expiries = append(m.Expiries, r.expiry)
	if r.deletion != nil {
		d := *r.deletion
		d.Row = row
		m.Deletions = append(m.Deletions, d)
	}
	cols := []int{3, 4}
	if kind != 0 {
		cols = []int{2}
	}
	for k, col := range cols {
		c, v := r.cells[k], &b.vecs[col]
		if r.marker != nil || kind != 0 && b.parts[row].Static != StaticFull {
			c = historyCell{state: CellAbsent}
		}
		v.Cells = append(v.Cells, c.state)
		v.WriteTimes = append(v.WriteTimes, c.written)
		v.TTLs = append(v.TTLs, c.ttl)
		v.Expiries = append(v.Expiries, c.expiry)
		if c.state&CellException != 0 {
			v.Exceptions = append(v.Exceptions, Exception{row, []byte(c.value)})
		}
		if v.class == ClassInt32 {
			v.i32 = append(v.i32, int32(len(c.value)))
		} else {
			require.NoError(t, v.str.Append([]byte(c.value)))
		}
	}
}

// cellText writes one live cell with what counts of its metadata.
func cellText(v *vector, m *RowMeta, i int) string {
	c := CellAsRow
	if len(v.Cells) > 0 {
		c = v.Cells[i]
	}
	if c.Kind() == CellAbsent {
		return "-"
	}
	written, ttl, expiry := at(m.WriteTimes, i), at(m.TTLs, i), at(m.Expiries, i)
	if c&CellOwnTime != 0 {
		written = v.WriteTimes[i]
	}
	if c&CellOwnExpiry != 0 {
		ttl, expiry = v.TTLs[i], v.Expiries[i]
	}
	text := fmt.Sprintf("@%d", written)
	if c.Kind() == CellExpiring || c.Kind() == CellAsRow && at(m.Liveness, i) >= LivenessExpiring {
		text += fmt.Sprintf("+%d<%d", ttl, expiry)
	}
	switch {
	case c&CellEmpty != 0:
		return "empty" + text
	case c&CellException != 0:
		for _, e := range v.Exceptions {
			if e.Row == i {
				return "!" + string(e.Value) + text
			}
		}
		return "lost exception"
	case v.class == ClassInt32:
		return fmt.Sprint(v.i32[i]) + text
	}
	return fmt.Sprintf("%q", v.str.At(i)) + text
}

func livenessText(m *RowMeta, i int) string {
	switch at(m.Liveness, i) {
	case LivenessNone:
		return "none"
	case LivenessLive:
		return fmt.Sprintf("live@%d", at(m.WriteTimes, i))
	}
	return fmt.Sprintf("expiring@%d+%d<%d", at(m.WriteTimes, i), at(m.TTLs, i), at(m.Expiries, i))
}

// liveText writes a batch of the live view, one line a partition or row.
func liveText(b *Batch) string {
	var w strings.Builder
	for p := range b.parts {
		if h := &b.parts[p]; !h.Continued {
			fmt.Fprintf(&w, "partition %d", binary.BigEndian.Uint32(b.Key(p)))
			if !h.Deletion.Live() {
				w.WriteString(" deleted")
			}
			if h.Static == StaticFull {
				fmt.Fprintf(&w, " %s", cellText(&b.vecs[2], &b.static, p))
			}
			w.WriteString("\n")
		}
		from, to := b.PartitionRows(p)
		for i := from; i < to; i++ {
			if b.MarkerAt(i) != nil {
				w.WriteString("marker\n")
				continue
			}
			fmt.Fprintf(&w, "%d %s %s %s\n", (*b.Int64s(1))[i], livenessText(&b.meta, i), cellText(&b.vecs[3], &b.meta, i), cellText(&b.vecs[4], &b.meta, i))
		}
	}
	return w.String()
}

// alive is the obvious judgement of a cell or, with state CellAsRow, of a
// liveness.
func (r *historyRow) alive(c *historyCell, deletions []Deletion, now int64) bool {
	written, expiry := r.written, r.expiry
	if c.state&CellOwnTime != 0 {
		written = c.written
	}
	if c.state&CellOwnExpiry != 0 {
		expiry = c.expiry
	}
	for _, d := range deletions {
		if !d.Live() && written <= d.MarkedForDeleteAt {
			return false
		}
	}
	switch c.state.Kind() {
	case CellAsRow:
		return r.liveness == LivenessLive || r.liveness == LivenessExpiring && now < expiry
	case CellLive:
		return true
	case CellExpiring:
		return now < expiry
	}
	return false
}

// text is the live row, or "" if it is dead.
func (r *historyRow) text(deletions []Deletion, now int64, cells int) string {
	liveness := r.alive(&historyCell{}, deletions, now)
	text := "none"
	switch {
	case liveness && r.liveness == LivenessLive:
		text = fmt.Sprintf("live@%d", r.written)
	case liveness:
		text = fmt.Sprintf("expiring@%d+%d<%d", r.written, r.ttl, r.expiry)
	}
	there := liveness && cells == 2
	for k := range cells {
		c := &r.cells[k]
		if !r.alive(c, deletions, now) {
			text += " -"
			continue
		}
		there = true
		written, ttl, expiry := r.written, r.ttl, r.expiry
		if c.state&CellOwnTime != 0 {
			written = c.written
		}
		if c.state&CellOwnExpiry != 0 {
			ttl, expiry = c.ttl, c.expiry
		}
		meta := fmt.Sprintf("@%d", written)
		if c.state.Kind() == CellExpiring || c.state.Kind() == CellAsRow && r.liveness == LivenessExpiring {
			meta += fmt.Sprintf("+%d<%d", ttl, expiry)
		}
		switch {
		case c.state&CellEmpty != 0:
			text += " empty" + meta
		case c.state&CellException != 0:
			text += " !" + c.value + meta
		case k == 0 && cells == 2:
			text += fmt.Sprintf(" %d", len(c.value)) + meta
		default:
			text += fmt.Sprintf(" %q", c.value) + meta
		}
	}
	if !there {
		return ""
	}
	return text
}

// liveHistory is the live view in stored order, judged row by row.
func liveHistory(partitions []history, now int64) string {
	var w strings.Builder
	for _, h := range partitions {
		head := fmt.Sprintf("partition %d", h.key)
		static := ""
		if h.hasStatic {
			deletions := []Deletion{h.deletion}
			if h.static.deletion != nil {
				deletions = append(deletions, h.static.deletion.Deletion)
			}
			if text := h.static.text(deletions, now, 1); text != "" {
				static = text[strings.LastIndex(text, " "):]
			}
		}
		rows := ""
		open := LiveDeletion
		for _, r := range h.rows {
			if r.marker != nil {
				open = LiveDeletion
				if r.marker.Kind.Opens() {
					open = r.marker.Open
				}
				continue
			}
			deletions := []Deletion{h.deletion, open}
			if d := r.deletion; d != nil && !(d.Shadowable && r.liveness != LivenessNone && r.written > d.MarkedForDeleteAt) {
				deletions = append(deletions, d.Deletion)
			}
			if text := r.text(deletions, now, 2); text != "" {
				rows += fmt.Sprintf("%d %s\n", r.at, text)
			}
		}
		if static != "" || rows != "" {
			w.WriteString(head + static + "\n" + rows)
		}
	}
	return w.String()
}

func drawLiveDeletion(t *rapid.T) Deletion {
	return Deletion{rapid.Int64Range(-1, 9).Draw(t, "deleted"), rapid.Int64Range(0, 9).Draw(t, "local")}
}

func drawLiveRow(t *rapid.T, plain bool) (r historyRow) {
	if !plain {
		r.liveness = Liveness(rapid.IntRange(0, 3).Draw(t, "liveness"))
	}
	if r.liveness != LivenessNone {
		r.written = rapid.Int64Range(0, 10).Draw(t, "written")
	}
	if r.liveness >= LivenessExpiring {
		r.ttl = rapid.Int32Range(1, 5).Draw(t, "ttl")
		r.expiry = rapid.Int64Range(0, 10).Draw(t, "expiry")
	}
	if !plain && rapid.IntRange(0, 4).Draw(t, "has deletion") == 0 {
		r.deletion = &RowDeletion{Deletion: drawLiveDeletion(t), Shadowable: rapid.Bool().Draw(t, "shadowable")}
	}
	for k := range r.cells {
		r.cells[k] = drawLiveCell(t, plain, r.liveness)
	}
	return r
}

func drawLiveCell(t *rapid.T, plain bool, l Liveness) (c historyCell) {
	if !plain {
		c.state = Cell(rapid.IntRange(0, 4).Draw(t, "kind"))
	}
	switch c.state {
	case CellAbsent:
		return c
	case CellAsRow:
		if l == LivenessNone {
			c.state = CellLive
		}
	}
	if c.state != CellAsRow && (l == LivenessNone || rapid.Bool().Draw(t, "own time")) {
		c.state |= CellOwnTime
		c.written = rapid.Int64Range(0, 10).Draw(t, "cell written")
	}
	if c.state.Kind() == CellExpiring && (l != LivenessExpiring || rapid.Bool().Draw(t, "own expiry")) {
		c.state |= CellOwnExpiry
		c.ttl = rapid.Int32Range(1, 5).Draw(t, "cell ttl")
	}
	if c.state.Kind() == CellExpiring || c.state.Kind() == CellTombstone {
		c.expiry = rapid.Int64Range(0, 10).Draw(t, "cell expiry")
	}
	if c.state.Kind() != CellTombstone {
		c.value = rapid.StringMatching("[a-c]{0,4}").Draw(t, "value")
		if !plain && c.value == "" {
			c.state |= CellEmpty
		}
		if c.value == "ab" && !plain {
			c.state |= CellException
		}
	}
	return c
}

// drawLiveHistory draws a partition, its rows in ascending order.
func drawLiveHistory(t *rapid.T, key int32, plain bool) history {
	h := history{key: key, deletion: LiveDeletion}
	if !plain && rapid.IntRange(0, 3).Draw(t, "partition deleted") == 0 {
		h.deletion = drawLiveDeletion(t)
	}
	h.hasStatic = rapid.Bool().Draw(t, "static")
	if h.hasStatic {
		h.static = drawLiveRow(t, plain)
	}
	var open *Deletion
	marker := func(at int64, prefix int, closes, opens bool, kind BoundKind) {
		m := Marker{Prefix: prefix, Kind: kind}
		if closes {
			m.Close, open = *open, nil
		}
		if opens {
			d := drawLiveDeletion(t)
			m.Open, open = d, &d
		}
		h.rows = append(h.rows, historyRow{marker: &m, at: at})
	}
	maybe := func(at int64, end, boundary, start BoundKind) {
		if plain {
			return
		}
		switch k := rapid.IntRange(0, 7).Draw(t, "marker"); {
		case k > 1:
		case open != nil && k == 0:
			marker(at, 1, true, false, end)
		case open != nil:
			marker(at, 1, true, true, boundary)
		default:
			marker(at, 1, false, true, start)
		}
	}
	if !plain && rapid.IntRange(0, 4).Draw(t, "open from the start") == 0 {
		marker(0, 0, false, true, InclStart)
	}
	for c := range rapid.Int64Range(0, 6).Draw(t, "rows") {
		maybe(c, ExclEnd, ExclEndInclStart, InclStart)
		if rapid.IntRange(0, 3).Draw(t, "row") > 0 {
			r := drawLiveRow(t, plain)
			r.at = c
			h.rows = append(h.rows, r)
		}
		maybe(c, InclEnd, InclEndExclStart, ExclStart)
	}
	if open != nil {
		marker(0, 0, true, false, InclEnd)
	}
	return h
}

// cutAt is b as two batches, of which the second goes on from the first.
func cutAt(t require.TestingT, b *Batch, cut int) (pieces [2]*Batch) {
	first, second := NewBatch(b.schema), NewBatch(b.schema)
	p := 0
	for p < len(b.parts) && b.parts[p].Start < cut {
		p++
	}
	require.NoError(t, first.AppendParts(b, 0, cut, 0, p))
	if p > 0 {
		if _, end := b.PartitionRows(p - 1); cut < end {
			second.BeginPartition(b.Key(p - 1)).Continued = true
			for col := b.schema.from[Static]; col < b.schema.from[Regular]; col++ {
				second.vecs[col].Cells = []Cell{CellAbsent}
			}
		}
	}
	require.NoError(t, second.AppendParts(b, cut, b.Len(), p, len(b.parts)))
	pieces = [2]*Batch{first, second}
	for _, c := range pieces {
		require.NoError(t, c.Check())
	}
	return pieces
}

func TestLiveFilterEqualsSlowModel(t *testing.T) {
	s := historySchema(t, false)
	rapid.Check(t, func(t *rapid.T) {
		plain := rapid.IntRange(0, 4).Draw(t, "plain") == 0
		var partitions []history
		for key := range rapid.Int32Range(1, 4).Draw(t, "partitions") {
			partitions = append(partitions, drawLiveHistory(t, key, plain))
		}
		now := rapid.Int64Range(0, 10).Draw(t, "now")
		want := liveHistory(partitions, now)
		b := historyBatch(t, s, partitions)
		require.NoError(t, s.CheckOrder(b))

		var f LiveFilter
		apply := func(b *Batch, desc bool) {
			f.Reset(now, desc)
			f.Apply(b)
			require.NoError(t, b.Check())
		}
		whole := b.Clone()
		apply(whole, false)
		require.Equal(t, want, liveText(whole), "ascending")
		require.Empty(t, whole.markers)
		require.Empty(t, whole.meta.Deletions)

		back := b.Clone()
		back.Reverse()
		apply(back, true)
		back.Reverse()
		require.Equal(t, want, liveText(back), "descending")

		cut := rapid.IntRange(0, b.Len()).Draw(t, "cut")
		f.Reset(now, false)
		text := ""
		for _, c := range cutAt(t, b, cut) {
			f.Apply(c)
			require.NoError(t, c.Check())
			text += liveText(c)
		}
		require.Equal(t, want, text, "cut at %d", cut)

		r := b.Clone()
		r.Reverse()
		whole.Reverse()
		f.Reset(now, true)
		text = ""
		for _, c := range cutAt(t, r, cut) {
			f.Apply(c)
			text += liveText(c)
		}
		require.Equal(t, liveText(whole), text, "reversed, cut at %d", cut)
	})
}

// A scan that begins within a partition is told what covers it.
func TestLiveFilterFromTheMiddle(t *testing.T) {
	s := historySchema(t, false)
	rapid.Check(t, func(t *rapid.T) {
		h := drawLiveHistory(t, 1, false)
		h.hasStatic = false
		now := rapid.Int64Range(0, 10).Draw(t, "now")
		b := historyBatch(t, s, []history{h})
		from := rapid.IntRange(0, b.Len()).Draw(t, "from")
		open := LiveDeletion
		for _, m := range b.markers {
			if m.Row < from {
				open = LiveDeletion
				if m.Kind.Opens() {
					open = m.Open
				}
			}
		}
		tail, head := h, h
		tail.rows, head.rows = h.rows[from:], h.rows[:from]
		whole, want := liveHistory([]history{h}, now), ""
		for _, part := range []struct {
			desc bool
			rows []historyRow
		}{{false, tail.rows}, {true, head.rows}} {
			want = ""
			for _, r := range part.rows {
				for _, line := range strings.SplitAfter(whole, "\n") {
					if r.marker == nil && strings.HasPrefix(line, fmt.Sprintf("%d ", r.at)) {
						want += line
					}
				}
			}
			c := historyBatch(t, s, []history{{key: 1, deletion: LiveDeletion, rows: part.rows}})
			c.parts[0].Continued = true
			if part.desc {
				c.Reverse()
			}
			var f LiveFilter
			f.Reset(now, part.desc)
			f.BeginPartition(h.deletion)
			f.SetOpen(open)
			f.Apply(c)
			if part.desc {
				c.Reverse()
			}
			if want != "" {
				want = "partition 1\n" + want
			}
			require.Equal(t, want, liveText(c), "desc %v", part.desc)
		}
	})
}

func TestT48SingleFileReadsObeyDeletesAndTTL(t *testing.T) {
	s := historySchema(t, false)
	row := func(at int64, r historyRow) historyRow {
		r.at = at
		for k := range r.cells {
			if r.cells[k].value == "" {
				r.cells[k].value = "x"
			}
		}
		return r
	}
	rows := func() (rows []historyRow) {
		for at := range int64(8) {
			rows = append(rows, row(at, historyRow{written: 10}))
		}
		return rows
	}
	ranged := rows()
	ranged = append(ranged[:6:6], append([]historyRow{{at: 5, marker: &Marker{Prefix: 1, Kind: InclEnd, Close: Deletion{20, 1}}}}, ranged[6:]...)...)
	ranged = append(ranged[:3:3], append([]historyRow{{at: 3, marker: &Marker{Prefix: 1, Kind: InclStart, Open: Deletion{20, 1}}}}, ranged[3:]...)...)
	cell := rows()[:2]
	cell[1].cells[1] = historyCell{state: CellTombstone | CellOwnTime, written: 20, expiry: 1}
	const expiry = 1000
	ttl := []historyRow{row(0, historyRow{liveness: LivenessExpiring, written: 10, ttl: 5, expiry: expiry})}
	deleted := rows()
	deleted[7].written = 21 // after the deletion
	for _, c := range []struct {
		name string
		h    history
		now  int64
		want []int64
		text string
	}{
		{name: "partition deleted after some rows", h: history{deletion: Deletion{20, 1}, rows: deleted}, want: []int64{7}},
		{name: "deleted at the very time", h: history{deletion: Deletion{10, 1}, rows: rows()}},
		{name: "range over rows 3..5", h: history{deletion: LiveDeletion, rows: ranged}, want: []int64{0, 1, 2, 6, 7}},
		{name: "cell", h: history{deletion: LiveDeletion, rows: cell}, want: []int64{0, 1}, text: "1 live@10 1@10 -"},
		{name: "t-1", h: history{deletion: LiveDeletion, rows: ttl}, now: expiry - 1, want: []int64{0}},
		{name: "t", h: history{deletion: LiveDeletion, rows: ttl}, now: expiry},
		{name: "t+1", h: history{deletion: LiveDeletion, rows: ttl}, now: expiry + 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, desc := range []bool{false, true} {
				b := historyBatch(t, s, []history{c.h})
				if desc {
					b.Reverse()
				}
				var f LiveFilter
				f.Reset(c.now, desc)
				f.Apply(b)
				if desc {
					b.Reverse()
				}
				require.Equal(t, c.want, append([]int64(nil), *b.Int64s(1)...), "desc %v", desc)
				require.Contains(t, liveText(b), c.text)
				require.Equal(t, len(c.want) > 0, b.NumPartitions() == 1)
			}
		})
	}
}

func TestT44TTLPast2038(t *testing.T) {
	s := historySchema(t, false)
	const (
		at2026 = 1796256000 // 2026-12-03
		at2037 = 2114380800
		at2039 = 2177452800
		at2046 = 2426716800 // 2046-11-25, 20 x 365 days after the write
		at2107 = 4323456000
	)
	written := int64(1795996800) // 2026-11-30
	for _, c := range []struct {
		expiry int64
		alive  [5]bool
	}{
		{written + 630720000, [5]bool{true, true, true, false, false}},
		{written + math.MaxInt32, [5]bool{true, true, true, true, false}},
		{1 << 31, [5]bool{true, true, false, false, false}},
	} {
		for i, now := range []int64{at2026, at2037, at2039, at2046, at2107} {
			b := historyBatch(t, s, []history{{deletion: LiveDeletion,
				rows: []historyRow{{liveness: LivenessExpiring, written: written * 1e6, ttl: 1, expiry: c.expiry}}}})
			var f LiveFilter
			f.Reset(now, false)
			f.Apply(b)
			require.Equal(t, c.alive[i], b.Len() == 1, "expiry %d, now %d", c.expiry, now)
		}
	}
}

func plainBatch(t require.TestingT, n int, liveness Liveness, expiry func(i int) int64) *Batch {
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "time", Type: Timestamp(Millis)}}, nil,
		[]Column{{Name: "v", Type: Double}})
	require.NoError(t, err)
	b := NewBatch(s)
	b.BeginPartition([]byte("series"))
	for i := range n {
		*b.Int64s(1) = append(*b.Int64s(1), int64(i))
		*b.Float64s(2) = append(*b.Float64s(2), float64(i)/10)
		if liveness != LivenessLive {
			b.meta.Liveness = append(b.meta.Liveness, liveness)
			b.meta.Expiries = append(b.meta.Expiries, expiry(i))
		}
	}
	return b
}

func TestLiveFilterPlainRowsStayUntouched(t *testing.T) {
	live := plainBatch(t, 1000, LivenessLive, nil)
	expiring := plainBatch(t, 1000, LivenessExpiring, func(i int) int64 { return 100 + int64(i) })
	var f LiveFilter
	for _, b := range []*Batch{live, expiring} {
		want := b.Clone()
		require.Zero(t, testing.AllocsPerRun(10, func() {
			f.Reset(99, false)
			f.Apply(b)
		}))
		require.Equal(t, want, b.Clone())
	}
	f.Reset(100+400, false)
	f.Apply(expiring)
	require.Equal(t, 599, expiring.Len())
	require.Equal(t, int64(401), (*expiring.Int64s(1))[0])
	require.Equal(t, 40.1, (*expiring.Float64s(2))[0])
	require.Empty(t, *expiring.CellMeta(2))
	require.Equal(t, int64(501), expiring.meta.Expiries[0])
}

func BenchmarkLiveFilterExpiring(b *testing.B) {
	batch := plainBatch(b, 4096, LivenessExpiring, func(i int) int64 { return 100 + int64(i) })
	var f LiveFilter
	for b.Loop() {
		f.Reset(1, false)
		f.Apply(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/row")
}
