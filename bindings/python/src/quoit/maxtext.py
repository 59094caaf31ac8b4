# SPDX-License-Identifier: Apache-2.0
"""A model of MaxText 0.2.5, without MaxText: checks the settings of a job on TPU slices before submission.

No MaxText, JAX, file, environment or clock is used. A job that would fail raises nothing: the report has findings.

    >>> from quoit import maxtext
    >>> report = maxtext.check(["ici_tensor_parallelism=4"], accelerator="v6e", topology="4x4", num_slices=2)
    >>> [(axis.name, axis.ici, axis.dcn) for axis in report.axes if axis.size > 1]
    [('data', 1, 2), ('fsdp', 4, 1), ('tensor', 4, 1)]
    >>> report.has_no_errors
    True
    >>> wrong = maxtext.check(["ici_tensor_parallelism=3"], accelerator="v6e", topology="4x4")
    >>> wrong.findings[0].rule
    'unspecified-value'
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _c, catalogue, meshes
from ._c import call, lib
from .checks import CheckRule, Severity
from .errors import InvalidError
from .ray_rules import _resources, train


class MaxtextLinks(_c.Code):
    """The network that the devices along an axis communicate over."""

    ICI = 1
    """Within a slice: ici_*_parallelism."""
    DCN = 2
    """Between slices: dcn_*_parallelism."""


class _MaxtextMeshFlags(enum.IntFlag):
    """libquoit's flags for how a mesh is made."""

    SPLIT_PHYSICAL_AXES = 1
    OPTIMIZE_FOR_V6E = 2


class _MaxtextNumber(_c.Code):
    """libquoit's codes of the number fields of a report."""

    SLICES = 0
    HOSTS = 1
    CHIPS = 2
    DEVICES = 3
    DEVICES_PER_SLICE = 4
    BATCH = 5
    BATCH_TO_LOAD = 6


# --- axis sizes -----------------------------------------------------------------------------------------------------


def fill(sizes: Sequence[int], target: int, links: MaxtextLinks = MaxtextLinks.ICI) -> tuple[int, ...]:
    """Replaces the size -1 by the number that is missing to `target`, like MaxText.

    Sizes are multiplied modulo 2**64 and divided as floating-point numbers. Sizes of 0 and below are accepted where
    MaxText accepts them, such as -2 twice for 4.

    Args:
        sizes: the sizes of the axes; one can be -1.
        target: the product: the devices of a slice, or the slices.
        links: the network of the axes, only for the message.

    Raises:
        InvalidError: more than one size is -1, its value would not be a whole number from 1, or the product is not
            `target`.
    """
    array = meshes._to_sizes(sizes, "sizes")
    number = _c.to_member(MaxtextLinks, links, "links")
    call(lib.quoit_maxtext_fill, number, array, len(array), _c.to_int(target, "target"))
    return tuple(map(int, array))


# --- accelerators ---------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Accelerator:
    """A value of MaxText's compile_topology."""

    name: str
    """Such as "v5p-8"."""
    platform: str
    """"tpu", or "gpu" for the only entry that is not a TPU."""
    topology: str | None
    """libtpu's name, such as "v5:2x2x1"; None without TPUs, like the next three fields."""
    chip_config: str | None
    """"megacore" if two cores are one device, else "default"."""
    host_bounds: tuple[int, ...] | None
    """The chips of a host along x, y and z. MaxText has no hosts with 8 chips."""
    wrap: tuple[bool, ...] | None
    """Whether x, y and z close to rings."""
    num_devices: int
    """The JAX devices of a slice."""


def accelerators() -> tuple[Accelerator, ...]:
    """Returns all accelerators of MaxText, those of a generation by size."""
    return tuple(_accelerator(pointer) for pointer in _c.list_until_null(lib.quoit_maxtext_get_accelerator))


def lookup_accelerator(name: str) -> Accelerator:
    """Returns the accelerator with that name, in MaxText's spelling: "v6e-16".

    Raises:
        InvalidError: MaxText has no such accelerator; the message names the most similar one.
    """
    return _accelerator(call(lib.quoit_maxtext_lookup_accelerator, _c.to_text(name, "name")))


