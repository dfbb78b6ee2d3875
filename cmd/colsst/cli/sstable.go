package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// table is an input whose rows have a schema and all their metadata: a table
// file or an SSTable of Cassandra.
type table interface {
	rowgroup.Source
	Rows() int64
	UserData(key string) ([]byte, bool)
}

var _ table = (*columnar.Reader)(nil)

// sstable is an SSTable as a table.
type sstable struct {
	*cassandra.Source
	found  names
	hidden []string // columns that are not shown
}

// Rows is what Statistics.db says, static rows included.
func (s *sstable) Rows() int64 {
	if st := s.SSTable().Statistics.Stats; st != nil {
		return st.TotalRows
	}
	return 0
}

// UserData has nothing to tell.
func (s *sstable) UserData(string) ([]byte, bool) { return nil, false }

// sstableSuffix ends the name of the file that stands for an SSTable.
const sstableSuffix = "-" + string(cassandra.ComponentData)

// isSSTable reports whether a file's name is that of an SSTable's Data.db, be
// it of a version that is not read.
func isSSTable(path string) bool {
	name := filepath.Base(path)
	if !strings.HasSuffix(name, sstableSuffix) {
		return false
	}
	_, c, err := cassandra.ParseName(name)
	return err == nil && c == cassandra.ComponentData || errors.Is(err, encoding.ErrUnsupported)
}

// names are the schema of an SSTable, if one was found.
type names struct {
	table *cassandra.Table // nil: none
	how   string           // for people
}

// namesFlag adds --schema to a command that reads SSTables.
func (t *tool) namesFlag() {
	t.cmd.Flags().StringVar(&t.schemaFile, "schema", "", "for SSTables: what names the columns of the key: a CQL script with their CREATE TABLE, or SSTables of the keyspace system_schema, a Data.db or a folder of them (default: schema.cql beside them or in their newest snapshot, else system_schema in their data folder)")
}

// maxRowFlag adds --max-row to a command that reads SSTables.
func (t *tool) maxRowFlag() {
	t.cmd.Flags().StringVar(&t.maxRowText, "max-row", "", "for SSTables: the largest row that is read, as 64MiB; a larger one is an error (default: 1GiB, which is the most)")
}

func (t *tool) parseMaxRow() error {
	n, err := humanize.ParseBytes(t.maxRowText)
	if err != nil || n < 1 || n > encoding.MaxRowBytes {
		return usagef("--max-row %s: expected a number of bytes up to 1GiB, as 64MiB", t.maxRowText)
	}
	t.maxRow = int(n)
	return nil
}

// rowLimit is --max-row as an option.
func (t *tool) rowLimit() []cassandra.Option {
	if t.maxRow == 0 {
		return nil
	}
	return []cassandra.Option{cassandra.WithRowLimit(t.maxRow)}
}

// openSSTable opens the SSTable of the file at path.
func (t *tool) openSSTable(path string) (*sstable, error) {
	found, err := t.names(path)
	if err != nil {
		return nil, err
	}
	opts := t.rowLimit()
	if found.table != nil {
		if frozen, known := found.table.FrozenUDTs(); known {
			opts = append(opts, cassandra.WithUserTypes(frozen))
		}
	}
	x, err := cassandra.Open(path, opts...)
	if err != nil {
		return nil, sstableError(path, err)
	}
	src, err := cassandra.NewSource(x, found.table)
	if err != nil {
		return nil, orElse(exitData, errors.Join(err, x.Close()))
	}
	for _, w := range x.Warnings {
		t.notef("%s: %s", path, w)
	}
	if x.UserTypes != cassandra.UserTypesByHeader {
		t.notef("%s: user types without FrozenType are %s", path, x.UserTypes)
	}
	if found.table != nil {
		if unknown := x.Unknown(found.table); len(unknown) > 0 && !t.asRead {
			t.notef("%s: not in the schema (dropped?), but kept: %s", path, strings.Join(unknown, ", "))
		}
	}
	s := &sstable{src, found, nil}
	if t.asRead {
		s.Source = src.AsRead(found.table)
		if found.table != nil {
			s.hidden = x.Unknown(found.table)
		} else {
			t.notef("%s: --as-read without a schema: which columns were dropped is not known", path)
		}
	}
	return s, nil
}

