package columnar

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/simd"
)

// output writes the file of encoded segments: blocks, indexes, filter,
// statistics and footer.
type output struct {
	stream *streamWriter
	schema *rowgroup.Schema
	o      *options
	temps  rowgroup.TemplateSet
	big    *bigPartition
	parts  indexBuilder
	time   indexBuilder
	hashes []uint64
	foot   footer
	pages  statsPage
	body   []byte
	item   []byte
	pos    [2][]byte
}

// bigPartition is a partition of more than one block that is being written.
type bigPartition struct {
	key      []byte
	ordinal  int64
	first    ref
	entry    ownEntry
	deletion rowgroup.Deletion
	open     rowgroup.Deletion
}

// begin writes what comes before the first segment.
func (w *output) begin(to io.Writer, s *rowgroup.Schema, o *options) error {
	stream, err := newStreamWriter(to, o.chunkKiB)
	if err != nil {
		return err
	}
	w.stream, w.schema, w.o = stream, s, o
	w.foot.stats = rowgroup.NewStats(s)
	w.foot.groupRows, w.foot.groupBytes = o.groupRows, o.groupBytes
	w.foot.options, w.foot.user = o.pairs(), o.userPairs()
	w.parts = indexBuilder{index: indexPartition, emit: w.writeItem}
	w.time = indexBuilder{index: indexTime, emit: w.writeItem}
	w.pages.emit = w.writeItem
	if err := writeFull(to, appendFileHeader(nil, o.chunkKiB)); err != nil {
		return err
	}
	w.foot.schemaBytes = appendSchema(nil, s)
	_, err = w.writeItem(&header{kind: kindSchema}, w.foot.schemaBytes)
	return err
}

// addPartition counts the partition with this key.
func (w *output) addPartition(key []byte) {
	if w.o.filter && len(w.schema.Columns(rowgroup.PartitionKey)) > 0 {
		w.hashes = append(w.hashes, hashKey(key))
	}
	w.foot.totals.partitions++
}

// segment writes an encoded segment.
func (w *output) segment(s *segmentJob) error {
	first, last := s.spans[0], s.spans[len(s.spans)-1]
	w.foot.stats.Merge(s.stats)
	w.foot.totals.groups += int64(len(s.spans))
	w.foot.totals.rows += int64(last.ToRow - first.FromRow)
	w.foot.totals.segments++
	w.pages.groups, w.pages.blocks = len(s.spans), 0
	var err error
	if s.big {
		if s.begins {
			w.beginBig(s, first.FromPart)
		}
		err = w.bigBlocks(s, 0, len(s.spans))
	} else {
		err = w.units(s)
	}
	if err != nil {
		return err
	}
	if err := w.pages.add(s.stats); err != nil {
		return err
	}
	if s.ends {
		return w.endBig()
	}
	return nil
}

// units writes the blocks of whole partitions.
func (w *output) units(s *segmentJob) error {
	from, size := 0, blockOverhead // the open block
	at := 0
	flush := func() error {
		if from == at {
			return nil
		}
		r, err := w.block(s, from, at)
		if err != nil {
			return err
		}
		p := s.spans[from].FromPart
		err = w.parts.addPartitions(0, r, s.first+int64(p), s.first+int64(s.spans[at-1].ToPart), s.batch.Key(p))
		from, size = at, blockOverhead
		return err
	}
	for _, u := range s.units {
		n := 0
		for g := range u.groups {
			n += s.encoded.GroupBytes(at + g)
		}
		if size+n > w.o.blockBytes {
			if err := flush(); err != nil {
				return err
			}
			if u.own && blockOverhead+n > w.o.blockBytes {
				w.beginBig(s, s.spans[at].FromPart)
				if err := w.bigBlocks(s, at, at+u.groups); err != nil {
					return err
				}
				if err := w.endBig(); err != nil {
					return err
				}
				at += u.groups
				from = at
				continue
			}
		}
		size += n
		at += u.groups
	}
	return flush()
}

// blockOverhead is about what a block stores beside its groups.
const blockOverhead = 20

// bigBlocks writes groups [from, to) of s, all of the big partition, as
// blocks, each with an entry in its time index.
func (w *output) bigBlocks(s *segmentJob, from, to int) error {
	b := w.big
	markers := *s.batch.Markers()
	markers = markers[sort.Search(len(markers), func(i int) bool { return markers[i].Row >= s.spans[from].FromRow }):]
	for from < to {
		end, size := from+1, blockOverhead+s.encoded.GroupBytes(from)
		for end < to && size+s.encoded.GroupBytes(end) <= w.o.blockBytes {
			size += s.encoded.GroupBytes(end)
			end++
		}
		r, err := w.block(s, from, end)
		if err != nil {
			return err
		}
		if b.entry.blocks == 0 {
			b.first = r
		}
		first, last := s.spans[from].FromRow, s.spans[end-1].ToRow-1
		w.pos[0] = w.schema.AppendPosition(w.pos[0][:0], s.batch, first)
		w.pos[1] = w.schema.AppendPosition(w.pos[1][:0], s.batch, last)
		rows := int64(last + 1 - first)
		if err := w.time.addTime(0, r, rows, w.pos[0], w.pos[1], b.open); err != nil {
			return err
		}
		for ; len(markers) > 0 && markers[0].Row <= last; markers = markers[1:] {
			b.entry.markers, b.open = true, rowgroup.LiveDeletion
			if m := &markers[0]; m.Kind.Opens() {
				b.open = m.Open
			}
		}
		b.entry.blocks++
		b.entry.rows += rows
		from = end
	}
	return nil
}

