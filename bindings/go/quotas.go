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

// Quota is how many chips some groups may use together.
type Quota struct {
	Name                 string
	Owner                string // the quota is for the groups of this owner; "": for those with the label
	LabelKey, LabelValue string // the quota is for the groups with this label; "": for those of the owner
	Accelerator          string // only chips of this TPU generation count; "": all chips
	Topology             string // only chips of slices of this topology count, with Accelerator; "": any
	Chips                int64  // the nominal chips
	MaxChips             int64  // the most chips, with borrowed ones; -1: no limit but that of the cohort
	Cohort               string // the quotas of one cohort and one class lend each other what they do not use; "": none

	// Used and Borrowed are the chips in use and the part of them over the nominal ones, as exact decimal text. SetQuota
	// ignores both.
	Used, Borrowed string
}

// quotaArguments are the texts of a quota for C.
type quotaArguments struct {
	name, label, value, accelerator, topology, cohort *C.char
}

func (q *Quota) toC() (texts quotaArguments, err error) {
	var arguments cconv.Arguments
	if (q.Owner == "") == (q.LabelKey == "") {
		return texts, cconv.InvalidError("quota %s: expected either an owner or a label", cconv.Quote(q.Name))
	}
	value := q.LabelValue
	if q.LabelKey == "" {
		value = q.Owner
	}
	texts = quotaArguments{
		name:        (*C.char)(arguments.Text("quota", q.Name)),
		label:       (*C.char)(arguments.TextUnlessEmpty("label key", q.LabelKey)),
		value:       (*C.char)(arguments.Text("value", value)),
		accelerator: (*C.char)(arguments.TextUnlessEmpty("accelerator", q.Accelerator)),
		topology:    (*C.char)(arguments.TextUnlessEmpty("topology", q.Topology)),
		cohort:      (*C.char)(arguments.TextUnlessEmpty("cohort", q.Cohort)),
	}
	return texts, arguments.Err()
}

// SetQuota sets a quota, or replaces the quota of that name. A quota admits a request if the chips in use, with those of
// the request, are at most Chips; or, with a cohort, at most MaxChips, if the cohort has as many unused. Other requests
// fail with NotNow or Never. Groups keep what they have when a quota is lowered.
//
// It fails with Conflict if another quota is for the same groups and the same class, and Invalid if a name, a number or
// the class is not valid, if both or none of owner and label are set, or if MaxChips is more than Chips without a cohort.
func (l *Ledger) SetQuota(ctx context.Context, quota Quota, now time.Time) error {
	texts, err := quota.toC()
	if err != nil {
		// A closed ledger is reported first, like by all calls.
		if closed := l.wait(ctx, func(*C.QuoitLedger) *C.GError { return nil }); closed != nil {
			return closed
		}
		return err
	}
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_set_quota(c, texts.name, texts.label, texts.value, texts.accelerator, texts.topology,
			C.int64_t(quota.Chips), C.int64_t(quota.MaxChips), texts.cohort, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
}

// RemoveQuota removes a quota.
//
// It fails with NotFound if there is no quota of that name.
func (l *Ledger) RemoveQuota(ctx context.Context, name string, now time.Time) error {
	return l.withName(ctx, "quota", name, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_remove_quota(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// SetQuota is like Ledger.SetQuota, on the fork only. It fails like Ledger.SetQuota.
func (f *Fork) SetQuota(quota Quota, now time.Time) error {
	texts, err := quota.toC()
	if err != nil {
		if closed := f.with(func(*C.QuoitFork) *C.GError { return nil }); closed != nil {
			return closed
		}
		return err
	}
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		C.quoit_fork_set_quota(c, texts.name, texts.label, texts.value, texts.accelerator, texts.topology,
			C.int64_t(quota.Chips), C.int64_t(quota.MaxChips), texts.cohort, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
}

// RemoveQuota is like Ledger.RemoveQuota, on the fork only. It fails like Ledger.RemoveQuota.
func (f *Fork) RemoveQuota(name string, now time.Time) error {
	return f.withName("quota", name, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_remove_quota(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// Quotas returns the quotas, in natural order of their names.
//
// It fails with Invalid after Close.
func (s *Snapshot) Quotas() ([]Quota, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_quotas(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) Quota {
			quota := Quota{
				Name:        C.GoString(C.quoit_snapshot_get_quota_name(c, index)),
				Owner:       C.GoString(C.quoit_snapshot_get_quota_value(c, index)),
				LabelKey:    C.GoString(C.quoit_snapshot_get_quota_label(c, index)),
				Accelerator: C.GoString(C.quoit_snapshot_get_quota_accelerator(c, index)),
				Topology:    C.GoString(C.quoit_snapshot_get_quota_topology(c, index)),
				Chips:       int64(C.quoit_snapshot_get_quota_nominal_chips(c, index)),
				MaxChips:    int64(C.quoit_snapshot_get_quota_max_chips(c, index)),
				Cohort:      C.GoString(C.quoit_snapshot_get_quota_cohort(c, index)),
				Used:        moveString(C.quoit_amount_format(C.quoit_snapshot_get_quota_used(c, index))),
				Borrowed:    moveString(C.quoit_amount_format(C.quoit_snapshot_get_quota_borrowed(c, index))),
			}
			if quota.LabelKey != "" {
				quota.Owner, quota.LabelValue = "", quota.Owner
			}
			return quota
		})
}
