package fuzz

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/parquetfmt"
	"github.com/colsst/colsst/rowgroup"
)

// parquetFile writes a random table with everything in it as a lossless Parquet
// file, in the settings that bits of settings choose.
func parquetFile(t testing.TB, seed uint64, settings, rows uint8) (*rowgroup.Batch, []byte) {
	h := generate.History{Partitions: 1 + int(seed%5), Names: 1 + int(seed/5%3), Times: 1 + int(seed/16%9), Seed: seed}
	all := h.Batch()
	opts := []parquetfmt.Option{parquetfmt.WithLossless(), parquetfmt.WithRowGroups(1+int(rows), 1<<20),
		parquetfmt.WithPages(1+int(settings>>4)*3, 1<<20), parquetfmt.WithPageVersion(1 + int(settings&1))}
	if settings&2 != 0 {
		opts = append(opts, parquetfmt.WithCompression(parquetfmt.Uncompressed))
	}
	if settings&4 != 0 {
		opts = append(opts, parquetfmt.WithEncoding("*", parquetfmt.Plain))
	}
	if settings&8 != 0 {
		opts = append(opts, parquetfmt.WithEncoding("*", parquetfmt.Dictionary))
	}
	var out bytes.Buffer
	w, err := parquetfmt.NewWriter(&out, all.Schema(), opts...)
	if err == nil {
		err = errors.Join(w.Append(all), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	return all, out.Bytes()
}

// FuzzParquetTable writes histories as Parquet and reads the same of them.
func FuzzParquetTable(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, uint8(seed*37), uint8(seed*11))
	}
	f.Fuzz(func(t *testing.T, seed uint64, settings, rows uint8) {
		all, file := parquetFile(t, seed, settings, rows)
		want, err := dump(all.Schema(), &one{all.Clone()})
		if err != nil {
			t.Fatal(err)
		}
		r, err := parquetfmt.Open(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			err = r.Verify(context.Background(), parquetfmt.VerifyValues, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := dump(r.Schema(), r.Scan(context.Background(), rowgroup.ScanOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("other rows:\n%s\nwant:\n%s", got, want)
		}
	})
}

// FuzzParquetFile reads whatever bytes: an error of a kind that says so, or rows.
func FuzzParquetFile(f *testing.F) {
	for seed := range uint64(8) {
		_, file := parquetFile(f, seed, uint8(seed*37), uint8(seed*11))
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, err := parquetfmt.Open(bytes.NewReader(file), int64(len(file)))
		if err == nil {
			r.Describe()
			_ = r.Verify(context.Background(), parquetfmt.VerifyValues, func(err error) { accept(t, err) }) // without a deadline
			_, err = dump(r.Schema(), r.Scan(context.Background(), rowgroup.ScanOptions{}))
		}
		if err != nil {
			accept(t, err)
		}
	})
}

// accept fails unless err is of a damaged file.
func accept(t *testing.T, err error) {
	t.Helper()
	var value *parquetfmt.ValueError
	if !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) && !errors.As(err, &value) {
		t.Fatalf("%T: %v", err, err)
	}
}
