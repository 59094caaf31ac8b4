# SPDX-License-Identifier: Apache-2.0
"""Converts the arguments of `slice_placement_group` to a request for the ledger, and to bundles of Ray on its hosts.

A bundle is pinned to a host if its label selector matches only that host.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .. import _c, catalogue, errors
from ..groups import Group, GroupSlice, placement_key
from ..ledger import Ledger
from ..ray_rules.arithmetic import resource_per_chip
from ..ray_rules.slices import SliceGroup
from ..ray_rules.slices import slice_placement_group as ray_slice_group
from ..requests import Request, Strategy
from ..snapshots import Snapshot
from . import cluster


@dataclasses.dataclass(frozen=True, eq=False)
class Shape:
    """The slices that a call requests, and the bundles on them. Shapes are compared by identity."""

    rules: SliceGroup
    """The group that Ray's helper would request with the same arguments."""
    arguments: Mapping[str, Any]
    """The arguments as JSON values, from which another driver can make the same shape."""
    selectors: Mapping[str, str]
    """The labels that every host must have, without the slice's name."""
    named: tuple[str, ...]
    """The slices that were requested by name; empty: any slices."""

    @functools.cached_property
    def bundles_per_host(self) -> int:
        """The number of bundles on each host."""
        return self.rules.num_bundles // self.rules.num_hosts

    @functools.cached_property
    def bundle(self) -> Mapping[str, float]:
        """The resources of each bundle that tasks can use."""
        return self.rules.bundle_resources

    @functools.cached_property
    def accelerator(self) -> str:
        """The generation."""
        return self.rules.accelerator_version

    @functools.cached_property
    def request_arguments(self) -> Mapping[str, Any]:
        """The arguments of `Request`."""
        rules = self.rules
        return {
            "accelerator": self.accelerator,
            "topology": rules.topology,
            "slices": rules.num_slices,
            "chips_per_host": rules.chips_per_host,
            "selectors": self.selectors or None,
            "named": self.named,
        }

    @functools.cached_property
    def default_name(self) -> str:
        """The name of the groups if the caller gives none."""
        return f"{self.rules.accelerator_version}-{self.rules.topology}"

    @property
    def description(self) -> str:
        """A description for error messages."""
        slices = "1 slice" if self.rules.num_slices == 1 else f"{self.rules.num_slices} slices"
        return f"{slices} of {self.rules.accelerator_version} {self.rules.topology}"

    def request(
        self,
        name: str,
        key: str | None = None,
        owner: str | None = None,
        excluded: Collection[str] = (),
        slices: int | None = None,
    ) -> Request:
        """Returns the request for the ledger. `slices`, if given, replaces the shape's number of slices."""
        if key is None and slices is None and not excluded:
            return _cached_request(self, owner).renamed(name)
        request_arguments = self.request_arguments if slices is None else {**self.request_arguments, "slices": slices}
        return Request(name, **request_arguments, excluded=excluded, key=key, owner=owner)


@functools.lru_cache(maxsize=64)
def _cached_request(shape: Shape, owner: str | None) -> Request:
    """Returns a cached request with a name that does not matter. To rename a copy costs less than a new request."""
    return Request("cached", **shape.request_arguments, owner=owner)


def check_shape(arguments: Mapping[str, Any]) -> Shape:
    """Checks arguments of Ray's slice_placement_group() like Ray, and returns their shape.

    Raises:
        InvalidError: Ray would refuse them, or would accept them but never place such a group.
        TypeError: an argument has another type.
    """
    factor = arguments["tpu_resource_per_chip"]
    if factor is None:
        factor = _tpu_per_chip(cluster.tpu_per_chip_text())
    whole = {**arguments, "tpu_resource_per_chip": factor}
    if whole["resources_per_bundle"] is None and whole["bundle_label_selector"] is None:
        # Jobs often repeat a request, so the shape is cached. Equal values of different types, such as 1 and True, need
        # different shapes, so the types are part of the key.
        try:
            values = tuple(whole.values())
            return _cached_shape(tuple(whole), values, tuple(map(type, values)))
        except TypeError:  # a value that cannot be hashed has a wrong type; _shape_of() refuses it
            pass
    return _shape_of(whole)


