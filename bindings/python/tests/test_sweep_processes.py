# SPDX-License-Identifier: Apache-2.0
"""A sweep in several processes has the results of one in this process, whatever happens to them."""

import errno
import json
import multiprocessing
import os
import pathlib
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest
import scenarios

import quoit
from quoit._sweep.cases import Done, Failure, Lost
from quoit._sweep.runners import Piece, Runner


@pytest.fixture(scope="module")
def snapshot():
    return scenarios.snapshot()


@pytest.fixture(autouse=True)
def no_process_is_left():
    yield
    assert multiprocessing.active_children() == []


CASES = [{"dead": number % 5} for number in range(60)]


def test_the_results_are_those_of_one_process(snapshot, tmp_path):
    here = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, seed=9, out=tmp_path / "here")
    assert len(set(here.to_json_lines().splitlines())) > 30
    several = quoit.sweep(
        snapshot, scenarios.lose_and_place, CASES, seed=9, out=tmp_path / "several", on="processes", workers=2
    )
    assert several.to_json_lines() == here.to_json_lines()
    assert several.sha256 == here.sha256
    names = [(tmp_path / one / "results.jsonl").read_bytes() for one in ("here", "several")]
    assert names[0] == names[1]


def test_a_sweep_can_continue_in_another_way(snapshot, tmp_path):
    whole = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, out=tmp_path).to_json_lines()
    chunks = (tmp_path / "chunks.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "chunks.jsonl").write_text("".join(chunks[::2]))
    kept = sum(len(json.loads(line)["results"]) for line in chunks[::2])
    result = quoit.sweep(snapshot, scenarios.lose_and_place, CASES, out=tmp_path, on="processes", workers=1)
    assert (result.n_resumed, result.to_json_lines()) == (kept, whole)


def test_the_first_failure_is_the_one_that_is_raised(snapshot, tmp_path):
    messages = []
    for on in ("here", "processes"):
        with pytest.raises(quoit.InvalidError) as refused:
            quoit.sweep(snapshot, scenarios.fail_from_three, 8, on=on, out=tmp_path / on)
        messages.append(str(refused.value))
        lines = (tmp_path / on / "chunks.jsonl").read_text().splitlines()
        assert sorted(one for line in lines for one in json.loads(line)["results"])[:3] == [0, 1, 2]
    assert messages == ["case 3: scenario 'fail_from_three' raised ZeroDivisionError: case is 3"] * 2
    assert "scenarios.py" in str(refused.value.__cause__) and "raise ZeroDivisionError" in str(refused.value.__cause__)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (scenarios.exit_at_two, "case 2: scenario 'exit_at_two' raised SystemExit: enough"),
        (scenarios.nan_at_two, "case 2: scenario 'nan_at_two': result['value'][1] 'nan': expected a finite number"),
    ],
)
def test_failures_of_other_processes(snapshot, scenario, message):
    with pytest.raises(quoit.InvalidError) as refused:
        quoit.sweep(snapshot, scenario, 4, on="processes", workers=1)
    assert str(refused.value).startswith(message)


def test_the_cases_of_a_killed_process_run_again(snapshot, tmp_path):
    cases = [{"number": number, "folder": str(tmp_path)} for number in range(12)]
    expected = quoit.sweep(snapshot, scenarios.end_process_once, cases).to_json_lines()
    for number in (0, 7, 11):
        (tmp_path / str(number)).touch()
    result = quoit.sweep(snapshot, scenarios.end_process_once, cases, on="processes", workers=2)
    assert os.listdir(tmp_path) == []
    assert result.to_json_lines() == expected


