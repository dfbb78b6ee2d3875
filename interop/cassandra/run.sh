#!/usr/bin/env bash
# Reads SSTables with the package cassandra and with Cassandra itself, and
# compares every event: SSTables that Cassandra makes here, by a node without a
# network (nb, oa, da) and by CQLSSTableWriter (oa, da), and those below the
# folder that SSTABLES names, if it is set. Then it compares the tool's dump
# --sstabledump with what Cassandra's sstabledump prints of the same, and of those
# of the tests, byte for byte. It needs go, a JDK 11 or 17, mvn, and
# once the network, for what pom.xml names.
#
#   interop/cassandra/run.sh            in a folder of its own, removed at the end
#   interop/cassandra/run.sh FOLDER     keeps jars, SSTables and texts there
#   SSTABLES=DIR interop/cassandra/run.sh
#
# If it cannot run here, it prints UNPROVEN and fails.
set -euo pipefail
[ -z "${SSTABLES:-}" ] || SSTABLES=$(cd "$SSTABLES" && pwd)
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
for tool in go java javac mvn; do
  command -v $tool >/dev/null || unproven "no $tool"
done
here=interop/cassandra
if ! cmp -s $here/pom.xml "$work/pom.xml"; then # the jars are there, once it is
  rm -rf "$work/jars"
  mvn -B -q -f $here/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$work/jars" ||
    unproven "Maven cannot get what $here/pom.xml names"
  cp $here/pom.xml "$work"
fi
rm -rf "$work"/{classes,fresh,texts}
mkdir -p "$work"/{classes,fresh,texts}
javac -nowarn -cp "$work/jars/*" -d "$work/classes" $here/java/*.java || unproven "the Java programs cannot be compiled"

# run [FLAG...] CLASS ARGS... runs one of them with the packages open that Cassandra needs
# of the JDK, and prints what it says only if it fails.
run() {
  java @$here/java/options -Dlogback.configurationFile=$here/java/logback.xml -cp "$work/classes:$work/jars/*" "$@" >"$work/log" 2>&1 || {
    grep -v '^WARN' "$work/log" | head -n 20
    unproven "$* failed"
  }
}
for version in nb oa da; do
  run Node $version "$work/fresh/$version"
done
run Writer "$work/fresh/writer"

# What the SSTables must show, or agreement says little.
shown=(
  '^partition x[0-9a-f]+ deleted '
  '^static$'
  '^row .* at -[0-9]+' '^row .* ttl [0-9]+ until [0-9]+$' '^row .* deleted [0-9]+ [0-9]+$' '^row .* shadowable$' '^row .* ttl 2147483647 until'
  '^row x[0-9a-f]* x[0-9a-f]* x ' '^row .* until 2[2-9][0-9]{8}'
  '^ cell .* ttl [0-9]+ until' '^ cell .* deleted [0-9]+ x$' '^ cell x[0-9a-f]+ at [0-9]+ x$' '^ cell .* until 2[2-9][0-9]{8} x'
  '^ complex x[0-9a-f]+ deleted' '^ complex x[0-9a-f]+$' '^  cell .* deleted [0-9]+ x$' '^  cell .* ttl ' '^  cell x at '
  '^marker INCL_START_BOUND x.* open' '^marker EXCL_START_BOUND x' '^marker INCL_END_BOUND x' '^marker EXCL_END_BOUND x.* close'
  '^marker INCL_END_EXCL_START_BOUNDARY x.* close .* open' '^marker EXCL_END_INCL_START_BOUNDARY'
  '^marker INCL_START_BOUND open' '^marker INCL_END_BOUND close'
)
found=("$work/fresh" ${SSTABLES:+"$SSTABLES"})
find "${found[@]}" -name '*-Data.db' | sort >"$work/found"
n=0
while read -r file; do
  n=$((n + 1))
  printf '%s\n%s\n' "$file" "$work/texts/$n.txt"
done <"$work/found" >"$work/list"
run Dump "$work/list"
for pattern in "${shown[@]}"; do
  grep -rqE "$pattern" "$work/texts" --include '*.txt' || { echo "no SSTable shows: $pattern"; exit 1; }
done
failed=0
go run ./$here/compare "$work/list" $here/exceptions.txt "${found[@]}" || failed=1

# The same through both tools named sstabledump.
(cd cmd/colsst && go build -o "$work/colsst" .)
go build -o "$work/dumps" ./$here/dumps
found+=("$PWD/cassandra/testdata")
find "${found[@]}" -name '*-Data.db' | sort >"$work/found"
rm -rf "$work/dumped"
mkdir "$work/dumped"
"$work/dumps" runs "$work/found" "$work/dumped" "$work/colsst" >"$work/runs"
run -Djava.security.manager=allow Sstabledump "$work/runs"
"$work/dumps" compare "$work/runs" "$work/colsst" $here/exceptions.txt,$here/dumps/exceptions.txt "${found[@]}" || failed=1
exit $failed
