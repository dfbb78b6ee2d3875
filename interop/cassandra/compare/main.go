// Command compare compares what the package cassandra reads in SSTables with
// what Cassandra does, event by event.
//
//	compare LIST REFUSED ROOT ...
//
// LIST has two lines for each SSTable, the path of Data.db and that of the text
// that java/Dump.java made of it; beside that goes ours, as TEXT.ours. REFUSED
// lists the SSTables that Cassandra cannot read, as paths below a ROOT or
// the beginnings of such, a blank, and the reason. A line for each SSTable says how
// it comes out; if one differs, the exit code is 1.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/colsst/colsst/cassandra"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: compare LIST REFUSED ROOT ...")
		os.Exit(2)
	}
	ok, err := run(os.Args[1], os.Args[2], os.Args[3:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(list, refused string, roots []string) (ok bool, err error) {
	paths, err := lines(list)
	if err != nil {
		return false, err
	}
	reasons, err := lines(refused)
	if err != nil {
		return false, err
	}
	counts := map[string]int{}
	for ; len(paths) >= 2; paths = paths[2:] {
		name := paths[0]
		for _, root := range roots {
			if rel, err := filepath.Rel(root, paths[0]); err == nil && filepath.IsLocal(rel) {
				name = filepath.ToSlash(rel)
			}
		}
		known := ""
		for _, line := range reasons {
			if prefix, reason, _ := strings.Cut(line, " "); strings.HasPrefix(name, prefix) {
				known = reason
			}
		}
		outcome, detail, err := compare(paths[0], paths[1], known)
		if err != nil {
			return false, err
		}
		counts[outcome]++
		if detail != "" {
			detail = ": " + detail
		}
		fmt.Printf("%-7s %s%s\n", outcome, name, detail)
	}
	fmt.Printf("\n%d equal, %d refused by Cassandra, %d differ\n", counts[equal], counts[refusal], counts[differs])
	return counts[differs] == 0, nil
}

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

// How a comparison comes out.
const (
	equal   = "equal"
	differs = "differs"
	refusal = "refused" // by Cassandra, for a reason that is known
)

// compare reads an SSTable and compares it with Cassandra's text of it. known
// is why Cassandra refuses it, or empty.
func compare(data, text, known string) (outcome, detail string, err error) {
	theirs, err := os.ReadFile(text)
	if err != nil {
		return "", "", err
	}
	var ours bytes.Buffer
	s, failed := cassandra.Open(data)
	overflown := false
	if failed == nil {
		overflown = s.Version.LocalDeletionTime(1<<31) < 0
		failed = errors.Join(printTable(&ours, s), s.Close())
	}
	if err := os.WriteFile(text+".ours", ours.Bytes(), 0o666); err != nil {
		return "", "", err
	}
	if at := strings.LastIndex("\n"+string(theirs), "\nerror "); at >= 0 || known != "" {
		switch {
		case at < 0:
			return differs, "Cassandra reads it, though it is listed as refused: " + known, nil
		case known == "":
			return differs, "Cassandra refuses it: " + strings.TrimSpace(string(theirs[at:])), nil
		case failed != nil:
			return refusal, known + ", by us too", nil
		}
		return refusal, known, nil
	}
	if failed != nil {
		return differs, failed.Error(), nil
	}
	overflows, detail := difference(ours.String(), string(theirs), overflown)
	switch {
	case detail != "":
		return differs, detail, nil
	case overflows > 0:
		return equal, fmt.Sprintf("but for %d times past 2038, which Cassandra takes for invalid", overflows), nil
	}
	return equal, "", nil
}

// invalidTime is what Cassandra 5.0 makes of local deletion times before oa
// that are negative, or that it finds so since it adds the least one in the
// header with 64 bits, where the writer subtracted it with 32.
const invalidTime = "4294967294"

// difference says where two texts differ first. With overflown it passes over
// invalid times, and counts them.
func difference(ours, theirs string, overflown bool) (overflows int, detail string) {
	a, b := strings.Split(ours, "\n"), strings.Split(theirs, "\n")
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a):
			return 0, fmt.Sprintf("line %d: Cassandra goes on: %.100s", i+1, b[i])
		case i >= len(b):
			return 0, fmt.Sprintf("line %d: Cassandra has ended: %.100s", i+1, a[i])
		case a[i] == b[i]:
			continue
		}
		x, y := strings.Split(a[i], " "), strings.Split(b[i], " ")
		same := overflown && len(x) == len(y)
		for k := 0; same && k < len(x); k++ {
			if x[k] != y[k] {
				_, err := strconv.ParseInt(x[k], 10, 64)
				same = err == nil && y[k] == invalidTime
				overflows++
			}
		}
		if !same {
			return 0, fmt.Sprintf("line %d: %.100s; Cassandra: %.100s", i+1, a[i], b[i])
		}
	}
	return overflows, ""
}
