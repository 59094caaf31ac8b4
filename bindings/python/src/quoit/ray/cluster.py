# SPDX-License-Identifier: Apache-2.0
"""What the running Ray cluster says, and the groups that are made and removed in it.

Here, and in `train` what Ray Train keeps private, stands all that is used of what Ray keeps private: `versions` and
`train` look for it before anything is held.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import importlib
import itertools
import json
import os
import re
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from .. import errors
from ..imports import Input, SourceKind

REPLY_S = 5.0
"""How long Ray's control plane may take to answer before it is said to be gone."""

_TRIES = 6
_AGREE_S = 3.0
_UNIT = 1e-4
_RECORDS = b"quoit"
_POLL_S = 0.003
_BACK_S = 1.0
_TRUSTED_S = 0.2
_answered_at = float("-inf")
_GROUPED = re.compile(r"_group_(?:\d+_)?([0-9a-f]{36})$")

SLICE_NAME = "ray.io/tpu-slice-name"
WORKER_ID = "ray.io/tpu-worker-id"
NODE_ID = "ray.io/node-id"


def _module(name: str) -> Any:
    return sys.modules.get(name) or importlib.import_module(name)


def _worker() -> Any:
    return _module("ray._private.worker").global_worker


def _state() -> Any:
    return _module("ray._private.state").state


class _Asking:
    """Ray's ways of saying that its control plane does not answer, as one."""

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        global _answered_at
        if value is None:
            _answered_at = time.monotonic()
            return
        exceptions = _module("ray.exceptions")
        if isinstance(value, (exceptions.RpcError, exceptions.RaySystemError, ConnectionError, TimeoutError)):
            raise errors.NotFoundError(f"ray: the control plane does not answer: {value}") from value


_asking = _Asking()


# --- the driver ---------------------------------------------------------------------------------------------------


def is_connected() -> bool:
    """Whether this process is a driver, or a task or actor, of a Ray cluster, be it by a Ray Client."""
    return bool(_module("ray").is_initialized())


def check_connected() -> None:
    """Raises where there is no cluster to ask.

    Raises:
        NotFoundError: ray.init() was not called, or the control plane does not answer.
        InvalidError: the driver is a Ray Client (ray://), which cannot see nodes and groups.
    """
    worker = _worker()
    if not worker.connected and not is_connected():
        raise errors.NotFoundError("ray: there is no cluster: call ray.init() first")
    if getattr(worker, "gcs_client", None) is None or not hasattr(worker, "core_worker"):
        raise errors.InvalidError(
            "ray: a driver at 'ray://' cannot see the cluster: run it on one of the cluster's nodes"
        )


class Driver(NamedTuple):
    """What this process belongs to."""

    cluster: str
    job: str


_known: tuple[Any, Driver] = (None, Driver("", ""))
"""Of the connection that was asked last, which has the same ids for as long as it is."""


def connected_driver() -> Driver:
    """The cluster and the job of this process, which is connected."""
    global _known
    worker = _worker()
    connection, known = _known
    if connection is None or connection is not worker.gcs_client:
        connection = worker.gcs_client
        known = Driver(str(connection.cluster_id.hex()), str(worker.current_job_id.hex()))
        _known = connection, known
    return known


def job() -> str:
    """The id of the job that this process belongs to."""
    return connected_driver().job


def cluster() -> str:
    """What no other cluster is called, also not one that was started anew on the same machines."""
    return connected_driver().cluster


def driver() -> Driver | None:
    """The cluster and the job of this process; None: it has none, any more."""
    try:
        return connected_driver() if is_connected() else None
    except AttributeError:  # Ray is being shut down
        return None


# --- what Ray says ------------------------------------------------------------------------------------------------


