# SPDX-License-Identifier: Apache-2.0
"""Converts the arguments of `slice_placement_group` to a request for quoit and to bundles for Ray, pinned to hosts."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from .. import _c, errors
from ..groups import Group, GroupSlice, whereabouts
from ..ledger import Ledger
from ..ray_rules.arithmetic import resource_per_chip
from ..ray_rules.slices import SliceGroup
from ..ray_rules.slices import slice_placement_group as group_of_rules
from ..requests import Request
from ..snapshots import Snapshot
from . import cluster

STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")


@dataclasses.dataclass(frozen=True, eq=False)
class Shape:
    """The slices that a call requests. Shapes are compared by identity."""

    rules: SliceGroup
    """Ray's helper for the same arguments."""
    arguments: Mapping[str, Any]
    """The arguments as plain values, from which another driver can make the same shape."""
    selectors: Mapping[str, str]
    """The required labels of every host, other than the slice's name."""
    named: tuple[str, ...]
    """The slices that were requested by name; empty: any."""

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
    def asked(self) -> Mapping[str, Any]:
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
    def title(self) -> str:
        """The default name of its groups."""
        return f"{self.rules.accelerator_version}-{self.rules.topology}"

    @property
    def words(self) -> str:
        """A description for error messages."""
        slices = "1 slice" if self.rules.num_slices == 1 else f"{self.rules.num_slices} slices"
        return f"{slices} of {self.rules.accelerator_version} {self.rules.topology}"

    def request(
        self,
        name: str,
        key: str | None = None,
        owner: str = "",
        excluded: Collection[str] = (),
        slices: int | None = None,
    ) -> Request:
        """Returns the request for quoit; `slices` overrides the number of slices."""
        if key is None and slices is None and not excluded:
            return _model(self, owner).renamed(name)
        asked = self.asked if slices is None else {**self.asked, "slices": slices}
        return Request(name, **asked, excluded=excluded, key=key, owner=owner)


@functools.lru_cache(maxsize=64)
def _model(shape: Shape, owner: str) -> Request:
    """Returns a cached request, because a copy of it is cheaper than a new one."""
    return Request("a model", **shape.asked, owner=owner)


def shape_of(arguments: Mapping[str, Any]) -> Shape:
    """Returns the shape for arguments of Ray's slice_placement_group(), after Ray's checks.

    Raises:
        InvalidError: Ray would refuse them, or would accept them but never place such a group.
        TypeError: an argument has another type.
    """
    factor = arguments["tpu_resource_per_chip"]
    if factor is None:
        factor = _factor(cluster.tpu_per_chip_text())
    whole = {**arguments, "tpu_resource_per_chip": factor}
    if whole["resources_per_bundle"] is None and whole["bundle_label_selector"] is None:
        # Jobs often repeat a request, so cache the shape. 4, 4.0 and True are equal as keys, so add their types.
        try:
            values = tuple(whole.values())
            return _known_shape(tuple(whole), values, tuple(map(type, values)))
        except TypeError:  # values that cannot be hashed have a wrong type, which is refused below
            pass
    return _shape_of(whole)


_factor = functools.lru_cache(maxsize=8)(resource_per_chip)


@functools.lru_cache(maxsize=64)
def _known_shape(names: tuple[str, ...], values: tuple[Any, ...], types: tuple[type, ...]) -> Shape:
    return _shape_of(dict(zip(names, values)))


_NUMBERS = "num_slices", "chips_per_vm", "tpu_resource_per_chip"


def _shape_of(arguments: Mapping[str, Any]) -> Shape:
    rules = group_of_rules(**arguments)
    if rules.num_slices < 1:
        raise errors.InvalidError(f"num_slices '{rules.num_slices}': expected at least 1")
    _check_bundles(rules, arguments["strategy"])
    selectors, named = _split(rules, list(arguments["bundle_label_selector"] or ()))
    # Store the normalised values, for later messages and for records.
    plain = json.loads(json.dumps(arguments, default=_plain))
    numbers = {name: int(plain[name]) for name in _NUMBERS if plain[name] is not None}
    return Shape(rules, {**plain, **numbers}, selectors, named)


def _plain(value: object) -> int | float | bool:
    with contextlib.suppress(TypeError):
        return _c.to_bool(value, "arguments")
    with contextlib.suppress(TypeError):
        return _c.to_int(value, "arguments")
    return _c.to_float(value, "arguments")


