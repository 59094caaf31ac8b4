# SPDX-License-Identifier: Apache-2.0
"""Device meshes without JAX: the order in which JAX 0.12 puts the devices of slices into an array of a requested shape.

JAX chooses this order so that neighbours in the array are neighbours in hardware. `Devices` is a list of devices like
jax.devices(). The functions have the names and arguments of JAX's functions, and put the same devices into the same
places. If JAX raises an error, the function here raises `quoit.InvalidError`, and the message proposes a shape that
works.

    >>> from quoit import meshes
    >>> devices = meshes.Devices.of_slices("v6e", "4x4", 2)
    >>> mesh = meshes.create_hybrid_device_mesh((1, 16), (2, 1), devices)
    >>> mesh.shape, mesh.ids[:6]
    ((2, 16), (0, 1, 2, 3, 7, 6))

Put axes with more communication later in the shape: JAX assigns the physical axes from the last axis to the first.
Coordinates are in the order x, y, z. The functions use no state, environment or clock.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, overload

from . import _c, errors
from ._c import call, ffi, lib
from .groups import Group

_INT32 = range(-(2**31), 2**31)
_COUNT = range(2**31)


class _MeshFlags(enum.IntFlag):
    """libquoit's flags for how a mesh is made."""

    CONTIGUOUS_SUBMESHES = 1
    SPLIT_PHYSICAL_AXES = 2
    PROCESS_GRANULES = 4
    GRANULES_AS_LISTED = 8


class MeshOrder(_c.Code):
    """The rule that determines the order of devices."""

    TORUS = 1
    """JAX assigns physical axes, or parts of physical axes, to the axes of the mesh."""
    RING = 2
    """JAX has a fixed ring through exactly these devices. The axes of the mesh divide the ring."""
    LISTED = 3
    """The devices keep the order of the list."""


class MeshNetwork(_c.Code):
    """The network that the devices along an axis communicate over."""

    NONE = 0
    """The axis has one device."""
    CHIP = 1
    """The devices of each line along the axis are cores of one chip."""
    ICI = 2
    """The devices of each line are in one slice."""
    DCN = 3
    """Each device of a line is in another slice."""
    ICI_AND_DCN = 4
    """The devices of a line are in several slices, with several devices in each slice."""


class MeshForm(_c.Code):
    """The arrangement of the devices of one slice along an axis of a mesh."""

    NONE = 0
    """No two devices along the axis are in one slice."""
    LINE = 1
    """Each device is at most one hop from the next."""
    RING = 2
    """Like LINE, on at least three chips, and the last device is one hop from the first."""
    JUMPS = 3
    """Some devices are more than one hop from the next."""


# --- devices ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Device:
    """A JAX device."""

    id: int
    coordinates: tuple[int, int, int]
    """The chip's x, y and z; z is 0 in slices of two dimensions."""
    core: int = 0
    """The number of the core on the chip."""
    process_index: int = 0
    slice_index: int | None = None
    """The slice index; None if JAX gives the device no slice index."""


