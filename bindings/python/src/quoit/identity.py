# SPDX-License-Identifier: Apache-2.0
"""Who a process is in the eyes of JAX 0.12.0.1, without JAX: what ``jax.distributed.initialize()`` finds out on a TPU host.

Nothing is read from the process: an environment is an argument, and so is what a metadata server would say.

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
from .topologies import Topology, _handle_of


class JaxClusterKind(_c.Code):
    """Which of JAX's ways to find a cluster on a TPU host it takes.

    JAX looks for Open MPI and Slurm before these, and for a Kubernetes without TPUs after them: not modelled.
    """

    NONE = 0
    """None of these finds one."""
    GCE_TPU = 1
    """"gcetpu": a TPU VM by itself, which asks its metadata server."""
    GKE_TPU = 2
    """"gketpu": a pod, which asks its environment."""


class JaxCluster(_c.Sealed):
    """The cluster that JAX finds around one process. JAX finds each fact by itself: one that is refused leaves others.

    Args:
        kind: what to take it for, whatever JAX would have chosen.
        env: of the process.
        metadata: "agent-worker-number", "worker-network-endpoints", "tpu-env"; None where no server answers.
        addresses: what is in the file that TPU_PROCESS_ADDRESSES_PATH names; None: it cannot be read.

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
        # The names keep alive what the arguments point to.
        before, told = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
        file = _c.to_text_or_null(addresses, "addresses")
        wanted = _c.to_member(JaxClusterKind, kind, "kind")
        handle = lib.quoit_jax_cluster_new(wanted, before, told, file)
        object.__setattr__(self, "_handle", _c.owned(handle, lib.quoit_jax_cluster_free))

    @property
    def kind(self) -> JaxClusterKind:
        """What it is."""
        return JaxClusterKind(lib.quoit_jax_cluster_get_kind(self._handle))

    def workers(self) -> tuple[str, ...]:
        """The processes of its slice, as hosts or addresses and as they are written.

        JAX strips no blanks, and two commas have an empty one between them.

        Raises:
            InvalidError: the list cannot be read.
            NotFoundError: the cluster is of kind NONE, as in the methods below.
        """
        return _c.taken_texts(call(lib.quoit_jax_cluster_list_workers, self._handle))

    def coordinator(self) -> str:
        """Where JAX meets the other processes, "HOST:PORT". Whether the host is known is not asked.

        MEGASCALE_COORDINATOR_ADDRESS, else the first worker, up to its first colon (so that an IPv6 address is broken),
        and JAX_COORDINATOR_PORT, else 8482.

        Raises:
            InvalidError: the list of workers is needed and cannot be read, or the cluster is a pod whose
                TPU_PROCESS_ADDRESSES_PATH names a file that is empty or cannot be read.
            NotFoundError: the cluster is of kind NONE.
        """
        return _c.taken_text(call(lib.quoit_jax_cluster_dup_coordinator, self._handle))

    def process_count(self) -> int:
        """The processes of the job: the workers times MEGASCALE_NUM_SLICES, 1 where that is not set or empty.

        JAX checks no range: it may be 0 or less.

        Raises:
            InvalidError: a number is none for Python's int(), or beyond 64 bits, or the list of workers cannot be read.
            NotFoundError: the cluster is of kind NONE.
        """
        count = ffi.new("int64_t *")
        call(lib.quoit_jax_cluster_count_processes, self._handle, count)
        return int(count[0])

    def process_id(self) -> int:
        """The worker's number in its slice, and the workers of a slice for each of the slices before.

        Those before are MEGASCALE_SLICE_ID, 0 where that is not set or empty. JAX checks no range: it may be negative,
        and no less than the count of processes.

        Raises:
            InvalidError: a number is missing, none for Python's int(), or beyond 64 bits, or the list of workers cannot
                be read.
            NotFoundError: the cluster is of kind NONE.
        """
        process_id = ffi.new("int64_t *")
        call(lib.quoit_jax_cluster_find_process_id, self._handle, process_id)
        return int(process_id[0])


def jax_cluster(
    env: Mapping[str, str] | None = None, metadata: Mapping[str, str] | None = None, addresses: str | None = None
) -> JaxCluster:
    """The cluster that JAX chooses on a TPU host; of kind NONE where it finds none.

    It is a TPU VM by itself where the metadata has an agent-worker-number and TPU_SKIP_MDS_QUERY is not set, else a pod
    where its environment lists workers.

    Args:
        env: of the process.
        metadata: as for `JaxCluster`.
        addresses: likewise.

    Raises:
        InvalidError: JAX gives up while it looks: the file that TPU_PROCESS_ADDRESSES_PATH names is empty or cannot be
            read; or as for `JaxCluster`.
    """
    before, told = _c.to_pairs(env, "env"), _c.to_pairs(metadata, "metadata")
    found = call(lib.quoit_jax_cluster_detect, before, told, _c.to_text_or_null(addresses, "addresses"))
    return _found(found)


def jax_cluster_of_process(job: Topology, process_id: int) -> JaxCluster:
    """The cluster that JAX chooses in the environment that a topology has for one of its processes.

    It is `jax_cluster` of that environment, where no metadata server answers and no file can be read. Lists of hosts,
    which all processes of a slice are told, are not copied: to ask all of them takes as long as there are processes.

    Args:
        job: what `quoit.topology` made in this process, no copy.
        process_id: which of its processes, 0 to n - 1.

    Raises:
        InvalidError: there is no such process, the job is a copy, or JAX gives up while it looks:
            TPU_PROCESS_ADDRESSES_PATH names a file.
    """
    if not isinstance(job, Topology):
        raise TypeError(f"job: expected a quoit.Topology, not {type(job).__name__}")
    handle = _handle_of(job, "job")
    at = _c.to_int(process_id, "process_id", range(len(job.processes)))
    return _found(call(lib.quoit_jax_cluster_detect_process, handle, at))


def _found(handle: Any) -> JaxCluster:
    cluster = JaxCluster.__new__(JaxCluster)
    object.__setattr__(cluster, "_handle", _c.owned(handle, lib.quoit_jax_cluster_free))
    return cluster


@dataclasses.dataclass(frozen=True)
class ProcessBounds:
    """How the chips of a host are dealt to its processes."""

    process_bounds: str
    """For TPU_PROCESS_BOUNDS: "2,2,1"; "" for no bounds."""
    chips_per_process_bounds: str
    """For TPU_CHIPS_PER_PROCESS_BOUNDS: "1,1,1"."""


def jax_process_bounds(generation: str, host_chips: int, chips_per_process: int) -> ProcessBounds:
    """How JAX deals a host's chips to several processes of it. 0 of either means no bounds: two empty texts.

    Args:
        generation: any system's name of it, and JAX's "plc", "tpu8i", "tpu8t".
        host_chips: the chips of the host.
        chips_per_process: how many of them each process is given.

    Raises:
        InvalidError: JAX knows no such host or does not deal its chips so; the message has the numbers that it knows.
    """
    bounds, of_process = ffi.new("const char **"), ffi.new("const char **")
    name, chips = _c.to_text(generation, "generation"), _c.to_int(host_chips, "host_chips")
    each = _c.to_int(chips_per_process, "chips_per_process")
    call(lib.quoit_jax_process_bounds, name, chips, each, bounds, of_process)
    return ProcessBounds(_c.text(bounds[0]), _c.text(of_process[0]))
