package cassandra

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/internal/invariants"
	"github.com/colsst/colsst/rowgroup"
)

// endless repeats a body.
type endless struct {
	body []byte
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.body[e.at:])
	e.at = (e.at + n) % len(e.body)
	return n, nil
}

// Nothing is allocated for a row, a cell, a marker or a partition.
func TestBodyAllocatesNothing(t *testing.T) {
	if invariants.Enabled {
		t.Skip("the checks of race and invariants builds allocate")
	}
	h, body := metricsBody(t, "nb", 3000)
	wide := goldenTable(t, "oa")
	for _, test := range []struct {
		v    Version
		h    *Header
		body []byte
	}{{"nb", h, body}, {"oa", wide.header, wide.body(t)}} {
		r := NewBodyReader(&endless{body: test.body}, test.v, test.h)
		w := NewBodyWriter(io.Discard, test.v, test.h)
		step := func() {
			for range 1000 {
				e, err := r.Next()
				if err == nil {
					err = w.Write(e, r)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
		}
		for range 50 {
			step()
		}
		require.Zero(t, testing.AllocsPerRun(20, step), test.v)
		require.LessOrEqual(t, len(r.buf), bodyBuffer, "a buffer of no more than it takes")
	}
}

// Look-ups and scans may go on side by side.
func TestConcurrentUse(t *testing.T) {
	x := &table{version: "da", header: makeHeader(t, "BytesType", nil, nil, []string{"v BytesType"})}
	for i := range 50 {
		y := oneTable("da", x.header, Row{Liveness: rowgroup.LivenessLive, Cells: []Cell{{Kind: rowgroup.CellLive, Value: bytes.Repeat([]byte{byte(i)}, 100)}}})
		y.events[0].Partition.Key = fmt.Appendf(nil, "%03d", i)
		x.events = append(x.events, y.events...)
	}
	s, err := Open(write(t, t.TempDir(), "da", makeSSTable(t, x, making{compressor: "LZ4Compressor", chunkLength: 256})))
	require.NoError(t, err)
	var wg sync.WaitGroup
	errs := make(chan error, 100)
	for i := range 8 {
		wg.Go(func() {
			for k := range 50 {
				e, err := s.Find(fmt.Appendf(nil, "%03d", (k+i)%50))
				if err != nil || e.Position != x.events[3*((k+i)%50)].Partition.Position {
					errs <- fmt.Errorf("%v: %w", e, err)
					return
				}
			}
			r, err := s.Scan()
			if err == nil {
				_, err = collect(r.BodyReader)
				_ = r.Close()
			}
			if err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	require.NoError(t, s.Close())
}

// A scan that is given up leaves nothing behind; leaks fail in TestMain.
func TestScanGivenUp(t *testing.T) {
	x := oneTable("nb", makeHeader(t, "BytesType", nil, nil, []string{"v BytesType"}),
		Row{Liveness: rowgroup.LivenessLive, Cells: []Cell{{Kind: rowgroup.CellLive, Value: make([]byte, 3<<20)}}})
	s, err := Open(write(t, t.TempDir(), "nb", makeSSTable(t, x, making{compressor: "LZ4Compressor", chunkLength: 1 << 14})))
	require.NoError(t, err)
	for range 20 {
		r, err := s.Scan()
		require.NoError(t, err)
		_, err = r.Next()
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.NoError(t, r.Close())
		_, err = r.stream.Read(make([]byte, 1))
		require.ErrorIs(t, err, io.ErrClosedPipe)
	}
	require.NoError(t, s.Close())
}
