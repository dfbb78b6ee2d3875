// Command compare compares what the package cassandra reads in SSTables with
// what Cassandra does, event by event.
//
//	compare LIST EXCEPTIONS ROOT ...
//
// LIST has two lines for each SSTable, the path of Data.db and that of the text
// that java/Dump.java made of it; beside that goes ours, as TEXT.ours. Further,
// each is verified with all its components, and its body written anew from a
// colsst file. A line for each says how it comes out. EXCEPTIONS has what is
// known beforehand, of paths below a ROOT. If one differs, the exit code is 1.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: compare LIST EXCEPTIONS ROOT ...")
		os.Exit(2)
	}
	err := run(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(list, exceptions string, roots []string) error {
	paths, err := lines(list)
	if err != nil {
		return err
	}
	known, err := lines(exceptions)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for ; len(paths) >= 2; paths = paths[2:] {
		name := paths[0]
		for _, root := range roots {
			if rel, err := filepath.Rel(root, paths[0]); err == nil && filepath.IsLocal(rel) {
				name = filepath.ToSlash(rel)
			}
		}
		var x exception
		for _, line := range known {
			if f := strings.SplitN(line, " ", 3); len(f) == 3 && strings.HasPrefix(name, f[1]) {
				x = exception{f[0], f[2]}
			}
		}
		theirs, err := os.ReadFile(paths[1])
		if err != nil {
			return err
		}
		outcome, detail, ours := compare(paths[0], theirs, x)
		if err := os.WriteFile(paths[1]+".ours", ours, 0o666); err != nil {
			return err
		}
		counts[outcome]++
		if detail != "" {
			detail = ": " + detail
		}
		fmt.Printf("%-7s %s%s\n", outcome, name, detail)
	}
	fmt.Printf("\n%d equal, %d refused, %d differ\n", counts[equal], counts[refused], counts[differs])
	if counts[differs] > 0 {
		return errors.New("not all are equal")
	}
	return nil
}

// exception is what is known of an SSTable beforehand.
type exception struct {
	who string // cassandra, colsst, both: refuse it; warning; or nobody
	why string
}

func (x exception) cassandra() bool { return x.who == "cassandra" || x.who == "both" }
func (x exception) colsst() bool    { return x.who == "colsst" || x.who == "both" }

func lines(name string) (list []string, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list, nil
}
