package columnar

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

func TestQuadraticWalk(t *testing.T) {
	b := points(t, 1, 2, 3)
	file := write(t, b, 10)
	rd := open(t, file)
	const size = 3 << 20
	stream := bytes.Clone(file[:len(file)-trailerLen-len(rd.foot.appendTo(nil, 0))])
	end := fileHeaderLen + len(stream) - fileHeaderLen + size
	for len(stream) < size {
		h := header{kind: kindSchema, body: end - len(stream) - 64}
		stream = h.appendTo(stream)
	}
	stream = append(stream, make([]byte, end-len(stream))...)
	ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Salvage(ctx, bytes.NewReader(stream), int64(len(stream)))
	t.Log(err, time.Since(start), len(stream))
	require.Less(t, time.Since(start), 3*time.Second)
}

func TestQuadraticChunks(t *testing.T) {
	const chunk = 16 << 10 // KiB
	file := appendFileHeader(nil, chunk)
	word := binary.LittleEndian.AppendUint32(nil, 0x000f0f00)
	file = append(file, bytes.Repeat(word, 3<<17)...)
	ctx, cancel := context.WithTimeout(bg, 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := Salvage(ctx, bytes.NewReader(file), int64(len(file)))
	t.Log(err, time.Since(start), len(file))
	require.Less(t, time.Since(start), 3*time.Second)
}

func TestItemBomb(t *testing.T) {
	const kib = 16 << 10
	enc, _ := zstd.NewWriter(nil, zstd.WithSingleSegment(true))
	zeros := make([]byte, kib<<10)
	chunkOf := func(raw []byte) []byte { return appendChunk(nil, raw, enc) }
	b := points(t, 1, 2, 3)
	plain := write(t, b, 10, WithCompression(kib))
	prd := open(t, plain)
	w0 := window{f: &prd.file}
	stream, err := w0.bytes(0, prd.file.streamLen, 0)
	require.NoError(t, err)
	// one item that claims 40 chunks
	const chunks = 16
	h := header{kind: kindStats, body: chunks*(kib<<10) - len(stream) - 20, fields: [5]uint64{0, 1}}
	first := append(bytes.Clone(stream), h.appendTo(nil)...)
	total := len(first) + h.body
	first = append(first, zeros[:kib<<10-len(first)]...)
	file := appendFileHeader(nil, kib)
	foot := *prd.foot
	foot.stored = nil
	for i := range chunks {
		raw := zeros
		if i == 0 {
			raw = first
		}
		if i == chunks-1 {
			raw = zeros[:total-(chunks-1)*(kib<<10)]
		}
		c := chunkOf(raw)
		foot.stored = append(foot.stored, int64(len(c)-chunkFrame))
		file = append(file, c...)
	}
	foot.streamLen = int64(total)
	fb := foot.appendTo(nil, kib<<10)
	file = append(append(file, fb...), appendTrailer(nil, fb, featureChunks)...)
	rd := open(t, file)
	n := allocated(func() { _, err = rd.Describe(bg) })
	t.Logf("file of %d bytes: %v, %d MiB allocated", len(file), err, n>>20)
	require.Less(t, n, uint64(100<<20))
}

func TestRowsNegative(t *testing.T) {
	b := points(t, 1, 2, 3)
	file := write(t, b, 10)
	rd := open(t, file)
	bad := refoot(rd, file, func(f *footer) {
		st := rowgroup.NewStats(f.schema)
		st.Merge(f.stats)
		st.Markers = 1 << 40
		f.stats = st
	})
	r2, err := Open(bytes.NewReader(bad), int64(len(bad)))
	if err != nil {
		return
	}
	require.GreaterOrEqual(t, r2.Rows(), int64(0), "Rows of a file that Open took")
}

func TestTemplateBomb(t *testing.T) {
	var cols []rowgroup.Column
	for i := range 1000 {
		cols = append(cols, rowgroup.Column{Name: fmt.Sprintf("%x", i), Type: rowgroup.Int})
	}
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, cols)
	file := write(t, rowgroup.NewBatch(s), 10)
	rd := open(t, file)
	bad := refoot(rd, file, func(f *footer) {
		f.templates = nil
		for range 1000 {
			f.templates = append(f.templates, []byte{0, 0, 0})
		}
	})
	n := allocated(func() { _, _ = Open(bytes.NewReader(bad), int64(len(bad))) })
	t.Logf("a file of %d bytes: %d MiB allocated by Open", len(bad), n>>20)
	require.Less(t, n, uint64(32<<20))
}
