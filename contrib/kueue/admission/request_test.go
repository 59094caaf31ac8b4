// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"quoit"
)

// A Workload as Kueue writes it, with a head without TPUs, two kinds of workers, a flavor and a partial admission.
const wholeWorkload = `{
  "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
  "metadata": {"name": "job-train", "namespace": "team", "uid": "4f6c1a52-0000-4000-8000-000000000001"},
  "spec": {
    "priority": 100, "maximumExecutionTimeSeconds": 3600,
    "podSets": [
      {"name": "head", "count": 1, "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}}},
      {"name": "big", "count": 8, "template": {"spec": {
        "nodeSelector": {"cloud.google.com/gke-tpu-topology": "4x4", "cloud.google.com/gke-nodepool": "pool-a"},
        "containers": [{"resources": {}}, {"resources": {"limits": {"google.com/tpu": 4}}}]}}},
      {"name": "small", "count": 6, "template": {"spec": {
        "nodeSelector": {"cloud.google.com/gke-tpu-topology": "2x2"},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
          {"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["hdd", "tape"]}]}]}}},
        "containers": [{"resources": {"requests": {"google.com/tpu": "4"}}}]}}}
    ]},
  "status": {
    "conditions": [{"type": "QuotaReserved", "status": "True"}],
    "admission": {"podSetAssignments": [
      {"name": "head", "flavors": {"cpu": "default"}, "count": 1},
      {"name": "big", "flavors": {"google.com/tpu": "v6e"}, "count": 8},
      {"name": "small", "flavors": {"google.com/tpu": "v6e"}, "count": 2}]},
    "admissionChecks": [{"name": "quoit", "state": "Pending", "message": "", "retryCount": 2}]}
}`

func parsed(t *testing.T, text string) *Workload {
	t.Helper()
	workload := &Workload{}
	if err := json.Unmarshal([]byte(text), workload); err != nil {
		t.Fatal(err)
	}
	return workload
}

func flavors(topology string) map[string]Flavor {
	flavor := Flavor{}
	flavor.Spec.NodeLabels = map[string]string{AcceleratorLabel: "tpu-v6e-slice"}
	flavor.Spec.TopologyName = topology
	return map[string]Flavor{"v6e": flavor, "default": {}}
}

func TestRequestsHaveEverythingOfTheWorkload(t *testing.T) {
	requests, err := requestsOf(parsed(t, wholeWorkload), flavors(""), "prod")
	if err != nil || len(requests) != 2 {
		t.Fatalf("%v, %v", requests, err)
	}
	big, small := requests[0].request, requests[1].request
	for index, row := range [][2]any{
		{requests[0].podSet, "big"}, {big.Name, "team.job-train.big.4f6c1a52"},
		{big.Key, "4f6c1a52-0000-4000-8000-000000000001.big"}, {big.Accelerator, "tpu-v6e-slice"}, {big.Topology, "4x4"},
		{big.Slices, int64(2)}, {big.ChipsPerHost, int64(4)}, {big.Priority, int32(100)}, {big.ExpectedRuntime, time.Hour},
		{fmt.Sprint(big.Selectors), "[{cloud.google.com/gke-nodepool pool-a} {quoit.dev/cluster prod}]"},
		{fmt.Sprint(big.Labels), "map[kueue-cluster:prod kueue-workload:team/job-train]"},
		{small.Slices, int64(2)}, {small.ChipsPerHost, int64(4)},
		{fmt.Sprint(small.Selectors), "[{disk !in(hdd,tape)} {quoit.dev/cluster prod}]"},
		{uidOf(small.Key), "4f6c1a52-0000-4000-8000-000000000001"},
	} {
		if row[0] != row[1] {
			t.Errorf("row %d: found %v, expected %v", index, row[0], row[1])
		}
	}
}

func TestKeyOfOnePodSetIsTheUID(t *testing.T) {
	requests, err := requestsOf(workloadOf("a", 4), flavors(""), "k8s")
	if err != nil || len(requests) != 1 || requests[0].request.Key != "uid-of-a" {
		t.Fatalf("%v, %v", requests, err)
	}
}

