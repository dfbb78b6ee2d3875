package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// marked finds code blocks that a page takes from a function of a test file:
//
//	<!-- code: columnar/example_test.go Example -->
//	```go
//	…
//	```
var marked = regexp.MustCompile("(?s)<!-- code: (\\S+) (\\S+) -->\n```go\n(.*?)```")

// The code in the pages is the code of the examples, which the compiler and
// go test have seen. With UPDATE_DOCS=1 the pages are brought up to date.
func TestCodeInPages(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	pages, err := filepath.Glob(filepath.Join(root, "*.md"))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	found := 0
	for _, page := range append(pages, more...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		now := marked.ReplaceAllFunc(text, func(m []byte) []byte {
			found++
			sub := marked.FindSubmatch(m)
			code := function(t, filepath.Join(root, string(sub[1])), string(sub[2]))
			return []byte("<!-- code: " + string(sub[1]) + " " + string(sub[2]) + " -->\n```go\n" + string(code) + "```")
		})
		if bytes.Equal(now, text) {
			continue
		}
		if os.Getenv("UPDATE_DOCS") != "" {
			require.NoError(t, os.WriteFile(page, now, 0o644))
			continue
		}
		t.Errorf("%s shows code that has changed; UPDATE_DOCS=1 go test ./internal/archtest brings it up to date", filepath.Base(page))
	}
	require.NotZero(t, found)
}

// function is the source of a function of a file, with its comment.
func function(t *testing.T, path, name string) []byte {
	src, err := os.ReadFile(path)
	require.NoError(t, err)
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, src, parser.ParseComments)
	require.NoError(t, err)
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
			from := fn.Pos()
			if fn.Doc != nil {
				from = fn.Doc.Pos()
			}
			return append(src[set.Position(from).Offset:set.Position(fn.End()).Offset:len(src)], '\n')
		}
	}
	t.Fatalf("%s: no function %s", path, name)
	return nil
}
