package textfmt

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/colsst/colsst/rowgroup"
)

// TimeSpec names the time column of a table: a clustering column.
type TimeSpec struct {
	Column  string
	Desc    bool          // newest first
	Unit    rowgroup.Unit // where UnitSet
	UnitSet bool          // else the unit is inferred; integers need it
}

// ParseTimeSpec reads name[:desc][:s|ms|us|ns], parts after the name in any
// order. The name itself may hold colons.
func ParseTimeSpec(s string) (TimeSpec, error) {
	t := TimeSpec{Column: s}
	for {
		i := strings.LastIndexByte(t.Column, ':')
		if i < 0 {
			break
		}
		part := t.Column[i+1:]
		if part == "desc" && !t.Desc {
			t.Desc = true
		} else if unit, ok := parseUnit(part); ok && !t.UnitSet {
			t.Unit, t.UnitSet = unit, true
		} else {
			break
		}
		t.Column = t.Column[:i]
	}
	if t.Column == "" {
		return t, fmt.Errorf("time column %q: expected name[:desc][:s|ms|us|ns]", s)
	}
	return t, nil
}

func parseUnit(s string) (rowgroup.Unit, bool) {
	for u := rowgroup.Seconds; u <= rowgroup.Nanos; u++ {
		if s == u.String() {
			return u, true
		}
	}
	return 0, false
}

// ClusteringSpec names a clustering column.
type ClusteringSpec struct {
	Column string
	Desc   bool
}

// ParseClusteringSpec reads name[:desc].
func ParseClusteringSpec(s string) (ClusteringSpec, error) {
	name, desc := strings.CutSuffix(s, ":desc")
	if name == "" {
		return ClusteringSpec{}, fmt.Errorf("clustering column %q: expected name[:desc]", s)
	}
	return ClusteringSpec{Column: name, Desc: desc}, nil
}

// TableOptions say what the columns of a text are in a table.
type TableOptions struct {
	// Types gives columns their types by name; those of others are inferred.
	Types map[string]rowgroup.Type
	// Time names the time column. It is the last clustering column, unless
	// Clustering names it at another place.
	Time *TimeSpec
	// PartitionKey names the columns of the partition key; none: the table is
	// one partition.
	PartitionKey []string
	// Clustering names the clustering columns.
	Clustering []ClusteringSpec
	// Schema, where it is given, is the schema to read with, in place of all
	// of the above. Its columns are found by name, and each must be there.
	Schema *rowgroup.Schema
	// WriteTime, TTL and Expiry name the columns, if there are any, of the
	// rows' write times (µs since 1970), TTLs (s; null or 0: none) and expiries
	// (s since 1970; without one: the write time and the TTL).
	WriteTime, TTL, Expiry string
	// Layouts gives columns of times the form of their texts by name; without
	// one they are as in the package comment.
	Layouts map[string]*Layout
	// TZ is the zone of times that name none; nil is UTC.
	TZ *time.Location
	// ShiftSkipped lets times that a change of clocks skips in TZ count on from
	// those before it: 02:30 is an hour after 01:30. Without it they are errors.
	ShiftSkipped bool
	// NullClustering lets rows have nulls in their clustering columns, for
	// LiftStatic.
	NullClustering bool
	// Unique makes a table in which no two rows have the same key; else equal
	// rows stand in the order in which they came.
	Unique bool
	// NoDuplicates makes a row with the key of the row before it a
	// DuplicateError that names both lines. Rows of any order are for Distinct to
	// check.
	NoDuplicates bool
	// OnError, where it is given, is called with what is wrong with a row of the
	// text, and says whether to go on behind that row. A record that cannot be
	// cut into fields ends with its line then.
	OnError func(*SyntaxError) bool
	// Jobs is how many goroutines parse, 0 or 1 for none but the caller's. The
	// rows, their order and errors are the same with any number. OnError and
	// formats whose lines depend on those before them make it 1.
	Jobs int
	// AnyOrder lets the rows come in any order, for Sort. Without it a row
	// that comes before one that it should follow is an OrderError.
	AnyOrder bool
}

// destination is where the cells of a column go.
type destination uint8

const (
	toValue destination = iota // a clustering or regular column
	toKey                      // a component of the partition key
	toWriteTime
	toTTL
	toExpiry
)

// column is one column of the text.
type column struct {
	name     string
	typ      rowgroup.Type
	class    rowgroup.Class
	to       destination
	at       int  // column of the schema; component of the key
	required bool // null is an error
	spared   bool // but not to the reader: the row may stand for a static row
	text     bool // "" is a value
	units    bool // timestamps may be integers
	given    bool // the type was given
	layout   *Layout
	// Texts of integers that are no others: between these bounds.
	plain       bool
	least, most int64
}

// table is the layout that the options give to the columns of a text.
type table struct {
	schema  *rowgroup.Schema
	columns []column // in the text's order
	choices []Choice
}

