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

// longWait is much longer than a test takes. A call that waits so long has not been interrupted.
const longWait = time.Minute

// withLockedDatabase calls run while ledger holds the lock of the database.
func withLockedDatabase(t *testing.T, ledger *quoit.Ledger, run func()) {
	t.Helper()
	batchStarted, endBatch := make(chan struct{}), make(chan struct{})
	batchResult := make(chan error)
	go func() {
		batchResult <- ledger.Batch(bg, func() error {
			close(batchStarted)
			<-endBatch
			return nil
		})
	}()
	<-batchStarted
	run()
	close(endBatch)
	if err := <-batchResult; err != nil {
		t.Error(err)
	}
}

func TestContextEndsWaitForAnotherWriter(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x2", longWait)
	withLockedDatabase(t, first, func() {
		ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		group, err := second.Reserve(ctx, sliceRequest("train", 1), now)
		if group != nil || !errors.Is(err, quoit.Cancelled) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: expected the error of the context", err)
		}
		if took := time.Since(start); took > longWait/4 || took < 50*time.Millisecond {
			t.Errorf("the call took %v: expected about 50 ms", took)
		}
	})
	if groups := must[[]*quoit.Group](t)(newSnapshot(t, second).Groups()); len(groups) != 0 {
		t.Errorf("%v: expected no group", groups)
	}
	reserve(t, second, sliceRequest("train", 1))
}

func TestEndedContextStartsNoChange(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	ctx, cancel := context.WithCancel(bg)
	cancel()
	_, err := ledger.Reserve(ctx, sliceRequest("train", 1), now)
	if !errors.Is(err, quoit.Cancelled) || !errors.Is(err, context.Canceled) {
		t.Errorf("%v: expected the error of the context", err)
	}
	if err := ledger.Batch(ctx, func() error { t.Error("the batch has started"); return nil }); err == nil {
		t.Error("a batch succeeded although its context had ended")
	}
}

func TestContextEndsWaitForGoroutineOfTheSameLedger(t *testing.T) {
	ledger, _ := newDatabase(t, "v6e 4x4 x2", longWait)
	withLockedDatabase(t, ledger, func() {
		ctx, cancel := context.WithTimeout(bg, 50*time.Millisecond)
		defer cancel()
		_, err := ledger.Reserve(ctx, sliceRequest("train", 1), now)
		if !errors.Is(err, quoit.Cancelled) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v: expected the error of the context", err)
		}
	})
}

func TestOtherCallsKeepWaitingWhenOneContextEnds(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x4", longWait)
	var others sync.WaitGroup
	withLockedDatabase(t, first, func() {
		for _, name := range []string{"a", "b"} {
			others.Add(1)
			go func(name string) {
				defer others.Done()
				ctx, cancel := context.WithCancel(bg)
				defer cancel()
				if name == "b" {
					ctx = bg
				}
				if _, err := second.Reserve(ctx, sliceRequest(name, 1), now); err != nil {
					t.Errorf("%s: %v: expected that it waits and then succeeds", name, err)
				}
			}(name)
		}
		for try := 0; try < 5; try++ {
			ctx, cancel := context.WithTimeout(bg, 20*time.Millisecond)
			_, err := second.Reserve(ctx, sliceRequest("c", 1), now)
			wantCode(t, err, quoit.Cancelled)
			cancel()
		}
	})
	others.Wait()
	if groups := must[[]*quoit.Group](t)(newSnapshot(t, second).Groups()); len(groups) != 2 {
		t.Errorf("%v: expected the groups of the two calls that waited", groups)
	}
}

func TestInterruptEndsWaitsOfAllCalls(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x4", longWait)
	var others sync.WaitGroup
	stop := make(chan struct{})
	withLockedDatabase(t, first, func() {
		for _, name := range []string{"a", "b", "c"} {
			others.Add(1)
			go func(name string) {
				defer others.Done()
				_, err := second.Reserve(bg, sliceRequest(name, 1), now)
				wantCode(t, err, quoit.Cancelled)
				if errors.Is(err, context.Canceled) {
					t.Errorf("%v: expected no error of a context, because none has ended", err)
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

func TestZeroWaitFailsWithBusyImmediately(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x2", 0)
	withLockedDatabase(t, first, func() {
		_, err := second.Reserve(bg, sliceRequest("train", 1), now)
		wantCode(t, err, quoit.Busy)
	})
}

func TestConcurrentReservationsNeverAllocateASliceTwice(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x3", longWait)
	var all sync.WaitGroup
	for index, ledger := range []*quoit.Ledger{first, second, first, second} {
		all.Add(1)
		go func(name string, ledger *quoit.Ledger) {
			defer all.Done()
			for round := 0; round < 10; round++ {
				group, err := ledger.Reserve(bg, sliceRequest(name, 1), now)
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
