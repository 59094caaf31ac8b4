// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"quoit"
)

var (
	now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	bg  = context.Background()
)

// newLedger returns a ledger in memory with a fleet, closed at the end of the test.
func newLedger(t *testing.T, fleet string) *quoit.Ledger {
	t.Helper()
	ledger := quoit.OpenMemory()
	t.Cleanup(ledger.Close)
	if _, err := ledger.ImportFleetText(bg, fleet, now); err != nil {
		t.Fatal(err)
	}
	return ledger
}

// newDatabase creates a database with a fleet, and opens it a second time, like another process does.
func newDatabase(t *testing.T, fleet string, wait time.Duration) (first, second *quoit.Ledger) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "quoit.db")
	first, err := quoit.Create(path, wait)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(first.Close)
	if _, err := first.ImportFleetText(bg, fleet, now); err != nil {
		t.Fatal(err)
	}
	if second, err = quoit.Open(path, wait); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	return first, second
}

// sliceRequest returns a request for a number of v6e slices.
func sliceRequest(name string, count int64) *quoit.Request {
	return &quoit.Request{Name: name, Accelerator: "v6e", Topology: "4x4", Slices: count}
}

func wantCode(t *testing.T, err error, code quoit.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("%v: expected %v", err, code)
	}
}

// must returns a function that returns the result of a call and fails the test on an error.
func must[Value any](t *testing.T) func(Value, error) Value {
	return func(value Value, err error) Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func newSnapshot(t *testing.T, ledger *quoit.Ledger) *quoit.Snapshot {
	t.Helper()
	snapshot, err := ledger.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(snapshot.Close)
	return snapshot
}

func reserve(t *testing.T, ledger *quoit.Ledger, request *quoit.Request) *quoit.Group {
	t.Helper()
	group, err := ledger.Reserve(bg, request, now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(group.Close)
	return group
}
