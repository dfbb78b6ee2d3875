package table

import (
	"math/rand/v2"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// irregular is metrics5 as life has it: 1 % of the points are missing, 1 % of
// the others have no value, 1 % replace a row that was deleted.
type irregular struct {
	rowgroup.Iter
	in   *rowgroup.Batch
	rand *rand.Rand
}

func newIrregular(m generate.Metrics5) rowgroup.Iter {
	return &irregular{m.Rows(), rowgroup.NewBatch(m.Schema()), rand.New(rand.NewPCG(m.Seed, 99))}
}

// percent is true once in a hundred times.
func (it *irregular) percent() bool { return it.rand.IntN(100) == 0 }

func (it *irregular) Next(b *rowgroup.Batch) (bool, error) {
	ok, err := it.Iter.Next(it.in)
	b.Reset()
	if !ok || err != nil {
		return ok, err
	}
	times, values, meta, cells := b.Int32s(timeColumn), b.Float32s(valueColumn), b.Meta(), &b.CellMeta(valueColumn).Cells
	n, first := 0, 0
	for p := range parts(it.in) {
		head := b.BeginPartition(p.key)
		*head = *it.in.Partition(first)
		head.Start = n
		first++
		for i, t := range p.time {
			if it.percent() {
				continue
			}
			cell, value := rowgroup.CellAsRow, p.value[i]
			if it.percent() {
				cell, value = rowgroup.CellAbsent, 0
			}
			if it.percent() {
				meta.Deletions = append(meta.Deletions, rowgroup.RowDeletion{Row: n,
					Deletion: rowgroup.Deletion{MarkedForDeleteAt: p.wrote[i] - 1, LocalDeletionTime: p.wrote[i] / 1e6}})
			}
			*times, *values, *cells = append(*times, t), append(*values, value), append(*cells, cell)
			meta.Liveness = append(meta.Liveness, rowgroup.LivenessExpiring)
			meta.WriteTimes, meta.TTLs, meta.Expiries = append(meta.WriteTimes, p.wrote[i]), append(meta.TTLs, p.ttl[i]), append(meta.Expiries, p.expiry[i])
			n++
		}
	}
	return true, nil
}
