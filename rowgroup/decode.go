package rowgroup

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

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
	"github.com/colsst/colsst/internal/le"
	"github.com/colsst/colsst/internal/zstdframe"
	"github.com/colsst/colsst/simd"
)

// MaxBlockGroups is the number of row groups that a block can have.
const MaxBlockGroups = 64

// maxGroupBytes bounds the byte strings of one column in one row group as a
// decoder makes them: the largest value, or many small ones.
const maxGroupBytes = encoding.MaxValueBytes

// ref is where the body of one chunk lies, and how many values it has.
type ref struct {
	off, len int32
	count    int32
}

// seed is what a block stores of a slot beside its packed bits: the first value,
// or the least, and the step from group to group, or 0.
type seed struct{ first, step int64 }

// spot is where the chunks of a stream lie: each len bytes behind the one before
// and with the usual count, unless they are found one by one.
type spot struct {
	off, len int32
	found    bool
}

type blockDecoder struct {
	*listing // of the template of the open block
	listings []*listing
	known    []*Template // of the listings
	oldest   int         // of the listings

	schema *Schema
	l      *layout
	t      *Template
	groups int
	body   []byte
	seeds  []seed     // of slots that the block stores
	packed []byte     // and what follows of those that are packed
	vals   []int64    // the same by group, of those asked for as columns: dyn*groups + group
	filled []bool     // which
	spots  []spot     // by where
	refs   []ref      // where*groups + group, of spots that are found
	rows   []int      // by group: unfiltereds
	starts []int      // and those of the groups before
	parts  []int      // partitions
	even   bool       // all have as many of both
	room   []int      // bytes that byte strings may take
	laid   evenGroups // what rows, parts, starts and room say
	left   []int      // the same while a group is decoded
	limits groupLimits

	delta  deltadelta.Decoder
	runs   runlength.Decoder
	fun    function.Decoder
	alp    alp.Decoder
	bodies []encoding.Body // see chunks
	params encoding.ParamColumns
	bytes  bytestrings.Decoder
	dict   dict.Decoder
	inflat []byte

	ramps   []encoding.Ramp // where*(groups+1) + group, then that of the block
	asked   []rampState     // the same
	lines   []line          // by where, if the block has a ramp
	ints    []keptInts      // by where
	first   int             // the groups at hand are [first, end)
	end     int
	stamp   int64 // of those groups
	heads   heads
	clock   clock
	i32     []int32
	tmp     scratch
	pos     []int32
	some    []int32    // see filter
	cells   [5][]int32 // see decodeStates
	ofCells []int64    // see decodeMulti
	sel     []int32
	statics []int32
	oddAt   []int32 // see nonzeros
	odd     []int64
	few     oddValues
	times   []int64 // see decodeDeletionsOf
	locals  []int64
}

// evenGroups are groups that have as many unfiltereds and partitions each.
type evenGroups struct{ groups, rows, parts int }

// rampState says what is known of an integer stream in a group by its
// parameters.
type rampState uint8

const (
	rampUnasked rampState = iota
	rampNone
	rampKnown
)

// scratch holds values that are spread over rows afterwards.
type scratch struct {
	i32  []int32
	i64  []int64
	wide []int64 // of values that become int32
	f32  []float32
	f64  []float64
	str  bytestrings.Strings
}

func newBlockDecoder(s *Schema) *BlockDecoder {
	l := s.layout
	return &BlockDecoder{blockDecoder{schema: s, l: l, limits: newGroupLimits(s)}}
}

func (d *blockDecoder) numGroups() int            { return d.groups }
func (d *blockDecoder) groupRows(g int) int       { return d.rows[g] }
func (d *blockDecoder) groupPartitions(g int) int { return d.parts[g] }

func (d *blockDecoder) open(t *Template, groups, rows, parts int, body []byte) error {
	d.t = nil
	if groups < 1 || groups > MaxBlockGroups {
		return encoding.Corruptf("block", "%d row groups", groups)
	}
	if rows < 0 || parts < 0 || rows > groups*encoding.MaxGroupRows || parts > groups*encoding.MaxGroupRows {
		return encoding.Corruptf("block", "%d rows, %d partitions in %d row groups", rows, parts, groups)
	}
	if len(body) > 1<<31-1 {
		return encoding.Corruptf("block", "%d bytes", len(body))
	}
	d.groups, d.body = groups, body
	d.first, d.end, d.heads.group = 0, 0, -1
	d.list(t)
	bodies, err := d.openParams(body)
	if err != nil {
		return err
	}
	if err := d.openGroups(rows, parts); err != nil {
		return err
	}
	return d.openRefs(t, bodies)
}

// list finds or makes the listing of t. Blocks take turns between a few
// templates.
func (d *blockDecoder) list(t *Template) {
	if d.listing == nil || d.of != t {
		if i := slices.Index(d.known, t); i >= 0 {
			d.listing = d.listings[i]
		} else {
			d.listing = d.newListing(t)
		}
	}
	d.lines = sized(d.lines, len(t.streams))
	for len(d.ints) < len(t.streams) {
		d.ints = append(d.ints, keptInts{})
	}
}