def resize_shape(shape: Shape, num_slices: int) -> Shape:
    """Returns the shape with another number of slices.

    Raises:
        InvalidError: the number is below 1, or the shape names its slices.
    """
    if num_slices < 1:
        raise errors.InvalidError(f"num_slices '{num_slices}': expected at least 1")
    selectors = shape.arguments["bundle_label_selector"]
    if shape.named and num_slices != shape.rules.num_slices:
        raise errors.InvalidError(
            f"num_slices '{num_slices}': expected {shape.rules.num_slices}, "
            "the number of slices that bundle_label_selector names"
        )
    if selectors is not None:
        # The selectors of all slices are equal, so those of the first slice are repeated.
        selectors = list(selectors[: shape.rules.bundles_per_slice]) * num_slices
    return check_shape({**shape.arguments, "num_slices": num_slices, "bundle_label_selector": selectors})


_tpu_per_chip = functools.lru_cache(maxsize=8)(resource_per_chip)


@functools.lru_cache(maxsize=64)
def _cached_shape(names: tuple[str, ...], values: tuple[Any, ...], types: tuple[type, ...]) -> Shape:
    return _shape_of(dict(zip(names, values)))


_NUMBERS = "num_slices", "chips_per_vm", "tpu_resource_per_chip"


def _shape_of(arguments: Mapping[str, Any]) -> Shape:
    rules = ray_slice_group(**arguments)
    if rules.num_slices < 1:
        raise errors.InvalidError(f"num_slices '{rules.num_slices}': expected at least 1")
    _check_bundles(rules, arguments["strategy"])
    selectors, named = _split_selectors(rules, list(arguments["bundle_label_selector"] or ()))
    # Messages and records use the normalized values.
    plain = json.loads(json.dumps(arguments, default=_to_number))
    numbers = {name: int(plain[name]) for name in _NUMBERS if plain[name] is not None}
    return Shape(rules, {**plain, **numbers}, selectors, named)


def _to_number(value: object) -> int | float | bool:
    with contextlib.suppress(TypeError):
        return _c.to_bool(value, "arguments")
    with contextlib.suppress(TypeError):
        return _c.to_int(value, "arguments")
    return _c.to_float(value, "arguments")


def _check_bundles(rules: SliceGroup, strategy: str) -> None:
    """Raises if Ray could never place the bundles on the slices."""
    if strategy not in Strategy.__members__:
        raise errors.InvalidError(f"strategy '{strategy}': expected one of {', '.join(Strategy.__members__)}")
    tpu = rules.bundle_resources["TPU"]
    if tpu > rules.devices_per_host:
        raise errors.InvalidError(
            f"resources_per_bundle['TPU'] '{tpu:g}': expected at most {rules.devices_per_host}, the TPU of a host"
        )
    if rules.num_bundles % rules.num_hosts:
        raise errors.InvalidError(
            f"resources_per_bundle['TPU'] '{tpu:g}': expected a divisor of {rules.devices_per_host}, the TPU of a host"
        )
    if strategy == "STRICT_PACK" and rules.num_hosts > 1:
        raise errors.InvalidError(
            f"strategy 'STRICT_PACK': expected another strategy for bundles on {rules.num_hosts} hosts"
        )
    if strategy == "STRICT_SPREAD" and rules.num_bundles > rules.num_hosts:
        raise errors.InvalidError(
            f"strategy 'STRICT_SPREAD': expected another strategy for {rules.num_bundles} bundles on "
            f"{rules.num_hosts} hosts"
        )


