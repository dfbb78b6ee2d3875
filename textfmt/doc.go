// Package textfmt translates rows from and to text: CSV in and out, and a
// dump of everything that a table holds as one JSON object a line.
//
// # Reading
//
//	bytes -> Decompress -> Scanner -> fields -> CSVReader -> batches -> Sort -> batches
//
// A Scanner knows the grammar of CSV (RFC 4180) and nothing of types. A
// CSVReader gives every column a type, from the options or from the first rows
// of the input, and explains each choice; from then on a value that does not
// fit its column is a SyntaxError with line, column and the option to give.
// No value is ever changed silently: integers never pass through float, and a
// text that would not read back to the same value stays text.
//
// The forms of values, alike for types that are given and inferred:
//
//	integer    [+-]?digits, in the range of the type. With a leading zero (007)
//	           an inferred column is text, since 7 is not what was written; -0 is
//	           a double.
//	float      decimal digits with an optional point and exponent, NaN, Inf and
//	           Infinity in any case, the infinities with a sign or without. No
//	           hexadecimal, no underscores. A number beyond the range of the type
//	           (1e400, and 1e-400, which would become 0) is an error, and text in
//	           an inferred column.
//	boolean    true and false
//	timestamp  2006-01-02T15:04:05.999999999Z: a T or a space, up to nine
//	           fraction digits, none beyond the unit of the column but zeros; Z,
//	           +01:00, +0100, +01 or no zone (then the zone of the options, else
//	           UTC); a day alone is its midnight; or a plain integer, where the
//	           unit was given. Years 1 to 9999, in nanoseconds 1677 to 2262.
//	others     as rowgroup.ParseText reads them
//
// An unquoted empty field is null; other marks can be given. A quoted field
// is null only where its column is no text: there "" is the empty text, and a
// quoted mark is the mark itself. Blank lines are skipped.
//
// # Writing
//
// CSVWriter writes a row a line, in a form that reads back to the same values:
// floats as the shortest text that is exact, timestamps as RFC 3339 in UTC
// with the digits of their unit, the empty text as "", null as the mark.
// DumpWriter writes all that is stored, with its metadata.
package textfmt
