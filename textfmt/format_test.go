package textfmt

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFormatOf(t *testing.T) {
	for in, want := range map[string]Format{
		"a.csv": CSV, "A.CSV.GZ": CSV, "dir.json/x.tsv.zst": TSV, "x.ndjson.bz2": NDJSON, "x.jsonl.xz": NDJSON,
		"x.lp": LineProtocol, "x.line": LineProtocol, "x.prom": Prometheus, "x.om": OpenMetrics, "x": "", "x.gz": "", "x.csst": "", "": "",
	} {
		require.Equal(t, want, FormatOf(in), in)
	}
	for _, f := range Formats {
		got, err := ParseFormat(string(f))
		require.NoError(t, err)
		require.Equal(t, f, got)
	}
	_, err := ParseFormat("xml")
	require.ErrorContains(t, err, `format "xml": expected csv, `)
}

func TestSniff(t *testing.T) {
	for in, want := range map[string]Format{
		"": CSV, "\n\n": CSV, "# comment": CSV, "a,b\n1,2\n": CSV, "time value\n": CSV, "a\tb\n": TSV, "a\tb,c\n": CSV, "2014-02-14 14:30:00,1.5\n": CSV,
		"\n{\"a\":1}\n": NDJSON, byteOrderMark + "{": NDJSON,
		"cpu,host=a user=1.5 1392388200000000000\n": LineProtocol, "# x\r\nm f=\"a b\" 1\r\nm": LineProtocol,
		"up 1 1395066363000\n": Prometheus, "# TYPE up gauge\nup{a=\"b c\"} 1 1395066363000": Prometheus, "# TYPE up gauge\nup{a=\"b c\"} 1 1395066363.5": OpenMetrics,
		"# UNIT x seconds\nx 1 5\n": OpenMetrics, "up 1\n": CSV,
	} {
		require.Equal(t, want, Sniff([]byte(in)), "%q", in)
	}
}
