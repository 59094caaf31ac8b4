# SPDX-License-Identifier: Apache-2.0
"""The real `gcs_server` of the Ray wheel, with simulated nodes.

Ray decides in this one process where to place the bundles of a placement group; raylets only acknowledge. This module
registers any number of nodes, which one small gRPC server simulates by acknowledging everything, and creates groups
over Ray's own protocol. So the answers are Ray's, at the cost of a few calls.

    with GcsOracle() as gcs:
        a, b = gcs.add_nodes([({"CPU": 8}, {"zone": "x"}), ({"CPU": 4}, {})])
        answer = gcs.place([{"CPU": 2}, {"CPU": 2}], "STRICT_SPREAD")
        answer.result       # "SUCCESS", "FAILED" or "INFEASIBLE"
        answer.nodes        # a node id or None for each bundle
        gcs.release(answer)

Not covered: the argument checks of ray.util.placement_group, and the raylet's own check before it acknowledges. Linux
only.
"""

import base64
import dataclasses
import json
import os
import queue
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from concurrent import futures

import grpc
import ray
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from model import fixed
from ray.core.generated import (
    autoscaler_pb2,
    autoscaler_pb2_grpc,
    common_pb2,
    gcs_pb2,
    gcs_service_pb2,
    gcs_service_pb2_grpc,
    node_manager_pb2,
)

STRATEGIES = {"PACK": 0, "SPREAD": 1, "STRICT_PACK": 2, "STRICT_SPREAD": 3}
# Result of the last attempt by its scheduling state. No attempt ends in any other state.
RESULTS = {
    "FINISHED": "SUCCESS",
    "NO_RESOURCES": "FAILED",
    "FAILED_TO_COMMIT_RESOURCES": "FAILED",
    "INFEASIBLE": "INFEASIBLE",
}
NEVER_MS = 2_000_000_000
# event_stats_print_interval_ms=-1 and debug_dump_period_milliseconds=0 would make this server spin.
CONFIG = {
    "health_check_initial_delay_ms": NEVER_MS,
    "gcs_pull_resource_loads_period_milliseconds": NEVER_MS,
    "metrics_report_interval_ms": NEVER_MS,
    "debug_dump_period_milliseconds": NEVER_MS,
    "enable_cluster_auth": False,
}
# The server ends when this process ends, whatever the reason.
ENDS_WITH_US = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
NO_ID = b"\xff" * 28


SERVER_HAS_TOPOLOGY = "topology_assignments" in gcs_pb2.PlacementGroupTableData.DESCRIPTOR.fields_by_name
"""Whether this version of Ray places the bundles of a group within one topology; Ray 2.55 does not."""


class OracleError(Exception):
    """The server behaved unexpectedly, so the case has no result."""


def names_of(message, enum):
    return {v.number: v.name for v in message.DESCRIPTOR.enum_types_by_name[enum].values}


STATE_NAMES = names_of(gcs_pb2.PlacementGroupTableData, "PlacementGroupState")
SCHEDULING_NAMES = names_of(gcs_pb2.PlacementGroupStats, "SchedulingState")


def report_messages():
    """The two messages of a raylet's resource report, for which the wheel has no Python stubs."""
    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="quoit_report.proto", package="quoit.report", syntax="proto3")

    def field(message, name, number, of, repeated_type=None):
        added = message.field.add(name=name, number=number, type=of)
        added.label = kind.LABEL_REPEATED if repeated_type else kind.LABEL_OPTIONAL
        if repeated_type:
            added.type_name = ".quoit.report." + repeated_type

    view = file.message_type.add(name="View")
    maps = (
        ("resources_available", 1, kind.TYPE_DOUBLE),
        ("resources_total", 2, kind.TYPE_DOUBLE),
        ("labels", 8, kind.TYPE_STRING),
    )
    for name, number, value_type in maps:
        entry = view.nested_type.add(name="".join(part.capitalize() for part in name.split("_")) + "Entry")
        entry.options.map_entry = True
        field(entry, "key", 1, kind.TYPE_STRING)
        field(entry, "value", 2, value_type)
        field(view, name, number, kind.TYPE_MESSAGE, "View." + entry.name)
    field(view, "is_draining", 5, kind.TYPE_BOOL)

    message = file.message_type.add(name="Message")
    field(message, "version", 1, kind.TYPE_INT64)
    field(message, "message_type", 2, kind.TYPE_INT32)  # 0: a resource view
    field(message, "sync_message", 3, kind.TYPE_BYTES)
    field(message, "node_id", 4, kind.TYPE_BYTES)
    field(file.message_type.add(name="Batch"), "messages", 1, kind.TYPE_MESSAGE, "Message")

    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return [
        message_factory.GetMessageClass(pool.FindMessageTypeByName("quoit.report." + name))
        for name in ("View", "Batch")
    ]


