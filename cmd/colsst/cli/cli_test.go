package cli_test

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/colsst/colsst/cmd/colsst/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"colsst": func() { os.Exit(cli.Execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the sessions of testdata, each in a folder of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
