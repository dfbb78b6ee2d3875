package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The committed SSTables that Cassandra made read as Cassandra read them.
func TestFresh(t *testing.T) {
	paths, err := filepath.Glob("../../../cassandra/testdata/fresh/*/*-Data.db")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		theirs, err := os.ReadFile(filepath.Join(filepath.Dir(path), "cassandra.txt"))
		require.NoError(t, err)
		outcome, detail, _ := compare(path, theirs, exception{})
		require.Equal(t, equal, outcome, "%s: %s", path, detail)
	}
}

// What differs is found, but for times that have overflowed.
func TestDifference(t *testing.T) {
	for _, test := range []struct {
		ours, theirs string
		overflowed   bool
		n            int
		detail       string
	}{
		{ours: "a 1\nb 2\n", theirs: "a 1\nb 2\n"},
		{ours: "a 1\n", theirs: "a 2\n", detail: "line 1: a 1; Cassandra: a 2"},
		{ours: "a 1\n", theirs: "a 1\nb", detail: "line 2: ; Cassandra: b"},
		{ours: "a", theirs: "a\nb", detail: "line 2: Cassandra goes on: b"},
		{ours: "a\nb", theirs: "a", detail: "line 2: Cassandra has ended: b"},
		{ours: "a -5 x1", theirs: "a 4294967294 x1", overflowed: true, n: 1},
		{ours: "a -5 x1", theirs: "a 4294967294 x1", detail: "line 1: a -5 x1; Cassandra: a 4294967294 x1"},
		{ours: "a x5", theirs: "a 4294967294", overflowed: true, detail: "line 1: a x5; Cassandra: a 4294967294"},
	} {
		n, detail := difference(test.ours, test.theirs, test.overflowed)
		require.Equal(t, test.detail, detail)
		require.Equal(t, test.n, n)
	}
}
