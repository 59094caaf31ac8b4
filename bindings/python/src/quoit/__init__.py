# SPDX-License-Identifier: Apache-2.0
"""Allocates TPU slices to jobs.

A ledger stores which nodes, chips and slices exist and which group holds them. `create` or `open` a ledger, import the
fleet (`Ledger.import_raycluster`, `Ledger.import_ray_nodes`, `Ledger.import_fleet_text`), and `Ledger.reserve` a
`Request`:

    >>> import quoit
    >>> with quoit.open_memory() as ledger:
    ...     _ = ledger.import_fleet_text("v6e 4x4 x3")
    ...     group = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=2))
    ...     [one.name for one in group.slices]
    ['v6e-4x4-0', 'v6e-4x4-1']

`Ledger.snapshot` returns the present fleet. `Snapshot.explain` reports why a request does not fit and what would help.
`Snapshot.fork` makes a private copy for experiments, and `sweep` makes thousands of them. `topology` computes the environment of each process of a group.

Modules:

- `quoit.ray` creates Ray placement groups on the nodes that quoit chose.
- `quoit.ray_rules` computes the answers that Ray itself would give.
- `quoit.catalogue` lists the TPU generations, and `quoit.coordinates` computes where the chips of a slice are.
- `quoit.meshes` computes JAX's order of devices, and `quoit.jax` makes JAX meshes from it.
- `quoit.identity` computes how JAX identifies a process.
- `quoit.kuberay` computes the pods of a RayCluster, and `quoit.webhook` what the TPU webhook adds to them.
- `quoit.maxtext` computes what MaxText makes of a job.
- `quoit.plot` draws a fleet and its past with matplotlib (``pip install 'quoit[plot]'``).
- `quoit.promise` computes how many slices can be promised at a confidence.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from ._version import library_version
from .errors import (
    BusyError,
    CancelledError,
    ConflictError,
    DamagedError,
    Error,
    ErrorCode,
    ExpiredError,
    FailedError,
    FencedError,
    InvalidError,
    NeverError,
    NotFoundError,
    NotNowError,
    RefusedError,
    StoreError,
    UnconfirmedError,
    UsageError,
    VersionError,
)
from .groups import Group, GroupChange, GroupSlice, GroupSliceState, GroupState, PlacedBundle, Worker
from .imports import Change, ChangeKind, Import, Input, SourceKind
from .ledger import Ledger, create, load_text, open, open_memory, open_snapshot, restore
from .requests import Bundle, Cubes, Cut, Domain, PlacePolicy, Policy, Request, Spread, Strategy

if TYPE_CHECKING:
    from . import catalogue as catalogue
    from . import coordinates as coordinates
    from . import identity as identity
    from . import jax as jax
    from . import kuberay as kuberay
    from . import maxtext as maxtext
    from . import meshes as meshes
    from . import plot as plot
    from . import promise as promise
    from . import ray as ray
    from . import ray_rules as ray_rules
    from . import webhook as webhook
    from .checks import CheckRule, Finding, Severity, check_manifest, check_rules
    from .defragmentation import BundleMove, Defragmentation, DefragmentationState
    from .feeds import Feed
    from .fleet import (
        Amounts,
        Fault,
        Node,
        NodeAssumptions,
        NodeResource,
        NodeState,
        NodeUser,
        Owner,
        Pool,
        Quota,
        Resource,
        Slice,
        SliceClass,
        SliceFlags,
        Source,
        Window,
        WindowScope,
    )
    from .forks import Fork
    from .fragmentation import Fragmentation, FragmentationPart
    from .journal import (
        Checkpoint,
        Effect,
        EffectType,
        JournalEntry,
        NodeChange,
        NodeEvent,
        StoredEntry,
        Trimmed,
    )
    from .nodes import NodeFacts
    from .plans import Backfill, Queued, QueuedState
    from .purchases import (
        BlockPrice,
        CubePrice,
        Price,
        Purchase,
        PurchaseBlock,
        PurchaseBlockNumber,
        PurchaseClass,
        PurchaseNumber,
        PurchaseStart,
        PurchaseState,
    )
    from .reports import (
        AlternativeReport,
        BestOption,
        Constraint,
        Miss,
        Option,
        OptionOrder,
        RayAnswer,
        Reason,
        Report,
        Step,
        StepKind,
        Verdict,
    )
    from .snapshots import GraphForm, GroupEnd, Growth, Preemption, Slots, SlotsIf, Snapshot, Start
    from .sweeps import Sweep, sweep
    from .topologies import (
        Job,
        LeaderWorkerSet,
        Process,
        ProcessChange,
        Profile,
        Renumbering,
        RenumberingRow,
        Topology,
        VariableChange,
        manifest_topology,
        renumbering,
        topology,
    )

__all__ = [
    "AlternativeReport",
    "Amounts",
    "Backfill",
    "BestOption",
    "BlockPrice",
    "Bundle",
    "BundleMove",
    "BusyError",
    "CancelledError",
    "Change",
    "ChangeKind",
    "CheckRule",
    "Checkpoint",
    "ConflictError",
    "Constraint",
    "CubePrice",
    "Cubes",
    "Cut",
    "DamagedError",
    "Defragmentation",
    "DefragmentationState",
    "Domain",
    "Effect",
    "EffectType",
    "Error",
    "ErrorCode",
    "ExpiredError",
    "FailedError",
    "Fault",
    "Feed",
    "FencedError",
    "Finding",
    "Fork",
    "Fragmentation",
    "FragmentationPart",
    "GraphForm",
    "Group",
    "GroupChange",
    "GroupEnd",
    "GroupSlice",
    "GroupSliceState",
    "GroupState",
    "Growth",
    "Import",
    "Input",
    "InvalidError",
    "Job",
    "JournalEntry",
    "LeaderWorkerSet",
    "Ledger",
    "Miss",
    "NeverError",
    "Node",
    "NodeAssumptions",
    "NodeChange",
    "NodeEvent",
    "NodeFacts",
    "NodeResource",
    "NodeState",
    "NodeUser",
    "NotFoundError",
    "NotNowError",
    "Option",
    "OptionOrder",
    "Owner",
    "PlacePolicy",
    "PlacedBundle",
    "Policy",
    "Pool",
    "Preemption",
    "Price",
    "Process",
    "ProcessChange",
    "Profile",
    "Purchase",
    "PurchaseBlock",
    "PurchaseBlockNumber",
    "PurchaseClass",
    "PurchaseNumber",
    "PurchaseStart",
    "PurchaseState",
    "Queued",
    "QueuedState",
    "Quota",
    "RayAnswer",
    "Reason",
    "RefusedError",
    "Renumbering",
    "RenumberingRow",
    "Report",
    "Request",
    "Resource",
    "Severity",
    "Slice",
    "SliceClass",
    "SliceFlags",
    "Slots",
    "SlotsIf",
    "Snapshot",
    "Source",
    "SourceKind",
    "Spread",
    "Start",
    "Step",
    "StepKind",
    "StoreError",
    "StoredEntry",
    "Strategy",
    "Sweep",
    "Topology",
    "Trimmed",
    "UnconfirmedError",
    "UsageError",
    "VariableChange",
    "Verdict",
    "VersionError",
    "Window",
    "WindowScope",
    "Worker",
    "check_manifest",
    "check_rules",
    "create",
    "library_version",
    "load_text",
    "manifest_topology",
    "open",
    "open_memory",
    "open_snapshot",
    "renumbering",
    "restore",
    "sweep",
    "topology",
]

__version__ = library_version()

# Most programs need few of these names, so their modules are loaded on first use.
_LAZY = {
    "defragmentation": ("BundleMove", "Defragmentation", "DefragmentationState"),
    "checks": ("CheckRule", "Finding", "Severity", "check_manifest", "check_rules"),
    "fleet": (
        "Amounts",
        "Fault",
        "Node",
        "NodeAssumptions",
        "NodeResource",
        "NodeState",
        "NodeUser",
        "Owner",
        "Pool",
        "Quota",
        "Resource",
        "Slice",
        "SliceClass",
        "SliceFlags",
        "Source",
        "Window",
        "WindowScope",
    ),
    "feeds": ("Feed",),
    "forks": ("Fork",),
    "fragmentation": ("Fragmentation", "FragmentationPart"),
    "journal": (
        "Checkpoint",
        "Effect",
        "EffectType",
        "JournalEntry",
        "NodeChange",
        "NodeEvent",
        "StoredEntry",
        "Trimmed",
    ),
    "nodes": ("NodeFacts",),
    "plans": ("Backfill", "Queued", "QueuedState"),
    "purchases": (
        "BlockPrice",
        "CubePrice",
        "Price",
        "Purchase",
        "PurchaseBlock",
        "PurchaseBlockNumber",
        "PurchaseClass",
        "PurchaseNumber",
        "PurchaseStart",
        "PurchaseState",
    ),
    "reports": (
        "AlternativeReport",
        "BestOption",
        "Constraint",
        "Miss",
        "Option",
        "OptionOrder",
        "RayAnswer",
        "Reason",
        "Report",
        "Step",
        "StepKind",
        "Verdict",
    ),
    "snapshots": ("GraphForm", "GroupEnd", "Growth", "Preemption", "Slots", "SlotsIf", "Snapshot", "Start"),
    "sweeps": ("Sweep", "sweep"),
    "topologies": (
        "Job",
        "LeaderWorkerSet",
        "Process",
        "ProcessChange",
        "Profile",
        "Renumbering",
        "RenumberingRow",
        "Topology",
        "VariableChange",
        "manifest_topology",
        "renumbering",
        "topology",
    ),
}
_MODULES = {name: module for module, names in _LAZY.items() for name in names}
_SUBMODULES = (
    "catalogue",
    "coordinates",
    "identity",
    "jax",
    "kuberay",
    "maxtext",
    "meshes",
    "plot",
    "promise",
    "ray",
    "ray_rules",
    "webhook",
)

if not TYPE_CHECKING:  # with __getattr__, mypy would accept any name

    def __getattr__(name: str) -> object:
        if name in _MODULES:
            value = getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
        elif name in _SUBMODULES:
            value = importlib.import_module(f".{name}", __name__)
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
