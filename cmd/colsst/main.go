// Command colsst writes, reads and inspects columnar SSTables.
package main

import (
	"os"
	_ "time/tzdata" // --tz works on machines that have none

	"github.com/colsst/colsst/cmd/colsst/cli"
)

func main() { os.Exit(cli.Execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
