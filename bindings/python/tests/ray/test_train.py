# SPDX-License-Identifier: Apache-2.0
"""A Ray trainer runs on the slices that are reserved for it, and leaves nothing behind."""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

import pytest

pytest.importorskip("pyarrow", reason="Ray Train is not installed: ray[train]==2.60.0")
ray = pytest.importorskip("ray", "2.55.0")

from ray.train import ControllerError, FailureConfig, RunConfig, ScalingConfig, WorkerGroupError  # noqa: E402
from ray.train.v2._internal.execution.callback import ControllerCallback  # noqa: E402
from ray.train.v2.api.data_parallel_trainer import DataParallelTrainer  # noqa: E402
from ray.util.placement_group import placement_group_table  # noqa: E402

import quoit  # noqa: E402
import quoit.ray  # noqa: E402
from quoit.ray import train  # noqa: E402

pytest_plugins = ("pairs",)

# Workers cannot import this file.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return str(tmp_path_factory.mktemp("ledger") / "fleet.db")


@pytest.fixture
def slices(pairs, ledger):
    with quoit.ray.slice_placement_group("2x2x2", "v4", num_slices=2, ledger=ledger) as slices:
        yield slices


@pytest.fixture
def one(pairs, ledger):
    with quoit.ray.slice_placement_group("2x2x2", "v4", ledger=ledger) as slices:
        yield slices


def placement_groups():
    return {name: row["state"] for name, row in placement_group_table().items() if row["state"] != "REMOVED"}


def record_state(config):
    """Each worker writes its state to a file with its rank."""
    import ray.train

    context = ray.train.get_context()
    state = {
        "rank": context.get_world_rank(),
        "node": ray.get_runtime_context().get_node_id(),
        "modules": sorted(sys.modules),
        "env": dict(os.environ),
    }
    if "jax" in sys.modules:
        import jax

        state["jax"] = [jax.process_index(), jax.process_count(), jax.default_backend()]
    path = pathlib.Path(config["folder"], f"{state['rank']}.json")
    path.with_suffix(".new").write_text(json.dumps(state))
    path.with_suffix(".new").rename(path)


def states(folder):
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def config(folder, *callbacks, **options):
    return RunConfig(
        storage_path=str(folder / "results"),
        callbacks=list(callbacks),
        worker_runtime_env={"env_vars": {"JAX_PLATFORMS": "cpu"}},
        **options,
    )


def fit(folder, slices, loop=record_state, run=None, **options):
    trainer = DataParallelTrainer(
        loop,
        train_loop_config={"folder": str(folder)},
        scaling_config=train.scaling_config(slices, **options),
        run_config=config(folder, train.UseSlices(slices), **(run or {})),
    )
    return trainer.fit()


@pytest.fixture(scope="module")
def jax_run(pairs, ledger, tmp_path_factory):
    """One run of a JaxTrainer: the state of its workers by rank, and the placement groups before and after the run."""
    pytest.importorskip("jax")
    from ray.train.v2.jax import JaxTrainer

    folder = tmp_path_factory.mktemp("jax")
    with quoit.ray.slice_placement_group("2x2x2", "v4", num_slices=2, ledger=ledger) as slices:
        before = placement_groups()
        JaxTrainer(
            record_state,
            train_loop_config={"folder": str(folder)},
            scaling_config=train.scaling_config(slices),
            run_config=config(folder, train.UseSlices(slices)),
        ).fit()
        return types.SimpleNamespace(
            workers=states(folder),
            before=before,
            after=placement_groups(),
            processes=quoit.topology(slices.group, quoit.Profile.RAY_TRAIN).processes,
        )


def test_a_jax_trainer_runs_on_the_slices_in_the_order_of_names_and_worker_ids(pairs, jax_run):
    names = pairs.id2name()
    assert [names[one["node"]] for one in jax_run.workers] == ["s-10/0", "s-10/1", "s-9/0", "s-9/1"]
    assert [one["jax"] for one in jax_run.workers] == [[rank, 4, "cpu"] for rank in range(4)]


