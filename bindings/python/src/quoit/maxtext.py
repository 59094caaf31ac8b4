# SPDX-License-Identifier: Apache-2.0
"""A model of MaxText 0.2.5, without MaxText: checks the settings of a job on TPU slices before submission.

The model uses no MaxText, JAX, file, environment or clock. For a job that would fail, `check` raises nothing: its
report has findings.

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
    PARAMETERS = 7
    STATE_BYTES = 8
    GRADIENT_BYTES = 9
    ACTIVATION_BYTES = 10
    MEMORY_BYTES = 11
    HBM_BYTES = 12


# --- axis sizes -----------------------------------------------------------------------------------------------------


def fill(sizes: Sequence[int], target: int, links: MaxtextLinks = MaxtextLinks.ICI) -> tuple[int, ...]:
    """Replaces the size -1, like MaxText, so that the product of the sizes is `target`.

    As in MaxText, sizes are multiplied modulo 2**64 and divided as floating-point numbers. Sizes of 0 and below are
    accepted if MaxText accepts them, such as (-2, -2) for 4.

    Args:
        sizes: the sizes of the axes; one can be -1.
        target: the product of the sizes: the number of devices of a slice, or the number of slices.
        links: the network of the axes. It changes only the words of the error message.

    Raises:
        InvalidError: more than one size is -1, the number for it would not be a whole number from 1, or the product is
            not `target`.
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
    """The value, such as "v5p-8"."""
    platform: str
    """"tpu", or "gpu" for the only entry that is not a TPU."""
    topology: str | None
    """libtpu's name of the topology, such as "v5:2x2x1"; None without TPUs, like the next three fields."""
    chip_config: str | None
    """"megacore" if two cores are one device, else "default"."""
    host_bounds: tuple[int, ...] | None
    """The chips of a host along x, y and z. MaxText has no hosts with 8 chips."""
    wrap: tuple[bool, ...] | None
    """Whether x, y and z close to rings."""
    num_devices: int
    """The JAX devices of a slice."""


def accelerators() -> tuple[Accelerator, ...]:
    """Returns all accelerators of MaxText. The accelerators of a generation are sorted by size."""
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
        dcn: the sizes between slices, one for each of `ici`; one can be -1. With one slice, MaxText ignores them.
        num_slices: the number of slices that MaxText assumes.
        custom_mesh: "hybrid_ring_64x4", "hybrid_ring_32x8"; "" for none. With one slice, MaxText ignores it unless
            `allow_split_physical_axes` is True.
        allow_split_physical_axes: whether an axis of the mesh can use a part of a physical axis.
        optimize_mesh_for_tpu_v6e: whether MaxText reverses the last four devices of an axis over a slice of 2x4
            devices. This undoes JAX's ring.

    Raises:
        InvalidError: the number for a size of -1 cannot be computed, JAX cannot make a mesh of the sizes, or MaxText
            has no such custom mesh for the sizes.
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
    """Checks that MaxText has a custom mesh for these sizes: the two sizes of its name, and one or more sizes of 1.

    Args:
        custom_mesh: "hybrid_ring_64x4", "hybrid_ring_32x8".
        ici: the sizes of the axes within a slice, without -1.

    Raises:
        InvalidError: MaxText has no such custom mesh for the sizes.
    """
    sizes = meshes._to_sizes(ici, "ici")
    call(lib.quoit_maxtext_custom_mesh_check, _c.to_text(custom_mesh, "custom_mesh"), sizes, len(sizes))


def devices_in_box(devices: meshes.Devices, sides: Iterable[int]) -> meshes.Devices:
    """Returns the devices that MaxText uses with a single controller and a subslice_shape.

    MaxText uses the devices in a box of chips that begins at the smallest coordinates, in the order of `devices`.

    Args:
        devices: the devices of one slice.
        sides: the sides of the box in chips, x, y, z; a missing side is unlimited.

    Raises:
        InvalidError: there are more than three sides, or no device is in the box.
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
    """The wrong value as given, or the default if no value was given; or the word that is not a setting."""
    expected: str
    """The expected value, in words."""
    message: str
    """The whole finding as one sentence."""
    file: str | None
    """The file of `configs` that sets the value; None if no file does, or if the command line overrides the file."""
    line: int | None
    """The line in that file, from 1; None without a file."""


@dataclasses.dataclass(frozen=True)
class MeshAxis:
    """An axis of the mesh. If MaxText refuses the sizes, `ici` and `dcn` are the given sizes."""

    name: str
    """The name, such as "fsdp"."""
    ici: int
    """The number of devices along the axis within a slice."""
    dcn: int
    """The number of slices along the axis."""

    @property
    def size(self) -> int:
        """The number of devices along the axis in all slices; meaningless if `ici` or `dcn` is -1."""
        return self.ici * self.dcn


@dataclasses.dataclass(frozen=True)
class JobReport:
    """The result of `check`. Unknown numbers are None."""

    findings: tuple[SettingFinding, ...]
    axes: tuple[MeshAxis, ...]
    """The axes in the order of the mesh; empty if the setting mesh_axes is not valid."""
    num_slices: int
    num_hosts: int
    num_chips: int
    num_devices: int
    """JAX devices of all slices."""
    num_devices_per_slice: int
    batch: int | None
    """The number of rows of one forward pass."""
    batch_to_load: int | None
    """The number of rows that a training step loads."""
    parameters: int | None = None
    """The number of parameters of the model, if the settings describe one that is modelled."""
    state_bytes: int | None = None
    """Weights and optimizer state per device; exact."""
    gradient_bytes: int | None = None
    """Gradients per device; exact."""
    activation_bytes: int | None = None
    """Activations per device; an estimate."""
    memory_bytes: int | None = None
    """The sum of the three."""
    hbm_bytes: int | None = None
    """The memory of a device."""

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
        configs: the text of settings files (YAML) by name. Later files override earlier files, and `settings` overrides
            all files. If a file names another file as its base_config, put the base file first.
        accelerator: the generation, in any system's spelling. If it and `topology` are None, a compile_topology in
            the settings defines the slices.
        topology: the topology of each slice, "4x4".
        num_slices: the number of slices.
        chips_per_host: 1, 2, 4 or 8; 0 for Ray's default.
        num_workers: num_workers of the ScalingConfig with which Ray Train runs the job; a tuple (fewest, most) for
            an elastic job; None: the job does not use Ray Train.
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
        parameters=known(_MaxtextNumber.PARAMETERS),
        state_bytes=known(_MaxtextNumber.STATE_BYTES),
        gradient_bytes=known(_MaxtextNumber.GRADIENT_BYTES),
        activation_bytes=known(_MaxtextNumber.ACTIVATION_BYTES),
        memory_bytes=known(_MaxtextNumber.MEMORY_BYTES),
        hbm_bytes=known(_MaxtextNumber.HBM_BYTES),
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
