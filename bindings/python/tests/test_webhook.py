# SPDX-License-Identifier: Apache-2.0
"""The TPU webhook's validation of worker groups, and its variables in pods."""

import dataclasses
import pickle

import pytest

import quoit
from quoit import webhook

LABELS = {"ray.io/cluster": "c", "ray.io/group": "g"}
Term = webhook.WebhookTerm


def pod(topology="4x4", limit="4", labels=LABELS, env=()):
    return webhook.Pod(labels, {webhook.TOPOLOGY: topology}, [webhook.Container(limit=limit, env=env)])


def written(patch, name, container=0):
    return next((one.value for one in patch.containers[container] if one.name == name), None)


def test_the_webhook_accepts_or_denies_a_group_with_its_message():
    assert webhook.check_group(pod(), 4) is None
    assert webhook.check_group(pod(), 5) == "Number of workers in worker group not equal to specified topology"
    assert webhook.check_group(pod("-4x-4"), 4) is None


def test_pods_that_the_webhook_cannot_read_are_refused():
    with pytest.raises(quoit.InvalidError, match="topology '4xq': expected integers separated by 'x', found 'q'"):
        webhook.check_group(pod("4xq"), 4)
    with pytest.raises(quoit.InvalidError, match="limit of google.com/tpu: quantity 'four'"):
        webhook.check_group(pod(limit="four"), 4)
    with pytest.raises(quoit.InvalidError, match="expected a label ray.io/group"):
        webhook.mutate(pod(labels={"ray.io/cluster": "c"}))


def test_pods_without_indices_are_numbered_after_the_existing_pods():
    pods, names = [], []
    for _ in range(5):
        names.append(webhook.mutate(pod(), pods).hostname)
        pods.append(webhook.applied(pod(), pods))
    assert names == ["g-0-0", "g-0-1", "g-0-2", "g-0-3", "g-1-0"]
    del pods[:4]
    assert webhook.mutate(pod(), pods).hostname == "g-1-1"


def test_a_patch_has_all_changes():
    patch = webhook.mutate(pod(env=[("MEGASCALE_NUM_SLICES", None), ("TPU_NAME", "mine")]))
    assert (patch.subdomain, patch.replica_label, patch.is_empty) == ("c-headless", "g-0", False)
    assert patch.affinity[Term.TOGETHER] == ("replicaIndex In g-0", "ray.io/cluster In c")
    assert patch.affinity[Term.NAMESPACES] == ("kubernetes.io/metadata.name NotIn kube-system",)
    assert written(patch, "MEGASCALE_COORDINATOR_ADDRESS") == "g-0-0.c-headless"
    assert written(patch, "TPU_NAME") is None
    assert webhook.Variable("TPU_DEVICE_PLUGIN_HOST_IP", None, "status.hostIP") in patch.containers[0]


def test_a_pod_without_tpus_is_not_changed():
    patch = webhook.mutate(pod(limit="0"))
    assert (patch.is_empty, patch.containers, patch.affinity) == (True, (), {})
    assert webhook.applied(pod(limit="0")) == webhook.Pod(LABELS, pod().selectors, (webhook.Container(limit="0"),))


def test_the_last_variable_of_a_name_is_effective():
    patch = webhook.admit(
        pod(env=[("TPU_WORKER_ID", "0"), ("TPU_NAME", "mine"), ("TPU_NAME", "")]), [webhook.applied(pod())]
    )
    assert patch.labels["replicaIndex"] == "g-0"
    variables = patch.containers[0]
    worker_ids = [(one.value, one.is_written, one.is_effective) for one in variables if one.name == "TPU_WORKER_ID"]
    assert worker_ids == [("0", False, False), ("1", True, True)]
    tpu_names = [(one.value, one.is_effective) for one in variables if one.name == "TPU_NAME"]
    assert tpu_names == [("mine", False), ("", True)]
    assert ("TPU_DEVICE_PLUGIN_HOST_IP", "status.hostIP") in [(one.name, one.field) for one in variables]


def test_pods_and_patches_can_be_compared_and_copied():
    patch = webhook.mutate(pod())
    assert pickle.loads(pickle.dumps(patch)) == patch
    with pytest.raises(dataclasses.FrozenInstanceError):
        patch.hostname = "x"
    with pytest.raises(TypeError, match="cannot be changed"):
        pod().labels["a"] = "b"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("pod", "pod: expected a Pod, not str"),
        (webhook.Pod(labels=[]), "pod.labels: expected a mapping of str to str, not list"),
        (webhook.Pod(labels={"a": 1}), r"pod.labels\['a'\]: expected a str, not int"),
        (webhook.Pod(containers="x"), "pod.containers: expected a sequence of Container, not str"),
        (webhook.Pod(containers=["x"]), r"pod.containers\[0\]: expected a Container, not str"),
        (webhook.Pod(containers=[webhook.Container(limit=4)]), r"pod.containers\[0\].limit: expected a str, not int"),
        (
            webhook.Pod(containers=[webhook.Container(env="AB")]),
            r"pod.containers\[0\].env: expected a sequence of pairs",
        ),
        (webhook.Pod(containers=[webhook.Container(env=["AB"])]), r"env\[0\]: expected a name with a value, not str"),
    ],
)
def test_an_invalid_pod_is_refused_with_its_place(given, message):
    with pytest.raises(TypeError, match=message):
        webhook.mutate(given)
    with pytest.raises(TypeError, match=message):
        webhook.check_group(given, 1)


def test_others_that_are_not_pods_are_refused():
    with pytest.raises(TypeError, match="others: expected a sequence of Pod, not str"):
        webhook.mutate(pod(), "others")
    with pytest.raises(TypeError, match=r"others\[0\]: expected a Pod, not dict"):
        webhook.mutate(pod(), [{}])
