# SPDX-License-Identifier: Apache-2.0
"""Calls every public callable with invalid arguments: `python hostile.py MODULE` calls those of one module.

Before each call, the call is printed on stderr. If the interpreter crashes, the last line shows which call crashed it.
The faults are printed on stdout, one per line, and after them the number of calls.
"""

from __future__ import annotations

import dataclasses
import enum
import faulthandler
import functools
import importlib
import inspect
import os
import pathlib
import pkgutil
import sys
import tempfile
import weakref

import quoit

NOW = 1_790_000_000_000

LEADER_SET = """
kind: LeaderWorkerSet
metadata: {name: pool}
spec: {leaderWorkerTemplate: {workerTemplate: {spec: {containers: [{}]}}}}
"""
ELSEWHERE = {"quoit.ray": "needs a running cluster of Ray: other tests pass invalid arguments to it"}
LONGEST_MESSAGE = 4096  # an error quotes a value, but not a megabyte of it


# --- the callables --------------------------------------------------------------------------------------------------


def is_private(name):
    return any(part.startswith("_") for part in name.split("."))


def modules():
    found = [quoit]
    for one in pkgutil.walk_packages(quoit.__path__, "quoit."):
        if not is_private(one.name) and not any(
            one.name == name or one.name.startswith(name + ".") for name in ELSEWHERE
        ):
            found.append(importlib.import_module(one.name))
    return found


def public_names(module):
    return getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]


def is_ours(value):
    """Returns whether a callable validates its arguments. Enums, exceptions and dataclasses accept anything."""
    home = getattr(value, "__module__", "")
    if not callable(value) or not home.startswith("quoit") or is_private(home):
        return False
    return not (
        isinstance(value, type) and (issubclass(value, (enum.Enum, Exception)) or dataclasses.is_dataclass(value))
    )


def methods(kind):
    """Yields the methods that a class defines: name, class of the first argument, function.

    The class is None for class methods and static methods, because their functions are already bound.
    """
    for name, raw in vars(kind).items():
        if not name.startswith("_") or name in ("__eq__", "__getitem__", "__contains__"):
            if isinstance(raw, (classmethod, staticmethod)):
                yield name, None, getattr(kind, name)
            elif inspect.isfunction(raw):
                yield name, kind, raw


def callables():
    """The calls to try for each public function or class: name, class of the first argument or None, function."""
    found = {}
    for module in modules():
        for name in public_names(module):
            value = getattr(module, name)
            if not is_ours(value):
                continue
            target = f"{value.__module__}.{value.__qualname__}"
            found[target] = [(target, None, value)]
            if isinstance(value, type):
                found[target] += [(f"{target}.{name}", owner, one) for name, owner, one in methods(value)]
    # An Input validates its fields only when an import uses it.
    found["quoit.imports.Input"] = [
        ("quoit.imports.Input", quoit.Ledger, import_fields),
        ("quoit.imports.Input", quoit.Ledger, sync_fields),
    ]
    return found


def module_of(target):
    return target.rpartition(".")[0]


def import_fields(ledger, *, kind, text, source=None, variables=None, ray_groups=None, ray_available=None,
                  k8s_pods=None, topology=None, tpu_per_chip=None, join=None, complete=False, nodes=None):  # fmt: skip
    ledger.import_input(input_of(locals()), now_ms=NOW)


def sync_fields(ledger, *, kind, text, source=None, variables=None, ray_groups=None, ray_available=None,
                k8s_pods=None, topology=None, tpu_per_chip=None, join=None, complete=False, nodes=None):  # fmt: skip
    ledger.sync_input(input_of(locals()), now_ms=NOW)


def input_of(fields):
    return quoit.Input(**{name: value for name, value in fields.items() if name != "ledger"})


# --- valid arguments ------------------------------------------------------------------------------------------------


@functools.cache
def first_files():
    """Returns the contents of the files that a call finds in its folder, by name: a ledger and a text."""
    quoit.create("there.db").close()
    pathlib.Path("text").write_text("v6e 4x4")
    return {name: pathlib.Path(name).read_bytes() for name in os.listdir(".")}


