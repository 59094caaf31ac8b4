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
refused 3 "Kubernetes node list as a RayCluster" \
  "k8s.json: no Ray object in it, but 8 Node objects, first in line 1: expected|for a list of nodes use 'quoit import k8s-nodes'" \
  import raycluster "$tmp/k8s.json" --now "$now"
sed 's/"10\.0\.0\.4"/"not an address"/' "$tmp/k8s.json" >"$tmp/no-address.json"
refused 3 "node with an invalid address" "'not an address': expected an IPv4 or IPv6 address" \
  import k8s-nodes "$tmp/no-address.json" --now "$now"
ok 0 "a Kubernetes node list is imported" import k8s-nodes "$tmp/k8s.json" --now "$now" -o json
fact "the node list is a new source" 'd["source"], d["new"], d["n_nodes"]' "('k8s', True, 8)"
fact "a warning reports the assumed worker ids" 'd["warnings"][0].partition(";")[2]' \
  " Kubernetes' nodes do not state worker ids, so they are assumed in the order of node names until a list of pods, or of Ray's nodes, states them"
ok 0 "slices prints a Kubernetes source" slices -o json
fact "node pools are slices" '[(s["slice"], s["topology"], s["n_nodes"]) for s in d["slices"]]' "[('pool-a', '4x4', 4), ('pool-b', '4x4', 4)]"
ok 0 "show prints a Kubernetes node" show gke-a-2 -o json
fact "the worker id follows from the node name and is marked as assumed" 'd["node"]["worker_id"], d["node"]["assumed"]' "(1, ['worker-id'])"
ok 0 "the node list is synced again" sync k8s-nodes "$tmp/k8s.json" --now "$now" -o json
fact "syncing the node list again changes nothing" 'd["n_changes"]' 0
ok 0 "two slices are reserved" reserve train --accelerator v6e --topology 4x4 --slices 2 --now "$now"
ok 0 "a list with a cordoned host is synced" sync k8s-nodes "$tmp/cordoned.json" --now "$now"
out "sync names the group of the cordoned host" "train@1"
ok 0 "show prints the group of the cordoned host" show train -o json
fact "the group of the cordoned host is rescheduling" 'd["group"]["state"]' rescheduling
ok 0 "verify succeeds after a cordon" verify

