#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo succeeds and shows the main features. (tests/installed.sh runs the C example.)
. "$top_srcdir/tests/cli/lib.sh"

PATH=$top_builddir/cli:$PATH
export PATH
status=0
sh "$top_srcdir/examples/demo.sh" >"$tmp/out" 2>"$tmp/err" || status=$?
holds "the demo ends as it should" test "$status" -eq 0
out "both slices are reserved" "train@1 is reserved"
out "workers learn of each other" "MEGASCALE_NUM_SLICES='2'"
out "a refusal says what would help" "would help: release train@1"
out "the journal is the state" "the journal, replayed, is the state that is kept"

finish
