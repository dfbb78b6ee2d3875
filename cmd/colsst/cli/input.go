package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/atomicfile"
	"github.com/colsst/colsst/textfmt"
)

// expand makes files of arguments: a directory stands for the files below it
// whose names tell a format that is wanted, in the order of their names; a
// pattern that is no file's name for those that match. Of SSTables in
// directories it takes the live ones of users' tables.
func expand(args []string, wanted func(format string) bool) (paths []string, err error) {
	paths, _, err = expandListed(args, wanted, cassandra.ListOptions{})
	return paths, err
}

// expandListed is expand with a choice of SSTables. What is left out of them it
// returns too.
func expandListed(args []string, wanted func(format string) bool, o cassandra.ListOptions) (paths []string, skipped []cassandra.Skipped, err error) {
	paths, folders, foreign, err := expandFiles(args, wanted)
	if err != nil || len(folders) == 0 || !wanted(formatSSTable) {
		return paths, nil, err
	}
	list, err := cassandra.List(folders, o)
	if err != nil {
		return nil, nil, orElse(exitData, err)
	}
	for _, x := range list.SSTables {
		paths = append(paths, x.Path)
	}
	if len(paths) == 0 {
		for _, s := range list.Skipped {
			err = errors.Join(err, fmt.Errorf("%s: left out: %s", s.Path, s.Reason))
		}
		return nil, nil, coded(exitInput, errors.Join(err, fmt.Errorf("%s: is a directory without such files", folders[0])))
	}
	return paths, append(list.Skipped, foreign...), nil
}

// expandFiles is expand but for the SSTables in folders. What stands beside these
// and is none of their files is foreign.
func expandFiles(args []string, wanted func(format string) bool) (paths, folders []string, foreign []cassandra.Skipped, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-" || err == nil && !info.IsDir():
			paths = append(paths, arg)
		case err == nil:
			found, beside, err := walk(arg, wanted)
			if err != nil {
				return nil, nil, nil, err
			}
			paths, folders, foreign = append(paths, found...), append(folders, arg), append(foreign, beside...)
		case strings.ContainsAny(arg, "*?["):
			found, err := filepath.Glob(arg)
			if err != nil {
				return nil, nil, nil, usagef("%s: %w", arg, err)
			}
			if len(found) == 0 {
				return nil, nil, nil, coded(exitInput, fmt.Errorf("%s: no file matches", arg))
			}
			paths = append(paths, found...)
		default:
			paths = append(paths, arg) // opening it tells
		}
	}
	return paths, folders, foreign, nil
}

func walk(dir string, wanted func(format string) bool) (paths []string, foreign []cassandra.Skipped, err error) {
	sstables := map[string]bool{} // folders of them
	var others []string           // files that are of no SSTable
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(e.Name(), ".") && path != dir
		if err == nil && !e.IsDir() && !isComponent(e.Name()) {
			others = append(others, path)
		}
		switch {
		case err != nil:
			return coded(exitInput, named(path, err))
		case e.IsDir() && hidden:
			return fs.SkipDir
		case !e.IsDir() && !hidden && isSSTable(path): // List finds it
			sstables[filepath.Dir(path)] = true
		case !e.IsDir() && !hidden && wanted(formatOf(path)):
			paths = append(paths, path)
		}
		return nil
	})
	if wanted(formatSSTable) {
		paths = slices.DeleteFunc(paths, func(path string) bool { return sstables[filepath.Dir(path)] }) // a TOC, a manifest
		for _, path := range others {
			if sstables[filepath.Dir(path)] {
				foreign = append(foreign, cassandra.Skipped{Path: path, Reason: foreignReason(filepath.Base(path))})
			}
		}
	}
	if err == nil && len(paths) == 0 && (len(sstables) == 0 || !wanted(formatSSTable)) {
		err = coded(exitInput, fmt.Errorf("%s: is a directory without such files", dir))
	}
	return paths, foreign, err
}

// isComponent reports whether a file's name is that of a file that Cassandra
// keeps SSTables in or about them.
func isComponent(name string) bool {
	_, _, err := cassandra.ParseName(name)
	return err == nil || errors.Is(err, encoding.ErrUnsupported) || cassandra.IsTransactionName(name)
}

