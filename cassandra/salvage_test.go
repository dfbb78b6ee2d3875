package cassandra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// manyPartitions is a table of n partitions p000, p001, ... of three rows.
func manyPartitions(tb testing.TB, v Version, n int) *table {
	h := makeHeader(tb, "BytesType", []string{"Int32Type"}, []string{"s Int32Type"}, []string{"v BytesType"})
	x := &table{version: v, header: h}
	src := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		x.events = append(x.events,
			event{Event: PartitionBegin, Partition: Partition{Key: fmt.Appendf(nil, "p%03d", i), Deletion: noDeletion(v)}},
			event{Event: StaticRow, Row: Row{Deletion: noDeletion(v), Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 1, Value: []byte{0, 0, 0, byte(i)}}}}})
		for k := range byte(3) {
			value := make([]byte, 20+src.IntN(30))
			for j := range value {
				value[j] = byte(src.Uint32())
			}
			x.events = append(x.events, event{Event: ClusteringRow, Row: Row{
				Clustering: [][]byte{{0, 0, 0, k}}, Liveness: rowgroup.LivenessLive, Timestamp: 1, Deletion: noDeletion(v),
				Cells: []Cell{{Kind: rowgroup.CellLive, Timestamp: 1, Value: value}},
			}})
		}
		x.events = append(x.events, event{Event: PartitionEnd})
	}
	return x
}

// without is x without the partitions of these keys.
func (x *table) without(keys map[string]bool) (list []event) {
	out := false
	for _, e := range x.events {
		if e.Event == PartitionBegin {
			out = keys[string(e.Partition.Key)]
		}
		if !out {
			list = append(list, e)
		}
	}
	return list
}

