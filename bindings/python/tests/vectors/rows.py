# SPDX-License-Identifier: Apache-2.0
"""What the modules of ops share.

A module here has ``OPS``, its ops with the function that answers each. The function is given a row's "in" and what was
recorded (its "out", None where an error was), and returns what must equal "out", or raises what must agree with "err".
Ops whose objects have an order are in the module's ``SAME_ORDER``; those whose "out" is, or has in it, what a system
says of a refusal in its own words are in its ``REFUSALS``.
"""


class Skip(Exception):
    """Why Python cannot express a row. Rows are counted by reason: no values in it."""


class Disagreement(Exception):
    """An answer that is not one of those that would be right, where several are."""


def only(given, members):
    """Skips a row with another argument: it asks what quoit has no word for."""
    if not isinstance(given, dict):
        raise Skip("an input that is no object")
    if not given.keys() <= set(members):
        raise Skip("an argument that quoit has not")


def keep_recorded(answer, recorded):
    """What of the answer was recorded: rows of one op record more or less of the same answer."""
    if not isinstance(recorded, dict):
        return answer
    return {member: value for member, value in answer.items() if member in recorded}


def refusal(error):
    """A refusal within an answer, as the runner compares it with {"error": CLASS, "message": ...}."""
    return {"error": type(error).__name__, "message": str(error)}
