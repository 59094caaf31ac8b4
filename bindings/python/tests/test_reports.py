# SPDX-License-Identifier: Apache-2.0
"""Explanations of refusals."""

import dataclasses
import pickle

import pytest

import quoit

NOW = 1_800_000_000_000


def get_ray_ledger(fleet):
    ledger = quoit.open_memory()
    ledger.import_fleet_text(fleet, now_ms=NOW)
    return ledger


def slices(n_slices, name="train", **arguments):
    return quoit.Request(name, accelerator="v6e", topology="4x4", slices=n_slices, **arguments)


def test_a_request_that_fits_has_the_verdict_fits():
    report = get_ray_ledger("v6e 4x4 x3").snapshot().explain(slices(2))
    assert (report.verdict, report.n_wanted, report.n_free_now, report.n_possible) == (quoit.Verdict.FITS, 2, 3, 3)
    assert (report.reasons, report.options, report.misses) == ((), (), ())
    assert (report.bundle, report.is_of_bundles, report.ray_answer) == (None, False, quoit.RayAnswer.NONE)
    assert report.is_proven


def test_a_refusal_has_reasons_and_options():
    ledger = get_ray_ledger("v6e 4x4 x3")
    group = ledger.reserve(slices(2), now_ms=NOW)
    report = ledger.snapshot().explain(slices(2, "other"))
    assert (report.verdict, report.n_wanted, report.n_free_now, report.n_possible) == (quoit.Verdict.NOT_NOW, 2, 1, 3)
    (reason,) = report.reasons
    assert (reason.constraint, reason.before, reason.after) == (quoit.Constraint.ALLOCATED, 3, 1)
    assert reason.text.startswith("2 of 3 slices are allocated")
    fewer = quoit.Step(quoit.StepKind.FEWER_SLICES, n_slices=1)
    release = quoit.Step(quoit.StepKind.RELEASE, group=group.handle)
    assert {fewer, release} <= {step for option in report.options for step in option.steps}
    texts = [option.text for option in report.options if release in option.steps]
    assert texts == [f"release {group.handle}"]


def test_each_order_has_its_best_option():
    ledger = get_ray_ledger("v6e 4x4 x7")
    ledger.reserve(slices(4, "big"), now_ms=NOW)
    ledger.reserve(slices(2, "two", lease_ms=600_000), now_ms=NOW)
    ledger.reserve(slices(1, "one", lease_ms=60_000), now_ms=NOW)
    report = ledger.snapshot().explain(slices(3, "other"))
    earliest, groups, chips = (report.best_option(order) for order in quoit.OptionOrder)
    assert (earliest.time_ms, earliest.n_groups, earliest.chips) == (NOW + 600_000, 0, "0")
    assert {step.kind for step in earliest.steps} == {quoit.StepKind.LEASE_ENDS}
    assert (groups.text, groups.time_ms, groups.n_groups, groups.chips) == ("release big@1", None, 1, "64")
    assert (chips.text, chips.n_groups, chips.chips) == ("release two@2 and release one@3", 2, "48")
    assert all(best.is_proven and best.option in report.options for best in report.best_options)
    assert pickle.loads(pickle.dumps(report)) == report
    assert ledger.snapshot().explain(slices(9)).best_option(quoit.OptionOrder.EARLIEST) is None


def test_nothing_waits_for_the_lease_of_an_owner():
    ledger = get_ray_ledger("v6e 4x4 x1")
    ledger.set_owner("ana", lease_ms=60_000, now_ms=NOW)
    ledger.reserve(slices(1, "job", owner="ana"), now_ms=NOW)
    report = ledger.snapshot().explain(slices(1))
    assert [option.text for option in report.options] == ["release job@2"]
    ledger.set_expected_end("job", end_ms=NOW + 1000, now_ms=NOW)
    (step,) = ledger.snapshot().explain(slices(1)).best_option(quoit.OptionOrder.EARLIEST).steps
    assert step == quoit.Step(quoit.StepKind.EXPECTED_END, group="job@2", until_ms=NOW + 1000)


