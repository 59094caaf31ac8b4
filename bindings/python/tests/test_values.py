# SPDX-License-Identifier: Apache-2.0
"""The package's values are immutable, and can be copied, compared and pickled."""

import copy
import dataclasses
import json
import pickle

import pytest
from test_whole_api import made_objects, walk

import quoit
from quoit import ray_rules as rules


def dataclasses_given():
    """Yields at least one object of every dataclass that the package returns."""
    hosts = {"TPU_WORKER_ID": "0", "TPU_NAME": "a", "TPU_ACCELERATOR_TYPE": "v6e-16", "TPU_TOPOLOGY": "4x4"}
    roots = [
        *made_objects(),
        rules.worker_resources("4x4", "TPU-V6E"),
        rules.host(hosts),
        rules.node("10.0.0.1", env=hosts, predefined={"CPU": 8}, resources={"TPU": 4}, labels={"a": "b"}, chips=4),
        rules.slice_placement_group("4x4", "v6e", num_slices=2).heads[0],
        rules.ClusterNode("n", {"CPU": 1.0}, {"CPU": 0.5}, {"a": "b"}),
        rules.SubslicePlan(*[{"a": "b"}] * len(dataclasses.fields(rules.SubslicePlan))),
    ]
    for root in roots:
        for _, value in walk(root):
            if dataclasses.is_dataclass(value) and not isinstance(value, type):
                yield value


GIVEN = {type(value).__qualname__ + str(number): value for number, value in enumerate(dataclasses_given())}
KINDS = {type(value) for value in GIVEN.values()}


def test_every_dataclass_with_mappings_is_tested():
    kinds = {
        quoit.PlacedBundle,
        quoit.Process,
        quoit.SliceClass,
        rules.WorkerResources,
        rules.Host,
        rules.Node,
        rules.Head,
    }
    assert kinds <= KINDS
    public = {getattr(module, name) for module in (quoit, rules) for name in module.__all__}
    classes = {one for one in public if dataclasses.is_dataclass(one)}
    assert {
        one for one in classes if any("Mapping" in str(field.type) for field in dataclasses.fields(one))
    } <= KINDS | {quoit.Input}


def test_every_dataclass_becomes_a_dict_and_json():
    for name, value in GIVEN.items():
        members = dataclasses.asdict(value)
        assert set(members) == {field.name for field in dataclasses.fields(value)}, name
        json.dumps(
            members,
            default=repr
            if any(word in name for word in ("Group", "NodeUser", "Preemption", "Queued", "Start", "StoredEntry"))
            else None,
        )


def test_every_dataclass_can_be_hashed_copied_and_compared():
    for name, value in GIVEN.items():
        assert hash(value) == hash(copy.copy(value)), name
        assert copy.deepcopy(value) == value == dataclasses.replace(value), name


def test_no_mapping_of_a_dataclass_can_be_changed():
    seen = 0
    for value in GIVEN.values():
        for field in dataclasses.fields(value):
            mapping = getattr(value, field.name)
            if not isinstance(mapping, dict):
                continue
            seen += 1
            before = dict(mapping)
            for change in (
                lambda mapping=mapping: mapping.__setitem__("a", 1),
                lambda mapping=mapping: mapping.update(a=1),
                lambda mapping=mapping: mapping.setdefault("zz", 1),
                lambda mapping=mapping: mapping.__ior__({"a": 1}),
                mapping.clear,
                mapping.popitem,
                lambda mapping=mapping: mapping.pop("a", None),
                lambda mapping=mapping: mapping.__delitem__("a"),
            ):
                with pytest.raises(TypeError, match="cannot be changed"):
                    change()
            assert mapping == before and pickle.loads(pickle.dumps(mapping)) == before
            assert {**mapping} == before and dict(mapping) == before
    assert seen > 10


def test_later_changes_of_an_argument_do_not_change_a_node():
    total = {"CPU": 1.0}
    node = rules.ClusterNode("n", total)
    total["CPU"] = 9.0
    assert node.total == {"CPU": 1.0} and hash(node) == hash(rules.ClusterNode("n", {"CPU": 1.0}))
