# SPDX-License-Identifier: Apache-2.0
"""Compares the arithmetic and labels of quoit.ray_rules with Ray's functions, for random texts. Starts no cluster."""

import pytest
from test_ray_rules import Sides, accel, draw, of_accel, of_util, sides, util  # noqa: F401

from quoit.ray_rules import arithmetic, hosts, labels

label_utils = pytest.importorskip("ray._private.label_utils")

MANAGER = accel.TPUAcceleratorManager

GENERATIONS = ["v2", "v3", "v4", "v5p", "v5litepod", "v6e", "v7x", "TPU-V6E", "tpu7x"]
TYPES = [*GENERATIONS, "v4-16", "v6e-8", "v5litepod-256", "TPU-V5P-8"]
SHAPES = ["1x1", "2x2", "2x4", "4x4", "8x16", "16x16", "2x2x1", "2x2x2", "4x4x8", "12x16x20"]
KEYS = ["ray.io/tpu-slice-name", "region", "a/b", "a.b/c_d", "A" * 63, "a-", "/", "ray.io/"]
VALUES = ["us-west4", "", "!spot", "in(a,b)", "!in(a, b)", "(a)", "in()", "a_b.c", "v" * 63]
LABELS = ["region=us-west4", "a=b,c=d", '"a=b, c=d"', "a=", "=b", "a=b,a=c", "a=b=c", ""]
ALPHABET = "0149xXvVeptuTPU-_+. \t,!=()/\"'aA\u0660\u00e9"


def changed(draw, texts):  # noqa: F811
    """Returns one of the texts. Often one or two characters of it are added, removed or replaced."""
    text = draw.choice(texts)
    for _ in range(draw.choice([0, 0, 1, 1, 2])):
        at = draw.randrange(len(text) + 1)
        text = text[:at] + draw.choice(["", draw.choice(ALPHABET)]) + text[at + draw.randrange(2) :]
    return text


@pytest.mark.parametrize(
    ("of_ray", "of_quoit", "texts"),
    [
        (of_accel.normalize_tpu_accelerator_type, arithmetic.normalize_type, [TYPES]),
        (MANAGER.is_valid_tpu_accelerator_type, arithmetic.type_is_valid, [TYPES]),
        (MANAGER.is_valid_tpu_accelerator_topology, arithmetic.topology_is_valid, [TYPES, SHAPES]),
        (of_accel.get_tpu_cores_per_chip, arithmetic.cores_per_chip, [TYPES]),
        (of_accel.get_num_chips_from_topology, arithmetic.chips_from_topology, [SHAPES]),
        (of_accel.get_total_chips_from_accelerator_type, arithmetic.chips_from_type, [TYPES]),
        (of_accel.get_num_tpu_visible_chips_per_host, arithmetic.visible_chips_per_host, [TYPES]),
        (of_accel.get_chips_per_host, arithmetic.chips_per_host, [SHAPES, TYPES]),
        (of_accel._get_default_chips_per_vm, arithmetic.default_chips_per_vm, [SHAPES, TYPES]),
        (of_accel.infer_tpu_pod_type_from_topology, arithmetic.pod_type, [SHAPES, TYPES]),
        (of_util.get_tpu_version_from_type, arithmetic.version_from_type, [TYPES]),
        (label_utils.parse_node_labels_string, labels.labels_parse, [LABELS]),
        (label_utils.validate_label_value, labels.label_check_value, [VALUES]),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_random_types_and_topologies_match_ray(draw, of_ray, of_quoit, texts):  # noqa: F811
    compared = Sides()
    for _ in range(1500):
        compared.compare(of_ray, of_quoit, *(changed(draw, some) for some in texts))
    assert compared.n_answers > 50


@pytest.mark.parametrize(
    ("of_ray", "of_quoit", "texts"),
    [
        (label_utils.validate_label_key, labels.label_check_key, KEYS),
        (label_utils.validate_label_selector_value, labels.selector_check_value, VALUES),
    ],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_inputs_that_ray_refuses_are_refused(draw, of_ray, of_quoit, texts):  # noqa: F811
    def is_accepted(ask, text):
        try:
            return ask(text) is None
        except ValueError:
            return False

    answers = set()
    for _ in range(1500):
        text = changed(draw, texts)
        answers.add(is_accepted(of_ray, text))
        assert is_accepted(of_quoit, text) == is_accepted(of_ray, text), text
    assert answers == {True, False}


def test_random_worker_counts_match_ray(sides, draw):  # noqa: F811
    def of_ray(shape, kind, wanted, **numbers):
        return util.get_tpu_worker_resources(shape, kind, wanted, **numbers)

    def of_quoit(shape, kind, wanted, num_slices):
        asked = arithmetic.worker_resources(shape, kind, wanted, num_slices=num_slices)
        return asked.num_workers, asked.resources

    for _ in range(1500):
        wanted = draw.choice([None, {}, {"TPU": draw.choice([1, 2, 3, 4, 0.5, 0, 8, 16])}, {"CPU": 2, "a": 1.5}])
        arguments = changed(draw, SHAPES), changed(draw, TYPES), wanted
        n_slices = draw.choice([*range(-1, 5), True, False])
        sides.compare(
            lambda *one, n=n_slices: of_ray(*one, num_slices=n), lambda *one, n=n_slices: of_quoit(*one, n), *arguments
        )


def test_valid_quantities_match_ray(draw):  # noqa: F811
    for _ in range(300):
        quantity = draw.choice([draw.randrange(-2, 20), draw.random() * 8, float(draw.randrange(10))])
        assert hosts.quantity_is_valid(quantity) == MANAGER.validate_resource_request_quantity(quantity)[0], quantity
