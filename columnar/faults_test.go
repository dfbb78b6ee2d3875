package columnar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/deltadelta"
	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

// sample is a small file with every kind of item and layer.
func sample(t testing.TB, opts ...Option) (*rowgroup.Batch, []byte) {
	s := testSchemas(t)["static"]
	b := history(t, s, rand.New(rand.NewPCG(9, 10)), historyOptions{6, 12, false})
	return b, write(t, b, 1<<30, append(opts, WithUserData("a", []byte("b")))...)
}

func layered() map[string][]Option {
	small := []Option{WithRowGroupRows(4), WithBlockBytes(200)}
	return map[string][]Option{
		"plain":  small,
		"zstd":   append(slices.Clone(small), WithColumnCompression("*")),
		"outer":  append(slices.Clone(small), WithCompression(1)),
		"layers": append(slices.Clone(small), WithColumnCompression("*"), WithCompression(1)),
	}
}

func TestVerify(t *testing.T) {
	for name, s := range testSchemas(t) {
		for combo, opts := range combinations() {
			t.Run(name+"/"+combo, func(t *testing.T) {
				b := history(t, s, rand.New(rand.NewPCG(11, 12)), historyOptions{20, 20, false})
				rd := open(t, write(t, b, 1<<30, opts...))
				for _, level := range []Level{VerifyFooter, VerifyBlocks, VerifyValues} {
					require.NoError(t, rd.Verify(bg, level, func(err error) { t.Error(err) }))
				}
			})
		}
	}
}

// readAll reads a file on every path: all partitions forward and backward, by
// scan and one by one.
func readAll(file []byte, keys [][]byte) ([]string, error) { return readInSteps(file, keys, stepBytes) }

// readInSteps is readAll where so many bytes of values are decoded at a time.
func readInSteps(file []byte, keys [][]byte, step int) ([]string, error) {
	rd, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	defer rd.Close()
	rd.step = step
	all, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), rd.Schema())
	if err != nil {
		return nil, err
	}
	lines, err := drain(rd.Scan(bg, rowgroup.ScanOptions{Desc: true}), rd.Schema())
	if err != nil {
		return nil, err
	}
	all = append(all, lines...)
	for _, k := range keys {
		p, err := rd.Partition(bg, k)
		if err != nil {
			return nil, err
		}
		lines, err := drain(p.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), rd.Schema())
		if err != nil {
			return nil, err
		}
		all = append(all, lines...)
	}
	return all, rd.Verify(bg, VerifyValues, nil)
}

func keysOf(b *rowgroup.Batch) (keys [][]byte) {
	for p := range b.NumPartitions() {
		keys = append(keys, b.Key(p))
	}
	return keys
}

