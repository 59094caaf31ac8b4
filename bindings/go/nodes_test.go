// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"quoit"
)

func hostFacts(slice int, worker int64) quoit.NodeFacts {
	return quoit.NodeFacts{
		Name: fmt.Sprintf("s%d-%d", slice, worker), Pool: "a", Slice: fmt.Sprintf("s%d", slice), WorkerID: worker,
		Accelerator: "v6e", Topology: "4x4", TenThousandths: map[string]int64{"TPU": 40000, "CPU": 5000},
	}
}

func fleetFacts(slices int) (nodes []quoit.NodeFacts) {
	for slice := 0; slice < slices; slice++ {
		for worker := int64(0); worker < 4; worker++ {
			nodes = append(nodes, hostFacts(slice, worker))
		}
	}
	return nodes
}

func newLedgerOfNodes(t *testing.T, nodes []quoit.NodeFacts) *quoit.Ledger {
	t.Helper()
	ledger := quoit.OpenMemory()
	t.Cleanup(func() { ledger.Close() })
	must[*quoit.Import](t)(ledger.Import(bg, &quoit.Input{Kind: quoit.RayNodes, Nodes: nodes}, now))
	return ledger
}

func TestUpdateChangesAFewNodes(t *testing.T) {
	ledger := newLedgerOfNodes(t, fleetFacts(2))
	group := reserve(t, ledger, sliceRequest("train", 1))
	dead := hostFacts(1, 0)
	dead.State = quoit.NodeDead
	update := &quoit.NodesUpdate{Nodes: []quoit.NodeFacts{dead, hostFacts(2, 0)}, Remove: []string{"s0-3", "nobody"}}

	fork := must[*quoit.Fork](t)(newSnapshot(t, ledger).Fork())
	defer fork.Close()
	planned := must[*quoit.Import](t)(fork.UpdateNodes(update, now))
	found := must[*quoit.Import](t)(ledger.UpdateNodes(bg, update, now))
	if !reflect.DeepEqual(planned, found) {
		t.Errorf("%+v: expected %+v", planned, found)
	}
	var kinds []quoit.ChangeKind
	for _, change := range found.Changes {
		kinds = append(kinds, change.Kind)
		if change.Kind == quoit.ChangeLost && change.Group != group.Handle() {
			t.Errorf("%+v: expected the group", change)
		}
	}
	want := []quoit.ChangeKind{quoit.ChangeState, quoit.ChangeAdded, quoit.ChangeLost, quoit.ChangeGroupSlice}
	if !reflect.DeepEqual(kinds, want) || found.Nodes != 9 {
		t.Errorf("%+v: expected the kinds %v and 9 nodes", found, want)
	}
	again := must[*quoit.Import](t)(ledger.UpdateNodes(bg, update, now))
	if len(again.Changes) != 0 {
		t.Errorf("%+v: expected no change", again)
	}
}

// rayRows returns the nodes as the JSON of `ray list nodes`.
func rayRows(t *testing.T, nodes []quoit.NodeFacts) []byte {
	t.Helper()
	rows := []map[string]any{}
	for _, node := range nodes {
		resources := map[string]float64{}
		for name, amount := range node.TenThousandths {
			resources[name] = float64(amount) / 10000
		}
		rows = append(rows, map[string]any{
			"node_id": node.ID, "node_name": node.Name, "node_ip": node.Address,
			"state":           strings.ToUpper([]string{"alive", "draining", "dead"}[node.State]),
			"resources_total": resources,
			"labels": map[string]string{
				"ray.io/node-group": node.Pool, "ray.io/tpu-slice-name": node.Slice,
				"ray.io/tpu-worker-id": fmt.Sprint(node.WorkerID), "ray.io/tpu-topology": node.Topology,
				"ray.io/tpu-pod-type": "v6e-16", "ray.io/accelerator-type": "TPU-V6E",
			},
		})
	}
	return must[[]byte](t)(json.Marshal(rows))
}

func TestNodesEqualThoseOfRaysJSON(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for round := 0; round < 10; round++ {
		var nodes []quoit.NodeFacts
		for _, node := range fleetFacts(6) {
			node.ID = fmt.Sprintf("%056x", random.Int63())
			node.Address = "10.0.0." + fmt.Sprint(len(nodes))
			node.State = quoit.NodeState(random.Intn(3))
			if random.Intn(8) > 0 {
				nodes = append(nodes, node)
			}
		}
		ledger := quoit.OpenMemory()
		must[*quoit.Import](t)(ledger.Import(bg, &quoit.Input{Kind: quoit.RayNodes, Text: rayRows(t, nodes)}, now))
		wantState := must[string](t)(newSnapshot(t, ledger).JSON())
		gotState := must[string](t)(newSnapshot(t, newLedgerOfNodes(t, nodes)).JSON())
		if wantState != gotState {
			t.Errorf("round %d: the fleets differ", round)
		}
		ledger.Close()
	}
}

func TestWrongNodesAreRefused(t *testing.T) {
	ledger := newLedgerOfNodes(t, fleetFacts(1))
	for _, wrong := range []quoit.NodeFacts{
		{}, {Name: "n\x00"}, {Name: "n", State: 7}, {Name: "n", Labels: map[string]string{"-": ""}},
		{Name: "n", Labels: map[string]string{"k": "\x00"}}, {Name: "n", TenThousandths: map[string]int64{"CPU": -1}},
		{Name: "n", TenThousandths: map[string]int64{"\x00": 1}}, {Name: "n", Slice: "s"},
		{Name: "n", Pool: "a b"}, {Name: "n", TenThousandths: map[string]int64{"TPU": 40000}},
	} {
		_, err := ledger.UpdateNodes(bg, &quoit.NodesUpdate{Nodes: []quoit.NodeFacts{wrong}}, now)
		wantCode(t, err, quoit.Invalid)
	}
	for _, wrong := range []*quoit.NodesUpdate{
		nil, {Remove: []string{""}}, {Remove: []string{"\x00"}}, {TPUPerChip: 65},
		{Nodes: fleetFacts(1), Remove: []string{"s0-0"}},
	} {
		_, err := ledger.UpdateNodes(bg, wrong, now)
		wantCode(t, err, quoit.Invalid)
	}
	_, err := ledger.UpdateNodes(bg, &quoit.NodesUpdate{Source: "other"}, now)
	wantCode(t, err, quoit.NotFound)
	_, err = ledger.Sync(bg, &quoit.Input{Kind: quoit.FleetText, Nodes: fleetFacts(1)}, now)
	wantCode(t, err, quoit.Invalid)
	if nodes := must[*quoit.Import](t)(ledger.UpdateNodes(bg, &quoit.NodesUpdate{}, now)).Nodes; nodes != 4 {
		t.Errorf("%d nodes: expected 4", nodes)
	}
}
