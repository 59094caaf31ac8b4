// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"quoit"
)

func TestReservationSurvivesClosingTheLedger(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quoit.db")
	ledger := must[*quoit.Ledger](t)(quoit.Create(path, time.Second))
	must[*quoit.Import](t)(ledger.ImportFleetText(bg, "v6e 4x4 x2", now))
	reserve(t, ledger, sliceRequest("train", 2))
	ledger.Close()

	ledger = must[*quoit.Ledger](t)(quoit.Open(path, time.Second))
	defer ledger.Close()
	group := must[*quoit.Group](t)(newSnapshot(t, ledger).Group("train"))
	info := must[quoit.GroupInfo](t)(group.Info())
	if info.State != quoit.GroupReserved || len(info.Slices) != 2 || len(info.Slices[1].Workers) != 4 {
		t.Errorf("%+v: expected two slices of four", info)
	}
	if info.Slices[1].Workers[3].Name != "v6e-4x4-1-3" || !info.Created.Equal(now) || !info.Until.IsZero() {
		t.Errorf("%+v: expected the worker, the clock and no lease", info)
	}
	_, err := quoit.Create(path, time.Second)
	wantCode(t, err, quoit.Conflict)
	_, err = quoit.Open(path+".not", time.Second)
	wantCode(t, err, quoit.NotFound)
	for _, bad := range []string{"", "a\x00b"} {
		_, err = quoit.Open(bad, time.Second)
		wantCode(t, err, quoit.Invalid)
	}
	_, err = quoit.Open(path, -time.Nanosecond)
	wantCode(t, err, quoit.Invalid)
}

func TestCopyHasTheSameHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quoit.db")
	ledger := must[*quoit.Ledger](t)(quoit.Create(path, time.Second))
	defer ledger.Close()
	must[*quoit.Import](t)(ledger.ImportFleetText(bg, "v6e 4x4 x2", now))
	reserve(t, ledger, sliceRequest("train", 2))
	before := must[string](t)(newSnapshot(t, ledger).JSON())
	if err := ledger.Copy(bg, path+"-copy"); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ledger.Copy(bg, path+"-copy"), quoit.Conflict)
	wantCode(t, ledger.Copy(bg, "a\x00b"), quoit.Invalid)

	other := must[*quoit.Ledger](t)(quoit.Open(path+"-copy", time.Second))
	defer other.Close()
	if after := must[string](t)(newSnapshot(t, other).JSON()); after != before {
		t.Errorf("%s: expected %s", after, before)
	}
	if err := other.Verify(bg); err != nil {
		t.Error(err)
	}
	memory := newLedger(t, "v6e 4x4 x2")
	wantCode(t, memory.Copy(bg, path+"-memory"), quoit.Invalid)
}

// tests/postgresql has leaders.
func TestOnlyALedgerOnAServerHasLeaders(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	for _, leader := range []string{"one", "", "a\x00b", "a\nb"} {
		term, err := ledger.Lead(bg, leader)
		wantCode(t, err, quoit.Invalid)
		if term != 0 {
			t.Errorf("%d: expected no term", term)
		}
	}
}

func TestRefusalHasItsCodeAndChangesNothing(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	reserve(t, ledger, sliceRequest("train", 2))
	before := must[string](t)(newSnapshot(t, ledger).JSON())
	for code, request := range map[quoit.Code]*quoit.Request{
		quoit.NotNow:   sliceRequest("more", 1),
		quoit.Never:    sliceRequest("more", 3),
		quoit.Conflict: sliceRequest("train", 1),
		quoit.NotFound: {Name: "more", Accelerator: "v6e", Topology: "4x4", Slices: 1, Pool: "nowhere"},
		quoit.Invalid:  {Name: "more", Accelerator: "v99", Topology: "4x4", Slices: 1},
	} {
		group, err := ledger.Reserve(bg, request, now)
		var refusal *quoit.Error
		if group != nil || !errors.As(err, &refusal) || refusal.Code != code || refusal.Message == "" {
			t.Errorf("%v: expected %v", err, code)
		}
		if wanted := code == quoit.NotNow || code == quoit.Never; (refusal.Report() != nil) != wanted {
			t.Errorf("%v has a report: %t, expected %t", err, refusal.Report() != nil, wanted)
		} else if wanted && (refusal.Report().Verdict == quoit.FitsNever) != (code == quoit.Never) {
			t.Errorf("%v has the verdict %v", err, refusal.Report().Verdict)
		}
		for _, other := range []quoit.Code{quoit.NotNow, quoit.Never, quoit.Conflict, quoit.NotFound, quoit.Invalid} {
			if errors.Is(err, other) != (other == code) {
				t.Errorf("errors.Is('%v', %v) is %t", err, other, other != code)
			}
		}
	}
	if after := must[string](t)(newSnapshot(t, ledger).JSON()); after != before {
		t.Error("a refusal has changed the ledger")
	}
}