# --- with Ray's list, in either order
for first in k8s ray; do
  fresh
  case $first in k8s) second=ray ;; *) second=k8s ;; esac
  ok 0 "$first nodes are imported first" import "$first-nodes" "$tmp/$first.json" --now "$now"
  ok 0 "$second nodes are imported second" import "$second-nodes" "$tmp/$second.json" --now "$now"
  ok 0 "'quoit nodes' succeeds with both sources, $first imported first" nodes -o json
  fact "each node is counted once, $first first" 'len(d["nodes"]), {n["source"] for n in d["nodes"]}' "(8, {'ray'})"
  fact "worker ids are those of Ray, $first first" '[n["address"] for n in d["nodes"] if n["slice"] == "g-0"]' \
    "['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']"
  ok 0 "show prints a node of both sources, $first first" show 10.0.1.2 -o json
  fact "the node has both sources and nothing assumed, $first first" 'd["node"]["sources"], d["node"]["assumed"]' "(['ray', 'k8s'], [])"
  fact "the node has Ray's resources and the labels of both, $first first" \
    'd["resources"][0]["total"], d["labels"]["ray.io/tpu-slice-name"], d["labels"]["cloud.google.com/gke-spot"]' "('8', 'g-1', 'true')"
  ok 0 "a slice is reserved by a Kubernetes label, $first first" reserve spot --accelerator v6e --topology 4x4 --slices 1 --select 'cloud.google.com/gke-spot=!true' \
    --now "$now"
  ok 0 "show prints the slice with that label, $first first" show g-0 -o json
  fact "the group has the slice whose hosts all have the label, $first first" 'd["slice"]["held_by"]' "['spot@1']"
  ok 5 "a slice without the label is not used, $first first" reserve more --accelerator v6e --topology 4x4 --slices 1 \
    --select 'cloud.google.com/gke-spot=!true' --now "$now"
  ok 0 "the group is released, $first first" release spot@1 --now "$now"
  ok 0 "a list with a cordoned host is synced, $first first" sync k8s-nodes "$tmp/cordoned.json" --now "$now"
  ok 0 "slices prints the cordoned slice, $first first" slices -o json
  fact "the slice is draining although Ray has it alive, $first first" '[s["conditions"] for s in d["slices"]][1]' "['intact', 'idle', 'draining']"
  ok 0 "a list with a node that is not ready is synced, $first first" sync k8s-nodes "$tmp/silent.json" --now "$now"
  ok 0 "nodes prints the node that is not ready, $first first" nodes -o json
  fact "the node is dead and counted once, $first first" 'len(d["nodes"]), [n["address"] for n in d["nodes"] if n["state"] == "dead"]' \
    "(8, ['10.0.1.4'])"
  ok 0 "a list with all nodes ready is synced, $first first" sync k8s-nodes "$tmp/k8s.json" --now "$now"
  ok 0 "nodes prints all nodes again, $first first" nodes -o json
  fact "all nodes are alive again, $first first" '{n["state"] for n in d["nodes"]}' "{'alive'}"
  ok 0 "verify succeeds, $first first" verify
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
  ok 0 "nodes with pods ($how) are imported" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/$how" --now "$now" -o json
  fact "worker ids of pods are not assumed ($how)" 'd["n_nodes"], d["warnings"]' "(8, [])"
  ok 0 "show prints a node with a pod ($how)" show gke-a-1 -o json
  fact "the node has worker id and address of its pod ($how)" 'd["node"]["worker_id"], d["node"]["assumed"], d["node"]["address"]' \
    "(3, [], '10.4.0.4')"
done
ok 0 "nodes and pods in one list are synced" sync k8s-nodes "$tmp/both.json" --now "$now" -o json
fact "one list gives the same result as two" 'd["n_changes"]' 0
ok 0 "a list without running pods is synced" sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/over.json" --now "$now"
out "worker ids are assumed when the pods are gone" "address 10.4.0.4 -> 10.0.0.4"
ok 0 "show prints a node without pods" show gke-a-1 -o json
fact "the node keeps its worker id, marked as assumed" 'd["node"]["worker_id"], d["node"]["assumed"]' "(3, ['worker-id'])"

fresh
ok 0 "nodes without pods are imported" import k8s-nodes "$tmp/k8s.json" --now "$now"
ok 0 "Ray's list is imported after nodes without pods" import ray-nodes "$tmp/ray-pods.json" --now "$now"
ok 0 "nodes prints both lists" nodes -o json
fact "the machines cannot be matched without pods" 'len(d["nodes"])' 16
ok 0 "nodes with pods are imported" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
ok 0 "nodes prints the matched machines" nodes -o json
fact "each machine is counted once with pods" 'len(d["nodes"]), {n["source"] for n in d["nodes"]}' "(8, {'ray'})"
for first in k8s ray; do
  fresh
  for kind in $first $(printf %s "$first" | sed 's/k8s/other/; s/ray/k8s/; s/other/ray/'); do
    case $kind in
    k8s) ok 0 "nodes and pods, $first first" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now" ;;
    ray) ok 0 "Ray's list, $first first" import ray-nodes "$tmp/ray-pods.json" --now "$now" ;;
    esac
  done
  ok 0 "nodes prints both lists with pods, $first first" nodes -o json
  fact "each machine is counted once with pods, $first first" 'len(d["nodes"]), {n["source"] for n in d["nodes"]}' "(8, {'ray'})"
  ok 0 "show prints a machine of both lists, $first first" show 10.4.1.2 -o json
  fact "the machine has both sources and Kubernetes' labels, $first first" 'd["node"]["sources"], d["labels"]["cloud.google.com/gke-spot"]' "(['ray', 'k8s'], 'true')"
  ok 0 "a slice is reserved, $first first" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now"
  ok 0 "a list with a cordoned host and pods is synced, $first first" sync k8s-nodes "$tmp/cordoned.json" --pods "$tmp/pods.json" --now "$now"
  ok 0 "slices prints the slice of the cordoned host, $first first" slices -o json
  fact "the slice of the cordoned host is draining, $first first" '["draining" in s["conditions"] for s in d["slices"]]' "[False, True]"
  ok 0 "the list with pods is synced again, $first first" sync k8s-nodes "$tmp/cordoned.json" --pods "$tmp/pods.json" --now "$now" -o json
  fact "syncing the list with pods again changes nothing, $first first" 'd["n_changes"]' 0
  ok 0 "verify succeeds with pods, $first first" verify
