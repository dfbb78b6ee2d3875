package columnar

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// The codec sets of the field cases, each as a column of whole files.

func TestT01Int32Deltas(t *testing.T)           { codecCases(t, "T01") }
func TestT02DeltaOfDelta(t *testing.T)          { codecCases(t, "T02") }
func TestT03MinInt64AndNull(t *testing.T)       { codecCases(t, "T03") }
func TestT04FullWidth(t *testing.T)             { codecCases(t, "T04") }
func TestT05WidthZero(t *testing.T)             { codecCases(t, "T05") }
func TestT06FewValues(t *testing.T)             { codecCases(t, "T06") }
func TestT07NegativeStep(t *testing.T)          { codecCases(t, "T07") }
func TestT08LargeGaps(t *testing.T)             { codecCases(t, "T08") }
func TestT10CommonDivisor(t *testing.T)         { codecCases(t, "T10") }
func TestT12NegativeZero(t *testing.T)          { codecCases(t, "T12") }
func TestT13NaNs(t *testing.T)                  { codecCases(t, "T13") }
func TestT14Infinity(t *testing.T)              { codecCases(t, "T14") }
func TestT15OutsideIntegers(t *testing.T)       { codecCases(t, "T15") }
func TestT16NothingEncodable(t *testing.T)      { codecCases(t, "T16") }
func TestT17SameOnAllPlatforms(t *testing.T)    { codecCases(t, "T17") }
func TestT18IncompressibleDoubles(t *testing.T) { codecCases(t, "T18") }
func TestT19FirstNegative(t *testing.T)         { codecCases(t, "T19") }
func TestT24DictionaryOfOne(t *testing.T)       { codecCases(t, "T24") }
func TestT59NotUTF8(t *testing.T)               { codecCases(t, "T59") }
func TestT63EmptyAgainstNull(t *testing.T)      { codecCases(t, "T63") }

// codecCase is one set: bits in hexadecimal, null for no value.
type codecCase struct {
	ID, Name, Type string
	Values         []*string
	Expectation    struct {
		Roundtrip string
		Size      string
		Stats     *struct {
			Min, Max  *string
			NullCount int64 `json:"null_count"`
		}
	}
}

var codecCaseList = sync.OnceValues(func() (cases []codecCase, err error) {
	text, err := os.ReadFile("../testdata/cases/codec_cases.json")
	if err == nil {
		err = json.Unmarshal(text, &cases)
	}
	return cases, err
})

func codecCases(t *testing.T, id string) {
	cases, err := codecCaseList()
	require.NoError(t, err)
	found := false
	for i := range cases {
		if c := &cases[i]; c.ID == id {
			found = true
			t.Run(c.Name, c.test)
		}
	}
	require.True(t, found, "no case %s", id)
}

// batch is the case as one partition: time, the values, and a column of others.
func (c *codecCase) batch(t *testing.T) *rowgroup.Batch {
	ty, ok := map[string]rowgroup.Type{
		"int32": rowgroup.Int, "int64": rowgroup.Bigint, "float32": rowgroup.Float, "float64": rowgroup.Double, "bytes": rowgroup.Blob,
	}[c.Type]
	require.True(t, ok, c.Type)
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: ty}, {Name: "w", Type: rowgroup.Int}})
	b := rowgroup.NewBatch(s)
	for i, v := range c.Values {
		*b.Int64s(0) = append(*b.Int64s(0), int64(i)*10)
		*b.Int32s(2) = append(*b.Int32s(2), int32(i%3))
		cell, text := rowgroup.CellAsRow, ""
		if v == nil {
			cell = rowgroup.CellAbsent
		} else {
			text = *v
		}
		b.CellMeta(1).Cells = append(b.CellMeta(1).Cells, cell)
		if c.Type == "bytes" {
			x, err := hex.DecodeString(text)
			require.NoError(t, err)
			require.NoError(t, b.Bytes(1).Append(x))
			continue
		}
		var bits uint64
		if v != nil {
			var err error
			bits, err = strconv.ParseUint(text, 16, 64)
			require.NoError(t, err)
		}
		switch c.Type {
		case "int32":
			*b.Int32s(1) = append(*b.Int32s(1), int32(uint32(bits)))
		case "int64":
			*b.Int64s(1) = append(*b.Int64s(1), int64(bits))
		case "float32":
			*b.Float32s(1) = append(*b.Float32s(1), math.Float32frombits(uint32(bits)))
		case "float64":
			*b.Float64s(1) = append(*b.Float64s(1), math.Float64frombits(bits))
		}
	}
	return b
}

