# SPDX-License-Identifier: Apache-2.0
"""Compares the functions of quoit.ray_rules with Ray's functions, for random arguments. No cluster is started."""

import contextlib
import functools
import logging
import os
import random
from unittest import mock

import numpy
import pytest

import quoit
from quoit.ray_rules import slices, subslices, train

os.environ.setdefault("RAY_TRAIN_V2_ENABLED", "1")
ray = pytest.importorskip("ray", "2.55.0")

from ray._private.accelerators import tpu as accel  # noqa: E402
from ray.util import tpu as util  # noqa: E402
from ray_versions import Functions, Lacking  # noqa: E402

of_accel, of_util = Functions(accel), Functions(util)

SLICE, WORKER, TOPOLOGY = "ray.io/tpu-slice-name", "ray.io/tpu-worker-id", "ray.io/tpu-topology"

# For each exception of Ray, the exception that quoit must raise.
EXPECTED_EXCEPTIONS = {
    AttributeError: TypeError,
    DeprecationWarning: quoit.InvalidError,
    IndexError: quoit.InvalidError,
    RuntimeError: quoit.NotNowError,
    TypeError: TypeError,
    ValueError: quoit.InvalidError,
    ZeroDivisionError: quoit.InvalidError,
}


def answer_of_ray(call, arguments):
    try:
        return call(*arguments)
    except Exception as error:
        return EXPECTED_EXCEPTIONS[type(error)]


def answer_of_quoit(call, arguments):
    try:
        return call(*arguments)
    except (quoit.Error, TypeError) as error:
        return type(error)


class Sides:
    """Compares Ray's answers with quoit's answers, and counts results and refusals."""

    def __init__(self):
        self.n_answers = self.n_refusals = 0

    def compare(self, ask_ray, ask_quoit, *arguments):
        theirs, ours = answer_of_ray(ask_ray, arguments), answer_of_quoit(ask_quoit, arguments)
        assert ours == theirs, arguments
        if isinstance(theirs, type):
            self.n_refusals += 1
        else:
            self.n_answers += 1


@pytest.fixture
def sides():
    """Yields a comparison without Ray's log. At the end, it must have compared enough results and refusals."""
    compared, n_lacking = Sides(), Lacking.n_calls
    logging.disable(logging.CRITICAL)
    yield compared
    logging.disable(logging.NOTSET)
    is_complete = compared.n_answers > 50 and compared.n_refusals > 20
    assert is_complete or Lacking.n_calls > n_lacking, vars(compared)


@pytest.fixture
def draw():
    return random.Random(2600)


# --- drawing arguments ----------------------------------------------------------------------------------------------

LISTED = [
    "4x4",
    "2x4",
    "2x2",
    "1x1",
    "8x8",
    "4x8",
    "2x2x1",
    "2x2x2",
    "2x2x4",
    "4x4x4",
    "2x4x4",
    "4x4x8",
    "16x16",
    "2x8",
    "32x32",
    "12x12x12",
]
ODD = ["", " 4X4 ", "3x3", "4xx", "-4x4", "0x4", "4x4x", "none", "4", "0_4x4", "4 x4", None]
GRIDS = [
    *getattr(accel, "_VALID_TOPOLOGY_WORKER_DIMS_2D", ()),
    *getattr(accel, "_VALID_TOPOLOGY_WORKER_DIMS_3D", ()),
]


def a_topology(draw):
    return draw.choice(LISTED if draw.random() < 0.9 else ODD)


def a_version(draw):
    odd = ["", " v6e ", "v6e-16", "tpu7x", "TPUV6E", None]
    return draw.choice(
        ["v6e", "v5p", "v4", "v3", "v5litepod", "v7x", "TPU-V6E", "TPU-V4"] if draw.random() < 0.9 else odd
    )


def some_resources(draw):
    amounts = {"TPU": draw.choice([1, 2, 4, 4, 8, 0, -1, 0.5, 1.5]), "CPU": draw.choice([0, 1, 0.5])}
    return draw.choice([None, {}, {"TPU": amounts["TPU"]}, {"CPU": amounts["CPU"]}, amounts, {"memory": 1e9, "x": 0}])


def some(draw, of):
    """Draws a value for each argument. Each argument is left out with probability 1/2."""
    return {name: draw.choice(values) for name, values in of.items() if draw.random() < 0.5}


# --- slices -------------------------------------------------------------------------------------------------------


