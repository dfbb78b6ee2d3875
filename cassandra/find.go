package cassandra

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sort"
	"strings"
	"sync"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// indexes are the files by which partitions are found. They are opened when
// they are first needed.
type indexes struct {
	once  sync.Once
	err   error
	files []*os.File

	index     *os.File // BIG: Index.db
	indexSize int64
	summary   *IndexSummary // nil: there is none

	partitions *PartitionIndex // BTI
	rows       *RowIndex
}

func (x *indexes) close() error {
	var err error
	for _, f := range x.files {
		err = errors.Join(err, f.Close())
	}
	x.files = nil
	return err
}

// openIndex opens the file of a component.
func (s *SSTable) openIndex(c Component) (*os.File, int64, error) {
	f, err := os.Open(s.Path(c))
	if err != nil {
		return nil, 0, err
	}
	s.indexes.files = append(s.indexes.files, f)
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// useIndexes opens the indexes of the format.
func (s *SSTable) useIndexes() (*indexes, error) {
	x := &s.indexes
	x.once.Do(func() {
		if s.Version.bti() {
			x.err = s.openTries()
		} else {
			x.err = s.openSummary()
		}
	})
	return x, x.err
}

func (s *SSTable) openTries() error {
	f, size, err := s.openIndex(ComponentPartitions)
	if err != nil {
		return err
	}
	if s.indexes.partitions, err = OpenPartitionIndex(f, size); err != nil {
		return s.name(ComponentPartitions, err)
	}
	if f, size, err = s.openIndex(ComponentRows); err != nil {
		return err
	}
	s.indexes.rows = OpenRowIndex(f, size, s.Version)
	return nil
}

func (s *SSTable) openSummary() (err error) {
	if s.indexes.index, s.indexes.indexSize, err = s.openIndex(ComponentIndex); err != nil {
		return err
	}
	b, err := s.read(ComponentSummary)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if s.indexes.summary, err = ParseSummary(b); err != nil {
		return s.name(ComponentSummary, err)
	}
	return nil
}

// keyOrder makes the comparison of partition keys.
func (s *SSTable) keyOrder() (*rowgroup.Schema, error) {
	key := []rowgroup.Column{{Name: "key", Type: rowgroup.Blob}}
	return rowgroup.NewSchema(key, nil, nil, nil, rowgroup.WithOrder(s.Order()))
}

// Find looks for a partition by its exact key through the indexes, or fails
// with rowgroup.ErrNotFound. That the data has the key at the entry's position
// has been checked. Where the order of keys is unknown, all of Index.db is
// read. The entry is the caller's; its Blocks know the deletion that is open at
// their end, and of BTI neither First nor Last.
func (s *SSTable) Find(key []byte) (*IndexEntry, error) {
	x, err := s.useIndexes()
	if err != nil {
		return nil, err
	}
	var e *IndexEntry
	if s.Version.bti() {
		e, err = s.findInTries(x, key)
	} else {
		e, err = s.findInIndex(x, key)
	}
	if err != nil {
		return nil, err
	}
	if e.Position < 0 || e.Position >= s.Data.Len() {
		return nil, s.foreign(e.Position, key)
	}
	if s.isLeftOut(e.Position) {
		return nil, s.name(ComponentData, encoding.Corruptf("partition "+hexKey(key), "is damaged and left out"))
	}
	r, err := s.ScanFrom(e.Position, false)
	if err != nil {
		return nil, err
	}
	_, err = r.Next()
	found := bytes.Equal(r.Partition().Key, key)
	e.Deletion = r.Partition().Deletion
	if err := errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if !found {
		if s.Version.bti() { // its trie has prefixes alone
			return nil, rowgroup.ErrNotFound
		}
		return nil, s.foreign(e.Position, key)
	}
	return e, nil
}

// foreign says that the index sends key to a place where it is not.
func (s *SSTable) foreign(position int64, key []byte) error {
	c := ComponentIndex
	if s.Version.bti() {
		c = ComponentPartitions
	}
	return &encoding.CorruptError{
		File: s.Path(c), Part: "entry of key " + hexKey(key), Offset: -1,
		Reason: fmt.Sprintf("position %d of the body does not have it", position),
	}
}

// hexKey is a key, cut to what a message can hold.
func hexKey(key []byte) string {
	if len(key) > errorKey {
		return fmt.Sprintf("%x...", key[:errorKey])
	}
	return fmt.Sprintf("%x", key)
}

// hexValues are clustering values, each cut to what a message can hold.
func hexValues(values [][]byte) string {
	text := make([]string, len(values))
	for i, v := range values {
		if text[i] = hexKey(v); v == nil {
			text[i] = "null"
		}
	}
	return "(" + strings.Join(text, ", ") + ")"
}

func (s *SSTable) findInTries(x *indexes, key []byte) (*IndexEntry, error) {
	comparable, err := s.comparableKey(nil, key)
	if err != nil {
		return nil, err
	}
	position, ok, err := x.partitions.Find(comparable)
	switch {
	case err != nil:
		return nil, s.name(ComponentPartitions, err)
	case !ok:
		return nil, rowgroup.ErrNotFound
	case position < 0:
		return &IndexEntry{Key: bytes.Clone(key), Position: ^position}, nil
	}
	row, err := x.rows.Entry(position)
	if err != nil {
		return nil, s.name(ComponentRows, err)
	}
	if !bytes.Equal(row.Key, key) {
		return nil, rowgroup.ErrNotFound
	}
	blocks, err := x.rows.Blocks(row)
	if err != nil {
		return nil, s.name(ComponentRows, err)
	}
	e := &IndexEntry{Key: row.Key, Position: row.Position}
	for i := range max(len(blocks)-1, 0) { // the last is the end
		b := IndexBlock{Offset: blocks[i].Offset, Width: blocks[i+1].Offset - blocks[i].Offset}
		b.Open = blocks[i+1].Open
		e.Blocks = append(e.Blocks, b)
	}
	if len(e.Blocks) > 0 {
		e.HeaderLength = e.Blocks[0].Offset
	}
	return e, nil
}

// findInIndex reads Index.db from the entry on that the summary knows.
func (s *SSTable) findInIndex(x *indexes, key []byte) (*IndexEntry, error) {
	order, err := s.keyOrder()
	if err != nil {
		return nil, err
	}
	from := int64(0)
	if _, ordered := order.ComparePartitions(key, key); ordered && x.summary != nil {
		after := sort.Search(len(x.summary.Entries), func(i int) bool {
			c, _ := order.ComparePartitions(x.summary.Entries[i].Key, key)
			return c > 0
		})
		if after == 0 {
			return nil, rowgroup.ErrNotFound
		}
		from = x.summary.Entries[after-1].Position
		if from < 0 || from >= x.indexSize {
			return nil, &encoding.CorruptError{
				File: s.Path(ComponentSummary), Part: fmt.Sprintf("entry %d", after-1), Offset: -1,
				Reason: fmt.Sprintf("position %d of %d in Index.db", from, x.indexSize),
			}
		}
	}
	r := NewIndexReader(io.NewSectionReader(x.index, from, x.indexSize-from), s.Version, s.Header)
	for {
		err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, rowgroup.ErrNotFound
		}
		if err != nil {
			return nil, s.name(ComponentIndex, err)
		}
		if c, ok := order.ComparePartitions(r.Entry().Key, key); ok && c > 0 {
			return nil, rowgroup.ErrNotFound
		}
		if bytes.Equal(r.Entry().Key, key) {
			e := *r.Entry()
			e.Key = bytes.Clone(key)
			return &e, nil
		}
	}
}
