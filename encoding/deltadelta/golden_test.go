package deltadelta_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/bitpack"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/internal/binfmt"
)

var term = regexp.MustCompile(`^(-?\d+)(?:([+-]\d+))?(?:\*(\d+))?$`)

// values reads fields "x", "x*n" (n times x) and "x+step*n" (n values from x).
func values(t *testing.T, line string) []int64 {
	v := []int64{}
	for _, field := range strings.Fields(line) {
		m := term.FindStringSubmatch(field)
		require.NotNil(t, m, "%q", field)
		number := func(s string, otherwise int64) int64 {
			if s == "" {
				return otherwise
			}
			x, err := strconv.ParseInt(s, 10, 64)
			require.NoError(t, err)
			return x
		}
		x := number(m[1], 0)
		for range number(m[3], 1) {
			v = append(v, x)
			x += number(m[2], 0)
		}
	}
	return v
}

// TestGolden shows the bytes of chunks: each line of the input is a chunk
// after the one before.
func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/golden", func(t *testing.T, td *datadriven.TestData) string {
		var e deltadelta.Encoder
		var out strings.Builder
		for line := range strings.Lines(td.Input) {
			v := values(t, line)
			var p encoding.Params
			var body []byte
			if td.Cmd == "int32" {
				narrow := make([]int32, len(v))
				for i, x := range v {
					narrow[i] = int32(x)
				}
				body = e.AppendInt32(nil, narrow, &p)
			} else {
				body = e.AppendInt64(nil, v, &p)
			}
			form := []string{"constant", "frame", "deltas", "deltas of deltas", "steps"}[p[0]]
			fmt.Fprintf(&out, "%d values as %s: parameters %d\n", len(v), form, p)
			if len(body) == 0 {
				continue
			}
			f := binfmt.New(body)
			bytes := func(n int64, w uint) int { return bitpack.Shape{Width: w}.Len(int(n)) }
			b := bitpack.PositionWidth(len(v))
			f.Bytes(bytes(int64(len(v)), uint(p[3])), "%d codes of %d bits", len(v), p[3])
			if p[4] > 0 {
				f.Bytes(bytes(p[4], b), "positions of %d patches, %d bits each", p[4], b)
				w := max(p[5], -p[5])
				f.Bytes(bytes(p[4], uint(w)), "high bits of patches, %d each", w)
			}
			if p[7] > 0 {
				g, w := p[7]>>3, []uint{2, 3, 4, 5, 7, 10, 16, 64}[p[7]&7]
				f.Bytes(bytes(g, b), "positions of %d gaps, %d bits each", g, b)
				f.Bytes(bytes(g, w), "sizes of gaps, zigzag of %d bits", w)
			}
			require.Zero(t, f.Remaining())
			out.WriteString(f.String())
		}
		return out.String()
	})
}
