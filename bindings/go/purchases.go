// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/cconv"
)

// PurchaseState is what is known about a purchase.
type PurchaseState int

// The states of a purchase.
const (
	PurchaseCheapest   PurchaseState = C.QUOIT_PURCHASE_CHEAPEST   // the purchase grants all requests, and no other one is cheaper
	PurchaseFound      PurchaseState = C.QUOIT_PURCHASE_FOUND      // it grants all requests; a cheaper one may exist, at least for the bound
	PurchaseImpossible PurchaseState = C.QUOIT_PURCHASE_IMPOSSIBLE // the prices cannot grant all requests
	PurchaseUnknown    PurchaseState = C.QUOIT_PURCHASE_UNKNOWN    // the search ended before it found a purchase
)

var purchaseStateNames = map[PurchaseState]string{
	PurchaseCheapest: "cheapest", PurchaseFound: "found", PurchaseImpossible: "impossible", PurchaseUnknown: "unknown",
}

// String returns the name of the state.
func (s PurchaseState) String() string { return nameOf(purchaseStateNames, s) }

// PurchaseStart is what is there before a purchase.
type PurchaseStart int

// The starts.
const (
	PurchaseFromFree    PurchaseStart = C.QUOIT_PURCHASE_FROM_FREE    // the free slices of the fleet, without those that something ahead will need
	PurchaseFromNothing PurchaseStart = C.QUOIT_PURCHASE_FROM_NOTHING // nothing: all slices are bought
)

// PurchaseQueue has requests that are to be granted at the same time: as values, as text, or both.
type PurchaseQueue struct {
	Requests []*Request // for slices, without pools, zones, names and labels
	Text     string     // one request on each line, such as "v6e 4x4 x 2"
}

// Price is the price of one slice of a class.
type Price struct {
	Accelerator  string
	Topology     string
	ChipsPerHost uint32 // 0: the default of the topology
	Price        string // decimal text with at most 4 decimals, and if wanted with a unit: "10.75", "10.75/hour", "7800/month"
	MaxSlices    int64  // how many can be bought; -1: any number
}

// CubePrice is the price of one cube for a block of the fleet.
type CubePrice struct {
	Accelerator string
	Block       string // its name, or SOURCE/NAME
	Price       string // like that of Price
	MaxCubes    int64  // how many can be bought; -1: any number
}

// BlockPrice is the price of a new block of cubes. State Cubes or Grid.
type BlockPrice struct {
	Accelerator string
	Cubes       uint32 // the number of cubes, which have no positions
	Grid        string // the cubes along each axis, "4x4x8": they have positions, so that adjacent ones can be joined
	Price       string // of the whole block; like that of Price
	MaxBlocks   int64  // how many can be bought; -1: any number
}

// PriceList has prices: as values, as text, or both. nil means that each slice costs as many units as it has chips.
type PriceList struct {
	Prices []Price
	Cubes  []CubePrice
	Blocks []BlockPrice
	Text   string // one price on each line, such as "v6e 4x4 10.75/hour limit=8" or "v5p 4x4x4 9/hour block=a"
}

// PurchaseClass describes the slices of one class in a purchase.
type PurchaseClass struct {
	Accelerator  string
	Topology     string
	ChipsPerHost uint32
	Wanted       uint32 // slices, if each request is granted as it is, without its alternatives
	Cubes        Cubes  // which cubes the slices are joined from
	Free         uint32 // slices that are free before the purchase; of joined slices, how many the free cubes make
	Shortfall    uint32 // how many more are wanted than are free
	Taken        uint32 // slices that the requests get, with the alternatives that the purchase chose
	Bought       uint32 // how many are bought, without cubes in blocks; joined slices only without prices
	Limit        uint32 // how many can be bought; 1,000,000: any number
	Price        string // of one slice; empty: it cannot be bought
}

// PurchaseBlock is a block of cubes in a purchase, or new blocks of one size.
type PurchaseBlock struct {
	Accelerator string
	Name        string         // SOURCE/NAME of a block of the fleet; empty: new blocks
	Grid        string         // the grid of new blocks whose cubes have positions
	Cubes       uint32         // how many cubes are bought at once: 1, or those of a new block
	Free        uint32         // cubes that are free before the purchase
	Taken       uint32         // cubes that the requests get; of new blocks, all of them together
	Bought      uint32         // cubes that are bought for the block, or the number of new blocks
	Limit       uint32         // how many can be bought; 1,000,000: any number
	Price       string         // of one cube, or of a new block; empty: none can be bought
	Joined      map[int]uint32 // how many slices of a request are joined from its cubes, by index of the request
}

