# SPDX-License-Identifier: Apache-2.0
"""MaxText's findings about a job."""

import math

import pytest

import quoit
from quoit import maxtext, meshes

TWO = {"accelerator": "v6e", "topology": "4x4", "num_slices": 2}


def sizes(report):
    return {axis.name: (axis.ici, axis.dcn) for axis in report.axes if axis.size != 1}


def test_the_size_minus_one_is_filled_in():
    assert maxtext.fill([4, -1, 2], 16) == (4, 2, 2)
    assert maxtext.fill((-2, -2), 4) == (-2, -2)
    assert maxtext.fill([], 1) == ()


@pytest.mark.parametrize(
    ("values", "target", "links", "error", "message"),
    [
        ([-1, -1], 4, "ICI", quoit.InvalidError, "^ICI sizes '-1,-1': expected -1 for one axis at most"),
        ([-1, 3], 4, "DCN", quoit.InvalidError, "^DCN sizes '-1,3': expected others than -1"),
        ([2, 3], 4, "ICI", quoit.InvalidError, "expected a product of 4, the devices of a slice"),
        ([2**63], 4, "ICI", quoit.InvalidError, r"^sizes\[0\] '9223372036854775808'"),
        ([2.0], 4, "ICI", TypeError, r"^sizes\[0\]: expected an int"),
        ("12", 4, "ICI", TypeError, "^sizes: expected a sequence"),
    ],
)
def test_sizes_that_maxtext_refuses_are_refused(values, target, links, error, message):
    before = list(values)
    with pytest.raises(error, match=message):
        maxtext.fill(values, target, maxtext.MaxtextLinks[links])
    assert list(values) == before


def test_every_accelerator_is_found_by_its_name():
    listed = maxtext.accelerators()
    assert len(listed) == 224
    for one in listed:
        assert maxtext.lookup_accelerator(one.name) == one
        assert (one.topology is None) == (one.platform == "gpu") == (one.host_bounds is None) == (one.wrap is None)
        if one.topology is not None:
            chips = math.prod(map(int, one.topology.partition(":")[2].split("x")))
            assert one.num_devices in (chips, 2 * chips)
    with pytest.raises(
        quoit.InvalidError, match="accelerator 'v6e-17': expected one that MaxText lists, such as 'v6e-16'"
    ):
        maxtext.lookup_accelerator("v6e-17")


def test_a_mesh_without_a_maxtext_ring_is_jaxs_mesh():
    devices = meshes.Devices.of_slices("v6e", "4x4", 2)
    mesh = maxtext.create_device_mesh(devices, [1, -1], [-1, 1], 2)
    assert mesh == meshes.create_hybrid_device_mesh((1, 16), (2, 1), devices)


def test_a_maxtext_ring_is_made_in_each_slice():
    devices = meshes.Devices.of_slices("v6e", "16x16", 2)
    mesh = maxtext.create_device_mesh(devices, [1, 4, 64], [2, 1, 1], 2, custom_mesh="hybrid_ring_64x4")
    assert mesh.shape == (2, 4, 64)
    assert mesh.ids[:4] == (0, 1, 17, 16)
    assert sorted(mesh.ids) == sorted(device.id for device in devices)
    assert mesh.ids[256:] == tuple(one + 256 for one in mesh.ids[:256])
    assert [granule.key for granule in mesh.granules] == [0, 1]


def test_the_v6e_optimization_undoes_jaxs_ring():
    devices = meshes.Devices.of_slices("v6e", "2x4")
    assert maxtext.create_device_mesh(devices, [8], [1]).ids == (0, 1, 2, 3, 7, 6, 5, 4)
    assert maxtext.create_device_mesh(devices, [8], [1], optimize_mesh_for_tpu_v6e=True).ids == tuple(range(8))