// newListing is a listing of t, in the place of the oldest if there are many.
func (d *blockDecoder) newListing(t *Template) *listing {
	i := d.oldest
	if n := len(d.listings); n < leastListings || n < mostListings && (n+1)*len(d.l.streams) <= listedStreams {
		d.listings, d.known, i = append(d.listings, &listing{where: make([]int32, len(d.l.streams))}), append(d.known, nil), n
	} else {
		d.oldest = (d.oldest + 1) % n
	}
	d.known[i] = t
	d.listings[i].set(d.l, t)
	return d.listings[i]
}

// How many listings a decoder keeps: at least, at most, and streams of those
// beyond the least.
const (
	leastListings = 8
	mostListings  = 160
	listedStreams = 8192
)

// openParams reads the parameter columns, of which the packed bits are left for
// when they are asked for, and returns where the bodies begin.
func (d *blockDecoder) openParams(body []byte) (int, error) {
	d.seeds, d.filled = sized(d.seeds, len(d.dyns)), zeroed(d.filled, len(d.dyns))
	f := fields{part: "block parameters", b: body}
	for i := range d.dyns {
		x := &d.seeds[i]
		if s := &d.dyns[i]; s.step() || len(f.b) == 0 || f.b[0] >= 0x80 {
			*x = s.seeds(&f)
			continue
		}
		v := int64(f.b[0])
		f.b = f.b[1:]
		*x = seed{first: v>>1 ^ -(v & 1)}
	}
	if f.err != nil {
		return 0, f.err
	}
	n := (d.bits*d.groups + 7) / 8
	if len(f.b) < n {
		return 0, encoding.Corruptf("block parameters", "%d bytes are left of %d", len(f.b), n)
	}
	d.packed = f.b
	return len(body) - len(f.b) + n, nil
}

// value is a stored slot of group g.
func (d *blockDecoder) value(dyn int32, g int) int64 {
	if d.end-d.first > 1 { // other groups, too
		return d.column(dyn)[g]
	}
	return d.valueAt(dyn, g)
}

// valueAt is a stored slot of one group.
func (d *blockDecoder) valueAt(dyn int32, g int) int64 {
	s, x := &d.dyns[dyn], &d.seeds[dyn]
	v := x.first + x.step*int64(g)
	if w := uint(s.w); w > 0 {
		v += int64(bitsAt(d.packed, uint(s.before)*uint(d.groups)+w*uint(g), w))
	}
	return v
}

// column is a stored slot of all groups.
func (d *blockDecoder) column(dyn int32) []int64 {
	n := d.groups
	if len(d.vals) < len(d.dyns)*n {
		d.vals = make([]int64, len(d.dyns)*n)
	}
	v := d.vals[int(dyn)*n:][:n:n]
	if !d.filled[dyn] {
		d.filled[dyn] = true
		s, x := &d.dyns[dyn], d.seeds[dyn]
		bit, w := uint(s.before)*uint(n), uint(s.w)
		if at := d.packed[min(bit>>3, uint(len(d.packed))):]; w > 0 && len(at) >= 8 && bit&7+w*uint(n) <= 64 {
			codes, mask := binary.LittleEndian.Uint64(at)>>(bit&7), ^uint64(0)>>(64-w)
			for g := range v {
				v[g] = x.first + int64(codes&mask)
				codes >>= w & 63
			}
			return v
		}
		for g := range v {
			v[g] = x.first
			x.first += x.step
		}
		if w > 0 {
			addBits(v, d.packed, bit, w)
		}
	}
	return v
}

// sized is s with a length of n; what it holds is anything.
func sized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// seeds reads what a block stores of a slot beside its packed bits.
func (s *shape) seeds(f *fields) (x seed) {
	x.first = f.varint("a parameter")
	switch s.kind {
	case shapeStep:
		x.step = s.v
	case shapeSteps:
		x.step = f.varint("a step")
	}
	return x
}

// bitsAt are the w bits of b, which has them, from bit on.
func bitsAt(b []byte, bit, w uint) uint64 {
	at, shift := int(bit>>3), bit&7
	if at+8 > len(b) {
		return bitsAtEnd(b[at:], shift, w)
	}
	x := binary.LittleEndian.Uint64(b[at:]) >> shift
	if shift+w > 64 {
		x |= uint64(b[at+8]) << (64 - shift)
	}
	return x & (^uint64(0) >> ((64 - w) & 63))
}

// bitsAtEnd is bitsAt where fewer than 8 bytes are left.
func bitsAtEnd(b []byte, shift, w uint) uint64 {
	return le.Uint64Short(b) >> shift & (^uint64(0) >> (64 - w))
}

// addBits adds to each of v the next w bits of b, which has them, from bit on.
func addBits(v []int64, b []byte, bit, w uint) {
	mask := ^uint64(0) >> (64 - w)
	each := int(57 / w) // of 8 bytes, of which up to 7 bits are others'
	for len(v) > 0 {
		at := b[bit>>3:]
		if len(at) < 8 || each == 0 {
			v[0] += int64(bitsAt(b, bit, w))
			v, bit = v[1:], bit+w
			continue
		}
		x := binary.LittleEndian.Uint64(at) >> (bit & 7)
		n := min(each, len(v))
		for i := range v[:n] {
			v[i] += int64(x & mask)
			x >>= w
		}
		v, bit = v[n:], bit+uint(n)*w
	}
}

