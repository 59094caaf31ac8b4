# SPDX-License-Identifier: Apache-2.0
"""Device meshes: the Python API. test_vectors.py compares the meshes themselves with recorded answers of JAX."""

import doctest
import pickle

import pytest

import quoit
from quoit import meshes

NOW = 1_800_000_000_000


@pytest.fixture
def ledger():
    with quoit.open_memory() as opened:
        opened.import_fleet_text("v6e 4x4 x3", now_ms=NOW)
        yield opened


def reserve(ledger, slices):
    return ledger.reserve(quoit.Request("train", accelerator="v6e", topology="4x4", slices=slices), now_ms=NOW)


def test_the_documented_example_runs():
    failed, tried = doctest.testmod(meshes)
    assert (failed, tried > 3) == (0, True)


# --- devices ------------------------------------------------------------------------------------------------------


def test_devices_are_a_sequence():
    devices = meshes.Devices.of_slices("v6e", "4x4", 2)
    assert (len(devices), devices.kind) == (32, "TPU v6 lite")
    assert devices[0] == meshes.Device(0, (0, 0, 0), 0, 0, 0)
    assert devices[-1] == devices[31] == meshes.Device(31, (3, 3, 0), 0, 7, 1)
    assert devices[2:4] == (meshes.Device(4, (0, 1, 0), 0, 0, 0), meshes.Device(5, (1, 1, 0), 0, 0, 0))
    assert list(meshes.Devices(devices.kind, devices)) == list(devices)
    assert repr(devices) == "<quoit.meshes.Devices: 32 of TPU v6 lite>"
    for beyond in (32, -33):
        with pytest.raises(IndexError, match="expected less than 32"):
            devices[beyond]


def test_devices_have_the_requested_hosts_and_cores():
    whole = meshes.Devices.of_slices("v6e", "2x4", chips_per_host=8)
    assert {one.process_index for one in whole} == {0}
    cores = meshes.Devices.of_slices("v5p", "2x2x1", devices_per_chip=2)
    assert [(one.id, one.core) for one in cores[:3]] == [(0, 0), (1, 1), (2, 0)]


def test_a_group_has_the_devices_of_its_slices(ledger):
    group = reserve(ledger, 2)
    devices = meshes.Devices.of_group(group)
    assert list(devices) == list(meshes.Devices.of_slices("v6e", "4x4", 2))
    ledger.set_node_state("v6e-4x4-1-2", quoit.NodeState.DEAD, now_ms=NOW)
    with pytest.raises(quoit.NotNowError, match="slice 'v6e-4x4-1' is lost"):
        meshes.Devices.of_group(ledger.group("train"))
    ledger.release_slice("train", "v6e-4x4-1", now_ms=NOW)
    left = meshes.Devices.of_group(ledger.group("train"))
    with pytest.raises(quoit.InvalidError, match="expected 1, the number of granules, such as '1,1'"):
        meshes.create_hybrid_device_mesh((1, 16), (2, 1), left)
    assert meshes.create_device_mesh((16,), left).shape == (16,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("v9z", "4x4"), "'v9z'"),
        (("v6e", "4x"), "4x"),
        (("v6e", "99999x99999"), "99999"),
        (("v6e", "4x4", 0), "slices '0'"),
        (("v6e", "4x4", -1), "slices '-1'"),
        (("v6e", "4x4", 2**40), "slices '1099511627776'"),
        (("v6e", "4096x4096"), "at most 4194304 devices"),
    ],
)
def test_impossible_slices_are_refused(arguments, message):
    with pytest.raises(quoit.InvalidError) as refused:
        meshes.Devices.of_slices(*arguments)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("device", "error", "message"),
    [
        ((0, 0, 0), TypeError, r"devices\[0\]: expected a Device, not tuple"),
        (
            meshes.Device(0, (0, 0)),
            quoit.InvalidError,
            r"devices\[0\]\.coordinates of '2' numbers: expected x, y and z",
        ),
        (meshes.Device(0, "0,0,0"), TypeError, r"devices\[0\]\.coordinates: expected a sequence of int, not str"),
        (meshes.Device(0, (0, 0, 2**31)), quoit.InvalidError, r"devices\[0\]\.coordinates\[2\] '2147483648'"),
        (meshes.Device(0, (0, 0, 0), -1), quoit.InvalidError, r"devices\[0\]\.core '-1'"),
        (meshes.Device(0, (0, 0, 0), 0, 0, -1), quoit.InvalidError, r"devices\[0\]\.slice_index '-1'"),
        (meshes.Device(0.5, (0, 0, 0)), TypeError, r"devices\[0\]\.id: expected an int, not float"),
    ],
)
def test_an_invalid_device_is_refused_with_its_place(device, error, message):
    with pytest.raises(error, match=message):
        meshes.Devices("v6e", [device])