class Devices(_c.Immutable, Sequence[Device]):
    """A list of JAX devices of one kind, in the order in which JAX gets them.

    Args:
        kind: device_kind in JAX, "TPU v5 lite", or any system's name of a generation: "v6e" is "TPU v6 lite".
        devices: the devices; ids can repeat.

    Raises:
        InvalidError: the kind is unknown, a core, process index or slice index is below 0, a number is beyond 32 bits,
            or there are more than 4,194,304 devices.
    """

    __slots__ = ("_handle",)

    _handle: Any
    _pickle_advice = "send its kind and a list of its devices"

    def __init__(self, kind: str, devices: Iterable[Device]) -> None:
        handle = _c.own_handle(call(lib.quoit_devices_new, _c.to_text(kind, "kind")), lib.quoit_devices_free)
        for index, device in enumerate(_c.to_iterable(devices, "devices", "Device")):
            _add(handle, device, f"devices[{index}]")
        object.__setattr__(self, "_handle", handle)

    @classmethod
    def of_slices(
        cls, kind: str, topology: str, slices: int = 1, *, chips_per_host: int = 0, devices_per_chip: int = 0
    ) -> Devices:
        """Returns the devices of whole slices in JAX's order.

        The order is by slice, by host (x fastest), by chip of the host (x fastest), and by core. Ids have another
        order: they number the devices of a slice by core, x, y and z, the core fastest, and then the next slice.
        Process indices number the hosts of a slice by x, y and z, x fastest, and then the next slice.

        Args:
            kind: like for the class.
            topology: the shape of each slice in chips, "4x4" or "2x2x4"; it need not be in the catalogue.
            slices: the number of slices, with slice indices from 0.
            chips_per_host: 1, 2, 4 or 8; 0 for JAX's hosts of 2x2 chips, or of fewer chips if the slice is smaller.
            devices_per_chip: 1 or 2; 0 for the number that devices of this kind have.

        Raises:
            InvalidError: kind or topology is not valid, the slice cannot be divided into such hosts, the devices per
                chip are unknown, a number is out of range, or there are more than 4,194,304 devices.
        """
        pointer = call(
            lib.quoit_devices_new_slices,
            _c.to_text(kind, "kind"),
            _c.to_text(topology, "topology"),
            _c.to_int(slices, "slices", _c.UINT32),
            _c.to_int(chips_per_host, "chips_per_host", _c.UINT32),
            _c.to_int(devices_per_chip, "devices_per_chip", _c.UINT32),
        )
        return cls._wrap(pointer)

    @classmethod
    def of_group(cls, group: Group) -> Devices:
        """Returns the devices of the slices of a group. Slice index i is the slice with id i in `Profile.QUOIT`.

        A slice with a draining host is included. A group of bundles has the same box of chips in each slice: only the
        devices of these boxes are included, and their coordinates count from the first chip of the box. The process
        indices are the process ids of `quoit.topology`.

        Raises:
            InvalidError: the group is removed, has no TPU, its bundles do not form one job over ICI (the message has
                the reason), or it has slices of several kinds.
            NotNowError: a slice or a bundle is lost, a bundle is not placed, or the class of a slice is unknown; the
                message has the slice or bundle, and the remedy.
        """
        if not isinstance(group, Group):
            raise TypeError(f"group: expected a quoit.Group, not {type(group).__name__}")
        return cls._wrap(call(lib.quoit_devices_new_group, group._handle))

    @classmethod
    def _wrap(cls, pointer: Any) -> Devices:
        devices_list = Devices.__new__(Devices)
        object.__setattr__(devices_list, "_handle", _c.own_handle(pointer, lib.quoit_devices_free))
        return devices_list

    @property
    def kind(self) -> str:
        """JAX's name of the kind: "TPU v6 lite", also if the list was made with "v6e"."""
        return _c.text(lib.quoit_devices_get_kind(self._handle))

    def __len__(self) -> int:
        return int(lib.quoit_devices_get_n_devices(self._handle))

    @overload
    def __getitem__(self, index: int) -> Device: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Device, ...]: ...

    def __getitem__(self, index: int | slice) -> Device | tuple[Device, ...]:
        if isinstance(index, slice):
            return tuple(map(self._at, range(*index.indices(len(self)))))
        number = _c.to_int(index, "index")
        if not -len(self) <= number < len(self):
            raise IndexError(f"index {number}: expected less than {len(self)}")
        return self._at(number % len(self))

    def _at(self, index: int) -> Device:
        x, y, z = lib.quoit_devices_get_coordinates(self._handle, index)[0:3]
        slice_index = int(lib.quoit_devices_get_slice_index(self._handle, index))
        return Device(
            int(lib.quoit_devices_get_id(self._handle, index)),
            (x, y, z),
            int(lib.quoit_devices_get_core(self._handle, index)),
            int(lib.quoit_devices_get_process_index(self._handle, index)),
            None if slice_index < 0 else slice_index,
        )

    def __repr__(self) -> str:
        return f"<quoit.meshes.Devices: {len(self)} of {self.kind}>"


