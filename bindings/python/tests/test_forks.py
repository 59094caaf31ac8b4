# SPDX-License-Identifier: Apache-2.0
"""A fork decides like the ledger, and writes nothing."""

import threading

import pytest

import quoit

NOW = 1_800_000_000_000


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        yield opened


def request(slices=1, name="train"):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=slices)


def test_changes_of_a_fork_do_not_change_the_ledger(ledger):
    before = ledger.snapshot()
    with before.fork() as fork:
        group = fork.reserve(request(2), now_ms=NOW)
        assert fork.snapshot().lookup_group("train") == group
        fork.set_node_state("v6e-4x4-2-0", quoit.NodeState.DEAD, now_ms=NOW)
        assert fork.snapshot().lookup_node("v6e-4x4-2-0").state == quoit.NodeState.DEAD
    assert ledger.snapshot().to_json() == before.to_json()
    assert len(ledger.changes_since(0)) == 1


def test_a_fork_decides_like_its_ledger(ledger):
    fork = ledger.snapshot().fork()
    assert fork.reserve(request(2), now_ms=NOW) == ledger.reserve(request(2), now_ms=NOW)
    refusals = []
    for one in (fork, ledger):
        with pytest.raises(quoit.NotNowError) as refused:
            one.reserve(request(2, "other"), now_ms=NOW)
        refusals.append((str(refused.value), refused.value.report))
    assert refusals[0] == refusals[1]
    assert refusals[0][1].verdict == quoit.Verdict.NOT_NOW


