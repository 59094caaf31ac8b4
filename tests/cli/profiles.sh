#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The environment of a group's processes in each profile, and with several of them on a host.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/ray-lists.sh"

# environment PROCESS NAME: a Python expression for that variable.
environment ()
{
  printf 'd["processes"][%s]["environment"].get("%s")' "$1" "$2"
}

# --- PyTorch/XLA's device mode: two hosts, four processes on each
fresh
ok 0 "a v5p-16" import fleet 'v5p 2x2x2 pool=p' --now "$now"
ok 0 "is reserved" reserve train --topology 2x2x2 --accelerator v5p --slices 1 --now "$now"
baseline
ok 0 "a process a chip" env train --processes-per-host 4 -o json
json "in JSON"
fact "is eight processes" 'len (d["processes"])' 8
fact "four to a host" '[(p["worker_id"], p["local"]) for p in d["processes"]]' \
  "[(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]"
fact "which the slice's bounds hold" "$(environment 6 TPU_PROCESS_BOUNDS)" 2,2,2
fact "with a chip each" "$(environment 6 TPU_CHIPS_PER_PROCESS_BOUNDS)" 1,1,1
fact "of their host" "$(environment 6 TPU_VISIBLE_CHIPS)" 2
fact "numbered through the slice" "$(environment 6 CLOUD_TPU_TASK_ID)" 6
fact "each with a port" "$(environment 6 TPU_PROCESS_PORT)" 8473
fact "that all know" "$(environment 0 TPU_PROCESS_ADDRESSES)" \
  "p-0-0:8471,p-0-0:8472,p-0-0:8473,p-0-0:8474,p-0-1:8471,p-0-1:8472,p-0-1:8473,p-0-1:8474"
fact "and has its device" 'd["processes"][6]["devices"]' "[{'device_id': 5, 'chip': 5, 'x': 1, 'y': 0, 'z': 1}]"
fact "no two the same" 'sorted (e["device_id"] for p in d["processes"] for e in p["devices"])' "[0, 1, 2, 3, 4, 5, 6, 7]"
ok 0 "JAX agrees" env train --processes-per-host 4 --as-seen-by jax -o json
fact "on who they are" '[p["jax_process_id"] for p in d["processes"]]' "[0, 1, 2, 3, 4, 5, 6, 7]"
ok 0 "one of them for a shell" env train --processes-per-host 4 --process 6 -o env
out "is chosen by its id" "CLOUD_TPU_TASK_ID='6'"
ok 0 "two to a host" env train --processes-per-host 2 -o json
fact "have columns of it" '[[e["chip"] for e in p["devices"]] for p in d["processes"]]' "[[0, 2], [1, 3], [4, 6], [5, 7]]"
ok 0 "JAX's host mode" env train -o json
fact "has a process a host" '[len (p["devices"]) for p in d["processes"]]' "[4, 4]"
fact "and no bounds" "$(environment 0 TPU_PROCESS_BOUNDS)" None

refused 2 "not every number divides a host" "--processes-per-host" env train --processes-per-host two
refused 3 "three does not" "processes per host '3'|expected 1, 2, 4 or 8" env train --processes-per-host 3
refused 3 "nor more than a host has" "8 processes per host|the 4 chips of a host" env train --processes-per-host 8
refused 4 "a process must be there" "--process '8'|0 to 7" env train --processes-per-host 4 --process 8
refused 2 "a shell reads one" "-o env is for one process|--process" env train --processes-per-host 4 --slice-id 0 --worker 1 -o env
refused 5 "no manifest, no webhook" "profile kuberay needs the RayCluster" env train --profile kuberay
refused 2 "a profile is one of four" "--profile 'slurm'|kuberay or jobset" env train --profile slurm

# --- JobSet
ok 0 "a JobSet" env train --profile jobset -o json
fact "is called as the group" "$(environment 1 TPU_WORKER_HOSTNAMES)" "train-slice-job-0-0.train,train-slice-job-0-1.train"
fact "and its pods are numbered" "$(environment 1 JOB_COMPLETION_INDEX)" 1
ok 0 "or otherwise" env train --profile jobset --jobset pre --replicated-job w --worker 0 -o env
out "as it is told" "TPU_WORKER_HOSTNAMES='pre-w-0-0.pre,pre-w-0-1.pre'"
refused 3 "Kubernetes has rules for names" "JobSet 'Pre'" env train --profile jobset --jobset Pre
refused 2 "that other profiles do not read" "--jobset 'pre'|--profile jobset" env train --jobset pre
refused 2 "nor this one" "--replicated-job 'w'|--profile jobset" env train --profile kuberay --replicated-job w
refused 3 "names end where DNS does" "at most 63 bytes" env train --profile jobset \
  --jobset aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

# --- the webhook
fresh
ok 0 "the example is imported" import raycluster "$two_slices" --now "$now"
ok 0 "two slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "the webhook's" env train --profile kuberay -o json
fact "hosts" "$(environment 5 TPU_WORKER_HOSTNAMES)" "$(printf 'tpu-group-1-%d.two-slices-headless,' 0 1 2 3 | sed 's/,$//')"
fact "and slice ids" "$(environment 5 MEGASCALE_SLICE_ID)" 1
fact "and the manifest's port" "$(environment 5 MEGASCALE_PORT)" 9915
fact "which nobody counts otherwise" '[n for n in d["notes"] if "counts slices" in n]' "[]"

