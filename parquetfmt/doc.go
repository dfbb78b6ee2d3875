// Package parquetfmt carries row groups to and from Apache Parquet files,
// through parquet-go.
package parquetfmt
