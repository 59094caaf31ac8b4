# SPDX-License-Identifier: Apache-2.0
"""The package covers all of libquoit, documents each name, and hides all C details."""

import ast
import builtins
import dataclasses
import doctest
import enum
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import quoit
from quoit import _c

PACKAGE = Path(quoit.__file__).parent
SOURCES = Path(__file__).resolve().parents[1]
NOW = 1_800_000_000_000

NOT_CALLED = {
    "quoit_ledger_ref": "a Ledger of Python is shared by reference",
    "quoit_report_ref": "a Report copies all facts when it is made",
    "quoit_snapshot_ref": "a Snapshot of Python is shared by reference",
    "quoit_error_quark": "every GError of libquoit's functions has this domain",
    "quoit_constraint_get_name": "the members of the enum have these names: a test below compares them",
    "quoit_option_order_get_name": "the members of the enum have these names: a test below compares them",
    "quoit_error_code_name": "the exception classes have these names: a test below compares them",
    "quoit_ray_labels_find": "labels become a dict, which Python searches",
}


def trees():
    """The modules of the package by name, parsed."""
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
    }


def modules():
    """All public modules of the package, except the extension's module and Ray's adapter."""
    names = [one.name for one in pkgutil.walk_packages(quoit.__path__, "quoit.") if "._" not in one.name]
    return [quoit, *(importlib.import_module(name) for name in names if not name.startswith("quoit.ray."))]


# --- functions ----------------------------------------------------------------------------------------------------


def called_functions():
    """The names of libquoit that the package's code uses. Comments and docstrings do not count."""
    return {
        node.attr
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "lib"
    }


def declared_functions():
    return {name for name in dir(_c.lib) if name.startswith("quoit_") and callable(getattr(_c.lib, name))}


def test_every_function_of_the_headers_is_called_or_not_needed():
    declared = {name for name in declared_functions() if not name.startswith("quoit_ray_")}
    assert len(declared) > 250
    assert declared - called_functions() - set(NOT_CALLED) == set()


def test_every_ray_function_is_called():
    declared = {name for name in declared_functions() if name.startswith("quoit_ray_")}
    assert len(declared) > 100
    assert declared - called_functions() - set(NOT_CALLED) == set()


def test_functions_listed_as_not_called_exist_and_are_not_called():
    assert set(NOT_CALLED) <= declared_functions()
    assert set(NOT_CALLED) & called_functions() == set()


def test_every_called_function_is_in_the_headers():
    assert {name for name in called_functions() if not hasattr(_c.lib, name)} == set()


def test_only_one_module_imports_the_extension():
    importers = {
        name
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom)) and "_quoit" in re.split(r"[ .,]+", ast.unparse(node))
    }
    assert importers == {"_c"}


# --- enums --------------------------------------------------------------------------------------------------------


def c_enums():
    """Yields the name of each enum of the headers, and its members without their common prefix."""
    for name in _c.ffi.list_types()[0]:
        kind = _c.ffi.typeof(name)
        if kind.kind == "enum":
            members = {member: number for number, member in kind.elements.items()}
            shared = os.path.commonprefix(list(members))
            shared = shared[: shared.rindex("_") + 1]
            yield name, {member[len(shared) :]: number for member, number in members.items()}


def python_enums():
    return {
        value.__name__.lstrip("_"): value
        for module in modules()
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, enum.Enum) and value.__module__.startswith("quoit.")
    }


@pytest.mark.parametrize(("name", "members"), [one for one in c_enums() if not one[0].startswith("QuoitRay")])
def test_an_enum_of_the_headers_has_its_counterpart(name, members):
    counterpart = python_enums()[name.replace("Quoit", "", 1)]
    assert issubclass(counterpart, (enum.IntEnum, enum.IntFlag))
    assert {one.name: one.value for one in counterpart} == members


@pytest.mark.parametrize(
    ("name", "members"),
    [one for one in c_enums() if one[0].startswith("QuoitRay") and one[0] != "QuoitRayAnswer"],
)
def test_an_enum_of_the_ray_headers_has_its_counterpart(name, members):
    """The Python enum of a Ray enum can have another name, so only the members are compared."""
    assert members in [{one.name: one.value for one in kind} for kind in python_enums().values()]


def test_ray_answers_have_the_numbers_of_the_header():
    members = dict(c_enums())["QuoitRayAnswer"]
    assert {one.name: one.value for one in quoit.RayAnswer} == members


