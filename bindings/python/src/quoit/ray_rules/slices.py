# SPDX-License-Identifier: Apache-2.0
"""A model of Ray 2.60's SlicePlacementGroup: what slice_placement_group() requests from the cluster.

`slice_placement_group` takes Ray's arguments, checks them like Ray, and returns the bundles that Ray would request,
their selectors, the placement groups, and the heads. A head is a placement group by which Ray reserves a slice first.
If the bundles of a multi-host slice name no slice, Ray takes the slice name from the head that it has reserved. The
model does not know this name: until you pass it to `SliceGroup.with_slice_names`, these bundles select no slice.

The functions use no state, environment or clock.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _c
from .._c import call, lib
from . import _resources


class _Layout(_c.Code):
    """How bundles are divided into placement groups; Ray's flag pg_per_slice."""

    ONE_GROUP = 0
    GROUP_PER_SLICE = 1


@dataclasses.dataclass(frozen=True)
class WorkerGroup:
    """A placement group with bundles of slices: arguments of Ray's placement_group()."""

    name: str
    """The name; "" for a group without a name."""
    num_bundles: int
    """The number of bundles. The groups divide the bundles in their order."""
    strategy: str
    lifetime: str | None
    """None: the group ends with its creator; else "detached"."""


@dataclasses.dataclass(frozen=True)
class Head(_c.WithFrozenMappings):
    """The placement group by which Ray reserves a slice. It has one bundle, strategy PACK, and no name or lifetime."""

    slice_index: int
    """The index of the slice that the head reserves.

    Ray's release_head_pgs() takes another index, which counts heads: slices that were requested by name have no head.
    """
    bundle: Mapping[str, float]
    """The resources of the bundle: 1 of the head resource, ``{"TPU-v6e-16-head": 1.0}``."""
    selector: Mapping[str, str]
    """The label selector of the bundle: worker 0, and the pod type."""


