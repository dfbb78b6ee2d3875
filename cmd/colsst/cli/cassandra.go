package cli

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/colsst/colsst/cassandra"
	"github.com/colsst/colsst/rowgroup"
)

func newCassandra() *cobra.Command {
	c := &cobra.Command{
		Use: "cassandra", Short: "Look at SSTables of Apache Cassandra",
		Long: `SSTables of Cassandra 3.0 to 5.0 (versions ma to me, na to nc, oa and da) are
inputs of convert, query, dump, verify, describe, stats and diff: give the path
of a Data.db, or a folder. The commands below show what only SSTables have.`,
		SilenceUsage: true, SilenceErrors: true, DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q for %q; see %s --help", args[0], c.CommandPath(), c.CommandPath())
			}
			return c.Help()
		},
	}
	c.AddCommand(newCassandraList(), newCassandraSchema(), newCassandraMetadata(), newCassandraReport(), newCassandraBody())
	return c
}

// isSSTableFormat is what commands for SSTables alone take of folders.
func isSSTableFormat(format string) bool { return format == formatSSTable }

// listed is an SSTable, or what is left out, in the output of ls.
type listed struct {
	Path     string `json:"path"`
	Keyspace string `json:"keyspace,omitempty"`
	Table    string `json:"table,omitempty"`
	TableID  string `json:"table_id,omitempty"`
	Version  string `json:"version,omitempty"`
	Bytes    int64  `json:"bytes,omitempty"` // of Data.db
	Rows     int64  `json:"rows,omitempty"`  // by Statistics.db, static rows included
	LeftOut  string `json:"left_out,omitempty"`
	Error    string `json:"error,omitempty"`
}

func newCassandraList() *cobra.Command {
	var out outFlags
	var c convert // for its choice
	t := command("ls FOLDER... [flags]", "List the SSTables of folders",
		`Ls lists the live SSTables of the tables below folders, which form one set, and
what is left out, with the reason: replaced by a transaction or made by one that
did not end, snapshots, backups, secondary indexes, system tables, and what is
there twice. With --format json each is an object on a line.`,
		arguments{1, -1, "at least one FOLDER"}, func(t *tool, args []string) error {
			if err := oneOf("format", out.format, "table", "json"); err != nil {
				return err
			}
			if err := c.checkInclude(); err != nil {
				return err
			}
			return t.report(&out, func(w *bufio.Writer) error { return t.list(w, args, c.list, out.format) })
		})
	c.tool = t
	c.listFlags()
	out.report(t, "table", "json")
	return t.cmd
}

// listFlags adds the choice of SSTables of folders.
func (c *convert) listFlags() {
	f := c.cmd.Flags()
	f.StringVar(&c.list.Snapshot, "snapshot", "", "SSTables: those of this snapshot, in place of the live ones")
	f.StringSliceVar(&c.include, "include", nil, "SSTables that are left out of folders: snapshots, backups, index, system")
}

func (t *tool) list(w *bufio.Writer, args []string, o cassandra.ListOptions, format string) error {
	paths, skipped, err := expandListed(args, isSSTableFormat, o)
	if err != nil {
		return err
	}
	var all []listed
	for _, path := range paths {
		x := listed{Path: path}
		if dir, err := filepath.Abs(filepath.Dir(path)); err == nil {
			p, _ := cassandra.ParseTablePath(dir)
			x.Keyspace, x.Table, x.TableID = p.Keyspace, p.Table, p.ID
		}
		s, err := cassandra.Open(path)
		if err != nil {
			x.Error = err.Error()
		} else {
			x.Version, x.Bytes = string(s.Version), s.Data.Size
			if st := s.Statistics.Stats; st != nil {
				x.Rows = st.TotalRows
			}
			_ = s.Close() // only read
		}
		all = append(all, x)
		t.sum.Inputs++
	}
	for _, s := range skipped {
		all = append(all, listed{Path: s.Path, LeftOut: s.Reason})
	}
	if format == "json" {
		for i := range all {
			if err := printLine(w, &all[i]); err != nil {
				return err
			}
		}
		return nil
	}
	g := grid{align: "lllrr", indent: ""}
	for i := range all {
		x := &all[i]
		switch {
		case x.LeftOut != "":
			g.add(visible(x.Path), "left out: "+visible(x.LeftOut), "", "", "")
		case x.Error != "":
			g.add(visible(x.Path), "error: "+visible(x.Error), "", "", "")
		default:
			g.add(visible(x.Path), x.Version, visible(strings.TrimPrefix(x.Keyspace+"."+x.Table, ".")), humanize.Comma(x.Bytes), humanize.Comma(x.Rows))
		}
	}
	return g.print(w)
}

