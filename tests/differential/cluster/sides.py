# SPDX-License-Identifier: Apache-2.0
"""The ways to get slices that are compared: Ray's own helper, quoit's, and the same groups made by hand.

Each side is made in the process of one caller, which is a driver of the cluster. All have the same calls:

    side.reserve(slices, timeout_s)     groups whose bundles are all placed; raises where it was refused
    side.release(), side.release_heads(), side.repair()
    side.groups(), side.slice_names()   what it has: Ray's groups, and the slices where it knows them
    side.count_ready()                  how many slices of the shape could be had now, as this side says
    side.left_behind()                  what still holds something, by name, when all callers are gone
"""

import collections
import math
import os
import time

import quoit
import quoit.ray
import ray
from ray._raylet import PlacementGroupID
from ray.util import tpu
from ray.util.placement_group import PlacementGroup, placement_group, placement_group_table, remove_placement_group
from tpu_fleet import SLICE_NAME

# The slices of a fleet: `version` is that of TPUs as Ray's helper is told it, `hosts` how many a slice has.
Shape = collections.namedtuple("Shape", "topology version pod_type hosts chips")
# How long a group may be unplaced after its call returned. Placing one takes milliseconds.
PLACED_WITHIN_S = 2


class NeverPlaced(Exception):
    """The call returned and its group is not placed: there is a handle, and nothing can run."""


def wait_until_placed(groups, timeout_s):
    deadline = time.monotonic() + timeout_s
    for group in groups:
        # Ray counts whole seconds.
        if not group.wait(math.ceil(max(0, deadline - time.monotonic()))):
            raise NeverPlaced("a group is not placed %g s after the call returned" % timeout_s)


def handle_of(row):
    """A group of placement_group_table() that this process did not create."""
    return PlacementGroup(PlacementGroupID(bytes.fromhex(row["placement_group_id"])))


def live_groups():
    return [row for row in placement_group_table().values() if row["state"] != "REMOVED"]


class Side:
    """What is the same for all."""

    def reserve_again(self, **arguments):
        """Gives back what it has and asks for as much at once, as a job does that starts over."""
        self.release()
        return self.reserve(**arguments)

    def look(self, for_s):
        """Asks what is there, over and over, as a dashboard does."""
        end = time.monotonic() + for_s
        while time.monotonic() < end:
            self.count_ready()

    def ask_for_lists(self):
        """What a caller looks at who has not asked Ray for a while."""
        ray.nodes()

    def is_recorded(self):
        """There is no ledger that could say something else than Ray does."""
        return True

    def left_behind(self):
        return [row["name"] or row["placement_group_id"] for row in live_groups()]


class RaysHelper(Side):
    """ray.util.tpu.slice_placement_group(), used as its documentation says."""

    def __init__(self, shape, _ledger):
        self.shape = shape
        self.handle = None

    def reserve(self, slices, timeout_s, lifetime=None, name=""):
        self.handle = tpu.slice_placement_group(
            self.shape.topology,
            self.shape.version,
            num_slices=slices,
            head_reservation_timeout_s=timeout_s,
            lifetime=lifetime,
            name=name,
        )
        try:
            wait_until_placed(self.groups(), PLACED_WITHIN_S)
        except NeverPlaced:
            self.release()
            raise

    def groups(self):
        return [self.handle.placement_group]

    def slice_names(self):
        return list(dict.fromkeys(labels[SLICE_NAME] for labels in self.handle.bundle_label_selector))

    def release(self):
        self.handle.shutdown()

    def release_heads(self):
        self.handle.release_head_pgs()

    def repair(self, timeout_s):
        """Ray has no such call: a user can only wait for another machine in the place of the lost one."""
        wait_until_placed(self.groups(), timeout_s)

    def find_and_release(self, name):
        """What another process can do about a detached group: it knows the group of workers by name."""
        remove_placement_group(ray.util.get_placement_group(name))

    def count_ready(self):
        return tpu.get_num_ready_tpu_slices(self.shape.topology, self.shape.version)


class Ledger(Side):
    """quoit.ray.slice_placement_group(): all callers name one ledger file."""

    def __init__(self, shape, ledger):
        self.shape, self.ledger = shape, ledger
        self.handle = None

    def reserve(self, slices, timeout_s, lifetime=None, name=""):
        self.handle = quoit.ray.slice_placement_group(
            self.shape.topology,
            self.shape.version,
            num_slices=slices,
            timeout_s=timeout_s,
            lifetime=lifetime,
            name=name,
            ledger=self.ledger,
        )

    def groups(self):
        return self.handle.placement_groups

    def slice_names(self):
        return list(self.handle.slice_names)

    def release(self):
        self.handle.release()

    def release_heads(self):
        self.handle.release_head_pgs()

    def repair(self, timeout_s):
        self.handle.repair(timeout_s=timeout_s)

    def find_and_release(self, name):
        quoit.ray.attach(name=name, ledger=self.ledger).release()

    def is_recorded(self):
        group = self.handle.group
        return (
            group.state is quoit.GroupState.RESERVED
            and tuple(one.name for one in group.slices) == self.handle.slice_names
        )

    def count_ready(self):
        return sum(
            one.counts[quoit.SliceFlags.FREE]
            for one in self._snapshot().classes
            if (one.accelerator, one.topology) == (self.shape.version, self.shape.topology)
        )

    def left_behind(self):
        held = [group.handle for group in self._snapshot().groups if group.state is not quoit.GroupState.REMOVED]
        return held + super().left_behind()

    def ask_for_lists(self):
        quoit.ray.sync(self.ledger)

    def _snapshot(self):
        """What the ledger says once it has been told what Ray says now."""
        with quoit.open(self.ledger) if os.path.exists(self.ledger) else quoit.create(self.ledger) as ledger:
            quoit.ray.sync(ledger)
            return ledger.snapshot()

    def plan(self):
        """What placement_group() would have to be told to make the same groups."""
        (group,), selectors = self.groups(), self.handle.bundle_label_selector
        return [{"bundles": group.bundle_specs, "bundle_label_selector": selectors, "strategy": "SPREAD"}]


class CountsAsRay(Ledger):
    """quoit with one defect, which has to be noticed: a slice that is wholly used looks free to it, as it does to Ray."""

    count_ready = RaysHelper.count_ready


class ByHand(Side):
    """The groups that another side has made, by a program that knows where they go: what no call can be much faster than."""

    def __init__(self, _shape, _ledger):
        self.made = []

    def reserve(self, plan, timeout_s):
        self.made = [placement_group(**group) for group in plan]
        wait_until_placed(self.made, timeout_s)

    def groups(self):
        return self.made

    def slice_names(self):
        return []

    def release(self):
        for group in self.made:
            remove_placement_group(group)


SIDES = {"ray": RaysHelper, "quoit": Ledger, "by hand": ByHand, "planted": CountsAsRay}
