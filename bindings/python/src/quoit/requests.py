# SPDX-License-Identifier: Apache-2.0
"""Requests for slices or bundles."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Mapping
from typing import Any

from . import _c, errors
from ._c import call, lib


class Strategy(_c.Code):
    """How the bundles of a group are distributed: Ray's four strategies, with Ray's numbers."""

    PACK = 0
    SPREAD = 1
    STRICT_PACK = 2
    STRICT_SPREAD = 3


class Policy(_c.Code):
    """The algorithm that places bundles."""

    BEST = 0
    """quoit's search: it finds a placement if one exists."""
    RAY = 1
    """The placement of Ray 2.60's control plane."""


class Cut(_c.Code):
    """How parts may be cut from slices. A part is a box of whole hosts."""

    WHOLE = 0
    """Only whole slices."""
    ALIGNED = 1
    """At multiples of the part's sides along each axis, and not turned. In a slice with equal sides, a part lies like
    Ray's sub-slice of that shape."""
    ANY = 2
    """From any host on, and turned if the hosts allow it."""
    ANY_OR_WRAPPED = 3
    """Also across wraparound links; no public source says that libtpu accepts such a part."""
    PARTITION = 4
    """GKE's partitions of a cube: 2x2x1, 2x2x2, 2x2x4, 2x4x4 and 4x4x4 at multiples of their sides, not turned."""


class Cubes(_c.Code):
    """Which cubes may be joined into one slice: cubes of one block that are intact and wholly free."""

    NONE = lib.QUOIT_CUBES_NONE
    """Slices are not joined."""
    ANY = lib.QUOIT_CUBES_ANY
    """Any cubes of the block, as optical circuit switches can join them."""
    ANY_TWISTED = lib.QUOIT_CUBES_ANY_TWISTED
    """Also, the slice is wired as a twisted torus."""
    ADJACENT = lib.QUOIT_CUBES_ADJACENT
    """Cubes at adjacent positions of the block, for static cabling; turned if that is also a topology."""


class PlacePolicy(_c.Code):
    """Which places parts get, or which blocks cubes are from. A policy never changes whether a request fits."""

    BEST = 0
    """The place that costs later requests least, now and until the group ends."""
    FIRST = 1
    """The first slice in natural order with a place, and its lowest worker; the first block."""
    PACK = 2
    """The slice with the fewest free hosts that has a place; the block with the fewest free cubes."""
    SPREAD = 3
    """The slice with the most free hosts; the block with the most free cubes."""


class Domain(_c.Code):
    """A kind of place that several slices share."""

    NONE = lib.QUOIT_DOMAIN_NONE
    """No place."""
    POOL = lib.QUOIT_DOMAIN_POOL
    """A pool of one source."""
    ZONE = lib.QUOIT_DOMAIN_ZONE
    """An availability zone."""


class Spread(_c.Immutable):
    """How the slices of a group are distributed, as evenly as the free slices allow.

    The rule is that of maxSkew and minDomains in Kubernetes, with DoNotSchedule. All domains count that have a slice
    which the request could use if it were free. The numbers are validated when a `Request` is made of it.

    Args:
        domain: `Domain.POOL` or `Domain.ZONE`. With zones, only slices whose nodes all have the same zone are used.
        max_skew: how many slices more than the domain with the fewest a domain may have, 1 to 1,000,000.
        min_domains: with fewer domains than this, none may have more than `max_skew` slices; 1 to 1,000,000.
    """

    __slots__ = ("domain", "max_skew", "min_domains")

    domain: Domain
    max_skew: int
    min_domains: int

    def __init__(self, domain: Domain, *, max_skew: int = 1, min_domains: int = 1) -> None:
        object.__setattr__(self, "domain", Domain(_c.to_member(Domain, domain, "domain")))
        object.__setattr__(self, "max_skew", _c.to_int(max_skew, "max_skew"))
        object.__setattr__(self, "min_domains", _c.to_int(min_domains, "min_domains"))

    def __reduce_ex__(self, protocol: object) -> Any:
        return _make_spread, (self.domain, self.max_skew, self.min_domains)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Spread):
            return NotImplemented
        return self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"Spread(Domain.{self.domain.name}, max_skew={self.max_skew}, min_domains={self.min_domains})"

    def _parts(self) -> tuple[Domain, int, int]:
        return self.domain, self.max_skew, self.min_domains


