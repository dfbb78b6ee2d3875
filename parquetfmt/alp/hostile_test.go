package alp

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	parquetenc "github.com/parquet-go/parquet-go/encoding"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

// Pages that are valid but that this encoder does not write: any frame and
// width, integers that wrap or that floats have not, exceptions in any order.
func TestForeignPages(t *testing.T) {
	levels(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(5, 6))
		for width := range 65 {
			for _, n := range []int{1, 7, 8, 13, 32} {
				for _, m := range []int{64, 32} {
					if width > m {
						continue
					}
					var page []byte
					var vs []handmade
					for k := range 3 {
						v := handmade{frame: r.Uint64() >> r.IntN(64), width: width, codes: make([]uint64, 32)}
						v.e = uint8(r.IntN(int(maxExponent(uint(m))) + 1))
						v.f = uint8(r.IntN(int(v.e) + 1))
						if k == 1 {
							v.frame = -v.frame
						}
						if k == 2 {
							v.codes = v.codes[:n]
						}
						for i := range v.codes {
							v.codes[i] = r.Uint64()
						}
						for range r.IntN(len(v.codes) + 1) {
							v.positions = append(v.positions, uint16(r.IntN(len(v.codes))))
							v.raw = append(v.raw, r.Uint64())
						}
						vs = append(vs, v)
					}
					page = pageOf(m/8, 5, vs...)
					if m == 64 {
						got, err := new(Encoding).DecodeDouble(nil, page)
						require.NoError(t, err)
						require.Equal(t, decode64(t, page), patterns64(got), "width %d", width)
					} else {
						got, err := new(Encoding).DecodeFloat(nil, page)
						require.NoError(t, err)
						require.Equal(t, decode32(t, page), patterns32(got), "width %d", width)
					}
				}
			}
		}
	})
}

// T20: counts, positions and widths out of a page are not trusted.
func TestT20HostilePages(t *testing.T) {
	good := func() handmade {
		return handmade{
			e: 14, f: 12, frame: 5, width: 3, codes: slices.Repeat([]uint64{1, 2, 3, 4}, 5),
			positions: []uint16{3, 19}, raw: []uint64{1, 2},
		}
	}
	vector := func(change func(v *handmade)) []byte {
		v := good()
		change(&v)
		return pageOf(8, 5, v)
	}
	with := func(at int, b ...byte) []byte {
		page := pageOf(8, 5, good())
		copy(page[at:], b)
		return page
	}
	const header, body = 7, 7 + 4
	cases := map[string][]byte{
		"empty":                     {},
		"short header":              {0, 0, 10, 0, 0, 0},
		"mode":                      with(0, 1),
		"integer encoding":          with(1, 1),
		"small vectors":             with(2, 2),
		"large vectors":             with(2, 16),
		"negative count":            with(3, 0, 0, 0, 0x80),
		"largest count":             with(3, 0xff, 0xff, 0xff, 0x7f),
		"more vectors":              with(3, 33),
		"one value more":            with(3, 24),
		"fewer values":              with(3, 8),
		"no values":                 with(3, 0),
		"offset":                    with(header, 5),
		"offset far":                with(header, 0xff, 0xff, 0xff, 0xff),
		"exponent":                  vector(func(v *handmade) { v.e = 19 }),
		"exponent 40":               vector(func(v *handmade) { v.e = 40 }),
		"factor":                    vector(func(v *handmade) { v.f = 15 }),
		"exceptions":                with(body+2, 21),
		"65,535 exceptions":         with(body+2, 0xff, 0xff),
		"width 65":                  with(body+12, 65),
		"width 255":                 with(body+12, 255),
		"wider":                     with(body+12, 4),
		"narrower":                  with(body+12, 2),
		"position at the count":     vector(func(v *handmade) { v.positions[1] = 20 }),
		"position 60,000":           vector(func(v *handmade) { v.positions[0] = 60000 }),
		"a byte more":               append(with(0, 0), 0),
		"a byte less":               with(0, 0)[:len(with(0, 0))-1],
		"offsets that do not fit":   {0, 0, 3, 0xff, 0xff, 0xff, 0x7f, 4, 0, 0, 0},
		"empty with something more": {0, 0, 10, 0, 0, 0, 0, 0},
	}
	for name, page := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := new(Encoding).DecodeDouble(make([]float64, 40), page)
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.ErrorIs(t, err, parquet.ErrCorrupted)
			_, err = new(Encoding).DecodeDouble(nil, page)
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			_, err = new(Encoding).DecodeFloat(nil, page)
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		})
	}
	for _, change := range []func(v *handmade){
		func(*handmade) {},
		func(v *handmade) { v.positions[1] = v.positions[0] },                      // the later counts
		func(v *handmade) { v.positions[0], v.positions[1] = 19, 3 },               // any order
		func(v *handmade) { v.frame = math.MaxUint64 },                             // wraps
		func(v *handmade) { v.e, v.f = 18, 18 },                                    // the largest
		func(v *handmade) { v.width, v.positions, v.raw = 0, nil, nil },            // constant
		func(v *handmade) { v.frame, v.e, v.f = 1<<62, 0, 0 },                      // not a float64
		func(v *handmade) { v.codes = v.codes[:0]; v.positions, v.raw = nil, nil }, // not one
	} {
		page := vector(change)
		if len(page) > 7+4+13 {
			got, err := new(Encoding).DecodeDouble(nil, page)
			require.NoError(t, err)
			require.Equal(t, decode64(t, page), patterns64(got))
		}
	}
}

