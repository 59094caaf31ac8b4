// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"quoit"
)

func TestGraphHasAVertexForEachNodeAndChip(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	reserve(t, ledger, sliceRequest("train", 2))
	snapshot := newSnapshot(t, ledger)
	var written struct {
		Graph struct {
			Nodes []struct {
				Metadata struct{ Type string }
			}
		}
	}
	if err := json.Unmarshal([]byte(must[string](t)(snapshot.Graph(quoit.GraphFormJGF))), &written); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for _, vertex := range written.Graph.Nodes {
		counts[vertex.Metadata.Type]++
	}
	expected := map[string]int{"fleet": 1, "source": 1, "pool": 1, "slice": 2, "node": 8, "chip": 32, "group": 1}
	for word, count := range expected {
		if counts[word] != count {
			t.Errorf("%d vertices have the type %s: expected %d", counts[word], word, count)
		}
	}
	if dot := must[string](t)(snapshot.Graph(quoit.GraphFormDOT)); !strings.HasPrefix(dot, "digraph fleet {") {
		t.Errorf("'%.40s': expected a graph for Graphviz", dot)
	}
	_, err := snapshot.Graph(9)
	wantCode(t, err, quoit.Invalid)
}

func TestFleetIsWrittenAsText(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2 pool=a; group train v6e 4x4 owner=ann")
	expected := "v6e 4x4 x2 pool=a;\ngroup train v6e 4x4 x1 pool=a slices=0 owner=ann\n"
	if text := must[string](t)(newSnapshot(t, ledger).FleetText()); text != expected {
		t.Errorf("'%s': expected '%s'", text, expected)
	}
	empty := quoit.OpenMemory()
	t.Cleanup(empty.Close)
	_, err := newSnapshot(t, empty).FleetText()
	wantCode(t, err, quoit.NotFound)
}

func TestSnapshotReturnsTheWholeFleet(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2 zone=us-east5-b; v5p 2x2x4 pool=big draining=0.1 dead=0.3")
	group := reserve(t, ledger, sliceRequest("train", 1))
	snapshot := newSnapshot(t, ledger)

	sources := must[[]quoit.Source](t)(snapshot.Sources())
	if !reflect.DeepEqual(sources, []quoit.Source{{Name: "fleet", Kind: quoit.FleetText}}) {
		t.Errorf("%+v", sources)
	}
	pools := must[[]quoit.Pool](t)(snapshot.Pools())
	if len(pools) != 2 || pools[0].Name != "big" || pools[0].Nodes != 4 || pools[1].Slices != 2 {
		t.Errorf("%+v", pools)
	}
	all := must[[]quoit.Slice](t)(snapshot.Slices())
	if len(all) != 3 || all[0].FullName != "fleet/big/big-0" || all[0].Problem == "" || all[0].Missing != 1 ||
		all[0].Flags&quoit.SliceIntact != 0 || all[0].Flags&quoit.SliceDraining == 0 {
		t.Errorf("%+v", all)
	}
	if all[1].Accelerator != "v6e" || all[1].Topology != "4x4" || all[1].Hosts != 4 || all[1].ChipsPerHost != 4 ||
		all[1].Flags&(quoit.SliceAllocated|quoit.SliceFull) != quoit.SliceAllocated|quoit.SliceFull || all[2].FirstNode != 8 {
		t.Errorf("%+v", all[1])
	}
	nodes := must[[]quoit.Node](t)(snapshot.Nodes())
	if len(nodes) != 12 || nodes[1].State != quoit.NodeDraining || nodes[3].State != quoit.NodeDead ||
		nodes[5].Slice != 1 || nodes[5].WorkerID != 1 || nodes[5].Chips != 4 || nodes[5].Pool != 1 ||
		!reflect.DeepEqual(nodes[5].Sources, []string{"fleet"}) {
		t.Errorf("%+v", nodes)
	}
	users := must[[]quoit.NodeUser](t)(snapshot.NodeUsers(5))
	if len(users) != 1 || users[0].Group.Handle() != group.Handle() || users[0].Share != "" {
		t.Errorf("%+v", users)
	}
	zone, has, err := snapshot.NodeLabel(5, "ray.io/availability-zone")
	if zone != "us-east5-b" || !has || err != nil {
		t.Errorf("'%s', %t, %v", zone, has, err)
	}
	if _, has, _ := snapshot.NodeLabel(0, "nothing"); has {
		t.Error("the node has a label 'nothing'")
	}
	resources := must[[]quoit.NodeResource](t)(snapshot.NodeResources(4))
	amounts := map[string]string{}
	for _, one := range resources {
		amounts[one.Name] = one.Total + " " + one.Available + " " + one.Reserved
	}
	if amounts["TPU"] != "4 0 4" || amounts["TPU-v6e-16-head"] != "1 0 1" {
		t.Errorf("%v", amounts)
	}
	for _, one := range must[[]quoit.Resource](t)(snapshot.Resources()) {
		expected := quoit.Amounts{Total: "48", Available: "24", Draining: "4", Held: "0", Reserved: "16", External: "0",
			Down: "4", Lost: "0"}
		if one.Name == "TPU" && one.Amounts != expected {
			t.Errorf("%+v", one)
		}
	}
	classes := must[[]quoit.Class](t)(snapshot.Classes())
	for _, class := range classes {
		free := must[int](t)(snapshot.CountSlicesOfClass(class.Index, quoit.SliceFree))
		if class.Topology == "4x4" && (class.Slices != 2 || class.Hosts != 4 || free != 1) {
			t.Errorf("%+v: %d slices are free", class, free)
		}
	}
	var document struct{ Schema string }
	if err := json.Unmarshal([]byte(must[string](t)(snapshot.JSON())), &document); err != nil || document.Schema != "quoit/1" {
		t.Errorf("%+v, %v", document, err)
	}
	if clock := must[time.Time](t)(snapshot.Clock()); !clock.Equal(now) {
		t.Errorf("%v: expected %v", clock, now)
	}
}

