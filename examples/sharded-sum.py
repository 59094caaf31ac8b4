# SPDX-License-Identifier: Apache-2.0
"""Builds a JAX mesh from the output of `quoit mesh -o json` and sums along its axes.

usage: sharded-sum.py MESH.json

You can run it without TPUs: XLA_FLAGS=--xla_force_host_platform_device_count=32 JAX_PLATFORMS=cpu simulates 32 devices
on the CPU.
"""

import sys

import jax
import jax.numpy as jnp
import quoit.jax
from jax.sharding import NamedSharding, PartitionSpec


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as document:
        mesh = quoit.jax.mesh(document.read())
    names, sizes = mesh.axis_names, mesh.devices.shape
    print("mesh:", ", ".join(f"{name}={size}" for name, size in mesh.shape.items()))
    print("devices:", *(device.id for device in mesh.devices.flat))

    # Each device holds the number of its place only.
    whole = PartitionSpec(*names)
    places = jax.device_put(jnp.arange(mesh.size).reshape(sizes), NamedSharding(mesh, whole))
    for axis, name in enumerate(names):
        left = PartitionSpec(*(None if other == axis else one for other, one in enumerate(names)))
        summed = jax.shard_map(
            lambda own, name=name: jax.lax.psum(own, name), mesh=mesh, in_specs=whole, out_specs=left
        )
        print(f"sum along {name}:", *jax.jit(summed)(places).ravel().tolist())
    print("sum of all:", int(jax.jit(jnp.sum)(places)))


if __name__ == "__main__":
    main()
