#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The fleet as a graph: for Graphviz, and as Fluxion reads it.
. "$top_srcdir/tests/cli/lib.sh"

fresh
ok 0 "a fleet is imported" import fleet 'v6e 2x4 x2 hostchips=4; v5p 4x4x4 dead=0.1; tpu7x 2x2x1; v6e 16x16' --now "$now"
ok 0 "two slices are reserved" reserve train --accelerator v6e --topology 2x4 --chips-per-host 4 --slices 2 --now "$now"
ok 0 "a bundle of one chip is reserved" reserve one --bundle TPU=1 --now "$now"
ok 0 "export jgf succeeds" export jgf
fact "each vertex has a unique id" 'len({v["id"] for v in d["graph"]["nodes"]}) == len(d["graph"]["nodes"])' True
cat >"$tmp/check.py" <<'E2'
import collections, json, sys

graph = json.load(open(sys.argv[1]))["graph"]
vertices = {v["id"]: v["metadata"] for v in graph["nodes"]}
edges = collections.defaultdict(list)
for edge in graph["edges"]:
    edges[edge["metadata"]["subsystem"]].append((edge["source"], edge["target"]))
parent = {to: at for at, to in edges["containment"]}
assert len(parent) == len(edges["containment"])
roots = [v for v in vertices if v not in parent and vertices[v]["type"] != "group"]
assert [vertices[v]["type"] for v in roots] == ["fleet"], roots
for v, at in parent.items():
    assert vertices[v]["paths"]["containment"].rpartition("/")[0] == vertices[at]["paths"]["containment"]
    order = ["fleet", "source", "pool", "slice", "node", "chip"]
    assert order.index(vertices[v]["type"]) > order.index(vertices[at]["type"])
# Links, computed from the coordinates alone: an axis is a ring if the hardware closes it.
RINGS = {"v5p": lambda dims: [min(dims) >= 4] * 3, "v6e": lambda dims: [n == 16 for n in dims]}
slices = collections.defaultdict(dict)
for v, what in vertices.items():
    if what["type"] == "chip":
        at = tuple(int(what["properties"][axis]) for axis in "xyz")
        slices[parent[parent[v]]][at] = v
wanted = set()
for one, chips in slices.items():
    facts = vertices[one]["properties"]
    dims = [int(n) for n in facts["topology"].split("x")]
    dims += [1] * (3 - len(dims))
    rings = RINGS.get(facts["accelerator"], lambda _: [False] * 3)(dims)
    assert len(chips) == dims[0] * dims[1] * dims[2], (one, len(chips))
    for at, chip in chips.items():
        for axis in range(3):
            there = list(at)
            there[axis] += 1
            if there[axis] == dims[axis] and rings[axis]:
                there[axis] = 0
            other = chips.get(tuple(there))
            if other not in (None, chip):
                wanted.add(frozenset((chip, other)))
seen = [frozenset(pair) for pair in edges["ici"]]
assert len(seen) == len(set(seen)) and set(seen) == wanted, (len(seen), len(wanted))
groups = {what["name"]: v for v, what in vertices.items() if what["type"] == "group"}
assert sorted(groups) == ["one@2", "train@1"]
held = [to for at, to in edges["holds"] if at == groups["train@1"]]
assert len(held) == 4 and {vertices[v]["type"] for v in held} == {"node"}
assert {frozenset(parent[v] for v in held)} == {frozenset(pair) for pair in edges["dcn"]}
(share,) = [e["metadata"].get("detail") for e in graph["edges"] if e["source"] == groups["one@2"]]
assert share == "chip 0: TPU 1", share
down = [what["name"] for what in vertices.values() if what["status"] == 1]
assert down == ["v5p-4x4x4-0-1"], down
E2
holds "the graph has containment, hardware links and group edges" "$python" "$tmp/check.py" "$tmp/out"
cp "$tmp/out" "$tmp/first"
ok 0 "a group of two bundles is reserved" reserve two --bundle TPU=1 --bundle TPU=1 --strategy STRICT_SPREAD --now "$now"
ok 0 "export jgf succeeds with a second bundle group" export jgf
fact "each edge occurs once" 'len({(e["source"], e["target"]) for e in d["graph"]["edges"]}) == len(d["graph"]["edges"])' True
fact "the containment paths have one root" '[p for v in d["graph"]["nodes"] for p in v["metadata"]["paths"].values() if p.count("/") == 1]' "['/fleet']"
ok 0 "the group of two bundles is released" release two@3 --now "$now"
ok 0 "export jgf succeeds after the release" export jgf
ok 0 "export jgf is repeated" export jgf
holds "both exports are equal" cmp "$tmp/first" "$tmp/out"
ok 0 "export dot succeeds" export dot
out "the DOT text is a digraph" "digraph fleet {"
out "the DOT text has links of chips" "[class=ici, dir=none"
out "the DOT text has edges of groups" "[class=holds, color=red"
cat >"$tmp/places.py" <<'E3'
import collections, re, sys