def test_strategies_have_ray_names():
    for strategy in quoit.Strategy:
        assert _c.text(_c.lib.quoit_ray_strategy_get_name(strategy)) == strategy.name


def test_the_text_of_an_enum_member_is_its_name():
    assert (str(quoit.Verdict.NOT_NOW), f"{quoit.Verdict.NOT_NOW}", f"{quoit.Verdict.NOT_NOW:d}") == (
        "NOT_NOW",
        "NOT_NOW",
        "5",
    )
    assert str(quoit.GroupState(99)) == "UNKNOWN_99"


def test_an_unknown_enum_value_becomes_a_member():
    assert quoit.Constraint(99).name == "UNKNOWN_99"
    assert quoit.Constraint(99) == 99
    assert quoit.Constraint(99) is quoit.Constraint(99)
    assert 99 not in [int(one) for one in quoit.Constraint]
    assert quoit.SliceFlags(1024 | 1) & quoit.SliceFlags.INTACT


# --- errors -------------------------------------------------------------------------------------------------------


def test_each_error_code_has_an_exception_class():
    for code in quoit.ErrorCode:
        name = _c.text(_c.lib.quoit_error_code_name(code))
        assert name == code.name
        kind = getattr(quoit, "".join(part.capitalize() for part in name.split("_")) + "Error")
        assert issubclass(kind, quoit.Error)
        assert kind.code == code
    kinds = {getattr(quoit, name) for name in quoit.__all__ if name.endswith("Error")}
    assert {kind.code for kind in kinds} == set(quoit.ErrorCode)
    assert kinds - {quoit.Error, quoit.RefusedError} == {quoit.errors.BY_CODE[code] for code in quoit.ErrorCode}


def test_each_constraint_has_the_name_that_the_library_prints():
    for constraint in quoit.Constraint:
        name = _c.text(_c.lib.quoit_constraint_get_name(constraint))
        assert name.replace("-", "_").upper() == constraint.name
    assert _c.text(_c.lib.quoit_constraint_get_name(99)) == ""


def test_each_order_of_options_has_the_name_that_the_library_prints():
    for order in quoit.OptionOrder:
        name = _c.text(_c.lib.quoit_option_order_get_name(order))
        assert name.replace("-", "_").upper() == order.name
    assert _c.text(_c.lib.quoit_option_order_get_name(99)) == ""


# --- names --------------------------------------------------------------------------------------------------------


def test_every_public_name_exists_and_is_listed():
    assert list(quoit.__all__) == sorted(quoit.__all__)
    for name in quoit.__all__:
        assert getattr(quoit, name) is not None
    assert set(quoit.__all__) <= set(dir(quoit))
    assert quoit.catalogue.__name__ == "quoit.catalogue"
    with pytest.raises(AttributeError, match="module 'quoit' has no attribute 'Snapshott'"):
        quoit.Snapshott


def test_every_class_that_callers_get_is_public():
    """The package itself has every public class, except for classes of public submodules and internal base classes."""
    inside = {"quoit._c", "quoit._views"}
    named = {getattr(quoit, name) for name in quoit.__all__}
    for module in modules():
        if module.__name__ in inside or module.__name__.split(".")[-1] in quoit._SUBMODULES or "ray" in module.__name__:
            continue
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__ and not name.startswith("_"):
                assert value in named, f"{module.__name__}.{name}"


def test_no_public_name_is_hidden_by_a_module_of_that_name():
    modules_here = {one.name for one in pkgutil.iter_modules(quoit.__path__)}
    assert {"topologies", "catalogue"} <= modules_here
    assert set(quoit.__all__) & modules_here == set()


def test_both_lists_of_lazy_names_are_equal():
    """Type checkers read one list of lazy names, Python the other."""
    tree = trees()["__init__"]
    (block,) = [one for one in tree.body if isinstance(one, ast.If) and ast.unparse(one.test) == "TYPE_CHECKING"]
    imports = {one.module: tuple(name.name for name in one.names) for one in block.body if one.module is not None}
    assert imports == quoit._LAZY
    assert {name for names in imports.values() for name in names} <= set(quoit.__all__)


def public_definitions(body, prefix=""):
    """Public classes and functions of a body, with their own public members."""
    for one in body:
        if isinstance(one, (ast.ClassDef, ast.FunctionDef)) and not one.name.startswith("_"):
            if any(ast.unparse(decorator) == "overload" for decorator in one.decorator_list):
                continue
            yield f"{prefix}{one.name}", one
            if isinstance(one, ast.ClassDef):
                yield from public_definitions(one.body, f"{prefix}{one.name}.")


