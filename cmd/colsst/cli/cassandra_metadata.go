package cli

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cassandra"
)

func newCassandraMetadata() *cobra.Command {
	var out outFlags
	t := command("metadata FILE... [flags]", "Show what Statistics.db and its like say of SSTables",
		`Metadata shows version, partitioner, compression, header and statistics of an
SSTable, as its components have them, without reading its rows. describe of an
SSTable shows the same.`,
		arguments{1, -1, "at least one FILE"}, func(t *tool, args []string) error {
			if err := oneOf("format", out.format, "table", "json"); err != nil {
				return err
			}
			return t.eachFileOf(args, isSSTableFormat, &out, func(path string, w *bufio.Writer) error {
				x, err := t.openSSTable(path)
				if err != nil {
					return err
				}
				defer func() { _ = x.SSTable().Close() }() // only read
				return t.metadata(w, x, out.format)
			})
		})
	t.namesFlag()
	out.report(t, "table", "json")
	return t.cmd
}

// metadata is what metadata prints of an SSTable. Times are as stored:
// timestamps in µs, deletion times in s; null where there is none.
type metadata struct {
	File                 string                 `json:"file"`
	Version              string                 `json:"version"`
	Format               string                 `json:"format"`
	Components           []cassandra.Component  `json:"components"`
	Partitioner          string                 `json:"partitioner"`
	Order                string                 `json:"order"`
	Bytes                int64                  `json:"bytes"`      // of Data.db
	BodyBytes            int64                  `json:"body_bytes"` // decompressed
	Compression          *cassandra.Compression `json:"compression"`
	Columns              []schemaColumn         `json:"columns"`
	Schema               string                 `json:"schema"`
	UserTypes            string                 `json:"user_types"`
	HeaderMinTimestamp   int64                  `json:"header_min_timestamp"`
	HeaderMinDeletion    int64                  `json:"header_min_local_deletion_time"`
	HeaderMinTTL         int64                  `json:"header_min_ttl"`
	Rows                 int64                  `json:"rows"` // static ones included
	Cells                int64                  `json:"cells"`
	MinTimestamp         int64                  `json:"min_timestamp"`
	MaxTimestamp         int64                  `json:"max_timestamp"`
	MinLocalDeletionTime *int64                 `json:"min_local_deletion_time"`
	MaxLocalDeletionTime *int64                 `json:"max_local_deletion_time"`
	MinTTL               int32                  `json:"min_ttl"`
	MaxTTL               int32                  `json:"max_ttl"`
	Level                int32                  `json:"level"`
	RepairedAt           int64                  `json:"repaired_at"`
	PendingRepair        string                 `json:"pending_repair,omitempty"`
	Transient            bool                   `json:"transient,omitempty"`
	OriginatingHost      string                 `json:"originating_host,omitempty"`
	Tombstones           []tombstoneBin         `json:"tombstones"` // by drop time
	Warnings             []string               `json:"warnings,omitempty"`
}

type tombstoneBin struct {
	At    float64 `json:"at"` // s
	Count int64   `json:"count"`
}

func metadataOf(x *sstable) *metadata {
	s := x.SSTable()
	m := &metadata{
		File: s.Path(cassandra.ComponentData), Version: string(s.Version), Format: s.Version.Format(), Components: s.Files,
		Order: s.Order(), Bytes: s.Data.Size, BodyBytes: s.Data.Len(), Schema: x.found.how, UserTypes: s.UserTypes.String(),
		HeaderMinTimestamp: s.Header.MinTimestamp, HeaderMinDeletion: s.Header.MinLocalDeletionTime, HeaderMinTTL: s.Header.MinTTL,
		Tombstones: []tombstoneBin{}, Warnings: s.Warnings,
	}
	if v := s.Statistics.Validation; v != nil {
		m.Partitioner = v.Partitioner
	}
	m.Compression = cassandra.CompressionOf(s)
	schema := x.Schema()
	for i := range schema.NumColumns() {
		c := schema.Column(i)
		m.Columns = append(m.Columns, schemaColumn{c.Name, c.Type.String(), schema.Role(i).String(), c.Desc, c.Type.Marshal()})
	}
	st := s.Statistics.Stats
	if st == nil {
		return m
	}
	known := func(t int64) *int64 {
		if t == s.Version.NoDeletionTime() {
			return nil
		}
		return &t
	}
	m.Rows, m.Cells, m.MinTimestamp, m.MaxTimestamp, m.MinTTL, m.MaxTTL = st.TotalRows, st.TotalColumnsSet, st.MinTimestamp, st.MaxTimestamp, st.MinTTL, st.MaxTTL
	m.MinLocalDeletionTime, m.MaxLocalDeletionTime = known(st.MinLocalDeletionTime), known(st.MaxLocalDeletionTime)
	m.Level, m.RepairedAt, m.Transient = st.Level, st.RepairedAt, st.Transient
	m.PendingRepair, m.OriginatingHost = hex.EncodeToString(st.PendingRepair), hex.EncodeToString(st.OriginatingHost)
	for _, b := range st.Tombstones {
		m.Tombstones = append(m.Tombstones, tombstoneBin{b.Point, b.Count})
	}
	return m
}

