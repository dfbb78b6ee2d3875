package cli

import (
	"bytes"
	"path/filepath"
	"strings"

	"github.com/colsst/colsst/textfmt"
)

// formatTable is the format of table files, formatDump that of the command dump,
// formatSSTable Cassandra's and formatParquet Apache Parquet; the others are those
// of textfmt.
const (
	formatTable   = "colsst"
	formatDump    = "dump"
	formatSSTable = "sstable"
	formatParquet = "parquet"
)

const (
	formatCSV         = string(textfmt.CSV)
	formatTSV         = string(textfmt.TSV)
	formatNDJSON      = string(textfmt.NDJSON)
	formatLine        = string(textfmt.LineProtocol)
	formatPrometheus  = string(textfmt.Prometheus)
	formatOpenMetrics = string(textfmt.OpenMetrics)
)

var (
	inputFormats  = []string{formatTable, formatCSV, formatTSV, formatNDJSON, formatLine, formatParquet, formatPrometheus, formatOpenMetrics, formatDump, formatSSTable}
	outputFormats = inputFormats[:6]
)

// isCSV reports whether a format is CSV with one separator or another.
func isCSV(format string) bool { return format == formatCSV || format == formatTSV }

// tableMagic is how a table file begins.
const tableMagic = "COLSST\r\n"

// packedNames end the names of compressed files.
var packedNames = []string{".gz", ".zst", ".bz2", ".xz"}

// unpackedName is a file's name without the ending of a compression.
func unpackedName(path string) (name string, packed bool) {
	for _, p := range packedNames {
		if len(path) > len(p) && strings.EqualFold(path[len(path)-len(p):], p) {
			return path[:len(path)-len(p)], true
		}
	}
	return path, false
}

// formatOf is the format that a file's name tells, or "".
func formatOf(path string) string {
	if isSSTable(path) {
		return formatSSTable
	}
	name, _ := unpackedName(path)
	switch strings.ToLower(filepath.Ext(name)) {
	case ".csst", ".colsst":
		return formatTable
	case ".parquet", ".parq":
		return formatParquet
	case ".dump":
		return formatDump
	}
	return string(textfmt.FormatOf(path))
}

// looksLike says what content is that begins so: one of the formats that can be
// told from it, or else "", and a description for people.
func looksLike(head []byte) (format, what string) {
	switch {
	case len(head) == 0:
		return "", "is empty"
	case bytes.HasPrefix(head, []byte(tableMagic)):
		return formatTable, "is a table file"
	case bytes.HasPrefix(head, []byte(parquetMagic)):
		return formatParquet, "is a Parquet file"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "", "is a ZIP archive: unpack it first"
	case bytes.HasPrefix(head, []byte("SQLite format 3")):
		return "", "is an SQLite database"
	case controls(head) > len(head)/20:
		return "", "holds bytes that are no text"
	}
	switch f := textfmt.Sniff(head); f {
	case textfmt.CSV, textfmt.TSV:
		return string(f), "looks like text, as CSV is"
	case textfmt.NDJSON:
		return string(f), "looks like JSON"
	default:
		return "", "looks like " + string(f)
	}
}

// controls counts the control characters that text does not have.
func controls(b []byte) (n int) {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			n++
		}
	}
	return n
}
