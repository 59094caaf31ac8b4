#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One JSON format: nodes and groups in `export json` have the names, types and values of the verbs' own JSON. With -o
# json every failure is a document.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v5e 2x2 x2 pool=small busy=1'
ok 0 "a manifest is imported" import raycluster "$two_slices" --now "$now"
ok 0 "a group is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --key k --now "$now"
ok 0 "set-state marks a node of the group dead" set-state tpu-group-0-1 dead --now "$now"
ok 0 "a second group is reserved" reserve gone --topology 4x4 --accelerator v6e --slices 1 --key g --owner ann --now "$now"
quoit release gone --now 2026-05-01T09:31:00Z >/dev/null
for verb in nodes groups status; do
  quoit "$verb" -o json >"$tmp/$verb.json"
done
quoit show tpu-group-0-0 -o json >"$tmp/show.json"

# same SENTENCE VERB EXPRESSION EXPRESSION: compares expressions of the document d of `export` and o of the verb.
same ()
{
  if [ -z "$python" ]; then
    skip "$1: no python3"
    return
  fi
  holds "$1" "$python" -c 'import json, sys
d, o = (json.load(open(f, encoding="utf-8")) for f in sys.argv[1:3])
a, b = eval(sys.argv[3]), eval(sys.argv[4])
assert a == b and a, (a, b)' "$tmp/out" "$tmp/$2.json" "$3" "$4"
}
ok 0 "export json succeeds" export json
json "the export has the schema of quoit"
same "nodes in the export equal those of 'nodes'" nodes '[{k: n[k] for k in o["nodes"][0]} for n in d["nodes"]]' 'o["nodes"]'
same "groups in the export equal those of 'groups'" groups '[{k: g[k] for k in set(o["groups"][0]) - {"ray_state", "alternative"}} for g in d["groups"]]' \
  '[{k: g[k] for k in set(g) - {"ray_state", "alternative"}} for g in o["groups"]]'
same "sources in the export equal those of 'status'" status '[(s["source"], s["kind"]) for s in d["sources"]]' '[(s["source"], s["kind"]) for s in o["sources"]]'
same "desired workers in the export equal those of 'status'" status '[sum(p["desired_workers"] or 0 for p in s["pools"]) for s in d["sources"]]' \
  '[s["desired_workers"] or 0 for s in o["sources"]]'
same "sequence number and clock equal those of 'status'" status 'd["seq"], d["clock"]' 'o["seq"], o["clock"]'
same "labels in the export equal those of 'show'" show '[n["labels"] for n in d["nodes"] if n["node"] == "tpu-group-0-0"][0]' 'o["labels"]'
same "resources in the export equal those of 'show'" show '[n["resources"] for n in d["nodes"] if n["node"] == "tpu-group-0-0"][0]' 'o["resources"]'
fact "states and times of groups are texts" '[(g["state"], g["since"], g["ended"]) for g in d["groups"]]' \
  "[('rescheduling', '2026-05-01T09:30:00.000Z', None), ('removed', '2026-05-01T09:30:00.000Z', '2026-05-01T09:31:00.000Z')]"
fact "labels have slice and worker" '[(n["labels"]["ray.io/tpu-slice-name"], n["labels"]["ray.io/tpu-worker-id"]) for n in d["nodes"] if n["node"] == "tpu-group-1-2"]' \
  "[('tpu-group-1', '2')]"
fact "the member is named accelerator, not generation" 'sorted({n["accelerator"] for n in d["nodes"] if n["accelerator"]}), any("generation" in n for n in d["nodes"])' \
  "(['v5e', 'v6e'], False)"
fact "external use has no group" '[n["held_by"] for n in d["nodes"] if n["node"] == "small-1-0"]' "[['external']]"
fact "ids join nodes and groups" '[[n["id"] for n in d["nodes"] if n["group_ids"] == [g["id"]]] == sum(g["node_ids"], []) for g in d["groups"]]' "[True, True]"
holds "the condition is spelled partly_used everywhere" test -z "$(quoit slices -o json | grep -e partly- -e 'partly used')"

# --- an absent holder is null
ok 0 "who-holds prints a group without owner" who-holds tpu-group-0-0 -o json
fact "the owner is null" 'd["nodes"][0]["owners"]' "[None]"
ok 0 "who-holds prints a table" who-holds tpu-group-0-0
holds "a missing owner is a dash in the table" grep -qE 'train@1 +- +2026' "$tmp/out"

# --- failures
# failed STATUS CODE TEXT WORD...: runs with -o json in each of its forms; each prints one document.
failed ()
{
  expected=$1 code=$2 text=$3
  shift 3
  ok "$expected" "$* exits with $expected" "$@"
  json "$*: the error is JSON"
  fact "$*: the error has code, status and message" "d['error']['code'], d['error']['status'], \"$text\" in d['error']['message'], len(d)" \
    "('$code', $expected, True, 2)"
}
failed 2 USAGE "'frobnicate' is not a verb" frobnicate -o json
failed 2 USAGE "expected a verb" -o json
failed 2 USAGE "unknown option '--frob'" status -o json --frob
failed 2 USAGE "expected no argument" status x --output=json
failed 2 USAGE "expected also --slices N" --output json fits --topology 4x4 --accelerator v6e
failed 3 INVALID "topology '4x'" fits --topology 4x --accelerator v6e --slices 1 -o json
failed 3 INVALID "--now 'noon'" status --now noon -o json
failed 4 NOT_FOUND "'nothing'" show nothing -o json
failed 4 NOT_FOUND "no group 'nothing'" env nothing -o json
failed 4 NOT_FOUND "/no/such" --db /no/such status -o json
failed 4 NOT_FOUND "/no/such" import raycluster /no/such -o json
failed 7 CONFLICT "'train'" release train@99 --now "$now" -o json
failed 8 STORE "/no/such" backup /no/such/copy.db -o json
baseline
refused 4 "unknown name without -o json" "nothing" show nothing
holds "an error without -o json prints nothing on stdout" test ! -s "$tmp/out"
ok 2 "-o json after -- is no option" show -- -o json
holds "an error with -o json after -- prints nothing on stdout" test ! -s "$tmp/out"
ok 6 "a refused reservation prints JSON" reserve more --topology 4x4 --accelerator v6e --slices 9 -o json --now 2026-05-01T09:31:00Z
json "the refusal is one JSON document"
fact "the refusal has the error and the report" 'd["error"]["code"], d["verdict"]' "('NEVER', 'never')"

finish
