// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import "time"

// Preemption is the set of groups to release so that a request fits.
type Preemption struct {
	Groups   []*Group // by priority, then by cost; empty if the request fits now. None of them can be left out
	Cheapest bool     // it is proven that no other set is cheaper
	// Alternative is which alternative of the request fits then, counted from 1; 0 is the request itself. It is the
	// cheapest one.
	Alternative int
}

// FindPreemption finds the cheapest set of groups whose release makes the request fit now. It changes nothing: release the
// groups and reserve the request on a fork, and commit the fork.
//
// Only groups with a lower priority than the request are released, and only those that callers of this ledger have made.
// Sets of groups are compared by the greatest priority of a released group, then by the chips of all released groups, and
// then by the chip seconds that these groups have run.
//
// For slices the result is the cheapest set, except with more than 16 million pairs of a group and a needed slice (the chips
// are then at most twice the least possible number), or if more than 12 groups are connected by slices that they share. For
// bundles, if a quota does not admit the request then, or if reservations ahead are in the way, all sets are tried if at
// most 10 groups have a lower priority. Otherwise groups are released by priority and cost until the request fits, and
// those that need not be released stay.
//
// It fails with NotNow if the request does not fit even if all groups of a lower priority are released, Never if it is for
// slices and would not fit if all groups ended, Invalid if it is incomplete, contradictory or not in the catalogue, and
// NotFound if it names an unknown pool, slice or node.
func (s *Snapshot) FindPreemption(request *Request, now time.Time) (*Preemption, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var found *C.QuoitPreemption
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found = C.quoit_snapshot_find_preemption(c, cRequest, C.int64_t(unixMs(now)), &gerror)
		return errorFromC(gerror)
	})
	if err != nil {
		return nil, err
	}
	defer C.quoit_preemption_free(found)
	preemption := &Preemption{
		Cheapest:    bool(C.quoit_preemption_is_cheapest(found)),
		Alternative: int(C.quoit_preemption_get_alternative(found)),
	}
	for i := C.uint32_t(0); i < C.quoit_preemption_get_n_groups(found); i++ {
		preemption.Groups = append(preemption.Groups, newGroup(C.quoit_preemption_dup_group(found, i)))
	}
	return preemption, nil
}
