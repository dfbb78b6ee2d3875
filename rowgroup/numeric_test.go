package rowgroup

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// numericGen generates values of a decimal(p,s), its extremes among them.
func numericGen(t *Type) *rapid.Generator[[]byte] {
	return rapid.Custom(func(rt *rapid.T) []byte {
		digits := rapid.OneOf(rapid.StringMatching(`[0-9]{1,76}`), rapid.StringMatching(`9{76}`), rapid.StringMatching(`10{0,75}`)).Draw(rt, "digits")
		x, _ := new(big.Int).SetString(digits[:min(len(digits), int(t.Precision))], 10)
		if rapid.Bool().Draw(rt, "negative") {
			x.Neg(x)
		}
		b := appendBigVarint(nil, x)
		for len(b) < scalarLen(t) {
			sign := byte(0)
			if x.Sign() < 0 {
				sign = 0xff
			}
			b = append([]byte{sign}, b...)
		}
		return b
	})
}

func TestParseNumeric(t *testing.T) {
	for _, c := range []struct{ typ, text, want, err string }{
		{"decimal(5,2)", "123.45", "123.45", ""},
		{"decimal(5,2)", "-1.5", "-1.50", ""},
		{"decimal(5,2)", "+7", "7.00", ""},
		{"decimal(5,2)", ".5", "0.50", ""},
		{"decimal(5,2)", "5.", "5.00", ""},
		{"decimal(5,2)", "-0.00", "0.00", ""},
		{"decimal(5,2)", "000123.45000", "123.45", ""},
		{"decimal(5,2)", "1.2345e2", "123.45", ""},
		{"decimal(5,2)", "12345E-2", "123.45", ""},
		{"decimal(5,2)", "0e99999999999999999999", "", "out of range"},
		{"decimal(5,2)", "0e999999999999", "0.00", ""},
		{"decimal(5,2)", "1e999999999999", "", "more than 3 digits before the point"},
		{"decimal(5,2)", "1e-999999999999", "", "more than 2 digits behind the point"},
		{"decimal(5,2)", "999.99", "999.99", ""},
		{"decimal(5,2)", "1000", "", "decimal(5,2): more than 3 digits before the point"},
		{"decimal(5,2)", "0.005", "", "decimal(5,2): more than 2 digits behind the point"},
		{"decimal(5,2)", "1.005", "", "more than 2 digits behind the point"},
		{"decimal(5,5)", "0.00001", "0.00001", ""},
		{"decimal(5,5)", "1", "", "more than 0 digits before the point"},
		{"decimal(5,0)", "1.0", "1", ""},
		{"decimal(5,0)", "99999", "99999", ""},
		{"decimal(5,0)", "1" + strings.Repeat("0", 80), "", "more than 5 digits before"},
		{"decimal(5,0)", strings.Repeat("7", 80), "", "more than 5 digits before"},
		{"decimal(5,0)", "1." + strings.Repeat("0", 200), "1", ""},
		{"decimal(18,0)", "-999999999999999999", "-999999999999999999", ""},
		{"decimal(18,0)", "1000000000000000000", "", "more than 18 digits before"},
		{"decimal(76,0)", strings.Repeat("9", 76), strings.Repeat("9", 76), ""},
		{"decimal(76,76)", "-." + strings.Repeat("9", 76), "-0." + strings.Repeat("9", 76), ""},
		{"decimal(38,18)", "12345678901234567890.123456789012345678", "12345678901234567890.123456789012345678", ""},
		{"decimal(5,2)", "", "", "wrong form"}, {"decimal(5,2)", ".", "", "wrong form"}, {"decimal(5,2)", "-", "", "wrong form"},
		{"decimal(5,2)", "1..2", "", "wrong form"}, {"decimal(5,2)", "1e", "", "wrong form"}, {"decimal(5,2)", "e1", "", "wrong form"},
		{"decimal(5,2)", "NaN", "", "wrong form"}, {"decimal(5,2)", "1,5", "", "wrong form"}, {"decimal(5,2)", " 1", "", "wrong form"},
		{"decimal(5,2)", "--1", "", "wrong form"}, {"decimal(5,2)", "0x10", "", "wrong form"}, {"decimal(5,2)", "1e1.5", "", "wrong form"},
		{"fixed(2)", "0x00FF", "0x00ff", ""},
		{"fixed(2)", "0x00", "", "4 hexadecimal digits expected"},
		{"fixed(2)", "0x000000", "", "4 hexadecimal digits expected"},
		{"fixed(2)", "0x00zz", "", "wrong form"},
		{"fixed(2)", "00ff", "", "0x expected"},
	} {
		typ := mustType(t, c.typ)
		got, err := ParseText([]byte{1}, typ, c.text)
		if c.err != "" {
			require.ErrorContains(t, err, c.err, "%s %s", c.typ, c.text)
			require.Equal(t, []byte{1}, got)
			continue
		}
		require.NoError(t, err, "%s %s", c.typ, c.text)
		require.NoError(t, Valid(typ, got[1:]))
		require.Equal(t, c.want, string(AppendText(nil, typ, got[1:])))
	}
}