def test_every_public_name_has_a_docstring():
    undocumented = [name for name, tree in trees().items() if ast.get_docstring(tree) is None]
    for module, tree in trees().items():
        for name, one in public_definitions(tree.body):
            if ast.get_docstring(one) is None:
                undocumented.append(f"{module}.{name}")
    # The members of private modules are not public. Only the modules themselves need a docstring.
    assert [name for name in undocumented if not re.search(r"(^|\.)_\w+\.\w", name)] == []


@pytest.mark.parametrize(
    "module",
    [quoit, quoit.catalogue, quoit.coordinates, quoit.identity, quoit.kuberay, quoit.maxtext, quoit.webhook],
)
def test_examples_in_docstrings_run(module):
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def test_raises_sections_name_existing_exceptions():
    """Each name in a Raises section is an existing exception."""
    for module, tree in trees().items():
        for name, one in public_definitions(tree.body):
            section = re.search(r"^Raises:\n((?:    .*\n?)+)", ast.get_docstring(one) or "", re.MULTILINE)
            for line in re.findall(r"^    ([A-Z].*?):", section.group(1), re.MULTILINE) if section else []:
                for error in line.split(", "):
                    known = getattr(builtins, error, None) or getattr(quoit, error, None)
                    if known is None:  # an exception of the module itself; modules of quoit.ray need an installed Ray
                        known = getattr(importlib.import_module(f"quoit.{module}"), error, None)
                    assert known is not None and issubclass(known, BaseException), f"{module}.{name}: {error}"


# --- no C details ---------------------------------------------------------------------------------------------------


def made_objects():
    """One of every object that the package returns."""
    ledger = quoit.open_memory()
    imported = ledger.import_fleet_text("v6e 4x4 x3; v5p 2x2x4 dead=0.1", now_ms=NOW)
    ledger.set_owner("alice", now_ms=NOW)
    ledger.set_quota("alice", 64, owner="alice", now_ms=NOW)
    request = quoit.Request("train", accelerator="v6e", topology="4x4", slices=2, owner="alice")
    group = ledger.reserve(request, now_ms=NOW)
    half = ledger.reserve(quoit.Request("half", bundles=[quoit.Bundle("TPU=2")]), now_ms=NOW)
    ledger.add_window("service", quoit.WindowScope.SLICE, "v6e-4x4-2", NOW + 1000, NOW + 2000, now_ms=NOW)
    snapshot = ledger.snapshot()
    fork = snapshot.fork()
    fork.set_expected_end("train", NOW + 1000, now_ms=NOW)
    start = fork.snapshot().find_start(quoit.Request("next", accelerator="v6e", topology="4x4", slices=2), now_ms=NOW)
    queue = [quoit.Request(f"q{n}", accelerator="v6e", topology="4x4", slices=n) for n in (1, 2, 9)]
    plan = snapshot.fork().plan_queue(queue, now_ms=NOW)
    urgent = quoit.Request("urgent", accelerator="v6e", topology="4x4", slices=2, priority=1)
    preemption = snapshot.find_preemption(urgent, now_ms=NOW)
    growth = fork.snapshot().test_growth("train")
    scattered = quoit.open_memory()
    scattered.import_fleet_text("v6e 4x4 x4", now_ms=NOW)
    for name in ("f0", "a0", "f1", "a1", "f2", "a2"):
        scattered.reserve(quoit.Request(name, bundles=["TPU=4"] * (3 if name[0] == "f" else 1)), now_ms=NOW)
    for name in ("f0", "f1", "f2"):
        scattered.release(name, now_ms=NOW)
    fragmented = scattered.snapshot()
    linked = quoit.open_snapshot(fragmented)
    linked.release("a0", now_ms=NOW)
    change = fork.resize("train", 1, now_ms=NOW)
    before, after = quoit.topology(change.before), quoit.topology(change.after)
    again = ledger.import_fleet_text("v6e 4x4 x4; v5p 2x2x4", now_ms=NOW)
    entries = ledger.changes_since(0)
    ledger.compact_journal(entries[-1].seq, now_ms=NOW)
    return [
        ledger, imported, again, quoit.LeaderWorkerSet("serve"), request, group, half, snapshot, fork, start, growth, plan, preemption, snapshot.count_slots("v6e", "4x4"), snapshot.measure_fragmentation(), snapshot.measure_joined_fragmentation(), fragmented.plan_defragmentation(), snapshot.plan_purchase("v6e 4x4 x 9", "v6e 4x4 1/hour"), snapshot.plan_purchase("v5p 4x4x8 x 1 cubes=any", "v5p 4x4x4 9 cubes=2"), change, before, ledger.feed(0), quoit.renumbering(before, after),
        snapshot.explain(quoit.Request("more", accelerator="v6e", topology="4x4", slices=2)),
        snapshot.explain(quoit.Request("any", bundles=["TPU=9"], alternatives=[quoit.Request("any", bundles=["TPU=8"])])),
        snapshot.explain(quoit.Request("wide", bundles=["TPU=8"])), entries, linked.entries_since(linked.snapshot().seq - 1), ledger.read_checkpoint(), ledger.trim(now_ms=NOW), quoit.check_rules(),
        quoit.check_manifest("kind: RayCluster\napiVersion: ray.io/v1"), quoit.catalogue.lookup_generation("v6e"),
        quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4"), quoit.NodeFacts("n"), quoit.Price("v6e", "4x4", "1"), quoit.CubePrice("v5p", "a", "1"), quoit.BlockPrice("v5p", "1", cubes=2), quoit.InvalidError("x"), quoit.coordinates.torus("v4", "4x4x8"),
        quoit.sweep(snapshot, lambda fork, case, random: case, 2),
    ]  # fmt: skip