def _make_spread(domain: Domain, max_skew: int, min_domains: int) -> Spread:
    return Spread(domain, max_skew=max_skew, min_domains=min_domains)


class Bundle(_c.Immutable):
    """One requested bundle: amounts of resources on one node. The amounts are validated when a `Request` is made of it.

    Two bundles are equal if the texts of their amounts and their selectors are equal.

    Args:
        amounts: the resources that the bundle needs, as text ("TPU=4,CPU=8") or as a mapping of resource to amount. An
            amount is an int, or decimal text such as "0.5". Floats are refused, because they are not exact.
        selectors: label selectors in Ray's grammar, ``{"ray.io/tpu-worker-id": "0"}``.
    """

    __slots__ = ("amounts", "selectors")

    amounts: str
    selectors: Mapping[str, str]

    def __init__(self, amounts: str | Mapping[str, int | str], selectors: Mapping[str, str] | None = None) -> None:
        text = _c.plain_str(amounts) if isinstance(amounts, str) else _amounts_text(amounts)
        _c.to_text(text, "amounts")
        object.__setattr__(self, "amounts", text)
        object.__setattr__(self, "selectors", _c.FrozenDict(_mapping(selectors, "selectors")))

    def __reduce_ex__(self, protocol: object) -> Any:
        return Bundle, (self.amounts, dict(self.selectors))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Bundle):
            return NotImplemented
        return (self.amounts, self.selectors) == (other.amounts, other.selectors)

    def __hash__(self) -> int:
        return hash((self.amounts, self.selectors))

    def __repr__(self) -> str:
        return f"Bundle({self.amounts!r}, {dict(self.selectors)!r})"


def _mapping(value: Mapping[str, str] | None, what: str) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise TypeError(f"{what}: expected a mapping of str to str, not {type(value).__name__}")
    return dict(value)


def _amounts_text(amounts: Mapping[str, int | str]) -> str:
    if not isinstance(amounts, Mapping):
        raise TypeError(f"amounts: expected a str or a mapping, not {type(amounts).__name__}")
    parts = []
    for given, amount in amounts.items():
        _c.to_text(given, "amounts")
        name, place = _c.plain_str(given), f"amounts[{_c.quoted(given)}]"
        value = _c.plain_str(amount) if isinstance(amount, str) else str(_c.to_int(amount, place))
        if _has_any(value, _SEPARATORS):
            raise errors.InvalidError(f"{place} {_c.quoted(value)}: expected an amount such as 4 or 0.5")
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f'"{quoted}"={value}' if _has_any(name, _SEPARATORS) else f"{name}={value}")
    return ",".join(parts)


_SEPARATORS = ',="\\'
"""The characters that separate names and amounts in their text."""


def _has_any(text: str, characters: str) -> bool:
    return any(character in text for character in characters)


_EMPTY: tuple[()] = ()
"""The default of sequence arguments. CPython has a single empty tuple, so that `is` recognizes the default."""


