# SPDX-License-Identifier: Apache-2.0
"""run_on_slice() starts one task or actor per reserved host, in order, each with its environment; and free_slices()."""

from __future__ import annotations

import os
import sys

import pytest

ray = pytest.importorskip("ray", "2.55.0")

from pairs import tpu_fleet  # noqa: E402

import quoit  # noqa: E402
import quoit.ray  # noqa: E402

pytest_plugins = ("pairs",)

# Workers cannot import this file.
ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])

PLACES = ["s-9/0", "s-9/1", "s-10/0", "s-10/1"]


@pytest.fixture(scope="module")
def ledger(tmp_path_factory):
    return str(tmp_path_factory.mktemp("ledger") / "fleet.db")


def read_place(*args, **kwargs):
    return ray.get_runtime_context().get_node_id(), dict(os.environ), args, kwargs


class Reporter:
    def __init__(self, *args):
        self.place = read_place(*args)

    def report(self):
        return self.place


def places(pairs, answers):
    return [pairs.id2name()[answer[0]] for answer in answers]


def variables(answers, name):
    return [answer[1].get(name) for answer in answers]


@pytest.fixture(scope="class")
def both(pairs, ledger):
    with quoit.ray.slice_placement_group("2x2x2", "v4", num_slices=2, ledger=ledger) as slices:
        yield slices


@pytest.fixture(scope="class")
def apart(both):
    return ray.get(quoit.ray.run_on_slice(read_place, 1, tpu_slice=both, two=2))


@pytest.fixture(scope="class")
def joined(both):
    return ray.get(quoit.ray.run_on_slice(ray.remote(read_place), tpu_slice=both, multislice=True))


