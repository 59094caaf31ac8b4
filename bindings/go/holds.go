// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"time"

	"quoit/internal/door"
)

// Reserve places the request, all slices or bundles or none, and writes the group in one transaction. With a request
// key a retry returns the group that was made, and reserves nothing.
//
// It fails with NotNow or Never (the message has the dominant reason and what would help; Snapshot.Explain has all),
// Conflict when the name is taken, or the key was used for another request or for a hold that is not confirmed, Expired
// when the lease of the request's owner has ended (SetOwner begins anew), Invalid when the request is not complete, not
// in the catalogue or says what does not go together, and NotFound when it names a pool, slice or node that is not
// there.
func (l *Ledger) Reserve(ctx context.Context, request *Request, now time.Time) (*Group, error) {
	made, err := request.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		group = C.quoit_ledger_reserve(c, made.c, C.int64_t(clock(now)), &report, &gerror)
		return gerror
	})
	return madeGroup(group, explained(err, report))
}

// Hold does as Reserve, for at most the lease unless the group is confirmed or renewed before: it is GroupHeld until
// Confirm, and free again when its lease ends, whether or not anybody is there to see it.
//
// It fails as Reserve does, and with Invalid for a lease below 1 ms or beyond the year 2199.
func (l *Ledger) Hold(ctx context.Context, request *Request, lease time.Duration, now time.Time) (*Group, error) {
	made, err := request.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		group = C.quoit_ledger_hold(c, made.c, C.int64_t(milliseconds(lease)), C.int64_t(clock(now)), &report, &gerror)
		return gerror
	})
	return madeGroup(group, explained(err, report))
}

// Confirm makes a held group a reserved one; one that is reserved already stays as it is, so that a retry is safe. Lease
// is how long it lives from now on unless it is renewed; 0: until it is released.
//
// It fails with NotFound when no group bears the name, Conflict when the id is not that of the group that bears it now or
// the group belongs to a source, Expired when its lease has ended (ask for slices again), and Invalid when the group is
// neither NAME nor NAME@ID, or for a lease below 0 or beyond the year 2199.
func (l *Ledger) Confirm(ctx context.Context, group string, lease time.Duration, now time.Time) (*Group, error) {
	var made *C.QuoitGroup
	err := l.onName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		made = C.quoit_ledger_confirm(c, name, C.int64_t(milliseconds(lease)), C.int64_t(clock(now)), gerror)
	})
	return madeGroup(made, err)
}

// Renew gives a group that has a lease another one, from 1 ms, which begins now.
//
// It fails as Confirm does, with Conflict also for a group without a lease, and with Invalid for a lease below 1 ms.
func (l *Ledger) Renew(ctx context.Context, group string, lease time.Duration, now time.Time) (*Group, error) {
	var made *C.QuoitGroup
	err := l.onName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		made = C.quoit_ledger_renew(c, name, C.int64_t(milliseconds(lease)), C.int64_t(clock(now)), gerror)
	})
	return madeGroup(made, err)
}

// Release frees all that the group has.
//
// It fails with NotFound when no group bears the name, Conflict when the id is not that of the group that bears it now or
// the group belongs to a source (it goes when that has it no longer), Expired when its lease has ended and it is free
// already, and Invalid when the group is neither NAME nor NAME@ID.
func (l *Ledger) Release(ctx context.Context, group string, now time.Time) error {
	return l.onName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_release(c, name, C.int64_t(clock(now)), gerror)
	})
}

// Forget drops what is kept of a group that is gone, which must be NAME@ID: its request key may be used again, and a late
// Confirm of it is a Conflict rather than told that its lease has ended.
//
// It fails with NotFound when nothing is kept, Conflict when the group is not gone (release it), and Invalid without an
// id.
func (l *Ledger) Forget(ctx context.Context, group string, now time.Time) error {
	return l.onName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_forget(c, name, C.int64_t(clock(now)), gerror)
	})
}

