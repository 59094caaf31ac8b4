# SPDX-License-Identifier: Apache-2.0
"""What is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from . import _c, errors
from ._c import call, lib


class Strategy(_c.Code):
    """How the bundles of a group stand to each other: Ray's four strategies, with Ray's numbers."""

    PACK = 0
    SPREAD = 1
    STRICT_PACK = 2
    STRICT_SPREAD = 3


class Policy(_c.Code):
    """Who decides where bundles go."""

    BEST = 0
    """quoit: a placement whenever there is one."""
    RAY = 1
    """What Ray 2.60's control plane answers."""


class Bundle(_c.Sealed):
    """One bundle that is asked for: amounts of resources on one node. A `Request` that takes it checks its text.

    Two are equal of which text and selectors are.

    Args:
        amounts: what it takes of its node, as text ("TPU=4,CPU=8") or as a mapping of resource to amount; an amount is an int, or decimal text such as "0.5"
            (a float is not exact, and refused).
        selectors: label selectors in Ray's grammar, ``{"ray.io/tpu-worker-id": "0"}``.
    """

    __slots__ = ("amounts", "selectors")

    amounts: str
    selectors: Mapping[str, str]

    def __init__(self, amounts: str | Mapping[str, int | str], selectors: Mapping[str, str] | None = None) -> None:
        text = _c.exact(amounts) if isinstance(amounts, str) else _amounts_text(amounts)
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
        name, place = _c.exact(given), f"amounts[{_c.shown(given)}]"
        value = _c.exact(amount) if isinstance(amount, str) else str(_c.to_int(amount, place))
        if _has_any(value, _SEPARATORS):
            raise errors.InvalidError(f"{place} {_c.shown(value)}: expected an amount such as 4 or 0.5")
        quoted = name.replace("\\", "\\\\").replace('"', '\\"')
        parts.append(f'"{quoted}"={value}' if _has_any(name, _SEPARATORS) else f"{name}={value}")
    return ",".join(parts)


_SEPARATORS = ',="\\'
"""What stands between names and amounts in their text."""


def _has_any(text: str, characters: str) -> bool:
    return any(character in text for character in characters)


_NONE: tuple[()] = ()
"""The empty tuple is one: what is known to be nothing need not be gone through."""


