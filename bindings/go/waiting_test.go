// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"quoit"
)

// patience is longer than any call should wait that must return at once.
const patience = time.Minute

// holding runs meanwhile while ledger holds the database's lock.
func holding(t *testing.T, ledger *quoit.Ledger, meanwhile func()) {
	t.Helper()
	begun, enough := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	go func() {
		ended <- ledger.Batch(bg, func() error {
			close(begun)
			<-enough
			return nil
		})
	}()
	<-begun
	meanwhile()
	close(enough)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAContextEndsTheWaitForAnotherWriter(t *testing.T) {
	first, second := databaseOf(t, "v6e 4x4 x2", patience)
	holding(t, first, func() {
		ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
		defer cancel()
		begun := time.Now()
		group, err := second.Reserve(ctx, slices("train", 1), now)
		if group != nil || !errors.Is(err, quoit.Cancelled) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: expected that the context ended it", err)
		}
		if took := time.Since(begun); took > patience/4 || took < 50*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
	if groups := must[[]*quoit.Group](t)(snapshotOf(t, second).Groups()); len(groups) != 0 {
		t.Errorf("%v: expected no group", groups)
	}
	reserve(t, second, slices("train", 1))
}

func TestAContextThatHasEndedBeginsNothing(t *testing.T) {
	ledger := ledgerOf(t, "v6e 4x4 x2")
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_, err := ledger.Reserve(ctx, slices("train", 1), now)
	if !errors.Is(err, quoit.Cancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v: expected that the context ended it", err)
	}
	if err := ledger.Batch(ctx, func() error { t.Error("the batch was begun"); return nil }); err == nil {
		t.Error("a batch of no context was made")
	}
}

func TestAContextEndsTheWaitForAGoroutineOfTheSameLedger(t *testing.T) {
	ledger, _ := databaseOf(t, "v6e 4x4 x2", patience)
	holding(t, ledger, func() {
		ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
		defer cancel()
		_, err := ledger.Reserve(ctx, slices("train", 1), now)
		if !errors.Is(err, quoit.Cancelled) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: expected that the context ended it", err)
		}
	})
}

func TestTheEndOfOneContextLeavesOtherCallsWaiting(t *testing.T) {
	first, second := databaseOf(t, "v6e 4x4 x4", patience)
	var others sync.WaitGroup
	holding(t, first, func() {
		for _, name := range []string{"a", "b"} {
			others.Add(1)
			go func(name string) {
				defer others.Done()
				ctx, cancel := context.WithCancel(bg)
				defer cancel()
				if name == "b" {
					ctx = bg
				}
				if _, err := second.Reserve(ctx, slices(name, 1), now); err != nil {
					t.Errorf("%s: %v: expected that it waits", name, err)
				}
			}(name)
		}
		for try := 0; try < 5; try++ {
			ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
			_, err := second.Reserve(ctx, slices("c", 1), now)
			want(t, err, quoit.Cancelled)
			cancel()
		}
	})
	others.Wait()
	if groups := must[[]*quoit.Group](t)(snapshotOf(t, second).Groups()); len(groups) != 2 {
		t.Errorf("%v: expected those that waited", groups)
	}
}

func TestInterruptEndsTheWaitsOfAllCalls(t *testing.T) {
	first, second := databaseOf(t, "v6e 4x4 x4", patience)
	var others sync.WaitGroup
	stop := make(chan struct{})
	holding(t, first, func() {
		for _, name := range []string{"a", "b", "c"} {
			others.Add(1)
			go func(name string) {
				defer others.Done()
				_, err := second.Reserve(bg, slices(name, 1), now)
				want(t, err, quoit.Cancelled)
				if errors.Is(err, context.Canceled) {
					t.Errorf("%v: no context has ended", err)
				}
			}(name)
		}
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
					if err := second.Interrupt(); err != nil {
						t.Error(err)
					}
				}
			}
		}()
		others.Wait()
		close(stop)
	})
}

func TestAWaitOfNoneIsBusyAtOnce(t *testing.T) {
	first, second := databaseOf(t, "v6e 4x4 x2", 0)
	holding(t, first, func() {
		_, err := second.Reserve(bg, slices("train", 1), now)
		want(t, err, quoit.Busy)
	})
}

func TestGoroutinesThatReserveAndReleaseHoldNothingTwice(t *testing.T) {
	first, second := databaseOf(t, "v6e 4x4 x3", patience)
	var all sync.WaitGroup
	for index, ledger := range []*quoit.Ledger{first, second, first, second} {
		all.Add(1)
		go func(name string, ledger *quoit.Ledger) {
			defer all.Done()
			for round := 0; round < 10; round++ {
				group, err := ledger.Reserve(bg, slices(name, 1), now)
				if errors.Is(err, quoit.NotNow) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				snapshot, err := ledger.Snapshot()
				if err == nil {
					err = snapshot.Check()
					snapshot.Close()
				}
				if err != nil {
					t.Error(err)
				}
				if err := ledger.Release(bg, group.Handle(), now); err != nil {
					t.Error(err)
				}
				group.Close()
			}
		}(string(rune('a'+index)), ledger)
	}
	all.Wait()
	if err := first.Verify(bg); err != nil {
		t.Error(err)
	}
}