// mustDetect fails unless the file is refused as corrupt or unsupported.
func mustDetect(t *testing.T, file []byte, keys [][]byte, what string) {
	t.Helper()
	_, err := readAll(file, keys)
	if !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestFlippedBytes(t *testing.T) {
	for name, opts := range layered() {
		t.Run(name, func(t *testing.T) {
			b, file := sample(t, opts...)
			_, err := readAll(file, keysOf(b))
			require.NoError(t, err)
			step := 1 + len(file)/1500
			if testing.Short() || invariants.Enabled {
				step *= 8
			}
			for i := 0; i < len(file); i += step {
				bad := slices.Clone(file)
				bad[i] ^= 1 << (i % 8)
				mustDetect(t, bad, keysOf(b), fmt.Sprint("byte ", i))
			}
		})
	}
}

// TestT31LostLastChunk also cuts files at every length.
func TestT31LostLastChunk(t *testing.T) {
	for name, opts := range layered() {
		b, file := sample(t, opts...)
		for n := range len(file) {
			if _, err := Open(bytes.NewReader(file[:n]), int64(n)); !errors.Is(err, encoding.ErrCorrupt) {
				t.Fatalf("%s cut to %d bytes: %v", name, n, err)
			}
		}
		if name != "outer" {
			continue
		}
		rd := open(t, file)
		chunks := rd.file.chunkAt
		require.Greater(t, len(chunks), 4)
		n := len(chunks) - 1
		without := func(from, to int64) []byte { return slices.Concat(file[:from], file[to:]) }
		mustDetect(t, without(chunks[n-1], chunks[n]), keysOf(b), "last chunk removed")
		mustDetect(t, without(chunks[n-2], chunks[n]), keysOf(b), "last two chunks removed")
		mustDetect(t, without(chunks[1], chunks[2]), keysOf(b), "second chunk removed")
		empty := binary.LittleEndian.AppendUint32(make([]byte, 4), checksum(make([]byte, 4)))
		mustDetect(t, slices.Concat(file[:chunks[1]], empty, file[chunks[2]:]), keysOf(b), "empty chunk")
		skippable := []byte{0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0}
		mustDetect(t, replaceChunk(t, file, 1, func(stored []byte) []byte { return append(stored, skippable...) }), keysOf(b), "skippable frame")
		mustDetect(t, replaceChunk(t, file, 1, func(stored []byte) []byte { return append(stored, stored...) }), keysOf(b), "two frames")
	}
}

// refoot writes the footer of rd, changed, behind the stream.
func refoot(rd *Reader, file []byte, change func(f *footer)) []byte {
	foot := *rd.foot
	stream := file[:len(file)-trailerLen-len(rd.foot.appendTo(nil, rd.file.chunk))]
	change(&foot)
	b := foot.appendTo(nil, rd.file.chunk)
	features := uint32(0)
	if rd.file.chunk > 0 {
		features = featureChunks
	}
	return append(slices.Clone(stream), appendTrailer(b, b, features)...)
}

// replaceChunk replaces what chunk i stores, checksums and footer done again.
func replaceChunk(t *testing.T, file []byte, i int, change func([]byte) []byte) []byte {
	rd := open(t, file)
	from, to := rd.file.chunkAt[i], rd.file.chunkAt[i+1]
	flag := binary.LittleEndian.Uint32(file[from:]) & zstdFlag
	return storeChunk(t, file, i, flag, change(slices.Clone(file[from+chunkHeader:to-crcBytes])))
}

// storeChunk stores body as chunk i, checksums and footer done again.
func storeChunk(t *testing.T, file []byte, i int, flag uint32, body []byte) []byte {
	rd := open(t, file)
	from, to := rd.file.chunkAt[i], rd.file.chunkAt[i+1]
	c := binary.LittleEndian.AppendUint32(nil, uint32(len(body))|flag)
	c = append(c, body...)
	c = binary.LittleEndian.AppendUint32(c, checksum(c))
	file = slices.Concat(file[:from], c, file[to:])
	return refoot(rd, file, func(f *footer) {
		f.stored = slices.Clone(f.stored)
		f.stored[i] = int64(len(body))
	})
}

func TestT33Bombs(t *testing.T) {
	_, file := sample(t, layered()["outer"]...)
	enc, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	zeros := enc.EncodeAll(make([]byte, 64<<20), nil)
	for name, frame := range map[string][]byte{
		"cut":      zeros[:min(len(zeros), 1000)],
		"zeros":    bomb(1<<10, 900),
		"declared": {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0},
		"window":   {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0},
	} {
		bad := replaceChunk(t, file, 1, func([]byte) []byte { return frame })
		require.Less(t, allocated(func() { mustDetect(t, bad, nil, name) }), uint64(4<<20), name)
	}
	// Large chunks hold whole bombs: as they are, and with a size that lies.
	b, file := sample(t, WithCompression(64), WithFilter(false))
	require.Less(t, len(zeros), 64<<10)
	for name, frame := range map[string][]byte{"whole": zeros, "lying": bomb(open(t, file).chunkBytes(0), 6000)} {
		bad := replaceChunk(t, file, 0, func([]byte) []byte { return frame })
		require.Less(t, allocated(func() { mustDetect(t, bad, keysOf(b), name) }), uint64(8<<20), name)
	}
}

// chunkBytes is how many bytes of the stream outer chunk i holds.
func (r *Reader) chunkBytes(i int) int {
	return min(r.file.chunk, int(r.file.streamLen)-i*r.file.chunk)
}

// bomb is one Zstd frame of length bytes that declares size bytes and makes
// many more: blocks that repeat a byte.
func bomb(size, length int) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xa0}
	b = binary.LittleEndian.AppendUint32(b, uint32(size))
	block := func(kind, n, last int) {
		h := n<<3 | kind<<1 | last
		b = append(b, byte(h), byte(h>>8), byte(h>>16))
	}
	for length-len(b) > 3+3+4 {
		block(1, min(size, 128<<10), 0)
		b = append(b, 0)
	}
	block(0, length-len(b)-3, 1)
	return append(b, make([]byte, length-len(b))...)
}

