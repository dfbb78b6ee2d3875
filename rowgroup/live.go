package rowgroup

import "slices"

// LiveFilter turns batches as stored into the live view at one second: the
// rows and cells that a query then sees.
//
//   - A deletion at time t deletes what was written at t or before. Those of
//     the partition, of an open range and of the row itself cover a row, and
//     the strongest counts. (A shadowable row deletion counts for nothing where
//     the row's liveness is newer.)
//   - A cell is alive if it is no tombstone, is not deleted, and does not expire
//     or expires after now: it is dead at its expiry.
//   - A row is there if its liveness is alive in the same sense, or a cell is.
//     A static row is there if a cell of it is.
//   - A partition is there if a row or its static row is.
//
// Dead cells become CellAbsent, a dead liveness becomes LivenessNone, and
// markers and deletions vanish. What is alive keeps its values and metadata,
// so for a row to be judged the batch must hold its metadata and the states of
// all its cells. A column whose values were not read counts if its Cells are
// there.
//
// A LiveFilter goes from batch to batch of one scan. It keeps scratch and
// allocates nothing in its steady state.
type LiveFilter struct {
	now  int64
	desc bool

	partition int64 // times of the deletions in force; NoDeletion if there is none
	open      int64
	begun     bool // partition, open: set by the caller for the partition that comes first
	opened    bool
	shown     bool // the partition that is read is in an earlier batch of the output

	cover   []int64 // by unfiltered: time of the strongest deletion over it; empty: none anywhere
	alive   []bool  // by unfiltered: its liveness is alive; empty: all are
	rows    []bool  // by unfiltered: it is a row that stays
	statics []bool  // by partition: its static row stays
	sel     []int32
}

// Reset begins a scan at second now since 1970, in stored order or, with desc,
// in its reverse.
func (f *LiveFilter) Reset(now int64, desc bool) {
	f.now, f.desc = now, desc
	f.partition, f.open = NoDeletion, NoDeletion
	f.begun, f.opened, f.shown = false, false, false
}

// BeginPartition says that the next batch begins within or at the begin of a
// partition with this deletion. It is needed only where the head of that batch
// is Continued without an earlier batch of the partition.
func (f *LiveFilter) BeginPartition(d Deletion) {
	f.partition, f.open = d.MarkedForDeleteAt, NoDeletion
	f.begun, f.opened, f.shown = true, false, false
}

// SetOpen says which range deletion is open at the first unfiltered of the
// next batch, coming from before it in the direction of the scan.
func (f *LiveFilter) SetOpen(d Deletion) { f.open, f.opened = d.MarkedForDeleteAt, true }

// Apply leaves of b, in place, what is alive. b holds the unfiltereds that
// follow those of the batch before, reversed if the scan is. Nothing may be
// left; then b has no partitions either.
func (f *LiveFilter) Apply(b *Batch) {
	n := b.Len()
	f.deletions(b, n)
	f.liveness(&b.meta, n)
	f.cells(b, n)
	if len(f.alive) > 0 || len(b.markers) > 0 {
		f.dropRows(b, n)
	}
	b.meta.Deletions, b.static.Deletions = b.meta.Deletions[:0], b.static.Deletions[:0]
	f.dropPartitions(b)
}