class Request(_c.Immutable):
    """A request for whole slices of one accelerator and topology, or for bundles of resources; all of them or none.

    A request is immutable, and can be used for any number of calls in any number of threads. The constructor validates
    each argument, and the combination of accelerator, topology and chips per host. Calls that use the request validate
    the rest, and raise `InvalidError` if the request has both slices and bundles, if an argument is missing, or if
    arguments contradict each other.

    Args:
        name: the name of the new group: 1 to 253 bytes of printable UTF-8 without '@' or '/'.
        accelerator: a generation in any system's spelling: "v6e", "v5litepod", "TPU-V4", "tpu-v5p-slice", "tpu7x".
        topology: the shape of each slice in chips, x first: "4x4", "2x2x4". The generation must have the topology.
        slices: the number of slices, 1 to 1,000,000. For an elastic job a pair (least, most): the group gets all free
            slices up to `most`, or no slices if fewer than `least` are free.
        key: the request key, which makes a retry safe: a call with the same key returns the group of the first call,
            even if that group was released, and never reserves again. The same characters as in names are valid.
        owner: the owner of the group. When the lease of that owner ends, the group ends (`Ledger.set_owner`). The same
            characters as in names are valid.
        lease_ms: how long a group that `Ledger.reserve` makes lives unless it is renewed, from 1 ms. None: until it
            is released.
        expected_runtime_ms: how long the job is expected to run, from 1 ms. It sets `Group.expected_end_ms`, an
            estimate that does not end the group. None: unknown.
        priority: any number of 32 bits; a greater one is more important. quoit itself prefers no group.
        labels: labels of the group, at most 64: data that quoit only keeps. A key has 1 to 253 bytes, a value 1 to 512,
            both of UTF-8 without control characters, and a key has no '='. `Ledger.set_labels` can change them later.
        chips_per_host: 1, 2, 4 or 8; 0 is Ray's default for the topology. A v6e 2x4 exists as one host of 8 chips
            and as two of 4.
        tpu_per_bundle: decimal text, "1" or "0.5". Each host is divided into bundles with this amount of TPU, for
            several processes per host. None: the group gets whole hosts.
        pool: use only slices or nodes of pools with this name.
        zone: use only slices or nodes of this availability zone.
        selectors: label selectors in Ray's grammar ("v", "!v", "in(a,b)", "!in(a,b)") that all nodes must satisfy.
        named: use only slices with these names, short or full.
        excluded: do not use slices with these names.
        excluded_nodes: use neither nodes with these names nor their slices.
        cut: the slices of the group may be cut from larger ones, in this way. Not for bundles, and not together with
            `tpu_per_bundle`, `keep_to`, `spread` or `near`. For tpu7x only `Cut.PARTITION` is accepted.
        cubes: the slices of the group are joined from cubes of one block. Not for bundles, and not together with
            `cut`, `tpu_per_bundle`, `keep_to`, `spread` or `near`. All sides of the topology are multiples of 4.
        place: which places the parts get, or which blocks the cubes are from; only with `cut` or `cubes`. None:
            `PlacePolicy.BEST`.
        keep_to: all slices are in one pool, or in one zone, whichever has enough. With zones, only slices whose nodes
            all have the same zone are used. Not for bundles.
        spread: the slices are spread over pools or zones. Not for bundles, and not together with `keep_to`.
        near: a group, NAME or NAME@ID. Slices in its pools are preferred, then those in its zones. Not for bundles.
        bundles: the bundles, if the request is not for slices: each a `Bundle`, or amounts as `Bundle` accepts them.
        strategy: how the bundles are distributed.
        policy: the algorithm that places the bundles.
        topology_label: a label that must have the same value on the nodes of all bundles, like in Ray's
            topology_strategy; or a pair (label, number of values that the bundles are divided among).
        soft_target: the node that STRICT_PACK prefers if the bundles fit on it.
        alternatives: at most 16 other requests for the same group, which are tried in order if this one cannot be
            granted; `Group.alternative` is the one that the group got. An alternative has the same name, and no
            alternatives. It states slices or bundles, where they may be, and if wanted its own expected run time; the
            key, owner, lease, priority and labels are those of this request. A repeated request with the same key has
            the same alternatives in the same order.

    Raises:
        InvalidError: an argument is not valid, or the generation has no such topology on such hosts, or an alternative
            is for another group; the message has the argument.
        TypeError: an argument has another type.
    """

    __slots__ = ("_handle", "_name")

    def __init__(
        self,
        name: str,
        *,
        accelerator: str | None = None,
        topology: str | None = None,
        slices: int | tuple[int, int] | None = None,
        key: str | None = None,
        owner: str | None = None,
        lease_ms: int | None = None,
        expected_runtime_ms: int | None = None,
        priority: int = 0,
        labels: Mapping[str, str] | None = None,
        chips_per_host: int | None = None,
        tpu_per_bundle: str | None = None,
        pool: str | None = None,
        zone: str | None = None,
        selectors: Mapping[str, str] | None = None,
        named: Iterable[str] = (),
        excluded: Iterable[str] = (),
        excluded_nodes: Iterable[str] = (),
        cut: Cut | None = None,
        cubes: Cubes | None = None,
        place: PlacePolicy | None = None,
        keep_to: Domain | None = None,
        spread: Spread | None = None,
        near: str | None = None,
        bundles: Iterable[Bundle | str | Mapping[str, int | str]] = (),
        strategy: Strategy | None = None,
        policy: Policy | None = None,
        topology_label: str | tuple[str, int] | None = None,
        soft_target: str | None = None,
        alternatives: Iterable[Request] = (),
    ) -> None:
        handle = _c.own_handle(call(lib.quoit_request_new, _c.to_text(name, "name")), lib.quoit_request_free)
        if accelerator is not None:
            call(lib.quoit_request_set_accelerator, handle, _c.to_text(accelerator, "accelerator"))
        if topology is not None:
            call(lib.quoit_request_set_topology, handle, _c.to_text(topology, "topology"))
        if isinstance(slices, tuple):
            least, most = _pair(slices, "slices")
            call(
                lib.quoit_request_set_slice_range,
                handle,
                _c.to_int(least, "slices[0]"),
                _c.to_int(most, "slices[1]"),
            )
        elif slices is not None:
            call(lib.quoit_request_set_slices, handle, _c.to_int(slices, "slices"))
        if key is not None:
            call(lib.quoit_request_set_key, handle, _c.to_text(key, "key"))
        if owner is not None:
            call(lib.quoit_request_set_owner, handle, _c.to_text(owner, "owner"))
        if lease_ms is not None:
            call(lib.quoit_request_set_lease_ms, handle, _c.to_int(lease_ms, "lease_ms"))
        if expected_runtime_ms is not None:
            runtime = _c.to_int(expected_runtime_ms, "expected_runtime_ms")
            call(lib.quoit_request_set_expected_runtime_ms, handle, runtime)
        lib.quoit_request_set_priority(handle, _c.to_int(priority, "priority", _c.INT32))
        if labels is not None:
            _set_labels(handle, labels)
        if chips_per_host is not None:
            call(lib.quoit_request_set_chips_per_host, handle, _c.to_int(chips_per_host, "chips_per_host"))
        if accelerator is not None and topology is not None:
            hosts = 0 if chips_per_host is None else _c.to_int(chips_per_host, "chips_per_host")
            _check_topology(_c.to_text(accelerator, "accelerator"), _c.to_text(topology, "topology"), hosts)
        if tpu_per_bundle is not None:
            call(lib.quoit_request_set_tpu_per_bundle, handle, _c.to_text(tpu_per_bundle, "tpu_per_bundle"))
        if pool is not None:
            lib.quoit_request_set_pool(handle, _c.to_text(pool, "pool"))
        if zone is not None:
            lib.quoit_request_set_zone(handle, _c.to_text(zone, "zone"))
        if selectors is not None:
            for label, value in _mapping(selectors, "selectors").items():
                call(lib.quoit_request_add_selector, handle, *_selector(label, value, "selectors"))
        if named is not _EMPTY:
            for index, slice_name in enumerate(_names(named, "named")):
                lib.quoit_request_add_slice(handle, _c.to_text(slice_name, f"named[{index}]"))
        if excluded is not _EMPTY:
            for index, slice_name in enumerate(_names(excluded, "excluded")):
                lib.quoit_request_exclude_slice(handle, _c.to_text(slice_name, f"excluded[{index}]"))
        if excluded_nodes is not _EMPTY:
            for index, node_name in enumerate(_names(excluded_nodes, "excluded_nodes")):
                lib.quoit_request_exclude_node(handle, _c.to_text(node_name, f"excluded_nodes[{index}]"))
        if cut is not None:
            call(lib.quoit_request_set_cut, handle, _c.to_member(Cut, cut, "cut"))
        if cubes is not None:
            call(lib.quoit_request_set_cubes, handle, _c.to_member(Cubes, cubes, "cubes"))
        if place is not None:
            call(lib.quoit_request_set_place, handle, _c.to_member(PlacePolicy, place, "place"))
        if keep_to is not None:
            call(lib.quoit_request_keep_to, handle, _c.to_member(Domain, keep_to, "keep_to"))
        if spread is not None:
            _set_spread(handle, spread)
        if near is not None:
            call(lib.quoit_request_set_near, handle, _c.to_text(near, "near"))
        if bundles is not _EMPTY:
            _add_bundles(handle, bundles)
        if strategy is not None:
            call(lib.quoit_request_set_strategy, handle, _c.to_member(Strategy, strategy, "strategy"))
        if policy is not None:
            call(lib.quoit_request_set_policy, handle, _c.to_member(Policy, policy, "policy"))
        if topology_label is not None:
            label, n_values = (
                _pair(topology_label, "topology_label") if isinstance(topology_label, tuple) else (topology_label, 1)
            )
            call(
                lib.quoit_request_set_topology_label,
                handle,
                _c.to_text(label, "topology_label"),
                _c.to_int(n_values, "topology_label[1]"),
            )
        if soft_target is not None:
            lib.quoit_request_set_soft_target(handle, _c.to_text(soft_target, "soft_target"))
        if alternatives is not _EMPTY:
            for alternative in _c.to_iterable(alternatives, "alternatives", "Request"):
                call(lib.quoit_request_add_alternative, handle, request_handle(alternative))
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "_name", _c.plain_str(name))

    @classmethod
    def from_bundles_file(
        cls,
        name: str,
        text: str | bytes,
        *,
        key: str | None = None,
        owner: str | None = None,
        lease_ms: int | None = None,
        expected_runtime_ms: int | None = None,
        priority: int = 0,
        labels: Mapping[str, str] | None = None,
        pool: str | None = None,
        zone: str | None = None,
        selectors: Mapping[str, str] | None = None,
        named: Iterable[str] = (),
        excluded: Iterable[str] = (),
        excluded_nodes: Iterable[str] = (),
        policy: Policy | None = None,
        soft_target: str | None = None,
        alternatives: Iterable[Request] = (),
    ) -> Request:
        """Returns a request for the bundles of a file, in the form of the arguments of Ray's placement_group().

        The other arguments are those of `Request`. The bundles, strategy and topology label come from the file.

        Args:
            name: the name of the new group.
            text: JSON or YAML: a list of maps ``[{"CPU": 1, "TPU": 4}]``, or a map with bundles, strategy,
                bundle_label_selector and topology_strategy.

        Raises:
            InvalidError: the text has another form (the message has the place); or like `Request`.
            TypeError: like `Request`.
        """
        request = cls(
            name,
            key=key,
            owner=owner,
            lease_ms=lease_ms,
            expected_runtime_ms=expected_runtime_ms,
            priority=priority,
            labels=labels,
            pool=pool,
            zone=zone,
            selectors=selectors,
            named=named,
            excluded=excluded,
            excluded_nodes=excluded_nodes,
            policy=policy,
            soft_target=soft_target,
            alternatives=alternatives,
        )
        data = _c.to_document(text, "text")
        call(lib.quoit_request_read_bundles, request._handle, data, len(data))
        return request

    _handle: Any
    _name: str

    def renamed(self, name: str) -> Request:
        """Returns a copy of the request with another name. The copy costs less than a new request.

        Everything but the name is the same, also the key and the owner.

        Raises:
            InvalidError: like `Request`.
            TypeError: like `Request`.
        """
        request = Request.__new__(Request)
        copy = call(lib.quoit_request_copy, self._handle, _c.to_text(name, "name"))
        handle = _c.own_handle(copy, lib.quoit_request_free)
        object.__setattr__(request, "_handle", handle)
        object.__setattr__(request, "_name", _c.plain_str(name))
        return request

    def __repr__(self) -> str:
        return f"<quoit.Request {self._name!r}>"

    @property
    def name(self) -> str:
        """The name of the new group."""
        return self._name


