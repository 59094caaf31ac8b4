# SPDX-License-Identifier: Apache-2.0
"""Purchases: the cheapest slices to buy so that all requests of a queue are granted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from . import _c
from ._c import call, lib
from .requests import Cubes, Request, request_handle


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


class PurchaseBlockNumber(_c.Code):
    """A number of a block of cubes in a purchase; `PurchaseBlock` has them as attributes."""

    CUBES = 0
    FREE = 1
    TAKEN = 2
    BOUGHT = 3
    LIMIT = 4


@dataclasses.dataclass(frozen=True)
class CubePrice:
    """The price of one cube for a block of the fleet, for `Snapshot.plan_purchase`."""

    accelerator: str
    block: str
    """Its name, or SOURCE/NAME."""
    price: str
    """Like that of `Price`."""
    max_cubes: int | None = None
    """How many can be bought; None: any number."""


@dataclasses.dataclass(frozen=True)
class BlockPrice:
    """The price of a new block of cubes, for `Snapshot.plan_purchase`. State `cubes` or `grid`."""

    accelerator: str
    price: str
    """Of the whole block; like that of `Price`."""
    cubes: int = 0
    """The number of cubes, which have no positions."""
    grid: str | None = None
    """The cubes along each axis, "4x4x8": they have positions, so that adjacent ones can be joined."""
    max_blocks: int | None = None
    """How many can be bought; None: any number."""


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
    """Slices that are free before the purchase; of joined slices, how many the free cubes make if nothing else takes
    them."""
    shortfall: int
    """How many more are wanted than are free."""
    taken: int
    """Slices that the requests get, with the alternatives that the purchase chose."""
    bought: int
    """How many are bought. Cubes in blocks are not among them. Joined slices are bought only without prices: those that
    free cubes do not make."""
    limit: int
    """How many can be bought; 1,000,000: any number."""
    price: str | None
    """The price of one slice; None: it cannot be bought."""
    cubes: Cubes = Cubes.NONE
    """Which cubes the slices are joined from."""


@dataclasses.dataclass(frozen=True)
class PurchaseBlock:
    """A block of cubes in a purchase, or new blocks of one size."""

    accelerator: str
    name: str | None
    """SOURCE/NAME of a block of the fleet; None: new blocks."""
    grid: str | None
    """The grid of new blocks whose cubes have positions."""
    cubes: int
    """How many cubes are bought at once: 1, or those of a new block."""
    free: int
    """Cubes that are free before the purchase."""
    taken: int
    """Cubes that the requests get; of new blocks, all of them together."""
    bought: int
    """Cubes that are bought for the block, or the number of new blocks."""
    limit: int
    """How many can be bought; 1,000,000: any number."""
    price: str | None
    """The price of one cube, or of a new block; None: none can be bought."""
    joined: tuple[tuple[int, int], ...] = ()
    """The index of each request whose slices are joined from its cubes, and how many of them."""


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
    blocks: tuple[PurchaseBlock, ...] = ()
    """The blocks of cubes that have free cubes or a price, if a request can use them."""


def _open_queue(queue: str | Iterable[Request]) -> Any:
    handle = _c.own_handle(lib.quoit_queue_new(), lib.quoit_queue_free)
    if isinstance(queue, str):
        text = _c.to_document(queue, "queue")
        call(lib.quoit_queue_read, handle, text, len(text))
        return handle
    for request in _c.to_iterable(queue, "queue", "Request"):
        call(lib.quoit_queue_add, handle, request_handle(request))
    return handle


def _limit(most: int | None, name: str) -> int:
    return -1 if most is None else _c.to_int(most, name)


def _add_price(handle: Any, price: Price | CubePrice | BlockPrice) -> None:
    if not isinstance(price, (Price, CubePrice, BlockPrice)):
        raise TypeError(f"prices: expected a sequence of Price, CubePrice or BlockPrice, not of {type(price).__name__}")
    accelerator = _c.to_text(price.accelerator, "accelerator")
    cost = _c.to_text(price.price, "price")
    if isinstance(price, CubePrice):
        block = _c.to_text(price.block, "block")
        call(lib.quoit_price_list_add_cubes, handle, accelerator, block, cost, _limit(price.max_cubes, "max_cubes"))
    elif isinstance(price, BlockPrice):
        cubes = _c.to_int(price.cubes, "cubes", _c.UINT32)
        grid = _c.to_text_or_null(price.grid, "grid")
        most = _limit(price.max_blocks, "max_blocks")
        call(lib.quoit_price_list_add_block, handle, accelerator, cubes, grid, cost, most)
    else:
        topology = _c.to_text(price.topology, "topology")
        hosts = _c.to_int(price.chips_per_host, "chips_per_host", _c.UINT32)
        most = _limit(price.max_slices, "max_slices")
        call(lib.quoit_price_list_add, handle, accelerator, topology, hosts, cost, most)


def _open_prices(prices: str | Iterable[Price | CubePrice | BlockPrice] | None) -> Any:
    if prices is None:
        return _c.ffi.NULL
    handle = _c.own_handle(lib.quoit_price_list_new(), lib.quoit_price_list_free)
    if isinstance(prices, str):
        text = _c.to_document(prices, "prices")
        call(lib.quoit_price_list_read, handle, text, len(text))
        return handle
    for price in _c.to_iterable(prices, "prices", "Price"):
        _add_price(handle, price)
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
        Cubes(lib.quoit_purchase_get_class_cubes(purchase, index)),
    )


def _read_block(purchase: Any, index: int) -> PurchaseBlock:
    cubes, free, taken, bought, limit = (
        int(lib.quoit_purchase_get_block_number(purchase, index, number)) for number in PurchaseBlockNumber
    )
    price = lib.quoit_purchase_get_block_price(purchase, index)
    requests = range(lib.quoit_purchase_get_n_requests(purchase) if taken else 0)
    joined = ((request, int(lib.quoit_purchase_get_joined(purchase, request, index))) for request in requests)
    return PurchaseBlock(
        _c.text(lib.quoit_purchase_get_block_accelerator(purchase, index)),
        _c.text_or_none(lib.quoit_purchase_get_block_name(purchase, index)),
        _c.take_text_or_none(lib.quoit_purchase_dup_block_grid(purchase, index)),
        cubes,
        free,
        taken,
        bought,
        limit,
        None if price.e4 < 0 else _c.amount_text(price),
        tuple((request, slices) for request, slices in joined if slices),
    )


def plan_purchase(
    snapshot: Any,
    queue: str | Iterable[Request],
    prices: str | Iterable[Price | CubePrice | BlockPrice] | None,
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
        tuple(_read_block(purchase, index) for index in range(lib.quoit_purchase_get_n_blocks(purchase))),
    )
