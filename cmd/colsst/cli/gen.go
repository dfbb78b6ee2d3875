package cli

import (
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

type gen struct {
	*tool
	table   tableFlags
	out     outFlags
	summary string
}

func newGen() *cobra.Command {
	cmd := &cobra.Command{
		Use: "gen", Short: "Generate synthetic tables", SilenceUsage: true, SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("gen: there is no table %q; there are metrics5 and points", args[0])
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return usagef("gen: which table? There are metrics5 and points") },
	}
	cmd.SetFlagErrorFunc(flagError)
	cmd.AddCommand(newGenMetrics5(), newGenPoints())
	return cmd
}

func newGenMetrics5() *cobra.Command {
	g := &gen{}
	m := generate.Metrics5{}
	var variant string
	g.tool = command("metrics5 -o OUT [flags]", "Points of metrics with write times, TTLs and expiries",
		`Metrics5 is a table of series (text, the partition key), time (int, ascending)
and value (float): a point every 5 seconds. Every row has its own write time
and a TTL of 30 days less its age. The same flags give the same rows
everywhere. CSV output has the columns write_time, ttl and expiry too.`,
		cobra.NoArgs, func(*tool, []string) (err error) {
			if m.Variant, err = generate.ParseVariant(variant); err != nil {
				return usagef("--variant: %w", err)
			}
			if err := m.Check(); err != nil {
				return usagef("%w", err)
			}
			return g.run(m.Schema(), m.Rows, int64(m.Series)*int64(m.Points), true)
		})
	f := g.cmd.Flags()
	g.flags()
	f.IntVar(&m.Series, "series", 20, "partitions")
	f.IntVar(&m.Points, "points", generate.WeekPoints, "rows of each")
	f.StringVar(&variant, "variant", "full", "full: all digits; 2dec: two decimals; backfill: as full, but inserted late")
	f.Uint64Var(&m.Seed, "seed", generate.Seed, "seed of the random numbers")
	return g.cmd
}

func newGenPoints() *cobra.Command {
	g := &gen{}
	p := generate.Points{}
	g.tool = command("points -o OUT [flags]", "Many partitions of few points",
		`Points is a table of key (bigint, the partition key), time (timestamp(ms)) and
value (double). The same flags give the same rows everywhere.`,
		cobra.NoArgs, func(*tool, []string) error {
			if err := p.Check(); err != nil {
				return usagef("%w", err)
			}
			return g.run(p.Schema(), p.Rows, int64(p.Partitions)*int64(p.PerKey), false)
		})
	f := g.cmd.Flags()
	g.flags()
	f.IntVar(&p.Partitions, "partitions", 1000, "partitions")
	f.IntVar(&p.PerKey, "rows", 100, "rows of each")
	f.Uint64Var(&p.Seed, "seed", generate.Seed, "seed of the random numbers")
	return g.cmd
}

func (g *gen) flags() {
	g.out.add(g.cmd)
	g.table.add(g.cmd)
	g.cmd.Flags().StringVar(&g.summary, "summary", "", "json: a last line of JSON on stderr")
}

func (g *gen) run(s *rowgroup.Schema, rows func() rowgroup.Iter, total int64, metadata bool) error {
	if g.summary != "" && g.summary != "json" {
		return usagef("--summary %s: expected json", g.summary)
	}
	if err := g.out.check(); err != nil {
		return err
	}
	opts, err := g.table.options()
	if err != nil {
		return err
	}
	out, err := g.createOutput(&g.out)
	if err != nil {
		return err
	}
	defer out.abort()
	var to sink
	if g.out.format == formatTable {
		to, err = newTableSink(out, s, nil, opts)
	} else {
		o := textfmt.CSVWriteOptions{RowMetadata: metadata}
		if metadata {
			o.NoHeader = true
			_, err = out.w.WriteString("series,time,value,write_time,ttl,expiry\n")
		}
		if err == nil {
			to, err = newCSVSink(out, s, o)
		}
	}
	if err != nil {
		return err
	}
	bar := g.newProgress(out.name, total, false)
	defer bar.end()
	err = eachBatch(g.ctx(), rows(), s, -1, func(b *rowgroup.Batch) error {
		bar.add(int64(b.Len()))
		return to.write(b)
	})
	if err == nil {
		err = to.end()
	}
	if err == nil {
		err = out.commit()
	}
	if err != nil {
		return err
	}
	bar.end()
	return g.printSummary(&summary{Output: out.name, Rows: total, BytesOut: out.n}, g.summary == "json")
}
