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

func TestWorkloadGetsSlicesAndGivesThemBack(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 2)
	w.settle()
	w.checkIsReady(a, true)
	check := a.Status.Checks[0]
	update := check.PodSetUpdates[0]
	mark := update.NodeSelector[MarkKey]
	if update.Name != "main" || mark == "" || update.Labels[MarkKey] != mark || len(update.Tolerations) != 1 ||
		update.Tolerations[0] != (Toleration{MarkKey, "Equal", mark, "NoSchedule"}) {
		t.Errorf("update %+v", update)
	}
	if !strings.Contains(check.Message, "pool0, pool1") {
		t.Errorf("message '%s'", check.Message)
	}
	w.cluster.finish(a)
	w.settle()
	w.checkNothingLeft()
}

func TestWaitingKeepsNoQuota(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	b := w.cluster.addWorkload("b", 1)
	w.mustPass()
	check := b.Status.Checks[0]
	if check.State != Retry || *check.RequeueAfterSeconds != 30 || !strings.Contains(check.Message, "allocated to groups") ||
		!strings.Contains(check.Message, "would help: release team.a.") {
		t.Fatalf("%+v", check)
	}
	w.settle()
	if b.MayHold() {
		t.Fatal("b has kept its quota")
	}
	w.cluster.finish(a)
	w.settle()
	w.cluster.giveQuota(b)
	w.settle()
	w.checkIsReady(b, true)
}

func TestReservationWaitsForPodsOfItsPredecessor(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.remove(a)
	for round := 0; round < 3; round++ {
		w.mustPass()
	}
	if len(w.liveGroups()) != 1 || w.cluster.nodes["pool0-0"].HasMark("") {
		t.Fatal("the slice was released while pods run on it")
	}
	w.cluster.endPods(a)
	w.settle()
	w.checkNothingLeft()
}

func TestReadyWithoutGroupStartsAgain(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	for _, info := range w.liveGroups() { // an administrator releases it
		if err := w.ledger.Release(ctx, info.Name, clock); err != nil {
			t.Fatal(err)
		}
	}
	w.controller.Step = nil
	w.mustPass()
	if check := a.Status.Checks[0]; check.State != Retry || !strings.Contains(check.Message, "not in the ledger") {
		t.Fatalf("%+v", check)
	}
}

func TestGroupsOfOthersStay(t *testing.T) {
	w := newWorld(t, 2)
	w.settle()
	request := &quoit.Request{Name: "own", Key: "own", Accelerator: "v6e", Topology: "4x4", Slices: 1}
	group, err := w.ledger.Reserve(ctx, request, clock)
	if err != nil {
		t.Fatal(err)
	}
	group.Close()
	for round := 0; round < 3; round++ {
		w.mustPass()
	}
	if _, ok := w.liveGroups()["own"]; !ok {
		t.Fatal("the group of another user of the ledger is gone")
	}
}

func TestAnotherAdmissionGetsOtherSlices(t *testing.T) {
	w := newWorld(t, 3)
	a := w.cluster.addWorkload("a", 2)
	w.settle()
	w.cluster.endPods(a)
	a.Spec.PodSets[0].Count = 4 // evicted and admitted with fewer pods before a pass came
	w.cluster.giveQuota(a)
	w.settle()
	w.checkIsReady(a, true)
	if slices := len(w.liveGroups()[a.Metadata.UID].Slices); slices != 1 {
		t.Errorf("%d slices", slices)
	}
}

func TestOldListsReleaseNothing(t *testing.T) {
	w := newWorld(t, 1)
	w.cluster.see()
	old := w.cluster.seen
	a := w.cluster.addWorkload("a", 1)
	w.mustPass()
	w.checkIsReady(a, true) // its pods have not started yet
	w.start()               // a new leader, whose lists are older than the reservation
	w.cluster.seen = old
	if err := w.passOnOld(); err != nil && !errors.Is(err, ErrConflict) {
		t.Fatal(err)
	}
	if len(w.liveGroups()) != 1 {
		t.Fatalf("released: %q", w.log)
	}
	w.settle()
}