def test_a_fork_has_the_verbs_of_a_ledger(ledger):
    fork = ledger.snapshot().fork()
    held = fork.hold(request(), 1_000, now_ms=NOW)
    assert (held.state, held.until_ms) == (quoit.GroupState.HELD, NOW + 1_000)
    fork.release(held, now_ms=NOW)
    fork.reserve(request(), now_ms=NOW)
    change = fork.resize("train", 2, now_ms=NOW)
    assert (len(change.before.slices), len(change.after.slices), change.is_unchanged) == (1, 2, False)
    assert len(fork.release_slice("train", "v6e-4x4-1", now_ms=NOW).after.slices) == 1
    assert len(fork.resize("train", 2, now_ms=NOW).after.slices) == 2
    fork.set_node_state("v6e-4x4-0-0", quoit.NodeState.DEAD, now_ms=NOW)
    repaired = fork.repair("train", now_ms=NOW)
    assert [one.name for one in repaired.after.slices] == ["v6e-4x4-1", "v6e-4x4-2"]
    synced = fork.sync_input(quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4 x2"), now_ms=NOW)
    assert {one.kind for one in synced.changes} >= {quoit.ChangeKind.LOST, quoit.ChangeKind.GROUP_SLICE}
    fork.snapshot().check()


def test_leases_and_owners_of_a_fork(ledger):
    fork = ledger.snapshot().fork()
    fork.set_owner("team", lease_ms=10_000, now_ms=NOW)
    one, two = (
        fork.hold(quoit.Request(name, accelerator="v6e", topology="4x4", slices=1, owner="team"), 1_000, now_ms=NOW)
        for name in ("one", "two")
    )
    assert fork.renew(one, 5_000, now_ms=NOW + 500).until_ms == NOW + 5_500
    assert fork.confirm(two, now_ms=NOW + 600).state == quoit.GroupState.RESERVED
    fork.renew_owner("team", 20_000, now_ms=NOW + 700)
    with pytest.raises(quoit.ExpiredError, match="one"):
        fork.renew(one, 5_000, now_ms=NOW + 6_000)
    assert fork.end_owner("team", now_ms=NOW + 7_000) == 1
    assert not [group for group in fork.snapshot().groups if group.state == quoit.GroupState.RESERVED]


@pytest.mark.parametrize("target", ["ledger", "fork"])
def test_records_are_forgotten(ledger, target):
    for key in "abc":
        group = ledger.reserve(quoit.Request(key, accelerator="v6e", topology="4x4", slices=1, key=key), now_ms=NOW)
        ledger.release(group, now_ms=NOW)
    one = ledger if target == "ledger" else ledger.snapshot().fork()
    one.forget(one.snapshot().group_by_key("a"), now_ms=NOW)
    one.forget_key("b", now_ms=NOW)
    for verb, known in ((one.forget, "a@1"), (one.forget_key, "b")):
        with pytest.raises(quoit.NotFoundError, match="'(a|b)'"):
            verb(known, now_ms=NOW)
    with pytest.raises(quoit.InvalidError, match="NAME@ID"):
        one.forget("c", now_ms=NOW)
    for verb, wrong in ((one.forget, 1), (one.forget_key, None), (one.forget_before, "now")):
        with pytest.raises(TypeError):
            verb(wrong, now_ms=NOW)
    assert one.forget_before(NOW, now_ms=NOW) == 0
    assert one.forget_before(NOW + 1, now_ms=NOW) == 1
    with pytest.raises(quoit.NotFoundError):
        one.snapshot().group_by_key("c")


def test_an_import_of_a_fork_is_that_of_its_ledger(ledger):
    fork = ledger.snapshot().fork()
    larger = quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4 x5", source="other")
    assert fork.import_input(larger, now_ms=NOW) == ledger.import_input(larger, now_ms=NOW)
    assert fork.snapshot().to_json() == ledger.snapshot().to_json()
    for one in (fork, ledger):
        one.reserve(request(5), now_ms=NOW)
        with pytest.raises(quoit.ConflictError, match="uses it"):
            one.import_input(quoit.Input(quoit.SourceKind.FLEET, "v6e 4x4 x1", source="other"), now_ms=NOW)
    assert fork.snapshot().to_json() == ledger.snapshot().to_json()


@pytest.mark.parametrize("target", ["ledger", "fork"])
def test_the_states_of_many_nodes_change_together(ledger, target):
    one = ledger if target == "ledger" else ledger.snapshot().fork()
    names = ["v6e-4x4-0-0", "v6e-4x4-1-2", "v6e-4x4-0-0"]

    def states():
        return [one.snapshot().lookup_node(name).state for name in names]

    one.drain_nodes(iter(names), now_ms=NOW)
    assert states() == [quoit.NodeState.DRAINING] * 3
    one.undrain_nodes(names[:1], now_ms=NOW)
    one.set_node_states(names[1:2], quoit.NodeState.DEAD, now_ms=NOW)
    one.drain_nodes([], now_ms=NOW)
    seq = one.snapshot().seq
    for refused, error in (
        (["v6e-4x4-2-0", "v6e-4x4-1-2"], quoit.ConflictError),
        (["v6e-4x4-2-0", "x"], quoit.NotFoundError),
    ):
        with pytest.raises(error):
            one.drain_nodes(refused, now_ms=NOW)
    for wrong in ("v6e-4x4-2-0", [1], None):
        with pytest.raises(TypeError, match="nodes"):
            one.drain_nodes(wrong, now_ms=NOW)
    assert one.snapshot().lookup_node("v6e-4x4-2-0").state == quoit.NodeState.ALIVE
    assert (states(), one.snapshot().seq) == ([quoit.NodeState.ALIVE, quoit.NodeState.DEAD, quoit.NodeState.ALIVE], seq)


@pytest.mark.parametrize("target", ["ledger", "fork"])
def test_leases_of_many_groups_change_together(ledger, target):
    one = ledger if target == "ledger" else ledger.snapshot().fork()
    groups = [
        one.hold(quoit.Request(name, accelerator="v6e", topology="4x4", slices=1), 1000, now_ms=NOW) for name in "ab"
    ]
    one.renew_groups((group for group in [*groups, "a"]), 2000, now_ms=NOW)
    one.renew_groups([], 3000, now_ms=NOW)
    before = one.snapshot()
    with pytest.raises(quoit.NotFoundError, match="'x'"):
        one.renew_groups(["a", "x"], 4000, now_ms=NOW)
    with pytest.raises(quoit.ExpiredError, match="'[ab]@"):
        one.renew_groups(groups, 4000, now_ms=NOW + 2000)
    for wrong in ("a", [1], None):
        with pytest.raises(TypeError, match="groups"):
            one.renew_groups(wrong, 4000, now_ms=NOW)
    assert one.snapshot().seq == before.seq
    assert {one.snapshot().lookup_group(name).until_ms for name in "ab"} == {NOW + 2000}


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("confirm", ("nobody",)),
        ("renew", ("nobody", 1)),
        ("release_slice", ("nobody", "v6e-4x4-0")),
        ("renew_owner", ("nobody", 1)),
        ("end_owner", ("nobody",)),
        ("release", ("nobody",)),
        ("resize", ("nobody", 2)),
        ("repair", ("nobody",)),
        ("set_node_state", ("nobody", quoit.NodeState.DEAD)),
    ],
)
def test_a_fork_refuses_unknown_names(ledger, verb, arguments):
    with pytest.raises(quoit.NotFoundError, match="'?nobody'?"):
        getattr(ledger.snapshot().fork(), verb)(*arguments, now_ms=NOW)


