package encoding_test

import (
	"errors"
	"fmt"

	"github.com/colsst/colsst/encoding"
)

// The parameters of a chunk in line: a mask of those that are not zero, then
// these as varints.
func ExampleAppendParams() {
	p := encoding.Params{0, -3, 0, 1000}
	b := encoding.AppendParams(nil, &p)
	fmt.Printf("% x\n", b)

	back, rest, err := encoding.ReadParams("example", append(b, "the body"...))
	fmt.Println(back, string(rest), err)

	_, _, err = encoding.ReadParams("example", b[:2])
	fmt.Println(errors.Is(err, encoding.ErrCorrupt))
	// Output:
	// 0a 05 d0 0f
	// [0 -3 0 1000 0 0 0 0] the body <nil>
	// true
}

// Damage says where it is as far as the one who found it knows; callers add
// the rest.
func ExampleCorruptError() {
	inner := encoding.Corruptf("lengths", "%d bytes left of %d", 3, 8)
	err := error(&encoding.CorruptError{File: "a.colsst", Part: "block", Offset: 4096, Err: inner})
	fmt.Println(err)
	fmt.Println(errors.Is(err, encoding.ErrCorrupt), errors.Is(err, encoding.ErrUnsupported))
	// Output:
	// a.colsst: block at 4096: lengths: 3 bytes left of 8
	// true false
}

func ExampleParseID() {
	id, ok := encoding.ParseID("alp")
	fmt.Println(id, id == encoding.ALP, ok)
	_, ok = encoding.ParseID("gorilla")
	fmt.Println(ok)
	// Output:
	// alp true true
	// false
}
