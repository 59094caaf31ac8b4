// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"reflect"
	"testing"

	"quoit"
)

func TestPurchasesHaveAllTheirNumbers(t *testing.T) {
	snapshot := newSnapshot(t, newLedger(t, "v6e 4x4 x1"))
	queue := quoit.PurchaseQueue{
		Requests: []*quoit.Request{sliceRequest("a", 2)},
		Text:     "v6e 8x8 x 1 else=\"v6e 4x4 x 3\" # a comment",
	}
	prices := &quoit.PriceList{
		Prices: []quoit.Price{{Accelerator: "v6e", Topology: "4x4", Price: "4.5/hour", MaxSlices: 9}},
		Text:   "v6e 8x8 20/hour",
	}
	want := &quoit.Purchase{
		State: quoit.PurchaseCheapest, Cost: "18", Bound: "18", Unit: "hour",
		Classes: []quoit.PurchaseClass{
			{Accelerator: "v6e", Topology: "4x4", ChipsPerHost: 4, Wanted: 2, Free: 1, Shortfall: 1, Taken: 5, Bought: 4,
				Limit: 9, Price: "4.5"},
			{Accelerator: "v6e", Topology: "8x8", ChipsPerHost: 4, Wanted: 1, Shortfall: 1, Limit: 1000000, Price: "20"},
		},
		Alternatives: []int{0, 1},
		Requests:     []string{"v6e 4x4 x 2 hostchips=4", "v6e 4x4 x 3 hostchips=4"},
	}
	got := must[*quoit.Purchase](t)(snapshot.PlanPurchase(queue, prices, quoit.PurchaseFromFree, 0))
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v: expected %+v", got, want)
	}
	got = must[*quoit.Purchase](t)(snapshot.PlanPurchase(queue, &quoit.PriceList{}, quoit.PurchaseFromNothing, 0))
	if got.State != quoit.PurchaseImpossible || got.State.String() != "impossible" || got.Classes[0].Price != "" {
		t.Errorf("%+v: expected an impossible purchase", got)
	}
	got = must[*quoit.Purchase](t)(snapshot.PlanPurchase(queue, nil, quoit.PurchaseFromFree, 0))
	if got.Cost != "64" || got.Unit != "" {
		t.Errorf("%+v: expected a shortfall of 64 chips", got)
	}
}

func TestPurchasesOfCubesHaveAllTheirNumbers(t *testing.T) {
	snapshot := newSnapshot(t, newLedger(t, "v5p 4x4x4 x3 block=a"))
	prices := &quoit.PriceList{
		Cubes:  []quoit.CubePrice{{Accelerator: "v5p", Block: "fleet/a", Price: "5", MaxCubes: 1}},
		Blocks: []quoit.BlockPrice{{Accelerator: "v5p", Grid: "1x1x2", Price: "20", MaxBlocks: -1}},
	}
	queue := quoit.PurchaseQueue{Text: "v5p 4x4x8 x 1 cubes=adjacent\nv5p 4x4x8 x 2 cubes=any"}
	got := must[*quoit.Purchase](t)(snapshot.PlanPurchase(queue, prices, quoit.PurchaseFromFree, 0))
	want := []quoit.PurchaseBlock{
		{Accelerator: "v5p", Name: "fleet/a", Cubes: 1, Free: 3, Taken: 4, Bought: 1, Limit: 1, Price: "5",
			Joined: map[int]uint32{1: 2}},
		{Accelerator: "v5p", Grid: "1x1x2", Cubes: 2, Taken: 2, Bought: 1, Limit: 1000000, Price: "20",
			Joined: map[int]uint32{0: 1}},
	}
	if got.Cost != "25" || !reflect.DeepEqual(got.Blocks, want) || got.Classes[1].Cubes != quoit.CubesAny {
		t.Errorf("%+v: expected %+v", got, want)
	}
	prices.Cubes[0].Block = "b"
	_, err := snapshot.PlanPurchase(queue, prices, quoit.PurchaseFromFree, 0)
	wantCode(t, err, quoit.NotFound)
	prices.Blocks[0].Grid = "1x1"
	_, err = snapshot.PlanPurchase(queue, prices, quoit.PurchaseFromFree, 0)
	wantCode(t, err, quoit.Invalid)
}

func TestBadPurchasesAreRefused(t *testing.T) {
	snapshot := newSnapshot(t, newLedger(t, "v6e 4x4 x1"))
	pool := sliceRequest("a", 1)
	pool.Pool = "p"
	for name, one := range map[string]struct {
		queue  quoit.PurchaseQueue
		prices *quoit.PriceList
		start  quoit.PurchaseStart
	}{
		"request": {queue: quoit.PurchaseQueue{Text: "v6e 4x4"}},
		"pool":    {queue: quoit.PurchaseQueue{Requests: []*quoit.Request{pool}}},
		"nil":     {queue: quoit.PurchaseQueue{Requests: []*quoit.Request{nil}}},
		"price":   {prices: &quoit.PriceList{Text: "v6e 4x4 x"}},
		"limit":   {prices: &quoit.PriceList{Prices: []quoit.Price{{Accelerator: "v6e", Topology: "4x4", Price: "1", MaxSlices: -2}}}},
		"start":   {start: 9},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := snapshot.PlanPurchase(one.queue, one.prices, one.start, 0)
			wantCode(t, err, quoit.Invalid)
		})
	}
}