func TestRetryWithKeyReturnsTheSameGroup(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	request := sliceRequest("train", 1)
	request.Key = "job-1"
	first, again := reserve(t, ledger, request), reserve(t, ledger, request)
	if first.ID() != again.ID() {
		t.Errorf("%v and %v: expected one group", first, again)
	}
	if err := ledger.Release(bg, first.Handle(), now); err != nil {
		t.Fatal(err)
	}
	gone := reserve(t, ledger, request)
	if info := must[quoit.GroupInfo](t)(gone.Info()); info.State != quoit.GroupRemoved || !info.Ended.Equal(now) {
		t.Errorf("%+v: expected the removed group", info)
	}
	if err := ledger.ForgetKey(bg, "job-1", now); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ledger.Forget(bg, first.Handle(), now), quoit.NotFound)
	if n, err := ledger.ForgetBefore(bg, now.Add(time.Hour), now); n != 0 || err != nil {
		t.Errorf("ForgetBefore without ended groups: %d, %v", n, err)
	}
	if reserve(t, ledger, request).ID() == first.ID() {
		t.Error("a new group has the id of the old group")
	}
	wantCode(t, ledger.Release(bg, first.Handle(), now), quoit.Conflict)
}

func TestHoldEndsWithItsLeaseUnlessConfirmed(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	held := must[*quoit.Group](t)(ledger.Hold(bg, sliceRequest("a", 1), time.Minute, now))
	kept := must[*quoit.Group](t)(ledger.Hold(bg, sliceRequest("b", 1), time.Minute, now))
	info := must[quoit.GroupInfo](t)(held.Info())
	if info.State != quoit.GroupHeld || !info.Until.Equal(now.Add(time.Minute)) {
		t.Errorf("%+v: expected a hold of a minute", info)
	}
	must[*quoit.Group](t)(ledger.Confirm(bg, kept.Handle(), 0, now))
	later := now.Add(2 * time.Minute)
	_, err := ledger.Confirm(bg, held.Handle(), 0, later)
	wantCode(t, err, quoit.Expired)
	_, err = ledger.Renew(bg, kept.Handle(), time.Minute, later)
	wantCode(t, err, quoit.Conflict)
	looked := must[*quoit.Snapshot](t)(newSnapshot(t, ledger).AsOf(later))
	defer looked.Close()
	if count := must[int](t)(looked.CountSlicesOfClass(0, quoit.SliceFree)); count != 1 {
		t.Errorf("%d slices are free: expected 1", count)
	}
}

func TestLeaseBelowOneMillisecondIsRoundedUp(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	group := reserve(t, ledger, sliceRequest("train", 1))
	confirmed := must[*quoit.Group](t)(ledger.Confirm(bg, group.Handle(), 0, now))
	if info := must[quoit.GroupInfo](t)(confirmed.Info()); !info.Until.IsZero() {
		t.Errorf("%v: expected no lease", info.Until)
	}
	held := must[*quoit.Group](t)(ledger.Hold(bg, sliceRequest("held", 1), time.Hour, now))
	confirmed = must[*quoit.Group](t)(ledger.Confirm(bg, held.Handle(), time.Microsecond, now))
	if info := must[quoit.GroupInfo](t)(confirmed.Info()); !info.Until.Equal(now.Add(time.Millisecond)) {
		t.Errorf("%v: expected a lease of a millisecond", info.Until)
	}
	_, err := ledger.Confirm(bg, group.Handle(), -time.Microsecond, now)
	wantCode(t, err, quoit.Invalid)
	_, err = ledger.Reserve(bg, &quoit.Request{Name: "x", Accelerator: "v6e", Topology: "4x4", Slices: 1, Lease: -1}, now)
	wantCode(t, err, quoit.Invalid)
}

func TestClockOutside2000To2199IsRefused(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	for _, bad := range []time.Time{{}, time.Unix(0, 0), time.Unix(1<<40, 0), time.Unix(math.MaxInt64, 0),
		time.Unix(math.MinInt64, 0), time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)} {
		_, err := ledger.Reserve(bg, sliceRequest("train", 1), bad)
		wantCode(t, err, quoit.Invalid)
	}
	if groups := must[[]*quoit.Group](t)(newSnapshot(t, ledger).Groups()); len(groups) != 0 {
		t.Errorf("%v: expected no group", groups)
	}
}

