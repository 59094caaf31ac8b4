# SPDX-License-Identifier: Apache-2.0
"""KubeRay's operator: the pods after each pass, and the TPU webhook's variables in them."""

import dataclasses
import pickle

import pytest

import quoit
from quoit import kuberay, webhook

Event = kuberay.KuberayEvent
TPUS = webhook.Pod(selectors={webhook.TOPOLOGY: "2x4"}, containers=[webhook.Container(), webhook.Container(limit="4")])
MANIFEST = """
kind: RayCluster
metadata: {name: c}
spec:
  enableInTreeAutoscaling: true
  workerGroupSpecs:
  - {groupName: g, replicas: 2, numOfHosts: 2, template: {spec: {containers: [{}]}}}
  - {groupName: "${NAME}", minReplicas: 1, template: {spec: {}}}
"""


def cluster(hosts=2, replicas=2, pod=None, flags=kuberay.PLAIN):
    one = kuberay.Kuberay("c", flags=flags)
    one.add_group("g", hosts=hosts, replicas=replicas, pod=pod)
    return one


def places(one):
    return [(pod.replica, pod.host, pod.incarnation) for pod in one.pods]


def test_a_lost_pod_ends_its_replica_and_the_next_pass_replaces_it():
    one = cluster()
    assert one.reconcile() == kuberay.Pass(None, False)
    lost = one.pods[1]
    one.mark(lost, Event.GONE)
    assert one.reconcile().requeued == "cleaned up incomplete replica group g-<0>, requeueing"
    assert places(one) == [(1, 0, 1), (1, 1, 1)]
    one.reconcile()
    assert places(one) == [(0, 0, 2), (0, 1, 2), (1, 0, 1), (1, 1, 1)]
    with pytest.raises(quoit.NotFoundError, match="pod '1': expected the serial of a present pod"):
        one.mark(lost, Event.FAILED)


def test_arbitrary_deletions_are_reported():
    one = cluster()
    one.reconcile()
    one.set_replicas("g", 1)
    assert one.reconcile().is_deletion_arbitrary
    kept = cluster(flags=kuberay.KuberayFlags.AUTOSCALING)
    kept.reconcile()
    kept.set_replicas("g", 1)
    assert kept.reconcile() == kuberay.Pass(None, False)
    assert len(kept.pods) == 4


def test_groups_have_bounds_and_can_be_suspended():
    one = cluster(replicas=9)
    one.set_bounds("g", 1, 3)
    assert (one.desired("g"), one.groups) == (6, {"g": 2})
    one.suspend("g")
    assert one.desired("g") == 0
    one.resume("g")
    one.set_bounds("g", -(2**31), 2**31 - 1)
    one.set_replicas("g", -(2**31))
    assert one.desired("g") == 0


def test_a_pod_has_the_labels_of_kuberay_and_the_patch_of_the_webhook():
    one = cluster(pod=TPUS)
    one.reconcile()
    pod = one.pods[3]
    assert pod.labels["ray.io/worker-group-replica-name"] == "g-<1>"
    patch = one.mutate(pod)
    assert (patch.hostname, patch.subdomain, one.service) == ("g-1-1", "c-headless", "c-headless")
    assert patch.containers[0] == ()
    assert [each.value for each in patch.containers[1] if each.name == "TPU_NAME"] == ["g-1"]
    assert patch == webhook.mutate(dataclasses.replace(TPUS, labels=pod.labels))


def test_a_manifest_becomes_a_cluster():
    one = kuberay.Kuberay.parse_manifest(MANIFEST, variables={"NAME": "h"})
    assert (one.cluster, one.groups, one.pods) == ("c", {"g": 2, "h": 1}, ())
    one.reconcile()
    assert [pod.group for pod in one.pods] == ["g"] * 4 + ["h"]
    assert (one.pods[4].host, one.pods[4].incarnation) == (None, None)
    one.set_replicas("g", 0)
    assert not one.reconcile().is_deletion_arbitrary
    assert len(one.pods) == 5
    with pytest.raises(quoit.InvalidError, match="--set NAME="):
        kuberay.Kuberay.parse_manifest(MANIFEST)


def test_the_cluster_of_a_job_has_a_name_that_is_assumed():
    job = kuberay.Kuberay.parse_manifest(
        "kind: RayJob\nmetadata: {name: j}\nspec: {rayClusterSpec: {workerGroupSpecs: []}}"
    )
    assert (job.cluster, job.is_name_assumed, job.longest_name) == ("j-xxxxx", True, 35)
    assert (cluster().is_name_assumed, cluster().longest_name) == (False, 41)


