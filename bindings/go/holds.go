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

// Reserve places all slices or bundles of the request, or none, and writes the group in one transaction. A retry with
// the same request key returns the group of the first call and reserves nothing.
//
// It fails with NotNow or Never if the request does not fit (the message has the main reason; Error.Report has
// all reasons and what would help), Conflict if the name is in use, or the key belongs to another request or to an
// unconfirmed hold, Expired if the lease of the request's owner has ended (SetOwner starts a new one), Invalid if the
// request is incomplete, not in the catalogue or contradictory, and NotFound if it names an unknown pool, slice or
// node.
func (l *Ledger) Reserve(ctx context.Context, request *Request, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		group = C.quoit_ledger_reserve(c, cRequest, C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// ReserveAll reserves several groups in one entry of the journal, all or none: for example slices for the workers of a
// job, and a bundle on a CPU node for its head. It returns the groups in the order of the requests, of which there are 1
// to 64, each for another group. The groups never share a slice or an amount.
//
// The requests are placed one after the other. If one is refused, it is placed first and the others after it, because
// these may accept something else. With a Key in each request, a retry returns the groups of the first call.
//
// It fails like Reserve for one of the requests; the message begins with the name of its group. If the other requests
// have what it needs, the report has reasons and no options. It also fails with Invalid if two requests are for the same
// group, and for another number of requests.
func (l *Ledger) ReserveAll(ctx context.Context, requests []*Request, now time.Time) ([]*Group, error) {
	list, err := newRequestList(requests)
	if err != nil {
		return nil, err
	}
	defer list.free()
	var report *C.QuoitReport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_reserve_all(c, list.requests, list.n, C.int64_t(unixMs(now)), list.groups, &report, &gerror)
		return gerror
	})
	return list.groupsOrError(withReport(err, report))
}

