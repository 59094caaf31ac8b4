// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"reflect"
	"testing"

	"quoit"
)

func TestFragmentationHasAllItsNumbers(t *testing.T) {
	snapshot := newSnapshot(t, newLedger(t, "v6e 4x4 x2 dead=0.0; v5e 4x4 busy=0"))
	classes := must[[]quoit.Fragmentation](t)(snapshot.MeasureFragmentation(0))
	want := quoit.Fragmentation{FreeHosts: 7, LeastPPM: 375939, MostPPM: 375939, Parts: []quoit.FragmentationPart{
		{Topology: "2x2", WeightPPM: 52631, Least: 7, Most: 7},
		{Topology: "2x4", WeightPPM: 105263, Least: 3, Most: 3},
		{Topology: "4x4", WeightPPM: 842105, Least: 1, Most: 1},
	}}
	if len(classes) != 2 {
		t.Fatalf("%+v: expected two classes", classes)
	}
	for _, class := range classes {
		if class.FreeHosts == 0 && (class.LeastPPM != 0 || class.MostPPM != 0) {
			t.Errorf("%+v: expected no fragmentation", class)
		}
		if class.FreeHosts != 0 && !reflect.DeepEqual(class, want) {
			t.Errorf("%+v: expected %+v", class, want)
		}
	}
}
