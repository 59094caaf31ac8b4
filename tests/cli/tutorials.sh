#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The numbers of the tutorials, through the command.
. "$top_srcdir/tests/cli/lib.sh"

# --- Ray and MaxText on two slices: 8 workers, 72 CPUs, 1579277216Ki
fresh
ok 0 "the multi-slice manifest" import raycluster "$two_slices" --now "$now"
ok 0 "its status" status -o json
source='d["sources"][0]'
fact "has what kubectl get raycluster shows" \
  "${source}['desired_workers'], ${source}['cpus'], ${source}['memory']" "(8, '72', '1579277216Ki')"
fact "in bytes too" "${source}['memory_bytes']" 1617179869184
ok 0 "also for people" status
out "the memory" 1579277216Ki
ok 0 "both slices" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now" -o json
fact "have 8 workers" 'd["group"]["n_slices"], d["group"]["n_workers"]' "(2, 8)"
ok 0 "their environment" env train -o json
fact "says 2 slices to all" '{p["environment"]["MEGASCALE_NUM_SLICES"] for p in d["processes"]}' "{'2'}"
fact "its id to each" '[p["environment"]["MEGASCALE_SLICE_ID"] for p in d["processes"]]' \
  "['0', '0', '0', '0', '1', '1', '1', '1']"
fact "one coordinator" 'len({p["environment"]["MEGASCALE_COORDINATOR_ADDRESS"] for p in d["processes"]})' 1
fact "and the manifest's port" '{p["environment"]["MEGASCALE_PORT"] for p in d["processes"]}' "{'9915'}"
fact "worker ids begin anew in each slice" '[p["environment"]["TPU_WORKER_ID"] for p in d["processes"]]' \
  "['0', '1', '2', '3', '0', '1', '2', '3']"

# --- the same on one slice: 4 workers, 40 CPUs, 798027216Ki
fresh
ok 0 "the single-slice manifest" import raycluster "$top_srcdir/examples/raycluster-v6e-4x4.yaml" --now "$now"
ok 0 "its status" status -o json
fact "has what kubectl get raycluster shows" \
  "${source}['desired_workers'], ${source}['cpus'], ${source}['memory']" "(4, '40', '798027216Ki')"
ok 0 "the slice" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "its environment" env train -o json
fact "has no MEGASCALE variables" '[n for p in d["processes"] for n in p["environment"] if n.startswith("MEGASCALE_")]' "[]"

# node NAME ADDRESS SLICE WORKER TPUS POD_TYPE TOPOLOGY GENERATION [MORE]: one row of ray.nodes(); worker 0 has the
# slice's head.
node ()
{
  head=
  [ "$4" -ne 0 ] || head=", \"TPU-$6-head\": 1.0"
  printf '{"NodeID": "%056x", "Alive": true, "NodeManagerAddress": "%s", "NodeName": "%s",' "$2" "10.0.0.$2" "$1"
  printf '"Resources": {"CPU": 8.0, "memory": 1e9, "TPU": %s, "%s": 1.0, "accelerator_type:TPU-%s": 1.0, "node:10.0.0.%s": 1.0%s%s},' \
    "$5" "$3" "$8" "$2" "$head" "${9-}"
  printf '"Labels": {"ray.io/tpu-slice-name": "%s", "ray.io/tpu-worker-id": "%s", "ray.io/tpu-topology": "%s",' "$3" "$4" "$7"
  printf '"ray.io/tpu-pod-type": "%s", "ray.io/node-group": "tpu-group", "ray.io/accelerator-type": "TPU-%s"}}' "$6" "$8"
}

