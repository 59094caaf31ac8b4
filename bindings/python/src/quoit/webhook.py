# SPDX-License-Identifier: Apache-2.0
"""A model of the TPU webhook of GKE's KubeRay (kuberay-tpu-webhook ef658db): its checks, and its changes to pods.

Pods are values that the caller fills in; no cluster is needed. The model accepts everything that the webhook accepts.
`quoit.check_manifest` also finds errors that the webhook does not find.

>>> from quoit import webhook
>>> pod = webhook.Pod(
...     labels={"ray.io/cluster": "c", "ray.io/group": "g"},
...     selectors={webhook.TOPOLOGY: "4x4"},
...     containers=[webhook.Container(limit="4")],
... )
>>> patch = webhook.mutate(pod)
>>> patch.hostname, patch.subdomain, len(patch.containers[0])
('g-0-0', 'c-headless', 5)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _c
from ._c import call, ffi, lib

TOPOLOGY = "cloud.google.com/gke-tpu-topology"
"""The key of the node selector for the topology, such as "4x4"."""
ACCELERATOR = "cloud.google.com/gke-tpu-accelerator"
"""The key of the node selector for the accelerator, such as "tpu-v6e-slice"."""
TOPOLOGY_KEY = "cloud.google.com/gke-nodepool"
"""The topology key of all affinity terms."""


class WebhookTerm(_c.Code):
    """The affinity terms that the webhook adds."""

    TOGETHER = 0
    """Use the node pool of the pods of the same slice."""
    APART = 1
    """Avoid node pools with pods of another slice of the cluster."""
    OTHERS = 2
    """Avoid node pools with slices of other clusters, in the namespaces of NAMESPACES."""
    NAMESPACES = 3
    """The namespaces of OTHERS."""


@dataclasses.dataclass(frozen=True)
class Container:
    """The fields of a container that the webhook reads."""

    request: str | None = None
    """The value of google.com/tpu in the container's requests, such as "4"; None without it."""
    limit: str | None = None
    """The value of google.com/tpu in the container's limits; None without it."""
    env: Sequence[tuple[str, str | None]] = ()
    """The names and values of the variables, in their order. A value is None for a valueFrom. Names can repeat."""


@dataclasses.dataclass(frozen=True)
class Pod(_c.WithFrozenMappings):
    """The fields of a pod, or of the template of a worker group, that the webhook reads."""

    labels: Mapping[str, str] = dataclasses.field(default_factory=dict)
    selectors: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """The node selectors."""
    containers: Sequence[Container] = ()


@dataclasses.dataclass(frozen=True)
class Variable:
    """A variable that the webhook appends to the variables of a container."""

    name: str
    value: str | None
    """The value; None if the value comes from a field of the pod."""
    field: str | None
    """The field of the pod from which the value comes, such as "status.hostIP"; None if `value` is set."""


@dataclasses.dataclass(frozen=True)
class AdmittedVariable:
    """A variable of a container after the webhook."""

    name: str
    value: str | None
    """The value before Kubernetes expands $(NAME); None if the value comes from a field or another object."""
    field: str | None
    """The field of the pod from which the value comes, such as "status.hostIP", if the webhook added the variable; else
    None."""
    is_written: bool
    """Whether the webhook added the variable; False for a variable of the container itself."""
    is_effective: bool
    """Whether processes get this variable. Kubernetes uses the last variable of each name, even if it is empty."""


@dataclasses.dataclass(frozen=True)
class Admitted(_c.WithFrozenMappings):
    """A pod after the webhook."""

    labels: Mapping[str, str]
    containers: tuple[tuple[AdmittedVariable, ...], ...]
    """The variables of each container: first its own variables, then those that the webhook added."""


