#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Requests that join cubes: `--cubes`, `--twist`, blocks in fleet text, and GKE's Slice objects.
. "$top_srcdir/tests/cli/lib.sh"

now=2026-05-01T09:00:00Z
cubes='[sorted({w["cube"] for w in d["workers"] if w["slice_id"] == s}) for s in sorted({w["slice_id"] for w in d["workers"]})]'
v5p='--accelerator v5p --slices 1'

fresh 'v5p 4x4x4 x8 pool=a block=a grid=2x2x2; v5p 4x4x4 x4 pool=b block=b; v5p 4x4x4 x1 pool=c; v6e 4x4 x1 pool=d'
# shellcheck disable=SC2086 # the options are words
ok 0 "a slice of four cubes is reserved" reserve train $v5p --topology 4x8x8 --cubes any --now "$now"
out "each worker has its cube" "4x8x8: b-1"
ok 0 "show has the cubes" show train -o json
fact "the smallest block is used" "$cubes" "[['b-0', 'b-1', 'b-2', 'b-3']]"
fact "a joined slice is no part" '{w["part"] for w in d["workers"]}' "{None}"
ok 0 "groups have the request" groups
out "the request says what is joined" "v5p 4x8x8 x 1 hostchips=4 cubes=any"
ok 0 "the environment of a worker" env train --process 20 -o env
out "the topology is that of the slice" "TPU_TOPOLOGY='4x8x8'"
out "the worker has its id in the slice" "TPU_WORKER_ID='20'"
# shellcheck disable=SC2086
ok 0 "adjacent cubes are reserved" reserve next $v5p --topology 4x4x8 --cubes adjacent --now "$now"
ok 0 "show has the adjacent cubes" show next -o json
fact "they are above each other" "$cubes" "[['a-0', 'a-4']]"
# shellcheck disable=SC2086
ok 0 "a twisted slice is reserved" reserve twisted $v5p --topology 4x4x8 --cubes any --twist --now "$now"
out "the request is twisted" "cubes=any-twisted"
# shellcheck disable=SC2086
ok 5 "too few cubes are left" fits $v5p --topology 8x8x8 --cubes any --now "$now"
out "the cubes of the block are allocated" "1 of 1 slice is allocated to groups"
# shellcheck disable=SC2086
ok 6 "no block is large enough" fits $v5p --topology 8x8x12 --cubes any --now "$now"
out "the block is the reason" "block           13     0 13 of 13 slices are not cubes of a block that can hold a slice of '8x8x12'"
# shellcheck disable=SC2086
{
ok 6 "cubes without a block" fits $v5p --topology 4x4x4 --cubes any --pool c --now "$now"
out "the label of the block is the reason" "1 short; 1 of 1 slice is without a valid label 'cloud.google.com/gce-topology-block'"
ok 6 "cubes without positions" fits $v5p --topology 4x4x8 --cubes adjacent --pool b --now "$now"
out "the label of positions is the reason" "1 short; 4 of 4 slices are without a valid label 'quoit/cube-position'"
ok 6 "more cubes than have a position or a block" fits $v5p --topology 8x8x12 --cubes adjacent --now "$now"
out "labels would not help" "1 short; 13 of 13 slices are not cubes of a block that can hold a slice of '8x8x12'"
}
ok 0 "a host of a cube dies" set-state a-0-3 dead --now "$now"
ok 0 "its slice is repaired" repair next --now "$now"
ok 0 "slices are added" resize next --slices 2 --now "$now"
ok 0 "slices are given up by id" release next --slice 1 --now "$now"
ok 0 "the ledger is sound" verify
ok 0 "the fleet is written as text" export fleet
out "it has the block" "v5p 4x4x4 x8 pool=a block=a grid=2x2x2 at=0-0-0"
out "it has the block without positions" "v5p 4x4x4 x4 pool=b block=b;"
out "and the group that has its cubes" "group train v5p 4x8x8 x1 cubes=any pool=b slices=0-3"
baseline
# shellcheck disable=SC2086
{
refused 5 "no cubes are free" "not now, 0 of 1 slice free" reserve x $v5p --topology 4x8x8 --cubes any --now "$now"
refused 6 "a block that is too small" "never, at most 0 of 1 slice" reserve x $v5p --topology 8x8x16 --cubes any --now "$now"
refused 3 "a generation without cubes" "cubes 'any': expected a generation with cubes, v6e has none" reserve x --accelerator v6e --topology 4x4 --slices 1 --cubes any --now "$now"
refused 3 "a topology below a cube" "topology '2x2x4' with cubes 'any'" reserve x $v5p --topology 2x2x4 --cubes any --now "$now"
refused 3 "a topology that cannot be twisted" "topology '8x8x8' with cubes 'any-twisted'" reserve x $v5p --topology 8x8x8 --cubes any --twist --now "$now"
refused 3 "a generation that cannot be twisted" "expected v4 or v5p" reserve x --accelerator tpu7x --topology 4x4x8 --slices 1 --cubes any --twist --now "$now"
refused 3 "cut cubes" "cubes 'any' and cut 'any'" reserve x $v5p --topology 4x4x8 --cubes any --cut any --now "$now"
refused 3 "domains" "cubes 'any' with domains" reserve x $v5p --topology 4x4x8 --cubes any --keep-to pool --now "$now"
refused 3 "bundles" "cubes 'any': expected a request for slices" reserve x --bundle TPU=4 --cubes any --now "$now"
refused 2 "unknown cubes" "--cubes 'some': expected any or adjacent" reserve x $v5p --topology 4x4x8 --cubes some
refused 2 "twisted adjacent cubes" "--twist: expected --cubes any" reserve x $v5p --topology 4x4x8 --cubes adjacent --twist
refused 2 "a twist of nothing" "--twist: expected --cubes any" reserve x $v5p --topology 4x4x8 --twist
refused 3 "the pods of a webhook" "profile kuberay: group 'train' has slices that are joined from cubes" env train --profile kuberay
refused 3 "an object of another generation" "a Slice object is only for tpu7x, but its slices are of v5p" env train -o slice
refused 2 "an object for a reader" "-o slice and --as-seen-by" env train -o slice --as-seen-by jax
refused 2 "an object for a profile" "-o slice and --profile" env train -o slice --profile jobset
refused 2 "an object of a manifest" "-o slice cannot be combined with --manifest" env --manifest "$two_slices" -o slice
refused 3 "a block of other slices" "byte 4: '4x4': expected cubes: 4x4x4" import fleet 'v6e 4x4 block=a' --source t
refused 3 "a grid without a block" "expected also block=NAME" import fleet 'v5p 4x4x4 grid=1x1x1' --source t
refused 3 "a position without a grid" "expected also grid=AxBxC" import fleet 'v5p 4x4x4 block=a at=0-0-0' --source t
refused 3 "a grid that is too small" "a grid with a position for each cube" import fleet 'v5p 4x4x4 x5 block=a grid=2x2x1' --source t
refused 3 "a grid that is none" "the cubes of the block along each axis" import fleet 'v5p 4x4x4 block=a grid=2x2' --source t
refused 3 "a grid with an empty side" "the cubes of the block along each axis" import fleet 'v5p 4x4x4 block=a grid=2x0x2' --source t
refused 3 "a position outside the grid" "a position in the grid, such as 0-1-3" import fleet 'v5p 4x4x4 block=a grid=1x1x1 at=0-0-1' --source t
}
holds "nothing has changed" unchanged

