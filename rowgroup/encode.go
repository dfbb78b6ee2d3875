package rowgroup

import (
	"math"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
	"github.com/colsst/colsst/encoding/bss"
	"github.com/colsst/colsst/encoding/bytestrings"
	"github.com/colsst/colsst/encoding/constant"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/encoding/dict"
	"github.com/colsst/colsst/encoding/function"
	"github.com/colsst/colsst/encoding/raw"
	"github.com/colsst/colsst/encoding/runlength"
)

// chunk is one encoded stream of one group: its parameter columns' values and
// where its body stands.
type chunk struct {
	stream int32
	slots  [numSlots]int64
	off    int // in segment.bodies
	len    int
}

// segment holds encoded groups.
type segment struct {
	l      *layout
	groups []groupInfo
	chunks []chunk // of one group after the other, by stream
	bodies []byte

	cols   columns // of the block at hand
	packed bitWriter
	zero   [MaxBlockGroups]int64
	none   [MaxBlockGroups]int64 // countNone
}

type groupInfo struct {
	rows, parts int
	bytes       int // of the bodies
	from, to    int // its chunks
}

func (s *segment) numGroups() int { return len(s.groups) }

// paramBytes is what the parameters of one group take in a block, about.
const paramBytes = 6

func (s *segment) groupBytes(g int) int { return s.groups[g].bytes + paramBytes }

// codecs are the encoders of one stream; each keeps its history.
type codecs struct {
	delta  deltadelta.Encoder
	runs   runlength.Encoder
	fun    function.Encoder
	alp    alp.Encoder
	bytes  bytestrings.Encoder
	dict   dict.Encoder
	choice choice
}

func (c *codecs) reset() {
	c.delta.Reset()
	c.runs.Reset()
	c.fun.Reset()
	c.alp.Reset()
	c.bytes.Reset()
	c.dict.Reset()
}

// choice is an encoding, with its plan if it is encoding.Function.
type choice struct {
	id   encoding.ID
	plan function.Plan
}

type segmentEncoder struct {
	l       *layout
	o       EncodeOptions
	g       *gatherer
	codecs  []codecs
	seg     Segment
	zstd    *zstd.Encoder
	scratch []byte
	wide    [2][]int64 // x and y of a function, where they are int32
	samples []int
}

func newSegmentEncoder(s *Schema, o EncodeOptions) *SegmentEncoder {
	l := s.layout
	e := &SegmentEncoder{segmentEncoder{l: l, o: o, g: newGatherer(s, l), codecs: make([]codecs, len(l.streams))}}
	e.seg.l = l
	for i := range e.seg.none {
		e.seg.none[i] = countNone
	}
	if len(o.Zstd) > 0 || o.ZstdMeta {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithSingleSegment(true))
		if err != nil {
			panic(err) // the options are constants
		}
		e.zstd = z
	}
	return e
}

func (e *segmentEncoder) encode(b *Batch, spans []Span) (*Segment, error) {
	s := &e.seg.segment
	s.groups, s.chunks, s.bodies = s.groups[:0], s.chunks[:0], s.bodies[:0]
	s.cols.from, s.cols.to = 0, 0
	e.choose(b, spans)
	for i := range e.codecs {
		e.codecs[i].reset()
	}
	for _, sp := range spans {
		e.g.gather(b, sp)
		info := groupInfo{rows: sp.ToRow - sp.FromRow, parts: sp.ToPart - sp.FromPart, from: len(s.chunks)}
		for st := range e.l.streams {
			if n := e.g.streams[st].len(e.l.streams[st].class); n > 0 {
				c := e.encodeChunk(st, n, &info)
				info.bytes += c.len
				s.chunks = append(s.chunks, c)
			}
		}
		info.to = len(s.chunks)
		s.groups = append(s.groups, info)
	}
	return &e.seg, nil
}

// refCount is the usual count of a stream in a group.
func (s *stream) refCount(rows, parts int) int {
	if s.ref == refPartitions {
		return parts
	}
	return rows
}

