# SPDX-License-Identifier: Apache-2.0
"""Ray's SlicePlacementGroup without Ray: what slice_placement_group() of Ray 2.60 asks the cluster for.

`slice_placement_group` takes Ray's arguments, checks them as Ray does, and says which bundles Ray would make of them,
under which selectors, in how many placement groups, and which heads it would take first. A slice of several hosts whose
bundles name no slice gets its name from the head that Ray takes for it: until `SliceGroup.with_slice_names` says it,
its bundles select no slice.

Everything is pure: no state, no environment, no clock.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from .. import _c
from .._c import call, lib
from . import _resources


class _Layout(_c.Code):
    """How the bundles are divided into placement groups; Ray has a flag, pg_per_slice."""

    ONE_GROUP = 0
    GROUP_PER_SLICE = 1


@dataclasses.dataclass(frozen=True)
class WorkerGroup:
    """A placement group that holds bundles of slices, as Ray's placement_group() is asked for it."""

    name: str
    """Empty for none."""
    num_bundles: int
    """They are the next of all bundles, in their order."""
    strategy: str
    lifetime: str | None
    """None: it ends with its creator; else "detached"."""


@dataclasses.dataclass(frozen=True)
class Head(_c.WithMappings):
    """The placement group of one bundle, PACK, by which Ray takes a slice; it has neither name nor lifetime."""

    slice_index: int
    """The slice that it is taken for.

    Ray's release_head_pgs() counts heads, not slices: they part where slices before it were asked for by name.
    """
    bundle: Mapping[str, float]
    """1 of the head resource, ``{"TPU-v6e-16-head": 1.0}``."""
    selector: Mapping[str, str]
    """Worker 0, and the pod type."""


