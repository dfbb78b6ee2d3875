#!/usr/bin/env bash
# Reads SSTables with the package cassandra and with Cassandra itself, and
# compares every event: SSTables that Cassandra makes here, by a node without a
# network (nb, oa, da) and by CQLSSTableWriter (oa, da), and the real ones of
# other origin, where they lie beside the repository. It needs go, a JDK 11 or
# 17, mvn, and once the network, for what pom.xml names.
#
#   interop/cassandra/run.sh            in a folder of its own, removed at the end
#   interop/cassandra/run.sh FOLDER     keeps jars, SSTables and texts there
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

# run CLASS ARGS... runs one of them with the packages open that Cassandra needs
# of the JDK, and prints what it says only if it fails.
run() {
  java @$here/java/options -Dlogback.configurationFile=$here/java/logback.xml -cp "$work/classes:$work/jars/*" "$@" >"$work/log" 2>&1 || {
    grep -v '^WARN' "$work/log" | head -n 20
    unproven "$1 failed"
  }
}
for version in nb oa da; do
  run Node $version "$work/fresh/$version"
done
run Writer "$work/fresh/writer"

real=../shared/testdata/sstables
{
  find "$work/fresh" -name '*-Data.db'
  [ ! -d $real ] || find "$(cd $real && pwd)" -name '*-Data.db'
} | sort >"$work/found"
[ -d $real ] || echo "no real SSTables of other origin beside the repository"
n=0
while read -r file; do
  n=$((n + 1))
  printf '%s\n%s\n' "$file" "$work/texts/$n.txt"
done <"$work/found" >"$work/list"
run Dump "$work/list"
go run ./$here/compare "$work/list" $here/refused.txt "$work/fresh" "$(cd $real 2>/dev/null && pwd || true)"
