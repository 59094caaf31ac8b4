#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Manifests without Ray: a JobSet is checked and imported, and its pods have their environment.
. "$top_srcdir/tests/cli/lib.sh"
set=$top_srcdir/examples/jobset-v6e-4x4-x2.yaml
cd "$tmp" || exit 1

# --- check
ok 0 "the example has no findings" check manifest --strict "$set"
holds "a valid JobSet prints nothing" test ! -s "$tmp/out"
sed 's/ici_fsdp_parallelism=16/ici_fsdp_parallelism=8/' "$set" >mesh.yaml
ok 3 "a mesh that does not fit the slices is an error" check manifest mesh.yaml
out "the finding names the setting in the command" "error: ici_*_parallelism '8' in the command: expected a product of 16, the devices of a slice"
sed 's/llama3-8b/llama3-70b/' "$set" >memory.yaml
ok 0 "a model that does not fit is a warning" check manifest memory.yaml
out "the finding has the memory" "warning: model_name 'llama3-70b' in the command: expected parameters, optimizer state and gradients of at most 32.0 GiB"
sed 's/replicas: 2/replicas: 3/' "$set" >slices.yaml
ok 0 "another number of slices is a warning" check manifest slices.yaml
out "the finding names the sizes between slices" "[entrypoint-slices]"
sed 's/parallelism: 4/parallelism: 2/' "$set" >pods.yaml
ok 0 "too few pods are a warning" check manifest pods.yaml
out "the finding has the number of hosts" "warning: parallelism '2': expected 4, the hosts of topology '4x4' with 4 chips per pod [pods-topology]"

# --- import
fresh
ok 0 "a JobSet is imported" import raycluster "$set" --now "$now" -o json
fact "the source is the JobSet" 'd["source"], d["n_nodes"]' "('two-slices', 8)"
fact "the pool is the replicated job" '[(p["pool"], p["topology"], p["slices"], p["free"]) for p in d["pools"]]' "[('workers', '4x4', 2, 2)]"
ok 0 "the slices of a JobSet are reserved" reserve two-slices --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "the environment of the group is printed" env two-slices --profile jobset --replicated-job workers -o json
cp "$tmp/out" group.json
baseline
refused 3 "a JobSet that contradicts its topology" "parallelism 2: expected 4" import raycluster pods.yaml --now "$now"
{ cat "$set" && echo --- && sed 's/two-slices/other/' "$set"; } >both.yaml
refused 3 "two JobSets in a file" "a second object that makes pods, JobSet, after JobSet in line 6" import raycluster both.yaml --now "$now"

# --- env --manifest
unset QUOIT_DB
ok 0 "the pods of a JobSet are printed" env --manifest "$set"
out "a pod has its place and name" "# process 5: slice id 1 (two-slices-workers-1), worker 1, node two-slices-workers-1-1"
out "the coordinator is the first pod" "MEGASCALE_COORDINATOR_ADDRESS='two-slices-workers-0-0.two-slices'"
out "the number of slices is that of the jobs" "MEGASCALE_NUM_SLICES='2'"
ok 0 "one pod is selected" env --manifest "$set" --slice-id 1 --worker 2 -o json
fact "the pod has its variables" '[(p["node"], p["environment"]["TPU_WORKER_ID"], p["environment"]["MEGASCALE_SLICE_ID"]) for p in d["processes"]]' \
  "[('two-slices-workers-1-2', '2', '1')]"
ok 0 "all pods are printed as JSON" env --manifest "$set" -o json
holds "the environment equals that of a group on these slices" "$python" -c 'import json, sys
ours, group = (json.load(open(file, encoding="utf-8")) for file in sys.argv[1:])
assert [p["environment"] for p in ours["processes"]] == [p["environment"] for p in group["processes"]]
assert len(ours["processes"]) == 8' "$tmp/out" group.json
refused 4 "a slice that does not exist" "slice-id" env --manifest "$set" --slice-id 2
refused 4 "a replicated job that does not exist" "--group 'driver': expected a replicated job of the manifest with slices: workers" \
  env --manifest "$set" --group driver
refused 2 "steps for a JobSet" "--then requires a RayCluster" env --manifest "$set" --then fail=0.0
sed 's/^kind: JobSet/kind: Unknown/' "$set" >unknown.yaml
refused 3 "an object of another kind" "no Ray object in it, but 'Unknown' in line 6|such as a JobSet" env --manifest unknown.yaml
printf 'kind: Pod\nmetadata: {name: p}\nspec: {nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, cloud.google.com/gke-tpu-topology: 2x2}, containers: [{name: a, resources: {limits: {google.com/tpu: 4}}}]}\n' >pod.yaml
refused 3 "a pod, whose variables are not known" "'p': expected a RayCluster, RayJob, RayService or JobSet" env --manifest pod.yaml

finish