// TestT33ColumnBombs puts bombs, and T31 frames with something behind them, in
// the place of a column's chunk.
func TestT33ColumnBombs(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Text}})
	b := rowgroup.NewBatch(s)
	for i := range 4000 {
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		require.NoError(t, b.Bytes(1).Append(fmt.Appendf(nil, "%d and some words that come again and again", i*7919%1000)))
	}
	file := write(t, b, 1<<20, WithRowGroupRows(4000), WithRowGroupBytes(1<<20), WithColumnCompression("v"), WithEncoding("v", encoding.LengthBytes))
	rd := open(t, file)
	sound, err := drain(rd.Scan(bg, rowgroup.ScanOptions{}), s)
	require.NoError(t, err)
	same(t, dump(b), sound)
	w := walker{ctx: bg, wanted: "D", win: window{f: &rd.file}, gap: func(err error, _, _ int64) { t.Fatal(err) }}
	it, ok, err := w.next()
	for ; ok && it.kind != kindData; it, ok, err = w.next() {
		require.NoError(t, err)
	}
	require.True(t, ok)
	body := slices.Clone(it.body)
	from := bytes.Index(body, []byte{0x28, 0xb5, 0x2f, 0xfd})
	require.GreaterOrEqual(t, from, 0)
	var h zstd.Header
	require.NoError(t, h.Decode(body[from:]))
	length := len(body) - from // the last chunk of the block
	enc, err := zstd.NewWriter(nil, zstd.WithSingleSegment(true), zstd.WithEncoderCRC(false))
	require.NoError(t, err)
	short := enc.EncodeAll(make([]byte, h.FrameContentSize), nil)
	skippable := binary.LittleEndian.AppendUint32(append(short, 0x50, 0x2a, 0x4d, 0x18), uint32(length-len(short)-8))
	skippable = append(skippable, make([]byte, length-len(skippable))...)
	second := append(slices.Clone(short), bomb(1<<20, length-len(short))...)
	for name, frame := range map[string][]byte{"bomb": bomb(int(h.FrameContentSize), length), "skippable frame behind": skippable, "second frame behind": second} {
		require.Len(t, frame, length)
		bad := slices.Clone(file)
		item := append(it.header.appendTo(nil), append(body[:from:from], frame...)...)
		item = binary.LittleEndian.AppendUint32(item, checksum(item))
		copy(bad[fileHeaderLen+it.at.off:], item)
		require.Less(t, allocated(func() {
			r2 := open(t, bad)
			_, err := drainCount(r2.Scan(bg, rowgroup.ScanOptions{}), s)
			require.ErrorIs(t, err, encoding.ErrCorrupt, name)
			require.ErrorIs(t, r2.Verify(bg, VerifyValues, nil), encoding.ErrCorrupt, name)
		}), uint64(8<<20), name)
	}
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestT34FooterLength and the counts of T35: every length and count of the
// footer made huge.
func TestT34FooterLength(t *testing.T) {
	for name, file := range map[string][]byte{
		"empty":   nil,
		"magics":  []byte(headMagic + tailMagic),
		"long":    slices.Concat(appendFileHeader(nil, 0), binary.LittleEndian.AppendUint64(nil, 1<<32-1), make([]byte, 16), []byte(tailMagic)),
		"noise":   bytes.Repeat([]byte("COLSST\r\n"), 100),
		"text":    []byte("time,value\n" + string(bytes.Repeat([]byte("1,2\n"), 100))),
		"zeroes":  make([]byte, 1000),
		"trailer": append(appendFileHeader(nil, 0), appendTrailer(nil, nil, 0)...),
	} {
		_, err := Open(bytes.NewReader(file), int64(len(file)))
		require.ErrorIs(t, err, encoding.ErrCorrupt, name)
	}
	for name, opts := range layered() {
		b, file := sample(t, opts...)
		rd := open(t, file)
		_, err := readAll(refoot(rd, file, func(*footer) {}), keysOf(b))
		require.NoError(t, err)
		for _, v := range []int64{0, 1<<31 - 1, 1<<32 - 1, 1<<63 - 1} {
			for what, change := range map[string]func(*footer){
				"rows":        func(f *footer) { f.totals.rows = v },
				"partitions":  func(f *footer) { f.totals.partitions = v },
				"groups":      func(f *footer) { f.totals.groups = v },
				"blocks":      func(f *footer) { f.totals.blocks = v },
				"segments":    func(f *footer) { f.totals.segments = v },
				"stream":      func(f *footer) { f.streamLen = v },
				"root":        func(f *footer) { f.root.off = v },
				"root length": func(f *footer) { f.root.len = v },
				"level":       func(f *footer) { f.rootLevel = int(v & (1<<31 - 1)); f.rootLevel++ },
				"filter":      func(f *footer) { f.filter = []ref{{v, 100}} },
				"statistics":  func(f *footer) { f.statistics = []ref{{v, f.statistics[0].len}} },
				"templates":   func(f *footer) { f.templates = f.templates[:len(f.templates)-1] },
			} {
				bad := refoot(rd, file, change)
				n := allocated(func() { mustDetect(t, bad, keysOf(b), fmt.Sprint(name, ": ", what, " = ", v)) })
				require.Less(t, n, uint64(4<<20), what)
			}
		}
	}
}

