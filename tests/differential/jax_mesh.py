# SPDX-License-Identifier: Apache-2.0
"""Random meshes, as rows of tests/vectors with JAX's own answers. The same seed draws the same cases.

usage: jax_mesh.py [--cases N] [--seed S] [--first I] [--planted]

--planted: exchanges the first two ids of each answer, which a comparison must detect. Cases with fewer than two ids are
left out.
"""

import argparse
import json
import math
import random
import sys

import numpy as np
from jax._src import mesh_utils, sharding_impls

KINDS = {
    "TPU v2": (2, 2), "TPU v3": (2, 2), "TPU v4": (3, 1), "TPU v4 lite": (2, 1), "TPU v5 lite": (2, 1),
    "TPU v5e": (2, 1), "TPU v5p": (3, 1), "TPU v5": (3, 1), "TPU v6 lite": (2, 1), "TPU7x": (3, 2), "TPU7": (3, 2),
    "TPU8i": (2, 2), "TPU8t": (3, 2),
}  # fmt: skip
SIDES = [1, 2, 2, 4, 4, 4, 6, 8, 8, 10, 12, 14, 16, 20]
DEPTHS = [1, 1, 2, 3, 4, 4, 5, 8, 12, 16]
# k by k by 2k and k by 2k by 2k, which may be twisted tori. JAX treats them like all others.
TWISTED = ["4x4x8", "4x8x4", "8x4x4", "4x8x8", "8x8x4", "8x8x16"]
SPECIAL_TOPOLOGIES = ["2x2x1", "2x2x4", "4x4x4", "4x8x8", "8x8x8"]
MOST_DEVICES = 2048


class Device:
    """The attributes of a device that mesh_utils reads."""

    platform = "tpu"

    def __init__(self, kind, id, coords, core, process_index, slice_index):
        self.device_kind = kind
        self.id = id
        self.coords = coords
        self.core_on_chip = core
        self.process_index = process_index
        if slice_index is not None:
            self.slice_index = slice_index