class World:
    """A new ledger in memory with a group, a hold, an owner and a removed group; and a fork of this ledger."""

    def __init__(self):
        for name, content in first_files().items():
            if not os.path.exists(name):
                pathlib.Path(name).write_bytes(content)
        self.ledger = quoit.open_memory()
        self.ledger.import_fleet_text("v6e 4x4 x6", now_ms=NOW)
        self.ledger.set_owner("team", lease_ms=600_000, now_ms=NOW)
        self.group = self.ledger.reserve(self.request("group", slices=(1, 3), owner="team", key="key"), now_ms=NOW)
        self.leased = self.ledger.hold(self.request("leased"), 600_000, now_ms=NOW)
        self.gone = self.ledger.reserve(self.request("gone", key="gone-key"), now_ms=NOW)
        self.ledger.release(self.gone, now_ms=NOW)
        self.ledger.add_window("service", quoit.WindowScope.SLICE, "v6e-4x4-4", NOW + 1, NOW + 9_000, now_ms=NOW)
        self.fork = self.ledger.snapshot().fork()

    @staticmethod
    def request(name="wanted", **arguments):
        return quoit.Request(name, accelerator="v6e", topology="4x4", **{"slices": 1, **arguments})

    def marks(self):
        """Returns what nearly every change changes, at little cost."""
        return self.ledger.snapshot().seq, self.fork.snapshot().seq, sorted(os.listdir("."))

    def state(self):
        """The whole state of the ledger, its fork and this folder."""
        files = sorted((name, os.path.getsize(name)) for name in os.listdir("."))
        return [(one.to_json(), one.seq) for one in (self.ledger.snapshot(), self.fork.snapshot())], files

    def receiver(self, kind):
        """An object of that class, or None if it cannot be made here."""
        make = {
            quoit.Ledger: lambda: self.ledger,
            quoit.Group: lambda: self.group,
            quoit.Request: self.request,
            quoit.Bundle: lambda: quoit.Bundle("TPU=4"),
            "Snapshot": lambda: self.ledger.snapshot(),
            "Fork": lambda: self.fork,
            "Feed": lambda: self.ledger.feed(0),
            "JaxCluster": lambda: quoit.identity.jax_cluster({"TPU_WORKER_HOSTNAMES": "a"}),
            "Report": lambda: self.ledger.snapshot().explain(self.request(slices=9)),
        }
        made = make.get(kind) or make.get(kind.__name__)
        if made is not None:
            return made()
        return None

    def good(self, name, parameter):
        """A valid value for the parameter of the callable `name`; raises KeyError without one."""
        own = {
            "forget.group": lambda: self.gone,
            "manifest_topology.manifest": lambda: quoit.Input(quoit.SourceKind.RAYCLUSTER, LEADER_SET),
            "topology.lws": lambda: quoit.LeaderWorkerSet("serve"),
            "topology.job": lambda: "fit",
            "topology.subdomain": lambda: "hosts",
            "remove_window.name": lambda: "service",
            "add_window.target": lambda: "v6e-4x4-5",
            "set_node_states.nodes": lambda: ["v6e-4x4-5-0"],
            "drain_nodes.nodes": lambda: ["v6e-4x4-5-0"],
            "undrain_nodes.nodes": lambda: ["v6e-4x4-5-0"],
            "reserve_all.requests": lambda: [quoit.Request("q", accelerator="v6e", topology="4x4", slices=1)],
            "plan_queue.requests": lambda: [quoit.Request("q", accelerator="v6e", topology="4x4", slices=1)],
            "plan_purchase.queue": lambda: "v6e 4x4 x 2",
            "plan_purchase.prices": lambda: "v6e 4x4 10.75/hour",
            "plan_purchase.start": lambda: quoit.PurchaseStart.NOTHING,
            "commit_fork.fork": lambda: self.ledger.snapshot().fork(),
            "update_nodes.nodes": lambda: [{"name": "n"}],
            "update_nodes.remove": lambda: ["m"],
            "update_nodes.source": lambda: "ray",
            "open_update.nodes": lambda: [{"name": "n"}],
            "open_update.remove": lambda: ["m"],
            "renew.group": lambda: self.leased,
            "renew_groups.groups": lambda: [self.leased],
            "confirm.group": lambda: self.leased,
            "create.path": lambda: "new.db",
            "open.path": lambda: "there.db",
            "load_text.path": lambda: "text",
            "backup.path": lambda: "copy.db",
            "import_raycluster.text": lambda: MANIFEST,
            "import_ray_nodes.text": lambda: NODES,
            "from_bundles_file.text": lambda: '[{"TPU": 4}]',
            "Input.kind": lambda: quoit.SourceKind.FLEET,
            "check_group.pod": lambda: quoit.webhook.Pod(),
            "mutate.pod": lambda: quoit.webhook.Pod(),
            "applied.pod": lambda: quoit.webhook.Pod(),
            "admit.pod": lambda: quoit.webhook.Pod(),
            "JaxCluster.kind": lambda: quoit.identity.JaxClusterKind.GKE_TPU,
            "Bundle.amounts": lambda: "TPU=4",
            "import_ray_nodes.source": lambda: "other",
            "import_raycluster.source": lambda: "other",
            "forget_key.key": lambda: "gone-key",
            "fleet.snapshot": lambda: self.ledger.snapshot(),
            "timeline.ledger": lambda: self.ledger,
            "fragmentation.ledger": lambda: self.ledger,
            "fragmentation.samples": lambda: 3,
            "slice_name_of_node.node": dict,
            "find_subslice.known": dict,
            "find_subslice.available": dict,
        }
        any_of = {
            "path": lambda: "file",
            "text": lambda: "v6e 4x4 x6",
            "input": lambda: quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4 x6"),
            "request": self.request,
            "group": lambda: self.group,
            "node": lambda: "v6e-4x4-5-0",
            "slice": lambda: "v6e-4x4-0",
            "state": node_state,
            "name": lambda: "wanted",
            "owner": lambda: "team",
            "key": lambda: "wanted-key",
            "actor": lambda: "me",
            "source": lambda: "fleet",
            "seq": lambda: 1,
            "before_seq": lambda: 2,
            "before_ms": lambda: 1_750_000_000_000,
            "slices": lambda: 2,
            "least": lambda: 1,
            "most": lambda: 2,
            "lease_ms": lambda: 60_000,
            "expected_runtime_ms": lambda: 60_000,
            "end_ms": lambda: NOW + 60_000,
            "from_ms": lambda: NOW + 60_000,
            "until_ms": lambda: NOW + 120_000,
            "scope": lambda: quoit.WindowScope.SLICE,
            "priority": lambda: 1,
            "labels": lambda: {"team": "nlp"},
            "label": lambda: "team=nlp",
            "chips": lambda: 4,
            "max_chips": lambda: 4,
            "cohort": lambda: "lab",
            "cut": lambda: quoit.Cut.ANY,
            "place": lambda: quoit.PlacePolicy.BEST,
            "steps": lambda: 1000,
            "reason": lambda: "preempted by job-7",
            "now_ms": lambda: NOW,
            "wait_ms": lambda: 100,
            "accelerator": lambda: "v6e",
            "topology": lambda: "4x4",
            "n_cubes": lambda: 144,
            "cubes_each": lambda: 4,
            "n_held": lambda: 0,
            "n_needed": lambda: 130,
            "n_hosts": lambda: 16,
            "availability": lambda: 0.98,
            "host_availability": lambda: 0.999,
            "confidence": lambda: 0.95,
            "chips_per_host": lambda: 4,
            "tpu_per_bundle": lambda: "1",
            "tpu_per_chip": lambda: 1,
            "pool": lambda: "pool",
            "zone": lambda: "zone",
            "soft_target": lambda: "v6e-4x4-5-0",
            "topology_label": lambda: "rack",
            "keep_to": lambda: quoit.Domain.POOL,
            "spread": lambda: quoit.Spread(quoit.Domain.POOL),
            "domain": lambda: quoit.Domain.POOL,
            "max_skew": lambda: 2,
            "min_domains": lambda: 2,
            "near": lambda: "train",
            "join": lambda: "fleet",
        }
        made = own.get(f"{name.rpartition('.')[2]}.{parameter}") or any_of.get(parameter)
        if made is None:
            raise KeyError(parameter)
        return made()

    def required(self, name, parameter):
        try:
            return self.good(name, parameter.name)
        except KeyError:
            by_type = {"str": "x", "int": 1, "float": 1.0, "bool": False, "bytes": b"x"}
            wanted = str(parameter.annotation)
            return next(
                (value for kind, value in by_type.items() if wanted.startswith(kind)), {} if "Mapping" in wanted else []
            )


