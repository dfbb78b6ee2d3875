// Package rowgroup owns the rows: their types and order, the schema, batches
// of rows by columns with all their metadata, and the bytes of row groups.
//
// It does no I/O. A Source yields batches; package columnar stores them in a
// file, and other packages translate them from and to foreign formats.
package rowgroup
