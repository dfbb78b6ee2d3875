"""Writes the tables of two files of ours anew by pyarrow, DuckDB and Polars, in
every compression, page version and encoding that they have for flat columns.

write.py FOLDER    reads FOLDER/numbers-plain-zstd-v1.parquet and texts-...,
                   writes FOLDER/foreign-*.parquet, and lists them in
                   FOLDER/foreign as list does those of ours
"""

import os
import sys

import duckdb
import polars
import pyarrow.parquet as pq

folder = sys.argv[1]
written = []


def out(*words):
    path = os.path.join(folder, "-".join(["foreign", *words]) + ".parquet")
    os.makedirs(path[: -len(".parquet")], exist_ok=True)
    written.append(path)
    return path


for name in ["numbers", "texts"]:
    source = os.path.join(folder, name + "-plain-zstd-v1.parquet")
    table = pq.read_table(source).replace_schema_metadata(None)  # or they would be files of ours
    for version in ["1.0", "2.0"]:
        for codec in ["none", "snappy", "gzip", "brotli", "zstd", "lz4"]:
            pq.write_table(
                table, out(name, "pyarrow", "v" + version[0], codec), compression=codec, data_page_version=version,
                row_group_size=2500, data_page_size=4096, write_page_index=version == "2.0", write_page_checksum=True,
            )
        encodings = {
            "numbers": {
                "plain": {}, "delta": {"time": "DELTA_BINARY_PACKED", "i": "DELTA_BINARY_PACKED", "l": "DELTA_BINARY_PACKED"},
                "split": {c: "BYTE_STREAM_SPLIT" for c in ["d", "f", "i", "l"]},
            },
            "texts": {
                "plain": {}, "deltalength": {c: "DELTA_LENGTH_BYTE_ARRAY" for c in ["c", "few", "many", "bytes"]},
                "delta": {c: "DELTA_BYTE_ARRAY" for c in ["c", "few", "many", "bytes"]},
            },
        }[name]
        for word, columns in encodings.items():
            pq.write_table(
                table, out(name, "pyarrow", "v" + version[0], word), compression="zstd", data_page_version=version,
                use_dictionary=False, column_encoding=columns or None,
            )
    for version in ["V1", "V2"]:
        for codec in ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4_raw"]:
            duckdb.sql(
                "copy (select * from read_parquet('%s')) to '%s' (format parquet, parquet_version %s, codec '%s', row_group_size 2048)"
                % (source, out(name, "duckdb", version.lower(), codec), version, codec)
            )
    frame = polars.read_parquet(source)
    for codec in ["uncompressed", "snappy", "gzip", "brotli", "zstd", "lz4"]:
        frame.write_parquet(out(name, "polars", codec), compression=codec, row_group_size=2500, data_page_size=4096)

with open(os.path.join(folder, "foreign"), "w") as f:
    for path in written:
        f.write(path + "\n" + path[: -len(".parquet")] + "\n")