func (d *blockDecoder) openGroups(rows, parts int) error {
	n := d.groups
	d.rows, d.parts, d.starts, d.room, d.left = sized(d.rows, n), sized(d.parts, n), sized(d.starts, n+1), sized(d.room, n), sized(d.left, n)
	v := d.slots(0, 0)
	if e := (evenGroups{d.laid.groups, int(v[groupRows]), int(v[groupParts])}); e == d.laid && n <= e.groups && d.listed[0].level {
		d.even = true // and laid out before
		return d.checkTotals(n*e.rows, n*e.parts, rows, parts)
	}
	d.laid = evenGroups{}
	sumRows, sumParts := 0, 0
	var r, p, room int
	d.even = true
	for g := range n {
		if g > 0 && !d.listed[0].level {
			v = d.slots(0, g)
		}
		if g == 0 || int(v[groupRows]) != r || int(v[groupParts]) != p {
			x, y := v[groupRows], v[groupParts]
			if x < 0 || x > encoding.MaxGroupRows || y < 0 || y > encoding.MaxGroupRows || x+y == 0 {
				return encoding.Corruptf("block parameters", "row group %d has %d rows, %d partitions", g, x, y)
			}
			r, p = int(x), int(y)
			var err error
			if room, err = d.limits.room(r, p); err != nil {
				return err
			}
			d.even = g == 0
		}
		d.rows[g], d.parts[g], d.starts[g], d.room[g] = r, p, sumRows, room
		sumRows += r
		sumParts += p
	}
	d.starts[n] = sumRows
	if d.even {
		d.laid = evenGroups{n, r, p}
	}
	return d.checkTotals(sumRows, sumParts, rows, parts)
}

// checkTotals compares what the row groups hold with what the block's header
// says.
func (d *blockDecoder) checkTotals(sumRows, sumParts, rows, parts int) error {
	if sumRows != rows || sumParts != parts {
		return encoding.Corruptf("block", "row groups hold %d rows and %d partitions; its header says %d and %d", sumRows, sumParts, rows, parts)
	}
	return nil
}

// forget drops what was known of the chunks of the block before.
func (d *blockDecoder) forget() {
	n := len(d.listed)
	d.spots = zeroed(d.spots, n)
	if len(d.refs) < n*d.groups {
		d.refs = make([]ref, n*d.groups)
	}
	d.ramps, d.asked = sized(d.ramps, n*(d.groups+1)), zeroed(d.asked, n*(d.groups+1))
}

// openRefs finds where the bodies of all streams lie, which begin at off.
func (d *blockDecoder) openRefs(t *Template, off int) error {
	d.forget()
	d.t = t
	for _, k := range d.bodied {
		var err error
		if off, err = d.openStream(int(t.streams[k].stream), int(k), off); err != nil {
			d.t = nil
			return err
		}
	}
	if off != len(d.body) {
		d.t = nil
		return encoding.Corruptf("block", "%d bytes left over", len(d.body)-off)
	}
	return d.openCells()
}

// usual is how many values stream st has in group g unless a count says other.
func (d *blockDecoder) usual(st, g int) int {
	switch s := &d.l.streams[st]; s.ref {
	case refPartitions:
		return d.parts[g]
	case refCells:
		return d.count(s.paths, g)
	}
	return d.rows[g]
}

// openStream finds the bodies of stream st, listed as the k-th, which begin at
// off, and returns where they end.
func (d *blockDecoder) openStream(st, k, off int) (int, error) {
	l := &d.listed[k]
	switch {
	case l.framed:
		return d.openFrames(st, k, off)
	case l.all && l.alike && d.even && d.l.streams[st].ref != refCells:
		return d.openAlike(st, k, off)
	}
	if !l.level {
		for i := l.from; i < l.to; i++ {
			d.column(i)
		}
	}
	d.spots[k].found = true
	refs := d.refs[k*d.groups:][:d.groups]
	v := &l.values
	last, stored := -1, 0 // stored bytes of last values
	for g := range refs {
		n := d.usual(st, g)
		if !l.all {
			if l.counted {
				v = d.slots(k, g)
			}
			switch c := v[slotCount]; {
			case c == countAll:
			case c == countNone:
				n = 0
			case c < 0 || c > countExplicit+encoding.MaxGroupRows:
				return 0, d.corrupt(st, g, "%d values", c-countExplicit)
			default:
				n = int(c - countExplicit)
			}
		}
		if n == 0 {
			refs[g] = ref{}
			continue
		}
		if n != last || !l.alike {
			var err error
			if stored, err = d.storedLen(st, d.slots(k, g), n); err != nil {
				return 0, d.at(st, g, err)
			}
			last = n
		}
		if stored > len(d.body)-off {
			return 0, d.corrupt(st, g, "%d bytes of values, %d are left", stored, len(d.body)-off)
		}
		refs[g] = ref{off: int32(off), len: int32(stored), count: int32(n)}
		off += stored
	}
	return off, nil
}

