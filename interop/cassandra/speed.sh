#!/usr/bin/env bash
# Times the tool and the package cassandra against Cassandra itself, and against
# cqlite if Python has it, on an SSTable of metrics that Cassandra makes here, in
# nb and da, with LZ4. It prints CPU seconds, user and system together, since
# several goroutines and threads take part, and checks that dumps are equal. It
# needs what run.sh needs, GNU time, and 45 bytes of disk a row.
#
#   interop/cassandra/speed.sh FOLDER [ROWS]    ROWS: 20000000 unless given
#
# FOLDER keeps jars and SSTables. PYTHON names the Python that has cqlite.
set -euo pipefail
mkdir -p "$1"
work=$(cd "$1" && pwd)
rows=${2:-20000000}
cd "$(dirname "$0")/../.."
export GOTOOLCHAIN=local GOFLAGS="${GOFLAGS:--buildvcs=false}"
here=interop/cassandra
if ! cmp -s $here/pom.xml "$work/pom.xml"; then
  rm -rf "$work/jars"
  mvn -B -q -f $here/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$work/jars"
  cp $here/pom.xml "$work"
fi
mkdir -p "$work/classes"
javac -nowarn -cp "$work/jars/*" -d "$work/classes" $here/java/*.java 2>/dev/null
(cd cmd/colsst && go build -o "$work/colsst" .)
go build -o "$work/scan" ./$here/scan
grep -v TieredStopAtLevel $here/java/options >"$work/options" # a loop is to be warm

java=(java @"$work/options" -Djava.security.manager=allow -Dlogback.configurationFile=$here/java/logback.xml -cp "$work/classes:$work/jars/*")
run() { "${java[@]}" "$@" 2>"$work/log"; }
theirs() { printf '%s\t1700050000\t%s\t-l\n' "$1" "$data" >"$work/runs"; } # a dump of theirs to there
measure() { # measure FILE COMMAND...: CPU seconds and MiB of memory into FILE
  local file=$1
  shift
  /usr/bin/time -f '%U %S %M' -o "$file" "$@"
  awk 'END { printf "%.2f %d\n", $1 + $2, $3 / 1024 }' "$file" >"$file.sum"
  mv "$file.sum" "$file"
}
timed() { # timed VERSION WHAT COMMAND...
  measure "$work/time" "${@:3}" >"$work/log" 2>&1
  row "$1" "$2" $(cat "$work/time")
}
row() { printf '%-4s %-36s %8s s %7s MiB\n' "$1" "$2" "$3" "${4:--}"; }
for version in nb da; do
  if ! compgen -G "$work/$version-$rows/ks/metrics-*/*-Data.db" >/dev/null; then
    rm -rf "$work/$version-$rows"
    run Metrics $version "$work/$version-$rows" "$rows" >/dev/null
    rm -rf "$work/$version-$rows/node"
  fi
  data=$(echo "$work/$version-$rows"/ks/metrics-*/*-Data.db)
  row $version "scan, SSTableReader, warm" "$(run Speed "$data" 5 | sort -k3n | head -n 1 | cut -d' ' -f3)"
  row $version "scan, events" "$("$work/scan" events "$data" 5 | sort -k3n | head -n 1 | cut -d' ' -f3)"
  row $version "scan, batches" "$("$work/scan" batches "$data" 5 | sort -k3n | head -n 1 | cut -d' ' -f3)"
  timed $version "colsst convert" "$work/colsst" convert "$data" -f -o "$work/metrics.csst"
  rm -f "$work/metrics.csst"
  if [ -n "${PYTHON:-}" ]; then
    echo 'CREATE TABLE ks.metrics (host text, metric text, ts timestamp, value double, samples int, PRIMARY KEY ((host, metric), ts));' >"$work/metrics.cql"
    query=("$PYTHON" -B $here/query.py "$work/$version-$rows" "$work/metrics.cql")
    timed $version "cqlite, SELECT COUNT(*)" "${query[@]}" 'SELECT COUNT(*) FROM ks.metrics'
    timed $version "cqlite, export as Parquet" "${query[@]}" --export
  fi
  dump=("$work/colsst" dump --sstabledump --now 1700050000 -l "$data")
  theirs /dev/null
  timed $version "sstabledump -l" "${java[@]}" Sstabledump "$work/runs"
  measure "$work/time" "${dump[@]}" >/dev/null 2>"$work/log"
  row $version "colsst dump --sstabledump -l" $(cat "$work/time")
  rm -f "$work/pipe"
  mkfifo "$work/pipe"
  theirs "$work/pipe"
  "${java[@]}" Sstabledump "$work/runs" >"$work/log" 2>&1 &
  "${dump[@]}" 2>/dev/null | cmp - "$work/pipe"
  wait
  rm "$work/pipe"
  echo "     both dumps are equal"
done