# --- early validation ---------------------------------------------------------------------------------------------
# libquoit validates the combination of accelerator and topology only when a request is used. Therefore the functions
# below use a request in an empty fleet. There even a valid request is refused, but with `RefusedError` instead of
# `InvalidError`.

_PROBE_MS = 1_000_000_000_000
"""Any time that libquoit accepts."""


@functools.lru_cache(maxsize=256)
def _check_topology(accelerator: bytes, topology: bytes, chips_per_host: int) -> None:
    """Raises InvalidError if the generation has no such topology on such hosts."""
    request = _c.own_handle(call(lib.quoit_request_new, b"probe"), lib.quoit_request_free)
    call(lib.quoit_request_set_accelerator, request, accelerator)
    call(lib.quoit_request_set_topology, request, topology)
    call(lib.quoit_request_set_chips_per_host, request, chips_per_host)
    call(lib.quoit_request_set_slices, request, 1)
    _use_in_empty_fleet(request)


def _use_in_empty_fleet(request: Any) -> None:
    fork = _c.own_handle(lib.quoit_snapshot_fork(_empty_snapshot()), lib.quoit_fork_free)
    with contextlib.suppress(errors.RefusedError):
        call(lib.quoit_fork_reserve, fork, request, _PROBE_MS, _c.NULL)


