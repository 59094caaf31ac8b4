# SPDX-License-Identifier: Apache-2.0
"""Invalid arguments: they raise Python's usual exceptions, and neither change the ledger nor crash the interpreter."""

import copy
import faulthandler
import itertools
import os
import pathlib
import pickle
import subprocess
import sys

import hostile
import pytest

import quoit

NOW = hostile.NOW


def request(name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", **{"slices": 1, **arguments})


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3")
        yield opened


@pytest.mark.parametrize("module", sorted({hostile.module_of(target) for target in hostile.callables()}))
def test_hostile_calls_end_in_typed_exceptions_and_change_nothing(module):
    script = pathlib.Path(hostile.__file__)
    environment = {**os.environ, "G_DEBUG": "fatal-criticals", "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        [sys.executable, script, module], capture_output=True, text=True, env=environment, timeout=600
    )
    assert done.returncode == 0, f"the interpreter ended with {done.returncode}:\n{done.stderr[-3000:]}"
    *faults, n_calls = done.stdout.splitlines()
    assert faults == []
    assert int(n_calls) >= 2


def test_hostile_values_are_tried_on_every_verb():
    called = {name for entries in hostile.callables().values() for name, _, _ in entries}
    verbs = {
        f"quoit.ledger.Ledger.{name}"
        for name, value in vars(quoit.Ledger).items()
        if callable(value) and not name.startswith("_")
    }
    assert verbs <= called and len(verbs) > 25


# --- substitutes for numbers and texts
# ---------------------------------------------------------------------------------


def test_numpy_integers_are_ints(ledger):
    numpy = pytest.importorskip("numpy")
    for kind in (numpy.int8, numpy.int64, numpy.uint64):
        group = ledger.hold(request(slices=kind(2)), kind(100), now_ms=numpy.int64(NOW))
        assert len(group.slices) == 2
        ledger.release(group, now_ms=NOW)
    assert ledger.reserve(request(slices=numpy.array(3)), now_ms=NOW).slices


def test_a_member_of_an_int_enum_is_an_int(ledger):
    assert len(ledger.reserve(request(slices=quoit.ErrorCode.USAGE)).slices) == 2


def test_a_subclass_of_str_counts_as_its_characters(ledger):
    names = [hostile.Word.ONE, hostile.Text("two")]
    groups = [ledger.reserve(request(name)) for name in names]
    assert [group.name for group in groups] == ["one", "two"]
    assert type(request(hostile.Text("three")).name) is str
    bundle = quoit.Bundle({hostile.Text("CPU"): hostile.Word.ONE})
    assert bundle.amounts == "CPU=one"


def test_a_str_enum_as_variable_counts_as_its_value(ledger):
    manifest = hostile.MANIFEST.replace('"cluster"', '"${ONE}"')
    assert ledger.import_raycluster(manifest, variables={"ONE": hostile.Word.ONE}).source == "one"


@pytest.mark.parametrize("amount", ["4,CPU=8", "4=", '"', "\\"])
def test_amount_text_cannot_add_resources(amount):
    with pytest.raises(quoit.InvalidError, match=r"amounts\['TPU'\] '.*': expected an amount"):
        quoit.Bundle({"TPU": amount})


def test_a_bundle_is_validated_on_construction():
    for amounts in ("a\0b", "a\ud800", {"TPU\0": 1}):
        with pytest.raises(quoit.InvalidError):
            quoit.Bundle(amounts)


@pytest.mark.parametrize("bad", ["", "a@b", "a/b", "a\nb", "x" * 254, "\u202e"])
def test_a_request_with_an_invalid_name_key_or_owner_is_refused_on_construction(bad):
    for what, arguments in (("group name", {"name": bad}), ("request key", {"key": bad}), ("owner", {"owner": bad})):
        with pytest.raises(quoit.InvalidError, match=f"^{what} '"):
            request(**arguments)
    with pytest.raises(quoit.InvalidError, match="^group name '"):
        request().renamed(bad)
    assert request("a b", owner="alice|ray:\u00e9").name == "a b"


@pytest.mark.parametrize("arguments", [{"topology": "3x5"}, {"topology": "4x4", "chips_per_host": 8}])
def test_a_request_for_a_topology_that_does_not_exist_is_refused_on_construction(arguments):
    with pytest.raises(quoit.InvalidError):
        quoit.Request("train", accelerator="v6e", slices=1, **arguments)


def test_error_messages_are_printable(ledger, tmp_path):
    for bad in ("a\ud800b", "a\0b", "a\nb\x1b[1m"):
        with pytest.raises(quoit.Error) as refused:
            quoit.create(tmp_path / "none" / bad)
        assert str(refused.value).isprintable()
        with pytest.raises(quoit.Error) as refused:
            ledger.release(bad)
        assert str(refused.value).isprintable()


def test_the_message_for_a_damaged_file_is_printable(tmp_path):
    path = tmp_path / "a\nb\x1b[1m"
    with quoit.create(path) as ledger:
        ledger.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
    os.truncate(path, 200)
    with pytest.raises(quoit.DamagedError, match=r"/a\\nb\\u\{1b\}\[1m: ") as refused:
        quoit.open(path)
    assert str(refused.value).isprintable()


def test_range_checks_of_int_subclasses_are_fast(ledger):
    """Before Python 3.10, operator.index() can return a subclass of int, for which `in range` is a linear search."""
    with pytest.raises(quoit.InvalidError, match="before the year 2200"):
        ledger.renew("nobody", hostile.Number(2**62), now_ms=hostile.Number(NOW))


# --- arguments with side effects
# ---------------------------------------------------------------------------------------


class Acts:
    """Converts to an int or a path, and calls a function during the conversion."""

    def __init__(self, value, act):
        self.value, self.act = value, act

    def __index__(self):
        self.act()
        return self.value

    def __fspath__(self):
        self.act()
        return self.value


def test_an_argument_that_closes_the_ledger_does_not_free_it_during_the_call(tmp_path):
    ledger = quoit.create(tmp_path / "fleet.db")
    ledger.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
    group = ledger.reserve(request(), now_ms=Acts(NOW, ledger.close))
    assert ledger.is_closed
    with pytest.raises(quoit.InvalidError, match="closed"):
        ledger.release(group)
    with quoit.open(tmp_path / "fleet.db") as ledger:
        ledger.release(group, now_ms=NOW)
        ledger.verify()


def test_an_argument_that_uses_the_ledger_is_evaluated_before_the_call(ledger):
    ledger.reserve(request("second"), now_ms=Acts(NOW, lambda: ledger.reserve(request("first"), now_ms=NOW)))
    assert ledger.reserve(request("third"), now_ms=NOW).id == 3


def test_a_list_that_shrinks_during_the_call_is_accepted():
    names = ["a", "b", "c"]

    class Shrinks(str):
        def __eq__(self, other):
            names.clear()
            return False

        __hash__ = str.__hash__

    names.insert(0, Shrinks("z"))
    assert quoit.Request("r", named=names).name == "r"


def used_by_handlers(ledger):
    """Yields three calls for each object that has a lock: a call, a call of a handler, and one to undo the first."""
    fork = ledger.snapshot().fork()
    yield lambda: fork.reserve(request("a")), fork.snapshot, lambda: fork.release("a")
    cluster = quoit.ray_rules.Cluster([quoit.ray_rules.ClusterNode("n", {"CPU": 4})])
    group = quoit.ray_rules.PlacementGroup([{"CPU": 1}])
    yield lambda: group.place(cluster), lambda: group.place(cluster), lambda: None
    numbers = itertools.count()
    yield (
        lambda: cluster.available_ten_thousandths("n", "CPU"),
        lambda: cluster.add_node(str(next(numbers))),
        lambda: None,
    )
    policy = quoit.ray_rules.FailurePolicy(-1)
    kind = quoit.ray_rules.FailureKind.WORKER
    yield lambda: policy.make_decision(kind), lambda: policy.make_decision(kind), lambda: None


@pytest.mark.parametrize("number", range(4))
def test_a_signal_handler_can_use_the_object_of_the_interrupted_call(ledger, number):
    """Python can run a signal handler between any two instructions, even if the thread has the lock of the object."""
    faulthandler.dump_traceback_later(60, exit=True)  # ends the test if the thread waits for its own lock
    use, interfere, undo = list(used_by_handlers(ledger))[number]
    for line in range(200):
        turns = itertools.count()

        def handler(*_arguments, turns=turns, line=line):
            if next(turns) == line:
                interfere()

        def trace(frame, event, _argument, handler=handler):
            handler()
            return trace if frame.f_code.co_filename.startswith(os.path.dirname(quoit.__file__)) else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            use()
        finally:
            sys.settrace(before)
        undo()
        if next(turns) <= line:
            faulthandler.cancel_dump_traceback_later()
            return
    raise AssertionError("a call of a fork has no end")


def test_a_signal_handler_can_add_a_node_while_one_is_added():
    for line in range(200):
        cluster, turns = quoit.ray_rules.Cluster(), itertools.count()

        def trace(frame, event, _argument, cluster=cluster, turns=turns, line=line):
            if next(turns) == line:
                cluster.add_node("handler")
                cluster.set_resource("handler", "CPU", 2, 2)
            return trace if frame.f_code.co_filename.startswith(os.path.dirname(quoit.__file__)) else None

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            cluster.add_node("main")
        finally:
            sys.settrace(before)
        cluster.set_resource("main", "CPU", 1, 1)
        assert cluster.available_ten_thousandths("main", "CPU") == 10_000
        if next(turns) <= line:
            return
        assert cluster.available_ten_thousandths("handler", "CPU") == 20_000
    raise AssertionError("a call has no end")


def test_an_iterable_that_raises_leaves_no_request(ledger):
    for arguments in (
        {"named": hostile.generator("a")},
        {"bundles": hostile.generator("TPU=1")},
        {"excluded": hostile.generator()},
    ):
        with pytest.raises(hostile.Boom):
            request(**arguments)
    ledger.verify()


@pytest.mark.parametrize(
    "given",
    [
        {"bundles": ["CPU=1"]}, {"strategy": quoit.Strategy.PACK}, {"topology_label": "zone"}, {"slices": 2},
        {"accelerator": "v6e"}, {"topology": "4x4"}, {"tpu_per_bundle": "1"}, {"chips_per_host": 4}, {"other": 1},
    ],
)  # fmt: skip
def test_a_bundles_file_excludes_arguments_that_it_defines(given):
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{next(iter(given))}'"):
        quoit.Request.from_bundles_file("b", '[{"CPU": 1}]', **given)


def test_a_bundles_file_accepts_the_other_arguments(ledger):
    given = {"key": "k", "owner": "o", "lease_ms": 1000, "pool": "v6e-4x4", "excluded": ["v6e-4x4-0"]}
    group = ledger.reserve(quoit.Request.from_bundles_file("b", '[{"TPU": 1}]', **given))
    assert (group.key, group.owner, group.bundles[0].node) == ("k", "o", "v6e-4x4-1-0")
    assert group.until_ms is not None
    with pytest.raises(quoit.InvalidError, match="soft target"):
        ledger.reserve(quoit.Request.from_bundles_file("c", '[{"TPU": 1}]', soft_target="v6e-4x4-1-0"))


# --- objects that cannot be made, changed or pickled
# -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", [quoit.Ledger, quoit.Group, quoit.Fork])
def test_library_objects_cannot_be_constructed_by_callers(kind):
    for value in (5, None, "x", object()):
        with pytest.raises(TypeError, match=f"a {kind.__name__} is made by"):
            kind(value)


def immutable_objects(ledger):
    rules = quoit.ray_rules
    return (
        request(), quoit.Bundle("TPU=4"), ledger.reserve(request()), rules.PlacementGroup([{"CPU": 1}]),
        rules.slice_placement_group("4x4", "v6e"), rules.ScalingConfig(num_workers=2),
    )  # fmt: skip


def test_immutable_objects_cannot_be_changed(ledger):
    for one in immutable_objects(ledger):
        for name in ("name", "amounts", "_handle", "other"):
            with pytest.raises(AttributeError, match="cannot be changed"):
                setattr(one, name, "x")
            with pytest.raises(AttributeError, match="cannot be changed"):
                delattr(one, name)
    with pytest.raises(TypeError):
        quoit.Bundle("TPU=4", {"a": "b"}).selectors["c"] = "d"


def test_a_copy_of_an_immutable_object_is_the_object(ledger):
    for one in immutable_objects(ledger):
        assert copy.copy(one) is one and copy.deepcopy([one])[0] is one


def test_the_error_for_pickling_proposes_what_to_send(ledger):
    for one, instead in (
        (ledger, "open its file again"),
        (request(), "make it again"),
        (ledger.reserve(request()), "NAME@ID"),
        (ledger.resize(ledger.reserve(request("elastic", slices=(1, 2))), 1), "NAME@ID"),
    ):
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
            with pytest.raises(TypeError, match=instead):
                pickle.dumps(one, protocol)
    rules = quoit.ray_rules
    for one, said in (
        (ledger, "a quoit.Ledger: open its file again"),
        (ledger.snapshot().fork(), "a quoit.Fork: make another fork from a snapshot"),
        (rules.Cluster(), "a quoit.ray_rules.Cluster: make another one"),
        (rules.FailurePolicy(), "a quoit.ray_rules.FailurePolicy: make another one"),
    ):
        for make in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=f"^cannot copy or pickle {said}"):
                make(one)
    with pytest.raises(TypeError, match="^cannot pickle a quoit.ray_rules.PlacementGroup, "):
        pickle.dumps(rules.PlacementGroup([{"CPU": 1}]))


def test_value_objects_can_be_pickled(ledger):
    error = quoit.NotNowError("no room")
    for one in (
        quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4", variables={"a": "b"}),
        ledger.import_fleet_text("v6e 4x4 x4"),
        ledger.reserve(request()).slices,
        quoit.GroupState.HELD,
        quoit.GroupState(99),
    ):
        assert pickle.loads(pickle.dumps(one)) == one
    bundle = pickle.loads(pickle.dumps(quoit.Bundle("TPU=4", {"a": "b"})))
    assert (bundle.amounts, dict(bundle.selectors)) == ("TPU=4", {"a": "b"})
    assert bundle == quoit.Bundle({"TPU": 4}, {"a": "b"}) and hash(bundle) == hash(quoit.Bundle("TPU=4", {"a": "b"}))
    assert bundle != quoit.Bundle("TPU=4") and bundle != quoit.Bundle("TPU=2", {"a": "b"}) and bundle != "TPU=4"
    sent = pickle.loads(pickle.dumps(error))
    assert (type(sent), str(sent), sent.code) == (quoit.NotNowError, "no room", quoit.ErrorCode.NOT_NOW)
