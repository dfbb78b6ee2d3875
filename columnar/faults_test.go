package columnar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
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
func readAll(file []byte, keys [][]byte) ([]string, error) {
	rd, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	defer rd.Close()
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
	body := change(slices.Clone(file[from+chunkHeader : to-crcBytes]))
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
		"zeros":    zeros[:min(len(zeros), 1000)],
		"declared": {0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0},
		"window":   {0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 1, 0, 0},
	} {
		bad := replaceChunk(t, file, 1, func([]byte) []byte { return frame })
		require.Less(t, allocated(func() { mustDetect(t, bad, nil, name) }), uint64(4<<20), name)
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
	for _, name := range []string{"plain", "outer"} {
		s := testSchemas(t)["series"]
		b := history(t, s, rand.New(rand.NewPCG(13, 14)), historyOptions{2, 400, false})
		file := write(t, b, 1<<30, layered()[name]...)
		rd := open(t, file, WithName("a.csst"))
		p, err := rd.Partition(bg, b.Key(0))
		require.NoError(t, err)
		own := p.(*partition).own
		require.NotNil(t, own)
		cur := cursor{r: rd, index: indexTime}
		ok, err := cur.seek(own.time, own.level, lastEntry)
		require.NoError(t, err)
		require.True(t, ok)
		page, i := cur.leaf()
		at := rd.file.physical(page.refs[i].off)
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
		if name == "plain" {
			require.NoError(t, err)
			require.NotEmpty(t, got)
		}
	}
}

func TestT37RawChunks(t *testing.T) {
	enc, err := newStreamWriter(nil, 1)
	require.NoError(t, err)
	dec, err := newChunkDecoder(1 << 10)
	require.NoError(t, err)
	defer dec.Close()
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
			require.NoError(t, decodeChunk(got, c, dec))
			require.Equal(t, raw, got)
			require.ErrorIs(t, decodeChunk(make([]byte, n+1), c, dec), encoding.ErrCorrupt)
			require.ErrorIs(t, decodeChunk(make([]byte, n-1), c, dec), encoding.ErrCorrupt)
		}
	}
	require.NotZero(t, raws)
	require.NotZero(t, packed)
}

func TestT38Offsets(t *testing.T) {
	for _, base := range []int64{1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1 << 40, 1 << 62} {
		refs := []ref{{base, 100}, {base + 100, 4000}, {base + 5000, 1 << 20}}
		b := appendRefs(nil, refs)
		got, rest, err := parseRefs("test", 3, base+5000+1<<20, b)
		require.NoError(t, err)
		require.Empty(t, rest)
		require.Equal(t, refs, got)
		_, _, err = parseRefs("test", 3, base+5000+1<<20-1, b)
		require.ErrorIs(t, err, encoding.ErrCorrupt)
	}
	b := binary.AppendUvarint(nil, 1<<62)
	b = deltadelta.AppendInt64(b, []int64{0, 1 << 62})
	b = deltadelta.AppendInt64(b, []int64{1 << 61, 1 << 62})
	_, _, err := parseRefs("test", 2, 1<<62+1<<61, b)
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

// FuzzFile changes the body of one item, the footer or a whole file, does the
// checksums again where there are any, and reads: no panic, no endless loop.
func FuzzFile(f *testing.F) {
	var files [][]byte
	var readers []*Reader
	var keys [][][]byte
	for _, name := range []string{"plain", "zstd", "outer"} {
		b, file := sample(f, layered()[name]...)
		files, readers, keys = append(files, file), append(readers, open(f, file)), append(keys, keysOf(b))
	}
	for i := range 20 {
		f.Add(uint8(i%3), uint16(i), uint16(i*7), []byte{byte(1 << (i % 8)), byte(i)})
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
		case item == 0 || rd.file.chunk > 0:
			foot := rd.foot.appendTo(nil, rd.file.chunk)
			change(foot)
			file = append(file[:len(file)-trailerLen-len(foot)], appendTrailer(foot, foot, btoFeatures(rd))...)
		default:
			w := walker{ctx: bg, wanted: "STDIFQ", win: window{f: &rd.file}, gap: func(error, int64, int64) {}}
			for range item % 200 {
				it, ok, err := w.next()
				if err != nil || !ok {
					return
				}
				if int(item%200) == 1 || it.kind == kindSchema {
					continue
				}
				body := slices.Clone(it.body)
				change(body)
				b := append(it.header.appendTo(nil), body...)
				b = binary.LittleEndian.AppendUint32(b, checksum(b))
				copy(file[fileHeaderLen+it.at.off:], b)
			}
		}
		_, err := readAll(file, keys[i])
		_ = err
		if s, err := Salvage(bg, bytes.NewReader(file), int64(len(file))); err == nil {
			if _, err := drain(s, s.Schema()); err != nil {
				t.Fatal(err)
			}
		}
	})
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
