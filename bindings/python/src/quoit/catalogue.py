# SPDX-License-Identifier: Apache-2.0
"""The TPU generations, and the slices that can be built of each generation. No fleet, database or file is needed.

>>> import quoit
>>> generation = quoit.catalogue.lookup_generation("Trillium")
>>> generation.lookup_topology("4x4").pod_type
'v6e-16'
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, TypeVar

from . import _c
from ._c import call, lib

_Made = TypeVar("_Made")


class _GenerationText(_c.Code):
    """libquoit's codes of the text fields of a `Generation`."""

    ID = 0
    NAME = 1
    RAY_VERSION = 2
    RAY_RESOURCE = 3
    GKE_PREFIX = 4
    GKE_LABEL = 5
    JAX_KIND = 6
    ALIAS = 7
    MAX_TOPOLOGY = 8


class _GenerationNumber(_c.Code):
    """libquoit's codes of the number fields of a `Generation`."""

    DIMS = 0
    CORES_PER_CHIP = 1
    JAX_DEVICES_PER_CHIP = 2
    HBM_GB = 3
    HBM_GBYTES_PER_S = 4
    BF16_GFLOPS = 5
    ICI_GBYTES_PER_S = 6
    DCN_GBIT_PER_S = 7
    POD_CHIPS = 8
    MAX_SLICE_CHIPS = 9
    OCS_CUBE_CHIPS = 10
    MULTISLICE_ON_GKE = 11
    OCS_CUBE_HOSTS = 12


class _TopologyText(_c.Code):
    """libquoit's codes of the text fields of a `Topology`."""

    SHAPE = 0
    POD_TYPE = 1
    GKE_ACCELERATOR_TYPE = 2
    MACHINE_TYPE = 3
    HOST_BLOCK = 4
    HOST_GRID = 5
    WRAP = 6
    ACCEPTED_BY = 7


class _TopologyNumber(_c.Code):
    """libquoit's codes of the number fields of a `Topology`."""

    CHIPS = 0
    HOSTS = 1
    CHIPS_PER_HOST = 2
    CORES = 3
    JAX_DEVICES = 4
    TWISTABLE = 5
    RAY_ONLY = 6


class _MachineText(_c.Code):
    """libquoit's codes of the text fields of a `Machine`."""

    NAME = 0
    GKE_LABEL = 1
    SINGLE_HOST_TOPOLOGY = 2


class _MachineNumber(_c.Code):
    """libquoit's codes of the number fields of a `Machine`."""

    CHIPS = 0
    VCPUS = 1
    MEMORY_GB = 2
    MULTI_HOST = 3


@dataclasses.dataclass(frozen=True)
class Topology:
    """One way to build a topology from hosts. A shape can have several ways: a v6e 2x4 has one host or two."""

    shape: str
    """The size in chips, x first: "4x8"."""
    pod_type: str | None
    """Ray's pod type: "v7x-16"."""
    gke_accelerator_type: str | None
    """The value of TPU_ACCELERATOR_TYPE on GKE: "tpu7x-16"."""
    machine_type: str | None
    """GKE's machine type, such as "ct6e-standard-4t"."""
    host_block: str | None
    """The chips of one host: "2x2", "2x2x1"."""
    host_grid: str | None
    """The arrangement of the hosts: "2x4"."""
    wrap: str
    """The axes that close to a ring: "", "y", "xyz"."""
    accepted_by: str
    """One letter for each system that accepts the topology; "" if only the documentation lists it.

    K means kubectl ray, R Ray, X xpk, M MaxText, T cluster-toolkit.
    """
    chips: int
    hosts: int
    chips_per_host: int
    cores: int
    jax_devices: int
    is_twistable: bool
    """Whether the hardware can twist the torus: see `quoit.coordinates.Wiring`."""
    is_ray_only: bool
    """Whether only Ray offers this order of the axes."""


@dataclasses.dataclass(frozen=True)
class Machine:
    """A machine type of GKE. Unpublished values are None."""

    name: str
    """The name, such as "ct6e-standard-4t"."""
    gke_label: str | None
    """The value of cloud.google.com/gke-tpu-accelerator, such as "tpu-v6e-slice"."""
    single_host_topology: str | None
    """The topology of a single machine: "2x2"."""
    chips: int
    vcpus: int | None
    memory_gb: int | None
    is_multi_host: bool
    """Whether a slice can consist of several machines."""


