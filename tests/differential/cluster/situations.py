# SPDX-License-Identifier: Apache-2.0
"""Situations on shared TPU clusters and their expected outcomes.

A situation is a function that takes a stage, runs the callers that its title describes and returns an Outcome. It is
played once per side. `claims` are sentences that are true or false of the result. All must be true for quoit. The
outcome of Ray's own helper is not checked, only shown in the table.
"""

import collections
import statistics
import time

import quoit
from stage import THREE_V4_SLICES, TWO_V6E_SLICES

Outcome = collections.namedtuple("Outcome", "summary seconds claims")
Situation = collections.namedtuple("Situation", "name title setup smoke play")
SITUATIONS = []

# How long a caller waits for allocated slices, and how long a job runs.
PATIENCE_S = 5
JOB_S = 0.5
TRIES = 6
# A call that does not wait must take less time than one that waits in vain, even on a busy machine.
AT_ONCE_S = PATIENCE_S


def situation(title, setup, smoke=False):
    def add(play):
        SITUATIONS.append(Situation(play.__name__.replace("_", "-"), title, setup, smoke, play))
        return play

    return add


def served(answers):
    return [answer for answer in answers if answer.error is None]


def refused(answers):
    return [answer for answer in answers if answer.error is not None]


def seconds(value):
    return "%.1f s" % value if value >= 0.095 else "%.0f ms" % (1000 * value)


def refusal(error, took):
    """Describes calls that ended with `error`."""
    if error == "NeverPlaced":
        return "given a slice where nothing can run"
    return "`%s` after %s" % (error, seconds(max(took)))


def summarize(answers):
    """Formats `2 of 3 served; TimeoutError after 4.0 s`."""
    by_error = collections.defaultdict(list)
    for answer in refused(answers):
        by_error[answer.error].append(answer.seconds)
    return "; ".join(
        ["%d of %d served" % (len(served(answers)), len(answers))]
        + [
            ("" if len(took) == 1 else "%d times " % len(took)) + refusal(error, took)
            for error, took in by_error.items()
        ]
    )


def summarize_one(answer):
    """Formats `served after 0.1 s`."""
    return (
        "served after %s" % seconds(answer.seconds) if answer.error is None else refusal(answer.error, [answer.seconds])
    )


def longest(answers):
    return max(answer.seconds for answer in answers)


def is_whole(answer, shape):
    """Whether each slice has all its hosts, and bundle i is on worker i."""
    return answer.hosts == ["%s/%d" % (name, worker) for name in answer.value for worker in range(shape.hosts)]


def whole(answers, shape):
    return (
        "each served caller has whole slices, bundle i is worker i, and the ledger agrees",
        all(is_whole(a, shape) and a.recorded for a in served(answers)),
    )


def refusals_give(answers, *words):
    """Whether every refusal reports that nothing is free now, and contains `words`."""
    return (
        "each refusal gives the reason: %s" % ", ".join(words),
        all(a.error == "SlicesNotFreeError" and all(word in a.message for word in words) for a in refused(answers)),
    )


def is_free_again(stage):
    """Checks that nothing is allocated after all callers ended."""
    stage.leave(list(stage.present))
    try:  # noqa: SIM105
        stage.wait_until_free()
    except TimeoutError:
        pass
    try:
        left = stage.observer.left_behind()
    except quoit.Error as error:
        left = [error]
    return ("nothing is allocated after all callers ended (%s)" % (", ".join(map(str, left)) or "nothing"), not left)


def tries_of_one(stage, caller, n):
    """Reserves and releases one slice n times."""
    answers = []
    for _ in range(n):
        answers.append(caller("reserve", slices=1, timeout_s=PATIENCE_S))
        if answers[-1].error is None:
            caller("release")
            stage.wait_until_free_of(answers[-1].hosts)
    return answers