def test_each_worker_has_its_environment(pairs, jax_run):
    names = pairs.id2name()
    first = next(row["NodeManagerAddress"] for row in ray.nodes() if names[row["NodeID"]] == "s-10/0")
    for rank, one in enumerate(jax_run.workers):
        expected = {
            "JAX_PLATFORMS": "cpu",
            "MEGASCALE_COORDINATOR_ADDRESS": first,
            "MEGASCALE_PORT": "8081",
            "MEGASCALE_NUM_SLICES": "2",
            "MEGASCALE_SLICE_ID": str(rank // 2),
            "TPU_NAME": ["s-10", "s-9"][rank // 2],
            "TPU_WORKER_ID": str(rank % 2),
            "TPU_VISIBLE_CHIPS": "0,1,2,3",
        }
        assert {name: one["env"].get(name) for name in expected} == expected


def test_quoit_predicts_ranks_and_environment(pairs, jax_run):
    names = pairs.id2name()
    for one, process in zip(jax_run.workers, jax_run.processes):
        assert names[one["node"]] == f"{process.slice_name}/{process.worker_id}"
        expected = {**process.environment, "JAX_PLATFORMS": "cpu"}  # set by the runtime_env of the run
        assert {name: one["env"].get(name) for name in expected} == expected


def test_a_run_on_reserved_slices_reserves_and_releases_nothing(jax_run):
    assert jax_run.after == jax_run.before
    assert "CREATED" in jax_run.before.values()


def test_workers_do_not_need_quoit(jax_run):
    assert [one["rank"] for one in jax_run.workers if "quoit" not in one["modules"]] == [0, 1, 2, 3]


def test_a_job_with_fewer_slices_uses_the_first_ones(pairs, slices, tmp_path):
    fit(tmp_path, slices, num_workers=2)
    assert [pairs.id2name()[one["node"]] for one in states(tmp_path)] == ["s-9/0", "s-9/1"]


def test_a_failed_run_does_not_release_the_reservation(one, tmp_path):
    def fail(config):
        raise RuntimeError("no data")

    with pytest.raises(WorkerGroupError, match="no data"):
        fit(tmp_path, one, fail)
    assert placement_group_table(one.placement_group)["state"] == "CREATED"


def die_once(config):
    """In the first run, ends the process of the second worker. All other calls write the worker's state."""
    import ray.train

    mark = pathlib.Path(config["folder"], "died")
    if ray.train.get_context().get_world_rank() == 1 and not mark.exists():
        mark.touch()
        os._exit(1)
    record_state(config)


def test_a_dead_worker_is_restarted_in_its_bundle(pairs, one, tmp_path):
    fit(tmp_path, one, die_once, {"failure_config": FailureConfig(max_failures=1)})
    assert (tmp_path / "died").exists()
    assert [pairs.id2name()[row["node"]] for row in states(tmp_path)] == ["s-9/0", "s-9/1"]


def test_workers_that_need_more_than_a_bundle_end_the_run(one, tmp_path):
    with pytest.raises(ControllerError) as raised:
        fit(tmp_path, one, resources_per_worker={"TPU": 4, "CPU": 2})
    assert isinstance(raised.value.controller_failure, quoit.InvalidError)
    assert "resources_per_worker 'CPU': '2': expected at most 1" in str(raised.value.controller_failure)


def test_more_workers_than_bundles_end_the_run(one, tmp_path):
    with pytest.raises(ControllerError) as raised:
        fit(tmp_path, one, num_workers=4)
    assert isinstance(raised.value.controller_failure, quoit.InvalidError)
    assert "num_workers '4': expected at most 2" in str(raised.value.controller_failure)


@pytest.mark.parametrize(
    "name, lacking",
    [
        ("TrainController.worker_group_cls", "the class of worker groups"),
        ("WorkerGroup._create_placement_group", "the creation of a worker group's placement group"),
        ("PlacementGroupHandle.wait", "the handle of a placement group"),
    ],
)
def test_a_ray_without_a_needed_feature_is_refused_with_its_name(monkeypatch, slices, name, lacking):
    owner, attribute = name.split(".")
    monkeypatch.delattr(getattr(train, owner), attribute)
    with pytest.raises(quoit.VersionError) as raised:
        train.UseSlices(slices)
    assert lacking in str(raised.value) and name in str(raised.value)


def test_ray_trains_first_version_is_refused(monkeypatch, slices):
    monkeypatch.setenv("RAY_TRAIN_V2_ENABLED", "0")
    with pytest.raises(quoit.VersionError, match="RAY_TRAIN_V2_ENABLED"):
        train.UseSlices(slices)


def lose_a_host(config):
    """In the first run, kills the raylet of the last host. All other calls write the worker's state."""
    import ray.train

    context, mark = ray.train.get_context(), pathlib.Path(config["folder"], "lost")
    if context.get_world_rank() == context.get_world_size() - 1 and not mark.exists():
        mark.touch()
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)
    record_state(config)


def test_a_lost_host_ends_the_run_until_the_reservation_is_repaired(losing, slices, tmp_path):
    with pytest.raises(ControllerError) as raised:
        fit(tmp_path, slices, lose_a_host, {"failure_config": FailureConfig(max_failures=-1)})
    assert isinstance(raised.value.controller_failure, quoit.ConflictError)
    assert "expected an intact reservation: repair it, and call fit() again" in str(raised.value.controller_failure)

    slices.repair()
    fit(tmp_path, slices, lose_a_host)
    assert slices.state is quoit.GroupState.RESERVED
    assert [losing.id2name()[one["node"]] for one in states(tmp_path)] == ["s-10/0", "s-10/1", "s-11/0", "s-11/1"]


# --- slices that the run itself reserves ----------------------------------------------------------------------------


def run_of_its_own(
    folder, ledger, loop=record_state, workers=2, run=None, callbacks=(), interval_s=60.0, kind=None, **options
):
    scaling = ScalingConfig(
        use_tpu=True,
        topology="2x2x2",
        accelerator_type="TPU-V4",
        num_workers=workers,
        elastic_resize_monitor_interval_s=interval_s,
    )
    trainer = (kind or DataParallelTrainer)(
        loop,
        train_loop_config={"folder": str(folder)},
        scaling_config=scaling,
        run_config=config(folder, train.ReserveSlices(ledger, **options), *callbacks, name="job", **(run or {})),
    )
    return trainer.fit()


def history(ledger, since):
    """The verbs of the changes of groups after the journal entry `since`."""
    with quoit.open(ledger) as opened:
        verbs = [entry.verb for entry in opened.changes_since(since)]
    return [verb for verb in verbs if verb in ("hold", "reserve", "confirm", "repair", "resize", "release")]


def held(ledger):
    with quoit.open(ledger) as opened:
        return [group.name for group in opened.snapshot().as_of().groups if group.slices]


def forget_runs():
    """Ends the actor by which Ray divides the hosts among runs. It counts the workers of a killed run for 180 s."""
    with contextlib.suppress(ValueError):
        ray.kill(ray.get_actor("AutoscalingCoordinator", namespace="AutoscalingCoordinator"))


@pytest.fixture
def since(ledger, pairs):
    """The last journal entry before the test. After the test, nothing may be allocated in the ledger or in Ray."""
    forget_runs()
    quoit.ray.sync(ledger)
    with quoit.open(ledger) as opened:
        seq = opened.snapshot().seq
    yield seq
    assert held(ledger) == []
    assert placement_groups() == {}


def test_a_run_reserves_its_slices_and_releases_them_at_the_end(pairs, ledger, since, tmp_path):
    run_of_its_own(tmp_path, ledger)
    assert [pairs.id2name()[one["node"]] for one in states(tmp_path)] == ["s-9/0", "s-9/1"]
    assert history(ledger, since) == ["hold", "confirm", "release"]


def test_a_failed_run_releases_its_slices(ledger, since, tmp_path):
    def fail(config):
        raise RuntimeError("no data")

    with pytest.raises(WorkerGroupError, match="no data"):
        run_of_its_own(tmp_path, ledger, fail)
    assert history(ledger, since) == ["hold", "confirm", "release"]


def test_a_run_keeps_its_slices_over_a_restart(ledger, since, tmp_path):
    run_of_its_own(tmp_path, ledger, die_once, run={"failure_config": FailureConfig(max_failures=1)})
    assert len(states(tmp_path)) == 2
    assert history(ledger, since) == ["hold", "confirm", "release"]


def test_an_elastic_run_keeps_its_slices_over_a_restart(ledger, since, tmp_path):
    run_of_its_own(tmp_path, ledger, die_once, (2, 2), run={"failure_config": FailureConfig(max_failures=1)})
    assert len(states(tmp_path)) == 2
    assert history(ledger, since) == ["hold", "confirm", "release"]


def test_a_run_that_loses_a_host_continues_on_another_slice(losing, ledger, since, tmp_path):
    run_of_its_own(tmp_path, ledger, lose_a_host, run={"failure_config": FailureConfig(max_failures=3)})
    assert [losing.id2name()[one["node"]] for one in states(tmp_path)] == ["s-10/0", "s-10/1"]
    assert "repair" in history(ledger, since)


def test_a_run_that_can_never_get_its_slices_ends_at_once(ledger, since, tmp_path):
    with pytest.raises(ControllerError) as raised:
        run_of_its_own(tmp_path, ledger, workers=8)
    assert isinstance(raised.value.controller_failure, quoit.NeverError)
    assert history(ledger, since) == []


def test_a_run_without_free_slices_retries_and_holds_nothing(ledger, tmp_path, monkeypatch):
    monkeypatch.setenv("RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S", "1")
    with quoit.ray.slice_placement_group("2x2x2", "v4", num_slices=3, ledger=ledger):
        before = placement_groups()
        with pytest.raises(ControllerError, match="1 slice of v4 2x2x2"):
            run_of_its_own(tmp_path, ledger, run={"failure_config": FailureConfig(controller_failure_limit=1)})
        assert placement_groups() == before


def is_free_after_sync(ledger):
    quoit.ray.sync(ledger)
    return held(ledger) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_or_killed_driver_leaves_nothing(pairs, ledger, since, tmp_path, number):
    driver = tmp_path / "driver.py"
    driver.write_text(
        f"import sys; sys.path[:0] = {[str(pathlib.Path(__file__).parent)]!r}\n"
        f"import pathlib, time, ray, test_train\n"
        "def wait(config):\n"
        "    import os\n"
        "    pathlib.Path(config['folder'], f'up-{os.getpid()}').touch()\n"
        "    time.sleep(600)\n"
        f"ray.init(address={pairs.address!r}, log_to_driver=False)\n"
        f"test_train.run_of_its_own(pathlib.Path({str(tmp_path)!r}), {ledger!r}, wait)\n"
    )
    with subprocess.Popen([sys.executable, str(driver)], stderr=subprocess.DEVNULL) as process:
        pairs.wait(lambda: len(list(tmp_path.glob("up-*"))) == 2, 120, "two workers")
        process.send_signal(number)
    pairs.wait(lambda: placement_groups() == {}, 30, "Ray's groups are gone")
    if number == signal.SIGKILL:
        pairs.wait(lambda: is_free_after_sync(ledger), 30, "the slices are free in the ledger")


# --- elastic runs among other jobs ----------------------------------------------------------------------------------


@contextlib.contextmanager
def other_job(ledger, slices, folder):
    """Another driver, which reserves a slice as soon as there is one, and holds it until the end of the block."""
    program = (
        "import ray, pathlib, sys, time, quoit.ray\n"
        f"ray.init(address={ray.get_runtime_context().gcs_address!r}, log_to_driver=False, logging_level='error')\n"
        f"folder = pathlib.Path({str(folder)!r})\n"
        "(folder / 'asks').touch()\n"
        f"with quoit.ray.slice_placement_group('2x2x2', 'v4', num_slices={slices}, ledger={ledger!r}, timeout_s=300,"
        " name='other') as got:\n"
        "    (folder / 'got').write_text(' '.join(got.slice_names))\n"
        "    sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(60)


def groups_over_time(ledger, since):
    """For each later journal entry: the slices of each group that is live after it, by the group's name."""
    with quoit.open(ledger) as opened:
        seqs = [entry.seq for entry in opened.changes_since(since)]
    for seq in seqs:
        with quoit.open(ledger, at=seq) as past:
            groups = past.snapshot().groups
            yield {one.name: [s.name for s in one.slices] for one in groups if one.slices and not one.source}


def record_until_end(config):
    """Each worker writes its state, then waits for the file `end`. If the file `lose` appears, the last worker kills
    its raylet.
    """
    import ray.train

    context, folder = ray.train.get_context(), pathlib.Path(config["folder"])
    rank, size = context.get_world_rank(), context.get_world_size()
    here = folder / f"{size} workers"
    here.mkdir(exist_ok=True)
    record_state({"folder": str(here)})
    while not (folder / "end").exists():
        if rank == size - 1 and (folder / "lose").exists():
            (folder / "lose").unlink()
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
        time.sleep(0.05)


@contextlib.contextmanager
def elastic_run(folder, ledger, workers, **options):
    """Runs an elastic job in a thread, which ends at the end of the block."""
    run = {"failure_config": FailureConfig(max_failures=3)}
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        job = pool.submit(run_of_its_own, folder, ledger, record_until_end, workers, run, **options)
        try:
            yield job
        finally:
            (folder / "end").touch()
        job.result(60)


def ranks(folder, size, names):
    """The host of each worker of the run with that many workers, by rank; [] if not all have written their state."""
    workers = states(folder / f"{size} workers")
    return [names[one["node"]] for one in workers] if len(workers) == size else []


def reserve_slice(name, ledger):
    """Reserves the slice with that name."""
    labels = [{"ray.io/tpu-slice-name": name}] * 2
    return quoit.ray.slice_placement_group("2x2x2", "v4", bundle_label_selector=labels, ledger=ledger, timeout_s=20)


def test_an_elastic_run_continues_on_its_slice_although_another_job_waits_for_it(losing, ledger, since, tmp_path):
    names = losing.id2name
    with reserve_slice("s-9", ledger):
        with contextlib.ExitStack() as stack:
            with elastic_run(tmp_path, ledger, (2, 4)):
                losing.wait(lambda: ranks(tmp_path, 4, names()), 60, "four workers")
                stack.enter_context(other_job(ledger, 1, tmp_path))
                losing.wait(lambda: (tmp_path / "asks").exists(), 60, "the other job asks")
                (tmp_path / "lose").touch()
                losing.wait(lambda: ranks(tmp_path, 2, names()), 60, "two workers")
                assert ranks(tmp_path, 4, names()) == ["s-10/0", "s-10/1", "s-11/0", "s-11/1"]
                assert ranks(tmp_path, 2, names()) == ["s-10/0", "s-10/1"]
                assert not (tmp_path / "got").exists()
            losing.wait(lambda: (tmp_path / "got").exists(), 60, "the slice is free after the run")
        assert (tmp_path / "got").read_text() == "s-10"
    # The blocking reservation; the run; its loss and its end; the other job.
    assert history(ledger, since) == [
        *["hold", "confirm"] * 2,
        "resize",
        "release",
        "hold",
        "confirm",
        *["release"] * 2,
    ]


def test_an_elastic_run_grows_and_its_slices_keep_their_ids(pairs, ledger, since, tmp_path):
    pytest.importorskip("jax")
    from ray.train.v2.jax import JaxTrainer

    names = pairs.id2name
    blocking = [reserve_slice(name, ledger) for name in ("s-10", "s-11")]
    with elastic_run(tmp_path, ledger, (2, 6), interval_s=1.0, kind=JaxTrainer):
        pairs.wait(lambda: ranks(tmp_path, 2, names()), 60, "two workers")
        blocking.pop(0).release()
        pairs.wait(lambda: ranks(tmp_path, 4, names()), 60, "four workers")
        blocking.pop(0).release()
        pairs.wait(lambda: ranks(tmp_path, 6, names()), 60, "six workers")
    # Ray's order would be s-10, s-11, s-9.
    hosts = ["s-9/0", "s-9/1", "s-10/0", "s-10/1", "s-11/0", "s-11/1"]
    for size in (2, 4, 6):
        assert ranks(tmp_path, size, names()) == hosts[:size]
    ids = [one["env"]["MEGASCALE_SLICE_ID"] for one in states(tmp_path / "6 workers")]
    assert ids == ["0", "0", "1", "1", "2", "2"]
    run = [*["hold", "confirm"], *["release", "resize"] * 2, "release"]
    assert history(ledger, since) == [*["hold", "confirm"] * 2, *run]


def test_an_elastic_run_with_too_few_slices_releases_them_and_waits(losing, ledger, since, tmp_path):
    names = losing.id2name
    blocking = reserve_slice("s-9", ledger)
    with elastic_run(tmp_path, ledger, (4, 6)):
        losing.wait(lambda: ranks(tmp_path, 4, names()), 60, "four workers")
        with other_job(ledger, 1, tmp_path):
            losing.wait(lambda: (tmp_path / "asks").exists(), 60, "the other job asks")
            (tmp_path / "4 workers").rename(tmp_path / "before")
            (tmp_path / "lose").touch()
            losing.wait(lambda: (tmp_path / "got").exists(), 60, "the other job has the slice that is left")
            assert held(ledger) == [blocking.group.name, "other"]
        assert (tmp_path / "got").read_text() == "s-10"
        blocking.release()
        losing.wait(lambda: ranks(tmp_path, 4, names()), 90, "four workers on two slices")
    assert ranks(tmp_path, 4, names()) == ["s-10/0", "s-10/1", "s-9/0", "s-9/1"]


class WriteProcess(ControllerCallback):
    """Writes the process id of the controller to a file."""

    def __init__(self, path):
        self.path = path

    def after_controller_start(self, train_run_context):
        self.path.write_text(str(os.getpid()))


@pytest.mark.parametrize("synchronised", [True, False])
def test_the_slices_of_a_killed_controller_end(pairs, ledger, since, tmp_path, synchronised):
    controller = tmp_path / "controller"
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        options = {"callbacks": [WriteProcess(controller)], "lease_s": 6.0}
        job = pool.submit(run_of_its_own, tmp_path, ledger, record_until_end, (2, 4), **options)
        pairs.wait(lambda: len(states(tmp_path / "4 workers")) == 4, 60, "four workers")
        assert len(held(ledger)) == 1
        os.kill(int(controller.read_text()), signal.SIGKILL)
        with pytest.raises(ray.exceptions.ActorDiedError):
            job.result(60)
    # A sync finds that the actor is dead. Without a sync, the slices are free when the lease ends.
    is_free = is_free_after_sync if synchronised else lambda ledger: held(ledger) == []
    pairs.wait(lambda: is_free(ledger), 12, "the slices are free", interval_s=0.2)
    # Ray keeps the placement groups of a dead actor until its driver ends. A sync removes them.
    quoit.ray.sync(ledger)
    with quoit.ray.slice_placement_group("2x2x2", "v4", num_slices=3, ledger=ledger, timeout_s=10):
        pass
