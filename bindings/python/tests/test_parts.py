# SPDX-License-Identifier: Apache-2.0
"""Requests that may be cut."""

import pytest

import quoit
from quoit import Cut, PlacePolicy, Request

NOW = 1_800_000_000_000


@pytest.fixture
def ledger():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 8x8 x1 pool=p hostchips=4; v4 4x4x4 x1 pool=q", now_ms=NOW)
        yield ledger


def request(name, topology, slices, cut, accelerator="v6e", **more):
    return Request(name, accelerator=accelerator, topology=topology, slices=slices, cut=cut, **more)


def places(group):
    return [one.part for one in group.slices]


def test_parts_say_where_they_are(ledger):
    group = ledger.reserve(request("g", "4x8", 2, Cut.ANY), now_ms=NOW)
    assert places(group) == [((0, 0, 0), (4, 8, 1)), ((4, 0, 0), (4, 8, 1))]
    assert [one.name for one in group.slices[1].workers] == [f"p-0-{i}" for i in (2, 3, 6, 7, 10, 11, 14, 15)]
    assert group.request == "v6e 4x8 x 2 cut=any"
    whole = ledger.reserve(Request("w", accelerator="v4", topology="4x4x4", slices=1), now_ms=NOW)
    assert places(whole) == [None]


def test_a_part_is_a_slice_of_the_job(ledger):
    group = ledger.reserve(request("g", "2x2x2", 3, Cut.PARTITION, "v4"), now_ms=NOW)
    topology = quoit.topology(group)
    assert [(one.slice_id, one.environment["TPU_WORKER_ID"]) for one in topology.processes] == [
        (slice_id, worker) for slice_id in range(3) for worker in ("0", "1")
    ]
    assert {one.environment["TPU_PROCESS_BOUNDS"] for one in topology.processes} == {"1,1,2"}


def test_answers_count_parts(ledger):
    snapshot = ledger.snapshot()
    report = snapshot.explain(request("x", "4x4", 5, Cut.ANY))
    assert (report.verdict, report.n_free_now, report.n_possible) == (quoit.Verdict.NEVER, 4, 4)
    ledger.reserve(request("g", "4x4", 3, Cut.ANY, lease_ms=60_000), now_ms=NOW)
    start = ledger.snapshot().find_start(request("x", "4x4", 2, Cut.ANY), now_ms=NOW)
    assert start.time_ms == NOW + 60_000
    with pytest.raises(quoit.NotNowError, match="1 of 2 slices free"):
        ledger.reserve(request("x", "4x4", 2, Cut.ANY), now_ms=NOW)


def test_policies(ledger):
    for place in PlacePolicy:
        group = ledger.reserve(request(place.name, "2x2", 1, Cut.ANY, place=place), now_ms=NOW)
        text = "" if place == PlacePolicy.BEST else f" place={place.name.lower()}"
        assert group.request == "v6e 2x2 x 1 cut=any" + text


def test_requests_that_cannot_be_cut_are_refused(ledger):
    for wrong, message in (
        (request("x", "4x4", 1, Cut.PARTITION), "expected a generation with cubes"),
        (request("x", "2x2x1", 1, Cut.ANY, "tpu7x"), "expected 'partition' or 'whole'"),
        (request("x", "4x4", 1, Cut.ANY, near="g"), "near a group"),
        (
            Request("x", accelerator="v6e", topology="4x4", slices=1, place=PlacePolicy.PACK),
            "expected a request that may",
        ),
        (Request("x", bundles=["TPU=4"], cut=Cut.ANY), "expected a request for slices"),
    ):
        with pytest.raises(quoit.InvalidError, match=message):
            ledger.reserve(wrong, now_ms=NOW)
    with pytest.raises(TypeError, match="cut: expected a Cut"):
        request("x", "4x4", 1, 9)
