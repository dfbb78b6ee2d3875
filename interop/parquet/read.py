"""Prints the rows of Parquet files as README.md says, read by pyarrow, DuckDB
and Polars. The list of files names, line after line, a file and the folder for
its texts."""

import os
import struct
import sys

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

TO_NANOS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1000, "ns": 1}


def written(kind):
    """How values of an Arrow type are written: a function of a scalar that is not null."""
    t = pa.types
    if isinstance(kind, pa.BaseExtensionType):
        if kind.extension_name == "arrow.uuid":
            return lambda v: "x" + v.value.as_py().hex()
        inner = written(kind.storage_type)
        return lambda v: inner(v.value)
    if t.is_boolean(kind):
        return lambda v: "true" if v.as_py() else "false"
    if t.is_integer(kind):
        return lambda v: str(v.as_py())
    if t.is_float32(kind):
        return lambda v: "f" + floats(v, "<f")[::-1].hex()
    if t.is_float64(kind):
        return lambda v: "d" + floats(v, "<d")[::-1].hex()
    if t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind):
        return lambda v: "s" + v.as_py().encode().hex()
    if t.is_binary(kind) or t.is_large_binary(kind) or t.is_binary_view(kind) or t.is_fixed_size_binary(kind):
        return lambda v: "x" + v.as_py().hex()
    if t.is_date32(kind):
        return lambda v: "D" + str(v.value)
    if t.is_time(kind) or t.is_timestamp(kind):
        letter = "T" if t.is_time(kind) else "t"
        return lambda v: letter + str(v.value * TO_NANOS[kind.unit])
    if t.is_decimal(kind):
        return lambda v: "n%d/%d" % (int(v.as_py().scaleb(kind.scale)), kind.scale)
    if t.is_list(kind) or t.is_large_list(kind) or t.is_list_view(kind):
        one = nullable(kind.value_type)
        return lambda v: "[" + ",".join(one(x) for x in v.values) + "]"
    if t.is_map(kind):
        key, item = nullable(kind.key_type), nullable(kind.item_type)
        return lambda v: "{" + ",".join(key(x["key"]) + ":" + item(x["value"]) for x in v.values) + "}"
    if t.is_struct(kind):
        fields = [(f.name, nullable(f.type)) for f in kind]
        return lambda v: "(" + ",".join(n + "=" + one(v[n]) for n, one in fields) + ")"
    raise NotImplementedError("values of " + str(kind))


def floats(v, form):
    """The bytes of a float scalar; as_py would change NaNs of 32 bits."""
    a = pa.repeat(v, 1)
    size = struct.calcsize(form)
    return a.buffers()[1].to_pybytes()[a.offset * size : (a.offset + 1) * size]


def nullable(kind):
    one = written(kind)
    return lambda v: one(v) if v.is_valid else "null"


def pyarrow_table(file):
    return pq.read_table(file)


def duckdb_table(file):
    c = duckdb.connect()
    c.execute("set TimeZone = 'UTC'")
    # DuckDB hands uuids to Arrow as text; the engine makes bytes of them.
    columns = c.execute("describe select * from read_parquet(?)", [file]).fetchall()
    wanted = ", ".join(
        '"%s"' % name.replace('"', '""') if kind != "UUID" else 'unhex(replace("%s"::varchar, \'-\', \'\')) as "%s"' % (name, name)
        for name, kind, *_ in columns
    )
    return c.sql("select %s from read_parquet(?)" % wanted, params=[file]).to_arrow_table()


def polars_table(file):
    return polars.read_parquet(file).to_arrow()


READERS = {"pyarrow": pyarrow_table, "duckdb": duckdb_table, "polars": polars_table}


def dump(table, out):
    columns = [([nullable(f.type)], table.column(i)) for i, f in enumerate(table.schema)]
    out.write("\t".join(table.schema.names) + "\n")
    for r in range(table.num_rows):
        out.write("\t".join(one[0](c[r]) for one, c in columns) + "\n")


def main():
    lines = open(sys.argv[1]).read().splitlines()
    for file, folder in zip(lines[::2], lines[1::2]):
        for name, read in READERS.items():
            path = os.path.join(folder, name)
            try:
                with open(path + ".txt", "w") as out:
                    dump(read(file), out)
            except BaseException as e:  # a panic of Polars is no Exception
                os.remove(path + ".txt")
                with open(path + ".error", "w") as out:
                    out.write(" ".join(str(e).split())[:300] + "\n")


main()