func (c *codecCase) test(t *testing.T) {
	require.Equal(t, "bit-exact", c.Expectation.Roundtrip)
	b := c.batch(t)
	s, n := b.Schema(), b.Len()
	value := func(b *rowgroup.Batch, i int) string { // what the case says of row i
		if cells := b.CellMeta(1).Cells; len(cells) > 0 && cells[i].Kind() == rowgroup.CellAbsent {
			return "null"
		}
		x, _ := b.AppendValue(nil, 1, i)
		return fmt.Sprintf("%x", x)
	}
	values := func(it rowgroup.Iter) (v []string) {
		defer it.Close()
		got := rowgroup.NewBatch(s)
		for {
			ok, err := it.Next(got)
			require.NoError(t, err)
			if !ok {
				return v
			}
			for i := range got.Len() {
				v = append(v, value(got, i))
			}
		}
	}
	var want []string
	for i, v := range c.Values {
		want = append(want, value(b, i))
		if v != nil {
			require.Equal(t, *v, want[i])
		}
	}
	back := slices.Clone(want)
	slices.Reverse(back)
	open1 := rowgroup.Bound{}
	for name, opts := range map[string][]Option{
		"plain": nil, "zstd": {WithColumnCompression("*")}, "outer": {WithCompression(4)},
		"groups of 1024": {WithRowGroupRows(1024)}, "groups of 7": {WithRowGroupRows(7), WithBlockBytes(100)},
	} {
		rd := open(t, write(t, b, 100, opts...))
		require.NoError(t, rd.Verify(bg, VerifyValues, nil), name)
		require.EqualValues(t, n, rd.Rows())
		require.Equal(t, want, values(rd.Scan(bg, rowgroup.ScanOptions{})), name)
		require.Equal(t, back, values(rd.Scan(bg, rowgroup.ScanOptions{Desc: true})), name)
		require.Equal(t, want, values(rd.Scan(bg, rowgroup.ScanOptions{Columns: []int{1}, WithoutMetadata: true})), name)
		if n > 0 {
			p, err := rd.Partition(bg, nil)
			require.NoError(t, err)
			for k := 0; k < n; k += 1 + n/13 { // points, and ranges to the end and back
				at := bound(int64(k)*10, true)
				require.Equal(t, want[k:k+1], values(p.Range(bg, at, at, rowgroup.ScanOptions{})), name)
				require.Equal(t, want[k:], values(p.Range(bg, at, open1, rowgroup.ScanOptions{Columns: []int{1}})), name)
				require.Equal(t, back[n-1-k:], values(p.Range(bg, open1, at, rowgroup.ScanOptions{Desc: true})), name)
			}
			require.Equal(t, back[:1], values(p.Latest(bg, 1, rowgroup.ScanOptions{})), name)
		}
		c.expect(t, rd, name, n)
	}
}

// expect checks the statistics and sizes that the case names.
func (c *codecCase) expect(t *testing.T, rd *Reader, name string, n int) {
	nulls := int64(0)
	for _, v := range c.Values {
		if v == nil {
			nulls++
		}
	}
	st := rd.Stats().Column(1)
	require.Equal(t, nulls, st.Nulls, name)
	require.Equal(t, int64(n)-nulls, st.Values, name)
	if e := c.Expectation.Stats; e != nil {
		require.Equal(t, e.NullCount, st.Nulls, name)
		require.Nil(t, e.Min)
		require.Nil(t, st.Min, name)
		require.Nil(t, e.Max)
		require.Nil(t, st.Max, name)
	}
	if c.Expectation.Size != "" {
		width := map[string]int64{"float32": 4, "float64": 8}[c.Type]
		require.NotZero(t, width)
		d, err := rd.Describe(bg)
		require.NoError(t, err)
		i := rd.Schema().Lookup("v")
		// The parameters are the header: a few bytes a chunk.
		require.LessOrEqual(t, d.Columns[i].Payload, width*int64(n)+16*d.RowGroups, name)
		require.LessOrEqual(t, d.Columns[i].Params, 16*d.RowGroups+64, name)
	}
}
