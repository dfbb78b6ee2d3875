package cassandra

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/rowgroup"
)

// Keys of the values by which a file of rows keeps where they come from.
const (
	ProvenanceKey = "cassandra"            // Provenance, as JSON
	HeaderKey     = "cassandra.header"     // the component HEADER, verbatim
	StatsKey      = "cassandra.stats"      // STATS
	ValidationKey = "cassandra.validation" // VALIDATION
)

// Provenance says which SSTable rows come from. With its header it makes of the
// rows the body that the SSTable had.
type Provenance struct {
	Source      string       `json:"source"` // name of Data.db
	Version     Version      `json:"version"`
	ID          string       `json:"id"`
	Format      string       `json:"format"`
	Keyspace    string       `json:"keyspace,omitempty"`
	Table       string       `json:"table,omitempty"`
	TableID     string       `json:"table_id,omitempty"`
	Index       string       `json:"index,omitempty"`
	Snapshot    string       `json:"snapshot,omitempty"`
	Partitioner string       `json:"partitioner"` // class
	Compression *Compression `json:"compression"` // null: none
	Bytes       int64        `json:"bytes"`       // of Data.db
	BodyBytes   int64        `json:"body_bytes"`
	SHA256      string       `json:"sha256"` // of Data.db
	Schema      string       `json:"schema"` // where the names of the key's columns are from
	UserTypes   UserTypes    `json:"user_types"`
	Notes       []string     `json:"notes,omitempty"`
	LeftOut     int64        `json:"left_out,omitempty"` // partitions, by Source.Salvage

	// NoComplexDeletion is the local deletion time that stands for no deletion in
	// complex columns, where it is not Version.NoDeletionTime: Cassandra 5.0
	// writes another one into files of older versions.
	NoComplexDeletion *int64 `json:"no_complex_deletion,omitempty"`

	RawHeader, RawStats, RawValidation []byte `json:"-"`
}

// Compression is how Data.db was compressed.
type Compression struct {
	Class               string            `json:"class"`
	Options             map[string]string `json:"options,omitempty"`
	ChunkLength         int               `json:"chunk_length"`
	MaxCompressedLength int               `json:"max_compressed_length"`
}

// CompressionOf is how Data.db of s is compressed, nil if it is not.
func CompressionOf(s *SSTable) *Compression {
	c := s.Data.Compression
	if c == nil {
		return nil
	}
	x := &Compression{Class: c.Compressor, ChunkLength: c.ChunkLength, MaxCompressedLength: c.MaxCompressedLength}
	for _, o := range c.Options {
		if x.Options == nil {
			x.Options = map[string]string{}
		}
		x.Options[o.Key] = o.Value
	}
	return x
}

// Provenance describes the SSTable of s, with the SHA-256 of Data.db, which it
// reads. schema says where the names are from.
func (s *Source) Provenance(ctx context.Context, schema string) (*Provenance, error) {
	x := s.sst
	p := &Provenance{
		Source: x.FileName(ComponentData), Version: x.Version, ID: x.ID, Format: x.Version.Format(),
		Bytes: x.Data.Size, BodyBytes: x.Data.Len(), Schema: schema, UserTypes: x.UserTypes, LeftOut: x.leftOut, Notes: slices.Clone(x.Warnings),
		RawHeader: x.Statistics.RawHeader, RawStats: x.Statistics.RawStats, RawValidation: x.Statistics.RawValidation,
	}
	if v := x.Statistics.Validation; v != nil {
		p.Partitioner = v.Partitioner
	}
	if dir, err := filepath.Abs(x.Dir); err == nil {
		if t, ok := ParseTablePath(dir); ok {
			p.Keyspace, p.Table, p.TableID, p.Index, p.Snapshot = t.Keyspace, t.Table, t.ID, t.Index, t.Snapshot
		}
	}
	p.Compression = CompressionOf(x)
	if err := s.noComplexDeletion(ctx, p); err != nil {
		return nil, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, &contextReader{ctx, io.NewSectionReader(x.data, 0, x.Data.Size)}); err != nil {
		return nil, fmt.Errorf("%s: %w", x.Path(ComponentData), err)
	}
	p.SHA256 = hex.EncodeToString(h.Sum(nil))
	return p, nil
}