func (t *tool) metadata(w *bufio.Writer, x *sstable, format string) error {
	m := metadataOf(x)
	t.sum.Rows += m.Rows
	if format == "json" {
		return printJSON(w, m)
	}
	g := grid{align: "lll", indent: "  "}
	g.add("version", m.Version+" ("+m.Format+")", "")
	g.add("partitioner", visible(m.Partitioner), "")
	g.add("compression", visible(compressionText(m.Compression)), "")
	g.add("bytes", humanize.Comma(m.Bytes), "of "+humanize.Comma(m.BodyBytes))
	g.add("rows", humanize.Comma(m.Rows), "static ones included")
	g.add("cells", humanize.Comma(m.Cells), "")
	g.add("timestamps", strconv.FormatInt(m.MinTimestamp, 10), "to "+strconv.FormatInt(m.MaxTimestamp, 10))
	g.add("deletion times", deletionText(m.MinLocalDeletionTime), "to "+deletionText(m.MaxLocalDeletionTime))
	g.add("TTLs", strconv.Itoa(int(m.MinTTL)), "to "+strconv.Itoa(int(m.MaxTTL)))
	g.add("level", strconv.Itoa(int(m.Level)), "")
	g.add("repaired at", strconv.FormatInt(m.RepairedAt, 10), "")
	if m.OriginatingHost != "" {
		g.add("host", m.OriginatingHost, "")
	}
	g.add("names from", visible(m.Schema), "")
	g.add("user types", m.UserTypes, "")
	columns := grid{align: "lll", indent: "  "}
	columns.add("column", "type", "role")
	for _, c := range m.Columns {
		role := c.Role
		if c.Desc {
			role += " desc"
		}
		columns.add(visible(c.Name), visible(c.Type), role)
	}
	if _, err := fmt.Fprintln(w, printable(m.File)); err != nil {
		return err
	}
	for _, g := range []*grid{&g, &columns} {
		if err := g.print(w); err != nil {
			return err
		}
		if err := w.WriteByte('\n'); err != nil {
			return err
		}
	}
	return nil
}

func compressionText(c *cassandra.Compression) string {
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s, chunks of %s", c.Class, humanize.IBytes(uint64(c.ChunkLength)))
}

func deletionText(t *int64) string {
	if t == nil {
		return "none"
	}
	return strconv.FormatInt(*t, 10) + " (" + time.Unix(*t, 0).UTC().Format(time.RFC3339) + ")"
}

// describeProvenance prints which SSTable rows come from.
func describeProvenance(w *bufio.Writer, p *cassandra.Provenance) error {
	g := grid{align: "ll", indent: "  "}
	g.add("from SSTable", visible(p.Source))
	if p.Table != "" {
		g.add("table", visible(strings.TrimPrefix(p.Keyspace+"."+p.Table, ".")+" "+p.TableID))
	}
	g.add("version", string(p.Version)+" ("+p.Format+")")
	g.add("partitioner", visible(p.Partitioner))
	g.add("compression", visible(compressionText(p.Compression)))
	g.add("bytes", humanize.Comma(p.Bytes)+" of "+humanize.Comma(p.BodyBytes))
	g.add("SHA-256", visible(p.SHA256))
	g.add("names from", visible(p.Schema))
	g.add("user types", p.UserTypes.String())
	if p.LeftOut > 0 {
		g.add("left out", plural(p.LeftOut, "damaged partition"))
	}
	for _, n := range p.Notes {
		g.add("note", visible(n))
	}
	if err := g.print(w); err != nil {
		return err
	}
	return w.WriteByte('\n')
}
