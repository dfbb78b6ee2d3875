package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

type gen struct {
	*tool
	table   tableFlags
	parquet parquetFlags
	out     outFlags
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
everywhere; no series make an empty table. CSV output has the columns
write_time, ttl and expiry too.`,
		arguments{0, 0, ""}, func(*tool, []string) (err error) {
			if m.Variant, err = generate.ParseVariant(variant); err != nil {
				return usagef("--variant: %w", err)
			}
			if m.Series < 0 {
				return usagef("--series %d: expected 0 or more", m.Series)
			}
			if m.Points < 1 || m.Points > generate.MaxPoints {
				return usagef("--points %d: expected 1 to %d", m.Points, generate.MaxPoints)
			}
			if err := m.Check(); err != nil {
				return usagef("%w", err)
			}
			return g.run(m.Schema(), m.Rows, int64(m.Series)*int64(m.Points), true)
		})
	f := g.cmd.Flags()
	g.flags()
	f.IntVar(&m.Series, "series", 20, "partitions; 0 for an empty table")
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
value (double). The same flags give the same rows everywhere; no partitions make
an empty table.`,
		arguments{0, 0, ""}, func(*tool, []string) error {
			if p.Partitions < 0 {
				return usagef("--partitions %d: expected 0 or more", p.Partitions)
			}
			if p.PerKey < 1 {
				return usagef("--rows %d: expected 1 or more", p.PerKey)
			}
			if err := p.Check(); err != nil {
				return usagef("%w", err)
			}
			return g.run(p.Schema(), p.Rows, int64(p.Partitions)*int64(p.PerKey), false)
		})
	f := g.cmd.Flags()
	g.flags()
	f.IntVar(&p.Partitions, "partitions", 1000, "partitions; 0 for an empty table")
	f.IntVar(&p.PerKey, "rows", 100, "rows of each")
	f.Uint64Var(&p.Seed, "seed", generate.Seed, "seed of the random numbers")
	return g.cmd
}

func (g *gen) flags() {
	g.out.file(g.tool)
	g.table.add(g.tool)
	g.parquet.add(g.tool)
}

func (g *gen) run(s *rowgroup.Schema, rows func() rowgroup.Iter, total int64, metadata bool) error {
	if g.out.format != "" {
		if err := oneOf("output-format", g.out.format, outputFormats...); err != nil {
			return err
		}
	}
	if err := g.out.check(); err != nil {
		return err
	}
	if g.out.format != formatTable && g.out.format != formatParquet {
		if err := g.refuse("is for table files; the output is "+g.out.format, "set", "encoding", "column-compression", "compression", "filter"); err != nil {
			return err
		}
	}
	var opts []columnar.Option
	var parquet []parquetfmt.Option
	var err error
	if g.out.format == formatParquet {
		parquet, err = g.parquet.options(g.tool, &g.table, metadata && !g.parquet.lossless)
	} else if err = g.refuse("is for Parquet; the output is "+g.out.format, parquetOnly...); err == nil {
		opts, err = g.table.options()
	}
	if err != nil {
		return err
	}
	out, err := g.createRows(&g.out)
	if err != nil {
		return err
	}
	defer out.abort()
	to, err := g.sink(out, s, metadata, opts, parquet)
	if err != nil {
		return err
	}
	bar := g.newProgress(out.name, total, false)
	defer bar.end()
	err = eachBatch(g.ctx(), rows(), s, -1, func(b *rowgroup.Batch) error {
		bar.rows(int64(b.Len()))
		bar.out(out.n)
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
	g.sum.Output = out.name
	g.written(out, total, nil)
	return nil
}

func (g *gen) sink(out *output, s *rowgroup.Schema, metadata bool, opts []columnar.Option, parquet []parquetfmt.Option) (sink, error) {
	if g.out.format == formatParquet {
		return newParquetSink(out, s, nil, parquet)
	}
	if g.out.format == formatTable {
		return newTableSink(out, s, nil, opts)
	}
	o := textOut{format: g.out.format, metadata: metadata && g.out.format != formatLine, measurement: g.cmd.Name(), precision: timeUnit(s)}
	if g.out.format == formatTSV {
		o.csv.Separator = '\t'
	}
	if metadata && isCSV(g.out.format) {
		// Names that are easier to type than those of row metadata.
		names := []string{"series", "time", "value", "write_time", "ttl", "expiry"}
		o.csv.NoHeader = true
		if _, err := out.w.WriteString(strings.Join(names, string(rune(max(o.csv.Separator, ',')))) + "\n"); err != nil {
			return nil, err
		}
	}
	return newTextSink(out, s, o)
}
