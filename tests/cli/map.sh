#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pictures of slices: every chip at its coordinates with its holder, as text, JSON and SVG.
. "$top_srcdir/tests/cli/lib.sh"

# picture 'sentence' <<EXPECTED: compares the stdout of the last run.
picture ()
{
  cat >"$tmp/expected"
  holds "$1" diff -u "$tmp/expected" "$tmp/out"
}

# --- one letter per group, '.' free, '~' draining, '#' dead, '+' external use; one layer per z
fresh 'v6e 4x4 x2 pool=flat dead=1.3; v5p 2x2x4 x1 pool=deep busy=0.2 draining=0.1; v6e 2x4 x1 pool=two hostchips=4; v6e 2x4 x1 pool=one'
ok 0 "a slice is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "three chips of a host are reserved as bundles" reserve odd --bundle TPU=2 --bundle TPU=0.5 --pool one --now "$now"
baseline
ok 0 "map prints the whole fleet" map
picture "each slice is drawn" <<'PICTURE'
deep-0: v5p 2x2x4, hosts of 2x2x1 chips, no ring
z=0     z=1     z=2     z=3
. .     ~ ~     + +     . .
. .     ~ ~     + +     . .

v6e 4x4, hosts of 2x2 chips, no ring:

flat-0     flat-1
a a a a    . . . .
a a a a    . . . .
a a a a    . . # #
a a a a    . . # #

one-0: v6e 2x4, hosts of 2x4 chips, no ring
b b
b .
. .
. .

two-0: v6e 2x4, hosts of 2x2 chips, no ring
. .
. .
. .
. .

a train@1: 16 chips
b odd@2: 3 chips
. idle: 33
~ on a draining host: 4
# on a dead host: 4
+ in external use: 4
PICTURE
holds "map writes no entry" unchanged
ok 0 "map accepts the name of a slice" map two-0
out "the named slice is drawn" 'two-0: v6e 2x4, hosts of 2x2 chips'
holds "no other slice is drawn" test "$(grep -c 'hosts of' "$tmp/out")" = 1
ok 0 "map accepts the full name of a slice" map fleet/flat/flat-1
out "the legend counts chips of dead hosts" '# on a dead host: 4'
ok 0 "map accepts the name of a group" map odd
holds "only slices with chips of the group are drawn" test "$(grep 'hosts of' "$tmp/out" | cut -d: -f1)" = one-0
out "the group has the first letter of the legend" 'a odd@2: 3 chips'
ok 0 "map accepts the handle of a group" map train@1
holds "the slices of the handle are drawn" test "$(grep 'hosts of' "$tmp/out" | cut -d: -f1)" = flat-0
ok 0 "map accepts the name of a pool" map flat
holds "all slices of the pool are drawn side by side" grep -qx 'flat-0     flat-1' "$tmp/out"
ok 0 "map accepts the full name of a pool" map fleet/flat
holds "all slices of the full pool name are drawn" grep -qx 'flat-0     flat-1' "$tmp/out"

# --- an allocated host that drains or dies is shown in that state, and the legend counts it for its group
ok 0 "a host of the group is drained" drain flat-0-1 --now "$now"
ok 0 "set-state marks a second host dead" set-state flat-0-2 dead --now "$now"
ok 0 "map prints a group with a draining and a dead host" map train
picture "draining and dead hosts are drawn" <<'PICTURE'
flat-0: v6e 4x4, hosts of 2x2 chips, no ring
a a ~ ~
a a ~ ~
# # a a
# # a a

a train@1: 16 chips, 4 draining, 4 dead
. idle: 0
~ on a draining host: 4
# on a dead host: 4
PICTURE

# --- the past, and an empty ledger
ok 0 "map --at reads the past" map flat-0 --at 1
out "all chips were idle at entry 1" '. idle: 16'
fresh
ok 0 "map reads an empty ledger" map
picture "an empty map has only the legend" <<'PICTURE'
. idle: 0
~ on a draining host: 0
# on a dead host: 0
PICTURE