class TestTwoSlicesInOneGroup:
    def test_tasks_run_on_every_host_in_the_order_of_slices_and_worker_ids(self, pairs, apart, joined):
        assert places(pairs, apart) == PLACES
        assert places(pairs, joined) == PLACES

    def test_each_task_gets_the_arguments(self, apart):
        assert [answer[2:] for answer in apart] == [((1,), {"two": 2})] * 4

    def test_each_task_has_the_environment_of_its_process(self, both, joined):
        for process, answer in enumerate(joined):
            expected = both.environment(process)
            assert expected["TPU_WORKER_ID"] == str(process % 2) and expected["MEGASCALE_SLICE_ID"] == str(process // 2)
            assert {name: answer[1].get(name) for name in expected} == expected

    def test_separate_slices_have_no_common_variables(self, both, apart):
        assert [name for answer in apart for name in answer[1] if name.startswith("MEGASCALE_")] == []
        for process, answer in enumerate(apart):
            expected = {name: value for name, value in both.environment(process).items() if "MEGASCALE" not in name}
            assert {name: answer[1].get(name) for name in expected} == expected

    def test_a_single_slice_can_be_selected(self, pairs, both):
        assert places(pairs, ray.get(quoit.ray.run_on_slice(read_place, tpu_slice=both, slice_index=1))) == PLACES[2:]

    @pytest.mark.parametrize("index", [-1, 2, 2**70])
    def test_an_unknown_slice_index_is_refused(self, both, index):
        with pytest.raises(quoit.InvalidError, match=r"slice_index '-?[0-9]+': expected 0 to 1"):
            quoit.ray.run_on_slice(read_place, tpu_slice=both, slice_index=index)

    @pytest.mark.parametrize("fn", [None, 3, "read_place"])
    def test_an_object_that_is_not_callable_is_refused(self, both, fn):
        with pytest.raises(TypeError, match="fn: expected a function or a class"):
            quoit.ray.run_on_slice(fn, tpu_slice=both)

    def test_actors_have_their_environment_in_the_constructor(self, pairs, both):
        actors = quoit.ray.run_on_slice(Reporter, 7, tpu_slice=both, multislice=True)
        answers = ray.get([actor.report.remote() for actor in actors])
        assert places(pairs, answers) == PLACES
        assert variables(answers, "MEGASCALE_SLICE_ID") == ["0", "0", "1", "1"]
        assert [answer[2] for answer in answers] == [(7,)] * 4
        for actor in actors:
            ray.kill(actor)

    def test_options_of_the_caller_override_and_those_of_the_decorator_stay(self, both):
        remote = ray.remote(runtime_env={"env_vars": {"OWN": "decorator", "TPU_NAME": "decorator"}})(read_place)
        answers = ray.get(quoit.ray.run_on_slice(
            remote, tpu_slice=both, multislice=True, env={"MEGASCALE_PORT": "9915", "MORE": "env"},
            options={"max_retries": 0, "num_cpus": 2},
        ))  # fmt: skip
        for name, value in {
            "OWN": "decorator",
            "TPU_NAME": "decorator",
            "MEGASCALE_PORT": "9915",
            "MORE": "env",
        }.items():
            assert variables(answers, name) == [value] * 4


def test_bundles_of_one_chip_run_in_the_order_of_hosts(pairs, ledger):
    with quoit.ray.slice_placement_group(
        "2x2x2", "v4", resources_per_bundle={"TPU": 1, "CPU": 0.1}, ledger=ledger
    ) as slices:
        answers = ray.get(quoit.ray.run_on_slice(read_place, tpu_slice=slices))
    assert places(pairs, answers) == ["s-9/0"] * 4 + ["s-9/1"] * 4
    assert variables(answers, "TPU_WORKER_ID") == ["0"] * 4 + ["1"] * 4
    for host in answers[:4], answers[4:]:
        assert sorted(variables(host, "TPU_VISIBLE_CHIPS")) == ["0", "1", "2", "3"]


def test_a_group_per_slice_runs_in_the_same_order(pairs, ledger):
    with quoit.ray.slice_placement_group("2x2x2", "v4", num_slices=2, pg_per_slice=True, ledger=ledger) as slices:
        assert places(pairs, ray.get(quoit.ray.run_on_slice(read_place, tpu_slice=slices))) == PLACES
        assert places(pairs, ray.get(quoit.ray.run_on_slice(read_place, tpu_slice=slices, slice_index=1))) == PLACES[2:]


def test_a_released_reservation_runs_nothing(pairs, ledger):
    slices = quoit.ray.slice_placement_group("2x2x2", "v4", ledger=ledger)
    slices.release()
    with pytest.raises(quoit.ConflictError):
        quoit.ray.run_on_slice(read_place, tpu_slice=slices)


def test_a_reservation_with_a_lost_host_runs_nothing_until_it_is_repaired(losing, ledger):
    with quoit.ray.slice_placement_group("2x2x2", "v4", ledger=ledger) as slices:
        losing.kill("s-9/1")
        losing.wait(lambda: slices.state is quoit.GroupState.RESCHEDULING, 60, "Ray notices")
        with pytest.raises(quoit.ConflictError, match="'RESCHEDULING': expected RESERVED"):
            quoit.ray.run_on_slice(read_place, tpu_slice=slices)
        slices.repair()
        assert places(losing, ray.get(quoit.ray.run_on_slice(read_place, tpu_slice=slices))) == PLACES[2:]


# --- free slices ----------------------------------------------------------------------------------------------------


def free(ledger, *arguments):
    return [one.name for one in quoit.ray.free_slices(*arguments, ledger=ledger)]


def test_free_slices_lists_slices_with_their_facts(pairs, ledger):
    first = quoit.ray.free_slices(ledger=ledger)[0]
    address = next(row["NodeManagerAddress"] for row in ray.nodes() if tpu_fleet.node_name(row) == "s-9/0")
    assert first == quoit.ray.FreeSlice("s-9", "v4", "2x2x2", 2, 4, address)
    assert free(ledger, "2x2x2", "TPU-V4") == free(ledger, " 2X2X2 ") == ["s-9", "s-10", "s-11"]
    assert free(ledger, "2x2x4") == free(ledger, None, "v6e") == []


def test_reserved_slices_and_slices_with_an_actor_are_not_free(pairs, ledger):
    with quoit.ray.slice_placement_group("2x2x2", "v4", ledger=ledger) as slices:
        assert slices.slice_names == ("s-9",)
        assert free(ledger) == ["s-10", "s-11"]
    external = ray.remote(num_cpus=0, resources={"TPU": 4}, label_selector={tpu_fleet.SLICE_NAME: "s-10"})(Reporter)
    actor = external.remote()
    ray.get(actor.report.remote())
    pairs.wait(lambda: free(ledger) == ["s-9", "s-11"], 10, "external use is seen")
    ray.kill(actor)
    pairs.wait(lambda: free(ledger) == ["s-9", "s-10", "s-11"], 10, "the end of it is seen")


def test_an_unknown_generation_is_refused(pairs, ledger):
    with pytest.raises(quoit.InvalidError, match="v99"):
        quoit.ray.free_slices(None, "v99", ledger=ledger)
