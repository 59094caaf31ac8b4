# SPDX-License-Identifier: Apache-2.0
"""Consistent lists from a simulated Ray: contradictory lists are read again."""

import json
import types

import pytest

import quoit
from quoit.ray import cluster, owners

CHIPS = {"TPU": 4.0}


def node(name, alive=True):
    return {"NodeID": name, "Alive": alive, "Resources": CHIPS if alive else {}, "Labels": {}, "NodeName": name}


class Ray:
    """Returns the answers in turn, and then the last one repeatedly."""

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
        monkeypatch.setattr(cluster, "_AGREE_S", 0.1)
        return cluster.list_now(), made

    return listing


def test_a_node_that_has_just_come_is_waited_for(listed):
    both = {"aa": CHIPS, "bb": CHIPS}
    listing, made = listed([[node("aa"), node("bb")]], [{"aa": CHIPS}, {"aa": CHIPS}, both])
    assert listing.available == both and made.n_asked["available"] == 3


def test_what_contradicts_itself_each_time_is_refused(listed):
    with pytest.raises(quoit.BusyError, match="node 'bb' is alive"):
        listed([[node("aa"), node("bb")]], [{"aa": CHIPS}])
    with pytest.raises(quoit.BusyError, match="on node 'cc', which is not listed"):
        listed([[node("aa")]], [{"aa": CHIPS}], groups=[{"g": group("cc")}])


def test_a_host_that_has_not_told_yet_what_its_groups_use_is_waited_for(listed):
    groups, used = [{"g": group("aa", tpu=3.0)}], {"aa": {"TPU": 1.0}}
    listing, made = listed([[node("aa")]], [{"aa": CHIPS}, {"aa": CHIPS}, used], groups=groups)
    assert listing.available == used and made.n_asked["available"] == 3
    with pytest.raises(quoit.BusyError, match="node 'aa' shows 4 TPU as free, of which its groups leave 1"):
        listed([[node("aa")]], [{"aa": CHIPS}], groups=groups)
    # An unplaced group uses nothing yet. Other use is irrelevant here.
    for state, free in ((0, 4.0), (2, 0.5), (2, 1.0), (2, 1.0001)):
        listing, made = listed(
            [[node("aa")]], [{"aa": {"TPU": free}}], groups=[{"g": group("aa", state=state, tpu=3.0)}]
        )
        assert made.n_asked["available"] == 1


def test_a_dead_node_needs_no_availability(listed):
    listing, made = listed([[node("aa"), node("bb", alive=False)]], [{"aa": CHIPS}])
    assert made.n_asked == {"nodes": 1, "available": 1, "groups": 2} and len(listing.nodes) == 2


def test_groups_that_change_between_are_asked_for_again(listed):
    nodes, available = [[node("aa")]], [{"aa": CHIPS}]
    _, still = listed(nodes, available, groups=[{"g": group("aa")}, {"g": group("aa")}])
    assert still.n_asked["nodes"] == 1
    listing, changed = listed(nodes, available, groups=[{"g": group("aa")}, {}, {}])
    assert changed.n_asked["nodes"] == 2 and listing.groups == {}


def test_lists_of_a_cluster_that_never_rests_are_taken_at_last(listed):
    listing, made = listed([[node("aa")]], [{"aa": CHIPS}], groups=[{str(n): group("aa")} for n in range(99)])
    assert made.n_asked["nodes"] == 6 and list(listing.groups) == ["6"]


def test_a_removed_group_that_a_node_still_lists_is_settling():
    group = "f00d" * 9
    left = {"aa": {"TPU": 0.0, f"bundle_group_0_{group}": 1000.0}}
    assert cluster.Listing([], {}, left, "c1").is_settling()
    assert not cluster.Listing([], {group: {}}, left, "c1").is_settling()
    assert not cluster.Listing([], {}, {"aa": CHIPS}, "c1").is_settling()


def test_an_input_is_what_ray_said():
    made = cluster.Listing([node("aa")], {}, {"aa": CHIPS}, "c1").to_input("west", 2)
    assert made.source == "west" and made.tpu_per_chip == 2 and made.complete
    assert json.loads(made.text)[0]["NodeID"] == "aa" and json.loads(made.ray_available) == {"aa": CHIPS}


@pytest.mark.parametrize("source", ["ray", "a:b", ""])
def test_the_name_of_an_owner_says_what_it_was_made_of(source):
    name = owners.owner_name(source, "0123456789abcdef", "01000000")
    assert owners.parse(name) == owners.Owner(source, "0123456789ab", "01000000")


@pytest.mark.parametrize("name", ["", "ray", "ray:a:b", "alice", "xray:a:b:c"])
def test_the_name_of_somebody_else_says_nothing(name):
    assert owners.parse(name) is None
