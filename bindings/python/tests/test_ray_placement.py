# SPDX-License-Identifier: Apache-2.0
"""The Python classes for Ray's placement: clusters, groups and answers. test_vectors.py tests the chosen nodes."""

import threading

import numpy
import pytest

import quoit
from quoit.ray_rules import placement as rules
from quoit.ray_rules.placement import Cluster, ClusterNode, Placement, PlacementGroup, PlacementResult

GROUP_ID = "0123456789abcdef0123456789abcdef0123"


@pytest.fixture
def cluster():
    """Two hosts, a and b, with 4 chips each. Half of b is in use."""
    return Cluster(
        [
            ClusterNode("a", {"TPU": 4, "CPU": 8}, labels={"ray.io/tpu-slice-name": "s"}),
            ClusterNode("b", {"TPU": 4, "CPU": 8}, available={"TPU": 2}),
        ]
    )


def test_ray_places_fails_or_waits(cluster):
    assert PlacementGroup([{"TPU": 4}, {"TPU": 2}]).place(cluster) == Placement(PlacementResult.SUCCESS, ("a", "b"))
    assert PlacementGroup([{"TPU": 4}, {"TPU": 4}]).place(cluster) == Placement(PlacementResult.FAILED, None)
    assert PlacementGroup([{"TPU": 5}]).place(cluster) == Placement(PlacementResult.INFEASIBLE, None)
    assert PlacementGroup([{"CPU": 1}, {"CPU": 1}], "STRICT_SPREAD").place(cluster).result is PlacementResult.FAILED
    assert PlacementGroup([]).place(cluster).nodes == ()


def test_selectors_and_topologies_restrict_the_nodes(cluster):
    selected = PlacementGroup([{"TPU": 1}], bundle_label_selector=[{"ray.io/tpu-slice-name": "!s"}])
    assert selected.place(cluster).nodes == ("b",)
    together = PlacementGroup([{"TPU": 1}] * 2, topology_strategy={"ray.io/tpu-slice-name": quoit.Strategy.STRICT_PACK})
    assert together.place(cluster).nodes == ("a", "a")
    assert PlacementGroup([{"TPU": 1}], "STRICT_PACK", soft_target_node_id="b").place(cluster).nodes == ("b",)
    lost = PlacementGroup([{"TPU": 1}], quoit.Strategy.STRICT_SPREAD, excluded=["a", "gone"])
    assert lost.place(cluster).nodes == ("b",)
    elsewhere = PlacementGroup([{"TPU": 1}], topology_strategy={"ray.io/tpu-slice-name": "STRICT_PACK"}, bound="t")
    assert elsewhere.place(cluster).result is not PlacementResult.SUCCESS


def test_is_possible_recognizes_possible_answers(cluster):
    group = PlacementGroup([{"TPU": 2}])
    assert group.is_possible(cluster, group.place(cluster)) is True
    assert group.is_possible(cluster, Placement(PlacementResult.FAILED, None)) is False
    equal = Cluster([ClusterNode("a", {"TPU": 4}), ClusterNode("b", {"TPU": 4})])
    assert PlacementGroup([{"TPU": 4}]).is_determined(equal) in (False, True)
    assert PlacementGroup([{"TPU": 4}]).is_possible(equal, Placement(PlacementResult.SUCCESS, ("b",))) is True
    assert PlacementGroup([{"TPU": 4}]).is_determined(Cluster([ClusterNode("a", {"TPU": 4})])) is True


def test_allocate_and_deallocate_change_the_free_amounts(cluster):
    group = PlacementGroup([{"TPU": 4}])
    placed = group.place(cluster).nodes
    cluster.allocate(group, placed)
    assert cluster.available_ten_thousandths("a", "TPU") == 0
    assert group.place(cluster).result is PlacementResult.FAILED
    cluster.deallocate(group, placed)
    assert cluster.available_ten_thousandths("a", "TPU") == 40000
    cluster.deallocate(group, ["b"])
    assert cluster.available_ten_thousandths("b", "TPU") == 40000


def test_amounts_are_truncated_like_in_ray_or_exact():
    cluster = Cluster([ClusterNode("a", {"x": 0.57})])
    assert cluster.available_ten_thousandths("a", "x") == 5699
    cluster.set_resource_ten_thousandths("a", "x", 5700, numpy.int32(5700))
    assert cluster.available_ten_thousandths("a", "x") == 5700
    assert cluster.available_ten_thousandths("a", "y") == 0


def test_a_refused_node_does_not_change_the_cluster(cluster):
    with pytest.raises(quoit.InvalidError, match="'a'"):
        cluster.add_node("a")
    with pytest.raises(quoit.InvalidError, match="'a': 'TPU': total: amount '-1'"):
        cluster.set_resource("a", "TPU", -1, 0)
    with pytest.raises(quoit.InvalidError, match="node 'c'"):
        cluster.set_label("c", "k", "v")
    assert cluster.node_ids == ("a", "b") and cluster.available_ten_thousandths("a", "TPU") == 40000


def test_a_group_is_immutable_and_check_refuses_like_ray():
    group = PlacementGroup([{"TPU": 0}])
    with pytest.raises(AttributeError):
        group.strategy = "PACK"
    with pytest.raises(quoit.InvalidError):
        group.check()
    assert PlacementGroup([{"TPU": float("nan")}]).check() is None
    with pytest.raises(quoit.InvalidError):
        PlacementGroup([{"TPU": float("nan")}]).place(Cluster())


