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
ok 0 "a slice is taken" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "and three chips of a host" reserve odd --bundle TPU=2 --bundle TPU=0.5 --pool one --now "$now"
baseline
ok 0 "the whole fleet" map
picture "is drawn slice by slice" <<'PICTURE'
deep-0: v5p 2x2x4, hosts of 2x2x1 chips, no ring
z=0     z=1     z=2     z=3
. .     ~ ~     + +     . .
. .     ~ ~     + +     . .

flat-0: v6e 4x4, hosts of 2x2 chips, no ring
a a a a
a a a a
a a a a
a a a a

flat-1: v6e 4x4, hosts of 2x2 chips, no ring
. . . .
. . . .
. . # #
. . # #

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
+ in use by something that is no group: 4
PICTURE
holds "nothing is changed by looking" unchanged
ok 0 "one slice" map two-0
out "is drawn alone" 'two-0: v6e 2x4, hosts of 2x2 chips'
holds "and no other" test "$(grep -c 'hosts of' "$tmp/out")" = 1
ok 0 "also by its full name" map fleet/flat/flat-1
out "with what is dead" '# on a dead host: 4'
ok 0 "the slices of a group" map odd
holds "are those that it has something of" test "$(grep 'hosts of' "$tmp/out" | cut -d: -f1)" = one-0
out "and it is the first letter there" 'a odd@2: 3 chips'
ok 0 "a group with its id" map train@1
holds "is the same" test "$(grep 'hosts of' "$tmp/out" | cut -d: -f1)" = flat-0
ok 0 "a pool" map flat
holds "has its slices" test "$(grep 'hosts of' "$tmp/out" | cut -d: -f1 | tr '\n' ' ')" = 'flat-0 flat-1 '
ok 0 "a pool by its full name too" map fleet/flat
holds "has them" test "$(grep -c 'hosts of' "$tmp/out")" = 2

# --- an allocated host that drains or dies is shown in that state, and the legend counts it for its group
ok 0 "a host of the group drains" drain flat-0-1 --now "$now"
ok 0 "another is lost" set-state flat-0-2 dead --now "$now"
ok 0 "its map" map train
picture "has both" <<'PICTURE'
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
ok 0 "before anything was taken" map flat-0 --at 1
out "all was idle" '. idle: 16'
fresh
ok 0 "an empty ledger" map
picture "has a legend alone" <<'PICTURE'
. idle: 0
~ on a draining host: 0
# on a dead host: 0
PICTURE

# --- JSON has the same with coordinates: x first
fresh 'v5p 2x2x4 x1 pool=deep; v5e 16x16 x1 pool=wide; v4 4x4x8 x1 pool=ring'
ok 0 "chips are taken" reserve train --topology 2x2x4 --accelerator v5p --slices 1 --now "$now"
ok 0 "the map has JSON" map deep -o json
json "map JSON"
fact "hosts are where their worker ids say" '[(h["worker_id"], h["x"], h["y"], h["z"]) for h in d["slices"][0]["hosts"]]' \
  '[(0, 0, 0, 0), (1, 0, 0, 1), (2, 0, 0, 2), (3, 0, 0, 3)]'
fact "chips too" '[(c["chip"], c["x"], c["y"], c["z"]) for c in d["slices"][0]["hosts"][1]["chips"]]' \
  '[(4, 0, 0, 1), (6, 0, 1, 1), (5, 1, 0, 1), (7, 1, 1, 1)]'
fact "who has them is told" '{(c["state"], c["symbol"], *c["held_by"]) for h in d["slices"][0]["hosts"] for c in h["chips"]}' \
  "{('held', 'a', 'train@1')}"
fact "and how many" '[(r["group"], r["chips"], r["draining"], r["dead"]) for r in d["legend"] if r["group"]]' \
  "[('train@1', 16, 0, 0)]"
ok 0 "rings" map -o json
fact "are those of the catalogue" '{s["slice"]: s["wrap"] for s in d["slices"]}' "{'deep-0': '', 'ring-0': 'xyz', 'wide-0': 'xy'}"
ok 0 "also for people" map ring-0
out "in words" 'ring-0: v4 4x4x8, hosts of 2x2x1 chips, rings along xyz'
holds "layers are beside each other" test "$(sed -n 2p "$tmp/out" | tr -s ' ')" = 'z=0 z=1 z=2 z=3 z=4 z=5 z=6 z=7'
baseline
refused 2 "there are no rows" "--output 'csv'|expected table or json" map -o csv

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
ok 0 "a slice that contradicts itself" import ray-nodes "$tmp/nodes.json" --now "$now"
ok 0 "is drawn as far as it goes" map s
out "hosts that are missing too" '. . ? ?'
out "two with one worker id" 'not drawn: h-2: its place has another node'
out "one that its topology has no place for" 'not drawn: h-3: its topology has no such worker'
out "and what is not there is counted" '? not there: 8'
ok 0 "JSON says the same" map s -o json
fact "of nodes" 'len(d["slices"][0]["not_drawn"]), [h["node"] for h in d["slices"][0]["hosts"]]' "(2, ['h-0', None, 'h-1', None])"

