# SPDX-License-Identifier: Apache-2.0
"""How JAX 0.12.0.1 identifies a process on a TPU host, without JAX: a model of ``jax.distributed.initialize()``.

Nothing is read from the process. The environment and the answers of a metadata server are arguments.

>>> from quoit import identity
>>> cluster = identity.jax_cluster({"TPU_WORKER_HOSTNAMES": "host-0,host-1", "TPU_WORKER_ID": "1"})
>>> cluster.coordinator(), cluster.process_count(), cluster.process_id()
('host-0:8482', 2, 1)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from . import _c
from ._c import call, ffi, lib
from .topologies import Topology, _topology_handle


class JaxClusterKind(_c.Code):
    """The methods of JAX to find a cluster on a TPU host.

    JAX tries Open MPI and Slurm before these methods, and Kubernetes without TPUs after them. The model does not
    include these other methods.
    """

    NONE = 0
    """No method finds a cluster."""
    GCE_TPU = 1
    """"gcetpu": a TPU VM, which reads its metadata server."""
    GKE_TPU = 2
    """"gketpu": a pod, which reads its environment."""


class JaxCluster(_c.Immutable):
    """The cluster that JAX finds for one process.

    JAX computes the result of each method below separately: if one fails, you can still call the others.

    Args:
        kind: the method to use, even if JAX would choose another one.
        env: the environment of the process.
        metadata: the values of "agent-worker-number", "worker-network-endpoints" and "tpu-env" on the metadata
            server; None if no server answers.
        addresses: the content of the file that TPU_PROCESS_ADDRESSES_PATH names; None if it cannot be read.

    Raises:
        InvalidError: a name has a '=', or a text has a NUL or a lone surrogate.
        TypeError: an argument has another type.
    """

    __slots__ = ("_handle",)

    _handle: Any

    def __init__(
        self,
        kind: JaxClusterKind,
        env: Mapping[str, str] | None = None,
        metadata: Mapping[str, str] | None = None,
        addresses: str | None = None,
    ) -> None:
        # These references keep the C arrays alive during the call.
        env_pairs, metadata_pairs = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
        file = _c.to_text_or_null(addresses, "addresses")
        wanted = _c.to_member(JaxClusterKind, kind, "kind")
        handle = lib.quoit_jax_cluster_new(wanted, env_pairs, metadata_pairs, file)
        object.__setattr__(self, "_handle", _c.own_handle(handle, lib.quoit_jax_cluster_free))

    @property
    def kind(self) -> JaxClusterKind:
        """The method that found the cluster."""
        return JaxClusterKind(lib.quoit_jax_cluster_get_kind(self._handle))

    def workers(self) -> tuple[str, ...]:
        """Returns the processes of the slice, each as a host name or an address in the given form.

        JAX does not strip blanks. Two adjacent commas in the list give an empty name.

        Raises:
            InvalidError: the list cannot be read.
            NotFoundError: the cluster is of kind NONE, like in the methods below.
        """
        return _c.take_texts(call(lib.quoit_jax_cluster_list_workers, self._handle))

    def coordinator(self) -> str:
        """Returns the address of the coordinator, where JAX's processes meet: "HOST:PORT". The host is not resolved.

        The host is MEGASCALE_COORDINATOR_ADDRESS, else the first worker. JAX cuts the host at its first colon, which
        breaks IPv6 addresses. The port is JAX_COORDINATOR_PORT, else 8482.

        Raises:
            InvalidError: the list of workers is needed and cannot be read, or the cluster is a pod whose
                TPU_PROCESS_ADDRESSES_PATH names a file that is empty or cannot be read.
            NotFoundError: the cluster is of kind NONE.
        """
        return _c.take_text(call(lib.quoit_jax_cluster_dup_coordinator, self._handle))

    def process_count(self) -> int:
        """Returns the number of processes of the job.

        The result is the number of workers times MEGASCALE_NUM_SLICES (1 if the variable is unset or empty). JAX checks
        no range: the result can be 0 or less.

        Raises:
            InvalidError: Python's int() cannot read a number, a number is beyond 64 bits, or the list of workers cannot
                be read.
            NotFoundError: the cluster is of kind NONE.
        """
        count = ffi.new("int64_t *")
        call(lib.quoit_jax_cluster_count_processes, self._handle, count)
        return int(count[0])

    def process_id(self) -> int:
        """Returns the worker's number in its slice, plus the number of workers in all earlier slices.

        The number of earlier slices is MEGASCALE_SLICE_ID (0 if the variable is unset or empty). JAX checks no range:
        the result can be negative, or not less than the number of processes.

        Raises:
            InvalidError: a number is missing or beyond 64 bits, Python's int() cannot read it, or the list of workers
                cannot be read.
            NotFoundError: the cluster is of kind NONE.
        """
        process_id = ffi.new("int64_t *")
        call(lib.quoit_jax_cluster_find_process_id, self._handle, process_id)
        return int(process_id[0])


def jax_cluster(
    env: Mapping[str, str] | None = None, metadata: Mapping[str, str] | None = None, addresses: str | None = None
) -> JaxCluster:
    """Returns the cluster that JAX finds on a TPU host. If JAX finds none, its kind is NONE.

    The kind is GCE_TPU if the metadata has an agent-worker-number and TPU_SKIP_MDS_QUERY is not set. Otherwise the kind
    is GKE_TPU if the environment lists workers.

    Args:
        env: the environment of the process.
        metadata: like for `JaxCluster`.
        addresses: like for `JaxCluster`.

    Raises:
        InvalidError: the file that TPU_PROCESS_ADDRESSES_PATH names is empty or cannot be read, so that JAX fails
            during the search; or an argument is invalid, like for `JaxCluster`.
    """
    env_pairs, metadata_pairs = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
    found = call(lib.quoit_jax_cluster_detect, env_pairs, metadata_pairs, _c.to_text_or_null(addresses, "addresses"))
    return _wrap_cluster(found)


def jax_cluster_of_process(job: Topology, process_id: int) -> JaxCluster:
    """Returns the cluster that JAX finds in the environment that a topology has for one of its processes.

    The result is `jax_cluster` of that environment, without a metadata server and without a file. The processes of a
    slice share their lists of hosts, and this function does not copy these lists. Therefore a loop over all processes
    takes linear time.

    Args:
        job: a result of `quoit.topology` in this process, not a copy.
        process_id: the id of a process of the job, 0 to n - 1.

    Raises:
        InvalidError: there is no such process, the job is a copy, or JAX fails during the search because
            TPU_PROCESS_ADDRESSES_PATH names a file.
    """
    if not isinstance(job, Topology):
        raise TypeError(f"job: expected a quoit.Topology, not {type(job).__name__}")
    handle = _topology_handle(job, "job")
    at = _c.to_int(process_id, "process_id", range(len(job.processes)))
    return _wrap_cluster(call(lib.quoit_jax_cluster_detect_process, handle, at))


def _wrap_cluster(handle: Any) -> JaxCluster:
    cluster = JaxCluster.__new__(JaxCluster)
    object.__setattr__(cluster, "_handle", _c.own_handle(handle, lib.quoit_jax_cluster_free))
    return cluster


@dataclasses.dataclass(frozen=True)
class ProcessBounds:
    """How the chips of a host are divided among its processes."""

    process_bounds: str
    """The value of TPU_PROCESS_BOUNDS: "2,2,1"; "" for no bounds."""
    chips_per_process_bounds: str
    """The value of TPU_CHIPS_PER_PROCESS_BOUNDS, such as "1,1,1"."""


def jax_process_bounds(generation: str, host_chips: int, chips_per_process: int) -> ProcessBounds:
    """Returns how JAX divides a host's chips among several processes.

    If one of the two numbers is 0, there are no bounds, and both texts are empty.

    Args:
        generation: any system's name of the generation, or JAX's "plc", "tpu8i", "tpu8t".
        host_chips: the chips of the host.
        chips_per_process: the chips of each process.

    Raises:
        InvalidError: JAX does not support such a host or such a division; the message has the supported numbers.
    """
    bounds, chips_bounds = ffi.new("const char **"), ffi.new("const char **")
    name, chips = _c.to_text(generation, "generation"), _c.to_int(host_chips, "host_chips")
    each = _c.to_int(chips_per_process, "chips_per_process")
    call(lib.quoit_jax_process_bounds, name, chips, each, bounds, chips_bounds)
    return ProcessBounds(_c.text(bounds[0]), _c.text(chips_bounds[0]))