// openAlike is openStream where all chunks have one length.
func (d *blockDecoder) openAlike(st, k, off int) (int, error) {
	l := &d.listed[k]
	n := d.usual(st, 0)
	if n == 0 {
		return off, nil
	}
	if l.lenOf != n {
		stored, err := d.storedLen(st, d.slots(k, 0), n)
		if err != nil {
			return 0, d.at(st, 0, err)
		}
		l.lenOf, l.len = n, stored
	}
	if left := len(d.body) - off; int64(l.len)*int64(d.groups) > int64(left) {
		fit := left / l.len
		return 0, d.corrupt(st, fit, "%d bytes of values, %d are left", l.len, left-fit*l.len)
	}
	d.spots[k] = spot{off: int32(off), len: int32(l.len)}
	return off + l.len*d.groups, nil
}

// openFrames is openStream for a stream that is framed.
func (d *blockDecoder) openFrames(st, k, off int) (int, error) {
	l := &d.listed[k]
	d.spots[k].found = true
	refs := d.refs[k*d.groups:][:d.groups]
	var param [len(l.frame)]int64 // of group 0, or the least
	var bit, width [len(l.frame)]uint
	for i, at := range l.frame {
		if at.stored < 0 {
			param[i] = l.values[at.slot]
			continue
		}
		x := &d.dyns[at.stored]
		param[i], width[i] = d.seeds[at.stored].first, uint(x.w)
		bit[i] = uint(x.before) * uint(d.groups)
	}
	size := uint(64)
	if d.l.streams[st].class == ClassFloat32 {
		size = 32
	}
	byRow := l.byRow
	for g := range refs {
		n := d.rows[g]
		if !byRow {
			n = d.usual(st, g)
		}
		if n == 0 {
			refs[g] = ref{}
			continue
		}
		p := param
		for i, w := range width {
			if w > 0 {
				p[i] += int64(bitsAt(d.packed, bit[i], w))
				bit[i] += w
			}
		}
		stored, ok := alp.FramedLen(n, size, &p)
		if !ok {
			var err error
			if stored, err = d.storedLen(st, d.slots(k, g), n); err != nil {
				return 0, d.at(st, g, err)
			}
		}
		if stored > len(d.body)-off {
			return 0, d.corrupt(st, g, "%d bytes of values, %d are left", stored, len(d.body)-off)
		}
		refs[g] = ref{off: int32(off), len: int32(stored), count: int32(n)}
		off += stored
	}
	return off, nil
}

// storedLen is the length of the body of n values of stream st as it is
// stored; it checks the parameters.
func (d *blockDecoder) storedLen(st int, v *slotValues, n int) (int, error) {
	plain, err := d.bodyLen(st, v, n)
	if z := v[slotZstd]; z != 0 && err == nil {
		if z < 0 || z >= int64(plain) {
			return 0, encoding.Corruptf("zstd frame", "%d bytes compressed, %d not", z, plain)
		}
		return int(z), nil
	}
	return plain, err
}

// slots are the parameters of listed stream k in group g, valid until those of
// another group are asked for.
func (d *blockDecoder) slots(k, g int) *slotValues {
	l := &d.listed[k]
	for i := l.from; i < l.to; i++ {
		if d.filled[i] {
			l.values[d.dyns[i].slot] = d.vals[int(i)*d.groups+g]
		} else {
			l.values[d.dyns[i].slot] = d.value(i, g)
		}
	}
	return &l.values
}

// part names stream st of group g in errors.
func (d *blockDecoder) part(st, g int) string {
	s := &d.l.streams[st]
	what, counts := "rows", d.rows
	if d.parts[g] > 0 && s.ref == refPartitions || d.rows[g] == 0 {
		what, counts = "partitions", d.parts
	}
	from := 0
	for i := range g {
		from += counts[i]
	}
	return fmt.Sprintf("column %s, %s %d..%d of its block", s.name, what, from, from+counts[g]-1)
}

func (d *blockDecoder) corrupt(st, g int, format string, args ...any) error {
	return encoding.Corruptf(d.part(st, g), format, args...)
}

// at adds to err where it happened.
func (d *blockDecoder) at(st, g int, err error) error {
	if errors.Is(err, encoding.ErrCorrupt) {
		return &encoding.CorruptError{Part: d.part(st, g), Offset: -1, Err: err}
	}
	return fmt.Errorf("%s: %w", d.part(st, g), err)
}