# --- SVG: needs no other file, has light and dark colours, title and description
fresh 'v5p 2x2x4 x1 pool=deep dead=0.3; v6e 4x4 x1 pool=flat'
ok 0 "a slice is taken" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
ok 0 "the picture is a file" map --svg "$tmp/a.svg"
cp "$tmp/out" "$tmp/text"
ok 0 "and the text is the same with it" map
holds "as without" cmp "$tmp/text" "$tmp/out"
cat >"$tmp/svg.py" <<'PYTHON'
"""svg.py FILE EXPRESSION: what it is of the parsed file s."""
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
drawn ()
{
  if [ -z "$python" ]; then
    skip "$1: no python3"
    return
  fi
  got=$("$python" "$tmp/svg.py" "$2" "$3" 2>&1)
  holds "$1: '$got' is '$4'" test "$got" = "$4"
}
drawn "every chip is a box, and one more in the legend" "$tmp/a.svg" 's.boxes("g0"), s.boxes("idle"), s.boxes("dead")' '(17, 13, 5)'
drawn "every host is an outline that says who it is" "$tmp/a.svg" 's.boxes("host"), s.words("title")[1:3]' \
  "(8, ['worker 0: deep-0-0, alive', 'worker 1: deep-0-1, alive'])"
drawn "it has a title" "$tmp/a.svg" 's.words("title")[0]' 'Who has which chips of all slices'
drawn "and says what it shows" "$tmp/a.svg" 's.words("desc")[0]' \
  '2 slices with 32 chips: train@1: 16 chips; 12 idle, 0 draining, 4 dead, 0 external, 0 missing'
drawn "it loads nothing" "$tmp/a.svg" '[w for w in ("href", "url(", "@import", "script", "http") if w in s.text.replace("http://www.w3.org/2000/svg", "")]' '[]'
drawn "it is dark where pages are" "$tmp/a.svg" '"prefers-color-scheme:dark" in s.text' True
drawn "all of it is in the picture" "$tmp/a.svg" \
  'all(float(r.get("x", 0)) + float(r.get("width").rstrip("%")) <= float(s.root.get("width")) and float(r.get("y", 0)) + float(r.get("height").rstrip("%")) <= float(s.root.get("height")) for r in s.all("rect"))' True
drawn "no two chips are in one place" "$tmp/a.svg" \
  '(lambda at: len(at) == len(set(at)) == 38)([(r.get("x"), r.get("y")) for r in s.all("rect") if r.get("class") not in ("host", "paper")])' True
ok 0 "a second picture takes the place of the first" map flat-0 --svg "$tmp/a.svg" -o json
json "beside JSON too"
drawn "it has the second's title" "$tmp/a.svg" 's.words("title")[0]' 'Who has which chips of flat-0'
refused 8 "a folder that is not there" "--svg '/no/such/a.svg'" map --svg /no/such/a.svg
holds "and nothing is printed then" test ! -s "$tmp/out"

# --- hostile names remain text
if [ -n "$python" ]; then
  "$python" - "$tmp/nodes.json" <<'PYTHON' >"$tmp/hostile.json"
import json, sys
nodes = json.load(open(sys.argv[1]))[:1]
nodes[0]["NodeName"] = "</title><script>alert(1)</script>&\x1b[31m\ufffe"
json.dump(nodes, sys.stdout)
PYTHON
  fresh
  ok 0 "hostile names are imported" import ray-nodes "$tmp/hostile.json" --now "$now"
  ok 0 "and drawn" map --svg "$tmp/hostile.svg"
  holds "without control bytes" test -z "$(LC_ALL=C tr -d '\n -~' <"$tmp/out")"
  drawn "as text in the picture" "$tmp/hostile.svg" 's.all("script"), "</title><script>" in s.words("title")[1]' '([], True)'
  hostile="<b>\"&']]>"
  ok 0 "a group of such a name" reserve "$hostile" --bundle TPU=1 --now "$now"
  ok 0 "is drawn" map "$hostile" --svg "$tmp/hostile.svg"
  holds "without control bytes too" test -z "$(LC_ALL=C tr -d '\n -~' <"$tmp/out")"
  drawn "its name is in the legend" "$tmp/hostile.svg" \
    '[w == "<b>\"&\x27]]>@1: 1 chip" for w in s.words("text") if w.startswith("<b>")]' '[True]'
  drawn "in the title" "$tmp/hostile.svg" 's.words("title")[0].endswith("chips of <b>\"&\x27]]>")' True
  drawn "and in what it shows" "$tmp/hostile.svg" '"<b>" in s.words("desc")[0], s.all("b")' '(True, [])'
else
  skip "hostile names: no python3"
fi

# --- refusals
fresh 'v6e 4x4 x1 pool=a; v6e 4x4 x1 pool=b'
refused 4 "a name that nobody has" "'nothing': expected the name of a slice, group or pool" map nothing
refused 4 "a full name that nobody has" "'x/y/z'" map x/y/z
refused 2 "two names" "unexpected argument 'b'" map a b
ok 0 "a group" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
refused 7 "another group of that name" "'train@1' now, not '@2'" map train@2
ok 0 "a second source with such a pool" import fleet 'v6e 2x2 x1 pool=a' --source other --now "$now"
baseline
refused 3 "a pool's name that two have" "pool name 'a' is ambiguous: use a full name such as 'fleet/a' or 'other/a'" map a
refused 3 "a slice's name that two have" "'a-0'|ambiguous" map a-0
ok 0 "its full name" map other/a
out "says which" '2x2, hosts of 2x2 chips'

finish
