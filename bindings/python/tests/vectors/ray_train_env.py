# SPDX-License-Identifier: Apache-2.0
"""ray-train-env: the environment of each worker."""

from rows import Skip, only

from quoit.ray_rules import arithmetic


def coordinator_env(given, recorded):
    """ "args" are a call's: address, slices, slice, and perhaps the port."""
    only(given, ["args"])
    if not 3 <= len(given["args"]) <= 4:
        raise Skip("other arguments than quoit takes")
    return arithmetic.coordinator_env(*given["args"])


def train_env(given, recorded):
    """Worker i is 10.0.0.(i + 1), and worker 0 listens on port 45678."""
    of_job = ["slices", "topology", "accelerator_type", "resources_per_worker"]
    only(given, ["name", "workers", "use_tpu", "env_before", *of_job])
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


OPS = {"get_tpu_coordinator_env_vars": coordinator_env, "ray_train_jax_env": train_env}
