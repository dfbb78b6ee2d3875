package bitpack_test

import (
	"fmt"

	"github.com/colsst/colsst/encoding/bitpack"
)

// Six small numbers and one large one: three bits each, and the high bits of
// the large one as a patch.
func Example() {
	values := []uint64{1, 5, 2, 1000, 7, 0, 3}
	shape := bitpack.Shape{Width: 3, Patches: 1, PatchWidth: 7}
	packed := bitpack.Append(nil, values, shape)
	fmt.Printf("%d bytes, % x\n", len(packed), packed)

	got := make([]uint64, len(values))
	if err := bitpack.Decode("example", got, packed, shape, nil); err != nil {
		panic(err)
	}
	fmt.Println(got)
	// Output:
	// 5 bytes, a9 70 0c 03 7d
	// [1 5 2 1000 7 0 3]
}