// Purchase is which slices to buy so that all requests of a queue can be granted at the same time.
type Purchase struct {
	State        PurchaseState
	Cost         string // the price of all slices to buy, as exact decimal text; "0" if no purchase was found
	Bound        string // no set of slices that grants all requests costs less
	Unit         string // the unit of time of the prices, "hour" or "month"; empty if they have none
	Classes      []PurchaseClass
	Alternatives []int    // for each request, which alternative is granted, counted from 1; 0: the request itself
	Requests     []string // for each request, what is granted, as canonical text
	Blocks       []PurchaseBlock
}

func (q PurchaseQueue) toC() (*C.QuoitQueue, error) {
	var arguments cconv.Arguments
	queue := C.quoit_queue_new()
	for _, request := range q.Requests {
		c, err := request.toC()
		if err == nil {
			var gerror *C.GError
			C.quoit_queue_add(queue, c, &gerror)
			err = errorFromC(gerror)
			C.quoit_request_free(c)
		}
		if err != nil {
			C.quoit_queue_free(queue)
			return nil, err
		}
	}
	text, length := arguments.Bytes([]byte(q.Text))
	var gerror *C.GError
	C.quoit_queue_read(queue, (*C.char)(text), C.size_t(length), &gerror)
	if err := errorFromC(gerror); err != nil {
		C.quoit_queue_free(queue)
		return nil, err
	}
	return queue, nil
}

func (l *PriceList) toC() (*C.QuoitPriceList, error) {
	if l == nil {
		return nil, nil
	}
	var arguments cconv.Arguments
	list := C.quoit_price_list_new()
	for _, price := range l.Prices {
		accelerator := (*C.char)(arguments.Text("accelerator", price.Accelerator))
		topology := (*C.char)(arguments.Text("topology", price.Topology))
		text := (*C.char)(arguments.Text("price", price.Price))
		err := arguments.Err()
		if err == nil {
			var gerror *C.GError
			C.quoit_price_list_add(list, accelerator, topology, C.uint32_t(price.ChipsPerHost), text,
				C.int64_t(price.MaxSlices), &gerror)
			err = errorFromC(gerror)
		}
		if err != nil {
			C.quoit_price_list_free(list)
			return nil, err
		}
	}
	if err := l.addCubes(list); err != nil {
		C.quoit_price_list_free(list)
		return nil, err
	}
	text, length := arguments.Bytes([]byte(l.Text))
	var gerror *C.GError
	C.quoit_price_list_read(list, (*C.char)(text), C.size_t(length), &gerror)
	if err := errorFromC(gerror); err != nil {
		C.quoit_price_list_free(list)
		return nil, err
	}
	return list, nil
}

func (l *PriceList) addCubes(list *C.QuoitPriceList) error {
	var arguments cconv.Arguments
	for _, price := range l.Cubes {
		accelerator := (*C.char)(arguments.Text("accelerator", price.Accelerator))
		block := (*C.char)(arguments.Text("block", price.Block))
		text := (*C.char)(arguments.Text("price", price.Price))
		if err := arguments.Err(); err != nil {
			return err
		}
		var gerror *C.GError
		C.quoit_price_list_add_cubes(list, accelerator, block, text, C.int64_t(price.MaxCubes), &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
	}
	for _, price := range l.Blocks {
		accelerator := (*C.char)(arguments.Text("accelerator", price.Accelerator))
		text := (*C.char)(arguments.Text("price", price.Price))
		grid := (*C.char)(arguments.TextUnlessEmpty("grid", price.Grid))
		if err := arguments.Err(); err != nil {
			return err
		}
		var gerror *C.GError
		C.quoit_price_list_add_block(list, accelerator, C.uint32_t(price.Cubes), grid, text, C.int64_t(price.MaxBlocks), &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
	}
	return nil
}

// PlanPurchase finds the cheapest set of slices that, together with the free ones, grants all requests of the queue at the
// same time. A request with alternatives can be granted by any of them. Requests keep their slices forever. Of an elastic
// request, the least number of slices counts. steps limits the work; 0 is the default. Nothing is reserved.
//
// It fails with Invalid if a request is incomplete, not in the catalogue, or states more than slices and their number, if a
// line of a text is not a request or a price, if a price is not a number from 0 to 100,000,000 or its class has one already,
// if several sources have a block of the name in a price, if a block has two prices, and if start is not one of the
// constants; with NotFound if the fleet has no such block.
func (s *Snapshot) PlanPurchase(queue PurchaseQueue, prices *PriceList, start PurchaseStart, steps uint64) (*Purchase, error) {
	cQueue, err := queue.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_queue_free(cQueue)
	cPrices, err := prices.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_price_list_free(cPrices)
	var planned *C.QuoitPurchase
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		planned = C.quoit_snapshot_plan_purchase(c, cQueue, cPrices, C.QuoitPurchaseStart(start), C.uint64_t(steps), &gerror)
		return errorFromC(gerror)
	})
	if err != nil {
		return nil, err
	}
	defer C.quoit_purchase_free(planned)
	purchase := &Purchase{
		State: PurchaseState(C.quoit_purchase_get_state(planned)),
		Cost:  moveString(C.quoit_amount_format(C.quoit_purchase_get_cost(planned))),
		Bound: moveString(C.quoit_amount_format(C.quoit_purchase_get_bound(planned))),
		Unit:  cconv.CopyString(unsafe.Pointer(C.quoit_purchase_get_unit(planned))),
	}
	for i := C.uint32_t(0); i < C.quoit_purchase_get_n_classes(planned); i++ {
		purchase.Classes = append(purchase.Classes, readPurchaseClass(planned, i))
	}
	for i := C.uint32_t(0); i < C.quoit_purchase_get_n_requests(planned); i++ {
		purchase.Alternatives = append(purchase.Alternatives, int(C.quoit_purchase_get_alternative(planned, i)))
		purchase.Requests = append(purchase.Requests, cconv.MoveString(unsafe.Pointer(C.quoit_purchase_dup_request(planned, i))))
	}
	for i := C.uint32_t(0); i < C.quoit_purchase_get_n_blocks(planned); i++ {
		purchase.Blocks = append(purchase.Blocks, readPurchaseBlock(planned, i))
	}
	return purchase, nil
}