func TestUnknownNamesAndIndicesAreRefused(t *testing.T) {
	snapshot := newSnapshot(t, newLedger(t, "v6e 4x4 x2"))
	if slice := must[quoit.Slice](t)(snapshot.Slice("v6e-4x4-1")); slice.Index != 1 {
		t.Errorf("%+v", slice)
	}
	if node := must[quoit.Node](t)(snapshot.Node("fleet/v6e-4x4/v6e-4x4-1-2")); node.Index != 6 {
		t.Errorf("%+v", node)
	}
	_, err := snapshot.Slice("none")
	wantCode(t, err, quoit.NotFound)
	_, err = snapshot.Node("none")
	wantCode(t, err, quoit.NotFound)
	_, err = snapshot.Group("none")
	wantCode(t, err, quoit.NotFound)
	_, err = snapshot.ExplainGroup("none")
	wantCode(t, err, quoit.NotFound)
	for _, number := range []int{-1, 8, 1 << 40} {
		_, err = snapshot.NodeUsers(number)
		wantCode(t, err, quoit.Invalid)
		_, err = snapshot.NodeResources(number)
		wantCode(t, err, quoit.Invalid)
		_, _, err = snapshot.NodeLabel(number, "key")
		wantCode(t, err, quoit.Invalid)
		_, err = snapshot.CountSlicesOfClass(number, quoit.SliceFree)
		wantCode(t, err, quoit.Invalid)
	}
	for _, flag := range []quoit.SliceFlags{0, 3, 128, 1 << 31} {
		_, err = snapshot.CountSlicesOfClass(0, flag)
		wantCode(t, err, quoit.Invalid)
	}
}

