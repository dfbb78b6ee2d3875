// Command dumps compares what the tool colsst prints for dump --sstabledump
// with what Cassandra's sstabledump does, byte for byte.
//
//	dumps runs LIST FOLDER COLSST >RUNS
//	dumps compare RUNS COLSST EXCEPTIONS,... ROOT ...
//
// LIST has a line for each SSTable, the path of its Data.db. RUNS has a line for each SSTable and mode, as java/Sstabledump.java
// reads it. COLSST is the tool. The other arguments are as those of the command
// compare, but several files may have exceptions.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	var err error
	switch args := os.Args[1:]; {
	case len(args) == 4 && args[0] == "runs":
		err = runs(args[1], args[2], args[3])
	case len(args) >= 4 && args[0] == "compare":
		err = compare(args[1], args[2], strings.Split(args[3], ","), args[4:])
	default:
		fmt.Fprintln(os.Stderr, "usage: dumps runs LIST FOLDER COLSST | compare RUNS COLSST EXCEPTIONS,... ROOT ...")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// The times of day, in seconds: some of the cells have expired, or all.
const (
	now   = "1700050000"
	later = "4200000000"
)

// modes are the combinations of flags; KEYS stands for some keys.
var modes = []struct{ name, now, flags string }{
	{"pretty", now, ""},
	{"later", later, ""},
	{"-l", now, "-l"},
	{"-t", now, "-t"},
	{"-lt", now, "-l -t"},
	{"-e", now, "-e"},
	{"-d", now, "-d"},
	{"-k", now, "-k KEYS"},
	{"-x", now, "-x KEYS"},
	{"-dx", now, "-d -x KEYS"},
}

// runs prints the runs. Keys are taken as the tool prints them, which mode -e
// compares.
func runs(list, folder, colsst string) error {
	paths, err := lines(list)
	if err != nil {
		return err
	}
	for i, path := range paths {
		keys := someKeys(colsst, path)
		for _, m := range modes {
			run := []string{filepath.Join(folder, fmt.Sprintf("%d.%s", i+1, m.name)), m.now, path}
			for _, flag := range strings.Fields(m.flags) {
				if flag == "KEYS" {
					run = append(run, keys...)
				} else {
					run = append(run, flag)
				}
			}
			if strings.Contains(m.flags, "KEYS") && len(keys) == 0 {
				continue
			}
			fmt.Println(strings.Join(run, "\t"))
		}
	}
	return nil
}

// someKeys are the first and a middle one of the partition keys that can stand
// on a line and, to Cassandra's tool, are no flag.
func someKeys(colsst, path string) []string {
	text, err := exec.Command(colsst, "dump", "--sstabledump", "-e", path).Output()
	var all [][]string
	if err != nil || json.Unmarshal(text, &all) != nil {
		return nil
	}
	var keys []string
	for _, key := range all {
		plain := true
		for _, s := range key {
			plain = plain && s != "" && !strings.ContainsAny(s, "-:@!\\\t\n\r\x00")
		}
		if plain {
			keys = append(keys, strings.Join(key, ":"))
		}
	}
	if n := len(keys); n > 2 {
		keys = []string{keys[n/2], keys[0]}
	}
	return keys
}

func compare(list, colsst string, exceptions, roots []string) error {
	all, err := lines(list)
	if err != nil {
		return err
	}
	var known []string
	for _, name := range exceptions {
		some, err := lines(name)
		if err != nil {
			return err
		}
		known = append(known, some...)
	}
	counts := map[string]int{}
	for _, line := range all {
		f := strings.Split(line, "\t")
		name := f[2]
		for _, root := range roots {
			if rel, err := filepath.Rel(root, name); err == nil && filepath.IsLocal(rel) {
				name = filepath.ToSlash(rel)
			}
		}
		_, mode, _ := strings.Cut(filepath.Base(f[0]), ".")
		outcome, detail := outcome(f[0], colsst, arguments(f))
		if outcome == refused {
			why := ""
			for _, line := range known {
				if x := strings.SplitN(line, " ", 3); len(x) == 3 && strings.HasPrefix(name, x[1]) {
					why = x[2]
				}
			}
			if why == "" {
				outcome = differs
			} else {
				detail = why
			}
		}
		counts[outcome]++
		if detail != "" {
			detail = ": " + detail
		}
		fmt.Printf("%-7s %-6s %s%s\n", outcome, mode, name, detail)
	}
	fmt.Printf("\n%d dumps: %d equal, %d refused, %d differ\n", len(all), counts[equal], counts[refused], counts[differs])
	if counts[differs] > 0 {
		return errors.New("not all dumps are equal")
	}
	return nil
}

// The outcomes of a run.
const (
	equal   = "equal"
	differs = "differs"
	refused = "refused"
)

// arguments are those of the tool for a run: the flags have the same letters,
// but -k and -x take one key each.
func arguments(run []string) []string {
	args := []string{"dump", "--sstabledump", "--now", run[1], run[2]}
	flag := ""
	for _, a := range run[3:] {
		switch {
		case a == "-k" || a == "-x":
			flag = a
		case flag != "":
			args = append(args, flag+a)
		default:
			args = append(args, a)
		}
	}
	return args
}

// outcome runs the tool and compares its output with Cassandra's, at path.
func outcome(path, colsst string, args []string) (outcome, detail string) {
	theirs, err := os.ReadFile(path)
	if err != nil {
		return differs, err.Error()
	}
	cmd := exec.Command(colsst, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	ours, err := cmd.Output()
	if err := os.WriteFile(path+".ours", ours, 0o666); err != nil {
		return differs, err.Error()
	}
	thrown, errThrown := os.ReadFile(path + ".error")
	switch {
	case err != nil && errThrown == nil:
		return refused, fmt.Sprintf("colsst: %s; Cassandra: %s", firstLine(stderr.Bytes()), firstLine(thrown))
	case err != nil:
		return refused, "colsst: " + firstLine(stderr.Bytes())
	case errThrown == nil && !bytes.HasPrefix(ours, bytes.TrimRight(theirs, " \n]}")): // as far as it came
		return differs, "before Cassandra's error: " + difference(ours, theirs)
	case errThrown == nil:
		return refused, "Cassandra: " + firstLine(thrown)
	case bytes.Equal(ours, theirs):
		return equal, ""
	}
	return differs, difference(ours, theirs)
}

// difference shows where two texts differ first.
func difference(ours, theirs []byte) string {
	at := 0
	for at < min(len(ours), len(theirs)) && ours[at] == theirs[at] {
		at++
	}
	around := func(b []byte) string { return string(b[max(0, at-30):min(len(b), at+40)]) }
	return fmt.Sprintf("byte %d: %q; Cassandra: %q", at, around(ours), around(theirs))
}

func firstLine(b []byte) string {
	s, _, _ := strings.Cut(strings.TrimSpace(string(b)), "\n")
	return s
}

func lines(name string) (list []string, err error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimRight(line, "\n"); strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list, nil
}
