// Package rawfile reads files by bare calls of the system: maps them into
// memory, read-only, and reads at places without what os.File does around a
// call. Its callers see to it that a file is not closed, nor a mapping ended,
// while they read.
//
// A program that reads pages of a mapping beyond the end that the file has by
// then is sent a signal, which ends it unless it has called
// debug.SetPanicOnFault; see Catch.
package rawfile

import (
	"fmt"
	"runtime/debug"
)

// Error is a read of a mapping that failed: the file has become shorter, or
// its device does not answer.
type Error struct{ Addr uintptr }

func (e *Error) Error() string {
	return fmt.Sprintf("a fault at address %#x of the mapped file: was it cut?", e.Addr)
}

// Catch makes faults of the goroutine errors from here on. It is for a
// function that reads a mapping, and sets all of errs:
//
//	defer rawfile.Catch(rawfile.Guard(), &err)
func Catch(before bool, errs ...*error) {
	debug.SetPanicOnFault(before)
	switch x := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		for _, err := range errs {
			*err = &Error{x.Addr()}
		}
	default:
		panic(x)
	}
}

// Guard makes faults of the goroutine panics, for Catch. It returns what was
// set before.
func Guard() (before bool) { return debug.SetPanicOnFault(true) }
