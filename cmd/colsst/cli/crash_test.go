package cli_test

import (
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// leftovers are the files of dir that are neither the named ones nor temporary.
func leftovers(t *testing.T, dir string, known ...string) (temporary, other []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
next:
	for _, e := range entries {
		for _, k := range known {
			if e.Name() == k {
				continue next
			}
		}
		if strings.HasSuffix(e.Name(), ".tmp") {
			temporary = append(temporary, e.Name())
		} else {
			other = append(other, e.Name())
		}
	}
	return temporary, other
}

// A writer that is killed leaves no output, the old one, or a whole one.
// COLSST_KILLS=200 tries more often.
func TestT39KilledWriter(t *testing.T) {
	kills := numKills(t)
	dir := t.TempDir()
	csv, old := filepath.Join(dir, "in.csv"), filepath.Join(dir, "old.csst")
	run(t, 0, "gen", "metrics5", "--series", "4", "--points", "20000", "-o", csv, "-q")
	run(t, 0, "gen", "metrics5", "--series", "1", "--points", "100", "-o", old, "-q")
	oldBytes, err := os.ReadFile(old)
	require.NoError(t, err)
	convert := func(out string) *exec.Cmd {
		return exec.Command("colsst", "convert", csv, "--partition-key", "series", "--clustering", "time", "--type", "value=float",
			"-o", out, "-f", "-q", "--write-time", "write_time", "--ttl", "ttl", "--expiry", "expiry")
	}
	whole := filepath.Join(dir, "whole.csst")
	start := time.Now()
	require.NoError(t, convert(whole).Run())
	took := time.Since(start)
	wholeBytes, err := os.ReadFile(whole)
	require.NoError(t, err)
	for k := range kills {
		out := filepath.Join(dir, "out.csst")
		replace := k%2 == 0
		if replace {
			require.NoError(t, os.WriteFile(out, oldBytes, 0o600))
		} else {
			require.NoError(t, os.RemoveAll(out))
		}
		cmd := convert(out)
		require.NoError(t, cmd.Start())
		time.Sleep(took * time.Duration(k+1) / time.Duration(kills))
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		b, err := os.ReadFile(out)
		switch {
		case os.IsNotExist(err):
			require.False(t, replace, "kill %d: the old file is gone", k)
		default:
			require.NoError(t, err)
			if len(b) != len(oldBytes) || !replace {
				require.Equal(t, wholeBytes, b, "kill %d", k)
			} else {
				require.Equal(t, oldBytes, b, "kill %d", k)
			}
			run(t, 0, "verify", out, "-q")
		}
		_, other := leftovers(t, dir, "in.csv", "old.csst", "whole.csst", "out.csst")
		require.Empty(t, other)
	}
}

// numKills is how often a test kills.
func numKills(t *testing.T) int {
	s := os.Getenv("COLSST_KILLS")
	if s == "" {
		return 5
	}
	kills, err := strconv.Atoi(s)
	require.NoError(t, err)
	return kills
}

// listing are the names of all files below a folder.
func listing(t *testing.T, dir string) (names []string) {
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, _ := filepath.Rel(dir, path) // it is below
			names = append(names, rel)
		}
		return err
	}))
	return names
}

// killAfter runs a command line and kills it after some time, unless it ends
// before; ended tells of that.
func killAfter(t *testing.T, d time.Duration, args ...string) (ended bool) {
	cmd := exec.Command("colsst", args...)
	require.NoError(t, cmd.Start())
	timer := time.AfterFunc(d, func() { _ = cmd.Process.Kill() }) // it may have ended
	err := cmd.Wait()
	timer.Stop()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		require.Equal(t, -1, exit.ExitCode(), args)
		return false
	}
	require.NoError(t, err)
	return true
}

// A sort that is killed while its rows are in temporary files leaves none, and
// no output.
func TestKilledSort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("files without a name are of Linux")
	}
	dir := t.TempDir()
	csv, temp := filepath.Join(dir, "in.csv"), filepath.Join(dir, "temp")
	require.NoError(t, os.Mkdir(temp, 0o700))
	run(t, 0, "gen", "points", "--partitions", "2000", "--rows", "60", "-o", csv, "-q")
	convert := func(out string) []string {
		return []string{"convert", csv, "--partition-key", "key", "--time", "time:desc", "-o", filepath.Join(dir, out), "-q", "-f",
			"--sort", "--sort-memory", "1", "--temp-dir", temp}
	}
	start := time.Now()
	run(t, 0, convert("want.csst")...)
	took := time.Since(start)
	want, err := os.ReadFile(filepath.Join(dir, "want.csst"))
	require.NoError(t, err)
	kills := numKills(t)
	for k := range kills {
		ended := killAfter(t, took*time.Duration(k+1)/time.Duration(kills), convert("out.csst")...)
		// The kill may come when the output has its name already.
		got, err := os.ReadFile(filepath.Join(dir, "out.csst"))
		if ended || err == nil {
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.NoError(t, os.Remove(filepath.Join(dir, "out.csst")))
		}
		require.Equal(t, []string{"in.csv", "want.csst"}, listing(t, dir), "kill %d", k)
	}
}

