package textfmt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// TestGolden shows what the types of a CSV are and how it is written again.
//
//	csv [header] [separator=;] [null=MARK] [time=SPEC] [key=a,b]
//	    [clustering=a,b:desc] [type=a:TYPE,...] [sort]
func TestGolden(t *testing.T) {
	datadriven.RunTest(t, "testdata/csv", func(t *testing.T, d *datadriven.TestData) string {
		o := CSVOptions{Header: d.HasArg("header")}
		w := CSVWriteOptions{NoHeader: !o.Header}
		o.AnyOrder = d.HasArg("sort")
		for _, a := range d.CmdArgs {
			switch a.Key {
			case "separator":
				o.Separator = a.Vals[0][0]
				w.Separator = o.Separator
			case "null":
				o.Null, w.Null = a.Vals, a.Vals[0]
			case "time":
				spec, err := ParseTimeSpec(a.Vals[0])
				require.NoError(t, err)
				o.Time = &spec
			case "key":
				o.PartitionKey = a.Vals
			case "clustering":
				for _, v := range a.Vals {
					spec, err := ParseClusteringSpec(v)
					require.NoError(t, err)
					o.Clustering = append(o.Clustering, spec)
				}
			case "type":
				o.Types = map[string]rowgroup.Type{}
				for _, v := range a.Vals {
					name, typ, _ := strings.Cut(v, ":")
					ty, err := rowgroup.ParseType(typ)
					require.NoError(t, err)
					o.Types[name] = ty
				}
			}
		}
		var out strings.Builder
		c, err := NewCSVReader(strings.NewReader(d.Input), "in.csv", o)
		if err != nil {
			return err.Error()
		}
		for _, ch := range c.Choices() {
			why := ch.Why
			if ch.Given {
				why = "given"
			}
			fmt.Fprintf(&out, "%s %s: %s\n", ch.Column, ch.Type, why)
			if ch.Note != "" {
				fmt.Fprintf(&out, "  note: %s\n", ch.Note)
			}
		}
		text, err := rewrite(t, d.Input, o, w)
		if err != nil {
			text = "error: " + err.Error()
		}
		return out.String() + "--\n" + text
	})
}

// history is a table with everything that a batch can hold.
func history(t *testing.T) *rowgroup.Batch {
	col := func(name string, typ rowgroup.Type) rowgroup.Column { return rowgroup.Column{Name: name, Type: typ} }
	s, err := rowgroup.NewSchema(
		[]rowgroup.Column{col("host", rowgroup.Text), col("id", rowgroup.Int)},
		[]rowgroup.Column{col("time", rowgroup.Timestamp(rowgroup.Millis)), col("seq", rowgroup.Bigint)},
		[]rowgroup.Column{col("owner", rowgroup.Text)},
		[]rowgroup.Column{col("value", rowgroup.Double), col("note", rowgroup.Text), col("small", rowgroup.Float)})
	require.NoError(t, err)
	const owner, timeCol, seq, value, note, small = 4, 2, 3, 5, 6, 7
	b := rowgroup.NewBatch(s)
	add := func(tm, sq int64, v float64, text string, f float32) {
		*b.Int64s(timeCol) = append(*b.Int64s(timeCol), tm)
		*b.Int64s(seq) = append(*b.Int64s(seq), sq)
		*b.Float64s(value) = append(*b.Float64s(value), v)
		require.NoError(t, b.Bytes(note).Append([]byte(text)))
		*b.Float32s(small) = append(*b.Float32s(small), f)
	}
	key := func(host string, id int64) []byte {
		return rowgroup.AppendKey(nil, s.KeyTypes(), [][]byte{[]byte(host), rowgroup.AppendInt(nil, rowgroup.Int, id)})
	}
	h := b.BeginPartition(key("a", 1))
	h.Static = rowgroup.StaticFull
	require.NoError(t, b.Bytes(owner).Append([]byte("me")))
	add(1392388200000, 1, 0.132, "plain", 0.1)
	add(1392388200000, 2, math.NaN(), "say \"hi\"\n\x01\\", float32(math.Inf(-1)))
	add(0, 0, 0, "", 0) // marker
	add(1392388201000, math.MaxInt64, math.Float64frombits(0x7ff8000000000abc), "", math.Float32frombits(0x7fc00123))
	add(0, 0, 0, "", 0) // marker
	add(1392388202000, 4, 0, "", 1e30)
	h = b.BeginPartition(key("b", -2))
	h.Deletion = rowgroup.Deletion{MarkedForDeleteAt: 5_000_000, LocalDeletionTime: 5}
	h.Static = rowgroup.StaticEmpty
	require.NoError(t, b.Bytes(owner).Append(nil))
	add(1392388203000, 5, 5, "", 5)
	h = b.BeginPartition(key("c", 0))
	h.Static = rowgroup.StaticFull
	require.NoError(t, b.Bytes(owner).Append([]byte("alone")))
	b.CellMeta(owner).Cells = []rowgroup.Cell{rowgroup.CellAsRow, rowgroup.CellAbsent, rowgroup.CellAsRow}

	*b.Markers() = []rowgroup.Marker{
		{Row: 2, Prefix: 2, Kind: rowgroup.InclStart, Open: rowgroup.Deletion{MarkedForDeleteAt: 9, LocalDeletionTime: 8}},
		{Row: 4, Prefix: 1, Kind: rowgroup.InclEndExclStart, Close: rowgroup.Deletion{MarkedForDeleteAt: 9, LocalDeletionTime: 8}, Open: rowgroup.Deletion{MarkedForDeleteAt: 7, LocalDeletionTime: 6}},
	}
	m := b.Meta()
	m.Liveness = []rowgroup.Liveness{0, rowgroup.LivenessExpiring, 0, rowgroup.LivenessNone, 0, rowgroup.LivenessExpired, 0}
	m.WriteTimes = []int64{1, 2, 0, 0, 0, 4, 5}
	m.TTLs = []int32{0, 60, 0, 0, 0, 0, 0}
	m.Expiries = []int64{0, 1392388260, 0, 0, 0, 1392388300, 0}
	m.Deletions = []rowgroup.RowDeletion{{Row: 3, Deletion: rowgroup.Deletion{MarkedForDeleteAt: 3, LocalDeletionTime: 2}, Shadowable: true}}
	c := b.CellMeta(value)
	c.Cells = []rowgroup.Cell{0, rowgroup.CellLive, 0, rowgroup.CellLive | rowgroup.CellOwnTime, 0, rowgroup.CellEmpty, 0}
	c.WriteTimes = []int64{0, 0, 0, 33, 0, 0, 0}
	c = b.CellMeta(note)
	c.Cells = []rowgroup.Cell{0, 0, 0, rowgroup.CellAbsent, 0, rowgroup.CellException, rowgroup.CellTombstone | rowgroup.CellOwnTime}
	c.WriteTimes = []int64{0, 0, 0, 0, 0, 0, 6}
	c.Expiries = []int64{0, 0, 0, 0, 0, 0, 77}
	c.Exceptions = []rowgroup.Exception{{Row: 5, Value: []byte("\xff\xfe")}}
	c = b.CellMeta(small)
	c.Cells = []rowgroup.Cell{0, 0, 0, rowgroup.CellExpiring | rowgroup.CellOwnTime | rowgroup.CellOwnExpiry, 0, 0, 0}
	c.WriteTimes = []int64{0, 0, 0, 34, 0, 0, 0}
	c.TTLs = []int32{0, 0, 0, 10, 0, 0, 0}
	c.Expiries = []int64{0, 0, 0, 1392388211, 0, 0, 0}
	require.NoError(t, b.Check())
	return b
}