View, Batch = report_messages()


@dataclasses.dataclass
class Answer:
    """The server's record of a group."""

    id: bytes
    state: str
    result: str  # None until an attempt has ended
    nodes: list
    topology: dict


class Raylets(grpc.GenericRpcHandler):
    """One gRPC endpoint that simulates every raylet."""

    REPLIES = {  # noqa: RUF012
        "PrepareBundleResources": node_manager_pb2.PrepareBundleResourcesReply(success=True).SerializeToString(),
        "DrainRaylet": node_manager_pb2.DrainRayletReply(is_accepted=True).SerializeToString(),
        "Check": b"\x08\x01",  # grpc.health.v1: serving
    }

    def service(self, details):
        # An empty message is a valid reply to all other calls.
        reply = self.REPLIES.get(details.method.rsplit("/", 1)[1], b"")
        return grpc.unary_unary_rpc_method_handler(lambda _request, _context: reply)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class GcsOracle:
    """One server and its nodes. Amounts are ten-thousandths, Ray's unit. Use it from one thread."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="quoit-gcs-")
        self.raylets = grpc.server(futures.ThreadPoolExecutor(max_workers=4), options=[("grpc.so_reuseport", 0)])
        self.raylets.add_generic_rpc_handlers((Raylets(),))
        self.raylet_port = self.raylets.add_insecure_port("127.0.0.1:0")
        self.raylets.start()
        self.labels, self.total, self.available = {}, {}, {}  # by node id
        self.held = {}  # by group id: (node id, amounts) of each bundle
        self.n_groups = self.n_reports = 0
        self.reports = queue.SimpleQueue()
        self.is_reporting = False
        self.job_id = b"\x01\x00\x00\x00"
        self._start()
        self._add_beacon()

    def _start(self):
        port = free_port()
        logs = os.path.join(self.folder, "logs")
        os.makedirs(logs)
        program = os.path.join(os.path.dirname(ray.__file__), "core", "src", "ray", "gcs", "gcs_server")
        with open(os.path.join(self.folder, "output"), "wb") as output:
            self.process = subprocess.Popen(
                [
                    *ENDS_WITH_US,
                    program,
                    "--log_dir=" + logs,
                    "--gcs_server_port=%d" % port,
                    "--metrics-agent-port=-1",
                    "--config_list=" + base64.b64encode(json.dumps(CONFIG).encode()).decode(),
                    "--node-ip-address=127.0.0.1",
                    "--session-name=quoit",
                    "--ray-commit=" + ray.__commit__,
                    "--session-dir=" + self.folder,
                    "--node-id=" + "00" * 28,
                ],
                stdout=output,
                stderr=output,
                env=dict(os.environ, RAY_BACKEND_LOG_LEVEL="warning"),
            )
        unlimited = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        self.channel = grpc.insecure_channel("127.0.0.1:%d" % port, options=unlimited)
        self.node_stub = gcs_service_pb2_grpc.NodeInfoGcsServiceStub(self.channel)
        self.group_stub = gcs_service_pb2_grpc.PlacementGroupInfoGcsServiceStub(self.channel)
        self.resource_stub = gcs_service_pb2_grpc.NodeResourceInfoGcsServiceStub(self.channel)
        self.autoscaler_stub = autoscaler_pb2_grpc.AutoscalerStateServiceStub(self.channel)
        self._wait_for_server()
        job = gcs_pb2.JobTableData(job_id=self.job_id, is_dead=False)
        job.config.ray_namespace = "quoit"
        jobs = gcs_service_pb2_grpc.JobInfoGcsServiceStub(self.channel)
        self._checked(jobs.AddJob(gcs_service_pb2.AddJobRequest(data=job)))

    def _wait_for_server(self):
        deadline = time.monotonic() + 60
        while True:
            try:
                self.node_stub.GetClusterId(gcs_service_pb2.GetClusterIdRequest(), timeout=2)
                return
            except grpc.RpcError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    with open(os.path.join(self.folder, "output"), errors="replace") as output:
                        text = output.read()[-2000:]
                    self.close()
                    raise OracleError("gcs_server did not start: " + text) from None
                time.sleep(0.05)

    def close(self):
        self.reports.put(None)
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.channel.close()
        self.raylets.stop(None)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @staticmethod
    def _checked(reply):
        status = getattr(reply, "status", None)
        if status is not None and status.code != 0:
            raise OracleError("gcs status %d: %s" % (status.code, status.message))
        return reply

    def cpu_seconds(self):
        """CPU time of the server only."""
        with open("/proc/%d/stat" % self.process.pid) as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    # --- nodes

    def _node_info(self, node_id, resources, labels):
        info = gcs_pb2.GcsNodeInfo(
            node_id=node_id,
            node_manager_address="127.0.0.1",
            node_manager_port=self.raylet_port,
            object_manager_port=self.raylet_port,
            node_manager_hostname="made-up",
            node_name=node_id.hex(),
            state=gcs_pb2.GcsNodeInfo.ALIVE,
        )
        info.resources_total.update(resources)
        info.labels.update(labels)
        return info

    def add_nodes(self, nodes):
        """Registers nodes, given as (resources, labels), in order; returns their ids."""
        ids, calls = [], []
        for resources, labels in nodes:
            node_id = os.urandom(28)
            request = gcs_service_pb2.RegisterNodeRequest(node_info=self._node_info(node_id, resources, labels))
            calls.append(self.node_stub.RegisterNode.future(request))
            key = node_id.hex()
            ids.append(key)
            self.labels[key] = labels
            self.total[key] = {name: fixed(amount) for name, amount in resources.items() if fixed(amount) != 0}
            self.available[key] = dict(self.total[key])
        for call in calls:
            self._checked(call.result())
        return ids

    def _add_beacon(self):
        """Adds a draining node, on which Ray places nothing."""
        self.beacon = self.add_nodes([({"tick": 1.0}, {})])[0]
        self.drain_node(self.beacon)
        for table in (self.labels, self.total, self.available):
            del table[self.beacon]

    def remove_nodes(self, ids):
        """Reports these nodes as dead, as if their raylets had ended unexpectedly."""
        calls = []
        for key in ids:
            request = gcs_service_pb2.UnregisterNodeRequest(node_id=bytes.fromhex(key))
            request.node_death_info.reason = common_pb2.NodeDeathInfo.UNEXPECTED_TERMINATION
            calls.append(self.node_stub.UnregisterNode.future(request))
            for table in (self.labels, self.total, self.available):
                del table[key]
        for call in calls:
            self._checked(call.result())

    def drain_node(self, key):
        request = autoscaler_pb2.DrainNodeRequest(
            node_id=bytes.fromhex(key), reason=autoscaler_pb2.DRAIN_NODE_REASON_PREEMPTION, reason_message="test"
        )
        if not self.autoscaler_stub.DrainNode(request).is_accepted:
            raise OracleError("the server refuses to drain a node")

    # --- what raylets report

    def _open_reports(self):
        """Opens the one stream for the reports of all nodes, and discards the server's messages on it."""
        call = self.channel.stream_stream(
            "/ray.rpc.syncer.RaySyncer/StartSync",
            request_serializer=Batch.SerializeToString,
            response_deserializer=Batch.FromString,
        )
        stream = call(iter(self.reports.get, None), metadata=(("node_id", "ab" * 28),))

        def drop():
            try:
                for _ in stream:
                    pass
            except grpc.RpcError:
                pass

        threading.Thread(target=drop, daemon=True).start()
        self.is_reporting = True

    def _add_report(self, batch, key, total, available, labels, is_draining):
        """Adds half a unit, so that Ray's truncation of the double gives exactly our integer."""
        view = View(is_draining=is_draining)
        view.resources_total.update({name: (e4 + 0.5) / 10000 for name, e4 in total.items()})
        view.resources_available.update({name: (e4 + 0.5) / 10000 for name, e4 in available.items() if e4 != 0})
        view.labels.update(labels)
        self.n_reports += 1
        batch.messages.add(version=self.n_reports, sync_message=view.SerializeToString(), node_id=bytes.fromhex(key))

    def report(self, ids):
        """Returns when the server's view of these nodes equals ours. The beacon's report is the last one, so the server
        has then read all others.
        """
        if not self.is_reporting:
            self._open_reports()
        batch = Batch()
        for key in ids:
            self._add_report(batch, key, self.total[key], self.available[key], self.labels[key], False)
        tick = {"tick": 10000 * (self.n_reports + 1)}
        self._add_report(batch, self.beacon, tick, tick, {}, True)
        self.reports.put(batch)

        deadline = time.monotonic() + 20
        while self._seen_available().get(self.beacon) != {"tick": tick["tick"] / 10000}:
            if time.monotonic() > deadline:
                raise OracleError("the server does not take a resource report")
            time.sleep(0.0003)

    def _seen_available(self):
        """The available resources that the server lists, without zeros and implicit resources."""
        reply = self.resource_stub.GetAllAvailableResources(gcs_service_pb2.GetAllAvailableResourcesRequest())
        return {row.node_id.hex(): dict(row.resources_available) for row in reply.resources_list}

    def set_available(self, amounts):
        """Sets the available amounts; `amounts` is by node id."""
        self.available.update({key: dict(free) for key, free in amounts.items()})
        self.report(amounts)

    # --- groups

    def create(self, bundles, strategy, selectors=None, soft_target=None, topology=None):
        """Creates a group and returns its id at once."""
        self.n_groups += 1
        group_id = self.n_groups.to_bytes(14, "big") + self.job_id
        spec = common_pb2.PlacementGroupSpec(
            placement_group_id=group_id,
            strategy=STRATEGIES[strategy],
            creator_job_id=self.job_id,
            creator_actor_dead=True,
            soft_target_node_id=bytes.fromhex(soft_target) if soft_target else NO_ID,
        )
        for i, bundle in enumerate(bundles):
            added = spec.bundles.add()
            added.bundle_id.placement_group_id = group_id
            added.bundle_id.bundle_index = i
            added.unit_resources.update(bundle)
            added.label_selector.update(selectors[i] if selectors else {})
        if topology:
            spec.topology_strategy[topology] = STRATEGIES["STRICT_PACK"]
        request = gcs_service_pb2.CreatePlacementGroupRequest(placement_group_spec=spec)
        self._checked(self.group_stub.CreatePlacementGroup(request))
        return group_id

    def get(self, group_id):
        request = gcs_service_pb2.GetPlacementGroupRequest(placement_group_id=group_id)
        data = self.group_stub.GetPlacementGroup(request).placement_group_table_data
        nodes = [None] * len(data.bundles)
        for bundle in data.bundles:
            if bundle.node_id and bundle.node_id != NO_ID:
                nodes[bundle.bundle_id.bundle_index] = bundle.node_id.hex()
        return Answer(
            group_id,
            STATE_NAMES[data.state],
            RESULTS.get(SCHEDULING_NAMES[data.stats.scheduling_state]),
            nodes,
            dict(data.topology_assignments),
        )

    def _wait_decided(self, group_id, lost_node=None):
        """Waits for the outcome of the next attempt, or of the first one after the server removed lost_node from the
        group.
        """
        deadline = time.monotonic() + 20
        delay = 0.0002
        while True:
            answer = self.get(group_id)
            is_new = lost_node is None or lost_node not in answer.nodes
            if is_new and (answer.result in ("FAILED", "INFEASIBLE") or answer.state == "CREATED"):
                return answer
            if time.monotonic() > deadline:
                raise OracleError("the server does not decide: %s" % answer)
            time.sleep(delay)
            delay = min(delay * 1.5, 0.01)

    def _take(self, answer, bundles):
        """Subtracts the bundles with new places, like the server does."""
        before = self.held.get(answer.id, [(None, None)] * len(bundles))
        held = []
        for (old, _), node, bundle in zip(before, answer.nodes, bundles):
            amounts = {name: fixed(amount) for name, amount in bundle.items() if fixed(amount) != 0}
            held.append((node, amounts))
            if node != old and node is not None:
                free = self.available[node]
                for name, e4 in amounts.items():
                    if name in free or name in self.total[node]:
                        free[name] = max(0, free.get(name, 0) - e4)
        self.held[answer.id] = held

    def place(self, bundles, strategy, **asked):
        """Creates a group and waits for the first decision."""
        answer = self._wait_decided(self.create(bundles, strategy, **asked))
        if answer.result == "SUCCESS":
            self._take(answer, bundles)
        return answer

    def wait_replaced(self, answer, lost_node, bundles):
        """Waits for the decision about a group after the removal of one of its nodes."""
        answer = self._wait_decided(answer.id, lost_node)
        if answer.result == "SUCCESS":
            self._take(answer, bundles)
        return answer

    def remove(self, group_id):
        """Removes the group. The server frees its resources only when the nodes report."""
        request = gcs_service_pb2.RemovePlacementGroupRequest(placement_group_id=group_id)
        self._checked(self.group_stub.RemovePlacementGroup(request))

    def release(self, answer):
        """Removes the group and lets its nodes report the free resources."""
        self.remove(answer.id)
        touched = set()
        for node, amounts in self.held.pop(answer.id, []):
            if node not in self.available:
                continue
            touched.add(node)
            for name, e4 in amounts.items():
                if name in self.total[node]:
                    free = self.available[node].get(name, 0) + e4
                    self.available[node][name] = min(self.total[node][name], free)
        if touched:
            self.report(touched)