func TestNamesOfPodSetsDiffer(t *testing.T) {
	w := &Workload{Metadata: Metadata{Namespace: "team", Name: strings.Repeat("n", 253), UID: "4f6c1a52-0000"}}
	a, b := nameOf(w, "a", 2), nameOf(w, "b", 2)
	if len(a) != 253 || !strings.HasSuffix(a, "n.a.4f6c1a52") || !strings.HasSuffix(b, "n.b.4f6c1a52") {
		t.Errorf("'%s' and '%s'", a, b)
	}
}

func TestShapesOfPods(t *testing.T) {
	for _, row := range []struct {
		accelerator, topology string
		chips                 int64
		sizes                 string // chips per host of the shapes, in order; "" if refused
	}{
		{"tpu-v6e-slice", "4x4", 4, "4"},
		{"tpu-v6e-slice", "2x4", 4, "4 8"}, // two hosts, or half of one
		{"tpu-v6e-slice", "2x4", 8, "8"},
		{"tpu-v6e-slice", "2x2", 1, "4"},
		{"tpu-v6e-slice", "2x2", 4, "4"},
		{"tpu-v6e-slice", "4x4", 3, ""},
		{"tpu-v6e-slice", "4x4", 8, ""},
		{"tpu-v6e-slice", "3x3", 4, ""},
		{"tpu-v5p-slice", "2x2x2", 4, "4"},
		{"tpu-v9-slice", "2x2", 4, ""},
	} {
		shapes, err := shapesOf(row.accelerator, row.topology, row.chips)
		var sizes []string
		for _, shape := range shapes {
			sizes = append(sizes, fmt.Sprint(shape.ChipsPerHost))
		}
		if found := strings.Join(sizes, " "); found != row.sizes || (err != nil) != (row.sizes == "") {
			t.Errorf("%+v: found '%s', %v", row, found, err)
		}
	}
}

func TestRefusedWorkloads(t *testing.T) {
	for _, row := range []struct{ from, to, flavorTopology, message string }{
		{`"google.com/tpu": 4`, `"google.com/tpu": "1500m"`, "", "pod set 'big': google.com/tpu '1500m': expected a whole number"},
		{`"google.com/tpu": 4`, `"google.com/tpu": 3`, "", "pod set 'big': google.com/tpu '3' of a pod: expected all chips of a host of v6e 4x4"},
		{`"count": 8}`, `"count": 7}`, "", "pod set 'big': 7 pods with 4 chips: expected whole slices of 4x4, which has 16 chips"},
		{`"cloud.google.com/gke-tpu-topology": "4x4", `, "", "", "neither they nor their flavors select 'cloud.google.com/gke-tpu-topology'"},
		{`"NotIn"`, `"Gt"`, "", "pod set 'small': node affinity: operator 'Gt' of 'disk': expected In or NotIn"},
		{`"matchExpressions"`, `"matchFields"`, "", "expected one required term, without matchFields"},
		{"", "", "blocks", "flavor 'v6e' has the topology 'blocks', by which Kueue chooses nodes itself"},
		{`"count": 8}`, `"count": 8, "topologyAssignment": {"levels": ["x"]}}`, "", "by a topology of its own"},
		{`"count": 8}`, `"count": 8, "delayedTopologyRequest": "Pending"}`, "", "by a topology of its own"},
	} {
		text := strings.Replace(wholeWorkload, row.from, row.to, 1)
		_, err := requestsOf(parsed(t, text), flavors(row.flavorTopology), "k8s")
		if err == nil || !strings.Contains(err.Error(), row.message) {
			t.Errorf("%s: found '%v', expected '%s'", row.to, err, row.message)
		}
	}
}

func TestWorkloadsWithRefusedRequestsAreRejected(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	flavor := w.cluster.flavors["v6e"]
	flavor.Spec.TopologyName = "blocks"
	w.cluster.flavors["v6e"] = flavor
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	if check := a.Status.Checks[0]; check.State != Rejected || !strings.Contains(check.Message, "topology 'blocks'") {
		t.Errorf("%+v", check)
	}
	if len(w.liveGroups()) != 0 {
		t.Error("reserved something")
	}
}

