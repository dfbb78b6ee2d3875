package cassandra

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// SSTable is one open SSTable. It is safe for concurrent use.
type SSTable struct {
	Descriptor
	Dir        string
	Files      []Component // that this package reads or TOC.txt lists, and are there; sorted
	TOC        []Component // that TOC.txt lists; nil: there is no TOC.txt
	Data       *DataFile
	Statistics *StatisticsFile
	Header     *Header // of Statistics, its user types as UserTypes says
	UserTypes  UserTypes
	Warnings   []string // of what is odd, but does not hinder reading

	data    *os.File
	options options
	indexes indexes
	bad     []extent // of the body, that are left out
	leftOut int64    // partitions there
}

// MarshalText is String, for JSON.
func (u UserTypes) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText is the inverse of MarshalText.
func (u *UserTypes) UnmarshalText(text []byte) error {
	for x := UserTypesByHeader; x <= UserTypesFoundMultiCell; x++ {
		if x.String() == string(text) {
			*u = x
			return nil
		}
	}
	return fmt.Errorf("user types are not %q", text)
}

type options struct {
	userTypes UserTypes
	maxRow    int
}

// Option is an option of Open.
type Option func(*options)

// WithUserTypes says, from a schema, whether user types without FrozenType in
// the header of an old version are frozen. Without it Open tries.
func WithUserTypes(frozen bool) Option {
	return func(o *options) {
		o.userTypes = UserTypesMultiCell
		if frozen {
			o.userTypes = UserTypesFrozen
		}
	}
}

// WithRowLimit refuses rows whose body is larger; see WithMaxRow.
func WithRowLimit(bytes int) Option { return func(o *options) { o.maxRow = bytes } }

