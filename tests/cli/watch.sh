#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# watch: the changes of other processes, as lines and as JSON.
. "$top_srcdir/tests/cli/lib.sh"

# shellcheck disable=SC2034 # fresh uses it
now=$(date -u +%Y-%m-%dT%H:%M:%SZ)
fresh 'v6e 4x4 x1'
ok 0 "what is there is printed" watch --since 0 --entries 1
out "as a line" " import: "
holds "one line" test "$(wc -l <"$tmp/out")" -eq 1

"$top_builddir/cli/quoit" watch --entries 2 -o json >"$tmp/seen" 2>&1 &
watcher=$!
sleep 0.5
ok 0 "a group is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1
ok 0 "and released" release train
holds "the watch ends after two entries" wait $watcher
holds "each line is a document" "$python" -c "
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
assert [(line['seq'], line['verb']) for line in lines] == [(2, 'reserve'), (3, 'release')], lines
assert lines[0]['effects'][0]['group'] == 'train', lines
" "$tmp/seen"

"$top_builddir/cli/quoit" watch --since 0 | head -n 1 >"$tmp/seen"
holds "a reader that leaves ends the watch" grep -q import "$tmp/seen"
if [ -w /dev/full ]; then
  "$top_builddir/cli/quoit" watch >/dev/full 2>"$tmp/full" &
  watcher=$!
  sleep 0.5
  ok 0 "a change that the watch cannot print" drain v6e-4x4-0-0
  status=0
  wait $watcher || status=$?
  holds "it failed, and claims no change" test $status -eq 8
  ok 0 "the node is undrained" undrain v6e-4x4-0-0
fi
if unshare -Ur true 2>/dev/null; then
  unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_watches && exec timeout 20 "$1" watch' sh "$top_builddir/cli/quoit" >"$tmp/out" 2>"$tmp/err"
  holds "without room for watches, a watch fails at once" grep -q "max_user_watches" "$tmp/err"
fi
baseline
refused 4 "a number that is still to come" "entry '99'" watch --since 99 --entries 1
refused 3 "a number of no entries" "--entries '0'" watch --entries 0
refused 3 "a negative number" "--since '-1'" watch --since=-1
refused 2 "an argument" "train" watch train
refused 2 "CSV" "--output 'csv'" watch -o csv
finish
