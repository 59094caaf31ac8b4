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
ok 0 "a slice in pairs of chips" reserve pairs --topology 4x4 --accelerator v6e --slices 1 --tpu-per-bundle 2 --now "$now" -o json
fact "its environment is told at once" 'd["environment"][0]["name"]' CLOUD_TPU_TASK_ID
baseline
ok 0 "has its processes" env pairs -o json
json "in JSON"
fact "as one job on whole slices" 'd["job"]' slices
fact "two to a host" '[(p["bundle"], p["worker_id"], p["local"], p["host_chips"]) for p in d["processes"][:4]]' \
  "[(0, 0, 0, ['0', '1']), (1, 0, 1, ['2', '3']), (2, 1, 0, ['0', '1']), (3, 1, 1, ['2', '3'])]"
fact "with JAX's bounds" "[$(environment 3 TPU_PROCESS_BOUNDS), $(environment 3 TPU_CHIPS_PER_PROCESS_BOUNDS)]" "['4,2,1', '1,2,1']"
fact "whose chips are columns of their hosts" '[(e["x"], e["y"]) for e in d["processes"][3]["devices"]]' "[(3, 0), (3, 1)]"
fact "no device twice" 'sorted (e["device_id"] for p in d["processes"] for e in p["devices"]) == list (range (16))' True
cp "$tmp/out" "$tmp/pairs"
ok 0 "JAX agrees" env pairs --as-seen-by jax -o json
fact "on who they are" '[p["jax_process_id"] for p in d["processes"]] == list (range (8)), d["processes"][0]["jax_process_count"]' "(True, 8)"
ok 0 "one of them for a shell" env pairs --bundle 3 -o env
out "is chosen by its bundle" "TPU_VISIBLE_CHIPS='2,3'"
ok 0 "a mesh of them" mesh pairs --axes data=8,model=2 --split-physical -o json
fact "has the devices of the slice" 'd["n_devices"], d["n_slices"]' "(16, 1)"
fact "which are theirs" '{(e["id"], e["process_index"]) for e in d["devices"]} == {(e["device_id"], p["process_id"]) for p in __import__ ("json").load (open ("'"$tmp/pairs"'"))["processes"] for e in p["devices"]}' True
ok 0 "whose granules are processes" mesh pairs --axes a=8,b=2 --dcn a=8 --process-granule -o json
fact "each with its two" '[e["process_index"] for e in d["devices"]] == [i // 2 for i in range (16)]' True
refused 3 "bundles say how many processes there are" "group 'pairs', 4 processes per host: expected 1" env pairs --processes-per-host 4

# --- part of a slice
ok 0 "two hosts of a slice" reserve half --bundle '2x{TPU=4}' --strategy STRICT_SPREAD --topology-label ray.io/tpu-slice-name --slice v6e-4x4-1 --now "$now"
ok 0 "are one job" env half -o json
fact "on a part of it" 'd["job"]' boxes
fact "as the bounds say" "[$(environment 1 TPU_PROCESS_BOUNDS), $(environment 1 TPU_CHIPS_PER_PROCESS_BOUNDS)]" "['2,1,1', '2,2,1']"
fact "and JAX counts from its first chip" '[e["device_id"] for p in d["processes"] for e in p["devices"]]' "[0, 1, 4, 5, 2, 3, 6, 7]"
fact "though it is where the slice has it" '[(e["chip"], e["x"]) for e in d["processes"][1]["devices"]]' "[(2, 2), (3, 3), (6, 2), (7, 3)]"
ok 0 "with a mesh of its own" mesh half --axes a=4,b=2 -o json
fact "of its devices" 'd["n_devices"], d["n_slices"], d["orders"]' "(8, 1, ['ring'])"

ok 0 "a host of eight chips in pairs" reserve eights --bundle '4x{TPU=2}' --pool eight --strategy STRICT_PACK --now "$now"
ok 0 "which JAX deals to no process" env eights -o json
fact "is said to be so" 'd["job"], any ("on all chips of the slice" in n and "has not been seen" in n for n in d["notes"])' "('boxes', True)"
ok 0 "it makes room" release eights --now "$now"

