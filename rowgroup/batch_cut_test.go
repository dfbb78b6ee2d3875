package rowgroup

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Cut does in place what appending the range to another batch does.
func TestCutEqualsAppend(t *testing.T) {
	s := historySchema(t, false)
	rapid.Check(t, func(t *rapid.T) {
		all := []history{drawLiveHistory(t, 1, false), drawLiveHistory(t, 2, false), drawLiveHistory(t, 3, false)}
		b := historyBatch(t, s, all[:rapid.IntRange(1, 3).Draw(t, "partitions")])
		p := rapid.IntRange(0, b.NumPartitions()-1).Draw(t, "partition")
		first, end := b.PartitionRows(p)
		from := rapid.IntRange(first, end).Draw(t, "from")
		to := rapid.IntRange(from, end).Draw(t, "to")
		want := NewBatch(s)
		want.Clear()
		require.NoError(t, want.AppendParts(b, first, first, p, p+1))
		require.NoError(t, want.AppendParts(b, from, to, p, p))
		b.Cut(p, from, to)
		require.NoError(t, b.Check())
		require.Equal(t, want.Clone(), b.Clone())
		other := NewBatch(s)
		other.BeginPartition([]byte("other"))
		other.Swap(b)
		require.NoError(t, other.SetKey([]byte("another")))
		other.BeginPartition([]byte("third"))
		require.NoError(t, other.SetKey([]byte("another")))
		require.Equal(t, "third", string(other.Key(1)))
		require.NoError(t, want.keys.Append([]byte("another")))
		require.Equal(t, want.Key(1), other.Key(0))
		require.Equal(t, "other", string(b.Key(0)))
		require.Equal(t, to-from, other.Len())
	})
}