func (w *output) beginBig(s *segmentJob, part int) {
	h := s.batch.Partition(part)
	w.big = &bigPartition{
		key: slices.Clone(s.batch.Key(part)), ordinal: s.first + int64(part), deletion: h.Deletion,
		open: rowgroup.LiveDeletion, entry: ownEntry{static: h.Static != rowgroup.StaticAbsent},
	}
	w.time.reset()
}

func (w *output) endBig() error {
	b := w.big
	w.big = nil
	var err error
	if b.entry.time, b.entry.level, err = w.time.finish(); err != nil {
		return err
	}
	return w.parts.addOwn(b.first, b.ordinal, b.key, b.entry, b.deletion)
}

// block writes groups [from, to) of s as a block.
func (w *output) block(s *segmentJob, from, to int) (ref, error) {
	id, t, added := w.temps.Choose(s.encoded, from, to)
	if added {
		bytes := t.AppendTo(nil)
		w.foot.templates = append(w.foot.templates, bytes)
		if _, err := w.writeItem(&header{kind: kindTemplate, fields: [5]uint64{uint64(id)}}, bytes); err != nil {
			return ref{}, err
		}
	}
	first, last := s.spans[from], s.spans[to-1]
	ordinal := s.first + int64(first.FromPart)
	if first.FromPart == first.ToPart { // goes on with a partition
		ordinal--
	}
	body, rest := s.encoded.AppendBlockHead(w.body[:0], from, to, t)
	w.body = body
	w.foot.totals.blocks++
	w.pages.blocks++
	r, err := w.writeParts(&header{kind: kindData, fields: [5]uint64{
		uint64(id), uint64(ordinal), uint64(to - from),
		uint64(last.ToRow - first.FromRow), uint64(last.ToPart - first.FromPart),
	}}, body, rest)
	if w.pages.blocks == 1 {
		w.pages.first = r.off
	}
	return r, err
}

// writeItem appends an item to the stream.
func (w *output) writeItem(h *header, body []byte) (ref, error) { return w.writeParts(h, body, nil) }

// writeParts appends an item to the stream whose body is head and rest. A
// large rest is not copied.
func (w *output) writeParts(h *header, head, rest []byte) (ref, error) {
	h.body = len(head) + len(rest)
	if h.body > h.limit() {
		return ref{}, fmt.Errorf("a %s of %d bytes; the limit is %d", itemName(h.kind), h.body, h.limit())
	}
	r := ref{off: w.stream.off}
	w.item = append(h.appendTo(w.item[:0]), head...)
	var sum uint32
	if len(rest) <= writeBuffer {
		w.item = append(w.item, rest...)
	} else {
		sum = simd.CRC32C(checksum(w.item), rest)
		if _, err := w.stream.Write(w.item); err != nil {
			return r, err
		}
		if _, err := w.stream.Write(rest); err != nil {
			return r, err
		}
		w.item = w.item[:0]
	}
	if w.stream.chunk == 0 {
		if len(rest) <= writeBuffer {
			sum = checksum(w.item)
		}
		w.item = binary.LittleEndian.AppendUint32(w.item, sum)
	}
	_, err := w.stream.Write(w.item)
	r.len = w.stream.off - r.off
	return r, err
}

// finish writes what comes after the last segment.
func (w *output) finish() error {
	f := &w.foot
	var err error
	if f.statistics, err = w.pages.finish(); err != nil {
		return err
	}
	if w.o.filter && f.totals.partitions > 1 {
		if f.filter, err = writeFilter(w.hashes, shardKeys, w.writeItem); err != nil {
			return err
		}
	}
	if f.totals.partitions > 0 {
		if f.root, f.rootLevel, err = w.parts.finish(); err != nil {
			return err
		}
	}
	if err := w.stream.flush(); err != nil {
		return err
	}
	f.streamLen, f.stored = w.stream.off, w.stream.stored
	foot := f.appendTo(nil, w.stream.chunk)
	features := uint32(0)
	if w.stream.chunk > 0 {
		features |= featureChunks
	}
	return writeFull(w.stream.w, appendTrailer(foot, foot, features))
}

// statsPage gathers the statistics of segments.
type statsPage struct {
	emit     func(h *header, body []byte) (ref, error)
	refs     []ref
	body     []byte
	segments int // written before this page
	n        int // in this page
	last     int64
	first    int64 // first block of the segment
	blocks   int
	groups   int
}

// statsPageBytes is the size at which a page of statistics is closed.
const statsPageBytes = 4 << 10

// add adds a segment.
func (p *statsPage) add(s *rowgroup.Stats) error {
	p.body = binary.AppendUvarint(p.body, uint64(p.first-p.last))
	p.last = p.first
	p.body = binary.AppendUvarint(p.body, uint64(p.blocks))
	p.body = binary.AppendUvarint(p.body, uint64(p.groups))
	p.body = s.AppendTo(p.body)
	p.n++
	if len(p.body) < statsPageBytes {
		return nil
	}
	return p.flush()
}

func (p *statsPage) flush() error {
	if p.n == 0 {
		return nil
	}
	r, err := p.emit(&header{kind: kindStats, fields: [5]uint64{uint64(p.segments), uint64(p.n)}}, p.body)
	p.refs = append(p.refs, r)
	p.segments += p.n
	p.n, p.last, p.body = 0, 0, p.body[:0]
	return err
}

func (p *statsPage) finish() ([]ref, error) {
	err := p.flush()
	return p.refs, err
}