@functools.lru_cache(maxsize=1)
def _empty_snapshot() -> Any:
    """Returns an immutable snapshot of an empty ledger. All threads, and children of fork(2), can use the snapshot."""
    ledger = _c.own_handle(lib.quoit_ledger_open_memory(), lib.quoit_ledger_unref)
    return _c.own_handle(lib.quoit_ledger_snapshot(ledger), lib.quoit_snapshot_unref)


# --- arguments ----------------------------------------------------------------------------------------------------


def _pair(value: tuple[Any, ...], what: str) -> tuple[Any, Any]:
    if len(value) != 2:
        raise TypeError(f"{what}: expected a pair, not {len(value)} values")
    return value[0], value[1]


def _names(values: Iterable[str], what: str) -> Iterable[str]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: expected a sequence of str, not {type(values).__name__}")
    return values


def _set_labels(handle: Any, labels: Mapping[str, str]) -> None:
    if not isinstance(labels, Mapping):
        raise TypeError(f"labels: expected a mapping of str to str, not {type(labels).__name__}")
    for key, value in labels.items():
        call(lib.quoit_request_set_label, handle, *_selector(key, value, "labels"))


def _selector(label: object, value: object, what: str) -> tuple[bytes, bytes]:
    return _c.to_text(label, what), _c.to_text(value, f"{what}[{_c.quoted(label)}]")


