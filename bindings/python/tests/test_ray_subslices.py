# SPDX-License-Identifier: Apache-2.0
"""The model of Ray's sub-slices."""

import pytest

import quoit
from quoit.ray_rules.subslices import (
    Subslice,
    SubsliceStep,
    find_subslice,
    is_head_free,
    next_slice_to_discover,
    parent_topologies,
    physical_worker_id,
    subslice_chips_per_vm,
    subslice_labels,
    subslice_placement_group,
    topology_dims,
    worker_grid,
)

SLICE = "ray.io/tpu-slice-name"
WORKER = "ray.io/tpu-worker-id"


def hosts(name="s", topology="4x4", count=4):
    """The nodes of a slice; the node of worker i has the id "s-i"."""
    return [
        {
            "NodeID": f"{name}-{index}",
            "Alive": True,
            "Labels": {SLICE: name, WORKER: str(index), "ray.io/tpu-topology": topology},
            "Resources": {"TPU": 4},
        }
        for index in range(count)
    ]


KNOWN = {"s": {str(index): subslice_labels(index, "4x4") for index in range(4)}}


def test_a_grid_has_the_slowest_axis_first():
    assert topology_dims(" 2X2x4 ") == (2, 2, 4)
    assert worker_grid("4x8") == (2, 4)
    assert worker_grid("2x4x4") == (1, 2, 4)


@pytest.mark.parametrize("topology", ["1x1", "2x8", "4X4", "32x32", ""])
def test_only_some_topologies_have_grids(topology):
    with pytest.raises(quoit.InvalidError):
        worker_grid(topology)


def test_a_hosts_position_is_that_of_its_smallest_chip():
    assert physical_worker_id([(2, 2), (3, 3)], "4x4") == 3
    assert physical_worker_id(iter([[2, 0, 9], [3, 1]]), "4x4") == 1
    assert physical_worker_id([(1, 2, 2), (1, 3, 3)], "4x4x4") == 13
    assert physical_worker_id([(0, 0), (0, 0, 3, 7)], "4x4x4") == 0
    assert physical_worker_id([(-2, 0)], "4x4") == -1


@pytest.mark.parametrize(
    "coords, parent",
    [([], "4x4"), ([()], "4x4"), ([("0",)], "4x4"), ([(0, 0), (0,)], "4x4"), ([(4, 0)], "4x4"), ([("0", "0")], "1x1")],
)
def test_a_host_outside_the_grid_is_refused(coords, parent):
    with pytest.raises(quoit.InvalidError):
        physical_worker_id(coords, parent)


@pytest.mark.parametrize("coords", [None, "00", [0, 0], [(0.5, 0)], [("0", "0")], [(True, 0)], {(0, 0): 1}])
def test_coordinates_are_sequences_of_ints(coords):
    with pytest.raises(TypeError, match="coords"):
        physical_worker_id(coords, "4x4")


def test_a_host_is_labelled_with_the_sub_slice_of_each_smaller_shape():
    assert subslice_labels(3, "4x4") == {"ray.io/tpu-subslice-2x2": "3", "ray.io/tpu-subslice-2x4": "1"}
    assert subslice_labels(-1, "4x4")["ray.io/tpu-subslice-2x4"] == "-1"
    with pytest.raises(quoit.InvalidError, match="worker_id"):
        subslice_labels(2**63, "4x4")


def test_a_sub_slice_fits_into_the_larger_topologies_of_nodes_that_are_alive():
    nodes = hosts("a", "8x8", 1) + hosts("b", "4x4", 1) + hosts("c", "2x4", 1) + hosts("d", "4x8", 1)
    nodes[3]["Alive"] = False
    assert parent_topologies(nodes, "2x4") == ("4x4", "8x8")
    assert parent_topologies([], "2x4") == ()
    with pytest.raises(quoit.InvalidError, match="'1x1'"):
        parent_topologies(nodes, "1x1")


def test_chips_per_vm_default_to_those_of_the_whole_slice():
    assert subslice_chips_per_vm(16, "4x4", "v6e") == 16
    assert [subslice_chips_per_vm(None, parent, "v6e") for parent in ("2x4", "4x4")] == [8, 4]


def test_an_unlisted_head_counts_as_free():
    head = "TPU-v6e-16-head"
    told = [None, {}, {"s-0": {"TPU": 0}}, {"s-0": {head: 1}}, {"s-0": {head: 0}}]
    assert [is_head_free(hosts(), available, "s", head) for available in told] == [True, True, True, True, False]
    assert is_head_free(hosts(), told[-1], "s", None)
    assert is_head_free(hosts(), told[-1], None, head)


