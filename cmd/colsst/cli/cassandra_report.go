package cli

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cassandra"
)

func newCassandraReport() *cobra.Command {
	var out outFlags
	var now nowFlag
	o := cassandra.SurveyOptions{}
	t := command("report FILE... [flags]", "Count what SSTables hold: live, expiring, expired, deleted",
		`Report reads SSTables and counts cells that are live, expiring and expired,
tombstones of every kind, and those of them that could be dropped: dead for more
than --gc-grace seconds. It shows ranges of times and the largest partitions, and
from when on the whole file could be dropped, or what keeps it.`,
		arguments{1, -1, "at least one FILE"}, func(t *tool, args []string) error {
			if err := oneOf("format", out.format, "table", "json"); err != nil {
				return err
			}
			second, given, err := now.parse()
			switch {
			case err != nil:
				return err
			case o.GCGrace < 0 || o.Largest < 0:
				return usagef("--gc-grace and --largest: expected 0 or more")
			case given:
				o.Now = second
			default:
				o.Now = time.Now().Unix()
			}
			return t.eachFileOf(args, isSSTableFormat, &out, func(path string, w *bufio.Writer) error {
				return t.surveyed(w, path, o, out.format)
			})
		})
	f := t.cmd.Flags()
	f.Int64Var(&o.GCGrace, "gc-grace", 864000, "seconds for which deletions are kept, the table's gc_grace_seconds")
	f.IntVar(&o.Largest, "largest", 10, "so many of the largest partitions")
	f.StringVar(&now.text, "now", "", "the time to count expired cells by: seconds since 1970, a time, or clock (the default)")
	t.namesFlag()
	out.report(t, "table", "json")
	return t.cmd
}

// surveyLargest is a partition in the output of report.
type surveyLargest struct {
	Key   string `json:"key_hex"`
	Bytes int64  `json:"bytes"`
	Rows  int64  `json:"rows"`
}

func (t *tool) surveyed(w *bufio.Writer, path string, o cassandra.SurveyOptions, format string) error {
	x, err := t.openSSTable(path)
	if err != nil {
		return err
	}
	defer func() { _ = x.SSTable().Close() }() // only read
	s, err := x.SSTable().Survey(t.ctx(), o)
	if err != nil {
		return orElse(exitData, named(path, err))
	}
	t.sum.Rows += s.Rows
	largest := []surveyLargest{}
	for _, p := range s.Largest {
		largest = append(largest, surveyLargest{hex.EncodeToString(p.Key), p.Bytes, p.Rows})
	}
	if format == "json" {
		return printJSON(w, struct {
			File    string `json:"file"`
			Now     int64  `json:"now"`
			GCGrace int64  `json:"gc_grace"`
			*cassandra.Survey
			Largest []surveyLargest `json:"largest"`
		}{path, o.Now, o.GCGrace, s, largest})
	}
	counts := grid{align: "lr", indent: "  "}
	for _, c := range []struct {
		name string
		n    int64
	}{
		{"partitions", s.Partitions}, {"rows", s.Rows}, {"static rows", s.StaticRows},
		{"live cells", s.LiveCells}, {"expiring cells", s.ExpiringCells}, {"expired cells", s.ExpiredCells},
		{"partition tombstones", s.Tombstones.Partitions}, {"range tombstones", s.Tombstones.Ranges}, {"row tombstones", s.Tombstones.Rows},
		{"collection tombstones", s.Tombstones.Complex}, {"cell tombstones", s.Tombstones.Cells}, {"droppable", s.Droppable},
	} {
		counts.add(c.name, humanize.Comma(c.n))
	}
	ranges := grid{align: "lll", indent: "  "}
	number := func(v *int64) string {
		if v == nil {
			return "none"
		}
		return strconv.FormatInt(*v, 10)
	}
	ranges.add("timestamps", number(s.MinTimestamp), "to "+number(s.MaxTimestamp))
	ranges.add("TTLs", number(s.MinTTL), "to "+number(s.MaxTTL))
	ranges.add("expiries", deletionText(s.MinExpiry), "to "+deletionText(s.MaxExpiry))
	ranges.add("deletions", deletionText(s.MinDeletion), "to "+deletionText(s.MaxDeletion))
	whole := deletionText(s.DroppableAt)
	if s.NeverExpire > 0 {
		whole = "never: " + plural(s.NeverExpire, "row or cell without TTL", "rows and cells without TTL")
	}
	ranges.add("whole file droppable", whole, "")
	partitions := grid{align: "lrr", indent: "  "}
	partitions.add("largest partitions (key in hex)", "bytes", "rows")
	for _, p := range largest {
		partitions.add(p.Key, humanize.Comma(p.Bytes), humanize.Comma(p.Rows))
	}
	if _, err := fmt.Fprintln(w, printable(path)); err != nil {
		return err
	}
	for _, g := range []*grid{&counts, &ranges, &partitions} {
		if err := g.print(w); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}
