# SPDX-License-Identifier: Apache-2.0
"""quoit: who gets which TPU slices?

A ledger says which nodes, chips and slices there are and who has them. `open` or `create` one, say what is there
(`Quoit.import_raycluster`, `Quoit.import_ray_nodes`, `Quoit.import_fleet_text`), and `Quoit.reserve` what a `Request` asks for:

    >>> import quoit
    >>> with quoit.open_memory() as ledger:
    ...     _ = ledger.import_fleet_text("v6e 4x4 x3")
    ...     group = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=2))
    ...     [one.name for one in group.slices]
    ['v6e-4x4-0', 'v6e-4x4-1']

Modules: `quoit.ray` makes real Ray placement groups where quoit decided; `quoit.ray_rules` has Ray's own rules as functions.
"""

from __future__ import annotations

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
    InvalidError,
    NeverError,
    NotFoundError,
    NotNowError,
    RefusedError,
    StoreError,
    UsageError,
    VersionError,
)
from .groups import Group, GroupChange, GroupSlice, GroupSliceState, GroupState, PlacedBundle, Worker
from .imports import Change, ChangeKind, Import, Input, SourceKind
from .ledger import Quoit, create, load_text, open, open_memory
from .requests import Bundle, Policy, Request, Strategy

__all__ = [
    "Bundle",
    "BusyError",
    "CancelledError",
    "Change",
    "ChangeKind",
    "ConflictError",
    "DamagedError",
    "Error",
    "ErrorCode",
    "ExpiredError",
    "FailedError",
    "Group",
    "GroupChange",
    "GroupSlice",
    "GroupSliceState",
    "GroupState",
    "Import",
    "Input",
    "InvalidError",
    "NeverError",
    "NotFoundError",
    "NotNowError",
    "PlacedBundle",
    "Policy",
    "Quoit",
    "RefusedError",
    "Request",
    "SourceKind",
    "StoreError",
    "Strategy",
    "UsageError",
    "VersionError",
    "Worker",
    "create",
    "library_version",
    "load_text",
    "open",
    "open_memory",
]

__version__ = library_version()
