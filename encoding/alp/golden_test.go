package alp_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
)

// TestGolden pins the bytes of every mode. The input of "float64" and
// "float32" is values: decimal numbers, or patterns in hexadecimal (0x...);
// "v*n" repeats a value and "a+d*n" is the n values a, a+d, a+2d ... An
// encoder lives until "reset".
func TestGolden(t *testing.T) {
	var e alp.Encoder
	var d alp.Decoder
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, c *datadriven.TestData) string {
		var p encoding.Params
		var body []byte
		var n, size int
		switch c.Cmd {
		case "reset":
			e.Reset()
			return ""
		case "float64":
			x := parseValues(t, c.Input, 64)
			body = e.AppendFloat64(nil, x, &p)
			back := make([]float64, len(x))
			require.NoError(t, d.Float64(back, &p, body))
			require.Equal(t, bits64(x), bits64(back))
			n, size = len(x), 8
		case "float32":
			x := narrowBits(parseValues(t, c.Input, 32))
			body = e.AppendFloat32(nil, x, &p)
			back := make([]float32, len(x))
			require.NoError(t, d.Float32(back, &p, body))
			require.Equal(t, bits32(x), bits32(back))
			n, size = len(x), 4
		default:
			t.Fatalf("unknown command %s", c.Cmd)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%v: %d values, %d bytes raw, %d in the body\n", alp.Mode(p[0]), n, n*size, len(body))
		for i, name := range names(alp.Mode(p[0])) {
			if name != "" {
				fmt.Fprintf(&b, "%-12s %d\n", name, p[i])
			}
		}
		for i := 0; i < len(body); i += 16 {
			fmt.Fprintf(&b, "%04x  % x\n", i, body[i:min(i+16, len(body))])
		}
		return b.String()
	})
}

func names(m alp.Mode) [encoding.NumParams]string {
	switch m {
	case alp.Verbatim:
		return [8]string{}
	case alp.Split:
		return [8]string{1: "dictionary", 6: "left width", 7: "exceptions"}
	case alp.Bits:
		return [8]string{2: "base", 3: "width", 4: "patches", 5: "patch width", 6: "zeros"}
	case alp.BitsDelta:
		return [8]string{1: "first", 2: "base", 3: "width", 4: "patches", 5: "patch width", 6: "zeros"}
	case alp.Decimal:
		return [8]string{2: "base", 3: "width", 4: "patches", 5: "patch width", 6: "e*32+f", 7: "exceptions"}
	}
	return [8]string{1: "first", 2: "base", 3: "width", 4: "patches", 5: "patch width", 6: "e*32+f", 7: "exceptions"}
}

// parseValues reads the values of a golden test; float32 patterns stand in the
// low bits of a float64's.
func parseValues(t *testing.T, text string, width int) (out []float64) {
	number := func(s string) float64 {
		if hex, ok := strings.CutPrefix(s, "0x"); ok {
			b, err := strconv.ParseUint(hex, 16, width)
			require.NoError(t, err)
			return math.Float64frombits(b)
		}
		x, err := strconv.ParseFloat(s, width)
		require.NoError(t, err)
		if width == 32 {
			return math.Float64frombits(uint64(math.Float32bits(float32(x))))
		}
		return x
	}
	for _, word := range strings.Fields(text) {
		v, times, repeated := strings.Cut(word, "*")
		n := 1
		if repeated {
			var err error
			n, err = strconv.Atoi(times)
			require.NoError(t, err)
		}
		from, step, ramp := strings.Cut(v, "+")
		if !ramp {
			for range n {
				out = append(out, number(v))
			}
			continue
		}
		a, err := strconv.ParseFloat(from, 64)
		require.NoError(t, err)
		d, err := strconv.ParseFloat(step, 64)
		require.NoError(t, err)
		_, digits, _ := strings.Cut(step, ".")
		for i := range n {
			out = append(out, number(strconv.FormatFloat(a+float64(d*float64(i)), 'f', len(digits), 64)))
		}
	}
	return out
}

// narrowBits takes float32 patterns from the low bits of float64 ones.
func narrowBits(src []float64) []float32 {
	out := make([]float32, len(src))
	for i, x := range src {
		out[i] = math.Float32frombits(uint32(math.Float64bits(x)))
	}
	return out
}
