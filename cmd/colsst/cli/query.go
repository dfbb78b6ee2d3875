package cli

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cmd/colsst/internal/predicate"
	"github.com/colsst/colsst/rowgroup"
)

// rowQuery asks for current rows of table files.
type rowQuery struct {
	*tool
	out          outFlags
	columns      []string
	key, keyHex  string
	hasKey       bool
	since, until string
	whereText    string
	where        *predicate.Expr
	agg          aggregates
	latest       int
	desc, asc    bool
	now          int64
	nowGiven     bool
	skip         skipFlags
	limit        int64
}

func newQuery() *cobra.Command {
	q := &rowQuery{}
	var now nowFlag
	q.tool = command("query FILE... [flags]", "Print rows of table files",
		`Query prints the rows of one partition, or of all without --key, as they are
now: deletions are applied, and nothing has expired unless --now says so.

--where prints the rows for which a condition is true: columns compared with
values by =, !=, <, <=, >, >=, in (a, b) or is [not] null, joined by and, or,
not and parentheses, as in

  load > 0.5 and (host = 'web1' or note is not null)

Values and names that are no plain words stand in quotes. As in SQL a
comparison with a null is unknown, and so is not of it; a row counts where all
is true. -0 equals 0; NaN is neither less nor greater than a number and equals
NaN alone.

--agg prints what comes of the rows in place of them: a list of count, count(c),
min(c), max(c), sum(c), avg(c), first(c) and last(c), the latter two by the
order of the clustering. --by partition does so for each partition, and --every
for each window of time, which begins at a whole number of windows since 1970 in
UTC: 30s, 5m, 1h, 7d, 2w, or a bare number of what the column counts. Nulls are
left out, and NaNs of min and max; of no values at all count is 0 and the others
are null. Sums of integers are exact, those of floating point numbers rounded
once.

--since and --until bound the first clustering column, half open: since is
part of the range, until is not. Where that is a time they take the forms of a
CSV: 2014-02-28, 2014-02-28 14:10, 2014-02-28T14:10:00.5+01:00, in UTC unless
they say otherwise, or a bare integer that counts the column's unit. Rows come
in the order of the table, or greatest first with --desc, least first with
--asc. Several files of the same columns are printed one after another.`,
		arguments{1, -1, "at least one FILE"}, func(_ *tool, args []string) (err error) {
			if q.now, q.nowGiven, err = now.parse(); err != nil {
				return err
			}
			if err := q.checkLimit(q.limit); err != nil {
				return err
			}
			if err := oneOf("format", q.out.format, "table", "csv", "ndjson", "json"); err != nil {
				return err
			}
			if err := q.skip.check(); err != nil {
				return err
			}
			q.hasKey = q.changed("key") || q.changed("key-hex")
			if q.whereText != "" {
				if q.where, err = predicate.Parse(q.whereText); err != nil {
					return usagef("--where: %w", err)
				}
			}
			for i, c := range q.columns {
				if slices.Contains(q.columns[:i], c) {
					return usagef("--columns: %q stands there twice", c)
				}
			}
			if err := q.agg.parse(q.tool); err != nil {
				return err
			}
			switch {
			case q.changed("key") && q.changed("key-hex"):
				return usagef("--key and --key-hex exclude one another")
			case q.desc && q.asc:
				return usagef("--desc and --asc exclude one another")
			case q.changed("latest") && q.latest < 1:
				return usagef("--latest %d: expected 1 or more", q.latest)
			case q.latest > 0 && (q.desc || q.asc):
				return usagef("--latest has an order of its own: greatest first")
			}
			return q.files(args)
		})
	f := q.cmd.Flags()
	f.StringVar(&q.key, "key", "", "partition key; of several columns a JSON array of their values")
	f.StringVar(&q.keyHex, "key-hex", "", "partition key as its bytes in hexadecimal")
	f.StringVar(&q.since, "since", "", "first value of the first clustering column")
	f.StringVar(&q.until, "until", "", "value of the first clustering column to stop before")
	f.StringVar(&q.whereText, "where", "", "condition for the rows to print, as in \"load > 0.5 and host = 'web1'\"")
	q.agg.add(q.tool)
	f.IntVar(&q.latest, "latest", 0, "the n rows of greatest clustering, greatest first")
	f.BoolVar(&q.desc, "desc", false, "greatest clustering first")
	f.BoolVar(&q.asc, "asc", false, "least clustering first")
	f.StringSliceVar(&q.columns, "columns", nil, "columns to print: a,b,... (default: all)")
	q.limitFlag(&q.limit, "at most so many rows of each file")
	f.StringVar(&now.text, "now", "", nowUsage)
	q.namesFlag()
	q.skip.add(q.tool)
	q.asReadFlag()
	q.out.report(q.tool, "table", "csv", "ndjson", "json")
	return q.cmd
}

