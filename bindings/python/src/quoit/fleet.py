# SPDX-License-Identifier: Apache-2.0
"""The contents of a snapshot: sources, pools, classes, slices, nodes with their resources, and owners.

Amounts are exact, as decimal text: "4", "0.5", "17179869184".
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping, Sequence
from typing import Any

from . import _c
from ._c import lib
from ._views import Row, Rows
from .groups import Group, wrap_group
from .imports import SourceKind


class NodeState(_c.Code):
    """The state of a node."""

    ALIVE = 0
    DRAINING = 1
    """Running work continues, but no new group gets the node."""
    DEAD = 2


class NodeAssumptions(enum.IntFlag):
    """The facts about a node that its source does not state, so that quoit assumed them."""

    WORKER_ID = 1
    """The worker id. quoit assumed that worker ids follow the order of the nodes' addresses."""
    HOST_NAME = 2
    """The host name. It contains the cluster's name, and KubeRay chooses the random end of that name."""


class _AmountPart(enum.IntEnum):
    """The fields of `Amounts`, in the same order."""

    TOTAL = 0
    AVAILABLE = 1
    DRAINING = 2
    HELD = 3
    RESERVED = 4
    EXTERNAL = 5
    DOWN = 6
    LOST = 7


class SliceFlags(enum.IntFlag):
    """Conditions of a slice; several can apply."""

    INTACT = 1
    """Every host is there once, alive or draining, and the hosts agree with each other. Else the slice is degraded."""
    IDLE = 2
    """No node is in use."""
    PARTLY = 4
    """Some nodes are in use, or a node is partly in use."""
    FULL = 8
    """Every node is completely in use."""
    ALLOCATED = 16
    """A part or all of it is allocated to a group, confirmed or not."""
    DRAINING = 32
    """A node is draining."""
    FREE = 64
    """Intact, idle and not draining: it can be reserved now."""


class Fault(enum.IntFlag):
    """Contradictions among the alive nodes of a slice."""

    DUPLICATE_WORKER_ID = 1
    """Two nodes have the same worker id."""
    NO_WORKER_ID = 2
    """A node states no worker id."""
    TOO_MANY_HOSTS = 4
    """A worker id is larger than the topology allows."""
    CHIPS = 8
    """The number of chips differs from the other nodes or from the topology."""
    TOPOLOGY = 16
    """There are two topologies, or one that is not in the catalogue."""
    POD_TYPE = 32
    """There are two pod types, or one that does not match the topology."""


@dataclasses.dataclass(frozen=True)
class Source:
    """A source of nodes."""

    name: str
    kind: SourceKind


@dataclasses.dataclass(frozen=True)
class Pool:
    """A node pool of GKE, or a worker group of KubeRay."""

    name: str
    source: str
    """The name of the pool's source."""
    n_slices: int
    n_nodes: int
    """Dead nodes included."""
    n_pods: int
    """The number of worker pods that a manifest wants; 0 for other sources and for the pool of a head."""
    cpu: str
    """The sum of the pods' CPUs, which ``kubectl get raycluster`` prints too: requests, or limits without a request."""
    memory: str
    """The sum of the pods' memory in bytes, computed like `cpu`."""


@dataclasses.dataclass(frozen=True)
class Amounts:
    """A total, and how much of it is in each of seven states.

    Each unit is in exactly one state, so that the states add up to the total.
    """

    total: str
    available: str
    """Unused, on an alive node."""
    draining: str
    """Unused, on a draining node."""
    held: str
    """Allocated to a group that is not confirmed."""
    reserved: str
    """Allocated to a confirmed group, or to a group of a source."""
    external: str
    """In external use."""
    down: str
    """On a dead node, and not allocated."""
    lost: str
    """On a dead node, and allocated to a group."""


@dataclasses.dataclass(frozen=True)
class Resource:
    """The sum of a resource over all nodes, including dead nodes. Resources that Ray derives have sums too."""

    name: str
    amounts: Amounts


