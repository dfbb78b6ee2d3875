package cassandra

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/stretchr/testify/require"
)

// trieEntry is a prefix and the payload behind its node.
type trieEntry struct {
	prefix  []byte
	flags   byte
	payload []byte
}

// appendTrie appends the nodes of a trie of entries in order, children first,
// and returns where its root begins. kinds says which type of node is taken
// for one of several that can hold it; nil: the smallest.
func appendTrie(dst []byte, entries []trieEntry, kinds func(possible []int) int) ([]byte, int64) {
	if kinds == nil {
		kinds = func(possible []int) int { return possible[0] }
	}
	return appendNode(dst, entries, 0, kinds)
}

func appendNode(dst []byte, entries []trieEntry, depth int, kinds func([]int) int) ([]byte, int64) {
	var own trieEntry
	if len(entries) > 0 && len(entries[0].prefix) == depth {
		own, entries = entries[0], entries[1:]
	}
	type edge struct {
		b  byte
		at int64
	}
	var edges []edge
	for len(entries) > 0 {
		b := entries[0].prefix[depth]
		n := 0
		for n < len(entries) && entries[n].prefix[depth] == b {
			n++
		}
		var at int64
		dst, at = appendNode(dst, entries[:n], depth+1, kinds)
		edges = append(edges, edge{b, at})
		entries = entries[n:]
	}
	start := int64(len(dst))
	longest, span := uint64(0), 0
	for _, e := range edges {
		longest = max(longest, uint64(start-e.at))
	}
	if len(edges) > 0 {
		span = int(edges[len(edges)-1].b-edges[0].b) + 1
	}
	var possible []int
	for kind, width := range pointerWidths {
		switch {
		case kind == 0 && len(edges) == 0,
			kind == 1 && len(edges) == 1 && own.flags == 0 && longest < 16,
			kind == 3 && len(edges) == 1 && own.flags == 0 && longest < 1<<12,
			(kind == 2 || kind == 4) && len(edges) == 1 && bits.Len64(longest) <= width,
			kind >= 5 && kind <= 9 && len(edges) > 0 && len(edges) < 256 && bits.Len64(longest) <= width,
			kind >= 10 && len(edges) > 0 && bits.Len64(longest) <= width:
			possible = append(possible, kind)
		}
	}
	kind := kinds(possible)
	width := pointerWidths[kind]
	dst = append(dst, byte(kind<<4)|own.flags)
	var distances []uint64
	switch {
	case kind == 1:
		dst[start] |= byte(longest)
		dst = append(dst, edges[0].b)
	case kind == 3:
		dst[start] |= byte(longest >> 8)
		dst = append(dst, byte(longest), edges[0].b)
	case kind >= 10:
		dst = append(dst, edges[0].b, byte(span-1))
		distances = make([]uint64, span)
		for _, e := range edges {
			distances[e.b-edges[0].b] = uint64(start - e.at)
		}
	case kind > 0:
		if kind >= 5 {
			dst = append(dst, byte(len(edges)))
		}
		for _, e := range edges {
			dst = append(dst, e.b)
			distances = append(distances, uint64(start-e.at))
		}
	}
	for i, d := range distances {
		switch {
		case width == 12 && i%2 == 0:
			dst = append(dst, byte(d>>4), byte(d<<4))
		case width == 12:
			dst[len(dst)-1] |= byte(d >> 8)
			dst = append(dst, byte(d))
		default:
			b := binary.BigEndian.AppendUint64(nil, d)
			dst = append(dst, b[8-width/8:]...)
		}
	}
	return append(dst, own.payload...), start
}

// appendSigned appends v in as few bytes as its sign allows.
func appendSigned(dst []byte, v int64) (out []byte, n byte) {
	n = byte(bits.Len64(uint64(v^v>>63))/8 + 1)
	b := binary.BigEndian.AppendUint64(nil, uint64(v))
	return append(dst, b[8-n:]...), n
}

// makeTries makes Partitions.db and Rows.db.
func makeTries(tb require.TestingT, files map[Component][]byte, x *table, entries []*madeEntry) {
	s, v := x.sstable(), x.version
	rows, all := []byte{}, make([][]byte, len(entries))
	for i, e := range entries {
		var err error
		all[i], err = s.comparableKey(nil, e.Key)
		require.NoError(tb, err)
	}
	common := func(i, k int) int {
		if i < 0 || k >= len(all) {
			return 0
		}
		n := 0
		for all[i][n] == all[k][n] {
			n++
		}
		return n
	}
	var keys []trieEntry
	for i, e := range entries {
		position := ^e.Position
		if e.Blocks != nil {
			rows, position = appendRows(rows, v, e)
		}
		t := trieEntry{prefix: all[i][:max(common(i-1, i), common(i, i+1))+1], payload: []byte{0xaa}}
		t.payload, t.flags = appendSigned(t.payload, position)
		t.flags += 7
		keys = append(keys, t)
	}
	files[ComponentRows] = rows
	out, root := appendTrie(nil, keys, nil)
	first := int64(len(out))
	for _, i := range []int{0, len(entries) - 1} {
		var key []byte
		if len(entries) > 0 {
			key = entries[i].Key
		}
		out = appendSbytes(out, key)
	}
	out = appendU64(appendU64(appendU64(out, uint64(first)), uint64(len(entries))), uint64(root))
	files[ComponentPartitions] = out
}

// appendRows appends the trie of a partition's blocks and its entry. Its
// separators are numbers, which is enough to go over them in order.
func appendRows(dst []byte, v Version, e *madeEntry) (out []byte, position int64) {
	blocks := slices.Clone(e.Blocks)
	blocks = append(blocks, IndexBlock{Offset: e.end})
	var list []trieEntry
	for i, b := range blocks {
		t := trieEntry{prefix: binary.BigEndian.AppendUint16(nil, uint16(i))}
		t.payload, t.flags = appendSigned(nil, b.Offset)
		if i < len(e.opens) && !e.opens[i].Live() {
			t.flags |= 8
			t.payload = appendPartitionDeletion(t.payload, v, e.opens[i])
		}
		list = append(list, t)
	}
	var root int64
	dst, root = appendTrie(dst, list, nil)
	position = int64(len(dst))
	dst = appendSbytes(dst, e.Key)
	base := int64(len(dst))
	dst = appendSvint(appendVint(dst, uint64(e.Position)), root-base)
	dst = appendVint(dst, uint64(len(e.Blocks)))
	return appendPartitionDeletion(dst, v, e.Deletion), position
}