// TestDumpGolden shows a dump and a CSV of the same batch.
func TestDumpGolden(t *testing.T) {
	b := history(t)
	datadriven.RunTest(t, "testdata/dump", func(t *testing.T, d *datadriven.TestData) string {
		var out bytes.Buffer
		switch d.Cmd {
		case "dump":
			w := NewDumpWriter(&out, b.Schema())
			require.NoError(t, w.Write(b))
			require.NoError(t, w.Flush())
			for line := range bytes.Lines(out.Bytes()) {
				require.True(t, json.Valid(line), "%s", line)
			}
		case "csv":
			w, err := NewCSVWriter(&out, b.Schema(), CSVWriteOptions{RowMetadata: d.HasArg("row-metadata"), Null: "null"})
			require.NoError(t, err)
			require.NoError(t, w.Write(b))
			require.NoError(t, w.Flush())
			fmt.Fprintf(&out, "-- %d rows, %d NaN payloads\n", w.Rows(), w.NaNPayloads())
		}
		return strings.NewReplacer("\xff", "<ff>", "\xfe", "<fe>", "\x01", "<01>").Replace(out.String())
	})
}

// TestContinued: what goes on from an earlier batch has no head again.
func TestContinued(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, nil,
		[]rowgroup.Column{{Name: "s", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Bigint}})
	require.NoError(t, err)
	var dump, text bytes.Buffer
	d := NewDumpWriter(&dump, s)
	w, err := NewCSVWriter(&text, s, CSVWriteOptions{})
	require.NoError(t, err)
	for i := range int64(2) {
		b := rowgroup.NewBatch(s)
		h := b.BeginPartition([]byte("p"))
		h.Static, h.Continued = rowgroup.StaticFull, i > 0
		require.NoError(t, b.Bytes(1).Append([]byte{'x'}))
		if i > 0 {
			h.Static = rowgroup.StaticAbsent
		}
		*b.Int64s(2) = append(*b.Int64s(2), i)
		require.NoError(t, d.Write(b))
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, d.Flush())
	require.NoError(t, w.Flush())
	require.Equal(t, "k,s,v\np,x,0\np,x,1\n", text.String())
	require.Equal(t, 1, strings.Count(dump.String(), "partition"))
}

func TestWriterErrors(t *testing.T) {
	b := history(t)
	for _, o := range []CSVWriteOptions{{Separator: '"'}, {Null: "a,b"}, {Null: "\""}, {Columns: []string{"none"}}, {Columns: []string{}}} {
		_, err := NewCSVWriter(nil, b.Schema(), o)
		require.Error(t, err)
	}
	w, err := NewCSVWriter(nil, b.Schema(), CSVWriteOptions{Null: "0.132"})
	require.NoError(t, err)
	require.EqualError(t, w.Write(b), `column "value": the value 0.132 would read as null; give another --null`)
	require.Error(t, w.Flush())
}
