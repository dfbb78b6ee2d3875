package cassandra

import (
	"path/filepath"
	"regexp"
	"strings"
)

// TablePath is what the folder of an SSTable says of it:
//
//	.../keyspace/table-32 digits/                       live files
//	.../keyspace/table-32 digits/.index/                of a secondary index
//	.../keyspace/table-32 digits/snapshots/tag/[.index/]
//	.../keyspace/table-32 digits/backups/[.index/]
type TablePath struct {
	Keyspace string
	Table    string
	ID       string // 32 hexadecimal digits
	Index    string // "": of the table itself
	Snapshot string // "": none
	Backup   bool
}

var tableFolder = regexp.MustCompile(`^([0-9A-Za-z_]{1,222})-([0-9a-f]{32})$`)

// ParseTablePath reads the folder dir of an SSTable from its last element up.
// ok is false where that is not how Cassandra lays out its data.
func ParseTablePath(dir string) (p TablePath, ok bool) {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(dir)), "/")
	take := func() string {
		if len(parts) == 0 {
			return ""
		}
		last := parts[len(parts)-1]
		parts = parts[:len(parts)-1]
		return last
	}
	last := take()
	if index, found := strings.CutPrefix(last, "."); found && index != "" {
		p.Index = index
		last = take()
	}
	if n := len(parts); n > 0 && parts[n-1] == "snapshots" {
		p.Snapshot = last
		take()
		last = take()
	} else if last == "backups" {
		p.Backup = true
		last = take()
	}
	m := tableFolder.FindStringSubmatch(last)
	if m == nil {
		return TablePath{}, false
	}
	p.Table, p.ID, p.Keyspace = m[1], m[2], take()
	return p, p.Keyspace != ""
}
