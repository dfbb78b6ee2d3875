package textfmt

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// scanAll is every record of text, read through a buffer that begins with
// size bytes and has the pieces that cut makes.
func scanAll(t require.TestingT, text string, size int, cut func(io.Reader) io.Reader, set func(*Scanner)) ([][]string, error) {
	r := io.Reader(strings.NewReader(text))
	if cut != nil {
		r = cut(r)
	}
	s, err := NewScanner(r, "f.csv", ',')
	require.NoError(t, err)
	if size > 0 {
		s.buf = make([]byte, size)
	}
	if set != nil {
		set(s)
	}
	var out [][]string
	for {
		fields, err := s.Scan()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			_, again := s.Scan()
			require.Equal(t, err, again)
			return out, err
		}
		var rec []string
		for _, f := range fields {
			rec = append(rec, string(f.Text))
		}
		out = append(out, rec)
	}
}

func TestScanner(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"one line", "a,b", "a|b"},
		{"line ends", "a,b\r\nc,d\ne,f\r", "a|b\nc|d\ne|f"},
		{"blank lines", "\n\r\na,b\n\n\r\nc,d\n\n\r", "a|b\nc|d"},
		{"byte order mark", "\xef\xbb\xbfa,b\n", "a|b"},
		{"mark alone", "\xef\xbb\xbf", ""},
		{"empty fields", ",\n,x\n", "|\n|x"},
		{"quotes", `"a","b,c"` + "\n" + `"d""e",""""` + "\n", "a|b,c\nd\"e|\""},
		{"quotes at the end", `x,"y"`, "x|y"},
		{"quoted empty", `"",x`, "|x"},
		{"NUL", "a\x00,b", "a\x00|b"},
		{"not UTF-8", "\xff\xc3\x28,b", "\xff\xc3\x28|b"},
		{"spaces stay", " a , b\n", " a | b"},
	} {
		for _, size := range []int{0, 4} {
			got, err := scanAll(t, c.in, size, nil, nil)
			require.NoError(t, err, c.name)
			lines := make([]string, len(got))
			for i, rec := range got {
				lines[i] = strings.Join(rec, "|")
			}
			require.Equal(t, c.want, strings.Join(lines, "\n"), c.name)
		}
	}
}

func TestScannerErrors(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"a,b\nc\n", `f.csv:2:1: expected 2 fields, found 1 field`},
		{"a,b\nc,d,e\n", `f.csv:2:5: expected 2 fields, found 3 fields`},
		{"a,b\nc,d\"e\n", `f.csv:2:4: expected quotes around the whole field, and quotes inside it doubled, found a quote inside a field`},
		{"a,\"b\"c\n", `f.csv:1:6: expected a separator or the end of the line after a closing quote, found "c"`},
		{"a,\"b\nc,d\n", `f.csv:1:3: expected a quote that closes the one here, found the end of the input`},
		{"\"a\nb\",\"c\nd\" x", `f.csv:2:4: expected a quote that closes the one here, and a separator or the end of the line behind it, found " " behind the next quote, in line 3, column 3`},
		{"a\rb\n", `f.csv:1:2: expected a line that ends with LF or CRLF, or quotes around the field, found a carriage return alone`},
		{"\xff\xfea\x00", `f.csv:1:1: expected UTF-8, found UTF-16; convert the file first, for example with iconv -f UTF-16 -t UTF-8`},
	} {
		for _, size := range []int{0, 4} {
			_, err := scanAll(t, c.in, size, iotest.HalfReader, nil)
			require.EqualError(t, err, c.want)
		}
	}
	for _, sep := range []byte("\"\r\n") {
		_, err := NewScanner(nil, "", sep)
		require.Error(t, err)
	}
	_, err := scanAll(t, "a,b\n", 0, func(r io.Reader) io.Reader { return iotest.TimeoutReader(iotest.OneByteReader(r)) }, nil)
	require.ErrorIs(t, err, iotest.ErrTimeout)
}

