# SPDX-License-Identifier: Apache-2.0
"""A sweep gives each case a fork, a source of random numbers and no clock, and returns JSON."""

import io
import json
import pickle
import random
import re
import sys
import threading

import pytest
import scenarios
from hypothesis import given
from hypothesis import strategies as st
from scenarios import NOW

import quoit
from quoit import _c
from quoit._sweep import bar
from quoit._sweep.values import to_text


@pytest.fixture(scope="module")
def snapshot():
    return scenarios.snapshot()


def test_each_case_is_like_a_call_with_its_own_fork_and_random_numbers(snapshot):
    result = quoit.sweep(snapshot, scenarios.lose_and_place, [{"dead": number % 7} for number in range(40)], seed=11)
    assert len({json.dumps(one) for one in result}) > 20
    for number, one in enumerate(result):
        token = _c._standing_clock.set(snapshot.clock_ms)
        expected = scenarios.lose_and_place(snapshot.fork(), {"dead": number % 7}, random.Random(f"11/{number}"))
        _c._standing_clock.reset(token)
        assert json.loads(json.dumps(expected)) == one


def test_a_scenario_has_no_clock(snapshot):
    for _, _, until_ms in quoit.sweep(snapshot, scenarios.clock_and_random, 3):
        assert until_ms == NOW + 1_000


def test_a_scenario_can_pass_times(snapshot):
    def later(fork, case, random):
        return fork.hold(
            quoit.Request("a", accelerator="v6e", topology="4x4", slices=1), 1_000, now_ms=NOW + case
        ).until_ms

    assert quoit.sweep(snapshot, later, [0, 500])[:] == [NOW + 1_000, NOW + 1_500]


def test_the_snapshot_of_an_empty_ledger_has_a_time():
    with quoit.open_memory() as ledger:
        empty = ledger.snapshot()
    assert quoit.sweep(empty, lambda fork, case, random: len(fork.snapshot().nodes), 2)[:] == [0, 0]


def test_only_scenarios_lose_the_clock(snapshot):
    seen = []

    def scenario(fork, case, random):
        thread = threading.Thread(target=lambda: seen.append(_c.clock(None)))
        thread.start()
        thread.join()
        raise LookupError("stop")

    with pytest.raises(quoit.InvalidError):
        quoit.sweep(snapshot, scenario, 1)
    assert abs(seen[0] - _c.clock(None)) < 600_000
    assert _c.clock(None) != snapshot.clock_ms


def test_random_numbers_depend_on_seed_and_case(snapshot):
    def draws(**arguments):
        return [draw for _, draw, _ in quoit.sweep(snapshot, scenarios.clock_and_random, 5, **arguments)]

    assert draws() == draws(seed=0) != draws(seed=1)
    assert len({*draws(), *draws(seed=1), *draws(seed=-1)}) == 15


def test_cases_do_not_affect_each_other(snapshot):
    shared = [7]
    before = snapshot.to_json()
    assert quoit.sweep(snapshot, scenarios.change_case, [shared, shared])[:] == [[7, 1], [7, 1]]
    assert shared == [7]
    quoit.sweep(snapshot, scenarios.lose_and_place, 5)
    assert snapshot.to_json() == before


def test_the_fork_ends_with_its_case(snapshot):
    kept = []
    quoit.sweep(snapshot, lambda fork, case, random: kept.append(fork), 2)
    assert [fork.is_closed for fork in kept] == [True, True]


@pytest.mark.parametrize(
    ("cases", "expected"),
    [
        (0, []),
        (3, [0, 1, 2]),
        ([], []),
        ((), []),
        ((n * n for n in range(3)), [0, 1, 4]),
        (iter(["a", None, True]), ["a", None, True]),
        (range(2), [0, 1]),
        ([(1, 2), {"a": (3,)}], [[1, 2], {"a": [3]}]),
        ([1.5, -0.0, 1e300], [1.5, -0.0, 1e300]),
    ],
)
def test_cases_can_be_a_number_or_any_values(snapshot, tmp_path, cases, expected):
    result = quoit.sweep(snapshot, scenarios.echo, cases, out=tmp_path)
    assert (result[:], result.cases) == (expected, tuple(expected))
    assert (tmp_path / "results.jsonl").read_text() == result.to_json_lines()


NESTED: list = []
NESTED.append(NESTED)
NOT_JSON = [
    (float("nan"), "'nan': expected a finite number"),
    (float("inf"), "'inf': expected a finite number"),
    ({"a": [0, float("-inf")]}, "['a'][1] '-inf': expected a finite number"),
    (b"x", "'b'x'': expected JSON (None, a bool, int, float, str, list or dict), not bytes"),
    ({"a": {1, 2}}, "['a'] '{1, 2}': expected JSON"),
    (object, "expected JSON"),
    (1j, "'1j': expected JSON"),
    ({1: 2}, ": key '1': expected a str, not int"),
    ({None: 2}, ": key 'None': expected a str, not NoneType"),
    (NESTED, "expected at most 100 levels"),
    (10**10_000, "expected JSON: Exceeds the limit"),
]