func TestGuardStopsChanges(t *testing.T) {
	w := newWorld(t, 1)
	w.cluster.addWorkload("a", 1)
	w.controller.Guard = func() error { return fmt.Errorf("lease: %w", ErrNotLeader) }
	if err := w.pass(); !errors.Is(err, ErrNotLeader) {
		t.Fatalf("%v", err)
	}
	if len(w.liveGroups()) != 0 || w.cluster.check.IsActive() {
		t.Error("changed something without a lease")
	}
}

func TestWrongClockRejectsNothing(t *testing.T) {
	w := newWorld(t, 1)
	w.settle()
	if err := w.ledger.SetMaxClockJump(ctx, time.Minute, clock); err != nil {
		t.Fatal(err)
	}
	a := w.cluster.addWorkload("a", 1)
	w.controller.Now = func() time.Time { return clock.Add(time.Hour) }
	if err := w.pass(); !errors.Is(err, quoit.Invalid) || !strings.Contains(err.Error(), "ahead of the last entry") {
		t.Fatalf("%v", err)
	}
	if check := a.Status.Checks[0]; check.State != Pending {
		t.Fatalf("%+v", check)
	}
	w.controller.Now = func() time.Time { return clock }
	w.settle()
	w.checkIsReady(a, true)
}

func TestInvalidRequestIsRejected(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1000001)
	b := w.cluster.addWorkload("b", 1)
	w.mustPass()
	if check := a.Status.Checks[0]; check.State != Rejected || !strings.Contains(check.Message, "'1000001': expected") {
		t.Fatalf("%+v", check)
	}
	w.checkIsReady(b, true)
}

func TestWorkloadWithoutOneOfItsGroupsStartsAgain(t *testing.T) {
	w := newWorld(t, 3)
	a := w.cluster.addWorkload("a", 1)
	w.cluster.addPodSet(a, "other", 1)
	w.settle()
	w.checkIsReady(a, true)
	live := w.liveGroups()
	if len(live) != 2 {
		t.Fatalf("%d groups", len(live))
	}
	if err := w.ledger.Release(ctx, live[a.Metadata.UID+".other"].Name, clock); err != nil { // an administrator
		t.Fatal(err)
	}
	w.controller.Step = nil
	w.mustPass()
	if check := a.Status.Checks[0]; check.State != Retry || !strings.Contains(check.Message, "not in the ledger") {
		t.Fatalf("%+v", check)
	}
	w.settle()
	w.checkNothingLeft()
}

func TestPodThatIsPlacedWhileTheMarksGoKeepsTheSlice(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.remove(a)
	var last string
	for _, pod := range w.cluster.podsOf(a) {
		last = pod
		w.cluster.pods[pod] = "" // evicted pods, whose Job has made others
	}
	isPlaced := false
	w.controller.Step = func(step string) {
		if step == "before removal of the mark of pool0-3" && !isPlaced {
			w.cluster.pods[last] = "pool0-3"
			isPlaced = true
		}
		w.step(step)
	}
	if err := w.pass(); err != nil || !isPlaced {
		t.Fatalf("%v: %q", err, w.log)
	}
	if len(w.liveGroups()) != 1 {
		t.Fatalf("released while %s runs: %q", last, w.log)
	}
	for name, node := range w.cluster.nodes {
		if node.HasMark("") {
			t.Errorf("%s has no mark", name)
		}
	}
	w.cluster.endPods(a)
	w.settle()
	w.checkNothingLeft()
}