def _accelerator(pointer: Any) -> Accelerator:
    topology = _c.text_or_none(lib.quoit_maxtext_accelerator_get_topology(pointer))
    bounds = tuple(int(lib.quoit_maxtext_accelerator_get_host_bound(pointer, axis)) for axis in range(3))
    wrap = tuple(bool(lib.quoit_maxtext_accelerator_wraps(pointer, axis)) for axis in range(3))
    return Accelerator(
        name=_c.text(lib.quoit_maxtext_accelerator_get_name(pointer)),
        platform=_c.text(lib.quoit_maxtext_accelerator_get_platform(pointer)),
        topology=topology,
        chip_config=_c.text_or_none(lib.quoit_maxtext_accelerator_get_chip_config(pointer)),
        host_bounds=None if topology is None else bounds,
        wrap=None if topology is None else wrap,
        num_devices=int(lib.quoit_maxtext_accelerator_get_n_devices(pointer)),
    )


# --- meshes ---------------------------------------------------------------------------------------------------------


def create_device_mesh(
    devices: meshes.Devices,
    ici: Iterable[int],
    dcn: Iterable[int],
    num_slices: int = 1,
    *,
    custom_mesh: str = "",
    allow_split_physical_axes: bool = False,
    optimize_mesh_for_tpu_v6e: bool = False,
) -> meshes.Mesh:
    """Returns the mesh that MaxText makes: JAX's mesh, or MaxText's own ring in each slice of 16x16 devices.

    Args:
        devices: the devices of all slices.
        ici: the sizes of the axes within a slice; one can be -1.
        dcn: the sizes between slices, one for each of `ici`; one can be -1. Ignored for one slice.
        num_slices: the number of slices that MaxText assumes.
        custom_mesh: "hybrid_ring_64x4", "hybrid_ring_32x8"; "" for none. With one slice it is ignored unless
            physical axes can be split.
        allow_split_physical_axes: whether an axis can use a part of a physical one.
        optimize_mesh_for_tpu_v6e: whether the last four of 2x4 devices along one axis are reversed, which undoes
            JAX's ring.

    Raises:
        InvalidError: sizes cannot be filled, JAX cannot place them, or there is no such custom mesh for them.
    """
    flags = _MaxtextMeshFlags.SPLIT_PHYSICAL_AXES * _c.to_bool(allow_split_physical_axes, "allow_split_physical_axes")
    flags |= _MaxtextMeshFlags.OPTIMIZE_FOR_V6E * _c.to_bool(optimize_mesh_for_tpu_v6e, "optimize_mesh_for_tpu_v6e")
    sizes, dcn_sizes = meshes._to_sizes(ici, "ici"), meshes._to_sizes(dcn, "dcn")
    slices, ring = _c.to_int(num_slices, "num_slices"), _c.to_text(custom_mesh, "custom_mesh")
    handle = meshes._devices_handle(devices)
    if len(sizes) != len(dcn_sizes):
        raise InvalidError(f"dcn of '{len(dcn_sizes)}' sizes: expected {len(sizes)}, one for each of ici")
    return meshes._take_mesh(
        call(lib.quoit_maxtext_mesh_new, handle, sizes, dcn_sizes, len(sizes), slices, ring, flags)
    )


def check_custom_mesh(custom_mesh: str, ici: Iterable[int]) -> None:
    """Checks that MaxText has a custom mesh for these sizes: those of its name, in addition to one or more sizes of 1.

    Args:
        custom_mesh: "hybrid_ring_64x4", "hybrid_ring_32x8".
        ici: the sizes of the axes within a slice, without -1.

    Raises:
        InvalidError: it has none.
    """
    sizes = meshes._to_sizes(ici, "ici")
    call(lib.quoit_maxtext_custom_mesh_check, _c.to_text(custom_mesh, "custom_mesh"), sizes, len(sizes))


def devices_in_box(devices: meshes.Devices, sides: Iterable[int]) -> meshes.Devices:
    """Returns the devices that MaxText uses with a single controller and a subslice_shape.

    They are the devices in a box of chips that begins at the smallest coordinates, in the order of `devices`.

    Args:
        devices: the devices of one slice.
        sides: the sides of the box in chips, x, y, z; a missing side is unlimited.

    Raises:
        InvalidError: there are more than three sides, or no device is left.
    """
    handle, sizes = meshes._devices_handle(devices), meshes._to_sizes(sides, "sides")
    return meshes.Devices._wrap(call(lib.quoit_maxtext_devices_new_box, handle, sizes, len(sizes)))