@dataclasses.dataclass(frozen=True)
class Generation:
    """A TPU generation. Unpublished values and missing names are None."""

    id: str
    """quoit's name: "v5e"."""
    name: str
    """The name in pod types: "v5litepod". It is Ray's name if Ray has one."""
    ray_version: str | None
    """Ray's name, such as "v5litepod"."""
    ray_resource: str | None
    """Ray's resource, such as "TPU-V5LITEPOD"."""
    gke_prefix: str | None
    """The prefix in TPU_ACCELERATOR_TYPE: "v5litepod"."""
    gke_labels: tuple[str, ...]
    """Values of cloud.google.com/gke-tpu-accelerator."""
    jax_kinds: tuple[str, ...]
    """Values of device_kind in JAX: "TPU v5 lite"."""
    aliases: tuple[str, ...]
    """Other names, such as "Trillium"."""
    max_topology: str | None
    """The largest topology of one job, if the vendor publishes it: "16x16x24"."""
    dims: int
    """The number of dimensions of its topologies: 2 or 3."""
    cores_per_chip: int
    jax_devices_per_chip: int
    hbm_gb: int | None
    """Memory of a chip, in 10**9 bytes."""
    hbm_gbytes_per_s: int | None
    """Memory bandwidth of a chip."""
    bf16_gflops: int | None
    """Peak performance of a chip."""
    ici_gbytes_per_s: int | None
    """Bandwidth of a chip to its neighbours in the slice."""
    dcn_gbit_per_s: int | None
    """Bandwidth of a chip to other slices."""
    pod_chips: int | None
    max_slice_chips: int | None
    ocs_cube_chips: int | None
    """Chips of a cube. Optical circuit switches (OCS) connect cubes to a slice."""
    ocs_cube_hosts: int | None
    """Hosts of a cube."""
    is_multislice_on_gke: bool | None
    """Whether a job on GKE can use several slices."""

    @property
    def topologies(self) -> tuple[Topology, ...]:
        """The topologies that the vendor's systems offer, then topologies in an order of axes that only Ray accepts."""
        return _c.cached(self, "_topologies", lambda: _list_rows(self, lib.quoit_catalogue_get_topology, _topology))

    @property
    def machines(self) -> tuple[Machine, ...]:
        """The machine types of GKE with chips of this generation."""
        return _c.cached(self, "_machines", lambda: _list_rows(self, lib.quoit_catalogue_get_machine, _machine))

    def lookup_topology(self, shape: str, chips_per_host: int = 0) -> Topology:
        """Returns the first way to build the shape from such hosts.

        Args:
            shape: "4x4", "2x2x4": lower-case x, no blanks, no signs.
            chips_per_host: the chips of each host; 0 for Ray's default: 8 for 2x4 of v5e and v6e, else 4, but never
                more than the topology has.

        Raises:
            InvalidError: the shape is not a topology, or not a topology of this generation (the message has the nearest
                topology).
            NotFoundError: the topology is never built from such hosts: pass another `chips_per_host`.
        """
        arguments = _c.to_text(shape, "shape"), _c.to_int(chips_per_host, "chips_per_host", _c.UINT32)
        return _topology(call(lib.quoit_catalogue_lookup_topology, _pointer(self), *arguments))

    def lookup_cubes(self, shape: str) -> int:
        """Returns how many cubes a slice of that shape has.

        Args:
            shape: "4x4x8": lower-case x, no blanks, no signs.

        Raises:
            InvalidError: the slices of this generation do not consist of cubes, the shape is not a topology of it (the
                message has the nearest topology), or it is smaller than a cube.
        """
        return int(call(lib.quoit_catalogue_lookup_cubes, _pointer(self), _c.to_text(shape, "shape")))


def generations() -> tuple[Generation, ...]:
    """Returns all generations in the order of their years. New ones are added at the end."""
    return tuple(_generation(pointer) for pointer in _c.list_until_null(lib.quoit_catalogue_get_generation))


def lookup_generation(text: str) -> Generation:
    """Returns the generation with that name.

    Args:
        text: any system's name for it, in any case: "v5e", "v5litepod", "TPU-V5LITEPOD", "tpu-v5-lite-podslice".

    Raises:
        InvalidError: the name is unknown (the message lists the known names), no topology of the generation is
            published, or the text is a pod type such as "v6e-16": pass the part before the last dash.
    """
    return _generation(call(lib.quoit_catalogue_lookup_generation, _c.to_text(text, "text")))


def _pointer(generation: Generation) -> Any:
    return call(lib.quoit_catalogue_lookup_generation, _c.to_text(generation.id, "id"))


def _list_rows(
    generation: Generation, get: Callable[[Any, int], Any], make: Callable[[Any], _Made]
) -> tuple[_Made, ...]:
    pointer = _pointer(generation)
    return tuple(map(make, _c.list_until_null(lambda at: get(pointer, at))))


class _FactReader:
    """Reads texts and numbers of one generation, topology or machine type of the catalogue."""

    def __init__(self, pointer: Any, dup_text: Callable[[Any, int, int], Any], get_number: Callable[[Any, int], int]):
        self.pointer, self.dup_text, self.get_number = pointer, dup_text, get_number

    def text(self, which: int, index: int = 0) -> str | None:
        return _c.take_text_or_none(self.dup_text(self.pointer, which, index))

    def texts(self, which: int) -> tuple[str, ...]:
        found: list[str] = []
        while (one := self.text(which, len(found))) is not None:
            found.append(one)
        return tuple(found)

    def number(self, which: int) -> int:
        return int(self.get_number(self.pointer, which))

    def number_or_none(self, which: int) -> int | None:
        number = self.number(which)
        return None if number < 0 else number

    def flag_or_none(self, which: int) -> bool | None:
        number = self.number_or_none(which)
        return None if number is None else bool(number)


