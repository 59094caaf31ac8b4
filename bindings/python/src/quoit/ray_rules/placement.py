# SPDX-License-Identifier: Apache-2.0
"""A model of placement groups in Ray 2.60's control plane, without Ray.

A `Cluster` has what the control plane knows of its nodes, a `PlacementGroup` has the arguments of placement_group(),
and `PlacementGroup.place` returns Ray's answer. Among equally good nodes, Ray chooses any one, and can choose another
one in the next call. This model chooses the node that was added first. `PlacementGroup.is_determined` reports whether
Ray's answer can differ, and `PlacementGroup.is_possible` whether Ray could give a certain answer.

The model also reproduces surprising answers of Ray: negative amounts count backwards, and 0.00005 of a resource counts
as nothing. The model refuses input that would end Ray's process, or that Ray does not define: NaN, infinity, amounts
from 922337203685477.5808, sums of that size where Ray adds bundles, and a resource without a name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from .. import _c, errors
from .._c import call, ffi, lib
from .._locks import ThreadLock
from ..requests import Strategy
from ._resources import items


class PlacementResult(_c.Code):
    """Ray's result for a placement group."""

    SUCCESS = 0
    """Every bundle has a node."""
    FAILED = 1
    """The group does not fit now: Ray tries again."""
    INFEASIBLE = 2
    """The group does not fit these nodes: Ray waits until another node joins."""


@dataclasses.dataclass(frozen=True)
class Placement:
    """An answer of Ray's control plane."""

    result: PlacementResult
    nodes: tuple[str, ...] | None
    """The id of a node for each bundle; None without success."""


class _Certainty(_c.Code):
    """libquoit's codes of a yes-or-no answer that can be unknown."""

    NO = 0
    YES = 1
    UNKNOWN = 2


def _bool_or_none(slot: Any) -> bool | None:
    return {_Certainty.NO: False, _Certainty.YES: True}.get(_Certainty(slot[0]))


# --- the cluster --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ClusterNode(_c.WithFrozenMappings):
    """An alive node that is not draining. Ray uses no other nodes."""

    id: str
    """Ray's id of the node, or any other text by which groups can name it."""
    total: Mapping[str, float]
    """The amount of each resource in Ray's units, truncated to ten-thousandths like in Ray: 0.57 becomes 0.5699."""
    available: Mapping[str, float] | None = None
    """The free amount of each resource; 0 for a missing resource. None: everything is free."""
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The labels. Any text is accepted, because Ray's control plane does not check labels."""