// bodyLen is the length of a body before Zstd; it checks the parameters.
func (d *blockDecoder) bodyLen(st int, v *slotValues, n int) (int, error) {
	id, p := encoding.ID(v[slotID]), v.params()
	if int64(id) != v[slotID] || !id.Valid() {
		return 0, fmt.Errorf("%w encoding %d", encoding.ErrUnsupported, v[slotID])
	}
	class := d.l.streams[st].class
	switch class {
	case ClassInt32:
		switch id {
		case encoding.Raw:
			return raw.Int32Len(p, n)
		case encoding.Constant:
			return constant.Int32Len(p, n)
		case encoding.RunLength:
			return runlength.Int32Len(p, n)
		case encoding.DeltaOfDelta:
			return deltadelta.Int32Len(p, n)
		}
	case ClassInt64:
		switch id {
		case encoding.Raw:
			return raw.Int64Len(p, n)
		case encoding.Constant:
			return constant.Int64Len(p, n)
		case encoding.RunLength:
			return runlength.Int64Len(p, n)
		case encoding.DeltaOfDelta:
			return deltadelta.Int64Len(p, n)
		case encoding.Function:
			return function.Len(p, n)
		}
	case ClassFloat32:
		switch id {
		case encoding.Raw:
			return raw.Float32Len(p, n)
		case encoding.Constant:
			return constant.Float32Len(p, n)
		case encoding.ByteStreamSplit:
			return bss.Float32Len(p, n)
		case encoding.ALP:
			return alp.Float32Len(p, n)
		}
	case ClassFloat64:
		switch id {
		case encoding.Raw:
			return raw.Float64Len(p, n)
		case encoding.Constant:
			return constant.Float64Len(p, n)
		case encoding.ByteStreamSplit:
			return bss.Float64Len(p, n)
		case encoding.ALP:
			return alp.Float64Len(p, n)
		}
	case ClassBytes:
		switch id {
		case encoding.LengthBytes:
			return bytestrings.LengthBytesLen(p, n)
		case encoding.FrontCoded:
			return bytestrings.FrontCodedLen(p, n)
		case encoding.Dictionary:
			return dict.Len(p, n)
		}
	}
	return 0, encoding.Corruptf("encoding", "%s cannot hold such values", id)
}

// chunk is the encoding, the parameters and the decompressed body of a chunk,
// valid until the next call.
func (d *blockDecoder) chunk(st, g int) (encoding.ID, *encoding.Params, []byte, error) {
	k := int(d.where[st])
	v := d.slots(k, g)
	r := d.ref(st, g)
	body := d.body[r.off : r.off+r.len] // kernels are the faster for what follows
	if v[slotZstd] != 0 {
		n, err := d.bodyLen(st, v, int(r.count))
		if err == nil {
			body, err = d.inflate(body, n)
		}
		if err != nil {
			return 0, nil, nil, d.at(st, g, err)
		}
	}
	return encoding.ID(v[slotID]), v.params(), body, nil
}

// inflate decompresses one Zstd frame that must make exactly n bytes.
func (d *blockDecoder) inflate(frame []byte, n int) ([]byte, error) {
	if n > maxGroupBytes+maxGroupBytes/4 {
		return nil, encoding.Corruptf("zstd frame", "%d bytes are beyond the limit", n)
	}
	d.inflat = slices.Grow(d.inflat[:0], n)[:n]
	if err := zstdframe.Decode(d.inflat, frame); err != nil {
		return nil, &encoding.CorruptError{Part: "zstd frame", Offset: -1, Err: err}
	}
	return d.inflat, nil
}

// ref is where the chunk of stream st in group g lies; of a stream that is not
// listed, nowhere.
func (d *blockDecoder) ref(st, g int) ref {
	k := int(d.where[st])
	if k == 0 {
		return ref{}
	}
	s := &d.spots[k]
	if s.found {
		return d.refs[k*d.groups+g]
	}
	return ref{off: s.off + int32(g)*s.len, len: s.len, count: int32(d.count(st, g))}
}

// refsOf is ref of all groups, of a stream that is listed.
func (d *blockDecoder) refsOf(st int) []ref {
	k := int(d.where[st])
	refs := d.refs[k*d.groups:][:d.groups:d.groups]
	if !d.spots[k].found {
		for g := range refs {
			refs[g] = d.ref(st, g)
		}
		d.spots[k].found = true
	}
	return refs
}

// count is the number of values of stream st in group g.
func (d *blockDecoder) count(st, g int) int {
	k := int(d.where[st])
	switch l := &d.listed[k]; {
	case l.byRow:
		return d.rows[g]
	case k == 0:
		return 0
	case l.all:
		return d.usual(st, g)
	}
	return int(d.refs[k*d.groups+g].count)
}

// zero reports whether all values of int stream st in groups [from, to) are 0,
// as far as the parameters say so; there may be none.
func (d *blockDecoder) zero(st, from, to int) bool {
	k := int(d.where[st])
	if k == 0 || d.listed[k].zero {
		return true
	}
	for g := from; g < to; g++ {
		r := d.ref(st, g)
		if r.count == 0 {
			continue
		}
		if r.len != 0 {
			return false
		}
		v := d.slots(k, g)
		if id := encoding.ID(v[slotID]); id != encoding.Constant && id != encoding.DeltaOfDelta || *v.params() != (encoding.Params{}) {
			return false
		}
	}
	return true
}

// absent reports whether stream st has no values in groups [from, to).
func (d *blockDecoder) absent(st, from, to int) bool {
	if d.where[st] == 0 {
		return true
	}
	for g := from; g < to; g++ {
		if d.count(st, g) != 0 {
			return false
		}
	}
	return true
}

