package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// SSTables of system_schema name columns: given as a folder or a file, or beside
// the keyspace in a data folder; a schema.cql goes before them.
func TestSystemSchema(t *testing.T) {
	root := "../../../../shared/testdata/sstables/pcass-me"
	if _, err := os.Stat(root); err != nil {
		t.Skip("no ../shared/testdata")
	}
	song := filepath.Join(root, "songs/me-1-big-Data.db")
	out, _ := run(t, 0, "cassandra", "schema", song, "--schema", root)
	require.Contains(t, out, "title  text")
	columns, err := filepath.Glob(filepath.Join(root, "system_schema.columns", "*-Data.db"))
	require.NoError(t, err)
	data := t.TempDir()
	place := func(keyspace, table, from string) string {
		dir := filepath.Join(data, keyspace, table+"-"+strings.Repeat("0", 32))
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.CopyFS(dir, os.DirFS(from)))
		return dir
	}
	songs := place("sina_test", "songs", filepath.Join(root, "songs"))
	for _, table := range []string{"columns", "tables", "types"} {
		place("system_schema", table, filepath.Join(root, "system_schema."+table))
	}
	out, _ = run(t, 0, "cassandra", "schema", songs)
	require.Contains(t, out, "title  text")
	require.Contains(t, out, "system_schema, found beside the SSTable")
	out, errs := run(t, 0, "convert", data, "-o", filepath.Join(t.TempDir(), "out")+"/")
	require.Contains(t, errs, "1 input converted", out)
	script := filepath.Join(songs, "schema.cql")
	require.NoError(t, os.WriteFile(script, []byte("CREATE TABLE sina_test.songs (name text PRIMARY KEY)"), 0o600))
	out, _ = run(t, 0, "cassandra", "schema", songs)
	require.Contains(t, out, "name  text")
	_, errs = run(t, 2, "query", filepath.Join(root, "users"), "--schema", columns[0])
	require.Contains(t, errs, "none of them is known to be that of")
	users := filepath.Join(root, "twenty_rows_composite_table")
	_, errs = run(t, 2, "query", users, "--schema", users)
	require.Contains(t, errs, "has no schema: expected a CQL script, or SSTables of system_schema")
	_, errs = run(t, 2, "convert", script, "-o", filepath.Join(t.TempDir(), "x.csst"), "--input-format", "csv", "--schema", root)
	require.Contains(t, errs, "holds SSTables, whose schema is for others")
}