@pytest.mark.parametrize(
    ("verb", "arguments"),
    [
        ("reserve", ("train",)),
        ("hold", (request(), "1000")),
        ("hold", (request(), True)),
        ("release", (17,)),
        ("resize", ("train", 2.0)),
        ("set_node_state", ("v6e-4x4-0-0", 2)),
        ("sync_input", ("v6e 4x4 x2",)),
        ("import_input", ("v6e 4x4 x2",)),
    ],
)
def test_wrong_types_change_nothing(ledger, verb, arguments):
    fork = ledger.snapshot().fork()
    before = fork.snapshot().to_json()
    with pytest.raises(TypeError, match="expected a"):
        getattr(fork, verb)(*arguments, now_ms=NOW)
    assert fork.snapshot().to_json() == before


def test_calls_of_a_closed_fork_raise(ledger):
    fork = ledger.snapshot().fork()
    fork.close()
    fork.close()
    assert fork.is_closed
    for use in (fork.snapshot, fork.__enter__, lambda: fork.release("train", now_ms=NOW)):
        with pytest.raises(quoit.InvalidError, match="fork has been closed"):
            use()


def test_threads_can_share_a_fork(ledger):
    fork = ledger.snapshot().fork()
    taken, refused = [], []

    def caller(number):
        for turn in range(50):
            try:
                taken.append(fork.reserve(request(1, f"job-{number}-{turn}"), now_ms=NOW).id)
                fork.release(f"job-{number}-{turn}", now_ms=NOW)
            except quoit.NotNowError:
                refused.append(number)

    threads = [threading.Thread(target=caller, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(taken) + len(refused) == 300
    assert len(set(taken)) == len(taken) > 0
    fork.snapshot().check()
    assert all(group.state == quoit.GroupState.REMOVED for group in fork.snapshot().groups)


def test_a_fork_can_be_closed_while_other_threads_use_it(ledger):
    fork = ledger.snapshot().fork()
    ended = []

    def caller():
        while True:
            try:
                fork.snapshot().check()
            except quoit.InvalidError as error:
                ended.append(str(error))
                return

    threads = [threading.Thread(target=caller) for _ in range(4)]
    for one in threads:
        one.start()
    fork.close()
    for one in threads:
        one.join()
    assert ended == ["the fork has been closed"] * 4


@pytest.mark.parametrize("target", ["ledger", "fork"])
def test_estimates_and_priorities_end_nothing(ledger, target):
    one = ledger if target == "ledger" else ledger.snapshot().fork()
    wanted = quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, expected_runtime_ms=5_000, priority=-3)
    group = one.reserve(wanted, now_ms=NOW)
    assert (group.expected_end_ms, group.priority) == (NOW + 5_000, -3)
    later = one.set_expected_end("a", NOW + 1_000, now_ms=NOW + 60_000)
    assert (later.expected_end_ms, later.priority, later.state) == (NOW + 1_000, -3, quoit.GroupState.RESERVED)
    assert one.set_priority(later, 2**31 - 1, now_ms=NOW + 60_000).priority == 2**31 - 1
    seq = one.snapshot().seq
    assert one.set_expected_end("a", NOW + 1_000, now_ms=NOW + 60_000) == one.snapshot().lookup_group("a")
    assert one.set_expected_end("a", None, now_ms=NOW + 60_000).expected_end_ms is None
    assert one.snapshot().seq == seq + 1
    resized = one.resize("a", 1, now_ms=NOW + 60_000).after
    assert (resized.expected_end_ms, resized.priority) == (None, 2**31 - 1)
    for wrong in (NOW - 1, 1, -1, 7_258_118_400_000):
        with pytest.raises(quoit.InvalidError, match=f"expected end '{wrong}'"):
            one.set_expected_end("a", wrong, now_ms=NOW + 60_000)
    for wrong in (2**31, -(2**31) - 1):
        with pytest.raises(quoit.InvalidError, match="priority"):
            one.set_priority("a", wrong)
    with pytest.raises(quoit.InvalidError, match="expected run time '0'"):
        quoit.Request("b", expected_runtime_ms=0)
    with pytest.raises(quoit.InvalidError, match="ends before the year 2200"):
        one.reserve(
            quoit.Request("b", accelerator="v6e", topology="4x4", slices=1, expected_runtime_ms=2**62), now_ms=NOW
        )
    with pytest.raises(quoit.NotFoundError):
        one.set_priority("nobody", 1)
    if target == "ledger":
        one.verify()


def test_estimates_and_priorities_are_stored(tmp_path):
    with quoit.create(tmp_path / "fleet.db") as first:
        first.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        first.reserve(
            quoit.Request("a", accelerator="v6e", topology="4x4", slices=1, expected_runtime_ms=9, priority=7),
            now_ms=NOW,
        )
        first.set_expected_end("a", NOW + 99, now_ms=NOW)
        first.verify()
    with quoit.open(tmp_path / "fleet.db") as second:
        group = second.group("a")
        assert (group.expected_end_ms, group.priority) == (NOW + 99, 7)
        assert [change.verb for change in second.changes_since(2)] == ["update"]
