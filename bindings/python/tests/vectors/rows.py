# SPDX-License-Identifier: Apache-2.0
"""Shared by the modules of ops.

A module has ``OPS``, a table of ops and functions. A function takes a row's "in" and "out" (None if the row records an
error). It returns a value that must equal "out", or raises an exception that must match "err". ``SAME_ORDER`` has the
ops whose objects are ordered. ``REFUSALS`` has the ops whose "out" is or contains the system's own refusal message.
"""


class Skip(Exception):
    """The reason why Python cannot express a row. The runner counts rows by reason, so it must not contain values."""


class Disagreement(Exception):
    """The answer is not one of several right answers."""


def allow_members(given, members):
    """Skips a row with another argument, which quoit cannot express."""
    if not isinstance(given, dict):
        raise Skip("an input that is no object")
    if not given.keys() <= set(members):
        raise Skip("an argument that quoit does not have")


def keep_recorded(answer, recorded):
    """Removes the parts of the answer that the row does not record. Rows of one op record more or fewer members."""
    if not isinstance(recorded, dict):
        return answer
    return {member: value for member, value in answer.items() if member in recorded}


def refusal(error):
    """A refusal within an answer in the form {"error": CLASS, "message": ...}, which the runner compares."""
    return {"error": type(error).__name__, "message": str(error)}
