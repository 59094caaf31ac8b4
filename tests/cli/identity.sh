#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The identity of each process of a group in the view of a program with its environment: quoit env --as-seen-by.
. "$top_srcdir/tests/cli/lib.sh"
. "$top_srcdir/tests/cli/ray-lists.sh"

# manifest NAME VALUE: the example manifest with one more variable in its workers.
manifest ()
{
  sed "s|^          - name: JAX_PLATFORMS|          - name: $1\n            value: '$2'\n&|" "$two_slices" >"$tmp/more.yaml"
  fresh
  ok 0 "a manifest that sets $1 is imported" import raycluster "$tmp/more.yaml" --now "$now"
  ok 0 "a group is reserved from the manifest that sets $1" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
}

fresh
ok 0 "the example is imported" import raycluster "$two_slices" --now "$now"
ok 0 "two slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
baseline

ok 0 "env --as-seen-by jax succeeds" env train --as-seen-by jax -o json
json "env --as-seen-by jax prints JSON"
fact "JSON has group, profile and program" 'd["group"], d["profile"], d["as_seen_by"]' "('train@1', 'quoit', 'jax')"
fact "JAX derives the process ids of quoit" '[p["jax_process_id"] for p in d["processes"]]' "[0, 1, 2, 3, 4, 5, 6, 7]"
fact "every process waits for all 8 processes" '{p["jax_process_count"] for p in d["processes"]}' "{8}"
fact "every process has the coordinator of slice 0, worker 0" '{(p["cluster"], p["coordinator"]) for p in d["processes"]}' \
  "{('gketpu', 'tpu-group-0-0.two-slices-headless:8482')}"
fact "no process has an error" '{p["error"] for p in d["processes"]}' "{None}"
fact "no note concerns JAX" '[n for n in d["notes"] if "JAX" in n or "process" in n]' "[]"
ok 0 "env --as-seen-by jax selects one process" env train --as-seen-by jax --slice-id 1 --worker 2 -o json
fact "the selected process has its ids and node" '[(p["process_id"], p["slice_id"], p["worker_id"], p["node"]) for p in d["processes"]]' \
  "[(6, 1, 2, 'tpu-group-1-2')]"
ok 0 "env --as-seen-by jax prints a table" env train --as-seen-by jax
out "the table has the column JAX PROCESS" "JAX PROCESS"
out "the table has the coordinator" "tpu-group-0-0.two-slices-headless:8482"

refused 2 "unknown program of --as-seen-by" "--as-seen-by 'torch'|expected jax" env train --as-seen-by torch
refused 2 "--as-seen-by with -o env" "-o env|--as-seen-by" env train --as-seen-by jax -o env --worker 0 --slice-id 0
refused 4 "unknown worker with --as-seen-by" "--worker '7'" env train --as-seen-by jax --worker 7

# --- a manifest that sets too many variables
manifest TPU_PROCESS_ADDRESSES localhost:8471
ok 0 "TPU_PROCESS_ADDRESSES with one address per slice is accepted" env train --as-seen-by jax -o json
fact "each process waits for 2 processes" '{p["jax_process_count"] for p in d["processes"]}' "{2}"
fact "a note reports processes that wait for too few" '[n for n in d["notes"] if "waits" in n]' "['process 0 waits for 2 processes, but the group has 8']"
fact "a note reports two processes with one id" '[n for n in d["notes"] if "both" in n]' "['processes 1 and 4 both have process id 1 in JAX']"
ok 0 "a selected process prints text with notes" env train --as-seen-by jax --slice-id 0 --worker 0
out "notes cover processes that are not selected" "processes 1 and 4 both have process id 1 in JAX"

manifest TPU_PROCESS_ADDRESSES_PATH /etc/addresses
ok 0 "an address file of the pod does not change the exit status" env train --as-seen-by jax -o json
fact "each process has the error that the file is unreadable" '{p["error"] for p in d["processes"]}' \
  "{\"TPU_PROCESS_ADDRESSES_PATH '/etc/addresses': expected a file that can be read: JAX raises RuntimeError 'Failed to read TPU process addresses file /etc/addresses'\"}"
fact "a process with an unreadable address file has no JAX id" '{(p["cluster"], p["coordinator"], p["jax_process_id"]) for p in d["processes"]}' \
  "{(None, None, None)}"
fact "a note reports the processes without a cluster" 'len([n for n in d["notes"] if "the cluster in 0 of 8 processes" in n])' 1

manifest JAX_COORDINATOR_PORT 1234
ok 0 "a manifest with its own coordinator port is accepted" env train --as-seen-by jax -o json
fact "JAX uses its own coordinator port" '{p["coordinator"] for p in d["processes"]}' "{'tpu-group-0-0.two-slices-headless:1234'}"

# --- another profile
fresh
ray_list "$tmp/list.json" 0.0 1.0
ok 0 "a running cluster is imported" import ray-nodes "$tmp/list.json" --now "$now"
ok 0 "both slices of the running cluster are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "env accepts --profile ray-train with --as-seen-by jax" env train --profile ray-train --as-seen-by jax -o json
fact "JAX detects no cluster in Ray Train's environment" '{(p["cluster"], p["jax_process_id"]) for p in d["processes"]}' "{(None, None)}"
fact "a note says that Ray Train passes these values to JAX" '[n for n in d["notes"] if "initialize" in n][0].endswith("as Ray Train does")' True
finish
