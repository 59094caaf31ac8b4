# SPDX-License-Identifier: Apache-2.0
"""Where Ray 2.60's control plane would put a placement group, asked without Ray.

A `Cluster` is what that control plane knows of its nodes, a `PlacementGroup` is what placement_group() is called with,
and `PlacementGroup.place` gives Ray's answer. Where several nodes are equally good Ray takes any, another one from call
to call; here it is the one that was added first. `PlacementGroup.is_determined` says whether that matters, and
`PlacementGroup.is_possible` whether an answer of Ray's is one of those it could have given.

What Ray answers though it should not is answered here too: negative amounts count backwards, 0.00005 of anything is
nothing. Refused is what ends Ray's process or is undefined in it: NaN, infinity, amounts of 922337203685477.5808 and
up, sums of that size where Ray adds bundles up, and a resource without a name.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Callable

from .. import _c, errors
from .._c import call, ffi, lib
from .._turns import Turns
from ..requests import Strategy
from ._resources import items


class PlacementResult(_c.Code):
    """What Ray says of a placement group."""

    SUCCESS = 0
    """Every bundle has a node."""
    FAILED = 1
    """Not now: Ray tries again."""
    INFEASIBLE = 2
    """Not with these nodes: Ray waits for another to join."""


@dataclasses.dataclass(frozen=True)
class Placement:
    """An answer of Ray's control plane."""

    result: PlacementResult
    nodes: tuple[str, ...] | None
    """The id of a node for each bundle; None without success."""


class _Whether(_c.Code):
    """An answer that may be out of reach, as C says it."""

    NO = 0
    YES = 1
    UNKNOWN = 2


def _whether(slot: Any) -> bool | None:
    return {_Whether.NO: False, _Whether.YES: True}.get(_Whether(slot[0]))


# --- the cluster --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class ClusterNode(_c.WithMappings):
    """A node that is alive and not draining; Ray looks at no other."""

    id: str
    """Ray's id of the node, or any other text by which groups may name it."""
    total: Mapping[str, float]
    """What it has of each resource, in Ray's units, cut to ten-thousandths as Ray cuts them: 0.57 is 0.5699."""
    available: Mapping[str, float] | None = None
    """What of it is free; 0 of what is not in it. None: all is."""
    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Any texts: Ray's control plane does not check them."""


