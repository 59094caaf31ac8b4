// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"quoit"
)

func TestLostNodeIsRepaired(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.removeNode("pool0-2")
	w.cluster.endPods(a) // the Job restarts as a whole
	w.settle()
	w.checkIsReady(a, true)
	if !w.cluster.nodes["pool0-0"].HasMark("") || w.cluster.nodes["pool1-0"].HasMark("") {
		t.Fatalf("%q", w.log)
	}
	if !strings.Contains(a.Status.Checks[0].Message, "pool1") {
		t.Errorf("message '%s'", a.Status.Checks[0].Message)
	}
}

func TestLostNodeWithoutReplacementEvicts(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.removeNode("pool0-2")
	w.mustPass()
	if check := a.Status.Checks[0]; check.State != Retry || !strings.Contains(check.Message, "lost: pool0; ") {
		t.Fatalf("%+v", check)
	}
	w.settle()
	w.checkNothingLeft()
	w.cluster.addNode("pool0", 2)
	w.cluster.giveQuota(a)
	w.settle()
	w.checkIsReady(a, true)
}

func TestNodesThatAreBackSoonChangeNothing(t *testing.T) {
	w := newWorld(t, 2)
	w.controller.LostAfter = 5 * time.Minute
	now := clock
	w.controller.Now = func() time.Time { return now }
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	pass := func(ready string, minutes int) {
		t.Helper()
		w.cluster.nodes["pool0-2"].Status.Conditions[0].Status = ready
		now = now.Add(time.Duration(minutes) * time.Minute)
		w.mustPass()
		w.checkIsReady(a, true)
	}
	for round := 0; round < 2; round++ { // each loss counts for itself
		pass("False", 0)
		pass("Unknown", 4)
		if w.cluster.nodes["pool0-0"].HasMark("") || !w.cluster.nodes["pool1-0"].HasMark("") {
			t.Fatalf("a slice moved while its pods run: %q", w.log)
		}
		pass("True", 4)
	}
	pass("False", 4)
	pass("False", 5)
	if !w.cluster.nodes["pool0-0"].HasMark("") || w.cluster.nodes["pool1-0"].HasMark("") {
		t.Fatalf("the slice was not replaced: %q", w.log)
	}
}

// checkIsReplacedBeforeTheStart admits a workload again whose slice cannot be used any more, before a pass noticed it.
func checkIsReplacedBeforeTheStart(t *testing.T, lose func(w *world)) {
	t.Helper()
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.evict(a)
	w.cluster.endPods(a)
	lose(w)
	w.cluster.giveQuota(a) // before a pass came: the group is the same
	w.mustPass()
	w.checkIsReady(a, true)
	if !strings.Contains(a.Status.Checks[0].Message, "has pool1") {
		t.Errorf("message '%s'", a.Status.Checks[0].Message)
	}
}

func TestLostSlicesAreReplacedBeforeTheStart(t *testing.T) {
	checkIsReplacedBeforeTheStart(t, func(w *world) {
		w.controller.LostAfter = time.Hour
		w.cluster.nodes["pool0-2"].Status.Conditions[0].Status = "False"
	})
}

func TestCordonedSlicesAreReplacedBeforeTheStart(t *testing.T) {
	checkIsReplacedBeforeTheStart(t, func(w *world) {
		w.cluster.nodes["pool0-2"].Spec.Unschedulable = true
	})
}

func TestPodsThatOutliveARepairKeepTheirHosts(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.removeNode("pool0-2")
	w.mustPass()
	w.cluster.react() // the pod of the lost host moves to pool1; the others still run on pool0
	w.cluster.addNode("pool0", 2)
	b := w.cluster.addWorkload("b", 1)
	w.mustPass()
	if check := b.Status.Checks[0]; check.State != Retry || len(w.liveGroups()) != 1 {
		t.Fatalf("%+v", check)
	}
	w.cluster.endPods(a) // the job restarts as a whole
	w.settle()
	w.cluster.giveQuota(b)
	w.settle()
	w.checkIsReady(a, true)
	w.checkIsReady(b, true)
}

func TestWaitingWorkloadKeepsNoLostSlices(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.removeNode("pool0-2")
	w.cluster.evict(a)
	w.cluster.endPods(a)
	w.cluster.giveQuota(a) // before a pass came
	w.mustPass()
	check := a.Status.Checks[0]
	if check.State != Retry || *check.RequeueAfterSeconds != 30 || !strings.Contains(check.Message, "degraded") {
		t.Fatalf("%+v", check)
	}
	w.checkNothingLeft()
}

