package columnar

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/FastFilter/xorfilter"
	"github.com/zeebo/xxh3"

	"github.com/colsst/colsst/encoding"
)

// shardKeys is about the greatest number of keys in a shard.
const shardKeys = 1 << 20

const (
	filterHead       = 8 + 1 + 4
	maxFilterLog     = 18
	maxFilterShards  = 1 << 20
	fuseArityLessOne = 2
)

func hashKey(key []byte) uint64 { return xxh3.Hash(key) }

// shardOf is the shard of a hash among shards, a power of two.
func shardOf(hash uint64, shards int) int {
	if shards == 1 {
		return 0
	}
	return int(hash >> (64 - bits.TrailingZeros(uint(shards))))
}

// writeFilter writes the filter of the hashes, which it sorts, in shards of
// about perShard keys at most.
func writeFilter(hashes []uint64, perShard int, emit func(h *header, body []byte) (ref, error)) ([]ref, error) {
	sortHashes(hashes, 56)
	hashes = slices.Compact(hashes)
	shards := 1
	for len(hashes)/shards > perShard {
		shards <<= 1
	}
	var refs []ref
	var builder xorfilter.BinaryFuseBuilder
	for i := range shards {
		n := len(hashes)
		if i+1 < shards {
			n, _ = slices.BinarySearch(hashes, uint64(i+1)<<(64-bits.TrailingZeros(uint(shards))))
		}
		body, err := appendShard(nil, &builder, hashes[:n])
		if err != nil {
			return nil, err
		}
		r, err := emit(&header{kind: kindFilter, fields: [5]uint64{uint64(i), uint64(n)}}, body)
		if err != nil {
			return nil, err
		}
		refs, hashes = append(refs, r), hashes[n:]
	}
	return refs, nil
}

// sortHashes sorts hashes that agree in the bits above those from shift to
// shift+8, in place: by these bits, then each part by the bits below. Hashes
// are spread evenly, so parts become small soon.
func sortHashes(hashes []uint64, shift uint) {
	if len(hashes) < 128 || shift > 56 {
		slices.Sort(hashes)
		return
	}
	var ends, next [256]int // of the parts: where they end, and where the next hash goes
	for _, h := range hashes {
		ends[h>>shift&255]++
	}
	at := 0
	for b, n := range ends {
		next[b] = at
		at += n
		ends[b] = at
	}
	for b, end := range ends {
		for next[b] < end {
			h := hashes[next[b]]
			for to := h >> shift & 255; to != uint64(b); to = h >> shift & 255 {
				hashes[next[to]], h = h, hashes[next[to]]
				next[to]++
			}
			hashes[next[b]] = h
			next[b]++
		}
	}
	from := 0
	for _, end := range ends {
		sortHashes(hashes[from:end], shift-8) // below 0 it wraps: then nothing is left to sort by
		from = end
	}
}

func appendShard(dst []byte, b *xorfilter.BinaryFuseBuilder, hashes []uint64) ([]byte, error) {
	if len(hashes) == 0 {
		return dst, nil
	}
	f, err := xorfilter.BuildBinaryFuse[uint8](b, hashes)
	if err != nil {
		return nil, err
	}
	dst = binary.LittleEndian.AppendUint64(dst, f.Seed)
	dst = append(dst, byte(bits.TrailingZeros32(f.SegmentLength)))
	dst = binary.LittleEndian.AppendUint32(dst, f.SegmentCount)
	return append(dst, f.Fingerprints...), nil
}

// parseShard checks a shard's body, which the filter keeps. A nil filter holds
// no key.
func parseShard(body []byte) (*xorfilter.BinaryFuse[uint8], error) {
	const part = "filter"
	if len(body) == 0 {
		return nil, nil
	}
	if len(body) < filterHead {
		return nil, encoding.Corruptf(part, "%d bytes", len(body))
	}
	log := body[8]
	segments := binary.LittleEndian.Uint32(body[9:])
	prints := body[filterHead:]
	if log > maxFilterLog || segments == 0 || (uint64(segments)+fuseArityLessOne)<<log != uint64(len(prints)) {
		return nil, encoding.Corruptf(part, "%d segments of 2^%d in %d bytes", segments, log, len(prints))
	}
	return &xorfilter.BinaryFuse[uint8]{
		Seed:               binary.LittleEndian.Uint64(body),
		SegmentLength:      1 << log,
		SegmentLengthMask:  1<<log - 1,
		SegmentCount:       segments,
		SegmentCountLength: segments << log,
		Fingerprints:       prints,
	}, nil
}
