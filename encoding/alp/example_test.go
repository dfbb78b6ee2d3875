package alp_test

import (
	"fmt"

	"github.com/colsst/colsst/encoding"
	"github.com/colsst/colsst/encoding/alp"
)

func ExampleAppendFloat64() {
	readings := []float64{20.5, 20.7, 20.6, 20.9, 21.3, 21.1, 21.4, 21.2}
	b := alp.AppendFloat64(nil, readings)
	back := make([]float64, len(readings))
	if _, err := alp.DecodeFloat64(back, b); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(b), "bytes:", back)
	// Output: 10 bytes: [20.5 20.7 20.6 20.9 21.3 21.1 21.4 21.2]
}

// A store of row groups keeps the parameters of the chunks apart from their
// bodies. An Encoder keeps them steady from chunk to chunk.
func ExampleEncoder() {
	var e alp.Encoder
	var d alp.Decoder
	for _, chunk := range [][]float32{
		{50.01, 50.07, 49.93, 50.12},
		{50.11, 50.03, 50.09, 49.98},
	} {
		var p encoding.Params
		body := e.AppendFloat32(nil, chunk, &p)

		n, err := alp.Float32Len(&p, len(chunk))
		if err != nil || n != len(body) {
			fmt.Println("not reached", err)
		}
		back := make([]float32, len(chunk))
		if err := d.Float32(back, &p, body); err != nil {
			fmt.Println(err)
		}
		fmt.Println(alp.Mode(p[0]), p, len(body), back)
	}
	// Output:
	// decimal [1 0 4992 5 0 0 64 0] 3 [50.01 50.07 49.93 50.12]
	// decimal [1 0 4992 5 0 0 64 0] 3 [50.11 50.03 50.09 49.98]
}