class Cluster(_c.Unsent):
    """The nodes that may be used. Of those that are equally good the one that was added first is taken.

    Any number of threads may use one; calls wait for each other. In the child of a fork(2) they raise `FailedError`.

    Args:
        nodes: those that it has at first.

    Raises:
        InvalidError: two nodes have one id, or as `set_resource`.
        TypeError: an argument has another type, as everywhere here.
    """

    __slots__ = ("_handle", "_numbers", "_turns")

    def __init__(self, nodes: Iterable[ClusterNode] = ()) -> None:
        self._handle = _c.owned(lib.quoit_ray_cluster_new(), lib.quoit_ray_cluster_free)
        self._turns = Turns("cluster")
        self._numbers: dict[str, int] = {}
        for node in _c.elements(nodes, "nodes", "ClusterNode"):
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
        """The ids of its nodes, in the order in which they were added."""
        with self._turns.take():
            numbers = range(lib.quoit_ray_cluster_get_n_nodes(self._handle))
            return tuple(_c.text(lib.quoit_ray_cluster_get_node_id(self._handle, number)) for number in numbers)

    def add_node(self, id: str) -> None:
        """Adds a node that has nothing yet.

        Raises:
            InvalidError: there is a node of that id already.
        """
        named = _c.to_text(id, "id")
        name = _c.exact(id)
        with self._turns.take():
            number = lib.quoit_ray_cluster_get_n_nodes(self._handle)
            call(lib.quoit_ray_cluster_add_node, self._handle, named)
            while _c.text(lib.quoit_ray_cluster_get_node_id(self._handle, number)) != name:
                number += 1  # a signal's handler has added others before it
            self._numbers[name] = number

    def set_resource(self, node: str, resource: str, total: float, available: float) -> None:
        """States an amount as a report of the node would.

        A resource that is never stated is 0; one whose name begins with "node:__internal_implicit_resource_" is 1.

        Args:
            node: id of a node.
            resource: "CPU", "TPU", "TPU-v6e-16-head".
            total: what the node has, in Ray's units, which are cut to ten-thousandths as Ray cuts them.
            available: what of it is free.

        Raises:
            InvalidError: there is no such node, an amount is negative, not finite, or 922337203685477.5808 and up, or
                the resource has no name.
        """
        amounts = _c.to_float(total, "total"), _c.to_float(available, "available")
        self._set_resource(lib.quoit_ray_cluster_set_resource, node, resource, *amounts)

    def set_resource_e4(self, node: str, resource: str, total_e4: int, available_e4: int) -> None:
        """`set_resource` in ten-thousandths, without Ray's doubles.

        Raises:
            InvalidError: there is no such node, an amount is negative, or the resource has no name.
        """
        amounts = _c.to_int(total_e4, "total_e4"), _c.to_int(available_e4, "available_e4")
        self._set_resource(lib.quoit_ray_cluster_set_resource_e4, node, resource, *amounts)

    def _set_resource(self, function: Callable[..., Any], node: str, resource: str, *amounts: float) -> None:
        number, named = self._number(node), _c.to_text(resource, "resource")
        try:
            with self._turns.take():
                call(function, self._handle, number, named, *amounts)
        except errors.InvalidError as error:
            raise errors.InvalidError(f"node {_c.shown(node)}: {_c.shown(resource)}: {error}") from None

    def available_e4(self, node: str, resource: str) -> int:
        """The ten-thousandths that are free, after what `take` took.

        Raises:
            InvalidError: there is no such node.
        """
        number, named = self._number(node), _c.to_text(resource, "resource")
        with self._turns.take():
            return int(lib.quoit_ray_cluster_get_available_e4(self._handle, number, named))

    def set_label(self, node: str, key: str, value: str) -> None:
        """Gives a node a label, or another value for it. Texts are not checked: Ray's control plane does not either.

        Raises:
            InvalidError: there is no such node.
        """
        number, named, text = self._number(node), _c.to_text(key, "key"), _c.to_text(value, f"labels[{_c.shown(key)}]")
        with self._turns.take():
            lib.quoit_ray_cluster_set_label(self._handle, number, named, text)

    def take(self, group: PlacementGroup, nodes: Sequence[str]) -> None:
        """Lowers what is free as Ray's control plane does when it has placed a group: at once, and never below 0.

        Args:
            group: a group that was placed.
            nodes: the id of a node for each bundle.

        Raises:
            InvalidError: an id is no node's, there are not as many as bundles, or as `PlacementGroup.place`.
        """
        self._move(lib.quoit_ray_cluster_take, group, nodes)

    def give_back(self, group: PlacementGroup, nodes: Sequence[str]) -> None:
        """Raises what is free as the reports of the nodes do after a group was removed: never above the total.

        Args:
            group: a group that was placed.
            nodes: the id of a node for each bundle.

        Raises:
            InvalidError: as `take`.
        """
        self._move(lib.quoit_ray_cluster_give_back, group, nodes)

    def _move(self, function: Callable[..., Any], group: PlacementGroup, nodes: Sequence[str]) -> None:
        handle = _group_of(group)
        numbers = self._numbers_of(group, nodes)
        with self._turns.take():
            call(function, self._handle, handle, numbers)

    def _number(self, node: str) -> int:
        _c.to_text(node, "node")
        number = self._numbers.get(_c.exact(node))
        if number is None:
            raise errors.InvalidError(f"node {_c.shown(node)}: expected the id of a node of the cluster")
        return number

    def _numbers_of(self, group: PlacementGroup, nodes: Sequence[str]) -> Any:
        numbers = [self._number(node) for node in _c.elements(nodes, "nodes", "str")]
        if len(numbers) != group.num_bundles:
            raise errors.InvalidError(f"nodes: expected {group.num_bundles}, one for each bundle, found {len(numbers)}")
        return ffi.new("uint32_t[]", numbers)

    def _ids(self, numbers: Any, n_numbers: int) -> tuple[str, ...]:
        with self._turns.take():
            ids = [lib.quoit_ray_cluster_get_node_id(self._handle, number) for number in ffi.unpack(numbers, n_numbers)]
            return tuple(map(_c.text, ids))


