#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# quoit env of a group of bundles: each bundle is a process, of one job or on its own.
. "$top_srcdir/tests/cli/lib.sh"

# environment PROCESS NAME: a Python expression for that variable.
environment ()
{
  printf 'd["processes"][%s]["environment"].get("%s")' "$1" "$2"
}

fresh 'v6e 4x4 x2; v5e 2x4 hostchips=8 pool=eight; v6e 2x2 pool=one x2'

# --- whole slices, a process for each pair of chips
ok 0 "a slice is reserved in bundles of two chips" reserve pairs --topology 4x4 --accelerator v6e --slices 1 --tpu-per-bundle 2 --now "$now" -o json
fact "reserve prints the environment" 'd["environment"][0]["name"]' CLOUD_TPU_TASK_ID
baseline
ok 0 "env prints the processes of a slice in bundles" env pairs -o json
json "env prints JSON"
fact "bundles that cover whole slices form one job on slices" 'd["job"]' slices
fact "each host has two processes" '[(p["bundle"], p["worker_id"], p["local"], p["host_chips"]) for p in d["processes"][:4]]' \
  "[(0, 0, 0, ['0', '1']), (1, 0, 1, ['2', '3']), (2, 1, 0, ['0', '1']), (3, 1, 1, ['2', '3'])]"
fact "the bounds are those of JAX" "[$(environment 3 TPU_PROCESS_BOUNDS), $(environment 3 TPU_CHIPS_PER_PROCESS_BOUNDS)]" "['4,2,1', '1,2,1']"
fact "the chips of a process are a column of its host" '[(e["x"], e["y"]) for e in d["processes"][3]["devices"]]' "[(3, 0), (3, 1)]"
fact "each device occurs once" 'sorted (e["device_id"] for p in d["processes"] for e in p["devices"]) == list (range (16))' True
cp "$tmp/out" "$tmp/pairs"
ok 0 "env --as-seen-by jax reads a group of bundles" env pairs --as-seen-by jax -o json
fact "JAX derives the same process ids" '[p["jax_process_id"] for p in d["processes"]] == list (range (8)), d["processes"][0]["jax_process_count"]' "(True, 8)"
ok 0 "env --bundle prints one environment" env pairs --bundle 3 -o env
out "--bundle selects the environment of that bundle" "TPU_VISIBLE_CHIPS='2,3'"
ok 0 "a mesh of bundles is accepted" mesh pairs --axes data=8,model=2 --split-physical -o json
fact "the mesh has the devices of the slice" 'd["n_devices"], d["n_slices"]' "(16, 1)"
fact "the mesh and env agree on the process of each device" '{(e["id"], e["process_index"]) for e in d["devices"]} == {(e["device_id"], p["process_id"]) for p in __import__ ("json").load (open ("'"$tmp/pairs"'"))["processes"] for e in p["devices"]}' True
ok 0 "a mesh with processes as granules is accepted" mesh pairs --axes a=8,b=2 --dcn a=8 --process-granule -o json
fact "each granule has the two devices of its process" '[e["process_index"] for e in d["devices"]] == [i // 2 for i in range (16)]' True
refused 3 "--processes-per-host with bundles" "group 'pairs', 4 processes per host: expected 1" env pairs --processes-per-host 4

# --- part of a slice
ok 0 "two hosts of a slice are reserved as bundles" reserve half --bundle '2x{TPU=4}' --strategy STRICT_SPREAD --topology-label ray.io/tpu-slice-name --slice v6e-4x4-1 --now "$now"
ok 0 "env prints the processes of two hosts" env half -o json
fact "two hosts of a slice form one job on boxes" 'd["job"]' boxes
fact "the bounds are those of the box of two hosts" "[$(environment 1 TPU_PROCESS_BOUNDS), $(environment 1 TPU_CHIPS_PER_PROCESS_BOUNDS)]" "['2,1,1', '2,2,1']"
fact "JAX numbers devices from the first chip of the box" '[e["device_id"] for p in d["processes"] for e in p["devices"]]' "[0, 1, 4, 5, 2, 3, 6, 7]"
fact "coordinates of chips are those in the slice" '[(e["chip"], e["x"]) for e in d["processes"][1]["devices"]]' "[(2, 2), (3, 3), (6, 2), (7, 3)]"
ok 0 "a mesh of two hosts is accepted" mesh half --axes a=4,b=2 -o json
fact "the mesh has the devices of the two hosts" 'd["n_devices"], d["n_slices"], d["orders"]' "(8, 1, ['ring'])"