# --- part of a host
ok 0 "one chip" reserve chip --bundle TPU=1 --pool eight --now "$now"
ok 0 "and three more, apart" reserve apart --bundle TPU=1 --bundle TPU=2 --pool eight --now "$now"
baseline
ok 0 "a process that is alone" env chip -o env
out "sees its chip" "TPU_VISIBLE_CHIPS='0'"
out "and no other process" "TPU_PROCESS_BOUNDS='1,1,1'"
ok 0 "a mesh of one" mesh chip --axes a=1
ok 0 "processes that are no job" env apart -o json
fact "start alone" 'd["job"], [p["environment"]["TPU_WORKER_ID"] for p in d["processes"]]' "('apart', ['0', '0'])"
fact "on chips that are boxes" '[p["environment"]["TPU_VISIBLE_CHIPS"] for p in d["processes"]]' "['1', '2,3']"
fact "each with a port" '[p["environment"]["TPU_PROCESS_PORT"] for p in d["processes"]]' "['8472', '8473']"
fact "and why is said" 'any ("no one job over ICI, and each process starts alone: bundle '"'1'"' has a box of '"'1,2,1'"' chips" in n for n in d["notes"])' True
ok 0 "JAX" env apart --as-seen-by jax -o json
fact "finds each alone" '[(p["jax_process_count"], p["jax_process_id"]) for p in d["processes"]], [n for n in d["notes"] if "waits for" in n or "both" in n]' "([(1, 0), (1, 0)], [])"
refused 3 "no mesh joins them" "group 'apart' is no one job over ICI|equal boxes of chips" mesh apart --axes a=3
refused 3 "pods have whole hosts" "profile kuberay: group 'apart'|profile quoit or ray-train" env apart --profile kuberay
ok 0 "three chips" reserve three --bundle TPU=3 --pool one --now "$now"
baseline
refused 3 "are no box" "group 'three': bundle '0' has the chips '0,1,2' of node 'one-0-0'|1, 2, 4 or 8 that are a box" env three
refused 3 "nor a mesh" "bundle '0' has the chips '0,1,2'" mesh three --axes a=3
refused 4 "a bundle must be there" "--bundle '8'|a bundle of the group" env pairs --bundle 8
refused 2 "by its number" "--bundle 'x'" env pairs --bundle x
ok 0 "slices that are whole" reserve whole --topology 2x2 --accelerator v6e --slices 1 --now "$now"
baseline
refused 4 "have no bundles" "--bundle '0'|which has its hosts whole" env whole --bundle 0
refused 2 "nor has a manifest" "--bundle: expected it without --manifest" env --manifest - --bundle 0

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
ok 0 "a cluster with a head" import ray-nodes "$tmp/nodes.json" --now "$now"
ok 0 "a coordinator and a worker" reserve mixed --bundle CPU=4 --bundle TPU=4,CPU=1 --now "$now"
baseline
ok 0 "are two processes" env mixed -o json
fact "the second without TPU" '[(p["process_id"], p["bundle"], p["slice_id"], p["node"], p["host_chips"]) for p in d["processes"]]' \
  "[(0, 1, 0, 'tpu', ['0', '1', '2', '3']), (1, 0, None, 'head', [])]"
fact "and without variables" 'd["processes"][1]["environment"]' "{}"
ok 0 "people" env mixed
out "are told so" "# process 1: bundle 0, no TPU, node head, address 10.0.0.1"
out "in a note too" "# bundle 0 has no TPU: no variables about one, and no part in a TPU job"
ok 0 "a shell" env mixed --slice-id 0 --worker 0 -o env
out "reads the worker's" "TPU_WORKER_ID='0'"
ok 0 "Ray Train's" env mixed --profile ray-train --as-seen-by jax
ok 0 "to JAX" env mixed --as-seen-by jax -o json
fact "the one without TPU is no worker of a slice" '[(p["slice_id"], p["worker_id"]) for p in d["processes"]]' "[(0, 0), (None, None)]"
ok 0 "a mesh is of the worker" mesh mixed --axes a=4
ok 0 "none of it TPU" reserve cpu --bundle CPU=1 --now "$now"
baseline
ok 0 "has processes" env cpu
refused 3 "and no mesh" "group 'cpu' has no TPU: a mesh is of devices" mesh cpu --axes a=1

# --- ports of a manifest
sed 's/MEGASCALE_PORT/TPU_PROCESS_PORT/; s/9915/65500/' "$two_slices" >"$tmp/port.yaml"
fresh
ok 0 "a port near the end" import raycluster "$tmp/port.yaml" --now "$now"
ok 0 "part of a host" reserve port --bundle TPU=2 --now "$now"
baseline
refused 3 "leaves no room for one a chip" "bundle '0' on node 'tpu-group-0-|TPU_PROCESS_PORT '65500': expected a port of 1 to 65472" env port

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
ok 0 "a host that is larger than its slice says" import ray-nodes "$tmp/large.json" --now "$now"
ok 0 "in halves" reserve halves --bundle '2x{TPU=4}' --bundle-select 0-1:ray.io/tpu-worker-id=2 --now "$now"
baseline
ok 0 "has a process that is on the torus, and one that is not" env halves -o json
fact "of which no device is told" '[(p["host_chips"][0], [e["chip"] for e in p["devices"]]) for p in d["processes"]]' \
  "[('0', [8, 9, 12, 13]), ('4', [])]"
