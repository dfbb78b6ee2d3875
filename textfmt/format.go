package textfmt

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Format is a form of text.
type Format string

// The formats.
const (
	CSV          Format = "csv"
	TSV          Format = "tsv" // CSV with tabs
	NDJSON       Format = "ndjson"
	LineProtocol Format = "line-protocol"
	Prometheus   Format = "prometheus"
	OpenMetrics  Format = "openmetrics"
)

// Formats are all formats.
var Formats = []Format{CSV, TSV, NDJSON, LineProtocol, Prometheus, OpenMetrics}

// ParseFormat reads the name of a format.
func ParseFormat(s string) (Format, error) {
	if f := Format(s); slices.Contains(Formats, f) {
		return f, nil
	}
	return "", fmt.Errorf("format %q: expected csv, tsv, ndjson, line-protocol, prometheus or openmetrics", s)
}

// FormatOf is the format that the name of a file tells, behind .gz, .zst, .bz2
// or .xz, or "".
func FormatOf(path string) Format {
	name := strings.ToLower(filepath.Base(path))
	for _, packed := range []string{".gz", ".zst", ".bz2", ".xz"} {
		name = strings.TrimSuffix(name, packed)
	}
	switch filepath.Ext(name) {
	case ".csv", ".txt":
		return CSV
	case ".tsv", ".tab":
		return TSV
	case ".ndjson", ".jsonl", ".json":
		return NDJSON
	case ".line", ".lp", ".influx":
		return LineProtocol
	case ".prom":
		return Prometheus
	case ".om", ".openmetrics":
		return OpenMetrics
	}
	return ""
}

// Sniff is the format that the first bytes of a text look like, CSV where they
// look like no other.
func Sniff(head []byte) Format {
	head = bytes.TrimPrefix(head, []byte(byteOrderMark))
	first := head
	openMetrics := false
	for {
		line, rest, more := bytes.Cut(first, []byte{'\n'})
		openMetrics = openMetrics || bytes.HasPrefix(line, []byte("# UNIT ")) || bytes.HasPrefix(line, []byte("# EOF"))
		line = bytes.TrimRight(line, "\r")
		if len(line) > 0 && line[0] != '#' {
			first = line
			break
		}
		if !more {
			return CSV
		}
		first = rest
	}
	if first[0] == '{' {
		return NDJSON
	}
	looks := func(parse func(*series) (lineState, error)) *series {
		f := &seriesFormat{options: &TableOptions{}, series: []byte("series"), time: []byte("time"), parse: parse}
		f.columns = []seriesColumn{{name: "series", kind: tagKind}, {name: "time", kind: timeKind}}
		s := f.records(partLines(first, "", 1))
		s.learn = true
		if _, err := s.next(); err != nil {
			return nil
		}
		return s
	}
	if looks(parseLineProtocol) != nil {
		return LineProtocol
	}
	if s := looks(parsePrometheus); s != nil {
		if _, ok := parseInt(s.fields[1].Text); ok && !openMetrics {
			return Prometheus
		}
		return OpenMetrics
	}
	if bytes.IndexByte(first, '\t') >= 0 && bytes.IndexByte(first, ',') < 0 {
		return TSV
	}
	return CSV
}
