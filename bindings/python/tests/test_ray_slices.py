# SPDX-License-Identifier: Apache-2.0
"""The model of Ray's slice_placement_group(): what it requests from a cluster."""

import pytest

import quoit
from quoit.ray_rules.slices import Head, WorkerGroup, slice_placement_group

SLICE = "ray.io/tpu-slice-name"


def test_a_multi_host_slice_has_a_head_and_a_bundle_per_host():
    group = slice_placement_group("4x4", "v6e", num_slices=2, name="job")
    assert (group.num_slices, group.num_hosts, group.num_bundles, group.bundles_per_slice) == (2, 8, 8, 4)
    assert (group.chips_per_host, group.devices_per_host, group.is_single_host) == (4, 4, False)
    assert group.bundle_resources == {"CPU": 1, "TPU": 4}
    selector = {"ray.io/tpu-worker-id": "0", "ray.io/tpu-pod-type": "v6e-16"}
    assert group.heads == tuple(Head(index, {"TPU-v6e-16-head": 1}, selector) for index in (0, 1))
    assert group.slice_placement_group == WorkerGroup("job", 8, "SPREAD", None)
    assert group.bundle_label_selector == ({},) * 8


def test_with_slice_names_returns_a_group_whose_bundles_select_the_slices():
    group = slice_placement_group("2x2x2", "v4", num_slices=2)
    named = group.with_slice_names({0: "slice-a", 1: "slice-b"})
    assert [*named.bundle_label_selector] == [{SLICE: "slice-a"}] * 2 + [{SLICE: "slice-b"}] * 2
    assert named.bundle_labels(-1) == {SLICE: "slice-b"}
    assert group.bundle_labels(0) == {}
    assert named.with_slice_names({1: "slice-c"}).bundle_labels(0) == {}
    with pytest.raises(quoit.InvalidError, match="slice '2'"):
        group.with_slice_names({2: "slice-c"})


def test_a_slice_requested_by_name_needs_no_head():
    asked = [{"env": "prod"}, {SLICE: "mine"}, {"env": None}, {}]
    group = slice_placement_group("2x2x2", "v4", num_slices=2, bundle_label_selector=asked)
    assert [head.slice_index for head in group.heads] == [1]
    assert group.bundle_labels(0) == {"env": "prod", SLICE: "mine"}
    assert group.bundle_labels(2) == {"env": None}
    with pytest.raises(quoit.InvalidError, match="slice '0'"):
        group.with_slice_names({0: "other"})


def test_single_host_slices_have_no_heads_and_select_no_slice():
    group = slice_placement_group("2x4", "v6e", num_slices=3)
    assert (group.is_single_host, group.num_bundles, group.heads) == (True, 3, ())
    assert group.bundle_label_selector == ({}, {}, {})


def test_one_group_and_several_groups_have_separate_attributes():
    several = slice_placement_group("4x4", "v6e", num_slices=2, pg_per_slice=True, name="job", lifetime="detached")
    names = [f"job_slice_{index}" for index in range(2)]
    assert several.slice_placement_groups == tuple(WorkerGroup(name, 4, "SPREAD", "detached") for name in names)
    assert several.placement_groups == several.slice_placement_groups
    with pytest.raises(quoit.InvalidError, match="one for each slice"):
        assert several.slice_placement_group is None
    with pytest.raises(quoit.InvalidError, match="one for all slices"):
        assert slice_placement_group("4x4", "v6e").slice_placement_groups is None


def test_the_memory_of_a_group_depends_only_on_the_request():
    group = slice_placement_group("4x4", "v6e", num_slices=10**12)
    assert group.num_bundles == 4 * 10**12
    assert group.with_slice_names({10**12 - 1: "last"}).bundle_labels(-1) == {SLICE: "last"}