// foreignReason says what a file is that is beside SSTables and of none.
func foreignReason(name string) string {
	switch name {
	case "schema.cql":
		return "a schema, which has no rows"
	case "manifest.json":
		return "the manifest of a snapshot"
	}
	return "of no SSTable"
}

func isTable(format string) bool {
	return format == formatTable || format == formatSSTable || format == formatParquet
}

// input is an open input file, or stdin.
type input struct {
	name   string
	path   string
	f      inputFile     // nil for what is no regular file, and read front to back
	size   int64         // -1: not known
	text   *bufio.Reader // from the begin, unpacked
	format string
	read   int64 // bytes of the file so far
	bar    *progress
	stream *io.PipeReader
	sst    *sstable // an SSTable, in place of f and text
}

// inputFile is an open file, be it temporary.
type inputFile interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// openInput opens path ("-": stdin) and finds its format out, unless it is
// given: from the content, and where that does not tell from the name.
func (t *tool) openInput(path, format string) (*input, error) {
	in := &input{name: path, path: path, size: -1, format: format}
	if path != "-" && (format == formatSSTable || (format == "" || format == formatTable) && isSSTable(path)) {
		x, err := t.openSSTable(path)
		if err != nil {
			return nil, err
		}
		in.sst, in.format, in.size = x, formatSSTable, x.SSTable().Data.Size
		return in, nil
	}
	r, err := in.open(t)
	if err != nil {
		return nil, coded(exitInput, named(path, err))
	}
	if d, c, err := cassandra.ParseName(filepath.Base(path)); err == nil && in.f != nil && (format == "" || format == formatTable) {
		in.close()
		return nil, usagef("%s: is %s of an SSTable: give its %s", path, c, d.FileName(cassandra.ComponentData))
	}
	if err := in.recognise(ctxReader{t.ctx(), r}); err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

// open opens the file, or stdin.
func (in *input) open(t *tool) (io.Reader, error) {
	if in.path == "-" {
		in.name = "stdin"
		in.stream = t.stream(func() (io.ReadCloser, error) { return io.NopCloser(t.cmd.InOrStdin()), nil })
		return in.stream, nil
	}
	info, err := os.Stat(in.path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("is a directory")
	case !info.Mode().IsRegular():
		in.stream = t.streamFile(in.path)
		return in.stream, nil
	}
	f, err := os.Open(in.path)
	if err != nil {
		return nil, err
	}
	in.f, in.size = f, info.Size()
	return f, nil
}

// recognise finds the format of what r yields.
func (in *input) recognise(r io.Reader) error {
	raw := bufio.NewReaderSize(&inputReader{in, r}, 64<<10)
	magic, err := raw.Peek(len(tableMagic))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if string(magic) == tableMagic {
		if in.format == "" {
			in.format = formatTable
		}
		in.text = raw
		return nil
	}
	if bytes.HasPrefix(magic, []byte(parquetMagic)) && (in.format == "" || in.format == formatTable) {
		in.format = formatParquet
	}
	if in.format == formatTable || in.format == formatParquet {
		in.text = raw
		return nil
	}
	unpacked, err := textfmt.Decompress(raw, in.name)
	if err != nil {
		return orElse(exitData, named(in.name, err))
	}
	in.text = bufio.NewReaderSize(unpacked, 64<<10)
	head, err := in.text.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return orElse(exitData, named(in.name, err))
	}
	found, what := looksLike(head)
	if found == formatTable || found == formatParquet {
		return &exitError{exitData, fmt.Errorf("%s: %s that is compressed: unpack it first", in.name, what)}
	}
	if in.format != "" {
		return nil
	}
	switch by := formatOf(in.path); {
	case by == formatTable:
		return &exitError{exitData, fmt.Errorf("%s: is no table file, though it is named like one: it %s", in.name, what)}
	case by != "":
		in.format = by
	case found != "":
		in.format = found
	case len(head) == 0:
		in.format = formatCSV // which says what is missing
	default:
		return usagef("%s: %s: give --input-format, one of %s", in.name, what, strings.Join(inputFormats, ", "))
	}
	return nil
}

// streamFile is a file as stream.
func (t *tool) streamFile(path string) *io.PipeReader {
	return t.stream(func() (io.ReadCloser, error) { return os.Open(path) })
}

