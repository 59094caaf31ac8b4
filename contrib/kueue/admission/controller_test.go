// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"quoit"
)

var (
	ctx   = context.Background()
	clock = time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)
)

// world is a cluster, a ledger and a controller.
type world struct {
	t          testing.TB
	cluster    *cluster
	ledger     *quoit.Ledger
	controller *Controller
	log        []string
	crashAfter int // steps until the controller ends; below 0: it does not
	crashes    int
	isFresh    bool // the controller has seen the present state
}

func newWorld(t testing.TB, slices int) *world {
	w := &world{t: t, cluster: newCluster(t), ledger: quoit.OpenMemory(), crashAfter: -1}
	t.Cleanup(w.ledger.Close)
	for slice := 0; slice < slices; slice++ {
		w.cluster.addSlice(fmt.Sprintf("pool%d", slice))
	}
	w.start()
	return w
}

type crash struct{ step string }

// start starts a controller that remembers nothing.
func (w *world) start() {
	w.controller = &Controller{
		Ledger: w.ledger, Cluster: w.cluster, Source: "k8s", Waits: Waits{30 * time.Second, 10 * time.Minute},
		Now:   func() time.Time { return clock },
		Guard: func() error { return nil },
		Step:  func(step string) { w.step(step) },
		Log:   func(format string, arguments ...any) { w.log = append(w.log, fmt.Sprintf(format, arguments...)) },
	}
}

func (w *world) step(step string) {
	if strings.HasPrefix(step, "after ") {
		w.checkAlways(step)
	}
	if strings.HasPrefix(step, "after check of ") && strings.HasSuffix(step, ": Ready") {
		w.checkMarkedBeforeStart(step)
	}
	if w.isFresh && strings.HasPrefix(step, "before release of ") {
		w.checkUnmarkedBeforeRelease(step)
	}
	if w.crashAfter == 0 {
		panic(crash{step})
	}
	w.crashAfter--
}

// pass makes one pass on the present state. After a crash another controller begins.
func (w *world) pass() (err error) {
	w.cluster.see()
	w.isFresh = true
	defer func() { w.isFresh = false }()
	return w.passOnOld()
}

// passOnOld makes a pass on the state that the controller has seen before.
func (w *world) passOnOld() (err error) {
	defer func() {
		if end := recover(); end != nil {
			if _, ok := end.(crash); !ok {
				panic(end)
			}
			w.crashAfter = -1
			w.crashes++
			w.start()
		}
	}()
	return w.controller.Pass(ctx)
}

// settle lets all parts react until nothing changes any more.
func (w *world) settle() {
	w.t.Helper()
	for round := 0; round < 30; round++ {
		before := w.cluster.version + w.crashes
		if err := w.pass(); err != nil && !errors.Is(err, ErrConflict) {
			w.t.Fatalf("pass: %v", err)
		}
		w.cluster.react()
		if before == w.cluster.version+w.crashes && round > 0 {
			w.checkSettled()
			return
		}
	}
	w.t.Fatalf("does not settle: %q", w.log)
}

func (w *world) liveGroups() map[string]quoit.GroupInfo {
	snapshot, err := w.ledger.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer snapshot.Close()
	groups, err := snapshot.Groups()
	if err != nil {
		w.t.Fatal(err)
	}
	live := map[string]quoit.GroupInfo{}
	for _, one := range groups {
		info, err := one.Info()
		if err != nil {
			w.t.Fatal(err)
		}
		if info.State != quoit.GroupRemoved {
			live[info.Key] = info
		}
	}
	return live
}

