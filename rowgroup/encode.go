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
	slots  slotValues
	off    int // in segment.bodies
	len    int
}

// segment holds encoded groups.
type segment struct {
	l      *layout
	groups []groupInfo
	chunks []chunk // of one group after the other, by stream; none of steady ones
	bodies []byte
	steady *steady // streams without chunks

	cols   columns
	packed bitWriter
}

type groupInfo struct {
	rows, parts int
	off, bytes  int // its bodies
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

// reset forgets the chunks before, of a stream of class cl.
func (c *codecs) reset(cl Class) {
	switch cl {
	case ClassInt32, ClassInt64:
		c.delta.Reset()
		c.runs.Reset()
		c.fun.Reset()
	case ClassFloat32, ClassFloat64:
		c.alp.Reset()
	case ClassBytes:
		c.bytes.Reset()
		c.dict.Reset()
	}
}

// choice is an encoding, with its plan if it is encoding.Function.
type choice struct {
	id   encoding.ID
	plan function.Plan
}

type segmentEncoder struct {
	l       *layout
	o       EncodeOptions
	g       *gatherer // of the group at hand
	samples [maxSamples]*gatherer
	codecs  []codecs
	seg     Segment
	zstd    *zstd.Encoder
	scratch []byte
	cands   []choice
	widths  []uint          // of those that are functions, by estimate
	params  encoding.Params // of a chunk that is tried
	stats   *Stats          // of what is encoded, or nil
	steady  steady          // of the segment at hand
	others  []int32         // the streams that are not steady
	pieces  [3][]int64      // of columns whose integers are narrower
}

func newSegmentEncoder(s *Schema, o EncodeOptions) *SegmentEncoder {
	l := s.layout
	e := &SegmentEncoder{segmentEncoder{l: l, o: o, codecs: make([]codecs, len(l.streams))}}
	for i := range e.samples {
		e.samples[i] = newGatherer(s, l, &e.steady)
	}
	e.g = e.samples[0]
	e.seg.l = l
	if len(o.Zstd) > 0 || o.ZstdMeta {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false),
			zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithSingleSegment(true))
		if err != nil {
			panic(err) // the options are constants
		}
		e.zstd = z
	}
	e.seg.steady = &e.steady
	return e
}

// encode encodes the groups, and adds them to st unless that is nil.
func (e *segmentEncoder) encode(b *Batch, spans []Span, st *Stats) (*Segment, error) {
	if e.stats = st; st != nil && len(spans) > 0 {
		first, last := spans[0], spans[len(spans)-1]
		st.encoded = true
		st.Add(b, first.FromRow, last.ToRow, first.FromPart, last.ToPart)
		st.encoded = false
	}
	s := &e.seg.segment
	s.groups, s.chunks, s.bodies = s.groups[:0], s.chunks[:0], roomFor(b, s.bodies)
	if cap(e.scratch) > largeRows {
		e.scratch = nil
	}
	e.steady.find(e.l, b, spans)
	e.others = e.others[:0]
	for st, is := range e.steady.has {
		if !is {
			e.others = append(e.others, int32(st))
		}
	}
	e.choose(b, spans)
	e.findFunctions(b)
	s.bodies = s.bodies[:0] // what was tried
	for _, st := range e.others {
		e.codecs[st].reset(e.l.streams[st].class)
	}
	for _, sp := range spans {
		e.g.gather(b, sp)
		info := groupInfo{rows: sp.ToRow - sp.FromRow, parts: sp.ToPart - sp.FromPart, from: len(s.chunks)}
		at := len(s.bodies)
		for _, st := range e.others {
			if v := &e.g.streams[st]; v.n > 0 {
				e.encodeChunk(int(st), v, &info)
			}
		}
		info.off, info.bytes, info.to = at, len(s.bodies)-at, len(s.chunks)
		s.groups = append(s.groups, info)
	}
	s.collect()
	for _, g := range e.samples {
		g.release()
	}
	if st != nil {
		st.endChunks()
		e.stats = nil
	}
	return &e.seg, nil
}

// largeRows is from how many bytes on the memory of byte strings is taken at
// once, and not kept. Growing step by step would hold more than twice as much.
const largeRows = 8 << 20

// roomFor is buf, empty, with room for the bodies of b where its byte strings
// are large, and new memory where buf is much too large for them.
func roomFor(b *Batch, buf []byte) []byte {
	n := len(b.keys.Data)
	for i := range b.vecs {
		n += len(b.vecs[i].str.Data)
	}
	switch n += n/largeRows<<10 + 64<<10; {
	case n > largeRows && n > cap(buf):
		return make([]byte, 0, n)
	case cap(buf) > largeRows && n < cap(buf)/2:
		return nil
	}
	return buf[:0]
}

