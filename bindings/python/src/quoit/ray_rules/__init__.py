# SPDX-License-Identifier: Apache-2.0
"""Ray's own rules as functions: what Ray 2.60 would say, asked without Ray.

All are pure: no state, no environment, no clock; any thread may call them. They answer what Ray answers, also where
that is odd, and refuse what Ray refuses with `quoit.InvalidError` and a message of their own; an argument of another
type is a TypeError. Functions are called as those of C without ``quoit_ray_``; where Ray has an argument of that
meaning, arguments are called as Ray's.

    >>> from quoit import ray_rules
    >>> ray_rules.pod_type("2x2x2", "TPU-V4")
    'v4-16'
    >>> ray_rules.worker_resources("4x4", "TPU-V6E", num_slices=2)
    WorkerResources(num_workers=8, resources={'CPU': 1.0, 'TPU': 4.0})
"""

from __future__ import annotations

from .arithmetic import (
    WorkerResources,
    chips_from_topology,
    chips_from_type,
    chips_per_host,
    coordinator_env,
    cores_per_chip,
    default_chips_per_vm,
    normalize_type,
    pod_type,
    resource_per_chip,
    slices_for_workers,
    topology_is_valid,
    train_env,
    type_is_valid,
    valid_topologies,
    version_from_type,
    visible_chips_per_host,
    worker_resources,
)
from .hosts import (
    Host,
    Node,
    gce_check,
    gce_is_single_host,
    gce_pod_type,
    gke_pod_type,
    host,
    node,
    pod_workers,
    quantity_is_valid,
    units,
    visible_env,
    visible_ids,
)
from .labels import (
    fallback_check,
    fallback_check_json,
    label_check_key,
    label_check_value,
    labels_parse,
    labels_parse_json,
    selector_check,
    selector_check_value,
    selector_holds,
    selector_is_negated,
    selector_values,
)
from .nodes import (
    count_free_slices,
    count_ready_slices,
    count_slices,
    nodes_of_slice,
    slice_name_of_node,
)
from .placement import (
    Cluster,
    ClusterNode,
    Placement,
    PlacementGroup,
    PlacementResult,
    bundle_resource,
    group_resource,
    resource_id,
    strategy_parse,
)

__all__ = [
    "Cluster",
    "ClusterNode",
    "Host",
    "Node",
    "Placement",
    "PlacementGroup",
    "PlacementResult",
    "WorkerResources",
    "bundle_resource",
    "chips_from_topology",
    "chips_from_type",
    "chips_per_host",
    "coordinator_env",
    "cores_per_chip",
    "count_free_slices",
    "count_ready_slices",
    "count_slices",
    "default_chips_per_vm",
    "fallback_check",
    "fallback_check_json",
    "gce_check",
    "gce_is_single_host",
    "gce_pod_type",
    "gke_pod_type",
    "group_resource",
    "host",
    "label_check_key",
    "label_check_value",
    "labels_parse",
    "labels_parse_json",
    "node",
    "nodes_of_slice",
    "normalize_type",
    "pod_type",
    "pod_workers",
    "quantity_is_valid",
    "resource_id",
    "resource_per_chip",
    "selector_check",
    "selector_check_value",
    "selector_holds",
    "selector_is_negated",
    "selector_values",
    "slice_name_of_node",
    "slices_for_workers",
    "strategy_parse",
    "topology_is_valid",
    "train_env",
    "type_is_valid",
    "units",
    "valid_topologies",
    "version_from_type",
    "visible_chips_per_host",
    "visible_env",
    "visible_ids",
    "worker_resources",
]