// checkAlways checks what is true at every moment, also while a controller works or after it has ended.
func (w *world) checkAlways(when string) {
	w.t.Helper()
	marks := map[string]bool{}
	holders := map[string]string{} // node -> mark of its group
	for _, info := range w.liveGroups() {
		marks[markOf("", info.ID)] = true
		for _, slice := range info.Slices {
			for _, worker := range slice.Workers {
				holders[worker.Name] = markOf("", info.ID)
			}
		}
	}
	for pod, node := range w.cluster.pods {
		if node == "" || w.cluster.nodes[node] == nil {
			continue
		}
		if other, held := holders[node]; held && other != w.cluster.podMarks[pod] {
			w.t.Fatalf("%s: node %s is held by %s while pod %s of %s runs on it: %q", when, node, other, pod,
				w.cluster.podMarks[pod], w.log)
		}
	}
	for _, workload := range w.cluster.workloads {
		if !workload.MayHold() || workload.IsEvicted() || workload.Status.Checks[0].State != Ready ||
			len(workload.Status.Checks[0].PodSetUpdates) == 0 {
			continue
		}
		for _, update := range workload.Status.Checks[0].PodSetUpdates {
			if !marks[update.Labels[MarkKey]] {
				w.t.Fatalf("%s: %s is Ready without the group of %s: %q", when, workload.Name(), update.Name, w.log)
			}
		}
	}
}

// checkSettled checks what is true when nothing has to be done: exactly the nodes of groups are marked, exactly the
// Workloads with a Ready check have groups, and their pods run there.
func (w *world) checkSettled() {
	w.t.Helper()
	w.checkAlways("settled")
	marks := map[string]string{}
	for key, info := range w.liveGroups() {
		for _, slice := range info.Slices {
			for _, worker := range slice.Workers {
				marks[worker.Name] = markOf("", info.ID)
			}
		}
		if pods, _ := w.cluster.ReadPods(ctx, markOf("", info.ID)); w.cluster.workloads[uidOf(key)] == nil && len(pods) > 0 {
			continue // it waits for these pods
		}
		workload := w.cluster.workloads[uidOf(key)]
		if workload == nil || !workload.MayHold() || workload.Status.Checks[0].State != Ready {
			w.t.Fatalf("group %s stays without a Workload that holds it: %q", info.Name, w.log)
		}
		wanted := 0
		for _, podSet := range workload.Spec.PodSets {
			wanted += int(podSet.Count)
		}
		if running := w.cluster.countPodsOf(workload); running != wanted {
			w.t.Fatalf("%s has %d pods, expected %d", workload.Name(), running, wanted)
		}
		for _, pod := range w.cluster.podsOf(workload) {
			if w.cluster.pods[pod] == "" {
				w.t.Fatalf("pod %s waits for a node: %q", pod, w.log)
			}
		}
	}
	for name, node := range w.cluster.nodes {
		if !node.HasMark(marks[name]) {
			w.t.Fatalf("node %s: labels %v and taints %v, expected the mark '%s'", name, node.Metadata.Labels,
				node.Spec.Taints, marks[name])
		}
		if len(otherTaints(node.Spec.Taints)) != 1 {
			w.t.Fatalf("node %s: taints %v: expected that the others stay", name, node.Spec.Taints)
		}
	}
}

// checkMarkedBeforeStart checks that the nodes of each group whose Workload may start keep others away.
func (w *world) checkMarkedBeforeStart(when string) {
	w.t.Helper()
	for key, info := range w.liveGroups() {
		workload := w.cluster.workloads[uidOf(key)]
		if workload == nil || workload.Status.Checks[0].State != Ready || !strings.Contains(when, workload.Name()+":") ||
			w.cluster.countPodsOf(workload) > 0 {
			continue
		}
		for _, slice := range info.Slices {
			for _, worker := range slice.Workers {
				if node := w.cluster.nodes[worker.Name]; node != nil && !node.HasMark(markOf("", info.ID)) {
					w.t.Fatalf("%s: node %s has no mark of %s: %q", when, worker.Name, info.Name, w.log)
				}
			}
		}
	}
}