done

# --- a node with a group keeps its place
fresh
ok 0 "nodes with assumed worker ids are imported" import k8s-nodes "$tmp/k8s.json" --now "$now"
ok 0 "a slice with assumed worker ids is reserved" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now"
baseline
refused 7 "correction of worker ids under a group" "node 'gke-a-4' would change: worker 3 -> 0: group 'train@1' uses it" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
ok 0 "the group is released before the correction" release train@1 --now "$now"
ok 0 "worker ids are corrected by pods" sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
ok 0 "the same slice is reserved again" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now" -o json
fact "workers are in the order of the pods" '[w["node"] for w in d["workers"]]' "['gke-a-4', 'gke-a-3', 'gke-a-2', 'gke-a-1']"
ok 0 "env prints the environment of the slice" env train --worker 0 -o json
out "the environment has the addresses of the pods" "10.4.0.1,10.4.0.2,10.4.0.3,10.4.0.4"
baseline
sed 's/"value": "3"/"value": "7"/' "$tmp/pods.json" >"$tmp/seven.json"
refused 3 "pod with a worker id beyond the slice" \
  "seven.json: \$.items[0].spec.containers[0].env[0].value: worker id '7' of node 'gke-a-1': expected 0 to 3, because slice 'pool-a'" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/seven.json"
sed 's/"value": "2"/"value": "3"/' "$tmp/pods.json" >"$tmp/twice.json"
refused 3 "two hosts with the same worker id" "expected another one, because pod 'ray/w-a-1' on node 'gke-a-1' of the same slice has it" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/twice.json"
sed 's/"gke-b-4"/"gke-c-9"/' "$tmp/pods.json" >"$tmp/elsewhere.json"
refused 3 "pod on a node of a different cluster" "spec.nodeName: 'gke-c-9': expected a node in the list of nodes" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/elsewhere.json"
refused 3 "node list as --pods" "k8s.json: \$.items[0].kind: 'Node': expected pods, as 'kubectl get pods -A -o json' shows them" \
  sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/k8s.json"
refused 4 "missing file of --pods" "no-pods.json" sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/no-pods.json"
refused 2 "--pods with ray-nodes" "--pods requires k8s-nodes" sync ray-nodes "$tmp/ray.json" --pods "$tmp/pods.json"

# --- causes of states: stated, changed without the state, set by hand, gone from the source, and with Ray
cluster False '' >"$tmp/not-ready.json"
reasons ()
{
  ok 0 "nodes succeeds" nodes -o json
  fact "$1" '[(n["node"], n["state"], n["state_reason"]) for n in d["nodes"] if n["state_reason"] is not None]' "$2"
  ok 0 "verify succeeds: $1" verify
}
fresh
ok 0 "alive nodes are imported" import k8s-nodes "$tmp/k8s.json" --now "$now"
reasons "alive nodes have no cause" "[]"
ok 0 "a node is not ready" sync k8s-nodes "$tmp/not-ready.json" --now "$now"
reasons "NotReady is a cause" "[('gke-b-1', 'dead', 'NotReady')]"
ok 0 "status succeeds" status
has out "the problem has the cause" "node gke-b-1 is dead (NotReady)"
ok 0 "the node no longer reports" sync k8s-nodes "$tmp/silent.json" --now "$now" -o json
fact "the change has both causes" '[(c["kind"], c["detail"]) for c in d["changes"]]' \
  "[('state', 'dead (NotReady) -> dead (does not report)')]"