// files prints the rows of the files that the arguments name.
func (q *rowQuery) files(args []string) error {
	paths, err := expand(args, isTable)
	if err == nil {
		err = onlyOnce(paths)
	}
	if err == nil {
		err = checkOutputs(paths, q.out.path)
	}
	if err != nil {
		return err
	}
	out, err := q.createOutput(&outFlags{path: q.out.path, force: q.out.force})
	if err != nil {
		return err
	}
	defer out.abort()
	if err := q.skip.begin(q.tool, paths, q.out.force); err != nil {
		return err
	}
	defer q.skip.abort()
	p := &rowPrinter{out: out, several: len(paths) > 1}
	absent, missing := 0, error(nil)
	for _, path := range paths {
		err := q.file(p, path)
		var none *noPartitionError
		if errors.As(err, &none) {
			absent++
			missing = err
			continue
		}
		if err != nil {
			_ = out.w.Flush() // what was found before it; the first error is the one to tell
			return err
		}
		q.sum.Inputs++
	}
	if absent == len(paths) {
		return missing
	}
	if err := p.to.end(); err != nil {
		return err
	}
	if err := out.commit(); err != nil {
		return err
	}
	return q.skip.end(q.tool)
}

// rowPrinter prints the rows of files that have the same columns.
type rowPrinter struct {
	out     *output
	schema  *rowgroup.Schema // of the first file
	name    string
	to      sink
	read    []int // static and regular columns that are needed
	several bool  // files
}

// noPartitionError says that a file has no partition of the key.
type noPartitionError struct{ key string }

func (e *noPartitionError) Error() string { return "no partition has the key " + e.key }

// file prints the rows of a file.
func (q *rowQuery) file(p *rowPrinter, path string) error {
	r, in, err := q.openTable(path)
	if err != nil {
		return err
	}
	defer in.close()
	if err := q.checkAsRead(in); err != nil {
		return err
	}
	s := r.Schema()
	if p.schema != nil {
		if d := differ(p.name, p.schema, in.name, s); d != "" {
			return usagef("%s: has other columns than %s: %s", in.name, p.name, d)
		}
	}
	where, err := q.condition(s, in.name)
	if err != nil {
		return err
	}
	if p.to == nil {
		if err := q.printer(p, r, in.name); err != nil {
			return err
		}
	}
	o := rowgroup.ScanOptions{Live: true, Now: q.now, Columns: slices.Clone(p.read)}
	if where != nil {
		for _, col := range where.Columns() {
			if !slices.Contains(o.Columns, col) {
				o.Columns = append(o.Columns, col)
			}
		}
	}
	if whole, err := q.salvaged(in, s); !whole || err != nil {
		return err
	}
	if done, err := q.counted(p, r, where != nil); done || err != nil {
		return orElse(exitData, named(in.name, err))
	}
	rows, limit, err := q.rows(r, o, where)
	if err != nil {
		return orElse(exitData, named(in.name, err))
	}
	clock := time.Now().Unix()
	var hidden int64
	err = eachBatch(q.ctx(), rows, s, limit, func(b *rowgroup.Batch) error {
		if !q.nowGiven {
			hidden += expired(b, clock)
		}
		if q.agg.specs == nil {
			q.sum.Rows += int64(b.Len())
		}
		return p.to.write(b)
	})
	if err != nil {
		return orElse(exitData, named(in.name, err))
	}
	q.noteExpired(in.name, hidden)
	return nil
}

