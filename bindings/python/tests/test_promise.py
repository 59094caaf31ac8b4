# SPDX-License-Identifier: Apache-2.0
"""Promises, compared with rational arithmetic, which has no rounding."""

import bisect
import itertools
import math
import random
from fractions import Fraction

import pytest

import quoit
from quoit import promise

CONFIDENCES = (0.0, 1e-6, 0.01, 0.3, 0.5, 0.9, 0.95, 0.99, 0.999999, 1 - 1e-9, 1.0)
AVAILABILITIES = (0.0, 1e-12, 0.001, 0.2, 0.5, 0.851457771, 0.93469, 0.98411944, 0.999999, 1 - 2**-53, 1.0)


def weights(n, availability):
    """The probabilities of 0 to n working cubes, all multiplied by an integer, and this integer."""
    works, of = availability.as_integer_ratio()
    fails = of - works
    return [math.comb(n, one) * works**one * fails ** (n - one) for one in range(n + 1)], of**n


def tails(probabilities):
    """For each number of cubes, the weight of at least so many."""
    return [*list(itertools.accumulate(reversed(probabilities)))[::-1], 0]


def is_near(got, weight, of):
    """Whether `got` is weight / of, up to the last digits, or 1e-290. Fractions would look for common divisors."""
    numerator, denominator = got.as_integer_ratio()
    expected = weight * denominator
    distance = abs(numerator * of - expected)
    return 10**12 * distance <= expected or 10**290 * distance < of * denominator


