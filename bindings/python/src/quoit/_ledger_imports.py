# SPDX-License-Identifier: Apache-2.0
"""The verbs of a ledger that read sources of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _c
from ._c import call, lib
from ._ledger_verbs import LedgerVerbs
from .imports import Import, Input, SourceKind, open_input, open_update, take_import

if TYPE_CHECKING:
    from .nodes import NodeFacts


class ImportVerbs(LedgerVerbs):
    """Imports, synchronisations and updates of sources."""

    __slots__ = ()

    def import_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Makes the nodes of an input the nodes of its source.

        An import replaces what the source contained before. A second import of the same input changes nothing.

        Raises:
            InvalidError: the text breaks a rule of its format (the message has the place, the value and what was
                expected), or the files of the input are of different moments or clusters.
            ConflictError: a node that a group uses would be dropped or replaced (`sync_input` keeps the node), another
                source of the same kind claims one of the machines, or a source of another kind has the source's name.
            NotFoundError: `Input.join` names an unknown source.
        """
        return take_import(call(lib.quoit_ledger_import, self._open(), open_input(input), _c.clock(now_ms)))

    def sync_input(self, input: Input, *, now_ms: int | None = None) -> Import:
        """Like `import_input`, for a fleet that changes while groups hold parts of it.

        If the input lacks a node that a group uses, the node is lost: it stays in the fleet as a dead node while the
        group has it.

        Raises:
            InvalidError, ConflictError, NotFoundError: like `import_input`, except for lost nodes.
        """
        return take_import(call(lib.quoit_ledger_sync, self._open(), open_input(input), _c.clock(now_ms)))

    def update_nodes(
        self,
        nodes: Iterable[NodeFacts | Mapping[str, Any]] = (),
        *,
        remove: Iterable[str] = (),
        source: str | None = None,
        join: str | None = None,
        tpu_per_chip: int | None = None,
        now_ms: int | None = None,
    ) -> Import:
        """Adds or replaces a few nodes of a source, and removes others. All other nodes of the source stay.

        The result is that of `sync_input` with the complete list: an allocated node that is removed is lost. Removing a
        node that the source does not have changes nothing. A call without `nodes` can be for a source of any kind.

        Args:
            nodes: the nodes to add, or to replace if the source has nodes of the same ids
            remove: the ids of the nodes to remove; the name is the id of a node without one
            source: the name of the source; None: "ray"
            join: the source to join, as in `Input.join`
            tpu_per_chip: RAY_TPU_RESOURCE_PER_CHIP of the cluster; None: 1
            now_ms: the time, in milliseconds since 1970 UTC; None: this machine's clock

        Raises:
            NotFoundError: there is no such source.
            InvalidError: a fact of a node is wrong, the same id is added and removed, or a node with chips lacks Ray's
                TPU labels (`NodeFacts.slice` sets them).
            ConflictError: like `sync_input`, or another alive node of the source has the name of one of the nodes.
        """
        ledger, update = self._open(), open_update(nodes, remove, source, join, tpu_per_chip)
        return take_import(call(lib.quoit_ledger_update_nodes, ledger, update, _c.clock(now_ms)))

    def import_fleet_text(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Imports fleet text, such as "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b busy=0-1 dead=2.3".

        See `import_input`.
        """
        return self.import_input(Input(SourceKind.FLEET, text, source=source), now_ms=now_ms)

    def sync_fleet_text(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Synchronises with fleet text. See `sync_input`."""
        return self.sync_input(Input(SourceKind.FLEET, text, source=source), now_ms=now_ms)

    def import_raycluster(
        self,
        text: str | bytes,
        *,
        source: str | None = None,
        variables: Mapping[str, str] | None = None,
        now_ms: int | None = None,
    ) -> Import:
        """Imports a manifest with a RayCluster, RayJob or RayService: the nodes that KubeRay 1.7 creates.

        Without these, it imports the nodes of the pods of a JobSet, LeaderWorkerSet, Job, StatefulSet or Pod. See
        `import_input`.

        Args:
            text: YAML.
            source: the source's name; None: metadata.name.
            variables: the values of ${NAME}.
        """
        return self.import_input(Input(SourceKind.RAYCLUSTER, text, source=source, variables=variables), now_ms=now_ms)

    def sync_raycluster(
        self,
        text: str | bytes,
        *,
        source: str | None = None,
        variables: Mapping[str, str] | None = None,
        now_ms: int | None = None,
    ) -> Import:
        """Synchronises with a manifest, with the arguments of `import_raycluster`. See `sync_input`."""
        return self.sync_input(Input(SourceKind.RAYCLUSTER, text, source=source, variables=variables), now_ms=now_ms)

    def import_ray_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Imports ``ray list nodes`` as JSON or YAML, or the JSON of ray.nodes(). See `import_input`."""
        return self.import_input(Input(SourceKind.RAY_NODES, text, source=source), now_ms=now_ms)

    def sync_ray_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Synchronises with a list of Ray's nodes. See `sync_input`."""
        return self.sync_input(Input(SourceKind.RAY_NODES, text, source=source), now_ms=now_ms)

    def import_k8s_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Imports ``kubectl get nodes`` as JSON or YAML. See `import_input`."""
        return self.import_input(Input(SourceKind.K8S_NODES, text, source=source), now_ms=now_ms)

    def sync_k8s_nodes(self, text: str | bytes, *, source: str | None = None, now_ms: int | None = None) -> Import:
        """Synchronises with a list of Kubernetes nodes. See `sync_input`."""
        return self.sync_input(Input(SourceKind.K8S_NODES, text, source=source), now_ms=now_ms)
