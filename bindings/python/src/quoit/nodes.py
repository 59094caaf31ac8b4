# SPDX-License-Identifier: Apache-2.0
"""Nodes that a caller gives to an import without a text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from . import _c, errors
from ._c import call, ffi, lib
from .fleet import NodeState


@dataclasses.dataclass(frozen=True)
class NodeFacts:
    """What a source reports about one node, for `Input.nodes` and `Ledger.update_nodes`.

    Everything is validated when the node is used. A mapping with the same keys can take the place of a NodeFacts.
    """

    name: str | None = None
    """The host name; None: the address, or else the id."""
    id: str | None = None
    """What identifies the node in its source, such as Ray's node id; None: the name."""
    address: str | None = None
    """The address by which the node joins nodes of other sources."""
    state: NodeState = NodeState.ALIVE
    pool: str | None = None
    """None: "default"."""
    slice: str | None = None
    """The name of the slice of which the node is a host. If set, the three fields below are needed."""
    worker_id: int | None = None
    accelerator: str | None = None
    """The TPU generation, such as "v6e"."""
    topology: str | None = None
    """The topology of the slice, such as "4x4"."""
    resources: Mapping[str, int | str] = dataclasses.field(default_factory=_c.FrozenDict)
    """Amounts: an int, or decimal text such as "0.5". "TPU" is the number of chips."""
    labels: Mapping[str, str] = dataclasses.field(default_factory=_c.FrozenDict)
    """Labels, with the keys that Ray gives them. Those of pool and slice need not be stated again."""

    def __post_init__(self) -> None:
        for name in ("resources", "labels"):
            value = getattr(self, name)
            if isinstance(value, Mapping) and type(value) is not _c.FrozenDict:
                object.__setattr__(self, name, _c.FrozenDict(value))


_FIELDS = tuple(field.name for field in dataclasses.fields(NodeFacts))
_DECIMAL = re.compile(r"([0-9]{1,18})(?:\.([0-9]{1,4}))?", re.ASCII)
_UNIT = 10_000
_AMOUNTS = range((2**63 - 1) // _UNIT + 1)


def _to_facts(given: object, place: str) -> NodeFacts:
    if not isinstance(given, Mapping):
        raise TypeError(f"{place}: expected a NodeFacts or a mapping, not {type(given).__name__}")
    facts = dict(given)
    for name in facts:
        if name not in _FIELDS:
            raise errors.InvalidError(f"{place}: {_c.quoted(name)}: expected one of {', '.join(_FIELDS)}")
    return NodeFacts(**{_c.plain_str(name): value for name, value in facts.items()})


class _Adder:
    """Adds nodes to an input. A fleet has millions of facts, so usual values take a fast way, and no call allocates."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle
        self.slot = ffi.new("GError **")
        self.index = 0

    def place(self, what: str) -> str:
        return f"nodes[{self.index}].{what}"

    def text(self, value: object, what: str) -> bytes:
        if type(value) is str and value.isascii() and "\0" not in value:
            return value.encode()
        return _c.to_text(value, self.place(what))

    def text_or_null(self, value: object, what: str) -> Any:
        return _c.NULL if value is None else self.text(value, what)

    def amount(self, value: object, name: str) -> Any:
        if type(value) is int and value in _AMOUNTS:
            return (value * _UNIT,)
        place = self.place(f"resources[{_c.quoted(name)}]")
        if not isinstance(value, str):
            return (_c.to_int(value, place, _AMOUNTS) * _UNIT,)
        decimal = _DECIMAL.fullmatch(_c.plain_str(value))
        e4 = -1 if decimal is None else int(decimal[1]) * _UNIT + int((decimal[2] or "").ljust(4, "0"))
        if e4 not in _c.INT64 or e4 < 0:
            raise errors.InvalidError(f"{place} {_c.quoted(value)}: expected an amount such as 4 or 0.5")
        return (e4,)

    def mapping(self, value: object, what: str) -> Mapping[str, Any]:
        if not isinstance(value, Mapping):
            raise TypeError(f"{self.place(what)}: expected a mapping, not {type(value).__name__}")
        return value

    def check(self, done: bool) -> None:
        if not done:
            gerror = self.slot[0]
            self.slot[0] = _c.NULL
            raise _c.take_error(gerror)

    def set_slice(self, facts: NodeFacts) -> None:
        slice = self.text(facts.slice, "slice")
        worker_id = _c.to_int(facts.worker_id, self.place("worker_id"))
        accelerator, topology = self.text(facts.accelerator, "accelerator"), self.text(facts.topology, "topology")
        self.check(lib.quoit_input_set_node_slice(self.handle, slice, worker_id, accelerator, topology, self.slot))

    def add(self, facts: NodeFacts) -> None:
        handle, slot = self.handle, self.slot
        id, name = self.text_or_null(facts.id, "id"), self.text_or_null(facts.name, "name")
        address = self.text_or_null(facts.address, "address")
        state = _c.to_member(NodeState, facts.state, self.place("state"))
        self.check(lib.quoit_input_add_node(handle, id, name, address, state, slot))
        if facts.pool is not None:
            self.check(lib.quoit_input_set_node_pool(handle, self.text(facts.pool, "pool"), slot))
        if any(one is not None for one in (facts.slice, facts.worker_id, facts.accelerator, facts.topology)):
            self.set_slice(facts)
        for key, value in self.mapping(facts.labels, "labels").items():
            label = self.text(key, "labels"), self.text(value, "labels")
            self.check(lib.quoit_input_set_node_label(handle, *label, slot))
        for resource, amount in self.mapping(facts.resources, "resources").items():
            what = self.text(resource, "resources"), self.amount(amount, resource)
            self.check(lib.quoit_input_set_node_resource(handle, *what, slot))


def add_nodes(handle: Any, nodes: Iterable[NodeFacts | Mapping[str, Any]]) -> None:
    """Adds the nodes to an input. Messages count them from 0."""
    adder = _Adder(handle)
    for index, given in enumerate(_c.to_iterable(nodes, "nodes", "NodeFacts")):
        adder.index = index
        adder.add(given if isinstance(given, NodeFacts) else _to_facts(given, f"nodes[{index}]"))


def remove_nodes(handle: Any, ids: Iterable[str]) -> None:
    """Adds the ids of nodes to remove to an input."""
    for index, given in enumerate(_c.to_iterable(ids, "remove", "str")):
        call(lib.quoit_input_remove_node, handle, _c.to_text(given, f"remove[{index}]"))
