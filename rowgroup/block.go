package rowgroup

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
)

// Span is one row group to be: unfiltereds [FromRow, ToRow) of a batch and
// partitions [FromPart, ToPart), those that begin in the group. Either the
// group holds whole partitions, or it continues one partition (FromPart ==
// ToPart) or begins one that goes on.
type Span struct {
	FromRow, ToRow   int
	FromPart, ToPart int
}

// EncodeOptions are the choices of a table that concern row groups.
type EncodeOptions struct {
	// Encodings are the encodings allowed, by column number; a column without
	// any is chosen for automatically. Each Holds values of the column's class.
	// A chunk that the chosen one cannot hold, or would make larger than raw
	// values, takes another.
	Encodings map[int][]encoding.ID
	Zstd      map[int]bool // by column number: try Zstd on each chunk, keep it if smaller
	ZstdMeta  bool         // the same for metadata and keys
}

// SegmentEncoder turns rows into encoded row groups, a segment at a time. It
// keeps scratch between segments but no history: equal rows and options give
// equal bytes.
type SegmentEncoder struct{ segmentEncoder }

// NewSegmentEncoder makes an encoder for tables of schema s.
func NewSegmentEncoder(s *Schema, o EncodeOptions) *SegmentEncoder { return newSegmentEncoder(s, o) }

// Encode encodes the groups of one segment. The Segment is valid until the
// next call and keeps nothing of b.
func (e *SegmentEncoder) Encode(b *Batch, spans []Span) (*Segment, error) {
	return e.encode(b, spans, nil)
}

// EncodeCounting is Encode, and adds the groups, which follow one another in b,
// to st as its Add does. That takes less than both: where a chunk of texts is a
// dictionary, st looks at the distinct ones only.
func (e *SegmentEncoder) EncodeCounting(b *Batch, spans []Span, st *Stats) (*Segment, error) {
	return e.encode(b, spans, st)
}

// Segment is a run of encoded row groups.
type Segment struct{ segment }

// NumGroups is the number of row groups.
func (s *Segment) NumGroups() int { return s.numGroups() }

// GroupBytes is about what group g adds to a block, parameters included.
func (s *Segment) GroupBytes(g int) int { return s.groupBytes(g) }

// Template describes how the chunks of a block are encoded and how the
// block's parameter columns are packed.
type Template struct{ template }

// AppendTo appends the template's bytes.
func (t *Template) AppendTo(dst []byte) []byte { return t.appendTo(dst) }

// ParseTemplate reads a template of a file with schema s.
func ParseTemplate(s *Schema, src []byte) (*Template, error) { return parseTemplate(s, src) }

// TemplateSet holds the templates of one file while it is written.
type TemplateSet struct{ templateSet }

// Choose finds the best template for groups [from, to) of seg, or adds one.
// Templates are numbered in the order in which they were added.
func (ts *TemplateSet) Choose(seg *Segment, from, to int) (id int, t *Template, added bool) {
	return ts.choose(seg, from, to)
}

// AppendBlock appends the body of a block that holds groups [from, to) of seg,
// described by t.
func (s *Segment) AppendBlock(dst []byte, from, to int, t *Template) []byte {
	return s.appendBlock(dst, from, to, t)
}

// AppendBlockHead is AppendBlock without the end of the body that stands in seg
// already, which it returns as rest: a large row need not be copied. rest is
// valid as long as seg.
func (s *Segment) AppendBlockHead(dst []byte, from, to int, t *Template) (head, rest []byte) {
	return s.appendBlockHead(dst, from, to, t)
}

// BlockDecoder reads the body of one block after another.
type BlockDecoder struct{ blockDecoder }

// NewBlockDecoder makes a decoder for blocks of schema s.
func NewBlockDecoder(s *Schema) *BlockDecoder { return newBlockDecoder(s) }

// Open reads the parameters of a block of this many groups, unfiltereds and
// partition starts and checks them against one another and against the
// length of body. The decoder keeps body until the next Open.
func (d *BlockDecoder) Open(t *Template, groups, rows, parts int, body []byte) error {
	return d.open(t, groups, rows, parts, body)
}

// NumGroups is the number of row groups in the open block.
func (d *BlockDecoder) NumGroups() int { return d.numGroups() }

// GroupRows is the number of unfiltereds in group g.
func (d *BlockDecoder) GroupRows(g int) int { return d.groupRows(g) }

// GroupPartitions is the number of partitions that begin in group g.
func (d *BlockDecoder) GroupPartitions(g int) int { return d.groupPartitions(g) }

// Decode appends groups [from, to) to dst, which must be of the decoder's
// schema. If group from continues a partition, the caller has begun it in dst.
// Of o, Columns and WithoutMetadata count. Damage, and byte strings beyond
// 4 GiB in one column of dst, are an encoding.CorruptError.
func (d *BlockDecoder) Decode(dst *Batch, from, to int, o *ScanOptions) error {
	return d.decode(dst, from, to, o)
}

// DecodeWhole is Open, and Decode of all groups, in one pass, into dst, which must
// be empty; key is of the partition that goes on in the block unless one begins
// with it. It leaves no block open, and reports whether it could: it does blocks
// whose template says all but numbers. Where it could not, dst holds anything, and
// Open and Decode do it or say what is wrong.
func (d *BlockDecoder) DecodeWhole(dst *Batch, key []byte, t *Template, groups, rows, parts int, body []byte, o *ScanOptions) bool {
	if o == nil {
		o = &ScanOptions{}
	}
	return d.decodeWhole(dst, key, t, groups, rows, parts, body, o)
}

// DecodePartition is Decode, but of the partitions that begin in group from it
// appends only number i, with its unfiltereds. dst must be empty.
func (d *BlockDecoder) DecodePartition(dst *Batch, from, to, i int, o *ScanOptions) error {
	return d.decodePartition(dst, from, to, i, o)
}

// Keys are the keys of the partitions that begin in group g, valid until those
// of another are asked for or a block is opened.
func (d *BlockDecoder) Keys(g int) (*bytestrings.Strings, error) { return d.keysOf(g) }

// Head is the head of partition i of those that begin in group g; its Start
// counts from the group's first unfiltered.
func (d *BlockDecoder) Head(g, i int) (PartitionHead, error) { return d.headOf(g, i) }

// DecodeWithin is DecodeWhole of the rows that x asks for, of which it returns how
// many there are. It could not where they are of two partitions.
func (d *BlockDecoder) DecodeWithin(dst *Batch, key []byte, t *Template, groups, rows, parts int, body []byte, x *RowRange, o *ScanOptions) (n int, ok bool) {
	if o == nil {
		o = &ScanOptions{}
	}
	return d.decodeWithin(dst, key, t, groups, rows, parts, body, x, o)
}
