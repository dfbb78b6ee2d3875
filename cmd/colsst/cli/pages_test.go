package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	// A block of a page: a file for the sessions, or a session.
	pageBlock = regexp.MustCompile("(?s)(?:<!-- file: (\\S+) -->\n)?```(\\w*)\n(.*?)```")
	// What may change with every better encoding.
	byteCounts = regexp.MustCompile(`[0-9.,]+ bytes`)
	byteTables = regexp.MustCompile("(?m)^(\\$ colsst (?:try|describe) .*\n.*\n)(?:[^$`\n].*\n|\\$[^ ].*\n|\n)*")
)

// stable is a page without what may change with every better encoding.
func stable(page string) string {
	return byteTables.ReplaceAllString(byteCounts.ReplaceAllString(page, "# bytes"), "$1")
}

// The sessions of the pages (blocks of console, in which lines that begin with
// $ are commands) print what they show, but for counts of bytes, and tables of
// them after their first line. With
// UPDATE_DOCS=1 the pages are brought up to date.
func TestPages(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("no shell to run the commands of the pages with")
	}
	for _, page := range []string{"README.md", "docs/guide.md"} {
		t.Run(page, func(t *testing.T) {
			path := "../../../" + page
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			dir := t.TempDir()
			now := pageBlock.ReplaceAllStringFunc(string(text), func(block string) string {
				sub := pageBlock.FindStringSubmatch(block)
				file, kind, body := sub[1], sub[2], sub[3]
				if file != "" {
					require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(body), 0o600))
				}
				if kind != "console" {
					return block
				}
				return "```console\n" + session(t, dir, body) + "```"
			})
			if os.Getenv("UPDATE_DOCS") != "" {
				require.NoError(t, os.WriteFile(path, []byte(now), 0o600))
				return
			}
			require.Equal(t, stable(string(text)), stable(now))
		})
	}
}

// session runs the commands of a session and shows it as it went.
func session(t *testing.T, dir, body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue
		}
		cmd := exec.Command("sh", "-c", command)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			require.IsType(t, &exec.ExitError{}, err, command)
		}
		b.WriteString(line)
		b.Write(out)
	}
	return b.String()
}
