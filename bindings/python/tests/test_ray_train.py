# SPDX-License-Identifier: Apache-2.0
"""The model of how Ray Train interprets its arguments."""

import math
import threading

import numpy
import pytest

import quoit
from quoit import ray_rules
from quoit.ray_rules.train import (
    FailureDecision,
    FailureKind,
    FailurePolicy,
    ScalingConfig,
    WorkerRank,
    rank_by_node,
    rank_by_slice,
    slice_id,
)


def on_slices(**arguments):
    usual = {"use_tpu": True, "topology": "4x4", "accelerator_type": "TPU-V6E", "num_workers": 4}
    return ScalingConfig(**{**usual, **arguments})


def test_workers_on_tpu_fill_whole_slices():
    scaling = on_slices(num_workers=(4, 12))
    assert (scaling.min_workers, scaling.max_workers, scaling.elasticity_enabled) == (4, 12, True)
    assert scaling.worker_resources == {"CPU": 1, "TPU": 4, "accelerator_type:TPU-V6E": 0.001}
    assert scaling.total_resources == {"CPU": 12, "TPU": 48, "accelerator_type:TPU-V6E": 0.012}
    assert (scaling.workers_per_slice, scaling.num_tpus_per_worker, scaling.num_slices(8)) == (4, 4, 2)
    group = scaling.slice_placement_group(8)
    assert (group.num_slices, group.num_bundles, group.bundle_resources) == (2, 8, scaling.worker_resources)
    assert group.slice_placement_group.strategy == scaling.placement_strategy == "PACK"


def test_a_job_without_slices_uses_a_plain_placement_group():
    scaling = ScalingConfig(num_workers=2, use_gpu=True)
    assert scaling.worker_resources == {"GPU": 1}
    assert (scaling.elasticity_enabled, scaling.workers_per_slice, scaling.num_slices(2)) == (False, 0, 1)
    assert not scaling.uses_slices
    assert scaling.slice_placement_group(2) is None


def test_a_topology_that_ray_does_not_list_is_refused_when_the_workers_are_placed():
    scaling = on_slices(topology="4x5", num_workers=5)
    assert scaling.uses_slices
    with pytest.raises(quoit.InvalidError, match="topology '4x5'"):
        scaling.slice_placement_group(5)


def test_none_and_empty_resources_differ():
    assert ScalingConfig(resources_per_worker=None).worker_resources == {"CPU": 1}
    assert ScalingConfig(resources_per_worker={}).worker_resources == {}


def test_tpu_units_per_chip_affect_workers_and_slices():
    scaling = on_slices(resources_per_worker={"TPU": 1}, num_workers=32, tpu_resource_per_chip=2)
    assert scaling.workers_per_slice == 32
    assert scaling.slice_placement_group(32).devices_per_host == 8


@pytest.mark.parametrize(
    "label_selector, per_worker",
    [
        (None, None),
        ({}, ({}, {})),
        ({"a": "b"}, ({"a": "b"}, {"a": "b"})),
        ([{"a": "b"}, {"a": None}], ({"a": "b"}, {"a": None})),
    ],
)
def test_a_selector_applies_to_all_workers_and_a_list_to_each(label_selector, per_worker):
    scaling = ScalingConfig(num_workers=2, label_selector=label_selector)
    assert scaling.label_selector_per_worker(2) == per_worker
    assert scaling.label_selector_per_worker(1) == (per_worker and per_worker[:1])
    assert scaling.label_selector_per_worker(3) == per_worker


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"num_workers": "2"}, "num_workers '2': expected an int or a tuple of two ints"),
        ({"num_workers": [4, 8]}, "expected an int or a tuple"),
        ({"num_workers": (4, 8, 12)}, "expected an int or a tuple"),
        ({"num_workers": (4.0, 8)}, "expected an int or a tuple"),
        ({"num_workers": None}, "expected an int or a tuple"),
        ({"num_workers": -1}, "number of workers '-1'"),
        ({"num_workers": (8, 4)}, "'8' to '4'"),
        ({"num_workers": 2**63}, "num_workers '9223372036854775808'"),
        ({"num_workers": 6}, "number of workers '6': expected a multiple of the 4"),
        ({"use_gpu": True}, "accelerators 'GPU and TPU'"),
        ({"topology": None}, "topology: expected one"),
        ({"accelerator_type": ""}, "accelerator type: expected one"),
        ({"label_selector": {"a": "b"}}, "label selector: expected none"),
        ({"resources_per_worker": {"TPU": 0}}, "TPU of a worker '0'"),
        ({"resources_per_worker": {"TPU": 3}}, "'3'"),
        ({"elastic_resize_monitor_interval_s": -0.0001}, "monitor interval"),
        ({"trainer_resources": {}}, "trainer_resources"),
        ({"topology": "4\0x4"}, "NUL"),
    ],
)
def test_inputs_that_ray_refuses_raise_invalid_error(arguments, words):
    with pytest.raises(quoit.InvalidError, match=words):
        on_slices(**arguments)


