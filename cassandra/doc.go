// Package cassandra reads SSTables of Apache Cassandra.
package cassandra