def test_a_bool_counts_as_an_int_like_in_ray():
    group = slice_placement_group("4x4", "v6e", num_slices=True, chips_per_vm=True, tpu_resource_per_chip=True)
    assert (group.num_slices, group.num_bundles, group.bundle_resources["TPU"]) == (1, 16, 1)
    with pytest.raises(quoit.InvalidError, match="number of slices '0'"):
        slice_placement_group("4x4", "v6e", num_slices=False)


@pytest.mark.parametrize("num_slices", [-1, -5])
def test_negative_slice_counts_are_accepted_like_in_ray(num_slices):
    group = slice_placement_group("4x4", "v6e", num_slices=num_slices)
    assert (group.num_bundles, group.num_hosts, group.heads) == (4 * num_slices, 4 * num_slices, ())
    assert group.bundle_label_selector == ()
    assert group.slice_placement_group.num_bundles == 0
    with pytest.raises(IndexError):
        group.bundle_labels(0)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"topology": "2x2x1"}, "topology '2x2x1'"),
        ({"topology": "none"}, "topology 'none'"),
        ({"topology": "4x4\0"}, "NUL"),
        ({"topology": "4x\ud800"}, "surrogate"),
        ({"accelerator_version": "v6e-16"}, "'v6e-16'"),
        ({"num_slices": 0}, "number of slices '0'"),
        ({"num_slices": 2**62}, "64 bits"),
        ({"num_slices": 2**64}, "num_slices '18446744073709551616'"),
        ({"chips_per_vm": 0}, "'0'"),
        ({"resources_per_bundle": {"TPU": 3}}, "'3'"),
        ({"tpu_resource_per_chip": -1}, "'-1'"),
        ({"bundle_label_selector": [{"env": "prod"}]}, "selectors of bundles '1'"),
        ({"bundle_label_selector": [None]}, "selectors of bundles '1'"),
    ],
)
def test_inputs_that_ray_refuses_raise_invalid_error(arguments, words):
    with pytest.raises(quoit.InvalidError, match=words):
        slice_placement_group(**{"topology": "4x4", "accelerator_version": "v6e", **arguments})


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"topology": None}, "topology: expected a str, not NoneType"),
        ({"accelerator_version": 6}, "accelerator_version: expected a str"),
        ({"strategy": None}, "strategy: expected a str"),
        ({"name": b"job"}, "name: expected a str"),
        ({"lifetime": 1}, "lifetime: expected a str"),
        ({"num_slices": 1.0}, "num_slices: expected an int, not float"),
        ({"chips_per_vm": "4"}, "chips_per_vm: expected an int"),
        ({"tpu_resource_per_chip": 1.5}, "tpu_resource_per_chip: expected an int"),
        ({"pg_per_slice": 1}, "pg_per_slice: expected a bool"),
        ({"resources_per_bundle": [("TPU", 4)]}, "resources_per_bundle: expected a mapping"),
        ({"resources_per_bundle": {"TPU": "4"}}, "resources_per_bundle"),
        ({"bundle_label_selector": {"env": "prod"}}, "bundle_label_selector: expected a sequence"),
        ({"bundle_label_selector": "prod"}, "bundle_label_selector: expected a sequence"),
        ({"bundle_label_selector": [{"env": 1}] * 4}, "bundle_label_selector"),
        ({"bundle_label_selector": [None] * 4}, "bundle_label_selector: expected mappings"),
    ],
)
def test_other_types_raise_type_error_with_the_argument(arguments, words):
    with pytest.raises(TypeError, match=words):
        slice_placement_group(**{"topology": "4x4", "accelerator_version": "v6e", **arguments})


def test_slice_names_must_be_a_mapping_of_int_to_str():
    group = slice_placement_group("4x4", "v6e")
    for names in (["slice-a"], {"0": "slice-a"}, {0: None}, {False: "slice-a"}):
        with pytest.raises(TypeError, match="slice_names"):
            group.with_slice_names(names)


def test_a_group_cannot_be_changed():
    with pytest.raises(AttributeError, match="num_slices"):
        slice_placement_group("4x4", "v6e").num_slices = 2