// refCount is the usual count of a stream in the group that is gathered.
func (e *segmentEncoder) refCount(s *stream, info *groupInfo) int {
	switch s.ref {
	case refPartitions:
		return info.parts
	case refCells:
		return e.g.streams[s.paths].n
	}
	return info.rows
}

// encodeChunk appends the chunk of the values v of stream st of the group that
// is gathered.
func (e *segmentEncoder) encodeChunk(st int, v *values, info *groupInfo) {
	str := &e.l.streams[st]
	s := &e.seg.segment
	off := len(s.bodies)
	s.chunks = append(s.chunks, chunk{stream: int32(st), off: off})
	c := &s.chunks[len(s.chunks)-1]
	if v.n != e.refCount(str, info) {
		c.slots[slotCount] = countExplicit + int64(v.n)
	}
	if v.same && e.codecs[st].choice.id == encoding.Constant {
		c.slots[slotID], c.slots[slotParam] = int64(encoding.Constant), v.all
		return
	}
	p := c.slots.params()
	id, bodies := e.append(s.bodies, st, v, &e.codecs[st].choice, p)
	if str.class != ClassBytes && len(bodies)-off > str.class.width()*v.n+8 {
		*p = encoding.Params{}
		id, bodies = e.append(bodies[:off], st, v, &choice{id: encoding.Raw}, p)
	}
	if e.stats != nil && str.class == ClassBytes && str.column >= e.l.rows.from && st == e.l.rows.value(str.column, cValue) {
		var firsts []int32
		if id == encoding.Dictionary {
			firsts = e.codecs[st].dict.Firsts()
		}
		e.stats.addChunk(str.column, v.str, firsts)
	}
	c.slots[slotID] = int64(id)
	if e.compresses(str) {
		bodies, c.slots[slotZstd] = e.compress(bodies, off)
	}
	c.len = len(bodies) - off
	s.bodies = bodies
}