// checkUnmarkedBeforeRelease checks that no node has the mark of a group that is to be released.
func (w *world) checkUnmarkedBeforeRelease(when string) {
	w.t.Helper()
	for _, info := range w.liveGroups() {
		if when != fmt.Sprintf("before release of %s@%d", info.Name, info.ID) {
			continue
		}
		for _, name := range sortedKeys(w.cluster.nodes) {
			if w.cluster.nodes[name].mentions(markOf("", info.ID)) {
				w.t.Fatalf("%s: node %s still has its mark: %q", when, name, w.log)
			}
		}
	}
}

func (w *world) checkIsReady(workload *Workload, expected bool) {
	w.t.Helper()
	if is := workload.Status.Checks[0].State == Ready; is != expected {
		w.t.Fatalf("%s: %+v, expected ready: %v", workload.Name(), workload.Status.Checks[0], expected)
	}
}

// checkNothingLeft checks that nothing is left when all Workloads have ended.
func (w *world) checkNothingLeft() {
	w.t.Helper()
	snapshot, err := w.ledger.Snapshot()
	if err != nil {
		w.t.Fatal(err)
	}
	defer snapshot.Close()
	groups, err := snapshot.Groups()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, one := range groups {
		w.t.Errorf("%s is left", one)
	}
	for name, node := range w.cluster.nodes {
		if !node.HasMark("") {
			w.t.Errorf("node %s has a mark: %v %v", name, node.Metadata.Labels, node.Spec.Taints)
		}
	}
	if err := w.ledger.Verify(ctx); err != nil {
		w.t.Error(err)
	}
}

// --- single cases ---

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
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.liveGroups()) != 1 || w.cluster.nodes["pool0-0"].HasMark("") {
		t.Fatal("the slice was released while pods run on it")
	}
	w.cluster.endPods(a)
	w.settle()
	w.checkNothingLeft()
}

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
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
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

func TestLostSlicesAreReplacedBeforeTheStart(t *testing.T) {
	w := newWorld(t, 2)
	w.controller.LostAfter = time.Hour
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.evict(a)
	w.cluster.endPods(a)
	w.cluster.nodes["pool0-2"].Status.Conditions[0].Status = "False"
	w.cluster.giveQuota(a) // before a pass came: the group is the same
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.checkIsReady(a, true)
	if !strings.Contains(a.Status.Checks[0].Message, "has pool1") {
		t.Errorf("message '%s'", a.Status.Checks[0].Message)
	}
}

func TestPodsThatOutliveARepairKeepTheirHosts(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.removeNode("pool0-2")
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.cluster.react() // the pod of the lost host moves to pool1; the others still run on pool0
	w.cluster.addNode("pool0", 2)
	b := w.cluster.addWorkload("b", 1)
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
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
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	check := a.Status.Checks[0]
	if check.State != Retry || *check.RequeueAfterSeconds != 30 || !strings.Contains(check.Message, "degraded") {
		t.Fatalf("%+v", check)
	}
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
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
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
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
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
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
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
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	if check := a.Status.Checks[0]; check.State != Retry || !strings.Contains(check.Message, "not in the ledger") {
		t.Fatalf("%+v", check)
	}
	w.settle()
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
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

func TestCordonedSlicesAreReplacedBeforeTheStart(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	w.settle()
	w.cluster.evict(a)
	w.cluster.endPods(a)
	w.cluster.nodes["pool0-2"].Spec.Unschedulable = true
	w.cluster.giveQuota(a) // before a pass came: the group is the same
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.checkIsReady(a, true)
	if !strings.Contains(a.Status.Checks[0].Message, "has pool1") {
		t.Errorf("message '%s'", a.Status.Checks[0].Message)
	}
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
		if a.Status.Checks[0].State != Retry || b.Status.Checks[0].State != Ready {
			t.Errorf("%s: %+v %+v", name, a.Status.Checks[0], b.Status.Checks[0])
		}
	}
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
		for index, workload := range all {
			w.checkIsReady(workload, index == 3)
		}
	}
}

