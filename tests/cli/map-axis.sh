#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quoit map --axis: shows each chip with the index that `quoit mesh` gives its devices along the axis, as text, JSON
# and picture.
. "$top_srcdir/tests/cli/lib.sh"

# picture 'sentence' <<EXPECTED: compares the stdout of the last run.
picture ()
{
  cat >"$tmp/expected"
  holds "$1" diff -u "$tmp/expected" "$tmp/out"
}

fresh 'v6e 4x4 x3; v5p 4x4x4; tpu7x 2x2x2 x2 pool=seven; v6e 16x16; v5e 2x4; v4 4x4x8; v6e 4x4 x1 pool=solo'
for group in 'train v6e 4x4 2' 'cube v5p 4x4x4 1' 'seven tpu7x 2x2x2 2' 'wide v6e 16x16 1' 'ring v5e 2x4 1' 'long v4 4x4x8 1'; do
  # shellcheck disable=SC2086
  set -- $group
  quoit reserve "$1" --accelerator "$2" --topology "$3" --slices "$4" --now "$now" >/dev/null
done
baseline

# --- text: the index in place of the chip
ok 0 "map prints an axis inside slices" map train --axes data=2,fsdp=16 --dcn data=2 --axis fsdp
picture "the axis is drawn as a ring of neighbours" <<'PICTURE'
train@1, mesh data=2,fsdp=16: index along fsdp
fsdp: 16 over ici, x 4, y 4; ring of 1 hop, 1 back

v6e-4x4-0: v6e 4x4, hosts of 2x2 chips, no ring, slice id 0
 0  1  2  3
15  6  5  4
14  7  8  9
13 12 11 10

v6e-4x4-1: v6e 4x4, hosts of 2x2 chips, no ring, slice id 1
 0  1  2  3
15  6  5  4
14  7  8  9
13 12 11 10

train@1: 32 chips
PICTURE
ok 0 "map prints an axis between slices" map train --axes data=2,fsdp=16 --dcn data=2 --axis data
picture "each slice has its own number" <<'PICTURE'
train@1, mesh data=2,fsdp=16: index along data
data: 2 over dcn

v6e-4x4-0: v6e 4x4, hosts of 2x2 chips, no ring, slice id 0
0 0 0 0
0 0 0 0
0 0 0 0
0 0 0 0

v6e-4x4-1: v6e 4x4, hosts of 2x2 chips, no ring, slice id 1
1 1 1 1
1 1 1 1
1 1 1 1
1 1 1 1

train@1: 32 chips
PICTURE
ok 0 "map prints an axis over the devices of chips" map seven --axes data=2,model=16 --dcn data=2 --axis model
picture "each chip shows the index of each device" <<'PICTURE'
seven@3, mesh data=2,model=16: index along model
model: 16 over ici, x 2, y 2, z 2, core 2; jumps of 2 hops, 2 back

seven-0: tpu7x 2x2x2, hosts of 2x2x1 chips, no ring, slice id 0
z=0            z=1
  0,1   2,3      8,9 10,11
  6,7   4,5    14,15 12,13

seven-1: tpu7x 2x2x2, hosts of 2x2x1 chips, no ring, slice id 1
z=0            z=1
  0,1   2,3      8,9 10,11
  6,7   4,5    14,15 12,13

seven@3: 16 chips
PICTURE
holds "map writes no entry" unchanged

# --- a draining host keeps its devices
ok 0 "a host is drained" drain v6e-4x4-0-1 --now "$now"
ok 0 "map prints the axis on the slice of a draining host" map train@1 --axes data=2,fsdp=16 --dcn data=2 --axis fsdp
out "the slice of a draining host is drawn completely" '15  6  5  4'
out "the legend counts draining chips" 'train@1: 32 chips, 4 draining'
ok 0 "the host is undrained" undrain v6e-4x4-0-1 --now "$now"
baseline

