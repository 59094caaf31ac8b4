# SPDX-License-Identifier: Apache-2.0
"""The Python functions for Ray's arithmetic: result types and refusals. test_vectors.py tests the values."""

import numpy
import pytest

import quoit
from quoit.ray_rules import arithmetic as rules


def test_types_are_normalized_in_every_spelling():
    assert rules.normalize_type(" TPU7X-8 ") == "v7x-8"
    assert rules.normalize_type(None) == ""
    assert rules.version_from_type("TPU-V6E") == "v6e"
    assert rules.type_is_valid("v99zz-1") is True
    assert rules.type_is_valid(None) is False
    assert rules.topology_is_valid("v6e", " 4X4 ") is True
    assert rules.topology_is_valid("v6e", None) is False
    assert rules.pod_type("2x2x2", "TPU-V4") == "v4-16"
    assert rules.pod_type("", "TPU-V4") is None


def test_listed_topologies_are_sorted_by_their_numbers():
    listed = rules.valid_topologies("v6e")
    assert listed[:3] == ("1x1", "2x2", "2x4") and listed[-1] == "16x16"
    assert all(rules.topology_is_valid("v6e", one) for one in listed)
    assert rules.valid_topologies("v99") == ()


def test_chip_counts_are_ints():
    assert rules.chips_from_topology("-4x4") == -16
    assert rules.chips_from_topology(" 0_4 x 4 ") == 16
    assert (rules.cores_per_chip("v6e"), rules.cores_per_chip("v4-16")) == (1, 2)
    assert rules.chips_from_type("v3-1") == 0
    assert rules.visible_chips_per_host("v6e-8") == 8
    assert (rules.chips_per_host("2x4", "v6e"), rules.chips_per_host("8x1", "v6e")) == (8, 4)
    assert rules.default_chips_per_vm("8x1", "v6e") == 8
    assert (rules.resource_per_chip(None), rules.resource_per_chip("2")) == (1, 2)


def test_workers_get_a_cpu_and_the_tpu_of_a_host_by_default():
    default = rules.worker_resources("4x4", "TPU-V6E", {"memory": 5}, num_slices=2)
    assert default == rules.WorkerResources(8, {"memory": 5.0, "CPU": 1.0, "TPU": 4.0})
    assert list(default.resources) == ["memory", "CPU", "TPU"]
    assert rules.worker_resources("4x4", "v6e", chips_per_vm=8).num_workers == 2
    assert rules.worker_resources("4x4", "v6e", tpu_resource_per_chip=numpy.int64(2)).resources["TPU"] == 8
    assert rules.worker_resources("4x4", "v6e", num_slices=True) == rules.worker_resources("4x4", "v6e", num_slices=1)
    assert rules.worker_resources("4x4", "v6e", num_slices=False).num_workers == 0
    assert rules.worker_resources("4x4", "v6e", chips_per_vm=True).num_workers == 16
    with pytest.raises(quoit.InvalidError, match="chips"):
        rules.worker_resources("4x4", "v6e", chips_per_vm=False)
    assert rules.slices_for_workers("4x4", "v6e", 5) == 2
    assert rules.slices_for_workers(None, None, 5) == 1


def test_arguments_are_not_changed():
    given = {"TPU": 2.0}
    before = {"A": "b"}
    rules.worker_resources("4x4", "v6e", given)
    after = rules.train_env("10.0.0.1", 0, 1, "4x4", "v6e", given, before)
    assert given == {"TPU": 2.0} and before == {"A": "b"}
    assert after == {"A": "b", "JAX_PLATFORMS": "tpu"}


def test_coordinator_variables_have_rays_order():
    assert list(rules.coordinator_env("h", 2, 1).items()) == [
        ("MEGASCALE_COORDINATOR_ADDRESS", "h"),
        ("MEGASCALE_PORT", "8081"),
        ("MEGASCALE_NUM_SLICES", "2"),
        ("MEGASCALE_SLICE_ID", "1"),
    ]
    assert rules.train_env("h", 4, 2, "4x4", "v6e", env={"MEGASCALE_PORT": "9"})["MEGASCALE_PORT"] == "9"


@pytest.mark.parametrize(
    "refused",
    [
        lambda: rules.version_from_type("v6e-16"),
        lambda: rules.chips_from_topology("4x"),
        lambda: rules.chips_from_topology("9" * 30),
        lambda: rules.chips_from_type("v6e"),
        lambda: rules.pod_type("a", "v4"),
        lambda: rules.resource_per_chip("0"),
        lambda: rules.worker_resources("4x4", "v6e", {"TPU": 3}),
        lambda: rules.worker_resources("4x4", "v6e", num_slices=2**63),
        lambda: rules.normalize_type("v6e\0"),
        lambda: rules.normalize_type("v6e\ud800"),
    ],
)
def test_inputs_that_ray_refuses_raise_invalid_error(refused):
    with pytest.raises(quoit.InvalidError) as error:
        refused()
    assert isinstance(error.value, ValueError) and error.value.code == 3


@pytest.mark.parametrize(
    "refused",
    [
        lambda: rules.version_from_type(None),
        lambda: rules.chips_from_topology(4),
        lambda: rules.chips_from_topology(b"4x4"),
        lambda: rules.worker_resources("4x4", "v6e", [("TPU", 4)]),
        lambda: rules.worker_resources("4x4", "v6e", {"TPU": True}),
        lambda: rules.worker_resources("4x4", "v6e", {"TPU": "4"}),
        lambda: rules.worker_resources("4x4", "v6e", {4: 4}),
        lambda: rules.worker_resources("4x4", "v6e", num_slices=None),
        lambda: rules.worker_resources("4x4", "v6e", chips_per_vm=4.0),
        lambda: rules.coordinator_env("h", 2, 1, 8081),
        lambda: rules.train_env("h", 0, 1, "4x4", "v6e", env=["A=b"]),
    ],
)
def test_other_types_raise_type_error(refused):
    with pytest.raises(TypeError, match="expected"):
        refused()
