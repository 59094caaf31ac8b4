# SPDX-License-Identifier: Apache-2.0
"""Suite ray-train-env: the environment of each worker of Ray Train."""

import itertools

from rows import Skip, allow_members, refusal

import quoit
from quoit.ray_rules import arithmetic, subslices


def coordinator_env(given, recorded):
    """The variables for the arguments of a call: address, number of slices, slice id, and optionally the port."""
    allow_members(given, ["args"])
    if not 3 <= len(given["args"]) <= 4:
        raise Skip("quoit does not accept these arguments")
    return arithmetic.coordinator_env(*given["args"])


def train_env(given, recorded):
    """The environment of each worker, and its arguments of initialize(). In rows, worker 0 is at 10.0.0.1:45678."""
    of_job = ["slices", "topology", "accelerator_type", "resources_per_worker"]
    allow_members(given, ["name", "workers", "use_tpu", "env_before", *of_job])
    job = [given.get(member) for member in of_job]
    n_workers = given["workers"] if given["use_tpu"] else 0
    return [
        {
            "index": index,
            "initialize": ["10.0.0.1:45678", n_workers, index],
            "env": arithmetic.train_env("10.0.0.1", index, *job, given.get("env_before")),
        }
        for index in range(n_workers)
    ]


GRIDS = {"x=first (JAX order)": lambda dims: dims, "x=last": lambda dims: dims[::-1]}


def hosts_of(sizes, block):
    """Yields the coordinates (x, y, z) of the chips of each host. Hosts are blocks of chips, counted along x first."""
    sizes = [*sizes, 1][:3]
    corners = itertools.product(*(range(0, size, step) for size, step in zip(sizes[::-1], block[::-1])))
    for corner in corners:
        chips = (range(at, min(at + step, size)) for at, step, size in zip(corner, block[::-1], sizes[::-1]))
        yield [list(chip[::-1]) for chip in itertools.product(*chips)]


def physical_worker_ids(given, recorded):
    """Ray's index of each host of a slice, or Ray's error if a host has no index."""
    allow_members(given, ["topology", "chip_grid", "host_block"])
    if given["chip_grid"] not in GRIDS:
        raise Skip("a grid that is neither x first nor x last")
    sizes = GRIDS[given["chip_grid"]](subslices.topology_dims(given["topology"]))
    ids = []
    for chips in hosts_of(sizes, subslices.topology_dims(given["host_block"])):
        try:
            ids.append(subslices.physical_worker_id(chips, given["topology"]))
        except quoit.InvalidError as error:
            ids.append(refusal(error))
    return ids


OPS = {
    "get_tpu_coordinator_env_vars": coordinator_env,
    "ray_physical_worker_ids": physical_worker_ids,
    "ray_train_jax_env": train_env,
}
REFUSALS = {"ray_physical_worker_ids"}
