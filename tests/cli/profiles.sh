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
ok 0 "a v5p slice of two hosts is imported" import fleet 'v5p 2x2x2 pool=p' --now "$now"
ok 0 "the slice is reserved" reserve train --topology 2x2x2 --accelerator v5p --slices 1 --now "$now"
baseline
ok 0 "env --processes-per-host 4 succeeds" env train --processes-per-host 4 -o json
json "env --processes-per-host prints JSON"
fact "four processes per host are eight processes" 'len (d["processes"])' 8
fact "each host has four processes" '[(p["worker_id"], p["local"]) for p in d["processes"]]' \
  "[(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]"
fact "the process bounds cover the slice" "$(environment 6 TPU_PROCESS_BOUNDS)" 2,2,2
fact "the chip bounds of a process are one chip" "$(environment 6 TPU_CHIPS_PER_PROCESS_BOUNDS)" 1,1,1
fact "a process sees one chip of its host" "$(environment 6 TPU_VISIBLE_CHIPS)" 2
fact "processes are numbered over the slice" "$(environment 6 CLOUD_TPU_TASK_ID)" 6
fact "each process has its own port" "$(environment 6 TPU_PROCESS_PORT)" 8473
fact "each process has the addresses of all processes" "$(environment 0 TPU_PROCESS_ADDRESSES)" \
  "p-0-0:8471,p-0-0:8472,p-0-0:8473,p-0-0:8474,p-0-1:8471,p-0-1:8472,p-0-1:8473,p-0-1:8474"
fact "a process has the device of its chip" 'd["processes"][6]["devices"]' "[{'device_id': 5, 'chip': 5, 'x': 1, 'y': 0, 'z': 1}]"
fact "each device occurs once" 'sorted (e["device_id"] for p in d["processes"] for e in p["devices"])' "[0, 1, 2, 3, 4, 5, 6, 7]"
ok 0 "env --as-seen-by jax accepts several processes per host" env train --processes-per-host 4 --as-seen-by jax -o json
fact "JAX derives the same process ids" '[p["jax_process_id"] for p in d["processes"]]' "[0, 1, 2, 3, 4, 5, 6, 7]"
ok 0 "env --process prints one environment" env train --processes-per-host 4 --process 6 -o env
out "--process selects the process by id" "CLOUD_TPU_TASK_ID='6'"
ok 0 "env --processes-per-host 2 succeeds" env train --processes-per-host 2 -o json
fact "two processes per host have columns of chips" '[[e["chip"] for e in p["devices"]] for p in d["processes"]]' "[[0, 2], [1, 3], [4, 6], [5, 7]]"
ok 0 "env without --processes-per-host succeeds" env train -o json
fact "the default is one process per host" '[len (p["devices"]) for p in d["processes"]]' "[4, 4]"
fact "one process per host has no bounds" "$(environment 0 TPU_PROCESS_BOUNDS)" None

refused 2 "--processes-per-host that is no number" "--processes-per-host" env train --processes-per-host two
refused 3 "three processes per host" "processes per host '3'|expected 1, 2, 4 or 8" env train --processes-per-host 3
refused 3 "more processes than chips of a host" "8 processes per host|the 4 chips of a host" env train --processes-per-host 8
refused 4 "--process beyond the last" "--process '8'|0 to 7" env train --processes-per-host 4 --process 8
refused 2 "-o env for several processes of a host" "-o env writes one process|--process" env train --processes-per-host 4 --slice-id 0 --worker 1 -o env
refused 5 "profile kuberay without a manifest" "profile kuberay needs the manifest of the RayCluster" env train --profile kuberay
refused 2 "unknown profile" "--profile 'slurm'|kuberay, jobset, lws or job" env train --profile slurm

# --- JobSet
ok 0 "profile jobset succeeds" env train --profile jobset -o json
fact "the JobSet has the name of the group" "$(environment 1 TPU_WORKER_HOSTNAMES)" "train-slice-job-0-0.train,train-slice-job-0-1.train"
fact "the pods of the JobSet have completion indices" "$(environment 1 JOB_COMPLETION_INDEX)" 1
ok 0 "--jobset and --replicated-job are accepted" env train --profile jobset --jobset pre --replicated-job w --worker 0 -o env
out "the host names use the given names" "TPU_WORKER_HOSTNAMES='pre-w-0-0.pre,pre-w-0-1.pre'"
refused 3 "--jobset with an invalid name" "JobSet 'Pre'" env train --profile jobset --jobset Pre
refused 2 "--jobset with a different profile" "--jobset 'pre'|--profile jobset" env train --jobset pre
refused 2 "--replicated-job with a different profile" "--replicated-job 'w'|--profile jobset" env train --profile kuberay --replicated-job w
refused 3 "pod names of a JobSet that are too long" "at most 63 bytes" env train --profile jobset \
  --jobset aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa

# --- the webhook
fresh
ok 0 "the example is imported" import raycluster "$two_slices" --now "$now"
ok 0 "two slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "profile kuberay succeeds with a manifest" env train --profile kuberay -o json
fact "the host names are those of the webhook" "$(environment 5 TPU_WORKER_HOSTNAMES)" "$(printf 'tpu-group-1-%d.two-slices-headless,' 0 1 2 3 | sed 's/,$//')"
fact "the slice ids are those of the webhook" "$(environment 5 MEGASCALE_SLICE_ID)" 1
fact "the port is that of the manifest" "$(environment 5 MEGASCALE_PORT)" 9915
fact "no note about different numbers of slices" '[n for n in d["notes"] if "numbers slices" in n]' "[]"

