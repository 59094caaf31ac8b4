// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strconv"
	"testing"
)

// cluster is a cluster in memory, with the parts of Kueue, of the Job controller and of the scheduler that matter here.
// The controller sees lists that are refreshed by see(), so that tests can keep them old.
type cluster struct {
	t         testing.TB
	version   int
	nodes     map[string]*Node
	workloads map[string]*Workload // by UID
	flavors   map[string]Flavor
	check     AdmissionCheck
	pods      map[string]string // name of a pod that has not ended -> its node; "" if it waits for one
	podMarks  map[string]string // name of a pod -> the mark that it selects and tolerates
	seen      struct {
		nodes     []Node
		workloads []Workload
		pods      []Pod
	}
}

func newCluster(t testing.TB) *cluster {
	c := &cluster{t: t, nodes: map[string]*Node{}, workloads: map[string]*Workload{}, flavors: map[string]Flavor{},
		pods: map[string]string{}, podMarks: map[string]string{}}
	c.check.Metadata = Metadata{Name: "quoit", ResourceVersion: "1"}
	c.check.Spec.ControllerName = ControllerName
	flavor := Flavor{Metadata: Metadata{Name: "v6e"}}
	flavor.Spec.NodeLabels = map[string]string{AcceleratorLabel: "tpu-v6e-slice"}
	c.flavors["v6e"] = flavor
	return c
}

func copied[Value any](value Value) Value {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var result Value
	if err := json.Unmarshal(text, &result); err != nil {
		panic(err)
	}
	return result
}

func (c *cluster) touch(metadata *Metadata) {
	c.version++
	metadata.ResourceVersion = strconv.Itoa(c.version)
}

// addSlice adds the nodes of a v6e slice of 4x4: one node pool of four hosts.
func (c *cluster) addSlice(pool string) {
	for worker := 0; worker < 4; worker++ {
		c.addNode(pool, worker)
	}
}

func (c *cluster) addNode(pool string, worker int) {
	node := &Node{}
	name := fmt.Sprintf("%s-%d", pool, worker)
	node.Metadata.Name = name
	node.Metadata.Labels = map[string]string{AcceleratorLabel: "tpu-v6e-slice", topologyLabel: "4x4",
		"cloud.google.com/gke-nodepool": pool, "kubernetes.io/hostname": name}
	node.Spec.Taints = []Taint{{Key: tpuResource, Value: "present", Effect: "NoSchedule"}}
	node.Status.Conditions = []Condition{{"Ready", "True"}}
	node.Status.Capacity = map[string]Quantity{tpuResource: "4", "cpu": "100", "memory": "400Gi"}
	node.Status.Allocatable = node.Status.Capacity
	c.touch(&node.Metadata)
	node.Metadata.UID = "node-" + node.Metadata.ResourceVersion
	c.nodes[name] = node
}

// removeNode removes a node with its pods.
func (c *cluster) removeNode(name string) {
	delete(c.nodes, name)
	for pod, node := range c.pods {
		if node == name {
			c.pods[pod] = "" // the Job makes another one, which waits for a node
		}
	}
}

// addWorkload adds a Workload of v6e 4x4 slices that has quota.
func (c *cluster) addWorkload(name string, slices int64) *Workload {
	workload := workloadOf(name, slices*4)
	c.version++
	workload.Metadata.UID = fmt.Sprintf("%08d-uid-of-%s", c.version, name)
	c.touch(&workload.Metadata)
	c.workloads[workload.Metadata.UID] = workload
	c.giveQuota(workload)
	return workload
}

// addPodSet adds a pod set of v6e 4x4 slices to a Workload, as a Job that is suspended can be changed.
func (c *cluster) addPodSet(workload *Workload, name string, slices int64) {
	podSet, assignment := workload.Spec.PodSets[0], workload.Status.Admission.Assignments[0]
	podSet.Name, podSet.Count, assignment.Name = name, slices*4, name
	workload.Spec.PodSets = append(workload.Spec.PodSets, podSet)
	workload.Status.Admission.Assignments = append(workload.Status.Admission.Assignments, assignment)
	c.touch(&workload.Metadata)
}

