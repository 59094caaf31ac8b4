#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kubernetes' node list: pools become slices and keep their states. With Ray's list of the same nodes, each node counts
# once.
. "$top_srcdir/tests/cli/lib.sh"

# node NAME POOL TOPOLOGY ADDRESS READY SPEC [LABELS]: a node in kubectl's format.
node ()
{
  printf '{"kind": "Node", "metadata": {"name": "%s", "uid": "uid-%s", "labels": {"kubernetes.io/hostname": "%s",
    "cloud.google.com/gke-nodepool": "%s", "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
    "cloud.google.com/gke-tpu-topology": "%s", "topology.kubernetes.io/zone": "us-east5-b"%s}},
    "spec": {%s"taints": [{"key": "google.com/tpu", "value": "present", "effect": "NoSchedule"}]},
    "status": {"capacity": {"cpu": "180", "google.com/tpu": "4"}, "allocatable": {"cpu": "179", "google.com/tpu": "4"},
    "conditions": [{"type": "Ready", "status": "%s"}], "addresses": [{"type": "InternalIP", "address": "%s"}]}}' \
    "$1" "$1" "$1" "$2" "$3" "${7-}" "$6" "$5" "$4"
}

# cluster READY SPEC: two slices of four hosts, whose names are in another order than their worker ids. READY and SPEC
# apply to the first host of the second slice.
cluster ()
{
  printf '{"apiVersion": "v1", "kind": "List", "items": ['
  for i in 1 2 3 4; do
    node "gke-a-$i" pool-a 4x4 "10.0.0.$((5 - i))" True ''
    printf ','
  done
  node gke-b-1 pool-b 4x4 10.0.1.4 "$1" "$2"
  for i in 2 3 4; do
    printf ','
    node "gke-b-$i" pool-b 4x4 "10.0.1.$((5 - i))" True '' ', "cloud.google.com/gke-spot": "true"'
  done
  printf ']}'
}

# ray SLICE...: Ray's list of the same nodes; worker id 0 has the first address.
ray ()
{
  printf '['
  comma=
  for slice in "$@"; do
    for worker in 0 1 2 3; do
      printf '%s{"NodeID": "%056d", "Alive": true, "NodeManagerAddress": "10.0.%d.%d", "NodeName": "10.0.%d.%d",
        "Resources": {"CPU": 8.0, "TPU": 4.0}, "Labels": {"ray.io/accelerator-type": "TPU-V6E",
        "ray.io/tpu-slice-name": "g-%d", "ray.io/tpu-worker-id": "%d", "ray.io/node-group": "g",
        "ray.io/tpu-pod-type": "v6e-16", "ray.io/tpu-topology": "4x4"}}' "$comma" "$((slice * 4 + worker + 1))" "$slice" \
        "$((worker + 1))" "$slice" "$((worker + 1))" "$slice" "$worker"
      comma=,
    done
  done
  printf ']'
}

cluster True '' >"$tmp/k8s.json"
cluster True '"unschedulable": true, ' >"$tmp/cordoned.json"
cluster Unknown '' >"$tmp/silent.json"
ray 0 1 >"$tmp/ray.json"

# --- the list alone
fresh
ok 0 "a node list of Kubernetes" import k8s-nodes "$tmp/k8s.json" --now "$now" -o json
fact "is a source" 'd["source"], d["new"], d["n_nodes"]' "('k8s', True, 8)"
fact "that says what it assumed" 'd["warnings"][0].partition(";")[2]' \
  " Kubernetes' nodes do not say worker ids, so they are assumed in the order of node names until a list of pods, or of Ray's nodes, states them"
ok 0 "slices" slices -o json
fact "are its pools" '[(s["slice"], s["topology"], s["n_nodes"]) for s in d["slices"]]' "[('pool-a', '4x4', 4), ('pool-b', '4x4', 4)]"
ok 0 "a node" show gke-a-2 -o json
fact "has its name's place" 'd["node"]["worker_id"], d["node"]["assumed"]' "(1, ['worker-id'])"
ok 0 "once more" sync k8s-nodes "$tmp/k8s.json" --now "$now" -o json
fact "changes nothing" 'd["n_changes"]' 0
ok 0 "two slices" reserve train --accelerator v6e --topology 4x4 --slices 2 --now "$now"
ok 0 "a host that is cordoned" sync k8s-nodes "$tmp/cordoned.json" --now "$now"
out "leaves the group" "train@1"
ok 0 "the group" show train -o json
fact "knows it" 'd["group"]["state"]' rescheduling
ok 0 "the ledger" verify

