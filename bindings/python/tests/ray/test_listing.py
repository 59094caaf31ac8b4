# SPDX-License-Identifier: Apache-2.0
"""How the adapter reads Ray's lists, here from a simulated Ray: contradictory lists are read again."""

import json
import types

import pytest

import quoit
from quoit.ray import cluster, owners

CHIPS = {"TPU": 4.0}


def node(name, alive=True):
    return {"NodeID": name, "Alive": alive, "Resources": CHIPS if alive else {}, "Labels": {}, "NodeName": name}


class Ray:
    """A simulated Ray with prepared answers. Each query gets the next answer to it; after the last, the last again."""

    def __init__(self, nodes, available, groups=({},)):
        self.answers = {"nodes": list(nodes), "available": list(available), "groups": list(groups)}
        self.n_asked = dict.fromkeys(self.answers, 0)

    def ask(self, what):
        self.n_asked[what] += 1
        answers = self.answers[what]
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def node_table(self):
        return self.ask("nodes")

    def available_resources_per_node(self):
        return self.ask("available")

    def _gen_placement_group_info(self, row):
        return {"state": row.state}


def group(*hosts, state=2, tpu=0.0):
    bundles = [types.SimpleNamespace(node_id=bytes.fromhex(h), unit_resources={"TPU": tpu}) for h in hosts]
    return types.SimpleNamespace(state=state, CREATED=2, bundles=bundles)


@pytest.fixture
def listed(monkeypatch):
    def listing(*answers, **named):
        made = Ray(*answers, **named)
        monkeypatch.setattr(cluster, "_state", lambda: made)
        monkeypatch.setattr(cluster, "_live_groups", lambda: made.ask("groups"))
        monkeypatch.setattr(cluster, "cluster", lambda: "c1")
        monkeypatch.setattr(cluster.time, "sleep", lambda _: None)
        monkeypatch.setattr(cluster, "_LIST_S", 0.1)
        return cluster.list_now(), made

    return listing


def test_a_new_node_without_resources_is_listed_again(listed):
    both = {"aa": CHIPS, "bb": CHIPS}
    listing, made = listed([[node("aa"), node("bb")]], [{"aa": CHIPS}, {"aa": CHIPS}, both])
    assert listing.available == both and made.n_asked["available"] == 3


def test_lists_that_always_contradict_each_other_are_refused(listed):
    with pytest.raises(quoit.BusyError, match="node 'bb' is alive"):
        listed([[node("aa"), node("bb")]], [{"aa": CHIPS}])
    with pytest.raises(quoit.BusyError, match="on node 'cc', which is not listed"):
        listed([[node("aa")]], [{"aa": CHIPS}], groups=[{"g": group("cc")}])


def test_a_host_that_has_not_reported_its_use_is_listed_again(listed):
    groups, used = [{"g": group("aa", tpu=3.0)}], {"aa": {"TPU": 1.0}}
    listing, made = listed([[node("aa")]], [{"aa": CHIPS}, {"aa": CHIPS}, used], groups=groups)
    assert listing.available == used and made.n_asked["available"] == 3
    with pytest.raises(quoit.BusyError, match="node 'aa' reports 4 TPU as free, but its groups leave only 1"):
        listed([[node("aa")]], [{"aa": CHIPS}], groups=groups)
    # None of these contradict the group: it is not placed yet (state 0), or 1 TPU or less is free. Tasks can use more
    # than the group, and Ray rounds amounts.
    for state, free in ((0, 4.0), (2, 0.5), (2, 1.0), (2, 1.0001)):
        listing, made = listed(
            [[node("aa")]], [{"aa": {"TPU": free}}], groups=[{"g": group("aa", state=state, tpu=3.0)}]
        )
        assert made.n_asked["available"] == 1


def test_a_dead_node_needs_no_availability(listed):
    listing, made = listed([[node("aa"), node("bb", alive=False)]], [{"aa": CHIPS}])
    assert made.n_asked == {"nodes": 1, "available": 1, "groups": 2} and len(listing.nodes) == 2


def test_groups_that_change_during_a_listing_are_listed_again(listed):
    nodes, available = [[node("aa")]], [{"aa": CHIPS}]
    _, still = listed(nodes, available, groups=[{"g": group("aa")}, {"g": group("aa")}])
    assert still.n_asked["nodes"] == 1
    listing, changed = listed(nodes, available, groups=[{"g": group("aa")}, {}, {}])
    assert changed.n_asked["nodes"] == 2 and listing.groups == {}


def test_lists_of_a_cluster_that_always_changes_are_used_after_some_tries(listed):
    listing, made = listed([[node("aa")]], [{"aa": CHIPS}], groups=[{str(n): group("aa")} for n in range(99)])
    assert made.n_asked["nodes"] == 6 and list(listing.groups) == ["6"]


def test_resources_of_removed_groups_are_detected():
    group = "f00d" * 9
    left = {"aa": {"TPU": 0.0, f"bundle_group_0_{group}": 1000.0}}
    assert cluster.Listing([], {}, left, "c1").has_leftover_resources()
    assert not cluster.Listing([], {group: {}}, left, "c1").has_leftover_resources()
    assert not cluster.Listing([], {}, {"aa": CHIPS}, "c1").has_leftover_resources()


def test_an_input_has_rays_lists():
    made = cluster.Listing([node("aa")], {}, {"aa": CHIPS}, "c1").to_input("west", 2)
    assert made.source == "west" and made.tpu_per_chip == 2 and made.complete
    assert json.loads(made.text)[0]["NodeID"] == "aa" and json.loads(made.ray_available) == {"aa": CHIPS}


@pytest.mark.parametrize("source", ["ray", "a:b", ""])
def test_an_owner_name_can_be_parsed(source):
    name = owners.owner_name(source, "0123456789abcdef", "01000000")
    assert owners.parse(name) == owners.Owner(source, "0123456789ab", "01000000")


@pytest.mark.parametrize("name", ["", "ray", "ray:a:b", "alice", "xray:a:b:c"])
def test_other_names_are_not_parsed_as_owners(name):
    assert owners.parse(name) is None
