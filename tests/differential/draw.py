# SPDX-License-Identifier: Apache-2.0
"""Random cases: fleets and requests. The same seed and number give the same case, whatever Ray answers.

A case is {"id", "op", "in"} and the requests to the server: "place" has one request. "lose" has one request, and then
the nodes with the bundles in "losses" die. "sequence" has steps on one cluster. "gone" are draining or dead nodes.
"""

import random

from model import PREDEFINED, fixed

STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")
CUSTOM = (
    "TPU",
    "TPU-v6e-16-head",
    "TPU-v4-16-head",
    "TPU-v5litepod-16-head",
    "accelerator_type:TPU-V6E",
    "neuron_cores",
    "custom",
    "a",
    "b",
    "x",
    "yy",
    "zzz",
    "resource-0",
    "resource-1",
    "node:10.0.0.1",
    "a-name-of-16-byte",
    "exactly8",
)
PRIMES = [p for p in range(5, 400) if all(p % d for d in range(2, p))]
# Doubles that lose a unit when Ray truncates them, and some that do not.
AWKWARD = (
    0.57,
    0.69,
    0.043,
    0.051,
    0.0003,
    0.0006,
    0.0012,
    0.0029,
    0.1,
    0.3,
    0.1 + 0.2,
    1 / 3,
    1.1,
    4.35,
    0.5,
    0.25,
    2 / 3,
)
LABEL_VALUES = ("a", "b", "c", "in", "v6e", "x.y", "")
RACK = "rack"
SLICE = "ray.io/tpu-slice-name"


# --- amounts


def whole(rng, most):
    return float(rng.randint(1, max(1, int(most))))


def fraction(rng, most):
    drawn = rng.choice(
        (
            lambda: rng.choice(AWKWARD),
            lambda: round(rng.uniform(0, most), 4),
            lambda: rng.uniform(0, most),
            lambda: rng.randint(1, 9999) / 10000,
        )
    )()
    return min(drawn, most)


def as_number(e4):
    """A double that Ray truncates to this amount."""
    return e4 / 10000 if fixed(e4 / 10000) == e4 else (e4 + 0.5) / 10000


def fixed_amounts(resources):
    return {name: fixed(number) for name, number in resources.items() if fixed(number) != 0}


# --- nodes


