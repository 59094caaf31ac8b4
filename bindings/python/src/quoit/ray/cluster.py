# SPDX-License-Identifier: Apache-2.0
"""Reads the state of the running Ray cluster, and creates and removes placement groups.

This module contains all uses of Ray's private API, except those of Ray Train, which are in `train`. `versions` and
`train` check that the installed Ray has this API, before anything is reserved.
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
"""How long Ray's control plane can take to answer before it counts as lost."""

_TRIES = 6
"""From this try on, lists without a contradiction are used although groups changed in the meantime."""
_LIST_S = 3.0
"""How long lists can contradict each other before the listing fails."""
_UNIT = 1e-4
"""The smallest amount of a resource in Ray."""
_NAMESPACE = b"quoit"
"""The namespace of the records in the control plane's key-value store."""
_POLL_S = 0.003
_FREE_S = 1.0
"""How long to wait until the chips of removed groups are reported as free. Another program can already use them."""
_TRUSTED_S = 0.2
"""How long after its last answer the control plane counts as available."""
_answered_at = float("-inf")
_GROUP_RESOURCE = re.compile(r"_group_(?:\d+_)?([0-9a-f]{36})$")

SLICE_NAME = "ray.io/tpu-slice-name"
WORKER_ID = "ray.io/tpu-worker-id"
NODE_ID = "ray.io/node-id"


def _module(name: str) -> Any:
    return sys.modules.get(name) or importlib.import_module(name)


def _worker() -> Any:
    return _module("ray._private.worker").global_worker


def _state() -> Any:
    return _module("ray._private.state").state


class _ErrorTranslation:
    """A context manager that converts the errors of Ray for a control plane that does not answer to NotFoundError."""

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


_translated_errors = _ErrorTranslation()


# --- the driver ---------------------------------------------------------------------------------------------------


def is_connected() -> bool:
    """Returns whether this process is a driver, task or actor of a Ray cluster, also through a Ray Client."""
    return bool(_module("ray").is_initialized())


def check_connected() -> None:
    """Checks that this process has a usable connection to a cluster.

    Raises:
        NotFoundError: ray.init() was not called, or the control plane does not answer.
        InvalidError: the driver is a Ray Client (ray://), which cannot read nodes and groups.
    """
    worker = _worker()
    if not worker.connected and not is_connected():
        raise errors.NotFoundError("ray: there is no cluster: call ray.init() first")
    if getattr(worker, "gcs_client", None) is None or not hasattr(worker, "core_worker"):
        raise errors.InvalidError(
            "ray: a driver at 'ray://' cannot read the cluster's state: run it on one of the cluster's nodes"
        )


class Driver(NamedTuple):
    """The cluster and the job of this process."""

    cluster: str
    job: str


_last_connection: tuple[Any, Driver] = (None, Driver("", ""))
"""A cache: the last connection, and its cluster and job. These ids never change for a connection."""


def connected_driver() -> Driver:
    """Returns the cluster and the job of this connected process."""
    global _last_connection
    worker = _worker()
    connection, known = _last_connection
    if connection is None or connection is not worker.gcs_client:
        connection = worker.gcs_client
        known = Driver(str(connection.cluster_id.hex()), str(worker.current_job_id.hex()))
        _last_connection = connection, known
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


