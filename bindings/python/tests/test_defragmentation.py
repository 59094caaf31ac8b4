# SPDX-License-Identifier: Apache-2.0
"""Plans of moves: compared with all assignments of bundles on small fleets, and carried out with the public verbs."""

import itertools
import random

import pytest

import quoit

NOW = 1_790_000_000_000


def drawn_ledger(draw, pools=2, groups=4):
    """A fleet whose groups were released at random, so that the others are scattered."""
    ledger = quoit.open_memory()
    ledger.import_fleet_text(
        "; ".join(
            f"v6e {draw.choice(('4x4', '2x4'))} x{draw.randrange(1, 3)} pool=p{pool} hostchips=4"
            for pool in range(pools)
        ),
        now_ms=NOW,
    )
    names = []
    for number in range(groups * 3):
        strategy = draw.choice((quoit.Strategy.PACK, quoit.Strategy.SPREAD, quoit.Strategy.STRICT_SPREAD))
        bundles = [f"TPU={draw.choice((2, 4, 4))}"] * draw.randrange(1, 3)
        try:
            ledger.reserve(quoit.Request(f"g{number}", bundles=bundles, strategy=strategy), now_ms=NOW)
        except quoit.Error:
            break
        names.append(f"g{number}")
    draw.shuffle(names)
    for name in names[groups:]:
        ledger.release(name, now_ms=NOW)
    return ledger


def places(snapshot):
    """The node of each bundle, by group and bundle."""
    return {
        (f"{group.name}@{group.id}", bundle): placed.node
        for group in snapshot.groups
        for bundle, placed in enumerate(group.bundles)
    }


def free_chips(snapshot):
    return sum(
        (int(one.topology.split("x")[0]) * int(one.topology.split("x")[1]))
        for one in snapshot.slices
        if one.flags & quoit.SliceFlags.FREE
    )


def carry_out(ledger, plan):
    """Makes the moves with the public verbs."""
    names = [node.name for node in ledger.snapshot().nodes if slice_of(node, plan)]
    if names:
        ledger.drain_nodes(names, now_ms=NOW)
    for group in plan.groups:
        ledger.repair(group, now_ms=NOW)
    if names:
        ledger.undrain_nodes(names, now_ms=NOW)


def slice_of(node, plan):
    return any(node.full_name.rpartition("-")[0] == name for name in plan.slices)


@pytest.mark.parametrize("seed", range(60))
def test_the_verbs_make_exactly_the_moves(seed):
    ledger = drawn_ledger(random.Random(seed))
    before = ledger.snapshot()
    plan = before.plan_defragmentation()
    assert before.plan_defragmentation() == plan
    assert sum(move.gain for move in plan.moves) == plan.gain <= plan.gain_bound
    assert len(plan.moves) >= plan.moves_bound
    expected = places(before)
    for move in plan.moves:
        assert expected[move.group, move.bundle] == move.from_node != move.to_node
        expected[move.group, move.bundle] = move.to_node
    carry_out(ledger, plan)
    after = ledger.snapshot()
    after.check()
    assert places(after) == expected
    assert free_chips(after) - free_chips(before) == plan.gain


@pytest.mark.parametrize("seed", range(40))
def test_no_assignment_is_beyond_the_bounds(seed):
    """All assignments of bundles to nodes, which respect no strategy: what no moves can reach, no plan can."""
    draw = random.Random(1000 + seed)
    ledger = drawn_ledger(draw, groups=3)
    snapshot = ledger.snapshot()
    plan = snapshot.plan_defragmentation()
    bundles = list(places(snapshot).items())
    if len(bundles) > 5:
        pytest.skip("too many assignments")
    chips = {
        (f"{group.name}@{group.id}", index): int(float(placed.resources["TPU"]))
        for group in snapshot.groups
        for index, placed in enumerate(group.bundles)
    }
    nodes = [node.name for node in snapshot.nodes]
    members = [[node.name for node in one.nodes] for one in snapshot.slices]
    size = {tuple(names): 4 * len(names) for names in members}

    def free(used):
        return sum(n for names, n in size.items() if not used & set(names))

    start = free({node for _, node in bundles})
    reached = {}
    for assignment in itertools.product(nodes, repeat=len(bundles)):
        load = {}
        for (key, _), node in zip(bundles, assignment):
            load[node] = load.get(node, 0) + chips[key]
        if max(load.values(), default=0) > 4:
            continue
        moves = sum(node != old for (_, old), node in zip(bundles, assignment))
        gain = free(set(load)) - start
        reached[gain] = min(reached.get(gain, 99), moves)
    assert max(reached) <= plan.gain_bound
    fewest = min(moves for gain, moves in reached.items() if gain >= plan.gain)
    assert plan.moves_bound <= fewest <= len(plan.moves)
    if plan.state == quoit.DefragmentationState.BEST:
        assert (max(reached), fewest) == (plan.gain, len(plan.moves))


