// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"strings"
	"testing"

	"quoit"
)

// reportOf returns the report of a refusal.
func reportOf(t *testing.T, err error) *quoit.Report {
	t.Helper()
	var failure *quoit.Error
	if !errors.As(err, &failure) || failure.Report() == nil {
		t.Fatalf("%v: expected a refusal with a report", err)
	}
	return failure.Report()
}

// alternativesLedger has two slices of v6e 4x4, one of which is in use, and two of v5e.
func alternativesLedger(t *testing.T) *quoit.Ledger {
	t.Helper()
	ledger := newLedger(t, "v6e 4x4 x2; v5e 4x4 x2 pool=b; v6e 1x1 x1 pool=c")
	reserve(t, ledger, sliceRequest("full", 1))
	return ledger
}

func trainWithAlternatives(slices int64) *quoit.Request {
	return &quoit.Request{
		Name: "train", Key: "k", Accelerator: "v6e", Topology: "4x4", Slices: 2,
		Alternatives: []quoit.Request{
			{Accelerator: "v6e", Topology: "4x4", Slices: 1, Pool: "nowhere"},
			{Accelerator: "v5e", Topology: "4x4", Slices: slices},
		},
	}
}

func TestTheFirstAlternativeThatFitsIsReserved(t *testing.T) {
	ledger := alternativesLedger(t)
	snapshot := newSnapshot(t, ledger)
	start, err := snapshot.FindStart(trainWithAlternatives(2), now)
	if err != nil || start.Alternative != 2 {
		t.Fatalf("start: %v, %v", start, err)
	}
	preemption, err := snapshot.FindPreemption(trainWithAlternatives(2), now)
	if err != nil || preemption.Alternative != 2 || len(preemption.Groups) != 0 {
		t.Fatalf("preemption: %v, %v", preemption, err)
	}
	fork, err := snapshot.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	rows, err := fork.PlanQueue([]*quoit.Request{trainWithAlternatives(2)}, quoit.BackfillEasy, now)
	if err != nil || rows[0].Alternative != 2 || rows[0].State != quoit.QueuedStarts {
		t.Fatalf("plan: %v, %v", rows, err)
	}
	group, err := ledger.Reserve(bg, trainWithAlternatives(2), now)
	if err != nil {
		t.Fatal(err)
	}
	info, err := group.Info()
	if err != nil || info.Alternative != 2 || !strings.Contains(info.Request, "instead-of=") {
		t.Fatalf("group: %v, %v", info, err)
	}
}

func TestEachAlternativeIsReported(t *testing.T) {
	ledger := alternativesLedger(t)
	_, err := ledger.Reserve(bg, trainWithAlternatives(9), now)
	report := reportOf(t, err)
	if report.Alternative != 0 || len(report.Alternatives) != 3 || report.Verdict != quoit.FitsNotNow {
		t.Fatalf("report: %+v", report)
	}
	wantCode(t, report.Alternatives[1].Err, quoit.NotFound)
	if report.Alternatives[2].Report.Verdict != quoit.FitsNever {
		t.Fatalf("alternative 2: %+v", report.Alternatives[2])
	}
	loop := trainWithAlternatives(1)
	loop.Alternatives[0].Alternatives = loop.Alternatives
	wantCode(t, loop.Check(), quoit.Invalid)
	other := trainWithAlternatives(1)
	other.Alternatives[0].Name = "other"
	wantCode(t, other.Check(), quoit.Invalid)
}

func TestSeveralGroupsAreReservedTogether(t *testing.T) {
	ledger := alternativesLedger(t)
	gang := &quoit.Request{Name: "gang", Key: "g", Accelerator: "v5e", Topology: "4x4", Slices: 2}
	head := &quoit.Request{Name: "head", Key: "h", Bundles: []quoit.BundleRequest{{Amounts: "TPU=1"}}}
	more := &quoit.Request{Name: "more", Accelerator: "v5e", Topology: "4x4", Slices: 1}
	_, err := ledger.ReserveAll(bg, []*quoit.Request{gang, more}, now)
	if report := reportOf(t, err); len(report.Options) != 0 || !strings.Contains(err.Error(), "group 'more': ") {
		t.Fatalf("refusal: %v", err)
	}
	snapshot := newSnapshot(t, ledger)
	fork, err := snapshot.Fork()
	if err != nil {
		t.Fatal(err)
	}
	defer fork.Close()
	if groups, err := fork.ReserveAll([]*quoit.Request{gang, head}, now); err != nil || len(groups) != 2 {
		t.Fatalf("on a fork: %v, %v", groups, err)
	}
	groups, err := ledger.ReserveAll(bg, []*quoit.Request{gang, head}, now)
	if err != nil || groups[0].Name() != "gang" || groups[1].Name() != "head" {
		t.Fatalf("groups: %v, %v", groups, err)
	}
	again, err := ledger.ReserveAll(bg, []*quoit.Request{gang, head}, now)
	if err != nil || again[0].ID() != groups[0].ID() || again[1].ID() != groups[1].ID() {
		t.Fatalf("a retry: %v, %v", again, err)
	}
	_, err = ledger.ReserveAll(bg, nil, now)
	wantCode(t, err, quoit.Invalid)
	_, err = ledger.ReserveAll(bg, []*quoit.Request{gang, nil}, now)
	wantCode(t, err, quoit.Invalid)
}
