package rowgroup

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// sampleBlock is a template and a block that use most of the format.
func sampleBlock(t testing.TB, seed int) (s *Schema, tm []byte, groups, rows, parts int, body []byte) {
	s = everySchema(t)
	b := rapid.Custom(func(t *rapid.T) *Batch { return drawHistory(t, s) }).Example(seed)
	e := NewSegmentEncoder(s, EncodeOptions{ZstdMeta: seed%3 == 0})
	parts = b.NumPartitions()
	seg, err := e.Encode(b, []Span{{0, b.Len(), 0, parts}})
	require.NoError(t, err)
	var ts TemplateSet
	_, tmpl, _ := ts.Choose(seg, 0, 1)
	return s, tmpl.AppendTo(nil), 1, b.Len(), parts, seg.AppendBlock(nil, 0, 1, tmpl)
}

// decodeHostile decodes what may be damaged: the answer is an error of the
// right kind, or a batch that keeps the rules.
func decodeHostile(t testing.TB, s *Schema, tm []byte, groups, rows, parts int, body []byte) {
	parsed, err := ParseTemplate(s, tm)
	if err == nil {
		d := NewBlockDecoder(s)
		err = d.Open(parsed, groups, rows, parts, body)
		if err == nil {
			b := NewBatch(s)
			b.clear()
			if parts == 0 {
				b.BeginPartition(nil)
			}
			if err = d.Decode(b, 0, groups, nil); err == nil {
				require.NoError(t, b.Check())
				require.Equal(t, rows, b.Len())
			}
		}
	}
	if err != nil && !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) {
		t.Fatalf("%v", err)
	}
}

func TestT20HostileBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for seed := range 12 {
		s, tm, groups, rows, parts, body := sampleBlock(t, seed)
		for range 1500 {
			tm2, body2 := append([]byte(nil), tm...), append([]byte(nil), body...)
			for range 1 + r.IntN(3) {
				target := &body2
				if r.IntN(3) == 0 {
					target = &tm2
				}
				if len(*target) == 0 {
					continue
				}
				i := r.IntN(len(*target))
				switch r.IntN(4) {
				case 0:
					(*target)[i] ^= 1 << r.IntN(8)
				case 1:
					(*target)[i] = byte(r.Uint32())
				case 2:
					*target = (*target)[:i]
				case 3:
					v := binary.AppendVarint(nil, []int64{1<<31 - 1, 1<<32 - 1, 1<<63 - 1, -1 << 63, -1, 60000}[r.IntN(6)])
					*target = append(append(append([]byte(nil), (*target)[:i]...), v...), (*target)[i:]...)
				}
			}
			decodeHostile(t, s, tm2, groups, rows, parts, body2)
		}
	}
}

