# SPDX-License-Identifier: Apache-2.0
"""Suite mesh: meshes that JAX 0.12 made of simulated devices."""

import itertools
import math

from rows import Skip, allow_members, keep_recorded

from quoit import meshes


def size(value):
    """Converts a size of a row to an int. JAX passes sizes to int(), so a row can have text or a float."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise Skip("another type where quoit takes integers")
    try:
        number = float(value) if isinstance(value, str) else value
    except ValueError:
        raise Skip("a text that is no number where quoit takes integers") from None
    if isinstance(number, float) and not math.isfinite(number):
        raise Skip("quoit requires integers, and the value is no integer")
    return int(number)


def sizes(values):
    if not isinstance(values, list):
        raise Skip("another type where quoit takes integers")
    return [size(value) for value in values]


# --- devices ------------------------------------------------------------------------------------------------------


def listed(given):
    """The devices of a row that lists id, x, y, z and core of each device."""
    rows = [sizes(row) for row in given["devices"]]
    return meshes.Devices(given["kind"], [meshes.Device(row[0], tuple(row[1:4]), row[4]) for row in rows])


# The orders of devices that rows name. Each function returns the indices, in JAX's own list, of the n devices in order.
ORDERS = {
    "normal": lambda n, slices: range(n),
    "process order": lambda n, slices: range(n),
    "reversed": lambda n, slices: range(n)[::-1],
    "rotated-left-1": lambda n, slices: [*range(1, n), 0],
    "slices reversed": lambda n, slices: [
        at for one in range(slices)[::-1] for at in range(one * (n // slices), (one + 1) * (n // slices))
    ],
    "interleaved": lambda n, slices: [
        one * (n // slices) + at for at in range(n // slices) for one in range(slices)[::-1]
    ],
    "all but the first device": lambda n, slices: range(1, n),
    "all but the last device": lambda n, slices: range(n - 1),
}


def places(given, n):
    """The positions of the row's devices in JAX's own list of n devices, in order."""
    order = given.get("order") or "normal"
    if isinstance(order, list):
        found = sizes(order)
    elif order in ORDERS:
        found = list(ORDERS[order](n, given.get("slices") or 1))
    else:
        raise Skip("devices in an order that this runner does not know")
    if given.get("devices") is not None:  # "all 64": the first 64 devices; the note of the row can change them
        found = found[: int(given["devices"].removeprefix("all "))]
        if given.get("note", "").startswith("duplicate coordinate"):
            found = [found[0], *found[:-1]]
    return found


def devices_of(given):
    if isinstance(given.get("devices"), list):
        return listed(given)
    topology = given.get("topology") or "x".join(map(str, sizes(given["chips"])))
    every = meshes.Devices.of_slices(
        given["kind"], topology, given.get("slices") or 1, devices_per_chip=given.get("devices_per_chip") or 0
    )
    chosen = [every[at] for at in places(given, len(every))]
    if given.get("note", "").startswith("no slice_index"):
        chosen = [meshes.Device(one.id, one.coordinates, one.core, one.process_index) for one in chosen]
    return meshes.Devices(every.kind, chosen)


# --- answers ------------------------------------------------------------------------------------------------------


def ids_in_steps(recorded):
    """Decodes ids that a row records as steps, which are pairs of a count and a distance.

    The list begins as [0]. Each step replaces each value by `count` values at equal distance. At last, each value is
    replaced by the sums of it with all values of "base".
    """
    steps, values = recorded["steps"], [0]
    for count, step in zip(steps[::2], steps[1::2]):
        values = [value + at * step for value in values for at in range(count)]
    return tuple(value + one for value, one in itertools.product(values, recorded["base"]))


def answer(mesh, recorded):
    """The mesh in the form of the "out" of a row. If the row records equal ids as steps, the answer has these steps."""
    found = {"ids": list(mesh.ids), "shape": list(mesh.shape)}
    if recorded and "steps" in recorded and ids_in_steps(recorded) == mesh.ids:
        del found["ids"]
        found.update(steps=recorded["steps"], base=recorded["base"])
    axes = mesh.granules[0].physical_axes
    found["assignment"] = [list(axis.shares) for axis in axes]
    kept = keep_recorded(found, recorded)
    return kept if "steps" in kept else {**kept, "ids": list(mesh.ids)}


def options(given, *names):
    return {name: given[name] for name in names if given.get(name) is not None}


OF_DEVICES = ["kind", "topology", "devices_per_chip", "order", "note"]


def create_device_mesh(given, recorded):
    flags = ["contiguous_submeshes", "allow_split_physical_axes"]
    allow_members(given, [*OF_DEVICES, "chips", "devices", "mesh_shape", *flags])
    shape = sizes(given["mesh_shape"])
    return answer(meshes.create_device_mesh(shape, devices_of(given), **options(given, *flags)), recorded)


def create_hybrid_device_mesh(given, recorded):
    flags = ["allow_split_physical_axes", "process_is_granule", "should_sort_granules_by_key"]
    allow_members(given, [*OF_DEVICES, "slices", "ici", "dcn", *flags])
    shapes = sizes(given["ici"]), sizes(given["dcn"])
    return answer(meshes.create_hybrid_device_mesh(*shapes, devices_of(given), **options(given, *flags)), recorded)


def make_mesh(given, recorded):
    allow_members(given, [*OF_DEVICES, "slices", "mesh_shape"])
    shape = sizes(given["mesh_shape"])
    return answer(meshes.make_mesh(shape, devices_of(given)), recorded)


def nd_torus(given, recorded):
    allow_members(given, ["kind", "physical", "mesh_shape", "allow_split_physical_axes"])
    mesh = meshes.create_device_mesh_for_nd_torus(
        sizes(given["physical"]), sizes(given["mesh_shape"]), kind=given["kind"],
        **options(given, "allow_split_physical_axes"),
    )  # fmt: skip
    return answer(mesh, recorded)


OPS = {
    "create_device_mesh": create_device_mesh,
    "create_device_mesh_for_nd_torus": nd_torus,
    "create_hybrid_device_mesh": create_hybrid_device_mesh,
    "make_mesh": make_mesh,
}