// openMade opens an SSTable of these files as a Source.
func openMade(t *testing.T, v Version, files map[Component][]byte, opts ...Option) *Source {
	s, err := Open(write(t, t.TempDir(), v, files), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	src, err := NewSource(s, nil)
	require.NoError(t, err)
	return src
}

// salvage is the bad partitions of src by key; those without one are "".
func salvage(t *testing.T, src *Source) map[string]*BadPartition {
	found := map[string]*BadPartition{}
	require.NoError(t, src.Salvage(t.Context(), func(p *BadPartition) error {
		require.LessOrEqual(t, p.Position, p.End)
		require.Error(t, p.Err)
		found[string(p.Key)] = p
		return nil
	}))
	return found
}

func keysOf(found map[string]*BadPartition) map[string]bool {
	keys := map[string]bool{}
	for k := range found {
		keys[k] = true
	}
	return keys
}

// scanned is what a scan of the SSTable yields.
func scanned(t *testing.T, s *SSTable) (list []event) {
	r, err := s.Scan()
	require.NoError(t, err)
	for {
		e, err := r.Next()
		if err != nil {
			require.ErrorContains(t, err, "EOF")
			break
		}
		list = append(list, r.clone(e))
	}
	require.NoError(t, r.Close())
	return list
}

// A chunk of Data.db is damaged: the partitions that have a part in it are left
// out whole, and no others, in every reading.
func TestSalvageChunk(t *testing.T) {
	const n = 40
	for _, v := range []Version{"nb", "da"} {
		for _, m := range []making{{compressor: "LZ4Compressor", chunkLength: 512, blockLength: 60}, {chunkLength: 512, blockLength: 60, summaryEvery: 3}} {
			x := manyPartitions(t, v, n)
			files := makeSSTable(t, x, m)
			ends := map[string][2]int64{}
			for i, e := range x.events {
				if e.Event == PartitionBegin {
					ends[string(e.Partition.Key)] = [2]int64{e.Partition.Position, int64(len(x.body(t)))}
					if i > 0 {
						last := fmt.Sprintf("p%03d", len(ends)-2)
						ends[last] = [2]int64{ends[last][0], e.Partition.Position}
					}
				}
			}
			for _, chunk := range []int{0, 3, 4, (len(x.body(t)) - 1) / 512} {
				spoilt := maps.Clone(files)
				spoilt[ComponentData] = bytes.Clone(files[ComponentData])
				src := openMade(t, v, spoilt)
				from, to := src.sst.Data.stored(chunk)
				spoilt[ComponentData][(from+to)/2] ^= 0x10
				require.NoError(t, os.WriteFile(src.sst.Path(ComponentData), spoilt[ComponentData], 0o600))
				want := map[string]bool{}
				for key, e := range ends {
					if e[0] < int64(chunk+1)*512 && e[1] > int64(chunk)*512 {
						want[key] = true
					}
				}
				found := salvage(t, src)
				require.Equal(t, want, keysOf(found))
				for _, p := range found {
					require.Equal(t, chunk, p.Chunk)
					require.Equal(t, from, p.Offset)
					require.False(t, p.Rest)
					require.ErrorContains(t, p.Err, fmt.Sprintf("chunk %d at %d: checksum", chunk, from))
				}
				left := x.without(want)
				sameEvents(t, left, scanned(t, src.sst))
				plain := openMade(t, v, makeSSTable(t, &table{version: v, header: x.header, events: left}, m))
				for _, o := range []rowgroup.ScanOptions{{}, {Desc: true}, {Live: true}} {
					src.limits.piece, src.limits.rows = 100, 5
					require.Equal(t, shown(t, plain.schema, plain.Scan(t.Context(), o), &o), shown(t, src.schema, src.Scan(t.Context(), o), &o))
				}
				for i := range n {
					key := fmt.Appendf(nil, "p%03d", i)
					bad := 0
					ok, err := src.SalvagePartition(t.Context(), key, func(p *BadPartition) error {
						bad++
						require.Equal(t, key, p.Key)
						return nil
					})
					require.NoError(t, err)
					require.Equal(t, !want[string(key)], ok)
					require.Equal(t, ok, bad == 0)
					_, err = src.Partition(t.Context(), key)
					if ok {
						require.NoError(t, err)
					} else {
						require.ErrorIs(t, err, encoding.ErrCorrupt)
					}
				}
			}
		}
	}
}

// Any bit of Data.db: what is left is as it was, unless no checksum could tell;
// then it is partitions that end where the index says.
func TestSalvageAnyBit(t *testing.T) {
	const n = 6
	for _, v := range []Version{"ma", "nb", "oa", "da"} {
		x := manyPartitions(t, v, n)
		for _, m := range []making{{compressor: "LZ4Compressor", chunkLength: 256}, {chunkLength: 256}} {
			files := makeSSTable(t, x, m)
			for _, sums := range []bool{true, false} {
				if !sums {
					if m.compressor != "" {
						continue
					}
					delete(files, ComponentCRC)
				}
				src := openMade(t, v, files)
				data := files[ComponentData]
				for at := 0; at < len(data); at += 1 + at%13 {
					spoilt := bytes.Clone(data)
					spoilt[at] ^= 1 << (at % 8)
					src.sst.Data.File = bytes.NewReader(spoilt)
					found := map[int64]bool{}
					require.NoError(t, src.Salvage(t.Context(), func(p *BadPartition) error {
						found[p.Position] = true
						return nil
					}))
					left := scanned(t, src.sst)
					if sums {
						require.NotEmpty(t, found)
						keys := map[string]bool{}
						for _, p := range partitionsOf(x.events) {
							keys[string(p.Key)] = found[p.Position]
						}
						sameEvents(t, x.without(keys), left)
						continue
					}
					require.LessOrEqual(t, len(found), 1)
					all := partitionsOf(x.events)
					for _, p := range partitionsOf(left) {
						require.True(t, slices.ContainsFunc(all, func(q Partition) bool {
							return p.Position == q.Position && bytes.Equal(p.Key, q.Key)
						}), "%s at %d", p.Key, p.Position)
					}
				}
			}
		}
	}
}

// Without an index, or with one that is damaged, all behind the place is left
// out; what can be read in spite of its contents does not need one.
func TestSalvageWithoutIndex(t *testing.T) {
	for _, v := range []Version{"nb", "da"} {
		x := manyPartitions(t, v, 10)
		files := makeSSTable(t, x, making{chunkLength: 256})
		files[ComponentData] = bytes.Clone(files[ComponentData])
		files[ComponentData][len(files[ComponentData])/2] ^= 1
		for _, damage := range []func(map[Component][]byte){
			func(f map[Component][]byte) { delete(f, ComponentIndex); delete(f, ComponentPartitions) },
			func(f map[Component][]byte) {
				f[ComponentIndex], f[ComponentPartitions] = make([]byte, 100), make([]byte, 100)
			},
		} {
			f := maps.Clone(files)
			damage(f)
			src := openMade(t, v, f)
			var rest *BadPartition
			require.NoError(t, src.Salvage(t.Context(), func(p *BadPartition) error {
				require.Nil(t, rest)
				rest = p
				return nil
			}))
			require.True(t, rest.Rest)
			require.Equal(t, src.sst.Data.Len(), rest.End)
			require.ErrorContains(t, rest.Err, "no index tells where the next partition begins")
			left := scanned(t, src.sst)
			require.NotEmpty(t, left)
			sameEvents(t, x.events[:len(left)], left)
		}
	}

	x := manyPartitions(t, "nb", 5)
	at := func(n int) *event { return &x.events[n*6] }
	x.events[1*6+3].Row.Cells[0] = Cell{Kind: rowgroup.CellTombstone, Timestamp: 1, LocalDeletionTime: 5, Value: []byte{1}} // no row can hold it
	at(3).Partition.Key = []byte("p0015")                                                                                   // out of order
	x.events[4*6+3].Row.Clustering = [][]byte{{0, 0, 0, 9}}
	files := makeSSTable(t, x, making{chunkLength: 256})
	delete(files, ComponentIndex)
	src := openMade(t, "nb", files)
	found := salvage(t, src)
	require.Equal(t, map[string]bool{"p001": true, "p0015": true, "p004": true}, keysOf(found))
	require.ErrorContains(t, found["p001"].Err, "a tombstone with a value of 1 bytes")
	require.ErrorContains(t, found["p0015"].Err, "out of order")
	require.ErrorContains(t, found["p004"].Err, "out of order")
	sameEvents(t, x.without(keysOf(found)), scanned(t, src.sst))
}

// A row with more cells of one column than rows can hold is named, and its
// partition left out.
func TestSalvageManyCells(t *testing.T) {
	h := makeHeader(t, "BytesType", []string{"Int32Type"}, nil, []string{"many SetType(" + marshal + "Int32Type)"})
	set := func(n int) Row {
		cells := make([]Cell, n)
		for i := range cells {
			cells[i] = Cell{Kind: rowgroup.CellLive, Timestamp: 1, Path: []byte{0, byte(i >> 16), byte(i >> 8), byte(i)}, Value: []byte{}}
		}
		return Row{Clustering: [][]byte{{0, 0, 0, 7}}, Liveness: rowgroup.LivenessNone, Complex: []ComplexColumn{{Deletion: noDeletion("nb"), Cells: cells}}}
	}
	x := oneTable("nb", h, set(rowgroup.MaxCells+1))
	more := oneTable("nb", h, set(rowgroup.MaxCells))
	more.events[0].Partition.Key = []byte("l")
	x.events = append(x.events, more.events...)
	src := openMade(t, "nb", makeSSTable(t, x, making{compressor: "LZ4Compressor", chunkLength: 65536}))
	found := salvage(t, src)
	require.Len(t, found, 1)
	require.ErrorIs(t, found["k"].Err, encoding.ErrUnsupported)
	require.ErrorContains(t, found["k"].Err, `column "many", row of clustering (00000007)`)
	require.ErrorContains(t, found["k"].Err, "65537 cells, more than 65536")
	require.Len(t, partitionsOf(scanned(t, src.sst)), 1)
}

// A file that has become shorter: what lies behind its end is listed by the
// keys of the index.
func TestSalvageCutShort(t *testing.T) {
	x := manyPartitions(t, "nb", 20)
	files := makeSSTable(t, x, making{compressor: "LZ4Compressor", chunkLength: 256})
	files[ComponentData] = files[ComponentData][:len(files[ComponentData])/2]
	src := openMade(t, "nb", files)
	found := salvage(t, src)
	require.NotContains(t, found, "")
	require.Greater(t, len(found), 5)
	left := scanned(t, src.sst)
	require.Len(t, partitionsOf(left), 20-len(found))
	sameEvents(t, x.without(keysOf(found)), left)
}

// The end of the reading by its context or by bad is an error, and nothing is
// left out then.
func TestSalvageEnds(t *testing.T) {
	x := manyPartitions(t, "nb", 5)
	files := makeSSTable(t, x, making{chunkLength: 256})
	files[ComponentData] = bytes.Clone(files[ComponentData])
	files[ComponentData][3] ^= 1
	src := openMade(t, "nb", files)
	stop := errors.New("stop")
	require.ErrorIs(t, src.Salvage(t.Context(), func(*BadPartition) error { return stop }), stop)
	require.Empty(t, src.sst.bad)
	_, err := src.SalvagePartition(t.Context(), []byte("p000"), func(*BadPartition) error { return stop })
	require.ErrorIs(t, err, stop)
	ok, err := src.SalvagePartition(t.Context(), []byte("none"), func(*BadPartition) error { return stop })
	require.NoError(t, err)
	require.True(t, ok)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, src.Salvage(ctx, func(*BadPartition) error { return nil }), context.Canceled)
}