def node_state():
    return quoit.NodeState.DRAINING


MANIFEST = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: "cluster"}
spec:
  headGroupSpec: {rayStartParams: {}, template: {spec: {containers: [{name: h, resources: {limits: {cpu: "1"}}}]}}}
"""
NODES = '[{"NodeID": "ab", "Alive": true, "NodeManagerAddress": "10.0.0.1", "NodeName": "n", "Resources": {"CPU": 1.0}, "Labels": {}}]'


# --- invalid arguments ----------------------------------------------------------------------------------------------


class Boom(Exception):
    """Raised by hostile objects; a call may propagate it."""


def boom(*_arguments, **_more):
    raise Boom


def kind(name, *bases, **members):
    return type(name, bases or (object,), members)


def generator(*values):
    yield from values
    raise Boom


def growing():
    """A dict that changes during iteration."""

    class Growing(dict):
        def items(self):
            for number in range(3):
                self[f"more-{number}"] = "x"
                yield from dict.items(self)

    return Growing(a="b")


def dead_proxy():
    return weakref.proxy(kind("Gone")())


def deep():
    value = []
    for _ in range(5_000):
        value = [value]
    return value


def itself():
    value = []
    value.append(value)
    return value


def released_view():
    view = memoryview(b"abc")
    view.release()
    return view


class Text(str):
    """A str whose methods all raise."""

    __str__ = __repr__ = __format__ = __len__ = __getitem__ = __iter__ = __contains__ = encode = replace = split = boom
    __add__ = __radd__ = __mod__ = partition = startswith = strip = __eq__ = __ne__ = boom
    __hash__ = str.__hash__


class Number(int):
    """An int whose methods all raise."""

    __str__ = __repr__ = __format__ = __index__ = __int__ = __add__ = __sub__ = __lt__ = __le__ = __gt__ = __ge__ = boom
    __eq__ = __ne__ = __bool__ = __neg__ = bit_length = __float__ = boom
    __hash__ = int.__hash__


class Word(str, enum.Enum):
    """A str whose str() is another text."""

    ONE = "one"


HOSTILE = {
    "None": lambda: None,
    "True": lambda: True,
    "False": lambda: False,
    "0": lambda: 0,
    "-1": lambda: -1,
    "int64 + 1": lambda: 2**63,
    "-int64 - 1": lambda: -(2**63) - 1,
    "uint32 + 1": lambda: 2**32,
    "uint64 + 1": lambda: 2**64,
    "10**5000": lambda: 10**5000,
    "-10**5000": lambda: -(10**5000),
    "1.5": lambda: 1.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "1j": lambda: 1j,
    "empty str": lambda: "",
    "blank": lambda: " ",
    "NUL": lambda: "a\0b",
    "lone surrogate": lambda: "a\ud800",
    "escaped byte": lambda: "a\udcff",
    "non-ASCII": lambda: "é漢🜁",
    "format": lambda: "%s%n{0}{}",
    "traversal": lambda: "../../x/y",
    "newline": lambda: "a\nb\x1b[31m",
    "long str": lambda: "x" * 1_000_000,
    "zeros": lambda: "0" * 1_000_000,
    "long non-ASCII": lambda: "漢" * 300_000,
    "bytes": lambda: b"x",
    "bytes with NUL": lambda: b"a\0b",
    "bytes of no UTF-8": lambda: b"\xff\xfe",
    "bytearray": lambda: bytearray(b"x"),
    "memoryview": lambda: memoryview(b"abcdef")[::2],
    "released memoryview": released_view,
    "object": object,
    "type": lambda: int,
    "function": lambda: boom,
    "ellipsis": lambda: ...,
    "NotImplemented": lambda: NotImplemented,
    "empty tuple": lambda: (),
    "pair": lambda: (1, 2),
    "pair of str": lambda: ("a", "b"),
    "pair of None": lambda: (None, None),
    "list": lambda: [1, "a", None],
    "list of NUL": lambda: ["a\0b"],
    "list of lists": lambda: [[]],
    "list of itself": itself,
    "deep list": deep,
    "dict": lambda: {},
    "dict of int": lambda: {1: 2},
    "dict of None": lambda: {"a": None},
    "dict of NUL": lambda: {"a": "b\0c"},
    "dict with =": lambda: {"a=b": "c"},
    "dict of surrogate": lambda: {"\ud800": "c"},
    "dict of long": lambda: {"x" * 1_000_000: 5},
    "dict of lying str": lambda: {Text("a"): Text("b")},
    "dict of huge": lambda: {"TPU": 10**5000},
    "dict of nan": lambda: {"TPU": float("nan")},
    "dict of bool": lambda: {"TPU": True},
    "growing dict": growing,
    "items raise": lambda: kind("Items", dict, items=boom)(a="b"),
    "items are none": lambda: kind("Items", dict, items=lambda self: [1, 2])(a="b"),
    "set": lambda: {"a", "b"},
    "generator that raises": lambda: generator("a"),
    "iter raises": lambda: kind("Iter", __iter__=boom)(),
    "index raises": lambda: kind("Index", __index__=boom)(),
    "index is str": lambda: kind("Index", __index__=lambda self: "1")(),
    "index is huge": lambda: kind("Index", __index__=lambda self: 10**5000)(),
    "float raises": lambda: kind("Float", __float__=boom)(),
    "str raises": lambda: kind("Str", __str__=boom, __repr__=boom)(),
    "fspath raises": lambda: kind("Path", __fspath__=boom)(),
    "fspath is int": lambda: kind("Path", __fspath__=lambda self: 1)(),
    "fspath is bytes": lambda: kind("Path", __fspath__=lambda self: b"x")(),
    "attributes raise": lambda: kind("Attributes", __getattribute__=boom)(),
    "eq raises": lambda: kind("Eq", __eq__=boom, __hash__=boom)(),
    "bool raises": lambda: kind("Bool", __bool__=boom, __len__=boom)(),
    "lying str": lambda: Text("x"),
    "lying int": lambda: Number(3),
    "str enum": lambda: Word.ONE,
    "int enum": lambda: quoit.ErrorCode.BUSY,
    "unknown member": lambda: quoit.SourceKind(99),
    "huge member": lambda: quoit.SourceKind(2**40),
    "unknown strategy": lambda: quoit.Strategy(99),
    "huge strategy": lambda: quoit.Strategy(2**40),
    "huge policy": lambda: quoit.Policy(-(2**40)),
    "negative policy": lambda: quoit.Policy(-1),
    "dead proxy": dead_proxy,
    "closed ledger": lambda: quoit.open_memory().close() or quoit,
    "ledger": quoit.open_memory,
    "half-made ledger": lambda: quoit.Ledger.__new__(quoit.Ledger),
    "half-made group": lambda: quoit.Group.__new__(quoit.Group),
    "half-made request": lambda: quoit.Request.__new__(quoit.Request),
    "half-made bundle": lambda: quoit.Bundle.__new__(quoit.Bundle),
    "list of half-made bundles": lambda: [quoit.Bundle.__new__(quoit.Bundle)],
    "input of None": lambda: quoit.Input(None, None),
    "input of unknown": lambda: quoit.Input(quoit.SourceKind(99), "x"),
    "input of huge": lambda: quoit.Input(quoit.SourceKind(2**40), "x"),
    "input of nodes": lambda: quoit.Input(quoit.SourceKind.RAY_NODES, nodes=[{"name": 3}, None]),
    "node facts": lambda: quoit.NodeFacts("x", state=3, labels=[1], resources={"CPU": 0.5}),
    "input of bytes": lambda: quoit.Input(quoit.SourceKind.RAY_NODES, b"\xff\0"),
    "input of wrong kinds": lambda: quoit.Input(quoit.SourceKind.RAY_NODES, "[]", ray_groups=5),
    "NUL in bytes": lambda: quoit.Input(quoit.SourceKind.FLEET, b"v6e 4x4\0x2"),
}

try:
    import numpy
except ImportError:
    pass
else:
    HOSTILE |= {
        "numpy.True_": lambda: numpy.True_,
        "numpy.int64 -1": lambda: numpy.int64(-1),
        "numpy.uint64": lambda: numpy.uint64(2**64 - 1),
        "numpy.float64": lambda: numpy.float64("nan"),
        "numpy.float32": lambda: numpy.float32(1),
        "numpy.array": lambda: numpy.array([1, 2]),
        "numpy.array of none": lambda: numpy.array([]),
        "numpy.array of bool": lambda: numpy.array(True),
        "numpy.str_": lambda: numpy.str_("a\0b"),
        "numpy.bytes_": lambda: numpy.bytes_(b"x"),
        "numpy.datetime64": lambda: numpy.datetime64("2026-01-01"),
        "numpy.void": lambda: numpy.void(b"abc"),
    }

# The values that a parameter for a str or an int must refuse.
NO_TEXT = "True", "0", "1.5", "object", "bytes", "list", "dict", "generator that raises", "index raises", "float raises"
BAD_TEXT = "NUL", "lone surrogate"
NO_NUMBER = (
    "True",
    "False",
    "1.5",
    "nan",
    "inf",
    "empty str",
    "bytes",
    "object",
    "list",
    "index is str",
    "float raises",
    "numpy.True_",
    "numpy.float32",
    "numpy.array",
)
BAD_NUMBER = "10**5000", "-10**5000", "index is huge", "uint64 + 1"
DOCUMENTS = "text", "ray_groups", "ray_available", "k8s_pods"


# --- the calls ------------------------------------------------------------------------------------------------------


class Judge:
    def __init__(self):
        self.n_calls = 0
        self.faults = []
        self.begin()

    def begin(self):
        """Makes a new world after a call has changed the previous one."""
        self.world = World()
        self.state = self.world.state()
        self.marks = self.world.marks()

    def call(self, what, function, arguments, named, must):
        """Makes the call and records its faults.

        It is a fault if the call does not raise `must` (None: it need not raise), if it raises an undocumented
        exception, or if it raises and has changed the ledger or the folder. After a call that raises, only the marks
        are compared; check_state() finds all other changes.
        """
        self.n_calls += 1
        print(what, file=sys.stderr, flush=True)
        raised = True
        try:
            function(*arguments, **named)
            raised = False
        except BaseException as error:
            self.check_exception(what, error, must)
        if not raised and must is not None:
            self.faults.append(f"{what}: expected {must.__name__}, nothing was raised")
        if self.world.ledger.is_closed or self.world.marks() != self.marks:
            if raised:
                self.faults.append(f"{what}: it raised, and the ledger or the folder is another")
            self.begin_again()
        elif not raised and self.world.state() != self.state:
            self.begin_again()

    def begin_again(self):
        for leftover in os.listdir("."):
            os.unlink(leftover)
        self.begin()

    def check_state(self, what):
        """Checks that none of the calls since the last check has raised and changed the ledger or the folder."""
        if self.world.state() != self.state:
            self.faults.append(f"{what}: a call raised, and the ledger or the folder is another")
            self.begin_again()

    def check_exception(self, what, error, must):
        if isinstance(error, Boom):
            return
        said = str(error)
        # Python itself raises these exceptions for a released view, a dead proxy or an incomplete object.
        error_of_python = (
            ValueError
            if "released" in what
            else ReferenceError
            if "proxy" in what
            else AttributeError
            if "half-made" in what
            else Boom
        )
        if must is not None and not isinstance(error, must):
            self.faults.append(f"{what}: expected {must.__name__}, got {type(error).__name__}: {said[:200]}")
        elif not isinstance(error, (TypeError, quoit.Error, error_of_python)):
            self.faults.append(f"{what}: {type(error).__name__}: {said[:200]}")
        elif isinstance(error, quoit.FailedError):
            self.faults.append(f"{what}: a bug, it says: {said[:200]}")
        elif len(said) > LONGEST_MESSAGE and "path" not in what and "backup" not in what:
            self.faults.append(f"{what}: a message of {len(said)} characters: {said[:100]}")
        elif isinstance(error, quoit.Error) and said.endswith(".") and not said.endswith("..."):
            self.faults.append(f"{what}: a message with a full stop: {said[-100:]}")
        elif isinstance(error, quoit.Error) and not said.isprintable():
            self.faults.append(f"{what}: a message that cannot be printed: {said[:200]}")


def must_raise(world, name, parameter, hostile):
    """Returns the exception that a hostile value must raise, by the type of a valid value; None: it need not raise."""
    try:
        good = world.good(name, parameter.name)
    except KeyError:
        return None
    if isinstance(good, str) and parameter.name not in DOCUMENTS:
        texts = [one for one in NO_TEXT if not (one == "dict" and "Mapping" in str(parameter.annotation))]
        return TypeError if hostile in texts else quoit.InvalidError if hostile in BAD_TEXT else None
    if isinstance(good, int) and not isinstance(good, enum.Enum):
        return TypeError if hostile in NO_NUMBER else quoit.InvalidError if hostile in BAD_NUMBER else None
    return None


def call_all(judge, name, owner, function):
    """Calls the function with every hostile value for every parameter, and with wrong numbers of arguments."""
    if owner is not None and judge.world.receiver(owner) is None:
        return
    parameters = list(inspect.signature(function).parameters.values())[1 if owner else 0 :]
    parameters = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    for arguments, named in ([], {"no_such_argument": 1}), ([None] * 60, {}):
        what = f"{name} with {len(arguments)} and {list(named)}"
        judge.call(what, function, receivers(judge, owner) + arguments, named, TypeError)
    for parameter in parameters:
        for hostile, make in HOSTILE.items():
            world = judge.world
            named = {one.name: world.required(name, one) for one in parameters if one.default is one.empty}
            named[parameter.name] = make()
            given = receivers(judge, owner) + [
                named.pop(one.name) for one in parameters if one.kind is one.POSITIONAL_ONLY
            ]
            must = must_raise(world, name, parameter, hostile)
            judge.call(f"{name} {parameter.name} = {hostile}", function, given, named, must)
        judge.check_state(f"{name} {parameter.name}")
    judge.check_state(name)
    judge.world.ledger.verify()


def receivers(judge, owner):
    return [judge.world.receiver(owner)] if owner else []


def main(prefix):
    faulthandler.enable()
    n_calls, faults = 0, []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for target, calls in callables().items():
            if module_of(target) == prefix:
                judge = Judge()
                for name, owner, function in calls:
                    call_all(judge, name, owner, function)
                n_calls += judge.n_calls
                faults += judge.faults
        os.chdir("/")
    for wrong in faults:
        print(wrong.encode("utf-8", "backslashreplace").decode())
    print(n_calls)


if __name__ == "__main__":
    main(sys.argv[1])