def place_of(node: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The slice's name and the worker id that a node's labels say."""
    labels = node["Labels"]
    return labels.get(SLICE_NAME), labels.get(WORKER_ID)


@dataclasses.dataclass(frozen=True)
class Listing:
    """What Ray said of one moment."""

    nodes: Sequence[Mapping[str, Any]]
    """The rows of ray.nodes()."""
    groups: Mapping[str, Mapping[str, Any]]
    """The rows of placement_group_table() by id, without those that are removed."""
    available: Mapping[str, Mapping[str, float]]
    """available_resources_per_node(); what is 0 is absent."""
    cluster: str

    def alive(self) -> Iterator[Mapping[str, Any]]:
        """The nodes that Ray believes to be alive."""
        return (node for node in self.nodes if node["Alive"])

    @functools.cached_property
    def by_id(self) -> Mapping[str, Mapping[str, Any]]:
        """The alive nodes."""
        return {node["NodeID"]: node for node in self.alive()}

    @functools.cached_property
    def n_at(self) -> Mapping[tuple[str | None, str | None], int]:
        """How many alive nodes say that they are a worker of a slice: one each, where all is well."""
        return collections.Counter(place_of(node) for node in self.alive())

    @functools.cached_property
    def foreign(self) -> dict[str, list[str]]:
        """The slices of other sources that the ledger had beside it, by generation, for as long as it is believed."""
        return {}

    @functools.cached_property
    def pins(self) -> dict[Any, Any]:
        """Where bundles go, which is of the nodes alone, for as long as they are listed so."""
        return {}

    def is_settling(self) -> bool:
        """Whether a node still lists resources of a removed group: its chips are free, and not yet shown to be."""
        of_groups = (_GROUPED.search(name) for row in self.available.values() for name in row)
        return any(found is not None and found[1] not in self.groups for found in of_groups)

    def to_input(self, source: str, tpu_per_chip: int | None) -> Input:
        """As an import takes it."""
        return Input(
            SourceKind.RAY_NODES,
            json.dumps(self.nodes),
            source=source,
            ray_groups=json.dumps(self.groups),
            ray_available=json.dumps(self.available),
            tpu_per_chip=tpu_per_chip,
            complete=True,
        )


def _live_groups() -> dict[str, Any]:
    """The messages of the groups that are not removed, by id. Ray keeps removed ones for ever, and turning one into a
    dict costs more than all else that is asked here."""
    message = _module("ray.core.generated.gcs_pb2").PlacementGroupTableData
    rows = (message.FromString(data) for data in _state()._connect_and_get_accessor().get_placement_group_table())
    return {row.placement_group_id.hex(): row for row in rows if row.state != message.REMOVED}


def _contradiction(
    nodes: Sequence[Mapping[str, Any]], groups: Mapping[str, Any], available: Mapping[str, Any]
) -> str | None:
    """What shows that the lists are of different moments: a node that has just come or gone, or a control plane that was
    started again and does not know yet what its nodes use."""
    for node in nodes:
        if node["Alive"] and node["NodeID"] not in available:
            return f"node '{node['NodeID']}' is alive, and nothing says what is available there"
    chips = {node["NodeID"]: node["Resources"].get("TPU", 0.0) for node in nodes}
    n_bundles: collections.Counter[str] = collections.Counter()
    for name, row in groups.items():
        for bundle in row.bundles:
            if not any(bundle.node_id):
                continue
            node_id = bundle.node_id.hex()
            if node_id not in chips:
                return f"group '{name}' is on node '{node_id}', which is not listed"
            if row.state == row.CREATED:
                chips[node_id] -= bundle.unit_resources.get("TPU", 0.0)
                n_bundles[node_id] += 1
    for node_id, left in chips.items():
        shown = available.get(node_id, {}).get("TPU", 0.0)
        # Of what it is asked for Ray takes whole ten-thousandths, and less rather than more.
        if shown > max(left, 0.0) + _UNIT * (n_bundles[node_id] + 0.5):
            return f"node '{node_id}' shows {shown:g} TPU as free, of which its groups leave {left:g}"
    return None


def list_now() -> Listing:
    """Nodes, groups and what is available, of one moment as nearly as can be had: groups are asked for before and after
    the rest, and all again when they changed between, or where the lists contradict each other.

    Raises:
        NotFoundError: the control plane does not answer.
        BusyError: the lists contradicted each other for seconds.
    """
    state = _state()
    end = time.monotonic() + _AGREE_S
    with _asking:
        groups = _live_groups()
        for attempt in itertools.count(1):
            nodes, available = state.node_table(), state.available_resources_per_node()
            before, groups = groups, _live_groups()
            contradiction = _contradiction(nodes, groups, available)
            # Where groups come and go all the time the last lists stand: each try saw others.
            if contradiction is None and (_standing(before) == _standing(groups) or attempt >= _TRIES):
                rows = {name: state._gen_placement_group_info(row) for name, row in groups.items()}
                return Listing(nodes, rows, available, cluster())
            if time.monotonic() >= end:
                break
            time.sleep(0.02 * min(attempt, _TRIES))
    raise errors.BusyError(f"ray: {contradiction}: expected lists of one moment, tried for {_AGREE_S:g} s")


def _standing(groups: Mapping[str, Any]) -> dict[str, tuple[object, ...]]:
    return {name: (row.state, *(bundle.node_id for bundle in row.bundles)) for name, row in groups.items()}


def dead_jobs() -> set[str]:
    """The jobs whose driver has ended."""
    with _asking:
        return {row["JobID"] for row in _state().job_table() if row["IsDead"]}


# --- groups -------------------------------------------------------------------------------------------------------


def create_group(
    bundles: Sequence[Mapping[str, float]],
    selectors: Sequence[Mapping[str, str]],
    strategy: str,
    name: str,
    lifetime: str | None,
) -> Any:
    """A placement group that Ray has taken in, and has not placed yet.

    Raises:
        ConflictError: the name is taken.
        NotFoundError: the control plane does not answer; it may have made the group.
    """
    with _asking:
        try:
            return _module("ray.util.placement_group").placement_group(
                [dict(bundle) for bundle in bundles],
                strategy=strategy,
                name=name,
                lifetime=lifetime,
                bundle_label_selector=[dict(selector) for selector in selectors],
            )
        except _module("ray.exceptions").RaySystemError as error:
            # An answer, which Ray gives no class of its own.
            if "already exists" not in str(error):
                raise
            raise errors.ConflictError(f"name '{name}': a placement group of this namespace has it already") from None


def handle_of(group_id: str) -> Any:
    """The placement group of an id."""
    identity = _module("ray._raylet").PlacementGroupID(bytes.fromhex(group_id))
    return _module("ray.util.placement_group").PlacementGroup(identity)


def group_id(group: Any) -> str:
    """The id of a placement group, as Ray's lists show it."""
    return str(group.id.hex())


class RemovedError(Exception):
    """A group that is waited for was removed by another."""


def wait_placed(groups: Sequence[Any]) -> bool:
    """Whether all groups are placed. Each is waited for for a second at most, as Ray's wait is deaf to signals; a
    `RemovedError` comes of one that is gone."""
    with _asking:
        return all(_wait(group) for group in groups)


def _wait(group: Any) -> bool:
    try:
        return bool(group.wait(1))
    except Exception as error:
        # Ray has no class of its own for it.
        if type(error) is not Exception or "does not exist" not in str(error):
            raise
        raise RemovedError(f"placement group '{group_id(group)}' was removed by another") from None


def rows(groups: Sequence[Any]) -> list[dict[str, Any]]:
    """The row of placement_group_table() of each group: name, state and the rest; REMOVED for one that Ray does not
    know."""
    with _asking:
        return [_row_now(group) for group in groups]


def _row_now(group: Any) -> dict[str, Any]:
    """Its row, of a control plane that answers: nothing else bounds the wait for it."""
    read_records(())
    row: dict[str, Any] = _state().placement_group_table(group.id)
    return row or {"state": "REMOVED", "name": ""}


def named_groups(names: Sequence[str], job_id: str) -> list[Any]:
    """The live groups of a job that bear one of the names."""
    check_answers()
    maker = bytes.fromhex(job_id)
    with _asking:
        return [
            handle_of(name) for name, row in _live_groups().items() if row.name in names and row.creator_job_id == maker
        ]


def remove_groups(groups: Sequence[Any], timeout_s: float) -> bool:
    """Removes groups and waits until Ray's control plane shows their chips as free, which is when others can have them.

    Returns:
        Whether that was seen within `timeout_s`; False: they are removed, and something still runs on their chips.

    Raises:
        NotFoundError: the control plane does not answer.
    """
    deadline = time.monotonic() + timeout_s
    with _asking:
        chips = _chips([_row_now(group) for group in groups])
        for group in groups:
            read_records(())
            _module("ray.util.placement_group").remove_placement_group(group)
        waiting = list(groups)
        while waiting:
            waiting = [group for group in waiting if _row_now(group)["state"] != "REMOVED"]
            if waiting and not _pause(deadline):
                return False
        ends = tuple(group_id(group) for group in groups)
        while not _are_back(chips, ends, deadline - timeout_s + _BACK_S):
            if not _pause(deadline):
                return False
    return True


def _chips(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """What groups have of the TPU of each node."""
    chips: dict[str, float] = {}
    for row in rows:
        for index, node in row.get("bundles_to_node_id", {}).items():
            chips[node] = chips.get(node, 0.0) + row["bundles"][index].get("TPU", 0.0)
    return chips


def _are_back(chips: Mapping[str, float], ends: tuple[str, ...], until: float) -> bool:
    read_records(())
    available = _state().available_resources_per_node()
    # What still runs in a removed group is seen by the group's own resources (TPU_group_0_ID), as soon as the node has
    # told of them: of a group that was made a moment ago it has not.
    if any(name.endswith(ends) for row in available.values() for name in row):
        return False
    # Somebody else may have been quicker: these are not waited for for long.
    is_free = all(available[node].get("TPU", 0.0) >= amount for node, amount in chips.items() if node in available)
    return is_free or time.monotonic() >= until


def _pause(deadline: float) -> bool:
    time.sleep(_POLL_S)
    return time.monotonic() < deadline


# --- records ------------------------------------------------------------------------------------------------------
# What the adapter has made for a group of the ledger, kept by Ray's control plane: it lives and dies with the groups.


def write_record(key: str, record: str) -> None:
    """Writes what belongs to `key`, a JSON object, over what was there."""
    with _asking:
        _worker().gcs_client.internal_kv_put(key.encode(), record.encode(), True, _RECORDS, REPLY_S)


def check_answers(within_s: float = _TRUSTED_S) -> None:
    """Raises where the control plane does not answer, and has not `within_s`: other questions would wait for a minute,
    and end the driver.

    Raises:
        NotFoundError: it does not.
    """
    if time.monotonic() - _answered_at > within_s:
        read_records(())


def read_records(keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The records of those keys that have one."""
    with _asking:
        found = _worker().gcs_client.internal_kv_multi_get([key.encode() for key in keys] or [b"?"], _RECORDS, REPLY_S)
    return {key.decode(): json.loads(value) for key, value in found.items()}


def delete_record(key: str) -> None:
    """Deletes it; to delete none does nothing."""
    with _asking:
        _worker().gcs_client.internal_kv_del(key.encode(), False, _RECORDS, REPLY_S)


# --- the environment ----------------------------------------------------------------------------------------------


def tpu_per_chip_text() -> str | None:
    """RAY_TPU_RESOURCE_PER_CHIP as this process has it: Ray reads it in each process, and lists nowhere what it is."""
    return os.environ.get("RAY_TPU_RESOURCE_PER_CHIP")