// noComplexDeletion looks for NoComplexDeletion in the first complex column
// without a deletion in a row where another has one: a file is written by one
// version of Cassandra, so all others are like it.
func (s *Source) noComplexDeletion(ctx context.Context, p *Provenance) error {
	x := s.sst
	if x.Version.unsignedDeletionTimes() || !s.schema.HasMultiCells() {
		return nil
	}
	r, err := x.Scan()
	if err != nil {
		return err
	}
	for n, found := 0, false; !found; n++ {
		if n%ctxEvery == 0 {
			if err = ctx.Err(); err != nil {
				break
			}
		}
		e, failed := r.Next()
		if failed != nil { // which the scan will meet again
			break
		}
		if e != StaticRow && e != ClusteringRow {
			continue
		}
		complex := r.Row().Complex
		if !slices.ContainsFunc(complex, func(c ComplexColumn) bool { return !c.Deletion.Live() }) {
			continue // none has one
		}
		for _, c := range complex {
			if !c.Deletion.Live() {
				continue
			}
			if found = true; c.Deletion.LocalDeletionTime != x.Version.NoDeletionTime() {
				t := c.Deletion.LocalDeletionTime
				p.NoComplexDeletion = &t
			}
		}
	}
	return errors.Join(err, r.Close())
}

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (r *contextReader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.r.Read(b)
}

// Values are the provenance as values to be kept beside the rows, by key.
func (p *Provenance) Values() (map[string][]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	m := map[string][]byte{ProvenanceKey: text, HeaderKey: p.RawHeader}
	if p.RawStats != nil {
		m[StatsKey] = p.RawStats
	}
	if p.RawValidation != nil {
		m[ValidationKey] = p.RawValidation
	}
	return m, nil
}

// ReadProvenance is the inverse of Values. ok is false where the rows come from
// no SSTable.
func ReadProvenance(value func(key string) ([]byte, bool)) (p *Provenance, ok bool, err error) {
	text, ok := value(ProvenanceKey)
	if !ok {
		return nil, false, nil
	}
	p = &Provenance{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, true, &encoding.CorruptError{Part: "user data " + ProvenanceKey, Offset: -1, Err: err}
	}
	if p.Version, err = ParseVersion(string(p.Version), p.Format); err != nil {
		return nil, true, err
	}
	if p.RawHeader, ok = value(HeaderKey); !ok {
		return nil, true, encoding.Corruptf("user data", "no value %q", HeaderKey)
	}
	p.RawStats, _ = value(StatsKey)
	p.RawValidation, _ = value(ValidationKey)
	return p, true, nil
}

// Header is the SSTable's header, its user types as the SSTable was read.
func (p *Provenance) Header() (*Header, error) {
	h, err := ParseHeader(p.RawHeader)
	if err == nil && (p.UserTypes == UserTypesFrozen || p.UserTypes == UserTypesFoundFrozen) {
		h = h.WithFrozenUDTs()
	}
	return h, err
}

// WriteBody writes the body of the SSTable that rows come from, which are those
// of all of it, to dst.
func (p *Provenance) WriteBody(ctx context.Context, dst io.Writer, rows rowgroup.Source) (err error) {
	h, err := p.Header()
	if err != nil {
		return err
	}
	w := NewBodyWriter(dst, p.Version, h)
	r, err := NewRowWriter(w, rows.Schema())
	if err != nil {
		return err
	}
	if p.NoComplexDeletion != nil {
		r.live = *p.NoComplexDeletion
	}
	it := rows.Scan(ctx, rowgroup.ScanOptions{})
	defer func() {
		if e := it.Close(); err == nil {
			err = e
		}
	}()
	b := rowgroup.NewBatch(rows.Schema())
	for {
		more, err := it.Next(b)
		if err != nil {
			return err
		}
		if !more {
			break
		}
		if err := r.Write(b); err != nil {
			return err
		}
	}
	if err := r.End(); err != nil {
		return err
	}
	return w.Flush()
}
