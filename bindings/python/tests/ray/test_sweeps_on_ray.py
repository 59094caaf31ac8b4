# SPDX-License-Identifier: Apache-2.0
"""A sweep on a real Ray cluster has the results of one in this process."""

import json
import os

import pytest
import ray
import scenarios

import quoit
from quoit._sweep import on_ray

CASES = [{"dead": number % 5} for number in range(200)]


@pytest.fixture(scope="module")
def snapshot():
    return scenarios.snapshot()


@pytest.fixture(autouse=True)
def connected(fleet):
    """The cluster of the other tests. Its workers do not have the modules of the tests, so Ray sends their code."""
    ray.cloudpickle.register_pickle_by_value(scenarios)
    yield
    ray.cloudpickle.unregister_pickle_by_value(scenarios)


def test_the_results_are_those_of_one_process(snapshot, tmp_path):
    expected = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, seed=9)
    result = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, seed=9, on="ray", out=tmp_path)
    assert result.to_json_lines() == expected.to_json_lines() == (tmp_path / "results.jsonl").read_text()
    fixed = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, seed=9, on="ray", workers=1)
    assert fixed.sha256 == expected.sha256


def test_a_sweep_of_one_process_continues_on_ray(snapshot, tmp_path):
    whole = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, out=tmp_path).to_json_lines()
    chunks = (tmp_path / "chunks.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "chunks.jsonl").write_text("".join(chunks[1::2]))
    kept = sum(len(json.loads(line)["results"]) for line in chunks[1::2])
    result = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, out=tmp_path, on="ray")
    assert (result.n_resumed, result.to_json_lines()) == (kept, whole)


def test_ray_can_run_functions_that_no_module_has(snapshot):
    factor = 3
    result = quoit.sweep(snapshot, lambda fork, case, random: [case * factor, len(fork.snapshot().nodes)], 4, on="ray")
    assert result[:] == [[0, 48], [3, 48], [6, 48], [9, 48]]


def test_the_snapshot_is_shipped_once_and_rebuilt_once_a_worker(snapshot, monkeypatch):
    put = []
    real = ray.put
    monkeypatch.setattr(ray, "put", lambda value: put.append(value) or real(value))

    def scenario(fork, case, random):
        from quoit._sweep import on_ray

        (worker,) = on_ray._workers.values()
        return [os.getpid(), id(worker)]

    made = {tuple(row) for row in quoit.sweep(snapshot, scenario, 400, on="ray")}
    assert len(put) == 1
    assert len({pid for pid, _ in made}) == len(made)


def test_the_first_failure_is_the_one_that_is_raised(snapshot, tmp_path):
    with pytest.raises(quoit.InvalidError) as refused:
        quoit.sweep(snapshot, scenarios.fail_from_three, 8, on="ray", out=tmp_path)
    assert str(refused.value) == "case 3: scenario 'fail_from_three' raised ZeroDivisionError: case is 3"
    assert "scenarios.py" in str(refused.value.__cause__)
    with pytest.raises(quoit.InvalidError, match="case 2: scenario 'nan_at_two'"):
        quoit.sweep(snapshot, scenarios.nan_at_two, 4, on="ray")


def test_the_cases_of_a_killed_worker_run_again(snapshot, tmp_path):
    cases = [{"number": number, "folder": str(tmp_path)} for number in range(12)]
    expected = quoit.sweep(snapshot, scenarios.end_process_once, cases).to_json_lines()
    for number in (0, 7):
        (tmp_path / str(number)).touch()
    assert quoit.sweep(snapshot, scenarios.end_process_once, cases, on="ray").to_json_lines() == expected
    assert os.listdir(tmp_path) == []


def test_a_case_that_always_ends_its_worker_is_named(snapshot):
    with pytest.raises(quoit.FailedError, match=r"case 5: its worker ended 3 times \(WorkerCrashedError"):
        quoit.sweep(snapshot, scenarios.end_process_at_five, 6, on="ray")


def test_a_worker_with_another_version_is_refused(snapshot, monkeypatch):
    monkeypatch.setattr("quoit.sweeps.library_version", lambda: "9.9.9")
    with pytest.raises(quoit.VersionError, match=f"a worker has quoit '{quoit.__version__}': expected '9.9.9'"):
        quoit.sweep(snapshot, scenarios.echo, 3, on="ray")


def test_a_worker_without_the_module_of_the_scenario_is_reported(snapshot):
    ray.cloudpickle.unregister_pickle_by_value(scenarios)
    try:
        with pytest.raises(
            quoit.InvalidError, match="a worker cannot import the scenario: ModuleNotFoundError: No module"
        ):
            quoit.sweep(snapshot, scenarios.echo, 3, on="ray")
    finally:
        ray.cloudpickle.register_pickle_by_value(scenarios)


def test_a_worker_that_cannot_run_the_sweep_is_reported(snapshot, monkeypatch):
    def broken(plan, key, first, cases):
        raise ModuleNotFoundError("No module named 'quoit'")

    monkeypatch.setattr(on_ray, "_run", broken)
    with pytest.raises(quoit.InvalidError, match=r"cannot run the sweep: ModuleNotFoundError: No module named 'quoit'"):
        quoit.sweep(snapshot, scenarios.echo, 3, on="ray")


def test_a_table_of_a_sweep(snapshot):
    pandas = pytest.importorskip("pandas")
    frame = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, on="ray").frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns[:2]) == ["dead", "placed"] and len(frame) == 200
    pandas.testing.assert_frame_equal(frame, quoit.sweep(snapshot, scenarios.lose_and_place, CASES).frame())
