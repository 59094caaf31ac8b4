# SPDX-License-Identifier: Apache-2.0
"""Suite maxtext: the sizes that MaxText uses for -1, its table of accelerators, and its meshes."""

import hashlib

from rows import Disagreement, Skip, allow_members

from quoit import maxtext, meshes


def fill(given, recorded):
    allow_members(given, ["values", "target", "kind"])
    if given["kind"] not in maxtext.MaxtextLinks.__members__:
        raise Skip("a kind of parallelism other than ICI and DCN")
    return maxtext.fill(given["values"], given["target"], maxtext.MaxtextLinks[given["kind"]])


def accelerator(given, recorded):
    """The facts of an accelerator. The row records whether an axis is a ring as 0 or 1."""
    allow_members(given, ["name"])
    one = maxtext.lookup_accelerator(given["name"])
    wrap = None if one.wrap is None else [int(ring) for ring in one.wrap]
    return [one.platform, one.topology, one.chip_config, one.host_bounds, one.num_devices, wrap]


# --- meshes -------------------------------------------------------------------------------------------------------

OPTIONS = ("allow_split_physical_axes", "custom_mesh", "optimize_mesh_for_tpu_v6e")
OF_DEVICES = ("enable_single_controller", "subslice_shape")


def devices_of(given, options):
    """The devices of a row. With a single controller and a subslice_shape, only a box of a single slice is used."""
    devices = meshes.Devices.of_slices(given["k"], given["t"], given["slices"])
    if given["slices"] != 1 or not (options.get("subslice_shape") and options.get("enable_single_controller")):
        return devices
    return maxtext.devices_in_box(devices, [int(side) for side in options["subslice_shape"].split(",")])


def create_device_mesh(given, recorded):
    """The shape and the ids of a mesh. For a long mesh, rows have the first ids and a hash of all ids with commas."""
    allow_members(given, ["axes", "k", "t", "slices", "ici", "dcn", "opts", "first16", "sha256_16", "strategy", "ok"])
    if "strategy" in given:
        maxtext.check_custom_mesh(given["strategy"], given["ici"])
        return {"shape": None, "ids": None}
    options = given.get("opts") or {}
    allow_members(options, [*OPTIONS, *OF_DEVICES])
    wanted = {name: options[name] for name in OPTIONS if name in options}
    mesh = maxtext.create_device_mesh(devices_of(given, options), given["ici"], given["dcn"], given["slices"], **wanted)
    if "sha256_16" not in given:
        return {"shape": mesh.shape, "ids": mesh.ids}
    digest = hashlib.sha256(",".join(map(str, mesh.ids)).encode()).hexdigest()
    if list(mesh.ids[:16]) != given["first16"] or not digest.startswith(given["sha256_16"]):
        raise Disagreement(f"ids {mesh.ids[:16]}, hash {digest}")
    return {"shape": mesh.shape, "ids": None}


OPS = {
    "fill_unspecified_mesh_axes": fill,
    "maxtext_accelerator": accelerator,
    "maxtext_create_device_mesh": create_device_mesh,
}
