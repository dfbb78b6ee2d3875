package rowgroup

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// keep does in place what appending the kept rows to another batch does.
func TestKeepEqualsAppend(t *testing.T) {
	s := historySchema(t, false)
	rapid.Check(t, func(t *rapid.T) {
		partitions := []history{drawLiveHistory(t, 1, false), drawLiveHistory(t, 2, false)}
		b := historyBatch(t, s, partitions)
		want := NewBatch(s)
		var sel, parts []int32
		for p := range b.parts {
			from, to := b.PartitionRows(p)
			before := len(sel)
			require.NoError(t, want.AppendParts(b, from, from, p, p+1))
			for i := from; i < to; i++ {
				if rapid.Bool().Draw(t, "keep") {
					sel = append(sel, int32(i))
					require.NoError(t, want.AppendParts(b, i, i+1, p, p))
				}
			}
			if len(sel) > before {
				parts = append(parts, int32(p))
			}
		}
		b.keep(sel)
		require.NoError(t, b.Check())
		require.Equal(t, want.Clone(), b.Clone())
		b.keepPartitions(parts)
		require.NoError(t, b.Check())
		require.Equal(t, len(parts), b.NumPartitions())
		for i, p := range parts {
			require.Equal(t, want.Key(int(p)), b.Key(i))
			require.Equal(t, cellText(&want.vecs[2], &want.static, int(p)), cellText(&b.vecs[2], &b.static, i))
		}
	})
}