// width is the bytes of a number of the class.
func (c Class) width() int {
	if c == ClassInt32 || c == ClassFloat32 {
		return 4
	}
	return 8
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

// append encodes v with the encoding chosen, or with another one where that
// cannot hold it, and returns the encoding used.
func (e *segmentEncoder) append(dst []byte, st int, v *values, ch *choice, p *encoding.Params) (encoding.ID, []byte) {
	c, class := &e.codecs[st], e.l.streams[st].class
	if ch.id == encoding.Constant && v.constant(class, p) {
		return encoding.Constant, dst
	}
	switch class {
	case ClassInt32:
		x := v.i32
		switch ch.id {
		case encoding.Raw:
			return encoding.Raw, raw.AppendInt32(dst, x)
		case encoding.RunLength:
			return encoding.RunLength, c.runs.AppendInt32(dst, x, p)
		}
		return encoding.DeltaOfDelta, c.delta.AppendInt32(dst, x, p)
	case ClassInt64:
		x := v.ints()
		switch ch.id {
		case encoding.Raw:
			return encoding.Raw, raw.AppendInt64(dst, x)
		case encoding.RunLength:
			return encoding.RunLength, c.runs.AppendInt64(dst, x, p)
		case encoding.Function:
			a, aok := e.intsOf(ch.plan.X, v.n)
			b, bok := e.intsOf(ch.plan.Y, v.n)
			if aok && bok {
				return encoding.Function, c.fun.Append(dst, x, a, b, ch.plan, p)
			}
		}
		return encoding.DeltaOfDelta, c.delta.AppendInt64(dst, x, p)
	case ClassFloat32:
		x := v.f32
		switch ch.id {
		case encoding.Raw:
			return encoding.Raw, raw.AppendFloat32(dst, x)
		case encoding.ByteStreamSplit:
			return encoding.ByteStreamSplit, bss.AppendFloat32(dst, x)
		}
		return encoding.ALP, c.alp.AppendFloat32(dst, x, p)
	case ClassFloat64:
		x := v.f64
		switch ch.id {
		case encoding.Raw:
			return encoding.Raw, raw.AppendFloat64(dst, x)
		case encoding.ByteStreamSplit:
			return encoding.ByteStreamSplit, bss.AppendFloat64(dst, x)
		}
		return encoding.ALP, c.alp.AppendFloat64(dst, x, p)
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
func (e *segmentEncoder) intsOf(st int64, n int) ([]int64, bool) {
	if st < 0 {
		return nil, true
	}
	v := &e.g.streams[st]
	if v.n != n {
		return nil, false
	}
	switch e.l.streams[st].class {
	case ClassInt64:
		return v.ints(), true
	case ClassInt32:
		return v.widened(), true
	}
	return nil, false
}

// maxSamples is how many groups of a segment the choice of encodings looks at.
const maxSamples = 4

// choose picks the encoding of each stream for the segment: the smallest in
// some of its groups.
func (e *segmentEncoder) choose(b *Batch, spans []Span) {
	k := min(maxSamples, len(spans))
	samples := e.samples[:k]
	for i, g := range samples {
		g.gather(b, spans[i*(len(spans)-1)/max(1, k-1)])
	}
	for _, st := range e.others {
		e.chooseFor(int(st), samples)
	}
	e.g = e.samples[0]
}

// chooseFor picks the encoding of stream st: the first of the candidates that
// take the fewest bits in the samples.
func (e *segmentEncoder) chooseFor(st int, samples []*gatherer) {
	for len(samples) > 0 && samples[0].streams[st].n == 0 {
		samples = samples[1:]
	}
	c := &e.codecs[st]
	c.choice = choice{id: encoding.DeltaOfDelta}
	if len(samples) == 0 {
		return
	}
	e.g = samples[0]
	e.cands = e.appendCandidates(e.cands[:0], st)
	if len(e.cands) > 0 && e.cands[0].id == encoding.Constant && e.bits(st, &e.cands[0], samples, &trialBits{all: math.MaxInt}).all == math.MaxInt {
		e.cands = append(e.cands[:0], e.cands[1:]...)
	}
	e.g = samples[0]
	if e.manyRuns(st) && len(e.cands) > 1 {
		e.cands = slices.DeleteFunc(e.cands, func(c choice) bool { return c.id == encoding.RunLength })
	}
	if len(e.cands) == 1 && holdsAll(e.cands[0].id) {
		c.choice = e.cands[0]
		return
	}
	least, best := trialBits{}, len(e.cands)
	least.all = math.MaxInt
	try := func(i int) {
		bits := e.bits(st, &e.cands[i], samples, &least)
		if bits.all < least.all || bits.all == least.all && bits.all < math.MaxInt && i < best {
			least, best = bits, i
		}
	}
	// Before the others constants, and the function that seems to fit best: the
	// others soon take more.
	first, narrowest := e.likeliest(st)
	if len(e.cands) > 0 && e.cands[0].id == encoding.Constant {
		first = 0
	}
	if first >= 0 {
		try(first)
	}
	for i := range e.cands {
		if i != first && least.all > 0 && (e.cands[i].id != encoding.Function || e.widths[i] <= narrowest+2) {
			try(i)
		}
	}
	if best < len(e.cands) {
		c.choice = e.cands[best]
	}
}

// likeliest is the candidate for stream st that is a function and seems to take
// the fewest bits in the gathered group, or -1. It sets e.widths of those.
func (e *segmentEncoder) likeliest(st int) (first int, narrowest uint) {
	first = -1
	e.widths = resize(e.widths, len(e.cands))
	v := &e.g.streams[st]
	for i := range e.cands {
		c := &e.cands[i]
		if c.id != encoding.Function {
			continue
		}
		e.widths[i] = 64
		x, xok := e.intsOf(c.plan.X, v.n)
		y, yok := e.intsOf(c.plan.Y, v.n)
		if xok && yok {
			e.widths[i] = function.Fit(v.ints(), x, y, c.plan)
		}
		if first < 0 || e.widths[i] < narrowest {
			first, narrowest = i, e.widths[i]
		}
	}
	return first, narrowest
}

// manyRuns reports whether nearly all integers of stream st of the gathered
// group differ from the one before.
func (e *segmentEncoder) manyRuns(st int) bool {
	v, runs := &e.g.streams[st], 0
	if v.same {
		return false
	}
	switch e.l.streams[st].class {
	case ClassInt32:
		runs = runlength.Runs(v.i32)
	case ClassInt64:
		runs = runlength.Runs(v.ints())
	}
	return 8*runs > 7*v.n
}

// trialBits are what a candidate takes in the samples: in the first, in the
// first two, and so on, and in all; MaxInt where one would be encoded otherwise.
type trialBits struct {
	upTo [maxSamples]int
	all  int
}

// worse reports whether bits up to sample i are so many more than t has there
// that the other samples hardly make up for it.
func (t *trialBits) worse(i, bits int) bool {
	return bits > t.all || t.all < math.MaxInt && bits > t.upTo[i]+t.upTo[i]/2+64
}

// bits is what stream st takes in the samples under a candidate, parameters
// included as far as they vary, or more than least has where it is no better.
func (e *segmentEncoder) bits(st int, ch *choice, samples []*gatherer, least *trialBits) (t trialBits) {
	enc, str := &e.codecs[st], &e.l.streams[st]
	bodies, n, total := 0, 0, 0
	var lo, hi encoding.Params
	t.all = math.MaxInt
	for k, g := range samples {
		v := &g.streams[st]
		if v.n == 0 {
			t.upTo[k] = total
			continue
		}
		e.g = g
		enc.reset(str.class)
		p := &e.params
		*p = encoding.Params{}
		if ch.id == encoding.Constant && !v.constant(str.class, p) {
			return t
		}
		id, out := e.append(e.seg.bodies[:0], st, v, ch, p)
		e.seg.bodies = out
		if id != ch.id {
			return t
		}
		if e.compresses(str) {
			out, _ = e.compress(out, 0)
			e.seg.bodies = out
		}
		bodies += 8 * len(out)
		if n == 0 {
			lo, hi = *p, *p
		}
		n++
		total = bodies
		for i, x := range p {
			lo[i], hi[i] = min(lo[i], x), max(hi[i], x)
			total += n * bits.Len64(uint64(hi[i]-lo[i]))
		}
		if t.upTo[k] = total; least.worse(k, total) {
			return t
		}
	}
	t.all = total
	return t
}

// appendCandidates appends the encodings to try for stream st, the preferred
// one first.
func (e *segmentEncoder) appendCandidates(dst []choice, st int) []choice {
	s := &e.l.streams[st]
	if s.column >= 0 && s.user && len(e.o.Encodings[s.column]) > 0 && !slices.Contains(e.l.paths, st) {
		for _, id := range e.o.Encodings[s.column] {
			if id == encoding.Function {
				dst = e.appendFunctions(dst, st)
			} else {
				dst = append(dst, choice{id: id})
			}
		}
		return dst
	}
	switch {
	case s.class == ClassInt32:
		return append(dst, choice{id: encoding.Constant}, choice{id: encoding.DeltaOfDelta}, choice{id: encoding.RunLength})
	case s.class == ClassInt64:
		dst = append(dst, choice{id: encoding.Constant}, choice{id: encoding.DeltaOfDelta}, choice{id: encoding.RunLength})
		return e.appendFunctions(dst, st)
	case st == sKey:
		return append(dst, choice{id: encoding.FrontCoded}, choice{id: encoding.LengthBytes})
	case s.class == ClassBytes:
		return append(dst, choice{id: encoding.LengthBytes}, choice{id: encoding.Dictionary}, choice{id: encoding.FrontCoded})
	}
	dst = append(dst, choice{id: encoding.Constant}, choice{id: encoding.ALP})
	if e.compresses(s) {
		dst = append(dst, choice{id: encoding.ByteStreamSplit})
	}
	return dst
}

// appendFunctions appends the plans by which int64 stream st may follow from
// streams before it, of those that have as many values in the gathered group.
func (e *segmentEncoder) appendFunctions(dst []choice, st int) []choice {
	l := e.l
	n := e.g.streams[st].n
	add := func(x, y int, a, d int64) {
		for _, s := range [...]int{x, y} {
			if s >= 0 && (s >= st || e.g.streams[s].n != n || l.streams[s].class != ClassInt32 && l.streams[s].class != ClassInt64) {
				return
			}
		}
		dst = append(dst, choice{encoding.Function, function.Plan{A: a, D: d, X: int64(x), Y: int64(y)}})
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
	switch st { // a deletion is local to the second in which it was marked
	case sPartDelLocal, l.markers + mCloseLocal:
		add(st-1, -1, 1, 1_000_000)
	case l.markers + mOpenTime:
		add(l.markers+mCloseTime, -1, 1, 1)
	case l.markers + mOpenLocal:
		add(l.markers+mCloseLocal, -1, 1, 1)
		add(st-1, -1, 1, 1_000_000)
	}
	for _, r := range []*rowLayout{&l.static, &l.rows} {
		w, ttl := r.base+rWriteTime, r.base+rTTL
		switch {
		case st == r.base+rDelLocal:
			add(st-1, -1, 1, 1_000_000)
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
			case r.value(c, cDelLocal):
				if s := &l.streams[st]; s.ref != refCells && l.streams[r.value(c, cState)].ref == refCells { // of a multi-cell column
					add(st-1, -1, 1, 1_000_000)
				}
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
	return dst
}

// holdsAll reports whether an encoding can hold any values of a class that it
// Holds.
func holdsAll(id encoding.ID) bool {
	switch id {
	case encoding.Constant, encoding.Function, encoding.Dictionary:
		return false
	}
	return true
}

// Holds reports whether an encoding can hold the values of column col: of a
// multi-cell column those of its cells, whose paths are encoded automatically.
func (s *Schema) Holds(col int, id encoding.ID) bool {
	t := s.cols[col].Type
	if s.multiCell(col) {
		t = t.cellType()
	}
	return Holds(t.Physical().Class(), id)
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