def test_a_case_that_always_ends_its_process_is_named(snapshot, tmp_path):
    with pytest.raises(quoit.FailedError) as failed:
        quoit.sweep(snapshot, scenarios.end_process_at_five, 6, on="processes", workers=1, out=tmp_path)
    assert str(failed.value) == "case 5: its worker ended 3 times (signal 9): expected a scenario that returns"
    lines = (tmp_path / "chunks.jsonl").read_text().splitlines()
    assert sorted(one for line in lines for one in json.loads(line)["results"]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("scenario", [lambda fork, case, random: 1, threading.Lock().acquire])
def test_a_scenario_that_cannot_be_sent_is_refused(snapshot, scenario):
    with pytest.raises(quoit.InvalidError, match="expected a function at the top level of a module"):
        quoit.sweep(snapshot, scenario, 2, on="processes")


def test_an_interrupt_ends_all_processes_and_keeps_results(snapshot, tmp_path):
    chunks = tmp_path / "chunks.jsonl"

    def interrupt():
        end = time.monotonic() + 30
        while time.monotonic() < end and not (chunks.exists() and chunks.read_bytes()):
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        quoit.sweep(
            snapshot, scenarios.wait, [{"seconds": 0.01}] * 1000 + [{"seconds": 60}] * 2, on="processes", workers=2,
            out=tmp_path,
        )  # fmt: skip
    assert time.monotonic() - begin < 50
    assert multiprocessing.active_children() == []
    lines = chunks.read_text().splitlines()
    assert lines and all(json.loads(line)["results"] for line in lines)


def test_a_process_that_cannot_be_started_is_an_error(snapshot, monkeypatch):
    started = []
    real = multiprocessing.process.BaseProcess.start

    def start(process):
        if started:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        started.append(process)
        real(process)

    before = len(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as full:
        full.setattr(multiprocessing.process.BaseProcess, "start", start)
        with pytest.raises(
            quoit.FailedError, match="cannot be started: Resource temporarily unavailable: expected fewer"
        ):
            quoit.sweep(snapshot, scenarios.echo, 4, on="processes", workers=2)
    started.clear()
    assert len(os.listdir("/proc/self/fd")) <= before + 1  # that of multiprocessing's own resource tracker


# --- programs -------------------------------------------------------------------------------------------------------

GUARDED = """
import quoit
def scenario(fork, case, random):
    return [case, len(fork.snapshot().nodes)]
def main():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4 x2", now_ms=1_800_000_000_000)
        print(quoit.sweep(ledger.snapshot(), scenario, 3, on="processes", workers=2)[:])
if __name__ == "__main__":
    main()
"""


def run_program(text, tmp_path, how):
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    (tmp_path / "program.py").write_text(text)
    arguments = {"file": ["program.py"], "stdin": ["-"], "command": ["-c", text]}[how]
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, cwd=tmp_path, env=environment, check=False,
        input=text if how == "stdin" else "", timeout=120,
    )  # fmt: skip


def test_the_scenario_can_be_in_the_program(tmp_path):
    done = run_program(GUARDED, tmp_path, "file")
    assert (done.stdout, done.stderr) == ("[[0, 8], [1, 8], [2, 8]]\n", "")


def test_the_scenario_of_a_program_without_a_file_is_refused(tmp_path):
    done = run_program(GUARDED, tmp_path, "command")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("quoit.errors.InvalidError: a worker cannot import the scenario: AttributeError: ")
    assert last.endswith("expected a function at the top level of a module, or of the program's file")


def test_a_program_without_a_file_can_import_its_scenario(tmp_path):
    (tmp_path / "other.py").write_text("def scenario(fork, case, random):\n    return case\n")
    start = GUARDED.index("def scenario")
    text = GUARDED[:start] + "from other import scenario\n" + GUARDED[GUARDED.index("def main") :]
    done = run_program(text, tmp_path, "stdin")
    assert (done.stdout, done.stderr) == ("[0, 1, 2]\n", "")


def test_a_program_without_a_guard_gets_an_error(tmp_path):
    done = run_program(GUARDED.replace('if __name__ == "__main__":\n    main()', "main()"), tmp_path, "file")
    assert (done.returncode, done.stdout) == (1, "")
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("quoit.errors.InvalidError: a worker ended with exit status 1 before its first case")
    assert last.endswith("with the sweep below 'if __name__ == \"__main__\":'")
    assert "the program begins a sweep while a worker imports it" in done.stderr


def test_an_interrupt_of_the_terminal_ends_the_program_once(tmp_path):
    text = GUARDED.replace(
        "return [case", "import time; print('.', flush=True); time.sleep(60 if case else 0.5); return [case"
    )
    (tmp_path / "program.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "program.py"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env=environment, start_new_session=True,
    ) as program:  # fmt: skip
        for _ in range(3):  # each worker runs a case
            program.stdout.readline()
        os.killpg(program.pid, signal.SIGINT)
        _, errors = program.communicate(timeout=60)
    assert program.returncode == -signal.SIGINT
    assert errors.count("KeyboardInterrupt") == 1, errors


def is_running(process):
    """Whether a process exists, and has not only not been waited for yet."""
    try:
        return ") Z " not in pathlib.Path(f"/proc/{process}/stat").read_text()
    except FileNotFoundError:
        return False


def test_the_workers_of_a_killed_program_end(tmp_path):
    text = GUARDED.replace(
        "return [case", "import os, time; print(os.getpid(), flush=True); time.sleep(1); return [case"
    )
    (tmp_path / "program.py").write_text(text)
    environment = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "program.py"], stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=environment
    ) as program:
        worker = int(program.stdout.readline())
        program.kill()
    end = time.monotonic() + 20
    while is_running(worker):
        assert time.monotonic() < end, "the worker still runs"
        time.sleep(0.05)