// Few bytes that stand for many values get no memory for them, unless the caller
// has it already.
func TestMemoryIsBounded(t *testing.T) {
	constant := func(n int) []byte {
		var vs []handmade
		for ; n > 0; n -= 1 << 15 {
			vs = append(vs, handmade{codes: make([]uint64, min(n, 1<<15))})
		}
		return pageOf(8, 15, vs...)
	}
	got, err := new(Encoding).DecodeDouble(nil, constant(1<<20))
	require.NoError(t, err)
	require.Len(t, got, 1<<20)
	page := constant(1<<20 + 1)
	_, err = new(Encoding).DecodeDouble(nil, page)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	got, err = new(Encoding).DecodeDouble(make([]float64, 1<<20+1), page)
	require.NoError(t, err)
	require.Len(t, got, 1<<20+1)

	// A header alone.
	page = append([]byte{0, 0, 15, 0, 0, 0, 0x40}, make([]byte, 100)...)
	_, err = new(Encoding).DecodeDouble(nil, page)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}

// What parquet-go sees of a page with another number of values than it
// expects.
func TestCounts(t *testing.T) {
	src := []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	page, err := AppendDouble(nil, src)
	require.NoError(t, err)
	got, err := new(Encoding).DecodeDouble(make([]float64, 20, 30), page)
	require.NoError(t, err)
	require.Equal(t, src, got)
	require.Equal(t, len(got), cap(got), "parquet-go takes what is behind the length for values")
	got, err = new(Encoding).DecodeDouble(make([]float64, 0, 5), page)
	require.NoError(t, err)
	require.Equal(t, src, got)
	_, err = new(Encoding).DecodeDouble(make([]float64, 9), page)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}

// Every bit of a page, flipped: an error, or as many values.
func TestAlteredPages(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	doubles, floats := someDoubles(r, 100), someFloats(r, 100)
	for i := range doubles {
		if i%9 != 0 {
			doubles[i], floats[i] = float64(i)/10, float32(i)/10
		}
	}
	e := Encoding{LogVectorSize: 5}
	page64, page32 := checkDouble(t, &e, doubles), checkFloat(t, &e, floats)
	for i := range 8 * max(len(page64), len(page32)) {
		if i < 8*len(page64) {
			page64[i/8] ^= 1 << (i % 8)
			got, err := e.DecodeDouble(make([]float64, 100), page64)
			if err == nil && len(got) == 100 {
				require.Equal(t, decode64(t, page64), patterns64(got))
			}
			require.True(t, err != nil || len(got) <= 100)
			page64[i/8] ^= 1 << (i % 8)
		}
		if i < 8*len(page32) {
			page32[i/8] ^= 1 << (i % 8)
			got, err := e.DecodeFloat(make([]float32, 100), page32)
			if err == nil && len(got) == 100 {
				require.Equal(t, decode32(t, page32), patterns32(got))
			}
			require.True(t, err != nil || len(got) <= 100)
			page32[i/8] ^= 1 << (i % 8)
		}
	}
	for i := range page64 {
		_, err := e.DecodeDouble(nil, page64[:i])
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	for i := range page32 {
		_, err := e.DecodeFloat(nil, page32[:i])
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
}

func TestBadArguments(t *testing.T) {
	for _, log := range []uint8{1, 2, 16, 255} {
		e := Encoding{LogVectorSize: log}
		_, err := e.EncodeDouble(nil, nil)
		require.ErrorIs(t, err, parquetenc.ErrInvalidArgument)
		_, err = e.EncodeFloat(nil, nil)
		require.ErrorIs(t, err, parquetenc.ErrInvalidArgument)
	}
}

func TestAllocations(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 9))
	doubles, floats := someDoubles(r, 5000), someFloats(r, 5000)
	page := make([]byte, 0, 100000)
	var e Encoding
	require.Zero(t, testing.AllocsPerRun(5, func() {
		var err error
		if page, err = e.EncodeDouble(page, doubles); err != nil {
			t.Error(err)
		}
		if _, err = e.DecodeDouble(doubles, page); err != nil {
			t.Error(err)
		}
		if page, err = e.EncodeFloat(page, floats); err != nil {
			t.Error(err)
		}
		if _, err = e.DecodeFloat(floats, page); err != nil {
			t.Error(err)
		}
	}))
}

