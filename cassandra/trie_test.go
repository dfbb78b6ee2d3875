package cassandra

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/encoding"
)

// A trie of any types of nodes yields its entries in order.
func TestTrieWalk(t *testing.T) {
	used := [16]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		letters := rapid.SampledFrom([][]byte{{0, 1}, {'a', 'b', 'c', 0xff}, nil}).Draw(rt, "letters")
		letter := rapid.Byte()
		if letters != nil {
			letter = rapid.SampledFrom(letters)
		}
		prefixes := rapid.SliceOfNDistinct(rapid.SliceOfN(letter, 1, 5), 1, 80, func(b []byte) string { return string(b) }).Draw(rt, "prefixes")
		slices.SortFunc(prefixes, bytes.Compare)
		var entries []trieEntry
		for i, p := range prefixes {
			e := trieEntry{prefix: p}
			e.payload, e.flags = appendSigned(nil, int64(i)*rapid.SampledFrom([]int64{-1, 1, 300, -70000, 1 << 40}).Draw(rt, "position"))
			entries = append(entries, e)
		}
		b, root := appendTrie(nil, entries, func(possible []int) int {
			kind := rapid.SampledFrom(possible).Draw(rt, "kind")
			used[kind] = true
			return kind
		})
		b = append(b, 0xee)
		tr := &trie{r: bytes.NewReader(b), size: int64(len(b)), part: ComponentPartitions}
		w := tr.walk(root)
		for i := range entries {
			n, err := w.next()
			require.NoError(rt, err)
			require.Equal(rt, entries[i].prefix, w.prefix)
			require.Equal(rt, entries[i].flags, n.flags)
			require.Equal(rt, entries[i].payload, n.payload[:n.flags])
		}
		_, err := w.next()
		require.ErrorIs(rt, err, io.EOF)

		for _, e := range entries { // and down by bytes
			n, err := tr.node(root)
			for _, x := range e.prefix {
				require.NoError(rt, err)
				n, err = tr.node(n.find(x))
			}
			require.NoError(rt, err)
			require.Equal(rt, e.payload, n.payload[:n.flags])
		}
	})
	for kind, ok := range used {
		require.True(t, ok, "no node of type %d", kind)
	}
}

// Numbers of damaged tries do not lead outside, in circles, or into trees that
// grow without end.
func TestTrieHostile(t *testing.T) {
	twice := []byte{0x01, 7, 0x50, 2, 'a', 'b', 2, 2} // a payload, a node with two ways to it
	for range 60 {                                    // and so on: 2^61 ways
		twice = append(twice, 0x50, 2, 'a', 'b', 6, 6)
	}
	tests := []struct {
		name string
		b    []byte
		root int64
	}{
		{"empty", nil, 0},
		{"root outside", []byte{0x01, 7}, 2},
		{"negative root", []byte{0x01, 7}, -1},
		{"pointer before the start", []byte{0x01, 7, 0x20, 'a', 3}, 2},
		{"pointer to itself", []byte{0x20, 'a', 0}, 0},
		{"sparse node cut", []byte{0x50, 200, 1, 2}, 0},
		{"dense node cut", []byte{0xf0, 0, 255}, 0},
		{"dense node beyond byte 255", append([]byte{0xb0, 200, 100}, make([]byte, 300)...), 0},
		{"every node twice", twice, int64(len(twice)) - 6},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tr := &trie{r: bytes.NewReader(test.b), size: int64(len(test.b)), part: ComponentPartitions}
			w := tr.walk(test.root)
			for range 10_000 {
				_, err := w.next()
				require.False(t, errors.Is(err, io.EOF))
				if err != nil {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
					return
				}
			}
			t.Fatal("no end")
		})
	}
}

func TestComparableKey(t *testing.T) {
	tests := []struct{ key, want string }{
		{"\x22\x00", "\x22\x00\xfe"},
		{"\x22\x00\x00\x33", "\x22\x00\xfe\xff\x33\x00"},
		{"\x22\x00\x11", "\x22\x00\xff\x11\x00"},
		{"\x22\x00\x00", "\x22\x00\xfe\xfe"},
		{"", "\x00"},
		{"\x00", "\x00\xfe"},
	}
	for _, test := range tests {
		require.Equal(t, []byte(test.want), appendEscaped(nil, []byte(test.key)), "%x", test.key)
	}
}

// What Cassandra 5.0 makes of keys under RandomPartitioner.
func TestComparableRandomKey(t *testing.T) {
	s := &SSTable{Statistics: &StatisticsFile{Validation: &Validation{Partitioner: partitionerPrefix + randomPartitioner}}}
	for key, want := range map[string]string{
		"\x01\x00":         "40ff0925daad3d9e60b45043a70c4ab7d3b1c6400100fe38",
		"\x00\x00\x00\x15": "40ff089d30980aa408f62a12e0e7e7acbd174000fefeff150038",
	} {
		got, err := s.comparableKey(nil, []byte(key))
		require.NoError(t, err)
		require.Equal(t, want, hex.EncodeToString(got))
	}
}

// Comparable keys compare as the partitioner orders keys.
func TestComparableKeyOrder(t *testing.T) {
	for _, name := range []string{murmur3Partitioner, randomPartitioner, byteOrderedPartitioner} {
		s := &SSTable{Statistics: &StatisticsFile{Validation: &Validation{Partitioner: partitionerPrefix + name}}}
		order, err := s.keyOrder()
		require.NoError(t, err)
		rapid.Check(t, func(rt *rapid.T) {
			key := rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 0xfe, 0xff}), 0, 6)
			a, b := key.Draw(rt, "a"), key.Draw(rt, "b")
			want, ok := order.ComparePartitions(a, b)
			require.True(rt, ok)
			x, err := s.comparableKey(nil, a)
			require.NoError(rt, err)
			y, err := s.comparableKey(nil, b)
			require.NoError(rt, err)
			require.Equal(rt, want, bytes.Compare(x, y), "%s: %x and %x", name, x, y)
		})
	}
	s := &SSTable{Header: makeHeader(t, "Int32Type", nil, nil, nil), Statistics: &StatisticsFile{Validation: &Validation{Partitioner: partitionerPrefix + localPartitioner}}}
	_, err := s.comparableKey(nil, []byte("a"))
	require.ErrorIs(t, err, encoding.ErrUnsupported)
	require.Equal(t, "local(int)", s.Order())
}