def slice_position(node: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Returns the slice name and the worker id in a node's labels."""
    labels = node["Labels"]
    return labels.get(SLICE_NAME), labels.get(WORKER_ID)


@dataclasses.dataclass(frozen=True)
class Listing:
    """The nodes, placement groups and available resources of Ray at one moment, as Ray lists them."""

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
    def n_nodes_at(self) -> Mapping[tuple[str | None, str | None], int]:
        """The number of alive nodes for each slice name and worker id; normally one."""
        return collections.Counter(slice_position(node) for node in self.alive())

    @functools.cached_property
    def foreign_slices(self) -> dict[str, list[str]]:
        """A cache that belongs to this listing: the slices of other sources in the ledger, by generation."""
        return {}

    @functools.cached_property
    def pins(self) -> dict[Any, Any]:
        """A cache of the pins of groups (`shapes.pin_bundles`)."""
        return {}

    def has_leftover_resources(self) -> bool:
        """Returns whether a node still lists resources of a removed group. Its chips do not count as free yet."""
        of_groups = (_GROUP_RESOURCE.search(name) for row in self.available.values() for name in row)
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
    """Returns the groups that are not removed, by id, as protobuf messages.

    Ray keeps removed groups for ever. They are filtered out before the conversion to dicts, which is slow.
    """
    message = _module("ray.core.generated.gcs_pb2").PlacementGroupTableData
    rows = (message.FromString(data) for data in _state()._connect_and_get_accessor().get_placement_group_table())
    return {row.placement_group_id.hex(): row for row in rows if row.state != message.REMOVED}


def _find_contradiction(
    nodes: Sequence[Mapping[str, Any]], groups: Mapping[str, Any], available: Mapping[str, Any]
) -> str | None:
    """Returns a message if the lists contradict each other; else None. Contradictory lists are of different moments.

    The cause is a node that joined or left between the lists; or a restarted control plane, to which the nodes have not
    reported their use yet.
    """
    for node in nodes:
        if node["Alive"] and node["NodeID"] not in available:
            return f"node '{node['NodeID']}' is alive, but the list of available resources does not have it"
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
        # Ray truncates the amount of each bundle to ten-thousandths.
        if shown > max(left, 0.0) + _UNIT * (n_bundles[node_id] + 0.5):
            return f"node '{node_id}' reports {shown:g} TPU as free, but its groups leave only {left:g}"
    return None


def list_now() -> Listing:
    """Lists nodes, groups and available resources, if possible of one moment.

    Ray has no call that lists all three. Therefore the groups are listed before and after the others. If groups have
    changed in between, or if the lists contradict each other, everything is listed again.

    Raises:
        NotFoundError: the control plane does not answer.
        BusyError: the lists contradicted each other for several seconds.
    """
    state = _state()
    end = time.monotonic() + _LIST_S
    with _translated_errors:
        groups = _live_groups()
        for attempt in itertools.count(1):
            nodes, available = state.node_table(), state.available_resources_per_node()
            before, groups = groups, _live_groups()
            contradiction = _find_contradiction(nodes, groups, available)
            # If groups change all the time, lists without a contradiction are accepted after some tries.
            if contradiction is None and (_placements(before) == _placements(groups) or attempt >= _TRIES):
                rows = {name: state._gen_placement_group_info(row) for name, row in groups.items()}
                return Listing(nodes, rows, available, cluster())
            if time.monotonic() >= end:
                break
            time.sleep(0.02 * min(attempt, _TRIES))
    raise errors.BusyError(f"ray: {contradiction}: expected lists of one moment, tried for {_LIST_S:g} s")


def _placements(groups: Mapping[str, Any]) -> dict[str, tuple[object, ...]]:
    return {name: (row.state, *(bundle.node_id for bundle in row.bundles)) for name, row in groups.items()}


def dead_jobs() -> set[str]:
    """Returns the jobs whose driver has ended."""
    with _translated_errors:
        return {row["JobID"] for row in _state().job_table() if row["IsDead"]}


def current_actor() -> str:
    """Returns the id of the actor that this process is; "" if it is a driver or a task."""
    actor = _worker().actor_id
    return "" if actor.is_nil() else str(actor.hex())


def is_actor_dead(actor_id: str) -> bool:
    """Returns whether that actor has ended, and is not restarted."""
    check_answers()
    with _translated_errors:
        row: Mapping[str, Any] = _state().actor_table(actor_id)
    return row.get("State") == "DEAD"


# --- groups -------------------------------------------------------------------------------------------------------


def create_group(
    bundles: Sequence[Mapping[str, float]],
    selectors: Sequence[Mapping[str, str]],
    strategy: str,
    name: str,
    lifetime: str | None,
) -> Any:
    """Creates a placement group. When this returns, Ray has accepted the group, but not placed it yet.

    Raises:
        ConflictError: the name is in use.
        NotFoundError: the control plane does not answer; it can have created the group nevertheless.
    """
    with _translated_errors:
        try:
            return _module("ray.util.placement_group").placement_group(
                [dict(bundle) for bundle in bundles],
                strategy=strategy,
                name=name,
                lifetime=lifetime,
                bundle_label_selector=[dict(selector) for selector in selectors],
            )
        except _module("ray.exceptions").RaySystemError as error:
            # Ray has no exception class for this answer of the control plane.
            if "already exists" not in str(error):
                raise
            raise errors.ConflictError(f"name '{name}': another placement group of this namespace has it") from None


def get_group(group_id: str) -> Any:
    """Returns the placement group with that id."""
    identity = _module("ray._raylet").PlacementGroupID(bytes.fromhex(group_id))
    return _module("ray.util.placement_group").PlacementGroup(identity)


def group_id(group: Any) -> str:
    """Returns the id of a placement group in the form of Ray's lists."""
    return str(group.id.hex())


class RemovedError(Exception):
    """Another program has removed a group while this process waited for its placement."""


def wait_placed(groups: Sequence[Any]) -> bool:
    """Returns whether all groups are placed. Raises `RemovedError` if a group was removed.

    The function waits at most one second for each group, because signals do not interrupt Ray's wait.
    """
    with _translated_errors:
        return all(_wait(group) for group in groups)


def _wait(group: Any) -> bool:
    try:
        return bool(group.wait(1))
    except Exception as error:
        # Ray has no exception class for this error.
        if type(error) is not Exception or "does not exist" not in str(error):
            raise
        raise RemovedError(f"placement group '{group_id(group)}' was removed by another program") from None


def rows(groups: Sequence[Any]) -> list[dict[str, Any]]:
    """Returns the row of placement_group_table() of each group: name, state and so on; REMOVED for unknown ones."""
    with _translated_errors:
        return [_row_now(group) for group in groups]


def _row_now(group: Any) -> dict[str, Any]:
    """Returns a group's row. First checks that the control plane answers, because the query of a row has no timeout."""
    read_records(())
    row: dict[str, Any] = _state().placement_group_table(group.id)
    return row or {"state": "REMOVED", "name": ""}


def named_groups(names: Sequence[str], job_id: str) -> list[Any]:
    """Returns the live groups of a job with one of the names."""
    check_answers()
    maker = bytes.fromhex(job_id)
    with _translated_errors:
        return [
            get_group(name) for name, row in _live_groups().items() if row.name in names and row.creator_job_id == maker
        ]


def remove_groups(groups: Sequence[Any], timeout_s: float) -> bool:
    """Removes groups, and waits until Ray's control plane reports their chips as free for others.

    Returns:
        Whether the chips were free within `timeout_s`; False: the groups are removed, but their chips are still in use.

    Raises:
        NotFoundError: the control plane does not answer.
    """
    deadline = time.monotonic() + timeout_s
    with _translated_errors:
        chips = _chips([_row_now(group) for group in groups])
        for group in groups:
            read_records(())
            _module("ray.util.placement_group").remove_placement_group(group)
        waiting = list(groups)
        while waiting:
            waiting = [group for group in waiting if _row_now(group)["state"] != "REMOVED"]
            if waiting and not _pause(deadline):
                return False
        id_suffixes = tuple(group_id(group) for group in groups)
        while not _are_chips_free(chips, id_suffixes, deadline - timeout_s + _FREE_S):
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


def _are_chips_free(chips: Mapping[str, float], id_suffixes: tuple[str, ...], until: float) -> bool:
    read_records(())
    available = _state().available_resources_per_node()
    # While a task still runs in a removed group, its node keeps the resources of the group (TPU_group_0_ID). They are
    # searched by id, because Ray's lists do not contain a group that was created a moment ago.
    if any(name.endswith(id_suffixes) for row in available.values() for name in row):
        return False
    # Another program can have got the chips already. Then the wait ends at `until`.
    is_free = all(available[node].get("TPU", 0.0) >= amount for node, amount in chips.items() if node in available)
    return is_free or time.monotonic() >= until


def _pause(deadline: float) -> bool:
    time.sleep(_POLL_S)
    return time.monotonic() < deadline


# --- records ------------------------------------------------------------------------------------------------------
# The adapter's records are in the key-value store of Ray's control plane. There all drivers can read them, and the
# records end with the cluster.


def write_record(key: str, record: str) -> None:
    """Writes the record of `key`, a JSON object, and replaces an earlier one."""
    with _translated_errors:
        _worker().gcs_client.internal_kv_put(key.encode(), record.encode(), True, _NAMESPACE, REPLY_S)


def check_answers(within_s: float = _TRUSTED_S) -> None:
    """Checks that the control plane answers, unless it has answered within the last `within_s` seconds.

    Call this before other queries: without an answer, they wait for a minute, and then Ray ends the driver.

    Raises:
        NotFoundError: it does not answer.
    """
    if time.monotonic() - _answered_at > within_s:
        read_records(())


def read_records(keys: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Returns the records of the keys. Keys without a record are left out."""
    with _translated_errors:
        found = _worker().gcs_client.internal_kv_multi_get(
            [key.encode() for key in keys] or [b"?"], _NAMESPACE, REPLY_S
        )
    return {key.decode(): json.loads(value) for key, value in found.items()}


def list_record_keys() -> list[str]:
    """Returns the keys of all records in the cluster, also those of other ledgers."""
    with _translated_errors:
        return [key.decode() for key in _worker().gcs_client.internal_kv_keys(b"", _NAMESPACE, REPLY_S)]


def delete_record(key: str) -> None:
    """Deletes a record, if it exists."""
    with _translated_errors:
        _worker().gcs_client.internal_kv_del(key.encode(), False, _NAMESPACE, REPLY_S)


# --- environment --------------------------------------------------------------------------------------------------


def tpu_per_chip_text() -> str | None:
    """Returns RAY_TPU_RESOURCE_PER_CHIP of this process. Each process has its own; Ray does not list the value."""
    return os.environ.get("RAY_TPU_RESOURCE_PER_CHIP")