def test_the_first_idle_sub_slice_is_found_and_fully_used_hosts_count_as_idle():
    assert find_subslice(KNOWN, hosts(), {}, "s", "2x4") == Subslice(0, ("0", "1"))
    busy = {"s-1": {"TPU": 0}}
    assert find_subslice(KNOWN, hosts(), busy, "s", "2x4") == Subslice(1, ("2", "3"))
    assert find_subslice(KNOWN, hosts(), {"s-1": {}}, "s", "2x4") == Subslice(0, ("0", "1"))
    assert find_subslice(KNOWN, hosts(), busy, "s", "2x4", subslice_index=0) is None
    assert find_subslice({}, hosts(), busy, "s", "2x4") is None
    with pytest.raises(quoit.InvalidError):
        find_subslice({"s": {"0": {"ray.io/tpu-subslice-2x4": "first"}}}, hosts(), {}, "s", "2x4")


def test_the_first_unknown_idle_slice_is_discovered_next():
    nodes = hosts("s") + hosts("t")
    assert next_slice_to_discover({}, nodes, {}, ["4x4"], "v6e") == ("4x4", "s")
    assert next_slice_to_discover({"s": {}}, nodes, {}, ["8x8", "4x4"], "v6e") == ("4x4", "t")
    assert next_slice_to_discover({"s": {}}, nodes, {"t-0": {"TPU": 1}}, ["4x4"], "v6e") is None
    with pytest.raises(quoit.InvalidError):
        next_slice_to_discover({}, nodes, {}, ["4xx"], "v6e")


def test_ray_discovers_a_slice_and_then_reserves_a_sub_slice():
    first = subslice_placement_group({}, hosts(), {}, " 2X4 ", "TPU-V6E")
    assert (first.step, first.slice_name, first.parent_topology) == (SubsliceStep.DISCOVER, "s", "4x4")
    assert (first.subslice_index, first.bundle_label_selector) == (None, ())
    then = subslice_placement_group(KNOWN, hosts(), {"s-0": {"TPU": 3}}, "2x4", "v6e")
    assert (then.step, then.subslice_index, then.chips_per_host) == (SubsliceStep.RESERVE, 1, 4)
    assert then.bundle_resources == {"CPU": 1, "TPU": 4}
    assert then.bundle_label_selector == ({SLICE: "s", WORKER: "2"}, {SLICE: "s", WORKER: "3"})
    asked = subslice_placement_group(KNOWN, hosts(), {}, "2x4", "v6e", resources_per_bundle={"TPU": 1.5})
    assert asked.bundle_resources == {"TPU": 1.5}


def test_a_sub_slice_waits_if_all_known_ones_are_in_use():
    with pytest.raises(quoit.NotNowError, match="'2x4'"):
        subslice_placement_group(KNOWN, hosts(), {"s-0": {"TPU": 3}, "s-3": {"TPU": 3}}, "2x4", "v6e")


@pytest.mark.parametrize(
    "arguments",
    [
        {"subslice_topology": "4x4"},
        {"subslice_topology": "1x1"},
        {"subslice_topology": "2x2x1"},
        {"chips_per_vm": 0},
        {"accelerator_version": " v6e"},
        {"nodes": []},
        {"subslice_index": 2**63},
        {"known": {"s\0": {}}},
    ],
)
def test_inputs_that_ray_refuses_raise_invalid_error(arguments):
    usual = {"known": {}, "nodes": hosts(), "available": {}, "subslice_topology": "2x4", "accelerator_version": "v6e"}
    with pytest.raises(quoit.InvalidError):
        subslice_placement_group(**{**usual, **arguments})


@pytest.mark.parametrize(
    "arguments",
    [
        {"subslice_topology": None},
        {"accelerator_version": 6},
        {"chips_per_vm": 4.0},
        {"nodes": {"s-0": hosts()[0]}},
        {"nodes": [{"NodeID": 0}]},
        {"available": [{"TPU": 4}]},
        {"subslice_index": True},
        {"known": []},
        {"known": {"s": ["0"]}},
        {"known": {"s": {0: {}}}},
        {"known": {"s": {"0": {"ray.io/tpu-subslice-2x4": 0}}}},
        {"resources_per_bundle": {"TPU": True}},
    ],
)
def test_other_types_raise_type_error(arguments):
    usual = {"known": {}, "nodes": hosts(), "available": {}, "subslice_topology": "2x4", "accelerator_version": "v6e"}
    with pytest.raises(TypeError):
        subslice_placement_group(**{**usual, **arguments})
