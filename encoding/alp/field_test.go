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

	"github.com/colsst/colsst/encoding/alp"
)

// shared is a path beside the module's root, in which tests find data that
// others wrote; they are skipped where it is absent.
func shared(t *testing.T, name string) string {
	path := filepath.Join("../../../shared", name)
	if _, err := os.Stat(path); err != nil {
		t.Skip("no ../shared/" + name)
	}
	return path
}

// TestFieldCases takes the values of the reported cases through the codec, in
// chunks of several sizes.
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
			var d alp.Decoder
			for _, rows := range []int{1, 2, 3, 100, 128, 1024, 65536} {
				var e alp.Encoder
				if width == 64 {
					for i := 0; i < len(wide) || i == 0; i += rows {
						p, n := trip64(t, &e, &d, wide[i:min(len(wide), i+rows)])
						if c.Name == "f64-constant" {
							require.Zero(t, n, "%v", p)
						}
					}
				} else {
					for i := 0; i < len(short) || i == 0; i += rows {
						trip32(t, &e, &d, short[i:min(len(short), i+rows)])
					}
				}
			}
		})
	}
	require.Positive(t, ran)
}

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
	table, err := os.ReadFile(shared(t, "testdata/alp-samples/expected.tsv"))
	require.NoError(t, err)
	var d alp.Decoder
	sum, sumTheirs, compared := 0.0, 0.0, 0
	for _, line := range strings.Split(strings.TrimSpace(string(table)), "\n")[1:] {
		f := strings.Split(line, "\t")
		t.Run(filepath.Base(f[0]), func(t *testing.T) {
			x := readFloats(t, shared(t, "testdata/real/"+f[0]))
			var e alp.Encoder
			size := 0
			var p [8]int64
			for i := 0; i < len(x); i += 1024 {
				var n int
				if strings.HasSuffix(f[0], "avx512dq.csv") { // float32 values
					p, n = trip32(t, &e, &d, narrow(x[i:min(len(x), i+1024)]))
				} else {
					p, n = trip64(t, &e, &d, x[i:min(len(x), i+1024)])
				}
				size += n
			}
			got := float64(8*size) / float64(len(x))
			theirs := math.NaN()
			if len(f) > 7 && f[7] != "" && len(x) == 1024 {
				w, _ := strconv.Atoi(f[7])
				k, _ := strconv.Atoi(f[6])
				theirs = float64(w) + float64(80*k)/1024
				sum, sumTheirs, compared = sum+got, sumTheirs+theirs, compared+1
			}
			t.Logf("%.2f bits a value, theirs %.2f; %v %v", got, theirs, alp.Mode(p[0]), p)
		})
	}
	require.Positive(t, compared)
	t.Logf("mean %.2f, theirs %.2f", sum/float64(compared), sumTheirs/float64(compared))
	require.Less(t, sum, sumTheirs)
}