def _add_bundles(handle: Any, bundles: Iterable[Bundle | str | Mapping[str, int | str]]) -> None:
    if isinstance(bundles, (str, bytes, Mapping)) or not isinstance(bundles, Iterable):
        raise TypeError(f"bundles: expected a sequence of bundles, not {type(bundles).__name__}")
    for index, wanted in enumerate(bundles):
        bundle = wanted if isinstance(wanted, Bundle) else Bundle(wanted)
        call(lib.quoit_request_add_bundles, handle, _c.to_text(bundle.amounts, f"bundles[{index}]"), 1)
        for label, value in bundle.selectors.items():
            call(
                lib.quoit_request_select_bundle, handle, index, *_selector(label, value, f"bundles[{index}].selectors")
            )


def _set_spread(handle: Any, spread: Spread) -> None:
    if not isinstance(spread, Spread):
        raise TypeError(f"spread: expected a quoit.Spread, not {type(spread).__name__}")
    call(
        lib.quoit_request_spread_over,
        handle,
        _c.to_member(Domain, spread.domain, "spread.domain"),
        spread.max_skew,
        spread.min_domains,
    )


def request_handle(request: object) -> Any:
    """Returns the handle of a request."""
    if not isinstance(request, Request):
        raise TypeError(f"request: expected a quoit.Request, not {type(request).__name__}")
    return request._handle