func newCassandraSchema() *cobra.Command {
	var out outFlags
	asCQL := false
	t := command("schema FILE... [flags]", "Show the columns of SSTables",
		`Schema shows the columns that an SSTable's header has, with the names of the
key's columns where a schema is known. --cql prints a CREATE TABLE of them: not
that of the table, which may have columns without a value in this SSTable.`,
		arguments{1, -1, "at least one FILE"}, func(t *tool, args []string) error {
			if err := oneOf("format", out.format, "table", "json"); err != nil {
				return err
			}
			return t.eachFileOf(args, isSSTableFormat, &out, func(path string, w *bufio.Writer) error {
				return t.sstableSchema(w, path, asCQL, out.format)
			})
		})
	t.cmd.Flags().BoolVar(&asCQL, "cql", false, "as CREATE TYPE and CREATE TABLE")
	t.namesFlag()
	out.report(t, "table", "json")
	return t.cmd
}

// schemaColumn is a column in the output of cassandra schema.
type schemaColumn struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Role    string `json:"role"`
	Desc    bool   `json:"desc,omitempty"`
	Marshal string `json:"marshal"`
}

func (t *tool) sstableSchema(w *bufio.Writer, path string, asCQL bool, format string) error {
	x, err := t.openSSTable(path)
	if err != nil {
		return err
	}
	defer func() { _ = x.SSTable().Close() }() // only read
	s := x.Schema()
	if asCQL {
		keyspace, name := "ks", "t"
		if f := x.found.table; f != nil {
			keyspace, name = f.Keyspace, f.Name
		} else if dir, err := filepath.Abs(filepath.Dir(path)); err == nil {
			if p, ok := cassandra.ParseTablePath(dir); ok {
				keyspace, name = p.Keyspace, p.Table
			}
		}
		_, err := w.WriteString(createTable(keyspace, name, s))
		return err
	}
	var columns []schemaColumn
	for i := range s.NumColumns() {
		c := s.Column(i)
		columns = append(columns, schemaColumn{c.Name, c.Type.String(), s.Role(i).String(), c.Desc, c.Type.Marshal()})
	}
	if format == "json" {
		return printJSON(w, struct {
			File    string         `json:"file"`
			Schema  string         `json:"schema"`
			Order   string         `json:"order"`
			Columns []schemaColumn `json:"columns"`
		}{path, x.found.how, s.Order(), columns})
	}
	if _, err := fmt.Fprintf(w, "%s\n  names from %s; order of partitions %s\n", printable(path), printable(x.found.how), printable(s.Order())); err != nil {
		return err
	}
	g := grid{align: "lll", indent: "  "}
	for _, c := range columns {
		role := c.Role
		if c.Desc {
			role += " desc"
		}
		g.add(visible(c.Name), visible(c.Type), role)
	}
	return g.print(w)
}

