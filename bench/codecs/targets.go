package codecs

import (
	"strings"

	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/simd"
)

const (
	encodeTime = "encode_ns_per_value"
	decodeTime = "decode_ns_per_value"
	valueBytes = "bytes_per_value"
)

// targets adds the ratios to be reached. Times in L1 are compared by their
// minima, as the reference was measured; others by medians.
func (x *run) targets() {
	x.referenceTargets()
	x.blockTargets()
	x.columnTargets()
	x.sizeTargets()
}

// referenceTargets compares with the C++ reference, in vectors of 1,024.
func (x *run) referenceTargets() {
	type bounds struct{ kernel, public float64 }
	for _, t := range []struct {
		operation string
		level     simd.Level
		bounds
	}{
		{alp64Decode, simd.AVX512, bounds{0.85, 1.0}},
		{alp64Decode, simd.AVX2, bounds{0.32, 0.40}},
		// A float32 is decoded to what two products in float64 give, exact for
		// every decimal, for which 1.6 times the textbook's form is allowed.
		{alp32Decode, simd.AVX512, bounds{0.90 * 1.6, 1.1 * 1.6}},
		{alp64Encode, simd.AVX512, bounds{1.0, 1.2}},
		{alp64Encode, simd.AVX2, bounds{0.45, 0.5}},
		{split64Decode, simd.AVX512, bounds{0.5, 0.6}},
		{split64Encode, simd.AVX512, bounds{0.5, 0.6}},
	} {
		for _, of := range []struct {
			data, subject string
			most          float64
		}{{kernelData, kernel, t.kernel}, {kernelData, decimal, t.public}, {samplesData, decimal, t.public}} {
			q := result.Result{Data: of.data, Subject: of.subject, Params: result.Params{"operation": t.operation, "level": t.level.String(), "rows": sampleValues}}
			for _, r := range x.results.Where(q) {
				x.results.Add(r, result.Target{What: t.operation, Of: "ns_per_value, least", Value: *r.Least,
					Reference: x.reference(t.operation, t.level), By: "C++ reference", Most: of.most})
			}
		}
	}
}

// blockTargets compares blocks of 128 rows with such of 1,024, and a whole row
// group with memory that is only cleared.
func (x *run) blockTargets() {
	top := x.top().String()
	for _, t := range []struct {
		subject, operation string
		most               float64
	}{
		{kernel, alp64Decode, 1.10}, {kernel, alp64Encode, 1.6}, {decimal, alp64Decode, 1.5}, {decimal, alp64Encode, 1.8},
	} {
		at := func(rows int) result.List {
			return x.results.Where(result.Result{Data: kernelData, Subject: t.subject, Metric: "ns_per_value",
				Params: result.Params{"operation": t.operation, "level": top, "rows": rows}})
		}
		if short, long := at(128), at(1024); len(short) > 0 && len(long) > 0 {
			x.results.Add(short[0], result.Target{What: "128 rows against 1,024", Of: "ns_per_value, least", Value: *short[0].Least,
				Reference: *long[0].Least, By: "1,024 rows", Most: t.most})
		}
	}
	for _, v := range []generate.Variant{generate.Full, generate.TwoDecimals} {
		at := func(subject string) result.List {
			return x.results.Where(result.Result{Data: groupData(v), Subject: subject, Params: result.Params{"level": top}})
		}
		ours, theirs := at(groupName), at(memset)
		x.results.Add(ours[0], result.Target{What: "a row group hot", Of: "ns_per_row, least", Value: *ours[0].Least,
			Reference: *theirs[0].Least, By: memset, Most: 1.6})
	}
}

// columnTargets compares whole columns with those of peers.
func (x *run) columnTargets() {
	const block = 4096
	x.against(jitterTimes, deltas, planned, block, decodeTime, []string{parquetDelta}, 4)
	x.against(jitterTimes, deltas, planned, block, encodeTime, []string{parquetDelta}, 2.5)
	x.against(regularTimes, deltas, planned, block, decodeTime, x.lossless(regularTimes, block, 8), 2)
	for _, data := range []string{"float64 walk", "float32 walk"} {
		x.against(data, streams, selfContained, block, encodeTime, []string{parquetStreams}, 1)
		x.against(data, streams, selfContained, block, decodeTime, []string{parquetStreams}, 1)
	}
	seen := map[string]bool{}
	for _, r := range x.results {
		if !strings.HasPrefix(r.Data, "real ") || seen[r.Data] {
			continue
		}
		seen[r.Data] = true
		width := 8.0
		if strings.HasSuffix(strings.TrimSuffix(r.Data, ".gz"), ".f32") {
			width = 4
		}
		peers := x.lossless(r.Data, sampleValues, width)
		x.against(r.Data, decimal, planned, sampleValues, encodeTime, peers, 5)
		x.against(r.Data, decimal, planned, sampleValues, decodeTime, peers, 5)
	}
}

// lossless are the peers that keep every bit of a column and make it smaller
// than 0.95 of its raw size.
func (x *run) lossless(data string, block int, width float64) (names []string) {
	p := result.Params{"block": block}
	for _, r := range x.results.Where(result.Result{Data: data, Metric: "exact", Params: p}) {
		size := x.results.Where(result.Result{Data: data, Subject: r.Subject, Metric: valueBytes, Params: p})
		if r.Params["form"] == nil && r.Value == 1 && size[0].Value < 0.95*width {
			names = append(names, r.Subject)
		}
	}
	return names
}

// against adds how many times as fast as the fastest of the peers we are, at
// the highest level.
func (x *run) against(data, subject, form string, block int, metric string, peers []string, least float64) {
	ours := x.results.Where(result.Result{Data: data, Subject: subject, Metric: metric,
		Params: result.Params{"block": block, "level": x.top().String(), "form": form}})
	var theirs result.List
	for _, name := range peers {
		theirs = append(theirs, x.results.Where(result.Result{Data: data, Subject: name, Metric: metric, Params: result.Params{"block": block}})...)
	}
	best, ok := theirs.Best(false)
	if len(ours) == 0 || !ok {
		return
	}
	// The ratio of speeds is that of times the other way round.
	x.results.Add(ours[0], result.Target{What: "speed", Of: "values_per_ns, " + strings.TrimSuffix(metric, "_ns_per_value"),
		Value: 1 / ours[0].Value, Reference: 1 / best.Value, By: best.Subject, Least: least})
}

// sizeTargets compares sizes with what is to be reached.
func (x *run) sizeTargets() {
	for _, t := range []struct {
		data, subject string
		block         int
		bytes         float64
	}{
		{regularTimes, fileName, 4096, 0.003}, {regularTimes, deltas, 4096, 0.003},
		{jitterTimes, fileName, 4096, 0.80}, {jitterTimes, fileName, 512, 0.82}, {jitterTimes, fileName, 128, 0.90},
	} {
		p := result.Params{"block": t.block}
		if t.subject == deltas {
			p["form"], p["level"] = planned, x.top().String()
		}
		for _, r := range x.results.Where(result.Result{Data: t.data, Subject: t.subject, Metric: valueBytes, Params: p}) {
			x.results.Add(r, result.Target{What: "size", Of: valueBytes, Value: r.Value, Reference: t.bytes, By: "what is to be reached", Most: 1})
		}
	}
	for _, r := range x.results.Where(result.Result{Data: samplesData, Metric: "mean_bits_per_value"}) {
		x.results.Add(r, result.Target{What: "size", Of: r.Metric, Value: r.Value, Reference: 17.9, By: "what is to be reached", Most: 1})
	}
}