func TestScannerPositions(t *testing.T) {
	s, err := NewScanner(strings.NewReader("\xef\xbb\xbfa,b\n\n\"x\ny\",\"p\r\nq\",r\n"), "", ',')
	require.NoError(t, err)
	s.Fields = 2
	fields, err := s.Scan()
	require.NoError(t, err)
	require.Equal(t, []Field{{Text: []byte("a"), Line: 1, Column: 1}, {Text: []byte("b"), Line: 1, Column: 3}}, fields)
	s.Fields = 3
	fields, err = s.Scan()
	require.NoError(t, err)
	require.Equal(t, []Field{
		{Text: []byte("x\ny"), Quoted: true, Line: 3, Column: 1}, {Text: []byte("p\r\nq"), Quoted: true, Line: 4, Column: 4},
		{Text: []byte("r"), Line: 5, Column: 4},
	}, fields)
}

func TestScannerTrailingSeparator(t *testing.T) {
	trailing := func(s *Scanner) { s.TrailingSeparator = true }
	got, err := scanAll(t, "1,\n2,\n", 0, nil, trailing)
	require.NoError(t, err)
	require.Equal(t, [][]string{{"1"}, {"2"}}, got)
	_, err = scanAll(t, "1,\n2\n", 0, nil, trailing)
	require.EqualError(t, err, `f.csv:2:1: expected a separator at the end of the line, found "2"`)
}

// T60: line ends inside quotes keep their bytes, in files of either line end.
func TestT60LineBreaksInQuotes(t *testing.T) {
	for _, eol := range []string{"\n", "\r\n"} {
		cells := []string{"a\r\nb", "a\nb", "a\rb", "a\r"}
		text := `"` + strings.Join(cells, `"`+eol+`"`) + `"` + eol
		got, err := scanAll(t, text, 0, nil, nil)
		require.NoError(t, err)
		require.Len(t, got, len(cells))
		for i, c := range cells {
			require.Equal(t, c, got[i][0])
		}
	}
}

// TestScannerLongFields has records far longer than the first buffer.
func TestScannerLongFields(t *testing.T) {
	long := strings.Repeat("\"\"\r\n,x", 200_000)
	want := strings.ReplaceAll(long, `""`, `"`)
	for _, cut := range []func(io.Reader) io.Reader{nil, iotest.HalfReader, iotest.DataErrReader} {
		got, err := scanAll(t, "a,b\n\""+long+"\",1\n2,3\n", 0, cut, nil)
		require.NoError(t, err)
		require.Equal(t, [][]string{{"a", "b"}, {want, "1"}, {"2", "3"}}, got)
	}
}

// TestScannerProperty: whatever fields are written come back, however the
// input is cut and however small the buffer begins.
func TestScannerProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "fields")
		cell := rapid.OneOf(rapid.StringOfN(rapid.RuneFrom([]rune("a,\"\r\n; ")), 0, 12, -1), rapid.String())
		want := rapid.SliceOf(rapid.SliceOfN(cell, n, n)).Draw(t, "records")
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "line end")
		var text []byte
		for _, rec := range want {
			for i, f := range rec {
				if i > 0 {
					text = append(text, ',')
				}
				text = appendField(text, []byte(f), ',', rapid.Bool().Draw(t, "quotes") || n == 1)
			}
			text = append(text, eol...)
		}
		cut := rapid.SampledFrom([]func(io.Reader) io.Reader{nil, iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader}).Draw(t, "cut")
		got, err := scanAll(t, string(text), rapid.IntRange(1, 40).Draw(t, "buffer"), cut, nil)
		require.NoError(t, err)
		require.Len(t, got, len(want))
		for i := range want {
			require.Equal(t, want[i], got[i])
		}
	})
}

func FuzzCSV(f *testing.F) {
	for _, seed := range []string{"", "a,b\n1,2\n", "\"a\r\nb\",\"\"\"\"\n", "a\rb", "\"", "\xef\xbb\xbfx\r\n\r\n", "a,\"b\"c", ",,\n,,\n"} {
		f.Add([]byte(seed), uint8(1), byte(','))
	}
	f.Fuzz(func(t *testing.T, data []byte, size uint8, sep byte) {
		if _, err := NewScanner(nil, "", sep); err != nil {
			return
		}
		scan := func(data []byte) (recs [][]string, failed bool) {
			s, err := NewScanner(bytes.NewReader(data), "", sep)
			require.NoError(t, err)
			s.buf = make([]byte, max(3, int(size)))
			for {
				fields, err := s.Scan()
				if err != nil {
					return recs, !errors.Is(err, io.EOF)
				}
				var rec []string
				for _, f := range fields {
					rec = append(rec, string(f.Text))
				}
				recs = append(recs, rec)
			}
		}
		want, failed := scan(data)
		if failed {
			return
		}
		var text []byte
		for _, rec := range want {
			for i, f := range rec {
				if i > 0 {
					text = append(text, sep)
				}
				text = appendField(text, []byte(f), sep, len(rec) == 1)
			}
			text = append(text, '\n')
		}
		got, failed := scan(text)
		require.False(t, failed)
		require.Equal(t, want, got)
	})
}