func TestForkDoesNotChangeItsLedger(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	snapshot := newSnapshot(t, ledger)
	before := must[string](t)(snapshot.JSON())
	fork := must[*quoit.Fork](t)(snapshot.Fork())
	defer fork.Close()
	elastic := sliceRequest("a", 2)
	elastic.SlicesAtLeast = 1
	group := must[*quoit.Group](t)(fork.Reserve(elastic, now))
	must[*quoit.Group](t)(fork.Hold(sliceRequest("b", 1), time.Minute, now))
	if err := fork.SetNodeState("v6e-4x4-0-0", quoit.NodeDead, now); err != nil {
		t.Fatal(err)
	}
	if err := fork.Release("b", now); err != nil {
		t.Fatal(err)
	}
	if change := must[*quoit.GroupChange](t)(fork.Repair(group.Handle(), now)); change.Unchanged {
		t.Error("nothing was repaired")
	}
	change := must[*quoit.GroupChange](t)(fork.Resize(group.Handle(), 1, now))
	if info := must[quoit.GroupInfo](t)(change.After.Info()); len(info.Slices) != 1 {
		t.Errorf("%+v: expected one slice", info)
	}
	found := must[*quoit.Import](t)(fork.Sync(&quoit.Input{Kind: quoit.FleetText, Text: []byte("v6e 4x4 x2")}, now))
	if found.IsNew || found.Nodes != 8 || len(found.Changes) == 0 {
		t.Errorf("%+v: expected a difference", found)
	}
	more := &quoit.Input{Kind: quoit.FleetText, Text: []byte("v5e 2x4 x2"), Source: "other"}
	found = must[*quoit.Import](t)(fork.Import(more, now))
	if !found.IsNew || found.Nodes == 0 {
		t.Errorf("%+v: expected a new source", found)
	}
	now := must[*quoit.Snapshot](t)(fork.Snapshot())
	defer now.Close()
	if must[string](t)(now.JSON()) == before {
		t.Error("the fork has not changed")
	}
	if err := now.Check(); err != nil {
		t.Error(err)
	}
	if must[string](t)(newSnapshot(t, ledger).JSON()) != before {
		t.Error("the ledger has changed with the fork")
	}
}

func TestForkForgetsRecords(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	for _, key := range []string{"a", "b", "c"} {
		request := sliceRequest(key, 1)
		request.Key = key
		group := must[*quoit.Group](t)(ledger.Reserve(bg, request, now))
		if err := ledger.Release(bg, group.Handle(), now); err != nil {
			t.Fatal(err)
		}
	}
	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	if err := fork.Forget("a@1", now); err != nil {
		t.Fatal(err)
	}
	if err := fork.ForgetKey("b", now); err != nil {
		t.Fatal(err)
	}
	wantCode(t, fork.Forget("a@1", now), quoit.NotFound)
	wantCode(t, fork.Forget("c", now), quoit.Invalid)
	wantCode(t, fork.ForgetKey("b", now), quoit.NotFound)
	_, err := fork.ForgetBefore(now, time.Time{})
	wantCode(t, err, quoit.Invalid)
	if n := must[int](t)(fork.ForgetBefore(now.Add(time.Millisecond), now)); n != 1 {
		t.Errorf("%d records were forgotten, expected 1", n)
	}
	if err := ledger.ForgetKey(bg, "a", now); err != nil {
		t.Fatal(err)
	}
	if err := ledger.CommitFork(bg, fork, now); err != nil {
		t.Fatal(err)
	}
	_, err = newSnapshot(t, ledger).GroupByKey("c")
	wantCode(t, err, quoit.NotFound)
}

func TestForkIsCommittedUnlessWhatItDependsOnHasChanged(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x3")
	snapshot := newSnapshot(t, ledger)
	fork, late := must[*quoit.Fork](t)(snapshot.Fork()), must[*quoit.Fork](t)(snapshot.Fork())
	defer fork.Close()
	defer late.Close()
	must[*quoit.Group](t)(fork.Reserve(sliceRequest("a", 2), now))
	mark := must[uint32](t)(fork.Mark())
	must[*quoit.Group](t)(fork.Reserve(sliceRequest("b", 1), now))
	if err := fork.RollBack(mark); err != nil {
		t.Fatal(err)
	}
	wantCode(t, fork.RollBack(mark+1), quoit.Invalid)
	must[*quoit.Group](t)(late.Reserve(sliceRequest("c", 1), now))
	if err := ledger.CommitFork(bg, fork, now); err != nil {
		t.Fatal(err)
	}
	wantCode(t, ledger.CommitFork(bg, late, now), quoit.Conflict)
	wantCode(t, ledger.CommitFork(bg, nil, now), quoit.Invalid)
	groups := must[[]*quoit.Group](t)(newSnapshot(t, ledger).Groups())
	if len(groups) != 1 || !strings.HasPrefix(groups[0].Handle(), "a@") {
		t.Errorf("%d groups: expected the one of the first fork", len(groups))
	}
}

