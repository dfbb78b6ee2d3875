package textfmt

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// Rounding counts the numbers of a column that its type does not hold with all
// their digits, as 9007199254740993 in a double.
type Rounding struct {
	Column string
	Count  int64
	Line   int64  // of the first of them
	Value  string // the first of them, cut to a readable length
}

// tallies count what was read in another way than it was written.
type tallies struct {
	rounded []Rounding // by column of the text; empty if there is none
	blank   int64      // lines that were skipped
}

// round counts a number in field f of n, which is column i.
func (t *tallies) round(i, n int, f *Field) {
	if t.rounded == nil {
		t.rounded = make([]Rounding, n)
	}
	if t.rounded[i].Count == 0 {
		t.rounded[i].Line, t.rounded[i].Value = f.Line, quote(f.Text)
	}
	t.rounded[i].Count++
}

// add takes the counts of the part of the text that comes next.
func (t *tallies) add(next *tallies) {
	t.blank += next.blank
	for i, r := range next.rounded {
		if t.rounded == nil {
			t.rounded = make([]Rounding, len(next.rounded))
		}
		if t.rounded[i].Count > 0 {
			r.Line, r.Value = t.rounded[i].Line, t.rounded[i].Value
		}
		r.Count += t.rounded[i].Count
		t.rounded[i] = r
	}
}

// Rounded are the columns in which numbers were rounded so far.
func (r *Reader) Rounded() (all []Rounding) {
	for i, x := range r.builder.tallies.rounded {
		if x.Count > 0 {
			x.Column = r.builder.columns[i].name
			all = append(all, x)
		}
	}
	return all
}

// BlankLines counts the blank lines of a CSV that were skipped so far.
func (r *Reader) BlankLines() int64 {
	n := r.builder.tallies.blank
	if b, ok := r.rows.(interface{ blankLines() int64 }); ok && r.pieces == nil {
		n += b.blankLines()
	}
	return n
}

// rounded reports whether the number in text, which became v, has digits that a
// float of so many bits, its size, does not give back when it is printed with as many.
// Numbers of no more digits than always fits need no look.
func rounded(text []byte, v float64, always, size int) bool {
	if len(text) <= always || v-v != 0 {
		return false
	}
	if n, ok := parsePlain(text); ok {
		return n.rounded(text, v, always, size)
	}
	return roundedText(text, v, always, size)
}

// rounded is rounded for a plain number.
func (n *plain) rounded(text []byte, v float64, always, size int) bool {
	if n.mantissa < pow10uint[always] {
		return false
	}
	if same, ok := n.digitsOf(v, always); ok {
		return !same
	}
	return roundedText(text, v, always, size)
}

// digitsOf reports whether v, of n's sign, gives back the digits of n: whether
// it is n when it is rounded to as many decimals, half to even. Up to always
// digits, zeros at the end left out, it is. ok is false where the arithmetic does
// not reach.
func (n *plain) digitsOf(v float64, always int) (same, ok bool) {
	m, decimals := n.mantissa, n.decimals
	for decimals > 0 && m%10 == 0 {
		m /= 10
		decimals--
	}
	// v is f x 2^-e; the product with 10^decimals has up to 107 bits.
	b := math.Float64bits(v)
	f, e := b&(1<<52-1)|1<<52, 1075-int(b>>52&2047)
	if decimals == 0 && m%10 == 0 || e <= 0 || e > 63 {
		return false, false
	}
	if m < pow10uint[always] {
		return true, true
	}
	hi, lo := bits.Mul64(f, pow10uint[decimals])
	rest, half := lo<<(64-e), uint64(1)<<63
	hi, lo = hi>>e, hi<<(64-e)|lo>>e
	if rest > half || rest == half && lo&1 == 1 {
		lo++
	}
	return hi == 0 && lo == m, true
}

// roundedText is rounded by the definition: it prints v.
func roundedText(text []byte, v float64, always, size int) bool {
	n, ok := parseNumber(text)
	if !ok || n.digits <= always {
		return false
	}
	var buf [32]byte
	printed := strconv.AppendFloat(buf[:0], v, 'e', n.digits-1, size)
	m, ok := parseNumber(printed)
	if n.exact && m.exact {
		return !ok || n.mantissa != m.mantissa
	}
	return !sameNumber(string(text), string(printed))
}

// sameNumber compares two decimal numbers exactly.
func sameNumber(a, b string) bool {
	x, ok1 := new(big.Rat).SetString(strings.TrimPrefix(a, "+"))
	y, ok2 := new(big.Rat).SetString(b)
	return ok1 && ok2 && x.Cmp(y) == 0
}
