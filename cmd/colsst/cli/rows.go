package cli

import (
	"context"
	"encoding/json"
	"math"
	"strconv"
	"time"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// sink takes rows in batches and ends the file.
type sink interface {
	write(b *rowgroup.Batch) error
	end() error
}

// tableSink writes a table file.
type tableSink struct {
	out *output
	w   *columnar.Writer
}

// newTableSink writes a table of schema s whose text has these columns, if it
// came from text.
func newTableSink(out *output, s *rowgroup.Schema, columns []string, opts []columnar.Option) (*tableSink, error) {
	if columns != nil {
		b, err := json.Marshal(columns)
		if err != nil {
			return nil, err
		}
		opts = append(opts, columnar.WithUserData(columnsKey, b))
	}
	w, err := columnar.NewWriter(out.w, s, opts...)
	if err != nil {
		return nil, coded(exitUsage, err)
	}
	return &tableSink{out, w}, nil
}

func (t *tableSink) write(b *rowgroup.Batch) error { return orElse(exitData, t.w.Append(b)) }

func (t *tableSink) end() error {
	if err := t.w.Close(); err != nil {
		return orElse(exitData, err)
	}
	return t.out.flush()
}

// csvSink writes rows as CSV.
type csvSink struct {
	out *output
	w   *textfmt.CSVWriter
}

func newCSVSink(out *output, s *rowgroup.Schema, o textfmt.CSVWriteOptions) (*csvSink, error) {
	w, err := textfmt.NewCSVWriter(out.w, s, o)
	if err != nil {
		return nil, coded(exitUsage, err)
	}
	return &csvSink{out, w}, nil
}

func (c *csvSink) write(b *rowgroup.Batch) error { return orElse(exitUsage, c.w.Write(b)) }

func (c *csvSink) end() error {
	if err := c.w.Flush(); err != nil {
		return err
	}
	return c.out.flush()
}

// eachBatch calls f with the batches of it, cut after limit unfiltereds where
// limit is not negative, and closes it.
func eachBatch(ctx context.Context, it rowgroup.Iter, s *rowgroup.Schema, limit int64, f func(b *rowgroup.Batch) error) (err error) {
	defer func() {
		if cerr := it.Close(); err == nil {
			err = cerr
		}
	}()
	b := rowgroup.NewBatch(s)
	for limit != 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := it.Next(b)
		if err != nil || !more {
			return err
		}
		if n := int64(b.Len()); limit >= 0 && n > limit {
			head := rowgroup.NewBatch(s)
			head.Clear()
			if err := head.AppendRange(b, 0, int(limit)); err != nil {
				return err
			}
			return f(head)
		} else if limit > 0 {
			limit -= n
		}
		if err := f(b); err != nil {
			return err
		}
	}
	return nil
}

// nowFlag is the second at which rows are looked at.
type nowFlag struct{ text string }

const nowUsage = "the view at a time: seconds since 1970, a time, or clock; rows that have expired by then are left out (default: before every expiry)"

// parse is the second, and whether one was given.
func (n *nowFlag) parse() (second int64, given bool, err error) {
	switch n.text {
	case "":
		return math.MinInt64, false, nil
	case "clock":
		return time.Now().Unix(), true, nil
	}
	if second, err = strconv.ParseInt(n.text, 10, 64); err == nil {
		return second, true, nil
	}
	t := rowgroup.Timestamp(rowgroup.Seconds)
	b, err := rowgroup.ParseText(nil, t, n.text)
	if err != nil {
		return 0, false, usagef("--now %s: expected seconds since 1970, a time, or clock", n.text)
	}
	second, _ = rowgroup.IntOf(t, b)
	return second, true, nil
}

// expired counts the rows of b, which shows rows before every expiry, that
// have expired by second now.
func expired(b *rowgroup.Batch, now int64) (n int64) {
	m := b.Meta()
	for i, l := range m.Liveness {
		if l == rowgroup.LivenessLive || l == rowgroup.LivenessExpiring && now < m.Expiries[i] {
			continue
		}
		if !cellAlive(b, i, now) {
			n++
		}
	}
	return n
}

// cellAlive reports whether a cell of row i, whose liveness is none or has
// expired, is alive by itself.
func cellAlive(b *rowgroup.Batch, i int, now int64) bool {
	from, to := b.Schema().Range(rowgroup.Regular)
	for col := from; col < to; col++ {
		m := b.CellMeta(col)
		if len(m.Cells) == 0 {
			continue
		}
		switch c := m.Cells[i]; c.Kind() {
		case rowgroup.CellLive:
			return true
		case rowgroup.CellExpiring:
			if c&rowgroup.CellOwnExpiry != 0 && now < m.Expiries[i] {
				return true
			}
		}
	}
	return false
}

func (t *tool) noteExpired(name string, n int64) {
	if n > 0 {
		t.notef("%s: %s expired by now and shown all the same; --now clock hides them", name, plural(n, "row"))
	}
}

func plural(n int64, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.FormatInt(n, 10) + " " + what
}

func loadLocation(name string) (*time.Location, error) {
	l, err := time.LoadLocation(name)
	if err != nil {
		return nil, usagef("--tz %s: there is no such time zone", name)
	}
	return l, nil
}