func workloadOf(name string, pods int64) *Workload {
	workload := &Workload{Metadata: Metadata{Name: name, Namespace: "team", UID: "uid-of-" + name}}
	podSet := PodSet{Name: "main", Count: pods}
	podSet.Template.Spec.NodeSelector = map[string]string{topologyLabel: "4x4"}
	podSet.Template.Spec.Containers = make([]Container, 1)
	podSet.Template.Spec.Containers[0].Resources.Limits = map[string]Quantity{tpuResource: "4"}
	workload.Spec.PodSets = []PodSet{podSet}
	assign(workload, "main", "v6e")
	return workload
}

func assign(workload *Workload, podSet, flavor string) {
	text := fmt.Sprintf(`{"podSetAssignments":[{"name":%q,"flavors":{%q:%q,"cpu":%q}}]}`, podSet, tpuResource, flavor, flavor)
	if err := json.Unmarshal([]byte(text), &workload.Status.Admission); err != nil {
		panic(err)
	}
}

// --- Kueue ---

func setCondition(workload *Workload, name string, value bool) {
	status := map[bool]string{false: "False", true: "True"}[value]
	for index := range workload.Status.Conditions {
		if workload.Status.Conditions[index].Type == name {
			workload.Status.Conditions[index].Status = status
			return
		}
	}
	workload.Status.Conditions = append(workload.Status.Conditions, Condition{name, status})
}

func (c *cluster) giveQuota(workload *Workload) {
	setCondition(workload, "QuotaReserved", true)
	setCondition(workload, "Evicted", false)
	workload.Status.Checks = []CheckState{{Name: "quoit", State: Pending}}
	c.touch(&workload.Metadata)
}

// evict does what Kueue does first: the quota stays until the pods are stopped.
func (c *cluster) evict(workload *Workload) {
	setCondition(workload, "Evicted", true)
	workload.Status.Checks = []CheckState{{Name: "quoit", State: Pending, Message: "Reset to Pending after eviction."}}
	c.touch(&workload.Metadata)
}

// react lets Kueue, the Job controller and the scheduler react to everything once, in this order.
func (c *cluster) react() {
	for _, uid := range sortedKeys(c.workloads) {
		workload := c.workloads[uid]
		check := &workload.Status.Checks[0]
		switch {
		case !workload.MayHold():
		case workload.IsEvicted() && c.countPodsOf(workload) > 0:
			c.endPods(workload)
		case workload.IsEvicted():
			setCondition(workload, "QuotaReserved", false)
			c.touch(&workload.Metadata)
		case check.State == Retry || check.State == Rejected:
			c.evict(workload)
		case check.State == Ready && c.countPodsOf(workload) == 0:
			c.startPods(workload, check.PodSetUpdates)
		}
	}
	for _, pod := range sortedKeys(c.pods) {
		if c.pods[pod] == "" {
			c.schedule(pod)
		}
	}
}

func (c *cluster) startPods(workload *Workload, updates []PodSetUpdate) {
	for _, update := range updates {
		for _, podSet := range workload.Spec.PodSets {
			for pod := int64(0); pod < podSet.Count && podSet.Name == update.Name; pod++ {
				name := fmt.Sprintf("%s/%s/%d", workload.Metadata.UID, podSet.Name, pod)
				c.pods[name] = ""
				c.podMarks[name] = update.NodeSelector[MarkKey]
			}
		}
	}
}

// schedule does what kube-scheduler does with a node selector, taints and four chips of each node.
func (c *cluster) schedule(pod string) {
	for _, name := range sortedKeys(c.nodes) {
		if c.nodes[name].HasMark(c.podMarks[pod]) && c.podOn(name) == "" {
			c.pods[pod] = name
			c.version++
			return
		}
	}
}

func (c *cluster) podOn(node string) string {
	for pod, name := range c.pods {
		if name == node {
			return pod
		}
	}
	return ""
}

func (c *cluster) podsOf(workload *Workload) []string {
	var pods []string
	for pod := range c.pods {
		if pod[:len(workload.Metadata.UID)] == workload.Metadata.UID {
			pods = append(pods, pod)
		}
	}
	sort.Strings(pods)
	return pods
}

func (c *cluster) countPodsOf(workload *Workload) int { return len(c.podsOf(workload)) }

func (c *cluster) endPods(workload *Workload) {
	for _, pod := range c.podsOf(workload) {
		delete(c.pods, pod)
		delete(c.podMarks, pod)
		c.version++
	}
}