// full reports whether stream st has a value for each unfiltered in groups
// [from, to), or for each cell of its multi-cell column.
func (d *blockDecoder) full(st, from, to int) bool {
	k := int(d.where[st])
	if d.listed[k].all {
		return true
	}
	for g := from; g < to; g++ {
		usual := d.rows[g]
		if s := &d.l.streams[st]; s.ref == refCells {
			usual = d.count(s.paths, g)
		}
		if d.count(st, g) != usual {
			return false
		}
	}
	return true
}

// ramp is what the parameters of integer stream st in group g alone say of its
// values, reckoned as 64 bits: they are values of its type, and the body, unless
// it is compressed, holds nothing but what is above the ramp, packed. If g is
// the number of groups, it is said of all unfiltereds of the block, and above
// the ramp lies what lies above those of the groups, or more.
func (d *blockDecoder) ramp(st, g int) (encoding.Ramp, bool) {
	k := int(d.where[st])
	if l := &d.listed[k]; l.constant {
		return encoding.Ramp{First: l.values[slotParam]}, true
	}
	// One group alone is looked at by itself.
	if g < d.groups && (d.end-d.first != 1 || d.asked[k*(d.groups+1)+d.groups] != rampUnasked) {
		if _, ok := d.ramp(st, d.groups); ok {
			return d.lines[k].of(d, g), true
		}
	}
	i := k*(d.groups+1) + g
	if d.asked[i] == rampUnasked {
		d.asked[i] = rampNone
		var r encoding.Ramp
		var ok bool
		if g == d.groups {
			r, ok = d.blockRamp(st, k)
		} else {
			r, ok = d.groupRamp(st, k, g)
		}
		if ok {
			d.ramps[i], d.asked[i] = r, rampKnown
		}
	}
	return d.ramps[i], d.asked[i] == rampKnown
}

// groupRamp is ramp for stream st, listed as the k-th.
func (d *blockDecoder) groupRamp(st, k, g int) (encoding.Ramp, bool) {
	n := d.count(st, g)
	r, ok := d.rampOf(st, d.slots(k, g), n, g)
	return r, ok && n > 0 && r.Within(n, d.l.streams[st].least(), d.l.streams[st].most())
}

// line says where the ramps of a stream lie in the groups of a block that has a
// ramp of its own: they differ in one parameter at most, which shifts them.
type line struct {
	encoding.Ramp         // of the first group, were its parameter least
	least, slope  int64   // what the parameter shifts beyond its least value
	stored        []int64 // the parameter by group; none: it is
	param         seed    // first + g*step
	anew          bool    // positions count from the group, not from the block
}

// of is the ramp of group g.
func (n *line) of(d *blockDecoder, g int) encoding.Ramp {
	r := n.Ramp
	x := n.param.first + int64(g)*n.param.step
	if n.stored != nil {
		x = n.stored[g]
	}
	r.First += (x - n.least) * n.slope
	if !n.anew {
		r.First += int64(d.starts[g]) * r.Step
	}
	return r
}

// blockRamp is ramp of the whole block for stream st, listed as the k-th, if it
// has a value for each unfiltered and its parameters differ in one at most, on
// which no length depends. It sets the stream's line.
func (d *blockDecoder) blockRamp(st, k int) (r encoding.Ramp, ok bool) {
	l, s, n := &d.listed[k], &d.l.streams[st], &d.lines[k]
	if !l.all || !l.alike || s.ref != refRows || !l.level && l.to-l.from > 1 {
		return r, false
	}
	v := d.slots(k, 0)
	rows := d.starts[d.groups]
	*n = line{anew: v[slotID] == int64(encoding.DeltaOfDelta)}
	even := d.even
	if !l.level {
		// A codec that accepts the least and the greatest accepts what is between.
		p := &v[d.dyns[l.from].slot]
		if !shifts(v[slotID], d.dyns[l.from].slot) {
			return r, false
		}
		var greatest int64
		if x := d.seeds[l.from]; d.dyns[l.from].step() && x.moderate() {
			last := x.first + int64(d.groups-1)*x.step
			n.param, n.least, greatest = x, min(x.first, last), max(x.first, last)
		} else {
			n.stored, even = d.column(l.from), false
			n.least, greatest = simd.MinMaxInt64(n.stored)
		}
		*p = greatest
		if r, ok = d.rampOf(st, v, rows, d.groups); !ok {
			return r, false
		}
		if n.least < greatest {
			*p = greatest - 1
			before, _ := d.rampOf(st, v, rows, d.groups)
			n.slope = r.First - before.First
		}
		*p = n.least
	}
	if n.Ramp, ok = d.rampOf(st, v, rows, d.groups); !ok {
		return r, false
	}
	r = n.Ramp
	if n.anew || n.slope != 0 {
		// How far the groups begin from where they would on one line.
		lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
		each := 1
		if even && -1<<32 < n.slope && n.slope < 1<<32 { // by as much from one to the next
			each = max(d.groups-1, 1)
		}
		for g := 0; g < d.groups; g += each {
			off := n.of(d, g).First - n.First - int64(d.starts[g])*n.Step
			lo, hi = min(lo, off), max(hi, off)
		}
		r.First, r.Spread = r.First+lo, r.Spread+uint64(hi)-uint64(lo)
	}
	return r, r.Spread >= n.Spread && r.Within(rows, s.least(), s.most())
}

