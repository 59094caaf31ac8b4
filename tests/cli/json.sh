#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# One JSON format: nodes and groups in `export json` have the names, types and values of the verbs' own JSON. With -o
# json every failure is a document.
. "$top_srcdir/tests/cli/lib.sh"
fresh 'v5e 2x2 x2 pool=small busy=1'
ok 0 "a manifest" import raycluster "$two_slices" --now "$now"
ok 0 "a group" reserve train --topology 4x4 --accelerator v6e --slices 1 --key k --now "$now"
ok 0 "that loses a node" set-state tpu-group-0-1 dead --now "$now"
ok 0 "a group that has gone" reserve gone --topology 4x4 --accelerator v6e --slices 1 --key g --owner ann --now "$now"
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
ok 0 "the export" export json
json "is a document of ours"
same "nodes are what 'nodes' says" nodes '[{k: n[k] for k in o["nodes"][0]} for n in d["nodes"]]' 'o["nodes"]'
same "groups are what 'groups' says" groups '[{k: g[k] for k in set(o["groups"][0]) - {"ray_state"}} for g in d["groups"]]' \
  '[{k: g[k] for k in set(g) - {"ray_state"}} for g in o["groups"]]'
same "sources have their kinds" status '[(s["source"], s["kind"]) for s in d["sources"]]' '[(s["source"], s["kind"]) for s in o["sources"]]'
same "and what a manifest desires" status '[sum(p["desired_workers"] or 0 for p in s["pools"]) for s in d["sources"]]' \
  '[s["desired_workers"] or 0 for s in o["sources"]]'
same "the clock is a time" status 'd["seq"], d["clock"]' 'o["seq"], o["clock"]'
same "labels are those of 'show'" show '[n["labels"] for n in d["nodes"] if n["node"] == "tpu-group-0-0"][0]' 'o["labels"]'
same "and so are resources" show '[n["resources"] for n in d["nodes"] if n["node"] == "tpu-group-0-0"][0]' 'o["resources"]'
fact "states are words" '[(g["state"], g["since"], g["ended"]) for g in d["groups"]]' \
  "[('rescheduling', '2026-05-01T09:30:00.000Z', None), ('removed', '2026-05-01T09:30:00.000Z', '2026-05-01T09:31:00.000Z')]"
fact "labels name slice and worker" '[(n["labels"]["ray.io/tpu-slice-name"], n["labels"]["ray.io/tpu-worker-id"]) for n in d["nodes"] if n["node"] == "tpu-group-1-2"]' \
  "[('tpu-group-1', '2')]"
fact "nothing says generation" 'sorted({n["accelerator"] for n in d["nodes"] if n["accelerator"]}), any("generation" in n for n in d["nodes"])' \
  "(['v5litepod', 'v6e'], False)"
fact "external use is nobody's" '[n["held_by"] for n in d["nodes"] if n["node"] == "small-1-0"]' "[['external']]"
fact "ids join nodes and groups" '[[n["id"] for n in d["nodes"] if n["group_ids"] == [g["id"]]] == sum(g["node_ids"], []) for g in d["groups"]]' "[True, True]"
holds "one spelling for partly used" test -z "$(quoit slices -o json | grep -e partly- -e 'partly used')"

# --- an absent holder is null
ok 0 "a holder without an owner" who-holds tpu-group-0-0 -o json
fact "has none" 'd["nodes"][0]["owners"]' "[None]"
ok 0 "for people" who-holds tpu-group-0-0
holds "is a dash" grep -qE 'train@1 +- +2026' "$tmp/out"

# --- failures
# failed STATUS CODE TEXT WORD...: runs with -o json in each of its forms; each prints one document.
failed ()
{
  expected=$1 code=$2 text=$3
  shift 3
  ok "$expected" "$* fails" "$@"
  json "$*: a document"
  fact "$*: code, status and message" "d['error']['code'], d['error']['status'], \"$text\" in d['error']['message'], len(d)" \
    "('$code', $expected, True, 2)"
}
failed 2 USAGE "'frobnicate' is not a verb" frobnicate -o json
failed 2 USAGE "expected a verb" -o json
failed 2 USAGE "unknown option --frob" status -o json --frob
failed 2 USAGE "expected the arguments" status x --output=json
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
refused 4 "without -o json there is a message alone" "nothing" show nothing
holds "and stdout stays empty" test ! -s "$tmp/out"
ok 2 "behind -- it is no option" show -- -o json
holds "and stdout stays empty too" test ! -s "$tmp/out"
ok 6 "a refusal is one document" reserve more --topology 4x4 --accelerator v6e --slices 9 -o json --now 2026-05-01T09:31:00Z
json "with the error in it"
fact "and the report" 'd["error"]["code"], d["verdict"]' "('NEVER', 'never')"

finish
