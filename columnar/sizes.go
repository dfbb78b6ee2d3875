package columnar

import "github.com/colsst/colsst/rowgroup"

// sizes says what the rows of a batch and the heads of its partitions count
// for row_group_size_in_bytes: rowgroup.Schema.FixedBytes and the bytes of
// byte strings, of exceptions and of the key, and cells of multi-cell columns.
type sizes struct {
	schema        *rowgroup.Schema
	width, static int64
	from, to      int     // the rows measured
	rows          []int64 // their sizes; empty if all are width
}

func newSizes(s *rowgroup.Schema) sizes {
	return sizes{
		schema: s, width: int64(s.FixedBytes(rowgroup.Clustering) + s.FixedBytes(rowgroup.Regular)),
		static: int64(s.FixedBytes(rowgroup.Static)),
	}
}

// measure sets rows to the sizes of rows [from, to) of b.
func (z *sizes) measure(b *rowgroup.Batch, from, to int) {
	z.from, z.to, z.rows = from, to, z.rows[:0]
	for i := range z.schema.NumColumns() {
		if r := z.schema.Role(i); r != rowgroup.Clustering && r != rowgroup.Regular {
			continue
		}
		if m := b.MultiCells(i); m != nil {
			if m.Len() > 0 {
				rows := z.each()
				for k := range rows {
					rows[k] += m.Size(from+k, from+k+1)
				}
			}
			continue
		}
		if z.schema.Column(i).Type.Physical().Class() == rowgroup.ClassBytes {
			if ends := b.Bytes(i).Ends; len(ends) >= to {
				last := uint32(0)
				if from > 0 {
					last = ends[from-1]
				}
				rows := z.each()
				for k, end := range ends[from:to] {
					rows[k] += int64(end - last)
					last = end
				}
			}
		}
		for _, e := range b.CellMeta(i).Exceptions {
			if e.Row >= from && e.Row < to {
				z.each()[e.Row-from] += int64(len(e.Value))
			}
		}
	}
}

// each is rows with an entry for each row.
func (z *sizes) each() []int64 {
	for len(z.rows) < z.to-z.from {
		z.rows = append(z.rows, z.width)
	}
	return z.rows
}

// head is the size of the head of partition p of b.
func (z *sizes) head(b *rowgroup.Batch, p int) int64 {
	size := z.static + int64(len(b.Key(p)))
	if b.Partition(p).Static != rowgroup.StaticFull {
		return size
	}
	from, to := z.schema.Range(rowgroup.Static)
	for i := from; i < to; i++ {
		if m := b.MultiCells(i); m != nil {
			size += m.Size(p, p+1)
			continue
		}
		if z.schema.Column(i).Type.Physical().Class() == rowgroup.ClassBytes {
			if s := b.Bytes(i); p < s.Len() {
				size += int64(len(s.At(p)))
			}
		}
		for _, e := range b.CellMeta(i).Exceptions {
			if e.Row == p {
				size += int64(len(e.Value))
			}
		}
	}
	return size
}

// run is how many of the n rows from the i-th measured on have room in left
// bytes, at least one if needed, and the size of each.
func (z *sizes) run(i, n int, left int64, need bool) (rows int, size int64) {
	if len(z.rows) > 0 {
		n, size = 1, z.rows[i]
	} else {
		size = z.width
	}
	if size > 0 {
		n = min(n, int(max(0, left/size)))
	}
	if need {
		n = max(1, n)
	}
	return n, size
}

// piece ends, before it has more than some partitions or bytes, a piece of b
// that begins with the first row measured and with partition part.
func (z *sizes) piece(b *rowgroup.Batch, part, partitions int, bytes int64) (to, toPart int) {
	to, toPart = z.from, part
	left, need := bytes, true
	for {
		end, np := z.to, b.NumPartitions()
		if toPart < np {
			end = min(end, b.Partition(toPart).Start)
		}
		for to < end {
			n, size := z.run(to-z.from, end-to, left, need)
			if n == 0 {
				return to, toPart
			}
			to, left, need = to+n, left-int64(n)*size, false
		}
		if toPart == np || toPart-part == partitions || b.Partition(toPart).Start > to {
			return to, toPart
		}
		head := z.head(b, toPart)
		if head > left && !need {
			return to, toPart
		}
		toPart, left, need = toPart+1, left-head, false
	}
}
