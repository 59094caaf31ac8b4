// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"quoit"
)

func ownedBy(owner string, request *quoit.Request) *quoit.Request {
	request.Owner = owner
	return request
}

func TestQuotasAreListedWithUsageAndBorrowing(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x6; v5e 2x2 x4")
	quotas := []quoit.Quota{
		{Name: "ana", Owner: "ana", Accelerator: "v6e", Topology: "4x4", Chips: 16, MaxChips: -1, Used: "0", Borrowed: "0"},
		{Name: "nlp", LabelKey: "team", LabelValue: "n=p", Accelerator: "v6e", Chips: 32, MaxChips: 64, Cohort: "lab",
			Used: "48", Borrowed: "16"},
		{Name: "vision", LabelKey: "team", LabelValue: "vision", Accelerator: "v6e", Chips: 32, MaxChips: -1, Cohort: "lab",
			Used: "0", Borrowed: "0"},
	}
	for _, quota := range quotas {
		if err := ledger.SetQuota(bg, quota, now); err != nil {
			t.Fatal(err)
		}
	}
	request := sliceRequest("a", 3)
	request.Labels = map[string]string{"team": "n=p"}
	reserve(t, ledger, request)
	if got := must[[]quoit.Quota](t)(newSnapshot(t, ledger).Quotas()); !reflect.DeepEqual(got, quotas) {
		t.Errorf("%+v: expected %+v", got, quotas)
	}
	if err := ledger.RemoveQuota(bg, "ana", now); err != nil {
		t.Error(err)
	}
	wantCode(t, ledger.RemoveQuota(bg, "ana", now), quoit.NotFound)
	if got := must[[]quoit.Quota](t)(newSnapshot(t, ledger).Quotas()); len(got) != 2 {
		t.Errorf("%d quotas: expected 2", len(got))
	}
}

func TestQuotaRefusesWithReasonAndOptions(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x6")
	if err := ledger.SetQuota(bg, quoit.Quota{Name: "q", Owner: "ana", Chips: 32, MaxChips: -1}, now); err != nil {
		t.Fatal(err)
	}
	reserve(t, ledger, ownedBy("ana", sliceRequest("a", 1)))
	_, err := ledger.Reserve(bg, ownedBy("ana", sliceRequest("b", 2)), now)
	wantCode(t, err, quoit.NotNow)
	var failure *quoit.Error
	if !errors.As(err, &failure) || failure.Report() == nil || failure.Report().Reasons[0].Constraint != quoit.ConstraintQuota {
		t.Fatalf("%v: expected a report with the quota as main reason", err)
	}
	_, err = ledger.Reserve(bg, ownedBy("ana", sliceRequest("b", 3)), now)
	wantCode(t, err, quoit.Never)
	if !strings.Contains(err.Error(), "over the quota of 'q: at most 32 chips'") {
		t.Errorf("%v: expected the quota", err)
	}
}

func TestForksKeepToQuotas(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x6")
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	if err := fork.SetQuota(quoit.Quota{Name: "q", Owner: "ana", Chips: 32, MaxChips: -1}, now); err != nil {
		t.Fatal(err)
	}
	if err := fork.SetQuota(quoit.Quota{Name: "r", Owner: "bo", Chips: 0, MaxChips: -1}, now); err != nil {
		t.Fatal(err)
	}
	if err := fork.RemoveQuota("r", now); err != nil {
		t.Fatal(err)
	}
	_, err := fork.Reserve(ownedBy("ana", sliceRequest("b", 3)), now)
	wantCode(t, err, quoit.Never)
	group := must[*quoit.Group](t)(fork.Reserve(ownedBy("ana", sliceRequest("b", 2)), now))
	defer group.Close()
	reserve(t, ledger, ownedBy("ana", sliceRequest("a", 1)))
	wantCode(t, ledger.CommitFork(bg, fork, now), quoit.Conflict)
}

func TestBadQuotasChangeNothing(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x6")
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	for _, quota := range []quoit.Quota{
		{}, {Name: "q", Chips: 1, MaxChips: -1},
		{Name: "q", Owner: "o", LabelKey: "k", LabelValue: "v", Chips: 1, MaxChips: -1},
		{Name: "a/b", Owner: "o", Chips: 1, MaxChips: -1}, {Name: "q\x00", Owner: "o", Chips: 1, MaxChips: -1},
		{Name: "q", LabelKey: "k", Chips: 1, MaxChips: -1}, {Name: "q", LabelKey: "k=", LabelValue: "v", MaxChips: -1},
		{Name: "q", Owner: "o", Chips: -1, MaxChips: -1}, {Name: "q", Owner: "o", Chips: 1e9 + 1, MaxChips: -1},
		{Name: "q", Owner: "o", Chips: 2, MaxChips: 1, Cohort: "c"}, {Name: "q", Owner: "o", Chips: 2, MaxChips: 3},
		{Name: "q", Owner: "o", Accelerator: "v99", MaxChips: -1}, {Name: "q", Owner: "o", Topology: "4x4", MaxChips: -1},
		{Name: "q", Owner: "o", Cohort: "c/d", MaxChips: -1},
	} {
		wantCode(t, ledger.SetQuota(bg, quota, now), quoit.Invalid)
		wantCode(t, fork.SetQuota(quota, now), quoit.Invalid)
	}
	wantCode(t, fork.RemoveQuota("none", now), quoit.NotFound)
	if got := must[[]quoit.Quota](t)(newSnapshot(t, ledger).Quotas()); len(got) != 0 {
		t.Errorf("%+v: expected no quotas", got)
	}
}
