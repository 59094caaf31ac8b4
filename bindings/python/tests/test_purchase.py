# SPDX-License-Identifier: Apache-2.0
"""Purchases, from text and from objects; the costs are compared with a search of all choices."""

import itertools
import random

import pytest

import quoit

NOW = 1_790_000_000_000


def snapshot_of(fleet):
    ledger = quoit.open_memory()
    ledger.import_fleet_text(fleet, now_ms=NOW)
    return ledger.snapshot()


def request(name="q", topology="4x4", slices=1, **arguments):
    return quoit.Request(name, accelerator="v6e", topology=topology, slices=slices, **arguments)


def test_a_purchase_has_all_its_numbers():
    queue = [request(slices=2), request(topology="8x8", alternatives=[request(slices=3)])]
    prices = [
        quoit.Price("v6e", "4x4", "4.5/hour", max_slices=9),
        quoit.Price("v6e", "8x8", "20/hour", chips_per_host=4),
    ]
    purchase = snapshot_of("v6e 4x4 x1").plan_purchase(queue, prices)
    assert purchase == quoit.Purchase(
        quoit.PurchaseState.CHEAPEST,
        "18",
        "18",
        "hour",
        (
            quoit.PurchaseClass("v6e", "4x4", 4, 2, 1, 1, 5, 4, 9, "4.5"),
            quoit.PurchaseClass("v6e", "8x8", 4, 1, 0, 1, 0, 0, 1_000_000, "20"),
        ),
        (0, 1),
        ("v6e 4x4 x 2 hostchips=4", "v6e 4x4 x 3 hostchips=4"),
    )
    assert [
        one.free for one in snapshot_of("v6e 4x4").plan_purchase(queue, start=quoit.PurchaseStart.NOTHING).classes
    ] == [
        0,
        0,
    ]


def test_a_purchase_of_cubes_has_all_its_numbers():
    snapshot = snapshot_of("v5p 4x4x4 x3 block=a")
    queue = "v5p 4x4x8 x 1 cubes=adjacent\nv5p 4x4x8 x 2 cubes=any"
    prices = [
        quoit.CubePrice("v5p", "fleet/a", "5", max_cubes=1),
        quoit.BlockPrice("v5p", "20", grid="1x1x2"),
        quoit.BlockPrice("v5p", "90", cubes=8, max_blocks=1),
    ]
    purchase = snapshot.plan_purchase(queue, prices)
    assert purchase.cost == "25"
    assert [(one.cubes, one.free, one.bought) for one in purchase.classes] == [
        (quoit.Cubes.ADJACENT, 0, 0),
        (quoit.Cubes.ANY, 1, 0),
    ]
    assert purchase.blocks == (
        quoit.PurchaseBlock("v5p", "fleet/a", None, 1, 3, 4, 1, 1, "5", ((1, 2),)),
        quoit.PurchaseBlock("v5p", None, "1x1x2", 2, 0, 2, 1, 1_000_000, "20", ((0, 1),)),
        quoit.PurchaseBlock("v5p", None, None, 8, 0, 0, 0, 1, "90"),
    )
    text = "v5p 4x4x4 5 block=a limit=1\nv5p 4x4x4 20 grid=1x1x2\nv5p 4x4x4 90 cubes=8 limit=1"
    assert snapshot.plan_purchase(queue, text) == purchase
    with pytest.raises(quoit.NotFoundError, match="block 'b': expected a block of v5p"):
        snapshot.plan_purchase(queue, [quoit.CubePrice("v5p", "b", "5")])
    with pytest.raises(quoit.InvalidError, match="new block of '0' cubes"):
        snapshot.plan_purchase(queue, [quoit.BlockPrice("v5p", "5")])
    with pytest.raises(quoit.InvalidError, match="generation 'v6e': expected one with cubes"):
        snapshot.plan_purchase(queue, [quoit.CubePrice("v6e", "a", "5")])