// encodeChunk encodes the n values of stream st of the group that is gathered.
func (e *segmentEncoder) encodeChunk(st, n int, info *groupInfo) chunk {
	str := &e.l.streams[st]
	v := &e.g.streams[st]
	c := chunk{stream: int32(st), off: len(e.seg.bodies)}
	c.slots[slotCount] = countAll
	if n != str.refCount(info.rows, info.parts) {
		c.slots[slotCount] = countExplicit + int64(n)
	}
	var p encoding.Params
	id, bodies := e.append(e.seg.bodies, st, v, e.codecs[st].choice, &p)
	if limit := rawBytes(str.class, v) + 8; len(bodies)-c.off > limit && str.class != ClassBytes {
		p = encoding.Params{}
		id, bodies = e.append(bodies[:c.off], st, v, choice{id: encoding.Raw}, &p)
	}
	c.slots[slotID] = int64(id)
	copy(c.slots[slotParam:], p[:])
	if e.compresses(str) {
		bodies, c.slots[slotZstd] = e.compress(bodies, c.off)
	}
	c.len = len(bodies) - c.off
	e.seg.bodies = bodies
	return c
}

// compresses reports whether chunks of the stream are tried with Zstd.
func (e *segmentEncoder) compresses(s *stream) bool {
	if s.column >= 0 {
		return e.o.Zstd[s.column]
	}
	return e.o.ZstdMeta
}

// compress replaces b[off:] by its Zstd frame where that is smaller, and
// returns the frame's length or 0.
func (e *segmentEncoder) compress(b []byte, off int) ([]byte, int64) {
	body := b[off:]
	if len(body) < 16 { // a frame has some 10 bytes of its own
		return b, 0
	}
	e.scratch = e.zstd.EncodeAll(body, e.scratch[:0])
	if len(e.scratch) >= len(body) {
		return b, 0
	}
	return append(b[:off], e.scratch...), int64(len(e.scratch))
}

func rawBytes(c Class, v *values) int {
	switch c {
	case ClassInt32, ClassFloat32:
		return 4 * v.len(c)
	case ClassBytes:
		return len(v.str.Data)
	}
	return 8 * v.len(c)
}

// append encodes v with the encoding chosen, or with another one where that
// cannot hold it, and returns the encoding used.
func (e *segmentEncoder) append(dst []byte, st int, v *values, ch choice, p *encoding.Params) (encoding.ID, []byte) {
	c := &e.codecs[st]
	switch e.l.streams[st].class {
	case ClassInt32:
		switch ch.id {
		case encoding.Constant:
			if constant.Int32(v.i32, p) {
				return encoding.Constant, dst
			}
		case encoding.Raw:
			return encoding.Raw, raw.AppendInt32(dst, v.i32)
		case encoding.RunLength:
			return encoding.RunLength, c.runs.AppendInt32(dst, v.i32, p)
		}
		return encoding.DeltaOfDelta, c.delta.AppendInt32(dst, v.i32, p)
	case ClassInt64:
		switch ch.id {
		case encoding.Constant:
			if constant.Int64(v.i64, p) {
				return encoding.Constant, dst
			}
		case encoding.Raw:
			return encoding.Raw, raw.AppendInt64(dst, v.i64)
		case encoding.RunLength:
			return encoding.RunLength, c.runs.AppendInt64(dst, v.i64, p)
		case encoding.Function:
			x, xok := e.intsOf(ch.plan.X, 0, len(v.i64))
			y, yok := e.intsOf(ch.plan.Y, 1, len(v.i64))
			if xok && yok {
				return encoding.Function, c.fun.Append(dst, v.i64, x, y, ch.plan, p)
			}
		}
		return encoding.DeltaOfDelta, c.delta.AppendInt64(dst, v.i64, p)
	case ClassFloat32:
		switch ch.id {
		case encoding.Constant:
			if constant.Float32(v.f32, p) {
				return encoding.Constant, dst
			}
		case encoding.Raw:
			return encoding.Raw, raw.AppendFloat32(dst, v.f32)
		case encoding.ByteStreamSplit:
			return encoding.ByteStreamSplit, bss.AppendFloat32(dst, v.f32)
		}
		return encoding.ALP, c.alp.AppendFloat32(dst, v.f32, p)
	case ClassFloat64:
		switch ch.id {
		case encoding.Constant:
			if constant.Float64(v.f64, p) {
				return encoding.Constant, dst
			}
		case encoding.Raw:
			return encoding.Raw, raw.AppendFloat64(dst, v.f64)
		case encoding.ByteStreamSplit:
			return encoding.ByteStreamSplit, bss.AppendFloat64(dst, v.f64)
		}
		return encoding.ALP, c.alp.AppendFloat64(dst, v.f64, p)
	}
	switch ch.id {
	case encoding.Dictionary:
		if out, ok := c.dict.TryAppend(dst, v.str, p); ok {
			return encoding.Dictionary, out
		}
		*p = encoding.Params{}
	case encoding.FrontCoded:
		return encoding.FrontCoded, c.bytes.AppendFrontCoded(dst, v.str, p)
	}
	return encoding.LengthBytes, c.bytes.AppendLengthBytes(dst, v.str, p)
}

