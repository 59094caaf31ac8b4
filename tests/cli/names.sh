#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every name that a row shows can be used as an argument, even if two clusters use the same names.
. "$top_srcdir/tests/cli/lib.sh"
fresh
sed 's/two-slices/other/' "$two_slices" >"$tmp/other.yaml"
ok 0 "a cluster" import raycluster "$two_slices" --now "$now"
ok 0 "nothing is ambiguous yet" nodes
out "and names are short" "tpu-group-0-0 "
holds "all of them" test "$(grep -c / "$tmp/out")" -eq 0
ok 0 "another one" import raycluster "$tmp/other.yaml" --now "$now"
ok 0 "a group of both" reserve train --topology 4x4 --accelerator v6e --slices 3 --key k --now "$now"
out "says which is which" "two-slices/tpu-group/tpu-group-0-3"
baseline

# typed VERB COLUMN: `show` finds each name in the column of the table.
typed ()
{
  quoit "$1" | tail -n +2 | awk -v c="$2" '{ print $c }' >"$tmp/names"
  holds "$1 has rows" test -s "$tmp/names"
  while read -r name; do
    ok 0 "$1: $name can be shown" show "$name"
  done <"$tmp/names"
}
typed nodes 1
typed slices 1
typed groups 1

# full ARRAY: `show` finds each full_name of the last document, as the same kind of object.
full ()
{
  fact "$1: every row has a full name" "all(r['full_name'] for r in d['$1'])" True
  "$python" -c 'import json, sys
for row in json.load(open(sys.argv[1]))[sys.argv[2]]: print(row["full_name"])' "$tmp/out" "$1" >"$tmp/names"
  while read -r name; do
    ok 0 "$1: $name can be shown" show "$name"
    holds "and is that" grep -qE "^full name: +$name\$" "$tmp/out"
  done <"$tmp/names"
}
if [ -n "$python" ]; then
  ok 0 "nodes" nodes -o json
  full nodes
  ok 0 "slices" slices -o json
  full slices
  ok 0 "workers" show train -o json
  full workers
  ok 0 "processes" env train -o json
  full processes
  ok 0 "holders" who-holds other/tpu-group/tpu-group-1 -o json
  full nodes
else
  skip "full names: no python3"
fi

ok 0 "drain" drain two-slices/tpu-group/tpu-group-1-0 --now "$now" -o json
fact "says both names" 'd["node"], d["full_name"]' "('tpu-group-1-0', 'two-slices/tpu-group/tpu-group-1-0')"
ok 0 "dead" set-state two-slices/tpu-group/tpu-group-1-1 dead --now "$now"
ok 0 "status" status
out "a problem has a name to type" "two-slices/tpu-group/tpu-group-1 "
baseline

# --- env selects among slices with the same name
refused 3 "an ambiguous slice is refused" "--slice: |'tpu-group-0' is ambiguous|'other/tpu-group/tpu-group-0'" env train --slice tpu-group-0
refused 3 "as show does" "'tpu-group-0' is ambiguous|'other/tpu-group/tpu-group-0'" show tpu-group-0
ok 0 "a full name is not" env train --slice two-slices/tpu-group/tpu-group-0 --worker 2 -o env
out "and is the right one" "tpu-group-0-2.two-slices-headless"
out "by its id" "MEGASCALE_SLICE_ID='2'"
ok 0 "the other" env train --slice other/tpu-group/tpu-group-0 --worker 2 -o env
out "is the other" "MEGASCALE_SLICE_ID='0'"
refused 4 "a slice that the group has not" "--slice 'two-slices/tpu-group/tpu-group-1'|expected a slice of the group: other/tpu-group/tpu-group-0" \
  env train --slice two-slices/tpu-group/tpu-group-1

# --- removed groups
ok 0 "release" release train --now "$now"
ok 0 "a second train" reserve train --topology 4x4 --accelerator v6e --slices 1 --key k2 --now "$now"
ok 0 "show finds the one that lives" show train -o json
fact "first" 'd["group"]["state"]' reserved
ok 0 "and the other by its id" show train@1 -o json
fact "which was released" 'd["group"]["state"], d["group"]["key"]' "('removed', 'k')"
ok 0 "release" release train --now "$now"
ok 0 "of two that have gone" show train -o json
fact "the younger is shown" 'd["group"]["key"]' k2
baseline
refused 3 "neither has an environment" "group 'train@1' was released at|it has no workers" env train@1
refused 3 "in any form" "it has no workers" env train@1 -o env

finish