def bundles_of(arguments):
    """The number of bundles that Ray computes for the arguments, or 4 if Ray refuses them."""
    with contextlib.suppress(Exception):
        shape = arguments["topology"].strip().lower(), arguments["accelerator_version"].strip()
        others = {name: arguments.get(name) for name in ("chips_per_vm", "tpu_resource_per_chip")}
        asked = arguments.get("resources_per_bundle"), arguments.get("num_slices", 1)
        return util.get_tpu_worker_resources(*shape, *asked, **others)[0]
    return 4


def a_slice_request(draw):
    arguments = {"topology": a_topology(draw), "accelerator_version": a_version(draw)}
    arguments.update(
        some(
            draw,
            {
                "num_slices": [0, 1, 2, 3, -1, True, False],
                "chips_per_vm": [None, None, 1, 4, 8, 0, True, False],
                "resources_per_bundle": [some_resources(draw)],
                "strategy": ["SPREAD", "STRICT_PACK", "x"],
                "name": ["", "job"],
                "lifetime": [None, "detached"],
                "pg_per_slice": [True, False],
                "tpu_resource_per_chip": [None, 1, 1, 2, 0],
            },
        )
    )
    if draw.random() < 0.5:
        n_bundles = draw.choice([1, max(0, min(bundles_of(arguments), 64))])
        one = [{}, {"a": "b"}, {"a": None}, {SLICE: "mine"}, {SLICE: ""}, {SLICE: None, "z": "1"}, {SLICE: "other"}]
        none = [None] if draw.random() < 0.1 else []
        arguments["bundle_label_selector"] = [draw.choice(one + none) for _ in range(n_bundles)]
    return arguments


def slices_of_ray(arguments):
    made, heads = [], []

    def reserve(topology, accelerator_type, timeout_s):
        pod_type = accel.infer_tpu_pod_type_from_topology(topology, accelerator_type)
        heads.append(({f"TPU-{pod_type}-head": 1}, {WORKER: "0", "ray.io/tpu-pod-type": pod_type}))
        return f"slice-{len(heads) - 1}", object()

    with (
        mock.patch.object(util, "reserve_tpu_slice", reserve),
        mock.patch.object(util, "placement_group", lambda **group: made.append(group) or group),
        mock.patch.object(util, "remove_placement_group"),
    ):
        group = util.SlicePlacementGroup(**arguments)
    return {
        "shape": (group.topology, group.accelerator_version, group.num_slices),
        "hosts": (group.num_hosts, group.chips_per_host, group.devices_per_host),
        "bundles": (group.num_bundles, group.bundle_resources, group.bundle_label_selector),
        "heads": heads,
        "groups": [(one["name"], len(one["bundles"]), one["strategy"], one["lifetime"]) for one in made],
        "selectors": [selector for one in made for selector in one["bundle_label_selector"]],
    }


def slices_of_quoit(arguments):
    group = slices.slice_placement_group(**arguments)
    group = group.with_slice_names({head.slice_index: f"slice-{i}" for i, head in enumerate(group.heads)})
    selectors = list(group.bundle_label_selector)
    return {
        "shape": (group.topology, group.accelerator_version, group.num_slices),
        "hosts": (group.num_hosts, group.chips_per_host, group.devices_per_host),
        "bundles": (group.num_bundles, group.bundle_resources, selectors),
        "heads": [(head.bundle, head.selector) for head in group.heads],
        "groups": [(one.name, one.num_bundles, one.strategy, one.lifetime) for one in group.placement_groups],
        "selectors": selectors,
    }


def test_slice_requests_match_ray(sides, draw):
    for _ in range(1500):
        sides.compare(slices_of_ray, slices_of_quoit, a_slice_request(draw))


# --- sub-slices ---------------------------------------------------------------------------------------------------


def a_parent(draw):
    return draw.choice(GRIDS) if draw.random() < 0.85 else a_topology(draw)


def some_coordinates(draw):
    if draw.random() < 0.1:
        return draw.choice([[], [[0]], [[]], [["0", "0"]], [["0"]], [[0, "1"]], [[None, 0]], [[0, 0], [0]]])
    most = draw.choice([2, 4, 8, 20])
    n_chips = draw.randrange(1, 5)
    return [[draw.randrange(-1, most) for _ in range(draw.choice([2, 3, 3, 4]))] for _ in range(n_chips)]


def test_worker_ids_match_ray(sides, draw):
    for _ in range(2000):
        asked = of_accel._get_physical_worker_id_from_coords, subslices.physical_worker_id
        sides.compare(*asked, some_coordinates(draw), a_parent(draw))


def test_subslice_labels_match_ray(sides, draw):
    for _ in range(1000):
        asked = of_accel._build_subslice_labels, subslices.subslice_labels
        sides.compare(*asked, draw.randrange(-5, 300), a_parent(draw))


