# SPDX-License-Identifier: Apache-2.0
"""The real JAX makes meshes that quoit has planned, from 32 simulated devices on the CPU."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

if importlib.util.find_spec("jax") is None:
    pytest.skip("JAX is not installed", allow_module_level=True)

# Plans the mesh of a MaxText job on two 4x4 slices, with ici_fsdp_parallelism=16 and dcn_data_parallelism=2: reads the
# tutorial's manifest, reserves the slices and plans the mesh. Then JAX makes the mesh and computes with it.
PROGRAM = """
import json, sys
import quoit
from quoit import jax as quoit_jax, meshes

with quoit.open_memory() as ledger:
    ledger.import_raycluster(open(sys.argv[1]).read(), now_ms=1_800_000_000_000)
    request = quoit.Request("train", accelerator="v6e", topology="4x4", slices=2)
    group = ledger.reserve(request, now_ms=1_800_000_000_000)
devices = meshes.Devices.of_group(group)
assert len(quoit.topology(group).processes) == 8
planned = meshes.create_hybrid_device_mesh((1, 16), (2, 1), devices)
made = quoit_jax.mesh(planned, ["data", "fsdp"])

import jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec

# Element (i, j) is 32 * i + j. Each device has two elements of one row. The first one identifies its place.
array = jax.device_put(jnp.arange(64.0).reshape(2, 32), NamedSharding(made, PartitionSpec("data", "fsdp")))
total = float(jax.jit(jnp.sum)(array))
first_elements = {shard.device.id: float(shard.data[0, 0]) for shard in array.addressable_shards}
print(json.dumps({
    "shape": dict(made.shape), "ids": [one.id for one in made.devices.flat], "planned": list(planned.ids), "total": total,
    "first_elements": [first_elements[one] for one in planned.ids],
}))
"""
FROM_DOCUMENT = """
import json, sys
from quoit import jax
made = jax.mesh(sys.stdin.read())
print(json.dumps({"shape": dict(made.shape), "ids": [one.id for one in made.devices.flat]}))
"""


def run(program, *arguments, **more):
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=32"}
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, env=environment, **more
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_jax_makes_the_mesh_of_the_multislice_tutorial(request):
    result = run(PROGRAM, str(request.config.rootpath / ".." / ".." / "examples" / "raycluster-v6e-4x4-x2.yaml"))
    assert result["shape"] == {"data": 2, "fsdp": 16}
    assert result["ids"] == result["planned"]
    assert result["ids"][:8] == [0, 1, 2, 3, 7, 6, 5, 9]
    assert result["ids"][16:] == [16 + one for one in result["ids"][:16]]
    assert result["total"] == sum(range(64))
    assert result["first_elements"] == [32 * data + 2 * fsdp for data in range(2) for fsdp in range(16)]


def test_jax_makes_the_mesh_of_the_command(tmp_path):
    top = pathlib.Path(__file__).resolve().parents[4]
    tree = os.environ.get("top_builddir", top / "build")  # noqa: SIM112
    command = pathlib.Path(tree).resolve() / "cli" / "quoit"
    if not command.exists():
        pytest.skip("the command is not built here")

    def quoit(*words):
        return subprocess.run([command, *words], cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    quoit("init")
    quoit("import", "fleet", "v6e 4x4 x2")
    quoit("reserve", "train", "--accelerator", "v6e", "--topology", "4x4", "--slices", "2")
    document = quoit("mesh", "train", "--axes", "data=2,fsdp=16", "--dcn", "data=2", "-o", "json")
    result = run(FROM_DOCUMENT, input=document)
    assert result["shape"] == {"data": 2, "fsdp": 16}
    assert result["ids"] == [row["id"] for row in json.loads(document)["devices"]]
    assert result["ids"][:8] == [0, 1, 2, 3, 7, 6, 5, 9]
