package cli

import (
	"bufio"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/columnar"
)

// version is the module's version as the build knows it.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

type versionInfo struct {
	Version  string `json:"version"`
	Format   int    `json:"format"` // the newest that is read, and the one that is written
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersion() *cobra.Command {
	var out outFlags
	t := command("version", "Print the version", "", arguments{0, 0, ""}, func(t *tool, _ []string) error {
		v := versionInfo{version(), columnar.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
		if err := oneOf("format", out.format, "table", "json"); err != nil {
			return err
		}
		return t.report(&out, func(w *bufio.Writer) error {
			if out.format == "json" {
				return printLine(w, v)
			}
			_, err := fmt.Fprintf(w, "colsst %s, format %d, %s, %s\n", v.Version, v.Format, v.Go, v.Platform)
			return err
		})
	})
	out.report(t, "table", "json")
	return t.cmd
}
