// Command compare compares the rows that readers found in Parquet files with
// those that must be there, and prints a line for each file and reader.
//
//	compare LIST READERS EXCEPTIONS
//
// LIST has two lines for each file, its path and the folder with READER.txt or
// READER.error of each of the READERS, names with commas between, and
// expected.txt; where that is missing, the first reader that has a text says
// what the others must show. EXCEPTIONS has lines of a reader's name, a pattern
// of names of files, and why the reader shows something else, or nothing. If one
// differs that is not excepted, the exit code is 1.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: compare LIST READERS EXCEPTIONS")
		os.Exit(2)
	}
	ok, err := run(os.Args[1], strings.Split(os.Args[2], ","), os.Args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// exception is what a reader is known not to do.
type exception struct {
	reader, pattern, why string
	used                 bool
}

func run(list string, readers []string, exceptions string) (ok bool, err error) {
	text, err := os.ReadFile(list)
	if err != nil {
		return false, err
	}
	known, err := readExceptions(exceptions)
	if err != nil {
		return false, err
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	counts := map[string]int{}
	for ; len(lines) >= 2; lines = lines[2:] {
		name := strings.TrimSuffix(filepath.Base(lines[0]), ".parquet")
		expected, err := os.ReadFile(filepath.Join(lines[1], "expected.txt"))
		by := "expected"
		for _, r := range readers {
			if err == nil {
				break
			}
			expected, err = os.ReadFile(filepath.Join(lines[1], r+".txt"))
			by = r
		}
		if err != nil {
			return false, fmt.Errorf("%s: nobody reads it", name)
		}
		for _, r := range readers {
			if r == by {
				continue
			}
			outcome, detail, err := compare(lines[1], r, expected)
			if err != nil {
				return false, err
			}
			if outcome != "equal" {
				for i := range known {
					if match, _ := filepath.Match(known[i].pattern, name); match && known[i].reader == r {
						known[i].used = true
						outcome, detail = "not supported", known[i].why
						break
					}
				}
			}
			counts[outcome]++
			fmt.Printf("%-13s %-40s %-12s %s\n", outcome, name, r, detail)
		}
	}
	for _, x := range known {
		if !x.used {
			fmt.Printf("not needed: %s %s %s\n", x.reader, x.pattern, x.why)
		}
	}
	fmt.Printf("%d equal, %d not supported, %d differ, %d fail\n", counts["equal"], counts["not supported"], counts["differs"], counts["fails"])
	return counts["differs"]+counts["fails"] == 0, nil
}

func readExceptions(path string) (known []exception, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		if len(f) < 3 {
			return nil, fmt.Errorf("%s: %q has no reason", path, line)
		}
		known = append(known, exception{reader: f[0], pattern: f[1], why: f[2]})
	}
	return known, nil
}

// compare compares the text of a reader with what it must be.
func compare(folder, reader string, expected []byte) (outcome, detail string, err error) {
	found, err := os.ReadFile(filepath.Join(folder, reader+".txt"))
	if errors.Is(err, os.ErrNotExist) {
		said, err := os.ReadFile(filepath.Join(folder, reader+".error"))
		return "fails", strings.TrimSpace(string(said)), err
	}
	if err != nil || bytes.Equal(found, expected) {
		return "equal", "", err
	}
	a, b := strings.Split(string(expected), "\n"), strings.Split(string(found), "\n")
	names := strings.Split(a[0], "\t")
	for i := range min(len(a), len(b)) {
		if a[i] == b[i] {
			continue
		}
		x, y := strings.Split(a[i], "\t"), strings.Split(b[i], "\t")
		for c := range min(len(x), len(y), len(names)) {
			if x[c] != y[c] {
				return "differs", fmt.Sprintf("row %d, %s: %s, not %s", i, names[c], shorten(y[c]), shorten(x[c])), nil
			}
		}
		return "differs", fmt.Sprintf("row %d has %d fields, not %d", i, len(y), len(x)), nil
	}
	return "differs", fmt.Sprintf("%d lines, not %d", len(b), len(a)), nil
}

func shorten(s string) string {
	if len(s) > 100 {
		return s[:100] + "..."
	}
	return s
}
