# SPDX-License-Identifier: Apache-2.0
"""Requests that exclude nodes, are kept to one pool or zone, spread over several, or near another group."""

import pickle

import pytest

import quoit
from quoit import Domain, Spread

NOW = 1_750_000_000_000

FLEET = "v6e 4x4 x2 pool=a zone=x; v6e 4x4 x3 pool=b zone=y; v6e 4x4 x3 pool=c zone=x"


@pytest.fixture
def target():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(FLEET, now_ms=NOW)
        yield ledger


def places(target, slices, **arguments):
    request = quoit.Request("t", accelerator="v6e", topology="4x4", slices=slices, **arguments)
    group = target.snapshot().fork().reserve(request, now_ms=NOW)
    return " ".join(one.name for one in group.slices)


def test_slices_are_kept_to_one_pool_or_zone(target):
    assert places(target, 2, keep_to=Domain.POOL) == "a-0 a-1"
    assert places(target, 3, keep_to=Domain.POOL) == "b-0 b-1 b-2"
    assert places(target, 4, keep_to=Domain.ZONE) == "a-0 c-0 c-1 c-2"
    assert places(target, 2, keep_to=Domain.NONE) == "a-0 a-1"
    with pytest.raises(quoit.NeverError) as caught:
        places(target, 4, keep_to=Domain.POOL)
    assert caught.value.report.reasons[0].constraint is quoit.Constraint.KEEP_TO


def test_slices_are_spread_over_pools_or_zones(target):
    assert places(target, 3, spread=Spread(Domain.POOL)) == "a-0 b-0 c-0"
    assert places(target, 2, spread=Spread(Domain.ZONE)) == "a-0 b-0"
    assert places(target, 4, spread=Spread(Domain.POOL, max_skew=2, min_domains=9)) == "a-0 a-1 b-0 c-0"
    with pytest.raises(quoit.NeverError) as caught:
        places(target, 4, spread=Spread(Domain.POOL, min_domains=9))
    assert caught.value.report.reasons[0].constraint is quoit.Constraint.SPREAD


def test_nodes_are_excluded(target):
    assert places(target, 1, excluded_nodes=["a-0-3"]) == "a-1"
    with pytest.raises(quoit.NotFoundError):
        places(target, 1, excluded_nodes=["nothing"])
    request = quoit.Request.from_bundles_file("b", '[{"TPU": 4}]', excluded_nodes=["a-0-0"])
    assert target.reserve(request, now_ms=NOW).bundles[0].node == "a-1-0"


def test_slices_are_near_another_group(target):
    other = target.reserve(quoit.Request("o", accelerator="v6e", topology="4x4", slices=1, pool="c"), now_ms=NOW)
    assert places(target, 3, near="o") == "a-0 c-1 c-2"
    assert places(target, 1, near=other.handle) == "c-1"
    with pytest.raises(quoit.NotFoundError):
        places(target, 1, near="nobody")
    with pytest.raises(quoit.ConflictError):
        places(target, 1, near=f"o@{other.id + 1}")


@pytest.mark.parametrize(
    "arguments",
    [
        {"keep_to": Domain.POOL, "spread": Spread(Domain.POOL)}, {"spread": Spread(Domain.POOL, max_skew=0)},
        {"spread": Spread(Domain.ZONE, min_domains=-1)}, {"spread": Spread(Domain.ZONE, max_skew=1_000_001)},
        {"near": "a/b"}, {"near": "x@y"}, {"near": ""},
    ],
)  # fmt: skip
def test_places_without_a_meaning_are_refused(target, arguments):
    with pytest.raises(quoit.InvalidError):
        places(target, 1, **arguments)
    target.verify()


def test_bundles_have_no_domains(target):
    for arguments in ({"keep_to": Domain.POOL}, {"spread": Spread(Domain.POOL)}, {"near": "o"}):
        with pytest.raises(quoit.InvalidError, match="expected a request for slices"):
            target.reserve(quoit.Request("b", bundles=["TPU=4"], **arguments), now_ms=NOW)


def test_a_spread_is_a_value():
    one = Spread(Domain.ZONE, max_skew=2, min_domains=3)
    assert one == Spread(Domain.ZONE, max_skew=2, min_domains=3) != Spread(Domain.POOL)
    assert hash(one) == hash(pickle.loads(pickle.dumps(one)))
    assert repr(one) == "Spread(Domain.ZONE, max_skew=2, min_domains=3)"
    assert one != 5
    for wrong in ("pool", 5, None):
        with pytest.raises(TypeError):
            quoit.Request("t", spread=wrong) if wrong is not None else Spread(wrong)