// deletions finds what covers each unfiltered, and the static rows that stay.
func (f *LiveFilter) deletions(b *Batch, n int) {
	f.cover, f.statics = f.cover[:0], f.statics[:0]
	some := f.partition != NoDeletion || f.open != NoDeletion || len(b.markers) > 0 || len(b.meta.Deletions) > 0
	for p := 0; p < len(b.parts) && !some; p++ {
		some = !b.parts[p].Deletion.Live()
	}
	if some {
		f.cover = slices.Grow(f.cover, n)[:n]
	}
	m := 0
	for p := range b.parts {
		head := &b.parts[p]
		static := false
		if !head.Continued {
			deleted := head.Deletion.MarkedForDeleteAt
			if f.begun && p == 0 {
				deleted = max(deleted, f.partition)
			}
			f.partition = deleted
			if !f.opened || p > 0 {
				f.open = NoDeletion
			}
			static = head.Static == StaticFull && f.static(b, p)
		}
		f.statics = append(f.statics, static)
		if some {
			from, to := b.PartitionRows(p)
			m = f.coverRows(b, m, from, to)
		}
	}
	f.begun, f.opened = false, false
	for col := b.schema.from[Static]; col < b.schema.from[Regular]; col++ {
		if m := b.vecs[col].multi; m != nil {
			m.dropAbsent()
		}
	}
	for _, d := range b.meta.Deletions {
		if !some || d.Shadowable && at(b.meta.Liveness, d.Row) != LivenessNone && at(b.meta.WriteTimes, d.Row) > d.MarkedForDeleteAt {
			continue
		}
		f.cover[d.Row] = max(f.cover[d.Row], d.MarkedForDeleteAt)
	}
}

// coverRows sets cover for [from, to), rows of one partition, and follows the
// markers there, of which m is the first. It returns the first one behind.
func (f *LiveFilter) coverRows(b *Batch, m, from, to int) int {
	fill := func(to int) {
		cover := max(f.partition, f.open)
		for ; from < to; from++ {
			f.cover[from] = cover
		}
	}
	for ; m < len(b.markers) && b.markers[m].Row < to; m++ {
		k := &b.markers[m]
		fill(k.Row)
		f.open = NoDeletion
		switch {
		case f.desc && k.Kind.Closes():
			f.open = k.Close.MarkedForDeleteAt
		case !f.desc && k.Kind.Opens():
			f.open = k.Open.MarkedForDeleteAt
		}
	}
	fill(to)
	return m
}

// covered reports whether a deletion over unfiltered i deletes what was
// written at t.
func (f *LiveFilter) covered(i int, t int64) bool {
	return len(f.cover) > 0 && deletes(f.cover[i], t)
}

func deletes(deletedAt, writtenAt int64) bool {
	return deletedAt != NoDeletion && writtenAt <= deletedAt
}

// liveness finds the rows whose liveness is alive.
func (f *LiveFilter) liveness(m *RowMeta, n int) {
	f.alive = f.alive[:0]
	if len(f.cover) == 0 && f.allAlive(m) {
		return
	}
	f.alive = slices.Grow(f.alive, n)[:n]
	for i := range f.alive {
		f.alive[i] = f.livenessAlive(m, i) && !f.covered(i, at(m.WriteTimes, i))
	}
}

// allAlive reports whether no liveness is none or has expired.
func (f *LiveFilter) allAlive(m *RowMeta) bool {
	first := slices.IndexFunc(m.Liveness, func(l Liveness) bool { return l != LivenessLive })
	if first < 0 {
		return true
	}
	if len(m.Expiries) == 0 {
		return false
	}
	dead := false
	for i, l := range m.Liveness[first:] {
		dead = dead || l != LivenessLive && (l != LivenessExpiring || m.Expiries[first+i] <= f.now)
	}
	return !dead
}

// livenessAlive reports whether the liveness of row i is alive, deletions
// apart.
func (f *LiveFilter) livenessAlive(m *RowMeta, i int) bool {
	switch at(m.Liveness, i) {
	case LivenessLive:
		return true
	case LivenessExpiring:
		return f.now < at(m.Expiries, i)
	}
	return false
}