// Chunks of one length that come to more than an int has bits are more than a
// body has bytes.
func TestHostileAlike(t *testing.T) {
	s, err := NewSchema([]Column{{Name: "k", Type: Text}}, []Column{{Name: "c", Type: Int}}, nil, []Column{{Name: "v", Type: Text}})
	require.NoError(t, err)
	const groups = MaxBlockGroups
	b := NewBatch(s)
	b.BeginPartition([]byte("k"))
	spans := make([]Span, 1+groups)
	for i := range spans {
		b.vecs[1].i32 = append(b.vecs[1].i32, int32(i))
		require.NoError(t, b.vecs[2].str.Append([]byte{byte('0' + i)})) // of one length
		spans[i] = Span{i, i + 1, min(i, 1), 1}
	}
	seg, err := NewSegmentEncoder(s, EncodeOptions{}).Encode(b, spans)
	require.NoError(t, err)
	var ts TemplateSet
	_, tmpl, _ := ts.Choose(seg, 1, 1+groups) // the partition begins before
	tm, body := tmpl.AppendTo(nil), seg.AppendBlock(nil, 1, 1+groups, tmpl)
	decodeHostile(t, s, tm, groups, groups, 0, body)
	for _, length := range []int64{1<<26 - 1, 1 << 26, 1<<25 + 1, 1 << 28} { // 64 of them: about 2^32, 2^31, 2^34
		parsed, err := ParseTemplate(s, tm)
		require.NoError(t, err)
		n := 0
		for k := range parsed.streams {
			slots := parsed.slotsOf(k)
			for i := range slots {
				if x := &slots[i]; x.slot == slotParam+1 && x.kind == shapeConst && slots[0].v == int64(encoding.LengthBytes) {
					x.v = length
					n++
				}
			}
		}
		require.Equal(t, 1, n, "the values")
		for _, body := range [][]byte{body, body[:len(body)-groups]} { // the latter without any of the values
			err = NewBlockDecoder(s).Open(parsed, groups, groups, 0, body)
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
	}
}

func FuzzBlock(f *testing.F) {
	for seed := range 8 {
		_, tm, groups, rows, parts, body := sampleBlock(f, seed)
		f.Add(tm, groups, rows, parts, body)
	}
	const most = 4096 // so that an input takes milliseconds, whatever it declares
	f.Fuzz(func(t *testing.T, tm []byte, groups, rows, parts int, body []byte) {
		if rows > most || parts > most {
			t.Skip("larger than a fuzzer has time for")
		}
		decodeHostile(t, everySchema(t), tm, groups, rows, parts, body)
	})
}

// What is known from parameters alone is what decoding would give, damage
// included.
func TestRampsUnderDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 9))
	whole, few := map[string]int{}, map[string]int{}
	for name, x := range testBlocks(t) {
		tm := x.tm.AppendTo(nil)
		decoded := 0
		for range 800 {
			tm2, body := append([]byte(nil), tm...), append([]byte(nil), x.body...)
			for range 1 + r.IntN(2) {
				if r.IntN(2) == 0 {
					tm2[r.IntN(len(tm2))] = byte(r.Uint32() >> r.IntN(32))
				} else {
					body[r.IntN(60)] ^= 1 << r.IntN(8)
				}
			}
			parsed, err := ParseTemplate(x.batch.schema, tm2)
			if err != nil {
				continue
			}
			var got [2]*Batch
			var errs [2]error
			for i := range got {
				d := NewBlockDecoder(x.batch.schema)
				if err := d.Open(parsed, x.groups, x.rows, x.parts, body); err != nil {
					errs[i] = err
					continue
				}
				if i == 1 {
					for k := range d.asked {
						d.asked[k] = rampNone
					}
				}
				got[i] = NewBatch(x.batch.schema)
				got[i].clear()
				if d.parts[0] == 0 {
					got[i].BeginPartition(nil).Continued = true
				}
				errs[i] = d.Decode(got[i], 0, x.groups, nil)
			}
			require.Equal(t, errs[1] == nil, errs[0] == nil, "%v, %v", errs[1], errs[0])
			if errs[0] == nil {
				decoded++
				sameBatch(t, got[1], got[0])
			}
			// Nor does one pass more.
			d, once := NewBlockDecoder(x.batch.schema), NewBatch(x.batch.schema)
			once.clear()
			if d.DecodeWhole(once, nil, parsed, x.groups, x.rows, x.parts, body, nil) {
				require.NoError(t, errs[0])
				sameBatch(t, got[0], once)
				whole[name]++
			}
			// Of some rows it knows what decoding their group does.
			some := NewBatch(x.batch.schema)
			some.clear()
			if n, ok := d.DecodeWithin(some, nil, parsed, x.groups, x.rows, x.parts, body, &RowRange{Limit: 3, Last: true}, nil); ok && x.parts == 0 {
				require.Equal(t, 3, n)
				last := NewBatch(x.batch.schema)
				last.clear()
				last.BeginPartition(nil).Continued = true
				require.NoError(t, d.Open(parsed, x.groups, x.rows, x.parts, body))
				require.NoError(t, d.Decode(last, x.groups-1, x.groups, nil))
				last.Cut(0, last.Len()-3, last.Len())
				sameBatch(t, last, some)
				few[name]++
			}
		}
		require.NotZero(t, decoded, name)
	}
	require.Greater(t, whole["full"], 50)
	require.Greater(t, whole["first"], 50)
	require.Greater(t, whole["2dec"], 50)
	require.Greater(t, few["full"], 50)
	require.Greater(t, few["2dec"], 50)
}

// sameBatch requires that batches hold the same, floats by bits.
func sameBatch(t testing.TB, want, got *Batch) {
	require.Equal(t, want.parts, got.parts)
	require.Equal(t, want.meta, got.meta)
	require.Equal(t, want.markers, got.markers)
	for c := range want.vecs {
		w, g := want.vecs[c], got.vecs[c]
		require.Len(t, g.f32, len(w.f32))
		for i := range w.f32 {
			require.Equal(t, math.Float32bits(w.f32[i]), math.Float32bits(g.f32[i]))
		}
		require.Len(t, g.f64, len(w.f64))
		for i := range w.f64 {
			require.Equal(t, math.Float64bits(w.f64[i]), math.Float64bits(g.f64[i]))
		}
		w.f32, g.f32, w.f64, g.f64 = nil, nil, nil, nil
		require.Equal(t, w, g)
	}
}
