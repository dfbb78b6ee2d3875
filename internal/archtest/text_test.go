package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wellKnown are the methods whose names say all there is to say.
var wellKnown = map[string]bool{"String": true, "Error": true, "Unwrap": true, "Is": true, "Len": true, "Less": true, "Swap": true}

// TestDocs asks for a comment on every exported name of every package that
// others can import, and on the package itself. A constant or variable may
// have its comment behind it or over its group; a method of an interface needs
// one of its own, or its name in the comment of the interface. The fields of a
// struct are left to the comment of their type.
func TestDocs(t *testing.T) {
	for _, p := range packages(t) {
		if p.Name == "" || len(p.GoFiles) == 0 || strings.Contains("/"+p.room(), "/internal/") {
			continue
		}
		var files []*ast.File
		fset := token.NewFileSet()
		packageDoc := false
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				continue // the compiler tells
			}
			files = append(files, f)
			packageDoc = packageDoc || f.Doc != nil
		}
		if !packageDoc {
			t.Errorf("package %s has no comment", p.room())
		}
		if p.Name == "main" {
			continue
		}
		for _, bare := range undocumented(files) {
			at := fset.Position(bare.Pos())
			t.Errorf("%s/%s:%d: %s has no comment", p.room(), filepath.Base(at.Filename), at.Line, bare.Name)
		}
	}
}

// undocumented returns the exported names of a package that have no comment.
func undocumented(files []*ast.File) (bare []*ast.Ident) {
	check := func(names []*ast.Ident, docs ...*ast.CommentGroup) {
		for _, d := range docs {
			if d.Text() != "" {
				return
			}
		}
		for _, n := range names {
			if n.IsExported() {
				bare = append(bare, n)
			}
		}
	}
	methods := func(list *ast.FieldList, typeDoc string) {
		for _, f := range list.List {
			for _, n := range f.Names {
				if !regexp.MustCompile(`\b` + n.Name + `\b`).MatchString(typeDoc) {
					check([]*ast.Ident{n}, f.Doc, f.Comment)
				}
			}
		}
	}
	for _, f := range files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil || receiver(d.Recv).IsExported() && !wellKnown[d.Name.Name] {
					check([]*ast.Ident{d.Name}, d.Doc)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.ValueSpec:
						check(s.Names, d.Doc, s.Doc, s.Comment)
					case *ast.TypeSpec:
						check([]*ast.Ident{s.Name}, d.Doc, s.Doc, s.Comment)
						if x, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
							methods(x.Methods, d.Doc.Text()+s.Doc.Text())
						}
					}
				}
			}
		}
	}
	return bare
}

// receiver is the name of a method's receiver type.
func receiver(list *ast.FieldList) *ast.Ident {
	for x := list.List[0].Type; ; {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y
		default:
			return ast.NewIdent("_")
		}
	}
}

func TestUndocumented(t *testing.T) {
	const src = `// Package p is a sample.
package p

// Group.
const (
	A = 1
	B = 2
)

var C, d int
var E int // behind

// T is a struct.
type T struct{ X, w int }

func (t *T) M()            {}
func (t *T) String() string { return "" }
func (g G[P]) N()           {}

// G has J.
type G[P any] interface {
	I()
	J()
	K() // behind
	T
}

// F is good.
func F()
func H()
func i()
type u struct{ V int }
func (u) W()
`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	require.NoError(t, err)
	var got []string
	for _, n := range undocumented([]*ast.File{f}) {
		got = append(got, n.Name)
	}
	require.Equal(t, []string{"C", "M", "N", "I", "H"}, got)
}

// machinePath finds paths that exist on one machine alone.
var machinePath = regexp.MustCompile(`(^|[\s"'` + "`" + `(=:,])/(root|home|Users|work|build)/|\.\./shared\b`)

// TestNoMachinePaths reads every text file but tests and their data: the
// project's text speaks of the project alone.
func TestNoMachinePaths(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	err = filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that went away while others build
		}
		if d.IsDir() {
			if base := d.Name(); base == ".git" || base == "testdata" || base == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if d.Name() == ".git" { // of a second work tree
			return nil
		}
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		if d.Name() == ".git" { // of a worktree
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil || bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			return nil
		}
		for i, line := range bytes.Split(text, []byte("\n")) {
			if m := machinePath.Find(line); m != nil {
				rel, _ := filepath.Rel(root, name)
				t.Errorf("%s:%d: %q is a path that no user has", filepath.ToSlash(rel), i+1, m)
			}
		}
		return nil
	})
	require.NoError(t, err)
}

func TestMachinePath(t *testing.T) {
	for _, bad := range []string{"see ../shared/docs", `"/home/x/y"`, "/root/go", "dir=/Users/me/x", "/build/main"} {
		require.True(t, machinePath.MatchString(bad), bad)
	}
	for _, good := range []string{"../sharedmemory", "https://example.org/home/page", "go.work", "framework/x", "networks"} {
		require.False(t, machinePath.MatchString(good), good)
	}
}
