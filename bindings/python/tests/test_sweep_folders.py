# SPDX-License-Identifier: Apache-2.0
"""A sweep continues from what its folder has, and refuses the folder of another sweep."""

import errno
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

import pytest
import scenarios

import quoit
from quoit._sweep import folder as folders

CASES = [{"dead": number % 4} for number in range(9)]


@pytest.fixture(scope="module")
def snapshot():
    return scenarios.snapshot()


@pytest.fixture(scope="module")
def expected(snapshot):
    return quoit.sweep(snapshot, scenarios.lose_and_place, CASES, seed=5).to_json_lines()


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of one case, so that the folder has several lines."""
    monkeypatch.setattr("quoit.sweeps._GROWTH", 1)


@pytest.fixture
def fast_path():
    """A folder in memory, if there is one, for tests with many sweeps."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as name:
        yield pathlib.Path(name)


def run(snapshot, out, **changes):
    arguments = {"scenario": scenarios.lose_and_place, "cases": CASES, "seed": 5, **changes}
    return quoit.sweep(snapshot, out=out, **arguments)


def contents(out):
    return {name: (out / name).read_bytes() for name in os.listdir(out) if name != "sweep.lock"}


def test_a_folder_has_the_sweep_and_its_results(snapshot, expected, small_chunks, tmp_path):
    out = tmp_path / "new" / "out"
    assert run(snapshot, out).to_json_lines() == expected
    assert sorted(os.listdir(out)) == ["chunks.jsonl", "results.jsonl", "sweep.json", "sweep.lock"]
    assert (out / "results.jsonl").read_text() == expected
    about = json.loads((out / "sweep.json").read_text())
    assert (about["schema"], about["quoit"], about["seed"]) == ("quoit-sweep/1", quoit.__version__, 5)
    assert (about["snapshot"]["entry"], about["cases"]["number"]) == (snapshot.seq, 9)
    assert about["scenario"]["name"] == "lose_and_place"
    chunks = [json.loads(line) for line in (out / "chunks.jsonl").read_text().splitlines()]
    assert [chunk["first"] for chunk in chunks] == list(range(9))


def test_a_complete_sweep_runs_nothing_again(snapshot, expected, tmp_path):
    run(snapshot, tmp_path)
    before = contents(tmp_path)
    again = run(snapshot, str(tmp_path))
    assert (again.to_json_lines(), again.n_resumed) == (expected, 9)
    (tmp_path / "results.jsonl").write_text("0\n")
    assert run(snapshot, tmp_path).n_resumed == 9
    assert contents(tmp_path) == before


def whole_results(data):
    """How many results the whole lines at the beginning of `data` have."""
    return sum(len(json.loads(line)["results"]) for line in data.splitlines(keepends=True) if line.endswith(b"\n"))


def test_a_write_that_was_cut_off_anywhere_costs_only_its_chunk(snapshot, small_chunks, fast_path):
    run(snapshot, fast_path, scenario=scenarios.clock_and_random, cases=3)
    before = contents(fast_path)
    for length in range(len(before["chunks.jsonl"]) + 1):
        part = before["chunks.jsonl"][:length]
        (fast_path / "chunks.jsonl").write_bytes(part)
        again = run(snapshot, fast_path, scenario=scenarios.clock_and_random, cases=3)
        assert again.n_resumed == whole_results(part)
        assert contents(fast_path) == before


def test_a_damaged_byte_anywhere_costs_only_its_chunk(snapshot, small_chunks, fast_path):
    run(snapshot, fast_path, scenario=scenarios.clock_and_random, cases=3)
    before = contents(fast_path)
    data = before["chunks.jsonl"]
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << (at % 8)
        (fast_path / "chunks.jsonl").write_bytes(damaged)
        again = run(snapshot, fast_path, scenario=scenarios.clock_and_random, cases=3)
        assert again.n_resumed == (2 if data[at : at + 1] != b"\n" or at == len(data) - 1 else 1)
        assert (fast_path / "results.jsonl").read_bytes() == before["results.jsonl"]
        assert whole_results((fast_path / "chunks.jsonl").read_bytes()) == 3


