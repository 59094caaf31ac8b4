#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# All recorded answers of meshes and placements. tests/vectors/mesh.ndjson has every sixteenth of the first file, and
# placement.ndjson every sixth row of each family of the second; Python and Go run those.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for whole in "$top_srcdir"/tests/vectors/whole/*.ndjson.gz; do
  gzip -dc "$whole" >"$tmp/$(basename "$whole" .gz)"
done
"$top_builddir/tests/vectors/run" "$tmp"/*.ndjson
