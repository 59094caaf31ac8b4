# SPDX-License-Identifier: Apache-2.0
"""How the adapter changes the number of slices of a reservation, on a simulated Ray."""

import itertools
import json

import pytest
from rays import V4, live

import quoit
import quoit.ray
from quoit.ray import cluster, elastic, repairing
from quoit.ray.ledgers import get_ray_ledger


@pytest.fixture
def four(rays):
    """The simulated cluster with four slices."""
    rays.slices = "abcd"
    return rays


def reserve(path, num_slices, **options):
    return quoit.ray.slice_placement_group(**V4, num_slices=num_slices, ledger=path, **options)


def hosts(rays):
    """The number of bundles of each group of Ray, by name."""
    return {row["name"]: len(row["bundles"]) for row in rays.groups.values()}


def test_a_reservation_grows_and_shrinks(four, path):
    with reserve(path, 1, name="train") as slices:
        group = slices.group.handle
        for number in (3, 4, 2, 1):
            slices.resize(number)
            names = tuple(f"s-{name}" for name in "abcd"[:number])
            assert slices.slice_names == names and live(path) == [("RESERVED", names)]
            assert (slices.num_slices, slices.num_hosts, slices.num_bundles) == (number, 2 * number, 2 * number)
            assert hosts(four) == {"train": 2 * number} and slices.group.handle == group
            assert len(slices.bundle_label_selector) == 2 * number
    assert live(path) == [] and four.names() == [] and four.records == {}


def test_a_resize_gives_up_lost_slices_and_keeps_the_others(four, path):
    with reserve(path, 3) as slices:
        four.lose("b1")
        slices.resize(2)
        assert slices.slice_names == ("s-a", "s-c") and slices.state == quoit.GroupState.RESERVED
        four.lose("a0")
        slices.resize(2)
        assert slices.slice_names == ("s-c", "s-d") and slices.state == quoit.GroupState.RESERVED


def test_a_resize_without_a_change_keeps_the_placement_group(four, path):
    with reserve(path, 2) as slices:
        before = slices.placement_group
        slices.resize(2)
        assert slices.placement_group == before


def test_a_refused_resize_changes_nothing(four, path):
    with reserve(path, 2, name="train") as slices, reserve(path, 1, name="other"):
        before = live(path), slices.placement_group, dict(four.records)
        with pytest.raises(quoit.NotNowError, match="3 of 4 slices free, 1 short"):
            slices.resize(4)
        with pytest.raises(quoit.NeverError):
            slices.resize(5)
        assert (live(path), slices.placement_group, four.records) == before
        assert slices.num_slices == 2 and slices.state == quoit.GroupState.RESERVED


def test_a_resize_that_needs_a_free_slice_for_a_lost_one_is_refused_as_a_whole(four, path):
    with reserve(path, 2) as slices, reserve(path, 1):
        four.lose("b0")
        with pytest.raises(quoit.NotNowError):
            slices.resize(3)
        assert live(path)[0] == ("RESCHEDULING", ("s-a", "s-b"))


@pytest.mark.parametrize("number", [0, -1, True, "2", 1.5, None])
def test_a_number_that_is_no_count_is_refused(four, path, number):
    with reserve(path, 2) as slices:
        kind = quoit.InvalidError if type(number) is int else TypeError
        with pytest.raises(kind, match="num_slices"):
            slices.resize(number)
        assert live(path) == [("RESERVED", ("s-a", "s-b"))]


def test_placement_groups_of_slices_that_stay_are_kept_if_each_slice_has_its_own(four, path):
    with reserve(path, 2, name="train", pg_per_slice=True) as slices:
        first, second = slices.slice_placement_groups
        slices.resize(3)
        assert slices.slice_placement_groups[:2] == [first, second]
        third = slices.slice_placement_groups[2]
        four.lose("a0")
        slices.resize(2)
        assert slices.slice_names == ("s-b", "s-c") and slices.slice_placement_groups == [second, third]
        slices.resize(3)
        assert slices.slice_placement_groups[:2] == [second, third] and hosts(four) == dict.fromkeys(four.names(), 2)
        assert len(four.names()) == 3
    assert four.names() == [] and four.records == {}


def test_a_released_reservation_cannot_be_resized(four, path):
    slices = reserve(path, 1)
    slices.release()
    with pytest.raises(quoit.NotFoundError, match="was released"):
        slices.resize(2)


def test_another_handle_sees_the_new_number(four, path):
    with reserve(path, 1, key="k") as slices:
        other = quoit.ray.attach(key="k", ledger=path)
        slices.resize(3)
        assert other.state == quoit.GroupState.RESERVED
        assert (other.num_slices, other.placement_group) == (3, slices.placement_group)
        other.resize(2)
        assert slices.repair() and slices.num_slices == 2
        with pytest.raises(quoit.ConflictError, match="num_slices '1': expected num_slices '2'"):
            reserve(path, 1, key="k")


