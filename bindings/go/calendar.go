// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"time"

	"quoit/internal/cconv"
)

// ReserveAt reserves all slices or bundles of the request, or none, from a later time on: a reservation ahead. until is
// when the group ends, after from; the zero time means that it ends when it is released. The request has no Lease.
//
// Until from, the group is GroupAhead: it holds nothing, and groups whose leases end before can use its slices. No call
// grants or renews what could still have them at from. A group without a lease counts forever, whatever its expected
// end. Which slices the group gets can change until it begins; that it gets them does not change while they live. If
// there are none because nodes fail, the group begins with dead nodes, and Repair helps. Renew can extend the end after
// the group has begun.
//
// It fails like Reserve, with a report on the time of the reservation, and with Invalid for times that are not in
// order, or for a request with a lease.
func (l *Ledger) ReserveAt(ctx context.Context, request *Request, from, until, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	begin, end := C.int64_t(unixMs(from)), C.int64_t(unixMsOrZero(until))
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		group = C.quoit_ledger_reserve_at(c, cRequest, begin, end, C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// ReserveAt is like Ledger.ReserveAt, on the fork only. It fails like Ledger.ReserveAt.
func (f *Fork) ReserveAt(request *Request, from, until, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	begin, end := C.int64_t(unixMs(from)), C.int64_t(unixMsOrZero(until))
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		group = C.quoit_fork_reserve_at(c, cRequest, begin, end, C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// WindowScope says what the target of a window names.
type WindowScope int

// The scopes of windows.
const (
	WindowNode  WindowScope = C.QUOIT_WINDOW_NODE
	WindowSlice WindowScope = C.QUOIT_WINDOW_SLICE
	WindowPool  WindowScope = C.QUOIT_WINDOW_POOL
	WindowZone  WindowScope = C.QUOIT_WINDOW_ZONE
)

var windowScopeNames = map[WindowScope]string{
	WindowNode: "NODE", WindowSlice: "SLICE", WindowPool: "POOL", WindowZone: "ZONE",
}

// String returns the name of the scope.
func (s WindowScope) String() string { return nameOf(windowScopeNames, s) }

// Window is a window of the calendar: its nodes are not available from one time until another.
type Window struct {
	Name   string
	Scope  WindowScope // what Target names
	Target string      // the name of the node, slice, pool or zone, as it was given
	From   time.Time   // when the window begins
	Until  time.Time   // when the window ends
}

// windowTexts converts the texts of a window. The caller frees the arguments.
func windowTexts(window Window) (*cconv.Arguments, *C.char, *C.char) {
	arguments := &cconv.Arguments{}
	name := (*C.char)(arguments.Text("name", window.Name))
	return arguments, name, (*C.char)(arguments.Text("target", window.Target))
}

// AddWindow adds a window of the calendar. Nothing is granted or renewed on its nodes that could still have them when
// the window begins; reservations ahead get other slices, and groups that already have the nodes do not end. Nodes that
// are imported later belong to the window of their slice, pool or zone too. The window ends by itself at Until. Adding
// the same window again changes nothing.
//
// It fails with Conflict if there is another window of that name, or if reservations ahead would not get their slices,
// Invalid if the name, the scope or the times are not valid or the target is ambiguous, and NotFound if the fleet has
// no such target.
func (l *Ledger) AddWindow(ctx context.Context, window Window, now time.Time) error {
	arguments, name, target := windowTexts(window)
	defer arguments.Free()
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_add_window(c, name, C.QuoitWindowScope(window.Scope), target, C.int64_t(unixMs(window.From)),
			C.int64_t(unixMs(window.Until)), C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
}

// AddWindow is like Ledger.AddWindow, on the fork only. It fails like Ledger.AddWindow.
func (f *Fork) AddWindow(window Window, now time.Time) error {
	arguments, name, target := windowTexts(window)
	defer arguments.Free()
	if err := arguments.Err(); err != nil {
		return err
	}
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		C.quoit_fork_add_window(c, name, C.QuoitWindowScope(window.Scope), target, C.int64_t(unixMs(window.From)),
			C.int64_t(unixMs(window.Until)), C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
}

// RemoveWindow removes a window of the calendar.
//
// It fails with NotFound if there is no window of that name.
func (l *Ledger) RemoveWindow(ctx context.Context, name string, now time.Time) error {
	return l.withName(ctx, "name", name, func(c *C.QuoitLedger, text *C.char, gerror **C.GError) {
		C.quoit_ledger_remove_window(c, text, C.int64_t(unixMs(now)), gerror)
	})
}

// RemoveWindow is like Ledger.RemoveWindow, on the fork only. It fails like Ledger.RemoveWindow.
func (f *Fork) RemoveWindow(name string, now time.Time) error {
	return f.withName("name", name, func(c *C.QuoitFork, text *C.char, gerror **C.GError) {
		C.quoit_fork_remove_window(c, text, C.int64_t(unixMs(now)), gerror)
	})
}

// Windows returns the windows of the calendar that have not ended, in the order of their beginnings.
func (s *Snapshot) Windows() ([]Window, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_windows(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) Window {
			return Window{
				Name:   C.GoString(C.quoit_snapshot_get_window_name(c, index)),
				Scope:  WindowScope(C.quoit_snapshot_get_window_scope(c, index)),
				Target: C.GoString(C.quoit_snapshot_get_window_target(c, index)),
				From:   timeFromC(int64(C.quoit_snapshot_get_window_from_ms(c, index))),
				Until:  timeFromC(int64(C.quoit_snapshot_get_window_until_ms(c, index))),
			}
		})
}