@dataclasses.dataclass(frozen=True)
class NodeResource:
    """A resource of a node: one that its source states, or one that Ray derives, such as the name of the slice."""

    name: str
    amounts: Amounts


@dataclasses.dataclass(frozen=True)
class NodeUser:
    """A group that uses a node, or part of it."""

    group: Group
    share: str | None
    """What the group's bundles use of the node, in words: "chips 0,1: CPU 1, TPU 2". None: the whole node."""
    chips: tuple[int, ...]
    """The chips of the node that the group uses, completely or in part."""


@dataclasses.dataclass(frozen=True)
class SliceClass(_c.WithFrozenMappings):
    """The slices of one generation, topology and number of chips per host."""

    accelerator: str
    """The name of the generation in the catalogue, such as "v5e" or "tpu7x"."""
    topology: str
    chips_per_host: int
    n_hosts: int
    """Hosts of each slice."""
    n_slices: int
    counts: Mapping[SliceFlags, int]
    """The number of slices with each condition: ``counts[SliceFlags.FREE]`` slices can be reserved now."""


@dataclasses.dataclass(frozen=True)
class Owner:
    """A registered owner (`Ledger.set_owner`)."""

    name: str
    registered_ms: int
    """When the owner was registered, in milliseconds since 1970 UTC."""
    until_ms: int | None
    """When the lease ends, in milliseconds since 1970 UTC; None without a lease."""
    n_groups: int
    """The number of the owner's groups."""


class WindowScope(_c.Code):
    """What the target of a window names."""

    NODE = 1
    SLICE = 2
    POOL = 3
    ZONE = 4


@dataclasses.dataclass(frozen=True)
class Window:
    """A window of the calendar (`Ledger.add_window`): its nodes are not available from one time until another."""

    name: str
    scope: WindowScope
    """What `target` names."""
    target: str
    """The name of the node, slice, pool or zone, as it was given."""
    from_ms: int
    """When the window begins, in milliseconds since 1970 UTC."""
    until_ms: int
    """When the window ends, in milliseconds since 1970 UTC."""


@dataclasses.dataclass(frozen=True)
class Quota:
    """A quota: how many chips some groups may use together (`Ledger.set_quota`)."""

    name: str
    owner: str | None
    """The quota is for the groups of this owner; None: for those with `label`."""
    label: str | None
    """The quota is for the groups with this label: "team=nlp". None: for those of `owner`."""
    accelerator: str | None
    """The name of the TPU generation whose chips count, such as "v5e"; None: all chips."""
    topology: str | None
    """The topology of the slices whose chips count; None: any."""
    chips: int
    """The nominal chips."""
    max_chips: int | None
    """The most chips, with borrowed ones; None: no limit but that of the cohort."""
    cohort: str | None
    """The quotas of one cohort and one class lend each other what they do not use; None: none."""
    used: str
    """The chips in use, as exact decimal text."""
    borrowed: str
    """The part of the used chips that is over the nominal ones, as exact decimal text."""