class Cluster(_c.Uncopyable):
    """The nodes that Ray can use. Among equally good nodes, the one that was added first is chosen.

    Any number of threads can use a cluster; calls wait for each other. In a child of fork(2) they raise `FailedError`.

    Args:
        nodes: the initial nodes.

    Raises:
        InvalidError: two nodes have the same id; or like `set_resource`.
        TypeError: an argument has another type. This is true for every function here.
    """

    __slots__ = ("_handle", "_lock", "_numbers")

    def __init__(self, nodes: Iterable[ClusterNode] = ()) -> None:
        self._handle = _c.own_handle(lib.quoit_ray_cluster_new(), lib.quoit_ray_cluster_free)
        self._lock = ThreadLock("cluster")
        self._numbers: dict[str, int] = {}
        for node in _c.to_iterable(nodes, "nodes", "ClusterNode"):
            self._add(node)

    def _add(self, node: ClusterNode) -> None:
        if not isinstance(node, ClusterNode):
            raise TypeError(f"nodes: expected a ClusterNode, not {type(node).__name__}")
        self.add_node(node.id)
        total = dict(items(node.total, "total", "number"))
        free = total if node.available is None else dict(items(node.available, "available", "number"))
        for resource, amount in total.items():
            self.set_resource(node.id, resource, amount, free.get(resource, 0.0))
        for key, value in items(node.labels, "labels", "str"):
            self.set_label(node.id, key, value)

    def __repr__(self) -> str:
        return f"<quoit.ray_rules.Cluster of {len(self._numbers)} nodes>"

    @property
    def node_ids(self) -> tuple[str, ...]:
        """The ids of the nodes, in the order in which the nodes were added."""
        with self._lock.acquire():
            numbers = range(lib.quoit_ray_cluster_get_n_nodes(self._handle))
            return tuple(_c.text(lib.quoit_ray_cluster_get_node_id(self._handle, number)) for number in numbers)

    def add_node(self, id: str) -> None:
        """Adds a node without resources.

        Raises:
            InvalidError: a node already has that id.
        """
        named = _c.to_text(id, "id")
        name = _c.plain_str(id)
        with self._lock.acquire():
            number = lib.quoit_ray_cluster_get_n_nodes(self._handle)
            call(lib.quoit_ray_cluster_add_node, self._handle, named)
            while _c.text(lib.quoit_ray_cluster_get_node_id(self._handle, number)) != name:
                number += 1  # a signal handler has added other nodes in between
            self._numbers[name] = number

    def set_resource(self, node: str, resource: str, total: float, available: float) -> None:
        """Sets the amount of a resource on a node, like a report of that node to the control plane.

        Without such a call, a node has 0 of a resource, but 1 if the resource's name begins with
        "node:__internal_implicit_resource_".

        Args:
            node: id of a node.
            resource: "CPU", "TPU", "TPU-v6e-16-head".
            total: the node's amount, in Ray's units, truncated to ten-thousandths like in Ray.
            available: the free amount.

        Raises:
            InvalidError: there is no such node, an amount is negative, not finite, or 922337203685477.5808 or more, or
                the resource has no name.
        """
        amounts = _c.to_float(total, "total"), _c.to_float(available, "available")
        self._set_resource(lib.quoit_ray_cluster_set_resource, node, resource, *amounts)

    def set_resource_ten_thousandths(self, node: str, resource: str, total: int, available: int) -> None:
        """Like `set_resource`, with whole numbers of ten-thousandths, so that nothing is truncated.

        Raises:
            InvalidError: there is no such node, an amount is negative, or the resource has no name.
        """
        amounts = _c.to_int(total, "total"), _c.to_int(available, "available")
        self._set_resource(lib.quoit_ray_cluster_set_resource_e4, node, resource, *amounts)

    def _set_resource(self, function: Callable[..., Any], node: str, resource: str, *amounts: float) -> None:
        number, named = self._number(node), _c.to_text(resource, "resource")
        try:
            with self._lock.acquire():
                call(function, self._handle, number, named, *amounts)
        except errors.InvalidError as error:
            raise errors.InvalidError(f"node {_c.quoted(node)}: {_c.quoted(resource)}: {error}") from None

    def available_ten_thousandths(self, node: str, resource: str) -> int:
        """Returns the free amount in ten-thousandths, after all calls of `allocate` and `deallocate`.

        Raises:
            InvalidError: there is no such node.
        """
        number, named = self._number(node), _c.to_text(resource, "resource")
        with self._lock.acquire():
            return int(lib.quoit_ray_cluster_get_available_e4(self._handle, number, named))

    def set_label(self, node: str, key: str, value: str) -> None:
        """Sets a label of a node. Like Ray's control plane, it does not check texts.

        Raises:
            InvalidError: there is no such node.
        """
        number, named, text = self._number(node), _c.to_text(key, "key"), _c.to_text(value, f"labels[{_c.quoted(key)}]")
        with self._lock.acquire():
            lib.quoit_ray_cluster_set_label(self._handle, number, named, text)

    def allocate(self, group: PlacementGroup, nodes: Sequence[str]) -> None:
        """Reduces the free amounts like Ray's control plane when it has placed a group. No amount falls below 0.

        Args:
            group: a placed group.
            nodes: the id of a node for each bundle.

        Raises:
            InvalidError: an id is unknown, or the number of ids is not the number of bundles; or like
                `PlacementGroup.place`.
        """
        self._change_free_amounts(lib.quoit_ray_cluster_allocate, group, nodes)

    def deallocate(self, group: PlacementGroup, nodes: Sequence[str]) -> None:
        """Increases the free amounts, like the nodes' reports when a group is removed. No amount exceeds the total.

        Args:
            group: a placed group.
            nodes: the id of a node for each bundle.

        Raises:
            InvalidError: like `allocate`.
        """
        self._change_free_amounts(lib.quoit_ray_cluster_deallocate, group, nodes)

    def _change_free_amounts(self, function: Callable[..., Any], group: PlacementGroup, nodes: Sequence[str]) -> None:
        handle = _group_handle(group)
        numbers = self._numbers_of(group, nodes)
        with self._lock.acquire():
            call(function, self._handle, handle, numbers)

    def _number(self, node: str) -> int:
        _c.to_text(node, "node")
        number = self._numbers.get(_c.plain_str(node))
        if number is None:
            raise errors.InvalidError(f"node {_c.quoted(node)}: expected the id of a node of the cluster")
        return number

    def _numbers_of(self, group: PlacementGroup, nodes: Sequence[str]) -> Any:
        numbers = [self._number(node) for node in _c.to_iterable(nodes, "nodes", "str")]
        if len(numbers) != group.num_bundles:
            raise errors.InvalidError(f"nodes: expected {group.num_bundles}, one for each bundle, found {len(numbers)}")
        return ffi.new("uint32_t[]", numbers)

    def _ids(self, numbers: Any, n_numbers: int) -> tuple[str, ...]:
        with self._lock.acquire():
            ids = [lib.quoit_ray_cluster_get_node_id(self._handle, number) for number in ffi.unpack(numbers, n_numbers)]
            return tuple(map(_c.text, ids))