@pytest.mark.parametrize(
    "of_ray, of_quoit",
    [
        (of_accel._parse_topology_dims, subslices.topology_dims),
        (of_accel._get_worker_dims_for_topology, subslices.worker_grid),
    ],
)
def test_topology_axes_match_ray(sides, draw, of_ray, of_quoit):
    for topology in [*GRIDS, *LISTED, *ODD] * 2 + [a_topology(draw) for _ in range(300)]:
        sides.compare(of_ray, of_quoit, topology)


HOSTS = {"4x4": 4, "2x4": 2, "4x8": 8, "8x8": 16}


def a_cluster(draw):
    """Nodes, their available resources, and the discovered slices."""
    nodes, available, known = [], {}, {}
    for name in draw.sample(["a", "b", "s-9", "s-10"], draw.randrange(1, 4)):
        topology = draw.choice([*HOSTS, "4x4"])
        head = f"TPU-{accel.infer_tpu_pod_type_from_topology(topology, 'v6e')}-head"
        for worker in range(HOSTS[topology]):
            node_id, labels = f"{name}.{worker}", {SLICE: name, WORKER: str(worker), TOPOLOGY: topology}
            alive = draw.random() < 0.97
            nodes.append({"NodeID": node_id, "Alive": alive, "Labels": labels, "Resources": {"TPU": 4}})
            if draw.random() < 0.9:
                available[node_id] = {"TPU": 4 if draw.random() < 0.8 else draw.choice([0, 2])}
                if worker == 0 and draw.random() < 0.7:
                    available[node_id][head] = draw.choice([1, 1, 0])
        if draw.random() < 0.6:
            known[name] = {str(w): accel._build_subslice_labels(w, topology) for w in range(HOSTS[topology])}
    draw.shuffle(nodes)
    return known, nodes, available


class Discovery(Exception):
    """Raised if Ray would start to discover a slice."""


def step_of_ray(cluster, arguments):
    known, nodes, available = cluster
    made = []

    def discover(parent, version, chips, timeout_s, target_slice_name):
        raise Discovery(parent, target_slice_name, chips)

    patches = {
        "_discover_and_persist_subslices": discover,
        "_refresh_cache_from_kv": lambda *_: None,
        "_tpu_subslice_cache": known,
        "placement_group": lambda **group: made.append(group),
    }
    with contextlib.ExitStack() as stack:
        for name, value in patches.items():
            stack.enter_context(mock.patch.object(util, name, value))
        stack.enter_context(mock.patch.object(ray, "nodes", lambda: nodes))
        stack.enter_context(mock.patch("ray._private.state.available_resources_per_node", lambda: available))
        try:
            group = util.subslice_placement_group.__wrapped__(**arguments)
        except Discovery as found:
            return ("DISCOVER", *found.args, None, [], [])
    place = group.parent_topology, group.slice_name, group.chips_per_host, group.subslice_index
    return ("RESERVE", *place, made[0]["bundles"], made[0]["bundle_label_selector"])


def step_of_quoit(cluster, arguments):
    plan = subslices.subslice_placement_group(*cluster, **arguments)
    selectors = list(plan.bundle_label_selector)
    place = plan.parent_topology, plan.slice_name, plan.chips_per_host, plan.subslice_index
    return (plan.step.name, *place, [plan.bundle_resources] * len(selectors), selectors)


def test_subslice_steps_match_ray(sides, draw):
    for _ in range(1500):
        cluster = a_cluster(draw)
        arguments = {
            "subslice_topology": draw.choice(["2x2", "2x4", "2x4", " 2X4 ", "4x4", "2x2x1", "none"]),
            "accelerator_version": draw.choice(["v6e", "v6e", "TPU-V6E", "v4", "v6"]),
            **some(
                draw,
                {
                    "chips_per_vm": [None, 4, 8, 0],
                    "resources_per_bundle": [None, {"TPU": 2}],
                    "subslice_index": [None, 0, 1, 5],
                },
            ),
        }
        sides.compare(step_of_ray, step_of_quoit, cluster, arguments)


# --- Ray Train ----------------------------------------------------------------------------------------------------


@pytest.fixture
def ray_train():
    """Ray Train needs more packages than Ray."""
    try:
        from ray.train.v2._internal.execution.scaling_policy import elastic
        from ray.train.v2.api.config import ScalingConfig
    except ImportError as error:
        pytest.skip(f"Ray Train cannot be imported: {error}")
    return ScalingConfig, elastic.ElasticScalingPolicy


