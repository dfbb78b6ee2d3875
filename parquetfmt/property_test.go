package parquetfmt

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/internal/rowdiff"
	"github.com/colsst/colsst/rowgroup"
)

var scalarTypes = []string{"boolean", "tinyint", "smallint", "int", "bigint", "uint8", "uint16", "uint32", "uint64", "float", "double", "text", "ascii", "blob",
	"varint", "decimal", "uuid", "timestamp(s)", "timestamp(ms)", "timestamp(us)", "timestamp(ns)", "date", "time", "inet", "duration", "counter", "empty",
	"decimal(4,2)", "decimal(18,0)", "decimal(30,4)", "fixed(3)"}

// drawType is any type; of collections only frozen ones.
func drawType(t *rapid.T, depth int) rowgroup.Type {
	text := rapid.SampledFrom(scalarTypes).Draw(t, "type")
	if depth > 0 {
		a := func() string { return drawType(t, depth-1).String() }
		switch rapid.IntRange(0, 8).Draw(t, "kind") {
		case 0:
			text = "frozen<list<" + a() + ">>"
		case 1:
			text = "frozen<set<" + a() + ">>"
		case 2:
			text = "frozen<map<" + a() + "," + a() + ">>"
		case 3:
			text = "tuple<" + a() + "," + a() + ">"
		case 4:
			text = "frozen<udt<ks.u{a:" + a() + ",b:" + a() + "}>>"
		case 5:
			text = "vector<" + rapid.SampledFrom([]string{"float", "text", "int"}).Draw(t, "element") + ",3>"
		}
	}
	typ, err := rowgroup.ParseType(text)
	require.NoError(t, err)
	return typ
}

// drawValue is bytes that are a valid value of a type, or nearly.
func drawValue(t *rapid.T, typ rowgroup.Type) []byte {
	typ = bare(typ)
	bytes := func(n int) []byte { return rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "bytes") }
	part := func(dst []byte, a rowgroup.Type) []byte {
		v := drawValue(t, a)
		return append(append(dst, 0, 0, byte(len(v)>>8), byte(len(v))), v...)
	}
	switch typ.Kind {
	case rowgroup.KindText, rowgroup.KindASCII:
		return []byte(rapid.StringMatching("[a-z]{0,3}").Draw(t, "text"))
	case rowgroup.KindTime:
		return rowgroup.AppendInt(nil, typ, rapid.Int64Range(0, nanosOfDay-1).Draw(t, "time"))
	case rowgroup.KindTimestamp:
		return rowgroup.AppendInt(nil, typ, rapid.Int64Range(-1<<50, 1<<50).Draw(t, "time"))
	case rowgroup.KindBoolean:
		return []byte{rapid.ByteRange(0, 1).Draw(t, "bool")}
	case rowgroup.KindDecimal:
		return append([]byte{0, 0, 0, rapid.Byte().Draw(t, "scale")}, bytes(rapid.IntRange(1, 9).Draw(t, "n"))...)
	case rowgroup.KindVarint:
		return bytes(rapid.IntRange(1, 9).Draw(t, "n"))
	case rowgroup.KindInet:
		return bytes(rapid.SampledFrom([]int{4, 16}).Draw(t, "n"))
	case rowgroup.KindDuration:
		return appendDuration(nil, rapid.Int32Range(0, 100).Draw(t, "months"), rapid.Int32Range(0, 100).Draw(t, "days"), rapid.Int64Range(0, 1<<50).Draw(t, "nanos"))
	case rowgroup.KindCounter:
		return append([]byte{0, 1, 0, 0}, bytes(32)...)
	case rowgroup.KindEmpty:
		return nil
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap:
		n := rapid.IntRange(0, 3).Draw(t, "elements")
		v := []byte{0, 0, 0, byte(n)}
		for range n {
			for _, a := range typ.Args {
				v = part(v, a)
			}
		}
		return v
	case rowgroup.KindTuple, rowgroup.KindUDT:
		var v []byte
		for _, a := range typ.Args[:rapid.IntRange(0, len(typ.Args)).Draw(t, "fields")] {
			if rapid.Bool().Draw(t, "null") {
				v = append(v, 0xff, 0xff, 0xff, 0xff)
			} else {
				v = part(v, a)
			}
		}
		return v
	case rowgroup.KindVector:
		var v []byte
		for range typ.Length {
			e := drawValue(t, typ.Args[0])
			if _, fixed := typ.Args[0].ValueLen(); !fixed {
				v = appendVint(v, uint64(len(e)))
			}
			v = append(v, e...)
		}
		return v
	case rowgroup.KindUUID:
		return bytes(16)
	case rowgroup.KindFixed:
		return bytes(int(typ.Length))
	case rowgroup.KindNumeric:
		n, _ := typ.ValueLen()
		v := bytes(rapid.IntRange(1, n).Draw(t, "n"))
		for fits := false; !fits; {
			x, err := rowgroup.AppendUnscaled(nil, typ, v)
			if fits = err == nil; fits {
				return x
			}
			v = v[1:]
		}
	case rowgroup.KindBlob:
		return bytes(rapid.IntRange(0, 5).Draw(t, "n"))
	}
	n := map[rowgroup.Kind]int{rowgroup.KindTinyint: 1, rowgroup.KindUint8: 1, rowgroup.KindSmallint: 2, rowgroup.KindUint16: 2, rowgroup.KindInt: 4,
		rowgroup.KindUint32: 4, rowgroup.KindFloat: 4, rowgroup.KindDate: 4}[typ.Kind]
	if n == 0 {
		n = 8
	}
	return bytes(n)
}