@dataclasses.dataclass(frozen=True)
class Patch(_c.WithFrozenMappings):
    """The changes of the webhook to a pod."""

    is_empty: bool
    """Whether the webhook changes nothing, because the pod requests no TPUs."""
    hostname: str | None
    """GROUP-REPLICA-HOST, of any length; None if the slice has one host."""
    subdomain: str | None
    """The headless service that completes the DNS name of the host; None if the slice has one host."""
    replica_label: str | None
    """The label "replicaIndex", which the webhook adds if KubeRay has set no indices."""
    affinity: Mapping[WebhookTerm, tuple[str, ...]]
    """The requirements of each term: "ray.io/cluster In c"; empty if the slice has one host."""
    containers: tuple[tuple[Variable, ...], ...]
    """The added variables of each container. The containers are in the order of the pod."""


def check_group(pod: Pod, hosts: int) -> str | None:
    """Returns why the webhook denies a worker group of a RayCluster; None if it accepts the group.

    The webhook denies a RayCluster with the message for its first denied group. It expects that `hosts` is the number
    of chips of the topology divided by the number of chips of a pod, rounded down, in 32 bits.

    Args:
        pod: the template of the group's pods.
        hosts: numOfHosts of the group.

    Raises:
        InvalidError: the webhook answers with an error, which Kubernetes prints as "Failed to validate RayCluster":
            numOfHosts, containers or the topology are missing, or the webhook cannot read a number of the topology. Or
            Kubernetes would refuse a quantity of chips.
    """
    handle, denial = _handle(pod, "pod"), ffi.new("const char **")
    call(lib.quoit_webhook_check_group, handle, _c.to_int(hosts, "hosts"), denial)
    return _c.text_or_none(denial[0])


def mutate(pod: Pod, others: Iterable[Pod] = ()) -> Patch:
    """Returns the changes of the webhook to a new pod.

    If the webhook cannot read the topology, it assumes a slice of one host. It takes indices from labels without a
    check of their range.

    Args:
        pod: the pod.
        others: the present pods of the pod's group, as `applied` returns them, without pods that are being deleted.
            They are only needed if KubeRay has given the pod no indices.

    Raises:
        InvalidError: the webhook answers with an error, which Kubernetes prints as "Failed to mutate Pod": labels,
            containers or the topology are missing, an index is not a number, or worker ids of `others` are missing
            or occur twice. Unlike the webhook, this function also refuses more than 262144 host names.
    """
    _, patch = _mutated(pod, others)
    return _patch(patch, len(pod.containers))


def admit(pod: Pod, others: Iterable[Pod] = ()) -> Admitted:
    """Returns a pod after the webhook: its labels, and the variables of its processes.

    Args:
        pod: a new pod.
        others: like for `mutate`.

    Raises:
        InvalidError: like `mutate`.
    """
    handle, patch = _mutated(pod, others)
    lib.quoit_webhook_pod_apply(handle, patch)
    return _admitted(handle)


def applied(pod: Pod, others: Iterable[Pod] = ()) -> Pod:
    """Returns the pod with everything that the webhook adds. Pass the result in `others` for the next pod of the group.

    Args:
        pod: a new pod.
        others: like for `mutate`.

    Raises:
        InvalidError: like `mutate`.
    """
    seen = admit(pod, others)
    containers = tuple(
        dataclasses.replace(one, env=tuple((variable.name, variable.value) for variable in variables))
        for one, variables in zip(pod.containers, seen.containers)
    )
    return dataclasses.replace(pod, labels=dict(seen.labels), containers=containers)


def _mutated(pod: Pod, others: Iterable[Pod]) -> tuple[Any, Any]:
    handle = _handle(pod, "pod")
    if isinstance(others, (str, bytes)) or not isinstance(others, Iterable):
        raise TypeError(f"others: expected a sequence of Pod, not {type(others).__name__}")
    held = [_handle(one, f"others[{index}]") for index, one in enumerate(others)]
    array = ffi.new("QuoitWebhookPod *[]", [*held, _c.NULL])
    return handle, _c.own_handle(call(lib.quoit_webhook_mutate, handle, array), lib.quoit_webhook_patch_free)