# --- JSON has the same with coordinates: x first
fresh 'v5p 2x2x4 x1 pool=deep; v5e 16x16 x1 pool=wide; v4 4x4x8 x1 pool=ring'
ok 0 "a slice of v5p is reserved" reserve train --topology 2x2x4 --accelerator v5p --slices 1 --now "$now"
ok 0 "map prints JSON" map deep -o json
json "the map is JSON"
fact "hosts have the coordinates of their worker ids" '[(h["worker_id"], h["x"], h["y"], h["z"]) for h in d["slices"][0]["hosts"]]' \
  '[(0, 0, 0, 0), (1, 0, 0, 1), (2, 0, 0, 2), (3, 0, 0, 3)]'
fact "chips have their coordinates" '[(c["chip"], c["x"], c["y"], c["z"]) for c in d["slices"][0]["hosts"][1]["chips"]]' \
  '[(4, 0, 0, 1), (6, 0, 1, 1), (5, 1, 0, 1), (7, 1, 1, 1)]'
fact "chips have state, symbol and group" '{(c["state"], c["symbol"], *c["held_by"]) for h in d["slices"][0]["hosts"] for c in h["chips"]}' \
  "{('allocated', 'a', 'train@1')}"
fact "the legend counts the chips of each group" '[(r["group"], r["chips"], r["draining"], r["dead"]) for r in d["legend"] if r["group"]]' \
  "[('train@1', 16, 0, 0)]"
ok 0 "map -o json prints all slices" map -o json
fact "closed axes are those of the catalogue" '{s["slice"]: s["wrap"] for s in d["slices"]}' "{'deep-0': '', 'ring-0': 'xyz', 'wide-0': 'xy'}"
ok 0 "map prints a slice with rings" map ring-0
out "the text names the rings" 'ring-0: v4 4x4x8, hosts of 2x2x1 chips, rings along xyz'
holds "layers are printed side by side" test "$(sed -n 2p "$tmp/out" | tr -s ' ')" = 'z=0 z=1 z=2 z=3 z=4 z=5 z=6 z=7'
baseline
refused 2 "CSV output of map" "--output 'csv'|expected table, wide or json" map -o csv

# --- chips without a place are listed by name
cat >"$tmp/nodes.json" <<'NODES'
[{"NodeID": "11111111111111111111111111111111111111111111111111111111", "Alive": true, "NodeManagerAddress": "10.0.0.1",
  "NodeName": "h-0", "Resources": {"CPU": 8.0, "TPU": 4.0, "s": 1.0, "TPU-v6e-16-head": 1.0},
  "Labels": {"ray.io/tpu-slice-name": "s", "ray.io/tpu-worker-id": "0", "ray.io/tpu-topology": "4x4",
             "ray.io/tpu-pod-type": "v6e-16", "ray.io/accelerator-type": "TPU-V6E"}},
 {"NodeID": "22222222222222222222222222222222222222222222222222222222", "Alive": true, "NodeManagerAddress": "10.0.0.2",
  "NodeName": "h-1", "Resources": {"CPU": 8.0, "TPU": 4.0, "s": 1.0},
  "Labels": {"ray.io/tpu-slice-name": "s", "ray.io/tpu-worker-id": "2", "ray.io/tpu-topology": "4x4",
             "ray.io/tpu-pod-type": "v6e-16", "ray.io/accelerator-type": "TPU-V6E"}},
 {"NodeID": "33333333333333333333333333333333333333333333333333333333", "Alive": true, "NodeManagerAddress": "10.0.0.3",
  "NodeName": "h-2", "Resources": {"CPU": 8.0, "TPU": 4.0, "s": 1.0},
  "Labels": {"ray.io/tpu-slice-name": "s", "ray.io/tpu-worker-id": "2", "ray.io/tpu-topology": "4x4",
             "ray.io/tpu-pod-type": "v6e-16", "ray.io/accelerator-type": "TPU-V6E"}},
 {"NodeID": "44444444444444444444444444444444444444444444444444444444", "Alive": true, "NodeManagerAddress": "10.0.0.4",
  "NodeName": "h-3", "Resources": {"CPU": 8.0, "TPU": 4.0, "s": 1.0},
  "Labels": {"ray.io/tpu-slice-name": "s", "ray.io/tpu-worker-id": "9", "ray.io/tpu-topology": "4x4",
             "ray.io/tpu-pod-type": "v6e-16", "ray.io/accelerator-type": "TPU-V6E"}}]