text = open(sys.argv[1], encoding="utf-8").read()
lines = re.findall(r'^  v(\d+) \[shape=(\w+), label="[^"]*", tooltip="([^"]*)", pos="(-?\d+),(-?\d+)"', text, re.M)
assert len(lines) == len(re.findall(r"^  v\d+ \[", text, re.M)), "a vertex without a place"
parent = {int(b): int(a) for a, b in re.findall(r"^  v(\d+) -> v(\d+) \[class=contain", text, re.M)}
at = {int(v): (int(x), int(y)) for v, _, _, x, y in lines}
assert len(set(at.values())) == len(at), "two vertices at one place"
chips = collections.defaultdict(dict)
for v, shape, tip, _, _ in lines:
    if shape == "square":
        facts = dict(line.split(": ") for line in tip.split("\\n")[1:])
        chips[parent[parent[int(v)]]][tuple(int(facts[axis]) for axis in "xyz")] = at[int(v)]
assert sum(map(len, chips.values())) == 16 + 64 + 4 + 256, {k: len(v) for k, v in chips.items()}
for places in chips.values():
    layer = 90 * (2 + max(x for x, _, _ in places))
    left, top = places[0, 0, 0]
    for (x, y, z), place in places.items():
        assert place == (left + 90 * x + layer * z, top - 90 * y), (x, y, z, place)
boxes = [(min(x for x, _ in p.values()), max(x for x, _ in p.values()), min(y for _, y in p.values()), max(y for _, y in p.values()))
         for p in chips.values()]
assert not any(a is not b and a[0] <= b[1] and b[0] <= a[1] and a[2] <= b[3] and b[2] <= a[3] for a in boxes for b in boxes), "slices overlap"
E3
holds "chips are placed as grids that do not overlap" "$python" "$tmp/places.py" "$tmp/out"
if command -v neato >/dev/null; then
  cp "$tmp/out" "$tmp/graph.dot"
  holds "neato draws them at their places" neato -n2 -Tplain -o "$tmp/plain" "$tmp/graph.dot"
  holds "each vertex is drawn" test "$(grep -c '^node ' "$tmp/plain")" -eq "$(grep -c '^  v[0-9]* \[' "$tmp/graph.dot")"
else
  skip "graphviz is not installed"
fi
if command -v dot >/dev/null; then
  cp "$tmp/out" "$tmp/graph.dot"
  holds "Graphviz reads the DOT text" dot -Tcanon -o "$tmp/canon" "$tmp/graph.dot"
else
  skip "graphviz is not installed"
fi

# --- hostile names
fresh
printf '[{"NodeID": "%056d", "Alive": true, "NodeManagerAddress": "10.0.0.1", "NodeName": "a\\"];\\n\\\\N/<b>\\u0007",
  "Resources": {"CPU": 1.0}, "Labels": {}}]' 1 >"$tmp/hostile.json"
ok 0 "a node with a hostile name is imported" import ray-nodes "$tmp/hostile.json" --now "$now"
ok 0 "export dot succeeds with a hostile name" export dot
out "the hostile name is escaped in DOT" 'label="a\"];\\x0a\\N/<b>\\x07"'
ok 0 "export jgf succeeds with a hostile name" export jgf
fact "the hostile name is one part of a path" '[v["metadata"]["paths"]["containment"].count("/") for v in d["graph"]["nodes"] if v["metadata"]["type"] == "node"]' "[4]"
baseline
refused 2 "unknown export form" "'svg': expected json, fleet, dot or jgf" export svg
finish
