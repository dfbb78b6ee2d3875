package cassandra

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/colsst/colsst/encoding"
)

// Listing is what List found.
type Listing struct {
	SSTables []Listed  // by path
	Skipped  []Skipped // by path
}

// Listed is an SSTable of a listing.
type Listed struct {
	Path  string // of Data.db
	Root  string // below which it was found
	Table TablePath
	Known bool // Table is: the folder is one of Cassandra's layout
}

// Skipped is an SSTable, or a folder, that is left out, and why.
type Skipped struct{ Path, Reason string }

// ListOptions say what List takes beside the live SSTables of users' tables.
type ListOptions struct {
	Snapshot                          string // the files of this snapshot, in place of the live ones
	Snapshots, Backups, Index, System bool
}

// List finds the SSTables below folders, which form one set: the live files of
// each table, as transaction logs say. Snapshots, backups, secondary indexes
// and system tables are left out, unless the options or a folder itself name
// them, and so is what is there twice: as the same file, or with the same
// digest and size. Files that have vanished meanwhile are left out too. Logs
// that contradict one another, or the files, are an error.
func List(roots []string, o ListOptions) (*Listing, error) {
	l := &lister{options: o, files: map[string]int{}, logs: map[string][]foundLog{}}
	for _, root := range roots {
		if err := l.walk(root); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(l.found, func(a, b Listed) int { return strings.Compare(a.Path, b.Path) })
	dead, err := l.transactions()
	if err != nil {
		return nil, err
	}
	for _, x := range l.found {
		reason := dead[x.Path]
		if reason == "" {
			reason = l.reason(&x)
		}
		if reason == "" {
			reason = l.twice(x.Path)
		}
		if reason != "" {
			l.list.Skipped = append(l.list.Skipped, Skipped{x.Path, reason})
			continue
		}
		l.list.SSTables = append(l.list.SSTables, x)
	}
	return &l.list, nil
}

type lister struct {
	options ListOptions
	list    Listing
	found   []Listed
	files   map[string]int        // components by folder and what their names have in common
	logs    map[string][]foundLog // by table and name
	seen    map[int64][]seenFile  // by size of Data.db
}

type foundLog struct {
	path string
	text string
}

type seenFile struct {
	path   string
	info   fs.FileInfo
	digest []byte
}

// tableOf says of which table a folder's files are, for logs.
func tableOf(dir string) string {
	if p, ok := ParseTablePath(dir); ok {
		return p.Keyspace + "/" + p.Table + "-" + p.ID + "/" + p.Index
	}
	return dir
}

func (l *lister) walk(root string) error {
	return filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && file != root:
			return nil // it has vanished
		case err != nil:
			return err
		case e.IsDir():
			return nil
		}
		dir, name := filepath.Dir(file), e.Name()
		if IsTransactionName(name) {
			return l.log(dir, name)
		}
		d, c, err := ParseName(name)
		if err != nil && !errors.Is(err, encoding.ErrUnsupported) {
			return nil
		}
		if err == nil {
			l.files[filepath.Join(dir, d.FileName(""))]++
		} else if !strings.HasSuffix(name, "-"+string(ComponentData)) {
			return nil
		} else {
			c = ComponentData // which opening it refuses by name
		}
		if c == ComponentData {
			x := Listed{Path: file, Root: root}
			x.Table, x.Known = ParseTablePath(absolute(dir))
			l.found = append(l.found, x)
		}
		return nil
	})
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

func (l *lister) log(dir, name string) error {
	file := filepath.Join(dir, name)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	key := tableOf(absolute(dir)) + "/" + name
	l.logs[key] = append(l.logs[key], foundLog{file, strings.TrimRight(string(text), "\r\n")})
	return nil
}

// transaction reads a log of which there are copies. They are written one after
// the other, so a crash leaves some shorter: the longest counts.
func transaction(copies []foundLog) (*Transaction, string, error) {
	longest := slices.MaxFunc(copies, func(a, b foundLog) int { return len(a.text) - len(b.text) })
	for _, other := range copies {
		if !strings.HasPrefix(longest.text, other.text) {
			return nil, "", encoding.Corruptf("transaction log", "%s and %s contradict one another", longest.path, other.path)
		}
	}
	t, err := ParseTransaction([]byte(longest.text))
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", longest.path, err)
	}
	return t, longest.path, nil
}

// transactions finds the SSTables that do not count, and which log says so.
func (l *lister) transactions() (dead map[string]string, err error) {
	dead = map[string]string{}
	for _, logs := range l.logs {
		t, log, err := transaction(logs)
		if err != nil {
			return nil, err
		}
		table := tableOf(absolute(filepath.Dir(log)))
		err = t.CheckFiles(func(r *TransactionRecord) int {
			n := 0
			for prefix, files := range l.files {
				if filepath.Base(prefix) == r.SSTable.FileName("") && tableOf(absolute(filepath.Dir(prefix))) == table {
					n += files
				}
			}
			return n
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", log, err)
		}
		for i := range t.Records {
			r := &t.Records[i]
			if t.Live(r) {
				continue
			}
			for _, x := range l.found {
				if path.Base(filepath.ToSlash(x.Path)) == r.SSTable.FileName(ComponentData) && tableOf(absolute(filepath.Dir(x.Path))) == table {
					what := "replaced by a transaction that is committed"
					if r.Added {
						what = "made by a transaction that is not committed"
					}
					dead[x.Path] = what + ": " + filepath.Base(log)
				}
			}
		}
	}
	return dead, nil
}

// reason says why an SSTable is left out by its place, or "".
func (l *lister) reason(x *Listed) string {
	o, p := &l.options, &x.Table
	if !x.Known {
		return ""
	}
	root, _ := ParseTablePath(absolute(x.Root)) // what the user has named
	switch {
	case o.Snapshot != "" && p.Snapshot != o.Snapshot:
		return "not of snapshot " + o.Snapshot
	case p.Snapshot != "" && !o.Snapshots && o.Snapshot == "" && root.Snapshot == "":
		return "of snapshot " + p.Snapshot
	case p.Backup && !o.Backups && !root.Backup:
		return "a backup"
	case p.Index != "" && !o.Index && root.Index == "":
		return "of the secondary index " + p.Index
	case (p.Keyspace == "system" || strings.HasPrefix(p.Keyspace, "system_")) && !o.System && root.Keyspace == "":
		return "of a system table"
	}
	return ""
}

// twice says that an SSTable is one that is listed already, or "".
func (l *lister) twice(file string) string {
	info, err := os.Stat(file)
	if err != nil {
		return "" // opening it tells
	}
	digest, err := os.ReadFile(strings.TrimSuffix(file, string(ComponentData)) + string(ComponentDigest))
	if err != nil {
		digest = nil
	}
	digest = bytes.TrimSpace(digest)
	for _, s := range l.seen[info.Size()] {
		if os.SameFile(s.info, info) || len(digest) > 0 && bytes.Equal(s.digest, digest) && tableOf(absolute(filepath.Dir(s.path))) == tableOf(absolute(filepath.Dir(file))) {
			return "the same as " + s.path
		}
	}
	if l.seen == nil {
		l.seen = map[int64][]seenFile{}
	}
	l.seen[info.Size()] = append(l.seen[info.Size()], seenFile{file, info, digest})
	return ""
}