@pytest.mark.parametrize(
    ("fleet", "constraint", "step"),
    [
        ("v6e 4x4 x2 dead=0.1", quoit.Constraint.INTACT, quoit.Step(quoit.StepKind.NODE_ALIVE, node="v6e-4x4-0-1")),
        ("v6e 4x4 x2 draining=1.3", quoit.Constraint.DRAINING, quoit.Step(quoit.StepKind.UNDRAIN, node="v6e-4x4-1-3")),
        (
            "v6e 4x4 x2 busy=1.2",
            quoit.Constraint.EXTERNAL,
            quoit.Step(quoit.StepKind.EXTERNAL_ENDS, node="v6e-4x4-1-2"),
        ),
    ],
)
def test_each_obstacle_has_a_constraint_and_an_option(fleet, constraint, step):
    report = get_ray_ledger(fleet).snapshot().explain(slices(2))
    assert report.verdict == quoit.Verdict.NOT_NOW
    assert constraint in {reason.constraint for reason in report.reasons}
    assert (step,) in {option.steps for option in report.options}


def test_bundles_are_explained_by_nodes():
    ledger = get_ray_ledger("v6e 4x4 x1")
    report = ledger.snapshot().explain(quoit.Request("wide", bundles=["TPU=2", "TPU=8"]))
    assert (report.verdict, report.n_wanted, report.bundle) == (quoit.Verdict.NEVER, 2, 1)
    assert report.is_of_bundles
    assert report.ray_answer == quoit.RayAnswer.INFEASIBLE
    assert {(miss.resource, miss.available, miss.requested) for miss in report.misses} == {("TPU", "4", "8")}
    assert 1 <= len(report.misses) <= 3


def test_a_report_shows_whether_rays_answer_can_vary():
    fleet = get_ray_ledger("v6e 4x4 x1").snapshot()
    free = fleet.explain(quoit.Request("any", bundles=["TPU=4"]))
    bound = fleet.explain(quoit.Request("head", bundles=["TPU=4,TPU-v6e-16-head=1"]))
    assert (free.ray_answer, free.can_ray_answer_vary, free.is_proven) == (quoit.RayAnswer.SUCCESS, True, True)
    assert (bound.ray_answer, bound.can_ray_answer_vary, bound.is_proven) == (quoit.RayAnswer.SUCCESS, False, True)


def test_the_summary_begins_with_the_given_text():
    report = get_ray_ledger("v6e 4x4 x1").snapshot().explain(slices(2))
    assert report.summary("two slices").startswith("two slices: never, ")
    assert report.summary("") == report.summary("x")[1:]
    with pytest.raises(TypeError, match="what: expected a str"):
        report.summary(2)


def test_the_summary_is_the_message_of_the_refused_call_and_an_option():
    ledger = get_ray_ledger("v6e 4x4 x1")
    with pytest.raises(quoit.NeverError) as refused:
        ledger.reserve(slices(2), now_ms=NOW)
    report = ledger.snapshot().explain(slices(2))
    assert report.summary("2 x v6e 4x4") == f"{refused.value}; would help: {report.options[0].text}"


def test_the_report_of_a_refusal_is_about_the_fleet_that_refused():
    ledger = get_ray_ledger("v6e 4x4 x1")
    expected = ledger.snapshot().explain(slices(2))
    with pytest.raises(quoit.NeverError) as refused:
        ledger.reserve(slices(2), now_ms=NOW)
    with pytest.raises(quoit.NeverError) as unread:
        ledger.reserve(slices(2), now_ms=NOW)
    ledger.reserve(slices(1), now_ms=NOW)
    assert pickle.loads(pickle.dumps(unread.value)).report == expected
    assert refused.value.report == expected
    assert refused.value.report is refused.value.report