# --- with Ray's list, in either order
for first in k8s ray; do
  fresh
  case $first in k8s) second=ray ;; *) second=k8s ;; esac
  ok 0 "$first" import "$first-nodes" "$tmp/$first.json" --now "$now"
  ok 0 "and $second" import "$second-nodes" "$tmp/$second.json" --now "$now"
  ok 0 "nodes" nodes -o json
  fact "are counted once, $first first" 'len(d["nodes"]), {n["source"] for n in d["nodes"]}' "(8, {'ray'})"
  fact "and have Ray's worker ids" '[n["address"] for n in d["nodes"] if n["slice"] == "g-0"]' \
    "['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']"
  ok 0 "a node" show 10.0.1.2 -o json
  fact "is of both, and nothing is assumed" 'd["node"]["sources"], d["node"]["assumed"]' "(['ray', 'k8s'], [])"
  fact "with Ray's resources and the labels of both" \
    'd["resources"][0]["total"], d["labels"]["ray.io/tpu-slice-name"], d["labels"]["cloud.google.com/gke-spot"]' "('8', 'g-1', 'true')"
  ok 0 "a label of Kubernetes" reserve spot --accelerator v6e --topology 4x4 --slices 1 --select 'cloud.google.com/gke-spot=!true' \
    --now "$now"
  ok 0 "the slice" show g-0 -o json
  fact "that has no host without it is given, $first first" 'd["slice"]["held_by"]' "['spot@1']"
  ok 5 "and not the other" reserve more --accelerator v6e --topology 4x4 --slices 1 \
    --select 'cloud.google.com/gke-spot=!true' --now "$now"
  ok 0 "its end" release spot@1 --now "$now"
  ok 0 "what is cordoned there" sync k8s-nodes "$tmp/cordoned.json" --now "$now"
  ok 0 "slices" slices -o json
  fact "is draining, though Ray has it alive" '[s["conditions"] for s in d["slices"]][1]' "['intact', 'idle', 'draining']"
  ok 0 "what is not heard of" sync k8s-nodes "$tmp/silent.json" --now "$now"
  ok 0 "nodes" nodes -o json
  fact "is dead, and counted once all the same" 'len(d["nodes"]), [n["address"] for n in d["nodes"] if n["state"] == "dead"]' \
    "(8, ['10.0.1.4'])"
  ok 0 "when it is back" sync k8s-nodes "$tmp/k8s.json" --now "$now"
  ok 0 "nodes" nodes -o json
  fact "it is alive" '{n["state"] for n in d["nodes"]}' "{'alive'}"
  ok 0 "the ledger" verify
done

# --- with a list of pods: worker ids, and addresses where the pods have their own

# pods FORMAT: one pod per host, with the worker id that Ray has. FORMAT is the env entry with the worker id.
pods ()
{
  printf '{"apiVersion": "v1", "kind": "List", "items": ['
  for pool in a b; do
    for i in 1 2 3 4; do
      slice=$(printf %s "$pool" | tr ab 01)
      printf '{"kind": "Pod", "metadata": {"namespace": "ray", "name": "w-%s-%s", "labels": {"ray.io/is-ray-node": "yes",
        "ray.io/replica-host-index": "%s"}}, "spec": {"nodeName": "gke-%s-%s", "containers": [{"name": "ray-worker",
        "env": [%s], "resources": {"requests": {"google.com/tpu": "4"}, "limits": {"google.com/tpu": "4"}}}]},
        "status": {"phase": "%s", "podIP": "10.4.%s.%s"}},' "$pool" "$i" "$((4 - i))" "$pool" "$i" \
        "$(printf "$1" "$((4 - i))")" "${2-Running}" "$slice" "$((5 - i))"
    done
  done
  printf '{"kind": "Pod", "metadata": {"namespace": "kube-system", "name": "dns"}, "spec": {"nodeName": "gke-a-1",
    "containers": [{"name": "dns"}]}, "status": {"phase": "Running", "podIP": "10.4.0.99"}}]}'
}

literal='{"name": "TPU_WORKER_ID", "value": "%s"}'
pods "$literal" >"$tmp/pods.json"
pods '{"name": "TPU_WORKER_ID", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['"'ray.io/replica-host-index'"']"}}}' \
  >"$tmp/refs.json"
