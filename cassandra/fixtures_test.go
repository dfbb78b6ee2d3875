package cassandra

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const fixtureDir = "../../shared/testdata/sstables"

// fixture is one real SSTable as the manifest describes it.
type fixture struct {
	Path       string
	Components []string
	TOCMissing []string `json:"toc_missing"`
	StatsOrder []int    `json:"stats_component_order"`
	Error      string
	Counts     struct{ Partitions, Rows, Markers, Statics int }
	Warnings   []string
	Frozen     bool `json:"udt_frozen_fallback"`
	Unsorted   bool `json:"header_columns_unsorted"`
	Decoded    string
	IndexOK    bool `json:"index_ok"`
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

// compare is a writer that compares what it gets with a reader.
type compare struct {
	want io.Reader
	buf  []byte
	at   int64
	bad  string
}

func (c *compare) Write(p []byte) (int, error) {
	c.buf = append(c.buf[:0], make([]byte, len(p))...)
	n, _ := io.ReadFull(c.want, c.buf)
	if c.bad == "" && !bytes.Equal(c.buf[:n], p) {
		i := 0
		for i < n && c.buf[i] == p[i] {
			i++
		}
		c.bad = "differs"
		c.at += int64(i)
	}
	if c.bad == "" {
		c.at += int64(len(p))
	}
	return len(p), nil
}

func TestFixtures(t *testing.T) {
	clean := 0
	for _, f := range fixtures(t) {
		t.Run(f.Path, func(t *testing.T) {
			s, err := Open(f.file())
			if f.Error != "" {
				t.Log(err)
				require.ErrorIs(t, err, os.ErrNotExist)
				return
			}
			require.NoError(t, err)
			defer s.Close()
			r, err := s.Scan()
			require.NoError(t, err)
			defer r.Close()
			body, err := s.Data.Stream(0, false)
			require.NoError(t, err)
			cmp := &compare{want: body}
			w := NewBodyWriter(cmp, s.Version, s.Header)
			got := f.Counts
			got.Partitions, got.Rows, got.Markers, got.Statics = 0, 0, 0, 0
			for {
				at := w.Position()
				e, err := r.Next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Log(err)
					if len(f.Warnings) == 0 {
						t.Error("bad")
					}
					return
				}
				switch e {
				case PartitionBegin:
					got.Partitions++
				case StaticRow:
					if len(r.Row().Cells)+len(r.Row().Complex) > 0 {
						got.Statics++
					}
				case ClusteringRow:
					got.Rows++
				case RangeMarker:
					got.Markers++
				}
				require.NoError(t, w.Write(e, r.BodyReader))
				require.NoError(t, w.Flush())
				if cmp.bad != "" {
					t.Errorf("event %d at %d, written from %d: differs at %d: %+v %+v", e, r.Position(), at, cmp.at, r.Row(), r.Marker())
					break
				}
			}
			require.Equal(t, f.Counts, got)
			require.Equal(t, f.Frozen, s.UserTypes == UserTypesFoundFrozen)
			if len(s.Warnings) > 0 {
				t.Log(s.Warnings)
			}
			clean++
		})
	}
	t.Log(clean)
}