def _admitted(handle: Any) -> Admitted:
    return Admitted(
        _c.take_pairs(lib.quoit_webhook_pod_dup_labels(handle)),
        tuple(
            tuple(
                AdmittedVariable(
                    _c.text(lib.quoit_webhook_pod_get_variable_name(handle, container, at)),
                    _c.text_or_none(lib.quoit_webhook_pod_get_variable_value(handle, container, at)),
                    _c.text_or_none(lib.quoit_webhook_pod_get_variable_field(handle, container, at)),
                    bool(lib.quoit_webhook_pod_is_variable_written(handle, container, at)),
                    bool(lib.quoit_webhook_pod_is_variable_effective(handle, container, at)),
                )
                for at in range(lib.quoit_webhook_pod_get_n_variables(handle, container))
            )
            for container in range(lib.quoit_webhook_pod_get_n_containers(handle))
        ),
    )


def _handle(pod: object, what: str) -> Any:
    if not isinstance(pod, Pod):
        raise TypeError(f"{what}: expected a Pod, not {type(pod).__name__}")
    handle = _c.own_handle(lib.quoit_webhook_pod_new(), lib.quoit_webhook_pod_free)
    _set_texts(lib.quoit_webhook_pod_set_label, handle, pod.labels, f"{what}.labels")
    _set_texts(lib.quoit_webhook_pod_set_selector, handle, pod.selectors, f"{what}.selectors")
    if isinstance(pod.containers, (str, bytes)) or not isinstance(pod.containers, Iterable):
        raise TypeError(f"{what}.containers: expected a sequence of Container, not {type(pod.containers).__name__}")
    for index, container in enumerate(pod.containers):
        _add_container(handle, container, f"{what}.containers[{index}]")
    return handle


def _set_texts(setter: Any, handle: Any, texts: object, what: str) -> None:
    if not isinstance(texts, Mapping):
        raise TypeError(f"{what}: expected a mapping of str to str, not {type(texts).__name__}")
    for key, value in texts.items():
        named = _c.to_text(key, what)
        setter(handle, named, _c.to_text(value, f"{what}[{_c.quoted(key)}]"))


def _add_container(handle: Any, container: object, what: str) -> None:
    if not isinstance(container, Container):
        raise TypeError(f"{what}: expected a Container, not {type(container).__name__}")
    request = _c.to_text_or_null(container.request, f"{what}.request")
    call(lib.quoit_webhook_pod_add_container, handle, request, _c.to_text_or_null(container.limit, f"{what}.limit"))
    if isinstance(container.env, (str, bytes)) or not isinstance(container.env, Iterable):
        raise TypeError(f"{what}.env: expected a sequence of pairs, not {type(container.env).__name__}")
    for index, pair in enumerate(container.env):
        place = f"{what}.env[{index}]"
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError(f"{place}: expected a name with a value, not {type(pair).__name__}")
        name = _c.to_text(pair[0], place)
        lib.quoit_webhook_pod_add_variable(handle, name, _c.to_text_or_null(pair[1], place))


def _patch(handle: Any, n_containers: int) -> Patch:
    terms = {term: _requirements(handle, term) for term in (WebhookTerm(number) for number in range(4))}
    is_empty = bool(lib.quoit_webhook_patch_is_empty(handle))
    return Patch(
        is_empty,
        _c.text_or_none(lib.quoit_webhook_patch_get_hostname(handle)),
        _c.text_or_none(lib.quoit_webhook_patch_get_subdomain(handle)),
        _c.text_or_none(lib.quoit_webhook_patch_get_replica_label(handle)),
        {term: found for term, found in terms.items() if found},
        () if is_empty else tuple(_variables(handle, container) for container in range(n_containers)),
    )


def _requirements(handle: Any, term: WebhookTerm) -> tuple[str, ...]:
    found = _c.list_until_null(lambda at: lib.quoit_webhook_patch_get_affinity(handle, term, at))
    return tuple(map(_c.text, found))


def _variables(handle: Any, container: int) -> tuple[Variable, ...]:
    return tuple(
        Variable(
            _c.text(lib.quoit_webhook_patch_get_variable_name(handle, container, at)),
            _c.text_or_none(lib.quoit_webhook_patch_get_variable_value(handle, container, at)),
            _c.text_or_none(lib.quoit_webhook_patch_get_variable_field(handle, container, at)),
        )
        for at in range(lib.quoit_webhook_patch_get_n_variables(handle, container))
    )