# --- checks ---------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class SettingFinding:
    """A rule that a job breaks."""

    severity: Severity
    rule: str
    """The name of the rule, such as "ici-product". Names never change their meaning."""
    key: str | None
    """The affected setting, "ici_tensor_parallelism", or several, "ici_*_parallelism"; None for other input."""
    value: str | None
    """The wrong value as given, or the default if none was given, or the word that is not a setting."""
    expected: str
    """The expected value, in words."""
    message: str
    """The whole finding as one sentence."""
    file: str | None
    """The file of `configs` with the setting; None if no file has it, or the command line overrides it."""
    line: int | None
    """The line in that file, from 1; None without a file."""


@dataclasses.dataclass(frozen=True)
class MeshAxis:
    """An axis of the mesh. If MaxText refuses the sizes, they are the given ones."""

    name: str
    """Such as "fsdp"."""
    ici: int
    """Devices within a slice."""
    dcn: int
    """Number of slices."""

    @property
    def size(self) -> int:
        """Devices of all slices; meaningless if a size is -1."""
        return self.ici * self.dcn


@dataclasses.dataclass(frozen=True)
class JobReport:
    """The result of `check`. Unknown numbers are None."""

    findings: tuple[SettingFinding, ...]
    axes: tuple[MeshAxis, ...]
    """The axes of the mesh in its order; empty if mesh_axes is not valid."""
    num_slices: int
    num_hosts: int
    num_chips: int
    num_devices: int
    """JAX devices of all slices."""
    num_devices_per_slice: int
    batch: int | None
    """Rows of one forward pass."""
    batch_to_load: int | None
    """Rows that a step loads."""

    @property
    def has_no_errors(self) -> bool:
        """Whether no finding is an error."""
        return all(one.severity != Severity.ERROR for one in self.findings)


def check(
    settings: Sequence[str] = (),
    *,
    configs: Mapping[str, str | bytes] | None = None,
    accelerator: str | None = None,
    topology: str | None = None,
    num_slices: int = 1,
    chips_per_host: int = 0,
    num_workers: int | tuple[int, int] | None = None,
    resources_per_worker: Mapping[str, float] | None = None,
) -> JobReport:
    """Finds settings that MaxText would refuse or ignore, and settings that contradict the slices.

    For settings of the model, only the names are checked.

    Args:
        settings: arguments of MaxText's command line, "ici_fsdp_parallelism=-1". Settings files in the arguments
            are not read: pass their text in `configs`. Without a file, MaxText's base.yml applies.
        configs: settings files, YAML by name. Later files override earlier ones, and `settings` overrides all. A
            file that another file names as its base_config comes before it.
        accelerator: the generation, in any system's spelling; None with `topology`: a compile_topology in the
            settings defines the slices.
        topology: the topology of each slice, "4x4".
        num_slices: the number of slices.
        chips_per_host: 1, 2, 4 or 8; 0 for Ray's default.
        num_workers: num_workers of the ScalingConfig with which Ray Train runs the job; a tuple (fewest, most) for
            an elastic job; None: no Ray Train.
        resources_per_worker: resources_per_worker of the ScalingConfig, {"TPU": 4}.

    Raises:
        InvalidError: there is no such generation, topology, number or host; the slices are not defined;
            `num_workers` is not a number; or a file is not YAML, or not a map of settings.
    """
    kind, shape = _c.to_text_or_null(accelerator, "accelerator"), _c.to_text_or_null(topology, "topology")
    numbers = _c.to_int(num_slices, "num_slices"), _c.to_int(chips_per_host, "chips_per_host", _c.UINT32)
    words, files = _c.to_texts(settings, "settings"), _to_files(configs)
    resources = _resources.to_resources_or_null(resources_per_worker, "resources_per_worker")
    scaling = _scaling(num_workers, shape, resources)
    if (accelerator is None) != (topology is None):
        given = "accelerator" if topology is None else "topology"
        raise InvalidError(f"{given}: expected both accelerator and topology, or neither")

    job = _c.own_handle(lib.quoit_maxtext_job_new(), lib.quoit_maxtext_job_free)
    if accelerator is not None:
        call(lib.quoit_maxtext_job_set_slices, job, kind, shape, *numbers)
        if scaling != _c.NULL:
            resource = catalogue.lookup_generation(accelerator).ray_resource
            name = kind if resource is None else _c.to_text(resource, "accelerator")
            lib.quoit_ray_scaling_set_accelerator_type(scaling, name)
    for name, text in files:
        call(lib.quoit_maxtext_job_add_config, job, name, text, len(text))
    for index in range(len(words) - 1):
        lib.quoit_maxtext_job_add_setting(job, words[index])
    report = _c.own_handle(call(lib.quoit_maxtext_check, job, scaling), lib.quoit_maxtext_report_free)
    return _report(report)


