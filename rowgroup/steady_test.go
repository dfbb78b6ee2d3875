package rowgroup

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/colsst/colsst/encoding"
)

// Each chunk of a steady stream is what its values give by themselves.
func TestSteadyStreams(t *testing.T) {
	sameTTL := metrics5(t, 1, 128*9+5, false)
	for i := range sameTTL.meta.TTLs {
		sameTTL.meta.TTLs[i] = 86400
		sameTTL.meta.Expiries[i] = sameTTL.meta.WriteTimes[i]/1_000_000 + 86400
	}
	oddExpiry := metrics5(t, 1, 128*9, false)
	oddExpiry.meta.Expiries[800]++
	for name, c := range map[string]struct {
		batch     *Batch
		functions int
	}{
		"full":       {metrics5(t, 1, 128*9, false), 2},
		"2dec":       {metrics5(t, 1, 128*9, true), 2},
		"same TTL":   {sameTTL, 1},
		"odd expiry": {oddExpiry, 1},
		"irregular":  {irregular(t, 128*9), 2},
	} {
		t.Run(name, func(t *testing.T) {
			s := c.batch.Schema()
			spans := groupsOf(c.batch, 128)
			e, alone := NewSegmentEncoder(s, EncodeOptions{}), NewSegmentEncoder(s, EncodeOptions{})
			_, err := e.Encode(c.batch, spans)
			require.NoError(t, err)
			require.Len(t, e.steady.streams, e.steady.ones+c.functions)
			alone.g = newGatherer(s, s.layout, &steady{has: make([]bool, len(s.layout.streams))})
			for _, sp := range spans {
				alone.g.gather(c.batch, sp)
				for _, st := range e.steady.streams {
					v := &alone.g.streams[st.stream]
					require.Equal(t, sp.ToRow-sp.FromRow, v.n)
					ch := e.codecs[st.stream].choice
					if e.steady.has[st.stream] {
						ch = choice{id: encoding.Constant}
					}
					var p encoding.Params
					id, body := alone.append(nil, int(st.stream), v, &ch, &p)
					require.Empty(t, body)
					require.Equal(t, slotValues{}, slotValues{slotCount: st.slots[slotCount], slotZstd: st.slots[slotZstd]})
					require.Equal(t, st.slots[slotID], int64(id))
					require.Equal(t, *st.slots.params(), p)
				}
			}
		})
	}
}
