# SPDX-License-Identifier: Apache-2.0
"""The Python functions for a TPU host by Ray's rules."""

import math

import pytest

import quoit
from quoit.ray_rules import hosts as rules

ENV = {"TPU_ACCELERATOR_TYPE": "v6e-16", "TPU_NAME": "s", "TPU_WORKER_ID": "0", "TPU_TOPOLOGY": "4X4"}


def test_a_host_is_identified_by_its_environment():
    host = rules.host(ENV, {"agent-worker-number": "3"})
    assert (host.pod_type, host.slice_name, host.worker_id, host.topology) == ("v6e-16", "s", 0, "4x4")
    assert host.accelerator_type == "TPU-V6E"
    assert host.resources == {"s": 1.0, "TPU-v6e-16-head": 1.0}
    assert host.labels == {
        "ray.io/tpu-slice-name": "s",
        "ray.io/tpu-worker-id": "0",
        "ray.io/tpu-topology": "4x4",
        "ray.io/tpu-pod-type": "v6e-16",
    }


def test_a_host_without_environment_has_no_identity():
    assert rules.host() == rules.Host(None, None, None, None, None, None, {})
    assert rules.host(None, {"agent-worker-number": "-" + "7" * 30}).worker_id == -int("7" * 30)


def test_a_slice_has_as_many_hosts_as_its_chips_need():
    assert rules.pod_workers("v6e-16", 4) == 4
    assert rules.pod_workers("v6e-17", 4) == 5
    assert rules.pod_workers("v6e-16", 0) is None
    with pytest.raises(quoit.InvalidError):
        rules.pod_workers(None, 4)


def test_a_node_has_the_given_resources_and_those_of_its_host():
    node = rules.node("10.0.0.1", env=ENV, predefined={"CPU": 8}, resources={"TPU": 4}, labels={"a": "b"}, chips=4)
    assert node.resources["TPU"] == 4 and node.resources["node:10.0.0.1"] == 1
    assert node.resources["TPU-v6e-16-head"] == 1
    assert node.labels["a"] == "b" and node.labels["ray.io/tpu-slice-name"] == "s"
    with pytest.raises(quoit.InvalidError):
        rules.node("10.0.0.1", env={"TPU_VISIBLE_CHIPS": "0"}, resources={"TPU": 2}, chips=4)


def test_visible_env_restricts_a_process_to_its_chips():
    assert rules.visible_ids({"TPU_VISIBLE_CHIPS": "0,2"}) == ("0", "2")
    assert rules.visible_ids({}) is None and rules.visible_ids(None) is None
    assert rules.visible_env(["1"], 4, {"A": "b"}) == {
        "A": "b",
        "TPU_VISIBLE_CHIPS": "1",
        "TPU_CHIPS_PER_HOST_BOUNDS": "1,1,1",
        "TPU_HOST_BOUNDS": "1,1,1",
    }
    assert rules.visible_env(["0", "1", "2", "3"], 4, {"TPU_VISIBLE_CHIPS": "0"}) == {}
    with pytest.raises(quoit.InvalidError):
        rules.visible_env(["a", "b"], 4, {"RAY_TPU_RESOURCE_PER_CHIP": "2"})


def test_amounts_are_truncated_like_in_ray():
    assert [one for one in range(10) if rules.quantity_is_valid(one)] == [1, 2, 4, 8]
    assert (
        rules.amount_to_ten_thousandths(0.57),
        rules.amount_to_ten_thousandths(-0.00005),
        rules.amount_to_ten_thousandths(1),
    ) == (5699, 0, 10000)
    assert rules.amount_to_ten_thousandths(math.nan) == rules.amount_to_ten_thousandths(math.inf) == -(2**63)


def test_pod_types_of_launchers():
    assert rules.gke_pod_type("4x4", "tpu-v6e-slice") == "v6e-16"
    assert rules.gke_pod_type("4x4", "nvidia") is None
    assert rules.gce_check_accelerator("v4-8") is None and rules.gce_check_accelerator(None, "V4", "2x2x1") is None
    assert rules.gce_pod_type("V5LITE_POD", "4x4") == "v5litepod-16"
    assert rules.gce_is_single_host("v6e-8") is True and rules.gce_is_single_host(None, "V4", "2x2x4") is False
    for refused in (
        lambda: rules.gke_pod_type("a", "tpu-v6e-slice"),
        lambda: rules.gce_check_accelerator(None, "V2", "2x2"),
        lambda: rules.gce_pod_type(None, "4x4"),
        lambda: rules.gce_is_single_host(None),
    ):
        with pytest.raises(quoit.InvalidError):
            refused()


@pytest.mark.parametrize(
    "refused",
    [
        lambda: rules.host(["A=b"]),
        lambda: rules.host({"A": 1}),
        lambda: rules.pod_workers("v6e-16", 4.0),
        lambda: rules.node(None),
        lambda: rules.node("a", resources={"TPU": None}),
        lambda: rules.visible_env("01", 4),
        lambda: rules.visible_env([0], 4),
        lambda: rules.amount_to_ten_thousandths("1"),
        lambda: rules.amount_to_ten_thousandths(True),
        lambda: rules.quantity_is_valid(None),
    ],
)
def test_other_types_raise_type_error(refused):
    with pytest.raises(TypeError, match="expected"):
        refused()


def test_a_variable_name_with_an_equals_sign_is_refused():
    with pytest.raises(quoit.InvalidError, match="without '='"):
        rules.host({"A=": "b"})
    with pytest.raises(quoit.InvalidError, match="NUL"):
        rules.visible_env(["0\0"], 4)
