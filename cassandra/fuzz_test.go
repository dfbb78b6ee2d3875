package cassandra

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/colsst/colsst/rowgroup"
)

// fuzzVersion picks one of the versions that differ.
func fuzzVersion(i uint8) Version { return versions[int(i)%len(versions)] }

func failUnlessTyped(t *testing.T, err error) {
	if !typed(err) {
		t.Fatal(err)
	}
}

// FuzzStatistics reads Statistics.db, and its bytes as each of its components,
// which checksums keep from being damaged; what can be read is written and read
// again as the same.
func FuzzStatistics(f *testing.F) {
	f.Add(uint8(6), goldenFile(f, "nb", ComponentStatistics))
	f.Add(uint8(8), goldenFile(f, "oa", ComponentStatistics))
	for i, v := range versions {
		x := exampleTable(f, v, 10*i)
		b := makeSSTable(f, &x, making{chunkLength: 64})[ComponentStatistics]
		f.Add(uint8(i), b)
		s, err := ParseStatistics(b, v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), s.RawHeader)
		f.Add(uint8(i), s.RawStats)
	}
	f.Fuzz(func(t *testing.T, version uint8, b []byte) {
		v := fuzzVersion(version)
		if h, err := ParseHeader(b); err == nil {
			again, err := ParseHeader(h.Append(nil))
			if err != nil || len(again.Regular) != len(h.Regular) {
				t.Fatal(err)
			}
		} else {
			failUnlessTyped(t, err)
		}
		if s, err := ParseStats(b, v); err == nil {
			if _, err := ParseStats(s.Append(nil, v), v); err != nil {
				t.Fatal(err)
			}
		} else {
			failUnlessTyped(t, err)
		}
		s, err := ParseStatistics(b, v)
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		again, err := ParseStatistics(AppendStatistics(nil, v, s), v)
		if err != nil || !bytes.Equal(again.RawHeader, s.RawHeader) || !bytes.Equal(again.RawStats, s.RawStats) {
			t.Fatal(err)
		}
	})
}

// FuzzCompressionInfo reads CompressionInfo.db and, with it, a file of the
// given bytes.
func FuzzCompressionInfo(f *testing.F) {
	f.Add(goldenFile(f, "nb", ComponentCompressionInfo), goldenFile(f, "nb", ComponentData))
	for i, class := range compressors[1:] {
		x := exampleTable(f, "nb", i)
		files := makeSSTable(f, &x, making{compressor: class, chunkLength: 128, trailing: true})
		f.Add(files[ComponentCompressionInfo], files[ComponentData])
	}
	f.Fuzz(func(t *testing.T, b, data []byte) {
		ci, err := ParseCompressionInfo(b, "nb")
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		if !bytes.Equal(b, ci.Append(nil, "nb")) {
			t.Fatal("written anew it is something else")
		}
		d := &DataFile{Name: "Data.db", Size: int64(len(data)), Compression: ci}
		data = bytes.Clone(data)
		for i := range ci.Offsets { // with checksums that are right
			if from, to := d.stored(i); from+crcLength <= to && to <= d.Size {
				to -= crcLength
				binary.BigEndian.PutUint32(data[to:], crc32.ChecksumIEEE(data[from:to]))
			}
		}
		d.File = bytes.NewReader(data)
		s, err := d.Stream(0, false)
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		n, err := io.Copy(io.Discard, s)
		if err != nil {
			failUnlessTyped(t, err)
		} else if n != d.Len() {
			t.Fatalf("%d bytes of %d", n, d.Len())
		}
	})
}

