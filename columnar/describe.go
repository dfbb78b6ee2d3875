package columnar

import (
	"context"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/internal/rawfile"
	"github.com/colsst/colsst/rowgroup"
)

// Description says what a file holds and where its bytes went.
type Description struct {
	Version    int                 `json:"version"`
	Rows       int64               `json:"rows"` // range tombstone markers not counted
	Markers    int64               `json:"markers"`
	Bytes      int64               `json:"bytes"`
	Partitions int64               `json:"partitions"`
	RowGroups  int64               `json:"row_groups"`
	Blocks     int64               `json:"blocks"`
	Segments   int64               `json:"segments"`
	Templates  int64               `json:"templates"`
	Order      string              `json:"order"` // of partitions
	Multiset   bool                `json:"multiset"`
	Layers     Layers              `json:"layers"`
	Columns    []ColumnDescription `json:"columns"`
	Options    map[string]string   `json:"options"`
	UserData   map[string][]byte   `json:"user_data,omitempty"`
	Stats      *rowgroup.Stats     `json:"-"`
}

// Layers says where the bytes of a file went, before outer compression. The
// layers sum to the size of the file.
type Layers struct {
	Payload     int64 `json:"payload"`      // values and keys
	RowMetadata int64 `json:"row_metadata"` // values of metadata
	CodecParams int64 `json:"codec_params"` // parameters of blocks
	Templates   int64 `json:"templates"`
	Headers     int64 `json:"headers"` // of items, outer chunks and the file
	Index       int64 `json:"index"`
	Statistics  int64 `json:"statistics"`
	Filter      int64 `json:"filter"`
	Checksums   int64 `json:"checksums"`
	Footer      int64 `json:"footer"`       // schema, options, chunk lengths, totals, user data, trailer
	OuterSaving int64 `json:"outer_saving"` // negative: so much the outer compression saves
}

// Overhead is what is neither payload nor row metadata, before outer
// compression.
func (l *Layers) Overhead() int64 {
	return l.CodecParams + l.Templates + l.Headers + l.Index + l.Statistics + l.Filter + l.Checksums + l.Footer
}

// ColumnDescription says what one column, or one kind of metadata, takes. The
// Bytes of all sum to payload, row metadata and codec parameters. Those of the
// partition key columns are in $key.
type ColumnDescription struct {
	Name      string           `json:"name"` // of metadata with a leading $: $write_time, $ttl, …
	Type      string           `json:"type,omitempty"`
	Role      string           `json:"role"` // partition_key, clustering, static, regular or metadata
	Desc      bool             `json:"desc,omitempty"`
	Bytes     int64            `json:"bytes"`
	Payload   int64            `json:"payload"`
	Metadata  int64            `json:"metadata"`
	Params    int64            `json:"params"`
	Encodings map[string]int64 `json:"encodings"`      // chunks by encoding
	Zstd      int64            `json:"zstd,omitempty"` // chunks kept compressed
}

// Describe reads the headers and parameters of the whole file.
func (r *Reader) Describe(ctx context.Context) (*Description, error) {
	t := r.foot.totals
	d := &Description{
		Version: r.version, Rows: r.Rows(), Markers: r.foot.stats.Markers, Bytes: r.file.size,
		Partitions: t.partitions, RowGroups: t.groups, Blocks: t.blocks, Segments: t.segments,
		Templates: int64(len(r.templates)), Order: r.foot.schema.Order(), Multiset: r.foot.schema.Multiset(),
		Options: r.Options(), Stats: r.foot.stats,
	}
	for _, p := range r.foot.user {
		if d.UserData == nil {
			d.UserData = map[string][]byte{}
		}
		d.UserData[p.name] = p.value
	}
	var sizes rowgroup.Sizes
	if err := r.measure(ctx, &d.Layers, &sizes); err != nil {
		return nil, err
	}
	d.Columns = describeColumns(r.foot.schema, &sizes)
	for _, c := range d.Columns {
		d.Layers.Payload += c.Payload
		d.Layers.RowMetadata += c.Metadata
		d.Layers.CodecParams += c.Params
	}
	r.measureFooter(&d.Layers)
	return d, nil
}

