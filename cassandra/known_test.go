package cassandra

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// openOnly opens a real SSTable by the folder it lies in.
func openOnly(t *testing.T, folder string) *SSTable {
	fixtures(t)
	paths, err := filepath.Glob(filepath.Join(fixtureDir, folder, "*-Data.db"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	s, err := Open(paths[0])
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// openFixture opens one and reads it as the objects of dump.
func openFixture(t *testing.T, folder string) (*SSTable, []object) {
	s := openOnly(t, folder)
	partitions := dump(t, s)
	for i := range partitions {
		partitions[i] = normal(partitions[i]).(object)
	}
	return s, partitions
}

func items(p object) []any { return p["items"].([]any) }

// cell is the value of a column in a row; nil: it has none.
func cell(row any, name string) any {
	for _, c := range row.(object)["cells"].([]any) {
		if c := c.(object); c["name"] == name {
			return c["value"]
		}
	}
	return nil
}

// What Cassandra's own tests put into the tables of each version.
func TestKnownLegacyTables(t *testing.T) {
	clustering := strings.Repeat("0123456789", 120)
	for _, v := range []string{"me", "na", "nb", "nc", "oa", "da"} {
		folder := "apache-cassandra-" + v + "/legacy_" + v + "_"
		_, simple := openFixture(t, folder+"simple")
		_, counter := openFixture(t, folder+"simple_counter")
		require.Len(t, simple, 5)
		for i := range 5 {
			require.Equal(t, fmt.Sprint(i), simple[i]["key"])
			require.Equal(t, "foo bar baz", cell(items(simple[i])[0], "val"))
			c := cell(items(counter[i])[0], "val").(object)
			require.Equal(t, "1", c["$counter"])
			require.Len(t, c["shards"], 1)
			require.Equal(t, "global", c["shards"].([]any)[0].(object)["kind"])
		}
		for _, kind := range []string{"clust", "clust_counter"} {
			_, table := openFixture(t, folder+kind)
			require.Len(t, table, 5)
			first := cell(items(table[0])[0], "val")
			for _, p := range table {
				require.Len(t, items(p), 50)
				seen := map[string]bool{}
				for _, row := range items(p) {
					ck := row.(object)["ck"].([]any)[0].(string)
					require.True(t, strings.HasSuffix(ck, clustering))
					seen[strings.TrimSuffix(ck, clustering)] = true
					if kind == "clust" {
						require.Equal(t, first, cell(row, "val"))
					} else {
						require.Equal(t, "1", cell(row, "val").(object)["$counter"])
					}
				}
				require.Len(t, seen, 50)
			}
			if kind == "clust" {
				require.Len(t, first, 128)
			}
		}
	}
	for _, v := range []string{"me", "na"} { // compact tables: values in static columns, no liveness
		_, table := openFixture(t, "apache-cassandra-"+v+"/legacy_"+v+"_simple_compact")
		for _, p := range table {
			require.Empty(t, items(p))
			require.Equal(t, "foo bar baz", cell(p["static"], "val"))
		}
		_, table = openFixture(t, "apache-cassandra-"+v+"/legacy_"+v+"_clust_compact")
		for _, p := range table {
			for _, row := range items(p) {
				require.NotContains(t, row, "liveness")
			}
		}
	}
}

// One table through each compressor, values by rule.
func TestKnownTypes(t *testing.T) {
	for _, name := range []string{"partition_key_with_values_of_different_types", "types_lz4", "types_snappy", "types_deflate", "types_zstd"} {
		folder := "scylladb-mc/" + name
		_, table := openFixture(t, folder)
		require.Len(t, table, 5)
		for _, p := range table {
			var i int
			_, err := fmt.Sscan(p["key"].(string), &i)
			require.NoError(t, err)
			row := items(p)[0]
			want := object{
				"bool_val": i%2 == 1, "double_val": 0.11 * float64(i), "float_val": float64(float32(0.1 * float64(i))),
				"int_val": fmt.Sprint(i), "long_val": fmt.Sprint(11 * i), "text_val": fmt.Sprintf("variable length text %d", i),
				"timeuuid_val": "50554d6e-29bb-11e5-b345-feff819cdc9f", "uuid_val": "01234567-0123-0123-0123-0123456789ab",
			}
			for column, value := range want {
				if f, ok := value.(float64); ok {
					require.InDelta(t, f, cell(row, column), 1e-7)
					continue
				}
				require.Equal(t, value, cell(row, column), column)
			}
		}
	}
}

// Sparse and dense rows of 64 columns.
func TestKnownSubsets(t *testing.T) {
	val := func(from, to, minus int) object {
		o := object{}
		for i := from; i <= to; i++ {
			o[fmt.Sprintf("val%d", i)] = fmt.Sprint(i - minus)
		}
		return o
	}
	without := func(o object, n int) object { delete(o, fmt.Sprintf("val%d", n)); return o }
	for folder, want := range map[string]map[string]object{
		"large_subset_of_columns_sparse": {
			"1": {"val1": "11"}, "2": {"val2": "22", "val5": "222", "val6": "2222", "val7": "22222", "val60": "222222"},
			"3": {"val32": "33", "val33": "333"}, "4": val(1, 31, 0), "5": val(34, 64, 33),
		},
		"large_subset_of_columns_dense": {
			"1": without(val(1, 64, 0), 29), "2": without(val(1, 64, 0), 1), "3": without(val(1, 64, 0), 64), "4": val(1, 32, 0), "5": val(33, 64, 32),
		},
	} {
		_, table := openFixture(t, "scylladb-mc/"+folder)
		require.Len(t, table, len(want))
		for _, p := range table {
			got := object{}
			for _, c := range items(p)[0].(object)["cells"].([]any) {
				got[c.(object)["name"].(string)] = c.(object)["value"]
			}
			require.Equal(t, want[p["key"].(string)], got, "%s, key %s", folder, p["key"])
		}
	}
}

// Larger ones, by rule.
func TestKnownLargeTables(t *testing.T) {
	s := openOnly(t, "scylladb-mc/write_many_deleted_partitions")
	r, err := s.Scan()
	require.NoError(t, err)
	seen := map[uint32]bool{}
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		if e == PartitionBegin {
			seen[binary.BigEndian.Uint32(r.Partition().Key)] = true
			require.Equal(t, rowgroup.Deletion{MarkedForDeleteAt: 1525385507816568, LocalDeletionTime: 1525385507}, r.Partition().Deletion)
		}
	}
	require.NoError(t, r.Close())
	require.Len(t, seen, 65536)

	_, table := openFixture(t, "scylladb-mc/skip_using_index_rows")
	require.Len(t, table, 2)
	for _, p := range table {
		key := p["key"].(string)
		require.Equal(t, map[string]string{"1": "777", "2": "999"}[key], cell(p["static"], "st"))
		require.Len(t, items(p), 1024)
		for i, row := range items(p) {
			require.Equal(t, []any{fmt.Sprint(i)}, row.(object)["ck"])
			require.Equal(t, strings.Repeat("b", 1024)+fmt.Sprint(i), cell(row, "rc"))
			require.Equal(t, map[string]string{"1": "1525385507816568", "2": "1525385507816578"}[key], row.(object)["liveness"].(object)["ts"])
		}
	}

	s = openOnly(t, "scylladb-mc/slicing_interleaved_rows_and_rts")
	r, err = s.Scan()
	require.NoError(t, err)
	number := func(b []byte) int { return int(binary.BigEndian.Uint32(b)) }
	count := 0
	for e, err := r.Next(); err == nil; e, err = r.Next() {
		i := 1 + count/3*5 // DELETE [i, i+4], INSERT (i+3, i+3)
		switch {
		case e == StaticRow:
			require.Equal(t, 555, number(r.Row().Cells[0].Value))
		case e == ClusteringRow:
			row := r.Row()
			if count%3 != 1 || number(row.Clustering[0]) != i+3 || number(row.Clustering[1]) != i+3 || number(row.Cells[0].Value) != i+3 {
				t.Fatal(count, row)
			}
			count++
		case e == RangeMarker:
			if m := r.Marker(); count%3 == 1 || len(m.Values) != 1 || number(m.Values[0]) != i+2*(count%3) {
				t.Fatal(count, m)
			}
			count++
		}
	}
	require.NoError(t, r.Close())
	require.Equal(t, 26215+52430, count)

	s, table = openFixture(t, "instaclustr-transformer-oa/id_only_10000")
	require.Equal(t, int64(10), int64(len(s.Data.Compression.Offsets)))
	require.Len(t, table, 10000)
	ids := map[string]bool{}
	for _, p := range table {
		ids[p["key"].(string)] = true
		require.Empty(t, items(p)[0].(object)["cells"])
	}
	require.Len(t, ids, 10000)
}

// Local deletion times that overflowed, with their bits.
func TestKnownNegativeDeletionTimes(t *testing.T) {
	const expiry = -2146700401 // of a TTL of 20 years; one second apart between tables is fine
	for i := 1; i <= 4; i++ {
		paths, err := filepath.Glob(filepath.Join(fixtureDir, fmt.Sprintf("apache-cassandra-negative-expiration-mc/*table%d*", i)))
		require.NoError(t, err)
		if len(paths) == 0 {
			fixtures(t)
		}
		require.Len(t, paths, 1)
		s, _ := openFixture(t, strings.TrimPrefix(filepath.ToSlash(paths[0]), fixtureDir+"/"))
		r, err := s.Scan()
		require.NoError(t, err)
		events, err := collect(r.BodyReader)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		cells := 0
		for _, e := range events {
			row := &e.Row
			if row.Liveness == rowgroup.LivenessExpiring {
				require.InDelta(t, expiry, row.ExpirationTime, 1e6)
				require.Equal(t, int32(630720000), row.TTL)
			}
			all := row.Cells
			for _, x := range row.Complex {
				all = append(all, x.Cells...)
			}
			for _, c := range all {
				if c.Kind == rowgroup.CellExpiring {
					require.Negative(t, c.LocalDeletionTime)
					cells++
				}
			}
		}
		require.NotZero(t, cells)
	}
	s, table := openFixture(t, "apache-cassandra-negative-ldt-nc/invalid_partition_deletion")
	require.Equal(t, "nc", string(s.Version))
	found := false
	for _, p := range table {
		if d, ok := p["deletion"].(object); ok {
			found = true
			require.Equal(t, "-1", d["ldt"])
		}
	}
	require.True(t, found)
}

// Clustering beyond 32 columns: two headers of values.
func TestKnownLargeClustering(t *testing.T) {
	_, table := openFixture(t, "scylladb-mc/write_large_clustering_key")
	ck := items(table[0])[0].(object)["ck"].([]any)
	require.Len(t, ck, 35)
	for i, v := range ck {
		if i%2 == 0 {
			require.Equal(t, fmt.Sprint(i+1), v)
		} else {
			require.Equal(t, "", v)
		}
	}
}