def test_selectors_are_repeated_for_new_slices(four, path):
    labels = [{"ray.io/tpu-pod-type": "v4-16"}] * 2
    with reserve(path, 1, bundle_label_selector=labels) as slices:
        slices.resize(2)
        assert [one["ray.io/tpu-pod-type"] for one in slices.bundle_label_selector] == ["v4-16"] * 4


def test_named_slices_cannot_be_resized(four, path):
    labels = [{"ray.io/tpu-slice-name": "s-c"}] * 2
    with reserve(path, 1, bundle_label_selector=labels) as slices:
        slices.resize(1)
        with pytest.raises(quoit.InvalidError, match="num_slices '2': expected 1"):
            slices.resize(2)
        assert slices.slice_names == ("s-c",)


@pytest.mark.parametrize("where", [
    (repairing, "compute_pins"), (cluster, "remove_groups"), (cluster, "create_group"), (cluster, "write_record"),
    (cluster, "wait_placed")], ids=lambda where: where[1]
)  # fmt: skip
@pytest.mark.parametrize("pg_per_slice", [False, True])
def test_an_interruption_after_the_ledgers_change_releases_everything(four, path, monkeypatch, where, pg_per_slice):
    slices = reserve(path, 2, name="train", pg_per_slice=pg_per_slice, lifetime="detached")
    real = getattr(*where)

    def interrupted(*arguments, **named):
        monkeypatch.setattr(*where, real)
        real(*arguments, **named)
        raise KeyboardInterrupt

    monkeypatch.setattr(*where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        slices.resize(3)
    assert live(path) == [] and four.names() == [] and four.records == {}
    assert slices.state == quoit.GroupState.REMOVED


def test_every_change_keeps_as_many_intact_slices_as_possible():
    names = ["v4-2x2x2-%d" % index for index in range(4)]
    n_cases = 0
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v4 2x2x2 x4")
        for had, wanted in itertools.product(range(1, 4), range(1, 5)):
            for dead in itertools.chain.from_iterable(itertools.combinations(names, n) for n in range(5)):
                with ledger.snapshot().fork() as fork:
                    before = fork.reserve(quoit.Request("job", accelerator="v4", topology="2x2x2", slices=had))
                    fork.set_node_states([f"{name}-0" for name in dead], quoit.NodeState.DEAD)
                    intact = {one.name for one in before.slices} - set(dead)
                    n_possible = len(set(names) - set(dead))
                    try:
                        after = elastic.change_slices(fork, before, wanted)
                        kept = {one.name for one in after.slices} & intact
                        assert len(after.slices) == wanted == elastic.count_intact(after)
                        assert len(kept) == min(wanted, len(intact)) and n_possible >= wanted
                    except quoit.NotNowError:
                        assert n_possible < wanted
                    n_cases += 1
    assert n_cases == 3 * 4 * 16


def test_slices_keep_their_index_if_it_still_exists():
    names = "abcd"
    orders = [list(one) for size in range(5) for one in itertools.permutations(names, size)]
    for before, after in itertools.product(orders, orders):
        kept = elastic.keep_places(before, after)
        assert sorted(kept) == sorted(after)
        for index, name in enumerate(before):
            if name in after and index < len(after):
                assert kept[index] == name
        others = [name for name in after if name not in before or before.index(name) >= len(after)]
        assert [name for name in kept if name in others] == others


def count(path, group=None, least=1, most=4, **options):
    shape = elastic.slice_shape("2x2x2", "TPU-V4", {"TPU": 4, "CPU": 1}, options)
    return elastic.count_slices(get_ray_ledger(path), shape, group, least, most)


def test_the_possible_size_counts_kept_and_free_slices(four, path):
    assert count(path) == 4
    with reserve(path, 2) as slices, reserve(path, 1):
        assert count(path) == 1 and count(path, slices.group) == 3
        assert count(path, least=2) == 0 and count(path, slices.group, 3) == 3
        assert count(path, slices.group, most=2) == 2
        four.lose("a0")
        quoit.ray.sync(path)
        assert count(path, slices.group) == 2 and count(path, slices.group, least=3) == 0
        assert live(path)[0] == ("RESCHEDULING", ("s-a", "s-b"))


def test_a_size_that_never_fits_raises(four, path):
    with pytest.raises(quoit.NeverError):
        count(path, least=5, most=6)
    assert count(path, most=6) == 4


def test_the_possible_size_respects_selectors(four, path):
    labels = {"ray.io/tpu-pod-type": "v4-16"}
    assert count(path, bundle_label_selector=[labels] * 8) == 4
    with pytest.raises(quoit.NeverError):
        count(path, bundle_label_selector=[{"zone": "other"}] * 8)


def test_the_record_has_the_new_number(four, path):
    with reserve(path, 1, name="train") as slices:
        slices.resize(2)
        (record,) = [json.loads(record) for record in four.records.values()]
        assert record["arguments"]["num_slices"] == 2 and len(record["selectors"]) == 4
