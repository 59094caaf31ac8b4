# SPDX-License-Identifier: Apache-2.0
"""kubernetes_source.py SERVERS MANIFEST: import and sync --from-kubectl with a real API server and kubectl.

SERVERS is the folder of etcd, kube-apiserver and kubectl; MANIFEST is the example for Kubernetes.
"""

import json
import os
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

from lib import Checks, Ledger, Lines

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "schemas"))
import apiserver

SERVERS, MANIFEST = sys.argv[1:]
# quoit-sync is the account of the manifest.
USERS = (
    "sync-token,system:serviceaccount:quoit-system:quoit-sync,sync,system:authenticated\n"
    "none-token,nobody,nobody,system:authenticated\n"
)


class Server(apiserver.Server):
    """An API server with users, to which kubectl and several threads can talk."""

    def __init__(self, folder):
        super().__init__(SERVERS, folder, USERS)
        self.configs = {name: self.write_config(name) for name in ("admin", "sync", "none")}

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def write_config(self, user):
        return self.write(
            user + ".kubeconfig",
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "x",
                    "clusters": [
                        {
                            "name": "c",
                            "cluster": {
                                "server": "https://127.0.0.1:%d" % self.port,
                                "insecure-skip-tls-verify": True,
                            },
                        }
                    ],
                    "users": [{"name": "u", "user": {"token": user + "-token"}}],
                    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
                }
            ),
        )

    def call(self, method, path, body=None, kind="application/json"):
        """Calls the API server as an administrator."""
        request = urllib.request.Request(
            "https://127.0.0.1:%d%s" % (self.port, path),
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + apiserver.ADMIN, "Content-Type": kind},
        )
        context = ssl._create_unverified_context()
        with urllib.request.urlopen(request, context=context, timeout=30) as answer:
            return json.load(answer)

    def kubectl(self, *arguments):
        return subprocess.run(
            [os.path.join(SERVERS, "kubectl"), "--kubeconfig", self.configs["admin"], *arguments],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    # --- objects

    def add_node(self, name, pool, topology="4x4", address="10.0.0.1"):
        labels = {
            "cloud.google.com/gke-nodepool": pool,
            "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
            "cloud.google.com/gke-tpu-topology": topology,
        }
        resources = {
            "cpu": "180",
            "memory": "720Gi",
            "pods": "100",
            "google.com/tpu": "4",
        }
        self.call(
            "POST",
            "/api/v1/nodes",
            {"kind": "Node", "metadata": {"name": name, "labels": labels}},
        )
        status = {
            "capacity": resources,
            "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": address}],
        }
        self.patch_status("/api/v1/nodes/" + name, status)

    def patch_status(self, path, status):
        self.call(
            "PATCH",
            path + "/status",
            {"status": status},
            "application/strategic-merge-patch+json",
        )

    def add_pod(self, name, node, worker, address, namespace="ray"):
        container = {
            "name": "ray-worker",
            "image": "ray",
            "env": [{"name": "TPU_WORKER_ID", "value": str(worker)}],
            "resources": {"limits": {"google.com/tpu": "4"}},
        }
        pod = {
            "metadata": {"name": name},
            "spec": {"nodeName": node, "containers": [container]},
        }
        path = "/api/v1/namespaces/%s/pods" % namespace
        self.call("POST", path, {"kind": "Pod", **pod})
        self.patch_status(
            path + "/" + name,
            {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}]},
        )

    def delete(self, path):
        self.call("DELETE", path, {"kind": "DeleteOptions", "gracePeriodSeconds": 0})