# --- the group ----------------------------------------------------------------------------------------------------


class PlacementGroup(_c.Immutable):
    """The arguments of a placement group. The object is immutable, and any number of threads can use it.

    The constructor accepts any number as an amount, and any text. `check` and `place` refuse wrong amounts and texts.

    Args:
        bundles: the resources of each bundle, ``[{"CPU": 1, "TPU": 4}]``, in Ray's units.
        strategy: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD; None is PACK, like in Ray.
        topology_strategy: a strategy for each label: how the bundles are spread over the values of the label. With the
            label "ray.io/node-id", they are spread over nodes. With any other label, Ray's control plane ignores the
            strategy, and places all bundles on nodes with one value of the label. Among these nodes, it uses the
            strategy of "ray.io/node-id", else `strategy`.
        bundle_label_selector: for each bundle the selectors of its node: "v", "!v", "in(a,b)", "!in(a,b)". Other
            text is parsed like in Ray's control plane.
        soft_target_node_id: the node that STRICT_PACK prefers; a node that is full or not in the cluster is ignored.
        lifetime: "detached" or None; only `check` uses it.
        bound: to place again only the lost bundles of a group, pass these bundles, and here the value of the topology
            label that the other bundles have. Ray places lost bundles on nodes with this value only.
        excluded: in the same case, the ids of the nodes of the other bundles. STRICT_SPREAD does not use these nodes;
            the other strategies ignore this list. Ids that are not in the cluster are ignored.

    Raises:
        InvalidError: a strategy is not one of Ray's, or the number of selectors is not the number of bundles.
        TypeError: an argument has another type. This is true for every function here.
    """

    __slots__ = ("_handle",)

    _handle: Any

    def __init__(
        self,
        bundles: Iterable[Mapping[str, float]],
        strategy: Strategy | str | None = None,
        *,
        topology_strategy: Mapping[str, Strategy | str] | None = None,
        bundle_label_selector: Iterable[Mapping[str, str]] | None = None,
        soft_target_node_id: str | None = None,
        lifetime: str | None = None,
        bound: str | None = None,
        excluded: Iterable[str] = (),
    ) -> None:
        handle = _c.own_handle(lib.quoit_ray_group_new(), lib.quoit_ray_group_free)
        if strategy is not None:
            lib.quoit_ray_group_set_strategy(handle, _strategy_number(strategy, "strategy"))
        for key, inside in () if topology_strategy is None else items(topology_strategy, "topology_strategy", "str"):
            named = _c.to_text(key, "topology_strategy")
            place = f"topology_strategy[{_c.quoted(key)}]"
            lib.quoit_ray_group_add_topology(handle, named, _strategy_number(inside, place))
        lib.quoit_ray_group_set_soft_target(handle, _c.to_text_or_null(soft_target_node_id, "soft_target_node_id"))
        for index, bundle in enumerate(_c.to_iterable(bundles, "bundles", "mapping")):
            _add_bundle(handle, bundle, f"bundles[{index}]")
        if bundle_label_selector is not None:
            _add_selectors(handle, list(_c.to_iterable(bundle_label_selector, "bundle_label_selector", "mapping")))
        lib.quoit_ray_group_set_lifetime(handle, _c.to_text_or_null(lifetime, "lifetime"))
        lib.quoit_ray_group_bind(handle, _c.to_text_or_null(bound, "bound"))
        for index, node in enumerate(_c.to_iterable(excluded, "excluded", "str")):
            lib.quoit_ray_group_exclude(handle, _c.to_text(node, f"excluded[{index}]"))
        object.__setattr__(self, "_handle", handle)

    def __repr__(self) -> str:
        return f"<quoit.ray_rules.PlacementGroup of {self.num_bundles} bundles>"

    @property
    def num_bundles(self) -> int:
        """The number of bundles."""
        return int(lib.quoit_ray_group_get_n_bundles(self._handle))

    def check(self) -> None:
        """Runs the checks of the Python function placement_group(). In Ray, they come before the control plane.

        The control plane has other checks: `place` can refuse a group that passes `check`, and place a group that does
        not pass.

        Raises:
            InvalidError: placement_group() raises; the message is about the first check that fails.
        """
        call(lib.quoit_ray_group_check, self._handle)

    def place(self, cluster: Cluster) -> Placement:
        """Returns where Ray's control plane would put the bundles, all or none. It does not change the cluster.

        Raises:
            InvalidError: amounts are not finite or 922337203685477.5808 or more, sums are of that size where Ray adds
                bundles, a resource has no name or is called "bundle", there are several topology labels, or the problem
                is too large for memory: more than 16,777,216 bundles times resources, 33,554,432 nodes times resources,
                or 67,108,864 times 64 nodes for bundles with different selectors.
        """
        n_bundles = self.num_bundles
        result, numbers = ffi.new("QuoitRayResult *"), ffi.new("uint32_t[]", n_bundles)
        self._call(lib.quoit_ray_group_place, cluster, result, numbers)
        answer = PlacementResult(result[0])
        placed = answer is PlacementResult.SUCCESS
        return Placement(answer, cluster._ids(numbers, n_bundles) if placed else None)

    def is_determined(self, cluster: Cluster, budget: int = 1000) -> bool | None:
        """Returns whether Ray always gives the answer of `place`; None if the budget ended before the result was known.

        Ray's answer can differ, because Ray chooses freely among nodes with equal scores, and among the values of a
        topology label. Of nodes with the same resources and labels, this method tries only one.

        Args:
            cluster: the cluster; not changed.
            budget: how many placements to try to find another answer: 1,000 takes some milliseconds.

        Raises:
            InvalidError: like `place`.
        """
        determined = ffi.new("QuoitRayCertainty *")
        self._call(lib.quoit_ray_group_is_determined, cluster, _c.to_int(budget, "budget", _c.UINT64), determined)
        return _bool_or_none(determined)

    def is_possible(self, cluster: Cluster, answer: Placement, budget: int = 1000) -> bool | None:
        """Returns whether Ray could give this answer; None if the budget ended before the result was known.

        For an answer with success the result is always known.

        Args:
            cluster: the cluster; not changed.
            answer: an answer of Ray.
            budget: how many placements to try for an answer without success: 1,000 takes some milliseconds.

        Raises:
            InvalidError: like `place`; or an id in the answer is unknown, or the number of ids is not the number of
                bundles.
        """
        if not isinstance(answer, Placement):
            raise TypeError(f"answer: expected a Placement, not {type(answer).__name__}")
        result = _c.to_member(PlacementResult, answer.result, "answer.result")
        _check_cluster(cluster)
        placed = answer.result is PlacementResult.SUCCESS
        numbers = cluster._numbers_of(self, answer.nodes or ()) if placed else _c.NULL
        possible = ffi.new("QuoitRayCertainty *")
        tries = _c.to_int(budget, "budget", _c.UINT64)
        self._call(lib.quoit_ray_group_is_possible, cluster, result, numbers, tries, possible)
        return _bool_or_none(possible)

    def _call(self, function: Callable[..., Any], cluster: Cluster, *arguments: Any) -> None:
        with _check_cluster(cluster)._lock.acquire():
            call(function, self._handle, cluster._handle, *arguments)

    def bundle_order(self) -> tuple[int, ...]:
        """Returns the indices of the bundles in the order in which PACK, SPREAD and STRICT_SPREAD place them.

        The largest bundle is first. Bundles are compared by GPU, then by custom resources in the order of
        `resource_id`, then by object_store_memory, memory and CPU. With more than 16 bundles, the order of equal
        bundles is that of libstdc++'s sort.

        Raises:
            InvalidError: `place` refuses the amounts, or has too many of them.
        """
        order = ffi.new("uint32_t[]", self.num_bundles)
        call(lib.quoit_ray_bundle_order, self._handle, order)
        return tuple(order)


