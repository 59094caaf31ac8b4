// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"fmt"
	"testing"

	"quoit"
)

func TestScatteredBundlesAreGathered(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x4")
	for i := 0; i < 4; i++ {
		reserve(t, ledger, &quoit.Request{Name: fmt.Sprintf("f%d", i), Bundles: []quoit.BundleRequest{{Amounts: "TPU=4", Count: 3}}})
		reserve(t, ledger, &quoit.Request{Name: fmt.Sprintf("a%d", i), Bundles: []quoit.BundleRequest{{Amounts: "TPU=4", Count: 1}}})
	}
	for i := 0; i < 4; i++ {
		if err := ledger.Release(bg, fmt.Sprintf("f%d", i), now); err != nil {
			t.Fatal(err)
		}
	}
	plan := must[*quoit.Defragmentation](t)(newSnapshot(t, ledger).PlanDefragmentation(0))
	if plan.State != quoit.DefragmentationBest || plan.State.String() != "best" || plan.Gain == 0 ||
		plan.Gain != plan.GainBound || len(plan.Moves) != int(plan.MovesBound) {
		t.Errorf("%+v: expected the best plan", plan)
	}
	var gain int64
	for _, move := range plan.Moves {
		gain += move.Gain
		if move.From == move.To || move.From == "" || move.To == "" || move.Bundle != 0 {
			t.Errorf("%+v: expected two nodes", move)
		}
	}
	if gain != int64(plan.Gain) || len(plan.Groups) != len(plan.Moves) || len(plan.Slices) == 0 {
		t.Errorf("%+v: expected that the gains add up", plan)
	}
	rough := must[*quoit.Defragmentation](t)(newSnapshot(t, ledger).PlanDefragmentation(1))
	if rough.State != quoit.DefragmentationFound || rough.Gain > plan.Gain {
		t.Errorf("%+v: expected that the search ended", rough)
	}
}
