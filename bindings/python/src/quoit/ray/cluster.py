# SPDX-License-Identifier: Apache-2.0
"""Reads the state of the running Ray cluster, and makes and removes placement groups.

All uses of Ray's private API are here, except those of Ray Train in `train`. `versions` and `train` check that it
exists before anything is held.
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
"""How long Ray's control plane can take to answer before it counts as gone."""

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
    """Raises one exception for all errors of Ray that mean that its control plane does not answer."""

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
    """Whether this process is a driver, task or actor of a Ray cluster, also through a Ray Client."""
    return bool(_module("ray").is_initialized())


def check_connected() -> None:
    """Raises without a usable connection to a cluster.

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
    """The cluster and the job of this process."""

    cluster: str
    job: str


_known: tuple[Any, Driver] = (None, Driver("", ""))
"""The last connection and its ids, which are constant for a connection."""


def connected_driver() -> Driver:
    """Returns the cluster and the job of this connected process."""
    global _known
    worker = _worker()
    connection, known = _known
    if connection is None or connection is not worker.gcs_client:
        connection = worker.gcs_client
        known = Driver(str(connection.cluster_id.hex()), str(worker.current_job_id.hex()))
        _known = connection, known
    return known


def job() -> str:
    """Returns the id of the job of this process."""
    return connected_driver().job


def cluster() -> str:
    """Returns the unique id of the cluster. A restarted cluster has another one."""
    return connected_driver().cluster


def driver() -> Driver | None:
    """Returns the cluster and the job of this process; None if it is not connected."""
    try:
        return connected_driver() if is_connected() else None
    except AttributeError:  # Ray is shutting down
        return None


# --- the state of Ray ---------------------------------------------------------------------------------------------


def place_of(node: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Returns the slice name and the worker id in a node's labels."""
    labels = node["Labels"]
    return labels.get(SLICE_NAME), labels.get(WORKER_ID)


@dataclasses.dataclass(frozen=True)
class Listing:
    """The state of Ray at one moment."""

    nodes: Sequence[Mapping[str, Any]]
    """The rows of ray.nodes()."""
    groups: Mapping[str, Mapping[str, Any]]
    """The rows of placement_group_table() by id, without removed ones."""
    available: Mapping[str, Mapping[str, float]]
    """available_resources_per_node(), which leaves out amounts of 0."""
    cluster: str

    def alive(self) -> Iterator[Mapping[str, Any]]:
        """The nodes that are alive in Ray."""
        return (node for node in self.nodes if node["Alive"])

    @functools.cached_property
    def by_id(self) -> Mapping[str, Mapping[str, Any]]:
        """The alive nodes by id."""
        return {node["NodeID"]: node for node in self.alive()}

    @functools.cached_property
    def n_at(self) -> Mapping[tuple[str | None, str | None], int]:
        """The number of alive nodes for each slice name and worker id; normally one."""
        return collections.Counter(place_of(node) for node in self.alive())

    @functools.cached_property
    def foreign(self) -> dict[str, list[str]]:
        """A cache for this listing: the slices of other sources in the ledger, by generation."""
        return {}

    @functools.cached_property
    def pins(self) -> dict[Any, Any]:
        """A cache of pins, which depend only on the nodes."""
        return {}

    def is_settling(self) -> bool:
        """Whether a node still lists resources of a removed group: its chips are free, but not yet reported as free."""
        of_groups = (_GROUPED.search(name) for row in self.available.values() for name in row)
        return any(found is not None and found[1] not in self.groups for found in of_groups)

    def to_input(self, source: str, tpu_per_chip: int | None) -> Input:
        """Returns the listing as an input of an import."""
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
    """Returns the messages of the groups that are not removed, by id.

    Ray keeps removed groups for ever, and the conversion of one to a dict is the most expensive step here.
    """
    message = _module("ray.core.generated.gcs_pb2").PlacementGroupTableData
    rows = (message.FromString(data) for data in _state()._connect_and_get_accessor().get_placement_group_table())
    return {row.placement_group_id.hex(): row for row in rows if row.state != message.REMOVED}


def _contradiction(
    nodes: Sequence[Mapping[str, Any]], groups: Mapping[str, Any], available: Mapping[str, Any]
) -> str | None:
    """Returns how the lists contradict each other, so that they are of different moments; None if they do not.

    Causes are nodes that come or go, and a restarted control plane that does not know yet what its nodes use.
    """
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
        # Ray truncates requested amounts to ten-thousandths.
        if shown > max(left, 0.0) + _UNIT * (n_bundles[node_id] + 0.5):
            return f"node '{node_id}' shows {shown:g} TPU as free, of which its groups leave {left:g}"
    return None


