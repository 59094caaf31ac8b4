# SPDX-License-Identifier: Apache-2.0
"""maxtext: MaxText's fill of -1 and its table of accelerators."""

from rows import Skip, only

from quoit import maxtext


def fill(given, recorded):
    only(given, ["values", "target", "kind"])
    if given["kind"] not in maxtext.MaxtextLinks.__members__:
        raise Skip("a kind of parallelism other than ICI and DCN")
    return maxtext.fill(given["values"], given["target"], maxtext.MaxtextLinks[given["kind"]])


def accelerator(given, recorded):
    """Rings are recorded as 0 and 1."""
    only(given, ["name"])
    one = maxtext.lookup_accelerator(given["name"])
    wrap = None if one.wrap is None else [int(ring) for ring in one.wrap]
    return [one.platform, one.topology, one.chip_config, one.host_bounds, one.num_devices, wrap]


OPS = {"fill_unspecified_mesh_axes": fill, "maxtext_accelerator": accelerator}
