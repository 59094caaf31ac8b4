#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The time JAX takes to make the meshes of meshes.c from the simulated devices of tests/differential.

Prints lines of SCENARIO, FLEET and the best nanoseconds, separated by tabs.
"""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "differential"))

import jax_mesh
from jax._src import mesh_utils

REPEAT = 40


def best(make):
    times = []
    for _ in range(REPEAT):
        begin = time.perf_counter_ns()
        make()
        times.append(time.perf_counter_ns() - begin)
    return min(times)


def main():
    pod = jax_mesh.devices_of("TPU v5p", (16, 20, 28), 1, 1, has_slices=False)
    slices = jax_mesh.devices_of("TPU v6 lite", (16, 16, 1), 1, 64)
    for scenario, fleet, make in (
        ("mesh, 3 axes", "v5p, 8,960 chips", lambda: mesh_utils.create_device_mesh((28, 20, 16), pod)),
        (
            "mesh, 3 axes, split", "v5p, 8,960 chips",
            lambda: mesh_utils.create_device_mesh((64, 7, 20), pod, allow_split_physical_axes=True),
        ),
        (
            "hybrid mesh, 3 axes", "v6e, 64 x 256 chips",
            lambda: mesh_utils.create_hybrid_device_mesh((1, 16, 16), (64, 1, 1), slices),
        ),
    ):  # fmt: skip
        print(f"{scenario}\t{fleet}\t{best(make)}")


if __name__ == "__main__":
    main()