def exact_count(tail, of, n, each, held, confidence):
    """The count, and whether rounding may decide it."""
    wanted = Fraction(confidence)
    margin = min(wanted, 1 - wanted) / 10**8
    least, low, high = (math.ceil(one * of) for one in (wanted, wanted - margin, wanted + margin))
    sure = max((m for m in range((n - held) // each + 1) if tail[held + m * each] >= least), default=0)
    return sure, any(low <= one <= high for one in tail)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 144])
@pytest.mark.parametrize("availability", AVAILABILITIES)
def test_all_statistics_agree_with_rational_arithmetic(n, availability):
    drawn = random.Random(n)
    probabilities, of = weights(n, availability)
    tail = tails(probabilities)
    for needed in range(n + 2):
        assert is_near(promise.probability(n, availability, needed), tail[needed], of)
    for each in sorted({1, n, *(drawn.randint(1, n) for _ in range(4))}):
        mean = sum(one * (works // each) for works, one in enumerate(probabilities))
        assert is_near(promise.goodput(n, availability, each), mean * each, of * n)
        works, parts = availability.as_integer_ratio()
        assert is_near(promise.static_goodput(n, availability, each), works**each * (n // each * each), parts**each * n)
        for confidence in CONFIDENCES:
            held = drawn.choice((0, 0, drawn.randint(0, n)))
            got = promise.count(n, availability, each, confidence=confidence, n_held=held)
            expected, is_close = exact_count(tail, of, n, each, held, confidence)
            if not is_close or confidence in (0.0, 1.0):
                assert got == expected, (each, held, confidence)


@pytest.mark.parametrize("availability", [63 / 64, 1 / 2, 1 / 64])
def test_many_cubes_agree_with_rational_arithmetic(availability):
    n = 15_625
    works, of = availability.as_integer_ratio()
    one, whole = (of - works) ** n, of**n  # the weight of no working cube
    below, total, mean = [], 0, 0
    for number in range(n + 1):
        below.append(total)
        total += one
        mean += one * (number // 48)
        one = one * ((n - number) * works) // ((number + 1) * (of - works))
    assert total == whole
    assert is_near(promise.goodput(n, availability, 48), mean * 48, whole * n)
    for confidence in (1e-6, 0.3, 0.95, 0.999999, 1 - 1e-9):
        limit = math.floor((1 - Fraction(confidence)) * whole)
        expected = bisect.bisect_right(below, limit) - 1
        assert promise.count(n, availability, confidence=confidence) == expected
        assert promise.count(n, availability, 4, confidence=confidence, n_held=1) == max(expected - 1, 0) // 4
        assert is_near(promise.probability(n, availability, expected), whole - below[expected], whole)


def test_a_confidence_near_1_is_exact():
    """Cubes that seldom fail: the sum over the failures is short."""
    n, availability = 15_625, 1 - 2**-16
    works, of = availability.as_integer_ratio()
    whole = of**n
    failures = list(itertools.accumulate(math.comb(n, one) * works ** (n - one) for one in range(30)))
    for confidence in (0.999999, 1 - 1e-12, 1 - 2**-50):
        least = math.ceil(Fraction(confidence) * whole)
        assert promise.count(n, availability, confidence=confidence) == n - bisect.bisect_left(failures, least)


def test_rounding_of_the_arguments_decides_nothing():
    for n in range(1, 40):
        for tenths in range(1, 10):
            share = tenths / 10
            assert promise.count(n, share, confidence=share**n) == n
            assert promise.count(n, share, confidence=float(Fraction(tenths, 10) ** n)) == n


def test_the_numbers_of_the_documentation():
    tpu7x = quoit.catalogue.lookup_generation("tpu7x")
    assert (tpu7x.ocs_cube_chips, tpu7x.ocs_cube_hosts, tpu7x.lookup_cubes("4x8x8")) == (64, 16, 4)
    cube = promise.availability(0.999, 16)
    assert promise.count(144, cube, 4, confidence=0.95) == 34
    assert promise.count(144, 0.93469, confidence=0.95) == 130
    assert promise.count(144, 0.9346, confidence=0.95) == 129
    assert round(promise.probability(64, promise.availability(1 - 0.00782, 16), 50), 3) == 0.993


def test_generations_without_cubes_have_none():
    v6e = quoit.catalogue.lookup_generation("v6e")
    assert (v6e.ocs_cube_chips, v6e.ocs_cube_hosts) == (None, None)
    with pytest.raises(
        quoit.InvalidError, match="accelerator 'v6e': expected a generation whose slices consist of cubes"
    ):
        v6e.lookup_cubes("4x4")
    with pytest.raises(quoit.InvalidError, match="topology '2x2x4': expected whole cubes of 4x4x4"):
        quoit.catalogue.lookup_generation("v4").lookup_cubes("2x2x4")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0.5, 1), "cubes '0': expected 1 to 1000000 cubes"),
        ((2**31, 0.5, 1), "cubes '2147483648'"),
        ((-1, 0.5, 1), "n_cubes '-1': expected 0 to 4294967295"),
        ((144, 1.5, 1), "availability '1.5': expected a probability from 0 to 1"),
        ((144, float("nan"), 1), "availability 'nan'"),
        ((144, 0.5, 0), "cubes of each slice '0': expected 1 to 144, the number of cubes"),
        ((144, 0.5, 145), "cubes of each slice '145'"),
    ],
)
def test_bad_input_is_refused(arguments, message):
    for function in (promise.goodput, promise.static_goodput, lambda *some: promise.count(*some, confidence=0.95)):
        with pytest.raises(quoit.InvalidError, match=message):
            function(*arguments)


def test_bad_confidences_and_hosts_are_refused():
    for confidence in (-0.1, 95, float("nan"), float("inf")):
        with pytest.raises(quoit.InvalidError, match="confidence '.*': expected a probability from 0 to 1"):
            promise.count(144, 0.5, confidence=confidence)
    with pytest.raises(quoit.InvalidError, match="held cubes '145': expected at most 144"):
        promise.count(144, 0.5, confidence=0.5, n_held=145)
    with pytest.raises(quoit.InvalidError, match="hosts '0': expected 1 to 1000000 hosts"):
        promise.availability(0.5, 0)
    with pytest.raises(quoit.InvalidError, match="host availability '2': expected a probability"):
        promise.availability(2, 16)
    with pytest.raises(TypeError, match="confidence: expected a number, not str"):
        promise.count(144, 0.5, confidence="0.95")