def walk(root):
    """Yields all objects that public attributes and elements lead to from `root`, each with its path."""
    waiting, seen = [("", root)], set()
    while waiting:
        path, value = waiting.pop()
        yield path, value
        if isinstance(value, (str, bytes, int, float, type(None), type)) or path.count(".") > 6:
            continue
        if isinstance(value, dict):
            waiting += [(f"{path}[{key!r}]", one) for key, one in [*value.items(), *((key, key) for key in value)]]
            continue
        if hasattr(value, "__getitem__") and hasattr(value, "__len__"):
            waiting += [(f"{path}[{at}]", value[at]) for at in range(min(len(value), 3))]
        key = (type(value), repr(value))
        if key not in seen:
            seen.add(key)
            names = [name for name in dir(value) if not name.startswith("_")]
            waiting += [(f"{path}.{name}", getattr(value, name)) for name in names]


ALLOWED = (str, bytes, int, float, bool, type(None), tuple, dict)


def is_plain(value):
    if isinstance(value, ALLOWED) or callable(value):
        return True
    if isinstance(value, BaseException):
        return True
    return type(value).__module__.split(".")[0] == "quoit"


def test_no_public_attribute_is_an_object_of_c():
    types = set()
    for number, root in enumerate(made_objects()):
        for path, value in walk(root):
            place = f"{number}: {type(root).__name__}{path}"
            assert not isinstance(value, (_c.ffi.CData, _c.ffi.CType)), place
            assert not type(value).__module__.startswith("_cffi"), place
            assert is_plain(value), f"{place}: {type(value)}"
            types.add(type(value))
    public = {getattr(quoit, name) for name in quoit.__all__}
    missed = {
        one.__name__ for one in public if isinstance(one, type) and dataclasses.is_dataclass(one) and one not in types
    }
    assert missed == set(), "no made object has these classes"


def test_every_public_dataclass_is_frozen():
    for name in quoit.__all__:
        value = getattr(quoit, name)
        if dataclasses.is_dataclass(value):
            assert value.__dataclass_params__.frozen, name


# --- types and imports ----------------------------------------------------------------------------------------------


def imported_by(statement):
    """The modules that `statement` imports in a new interpreter."""
    code = f"import sys; before = set(sys.modules); {statement}; print(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_loads_few_modules():
    taken = imported_by("import quoit")
    assert {name.split(".")[0] for name in taken} & {"ray", "numpy", "typing_extensions", "json", "asyncio"} == set()
    waiting = {
        "quoit.ray",
        "quoit.ray_rules",
        "quoit.catalogue",
        "quoit.coordinates",
        "quoit.maxtext",
        *(f"quoit.{module}" for module in quoit._LAZY),
    }
    assert taken & waiting == set()
    assert "quoit.snapshots" in imported_by("import quoit; quoit.Snapshot")
    ours = {name for name in taken if name.split(".")[0] in ("quoit", "_cffi_backend")}
    assert len(ours) <= 18  # six of them have the verbs of Ledger
    assert len(taken - ours) <= 60