class Slice(Row):
    """A slice of a snapshot. The object is immutable, and reads its attributes on access."""

    __slots__ = ()
    _FACTS = (
        "full_name", "accelerator", "topology", "chips_per_host", "n_hosts", "flags", "faults", "n_missing", "problem",
    )  # fmt: skip

    def __repr__(self) -> str:
        return f"<quoit.Slice {self.full_name!r} {self.flags!r}>"

    @property
    def name(self) -> str:
        """The short name; another pool can have the same one."""
        return _c.text(lib.quoit_snapshot_get_slice_name(self._handle, self._index))

    @property
    def full_name(self) -> str:
        """source/pool/name."""
        return _c.take_text(lib.quoit_snapshot_dup_slice_full_name(self._handle, self._index))

    @property
    def pool(self) -> Pool:
        """The pool of the slice."""
        return read_pool(self._handle, lib.quoit_snapshot_get_slice_pool(self._handle, self._index))

    @property
    def _class(self) -> SliceClass | None:
        index = int(lib.quoit_snapshot_get_slice_class(self._handle, self._index))
        return None if index < 0 else read_class(self._handle, index)

    @property
    def accelerator(self) -> str | None:
        """The name of the generation ("v6e", "v5e"); None if the nodes match no class of the catalogue."""
        return None if self._class is None else self._class.accelerator

    @property
    def topology(self) -> str | None:
        """The shape in chips, x first; None if unknown."""
        return None if self._class is None else self._class.topology

    @property
    def chips_per_host(self) -> int | None:
        """The number of chips per host; None if unknown."""
        return None if self._class is None else self._class.chips_per_host

    @property
    def n_hosts(self) -> int | None:
        """The number of hosts of the topology; None if unknown."""
        return None if self._class is None else self._class.n_hosts

    @property
    def flags(self) -> SliceFlags:
        """The conditions that apply to the slice."""
        return SliceFlags(lib.quoit_snapshot_get_slice_flags(self._handle, self._index))

    @property
    def faults(self) -> Fault:
        """The contradictions among the alive nodes."""
        return Fault(lib.quoit_snapshot_get_slice_faults(self._handle, self._index))

    @property
    def n_missing(self) -> int:
        """The number of workers that the topology needs and that have no alive node."""
        return int(lib.quoit_snapshot_get_slice_n_missing(self._handle, self._index))

    @property
    def problem(self) -> str | None:
        """Why the slice is degraded, in words; None if it is intact."""
        return _c.take_text(lib.quoit_snapshot_dup_slice_problem(self._handle, self._index)) or None

    @property
    def nodes(self) -> Sequence[Node]:
        """The nodes of the slice by worker id, dead nodes included."""
        handle = self._handle
        first = lib.quoit_snapshot_get_slice_first_node(handle, self._index)
        numbers = range(first, first + lib.quoit_snapshot_get_slice_n_nodes(handle, self._index))
        return Rows(lambda index: Node(handle, index), numbers)