// ForgetKey is Forget of the group that the request key names; it fails as that does.
func (l *Ledger) ForgetKey(ctx context.Context, key string, now time.Time) error {
	return l.onName(ctx, "key", key, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_forget_key(c, name, C.int64_t(clock(now)), gerror)
	})
}

// --- elastic jobs ---

// Resize grows or shrinks a group to so many slices, wholly or not at all. It gives up lost slices first, then leaving
// ones, then from the last slice id on. The slices stand in natural order afterwards, so that ids and environments may
// be others for those that stay: see Renumber. A group that has so many already stays as it is.
//
// It fails as Confirm does; with Invalid also below 1, outside what Request.SlicesAtLeast and Slices allowed, and for a
// group that is not of whole slices; and with NotNow or Never when too few slices are free.
func (l *Ledger) Resize(ctx context.Context, group string, slices int64, now time.Time) (*GroupChange, error) {
	var made *C.QuoitGroupChange
	var report *C.QuoitReport
	err := l.onName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		made = C.quoit_ledger_resize(c, name, C.int64_t(slices), C.int64_t(clock(now)), &report, gerror)
	})
	return madeChange(made, explained(err, report))
}

// Repair replaces each slice or bundle that is lost or leaving, all of them or none, with the smallest change. The others
// stay. A group that is whole stays as it is.
//
// It fails as Confirm does, and with NotNow or Never when too few slices are free (Resize to fewer), or the bundles find
// no room.
func (l *Ledger) Repair(ctx context.Context, group string, now time.Time) (*GroupChange, error) {
	var made *C.QuoitGroupChange
	var report *C.QuoitReport
	err := l.onName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		made = C.quoit_ledger_repair(c, name, C.int64_t(clock(now)), &report, gerror)
	})
	return madeChange(made, explained(err, report))
}

// ReleaseSlice frees one slice of a group, by its short or full name; with its last slice the group goes.
//
// It fails as Confirm does; with NotFound also when there is no such slice or the group does not have it, and with
// Invalid for a group that is not of whole slices.
func (l *Ledger) ReleaseSlice(ctx context.Context, group, slice string, now time.Time) (*GroupChange, error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("slice", slice))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	var made *C.QuoitGroupChange
	err := l.onName(ctx, "group", group, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		made = C.quoit_ledger_release_slice(c, name, text, C.int64_t(clock(now)), gerror)
	})
	return madeChange(made, err)
}

// --- owners ---

// SetOwner makes an owner known, or gives one that is known another lease; 0: until EndOwner. When its lease ends, all
// that is held in its name is free, and requests in its name are Expired until it is set again.
//
// It fails with Invalid for a name that is none, and for a lease below 0 or beyond the year 2199.
func (l *Ledger) SetOwner(ctx context.Context, owner string, lease time.Duration, now time.Time) error {
	return l.onName(ctx, "owner", owner, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_set_owner(c, name, C.int64_t(milliseconds(lease)), C.int64_t(clock(now)), gerror)
	})
}

// RenewOwner is the sign of life of an owner that has a lease: another one, from 1 ms.
//
// It fails with NotFound for an owner that was never set, Expired after the end of its lease (what it held is free:
// SetOwner begins anew), Conflict when it has no lease, and Invalid as SetOwner does.
func (l *Ledger) RenewOwner(ctx context.Context, owner string, lease time.Duration, now time.Time) error {
	return l.onName(ctx, "owner", owner, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_renew_owner(c, name, C.int64_t(milliseconds(lease)), C.int64_t(clock(now)), gerror)
	})
}

// EndOwner frees all that is held in the owner's name, and forgets the owner, in one transaction; it says how many groups
// were freed. One that was never set ends too, when something is held in its name.
//
// It fails with NotFound when it was never set and has nothing, and Expired when its lease has ended already.
func (l *Ledger) EndOwner(ctx context.Context, owner string, now time.Time) (int, error) {
	var groups C.uint32_t
	err := l.onName(ctx, "owner", owner, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_end_owner(c, name, C.int64_t(clock(now)), &groups, gerror)
	})
	if err != nil {
		return 0, err
	}
	return int(groups), nil
}
