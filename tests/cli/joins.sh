#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A manifest and the list of the cluster that it made describe the same nodes, which count once.
. "$top_srcdir/tests/cli/lib.sh"

captures=$top_srcdir/tests/data/captures
list=$captures/gke.hold-and-wait.ray-list-nodes--format-json.json
groups=$captures/gke.hold-and-wait.py-placement_group_table.json
available=$captures/gke.hold-and-wait.py-available_resources_per_node.json
sed 's/tpu-group/v6e-group/' "$two_slices" >"$tmp/manifest.yaml"
# One slice more than there are running.
sed 's/replicas: 2/replicas: 3/' "$tmp/manifest.yaml" >"$tmp/three.yaml"
# A list whose nodes have slice names.
nodes ()
{
  printf '['
  comma=
  for slice in "$@"; do
    for worker in 0 1 2 3; do
      i=$((slice * 4 + worker + 2))
      printf '%s{"NodeID": "%056d", "Alive": true, "NodeManagerAddress": "10.0.0.%d", "NodeName": "10.0.0.%d",
        "Resources": {"CPU": 8.0, "TPU": 4.0, "memory": 1e11, "v6e-group-%d": 1.0},
        "Labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "v6e-group-%d",
        "ray.io/tpu-worker-id": "%d", "ray.io/node-group": "v6e-group", "ray.io/tpu-pod-type": "v6e-16",
        "ray.io/tpu-topology": "4x4"}}' "$comma" "$i" "$i" "$i" "$slice" "$slice" "$worker"
      comma=,
    done
  done
  printf ',{"NodeID": "%056d", "Alive": true, "NodeManagerAddress": "10.0.0.1", "NodeName": "10.0.0.1",
    "Resources": {"CPU": 8.0, "node:__internal_head__": 1.0}, "Labels": {}}]' 1
}
nodes 0 1 >"$tmp/two.json"
nodes 0 >"$tmp/one.json"

# --- each node counts once
fresh
ok 0 "the manifest" import raycluster "$tmp/manifest.yaml" --now "$now"
ok 0 "a group on it" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
refused 4 "a source to join is there" "two.json|no source 'two-slice' to join" import ray-nodes "$tmp/two.json" --join two-slice --now "$now"
refused 3 "and of another kind" "cannot join source 'two-slices', which is of the same kind" \
  import raycluster "$tmp/three.yaml" --source more --join two-slices --now "$now"
ok 0 "what it would be" sync ray-nodes "$tmp/two.json" --join two-slices --dry-run --now "$now"
holds "changes nothing" unchanged
ok 5 "Ray's environment needs addresses" env train --profile ray-train
ok 0 "the list, joined" import ray-nodes "$tmp/two.json" --join two-slices --now "$now" -o json
fact "is a new source" 'd["new"], d["n_nodes"]' "(True, 9)"
ok 0 "slices" slices -o json
fact "are the manifest's two" '[(s["full_name"], s["n_nodes"]) for s in d["slices"]]' \
  "[('two-slices/v6e-group/v6e-group-0', 4), ('two-slices/v6e-group/v6e-group-1', 4)]"
ok 0 "nodes" nodes -o json
fact "are those of both, each once" '[n["source"] for n in d["nodes"]] == 9 * ["two-slices"]' "True"
fact "the head too" '[(n["node"], n["address"]) for n in d["nodes"] if n["ray_head"]]' "[('two-slices-head', '10.0.0.1')]"
fact "with the list's addresses" '[n["address"] for n in d["nodes"] if n["slice"] == "v6e-group-1"]' \
  "['10.0.0.6', '10.0.0.7', '10.0.0.8', '10.0.0.9']"
ok 0 "status" status -o json
fact "counts each chip once" '[r["total"] for r in d["resources"] if r["resource"] == "TPU"]' "['32']"
fact "and each CPU" '[r["total"] for r in d["resources"] if r["resource"] == "CPU"]' "['72']"
ok 0 "a joined node" show v6e-group-0-1 -o json
fact "is Ray's, in the manifest's place, and held" \
  '[d["node"][k] for k in ("identity", "address", "source", "sources", "held_by")]' \
  "['00000000000000000000000000000000000000000000000000000003', '10.0.0.3', 'two-slices', ['two-slices', 'ray'], ['train@1']]"