func TestUnknownFlavorWaits(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	known := w.cluster.flavors
	w.cluster.flavors = nil
	if err := w.pass(); err == nil || !strings.Contains(err.Error(), "flavor 'v6e' is not known") {
		t.Errorf("%v", err)
	}
	w.checkIsReady(a, false)
	w.cluster.flavors = known
	w.settle()
	w.checkIsReady(a, true)
}

func TestWorkloadWithoutTPUsIsReady(t *testing.T) {
	w := newWorld(t, 1)
	a := w.cluster.addWorkload("a", 1)
	a.Spec.PodSets[0].Template.Spec.Containers = nil
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.checkIsReady(a, true)
	if len(w.liveGroups()) != 0 || len(a.Status.Checks[0].PodSetUpdates) != 0 {
		t.Error("reserved something")
	}
}

func TestNeverIsTriedAgainOrRejected(t *testing.T) {
	for _, row := range []struct {
		reject bool
		state  string
	}{{false, Retry}, {true, Rejected}} {
		w := newWorld(t, 1)
		w.controller.RejectNever = row.reject
		a := w.cluster.addWorkload("a", 2)
		if err := w.pass(); err != nil {
			t.Fatal(err)
		}
		check := a.Status.Checks[0]
		if check.State != row.state || !strings.Contains(check.Message, "never") {
			t.Errorf("%+v", check)
		}
		if row.state == Retry && *check.RequeueAfterSeconds != 600 {
			t.Errorf("again in %d s", *check.RequeueAfterSeconds)
		}
	}
}

func TestPodSetsGetTheirSlicesTogether(t *testing.T) {
	w := newWorld(t, 2)
	a := w.cluster.addWorkload("a", 1)
	second := copied(a.Spec.PodSets[0])
	second.Name, second.Count = "second", 8
	a.Spec.PodSets = append(a.Spec.PodSets, second)
	a.Status.Admission.Assignments = append(a.Status.Admission.Assignments, copied(a.Status.Admission.Assignments[0]))
	a.Status.Admission.Assignments[1].Name = "second"
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	if a.Status.Checks[0].State != Retry || len(w.liveGroups()) != 0 {
		t.Fatalf("%+v", a.Status.Checks[0])
	}
	w.cluster.addSlice("pool2")
	w.cluster.giveQuota(a)
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.checkIsReady(a, true)
	updates := a.Status.Checks[0].PodSetUpdates
	if len(updates) != 2 || updates[0].NodeSelector[MarkKey] == updates[1].NodeSelector[MarkKey] {
		t.Fatalf("%+v", updates)
	}
	w.cluster.remove(a)
	w.settle()
	w.checkNothingLeft()
}

func TestWaitsDouble(t *testing.T) {
	waits := Waits{30 * time.Second, 5 * time.Minute}
	for _, row := range []struct {
		refusals int32
		fits     time.Duration // 0: not known
		expected time.Duration
	}{
		{0, 0, 30 * time.Second}, {1, 0, time.Minute}, {2, 0, 2 * time.Minute}, {3, 0, 4 * time.Minute},
		{4, 0, 5 * time.Minute}, {2147483647, 0, 5 * time.Minute},
		{0, 2 * time.Minute, 2 * time.Minute}, {3, time.Second, 30 * time.Second}, {3, time.Hour, 5 * time.Minute},
	} {
		fits := time.Time{}
		if row.fits != 0 {
			fits = clock.Add(row.fits)
		}
		if found := waits.after(row.refusals, fits, clock); found != row.expected {
			t.Errorf("%+v: found %v", row, found)
		}
	}
}

func TestWaitEndsWhenALeaseEnds(t *testing.T) {
	w := newWorld(t, 1)
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	request := &quoit.Request{Name: "own", Accelerator: "v6e", Topology: "4x4", Slices: 1, Lease: 90 * time.Second}
	if _, err := w.ledger.Reserve(ctx, request, clock); err != nil {
		t.Fatal(err)
	}
	a := w.cluster.addWorkload("a", 1)
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	if after := a.Status.Checks[0].RequeueAfterSeconds; after == nil || *after != 90 {
		t.Errorf("%+v", a.Status.Checks[0])
	}
}