class SliceGroup(_c.Sealed):
    """What Ray makes of a request for slices: bundles, selectors, placement groups and heads. Immutable.

    It costs what the request does; the tuples are made when they are asked for, with an element for each bundle,
    placement group or head.
    """

    __slots__ = ("_handle", "_request")

    _handle: Any
    _request: Any

    def __init__(self, request: Any, slice_names: Mapping[int, str]) -> None:
        """@private"""
        handle = _c.owned(call(lib.quoit_ray_slice_group_new, request), lib.quoit_ray_slice_group_free)
        for index, name in slice_names.items():
            text = _c.to_text(name, f"slice_names[{index!r}]")
            call(lib.quoit_ray_slice_group_set_slice_name, handle, _c.to_int(index, "slice_names"), text)
        object.__setattr__(self, "_request", request)
        object.__setattr__(self, "_handle", handle)

    def __repr__(self) -> str:
        return f"<quoit.ray_rules.SliceGroup of {self.num_slices} x {self.accelerator_version} {self.topology}>"

    def with_slice_names(self, slice_names: Mapping[int, str]) -> SliceGroup:
        """The same group where the heads that were taken turned out to be those of these slices.

        Args:
            slice_names: the name by the index of the slice, 0 for the first; those that are not in it stay unknown.

        Raises:
            InvalidError: no head is taken for one of the slices, or a name holds NUL.
            TypeError: `slice_names` is no mapping of int to str.
        """
        if not isinstance(slice_names, Mapping):
            raise TypeError(f"slice_names: expected a mapping of int to str, not {type(slice_names).__name__}")
        return SliceGroup(self._request, slice_names)

    @property
    def topology(self) -> str:
        """The topology of each slice as Ray writes it, "4x4"."""
        return _c.text(lib.quoit_ray_slice_group_get_topology(self._handle))

    @property
    def accelerator_version(self) -> str:
        """The generation as Ray writes it, "v6e"."""
        return _c.text(lib.quoit_ray_slice_group_get_version(self._handle))

    @property
    def num_slices(self) -> int:
        """The slices that were asked for; below 0 where less than none were."""
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
        """The hosts over all slices, at least one a slice."""
        return int(lib.quoit_ray_slice_group_get_n_hosts(self._handle))

    @property
    def num_bundles(self) -> int:
        """The bundles over all slices, slice by slice; those of a slice are not tied to its worker ids."""
        return int(lib.quoit_ray_slice_group_get_n_bundles(self._handle))

    @property
    def bundles_per_slice(self) -> int:
        """The bundles of each slice."""
        return int(lib.quoit_ray_slice_group_get_bundles_per_slice(self._handle))

    @property
    def bundle_resources(self) -> dict[str, float]:
        """What each bundle asks for."""
        return _resources.resources(lib.quoit_ray_slice_group_get_resources(self._handle))

    @property
    def is_single_host(self) -> bool:
        """Whether a slice is one host.

        Then no heads are taken and bundles select no slice, so that Ray may put them on hosts of greater slices.
        """
        return bool(lib.quoit_ray_slice_group_is_single_host(self._handle))

    def bundle_labels(self, index: int) -> dict[str, str | None]:
        """What one bundle selects its node by.

        The labels that were asked for, and in slices of several hosts the slice: the first that a bundle of that slice
        asks for, over what this one asks for, or the one whose head was taken.

        Args:
            index: of the bundle, 0 for the first over all slices; below 0 from the end.

        Raises:
            IndexError: there is no such bundle.
        """
        bundle = range(self.num_bundles)[_c.to_int(index, "index")]
        return _resources.taken_selector(lib.quoit_ray_slice_group_dup_bundle_labels(self._handle, bundle))

    @property
    def bundle_label_selector(self) -> tuple[dict[str, str | None], ...]:
        """`bundle_labels` of each bundle."""
        return tuple(self.bundle_labels(index) for index in range(self.num_bundles))

    @property
    def heads(self) -> tuple[Head, ...]:
        """The heads that Ray takes, one after the other.

        It takes all before it makes the one group, or each before it makes its slice's own.
        """
        bundle = {_c.text(lib.quoit_ray_slice_group_get_head_resource(self._handle)): 1.0}
        selector = _resources.labels(lib.quoit_ray_slice_group_get_head_labels(self._handle))
        return tuple(
            Head(int(lib.quoit_ray_slice_group_get_head_slice(self._handle, head)), bundle, selector)
            for head in range(lib.quoit_ray_slice_group_get_n_heads(self._handle))
        )

    @property
    def placement_groups(self) -> tuple[WorkerGroup, ...]:
        """The placement groups that hold the bundles: one, or one for each slice."""
        strategy = _c.text(lib.quoit_ray_slice_group_get_strategy(self._handle))
        lifetime = _c.text_or_none(lib.quoit_ray_slice_group_get_lifetime(self._handle))
        return tuple(
            WorkerGroup(
                _c.taken_text(lib.quoit_ray_slice_group_dup_group_name(self._handle, index)),
                int(lib.quoit_ray_slice_group_get_group_n_bundles(self._handle, index)),
                strategy,
                lifetime,
            )
            for index in range(lib.quoit_ray_slice_group_get_n_groups(self._handle))
        )

    @property
    def slice_placement_group(self) -> WorkerGroup:
        """The one placement group.

        Raises:
            InvalidError: each slice has its own, as Ray refuses: read `slice_placement_groups`.
        """
        call(lib.quoit_ray_slice_group_check_layout, self._handle, _Layout.ONE_GROUP)
        return self.placement_groups[0]

    @property
    def slice_placement_groups(self) -> tuple[WorkerGroup, ...]:
        """The placement group of each slice.

        Raises:
            InvalidError: there is one for all, as Ray refuses: read `slice_placement_group`.
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
    """Checks the arguments of Ray's slice_placement_group() as Ray does, and says what Ray would ask the cluster for.

    Args:
        topology: of each slice, "4x4"; blanks around it and capitals do not matter.
        accelerator_version: "v6e", "TPU-V6E"; blanks around it do not matter.
        resources_per_bundle: what each bundle asks for; CPU and TPU that are not in it are added.
        strategy: "SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK". Ray checks it when it makes the groups, not here.
        name: of the group, "" for none.
        lifetime: "detached", or None: the groups end with their creator. Heads always do.
        num_slices: how many slices. Less than 0 are accepted, as by Ray: such a group has no bundles, and counts below
            0.
        chips_per_vm: the chips of one host; None: as Ray takes them from the topology.
        bundle_label_selector: none, or one selector for each bundle over all slices.
        pg_per_slice: whether each slice has a placement group of its own.
        tpu_resource_per_chip: how many units of the resource TPU one chip counts for; None is 1. Ray reads
            RAY_TPU_RESOURCE_PER_CHIP here: pass it.

    Raises:
        InvalidError: topology or version cannot be read or are not listed by Ray, a number is not positive, the TPU of
            a bundle do not divide those of a slice, there are selectors and not as many as bundles, no slice is asked
            for, or a count is beyond 64 bits.
        TypeError: an argument has another type.
    """
    shape = _c.to_text(topology, "topology"), _c.to_text(accelerator_version, "accelerator_version")
    request = _c.owned(lib.quoit_ray_slice_request_new(*shape), lib.quoit_ray_slice_request_free)
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
    selectors = list(_c.elements(asked, what, "mappings"))
    for index, selector in enumerate(selectors):
        labels = _resources.to_selector({} if selector is None else selector, f"{what}[{index}]")
        lib.quoit_ray_slice_request_add_selector(request, labels)
    group = SliceGroup(request, {})
    if any(selector is None for selector in selectors):  # of all that is wrong with a request Ray sees this last
        raise TypeError(f"{what}: expected mappings of str to str, not None")
    return group


def taken_request(request: Any) -> SliceGroup:
    """The group of a request that is the caller's."""
    return SliceGroup(_c.owned(request, lib.quoit_ray_slice_request_free), {})
