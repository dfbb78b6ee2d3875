// Package archtest holds the tests that keep the house in order: which
// package may import which, what a user's build may contain, how packages are
// named, that everything exported is explained, and that no file speaks of the
// machine it was written on. They need neither network nor C compiler.
package archtest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/colsst/colsst"

// arrows says for each room which rooms it may import and which modules of
// others. A room is a path below the module; a last element * stands for the
// packages right below, ... for all below, and the first row that fits a
// package is the package's. Tests are free, but for the rooms in private.
//
//	cmd -> cassandra, parquetfmt, textfmt, compaction, columnar -> rowgroup
//	rowgroup -> encoding/* -> encoding/bitpack -> simd; all -> encoding
//
// A new row or entry needs its reason in ARCHITECTURE.md.
var arrows = []struct{ room, imports, modules string }{
	{"encoding", "", ""},
	{"simd", "encoding", "golang.org/x/sys"},
	{"encoding/bitpack", "encoding simd", ""},
	{"encoding/internal/*", "encoding encoding/bitpack simd", ""},
	{"encoding/dict", "encoding encoding/bytestrings encoding/internal/* encoding/bitpack simd", "github.com/zeebo/xxh3"},
	{"encoding/*", "encoding encoding/internal/* encoding/bitpack simd", ""},
	{"rowgroup", "encoding encoding/* internal/zstdframe internal/exactsum simd", "github.com/klauspost/compress"},
	{"columnar", "encoding encoding/* rowgroup internal/zstdframe internal/rawfile simd", "github.com/klauspost/compress github.com/zeebo/xxh3 github.com/FastFilter/xorfilter"},
	{"compaction", "encoding rowgroup", ""},
	{"textfmt", "encoding rowgroup internal/atomicfile internal/cql simd", "github.com/klauspost/compress github.com/therootcompany/xz"},
	{"parquetfmt", "encoding rowgroup parquetfmt/* parquetfmt/internal/* simd", "github.com/parquet-go/parquet-go"},
	{"parquetfmt/internal/page", "encoding encoding/bytestrings encoding/raw parquetfmt/alp simd", "github.com/parquet-go/parquet-go github.com/klauspost/compress github.com/pierrec/lz4/v4 github.com/andybalholm/brotli"},
	{"parquetfmt/alp", "encoding simd", "github.com/parquet-go/parquet-go"},
	{"cassandra", "encoding rowgroup internal/cql", "github.com/pierrec/lz4/v4 github.com/klauspost/compress"},
	{"cmd/colsst/...", "cmd/colsst/... cassandra parquetfmt textfmt compaction columnar rowgroup encoding internal/*", "*"},

	// Leaves under everything.
	{"internal/le", "", ""},
	{"internal/invariants", "", ""},
	{"internal/zstdframe", "", "github.com/klauspost/compress"},
	{"internal/exactsum", "", ""},
	{"internal/binfmt", "", ""},
	{"internal/archtest", "", ""},
	{"internal/atomicfile", "", "golang.org/x/sys"},
	{"internal/rawfile", "", "golang.org/x/sys"},

	// What tests, benchmarks and the tool share.
	{"internal/generate", "rowgroup", ""},
	{"internal/rowdiff", "rowgroup", ""},
	{"internal/cql", "rowgroup", ""},

	// Programs and tests over everything; nothing imports them.
	{"internal/faults/...", "...", "*"},
	{"internal/realdata/...", "...", "*"},
	{"fuzz/...", "...", "*"},
	{"bench/...", "...", "*"},
	{"interop/...", "...", "*"},
}

const (
	leaves  = "internal/le internal/invariants"                                  // anyone may import these
	private = "fuzz/... bench/... interop/... internal/faults internal/realdata" // nobody may import these, tests included
)

// columnarModules is all that a program contains which imports columnar. The
// promise is that Parquet, LZ4 and the tool's libraries stay out.
const columnarModules = module + " github.com/klauspost/compress github.com/klauspost/cpuid/v2 github.com/zeebo/xxh3 github.com/FastFilter/xorfilter golang.org/x/sys"

// noIO lists the rooms that must not open files or sockets, whose bytes come
// from their callers.
const noIO = "simd encoding encoding/... rowgroup"

