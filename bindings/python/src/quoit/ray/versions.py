# SPDX-License-Identifier: Apache-2.0
"""Which Ray the adapter works with: asked of what Ray has, not of its number."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from typing import Any

from .. import errors

TESTED = ("2.55.0", "2.60.0")
"""The versions that this adapter was run with. Another one works where it has all that `missing` looks for."""


@dataclasses.dataclass(frozen=True)
class Feature:
    """Something that the adapter uses of Ray."""

    what: str
    """As a user knows it."""
    module: str
    name: str
    """Of an attribute of the module, dotted where it is one's own attribute."""
    parameter: str | None = None
    """That the attribute, a function, must have."""


NEEDED = (
    Feature("label selectors of bundles", "ray.util.placement_group", "placement_group", "bundle_label_selector"),
    Feature("a bounded wait for a group", "ray.util.placement_group", "PlacementGroup.wait", "timeout_seconds"),
    Feature("removal of a group", "ray.util.placement_group", "remove_placement_group"),
    Feature("the list of nodes", "ray._private.state", "GlobalState.node_table"),
    Feature("the list of jobs", "ray._private.state", "GlobalState.job_table"),
    Feature("what is available on each node", "ray._private.state", "GlobalState.available_resources_per_node"),
    Feature("a connection to the control plane", "ray._private.state", "GlobalState._connect_and_get_accessor"),
    Feature("the list of groups", "ray._raylet", "GlobalStateAccessor.get_placement_group_table"),
    Feature("a group of the list", "ray.core.generated.gcs_pb2", "PlacementGroupTableData.REMOVED"),
    Feature("one group's row", "ray._private.state", "GlobalState.placement_group_table", "placement_group_id"),
    Feature("a group's row as a dict", "ray._private.state", "GlobalState._gen_placement_group_info"),
    Feature("a group by its id", "ray._raylet", "PlacementGroupID"),
    Feature("the driver", "ray._private.worker", "global_worker"),
    Feature("whether there is one", "ray._private.worker", "Worker.connected"),
    Feature("the driver's job", "ray._private.worker", "Worker.current_job_id"),
    Feature("the cluster's id", "ray._raylet", "InnerGcsClient.cluster_id"),
    Feature("reading the control plane's key-value store", "ray._raylet", "InnerGcsClient.internal_kv_multi_get"),
    Feature("writing to it", "ray._raylet", "InnerGcsClient.internal_kv_put", "overwrite"),
    Feature("deleting from it", "ray._raylet", "InnerGcsClient.internal_kv_del", "del_by_prefix"),
)
"""All of it that is not said in ray's reference of the API to be there. Ray 2.51 lacks the connection."""


def _has(feature: Feature) -> bool:
    try:
        value: Any = importlib.import_module(feature.module)
        for name in feature.name.split("."):
            value = getattr(value, name)
        return feature.parameter is None or feature.parameter in inspect.signature(value).parameters
    except (ImportError, AttributeError, ValueError, TypeError):
        return False


def missing(needed: tuple[Feature, ...] = NEEDED) -> tuple[str, ...]:
    """What the installed Ray lacks of `needed`, as a user knows it and as it is called; empty: it will do."""
    return tuple(f"{one.what} ({one.module}.{one.name})" for one in needed if not _has(one))


_checked = False


def check() -> None:
    """Raises where the installed Ray will not do; nothing has been asked of a cluster then.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        VersionError: it lacks something; the message says what.
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