// Open opens the SSTable that the named file, Data.db or another component,
// belongs to. Data.db and Statistics.db must be there, and CompressionInfo.db
// if TOC.txt lists it; other components that TOC.txt lists and that are not
// there make a warning.
func Open(path string, opts ...Option) (*SSTable, error) {
	dir, name := filepath.Split(path)
	d, _, err := ParseName(name)
	if err != nil {
		return nil, err
	}
	s := &SSTable{Descriptor: d, Dir: filepath.Clean(dir), options: options{maxRow: encoding.MaxRowBytes}}
	for _, o := range opts {
		o(&s.options)
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the files; a second call is a no-op. No scan may be under way.
func (s *SSTable) Close() error {
	err := s.indexes.close()
	if s.data != nil {
		err = errors.Join(err, s.data.Close())
		s.data = nil
	}
	return err
}

// Path is the path of a component's file.
func (s *SSTable) Path(c Component) string { return filepath.Join(s.Dir, s.FileName(c)) }

func (s *SSTable) open() error {
	if err := s.list(); err != nil {
		return err
	}
	text, err := s.read(ComponentStatistics)
	if err != nil {
		return err
	}
	if s.Statistics, err = ParseStatistics(text, s.Version); err != nil {
		return s.name(ComponentStatistics, err)
	}
	s.Header = s.Statistics.Header
	if err = s.openData(); err != nil {
		return err
	}
	return s.decideUserTypes()
}

// list finds which of the components that this package knows, or that TOC.txt
// lists, are there.
func (s *SSTable) list() error {
	text, err := s.read(ComponentTOC)
	switch {
	case err == nil:
		if s.TOC, err = ParseTOC(text); err != nil {
			return s.name(ComponentTOC, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	want := append(components[:], s.TOC...)
	slices.Sort(want)
	for _, c := range slices.Compact(want) {
		_, err := os.Stat(s.Path(c))
		if err == nil {
			s.Files = append(s.Files, c)
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		listed := slices.Contains(s.TOC, c)
		switch c {
		case ComponentData, ComponentStatistics:
			return err
		case ComponentCompressionInfo:
			if listed {
				return fmt.Errorf("%w, though %s lists it", err, ComponentTOC)
			}
		default:
			if listed {
				s.Warnings = append(s.Warnings, fmt.Sprintf("%s is missing, though %s lists it", c, ComponentTOC))
			}
		}
	}
	return nil
}

func (s *SSTable) has(c Component) bool {
	_, ok := slices.BinarySearch(s.Files, c)
	return ok
}

func (s *SSTable) read(c Component) ([]byte, error) { return os.ReadFile(s.Path(c)) }

// name adds the name of a component's file to an error that has none.
func (s *SSTable) name(c Component, err error) error {
	var corrupt *encoding.CorruptError
	if errors.As(err, &corrupt) && corrupt.File == "" {
		named := *corrupt
		named.File = s.Path(c)
		return &named
	}
	return err
}

func (s *SSTable) openData() (err error) {
	if s.data, err = os.Open(s.Path(ComponentData)); err != nil {
		return err
	}
	info, err := s.data.Stat()
	if err != nil {
		return err
	}
	s.Data = &DataFile{Name: s.Path(ComponentData), File: s.data, Size: info.Size()}
	switch {
	case s.has(ComponentCompressionInfo):
		text, err := s.read(ComponentCompressionInfo)
		if err != nil {
			return err
		}
		if s.Data.Compression, err = ParseCompressionInfo(text, s.Version); err != nil {
			return s.name(ComponentCompressionInfo, err)
		}
	case s.has(ComponentCRC):
		text, err := s.read(ComponentCRC)
		if err != nil {
			return err
		}
		if s.Data.Checksums, err = ParseChecksums(text); err != nil {
			return s.name(ComponentCRC, err)
		}
	}
	return nil
}

// lookupBuffer is the least size of the buffer of a reader that is to read
// little.
const lookupBuffer = 4 << 10

// Scanner is a BodyReader over an SSTable's data.
type Scanner struct {
	*BodyReader
	stream  *Stream
	workers int      // goroutines of stream
	skip    []extent // that are left out, still to come

	keys    *rowgroup.Schema // checks the order of partitions; nil: nothing does
	lastKey []byte
	any     bool // there was a partition
}

// Next is that of BodyReader. What Source.Salvage has found bad it passes over.
func (s *Scanner) Next() (Event, error) {
	for len(s.skip) > 0 && s.state == beforePartition && s.position() == s.skip[0].from {
		if err := s.jump(s.skip[0].to); err != nil {
			return NoEvent, err
		}
		s.skip = s.skip[1:]
	}
	e, err := s.BodyReader.Next()
	if e == PartitionBegin && s.keys != nil {
		if err = s.follow(s.partition.Key); err != nil {
			s.err = err
			return NoEvent, err
		}
	}
	return e, err
}

// follow checks that a partition comes after the one before.
func (s *Scanner) follow(key []byte) error {
	if s.any {
		if c, known := s.keys.ComparePartitions(s.lastKey, key); known && c >= 0 {
			return s.corruptf("key %s is out of order, or twice", hexKey(key))
		}
	}
	s.lastKey, s.any = append(s.lastKey[:0], key...), true
	return nil
}

// jump goes on reading at a partition further on.
func (s *Scanner) jump(position int64) error {
	if err := s.stream.Close(); err != nil {
		return err
	}
	s.base, s.pos, s.end = position, 0, 0
	if position == s.file.Len() { // whose chunk is left out too
		s.src, s.srcErr = nil, io.EOF
		return nil
	}
	stream, err := s.file.stream(position, s.workers)
	if err != nil {
		return err
	}
	s.stream = stream
	s.src, s.srcErr = stream, nil
	return nil
}

// Close ends the scan.
func (s *Scanner) Close() error { return s.stream.Close() }

// Scan reads the whole SSTable. It decompresses ahead on a goroutine of its
// own until Close. Partitions out of order are an error; the order of rows only
// Verify checks.
func (s *SSTable) Scan() (*Scanner, error) {
	keys, err := s.keyOrder()
	if err != nil {
		return nil, err
	}
	r, err := s.scan(s.Header, 0, 1)
	if err != nil {
		return nil, err
	}
	r.keys = keys
	return r, nil
}

// ScanFrom reads from the partition on that begins at a position of the body,
// such as Find returns. Without ahead it reads little more than is asked for.
func (s *SSTable) ScanFrom(position int64, ahead bool) (*Scanner, error) {
	if ahead {
		return s.scan(s.Header, position, 1)
	}
	return s.scan(s.Header, position, 0)
}

// scan reads from a partition on, under h; so many goroutines decompress ahead.
func (s *SSTable) scan(h *Header, position int64, workers int) (*Scanner, error) {
	stream, err := s.Data.stream(position, workers)
	if err != nil {
		return nil, err
	}
	r := NewBodyReader(stream, s.Version, h, WithMaxRow(s.options.maxRow), withFile(s.Data, position))
	if workers == 0 {
		r.unit = lookupBuffer
	}
	return &Scanner{BodyReader: r, stream: stream, workers: workers, skip: s.bad[s.badFrom(position):]}, nil
}
