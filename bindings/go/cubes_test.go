// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"testing"

	"quoit"
)

func TestRequestsThatJoinCubesGetJoinedSlices(t *testing.T) {
	ledger := newLedger(t, "v5p 4x4x4 x3 pool=p block=b")
	request := sliceRequest("g", 1)
	request.Accelerator, request.Topology, request.Cubes = "v5p", "4x4x8", quoit.CubesAny
	group := reserve(t, ledger, request)
	info, err := group.Info()
	if err != nil {
		t.Fatal(err)
	}
	joined := info.Slices[0].Joined
	if joined == nil || joined.Shape != [3]uint32{4, 4, 8} || len(joined.WorkerSlices) != 32 ||
		joined.WorkerSlices[15] != "p-0" || joined.WorkerSlices[16] != "p-1" {
		t.Errorf("the slice is %+v, want p-0 and p-1 joined", joined)
	}
	_, err = group.GKESlice(0)
	wantCode(t, err, quoit.Invalid)
	for _, slice := range []int{-1, 1} {
		_, err = group.GKESlice(slice)
		wantCode(t, err, quoit.Invalid)
	}
	for _, cubes := range []quoit.Cubes{quoit.CubesAnyTwisted + 10, -1} {
		wrong := sliceRequest("x", 1)
		wrong.Cubes = cubes
		_, err := ledger.Reserve(bg, wrong, now)
		wantCode(t, err, quoit.Invalid)
	}
	request.Name = "h"
	_, err = ledger.Reserve(bg, request, now)
	wantCode(t, err, quoit.NotNow)
}
