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
  ok 0 "a manifest that sets $1" import raycluster "$tmp/more.yaml" --now "$now"
  ok 0 "and a group of it" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
}

fresh
ok 0 "the example is imported" import raycluster "$two_slices" --now "$now"
ok 0 "two slices are reserved" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
baseline

ok 0 "JAX sees the group" env train --as-seen-by jax -o json
json "in JSON"
fact "of which it says whose it is" 'd["group"], d["profile"], d["as_seen_by"]' "('train@1', 'quoit', 'jax')"
fact "every process has the id that quoit gives it" '[p["jax_process_id"] for p in d["processes"]]' "[0, 1, 2, 3, 4, 5, 6, 7]"
fact "and waits for all of them" '{p["jax_process_count"] for p in d["processes"]}' "{8}"
fact "where slice 0, worker 0 is" '{(p["cluster"], p["coordinator"]) for p in d["processes"]}' \
  "{('gketpu', 'tpu-group-0-0.two-slices-headless:8482')}"
fact "nothing is refused" '{p["error"] for p in d["processes"]}' "{None}"
fact "nor noted of JAX" '[n for n in d["notes"] if "JAX" in n or "process" in n]' "[]"
ok 0 "one process can be chosen" env train --as-seen-by jax --slice-id 1 --worker 2 -o json
fact "with its own id" '[(p["process_id"], p["slice_id"], p["worker_id"], p["node"]) for p in d["processes"]]' \
  "[(6, 1, 2, 'tpu-group-1-2')]"
ok 0 "and people have a table" env train --as-seen-by jax
out "with headings" "JAX PROCESS"
out "and hosts" "tpu-group-0-0.two-slices-headless:8482"

refused 2 "one program is modelled" "--as-seen-by 'torch'|expected jax" env train --as-seen-by torch
refused 2 "an environment is not what is read in it" "-o env|--as-seen-by" env train --as-seen-by jax -o env --worker 0 --slice-id 0
refused 4 "a worker must be there" "--worker '7'" env train --as-seen-by jax --worker 7

# --- a manifest that sets too many variables
manifest TPU_PROCESS_ADDRESSES localhost:8471
ok 0 "addresses of one process" env train --as-seen-by jax -o json
fact "make every slice one process" '{p["jax_process_count"] for p in d["processes"]}' "{2}"
fact "that waits for too few" '[n for n in d["notes"] if "waits" in n]' "['process 0 waits for 2 processes, the group has 8']"
fact "of which two are one" '[n for n in d["notes"] if "both" in n]' "['processes 1 and 4 are both 1 to JAX']"
ok 0 "people are told" env train --as-seen-by jax --slice-id 0 --worker 0
out "also of those that they did not choose" "processes 1 and 4 are both 1 to JAX"

manifest TPU_PROCESS_ADDRESSES_PATH /etc/addresses
ok 0 "a file that nobody can see is no failure" env train --as-seen-by jax -o json
fact "but a refusal in its row" '{p["error"] for p in d["processes"]}' \
  "{\"TPU_PROCESS_ADDRESSES_PATH '/etc/addresses': expected a file that can be read: JAX raises RuntimeError 'Failed to read TPU process addresses file /etc/addresses'\"}"
fact "of which nothing else is known" '{(p["cluster"], p["coordinator"], p["jax_process_id"]) for p in d["processes"]}' \
  "{(None, None, None)}"
fact "and a note" 'len([n for n in d["notes"] if "enough in 0 of 8 processes" in n])' 1

manifest JAX_COORDINATOR_PORT 1234
ok 0 "a port of one's own" env train --as-seen-by jax -o json
fact "is JAX's" '{p["coordinator"] for p in d["processes"]}' "{'tpu-group-0-0.two-slices-headless:1234'}"

# --- another profile
fresh
ray_list "$tmp/list.json" 0.0 1.0
ok 0 "a running cluster" import ray-nodes "$tmp/list.json" --now "$now"
ok 0 "and its two slices" reserve train --topology 4x4 --accelerator v6e --slices 2 --now "$now"
ok 0 "Ray Train's environment" env train --profile ray-train --as-seen-by jax -o json
fact "is none in which JAX finds a cluster" '{(p["cluster"], p["jax_process_id"]) for p in d["processes"]}' "{(None, None)}"
fact "because Ray Train tells it" '[n for n in d["notes"] if "initialize" in n][0].endswith("as Ray Train does")' True
finish