// finish ends the pods of a Workload, and then the Workload.
func (c *cluster) finish(workload *Workload) {
	c.endPods(workload)
	setCondition(workload, "Finished", true)
	c.touch(&workload.Metadata)
}

// remove deletes a Workload; its pods end later.
func (c *cluster) remove(workload *Workload) {
	delete(c.workloads, workload.Metadata.UID)
}

// --- the interface ---

// see lets the controller see the present state.
func (c *cluster) see() {
	c.seen.nodes, c.seen.workloads, c.seen.pods = nil, nil, nil
	for _, pod := range sortedKeys(c.pods) {
		if c.pods[pod] != "" {
			c.seen.pods = append(c.seen.pods, Pod{c.podMarks[pod], c.pods[pod]})
		}
	}
	for _, name := range sortedKeys(c.nodes) {
		node := *c.nodes[name]
		node.Metadata.Labels = maps.Clone(node.Metadata.Labels)
		node.Spec.Taints = slices.Clone(node.Spec.Taints)
		node.Status.Conditions = slices.Clone(node.Status.Conditions)
		c.seen.nodes = append(c.seen.nodes, node)
	}
	for _, uid := range sortedKeys(c.workloads) {
		c.seen.workloads = append(c.seen.workloads, copied(*c.workloads[uid]))
	}
}

// Like the lists of package kube, these share their maps with later calls.

func (c *cluster) Nodes() ([]Node, error)              { return slices.Clone(c.seen.nodes), nil }
func (c *cluster) Workloads() ([]Workload, error)      { return slices.Clone(c.seen.workloads), nil }
func (c *cluster) Pods() ([]Pod, error)                { return slices.Clone(c.seen.pods), nil }
func (c *cluster) Flavors() (map[string]Flavor, error) { return maps.Clone(c.flavors), nil }
func (c *cluster) Checks() ([]AdmissionCheck, error)   { return []AdmissionCheck{copied(c.check)}, nil }

func (c *cluster) ReadWorkload(_ context.Context, namespace, name string) (*Workload, error) {
	for _, workload := range c.workloads {
		if workload.Metadata.Namespace == namespace && workload.Metadata.Name == name {
			found := copied(*workload)
			return &found, nil
		}
	}
	return nil, nil
}

func (c *cluster) ReadPods(_ context.Context, mark string) ([]Pod, error) {
	var pods []Pod
	for _, pod := range sortedKeys(c.pods) {
		if c.podMarks[pod] == mark && c.pods[pod] != "" {
			pods = append(pods, Pod{mark, c.pods[pod]})
		}
	}
	return pods, nil
}

func (c *cluster) PatchNode(_ context.Context, name string, text []byte) (string, error) {
	var patch struct {
		Metadata struct {
			ResourceVersion string             `json:"resourceVersion"`
			Labels          map[string]*string `json:"labels"`
		} `json:"metadata"`
		Spec struct {
			Taints []Taint `json:"taints"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(text, &patch); err != nil {
		return "", err
	}
	node := c.nodes[name]
	if node == nil || node.Metadata.ResourceVersion != patch.Metadata.ResourceVersion {
		return "", fmt.Errorf("node %s: %w", name, ErrConflict)
	}
	for key, value := range patch.Metadata.Labels {
		if value == nil {
			delete(node.Metadata.Labels, key)
		} else {
			node.Metadata.Labels[key] = *value
		}
	}
	node.Spec.Taints = patch.Spec.Taints
	c.touch(&node.Metadata)
	return node.Metadata.ResourceVersion, nil
}

func (c *cluster) SetChecks(_ context.Context, seen *Workload, changes []CheckState) error {
	workload := c.workloads[seen.Metadata.UID]
	if workload == nil || workload.Metadata.ResourceVersion != seen.Metadata.ResourceVersion {
		return fmt.Errorf("Workload %s: %w", seen.Name(), ErrConflict)
	}
	workload.Status.Checks = copied(changes)
	c.touch(&workload.Metadata)
	return nil
}

func (c *cluster) Activate(_ context.Context, check *AdmissionCheck) error {
	c.check.Status.Conditions = []Condition{{"Active", "True"}}
	return nil
}
