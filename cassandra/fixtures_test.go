package cassandra

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

const fixtureDir = "../../shared/testdata/sstables"

// fixture is one real SSTable as the manifest describes it.
type fixture struct {
	Path        string
	Components  []string
	TOCMissing  []string `json:"toc_missing"`
	StatsOrder  []int    `json:"stats_component_order"`
	Error       string
	Counts      struct{ Partitions, Rows, Markers, Statics int }
	Warnings    []string
	Frozen      bool `json:"udt_frozen_fallback"`
	Unsorted    bool `json:"header_columns_unsorted"`
	Decoded     string
	Partitioner string
	Compression *struct {
		Name       string
		Opts       map[string]string
		Chunk, Max int
		Datalen    int64
		Chunks     int
	}
	Header struct {
		MinTS    json.Number `json:"min_ts"`
		MinLDT   json.Number `json:"min_ldt"`
		MinTTL   json.Number `json:"min_ttl"`
		Key      string
		CK       []string
		Statics  [][2]string
		Regulars [][2]string
	}
	Stats struct {
		MinTS   int64 `json:"min_ts"`
		MaxTS   int64 `json:"max_ts"`
		MinLDT  int64 `json:"min_ldt"`
		MaxLDT  int64 `json:"max_ldt"`
		MinTTL  int32 `json:"min_ttl"`
		MaxTTL  int32 `json:"max_ttl"`
		Rows    int64
		Columns int64 `json:"columns_set"`
	}
}

// fixtures lists the real SSTables, or skips the test where they are not.
func fixtures(t testing.TB) []fixture {
	text, err := os.ReadFile(filepath.Join(fixtureDir, "MANIFEST.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no real SSTables beside the repository")
	}
	require.NoError(t, err)
	var list []fixture
	require.NoError(t, json.Unmarshal(text, &list))
	return list
}

func (f *fixture) file() string { return filepath.Join(fixtureDir, f.Path) }

// What is not like the others, by path.
const (
	noCompressionInfo = "apache-cassandra-analytics-na/table1_missing_compressioninfo/"
	noSummary         = "scylladb-mc/read_missing_summary/"
	badLZ4Chunk       = "scylladb-me/lz4_invalid_checksums/"
	badPlainChunk     = "scylladb-me/uncompressed_invalid_checksums/"
)

// notEqual lists the SSTables whose body is not what a BodyWriter makes of
// their events, and why. There is none.
var notEqual = map[string]string{}

// Every real SSTable is read and verified with its digest, checksums, order
// and indexes; has as many partitions, rows and markers as is known; and its
// body, written anew from the events, is the one that was read.
func TestFixtures(t *testing.T) {
	outcomes := map[string]int{}
	for _, f := range fixtures(t) {
		outcomes[checkFixture(t, &f)]++
	}
	require.Equal(t, map[string]int{
		"clean":              143,
		"warning":            1, // Summary.db is missing; its data is sound, so that 144 decode
		"digest mismatch":    2,
		"checksum":           2,
		"no CompressionInfo": 2,
	}, outcomes)
}

func checkFixture(t *testing.T, f *fixture) (outcome string) {
	t.Run(f.Path, func(t *testing.T) {
		s, err := Open(f.file())
		if strings.HasPrefix(f.Path, noCompressionInfo) {
			require.ErrorIs(t, err, fs.ErrNotExist)
			require.ErrorContains(t, err, "CompressionInfo.db")
			outcome = "no CompressionInfo"
			return
		}
		require.NoError(t, err)
		defer func() { require.NoError(t, s.Close()) }()
		require.Equal(t, f.Frozen, s.UserTypes == UserTypesFoundFrozen)

		rep, err := s.Verify(t.Context())
		if at := map[bool]string{
			strings.HasPrefix(f.Path, badLZ4Chunk):   "Data.db: chunk 2 at 7851: checksum",
			strings.HasPrefix(f.Path, badPlainChunk): "Data.db: chunk 1 at 65536: checksum",
		}[true]; at != "" {
			require.ErrorIs(t, err, encoding.ErrCorrupt)
			require.ErrorContains(t, err, at)
			require.Regexp(t, " found, (within|behind) partition [0-9a-f]+$", err.Error())
			outcome = "checksum"
			return
		}
		require.NoError(t, err)
		require.Equal(t, f.Counts.Partitions, int(rep.Partitions))
		require.Equal(t, f.Counts.Rows, int(rep.Rows))
		require.Equal(t, f.Counts.Statics, int(rep.StaticRows))
		require.Equal(t, f.Counts.Markers, int(rep.Markers))
		require.Zero(t, rep.OddPrevious)
		sameBody(t, s, notEqual[f.Path])
		switch {
		case len(rep.Warnings) == 0:
			outcome = "clean"
		case strings.Contains(rep.Warnings[0], "digest"):
			require.Contains(t, f.Warnings, "digest mismatch")
			outcome = "digest mismatch"
		default:
			require.True(t, strings.HasPrefix(f.Path, noSummary), rep.Warnings)
			outcome = "warning"
		}
	})
	return outcome
}