def list_now() -> Listing:
    """Lists nodes, groups and available resources, as far as possible of one moment.

    It lists groups before and after the rest, and retries if they changed in between or if the lists contradict each
    other.

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
            # If groups change all the time, the last lists without a contradiction are used.
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
    """Returns the jobs whose driver has ended."""
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
    """Creates a placement group, which Ray has accepted but not placed yet.

    Raises:
        ConflictError: the name is in use.
        NotFoundError: the control plane does not answer; it can have made the group.
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
            # an answer of the control plane, for which Ray has no own class
            if "already exists" not in str(error):
                raise
            raise errors.ConflictError(f"name '{name}': a placement group of this namespace has it already") from None


def handle_of(group_id: str) -> Any:
    """Returns the placement group with that id."""
    identity = _module("ray._raylet").PlacementGroupID(bytes.fromhex(group_id))
    return _module("ray.util.placement_group").PlacementGroup(identity)


def group_id(group: Any) -> str:
    """Returns the id of a placement group in the form of Ray's lists."""
    return str(group.id.hex())


class RemovedError(Exception):
    """Another program removed a group during a wait for it."""


def wait_placed(groups: Sequence[Any]) -> bool:
    """Returns whether all groups are placed. Raises `RemovedError` for a removed one.

    It waits at most one second for each, because Ray's wait ignores signals.
    """
    with _asking:
        return all(_wait(group) for group in groups)


def _wait(group: Any) -> bool:
    try:
        return bool(group.wait(1))
    except Exception as error:
        # Ray has no own class for this error.
        if type(error) is not Exception or "does not exist" not in str(error):
            raise
        raise RemovedError(f"placement group '{group_id(group)}' was removed by another") from None


def rows(groups: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns the row of placement_group_table() of each group: name, state and so on; REMOVED for unknown ones."""
    with _asking:
        return [_row_now(group) for group in groups]


def _row_now(group: Any) -> dict[str, Any]:
    """Returns a group's row. It checks first that the control plane answers, because the query has no timeout."""
    read_records(())
    row: dict[str, Any] = _state().placement_group_table(group.id)
    return row or {"state": "REMOVED", "name": ""}


def named_groups(names: Sequence[str], job_id: str) -> list[Any]:
    """Returns the live groups of a job with one of the names."""
    check_answers()
    maker = bytes.fromhex(job_id)
    with _asking:
        return [
            handle_of(name) for name, row in _live_groups().items() if row.name in names and row.creator_job_id == maker
        ]


def remove_groups(groups: Sequence[Any], timeout_s: float) -> bool:
    """Removes groups and waits until Ray's control plane reports their chips as free, so that others can get them.

    Returns:
        Whether it did so within `timeout_s`; False: they are removed, but something still runs on their chips.

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
    """Returns the TPU amount of the groups on each node."""
    chips: dict[str, float] = {}
    for row in rows:
        for index, node in row.get("bundles_to_node_id", {}).items():
            chips[node] = chips.get(node, 0.0) + row["bundles"][index].get("TPU", 0.0)
    return chips


def _are_back(chips: Mapping[str, float], ends: tuple[str, ...], until: float) -> bool:
    read_records(())
    available = _state().available_resources_per_node()
    # A removed group in which something still runs keeps its own resources (TPU_group_0_ID) on the node. A group that
    # was created a moment ago is not reported yet.
    if any(name.endswith(ends) for row in available.values() for name in row):
        return False
    # another program can already have taken the chips: stop this wait early
    is_free = all(available[node].get("TPU", 0.0) >= amount for node, amount in chips.items() if node in available)
    return is_free or time.monotonic() >= until


def _pause(deadline: float) -> bool:
    time.sleep(_POLL_S)
    return time.monotonic() < deadline


# --- records ------------------------------------------------------------------------------------------------------
# Records of the groups that the adapter made, in Ray's control plane, so that they end with the groups.


def write_record(key: str, record: str) -> None:
    """Writes the record of `key`, a JSON object, over an earlier one."""
    with _asking:
        _worker().gcs_client.internal_kv_put(key.encode(), record.encode(), True, _RECORDS, REPLY_S)


def check_answers(within_s: float = _TRUSTED_S) -> None:
    """Checks that the control plane answers, unless it has answered within `within_s`.

    Other queries would wait for a minute and then end the driver.

    Raises:
        NotFoundError: it does not answer.
    """
    if time.monotonic() - _answered_at > within_s:
        read_records(())


def read_records(keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Returns the existing records of the keys."""
    with _asking:
        found = _worker().gcs_client.internal_kv_multi_get([key.encode() for key in keys] or [b"?"], _RECORDS, REPLY_S)
    return {key.decode(): json.loads(value) for key, value in found.items()}


def delete_record(key: str) -> None:
    """Deletes a record, if it exists."""
    with _asking:
        _worker().gcs_client.internal_kv_del(key.encode(), False, _RECORDS, REPLY_S)


# --- environment --------------------------------------------------------------------------------------------------


def tpu_per_chip_text() -> str | None:
    """Returns RAY_TPU_RESOURCE_PER_CHIP of this process. Each process has its own; Ray does not list the value."""
    return os.environ.get("RAY_TPU_RESOURCE_PER_CHIP")
