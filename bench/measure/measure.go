// Package measure takes times, allocations and memory.
package measure

import (
	"runtime"
	"slices"
	"time"
)

// Plan says how long to measure one thing: Repeats times, each of at least
// Least.
type Plan struct {
	Repeats int
	Least   time.Duration
}

// Timing is what one call of a function takes: nanoseconds of CPU time in the
// median of the repeats, the least and the most of them, and allocations.
type Timing struct {
	Median, Least, Most float64
	Allocs              float64
}

// Per divides all of t by n, for calls that do n things.
func (t Timing) Per(n int) Timing {
	d := float64(n)
	return Timing{t.Median / d, t.Least / d, t.Most / d, t.Allocs / d}
}

// Time measures fn, which it calls at least Repeats+2 times.
func (p Plan) Time(fn func()) Timing {
	calls := p.calls(fn)
	times := make([]float64, 0, p.Repeats)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range p.Repeats {
		start := CPU()
		for range calls {
			fn()
		}
		times = append(times, float64(CPU()-start)/float64(calls))
	}
	runtime.ReadMemStats(&after)
	t := Summarise(times)
	t.Allocs = float64(after.Mallocs-before.Mallocs) / float64(calls*p.Repeats)
	return t
}

// calls is how many calls of fn take about Least. They warm fn up.
func (p Plan) calls(fn func()) int {
	fn()
	for n := 1; ; n *= 4 {
		start := CPU()
		for range n {
			fn()
		}
		took := CPU() - start
		if took >= p.Least/4 || n >= 1<<28 {
			return max(1, int(float64(n)*float64(p.Least)/float64(max(took, 1))))
		}
	}
}

// Summarise is the median, the least and the most of values, of which there is
// at least one and which it sorts.
func Summarise(values []float64) Timing {
	slices.Sort(values)
	return Timing{Median: values[len(values)/2], Least: values[0], Most: values[len(values)-1]}
}
