// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"context"
	"testing"
	"time"

	"quoit"
)

// A request that does not fit has its best option in each order: waiting only, the fewest groups, the fewest chips.
func TestEachOrderHasItsBestOption(t *testing.T) {
	ctx, clock := context.Background(), time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	if _, err := ledger.ImportFleetText(ctx, "v6e 4x4 x7", clock); err != nil {
		t.Fatal(err)
	}
	for _, request := range []quoit.Request{
		{Name: "big", Slices: 4},
		{Name: "two", Slices: 2, Lease: 10 * time.Minute},
		{Name: "one", Slices: 1, Lease: time.Minute},
	} {
		request.Accelerator, request.Topology = "v6e", "4x4"
		if _, err := ledger.Reserve(ctx, &request, clock); err != nil {
			t.Fatal(err)
		}
	}
	snapshot, err := ledger.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snapshot.Close()
	report, err := snapshot.Explain(&quoit.Request{Name: "new", Accelerator: "v6e", Topology: "4x4", Slices: 3})
	if err != nil {
		t.Fatal(err)
	}
	if len(report.BestOptions) != 3 {
		t.Fatalf("orders: %v", report.BestOptions)
	}
	for at, expected := range []struct {
		order  quoit.OptionOrder
		name   string
		until  time.Time
		groups int
		chips  string
		text   string
	}{
		{quoit.OrderEarliest, "EARLIEST", clock.Add(10 * time.Minute), 0, "0", ""},
		{quoit.OrderFewestGroups, "FEWEST_GROUPS", time.Time{}, 1, "64", "release big@1"},
		{quoit.OrderFewestChips, "FEWEST_CHIPS", time.Time{}, 2, "48", "release two@2 and release one@3"},
	} {
		best := report.BestOptions[at]
		option := report.Options[best.Option]
		if best.Order != expected.order || best.Order.String() != expected.name || !best.IsProven {
			t.Errorf("order %d: %v", at, best)
		}
		if !option.Time.Equal(expected.until) || option.Groups != expected.groups || option.Chips != expected.chips {
			t.Errorf("%v: %v", best.Order, option)
		}
		if expected.text != "" && option.Text != expected.text {
			t.Errorf("%v: %s", best.Order, option.Text)
		}
	}
}