def _add(handle: Any, device: object, what: str) -> None:
    if not isinstance(device, Device):
        raise TypeError(f"{what}: expected a Device, not {type(device).__name__}")
    coordinates = [
        _c.to_int(one, f"{what}.coordinates[{axis}]", _INT32)
        for axis, one in enumerate(_c.to_iterable(device.coordinates, f"{what}.coordinates", "int"))
    ]
    if len(coordinates) != 3:
        raise errors.InvalidError(f"{what}.coordinates of '{len(coordinates)}' numbers: expected x, y and z")
    slice_index = -1 if device.slice_index is None else _c.to_int(device.slice_index, f"{what}.slice_index", _COUNT)
    call(
        lib.quoit_devices_add,
        handle,
        _c.to_int(device.id, f"{what}.id"),
        ffi.new("int32_t[3]", coordinates),
        _c.to_int(device.core, f"{what}.core", _COUNT),
        _c.to_int(device.process_index, f"{what}.process_index", _COUNT),
        slice_index,
    )


# --- meshes -------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class PhysicalAxis:
    """A physical axis of a granule, and how the axes of the mesh divide it among them."""

    name: str
    """"x", "y", "z" or "core"; "4" to "7" for the further axes of `create_device_mesh_for_nd_torus`."""
    size: int
    """The number of devices along the physical axis."""
    shares: tuple[int, ...]
    """For each axis of the mesh, its factor of `size`; 1: no share. The product of the factors is `size`."""


@dataclasses.dataclass(frozen=True)
class Granule:
    """A slice, or a process, of a mesh. A mesh that is not hybrid has one granule."""

    key: int | None
    """The slice index or process index; None for a mesh that is not hybrid."""
    order: MeshOrder
    """The order of the devices in the granule. Granules can differ: JAX makes a ring only at the origin."""
    physical_axes: tuple[PhysicalAxis, ...]
    """The physical axes; empty unless `order` is `MeshOrder.TORUS`. With contiguous submeshes, z comes before y."""


@dataclasses.dataclass(frozen=True)
class Mesh:
    """Devices in an array, and the rules of their order."""

    shape: tuple[int, ...]
    """The number of devices along each axis, in all granules."""
    dcn_shape: tuple[int, ...]
    """The number of granules along each axis; 1 if the axis is within a granule."""
    ids: tuple[int, ...]
    """The ids of the devices, row-major: the last axis is the fastest."""
    indices: tuple[int, ...]
    """The indices of the same devices in the list that the function got."""
    granules: tuple[Granule, ...]
    """The granules, row-major in `dcn_shape`."""
    _handle: ClassVar[Any] = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_handle"}


