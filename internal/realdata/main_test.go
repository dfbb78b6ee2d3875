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