# --- each device has the same index in the mesh, the document and the picture
cat >"$tmp/join.py" <<'PYTHON'
"""join.py AXIS MESH.json MAP.json MAP.svg: what is not the same; nothing where all of it is."""
import json, re, sys
import xml.etree.ElementTree as tree

axis, mesh, drawn, svg = sys.argv[1], json.load(open(sys.argv[2])), json.load(open(sys.argv[3])), tree.parse(sys.argv[4])
SVG = "{http://www.w3.org/2000/svg}"
column = [one["axis"] for one in mesh["axes"]].index(axis)
of_mesh = {one["id"]: (one["slice_id"], one["x"], one["y"], one["z"], one["core"], int(one["place"].split(",")[column]))
           for one in mesh["devices"]}
chips = [(s["slice_id"], c) for s in drawn["slices"] for h in s["hosts"] for c in h["chips"]]
of_map = {d["id"]: (s, c["x"], c["y"], c["z"], d["core"], d["index"]) for s, c in chips for d in c["devices"]}
assert len(of_mesh) == mesh["n_devices"], "each device once"
assert of_map == of_mesh, "the document has the index of the mesh"
of_axis = next(one for one in mesh["axes"] if one["axis"] == axis)
for key in ("axis", "size", "dcn_size", "network", "physical", "form", "hops", "hops_back"):
    assert drawn[key] == of_axis[key], key

# The picture: chips in the order of the document, with the same devices, and each index in its colour.
groups = [g for g in svg.iter(SVG + "g") if g.get("class") == "chip"]
assert len(groups) == len(chips), (len(groups), len(chips))
colours = {}
for group, (_, chip) in zip(groups, chips):
    title = "chip %d,%d,%d:" % (chip["x"], chip["y"], chip["z"])
    title += ";".join(" device %d, %s %d" % (d["id"], axis, d["index"]) for d in chip["devices"])
    assert group.find(SVG + "title").text == title, (group.find(SVG + "title").text, title)
    indices = [d["index"] for d in chip["devices"]]
    indices = indices[:1] if len(set(indices)) == 1 else indices
    assert [t.text for t in group.findall(SVG + "text")] == [str(i) for i in indices], title
    boxes = group.findall(SVG + "rect")
    assert len(boxes) == len(indices), title
    for box, index in zip(boxes, indices):
        assert colours.setdefault(index, box.get("fill")) == box.get("fill"), (index, box.get("fill"))
assert sorted(colours) == list(range(drawn["size"])), "every index has a colour"

