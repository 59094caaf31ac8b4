# SPDX-License-Identifier: Apache-2.0
"""A Kubernetes API server with etcd, in a folder of its own, that ends with this process."""

import ctypes
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time
import urllib.parse

DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG
ADMIN = "admin-token"


def find_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def end_with_parent():
    ctypes.CDLL(None).prctl(DEATH_SIGNAL, signal.SIGKILL)


class Server:
    """`users` has lines of kube-apiserver's token file, besides that of the administrator, whose token is ADMIN."""

    def __init__(self, programs, folder, users=""):
        self.programs = programs
        self.folder = folder
        self.users = users
        self.running = []
        self.port = find_port()
        self.resources = {}
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        self.connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=context, timeout=60)

    def __enter__(self):
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.running):
            process.kill()
            process.wait()

    def _file(self, name):
        return os.path.join(self.folder, name)

    def _run(self, name, *arguments):
        with open(self._file(name + ".log"), "ab") as log:
            command = [os.path.join(self.programs, name), *arguments]
            self.running.append(subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=end_with_parent))

    def _start(self):
        client, peer = (f"http://127.0.0.1:{find_port()}" for _ in range(2))
        key = self._file("sa.key")
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        with open(self._file("tokens"), "w") as file:
            file.write(f"{ADMIN},admin,admin,system:masters\n{self.users}")
        self._run(
      "etcd", "--data-dir", self._file("etcd"), "--unsafe-no-fsync", "--listen-client-urls", client,
      "--advertise-client-urls", client, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
      "--initial-cluster", f"default={peer}",
    )  # fmt: skip
        self._run(
      "kube-apiserver", "--etcd-servers", client, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
      f"--secure-port={self.port}", "--cert-dir", self._file("certs"), "--token-auth-file", self._file("tokens"),
      "--service-account-issuer=https://quoit.test", "--service-account-key-file", key,
      "--service-account-signing-key-file", key, "--authorization-mode=RBAC", "--allow-privileged=true", "--service-cluster-ip-range=10.0.0.0/24",
      "--disable-admission-plugins=ServiceAccount,PersistentVolumeClaimResize,RuntimeClass,Priority",
      "--runtime-config=resource.k8s.io/v1beta1=true,resource.k8s.io/v1beta2=true",
    )  # fmt: skip
        self._wait(lambda: self.request("GET", "/api/v1/namespaces/default")[0] == 200, 120)

    def _wait(self, call, seconds):
        end = time.monotonic() + seconds
        while True:
            try:
                if call():
                    return
            except (OSError, http.client.HTTPException):
                pass
            for process in self.running:
                if process.poll() is not None:
                    raise RuntimeError(f"{process.args[0]} ended: see the logs in {self.folder}")
            if time.monotonic() > end:
                raise RuntimeError(f"no answer for {seconds} seconds: see the logs in {self.folder}")
            time.sleep(0.1)

    def request(self, method, path, body=None, kind="application/yaml"):
        """Returns the status and the answer, which is JSON."""
        headers = {"Authorization": f"Bearer {ADMIN}", "Accept": "application/json", "Content-Type": kind}
        for attempt in range(2):
            try:
                self.connection.request(method, path, body=None if body is None else body.encode(), headers=headers)
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except BaseException as error:
                self.connection.close()
                # The server may close a connection that it has kept for a while.
                if attempt > 0 or not isinstance(error, (http.client.HTTPException, OSError)):
                    raise
        return answer.status, json.loads(text) if text.startswith(b"{") else {"message": text.decode(errors="replace")}

    def install(self, text, name):
        """Installs a CustomResourceDefinition, and waits until the server has it."""
        path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        status, answer = self.request("POST", path, text)
        if status != 201:
            raise RuntimeError(f"{name}: {answer['message']}")

        def is_established():
            conditions = self.request("GET", f"{path}/{name}")[1].get("status", {}).get("conditions")
            return any(one["type"] == "Established" and one["status"] == "True" for one in conditions or [])

        self._wait(is_established, 60)

    def add_namespace(self, name):
        self.request("POST", "/api/v1/namespaces", json.dumps({"metadata": {"name": name}}), "application/json")

    def find_resource(self, version, kind):
        """Returns (path of the version, plural, is namespaced), as kubectl finds them, or None."""
        path = ("/apis/" if "/" in version else "/api/") + urllib.parse.quote(version)
        if version not in self.resources:
            status, answer = self.request("GET", path)
            self.resources[version] = answer.get("resources", []) if status == 200 else []
        for one in self.resources[version]:
            if one["kind"] == kind and "/" not in one["name"]:
                return path, one["name"], one["namespaced"]
        return None

    def judge(self, text, version, kind, namespace):
        """Returns None if the server would create the object, else why not. Nothing is created."""
        found = self.find_resource(version, kind) if version and kind else None
        if found is None:
            return f"no matches for kind {kind!r} in version {version!r}"
        path, plural, namespaced = found
        where = (
            f"{path}/namespaces/{urllib.parse.quote(namespace or 'default', safe='')}/{plural}"
            if namespaced
            else f"{path}/{plural}"
        )
        status, answer = self.request("POST", where + "?dryRun=All&fieldValidation=Strict", text)
        return None if status == 201 else answer.get("message", f"status {status}")
