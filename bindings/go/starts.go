// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"

	"quoit/internal/cconv"
)

// Start tells when a request fits, and for which groups it waits.
type Start struct {
	Time time.Time  // the zero time if the request has to wait for a group whose end is unknown
	Ends []GroupEnd // in the order of the ends; empty if the request fits now
	// Alternative is which alternative of the request fits first, counted from 1; 0 is the request itself.
	Alternative int
}

// GroupEnd is the end of a group for which a request waits.
type GroupEnd struct {
	Group    *Group
	Time     time.Time
	Estimate bool // it is the expected end; otherwise it is the end of a lease
	Overdue  bool // the expected end has passed
}

// FindStart finds the earliest time from which on the request fits. Groups are assumed to end at their expected end, or at
// the end of their lease if they have no expected end. An expected end that has passed counts as the next millisecond. A
// group with neither is assumed to stay. Nothing else is requested until then, and nodes stay as they are.
//
// It fails with Never if the request is for slices and would not fit if all groups ended, Invalid if it is incomplete,
// contradictory or not in the catalogue, and NotFound if it names an unknown pool, slice or node.
func (s *Snapshot) FindStart(request *Request, now time.Time) (*Start, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var found *C.QuoitStart
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found = C.quoit_snapshot_find_start(c, cRequest, C.int64_t(unixMs(now)), &gerror)
		return errorFromC(gerror)
	})
	if err != nil {
		return nil, err
	}
	return takeStart(found), nil
}

// takeStart converts a C start and frees it.
func takeStart(found *C.QuoitStart) *Start {
	defer C.quoit_start_free(found)
	start := &Start{
		Time:        timeFromC(int64(C.quoit_start_get_time_ms(found))),
		Alternative: int(C.quoit_start_get_alternative(found)),
	}
	for i := C.uint32_t(0); i < C.quoit_start_get_n_ends(found); i++ {
		start.Ends = append(start.Ends, GroupEnd{
			Group:    newGroup(C.quoit_start_dup_end_group(found, i)),
			Time:     timeFromC(int64(C.quoit_start_get_end_ms(found, i))),
			Estimate: bool(C.quoit_start_end_is_estimate(found, i)),
			Overdue:  bool(C.quoit_start_end_is_overdue(found, i)),
		})
	}
	return start
}

// TestGrowth finds how much a group of slices could grow now: the number of slices that it could have after
// Ledger.ResizeBetween, which is its present number if it cannot grow, and the most that its request allows, which is at
// least its present number. It changes nothing.
//
// It fails like Ledger.Resize with Invalid, NotFound, Conflict and Expired, and with Conflict if the group has not begun.
func (s *Snapshot) TestGrowth(group string) (slices, most int, err error) {
	var arguments cconv.Arguments
	name := (*C.char)(arguments.Text("group", group))
	if err := arguments.Err(); err != nil {
		return 0, 0, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var cNow, cMost C.uint32_t
		var gerror *C.GError
		C.quoit_snapshot_test_growth(c, name, &cNow, &cMost, &gerror)
		slices, most = int(cNow), int(cMost)
		return errorFromC(gerror)
	})
	return slices, most, err
}

// FindGrowth finds the earliest time from which on a group could have that number of slices. It assumes what FindStart
// assumes, and that the group itself does not end before.
//
// It fails like TestGrowth, with Invalid for a number below 1 or outside the range of the request, and with Never if the
// group could not have so many slices if all other groups ended.
func (s *Snapshot) FindGrowth(group string, slices int64, now time.Time) (*Start, error) {
	var arguments cconv.Arguments
	name := (*C.char)(arguments.Text("group", group))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	var found *C.QuoitStart
	err := s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found = C.quoit_snapshot_find_growth(c, name, C.int64_t(slices), C.int64_t(unixMs(now)), &gerror)
		return errorFromC(gerror)
	})
	if err != nil {
		return nil, err
	}
	return takeStart(found), nil
}