NO_NUMBERS_OF_WORKERS = ["2", None, 2.0, (1,), (1, 2, 3), (1.0, 2), [4, 8], {}, numpy.int64(4), (1, numpy.int64(4))]
ODD_NUMBERS_OF_WORKERS = [*NO_NUMBERS_OF_WORKERS, True, False, (True, 4), (False, True), (True, False)]


def a_scaling(draw):
    arguments = {
        "num_workers": draw.choice([0, 1, 4, 4, 8, 16, 3, -1, (4, 8), (0, 4), (4, 4), (8, 4), (2, 3)]),
        "use_tpu": draw.random() < 0.8,
        "topology": a_topology(draw) if draw.random() < 0.4 else "4x4",
        "accelerator_type": draw.choice(["TPU-V6E", "TPU-V6E", "TPU-V4", "v6e", "A100", "", None, "v6e-16"]),
    }
    if draw.random() < 0.1:
        arguments["num_workers"] = draw.choice(ODD_NUMBERS_OF_WORKERS)
    of = {
        "use_gpu": [False, False, False, True],
        "resources_per_worker": [some_resources(draw), {"GPU": 1}],
        "placement_strategy": ["PACK", "SPREAD", "x"],
        "label_selector": [None, None, {}, {"a": "b"}, [], [{"a": "b"}] * 4, [{}]],
        "elastic_resize_monitor_interval_s": [-1, 0, 60, 1.5, -0.001],
        "trainer_resources": [None] * 9 + [{}],
    }
    return {**arguments, **some(draw, of)}


def scaling_of_ray(config, arguments):
    asked = config(**arguments)
    most, resources = asked.max_workers, asked._resources_per_worker_not_none
    on_slices = bool(asked.use_tpu and asked.topology and asked.accelerator_type)
    job = asked.topology, asked.accelerator_type, most, resources
    return {
        "workers": (asked.min_workers, most, asked.elasticity_enabled),
        "resources": (resources, asked.total_resources, asked.num_tpus_per_worker),
        "slices": (on_slices, util.get_tpu_num_slices_for_workers(*job) if asked.use_tpu else 1),
        "selectors": asked._label_selector_per_worker(most),
    }


def scaling_of_quoit(arguments):
    asked = train.ScalingConfig(**arguments)
    most = asked.max_workers
    selectors = asked.label_selector_per_worker(most)
    return {
        "workers": (asked.min_workers, most, asked.elasticity_enabled),
        "resources": (asked.worker_resources, asked.total_resources, asked.num_tpus_per_worker),
        "slices": (asked.uses_slices, asked.num_slices(most)),
        "selectors": None if selectors is None else list(selectors),
    }


def test_scaling_matches_ray_train(sides, draw, ray_train):
    for _ in range(2000):
        sides.compare(functools.partial(scaling_of_ray, ray_train[0]), scaling_of_quoit, a_scaling(draw))


def a_worker_count_case(draw):
    """Random arguments of a worker count: those of a ScalingConfig, the resources of nodes, and the intact slices."""
    low = draw.choice([0, 1, 2, 4])
    arguments = {"num_workers": (low, low + draw.choice([0, 4, 8, 16, 1]))}
    if draw.random() < 0.7:
        arguments.update(use_tpu=True, topology=draw.choice(["4x4", "2x2x2", "2x4"]), accelerator_type="TPU-V6E")
        arguments["resources_per_worker"] = draw.choice([{"TPU": 4, "CPU": 1}, {"TPU": 4}, {"TPU": 1, "CPU": 0.1}])
    else:
        arguments["resources_per_worker"] = draw.choice([{"CPU": 0.1}, {"CPU": 0}, {"CPU": 0.3, "x": -0.1}, {"x": -1}])
    host = {"TPU": 4, "CPU": 1, "accelerator_type:TPU-V6E": 1}
    part = draw.choice([0.5, 1, 1, 2, 3, 0.7])
    nodes = {str(index): {name: amount * part for name, amount in host.items()} for index in range(draw.randrange(20))}
    return arguments, nodes, draw.randrange(5)


def count_of_ray(ray_train, arguments, nodes, intact):
    config, policy = ray_train
    asked = policy.__new__(policy)
    asked.scaling_config = config(**arguments)
    with mock.patch.object(util, "get_num_tpu_slices", lambda **_: intact):
        return asked._count_possible_workers(nodes)


def count_of_quoit(arguments, nodes, intact):
    return train.ScalingConfig(**arguments).count_possible_workers(nodes, intact)


def test_worker_counts_match_ray_train(sides, draw, ray_train):
    for _ in range(1500):
        sides.compare(functools.partial(count_of_ray, ray_train), count_of_quoit, *a_worker_count_case(draw))
