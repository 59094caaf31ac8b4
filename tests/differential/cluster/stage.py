# SPDX-License-Identifier: Apache-2.0
"""The stage of a situation: a fleet, and callers in separate processes."""

import json
import os
import select
import subprocess
import sys
import time
import types

import ray
import sides
from ray.util.placement_group import remove_placement_group
from tpu_fleet import SLICE_NAME, WORKER_ID, Fleet

HERE = os.path.dirname(os.path.abspath(__file__))
# A caller whose call takes longer than this is stuck. That is an outcome, too.
STUCK_S = 120
FREE_WITHIN_S = 10

V4_SHAPE = sides.Shape("2x2x2", "v4", "v4-16", hosts=2, chips=4)
V6E_SHAPE = sides.Shape("4x4", "v6e", "v6e-16", hosts=4, chips=4)


class Stuck(Exception):
    """A process does not answer."""


class ClusterSetup:
    """A cluster of eight TPU hosts, and the shape of the requested slices."""

    def __init__(self, title, shape, names, others=()):
        self.title, self.shape, self.names, self.others = title, shape, names, others

    def build(self):
        fleet = Fleet(notice_soon=True)
        try:
            for name in self.names:
                fleet.slice(name, self.shape.topology, self.shape.pod_type, self.shape.hosts, self.shape.chips)
            for name, (topology, pod_type, hosts) in self.others:
                fleet.slice(name, topology, pod_type, hosts)
            fleet.connect()
        except BaseException:
            fleet.stop()
            raise
        return fleet


THREE_V4_SLICES = ClusterSetup(
    "three v4 2x2x2 slices of two hosts, and two hosts of another kind",
    V4_SHAPE,
    ("s-a", "s-b", "s-c"),
    [("other", ("2x2x2", "v5p-16", 2))],
)
TWO_V6E_SLICES = ClusterSetup("two v6e 4x4 slices of four hosts", V6E_SHAPE, ("s-a", "s-b"))
SETUPS = (THREE_V4_SLICES, TWO_V6E_SLICES)


def used():
    """The used chips, heads and CPUs of the whole cluster. Other resources vary on their own."""
    free = ray.available_resources()
    return {
        key: n - free.get(key, 0)
        for key, n in ray.cluster_resources().items()
        if key.startswith(("TPU", "CPU")) and "_group_" not in key and n != free.get(key, 0)
    }


