# SPDX-License-Identifier: Apache-2.0
"""quoit.jax reads planned meshes and finds their devices. tests/ray/test_jax_meshes.py uses the real JAX."""

import json
import subprocess
import sys
import types

import pytest

import quoit
from quoit import jax as quoit_jax
from quoit import meshes

DOCUMENT = {
    "schema": "quoit/1",
    "kind": "TPU v6 lite",
    "axes": [{"axis": "data", "size": 2}, {"axis": "fsdp", "size": 2}],
    "devices": [
        {"id": at, "slice_id": at // 2, "x": at % 2, "y": 0, "z": 0, "core": 0} for at in (0, 1, 3, 2)
    ],
}  # fmt: skip


def changed(**members):
    return {**DOCUMENT, **members}


def device(at, **members):
    """A simulated JAX device of a slice of 2x1 chips."""
    given = {
        "id": 100 + at, "platform": "tpu", "device_kind": "TPU v6 lite", "slice_index": at // 2,
        "coords": [at % 2, 0, 0], "core_on_chip": 0,
    }  # fmt: skip
    return types.SimpleNamespace(**{**given, **members})


def find(document, devices):
    """The ids of the devices that quoit.jax finds for the places of the document."""
    return [one.id for one in quoit_jax._find_devices(quoit_jax._plan_of_document(document, None), devices)]


def test_a_tpu_is_found_by_slice_and_coordinates():
    assert find(DOCUMENT, [device(at) for at in (3, 1, 0, 2)]) == [100, 101, 103, 102]


def test_a_device_without_coordinates_is_found_by_id():
    others = [types.SimpleNamespace(id=at, platform="cpu", device_kind="cpu") for at in range(8)]
    assert find(json.dumps(DOCUMENT), others) == [0, 1, 3, 2]


def test_a_single_slice_has_no_index_and_is_slice_0():
    rows = [{**one, "slice_id": 0} for one in DOCUMENT["devices"][:2]]
    one_slice = changed(axes=[{"axis": "a", "size": 2}], devices=rows)
    alone = [device(at) for at in (1, 0)]
    for one in alone:
        del one.slice_index
    assert find(one_slice, alone) == [100, 101]


def test_two_names_of_a_generation_are_equal():
    v5p = changed(kind="TPU v5p")
    assert find(v5p, [device(at, device_kind="TPU v5") for at in range(4)]) == [100, 101, 103, 102]


def test_the_message_names_a_missing_device():
    with pytest.raises(
        quoit.InvalidError, match=r"device '3', core 0 of the chip at 1,0,0 of slice 1: not found among the 3"
    ):
        find(DOCUMENT, [device(at) for at in range(3)])
    with pytest.raises(quoit.InvalidError, match="device '100' is of kind 'TPU v4': expected 'TPU v6 lite'"):
        find(DOCUMENT, [device(at, device_kind="TPU v4") for at in range(4)])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("", "document: expected the output of 'quoit mesh -o json'"),
        ("[" * 100_000, "document: expected the output of 'quoit mesh -o json'"),
        ("[]", r"document: \$: expected an object, not list"),
        ({}, r"document: \$: expected the member 'schema'"),
        (changed(schema="quoit/2"), r"\$\.schema 'quoit/2': expected 'quoit/1'"),
        (changed(axes=5), r"\$\.axes: expected an array, not int"),
        (changed(axes=[5]), r"\$\.axes\[0\]: expected an object, not int"),
        (changed(axes=[{"axis": "a", "size": 4.0}]), r"\$\.axes\[0\]\.size: expected an int, not float"),
        (changed(axes=[{"axis": "a", "size": 0}]), r"\$\.axes\[0\]\.size '0': expected 1 to"),
        (changed(axes=[{"axis": 1, "size": 4}]), r"\$\.axes\[0\]\.axis: expected text, not int"),
        (changed(axes=[{"axis": "a", "size": 5}]), r"\$\.devices has '4' rows: expected 5"),
        (changed(axes=[{"axis": "a", "size": 2}] * 2), "axis_names: 'a' occurs twice"),
        (changed(devices=[{"id": 0}] * 4), r"\$\.devices\[0\]: expected the member 'slice_id'"),
        (changed(devices=[{**DOCUMENT["devices"][0], "x": -1}] * 4), r"\$\.devices\[0\]\.x '-1': expected 0 to"),
    ],
)
def test_an_invalid_document_is_refused_with_the_place(document, message):
    with pytest.raises(quoit.InvalidError, match=message):
        quoit_jax.mesh(document)


def test_axis_names_must_match_the_axes():
    mesh = meshes.create_device_mesh((2, 2), meshes.Devices.of_slices("v6e", "2x2"))
    with pytest.raises(quoit.InvalidError, match="axis_names: expected a name for each axis"):
        quoit_jax.mesh(mesh)
    with pytest.raises(quoit.InvalidError, match="axis_names: '1' names: expected 2"):
        quoit_jax.mesh(mesh, ["data"])
    with pytest.raises(TypeError, match=r"axis_names\[1\]: expected a str, not int"):
        quoit_jax.mesh(mesh, ["data", 1])
    with pytest.raises(TypeError, match="document: expected a str or bytes, not int"):
        quoit_jax.mesh(5)


def test_importing_quoit_does_not_import_jax():
    program = "import sys, quoit, quoit.jax; print('jax' in sys.modules or 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_jax_the_error_has_a_remedy():
    program = (
        "import sys; sys.modules['jax'] = None\n"
        "from quoit import jax, meshes\n"
        "mesh = meshes.create_device_mesh((4,), meshes.Devices.of_slices('v6e', '2x2'))\n"
        "try:\n"
        "    jax.mesh(mesh, ['data'])\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install jax" in done.stdout
