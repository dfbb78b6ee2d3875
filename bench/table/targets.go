package table

import (
	"strings"

	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/simd"
)

const ourDefault = "colsst/default"

// floors are the bytes a point to be reached, by variant and series.
var floors = map[string]float64{"full/20": 4.01, "2dec/20": 2.59, "full/200": 4.05, "2dec/200": 2.60}

// targets adds the ratios to be reached to l.
func (o *Options) targets(l *result.List) {
	o.sizes(l)
	o.speeds(l)
	o.memory(l)
	pointTargets(l)
}

// find is our result of a metric; extra parameters beside those that are
// named are not allowed.
func find(l result.List, data, subject, metric string, p result.Params) (r result.Result, ok bool) {
	for _, r := range l.Where(result.Result{Data: data, Subject: subject, Metric: metric, Params: p}) {
		if len(r.Params) == len(p) {
			return r, true
		}
	}
	return r, false
}

func (o *Options) sizes(l *result.List) {
	file := result.Params{"source": fromFile}
	if r, ok := find(*l, o.data(), ourDefault, "bytes_per_point", file); ok {
		if floor := floors[o.Variant+"/"+result.Short(float64(o.Series))]; floor > 0 {
			l.Add(r, result.Target{What: "size", Of: r.Metric, Value: r.Value, Reference: floor, By: "what is to be reached", Most: 1})
		}
		if best, ok := bestPeer(*l, o.data(), "bytes_per_point", false); ok {
			l.Add(r, result.Target{What: "size against peers", Of: r.Metric, Value: r.Value, Reference: best.Value, By: best.Subject, Most: 1})
		}
	}
	if r, ok := find(*l, o.data(), ourDefault, "overhead_bytes_per_group", file); ok {
		l.Add(r, result.Target{What: "overhead", Of: r.Metric, Value: r.Value, Reference: 12, By: "what is to be reached", Most: 1})
	}
	if r, ok := find(*l, o.data(), "colsst/C", "outer_saving", file); ok {
		l.Add(r, result.Target{What: "gain of an outer Zstd", Of: r.Metric, Value: r.Value, Reference: 0.02, By: "what is to be reached", Most: 1})
	}
}

// bestPeer is the best of the subjects that are not ours, one goroutine.
func bestPeer(l result.List, data, metric string, greatest bool) (result.Result, bool) {
	var peers result.List
	for _, r := range l.Where(result.Result{Data: data, Metric: metric}) {
		if r.Params["source"] == nil && r.Params["goroutines"] == nil {
			peers = append(peers, r)
		}
	}
	return peers.Best(greatest)
}

