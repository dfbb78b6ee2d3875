package alp_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
)

func FuzzRoundTrip(f *testing.F) {
	for _, set := range benchSets {
		var b []byte
		for _, x := range set.make(64) {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		f.Add(b, uint8(30))
	}
	f.Fuzz(func(t *testing.T, b []byte, rows uint8) {
		var wide []float64
		var short []float32
		for c := b; len(c) >= 8; c = c[8:] {
			wide = append(wide, math.Float64frombits(binary.LittleEndian.Uint64(c)))
		}
		for c := b; len(c) >= 4; c = c[4:] {
			short = append(short, math.Float32frombits(binary.LittleEndian.Uint32(c)))
		}
		n := int(rows) + 1
		var d alp.Decoder
		var e64, e32 alp.Encoder
		for i := 0; i < len(wide); i += n {
			trip64(t, &e64, &d, wide[i:min(len(wide), i+n)])
		}
		for i := 0; i < len(short); i += n {
			trip32(t, &e32, &d, short[i:min(len(short), i+n)])
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, set := range benchSets {
		src := set.make(100)
		f.Add(alp.AppendFloat64(nil, src), uint16(100))
		f.Add(alp.AppendFloat32(nil, narrow(src)), uint16(100))
	}
	f.Fuzz(func(t *testing.T, b []byte, n uint16) {
		wide, short := make([]float64, n), make([]float32, n)
		_, _ = alp.DecodeFloat64(wide, b)
		_, _ = alp.DecodeFloat32(short, b)
		p, rest, err := encoding.ReadParams("test", b)
		if err != nil {
			return
		}
		var d alp.Decoder
		_ = d.Float64(wide, &p, rest)
		_ = d.Float32(short, &p, rest)
		if k, err := alp.Float64Len(&p, int(n)); err == nil && k < 1<<20 {
			_ = d.Float64(wide, &p, append(rest, make([]byte, k)...)[:k])
		}
	})
}
