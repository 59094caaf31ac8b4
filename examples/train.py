#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A training job that survives the loss of a host: it reserves slices, trains, repairs the group and resumes.

    python examples/train.py --ledger fleet.db --topology 2x2x2 --accelerator v4 --slices 2 --lose-a-host

It runs on any Ray cluster with one slice more than requested. --lose-a-host kills a host during the run, so do not use
it on a shared cluster. Without it no host is lost and nothing is repaired. The training step is a stub that runs on
CPUs.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import tempfile
import time

import quoit
import quoit.ray
import ray
from quoit.ray.train import UseSlices, scaling_config
from ray.train import ControllerError, FailureConfig, RunConfig
from ray.train.v2.jax import JaxTrainer


def train(config: dict) -> None:
    """The loop of each worker: resumes from the last checkpoint and writes one after each step."""
    import jax
    import jax.numpy as jnp
    import ray.train

    context = ray.train.get_context()
    checkpoint = ray.train.get_checkpoint()
    done, weight = 0, 0.0
    if checkpoint:
        with checkpoint.as_directory() as folder:
            done, weight = map(float, pathlib.Path(folder, "step").read_text().split())
    for step in range(int(done) + 1, config["steps"] + 1):
        if step == config["lose_at"] and context.get_world_rank() == context.get_world_size() - 1:
            os.kill(os.getppid(), signal.SIGKILL)  # kills the host's raylet: Ray considers the node dead
            time.sleep(60)  # and this worker with it
        weight = float(jax.jit(lambda x: x + jnp.float32(1))(weight))
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "step").write_text(f"{step} {weight}")
            ray.train.report(
                {"step": step, "weight": weight, "slices": int(os.environ.get("MEGASCALE_NUM_SLICES", 1))},
                checkpoint=ray.train.Checkpoint.from_directory(folder),
            )


def fit(slices: quoit.ray.SlicePlacementGroup, storage: str, steps: int, lose_at: int | None) -> dict:
    """Runs the training once on the reservation. The run name never changes, so each run resumes where the previous one
    ended.
    """
    trainer = JaxTrainer(
        train,
        train_loop_config={"steps": steps, "lose_at": lose_at},
        scaling_config=scaling_config(slices),
        run_config=RunConfig(
            name="stub",
            storage_path=storage,
            callbacks=[UseSlices(slices)],
            failure_config=FailureConfig(max_failures=3),
            worker_runtime_env={"env_vars": {"JAX_PLATFORMS": "cpu"}},
        ),
    )
    return trainer.fit().metrics


def main() -> None:
    parser = argparse.ArgumentParser(description="reserve slices, train on them, lose a host, repair, go on")
    parser.add_argument("--ledger", required=True, help="quoit's database; it is made where there is none")
    parser.add_argument("--topology", required=True, help="of each slice, as 4x4")
    parser.add_argument("--accelerator", required=True, help="the generation, as v6e")
    parser.add_argument("--slices", type=int, default=2)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--storage", default=tempfile.mkdtemp(), help="for checkpoints; every host must see it")
    parser.add_argument("--lose-a-host", action="store_true", help="kill one in the middle")
    asked = parser.parse_args()

    ray.init(address="auto", log_to_driver=False)
    with quoit.ray.slice_placement_group(
        asked.topology, asked.accelerator, num_slices=asked.slices, ledger=asked.ledger
    ) as slices:
        print("reserved:", *slices.slice_names)
        try:
            metrics = fit(slices, asked.storage, asked.steps, asked.steps // 2 + 1 if asked.lose_a_host else None)
        except ControllerError as failed:
            if not isinstance(failed.controller_failure, quoit.ConflictError):
                raise
            print("lost:", failed.controller_failure)
            slices.repair()
            print("repaired:", *slices.slice_names)
            metrics = fit(slices, asked.storage, asked.steps, None)
        print(f"trained: step {metrics['step']}, weight {metrics['weight']:g}, on {metrics['slices']} slices")


if __name__ == "__main__":
    main()