// source are the names of the schema's columns in the text's order.
func (t *table) source() []string {
	var names []string
	for i := range t.columns {
		if c := &t.columns[i]; c.to == toValue || c.to == toKey {
			names = append(names, c.name)
		}
	}
	return names
}

// given is the type that the options give to the named column.
func (o *TableOptions) given(name string) (t rowgroup.Type, ok bool) {
	switch name {
	case "":
		return t, false
	case o.WriteTime:
		return rowgroup.Timestamp(rowgroup.Micros), true
	case o.TTL:
		return rowgroup.Int, true
	case o.Expiry:
		return rowgroup.Timestamp(rowgroup.Seconds), true
	}
	if o.Schema != nil {
		i := o.Schema.Lookup(name)
		if i < 0 {
			return t, false
		}
		return o.Schema.Column(i).Type, true
	}
	if t, ok = o.Types[name]; ok {
		return t, true
	}
	if o.Time != nil && o.Time.Column == name && o.Time.UnitSet {
		return rowgroup.Timestamp(o.Time.Unit), true
	}
	return t, false
}

func (o *TableOptions) zone() wallZone { return wallZone{o.TZ, o.ShiftSkipped} }

// check finds names in the options that are no columns of the text. Columns
// with the names that writers give to row metadata are that, unless the
// options say otherwise.
func (o *TableOptions) check(names []string) error {
	if o.WriteTime == "" && o.TTL == "" && o.Expiry == "" && !o.uses(metadataNames[:]) {
		for i, column := range []*string{&o.WriteTime, &o.TTL, &o.Expiry} {
			if slices.Contains(names, metadataNames[i]) {
				*column = metadataNames[i]
			}
		}
	}
	find := func(option, name string) error {
		if name == "" || slices.Contains(names, name) {
			return nil
		}
		err := fmt.Errorf("%s: there is no column %q; there are %s", option, name, list(names))
		if i := strings.LastIndexByte(name, ':'); i > 0 && slices.Contains(names, name[:i]) {
			err = fmt.Errorf("%s: %q is unknown: expected desc or a unit, s, ms, us or ns, after the column %q", option, name[i+1:], name[:i])
		}
		return err
	}
	errs := []error{find("--write-time", o.WriteTime), find("--ttl", o.TTL), find("--expiry", o.Expiry)}
	if o.Expiry != "" && o.TTL == "" {
		errs = append(errs, errors.New("--expiry needs --ttl"))
	}
	if o.TTL != "" && o.Expiry == "" && o.WriteTime == "" {
		errs = append(errs, errors.New("--ttl needs --expiry or --write-time"))
	}
	for _, name := range sortedKeys(o.Layouts) {
		errs = append(errs, find("--layout", name))
	}
	if s := o.Schema; s != nil {
		return errors.Join(append(errs, findAll(s, names))...)
	}
	for _, name := range sortedKeys(o.Types) {
		errs = append(errs, find("--type", name))
	}
	for _, name := range o.PartitionKey {
		errs = append(errs, find("--partition-key", name))
	}
	for _, c := range o.Clustering {
		errs = append(errs, find("--clustering", c.Column))
	}
	if o.Time != nil {
		errs = append(errs, find("--time", o.Time.Column))
	}
	return errors.Join(errs...)
}

// findAll finds columns of a schema that are none of the text.
func findAll(s *rowgroup.Schema, names []string) error {
	var missing []string
	for i := range s.NumColumns() {
		if name := s.Column(i).Name; !slices.Contains(names, name) {
			missing = append(missing, strconv.Quote(name))
		}
	}
	switch len(missing) {
	case 0:
		return nil
	case 1:
		return &SchemaError{Reason: fmt.Sprintf("there is no column %s, which is in the schema; there are %s", missing[0], list(names))}
	}
	return &SchemaError{Reason: fmt.Sprintf("there are no columns %s, which are in the schema; there are %s", list(missing), list(names))}
}

// uses reports whether the options give any of the named columns a part in the
// table.
func (o *TableOptions) uses(names []string) bool {
	for _, name := range names {
		_, typed := o.Types[name]
		if typed || slices.Contains(o.PartitionKey, name) || o.Time != nil && o.Time.Column == name || o.Schema != nil && o.Schema.Lookup(name) >= 0 ||
			slices.ContainsFunc(o.Clustering, func(c ClusteringSpec) bool { return c.Column == name }) {
			return true
		}
	}
	return false
}