def _check_bundles(rules: SliceGroup, strategy: str) -> None:
    """Raises if Ray would hold slices for bundles that it can never place."""
    if strategy not in STRATEGIES:
        raise errors.InvalidError(f"strategy '{strategy}': expected one of {', '.join(STRATEGIES)}")
    tpu = rules.bundle_resources["TPU"]
    if tpu > rules.devices_per_host:
        raise errors.InvalidError(
            f"resources_per_bundle['TPU'] '{tpu:g}': expected at most {rules.devices_per_host}, a host's"
        )
    if rules.num_bundles % rules.num_hosts:
        raise errors.InvalidError(
            f"resources_per_bundle['TPU'] '{tpu:g}': expected a divisor of {rules.devices_per_host}, a host's"
        )
    if strategy == "STRICT_PACK" and rules.num_hosts > 1:
        raise errors.InvalidError(f"strategy 'STRICT_PACK': expected another for bundles on {rules.num_hosts} hosts")
    if strategy == "STRICT_SPREAD" and rules.num_bundles > rules.num_hosts:
        raise errors.InvalidError(
            f"strategy 'STRICT_SPREAD': expected another for {rules.num_bundles} bundles on {rules.num_hosts} hosts"
        )


def _split(rules: SliceGroup, given: Sequence[Mapping[str, str]]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Returns the common labels of all bundles, and the slice names in the selectors."""
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
            "bundle_label_selector: expected the same labels for all bundles, besides the slice's name"
        )
    if named and len(set(named)) != rules.num_slices:
        raise errors.InvalidError(
            f"bundle_label_selector: expected names of {rules.num_slices} slices or none, found {len(set(named))}"
        )
    return others[0], tuple(named)


def foreign(accelerator: str, snapshot: Snapshot, source: str) -> list[str]:
    """Returns the slices of a generation that belong to other sources, whose hosts this cluster does not have."""
    if all(one.name == source for one in snapshot.sources):
        return []
    return [one.full_name for one in snapshot.slices if one.pool.source != source and one.accelerator == accelerator]


# --- pins ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SlicePins:
    """The bundles of one slice, each pinned to the host with its worker id: bundle i is on worker i."""

    name: str
    """The name of the slice."""
    nodes: tuple[Mapping[str, Any], ...]
    """Ray's rows of its hosts, by worker id."""
    bundles: tuple[Mapping[str, float], ...]
    selectors: tuple[Mapping[str, str], ...]

    @functools.cached_property
    def shortage(self) -> str | None:
        """The reason if a host is too small for its bundles, even when idle; else None."""
        per_host = len(self.bundles) // len(self.nodes)
        for index, node in enumerate(self.nodes):
            for name, wanted in _sum(self.bundles[index * per_host : (index + 1) * per_host]).items():
                has = node["Resources"].get(name, 0.0)
                if wanted > has:
                    host = f"host '{node['NodeName']}' of slice '{self.name}'"
                    return f"{host} has {has:g} {name}, and its bundles want {wanted:g}"
        return None


class NodeIsGone(Exception):
    """A node that the ledger allocated is not alive in Ray's list."""


def pin(shape: Shape, group: Group, quoit: Ledger, listing: cluster.Listing) -> list[SlicePins]:
    """Returns the pins of a group, slice by slice in quoit's order.

    They are cached in the listing, because jobs repeat requests.

    Raises `NodeIsGone` if the ledger's state is older than the listing.
    """
    where = shape, whereabouts(group)
    pins: list[SlicePins] | None = listing.pins.get(where)
    if pins is None:
        snapshot = quoit.snapshot()
        pins = listing.pins[where] = [_pin_slice(shape, one, snapshot, listing) for one in group.slices]
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
    node: Mapping[str, Any]
    """Ray's row of the node."""
    selector: Mapping[str, str]
    """A selector that matches only this node."""
    heads: Mapping[str, float]
    """The resources by which Ray's helper reserves the slice: when they are taken, it does not use the slice."""


def _hosts(one: GroupSlice, snapshot: Snapshot, listing: cluster.Listing) -> list[_Host]:
    """Returns the hosts of a slice by worker id."""
    names = {worker.name for worker in one.workers}
    rows = snapshot.lookup_slice(one.name).nodes
    ids = [row.identity for row in rows if row.name in names or row.full_name in names]
    try:
        nodes = [listing.by_id[identity] for identity in ids]
    except KeyError as error:
        raise NodeIsGone(str(error)) from None
    return [_Host(node, _selector(node, listing), dict.fromkeys(_heads(node), 1.0)) for node in nodes]


def _selector(node: Mapping[str, Any], listing: cluster.Listing) -> dict[str, str]:
    """Returns a selector for the node, by slice and worker id, which also matches a replacement of the host.

    If Ray has no place for the host, or several hosts at this place, the selector uses the node id.
    """
    name, worker_id = cluster.place_of(node)
    if name is None or worker_id is None or listing.n_at[name, worker_id] != 1:
        return {cluster.NODE_ID: node["NodeID"]}
    return {cluster.SLICE_NAME: name, cluster.WORKER_ID: worker_id}


def _heads(node: Mapping[str, Any]) -> list[str]:
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
