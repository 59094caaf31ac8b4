// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"testing"

	"quoit"
)

func TestRequestsThatMayBeCutGetParts(t *testing.T) {
	ledger := newLedger(t, "v6e 8x8 x1 pool=p hostchips=4")
	request := sliceRequest("g", 2)
	request.Topology, request.Cut = "4x8", quoit.CutAny
	info, err := reserve(t, ledger, request).Info()
	if err != nil {
		t.Fatal(err)
	}
	want := quoit.Part{Origin: [3]uint32{4, 0, 0}, Shape: [3]uint32{4, 8, 1}}
	if len(info.Slices) != 2 || info.Slices[1].Part == nil || *info.Slices[1].Part != want {
		t.Errorf("slices %+v, want the second one to be %+v", info.Slices, want)
	}
	spread := sliceRequest("s", 1)
	spread.Cut, spread.Place = quoit.CutAny, quoit.PlaceSpread
	if _, err := ledger.Reserve(bg, spread, now); err == nil {
		t.Error("a full fleet has a place")
	}
	spread.Place = 9
	_, err = ledger.Reserve(bg, spread, now)
	wantCode(t, err, quoit.Invalid)
	for _, cut := range []quoit.Cut{quoit.CutPartition, 99} {
		wrong := sliceRequest("x", 1)
		wrong.Cut = cut
		_, err := ledger.Reserve(bg, wrong, now)
		wantCode(t, err, quoit.Invalid)
	}
}
