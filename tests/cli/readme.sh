#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The console blocks of README.md and docs/ show the command's real output, except for times.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/pages.sh"

for page in README.md docs/alternatives.md docs/bundles.md docs/checking.md docs/coordinates.md docs/elastic.md docs/ahead.md docs/defragmentation.md docs/fragmentation.md docs/holds.md \
  docs/identity.md docs/ledger.md docs/meshes.md docs/cubes.md docs/parts.md docs/places.md docs/processes.md docs/promise.md docs/purchase.md docs/quotas.md docs/slots.md docs/verdicts.md docs/what-if.md docs/workflows.md; do
  page_holds "$top_srcdir/$page" "$tmp/session"
  rm -r "$tmp/session"
done

finish