@pytest.mark.parametrize(
    "refused",
    [
        lambda: PlacementGroup([{"CPU": 1}], "pack"),
        lambda: PlacementGroup([{"CPU": 1}], quoit.Strategy(9)),
        lambda: PlacementGroup([{"CPU": 1}], bundle_label_selector=[]),
        lambda: PlacementGroup([{"CPU": 1}], topology_strategy={"a": "strict"}),
        lambda: PlacementGroup([{"CPU\0": 1}]),
        lambda: PlacementGroup([{"CPU": 10**400}]),
        lambda: Cluster([ClusterNode("a", {}), ClusterNode("a", {})]),
        lambda: Cluster([ClusterNode("a", {"": 1})]),
        lambda: Cluster([ClusterNode("a", {"x": float("inf")})]),
        lambda: Cluster().allocate(PlacementGroup([{"CPU": 1}]), []),
        lambda: Cluster().allocate(PlacementGroup([{"CPU": 1}]), ["a"]),
        lambda: PlacementGroup([{"CPU": 1}]).is_possible(Cluster(), Placement(PlacementResult.SUCCESS, None)),
        lambda: PlacementGroup([{"CPU": 1}]).is_determined(Cluster(), -1),
        lambda: rules.strategy_parse("Pack"),
        lambda: rules.strategy_get_name(quoit.Strategy(9)),
        lambda: rules.bundle_resource("", GROUP_ID, 0),
        lambda: rules.group_resource("TPU", "abc"),
    ],
)
def test_invalid_input_is_refused(refused):
    with pytest.raises(quoit.InvalidError):
        refused()


@pytest.mark.parametrize(
    "refused",
    [
        lambda: PlacementGroup({"CPU": 1}),
        lambda: PlacementGroup(["CPU"]),
        lambda: PlacementGroup([{"CPU": "1"}]),
        lambda: PlacementGroup([{"CPU": None}]),
        lambda: PlacementGroup([{"CPU": True}]),
        lambda: PlacementGroup([{"CPU": 1}], 0),
        lambda: PlacementGroup([{"CPU": 1}], quoit.Policy.BEST),
        lambda: PlacementGroup([{"CPU": 1}], bundle_label_selector={"a": "b"}),
        lambda: PlacementGroup([{"CPU": 1}], bundle_label_selector=[{"a": None}]),
        lambda: PlacementGroup([{"CPU": 1}], topology_strategy=["a"]),
        lambda: PlacementGroup([{"CPU": 1}], excluded="a"),
        lambda: PlacementGroup([{"CPU": 1}]).place(None),
        lambda: PlacementGroup([{"CPU": 1}]).is_possible(Cluster(), (PlacementResult.FAILED, None)),
        lambda: PlacementGroup([{"CPU": 1}]).is_possible(Cluster(), Placement(1, None)),
        lambda: PlacementGroup([{"CPU": 1}]).is_determined(Cluster(), 1.5),
        lambda: Cluster([{"id": "a"}]),
        lambda: Cluster([ClusterNode("a", [1])]),
        lambda: Cluster([ClusterNode(1, {})]),
        lambda: Cluster().allocate(None, []),
    ],
)
def test_other_types_raise_type_error(refused):
    with pytest.raises(TypeError, match="expected"):
        refused()


def test_names_and_orders_match_ray():
    assert rules.strategy_parse("STRICT_PACK") is quoit.Strategy.STRICT_PACK
    assert [rules.strategy_get_name(one) for one in quoit.Strategy] == [one.name for one in quoit.Strategy]
    assert [rules.resource_id(one) for one in ("CPU", "memory", "GPU", "object_store_memory")] == [0, 1, 2, 3]
    assert rules.bundle_resource("TPU", GROUP_ID, 7) == f"TPU_group_7_{GROUP_ID}"
    assert rules.group_resource("bundle", GROUP_ID) == f"bundle_group_{GROUP_ID}"
    assert PlacementGroup([{"CPU": 1}, {"GPU": 1}, {"CPU": 2}]).bundle_order() == (1, 2, 0)


def test_an_exceeded_budget_returns_none():
    nodes = [ClusterNode(f"n{index}", {"a": 1 + index % 3, "b": 3 - index % 3}) for index in range(6)]
    group = PlacementGroup([{"a": 1}, {"b": 1}, {"a": 1, "b": 1}, {"a": 2}, {"b": 2}])
    refused = Placement(PlacementResult.FAILED, None)
    assert [group.is_possible(Cluster(nodes), refused, budget) for budget in (0, 100)] == [None, False]


def test_threads_can_share_a_cluster():
    cluster = Cluster([ClusterNode(f"n{index}", {"TPU": 4}) for index in range(50)])
    group = PlacementGroup([{"TPU": 4}] * 10)
    answers = []

    def change_and_ask(first):
        for index in range(first, first + 100):
            cluster.add_node(f"m{index}")
            cluster.set_resource(f"m{index}", f"r{index}", 1, 1)
            answers.append(group.place(cluster))

    threads = [threading.Thread(target=change_and_ask, args=(1000 * one,)) for one in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 400 and len(set(answers)) == 1
    assert len(cluster.node_ids) == 450
    assert cluster.available_ten_thousandths(f"m{3099}", "r3099") == 10000
