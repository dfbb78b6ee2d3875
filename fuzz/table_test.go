package fuzz

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"testing"

	"github.com/colsst/colsst/columnar"
	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
	"github.com/colsst/colsst/textfmt"
)

// file writes a random table with everything in it, in the layers that bits
// of layers choose and in batches of rows.
func file(t testing.TB, seed uint64, layers, rows uint8) (*rowgroup.Batch, []byte) {
	h := generate.History{Partitions: 1 + int(seed%5), Names: 1 + int(seed/5%3), Times: 1 + int(seed/16%9), Seed: seed}
	all := h.Batch()
	opts := []columnar.Option{columnar.WithRowGroupRows(1 + int(layers>>4)*3), columnar.WithBlockBytes(64 << (layers & 3))}
	if layers&4 != 0 {
		opts = append(opts, columnar.WithCompression(1))
	}
	if layers&8 != 0 {
		opts = append(opts, columnar.WithColumnCompression("*"))
	}
	var out bytes.Buffer
	w, err := columnar.NewWriter(&out, all.Schema(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	step := max(1, int(rows))
	piece := rowgroup.NewBatch(all.Schema())
	for from := 0; from < all.Len() || from == 0; from += step {
		last := append([]byte(nil), lastKey(piece)...)
		piece.Reset()
		if from > 0 {
			piece.BeginPartition(last).Continued = true
		}
		if err := piece.AppendRange(all, from, min(all.Len(), from+step)); err != nil {
			t.Fatal(err)
		}
		if err := w.Append(piece); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return all, out.Bytes()
}

func lastKey(b *rowgroup.Batch) []byte {
	if b.NumPartitions() == 0 {
		return nil
	}
	return b.Key(b.NumPartitions() - 1)
}

// dump is every fact that an iterator yields, as text.
func dump(s *rowgroup.Schema, it rowgroup.Iter) (string, error) {
	var out bytes.Buffer
	w := textfmt.NewDumpWriter(&out, s)
	b := rowgroup.NewBatch(s)
	for {
		ok, err := it.Next(b)
		if err == nil && ok {
			err = w.Write(b)
		}
		if err != nil || !ok {
			return out.String(), errors.Join(err, w.Flush(), it.Close())
		}
	}
}

// one yields a single batch.
type one struct{ b *rowgroup.Batch }

func (o *one) Next(b *rowgroup.Batch) (bool, error) {
	if o.b == nil {
		return false, nil
	}
	b.Clear()
	err := b.AppendRange(o.b, 0, o.b.Len())
	o.b = nil
	return true, err
}

func (o *one) Close() error { return nil }

// FuzzTable writes a random table in random layers and batches: it reads back
// as it was, verifies, and other batches make the same bytes.
func FuzzTable(f *testing.F) {
	f.Add(uint64(1), uint8(0xff), uint8(3))
	f.Add(uint64(77), uint8(0), uint8(200))
	f.Add(uint64(12345), uint8(0x5c), uint8(1))
	f.Fuzz(func(t *testing.T, seed uint64, layers, rows uint8) {
		all, data := file(t, seed, layers, rows)
		if _, again := file(t, seed, layers, 255); !bytes.Equal(data, again) {
			t.Fatal("other batches, other bytes")
		}
		r, err := columnar.Open(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		ctx := context.Background()
		if err := r.Verify(ctx, columnar.VerifyValues, func(error) {}); err != nil {
			t.Fatal(err)
		}
		want, err := dump(all.Schema(), &one{all})
		if err != nil {
			t.Fatal(err)
		}
		got, err := dump(r.Schema(), r.Scan(ctx, rowgroup.ScanOptions{}))
		if err != nil || got != want {
			t.Fatalf("%v: read\n%s\nwant\n%s", err, got, want)
		}
	})
}

// FuzzDamage changes bytes of a sound file. Where it hits a checksum, that is
// made good again, so that what lies under it is tested as well. The answer is
// an error of the right kind or rows; never a panic.
func FuzzDamage(f *testing.F) {
	f.Add(uint64(3), uint8(0x10), uint32(100), uint32(0xffff), true)
	f.Add(uint64(9), uint8(0xfc), uint32(700), uint32(1), false)
	f.Add(uint64(5), uint8(0x33), uint32(0xffffffff), uint32(0x80), true)
	f.Fuzz(func(t *testing.T, seed uint64, layers uint8, at, flip uint32, mend bool) {
		_, data := file(t, seed%64, layers, 50)
		pos := int(uint64(at) % uint64(len(data)))
		for k := range 4 {
			if pos+k < len(data) {
				data[pos+k] ^= byte(flip >> (8 * k))
			}
		}
		if mend {
			mendFooter(data)
		}
		ctx := context.Background()
		fail := func(err error) {
			if err != nil && !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) && !errors.Is(err, rowgroup.ErrNotFound) {
				t.Fatal(err)
			}
		}
		if r, err := columnar.Open(bytes.NewReader(data), int64(len(data))); err != nil {
			fail(err)
		} else {
			fail(r.Verify(ctx, columnar.VerifyValues, func(error) {}))
			_, err := dump(r.Schema(), r.Scan(ctx, rowgroup.ScanOptions{Desc: seed%2 == 0, Live: seed%3 == 0}))
			fail(err)
			_, err = r.Describe(ctx)
			fail(err)
			fail(r.Close())
		}
		s, err := columnar.Salvage(ctx, bytes.NewReader(data), int64(len(data)))
		if err != nil {
			fail(err)
			return
		}
		_, err = dump(s.Schema(), s)
		fail(err)
	})
}

// mendFooter makes the checksums of footer and trailer good again.
func mendFooter(data []byte) {
	const trailer = 32
	n := len(data) - trailer
	if n < 0 {
		return
	}
	t := data[n:]
	table := crc32.MakeTable(crc32.Castagnoli)
	if l := binary.LittleEndian.Uint64(t); l <= uint64(n) {
		binary.LittleEndian.PutUint32(t[8:], crc32.Checksum(data[n-int(l):n], table))
	}
	binary.LittleEndian.PutUint32(t[20:], crc32.Checksum(t[:20], table))
}
