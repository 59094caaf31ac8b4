#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every name that a row shows can be used as an argument, even if two clusters use the same names.
. "$top_srcdir/tests/cli/lib.sh"
fresh
sed 's/two-slices/other/' "$two_slices" >"$tmp/other.yaml"
ok 0 "a cluster is imported" import raycluster "$two_slices" --now "$now"
ok 0 "nodes prints one source" nodes
out "unambiguous names are short" "tpu-group-0-0 "
holds "no name is a full name" test "$(grep -c / "$tmp/out")" -eq 0
ok 0 "a second cluster with the same names is imported" import raycluster "$tmp/other.yaml" --now "$now"
ok 0 "a group with slices of both clusters is reserved" reserve train --topology 4x4 --accelerator v6e --slices 3 --key k --now "$now"
out "reserve prints full names of ambiguous nodes" "two-slices/tpu-group/tpu-group-0-3"
baseline

# typed VERB COLUMN: `show` finds each name in the column of the table.
typed ()
{
  quoit "$1" | tail -n +2 | awk -v c="$2" '{ print $c }' >"$tmp/names"
  holds "$1 prints names" test -s "$tmp/names"
  while read -r name; do
    ok 0 "$1: show accepts $name" show "$name"
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
    ok 0 "$1: show accepts the full name $name" show "$name"
    holds "$1: show prints the full name $name" grep -qE "^full name: +$name\$" "$tmp/out"
  done <"$tmp/names"
}
if [ -n "$python" ]; then
  ok 0 "nodes prints JSON with full names" nodes -o json
  full nodes
  ok 0 "slices prints JSON with full names" slices -o json
  full slices
  ok 0 "show prints JSON with full names" show train -o json
  full workers
  ok 0 "env prints JSON with full names" env train -o json
  full processes
  ok 0 "who-holds prints JSON with full names" who-holds other/tpu-group/tpu-group-1 -o json
  full nodes
else
  skip "full names: no python3"
fi

ok 0 "drain accepts a full name" drain two-slices/tpu-group/tpu-group-1-0 --now "$now" -o json
fact "drain prints short and full name" 'd["node"], d["full_name"]' "('tpu-group-1-0', 'two-slices/tpu-group/tpu-group-1-0')"
ok 0 "set-state accepts a full name" set-state two-slices/tpu-group/tpu-group-1-1 dead --now "$now"
ok 0 "status prints ambiguous names" status
out "a problem is printed with the full name" "two-slices/tpu-group/tpu-group-1 "
baseline

# --- env selects among slices with the same name
refused 3 "ambiguous --slice" "--slice: |'tpu-group-0' is ambiguous|'other/tpu-group/tpu-group-0'" env train --slice tpu-group-0
refused 3 "ambiguous name in show" "'tpu-group-0' is ambiguous|'other/tpu-group/tpu-group-0'" show tpu-group-0
ok 0 "env --slice accepts a full name" env train --slice two-slices/tpu-group/tpu-group-0 --worker 2 -o env
out "the full name selects the slice of the first cluster" "tpu-group-0-2.two-slices-headless"
out "the slice of the first cluster has slice id 2" "MEGASCALE_SLICE_ID='2'"
ok 0 "env --slice accepts the full name of the second cluster" env train --slice other/tpu-group/tpu-group-0 --worker 2 -o env
out "the slice of the second cluster has slice id 0" "MEGASCALE_SLICE_ID='0'"
refused 4 "--slice that the group does not have" "--slice 'two-slices/tpu-group/tpu-group-1'|expected a slice of the group: other/tpu-group/tpu-group-0" \
  env train --slice two-slices/tpu-group/tpu-group-1

# --- removed groups
ok 0 "the first group train is released" release train --now "$now"
ok 0 "a second group train is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --key k2 --now "$now"
ok 0 "show prints the name of two groups" show train -o json
fact "show prefers the live group" 'd["group"]["state"]' reserved
ok 0 "show accepts the handle of the released group" show train@1 -o json
fact "the handle selects the released group" 'd["group"]["state"], d["group"]["key"]' "('removed', 'k')"
ok 0 "the second group train is released" release train --now "$now"
ok 0 "show prints the name of two released groups" show train -o json
fact "show prefers the newest released group" 'd["group"]["key"]' k2
baseline
refused 3 "env of a released group" "group 'train@1' was released at|it has no workers" env train@1
refused 3 "env -o env of a released group" "it has no workers" env train@1 -o env

finish