class Caller:
    """A driver process. ask() sends a call and returns at once; answer() waits for its result."""

    def __init__(self, stage, side):
        stage.n_callers += 1
        self.name, self.transcript, self.current_call = (
            "caller %d (%s)" % (stage.n_callers, side),
            stage.transcript,
            "start",
        )
        settings = {"side": side, "address": stage.fleet.address, "shape": stage.setup.shape, "ledger": stage.ledger}
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "caller.py"), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stage.log,
            text=True,
        )

    def ask(self, call, at=None, work_s=None, **arguments):
        self.process.stdin.write(json.dumps({"call": call, "arguments": arguments, "at": at, "work_s": work_s}) + "\n")
        self.process.stdin.flush()
        self.current_call = call
        return self

    def answer(self):
        if not select.select([self.process.stdout], [], [], STUCK_S)[0]:
            raise Stuck("%s, %s: no answer for %g s" % (self.name, self.current_call, STUCK_S))
        line = self.process.stdout.readline()
        if not line:
            raise Stuck("%s, %s: ended with status %s" % (self.name, self.current_call, self.process.wait()))
        self.transcript.append("%s, %s: %s" % (self.name, self.current_call, line.strip()))
        return types.SimpleNamespace(**json.loads(line))

    def __call__(self, call, **arguments):
        return self.ask(call, **arguments).answer()

    def kill(self):
        """Kills the process like the kernel does when memory runs out: it cannot clean up."""
        self.process.kill()
        self.process.wait()

    def leave(self):
        """Lets the program end normally."""
        self.process.stdin.close()
        try:
            self.process.wait(STUCK_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self.process.stdout.close()


class Stage:
    """One side plays one situation. At the end the stage cleans up everything that the side started or broke."""

    def __init__(self, fleet, setup, side, folder):
        self.fleet, self.setup, self.side = fleet, setup, side
        self.ledger = os.path.join(folder, "ledger.db")
        self.log = open(os.path.join(folder, "callers.log"), "a+", errors="replace")  # noqa: SIM115
        self.observer = sides.SIDES[side](setup.shape, self.ledger)
        self.transcript = []  # calls and answers of each caller, in the order of the answers
        self.n_callers = 0
        self.present, self.actors, self.lost = [], [], []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.clean_up()
        finally:
            self.log.close()

    def log_tail(self):
        """The end of the callers' standard error."""
        self.log.seek(0)
        return self.log.readlines()[-20:]

    def callers(self, n):
        """Starts n connected drivers that have not made a call."""
        started = [Caller(self, self.side) for _ in range(n)]
        self.present += started
        for caller in started:
            caller.answer()
        return started

    def caller_of(self, side):
        """Starts a caller for another side."""
        started = Caller(self, side)
        self.present.append(started)
        started.answer()
        return started

    def ask_together(self, callers, call, **arguments):
        """Sends the same call to all callers at the same time."""
        at = time.time() + 0.1
        for caller in callers:
            caller.ask(call, at=at, **arguments)

    def together(self, callers, call, **arguments):
        """The answers of callers that all make the same call at the same time."""
        self.ask_together(callers, call, **arguments)
        return [caller.answer() for caller in callers]

    def wait_for_any(self, callers):
        """Waits until one of them has an answer."""
        select.select([caller.process.stdout for caller in callers], [], [], STUCK_S)

    def use(self, host, chips):
        """Starts an ordinary actor on that host, without a reservation."""
        slice_name, worker = host.split("/")
        actor = (
            ray.remote(ChipUser)
            .options(resources={"TPU": chips}, num_cpus=0, label_selector={SLICE_NAME: slice_name, WORKER_ID: worker})
            .remote()
        )
        ray.get(actor.where.remote())
        self.actors.append(actor)
        return actor

    def stop_actor(self, actor):
        ray.kill(actor)
        self.actors.remove(actor)

    def lose(self, host):
        """Kills a host. Returns the seconds until Ray notices."""
        alive = len(self.alive())
        self.fleet.kill(host)
        self.lost.append(host)
        return self.fleet.wait(lambda: len(self.alive()) < alive, STUCK_S, "%s is gone" % host)

    def alive(self):
        return [row["NodeID"] for row in ray.nodes() if row["Alive"]]

    def address(self, host):
        """Ray's address of that host."""
        return self.fleet.hosts[host][0].node_ip_address

    def leave(self, callers):
        for caller in callers:
            self.present.remove(caller)
            caller.leave()

    def wait_until_free(self):
        """Waits until all live hosts are free."""
        try:
            self.fleet.wait(lambda: not used(), FREE_WITHIN_S, "everything is free again")
        except TimeoutError as error:
            raise TimeoutError("%s: used are %s" % (error, used())) from None

    def wait_until_free_of(self, hosts):
        """Waits until Ray shows no used chip on these hosts."""
        ids = [node_id for node_id, name in self.fleet.id2name().items() if name in hosts]

        def all_free():
            free = ray._private.state.available_resources_per_node()
            return all(
                free.get(node_id, {}).get("TPU", 0) == self.setup.shape.chips for node_id in ids if node_id in free
            )

        self.fleet.wait(all_free, FREE_WITHIN_S, "%s are free again" % ", ".join(hosts))

    def clean_up(self):
        """Ends all callers, releases everything and restores every host, whatever happened."""
        self.leave(list(self.present))
        for actor in list(self.actors):
            self.stop_actor(actor)
        for row in sides.live_groups():
            remove_placement_group(sides.handle_of(row))
        for host in self.lost:
            self.fleet.replace(host)
        self.wait_until_free()


class ChipUser:
    """Occupies its chips without using them."""

    def where(self):
        return ray.get_runtime_context().get_node_id()