def test_devices_can_be_rebuilt_from_kind_and_list():
    devices = meshes.Devices.of_slices("v6e", "2x2")
    with pytest.raises(TypeError, match="send its kind and a list of its devices"):
        pickle.dumps(devices)
    kind, rows = pickle.loads(pickle.dumps((devices.kind, list(devices))))
    assert list(meshes.Devices(kind, rows)) == list(devices)
    with pytest.raises(AttributeError, match="a Devices cannot be changed: kind"):
        devices.kind = "TPU v4"


# --- meshes -------------------------------------------------------------------------------------------------------


def test_a_mesh_reports_the_rules_of_its_order():
    mesh = meshes.create_device_mesh((4, 4), meshes.Devices.of_slices("v4", "2x2x4"))
    assert (mesh.shape, mesh.dcn_shape) == ((4, 4), (1, 1))
    (granule,) = mesh.granules
    assert (granule.key, granule.order) == (None, meshes.MeshOrder.TORUS)
    assert granule.physical_axes == (
        meshes.PhysicalAxis("x", 2, (1, 2)),
        meshes.PhysicalAxis("y", 2, (1, 2)),
        meshes.PhysicalAxis("z", 4, (4, 1)),
    )
    assert pickle.loads(pickle.dumps(mesh)) == mesh
    assert hash(mesh) == hash(pickle.loads(pickle.dumps(mesh)))


def test_a_hybrid_mesh_lists_its_granules():
    devices = meshes.Devices.of_slices("v6e", "4x4", 2)
    mesh = meshes.create_hybrid_device_mesh((2, 8), (2, 1), devices, allow_split_physical_axes=True)
    assert (mesh.shape, mesh.dcn_shape) == ((4, 8), (2, 1))
    assert [one.key for one in mesh.granules] == [0, 1]
    backwards = meshes.Devices(devices.kind, reversed(devices))
    listed = meshes.create_hybrid_device_mesh(
        (4, 4), (2, 1), backwards, should_sort_granules_by_key=False, allow_split_physical_axes=True
    )
    assert [one.key for one in listed.granules] == [1, 0]
    by_process = meshes.create_hybrid_device_mesh((4,), (8,), devices, process_is_granule=True)
    assert [one.key for one in by_process.granules] == list(range(8))
    assert [backwards[at].id for at in listed.indices] == list(listed.ids)


def test_a_ring_has_no_physical_axes():
    (granule,) = meshes.create_device_mesh((8,), meshes.Devices.of_slices("v6e", "2x4")).granules
    assert (granule.order, granule.physical_axes) == (meshes.MeshOrder.RING, ())


V6E = meshes.Devices.of_slices("v6e", "4x4", 2)
V4 = meshes.Devices.of_slices("v4", "4x4x4")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: meshes.create_device_mesh((7, 9), V4),
            "'7,9' multiplies to 63: expected 64, the number of devices, such as",
        ),
        (lambda: meshes.create_device_mesh((2,) * 60, V4), "expected 64, the number of devices, such as '1,1,1,"),
        (lambda: meshes.create_device_mesh((), V4), "expected the size of at least one axis"),
        (lambda: meshes.create_device_mesh((0, 64), V4), "axis 0 of size '0': expected 1 or more"),
        (lambda: meshes.create_device_mesh((-8, -8), V4), "axis 0 of size '-8': expected 1 or more"),
        (lambda: meshes.create_device_mesh((2**63, 1), V4), r"mesh_shape[0] '9223372036854775808': expected"),
        (lambda: meshes.create_device_mesh((2**62, 4), V4), "multiplies to more than can be counted"),
        (lambda: meshes.create_device_mesh((8, 8), V4), "'16,4', '4,16' or '64,1'"),
        (lambda: meshes.create_hybrid_device_mesh((4, 4), (3, 1), V6E), "expected 2, the number of granules"),
        (lambda: meshes.create_hybrid_device_mesh((4, 5), (2, 1), V6E), "granule 0: mesh shape '4,5'"),
        (lambda: meshes.make_mesh((4, 8), V6E), "all of one slice"),
        (lambda: meshes.make_mesh((4, 16), V6E), "expected 32, the number of devices"),
        (lambda: meshes.create_device_mesh_for_nd_torus((4, 0), (4,)), "axis 1 of size '0'"),
    ],
)
def test_impossible_meshes_are_refused_with_possible_shapes(make, message):
    with pytest.raises(quoit.InvalidError) as refused:
        make()
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: meshes.create_device_mesh((4, 4), [1]), "devices: expected a quoit.meshes.Devices, not list"),
        (lambda: meshes.create_device_mesh("44", V4), "mesh_shape: expected a sequence of int, not str"),
        (lambda: meshes.create_device_mesh((4.0, 16), V4), r"mesh_shape\[0\]: expected an int, not float"),
        (
            lambda: meshes.create_device_mesh((64,), V4, allow_split_physical_axes=1),
            "allow_split_physical_axes: expected a bool, not int",
        ),
        (lambda: meshes.Devices.of_group("train"), "group: expected a quoit.Group, not str"),
    ],
)
def test_wrong_types_are_refused(make, message):
    with pytest.raises(TypeError, match=message):
        make()