@pytest.mark.parametrize(
    "num_workers, least, most, is_elastic",
    [(True, 1, 1, False), (False, 0, 0, False), ((True, 4), 1, 4, True), ((False, True), 0, 1, True)],
)
def test_a_bool_counts_as_an_int_like_in_ray(num_workers, least, most, is_elastic):
    scaling = ScalingConfig(num_workers=num_workers)
    assert (scaling.min_workers, scaling.max_workers, scaling.elasticity_enabled) == (least, most, is_elastic)
    assert type(scaling.max_workers) is int
    assert ray_rules.slices_for_workers("4x4", "TPU-V6E", True) == 1


@pytest.mark.parametrize("num_workers", [numpy.int64(4), (1, numpy.int64(2)), numpy.True_, (), (4,), (True,), 4.0])
def test_integers_of_other_classes_are_refused_like_in_ray(num_workers):
    with pytest.raises(quoit.InvalidError, match="expected an int or a tuple of two ints"):
        ScalingConfig(num_workers=num_workers)


@pytest.mark.parametrize(
    "arguments, words",
    [
        ({"use_tpu": "yes"}, "use_tpu: expected a bool, not str"),
        ({"use_gpu": None}, "use_gpu: expected a bool"),
        ({"topology": 44}, "topology: expected a str"),
        ({"accelerator_type": b"v6e"}, "accelerator_type: expected a str"),
        ({"resources_per_worker": 4}, "resources_per_worker: expected a mapping"),
        ({"placement_strategy": None}, "placement_strategy: expected a str"),
        ({"label_selector": "a=b"}, "label_selector: expected a sequence"),
        ({"label_selector": ["a"] * 4}, r"label_selector\[0\]"),
        ({"elastic_resize_monitor_interval_s": "60"}, "elastic_resize_monitor_interval_s: expected a number"),
        ({"tpu_resource_per_chip": True}, "tpu_resource_per_chip: expected an int"),
    ],
)
def test_other_types_raise_type_error_with_the_argument(arguments, words):
    with pytest.raises(TypeError, match=words):
        on_slices(**arguments)


def test_workers_are_counted_by_node_and_in_whole_slices():
    scaling = on_slices(num_workers=(4, 12))
    host = {"CPU": 1, "TPU": 4, "accelerator_type:TPU-V6E": 1}
    hosts = {f"n{index}": host for index in range(7)}
    assert scaling.count_possible_workers(hosts) == 4
    assert scaling.count_possible_workers({**hosts, "n7": host}) == 8
    assert scaling.count_possible_workers({**hosts, "n7": host}, num_intact_slices=1) == 4
    assert scaling.count_possible_workers({}) == 0