// TestNumericBig compares validity, text, order and AppendUnscaled with package
// big.
func TestNumericBig(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.IntRange(1, MaxPrecision).Draw(rt, "precision")
		typ := Numeric(p, rapid.IntRange(0, p).Draw(rt, "scale"))
		n, _ := typ.ValueLen()
		most := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(p)), nil)
		any := rapid.Custom(func(rt *rapid.T) []byte {
			b := rapid.SliceOfN(rapid.OneOf(rapid.Byte(), rapid.SampledFrom([]byte{0, 0xff})), n, n).Draw(rt, "bytes")
			if rapid.Bool().Draw(rt, "edge") {
				x := new(big.Int).Add(most, big.NewInt(rapid.Int64Range(-2, 2).Draw(rt, "by")))
				if rapid.Bool().Draw(rt, "negative") {
					x.Neg(x)
				}
				if b = appendBigVarint(nil, x); len(b) < n {
					b = append(make([]byte, n-len(b)), b...)
					for i := 0; x.Sign() < 0 && b[i] == 0; i++ {
						b[i] = 0xff
					}
				}
			}
			return b
		})
		a, b := any.Draw(rt, "a"), any.Draw(rt, "b")
		x, y := bigVarint(a), bigVarint(b)
		valid := new(big.Int).Abs(x).Cmp(most) < 0
		require.Equal(rt, valid, Valid(typ, a) == nil, "%s %x", typ, a)
		if len(a) == len(b) {
			require.Equal(rt, x.Cmp(y), typ.Collate(a, b))
		}
		long := append(appendBigVarint(nil, x), 0)[:len(appendBigVarint(nil, x))]
		if rapid.Bool().Draw(rt, "long") {
			sign := byte(0)
			if x.Sign() < 0 {
				sign = 0xff
			}
			long = append([]byte{sign, sign, sign}, long...)
		}
		got, err := AppendUnscaled(nil, typ, long)
		require.Equal(rt, valid, err == nil)
		if !valid {
			return
		}
		require.Equal(rt, a, got)
		text := string(AppendText(nil, typ, a))
		whole, frac, _ := strings.Cut(text, ".")
		require.Len(rt, frac, int(typ.Scale))
		z, ok := new(big.Int).SetString(whole+frac, 10)
		require.True(rt, ok, text)
		require.Zero(rt, z.Cmp(x), text)
		if typ.Physical() != PhysFixed {
			v, ok := IntOf(typ, a)
			require.True(rt, ok)
			require.Equal(rt, x.Int64(), v)
			require.Equal(rt, a, AppendInt(nil, typ, v))
		}
	})
}

func TestSchemaNumbers(t *testing.T) {
	for _, typ := range []Type{Fixed(0), Fixed(-1), {Kind: KindNumeric}, Numeric(77, 0), Numeric(5, 6), Numeric(5, -1),
		{Kind: KindFrozen, Args: []Type{{Kind: KindList, Args: []Type{Numeric(0, 0)}}}}} {
		_, err := NewSchema(nil, nil, nil, []Column{{Name: "c", Type: typ}})
		require.ErrorContains(t, err, "is no type")
	}
}

// The bounds of decimals are those of their numbers, of fixed(n) those of their
// bytes, cut where they are long; stored, they read back.
func TestNumericStats(t *testing.T) {
	long := func(b byte) []byte { return bytes.Repeat([]byte{b}, MaxBoundBytes+6) }
	for _, c := range []struct {
		typ            Type
		values         []string
		least, most    string
		minCut, maxCut bool
	}{
		{Numeric(9, 2), []string{"1.5", "-2", "0.01"}, "-2.00", "1.50", false, false},
		{Numeric(18, 0), []string{"999999999999999999", "-999999999999999999"}, "-999999999999999999", "999999999999999999", false, false},
		{Numeric(40, 1), []string{"0.1", "-0.1", "123456789012345678901234567890", "7"}, "-0.1", "123456789012345678901234567890.0", false, false},
		{Fixed(2), []string{"0x0001", "0xff00", "0x7fff"}, "0x0001", "0xff00", false, false},
		{Fixed(MaxBoundBytes + 6), []string{string(AppendText(nil, Blob, long(1))), string(AppendText(nil, Blob, long(2)))},
			string(AppendText(nil, Blob, long(1)[:MaxBoundBytes])), string(AppendText(nil, Blob, append(long(2)[:MaxBoundBytes-1], 3))), true, true},
		{Type{Kind: KindReversed, Args: []Type{Numeric(40, 1)}}, []string{"5", "-5"}, "-5.0", "5.0", false, false},
	} {
		s, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: c.typ}})
		require.NoError(t, err)
		b := NewBatch(s)
		b.BeginPartition(nil)
		for i, text := range c.values {
			v, err := ParseText(nil, c.typ, text)
			require.NoError(t, err)
			require.NoError(t, b.PutValue(0, i, v, true))
		}
		b.SetLen(len(c.values))
		st := NewStats(s)
		st.Add(b, 0, b.Len(), 0, 1)
		again, rest, err := ParseStats(s, st.AppendTo(nil))
		require.NoError(t, err)
		require.Empty(t, rest)
		for _, st := range []*Stats{st, again} {
			got := st.Column(0)
			text := func(v []byte) string {
				if bare := c.typ.bare(); bare.Kind == KindFixed {
					return string(AppendText(nil, Blob, v))
				}
				return string(AppendText(nil, c.typ, v))
			}
			require.Equal(t, c.least, text(got.Min), c.typ.String())
			require.Equal(t, c.most, text(got.Max), c.typ.String())
			require.Equal(t, [2]bool{c.minCut, c.maxCut}, [2]bool{got.MinCut, got.MaxCut})
		}
	}
	// A stored bound outside of the type is damage.
	s, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: Numeric(5, 2)}})
	require.NoError(t, err)
	wide, err := NewSchema(nil, nil, nil, []Column{{Name: "v", Type: Int}})
	require.NoError(t, err)
	b := NewBatch(wide)
	b.BeginPartition(nil)
	*b.Int32s(0) = []int32{100000}
	st := NewStats(wide)
	st.Add(b, 0, 1, 0, 1)
	_, _, err = ParseStats(s, st.AppendTo(nil))
	require.Error(t, err)
}