def test_text_and_objects_have_the_same_answer():
    snapshot = snapshot_of("v6e 4x4 x1")
    text = 'v6e 4x4 x 2 # two\nv6e 8x8 x 1 else="v6e 4x4 x 3"\n'
    objects = [request(slices=2), request(topology="8x8", alternatives=[request(slices=3)])]
    prices = [quoit.Price("v6e", "4x4", "4"), quoit.Price("v6e", "8x8", "20", max_slices=0)]
    assert snapshot.plan_purchase(text, "v6e 4x4 4\nv6e 8x8 20 limit=0") == snapshot.plan_purchase(objects, prices)


def test_what_cannot_be_bought_is_impossible():
    purchase = snapshot_of("v6e 4x4 x1").plan_purchase("v6e 4x4 x 2", "")
    assert (purchase.state, purchase.cost, purchase.classes[0].price) == (quoit.PurchaseState.IMPOSSIBLE, "0", None)


CLASSES = ["2x2", "4x4", "8x8"]


@pytest.mark.parametrize("seed", range(30))
def test_drawn_purchases_are_the_cheapest(seed):
    draw = random.Random(seed)
    free = [draw.randrange(3) for _ in CLASSES]
    limit = [draw.choice((None, 0, 2)) for _ in CLASSES]
    price = [draw.randrange(1, 20) for _ in CLASSES]
    queue = [
        [(draw.randrange(len(CLASSES)), draw.randrange(1, 4)) for _ in range(draw.randrange(1, 4))]
        for _ in range(draw.randrange(1, 6))
    ]
    fleet = "; ".join(f"v6e {shape} x{n}" for shape, n in zip(CLASSES, free) if n) or "v4 2x2x1"
    hosts = {"2x2": 4, "4x4": 4, "8x8": 4}  # a 2x2 of the fleet is one host of four chips
    requests = []
    for options in queue:
        made = [request("q", CLASSES[kind], n, chips_per_host=hosts[CLASSES[kind]]) for kind, n in options]
        kind, n = options[0]
        requests.append(request("q", CLASSES[kind], n, chips_per_host=hosts[CLASSES[kind]], alternatives=made[1:]))
    prices = [
        quoit.Price("v6e", shape, str(cost), chips_per_host=hosts[shape], max_slices=most)
        for shape, cost, most in zip(CLASSES, price, limit)
    ]

    def cost_of(choice):
        taken = [sum(n for kind, n in choice if kind == at) for at in range(len(CLASSES))]
        bought = [max(one - there, 0) for one, there in zip(taken, free)]
        if any(most is not None and one > most for one, most in zip(bought, limit)):
            return None
        return sum(one * cost for one, cost in zip(bought, price))

    costs = [cost for cost in map(cost_of, itertools.product(*queue)) if cost is not None]
    purchase = snapshot_of(fleet).plan_purchase(requests, prices)
    assert purchase.state == (quoit.PurchaseState.CHEAPEST if costs else quoit.PurchaseState.IMPOSSIBLE)
    assert purchase.cost == str(min(costs, default=0))


def test_bad_input_is_refused():
    snapshot = snapshot_of("v6e 4x4")
    with pytest.raises(quoit.InvalidError, match="line 2: price 'x'"):
        snapshot.plan_purchase("", "v6e 4x4 1\nv6e 8x8 x")
    with pytest.raises(quoit.InvalidError, match="line 1: request 'x'"):
        snapshot.plan_purchase("x")
    with pytest.raises(quoit.InvalidError, match="request with 'pool'"):
        snapshot.plan_purchase([request(pool="p")])
    with pytest.raises(quoit.InvalidError, match="one price for each class"):
        snapshot.plan_purchase([], [quoit.Price("v6e", "4x4", "1"), quoit.Price("v6e", "4x4", "2")])
    with pytest.raises(TypeError, match="expected a sequence of Price, CubePrice or BlockPrice, not of str"):
        snapshot.plan_purchase([], ["v6e"])