func (w *world) checkMetric(row string) {
	w.t.Helper()
	var text strings.Builder
	if err := w.controller.Metrics.Write(&text); err != nil {
		w.t.Fatal(err)
	}
	if !strings.Contains(text.String(), "\n"+row+"\n") {
		w.t.Errorf("no '%s' in %s", row, text.String())
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
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
		w.checkMetric("quoit_kueue_ending_groups 1")
	}
	b := w.cluster.addWorkload("b", 1)
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.cluster.react()
	w.cluster.remove(b)
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.checkMetric("quoit_kueue_ending_groups 2")
	w.cluster.endPods(b)
	w.cluster.endPods(a)
	w.cluster.remove(a)
	w.settle()
	w.checkMetric("quoit_kueue_ending_groups 0")
}

// --- crashes ---

// scenarios have each kind of event, and settle after each of them. They end with nothing left.
var scenarios = map[string]func(*world){
	"queue": func(w *world) {
		a := w.cluster.addWorkload("a", 2)
		w.settle()
		b := w.cluster.addWorkload("b", 1)
		w.settle()
		c := w.cluster.addWorkload("c", 2) // must wait
		w.settle()
		w.cluster.finish(a)
		w.settle()
		w.cluster.giveQuota(c)
		w.settle()
		w.cluster.remove(b)
		w.settle()
		w.cluster.endPods(b)
		w.cluster.finish(c)
		w.settle()
	},
	"loss": func(w *world) {
		a := w.cluster.addWorkload("a", 2)
		w.settle()
		w.cluster.removeNode("pool0-1") // there is another slice
		w.settle()
		w.cluster.removeNode("pool1-1") // there is none: a is evicted
		w.cluster.removeNode("pool2-1")
		w.settle()
		w.cluster.addNode("pool0", 1)
		w.cluster.addNode("pool1", 1)
		w.cluster.giveQuota(a)
		w.settle()
		w.cluster.evict(a)
		w.settle()
	},
}

func TestCrashAtEveryStepLeavesNothing(t *testing.T) {
	for name, scenario := range scenarios {
		steps := 0
		for ; ; steps++ {
			w := newWorld(t, 3)
			w.crashAfter = steps
			scenario(w)
			w.checkNothingLeft()
			if t.Failed() {
				t.Fatalf("%s: crash after %d steps", name, steps)
			}
			if w.crashes == 0 {
				break
			}
			w.ledger.Close()
		}
		if steps < 50 {
			t.Errorf("%s: only %d steps", name, steps)
		}
		t.Logf("%s: crashed at %d steps", name, steps)
	}
}

// A controller is paused before a step, another one takes over and works, and then the first one wakes and makes this one
// step before it notices.
func TestPausedLeaderAtEveryStep(t *testing.T) {
	for steps := 0; ; steps++ {
		w := newWorld(t, 3)
		b := w.cluster.addWorkload("b", 1)
		w.settle()
		a := w.cluster.addWorkload("a", 1)
		paused := w.controller
		isPaused, left := false, steps
		paused.Step = func(string) {
			if left == 0 && !isPaused {
				isPaused = true
				w.start()
				w.cluster.finish(b)
				w.cluster.finish(a)
				w.settle()
				w.cluster.addWorkload("c", 3)
				w.settle()
				paused.Guard = func() error { return ErrNotLeader }
			}
			left--
		}
		w.cluster.see()
		if err := paused.Pass(ctx); err != nil && !errors.Is(err, ErrNotLeader) && !errors.Is(err, ErrConflict) &&
			!errors.Is(err, quoit.NotNow) && !errors.Is(err, quoit.NotFound) {
			t.Fatalf("after %d steps: %v", steps, err)
		}
		if !isPaused {
			if steps < 5 {
				t.Errorf("only %d steps", steps)
			}
			break
		}
		w.checkAlways("awake")
		w.settle()
	}
}

