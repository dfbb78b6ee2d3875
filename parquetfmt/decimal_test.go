package parquetfmt

import (
	"bytes"
	"context"
	"math/big"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/colsst/colsst/rowgroup"
)

// foreignFile is a file of one column, by another writer.
func foreignFile(t testing.TB, n parquet.Node, values ...parquet.Value) []byte {
	t.Helper()
	var file bytes.Buffer
	w := parquet.NewWriter(&file, parquet.NewSchema("s", parquet.Group{"v": n}))
	for _, v := range values {
		_, err := w.WriteRows([]parquet.Row{{v.Level(0, 0, 0)}})
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

func fixed(b ...byte) parquet.Value { return parquet.FixedLenByteArrayValue(b) }

// Decimals and byte strings of one length of another writer, by what holds them:
// as what they are read, and as what the file made of that is.
func TestDecimalsOfOthers(t *testing.T) {
	for _, c := range []struct {
		name   string
		node   parquet.Node
		values []parquet.Value
		typ    string
		form   form
		texts  []string // nil: the last value is refused
		out    format.Type
	}{
		{"int32", parquet.Decimal(2, 9, parquet.Int32Type), []parquet.Value{parquet.Int32Value(-5), parquet.Int32Value(999999999)},
			"decimal(9,2)", formInt32, []string{"-0.05", "9999999.99"}, format.Int32},
		{"int32, too many digits", parquet.Decimal(2, 4, parquet.Int32Type), []parquet.Value{parquet.Int32Value(1), parquet.Int32Value(10000)},
			"decimal(4,2)", formInt32, nil, 0},
		{"int64", parquet.Decimal(9, 18, parquet.Int64Type), []parquet.Value{parquet.Int64Value(1), parquet.Int64Value(-999999999999999999)},
			"decimal(18,9)", formInt64, []string{"0.000000001", "-999999999.999999999"}, format.Int64},
		{"int64, too many digits", parquet.Decimal(0, 10, parquet.Int64Type), []parquet.Value{parquet.Int64Value(10000000000)},
			"decimal(10,0)", formInt64, nil, 0},
		{"int64, few digits", parquet.Decimal(1, 5, parquet.Int64Type), []parquet.Value{parquet.Int64Value(-12345)},
			"decimal(5,1)", formUnscaled, []string{"-1234.5"}, format.Int32},
		{"int64, few digits, too many", parquet.Decimal(1, 5, parquet.Int64Type), []parquet.Value{parquet.Int64Value(1 << 40)},
			"decimal(5,1)", formUnscaled, nil, 0},
		{"fixed", parquet.Decimal(3, 20, parquet.FixedLenByteArrayType(9)), []parquet.Value{fixed(0, 0, 0, 0, 0, 0, 0, 4, 0xd2), fixed(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)},
			"decimal(20,3)", formFixed, []string{"1.234", "-0.001"}, format.FixedLenByteArray},
		{"fixed, too many digits", parquet.Decimal(3, 20, parquet.FixedLenByteArrayType(9)), []parquet.Value{fixed(0x7f, 0, 0, 0, 0, 0, 0, 0, 0)},
			"decimal(20,3)", formFixed, nil, 0},
		{"fixed of 16 bytes", parquet.Decimal(2, 5, parquet.FixedLenByteArrayType(16)), []parquet.Value{fixed(append(make([]byte, 14), 4, 0xd2)...)},
			"decimal(5,2)", formUnscaled, []string{"12.34"}, format.Int32},
		{"bytes", parquet.Decimal(2, 12, parquet.ByteArrayType), []parquet.Value{parquet.ByteArrayValue([]byte{0x85}), parquet.ByteArrayValue([]byte{4, 0xd2})},
			"decimal(12,2)", formUnscaled, []string{"-1.23", "12.34"}, format.Int64},
		{"bytes, none", parquet.Decimal(2, 12, parquet.ByteArrayType), []parquet.Value{parquet.ByteArrayValue(nil)},
			"decimal(12,2)", formUnscaled, nil, 0},
		{"bytes of many digits", parquet.Decimal(2, 77, parquet.ByteArrayType), []parquet.Value{parquet.ByteArrayValue([]byte{4, 0xd2})},
			"decimal", formFixedPt, []string{"12.34"}, format.ByteArray},
		{"fixed(3)", parquet.Leaf(parquet.FixedLenByteArrayType(3)), []parquet.Value{fixed(1, 2, 0xff)},
			"fixed(3)", formFixed, []string{"0x0102ff"}, format.FixedLenByteArray},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := openBytes(t, foreignFile(t, c.node, c.values...))
			require.Equal(t, c.typ, r.Schema().Column(0).Type.String())
			require.Equal(t, c.form, r.plan.columns[0].form)
			if c.texts == nil {
				b := rowgroup.NewBatch(r.Schema())
				_, err := r.Scan(context.Background(), rowgroup.ScanOptions{}).Next(b)
				require.ErrorContains(t, err, c.typ)
				require.ErrorContains(t, err, "v")
				return
			}
			var want [][]string
			for _, text := range c.texts {
				want = append(want, []string{text})
			}
			require.Equal(t, want, textOf(t, r))
			// A file of ours of the same.
			b := rowgroup.NewBatch(r.Schema())
			ok, err := r.Scan(context.Background(), rowgroup.ScanOptions{}).Next(b)
			require.NoError(t, err)
			require.True(t, ok)
			file := writeBatches(t, r.Schema(), []*rowgroup.Batch{b})
			again := openBytes(t, file)
			require.Equal(t, want, textOf(t, again))
			require.NoError(t, again.Verify(context.Background(), VerifyValues, nil))
			f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			e := f.Metadata().Schema[1]
			if c.typ == "decimal" {
				return // a group
			}
			require.Equal(t, c.out, e.Type.V)
			if typ := r.Schema().Column(0).Type; typ.Kind == rowgroup.KindNumeric {
				require.Equal(t, &format.DecimalType{Precision: typ.Precision, Scale: typ.Scale}, e.LogicalType.Value)
				require.Equal(t, typ.Precision, e.Precision.V)
				require.Equal(t, typ.Scale, e.Scale.V)
			} else {
				require.EqualValues(t, typ.Length, e.TypeLength.V)
			}
		})
	}
}

