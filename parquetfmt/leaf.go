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
}

func (l *leaf) init(n *node) {
	l.node = n
	l.values.Init(n.typ, int(n.length))
}

func (l *leaf) reset() {
	l.values.Reset()
	l.defs, l.reps, l.rows = l.defs[:0], l.reps[:0], 0
}

// entries is the number of values, nulls and empty lists included.
func (l *leaf) entries() int {
	if len(l.defs) > 0 {
		return len(l.defs)
	}
	return l.values.Len()
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
	if n := l.values.Len(); len(l.defs) == 0 && n > 0 {
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
func (l *leaf) size() int { return l.values.Size(0, l.values.Len()) + len(l.defs) + len(l.reps) }