// TestT35Counts raises the fields of every item, checks done again.
func TestT35Counts(t *testing.T) {
	b, file := sample(t, layered()["plain"]...)
	rd := open(t, file)
	w := walker{ctx: bg, wanted: "STDIFQ", win: window{f: &rd.file}, gap: func(err error, _, _ int64) { t.Fatal(err) }}
	for {
		it, ok, err := w.next()
		require.NoError(t, err)
		if !ok {
			break
		}
		for i := range numFields(it.kind) {
			for _, v := range []uint64{it.fields[i] + 1, 1<<31 - 1, 1<<63 - 1} {
				h := it.header
				h.fields[i] = v
				item := append(h.appendTo(nil), it.body...)
				item = binary.LittleEndian.AppendUint32(item, checksum(item))
				// The header grows: shorten the body by as much, so that nothing moves.
				if extra := len(item) - int(it.at.len); extra > 0 {
					if it.body == nil || len(it.body) < extra {
						continue
					}
					h.body -= extra
					item = append(h.appendTo(nil), it.body[:h.body]...)
					item = binary.LittleEndian.AppendUint32(item, checksum(item))
				}
				if len(item) != int(it.at.len) {
					continue
				}
				bad := slices.Clone(file)
				copy(bad[fileHeaderLen+it.at.off:], item)
				mustDetect(t, bad, keysOf(b), fmt.Sprintf("%c at %d: field %d = %d", it.kind, it.at.off, i, v))
			}
		}
	}
}

// TestT36EveryPath damages a block of one partition: every read of it fails,
// and reads of others work.
func TestT36EveryPath(t *testing.T) {
	for _, name := range []string{"plain", "outer", "raw chunks"} {
		s := testSchemas(t)["series"]
		r := rand.New(rand.NewPCG(13, 14))
		b := history(t, s, r, historyOptions{2, 400, false})
		opts := layered()[name]
		if name == "raw chunks" { // of values that do not compress
			opts = append(layered()["outer"], WithEncoding("s", encoding.LengthBytes))
			str := b.Bytes(s.Lookup("s"))
			n := str.Len()
			str.Reset()
			for range n {
				noise := make([]byte, 1000)
				for i := range noise {
					noise[i] = byte(r.Uint32())
				}
				require.NoError(t, str.Append(noise))
			}
		}
		file := write(t, b, 1<<30, opts...)
		rd := open(t, file, WithName("a.csst"))
		p, err := rd.Partition(bg, b.Key(0))
		require.NoError(t, err)
		require.NotNil(t, p.(*partition).leaf)
		cur := cursor{r: rd, win: &window{f: &rd.file, ctx: bg}, index: indexTime}
		ok, err := cur.seek(p.(*partition).timeRoot(), firstEntry)
		require.NoError(t, err)
		require.True(t, ok)
		var at int64
		for k := 0; ; k++ { // away from what stands before
			page, i := cur.leaf()
			at = rd.file.physical(page.refs[i].off)
			if k > 4 && (name != "raw chunks" || binary.LittleEndian.Uint32(file[at:])&zstdFlag == 0) {
				break
			}
			ok, err := cur.step(1)
			require.NoError(t, err)
			require.True(t, ok)
		}
		bad := slices.Clone(file)
		bad[at+30] ^= 4
		rd = open(t, bad, WithName("a.csst"))
		damaged := func(err error) {
			t.Helper()
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			var c *encoding.CorruptError
			require.ErrorAs(t, err, &c)
			require.Equal(t, "a.csst", c.File)
			require.Equal(t, at, c.Offset)
		}
		p, err = rd.Partition(bg, b.Key(0))
		require.NoError(t, err)
		for _, desc := range []bool{false, true} {
			for _, live := range []bool{false, true} {
				o := rowgroup.ScanOptions{Desc: desc, Live: live}
				_, err = drain(rd.Scan(bg, o), s)
				damaged(err)
				_, err = drain(p.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, o), s)
				damaged(err)
				_, err = drain(p.Latest(bg, 1<<20, o), s)
				damaged(err)
			}
		}
		damaged(rd.Verify(bg, VerifyBlocks, nil))
		p, err = rd.Partition(bg, b.Key(1))
		require.NoError(t, err)
		got, err := drain(p.Range(bg, rowgroup.Bound{}, rowgroup.Bound{}, rowgroup.ScanOptions{}), s)
		require.NoError(t, err, name)
		require.NotEmpty(t, got)
	}
}

