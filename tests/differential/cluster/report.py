# SPDX-License-Identifier: Apache-2.0
"""Makes the tables of a run, and writes them between marks in a page."""

import re

TITLES = {"ray": "Ray's helper", "quoit": "quoit", "by hand": "by hand"}


class MissingMarker(Exception):
    """The page has no mark for a table."""


def table(head, rows):
    lines = ["| %s |" % " | ".join(cells) for cells in (head, ["---"] * len(head), *rows)]
    return "\n".join(lines)


def situations(chosen, sides, outcomes):
    """The table of situations with the outcome of each side."""
    head = ["situation"]
    for side in sides:
        head += [TITLES[side], "s"]
    rows = []
    for situation in chosen:
        row = [situation.title]
        for side in sides:
            outcome = outcomes[situation.name, side]
            row += [outcome.summary, "%.2f" % outcome.seconds]
        rows.append(row)
    return table(head, rows)


def speeds(measured):
    """The table of times. `measured`: {operation: {side: median in seconds}}."""
    sides = list(next(iter(measured.values())))
    rows = [
        [what] + [_milliseconds(medians[side]) if side in medians else "" for side in sides]
        for what, medians in measured.items()
    ]
    return table(["two slices of four hosts, median"] + [TITLES[side] for side in sides], rows)


def _milliseconds(seconds):
    return ("%.1f ms" if seconds < 0.02 else "%.0f ms") % (1000 * seconds)


def write(path, **tables):
    """Writes each table between `<!-- NAME: begin -->` and `<!-- NAME: end -->`. Does not change the page if a mark is
    missing.
    """
    with open(path, encoding="utf-8") as page:
        text = page.read()
    for name, made in tables.items():
        marks = "<!-- %s: begin -->\n" % name, "<!-- %s: end -->" % name
        pattern = "(?s)%s.*?%s" % tuple(map(re.escape, marks))
        text, n = re.subn(pattern, lambda _, begin=marks[0], made=made, end=marks[1]: begin + made + "\n" + end, text)
        if n != 1:
            raise MissingMarker(
                "%s: expected '%s' and '%s' once, found them %d times" % (path, marks[0].strip(), marks[1], n)
            )
    with open(path, "w", encoding="utf-8") as page:
        page.write(text)
