package codecs

import (
	"bytes"
	"fmt"

	"github.com/colsst/colsst/bench/result"
	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/simd"
)

const (
	groupRows  = 128
	groupBytes = 24 // a row's time, value, write time, TTL and expiry
	groupName  = "colsst/rowgroup"
	memset     = "memset"
)

func groupData(v generate.Variant) string { return "a group of metrics5, " + v.String() }

// group measures the decoding of row groups of metrics5, all five columns of
// 128 rows, out of a block in L1, against the clearing of as much memory.
func (x *run) group() error {
	x.logf("codecs: row groups")
	for _, v := range []generate.Variant{generate.Full, generate.TwoDecimals} {
		if err := x.groupOf(v); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) groupOf(v generate.Variant) error {
	m := generate.Metrics5{Series: 1, Points: generate.WeekPoints, Variant: v, Seed: generate.Seed}
	s := m.Schema()
	rows := rowgroup.NewBatch(s)
	if _, err := m.Rows().Next(rows); err != nil {
		return err
	}
	key := rows.Key(0)
	var spans []rowgroup.Span
	for from := 0; from+groupRows <= rows.Len(); from += groupRows {
		span := rowgroup.Span{FromRow: from, ToRow: from + groupRows, FromPart: 1, ToPart: 1}
		if from == 0 {
			span.FromPart = 0
		}
		spans = append(spans, span)
	}
	seg, err := rowgroup.NewSegmentEncoder(s, rowgroup.EncodeOptions{}).Encode(rows, spans)
	if err != nil {
		return err
	}
	const first, groups = 8, 8 // of the block
	var templates rowgroup.TemplateSet
	_, t, _ := templates.Choose(seg, first, first+groups)
	body := seg.AppendBlock(nil, first, first+groups, t)
	dec, dst := rowgroup.NewBlockDecoder(s), rowgroup.NewBatch(s)
	if err := dec.Open(t, groups, groups*groupRows, 0, body); err != nil {
		return err
	}
	var o rowgroup.ScanOptions
	decode := func(g int) error {
		dst.Clear()
		dst.BeginPartition(key)
		return dec.Decode(dst, g, g+1, &o)
	}
	if err := decode(0); err != nil {
		return err
	}
	if got, want := *dst.Float32s(2), (*rows.Float32s(2))[first*groupRows:][:groupRows]; !equal(got, want) {
		return fmt.Errorf("%s: a block decodes to other values", groupData(v))
	}
	line := func(subject string, l simd.Level, fn func()) {
		t := x.plan.Time(fn).Per(groups * groupRows)
		x.results = append(x.results, result.Result{Suite: suite, Data: groupData(v), Subject: subject,
			Params: result.Params{"level": l.String(), "rows": groupRows}, Metric: "ns_per_row", Unit: "ns"}.WithSpread(t))
	}
	memory := make([]byte, groupBytes*groupRows)
	return x.each(func(l simd.Level) error {
		line(groupName, l, func() {
			for g := range groups {
				_ = decode(g) // succeeded above, or is as good as the one that did
			}
		})
		line(memset, l, func() {
			for range groups {
				clear(memory)
			}
		})
		return nil
	})
}

const (
	fileName   = "colsst/columnar"
	fileValues = 1 << 19 // beside which the 400 bytes of a file of one row are little
)

// files measures the size of columns of int64 as files, parameters, index and
// all, at some sizes of row groups.
func (x *run) files() error {
	for _, col := range int64Columns(fileValues) {
		for _, rows := range []int{128, 512, 4096} {
			n, err := fileBytes(col.values, rows)
			if err != nil {
				return err
			}
			x.results = append(x.results, result.Result{Suite: suite, Data: col.name, Subject: fileName,
				Params: result.Params{"block": rows}, Metric: "bytes_per_value", Unit: "B", Value: float64(n) / float64(len(col.values))})
		}
	}
	return nil
}

func fileBytes(values []int64, groupRows int) (int, error) {
	s, err := rowgroup.NewSchema(nil, nil, nil, []rowgroup.Column{{Name: "value", Type: rowgroup.Bigint}})
	if err != nil {
		return 0, err
	}
	var file bytes.Buffer
	w, err := columnar.NewWriter(&file, s, columnar.WithRowGroupRows(groupRows))
	if err != nil {
		return 0, err
	}
	b := rowgroup.NewBatch(s)
	*b.Int64s(0) = append(*b.Int64s(0), values...)
	if err := w.Append(b); err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return file.Len(), nil
}