@pytest.mark.parametrize(("value", "message"), NOT_JSON, ids=[message for _, message in NOT_JSON])
def test_results_that_are_not_json_are_refused(snapshot, value, message):
    if value == 10**10_000 and not hasattr(sys, "get_int_max_str_digits"):
        pytest.skip("this Python formats numbers of any length")
    with pytest.raises(quoit.InvalidError) as refused:
        quoit.sweep(snapshot, lambda fork, case, random: value if case == 1 else 0, 3)
    assert str(refused.value).startswith(
        "case 1: scenario 'test_results_that_are_not_json_are_refused.<locals>.<lambda>'"
    )
    assert message in str(refused.value)


@pytest.mark.parametrize(("value", "message"), NOT_JSON[:8])
def test_cases_that_are_not_json_are_refused(snapshot, tmp_path, value, message):
    with pytest.raises(quoit.InvalidError) as refused:
        quoit.sweep(snapshot, scenarios.echo, [0, value], out=tmp_path / "out")
    assert str(refused.value).startswith("cases[1]")
    assert message in str(refused.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"cases": -1}, quoit.InvalidError, "cases '-1': expected 0 to 2147483647"),
        ({"cases": 2**40}, quoit.InvalidError, "cases '1099511627776': expected 0"),
        ({"cases": "abc"}, TypeError, "cases: expected a sequence of JSON values, or a number, not str"),
        ({"cases": {"a": 1}}, TypeError, "cases: expected a sequence of JSON values, or a number, not dict"),
        ({"cases": None}, TypeError, "cases: expected a sequence of JSON values, or a number, not NoneType"),
        ({"cases": 2.0}, TypeError, "cases: expected a sequence of JSON values, or a number, not float"),
        ({"cases": True}, TypeError, "cases: expected an int, not bool"),
        ({"snapshot": None}, TypeError, "snapshot: expected a quoit.Snapshot, not NoneType"),
        ({"scenario": "f"}, TypeError, "scenario: expected a function, not str"),
        ({"seed": "7"}, TypeError, "seed: expected an int, not str"),
        ({"seed": 2**63}, quoit.InvalidError, "seed '9223372036854775808'"),
        ({"on": "threads"}, quoit.InvalidError, "on 'threads': expected one of here, processes, ray"),
        ({"on": None}, TypeError, "on: expected a str, not NoneType"),
        ({"workers": 2}, quoit.InvalidError, "workers: expected None with on 'here'"),
        ({"on": "processes", "workers": 0}, quoit.InvalidError, "workers '0': expected 1 to 100000"),
        ({"on": "processes", "workers": "2"}, TypeError, "workers: expected an int, not str"),
        ({"out": 5}, TypeError, "out: expected a str or os.PathLike[str], not int"),
        ({"out": b"x"}, TypeError, "out: expected a str or os.PathLike"),
        ({"out": ""}, quoit.InvalidError, "out '': expected the name of a folder"),
        ({"out": "a\ud800"}, quoit.InvalidError, "found a lone surrogate at character 1"),
        ({"out": "a\0b"}, quoit.InvalidError, "expected a name without NUL"),
        ({"progress": 1}, TypeError, "progress: expected a bool, not int"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_runs(snapshot, changes, error, message):
    called = []
    arguments = {"snapshot": snapshot, "scenario": lambda *_: called.append(1), "cases": 2, **changes}
    with pytest.raises(error) as refused:
        quoit.sweep(**arguments)
    assert message in str(refused.value)
    assert called == []


def test_the_error_of_a_scenario_names_the_case_and_has_its_cause(snapshot):
    with pytest.raises(quoit.InvalidError) as refused:
        quoit.sweep(snapshot, scenarios.fail_from_three, 6)
    assert str(refused.value) == "case 3: scenario 'fail_from_three' raised ZeroDivisionError: case is 3"
    assert type(refused.value.__cause__) is ZeroDivisionError


def test_errors_without_a_message_and_with_a_broken_one(snapshot):
    class Broken(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    for error, name in ((KeyError, "KeyError"), (Broken, "Broken"), (SystemExit, "SystemExit")):

        def scenario(fork, case, random, error=error):
            raise error

        with pytest.raises(quoit.InvalidError, match=f"raised .*{name}$"):
            quoit.sweep(snapshot, scenario, 1)


def test_an_interrupt_ends_the_sweep(snapshot):
    def scenario(fork, case, random):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quoit.sweep(snapshot, scenario, 1)
    assert _c._standing_clock.get() is None


def test_a_sweep_is_a_sequence(snapshot):
    result = quoit.sweep(snapshot, scenarios.echo, [[1], [2], [3]])
    assert repr(result) == "<quoit.Sweep of 3 cases>"
    assert repr(quoit.sweep(snapshot, scenarios.echo, 1)) == "<quoit.Sweep of 1 case>"
    assert (len(result), result[0], result[-1], result[1:]) == (3, [1], [3], [[2], [3]])
    assert ([2] in result, list(reversed(result))) == (True, [[3], [2], [1]])
    result[0].append(5)
    assert result[0] == [1]
    with pytest.raises(IndexError):
        result[3]
    assert (result.n_resumed, result.seconds > 0) == (0, True)
    assert pickle.loads(pickle.dumps(result)).to_json_lines() == result.to_json_lines() == "[1]\n[2]\n[3]\n"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_a_value_that_was_read_back_has_the_same_text(value):
    text = to_text(value, "value")
    assert text.isascii() and "\n" not in text
    assert to_text(json.loads(text), "value") == text
    assert json.loads(text) == value


# --- tables ---------------------------------------------------------------------------------------------------------


def test_a_table_has_the_keys_of_cases_and_results(snapshot):
    pandas = pytest.importorskip("pandas")
    cases = [{"dead": 1, "pool": "a"}, {"dead": 2}]
    frame = quoit.sweep(snapshot, lambda fork, case, random: {"dead": 5, "n": case["dead"]}, cases).frame()
    assert list(frame.columns) == ["dead_case", "pool", "dead_result", "n"]
    assert frame["n"].tolist() == [1, 2] and frame["pool"].isna().tolist() == [False, True]
    assert (frame.index.name, frame.index.tolist()) == ("number", [0, 1])
    assert isinstance(frame, pandas.DataFrame)
    numbers = quoit.sweep(snapshot, scenarios.echo, 3).frame()
    assert (list(numbers.columns), numbers["result"].tolist()) == (["case", "result"], [0, 1, 2])
    assert len(quoit.sweep(snapshot, scenarios.echo, 0).frame()) == 0
    twice = quoit.sweep(snapshot, lambda fork, case, random: {"a": 1}, [{"a": 1, "a_case": 2}])
    with pytest.raises(quoit.InvalidError, match="column 'a_case': expected different keys"):
        twice.frame()


def test_a_table_without_pandas_names_what_to_install(snapshot, monkeypatch):
    result = quoit.sweep(snapshot, scenarios.echo, 1)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'quoit\[pandas\]'"):
        result.frame()


def test_ray_that_is_not_installed_is_named(snapshot, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'quoit\[ray\]'"):
        quoit.sweep(snapshot, scenarios.echo, 1, on="ray")


# --- the progress bar -----------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_nothing_is_drawn_without_a_terminal(snapshot, capfd):
    quoit.sweep(snapshot, scenarios.wait, [{"seconds": 0.08}] * 3)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("progress", [None, True])
def test_a_bar_is_drawn_on_a_terminal(snapshot, monkeypatch, progress):
    stream = Terminal() if progress is None else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    quoit.sweep(snapshot, scenarios.wait, [{"seconds": 0.06}] * 4, progress=progress)
    lines = stream.getvalue().split("\r\x1b[K")
    assert lines[0] == "" and len(lines) >= 3
    assert re.fullmatch(r"\[#{24}\] 4 of 4 cases, 100 %, [0-9.]+ m?s a case\n", lines[-1])
    assert "left" in lines[1]


@pytest.mark.parametrize("quiet", ["progress", "dumb", "fast"])
def test_a_bar_can_be_turned_off(snapshot, monkeypatch, quiet):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "dumb" if quiet == "dumb" else "xterm")
    if quiet == "fast":
        monkeypatch.setattr(bar, "_REDRAW_S", 1000)
    quoit.sweep(snapshot, scenarios.wait, [{"seconds": 0.06}] * 4, progress=False if quiet == "progress" else None)
    assert sys.stderr.getvalue() == ""


def test_a_bar_survives_a_terminal_that_is_gone(snapshot, monkeypatch):
    class Gone(Terminal):
        def write(self, text):
            raise OSError(5, "Input/output error")

    monkeypatch.setenv("TERM", "xterm")
    for stream in (Gone(), None):
        monkeypatch.setattr(sys, "stderr", stream)
        assert len(quoit.sweep(snapshot, scenarios.wait, [{"seconds": 0.06}] * 3)) == 3


def test_a_bar_fits_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    stream = io.StringIO()
    drawn = bar.Bar(10, 0, stream)
    drawn._drawn_at = float("-inf")
    drawn.show(5)
    assert stream.getvalue() == "\r\x1b[K[############------"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ((0, 10, 0, 1.0), "0 of 10 cases, 0 %"),
        ((5_000, 10_000, 0, 1.0), "5,000 of 10,000 cases, 50 %, 200 us a case, 1.0 s left"),
        ((7, 10, 6, 30.0), "7 of 10 cases, 70 %, 30.0 s a case, 90.0 s left"),
        ((1, 100, 0, 120.0), "1 of 100 cases, 1 %, 2 min a case, 3 h 18 min left"),
        ((10, 10, 10, 1.0), "10 of 10 cases, 100 %"),
        ((9_999, 10_000, 0, 1.0), "9,999 of 10,000 cases, 99 %, 100 us a case, 100 us left"),
    ],
)
def test_the_line_of_a_bar(arguments, expected):
    assert bar._line(*arguments).partition("] ")[2] == expected