// An estimate is the size of the page, or near it.
func TestEstimate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for _, n := range []int{0, 1, 512, 1024, 3000, 8192} {
		doubles, floats := someDoubles(r, n), someFloats(r, n)
		page, err := AppendDouble(nil, doubles)
		require.NoError(t, err)
		require.EqualValues(t, len(page), EstimateDouble(doubles))
		page, err = AppendFloat(nil, floats)
		require.NoError(t, err)
		require.EqualValues(t, len(page), EstimateFloat(floats))
	}
	for _, n := range []int{8193, 50000, 500000} {
		src := make([]float64, n)
		for i := range src {
			src[i] = math.Round(r.NormFloat64()*1000) / 100
		}
		page, err := AppendDouble(nil, src)
		require.NoError(t, err)
		require.InEpsilon(t, len(page), EstimateDouble(src), 0.02)
		require.Less(t, EstimateDouble(src), int64(2*n))
		for i := range src {
			src[i] = r.NormFloat64()
		}
		require.Greater(t, EstimateDouble(src), int64(8*n))
	}
}

func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 4 {
		page, err := AppendDouble(nil, someDoubles(r, 50))
		require.NoError(f, err)
		f.Add(page)
		page, err = AppendFloat(nil, someFloats(r, 50))
		require.NoError(f, err)
		f.Add(page)
	}
	f.Add(pageOf(8, 3, handmade{codes: make([]uint64, 8)}, handmade{width: 64, codes: []uint64{1 << 63}, positions: []uint16{0}, raw: []uint64{7}}))
	f.Add(pageOf(4, 3, handmade{codes: make([]uint64, 8)}, handmade{width: 32, codes: []uint64{1 << 31}, positions: []uint16{0}, raw: []uint64{7}}))
	f.Fuzz(func(t *testing.T, page []byte) {
		doubles, err := new(Encoding).DecodeDouble(nil, page)
		if err == nil && len(doubles) < 1<<16 {
			require.Equal(t, decode64(t, page), patterns64(doubles))
		} else if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
		floats, err := new(Encoding).DecodeFloat(nil, page)
		if err == nil && len(floats) < 1<<16 {
			require.Equal(t, decode32(t, page), patterns32(floats))
		} else if err != nil {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
		}
	})
}

func FuzzEncode(f *testing.F) {
	for _, v := range [][]float64{hostile, {0.1, 0.2, 0.3, 1e10, -0.5}, {1, 2, 3}} {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		f.Add(b, uint8(0))
		f.Add(slices.Repeat(b, 5), uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, log uint8) {
		b = b[:min(len(b), 20000)]
		e := Encoding{LogVectorSize: minLogVectorSize + log%8}
		var doubles []float64
		for ; len(b) >= 8; b = b[8:] {
			doubles = append(doubles, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		floats := make([]float32, len(doubles))
		for i, v := range doubles {
			floats[i] = math.Float32frombits(uint32(math.Float64bits(v)))
		}
		checkDouble(t, &e, doubles)
		checkFloat(t, &e, floats)
	})
}