# --- links --------------------------------------------------------------------------------------------------------


def test_each_axis_reports_its_network():
    mesh = meshes.create_hybrid_device_mesh((1, 16), (2, 1), V6E)
    data, fsdp = meshes.axis_links(V6E, mesh, 10**9)
    assert (data.network, data.form, data.hops, data.hops_back, data.physical) == (
        meshes.MeshNetwork.DCN, meshes.MeshForm.NONE, 0, 0, "",
    )  # fmt: skip
    assert (data.all_gather_ns, data.all_reduce_ns) == (40_000_000, 80_000_000)
    assert (fsdp.network, fsdp.form, fsdp.hops, fsdp.hops_back, fsdp.physical) == (
        meshes.MeshNetwork.ICI, meshes.MeshForm.RING, 1, 1, "x 4, y 4",
    )  # fmt: skip
    assert fsdp.all_gather_ns == 4_687_500
    assert [one.all_gather_ns for one in meshes.axis_links(V6E, mesh, 0)] == [0, 0]


def test_times_are_none_without_a_published_bandwidth():
    links = meshes.axis_links(V4, meshes.create_device_mesh((4, 16), V4))
    assert [(one.all_gather_ns, one.all_reduce_ns) for one in links] == [(None, None)] * 2


def test_links_need_the_devices_of_the_mesh():
    mesh = meshes.create_device_mesh((4, 16), V4)
    with pytest.raises(quoit.InvalidError, match="expected the list from which the mesh was made"):
        meshes.axis_links(V6E, mesh)
    with pytest.raises(
        quoit.InvalidError, match="mesh: expected a mesh that quoit.meshes made in this process, found a copy"
    ):
        meshes.axis_links(V4, pickle.loads(pickle.dumps(mesh)))
    with pytest.raises(TypeError, match="mesh: expected a quoit.meshes.Mesh, not tuple"):
        meshes.axis_links(V4, mesh.ids)
    with pytest.raises(quoit.InvalidError, match="n_bytes '-1'"):
        meshes.axis_links(V4, mesh, -1)


# --- choices ------------------------------------------------------------------------------------------------------


def test_every_choice_is_a_mesh_that_can_be_made():
    choices = meshes.choices((2, 4, 4), V6E, n_bytes=10**9)
    assert len(choices) >= 3 and len(set(choices)) == len(choices)
    for one in choices:
        mesh = meshes.create_hybrid_device_mesh(
            one.mesh_shape, one.dcn_shape, V6E, allow_split_physical_axes=one.allow_split_physical_axes
        )
        assert mesh.shape == one.shape == tuple((2, 4, 4)[axis] for axis in one.axes)
        links = meshes.axis_links(V6E, mesh, 10**9)
        assert tuple(axis.all_reduce_ns for axis in links) == one.all_reduce_ns


def test_the_axis_with_the_most_communication_is_within_a_slice():
    best = meshes.choices((2, 16), V6E)[0]
    assert (best.axes, best.shape, best.dcn_shape, best.mesh_shape) == ((0, 1), (2, 16), (2, 1), (1, 16))


def test_choices_keep_the_given_dcn_mesh_shape():
    choices = meshes.choices((2, 16), V6E, dcn_mesh_shape=(1, 2))
    assert {one.dcn_shape[one.axes.index(1)] for one in choices} == {2}


def test_choices_have_no_times_without_a_published_bandwidth():
    assert {time for one in meshes.choices((4, 16), V4) for time in one.all_reduce_ns} == {None}


def test_sizes_without_a_choice_are_refused():
    with pytest.raises(
        quoit.InvalidError, match="'2,17' multiplies to 34: expected 32, the number of devices, such as '2,16'"
    ):
        meshes.choices((2, 17), V6E)
    with pytest.raises(quoit.InvalidError, match="dcn_mesh_shape of '1' sizes: expected 2, one for each axis"):
        meshes.choices((2, 16), V6E, dcn_mesh_shape=(2,))
    with pytest.raises(quoit.InvalidError, match="at most 6 axes longer than 1"):
        meshes.choices([2] * 8, meshes.Devices.of_slices("v6e", "16x16"))
    with pytest.raises(TypeError, match="devices: expected a quoit.meshes.Devices, not list"):
        meshes.choices((2, 16), [])