# --- the group ----------------------------------------------------------------------------------------------------


class PlacementGroup(_c.Sealed):
    """What a placement group asks for. Immutable; any number of threads may ask about one.

    Any number is kept as an amount, as Python keeps it, and any text: `check` and `place` say what they think of it.

    Args:
        bundles: what each bundle asks for, ``[{"CPU": 1, "TPU": 4}]``, in Ray's units.
        strategy: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD; None is PACK, as Ray's.
        topology_strategy: labels with how the bundles stand to their values; "ray.io/node-id" stands for the nodes
            themselves. With another label than that all bundles are placed on nodes that share one value of it,
            whatever is said: Ray's control plane knows no other. The strategy inside is that of "ray.io/node-id", else `strategy`.
        bundle_label_selector: for each bundle the selectors that its node must satisfy: "v", "!v", "in(a,b)",
            "!in(a,b)"; other text is read as Ray's control plane reads it.
        soft_target_node_id: the node that STRICT_PACK prefers; one that is not in the cluster, or full, is as good as
            none.
        lifetime: "detached" or None; it is only checked.
        bound: where those bundles stand that have their nodes already, when this group is what was lost of another: a
            value of the topology label. Ray puts lost bundles nowhere else.
        excluded: ids of the nodes where such bundles stand: STRICT_SPREAD takes no such node, the other strategies do
            not care. One that is not in the cluster is not missed.

    Raises:
        InvalidError: a strategy is none of Ray's, or there are not as many selectors as bundles.
        TypeError: an argument has another type, as everywhere here.
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
        handle = _c.owned(lib.quoit_ray_group_new(), lib.quoit_ray_group_free)
        if strategy is not None:
            lib.quoit_ray_group_set_strategy(handle, _strategy(strategy, "strategy"))
        for key, inside in () if topology_strategy is None else items(topology_strategy, "topology_strategy", "str"):
            named = _c.to_text(key, "topology_strategy")
            place = f"topology_strategy[{_c.shown(key)}]"
            lib.quoit_ray_group_add_topology(handle, named, _strategy(inside, place))
        lib.quoit_ray_group_set_soft_target(handle, _c.to_text_or_null(soft_target_node_id, "soft_target_node_id"))
        for index, bundle in enumerate(_c.elements(bundles, "bundles", "mapping")):
            _add_bundle(handle, bundle, f"bundles[{index}]")
        if bundle_label_selector is not None:
            _add_selectors(handle, list(_c.elements(bundle_label_selector, "bundle_label_selector", "mapping")))
        lib.quoit_ray_group_set_lifetime(handle, _c.to_text_or_null(lifetime, "lifetime"))
        lib.quoit_ray_group_bind(handle, _c.to_text_or_null(bound, "bound"))
        for index, node in enumerate(_c.elements(excluded, "excluded", "str")):
            lib.quoit_ray_group_exclude(handle, _c.to_text(node, f"excluded[{index}]"))
        object.__setattr__(self, "_handle", handle)

    def __repr__(self) -> str:
        return f"<quoit.ray_rules.PlacementGroup of {self.num_bundles} bundles>"

    @property
    def num_bundles(self) -> int:
        """How many bundles it asks for."""
        return int(lib.quoit_ray_group_get_n_bundles(self._handle))

    def check(self) -> None:
        """The checks of placement_group() itself, before Ray's control plane hears of the group.

        What they let through may be refused by `place`, and what they refuse may be placed.

        Raises:
            InvalidError: placement_group() raises; the first check that fails has the word.
        """
        call(lib.quoit_ray_group_check, self._handle)

    def place(self, cluster: Cluster) -> Placement:
        """Where Ray's control plane would put the bundles, all or nothing. The cluster is not changed.

        Raises:
            InvalidError: amounts are not finite or 922337203685477.5808 and up, sums are of that size where Ray adds
                bundles up, a resource has no name or is called "bundle", there are several topology labels, or it is
                what memory should not hold: more than 16,777,216 amounts, bundles times resources, or 33,554,432, nodes
                times resources, or than 67,108,864 times 64 nodes for bundles with different selectors.
        """
        n_bundles = self.num_bundles
        result, numbers = ffi.new("QuoitRayResult *"), ffi.new("uint32_t[]", n_bundles)
        self._ask(lib.quoit_ray_group_place, cluster, result, numbers)
        answer = PlacementResult(result[0])
        placed = answer is PlacementResult.SUCCESS
        return Placement(answer, cluster._ids(numbers, n_bundles) if placed else None)

    def is_determined(self, cluster: Cluster, budget: int = 1000) -> bool | None:
        """Whether Ray gives the answer of `place` each time; None where the budget ended before it was known.

        Ray chooses at will among nodes whose scores are equal, and among values of a topology label. Nodes that have
        and may the same are tried once.

        Args:
            cluster: is not changed.
            budget: how many placements may be tried to find another answer: 1,000 takes some milliseconds.

        Raises:
            InvalidError: as `place`.
        """
        determined = ffi.new("QuoitRayWhether *")
        self._ask(lib.quoit_ray_group_is_determined, cluster, _c.to_int(budget, "budget", _c.UINT64), determined)
        return _whether(determined)

    def is_possible(self, cluster: Cluster, answer: Placement, budget: int = 1000) -> bool | None:
        """Whether Ray could answer so; None where the budget ended before it was known, which no success leaves open.

        Args:
            cluster: is not changed.
            answer: of Ray's.
            budget: how many placements may be tried where it is no success: 1,000 takes some milliseconds.

        Raises:
            InvalidError: as `place`, or an id of the answer is no node's, or there are not as many as bundles.
        """
        if not isinstance(answer, Placement):
            raise TypeError(f"answer: expected a Placement, not {type(answer).__name__}")
        result = _c.to_member(PlacementResult, answer.result, "answer.result")
        _cluster(cluster)
        placed = answer.result is PlacementResult.SUCCESS
        numbers = cluster._numbers_of(self, answer.nodes or ()) if placed else _c.NULL
        possible = ffi.new("QuoitRayWhether *")
        tries = _c.to_int(budget, "budget", _c.UINT64)
        self._ask(lib.quoit_ray_group_is_possible, cluster, result, numbers, tries, possible)
        return _whether(possible)

    def _ask(self, function: Callable[..., Any], cluster: Cluster, *arguments: Any) -> None:
        with _cluster(cluster)._turns.take():
            call(function, self._handle, cluster._handle, *arguments)

    def bundle_order(self) -> tuple[int, ...]:
        """The bundle that PACK, SPREAD and STRICT_SPREAD place first, then the next.

        The largest bundle first: by GPU, then by custom resources in the order of `resource_id`, then by
        object_store_memory, memory and CPU. Of more than 16 bundles equal ones come out as libstdc++'s sort leaves
        them.

        Raises:
            InvalidError: amounts, and numbers of them, that `place` refuses.
        """
        order = ffi.new("uint32_t[]", self.num_bundles)
        call(lib.quoit_ray_bundle_order, self._handle, order)
        return tuple(order)


def _cluster(cluster: object) -> Cluster:
    if not isinstance(cluster, Cluster):
        raise TypeError(f"cluster: expected a Cluster, not {type(cluster).__name__}")
    return cluster


def _group_of(group: object) -> Any:
    if not isinstance(group, PlacementGroup):
        raise TypeError(f"group: expected a PlacementGroup, not {type(group).__name__}")
    return group._handle


def _strategy(strategy: Strategy | str, what: str) -> int:
    if isinstance(strategy, str):
        return int(strategy_parse(strategy))
    member = _c.to_member(Strategy, strategy, what)
    strategy_get_name(strategy)
    return member


def _add_bundle(handle: Any, bundle: Mapping[str, float], what: str) -> None:
    number = lib.quoit_ray_group_add_bundle(handle)
    for resource, amount in items(bundle, what, "number"):
        named, wanted = _c.to_text(resource, what), _c.to_float(amount, f"{what}[{_c.shown(resource)}]")
        lib.quoit_ray_group_set_amount(handle, number, named, wanted)


def _add_selectors(handle: Any, selectors: Sequence[Mapping[str, str]]) -> None:
    n_bundles = lib.quoit_ray_group_get_n_bundles(handle)
    if len(selectors) != n_bundles:
        found = f"bundle_label_selector: expected {n_bundles}, one for each bundle, found {len(selectors)}"
        raise errors.InvalidError(found)
    for number, selector in enumerate(selectors):
        what = f"bundle_label_selector[{number}]"
        for key, value in items(selector, what, "str"):
            named, asked = _c.to_text(key, what), _c.to_text(value, f"{what}[{_c.shown(key)}]")
            lib.quoit_ray_group_set_selector(handle, number, named, asked)


# --- names --------------------------------------------------------------------------------------------------------


def strategy_parse(name: str) -> Strategy:
    """The strategy that Ray means by its name.

    Args:
        name: "PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD".

    Raises:
        InvalidError: any other text, as Ray does for "pack".
    """
    strategy = ffi.new("QuoitStrategy *")
    call(lib.quoit_ray_strategy_parse, _c.to_text(name, "name"), strategy)
    return Strategy(strategy[0])


def strategy_get_name(strategy: Strategy) -> str:
    """The name that `strategy_parse` reads.

    Raises:
        InvalidError: it is a strategy of a newer libquoit than this one.
    """
    name = lib.quoit_ray_strategy_get_name(_c.to_member(Strategy, strategy, "strategy"))
    if name == _c.NULL:
        raise errors.InvalidError(f"strategy '{int(strategy)}': expected PACK, SPREAD, STRICT_PACK or STRICT_SPREAD")
    return _c.text(name)


def resource_id(resource: str) -> int:
    """The number by which Ray orders resources, as a signed one of 64 bits.

    It is 0 to 3 for CPU, memory, GPU and object_store_memory, else libstdc++'s hash of the name.
    """
    return int(lib.quoit_ray_resource_id(_c.to_text(resource, "resource")))


def bundle_resource(resource: str, group_id: str, bundle: int) -> str:
    """What Ray calls the part of a resource on a node that belongs to one bundle: "TPU_group_0_<id>".

    Args:
        resource: "TPU"; "bundle" is what Ray adds to each bundle, 1000 of it.
        group_id: Ray's id of the placement group: 36 hexadecimal digits.
        bundle: number of the bundle.

    Raises:
        InvalidError: the resource has no name, or the id is none.
    """
    named, group = _c.to_text(resource, "resource"), _c.to_text(group_id, "group_id")
    return _c.taken_text(call(lib.quoit_ray_dup_bundle_resource, named, group, _c.to_int(bundle, "bundle", _c.UINT32)))


def group_resource(resource: str, group_id: str) -> str:
    """What Ray calls the part of a resource on a node that belongs to any bundle of the group: "TPU_group_<id>".

    Args:
        resource: "TPU"; "bundle" is what Ray adds to each bundle, 1000 of it.
        group_id: Ray's id of the placement group: 36 hexadecimal digits.

    Raises:
        InvalidError: as `bundle_resource`.
    """
    named, group = _c.to_text(resource, "resource"), _c.to_text(group_id, "group_id")
    return _c.taken_text(call(lib.quoit_ray_dup_group_resource, named, group))
