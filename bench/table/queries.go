package table

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/colsst/colsst/bench/measure"
	"github.com/colsst/colsst/internal/generate"
)

// rangeRows are the rows of ranges: 5 minutes, an hour, a day, a week.
var rangeRows = []int{60, 720, 17280, 120960}

const goroutines = 32

// query is a range of rows of a series, or its latest row where rows is 0.
type query struct {
	key      string
	from, to int32
	rows     int
	about    bool // some rows may be missing
}

// queries are random ones, the same for every subject.
func (t *truth) queries(points, rows, worker int) []query {
	r := rand.New(rand.NewPCG(generate.Seed, uint64(1000*rows+worker)))
	all := make([]query, 1024)
	for i := range all {
		q := query{key: t.keys[r.IntN(len(t.keys))], rows: rows, about: t.about}
		if rows > 0 {
			q.from = firstTime + int32(timeStep*r.IntN(points-rows+1))
			q.to = q.from + int32(timeStep*(rows-1))
		}
		all[i] = q
	}
	return all
}

// run answers q and checks the number of rows.
func (q *query) run(r reader) error {
	if q.rows == 0 {
		_, err := r.latest(q.key)
		return err
	}
	n, err := r.read(q.key, q.from, q.to, nil)
	if err == nil && (n > q.rows || n < q.rows && !q.about) {
		err = fmt.Errorf("%d rows of %d", n, q.rows)
	}
	return err
}

// check compares one answer with the truth.
func (t *truth) check(r reader, rows int) error {
	if t.about {
		return nil
	}
	last := len(t.sample.time) - 1
	if rows == 0 {
		got, err := r.latest(t.key)
		want := row{t.sample.time[last], t.sample.value[last], t.sample.wrote[last], t.sample.ttl[last]}
		if err == nil && got.sum() != want.sum() {
			err = fmt.Errorf("the latest row is %v, not %v", got, want)
		}
		return err
	}
	at := (last + 1 - rows) / 3
	want := t.sample.slice(at, at+rows)
	var got columns
	if _, err := r.read(t.key, want.time[0], want.time[rows-1], &got); err != nil {
		return err
	}
	if !got.equal(want) {
		return errors.New("the rows of a range are wrong")
	}
	return nil
}

// rate is queries a second of CPU time, one after another.
func rate(r reader, qs []query, budget time.Duration) (t measure.Timing, err error) {
	// The clock is looked at once in about a thousandth of the budget.
	start := measure.CPU()
	if err := qs[0].run(r); err != nil {
		return t, err
	}
	stride := max(1, min(1000, int(budget/1000/max(measure.CPU()-start, 1))))
	const parts = 5
	var rates []float64
	next := 0
	for range parts {
		done := 0
		start := measure.CPU()
		took := time.Duration(0)
		for took < budget/parts {
			for range stride {
				if err := qs[next%len(qs)].run(r); err != nil {
					return t, err
				}
				next++
			}
			done += stride
			took = measure.CPU() - start
		}
		rates = append(rates, float64(done)/took.Seconds())
	}
	return measure.Summarise(rates), nil
}

// latencies are the median and the 99th percentile of single queries by the
// clock, in microseconds.
func latencies(r reader, qs []query, budget time.Duration) (p50, p99 float64, err error) {
	var us []float64
	for begin := time.Now(); len(us) < 20 || len(us) < 20_000 && time.Since(begin) < budget; {
		start := time.Now()
		if err := qs[len(us)%len(qs)].run(r); err != nil {
			return 0, 0, err
		}
		us = append(us, float64(time.Since(start).Nanoseconds())/1e3)
	}
	slices.Sort(us)
	return us[len(us)/2], us[len(us)*99/100], nil
}

// allocations is how many a query makes, warm.
func allocations(r reader, qs []query) (float64, error) {
	const n = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		if err := qs[i%len(qs)].run(r); err != nil {
			return 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / n, nil
}

// parallelRate is queries a second of the clock by many goroutines.
func parallelRate(r reader, t *truth, points, rows int, budget time.Duration) (timing measure.Timing, err error) {
	sessions := make([]reader, goroutines)
	work := make([][]query, goroutines)
	for i := range sessions {
		if sessions[i], err = r.session(); err != nil {
			return timing, err
		}
		defer sessions[i].close() //nolint:errcheck // it was only read
		work[i] = t.queries(points, rows, i)
	}
	const parts = 5
	var rates []float64
	for part := range parts {
		done, failed := make([]int, goroutines), make([]error, goroutines)
		var wg sync.WaitGroup
		start := time.Now()
		for i := range goroutines {
			wg.Go(func() {
				for n := 0; n == 0 || time.Since(start) < budget/parts; n++ {
					if failed[i] = work[i][(part*101+n)%len(work[i])].run(sessions[i]); failed[i] != nil {
						return
					}
					done[i]++
				}
			})
		}
		wg.Wait()
		took := time.Since(start)
		if err := errors.Join(failed...); err != nil {
			return timing, err
		}
		sum := 0
		for _, n := range done {
			sum += n
		}
		rates = append(rates, float64(sum)/took.Seconds())
	}
	return measure.Summarise(rates), nil
}
