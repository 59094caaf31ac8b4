# SPDX-License-Identifier: Apache-2.0
"""Checks facts about JSON documents: `facts.py FILE`. The file has five texts for each fact, each with a NUL after it:
the sentence, the file of the document, the last command, an expression of Python about the document d, and its value
as text. Prints each fact that does not hold, and last how many hold and how many do not."""

import json
import sys


def value(path, expression):
    with open(path, encoding="utf-8") as file:
        d = json.load(file)
    return str(eval(expression, {"json": json, "d": d}))


def main(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        texts = file.read().split("\0")[:-1]
    n_failed = 0
    for i in range(0, len(texts), 5):
        sentence, document, command, expression, expected = texts[i : i + 5]
        try:
            # As the shell does, which removes the newlines at the end of an output.
            got = value(document, expression).rstrip("\n")
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
        if got != expected:
            n_failed += 1
            print(
                f"FAIL: {sentence}",
                f"after: {command}",
                expression,
                f"is '{got}', expected '{expected}'",
                sep="\n      ",
            )
    print(len(texts) // 5 - n_failed, n_failed)


main(sys.argv[1])
