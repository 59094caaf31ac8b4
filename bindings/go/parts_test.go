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
	for _, cut := range []quoit.Cut{quoit.CutPartition, 99} {
		wrong := sliceRequest("x", 1)
		wrong.Cut = cut
		_, err := ledger.Reserve(bg, wrong, now)
		wantCode(t, err, quoit.Invalid)
	}
}