# --- "TPU resources and Ray": head and 2 x 4 nodes give 32 TPU and 2 TPU-v6e-16-head
{
  printf '[{"NodeID": "%056x", "Alive": true, "NodeManagerAddress": "10.0.0.1", "NodeName": "head",' 1
  printf '"Resources": {"CPU": 8.0, "node:__internal_head__": 1.0, "node:10.0.0.1": 1.0}, "Labels": {}}'
  for worker in 0 1 2 3; do
    printf ',\n' && node "a-$worker" "$((10 + worker))" tpu-group-0 "$worker" 4.0 v6e-16 4x4 V6E
    printf ',\n' && node "b-$worker" "$((20 + worker))" tpu-group-1 "$worker" 4.0 v6e-16 4x4 V6E
  done
  echo ']'
} >"$tmp/nodes.json"
fresh
ok 0 "the nine nodes" import ray-nodes "$tmp/nodes.json" --now "$now" -o json
fact "are nine" 'd["n_nodes"]' 9
ok 0 "their status" status -o json
resource='{r["resource"]: r["total"] for r in d["resources"]}'
fact "has 32 TPU" "${resource}['TPU']" 32
fact "and 2 heads" "${resource}['TPU-v6e-16-head']" 2
ok 0 "both slices fit" fits --topology 4x4 --accelerator TPU-V6E --slices 2
ok 0 "and are reserved" reserve train --topology 4x4 --accelerator TPU-V6E --slices 2 --now "$now"
ok 0 "ray-train knows the addresses" env train --profile ray-train --slice-id 0 --worker 0 -o env
out "of the coordinator" "MEGASCALE_COORDINATOR_ADDRESS='10.0.0.10'"
out "and Ray's port" "MEGASCALE_PORT='8081'"

# --- a v5p-16 of two TPU VMs, Ray's head on worker 0: 8 TPU and 1 head; its first step is one VM
{
  printf '[' && node vm-0 30 v5p-slice 0 4.0 v5p-16 2x2x2 V5P ', "node:__internal_head__": 1.0' && echo ']'
} >"$tmp/first.json"
{
  printf '[' && node vm-0 30 v5p-slice 0 4.0 v5p-16 2x2x2 V5P ', "node:__internal_head__": 1.0'
  printf ',\n' && node vm-1 31 v5p-slice 1 4.0 v5p-16 2x2x2 V5P && echo ']'
} >"$tmp/second.json"
fresh
ok 0 "the first VM" import ray-nodes "$tmp/first.json" --now "$now"
ok 0 "its slice" slices -o json
fact "is degraded" 'd["slices"][0]["conditions"][0], d["slices"][0]["n_missing"]' "('degraded', 1)"
ok 6 "and fits nothing" fits --topology 2x2x2 --accelerator v5p --slices 1
ok 0 "the second VM" import ray-nodes "$tmp/second.json" --now "$now"
out "is the difference" vm-1
ok 0 "its status" status -o json
fact "has 8 TPU" "${resource}['TPU']" 8
fact "and 1 head" "${resource}['TPU-v5p-16-head']" 1
ok 0 "Ray's head is a TPU node" nodes -o json
fact "worker 0" '[(n["worker_id"], n["chips"]) for n in d["nodes"] if n["ray_head"]]' "[(0, 4)]"
ok 0 "the slice fits now" fits --topology 2x2x2 --accelerator v5p --slices 1

# --- the tutorials' own files, if available
shared=$top_srcdir/../shared/manifests
file=GoogleCloudPlatform__kubernetes-engine-samples__ai-ml__gke-ray__raytrain__maxtext__ray-cluster
if [ -r "$shared/$file.tpu-multi-slice.yaml" ]; then
  fresh
  ok 0 "the tutorial's multi-slice manifest" import raycluster "$shared/$file.tpu-multi-slice.yaml" --now "$now"
  ok 0 "its status" status -o json
  fact "has its numbers" "${source}['desired_workers'], ${source}['cpus'], ${source}['memory']" "(8, '72', '1579277216Ki')"
  fresh
  ok 0 "the tutorial's single-slice manifest" import raycluster "$shared/$file.tpu-v6e-16.yaml" --now "$now"
  ok 0 "its status" status -o json
  fact "has its numbers" "${source}['desired_workers'], ${source}['cpus'], ${source}['memory']" "(4, '40', '798027216Ki')"
else
  skip "the tutorials' own manifests are not here"
fi

finish
