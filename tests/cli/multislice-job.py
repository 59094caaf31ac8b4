# SPDX-License-Identifier: Apache-2.0
"""Computes the expected state of the job of docs/tutorial-multislice.md from its manifest, and compares it with quoit's
output.

multislice-job.py environments MANIFEST ENV.json     `quoit env GROUP -o json` multislice-job.py process ENV.json N TEXT
TEXT: the variables of a shell that has read `-o env` of process N multislice-job.py webhook ENV.json PODS.json
`quoit env --manifest MANIFEST -o json`: compares common variables multislice-job.py axes CHECK.json
prints the arguments of `quoit mesh` for MaxText's own mesh multislice-job.py jax ENV.json MESH.json MAXTEXT-MESH.json
ROWS
                                                     compares with the real JAX, with ROWS rows of a batch
"""

import json
import math
import os
import pathlib
import re
import sys

HOST_BLOCK = (2, 2)  # chips of a v6e host with four chips


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


class Job:
    """The only worker group of a manifest."""

    def __init__(self, path):
        text = pathlib.Path(path).read_text(encoding="utf-8")

        def of(pattern):
            (found,) = re.findall(pattern, text, re.MULTILINE)
            return found

        self.cluster = of(r"^  name: (\S+)$")
        self.group = of(r"groupName: (\S+)$")
        self.slices, self.hosts = int(of(r"replicas: (\d+)$")), int(of(r"numOfHosts: (\d+)$"))
        self.topology = of(r"gke-tpu-topology: (\S+)$")
        self.sides = [int(side) for side in self.topology.split("x")]
        self.given = dict(re.findall(r"- name: ([A-Z_]+)\n +value: \"?([^\"\n]+)\"?$", text, re.MULTILINE))

    def host(self, slice_id, worker):
        return f"{self.group}-{slice_id}-{worker}.{self.cluster}-headless"

    def environment(self, slice_id, worker):
        return {
            "JAX_PLATFORMS": self.given["JAX_PLATFORMS"],
            "MEGASCALE_COORDINATOR_ADDRESS": self.host(0, 0),
            "MEGASCALE_NUM_SLICES": str(self.slices),
            "MEGASCALE_PORT": self.given["MEGASCALE_PORT"],
            "MEGASCALE_SLICE_ID": str(slice_id),
            "TPU_ACCELERATOR_TYPE": f"v6e-{math.prod(self.sides)}",
            "TPU_NAME": f"{self.group}-{slice_id}",
            "TPU_TOPOLOGY": self.topology,
            "TPU_WORKER_HOSTNAMES": ",".join(self.host(slice_id, one) for one in range(self.hosts)),
            "TPU_WORKER_ID": str(worker),
        }

    def devices(self, slice_id, worker):
        """(id, x, y, z) of a worker's devices: hosts are blocks, ordered along x first, and so are the ids in a slice."""
        width, height = self.sides
        x, y = worker % (width // HOST_BLOCK[0]) * HOST_BLOCK[0], worker // (width // HOST_BLOCK[0]) * HOST_BLOCK[1]
        places = [(x + dx, y + dy) for dy in range(HOST_BLOCK[1]) for dx in range(HOST_BLOCK[0])]
        return [(px + width * (py + height * slice_id), px, py, 0) for px, py in places]


def check_environments(manifest, document):
    job, processes = Job(manifest), read(document)["processes"]
    assert len(processes) == job.slices * job.hosts == 8
    for number, process in enumerate(processes):
        slice_id, worker = divmod(number, job.hosts)
        found = [process[key] for key in ("process_id", "slice_id", "slice", "worker_id")]
        assert found == [number, slice_id, f"{job.group}-{slice_id}", worker], found
        for name, value in job.environment(slice_id, worker).items():
            assert process["environment"].get(name) == value, (number, name, process["environment"].get(name), value)
        assert set(process["environment"]) == set(job.environment(slice_id, worker)), process["environment"]
        has = [tuple(device[key] for key in ("device_id", "x", "y", "z")) for device in process["devices"]]
        assert has == job.devices(slice_id, worker), (number, has)
    ids = sorted(device["device_id"] for process in processes for device in process["devices"])
    assert ids == list(range(job.slices * math.prod(job.sides))), ids


def check_process(document, number, text):
    wanted = read(document)["processes"][int(number)]["environment"]
    has = dict(line.split("=", 1) for line in pathlib.Path(text).read_text(encoding="utf-8").splitlines())
    for name, value in wanted.items():
        assert has.get(name) == value, (name, has.get(name), value)


def check_webhook(document, pods):
    processes, pods = read(document)["processes"], read(pods)["pods"]
    assert [(pod["replica"], pod["host"]) for pod in pods] == [(p["slice_id"], p["worker_id"]) for p in processes]
    for process, pod in zip(processes, pods):
        written = {one["name"]: one["value"] for one in pod["variables"] if one["container"] == 0}
        both = set(written) & set(process["environment"])
        assert both >= {"TPU_WORKER_ID", "TPU_WORKER_HOSTNAMES", "MEGASCALE_SLICE_ID", "TPU_NAME"}, both
        for name in both:
            assert written[name] == process["environment"][name], (pod["hostname"], name, written[name])


def print_axes(document):
    axes = read(document)["axes"]
    assert len(axes) == 12 and math.prod(one["ici"] * one["dcn"] for one in axes) == read(document)["n_devices"]
    whole = ",".join(f"{one['axis']}={one['ici'] * one['dcn']}" for one in axes)
    print("--axes", whole, "--dcn", ",".join(f"{one['axis']}={one['dcn']}" for one in axes))


# --- the real JAX -------------------------------------------------------------------------------------------------


def check_detection(environments):
    """Checks what jax.distributed.initialize() detects, with the look-up of the coordinator's name replaced."""
    from jax._src.clusters import cloud_tpu_cluster

    cluster = cloud_tpu_cluster.GkeTpuCluster
    cloud_tpu_cluster.running_in_cloud_tpu_vm = True
    cloud_tpu_cluster.socket.gethostbyname = lambda name: "10.0.0.1"
    before = dict(os.environ)
    for number, environment in enumerate(environments):
        os.environ.update(environment)
        assert cluster.is_env_present()
        assert (cluster.get_process_id(), cluster.get_process_count()) == (number, len(environments))
        address = environments[0]["TPU_WORKER_HOSTNAMES"].split(",")[0] + ":8482"
        assert cluster.get_coordinator_address(300, None) == address
        os.environ.clear()
        os.environ.update(before)


def order_of_jax(document):
    """The ids of JAX's own mesh, from devices that have only the attributes that JAX reads."""
    import jax_mesh
    from jax._src import mesh_utils

    dcn = [axis["dcn_size"] for axis in document["axes"]]
    ici = [axis["size"] // axis["dcn_size"] for axis in document["axes"]]
    devices = jax_mesh.devices_of(document["kind"], (4, 4, 1), 1, document["n_slices"])
    made = mesh_utils.create_hybrid_device_mesh(ici, dcn, devices)
    return made.shape, [device.id for device in made.flat]


def check_mesh(document):
    import jax
    import quoit.jax

    mesh = quoit.jax.mesh(document)
    assert isinstance(mesh, jax.sharding.Mesh) and mesh.size == 32 == len(jax.devices())
    assert list(mesh.shape.items()) == [(axis["axis"], axis["size"]) for axis in document["axes"]]
    assert (mesh.devices.shape, [device.id for device in mesh.devices.flat]) == order_of_jax(document)
    return mesh


def check_sum(mesh, rows):
    """Distributes a batch over data and fsdp like MaxText: each device has its rows, and the sum is that of all rows."""
    import jax
    import jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec

    batch = jax.device_put(jnp.arange(rows, dtype=jnp.int32), NamedSharding(mesh, PartitionSpec(("data", "fsdp"))))
    each = rows // mesh.size
    has = {shard.device.id: shard.data.tolist() for shard in batch.addressable_shards}
    for place, device in enumerate(mesh.devices.flat):
        assert has[device.id] == list(range(place * each, (place + 1) * each)), (place, device.id, has[device.id])
    total = jax.jit(jnp.sum, out_shardings=NamedSharding(mesh, PartitionSpec()))(batch)
    assert int(total) == rows * (rows - 1) // 2 and len(total.addressable_shards) == mesh.size


def check_jax(environments, mesh, maxtext, rows):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "differential"))
    check_detection([process["environment"] for process in read(environments)["processes"]])
    short, long = check_mesh(read(mesh)), check_mesh(read(maxtext))
    assert [one.id for one in short.devices.flat] == [one.id for one in long.devices.flat]
    for made in (short, long):
        check_sum(made, int(rows))


COMMANDS = {
    "environments": check_environments, "process": check_process, "webhook": check_webhook, "axes": print_axes,
    "jax": check_jax,
}  # fmt: skip

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