class Request(_c.Sealed):
    """What is wanted: a number of whole slices of one accelerator and topology, or bundles of resources; all or none.

    It cannot be changed, and is good for any number of calls in any number of threads. What its arguments say one by
    one is checked when it is made. When it is used `InvalidError` says what is wrong with the rest: name, key and owner
    as names of groups, owners and keys are, slices or bundles and not both, that what was given goes together and is
    complete, and the topology in the catalogue.

    Args:
        name: of the group that is to be made: 1 to 253 bytes of printable UTF-8 without '@' or '/'.
        accelerator: a generation in any system's spelling: "v6e", "v5litepod", "TPU-V4", "tpu-v5p-slice", "tpu7x".
        topology: the shape of each slice in chips, x first: "4x4", "2x2x4".
        slices: how many, 1 to 1,000,000; or a pair (least, most) for an elastic job: as many of `most` as can be had, none when there are fewer than `least`.
        key: the request key, which makes a retry safe: it returns the group that the first call made, also after its release, and never reserves again.
        owner: who will hold the group; when the lease of that owner ends the group goes (`Ledger.set_owner`).
        lease_ms: how long a group that `Ledger.reserve` makes lives unless it is renewed, from 1 ms. None: until it is released.
        chips_per_host: 1, 2, 4 or 8; 0 is Ray's default for the topology. A v6e 2x4 exists as one host of 8 chips and as two of 4.
        tpu_per_bundle: decimal text, "1" or "0.5": each host is taken as bundles of that much TPU, for several processes a host. None: each host whole.
        pool: only slices or nodes of pools of that name.
        zone: only slices or nodes of that availability zone.
        selectors: label selectors in Ray's grammar ("v", "!v", "in(a,b)", "!in(a,b)") that all nodes must satisfy.
        named: only slices of these names, short or full.
        excluded: never a slice of these names.
        bundles: the bundles, instead of slices: each a `Bundle`, or amounts as `Bundle` takes them.
        strategy: how the bundles stand to each other.
        policy: who decides where they go.
        topology_label: a label of which all bundles share one value, as Ray's topology_strategy; or a pair (label, number of values).
        soft_target: the node that STRICT_PACK takes if it has room.

    Raises:
        InvalidError: an argument breaks a rule by itself; the message names it.
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
        chips_per_host: int | None = None,
        tpu_per_bundle: str | None = None,
        pool: str | None = None,
        zone: str | None = None,
        selectors: Mapping[str, str] | None = None,
        named: Iterable[str] = (),
        excluded: Iterable[str] = (),
        bundles: Iterable[Bundle | str | Mapping[str, int | str]] = (),
        strategy: Strategy | None = None,
        policy: Policy | None = None,
        topology_label: str | tuple[str, int] | None = None,
        soft_target: str | None = None,
    ) -> None:
        handle = _c.owned(lib.quoit_request_new(_c.to_text(name, "name")), lib.quoit_request_free)
        if accelerator is not None:
            call(lib.quoit_request_set_accelerator, handle, _c.to_text(accelerator, "accelerator"))
        if topology is not None:
            call(lib.quoit_request_set_topology, handle, _c.to_text(topology, "topology"))
        if isinstance(slices, tuple):
            least, most = _pair(slices, "slices")
            call(
                lib.quoit_request_set_slices_between,
                handle,
                _c.to_int(least, "slices[0]"),
                _c.to_int(most, "slices[1]"),
            )
        elif slices is not None:
            call(lib.quoit_request_set_slices, handle, _c.to_int(slices, "slices"))
        if key is not None:
            lib.quoit_request_set_key(handle, _c.to_text(key, "key"))
        if owner is not None:
            lib.quoit_request_set_owner(handle, _c.to_text(owner, "owner"))
        if lease_ms is not None:
            call(lib.quoit_request_set_lease_ms, handle, _c.to_int(lease_ms, "lease_ms"))
        if chips_per_host is not None:
            call(lib.quoit_request_set_chips_per_host, handle, _c.to_int(chips_per_host, "chips_per_host"))
        if tpu_per_bundle is not None:
            call(lib.quoit_request_set_tpu_per_bundle, handle, _c.to_text(tpu_per_bundle, "tpu_per_bundle"))
        if pool is not None:
            lib.quoit_request_set_pool(handle, _c.to_text(pool, "pool"))
        if zone is not None:
            lib.quoit_request_set_zone(handle, _c.to_text(zone, "zone"))
        if selectors is not None:
            for label, value in _mapping(selectors, "selectors").items():
                call(lib.quoit_request_add_selector, handle, *_selector(label, value, "selectors"))
        if named is not _NONE:
            for index, slice_name in enumerate(_names(named, "named")):
                lib.quoit_request_add_slice(handle, _c.to_text(slice_name, f"named[{index}]"))
        if excluded is not _NONE:
            for index, slice_name in enumerate(_names(excluded, "excluded")):
                lib.quoit_request_exclude_slice(handle, _c.to_text(slice_name, f"excluded[{index}]"))
        if bundles is not _NONE:
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
        object.__setattr__(self, "_handle", handle)
        object.__setattr__(self, "_name", _c.exact(name))

    @classmethod
    def from_bundles_file(
        cls,
        name: str,
        text: str | bytes,
        *,
        key: str | None = None,
        owner: str | None = None,
        lease_ms: int | None = None,
        pool: str | None = None,
        zone: str | None = None,
        selectors: Mapping[str, str] | None = None,
        named: Iterable[str] = (),
        excluded: Iterable[str] = (),
        policy: Policy | None = None,
        soft_target: str | None = None,
    ) -> Request:
        """A request for the bundles of a file as Ray's placement_group() is given them.

        The arguments that are not told here are those of `Request`. What Ray's file says is not one of them.

        Args:
            name: of the group that is to be made.
            text: JSON or YAML: a list of maps ``[{"CPU": 1, "TPU": 4}]``, or a map with bundles, strategy,
                bundle_label_selector and topology_strategy.

        Raises:
            InvalidError: the text has another form, with the place in it; or as `Request`.
            TypeError: as `Request`.
        """
        request = cls(
            name,
            key=key,
            owner=owner,
            lease_ms=lease_ms,
            pool=pool,
            zone=zone,
            selectors=selectors,
            named=named,
            excluded=excluded,
            policy=policy,
            soft_target=soft_target,
        )
        data = _c.to_document(text, "text")
        call(lib.quoit_request_read_bundles, request._handle, data, len(data))
        return request

    _handle: Any
    _name: str

    def renamed(self, name: str) -> Request:
        """The same, key and owner included, under another name: for who asks for the same again and again, as it costs
        less than making another.

        Raises:
            InvalidError: as `Request`.
            TypeError: as `Request`.
        """
        request = Request.__new__(Request)
        handle = _c.owned(lib.quoit_request_copy(self._handle, _c.to_text(name, "name")), lib.quoit_request_free)
        object.__setattr__(request, "_handle", handle)
        object.__setattr__(request, "_name", _c.exact(name))
        return request

    def __repr__(self) -> str:
        return f"<quoit.Request {self._name!r}>"

    @property
    def name(self) -> str:
        """Of the group that is to be made."""
        return self._name


def _pair(value: tuple[Any, ...], what: str) -> tuple[Any, Any]:
    if len(value) != 2:
        raise TypeError(f"{what}: expected a pair, not {len(value)} values")
    return value[0], value[1]


def _names(values: Iterable[str], what: str) -> Iterable[str]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise TypeError(f"{what}: expected a sequence of str, not {type(values).__name__}")
    return values


def _selector(label: object, value: object, what: str) -> tuple[bytes, bytes]:
    return _c.to_text(label, what), _c.to_text(value, f"{what}[{_c.shown(label)}]")


def _add_bundles(handle: Any, bundles: Iterable[Bundle | str | Mapping[str, int | str]]) -> None:
    if isinstance(bundles, (str, bytes, Mapping)) or not isinstance(bundles, Iterable):
        raise TypeError(f"bundles: expected a sequence of bundles, not {type(bundles).__name__}")
    for index, wanted in enumerate(bundles):
        bundle = wanted if isinstance(wanted, Bundle) else Bundle(wanted)
        call(lib.quoit_request_add_bundle, handle, _c.to_text(bundle.amounts, f"bundles[{index}]"))
        for label, value in bundle.selectors.items():
            call(
                lib.quoit_request_select_bundle, handle, index, *_selector(label, value, f"bundles[{index}].selectors")
            )


def handle_of(request: object) -> Any:
    """The request as C takes it."""
    if not isinstance(request, Request):
        raise TypeError(f"request: expected a quoit.Request, not {type(request).__name__}")
    return request._handle
