// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"errors"
	"fmt"
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

// mustPass makes a pass that must succeed.
func (w *world) mustPass() {
	w.t.Helper()
	if err := w.pass(); err != nil {
		w.t.Fatal(err)
	}
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
