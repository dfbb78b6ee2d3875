package rowgroup

import (
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bytestrings"
)

// Sizes is where the bytes of blocks went, by stream.
type Sizes struct {
	Streams     []StreamSizes // in stored order; also those that never held a byte
	BlockParams int64         // counts of rows and partitions of groups
}

// StreamSizes is the share of one stream: a column's values or one kind of
// metadata.
type StreamSizes struct {
	Name      string // the column, or "$write_time", "$key", "value.$state", …
	Column    int    // the column number, or -1
	Values    bool   // the column's values, so that Name is the column's
	Payload   int64
	Metadata  int64     // also the lengths among keys
	Params    int64     // seeds and packed bits in the blocks' headers
	Encodings [16]int64 // chunks by encoding ID
	Zstd      int64     // chunks kept compressed
}

// AddTo adds the sizes of the open block to s, whose sums then grow by the
// length of the block's body.
func (d *BlockDecoder) AddTo(s *Sizes) { d.addTo(s) }

func (d *blockDecoder) addTo(s *Sizes) {
	if s.Streams == nil {
		s.Streams = make([]StreamSizes, len(d.l.streams))
		for i, st := range d.l.streams {
			s.Streams[i] = StreamSizes{
				Name: st.name, Column: st.column,
				Values: st.column >= 0 && st.name == d.schema.cols[st.column].Name && st.user,
			}
		}
	}
	f := fields{b: d.body}
	bit := 0
	last := &s.BlockParams // who pays for what is padded
	for k := range d.t.streams {
		l := &d.t.streams[k]
		params := &s.BlockParams
		if k > 0 {
			params = &s.Streams[l.stream].Params
			for g := range d.groups {
				d.addChunk(&s.Streams[l.stream], int(l.stream), k, g)
			}
		}
		for _, x := range d.t.slotsOf(k) {
			if x.dyn < 0 {
				continue
			}
			before := len(f.b)
			x.seeds(&f)
			*params += int64(before - len(f.b))
			if x.kind == shapePacked {
				from := bit
				bit += int(x.w) * d.groups
				*params += int64(bit/8 - from/8)
				last = params
			}
		}
	}
	if bit%8 > 0 {
		*last++
	}
}

// addChunk adds the chunk of stream st, listed as the k-th, in group g to out.
func (d *blockDecoder) addChunk(out *StreamSizes, st, k, g int) {
	r := d.ref(st, g)
	if r.count == 0 {
		return
	}
	v := d.slots(k, g)
	id := encoding.ID(v[slotID])
	out.Encodings[id&15]++
	if v[slotZstd] != 0 {
		out.Zstd++
	}
	metadata := int64(r.len)
	if d.l.streams[st].user {
		metadata = 0
		if st == sKey {
			metadata = int64(keyLengths(id, v.params(), int(r.count)))
			// Compressed, lengths and keys are taken to shrink alike.
			if plain, err := d.bodyLen(st, v, int(r.count)); err == nil && v[slotZstd] != 0 {
				metadata = metadata * int64(r.len) / int64(plain)
			}
		}
	}
	out.Metadata += metadata
	out.Payload += int64(r.len) - metadata
}

// keyLengths is how many bytes of a chunk of keys are lengths, which count as
// metadata.
func keyLengths(id encoding.ID, p *encoding.Params, n int) int {
	lengths := 0
	switch id {
	case encoding.FrontCoded:
		lengths, _ = bytestrings.FrontCodedSplit(p, n)
	case encoding.LengthBytes:
		lengths, _ = bytestrings.LengthBytesSplit(p, n)
	}
	return lengths
}