def play(server, folder, checks):
    check = checks.check
    server.call("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": "ray"}})
    for i in range(4):
        server.add_node("gke-a-%d" % i, "pool-a", address="10.0.0.%d" % (i + 1))
        server.add_pod("w-%d" % i, "gke-a-%d" % i, 3 - i, "10.4.0.%d" % (i + 1))
    admin = ["--", "--kubeconfig", server.configs["admin"]]
    ledger = Ledger(folder, SERVERS)

    # --- the manifest, and the account that it makes
    applied = server.kubectl("apply", "--server-side", "--validate=strict", "-f", MANIFEST)
    check("the server accepts the manifest", applied.returncode == 0, applied.stderr)
    account = ["--", "--kubeconfig", server.configs["sync"]]
    done = ledger.run("import", "--from-kubectl", "-o", "json", *account)
    check("its account may read what is needed", done.returncode == 0, done.stderr)
    check("nodes and worker ids", json.loads(done.stdout)["warnings"] == [], done.stdout)
    nodes = ledger.json("nodes")["nodes"]
    found = [(n["node"], n["worker_id"], n["address"], n["slice"]) for n in nodes]
    check(
        "each node has the worker id and the address of its pod",
        found == [("gke-a-%d" % i, 3 - i, "10.4.0.%d" % (i + 1), "pool-a") for i in (3, 2, 1, 0)],
        found,
    )
    done = ledger.run("sync", "--from-kubectl", "-o", "json", *admin)
    check(
        "the same cluster changes nothing",
        json.loads(done.stdout)["n_changes"] == 0,
        done.stdout,
    )
    done = ledger.run("sync", "--from-kubectl", "-o", "json", *admin, "-n", "ray")
    check(
        "nor do the pods of its namespace",
        json.loads(done.stdout)["n_changes"] == 0,
        (done.stdout, done.stderr),
    )

    # --- refusals
    before = ledger.json("status")["seq"]
    done = ledger.run("sync", "--from-kubectl", "--", "--kubeconfig", server.configs["none"])
    check(
        "an account without rights",
        done.returncode == 3 and "exit status 1: Error from server (Forbidden): pods is forbidden" in done.stderr,
        done.stderr,
    )
    done = ledger.run("sync", "--from-kubectl", "--", "--server", "https://127.0.0.1:1")
    check(
        "a server that does not answer",
        done.returncode == 3 and "exit status 1: " in done.stderr,
        done.stderr,
    )
    done = ledger.run("sync", "--from-kubectl", "--", "--frobnicate")
    check(
        "an unknown option of kubectl",
        done.returncode == 3 and "unknown flag: --frobnicate" in done.stderr,
        done.stderr,
    )
    os.kill(server.running[1].pid, signal.SIGSTOP)
    try:
        done = ledger.run("sync", "--from-kubectl", "--timeout", "2s", *admin)
        check(
            "a server that hangs",
            done.returncode == 3 and "not finished after 2000 ms" in done.stderr,
            done.stderr,
        )
    finally:
        os.kill(server.running[1].pid, signal.SIGCONT)
    check("nothing has changed", ledger.json("status")["seq"] == before)

    # --- one moment: a pod is only ever on a node that exists, so a list of pods that is older or newer than the nodes
    # names a node that they lack
    over, failures, rounds = threading.Event(), [], [0]

    def churn():
        try:
            while not over.is_set():
                name = "gke-c-%d" % rounds[0]
                server.add_node(name, name, "2x2", "10.0.9.9")
                server.add_pod("c-%d" % rounds[0], name, 0, "10.4.9.9")
                server.delete("/api/v1/namespaces/ray/pods/c-%d" % rounds[0])
                server.delete("/api/v1/nodes/" + name)
                rounds[0] += 1
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=churn)
    thread.start()
    loop = ledger.start("sync", "--from-kubectl", "--every", "1ms", "-o", "json", *admin)
    time.sleep(20)
    loop.terminate()
    out, err = loop.communicate(timeout=60)
    over.set()
    thread.join()
    lines = out.splitlines()
    print("%d nodes with a pod came and went; %d syncs saw a change" % (rounds[0], len(lines)))
    check(
        "the cluster changed without failure",
        not failures and rounds[0] > 20,
        (failures, rounds),
    )
    check("many syncs saw a change", len(lines) > 5, (out, err))
    check("no sync saw lists of different moments", "next try" not in err, err)
    check("the loop ended by SIGTERM", loop.returncode == -signal.SIGTERM, loop.returncode)

    # --- the loop survives a server that is restarted
    loop = ledger.start("sync", "--from-kubectl", "--every", "500ms", *admin)
    lines = Lines(loop)
    time.sleep(2)
    os.kill(server.running[1].pid, signal.SIGSTOP)
    time.sleep(1)
    os.kill(server.running[1].pid, signal.SIGCONT)
    server.call(
        "PATCH",
        "/api/v1/nodes/gke-a-0",
        {"spec": {"unschedulable": True}},
        "application/strategic-merge-patch+json",
    )
    check("a cordoned node is a line", lines.find("gke-a-0: alive -> draining"))
    loop.send_signal(signal.SIGINT)
    check("the loop ended by SIGINT", loop.wait(60) == -signal.SIGINT, loop.returncode)
    check("the ledger is whole", ledger.run("verify").returncode == 0)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "ledgers"))
        try:
            with Server(folder) as server:
                play(server, os.path.join(folder, "ledgers"), checks)
        except Exception as error:
            checks.check("the play went to its end", False, repr(error))
    checks.finish()


if __name__ == "__main__":
    main()
