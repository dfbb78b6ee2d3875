#!/usr/bin/env bash
# Writes Parquet files with the package parquetfmt, of every type, encoding,
# compression and page version, and of SSTables; lets pyarrow, DuckDB, Polars,
# parquet-java, arrow-rs and hyparquet read them; and compares every value. Then
# the other way round: files of pyarrow, DuckDB, Polars and arrow-rs, read by us.
# It needs go, python3, a JDK 17, mvn, cargo, node and npm, and once the network
# for what requirements.txt, pom.xml, rust/Cargo.lock and js/package-lock.json pin.
#
#   interop/parquet/run.sh            in a folder of its own, removed at the end
#   interop/parquet/run.sh FOLDER     keeps readers, files and texts there
#
# If it cannot run here, it prints UNPROVEN and fails.
set -euo pipefail
cd "$(dirname "$0")/../.."
export GOTOOLCHAIN=local GOFLAGS="${GOFLAGS:--buildvcs=false}"

unproven() {
  echo "UNPROVEN: $*"
  exit 1
}
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  work=$(cd "$1" && pwd)
else
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi
for tool in go python3 java javac mvn cargo node npm; do
  command -v $tool >/dev/null || unproven "no $tool"
done
here=interop/parquet

[ -d "$work/python" ] || python3 -m venv "$work/python" || unproven "no venv of Python"
"$work/python/bin/pip" install -q --disable-pip-version-check -r $here/requirements.txt || unproven "pip cannot get what requirements.txt names"
if ! cmp -s $here/pom.xml "$work/pom.xml"; then # the jars are there, once it is
  rm -rf "$work/jars"
  mvn -B -q -f $here/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$work/jars" ||
    unproven "Maven cannot get what pom.xml names"
  cp $here/pom.xml "$work"
fi
mkdir -p "$work"/{classes,js}
javac -nowarn -cp "$work/jars/*" -d "$work/classes" $here/java/*.java || unproven "the Java program cannot be compiled"
cp $here/js/* "$work/js"
npm --prefix "$work/js" ci --silent --no-audit --no-fund || unproven "npm cannot get what package-lock.json names"
CARGO_TARGET_DIR=$work/rust cargo build -q --locked --manifest-path $here/rust/Cargo.toml || unproven "cargo cannot build what Cargo.lock names"

# What a reader prints beside its texts is kept, and shown if it fails outright.
run() {
  "$@" >"$work/log" 2>&1 || {
    tail -n 20 "$work/log"
    unproven "$1 failed"
  }
}
files=$work/files
rm -rf "$files"
mkdir "$files"
go run ./$here/make "$files"
run "$work/python/bin/python" $here/read.py "$files/list"
run java -cp "$work/classes:$work/jars/*" Read "$files/list"
run node "$work/js/read.mjs" "$files/list"
run "$work/rust/debug/read" "$files/list"

run "$work/python/bin/python" $here/write.py "$files"
run "$work/rust/debug/read" alp "$files/numbers-plain-zstd-v1.parquet" "$files/foreign-numbers-arrow-rs-alp.parquet"
mkdir -p "$files/foreign-numbers-arrow-rs-alp"
printf '%s\n' "$files"/foreign-numbers-arrow-rs-alp{.parquet,} >>"$files/foreign"
sed -n n\;p "$files/foreign" | while read -r folder; do # each has the rows of one of ours
  table=${folder##*/foreign-}
  cp "$files/${table%%-*}-plain-zstd-v1/expected.txt" "$folder"
done
go run ./$here/show "$files/foreign"

rc=0
go run ./$here/compare "$files/list" pyarrow,duckdb,polars,parquet-java,arrow-rs,hyparquet $here/exceptions.txt || rc=1
go run ./$here/compare "$files/foreign" colsst /dev/null || rc=1
exit $rc
