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

func TestCubesMoveToOtherBlocks(t *testing.T) {
	snapshot := newSnapshot(t, newLedger(t, "v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x4 pool=b block=b;"+
		" group one v5p 4x4x4 cubes=any slices=a:2; group two v5p 4x4x8 cubes=any slices=b:0,3"))
	plan := must[*quoit.Defragmentation](t)(snapshot.PlanJoinedDefragmentation("v5p", "4x8x8", quoit.CubesAny, 0))
	want := quoit.BundleMove{Group: "one@1", From: "a-2", To: "b-1", Gain: 256}
	if plan.State != quoit.DefragmentationBest || plan.Gain != 256 || len(plan.Moves) != 1 || plan.Moves[0] != want ||
		len(plan.Slices) != 4 {
		t.Errorf("%+v: expected the move of one cube", plan)
	}
	for _, cubes := range []quoit.Cubes{quoit.CubesNone, 9} {
		_, err := snapshot.PlanJoinedDefragmentation("v5p", "4x8x8", cubes, 0)
		wantCode(t, err, quoit.Invalid)
	}
	_, err := snapshot.PlanJoinedDefragmentation("v5p", "8x8x8", quoit.CubesAny, 0)
	wantCode(t, err, quoit.NotFound)
	_, err = snapshot.PlanJoinedDefragmentation("v5p", "8\x00", quoit.CubesAny, 0)
	wantCode(t, err, quoit.Invalid)
}
