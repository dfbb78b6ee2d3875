package cli

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
than --gc-grace seconds. It shows ranges and histograms of times and the largest
partitions, and from when on the whole file could be dropped, or what keeps it:
rows without TTL, or of several files of one table, as in a folder, those with
data as old as its deletions.`,
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
			paths, err := expand(args, isSSTableFormat)
			if err != nil {
				return err
			}
			lives := lifetimes(paths)
			return t.eachFileOf(args, isSSTableFormat, &out, func(path string, w *bufio.Writer) error {
				return t.surveyed(w, path, o, out.format, lives[filepath.Dir(path)])
			})
		})
	f := t.cmd.Flags()
	f.Int64Var(&o.GCGrace, "gc-grace", 864000, "seconds for which deletions are kept, the table's gc_grace_seconds")
	f.IntVar(&o.Largest, "largest", 10, "so many of the largest partitions")
	f.StringVar(&now.text, "now", "", "the time to count expired cells by: seconds since 1970, a time, or clock (the default)")
	t.namesFlag()
	t.maxRowFlag()
	out.report(t, "table", "json")
	return t.cmd
}

// lifetimes are those of SSTables, by their folder. What cannot be read the
// report of it tells.
func lifetimes(paths []string) map[string][]*cassandra.Lifetime {
	lives := map[string][]*cassandra.Lifetime{}
	for _, path := range paths {
		s, err := cassandra.Open(path)
		if err != nil {
			continue
		}
		if l, ok, err := s.Lifetime(); ok && err == nil {
			lives[filepath.Dir(path)] = append(lives[filepath.Dir(path)], l)
		}
		_ = s.Close() // only read
	}
	return lives
}

// expiredWhole says whether all of an SSTable has expired, by Statistics.db, and
// which of the others keep it.
func expiredWhole(path string, lives []*cassandra.Lifetime, gcBefore int64) (expired bool, blockers []string) {
	i := slices.IndexFunc(lives, func(l *cassandra.Lifetime) bool { return filepath.Clean(l.Path) == filepath.Clean(path) })
	if i < 0 || !lives[i].Expired(gcBefore) {
		return false, []string{}
	}
	return true, append([]string{}, lives[i].BlockedBy(lives, gcBefore)...)
}

// surveyLargest is a partition in the output of report.
type surveyLargest struct {
	Key   string `json:"key_hex"`
	Bytes int64  `json:"bytes"`
	Rows  int64  `json:"rows"`
}

func (t *tool) surveyed(w *bufio.Writer, path string, o cassandra.SurveyOptions, format string, lives []*cassandra.Lifetime) error {
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
	expired, blockers := expiredWhole(path, lives, o.Now-o.GCGrace)
	var estimate *int64
	if st := x.SSTable().Statistics.Stats; st != nil {
		n, _ := st.DroppableByStatistics(o.Now - o.GCGrace)
		estimate = &n
	}
	if format == "json" {
		return printJSON(w, struct {
			File    string `json:"file"`
			Now     int64  `json:"now"`
			GCGrace int64  `json:"gc_grace"`
			*cassandra.Survey
			Estimate  *int64          `json:"droppable_by_statistics"`
			Keeper    string          `json:"keeper_hex,omitempty"`
			Expired   bool            `json:"expired"`
			BlockedBy []string        `json:"blocked_by"`
			Largest   []surveyLargest `json:"largest"`
		}{path, o.Now, o.GCGrace, s, estimate, hex.EncodeToString(s.Keeper), expired, blockers, largest})
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
	if s.Droppable > 0 {
		counts.add("  of all", fmt.Sprintf("%.1f%%", 100*s.DroppableRatio))
	}
	if estimate != nil {
		counts.add("  by Statistics.db", humanize.Comma(*estimate))
	}
	if s.OverflowedExpiries > 0 { // which are read as the latest there can be
		counts.add("overflowed expiries", humanize.Comma(s.OverflowedExpiries))
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
	if s.Keeper != nil {
		ranges.add("kept longest by", "partition "+hex.EncodeToString(s.Keeper), "")
	}
	switch {
	case expired && len(blockers) == 0:
		ranges.add("expired", "all of it; no other SSTable given keeps it", "")
	case expired:
		ranges.add("expired", "all of it; kept by older data in", visible(strings.Join(blockers, ", ")))
	}
	partitions := grid{align: "lrr", indent: "  "}
	partitions.add("largest partitions (key in hex)", "bytes", "rows")
	for _, p := range largest {
		partitions.add(p.Key, humanize.Comma(p.Bytes), humanize.Comma(p.Rows))
	}
	if _, err := fmt.Fprintln(w, printable(path)); err != nil {
		return err
	}
	grids := []*grid{&counts, &ranges}
	for _, h := range []struct {
		name string
		of   *cassandra.Histogram
		text func(int64) string
	}{{"TTLs (s)", &s.TTLs, decimal}, {"expiries", &s.Expiries, secondText}, {"deletions", &s.Deletions, secondText}} {
		if bins := h.of.Bins(); len(bins) > 0 {
			grids = append(grids, histogramGrid(h.name, h.of, h.text))
		}
	}
	for _, g := range append(grids, &partitions) {
		if err := g.print(w); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }

func secondText(n int64) string { return time.Unix(n, 0).UTC().Format(time.RFC3339) }

// histogramGrid is a histogram as rows of bars.
func histogramGrid(name string, h *cassandra.Histogram, text func(int64) string) *grid {
	const longest = 40
	most := int64(1)
	for _, b := range h.Bins() {
		most = max(most, b.Count)
	}
	g := &grid{align: "lrl", indent: "  "}
	g.add(fmt.Sprintf("%s, in bins of %s", name, (time.Duration(h.Width())*time.Second).String()), "", "")
	for _, b := range h.Bins() {
		g.add("  "+text(b.From), humanize.Comma(b.Count), strings.Repeat("█", int(max(1, b.Count*longest/most))))
	}
	return g
}
