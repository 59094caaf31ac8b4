# SPDX-License-Identifier: Apache-2.0
"""Inputs of imports, and their results."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _c, errors
from ._c import call, lib

if TYPE_CHECKING:
    from .nodes import NodeFacts


class SourceKind(_c.Code):
    """The format of a source's text."""

    FLEET = 1
    """Fleet text: "v6e 4x4 x2; v5p 2x2x4 dead=0.3"."""
    RAYCLUSTER = 2
    """A manifest: the nodes that KubeRay would create for it."""
    RAY_NODES = 3
    """``ray list nodes`` as JSON or YAML, or the JSON of ray.nodes()."""
    K8S_NODES = 4
    """``kubectl get nodes -o json``, or ``-o yaml``."""


class ChangeKind(_c.Code):
    """The type of one line of the difference between the old and the new content of a source."""

    ADDED = 1
    REMOVED = 2
    CHANGED = 3
    """A node has another place or address, or other labels or resources."""
    STATE = 4
    POOL = 5
    LOST = 6
    """A node that a group uses is missing. It stays in the fleet as a dead node while the group has it."""
    GROUP = 7
    """A group of the source is new, gone or different."""
    EXTERNAL = 8
    """The external use of a node grew or shrank."""
    GROUP_SLICE = 9
    """A slice of a group is lost, leaving, or whole again."""


class _ListKind(enum.IntEnum):
    """An additional list from the same cluster as the nodes."""

    RAY_GROUPS = 1
    RAY_AVAILABLE = 2
    K8S_PODS = 3


@dataclasses.dataclass(frozen=True)
class Change:
    """One line of the difference."""

    kind: ChangeKind
    name: str
    """The name of the node, pool or group."""
    detail: str | None
    """The change in words, such as "alive -> dead"; None if `kind` already describes it completely."""
    group: str | None
    """NAME@ID of the group that has the node; None if no group has it."""


@dataclasses.dataclass(frozen=True)
class Import:
    """The result of an import."""

    source: str
    is_new: bool
    """Whether the source is new in the ledger. If so, `changes` is empty."""
    n_nodes: int
    """The number of nodes that the source claims."""
    changes: tuple[Change, ...]
    warnings: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Input:
    """The content of a source, for `Ledger.import_input`, `Ledger.sync_input` and `Fork.sync_input`."""

    kind: SourceKind
    text: str | bytes | None = None
    """The text of the source; None if `nodes` has its nodes."""
    source: str | None = None
    """The source's name. None: metadata.name of a manifest, else "ray", "k8s" or "fleet"."""
    variables: Mapping[str, str] | None = None
    """The values of ${NAME} in a manifest."""
    ray_groups: str | bytes | None = None
    """``ray list placement-groups --detail``, or the JSON of placement_group_table(), of the same moment."""
    ray_available: str | bytes | None = None
    """The JSON of available_resources_per_node(), of the same moment."""
    k8s_pods: str | bytes | None = None
    """``kubectl get pods -A -o json``, or ``-o yaml``, of the same moment as the Kubernetes nodes.

    From the pods, the import reads the worker ids of the nodes, and the addresses by which Ray lists the nodes.
    """
    topology: str | None = None
    """The topology of slices without a topology label (Ray before 2.50), if their pod type has several topologies."""
    tpu_per_chip: int | None = None
    """RAY_TPU_RESOURCE_PER_CHIP of the cluster; None: 1."""
    join: str | None = None
    """The source to join: nodes with the same pool, slice and worker id are the same machines."""
    complete: bool = False
    """Whether a list of exactly 100 rows is complete. ``ray list`` cuts longer lists after 100 rows by default."""
    nodes: Iterable[NodeFacts | Mapping[str, Any]] | None = None
    """The nodes of a source of kind RAY_NODES, in place of a text. Each call that uses the input iterates over them."""

    def _open(self) -> Any:
        kind = _c.to_member(SourceKind, self.kind, "kind")
        if self.nodes is None:
            text = _c.to_document(self.text, "text")
            handle = _c.own_handle(lib.quoit_input_new(kind, text, len(text)), lib.quoit_input_free)
        elif self.text is not None or kind != SourceKind.RAY_NODES:
            raise errors.InvalidError("nodes: expected the kind RAY_NODES, and no text")
        else:
            from .nodes import add_nodes

            handle = _c.own_handle(lib.quoit_input_new_nodes(), lib.quoit_input_free)
            add_nodes(handle, self.nodes)
        if self.source is not None:
            lib.quoit_input_set_source(handle, _c.to_text(self.source, "source"))
        if self.variables is not None:
            lib.quoit_input_set_variables(handle, _c.to_pairs(self.variables, "variables"))
        for what, value, kind_of_list in (
            ("ray_groups", self.ray_groups, _ListKind.RAY_GROUPS),
            ("ray_available", self.ray_available, _ListKind.RAY_AVAILABLE),
            ("k8s_pods", self.k8s_pods, _ListKind.K8S_PODS),
        ):
            if value is not None:
                document = _c.to_document(value, what)
                lib.quoit_input_set_list(handle, kind_of_list, document, len(document))
        if self.topology is not None:
            lib.quoit_input_set_topology(handle, _c.to_text(self.topology, "topology"))
        if self.tpu_per_chip is not None:
            call(lib.quoit_input_set_tpu_per_chip, handle, _c.to_int(self.tpu_per_chip, "tpu_per_chip"))
        if self.join is not None:
            lib.quoit_input_set_join(handle, _c.to_text(self.join, "join"))
        if not isinstance(self.complete, bool):
            raise TypeError(f"complete: expected a bool, not {type(self.complete).__name__}")
        if self.complete:
            lib.quoit_input_set_complete(handle)
        return handle


def open_input(given: object) -> Any:
    """Converts an input to a C object, which copies all texts."""
    if not isinstance(given, Input):
        raise TypeError(f"input: expected a quoit.Input, not {type(given).__name__}")
    return given._open()


def open_update(
    nodes: Iterable[NodeFacts | Mapping[str, Any]],
    remove: Iterable[str],
    source: str | None,
    join: str | None,
    tpu_per_chip: int | None,
) -> Any:
    """Makes the C object of an update of a few nodes."""
    from .nodes import remove_nodes

    given = Input(SourceKind.RAY_NODES, nodes=nodes, source=source, join=join, tpu_per_chip=tpu_per_chip)
    handle = given._open()
    remove_nodes(handle, remove)
    return handle


def take_import(pointer: Any) -> Import:
    """Converts the result of an import, and frees it."""
    try:
        return Import(
            _c.text(lib.quoit_import_get_source(pointer)),
            bool(lib.quoit_import_is_new(pointer)),
            int(lib.quoit_import_get_n_nodes(pointer)),
            tuple(_change(pointer, index) for index in range(lib.quoit_import_get_n_changes(pointer))),
            tuple(
                _c.text(lib.quoit_import_get_warning(pointer, index))
                for index in range(lib.quoit_import_get_n_warnings(pointer))
            ),
        )
    finally:
        lib.quoit_import_free(pointer)


def _change(pointer: Any, index: int) -> Change:
    return Change(
        ChangeKind(lib.quoit_import_get_change_kind(pointer, index)),
        _c.text(lib.quoit_import_get_change_name(pointer, index)),
        _c.text(lib.quoit_import_get_change_detail(pointer, index)) or None,
        _c.text(lib.quoit_import_get_change_group(pointer, index)) or None,
    )
