package cassandra

import "github.com/colsst/colsst/rowgroup"

// Kinds of prefixes beside those of markers.
const (
	kindStatic     rowgroup.BoundKind = 3
	kindClustering rowgroup.BoundKind = 4 // a row: all clustering values
)

// Prefix is a clustering, or the bound of a range of clusterings.
type Prefix struct {
	Kind   rowgroup.BoundKind // 4: a row's clustering
	Values [][]byte           // nil: null
}

// Bound is a Prefix that bounds a range.
type Bound = Prefix

// values reads clustering values of the first n columns.
//
//	for every 32 columns:
//	  vint      two bits a column: low empty, high null
//	  values    those that are neither, by the rule of lengths of the type
func (c *cursor) values(dst [][]byte, cols []Column) [][]byte {
	header := uint64(0)
	for i := range cols {
		if i%32 == 0 {
			header = c.vint()
			if k := len(cols) - i; k < 32 && header>>(2*k) != 0 {
				c.fail()
				c.bad = "flags of clustering columns that are not there"
				return dst
			}
		}
		var v []byte
		switch header & 3 {
		case 0:
			v = c.value(cols[i].valueLen)
		case 1:
			v = []byte{}
		case 3:
			c.fail()
			c.bad = "a clustering value both null and empty"
			return dst
		}
		header >>= 2
		dst = append(dst, v)
	}
	return dst
}

// value reads a value by the rule of lengths.
func (c *cursor) value(fixed int) []byte {
	if fixed >= 0 {
		return c.take(uint64(fixed))
	}
	return c.vbytes()
}

func appendValues(dst []byte, values [][]byte, cols []Column) []byte {
	for i := 0; i < len(values); i += 32 {
		block := values[i:min(i+32, len(values))]
		header := uint64(0)
		for k, v := range block {
			switch {
			case v == nil:
				header |= 2 << (2 * k)
			case len(v) == 0:
				header |= 1 << (2 * k)
			}
		}
		dst = appendVint(dst, header)
		for k, v := range block {
			if len(v) > 0 {
				dst = appendValue(dst, v, cols[i+k].valueLen)
			}
		}
	}
	return dst
}

func appendValue(dst, v []byte, fixed int) []byte {
	if fixed < 0 {
		return appendVbytes(dst, v)
	}
	return append(dst, v...)
}

// bound reads a bound as markers and indexes have it, behind its kind.
//
//	u16     clustering values
//	values  as in a row
func (c *cursor) boundValues(dst [][]byte, cols []Column) [][]byte {
	n := int(c.u16())
	if n > len(cols) {
		if !c.short {
			c.bad = "a bound of more values than there are clustering columns"
		}
		c.fail()
		return dst
	}
	return c.values(dst, cols[:n])
}

// bound reads kind and values.
func (c *cursor) bound(cols []Column) Bound {
	kind := rowgroup.BoundKind(c.u8())
	return Bound{kind, c.boundValues(nil, cols)}
}

func appendBound(dst []byte, b Bound, cols []Column) []byte {
	dst = appendU16(append(dst, byte(b.Kind)), uint16(len(b.Values)))
	return appendValues(dst, b.Values, cols)
}

// prefix reads a prefix as Index.db has it: a bound, or a row's clustering.
func (c *cursor) prefix(cols []Column) Prefix {
	kind := rowgroup.BoundKind(c.u8())
	if kind == kindClustering {
		return Prefix{kind, c.values(nil, cols)}
	}
	return Prefix{kind, c.boundValues(nil, cols)}
}

func appendPrefix(dst []byte, p Prefix, cols []Column) []byte {
	if p.Kind == kindClustering {
		return appendValues(append(dst, byte(p.Kind)), p.Values, cols)
	}
	return appendBound(dst, p, cols)
}