// Random events, crashes, conflicts and old lists.
func TestRandomWalk(t *testing.T) {
	seed := int64(1)
	if text := os.Getenv("QUOIT_TEST_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseInt(text, 10, 64); err != nil {
			t.Fatalf("QUOIT_TEST_SEED: %v", err)
		}
	}
	t.Logf("QUOIT_TEST_SEED=%d", seed)
	for walk := int64(0); walk < 12; walk++ {
		random := rand.New(rand.NewSource(seed + walk))
		w := newWorld(t, 5)
		var all []*Workload
		for event := 0; event < 40; event++ {
			randomEvent(w, random, &all)
			for passes := random.Intn(3); passes > 0; passes-- {
				if random.Intn(3) == 0 {
					w.crashAfter = random.Intn(12)
				}
				var err error
				if random.Intn(3) == 0 {
					err = w.passOnOld()
				} else {
					err = w.pass()
				}
				if err != nil && !isExpected(err) {
					t.Fatalf("seed %d: event %d: %v", seed+walk, event, err)
				}
				w.crashAfter = -1
				if random.Intn(2) == 0 {
					w.cluster.react()
				}
			}
		}
		for _, workload := range all {
			if workload.MayHold() {
				w.cluster.finish(workload)
			}
			w.cluster.endPods(workload)
		}
		w.settle()
		w.checkNothingLeft()
		if t.Failed() {
			t.Fatalf("seed %d", seed+walk)
		}
	}
}

// isExpected returns whether each part of the error of a pass can come from old lists.
func isExpected(err error) bool {
	if parts, ok := err.(interface{ Unwrap() []error }); ok {
		return !slices.ContainsFunc(parts.Unwrap(), func(part error) bool { return !isExpected(part) })
	}
	return errors.Is(err, ErrConflict)
}

func randomEvent(w *world, random *rand.Rand, all *[]*Workload) {
	pool, worker := fmt.Sprintf("pool%d", random.Intn(5)), random.Intn(4)
	node := fmt.Sprintf("%s-%d", pool, worker)
	var workload *Workload
	if len(*all) > 0 {
		workload = (*all)[random.Intn(len(*all))]
	}
	switch event := random.Intn(10); {
	case event < 3 || workload == nil:
		*all = append(*all, w.cluster.addWorkload(fmt.Sprintf("w%d", len(*all)), 1+random.Int63n(3)))
	case event == 3 && workload.MayHold():
		w.cluster.finish(workload)
	case event == 4 && workload.MayHold():
		w.cluster.evict(workload)
	case event == 5 && !workload.MayHold() && w.cluster.workloads[workload.Metadata.UID] != nil && !isTrue(workload.Status.Conditions, "Finished"):
		w.cluster.giveQuota(workload)
	case event == 6:
		w.cluster.remove(workload)
		workload.Metadata.DeletionTimestamp = "2026-05-01T09:00:00Z"
	case event == 7:
		w.cluster.removeNode(node)
	case event == 8 && w.cluster.nodes[node] == nil:
		w.cluster.addNode(pool, worker)
	case event == 9 && w.cluster.nodes[node] != nil:
		w.cluster.touch(&w.cluster.nodes[node].Metadata) // conflicts
	}
	for _, workload := range *all {
		if !workload.MayHold() && random.Intn(2) == 0 {
			w.cluster.endPods(workload)
		}
	}
}

// A pass in which nothing changes, on 4,096 nodes with 512 running Workloads.
func BenchmarkPass(b *testing.B) {
	w := newWorld(b, 1024)
	for workload := 0; workload < 512; workload++ {
		w.cluster.addWorkload(fmt.Sprintf("w%d", workload), 1)
	}
	w.controller.Step = nil
	for pass := 0; pass < 2; pass++ {
		if err := w.pass(); err != nil {
			b.Fatal(err)
		}
	}
	w.cluster.see()
	for b.Loop() {
		if err := w.passOnOld(); err != nil {
			b.Fatal(err)
		}
	}
}