# A cluster of tpu7x: two cubes of one block, as GKE has them before slices are made of them.
cluster ()
{
  "$python" - "$1" <<'PYTHON'
import json
import sys

items = []
for cube in range(2):
    for host in range(16):
        labels = {
            "cloud.google.com/gke-nodepool": f"pool-{cube}",
            "cloud.google.com/gke-tpu-accelerator": "tpu7x",
            "cloud.google.com/gke-accelerator-topology-mode": "PROVISION_ONLY",
            "cloud.google.com/gce-topology-block": "block",
            "cloud.google.com/gke-tpu-partition-4x4x4-id": f"cube-{cube}",
            "cloud.google.com/gke-tpu-partition-2x2x1-id": f"host-{cube}-{host}",
            "cloud.google.com/gke-tpu-partition-2x2x2-id": f"pair-{cube}-{host % 4}-{host // 8}",
        }
        if sys.argv[1] == "joined":
            labels |= {"cloud.google.com/gke-tpu-slice": "train-0", "cloud.google.com/gke-tpu-topology": "4x4x8"}
        # A slice of 2x2x2 has the hosts 0 and 4 of its cube.
        if (sys.argv[1] == "part" and host in (0, 4) or sys.argv[1] == "half" and host == 4) and cube == 0:
            labels |= {"cloud.google.com/gke-tpu-slice": "small-0", "cloud.google.com/gke-tpu-topology": "2x2x2"}
        if sys.argv[1] == "mixed" and host == 3:
            labels["cloud.google.com/gke-tpu-partition-4x4x4-id"] = ""
        if sys.argv[1] == "twice":
            labels["cloud.google.com/gke-tpu-partition-4x4x4-id"] = "cube-0"
        status = {"capacity": {"google.com/tpu": "4"}, "conditions": [{"type": "Ready", "status": "True"}]}
        metadata = {"name": f"node-{cube}-{host:02}", "uid": f"uid-{cube}-{host}", "labels": labels}
        items.append({"kind": "Node", "metadata": metadata, "status": status})
print(json.dumps({"kind": "List", "items": items}))
PYTHON
}