func TestScannerAllocatesNothing(t *testing.T) {
	text := strings.Repeat("2014-02-14 14:30:00,0.132,\"quoted \"\"text\"\"\"\n", 50_000)
	s, err := NewScanner(strings.NewReader(text), "", ',')
	require.NoError(t, err)
	for range 10 {
		_, err = s.Scan()
		require.NoError(t, err)
	}
	require.Zero(t, testing.AllocsPerRun(10_000, func() { _, err = s.Scan() }))
	require.NoError(t, err)
}

func BenchmarkScanner(b *testing.B) {
	text := strings.Repeat("2014-02-14 14:30:00,0.132,some text of a row,12345\n", 20_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s, _ := NewScanner(strings.NewReader(text), "", ',')
		for {
			if _, err := s.Scan(); err != nil {
				break
			}
		}
	}
}

const realDir = "../../shared/testdata/real"

type realFile struct {
	Path     string
	Fmt      string
	Sep      string
	Header   bool
	Trailing bool  `json:"trailing_sep"`
	RawBytes int64 `json:"raw_bytes"`
	Rows     int64
	Columns  []string
	Null     []string
	Cols     [][2]string
	First    int64 `json:"ts_first_ns"`
	Last     int64 `json:"ts_last_ns"`
	TS       *struct {
		Layout, Unit, TZ string
		Columns          []string
	}
}

// realFiles lists the CSV files of the real data.
func realFiles(t *testing.T) (files []realFile) {
	for _, f := range allRealFiles(t) {
		if f.Fmt == "csv" {
			files = append(files, f)
		}
	}
	return files
}

func allRealFiles(t *testing.T) (all []realFile) {
	b, err := os.ReadFile(filepath.Join(realDir, "MANIFEST.json"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no ../shared/testdata")
	}
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &all))
	return all
}

func (f *realFile) read(t *testing.T) []byte {
	b, err := os.ReadFile(filepath.Join(realDir, f.Path))
	require.NoError(t, err)
	if strings.HasSuffix(f.Path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		require.NoError(t, err)
		b, err = io.ReadAll(z)
		require.NoError(t, err)
	}
	return b
}

// TestScannerRealData compares every cell with encoding/csv, which makes one
// LF of a CRLF inside quotes.
func TestScannerRealData(t *testing.T) {
	for _, f := range realFiles(t) {
		if testing.Short() && f.RawBytes > 256<<10 {
			continue
		}
		data := f.read(t)
		s, err := NewScanner(bytes.NewReader(data), f.Path, f.Sep[0])
		require.NoError(t, err)
		s.TrailingSeparator = f.Trailing
		r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(data, []byte(byteOrderMark))))
		r.Comma, r.ReuseRecord = rune(f.Sep[0]), true
		rows := int64(0)
		for {
			want, errWant := r.Read()
			got, err := s.Scan()
			if errors.Is(errWant, io.EOF) {
				require.ErrorIs(t, err, io.EOF)
				break
			}
			if errWant != nil || err != nil {
				t.Fatal(f.Path, errWant, err)
			}
			rows++
			if f.Trailing {
				want = want[:len(want)-1]
			}
			if len(want) != len(got) {
				t.Fatal(f.Path, want, got)
			}
			for i := range want {
				text := got[i].Text
				if got[i].Quoted {
					text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
				}
				if want[i] != string(text) {
					t.Fatal(fmt.Sprintf("%s:%d", f.Path, got[i].Line), want[i], string(got[i].Text))
				}
			}
		}
		if f.Header {
			rows--
		}
		require.Equal(t, f.Rows, rows, f.Path)
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.String()
}