func TestTextWithNULIsRefusedAndChangesNothing(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	bad := "a\x00b"
	before := must[string](t)(newSnapshot(t, ledger).JSON())
	for name, request := range map[string]*quoit.Request{
		"name": {Name: bad}, "key": {Key: bad}, "owner": {Owner: bad}, "accelerator": {Accelerator: bad},
		"topology": {Topology: bad}, "TPU per bundle": {TPUPerBundle: bad}, "pool": {Pool: bad}, "zone": {Zone: bad},
		"soft target": {SoftTarget: bad}, "topology label": {TopologyLabel: bad},
		"selector":  {Selectors: []quoit.Selector{{Key: "k", Value: bad}}},
		"slice":     {OnlySlices: []string{bad}},
		"slice ":    {ExcludedSlices: []string{"a", bad}},
		"amounts":   {Bundles: []quoit.BundleRequest{{Amounts: bad}}},
		"selector ": {Bundles: []quoit.BundleRequest{{Amounts: "TPU=1", Selectors: []quoit.Selector{{Key: bad}}}}},
	} {
		if request.Name == "" {
			request.Name = "a"
		}
		_, err := ledger.Reserve(bg, request, now)
		wantCode(t, err, quoit.Invalid)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(name)+" 'a\\x00b'") {
			t.Errorf("%v: expected the place and the value", err)
		}
	}
	wantCode(t, ledger.Release(bg, bad, now), quoit.Invalid)
	wantCode(t, ledger.SetActor(bad), quoit.Invalid)
	_, err := ledger.ImportFleetText(bg, "v6e 4x4\x00", now)
	wantCode(t, err, quoit.Invalid)
	_, err = ledger.Import(bg, &quoit.Input{Kind: quoit.RayCluster, Variables: map[string]string{"A=B": "c"}}, now)
	wantCode(t, err, quoit.Invalid)
	_, err = ledger.Import(bg, &quoit.Input{Kind: 99}, now)
	wantCode(t, err, quoit.Invalid)
	if after := must[string](t)(newSnapshot(t, ledger).JSON()); after != before {
		t.Error("a refusal has changed the ledger")
	}
}

func TestEndOwnerFreesItsGroups(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	wantCode(t, ledger.RenewOwner(bg, "me", time.Minute, now), quoit.NotFound)
	if err := ledger.SetOwner(bg, "me", time.Minute, now); err != nil {
		t.Fatal(err)
	}
	if err := ledger.RenewOwner(bg, "me", time.Hour, now); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b"} {
		request := sliceRequest(name, 1)
		request.Owner = "me"
		reserve(t, ledger, request)
	}
	owners := must[[]quoit.Owner](t)(newSnapshot(t, ledger).Owners())
	if len(owners) != 1 || owners[0].Name != "me" || owners[0].Groups != 2 || !owners[0].Until.Equal(now.Add(time.Hour)) {
		t.Errorf("%+v: expected one owner of two groups", owners)
	}
	if count := must[int](t)(ledger.EndOwner(bg, "me", now)); count != 2 {
		t.Errorf("%d groups were freed: expected 2", count)
	}
	_, err := ledger.EndOwner(bg, "me", now)
	wantCode(t, err, quoit.NotFound)
}