def test_a_box_has_the_devices_from_the_smallest_coordinates():
    devices = meshes.Devices.of_slices("v6e", "8x8")
    assert [device.id for device in maxtext.devices_in_box(devices, (2, 2))] == [0, 1, 8, 9]
    assert len(maxtext.devices_in_box(devices, [])) == 64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda one: maxtext.create_device_mesh(one, [3, -1], [1, 1]), "ICI sizes '3,-1'"),
        (lambda one: maxtext.create_device_mesh(one, [2, -1], [1, 1]), "mesh shape '2,8'"),
        (lambda one: maxtext.create_device_mesh(one, [16], [1, 1]), "dcn of '2' sizes: expected 1"),
        (lambda one: maxtext.create_device_mesh(one, [16], [1], 0), "slices '0'"),
        (lambda one: maxtext.create_device_mesh(one, [-1], [2], 2), "'2'"),
        (
            lambda one: maxtext.create_device_mesh(one, [16], [1], custom_mesh="x", allow_split_physical_axes=True),
            "custom_mesh 'x': expected hybrid_ring_64x4",
        ),
        (lambda one: maxtext.check_custom_mesh("hybrid_ring_64x4", [64, 4]), "one or more of 1"),
        (lambda one: maxtext.devices_in_box(one, [0]), "box: expected sides of 1 or more"),
        (lambda one: maxtext.devices_in_box(one, [1, 1, 1, 1]), "box of '4' sides"),
    ],
)
def test_meshes_that_maxtext_refuses_are_refused(call, message):
    with pytest.raises(quoit.InvalidError, match=message):
        call(meshes.Devices.of_slices("v6e", "4x4"))


def test_a_job_has_its_axes_and_numbers():
    report = maxtext.check(["ici_tensor_parallelism=4", "per_device_batch_size=2"], **TWO)
    assert sizes(report) == {"data": (1, 2), "fsdp": (4, 1), "tensor": (4, 1)}
    assert (report.num_slices, report.num_hosts, report.num_chips, report.num_devices) == (2, 8, 32, 32)
    assert (report.num_devices_per_slice, report.batch, report.batch_to_load) == (16, 64, 64)
    assert (report.parameters, report.state_bytes, report.memory_bytes) == (None, None, None)
    assert report.has_no_errors
    assert report.findings == ()


def test_a_known_model_has_its_memory():
    report = maxtext.check(["model_name=llama2-70b", "per_device_batch_size=1"], **TWO)
    assert (report.parameters, report.state_bytes, report.gradient_bytes, report.hbm_bytes) == (
        68976648192, 51732486144, 17244162048, 32 << 30,
    )  # fmt: skip
    assert report.memory_bytes == report.state_bytes + report.gradient_bytes + report.activation_bytes
    assert [finding.rule for finding in report.findings] == ["memory-state"]


def test_compile_topology_defines_the_slices():
    report = maxtext.check(["compile_topology=tpu7x-16", "compile_topology_num_slices=2"])
    assert (report.num_chips, report.num_devices) == (16, 32)


def test_a_failing_setting_is_found_with_the_expected_value():
    report = maxtext.check(["ici_tensor_parallelism=3", "per_device_batch_size=-1"], **TWO)
    axis, batch = report.findings
    assert (axis.severity, axis.rule, axis.key, axis.value) == (
        quoit.Severity.ERROR, "unspecified-value", "ici_fsdp_parallelism", "-1",
    )  # fmt: skip
    assert axis.expected.endswith(": for example ici_tensor_parallelism=4")
    assert axis.message == f"ici_fsdp_parallelism '-1': expected {axis.expected}"
    assert batch.rule == "batch-empty"
    assert (report.batch, report.batch_to_load, report.has_no_errors) == (None, None, False)
    assert sizes(report)["fsdp"] == (-1, 1)


@pytest.mark.parametrize(
    ("setting", "rule", "expected"),
    [
        ("ici_fsdp_paralelism=4", "key-unknown", "'ici_fsdp_parallelism'"),
        ("nonsense", "setting", "KEY=VALUE"),
        ("ici_tensor_parallelism=-1", "unspecified-twice", "-1 for at most one ICI axis"),
        ("ici_fsdp_parallelism=0", "axis-size", "1 or more"),
        ("ici_fsdp_parallelism=-4", "axis-size", "1 or more"),
        (f"ici_fsdp_parallelism={2**63}", "value", "an integer of at most 64 bits"),
        ("ici_fsdp_parallelism=3", "ici-product", "for example ici_fsdp_parallelism=16"),
        ("dcn_data_parallelism=3", "dcn-product", "for example dcn_data_parallelism=2"),
    ],
)
def test_bad_settings_are_found_with_the_expected_values(setting, rule, expected):
    report = maxtext.check([setting], **TWO)
    (found,) = report.findings
    assert (found.rule, report.has_no_errors) == (rule, False)
    assert expected in found.expected


