package codecs

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/colsst/colsst/internal/generate"
)

// column is a set of values.
type column[T number] struct {
	name   string
	values []T
}

// Names of synthetic columns that targets speak of.
const (
	regularTimes = "int64 regular ms"
	jitterTimes  = "int64 jitter 20 ms, 1 % gaps"
)

const firstTime = 1_780_000_000 // s since 1970

func int64Columns(n int) []column[int64] {
	r := rand.New(rand.NewPCG(generate.Seed, 1001))
	regular, jitter, written := make([]int64, n), make([]int64, n), make([]int64, n)
	missed := int64(0)
	for i := range n {
		t := firstTime + 5*int64(i)
		regular[i] = t * 1000
		if r.IntN(100) == 0 { // 1 % of the points follow a gap of 1 to 60 samples
			missed += int64(1 + r.IntN(60))
		}
		jitter[i] = (t+5*missed)*1000 + int64(r.IntN(41)) - 20
		written[i] = t*1_000_000 + 2000 + int64(r.IntN(8000))
	}
	return []column[int64]{{regularTimes, regular}, {jitterTimes, jitter}, {"int64 write times µs", written}}
}

func int32Columns(n int) []column[int32] {
	r := rand.New(rand.NewPCG(generate.Seed, 1002))
	up, down, gaps := make([]int32, n), make([]int32, n), make([]int32, n)
	missed := 0
	for i := range n {
		up[i], down[i] = int32(firstTime+5*i), int32(firstTime+5*(n-i))
		if r.IntN(100) == 0 {
			missed += 1 + r.IntN(60)
		}
		gaps[i] = int32(firstTime + 5*(i+missed))
	}
	return []column[int32]{{"int32 ascending s", up}, {"int32 descending s", down}, {"int32 1 % gaps s", gaps}}
}

func float64Columns(n int) []column[float64] {
	r := rand.New(rand.NewPCG(generate.Seed, 1003))
	full, rounded, gauge := make([]float64, n), make([]float64, n), make([]float64, n)
	v, g := 50.0, 20.0
	for i := range n {
		v += float64(r.NormFloat64() * 0.25)
		full[i], rounded[i] = v, math.Round(v*100)/100
		if r.IntN(5) == 0 { // a sensor of one decimal that moves now and then
			g = math.Round((g+float64(float64(r.IntN(3)-1)*0.1))*10) / 10
		}
		gauge[i] = g
	}
	return []column[float64]{{"float64 walk", full}, {"float64 walk, 2 decimals", rounded}, {"float64 gauge, 1 decimal", gauge}}
}

func float32Columns(n int) (all []column[float32]) {
	for _, c := range float64Columns(n) {
		narrow := make([]float32, n)
		for i, v := range c.values {
			narrow[i] = float32(v)
		}
		all = append(all, column[float32]{strings.Replace(c.name, "float64", "float32", 1), narrow})
	}
	return all
}

// real are columns of files: *.f64 and *.f32 of little-endian values, *.csv of
// a number a line, gzipped or not.
type realColumns struct {
	float64 []column[float64]
	float32 []column[float32]
	samples []column[float64] // the CSV files of 1,024 values: one vector each
}

const sampleValues = 1024

// readReal reads the float files below dir, at most n values of each. A dir
// that is empty or missing gives none.
func readReal(dir string, n int) (all realColumns, err error) {
	if dir == "" {
		return all, nil
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		kind := filepath.Ext(strings.TrimSuffix(path, ".gz"))
		if kind != ".f64" && kind != ".f32" && (kind != ".csv" || !strings.HasPrefix(filepath.ToSlash(name), "alp/")) {
			return nil
		}
		text, err := readFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		name = "real " + filepath.ToSlash(name)
		switch kind {
		case ".f64":
			v := make([]float64, min(n, len(text)/8))
			for i := range v {
				v[i] = math.Float64frombits(binary.LittleEndian.Uint64(text[8*i:]))
			}
			all.float64 = append(all.float64, column[float64]{name, v})
		case ".f32":
			v := make([]float32, min(n, len(text)/4))
			for i := range v {
				v[i] = math.Float32frombits(binary.LittleEndian.Uint32(text[4*i:]))
			}
			all.float32 = append(all.float32, column[float32]{name, v})
		case ".csv":
			var v []float64
			for field := range bytes.FieldsSeq(text) {
				x, err := strconv.ParseFloat(string(field), 64)
				if err != nil {
					return nil // words among the numbers
				}
				v = append(v, x)
			}
			switch {
			case len(v) == sampleValues && strings.Contains(name, "/samples/"):
				all.samples = append(all.samples, column[float64]{name, v})
			case len(v) > 4*sampleValues:
				all.float64 = append(all.float64, column[float64]{name, v[:min(n, len(v))]})
			}
		}
		return nil
	})
	if os.IsNotExist(err) {
		err = nil
	}
	return all, err
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if !strings.HasSuffix(path, ".gz") {
		return io.ReadAll(f)
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