// FuzzBody reads a body under a header; what can be read is written, and reads
// as the same.
func FuzzBody(f *testing.F) {
	f.Add(uint8(0), goldenTable(f, "ma").header.Append(nil), goldenFile(f, "ma", ComponentData))
	for i, v := range versions {
		x := exampleTable(f, v, 100+i)
		f.Add(uint8(i), x.header.Append(nil), x.body(f))
	}
	f.Fuzz(func(t *testing.T, version uint8, header, body []byte) {
		v := fuzzVersion(version)
		h, err := ParseHeader(header)
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		events, err := collect(NewBodyReader(bytes.NewReader(body), v, h, WithMaxRow(1<<20)))
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		var b bytes.Buffer
		w := NewBodyWriter(&b, v, h)
		r := NewBodyReader(bytes.NewReader(body), v, h)
		for range events {
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Write(e, r); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		again, err := collect(NewBodyReader(&b, v, h))
		if err != nil {
			t.Fatal(err)
		}
		for i := range events { // numbers may have become shorter
			events[i].Partition.Position = 0
			again[i].Partition.Position = 0
		}
		sameEvents(t, events, again)
	})
}

// FuzzSalvage salvages a body without an index; what is left can be read as rows.
func FuzzSalvage(f *testing.F) {
	f.Add(uint8(0), goldenTable(f, "ma").header.Append(nil), goldenFile(f, "ma", ComponentData))
	for i, v := range versions {
		x := exampleTable(f, v, 300+i)
		f.Add(uint8(i), x.header.Append(nil), x.body(f))
	}
	f.Fuzz(func(t *testing.T, version uint8, header, body []byte) {
		h, err := ParseHeader(header)
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		x := table{version: fuzzVersion(version), header: h}
		s := x.sstable()
		s.Version, s.Header, s.Dir, s.options.maxRow = x.version, h, "none", 1<<20
		s.Data = &DataFile{Name: "Data.db", File: bytes.NewReader(body), Size: int64(len(body))}
		src, err := NewSource(s, nil)
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		at := int64(-1)
		err = src.Salvage(t.Context(), func(p *BadPartition) error {
			if p.Position <= at || p.End < p.Position {
				t.Fatal(p.Position, "to", p.End, "after", at)
			}
			at = p.Position
			failUnlessTyped(t, p.Err)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		it := src.Scan(t.Context(), rowgroup.ScanOptions{})
		b := rowgroup.NewBatch(src.Schema())
		for {
			more, err := it.Next(b)
			if err != nil {
				t.Fatal(err)
			}
			if !more {
				break
			}
			if err := b.Check(); err != nil {
				t.Fatal(err)
			}
		}
		if err := it.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzIndex reads Index.db and Summary.db.
func FuzzIndex(f *testing.F) {
	f.Add(uint8(2), goldenTable(f, "mc").header.Append(nil), goldenFile(f, "mc", ComponentIndex))
	for i, v := range []Version{"mc", "oa"} {
		x := exampleTable(f, v, 50+i)
		files := makeSSTable(f, &x, making{chunkLength: 64, blockLength: 30, summaryEvery: 2})
		f.Add(uint8(2+6*i), x.header.Append(nil), files[ComponentIndex])
		f.Add(uint8(0), []byte(nil), files[ComponentSummary])
	}
	f.Add(uint8(0), []byte(nil), append(append(make([]byte, 15), 9), make([]byte, 8+9+8)...)) // bytes of no entries
	f.Fuzz(func(t *testing.T, version uint8, header, b []byte) {
		if s, err := ParseSummary(b); err == nil {
			if !bytes.Equal(b, s.Append(nil)) {
				t.Fatal("written anew it is something else")
			}
		} else {
			failUnlessTyped(t, err)
		}
		h, err := ParseHeader(header)
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		r := NewIndexReader(bytes.NewReader(b), fuzzVersion(version), h)
		for {
			if err := r.Next(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				failUnlessTyped(t, err)
				return
			}
		}
	})
}

// FuzzTries reads Partitions.db and Rows.db.
func FuzzTries(f *testing.F) {
	f.Add(goldenFile(f, "da", ComponentPartitions), goldenFile(f, "da", ComponentRows), goldenTable(f, "da").events[0].Partition.Key)
	for i := range 4 {
		x := exampleTable(f, "da", 200+50*i)
		files := makeSSTable(f, &x, making{chunkLength: 64, blockLength: 20})
		f.Add(files[ComponentPartitions], files[ComponentRows], x.events[0].Partition.Key)
	}
	f.Fuzz(func(t *testing.T, partitions, rows, key []byte) {
		p, err := OpenPartitionIndex(bytes.NewReader(partitions), int64(len(partitions)))
		if err != nil {
			failUnlessTyped(t, err)
			return
		}
		if _, _, err = p.Find(appendEscaped(nil, key)); err != nil {
			failUnlessTyped(t, err)
		}
		x := OpenRowIndex(bytes.NewReader(rows), int64(len(rows)), "da")
		w := p.Walk()
		for {
			_, position, err := w.Next()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				failUnlessTyped(t, err)
				return
			}
			if position < 0 {
				continue
			}
			e, err := x.Entry(position)
			if err == nil {
				_, err = x.Blocks(e)
			}
			if err != nil {
				failUnlessTyped(t, err)
			}
		}
	})
}

// FuzzText reads the components and names that are text.
func FuzzText(f *testing.F) {
	f.Add("nb-1-big-Data.db", []byte("COMMIT:[,0,0][2613697770]\n"))
	f.Add("/d/ks/t-0123456789abcdef0123456789abcdef/snapshots/s/.i", goldenFile(f, "nb", ComponentTOC))
	f.Add("txn_a_b.log", goldenFile(f, "nb", ComponentDigest))
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if d, c, err := ParseName(name); err == nil && d.FileName(c) != name {
			t.Fatal(d, c)
		}
		ParseTablePath(name)
		IsTransactionName(name)
		if _, err := ParseTOC(text); err != nil {
			failUnlessTyped(t, err)
		}
		if _, err := ParseDigest(text); err != nil {
			failUnlessTyped(t, err)
		}
		if _, err := ParseTransaction(text); err != nil {
			failUnlessTyped(t, err)
		}
	})
}