cluster apart >"$tmp/nodes.json"
rm -f "$QUOIT_DB"*
ok 0 "a ledger is made" init
ok 0 "the nodes are imported" import k8s-nodes "$tmp/nodes.json" --now "$now"
ok 0 "a slice of both cubes is reserved" reserve train --accelerator tpu7x --topology 4x4x8 --slices 1 --cubes any --now "$now"
ok 0 "its object is written" env train -o slice
holds "the object is the documented one" test "$(cat "$tmp/out")" = 'apiVersion: accelerator.gke.io/v1beta1
kind: Slice
metadata:
  name: train-0
spec:
  type: tpu7x
  topology: 4x4x8
  partitionIds:
  - "cube-0"
  - "cube-1"'
cp "$tmp/out" "$tmp/object"
cluster joined >"$tmp/joined.json"
ok 0 "GKE has made the slice" sync k8s-nodes "$tmp/joined.json" --now "$now"
ok 0 "the group keeps its hosts" env train --process 17 -o env
out "with the worker ids that it had" "TPU_WORKER_ID='17'"
ok 0 "the object is written again" env train -o slice
holds "it is the same text" cmp "$tmp/object" "$tmp/out"
ok 0 "the ledger is sound" verify
ok 0 "the slice is ended" sync k8s-nodes "$tmp/nodes.json" --now "$now"
ok 0 "the group is released" release train --now "$now"
ok 0 "a group whose name Kubernetes refuses" reserve Train --accelerator tpu7x --topology 4x4x4 --slices 1 --cubes any --now "$now"
ok 0 "a partition of a cube" reserve small --accelerator tpu7x --topology 2x2x1 --slices 1 --cut partition --now "$now"
ok 0 "its object is written too" env small -o slice
out "it has the id of the partition" '"host-1-0"'
baseline
refused 3 "a name that Kubernetes refuses" "Slice 'Train-0': expected a name" env Train -o slice
holds "nothing has changed" unchanged

# GKE makes the slice of a partition.
for state in half part; do
  cluster "$state" >"$tmp/$state.json"
