# SPDX-License-Identifier: Apache-2.0
"""Handles that are used after their context has ended: closed ledgers, forked processes, and interpreters at exit."""

import gc
import inspect
import itertools
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest

import quoit

NOW = 1_790_000_000_000
PRELUDE = """
import atexit, faulthandler, gc, os, signal, sys, threading, time
import quoit
def request(name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", **{"slices": 1, **arguments})
"""


def request(name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", **{"slices": 1, **arguments})


@pytest.fixture
def path(tmp_path):
    with quoit.create(tmp_path / "fleet.db") as ledger:
        ledger.import_fleet_text("v6e 4x4 x8")
    return tmp_path / "fleet.db"


def python(script, *arguments):
    """Starts Python with a program that consists of PRELUDE and `script`."""
    program = PRELUDE + textwrap.dedent(script)
    environment = {**os.environ, "G_DEBUG": "fatal-criticals", "PYTHONWARNINGS": "ignore::DeprecationWarning"}
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", "-c", program, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def output_of(process, timeout=60):
    """Waits for the process, which must succeed and print nothing on stderr. Returns its output."""
    out, err = process.communicate(timeout=timeout)
    assert (process.returncode, err) == (0, ""), f"{process.returncode}: {err}\n{out}"
    return out


def run(script, *arguments):
    return output_of(python(script, *arguments))


def verbs():
    """Yields the name of each public method of Ledger, except `close`, with arguments of the right types."""
    values = {
        "request": request(),
        "requests": [request()],
        "group": "train@1",
        "groups": ["train@1"],
        "name": "train",
        "node": "v6e-4x4-0-0",
        "nodes": ["v6e-4x4-0-0"],
        "mark": 1,
        "end_ms": 1,
        "priority": 1,
        "scope": quoit.WindowScope.NODE,
        "from_ms": 1,
        "until_ms": 1,
        "labels": {"team": "nlp"},
        "chips": 1,
        "state": quoit.NodeState.DRAINING,
        "input": quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4"),
        "path": "copy.db",
        "slices": 1,
        "least": 1,
        "most": 2,
        "lease_ms": 1,
        "clock_ms": 1,
        "keep_ms": 1,
        "max_jump_ms": 1,
        "seq": 1,
        "before_seq": 1,
        "before_ms": 1,
        "data": b"text",
        "fork": quoit.open_memory().snapshot().fork(),
    }
    for name, method in vars(quoit.Ledger).items():
        if name.startswith("_") or name == "close" or not inspect.isfunction(method):
            continue
        needed = [one for one in list(inspect.signature(method).parameters.values())[1:] if one.default is one.empty]
        yield name, [values.get(one.name, "text") for one in needed]


def use(ledger, name, arguments):
    made = getattr(ledger, name)(*arguments)
    if name == "batch":
        with made:
            pass


# --- closed ledgers
# -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", [name for name, _ in verbs()])
def test_every_verb_of_a_closed_ledger_raises(verb, path, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    ledger = quoit.open(path)
    ledger.close()
    ledger.close()
    with pytest.raises(quoit.InvalidError, match="the ledger has been closed"):
        use(ledger, verb, dict(verbs())[verb])
    with pytest.raises(quoit.InvalidError, match="the ledger has been closed"), ledger:
        pass
    assert sorted(os.listdir(tmp_path)) == ["fleet.db", "fleet.db-head"]


def test_results_outlive_their_ledger(path):
    with quoit.open(path) as ledger:
        group, imported = ledger.reserve(request(slices=2)), ledger.import_fleet_text("v6e 4x4 x9")
    del ledger
    gc.collect()
    assert [len(one.workers) for one in group.slices] == [4, 4] and imported.n_nodes == 36


def test_a_request_outlives_the_ledger_it_was_used_on(path):
    wanted = request()
    for _ in range(3):
        with quoit.open_memory() as ledger:
            ledger.import_fleet_text("v6e 4x4")
            assert ledger.reserve(wanted).id == 1


def test_an_unreferenced_ledger_is_closed(path):
    ledger = quoit.open(path)
    ledger.reserve(request())
    assert pathlib.Path(f"{path}-wal").exists()
    gone = weakref.ref(ledger)
    del ledger
    assert gone() is None and not pathlib.Path(f"{path}-wal").exists()


def test_a_reference_cycle_with_a_ledger_is_collected(path):
    class Holder:
        pass

    one, other = Holder(), Holder()
    one.other, other.one, one.ledger = other, one, quoit.open(path)
    one.group = one.ledger.reserve(request())
    one.ledger_again, other.group = one.ledger, one.group
    del one, other
    assert pathlib.Path(f"{path}-wal").exists()
    gc.collect()
    assert not pathlib.Path(f"{path}-wal").exists()


def test_a_release_that_is_repeated_frees_nothing_else(path):
    with quoit.open(path) as ledger:
        group = ledger.reserve(request())
        ledger.release(group)
        with pytest.raises(quoit.ConflictError, match="holds nothing any more"):
            ledger.release(group)
        again = ledger.reserve(request())
        with pytest.raises(quoit.ConflictError):
            ledger.release(group)
        ledger.confirm(again)


# --- batches --------------------------------------------------------------------------------------------------------


def test_a_batch_that_raises_leaves_nothing(path):
    with quoit.open(path) as ledger:
        for raised in (ValueError, KeyboardInterrupt, SystemExit, GeneratorExit):
            with pytest.raises(raised), ledger.batch():
                ledger.reserve(request())
                raise raised
        assert ledger.reserve(request()).id == 1


def test_a_nested_batch_is_refused_and_the_outer_one_continues(path):
    with quoit.open(path) as ledger:
        with ledger.batch():
            ledger.reserve(request("one"))
            with pytest.raises(quoit.ConflictError, match="in a batch"), ledger.batch():
                pass
            ledger.reserve(request("two"))
        assert ledger.confirm("one").id == 1 and ledger.confirm("two").id == 2


def test_an_unsynced_batch_is_visible_to_all_and_survives_a_kill(path):
    program = (
        "import os, signal, sys, quoit\n"
        "ledger = quoit.open(sys.argv[1])\n"
        "with ledger.batch(synced=False):\n"
        "    ledger.reserve(quoit.Request('train', accelerator='v6e', topology='4x4', slices=1))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    with quoit.open(path) as ledger:
        killed = subprocess.run([sys.executable, "-c", program, path], check=False)
        assert killed.returncode == -signal.SIGKILL
        assert [one.name for one in ledger.snapshot().groups] == []
        ledger.refresh()
        assert [one.name for one in ledger.snapshot().groups] == ["train"]
        with pytest.raises(ValueError), ledger.batch(synced=False):
            ledger.release("train")
            raise ValueError
        assert ledger.confirm("train").id == 1
        with pytest.raises(TypeError, match="synced"):
            ledger.batch(synced=1)


def test_a_batch_is_committed_after_its_ledger_is_closed(path):
    with quoit.open(path) as ledger, ledger.batch():
        ledger.reserve(request())
        ledger.close()
    with quoit.open(path) as ledger:
        assert ledger.confirm("train").id == 1


def test_another_thread_cannot_end_a_batch(path):
    with quoit.open(path) as ledger:
        batch, refused = ledger.batch(), []
        batch.__enter__()
        ledger.reserve(request())

        def end():
            try:
                batch.__exit__(None, None, None)
            except quoit.ConflictError as error:
                refused.append(str(error))

        in_thread(end)
        assert refused == ["this thread is in no batch"]


def test_an_interrupt_at_any_instruction_leaves_no_open_batch(path):
    """Interrupts a batch at its first instruction, then at its second, and so on.

    After each interrupt, other handles can write: a batch that stays open would block all writers.
    """
    ledger = quoit.open(path, wait_ms=0)
    for point in itertools.count():
        assert point < 2000, "a batch has no end"
        steps = itertools.count()

        def trace(frame, event, _argument, steps=steps, point=point):
            if not frame.f_code.co_filename.startswith(os.path.dirname(quoit.__file__)):
                return None
            if "__del__" in (frame.f_code.co_name, frame.f_back.f_code.co_name):
                return None  # Python ignores exceptions that a destructor raises
            frame.f_trace_opcodes = True
            if next(steps) == point:
                raise KeyboardInterrupt
            return trace

        before, interrupted = sys.gettrace(), False
        sys.settrace(trace)
        try:
            with ledger.batch():
                pass
        except KeyboardInterrupt:
            interrupted = True
        finally:
            sys.settrace(before)
        with quoit.open(path, wait_ms=0) as other:
            other.release(other.reserve(request(f"r{point}")))
        if not interrupted and next(steps) <= point:
            return


def test_a_batch_is_opened_and_ended_once(path):
    with quoit.open(path) as ledger:
        batch = ledger.batch()
        with pytest.raises(quoit.ConflictError, match="this batch is not open"):
            batch.__exit__(None, None, None)
        with batch:
            ledger.reserve(request())
            with pytest.raises(quoit.ConflictError, match="this batch is open already"):
                batch.__enter__()
        with pytest.raises(quoit.ConflictError, match="this batch is not open"):
            batch.__exit__(None, None, None)
        assert ledger.confirm("train").id == 1


# --- threads --------------------------------------------------------------------------------------------------------


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


@pytest.mark.parametrize("where", ["file", "memory"])
def test_concurrent_threads_never_get_the_same_slice(where, path):
    ledger = quoit.open(path) if where == "file" else quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x8")
    faults, until = [], time.monotonic() + 1.5
    taken, lock = set(), threading.Lock()

    def reserve(worker):
        number = 0
        while time.monotonic() < until:
            number += 1
            try:
                group = ledger.reserve(request(f"w{worker}-{number}", slices=1 + number % 3))
            except (quoit.NotNowError, quoit.CancelledError):
                continue
            names = {one.name for one in group.slices}
            with lock:
                if taken & names:
                    faults.append(f"{names & taken} twice")
                taken.update(names)
            with lock:
                taken.difference_update(names)
                released = False
                while not released:
                    try:
                        ledger.release(group)
                        released = True
                    except quoit.CancelledError:
                        pass

    def look():
        while time.monotonic() < until:
            try:
                ledger.snapshot()
                ledger.refresh()
                ledger.set_actor(str(time.time()))
            except quoit.CancelledError:
                pass

    def disturb():
        while time.monotonic() < until:
            ledger.interrupt()
            time.sleep(0.001)

    def guarded(function, *arguments):
        try:
            function(*arguments)
        except BaseException as error:
            faults.append(repr(error))

    threads = [threading.Thread(target=guarded, args=(reserve, worker)) for worker in range(4)]
    threads += [threading.Thread(target=guarded, args=(one,)) for one in (look, look, disturb)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert faults == []
    ledger.verify()
    assert len(ledger.reserve(request("all", slices=8)).slices) == 8


def test_closing_a_ledger_in_use_gives_each_call_a_result_or_an_error(path):
    for turn in range(10):
        ledger, ends = quoit.open(path), []

        def work(worker, turn=turn, ledger=ledger, ends=ends):
            for number in itertools.count():
                try:
                    ledger.release(ledger.reserve(request(f"{turn}-{worker}-{number}")))
                except quoit.InvalidError as error:
                    ends.append(str(error))
                    return
                except quoit.NotNowError:
                    pass

        threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(0.01)
        ledger.close()
        for thread in threads:
            thread.join(60)
        assert ends == ["the ledger has been closed"] * 4
    with quoit.open(path) as ledger:
        ledger.verify()


def test_interrupt_ends_a_wait_at_once(path):
    with quoit.open(path) as writer, quoit.open(path, wait_ms=60_000) as waiter:
        ends = []

        def wait():
            try:
                waiter.reserve(request())
            except quoit.CancelledError as error:
                ends.append(error.code)

        with writer.batch():
            writer.reserve(request("other"))
            thread = threading.Thread(target=wait)
            thread.start()
            begin = time.monotonic()
            while thread.is_alive() and time.monotonic() < begin + 30:
                waiter.interrupt()
                thread.join(0.02)
            assert ends == [quoit.ErrorCode.CANCELLED] and time.monotonic() - begin < 5
        assert waiter.reserve(request()).id == 2


# --- fork -----------------------------------------------------------------------------------------------------------


def in_child(function):
    """Runs the function in a forked child, requires that it succeeds, and returns its result."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        status = 1
        try:
            os.write(write, repr(function()).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    with os.fdopen(read) as pipe:
        output = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, output
    return eval(output)  # this function wrote the text itself


def refusals(ledger):
    output = {}
    for name, arguments in verbs():
        try:
            use(ledger, name, arguments)
            output[name] = "done"
        except quoit.FailedError as error:
            output[name] = "refused" if "fork" in str(error) else str(error)
    return output


def test_every_verb_is_refused_in_a_forked_child(path):
    ledger = quoit.open(path)
    ledger.reserve(request())
    for opened in (ledger, quoit.open_memory()):
        output = in_child(lambda opened=opened: refusals(opened))
        assert set(output.values()) == {"refused"} and len(output) > 25
    assert ledger.reserve(request("still")).id == 2
    ledger.verify()
    ledger.close()


def test_a_forked_child_can_read_the_parents_results(path):
    with quoit.open(path) as ledger:
        group = ledger.reserve(request(slices=2))
        assert in_child(lambda: [one.name for one in group.slices]) == [one.name for one in group.slices]


def test_the_end_of_a_forked_child_keeps_the_parents_lock(path):
    output = run(
        """
        ledger = quoit.open(sys.argv[1])
        with ledger.batch():
            ledger.reserve(request())
            child = os.fork()
            if child == 0:
                ledger.close()
                sys.exit()  # frees all objects, like the end of any program
            assert os.waitpid(child, 0)[1] == 0
            if os.fork() == 0:
                os.execv(sys.executable, [sys.executable, "-c",
                    "import quoit, sys; "
                    "ledger = quoit.open(sys.argv[1], wait_ms=0); "
                    "request = quoit.Request('other', accelerator='v6e', topology='4x4', slices=1)\\n"
                    "try: ledger.reserve(request)\\n"
                    "except quoit.BusyError: print('busy')", sys.argv[1]])
            assert os.wait()[1] == 0
        ledger.verify()
        print(ledger.confirm("train").id)
        """,
        path,
    )
    assert output == "busy\n1\n"


def test_a_forked_child_does_not_end_a_batch(path):
    output = run(
        """
        ledger = quoit.open(sys.argv[1])
        try:
            with ledger.batch():
                ledger.reserve(request())
                child = os.fork()
            parent = child != 0
        except quoit.FailedError as error:
            sys.exit("fork" not in str(error))
        assert os.waitpid(child, 0)[1] == 0
        print(ledger.confirm("train").id)
        """,
        path,
    )
    assert output == "1\n"


def test_a_forked_child_of_many_threads_is_refused_at_once(path):
    run(
        """
        ledger = quoit.open(sys.argv[1])
        stop = False
        def work(name):
            while not stop:
                try:
                    ledger.release(ledger.reserve(request(name)))
                except quoit.NotNowError:
                    pass
        threads = [threading.Thread(target=work, args=(str(n),)) for n in range(3)]
        for thread in threads: thread.start()
        for _ in range(30):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                for verb in (ledger.snapshot, ledger.verify, ledger.refresh, ledger.interrupt, lambda: ledger.reserve(request())):
                    try:
                        verb()
                        os._exit(1)
                    except quoit.FailedError:
                        pass
                ledger.close()
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
        stop = True
        for thread in threads: thread.join()
        ledger.verify()
        """,
        path,
    )


@pytest.mark.parametrize(
    ("made", "used", "freed"),
    [
        ("ledger.snapshot().fork()", "one.release(one.reserve(wanted))", "one.close()"),
        ("rules.Cluster([rules.ClusterNode('n', {'CPU': 4})])", "placed.place(one)", "one.__init__()"),
        ("rules.FailurePolicy()", "one.make_decision(rules.FailureKind.WORKER)", "one.__init__()"),
    ],
)
def test_objects_in_use_during_a_fork_are_refused_in_the_child(made, used, freed):
    run(
        f"""
        from quoit import ray_rules as rules
        ledger = quoit.open_memory()
        ledger.import_fleet_text("v6e 4x4 x8")
        wanted, placed = request(), rules.PlacementGroup([{{"CPU": 1}}] * 100, "SPREAD")
        one, stop = {made}, False
        def use(): {used}
        def work():
            while not stop: use()
        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(60):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                try:
                    use()
                except quoit.FailedError as error:
                    {freed}
                    os._exit("fork(2)" not in str(error))
                os._exit(1)
            status = os.waitpid(child, 0)[1]
            if status: break
        stop = True
        thread.join()
        assert status == 0, status
        """
    )


def test_a_forked_child_can_read_groups_that_parent_threads_read():
    run(
        """
        ledger = quoit.open_memory()
        ledger.import_fleet_text("v6e 16x16 x60")
        group = ledger.reserve(quoit.Request("train", accelerator="v6e", topology="16x16", slices=30))
        stop = False
        def work():
            while not stop: ledger.group("train").slices
        thread = threading.Thread(target=work)
        thread.start()
        for _ in range(40):
            child = os.fork()
            if child == 0:
                signal.alarm(20)
                os._exit(len(group.slices) != 30)
            status = os.waitpid(child, 0)[1]
            if status: break
        stop = True
        thread.join()
        assert status == 0, status
        """
    )


def test_reservations_of_a_forked_child_survive_the_close_of_the_parent(path):
    """A child does not inherit the POSIX locks of its parent, but it inherits SQLite's list of these locks."""
    parent = quoit.open(path)
    parent.reserve(request("parent"))
    to_child, to_parent = os.pipe(), os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            mine = quoit.open(path)
            mine.reserve(request("first"))
            os.write(to_parent[1], b"x")
            os.read(to_child[0], 1)
            mine.reserve(request("second"))
            status = 0
        finally:
            os._exit(status)
    os.read(to_parent[0], 1)
    parent.close()
    os.write(to_child[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    for one in (*to_child, *to_parent):
        os.close(one)
    with quoit.open(path) as ledger:
        assert [ledger.confirm(name).id for name in ("parent", "first", "second")] == [1, 2, 3]
        ledger.verify()


# --- signals --------------------------------------------------------------------------------------------------------

WAITING = """
ledger = quoit.open(sys.argv[1], wait_ms=int(sys.argv[2]))
print("ready", flush=True)
begin = time.monotonic()
try:
    {wait}
except KeyboardInterrupt:
    print("interrupted after", time.monotonic() - begin)
"""


def seconds_until_interrupt(path, wait_ms, wait):
    """Sends Ctrl-C to a process that has waited for another writer for 0.5 s.

    Returns how many seconds after the begin of the wait KeyboardInterrupt was raised.
    """
    with quoit.open(path) as writer, writer.batch():
        writer.reserve(request("other"))
        waiter = python(WAITING.format(wait=wait), path, wait_ms)
        assert waiter.stdout.readline() == "ready\n"
        time.sleep(0.5)
        waiter.send_signal(2)
        output = output_of(waiter)
    with quoit.open(path) as ledger:
        with pytest.raises(quoit.NotFoundError):
            ledger.confirm("train")
        ledger.verify()
    return float(output.split()[-1])


def test_an_interrupt_is_raised_when_the_wait_ends(path):
    # The interrupt comes after 0.5 s, and the wait ends after 1.5 s.
    assert 1.2 < seconds_until_interrupt(path, 1500, "ledger.reserve(request())") < 10


def test_an_interrupt_is_raised_at_once_if_another_thread_waits(path):
    wait = """
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(1) as pool:
        try:
            pool.submit(ledger.reserve, request()).result()
        except KeyboardInterrupt:
            ledger.interrupt()
            raise"""
    assert seconds_until_interrupt(path, 60_000, wait) < 10


# --- the end of the interpreter ---------------------------------------------------------------------------------------


def test_objects_can_be_freed_in_any_order_at_exit(path):
    run(
        """
        ledger = quoit.open(sys.argv[1])
        group, wanted, output = ledger.reserve(request()), request(), ledger.import_fleet_text("v6e 4x4 x8")
        class Holder: pass
        holder = Holder(); holder.me = holder; holder.ledger = ledger; holder.group = group
        sys.modules["quoit.kept"] = holder
        threading.current_thread().ledger = ledger
        """,
        path,
    )


def test_a_ledger_can_be_used_at_exit_and_in_destructors(path):
    output = run(
        """
        ledger = quoit.open(sys.argv[1])
        group = ledger.reserve(request())
        atexit.register(lambda: (ledger.release(group), print("released")))
        class Late:
            def __init__(self): self.ledger, self.wanted = ledger, request("late")
            def __del__(self):
                try:
                    self.ledger.reserve(self.wanted, now_ms=1_890_000_000_000)
                except Exception as error:
                    assert not isinstance(error, SystemError)
        late = Late()
        late.me = late
        sys.kept = late
        other = Late()
        """,
        path,
    )
    assert output == "released\n"
    with quoit.open(path) as ledger:
        ledger.verify()


@pytest.mark.parametrize("end", ["pass", "sys.exit(0)", "os._exit(0)"])
def test_a_daemon_thread_inside_a_call_does_not_stop_the_interpreter_from_ending(end, path):
    run(
        f"""
        ledger = quoit.open(sys.argv[1], wait_ms=60_000)
        other = quoit.open(sys.argv[1])
        batch = other.batch()
        batch.__enter__()
        other.reserve(request("other"))
        for _ in range(3):
            threading.Thread(target=lambda: ledger.reserve(request()), daemon=True).start()
        time.sleep(0.2)
        {end}
        """,
        path,
    )
    with quoit.open(path) as ledger:
        assert ledger.reserve(request()).id == 1
        ledger.verify()


def test_daemon_threads_at_exit_leave_an_undamaged_ledger(path):
    run(
        """
        ledger = quoit.open(sys.argv[1])
        def work(name):
            while True:
                try:
                    ledger.release(ledger.reserve(request(name)))
                except quoit.NotNowError:
                    pass
        for n in range(3):
            threading.Thread(target=work, args=(str(n),), daemon=True).start()
        time.sleep(0.3)
        """,
        path,
    )
    with quoit.open(path) as ledger:
        ledger.verify()


def test_a_killed_process_leaves_an_undamaged_ledger_and_no_lock(path):
    process = python(
        """
        ledger = quoit.open(sys.argv[1])
        with ledger.batch():
            ledger.reserve(request())
            print("ready", flush=True)
            time.sleep(60)
        """,
        path,
    )
    assert process.stdout.readline() == "ready\n"
    process.kill()
    process.communicate()
    with quoit.open(path, wait_ms=0) as ledger:
        ledger.verify()
        assert ledger.reserve(request()).id == 1


# --- more than one interpreter ----------------------------------------------------------------------------------------


def test_a_subinterpreter_with_its_own_lock_is_refused_with_the_reason(path):
    """From Python 3.12 on, an isolated subinterpreter has its own lock (GIL), which cffi's module does not support."""
    output = run(
        """
        try:
            import _interpreters as interpreters
            kinds = ["legacy", "isolated"]
        except ImportError:
            try:
                import _xxsubinterpreters as interpreters
                kinds = [False, True]
            except ImportError:
                sys.exit(print("none"))
        program = '''
        try:
            import quoit
            with quoit.open_memory() as ledger:
                ledger.import_fleet_text("v6e 4x4 x2")
                assert ledger.reserve(quoit.Request("a", accelerator="v6e", topology="4x4", slices=2)).id == 1
                try:
                    ledger.release("b")
                except quoit.NotFoundError:
                    output = "works"
        except ImportError as error:
            output = "ImportError: " + str(error)
        import os
        os.write(1, (output + chr(10)).encode())
        '''
        import textwrap
        program = textwrap.dedent(program)
        ledger = quoit.open(sys.argv[1])
        for kind in kinds:
            for _ in range(2):
                try:
                    one = interpreters.create(kind) if isinstance(kind, str) else interpreters.create(isolated=kind)
                except TypeError:
                    one = interpreters.create()
                failed = interpreters.run_string(one, program)
                assert failed is None, failed
                interpreters.destroy(one)
        ledger.reserve(request())
        """,
        path,
    )
    if output == "none\n":
        pytest.skip("this Python makes no subinterpreters")
    *legacy, isolated, again = output.splitlines()
    assert legacy == ["works", "works"]
    assert isolated == again
    if sys.version_info < (3, 12):
        assert isolated == "works"
    else:
        assert re.fullmatch(
            "ImportError: quoit's extension cannot be loaded: .* not support .*subinterpreters?", isolated
        )


def test_import_errors_have_advice_only_if_libquoit_is_the_cause(tmp_path):
    """The linker's message names the library or one of its symbols; other causes are reported without advice."""
    for cause, advised in (
        ("libquoit.so.0: cannot open shared object file: No such file or directory", True),
        ("_quoit.abi3.so: undefined symbol: quoit_new", True),
        ("module _cffi_backend does not support loading in subinterpreters", False),
        ("No module named '_cffi_backend'", False),
    ):
        output = run(
            """
            del sys.modules["quoit"], sys.modules["quoit._c"]
            class Finder:
                def find_spec(self, name, path=None, target=None):
                    if name == "quoit._quoit":
                        raise ImportError(sys.argv[1])
            sys.modules.pop("quoit._quoit")
            sys.meta_path.insert(0, Finder())
            try:
                import quoit._c
            except ImportError as error:
                print(error)
            """,
            cause,
        )
        assert output.startswith(f"quoit's extension cannot be loaded: {cause}")
        assert ("libquoit is missing, or older" in output) == advised
