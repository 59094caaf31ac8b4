# SPDX-License-Identifier: Apache-2.0
"""A model of the operator of KubeRay 1.7.0: the pods of a RayCluster's worker groups, and how they change.

The model needs no cluster. Each call of `Kuberay.reconcile` creates and deletes pods like one pass of the operator, and
`Kuberay.mutate` returns what the TPU webhook adds to a pod.

>>> from quoit import kuberay
>>> cluster = kuberay.Kuberay("c")
>>> cluster.add_group("g", hosts=2, replicas=2)
>>> made = cluster.reconcile()
>>> [(pod.replica, pod.host, pod.incarnation) for pod in cluster.pods]
[(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)]
>>> cluster.mark(cluster.pods[0], kuberay.KuberayEvent.FAILED)
>>> replaced = cluster.reconcile()
>>> [(pod.replica, pod.host, pod.incarnation) for pod in cluster.pods]
[(0, 0, 2), (0, 1, 2), (1, 0, 1), (1, 1, 1)]
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

from . import _c, errors, webhook
from ._c import call, ffi, lib

INT32 = range(-(2**31), 2**31)


class KuberayFlags(enum.IntFlag):
    """Settings of the operator."""

    AUTOSCALING = 1
    """spec.enableInTreeAutoscaling is set: the operator deletes excess pods only when the autoscaler names them."""
    RANDOM_DELETION = 2
    """ENABLE_RANDOM_POD_DELETE is true for the operator: it deletes excess pods although the autoscaler is on."""
    NO_INDICES = 4
    """The feature gate RayMultiHostIndexing is off, as before KubeRay 1.6: pods have no indices, and the operator
    creates them one by one."""


PLAIN = KuberayFlags(0)
"""The default settings."""


class KuberayEvent(_c.Code):
    """Something that can happen to a pod between two passes."""

    FAILED = 0
    """The phase of the pod is Failed or Succeeded."""
    ENDED = 1
    """The Ray container has ended, and the restartPolicy is Never."""
    RESTARTED = 2
    """The Ray container has ended, and the restartPolicy is not Never."""
    GONE = 3
    """Something else has deleted the pod, or its node is gone."""
    TO_DELETE = 4
    """scaleStrategy.workersToDelete names the pod. The autoscaler writes this field."""


@dataclasses.dataclass(frozen=True)
class KuberayPod(_c.WithFrozenMappings):
    """A pod of a worker group."""

    serial: int
    """The number of the pod, from 0, counted over all pods that the cluster ever had."""
    group: str
    replica: int | None
    """The replica index, which stays the same after a replacement; None if the pod has none."""
    host: int | None
    """The host index in the replica; None if the pod has none, such as in a replica with one host."""
    incarnation: int | None
    """The number of the pod's replica, counted over all multi-host replicas ever created; None for other pods."""
    labels: Mapping[str, str]
    """The labels from KubeRay. In the name of a replica, the model uses its incarnation instead of KubeRay's random
    end: "GROUP-<0>"."""


@dataclasses.dataclass(frozen=True)
class Pass:
    """The result of a pass of the operator."""

    requeued: str | None
    """The operator's message if the pass ended early and another pass follows; None for a complete pass."""
    is_deletion_arbitrary: bool
    """Whether the operator would choose the deleted pods of a group arbitrarily. The model deletes the last pods."""


def checked_name(name: str) -> str:
    """Returns the result of KubeRay's function CheckName. The TPU webhook uses it for the headless service's name.

    The result is the last 50 bytes of `name`. If they begin with a digit or a punctuation mark, "r" replaces it.

    Args:
        name: the name of a service.
    """
    return _c.take_text(lib.quoit_kuberay_dup_checked_name(_c.to_text(name, "name")))


def pod_prefix(name: str) -> str:
    """Returns the prefix of the pod names of a group. Kubernetes appends five random characters to it.

    The prefix is the first 50 bytes of `name` in lower case, followed by "-worker-".

    Args:
        name: "CLUSTER-GROUP".
    """
    return _c.take_text(lib.quoit_kuberay_dup_pod_prefix(_c.to_text(name, "name")))