func TestPodThatIsPlacedBeforeAnotherAdmissionKeepsItsMarks(t *testing.T) {
	w := newWorld(t, 3)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	pods := w.cluster.podsOf(a)
	for _, pod := range pods {
		w.cluster.pods[pod] = ""
	}
	a.Spec.PodSets[0].Count = 8
	w.cluster.giveQuota(a) // evicted and admitted again before a pass came
	isPlaced := false
	w.controller.Step = func(step string) {
		if step == "before removal of the mark of pool0-3" && !isPlaced {
			w.cluster.pods[pods[0]] = "pool0-3"
			isPlaced = true
		}
		w.step(step)
	}
	if err := w.pass(); err != nil || !isPlaced {
		t.Fatalf("%v: %q", err, w.log)
	}
	for worker := 0; worker < 4; worker++ {
		if name := fmt.Sprintf("pool0-%d", worker); !w.cluster.nodes[name].HasMark("g1") {
			t.Errorf("%s has not its mark: %q", name, w.log)
		}
	}
	w.checkIsReady(a, false)
	w.cluster.endPods(a)
	w.settle()
	w.checkIsReady(a, true)
}

func TestChangedPodSetsGetOtherGroups(t *testing.T) {
	w := newWorld(t, 3)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	again := func() {
		t.Helper()
		w.cluster.endPods(a)
		w.cluster.giveQuota(a) // evicted and admitted again before a pass came
		w.settle()
		w.checkIsReady(a, true)
	}
	w.cluster.addPodSet(a, "other", 1)
	again()
	if live := w.liveGroups(); len(live) != 2 || live[a.Metadata.UID+".main"].Name == "" {
		t.Fatalf("%v", live)
	}
	a.Spec.PodSets = a.Spec.PodSets[1:]
	again()
	if live := w.liveGroups(); len(live) != 1 || live[a.Metadata.UID].Name == "" {
		t.Fatalf("%v", live)
	}
	a.Spec.PodSets[0].Template.Spec.Containers = nil
	again()
	w.checkNothingLeft()
}

func TestWorkloadsGetSlicesInOrder(t *testing.T) {
	for name, first := range map[string]func(a, b *Workload){
		"priority": func(a, b *Workload) { a.Metadata.CreationTimestamp, b.Spec.Priority = "2026-05-01T08:00:00Z", 1 },
		"age": func(a, b *Workload) {
			a.Metadata.CreationTimestamp, b.Metadata.CreationTimestamp = "2026-05-01T08:00:01Z", "2026-05-01T08:00:00Z"
		},
	} {
		w := newWorld(t, 1)
		a, b := w.cluster.addWorkload("a", 1), w.cluster.addWorkload("b", 1)
		first(a, b)
		w.mustPass()
		if a.Status.Checks[0].State != Retry || b.Status.Checks[0].State != Ready {
			t.Errorf("%s: %+v %+v", name, a.Status.Checks[0], b.Status.Checks[0])
		}
	}
}

func TestEndingGroupsAreCounted(t *testing.T) {
	w := newWorld(t, 4)
	w.cluster.see()
	old := w.cluster.seen
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.checkMetric("quoit_kueue_ending_groups 0")
	w.cluster.seen = old
	w.cluster.seen.nodes = nil
	if err := w.passOnOld(); err != nil { // the list is too old: a has not ended
		t.Fatal(err)
	}
	w.checkMetric("quoit_kueue_ending_groups 0")
	w.settle()
	a.Spec.PodSets[0].Count = 8
	w.cluster.giveQuota(a) // evicted and admitted again, and its pods have not ended
	for round := 0; round < 2; round++ {
		w.mustPass()
		w.checkMetric("quoit_kueue_ending_groups 1")
	}
	b := w.cluster.addWorkload("b", 1)
	w.mustPass()
	w.cluster.react()
	w.cluster.remove(b)
	w.mustPass()
	w.checkMetric("quoit_kueue_ending_groups 2")
	w.cluster.endPods(b)
	w.cluster.endPods(a)
	w.cluster.remove(a)
	w.settle()
	w.checkMetric("quoit_kueue_ending_groups 0")
}
