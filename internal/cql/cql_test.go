package cql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func text(t *Table) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s.%s", t.Keyspace, t.Name)
	for i, list := range [][]rowgroup.Column{t.PartitionKey, t.Clustering, t.Static, t.Regular} {
		for _, c := range list {
			fmt.Fprintf(&b, " | %s %s %s", rowgroup.Role(i), c.Name, c.Type)
			if c.Desc {
				b.WriteString(" desc")
			}
		}
	}
	for _, d := range t.Dropped {
		fmt.Fprintf(&b, " | dropped %s %s %t %d", d.Name, d.Type, d.Static, d.At)
	}
	return b.String()
}

func TestParse(t *testing.T) {
	s, err := Parse([]byte(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy'};
CREATE TYPE ks.address (street text, zips frozen<list<int>>);
CREATE TYPE ks.person (name text, home frozen<address>);
CREATE TABLE ks.users (
    id uuid, day date, who frozen<person> static, friends set<frozen<ks.person>>, live address, odd 'org.apache.cassandra.db.marshal.LexicalUUIDType',
    tags map<text, frozen<set<int>>>, v vector<float, 3>, gone int, gone_static text static,
    PRIMARY KEY (id, day)
) WITH ID = 5a1c395e-b41f-11e5-9f22-ba0be0483c18
    AND COMPACT STORAGE AND CLUSTERING ORDER BY (day DESC) AND comment = 'USE other; CREATE TABLE x';
ALTER TABLE ks.users DROP gone USING TIMESTAMP 1700000000000000;
ALTER TABLE ks.users DROP gone_static;
ALTER TABLE ks.users ADD again frozen<address>;
ALTER TABLE ks.users WITH gc_grace_seconds = 1;
USE other;
CREATE TABLE t (a int PRIMARY KEY);`), "f")
	require.NoError(t, err)
	require.Len(t, s.Tables, 2)
	const address = "udt<ks.address{street:text,zips:frozen<list<int>>}>"
	const person = "udt<ks.person{name:text,home:frozen<" + address + ">}>"
	require.Equal(t, "ks.users | partition_key id uuid | clustering day date desc | static who frozen<"+person+"> | regular friends set<frozen<"+person+">>"+
		" | regular live "+address+" | regular odd lexical_uuid | regular tags map<text,frozen<set<int>>> | regular v vector<float,3>"+
		" | regular again frozen<"+address+"> | dropped gone int false 1700000000000000 | dropped gone_static text true 0", text(s.Tables[0]))
	require.Equal(t, "5a1c395eb41f11e59f22ba0be0483c18", s.Tables[0].ID)
	require.True(t, s.Tables[0].Compact)
	require.Equal(t, "other.t | partition_key a int", text(s.Tables[1]))
	_, ok := s.Find("ks", "t")
	require.False(t, ok)
	x, ok := s.Find("", "t")
	require.True(t, ok)
	require.Same(t, s.Tables[1], x)
}

func TestParseErrors(t *testing.T) {
	const before = "create type a (x int); create table t ("
	for in, want := range map[string]string{
		before + "a b primary key)":                          `f:1:42: expected a type, found type "b", byte 1: unknown type "b"`,
		before + "a list<a primary key)":                     "expected a comma or >",
		before + "a map<int> primary key)":                   "expected a map of its arguments, found \"map<int>\"",
		before + "a vector<int, x> primary key)":             "expected a length",
		before + "a 'x(' primary key)":                       "expected a class",
		before + "l " + strings.Repeat("list<", 99) + "int)": "fewer types inside types",
		"create type a (x int":                               "expected a comma or closing parenthesis",
		"create type":                                        "expected a name",
		"create table t (a int primary key); alter table":    "expected a name",
		"create table t (a int primary key, b int); alter table t drop b using timestamp x": "expected a number",
	} {
		_, err := Parse([]byte(in), "f")
		require.ErrorContains(t, err, want, in)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("create type k.a (x int); create table k.t (a frozen<list<a>>, b a, primary key (a)) with compact storage and id = 1; alter table k.t drop b using timestamp 1")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse([]byte(text), "f")
		require.True(t, (s == nil) == (err != nil))
	})
}