// Data.db without checksums inside it is cut: every partition of which something
// is lost is told, also where the cut is between two.
func TestSalvageCut(t *testing.T) {
	const n = 12
	for _, v := range []Version{"nb", "da"} {
		x := manyPartitions(t, v, n)
		files := makeSSTable(t, x, making{chunkLength: 128, blockLength: 60})
		var begins []int64
		src := openMade(t, v, files)
		r, err := src.SSTable().Scan()
		require.NoError(t, err)
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			if e == PartitionBegin {
				begins = append(begins, r.Position())
			}
		}
		require.NoError(t, r.Close())
		require.Len(t, begins, n)
		for _, checked := range []bool{true, false} {
			cut := maps.Clone(files)
			whole := 5 // before the cut
			if !checked {
				delete(cut, ComponentCRC)
				cut[ComponentTOC] = bytes.ReplaceAll(cut[ComponentTOC], []byte("CRC.db\n"), nil)
			}
			for _, at := range []int64{begins[whole], begins[whole] + 1, begins[whole+1] - 1} {
				cut[ComponentData] = files[ComponentData][:at]
				src := openMade(t, v, cut)
				found := salvage(t, src)
				if v == "nb" { // whose index has all keys
					for i := whole; i < n; i++ {
						require.Contains(t, found, fmt.Sprintf("p%03d", i), "cut at %d, checked %t", at, checked)
					}
					if !checked {
						require.Len(t, found, n-whole)
					}
				}
				require.NotEmpty(t, found)
				for _, e := range scanned(t, src.SSTable()) {
					require.NotContains(t, found, string(e.Partition.Key))
				}
			}
		}
	}
}

// CRC.db tells of chunks that a file cut between two chunks does not have; one
// of no bytes at its end is none of them.
func TestChecksumsOfLostChunks(t *testing.T) {
	x := manyPartitions(t, "nb", 1)
	files := makeSSTable(t, x, making{chunkLength: 16})
	sound := bytes.Clone(files[ComponentData])
	files[ComponentCRC] = append(files[ComponentCRC], 0, 0, 0, 0)
	path := write(t, t.TempDir(), "nb", files)
	_, err := readAll(t, path)
	require.NoError(t, err)

	// As if the body ended there: the last partition of several.
	sum := crc32.ChecksumIEEE(sound)
	require.NotZero(t, sum)
	files[ComponentCRC] = appendU32((&Checksums{ChunkLength: len(sound), CRCs: []uint32{sum}}).Append(nil), 12345)
	path = write(t, t.TempDir(), "nb", files)
	_, err = readAll(t, path)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
	require.ErrorContains(t, err, "chunk 1")
}
