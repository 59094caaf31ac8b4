# SPDX-License-Identifier: Apache-2.0
"""A real Ray cluster of simulated TPU hosts on one machine.

Each host is a raylet with the environment of a TPU pod on GKE (TPU_NAME, TPU_WORKER_ID, TPU_TOPOLOGY,
TPU_ACCELERATOR_TYPE). Ray's own detection makes its labels, its head and its slice-name resource. Only the number of
chips is given explicitly, because there is no device file.

    with Fleet() as fleet:
        fleet.slice("s-a", "2x2x2", "v4-16", hosts=2)
        fleet.connect()
        fleet.kill("s-a/1")          # the host is lost
        fleet.replace("s-a/1")       # another host takes its place

A cluster consists of many processes and one folder. stop() and the end of this process remove both.
"""

import collections
import contextlib
import os
import random
import shutil
import tempfile
import time

# Ray reads these when it is imported; raylets and workers inherit them.
os.environ.update(
    {
        "RAY_DEDUP_LOGS": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "RAY_enable_metrics_collection": "0",
        "RAY_memory_monitor_refresh_ms": "0",
        # On a busy machine the two agents of a host start slowly; with the default timeout the raylet would exit.
        "RAY_agent_register_timeout_ms": "120000",
        # Otherwise each driver starts one worker per CPU of the head, and nothing here runs on the head.
        "RAY_prestart_worker_first_driver": "0",
        "RAY_enable_worker_prestart": "0",
    }
)

import ray
from ray._private import services, utils, worker
from ray._private.state import GlobalState
from ray.cluster_utils import Cluster

# Prevents other programs on this machine from finding this cluster.
utils.write_ray_address = utils.reset_ray_address = lambda *_args, **_kwargs: None
# Otherwise Ray prints a long message on every driver for each lost host.
worker.listen_error_messages = lambda *_args, **_kwargs: None

TPU_VARIABLES = ("TPU_NAME", "TPU_WORKER_ID", "TPU_TOPOLOGY", "TPU_ACCELERATOR_TYPE", "RAY_NODE_TYPE_NAME")
SLICE_NAME, WORKER_ID = "ray.io/tpu-slice-name", "ray.io/tpu-worker-id"
MIB = 2**20
OBJECT_STORE = 80 * MIB
# Takes a few seconds on an idle machine.
HOSTS_WITHIN_S = 300
# Each host consists of three Ray processes that take a second of CPU time to start, and exit if they do not get it.
SIDE_BY_SIDE = 3
# A killed raylet refuses every health check, so three checks in 1.5 s are enough; Ray's defaults take 12 to 15 s. A
# slow raylet still has the default time to answer.
NOTICE_SOON = {"health_check_initial_delay_ms": 0, "health_check_period_ms": 500, "health_check_failure_threshold": 3}


@contextlib.contextmanager
def environment(variables):
    """The environment of this process, with `variables` as the only variables of a TPU pod."""
    before = {name: os.environ.pop(name) for name in TPU_VARIABLES if name in os.environ}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update(before)


@contextlib.contextmanager
def without_waiting():
    """Starts hosts in parallel. Ray itself waits a second or two until each host has registered."""
    ask = services.get_node
    services.get_node = lambda *_: collections.defaultdict(int, labels={})  # its ports, which nothing reads
    try:
        yield
    finally:
        services.get_node = ask


def node_name(node):
    """The readable name of a row of ray.nodes(): `slice/worker id`, `head`, else `node group@address`."""
    labels = node["Labels"]
    if SLICE_NAME in labels:
        return "%s/%s" % (labels[SLICE_NAME], labels.get(WORKER_ID, "?"))
    if "node:__internal_head__" in node["Resources"]:
        return "head"
    return "%s@%s" % (labels.get("ray.io/node-group", "node"), node["NodeManagerAddress"])