func TestBatchIsOneTransaction(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x4", time.Second)
	seq := must[uint64](t)(newSnapshot(t, first).Seq())
	stop := errors.New("stop")
	err := first.Batch(bg, func() error {
		reserve(t, first, sliceRequest("a", 1))
		return stop
	})
	if !errors.Is(err, stop) {
		t.Errorf("%v: expected the error of the function", err)
	}
	func() {
		defer func() { _ = recover() }()
		_ = first.Batch(bg, func() error {
			reserve(t, first, sliceRequest("a", 1))
			panic("stop")
		})
		t.Error("Batch did not pass the panic on")
	}()
	if after := must[uint64](t)(newSnapshot(t, first).Seq()); after != seq {
		t.Errorf("the journal has %d entries: expected %d", after, seq)
	}
	err = first.Batch(bg, func() error {
		reserve(t, first, sliceRequest("a", 1))
		_, err := first.Reserve(bg, sliceRequest("b", 9), now)
		wantCode(t, err, quoit.Never)
		wantCode(t, first.Batch(bg, func() error { return nil }), quoit.Conflict)
		reserve(t, first, sliceRequest("c", 1))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Refresh(bg); err != nil {
		t.Fatal(err)
	}
	if groups := must[[]*quoit.Group](t)(newSnapshot(t, second).Groups()); len(groups) != 2 {
		t.Errorf("%v: expected two groups", groups)
	}
}

func TestBatchReturnsToItsMarks(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x4")
	_, err := ledger.MarkBatch()
	wantCode(t, err, quoit.Conflict)
	wantCode(t, ledger.RollBackBatch(1), quoit.Conflict)
	err = ledger.Batch(bg, func() error {
		reserve(t, ledger, sliceRequest("a", 1))
		mark := must[uint32](t)(ledger.MarkBatch())
		reserve(t, ledger, sliceRequest("b", 2))
		wantCode(t, ledger.RollBackBatch(mark+1), quoit.Invalid)
		if err := ledger.RollBackBatch(mark); err != nil {
			return err
		}
		reserve(t, ledger, sliceRequest("c", 3))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if groups := must[[]*quoit.Group](t)(newSnapshot(t, ledger).Groups()); len(groups) != 2 || groups[1].Name() != "c" {
		t.Errorf("%v: expected a and c", groups)
	}
}

func TestStatesOfManyNodesChangeTogether(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	nodes := []string{"v6e-4x4-0-0", "v6e-4x4-1-3"}
	steps := []struct {
		run  func() error
		want quoit.NodeState
	}{
		{func() error { return ledger.DrainNodes(bg, nodes, now) }, quoit.NodeDraining},
		{func() error { return ledger.UndrainNodes(bg, nodes, now) }, quoit.NodeAlive},
		{func() error { return ledger.SetNodeStates(bg, nodes, quoit.NodeDead, now) }, quoit.NodeDead},
		{func() error { return fork.DrainNodes(nodes, now) }, quoit.NodeDraining},
		{func() error { return fork.UndrainNodes(nodes, now) }, quoit.NodeAlive},
		{func() error { return fork.SetNodeStates(nodes, quoit.NodeDead, now) }, quoit.NodeDead},
	}
	for index, step := range steps {
		if err := step.run(); err != nil {
			t.Fatalf("step %d: %v", index, err)
		}
		snapshot := newSnapshot(t, ledger)
		if index >= 3 {
			snapshot = must[*quoit.Snapshot](t)(fork.Snapshot())
		}
		for _, name := range nodes {
			if node := must[quoit.Node](t)(snapshot.Node(name)); node.State != step.want {
				t.Errorf("step %d: node %s is %v, expected %v", index, name, node.State, step.want)
			}
		}
	}
	wantCode(t, ledger.DrainNodes(bg, []string{"v6e-4x4-0-1", "x"}, now), quoit.NotFound)
	wantCode(t, fork.DrainNodes([]string{"v6e-4x4-0-1", "a\x00b"}, now), quoit.Invalid)
}

func TestLeasesOfManyGroupsChangeTogether(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	for _, name := range []string{"a", "b"} {
		must[*quoit.Group](t)(ledger.Hold(bg, sliceRequest(name, 1), time.Second, now))
	}
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	if err := ledger.RenewGroups(bg, []string{"a", "b@2"}, time.Minute, now); err != nil {
		t.Fatal(err)
	}
	if err := fork.RenewGroups([]string{"a", "b"}, time.Minute, now); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ledger.RenewGroups(bg, []string{"a", "x"}, time.Hour, now), quoit.NotFound)
	wantCode(t, fork.RenewGroups([]string{"a", "b"}, time.Hour, now.Add(time.Minute)), quoit.Expired)
	for _, snapshot := range []*quoit.Snapshot{newSnapshot(t, ledger), must[*quoit.Snapshot](t)(fork.Snapshot())} {
		for _, name := range []string{"a", "b"} {
			group := must[*quoit.Group](t)(snapshot.Group(name))
			if info := must[quoit.GroupInfo](t)(group.Info()); !info.Until.Equal(now.Add(time.Minute)) {
				t.Errorf("%s ends at %v", name, info.Until)
			}
		}
	}
}

func TestPartsAreCounted(t *testing.T) {
	ledger := newLedger(t, "v6e 8x8 x2 pool=p")
	reserve(t, ledger, &quoit.Request{Name: "train", Accelerator: "v6e", Topology: "8x8", Slices: 1, Lease: time.Hour})
	snapshot := newSnapshot(t, ledger)
	slots := must[[]quoit.Slots](t)(snapshot.CountSlots("v6e", "4x4", quoit.CutAny, now.Add(time.Hour), 0))
	if len(slots) != 4 || slots[0].Least != 4 || slots[0].Most != 4 || slots[2].Assumption != quoit.SlotsGroupsEnded ||
		slots[2].Least != 8 || !strings.Contains(slots[0].Certificate, "p-1 most=4 unit=") {
		t.Errorf("%+v: expected 4 parts now, and 8 when the group has ended", slots)
	}
	all := must[[]quoit.Slots](t)(snapshot.CountSlots("v6e", "", quoit.CutAligned, now, 1000))
	if len(all) != 5*4 || all[0].Topology != "2x2" {
		t.Errorf("%d rows: expected four for each of 5 shapes", len(all))
	}
	_, err := snapshot.CountSlots("v6e", "16x16", quoit.CutAnyOrWrapped, now, 0)
	wantCode(t, err, quoit.NotFound)
	_, err = snapshot.CountSlots("v6e", "4x4", quoit.Cut(9), now, 0)
	wantCode(t, err, quoit.Invalid)
	_, err = snapshot.CountSlots("v6e", "4\x00", quoit.CutWhole, now, 0)
	wantCode(t, err, quoit.Invalid)
}

func TestJoinedSlicesAreCounted(t *testing.T) {
	snapshot := newSnapshot(t, newLedger(t, "v5p 4x4x4 x4 pool=a block=a; v5p 4x4x4 x3 pool=b block=b"))
	slots := must[[]quoit.Slots](t)(snapshot.CountJoinedSlots("v5p", "4x4x8", quoit.CubesAny, now))
	if len(slots) != 4 || slots[0].Least != 3 || slots[0].Most != 3 ||
		!strings.Contains(slots[0].Certificate, "fleet/b most=1 unit=2 free=b-0,b-1,b-2 weights=1,1,1") {
		t.Errorf("%+v: expected 3 slices", slots)
	}
	_, err := snapshot.CountJoinedSlots("v5p", "8x8x8", quoit.CubesAny, now)
	wantCode(t, err, quoit.NotFound)
	for _, cubes := range []quoit.Cubes{quoit.CubesNone, 9} {
		_, err = snapshot.CountJoinedSlots("v5p", "", cubes, now)
		wantCode(t, err, quoit.Invalid)
		_, err = snapshot.MeasureJoinedFragmentation(cubes)
		wantCode(t, err, quoit.Invalid)
	}
	classes := must[[]quoit.Fragmentation](t)(snapshot.MeasureJoinedFragmentation(quoit.CubesAny))
	if len(classes) != 1 || classes[0].FreeHosts != 7*16 || len(classes[0].Parts) != 4 || classes[0].Parts[3].Least != 1 {
		t.Errorf("%+v: expected 7 free cubes and 4 parts", classes)
	}
}

func TestStartOfARequestFollowsFromEnds(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	leased, estimated := sliceRequest("leased", 1), sliceRequest("estimated", 1)
	leased.Lease, estimated.ExpectedRuntime, estimated.Priority = time.Hour, time.Minute, -2
	reserve(t, ledger, leased)
	reserve(t, ledger, estimated)
	group := must[*quoit.Group](t)(ledger.SetPriority(bg, "estimated", 5, now))
	if info := must[quoit.GroupInfo](t)(group.Info()); info.Priority != 5 || !info.ExpectedEnd.Equal(now.Add(time.Minute)) {
		t.Errorf("%+v: expected priority 5 and an end after a minute", info)
	}
	start := must[*quoit.Start](t)(newSnapshot(t, ledger).FindStart(sliceRequest("x", 2), now))
	if !start.Time.Equal(now.Add(time.Hour)) || len(start.Ends) != 2 || !start.Ends[0].Estimate || start.Ends[1].Estimate {
		t.Errorf("%+v: expected the end of the lease, after the estimate", start)
	}
	must[*quoit.Group](t)(ledger.SetExpectedEnd(bg, "estimated", time.Time{}, now))
	_, err := newSnapshot(t, ledger).FindStart(sliceRequest("x", 3), now)
	wantCode(t, err, quoit.Never)
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	must[*quoit.Group](t)(fork.SetExpectedEnd("leased", now.Add(time.Second), now))
	must[*quoit.Group](t)(fork.SetPriority("leased", 1, now))
	start = must[*quoit.Start](t)(must[*quoit.Snapshot](t)(fork.Snapshot()).FindStart(sliceRequest("x", 1), now))
	if !start.Time.Equal(now.Add(time.Second)) {
		t.Errorf("%+v: expected the new estimate", start)
	}
}

func TestGroupGrowsAsFarAsItCan(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x4")
	other, elastic := sliceRequest("other", 1), sliceRequest("elastic", 5)
	other.Lease = time.Hour
	elastic.SlicesAtLeast = 2
	reserve(t, ledger, other)
	group := reserve(t, ledger, elastic)
	must[*quoit.GroupChange](t)(ledger.Resize(bg, group.Handle(), 2, now))
	snapshot := newSnapshot(t, ledger)
	if slices, most, err := snapshot.TestGrowth(group.Handle()); slices != 3 || most != 5 || err != nil {
		t.Errorf("%d, %d, %v: expected 3 of 5 slices", slices, most, err)
	}
	start := must[*quoit.Start](t)(snapshot.FindGrowth(group.Handle(), 4, now))
	if !start.Time.Equal(now.Add(time.Hour)) || len(start.Ends) != 1 {
		t.Errorf("%+v: expected the end of the lease", start)
	}
	_, err := snapshot.FindGrowth(group.Handle(), 5, now)
	wantCode(t, err, quoit.Never)
	_, err = snapshot.FindGrowth(group.Handle(), 6, now)
	wantCode(t, err, quoit.Invalid)
	_, _, err = snapshot.TestGrowth("nobody")
	wantCode(t, err, quoit.NotFound)
	fork := must[*quoit.Fork](t)(snapshot.Fork())
	defer fork.Close()
	change := must[*quoit.GroupChange](t)(fork.ResizeBetween(group.Handle(), 2, 5, now))
	if n := len(must[quoit.GroupInfo](t)(change.After.Info()).Slices); n != 3 {
		t.Errorf("%d slices: expected 3", n)
	}
	_, err = ledger.ResizeBetween(bg, group.Handle(), 1, 3, now)
	wantCode(t, err, quoit.Invalid)
	_, err = ledger.ResizeBetween(bg, group.Handle(), 4, 5, now)
	wantCode(t, err, quoit.NotNow)
	must[*quoit.GroupChange](t)(ledger.ResizeBetween(bg, group.Handle(), 2, 5, now))
	more := sliceRequest("more", 1)
	_, err = ledger.Reserve(bg, more, now)
	step := err.(*quoit.Error).Report().Options[0].Steps[0]
	if step.Kind != quoit.StepShrink || step.Group != group.Handle() || step.Slices != 2 {
		t.Errorf("%+v: expected that the elastic group shrinks", step)
	}
}

func TestQueueIsPlannedOnAFork(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x4")
	timed := func(name string, slices int64, runtime time.Duration) *quoit.Request {
		request := sliceRequest(name, slices)
		request.ExpectedRuntime = runtime
		return request
	}
	reserve(t, ledger, timed("a", 2, time.Hour))
	queue := []*quoit.Request{timed("b", 3, time.Hour), timed("c", 1, time.Hour), timed("d", 2, 0), timed("e", 5, 0)}
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	rows := must[[]quoit.Queued](t)(fork.PlanQueue(queue, quoit.BackfillEasy, now))
	if rows[0].State != quoit.QueuedWaits || !rows[0].Start.Equal(now.Add(time.Hour)) || rows[0].Group != nil {
		t.Errorf("%+v: expected a start after an hour", rows[0])
	}
	if rows[1].State != quoit.QueuedStarts || rows[1].Group.Name() != "c" || !rows[1].Start.Equal(now) {
		t.Errorf("%+v: expected a start now", rows[1])
	}
	if rows[2].State.String() != "waits" || !rows[2].Start.IsZero() || rows[2].Err != nil {
		t.Errorf("%+v: expected a request that waits without a promise", rows[2])
	}
	wantCode(t, rows[3].Err, quoit.Never)
	if err := ledger.CommitFork(bg, fork, now); err != nil {
		t.Fatal(err)
	}
	must[*quoit.Group](t)(newSnapshot(t, ledger).Group("c"))
	_, err := fork.PlanQueue([]*quoit.Request{nil}, quoit.BackfillNone, now)
	wantCode(t, err, quoit.Invalid)
	_, err = fork.PlanQueue(nil, quoit.Backfill(7), now)
	wantCode(t, err, quoit.Invalid)
	if rows := must[[]quoit.Queued](t)(fork.PlanQueue(nil, quoit.BackfillConservative, now)); len(rows) != 0 {
		t.Errorf("%+v: expected no rows", rows)
	}
}

func TestPreemptionReleasesTheCheapestGroups(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x4")
	for name, slices := range map[string]int64{"wide": 3, "narrow": 1} {
		request := sliceRequest(name, slices)
		request.Priority = -1
		reserve(t, ledger, request)
	}
	found := must[*quoit.Preemption](t)(newSnapshot(t, ledger).FindPreemption(sliceRequest("x", 1), now))
	if len(found.Groups) != 1 || found.Groups[0].Name() != "narrow" || !found.Cheapest {
		t.Errorf("%+v: expected group narrow", found)
	}
	found = must[*quoit.Preemption](t)(newSnapshot(t, ledger).FindPreemption(sliceRequest("x", 3), now))
	if len(found.Groups) != 1 || found.Groups[0].Name() != "wide" {
		t.Errorf("%+v: expected group wide", found)
	}
	_, err := newSnapshot(t, ledger).FindPreemption(sliceRequest("x", 5), now)
	wantCode(t, err, quoit.Never)
	low := sliceRequest("x", 1)
	low.Priority = -1
	_, err = newSnapshot(t, ledger).FindPreemption(low, now)
	wantCode(t, err, quoit.NotNow)
}

func TestForkHasTheVerbsOfALedger(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x4")
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	if err := fork.SetOwner("team", time.Minute, now); err != nil {
		t.Fatal(err)
	}
	if err := fork.RenewOwner("team", time.Hour, now); err != nil {
		t.Fatal(err)
	}
	must[*quoit.Group](t)(fork.Hold(sliceRequest("a", 2), time.Minute, now))
	must[*quoit.Group](t)(fork.Renew("a", time.Hour, now))
	must[*quoit.Group](t)(fork.Confirm("a", 0, now))
	change := must[*quoit.GroupChange](t)(fork.ReleaseSlice("a", "v6e-4x4-0", now))
	if info := must[quoit.GroupInfo](t)(change.After.Info()); len(info.Slices) != 1 {
		t.Errorf("%v: expected one slice", info.Slices)
	}
	if n := must[int](t)(fork.EndOwner("team", now)); n != 0 {
		t.Errorf("%d groups: expected none", n)
	}
	if err := ledger.CommitFork(bg, fork, now); err != nil {
		t.Fatal(err)
	}
	_, err := fork.Confirm("nobody", 0, now)
	wantCode(t, err, quoit.NotFound)
}

func TestUnsyncedBatchIsOneTransaction(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x4", time.Second)
	stop := errors.New("stop")
	err := first.UnsyncedBatch(bg, func() error {
		reserve(t, first, sliceRequest("a", 1))
		return stop
	})
	if !errors.Is(err, stop) {
		t.Errorf("%v: expected the error of the function", err)
	}
	err = first.UnsyncedBatch(bg, func() error {
		reserve(t, first, sliceRequest("b", 1))
		wantCode(t, first.Batch(bg, func() error { return nil }), quoit.Conflict)
		wantCode(t, first.UnsyncedBatch(bg, func() error { return nil }), quoit.Conflict)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Refresh(bg); err != nil {
		t.Fatal(err)
	}
	if groups := must[[]*quoit.Group](t)(newSnapshot(t, second).Groups()); len(groups) != 1 {
		t.Errorf("%v: expected one group", groups)
	}
}

func TestBatchCommitsEvenIfTheLedgerIsClosedInside(t *testing.T) {
	first, second := newDatabase(t, "v6e 4x4 x4", time.Second)
	err := first.Batch(bg, func() error {
		reserve(t, first, sliceRequest("a", 1))
		first.Close()
		_, err := first.Reserve(bg, sliceRequest("b", 1), now)
		wantCode(t, err, quoit.Invalid)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	reserve(t, second, sliceRequest("c", 1))
	if groups := must[[]*quoit.Group](t)(newSnapshot(t, second).Groups()); len(groups) != 2 {
		t.Errorf("%v: expected two groups", groups)
	}
}

func TestLedgerKeepsEntriesAndRecordsForATime(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	request := sliceRequest("train", 1)
	request.Key = "k"
	group := reserve(t, ledger, request)
	if err := ledger.Release(bg, group.Handle(), now); err != nil {
		t.Fatal(err)
	}
	for _, keep := range []time.Duration{quoit.KeepAll, time.Second} {
		if err := ledger.SetKeep(bg, keep, now); err != nil {
			t.Fatal(err)
		}
		if got := must[time.Duration](t)(newSnapshot(t, ledger).Keep()); got != keep {
			t.Errorf("keeps %v, expected %v", got, keep)
		}
	}
	trimmed := must[quoit.Trimmed](t)(ledger.Trim(bg, now.Add(time.Minute)))
	if trimmed.Groups != 1 || trimmed.Entries < 5 {
		t.Errorf("%+v: expected one record and all entries", trimmed)
	}
	wantCode(t, ledger.SetKeep(bg, -time.Second, now), quoit.Invalid)
}

func TestJournalListsChangesAndCanBeCompacted(t *testing.T) {
	first, _ := newDatabase(t, "v6e 4x4 x2", time.Second)
	if err := first.SetActor("me"); err != nil {
		t.Fatal(err)
	}
	group := reserve(t, first, sliceRequest("train", 1))
	if err := first.Release(bg, group.Handle(), now); err != nil {
		t.Fatal(err)
	}
	entries := must[[]quoit.Entry](t)(first.ChangesSince(bg, 1))
	if len(entries) != 2 || entries[0].Seq != 2 || entries[0].Verb != "reserve" || entries[0].Actor != "me" {
		t.Fatalf("%+v: expected a reservation and its release", entries)
	}
	effect := entries[0].Effects[0]
	if effect.Type != quoit.EffectGroupAdded || effect.GroupName != "train" || effect.GroupID != group.ID() ||
		!strings.Contains(effect.Text, "train@1") || !entries[1].Time.Equal(now) {
		t.Errorf("%+v: expected the group", effect)
	}
	past := must[*quoit.Snapshot](t)(first.SnapshotAt(bg, 2))
	defer past.Close()
	if groups := must[[]*quoit.Group](t)(past.Groups()); len(groups) != 1 {
		t.Errorf("%v: expected the group that was released later", groups)
	}
	backup := filepath.Join(t.TempDir(), "copy.db")
	if err := first.Backup(bg, backup); err != nil {
		t.Fatal(err)
	}
	wantCode(t, first.Backup(bg, backup), quoit.Conflict)
	if removed := must[uint64](t)(first.Compact(bg, 3, now)); removed != 2 {
		t.Errorf("%d entries were removed: expected 2", removed)
	}
	checkpoint := must[quoit.Checkpoint](t)(first.Checkpoint(bg))
	if checkpoint.Seq != 2 || !checkpoint.Made.Equal(now) {
		t.Errorf("%+v: expected a checkpoint after entry 2", checkpoint)
	}
	_, err := first.SnapshotAt(bg, 1)
	wantCode(t, err, quoit.NotFound)
	if err := first.Verify(bg); err != nil {
		t.Error(err)
	}
	copied := must[*quoit.Ledger](t)(quoit.Open(backup, time.Second))
	defer copied.Close()
	if seq := must[uint64](t)(newSnapshot(t, copied).Seq()); seq != 3 {
		t.Errorf("the copy has %d entries: expected 3", seq)
	}
}

func TestLoadTextReadsTheWholeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(path, []byte("a\x00b"), 0o600); err != nil {
		t.Fatal(err)
	}
	if text := must[[]byte](t)(quoit.LoadText(path)); string(text) != "a\x00b" {
		t.Errorf("%q: expected all of it", text)
	}
	_, err := quoit.LoadText(path + ".not")
	wantCode(t, err, quoit.NotFound)
	_, err = quoit.LoadText(t.TempDir())
	wantCode(t, err, quoit.Invalid)
}

// --- elastic jobs ---

func TestRenumberReportsTheEffectOfAResize(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	request := sliceRequest("train", 2)
	request.SlicesAtLeast = 1
	group := reserve(t, ledger, request)
	if err := ledger.SetNodeState(bg, "v6e-4x4-0-1", quoit.NodeDead, now); err != nil {
		t.Fatal(err)
	}
	lost := must[*quoit.Group](t)(newSnapshot(t, ledger).Group("train"))
	if info := must[quoit.GroupInfo](t)(lost.Info()); info.State != quoit.GroupRescheduling ||
		info.Slices[0].State != quoit.SliceLost || info.Slices[1].State != quoit.SliceWhole {
		t.Errorf("%+v: expected a lost slice", info)
	}
	change := must[*quoit.GroupChange](t)(ledger.Resize(bg, group.Handle(), 1, now))
	defer change.Close()
	before := must[*quoit.Topology](t)(change.Before.Topology(quoit.Launch{}))
	after := must[*quoit.Topology](t)(change.After.Topology(quoit.Launch{}))
	renumbering := must[*quoit.Renumbering](t)(quoit.Renumber(before, after))
	if len(renumbering.Rows) != 8 || renumbering.Changed != 8 {
		t.Fatalf("%+v: expected eight rows", renumbering)
	}
	row := renumbering.Rows[0]
	if row.Change != quoit.ProcessMoved || row.Before != (quoit.ProcessIDs{ProcessID: 4, SliceID: 1, WorkerID: 0}) ||
		row.After != (quoit.ProcessIDs{ProcessID: 0, SliceID: 0, WorkerID: 0}) {
		t.Errorf("%+v: expected another process id", row)
	}
	gone := renumbering.Rows[7]
	if gone.Change != quoit.ProcessLeft || gone.After.ProcessID != -1 || gone.Slice != "v6e-4x4-0" {
		t.Errorf("%+v: expected a process that left", gone)
	}
	for _, variable := range row.Variables {
		if variable.Name == "MEGASCALE_NUM_SLICES" && (variable.Before == nil || variable.After != nil) {
			t.Errorf("%+v: expected that the variable is no longer set", variable)
		}
	}
	if same := must[*quoit.Renumbering](t)(quoit.Renumber(after, after)); same.Changed != 0 {
		t.Errorf("%+v: expected no change", same)
	}
	if joined := must[*quoit.Renumbering](t)(quoit.Renumber(nil, after)); joined.Rows[0].Change != quoit.ProcessJoined {
		t.Errorf("%+v: expected processes that joined", joined)
	}
	released := must[*quoit.GroupChange](t)(ledger.ReleaseSlice(bg, "train", "v6e-4x4-1", now))
	if released.After != nil || released.Unchanged {
		t.Errorf("%+v: expected that the group has ended", released)
	}
	released.Close()
}

func TestRepairReplacesOnlyLostAndLeavingSlices(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	group := reserve(t, ledger, sliceRequest("train", 2))
	if change := must[*quoit.GroupChange](t)(ledger.Repair(bg, group.Handle(), now)); !change.Unchanged {
		t.Error("a whole group was changed")
	}
	if err := ledger.DrainNode(bg, "v6e-4x4-1-0", now); err != nil {
		t.Fatal(err)
	}
	change := must[*quoit.GroupChange](t)(ledger.Repair(bg, group.Handle(), now))
	info := must[quoit.GroupInfo](t)(change.After.Info())
	if change.Unchanged || info.Slices[0].Name != "v6e-4x4-0" || info.Slices[1].Name != "v6e-4x4-2" {
		t.Errorf("%+v: expected another slice instead of the leaving one", info)
	}
	if err := ledger.UndrainNode(bg, "v6e-4x4-1-0", now); err != nil {
		t.Fatal(err)
	}
	_, err := ledger.Repair(bg, "nobody", now)
	wantCode(t, err, quoit.NotFound)
}

func TestTopologyHasTheEnvironmentOfEachProcess(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	group := reserve(t, ledger, sliceRequest("train", 2))
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{}))
	if len(topology.Processes) != 8 {
		t.Fatalf("%d processes: expected 8", len(topology.Processes))
	}
	process := topology.Processes[5]
	if process.ProcessID != 5 || process.SliceID != 1 || process.WorkerID != 1 || process.Node != "v6e-4x4-1-1" || process.Slice != "v6e-4x4-1" {
		t.Errorf("%+v: expected process 5, slice 1, worker 1", process)
	}
	values := map[string]string{}
	for _, one := range process.Environment {
		values[one.Name] = one.Value
	}
	if values["MEGASCALE_SLICE_ID"] != "1" || values["TPU_WORKER_ID"] != "1" || values["TPU_ACCELERATOR_TYPE"] != "v6e-16" {
		t.Errorf("%v: expected the ids of slice 1, worker 1", values)
	}
	_, err := group.Topology(quoit.Launch{Profile: quoit.Profile(99)})
	wantCode(t, err, quoit.Invalid)
	_, err = group.Topology(quoit.Launch{Profile: quoit.ProfileRayTrain})
	wantCode(t, err, quoit.NotNow)
}