class Kuberay(_c.Uncopyable):
    """The worker groups of a RayCluster and its present pods. Mutable: use it in one thread at a time."""

    __slots__ = ("_handle",)

    _handle: Any

    def __init__(self, cluster: str, *, flags: KuberayFlags = PLAIN) -> None:
        """Creates a cluster without groups.

        Args:
            cluster: the name of the RayCluster.
            flags: settings of the operator.
        """
        named = _c.to_text(cluster, "cluster")
        self._handle = _c.own_handle(lib.quoit_kuberay_new(named, _flags(flags)), lib.quoit_kuberay_free)

    @classmethod
    def parse_manifest(
        cls, text: str | bytes, *, variables: Mapping[str, str] | None = None, flags: KuberayFlags = PLAIN
    ) -> Kuberay:
        """Returns the cluster of a manifest with its worker groups. The first pass creates the pods.

        KubeRay ends the name of a RayJob's or RayService's cluster with five random characters; the model uses "xxxxx".
        The model accepts groups that cannot be slices: `quoit.check_manifest` reports them.

        Args:
            text: YAML with one RayCluster, RayJob or RayService.
            variables: the values of ${NAME}.
            flags: settings of the operator, in addition to autoscaling in the manifest.

        Raises:
            InvalidError: the text is not YAML, does not have exactly one such object, or has a field that Kubernetes
                would refuse; the message begins with the line. Or a name in `variables` is not valid, or a name that
                the manifest uses is missing in them.
        """
        data, pairs = _c.to_document(text, "text"), _c.to_pairs(variables, "variables")
        pointer = call(lib.quoit_kuberay_parse_manifest, data, len(data), pairs, _flags(flags))
        one = cls.__new__(cls)
        one._handle = _c.own_handle(pointer, lib.quoit_kuberay_free)
        return one

    @property
    def cluster(self) -> str:
        """The name of the RayCluster."""
        return _c.text(lib.quoit_kuberay_get_cluster(self._handle))

    @property
    def is_name_assumed(self) -> bool:
        """Whether the name of the RayCluster is not known yet.

        KubeRay ends the name of a RayJob's or RayService's cluster with "-" and five random characters. The model uses
        "xxxxx" until you read the manifest back from Kubernetes.
        """
        return bool(lib.quoit_kuberay_is_name_assumed(self._handle))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes about environment variables that the manifest does not define completely.

        For example, envFrom of a container names a ConfigMap that is neither in the file nor optional.
        """
        return tuple(
            _c.text(lib.quoit_kuberay_get_note(self._handle, at))
            for at in range(lib.quoit_kuberay_get_n_notes(self._handle))
        )

    @property
    def longest_name(self) -> int:
        """The maximum length of metadata.name in bytes. With longer names, hosts of a slice do not find each other."""
        return int(lib.quoit_kuberay_get_longest_name(self._handle))

    @property
    def service(self) -> str | None:
        """KubeRay's name of the headless service; None if each group has one host."""
        return _c.text_or_none(lib.quoit_kuberay_get_service(self._handle))

    @property
    def groups(self) -> Mapping[str, int]:
        """The worker groups in their order, with the number of hosts per replica."""
        return _c.FrozenDict(
            (
                _c.text(lib.quoit_kuberay_get_group_name(self._handle, at)),
                int(lib.quoit_kuberay_get_group_hosts(self._handle, at)),
            )
            for at in range(lib.quoit_kuberay_get_n_groups(self._handle))
        )

    @property
    def pods(self) -> tuple[KuberayPod, ...]:
        """The present pods, ordered by group, then by replica and host index. Without indices, the order is by age."""
        names = tuple(self.groups)
        return tuple(self._pod(names, at) for at in range(lib.quoit_kuberay_get_n_pods(self._handle)))

    def add_group(self, name: str, *, hosts: int = 1, replicas: int = 0, pod: webhook.Pod | None = None) -> None:
        """Adds a group after the others. The number of its replicas has no bounds.

        Args:
            name: groupName.
            hosts: numOfHosts.
            replicas: the desired replicas.
            pod: the template of its pods; None: a pod without TPUs.

        Raises:
            InvalidError: a group has that name, a number is beyond 32 bits, or `hosts` is negative.
        """
        named, n_hosts = _c.to_text(name, "name"), _c.to_int(hosts, "hosts")
        wanted = _c.to_int(replicas, "replicas", INT32)
        template = _c.NULL if pod is None else webhook._handle(pod, "pod")
        call(lib.quoit_kuberay_add_group, self._handle, named, n_hosts, template)
        lib.quoit_kuberay_set_replicas(self._handle, lib.quoit_kuberay_get_n_groups(self._handle) - 1, wanted)

    def set_replicas(self, group: str, replicas: int) -> None:
        """Sets the desired number of replicas.

        Args:
            group: its groupName.
            replicas: the number; the bounds of the group limit it.

        Raises:
            NotFoundError: there is no such group.
            InvalidError: `replicas` is beyond 32 bits.
        """
        lib.quoit_kuberay_set_replicas(self._handle, self._group(group), _c.to_int(replicas, "replicas", INT32))

    def set_bounds(self, group: str, lowest: int = 0, highest: int = 2**31 - 1) -> None:
        """Sets the smallest and the greatest number of replicas.

        Args:
            group: its groupName.
            lowest: minReplicas.
            highest: maxReplicas.

        Raises:
            NotFoundError: there is no such group.
            InvalidError: a bound is beyond 32 bits.
        """
        bounds = _c.to_int(lowest, "lowest", INT32), _c.to_int(highest, "highest", INT32)
        lib.quoit_kuberay_set_bounds(self._handle, self._group(group), *bounds)

    def suspend(self, group: str) -> None:
        """Suspends a group, so that it has no pods after the next pass.

        Args:
            group: its groupName.

        Raises:
            NotFoundError: there is no such group.
        """
        lib.quoit_kuberay_suspend_group(self._handle, self._group(group))

    def resume(self, group: str) -> None:
        """Ends the suspension of a group.

        Args:
            group: its groupName.

        Raises:
            NotFoundError: there is no such group.
        """
        lib.quoit_kuberay_resume_group(self._handle, self._group(group))

    def desired(self, group: str) -> int:
        """Returns the desired number of pods of a group. As in the operator, it is an int32 that can overflow below 0.

        Args:
            group: its groupName.

        Raises:
            NotFoundError: there is no such group.
        """
        return int(lib.quoit_kuberay_get_n_desired(self._handle, self._group(group)))

    def reconcile(self) -> Pass:
        """Runs one pass of the operator over the groups, in their order.

        The operator creates and deletes the hosts of a multi-host replica together. If a replica is incomplete, the
        operator deletes it and ends the pass. If a host of a replica has failed, the operator replaces the replica in
        the same pass, usually under the same index. If workersToDelete names a pod, the operator deletes the pod's
        replica and ends the pass. New replicas get the lowest free indices.

        Raises:
            InvalidError: the groups would have more than 65,536 pods, or the pods more than 256 MiB of environment. No
                pod has changed.
        """
        requeued = ffi.new("const char **")
        call(lib.quoit_kuberay_reconcile, self._handle, requeued)
        return Pass(_c.text_or_none(requeued[0]), bool(lib.quoit_kuberay_is_deletion_arbitrary(self._handle)))

    def mark(self, pod: KuberayPod, event: KuberayEvent) -> None:
        """Records an event of a pod. The next pass reacts to it, but a pod that is GONE disappears at once.

        Args:
            pod: one of the present pods.
            event: the event.

        Raises:
            NotFoundError: the pod is gone.
            InvalidError: there is no such event.
        """
        known = _c.to_member(KuberayEvent, event, "event")
        lib.quoit_kuberay_mark_pod(self._handle, self._place(pod), known)

    def mutate(self, pod: KuberayPod) -> webhook.Patch:
        """Returns what the TPU webhook added to a pod at its creation.

        Args:
            pod: one of the present pods.

        Raises:
            NotFoundError: the pod is gone.
            InvalidError: the webhook answers with an error, see `quoit.webhook.mutate`.
        """
        place = self._place(pod)
        pointer = _c.own_handle(call(lib.quoit_kuberay_mutate_pod, self._handle, place), lib.quoit_webhook_patch_free)
        group = lib.quoit_kuberay_get_pod_group(self._handle, place)
        return webhook._patch(pointer, lib.quoit_kuberay_get_group_containers(self._handle, group))

    def admit(self, pod: KuberayPod) -> webhook.Admitted:
        """Returns a pod after the TPU webhook: its labels, and the variables of its processes.

        The variables include those of envFrom, and $(NAME) is replaced by the value of an earlier variable.

        Args:
            pod: one of the present pods.

        Raises:
            NotFoundError: the pod is gone.
            InvalidError: the webhook answers with an error, see `quoit.webhook.mutate`, or the variables of a container
                have more than 6 MiB.
        """
        pointer = call(lib.quoit_kuberay_admit_pod, self._handle, self._place(pod))
        return webhook._admitted(_c.own_handle(pointer, lib.quoit_webhook_pod_free))

    def check_group(self, group: str) -> str | None:
        """Returns why the TPU webhook denies a group when the RayCluster is applied; None if it accepts the group.

        If it denies a group or fails, Kubernetes creates no cluster and no pods of any group.

        Args:
            group: its groupName.

        Raises:
            NotFoundError: there is no such group.
            InvalidError: the webhook answers with an error, see `quoit.webhook.check_group`.
        """
        denial = ffi.new("const char **")
        call(lib.quoit_kuberay_check_group, self._handle, self._group(group), denial)
        return _c.text_or_none(denial[0])

    def check_names(self) -> None:
        """Checks that the hosts of the groups with TPUs can find each other.

        Raises:
            InvalidError: the headless service has another name than the TPU webhook assumes, or a host name is not a
                DNS label of at most 63 bytes. The message has the name, and by how many bytes to shorten it.
        """
        call(lib.quoit_kuberay_check_names, self._handle)

    def _group(self, name: str) -> int:
        _c.to_text(name, "group")
        for at, known in enumerate(names := tuple(self.groups)):
            if known == name:
                return at
        raise errors.NotFoundError(f"group {_c.quoted(name)}: expected one of {', '.join(names) or 'none'}")

    def _place(self, pod: KuberayPod) -> int:
        if not isinstance(pod, KuberayPod):
            raise TypeError(f"pod: expected a KuberayPod, not {type(pod).__name__}")
        for at in range(lib.quoit_kuberay_get_n_pods(self._handle)):
            if lib.quoit_kuberay_get_pod_serial(self._handle, at) == pod.serial:
                return at
        raise errors.NotFoundError(f"pod '{pod.serial}': expected the serial of a present pod")

    def _pod(self, names: tuple[str, ...], at: int) -> KuberayPod:
        handle = self._handle
        return KuberayPod(
            int(lib.quoit_kuberay_get_pod_serial(handle, at)),
            names[lib.quoit_kuberay_get_pod_group(handle, at)],
            _index(lib.quoit_kuberay_get_pod_replica(handle, at)),
            _index(lib.quoit_kuberay_get_pod_host(handle, at)),
            _index(lib.quoit_kuberay_get_pod_incarnation(handle, at)),
            _c.take_pairs(lib.quoit_kuberay_dup_pod_labels(handle, at)),
        )


def _index(number: int) -> int | None:
    return None if number < 0 else int(number)


def _flags(flags: object) -> int:
    if not isinstance(flags, KuberayFlags):
        raise TypeError(f"flags: expected KuberayFlags, not {type(flags).__name__}")
    return int(flags) & 0xFFFFFFFF