func TestArrows(t *testing.T) {
	for _, p := range packages(t) {
		room := p.room()
		i := rowOf(room)
		if i < 0 {
			t.Errorf("%s: no row in the table of arrows; give it one, and a line in ARCHITECTURE.md", room)
			continue
		}
		row := arrows[i]
		for _, imp := range p.Imports {
			switch {
			case imp == module || strings.HasPrefix(imp, module+"/"):
				to := strings.TrimPrefix(imp, module+"/")
				if !anyMatch(row.imports+" "+leaves, to) || anyMatch(private, to) && !anyMatch(private, room) {
					t.Errorf("%s imports %s; allowed: %s", room, to, row.imports)
				}
			case isStd(imp):
				if anyMatch(noIO, room) && anyMatch("os os/... net net/http net/http/... syscall", imp) {
					t.Errorf("%s does no I/O, but imports %s", room, imp)
				}
				if imp == "unsafe" {
					t.Errorf("%s imports unsafe", room)
				}
			case row.modules != "*" && !inModules(row.modules, imp):
				t.Errorf("%s imports %s; allowed modules: %q", room, imp, row.modules)
			}
		}
		for _, imp := range append(p.TestImports, p.XTestImports...) {
			to, ok := strings.CutPrefix(imp, module+"/")
			if ok && to != room && anyMatch(private, to) {
				t.Errorf("a test of %s imports %s, which nothing may", room, to)
			}
		}
	}
}

func TestColumnarIsLight(t *testing.T) {
	for _, p := range goList(t, "../..", "-deps", "./columnar") {
		if !p.Standard && p.Name != "" && !inModules(columnarModules, p.ImportPath) {
			t.Errorf("a program that imports columnar would contain %s", p.ImportPath)
		}
	}
}

func TestNames(t *testing.T) {
	for _, p := range packages(t) {
		for _, e := range append(strings.Split(p.room(), "/"), p.Name) {
			switch strings.TrimSuffix(strings.TrimSuffix(e, "_test"), "s") {
			case "util", "common", "helper", "misc", "tool":
				t.Errorf("%s: %q says nothing about what it holds", p.room(), e)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	require.True(t, anyMatch("a encoding/* b", "encoding/alp"))
	require.False(t, anyMatch("encoding/*", "encoding"))
	require.False(t, anyMatch("encoding/*", "encoding/alp/x"))
	require.True(t, anyMatch("cmd/colsst/...", "cmd/colsst"))
	require.True(t, anyMatch("cmd/colsst/...", "cmd/colsst/a/b"))
	require.False(t, anyMatch("cmd/colsst/...", "cmd/colsstx"))
	require.True(t, anyMatch("...", "anything/at/all"))
	require.False(t, anyMatch("", "encoding"))
	require.True(t, inModules("golang.org/x/sys", "golang.org/x/sys/cpu"))
	require.False(t, inModules("golang.org/x/sys", "golang.org/x/system"))
	require.Equal(t, "encoding/bitpack", arrows[rowOf("encoding/bitpack")].room)
	require.Equal(t, "encoding/*", arrows[rowOf("encoding/alp")].room)
	require.Equal(t, -1, rowOf("attic"))
}

// rowOf is the index in arrows of the room's row, or -1.
func rowOf(room string) int {
	for i, row := range arrows {
		if anyMatch(row.room, room) {
			return i
		}
	}
	return -1
}

// anyMatch reports whether one of the patterns, separated by spaces, fits name.
func anyMatch(patterns, name string) bool {
	for _, p := range strings.Fields(patterns) {
		if p == "..." {
			return true
		}
		if below, ok := strings.CutSuffix(p, "/..."); ok {
			if name == below || strings.HasPrefix(name, below+"/") {
				return true
			}
		} else if ok, _ := path.Match(p, name); ok {
			return true
		}
	}
	return false
}

// inModules reports whether package path pkg lies in one of the modules.
func inModules(modules, pkg string) bool {
	for _, m := range strings.Fields(modules) {
		if pkg == m || strings.HasPrefix(pkg, m+"/") {
			return true
		}
	}
	return false
}

func isStd(pkg string) bool {
	first, _, _ := strings.Cut(pkg, "/")
	return !strings.Contains(first, ".")
}

// pkg is what is used of a package as the go command lists it.
type pkg struct {
	ImportPath, Name, Dir              string
	Standard                           bool
	Imports, TestImports, XTestImports []string
	GoFiles                            []string
}

// room is the package's path below the module.
func (p *pkg) room() string { return strings.TrimPrefix(p.ImportPath, module+"/") }

// packages lists every package of the root and of the tool.
func packages(t *testing.T) []*pkg {
	ps := goList(t, "../..", "./...")
	if _, err := os.Stat("../../cmd/colsst"); err == nil {
		ps = append(ps, goList(t, "../../cmd/colsst", "./...")...)
	}
	require.NotEmpty(t, ps)
	return ps
}

// goList runs go list -json in dir.
func goList(t *testing.T, dir string, args ...string) []*pkg {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-json"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var ps []*pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		p := new(pkg)
		err := dec.Decode(p)
		if errors.Is(err, io.EOF) {
			return ps
		}
		require.NoError(t, err)
		ps = append(ps, p)
	}
}