// cells makes dead cells of regular columns absent and finds the rows that
// stay, if not all do.
func (f *LiveFilter) cells(b *Batch, n int) {
	f.rows = append(f.rows[:0], f.alive...)
	for col := b.schema.from[Regular]; col < len(b.vecs); col++ {
		v := &b.vecs[col]
		if v.multi != nil {
			f.multi(v.multi, &b.meta, n)
			continue
		}
		died := false
		for i, c := range v.Cells {
			alive := false
			switch k := c.Kind(); {
			case k == CellAbsent:
				continue
			case k == CellAsRow:
				alive = len(f.alive) == 0 || f.alive[i]
			case k == CellLive && c&CellOwnTime != 0:
				alive = !f.covered(i, v.WriteTimes[i])
			default:
				cover := int64(NoDeletion)
				if len(f.cover) > 0 {
					cover = f.cover[i]
				}
				alive = f.cellAlive(v, &b.meta, i, i, cover)
			}
			if !alive {
				died = died || c&CellException != 0
				v.Cells[i] = CellAbsent
				continue
			}
			if len(f.rows) > 0 && !f.alive[i] {
				f.rows[i] = true
				v.own(&b.meta, i, i, n)
			}
		}
		if died {
			v.dropExceptions()
		}
	}
}

// multi drops the dead cells of m in n rows and finds the rows that stay.
func (f *LiveFilter) multi(m *MultiCells, meta *RowMeta, n int) {
	for i := range len(m.rows) {
		cover := int64(NoDeletion)
		if len(f.cover) > 0 {
			cover = f.cover[i]
		}
		asRow := len(f.alive) == 0 || f.alive[i]
		if f.cellsOf(m, meta, i, cover, asRow) && !asRow {
			f.rows[i] = true
		}
	}
	m.dropAbsent()
}

// cellsOf makes the dead cells of m in row i absent, which is under a deletion at
// cover and has a liveness that is alive or not, and reports whether one is alive.
func (f *LiveFilter) cellsOf(m *MultiCells, meta *RowMeta, i int, cover int64, asRow bool) (stays bool) {
	from, to, there := m.Row(i)
	if !there {
		return false
	}
	cover = max(cover, m.Deletion(i).MarkedForDeleteAt)
	v := &m.values
	for k := from; k < to; k++ {
		alive := false
		if c := m.State(k); c.Kind() == CellAsRow {
			alive = asRow && !deletes(cover, at(meta.WriteTimes, i))
		} else {
			alive = f.cellAlive(v, meta, k, i, cover)
		}
		switch {
		case !alive:
			v.Cells = growZero(v.Cells, m.Len())
			v.Cells[k] = CellAbsent
		case !asRow:
			v.Cells = growZero(v.Cells, m.Len())
			v.own(meta, k, i, m.Len())
			stays = true
		default:
			stays = true
		}
	}
	return stays
}

// cellAlive reports whether cell i of v, of a row, is alive under a deletion at
// cover. It is neither absent nor as its row.
func (f *LiveFilter) cellAlive(v *vector, m *RowMeta, i, row int, cover int64) bool {
	c := v.Cells[i]
	if c.Kind() == CellTombstone {
		return false
	}
	written := at(m.WriteTimes, row)
	if c&CellOwnTime != 0 {
		written = v.WriteTimes[i]
	}
	if deletes(cover, written) {
		return false
	}
	if c.Kind() == CellLive {
		return true
	}
	expiry := at(m.Expiries, row)
	if c&CellOwnExpiry != 0 {
		expiry = v.Expiries[i]
	}
	return f.now < expiry
}

// own gives cell i of v, one of n, the metadata that it shares with its row,
// whose liveness goes.
func (v *vector) own(m *RowMeta, i, row, n int) {
	c := &v.Cells[i]
	if *c&CellOwnTime == 0 {
		v.WriteTimes = growZero(v.WriteTimes, n)
		v.WriteTimes[i] = at(m.WriteTimes, row)
		*c |= CellOwnTime
	}
	if c.Kind() == CellExpiring && *c&CellOwnExpiry == 0 {
		v.TTLs, v.Expiries = growZero(v.TTLs, n), growZero(v.Expiries, n)
		v.TTLs[i], v.Expiries[i] = at(m.TTLs, row), at(m.Expiries, row)
		*c |= CellOwnExpiry
	}
}