// measure adds up the items of the stream.
func (r *Reader) measure(ctx context.Context, l *Layers, sizes *rowgroup.Sizes) (err error) {
	f := &r.file
	if f.mapped {
		defer rawfile.Catch(rawfile.Guard(), &err)
	}
	s, err := r.scratch(ctx)
	if err != nil {
		return err
	}
	defer r.release(s)
	if err := r.checkHeader(ctx); err != nil {
		return err
	}
	for off := int64(0); off < f.streamLen; {
		if err := r.check(ctx); err != nil {
			return err
		}
		h, err := s.win.header(off, scanAhead)
		switch {
		case err != nil:
		case h.kind == kindData:
			var body []byte
			if body, err = s.win.body(off, &h, scanAhead); err != nil {
				break
			}
			if _, err = s.open(r, &h, body); err == nil {
				s.dec.AddTo(sizes)
			}
		default:
			err = s.win.verify(off, &h)
		}
		if err != nil {
			return f.at(err, itemName(h.kind), off)
		}
		l.Headers += int64(h.size)
		l.Checksums += int64(f.crc())
		switch h.kind {
		case kindSchema:
			l.Footer += int64(h.body)
		case kindTemplate:
			l.Templates += int64(h.body)
		case kindIndex:
			l.Index += int64(h.body)
		case kindFilter:
			l.Filter += int64(h.body)
		case kindStats:
			l.Statistics += int64(h.body)
		}
		off += h.length(f.crc())
	}
	return nil
}

// measureFooter adds up what is not in the stream.
func (r *Reader) measureFooter(l *Layers) {
	f, foot := &r.file, r.foot
	l.Headers += fileHeaderLen - crcBytes
	l.Footer += trailerLen - 2*crcBytes
	l.Checksums += 3 * crcBytes
	for section, n := range foot.sections {
		switch section {
		case secTemplates:
			l.Templates += int64(n)
		case secIndex:
			l.Index += int64(n)
		case secFilter:
			l.Filter += int64(n)
		case secStatistics:
			l.Statistics += int64(n)
		default:
			l.Footer += int64(n)
		}
	}
	l.Footer += foot.unknown
	if f.chunk == 0 {
		return
	}
	chunks := int64(len(foot.stored))
	l.Headers += chunks * chunkHeader
	l.Checksums += chunks * crcBytes
	for _, n := range foot.stored {
		l.OuterSaving += n
	}
	l.OuterSaving -= foot.streamLen
}

// describeColumns lists the columns, each with the stream of its values, then
// every other stream: keys and metadata. Names may repeat: a column can be
// called as metadata are.
func describeColumns(s *rowgroup.Schema, sizes *rowgroup.Sizes) []ColumnDescription {
	out := make([]ColumnDescription, s.NumColumns())
	for i := range out {
		c := s.Column(i)
		out[i] = ColumnDescription{
			Name: c.Name, Type: c.Type.String(), Role: s.Role(i).String(), Desc: c.Desc, Encodings: map[string]int64{},
		}
	}
	for i := range sizes.Streams {
		st := &sizes.Streams[i]
		if st.Payload+st.Metadata+st.Params == 0 && st.Encodings == [16]int64{} {
			continue
		}
		at := st.Column
		if !st.Values {
			at = len(out)
			c := ColumnDescription{Name: st.Name, Role: "metadata", Encodings: map[string]int64{}}
			if st.Column < 0 && st.Payload > 0 {
				c.Role = rowgroup.PartitionKey.String()
			}
			out = append(out, c)
		}
		c := &out[at]
		c.Payload, c.Metadata, c.Params, c.Zstd = st.Payload, st.Metadata, st.Params, st.Zstd
		for id, n := range st.Encodings {
			if n > 0 {
				c.Encodings[encoding.ID(id).String()] = n
			}
		}
	}
	if sizes.BlockParams > 0 {
		out = append(out, ColumnDescription{Name: "$params", Role: "metadata", Params: sizes.BlockParams, Encodings: map[string]int64{}})
	}
	for i := range out {
		out[i].Bytes = out[i].Payload + out[i].Metadata + out[i].Params
	}
	return out
}