fact "with Ray's resources" '[r["total"] for r in d["resources"] if r["resource"] == "memory"]' "['100000000000']"
ok 0 "the export" export json
fact "names the sources too" '[n["sources"] for n in d["nodes"] if n["node"] == "v6e-group-0-1"]' "[['two-slices', 'ray']]"
ok 0 "the environment" env train --worker 1 -o env
out "has the manifest's host names" "TPU_WORKER_HOSTNAMES='v6e-group-0-0.two-slices-headless"
out "and its variables" "JAX_PLATFORMS='tpu,cpu'"
ok 0 "Ray's environment has them now" env train --profile ray-train
ok 5 "a third slice" reserve more --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "the ledger" verify

# --- repeated imports change nothing, even without --join
ok 0 "the manifest again" import raycluster "$tmp/manifest.yaml" --now "$now" -o json
fact "changes nothing" 'd["n_changes"], d["warnings"]' "(0, [])"
ok 0 "the list again" sync ray-nodes "$tmp/two.json" --now "$now" -o json
fact "changes nothing" 'd["n_changes"]' "0"

# --- nodes that only one of the sources has
ok 0 "a manifest with a slice more" import raycluster "$tmp/three.yaml" --now "$now"
out "is told of it" "4 nodes of slices of source 'two-slices' are not in source 'ray': they are desired, and not seen"
ok 0 "a list with a slice less" sync ray-nodes "$tmp/one.json" --now "$now"
out "gives the nodes back to the manifest" "another source has it still"
out "and counts them" "8 nodes of slices of source 'two-slices' are not in source 'ray'"
ok 0 "the nodes" nodes -o json
fact "are all there" '[(n["address"], n["state"]) for n in d["nodes"] if n["slice"] == "v6e-group-1"]' \
  "$(printf "[(None, 'alive'), (None, 'alive'), (None, 'alive'), (None, 'alive')]")"
ok 0 "the list of two slices" sync ray-nodes "$tmp/two.json" --now "$now"
nodes 1 >"$tmp/other.json"
baseline
refused 7 "a held machine cannot go" "'v6e-group-0-0' would go, but group 'train@1' holds it" \
  import ray-nodes "$tmp/other.json" --now "$now"
ok 0 "it is lost" sync ray-nodes "$tmp/other.json" --now "$now"
out "to the group" "slice 0, v6e-group-0, is lost"
ok 0 "the ledger" verify
ok 0 "compaction" journal compact --before 6 --now "$now"
ok 0 "the ledger behind a checkpoint" verify

# --- an allocated node that the manifest lacks but a list has is not lost
sed 's/replicas: 2/replicas: 1/' "$tmp/manifest.yaml" >"$tmp/one.yaml"
fresh
ok 0 "the manifest" import raycluster "$tmp/manifest.yaml" --now "$now"
ok 0 "the list, joined" import ray-nodes "$tmp/two.json" --join two-slices --now "$now"
ok 0 "a group on it" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "a manifest with a slice less" sync raycluster "$tmp/one.yaml" --now "$now" -o json
fact "takes nothing from the group" '{(c["kind"], c["detail"], c["group"]) for c in d["changes"] if c["kind"] != "pool"}' \
  "{('changed', 'gone here, and another source has it still', 'train@1')}"
ok 0 "the group" groups -o json
fact "has all it had" '[g["state"] for g in d["groups"]]' "['reserved']"
ok 0 "the same manifest" sync raycluster "$tmp/one.yaml" --now "$now" -o json
fact "changes nothing" 'd["n_changes"]' "0"
ok 0 "the manifest of two slices" sync raycluster "$tmp/manifest.yaml" --now "$now" -o json
fact "has them again" '{(c["kind"], c["detail"]) for c in d["changes"] if c["kind"] != "pool"}' "{('changed', 'there again')}"
ok 0 "the ledger" verify

# --- groups that Ray placed follow their nodes
fresh
ok 0 "a list with its groups" import ray-nodes "$list" --groups "$groups" --available "$available" --now "$now"
ok 0 "groups" groups -o json
cp "$tmp/out" "$tmp/groups.json"
ok 0 "what is used" status -o json
cp "$tmp/out" "$tmp/used.json"
ok 0 "the manifest beside it" import raycluster "$tmp/manifest.yaml" --now "$now"
ok 0 "the list alone, joined" import ray-nodes "$list" --join two-slices --now "$now"
ok 0 "groups" groups -o json
holds "have what they had" cmp "$tmp/groups.json" "$tmp/out"
ok 0 "what there is" status -o json
fact "is counted once" '[r["total"] for r in d["resources"] if r["resource"] == "TPU"]' "['32']"
fact "and what is used is the same" '[r["used"] for r in d["resources"] if r["resource"] == "TPU"], [r["used"] for r in json.load (
  open ("'"$tmp/used.json"'"))["resources"] if r["resource"] == "TPU"]' "(['16'], ['16'])"
ok 0 "the ledger" verify
finish
