package textfmt

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// schemaText is a schema in a line.
func schemaText(s *rowgroup.Schema) string {
	var parts []string
	for i := range s.NumColumns() {
		c := s.Column(i)
		desc := ""
		if c.Desc {
			desc = " desc"
		}
		parts = append(parts, fmt.Sprintf("%s %s %s%s", s.Role(i), c.Name, c.Type, desc))
	}
	return strings.Join(parts, "; ")
}

func TestParseSchema(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{
			`-- a script
CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
USE ks;
/* the table */ CREATE TABLE IF NOT EXISTS ks."Metrics" (
    host text, "Core" int, // which
    time timestamp, seq bigint,
    owner text STATIC,
    value double, tags frozen<map<text, text>>, pos tuple<int, frozen<list<date>>>, v vector<float, 3>, t2 timestamp(us),
    PRIMARY KEY ((host, "Core"), time, seq)
) WITH CLUSTERING ORDER BY (time DESC, seq ASC)
    AND comment = 'it''s; a (comment' AND compaction = {'class': 'X', 'and': 'y'} AND gc_grace_seconds = 864000;
CREATE INDEX ON ks."Metrics" (value);`,
			"partition_key host text; partition_key Core int; clustering time timestamp(ms) desc; clustering seq bigint; static owner text; regular value double; " +
				"regular tags frozen<map<text,text>>; regular pos tuple<int,frozen<list<date>>>; regular v vector<float,3>; regular t2 timestamp(us)",
		},
		{"create table T (K uuid primary key, V blob)", "partition_key k uuid; regular v blob"},
		{"create table t (a int, b int, c text, primary key (a, b))", "partition_key a int; clustering b int; regular c text"},
		{`{"columns":[{"name":"v","type":"double"},{"name":"t","type":"timestamp(us)","role":"clustering","desc":true},{"name":"h","type":"text","role":"partition_key"},
			{"name":"$write_time","type":"timestamp(us)","role":"metadata"},{"name":"s","type":"int","role":"static"}],"rows":5}`,
			"partition_key h text; clustering t timestamp(us) desc; static s int; regular v double"},
	} {
		s, err := ParseSchema([]byte(byteOrderMark+c.in), "f.cql")
		require.NoError(t, err)
		require.Equal(t, c.want, schemaText(s))
		require.False(t, s.Multiset())
	}
	s, err := ParseSchema([]byte(`{"columns":[{"name":"v","type":"double","role":"partition_key"}],"order":"murmur3","multiset":true}`), "")
	require.NoError(t, err)
	require.Equal(t, "murmur3", s.Order())
	require.True(t, s.Multiset())
}

func TestParseSchemaErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", "f:1:1: expected CREATE TABLE, found the end of the text"},
		{"create table", "f:1:13: expected a name, found the end of the text"},
		{"create table t", "f:1:15: expected an opening parenthesis, found the end of the text"},
		{"create table t (a int)", "f:1:22: expected one PRIMARY KEY, found \")\""},
		{"create table t (a int primary key, primary key (a))", "expected one PRIMARY KEY"},
		{"create table t (\n  a inet6 primary key)", "f:2:5: expected a type, found type \"inet6\", byte 5: unknown type \"inet6\""},
		{"create table t (a, b int)", "f:1:18: expected a type, found \",\""},
		{"create table t (a int primary key", "f:1:34: expected a comma or closing parenthesis, found the end of the text"},
		{"create table t (a int, primary key a)", "f:1:36: expected an opening parenthesis, found \"a\""},
		{"create table t (a int, primary key (a b))", "f:1:39: expected a comma or closing parenthesis, found \"b\""},
		{"create table t (a int, primary key ((a b)))", "f:1:40: expected a comma or closing parenthesis, found \"b\""},
		{"create table t (a int, primary key (b))", `f: PRIMARY KEY: there is no column "b"`},
		{"create table t (a int primary key) oops", "f:1:36: expected WITH or a semicolon, found \"oops\""},
		{"create table t (a int primary key) with clustering order by (b)", `f: CLUSTERING ORDER BY: "b" is no clustering column`},
		{"create table t (a int primary key) with clustering order by b", "f:1:61: expected an opening parenthesis, found \"b\""},
		{"create table t (l list<int> primary key)", `column "l": a key column of type list<int> must be frozen`},
		{"create table t (a int primary key); create table u (b int primary key)", "expected one table only, found \"table\""},
		{"create table t (\"a", "f:1:17: expected a quote that closes the one here, found the end of the text"},
		{"/* create table", "f:1:1: expected a comment that ends, found the end of the text"},
		{"{", "f:1:1: expected a schema in JSON, found unexpected end of JSON input"},
		{"{\"columns\":\n[1]}", "f:2:2: expected a schema in JSON, found json: cannot unmarshal"},
		{`{"columns":[{"name":"v","type":"x"}]}`, `f: column "v": rowgroup: type "x"`},
		{`{"columns":[{"name":"v","type":"int","role":"key"}]}`, `f: column "v": role "key"; expected partition_key, clustering, static or regular`},
		{`{"columns":[{"type":"int"}]}`, `f: column 1 has no name`},
	} {
		_, err := ParseSchema([]byte(c.in), "f")
		require.ErrorContains(t, err, c.want, c.in)
	}
}

func FuzzParseSchema(f *testing.F) {
	f.Add(`CREATE TABLE a.b (c int, d frozen<list<text>> static, PRIMARY KEY ((c), e)) WITH CLUSTERING ORDER BY (e DESC) AND x = 'y';`)
	f.Add(`{"columns":[{"name":"v","type":"double","role":"clustering"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchema([]byte(text), "f")
		if err != nil {
			return
		}
		// What was read says the same as JSON.
		type column struct {
			Name, Type, Role string
			Desc             bool
		}
		var out struct {
			Columns  []column
			Order    string
			Multiset bool
		}
		out.Order, out.Multiset = s.Order(), s.Multiset()
		for i := range s.NumColumns() {
			c := s.Column(i)
			out.Columns = append(out.Columns, column{c.Name, c.Type.String(), s.Role(i).String(), c.Desc})
		}
		b, err := json.Marshal(out)
		require.NoError(t, err)
		again, err := ParseSchema(b, "f")
		if utf8.ValidString(text) {
			require.NoError(t, err)
			require.True(t, s.Equal(again), "%s", b)
		}
	})
}
