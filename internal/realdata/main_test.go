package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun(t *testing.T) {
	dir := t.TempDir()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("time;v\n2024-01-02;1,5\n2024-01-01;\"x;y\"\n2024-01-01;\n"))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	require.NoError(t, os.Mkdir(filepath.Join(dir, "sub"), 0o700))
	for name, content := range map[string]string{
		"a.csv": "timestamp,value\n2024-01-01 00:00:00,1.5\n2024-01-01 00:00:05,-0.0\n", "b.txt": "no CSV",
		"sub/c.csv.gz": packed.String(), "keyless.csv": "a\n3\n1\n2\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	var out bytes.Buffer
	ok, err := run(context.Background(), &out, dir)
	require.NoError(t, err)
	require.True(t, ok, out.String())
	require.Regexp(t, `8 .* 3 files, 0 failed`, out.String())
	require.Regexp(t, `sorted +sub.c.csv.gz`, out.String())

	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.csv"), []byte("a,b\n1\n"), 0o600))
	out.Reset()
	ok, err = run(context.Background(), &out, dir)
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, out.String(), "bad.csv: FAILED: bad.csv:2:")
}

// A folder without CSV files is a mistake.
func TestRunNothing(t *testing.T) {
	_, err := run(context.Background(), &bytes.Buffer{}, t.TempDir())
	require.ErrorContains(t, err, "no CSV files")
}

// Files of a manifest are read as it says, by the tool and by another reader.
func TestManifest(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the tool: not in short mode")
	}
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.csv": "d;c;v;s\n01.02.2024;10:00:00;1,5;x\n01.02.2024;09:00:00;NA;\"a\nb\"\n", "b.csv": "1,5,\n2,-0.0,\n", "c.f64": "\x00\x00\x00\x00\x00\x00\xf8\x7f\x01\x00\x00\x00\x00\x00\xf8\x7f",
		"dst.csv": "t,v\n2024-03-31 02:30:00,1\n2024-03-31 01:30:00,2\n2024-10-27 02:30:00,3\n",
		"MANIFEST.json": `[
{"path":"a.csv","fmt":"csv","sep":";","header":true,"null":["","NA"],"cols":[["d","text"],["c","text"],["v","text"],["s","text"]],"ts":{"columns":["d","c"],"layout":"02.01.2006 15:04:05","tz":"UTC"},"rows":2},
{"path":"b.csv","fmt":"csv","sep":",","header":false,"trailing_sep":true,"null":[""],"cols":[["t","timestamp"],["v","float"]],"ts":{"columns":["t"],"layout":"unix","unit":"ms","tz":"UTC"},"rows":2},
{"path":"dst.csv","fmt":"csv","sep":",","header":true,"null":[""],"cols":[["t","timestamp"],["v","int"]],"ts":{"columns":["t"],"layout":"2006-01-02 15:04:05","tz":"Europe/Berlin"},"rows":3},
{"path":"c.f64","fmt":"f64","cols":[["value","float"]],"rows":2}]`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
	}
	t.Chdir("../..")
	var out bytes.Buffer
	page, report := filepath.Join(dir, "page.md"), filepath.Join(dir, "out.json")
	ok, err := runManifest(context.Background(), &out, filepath.Join(dir, "MANIFEST.json"), report, page, "")
	require.NoError(t, err)
	require.True(t, ok, out.String())
	require.Contains(t, out.String(), "4 files, 4 equal")
	b, err := os.ReadFile(page)
	require.NoError(t, err)
	require.Contains(t, string(b), "| a.csv | 2 | ")
	require.Regexp(t, "to Parquet .*, [1-9][0-9]* bytes in all", string(b))
	b, err = os.ReadFile(report)
	require.NoError(t, err)
	require.Contains(t, string(b), `"command": "colsst convert b.csv -o OUT -q --separator , --header=false --names t,v --trailing-separator --null '' --type v=double --time t:ms --sort"`)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "b.csv"), []byte("1,5,\n"), 0o600))
	out.Reset()
	ok, err = runManifest(context.Background(), &out, filepath.Join(dir, "MANIFEST.json"), "", "", "b.csv")
	require.NoError(t, err)
	require.False(t, ok)
	require.Contains(t, out.String(), "b.csv: FAILED: 1 rows; the manifest says 2")
}
