#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A manifest and the list of the cluster that it made describe the same nodes, which count once.
. "$top_srcdir/tests/cli/lib.sh"

captures=$top_srcdir/tests/data/captures
list=$captures/gke.hold-and-wait.ray-list-nodes--format-json.json
groups=$captures/gke.hold-and-wait.py-placement_group_table.json
available=$captures/gke.hold-and-wait.py-available_resources_per_node.json
sed 's/tpu-group/v6e-group/' "$two_slices" >"$tmp/manifest.yaml"
# The same manifest with one more slice.
sed 's/replicas: 2/replicas: 3/' "$tmp/manifest.yaml" >"$tmp/three.yaml"
# nodes SLICE...: prints a Ray node list with the four workers of each slice, whose labels name the slice, and a head.
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
ok 0 "a manifest is imported" import raycluster "$tmp/manifest.yaml" --now "$now"
ok 0 "a group is reserved from the manifest" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
baseline
refused 4 "--join with an unknown source" "two.json|no source 'two-slice' to join" import ray-nodes "$tmp/two.json" --join two-slice --now "$now"
refused 3 "--join with a source of the same kind" "cannot join source 'two-slices', which is of the same kind" \
  import raycluster "$tmp/three.yaml" --source more --join two-slices --now "$now"
ok 0 "sync --join --dry-run succeeds" sync ray-nodes "$tmp/two.json" --join two-slices --dry-run --now "$now"
holds "the dry run of a join changes nothing" unchanged
ok 5 "profile ray-train without node addresses exits with 5" env train --profile ray-train
ok 0 "a list is imported with --join" import ray-nodes "$tmp/two.json" --join two-slices --now "$now" -o json
fact "the list is a new source with 9 nodes" 'd["new"], d["n_nodes"]' "(True, 9)"
ok 0 "slices prints the joined sources" slices -o json
fact "the slices are those of the manifest" '[(s["full_name"], s["n_nodes"]) for s in d["slices"]]' \
  "[('two-slices/v6e-group/v6e-group-0', 4), ('two-slices/v6e-group/v6e-group-1', 4)]"
ok 0 "nodes prints the joined sources" nodes -o json
fact "each joined node is printed once" '[n["source"] for n in d["nodes"]] == 9 * ["two-slices"]' "True"
fact "the head is joined" '[(n["node"], n["address"]) for n in d["nodes"] if n["ray_head"]]' "[('two-slices-head', '10.0.0.1')]"
fact "joined nodes have the addresses of the list" '[n["address"] for n in d["nodes"] if n["slice"] == "v6e-group-1"]' \
  "['10.0.0.6', '10.0.0.7', '10.0.0.8', '10.0.0.9']"
ok 0 "status prints the joined sources" status -o json
fact "status counts each chip once" '[r["total"] for r in d["resources"] if r["resource"] == "TPU"]' "['32']"
fact "status counts each CPU once" '[r["total"] for r in d["resources"] if r["resource"] == "CPU"]' "['72']"
ok 0 "show prints a joined node" show v6e-group-0-1 -o json
fact "the joined node has Ray's id, the manifest's place and its group" \
  '[d["node"][k] for k in ("identity", "address", "source", "sources", "held_by")]' \
  "['00000000000000000000000000000000000000000000000000000003', '10.0.0.3', 'two-slices', ['two-slices', 'ray'], ['train@1']]"
fact "the joined node has Ray's resources" '[r["total"] for r in d["resources"] if r["resource"] == "memory"]' "['100000000000']"
ok 0 "export json prints the joined sources" export json
fact "the export names both sources of a node" '[n["sources"] for n in d["nodes"] if n["node"] == "v6e-group-0-1"]' "[['two-slices', 'ray']]"
ok 0 "env prints the environment of a joined group" env train --worker 1 -o env
out "the host names are those of the manifest" "TPU_WORKER_HOSTNAMES='v6e-group-0-0.two-slices-headless"
out "the variables of the manifest are set" "JAX_PLATFORMS='tpu,cpu'"
ok 0 "profile ray-train succeeds with joined addresses" env train --profile ray-train
ok 5 "a third slice is not free" reserve more --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "verify succeeds after a join" verify

# --- repeated imports change nothing, even without --join
ok 0 "the manifest is imported again" import raycluster "$tmp/manifest.yaml" --now "$now" -o json
fact "importing the manifest again changes nothing" 'd["n_changes"], d["warnings"]' "(0, [])"
ok 0 "the list is synced again" sync ray-nodes "$tmp/two.json" --now "$now" -o json
fact "syncing the list again changes nothing" 'd["n_changes"]' "0"

