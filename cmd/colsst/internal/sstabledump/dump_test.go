package sstabledump

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/cassandra"
)

// fresh holds SSTables that Cassandra has made.
const fresh = "../../../../cassandra/testdata/fresh"

func dump(t *testing.T, path string, o *Options) string {
	s, err := cassandra.Open(filepath.Join(fresh, filepath.FromSlash(path)))
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var out bytes.Buffer
	require.NoError(t, Dump(t.Context(), &out, s, o))
	return out.String()
}

// What Cassandra's sstabledump printed; interop/cassandra/fixtures put it there.
// The name of each has its SSTable, the time, and the arguments.
func TestDumpAsCassandra(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/sstabledump.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, archive.Files)
	for _, f := range archive.Files {
		t.Run(f.Name, func(t *testing.T) {
			fields := strings.Split(f.Name, "\t")
			now, err := strconv.ParseInt(fields[1], 10, 64)
			require.NoError(t, err)
			o := Options{Now: now}
			keys := &o.Keys
			for _, a := range fields[2:] {
				switch a {
				case "-l":
					o.Lines = true
				case "-t":
					o.RawTimes = true
				case "-e":
					o.KeysOnly = true
				case "-d":
					o.Debug = true
				case "-k":
					keys = &o.Keys
				case "-x":
					keys = &o.Exclude
				default:
					*keys = append(*keys, a)
				}
			}
			require.Equal(t, string(f.Data), dump(t, fields[0], &o)+"\n")
		})
	}
}

// With Tombstones only rows with something deleted or expired are left, and
// partitions that are deleted or have such rows or markers.
func TestTombstones(t *testing.T) {
	const path = "da-tombstones/da-1-bti-Data.db"
	all := strings.Split(dump(t, path, &Options{Debug: true, Now: 1_700_050_000}), "\n")
	some := strings.Split(dump(t, path, &Options{Debug: true, Tombstones: true, Now: 1_700_050_000}), "\n")
	var want []string
	for _, line := range all {
		if !strings.Contains(line, "Row[") || strings.Contains(line, "del") || strings.Contains(line, "<tombstone>") {
			want = append(want, line)
		}
	}
	require.Less(t, len(want), len(all))
	require.Equal(t, want, some)

	const ttls = "nb-ttls/nb-1-big-Data.db"
	before := dump(t, ttls, &Options{Lines: true, Tombstones: true, Now: 1_000_000_000})
	after := dump(t, ttls, &Options{Lines: true, Tombstones: true, Now: 2_000_000_000})
	require.Less(t, strings.Count(before, `"type":"row"`), strings.Count(after, `"type":"row"`))
}