// Bounds of decimals, whatever holds them, leave out what they exclude and no
// more.
func TestDecimalBounds(t *testing.T) {
	for name, node := range map[string]parquet.Node{
		"int32": parquet.Decimal(2, 9, parquet.Int32Type), "int64": parquet.Decimal(2, 12, parquet.Int64Type),
		"int64 of few digits": parquet.Decimal(2, 6, parquet.Int64Type), "bytes": parquet.Decimal(2, 12, parquet.ByteArrayType),
		"fixed": parquet.Decimal(2, 25, parquet.FixedLenByteArrayType(11)), "fixed of 16": parquet.Decimal(2, 12, parquet.FixedLenByteArrayType(16)),
	} {
		var values []parquet.Value
		for _, v := range []int64{-100, 5, 2000} {
			switch node.Type().Kind() {
			case parquet.Int32:
				values = append(values, parquet.Int32Value(int32(v)))
			case parquet.Int64:
				values = append(values, parquet.Int64Value(v))
			case parquet.ByteArray:
				values = append(values, parquet.ByteArrayValue(appendVarint(nil, big.NewInt(v))))
			default:
				values = append(values, fixed(appendSigned(nil, big.NewInt(v), node.Type().Length())...))
			}
		}
		file := foreignFile(t, node, values...)
		for i, src := range [][]byte{file, reencoded(t, file)} {
			r := openBytes(t, src)
			typ := r.Schema().Column(0).Type
			bound := func(text string) []byte {
				v, err := rowgroup.ParseText(nil, typ, text)
				require.NoError(t, err)
				return v
			}
			for _, c := range []struct {
				min, max string
				some     bool
			}{{"-1.00", "-1.00", true}, {"20.00", "99.00", true}, {"20.01", "99.00", false}, {"-99.00", "-1.01", false}, {"0.01", "0.02", true}} {
				it := r.Scan(context.Background(), rowgroup.ScanOptions{Within: []rowgroup.ValueRange{{Column: 0, Min: bound(c.min), Max: bound(c.max)}}})
				b := rowgroup.NewBatch(r.Schema())
				ok, err := it.Next(b)
				require.NoError(t, err)
				if c.some {
					require.True(t, ok, "%s: %v", name, c)
					require.Equal(t, 3, b.Len())
				} else if node.Type().Kind() < parquet.ByteArray || i > 0 {
					// The other writer has the bounds of byte strings, which negative
					// numbers turn round: they say nothing.
					require.False(t, ok, "%s: %v", name, c)
				}
			}
		}
	}
}

// reencoded is a file of ours of another's rows.
func reencoded(t testing.TB, file []byte) []byte {
	r := openBytes(t, file)
	b := rowgroup.NewBatch(r.Schema())
	ok, err := r.Scan(context.Background(), rowgroup.ScanOptions{}).Next(b)
	require.NoError(t, err)
	require.True(t, ok)
	return writeBatches(t, r.Schema(), []*rowgroup.Batch{b})
}

// Decimals of any precision and scale come back from files with the digits that
// they had.
func TestDecimalsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := rapid.IntRange(1, rowgroup.MaxPrecision).Draw(rt, "precision")
		typ := rowgroup.Numeric(p, rapid.IntRange(0, p).Draw(rt, "scale"))
		s := schemaOf(t, rowgroup.Column{Name: "v", Type: typ})
		b := rowgroup.NewBatch(s)
		for i := range rapid.IntRange(1, 20).Draw(rt, "rows") {
			digits, _ := new(big.Int).SetString(rapid.StringMatching(`-?[0-9]{1,76}`).Draw(rt, "digits"), 10)
			v, err := rowgroup.AppendUnscaled(nil, typ, appendVarint(nil, digits))
			require.NoError(t, b.PutValue(0, i, v, err == nil))
		}
		file := writeBatches(t, s, []*rowgroup.Batch{b}, WithCompression(Uncompressed))
		requireEqualBatches(t, s, openBytes(t, file), b)
	})
}

// A partition key of decimals is in the order of its bytes, which is not that of
// the numbers.
func TestDecimalKeysAreNotSorted(t *testing.T) {
	s, err := rowgroup.NewSchema([]rowgroup.Column{{Name: "k", Type: rowgroup.Numeric(20, 0)}}, nil, nil, []rowgroup.Column{{Name: "v", Type: rowgroup.Int}})
	require.NoError(t, err)
	w, err := NewWriter(&bytes.Buffer{}, s)
	require.NoError(t, err)
	require.Empty(t, w.sorted)
}
