package imports

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/colsst/colsst/internal/generate"
	"github.com/colsst/colsst/rowgroup"
)

// text is a CSV file with a header.
type text struct {
	name     string
	kind     kind
	path     string
	rows     int64
	shuffled bool // not in the order of a table: to be sorted
}

const (
	metricsHeader = "series,time,value,write_time,ttl,expiry\n"
	accessHeader  = "ts,client,method,path,proto,status,bytes,referer,agent\n"
)

// texts writes the files.
func (o *Options) texts(dir string) (all []text, err error) {
	points, lines, realBytes := generate.WeekPoints, 500_000, 64<<20
	if o.Quick {
		points, lines, realBytes = 5000, 50_000, 8<<20
	}
	add := func(name string, k kind, shuffled bool, header string, make func(w *bufio.Writer) (int64, error)) {
		t := text{name: name, kind: k, shuffled: shuffled, path: filepath.Join(dir, fmt.Sprintf("%d.csv", len(all)))}
		if err == nil {
			t.rows, err = writeText(t.path, header, make)
			all = append(all, t)
		}
	}
	m := generate.Metrics5{Series: 20, Points: points, Seed: generate.Seed}
	add("metrics5, full", metrics, false, metricsHeader, func(w *bufio.Writer) (int64, error) { return writeMetrics(w, m) })
	m.Variant = generate.TwoDecimals
	add("metrics5, 2dec", metrics, false, metricsHeader, func(w *bufio.Writer) (int64, error) { return writeMetrics(w, m) })
	add("metrics5, 2dec, by time", metrics, true, metricsHeader, func(w *bufio.Writer) (int64, error) { return writeByTime(w, m) })
	add("access log, synthetic", accessLog, false, accessHeader, func(w *bufio.Writer) (int64, error) { return writeAccess(w, lines) })
	for _, name := range []string{"logs/apache_access.csv.gz", "unclear/logs/webscan_access.csv.gz"} {
		body, e := readGzip(filepath.Join(o.Real, filepath.FromSlash(name)))
		if o.Real == "" || errors.Is(e, os.ErrNotExist) {
			continue
		}
		if e != nil {
			return nil, e
		}
		_, body, _ = bytes.Cut(body, []byte("\n")) // the header
		add("real "+name+", repeated", accessLog, false, accessHeader, func(w *bufio.Writer) (rows int64, err error) {
			for n := 0; n < realBytes && err == nil; n += len(body) {
				rows += int64(bytes.Count(body, []byte("\n")))
				_, err = w.Write(body)
			}
			return rows, err
		})
	}
	return all, err
}

func writeText(path, header string, make func(w *bufio.Writer) (int64, error)) (rows int64, err error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = w.WriteString(header)
	if err == nil {
		rows, err = make(w)
	}
	return rows, errors.Join(err, w.Flush(), f.Close())
}

func readGzip(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// metricsRow is a row of metrics5.
type metricsRow struct {
	time, ttl     int32
	value         float32
	wrote, expiry int64
}

func eachRow(m generate.Metrics5, f func(key []byte, r metricsRow) error) error {
	in, b := m.Rows(), rowgroup.NewBatch(m.Schema())
	for {
		ok, err := in.Next(b)
		if !ok || err != nil {
			return err
		}
		times, values, meta := *b.Int32s(1), *b.Float32s(2), b.Meta()
		for p := range b.NumPartitions() {
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ {
				if err := f(b.Key(p), metricsRow{times[i], meta.TTLs[i], values[i], meta.WriteTimes[i], meta.Expiries[i]}); err != nil {
					return err
				}
			}
		}
	}
}

func appendMetrics(dst, key []byte, r metricsRow) []byte {
	dst = append(append(dst, key...), ',')
	dst = append(strconv.AppendInt(dst, int64(r.time), 10), ',')
	dst = append(strconv.AppendFloat(dst, float64(r.value), 'g', -1, 32), ',')
	dst = append(strconv.AppendInt(dst, r.wrote, 10), ',')
	dst = append(strconv.AppendInt(dst, int64(r.ttl), 10), ',')
	return append(strconv.AppendInt(dst, r.expiry, 10), '\n')
}

func writeMetrics(w *bufio.Writer, m generate.Metrics5) (rows int64, err error) {
	err = eachRow(m, func(key []byte, r metricsRow) error {
		rows++
		_, err := w.Write(appendMetrics(w.AvailableBuffer(), key, r))
		return err
	})
	return rows, err
}

// writeByTime writes the rows of all series time by time, as they would come.
func writeByTime(w *bufio.Writer, m generate.Metrics5) (rows int64, err error) {
	var keys [][]byte
	var series [][]metricsRow
	if err := eachRow(m, func(key []byte, r metricsRow) error {
		if n := len(keys); n == 0 || !bytes.Equal(keys[n-1], key) {
			keys, series = append(keys, bytes.Clone(key)), append(series, make([]metricsRow, 0, m.Points))
		}
		last := &series[len(series)-1]
		*last = append(*last, r)
		return nil
	}); err != nil {
		return 0, err
	}
	for i := range m.Points {
		for s, key := range keys {
			rows++
			if _, err := w.Write(appendMetrics(w.AvailableBuffer(), key, series[s][i])); err != nil {
				return rows, err
			}
		}
	}
	return rows, nil
}

// writeAccess writes lines of an access log: skewed clients and paths, some
// referers and agents, sizes of all kinds, one in twenty without a size.
func writeAccess(w *bufio.Writer, n int) (int64, error) {
	r := rand.New(rand.NewPCG(generate.Seed, 77))
	clients := rand.NewZipf(r, 1.2, 1, 20_000)
	paths := rand.NewZipf(r, 1.1, 4, 5_000)
	agents := rand.NewZipf(r, 1.3, 1, 300)
	methods, statuses := []string{"GET", "GET", "GET", "GET", "POST", "HEAD"}, []int{200, 200, 200, 200, 304, 404, 301, 500}
	t := 1_780_000_000
	for range n {
		t += r.IntN(3)
		c, p, a := clients.Uint64(), paths.Uint64(), agents.Uint64()
		size := strconv.FormatUint(200+p*37%90_000, 10)
		if r.IntN(20) == 0 {
			size = ""
		}
		referer := ""
		if r.IntN(3) > 0 {
			referer = fmt.Sprintf("https://www.example.org/section%d/page%d.html", p%40, p%700)
		}
		if _, err := fmt.Fprintf(w, "%d,10.%d.%d.%d,%s,/section%d/item%d.html?from=%d,HTTP/1.1,%d,%s,%s,\"Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101, like Browser/%d.0\"\n",
			t, c>>8&255, c&255, c%250, methods[r.IntN(len(methods))], p%40, p, r.IntN(100), statuses[r.IntN(len(statuses))], size, referer, 50+a, a); err != nil {
			return 0, err
		}
	}
	return int64(n), nil
}
