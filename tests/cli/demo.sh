#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo succeeds and shows the main features. (tests/installed.sh runs the C example.)
. "$top_srcdir/tests/cli/lib.sh"

PATH=$top_builddir/cli:$PATH
export PATH
status=0
sh "$top_srcdir/examples/demo.sh" >"$tmp/out" 2>"$tmp/err" || status=$?
holds "the demo exits with 0" test "$status" -eq 0
out "the demo reserves both slices" "train@1 is reserved"
out "the demo prints the variables of the workers" "MEGASCALE_NUM_SLICES='2'"
out "the demo prints the option of a refusal" "would help: release train@1"
out "the demo verifies the journal" "the replayed journal equals the saved state"

finish