// cqlName is a name as CQL writes it.
func cqlName(name string) string {
	for i, c := range []byte(name) {
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	if name == "" {
		return `""`
	}
	return name
}

// createTable is a table in CQL, after the user types that it has.
func createTable(keyspace, name string, s *rowgroup.Schema) string {
	var b, types strings.Builder
	seen := map[string]bool{}
	fmt.Fprintf(&b, "CREATE TABLE %s.%s (\n", cqlName(keyspace), cqlName(name))
	for i := range s.NumColumns() {
		c := s.Column(i)
		fmt.Fprintf(&b, "    %s %s", cqlName(c.Name), cqlType(&types, seen, c.Type, keyspace))
		if s.Role(i) == rowgroup.Static {
			b.WriteString(" static")
		}
		b.WriteString(",\n")
	}
	list := func(cols []rowgroup.Column) string {
		var names []string
		for _, c := range cols {
			names = append(names, cqlName(c.Name))
		}
		return strings.Join(names, ", ")
	}
	key, clustering := s.Columns(rowgroup.PartitionKey), s.Columns(rowgroup.Clustering)
	b.WriteString("    PRIMARY KEY (")
	if len(key) == 1 {
		b.WriteString(list(key))
	} else {
		b.WriteString("(" + list(key) + ")")
	}
	if len(clustering) > 0 {
		b.WriteString(", " + list(clustering))
	}
	b.WriteString(")\n)")
	var order []string
	desc := false
	for _, c := range clustering {
		direction := " ASC"
		if c.Desc {
			direction, desc = " DESC", true
		}
		order = append(order, cqlName(c.Name)+direction)
	}
	if desc {
		b.WriteString(" WITH CLUSTERING ORDER BY (" + strings.Join(order, ", ") + ")")
	}
	b.WriteString(";\n")
	return types.String() + b.String()
}

// cqlType is a type in CQL. User types that it has are written to types first.
func cqlType(types *strings.Builder, seen map[string]bool, t rowgroup.Type, keyspace string) string {
	args := func() string {
		var list []string
		for _, a := range t.Args {
			list = append(list, cqlType(types, seen, a, keyspace))
		}
		return strings.Join(list, ", ")
	}
	switch t.Kind {
	case rowgroup.KindTimestamp:
		return "timestamp"
	case rowgroup.KindList, rowgroup.KindSet, rowgroup.KindMap, rowgroup.KindTuple, rowgroup.KindFrozen:
		return t.Kind.String() + "<" + args() + ">"
	case rowgroup.KindVector:
		return fmt.Sprintf("vector<%s, %d>", args(), t.Length)
	case rowgroup.KindUDT:
		if !seen[t.Name] {
			seen[t.Name] = true
			var fields []string
			for i, a := range t.Args {
				fields = append(fields, "\n    "+cqlName(t.Fields[i])+" "+cqlType(types, seen, a, keyspace))
			}
			fmt.Fprintf(types, "CREATE TYPE %s.%s (%s\n);\n", cqlName(keyspace), cqlName(t.Name), strings.Join(fields, ","))
		}
		return cqlName(t.Name)
	case rowgroup.KindOldDate, rowgroup.KindLexicalUUID, rowgroup.KindEmpty, rowgroup.KindOpaque, rowgroup.KindComposite, rowgroup.KindReversed:
		return "'" + strings.ReplaceAll(t.Marshal(), "'", "''") + "'"
	}
	return t.String()
}

func newCassandraBody() *cobra.Command {
	var out outFlags
	t := command("body FILE -o BODY [flags]", "Write the body of the SSTable that a table file came from",
		`Body writes what Data.db of the SSTable had in it before compression, from a table
file alone: its rows, and the header that convert kept. It proves that nothing
was lost.`,
		arguments{1, 1, "one table file"}, func(t *tool, args []string) error {
			in, err := t.openInput(args[0], formatTable)
			if err != nil {
				return err
			}
			defer in.close()
			r, err := in.table()
			if err != nil {
				return err
			}
			p, ok, err := cassandra.ReadProvenance(r.UserData)
			if err != nil {
				return orElse(exitData, named(in.name, err))
			}
			if !ok {
				return coded(exitData, fmt.Errorf("%s: does not come from an SSTable", in.name))
			}
			if p.LeftOut > 0 {
				t.warnf("%s: lacks %s, which convert left out", in.name, plural(p.LeftOut, "damaged partition"))
			}
			if err := checkOutputs(args, out.path); err != nil {
				return err
			}
			t.sum.Inputs, t.sum.Rows = 1, r.Rows()
			return t.report(&out, func(w *bufio.Writer) error { return orElse(exitData, named(in.name, p.WriteBody(t.ctx(), w, r))) })
		})
	t.cmd.Flags().StringVarP(&out.path, "output", "o", "", "output file, or - for stdout")
	t.cmd.Flags().BoolVarP(&out.force, "force", "f", false, "replace an existing output file")
	return t.cmd
}