func readPurchaseBlock(purchase *C.QuoitPurchase, i C.uint32_t) PurchaseBlock {
	number := func(number C.QuoitPurchaseBlockNumber) uint32 {
		return uint32(C.quoit_purchase_get_block_number(purchase, i, number))
	}
	block := PurchaseBlock{
		Accelerator: cconv.CopyString(unsafe.Pointer(C.quoit_purchase_get_block_accelerator(purchase, i))),
		Name:        cconv.CopyString(unsafe.Pointer(C.quoit_purchase_get_block_name(purchase, i))),
		Grid:        cconv.MoveString(unsafe.Pointer(C.quoit_purchase_dup_block_grid(purchase, i))),
		Cubes:       number(C.QUOIT_PURCHASE_BLOCK_NUMBER_CUBES),
		Free:        number(C.QUOIT_PURCHASE_BLOCK_NUMBER_FREE),
		Taken:       number(C.QUOIT_PURCHASE_BLOCK_NUMBER_TAKEN),
		Bought:      number(C.QUOIT_PURCHASE_BLOCK_NUMBER_BOUGHT),
		Limit:       number(C.QUOIT_PURCHASE_BLOCK_NUMBER_LIMIT),
		Joined:      map[int]uint32{},
	}
	if price := C.quoit_purchase_get_block_price(purchase, i); price.e4 >= 0 {
		block.Price = moveString(C.quoit_amount_format(price))
	}
	for request := C.uint32_t(0); block.Taken > 0 && request < C.quoit_purchase_get_n_requests(purchase); request++ {
		if n := C.quoit_purchase_get_joined(purchase, request, i); n > 0 {
			block.Joined[int(request)] = uint32(n)
		}
	}
	return block
}

func readPurchaseClass(purchase *C.QuoitPurchase, i C.uint32_t) PurchaseClass {
	number := func(number C.QuoitPurchaseNumber) uint32 {
		return uint32(C.quoit_purchase_get_class_number(purchase, i, number))
	}
	class := PurchaseClass{
		Accelerator:  cconv.CopyString(unsafe.Pointer(C.quoit_purchase_get_class_accelerator(purchase, i))),
		Topology:     cconv.MoveString(unsafe.Pointer(C.quoit_purchase_dup_class_topology(purchase, i))),
		ChipsPerHost: number(C.QUOIT_PURCHASE_NUMBER_CHIPS_PER_HOST),
		Cubes:        Cubes(C.quoit_purchase_get_class_cubes(purchase, i)),
		Wanted:       number(C.QUOIT_PURCHASE_NUMBER_WANTED),
		Free:         number(C.QUOIT_PURCHASE_NUMBER_FREE),
		Shortfall:    number(C.QUOIT_PURCHASE_NUMBER_SHORTFALL),
		Taken:        number(C.QUOIT_PURCHASE_NUMBER_TAKEN),
		Bought:       number(C.QUOIT_PURCHASE_NUMBER_BOUGHT),
		Limit:        number(C.QUOIT_PURCHASE_NUMBER_LIMIT),
	}
	if price := C.quoit_purchase_get_class_price(purchase, i); price.e4 >= 0 {
		class.Price = moveString(C.quoit_amount_format(price))
	}
	return class
}