class SliceGroup(_c.Immutable):
    """Ray's bundles, selectors, placement groups and heads for a request for slices. Immutable.

    Its memory does not grow with the number of bundles: tuples of bundles, groups and heads are made on access.
    """

    __slots__ = ("_handle", "_request")

    _handle: Any
    _request: Any

    def __init__(self, request: Any, slice_names: Mapping[int, str]) -> None:
        """@private"""
        handle = _c.own_handle(call(lib.quoit_ray_slice_group_new, request), lib.quoit_ray_slice_group_free)
        for index, name in slice_names.items():
            text = _c.to_text(name, f"slice_names[{index!r}]")
            call(lib.quoit_ray_slice_group_set_slice_name, handle, _c.to_int(index, "slice_names"), text)
        object.__setattr__(self, "_request", request)
        object.__setattr__(self, "_handle", handle)

    def __repr__(self) -> str:
        return f"<quoit.ray_rules.SliceGroup of {self.num_slices} x {self.accelerator_version} {self.topology}>"

    def with_slice_names(self, slice_names: Mapping[int, str]) -> SliceGroup:
        """Returns the same group with the names of the slices whose heads were reserved.

        Args:
            slice_names: the name of each slice, by the index of the slice from 0. The names of missing slices stay
                unknown.

        Raises:
            InvalidError: a slice in `slice_names` needs no head, or a name contains NUL.
            TypeError: `slice_names` is not a mapping of int to str.
        """
        if not isinstance(slice_names, Mapping):
            raise TypeError(f"slice_names: expected a mapping of int to str, not {type(slice_names).__name__}")
        return SliceGroup(self._request, slice_names)

    @property
    def topology(self) -> str:
        """The topology of each slice in Ray's spelling, "4x4"."""
        return _c.text(lib.quoit_ray_slice_group_get_topology(self._handle))

    @property
    def accelerator_version(self) -> str:
        """The generation in Ray's spelling, "v6e"."""
        return _c.text(lib.quoit_ray_slice_group_get_version(self._handle))

    @property
    def num_slices(self) -> int:
        """The requested number of slices. It is negative if a negative number was requested."""
        return int(lib.quoit_ray_slice_group_get_n_slices(self._handle))

    @property
    def chips_per_host(self) -> int:
        """The chips of one host."""
        return int(lib.quoit_ray_slice_group_get_chips_per_host(self._handle))

    @property
    def devices_per_host(self) -> int:
        """The resource TPU of one host: its chips times the units of one chip."""
        return int(lib.quoit_ray_slice_group_get_devices_per_host(self._handle))

    @property
    def num_hosts(self) -> int:
        """The hosts of all slices, at least one per slice."""
        return int(lib.quoit_ray_slice_group_get_n_hosts(self._handle))

    @property
    def num_bundles(self) -> int:
        """The number of bundles of all slices. Bundles are counted slice by slice; they are not bound to worker ids."""
        return int(lib.quoit_ray_slice_group_get_n_bundles(self._handle))

    @property
    def bundles_per_slice(self) -> int:
        """The number of bundles per slice."""
        return int(lib.quoit_ray_slice_group_get_bundles_per_slice(self._handle))

    @property
    def bundle_resources(self) -> dict[str, float]:
        """The resources of each bundle."""
        return _resources.resources(lib.quoit_ray_slice_group_get_resources(self._handle))

    @property
    def is_single_host(self) -> bool:
        """Whether a slice has one host.

        If so, Ray reserves no heads, and the bundles select no slice. Ray can then put the bundles on hosts of larger
        slices.
        """
        return bool(lib.quoit_ray_slice_group_is_single_host(self._handle))

    def bundle_labels(self, index: int) -> dict[str, str | None]:
        """Returns the selector of one bundle.

        The selector has the requested labels. In a multi-host slice, it also has the slice name. If bundles of the
        slice request slice names, the first of these names is used for all bundles of the slice; else the name of the
        slice whose head was reserved.

        Args:
            index: the index of the bundle in all slices, from 0; negative indices count from the end.

        Raises:
            IndexError: there is no such bundle.
        """
        bundle = range(self.num_bundles)[_c.to_int(index, "index")]
        return _resources.take_selector(lib.quoit_ray_slice_group_dup_bundle_labels(self._handle, bundle))

    @property
    def bundle_label_selector(self) -> tuple[dict[str, str | None], ...]:
        """`bundle_labels` of each bundle."""
        return tuple(self.bundle_labels(index) for index in range(self.num_bundles))

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads that Ray reserves, one after the other.

        Before Ray makes the single group of all slices, it reserves all heads. Before it makes the group of one slice,
        it reserves the head of that slice.
        """
        bundle = {_c.text(lib.quoit_ray_slice_group_get_head_resource(self._handle)): 1.0}
        selector = _resources.labels(lib.quoit_ray_slice_group_get_head_labels(self._handle))
        return tuple(
            Head(int(lib.quoit_ray_slice_group_get_head_slice(self._handle, head)), bundle, selector)
            for head in range(lib.quoit_ray_slice_group_get_n_heads(self._handle))
        )

    @property
    def placement_groups(self) -> tuple[WorkerGroup, ...]:
        """The placement groups with the bundles: one for all slices, or one for each slice."""
        strategy = _c.text(lib.quoit_ray_slice_group_get_strategy(self._handle))
        lifetime = _c.text_or_none(lib.quoit_ray_slice_group_get_lifetime(self._handle))
        return tuple(
            WorkerGroup(
                _c.take_text(lib.quoit_ray_slice_group_dup_group_name(self._handle, index)),
                int(lib.quoit_ray_slice_group_get_group_n_bundles(self._handle, index)),
                strategy,
                lifetime,
            )
            for index in range(lib.quoit_ray_slice_group_get_n_groups(self._handle))
        )

    @property
    def slice_placement_group(self) -> WorkerGroup:
        """The single placement group.

        Raises:
            InvalidError: each slice has its own group: read `slice_placement_groups`. Ray raises too.
        """
        call(lib.quoit_ray_slice_group_check_layout, self._handle, _Layout.ONE_GROUP)
        return self.placement_groups[0]

    @property
    def slice_placement_groups(self) -> tuple[WorkerGroup, ...]:
        """The placement group of each slice.

        Raises:
            InvalidError: there is one group for all slices: read `slice_placement_group`. Ray raises too.
        """
        call(lib.quoit_ray_slice_group_check_layout, self._handle, _Layout.GROUP_PER_SLICE)
        return self.placement_groups


def slice_placement_group(
    topology: str,
    accelerator_version: str,
    resources_per_bundle: Mapping[str, float] | None = None,
    strategy: str = "SPREAD",
    name: str = "",
    lifetime: str | None = None,
    num_slices: int = 1,
    chips_per_vm: int | None = None,
    bundle_label_selector: Iterable[Mapping[str, str | None]] | None = None,
    pg_per_slice: bool = False,
    tpu_resource_per_chip: int | None = None,
) -> SliceGroup:
    """Checks the arguments of Ray's slice_placement_group() like Ray, and returns what Ray would request.

    Args:
        topology: the topology of each slice, "4x4"; surrounding blanks and case do not matter.
        accelerator_version: "v6e", "TPU-V6E"; surrounding blanks do not matter.
        resources_per_bundle: the resources of each bundle; missing CPU and TPU are added.
        strategy: "SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK". It is not checked here, because Ray checks it only
            when it makes the groups.
        name: the name of the group; "" for no name.
        lifetime: "detached"; or None: the groups end with their creator. Heads always end with their creator.
        num_slices: the number of slices. Negative numbers are accepted, like in Ray: such a group has no bundles, and
            its counts are negative.
        chips_per_vm: the chips of one host; None for Ray's default for the topology.
        bundle_label_selector: none, or one selector for each bundle of all slices.
        pg_per_slice: whether each slice has its own placement group.
        tpu_resource_per_chip: how many units of the resource TPU one chip counts for; None is 1. Ray reads
            RAY_TPU_RESOURCE_PER_CHIP here: pass its value.

    Raises:
        InvalidError: topology or version cannot be read or are not listed by Ray, a number is not positive, the TPU
            of a bundle does not divide the TPU of a slice, the number of selectors is not the number of bundles, no
            slice is requested, or a count is beyond 64 bits.
        TypeError: an argument has another type.
    """
    shape = _c.to_text(topology, "topology"), _c.to_text(accelerator_version, "accelerator_version")
    request = _c.own_handle(lib.quoit_ray_slice_request_new(*shape), lib.quoit_ray_slice_request_free)
    resources = _resources.to_resources_or_null(resources_per_bundle, "resources_per_bundle")
    lib.quoit_ray_slice_request_set_resources(request, resources)
    lib.quoit_ray_slice_request_set_strategy(request, _c.to_text(strategy, "strategy"))
    lib.quoit_ray_slice_request_set_name(request, _c.to_text(name, "name"))
    lib.quoit_ray_slice_request_set_lifetime(request, _c.to_text_or_null(lifetime, "lifetime"))
    lib.quoit_ray_slice_request_set_n_slices(request, _c.to_ray_int(num_slices, "num_slices"))
    if chips_per_vm is not None:
        lib.quoit_ray_slice_request_set_chips_per_vm(request, _c.to_ray_int(chips_per_vm, "chips_per_vm"))
    if tpu_resource_per_chip is not None:
        factor = _c.to_ray_int(tpu_resource_per_chip, "tpu_resource_per_chip")
        lib.quoit_ray_slice_request_set_resource_per_chip(request, factor)
    if _c.to_bool(pg_per_slice, "pg_per_slice"):
        lib.quoit_ray_slice_request_set_layout(request, _Layout.GROUP_PER_SLICE)
    what = "bundle_label_selector"
    asked = () if bundle_label_selector is None else bundle_label_selector
    selectors = list(_c.to_iterable(asked, what, "mappings"))
    for index, selector in enumerate(selectors):
        labels = _resources.to_selector({} if selector is None else selector, f"{what}[{index}]")
        lib.quoit_ray_slice_request_add_selector(request, labels)
    group = SliceGroup(request, {})
    if any(selector is None for selector in selectors):  # Ray makes this check last
        raise TypeError(f"{what}: expected mappings of str to str, not None")
    return group


def take_request(request: Any) -> SliceGroup:
    """Returns the group for a request of libquoit. The group then owns the request."""
    return SliceGroup(_c.own_handle(request, lib.quoit_ray_slice_request_free), {})