def _check_cluster(cluster: object) -> Cluster:
    if not isinstance(cluster, Cluster):
        raise TypeError(f"cluster: expected a Cluster, not {type(cluster).__name__}")
    return cluster


def _group_handle(group: object) -> Any:
    if not isinstance(group, PlacementGroup):
        raise TypeError(f"group: expected a PlacementGroup, not {type(group).__name__}")
    return group._handle


def _strategy_number(strategy: Strategy | str, what: str) -> int:
    if isinstance(strategy, str):
        return int(strategy_parse(strategy))
    member = _c.to_member(Strategy, strategy, what)
    strategy_get_name(strategy)  # only for its exception: a strategy of a newer libquoit is refused
    return member


def _add_bundle(handle: Any, bundle: Mapping[str, float], what: str) -> None:
    number = lib.quoit_ray_group_add_bundle(handle)
    for resource, amount in items(bundle, what, "number"):
        named, wanted = _c.to_text(resource, what), _c.to_float(amount, f"{what}[{_c.quoted(resource)}]")
        lib.quoit_ray_group_set_amount(handle, number, named, wanted)


def _add_selectors(handle: Any, selectors: Sequence[Mapping[str, str]]) -> None:
    n_bundles = lib.quoit_ray_group_get_n_bundles(handle)
    if len(selectors) != n_bundles:
        found = f"bundle_label_selector: expected {n_bundles}, one for each bundle, found {len(selectors)}"
        raise errors.InvalidError(found)
    for number, selector in enumerate(selectors):
        what = f"bundle_label_selector[{number}]"
        for key, value in items(selector, what, "str"):
            named, asked = _c.to_text(key, what), _c.to_text(value, f"{what}[{_c.quoted(key)}]")
            lib.quoit_ray_group_set_selector(handle, number, named, asked)


