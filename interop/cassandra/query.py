"""Runs a query by cqlite, on the metrics of java/Metrics.java.

query.py FOLDER SCHEMA QUERY prints the first row; with --export in place of
QUERY, all rows go to /dev/null as Parquet without compression.
"""

import sys

import cqlite

folder, schema, query = sys.argv[1:]
with cqlite.open(folder, schema=schema) as db:
    if query == "--export":
        print(db.export_parquet("SELECT * FROM ks.metrics", "/dev/null", compression="none"))
    else:
        print(db.execute(query).rows[0].to_dict())
