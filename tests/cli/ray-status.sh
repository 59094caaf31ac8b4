#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# status --format ray: for recorded clusters, the node list with its groups and availability gives the lines of the
# recorded `ray status`. Nodes may have any order, because Ray's order is that of a hash table.
. "$top_srcdir/tests/cli/lib.sh"

cat >"$tmp/compare.py" <<'PYTHON'
"""compare.py RAY OURS: what is no time is the same, section by section."""
import ast, re, sys

def read(path):
    text = open(path, encoding="utf-8").read().rstrip("\n")
    head, *lines = text.split("\n")
    assert re.fullmatch(r"=+ Autoscaler status: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} =+", head), head
    sections = {"": []}
    name = ""
    for line in lines:
        if re.match(r"(GCS request time|Node Provider non_terminated_nodes time): ", line):
            continue
        if line and not line.startswith(" ") and line.endswith(":"):
            name = line
        elif line.startswith("Node: "):
            name = line
        sections.setdefault(name, []).append(line)
    return head, sections

def demand(line):
    bundles, rest = re.fullmatch(r" (.*?)( \([A-Z_]+\))?(: \d+\+ pending placement groups)", line).group(1), line.split("}")[-1]
    return str([(sorted(ast.literal_eval(b).items()), n) for b, n in re.findall(r"(\{.*?\}) \* (\d+)", bundles)]) + rest

def plain(name, lines, has_strategies):
    if name in ("Active:",):
        return sorted(lines)
    if name == "Pending Demands:":
        lines = [demand(l) if l.startswith(" {") else l for l in lines]
        if not has_strategies:
            lines = [re.sub(r" \([A-Z_]+\)(?=:)", "", l) for l in lines]
    return [l for l in lines if l]

ray_head, ray = read(sys.argv[1])
our_head, ours = read(sys.argv[2])
has_strategies = sys.argv[3] == "strategies"
assert len(ray_head) == len(our_head), "the rule below is as long as the head"
assert sorted(ray) == sorted(ours), (sorted(ray), sorted(ours))
for name in ray:
    assert plain(name, ray[name], has_strategies) == plain(name, ours[name], has_strategies), (name, ray[name], ours[name])
# Sections, and the nodes in them, are in Ray's order.
assert [n for n in ray if not n.startswith("Node: ")] == [n for n in ours if not n.startswith("Node: ")]
PYTHON

# equals_recorded NAME STRATEGIES FILE...: after an import of these files, `status --format ray` equals the recorded
# `ray status` of NAME, if there is one.
equals_recorded ()
{
  name=$1 strategies=$2
  shift 2
  rm -f "$QUOIT_DB"*
  ok 0 "$name: a ledger is created" init
  ok 0 "$name: the node list is imported" import ray-nodes "$@" --complete --now "$now"
  for form in ray-status ray-status-v; do
    recorded=$from/$name.$form.txt
    [ -f "$recorded" ] || continue
    case $form in
      *-v) ok 0 "$name: in Ray's form, verbose" status --format ray -v --now "$now" ;;
      *) ok 0 "$name: in Ray's form" status --format ray --now "$now" ;;
    esac
    # Recorded seconds before or after the lists, so they differ: a host has not joined yet, a loss is not detected yet,
    # or a head is still requested.
    case $name.$form in
      mixed.idle.ray-status | lost.one-slice-host-lost.ray-status | gke.two-reserved.ray-status*)
        skip "$name: $form was recorded at a different time than its lists"
        continue
        ;;
    esac
    if [ -n "$python" ]; then
      holds "$name: the $form output equals Ray's" "$python" "$tmp/compare.py" "$recorded" "$tmp/out" "$strategies"
    else
      skip "$name: no python3"
    fi
  done
}

from=$top_srcdir/tests/data/captures
equals_recorded plain.actor-task-and-group strategies "$from/plain.actor-task-and-group.ray-list-nodes--detail--format-json.json" \
  --groups "$from/plain.actor-task-and-group.py-placement_group_table.json" \
  --available "$from/plain.actor-task-and-group.py-available_resources_per_node.json"
equals_recorded gke.hold-and-wait strategies "$from/gke.hold-and-wait.ray-list-nodes--format-json.json" \
  --groups "$from/gke.hold-and-wait.py-placement_group_table.json" \
  --available "$from/gke.hold-and-wait.py-available_resources_per_node.json"
equals_recorded lost.one-slice-host-lost strategies "$from/lost.one-slice-host-lost.py-ray.nodes.json" \
  --groups "$from/lost.one-slice-host-lost.py-placement_group_table.json" \
  --available "$from/lost.one-slice-host-lost.py-available_resources_per_node.json"
equals_recorded mixed.both-reserved none "$from/mixed.both-reserved.ray-list-nodes--format-json.json" \
  --groups "$from/mixed.both-reserved.ray-list-placement-groups--detail.yaml" \
  --available "$from/mixed.both-reserved.py-available_resources_per_node.json"
equals_recorded gke.idle none "$from/gke.idle.ray-list-nodes--format-json.json"
equals_recorded mixed.idle none "$from/mixed.idle.ray-list-nodes--format-yaml.yaml"

# --- all recordings
for recorded in "$from"/*.ray-status-v.txt; do
  name=$(basename "$recorded" .ray-status-v.txt)
  equals_recorded "$name" strategies "$from/$name.ray-list-nodes--detail--format-json.json" \
    --groups "$from/$name.py-placement_group_table.json" --available "$from/$name.py-available_resources_per_node.json"
done

# --- this ledger's groups count as reservations in Ray's format, and a dead host has no resources
rm -f "$QUOIT_DB"*
ok 0 "a ledger is created" init
ok 0 "a manifest is imported" import raycluster "$two_slices" --now "$now"
ok 0 "a group is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "set-state marks an idle host dead" set-state tpu-group-1-3 dead --now "$now"
ok 0 "status --format ray succeeds" status --format ray --now "$now"
out "the chips of the group are reserved in placement groups" "0.0/28.0 TPU (0.0 used of 16.0 reserved in placement groups)"
holds "the dead host is not listed as active" test "$(grep -c '^ 1 node_' "$tmp/out")" = 8
ok 0 "status --format ray --verbose succeeds" status --format ray --verbose --now "$now"
holds "--verbose lists each alive node" test "$(grep -c '^Node: ' "$tmp/out")" = 8

# --- an unknown format
baseline
refused 2 "unknown --format" "--format 'slurm'|expected ray" status --format slurm
refused 2 "--format ray with -o json" "--format ray writes text" status --format ray -o json
refused 2 "--verbose without --format" "--verbose|--format ray" status --verbose
finish