def create_device_mesh(
    mesh_shape: Iterable[int],
    devices: Devices,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> Mesh:
    """Makes a mesh of the devices of one slice, or of a box in it.

    Args:
        mesh_shape: the sizes of 1 to 64 axes; their product is the number of devices.
        devices: the devices.
        contiguous_submeshes: whether the devices of a process stay together; only a few shapes allow it.
        allow_split_physical_axes: whether an axis can use a part of a physical axis.

    Raises:
        InvalidError: the product of the sizes is not the number of devices (the message has the nearest sizes that
            work), the devices are not a box of chips without holes, an axis does not consist of whole physical axes
            (the message has shapes that work), or JAX has no contiguous submeshes of that shape.
    """
    flags = _flag(_MeshFlags.CONTIGUOUS_SUBMESHES, contiguous_submeshes, "contiguous_submeshes")
    flags |= _flag(_MeshFlags.SPLIT_PHYSICAL_AXES, allow_split_physical_axes, "allow_split_physical_axes")
    sizes = _to_sizes(mesh_shape, "mesh_shape")
    return _take_mesh(call(lib.quoit_mesh_new, _devices_handle(devices), sizes, len(sizes), flags))


def create_hybrid_device_mesh(
    mesh_shape: Iterable[int],
    dcn_mesh_shape: Iterable[int],
    devices: Devices,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> Mesh:
    """Makes a mesh of the devices of several granules, which are slices or processes.

    Each size of the mesh is the size in the granule times the number of granules. Along an axis, all devices of one
    granule come before those of the next granule. If the shapes have different lengths, the shorter shape gets leading
    axes of size 1.

    Args:
        mesh_shape: the shape of the mesh in each granule (ICI).
        dcn_mesh_shape: the shape of the granules (DCN).
        devices: the devices of all granules.
        process_is_granule: True: the granules are processes; False: they are slices.
        should_sort_granules_by_key: True: the granules are sorted by slice or process index. False: the granules are in
            the order of their first devices.
        allow_split_physical_axes: whether an axis can use a part of a physical axis.

    Raises:
        InvalidError: like `create_device_mesh` for any granule, the product of `dcn_mesh_shape` is not the number
            of granules (the message has the nearest shape that works), or a device has no slice index.
    """
    flags = _flag(_MeshFlags.PROCESS_GRANULES, process_is_granule, "process_is_granule")
    flags |= _flag(_MeshFlags.SPLIT_PHYSICAL_AXES, allow_split_physical_axes, "allow_split_physical_axes")
    if not _c.to_bool(should_sort_granules_by_key, "should_sort_granules_by_key"):
        flags |= _MeshFlags.GRANULES_AS_LISTED
    sizes, dcn_sizes = _to_sizes(mesh_shape, "mesh_shape"), _to_sizes(dcn_mesh_shape, "dcn_mesh_shape")
    handle = _devices_handle(devices)
    return _take_mesh(call(lib.quoit_mesh_new_hybrid, handle, sizes, len(sizes), dcn_sizes, len(dcn_sizes), flags))


def make_mesh(mesh_shape: Iterable[int], devices: Devices) -> Mesh:
    """Makes the mesh of jax.make_mesh(), from as many of the first devices as the shape needs.

    Physical axes are split only on v5e.

    Args:
        mesh_shape: the sizes of 1 to 32 axes.
        devices: the devices; the first ones are used.

    Raises:
        InvalidError: like `create_device_mesh`; or there are too few devices, or the used devices are in several
            slices.
    """
    sizes = _to_sizes(mesh_shape, "mesh_shape")
    return _take_mesh(call(lib.quoit_mesh_new_auto, _devices_handle(devices), sizes, len(sizes)))


def create_device_mesh_for_nd_torus(
    physical_shape: Iterable[int],
    mesh_shape: Iterable[int],
    *,
    kind: str | None = None,
    allow_split_physical_axes: bool = False,
) -> Mesh:
    """Assigns physical axes to the axes of a mesh, for any devices.

    The algorithm is that of `create_device_mesh` without rings. The ids of the mesh number the places of the torus,
    row-major.

    Args:
        physical_shape: the sizes of 1 to 8 physical axes.
        mesh_shape: the sizes of the axes; their product is the number of places. One size can be -1, which becomes 1,
            if the other axes consist of whole physical axes.
        kind: like for `Devices`. On "TPU7x" and "TPU7" the last of four physical axes, the cores, is assigned first.
        allow_split_physical_axes: whether an axis can use a part of a physical axis.

    Raises:
        InvalidError: like `create_device_mesh`, a physical size is not positive, or there are more than 4,194,304
            places.
    """
    flags = _flag(_MeshFlags.SPLIT_PHYSICAL_AXES, allow_split_physical_axes, "allow_split_physical_axes")
    physical, sizes = _to_sizes(physical_shape, "physical_shape"), _to_sizes(mesh_shape, "mesh_shape")
    name = _c.to_text_or_null(kind, "kind")
    return _take_mesh(call(lib.quoit_mesh_new_torus, name, physical, len(physical), sizes, len(sizes), flags))


def _flag(flag: _MeshFlags, wanted: object, what: str) -> int:
    return int(flag) if _c.to_bool(wanted, what) else 0


def _to_sizes(sizes: object, what: str) -> Any:
    numbers = [_c.to_int(one, f"{what}[{axis}]") for axis, one in enumerate(_c.to_iterable(sizes, what, "int"))]
    return ffi.new("int64_t[]", numbers)


def _devices_handle(devices: object) -> Any:
    if not isinstance(devices, Devices):
        raise TypeError(f"devices: expected a quoit.meshes.Devices, not {type(devices).__name__}")
    return devices._handle


def _take_mesh(pointer: Any) -> Mesh:
    handle = _c.own_handle(pointer, lib.quoit_mesh_free)
    axes, n_devices = range(lib.quoit_mesh_get_n_axes(handle)), lib.quoit_mesh_get_n_devices(handle)
    devices_list = Mesh(
        tuple(int(lib.quoit_mesh_get_size(handle, axis)) for axis in axes),
        tuple(int(lib.quoit_mesh_get_dcn_size(handle, axis)) for axis in axes),
        tuple(ffi.unpack(lib.quoit_mesh_get_ids(handle), n_devices)),
        tuple(ffi.unpack(lib.quoit_mesh_get_indices(handle), n_devices)),
        tuple(_granule(handle, at, len(axes)) for at in range(lib.quoit_mesh_get_n_granules(handle))),
    )
    vars(devices_list)["_handle"] = handle  # not a field, so that copies do not contain it
    return devices_list


def _granule(pointer: Any, at: int, n_axes: int) -> Granule:
    key = int(lib.quoit_mesh_get_granule_key(pointer, at))
    return Granule(
        None if key < 0 else key,
        MeshOrder(lib.quoit_mesh_get_order(pointer, at)),
        tuple(
            PhysicalAxis(
                _c.text(lib.quoit_mesh_get_physical_axis(pointer, at, one)),
                int(lib.quoit_mesh_get_physical_size(pointer, at, one)),
                tuple(int(lib.quoit_mesh_get_share(pointer, at, one, axis)) for axis in range(n_axes)),
            )
            for one in range(lib.quoit_mesh_get_n_physical_axes(pointer, at))
        ),
    )


# --- links --------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class AxisLinks:
    """The network of an axis of a mesh. A line is a row of devices along the axis; the facts are of the worst line."""

    network: MeshNetwork
    form: MeshForm
    hops: int
    """The largest distance from a device to the next one along the axis in its slice; 0 for cores of one chip."""
    hops_back: int
    """The largest distance from the last device along the axis to the first one in its slice."""
    physical: str
    """The axes of the slice that the axis of the mesh uses, and how many places of each: "x 4, y 2 of 8"."""
    all_gather_ns: int | None
    """A lower bound for an all-gather in all lines of the axis at once, in ns; None without a published bandwidth.

    The bound uses the bandwidths of the catalogue, without latency.
    """
    all_reduce_ns: int | None
    """A lower bound for an all-reduce, like `all_gather_ns`."""


def axis_links(devices: Devices, mesh: Mesh, n_bytes: int = 2**30) -> tuple[AxisLinks, ...]:
    """Returns the network of each axis of a mesh, and lower bounds for the time of collectives along it.

    In lists of whole slices (`Devices.of_slices`, `Devices.of_group`), axes close to rings where the catalogue lists
    a ring for the shape. In lists of single devices, no axis closes to a ring.

    Args:
        devices: the list from which the mesh was made.
        mesh: the mesh.
        n_bytes: the bytes that each device has after the all-gather or all-reduce.

    Raises:
        InvalidError: the mesh was made from another list, or was pickled.
    """
    handle = _devices_handle(devices)
    if not isinstance(mesh, Mesh):
        raise TypeError(f"mesh: expected a quoit.meshes.Mesh, not {type(mesh).__name__}")
    if mesh._handle is None:
        raise errors.InvalidError("mesh: expected a mesh that quoit.meshes made in this process, found a copy")
    number = _c.to_int(n_bytes, "n_bytes", range(2**63))
    links = _c.own_handle(call(lib.quoit_mesh_links_new, handle, mesh._handle), lib.quoit_mesh_links_free)
    return tuple(_axis(links, axis, number) for axis in range(len(mesh.shape)))


def _axis(links: Any, axis: int, n_bytes: int) -> AxisLinks:
    gather_ns = int(lib.quoit_mesh_links_get_all_gather_ns(links, axis, n_bytes))
    reduce_ns = int(lib.quoit_mesh_links_get_all_reduce_ns(links, axis, n_bytes))
    return AxisLinks(
        MeshNetwork(lib.quoit_mesh_links_get_network(links, axis)),
        MeshForm(lib.quoit_mesh_links_get_form(links, axis)),
        int(lib.quoit_mesh_links_get_hops(links, axis)),
        int(lib.quoit_mesh_links_get_hops_back(links, axis)),
        _c.take_text(lib.quoit_mesh_links_dup_physical(links, axis)),
        None if gather_ns < 0 else gather_ns,
        None if reduce_ns < 0 else reduce_ns,
    )


# --- choices ------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Choice:
    """A way to place axes of given sizes on devices."""

    axes: tuple[int, ...]
    """For each axis of the mesh, the index of the given axis."""
    shape: tuple[int, ...]
    """The sizes of the whole mesh, in the order of `axes`."""
    dcn_shape: tuple[int, ...]
    """For each axis of the mesh, the number of slices along it."""
    allow_split_physical_axes: bool
    """Whether JAX needs the option ``allow_split_physical_axes=True`` to make the mesh."""
    all_reduce_ns: tuple[int | None, ...]
    """A lower bound for an all-reduce along each axis, in ns; None without a published bandwidth."""

    @property
    def mesh_shape(self) -> tuple[int, ...]:
        """The sizes within a slice, for `create_hybrid_device_mesh`; with one slice, the sizes of the whole mesh."""
        return tuple(size // dcn_size for size, dcn_size in zip(self.shape, self.dcn_shape))


def choices(
    mesh_shape: Iterable[int], devices: Devices, *, dcn_mesh_shape: Iterable[int] | None = None, n_bytes: int = 2**30
) -> tuple[Choice, ...]:
    """Returns the meshes that JAX can make with axes of these sizes, the best first.

    The meshes differ in the order of the axes, and in which axes are between slices. Pass the axes in the order of
    their communication: the axis with the most communication last. The best choice has the smallest all-reduce time for
    the last axis, then for the axis before it, and so on. If no bandwidth is published, or if the times are equal,
    links within the slice are better than links between slices. If that is equal too, axes without jumps are better,
    then fewer hops, then no split axes, then the given order. Of meshes whose axes all use the same links, only one is
    returned.

    Args:
        mesh_shape: the sizes of the axes of the whole mesh; at most 6 of them can be above 1.
        devices: the devices of one or more slices.
        dcn_mesh_shape: for each axis, the number of slices along it; None: any numbers.
        n_bytes: the bytes of the all-reduce.

    Raises:
        InvalidError: the product of the sizes is not the number of devices (the message has the nearest sizes that
            work), or does not match the slices, JAX refuses all meshes, or there are more meshes than can be tried in a
            few seconds.
    """
    sizes, number = _to_sizes(mesh_shape, "mesh_shape"), _c.to_int(n_bytes, "n_bytes", range(2**63))
    dcn_sizes = _c.NULL if dcn_mesh_shape is None else _to_sizes(dcn_mesh_shape, "dcn_mesh_shape")
    if dcn_mesh_shape is not None and len(dcn_sizes) != len(sizes):
        raise errors.InvalidError(
            f"dcn_mesh_shape of '{len(dcn_sizes)}' sizes: expected {len(sizes)}, one for each axis"
        )
    pointer = call(lib.quoit_mesh_choices_new, _devices_handle(devices), sizes, len(sizes), dcn_sizes, number)
    try:
        given = tuple(sizes)
        return tuple(_choice(pointer, at, given) for at in range(lib.quoit_mesh_choices_get_n(pointer)))
    finally:
        lib.quoit_mesh_choices_free(pointer)


def _choice(pointer: Any, at: int, given: tuple[int, ...]) -> Choice:
    places = range(len(given))
    axes = tuple(int(lib.quoit_mesh_choices_get_axis(pointer, at, place)) for place in places)
    times = [int(lib.quoit_mesh_choices_get_all_reduce_ns(pointer, at, place)) for place in places]
    return Choice(
        axes,
        tuple(given[axis] for axis in axes),
        tuple(int(lib.quoit_mesh_choices_get_dcn_size(pointer, at, place)) for place in places),
        bool(lib.quoit_mesh_choices_get_flags(pointer, at) & _MeshFlags.SPLIT_PHYSICAL_AXES),
        tuple(None if one < 0 else one for one in times),
    )
