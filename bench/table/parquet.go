package table

import (
	"sort"
)

// page is a page of a column of a Parquet file: the file's rows [from, to) and
// the bounds of its keys or of its times.
type page struct {
	from, to         int64
	minKey, maxKey   string
	minTime, maxTime int32
}

// pages are the page indexes of the columns that queries ask for. Neither
// library prunes by itself, so this does what its user would.
type pages struct {
	groups []int64 // first row of each row group, and the end
	keys   []page
	times  []page
}

// group is the row group that holds a row.
func (p *pages) group(row int64) int {
	return sort.Search(len(p.groups), func(i int) bool { return p.groups[i] > row }) - 1
}

// candidates are the rows [from, to) of the pages that may hold key, and the
// first row of the last of them.
func (p *pages) candidates(key string) (from, to, last int64) {
	i := sort.Search(len(p.keys), func(i int) bool { return p.keys[i].maxKey >= key })
	j := sort.Search(len(p.keys), func(i int) bool { return p.keys[i].minKey > key })
	if i >= j {
		return 0, 0, 0
	}
	return p.keys[i].from, p.keys[j-1].to, p.keys[j-1].from
}

// runs are the rows in [lo, hi) of the pages whose times meet [from, to],
// joined where they adjoin. A page with two series has wide bounds, so that
// there may be more than one run.
func (p *pages) runs(lo, hi int64, from, to int32) (runs [][2]int64) {
	i := sort.Search(len(p.times), func(i int) bool { return p.times[i].to > lo })
	for ; i < len(p.times) && p.times[i].from < hi; i++ {
		if x := p.times[i]; x.minTime <= to && x.maxTime >= from {
			a, b := max(x.from, lo), min(x.to, hi)
			if k := len(runs); k > 0 && runs[k-1][1] == a {
				runs[k-1][1] = b
			} else {
				runs = append(runs, [2]int64{a, b})
			}
		}
	}
	return runs
}

// parquetColumns reads rows [from, to) of the columns of a Parquet file, and
// appends them.
type parquetColumns interface {
	// span is the rows in [lo, hi) of a key, which adjoin: from is -1 if there
	// are none.
	span(key string, lo, hi int64) (from, to int64, err error)
	times(from, to int64, dst []int32) ([]int32, error)
	rest(from, to int64, out *columns) error // all but the times
}

// parquetQueries answers queries from a file of either library.
type parquetQueries struct {
	*pages
	columns parquetColumns
	buffer  []int32
	out     columns
}

func (p *parquetQueries) read(key string, from, to int32, out *columns) (int, error) {
	if out == nil {
		out = &p.out
		out.reset()
	}
	lo, hi, _ := p.candidates(key)
	for _, run := range p.runs(lo, hi, from, to) {
		a, b, err := p.columns.span(key, run[0], run[1])
		if err != nil {
			return 0, err
		}
		if a < 0 {
			continue
		}
		if p.buffer, err = p.columns.times(a, b, p.buffer[:0]); err != nil {
			return 0, err
		}
		i := sort.Search(len(p.buffer), func(i int) bool { return p.buffer[i] >= from })
		j := sort.Search(len(p.buffer), func(i int) bool { return p.buffer[i] > to })
		if i == j {
			continue
		}
		out.time = append(out.time, p.buffer[i:j]...)
		if err := p.columns.rest(a+int64(i), a+int64(j), out); err != nil {
			return 0, err
		}
	}
	return len(out.time), nil
}

func (p *parquetQueries) latest(key string) (x row, err error) {
	_, hi, last := p.candidates(key)
	_, end, err := p.columns.span(key, last, hi)
	if err != nil {
		return x, err
	}
	if end <= 0 {
		return x, errNone
	}
	p.out.reset()
	if p.out.time, err = p.columns.times(end-1, end, p.out.time); err != nil {
		return x, err
	}
	if err := p.columns.rest(end-1, end, &p.out); err != nil {
		return x, err
	}
	return row{p.out.time[0], p.out.value[0], p.out.wrote[0], p.out.ttl[0]}, nil
}