def test_a_denied_group_has_a_message_with_its_name():
    assert cluster(pod=TPUS).check_group("g") is None
    denied = cluster(hosts=3, pod=TPUS)
    assert denied.check_group("g") == "Number of workers in worker group not equal to specified topology"
    with pytest.raises(quoit.NotFoundError, match="group 'x'"):
        denied.check_group("x")
    with pytest.raises(quoit.InvalidError, match="numOfHosts '0'"):
        cluster(hosts=0, pod=TPUS).check_group("g")


def test_an_admitted_pod_has_the_variables_of_its_processes():
    one = cluster(pod=TPUS)
    one.reconcile()
    seen = one.admit(one.pods[3])
    assert seen.labels["ray.io/replica-host-index"] == "1"
    found = {variable.name: variable for variables in seen.containers for variable in variables}
    assert (found["TPU_WORKER_ID"].value, found["TPU_WORKER_ID"].is_effective) == ("1", True)


def test_processes_get_the_variables_of_env_from_and_expanded_references():
    one = kuberay.Kuberay.parse_manifest(
        "kind: RayCluster\nmetadata: {name: c}\nspec: {workerGroupSpecs: [{groupName: g, replicas: 1, template: {spec: "
        "{containers: [{envFrom: [{configMapRef: {name: m}}, {secretRef: {name: gone}}], "
        "env: [{name: B, value: $(A)!}]}]}}}]}\n---\nkind: ConfigMap\nmetadata: {name: m}\ndata: {A: x}\n"
    )
    one.reconcile()
    ((first, second),) = one.admit(one.pods[0]).containers
    assert ((first.name, first.value), (second.name, second.value)) == (("A", "x"), ("B", "x!"))
    (note,) = one.notes
    assert "no Secret 'gone' in the file" in note
    assert cluster().notes == ()


def test_names_that_are_too_long_are_refused():
    one = kuberay.Kuberay("c" * 42)
    one.add_group("g", hosts=2, replicas=1, pod=TPUS)
    with pytest.raises(quoit.InvalidError, match="expected at most 41 bytes"):
        one.check_names()
    cluster(pod=TPUS).check_names()
    assert kuberay.checked_name("9" * 51) == "r" + "9" * 49
    assert kuberay.pod_prefix("C-G") == "c-g-worker-"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda one: one.add_group("g"), quoit.InvalidError, "group 'g': expected each groupName once"),
        (lambda one: one.add_group("h", hosts=-1), quoit.InvalidError, "numOfHosts '-1': expected 0 to 2147483647"),
        (lambda one: one.add_group("h", replicas=2**31), quoit.InvalidError, "replicas '2147483648'"),
        (lambda one: one.add_group("h", pod="p"), TypeError, "pod: expected a Pod, not str"),
        (lambda one: one.set_replicas("x", 1), quoit.NotFoundError, "group 'x': expected one of g"),
        (lambda one: one.set_bounds("g", 0, 2**31), quoit.InvalidError, "highest '2147483648'"),
        (lambda one: one.mark("p", Event.GONE), TypeError, "pod: expected a KuberayPod, not str"),
        (lambda one: one.mark(one.pods[0], 0), TypeError, "event: expected a KuberayEvent, not int"),
        (lambda one: kuberay.Kuberay("c", flags=1), TypeError, "flags: expected KuberayFlags, not int"),
        (lambda one: kuberay.Kuberay.parse_manifest("kind: Pod"), quoit.InvalidError, "no Ray object in it"),
        (lambda one: pickle.dumps(one), TypeError, "cannot copy or pickle a quoit.Kuberay"),
    ],
)
def test_invalid_calls_change_nothing(call, error, message):
    one = cluster()
    one.reconcile()
    before = one.groups, one.pods
    with pytest.raises(error, match=message):
        call(one)
    assert (one.groups, one.pods) == before


def test_too_many_pods_are_refused_without_a_change():
    one = cluster()
    one.reconcile()
    one.set_replicas("g", 10**6)
    with pytest.raises(quoit.InvalidError, match="group 'g': '2000000' pods: expected at most 65536"):
        one.reconcile()
    assert len(one.pods) == 4
