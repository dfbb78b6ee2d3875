package cli

import (
	"encoding/json"
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
	var format string
	t := command("version", "Print the version", "", cobra.NoArgs, func(t *tool, _ []string) error {
		v := versionInfo{version(), columnar.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
		switch format {
		case "json":
			return json.NewEncoder(t.cmd.OutOrStdout()).Encode(v)
		case "table":
			_, err := fmt.Fprintf(t.cmd.OutOrStdout(), "colsst %s, format %d, %s, %s\n", v.Version, v.Format, v.Go, v.Platform)
			return err
		}
		return usagef("--format %s: expected table or json", format)
	})
	t.cmd.Flags().StringVar(&format, "format", "table", "table or json")
	return t.cmd
}
