package rowdiff

import "github.com/colsst/colsst/rowgroup"

// fields are the names and types of the fields that rows and partition heads
// are encoded as.
type fields struct {
	row, head []field
}

type field struct {
	name  string
	typ   rowgroup.Type
	plain bool // made of words for people
	place bool // of the row's place, which its key tells
}

func words(name string) field   { return field{name, rowgroup.ASCII, true, false} }
func integer(name string) field { return field{name, rowgroup.Bigint, false, false} }

func fieldsOf(s *rowgroup.Schema, metadata bool) *fields {
	f := &fields{}
	for _, c := range s.Columns(rowgroup.Clustering) {
		if manyFormed(c.Type) {
			f.row = append(f.row, field{c.Name, c.Type, false, true})
		}
	}
	rowMeta := func(prefix string) []field {
		return []field{words(prefix + "$liveness"), integer(prefix + "$write_time"), integer(prefix + "$ttl"),
			integer(prefix + "$expiry"), words(prefix + "$deletion")}
	}
	if metadata {
		f.row = append(f.row, words("$marker"))
		f.row = append(f.row, rowMeta("")...)
		f.head = append(f.head, words("$partition_deletion"))
	}
	if len(s.Columns(rowgroup.Static)) > 0 {
		f.head = append(f.head, words("$static"))
		if metadata {
			f.head = append(f.head, rowMeta("$static.")...)
		}
	}
	for i := range s.NumColumns() {
		to := &f.row
		switch s.Role(i) {
		case rowgroup.Static:
			to = &f.head
		case rowgroup.Regular:
		default:
			continue
		}
		c := s.Column(i)
		*to = append(*to, field{c.Name, c.Type, false, false})
		switch {
		case metadata && c.Type.MultiCell():
			*to = append(*to, words(c.Name+".$deletion"), words(c.Name+".$cells"))
		case metadata:
			*to = append(*to, words(c.Name+".$kind"), integer(c.Name+".$write_time"),
				integer(c.Name+".$ttl"), integer(c.Name+".$expiry"))
		}
	}
	return f
}

// difference lists the fields of an encoded row, or those in which two differ.
func (f *fields) difference(kind runKind, what Kind, a, b []byte) []Field {
	list := f.row
	if kind == headRun {
		list = f.head
	}
	var fields []Field
	for _, x := range list {
		var va, vb []byte
		if len(a) > 0 {
			va, a = takeField(a)
		}
		if len(b) > 0 {
			vb, b = takeField(b)
		}
		same := (va == nil) == (vb == nil) && string(va) == string(vb)
		if same && (what == Changed || va == nil) || x.place && what != Changed {
			continue
		}
		fields = append(fields, Field{Column: x.name, A: x.text(va), B: x.text(vb)})
	}
	return fields
}

func (x *field) text(v []byte) *string {
	if v == nil {
		return nil
	}
	var s string
	if x.plain {
		s = string(v)
	} else {
		s = valueText(x.typ, v)
	}
	return &s
}