pods "$literal" Succeeded >"$tmp/over.json"
# Pods outside the host's network have the addresses that Ray reports.
sed 's/10\.0\./10.4./g' "$tmp/ray.json" >"$tmp/ray-pods.json"
# `kubectl get nodes,pods -A` prints both in one list.
python3 - "$tmp/k8s.json" "$tmp/pods.json" >"$tmp/both.json" <<'END'
import json, sys
both, pods = (json.load(open(name)) for name in sys.argv[1:])
both["items"] = pods["items"] + both["items"]
print(json.dumps(both))
END

for how in pods.json refs.json; do
  fresh
  ok 0 "nodes with pods ($how)" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/$how" --now "$now" -o json
  fact "assume nothing" 'd["n_nodes"], d["warnings"]' "(8, [])"
  ok 0 "a node" show gke-a-1 -o json
  fact "is the worker that its pod is, at its pod's address" 'd["node"]["worker_id"], d["node"]["assumed"], d["node"]["address"]' \
    "(3, [], '10.4.0.4')"
done
ok 0 "the same in one list" sync k8s-nodes "$tmp/both.json" --now "$now" -o json
fact "is the same" 'd["n_changes"]' 0
ok 0 "when the pods are gone" sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/over.json" --now "$now"
out "worker ids are assumed" "address 10.4.0.4 -> 10.0.0.4"
ok 0 "the node" show gke-a-1 -o json
fact "keeps its own all the same" 'd["node"]["worker_id"], d["node"]["assumed"]' "(3, ['worker-id'])"

fresh
ok 0 "without pods" import k8s-nodes "$tmp/k8s.json" --now "$now"
ok 0 "Ray's list" import ray-nodes "$tmp/ray-pods.json" --now "$now"
ok 0 "nodes" nodes -o json
fact "is counted beside it" 'len(d["nodes"])' 16
ok 0 "with pods" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
ok 0 "nodes" nodes -o json
fact "each machine is counted once again" 'len(d["nodes"]), {n["source"] for n in d["nodes"]}' "(8, {'ray'})"
for first in k8s ray; do
  fresh
  for kind in $first $(printf %s "$first" | sed 's/k8s/other/; s/ray/k8s/; s/other/ray/'); do
    case $kind in
    k8s) ok 0 "nodes and pods, $first first" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now" ;;
    ray) ok 0 "Ray's list, $first first" import ray-nodes "$tmp/ray-pods.json" --now "$now" ;;
    esac
  done
  ok 0 "nodes" nodes -o json
  fact "are counted once, $first first" 'len(d["nodes"]), {n["source"] for n in d["nodes"]}' "(8, {'ray'})"
  ok 0 "a node" show 10.4.1.2 -o json
  fact "is of both" 'd["node"]["sources"], d["labels"]["cloud.google.com/gke-spot"]' "(['ray', 'k8s'], 'true')"
  ok 0 "a slice" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now"
  ok 0 "what is cordoned" sync k8s-nodes "$tmp/cordoned.json" --pods "$tmp/pods.json" --now "$now"
  ok 0 "slices" slices -o json
  fact "drains there" '["draining" in s["conditions"] for s in d["slices"]]' "[False, True]"
  ok 0 "once more" sync k8s-nodes "$tmp/cordoned.json" --pods "$tmp/pods.json" --now "$now" -o json
  fact "changes nothing" 'd["n_changes"]' 0
  ok 0 "the ledger" verify
done

# --- a node with a group keeps its place
fresh
ok 0 "worker ids that are assumed" import k8s-nodes "$tmp/k8s.json" --now "$now"
ok 0 "and held" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now"
baseline
refused 7 "are not corrected under a group" "node 'gke-a-4' would change: worker 3 -> 0, but group 'train@1' holds it" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
ok 0 "its end" release train@1 --now "$now"
ok 0 "lets them be corrected" sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
ok 0 "and the same slice is held" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now" -o json
fact "in the order of the pods" '[w["node"] for w in d["workers"]]' "['gke-a-4', 'gke-a-3', 'gke-a-2', 'gke-a-1']"
ok 0 "its environment" env train --worker 0 -o json
out "has the pods' addresses" "10.4.0.1,10.4.0.2,10.4.0.3,10.4.0.4"
baseline
sed 's/"value": "3"/"value": "7"/' "$tmp/pods.json" >"$tmp/seven.json"
refused 3 "an id that no host of the slice has" \
  "seven.json: \$.items[0].spec.containers[0].env[0].value: worker id '7' of node 'gke-a-1': expected 0 to 3, as slice 'pool-a'" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/seven.json"