class Node(Row):
    """A node of a snapshot. The object is immutable, and reads its attributes on access."""

    __slots__ = ()
    _FACTS = (
        "id", "full_name", "identity", "address", "state", "worker_id", "chips", "is_ray_head", "is_external",
        "assumptions", "sources", "slice", "resources", "users",
    )  # fmt: skip

    def __repr__(self) -> str:
        return f"<quoit.Node {self.full_name!r} {self.state.name}>"

    @property
    def id(self) -> int:
        """The durable id. It is the same in all snapshots of a ledger, and no other node ever gets it."""
        return int(lib.quoit_snapshot_get_node_id(self._handle, self._index))

    @property
    def name(self) -> str:
        """The short name; another pool can have the same one."""
        return _c.text(lib.quoit_snapshot_get_node_name(self._handle, self._index))

    @property
    def full_name(self) -> str:
        """source/pool/name."""
        return _c.take_text(lib.quoit_snapshot_dup_node_full_name(self._handle, self._index))

    @property
    def sources(self) -> tuple[str, ...]:
        """The sources that claim the node: first the source of its pool, then the joined sources."""
        claim = _c.list_until_null(lambda at: lib.quoit_snapshot_get_node_source(self._handle, self._index, at))
        return tuple(_c.text(name) for name in claim)

    @property
    def identity(self) -> str:
        """The Ray node id, or the node's name if the source has no ids."""
        return _c.take_text(lib.quoit_snapshot_dup_node_identity(self._handle, self._index))

    @property
    def address(self) -> str | None:
        """The address; None if the source has none."""
        return _c.text_or_none(lib.quoit_snapshot_get_node_address(self._handle, self._index))

    @property
    def state(self) -> NodeState:
        """Whether the node is alive, draining or dead."""
        return NodeState(lib.quoit_snapshot_get_node_state(self._handle, self._index))

    @property
    def state_reason(self) -> str:
        """Why the source reports this state, such as "NotReady"; "" if it states no reason, or if a user has set it."""
        return _c.text(lib.quoit_snapshot_get_node_reason(self._handle, self._index))

    @property
    def pool(self) -> Pool:
        """The pool of the node."""
        return read_pool(self._handle, lib.quoit_snapshot_get_node_pool(self._handle, self._index))

    @property
    def slice(self) -> Slice | None:
        """The slice of the node; None if it is in no slice."""
        index = lib.quoit_snapshot_get_node_slice(self._handle, self._index)
        return None if index < 0 else Slice(self._handle, index)

    @property
    def worker_id(self) -> int | None:
        """The worker id in the slice; None if the node states none."""
        worker_id = lib.quoit_snapshot_get_node_worker_id(self._handle, self._index)
        return None if worker_id < 0 else int(worker_id)

    @property
    def chips(self) -> int:
        """The number of TPU chips."""
        return int(lib.quoit_snapshot_get_node_chip_amount(self._handle, self._index, _AmountPart.TOTAL).e4) // 10000

    @property
    def chip_amounts(self) -> Amounts:
        """How many chips are in each state. A chip that several bundles share counts in parts."""
        at = self._handle, self._index
        return Amounts(*(_c.amount_text(lib.quoit_snapshot_get_node_chip_amount(*at, part)) for part in _AmountPart))

    @property
    def is_ray_head(self) -> bool:
        """Whether Ray's head runs on the node. The head can run on a node with TPUs."""
        return bool(lib.quoit_snapshot_is_node_ray_head(self._handle, self._index))

    @property
    def is_external(self) -> bool:
        """Whether external use takes the whole node."""
        return bool(lib.quoit_snapshot_is_node_external(self._handle, self._index))

    @property
    def external_chips(self) -> tuple[int, ...]:
        """The chips in external use, completely or in part."""
        return _c.list_bits(lib.quoit_snapshot_get_node_external_chips(self._handle, self._index))

    @property
    def assumptions(self) -> NodeAssumptions:
        """The facts that quoit assumed because the source did not state them; 0 if it stated everything."""
        return NodeAssumptions(lib.quoit_snapshot_get_node_assumptions(self._handle, self._index))

    @property
    def users(self) -> tuple[NodeUser, ...]:
        """The groups that use the node or part of it."""
        return tuple(self._user(user) for user in range(lib.quoit_snapshot_get_node_n_users(self._handle, self._index)))

    def _user(self, user: int) -> NodeUser:
        at = self._handle, self._index, user
        share = _c.take_text_or_none(lib.quoit_snapshot_dup_node_user_share(*at))
        chips = _c.list_bits(lib.quoit_snapshot_get_node_user_chips(*at))
        group = _c.call(lib.quoit_snapshot_lookup_group_by_id, self._handle, lib.quoit_snapshot_get_node_user_id(*at))
        return NodeUser(wrap_group(group), share, chips)

    @property
    def resources(self) -> tuple[NodeResource, ...]:
        """The resources that the node states and those that Ray derives."""
        n_resources = lib.quoit_snapshot_get_node_n_resources(self._handle, self._index)
        return tuple(self._resource(resource) for resource in range(n_resources))

    def _resource(self, resource: int) -> NodeResource:
        at = self._handle, self._index, resource
        return NodeResource(
            _c.text(lib.quoit_snapshot_get_node_resource_name(*at)),
            Amounts(*(_c.amount_text(lib.quoit_snapshot_get_node_amount(*at, part)) for part in _AmountPart)),
        )

    def label(self, key: str) -> str | None:
        """Returns the value of a label; None if the node does not have the label."""
        value = lib.quoit_snapshot_dup_node_label(self._handle, self._index, _c.to_text(key, "key"))
        return _c.take_text_or_none(value)


def read_source(handle: Any, index: int) -> Source:
    """Reads a source. Here and in the functions below, there must be an element with the index."""
    return Source(
        _c.text(lib.quoit_snapshot_get_source_name(handle, index)),
        SourceKind(lib.quoit_snapshot_get_source_kind(handle, index)),
    )


