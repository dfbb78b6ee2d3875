package cassandra

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Which SSTables of a data directory count, and why others do not.
func TestList(t *testing.T) {
	const id = "-5a1c395eb41f11e59f22ba0be0483c18"
	root := t.TempDir()
	put := func(folder string, generation int, digest string) {
		dir := filepath.Join(root, folder)
		require.NoError(t, os.MkdirAll(dir, 0o700))
		for c, text := range map[Component]string{ComponentData: folder + digest, ComponentDigest: digest, ComponentTOC: "Data.db\n"} {
			d := Descriptor{"nb", fmt.Sprint(generation)}
			require.NoError(t, os.WriteFile(filepath.Join(dir, d.FileName(c)), []byte(text), 0o600))
		}
	}
	logs := func(folder, name string, lines ...string) {
		text := ""
		for _, l := range lines {
			text += l + "\n"
		}
		require.NoError(t, os.WriteFile(filepath.Join(root, folder, "nb_txn_"+name+".log"), []byte(text), 0o600))
	}
	record := func(kind, folder string, generation, files int) string {
		path := filepath.Join("/var/lib/data", folder, fmt.Sprintf("nb-%d-big-", generation))
		return fmt.Sprintf("%s:[%s,0,%d][%d]", kind, path, files, transactionChecksum(kind, path, 0, int32(files)))
	}
	end := func(kind string) string {
		return fmt.Sprintf("%s:[,0,0][%d]", kind, transactionChecksum(kind, "", 0, 0))
	}
	for i, table := range []string{"committed", "aborted", "running", "unended"} {
		for g := 1; g <= 3; g++ {
			put("d1/ks/"+table+id, g, fmt.Sprint(i, g))
		}
	}
	logs("d1/ks/committed"+id, "compaction_1", record("ADD", "ks/committed"+id, 2, 0), record("REMOVE", "ks/committed"+id, 1, 3), end("COMMIT"))
	logs("d1/ks/aborted"+id, "compaction_1", record("ADD", "ks/aborted"+id, 2, 0), record("REMOVE", "ks/aborted"+id, 1, 3), end("ABORT"))
	logs("d1/ks/running"+id, "flush_1", record("ADD", "ks/running"+id, 2, 0), record("REMOVE", "ks/running"+id, 1, 3))
	logs("d1/ks/unended"+id, "flush_1", record("ADD", "ks/unended"+id, 2, 0), "REMOVE:[")
	put("d1/ks/t"+id, 1, "a")
	put("d1/ks/t-6a1c395eb41f11e59f22ba0be0483c18", 1, "a") // another table of that name
	put("d2/ks/t"+id, 2, "b")
	put("d1/ks/t"+id+"/snapshots/tag", 1, "c")
	put("d1/ks/t"+id+"/backups", 1, "d")
	put("d1/ks/t"+id+"/.by_value", 1, "e")
	put("d1/system_schema/columns"+id, 1, "f")
	put("loose", 1, "g")
	require.NoError(t, os.MkdirAll(filepath.Join(root, "linked"), 0o700))
	require.NoError(t, os.Link(filepath.Join(root, "loose", "nb-1-big-Data.db"), filepath.Join(root, "linked", "nb-1-big-Data.db")))
	require.NoError(t, os.WriteFile(filepath.Join(root, "loose", "aa-1-bti-Data.db"), nil, 0o600)) // refused when it is opened
	require.NoError(t, os.WriteFile(filepath.Join(root, "loose", "nb-2-big-Data.db.tmp"), nil, 0o600))

	show := func(l *Listing) (lines []string) {
		rel := func(path string) string {
			r, err := filepath.Rel(root, path)
			require.NoError(t, err)
			return r
		}
		for _, x := range l.SSTables {
			lines = append(lines, rel(x.Path))
		}
		for _, x := range l.Skipped {
			if filepath.IsAbs(x.Path) {
				lines = append(lines, "- "+rel(x.Path)+": "+x.Reason)
			}
		}
		return lines
	}
	l, err := List([]string{filepath.Join(root, "d1"), filepath.Join(root, "d2")}, ListOptions{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"d1/ks/aborted" + id + "/nb-1-big-Data.db", "d1/ks/aborted" + id + "/nb-3-big-Data.db",
		"d1/ks/committed" + id + "/nb-2-big-Data.db", "d1/ks/committed" + id + "/nb-3-big-Data.db",
		"d1/ks/running" + id + "/nb-1-big-Data.db", "d1/ks/running" + id + "/nb-3-big-Data.db",
		"d1/ks/t" + id + "/nb-1-big-Data.db", "d1/ks/t-6a1c395eb41f11e59f22ba0be0483c18/nb-1-big-Data.db",
		"d1/ks/unended" + id + "/nb-1-big-Data.db", "d1/ks/unended" + id + "/nb-3-big-Data.db",
		"d2/ks/t" + id + "/nb-2-big-Data.db",
		"- d1/ks/aborted" + id + "/nb-2-big-Data.db: made by a transaction that is not committed: nb_txn_compaction_1.log",
		"- d1/ks/committed" + id + "/nb-1-big-Data.db: replaced by a transaction that is committed: nb_txn_compaction_1.log",
		"- d1/ks/running" + id + "/nb-2-big-Data.db: made by a transaction that is not committed: nb_txn_flush_1.log",
		"- d1/ks/t" + id + "/.by_value/nb-1-big-Data.db: of the secondary index by_value",
		"- d1/ks/t" + id + "/backups/nb-1-big-Data.db: a backup",
		"- d1/ks/t" + id + "/snapshots/tag/nb-1-big-Data.db: of snapshot tag",
		"- d1/ks/unended" + id + "/nb-2-big-Data.db: made by a transaction that is not committed: nb_txn_flush_1.log",
		"- d1/system_schema/columns" + id + "/nb-1-big-Data.db: of a system table",
	}, show(l))

	l, err = List([]string{filepath.Join(root, "d1")}, ListOptions{Snapshot: "tag"})
	require.NoError(t, err)
	require.Equal(t, []string{"d1/ks/t" + id + "/snapshots/tag/nb-1-big-Data.db"}, show(&Listing{SSTables: l.SSTables}))
	l, err = List([]string{filepath.Join(root, "d1/ks/t"+id, "backups"), filepath.Join(root, "d1/system_schema/columns"+id)}, ListOptions{})
	require.NoError(t, err)
	require.Len(t, l.SSTables, 2, "what is named is taken")
	l, err = List([]string{root}, ListOptions{Snapshots: true, Backups: true, Index: true, System: true})
	require.NoError(t, err)
	require.Len(t, l.SSTables, 17)
	require.Contains(t, show(l), "- loose/nb-1-big-Data.db: the same as "+filepath.Join(root, "linked/nb-1-big-Data.db"))

	// An old file of an unended transaction that is gone, and logs that differ.
	require.NoError(t, os.Remove(filepath.Join(root, "d1/ks/running"+id, "nb-1-big-TOC.txt")))
	_, err = List([]string{filepath.Join(root, "d1")}, ListOptions{})
	require.ErrorContains(t, err, "2 of 3 files of nb-1-big-* in /var/lib/data/ks/running"+id+" are left")
	put("d2/ks/committed"+id, 4, "z")

	// A crash between the writes of two copies: the longer one counts.
	started := []string{record("ADD", "ks/committed"+id, 2, 0), record("REMOVE", "ks/committed"+id, 1, 3)}
	for _, short := range [][]string{started, append(started, end("COMMIT")[:8]), nil} {
		logs("d2/ks/committed"+id, "compaction_1", short...)
		l, err = List([]string{filepath.Join(root, "d1/ks/committed"+id), filepath.Join(root, "d2")}, ListOptions{})
		require.NoError(t, err)
		require.Contains(t, show(l), "- d1/ks/committed"+id+"/nb-1-big-Data.db: replaced by a transaction that is committed: nb_txn_compaction_1.log")
	}
	logs("d2/ks/committed"+id, "compaction_1", end("ABORT"))
	_, err = List([]string{filepath.Join(root, "d1/ks/committed"+id), filepath.Join(root, "d2")}, ListOptions{})
	require.ErrorContains(t, err, "contradict one another")
}