def _split_selectors(rules: SliceGroup, given: Sequence[Mapping[str, str]]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Splits the selectors of the bundles into the labels that all bundles require, and the requested slice names."""
    if not given:
        return {}, ()
    named: list[str] = []
    others: list[dict[str, str]] = []
    for index in range(rules.num_bundles):
        labels = {**given[index], **{k: v for k, v in rules.bundle_labels(index).items() if v is not None}}
        name = labels.pop(cluster.SLICE_NAME, None)
        if labels.get(cluster.WORKER_ID) == str(index % rules.bundles_per_slice * rules.num_hosts // rules.num_bundles):
            del labels[cluster.WORKER_ID]
        if index % rules.bundles_per_slice == 0 and name is not None:
            named.append(name)
        others.append(labels)
    if any(labels != others[0] for labels in others):
        raise errors.InvalidError(
            "bundle_label_selector: expected the same labels for all bundles, except the slice name"
        )
    if named and len(set(named)) != rules.num_slices:
        raise errors.InvalidError(
            f"bundle_label_selector: expected the names of {rules.num_slices} slices or no names, "
            f"found {len(set(named))}"
        )
    return others[0], tuple(named)


def list_foreign_slices(accelerator: str, snapshot: Snapshot, source: str) -> list[str]:
    """Returns the slices of a generation that belong to other sources, whose hosts are not in this Ray cluster."""
    if all(one.name == source for one in snapshot.sources):
        return []
    return [
        one.full_name
        for one in snapshot.slices
        if one.pool.source != source and one.accelerator and ray_version(one.accelerator) == accelerator
    ]


@functools.cache
def ray_version(accelerator: str) -> str:
    """Returns Ray's name of a generation, such as "v5litepod" for "v5e"."""
    return catalogue.lookup_generation(accelerator).ray_version or accelerator


# --- pins ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SlicePins:
    """The bundles of one slice, with the selectors that pin them to hosts. The hosts are in the order of worker ids."""

    name: str
    """The name of the slice."""
    nodes: tuple[Mapping[str, Any], ...]
    """Ray's rows of the slice's hosts, by worker id."""
    bundles: tuple[Mapping[str, float], ...]
    selectors: tuple[Mapping[str, str], ...]

    @functools.cached_property
    def shortage(self) -> str | None:
        """A message if a host is too small for its bundles even when nothing runs on it; else None."""
        per_host = len(self.bundles) // len(self.nodes)
        for index, node in enumerate(self.nodes):
            for name, wanted in _sum(self.bundles[index * per_host : (index + 1) * per_host]).items():
                has = node["Resources"].get(name, 0.0)
                if wanted > has:
                    host = f"host '{node['NodeName']}' of slice '{self.name}'"
                    return f"{host} has {has:g} {name}, but its bundles need {wanted:g}"
        return None


class NodeGoneError(Exception):
    """The ledger has allocated a node that is not alive in Ray's list. The message is the node's identity or name."""


def pin_bundles(shape: Shape, group: Group, quoit: Ledger, listing: cluster.Listing) -> list[SlicePins]:
    """Returns the pins of a group, slice by slice in quoit's order.

    The pins are cached in the listing, because jobs often repeat a request.

    Raises:
        NodeGoneError: the ledger has a host that the listing lacks, because the ledger's state is older.
    """
    cache_key = shape, placement_key(group)
    pins: list[SlicePins] | None = listing.pins.get(cache_key)
    if pins is None:
        snapshot = quoit.snapshot()
        pins = listing.pins[cache_key] = [_pin_slice(shape, one, snapshot, listing) for one in group.slices]
    return pins


def _pin_slice(shape: Shape, one: GroupSlice, snapshot: Snapshot, listing: cluster.Listing) -> SlicePins:
    bundles, selectors = [], []
    hosts = _hosts(one, snapshot, listing)
    for host in hosts:
        for index in range(shape.bundles_per_host):
            bundles.append({**shape.bundle, **host.heads} if index == 0 else shape.bundle)
            selectors.append({**shape.selectors, **host.selector})
    return SlicePins(one.name, tuple(host.node for host in hosts), tuple(bundles), tuple(selectors))


@dataclasses.dataclass(frozen=True)
class _Host:
    """A host of an allocated slice."""

    node: Mapping[str, Any]
    """Ray's row of the node."""
    selector: Mapping[str, str]
    """A selector that matches only this node."""
    heads: Mapping[str, float]
    """The head resources of the node. The first bundle takes them, because Ray's helper then avoids the slice."""


def _hosts(one: GroupSlice, snapshot: Snapshot, listing: cluster.Listing) -> list[_Host]:
    """Returns the hosts of a slice by worker id."""
    nodes = []
    for worker in one.workers:
        row = snapshot.node_by_id(worker.node_id)
        node = None if row is None else listing.by_id.get(row.identity)
        if node is None:
            raise NodeGoneError(worker.full_name if row is None else row.identity)
        nodes.append(node)
    return [_Host(node, _selector(node, listing), dict.fromkeys(_head_resources(node), 1.0)) for node in nodes]


def _selector(node: Mapping[str, Any], listing: cluster.Listing) -> dict[str, str]:
    """Returns a selector that matches only the node.

    The selector uses the slice name and the worker id, so that it also matches a later replacement of the node. If the
    node lacks these labels, or if another node has the same labels, the selector uses the node id.
    """
    name, worker_id = cluster.slice_position(node)
    if name is None or worker_id is None or listing.n_nodes_at[name, worker_id] != 1:
        return {cluster.NODE_ID: node["NodeID"]}
    return {cluster.SLICE_NAME: name, cluster.WORKER_ID: worker_id}


def _head_resources(node: Mapping[str, Any]) -> list[str]:
    return [
        name
        for name, amount in node["Resources"].items()
        if name.startswith("TPU-") and name.endswith("-head") and amount >= 1
    ]


def _sum(bundles: Iterable[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = {}
    for bundle in bundles:
        for name, amount in bundle.items():
            total[name] = total.get(name, 0.0) + amount
    return total
