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
		b := historyBatch(t, s, []history{drawLiveHistory(t, 1, false)})
		from := rapid.IntRange(0, b.Len()).Draw(t, "from")
		to := rapid.IntRange(from, b.Len()).Draw(t, "to")
		want := NewBatch(s)
		want.Clear()
		require.NoError(t, want.AppendParts(b, 0, 0, 0, 1))
		require.NoError(t, want.AppendParts(b, from, to, 0, 0))
		b.Cut(from, to)
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
