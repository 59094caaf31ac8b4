# SPDX-License-Identifier: Apache-2.0
"""The ways to get slices that are compared: Ray's helper, quoit, and the same groups made by hand.

Each side runs in the process of one caller, which is a driver of the cluster. All sides have the same calls:

    side.reserve(slices, timeout_s)     groups with all bundles placed; raises an exception if refused
    side.release(), side.release_heads(), side.repair()
    side.groups(), side.slice_names()   Ray's groups of this side, and their slices if known
    side.count_ready()                  the number of free slices of the shape, according to this side
    side.left_behind()                  names of what is still allocated after all callers ended
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

# The slices of a fleet: `version` is the TPU version in the form of Ray's helper, `hosts` the number of hosts per
# slice.
Shape = collections.namedtuple("Shape", "topology version pod_type hosts chips")
# The longest time for which a group may be unplaced after its call returned. Placing one takes milliseconds.
PLACED_WITHIN_S = 2


class NeverPlaced(Exception):
    """The call returned, but its group is not placed: nothing can run on it."""


def wait_until_placed(groups, timeout_s):
    deadline = time.monotonic() + timeout_s
    for group in groups:
        # Ray takes whole seconds.
        if not group.wait(math.ceil(max(0, deadline - time.monotonic()))):
            raise NeverPlaced("a group is not placed %g s after the call returned" % timeout_s)


def handle_of(row):
    """The handle of a group in placement_group_table() that another process created."""
    return PlacementGroup(PlacementGroupID(bytes.fromhex(row["placement_group_id"])))


def live_groups():
    return [row for row in placement_group_table().values() if row["state"] != "REMOVED"]


class Side:
    """Shared by all sides."""

    def reserve_again(self, **arguments):
        """Releases its slices and immediately reserves as many again, like a restarted job."""
        self.release()
        return self.reserve(**arguments)

    def look(self, for_s):
        """Reads the state again and again, like a dashboard."""
        end = time.monotonic() + for_s
        while time.monotonic() < end:
            self.count_ready()

    def ask_for_lists(self):
        """Reads Ray's lists, as if this caller had not read them for a while."""
        ray.nodes()

    def is_recorded(self):
        """True: this side has no ledger that could differ from Ray."""
        return True

    def left_behind(self):
        return [row["name"] or row["placement_group_id"] for row in live_groups()]


class RaysHelper(Side):
    """ray.util.tpu.slice_placement_group(), used as documented."""

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
        """Ray has no such call. A user can only wait for a replacement of the lost node."""
        wait_until_placed(self.groups(), timeout_s)

    def find_and_release(self, name):
        """Releases a detached group from another process by the name of its workers' group."""
        remove_placement_group(ray.util.get_placement_group(name))

    def count_ready(self):
        return tpu.get_num_ready_tpu_slices(self.shape.topology, self.shape.version)


class Ledger(Side):
    """quoit.ray.slice_placement_group(), with one ledger file for all callers."""

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
        """The snapshot after a sync with Ray's current state."""
        with quoit.open(self.ledger) if os.path.exists(self.ledger) else quoit.create(self.ledger) as ledger:
            quoit.ray.sync(ledger)
            return ledger.snapshot()

    def plan(self):
        """The arguments of placement_group() that create the same groups."""
        (group,), selectors = self.groups(), self.handle.bundle_label_selector
        return [{"bundles": group.bundle_specs, "bundle_label_selector": selectors, "strategy": "SPREAD"}]


class CountsAsRay(Ledger):
    """quoit with a planted defect that must be detected: it considers a fully used slice free, like Ray does."""

    count_ready = RaysHelper.count_ready


class ByHand(Side):
    """Creates the groups of another side from a known plan. This is the lower bound for the time of a reservation."""

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
