# SPDX-License-Identifier: Apache-2.0
"""Suite ray-tpu: the placement groups, bundles and heads of a request for whole slices."""

from rows import allow_members, keep_recorded

from quoit.ray_rules.slices import slice_placement_group

SLICE_NAME = "ray.io/tpu-slice-name"
ARGUMENTS = [
    "topology",
    "accelerator_version",
    "resources_per_bundle",
    "strategy",
    "name",
    "lifetime",
    "num_slices",
    "chips_per_vm",
    "pg_per_slice",
    "bundle_label_selector",
    "tpu_resource_per_chip",
]


def read_group(given):
    """The group of a row. Its heads are on slices "slice-0", "slice-1" and so on, or on the slice of the row."""
    allow_members(given, [*ARGUMENTS, "reserved_slice"])
    defaults = {"topology": "4x4", "accelerator_version": "v6e"}  # rows about names and properties have no topology
    group = slice_placement_group(**defaults | {name: given[name] for name in ARGUMENTS if name in given})
    named = given.get("reserved_slice")
    return group.with_slice_names({head.slice_index: named or f"slice-{i}" for i, head in enumerate(group.heads)})


def answer_of_groups(groups):
    return {
        "worker_groups": [
            {"bundles": one.num_bundles, "strategy": one.strategy, "name": one.name, "lifetime": one.lifetime}
            for one in groups
        ],
        "names": [one.name for one in groups],
    }


def slice_group(given, recorded):
    group = read_group(given)
    selectors = [dict(labels) for labels in group.bundle_label_selector]
    asked = [labels.get(SLICE_NAME) for labels in given.get("bundle_label_selector") or []]
    heads = [([dict(head.bundle)], [dict(head.selector)]) for head in group.heads]
    answer = {
        "accelerator_version": group.accelerator_version,
        "topology": group.topology,
        "chips_per_host": group.chips_per_host,
        "devices_per_host": group.devices_per_host,
        "num_hosts": group.num_hosts,
        "num_bundles": group.num_bundles,
        "bundles_per_slice": group.bundles_per_slice,
        "head_reservations": len(heads),
        "single_host": group.is_single_host,
        "bundle_resources": group.bundle_resources,
        "bundle_label_selector": selectors,
        "bundle_labels": selectors,
        "user_value_kept": all(name in (None, labels.get(SLICE_NAME)) for name, labels in zip(asked, selectors)),
        "head_bundle": heads[0][0][0] if heads else None,
        "head_bundles": [bundles for bundles, _ in heads],
        "head_selectors": [labels for _, labels in heads],
        **answer_of_groups(group.placement_groups),
    }
    return keep_recorded(answer, recorded)


def one_group(given, recorded):
    return keep_recorded(answer_of_groups([read_group(given).slice_placement_group]), recorded)


def several_groups(given, recorded):
    return keep_recorded(answer_of_groups(read_group(given).slice_placement_groups), recorded)


OPS = {
    "util.SlicePlacementGroup": slice_group,
    "util.SlicePlacementGroup.slice_placement_group": one_group,
    "util.SlicePlacementGroup.slice_placement_groups": several_groups,
    "util.slice_placement_group": slice_group,
}