// sameBody writes the body of s anew from its events and compares the bytes.
func sameBody(t *testing.T, s *SSTable, exception string) {
	body, err := s.Data.Stream(0, false)
	require.NoError(t, err)
	want, err := io.ReadAll(body)
	require.NoError(t, err)
	require.NoError(t, body.Close())
	r, err := s.Scan()
	require.NoError(t, err)
	defer func() { require.NoError(t, r.Close()) }()
	var got bytes.Buffer
	w := NewBodyWriter(&got, s.Version, s.Header)
	copyEvents(t, w, r.BodyReader)
	if exception == "" && !bytes.Equal(want, got.Bytes()) {
		i := 0
		for i < min(len(want), got.Len()) && want[i] == got.Bytes()[i] {
			i++
		}
		t.Errorf("the body written anew differs at %d of %d", i, len(want))
	}
}

// copyEvents writes all events of r.
func copyEvents(t require.TestingT, w *BodyWriter, r *BodyReader) {
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		require.NoError(t, w.Write(e, r))
	}
	require.NoError(t, w.Flush())
}

// The other components, written anew from what was parsed, are the bytes that
// were read: nothing in them is overlooked.
func TestFixtureComponents(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(f.Path, func(t *testing.T) {
			scylla := f.StatsOrder != nil && f.StatsOrder[0] == headerType
			st, x := sameComponents(t, f.file(), scylla, f.Unsorted)
			if f.Error == "" {
				sameManifest(t, &f, st)
			}
			if x != nil {
				require.Equal(t, f.Compression.Name, x.Compressor)
				require.Equal(t, f.Compression.Chunk, x.ChunkLength)
				require.Equal(t, f.Compression.Max, x.MaxCompressedLength)
				require.Equal(t, f.Compression.Datalen, x.DataLength)
				require.Len(t, x.Offsets, f.Compression.Chunks)
				opts := map[string]string{}
				for _, o := range x.Options {
					opts[o.Key] = o.Value
				}
				require.Equal(t, f.Compression.Opts, opts)
			}
		})
	}
}

// sameComponents writes the components beside a Data.db anew and compares the
// bytes. Those of ScyllaDB have another order in Statistics.db, some have
// columns by name alone.
func sameComponents(t *testing.T, path string, scylla, unsorted bool) (*StatisticsFile, *CompressionInfo) {
	d, _, err := ParseName(filepath.Base(path))
	require.NoError(t, err)
	v := d.Version
	read := func(c Component) []byte {
		b, err := os.ReadFile(filepath.Join(filepath.Dir(path), d.FileName(c)))
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
		}
		return b
	}
	b := read(ComponentStatistics)
	st, err := ParseStatistics(b, v)
	require.NoError(t, err)
	if !scylla {
		require.Equal(t, b, AppendStatistics(nil, v, st))
	}
	if !unsorted {
		require.Equal(t, st.RawHeader, st.Header.Append(nil))
	}
	require.Equal(t, st.RawStats, st.Stats.Append(nil, v))
	require.Equal(t, st.RawValidation, st.Validation.Append(nil))
	var info *CompressionInfo
	if b := read(ComponentCompressionInfo); b != nil {
		info, err = ParseCompressionInfo(b, v)
		require.NoError(t, err)
		require.Equal(t, b, info.Append(nil, v))
	}
	if b := read(ComponentCRC); b != nil {
		x, err := ParseChecksums(b)
		require.NoError(t, err)
		require.Equal(t, b, x.Append(nil))
	}
	if b := read(ComponentSummary); b != nil {
		x, err := ParseSummary(b)
		require.NoError(t, err)
		require.Equal(t, b, x.Append(nil))
	}
	if b := read(ComponentIndex); b != nil {
		r := NewIndexReader(bytes.NewReader(b), v, st.Header)
		var again []byte
		for err = r.Next(); err == nil; err = r.Next() {
			again = r.Entry().Append(again, v, st.Header)
		}
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, b, again)
	}
	return st, info
}