def lightness(fill):
    red, green, blue = (int(fill[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return sum(part * (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4)
               for part, c in zip((0.2126, 0.7152, 0.0722), (red, green, blue)))

light = [lightness(colours[i]) for i in range(drawn["size"])]
assert all(a <= b + 0.002 for a, b in zip(light, light[1:])), "who sees no colours sees the order"
assert drawn["size"] > 64 or len(set(colours.values())) == drawn["size"], "no two indices look the same"
for text in svg.iter(SVG + "text"):
    if text.get("class") in ("c k", "c w") and text.text in map(str, colours):
        on, letters = lightness(colours[int(text.text)]), 0.0 if text.get("class") == "c k" else 1.0
        assert (max(on, letters) + 0.05) / (min(on, letters) + 0.05) >= 4.0, ("letters to be read", text.text)

# The legend: every index, or the colours between the two ends.
legend = next(g for g in svg.iter(SVG + "g") if g.get("class") == "legend")
fills, words = [r.get("fill") for r in legend.findall(SVG + "rect")], [t.text for t in legend.findall(SVG + "text")]
if drawn["size"] <= 32:
    assert dict(zip(map(int, words), fills)) == colours and len(fills) == drawn["size"], "the legend has every index"
else:
    assert (fills[0], fills[-1]) == (colours[0], colours[drawn["size"] - 1]), "from the first to the last"
    assert [int(words[0]), int(words[-1])] == [0, drawn["size"] - 1] and len(fills) > 32, words

# The path: in each slice from each device of a line to the next, and from the last of three or more to the first, if
# that is one hop within a layer. A link that closes the torus is drawn as two stubs.
sides = {s["slice_id"]: [int(n) for n in (s["topology"] + "x1").split("x")[:3]] for s in drawn["slices"]}
closed = {s["slice_id"]: ["xyz"[i] in s["wrap"] for i in range(3)] for s in drawn["slices"]}
lines = {}
for one in mesh["devices"]:
    place = one["place"].split(",")
    lines.setdefault((tuple(place[:column] + place[column + 1 :]), one["slice_id"]), []).append((int(place[column]), one["id"]))

def strokes(slice_id, a, b):
    apart = [abs(i - j) for i, j in zip(a, b)]
    if sum(apart) == 1:
        return 1 - apart[2]
    moved = [i for i in range(3) if apart[i] > 0]
    return 2 if len(moved) == 1 and moved != [2] and closed[slice_id][moved[0]] and apart[moved[0]] == sides[slice_id][moved[0]] - 1 else 0

expected = 0
for (_, slice_id), line in lines.items():
    at = [of_mesh[device][1:4] for _, device in sorted(line)]
    expected += sum(strokes(slice_id, a, b) for a, b in zip(at, at[1:] + (at[:1] if len(at) > 2 else [])))
n_strokes = sum(len(re.findall("M", p.get("d"))) for p in svg.iter(SVG + "path"))
assert n_strokes == expected, (n_strokes, expected)
for fill in list(colours.values()) + fills:
    assert re.fullmatch("#[0-9a-f]{6}", fill), fill
PYTHON
# joined AXES GROUP WORD...: checks each of the comma-separated axes of `quoit mesh GROUP WORD...`.
joined ()
{
  axes=$1
  shift
  if [ -z "$python" ]; then
    skip "$*: no python3"
    return
  fi
  quoit mesh "$@" -o json >"$tmp/mesh.json" || fail "there is a mesh: $*"
  for axis in $(printf %s "$axes" | tr , ' '); do
    ok 0 "$* along $axis" map "$@" --axis "$axis" --svg "$tmp/axis.svg" -o json
    json "$* along $axis prints JSON"
    holds "$* along $axis: indices, colours and legend are those of the mesh" \
      "$python" "$tmp/join.py" "$axis" "$tmp/mesh.json" "$tmp/out" "$tmp/axis.svg"
  done
}
joined data,fsdp train --axes data=2,fsdp=16 --dcn data=2
joined a,b,c train --axes a=4,b=8,c=1 --dcn a=2 --split-physical
joined a,b train --axes a=8,b=4 --dcn a=8 --process-granule
joined a,b,c cube --axes a=4,b=4,c=4
joined a,b cube --axes a=16,b=4 --contiguous
joined a,b cube --axes a=8,b=8 --split-physical
joined data,model seven --axes data=2,model=16 --dcn data=2
joined a,core seven --axes a=16,core=2 --dcn a=2
joined all ring --axes all=8
joined a,b ring --axes a=2,b=4
joined x,y wide --axes x=16,y=16
joined all wide --axes all=256
joined a,b,c long --axes a=8,b=4,c=4
joined all long --axes all=128

# --- the picture needs no other file
ok 0 "map --svg writes an axis" map wide --axes all=256 --axis all --svg "$tmp/wide.svg"
holds "the picture loads nothing" test -z "$(sed 's|http://www.w3.org/2000/svg||' "$tmp/wide.svg" | grep -E 'href|url\(|@import|script|http')"
holds "the picture has a dark colour scheme" grep -q 'prefers-color-scheme:dark' "$tmp/wide.svg"
holds "the title names group, mesh and axis" grep -qF '<title id="title">wide@4, mesh all=256: index along all</title>' "$tmp/wide.svg"
holds "the description has the links and colours of the axis" \
  grep -qF 'all: 256 over ici, x 16, y 16; jumps of 2 hops, 2 back; colours go from #440154 of index 0 to #fde725 of index 255' \
  "$tmp/wide.svg"
ok 0 "map draws the rings of a torus" map wide --axes x=16,y=16 --axis y --svg "$tmp/rings.svg"
out "the legend describes the rings" 'y: 16 over ici, x 16; ring of 1 hop, 1 back'
# 16 rows: 15 steps along x, and a stub on either end.
holds "each ring is drawn as 15 steps and two stubs" test "$(grep -o 'M[0-9]' "$tmp/rings.svg" | wc -l)" = 272
if [ -n "$python" ]; then
  holds "all chips are inside the picture" "$python" -c 'import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
boxes = [r for r in root.iter("{http://www.w3.org/2000/svg}rect") if r.get("class") != "paper"]
at = [(r.get("x"), r.get("y")) for r in boxes if r.get("class") != "host"]
assert len(at) == len(set(at)) == 256 + 16
for r in boxes:
    assert float(r.get("x")) >= 0 and float(r.get("x")) + float(r.get("width")) <= float(root.get("width"))
    assert float(r.get("y")) >= 0 and float(r.get("y")) + float(r.get("height")) <= float(root.get("height"))' "$tmp/rings.svg"
fi

# --- hostile names of axes remain text
hostile='<b>"&]]>'
ok 0 "an axis with a hostile name is drawn" map ring --axes "$hostile=8" --axis "$hostile" --svg "$tmp/hostile.svg"
if [ -n "$python" ]; then
  holds "the hostile axis name is text in the picture" "$python" -c 'import sys, xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
assert not list(root.iter("{http://www.w3.org/2000/svg}b"))
assert sys.argv[2] in next(root.iter("{http://www.w3.org/2000/svg}title")).text' "$tmp/hostile.svg" "$hostile"
fi
escape=$(printf '\033[31m')
ok 0 "an axis name with control bytes is printed" map ring --axes "$escape=8" --axis "$escape"
holds "no control bytes of the axis name reach the terminal" test -z "$(LC_ALL=C tr -d '\n -~' <"$tmp/out")"

# --- refusals
refused 2 "--axis without --axes" "--axis 'fsdp' requires --axes NAME=SIZE,..." map train --axis fsdp
refused 2 "--axes without --axis" "--axes requires --axis NAME" map train --axes data=2,fsdp=16
refused 2 "--split-physical without --axis" "--split-physical requires --axis" map train --split-physical
refused 2 "--axis without a group" "--axis 'a' requires the name of a GROUP" map --axes a=8 --axis a
refused 3 "--axis that the mesh does not have" "--axis 'tensor': expected an axis of the mesh: data, fsdp" \
  map train --axes data=2,fsdp=16 --dcn data=2 --axis tensor
refused 3 "--axis with the name of a slice" "'v6e-4x4-0' is the name of a slice: expected a group" map v6e-4x4-0 --axes a=16 --axis a
refused 3 "--axis with the full name of a slice" "'fleet/solo/solo-0' is the name of a slice: expected a group" \
  map fleet/solo/solo-0 --axes a=16 --axis a
refused 3 "--axis with the name of a pool" "'fleet/seven' is the name of a pool|expected a group" map fleet/seven --axes a=16 --axis a
refused 4 "--axis with an unknown group" "'nobody'" map nobody --axes a=16 --axis a
refused 7 "--axis with the id of an older group" "'train@1' now, not '@9'" map train@9 --axes a=16 --axis a
refused 3 "mesh that JAX refuses" "--axes 'a=5': expected sizes that multiply to 32, the devices of 2 slices, and --dcn for the axis that spans the slices" map train --axes a=5 --axis a
refused 3 "axes that do not multiply to the devices" "--axes 'a=5': |expected 8, the number of devices, such as '8'" map ring --axes a=5 --axis a
refused 3 "repeated axis" "--axes: axis 'a' is given twice" map ring --axes a=2,a=4 --axis a
refused 2 "--contiguous with --dcn" "expected one of --contiguous and --dcn" \
  map train --axes a=32 --dcn a=2 --contiguous --axis a
refused 2 "CSV output of an axis" "--output 'csv'" map ring --axes a=8 --axis a -o csv
ok 0 "a group with the name of a pool is accepted with --axis" map seven --axes a=16,core=2 --dcn a=2 --axis a
out "the name is the group's" 'seven@3, mesh a=16,core=2'
rm -f "$tmp/none.svg"
run map train --axes a=5 --axis a --svg "$tmp/none.svg"
holds "a refused map writes no picture" test ! -e "$tmp/none.svg"
quoit set-state v6e-4x4-1-3 dead --now "$now" >/dev/null
baseline
refused 5 "axis of a group with a lost slice" "group 'train': slice 'v6e-4x4-1' is lost|repair the group, or release the slice" \
  map train --axes data=2,fsdp=16 --dcn data=2 --axis fsdp
quoit release train --slice v6e-4x4-1 --now "$now" >/dev/null
baseline
ok 0 "map prints the remaining slice" map train --axes fsdp=16 --axis fsdp
out "the axis covers the remaining slice" 'fsdp: 16 over ici'
holds "only one slice is drawn" test "$(grep -c 'slice id' "$tmp/out")" = 1

# --- a part of a slice is drawn at its place in the slice
for group in first part; do
  quoit reserve "$group" --bundle '2x{TPU=4}' --strategy STRICT_SPREAD --topology-label ray.io/tpu-slice-name --pool solo \
    --now "$now" >/dev/null
done
baseline
ok 0 "map prints an axis of bundles" map part --axes a=4,b=2 --axis a
picture "the axis is drawn on the chips of the bundles" <<'PICTURE'
part@8, mesh a=4,b=2: index along a
a: 4 over ici, x 2 of 4; jumps of 2 hops, 2 back

solo-0: v6e 4x4, hosts of 2x2 chips, no ring, slice id 0
a a a a
a a a a
0 0 1 1
3 3 2 2

a first@7: 8 chips
b part@8: 8 chips
. idle: 0
~ on a draining host: 0
# on a dead host: 0
PICTURE
cat >"$tmp/nodes.json" <<'END'
[{"node_id": "11111111111111111111111111111111111111111111111111111111", "node_ip": "10.0.0.1", "is_head_node": false,
  "state": "ALIVE", "node_name": "na", "resources_total": {"CPU": 8.0, "TPU": 4.0, "sa": 1.0, "TPU-v6e-4-head": 1.0},
  "labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "sa", "ray.io/tpu-worker-id": "0",
             "ray.io/tpu-topology": "2x2", "ray.io/tpu-pod-type": "v6e-4"}},
 {"node_id": "22222222222222222222222222222222222222222222222222222222", "node_ip": "10.0.0.2", "is_head_node": false,
  "state": "ALIVE", "node_name": "nb", "resources_total": {"CPU": 8.0, "TPU": 4.0, "sb": 1.0, "TPU-v6e-4-head": 1.0},
  "labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "sb", "ray.io/tpu-worker-id": "0",
             "ray.io/tpu-topology": "2x2", "ray.io/tpu-pod-type": "v6e-4"}}]
END
fresh
quoit import ray-nodes "$tmp/nodes.json" --now "$now" >/dev/null
quoit reserve mixed --bundle CPU=1 --bundle TPU=4 --bundle-select 0:ray.io/tpu-slice-name=sa \
  --bundle-select 1:ray.io/tpu-slice-name=sb --now "$now" >/dev/null
baseline
ok 0 "map prints an axis of a group with a CPU bundle" map mixed --axes a=4 --axis a
picture "the CPU bundle has no place in the mesh" <<'PICTURE'
mixed@1, mesh a=4: index along a
a: 4 over ici, x 2, y 2; ring of 1 hop, 1 back

sb: v6e 2x2, hosts of 2x2 chips, no ring, slice id 0
0 1
3 2

mixed@1: 4 chips
PICTURE
finish