// salvaged does what --on-error skip asks for: of an SSTable it leaves out what
// is bad. whole is false where that is the one partition that is asked for.
func (q *rowQuery) salvaged(in *input, s *rowgroup.Schema) (whole bool, err error) {
	switch {
	case !q.skip.skips():
		return true, nil
	case in.sst == nil:
		return false, usagef("--on-error skip is for SSTables; %s is a table file", in.name)
	case !q.hasKey:
		return true, q.salvage(in.sst, q.skip.leaveOut(q.tool))
	}
	key, err := q.keyBytes(s)
	if err != nil {
		return false, err
	}
	whole, err = in.sst.SalvagePartition(q.ctx(), key, q.badPartition(in.sst, q.skip.leaveOut(q.tool)))
	return whole, orElse(exitData, named(in.name, err))
}

// columnList is the columns of a table for people, the first of many.
func columnList(s *rowgroup.Schema) string {
	const most = 20
	var names []string
	for i := range min(s.NumColumns(), most) {
		names = append(names, s.Column(i).Name)
	}
	text := strings.Join(names, ", ")
	if more := s.NumColumns() - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// condition is --where for the rows of a file, nil if it is not given.
func (q *rowQuery) condition(s *rowgroup.Schema, name string) (*predicate.Predicate, error) {
	if q.where == nil {
		return nil, nil
	}
	for _, n := range q.where.Columns() {
		if s.Lookup(n) < 0 {
			return nil, usagef("%s: --where: there is no column %q; there are %s", name, n, columnList(s))
		}
	}
	p, err := q.where.Bind(s)
	if err != nil {
		return nil, usagef("%s: --where: %s", name, plain(err))
	}
	return p, nil
}

// printer begins to print the rows of the first file, or what comes of them.
func (q *rowQuery) printer(p *rowPrinter, r table, name string) (err error) {
	s := r.Schema()
	p.read = []int{}
	if q.agg.specs != nil {
		for _, x := range q.agg.specs {
			if x.Column != "" && s.Lookup(x.Column) < 0 {
				return usagef("%s: %s: there is no column %q; there are %s", name, x, x.Column, columnList(s))
			}
		}
		a, err := q.newAggregateSink(p.out, s, p.several)
		if err != nil {
			return err
		}
		p.read = append(p.read, a.Columns()...)
		p.schema, p.name, p.to = s, name, a
		return nil
	}
	names := q.columns
	if len(names) == 0 {
		names = sourceColumns(r)
	}
	columns := make([]int, len(names))
	for i, n := range names {
		if columns[i] = s.Lookup(n); columns[i] < 0 {
			return usagef("%s: there is no column %q; there are %s", name, n, columnList(s))
		}
		if s.Role(columns[i]) >= rowgroup.Static {
			p.read = append(p.read, columns[i])
		}
	}
	p.schema, p.name = s, name
	p.to, err = newPrinter(q.out.format, p.out, s, names, columns)
	return err
}

// rows are those asked for, of which at most limit are wanted.
func (q *rowQuery) rows(r table, o rowgroup.ScanOptions, where *predicate.Predicate) (it rowgroup.Iter, limit int64, err error) {
	s := r.Schema()
	keyed := len(s.Columns(rowgroup.PartitionKey)) > 0
	from, to, err := q.bounds(s)
	if err != nil {
		return nil, 0, err
	}
	falls := descends(s)
	if limit = q.limit; q.agg.specs != nil {
		limit = -1 // it is of the results
	}
	if q.latest > 0 && (limit < 0 || int64(q.latest) < limit) {
		limit = int64(q.latest)
	}
	o.Desc = (q.desc || q.latest > 0) && !falls || q.asc && falls
	if where != nil {
		o.Within = where.Within()
	}
	if keyed && !q.hasKey {
		switch {
		case q.latest > 0 || o.Desc:
			return nil, 0, usagef("--latest, --desc and --asc are about one partition: give --key")
		case q.since != "" || q.until != "":
			wanted := []selector{inRange{from, to}}
			o.Within = append(o.Within, inRange{from, to}.within(s)...)
			if where != nil {
				wanted = append(wanted, where)
			}
			return newSubset(r.Scan(q.ctx(), o), s, wanted...), limit, nil
		}
		return filtered(r.Scan(q.ctx(), o), s, where), limit, nil
	}
	key, err := q.keyBytes(s)
	if err != nil {
		return nil, 0, err
	}
	p, err := r.Partition(q.ctx(), key)
	switch {
	case errors.Is(err, rowgroup.ErrNotFound) && !keyed:
		return r.Scan(q.ctx(), o), 0, nil // no rows at all
	case errors.Is(err, rowgroup.ErrNotFound):
		if q.keyHex != "" {
			return nil, 0, &exitError{exitNo, &noPartitionError{"0x" + q.keyHex}}
		}
		return nil, 0, &exitError{exitNo, &noPartitionError{q.key}}
	case err != nil:
		return nil, 0, err
	case q.latest > 0 && q.since == "" && q.until == "" && where == nil:
		return p.Latest(q.ctx(), int(limit), o), limit, nil
	case q.latest > 0 && mixed(s):
		return nil, 0, usagef("--latest with --since, --until or --where: the clustering columns run both up and down, so the greatest rows of a range stand apart: give --latest alone, or the range with --limit")
	}
	return filtered(p.Range(q.ctx(), from, to, o), s, where), limit, nil
}

func (q *rowQuery) keyBytes(s *rowgroup.Schema) ([]byte, error) {
	switch keyed := len(s.Columns(rowgroup.PartitionKey)) > 0; {
	case !q.hasKey:
		return nil, nil
	case !keyed:
		return nil, usagef("the table has no partition key: leave --key away")
	case q.keyHex != "":
		b, err := hex.DecodeString(q.keyHex)
		if err != nil {
			return nil, usagef("--key-hex %s: expected hexadecimal digits", q.keyHex)
		}
		return b, nil
	}
	return keyOf(s, q.key)
}

// descends reports whether the table stores the greatest value of its first
// clustering column first.
func descends(s *rowgroup.Schema) bool {
	cols := s.Columns(rowgroup.Clustering)
	if len(cols) == 0 {
		return false
	}
	desc, t := cols[0].Desc, cols[0].Type
	for (t.Kind == rowgroup.KindReversed || t.Kind == rowgroup.KindFrozen) && len(t.Args) == 1 {
		desc = desc != (t.Kind == rowgroup.KindReversed)
		t = t.Args[0]
	}
	return desc
}

// mixed reports whether clustering columns are stored in different directions.
func mixed(s *rowgroup.Schema) bool {
	cols := s.Columns(rowgroup.Clustering)
	for _, c := range cols {
		if c.Desc != cols[0].Desc {
			return true
		}
	}
	return false
}

// bounds are the ends of the range in stored order.
func (q *rowQuery) bounds(s *rowgroup.Schema) (from, to rowgroup.Bound, err error) {
	if q.since == "" && q.until == "" {
		return from, to, nil
	}
	cols := s.Columns(rowgroup.Clustering)
	if len(cols) == 0 {
		return from, to, usagef("the table has no clustering column: --since and --until bound nothing")
	}
	bound := func(flag, text string, inclusive bool) (rowgroup.Bound, error) {
		if text == "" {
			return rowgroup.Bound{}, nil
		}
		v, _, err := predicate.Value(cols[0].Type, text)
		if err != nil {
			return rowgroup.Bound{}, usagef("%s: column %q is %s: %s", flag, cols[0].Name, cols[0].Type, plain(err))
		}
		b := rowgroup.Bound{Prefix: [][]byte{v}, Inclusive: inclusive}
		if err := s.CheckBound(b); err != nil {
			return b, usagef("%s: %w", flag, err)
		}
		return b, nil
	}
	if from, err = bound("--since", q.since, true); err != nil {
		return from, to, err
	}
	if to, err = bound("--until", q.until, false); err != nil {
		return from, to, err
	}
	if descends(s) {
		from, to = to, from
	}
	return from, to, nil
}