def read_pool(handle: Any, index: int) -> Pool:
    """Reads a pool."""
    return Pool(
        _c.text(lib.quoit_snapshot_get_pool_name(handle, index)),
        read_source(handle, lib.quoit_snapshot_get_pool_source(handle, index)).name,
        int(lib.quoit_snapshot_get_pool_n_slices(handle, index)),
        int(lib.quoit_snapshot_get_pool_n_nodes(handle, index)),
        int(lib.quoit_snapshot_get_pool_n_pods(handle, index)),
        _c.take_text(lib.quoit_snapshot_dup_pool_cpu(handle, index)),
        _c.take_text(lib.quoit_snapshot_dup_pool_memory(handle, index)),
    )


def read_resource(handle: Any, index: int) -> Resource:
    """Reads a sum over the nodes."""
    return Resource(
        _c.text(lib.quoit_snapshot_get_resource_name(handle, index)),
        Amounts(*(_c.take_text(lib.quoit_snapshot_dup_resource_sum(handle, index, part)) for part in _AmountPart)),
    )


def read_class(handle: Any, index: int) -> SliceClass:
    """Reads a class of slices."""
    return SliceClass(
        _c.text(lib.quoit_snapshot_get_class_accelerator(handle, index)),
        _c.take_text(lib.quoit_snapshot_dup_class_topology(handle, index)),
        int(lib.quoit_snapshot_get_class_chips_per_host(handle, index)),
        int(lib.quoit_snapshot_get_class_n_hosts(handle, index)),
        int(lib.quoit_snapshot_count_slices_of_class(handle, index, 0)),
        {flag: int(lib.quoit_snapshot_count_slices_of_class(handle, index, flag)) for flag in SliceFlags},
    )


def read_quota(handle: Any, index: int) -> Quota:
    """Reads a quota."""
    label = _c.text_or_none(lib.quoit_snapshot_get_quota_label(handle, index))
    value = _c.text(lib.quoit_snapshot_get_quota_value(handle, index))
    max_chips = int(lib.quoit_snapshot_get_quota_max_chips(handle, index))
    return Quota(
        _c.text(lib.quoit_snapshot_get_quota_name(handle, index)),
        value if label is None else None,
        None if label is None else f"{label}={value}",
        _c.text_or_none(lib.quoit_snapshot_get_quota_accelerator(handle, index)),
        _c.text_or_none(lib.quoit_snapshot_get_quota_topology(handle, index)),
        int(lib.quoit_snapshot_get_quota_nominal_chips(handle, index)),
        None if max_chips < 0 else max_chips,
        _c.text_or_none(lib.quoit_snapshot_get_quota_cohort(handle, index)),
        _c.amount_text(lib.quoit_snapshot_get_quota_used(handle, index)),
        _c.amount_text(lib.quoit_snapshot_get_quota_borrowed(handle, index)),
    )


def read_owner(handle: Any, index: int) -> Owner:
    """Reads an owner."""
    return Owner(
        _c.text(lib.quoit_snapshot_get_owner_name(handle, index)),
        int(lib.quoit_snapshot_get_owner_registered_ms(handle, index)),
        lib.quoit_snapshot_get_owner_until_ms(handle, index) or None,
        int(lib.quoit_snapshot_count_owner_groups(handle, lib.quoit_snapshot_get_owner_name(handle, index))),
    )


def read_window(handle: Any, index: int) -> Window:
    """Reads a window of the calendar."""
    return Window(
        _c.text(lib.quoit_snapshot_get_window_name(handle, index)),
        WindowScope(lib.quoit_snapshot_get_window_scope(handle, index)),
        _c.text(lib.quoit_snapshot_get_window_target(handle, index)),
        int(lib.quoit_snapshot_get_window_from_ms(handle, index)),
        int(lib.quoit_snapshot_get_window_until_ms(handle, index)),
    )