// Hold is like Reserve, but the group is GroupHeld and ends with its lease unless Confirm or Renew comes first. The
// slices become free at that time even if no process is running.
//
// It fails like Reserve, and with Invalid for a lease below 1 ms or beyond the year 2199.
func (l *Ledger) Hold(ctx context.Context, request *Request, lease time.Duration, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		group = C.quoit_ledger_hold(c, cRequest, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// Confirm makes a held group a reserved one. A reserved group stays as it is, so that a retry is safe. lease begins
// now; 0 means that the group stays until it is released.
//
// It fails with NotFound if no live group has the name, Conflict if the live group of that name has another id or a
// source owns the group, Expired if the group's lease has ended (reserve again), and Invalid if the text is neither
// NAME nor NAME@ID, or for a lease below 0 or beyond the year 2199.
func (l *Ledger) Confirm(ctx context.Context, group string, lease time.Duration, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_confirm(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// Renew replaces the lease of a group by one that begins now.
//
// It fails like Confirm, with Conflict also for a group without a lease, for a reservation ahead that has not begun, and
// if a reservation ahead or a window needs the nodes before the new end, and with Invalid for a lease below 1 ms.
func (l *Ledger) Renew(ctx context.Context, group string, lease time.Duration, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_renew(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// RenewGroups is like Renew, for many groups in one journal entry: all of them, or none.
//
// It fails like Renew for the first group that cannot be renewed. The message names it, and no lease has changed.
func (l *Ledger) RenewGroups(ctx context.Context, groups []string, lease time.Duration, now time.Time) error {
	return l.withNames(ctx, "group", groups, func(c *C.QuoitLedger, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_ledger_renew_groups(c, names, n, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
}

// SetExpectedEnd replaces the estimate of when a group ends; the zero time means unknown. An estimate ends nothing.
//
// It fails like Confirm, and with Invalid for a time before the group was created or after the year 2199.
func (l *Ledger) SetExpectedEnd(ctx context.Context, group string, end, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_set_expected_end(c, name, C.int64_t(unixMsOrZero(end)), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// SetPriority replaces the priority of a group. It fails like Confirm.
func (l *Ledger) SetPriority(ctx context.Context, group string, priority int32, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_set_priority(c, name, C.int32_t(priority), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// SetLabels sets labels of a group and removes others, in one journal entry. A label that is in both stays removed. The
// other labels of the group stay.
//
// It fails like Confirm, and with Invalid if a label is not valid, if the call has more than 64 labels, or if the group
// would have more than 64.
func (l *Ledger) SetLabels(ctx context.Context, group string, labels map[string]string, remove []string, now time.Time) (*Group, error) {
	arguments, keys, values, n := labelArguments(labels, remove)
	defer arguments.Free()
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	var result *C.QuoitGroup
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_set_labels(c, name, keys, values, n, C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// labelArguments returns arrays of keys and values, with NULL for each label to remove. The caller frees the arguments.
func labelArguments(labels map[string]string, remove []string) (*cconv.Arguments, **C.char, **C.char, C.uint32_t) {
	arguments := &cconv.Arguments{}
	keys := append(sortedKeys(labels), remove...)
	values := make([]*string, len(keys))
	for index, key := range keys[:len(labels)] {
		value := labels[key]
		values[index] = &value
	}
	keyTexts := (**C.char)(arguments.Texts("label key", keys))
	return arguments, keyTexts, (**C.char)(arguments.TextsOrNulls("label", values)), C.uint32_t(len(keys))
}

// ReleaseWithReason is like Release, but the journal and the record of the group keep the reason, such as "preempted by
// job-7". Also a group without a request key is then recorded, at least for a day.
//
// It fails like Release, and with Invalid if the reason does not have 1 to 1,024 bytes of UTF-8 without control
// characters.
func (l *Ledger) ReleaseWithReason(ctx context.Context, group, reason string, now time.Time) error {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("reason", reason))
	if err := arguments.Err(); err != nil {
		return err
	}
	return l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_release_with_reason(c, name, text, C.int64_t(unixMs(now)), gerror)
	})
}

// Release ends a group and frees everything that it has.
//
// It fails with NotFound if no live group has the name, Conflict if the live group of that name has another id or a
// source owns the group (such a group ends when its source no longer contains it), Expired if the group's lease has
// ended, so that everything is already free, and Invalid if the text is neither NAME nor NAME@ID.
func (l *Ledger) Release(ctx context.Context, group string, now time.Time) error {
	return l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_release(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// Forget deletes the record of an ended group, which must be given as NAME@ID. Afterwards its request key can be used
// again, and a late Confirm of the group fails with Conflict instead of Expired.
//
// It fails with NotFound if there is no such record, Conflict if the group is live (release it), and Invalid for a name
// without an id.
func (l *Ledger) Forget(ctx context.Context, group string, now time.Time) error {
	return l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_forget(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// ForgetKey is like Forget, for the group with that request key. It fails like Forget.
func (l *Ledger) ForgetKey(ctx context.Context, key string, now time.Time) error {
	return l.withName(ctx, "key", key, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_forget_key(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// ForgetBefore deletes the records of all groups that ended before a time, and returns their number. The record of a
// group with a request key is kept until it is forgotten. Choose a time before which no caller still retries: a retry
// with a forgotten key makes a new group.
//
// It fails like other changes, with Invalid for a clock that is not valid.
func (l *Ledger) ForgetBefore(ctx context.Context, before, now time.Time) (int, error) {
	var groups C.uint32_t
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_forget_before(c, C.int64_t(unixMs(before)), C.int64_t(unixMs(now)), &groups, &gerror)
		return gerror
	})
	if err != nil {
		return 0, err
	}
	return int(groups), nil
}

// CommitFork writes everything that was done on a fork of this ledger as one journal entry, or nothing. Others may have
// changed the ledger since the fork was made, but nothing that its changes depend on: the names, keys, owners and nodes
// of its new groups, the groups that it has changed, the nodes whose state it has set, and, if it has imported or
// synced a source, the list of nodes. If others have added groups, new groups get other ids than on the fork. The fork
// continues from the committed state.
//
// It fails with Conflict if something that the fork depends on has changed (make a new fork, and decide again), Expired
// if an owner, or a lease that the fork has set, has ended, and Invalid if now is before the last change of the fork, or
// the fork is not of this ledger.
func (l *Ledger) CommitFork(ctx context.Context, fork *Fork, now time.Time) error {
	var closed error
	err := l.wait(ctx, func(ledger *C.QuoitLedger) (gerror *C.GError) {
		closed = fork.with(func(c *C.QuoitFork) *C.GError {
			C.quoit_ledger_commit_fork(ledger, c, C.int64_t(unixMs(now)), &gerror)
			return nil
		})
		return gerror
	})
	if err == nil {
		err = closed
	}
	return err
}

// --- elastic jobs ---

// Resize grows or shrinks a group to a number of slices, completely or not at all. It removes lost slices first, then
// leaving ones, then those with the highest slice ids. Afterwards the slices are in natural order again, so slice ids
// and environments can change also for slices that stay: see Renumber. A group that already has that many slices stays
// as it is.
//
// It fails like Confirm. It also fails with Invalid for a number below 1 or outside the range from
// Request.SlicesAtLeast to Request.Slices, and if the group does not have whole slices, and with NotNow or Never if too
// few slices are free.
func (l *Ledger) Resize(ctx context.Context, group string, slices int64, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_resize(c, name, C.int64_t(slices), C.int64_t(unixMs(now)), &report, gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// ResizeBetween grows or shrinks a group to as many slices as possible, at least least and at most most. The result is
// that of Resize to the largest number of this range to which it succeeds. Lost and leaving slices count until Repair
// replaces them.
//
// It fails like Confirm. It also fails with Invalid for numbers that are not in order or outside the range of the
// request, and if the group does not have whole slices, and with NotNow or Never if the group cannot even have least
// slices.
func (l *Ledger) ResizeBetween(ctx context.Context, group string, least, most int64, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_resize_between(c, name, C.int64_t(least), C.int64_t(most), C.int64_t(unixMs(now)),
			&report, gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// Repair replaces all lost and leaving slices or bundles of a group, or none, with the smallest change. The others
// stay. A group that is whole stays as it is.
//
// It fails like Confirm, and with NotNow or Never if too few slices are free or the bundles do not fit. If the group can
// have fewer slices, an option of the report is StepShrink of the group itself: Resize it, and repair it again.
func (l *Ledger) Repair(ctx context.Context, group string, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_repair(c, name, C.int64_t(unixMs(now)), &report, gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// ReleaseSlice frees one slice of a group, given by its short or full name. The group ends with its last slice.
//
// It fails like Confirm, with NotFound also if there is no such slice or the group does not have it, and with Invalid
// if the group does not have whole slices.
func (l *Ledger) ReleaseSlice(ctx context.Context, group, slice string, now time.Time) (*GroupChange, error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("slice", slice))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	var result *C.QuoitGroupChange
	err := l.withName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		result = C.quoit_ledger_release_slice(c, name, text, C.int64_t(unixMs(now)), gerror)
	})
	return changeOrError(result, err)
}

// --- owners ---

// SetOwner registers an owner, or replaces the lease of a registered owner. A lease of 0 lasts until EndOwner. When the
// lease ends, all groups of the owner are freed, and requests that name the owner fail with Expired until SetOwner
// starts a new lease.
//
// It fails with Invalid for a name that is not valid, and for a lease below 0 or beyond the year 2199.
func (l *Ledger) SetOwner(ctx context.Context, owner string, lease time.Duration, now time.Time) error {
	return l.withName(ctx, "owner", owner, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_set_owner(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
}

// RenewOwner renews an owner's lease (a heartbeat). The new lease is at least 1 ms.
//
// It fails with NotFound for an owner that was never set, Expired if its lease has ended and its groups are free
// (SetOwner starts a new one), Conflict if it has no lease, and Invalid like SetOwner.
func (l *Ledger) RenewOwner(ctx context.Context, owner string, lease time.Duration, now time.Time) error {
	return l.withName(ctx, "owner", owner, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_renew_owner(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
}

// EndOwner frees all groups of an owner and removes the owner, in one transaction. It returns the number of freed
// groups. It also ends an owner that was never set but has groups.
//
// It fails with NotFound if the owner was never set and has no groups, and Expired if its lease has already ended.
func (l *Ledger) EndOwner(ctx context.Context, owner string, now time.Time) (int, error) {
	var groups C.uint32_t
	err := l.withName(ctx, "owner", owner, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_end_owner(c, name, C.int64_t(unixMs(now)), &groups, gerror)
	})
	if err != nil {
		return 0, err
	}
	return int(groups), nil
}
