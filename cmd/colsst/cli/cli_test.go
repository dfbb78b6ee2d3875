package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/colsst/colsst/cmd/colsst/cli"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"colsst": func() { os.Exit(cli.Execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the sessions of testdata, each in a folder of its own. The
// scripts have one command more: code N PROGRAM... runs a program that must
// exit with N.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"code": func(ts *testscript.TestScript, neg bool, args []string) {
			if neg || len(args) < 2 {
				ts.Fatalf("usage: code N program [args...]")
			}
			want, err := strconv.Atoi(args[0])
			ts.Check(err)
			err = ts.Exec(args[1], args[2:]...)
			var exit *exec.ExitError
			got := 0
			if errors.As(err, &exit) {
				got = exit.ExitCode()
			} else {
				ts.Check(err)
			}
			if got != want {
				ts.Fatalf("exit code %d, not %d", got, want)
			}
		}},
	})
}
