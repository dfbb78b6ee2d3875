package predicate

import (
	"strconv"
	"time"

	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// Value reads a value of type t as people write it: a timestamp in the forms of
// a CSV, in UTC unless it says otherwise, or as a count of its unit; any other
// type as ParseText does. A time between two units is not exact and becomes
// the later of them.
func Value(t rowgroup.Type, text string) (v []byte, exact bool, err error) {
	t = bare(t)
	_, err = strconv.ParseInt(text, 10, 64)
	if t.Kind != rowgroup.KindTimestamp || err == nil {
		v, err = rowgroup.ParseText([]byte{}, t, text)
		return v, true, err
	}
	n, err := textfmt.ParseTime(text, t.Unit, time.UTC)
	if err != nil {
		return nil, false, err
	}
	return rowgroup.AppendInt([]byte{}, t, n), isWhole(text, t.Unit, n), nil
}

// isWhole reports whether the time that text names is n of the unit, which is
// that or the first after it.
func isWhole(text string, unit rowgroup.Unit, n int64) bool {
	for fine := rowgroup.Nanos; fine > unit; fine-- {
		m, err := textfmt.ParseTime(text, fine, time.UTC)
		if err != nil {
			continue // out of its range
		}
		for range fine - unit {
			n *= 1000 // as m fits, so does this
		}
		return m == n
	}
	return true
}