// moderate reports whether no value of a block overflows, nor do their
// differences times 2^32.
func (x seed) moderate() bool {
	return -1<<62 < x.first && x.first < 1<<62 && -1<<24 < x.step && x.step < 1<<24
}

// shifts reports whether a slot of an integer encoding says where a ramp begins
// and nothing else, linearly.
func shifts(id int64, slot uint8) bool {
	switch id {
	case int64(encoding.Constant):
		return slot == slotParam
	case int64(encoding.DeltaOfDelta):
		return slot == slotParam+1 || slot == slotParam+2
	case int64(encoding.Function):
		return slot == slotParam+2
	}
	return false
}

// rampOf is ramp of n values with parameters v in group g, or all groups, but
// for their range.
func (d *blockDecoder) rampOf(st int, v *slotValues, n, g int) (r encoding.Ramp, ok bool) {
	class, p := d.l.streams[st].class, v.params()
	switch v[slotID] {
	case int64(encoding.Constant):
		return encoding.Ramp{First: p[0]}, class <= ClassInt64 && *p == encoding.Params{p[0]}
	case int64(encoding.DeltaOfDelta):
		switch class {
		case ClassInt64:
			return deltadelta.RampOf(p, 64)
		case ClassInt32: // a ramp, if within the range
			r, ok = deltadelta.RampOf(p, 32)
			r.First, r.Step = int64(int32(r.First)), int64(int32(r.Step))
			return r, ok
		}
	case int64(encoding.Function):
		var in [2]encoding.Ramp
		for i, x := range function.References(p) {
			if x == function.None && i == 1 {
				continue
			}
			if x < 0 || x >= int64(st) || g < d.groups && d.count(int(x), g) != n || g == d.groups && d.l.streams[x].ref != refRows {
				return r, false
			}
			if in[i], ok = d.ramp(int(x), g); !ok {
				return r, false
			}
		}
		r, ok = function.RampOf(p, n, in[0], in[1])
		return r, ok && class == ClassInt64
	}
	return r, false
}