ok 0 "a host of eight chips is reserved in bundles of two" reserve eights --bundle '4x{TPU=2}' --pool eight --strategy STRICT_PACK --now "$now"
ok 0 "env prints processes that JAX cannot divide" env eights -o json
fact "a note reports that this division is untested" 'd["job"], any ("on all chips of the slice" in n and "has not been seen" in n for n in d["notes"])' "('boxes', True)"
ok 0 "the host of eight chips is released" release eights --now "$now"

# --- part of a host
ok 0 "one chip is reserved" reserve chip --bundle TPU=1 --pool eight --now "$now"
ok 0 "three chips of one host are reserved in two bundles" reserve separate --bundle TPU=1 --bundle TPU=2 --pool eight --now "$now"
baseline
ok 0 "env prints the environment of a single chip" env chip -o env
out "the process sees only its chip" "TPU_VISIBLE_CHIPS='0'"
out "the process bounds are those of one process" "TPU_PROCESS_BOUNDS='1,1,1'"
ok 0 "a mesh of one chip is accepted" mesh chip --axes a=1
ok 0 "env prints processes that form no job" env separate -o json
fact "processes that form no job are each worker 0" 'd["job"], [p["environment"]["TPU_WORKER_ID"] for p in d["processes"]]' "('separate', ['0', '0'])"
fact "each process sees a box of chips" '[p["environment"]["TPU_VISIBLE_CHIPS"] for p in d["processes"]]' "['1', '2,3']"
fact "processes of a host have different ports" '[p["environment"]["TPU_PROCESS_PORT"] for p in d["processes"]]' "['8472', '8473']"
fact "a note gives the reason why the bundles form no job" 'any ("do not form one job over ICI, and each process starts alone: bundle '"'1'"' has a box of '"'1,2,1'"' chips" in n for n in d["notes"])' True
ok 0 "env --as-seen-by jax reads bundles that form no job" env separate --as-seen-by jax -o json
fact "JAX sees each process as a job of one" '[(p["jax_process_count"], p["jax_process_id"]) for p in d["processes"]], [n for n in d["notes"] if "waits for" in n or "both" in n]' "([(1, 0), (1, 0)], [])"
refused 3 "mesh of bundles that form no job" "group 'separate' is not one job over ICI|equal boxes of chips" mesh separate --axes a=3
refused 3 "profile kuberay with parts of hosts" "profile kuberay: group 'separate'|profile quoit or ray-train" env separate --profile kuberay
ok 0 "three chips are reserved as one bundle" reserve three --bundle TPU=3 --pool one --now "$now"
baseline
refused 3 "env of a bundle whose chips form no box" "group 'three': bundle '0' has the chips '0,1,2' of node 'one-0-0'|1, 2, 4 or 8 chips that form a box" env three
refused 3 "mesh of a bundle whose chips form no box" "bundle '0' has the chips '0,1,2'" mesh three --axes a=3
refused 4 "--bundle with an unknown index" "--bundle '8': expected the index of a bundle of the group" env pairs --bundle 8
refused 2 "--bundle that is no number" "--bundle 'x'" env pairs --bundle x
ok 0 "a whole slice is reserved" reserve whole --topology 2x2 --accelerator v6e --slices 1 --now "$now"
baseline
refused 4 "--bundle for a group of whole slices" "--bundle '0': the group has whole hosts and no bundles" env whole --bundle 0
refused 2 "--bundle with --manifest" "--bundle cannot be combined with --manifest" env --manifest - --bundle 0

# --- without TPU
cat >"$tmp/nodes.json" <<'END'
[{"node_id": "11111111111111111111111111111111111111111111111111111111", "node_ip": "10.0.0.1", "is_head_node": true,
  "state": "ALIVE", "node_name": "head", "resources_total": {"CPU": 8.0}, "labels": {}},
 {"node_id": "22222222222222222222222222222222222222222222222222222222", "node_ip": "10.0.0.2", "is_head_node": false,
  "state": "ALIVE", "node_name": "tpu", "resources_total": {"CPU": 2.0, "TPU": 4.0, "s": 1.0, "TPU-v6e-4-head": 1.0},
  "labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "s", "ray.io/tpu-worker-id": "0",
             "ray.io/tpu-topology": "2x2", "ray.io/tpu-pod-type": "v6e-4"}}]
