#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Groups in fleet text: import, export, and a fleet without a ledger.
. "$top_srcdir/tests/cli/lib.sh"

cat >"$tmp/fleet" <<'TEXT'
# the fleet of May
v6e 4x4 x4 pool=a zone=za;
v6e 4x4 x2 pool=b draining=0; # pool b is old
group train v6e 4x4 x2 pool=a until=2026-05-02T00:00Z owner=ann priority=3 label.team=nlp;
group eval v6e 4x4 pool=a slices=3
TEXT
import_file ()
{
  quoit import fleet - --now "$now" "$@" <"$tmp/fleet" >"$tmp/out" 2>"$tmp/err"
}

fresh
holds "fleet text with groups is imported" import_file -o json
fact "the pools are summarised" '[(p["pool"], p["accelerator"], p["topology"], p["slices"], p["free"], p["degraded"], p["held"], p["n_nodes"]) for p in d["pools"]]' \
  "[('a', 'v6e', '4x4', 4, 1, 0, 3, 16), ('b', 'v6e', '4x4', 2, 1, 0, 0, 8)]"
ok 0 "the groups are listed" groups --now "$now" -o json
fact "with their facts" '[(g["group"], g["state"], g["n_slices"], g["owner"], g["until"], g["source"]) for g in d["groups"]]' \
  "[('train@1', 'reserved', 2, 'ann', '2026-05-02T00:00:00.000Z', None), ('eval@2', 'reserved', 1, None, None, None)]"
ok 0 "the ledger is verified" verify
out "nodes and groups are one entry" "journal entries: 1"
baseline
holds "the same import again succeeds" import_file
holds "and changes nothing" unchanged
refused 3 "a group whose end has passed" "group 'g': until '2020-01-01T00:00:00.000Z': expected a time after" \
  import fleet 'v6e 4x4; group g v6e 4x4 until=2020-01-01T00:00Z' --source other --now "$now"
refused 6 "a group that never fits" "group 'g': 9 x v6e 4x4: never" import fleet 'v6e 4x4; group g v6e 4x4 x9' --source other --now "$now"
refused 3 "a group without a topology" "byte 20: the end: expected a topology" import fleet 'v6e 4x4; group g v6e' --source other --now "$now"
refused 3 "groups alone" "expected also slices" import fleet 'group g v6e 4x4' --source other --now "$now"

# --- export
ok 0 "the fleet is written as text" export fleet --now "$now"
out "with its slices" "v6e 4x4 x4 pool=a zone=za;"
out "and its groups" "group train v6e 4x4 x2 pool=a slices=0-1 until=2026-05-02T00:00:00.000Z owner=ann priority=3 label.team=nlp;"
cp "$tmp/out" "$tmp/written"
ok 0 "slots counts the classes" slots --now "$now" -o json
cp "$tmp/out" "$tmp/slots"
fresh
ok 0 "a ledger without slices" status
refused 4 "an empty fleet" "no slice that fleet text can describe" export fleet --now "$now"
cp "$tmp/written" "$tmp/fleet"
holds "the written text is imported" import_file
ok 0 "slots counts the classes of the copy" slots --now "$now" -o json
holds "they are the same" cmp "$tmp/slots" "$tmp/out"
ok 0 "the copy is written" export fleet --now "$now"
holds "it is the same text" cmp "$tmp/written" "$tmp/out"
ok 0 "a group is released" release train --now "$now"
ok 0 "the past is written" export fleet --at 1
holds "with the group" cmp "$tmp/written" "$tmp/out"