# --- two worker groups: the webhook counts the replicas of each on its own
fresh
awk '/- groupName: tpu-group/ { worker = 1 } worker { more = more $0 "\n" } { print }
  END { sub (/groupName: tpu-group/, "groupName: more", more); printf "%s", more }' "$two_slices" >"$tmp/two-groups.yaml"
ok 0 "a manifest with two groups of two slices is imported" import raycluster "$tmp/two-groups.yaml" --now "$now"
ok 0 "a group of four slices is reserved" reserve train --topology 4x4 --accelerator v6e --slices 4 --now "$now"
baseline
ok 0 "profile kuberay prints a group of two worker groups" env train --profile kuberay -o json
fact "slices of different worker groups have equal ids" '[p["slice_id"] for p in d["processes"] if p["worker_id"] == 0]' "[0, 1, 0, 1]"
fact "a note reports equal slice ids" '[n for n in d["notes"] if "both have id" in n]' \
  "[\"slices 'more-0' and 'tpu-group-0' both have id 0: the TPU webhook counts the replicas of each worker group from 0, so they have the same MEGASCALE_SLICE_ID\"]"
ok 0 "profile quoit prints a group of two worker groups" env train -o json
fact "profile quoit numbers all slices, without a note" '[n for n in d["notes"] if "both have id" in n]' "[]"
refused 2 "-o env with a slice id that two worker groups have" \
  "but 2 match: select one with --slice, or with --process" env train --profile kuberay --slice-id 0 --worker 1 -o env
refused 2 "-o env with --slice-id alone" "but 8 match: select one with --slice and --worker, or with --process" env train --profile kuberay --slice-id 0 -o env
refused 2 "-o env with --slice alone" "but 4 match: select one with --worker, or with --process" env train --slice more-1 -o env
refused 2 "-o env without a selection" "but 16 match: select one with --slice-id (or --slice) and --worker, or with --process" env train -o env
ok 0 "-o env with --slice and --worker succeeds" env train --profile kuberay --slice more-0 --worker 1 -o env
out "--slice and --worker select one process" "TPU_NAME='more-0'"

# --- a RayJob, whose cluster KubeRay has not named yet
fresh
sed 's/kind: RayCluster/kind: RayJob/; s/^spec:/spec:\n  rayClusterSpec:/; /^  headGroupSpec/,$s/^/  /' "$two_slices" >"$tmp/job.yaml"
ok 0 "a RayJob is imported" import raycluster "$tmp/job.yaml" --now "$now"
ok 0 "two slices of the RayJob are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "profile kuberay succeeds for a RayJob" env train --profile kuberay -o json
fact "host names of a RayJob are assumed" '{tuple (p["assumed"]) for p in d["processes"]}' "{('host-name',)}"
fact "a note gives the longest valid name of a RayJob" \
  '[("TPU_WORKER_HOSTNAMES, MEGASCALE_COORDINATOR_ADDRESS" in n, "at most 35 bytes" in n) for n in d["notes"] if "is assumed" in n]' "[(True, True)]"
fresh
sed 's/^  name: two-slices/  name: a-cluster-name-of-two-and-forty-bytes-in-all/' "$two_slices" >"$tmp/long.yaml"
ok 0 "a cluster with a long name is imported" import raycluster "$tmp/long.yaml" --now "$now"
ok 0 "a slice of the cluster with a long name is reserved" reserve train --topology 4x4 --accelerator v6e --slices 1 --now "$now"
ok 0 "profile kuberay succeeds for a long cluster name" env train --profile kuberay -o json
fact "a note reports that host names do not resolve" '[n for n in d["notes"] if "do not resolve unless" in n and "luster-name-of-two" in n] != []' True
fact "host names of a cluster are not assumed" '[p["assumed"] for p in d["processes"]]' "[[], [], [], []]"

# --- variables on which the sources disagree
fresh
ray_list "$tmp/list.json" 1.0 2.0 10.0
ok 0 "a running cluster without replica 0 is imported" import ray-nodes "$tmp/list.json" --now "$now"
ok 0 "three slices of the running cluster are reserved" reserve train --topology 4x4 --accelerator v6e --slices 3 --now "$now"
ok 0 "env reports how the profiles count slices" env train -o json
fact "a note names a slice that Ray Train numbers differently, by its name as text" '[n for n in d["notes"] if n.startswith ("Ray Train numbers")]' \
  "[\"Ray Train numbers slices by name, compared as text: 2 of them have other ids than in this profile; for example, slice 'tpu-group-2' has id 2 instead of 1\"]"
fact "a note has the order of the webhook, by replica" '[n for n in d["notes"] if n.startswith ("the TPU webhook numbers")]' \
  "[\"the TPU webhook numbers slices by KubeRay's replica index, which Ray Train overrides: 3 of them have other ids than in this profile; for example, slice 'tpu-group-1' has id 1 instead of 0\"]"
fact "a note reports that the webhook's coordinator is missing" 'any ("host 0 of replica 0" in n for n in d["notes"])' True
ok 0 "profile ray-train succeeds with three slices" env train --profile ray-train -o json
fact "a note of profile ray-train has the order of profile quoit" '[n for n in d["notes"] if n.startswith ("profile quoit numbers")]' \
  "[\"profile quoit numbers slices in natural order: 2 of them have other ids than in this profile; for example, slice 'tpu-group-10' has id 2 instead of 1\"]"
ok 0 "profile ray-train with several processes per host succeeds" env train --profile ray-train --processes-per-host 4 -o json
fact "processes of a host see the chips that Ray assigns" '[d["processes"][9]["environment"][k] for k in ("TPU_VISIBLE_CHIPS", "TPU_HOST_BOUNDS")]' \
  "['1', '1,1,1']"
ok 0 "env prints notes as text" env train
out "the notes are in the first lines" "# the TPU webhook numbers slices"
finish