END
fresh
ok 0 "Ray nodes with a head are imported" import ray-nodes "$tmp/nodes.json" --now "$now"
ok 0 "a bundle without TPU and a bundle with TPU are reserved" reserve mixed --bundle CPU=4 --bundle TPU=4,CPU=1 --now "$now"
baseline
ok 0 "env prints a process with TPU and one without" env mixed -o json
fact "the process without TPU comes last" '[(p["process_id"], p["bundle"], p["slice_id"], p["node"], p["host_chips"]) for p in d["processes"]]' \
  "[(0, 1, 0, 'tpu', ['0', '1', '2', '3']), (1, 0, None, 'head', [])]"
fact "the process without TPU has no variables" 'd["processes"][1]["environment"]' "{}"
ok 0 "env prints text for a group with a CPU bundle" env mixed
out "the text marks the process without TPU" "# process 1: bundle 0, no TPU, node head, address 10.0.0.1"
out "a note reports the bundle without TPU" "# bundle 0 has no TPU, gets no TPU variables and is not part of a TPU job"
ok 0 "env -o env selects the worker of the slice" env mixed --slice-id 0 --worker 0 -o env
out "the shell variables are those of the worker" "TPU_WORKER_ID='0'"
ok 0 "profile ray-train with --as-seen-by jax accepts a CPU bundle" env mixed --profile ray-train --as-seen-by jax
ok 0 "env --as-seen-by jax prints JSON for a CPU bundle" env mixed --as-seen-by jax -o json
fact "the process without TPU has no slice id and no worker id" '[(p["slice_id"], p["worker_id"]) for p in d["processes"]]' "[(0, 0), (None, None)]"
ok 0 "a mesh has the devices of the worker only" mesh mixed --axes a=4
ok 0 "a bundle without TPU is reserved alone" reserve cpu --bundle CPU=1 --now "$now"
baseline
ok 0 "env prints a group without TPU" env cpu
refused 3 "mesh of a group without TPU" "group 'cpu' has no TPU: a mesh needs devices" mesh cpu --axes a=1

# --- ports of a manifest
sed 's/MEGASCALE_PORT/TPU_PROCESS_PORT/; s/9915/65500/' "$two_slices" >"$tmp/port.yaml"
fresh
ok 0 "a manifest with a port near 65535 is imported" import raycluster "$tmp/port.yaml" --now "$now"
ok 0 "a part of a host is reserved" reserve port --bundle TPU=2 --now "$now"
baseline
refused 3 "TPU_PROCESS_PORT without room for one port per chip" "bundle '0' on node 'tpu-group-0-|TPU_PROCESS_PORT '65500': expected a port of 1 to 65472" env port

# --- a host with more chips than its slice's class has per host
"$python" - >"$tmp/large.json" <<'END'
import json
print (json.dumps ([{"node_id": "%056x" % (n + 1), "node_ip": "10.0.3.%d" % n, "is_head_node": False, "state": "ALIVE",
                     "node_name": "l-%d" % n, "resources_total": {"TPU": 8.0 if n == 2 else 4.0, "l": 1.0},
                     "labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "l",
                                "ray.io/tpu-worker-id": str (n), "ray.io/tpu-topology": "4x4",
                                "ray.io/tpu-pod-type": "v6e-16"}} for n in range (4)]))
END
fresh
ok 0 "a host larger than its slice states is imported" import ray-nodes "$tmp/large.json" --now "$now"
ok 0 "the host is reserved in halves" reserve halves --bundle '2x{TPU=4}' --bundle-select 0-1:ray.io/tpu-worker-id=2 --now "$now"
baseline
ok 0 "env prints the halves of the host" env halves -o json
fact "chips beyond the slice have no devices" '[(p["host_chips"][0], [e["chip"] for e in p["devices"]]) for p in d["processes"]]' \
  "[('0', [8, 9, 12, 13]), ('4', [])]"
ok 0 "the halves are released" release halves --now "$now"
ok 0 "all chips of the host are reserved as one bundle" reserve halves2 --bundle TPU=8 --bundle-select 0:ray.io/tpu-worker-id=2 --now "$now"
baseline
ok 0 "env prints the environment of the whole host" env halves2 -o env
out "the bounds cover all eight chips" "TPU_CHIPS_PER_PROCESS_BOUNDS='2,4,1'"