# --- names --------------------------------------------------------------------------------------------------------


def strategy_parse(name: str) -> Strategy:
    """Returns the strategy with that name.

    Args:
        name: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD".

    Raises:
        InvalidError: `name` is any other text, such as "pack". Ray refuses it too.
    """
    strategy = ffi.new("QuoitStrategy *")
    call(lib.quoit_ray_strategy_parse, _c.to_text(name, "name"), strategy)
    return Strategy(strategy[0])


def strategy_get_name(strategy: Strategy) -> str:
    """Returns the name of a strategy for `strategy_parse`.

    Raises:
        InvalidError: the strategy is one of a newer libquoit.
    """
    name = lib.quoit_ray_strategy_get_name(_c.to_member(Strategy, strategy, "strategy"))
    if name == _c.NULL:
        raise errors.InvalidError(f"strategy '{int(strategy)}': expected PACK, SPREAD, STRICT_PACK or STRICT_SPREAD")
    return _c.text(name)


def resource_id(resource: str) -> int:
    """Returns the number by which Ray orders resources, as a signed number of 64 bits.

    CPU, memory, GPU and object_store_memory have the numbers 0 to 3. Other resources have libstdc++'s hash of the name.
    """
    return int(lib.quoit_ray_resource_id(_c.to_text(resource, "resource")))


def bundle_resource(resource: str, group_id: str, bundle: int) -> str:
    """Returns Ray's name for the share of a node's resource that belongs to one bundle: "TPU_group_0_<id>".

    Args:
        resource: "TPU"; or "bundle", a resource of which Ray adds 1000 to each bundle.
        group_id: Ray's id of the placement group: 36 hexadecimal digits.
        bundle: number of the bundle.

    Raises:
        InvalidError: the resource has no name, or the id is not valid.
    """
    named, group = _c.to_text(resource, "resource"), _c.to_text(group_id, "group_id")
    return _c.take_text(call(lib.quoit_ray_dup_bundle_resource, named, group, _c.to_int(bundle, "bundle", _c.UINT32)))


def group_resource(resource: str, group_id: str) -> str:
    """Returns Ray's name for the share of a node's resource that any bundle of a group can use: "TPU_group_<id>".

    Args:
        resource: "TPU"; or "bundle", a resource of which Ray adds 1000 to each bundle.
        group_id: Ray's id of the placement group: 36 hexadecimal digits.

    Raises:
        InvalidError: like `bundle_resource`.
    """
    named, group = _c.to_text(resource, "resource"), _c.to_text(group_id, "group_id")
    return _c.take_text(call(lib.quoit_ray_dup_group_resource, named, group))
