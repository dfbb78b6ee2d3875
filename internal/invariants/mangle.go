// Package invariants holds the checks of builds with the tag invariants or
// the race detector. In other builds Enabled is a false constant, so the
// compiler removes every call.
package invariants

import (
	"math"
	"reflect"
)

// Mangle overwrites every element of s with a value that nobody expects, where
// checks are enabled, and does nothing elsewhere. It is called on a buffer
// that is about to be reused, so that a reader who kept a slice of it for too
// long sees wrong values at once.
//
// Integers become a pattern of 0xa5 bytes, floats NaN, booleans true, strings
// "mangled"; arrays and structs are treated by element and exported field;
// everything else becomes the zero value.
func Mangle[T any](s []T) {
	if !Enabled || len(s) == 0 {
		return
	}
	var bad T
	spoil(reflect.ValueOf(&bad).Elem())
	for i := range s {
		s[i] = bad
	}
}

// spoil stores the unexpected value of v's kind in v.
func spoil(v reflect.Value) {
	const pattern = 0xa5a5a5a5a5a5a5a5
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(^0x5a5a5a5a5a5a5a5a)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(pattern)
	case reflect.Float32, reflect.Float64:
		v.SetFloat(math.NaN())
	case reflect.String:
		v.SetString("mangled")
	case reflect.Array:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				spoil(f)
			}
		}
	}
}