func TestT37RawChunks(t *testing.T) {
	enc, err := newStreamWriter(nil, 1)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(15, 16))
	raws, packed := 0, 0
	for n := 1; n <= 1024; n += 7 {
		for zeros := 0; zeros <= min(n, 40); zeros++ {
			raw := make([]byte, n)
			for i := zeros; i < n; i++ {
				raw[i] = byte(r.Uint32())
			}
			if zeros == 0 && n > 4 {
				copy(raw, []byte{0x28, 0xb5, 0x2f, 0xfd})
			}
			c := appendChunk(nil, raw, enc.enc)
			require.LessOrEqual(t, len(c), n+chunkFrame)
			if binary.LittleEndian.Uint32(c)&zstdFlag == 0 {
				raws++
			} else {
				packed++
				require.Less(t, len(c), n+chunkFrame)
			}
			got := make([]byte, n)
			require.NoError(t, decodeChunk(got, c))
			require.Equal(t, raw, got)
			require.ErrorIs(t, decodeChunk(make([]byte, n+1), c), encoding.ErrCorrupt)
			require.ErrorIs(t, decodeChunk(make([]byte, n-1), c), encoding.ErrCorrupt)
		}
	}
	require.NotZero(t, raws)
	require.NotZero(t, packed)
}

// TestT37FileChunks: a file whose writer kept raw what is not smaller, and the
// same with a frame that is smaller by one byte, and as large.
func TestT37FileChunks(t *testing.T) {
	s := table(t, nil, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}}, []rowgroup.Column{{Name: "v", Type: rowgroup.Blob}})
	r := rand.New(rand.NewPCG(37, 37))
	b := rowgroup.NewBatch(s)
	for i := range 60 {
		v := make([]byte, 1<<10)
		for k := range v {
			v[k] = 1 + byte(r.IntN(255))
		}
		clear(v[500 : 500+i])
		*b.Int64s(0) = append(*b.Int64s(0), int64(i))
		require.NoError(t, b.Bytes(1).Append(v))
	}
	file := write(t, b, 100, WithCompression(1))
	rd := open(t, file)
	const size = 1 << 10
	raw, tried := 0, 0
	for i, n := range rd.foot.stored {
		at := rd.file.chunkAt[i]
		packed := binary.LittleEndian.Uint32(file[at:])&zstdFlag != 0
		require.Equal(t, packed, n < int64(rd.chunkBytes(i)))
		if !packed && n == size {
			raw++
		}
		w := window{f: &rd.file}
		content, err := w.bytes(int64(i)*size, int64(rd.chunkBytes(i)), 0)
		require.NoError(t, err)
		run := bytes.Index(content, make([]byte, 18))
		if run < 0 || len(content) != size {
			continue
		}
		tried++
		for k, want := range []error{nil, encoding.ErrCorrupt} { // a run of 18, of 17: 1023 bytes, 1024
			frame := frameWithRun(content, run, 18-k)
			require.Len(t, frame, size-1+k)
			bad := storeChunk(t, file, i, zstdFlag, frame)
			r2 := open(t, bad)
			got, err := drain(r2.Scan(bg, rowgroup.ScanOptions{}), s)
			require.ErrorIs(t, err, want)
			require.ErrorIs(t, r2.Verify(bg, VerifyValues, nil), want)
			if want == nil {
				same(t, dump(b), got)
			}
		}
	}
	require.Positive(t, raw)
	require.Positive(t, tried)
}

// frameWithRun is a Zstd frame of content, raw but for a run of n equal bytes.
func frameWithRun(content []byte, at, n int) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x60}
	b = binary.LittleEndian.AppendUint16(b, uint16(len(content)-256))
	block := func(kind, n, last int, body []byte) {
		h := n<<3 | kind<<1 | last
		b = append(append(b, byte(h), byte(h>>8), byte(h>>16)), body...)
	}
	block(0, at, 0, content[:at])
	block(1, n, 0, content[at:at+1])
	block(0, len(content)-at-n, 1, content[at+n:])
	return b
}

// sparse is a file with holes of zeros.
type sparse struct {
	size  int64
	parts []ref
	data  [][]byte
}

func (f *sparse) Write(p []byte) (int, error) {
	f.parts, f.data = append(f.parts, ref{f.size, int64(len(p))}), append(f.data, slices.Clone(p))
	f.size += int64(len(p))
	return len(p), nil
}