func TestSyncReportsLostNodes(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	group := reserve(t, ledger, sliceRequest("train", 2))
	smaller := &quoit.Input{Kind: quoit.FleetText, Text: []byte("v6e 4x4 x1")}
	_, err := ledger.Import(bg, smaller, now)
	wantCode(t, err, quoit.Conflict)
	found := must[*quoit.Import](t)(ledger.Sync(bg, smaller, now))
	lost, groupSlices := 0, 0
	for _, change := range found.Changes {
		switch change.Kind {
		case quoit.ChangeLost:
			lost++
			if change.Group != group.Handle() {
				t.Errorf("%+v: expected the group", change)
			}
		case quoit.ChangeGroupSlice:
			groupSlices++
		}
	}
	if found.Source != "fleet" || found.Nodes != 4 || lost != 4 || groupSlices != 1 {
		t.Errorf("%+v: expected four lost nodes and one slice", found)
	}
}

func TestManifestIsImportedAndChecked(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "raycluster-v6e-4x4-x2.yaml"))
	if err != nil {
		t.Skip("the examples of the source tree are missing")
	}
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	input := &quoit.Input{Kind: quoit.RayCluster, Text: text, Source: "mine"}
	if found := must[*quoit.Import](t)(ledger.Import(bg, input, now)); found.Source != "mine" || found.Nodes != 9 || !found.IsNew {
		t.Errorf("%+v: expected nine nodes", found)
	}
	group := reserve(t, ledger, sliceRequest("train", 2))
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{}))
	if len(topology.Notes) == 0 {
		t.Error("no note states that the addresses are unknown")
	}
	findings := must[[]quoit.Finding](t)(quoit.CheckManifest(text, nil))
	for _, finding := range findings {
		if finding.Severity == quoit.SeverityError {
			t.Errorf("%+v: expected none", finding)
		}
	}
	wrong := strings.Replace(string(text), "numOfHosts: 4", "numOfHosts: 3", 1)
	if wrong == string(text) {
		t.Fatal("the example has no numOfHosts to change")
	}
	errors := 0
	for _, finding := range must[[]quoit.Finding](t)(quoit.CheckManifest([]byte(wrong), nil)) {
		if finding.Severity == quoit.SeverityError {
			errors++
			if finding.Line == 0 || finding.Path == "" || finding.Expected == "" || finding.Message == "" {
				t.Errorf("%+v: expected line, path, expectation and message", finding)
			}
		}
	}
	if errors == 0 {
		t.Error("CheckManifest did not find the wrong number of hosts")
	}
	_, err = quoit.CheckManifest([]byte("a: [b"), nil)
	wantCode(t, err, quoit.Invalid)
	if rules := quoit.Rules(); len(rules) < 20 || rules[0].Name == "" || rules[0].Severity == 0 {
		t.Errorf("%d rules", len(rules))
	}
}

