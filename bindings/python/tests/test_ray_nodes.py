# SPDX-License-Identifier: Apache-2.0
"""The Python functions that count slices in lists of Ray's nodes."""

import pytest

import quoit
from quoit.ray_rules import nodes as rules


def host(slice_name, worker, **changes):
    labels = {
        "ray.io/tpu-slice-name": slice_name,
        "ray.io/tpu-worker-id": str(worker),
        "ray.io/tpu-pod-type": "v6e-16",
        "ray.io/tpu-topology": "4x4",
    }
    return {"NodeID": f"{slice_name}{worker}", "Alive": True, "Labels": labels, "Resources": {"TPU": 4.0}, **changes}


TWO_SLICES = [host(name, worker) for name in "ab" for worker in range(4)]
FREE = {row["NodeID"]: {"TPU": 4.0} for row in TWO_SLICES}


def test_a_slice_with_a_dead_host_is_not_intact():
    assert rules.count_slices(TWO_SLICES, "4x4", "TPU-V6E") == 2
    assert rules.count_slices([*TWO_SLICES[:7], host("b", 3, Alive=False)], "4x4", "v6e") == 1
    assert rules.count_slices([*TWO_SLICES[:7], {**TWO_SLICES[7], "Labels": None}], "4x4", "v6e") == 1
    assert rules.count_slices(TWO_SLICES, "4x4", "v6e", tpu_resource_per_chip=2) == 0
    assert rules.count_slices(iter(TWO_SLICES), "4x4", None) == 0


def test_a_fully_used_slice_is_ready_for_ray_but_not_free():
    available = {**FREE, **{row["NodeID"]: {} for row in TWO_SLICES[:4]}}
    assert rules.count_ready_slices(TWO_SLICES, available, "4x4", "v6e") == 2
    assert rules.count_free_slices(TWO_SLICES, available, "4x4", "v6e") == 1
    assert rules.count_ready_slices(TWO_SLICES, {**FREE, "a0": {"TPU": 3}}, "4x4", "v6e") == 1
    assert rules.count_free_slices(TWO_SLICES, None, "4x4", "v6e") == 0


def test_nodes_of_slice_returns_alive_nodes_in_order():
    nodes = [host("b", 1), host("a", 0), host("b", 0, Alive=False), {"Alive": True}, host("b", 2)]
    assert rules.nodes_of_slice(nodes, "b") == ("b1", "b2")
    assert rules.nodes_of_slice(nodes, None) == ("",)
    assert rules.slice_name_of_node(nodes[0]) == "b"
    assert rules.slice_name_of_node({}) is None


@pytest.mark.parametrize(
    "refused",
    [
        lambda: rules.count_slices(None, "4x4", "v6e"),
        lambda: rules.count_slices({"NodeID": "a"}, "4x4", "v6e"),
        lambda: rules.count_slices(["a"], "4x4", "v6e"),
        lambda: rules.count_slices([host("a", 0, Alive=1)], "4x4", "v6e"),
        lambda: rules.count_slices([host("a", 0, Labels={"a": 1})], "4x4", "v6e"),
        lambda: rules.count_slices([host("a", 0, Resources={"TPU": "4"})], "4x4", "v6e"),
        lambda: rules.count_slices([host("a", 0, NodeID=7)], "4x4", "v6e"),
        lambda: rules.count_slices(TWO_SLICES, "4x4", "v6e", tpu_resource_per_chip=1.5),
        lambda: rules.count_ready_slices(TWO_SLICES, [], "4x4", "v6e"),
        lambda: rules.count_ready_slices(TWO_SLICES, {"a0": None}, "4x4", "v6e"),
    ],
)
def test_other_types_raise_type_error(refused):
    with pytest.raises(TypeError, match="expected"):
        refused()


def test_messages_have_the_place():
    with pytest.raises(quoit.InvalidError, match=r"nodes\[1\]\['Labels'\]\['a'\].*NUL"):
        rules.count_slices([host("a", 0), host("a", 1, Labels={"a": "\0"})], "4x4", "v6e")
