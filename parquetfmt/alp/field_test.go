package alp_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/parquetfmt/alp"
)

// readFloats reads a file of decimal numbers, one a line, or of raw float64.
func readFloats(t *testing.T, path string) []float64 {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		b, err = io.ReadAll(z)
		require.NoError(t, err)
	}
	var out []float64
	if strings.Contains(path, ".f64") {
		for ; len(b) >= 8; b = b[8:] {
			out = append(out, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		return out
	}
	for _, line := range strings.Fields(string(b)) {
		x, err := strconv.ParseFloat(strings.TrimSuffix(line, ","), 64)
		if err != nil { // words for NaN in other spellings
			x = math.NaN()
		}
		out = append(out, x)
	}
	return out
}

// TestRealSamples encodes one vector of each data set of the ALP paper, and
// holds the size against what the authors' code reaches (e, f, width and
// exceptions as they state them: expected.tsv).
func TestRealSamples(t *testing.T) {
	table, err := os.ReadFile("../../../shared/testdata/alp-samples/expected.tsv")
	if err != nil {
		t.Skip("no ../shared/testdata/alp-samples")
	}
	var e alp.Encoding
	sum, sumTheirs, compared := 0.0, 0.0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		f := strings.Split(line, "\t")
		t.Run(filepath.Base(f[0]), func(t *testing.T) {
			x := readFloats(t, "../../../shared/testdata/real/"+f[0])
			page, err := e.EncodeDouble(nil, x)
			require.NoError(t, err)
			got, err := e.DecodeDouble(nil, page)
			require.NoError(t, err)
			require.Equal(t, bits64(x), bits64(got))
			if len(f) < 8 || f[7] == "" || len(x) != 1024 {
				return
			}
			w, err := strconv.Atoi(f[7])
			require.NoError(t, err)
			k, err := strconv.Atoi(f[6])
			require.NoError(t, err)
			theirs := float64(w) + float64(80*k)/1024
			ours := float64(len(page)-7-4-13) / 128
			sum, sumTheirs, compared = sum+ours, sumTheirs+theirs, compared+1
			t.Logf("%.2f bits a value, theirs %.2f; %d", ours, theirs, page[11:15])
		})
	}
	require.Positive(t, compared)
	t.Logf("mean %.2f, theirs %.2f", sum/float64(compared), sumTheirs/float64(compared))
	require.LessOrEqual(t, sum, sumTheirs)
}

func bits64(v []float64) []uint64 {
	out := make([]uint64, len(v))
	for i, x := range v {
		out[i] = math.Float64bits(x)
	}
	return out
}

func bits32(v []float32) []uint32 {
	out := make([]uint32, len(v))
	for i, x := range v {
		out[i] = math.Float32bits(x)
	}
	return out
}

// TestFieldCases takes the values of the reported cases through the encoding.
func TestFieldCases(t *testing.T) {
	text, err := os.ReadFile("../../testdata/cases/codec_cases.json")
	require.NoError(t, err)
	var cases []struct {
		ID, Name, Type string
		Values         []*string
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	ran := 0
	for _, c := range cases {
		width := map[string]int{"float64": 64, "float32": 32}[c.Type]
		if width == 0 {
			continue
		}
		ran++
		t.Run(c.ID+"/"+c.Name, func(t *testing.T) {
			var wide []float64
			var short []float32
			for _, v := range c.Values {
				if v == nil {
					continue
				}
				x, err := strconv.ParseUint(*v, 16, width)
				require.NoError(t, err)
				wide = append(wide, math.Float64frombits(x))
				short = append(short, math.Float32frombits(uint32(x)))
			}
			for _, log := range []uint8{3, 10, 15} {
				e := alp.Encoding{LogVectorSize: log}
				if width == 64 {
					page, err := e.EncodeDouble(nil, wide)
					require.NoError(t, err)
					got, err := e.DecodeDouble(make([]float64, len(wide)), page)
					require.NoError(t, err)
					require.Equal(t, bits64(wide), bits64(got))
					if c.Name == "f64-constant" && log == 10 {
						require.Len(t, page, 7+4+13)
					}
				} else {
					page, err := e.EncodeFloat(nil, short)
					require.NoError(t, err)
					got, err := e.DecodeFloat(make([]float32, len(short)), page)
					require.NoError(t, err)
					require.Equal(t, bits32(short), bits32(got))
				}
			}
		})
	}
	require.Positive(t, ran)
}