reasons "the cause has changed" "[('gke-b-1', 'dead', 'does not report')]"
ok 0 "the journal is compacted" journal compact --before 4 --now "$now"
reasons "the cause is in the checkpoint" "[('gke-b-1', 'dead', 'does not report')]"
ok 0 "the same again" sync k8s-nodes "$tmp/silent.json" --now "$now"
quoit journal -o json >"$tmp/journal"
ok 0 "and again" sync k8s-nodes "$tmp/silent.json" --now "$now"
quoit journal -o json >"$tmp/journal-after"
holds "writes nothing" cmp "$tmp/journal" "$tmp/journal-after"
ok 0 "a user knows better" set-state gke-b-1 alive --now "$now"
reasons "an alive node has no cause" "[]"
ok 0 "and takes it back" set-state gke-b-1 dead --now "$now"
ok 0 "the node is ready again" sync k8s-nodes "$tmp/k8s.json" --now "$now"
ok 0 "a user drains a node" drain gke-b-1 --now "$now"
reasons "a state that a user has set has no cause" "[]"
ok 0 "the node is cordoned" sync k8s-nodes "$tmp/cordoned.json" --now "$now"
reasons "the cause is that of Kubernetes" "[('gke-b-1', 'draining', 'unschedulable')]"
ok 0 "show succeeds" show gke-b-1
has out "show has the cause" "reason:    unschedulable"
ok 0 "status succeeds" status
has out "status has the cause, and where it ends" "gke-b-1 it is draining (unschedulable): end that in the source, and sync"
ok 0 "Ray's list of the same nodes is joined" import ray-nodes "$tmp/ray.json" --now "$now"
reasons "the cause stays" "[('10.0.1.4', 'draining', 'unschedulable')]"
ok 0 "the node is not ready, says Kubernetes" sync k8s-nodes "$tmp/not-ready.json" --now "$now"
ok 0 "nodes succeeds" nodes -o json
fact "no other node has a cause" '{n["node"] for n in d["nodes"] if n["state_reason"] is not None} <= {"10.0.1.4"}' "True"

# --- and if another source decides the state
fresh
ok 0 "nodes are imported" import k8s-nodes "$tmp/k8s.json" --now "$now"
ok 0 "with Ray's list" import ray-nodes "$tmp/ray.json" --now "$now"
ok 0 "both slices are reserved" reserve train --accelerator v6e --topology 4x4 --slices 2 --now "$now"
ok 0 "a node is cordoned" sync k8s-nodes "$tmp/cordoned.json" --now "$now"
sed 's/"Alive": true, "NodeManagerAddress": "10.0.1.4"/"Alive": false, "NodeManagerAddress": "10.0.1.4"/' "$tmp/ray.json" >"$tmp/ray-dead.json"
ok 0 "Ray says that it is dead" sync ray-nodes "$tmp/ray-dead.json" --now "$now"
reasons "it is not dead because it is unschedulable" "[]"
ok 0 "Ray has it again" sync ray-nodes "$tmp/ray.json" --now "$now"
reasons "it is draining for the cause of Kubernetes" "[('10.0.1.4', 'draining', 'unschedulable')]"
ray 0 >"$tmp/ray-one.json"
ok 0 "Ray no longer has the slice" sync ray-nodes "$tmp/ray-one.json" --now "$now"
ok 0 "Kubernetes says that the node is ready" sync k8s-nodes "$tmp/k8s.json" --now "$now"
ok 0 "and that it is cordoned" sync k8s-nodes "$tmp/cordoned.json" --now "$now"
reasons "it is still draining for that cause" "[('10.0.1.4', 'draining', 'unschedulable')]"
ok 0 "Kubernetes says that it is not ready" sync k8s-nodes "$tmp/not-ready.json" --now "$now"
reasons "it is dead for that cause" "[('10.0.1.4', 'dead', 'NotReady')]"