done
rm -f "$QUOIT_DB"*
ok 0 "a ledger is made for partitions" init
ok 0 "the nodes are imported" import k8s-nodes "$tmp/nodes.json" --now "$now"
ok 0 "a partition is reserved" reserve small --accelerator tpu7x --topology 2x2x2 --slices 1 --cut partition --now "$now"
ok 0 "another one is in the same cube" reserve other --accelerator tpu7x --topology 2x2x2 --slices 1 --cut partition --now "$now"
ok 0 "and a host is used by a bundle" reserve bundle --bundle TPU=4 --slice cube-0 --now "$now"
ok 0 "the object is written" env small -o slice
out "with the id of the partition" '"pair-0-0-0"'
cp "$tmp/out" "$tmp/object"
ok 0 "the other group is shown" show other --now "$now"
cp "$tmp/out" "$tmp/other"
ok 0 "GKE has made the slice" sync k8s-nodes "$tmp/part.json" --now "$now"
out "the group uses its nodes" "slice cube-0 -> small-0"
ok 0 "the environment is that of the slice" env small --process 0 -o env
out "the first host is its first worker" "TPU_WORKER_ID='0'"
out "it has the name of the slice" "TPU_NAME='small-0'"
out "and its topology" "TPU_TOPOLOGY='2x2x2'"
ok 0 "the environment of the second host is known" env small --process 1 -o env
out "it is the next worker" "TPU_WORKER_ID='1'"
ok 0 "the object is written again" env small -o slice
holds "it is the same text" cmp "$tmp/object" "$tmp/out"
ok 0 "the other group is shown again" show other --now "$now"
holds "it keeps its hosts" cmp "$tmp/other" "$tmp/out"
ok 0 "the ledger is still sound" verify
ok 0 "a third partition is reserved" reserve third --accelerator tpu7x --topology 2x2x2 --slices 1 --cut partition --now "$now"
ok 0 "the groups are listed" groups --now "$now" -o json
fact "all are reserved" '[g["state"] for g in d["groups"]]' "['reserved', 'reserved', 'reserved', 'reserved']"
ok 0 "the slice is ended" sync k8s-nodes "$tmp/nodes.json" --now "$now"
ok 0 "the object is written once more" env small -o slice
holds "it is the same text again" cmp "$tmp/object" "$tmp/out"
ok 0 "one host shows the slice first" sync k8s-nodes "$tmp/half.json" --now "$now"
ok 0 "the ledger is sound then too" verify
ok 0 "and then the other" sync k8s-nodes "$tmp/part.json" --now "$now"
ok 0 "the object is written for that" env small -o slice
holds "it is the same text for that" cmp "$tmp/object" "$tmp/out"
ok 0 "the slice is ended again" sync k8s-nodes "$tmp/nodes.json" --now "$now"
ok 0 "the group is released" release small --now "$now"
ok 0 "the slice is made without a group" sync k8s-nodes "$tmp/part.json" --now "$now"
ok 0 "it is ended" sync k8s-nodes "$tmp/nodes.json" --now "$now"
ok 0 "bundles take its hosts" reserve bundles --bundle TPU=4 --bundle TPU=4 --slice cube-0 --now "$now"
baseline
refused 7 "a slice of hosts that bundles use" "group 'bundles@5' uses it; release the group first" sync k8s-nodes "$tmp/part.json" --now "$now"

cluster mixed >"$tmp/mixed.json"
rm -f "$QUOIT_DB"*
ok 0 "another ledger is made" init
ok 0 "nodes without an id are imported" import k8s-nodes "$tmp/mixed.json" --now "$now"
ok 0 "their fleet is shown" nodes
out "such a node is in no cube" "node-0-03"
cluster twice >"$tmp/twice.json"
rm -f "$QUOIT_DB"*
ok 0 "a third ledger is made" init
ok 0 "two cubes with one id are imported" import k8s-nodes "$tmp/twice.json" --now "$now"
ok 0 "they are joined" reserve train --accelerator tpu7x --topology 4x4x8 --slices 1 --cubes any --now "$now"
baseline
refused 3 "an id of two cubes" "the nodes of cubes '0' and '1' of slice '0' have the same" env train -o slice
finish
