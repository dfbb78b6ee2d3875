package rowgroup

import (
	"testing"

	"pgregory.net/rapid"
)

// What is said of a run of states at once is what its elements say.
func TestUniformAndUnion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first := rapid.Uint8().Draw(t, "first")
		live := make([]Liveness, rapid.IntRange(1, 200).Draw(t, "n"))
		cells := make([]Cell, len(live))
		for i := range live {
			live[i], cells[i] = Liveness(first), Cell(first)
		}
		same, all := true, Cell(first)
		if rapid.Bool().Draw(t, "differ") {
			i, x := rapid.IntRange(0, len(live)-1).Draw(t, "at"), rapid.Uint8().Draw(t, "other")
			live[i], cells[i] = Liveness(x), Cell(x)
			same = x == first || len(live) == 1
			if all |= Cell(x); len(live) == 1 {
				all = Cell(x)
			}
		}
		if uniform(live) != same || union(cells) != all {
			t.Fatal(live, uniform(live), union(cells))
		}
	})
}