func TestBundlesAreReservedAndExplained(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	request := &quoit.Request{
		Name: "train", Strategy: quoit.StrictSpread, TopologyLabel: "ray.io/tpu-slice-name",
		Bundles: []quoit.BundleRequest{{Amounts: "TPU=4", Count: 3},
			{Amounts: "TPU=2", Selectors: []quoit.Selector{{Key: "ray.io/tpu-worker-id", Value: "3"}}}},
	}
	group := reserve(t, ledger, request)
	info := must[quoit.GroupInfo](t)(group.Info())
	if len(info.Bundles) != 4 || !strings.HasSuffix(info.Bundles[3].Node, "-3") || info.Bundles[0].Chips != 15 ||
		!reflect.DeepEqual(info.Bundles[3].Resources, []quoit.Amount{{Name: "TPU", Amount: "2"}}) {
		t.Errorf("%+v: expected four bundles", info.Bundles)
	}
	if _, _, err := newSnapshot(t, ledger).Test(request); !errors.Is(err, quoit.Invalid) {
		t.Errorf("%v: expected that bundles are refused", err)
	}
	request.Name = "more"
	request.Bundles[0].Count = 7
	report := must[*quoit.Report](t)(newSnapshot(t, ledger).Explain(request))
	if report.Verdict != quoit.FitsNever || !report.IsOfBundles || report.Wanted != 8 || report.RayAnswer == quoit.RayNone {
		t.Errorf("%+v: expected that it never fits", report)
	}
	if text := must[string](t)(report.Summary("8 bundles")); !strings.HasPrefix(text, "8 bundles: never") {
		t.Errorf("'%s': expected the verdict", text)
	}
	if _, err := (&quoit.Report{}).Summary("x"); err == nil {
		t.Error("a report that the package did not create has a summary")
	}
	file := &quoit.Request{Name: "file", BundlesFile: []byte(`{"bundles": [{"TPU": 4}], "strategy": "SPREAD"}`)}
	reserve(t, ledger, file)
	for _, bad := range []*quoit.Request{
		{Name: "x", Bundles: []quoit.BundleRequest{{Amounts: "TPU"}}},
		{Name: "x", Bundles: []quoit.BundleRequest{{Amounts: "TPU=1", Count: -1}}},
		{Name: "x", Bundles: []quoit.BundleRequest{{Amounts: "TPU=1"}}, Strategy: 99},
		{Name: "x", Bundles: []quoit.BundleRequest{{Amounts: "TPU=1"}}, Policy: 99},
		{Name: "x", BundlesFile: []byte{}},
	} {
		wantCode(t, bad.Check(), quoit.Invalid)
	}
	if err := request.Check(); err != nil {
		t.Error(err)
	}
}

// --- the catalogue ---

func TestCatalogueAcceptsEverySpelling(t *testing.T) {
	generations := quoit.Generations()
	if len(generations) < 6 {
		t.Fatalf("%d generations: expected six or more", len(generations))
	}
	for _, one := range generations {
		spellings := append([]string{one.ID, one.Name, one.RayResource}, one.GKELabels...)
		for _, spelling := range append(spellings, one.Aliases...) {
			if spelling == "" {
				continue
			}
			if found := must[*quoit.Generation](t)(quoit.LookupGeneration(spelling)); found.ID != one.ID {
				t.Errorf("'%s' is %s: expected %s", spelling, found.ID, one.ID)
			}
		}
		for _, shape := range one.Shapes() {
			found := must[quoit.Shape](t)(one.LookupShape(shape.Topology, shape.ChipsPerHost))
			shape.MachineType = found.MachineType // one shape can have several machine types
			if found != shape || shape.Chips != shape.Hosts*shape.ChipsPerHost {
				t.Errorf("%s %+v: expected %+v", one.ID, found, shape)
			}
		}
		if len(one.Machines()) == 0 && len(one.GKELabels) > 0 {
			t.Errorf("%s has no machine types", one.ID)
		}
	}
	_, err := quoit.LookupGeneration("v99")
	wantCode(t, err, quoit.Invalid)
	v6e := must[*quoit.Generation](t)(quoit.LookupGeneration("Trillium"))
	for _, bad := range []string{"", "4x", "99999x99999", "5x5"} {
		_, err = v6e.LookupShape(bad, 0)
		wantCode(t, err, quoit.Invalid)
	}
	_, err = v6e.LookupShape("4x4", -1)
	wantCode(t, err, quoit.Invalid)
	_, err = (&quoit.Generation{}).LookupShape("4x4", 0)
	wantCode(t, err, quoit.Invalid)
	if (&quoit.Generation{}).Shapes() != nil || (&quoit.Generation{}).Machines() != nil {
		t.Error("a generation that the package did not create has shapes or machines")
	}
	if v6e.JAXDevicesPerChip != 1 || v6e.Dims != 2 || v6e.RayVersion != "v6e" {
		t.Errorf("%+v", v6e)
	}
}

func TestLibraryVersionHasThreeNumbers(t *testing.T) {
	if parts := strings.Split(quoit.LibraryVersion(), "."); len(parts) != 3 {
		t.Errorf("'%s': expected three numbers", quoit.LibraryVersion())
	}
}