func TestCordonedNodeChangesNothingUntilASliceIsLost(t *testing.T) {
	for spares := 1; spares <= 2; spares++ {
		w := newWorld(t, 2+spares)
		a := w.cluster.addWorkload("a", 2)
		w.settle()
		message := a.Status.Checks[0].Message
		w.cluster.nodes["pool0-1"].Spec.Unschedulable = true
		w.cluster.touch(&w.cluster.nodes["pool0-1"].Metadata)
		w.settle()
		if check := a.Status.Checks[0]; check.State != Ready || check.Message != message {
			t.Fatalf("%+v", check)
		}
		w.cluster.removeNode("pool1-2")
		w.mustPass()
		check := a.Status.Checks[0]
		if spares == 1 && (check.State != Retry || !strings.HasPrefix(check.Message, "lost: pool1; leaving: pool0; ")) {
			t.Errorf("%+v", check)
		}
		if spares == 2 && (check.State != Ready || !strings.Contains(check.Message, "has pool2, pool3") ||
			!strings.Contains(strings.Join(w.log, "\n"), "repaired: lost: pool1; leaving: pool0; has ")) {
			t.Errorf("%+v: %q", check, w.log)
		}
	}
}

func TestPodsOnNodesThatAreNotReadyKeepNoSlices(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.remove(a)
	for _, name := range []string{"pool0-0", "pool0-1", "pool0-2", "pool0-3", ""} {
		if len(w.liveGroups()) != 1 {
			t.Fatalf("released while a pod runs on %s: %q", name, w.log)
		}
		switch name {
		case "":
			delete(w.cluster.nodes, "pool0-3") // nothing has removed its pods yet
		case "pool0-3": // its pod still counts
		default:
			w.cluster.nodes[name].Status.Conditions[0].Status = "Unknown"
		}
		w.mustPass()
	}
	w.checkNothingLeft()
}

func TestRefusedNodesStopRepairs(t *testing.T) {
	w := newWorld(t, 3)
	w.controller.LostAfter = time.Hour
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.nodes["pool0-2"].Status.Conditions[0].Status = "False"
	w.settle()
	w.controller.LostAfter = 0
	w.cluster.nodes["pool2-1"].Status.Allocatable = map[string]Quantity{tpuResource: "4", "cpu": "many"}
	w.cluster.nodes["pool0-2"].Status.Conditions[0].Status = "True" // which the ledger does not know
	if err := w.pass(); !errors.Is(err, quoit.Invalid) {
		t.Fatalf("%v", err)
	}
	if w.cluster.nodes["pool0-0"].HasMark("") {
		t.Fatalf("repaired by the states of an old list: %q", w.log)
	}
	w.checkIsReady(a, true)
}

func TestWarningsAboutNodesAreLoggedOnce(t *testing.T) {
	w := newWorld(t, 1) // a slice of several hosts without worker ids
	for round := 0; round < 2; round++ {
		w.settle()
		if len(w.log) != 1 || !strings.HasPrefix(w.log[0], "nodes: slices of several hosts: 1; ") {
			t.Fatalf("%q", w.log)
		}
	}
	for worker := 0; worker < 4; worker++ {
		w.cluster.removeNode(fmt.Sprintf("pool0-%d", worker))
	}
	w.settle()
	if len(w.log) != 2 || w.log[1] != "nodes: no more warnings" {
		t.Fatalf("%q", w.log)
	}
}

func TestRefusedNodesStopNoReleases(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	b := w.cluster.addWorkload("b", 1)
	w.settle()
	w.cluster.finish(a)
	w.cluster.remove(b)                                // its pods still run
	w.cluster.nodes["pool1-1"].Status.Conditions = nil // not Ready, which the ledger does not know
	c := w.cluster.addWorkload("c", 1)
	w.cluster.nodes["pool0-1"].Status.Capacity = map[string]Quantity{tpuResource: "4", "cpu": "many"}
	w.cluster.nodes["pool0-1"].Status.Allocatable = w.cluster.nodes["pool0-1"].Status.Capacity
	for pod, node := range w.cluster.pods {
		if node != "pool1-1" {
			delete(w.cluster.pods, pod)
		}
	}
	for round := 0; round < 2; round++ {
		if err := w.pass(); !errors.Is(err, quoit.Invalid) || !strings.Contains(err.Error(), "many") {
			t.Fatalf("%v", err)
		}
	}
	if live := w.liveGroups(); len(live) != 1 || live[b.Metadata.UID].Name == "" {
		t.Fatalf("%v: %q", live, w.log)
	}
	if !w.cluster.nodes["pool0-0"].HasMark("") || c.Status.Checks[0].State != Pending {
		t.Fatalf("%+v: %q", c.Status.Checks[0], w.log)
	}
	w.cluster.nodes["pool0-1"].Status.Capacity = w.cluster.nodes["pool0-0"].Status.Capacity
	w.cluster.nodes["pool0-1"].Status.Allocatable = w.cluster.nodes["pool0-0"].Status.Capacity
	w.settle()
	w.checkIsReady(c, true)
}

func TestSpareSliceGoesToTheGreaterPriority(t *testing.T) {
	for round := 0; round < 8; round++ { // ranges over maps have a random order
		w := newWorld(t, 5)
		var all []*Workload
		for index := 0; index < 4; index++ {
			all = append(all, w.cluster.addWorkload(fmt.Sprintf("w%d", index), 1))
			all[index].Spec.Priority = int32(index)
		}
		w.settle()
		for pool := 0; pool < 4; pool++ {
			w.cluster.removeNode(fmt.Sprintf("pool%d-0", pool))
		}
		w.mustPass()
		for index, workload := range all {
			w.checkIsReady(workload, index == 3)
		}
	}
}