// The committed SSTables that Cassandra made (interop/cassandra, which compares
// what they hold) are sound, and every component is the same written anew.
func TestFresh(t *testing.T) {
	paths, err := filepath.Glob("testdata/fresh/*/*-Data.db")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	raw := 0
	for _, path := range paths {
		t.Run(filepath.Base(filepath.Dir(path)), func(t *testing.T) {
			s, err := Open(path)
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			rep, err := s.Verify(t.Context())
			require.NoError(t, err)
			require.Empty(t, rep.Warnings)
			require.Zero(t, rep.OddPrevious)
			require.Equal(t, s.Statistics.Stats.TotalRows, rep.Rows+rep.StaticRows)
			sameBody(t, s, "")
			_, info := sameComponents(t, path, false, false)
			if info != nil {
				for i := range info.Offsets {
					if from, to := s.Data.stored(i); to-from-4 >= int64(info.MaxCompressedLength) {
						raw++
					}
				}
			}
		})
	}
	require.Positive(t, raw)
}

// sameManifest compares Statistics.db with what the manifest says of it.
func sameManifest(t *testing.T, f *fixture, st *StatisticsFile) {
	require.Equal(t, f.Partitioner, strings.TrimPrefix(st.Validation.Partitioner, partitionerPrefix))
	h := st.Header
	require.Equal(t, f.Header.MinTS.String(), strconv.FormatInt(h.MinTimestamp, 10))
	for _, x := range []struct {
		want json.Number
		got  int64
	}{{f.Header.MinLDT, h.MinLocalDeletionTime}, {f.Header.MinTTL, h.MinTTL}} { // of which 32 bits count
		want, err := x.want.Int64()
		require.NoError(t, err)
		require.Equal(t, uint32(want), uint32(x.got))
	}
	require.Equal(t, f.Header.Key, h.Key.TypeText)
	require.Len(t, h.Clustering, len(f.Header.CK))
	for i, c := range h.Clustering {
		require.Equal(t, f.Header.CK[i], c.TypeText)
	}
	for i, want := range [][][2]string{f.Header.Statics, f.Header.Regulars} {
		var got [][2]string
		for _, c := range [][]Column{h.Static, h.Regular}[i] {
			got = append(got, [2]string{c.Name, c.TypeText})
		}
		require.ElementsMatch(t, want, got)
		if !f.Unsorted && len(got) > 0 {
			require.Equal(t, want, got)
		}
	}
	s := st.Stats
	require.Equal(t, f.Stats.MinTS, s.MinTimestamp)
	require.Equal(t, f.Stats.MaxTS, s.MaxTimestamp)
	require.Equal(t, f.Stats.MinLDT, s.MinLocalDeletionTime)
	require.Equal(t, f.Stats.MaxLDT, s.MaxLocalDeletionTime)
	require.Equal(t, f.Stats.MinTTL, s.MinTTL)
	require.Equal(t, f.Stats.MaxTTL, s.MaxTTL)
	require.Equal(t, f.Stats.Rows, s.TotalRows)
	require.Equal(t, f.Stats.Columns, s.TotalColumnsSet)
}

// Every partition is found by its key through the indexes, and no other.
func TestFixtureFind(t *testing.T) {
	for _, f := range fixtures(t) {
		if f.Error != "" || len(f.Warnings) > 0 {
			continue
		}
		t.Run(f.Path, func(t *testing.T) {
			s, err := Open(f.file())
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			r, err := s.Scan()
			require.NoError(t, err)
			defer func() { require.NoError(t, r.Close()) }()
			positions := map[string]int64{}
			for {
				e, err := r.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				if e == PartitionBegin {
					positions[string(r.Partition().Key)] = r.Partition().Position
				}
			}
			left := 25 // of many
			for key, want := range positions {
				e, err := s.Find([]byte(key))
				require.NoError(t, err)
				require.Equal(t, want, e.Position)
				for _, other := range []string{key + "\x00", key[:len(key)-1], "no" + key} {
					if _, ok := positions[other]; !ok {
						_, err = s.Find([]byte(other))
						require.ErrorIs(t, err, rowgroup.ErrNotFound, "%x", other)
					}
				}
				if left--; left == 0 {
					break
				}
			}
		})
	}
}