// asReadFlag adds --as-read to a command that prints the rows of SSTables.
func (t *tool) asReadFlag() {
	t.cmd.Flags().BoolVar(&t.asRead, "as-read", false, "SSTables: what Cassandra would read, without rows that hold nothing and what is of dropped columns (default: as stored)")
}

// checkAsRead refuses --as-read for what is no SSTable.
func (t *tool) checkAsRead(in *input) error {
	if t.asRead && in.sst == nil {
		return usagef("--as-read is for SSTables; %s is none", in.name)
	}
	return nil
}

// sstableError is an error of opening an SSTable, with its code.
func sstableError(path string, err error) error {
	if _, missing := os.Stat(path); missing != nil {
		return coded(exitInput, named(path, missing))
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return coded(exitInput, named(path, &inputError{err}))
	}
	return orElse(exitData, named(path, err))
}

// names finds the schema of an SSTable: that of --schema, schema.cql beside it or
// in the table's newest snapshot, or the keyspace system_schema beside its own.
func (t *tool) names(path string) (names, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return names{}, err
	}
	place, known := cassandra.ParseTablePath(dir)
	if place.Index != "" { // whose columns no script has
		return names{how: "the header alone"}, nil
	}
	file, how := t.schemaFile, "--schema"
	if file == "" {
		file, how = schemaBeside(dir), "found beside the SSTable"
	}
	if file == "" && known && !strings.HasPrefix(place.Keyspace, "system") {
		file = systemSchemaBeside(dir)
	}
	if file == "" {
		return names{how: "the header alone"}, nil
	}
	s := t.schemaOf(file)
	if s.err != nil {
		return names{}, s.err
	}
	x := ofTable(s.tables, place, known, dir)
	switch {
	case x != nil:
		return names{x, file + ", " + how}, nil
	case t.schemaFile != "":
		return names{}, usagef("%s: has %s, and none of them is known to be that of %s", file, plural(int64(len(s.tables)), "table"), path)
	}
	return names{how: "the header alone"}, nil
}

// schemaTables are the tables of a schema that was read.
type schemaTables struct {
	tables []*cassandra.Table
	err    error
}

// schemaOf reads a schema, once.
func (t *tool) schemaOf(file string) schemaTables {
	s, known := t.schemas[file]
	if !known {
		s.tables, s.err = t.readTables(file)
		if t.schemas == nil {
			t.schemas = map[string]schemaTables{}
		}
		t.schemas[file] = s
	}
	return s
}

// readTables reads a CQL script, or SSTables of system_schema: one, or the live
// ones below a folder.
func (t *tool) readTables(file string) ([]*cassandra.Table, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, coded(exitInput, named(file, err))
	}
	paths := []string{file}
	switch {
	case info.IsDir():
		if paths, err = cassandra.ListSystemSchema(file, cassandra.ListOptions{}); err != nil {
			return nil, orElse(exitData, named(file, err))
		}
	case !isSSTable(file):
		text, err := t.schemaText(file)
		if err != nil {
			return nil, err
		}
		tables, err := cassandra.ParseSchema(text, file)
		return tables, coded(exitUsage, err)
	}
	tables, notes, err := cassandra.ReadSystemSchema(t.ctx(), paths, file)
	if err != nil {
		return nil, sstableError(file, err)
	}
	for _, n := range notes {
		t.notef("%s", n)
	}
	if len(tables) == 0 {
		return nil, usagef("%s: has no schema: expected a CQL script, or SSTables of system_schema with tables and columns", file)
	}
	return tables, nil
}

// tableFolder is the folder of the table that dir, which may be of a snapshot,
// lies in, or "".
func tableFolder(dir string) string {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if p, ok := cassandra.ParseTablePath(dir); ok && p.Snapshot == "" && !p.Backup && p.Index == "" {
			return dir
		}
	}
	return ""
}

// systemSchemaBeside is the folder of the keyspace system_schema that is beside
// the one of a table's folder, or "".
func systemSchemaBeside(dir string) string {
	if table := tableFolder(dir); table != "" {
		if found := filepath.Join(table, "..", "..", "system_schema"); exists(found) {
			return found
		}
	}
	return ""
}