// speeds compares with the best peer of the run, or with one that is named;
// times share a ratio over 200 series of 0.6.
func (o *Options) speeds(l *result.List) {
	share := 1.0
	if o.Series >= 200 {
		share = 0.6
	}
	for _, t := range []struct {
		metric, peer string
		file, memory float64
		lower        float64 // at the level generic, whatever the source
	}{
		{"write_mpts_per_cpu_s", "", 10, 0, 3},
		{"scan_mpts_per_cpu_s", "", 9, 14, 2},
		{"range_60_qps", pebbleName, 4.5, 11, 3},
		{"range_720_qps", pebbleName, 18, 34, 0},
		{"range_17280_qps", pebbleName, 34, 48, 0},
		{"range_120960_qps", "parquet-go/default", 8, 10, 0},
		{"latest_qps", "", 3.4, 9, 0},
	} {
		reference, ok := bestPeer(*l, o.data(), t.metric, true)
		if t.peer != "" {
			reference, ok = find(*l, o.data(), t.peer, t.metric, nil)
		}
		if !ok {
			continue
		}
		short := share
		if t.metric == "write_mpts_per_cpu_s" || t.metric == "scan_mpts_per_cpu_s" {
			short = 1
		}
		add := func(p result.Params, least float64) {
			if r, ok := find(*l, o.data(), ourDefault, t.metric, p); ok && least > 0 {
				l.Add(r, result.Target{What: "speed against peers", Of: t.metric, Value: r.Value, Reference: reference.Value, By: reference.Subject, Least: least * short})
			}
		}
		add(result.Params{"source": fromFile}, t.file)
		add(result.Params{"source": fromMemory}, t.memory)
		if t.metric == "write_mpts_per_cpu_s" {
			add(result.Params{"source": fromFile, "fill": rowByRow}, 6)
		}
		add(result.Params{"source": fromFile, "level": simd.Generic.String()}, t.lower)
	}
	// The middle level against the highest.
	for _, source := range []string{fromFile, fromMemory} {
		for _, metric := range []string{"write_mpts_per_cpu_s", "scan_mpts_per_cpu_s", "range_60_qps", "range_17280_qps", "latest_qps"} {
			top, ok := find(*l, o.data(), ourDefault, metric, result.Params{"source": source})
			r, ok2 := find(*l, o.data(), ourDefault, metric, result.Params{"source": source, "level": simd.AVX2.String()})
			if ok && ok2 {
				l.Add(r, result.Target{What: "AVX2 against AVX-512", Of: metric, Value: r.Value, Reference: top.Value, By: ourDefault, Least: 0.5})
			}
		}
	}
	// What is lost where the rows are irregular; there is no target.
	for _, r := range l.Where(result.Result{Data: o.data() + irregularName, Subject: ourDefault}) {
		if r.Params["goroutines"] != nil || r.Metric != "bytes_per_point" && r.Metric != "write_mpts_per_cpu_s" && r.Metric != "scan_mpts_per_cpu_s" && !strings.HasSuffix(r.Metric, "_qps") {
			continue
		}
		if regular, ok := find(*l, o.data(), ourDefault, r.Metric, r.Params); ok {
			*l = append(*l, result.Result{Suite: suite, Data: r.Data, Subject: r.Subject, Params: r.Params, Metric: r.Metric + " of regular", Value: r.Value / regular.Value})
		}
	}
	for _, query := range []string{"range_60", "latest"} {
		p := result.Params{"source": fromFile, "query": query}
		if r, ok := find(*l, o.data(), ourDefault, "reads_per_query", p); ok {
			l.Add(r, result.Target{What: "reads of " + query, Of: r.Metric, Value: r.Value, Reference: 1, By: "a read", Most: map[string]float64{"range_60": 1.1, "latest": 1}[query]})
		}
	}
}

// memory compares the peaks beside what the process takes before with the
// bounds.
func (o *Options) memory(l *result.List) {
	for _, t := range []struct {
		phase string
		mb    float64
	}{{"write", 32 + 12*float64(o.Series)/1e6}, {"read", 64}} {
		p := result.Params{"source": fromFile, "phase": t.phase}
		peak, ok := find(*l, o.data(), ourDefault, "peak_rss_mb", p)
		base, ok2 := find(*l, o.data(), ourDefault, "base_rss_mb", p)
		if ok && ok2 {
			l.Add(peak, result.Target{What: "memory", Of: "peak_rss_mb beside the runtime", Value: peak.Value - base.Value, Reference: t.mb, By: "what is to be reached", Most: 1})
		}
	}
	if o.Series > 200 {
		openTargets(l, o.data(), 2000, 2e6)
	} else {
		openTargets(l, o.data(), 300, 256<<10)
	}
}

// openTargets compares what opening our file takes with the bounds of time, and
// of bytes read and of memory kept.
func openTargets(l *result.List, data string, us, bytes float64) {
	for _, t := range []struct {
		metric string
		most   float64
	}{{"open_us", us}, {"open_bytes", bytes}, {"open_heap_bytes", bytes}} {
		for _, r := range l.Where(result.Result{Data: data, Subject: ourDefault, Metric: t.metric, Params: result.Params{"source": fromFile}}) {
			if r.Params["level"] == nil {
				l.Add(r, result.Target{What: "open", Of: r.Metric, Value: r.Value, Reference: t.most, By: "what is to be reached", Most: 1})
			}
		}
	}
}
