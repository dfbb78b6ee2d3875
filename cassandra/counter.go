package cassandra

import "github.com/colsst/colsst/encoding"

// CounterShard is one node's part of a counter.
type CounterShard struct {
	ID    [16]byte
	Clock int64
	Count int64
	Kind  ShardKind
}

// ShardKind is the kind of a shard.
type ShardKind uint8

// The kinds.
const (
	RemoteShard ShardKind = iota
	LocalShard
	GlobalShard
)

func (k ShardKind) String() string {
	return [...]string{"remote", "local", "global"}[min(k, GlobalShard)]
}

// Counter is the value of a counter cell, its context. The counter's value is
// the sum of the counts.
//
//	i16     entries
//	i16...  number of a shard, or that - 32768: the shard is local, or global
//	shard   16 bytes id, i64 clock, i64 count; to the end of the value
type Counter struct{ Shards []CounterShard }

const (
	shardLength  = 32
	globalOffset = -32768
)

// ParseCounter reads a context.
func ParseCounter(b []byte) (Counter, error) {
	c := cursor{b: b}
	n := int(int16(c.u16()))
	if c.short || n < 0 || c.left() < 2*n || (c.left()-2*n)%shardLength != 0 {
		return Counter{}, encoding.Corruptf("counter", "%d bytes with %d entries in the header", len(b), n)
	}
	header := cursor{b: c.take(uint64(2 * n))}
	x := Counter{Shards: make([]CounterShard, c.left()/shardLength)}
	for i := range x.Shards {
		s := &x.Shards[i]
		copy(s.ID[:], c.take(16))
		s.Clock, s.Count = c.i64(), c.i64()
	}
	for range n {
		i, kind := int(int16(header.u16())), LocalShard
		if i < 0 {
			i, kind = i-globalOffset, GlobalShard
		}
		if i >= len(x.Shards) || x.Shards[i].Kind != RemoteShard {
			return Counter{}, encoding.Corruptf("counter", "entry for shard %d of %d, or a second one", i, len(x.Shards))
		}
		x.Shards[i].Kind = kind
	}
	return x, nil
}

// Total is the value of the counter.
func (c Counter) Total() int64 {
	sum := int64(0)
	for i := range c.Shards {
		sum += c.Shards[i].Count
	}
	return sum
}