func (f *sparse) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	for i, r := range f.parts {
		lo, hi := max(at, r.off), min(at+int64(len(p)), r.end())
		if lo < hi {
			copy(p[lo-at:], f.data[i][lo-r.off:hi-r.off])
		}
	}
	if at+int64(len(p)) > f.size {
		return int(max(0, f.size-at)), io.EOF
	}
	return len(p), nil
}

// TestT38SparseFile reads a file with holes of 2 GiB between its segments by
// its indexes, beyond 4 GiB too.
func TestT38SparseFile(t *testing.T) {
	s := table(t, []rowgroup.Column{{Name: "k", Type: rowgroup.Text}}, []rowgroup.Column{{Name: "time", Type: rowgroup.Bigint}},
		[]rowgroup.Column{{Name: "v", Type: rowgroup.Double}})
	var f sparse
	w, err := NewWriter(&f, s, WithRowGroupRows(10), WithBlockBytes(200))
	require.NoError(t, err)
	const parts, perPart = 3, 4000
	for p := range parts {
		for from := 0; from < perPart; from += 1000 {
			b := rowgroup.NewBatch(s)
			b.BeginPartition([]byte{byte('a' + p)})
			for i := from; i < from+1000; i++ {
				*b.Int64s(1) = append(*b.Int64s(1), int64(i))
				*b.Float64s(2) = append(*b.Float64s(2), math.Sqrt(float64(i+p)))
			}
			require.NoError(t, w.Append(b))
		}
		require.NoError(t, w.out.stream.flush())
		w.out.stream.off += 2 << 30
		f.size += 2 << 30
	}
	require.NoError(t, w.Close())
	require.Greater(t, f.size, int64(43<<30)/10)
	rd, err := Open(&f, f.size)
	require.NoError(t, err)
	require.EqualValues(t, parts*perPart, rd.Rows())
	n, err := drainCount(rd.Scan(bg, rowgroup.ScanOptions{Desc: true}), s)
	require.NoError(t, err)
	require.Equal(t, parts*perPart, n)
	for p := range parts {
		q, err := rd.Partition(bg, []byte{byte('a' + p)})
		require.NoError(t, err)
		for _, desc := range []bool{false, true} {
			for _, i := range []int64{0, 7, 1999, perPart - 1} {
				it := q.Range(bg, bound(i, true), bound(i, true), rowgroup.ScanOptions{Desc: desc})
				got := rowgroup.NewBatch(s)
				ok, err := it.Next(got)
				require.NoError(t, err)
				require.True(t, ok)
				require.Equal(t, []float64{math.Sqrt(float64(i + int64(p)))}, *got.Float64s(2))
				require.NoError(t, it.Close())
			}
		}
	}
	_, err = drainCount(rd.Scan(bg, rowgroup.ScanOptions{}), s)
	require.ErrorIs(t, err, encoding.ErrCorrupt, "a hole holds no items")
}

func TestT38Offsets(t *testing.T) {
	for _, base := range []int64{1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1 << 62} {
		refs := []ref{{base, 100}, {base + 100, 4000}, {base + 5000, 1 << 20}}
		b := appendRefs(nil, refs)
		got, rest, err := new(pageParser).refs("test", 3, base+5000+1<<20, b)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, refs, got)
		_, _, err = new(pageParser).refs("test", 3, base+5000+1<<20-1, b)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	b := binary.AppendUvarint(nil, 1<<62)
	b = deltadelta.AppendInt64(b, []int64{0, 1 << 62})
	b = deltadelta.AppendInt64(b, []int64{1 << 61, 1 << 62})
	_, _, err := new(pageParser).refs("test", 2, 1<<62+1<<61, b)
	require.ErrorIs(t, err, encoding.ErrCorrupt)
}

// TestSalvage walks files without their footer.
func TestSalvage(t *testing.T) {
	for name, opts := range layered() {
		t.Run(name, func(t *testing.T) {
			b, file := sample(t, opts...)
			rd := open(t, file)
			end := rd.file.physical(0) + rd.file.streamLen
			if rd.file.chunk > 0 {
				end = rd.file.chunkAt[len(rd.file.chunkAt)-1]
			}
			for _, cut := range [][]byte{file, file[:end], append(slices.Clone(file[:end]), 1, 2, 3)} {
				s, err := Salvage(bg, bytes.NewReader(cut), int64(len(cut)))
				require.NoError(t, err)
				got, err := drain(s, s.Schema())
				require.NoError(t, err)
				same(t, dump(b), got)
				require.Equal(t, rd.RowGroups(), s.Report().RowGroups)
				if len(cut) == int(end) {
					require.Empty(t, s.Report().Gaps)
				}
			}
			// Damage: some blocks are lost, the others are there, in order.
			for i := 200; i < int(end); i += 97 {
				bad := slices.Clone(file[:end])
				bad[i] ^= 0x10
				s, err := Salvage(bg, bytes.NewReader(bad), int64(len(bad)))
				if err != nil {
					require.ErrorIs(t, err, encoding.ErrCorrupt)
					continue
				}
				got, err := drain(s, s.Schema())
				require.NoError(t, err)
				require.NotEmpty(t, s.Report().Gaps)
				want := rows(dump(b))
				at := 0
				for _, line := range rows(got) {
					for at < len(want) && want[at] != line {
						at++
					}
					require.Less(t, at, len(want), "byte %d: %s", i, line)
					at++
				}
			}
		})
	}
}

