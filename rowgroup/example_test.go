package rowgroup_test

import (
	"fmt"

	"github.com/colsst/colsst/rowgroup"
)

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func sensors() *rowgroup.Schema {
	s, err := rowgroup.NewSchema(
		[]rowgroup.Column{{Name: "site", Type: rowgroup.Text}, {Name: "sensor", Type: rowgroup.Int}}, // partition key
		[]rowgroup.Column{{Name: "time", Type: rowgroup.Timestamp(rowgroup.Seconds)}},                // clustering
		[]rowgroup.Column{{Name: "unit", Type: rowgroup.Text}},                                       // static
		[]rowgroup.Column{{Name: "value", Type: rowgroup.Double}})                                    // regular
	check(err)
	return s
}

// A batch with all that a table can hold: a key of two components, a static
// row, a partition without one, a deleted range between two markers, a cell
// that is deleted, and one that expires apart from its row.
func Example() {
	s := sensors()
	unit, timeCol, value := s.Lookup("unit"), s.Lookup("time"), s.Lookup("value")
	b := rowgroup.NewBatch(s)
	row := func(at int64, v float64, cell rowgroup.Cell) {
		*b.Int64s(timeCol) = append(*b.Int64s(timeCol), at)
		*b.Float64s(value) = append(*b.Float64s(value), v)
		m, c := b.Meta(), b.CellMeta(value)
		m.WriteTimes = append(m.WriteTimes, 1_000_000*at)
		c.Cells = append(c.Cells, cell)
		c.TTLs = append(c.TTLs, 60)            // counts where the cell is expiring on its own
		c.Expiries = append(c.Expiries, at+60) // the same, or when the cell was deleted
	}
	static := func(text string, cell rowgroup.Cell) {
		check(b.Bytes(unit).Append([]byte(text)))
		b.CellMeta(unit).Cells = append(b.CellMeta(unit).Cells, cell)
	}
	key := func(site string, sensor int64) []byte {
		return rowgroup.AppendKey(nil, s.KeyTypes(), [][]byte{[]byte(site), rowgroup.AppendInt(nil, rowgroup.Int, sensor)})
	}

	b.BeginPartition(key("north", 7)).Static = rowgroup.StaticFull
	static("°C", rowgroup.CellAsRow)
	row(1000, 20.5, rowgroup.CellAsRow)
	// All from 2000 to 3000 is deleted, but for what was written after 2,500 s.
	deleted := rowgroup.Deletion{MarkedForDeleteAt: 2_500_000_000, LocalDeletionTime: 2500}
	*b.Markers() = append(*b.Markers(),
		rowgroup.Marker{Row: 1, Prefix: 1, Kind: rowgroup.InclStart, Open: deleted},
		rowgroup.Marker{Row: 4, Prefix: 1, Kind: rowgroup.InclEnd, Close: deleted})
	row(2000, 0, rowgroup.CellAsRow) // the place of the first marker: only its time counts
	row(2200, 20.75, rowgroup.CellAsRow)
	row(2600, 21, rowgroup.CellAsRow)
	row(3000, 0, rowgroup.CellAsRow) // of the second
	row(4000, 0, rowgroup.CellTombstone)
	row(5000, 22.25, rowgroup.CellExpiring|rowgroup.CellOwnExpiry)

	b.BeginPartition(key("south", 1)) // no static row, so its static cell is absent
	static("", rowgroup.CellAbsent)
	row(1000, 3, rowgroup.CellAsRow)

	check(b.Check())
	check(rowgroup.NewOrderChecker(s).Check(b))

	fmt.Println(b.Len(), "unfiltereds,", len(*b.Markers()), "of them markers")
	for p := range b.NumPartitions() {
		values, err := rowgroup.SplitKey(s.KeyTypes(), b.Key(p))
		check(err)
		text, ok := b.AppendValue(nil, unit, p)
		from, to := b.PartitionRows(p)
		fmt.Printf("%s: static row %v %q; rows %d to %d\n", values[0], ok, text, from, to-1)
	}

	// As a query sees it in second 5030: no markers, nothing deleted.
	var live rowgroup.LiveFilter
	live.Reset(5030, false)
	live.Apply(b)
	for i, at := range *b.Int64s(timeCol) {
		text, ok := b.AppendValue(nil, value, i)
		if !ok {
			fmt.Print(at, ": none  ")
			continue
		}
		v, _ := rowgroup.Float64Of(text)
		fmt.Print(at, ": ", v, "  ")
	}
	fmt.Println()
	// Output:
	// 8 unfiltereds, 2 of them markers
	// north: static row true "°C"; rows 0 to 6
	// south: static row false ""; rows 7 to 7
	// 1000: 20.5  2600: 21  4000: none  5000: 22.25  1000: 3
}

// Row groups into a block and back, as package columnar does it.
func ExampleSegmentEncoder() {
	s := sensors()
	timeCol, value := s.Lookup("time"), s.Lookup("value")
	b := rowgroup.NewBatch(s)
	b.BeginPartition(rowgroup.AppendKey(nil, s.KeyTypes(), [][]byte{[]byte("north"), rowgroup.AppendInt(nil, rowgroup.Int, 7)}))
	for i := range 256 {
		*b.Int64s(timeCol) = append(*b.Int64s(timeCol), int64(i)*1000)
		*b.Float64s(value) = append(*b.Float64s(value), float64(i)/4)
	}

	// Two groups: the first begins the partition, the second continues it.
	seg, err := rowgroup.NewSegmentEncoder(s, rowgroup.EncodeOptions{}).Encode(b, []rowgroup.Span{
		{FromRow: 0, ToRow: 128, FromPart: 0, ToPart: 1},
		{FromRow: 128, ToRow: 256, FromPart: 1, ToPart: 1},
	})
	check(err)
	var templates rowgroup.TemplateSet
	_, template, _ := templates.Choose(seg, 0, seg.NumGroups())
	block := seg.AppendBlock(nil, 0, seg.NumGroups(), template)

	// The template tells how to read the block; a file keeps both.
	template, err = rowgroup.ParseTemplate(s, template.AppendTo(nil))
	check(err)
	dec := rowgroup.NewBlockDecoder(s)
	check(dec.Open(template, 2, 256, 1, block))
	got := rowgroup.NewBatch(s)
	got.Clear()
	check(dec.Decode(got, 0, 1, nil)) // the first group alone
	times := *got.Int64s(timeCol)
	fmt.Println(got.NumPartitions(), "partition,", got.Len(), "rows, the last at", times[len(times)-1])
	fmt.Println(len(block) < 100)
	// Output:
	// 1 partition, 128 rows, the last at 127000
	// true
}
