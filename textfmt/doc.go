// Package textfmt translates rows from and to text: CSV, NDJSON, InfluxDB's
// line protocol and the formats of Prometheus in, the former three out, and a
// dump of everything that a table holds as one JSON object a line.
//
// # Reading
//
//	bytes -> Decompress -> records -> Reader -> batches -> Sort -> Distinct -> batches
//
// FormatOf and Sniff tell the format by name or by look. Records know the
// grammar of their format and nothing of types: of CSV (RFC 4180) they are a
// Scanner, which hands out plain records by the block too: these are read column
// by column, and rows by themselves where anything about them is special, with
// the same outcome. A Reader gives every column a type, from the options, a schema or
// the first rows of the input, and explains each choice; from then on a value
// that does not fit its column is a SyntaxError with line, column and the option
// to give. No value is ever changed silently: integers never pass through
// float, a text that would not read back to the same value stays text, and a
// number of more digits than a float keeps is counted by Reader.Rounded.
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
// A column of times may have another form by its Layout. The time column is
// tried with some common ones, none of which can be read in two ways: 02/03/2006
// is an error that asks whether the day or the month is first. A time without a
// zone that its zone has twice, when clocks go back, is the first of the two;
// one that it does not have, when they go forward, is an error unless the
// options let it count on from the hour before.
//
// An unquoted empty field of CSV is null; other marks can be given. A quoted
// field is null only where its column is no text: there "" is the empty text,
// and a quoted mark is the mark itself. Blank lines are skipped. In the other
// formats null is what is missing, and the word null of JSON.
//
// # Sorting
//
// Sort takes any amount of rows in bounded memory, with help of temporary
// files, and keeps equal rows in their order. Distinct leaves one of the rows of
// each key.
//
// # Writing
//
// CSVWriter, NDJSONWriter and LineProtocolWriter write a row a line, in forms
// that read back to the same values: floats as the shortest text that is exact,
// timestamps as RFC 3339 in UTC with the digits of their unit (a count in line
// protocol). In CSV the empty text is "", null the mark. DumpWriter writes all
// that is stored, with its metadata.
package textfmt