def _generation(pointer: Any) -> Generation:
    facts = _FactReader(pointer, lib.quoit_catalogue_generation_dup_text, lib.quoit_catalogue_generation_get_number)
    return Generation(
        id=facts.text(_GenerationText.ID) or "",
        name=facts.text(_GenerationText.NAME) or "",
        ray_version=facts.text(_GenerationText.RAY_VERSION),
        ray_resource=facts.text(_GenerationText.RAY_RESOURCE),
        gke_prefix=facts.text(_GenerationText.GKE_PREFIX),
        gke_labels=facts.texts(_GenerationText.GKE_LABEL),
        jax_kinds=facts.texts(_GenerationText.JAX_KIND),
        aliases=facts.texts(_GenerationText.ALIAS),
        max_topology=facts.text(_GenerationText.MAX_TOPOLOGY),
        dims=facts.number(_GenerationNumber.DIMS),
        cores_per_chip=facts.number(_GenerationNumber.CORES_PER_CHIP),
        jax_devices_per_chip=facts.number(_GenerationNumber.JAX_DEVICES_PER_CHIP),
        hbm_gb=facts.number_or_none(_GenerationNumber.HBM_GB),
        hbm_gbytes_per_s=facts.number_or_none(_GenerationNumber.HBM_GBYTES_PER_S),
        bf16_gflops=facts.number_or_none(_GenerationNumber.BF16_GFLOPS),
        ici_gbytes_per_s=facts.number_or_none(_GenerationNumber.ICI_GBYTES_PER_S),
        dcn_gbit_per_s=facts.number_or_none(_GenerationNumber.DCN_GBIT_PER_S),
        pod_chips=facts.number_or_none(_GenerationNumber.POD_CHIPS),
        max_slice_chips=facts.number_or_none(_GenerationNumber.MAX_SLICE_CHIPS),
        ocs_cube_chips=facts.number_or_none(_GenerationNumber.OCS_CUBE_CHIPS),
        ocs_cube_hosts=facts.number_or_none(_GenerationNumber.OCS_CUBE_HOSTS),
        is_multislice_on_gke=facts.flag_or_none(_GenerationNumber.MULTISLICE_ON_GKE),
    )


def _topology(pointer: Any) -> Topology:
    def dup_text(topology: Any, which: int, _: int) -> Any:
        return lib.quoit_catalogue_topology_dup_text(topology, which)

    facts = _FactReader(pointer, dup_text, lib.quoit_catalogue_topology_get_number)
    return Topology(
        shape=facts.text(_TopologyText.SHAPE) or "",
        pod_type=facts.text(_TopologyText.POD_TYPE),
        gke_accelerator_type=facts.text(_TopologyText.GKE_ACCELERATOR_TYPE),
        machine_type=facts.text(_TopologyText.MACHINE_TYPE),
        host_block=facts.text(_TopologyText.HOST_BLOCK),
        host_grid=facts.text(_TopologyText.HOST_GRID),
        wrap=facts.text(_TopologyText.WRAP) or "",
        accepted_by=facts.text(_TopologyText.ACCEPTED_BY) or "",
        chips=facts.number(_TopologyNumber.CHIPS),
        hosts=facts.number(_TopologyNumber.HOSTS),
        chips_per_host=facts.number(_TopologyNumber.CHIPS_PER_HOST),
        cores=facts.number(_TopologyNumber.CORES),
        jax_devices=facts.number(_TopologyNumber.JAX_DEVICES),
        is_twistable=bool(facts.flag_or_none(_TopologyNumber.TWISTABLE)),
        is_ray_only=bool(facts.flag_or_none(_TopologyNumber.RAY_ONLY)),
    )


def _machine(pointer: Any) -> Machine:
    def dup_text(machine: Any, which: int, _: int) -> Any:
        return lib.quoit_catalogue_machine_dup_text(machine, which)

    facts = _FactReader(pointer, dup_text, lib.quoit_catalogue_machine_get_number)
    return Machine(
        name=facts.text(_MachineText.NAME) or "",
        gke_label=facts.text(_MachineText.GKE_LABEL),
        single_host_topology=facts.text(_MachineText.SINGLE_HOST_TOPOLOGY),
        chips=facts.number(_MachineNumber.CHIPS),
        vcpus=facts.number_or_none(_MachineNumber.VCPUS),
        memory_gb=facts.number_or_none(_MachineNumber.MEMORY_GB),
        is_multi_host=bool(facts.flag_or_none(_MachineNumber.MULTI_HOST)),
    )
