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

# --- what-if on a fleet without a ledger
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