fresh
ok 0 "nodes are imported" import k8s-nodes "$tmp/not-ready.json" --now "$now"
ok 0 "a slice is reserved" reserve train --accelerator v6e --topology 4x4 --slices 1 --now "$now"
python3 -c 'import json, sys
nodes = json.load(sys.stdin)
nodes["items"] = [node for node in nodes["items"] if node["metadata"]["name"] != "gke-a-2"]
json.dump(nodes, sys.stdout)' <"$tmp/not-ready.json" >"$tmp/gone.json"
ok 0 "a node of the group is gone" sync k8s-nodes "$tmp/gone.json" --now "$now"
reasons "both causes" "[('gke-a-2', 'dead', 'no longer in its source'), ('gke-b-1', 'dead', 'NotReady')]"

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
  ok 0 "nodes $how pods are imported" import k8s-nodes "$tmp/k8s.json" --pods "$tmp/pods.json" --now "$now"
  ok 0 "two slices $how pods are reserved" reserve train --accelerator v6e --topology 4x4 --slices 2 --now "$now"
  case $how in
  without) ok 0 "one is dead, and another in its place" sync k8s-nodes "$tmp/replaced.json" --now "$now" ;;
  with)
    ok 0 "a list with a replaced dead host, $how pods, is synced" \
      sync k8s-nodes "$tmp/replaced.json" --pods "$tmp/replaced-pods.json" --now "$now"
    ;;
  esac
  out "the group lost the slice of the dead host, $how pods" "slice 0, pool-a, is lost"
  ok 0 "nodes prints dead and new host, $how pods" nodes -o json
  fact "both hosts have the worker id, and the group keeps the dead one, $how pods" \
    '[(n["node"], n["state"], n["held_by"]) for n in d["nodes"] if n["slice"] == "pool-a" and n["worker_id"] == 0]' \
    "[('gke-a-4', 'dead', ['train@1']), ('gke-a-5', 'alive', [])]"
  ok 0 "verify succeeds after a replacement, $how pods" verify
done

# --- the manifest of a pod that has no node yet
cat >"$tmp/pod.yaml" <<'POD'
apiVersion: v1
kind: Pod
metadata: {name: tpu-pod}
spec:
  nodeSelector: {cloud.google.com/gke-tpu-topology: 2x2x1}
  containers:
  - name: main
    image: train
    resources: {limits: {google.com/tpu: 4}}
POD
ok 0 "manifest of an unscheduled pod as --pods is accepted" sync k8s-nodes "$tmp/k8s.json" --pods "$tmp/pod.yaml" --now "$now"
ok 0 "show prints a node after a list without scheduled pods" show gke-a-1 -o json
fact "worker ids stay assumed without scheduled pods" 'd["node"]["worker_id"], d["node"]["assumed"]' "(3, ['worker-id'])"

# --- other files
fresh
printf 'NAME   STATUS   ROLES\n' >"$tmp/table"
baseline
refused 3 "table as a node list" "table: |expected nodes, as 'kubectl get nodes -o json' shows them" import k8s-nodes "$tmp/table"
printf '{"kind": "List", "items": [{"kind": "Pod"}]}' >"$tmp/pods.json"
refused 3 "list of pods as a node list" "pods.json: \$.items[0].kind: 'Pod'" import k8s-nodes "$tmp/pods.json"
refused 2 "--groups with k8s-nodes" "--groups requires ray-nodes" import k8s-nodes "$tmp/k8s.json" --groups "$tmp/ray.json"
finish
