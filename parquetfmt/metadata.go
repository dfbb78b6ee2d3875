package parquetfmt

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/encoding"
)

// decodeStruct decodes the struct that src begins with into v, and returns its
// length. What v may allocate follows from the bytes that are there.
func decodeStruct(src []byte, v any) (n int, err error) {
	if n, err = measure(src); err != nil {
		return 0, err
	}
	defer func() {
		if r := recover(); r != nil {
			err = encoding.Corruptf("metadata", "%v", r)
		}
	}()
	protocol := new(thrift.CompactProtocol)
	if err := thrift.NewDecoder(protocol.NewReaderFromBytes(src[:n:n])).Decode(v); err != nil {
		return 0, encoding.Corruptf("metadata", "%s", err)
	}
	return n, nil
}

const trailerLen = 8 // footer's length, magic

// readFooter reads the metadata of a file.
func readFooter(r io.ReaderAt, size int64) (m *format.FileMetaData, footer int64, err error) {
	if size < int64(len(magic))+trailerLen {
		return nil, 0, encoding.Corruptf("file", "%d bytes are no Parquet file", size)
	}
	tail := make([]byte, min(size, 64<<10))
	if err := readAt(r, tail, size-int64(len(tail))); err != nil {
		return nil, 0, err
	}
	end := tail[len(tail)-trailerLen:]
	switch string(end[4:]) {
	case magic:
	case "PARE":
		return nil, 0, fmt.Errorf("%w: an encrypted footer", encoding.ErrUnsupported)
	default:
		return nil, 0, encoding.Corruptf("file", "it does not end as a Parquet file does")
	}
	footer = int64(binary.LittleEndian.Uint32(end))
	if footer > size-int64(len(magic))-trailerLen {
		return nil, 0, encoding.Corruptf("footer", "%d bytes in a file of %d", footer, size)
	}
	if need := footer + trailerLen; need > int64(len(tail)) {
		tail = make([]byte, need)
		if err := readAt(r, tail, size-need); err != nil {
			return nil, 0, err
		}
	}
	body := tail[int64(len(tail))-trailerLen-footer : len(tail)-trailerLen]
	m, n, err := decodeFooter(body)
	switch {
	case err != nil:
		return nil, 0, err
	case m.EncryptionAlgorithm.Value != nil:
		return nil, 0, fmt.Errorf("%w: encrypted columns", encoding.ErrUnsupported)
	case int64(n) != footer:
		return nil, 0, encoding.Corruptf("footer", "%d bytes behind its end", footer-int64(n))
	}
	return m, footer, nil
}

// readAt fills b; an end before that is damage.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return encoding.Corruptf("file", "it ends at %d", off+int64(n))
	}
	return err
}

// checkMetadata checks what the footer says of row groups against the schema and
// the file.
func checkMetadata(m *format.FileMetaData, leaves []*node, size, footer int64) error {
	rows := int64(0)
	end := size - trailerLen - footer
	for g := range m.RowGroups {
		group := &m.RowGroups[g]
		fail := func(f string, args ...any) error {
			return encoding.Corruptf(fmt.Sprintf("row group %d", g), f, args...)
		}
		if group.NumRows < 0 || group.NumRows > 1<<40 {
			return fail("%d rows", group.NumRows)
		}
		rows += group.NumRows
		if len(group.Columns) != len(leaves) {
			return fail("%d columns where the schema has %d", len(group.Columns), len(leaves))
		}
		for i := range group.Columns {
			c := &group.Columns[i].MetaData
			start := chunkStart(c)
			switch {
			case group.Columns[i].FilePath != "":
				return fmt.Errorf("%w: row group %d, column %s: it lies in another file", encoding.ErrUnsupported, g, leaves[i])
			case c.Type != leaves[i].typ:
				return fail("column %s of type %s where the schema has %s", leaves[i], c.Type, leaves[i].typ)
			case c.NumValues < 0 || c.NumValues < group.NumRows || leaves[i].maxRep == 0 && c.NumValues != group.NumRows:
				return fail("column %s of %d values in %d rows", leaves[i], c.NumValues, group.NumRows)
			case c.TotalCompressedSize < 0 || c.TotalCompressedSize > end || c.NumValues > 0 && (start < int64(len(magic)) || start > end-c.TotalCompressedSize):
				return fail("column %s at %d of %d bytes", leaves[i], start, c.TotalCompressedSize)
			}
		}
	}
	if rows != m.NumRows {
		return encoding.Corruptf("footer", "%d rows where its row groups have %d", m.NumRows, rows)
	}
	return nil
}

// chunkStart is where the first page of a column chunk is.
func chunkStart(c *format.ColumnMetaData) int64 {
	if d := c.DictionaryPageOffset; d > 0 && d < c.DataPageOffset {
		return d
	}
	return c.DataPageOffset
}

// userData is what the writer's user kept in the file.
func userData(pairs []format.KeyValue) map[string][]byte {
	user := map[string][]byte{}
	for _, kv := range pairs {
		if k, ok := strings.CutPrefix(kv.Key, userKey); ok {
			if v, err := base64.StdEncoding.DecodeString(kv.Value); err == nil {
				user[k] = v
			}
		}
	}
	return user
}

func lookup(pairs []format.KeyValue, key string) (string, bool) {
	for _, kv := range pairs {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}
