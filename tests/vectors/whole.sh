#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compares C with all recorded answers of meshes and placements (tests/vectors/whole). mesh.ndjson and placement.ndjson in
# tests/vectors, which Python and Go also run, have only a part: every sixteenth mesh, and every sixth placement of each
# family.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for whole in "$top_srcdir"/tests/vectors/whole/*.ndjson.gz; do
  gzip -dc "$whole" >"$tmp/$(basename "$whole" .gz)"
done
"$top_builddir/tests/vectors/run" "$tmp"/*.ndjson