def devices_of(kind, sides, per_chip, slices, has_slices=True):
    """The device layout of the mock in JAX's own tests of mesh_utils."""
    x, y, z = sides
    bx, by = min(x, 2), min(y, 2)
    found = []
    for s in range(slices):
        for hz in range(z):
            for hy in range(y // by):
                for hx in range(x // bx):
                    process = hx + x // bx * (hy + y // by * (hz + z * s))
                    for cy in range(by):
                        for cx in range(bx):
                            at = (hx * bx + cx, hy * by + cy, hz)
                            place = at[0] + x * (at[1] + y * (at[2] + z * s))
                            found += [
                                Device(kind, place * per_chip + core, at, core, process, s if has_slices else None)
                                for core in range(per_chip)
                            ]
    return found


def factors_of(number):
    found, p = [], 2
    while number > 1:
        while number % p == 0:
            found.append(p)
            number //= p
        p += 1
    return found


def draw_sizes(rand, count):
    """Usually sizes whose product is count: few axes, some of size 1, sometimes many."""
    axes = rand.choice([1, 1, 2, 2, 2, 3, 3, 3, 4, 5, 6, rand.randint(1, 30)])
    sizes = [1] * axes
    for factor in factors_of(count):
        sizes[rand.randrange(axes)] *= factor
    if rand.random() < 0.06:
        sizes[rand.randrange(axes)] = rand.choice([0, -1, 2, 3, 5, 7, -count, 2**31, 2**62, 99999])
    if rand.random() < 0.02:
        sizes = rand.choice([[], [-1, -count], [2**32, 2**32, count], sizes + [1] * 60, [*sizes, -1]])
    return sizes


def draw_from_sides(rand, sides):
    """Sizes that are products of whole sides, in any order, and so need no splitting."""
    axes = rand.randint(1, 4)
    sizes = [1] * axes
    for side in sides:
        sizes[rand.randrange(axes)] *= side
    return sizes


def draw_mesh_sizes(rand, sides, count):
    return draw_from_sides(rand, sides) if rand.random() < 0.4 else draw_sizes(rand, count)


def draw_slice(rand, slices=1):
    kind = rand.choice(list(KINDS))
    dims, per_chip = KINDS[kind]
    if rand.random() < 0.12:
        per_chip = 3 - per_chip
    while True:
        sides = [rand.choice(SIDES), rand.choice(SIDES), rand.choice(DEPTHS) if dims == 3 else 1]
        if rand.random() < 0.35:
            sides = [rand.choice([1, 2, 4]), rand.choice([1, 2, 4]), min(sides[2], 4)]
        if dims == 3 and rand.random() < 0.12:
            sides = [int(side) for side in rand.choice(TWISTED).split("x")]
        if math.prod(sides) * per_chip * slices <= MOST_DEVICES:
            return kind, sides, per_chip


def as_topology(rand, sides):
    return "x".join(map(str, sides[:2] if sides[2] == 1 and rand.random() < 0.5 else sides))


def draw_order(rand, count):
    return rand.choice(["normal"] * 5 + ["reversed", "rotated-left-1", rand.sample(range(count), count)])


def in_order(devices, order):
    if order == "reversed":
        return devices[::-1]
    if order == "rotated-left-1":
        return devices[1:] + devices[:1]
    return devices if order == "normal" else [devices[i] for i in order]


def draw_whole(rand):
    """Draws a whole slice."""
    kind, sides, per_chip = draw_slice(rand)
    contiguous = rand.random() < 0.2
    if contiguous and rand.random() < 0.6:
        sides = [int(side) for side in rand.choice(SPECIAL_TOPOLOGIES).split("x")]
        kind, per_chip = rand.choice(["TPU v4", "TPU v5p", "TPU v6 lite"]), 1
    devices = devices_of(kind, sides, per_chip, 1)
    order = draw_order(rand, len(devices))
    sizes = draw_mesh_sizes(rand, [*sides, per_chip], len(devices))
    given = {
        "kind": kind, "topology": as_topology(rand, sides), "devices_per_chip": per_chip, "mesh_shape": sizes,
        "contiguous_submeshes": contiguous, "allow_split_physical_axes": rand.random() < 0.5, "order": order,
    }  # fmt: skip
    return "create_device_mesh", given, lambda: create(given, in_order(devices, order))


def draw_part(rand):
    """Lists some devices of a slice: a box of it, with or without a hole, a duplicate, or another origin."""
    kind, sides, per_chip = draw_slice(rand)
    devices = devices_of(kind, [min(side, 8) for side in sides], per_chip, 1)
    if rand.random() < 0.7:
        lengths = [rand.choice([1, 2, 2, 4, 4, 8]) for _ in range(3)]
        least = [rand.choice([0, 0, 1, 2, 4]) for _ in range(3)]
        chosen = [d for d in devices if all(a <= c < a + n for c, a, n in zip(d.coords, least, lengths))]
        devices = chosen or devices
    if rand.random() < 0.5:
        rand.shuffle(devices)
    if rand.random() < 0.2:
        by = [rand.randint(-3, 5) for _ in range(3)]
        for device in devices:
            device.coords = tuple(c + b for c, b in zip(device.coords, by))
    if rand.random() < 0.1:
        devices[rand.randrange(len(devices))] = devices[rand.randrange(len(devices))]
    if rand.random() < 0.1 and len(devices) > 1:
        del devices[rand.randrange(len(devices))]
    if rand.random() < 0.05:
        devices[rand.randrange(len(devices))].core_on_chip += 1
    box = [len({d.coords[axis] for d in devices}) for axis in range(3)]
    given = {
        "kind": kind, "mesh_shape": draw_mesh_sizes(rand, [*box, per_chip], len(devices)),
        "contiguous_submeshes": rand.random() < 0.1, "allow_split_physical_axes": rand.random() < 0.5,
        "devices": [[d.id, *d.coords, d.core_on_chip] for d in devices],
    }  # fmt: skip
    return "create_device_mesh", given, lambda: create(given, devices)


def create(given, devices):
    return mesh_utils.create_device_mesh(
        given["mesh_shape"], devices, contiguous_submeshes=given["contiguous_submeshes"],
        allow_split_physical_axes=given["allow_split_physical_axes"],
    )  # fmt: skip


def draw_hybrid(rand):
    slices = rand.choice([1, 2, 2, 3, 4, 4, 5, 6, 8])
    kind, sides, per_chip = draw_slice(rand, slices)
    has_slices = rand.random() < 0.95
    by_process = rand.random() < 0.25
    devices = devices_of(kind, sides, per_chip, slices, has_slices)
    order = "normal" if rand.random() < 0.6 else rand.sample(range(len(devices)), len(devices))
    granules = len({d.process_index for d in devices}) if by_process else slices
    box = [min(sides[0], 2), min(sides[1], 2), 1] if by_process else sides
    given = {
        "kind": kind, "topology": as_topology(rand, sides), "devices_per_chip": per_chip, "slices": slices,
        "ici": draw_mesh_sizes(rand, [*box, per_chip], len(devices) // granules), "dcn": draw_sizes(rand, granules),
        "allow_split_physical_axes": rand.random() < 0.5, "process_is_granule": by_process,
        "should_sort_granules_by_key": rand.random() < 0.6, "order": order,
    }  # fmt: skip
    if not has_slices:
        given["note"] = "no slice_index attribute"

    def ask():
        return mesh_utils.create_hybrid_device_mesh(
            given["ici"], given["dcn"], in_order(devices, order), process_is_granule=by_process,
            should_sort_granules_by_key=given["should_sort_granules_by_key"],
            allow_split_physical_axes=given["allow_split_physical_axes"],
        )  # fmt: skip

    return "create_hybrid_device_mesh", given, ask


def draw_made(rand):
    slices = rand.choice([1, 1, 1, 2, 3])
    kind, sides, per_chip = draw_slice(rand, slices)
    devices = devices_of(kind, sides, per_chip, slices)
    count = rand.choice([len(devices), len(devices), len(devices) // slices, max(1, len(devices) // 2)])
    given = {
        "kind": kind, "topology": as_topology(rand, sides), "devices_per_chip": per_chip, "slices": slices,
        "mesh_shape": draw_mesh_sizes(rand, [*sides, per_chip], count),
    }  # fmt: skip

    def ask():
        names = [f"axis{i}" for i in range(len(given["mesh_shape"]))]
        return sharding_impls.make_mesh(given["mesh_shape"], names, devices=devices)

    return "make_mesh", given, ask


def draw_torus(rand):
    while True:
        physical = [
            rand.choice([1, 2, 2, 3, 4, 4, 5, 6, 8, 10, 12, 16]) for _ in range(rand.choice([1, 2, 3, 3, 4, 4]))
        ]
        if math.prod(physical) <= MOST_DEVICES:
            break
    kind = rand.choice([None, "TPU7x", "TPU7", "TPU8i", "TPU v4"])
    sizes = draw_mesh_sizes(rand, physical, math.prod(physical))
    given = {
        "physical": physical, "kind": kind, "mesh_shape": sizes,
        "allow_split_physical_axes": rand.random() < 0.5,
    }  # fmt: skip

    def ask():
        places = np.empty(math.prod(physical), dtype=object)
        places[:] = [Device(kind, i, None, 0, 0, 0) for i in range(len(places))]
        mesh, assignment = mesh_utils._create_device_mesh_for_nd_torus(
            places.reshape(physical), sizes, allow_split_physical_axes=given["allow_split_physical_axes"]
        )
        return mesh, assignment.tolist()

    return "create_device_mesh_for_nd_torus", given, ask


DRAWS = [draw_whole] * 4 + [draw_part] * 2 + [draw_hybrid] * 3 + [draw_made] + [draw_torus] * 2


def answer(ask):
    """{"out": ...} or {"err": ...}"""
    try:
        mesh = ask()
    except Exception as error:
        return {"err": {"class": type(error).__name__, "message": str(error)[:200]}}
    out = {}
    if isinstance(mesh, tuple):
        mesh, out["assignment"] = mesh
    return {"out": {"ids": [d.id for d in mesh.reshape(-1)], "shape": list(mesh.shape), **out}}


def row_of(seed, number):
    rand = random.Random(f"{seed}/{number}")
    op, given, ask = rand.choice(DRAWS)(rand)
    return {"id": f"jax-mesh/{seed}/{number}", "suite": "mesh", "op": op, "in": given, **answer(ask)}


def plant(row):
    """Exchanges two ids; returns whether there were two."""
    ids = row.get("out", {}).get("ids", [])
    if len(ids) < 2 or ids[0] == ids[1]:
        return False
    ids[0], ids[1] = ids[1], ids[0]
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--planted", action="store_true")
    options = parser.parse_args()
    # The devices are no real JAX devices, so return the array that make_mesh() passes to Mesh.
    sharding_impls.Mesh = lambda devices, *_, **__: devices
    for number in range(options.first, options.first + options.cases):
        row = row_of(options.seed, number)
        if not options.planted or plant(row):
            json.dump(row, sys.stdout, separators=(",", ":"))
            print()


if __name__ == "__main__":
    main()