// A run over many inputs that is killed again and again goes on where it was:
// every output is there in the end, once and whole, and nothing else.
func TestKilledResume(t *testing.T) {
	dir := t.TempDir()
	in, out, want := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "want")
	require.NoError(t, os.MkdirAll(filepath.Join(in, "sub"), 0o700))
	for i := range 12 {
		run(t, 0, "gen", "points", "--partitions", "40", "--rows", "100", "--seed", strconv.Itoa(i), "-o", filepath.Join(in, []string{"", "sub"}[i%2], strconv.Itoa(i)+".csv"), "-q")
	}
	convert := func(out string) []string {
		return []string{"convert", in, "-o", out + "/", "--partition-key", "key", "--time", "time", "--sort", "-q", "--resume"}
	}
	start := time.Now()
	run(t, 0, convert(want)...)
	took := time.Since(start)
	kills := numKills(t)
	random := rand.New(rand.NewPCG(1, 2))
	for done, k := false, 0; !done; k++ {
		if k < kills {
			done = killAfter(t, time.Duration(random.Int64N(int64(took))), convert(out)...)
			if done && k < kills-1 { // again, from one that is finished
				require.NoError(t, os.RemoveAll(out))
				done = false
			}
			continue
		}
		run(t, 0, convert(out)...)
		done = true
	}
	names := listing(t, want)
	require.Len(t, names, 13)
	require.Equal(t, names, listing(t, out))
	for _, name := range names {
		a, err := os.ReadFile(filepath.Join(want, name))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(out, name))
		require.NoError(t, err)
		if filepath.Base(name) != ".colsst-convert" {
			require.Equal(t, a, b, name)
		}
	}
}

// The lines of rejects of a run that is killed again and again are those of one
// that is not.
func TestKilledResumeRejects(t *testing.T) {
	dir := t.TempDir()
	in, out, want := filepath.Join(dir, "in"), filepath.Join(dir, "out"), filepath.Join(dir, "want")
	require.NoError(t, os.Mkdir(in, 0o700))
	for i := range 12 {
		text := "v,w\n"
		for row := range 4000 {
			if row%97 == i {
				text += "x,\"two\nlines\"\n"
			} else {
				text += strconv.Itoa(row) + ",\n"
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(in, strconv.Itoa(i)+".csv"), []byte(text), 0o600))
	}
	convert := func(out string) []string {
		return []string{"convert", in, "-o", out + "/", "--type", "v=int", "--on-error", "skip", "--resume", "--reject", out + ".csv", "-q"}
	}
	start := time.Now()
	run(t, 6, convert(want)...)
	took := time.Since(start)
	random := rand.New(rand.NewPCG(3, 4))
	for range numKills(t) {
		cmd := exec.Command("colsst", convert(out)...)
		require.NoError(t, cmd.Start())
		time.Sleep(time.Duration(random.Int64N(int64(took))))
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	}
	run(t, 6, convert(out)...)
	run(t, 6, convert(out)...)
	a, err := os.ReadFile(want + ".csv")
	require.NoError(t, err)
	b, err := os.ReadFile(out + ".csv")
	require.NoError(t, err)
	require.Greater(t, strings.Count(string(a), "in/"), 12*41)
	require.Equal(t, string(a), string(b))
	require.Equal(t, listing(t, want), listing(t, out))
	// Without the journal what is done cannot be told.
	require.NoError(t, os.Remove(filepath.Join(out, ".colsst-convert.rejects")))
	_, errs := run(t, 5, convert(out)...)
	require.Contains(t, errs, "shorter than the state beside it says")
}

// A command that is interrupted ends with code 130 and removes its temporary
// file.
func TestInterrupt(t *testing.T) {
	for i, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, os.Interrupt} {
		idle := i == 2 // nothing comes on stdin any more
		dir := t.TempDir()
		cmd := exec.Command("colsst", "convert", "-", "--input-format", "csv", "--time", "t:s", "--type", "v=double",
			"-o", filepath.Join(dir, "out.csst"))
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		var written atomic.Int64
		go func() {
			_, _ = io.WriteString(in, "t,v\n")
			for line := strings.Repeat("1,2\n", 1<<14); ; {
				n, err := io.WriteString(in, line)
				if written.Add(int64(n)); err != nil || idle {
					return
				}
			}
		}()
		if idle {
			time.Sleep(200 * time.Millisecond)
		} else {
			require.Eventually(t, func() bool { return written.Load() > 8<<20 }, 10*time.Second, 5*time.Millisecond)
		}
		require.NoError(t, cmd.Process.Signal(sig))
		err = cmd.Wait()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		require.Equal(t, 130, exit.ExitCode(), stderr.String())
		require.True(t, strings.HasSuffix(stderr.String(), "colsst: interrupted\n"), stderr.String())
		temporary, other := leftovers(t, dir)
		require.Empty(t, temporary)
		require.Empty(t, other)
	}
}