# --- two worker groups: the webhook counts the replicas of each on its own
fresh
awk '/- groupName: tpu-group/ { worker = 1 } worker { more = more $0 "\n" } { print }
  END { sub (/groupName: tpu-group/, "groupName: more", more); printf "%s", more }' "$two_slices" >"$tmp/two-groups.yaml"
ok 0 "two groups of two slices" import raycluster "$tmp/two-groups.yaml" --now "$now"
ok 0 "are one group of four" reserve train --topology 4x4 --accelerator v6e --slices 4 --now "$now"
baseline
ok 0 "to the webhook" env train --profile kuberay -o json
fact "they have two ids" '[p["slice_id"] for p in d["processes"] if p["worker_id"] == 0]' "[0, 1, 0, 1]"
fact "which is noted" '[n for n in d["notes"] if "both have id" in n]' \
  "[\"slices 'more-0' and 'tpu-group-0' both have id 0: the TPU webhook counts the replicas of each worker group from 0, and MEGASCALE_SLICE_ID does not tell them apart\"]"
ok 0 "quoit counts them" env train -o json
fact "through, and has nothing to note" '[n for n in d["notes"] if "both have id" in n]' "[]"
refused 2 "an id and a worker are two processes" \
  "these are 2: choose it by --slice, or by --process" env train --profile kuberay --slice-id 0 --worker 1 -o env
refused 2 "an id alone is more" "these are 8: choose it by --slice and --worker, or by --process" env train --profile kuberay --slice-id 0 -o env
refused 2 "a slice leaves workers" "these are 4: choose it by --worker, or by --process" env train --slice more-1 -o env
refused 2 "and nothing leaves all" "these are 16: choose it by --slice-id (or --slice) and --worker, or by --process" env train -o env
ok 0 "and a name and a worker one" env train --profile kuberay --slice more-0 --worker 1 -o env
out "which is that one" "TPU_NAME='more-0'"

# --- a RayJob, whose cluster KubeRay has not named yet
fresh
sed 's/kind: RayCluster/kind: RayJob/; s/^spec:/spec:\n  rayClusterSpec:/; /^  headGroupSpec/,$s/^/  /' "$two_slices" >"$tmp/job.yaml"
ok 0 "a job is imported" import raycluster "$tmp/job.yaml" --now "$now"
ok 0 "and two slices reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "the webhook's hosts" env train --profile kuberay -o json
fact "are assumed" '{tuple (p["assumed"]) for p in d["processes"]}' "{('host-name',)}"
fact "as is noted, with the length that a job's name may have" \
  '[("TPU_WORKER_HOSTNAMES, MEGASCALE_COORDINATOR_ADDRESS" in n, "at most 35 bytes" in n) for n in d["notes"] if "is assumed" in n]' "[(True, True)]"
fresh
sed 's/^  name: two-slices/  name: a-cluster-name-of-two-and-forty-bytes-in-all/' "$two_slices" >"$tmp/long.yaml"
ok 0 "a cluster of a long name" import raycluster "$tmp/long.yaml" --now "$now"
ok 0 "has slices too" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "whose hosts" env train --profile kuberay -o json
fact "do not resolve" '[n for n in d["notes"] if "do not resolve unless" in n and "luster-name-of-two" in n] != []' True
fact "though their names are known" '[p["assumed"] for p in d["processes"]]' "[[], [], [], []]"

# --- variables on which the sources disagree
fresh
ray_list "$tmp/list.json" 1.0 2.0 10.0
ok 0 "a running cluster without its replica 0" import ray-nodes "$tmp/list.json" --now "$now"
ok 0 "three slices" reserve train --topology 4x4 --accelerator v6e --slices 3 --now "$now"
ok 0 "are numbered" env train -o json
fact "by Ray as text" '[n for n in d["notes"] if n.startswith ("Ray Train counts")]' \
  "[\"Ray Train counts slices by the order of its workers, slice names as text: 2 of them have another id to it, slice 'tpu-group-2' is 2 and here 1\"]"
fact "by the webhook as replicas" '[n for n in d["notes"] if n.startswith ("the TPU webhook counts")]' \
  "[\"the TPU webhook counts slices by KubeRay's replica index, which Ray Train overrides: 3 of them have another id to it, slice 'tpu-group-1' is 1 and here 0\"]"
fact "whose coordinator is not there" 'any ("host 0 of replica 0" in n for n in d["notes"])' True
ok 0 "Ray Train's" env train --profile ray-train -o json
fact "own order says so too" '[n for n in d["notes"] if n.startswith ("profile quoit counts")]' \
  "[\"profile quoit counts slices in natural order: 2 of them have another id to it, slice 'tpu-group-10' is 2 and here 1\"]"
ok 0 "and a part of a host" env train --profile ray-train --processes-per-host 4 -o json
fact "is what Ray leaves visible" '[d["processes"][9]["environment"][k] for k in ("TPU_VISIBLE_CHIPS", "TPU_HOST_BOUNDS")]' \
  "['1', '1,1,1']"
ok 0 "people are told" env train
out "in the first lines" "# the TPU webhook counts slices"
finish