def test_workers_are_counted_in_floating_point_numbers():
    scaling = ScalingConfig(num_workers=(1, 9), resources_per_worker={"CPU": 0.1})
    assert scaling.count_possible_workers({"n": {"CPU": 0.5}}) == math.floor(0.5 // 0.1) == 4
    with pytest.raises(quoit.InvalidError, match="resources of nodes"):
        scaling.count_possible_workers({"n": {"CPU": math.inf}})
    with pytest.raises(TypeError, match="reserved_resources"):
        scaling.count_possible_workers([{"CPU": 1}])


def test_an_elastic_job_starts_checks_its_size_and_resizes_as_ray_decides():
    scaling = on_slices(num_workers=(4, 12), elastic_resize_monitor_interval_s=0.1)
    assert [scaling.would_start(possible) for possible in (None, 3, 4)] == [False, False, True]
    assert [scaling.is_resize_check_due(1000, None, now) for now in (1099, 1100)] == [False, True]
    assert [scaling.is_resize_check_due(1000, 1100, now) for now in (1199, 1200)] == [False, True]
    assert [scaling.would_resize(8, possible) for possible in (None, 8, 3, 4, 12)] == [False, False, False, True, True]


@pytest.mark.parametrize("seconds, looks", [(0, True), (math.nan, True), (math.inf, False), (10**300, False)])
def test_an_interval_can_be_any_number_from_0(seconds, looks):
    scaling = ScalingConfig(num_workers=(1, 2), elastic_resize_monitor_interval_s=seconds)
    assert scaling.is_resize_check_due(0, None, 0) is looks


def test_rank_by_slice_sorts_by_slice_name_as_text():
    ranks = rank_by_slice(["s-9", "s-10", None, "s-10"], ["a", "b", "c", "b"])
    assert ranks == (
        WorkerRank(worker=2, local_rank=0, local_world_size=1, node_rank=0),
        WorkerRank(worker=1, local_rank=0, local_world_size=2, node_rank=1),
        WorkerRank(worker=3, local_rank=1, local_world_size=2, node_rank=1),
        WorkerRank(worker=0, local_rank=0, local_world_size=1, node_rank=2),
    )


def test_rank_by_node_keeps_the_order_of_nodes_and_sorts_by_gpu():
    order = [one.worker for one in rank_by_node(["b", "a", "b"], [3, 0, 1])]
    assert order == [2, 0, 1]
    assert [one.worker for one in rank_by_node(["b", "a", "b"], first_id="a")] == [1, 0, 2]
    assert rank_by_node([]) == ()


@pytest.mark.parametrize(
    "rank, error",
    [
        (lambda: rank_by_slice(["s"], []), quoit.InvalidError),
        (lambda: rank_by_node(["a", "b"], [0]), quoit.InvalidError),
        (lambda: rank_by_slice("s", ["a"]), TypeError),
        (lambda: rank_by_slice([1], ["a"]), TypeError),
        (lambda: rank_by_slice(["s"], [None]), TypeError),
        (lambda: rank_by_node(["a"], [0.5]), TypeError),
        (lambda: rank_by_node(["a\0"]), quoit.InvalidError),
    ],
)
def test_ranks_need_one_node_per_worker(rank, error):
    with pytest.raises(error):
        rank()


def test_excess_workers_are_in_the_last_slice():
    assert [slice_id(rank, 2, 2) for rank in range(6)] == [0, 0, 1, 1, 1, 1]
    for numbers in ((-1, 1, 1), (0, 0, 1), (0, 1, 0), (0, 1, -(2**63))):
        with pytest.raises(quoit.InvalidError):
            slice_id(*numbers)


def test_each_kind_of_failure_has_its_own_limit():
    policy = FailurePolicy(max_failures=1, controller_failure_limit=0)
    retry, give_up = FailureDecision.RETRY, FailureDecision.RAISE
    assert [policy.make_decision(FailureKind.WORKER) for _ in range(2)] == [retry, give_up]
    assert [policy.make_decision(FailureKind.PREEMPTION) for _ in range(9)] == [retry] * 9
    assert policy.make_decision(FailureKind.STARTUP_TIMEOUT) == give_up
    assert policy.make_decision(FailureKind.CONTROLLER) == give_up
    for kind in (0, True, FailureDecision.RAISE, None):
        with pytest.raises(TypeError, match="FailureKind"):
            policy.make_decision(kind)


def test_concurrent_failures_are_all_counted():
    policy = FailurePolicy(max_failures=4000)

    def fail():
        for _ in range(1000):
            policy.make_decision(FailureKind.WORKER)

    threads = [threading.Thread(target=fail) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert policy.make_decision(FailureKind.WORKER) == FailureDecision.RAISE


def test_arguments_cannot_be_changed():
    with pytest.raises(AttributeError, match="num_workers"):
        ScalingConfig().num_workers = 2
