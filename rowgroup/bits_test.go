package rowgroup

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Columns of packed bits are what their bits are one by one, up to the last byte.
func TestAddBits(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 5))
	for w := uint(1); w <= 64; w++ {
		for range 20 {
			bit, v := uint(r.IntN(70)), make([]int64, r.IntN(MaxBlockGroups+1))
			b := make([]byte, (bit+w*uint(len(v))+7)/8)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			want := make([]int64, len(v))
			for i := range v {
				v[i] = r.Int64()
				want[i] = v[i]
				for k := range w {
					at := bit + uint(i)*w + k
					want[i] += int64(b[at/8]>>(at%8)&1) << k
				}
			}
			addBits(v, b, bit, w)
			require.Equal(t, want, v, "%d bits", w)
		}
	}
}