func TestUnsupported(t *testing.T) {
	b, file := sample(t, layered()["plain"]...)
	_ = b
	rd := open(t, file)
	section := func(tag byte) func(f *footer) []byte {
		return func(f *footer) []byte { return append(f.appendTo(nil, 0), tag, 3, 1, 2, 3) }
	}
	rebuild := func(foot func(*footer) []byte, features uint32) []byte {
		stream := file[:fileHeaderLen+rd.foot.streamLen]
		b := foot(rd.foot)
		return append(slices.Clone(stream), appendTrailer(b, b, features)...)
	}
	_, err := Open(bytes.NewReader(rebuild(section(100), 0)), int64(len(rebuild(section(100), 0))))
	require.NoError(t, err, "an optional section is ignored")
	d := open(t, rebuild(section(100), 0))
	desc, err := d.Describe(bg)
	require.NoError(t, err)
	require.Equal(t, desc.Bytes, sum(&desc.Layers))
	bad := rebuild(section(100|required), 0)
	_, err = Open(bytes.NewReader(bad), int64(len(bad)))
	require.ErrorIs(t, err, encoding.ErrUnsupported)
	require.ErrorContains(t, err, "section 100")
	bad = rebuild(func(f *footer) []byte { return f.appendTo(nil, 0) }, 1<<7)
	_, err = Open(bytes.NewReader(bad), int64(len(bad)))
	require.ErrorIs(t, err, encoding.ErrUnsupported)
	require.ErrorContains(t, err, "bit 7")
	bad = rebuild(section(secOptions), 0)
	_, err = Open(bytes.NewReader(bad), int64(len(bad)))
	require.ErrorIs(t, err, encoding.ErrCorrupt, "a section twice")
	for _, at := range []int{8, len(file) - trailerLen + 12} { // the version, its checksum redone
		bad := slices.Clone(file)
		bad[at] = Version + 1
		from, n := 0, 12
		if at > 8 {
			from, n = len(file)-trailerLen, 20
		}
		binary.LittleEndian.PutUint32(bad[from+n:], checksum(bad[from:from+n]))
		_, err = Open(bytes.NewReader(bad), int64(len(bad)))
		require.ErrorIs(t, err, encoding.ErrUnsupported)
		require.ErrorContains(t, err, "version 2")
	}
}

