// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import "time"

// Start tells when a request fits, and for which groups it waits.
type Start struct {
	Time time.Time  // the zero time if the request has to wait for a group whose end is unknown
	Ends []GroupEnd // in the order of the ends; empty if the request fits now
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
	defer C.quoit_start_free(found)
	start := &Start{Time: timeFromC(int64(C.quoit_start_get_time_ms(found)))}
	for i := C.uint32_t(0); i < C.quoit_start_get_n_ends(found); i++ {
		start.Ends = append(start.Ends, GroupEnd{
			Group:    newGroup(C.quoit_start_dup_end_group(found, i)),
			Time:     timeFromC(int64(C.quoit_start_get_end_ms(found, i))),
			Estimate: bool(C.quoit_start_end_is_estimate(found, i)),
			Overdue:  bool(C.quoit_start_end_is_overdue(found, i)),
		})
	}
	return start, nil
}
