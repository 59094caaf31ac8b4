# SPDX-License-Identifier: Apache-2.0
"""What a snapshot of a fleet is made of: sources, pools, classes, slices, nodes and their resources, owners.

Amounts are exact, and stand as decimal text: "4", "0.5", "17179869184".
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from . import _c
from ._c import lib
from ._views import Row, Rows
from .groups import Group, owned_group
from .imports import SourceKind


class NodeState(_c.Code):
    """Whether a node can be had."""

    ALIVE = 0
    DRAINING = 1
    """What runs may go on; nothing new comes."""
    DEAD = 2


class NodeAssumptions(enum.IntFlag):
    """What a node's source did not say, so that it was assumed."""

    WORKER_ID = 1
    """Its place in the slice, by the order of addresses."""
    HOST_NAME = 2
    """The cluster's name, of which KubeRay chooses the end, and so the host's."""


class SliceFlags(enum.IntFlag):
    """Conditions of a slice; any number of them may hold."""

    INTACT = 1
    """Every worker is there once, alive or draining, and nothing contradicts; else degraded."""
    IDLE = 2
    """No node is used."""
    PARTLY = 4
    """Some nodes are used, or one is used in part."""
    FULL = 8
    """Every node is used whole."""
    HELD = 16
    """A group has part of it."""
    DRAINING = 32
    """A node is draining."""
    FREE = 64
    """Intact, idle, not draining: can be reserved now."""


class Fault(enum.IntFlag):
    """Contradictions among the alive nodes of a slice."""

    WORKER_TWICE = 1
    """Two nodes with one worker id."""
    NO_WORKER_ID = 2
    """A node that states none."""
    TOO_MANY_HOSTS = 4
    """A worker id that the topology has no host for."""
    CHIPS = 8
    """Chips that disagree with the others or with the topology."""
    TOPOLOGY = 16
    """Two topologies, or one that is not in the catalogue."""
    POD_TYPE = 32
    """Two pod types, or one that is not the topology's."""


@dataclasses.dataclass(frozen=True)
class Source:
    """Where nodes came from."""

    name: str
    kind: SourceKind


@dataclasses.dataclass(frozen=True)
class Pool:
    """A node pool of GKE, or a worker group of KubeRay."""

    name: str
    source: str
    """The name of its source."""
    n_slices: int
    n_nodes: int
    """Dead ones included."""
    n_pods: int
    """The worker pods that a manifest desires; 0 for other sources and for a head."""
    cpu: str
    """CPUs that its pods request, or else limit: what ``kubectl get raycluster`` adds up."""
    memory: str
    """Bytes that its pods request, or else limit, likewise."""


@dataclasses.dataclass(frozen=True)
class Resource:
    """What the nodes that are not dead have of a resource, added up; also of what Ray derives, as the heads."""

    name: str
    total: str
    left: str
    """What nobody has."""


@dataclasses.dataclass(frozen=True)
class NodeResource:
    """What a node has of a resource that it states, or that Ray derives, as the slice's name."""

    name: str
    total: str
    left: str
    """What nobody has."""
    external: str
    """What something that no group explains has. What is neither left nor had so is what groups have."""


@dataclasses.dataclass(frozen=True)
class NodeUser:
    """A group that has a node, or part of it."""

    group: Group
    share: str | None
    """What its bundles have of the node, in words: "chips 0,1: CPU 1, TPU 2". None: it has the node whole."""
    chips: tuple[int, ...]
    """Which chips of the node that is, wholly or in part."""


@dataclasses.dataclass(frozen=True)
class SliceClass(_c.WithMappings):
    """All slices of one generation, topology and number of chips a host."""

    accelerator: str
    """The generation by Ray's name."""
    topology: str
    chips_per_host: int
    n_hosts: int
    """Hosts of each slice."""
    n_slices: int
    counts: Mapping[SliceFlags, int]
    """How many of its slices have each condition: ``counts[SliceFlags.FREE]`` can be reserved now."""


@dataclasses.dataclass(frozen=True)
class Owner:
    """An owner that was set (`Ledger.set_owner`)."""

    name: str
    since_ms: int
    """When it was set, in milliseconds since 1970 UTC."""
    until_ms: int | None
    """When its lease ends, in milliseconds since 1970 UTC; None: it has none."""
    n_groups: int
    """How many groups are held in its name."""


