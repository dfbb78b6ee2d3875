#!/bin/sh
# Generates the assembly of package simd anew and compares it with the files
# that are committed. It needs no network once the module cache is warm.
set -eu
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/_gen"
GOWORK=off go build -o "$tmp/generate" .
(cd "$tmp/_gen" && ../generate -out ../kernels_amd64.s -stubs ../kernels_amd64.go -pkg simd)
for f in kernels_amd64.s kernels_amd64.go dispatch_amd64.go dispatch_generic.go; do
	diff -q "$tmp/$f" "../$f" || { echo "run: go generate ./simd" >&2; exit 1; }
done
