package cassandra

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A histogram counts every value, in few bins of one width.
func TestHistogram(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var h Histogram
		spread := rapid.SampledFrom([]int64{10, 1000, 1e6, math.MaxUint32}).Draw(t, "spread")
		values := rapid.SliceOfN(rapid.Int64Range(-spread, spread), 0, 200).Draw(t, "values")
		for _, v := range values {
			h.add(v)
		}
		bins, n := h.Bins(), int64(0)
		for i, b := range bins {
			n += b.Count
			require.Positive(t, b.Count)
			require.Zero(t, b.From%h.Width())
			require.True(t, i == 0 || bins[i-1].From < b.From)
			in := int64(0)
			for _, v := range values {
				if b.From <= v && v < b.From+h.Width() {
					in++
				}
			}
			require.Equal(t, in, b.Count)
		}
		require.Equal(t, int64(len(values)), n)
		require.LessOrEqual(t, len(bins), 30)
	})
	var h Histogram
	h.add(5)
	text, err := json.Marshal(&h)
	require.NoError(t, err)
	require.JSONEq(t, `{"width": 1, "bins": [{"from": 5, "count": 1}]}`, string(text))
	for i := 1; i < len(histogramWidths); i++ {
		require.Zero(t, histogramWidths[i]%histogramWidths[i-1])
	}
}