def signed(rest):
    rest = ('","' + rest).encode()
    return b'{"sha256":"' + folders.hashlib.sha256(rest).hexdigest().encode() + rest + b"\n"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n\n",
        b"\0" * 4096,
        b"[1]\n",
        b"\xff\xfe\n",
        b'{"sha256":"',
        signed("first"),
        signed('first":0}'),
        signed('first":"0","results":[1]}'),
        signed('first":-1,"results":[1]}'),
        signed('first":9,"results":[1]}'),
        signed('first":0,"results":[NaN]}'),
        signed('first":0,"results":7}'),
        signed('first":0,"results":' + "[" * 5000 + "]" * 5000 + "}"),
    ],
    ids=lambda line: repr(line[-30:]),
)
def test_hostile_lines_count_as_not_written(snapshot, expected, tmp_path, line):
    run(snapshot, tmp_path)
    data = (tmp_path / "chunks.jsonl").read_bytes()
    (tmp_path / "chunks.jsonl").write_bytes(line + b"\n" + data)
    again = run(snapshot, tmp_path)
    assert (again.to_json_lines(), again.n_resumed) == (expected, 9)
    assert (tmp_path / "chunks.jsonl").read_bytes() == data


def test_files_of_an_interrupted_start_are_used(snapshot, expected, tmp_path):
    (tmp_path / "sweep.lock").write_text("process 1 on nowhere\n")
    (tmp_path / "sweep.json.new").write_text('{"sche')
    assert run(snapshot, tmp_path).to_json_lines() == expected
    assert sorted(os.listdir(tmp_path)) == ["chunks.jsonl", "results.jsonl", "sweep.json", "sweep.lock"]


# --- other sweeps ---------------------------------------------------------------------------------------------------


def edit(out, name, value):
    about = json.loads((out / "sweep.json").read_text())
    about[name] = value
    (out / "sweep.json").write_text(json.dumps(about))


OTHERS = {
    "snapshot": "another snapshot (entry '6', expected '1')",
    "cases": "other cases (number '9', expected '8')",
    "same number": "other cases (number '9' in both)",
    "scenario": "another scenario (name 'lose_and_place', expected 'echo')",
    "seed": "another seed ('5', expected '6')",
    "quoit": f"another version of quoit ('0.0.9', expected '{quoit.__version__}')",
    "python": f"another version of Python ('3.2', expected '{sys.version_info[0]}.{sys.version_info[1]}')",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_the_folder_of_another_sweep_is_refused(snapshot, tmp_path, kind):
    run(snapshot, tmp_path)
    changes = {}
    if kind == "snapshot":
        with quoit.open_memory() as ledger:
            ledger.import_fleet_text("v6e 4x4 x12", now_ms=scenarios.NOW)
            snapshot = ledger.snapshot()
    elif kind == "cases":
        changes["cases"] = CASES[1:]
    elif kind == "same number":
        changes["cases"] = [*CASES[1:], {"dead": 9}]
    elif kind == "scenario":
        changes["scenario"] = scenarios.echo
    elif kind == "seed":
        changes["seed"] = 6
    else:
        edit(tmp_path, kind, {"quoit": "0.0.9", "python": "3.2"}[kind])
    before = contents(tmp_path)
    with pytest.raises(quoit.ConflictError) as refused:
        run(snapshot, tmp_path, **changes)
    assert str(refused.value) == f"out '{tmp_path}': it has a sweep with {OTHERS[kind]}: use another folder"
    assert contents(tmp_path) == before


def test_all_differences_are_named(snapshot, tmp_path):
    run(snapshot, tmp_path)
    with pytest.raises(quoit.ConflictError, match=r"another seed \('5', expected '0'\) and other cases"):
        run(snapshot, tmp_path, seed=0, cases=2)


def test_an_equal_snapshot_of_another_handle_continues(tmp_path):
    with quoit.create(tmp_path / "fleet.db") as ledger:
        ledger.import_fleet_text("v6e 4x4 x12", now_ms=scenarios.NOW)
        run(ledger.snapshot(), tmp_path / "out")
    with quoit.open(tmp_path / "fleet.db") as ledger:
        assert run(ledger.snapshot(), tmp_path / "out").n_resumed == 9
        ledger.set_node_state("v6e-4x4-0-0", quoit.NodeState.DEAD, now_ms=scenarios.NOW)
        with pytest.raises(quoit.ConflictError, match="another snapshot"):
            run(ledger.snapshot(), tmp_path / "out")
        assert run(ledger.snapshot_at(1), tmp_path / "out").n_resumed == 9


def test_a_folder_with_other_files_is_refused(snapshot, tmp_path):
    (tmp_path / "results.jsonl").write_text("mine\n")
    with pytest.raises(
        quoit.ConflictError, match=r"it has 'results.jsonl' and no sweep.json: expected an empty folder"
    ):
        run(snapshot, tmp_path)
    assert os.listdir(tmp_path) == ["results.jsonl"]
    (tmp_path / "sweep.lock").touch()
    with pytest.raises(quoit.ConflictError, match=r"it has 'results.jsonl'"):
        run(snapshot, tmp_path)
    assert (tmp_path / "results.jsonl").read_text() == "mine\n"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"seed": 5}', "\xff", "[" * 100_000])
