package generate

import (
	"math/rand/v2"

	"github.com/colsst/colsst/rowgroup"
)

// Irregular yields the table's rows as life has them: 1 % of the points are
// missing, 1 % of the others have no value, 1 % replace a row that was deleted.
// It panics if Check fails.
func (m Metrics5) Irregular() rowgroup.Iter {
	return &irregular{m.Rows(), rowgroup.NewBatch(m.Schema()), rand.New(rand.NewPCG(m.Seed, 99))}
}

type irregular struct {
	rowgroup.Iter
	in   *rowgroup.Batch
	rand *rand.Rand
}

// percent is true once in a hundred times.
func (it *irregular) percent() bool { return it.rand.IntN(100) == 0 }

func (it *irregular) Next(b *rowgroup.Batch) (bool, error) {
	ok, err := it.Iter.Next(it.in)
	b.Reset()
	if !ok || err != nil {
		return ok, err
	}
	const colTime, colValue = 1, 2
	all, points, from := it.in.Meta(), *it.in.Int32s(colTime), *it.in.Float32s(colValue)
	times, values, meta, cells := b.Int32s(colTime), b.Float32s(colValue), b.Meta(), &b.CellMeta(colValue).Cells
	n := 0
	for p := range it.in.NumPartitions() {
		head := b.BeginPartition(it.in.Key(p))
		*head = *it.in.Partition(p)
		head.Start = n
		lo, hi := it.in.PartitionRows(p)
		for i := lo; i < hi; i++ {
			if it.percent() {
				continue
			}
			cell, value := rowgroup.CellAsRow, from[i]
			if it.percent() {
				cell, value = rowgroup.CellAbsent, 0
			}
			wrote := all.WriteTimes[i]
			if it.percent() {
				meta.Deletions = append(meta.Deletions, rowgroup.RowDeletion{Row: n,
					Deletion: rowgroup.Deletion{MarkedForDeleteAt: wrote - 1, LocalDeletionTime: wrote / 1e6}})
			}
			*times, *values, *cells = append(*times, points[i]), append(*values, value), append(*cells, cell)
			meta.Liveness = append(meta.Liveness, rowgroup.LivenessExpiring)
			meta.WriteTimes, meta.TTLs, meta.Expiries = append(meta.WriteTimes, wrote), append(meta.TTLs, all.TTLs[i]), append(meta.Expiries, all.Expiries[i])
			n++
		}
	}
	return true, nil
}
