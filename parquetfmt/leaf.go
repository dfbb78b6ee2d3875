package parquetfmt

import (
	"slices"

	"github.com/colsst/colsst/parquetfmt/internal/page"
)

// leaf is the values of one leaf that wait for their row group to be written,
// with their levels.
type leaf struct {
	*node
	values page.Values
	defs   []uint8 // one an entry; nil as long as all are maxDef
	reps   []uint8 // the same, where maxRep is not 0
	rows   int

	// Of columns of the partition key each value stands for a run of equal ones:
	// run k is values up to ends[k].
	inRuns bool
	ends   []uint32

	// Pages that compression hardly makes smaller are followed by some that are
	// not tried, up to mostUntried.
	untried, wait int

	// Of floats for which ALP is asked: vectors of 2^vectors values, or 0 where
	// other pages are smaller, and for how many more values that serves.
	vectors uint8
	serves  int
}

const mostUntried = 15

// count is the number of values.
func (l *leaf) count() int {
	if !l.inRuns {
		return l.values.Len()
	}
	if len(l.ends) == 0 {
		return 0
	}
	return int(l.ends[len(l.ends)-1])
}

// repeated says that the value appended last to values stands for n, one a row.
func (l *leaf) repeated(n int) {
	l.ends = append(l.ends, uint32(l.count()+n))
	l.added(n)
}

// slots are the places in values of values [from, to).
func (l *leaf) slots(from, to int) (first, end int) {
	if !l.inRuns || from == to {
		return from, to
	}
	run := func(i int) int {
		k, _ := slices.BinarySearch(l.ends, uint32(i)+1)
		return k
	}
	return run(from), run(to-1) + 1
}

// bytesOf is the length of all byte strings among values [from, to).
func (l *leaf) bytesOf(from, to int) (n int64) {
	first, end := l.slots(from, to)
	if !l.inRuns || from == to {
		return int64(l.values.Size(first, end) - 4*(end-first))
	}
	at := from
	for k := first; k < end; k++ {
		next := min(int(l.ends[k]), to)
		n += int64(len(l.values.Str.At(k))) * int64(next-at)
		at = next
	}
	return n
}

// spread makes every value stand for itself.
func (l *leaf) spread() error {
	if !l.inRuns {
		return nil
	}
	var all page.Values
	all.Init(l.values.Type, l.values.Length)
	at := uint32(0)
	for k, end := range l.ends {
		for ; at < end; at++ {
			if err := all.AppendRange(&l.values, k, k+1); err != nil {
				return err
			}
		}
	}
	l.values, l.inRuns, l.ends = all, false, l.ends[:0]
	return nil
}

func (l *leaf) init(n *node) {
	l.node = n
	l.values.Init(n.typ, int(n.length))
}

func (l *leaf) reset() {
	l.values.Reset()
	l.ends = l.ends[:0]
	l.defs, l.reps, l.rows = l.defs[:0], l.reps[:0], 0
}

// entries is the number of values, nulls and empty lists included.
func (l *leaf) entries() int {
	if len(l.defs) > 0 {
		return len(l.defs)
	}
	return l.count()
}

// added says that n values, one a row, were appended to values.
func (l *leaf) added(n int) {
	l.rows += n
	if len(l.defs) > 0 {
		l.defs = appendN(l.defs, l.maxDef, n)
	}
}

// nulls appends n rows without a value.
func (l *leaf) nulls(n int) {
	if n == 0 {
		return
	}
	l.needDefs()
	l.defs = appendN(l.defs, l.maxDef-1, n)
	l.rows += n
}

// needDefs makes the levels that all entries so far have stand in defs.
func (l *leaf) needDefs() {
	if n := l.count(); len(l.defs) == 0 && n > 0 {
		l.defs = appendN(l.defs, l.maxDef, n)
	}
}

// level appends the levels of one entry, whose value is appended beside where
// def is maxDef.
func (l *leaf) level(rep, def uint8) {
	l.defs = append(l.defs, def)
	if l.maxRep > 0 {
		l.reps = append(l.reps, rep)
	}
	if rep == 0 {
		l.rows++
	}
}

func appendN(s []uint8, v uint8, n int) []uint8 {
	at := len(s)
	s = slices.Grow(s, n)[:at+n]
	for i := range s[at:] {
		s[at+i] = v
	}
	return s
}

// size is about what the leaf takes in memory.
func (l *leaf) size() int {
	return l.values.Size(0, l.values.Len()) + 4*len(l.ends) + len(l.defs) + len(l.reps)
}

// tries reports whether the next page is compressed.
func (l *leaf) tries() bool {
	if l.untried == 0 {
		return true
	}
	l.untried--
	return false
}

// saved reports whether a page of so many bytes is stored compressed: where that
// saves a hundredth. Each that is not doubles how many are not tried, unless it
// is short.
func (l *leaf) saved(size, compressed int) bool {
	const short = 256
	if size-compressed > size/100 || size < short {
		l.wait = 0
		return compressed < size
	}
	l.wait = min(2*l.wait+1, mostUntried)
	l.untried = l.wait
	return false
}