// intsOf is integer stream st of the gathered group as int64, if it has n
// values; nil and true for no stream.
func (e *segmentEncoder) intsOf(st int64, which, n int) ([]int64, bool) {
	if st < 0 {
		return nil, true
	}
	v := &e.g.streams[st]
	switch e.l.streams[st].class {
	case ClassInt64:
		return v.i64, len(v.i64) == n
	case ClassInt32:
		if len(v.i32) != n {
			return nil, false
		}
		w := slices.Grow(e.wide[which][:0], n)[:n]
		for i, x := range v.i32 {
			w[i] = int64(x)
		}
		e.wide[which] = w
		return w, true
	}
	return nil, false
}

// maxSamples is how many groups of a segment the choice of encodings looks at.
const maxSamples = 4

// choose picks the encoding of each stream for the segment: the smallest in
// some of its groups.
func (e *segmentEncoder) choose(b *Batch, spans []Span) {
	e.samples = e.samples[:0]
	k := min(maxSamples, len(spans))
	for i := range k {
		e.samples = append(e.samples, i*(len(spans)-1)/max(1, k-1))
	}
	cands := make([][]candidate, len(e.l.streams))
	for i, gi := range e.samples {
		e.g.gather(b, spans[gi])
		for st := range e.l.streams {
			if e.g.streams[st].len(e.l.streams[st].class) == 0 {
				continue
			}
			if cands[st] == nil {
				cands[st] = e.candidates(st)
			}
			for j := range cands[st] {
				cands[st][j].add(e, st, i)
			}
		}
	}
	for st := range e.codecs {
		c := &e.codecs[st]
		c.choice = choice{id: encoding.DeltaOfDelta}
		best := math.MaxInt
		for j := range cands[st] {
			if cost := cands[st][j].cost(); cost < best {
				best, c.choice = cost, cands[st][j].choice
			}
		}
	}
}

// candidate is one way to encode a stream and what it came to in the samples.
type candidate struct {
	choice
	n     int
	bytes int
	lo    encoding.Params
	hi    encoding.Params
	unfit bool // a sample was encoded otherwise
}

func (c *candidate) add(e *segmentEncoder, st, sample int) {
	enc := &e.codecs[st]
	enc.reset()
	var p encoding.Params
	id, out := e.append(e.seg.bodies[:0], st, &e.g.streams[st], c.choice, &p)
	e.seg.bodies = out
	c.unfit = c.unfit || id != c.id
	size := len(out)
	if e.compresses(&e.l.streams[st]) {
		out, _ = e.compress(out, 0)
		size = len(out)
		e.seg.bodies = out
	}
	c.bytes += 8 * size
	if c.n == 0 {
		c.lo, c.hi = p, p
	}
	for i := range p {
		c.lo[i], c.hi[i] = min(c.lo[i], p[i]), max(c.hi[i], p[i])
	}
	c.n++
}

// cost is in bits, the parameters included as far as they vary.
func (c *candidate) cost() int {
	if c.unfit {
		return math.MaxInt
	}
	cost := c.bytes
	for i := range c.lo {
		cost += c.n * bits.Len64(uint64(c.hi[i]-c.lo[i]))
	}
	return cost
}

