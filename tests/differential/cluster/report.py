# SPDX-License-Identifier: Apache-2.0
"""The tables that a run makes, and the page that has them between marks."""

import re

TITLES = {"ray": "Ray's helper", "quoit": "quoit", "by hand": "by hand"}


class NoMark(Exception):
    """A page does not say where a table goes."""


def table(head, rows):
    lines = ["| %s |" % " | ".join(cells) for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def situations(chosen, sides, outcomes):
    """What was played, and what came of it with each side."""
    head = ["situation"]
    for side in sides:
        head += [TITLES[side], "s"]
    rows = []
    for situation in chosen:
        row = [situation.title]
        for side in sides:
            outcome = outcomes[situation.name, side]
            row += [outcome.told, "%.2f" % outcome.seconds]
        rows.append(row)
    return table(head, rows)


def speeds(measured):
    """`measured`: {what: {side: median in seconds}}."""
    sides = list(next(iter(measured.values())))
    rows = [
        [what] + [_milliseconds(medians[side]) if side in medians else "" for side in sides]
        for what, medians in measured.items()
    ]
    return table(["two slices of four hosts, median"] + [TITLES[side] for side in sides], rows)


def _milliseconds(seconds):
    return ("%.1f ms" if seconds < 0.02 else "%.0f ms") % (1000 * seconds)


def write(path, **tables):
    """Puts each table between `<!-- NAME: begin -->` and `<!-- NAME: end -->`; no mark, and the page is left alone."""
    with open(path, encoding="utf-8") as page:
        text = page.read()
    for name, made in tables.items():
        marks = "<!-- %s: begin -->\n" % name, "<!-- %s: end -->" % name
        pattern = "(?s)%s.*?%s" % tuple(map(re.escape, marks))
        text, n = re.subn(pattern, lambda _, begin=marks[0], made=made, end=marks[1]: begin + made + "\n" + end, text)
        if n != 1:
            raise NoMark("%s: expected '%s' and '%s' once, found them %d times" % (path, marks[0].strip(), marks[1], n))
    with open(path, "w", encoding="utf-8") as page:
        page.write(text)