// dropExceptions drops the exceptions whose cells are gone.
func (v *vector) dropExceptions() {
	v.Exceptions = slices.DeleteFunc(v.Exceptions, func(e Exception) bool { return v.Cells[e.Row]&CellException == 0 })
}

// static makes the dead cells of the static row of partition p absent and
// reports whether one is alive.
func (f *LiveFilter) static(b *Batch, p int) (stays bool) {
	m, cover := &b.static, f.partition
	for _, d := range m.Deletions {
		if d.Row == p {
			cover = max(cover, d.MarkedForDeleteAt)
		}
	}
	asRow := f.livenessAlive(m, p) && !deletes(cover, at(m.WriteTimes, p))
	if !asRow && at(m.Liveness, p) != LivenessNone {
		m.Liveness = growZero(m.Liveness, len(b.parts))
	}
	for col := b.schema.from[Static]; col < b.schema.from[Regular]; col++ {
		v := &b.vecs[col]
		if v.multi != nil {
			stays = f.cellsOf(v.multi, m, p, cover, asRow) || stays
			continue
		}
		if len(v.Cells) == 0 {
			if v.len() == 0 { // not there at all
				continue
			}
			if asRow {
				stays = true
				continue
			}
			v.Cells = growZero(v.Cells, len(b.parts))
		}
		switch c := v.Cells[p]; {
		case c.Kind() == CellAbsent:
			continue
		case c.Kind() == CellAsRow && asRow, c.Kind() != CellAsRow && f.cellAlive(v, m, p, p, cover):
			stays = true
			if !asRow {
				v.own(m, p, p, len(b.parts))
			}
		default:
			v.Cells[p] = CellAbsent
			if c&CellException != 0 {
				v.dropExceptions()
			}
		}
	}
	if !asRow && len(m.Liveness) > 0 {
		m.Liveness[p] = LivenessNone
	}
	return stays
}

// dropRows keeps the rows that stay and makes what is dead of them look so.
func (f *LiveFilter) dropRows(b *Batch, n int) {
	f.sel = f.sel[:0]
	deadLiveness, m := false, 0
	for i := range n {
		if m < len(b.markers) && b.markers[m].Row == i {
			m++
			continue
		}
		if len(f.alive) > 0 {
			if !f.rows[i] {
				continue
			}
			deadLiveness = deadLiveness || !f.alive[i]
		}
		f.sel = append(f.sel, int32(i))
	}
	if deadLiveness {
		b.meta.Liveness = growZero(b.meta.Liveness, n)
		for _, i := range f.sel {
			if !f.alive[i] {
				b.meta.Liveness[i] = LivenessNone
			}
		}
		for col := b.schema.from[Regular]; col < len(b.vecs); col++ {
			v := &b.vecs[col]
			if len(v.Cells) > 0 || v.len() == 0 || v.multi != nil {
				continue
			}
			v.Cells = growZero(v.Cells, n)
			for _, i := range f.sel {
				if !f.alive[i] {
					v.Cells[i] = CellAbsent
				}
			}
		}
	}
	b.markers = b.markers[:0]
	if len(f.sel) < n {
		b.keep(f.sel)
	}
}

// dropPartitions drops partitions of which nothing is left.
func (f *LiveFilter) dropPartitions(b *Batch) {
	f.sel = f.sel[:0]
	for p := range b.parts {
		head := &b.parts[p]
		from, to := b.PartitionRows(p)
		head.Deletion = LiveDeletion
		if !head.Continued {
			f.shown = false
			if !f.statics[p] {
				head.Static = StaticAbsent
			}
		}
		if from == to && !f.statics[p] {
			continue
		}
		if !f.shown && head.Continued {
			head.Continued, head.Static = false, StaticAbsent
		}
		f.shown = true
		f.sel = append(f.sel, int32(p))
	}
	if len(f.sel) < len(b.parts) {
		b.keepPartitions(f.sel)
	}
}
