package columnar

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Cache keeps blocks that Readers read, up to a number of bytes. Several
// Readers may share one, by WithCache; it is safe for concurrent use. Only
// blocks whose checksum was right get in; those of outer chunks lie in it
// decompressed. Queries use it; scans, which would fill it with what is not
// wanted again, do not, nor do files in memory without outer chunks.
//
// What goes is chosen by SIEVE (Zhang et al., "SIEVE is Simpler than LRU",
// NSDI 2024): a hand walks from the oldest block to the newest, passes those
// that were read since it last came by, and takes the first that was not.
type Cache struct {
	capacity int64
	files    atomic.Uint64 // Readers so far
	shards   []cacheShard  // a power of two
}

// CacheStats counts what a Cache did, in blocks, and what it holds.
type CacheStats struct {
	Hits, Misses int64 // reads of blocks
	Evictions    int64 // blocks that made room for others
	Blocks       int64 // held
	Bytes        int64 // they take, at most Capacity
	Capacity     int64
}

// cacheKey tells a block of all Readers.
type cacheKey struct {
	file uint64
	off  int64
}

type cacheShard struct {
	mu       sync.Mutex
	capacity int64
	at       map[cacheKey]int32 // places in entries
	entries  []cacheEntry       // 0 ends the ring: next is the newest, prev the oldest
	free     []int32
	hand     int32
	stats    CacheStats
}

type cacheEntry struct {
	cacheKey
	header
	bytes      []byte // of the body
	next, prev int32  // the next older, the next newer
	seen       bool   // since the hand came by
}

// entryBytes is about what an entry takes beside its block, kernelRoom included.
const entryBytes = 264

// leastShard is how small a shard may be: room for many blocks.
const leastShard = 1 << 20

// NewCache makes a cache of this many bytes. A block that is larger than a
// 64th of it, or than 1 MiB where that is more, is not kept.
func NewCache(bytes int64) *Cache {
	n := min(64, max(1, bytes/leastShard))
	c := &Cache{capacity: max(0, bytes), shards: make([]cacheShard, 1<<(bits.Len64(uint64(n))-1))}
	for i := range c.shards {
		c.shards[i].init(c.capacity / int64(len(c.shards)))
	}
	return c
}

func (s *cacheShard) init(capacity int64) {
	s.capacity, s.at = capacity, map[cacheKey]int32{}
	s.entries, s.free, s.hand = make([]cacheEntry, 1), nil, 0
}

// Stats are the cache's statistics as of now.
func (c *Cache) Stats() CacheStats {
	sum := CacheStats{Capacity: c.capacity}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		x := s.stats
		x.Blocks = int64(len(s.at))
		s.mu.Unlock()
		sum.Hits += x.Hits
		sum.Misses += x.Misses
		sum.Evictions += x.Evictions
		sum.Blocks += x.Blocks
		sum.Bytes += x.Bytes
	}
	return sum
}

// shard is the shard of k, by Fibonacci hashing of both numbers.
func (c *Cache) shard(k cacheKey) *cacheShard {
	h := (k.file<<40 ^ uint64(k.off)) * 0x9e3779b97f4a7c15
	return &c.shards[h>>32&uint64(len(c.shards)-1)]
}

// get is the block of k, whose bytes must not be changed.
func (c *Cache) get(k cacheKey) (h header, body []byte, ok bool) {
	s := c.shard(k)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.at[k]
	if !ok {
		s.stats.Misses++
		return h, nil, false
	}
	s.stats.Hits++
	e := &s.entries[i]
	e.seen = true
	return e.header, e.bytes, true
}

// add copies a block into the cache.
func (c *Cache) add(k cacheKey, h *header, body []byte) {
	s := c.shard(k)
	size := int64(len(body)) + entryBytes
	if size > s.capacity {
		return
	}
	body = append(make([]byte, 0, len(body)+kernelRoom), body...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.at[k]; ok { // another was faster
		return
	}
	for s.stats.Bytes+size > s.capacity {
		s.evict()
	}
	i := int32(len(s.entries))
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.entries = append(s.entries, cacheEntry{})
	}
	newest := s.entries[0].next
	s.entries[i] = cacheEntry{cacheKey: k, header: *h, bytes: body, next: newest}
	s.entries[newest].prev, s.entries[0].next = i, i
	s.at[k] = i
	s.stats.Bytes += size
}

// evict takes the first block from the hand on that was not read since it
// came by. There is one, as the hand goes round.
func (s *cacheShard) evict() {
	for {
		if s.hand == 0 {
			s.hand = s.entries[0].prev
		}
		e := &s.entries[s.hand]
		if !e.seen {
			break
		}
		e.seen, s.hand = false, e.prev
	}
	s.stats.Evictions++
	s.remove(s.hand)
}

func (s *cacheShard) remove(i int32) {
	e := &s.entries[i]
	if s.hand == i {
		s.hand = e.prev
	}
	s.entries[e.prev].next, s.entries[e.next].prev = e.next, e.prev
	s.stats.Bytes -= int64(len(e.bytes)) + entryBytes
	delete(s.at, e.cacheKey)
	*e = cacheEntry{}
	s.free = append(s.free, i)
}

// drop removes the blocks of a file.
func (c *Cache) drop(file uint64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for k, i := range s.at {
			if k.file == file {
				s.remove(i)
			}
		}
		s.mu.Unlock()
	}
}
