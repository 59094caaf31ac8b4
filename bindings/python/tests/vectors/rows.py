# SPDX-License-Identifier: Apache-2.0
"""Helpers of the modules that answer the ops of rows.

Each of these modules has ``OPS``, a table from the name of an op to a function. The function takes the "in" of a row
and its "out" (None if the row records an error). It returns a value that must equal "out", or raises an exception that
must match "err". ``SAME_ORDER`` has the ops for which the order of the members of objects matters. ``REFUSALS`` has the
ops whose "out" can be, or contain, a refusal message of the modelled system.
"""


class Skip(Exception):
    """The reason why Python cannot express a row. The runner counts rows by reason, so it must not contain values."""


class Disagreement(Exception):
    """quoit's answer differs from the recorded answers, or is not possible. The message has the answer."""


def allow_members(given, members):
    """Skips a row if its input has a member that is not in `members`, because quoit has no such argument."""
    if not isinstance(given, dict):
        raise Skip("an input that is no object")
    if not given.keys() <= set(members):
        raise Skip("an argument that quoit does not have")


def keep_recorded(answer, recorded):
    """Removes the members of the answer that the row does not record. Rows of one op can record different members."""
    if not isinstance(recorded, dict):
        return answer
    return {member: value for member, value in answer.items() if member in recorded}


def refusal(error):
    """Converts an exception to a part of an answer: {"error": CLASS, "message": ...}. The runner compares the class."""
    return {"error": type(error).__name__, "message": str(error)}
