// Command colsst writes, reads and inspects columnar SSTables.
package main

import (
	"os"

	"github.com/colsst/colsst/cmd/colsst/cli"
)

func main() { os.Exit(cli.Execute(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
