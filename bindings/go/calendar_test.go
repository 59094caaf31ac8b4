// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"quoit"
)

var evening, morning = now.Add(8 * time.Hour), now.Add(16 * time.Hour)

func stateAt(t *testing.T, ledger *quoit.Ledger, name string, at time.Time) quoit.GroupState {
	t.Helper()
	snapshot := must[*quoit.Snapshot](t)(newSnapshot(t, ledger).AsOf(at))
	defer snapshot.Close()
	group := must[*quoit.Group](t)(snapshot.Group(name))
	defer group.Close()
	return must[quoit.GroupInfo](t)(group.Info()).State
}

func TestReservationAheadHoldsNothingBeforeItBegins(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	group := must[*quoit.Group](t)(ledger.ReserveAt(bg, sliceRequest("night", 2), evening, morning, now))
	defer group.Close()
	info := must[quoit.GroupInfo](t)(group.Info())
	if info.State != quoit.GroupAhead || !info.Begins.Equal(evening) || !info.Until.Equal(morning) {
		t.Errorf("%+v: expected a reservation ahead", info)
	}
	day := sliceRequest("day", 3)
	day.Lease = 8 * time.Hour
	reserve(t, ledger, day)
	_, err := ledger.Renew(bg, "day", 9*time.Hour, now)
	wantCode(t, err, quoit.Conflict)
	if state := stateAt(t, ledger, "night", evening.Add(-time.Millisecond)); state != quoit.GroupAhead {
		t.Errorf("%v before the beginning", state)
	}
	if state := stateAt(t, ledger, "night", evening); state != quoit.GroupReserved {
		t.Errorf("%v at the beginning", state)
	}
	long := must[*quoit.Group](t)(ledger.ReserveAt(bg, sliceRequest("long", 1), morning, time.Time{}, now))
	defer long.Close()
	if info := must[quoit.GroupInfo](t)(long.Info()); !info.Until.IsZero() {
		t.Errorf("%v: expected no end", info.Until)
	}
}

func TestBadReservationsAheadChangeNothing(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	leased := sliceRequest("x", 1)
	leased.Lease = time.Hour
	for _, bad := range []struct {
		request     *quoit.Request
		from, until time.Time
		code        quoit.Code
	}{
		{sliceRequest("x", 1), now, morning, quoit.Invalid},
		{sliceRequest("x", 1), time.Time{}, morning, quoit.Invalid},
		{sliceRequest("x", 1), evening, evening, quoit.Invalid},
		{sliceRequest("x", 1), evening, now, quoit.Invalid},
		{sliceRequest("x", 1), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), time.Time{}, quoit.Invalid},
		{leased, evening, morning, quoit.Invalid},
		{sliceRequest("x", 4), evening, morning, quoit.Never},
		{sliceRequest("a\x00b", 1), evening, morning, quoit.Invalid},
	} {
		_, err := ledger.ReserveAt(bg, bad.request, bad.from, bad.until, now)
		wantCode(t, err, bad.code)
		_, err = fork.ReserveAt(bad.request, bad.from, bad.until, now)
		wantCode(t, err, bad.code)
	}
	if seq := must[uint64](t)(newSnapshot(t, ledger).Seq()); seq != 1 {
		t.Errorf("entry %d: expected no entry after the first", seq)
	}
	must[*quoit.Group](t)(ledger.ReserveAt(bg, sliceRequest("night", 3), evening, morning, now)).Close()
	_, err := ledger.ReserveAt(bg, sliceRequest("x", 1), evening, morning, now)
	wantCode(t, err, quoit.NotNow)
	var refusal *quoit.Error
	if !errors.As(err, &refusal) || refusal.Report() == nil {
		t.Errorf("%v: expected a report", err)
	}
}

func TestWindowsAreAddedListedAndRemoved(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3 pool=big zone=z")
	must[*quoit.Group](t)(ledger.ReserveAt(bg, sliceRequest("night", 2), evening, morning, now)).Close()
	service := quoit.Window{Name: "service", Scope: quoit.WindowSlice, Target: "big-0", From: evening, Until: morning}
	zone := quoit.Window{Name: "zone", Scope: quoit.WindowZone, Target: "z", From: morning, Until: morning.Add(time.Hour)}
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	for _, window := range []quoit.Window{zone, service} {
		if err := fork.AddWindow(window, now); err != nil {
			t.Fatal(err)
		}
	}
	if err := fork.RemoveWindow("zone", now); err != nil {
		t.Fatal(err)
	}
	wantCode(t, fork.RemoveWindow("zone", now), quoit.NotFound)
	if err := ledger.CommitFork(bg, fork, now); err != nil {
		t.Fatal(err)
	}
	if err := ledger.AddWindow(bg, zone, now); err != nil {
		t.Fatal(err)
	}
	windows := must[[]quoit.Window](t)(newSnapshot(t, ledger).Windows())
	if !reflect.DeepEqual(windows, []quoit.Window{service, zone}) {
		t.Errorf("%+v: expected both windows", windows)
	}
	bad := func(name string, scope quoit.WindowScope, target string, from, until time.Time, code quoit.Code) {
		t.Helper()
		window := quoit.Window{Name: name, Scope: scope, Target: target, From: from, Until: until}
		wantCode(t, ledger.AddWindow(bg, window, now), code)
		wantCode(t, fork.AddWindow(window, now), code)
	}
	bad("service", quoit.WindowPool, "big", evening, morning, quoit.Conflict)
	bad("x", quoit.WindowPool, "big", evening, morning, quoit.Conflict)
	bad("x", quoit.WindowNode, "nowhere", evening, morning, quoit.NotFound)
	bad("x", quoit.WindowNode, "a\x00b", evening, morning, quoit.Invalid)
	bad("", quoit.WindowZone, "z", evening, morning, quoit.Invalid)
	bad("x", 0, "z", evening, morning, quoit.Invalid)
	bad("x", 5, "z", evening, morning, quoit.Invalid)
	bad("x", quoit.WindowZone, "z", morning, evening, quoit.Invalid)
	if err := ledger.RemoveWindow(bg, "service", now); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ledger.RemoveWindow(bg, "service", now), quoit.NotFound)
	if err := ledger.Verify(bg); err != nil {
		t.Fatal(err)
	}
}