# --- nodes that only one of the sources has
ok 0 "a manifest with one more slice is imported" import raycluster "$tmp/three.yaml" --now "$now"
out "a warning counts the planned nodes that are missing" "4 nodes of slices of source 'two-slices' are not in source 'ray': they are planned, but not observed"
ok 0 "a list with one slice less is synced" sync ray-nodes "$tmp/one.json" --now "$now"
out "the missing nodes stay in the manifest" "another source still has it"
out "a warning counts the nodes that only the manifest has" "8 nodes of slices of source 'two-slices' are not in source 'ray'"
ok 0 "nodes prints the remaining nodes" nodes -o json
fact "all nodes of the missing slice are listed" '[(n["address"], n["state"]) for n in d["nodes"] if n["slice"] == "v6e-group-1"]' \
  "$(printf "[(None, 'alive'), (None, 'alive'), (None, 'alive'), (None, 'alive')]")"
ok 0 "a list of two slices is synced" sync ray-nodes "$tmp/two.json" --now "$now"
nodes 1 >"$tmp/other.json"
baseline
refused 7 "import that removes an allocated machine" "'v6e-group-0-0' cannot be removed: group 'train@1' uses it" \
  import ray-nodes "$tmp/other.json" --now "$now"
ok 0 "a list without the machine is synced" sync ray-nodes "$tmp/other.json" --now "$now"
out "the group lost the slice of the machine" "slice 0, v6e-group-0, is lost"
ok 0 "verify succeeds after the loss" verify
ok 0 "the journal of joins is compacted" journal compact --before 6 --now "$now"
ok 0 "verify succeeds after compaction" verify

# --- an allocated node that the manifest lacks but a list has is not lost
sed 's/replicas: 2/replicas: 1/' "$tmp/manifest.yaml" >"$tmp/one.yaml"
fresh
ok 0 "a manifest is imported into a new ledger" import raycluster "$tmp/manifest.yaml" --now "$now"
ok 0 "a list is joined in the new ledger" import ray-nodes "$tmp/two.json" --join two-slices --now "$now"
ok 0 "a group of two slices is reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "a manifest with one slice less is synced" sync raycluster "$tmp/one.yaml" --now "$now" -o json
fact "the group keeps the slice that the list still has" '{(c["kind"], c["detail"], c["group"]) for c in d["changes"] if c["kind"] != "pool"}' \
  "{('changed', 'gone from this source, but another source still has it', 'train@1')}"
ok 0 "groups prints the group of two slices" groups -o json
fact "the group is still reserved" '[g["state"] for g in d["groups"]]' "['reserved']"
ok 0 "the smaller manifest is synced again" sync raycluster "$tmp/one.yaml" --now "$now" -o json
fact "syncing the smaller manifest again changes nothing" 'd["n_changes"]' "0"
ok 0 "the manifest of two slices is synced" sync raycluster "$tmp/manifest.yaml" --now "$now" -o json
fact "the nodes belong to the manifest again" '{(c["kind"], c["detail"]) for c in d["changes"] if c["kind"] != "pool"}' "{('changed', 'in this source again')}"
ok 0 "verify succeeds after the syncs" verify

# --- groups that Ray placed follow their nodes
fresh
ok 0 "a list with groups and availability is imported" import ray-nodes "$list" --groups "$groups" --available "$available" --now "$now"
ok 0 "groups prints the groups of the list" groups -o json
cp "$tmp/out" "$tmp/groups.json"
ok 0 "status prints the use of the list" status -o json
cp "$tmp/out" "$tmp/used.json"
ok 0 "a manifest is imported as a second source" import raycluster "$tmp/manifest.yaml" --now "$now"
ok 0 "the list alone is imported with --join" import ray-nodes "$list" --join two-slices --now "$now"
ok 0 "groups prints the groups after the join" groups -o json
holds "the groups are unchanged by the join" cmp "$tmp/groups.json" "$tmp/out"
ok 0 "status prints the resources after the join" status -o json
fact "each chip is counted once after the join" '[r["total"] for r in d["resources"] if r["resource"] == "TPU"]' "['32']"
fact "the use is unchanged by the join" '[r["used"] for r in d["resources"] if r["resource"] == "TPU"], [r["used"] for r in json.load (
  open ("'"$tmp/used.json"'"))["resources"] if r["resource"] == "TPU"]' "(['16'], ['16'])"
ok 0 "verify succeeds after joining a list with groups" verify
finish
