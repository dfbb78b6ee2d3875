package textfmt

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// metricsText is a CSV of series with times, floats, write times, TTLs and
// expiries, and how to read it.
func metricsText(rows int) ([]byte, CSVOptions) {
	text := []byte("series,time,value,write_time,ttl,expiry\n")
	r := rand.New(rand.NewPCG(1, 2))
	per := rows / 20
	for s := range 20 {
		v := float32(50)
		for i := range per {
			at := int64(1_780_000_000 + 5*i)
			wrote := at*1_000_000 + r.Int64N(1_000_000)
			v += r.Float32() - 0.5
			text = fmt.Appendf(text, "region.host%02d.cpu.user,%d,", s, at)
			text = strconv.AppendFloat(text, float64(v), 'g', -1, 32)
			text = fmt.Appendf(text, ",%d,%d,%d\n", wrote, 2592000, wrote/1_000_000+2592000)
		}
	}
	o := CSVOptions{Header: true}
	o.PartitionKey = []string{"series"}
	o.Time = &TimeSpec{Column: "time", Unit: rowgroup.Seconds, UnitSet: true}
	o.Types = map[string]rowgroup.Type{"value": rowgroup.Float}
	o.WriteTime, o.TTL, o.Expiry = "write_time", "ttl", "expiry"
	return text, o
}

// logText is a CSV of an access log: five texts, one of them in quotes, and
// some cells that are null.
func logText(rows int) ([]byte, CSVOptions) {
	text := []byte("ts,client,method,path,proto,status,bytes,referer,agent\n")
	r := rand.New(rand.NewPCG(1, 2))
	t := 1_780_000_000
	for range rows {
		t += r.IntN(3)
		size, referer := strconv.Itoa(r.IntN(90_000)), ""
		if r.IntN(20) == 0 {
			size = ""
		}
		if r.IntN(3) > 0 {
			referer = fmt.Sprintf("https://www.example.org/section%d/page%d.html", r.IntN(40), r.IntN(700))
		}
		agent := r.IntN(300)
		text = fmt.Appendf(text, "%d,10.%d.%d.%d,%s,/section%d/item%d.html?from=%d,HTTP/1.1,%d,%s,%s,\"Mozilla/5.0 (X11; Linux x86_64; rv:%d.0) Gecko/20100101, like Browser/%d.0\"\n",
			t, r.IntN(80), r.IntN(256), r.IntN(250), [...]string{"GET", "GET", "GET", "POST"}[r.IntN(4)], r.IntN(40), r.IntN(5000), r.IntN(100),
			[...]int{200, 200, 304, 404}[r.IntN(4)], size, referer, 50+agent, agent)
	}
	return text, CSVOptions{Header: true}
}

// timesText is a CSV of times as people write them, doubles of all their digits
// and decimals of two.
func timesText(rows int) ([]byte, CSVOptions) {
	text := []byte("time,a,b,c\n")
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		text = fmt.Appendf(text, "2026-%02d-%02d %02d:%02d:%02d.%03d,%v,%.2f,%d\n", 1+i*12/rows, 1+i*300/rows%25, i/3600%24, i/60%60, i%60, r.IntN(1000), r.Float64(), 100*r.Float64(), r.IntN(1e6))
	}
	o := CSVOptions{Header: true}
	o.Time, o.AnyOrder = &TimeSpec{Column: "time"}, true
	return text, o
}

//go:noinline
func readWhole(b *testing.B, text []byte, o CSVOptions) {
	r, err := NewCSVReader(bytes.NewReader(text), "x", o)
	require.NoError(b, err)
	batch := rowgroup.NewBatch(r.Schema())
	for more := true; more; {
		more, err = r.Next(batch)
		require.NoError(b, err)
	}
}

// BenchmarkCSVReader reads CSV into batches: all of it with what comes before
// the first row, and a row.
func BenchmarkCSVReader(b *testing.B) {
	const rows = 200_000
	for _, c := range []struct {
		name string
		make func(rows int) ([]byte, CSVOptions)
	}{{"metrics", metricsText}, {"log", logText}, {"times", timesText}} {
		b.Run(c.name, func(b *testing.B) {
			text, o := c.make(rows)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				readWhole(b, text, o)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
