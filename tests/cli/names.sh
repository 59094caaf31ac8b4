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

# --- status names what is draining, and what ends that, each node once
drained ()
{
  ok 0 "status prints $1" status -o json
  fact "status names $1" '[(p["kind"], p["name"], p["problem"]) for p in d["problems"] if "draining" in p["problem"] and p["kind"] != "group"]' "$2"
}
drained "a node with its full name" "[('node', 'tpu-group-1-0', \"it is draining: 'quoit undrain node two-slices/tpu-group/tpu-group-1-0' ends that\")]"
ok 0 "the command that status names" undrain node two-slices/tpu-group/tpu-group-1-0 --now "$now"
drained "nothing" "[]"
ok 0 "a slice is drained" drain slice other/tpu-group/tpu-group-1 --now "$now"
drained "a slice" "[('slice', 'tpu-group-1', \"its 4 nodes are draining: 'quoit undrain slice other/tpu-group/tpu-group-1' ends that\")]"
ok 0 "the command that status names" undrain slice other/tpu-group/tpu-group-1 --now "$now"
ok 0 "a pool is drained" drain pool two-slices/tpu-group --now "$now"
drained "a pool" "[('pool', 'tpu-group', \"its 7 nodes are draining: 'quoit undrain pool two-slices/tpu-group' ends that\")]"
ok 0 "the command that status names" undrain pool two-slices/tpu-group --now "$now"
drained "nothing" "[]"
baseline

# --- the time for many pools is not that of all pairs of them, which would be more than 10 s
export QUOIT_DB="$tmp/pools.db"
awk 'BEGIN { for (i = 0; i < 40000; i++) { printf "%sv5e 2x4 x1 pool=p%d hostchips=4 zone=z", separator, i; separator = "; " } }' >"$tmp/pools.txt"
ok 0 "a ledger for many pools" init
holds "many pools are imported" sh -c '"$1" import fleet - <"$2" >/dev/null' sh "$program" "$tmp/pools.txt"
ok 0 "all of them are drained" drain zone z --now "$now"
holds "status names them in time" sh -c 'ulimit -t 6 && "$1" status >"$2"' sh "$program" "$tmp/out"
out "the last pool is drained" "quoit undrain pool p39999"
export QUOIT_DB="$tmp/quoit.db"

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

# --- short ids: rows show 8 digits of names that are ids of Ray, and all verbs accept them
id ()
{
  printf '%s00000000000000000000000000%s' "$1" "$2"
}
one=$(id cac052a2 01) other=$(id cac052a2 02) removed=$(id cac052a2 03) single=$(id 0123abcd 04)
fresh
ok 0 "a fleet" import fleet 'v6e 4x4 x12 pool=a' --now "$now"
for name in "$removed" "$single"; do
  ok 0 "$name is held" hold "$name" --key "$name" --topology 4x4 --accelerator v6e --slices 1..2 --lease 10m --now "$now"
done
ok 0 "a short id is enough for release" release cac052a2 --now "$now" -o json
fact "it has released the group" 'd["name"]' "$removed"
ok 0 "groups prints short ids" groups
out "a row has the short id" "0123abcd@2"
ok 0 "renew accepts a short id" renew 0123abcd@2 --lease 20m --now "$now"
ok 0 "renew accepts a short id among several names" renew 0123abcd "$single" --lease 20m --now "$now"
ok 0 "confirm accepts a short id" confirm 0123abcd@2 --now "$now"
ok 0 "update accepts a short id" update 0123abcd@2 --priority 3 --now "$now"
ok 0 "resize accepts a short id" resize 0123abcd@2 --slices 1 --now "$now"
ok 0 "resize --dry-run accepts a short id" resize 0123abcd --slices 2 --now "$now" --dry-run
ok 0 "repair accepts a short id" repair 0123abcd@2 --now "$now"
baseline
refused 7 "an intact group with a short id" "'$single@2' has all of its slices" explain 0123abcd@2
ok 0 "env accepts a short id" env 0123abcd@2
ok 0 "mesh accepts a short id" mesh 0123abcd@2 --axes data=16
ok 0 "map accepts a short id" map 0123abcd@2
ok 0 "show accepts a short id" show 0123abcd@2
ok 0 "fits --near accepts a short id" fits --near 0123abcd@2 --topology 4x4 --accelerator v6e --slices 1
ok 0 "when --near accepts a short id" when --near 0123abcd --topology 4x4 --accelerator v6e --slices 1
ok 0 "explain --near accepts a short id" explain --near 0123abcd --topology 4x4 --accelerator v6e --slices 1
printf '%s\n' 'resize 0123abcd --slices 2' 'reserve b --near 0123abcd --topology 4x4 --accelerator v6e --slices 1' 'release 0123abcd@2' >"$tmp/lines"
ok 0 "what-if accepts short ids" what-if --file "$tmp/lines"
out "a line has released the group" "1 group ends"
ok 0 "forget accepts a short id" forget cac052a2@1 --now "$now" -o json
fact "it has forgotten the group" 'd["forgotten"]' "$removed@1"
for name in "$one" "$other"; do
  ok 0 "$name is reserved" reserve "$name" --topology 4x4 --accelerator v6e --slices 1 --now "$now"
done
baseline
for verb in release confirm repair 'resize --slices 1' 'renew --lease 1m' 'update --priority 1' explain env 'mesh --axes data=16' map show; do
  # shellcheck disable=SC2086
  refused 3 "an ambiguous short id" "group name 'cac052a2' is ambiguous: expected '$one' or '$other'" $verb cac052a2
done
refused 3 "an ambiguous short id of --near" "--near: group name 'cac052a2' is ambiguous" \
  reserve x --near cac052a2 --topology 4x4 --accelerator v6e --slices 1 --now "$now"
refused 4 "digits of no group" "no group 'cac052ab'" release cac052ab --now "$now"
refused 7 "a short id with the number of another group" "no group 'cac052a2'|id 2 belongs to group '$single'" release cac052a2@2 --now "$now"
ok 0 "the number of a group makes a short id unambiguous" release cac052a2@4 --now "$now" -o json
fact "the number decides" 'd["name"]' "$other"
ok 0 "digits of a live group are not ambiguous with a removed one" show cac052a2
ok 0 "a group has a name like a short id" reserve cac052a2 --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "show prints the group of this name" show cac052a2 -o json
fact "the same name wins" 'd["group"]["name"]' cac052a2
ok 0 "the group of this name is released" release cac052a2 --now "$now" -o json
fact "the same name wins in a change" 'd["name"]' cac052a2

# --- the time for many groups is not that of all pairs of them, which would be 10 s
export QUOIT_DB="$tmp/groups.db"
awk 'BEGIN { printf "v5e 1x1 x60000"; for (i = 0; i < 60000; i++) printf "; group cac052a2%028x v5e 1x1", i }' >"$tmp/groups.txt"
ok 0 "a ledger for many groups" init
holds "many groups are imported" sh -c '"$1" import fleet - <"$2" >/dev/null' sh "$program" "$tmp/groups.txt"
holds "a short id of many groups is refused in time" \
  sh -c 'ulimit -t 5; "$1" show cac052a2 2>"$2"; test $? -eq 3' sh "$program" "$tmp/err"
err "the message names some of them" "or one of 59992 more"

finish