NODES
fresh
ok 0 "contradictory nodes of one slice are imported" import ray-nodes "$tmp/nodes.json" --now "$now"
ok 0 "map prints a contradictory slice" map s
out "missing hosts are drawn as question marks" '. . ? ?'
out "a second node with the same worker id is listed as not drawn" 'not drawn: h-2: another node has its worker id'
out "a node with a worker id beyond the topology is listed as not drawn" 'not drawn: h-3: its worker id is too large for the topology'
out "missing chips are counted" '? missing: 8'
ok 0 "map -o json prints a contradictory slice" map s -o json
fact "JSON lists the nodes that are not drawn" 'len(d["slices"][0]["not_drawn"]), [h["node"] for h in d["slices"][0]["hosts"]]' "(2, ['h-0', None, 'h-1', None])"

# --- SVG: needs no other file, has light and dark colours, title and description
fresh 'v5p 2x2x4 x1 pool=deep dead=0.3; v6e 4x4 x1 pool=flat'
ok 0 "a slice is reserved before drawing" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
ok 0 "map --svg writes a picture" map --svg "$tmp/a.svg"
cp "$tmp/out" "$tmp/text"
ok 0 "map prints text without a picture" map
holds "the text does not depend on --svg" cmp "$tmp/text" "$tmp/out"
cat >"$tmp/svg.py" <<'PYTHON'
"""svg.py FILE EXPRESSION: prints the value of a Python expression about the picture s in FILE."""
import sys
import xml.etree.ElementTree as tree

class Picture:
    def __init__(self, path):
        self.text = open(path, encoding="utf-8").read()
        self.root = tree.parse(path).getroot()
    def all(self, name):
        return [one for one in self.root.iter("{http://www.w3.org/2000/svg}" + name)]
    def boxes(self, kind):
        return sum(one.get("class") == kind for one in self.all("rect"))
    def words(self, name):
        return [one.text for one in self.all(name)]

s = Picture(sys.argv[1])
print(eval(sys.argv[2]), end="")
PYTHON
# drawn NAME FILE EXPRESSION EXPECTED: checks the value of an expression about a picture.
drawn ()
{
  if [ -z "$python" ]; then
    skip "$1: no python3"
    return
  fi
  got=$("$python" "$tmp/svg.py" "$2" "$3" 2>&1)
  holds "$1: '$got' is '$4'" test "$got" = "$4"
}
drawn "the picture has one box per chip and one in the legend" "$tmp/a.svg" 's.boxes("g0"), s.boxes("idle"), s.boxes("dead")' '(17, 13, 5)'
drawn "each host has an outline with its name" "$tmp/a.svg" 's.boxes("host"), s.words("title")[1:3]' \
  "(8, ['worker 0: deep-0-0, alive', 'worker 1: deep-0-1, alive'])"
drawn "the picture has a title" "$tmp/a.svg" 's.words("title")[0]' 'Groups on the chips of all slices'
drawn "the picture has a description" "$tmp/a.svg" 's.words("desc")[0]' \
  '2 slices with 32 chips: train@1: 16 chips; 12 idle, 0 draining, 4 dead, 0 external, 0 missing'
drawn "the picture loads nothing" "$tmp/a.svg" '[w for w in ("href", "url(", "@import", "script", "http") if w in s.text.replace("http://www.w3.org/2000/svg", "")]' '[]'
drawn "the picture has a dark colour scheme" "$tmp/a.svg" '"prefers-color-scheme:dark" in s.text' True
drawn "all shapes are inside the picture" "$tmp/a.svg" \
  'all(float(r.get("x", 0)) + float(r.get("width").rstrip("%")) <= float(s.root.get("width")) and float(r.get("y", 0)) + float(r.get("height").rstrip("%")) <= float(s.root.get("height")) for r in s.all("rect"))' True
drawn "no two chips overlap" "$tmp/a.svg" \
  '(lambda at: len(at) == len(set(at)) == 38)([(r.get("x"), r.get("y")) for r in s.all("rect") if r.get("class") not in ("host", "paper")])' True