// FuzzFile changes the header or body of one item, the footer or a whole file,
// does the checksums again where there are any, and reads: no panic, no endless
// loop, and one answer.
func FuzzFile(f *testing.F) {
	var files [][]byte
	var readers []*Reader
	var keys [][][]byte
	for _, name := range []string{"plain", "zstd", "outer"} {
		b, file := sample(f, layered()[name]...)
		files, readers, keys = append(files, file), append(readers, open(f, file)), append(keys, keysOf(b))
	}
	b := steadyTable(f, rand.New(rand.NewPCG(3, 31)), rowgroup.Column{Name: "time", Type: rowgroup.Timestamp(rowgroup.Seconds)}, false)
	file := write(f, b, 700, WithRowGroupRows(32), WithBlockBytes(1000))
	files, readers, keys = append(files, file), append(readers, open(f, file)), append(keys, keysOf(b))
	require.NotZero(f, inOnePass(f, readers[3]))
	for i := range 40 {
		f.Add(uint8(i%8), uint16(i), uint16(i*7), []byte{byte(1 << (i % 8)), byte(i)})
	}
	f.Fuzz(func(t *testing.T, which uint8, item, at uint16, mask []byte) {
		i := int(which) % len(files)
		rd, file := readers[i], slices.Clone(files[i])
		change := func(b []byte) {
			for k, m := range mask {
				if p := int(at) + k; len(b) > 0 {
					b[p%len(b)] ^= m
				}
			}
		}
		switch {
		case which >= 200:
			change(file)
		case item == 0:
			foot := rd.foot.appendTo(nil, rd.file.chunk)
			change(foot)
			file = append(file[:len(file)-trailerLen-len(foot)], appendTrailer(foot, foot, btoFeatures(rd))...)
		default:
			file = changeItem(rd, file, int(item-1), which/4%2 == 0, func(h *header, body []byte) {
				if body != nil {
					change(body)
					return
				}
				fields := h.fields[:numFields(h.kind)]
				for k, m := range mask {
					if n := len(fields); n > 0 {
						fields[(int(at)+k/8)%n] ^= uint64(m) << (k % 8 * 8)
					}
				}
			})
		}
		all, err := readAll(file, keys[i])
		if err != nil && !errors.Is(err, encoding.ErrCorrupt) && !errors.Is(err, encoding.ErrUnsupported) && !errors.Is(err, rowgroup.ErrNotFound) {
			t.Fatal(err)
		}
		if i == 3 { // blocks decoded in one pass say what they say group by group
			byGroup, err2 := readInSteps(file, keys[i], 1<<20)
			if err == nil || err2 == nil {
				require.NoError(t, err)
				require.NoError(t, err2)
				same(t, rows(byGroup), rows(all))
			}
		}
		if s, err := Salvage(bg, bytes.NewReader(file), int64(len(file))); err == nil {
			if _, err := drain(s, s.Schema()); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// changeItem changes an item of a file, counted round, and does its check and
// checksum, the chunks and the footer again: its body, or its header.
func changeItem(rd *Reader, file []byte, number int, body bool, change func(h *header, body []byte)) []byte {
	f := &rd.file
	w := walker{ctx: bg, wanted: "STDIFQ", win: window{f: f}, gap: func(error, int64, int64) {}}
	var items []walked
	for {
		it, ok, err := w.next()
		if err != nil || !ok {
			break
		}
		it.body = slices.Clone(it.body)
		items = append(items, it)
	}
	it := items[number%len(items)]
	if body {
		change(&it.header, it.body)
	} else {
		change(&it.header, nil)
	}
	changed := append(it.header.appendTo(nil), it.body...)
	if f.crc() > 0 {
		changed = binary.LittleEndian.AppendUint32(changed, checksum(changed))
	}
	win := window{f: f}
	stream, err := win.bytes(0, f.streamLen, 0)
	if err != nil {
		panic(err)
	}
	stream = slices.Concat(stream[:it.at.off], changed, stream[it.at.end():])
	var out bytes.Buffer
	sw, err := newStreamWriter(&out, f.chunk>>10)
	if err != nil {
		panic(err)
	}
	out.Write(file[:fileHeaderLen])
	if _, err := sw.Write(stream); err != nil {
		panic(err)
	}
	if err := sw.flush(); err != nil {
		panic(err)
	}
	foot := *rd.foot
	foot.streamLen, foot.stored = sw.off, sw.stored
	b := foot.appendTo(nil, f.chunk)
	return appendTrailer(append(out.Bytes(), b...), b, btoFeatures(rd))
}

func btoFeatures(r *Reader) uint32 {
	if r.file.chunk > 0 {
		return featureChunks
	}
	return 0
}

// TestSalvageLostHead loses the first block of a partition: its key and
// deletion come from the index.
func TestSalvageLostHead(t *testing.T) {
	s := testSchemas(t)["series"]
	b := rowgroup.NewBatch(s)
	r := rand.New(rand.NewPCG(29, 30))
	for _, k := range []string{"a", "b", "c"} {
		b.BeginPartition([]byte(k)).Deletion = rowgroup.Deletion{MarkedForDeleteAt: 5, LocalDeletionTime: 6}
		fillPartition(s, b, r, 200, true)
	}
	file := write(t, b, 1000, WithRowGroupRows(10), WithBlockBytes(300))
	rd := open(t, file)
	p, err := rd.Partition(bg, []byte("b"))
	require.NoError(t, err)
	first := p.(*partition).first
	bad := slices.Clone(file[:fileHeaderLen+rd.file.streamLen])
	bad[fileHeaderLen+first.off+20] ^= 1
	sv, err := Salvage(bg, bytes.NewReader(bad), int64(len(bad)))
	require.NoError(t, err)
	got, err := drain(sv, s)
	require.NoError(t, err)
	require.Len(t, sv.Report().Gaps, 1)
	var heads []string
	for _, line := range got {
		if line[0] == 'P' {
			heads = append(heads, line)
		}
	}
	same(t, []string{headLine(b, 0), headLine(b, 1), headLine(b, 2)}, heads)
	lost := 600 - len(rows(got))
	require.Positive(t, lost)
	require.Less(t, lost, 100)
}