# --- groups of cubes
cp "$tmp/fleet" "$tmp/slices"
cat >"$tmp/fleet" <<'TEXT'
v5p 4x4x4 x8 pool=a block=x grid=2x2x2;
v5p 4x4x4 x4 pool=b block=y;
v5p 4x4x4 x2 pool=c block=y;
group turned v5p 4x4x8 cubes=adjacent pool=a slices=0,2 until=2026-06-01T00:00Z owner=ann;
group joined v5p 4x4x8 x2 cubes=any slices=b:2,c:1,b:0,3 priority=2;
group whole v5p 4x4x4 x2 pool=a slices=1,7;
group free v5p 4x4x8 cubes=any
TEXT
fresh
holds "groups of cubes are imported" import_file
ok 0 "a group is shown" show turned --now "$now"
out "its box is turned to its cubes" "0 4x8x4: a-2      4 a-2-0  whole"
ok 0 "the fleet is written as text" export fleet --now "$now"
out "with cubes of one pool" "group turned v5p 4x4x8 x1 cubes=adjacent pool=a slices=0,2 until="
out "and of several" "group joined v5p 4x4x8 x2 cubes=any slices=b:0,3,2,c:1 priority=2;"
out "and with those that were chosen" "group free v5p 4x4x8 x1 cubes=any slices=b:1,c:0"
cp "$tmp/out" "$tmp/written"
cp "$tmp/out" "$tmp/fleet"
fresh
holds "the written text is imported" import_file
ok 0 "the copy is written" export fleet --now "$now"
holds "it is the same text" cmp "$tmp/written" "$tmp/out"
baseline
holds "the same import again succeeds" import_file
holds "and changes nothing" unchanged
blocks='v5p 4x4x4 x4 pool=a block=x grid=2x2x1; v5p 4x4x4 x2 pool=b block=y; v5p 4x4x4 pool=c; v5p 4x4x4 x2 pool=d block=z busy=1.0'
refused 3 "cubes of two blocks" "group 'g': slice 'other/b/b-0': expected a cube of the same block as the others of its slice" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=any slices=a:0,b:0" --source other --now "$now"
refused 3 "cubes that are not adjacent" "expected cubes of the slice that it begins at adjacent positions, x fastest" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=adjacent pool=a slices=0,3" --source other --now "$now"
refused 6 "a cube without a block" "slice 'other/c/c-0': expected a cube of a block that the request accepts" \
  import fleet "$blocks; group g v5p 4x4x4 cubes=any pool=c slices=0" --source other --now "$now"
refused 5 "a cube in use" "slice 'd-1': expected a cube that is intact, not draining and free" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=any pool=d slices=0-1" --source other --now "$now"
refused 5 "cubes of another group" "group 'h': slice " \
  import fleet "$blocks; group g v5p 4x4x8 cubes=any pool=a slices=0-1; group h v5p 4x4x8 cubes=any pool=a slices=1-2" --source other --now "$now"
refused 3 "too few cubes" "'0-2': expected 2 cubes for each slice" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=any pool=a slices=0-2" --source other --now "$now"
refused 3 "a cube twice" "expected slices of pool 'a': 0 to 3 each once" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=any pool=a slices=0,0" --source other --now "$now"
refused 3 "a slice that the pool does not have" "expected slices of pool 'b': 0 to 1 each once" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=any slices=a:0,b:2" --source other --now "$now"
refused 3 "whole slices twice, in two pools" "expected slices of pool 'b': 0 to 1 in order" \
  import fleet "$blocks; group g v5p 4x4x4 slices=a:0,b:1,0" --source other --now "$now"
refused 3 "a slice of a pool that is named again" "expected slices of pool 'a': 0 to 3 in order" \
  import fleet "$blocks; group g v5p 4x4x4 slices=a:0,b:1,a:0" --source other --now "$now"
refused 3 "a pool that no item has" "also pool=, with a pool of an item before" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=any slices=z:0-1" --source other --now "$now"
refused 3 "unknown cubes" "'some': expected any, any-twisted or adjacent" \
  import fleet "$blocks; group g v5p 4x4x8 cubes=some" --source other --now "$now"
refused 3 "a topology that is not made of cubes" "topology '2x2x4' with cubes 'any'" \
  import fleet "$blocks; group g v5p 2x2x4 cubes=any" --source other --now "$now"

# --- what-if on a fleet without a ledger
cp "$tmp/slices" "$tmp/fleet"
rm -f "$QUOIT_DB"
ok 0 "what-if begins with a file" what-if --fleet "$tmp/fleet" 'renew train --lease 1d; until 2026-05-02T09:00Z; release train' --now "$now" -o json
fact "its groups can be renewed and released" '[(g["line"], g["group"], g["change"]) for g in d["groups"]]' "[(3, 'train@1', 'ends')]"
holds "no database is made" test ! -e "$QUOIT_DB"
rm -f "$tmp/baseline"
echo 'v9 4x4' >"$tmp/bad"
refused 3 "a file that is no fleet text" "bad: byte 0: generation 'v9'" what-if --fleet "$tmp/bad" 'until 2030-01-01T00:00Z' --now "$now"
refused 4 "no such file" "$tmp/none" what-if --fleet "$tmp/none" 'until 2030-01-01T00:00Z' --now "$now"
refused 2 "the past of a file" "--at cannot be combined with --fleet" what-if --fleet "$tmp/fleet" --at 1 'drain a' --now "$now"
finish