// schemaBeside is the schema.cql that is nearest to an SSTable's folder, or "".
func schemaBeside(dir string) string {
	const name = "schema.cql"
	if file := filepath.Join(dir, name); exists(file) {
		return file
	}
	found, err := filepath.Glob(filepath.Join(dir, "snapshots", "*", name))
	if err != nil || len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b string) int { return modified(a).Compare(modified(b)) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// ofTable is the one of the tables that an SSTable in dir is of: by id, by name,
// or because there is no other.
func ofTable(tables []*cassandra.Table, place cassandra.TablePath, known bool, dir string) *cassandra.Table {
	var found []*cassandra.Table
	for _, x := range tables {
		switch {
		case known && x.ID != "" && x.ID == place.ID:
			return x
		case known && x.Name == place.Table && (x.Keyspace == "" || x.Keyspace == place.Keyspace), !known && x.Name == filepath.Base(dir):
			found = append(found, x)
		}
	}
	if len(found) == 0 {
		found = tables
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

// provenance is what a table file of the SSTable's rows keeps of it.
func (s *sstable) provenance(ctx context.Context) (map[string][]byte, error) {
	p, err := s.Provenance(ctx, s.found.how)
	if err != nil {
		return nil, err
	}
	if x := s.found.table; x != nil && p.Table == "" {
		p.Keyspace, p.Table, p.TableID = x.Keyspace, x.Name, x.ID
	}
	return p.Values()
}

// checkPlace refuses an output that lies among the data that is read.
func checkPlace(out string, args, paths []string) error {
	if !slices.ContainsFunc(paths, isSSTable) || out == "-" {
		return nil
	}
	real := realPath(filepath.Clean(out))
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		real = filepath.Dir(real)
	}
	keyspaces := map[string]bool{} // whose tables are read
	for _, path := range paths {
		if isSSTable(path) {
			if table := tableFolder(filepath.Dir(realPath(path))); table != "" {
				keyspaces[filepath.Dir(table)] = true
			}
		}
	}
	for dir := real; ; dir = filepath.Dir(dir) {
		if _, ok := cassandra.ParseTablePath(dir); ok {
			return usagef("%s: lies in the folder of a table of Cassandra", out)
		}
		if keyspaces[dir] {
			return usagef("%s: lies in the folder of a keyspace of Cassandra, which is read", out)
		}
		for _, arg := range args {
			if info, err := os.Stat(arg); err == nil && info.IsDir() && realPath(arg) == dir {
				return usagef("%s: lies in %s, which is read", out, arg)
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	for _, path := range paths {
		if isSSTable(path) && filepath.Dir(realPath(path)) == real {
			return usagef("%s: lies beside %s, which is read", out, path)
		}
	}
	return nil
}

// vanished reports whether an SSTable that could not be read is gone: it was
// compacted away since it was listed.
func vanished(path string, err error) bool {
	return isSSTable(path) && errors.Is(err, fs.ErrNotExist) && !exists(path)
}

// verifySSTable checks an SSTable.
func (t *tool) verifySSTable(v *verification, path string, _ columnar.Level, report func(error)) error {
	x, err := cassandra.Open(path, t.rowLimit()...)
	switch {
	case err == nil:
	case ExitCode(sstableError(path, err)) == exitInput:
		return sstableError(path, err)
	default:
		report(err)
		return nil
	}
	defer func() { _ = x.Close() }() // only read
	rep, err := x.Verify(t.ctx())
	if err != nil && t.ctx().Err() != nil {
		return err
	}
	if err != nil {
		report(err)
	}
	v.Rows, v.Partitions = rep.Rows, rep.Partitions
	v.Warnings = rep.Warnings
	for _, w := range rep.Warnings {
		t.notef("%s: warning: %s", path, w)
	}
	return nil
}

// leftOutFile is what is left out of a folder, in the line of --summary.
type leftOutFile struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// skippedNote says of what is left out of a folder why: how many for one reason,
// or with -v which.
func (t *tool) skippedNote(list []cassandra.Skipped) {
	t.sum.LeftOut = int64(len(list))
	byReason := map[string]int64{}
	for _, s := range list {
		t.sum.LeftOutFiles = append(t.sum.LeftOutFiles, leftOutFile(s))
		byReason[s.Reason]++
	}
	for _, s := range list {
		switch n := byReason[s.Reason]; {
		case t.verbose || n == 1:
			t.notef("%s: left out: %s", s.Path, s.Reason)
		case n > 1:
			t.notef("%s left out: %s (-v lists them)", plural(n, "file"), s.Reason)
			byReason[s.Reason] = 0
		}
	}
}

var errManySSTables = fmt.Errorf("SSTables overlap and do not become one file; give -o FOLDER/, for a file each")
