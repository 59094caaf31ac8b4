// SPDX-License-Identifier: Apache-2.0

// Package admission decides which TPU slices the Workloads of Kueue get, and changes the ledger and the cluster
// accordingly. It reaches the cluster through the interface Cluster only, so that its tests need no Kubernetes.
package admission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// The names by which this controller and the cluster know each other.
const (
	ControllerName = "quoit.dev/kueue" // spec.controllerName of the AdmissionChecks of this controller
	MarkKey        = "quoit.dev/group" // key of the label and of the taint of nodes that a group holds, and of the label of its pods
	clusterLabel   = "quoit.dev/cluster"

	tpuResource      = "google.com/tpu"
	AcceleratorLabel = "cloud.google.com/gke-tpu-accelerator" // every node with TPUs has it
	topologyLabel    = "cloud.google.com/gke-tpu-topology"
)

// Metadata is the part of the metadata of an object that the controller reads.
type Metadata struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace,omitempty"`
	UID               string            `json:"uid,omitempty"`
	ResourceVersion   string            `json:"resourceVersion,omitempty"`
	CreationTimestamp string            `json:"creationTimestamp,omitempty"` // RFC 3339, UTC
	DeletionTimestamp string            `json:"deletionTimestamp,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
}

// Condition is a condition of an object.
type Condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

func isTrue(conditions []Condition, name string) bool {
	for _, condition := range conditions {
		if condition.Type == name {
			return condition.Status == "True"
		}
	}
	return false
}

// Quantity is a quantity of Kubernetes as its text.
type Quantity string

// UnmarshalJSON reads a quantity, which can be a text or a number.
func (q *Quantity) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] != '"' {
		*q = Quantity(text)
		return nil
	}
	var value string
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	*q = Quantity(value)
	return nil
}

// --- nodes ---

// Taint is a taint of a node.
type Taint struct {
	Key       string `json:"key"`
	Value     string `json:"value,omitempty"`
	Effect    string `json:"effect"`
	TimeAdded string `json:"timeAdded,omitempty"`
}

// Address is an address of a node.
type Address struct {
	Type    string `json:"type"`
	Address string `json:"address"`
}

// Node is the part of a node that the controller and quoit's reader of nodes read.
type Node struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		Unschedulable bool    `json:"unschedulable,omitempty"`
		Taints        []Taint `json:"taints,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions  []Condition         `json:"conditions,omitempty"`
		Addresses   []Address           `json:"addresses,omitempty"`
		Capacity    map[string]Quantity `json:"capacity,omitempty"`
		Allocatable map[string]Quantity `json:"allocatable,omitempty"`
	} `json:"status"`
}

// IsReady returns whether the node reports that it can run pods.
func (n *Node) IsReady() bool { return isTrue(n.Status.Conditions, "Ready") }

// Pod is a pod with a mark that has not ended, on a node.
type Pod struct {
	Mark, Node string
}

// --- Workloads ---

// CheckState is the state of an admission check of a Workload.
type CheckState struct {
	Name                string         `json:"name"`
	State               string         `json:"state"`
	Message             string         `json:"message"`
	LastTransitionTime  string         `json:"lastTransitionTime,omitempty"`
	RetryCount          *int32         `json:"retryCount,omitempty"`
	RequeueAfterSeconds *int32         `json:"requeueAfterSeconds,omitempty"`
	PodSetUpdates       []PodSetUpdate `json:"podSetUpdates,omitempty"`
}

// The states of an admission check.
const (
	Pending  = "Pending"
	Ready    = "Ready"
	Retry    = "Retry"
	Rejected = "Rejected"
)

// PodSetUpdate is what Kueue adds to the pods of a pod set.
type PodSetUpdate struct {
	Name         string            `json:"name"`
	Labels       map[string]string `json:"labels,omitempty"`
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Tolerations  []Toleration      `json:"tolerations,omitempty"`
}

// Toleration is a toleration of a pod.
type Toleration struct {
	Key      string `json:"key"`
	Operator string `json:"operator"`
	Value    string `json:"value"`
	Effect   string `json:"effect"`
}

// Container is the part of a container that the controller reads.
type Container struct {
	Resources struct {
		Requests map[string]Quantity `json:"requests,omitempty"`
		Limits   map[string]Quantity `json:"limits,omitempty"`
	} `json:"resources"`
}

// NodeExpression is a requirement of a node affinity.
type NodeExpression struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// NodeTerm is a term of a node affinity.
type NodeTerm struct {
	MatchExpressions []NodeExpression `json:"matchExpressions,omitempty"`
	MatchFields      []NodeExpression `json:"matchFields,omitempty"`
}

// PodSpec is the part of the spec of a pod that the controller reads.
type PodSpec struct {
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	Containers   []Container       `json:"containers,omitempty"`
	Affinity     *struct {
		NodeAffinity *struct {
			Required *struct {
				Terms []NodeTerm `json:"nodeSelectorTerms,omitempty"`
			} `json:"requiredDuringSchedulingIgnoredDuringExecution,omitempty"`
		} `json:"nodeAffinity,omitempty"`
	} `json:"affinity,omitempty"`
}

// PodSet is a pod set of a Workload.
type PodSet struct {
	Name     string `json:"name"`
	Count    int64  `json:"count"`
	Template struct {
		Spec PodSpec `json:"spec"`
	} `json:"template"`
}

