package cassandra

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

// record is a line of a log with its checksum.
func record(kind, path string, at int64, files int32) string {
	return fmt.Sprintf("%s:[%s,%d,%d][%d]", kind, path, at, files, transactionChecksum(kind, path, at, files))
}

func TestTransaction(t *testing.T) {
	const dir = "/d/ks/t-0123456789abcdef0123456789abcdef"
	added := record("ADD", dir+"/nb-3-big", 0, 8)
	removed := []string{record("REMOVE", dir+"/nb-1-big", 1_700_000_000_123, 8), record("REMOVE", dir+"/nb-2-big", 1_700_000_000_456, 7)}
	body := append([]string{added}, removed...)
	commit, abort := "COMMIT:[,0,0][2613697770]", "ABORT:[,0,0][737437348]"

	for _, test := range []struct {
		name  string
		end   []string
		state TransactionState
		live  string // ids
		cut   bool
	}{
		{"committed", []string{commit}, TransactionCommitted, "3", false},
		{"aborted", []string{abort}, TransactionAborted, "1 2", false},
		{"no end", nil, TransactionInProgress, "1 2", false},
		{"end cut short", []string{commit[:len(commit)-3]}, TransactionInProgress, "1 2", true},
		{"end with a wrong checksum", []string{"COMMIT:[,0,0][1]"}, TransactionInProgress, "1 2", true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, newline := range []string{"\n", "\r\n"} {
				x, err := ParseTransaction([]byte(strings.Join(append(body[:3:3], test.end...), newline) + newline))
				require.NoError(t, err)
				require.Equal(t, test.state, x.State)
				require.Equal(t, test.cut, x.CutShort)
				require.Len(t, x.Records, 3)
				require.Equal(t, TransactionRecord{Dir: dir, SSTable: Descriptor{"nb", "1"}, Changed: 1_700_000_000_123, Files: 8}, x.Records[1])
				var live []string
				for i := range x.Records {
					if x.Live(&x.Records[i]) {
						live = append(live, x.Records[i].SSTable.ID)
					}
				}
				require.Equal(t, test.live, strings.Join(live, " "))

				require.NoError(t, x.CheckFiles(func(r *TransactionRecord) int { return r.Files }))
				err = x.CheckFiles(func(r *TransactionRecord) int { return r.Files - 1 })
				if test.state == TransactionInProgress {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
					require.ErrorContains(t, err, "7 of 8 files of nb-1-big-*")
				} else {
					require.NoError(t, err)
				}
			}
		})
	}

	for name, lines := range map[string][]string{
		"damage in the middle":  {added[:9] + "x" + added[10:], removed[0]},
		"a line behind the end": {added, commit, removed[0]},
		"nothing of a line":     {added, "", removed[0]},
	} {
		_, err := ParseTransaction([]byte(strings.Join(lines, "\n")))
		require.ErrorIs(t, err, encoding.ErrCorrupt, name)
	}
	_, err := ParseTransaction([]byte(record("ADD", dir+"/ms-3-big", 0, 8)))
	require.ErrorIs(t, err, encoding.ErrUnsupported)
	x, err := ParseTransaction(nil)
	require.NoError(t, err)
	require.Empty(t, x.Records)
	require.False(t, x.CutShort)
}

func TestTransactionNames(t *testing.T) {
	const id = "c78e2b10-6b5c-11ee-8c99-0242ac120002"
	for name, want := range map[string]bool{
		"nb_txn_compaction_" + id + ".log":      true,
		"big-oa_txn_flush_" + id + ".log":       true,
		"txn_write_" + id + ".log":              true,
		"nb_txn_unknowncompactiontype_a_b.log":  true,
		"nb-1-big-Data.db":                      false,
		"nb_txn_compaction_" + id + ".log.save": false,
		"txn.log":                               false,
	} {
		require.Equal(t, want, IsTransactionName(name), name)
	}
}

func TestParseTablePath(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef"
	for dir, want := range map[string]TablePath{
		"/var/data/ks/t-" + id:                          {Keyspace: "ks", Table: "t", ID: id},
		"ks/t-" + id + "/":                              {Keyspace: "ks", Table: "t", ID: id},
		"/d/ks/t-" + id + "/.by_name":                   {Keyspace: "ks", Table: "t", ID: id, Index: "by_name"},
		"/d/ks/t-" + id + "/backups":                    {Keyspace: "ks", Table: "t", ID: id, Backup: true},
		"/d/ks/t-" + id + "/backups/.i":                 {Keyspace: "ks", Table: "t", ID: id, Backup: true, Index: "i"},
		"/d/ks/t-" + id + "/snapshots/2026-11-30":       {Keyspace: "ks", Table: "t", ID: id, Snapshot: "2026-11-30"},
		"/d/ks/t-" + id + "/snapshots/backups":          {Keyspace: "ks", Table: "t", ID: id, Snapshot: "backups"},
		"/d/ks/t-" + id + "/snapshots/truncated-1-t/.i": {Keyspace: "ks", Table: "t", ID: id, Snapshot: "truncated-1-t", Index: "i"},
	} {
		got, ok := ParseTablePath(dir)
		require.True(t, ok, dir)
		require.Equal(t, want, got, dir)
	}
	for _, dir := range []string{"", "/", ".", "t-" + id, "/d/ks/t", "/d/ks/t-" + id[:31], "/d/ks/t-" + id + "/other", "snapshots/x", "/snapshots/.i", ".i"} {
		_, ok := ParseTablePath(dir)
		require.False(t, ok, dir)
	}
}