// Rows of any types come back: from a lossless file with whatever bytes, from a
// live one where its columns have all of a type.
func TestAnyTypes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var columns []rowgroup.Column
		for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
			columns = append(columns, rowgroup.Column{Name: fmt.Sprint("c", i), Type: drawType(t, 2)})
		}
		s, err := rowgroup.NewSchema(nil, nil, nil, columns)
		require.NoError(t, err)
		wild := rapid.Bool().Draw(t, "wild")
		b := rowgroup.NewBatch(s)
		for i := range rapid.IntRange(0, 30).Draw(t, "rows") {
			for col := range columns {
				v, ok := drawValue(t, columns[col].Type), rapid.IntRange(0, 4).Draw(t, "there") > 0
				if wild && rapid.IntRange(0, 5).Draw(t, "other") == 0 {
					v = rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "any")
				}
				require.NoError(t, b.PutValue(col, i, v, ok))
			}
		}
		require.NoError(t, b.Check())
		opts := []Option{WithRowGroups(rapid.IntRange(1, 40).Draw(t, "group"), 1<<20), WithPages(rapid.IntRange(1, 40).Draw(t, "page"), 1<<20),
			WithPageVersion(rapid.IntRange(1, 2).Draw(t, "version"))}
		batches := []*rowgroup.Batch{b}
		requireSameRows(t, s, openBytesOf(t, writeOf(t, s, batches, append(opts, WithLossless())...)), batches)
		if wild || b.Len() == 0 { // a live file has no partition without rows
			return
		}
		r := openBytesOf(t, writeOf(t, s, batches, opts...))
		for i := range columns {
			if x := r.plan.columns[i]; !x.exact() || x.typ.Kind == rowgroup.KindEmpty || columns[i].Type.Kind == rowgroup.KindCounter {
				return // inexact, by its parts or its text
			}
		}
		requireSameRows(t, s, r, batches)
	})
}

func writeOf(t *rapid.T, s *rowgroup.Schema, batches []*rowgroup.Batch, opts ...Option) []byte {
	var file writeBuffer
	w, err := NewWriter(&file, s, opts...)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Append(b))
	}
	require.NoError(t, w.Close())
	return file
}

type writeBuffer []byte

func (b *writeBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

func openBytesOf(t *rapid.T, file []byte) *Reader {
	r, err := Open(readerAt(file), int64(len(file)))
	require.NoError(t, err)
	require.NoError(t, r.Verify(context.Background(), VerifyValues, nil))
	return r
}

type readerAt []byte

func (b readerAt) ReadAt(p []byte, off int64) (int, error) {
	return copy(p, b[off:]), nil
}

func requireSameRows(t *rapid.T, s *rowgroup.Schema, r *Reader, batches []*rowgroup.Batch) {
	a, b := rowdiff.Side{Schema: s, Rows: &batchIter{batches}}, scanOf(r)
	d, err := rowdiff.Compare(context.Background(), a, b, rowdiff.Options{Metadata: true, Report: 3})
	require.NoError(t, err)
	require.Empty(t, d.First)
}