class Slice(Row):
    """A slice of a snapshot. Immutable; what it says is read when it is asked for."""

    __slots__ = ()
    _FACTS = (
        "full_name", "accelerator", "topology", "chips_per_host", "n_hosts", "flags", "faults", "n_missing", "problem",
    )  # fmt: skip

    def __repr__(self) -> str:
        return f"<quoit.Slice {self.full_name!r} {self.flags!r}>"

    @property
    def name(self) -> str:
        """The short name, which another pool may have too."""
        return _c.text(lib.quoit_snapshot_get_slice_name(self._handle, self._index))

    @property
    def full_name(self) -> str:
        """source/pool/name."""
        return _c.taken_text(lib.quoit_snapshot_dup_slice_full_name(self._handle, self._index))

    @property
    def pool(self) -> Pool:
        """The pool that it is in."""
        return pool_of(self._handle, lib.quoit_snapshot_get_slice_pool(self._handle, self._index))

    @property
    def accelerator(self) -> str | None:
        """The generation by Ray's name ("v6e", "v5litepod"); None where its nodes name no class of the catalogue."""
        return _c.text(lib.quoit_snapshot_get_slice_accelerator(self._handle, self._index)) or None

    @property
    def topology(self) -> str | None:
        """Its shape in chips, x first; None where it is not known."""
        return _c.taken_text(lib.quoit_snapshot_dup_slice_topology(self._handle, self._index)) or None

    @property
    def chips_per_host(self) -> int | None:
        """Chips of each host; None where it is not known."""
        return lib.quoit_snapshot_get_slice_chips_per_host(self._handle, self._index) or None

    @property
    def n_hosts(self) -> int | None:
        """The hosts that its topology has; None where it is not known."""
        return lib.quoit_snapshot_get_slice_n_hosts(self._handle, self._index) or None

    @property
    def flags(self) -> SliceFlags:
        """Its conditions."""
        return SliceFlags(lib.quoit_snapshot_get_slice_flags(self._handle, self._index))

    @property
    def faults(self) -> Fault:
        """The contradictions among its alive nodes."""
        return Fault(lib.quoit_snapshot_get_slice_faults(self._handle, self._index))

    @property
    def n_missing(self) -> int:
        """Workers of its topology that no alive node is."""
        return int(lib.quoit_snapshot_get_slice_n_missing(self._handle, self._index))

    @property
    def problem(self) -> str | None:
        """Why it is degraded, in words; None when it is intact."""
        return _c.taken_text(lib.quoit_snapshot_dup_slice_problem(self._handle, self._index)) or None

    @property
    def nodes(self) -> Sequence[Node]:
        """Its nodes by worker id, dead ones included."""
        handle = self._handle
        first = lib.quoit_snapshot_get_slice_first_node(handle, self._index)
        numbers = range(first, first + lib.quoit_snapshot_get_slice_n_nodes(handle, self._index))
        return Rows(lambda index: Node(handle, index), numbers)


class Node(Row):
    """A node of a snapshot. Immutable; what it says is read when it is asked for."""

    __slots__ = ()
    _FACTS = (
        "id", "full_name", "identity", "address", "state", "worker_id", "chips", "is_ray_head", "is_external", "assumptions",
        "sources", "slice", "resources", "users",
    )  # fmt: skip

    def __repr__(self) -> str:
        return f"<quoit.Node {self.full_name!r} {self.state.name}>"

    @property
    def id(self) -> int:
        """The durable id: the same in all snapshots of a ledger, and never used again."""
        return int(lib.quoit_snapshot_get_node_id(self._handle, self._index))

    @property
    def name(self) -> str:
        """The short name, which another pool can have too."""
        return _c.text(lib.quoit_snapshot_get_node_name(self._handle, self._index))

    @property
    def full_name(self) -> str:
        """source/pool/name."""
        return _c.taken_text(lib.quoit_snapshot_dup_node_full_name(self._handle, self._index))

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that claim it: first the one in whose pool it stands, then those that are joined with it."""
        claim = _c.count_until_null(lambda at: lib.quoit_snapshot_get_node_source(self._handle, self._index, at))
        return tuple(_c.text(name) for name in claim)

    @property
    def identity(self) -> str:
        """Its Ray node id, or its name where the source gives no id."""
        return _c.taken_text(lib.quoit_snapshot_dup_node_identity(self._handle, self._index))

    @property
    def address(self) -> str | None:
        """Its address; None where its source knows none."""
        return _c.text_or_none(lib.quoit_snapshot_get_node_address(self._handle, self._index))

    @property
    def state(self) -> NodeState:
        """Whether it is alive, draining or dead."""
        return NodeState(lib.quoit_snapshot_get_node_state(self._handle, self._index))

    @property
    def pool(self) -> Pool:
        """The pool that it is in."""
        return pool_of(self._handle, lib.quoit_snapshot_get_node_pool(self._handle, self._index))

    @property
    def slice(self) -> Slice | None:
        """The slice that it is in; None: in none."""
        index = lib.quoit_snapshot_get_node_slice(self._handle, self._index)
        return None if index < 0 else Slice(self._handle, index)

    @property
    def worker_id(self) -> int | None:
        """Its worker id in the slice; None: not stated."""
        worker_id = lib.quoit_snapshot_get_node_worker_id(self._handle, self._index)
        return None if worker_id < 0 else int(worker_id)

    @property
    def chips(self) -> int:
        """How many TPU chips it has."""
        return int(lib.quoit_snapshot_get_node_chips(self._handle, self._index))

    @property
    def is_ray_head(self) -> bool:
        """Whether Ray's head runs on it; a Ray head may be a TPU node."""
        return bool(lib.quoit_snapshot_is_node_ray_head(self._handle, self._index))

    @property
    def is_external(self) -> bool:
        """Whether something that is no group uses all of it."""
        return bool(lib.quoit_snapshot_is_node_external(self._handle, self._index))

    @property
    def external_chips(self) -> tuple[int, ...]:
        """Which of its chips something has that is no group, wholly or in part."""
        return _c.bits(lib.quoit_snapshot_get_node_external_chips(self._handle, self._index))

    @property
    def assumptions(self) -> NodeAssumptions:
        """What is said of it though its source did not state it; 0 where all of it was stated."""
        return NodeAssumptions(lib.quoit_snapshot_get_node_assumptions(self._handle, self._index))

    @property
    def users(self) -> tuple[NodeUser, ...]:
        """The groups that have it or part of it."""
        return tuple(self._user(user) for user in range(lib.quoit_snapshot_get_node_n_users(self._handle, self._index)))

    def _user(self, user: int) -> NodeUser:
        at = self._handle, self._index, user
        share = _c.taken_text_or_none(lib.quoit_snapshot_dup_node_user_share(*at))
        chips = _c.bits(lib.quoit_snapshot_get_node_user_chips(*at))
        return NodeUser(owned_group(lib.quoit_snapshot_dup_node_user(*at)), share, chips)

    @property
    def resources(self) -> tuple[NodeResource, ...]:
        """What it states, and what Ray derives of it."""
        n_resources = lib.quoit_snapshot_get_node_n_resources(self._handle, self._index)
        return tuple(self._resource(resource) for resource in range(n_resources))

    def _resource(self, resource: int) -> NodeResource:
        at = self._handle, self._index, resource
        return NodeResource(
            _c.text(lib.quoit_snapshot_get_node_resource_name(*at)),
            _c.taken_text(lib.quoit_snapshot_dup_node_resource_total(*at)),
            _c.taken_text(lib.quoit_snapshot_dup_node_resource_left(*at)),
            _c.taken_text(lib.quoit_snapshot_dup_node_resource_external(*at)),
        )

    def label(self, key: str) -> str | None:
        """The value of a label; None where it has none of that key."""
        value = lib.quoit_snapshot_dup_node_label(self._handle, self._index, _c.to_text(key, "key"))
        return _c.taken_text_or_none(value)