def test_the_text_of_an_option_with_many_steps_is_short():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4 x150", now_ms=NOW)
        for number in range(150):
            ledger.reserve(slices(1, f"a-group-with-a-rather-long-name-{number}"), now_ms=NOW)
        with pytest.raises(quoit.NotNowError) as refused:
            ledger.reserve(slices(150), now_ms=NOW)
    option = refused.value.report.options[0]
    assert len(option.steps) == 150 and len(option.text) < 2048
    assert option.text.startswith("release a-group") and option.text.endswith(" more steps")
    assert str(refused.value).startswith("150 x v6e 4x4: not now, 0 of 150 slices free, 150 short; 150 of 150 slices")


def test_a_request_is_tested_without_a_report():
    snapshot = get_ray_ledger("v6e 4x4 x2").snapshot()
    assert snapshot.test(slices(2)) == (quoit.Verdict.FITS, 2)
    assert snapshot.test(slices(3)) == (quoit.Verdict.NEVER, 2)
    with pytest.raises(quoit.InvalidError, match="expected whole slices"):
        snapshot.test(quoit.Request("x", bundles=[{"TPU": 4}]))
    with pytest.raises(quoit.NotFoundError, match="no pool 'none'"):
        snapshot.test(quoit.Request("x", accelerator="v6e", topology="4x4", slices=1, pool="none"))


def test_the_report_of_a_refusal_in_a_batch_is_about_the_moment_of_the_refusal():
    with quoit.open_memory() as ledger:
        ledger.import_fleet_text("v6e 4x4 x2", now_ms=NOW)
        ledger.reserve(slices(1, "one"), now_ms=NOW)
        with ledger.batch():
            ledger.reserve(slices(1, "two"), now_ms=NOW)
            with pytest.raises(quoit.NotNowError) as refused:
                ledger.reserve(slices(1, "x"), now_ms=NOW)
            ledger.release("one", now_ms=NOW)
            ledger.release("two", now_ms=NOW)
            ledger.reserve(slices(2, "later"), now_ms=NOW)
            assert refused.value.report.options[0].text == "release one@1"


def test_a_verdict_has_the_number_of_its_error_code():
    ledger = get_ray_ledger("v6e 4x4 x2")
    ledger.reserve(slices(1), now_ms=NOW)
    for n_slices, kind in ((2, quoit.NotNowError), (3, quoit.NeverError)):
        with pytest.raises(kind) as refused:
            ledger.reserve(slices(n_slices, "other"), now_ms=NOW)
        assert ledger.snapshot().explain(slices(n_slices, "other")).verdict == refused.value.code


def test_only_waiting_groups_can_be_explained():
    ledger = get_ray_ledger("v6e 4x4 x1")
    group = ledger.reserve(quoit.Request("train", bundles=["TPU=4"] * 4), now_ms=NOW)
    with pytest.raises(quoit.ConflictError):
        ledger.snapshot().explain_group(group)
    ledger.set_node_state(group.bundles[0].node, quoit.NodeState.DEAD, now_ms=NOW)
    report = ledger.snapshot().explain_group("train")
    assert (report.verdict, report.n_wanted) == (quoit.Verdict.NOT_NOW, 1)
    with pytest.raises(quoit.NotFoundError):
        ledger.snapshot().explain_group("nobody")


def test_invalid_requests_cannot_be_explained():
    snapshot = get_ray_ledger("v6e 4x4 x1").snapshot()
    with pytest.raises(quoit.InvalidError):
        snapshot.explain(quoit.Request("train"))
    with pytest.raises(quoit.NotFoundError, match="'elsewhere'"):
        snapshot.explain(slices(1, pool="elsewhere"))
    with pytest.raises(TypeError, match="expected a quoit.Request"):
        snapshot.explain("train")


def test_a_report_can_be_compared_and_pickled():
    report = get_ray_ledger("v6e 4x4 x1 busy=0").snapshot().explain(slices(1))
    again = pickle.loads(pickle.dumps(report))
    assert again == report
    assert hash(again) == hash(report)
    assert again.summary("x") == report.summary("x")
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.n_free_now = 7