class Fleet:
    """The cluster: a head without chips, and the hosts added by slice(), host() and cpu()."""

    def __init__(self, head_cpus=2, dashboard=False, notice_soon=False):
        # The address of a Unix socket must be short, so the folder's path must be too.
        self.folder = tempfile.mkdtemp(prefix="qf", dir="/tmp")
        self.hosts = {}  # readable name: (Ray's node, how it was started)
        self.names = {}  # node id: readable name, also of dead nodes
        self.starting = []  # names of hosts that have not registered yet
        self.n_addresses = 1
        self.head_args = {
            "num_cpus": head_cpus,
            "object_store_memory": OBJECT_STORE,
            "memory": 2048 * MIB,
            "temp_dir": self.folder,
            "include_dashboard": dashboard,
            "dashboard_port": random.randint(20000, 24000),
            "_system_config": dict(NOTICE_SOON) if notice_soon else None,
        }
        with environment({}):
            self.cluster = Cluster(initialize_head=True, head_node_args=dict(self.head_args))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _add(self, name, variables, **started_with):
        self._settle(at_most=SIDE_BY_SIDE - 1)
        self._start(name, variables, started_with)

    def _start(self, name, variables, started_with):
        self.n_addresses += 1
        # Two raylets that start at the same time would choose the same sockets.
        sockets = {
            "%s_socket_name" % of: os.path.join(self.folder, "%s.%d" % (of, self.n_addresses))
            for of in ("raylet", "plasma_store")
        }
        with environment(variables), without_waiting():
            added = self.cluster.add_node(
                wait=False,
                object_store_memory=OBJECT_STORE,
                memory=1024 * MIB,
                node_ip_address="127.0.0.%d" % self.n_addresses,
                **sockets,
                **started_with,
            )
        self.hosts[name] = (added, variables, started_with)
        self.starting.append(name)

    def _settle(self, at_most=0):
        """Waits until at most `at_most` hosts have not registered. On a busy machine a raylet may exit because its
        agents are slow; it is started again.
        """

        def settled():
            alive = self.cluster.global_state._live_node_ids()
            for name in list(self.starting):
                added, variables, started_with = self.hosts[name]
                if added.node_id in alive:
                    self.starting.remove(name)
                elif not added.remaining_processes_alive():
                    self.starting.remove(name)
                    self.cluster.remove_node(added, allow_graceful=False)
                    self._start(name, variables, started_with)
            return len(self.starting) <= at_most

        self.wait(settled, HOSTS_WITHIN_S, "%s have registered" % ", ".join(self.starting), interval_s=0.05)

    def cpu(self, name, cpus=4):
        self._add(name, {"RAY_NODE_TYPE_NAME": "cpu-group"}, num_cpus=cpus)

    def host(self, slice_name, worker_id, topology, pod_type, chips=4, cpus=2, group=None):
        variables = {
            "TPU_NAME": slice_name,
            "TPU_WORKER_ID": str(worker_id),
            "TPU_TOPOLOGY": topology,
            "TPU_ACCELERATOR_TYPE": pod_type,
        }
        if group:
            variables["RAY_NODE_TYPE_NAME"] = group
        self._add("%s/%d" % (slice_name, worker_id), variables, num_cpus=cpus, resources={"TPU": chips})

    def slice(self, name, topology, pod_type, hosts, chips=4, cpus=2, group=None):
        for worker_id in range(hosts):
            self.host(name, worker_id, topology, pod_type, chips, cpus, group)

    @property
    def address(self):
        return self.cluster.address

    def connect(self):
        """Connects this process as a driver once all hosts have registered."""
        self._settle()
        with environment({}):
            ray.init(address=self.address, namespace="t", logging_level="error", log_to_driver=False)

    def kill_head(self):
        """Kills all processes of the head, such as its control plane, without notice. Its drivers end."""
        self.head_args["gcs_server_port"] = int(self.address.rpartition(":")[2])
        self.cluster.remove_node(self.cluster.head_node, allow_graceful=False)

    def start_head(self):
        """Starts a head at the address of the killed one. Without a storage, it is the head of a new cluster."""
        # A connection to the old control plane would end this process.
        self.cluster.global_state = GlobalState()
        with environment({}):
            self.cluster.add_node(**self.head_args)

    def kill(self, name):
        """Kills the processes of a host without notice to Ray."""
        self.cluster.remove_node(self.hosts[name][0], allow_graceful=False)

    def replace(self, name):
        """Starts another host with the name and the place of a killed one."""
        _, variables, started_with = self.hosts[name]
        self._add(name, variables, **started_with)
        self._settle()

    def id2name(self):
        """Readable names by node id for all nodes, dead ones included: a dead node loses its resources, not its name."""
        for row in ray.nodes():
            if row["Alive"] or row["NodeID"] not in self.names:
                self.names[row["NodeID"]] = node_name(row)
        return self.names

    def wait(self, holds, timeout_s, what, interval_s=0.02):
        """Waits until holds() is true; returns the seconds. Raises TimeoutError after timeout_s."""
        began = time.monotonic()
        while not holds():
            if time.monotonic() - began > timeout_s:
                raise TimeoutError("%s: not within %g s" % (what, timeout_s))
            time.sleep(interval_s)
        return time.monotonic() - began

    def stop(self):
        with contextlib.suppress(Exception):
            ray.shutdown()
        self.cluster.shutdown()
        shutil.rmtree(self.folder, ignore_errors=True)