def test_arguments_override_settings_files():
    base, mine = (
        "ici_tensor_parallelism: 3\nper_device_batch_size: 2\n",
        b"base_config: a.yml\nici_tensor_parallelism: 4\n",
    )
    report = maxtext.check(["mine.yml", "per_device_batch_size=4"], configs={"a.yml": base, "mine.yml": mine}, **TWO)
    assert (sizes(report)["tensor"], report.batch, report.findings) == ((4, 1), 128, ())
    (found,) = maxtext.check(configs={"mine.yml": "\nici_fdsp_parallelism: 4\n"}, **TWO).findings
    assert (found.rule, found.file, found.line) == ("key-unknown", "mine.yml", 2)
    assert found.message.startswith("mine.yml: line 2: 'ici_fdsp_parallelism'")
    (of_word,) = maxtext.check(["ici_fdsp_parallelism=4"], configs={"mine.yml": "steps: 1\n"}, **TWO).findings
    assert (of_word.file, of_word.line) == (None, None)
    with pytest.raises(quoit.InvalidError, match="mine.yml: line 1: a list: expected a map of settings"):
        maxtext.check(configs={"mine.yml": "- steps\n"}, **TWO)
    with pytest.raises(TypeError, match="configs: expected a mapping of str to str or bytes, not list"):
        maxtext.check(configs=["mine.yml"], **TWO)
    with pytest.raises(TypeError, match=r"configs\['a'\]: expected a str or bytes, not int"):
        maxtext.check(configs={"a": 1}, **TWO)


def test_a_finding_for_an_unknown_word_has_no_key():
    (found,) = maxtext.check(["ici_fdsp_parallelism=4"], **TWO).findings
    assert (found.key, found.value) == (None, "ici_fdsp_parallelism")
    assert "'ici_fsdp_parallelism'" in found.expected


def test_a_job_with_only_warnings_has_no_errors():
    report = maxtext.check(["ici_sequence_parallelism=4"], **TWO)
    assert [one.severity for one in report.findings] == [quoit.Severity.WARNING]
    assert report.has_no_errors


@pytest.mark.parametrize(
    ("workers", "resources", "settings", "rules"),
    [
        (8, {"TPU": 4}, [], []),
        ((4, 12), {"TPU": 4}, [], []),
        (4, {"TPU": 4}, [], ["scaling-slices"]),
        (7, {"TPU": 4}, [], ["scaling"]),
        ((4, 12), {"TPU": 4}, ["dcn_data_parallelism=2"], ["scaling-elastic"]),
    ],
)
def test_workers_are_compared_with_the_slices(workers, resources, settings, rules):
    report = maxtext.check(settings, **TWO, num_workers=workers, resources_per_worker=resources)
    assert [one.rule for one in report.findings] == rules


@pytest.mark.parametrize(
    ("settings", "arguments", "error", "message"),
    [
        ([], {}, quoit.InvalidError, "slices: expected accelerator and topology, or a compile_topology"),
        ([], {**TWO, "accelerator": "v9"}, quoit.InvalidError, "generation 'v9'"),
        ([], {**TWO, "topology": "4x5"}, quoit.InvalidError, "topology '4x5'"),
        ([], {**TWO, "topology": None}, quoit.InvalidError, "accelerator: expected both accelerator and topology"),
        ([], {**TWO, "num_slices": 0}, quoit.InvalidError, "slices '0': expected 1 to 1000000"),
        ([], {**TWO, "chips_per_host": -1}, quoit.InvalidError, "chips_per_host '-1'"),
        ([], {**TWO, "num_workers": "8"}, quoit.InvalidError, "num_workers '8'"),
        ([], {**TWO, "resources_per_worker": 4}, TypeError, "resources_per_worker: expected a mapping"),
        ("steps=1", TWO, TypeError, "settings: expected a sequence of str"),
        ([1], TWO, TypeError, r"settings\[0\]: expected a str"),
        (["a\0=1"], TWO, quoit.InvalidError, "NUL"),
    ],
)
def test_invalid_arguments_of_check_are_refused(settings, arguments, error, message):
    with pytest.raises(error, match=message):
        maxtext.check(settings, **arguments)


def test_every_finding_has_a_listed_rule():
    rules = {rule.name: rule.severity for rule in maxtext.check_rules()}
    assert len(rules) == len(maxtext.check_rules()) > 20
    found = maxtext.check(["a", "b=1", "hardware=gpu", "ici_sequence_parallelism=2", "base.yml"], **TWO).findings
    assert len({one.rule for one in found}) == 5
    assert all(rules[one.rule] == one.severity for one in found)
