package generate

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/rowgroup"
)

// rowHash is a hash over every row and its metadata, in order; it checks the
// order as well.
func rowHash(t *testing.T, s *rowgroup.Schema, it rowgroup.Iter) (rows int, sum uint64) {
	h := fnv.New64a()
	b := rowgroup.NewBatch(s)
	order := rowgroup.NewOrderChecker(s)
	for {
		more, err := it.Next(b)
		require.NoError(t, err)
		if !more {
			break
		}
		require.NoError(t, b.Check())
		require.NoError(t, order.Check(b))
		require.LessOrEqual(t, b.Len(), batchRows)
		for p := range b.NumPartitions() {
			from, to := b.PartitionRows(p)
			for i := from; i < to; i++ {
				h.Write(b.Key(p))
				hashRow(h, b, i)
			}
		}
		rows += b.Len()
	}
	require.NoError(t, order.Finish())
	require.NoError(t, it.Close())
	return rows, h.Sum64()
}

func hashRow(h hash.Hash, b *rowgroup.Batch, i int) {
	var buf []byte
	m := b.Meta()
	if len(m.WriteTimes) > 0 {
		buf = binary.LittleEndian.AppendUint32(buf, uint32((*b.Int32s(1))[i]))
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits((*b.Float32s(2))[i]))
		buf = append(buf, byte(m.Liveness[i]))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(m.WriteTimes[i]))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(m.TTLs[i]))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(m.Expiries[i]))
	} else {
		buf = binary.LittleEndian.AppendUint64(buf, uint64((*b.Int64s(1))[i]))
		buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits((*b.Float64s(2))[i]))
	}
	h.Write(buf)
}

// The rows never change: figures are compared over years.
func TestRowsAreThoseOfEver(t *testing.T) {
	for _, c := range []struct {
		variant Variant
		sum     uint64
	}{{Full, 0x6875893428bd22f4}, {TwoDecimals, 0xeccd4401ceef0c1c}, {Backfill, 0x748b697e159f4b20}} {
		m := Metrics5{Series: 3, Points: WeekPoints, Variant: c.variant, Seed: Seed}
		rows, sum := rowHash(t, m.Schema(), m.Rows())
		require.Equal(t, 3*WeekPoints, rows)
		require.Equal(t, c.sum, sum, "%s: %#x", c.variant, sum)
	}
	p := Points{Partitions: 2000, PerKey: 3, Seed: Seed}
	rows, sum := rowHash(t, p.Schema(), p.Rows())
	require.Equal(t, 6000, rows)
	require.Equal(t, uint64(0x6bf8b2c7ff725ce7), sum, "%#x", sum)
}

// The walk as the definition of the table writes it down.
func TestMetrics5ByDefinition(t *testing.T) {
	m := Metrics5{Series: 25, Points: 1000, Variant: TwoDecimals, Seed: 7}
	it := m.Rows()
	b := rowgroup.NewBatch(m.Schema())
	series, point := 0, 0
	var r *rand.Rand
	var v float64
	for {
		more, err := it.Next(b)
		require.NoError(t, err)
		if !more {
			break
		}
		for p := range b.NumPartitions() {
			from, to := b.PartitionRows(p)
			require.Equal(t, point > 0, b.Partition(p).Continued)
			for i := from; i < to; i++ {
				if point == 0 {
					r = rand.New(rand.NewPCG(7, uint64(series)))
					v = 20 + float64(60*r.Float64())
				}
				require.Equal(t, fmt.Sprintf("dc1.rack%02d.host%04d.cpu.user", series/20, series), string(b.Key(p)))
				now := 1_780_000_000 + 5*point
				v += float64(r.NormFloat64() * 0.25)
				require.Equal(t, float32(math.Round(v*100)/100), (*b.Float32s(2))[i])
				require.Equal(t, int32(now), (*b.Int32s(1))[i])
				write := int64(now)*1_000_000 + 2000 + int64(r.IntN(8000))
				require.Equal(t, write, b.Meta().WriteTimes[i])
				ttl := 2_592_000 - 5*(999-point)
				require.Equal(t, int32(ttl), b.Meta().TTLs[i])
				require.Equal(t, write/1_000_000+int64(ttl), b.Meta().Expiries[i])
				if point++; point == 1000 {
					series, point = series+1, 0
				}
			}
		}
	}
	require.Equal(t, 25, series)
}

// From rack 100 on, keys in the order of their numbers are not in byte order.
func TestKeysAreInByteOrder(t *testing.T) {
	m := Metrics5{Series: 12_345, Points: 1, Seed: Seed}
	rows, _ := rowHash(t, m.Schema(), m.Rows())
	require.Equal(t, 12_345, rows)
}

func TestCheck(t *testing.T) {
	require.ErrorContains(t, Metrics5{Series: -1, Points: 1}.Check(), "-1 series")
	require.ErrorContains(t, Metrics5{Points: 0}.Check(), "0 points")
	require.ErrorContains(t, Metrics5{Points: MaxPoints + 1}.Check(), "518400")
	require.NoError(t, Metrics5{Points: MaxPoints}.Check())
	require.ErrorContains(t, Points{Partitions: -1, PerKey: 1}.Check(), "-1 partitions")
	require.ErrorContains(t, Points{}.Check(), "0 rows")
	_, err := ParseVariant("half")
	require.ErrorContains(t, err, "half")
	v, err := ParseVariant("2dec")
	require.NoError(t, err)
	require.Equal(t, "2dec", v.String())
}
