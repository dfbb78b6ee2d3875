// Package fuzz holds the fuzz targets that cross packages: every codec by its
// self-contained form, row groups and blocks of random tables, and whole files
// in every combination of layers, sound and damaged. Targets of a single
// package stand beside it. Inputs that once failed stay under testdata/fuzz.
package fuzz
