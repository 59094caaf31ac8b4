# SPDX-License-Identifier: Apache-2.0
"""Purchases: the cheapest slices to buy so that all requests of a queue are granted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from . import _c
from ._c import call, lib
from .requests import Request, request_handle


class PurchaseState(_c.Code):
    """What is known about a purchase."""

    CHEAPEST = 0
    """The purchase grants all requests, and no other one is cheaper."""
    FOUND = 1
    """It grants all requests; a cheaper one may exist, at least for `Purchase.bound`."""
    IMPOSSIBLE = 2
    """The prices cannot grant all requests."""
    UNKNOWN = 3
    """The search ended before it found a purchase."""


class PurchaseStart(_c.Code):
    """What is there before a purchase."""

    FREE = 0
    """The free slices of the fleet, without those that something ahead will need."""
    NOTHING = 1
    """Nothing: all slices are bought."""


class PurchaseNumber(_c.Code):
    """A number of a class of slices in a purchase; `PurchaseClass` has them as attributes."""

    CHIPS_PER_HOST = 0
    WANTED = 1
    FREE = 2
    SHORTFALL = 3
    TAKEN = 4
    BOUGHT = 5
    LIMIT = 6


@dataclasses.dataclass(frozen=True)
class Price:
    """The price of one slice of a class, for `Snapshot.plan_purchase`."""

    accelerator: str
    topology: str
    price: str
    """Decimal text with at most 4 decimals, and if wanted with a unit: "10.75", "10.75/hour", "7800/month"."""
    chips_per_host: int = 0
    """0: the default of the topology."""
    max_slices: int | None = None
    """How many can be bought; None: any number."""


@dataclasses.dataclass(frozen=True)
class PurchaseClass:
    """The slices of one class in a purchase."""

    accelerator: str
    topology: str
    chips_per_host: int
    wanted: int
    """Slices, if each request is granted as it is, without its alternatives."""
    free: int
    """Slices that are free before the purchase."""
    shortfall: int
    """How many more are wanted than are free."""
    taken: int
    """Slices that the requests get, with the alternatives that the purchase chose."""
    bought: int
    """How many more they get than are free."""
    limit: int
    """How many can be bought; 1,000,000: any number."""
    price: str | None
    """The price of one slice; None: it cannot be bought."""


@dataclasses.dataclass(frozen=True)
class Purchase:
    """Which slices to buy; see `Snapshot.plan_purchase`."""

    state: PurchaseState
    cost: str
    """The price of all slices to buy, as exact decimal text; "0" if no purchase was found."""
    bound: str
    """No set of slices that grants all requests costs less."""
    unit: str | None
    """The unit of time of the prices, "hour" or "month"; None if they have none."""
    classes: tuple[PurchaseClass, ...]
    """The classes that a request can get, in the order in which the queue names them."""
    alternatives: tuple[int, ...]
    """For each request, which alternative is granted, counted from 1; 0: the request itself."""
    requests: tuple[str, ...]
    """For each request, what is granted, as canonical text."""


def _open_queue(queue: str | Iterable[Request]) -> Any:
    handle = _c.own_handle(lib.quoit_queue_new(), lib.quoit_queue_free)
    if isinstance(queue, str):
        text = _c.to_document(queue, "queue")
        call(lib.quoit_queue_read, handle, text, len(text))
        return handle
    for request in _c.to_iterable(queue, "queue", "Request"):
        call(lib.quoit_queue_add, handle, request_handle(request))
    return handle


def _open_prices(prices: str | Iterable[Price] | None) -> Any:
    if prices is None:
        return _c.ffi.NULL
    handle = _c.own_handle(lib.quoit_price_list_new(), lib.quoit_price_list_free)
    if isinstance(prices, str):
        text = _c.to_document(prices, "prices")
        call(lib.quoit_price_list_read, handle, text, len(text))
        return handle
    for price in _c.to_iterable(prices, "prices", "Price"):
        if not isinstance(price, Price):
            raise TypeError(f"prices: expected a sequence of Price, not of {type(price).__name__}")
        call(
            lib.quoit_price_list_add,
            handle,
            _c.to_text(price.accelerator, "accelerator"),
            _c.to_text(price.topology, "topology"),
            _c.to_int(price.chips_per_host, "chips_per_host", range(2**32)),
            _c.to_text(price.price, "price"),
            -1 if price.max_slices is None else _c.to_int(price.max_slices, "max_slices"),
        )
    return handle


def _read_class(purchase: Any, index: int) -> PurchaseClass:
    hosts, wanted, free, shortfall, taken, bought, limit = (
        int(lib.quoit_purchase_get_class_number(purchase, index, number)) for number in PurchaseNumber
    )
    price = lib.quoit_purchase_get_class_price(purchase, index)
    return PurchaseClass(
        _c.text(lib.quoit_purchase_get_class_accelerator(purchase, index)),
        _c.take_text(lib.quoit_purchase_dup_class_topology(purchase, index)),
        hosts,
        wanted,
        free,
        shortfall,
        taken,
        bought,
        limit,
        None if price.e4 < 0 else _c.amount_text(price),
    )


def plan_purchase(
    snapshot: Any,
    queue: str | Iterable[Request],
    prices: str | Iterable[Price] | None,
    start: PurchaseStart,
    steps: int,
) -> Purchase:
    """Plans a purchase for the handle of a snapshot. For the modules of this package."""
    handle = _open_queue(queue)
    purchase = _c.own_handle(
        call(
            lib.quoit_snapshot_plan_purchase,
            snapshot,
            handle,
            _open_prices(prices),
            _c.to_member(PurchaseStart, start, "start"),
            _c.to_int(steps, "steps", _c.UINT64),
        ),
        lib.quoit_purchase_free,
    )
    requests = range(lib.quoit_purchase_get_n_requests(purchase))
    return Purchase(
        PurchaseState(lib.quoit_purchase_get_state(purchase)),
        _c.amount_text(lib.quoit_purchase_get_cost(purchase)),
        _c.amount_text(lib.quoit_purchase_get_bound(purchase)),
        _c.text_or_none(lib.quoit_purchase_get_unit(purchase)),
        tuple(_read_class(purchase, index) for index in range(lib.quoit_purchase_get_n_classes(purchase))),
        tuple(int(lib.quoit_purchase_get_alternative(purchase, index)) for index in requests),
        tuple(_c.take_text(lib.quoit_purchase_dup_request(purchase, index)) for index in requests),
    )