def _to_files(configs: object) -> list[tuple[bytes, bytes]]:
    if configs is None:
        return []
    if not isinstance(configs, Mapping):
        raise TypeError(f"configs: expected a mapping of str to str or bytes, not {type(configs).__name__}")
    return [
        (_c.to_text(name, "configs"), _c.to_document(text, f"configs[{_c.quoted(name)}]"))
        for name, text in configs.items()
    ]


def check_rules() -> tuple[CheckRule, ...]:
    """Returns the rules of `check`. Newer versions can add rules anywhere in the list."""
    return tuple(
        CheckRule(_c.text(name), Severity(lib.quoit_maxtext_rule_get_severity(index)))
        for index, name in enumerate(_c.list_until_null(lib.quoit_maxtext_rule_get_name))
    )


def _scaling(num_workers: object, topology: Any, resources: Any) -> Any:
    """Returns a ScalingConfig for slices of the topology; NULL without workers."""
    if num_workers is None:
        return _c.NULL
    scaling = _c.own_handle(lib.quoit_ray_scaling_new(), lib.quoit_ray_scaling_free)
    train._set_workers(scaling, num_workers)
    lib.quoit_ray_scaling_set_resources(scaling, resources)
    lib.quoit_ray_scaling_set_accelerators(scaling, lib.QUOIT_RAY_USE_TPU)
    lib.quoit_ray_scaling_set_topology(scaling, topology)
    return scaling


def _report(pointer: Any) -> JobReport:
    def number(which: _MaxtextNumber) -> int:
        return int(lib.quoit_maxtext_report_get_number(pointer, which))

    def known(which: _MaxtextNumber) -> int | None:
        return None if number(which) < 0 else number(which)

    return JobReport(
        findings=tuple(_finding(pointer, at) for at in range(lib.quoit_maxtext_report_get_n_findings(pointer))),
        axes=tuple(_axis(pointer, at) for at in range(lib.quoit_maxtext_report_get_n_axes(pointer))),
        num_slices=number(_MaxtextNumber.SLICES),
        num_hosts=number(_MaxtextNumber.HOSTS),
        num_chips=number(_MaxtextNumber.CHIPS),
        num_devices=number(_MaxtextNumber.DEVICES),
        num_devices_per_slice=number(_MaxtextNumber.DEVICES_PER_SLICE),
        batch=known(_MaxtextNumber.BATCH),
        batch_to_load=known(_MaxtextNumber.BATCH_TO_LOAD),
    )


def _axis(pointer: Any, at: int) -> MeshAxis:
    sizes = (int(lib.quoit_maxtext_report_get_axis_size(pointer, at, links)) for links in MaxtextLinks)
    return MeshAxis(_c.text(lib.quoit_maxtext_report_get_axis_name(pointer, at)), *sizes)


def _finding(pointer: Any, at: int) -> SettingFinding:
    return SettingFinding(
        Severity(lib.quoit_maxtext_report_get_severity(pointer, at)),
        _c.text(lib.quoit_maxtext_report_get_rule(pointer, at)),
        _c.text_or_none(lib.quoit_maxtext_report_get_key(pointer, at)),
        _c.text_or_none(lib.quoit_maxtext_report_get_value(pointer, at)),
        _c.text(lib.quoit_maxtext_report_get_expected(pointer, at)),
        _c.text(lib.quoit_maxtext_report_get_message(pointer, at)),
        _c.text_or_none(lib.quoit_maxtext_report_get_file(pointer, at)),
        int(lib.quoit_maxtext_report_get_line(pointer, at)) or None,
    )
