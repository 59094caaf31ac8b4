#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The numbers of the tutorials, through the command.
. "$top_srcdir/tests/cli/lib.sh"

# --- Ray and MaxText on two slices: 8 workers, 72 CPUs, 1579277216Ki
fresh
ok 0 "the multi-slice manifest is imported" import raycluster "$two_slices" --now "$now"
ok 0 "status prints the multi-slice cluster" status -o json
source='d["sources"][0]'
fact "the sums equal those of kubectl get raycluster" \
  "${source}['desired_workers'], ${source}['cpus'], ${source}['memory']" "(8, '72', '1579277216Ki')"
fact "the memory is exact in bytes" "${source}['memory_bytes']" 1617179869184
ok 0 "status prints the multi-slice cluster as text" status
out "the text has the memory as a size" "1.47 TiB"
ok 0 "both slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now" -o json
fact "the group has 8 workers" 'd["group"]["n_slices"], d["group"]["n_workers"]' "(2, 8)"
ok 0 "env prints the environment of both slices" env train -o json
fact "all processes have MEGASCALE_NUM_SLICES 2" '{p["environment"]["MEGASCALE_NUM_SLICES"] for p in d["processes"]}' "{'2'}"
fact "each process has its slice id" '[p["environment"]["MEGASCALE_SLICE_ID"] for p in d["processes"]]' \
  "['0', '0', '0', '0', '1', '1', '1', '1']"
fact "all processes have one coordinator" 'len({p["environment"]["MEGASCALE_COORDINATOR_ADDRESS"] for p in d["processes"]})' 1
fact "the port is that of the manifest" '{p["environment"]["MEGASCALE_PORT"] for p in d["processes"]}' "{'9915'}"
fact "worker ids start at 0 in each slice" '[p["environment"]["TPU_WORKER_ID"] for p in d["processes"]]' \
  "['0', '1', '2', '3', '0', '1', '2', '3']"

# --- the same on one slice: 4 workers, 40 CPUs, 798027216Ki
fresh
ok 0 "the single-slice manifest is imported" import raycluster "$top_srcdir/examples/raycluster-v6e-4x4.yaml" --now "$now"
ok 0 "status prints the single-slice cluster" status -o json
fact "the sums of the single-slice manifest equal those of kubectl" \
  "${source}['desired_workers'], ${source}['cpus'], ${source}['memory']" "(4, '40', '798027216Ki')"
ok 0 "the single slice is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "env prints the environment of the single slice" env train -o json
fact "a single slice has no MEGASCALE variables" '[n for p in d["processes"] for n in p["environment"] if n.startswith("MEGASCALE_")]' "[]"

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
ok 0 "a list of nine nodes is imported" import ray-nodes "$tmp/nodes.json" --now "$now" -o json
fact "all nine nodes are imported" 'd["n_nodes"]' 9
ok 0 "status prints the nine nodes" status -o json
resource='{r["resource"]: r["total"] for r in d["resources"]}'
fact "the cluster has 32 TPU" "${resource}['TPU']" 32
fact "the cluster has 2 head resources" "${resource}['TPU-v6e-16-head']" 2
ok 0 "two slices fit on the cluster" fits --topology 4x4 --accelerator TPU-V6E --slices 2
ok 0 "both slices of the cluster are reserved" reserve train --topology 4x4 --accelerator TPU-V6E --slices 2 --now "$now"
ok 0 "profile ray-train prints the environment" env train --profile ray-train --slice-id 0 --worker 0 -o env
out "the coordinator has the address of the first worker" "MEGASCALE_COORDINATOR_ADDRESS='10.0.0.10'"
out "the port is Ray's" "MEGASCALE_PORT='8081'"

# --- a v5p-16 of two TPU VMs, Ray's head on worker 0: 8 TPU and 1 head; its first step is one VM
{
  printf '[' && node vm-0 30 v5p-slice 0 4.0 v5p-16 2x2x2 V5P ', "node:__internal_head__": 1.0' && echo ']'
} >"$tmp/first.json"
{
  printf '[' && node vm-0 30 v5p-slice 0 4.0 v5p-16 2x2x2 V5P ', "node:__internal_head__": 1.0'
  printf ',\n' && node vm-1 31 v5p-slice 1 4.0 v5p-16 2x2x2 V5P && echo ']'
} >"$tmp/second.json"
fresh
ok 0 "the first VM is imported" import ray-nodes "$tmp/first.json" --now "$now"
ok 0 "slices prints the slice with one VM" slices -o json
fact "the slice with one VM is degraded" 'd["slices"][0]["conditions"][0], d["slices"][0]["n_missing"]' "('degraded', 1)"
ok 6 "no slice fits with one VM" fits --topology 2x2x2 --accelerator v5p --slices 1
ok 0 "the second VM is imported" import ray-nodes "$tmp/second.json" --now "$now"
out "import reports the second VM as added" vm-1
ok 0 "status prints both VMs" status -o json
fact "both VMs have 8 TPU" "${resource}['TPU']" 8
fact "the slice has 1 head resource" "${resource}['TPU-v5p-16-head']" 1
ok 0 "nodes prints both VMs" nodes -o json
fact "Ray's head node is worker 0" '[(n["worker_id"], n["chips"]) for n in d["nodes"] if n["ray_head"]]' "[(0, 4)]"
ok 0 "the slice fits with both VMs" fits --topology 2x2x2 --accelerator v5p --slices 1

finish
