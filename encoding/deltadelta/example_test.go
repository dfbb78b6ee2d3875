package deltadelta_test

import (
	"fmt"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/deltadelta"
)

func ExampleAppendInt64() {
	times := make([]int64, 1000)
	for i := range times {
		times[i] = 1_780_000_000_000 + 5000*int64(i)
	}
	b := deltadelta.AppendInt64(nil, times)
	got := make([]int64, len(times))
	rest, err := deltadelta.DecodeInt64(got, b)
	fmt.Println(len(b), got[999], len(rest), err)
	// Output: 9 1780004995000 0 <nil>
}

func ExampleEncoder() {
	var e deltadelta.Encoder
	var d deltadelta.Decoder
	var p encoding.Params
	times := make([]int32, 100)
	for chunk := range int32(3) {
		for i := range times {
			times[i] = 1000*chunk + 10*int32(i)
			if chunk == 1 && i >= 40 {
				times[i] += 70 // seven are missing
			}
		}
		body := e.AppendInt32(nil, times, &p)
		err := d.Int32(times, &p, body)
		fmt.Println(p, len(body), times[39:42], err)
	}
	// Output:
	// [4 0 0 0 0 0 10 0] 0 [390 400 410] <nil>
	// [4 100 0 0 0 0 10 10] 2 [1390 1470 1480] <nil>
	// [4 200 0 0 0 0 10 0] 0 [2390 2400 2410] <nil>
}
