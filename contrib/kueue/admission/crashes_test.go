// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strconv"
	"testing"

	"quoit"
)

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
		w.cluster.removeNode("pool1-1") // no other slice is free: a is evicted
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
