# SPDX-License-Identifier: Apache-2.0
"""The catalogue of TPU generations."""

import dataclasses
import math

import pytest

import quoit
from quoit import _c, catalogue


def test_a_generation_is_found_by_the_name_of_any_system():
    for name in ("v5e", "v5litepod", "TPU-V5LITEPOD", "tpu-v5-lite-podslice", "V5E"):
        assert catalogue.lookup_generation(name).id == "v5e"
    assert catalogue.lookup_generation("Trillium").name == "v6e"
    for one in catalogue.generations():
        for name in (one.id, *one.gke_labels, *one.aliases):
            assert catalogue.lookup_generation(name) == one


@pytest.mark.parametrize("text", ["v6e-16", "h100", "", "v6e\n"])
def test_unknown_names_of_generations_are_refused(text):
    with pytest.raises(quoit.InvalidError):
        catalogue.lookup_generation(text)


def test_a_generation_has_the_published_values():
    v5e, v2 = catalogue.lookup_generation("v5e"), catalogue.lookup_generation("v2")
    assert (v5e.name, v5e.ray_resource, v5e.gke_prefix) == ("v5litepod", "TPU-V5LITEPOD", "v5litepod")
    assert (v5e.dims, v5e.cores_per_chip, v5e.hbm_gb, v5e.is_multislice_on_gke) == (2, 1, 16, True)
    assert v5e.jax_kinds == ("TPU v5 lite", "TPU v5e")
    assert (v2.pod_chips, v2.gke_prefix, v2.is_multislice_on_gke) == (None, None, False)
    assert catalogue.lookup_generation("v5p").max_topology == "16x16x24"


def test_every_topology_consists_of_its_hosts():
    for generation in catalogue.generations():
        assert generation.dims in (2, 3)
        assert generation.topologies
        for one in generation.topologies:
            dims = [int(part) for part in one.shape.split("x")]
            assert len(dims) == generation.dims
            assert math.prod(dims) == one.chips == one.hosts * one.chips_per_host
            assert one.cores == one.chips * generation.cores_per_chip
            assert one.jax_devices == one.chips * generation.jax_devices_per_chip
            assert set(one.wrap) <= set("xyz")


def test_a_topology_is_found_by_shape_and_hosts():
    v6e = catalogue.lookup_generation("v6e")
    assert v6e.lookup_topology("2x4").chips_per_host == 8
    assert v6e.lookup_topology("2x4", 4).hosts == 2
    assert v6e.lookup_topology("4x4") in v6e.topologies
    found = v6e.lookup_topology("4x4")
    assert (found.pod_type, found.machine_type, found.host_grid) == ("v6e-16", "ct6e-standard-4t", "2x2")
    assert (found.host_block, found.is_ray_only, found.is_twistable) == ("2x2", False, False)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("4x4xa",), quoit.InvalidError, "4x4xa"),
        (("3x5",), quoit.InvalidError, "3x5"),
        (("4x4", 1), quoit.NotFoundError, "4x4"),
        (("4x4", -1), quoit.InvalidError, "chips_per_host '-1'"),
        (("4x4", 2**32), quoit.InvalidError, "chips_per_host '4294967296'"),
        (("4x4", 4.0), TypeError, "chips_per_host: expected an int"),
        ((16,), TypeError, "shape: expected a str"),
    ],
)
def test_topologies_that_do_not_exist_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        catalogue.lookup_generation("v6e").lookup_topology(*arguments)


def test_machines_have_the_chips_that_topologies_are_made_of():
    v6e = catalogue.lookup_generation("v6e")
    by_name = {machine.name: machine for machine in v6e.machines}
    assert by_name["ct6e-standard-4t"].chips == 4
    assert by_name["ct6e-standard-4t"].is_multi_host
    assert not by_name["ct6e-standard-1t"].is_multi_host
    for one in v6e.topologies:
        assert one.machine_type is None or by_name[one.machine_type].chips == one.chips_per_host


def fields_by_member(row, kind):
    """Yields each member of libquoit's enum of fields, with the value of the row's field for it.

    The field has the name of the member: HBM_GB is hbm_gb, TWISTABLE is is_twistable, GKE_LABEL is gke_labels.
    """
    for member in kind:
        name = member.name.lower()
        (field,) = [one for one in (name, f"is_{name}", f"{name}s", f"{name}es") if hasattr(row, one)]
        yield member, getattr(row, field)


@pytest.mark.parametrize(
    ("rows", "texts", "numbers", "noun"),
    [
        (lambda one: [one], catalogue._GenerationText, catalogue._GenerationNumber, "generation"),
        (lambda one: one.topologies, catalogue._TopologyText, catalogue._TopologyNumber, "topology"),
        (lambda one: one.machines, catalogue._MachineText, catalogue._MachineNumber, "machine"),
    ],
)
def test_each_attribute_has_the_librarys_value(rows, texts, numbers, noun):
    looked_at = 0
    for generation in catalogue.generations():
        pointer = catalogue._pointer(generation)
        for at, row in enumerate(rows(generation)):
            if noun != "generation":
                one = getattr(_c.lib, f"quoit_catalogue_get_{noun}")(pointer, at)
            else:
                one = pointer
            for member, value in fields_by_member(row, numbers):
                number = getattr(_c.lib, f"quoit_catalogue_{noun}_get_number")(one, member)
                assert (-1 if value is None else value) == number, (row, member)
                looked_at += 1
            for member, value in fields_by_member(row, texts):
                index = (0,) if noun == "generation" else ()
                text = _c.take_text_or_none(getattr(_c.lib, f"quoit_catalogue_{noun}_dup_text")(one, member, *index))
                first = (value[0] if value else None) if isinstance(value, tuple) else value
                assert (first or None) == (text or None), (row, member)
                looked_at += 1
    assert looked_at > 50


def test_rows_can_be_compared_and_pickled():
    one = catalogue.lookup_generation("v6e")
    assert len({one, catalogue.lookup_generation("Trillium")}) == 1
    assert one.topologies is one.topologies
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.dims = 3