// candidates are the encodings to try for stream st, the preferred one first.
func (e *segmentEncoder) candidates(st int) []candidate {
	s := &e.l.streams[st]
	if s.column >= 0 && s.user && len(e.o.Encodings[s.column]) > 0 {
		var c []candidate
		for _, id := range e.o.Encodings[s.column] {
			c = append(c, candidate{choice: choice{id: id}})
			if id == encoding.Function {
				c = append(c[:len(c)-1], e.functions(st)...)
			}
		}
		return c
	}
	ids := []encoding.ID{encoding.Constant, encoding.DeltaOfDelta, encoding.RunLength}
	switch s.class {
	case ClassFloat32, ClassFloat64:
		ids = []encoding.ID{encoding.Constant, encoding.ALP}
		if e.compresses(s) {
			ids = append(ids, encoding.ByteStreamSplit)
		}
	case ClassBytes:
		ids = []encoding.ID{encoding.LengthBytes, encoding.Dictionary, encoding.FrontCoded}
		if st == sKey {
			ids = []encoding.ID{encoding.FrontCoded, encoding.LengthBytes}
		}
	}
	var c []candidate
	for _, id := range ids {
		c = append(c, candidate{choice: choice{id: id}})
	}
	if s.class == ClassInt64 {
		c = append(c, e.functions(st)...)
	}
	return c
}

// functions are the plans by which int64 stream st may follow from streams
// before it, of those that have as many values in the gathered group.
func (e *segmentEncoder) functions(st int) []candidate {
	l := e.l
	n := len(e.g.streams[st].i64)
	var out []candidate
	add := func(x, y int, a, d int64) {
		for _, s := range []int{x, y} {
			if s < 0 {
				continue
			}
			if _, ok := e.intsOf(int64(s), 0, n); !ok || s >= st {
				return
			}
		}
		plan := function.Plan{A: a, D: d, X: int64(x), Y: int64(y)}
		out = append(out, candidate{choice: choice{encoding.Function, plan}})
	}
	times := func(y int, toSeconds bool) {
		from, to := e.g.schema.Range(Clustering)
		for c := from; c < to; c++ {
			x := l.clustering + 2*(c-from) + 1
			t := e.g.schema.Column(c).Type
			if cl := l.streams[x].class; cl != ClassInt32 && cl != ClassInt64 {
				continue
			}
			perSecond := []int64{1, 1_000, 1_000_000, 1_000_000_000}
			if t.Kind == KindTimestamp {
				perSecond = perSecond[t.Unit : t.Unit+1]
			}
			for _, u := range perSecond {
				switch {
				case toSeconds:
					add(x, y, 1, u)
				case u <= 1_000_000:
					add(x, y, 1_000_000/u, 1)
				default:
					add(x, y, 1, u/1_000_000)
				}
			}
		}
	}
	for _, r := range []*rowLayout{&l.static, &l.rows} {
		w, ttl := r.base+rWriteTime, r.base+rTTL
		switch {
		case st == w:
			times(-1, false)
		case st == ttl:
			times(-1, true)
			add(w, -1, 1, 1_000_000)
		case st == r.base+rExpiry:
			add(w, ttl, 1, 1_000_000)
			add(ttl, -1, 1, 1)
			times(-1, true)
		}
		for c := r.from; c < r.to; c++ {
			cw, ct := r.value(c, cWriteTime), r.value(c, cTTL)
			switch st {
			case cw:
				add(w, -1, 1, 1)
				if c > r.from {
					add(r.value(c-1, cWriteTime), -1, 1, 1)
				}
				times(-1, false)
			case ct:
				add(ttl, -1, 1, 1)
				if c > r.from {
					add(r.value(c-1, cTTL), -1, 1, 1)
				}
			case r.value(c, cExpiry):
				add(cw, ct, 1, 1_000_000)
				add(ct, -1, 1, 1)
				add(cw, -1, 1, 1_000_000)
				if c > r.from {
					add(r.value(c-1, cExpiry), -1, 1, 1)
				}
			case r.value(c, cValue):
				if from, to := e.g.schema.Range(Clustering); from < to {
					add(l.clustering+1, -1, 1, 1)
				}
				if c > r.from {
					add(r.value(c-1, cValue), -1, 1, 1)
				}
			}
		}
	}
	return out
}

// Holds reports whether an encoding can hold values of class c.
func Holds(c Class, id encoding.ID) bool {
	switch id {
	case encoding.Raw, encoding.Constant:
		return c != ClassBytes
	case encoding.DeltaOfDelta, encoding.RunLength:
		return c == ClassInt32 || c == ClassInt64
	case encoding.Function:
		return c == ClassInt64
	case encoding.ALP, encoding.ByteStreamSplit:
		return c == ClassFloat32 || c == ClassFloat64
	case encoding.Dictionary, encoding.LengthBytes, encoding.FrontCoded:
		return c == ClassBytes
	}
	return false
}