@situation("Two callers want two of three slices each, and a third one wants one", THREE_V4_SLICES)
def two_of_three(stage):
    *both, third = stage.callers(3)
    stage.ask_together(both, "reserve", slices=2, timeout_s=PATIENCE_S)
    stage.wait_for_any(both)
    small = third("reserve", slices=1, timeout_s=PATIENCE_S / 4)
    answers = [caller.answer() for caller in both]
    return Outcome(
        "%s; who wants one: %s" % (summarize(answers), summarize_one(small)),
        longest([*answers, small]),
        [
            ("one of the two is served", len(served(answers)) == 1),
            refusals_give(answers, "slices are allocated to groups"),
            ("the remaining slice can be reserved", small.error is None),
            whole([*answers, small], stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation(
    "Three callers want two of three slices each, and give them back when their job is done",
    THREE_V4_SLICES,
    smoke=True,
)
def three_of_three(stage):
    answers = stage.together(stage.callers(3), "reserve", slices=2, timeout_s=PATIENCE_S, work_s=JOB_S)
    return Outcome(
        summarize(answers),
        longest(answers),
        [
            ("all are served, one after the other", len(served(answers)) == 3),
            whole(answers, stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation("Two callers want both of two slices, and give them back when their job is done", TWO_V6E_SLICES)
def two_of_two(stage):
    answers = stage.together(stage.callers(2), "reserve", slices=2, timeout_s=PATIENCE_S, work_s=JOB_S)
    return Outcome(
        summarize(answers),
        longest(answers),
        [
            ("both are served, one after the other", len(served(answers)) == 2),
            whole(answers, stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation("One slice is idle and has lost a host, the other is intact: one is asked for, six times", TWO_V6E_SLICES)
def dead_host(stage):
    (caller,) = stage.callers(1)
    lost = "s-a/1"
    stage.lose(lost)
    answers = tries_of_one(stage, caller, TRIES)
    both = caller("reserve", slices=2, timeout_s=0)
    return Outcome(
        "%s; both slices: %s" % (summarize(answers), summarize_one(both)),
        longest(answers),
        [
            ("the intact slice is reserved every time", [a.value for a in answers] == [["s-b"]] * TRIES),
            ("no caller waits", longest(answers) < AT_ONCE_S),
            ("both slices cannot be reserved", both.error is not None),
            refusals_give([both], stage.address(lost)),
            whole(answers, stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation(
    "A caller has two of three slices and has released their heads, as is documented; another wants one, six times",
    THREE_V4_SLICES,
)
def released_head(stage):
    holder, caller = stage.callers(2)
    answers = []
    for _ in range(TRIES):
        held = holder("reserve", slices=2, timeout_s=PATIENCE_S)
        holder("release_heads")
        time.sleep(JOB_S)  # Ray shows a release with a delay
        answers.append(caller("reserve", slices=1, timeout_s=PATIENCE_S))
        if answers[-1].error is None:
            caller("release")
        holder("release")
        stage.wait_until_free()
    return Outcome(
        summarize(answers),
        longest(answers),
        [
            ("the idle slice is reserved every time", len(served(answers)) == TRIES),
            ("the first caller had two slices", held.error is None),
            ("no caller waits", longest(answers) < AT_ONCE_S),
            whole(answers, stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation("Slices are released and reserved again at once, seven times", TWO_V6E_SLICES)
def again(stage):
    (caller,) = stage.callers(1)
    caller("reserve", slices=2, timeout_s=PATIENCE_S)
    answers = [caller("reserve_again", slices=2, timeout_s=PATIENCE_S) for _ in range(7)]
    took = statistics.median(answer.seconds for answer in answers)
    return Outcome(
        "%s; median %s" % (summarize(answers), seconds(took)),
        took,
        [
            ("the slices are reserved every time", len(served(answers)) == 7),
            whole(answers, stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation("All slices are reserved: how many are ready?", THREE_V4_SLICES, smoke=True)
def how_many_are_ready(stage):
    holder, caller = stage.callers(2)
    before = caller("count_ready")
    holder("reserve", slices=3, timeout_s=PATIENCE_S)
    during = caller("count_ready")
    return Outcome(
        "%s before, %s when all are reserved" % (before.value, during.value),
        during.seconds,
        [
            ("three slices are ready before a reservation", before.value == 3),
            ("no slice is ready after all are reserved", during.value == 0),
            is_free_again(stage),
        ],
    )


@situation("An actor uses one host of a slice; three callers want one slice each", THREE_V4_SLICES)
def actor_on_one_host(stage):
    actor = stage.use("s-b/1", chips=1)
    callers = stage.callers(3)
    answers = [caller("reserve", slices=1, timeout_s=PATIENCE_S) for caller in callers]
    stage.stop_actor(actor)
    stage.wait_until_free_of(["s-b/1"])
    loser = callers[answers.index(refused(answers)[0])] if refused(answers) else callers[0]
    later = loser("reserve", slices=1, timeout_s=PATIENCE_S)
    return Outcome(
        "%s; when the actor has ended: %s" % (summarize(answers), summarize_one(later)),
        longest(answers),
        [
            ("the two idle slices are reserved", sorted(a.value for a in served(answers)) == [["s-a"], ["s-c"]]),
            refusals_give(answers, "the external use of %s ends" % stage.address("s-b/1")),
            ("the slice is reserved after the actor ended", later.value == ["s-b"]),
            whole([*answers, later], stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation("A caller that has two slices is killed (`kill -9`); another wants all three", THREE_V4_SLICES)
def killed(stage):
    victim, caller = stage.callers(2)
    held = victim("reserve", slices=2, timeout_s=PATIENCE_S)
    victim.kill()
    answer = caller("reserve", slices=3, timeout_s=2 * PATIENCE_S)
    return Outcome(
        summarize_one(answer),
        answer.seconds,
        [
            ("the killed caller had two slices", held.error is None),
            ("all three slices are reserved", answer.error is None),
            whole([answer], stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation(
    "Callers are killed (`kill -9`) in the middle of asking for two slices, five times; another wants all three",
    THREE_V4_SLICES,
)
def killed_in_the_middle(stage):
    moments = [0.005, 0.02, 0.05, 0.1, 0.2]
    caller, *victims = stage.callers(1 + len(moments))
    for victim, moment in zip(victims, moments):
        victim.ask("reserve", slices=2, timeout_s=PATIENCE_S)
        time.sleep(moment)
        victim.kill()
    answer = caller("reserve", slices=3, timeout_s=2 * PATIENCE_S)
    return Outcome(
        summarize_one(answer),
        answer.seconds,
        [
            ("all three slices are reserved", answer.error is None),
            whole([answer], stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation("A detached slice, whose creator has ended; three callers want one each", THREE_V4_SLICES)
def detached(stage):
    creator, *callers = stage.callers(4)
    held = creator("reserve", slices=1, timeout_s=PATIENCE_S, lifetime="detached", name="kept")
    stage.leave([creator])
    answers = [caller("reserve", slices=1, timeout_s=PATIENCE_S) for caller in callers]
    loser = callers[answers.index(refused(answers)[0])] if refused(answers) else callers[0]
    found = loser("find_and_release", name="kept")
    later = loser("reserve", slices=1, timeout_s=PATIENCE_S)
    return Outcome(
        "%s; when it was released by name: %s" % (summarize(answers), summarize_one(later)),
        longest(answers),
        [
            ("the other two slices are reserved", len(served(answers)) == 2),
            refusals_give(answers, "release kept@"),
            ("the detached slice is found by its name and released", found.error is None and later.value == held.value),
            whole([held, *answers, later], stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation(
    "A slice that is held loses a host; another caller wants one of the two intact ones, and a third looks on",
    THREE_V4_SLICES,
)
def lost_host(stage):
    holder, caller, onlooker = stage.callers(3)
    held = holder("reserve", slices=1, timeout_s=PATIENCE_S)
    noticed = stage.lose(held.hosts[1])
    onlooker.ask("look", for_s=2 * JOB_S)
    repaired = holder.ask("repair", timeout_s=PATIENCE_S)
    answer = caller("reserve", slices=1, timeout_s=PATIENCE_S)
    repaired = repaired.answer()
    onlooker.answer()
    repaired.recorded = repaired.recorded and holder("is_recorded").value
    return Outcome(
        "%s; the holder: %s (the loss was noticed after %s)"
        % (
            summarize_one(answer),
            "another slice after %s" % seconds(repaired.seconds) if repaired.error is None else "still without a host",
            seconds(noticed),
        ),
        longest([answer, repaired]),
        [
            ("the other job has an intact slice", answer.error is None and answer.value != held.value),
            (
                "the holder has another slice",
                repaired.error is None and repaired.value not in (held.value, answer.value),
            ),
            whole([answer, repaired], stage.setup.shape),
            is_free_again(stage),
        ],
    )


@situation("Two of four hosts of a slice are partly used; the other slice is asked for, six times", TWO_V6E_SLICES)
def partly_used(stage):
    (caller,) = stage.callers(1)
    for host in ("s-a/0", "s-a/2"):
        stage.use(host, chips=2)
    answers = tries_of_one(stage, caller, TRIES)
    both = caller("reserve", slices=2, timeout_s=0)
    for actor in list(stage.actors):
        stage.stop_actor(actor)
    return Outcome(
        "%s; both slices: %s" % (summarize(answers), summarize_one(both)),
        longest(answers),
        [
            ("the idle slice is reserved every time", [a.value for a in answers] == [["s-b"]] * TRIES),
            ("both slices cannot be reserved", both.error is not None),
            refusals_give([both], "1 of 2 slices is in external use"),
            whole(answers, stage.setup.shape),
            is_free_again(stage),
        ],
    )
