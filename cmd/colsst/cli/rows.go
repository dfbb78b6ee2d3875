package cli

import (
	"context"
	"encoding/json"
	"math"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/dustin/go-humanize"

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
type tableSink struct{ w *columnar.Writer }

// newTableSink writes a table of schema s whose text has these columns, if it
// came from text.
func newTableSink(out *output, s *rowgroup.Schema, columns []string, opts []columnar.Option) (*tableSink, error) {
	if columns != nil {
		b, err := marshalColumns(columns)
		if err != nil {
			return nil, err
		}
		opts = append(opts, columnar.WithUserData(columnsKey, b))
	}
	w, err := columnar.NewWriter(out.w, s, opts...)
	if err != nil {
		return nil, coded(exitUsage, err)
	}
	return &tableSink{w}, nil
}

// marshalColumns is the value of columnsKey.
func marshalColumns(names []string) ([]byte, error) { return json.Marshal(names) }

func (t *tableSink) write(b *rowgroup.Batch) error { return orElse(exitData, t.w.Append(b)) }

func (t *tableSink) end() error { return orElse(exitData, t.w.Close()) }

// rowWriter is a writer of a format of text.
type rowWriter interface {
	Write(b *rowgroup.Batch) error
	Flush() error
}

// textSink writes rows as text.
type textSink struct{ w rowWriter }

// textOut says how rows are written as text.
type textOut struct {
	format      string
	columns     []string
	csv         textfmt.CSVWriteOptions
	measurement string
	precision   rowgroup.Unit
	metadata    bool
}

func newTextSink(out *output, s *rowgroup.Schema, o textOut) (*textSink, error) {
	var (
		w   rowWriter
		err error
	)
	switch o.format {
	case formatNDJSON:
		w, err = textfmt.NewNDJSONWriter(out.w, s, textfmt.NDJSONWriteOptions{Columns: o.columns, RowMetadata: o.metadata})
	case formatLine:
		w, err = textfmt.NewLineProtocolWriter(out.w, s, textfmt.LineProtocolWriteOptions{Columns: o.columns, Measurement: o.measurement, Precision: o.precision})
	default:
		o.csv.Columns, o.csv.RowMetadata = o.columns, o.metadata
		w, err = textfmt.NewCSVWriter(out.w, s, o.csv)
	}
	if err != nil {
		return nil, coded(exitUsage, err)
	}
	return &textSink{w}, nil
}

func (t *textSink) write(b *rowgroup.Batch) error { return orElse(exitUsage, t.w.Write(b)) }
func (t *textSink) end() error                    { return orElse(exitUsage, t.w.Flush()) }

// nans counts the NaNs whose bits the text does not keep.
func (t *textSink) nans() int64 {
	if n, ok := t.w.(interface{ NaNPayloads() int64 }); ok {
		return n.NaNPayloads()
	}
	return 0
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
		if stringBytes(b)/max(1, int64(b.Len())) > largeRow {
			debug.FreeOSMemory()
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

// largeRow is the size of rows above which the memory that reading has left
// behind is given back at once, before writing takes as much.
const largeRow = 8 << 20

// stringBytes is how many bytes the byte strings of b take.
func stringBytes(b *rowgroup.Batch) (n int64) {
	s := b.Schema()
	for i := len(s.Columns(rowgroup.PartitionKey)); i < s.NumColumns(); i++ {
		if m := b.MultiCells(i); m != nil {
			n += m.Size(0, m.Rows())
		} else if s.Column(i).Type.Physical().Class() == rowgroup.ClassBytes {
			n += int64(len(b.Bytes(i).Data))
		}
	}
	return n
}

// nowFlag is the second at which rows are looked at.
type nowFlag struct{ text string }

const nowUsage = "the view at a time: seconds since 1970, a time, or clock; rows that have expired by then are left out (default: before every expiry)"

// parse is the second, and whether one was given.
func (n *nowFlag) parse() (second int64, given bool, err error) {
	switch n.text {
	case "":
		return math.MinInt64, false, nil // checkFlags refuses one that is given
	case "clock":
		return time.Now().Unix(), true, nil
	}
	if second, err = strconv.ParseInt(n.text, 10, 64); err == nil {
		return second, true, nil
	}
	if second, err = textfmt.ParseTime(n.text, rowgroup.Seconds, time.UTC); err != nil {
		return 0, false, usagef("--now %s: expected seconds since 1970, a time like 2006-01-02 15:04, or clock", n.text)
	}
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
		m, k, end := b.CellMeta(col), i, i+1
		if cells := b.MultiCells(col); cells != nil {
			m = cells.Meta()
			k, end, _ = cells.Row(i)
		}
		if len(m.Cells) == 0 {
			continue
		}
		for ; k < end; k++ {
			c := m.Cells[k]
			if c.Kind() == rowgroup.CellLive || c.Kind() == rowgroup.CellExpiring && c&rowgroup.CellOwnExpiry != 0 && now < m.Expiries[k] {
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

// plural is a number and what it counts. The word for several can be given.
func plural(n int64, what string, several ...string) string {
	switch {
	case n == 1:
	case len(several) > 0:
		what = several[0]
	default:
		what += "s"
	}
	return humanize.Comma(n) + " " + what
}
