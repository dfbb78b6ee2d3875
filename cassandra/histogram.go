package cassandra

import (
	"encoding/json"
	"maps"
	"slices"
)

// Histogram counts seconds in bins of one width, which grows as they spread.
// Its JSON is {"width": s, "bins": [{"from": s, "count": n}, ...]}.
type Histogram struct {
	rung   int // of histogramWidths
	counts map[int64]int64
}

// HistogramBin is how many values are in [From, From + width).
type HistogramBin struct {
	From  int64 `json:"from"` // s
	Count int64 `json:"count"`
}

// histogramWidths are the widths of bins, s: each divides the next one.
var histogramWidths = [...]int64{1, 60, 3600, 24 * 3600, 7 * 24 * 3600, 28 * 24 * 3600, 364 * 24 * 3600, 3640 * 24 * 3600}

// histogramBins is how many bins there are at most, but for the greatest width.
const histogramBins = 24

// Width is that of a bin, s.
func (h *Histogram) Width() int64 { return histogramWidths[h.rung] }

// Bins are those that are not empty, in order.
func (h *Histogram) Bins() []HistogramBin {
	bins := []HistogramBin{}
	for _, from := range slices.Sorted(maps.Keys(h.counts)) {
		bins = append(bins, HistogramBin{from, h.counts[from]})
	}
	return bins
}

// MarshalJSON is the histogram as JSON.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Width int64          `json:"width"` // s
		Bins  []HistogramBin `json:"bins"`
	}{h.Width(), h.Bins()})
}

func (h *Histogram) add(second int64) {
	if h.counts == nil {
		h.counts = map[int64]int64{}
	}
	h.counts[floor(second, h.Width())]++
	for len(h.counts) > histogramBins && h.rung < len(histogramWidths)-1 {
		h.rung++
		wide := map[int64]int64{}
		for from, n := range h.counts {
			wide[floor(from, h.Width())] += n
		}
		h.counts = wide
	}
}

// floor is the greatest multiple of width up to v.
func floor(v, width int64) int64 {
	rest := v % width
	if rest < 0 {
		rest += width
	}
	return v - rest
}
