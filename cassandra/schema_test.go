package cassandra

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func schemaLine(s *rowgroup.Schema) string {
	var parts []string
	for i := range s.NumColumns() {
		c := s.Column(i)
		part := s.Role(i).String() + " " + c.Name + " " + c.Type.String()
		if c.Desc {
			part += " desc"
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ") + "; " + s.Order()
}

// sstableOf is an SSTable that has a header alone.
func sstableOf(tb testing.TB, key string, clustering, static, regular []string) *SSTable {
	return &SSTable{
		Descriptor: Descriptor{Version: "nb", ID: "1"}, Dir: "d", Header: makeHeader(tb, key, clustering, static, regular),
		Statistics: &StatisticsFile{Validation: &Validation{Partitioner: partitionerPrefix + murmur3Partitioner}},
	}
}

// Without a schema the columns of the key have names of their own, which never
// are those of others.
func TestSchemaWithoutNames(t *testing.T) {
	s := sstableOf(t, "CompositeType("+marshal+"Int32Type,"+marshal+"UTF8Type)", []string{"ReversedType(" + marshal + "TimestampType)", "UTF8Type"},
		[]string{"ck1 Int32Type"}, []string{"key1 Int32Type", "key1_ Int32Type", " EmptyType", "$x BytesType", "_ BytesType"})
	x, err := s.Schema(nil)
	require.NoError(t, err)
	require.Equal(t, "partition_key key1__ int; partition_key key2 text; clustering ck1_ timestamp(ms) desc; clustering ck2 text; static ck1 int; "+
		"regular _ empty; regular _$x blob; regular __ blob; regular key1 int; regular key1_ int; murmur3", schemaLine(x))
}

func TestSchemaNames(t *testing.T) {
	s := sstableOf(t, "Int32Type", []string{"ReversedType(" + marshal + "TimestampType)"}, []string{"s Int32Type"},
		[]string{"v DoubleType", "old UTF8Type", "l ListType(" + marshal + "Int32Type)", "u FrozenType(" + marshal + "UserType(ks,75,61:" + marshal + "Int32Type))"})
	parse := func(body string) *Table {
		list, err := ParseSchema([]byte("CREATE TYPE ks.u (a int, b text); CREATE TABLE ks.t ("+body), "schema.cql")
		require.NoError(t, err)
		return list[0]
	}
	const order = " WITH CLUSTERING ORDER BY (c DESC)"
	x := parse("k int, c timestamp, s int static, v double, l list<int>, u frozen<u>, new int, PRIMARY KEY (k, c))" + order)
	require.NoError(t, s.contradiction(x))
	require.Equal(t, []string{"old"}, s.Unknown(x))
	for body, want := range map[string]string{
		"k int, j int, c timestamp, PRIMARY KEY ((k, j), c))" + order: "2 columns of the partition key in the schema, 1 in the header (int)",
		"k text, c timestamp, PRIMARY KEY (k, c))" + order:            `partition key column "k" is text in the schema, int in the header`,
		"k int PRIMARY KEY)":                                                   "0 clustering columns in the schema, 1 in the header",
		"k int, c timestamp, PRIMARY KEY (k, c))":                              `clustering column "c" is timestamp(ms) in the schema, timestamp(ms) descending in the header`,
		"k int, c timestamp, s int, PRIMARY KEY (k, c))" + order:               `column "s" is static in one and regular in the other`,
		"k int, c timestamp, v float, PRIMARY KEY (k, c))" + order:             `column "v" is float in the schema, double in the header`,
		"k int, c timestamp, l frozen<list<int>>, PRIMARY KEY (k, c))" + order: `column "l" is frozen<list<int>> in the schema, list<int> in the header`,
		"k int, c timestamp, u u, PRIMARY KEY (k, c))" + order:                 `column "u" is udt<ks.u{a:int,b:text}> in the schema, frozen<udt<ks.u{a:int}>> in the header`,
		"k int, c timestamp, u frozen<list<int>>, PRIMARY KEY (k, c))" + order: `column "u" is frozen<list<int>> in the schema, frozen<udt<ks.u{a:int}>> in the header`,
	} {
		_, err := s.Schema(parse(body))
		require.ErrorContains(t, err, want, body)
		require.ErrorContains(t, err, "schema.cql contradicts d/nb-1-big-Statistics.db")
	}
	frozen, known := x.FrozenUDTs()
	require.True(t, frozen && known)
}

// The schemas beside real SSTables name their columns.
func TestFixtureSchemas(t *testing.T) {
	fixtures(t)
	for _, folder := range []string{"datastax-sstable-to-arrow-md/iot", "pcass-me/*"} {
		paths, err := filepath.Glob(filepath.Join(fixtureDir, folder, "*-Data.db"))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, path := range paths {
			text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "schema.cql"))
			if err != nil {
				text, err = os.ReadFile(filepath.Join(filepath.Dir(path), "..", "schema.cql"))
			}
			require.NoError(t, err)
			tables, err := ParseSchema(text, "schema.cql")
			require.NoError(t, err)
			s, err := Open(path)
			require.NoError(t, err)
			name := filepath.Base(filepath.Dir(path))
			found := strings.HasPrefix(name, "system") // whose tables no script has
			for _, x := range tables {
				if x.Name == name || len(tables) == 1 {
					found = true
					require.NoError(t, s.contradiction(x), name)
				}
			}
			require.True(t, found, name)
			require.NoError(t, s.Close())
		}
	}
}