// stream is what open yields as a reader that ends with the command's context,
// even while nothing comes, or nobody opens the other end of a pipe.
func (t *tool) stream(open func() (io.ReadCloser, error)) *io.PipeReader {
	r, w := io.Pipe()
	go func() {
		src, err := open()
		if err == nil {
			_, err = io.Copy(w, src)
			_ = src.Close() // only read
		}
		_ = w.CloseWithError(err) // never fails
	}()
	ctx := t.ctx()
	context.AfterFunc(ctx, func() { _ = w.CloseWithError(ctx.Err()) }) // never fails
	return r
}

func (in *input) close() {
	in.bar.end()
	if in.stream != nil {
		_ = in.stream.Close() // never fails
	}
	if in.f != nil {
		_ = in.f.Close() // only read
	}
	if in.sst != nil {
		_ = in.sst.SSTable().Close() // only read
	}
}

// inputReader counts the bytes read and marks errors as those of an input.
type inputReader struct {
	in *input
	r  io.Reader
}

func (r *inputReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.in.read += int64(n)
	r.in.bar.bytes(int64(n))
	return n, inputFailure(r.in.name, err)
}

func inputFailure(name string, err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return err
	}
	return coded(exitInput, named(name, err))
}

// ctxReader ends with the context.
type ctxReader struct {
	ctx context.Context
	r   io.Reader
}

func (r ctxReader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

type inputReaderAt struct{ in *input }

func (r inputReaderAt) ReadAt(p []byte, off int64) (int, error) {
	n, err := r.in.f.ReadAt(p, off)
	return n, inputFailure(r.in.name, err)
}

// table opens the input as a table file. What cannot be read at any place is
// copied to a temporary file first.
func (in *input) table() (*columnar.Reader, error) {
	if in.sst != nil || in.format == formatParquet {
		what := "an SSTable"
		if in.sst == nil {
			what = "a Parquet file"
		}
		return nil, usagef("%s: is %s: convert it to a table file first", in.name, what)
	}
	if in.size < 0 {
		if err := in.spool(); err != nil {
			return nil, err
		}
	}
	r, err := columnar.Open(inputReaderAt{in}, in.size, columnar.WithName(in.name))
	if err == nil {
		return r, nil
	}
	err = orElse(exitData, named(in.name, err))
	head, _ := in.text.Peek(512) // the begin of the file, unless it was spooled
	if c := packedAs(head); c != "" {
		err = rewrap(err, fmt.Errorf("%w; it is %s data: unpack it first", err, c))
	} else if format, what := looksLike(head); len(head) > 0 && ExitCode(err) == exitData && format != formatTable {
		err = rewrap(err, fmt.Errorf("%w; it %s", err, what))
	}
	return nil, err
}

// packedAs names the compression that data begins like, or "".
func packedAs(head []byte) string {
	for _, c := range []struct{ magic, name string }{{"\x1f\x8b", "gzip"}, {"\x28\xb5\x2f\xfd", "zstd"}, {"BZh", "bzip2"}, {"\xfd7zXZ\x00", "xz"}} {
		if strings.HasPrefix(string(head), c.magic) {
			return c.name
		}
	}
	return ""
}

func (in *input) spool() error {
	f, err := atomicfile.Temp("")
	if err != nil {
		return coded(exitOutput, &outputError{err})
	}
	in.f = f
	var read *exitError
	if in.size, err = io.Copy(f, in.text); err != nil && !errors.As(err, &read) && !errors.Is(err, context.Canceled) {
		err = coded(exitOutput, &outputError{err})
	}
	return err
}

// rows opens the input as a table.
func (in *input) rows() (table, error) {
	switch {
	case in.sst != nil:
		return in.sst, nil
	case in.format == formatParquet:
		return in.parquet()
	}
	return in.table()
}

// openTable opens a table file or an SSTable.
func (t *tool) openTable(path string) (table, *input, error) {
	in, err := t.openInput(path, formatTable)
	if err != nil {
		return nil, nil, err
	}
	r, err := in.rows()
	if err != nil {
		in.close()
		return nil, nil, err
	}
	return r, in, nil
}

// onlyOnce refuses stdin twice.
func onlyOnce(paths []string) error {
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return usagef("only one input can be stdin")
	}
	return nil
}