sed 's/"value": "2"/"value": "3"/' "$tmp/pods.json" >"$tmp/twice.json"
refused 3 "one id of two hosts" "expected another one, as pod 'ray/w-a-1' on node 'gke-a-1' of the same slice has it" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/twice.json"
sed 's/"gke-b-4"/"gke-c-9"/' "$tmp/pods.json" >"$tmp/elsewhere.json"
refused 3 "a pod of another cluster" "spec.nodeName: 'gke-c-9': expected a node of the list of nodes" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/elsewhere.json"
refused 3 "nodes for pods" "k8s.json: \$.items[0].kind: 'Node': expected pods, as 'kubectl get pods -A -o json' shows them" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/k8s.json"
refused 4 "no such file" "no-pods.json" sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/no-pods.json"
refused 2 "--pods are Kubernetes'" "--pods: expected it with k8s-nodes alone" sync ray-nodes "$tmp/ray.json" --pods "$tmp/pods.json"

# --- an allocated dead host and its replacement

# Adds a fifth host to pool-a next to the dead gke-a-4. It is also worker 0; its pod sets that worker id.
python3 - "$tmp/k8s.json" "$tmp/pods.json" "$tmp/replaced.json" "$tmp/replaced-pods.json" <<'END'
import copy, json, sys
nodes, pods = (json.load(open(name)) for name in sys.argv[1:3])
(old,) = (node for node in nodes["items"] if node["metadata"]["name"] == "gke-a-4")
new = copy.deepcopy(old)
new["metadata"].update(name="gke-a-5", uid="uid-gke-a-5")
new["status"]["addresses"][0]["address"] = "10.0.0.9"
old["status"]["conditions"][0]["status"] = "Unknown"
nodes["items"].append(new)
(pod,) = (pod for pod in pods["items"] if pod["spec"]["nodeName"] == "gke-a-4")
pod = copy.deepcopy(pod)
pod["metadata"]["name"], pod["spec"]["nodeName"], pod["status"]["podIP"] = "w-a-5", "gke-a-5", "10.4.0.9"
pods["items"].append(pod)
for name, document in zip(sys.argv[3:], (nodes, pods)):
    json.dump(document, open(name, "w"))
END
for how in without with; do
  fresh
  ok 0 "hosts, $how pods" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
  ok 0 "are held" reserve train --accelerator v6e --topology 4x4 --slices 2 --now "$now"
  case $how in
  without) ok 0 "one is dead, and another in its place" sync k8s-nodes "$tmp/replaced.json" --now "$now" ;;
  with)
    ok 0 "one is dead, and another in its place" \
      sync k8s-nodes "$tmp/replaced.json" --pods "$tmp/replaced-pods.json" --now "$now"
    ;;
  esac
  out "which is a loss of the group's" "slice 0, pool-a, is lost"
  ok 0 "nodes, $how pods" nodes -o json
  fact "both have the worker id, and the dead one is held" \
    '[(n["node"], n["state"], n["held_by"]) for n in d["nodes"] if n["slice"] == "pool-a" and n["worker_id"] == 0]' \
    "[('gke-a-4', 'dead', ['train@1']), ('gke-a-5', 'alive', [])]"
  ok 0 "the ledger" verify
done

# --- an unscheduled pod
manifest=$top_srcdir/../shared/manifests/GoogleCloudPlatform__cluster-toolkit__examples__gke-tpu-7x__gke-tpu-7x-job.yaml
if [ -r "$manifest" ]; then
  ok 0 "a manifest of a pod" sync k8s-nodes "$tmp/k8s.json" --pods "$manifest" --now "$now"
  ok 0 "a node" show gke-a-1 -o json
  fact "says nothing of nodes, which keep their worker ids" 'd["node"]["worker_id"], d["node"]["assumed"]' "(3, ['worker-id'])"
else
  skip "no manifest of a pod beside the tree"
fi

# --- other files
fresh
printf 'NAME   STATUS   ROLES\n' >"$tmp/table"
baseline
refused 3 "a table is refused" "table: |expected nodes, as 'kubectl get nodes -o json' shows them" import k8s-nodes "$tmp/table"
printf '{"kind": "List", "items": [{"kind": "Pod"}]}' >"$tmp/pods.json"
refused 3 "a list of pods is refused" "pods.json: \$.items[0].kind: 'Pod'" import k8s-nodes "$tmp/pods.json"
refused 2 "--groups are Ray's" "--groups: expected it with ray-nodes alone" import k8s-nodes "$tmp/k8s.json" --groups "$tmp/ray.json"
finish