// list is names for people, the first of many.
func list(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// sortedKeys are the keys of m in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

// layout makes the table of columns with these types.
func (o *TableOptions) layout(choices []Choice) (*table, error) {
	t := &table{schema: o.Schema, choices: choices}
	for i := range choices {
		if choices[i].Column == "" {
			return nil, fmt.Errorf("column %d has no name", i+1)
		}
	}
	if t.schema == nil {
		if err := o.checkTime(choices); err != nil {
			return nil, err
		}
		s, err := o.newSchema(choices)
		if err != nil {
			return nil, err
		}
		t.schema = s
	}
	for _, name := range []string{o.WriteTime, o.TTL, o.Expiry} {
		if t.schema.Lookup(name) >= 0 {
			return nil, fmt.Errorf("column %q cannot be metadata and a column of the table", name)
		}
	}
	for i := range choices {
		c := column{name: choices[i].Column, typ: bare(choices[i].Type), given: choices[i].Given, layout: choices[i].Layout}
		c.class = c.typ.Physical().Class()
		c.units = c.given
		kind := c.typ.Kind
		if c.layout != nil && kind != rowgroup.KindTimestamp {
			return nil, fmt.Errorf("--layout: column %q is %s, no timestamp", c.name, c.typ)
		}
		c.text = kind == rowgroup.KindText || kind == rowgroup.KindASCII
		if r, ok := ranges[kind]; ok {
			c.plain, c.least, c.most = true, r[0], r[1]
		} else if kind == rowgroup.KindTimestamp && c.layout == nil && c.units {
			c.plain, c.least, c.most = true, math.MinInt64, math.MaxInt64
		}
		switch c.name {
		case o.WriteTime:
			c.to, c.required = toWriteTime, true
		case o.TTL:
			c.to = toTTL
		case o.Expiry:
			c.to = toExpiry
		default:
			c.at = t.schema.Lookup(c.name)
			if c.at < 0 {
				return nil, &SchemaError{Reason: fmt.Sprintf("column %q is not in the schema", c.name)}
			}
			if typ := t.schema.Column(c.at).Type; typ.MultiCell() {
				return nil, &SchemaError{Reason: fmt.Sprintf("column %q is of type %s, of which a row has many cells; one from text is frozen", c.name, typ)}
			}
			switch t.schema.Role(c.at) {
			case rowgroup.PartitionKey:
				c.to, c.required = toKey, true
			case rowgroup.Clustering:
				c.required, c.spared = true, o.NullClustering
			case rowgroup.Static:
				return nil, fmt.Errorf("column %q: rows are read with RowSchema, which has no static columns", c.name)
			}
		}
		t.columns = append(t.columns, c)
	}
	return t, nil
}

// bare is t without what only says that it is frozen or reversed.
func bare(t rowgroup.Type) rowgroup.Type {
	for (t.Kind == rowgroup.KindFrozen || t.Kind == rowgroup.KindReversed) && len(t.Args) == 1 {
		t = t.Args[0]
	}
	return t
}

// checkTime refuses a time column that was inferred and is no time.
func (o *TableOptions) checkTime(choices []Choice) error {
	for i := range choices {
		c := &choices[i]
		if o.Time == nil || c.Column != o.Time.Column || c.Given {
			continue
		}
		switch c.Type.Kind {
		case rowgroup.KindTimestamp:
		case rowgroup.KindBigint:
			return fmt.Errorf("time column %q holds integers: give their unit, --time %s:s, :ms, :us or :ns", c.Column, c.Column)
		case rowgroup.KindDouble:
			return fmt.Errorf("time column %q holds numbers: for decimal seconds give --layout %s", c.Column, FlagValue(c.Column, "unix"))
		default:
			err := fmt.Errorf("time column %q is %s (%s): expected times like 2006-01-02T15:04:05Z, integers with their unit, or another form with --layout", c.Column, c.Type, c.Why)
			if c.Note != "" {
				err = fmt.Errorf("%w; %s", err, c.Note)
			}
			return err
		}
	}
	return nil
}

func (o *TableOptions) newSchema(choices []Choice) (*rowgroup.Schema, error) {
	types := map[string]rowgroup.Type{}
	for _, c := range choices {
		types[c.Column] = c.Type
	}
	var key, clustering, regular []rowgroup.Column
	placed := map[string]bool{o.WriteTime: true, o.TTL: true, o.Expiry: true}
	for _, name := range o.PartitionKey {
		key = append(key, rowgroup.Column{Name: name, Type: types[name]})
		placed[name] = true
	}
	for _, c := range o.Clustering {
		desc := c.Desc || o.Time != nil && o.Time.Column == c.Column && o.Time.Desc
		clustering = append(clustering, rowgroup.Column{Name: c.Column, Type: types[c.Column], Desc: desc})
		placed[c.Column] = true
	}
	if o.Time != nil && !slices.ContainsFunc(o.Clustering, func(c ClusteringSpec) bool { return c.Column == o.Time.Column }) {
		clustering = append(clustering, rowgroup.Column{Name: o.Time.Column, Type: types[o.Time.Column], Desc: o.Time.Desc})
		placed[o.Time.Column] = true
	}
	for _, c := range choices {
		if !placed[c.Column] {
			regular = append(regular, rowgroup.Column{Name: c.Column, Type: c.Type})
		}
	}
	var opts []rowgroup.SchemaOption
	if !o.Unique {
		opts = append(opts, rowgroup.WithMultiset())
	}
	return rowgroup.NewSchema(key, clustering, nil, regular, opts...)
}
