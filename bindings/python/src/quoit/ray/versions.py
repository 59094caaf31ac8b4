# SPDX-License-Identifier: Apache-2.0
"""Checks that the installed Ray has the features that the adapter uses. Its version number does not matter."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from typing import Any

from .. import errors

TESTED = ("2.55.0", "2.60.0")
"""The tested versions of Ray. Other versions work if they have all features that `missing` checks."""


@dataclasses.dataclass(frozen=True)
class Feature:
    """A feature of Ray that the adapter uses."""

    description: str
    """A noun phrase for the error message "ray '2.51': expected DESCRIPTION (MODULE.NAME), as 2.60.0 has"."""
    module: str
    name: str
    """The name of an attribute of the module; with dots for nested attributes."""
    parameter: str | None = None
    """A required parameter, if the attribute is a function."""


NEEDED = (
    Feature("label selectors of bundles", "ray.util.placement_group", "placement_group", "bundle_label_selector"),
    Feature("a wait for a group with a timeout", "ray.util.placement_group", "PlacementGroup.wait", "timeout_seconds"),
    Feature("the removal of a group", "ray.util.placement_group", "remove_placement_group"),
    Feature("the list of nodes", "ray._private.state", "GlobalState.node_table"),
    Feature("the list of jobs", "ray._private.state", "GlobalState.job_table"),
    Feature("the row of an actor", "ray._private.state", "GlobalState.actor_table", "actor_id"),
    Feature("the actor of this process", "ray._private.worker", "Worker.actor_id"),
    Feature("the available resources of each node", "ray._private.state", "GlobalState.available_resources_per_node"),
    Feature("a connection to the control plane", "ray._private.state", "GlobalState._connect_and_get_accessor"),
    Feature("the list of groups", "ray._raylet", "GlobalStateAccessor.get_placement_group_table"),
    Feature("the row of a group in the list", "ray.core.generated.gcs_pb2", "PlacementGroupTableData.REMOVED"),
    Feature(
        "the row of a single group", "ray._private.state", "GlobalState.placement_group_table", "placement_group_id"
    ),
    Feature("the conversion of a group's row to a dict", "ray._private.state", "GlobalState._gen_placement_group_info"),
    Feature("a group for a given id", "ray._raylet", "PlacementGroupID"),
    Feature("the driver's connection", "ray._private.worker", "global_worker"),
    Feature("the state of the driver's connection", "ray._private.worker", "Worker.connected"),
    Feature("the id of the driver's job", "ray._private.worker", "Worker.current_job_id"),
    Feature("the id of the cluster", "ray._raylet", "InnerGcsClient.cluster_id"),
    Feature(
        "read access to the control plane's key-value store", "ray._raylet", "InnerGcsClient.internal_kv_multi_get"
    ),
    Feature("the list of keys of that store", "ray._raylet", "InnerGcsClient.internal_kv_keys", "prefix"),
    Feature(
        "write access to the control plane's key-value store",
        "ray._raylet",
        "InnerGcsClient.internal_kv_put",
        "overwrite",
    ),
    Feature(
        "deletion from the control plane's key-value store",
        "ray._raylet",
        "InnerGcsClient.internal_kv_del",
        "del_by_prefix",
    ),
)
"""The features that Ray's API reference does not promise. Ray 2.51 lacks "a connection to the control plane"."""


def _has(feature: Feature) -> bool:
    try:
        value: Any = importlib.import_module(feature.module)
        for name in feature.name.split("."):
            value = getattr(value, name)
        return feature.parameter is None or feature.parameter in inspect.signature(value).parameters
    except (ImportError, AttributeError, ValueError, TypeError):
        return False


def missing(needed: tuple[Feature, ...] = NEEDED) -> tuple[str, ...]:
    """Returns the features of `needed` that the installed Ray lacks, each as "DESCRIPTION (MODULE.NAME)"."""
    return tuple(f"{one.description} ({one.module}.{one.name})" for one in needed if not _has(one))


_checked = False


def check() -> None:
    """Checks the installed Ray, without a query to a cluster.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        VersionError: the installed Ray lacks features, which the message names.
    """
    global _checked
    if _checked:
        return
    try:
        ray = importlib.import_module("ray")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"quoit.ray needs Ray: pip install 'ray=={TESTED[-1]}' ({error})") from error
    lacking = missing()
    if lacking:
        version = getattr(ray, "__version__", "unknown")
        raise errors.VersionError(f"ray '{version}': expected {', '.join(lacking)}, as {TESTED[-1]} has")
    _checked = True
