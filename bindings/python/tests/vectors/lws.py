# SPDX-License-Identifier: Apache-2.0
"""Suite lws: the variables for TPU in the pods of a LeaderWorkerSet, after its webhook has changed them."""

import json

from rows import allow_members

import quoit

NOW = 1_793_491_200_000

# The device plugin sets them, unless the manifest does.
OF_PLUGIN = ("TPU_TOPOLOGY", "TPU_ACCELERATOR_TYPE")


def lws_env(given, recorded):
    """Each process is a container."""
    allow_members(given, ["set"])
    text = json.dumps(given["set"])
    manifest = quoit.Input(quoit.SourceKind.RAYCLUSTER, text)
    with quoit.open_memory() as ledger:
        ledger.import_input(manifest, now_ms=NOW)
        slices = ledger.snapshot().slices
        facts = slices[0]
        request = quoit.Request(
            "g",
            accelerator=facts.accelerator,
            topology=facts.topology,
            chips_per_host=facts.chips_per_host,
            slices=len(slices),
        )
        group = ledger.reserve(request, now_ms=NOW)
        processes = quoit.manifest_topology(group, manifest, slices[0].pool.name).processes
    pods = []
    for process in processes:
        if process.local_index == 0:
            pods.append({"name": process.node_name, "containers": []})
        pods[-1]["containers"].append(
            {
                name: value
                for name, value in process.environment.items()
                if name.startswith(("TPU_", "LWS_")) and (name not in OF_PLUGIN or name in text)
            }
        )
    return {"pods": pods}


OPS = {"lws_env": lws_env}