fresh 'v6e 4x4 x50 pool=many; v5p 2x2x4 x7 pool=deep'
ok 0 "map prints many slices" map --svg "$tmp/many.svg" --force
holds "a line has several slices" grep -qx 'many-0     many-1     .*' "$tmp/out"
unset COLUMNS
ok 0 "map prints many slices for 80 characters" map
holds "seven slices fit 80 characters" grep -qx 'many-0     many-1     many-2     many-3     many-4     many-5     many-6' "$tmp/out"
holds "no line is wider" awk 'length ($0) > 80 { exit 1 }' "$tmp/out"
export COLUMNS=1000
drawn "no two chips of many slices overlap" "$tmp/many.svg" \
  '(lambda at: len(at) == len(set(at)) == 50 * 16 + 7 * 16 + 5)([(r.get("x"), r.get("y")) for r in s.all("rect") if r.get("class") not in ("host", "paper")])' True
drawn "slices are packed" "$tmp/many.svg" 'float(s.root.get("width")) > 1000 and float(s.root.get("height")) < 1200' True
ok 0 "a second picture replaces the first" map many-0 --svg "$tmp/a.svg" -o json
json "map --svg -o json prints JSON"
drawn "the picture has the second title" "$tmp/a.svg" 's.words("title")[0]' 'Groups on the chips of many-0'
refused 8 "picture in a missing folder" "--svg '/no/such/a.svg'" map --svg /no/such/a.svg
holds "a failed picture prints nothing" test ! -s "$tmp/out"

# --- hostile names remain text
if [ -n "$python" ]; then
  "$python" - "$tmp/nodes.json" <<'PYTHON' >"$tmp/hostile.json"
import json, sys
nodes = json.load(open(sys.argv[1]))[:1]
nodes[0]["NodeName"] = "</title><script>alert(1)</script>&\x1b[31m\ufffe"
json.dump(nodes, sys.stdout)
PYTHON
  fresh
  ok 0 "nodes with hostile names are imported" import ray-nodes "$tmp/hostile.json" --now "$now"
  ok 0 "nodes with hostile names are drawn" map --svg "$tmp/hostile.svg"
  holds "no control bytes of node names reach the terminal" test -z "$(LC_ALL=C tr -d '\n -~' <"$tmp/out")"
  drawn "hostile node names are text in the picture" "$tmp/hostile.svg" 's.all("script"), "</title><script>" in s.words("title")[1]' '([], True)'
  hostile="<b>\"&']]>"
  ok 0 "a group with a hostile name is reserved" reserve "$hostile" --bundle TPU=1 --now "$now"
  ok 0 "a group with a hostile name is drawn" map "$hostile" --svg "$tmp/hostile.svg"
  holds "no control bytes of group names reach the terminal" test -z "$(LC_ALL=C tr -d '\n -~' <"$tmp/out")"
  drawn "the hostile group name is in the legend" "$tmp/hostile.svg" \
    '[w == "<b>\"&\x27]]>@1: 1 chip" for w in s.words("text") if w.startswith("<b>")]' '[True]'
  drawn "the hostile group name is in the title" "$tmp/hostile.svg" 's.words("title")[0].endswith("chips of <b>\"&\x27]]>")' True
  drawn "the hostile group name is in the description" "$tmp/hostile.svg" '"<b>" in s.words("desc")[0], s.all("b")' '(True, [])'
else
  skip "hostile names: no python3"
fi

# --- refusals
fresh 'v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b'
refused 4 "unknown name" "'nothing': expected the name of a slice, group or pool" map nothing
refused 4 "unknown full name" "'x/y/z'" map x/y/z
refused 2 "two names" "unexpected argument 'b'" map a b
ok 0 "a group is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
refused 7 "id of an older group" "'train@1' now, not '@2'" map train@2
ok 0 "a second source with the same pool name is imported" import fleet 'v6e 2x2 x1 pool=a' --source other --now "$now"
baseline
refused 3 "ambiguous pool name" "pool name 'a' is ambiguous: use a full name such as 'fleet/a' or 'other/a'" map a
refused 3 "ambiguous slice name" "'a-0'|ambiguous" map a-0
ok 0 "map accepts the full name of an ambiguous pool" map other/a
out "the full name selects the pool" '2x2, hosts of 2x2 chips'

finish
