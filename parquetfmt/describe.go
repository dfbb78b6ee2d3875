package parquetfmt

import (
	"fmt"

	"github.com/parquet-go/parquet-go/format"

	"github.com/colsst/colsst/parquetfmt/alp"
)

// Description is what a file's footer says of it.
type Description struct {
	Rows      int64               `json:"rows"` // of the Parquet file
	RowGroups int64               `json:"row_groups"`
	Bytes     int64               `json:"bytes"`
	Version   int32               `json:"version"`
	CreatedBy string              `json:"created_by"`
	View      string              `json:"view,omitempty"` // live or lossless, of a file of ours
	Order     string              `json:"order"`
	Multiset  bool                `json:"multiset"`
	Layers    Layers              `json:"layers"`
	Columns   []ColumnDescription `json:"columns"`
	MaxRows   int64               `json:"max_row_group_rows"`
	UserMeta  int                 `json:"key_values"`
	SortedBy  []string            `json:"sorted_by,omitempty"`
}

// Layers are the bytes of a file by what they are.
type Layers struct {
	Pages       int64 `json:"pages"`
	ColumnIndex int64 `json:"column_index"`
	OffsetIndex int64 `json:"offset_index"`
	Filter      int64 `json:"filter"`
	Footer      int64 `json:"footer"`
	Other       int64 `json:"other"`
}

// ColumnDescription is one leaf.
type ColumnDescription struct {
	Name         string           `json:"name"` // its path, with dots
	Parquet      string           `json:"parquet_type"`
	Type         string           `json:"type,omitempty"` // as it is read, of flat columns
	Role         string           `json:"role"`           // or metadata
	Desc         bool             `json:"desc,omitempty"`
	Values       int64            `json:"values"`
	Nulls        int64            `json:"nulls"`
	Bytes        int64            `json:"bytes"`
	Uncompressed int64            `json:"uncompressed_bytes"`
	Pages        int64            `json:"pages"`
	Encodings    map[string]int64 `json:"encodings"` // of data pages
	Compression  map[string]int64 `json:"compression"`
}

// Describe reads nothing: it says what Open has read.
func (f *Reader) Describe() *Description {
	d := &Description{
		Rows: f.meta.NumRows, RowGroups: int64(len(f.meta.RowGroups)), Bytes: f.size, Version: f.meta.Version, CreatedBy: f.meta.CreatedBy,
		Order: f.schema.Order(), Multiset: f.schema.Multiset(), Columns: make([]ColumnDescription, len(f.leaves)), UserMeta: len(f.meta.KeyValueMetadata),
	}
	if f.plan.own {
		d.View, _ = lookup(f.meta.KeyValueMetadata, viewKey)
	}
	top := make([]int, len(f.leaves)) // column number by leaf, or -1
	for i := range top {
		top[i] = -1
	}
	for col, s := range f.plan.columns {
		for i := range s.leaves {
			top[s.leaf+i] = col
		}
	}
	for i, n := range f.leaves {
		c := &d.Columns[i]
		c.Name, c.Parquet, c.Role = n.String(), typeText(n), "metadata"
		c.Encodings, c.Compression = map[string]int64{}, map[string]int64{}
		if col := top[i]; col >= 0 {
			c.Role, c.Desc = f.schema.Role(col).String(), f.schema.Column(col).Desc
			if f.plan.columns[col].flat() {
				c.Type = f.schema.Column(col).Type.String()
			}
		}
	}
	l := &d.Layers
	l.Footer = f.footer + trailerLen
	for g := range f.meta.RowGroups {
		group := &f.meta.RowGroups[g]
		d.MaxRows = max(d.MaxRows, group.NumRows)
		if g == 0 {
			for _, s := range group.SortingColumns {
				if i := int(s.ColumnIdx); i >= 0 && i < len(f.leaves) {
					text := f.leaves[i].String()
					if s.Descending {
						text += " desc"
					}
					d.SortedBy = append(d.SortedBy, text)
				}
			}
		}
		for i := range group.Columns {
			x, m, c := &group.Columns[i], &group.Columns[i].MetaData, &d.Columns[i]
			c.Values += m.NumValues
			c.Nulls += m.Statistics.NullCount
			c.Bytes += m.TotalCompressedSize
			c.Uncompressed += m.TotalUncompressedSize
			c.Compression[m.Codec.String()]++
			for _, e := range m.EncodingStats {
				if e.PageType == format.DataPage || e.PageType == format.DataPageV2 {
					c.Encodings[encodingText(e.Encoding)] += int64(e.Count)
					c.Pages += int64(e.Count)
				}
			}
			if len(m.EncodingStats) == 0 { // which pages have them is not said
				for _, e := range m.Encoding {
					if e != format.RLE || f.leaves[i].typ == format.Boolean {
						c.Encodings[encodingText(e)] += 0
					}
				}
			}
			l.Pages += m.TotalCompressedSize
			l.ColumnIndex += int64(x.ColumnIndexLength)
			l.OffsetIndex += int64(x.OffsetIndexLength)
			l.Filter += int64(m.BloomFilterLength)
		}
	}
	l.Other = d.Bytes - l.Pages - l.ColumnIndex - l.OffsetIndex - l.Filter - l.Footer
	return d
}

func encodingText(e format.Encoding) string {
	if e == alp.Format {
		return "ALP"
	}
	return e.String()
}

// typeText is a leaf's type in Parquet.
func typeText(n *node) string {
	text := n.typ.String()
	if n.typ == format.FixedLenByteArray {
		text = fmt.Sprintf("%s(%d)", text, n.length)
	}
	if n.logical != nil {
		text += " " + n.logical.String()
	}
	return text
}
