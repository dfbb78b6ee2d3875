package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
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
	kills := 5
	if s := os.Getenv("COLSST_KILLS"); s != "" {
		var err error
		kills, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
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
