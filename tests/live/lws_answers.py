# SPDX-License-Identifier: Apache-2.0
"""lws_answers.py VECTORS: compares the answers on standard input, of the LeaderWorkerSet that go.mod names, with the recorded ones.

Rows with "since" have another answer in that version.
"""

import json
import sys

counts = {True: 0, False: 0}
with open(sys.argv[1], encoding="utf-8") as recorded:
    for row, line in zip(map(json.loads, recorded), sys.stdin, strict=True):
        answer = json.loads(line)
        if "since" in row:
            continue
        is_same = answer == row
        counts[is_same] += 1
        if not is_same:
            print(f"FAIL {row['id']}: {row['note']}: got {answer.get('out', answer.get('err'))}")
print(f"{counts[True]} passed, {counts[False]} failed")
sys.exit(counts[False] > 0)
