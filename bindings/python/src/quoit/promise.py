# SPDX-License-Identifier: Apache-2.0
"""How many slices can be promised at a confidence, if hosts fail independently of each other.

docs/promise.md explains the model. No fleet, database or file is needed.

The functions count in cubes, which optical circuit switches join to slices: a slice can have any cubes that work.
For a fleet without cubes, count whole slices instead: `n_cubes` is the number of slices, and `cubes_each` is 1.

>>> import quoit
>>> tpu7x = quoit.catalogue.lookup_generation("tpu7x")
>>> cube = quoit.promise.availability(0.999, tpu7x.ocs_cube_hosts)
>>> quoit.promise.count(144, cube, tpu7x.lookup_cubes("4x8x8"), confidence=0.95)
34
"""

from __future__ import annotations

from typing import Any, Callable

from . import _c
from ._c import call, ffi, lib


def availability(host_availability: float, n_hosts: int) -> float:
    """Returns the probability that all hosts of a cube, or of a slice, work.

    Args:
        host_availability: the probability that a host works, from 0 to 1.
        n_hosts: the hosts of the cube (`catalogue.Generation.ocs_cube_hosts`) or slice; 1 to 1,000,000.

    Raises:
        InvalidError: a number is outside its range, or NaN.
    """
    arguments = (
        _c.to_float(host_availability, "host_availability"),
        _c.to_int(n_hosts, "n_hosts", _c.UINT32),
    )
    return _double(lib.quoit_promise_availability, *arguments)


def count(n_cubes: int, availability: float, cubes_each: int = 1, *, confidence: float, n_held: int = 0) -> int:
    """Returns the statistic "count": how many slices can be promised.

    It is the greatest number m for which at least ``n_held + m * cubes_each`` cubes work with this confidence. A
    probability counts as equal to `confidence` if rounding of the arguments may have made the difference.

    Args:
        n_cubes: the number of cubes, 1 to 1,000,000.
        availability: the probability that a cube works, from 0 to 1.
        cubes_each: the number of cubes of each slice, 1 to `n_cubes`.
        confidence: from 0 to 1.
        n_held: the number of cubes that others have, and that have to work too; at most `n_cubes`.

    Raises:
        InvalidError: a number is outside its range, or NaN.
    """
    slot = ffi.new("uint32_t *")
    call(
        lib.quoit_promise_count,
        *_cubes(n_cubes, availability, cubes_each),
        _c.to_int(n_held, "n_held", _c.UINT32),
        _c.to_float(confidence, "confidence"),
        slot,
    )
    return int(slot[0])


def probability(n_cubes: int, availability: float, n_needed: int) -> float:
    """Returns the probability that at least `n_needed` cubes work.

    For m slices beside held cubes, pass ``n_held + m * cubes_each``.

    Args:
        n_cubes: the number of cubes, 1 to 1,000,000.
        availability: the probability that a cube works, from 0 to 1.
        n_needed: a number of cubes; more than `n_cubes` never work.

    Raises:
        InvalidError: a number is outside its range, or NaN.
    """
    arguments = (
        _c.to_int(n_cubes, "n_cubes", _c.UINT32),
        _c.to_float(availability, "availability"),
        _c.to_int(n_needed, "n_needed", _c.UINT32),
    )
    return _double(lib.quoit_promise_probability, *arguments)


def goodput(n_cubes: int, availability: float, cubes_each: int = 1) -> float:
    """Returns the statistic "goodput": the mean share of all cubes that are in slices.

    The cubes that work always form as many slices as possible.

    Args:
        n_cubes: the number of cubes, 1 to 1,000,000.
        availability: the probability that a cube works, from 0 to 1.
        cubes_each: the number of cubes of each slice, 1 to `n_cubes`.

    Raises:
        InvalidError: a number is outside its range, or NaN.
    """
    return _double(lib.quoit_promise_goodput, *_cubes(n_cubes, availability, cubes_each))


def static_goodput(n_cubes: int, availability: float, cubes_each: int = 1) -> float:
    """Like `goodput`, for slices that are cabled once: each has its own cubes, and works only if all of them work.

    Args:
        n_cubes: the number of cubes, 1 to 1,000,000.
        availability: the probability that a cube works, from 0 to 1.
        cubes_each: the number of cubes of each slice, 1 to `n_cubes`.

    Raises:
        InvalidError: a number is outside its range, or NaN.
    """
    return _double(lib.quoit_promise_static_goodput, *_cubes(n_cubes, availability, cubes_each))


def _cubes(n_cubes: int, availability: float, cubes_each: int) -> tuple[int, float, int]:
    return (
        _c.to_int(n_cubes, "n_cubes", _c.UINT32),
        _c.to_float(availability, "availability"),
        _c.to_int(cubes_each, "cubes_each", _c.UINT32),
    )


def _double(function: Callable[..., Any], *arguments: Any) -> float:
    slot = ffi.new("double *")
    call(function, *arguments, slot)
    return float(slot[0])