def test_a_damaged_description_is_refused(snapshot, tmp_path, text):
    run(snapshot, tmp_path)
    (tmp_path / "sweep.json").write_text(text, encoding="latin-1")
    before = contents(tmp_path)
    with pytest.raises(quoit.DamagedError, match=r"sweep.json': expected the description of a sweep"):
        run(snapshot, tmp_path)
    assert contents(tmp_path) == before


def test_a_later_schema_is_refused(snapshot, tmp_path):
    run(snapshot, tmp_path)
    edit(tmp_path, "schema", "quoit-sweep/2")
    with pytest.raises(quoit.VersionError, match="schema 'quoit-sweep/2': expected 'quoit-sweep/1'"):
        run(snapshot, tmp_path)


def test_a_description_without_a_part_is_another_sweep(snapshot, tmp_path):
    run(snapshot, tmp_path)
    edit(tmp_path, "snapshot", 7)
    with pytest.raises(quoit.ConflictError, match=r"another snapshot \(entry 'None', expected '6'\)"):
        run(snapshot, tmp_path)


# --- several processes ----------------------------------------------------------------------------------------------

PROGRAM = """
import sys, quoit, scenarios
quoit.sweep(scenarios.snapshot(), scenarios.wait, [{"seconds": 0.02}] * 40, seed=5, out=sys.argv[1])
"""


def program(out, **arguments):
    where = {**os.environ, "PYTHONPATH": ":".join([os.path.dirname(scenarios.__file__), *sys.path])}
    return subprocess.Popen([sys.executable, "-c", PROGRAM, str(out)], env=where, **arguments)


def wait_for_line(out, process):
    end = time.monotonic() + 30
    while not (out / "chunks.jsonl").exists() or not (out / "chunks.jsonl").read_bytes():
        assert process.poll() is None and time.monotonic() < end
        time.sleep(0.01)


def test_two_processes_cannot_use_one_folder(snapshot, tmp_path):
    with program(tmp_path) as first:
        wait_for_line(tmp_path, first)
        with pytest.raises(quoit.BusyError) as busy:
            quoit.sweep(snapshot, scenarios.wait, [{"seconds": 0.02}] * 40, seed=5, out=tmp_path)
        assert f"out '{tmp_path}': process {first.pid} on " in str(busy.value)
        assert "runs a sweep there: wait until it ends, or use another folder" in str(busy.value)
        first.kill()
    assert quoit.sweep(snapshot, scenarios.wait, [{"seconds": 0.02}] * 40, seed=5, out=tmp_path).n_resumed > 0


def test_two_threads_cannot_use_one_folder(snapshot, tmp_path):
    def scenario(fork, case, random):
        with pytest.raises(quoit.BusyError, match=f"process {os.getpid()} on"):
            run(snapshot, tmp_path)
        return 1

    quoit.sweep(snapshot, scenario, 1, out=tmp_path)


def test_a_process_that_is_killed_loses_nothing_that_was_written(snapshot, tmp_path):
    cases = [{"seconds": 0.02}] * 40
    known = 0
    for number in range(3):
        with program(tmp_path) as process:
            wait_for_line(tmp_path, process)
            time.sleep(0.15 * number)
            process.kill()
        now = whole_results((tmp_path / "chunks.jsonl").read_bytes())
        assert now >= known
        known = now
    result = quoit.sweep(snapshot, scenarios.wait, cases, seed=5, out=tmp_path)
    assert result.n_resumed == known
    assert (
        result.to_json_lines()
        == quoit.sweep(snapshot, scenarios.wait, [{"seconds": 0.02}] * 40, seed=5).to_json_lines()
    )


