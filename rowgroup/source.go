package rowgroup

import (
	"context"
	"errors"
)

// ErrNotFound says that a source has no partition with the key asked for.
// Damage is never reported as ErrNotFound.
var ErrNotFound = errors.New("no such partition")

// ScanOptions say what to read and how. The zero value reads every unfiltered
// as stored, all columns, in stored order.
type ScanOptions struct {
	// Columns are the numbers of the static and regular columns to read; nil
	// means all. The slices of other columns are empty in the batches.
	// Partition keys and clustering columns are always read.
	Columns []int
	// Desc reads the exact reverse: within Range and Latest the last
	// clustering first; within Scan the last partition first as well.
	Desc bool
	// Live asks for the rows as a query at second Now sees them: deletions and
	// expiries applied, no markers, no tombstones. A cell is alive while
	// Now < its expiry.
	Live bool
	Now  int64
	// Within are ranges of values; a row is wanted if its values lie in all of
	// them. Scan and Range may leave out rows that are not, and partitions
	// without another, where statistics tell; they need not, so the caller looks
	// at what comes. Latest takes no notice.
	Within []ValueRange
	// WithoutMetadata leaves Meta and the cells' write times, TTLs and
	// expiries empty in the batches; the cells' states stay.
	WithoutMetadata bool
	// Concurrency is how many goroutines may decode the rows of a Scan in
	// stored order, beside the caller's; 0 and 1 mean none. The batches are the
	// same, in the same order. Such an iterator must be closed, also after an
	// error, unless it has come to its end. A source may use fewer.
	Concurrency int
}

// ValueRange is the values of a clustering or regular column from Min to Max,
// both included, by the order of its type (under reversed and frozen that of
// the type inside; equal is what Type.Collate finds equal), -0.0 before 0.0.
// They are serialised; nil leaves an end open. No null lies in it; NaNs,
// zero-length values and exceptions may.
type ValueRange struct {
	Column   int
	Min, Max []byte
}

// Iter yields batches. It is not safe for concurrent use.
type Iter interface {
	// Next fills b, which must be of the source's schema, with the next rows
	// and reports whether there were any. After false or an error it stays so.
	// What b held before is gone; see Batch for how long b's slices are valid.
	Next(b *Batch) (bool, error)
	// Close frees what the iterator holds; a second call is a no-op.
	Close() error
}

// Bound is one end of a range: a prefix of clustering values, each in its
// serialised bytes (see AppendInt and its like), in stored order: From is the
// end that is stored first. The zero Bound leaves the end open.
type Bound struct {
	Prefix    [][]byte
	Inclusive bool
}

// Partition is one partition of a Source.
type Partition interface {
	// Key is the exact bytes of its key. The caller must not change them.
	Key() []byte
	// Range reads the unfiltereds from one bound to the other, in stored
	// order or, with Desc, its reverse. The deletions that cover the range are
	// part of the raw view as the markers that stand in the range.
	Range(ctx context.Context, from, to Bound, o ScanOptions) Iter
	// Latest reads the n rows of greatest clustering by type order, greatest
	// first. In the live view rows that are not alive do not count.
	Latest(ctx context.Context, n int, o ScanOptions) Iter
}

// Source is anything that yields the rows of one table in order: partitions
// in the schema's order, unfiltereds in clustering order. It is safe for
// concurrent use.
type Source interface {
	// Schema is the table's schema.
	Schema() *Schema
	// Scan reads everything.
	Scan(ctx context.Context, o ScanOptions) Iter
	// Partition finds a partition by its exact key bytes, or fails with
	// ErrNotFound.
	Partition(ctx context.Context, key []byte) (Partition, error)
}

// AggregateOptions say what to add up of which rows.
type AggregateOptions struct {
	Columns []int // clustering and regular columns
	Sums    []int // those of them to form sums of; their types must be numbers
	Live    bool  // as in ScanOptions
	Now     int64
}

// Scan is how the rows that o adds up are read.
func (o *AggregateOptions) Scan(s *Schema) ScanOptions {
	scan := ScanOptions{Columns: []int{}, Live: o.Live, Now: o.Now, WithoutMetadata: true}
	for _, col := range o.Columns {
		if col >= s.from[Static] {
			scan.Columns = append(scan.Columns, col)
		}
	}
	return scan
}

// Aggregating is a Partition that can add up a range without yielding its
// rows, from statistics where they tell.
type Aggregating interface {
	Partition
	// Aggregate adds up the rows from one bound to the other.
	Aggregate(ctx context.Context, from, to Bound, o AggregateOptions) (Aggregates, error)
}