def source_of(handle: Any, index: int) -> Source:
    """A source of a snapshot, by C's number, which whoever calls has checked; so are all that follow."""
    return Source(
        _c.text(lib.quoit_snapshot_get_source_name(handle, index)),
        SourceKind(lib.quoit_snapshot_get_source_kind(handle, index)),
    )


def pool_of(handle: Any, index: int) -> Pool:
    """A pool of a snapshot."""
    return Pool(
        _c.text(lib.quoit_snapshot_get_pool_name(handle, index)),
        source_of(handle, lib.quoit_snapshot_get_pool_source(handle, index)).name,
        int(lib.quoit_snapshot_get_pool_n_slices(handle, index)),
        int(lib.quoit_snapshot_get_pool_n_nodes(handle, index)),
        int(lib.quoit_snapshot_get_pool_n_pods(handle, index)),
        _c.taken_text(lib.quoit_snapshot_dup_pool_cpu(handle, index)),
        _c.taken_text(lib.quoit_snapshot_dup_pool_memory(handle, index)),
    )


def resource_of(handle: Any, index: int) -> Resource:
    """A sum over the nodes of a snapshot."""
    return Resource(
        _c.text(lib.quoit_snapshot_get_resource_name(handle, index)),
        _c.taken_text(lib.quoit_snapshot_dup_resource_total(handle, index)),
        _c.taken_text(lib.quoit_snapshot_dup_resource_left(handle, index)),
    )


def class_of(handle: Any, index: int) -> SliceClass:
    """A class of slices of a snapshot."""
    return SliceClass(
        _c.text(lib.quoit_snapshot_get_class_accelerator(handle, index)),
        _c.taken_text(lib.quoit_snapshot_dup_class_topology(handle, index)),
        int(lib.quoit_snapshot_get_class_chips_per_host(handle, index)),
        int(lib.quoit_snapshot_get_class_n_hosts(handle, index)),
        int(lib.quoit_snapshot_get_class_n_slices(handle, index)),
        {flag: int(lib.quoit_snapshot_count_class(handle, index, flag)) for flag in SliceFlags},
    )


def owner_of(handle: Any, index: int) -> Owner:
    """An owner of a snapshot."""
    return Owner(
        _c.text(lib.quoit_snapshot_get_owner_name(handle, index)),
        int(lib.quoit_snapshot_get_owner_since_ms(handle, index)),
        lib.quoit_snapshot_get_owner_until_ms(handle, index) or None,
        int(lib.quoit_snapshot_count_owner_groups(handle, lib.quoit_snapshot_get_owner_name(handle, index))),
    )
