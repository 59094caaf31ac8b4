// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import "time"

// Backfill says which requests of a queue may start although an earlier one has to wait.
type Backfill int

// The kinds of backfill.
const (
	BackfillNone         Backfill = C.QUOIT_BACKFILL_NONE         // none of them: the queue is served strictly in its order
	BackfillEasy         Backfill = C.QUOIT_BACKFILL_EASY         // those that do not delay the first request that has to wait and whose start is known
	BackfillConservative Backfill = C.QUOIT_BACKFILL_CONSERVATIVE // those that do not delay any earlier request that has to wait
)

var backfillNames = map[Backfill]string{
	BackfillNone: "none", BackfillEasy: "easy", BackfillConservative: "conservative",
}

// String returns the name of the backfill.
func (b Backfill) String() string { return nameOf(backfillNames, b) }

// QueuedState is what a plan says about one request of a queue.
type QueuedState int

// The states of a queued request.
const (
	QueuedStarts  QueuedState = C.QUOIT_QUEUED_STARTS  // it starts now, and the fork has its group; or its key has a group already
	QueuedWaits   QueuedState = C.QUOIT_QUEUED_WAITS   // it waits
	QueuedRefused QueuedState = C.QUOIT_QUEUED_REFUSED // it would be refused even if all groups had ended
)

var queuedStateNames = map[QueuedState]string{
	QueuedStarts: "starts", QueuedWaits: "waits", QueuedRefused: "refused",
}

// String returns the name of the state.
func (s QueuedState) String() string { return nameOf(queuedStateNames, s) }

// Queued is what a plan says about one request of a queue.
type Queued struct {
	State QueuedState
	// Start is the time of the plan for a request that starts now. For one that waits, it is when the request is to start.
	// It is the zero time if the start is unknown, the request is refused, or the plan promises it nothing: with
	// BackfillEasy, all that wait after the first one with a known start; with BackfillNone, all that wait after the first
	// one.
	Start time.Time
	// Alternative is which alternative of the request starts, or is promised the start, counted from 1; 0 is the request
	// itself, or nothing starts.
	Alternative int
	Group       *Group // of a request that starts now; nil otherwise. A commit of the fork can give it another id
	Err         error  // why the request is refused: with the code that Ledger.Reserve would return
}

// PlanQueue goes through a queue in its order, the first request first, and reserves on the fork what starts now. Commit
// the fork with Ledger.CommitFork, and plan again when a group ends, a request arrives or the fleet changes. The result
// has one element for each request.
//
// Groups are assumed to end as for Snapshot.FindStart. A request of the queue needs its slices for its expected run
// time, or else until its lease ends, and forever if it has neither. A request that must not wait for another
// one is given slices so that enough are left, at each time, for what the plan has promised to the earlier ones. The
// slices of a waiting request are chosen when it starts.
//
// A request whose start is unknown, because it waits for a group without a known end, is promised nothing and delays
// nobody, except with BackfillNone. Bundles that have to wait are promised the nodes that they would get if only groups
// ended that have started; no other request of the queue gets these nodes before. If an earlier request needs them, the
// start of the bundles is unknown.
//
// It fails with Invalid for a clock or backfill that is not valid, for a request that is nil or cannot be built, and
// after Close. What else is wrong with a single request is a part of the result.
func (f *Fork) PlanQueue(requests []*Request, backfill Backfill, now time.Time) ([]Queued, error) {
	cRequests := make([]*C.QuoitRequest, 0, len(requests)+1)
	defer func() {
		for _, request := range cRequests {
			C.quoit_request_free(request)
		}
	}()
	for _, request := range requests {
		cRequest, err := request.toC()
		if err != nil {
			return nil, err
		}
		cRequests = append(cRequests, cRequest)
	}
	var plan *C.QuoitQueuePlan
	err := f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		array := append(cRequests, nil)
		plan = C.quoit_fork_plan_queue(c, &array[0], C.uint32_t(len(requests)), C.QuoitBackfill(backfill),
			C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
	if err != nil {
		return nil, err
	}
	defer C.quoit_queue_plan_free(plan)
	rows := make([]Queued, int(C.quoit_queue_plan_get_n_requests(plan)))
	for i := range rows {
		rows[i] = readQueued(plan, C.uint32_t(i))
	}
	return rows, nil
}

func readQueued(plan *C.QuoitQueuePlan, i C.uint32_t) Queued {
	row := Queued{
		State:       QueuedState(C.quoit_queue_plan_get_state(plan, i)),
		Start:       timeFromC(int64(C.quoit_queue_plan_get_start_ms(plan, i))),
		Alternative: int(C.quoit_queue_plan_get_alternative(plan, i)),
	}
	if group := C.quoit_queue_plan_dup_group(plan, i); group != nil {
		row.Group = newGroup(group)
	}
	var gerror *C.GError
	C.quoit_queue_plan_check(plan, i, &gerror)
	row.Err = errorFromC(gerror)
	return row
}
