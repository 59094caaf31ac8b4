# SPDX-License-Identifier: Apache-2.0
"""A scenario is recognised by its code and by the values that it was made with."""

import functools
import os
import subprocess
import sys
import types

import pytest

from quoit._sweep.code import digest_scenario, name_scenario

BASE = """
import math, dataclasses
LIMIT = 3
NAMES = {"a", "b", "c"}
OTHER = 1
class Rule:
    most = 2
    def apply(self, case):
        return case + self.most
@dataclasses.dataclass(frozen=True)
class Setting:
    n: int = 4
SETTING = Setting(5)
def helper(case):
    return again(case - 1) if case > 0 else LIMIT
def again(case):
    return helper(case)
def unused():
    return 7
def scenario(fork, case, random, *, extra=1):
    # a comment
    inner = [helper(one) for one in range(case) if one in {"x", "y"} or one in NAMES]
    return len(inner) + Rule().apply(case) + math.floor(random.random()) + SETTING.n + extra
"""


def digest(text, name="module"):
    module = types.ModuleType(name)
    sys.modules[name] = module
    try:
        exec(compile(text, f"{name}.py", "exec"), vars(module))
        return digest_scenario(module.scenario)
    finally:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# a comment", "# another comment\n"),
        ("return 7", "return 8"),
        ("OTHER = 1", "OTHER = 2"),
        ("LIMIT = 3", "\n\nLIMIT  =  3  # three"),
        ('{"a", "b", "c"}', '{"c", "b", "a"}'),
        ('{"x", "y"}', '{"y", "x"}'),
    ],
)
def test_what_the_scenario_does_not_use_does_not_count(old, new):
    assert old in BASE
    assert digest(BASE.replace(old, new)) == digest(BASE) == digest(BASE, "another")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return len(inner)", "return 1 + len(inner)"),
        ("again(case - 1)", "again(case - 2)"),
        ("return helper(case)", "return helper(case) + 1"),
        ("LIMIT = 3", "LIMIT = 4"),
        ("LIMIT = 3", "LIMIT = 3.0"),
        ('"c"}', '"d"}'),
        ("most = 2", "most = 3"),
        ("case + self.most", "case - self.most"),
        ("Setting(5)", "Setting(6)"),
        ("extra=1", "extra=2"),
        ("math.floor", "math.ceil"),
        ('{"x", "y"}', '{"x", "z"}'),
        ("range(case)", "range(case + 1)"),
    ],
)
def test_what_the_scenario_uses_counts(old, new):
    assert old in BASE
    assert digest(BASE.replace(old, new)) != digest(BASE)


def made(value):
    def scenario(fork, case, random):
        return value

    return scenario


class Callable:
    def __init__(self, value):
        self.value = value

    def __call__(self, fork, case, random):
        return self.value

    def method(self, fork, case, random):
        return self.value

    @classmethod
    def of_class(cls, fork, case, random):
        return 1


def plain(value, fork, case, random):
    return value


@pytest.mark.parametrize(
    "make",
    [
        made,
        Callable,
        lambda value: Callable(value).method,
        lambda value: functools.partial(plain, value),
        lambda value: functools.partial(functools.partial(plain), value),
    ],
)
@pytest.mark.parametrize(("one", "other"), [(1, 2), ([1, [2]], [1, [3]]), ({"a": {1, 2}}, {"a": {1, 3}}), ("a", b"a")])
def test_the_values_of_a_scenario_count(make, one, other):
    assert digest_scenario(make(one)) == digest_scenario(make(one)) != digest_scenario(make(other))


def test_any_callable_has_a_digest():
    cycle = []
    cycle.append(cycle)
    values = [len, print, dict, Callable, Callable.of_class, object(), sys.stdin, open, types.SimpleNamespace(a=1), 1j]
    for value in [*values, cycle]:
        assert len(digest_scenario(made(value))) == 64
    assert len(digest_scenario(len)) == 64
    empty = made(1)
    assert digest_scenario(empty) != digest_scenario(lambda fork, case, random: 1)


def test_the_digest_is_the_same_in_other_processes(tmp_path):
    (tmp_path / "scenario_module.py").write_text(BASE)
    code = (
        "import scenario_module; from quoit._sweep.code import digest_scenario;"
        "print(digest_scenario(scenario_module.scenario))"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": ":".join([str(tmp_path), *sys.path])},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert digests == {digest(BASE) + "\n"}


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        (plain, "plain"),
        (functools.partial(functools.partial(plain, 1)), "plain"),
        (Callable(1), "Callable"),
        (Callable(1).method, "Callable.method"),
        (made(1), "made.<locals>.scenario"),
    ],
)
def test_the_name_of_a_scenario(scenario, name):
    assert name_scenario(scenario) == name
