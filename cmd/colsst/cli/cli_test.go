package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
// scripts have two commands more: code N PROGRAM... runs a program that must exit
// with N; full ARGS... runs colsst with its output on a full disk.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			sstables, err := filepath.Abs("../../../cassandra/testdata")
			e.Setenv("SSTABLES", sstables)
			return err
		},
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Cmds:          map[string]func(*testscript.TestScript, bool, []string){"code": exitCode, "full": full},
	})
}

// exitCode is the command code.
func exitCode(ts *testscript.TestScript, neg bool, args []string) {
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
}

// full runs colsst with stdout to a full disk, which it must name.
func full(ts *testscript.TestScript, neg bool, args []string) {
	disk, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	ts.Check(err)
	defer disk.Close()
	var stderr strings.Builder
	for i, a := range args {
		if strings.Contains(a, ".") {
			args[i] = ts.MkAbs(a)
		}
	}
	if code := cli.Execute(args, strings.NewReader(""), disk, &stderr); code != 5 {
		ts.Fatalf("exit code %d: %s", code, &stderr)
	}
	if !strings.HasSuffix(stderr.String(), "stdout: no space left on device\n") {
		ts.Fatalf("%q", stderr.String())
	}
}