def scattered(slices, kept):
    ledger = quoit.open_memory()
    ledger.import_fleet_text(f"v6e 4x4 x{slices}", now_ms=NOW)
    for number in range(slices):
        ledger.reserve(quoit.Request(f"f{number}", bundles=["TPU=4"] * (4 - kept)), now_ms=NOW)
        ledger.reserve(quoit.Request(f"a{number}", bundles=["TPU=4"] * kept), now_ms=NOW)
    for number in range(slices):
        ledger.release(f"f{number}", now_ms=NOW)
    return ledger


@pytest.mark.parametrize("slices", [2, 4, 8, 24])
def test_scattered_bundles_are_gathered(slices):
    ledger = scattered(slices, 1)
    plan = ledger.snapshot().plan_defragmentation()
    before = free_chips(ledger.snapshot())
    assert (plan.state, before + plan.gain) == (
        quoit.DefragmentationState.BEST,
        16 * (slices - (slices + 3) // 4),
    )
    carry_out(ledger, plan)
    assert free_chips(ledger.snapshot()) == before + plan.gain


def test_a_budget_ends_the_search():
    plan = scattered(8, 1).snapshot().plan_defragmentation(steps=1)
    assert plan.state == quoit.DefragmentationState.FOUND
    assert len(plan.groups) <= 1 and plan.gain <= plan.gain_bound


def test_what_cannot_move_stays():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x3 pool=p busy=2.0", now_ms=NOW)
    ledger.reserve(quoit.Request("pinned", bundles=["TPU=4"], named=["p-0"]), now_ms=NOW)
    ledger.reserve(quoit.Request("whole", accelerator="v6e", topology="4x4", slices=1), now_ms=NOW)
    plan = ledger.snapshot().plan_defragmentation()
    assert (plan.gain, plan.moves, plan.slices, plan.groups) == (0, (), (), ())


def test_an_intact_fleet_needs_no_moves():
    ledger = quoit.open_memory()
    ledger.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
    assert ledger.snapshot().plan_defragmentation() == quoit.Defragmentation(
        quoit.DefragmentationState.BEST, 0, 0, 0, (), (), ()
    )


def test_cubes_move_to_other_blocks():
    ledger = quoit.open_memory()
    ledger.import_fleet_text(
        "v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x4 pool=b block=b; group one v5p 4x4x4 cubes=any slices=a:2;"
        " group two v5p 4x4x8 cubes=any slices=b:0,3",
        now_ms=NOW,
    )
    plan = ledger.snapshot().plan_joined_defragmentation("v5p", "4x8x8")
    assert (plan.state, plan.gain, plan.gain_bound, plan.moves_bound) == (quoit.DefragmentationState.BEST, 256, 256, 1)
    assert plan.moves == (quoit.BundleMove("one@1", 0, "a-2", "b-1", 256),)
    carry_out(ledger, plan)
    assert ledger.snapshot().count_joined_slots("v5p", "4x8x8")[0].least == 1
    with pytest.raises(quoit.InvalidError, match="cubes 'none'"):
        ledger.snapshot().plan_joined_defragmentation("v5p", "4x8x8", cubes=quoit.Cubes.NONE)
    with pytest.raises(quoit.NotFoundError, match="no block of v5p"):
        ledger.snapshot().plan_joined_defragmentation("v5p", "8x8x8")


def test_no_step_is_spent_on_a_slice_for_which_no_block_has_room():
    # Block b has room for one slice of two cubes only. So one of them and two single cubes leave block a.
    fleet = (
        "v5p 4x4x4 x10 pool=a block=a; v5p 4x4x4 x2 pool=b block=b; v5p 4x4x4 x1 pool=c block=c;"
        " v5p 4x4x4 x1 pool=d block=d; group one v5p 4x4x4 x2 cubes=any slices=a:8,9;"
        " group two v5p 4x4x8 cubes=any slices=a:4-5; group three v5p 4x4x8 cubes=any slices=a:6-7"
    )
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(fleet)
        plan = ledger.snapshot().plan_joined_defragmentation("v5p", "8x8x8", steps=2)
    assert (plan.state, plan.gain, plan.moves_bound) == (quoit.DefragmentationState.BEST, 512, 4)
    assert len(plan.moves) == 4 and len(plan.groups) == 2


def test_a_plan_whose_steps_end_does_not_claim_that_all_sets_were_tried():
    # Group one can move, but no block has room for the two cubes of group two.
    fleet = (
        "v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x3 pool=b block=b; v5p 4x4x4 x1 pool=c block=c;"
        " v5p 4x4x4 x1 pool=d block=d; v5p 4x4x4 x1 pool=e block=e;"
        " group one v5p 4x4x4 cubes=any slices=a:2; group three v5p 4x4x4 cubes=any slices=a:3;"
        " group two v5p 4x4x8 cubes=any slices=b:0-1"
    )
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text(fleet)
        snapshot = ledger.snapshot()
        plans = [
            snapshot.plan_joined_defragmentation("v5p", "4x4x12", cubes=quoit.Cubes.ANY, steps=steps)
            for steps in range(1, 50)
        ]
    complete = [plan for plan in plans if plan.state is quoit.DefragmentationState.ALL_TRIED]
    assert complete and all(plan == plans[-1] for plan in complete)