// Assignment is what Kueue has assigned to a pod set.
type Assignment struct {
	Name                   string            `json:"name"`
	Flavors                map[string]string `json:"flavors,omitempty"` // by resource
	Count                  *int64            `json:"count,omitempty"`   // fewer than in the spec after a partial admission
	TopologyAssignment     json.RawMessage   `json:"topologyAssignment,omitempty"`
	DelayedTopologyRequest string            `json:"delayedTopologyRequest,omitempty"`
}

// Workload is the part of a Workload that the controller reads.
type Workload struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		Priority                    int32    `json:"priority,omitempty"`
		MaximumExecutionTimeSeconds int64    `json:"maximumExecutionTimeSeconds,omitempty"`
		PodSets                     []PodSet `json:"podSets,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions,omitempty"`
		Admission  *struct {
			Assignments []Assignment `json:"podSetAssignments,omitempty"`
		} `json:"admission,omitempty"`
		Checks []CheckState `json:"admissionChecks,omitempty"`
	} `json:"status"`
}

// Name returns NAMESPACE/NAME.
func (w *Workload) Name() string {
	return w.Metadata.Namespace + "/" + w.Metadata.Name
}

// isBefore returns whether the Workload gets slices before the other one: because its priority is greater, or it is older.
func (w *Workload) isBefore(other *Workload) bool {
	if w.Spec.Priority != other.Spec.Priority {
		return w.Spec.Priority > other.Spec.Priority
	}
	if w.Metadata.CreationTimestamp != other.Metadata.CreationTimestamp {
		return w.Metadata.CreationTimestamp < other.Metadata.CreationTimestamp
	}
	return w.Name() < other.Name()
}

// MayHold returns whether the groups of the Workload stay: as long as Kueue keeps its quota. An evicted Workload keeps it
// until its pods are stopped.
func (w *Workload) MayHold() bool {
	return w.Metadata.DeletionTimestamp == "" && isTrue(w.Status.Conditions, "QuotaReserved") &&
		!isTrue(w.Status.Conditions, "Finished")
}

// IsEvicted returns whether Kueue is taking the quota of the Workload away.
func (w *Workload) IsEvicted() bool {
	return isTrue(w.Status.Conditions, "Evicted")
}

// check returns the state of the first of the checks that the Workload has, and nil if it has none of them.
func (w *Workload) check(checks map[string]bool) *CheckState {
	for index := range w.Status.Checks {
		if checks[w.Status.Checks[index].Name] {
			return &w.Status.Checks[index]
		}
	}
	return nil
}

// --- flavors and checks ---

// Flavor is the part of a ResourceFlavor that the controller reads.
type Flavor struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		NodeLabels   map[string]string `json:"nodeLabels,omitempty"`
		TopologyName string            `json:"topologyName,omitempty"`
	} `json:"spec"`
}

// AdmissionCheck is the part of an AdmissionCheck that the controller reads.
type AdmissionCheck struct {
	Metadata Metadata `json:"metadata"`
	Spec     struct {
		ControllerName string `json:"controllerName"`
	} `json:"spec"`
	Status struct {
		Conditions []Condition `json:"conditions,omitempty"`
	} `json:"status"`
}

// IsActive returns whether the AdmissionCheck reports that its controller works.
func (c *AdmissionCheck) IsActive() bool {
	return isTrue(c.Status.Conditions, "Active")
}

// --- nodes for the ledger ---

// NodeList returns the list of nodes for the ledger, as a NodeList in JSON. Each node gets a label with the name of the
// source, so that requests can be kept to the nodes of this cluster. Busy nodes are unschedulable, so that the ledger gives
// them to no other group. The list has neither marks nor versions, so that it stays the same when the controller itself
// changes nodes.
func NodeList(nodes []Node, busy map[string]bool, source string) ([]byte, error) {
	list := struct {
		APIVersion string `json:"apiVersion"`
		Kind       string `json:"kind"`
		Items      []any  `json:"items"`
	}{"v1", "NodeList", make([]any, len(nodes))}
	for index, node := range nodes {
		labels := map[string]string{clusterLabel: source}
		for key, value := range node.Metadata.Labels {
			if key != MarkKey {
				labels[key] = value
			}
		}
		node.Metadata.Labels = labels
		node.Metadata.ResourceVersion, node.Metadata.CreationTimestamp = "", ""
		node.Spec.Unschedulable = node.Spec.Unschedulable || busy[node.Metadata.Name]
		node.Spec.Taints = otherTaints(node.Spec.Taints)
		for at := range node.Spec.Taints {
			node.Spec.Taints[at].TimeAdded = ""
		}
		list.Items[index] = struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Node
		}{"v1", "Node", node}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(list)
	return text.Bytes(), err
}

// chipsOf returns the TPU chips that a pod requests.
func chipsOf(spec *PodSpec) (int64, error) {
	total := int64(0)
	for _, container := range spec.Containers {
		text, ok := container.Resources.Limits[tpuResource]
		if !ok {
			text, ok = container.Resources.Requests[tpuResource]
		}
		if !ok {
			continue
		}
		chips, err := strconv.ParseUint(string(text), 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%s '%s': expected a whole number of chips", tpuResource, text)
		}
		total += int64(chips)
	}
	return total, nil
}

func seconds(count int64) time.Duration {
	return time.Duration(count) * time.Second
}