func TestMarksLeaveOtherLabelsAndTaints(t *testing.T) {
	node := &Node{Metadata: Metadata{ResourceVersion: "7", Labels: map[string]string{"a": "b", MarkKey: "g1"}}}
	node.Spec.Taints = []Taint{{Key: "x", Effect: "NoExecute", TimeAdded: "2026-05-01T09:00:00Z"}, {MarkKey, "g1", "NoSchedule", ""}}
	for _, row := range []struct{ mark, patch string }{
		{"g2", `{"metadata":{"labels":{"quoit.dev/group":"g2"},"resourceVersion":"7"},"spec":{"taints":[` +
			`{"key":"x","effect":"NoExecute","timeAdded":"2026-05-01T09:00:00Z"},` +
			`{"key":"quoit.dev/group","value":"g2","effect":"NoSchedule"}]}}`},
		{"", `{"metadata":{"labels":{"quoit.dev/group":null},"resourceVersion":"7"},"spec":{"taints":[` +
			`{"key":"x","effect":"NoExecute","timeAdded":"2026-05-01T09:00:00Z"}]}}`},
	} {
		if found := string(node.MarkPatch(row.mark)); found != row.patch {
			t.Errorf("found %s", found)
		}
		changed := copied(*node)
		changed.setMark(row.mark, "8")
		if !changed.HasMark(row.mark) || changed.HasMark("g1") {
			t.Errorf("%+v", changed)
		}
	}
	node.Spec.Taints[1].Effect = "NoExecute"
	if !(&Node{}).HasMark("") || node.HasMark("g1") || node.HasMark("") {
		t.Error("HasMark")
	}
	if mark := markOf("0123456789abcdef", 17); mark != "01234567-17" {
		t.Errorf("mark '%s'", mark)
	}
}

func TestNodeListStaysTheSameWhenMarksChange(t *testing.T) {
	node := Node{Metadata: Metadata{Name: "a", UID: "u", ResourceVersion: "7", Labels: map[string]string{"x": "<y>"}}}
	before, err := NodeList([]Node{node}, nil, "k8s")
	if err != nil || !strings.Contains(string(before), `"quoit.dev/cluster":"k8s","x":"<y>"`) {
		t.Fatalf("%s, %v", before, err)
	}
	node.setMark("g1", "8")
	node.Metadata.CreationTimestamp = "2026-05-01T08:00:00Z"
	if after, _ := NodeList([]Node{node}, nil, "k8s"); string(after) != string(before) {
		t.Errorf("%s", after)
	}
	if after, _ := NodeList([]Node{node}, map[string]bool{"a": true}, "k8s"); string(after) == string(before) {
		t.Error("a busy node is not listed as such")
	}
	node.Spec.Unschedulable = true
	if after, _ := NodeList([]Node{node}, nil, "k8s"); string(after) == string(before) {
		t.Error("a cordon is not listed")
	}
}

func TestMetricsAreText(t *testing.T) {
	w := newWorld(t, 1)
	w.cluster.addWorkload("a", 1)
	w.cluster.addWorkload("b", 1)
	if err := w.pass(); err != nil {
		t.Fatal(err)
	}
	w.controller.Metrics.SetLeader(3)
	var text strings.Builder
	if err := w.controller.Metrics.Write(&text); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"# TYPE quoit_kueue_groups gauge", "quoit_kueue_groups 1", "quoit_kueue_held_nodes 4",
		"quoit_kueue_reservations_total 1", `quoit_kueue_refusals_total{verdict="not-now"} 1`, "quoit_kueue_releases_total 0",
		"quoit_kueue_leader 1", "quoit_kueue_term 3"} {
		if !strings.Contains(text.String(), line+"\n") {
			t.Errorf("no line '%s' in\n%s", line, text.String())
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(text.String()), "\n") {
		if !strings.HasPrefix(line, "# ") && len(strings.Fields(line)) != 2 {
			t.Errorf("line '%s'", line)
		}
	}
}
