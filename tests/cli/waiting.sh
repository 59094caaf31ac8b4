#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# reserve and hold with --wait-for: what ends the wait.
. "$top_srcdir/tests/cli/lib.sh"

# Waits need a clock that advances.
# shellcheck disable=SC2034 # fresh uses it
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
slice='--topology 4x4 --accelerator v6e --slices 1'

# shellcheck disable=SC2086
{
fresh 'v6e 4x4 x1'
ok 0 "the only slice is reserved" reserve first $slice
baseline
ok 5 "the wait for it ends" reserve second $slice --wait-for 100ms
err "with the reasons" "not now"
ok 6 "what never fits is refused at once" reserve second --topology 4x4 --accelerator v6e --slices 2 --wait-for 1h
holds "a wait changes nothing" unchanged

"$top_builddir/cli/quoit" reserve second $slice --wait-for 60s >"$tmp/waiter" 2>&1 &
waiter=$!
sleep 0.5
ok 0 "meanwhile the slice is released" release first
holds "the waiting request gets it" wait $waiter
holds "as a group" grep -q "second@2 is reserved" "$tmp/waiter"

"$top_builddir/cli/quoit" hold third $slice --lease 1h --wait-for 60s >"$tmp/waiter" 2>&1 &
waiter=$!
ok 0 "another process releases that, too" release second
holds "a hold waits as well" wait $waiter

ok 0 "the hold is released" release third
ok 0 "a lease that ends soon" reserve fourth $slice --lease 1500ms
ok 0 "a wait notices that a lease ends, which is no change" reserve fifth $slice --wait-for 60s -o json
fact "it has the slice" 'd["group"]["group"], d["group"]["state"]' "('fifth@5', 'reserved')"

baseline
refused 2 "a wait at a fixed time" "--wait-for cannot be combined with --now" reserve sixth $slice --wait-for 1s --now 2040-01-01T00:00Z
refused 2 "a dry run that waits" "--wait-for cannot be combined with --dry-run" reserve sixth $slice --wait-for 1s --dry-run
refused 2 "a wait of no time" "--wait-for 'soon'" reserve sixth $slice --wait-for soon
refused 2 "a line of a what-if that waits" "--wait-for" what-if "reserve sixth $slice --wait-for 1s"
refused 2 "an alternative that waits" "unknown option '--wait-for'" reserve sixth $slice --else $slice --wait-for 1s
}
finish