# --- disks ----------------------------------------------------------------------------------------------------------


class Disk:
    """The module `os` with a disk that is full from the n-th operation on. A write that fails has written a part."""

    def __init__(self, n):
        self.left = n

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in ("open", "write", "pwrite", "fsync", "replace", "makedirs", "ftruncate"):
            return real

        def operation(*arguments, **named):
            self.left -= 1
            if self.left >= 0:
                return real(*arguments, **named)
            if name == "write":
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

        return operation


def test_a_full_disk_loses_nothing_that_was_written(snapshot, expected, small_chunks, fast_path, monkeypatch):
    n = 0
    while True:
        out = fast_path / str(n)
        disk = Disk(n)
        with monkeypatch.context() as full:
            full.setattr(folders, "os", disk)
            full.setattr(folders, "_SYNC_S", 0)
            try:
                run(snapshot, out)
            except quoit.StoreError as error:
                assert "No space left on device" in str(error) and str(out) in str(error)
        if disk.left >= 0:
            break
        chunks = out / "chunks.jsonl"
        written = whole_results(chunks.read_bytes()) if chunks.exists() else 0
        again = run(snapshot, out)
        assert (again.to_json_lines(), again.n_resumed) == (expected, written)
        assert (out / "results.jsonl").read_text() == expected
        n += 1
    assert n > 30


def test_a_limit_of_the_size_of_files_is_an_error_of_the_disk(snapshot, small_chunks, tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    cases = ["x" * 3000] * 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(quoit.StoreError, match=r"chunks.jsonl': File too large"):
            run(snapshot, tmp_path, scenario=scenarios.echo, cases=cases)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert whole_results((tmp_path / "chunks.jsonl").read_bytes()) == 6
    assert run(snapshot, tmp_path, scenario=scenarios.echo, cases=cases).n_resumed == 6


def test_a_file_in_place_of_the_folder_is_refused(snapshot, tmp_path):
    (tmp_path / "out").write_text("mine")
    for out in (tmp_path / "out", tmp_path / "out" / "inside"):
        with pytest.raises(quoit.StoreError, match=r"out'|out/inside'"):
            run(snapshot, out)
    assert (tmp_path / "out").read_text() == "mine"


def test_no_descriptor_is_left_open(snapshot, tmp_path):
    before = len(os.listdir("/proc/self/fd"))
    run(snapshot, tmp_path / "out")
    for arguments in ({"seed": 1}, {"scenario": scenarios.echo}):
        with pytest.raises(quoit.ConflictError):
            run(snapshot, tmp_path / "out", **arguments)
    assert len(os.listdir("/proc/self/fd")) == before


# --- failures and interrupts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scenario", "n_before"),
    [(scenarios.fail_from_three, 3), (scenarios.exit_at_two, 2), (scenarios.nan_at_two, 2)],
)
def test_the_results_before_a_failure_are_written(snapshot, tmp_path, scenario, n_before):
    messages = []
    for _ in range(2):
        with pytest.raises(quoit.InvalidError, match=f"case {n_before}: scenario '{scenario.__name__}'") as refused:
            run(snapshot, tmp_path, scenario=scenario, cases=6)
        messages.append(str(refused.value))
        assert whole_results((tmp_path / "chunks.jsonl").read_bytes()) == n_before
        assert not (tmp_path / "results.jsonl").exists()
    assert messages[0] == messages[1]


def test_the_results_before_an_interrupt_are_written(snapshot, small_chunks, tmp_path):
    def scenario(fork, case, random):
        if case == 4 and not (tmp_path / "done").exists():
            (tmp_path / "done").touch()
            raise KeyboardInterrupt
        return case

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        run(snapshot, out, scenario=scenario, cases=6)
    interrupted = run(snapshot, out, scenario=scenario, cases=6)
    assert (interrupted.n_resumed, interrupted[:]) == (4, [0, 1, 2, 3, 4, 5])