# --- chunks ---------------------------------------------------------------------------------------------------------


class Simulated(Runner):
    """Workers that answer in any order, lose pieces, and end chunks early. Case n takes `cost(n)` seconds."""

    def __init__(self, source, n_workers, cost, fails, lose):
        self.n_workers = n_workers
        self._random, self._cost, self._fails, self._lose = source, cost, fails, lose
        self._running = []
        self.sizes = []
        self.ran = []

    def has_room(self):
        return len(self._running) < self.n_workers

    def submit(self, piece, cases):
        assert list(map(int, cases)) == list(range(piece.first, piece.end)) and cases
        self._running.append(piece)
        self.sizes.append(piece.end - piece.first)

    def wait(self):
        assert self._running
        self._random.shuffle(self._running)
        ended = [self._running.pop() for _ in range(self._random.randrange(len(self._running) + 1))]
        return [(piece, self._run(piece)) for piece in ended]

    def _run(self, piece):
        if self._random.random() < self._lose and (piece.end - piece.first > 1 or piece.n_lost < 2):
            return Lost("signal 9")
        texts, seconds = [], 0.0
        for number in range(piece.first, piece.end):
            seconds += self._cost(number)
            if number in self._fails:
                return Done(texts, Failure(number, f"case {number}", ""), seconds)
            texts.append(str(number))
            self.ran.append(number)
            if seconds > 0.4:
                break
        return Done(texts, None, seconds)


COSTS = {
    "equal": lambda number: 0.01,
    "short": lambda number: 1e-5,
    "long": lambda number: 3.0,
    "first cases short": lambda number: 1e-6 if number < 50 else 1.0,
    "first cases long": lambda number: 1.0 if number < 5 else 1e-6,
}


@pytest.mark.parametrize("cost", COSTS)
def test_any_order_of_answers_gives_all_results(snapshot, monkeypatch, cost):
    source = random.Random(cost)
    for turn in range(40):
        n_cases, fails = source.randrange(1, 300), []
        if turn % 2:
            fails = sorted(source.sample(range(n_cases), min(3, n_cases)))
        simulated = Simulated(source, source.randrange(1, 6), COSTS[cost], fails, source.choice((0.0, 0.2)))
        monkeypatch.setattr("quoit.sweeps.Here", lambda plan, scenario, simulated=simulated: simulated)
        if fails:
            with pytest.raises(quoit.InvalidError, match=rf"^case {fails[0]}$"):
                quoit.sweep(snapshot, scenarios.echo, n_cases)
            assert set(range(fails[0])) <= set(simulated.ran)
        else:
            assert quoit.sweep(snapshot, scenarios.echo, n_cases)[:] == list(range(n_cases))
            assert sorted(simulated.ran) == list(range(n_cases))


def test_chunks_take_about_a_fifth_of_a_second(snapshot, monkeypatch):
    simulated = Simulated(random.Random(1), 2, lambda number: 0.001, [], 0.0)
    monkeypatch.setattr("quoit.sweeps.Here", lambda plan, scenario: simulated)
    quoit.sweep(snapshot, scenarios.echo, 20_000)
    assert simulated.sizes[:2] == [1, 1]
    assert max(simulated.sizes) in (199, 200)
    assert len(simulated.sizes) < 150


def test_the_last_chunks_are_shorter(snapshot, monkeypatch):
    simulated = Simulated(random.Random(1), 4, lambda number: 1e-6, [], 0.0)
    monkeypatch.setattr("quoit.sweeps.Here", lambda plan, scenario: simulated)
    quoit.sweep(snapshot, scenarios.echo, 10_000)
    assert max(simulated.sizes) <= 10_000 // 8
    assert simulated.sizes[-1] == 1


def test_a_lost_piece_is_halved():
    from quoit.sweeps import _split

    assert _split(Piece(3, 8), Lost("x")) == [Piece(3, 5), Piece(5, 8)]
    assert _split(Piece(3, 4), Lost("x")) == [Piece(3, 4, 1)]
    assert _split(Piece(3, 4, 1), Lost("x")) == [Piece(3, 4, 2)]
    with pytest.raises(quoit.FailedError, match=textwrap.dedent(r"case 3: its worker ended 3 times \(x\)")):
        _split(Piece(3, 4, 2), Lost("x"))