# --- across hosts, in Ray's order
"$python" - >"$tmp/pairs.json" <<'END'
import json
print (json.dumps ([{"node_id": "%056x" % (n + 1), "node_ip": "10.0.2.%d" % n, "is_head_node": False, "state": "ALIVE",
                     "node_name": "r-%d" % n, "resources_total": {"TPU": 4.0, "r": 1.0},
                     "labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "r",
                                "ray.io/tpu-worker-id": str (n), "ray.io/tpu-topology": "2x4",
                                "ray.io/tpu-pod-type": "v6e-8"}} for n in range (2)]))
END
fresh
ok 0 "two hosts are imported" import ray-nodes "$tmp/pairs.json" --now "$now"
ok 0 "bundles alternate between two hosts" reserve turns --bundle '4x{TPU=2}' --bundle-select 0:ray.io/tpu-worker-id=0 \
  --bundle-select 1:ray.io/tpu-worker-id=1 --bundle-select 2:ray.io/tpu-worker-id=0 \
  --bundle-select 3:ray.io/tpu-worker-id=1 --now "$now"
baseline
ok 0 "profile ray-train prints bundles on alternating hosts" env turns --profile ray-train -o json
fact "processes keep the order of bundles and have local indices" '[(p["bundle"], p["node"], p["local"]) for p in d["processes"]]' \
  "[(0, 'r-0', 0), (1, 'r-1', 0), (2, 'r-0', 1), (3, 'r-1', 1)]"
fact "a note reports that Ray Train ignores parts of hosts" 'any ("as if it were alone" in n for n in d["notes"])' True
ok 0 "the alternating bundles are released" release turns --now "$now"
ok 0 "whole hosts are reserved as bundles" reserve first --bundle TPU=4 --bundle-select 0:ray.io/tpu-worker-id=1 --now "$now"
baseline
ok 0 "profile ray-train prints whole hosts" env first --profile ray-train -o json
fact "whole hosts need no note about parts or bounds" 'd["job"], [n for n in d["notes"] if "as if it were alone" in n or "the bounds describe" in n]' "('boxes', [])"

# --- outside any slice
cat >"$tmp/loose.json" <<'END'
[{"node_id": "33333333333333333333333333333333333333333333333333333333", "node_ip": "10.0.0.3", "is_head_node": false,
  "state": "ALIVE", "node_name": "loose", "resources_total": {"CPU": 2.0, "TPU": 4.0}, "labels": {}}]
END
fresh
ok 0 "nodes outside slices are imported" import ray-nodes "$tmp/loose.json" --now "$now"
ok 0 "chips outside slices are reserved" reserve loose --bundle TPU=1 --bundle TPU=2 --now "$now"
baseline
ok 0 "env prints processes outside slices" env loose -o json
fact "each process outside slices is a separate job" 'd["job"], [(p["slice"], p["host_chips"], p["devices"]) for p in d["processes"]]' \
  "('separate', [('', ['0'], []), ('', ['2', '3'], [])])"
fact "each process outside slices has its own bounds and port" \
  '[(e["TPU_CHIPS_PER_PROCESS_BOUNDS"], e["TPU_PROCESS_PORT"]) for e in (p["environment"] for p in d["processes"])]' \
  "[('1,1,1', '8471'), ('1,2,1', '8473')]"
ok 0 "env prints text for processes outside slices" env loose
out "the text reports that the process is in no slice" "# process 0: bundle 0, in no slice, node loose, address 10.0.0.3"

# --- in a slice, at an unknown place
"$python" - >"$tmp/lost.json" <<'END'
import json
print (json.dumps ([{"node_id": "%056x" % (n + 1), "node_ip": "10.0.1.%d" % n, "is_head_node": False, "state": "ALIVE",
                     "node_name": "u-%d" % n, "resources_total": {"TPU": 4.0, "u": 1.0},
                     "labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "u",
                                "ray.io/tpu-topology": "4x4", "ray.io/tpu-pod-type": "v6e-16"}} for n in range (4)]))
END
fresh
ok 0 "hosts without worker ids are imported" import ray-nodes "$tmp/lost.json" --now "$now"
ok 0 "two hosts without worker ids are reserved" reserve unknown --bundle '2x{TPU=4}' --now "$now"
baseline
ok 0 "env prints processes without worker ids" env unknown -o json
fact "processes without worker ids have no coordinates" 'd["job"], [(p["node"], p["devices"]) for p in d["processes"]]' \
  "('separate', [('u-0', []), ('u-1', [])])"
finish
