# SPDX-License-Identifier: Apache-2.0
"""Makes JAX meshes from meshes of quoit. The first call imports JAX; `import quoit` does not.

Plan a mesh on any machine, without TPUs or JAX, with `quoit mesh GROUP --axes data=2,fsdp=16 --dcn data=2 -o json` or
with `quoit.meshes`. Then each process of the job calls `mesh` to make a ``jax.sharding.Mesh`` of its devices.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from . import _c, catalogue, errors, meshes

if TYPE_CHECKING:
    import jax

__all__ = ["mesh"]

_COUNT = range(2**31)


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A planned mesh, from a document or from a mesh of `quoit.meshes`."""

    names: tuple[str, ...]
    shape: tuple[int, ...]
    ids: tuple[int, ...]
    places: tuple[tuple[int, ...], ...] | None
    """The slice, x, y, z and core of each device; None if only the ids are known."""
    kind: str | None
    """device_kind in JAX; None if it is unknown."""


def mesh(
    document: str | bytes | Mapping[str, Any] | meshes.Mesh,
    axis_names: Iterable[str] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> jax.sharding.Mesh:
    """Makes the JAX mesh.

    The planned devices are matched with JAX's devices. A document has the slice, coordinates and core of each device,
    and TPU devices are found by these. Other devices, such as the CPU devices of a test, are found by their ids, and so
    are the devices of a mesh of `quoit.meshes`.

    Args:
        document: the output of `quoit mesh -o json`, as text or parsed by json.loads(); or a mesh of
            `quoit.meshes`.
        axis_names: a name for each axis; None for the names in the document.
        devices: JAX's devices to use; None for jax.devices().

    Raises:
        InvalidError: the document has another form, a mesh of `quoit.meshes` was given without names, the names do not
            match the axes, or a device is missing or of another kind.
        ImportError: JAX is not installed.
    """
    plan = (
        _plan_of_mesh(document, axis_names)
        if isinstance(document, meshes.Mesh)
        else _plan_of_document(document, axis_names)
    )
    try:
        import jax
        import numpy
    except ImportError as error:
        remedy = f"quoit.jax.mesh() makes a mesh of JAX's, which is not installed: pip install jax ({error})"
        raise ImportError(remedy) from error
    found = _find_devices(plan, jax.devices() if devices is None else devices)
    array = numpy.empty(len(found), dtype=object)
    array[:] = found
    return jax.sharding.Mesh(array.reshape(plan.shape), plan.names)


# --- the planned mesh ---------------------------------------------------------------------------------------------


def _plan_of_mesh(given: meshes.Mesh, axis_names: Iterable[str] | None) -> _Plan:
    if axis_names is None:
        raise errors.InvalidError(
            "axis_names: expected a name for each axis, because a mesh of quoit.meshes has no names"
        )
    return _Plan(_to_names(axis_names, len(given.shape)), given.shape, given.ids, None, None)


def _plan_of_document(given: object, axis_names: Iterable[str] | None) -> _Plan:
    document = _read(given)
    axes = [_mapping(one, f"document: $.axes[{at}]") for at, one in enumerate(_array(document, "axes"))]
    rows = [_mapping(one, f"document: $.devices[{at}]") for at, one in enumerate(_array(document, "devices"))]
    names = [_text(one, "axis", f"document: $.axes[{at}]") for at, one in enumerate(axes)]
    shape = tuple(_number(one, "size", f"document: $.axes[{at}]", range(1, 2**31)) for at, one in enumerate(axes))
    if math.prod(shape) != len(rows):
        raise errors.InvalidError(
            f"document: $.devices has '{len(rows)}' rows: expected {math.prod(shape)}, the product of the axes' sizes"
        )
    return _Plan(
        _to_names(names if axis_names is None else axis_names, len(shape)),
        shape,
        tuple(_number(one, "id", f"document: $.devices[{at}]", _c.INT64) for at, one in enumerate(rows)),
        tuple(
            tuple(
                _number(one, key, f"document: $.devices[{at}]", _COUNT) for key in ("slice_id", "x", "y", "z", "core")
            )
            for at, one in enumerate(rows)
        ),
        _text(document, "kind", "document: $"),
    )


def _read(given: object) -> Mapping[str, Any]:
    document = given
    if not isinstance(given, Mapping):
        text = _c.to_document(given, "document")
        try:
            document = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise errors.InvalidError(
                f"document: expected the output of 'quoit mesh -o json': {_c.quoted(str(error))}"
            ) from None
    found = _mapping(document, "document: $")
    schema = _text(found, "schema", "document: $")
    if schema != "quoit/1":
        raise errors.InvalidError(f"document: $.schema {_c.quoted(schema)}: expected 'quoit/1'")
    return found


def _member(value: Mapping[str, Any], key: str, place: str) -> object:
    try:
        return value[key]
    except KeyError:
        raise errors.InvalidError(
            f"{place}: expected the member '{key}', like in the output of 'quoit mesh -o json'"
        ) from None


def _mapping(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise errors.InvalidError(f"{place}: expected an object, not {type(value).__name__}")
    return value


def _array(value: Mapping[str, Any], key: str) -> list[Any]:
    found = _member(value, key, "document: $")
    if not isinstance(found, list):
        raise errors.InvalidError(f"document: $.{key}: expected an array, not {type(found).__name__}")
    return found


def _text(value: Mapping[str, Any], key: str, place: str) -> str:
    found = _member(value, key, place)
    if not isinstance(found, str):
        raise errors.InvalidError(f"{place}.{key}: expected text, not {type(found).__name__}")
    return _c.plain_str(found)


def _number(value: Mapping[str, Any], key: str, place: str, allowed: range) -> int:
    try:
        return _c.to_int(_member(value, key, place), f"{place}.{key}", allowed)
    except TypeError as error:
        raise errors.InvalidError(str(error)) from None


def _to_names(names: object, n_axes: int) -> tuple[str, ...]:
    found = [
        _c.to_text(one, f"axis_names[{at}]").decode()
        for at, one in enumerate(_c.to_iterable(names, "axis_names", "str"))
    ]
    if len(found) != n_axes:
        raise errors.InvalidError(f"axis_names: '{len(found)}' names: expected {n_axes}, one for each axis")
    twice = next((one for at, one in enumerate(found) if one in found[:at]), None)
    if twice is not None:
        raise errors.InvalidError(f"axis_names: {_c.quoted(twice)} occurs twice: expected each name once")
    return tuple(found)


# --- the devices of JAX -------------------------------------------------------------------------------------------


def _find_devices(plan: _Plan, devices: Sequence[Any]) -> list[Any]:
    """Returns JAX's device for each place of the mesh, by place if both sides have places, else by id."""
    has_places = plan.places is not None and all(getattr(one, "coords", None) is not None for one in devices)
    wanted: Sequence[Any] = plan.places if has_places and plan.places is not None else plan.ids
    devices_by_key = {_device_place(one) if has_places else one.id: one for one in devices}
    found = []
    for at, key in enumerate(wanted):
        if key not in devices_by_key:
            raise errors.InvalidError(
                f"{_describe_device(plan, at)}: not found among the {len(devices)} devices of JAX"
            )
        found.append(devices_by_key[key])
        _check_kind(plan, devices_by_key[key])
    return found


def _device_place(device: Any) -> tuple[int, ...]:
    return (getattr(device, "slice_index", None) or 0, *device.coords, getattr(device, "core_on_chip", None) or 0)


def _describe_device(plan: _Plan, at: int) -> str:
    name = f"device '{plan.ids[at]}'"
    if plan.places is None:
        return name
    slice_id, x, y, z, core = plan.places[at]
    return f"{name}, core {core} of the chip at {x},{y},{z} of slice {slice_id}"


def _check_kind(plan: _Plan, device: Any) -> None:
    if plan.kind is None or device.platform != "tpu" or _generation(device.device_kind) == _generation(plan.kind):
        return
    raise errors.InvalidError(
        f"device '{device.id}' is of kind {_c.quoted(device.device_kind)}: expected {_c.quoted(plan.kind)}"
    )


def _generation(kind: str) -> str:
    """Returns quoit's name of the generation, because JAX has two names for some generations."""
    try:
        return catalogue.lookup_generation(kind).id
    except errors.InvalidError:
        return kind