ok 0 "both" release halves --now "$now"
ok 0 "as one" reserve halves2 --bundle TPU=8 --bundle-select 0:ray.io/tpu-worker-id=2 --now "$now"
baseline
ok 0 "are a box by themselves" env halves2 -o env
out "of all chips" "TPU_CHIPS_PER_PROCESS_BOUNDS='2,4,1'"

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
ok 0 "two hosts" import ray-nodes "$tmp/pairs.json" --now "$now"
ok 0 "each with every other bundle" reserve turns --bundle '4x{TPU=2}' --bundle-select 0:ray.io/tpu-worker-id=0 \
  --bundle-select 1:ray.io/tpu-worker-id=1 --bundle-select 2:ray.io/tpu-worker-id=0 \
  --bundle-select 3:ray.io/tpu-worker-id=1 --now "$now"
baseline
ok 0 "stand as Ray counts them" env turns --profile ray-train -o json
fact "and each is told which of its host's it is" '[(p["bundle"], p["node"], p["local"]) for p in d["processes"]]' \
  "[(0, 'r-0', 0), (1, 'r-1', 0), (2, 'r-0', 1), (3, 'r-1', 1)]"
fact "with parts of its chips" 'any ("as if it were alone" in n for n in d["notes"])' True
ok 0 "others" release turns --now "$now"
ok 0 "whole hosts" reserve first --bundle TPU=4 --bundle-select 0:ray.io/tpu-worker-id=1 --now "$now"
baseline
ok 0 "as bundles" env first --profile ray-train -o json
fact "have no parts, and no bounds" 'd["job"], [n for n in d["notes"] if "as if it were alone" in n or "the bounds say" in n]' "('boxes', [])"

# --- outside any slice
cat >"$tmp/loose.json" <<'END'
[{"node_id": "33333333333333333333333333333333333333333333333333333333", "node_ip": "10.0.0.3", "is_head_node": false,
  "state": "ALIVE", "node_name": "loose", "resources_total": {"CPU": 2.0, "TPU": 4.0}, "labels": {}}]
END
fresh
ok 0 "chips that are in no slice" import ray-nodes "$tmp/loose.json" --now "$now"
ok 0 "some of them" reserve loose --bundle TPU=1 --bundle TPU=2 --now "$now"
baseline
ok 0 "are processes" env loose -o json
fact "each alone" 'd["job"], [(p["slice"], p["host_chips"], p["devices"]) for p in d["processes"]]' \
  "('apart', [('', ['0'], []), ('', ['2', '3'], [])])"
fact "with bounds and a port of its own" \
  '[(e["TPU_CHIPS_PER_PROCESS_BOUNDS"], e["TPU_PROCESS_PORT"]) for e in (p["environment"] for p in d["processes"])]' \
  "[('1,1,1', '8471'), ('1,2,1', '8473')]"
ok 0 "for people" env loose
out "with their place" "# process 0: bundle 0, in no slice, node loose, address 10.0.0.3"

# --- in a slice, at an unknown place
"$python" - >"$tmp/lost.json" <<'END'
import json
print (json.dumps ([{"node_id": "%056x" % (n + 1), "node_ip": "10.0.1.%d" % n, "is_head_node": False, "state": "ALIVE",
                     "node_name": "u-%d" % n, "resources_total": {"TPU": 4.0, "u": 1.0},
                     "labels": {"ray.io/accelerator-type": "TPU-V6E", "ray.io/tpu-slice-name": "u",
                                "ray.io/tpu-topology": "4x4", "ray.io/tpu-pod-type": "v6e-16"}} for n in range (4)]))
END
fresh
ok 0 "hosts without worker ids" import ray-nodes "$tmp/lost.json" --now "$now"
ok 0 "two of them" reserve unknown --bundle '2x{TPU=4}' --now "$now"
baseline
ok 0 "are processes too" env unknown -o json
fact "of which none is told where its chips are" 'd["job"], [(p["node"], p["devices"]) for p in d["processes"]]' \
  "('apart', [('u-0', []), ('u-1', [])])"
finish
