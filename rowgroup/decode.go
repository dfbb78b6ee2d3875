package rowgroup

import (
	"errors"
	"fmt"
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

type blockDecoder struct {
	schema *Schema
	l      *layout
	t      *Template
	groups int
	body   []byte
	vals   []int64 // of slots that the block stores: (dyn*groups + group)
	listed *Template
	where  []int32 // by stream: where listed lists it, or 0
	refs   []ref   // where*groups + group
	rows   []int
	parts  []int
	limits groupLimits

	delta  deltadelta.Decoder
	runs   runlength.Decoder
	fun    function.Decoder
	alp    alp.Decoder
	bytes  bytestrings.Decoder
	dict   dict.Decoder
	inflat []byte
	params encoding.Params // of the chunk at hand

	ints    [][]int64 // decoded int streams of group intsOf, by where
	intsOf  int
	haveInt []bool
	own     [][]int64 // memory for them
	i32     []int32
	tmp     scratch
	pos     []int32
	some    []int32    // see filter
	cells   [5][]int32 // see decodeColumn
	sel     []int32
	statics []int32
}

// scratch holds values that are spread over rows afterwards.
type scratch struct {
	i32 []int32
	i64 []int64
	f32 []float32
	f64 []float64
	str bytestrings.Strings
}

func newBlockDecoder(s *Schema) *BlockDecoder {
	l := s.layout
	return &BlockDecoder{blockDecoder{schema: s, l: l, limits: newGroupLimits(s), intsOf: -1,
		where: make([]int32, len(l.streams))}}
}

func (d *blockDecoder) numGroups() int            { return d.groups }
func (d *blockDecoder) groupRows(g int) int       { return d.rows[g] }
func (d *blockDecoder) groupPartitions(g int) int { return d.parts[g] }

func (d *blockDecoder) open(t *Template, groups, rows, parts int, body []byte) error {
	d.intsOf, d.t = -1, nil
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
	bodies, err := d.openParams(t, body)
	if err != nil {
		return err
	}
	if err := d.openGroups(t, rows, parts); err != nil {
		return err
	}
	return d.openRefs(t, bodies)
}

// openParams reads the parameter columns and returns where the bodies begin.
func (d *blockDecoder) openParams(t *Template, body []byte) (int, error) {
	d.vals = slices.Grow(d.vals[:0], t.dyn*d.groups)[:t.dyn*d.groups]
	f := fields{part: "block parameters", b: body}
	nbits := 0
	for _, s := range t.slots {
		if s.dyn < 0 {
			continue
		}
		v := d.vals[int(s.dyn)*d.groups:][:d.groups]
		first, step := s.seeds(&f)
		if s.kind == shapePacked {
			nbits += int(s.w) * d.groups
		}
		for g := range v {
			v[g] = first
			first += step
		}
	}
	if f.err != nil {
		return 0, f.err
	}
	n := (nbits + 7) / 8
	if len(f.b) < n {
		return 0, encoding.Corruptf("block parameters", "%d bytes are left of %d", len(f.b), n)
	}
	bit := uint(0)
	packed := f.b[:n]
	for _, s := range t.slots {
		if s.kind != shapePacked {
			continue
		}
		v := d.vals[int(s.dyn)*d.groups:][:d.groups]
		for g := range v {
			v[g] += int64(bitsAt(packed, bit, uint(s.w)))
			bit += uint(s.w)
		}
	}
	return len(body) - len(f.b) + n, nil
}

// seeds reads what a block stores of a slot beside its packed bits: the first
// value or the least, and the step from group to group, or 0.
func (s *slot) seeds(f *fields) (first, step int64) {
	first = f.varint("a parameter")
	switch s.kind {
	case shapeStep:
		step = s.v
	case shapeSteps:
		step = f.varint("a step")
	}
	return first, step
}

// bitsAt is the w bits of b from bit on.
func bitsAt(b []byte, bit, w uint) uint64 {
	if w == 0 {
		return 0
	}
	b, bit = b[bit>>3:], bit&7
	x := le.Uint64Short(b) >> bit
	if bit+w > 64 {
		x |= uint64(b[8]) << (64 - bit)
	}
	return x & (^uint64(0) >> (64 - w))
}

func (d *blockDecoder) openGroups(t *Template, rows, parts int) error {
	d.rows, d.parts = d.rows[:0], d.parts[:0]
	sumRows, sumParts := 0, 0
	var n [numSlots]int64
	for g := range d.groups {
		d.slots(t, 0, g, &n)
		r, p := n[groupRows], n[groupParts]
		if r < 0 || r > encoding.MaxGroupRows || p < 0 || p > encoding.MaxGroupRows || r+p == 0 {
			return encoding.Corruptf("block parameters", "row group %d has %d rows, %d partitions", g, r, p)
		}
		if err := d.limits.check(int(r), int(p)); err != nil {
			return err
		}
		d.rows, d.parts = append(d.rows, int(r)), append(d.parts, int(p))
		sumRows += int(r)
		sumParts += int(p)
	}
	if sumRows != rows || sumParts != parts {
		return encoding.Corruptf("block", "row groups hold %d rows and %d partitions; its header says %d and %d", sumRows, sumParts, rows, parts)
	}
	return nil
}

func (d *blockDecoder) openRefs(t *Template, off int) error {
	if d.listed != t {
		if d.listed != nil {
			for _, l := range d.listed.streams[1:] {
				d.where[l.stream] = 0
			}
		}
		d.listed = t
		for k, l := range t.streams[1:] {
			d.where[l.stream] = int32(k + 1)
		}
		for len(d.ints) < len(t.streams) {
			d.ints, d.haveInt, d.own = append(d.ints, nil), append(d.haveInt, false), append(d.own, nil)
		}
	}
	d.refs = zeroed(d.refs, len(t.streams)*d.groups)
	d.t = t
	var slots, before [numSlots]int64
	p := &d.params
	for k := 1; k < len(t.streams); k++ {
		st := int(t.streams[k].stream)
		plain, plainOf := 0, int64(-1) // of the parameters before, for as many values
		for g := range d.groups {
			d.slots(t, k, g, &slots)
			n := int64(0)
			switch c := slots[slotCount]; {
			case c == countAll:
				n = int64(d.l.streams[st].refCount(d.rows[g], d.parts[g]))
			case c == countNone:
				continue
			default:
				n = c - countExplicit
			}
			if n < 0 || n > encoding.MaxGroupRows {
				return d.corrupt(st, g, "%d values", n)
			}
			if n == 0 {
				continue
			}
			if n != plainOf || slots != before {
				copy(p[:], slots[slotParam:])
				var err error
				if plain, err = d.bodyLen(st, encoding.ID(slots[slotID]), slots[slotID], p, int(n)); err != nil {
					return d.at(st, g, err)
				}
				plainOf, before = n, slots
			}
			stored := plain
			if z := slots[slotZstd]; z != 0 {
				if z < 0 || z >= int64(plain) {
					return d.corrupt(st, g, "%d bytes compressed, %d not", z, plain)
				}
				stored = int(z)
			}
			if stored > len(d.body)-off {
				return d.corrupt(st, g, "%d bytes of values, %d are left", stored, len(d.body)-off)
			}
			d.refs[k*d.groups+g] = ref{off: int32(off), len: int32(stored), count: int32(n)}
			off += stored
		}
	}
	if off != len(d.body) {
		return encoding.Corruptf("block", "%d bytes left over", len(d.body)-off)
	}
	return nil
}

// slots assembles the parameters of listed stream k of t in group g.
func (d *blockDecoder) slots(t *Template, k, g int, out *[numSlots]int64) {
	*out = [numSlots]int64{}
	slots := t.slotsOf(k)
	for i := range slots {
		s := &slots[i]
		v := s.v
		if s.dyn >= 0 {
			v = d.vals[int(s.dyn)*d.groups+g]
		}
		out[s.slot] = v
	}
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
func (d *blockDecoder) bodyLen(st int, id encoding.ID, wide int64, p *encoding.Params, n int) (int, error) {
	if wide < 0 || wide > 255 || !id.Valid() {
		return 0, fmt.Errorf("%w encoding %d", encoding.ErrUnsupported, wide)
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

// chunkBody is the body of a chunk, decompressed, with its encoding; its
// parameters are in d.params. Both are valid until the next call.
func (d *blockDecoder) chunkBody(st, g int) (encoding.ID, []byte, error) {
	var slots [numSlots]int64
	p := &d.params
	d.slots(d.t, int(d.where[st]), g, &slots)
	copy(p[:], slots[slotParam:])
	id := encoding.ID(slots[slotID])
	r := d.ref(st, g)
	body := d.body[r.off : r.off+r.len : r.off+r.len]
	if slots[slotZstd] == 0 {
		return id, body, nil
	}
	n, err := d.bodyLen(st, id, slots[slotID], p, int(r.count))
	if err != nil {
		return id, nil, d.at(st, g, err)
	}
	out, err := d.inflate(body, n)
	if err != nil {
		return id, nil, d.at(st, g, err)
	}
	return id, out, nil
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
func (d *blockDecoder) ref(st, g int) *ref { return &d.refs[int(d.where[st])*d.groups+g] }

// count is the number of values of stream st in group g.
func (d *blockDecoder) count(st, g int) int { return int(d.ref(st, g).count) }

// zero reports whether all values of int stream st in group g are 0, as far as
// the parameters say so, or there are none.
func (d *blockDecoder) zero(st, g int) bool {
	r := d.ref(st, g)
	if r.count == 0 {
		return true
	}
	if r.len != 0 {
		return false
	}
	var slots [numSlots]int64
	d.slots(d.t, int(d.where[st]), g, &slots)
	return encoding.ID(slots[slotID]) == encoding.Constant && slots[slotParam] == 0
}

// progression reports whether the parameters of integer stream st in group g
// alone say what its values are, and that they are values of its type: first,
// and each then step above the one before, modulo 2^64.
func (d *blockDecoder) progression(st, g int) (first, step int64, ok bool) {
	r := d.ref(st, g)
	if r.len != 0 || r.count == 0 || d.l.streams[st].narrow {
		return 0, 0, false
	}
	var slots [numSlots]int64
	d.slots(d.t, int(d.where[st]), g, &slots)
	switch encoding.ID(slots[slotID]) {
	case encoding.Constant:
		return slots[slotParam], 0, true
	case encoding.DeltaOfDelta:
		first, step, ok = deltadelta.Progression((*encoding.Params)(slots[slotParam:]))
	}
	if ok && d.l.streams[st].class == ClassInt32 {
		first, step = int64(int32(first)), int64(int32(step))
		last := first + int64(r.count-1)*step
		ok = last == int64(int32(last)) // else they wrap modulo 2^32
	}
	return first, step, ok
}

// decodeInt64 decodes stream st of group g into dst, whose length is the count.
func (d *blockDecoder) decodeInt64(dst []int64, st, g int) error {
	id, body, err := d.chunkBody(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeInt64(dst, body)
	case encoding.Constant:
		err = constant.DecodeInt64(dst, &d.params)
	case encoding.RunLength:
		err = d.runs.Int64(dst, &d.params, body)
	case encoding.DeltaOfDelta:
		err = d.delta.Int64(dst, &d.params, body)
	case encoding.Function:
		if err = d.decodeFunction(dst, st, g); err != nil {
			return err
		}
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
	refs := [2]int64{d.params[6] - 1, d.params[7] - 1}
	var in [2]function.Column
	for i := range in {
		s := refs[i]
		if i == 1 && s == -1 {
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
		var ok bool
		if in[i].First, in[i].Step, ok = d.progression(int(s), g); ok {
			continue
		}
		if in[i].Values, err = d.intStream(int(s), g); err != nil {
			return err
		}
	}
	// The inputs took the place of the body and the parameters.
	_, body, err := d.chunkBody(st, g)
	if err != nil {
		return err
	}
	if err := d.fun.DecodeColumns(dst, &in[0], &in[1], &d.params, body); err != nil {
		return d.at(st, g, err)
	}
	return nil
}

// intStream is integer stream st of group g as int64. It is kept until
// another group is decoded and must not be changed.
func (d *blockDecoder) intStream(st, g int) ([]int64, error) {
	k := d.where[st]
	if d.intsOf == g && d.haveInt[k] {
		return d.ints[k], nil
	}
	n := d.count(st, g)
	v := slices.Grow(d.own[k][:0], n)[:n]
	d.own[k] = v
	if n > 0 {
		if d.l.streams[st].class == ClassInt32 {
			d.i32 = slices.Grow(d.i32[:0], n)[:n]
			if err := d.decodeInt32(d.i32, st, g); err != nil {
				return nil, err
			}
			for i, x := range d.i32 {
				v[i] = int64(x)
			}
		} else if err := d.decodeInt64(v, st, g); err != nil {
			return nil, err
		}
	}
	d.keep(v, st, g)
	return v, nil
}

// keep makes v, the values of integer stream st of group g, what intStream
// gives; they must not change until another group is decoded.
func (d *blockDecoder) keep(v []int64, st, g int) {
	if d.intsOf != g {
		clear(d.haveInt)
		d.intsOf = g
	}
	k := d.where[st]
	d.ints[k], d.haveInt[k] = v, true
}

func (d *blockDecoder) decodeInt32(dst []int32, st, g int) error {
	id, body, err := d.chunkBody(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeInt32(dst, body)
	case encoding.Constant:
		err = constant.DecodeInt32(dst, &d.params)
	case encoding.RunLength:
		err = d.runs.Int32(dst, &d.params, body)
	case encoding.DeltaOfDelta:
		err = d.delta.Int32(dst, &d.params, body)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	return inRange(d, dst, st, g)
}

func (d *blockDecoder) decodeFloat32(dst []float32, st, g int) error {
	id, body, err := d.chunkBody(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeFloat32(dst, body)
	case encoding.Constant:
		err = constant.DecodeFloat32(dst, &d.params)
	case encoding.ByteStreamSplit:
		_, err = bss.DecodeFloat32(dst, body)
	case encoding.ALP:
		err = d.alp.Float32(dst, &d.params, body)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	return nil
}

func (d *blockDecoder) decodeFloat64(dst []float64, st, g int) error {
	id, body, err := d.chunkBody(st, g)
	if err != nil {
		return err
	}
	switch id {
	case encoding.Raw:
		_, err = raw.DecodeFloat64(dst, body)
	case encoding.Constant:
		err = constant.DecodeFloat64(dst, &d.params)
	case encoding.ByteStreamSplit:
		_, err = bss.DecodeFloat64(dst, body)
	case encoding.ALP:
		err = d.alp.Float64(dst, &d.params, body)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	return nil
}

// decodeBytes appends the strings of stream st of group g to dst.
func (d *blockDecoder) decodeBytes(dst *bytestrings.Strings, st, g int) error {
	id, body, err := d.chunkBody(st, g)
	if err != nil {
		return err
	}
	n := d.count(st, g)
	limit, before := min(maxGroupBytes, d.limits.left), len(dst.Data)
	switch id {
	case encoding.LengthBytes:
		err = d.bytes.LengthBytes(dst, n, &d.params, body, limit)
	case encoding.FrontCoded:
		err = d.bytes.FrontCoded(dst, n, &d.params, body, limit)
	case encoding.Dictionary:
		err = d.dict.Decode(dst, n, &d.params, body, limit)
	}
	if err != nil {
		return d.at(st, g, err)
	}
	d.limits.left -= len(dst.Data) - before
	return nil
}