// decodeInt64 decodes stream st of group g into dst, whose length is the count.
func (d *blockDecoder) decodeInt64(dst []int64, st, g int) error {
	if encoding.ID(d.slots(int(d.where[st]), g)[slotID]) == encoding.Function {
		if err := d.decodeFunction(dst, st, g); err != nil {
			return err
		}
		return inRange(d, dst, st, g)
	}
	id, p, body, err := d.chunk(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeInt64(dst, body)
	case encoding.Constant:
		err = constant.DecodeInt64(dst, p)
	case encoding.RunLength:
		err = d.runs.Int64(dst, p, body)
	case encoding.DeltaOfDelta:
		err = d.delta.Int64(dst, p, body)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	return inRange(d, dst, st, g)
}

// inRange refuses values that the type of stream st does not have.
func inRange[T int32 | int64](d *blockDecoder, v []T, st, g int) error {
	s := &d.l.streams[st]
	if !s.narrow {
		return nil
	}
	for i, x := range v {
		if int64(x) < s.from || int64(x) > s.to {
			return d.corrupt(st, g, "value %d is %d, outside its type", i, x)
		}
	}
	return nil
}

// decodeFunction decodes a stream that follows from earlier ones.
func (d *blockDecoder) decodeFunction(dst []int64, st, g int) error {
	var in [2]function.Column
	for i, s := range function.References(d.slots(int(d.where[st]), g).params()) {
		if i == 1 && s == function.None {
			continue
		}
		if s < 0 || s >= int64(st) {
			return d.corrupt(st, g, "follows from stream %d", s)
		}
		c := d.l.streams[s].class
		if c != ClassInt32 && c != ClassInt64 || d.count(int(s), g) != len(dst) {
			return d.corrupt(st, g, "follows from %s of %d values", d.l.streams[s].name, d.count(int(s), g))
		}
		var err error
		if r, ok := d.ramp(int(s), g); ok && r.Spread == 0 {
			in[i].First, in[i].Step = r.First, r.Step
		} else if in[i].Values, err = d.intStream(int(s), g); err != nil {
			return err
		}
	}
	_, p, body, err := d.chunk(st, g)
	if err != nil {
		return err
	}
	if err := d.fun.DecodeColumns(dst, &in[0], &in[1], p, body); err != nil {
		return d.at(st, g, err)
	}
	return nil
}

// keptInts is an integer stream that was decoded, for those that follow from
// it. It is of the groups at hand if it has their stamp.
type keptInts struct {
	stamp  int64
	run    []int64 // a value for each unfiltered of all groups
	run32  []int32 // the same of an int32 stream
	group  int     // or, where neither, of one group,
	values []int64 // these
	own    []int64 // memory
}

// kept is what is kept of stream st.
func (d *blockDecoder) kept(st int) *keptInts {
	e := &d.ints[d.where[st]]
	if e.stamp != d.stamp {
		e.stamp, e.run, e.run32, e.group = d.stamp, nil, nil, -1
	}
	return e
}

// runOf is the kept stream of all groups at hand as int64, or nil.
func (d *blockDecoder) runOf(e *keptInts) []int64 {
	if e.run == nil && e.run32 != nil {
		e.own = sized(e.own, len(e.run32))
		simd.Widen32(e.own, e.run32)
		e.run = e.own
	}
	return e.run
}

// intStream is integer stream st of group g, one of those at hand, as int64. It
// is valid until another group of it is asked for and must not be changed.
func (d *blockDecoder) intStream(st, g int) ([]int64, error) {
	e := d.kept(st)
	d.runOf(e)
	n, at := d.count(st, g), d.starts[g]-d.starts[d.first]
	switch {
	case e.run != nil:
		return e.run[at : at+n], nil
	case e.group == g:
		return e.values, nil
	}
	e.own = sized(e.own, n)
	switch {
	case n == 0:
	case d.l.streams[st].class == ClassInt32:
		d.i32 = sized(d.i32, n)
		if err := d.decodeInt32(d.i32, st, g); err != nil {
			return nil, err
		}
		widen(e.own, d.i32)
	default:
		if err := d.decodeInt64(e.own, st, g); err != nil {
			return nil, err
		}
	}
	e.group, e.values = g, e.own
	return e.values, nil
}

// nonzeros finds the values of integer stream st of group g that are not 0, of
// which its type has few: positions, which ascend, and values, valid until the
// next call.
func (d *blockDecoder) nonzeros(st, g int) (at []int32, values []int64, err error) {
	d.oddAt, d.odd = d.oddAt[:0], d.odd[:0]
	n := d.count(st, g)
	if n > 0 && d.l.streams[st].class == ClassInt64 && d.slots(int(d.where[st]), g)[slotID] == int64(encoding.DeltaOfDelta) {
		var p *encoding.Params
		var body []byte
		if _, p, body, err = d.chunk(st, g); err != nil {
			return nil, nil, err
		}
		var pos []uint64
		var v []int64
		var ok bool
		if pos, v, ok, err = d.delta.Sparse(p, n, body); err != nil {
			return nil, nil, d.at(st, g, err)
		}
		if ok {
			for i, x := range v {
				if x != 0 {
					d.oddAt, d.odd = append(d.oddAt, int32(pos[i])), append(d.odd, x)
				}
			}
			return d.oddAt, d.odd, nil
		}
	}
	v, err := d.intStream(st, g)
	for i := nonzero(v, 0); i < len(v); i = nonzero(v, i+1) {
		d.oddAt, d.odd = append(d.oddAt, int32(i)), append(d.odd, v[i])
	}
	return d.oddAt, d.odd, err
}

// nonzero is the first index from i on at which v is not 0, or its length.
func nonzero(v []int64, i int) int {
	for ; len(v)-i >= 8; i += 8 {
		if w := (*[8]int64)(v[i:]); w[0]|w[1]|w[2]|w[3]|w[4]|w[5]|w[6]|w[7] != 0 {
			break
		}
	}
	for i < len(v) && v[i] == 0 {
		i++
	}
	return i
}

func (d *blockDecoder) decodeInt32(dst []int32, st, g int) error {
	id, p, body, err := d.chunk(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeInt32(dst, body)
	case encoding.Constant:
		err = constant.DecodeInt32(dst, p)
	case encoding.RunLength:
		err = d.runs.Int32(dst, p, body)
	case encoding.DeltaOfDelta:
		err = d.delta.Int32(dst, p, body)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	return inRange(d, dst, st, g)
}

func (d *blockDecoder) decodeFloat32(dst []float32, st, g int) error {
	id, p, body, err := d.chunk(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeFloat32(dst, body)
	case encoding.Constant:
		err = constant.DecodeFloat32(dst, p)
	case encoding.ByteStreamSplit:
		_, err = bss.DecodeFloat32(dst, body)
	case encoding.ALP:
		err = d.alp.Float32(dst, p, body)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	return nil
}

func (d *blockDecoder) decodeFloat64(dst []float64, st, g int) error {
	id, p, body, err := d.chunk(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeFloat64(dst, body)
	case encoding.Constant:
		err = constant.DecodeFloat64(dst, p)
	case encoding.ByteStreamSplit:
		_, err = bss.DecodeFloat64(dst, body)
	case encoding.ALP:
		err = d.alp.Float64(dst, p, body)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	return nil
}

// decodeBytes appends the strings of stream st of group g to dst.
func (d *blockDecoder) decodeBytes(dst *bytestrings.Strings, st, g int) error {
	id, p, body, err := d.chunk(st, g)
	if err != nil {
		return err
	}
	n := d.count(st, g)
	limit, before := min(maxGroupBytes, d.left[g]), len(dst.Data)
	switch id {
	case encoding.LengthBytes:
		err = d.bytes.LengthBytes(dst, n, p, body, limit)
	case encoding.FrontCoded:
		err = d.bytes.FrontCoded(dst, n, p, body, limit)
	case encoding.Dictionary:
		err = d.dict.Decode(dst, n, p, body, limit)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	d.left[g] -= len(dst.Data) - before
	return nil
}
