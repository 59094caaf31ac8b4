// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"quoit"
)

func fourChips(available, reserved, external string) quoit.Amounts {
	return quoit.Amounts{Total: "4", Available: available, Draining: "0", Held: "0", Reserved: reserved,
		External: external, Down: "0", Lost: "0"}
}

func TestNodeChipsListsTheChipsOfEachUser(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4; v6e 2x2 x2 pool=small busy=1")
	whole := reserve(t, ledger, sliceRequest("train", 1))
	part := reserve(t, ledger, &quoit.Request{Name: "part", Bundles: []quoit.BundleRequest{{Amounts: "TPU=2"}}})
	snapshot := newSnapshot(t, ledger)
	for name, expected := range map[string]quoit.NodeChips{
		"v6e-4x4-0-2": {Users: []quoit.ChipUser{{GroupID: whole.ID(), Chips: 0xf}}, Amounts: fourChips("0", "4", "0")},
		"small-0-0":   {Users: []quoit.ChipUser{{GroupID: part.ID(), Chips: 0x3}}, Amounts: fourChips("2", "2", "0")},
		"small-1-0":   {Users: []quoit.ChipUser{}, External: 0xf, Amounts: fourChips("0", "0", "4")},
	} {
		node := must[quoit.Node](t)(snapshot.Node(name))
		if chips := must[quoit.NodeChips](t)(snapshot.NodeChips(node.Index)); !reflect.DeepEqual(chips, expected) {
			t.Errorf("%s: %+v: expected %+v", name, chips, expected)
		}
	}
	for _, number := range []int{-1, 6, 1 << 40} {
		_, err := snapshot.NodeChips(number)
		wantCode(t, err, quoit.Invalid)
	}
	snapshot.Close()
	if _, err := snapshot.NodeChips(0); !errors.Is(err, quoit.ErrClosed) {
		t.Errorf("%v: expected ErrClosed", err)
	}
}

const twoHosts = `{"kind": "List", "items": [
  {"kind": "Node", "metadata": {"name": "gke-tpu-a-0", "uid": "u0", "labels": {
     "cloud.google.com/gke-nodepool": "pool-a", "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
     "cloud.google.com/gke-tpu-topology": "2x4", "cloud.google.com/gke-accelerator-count": "4"}},
   "status": {"allocatable": {"google.com/tpu": "4"}, "capacity": {"google.com/tpu": "4"},
     "conditions": [{"type": "Ready", "status": "True"}], "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}]}},
  {"kind": "Node", "metadata": {"name": "gke-tpu-a-1", "uid": "u1", "labels": {
     "cloud.google.com/gke-nodepool": "pool-a", "cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
     "cloud.google.com/gke-tpu-topology": "2x4", "cloud.google.com/gke-accelerator-count": "4"}},
   "spec": {"unschedulable": true},
   "status": {"allocatable": {"google.com/tpu": "4"}, "capacity": {"google.com/tpu": "4"},
     "conditions": [{"type": "Ready", "status": "True"}], "addresses": [{"type": "InternalIP", "address": "10.0.0.2"}]}}]}`

// twoPods has worker ids in a different order than the names of the pods and nodes.
const twoPods = `{"kind": "List", "items": [
  {"kind": "Pod", "metadata": {"namespace": "ray", "name": "w-a"}, "status": {"phase": "Running", "podIP": "10.4.0.1"},
   "spec": {"nodeName": "gke-tpu-a-0", "containers": [{"resources": {"limits": {"google.com/tpu": "4"}},
     "env": [{"name": "TPU_WORKER_ID", "value": "1"}]}]}},
  {"kind": "Pod", "metadata": {"namespace": "ray", "name": "w-b"}, "status": {"phase": "Running", "podIP": "10.4.0.2"},
   "spec": {"nodeName": "gke-tpu-a-1", "containers": [{"resources": {"limits": {"google.com/tpu": "4"}},
     "env": [{"name": "TPU_WORKER_ID", "value": "0"}]}]}}]}`

func TestPodsProvideWorkerIDsOfNodes(t *testing.T) {
	ledger := quoit.OpenMemory()
	t.Cleanup(ledger.Close)
	input := &quoit.Input{Kind: quoit.K8sNodes, Text: []byte(twoHosts), K8sPods: []byte(twoPods)}
	must[*quoit.Import](t)(ledger.Import(bg, input, now))
	nodes := must[[]quoit.Node](t)(newSnapshot(t, ledger).Nodes())
	if len(nodes) != 2 || nodes[0].Name != "gke-tpu-a-1" || nodes[0].Address != "10.4.0.2" || nodes[0].Assumptions != 0 {
		t.Errorf("%+v", nodes)
	}
	input.K8sPods = []byte(strings.ReplaceAll(twoPods, `"value": "1"`, `"value": "2"`))
	if _, err := ledger.Import(bg, input, now); !errors.Is(err, quoit.Invalid) || !strings.Contains(err.Error(), "pods: ") {
		t.Errorf("%v", err)
	}
}

func TestKubernetesNodesAreImported(t *testing.T) {
	ledger := quoit.OpenMemory()
	t.Cleanup(ledger.Close)
	found := must[*quoit.Import](t)(ledger.Import(bg, &quoit.Input{Kind: quoit.K8sNodes, Text: []byte(twoHosts)}, now))
	if found.Source != "k8s" || found.Nodes != 2 {
		t.Errorf("%+v", found)
	}
	snapshot := newSnapshot(t, ledger)
	if sources := must[[]quoit.Source](t)(snapshot.Sources()); len(sources) != 1 || sources[0].Kind != quoit.K8sNodes {
		t.Errorf("%+v", sources)
	}
	nodes := must[[]quoit.Node](t)(snapshot.Nodes())
	if len(nodes) != 2 || nodes[1].State != quoit.NodeDraining || nodes[1].Assumptions&quoit.AssumesWorkerID == 0 {
		t.Errorf("%+v", nodes)
	}
}