def draw_node(rng, resources, labels=None, busy=0.0):
    """Each resource is partly or fully in use with probability `busy`."""
    total = fixed_amounts(resources)
    free = dict(total)
    for name, e4 in total.items():
        if rng.random() < busy:
            free[name] = rng.choice((0, 10000 * rng.randint(0, e4 // 10000), rng.randint(0, e4)))
    node = {
        "id": rng.randbytes(28).hex(),
        "res": resources,
        "total": total,
        "avail": {name: e4 for name, e4 in free.items() if e4 != 0},
    }
    if labels:
        node["labels"] = labels
    return node


def draw_nodes(rng, names, n, most, amount=whole, busy=0.0):
    nodes = []
    cpus = rng.sample(PRIMES, n)
    # If every node has a different number of CPUs, few scores are equal.
    has_distinct_cpus = rng.random() < 0.6
    for i in range(n):
        resources = {name: amount(rng, most) for name in names if name != "CPU" and rng.random() < 0.85}
        if "CPU" in names:
            resources["CPU"] = float(cpus[i]) if has_distinct_cpus else amount(rng, most)
        nodes.append(draw_node(rng, resources, busy=busy))
    return nodes


def draw_names(rng, n):
    made_up = [rng.choice("rr-é") * rng.randint(1, 12) + "%x" % rng.getrandbits(rng.randint(4, 60)) for _ in range(3)]
    return rng.sample([*PREDEFINED, *CUSTOM, *made_up], n)


# --- requests


def draw_bundle(rng, nodes, share, amount=whole):
    """Usually an amount that fits on one of the nodes."""
    resources = rng.choice(nodes)["res"] or {"CPU": 1.0}
    names = rng.sample(sorted(resources), rng.randint(1, min(3, len(resources))))
    bundle = {name: amount(rng, resources[name] * share) for name in names}
    if rng.random() < 0.01:
        bundle[rng.choice(names)] *= 50
    return bundle


def draw_request(rng, nodes, n, amount=whole, strategy=None):
    strategy = strategy or rng.choice(STRATEGIES)
    if strategy == "STRICT_SPREAD" and rng.random() < 0.95:
        n = min(n, len(nodes))
    share = rng.choice((1.0, 0.5, 0.3, 0.1)) / (n**0.7 if strategy == "STRICT_PACK" else 1)
    bundles = [draw_bundle(rng, nodes, share, amount) for _ in range(n)]
    if n > 2 and rng.random() < 0.4:  # a few sizes, many times each
        sizes = bundles[: rng.randint(1, 3)]
        bundles = [dict(rng.choice(sizes)) for _ in range(n)]
    return {"bundles": bundles, "strategy": strategy}


def place(nodes, request, **more):
    return {"op": "place", "in": {"nodes": nodes, **request}, **more}


def draw_selector_text(rng, value=None):
    values = [rng.choice(LABEL_VALUES[:-1]) for _ in range(rng.randint(1, 3))]
    if value:
        values[0] = value
    listed = rng.choice((",", ",", ", ")).join(values)
    return rng.choice(
        (
            "%s" % values[0],
            "!%s" % values[0],
            "in(%s)" % listed,
            "!in(%s)" % listed,
            "(%s)" % listed,
            "!(%s)" % listed,
            "in(%s)" % values[0],
            "",
        )[: 8 if rng.random() < 0.1 else 4]
    )


def draw_selectors(rng, case):
    """Usually selectors that one of the nodes satisfies."""
    nodes, selectors = case["in"]["nodes"], []
    for _ in case["in"]["bundles"]:
        labels = rng.choice(nodes).get("labels", {})
        keys = rng.sample(sorted(labels), min(len(labels), rng.randint(0, 2)))
        selectors.append({key: draw_selector_text(rng, labels[key]) for key in keys})
        if rng.random() < 0.1:
            selectors[-1]["absent"] = draw_selector_text(rng)
    if rng.random() < 0.5:
        selectors = [selectors[0]] * len(selectors)
    case["in"]["selectors"] = [dict(s) for s in selectors]


def draw_labels(rng, nodes):
    keys = ("zone", "market", "ray.io/accelerator-type", "tier")
    for node in nodes:
        labels = {key: rng.choice(LABEL_VALUES) for key in keys if rng.random() < 0.7}
        node.setdefault("labels", {}).update(labels)


def draw_racks(rng, nodes):
    n = rng.randint(1, max(1, len(nodes) // 2))
    for node in nodes:
        if rng.random() < 0.95:
            node.setdefault("labels", {})[RACK] = "" if rng.random() < 0.03 else "rack-%d" % rng.randrange(n)


# --- families


def small(rng):
    nodes = draw_nodes(rng, draw_names(rng, rng.randint(1, 4)), rng.randint(1, 8), 8, busy=0.2)
    return place(nodes, draw_request(rng, nodes, rng.randint(1, 7)))


def large(rng):
    """Has more bundles than std::sort handles by insertion sort."""
    names = ["CPU", *draw_names(rng, rng.randint(0, 2))]
    nodes = draw_nodes(rng, names, rng.randint(4, 30), 8, busy=0.1)
    return place(nodes, draw_request(rng, nodes, rng.randint(15, 40)))


def fractions(rng):
    nodes = draw_nodes(rng, rng.sample(("CPU", "TPU", "GPU", "custom"), 2), rng.randint(1, 5), 4, fraction, busy=0.2)
    return place(nodes, draw_request(rng, nodes, rng.randint(1, 6), fraction))


def exact(rng):
    """Nodes with exactly the capacity of the truncated bundles."""
    names = rng.sample(("CPU", "TPU", "custom"), rng.randint(1, 2))
    bundles = [{name: fraction(rng, 1.0) for name in names} for _ in range(rng.randint(1, 6))]
    rooms = [dict.fromkeys(names, 0) for _ in range(rng.randint(1, 4))]
    for bundle in bundles:
        room = rng.choice(rooms)
        for name, e4 in fixed_amounts(bundle).items():
            room[name] += e4
    nodes = [
        draw_node(rng, {name: as_number(max(0, e4 - (rng.random() < 0.05))) for name, e4 in room.items()})
        for room in rooms
    ]
    return place(nodes, {"bundles": bundles, "strategy": rng.choice(STRATEGIES)})


def order(rng):
    """The placement order depends on the hashes of the names."""
    nodes = draw_nodes(rng, draw_names(rng, rng.randint(3, 8)), rng.randint(1, 6), 6)
    return place(nodes, draw_request(rng, nodes, rng.randint(2, 9)))


def tpu(rng):
    """Slices of hosts, requested like Ray's own TPU code does."""
    shapes = (
        ("v6e", "TPU-V6E", "4x4", "v6e-16", 4, 4.0),
        ("v6e", "TPU-V6E", "2x4", "v6e-8", 2, 4.0),
        ("v4", "TPU-V4", "2x2x4", "v4-32", 4, 4.0),
        ("v5e", "TPU-V5LITEPOD", "2x4", "v5litepod-8", 1, 8.0),
    )
    nodes = []
    for s in range(rng.randint(1, 6)):
        _, accelerator, topology, pod_type, n_hosts, chips = rng.choice(shapes)
        is_busy = rng.random() < 0.3
        for worker in range(n_hosts):
            resources = {"CPU": 180.0, "TPU": chips, "slice-%d" % s: 1.0, "accelerator_type:" + accelerator: 1.0}
            if worker == 0:
                resources["TPU-%s-head" % pod_type] = 1.0
            labels = {
                SLICE: "slice-%d" % s,
                "ray.io/tpu-worker-id": str(worker),
                "ray.io/tpu-topology": topology,
                "ray.io/tpu-pod-type": pod_type,
                "ray.io/accelerator-type": accelerator,
            }
            node = draw_node(rng, resources, labels)
            if is_busy:
                node["avail"]["TPU"] = 10000 * rng.randint(0, int(chips))
                node["avail"] = {name: e4 for name, e4 in node["avail"].items() if e4 != 0}
            nodes.append(node)
    wanted = rng.choice(nodes)["labels"]
    keys = rng.sample(
        (SLICE, "ray.io/tpu-topology", "ray.io/tpu-pod-type", "ray.io/accelerator-type"), rng.randint(1, 2)
    )
    bundle = rng.choice(
        (
            {"TPU": 4.0},
            {"TPU": 4.0, "CPU": 1.0},
            {"TPU": 1.0},
            {"TPU-%s-head" % wanted["ray.io/tpu-pod-type"]: 1.0},
            {"TPU": 2.0},
        )
    )
    n = rng.choice((1, 1, 2, 4, 4, 8))
    request = {"bundles": [dict(bundle) for _ in range(n)], "strategy": rng.choice(STRATEGIES)}
    if rng.random() < 0.4:
        request["topology"] = rng.choice((SLICE, SLICE, "ray.io/tpu-topology"))
        keys = [key for key in keys if key != SLICE]
    if rng.random() < 0.7:
        request["selectors"] = [{key: wanted[key] for key in keys} for _ in range(n)]
    return place(nodes, request)


def labels(rng):
    nodes = draw_nodes(rng, ["CPU"], rng.randint(2, 10), 8)
    draw_labels(rng, nodes)
    case = place(nodes, draw_request(rng, nodes, rng.randint(1, 4)))
    draw_selectors(rng, case)
    return case


def topology(rng):
    nodes = draw_nodes(rng, ["CPU", "TPU"][: rng.randint(1, 2)], rng.randint(2, 20), 8, busy=rng.choice((0.0, 0.2)))
    draw_racks(rng, nodes)
    case = place(nodes, draw_request(rng, nodes, rng.randint(1, 6)))
    case["in"]["topology"] = RACK
    if rng.random() < 0.3:
        draw_labels(rng, nodes)
        draw_selectors(rng, case)
    return case


def soft(rng):
    """A soft target that is alive, full, draining, dead or unknown. Only STRICT_PACK uses it."""
    nodes = draw_nodes(rng, ["CPU", "TPU"], rng.randint(1, 6), 8, busy=0.2)
    gone = [
        dict(draw_node(rng, {"CPU": 500.0, "TPU": 8.0}), how=rng.choice(("draining", "dead")))
        for _ in range(rng.randint(0, 2))
    ]
    strategy = "STRICT_PACK" if rng.random() < 0.85 else None
    case = place(nodes, draw_request(rng, nodes, rng.randint(1, 4), strategy=strategy), gone=gone)
    case["in"]["soft_target"] = rng.choice([node["id"] for node in nodes + gone] + [rng.randbytes(28).hex()])
    return case


def odd(rng):
    """Implicit resources, amounts that truncate to zero, amounts with many digits."""
    nodes = draw_nodes(rng, ["CPU", "custom"], rng.randint(1, 4), 8)
    for node in nodes:
        if rng.random() < 0.5:
            node["res"].update(
                memory=float(rng.randint(1, 900) << 30), object_store_memory=float(rng.randint(1, 90) << 30)
            )
        if rng.random() < 0.3:
            node["res"]["node:__internal_implicit_resource_x"] = rng.choice((0.5, 2.0, 1.0))
        node["total"] = fixed_amounts(node["res"])
        node["avail"] = dict(node["total"])
    case = place(nodes, draw_request(rng, nodes, rng.randint(1, 6)))
    for bundle in case["in"]["bundles"]:
        bundle.update(
            rng.choice(
                (
                    {},
                    {},
                    {"node:__internal_implicit_resource_x": rng.choice((0.2, 0.6, 1.0, 1.5))},
                    {"custom": 0.0},
                    {"CPU": 5e-5},
                    {"absent": 0.00009},
                    {"GPU": 1e-5},
                )
            )
        )
    return case


def mixed(rng):
    nodes = draw_nodes(rng, ["CPU", *draw_names(rng, 2)], rng.randint(2, 16), 8, busy=0.2)
    gone = [
        dict(draw_node(rng, {"CPU": 500.0}), how=rng.choice(("draining", "dead"))) for _ in range(rng.randint(0, 2))
    ]
    draw_labels(rng, nodes)
    draw_racks(rng, nodes)
    case = place(nodes, draw_request(rng, nodes, rng.randint(1, 20)), gone=gone)
    if rng.random() < 0.5:
        draw_selectors(rng, case)
    if rng.random() < 0.5:
        case["in"]["topology"] = RACK
    if rng.random() < 0.3:
        case["in"]["soft_target"] = rng.choice(nodes)["id"]
    return case


def lose(rng):
    """The nodes of a group die one after another."""
    n = rng.randint(1, 8) if rng.random() < 0.8 else rng.randint(17, 40)
    nodes = draw_nodes(rng, ["CPU", "TPU"], rng.randint(2, 14) if n <= 8 else rng.randint(2, 30), 8, busy=0.1)
    draw_racks(rng, nodes)
    case = place(nodes, draw_request(rng, nodes, n))
    case["op"] = "lose"
    case["in"]["losses"] = [rng.randrange(len(case["in"]["bundles"])) for _ in range(rng.randint(1, 4))]
    if rng.random() < 0.4:
        case["in"]["topology"] = RACK
    if rng.random() < 0.3:
        draw_labels(rng, nodes)
        draw_selectors(rng, case)
    if case["in"]["strategy"] == "STRICT_PACK" and rng.random() < 0.3:
        case["in"]["soft_target"] = rng.choice(nodes)["id"]
    return case


def sequence(rng):
    """Groups are created and removed on one cluster."""
    nodes = draw_nodes(rng, ["CPU", "TPU", "x"], rng.randint(2, 10), 8, rng.choice((whole, fraction)))
    draw_labels(rng, nodes)
    draw_racks(rng, nodes)
    steps = []
    for k in range(rng.randint(4, 14)):
        placed = [i for i in range(k) if steps[i]["op"] == "place"]
        if placed and rng.random() < 0.35:
            steps.append({"op": "remove", "pg": rng.choice(placed)})
            continue
        case = place(nodes, draw_request(rng, nodes, rng.randint(1, 5), rng.choice((whole, fraction))))
        if rng.random() < 0.3:
            draw_selectors(rng, case)
        if rng.random() < 0.2:
            case["in"]["topology"] = RACK
        if rng.random() < 0.1:
            case["in"]["soft_target"] = rng.choice(nodes)["id"]
        steps.append({"op": "place", **{key: value for key, value in case["in"].items() if key != "nodes"}})
    for node in nodes:
        del node["avail"]  # no node exists yet
    return {"op": "sequence", "in": {"nodes": nodes, "steps": steps}}


FAMILIES = {
    small: 12,
    large: 10,
    fractions: 8,
    exact: 5,
    order: 8,
    tpu: 12,
    labels: 10,
    topology: 12,
    soft: 5,
    odd: 6,
    mixed: 10,
    lose: 12,
    sequence: 8,
}


def draw(seed, number):
    """Case `number` of `seed`."""
    rng = random.Random("%d/%d" % (seed, number))
    family = rng.choices(list(FAMILIES), list(FAMILIES.values()))[0]
    return {"id": "%s-%d-%06d" % (family.__name__, seed, number), **family(rng)}
