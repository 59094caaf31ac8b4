# SPDX-License-Identifier: Apache-2.0
"""Reports the coverage of the comparison with JAX: the drawn cases, and how often JAX made and refused the mesh.

usage: jax_drawn.py ROWS.ndjson

Exits with 1 if a kind of case is missing, or was never made or never refused although it should be.
"""

import collections
import json
import sys

import jax_mesh

OPERATIONS = (
    "create_device_mesh", "create_hybrid_device_mesh", "make_mesh", "create_device_mesh_for_nd_torus",
)  # fmt: skip
FEATURES = {
    "physical axes may be split": lambda op, given: given.get("allow_split_physical_axes"),
    "contiguous submeshes": lambda op, given: given.get("contiguous_submeshes"),
    "processes are granules": lambda op, given: given.get("process_is_granule"),
    "granules as they are listed": lambda op, given: given.get("should_sort_granules_by_key") is False,
    "several slices, dcn over two axes or more": lambda op, given: sum(size > 1 for size in given.get("dcn", [])) > 1,
    "a shape that may be twisted": lambda op, given: is_twisted(given.get("topology")),
    "listed devices": lambda op, given: "devices" in given,
    "devices in another order": lambda op, given: given.get("order", "normal") != "normal",
}
REFUSED_TOO = {*OPERATIONS, "physical axes may be split", "contiguous submeshes", "listed devices"}


def is_twisted(topology):
    return topology in jax_mesh.TWISTED


def row_features(row):
    given = row["in"]
    return [row["op"], given.get("kind"), *(name for name, has in FEATURES.items() if has(row["op"], given))]


def count(rows):
    made, refused = collections.Counter(), collections.Counter()
    for row in rows:
        (made if "out" in row else refused).update(row_features(row))
    return made, refused


def main():
    with open(sys.argv[1], encoding="utf-8") as lines:
        made, refused = count(json.loads(line) for line in lines)
    lacking = [name for name in jax_mesh.KINDS if not made[name] + refused[name]]
    lacking += [name for name in (*OPERATIONS, *FEATURES) if not made[name]]
    lacking += [name for name in REFUSED_TOO if not refused[name]]
    for name in (*OPERATIONS, *jax_mesh.KINDS, *FEATURES):
        print(f"{made[name]:6} made {refused[name]:6} refused  {name}")
    for name in lacking:
        print(f"too little of: {name}")
    sys.exit(1 if lacking else 0)


if __name__ == "__main__":
    main()
