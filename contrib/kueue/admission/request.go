// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"quoit"
)

// The labels of the groups that this controller has made. A ledger can also have groups of others.
const (
	groupClusterLabel  = "kueue-cluster"  // the name of the source
	groupWorkloadLabel = "kueue-workload" // NAMESPACE/NAME
)

// keyOf returns the request key of a pod set: the UID of the Workload, followed by "." and the name of the pod set if
// several pod sets request TPUs.
func keyOf(uid, podSet string, podSets int) string {
	if podSets == 1 {
		return uid
	}
	return uid + "." + podSet
}

// uidOf returns the UID of the Workload in a request key.
func uidOf(key string) string {
	uid, _, _ := strings.Cut(key, ".")
	return uid
}

// nameOf returns the name of the group of a pod set. It has the beginning of the UID, because a new Workload can have the
// name of one whose pods have not ended yet.
func nameOf(w *Workload, podSet string, podSets int) string {
	name := w.Metadata.Namespace + "." + w.Metadata.Name
	end := "." + w.Metadata.UID[:min(8, len(w.Metadata.UID))]
	if podSets > 1 {
		end = "." + podSet + end
	}
	return name[:min(len(name), 253-len(end))] + end
}

// podSetRequest is the request for the pods of a pod set.
type podSetRequest struct {
	podSet  string
	request *quoit.Request
}

// requestsOf returns the requests of all pod sets of the Workload that request TPUs. It is an error if the Workload can
// never be placed; the message states what was expected.
func requestsOf(w *Workload, flavors map[string]Flavor, source string) ([]podSetRequest, error) {
	var requests []podSetRequest
	for index := range w.Spec.PodSets {
		podSet := &w.Spec.PodSets[index]
		request, err := requestOf(w, podSet, flavors)
		if err != nil {
			return nil, fmt.Errorf("pod set '%s': %w", podSet.Name, err)
		}
		if request != nil {
			requests = append(requests, podSetRequest{podSet.Name, request})
		}
	}
	for index := range requests {
		request := requests[index].request
		request.Name = nameOf(w, requests[index].podSet, len(requests))
		request.Key = keyOf(w.Metadata.UID, requests[index].podSet, len(requests))
		request.Priority = w.Spec.Priority
		request.ExpectedRuntime = seconds(w.Spec.MaximumExecutionTimeSeconds)
		request.Labels = map[string]string{groupClusterLabel: source, groupWorkloadLabel: w.Name()}
		request.Selectors = append(request.Selectors, quoit.Selector{Key: clusterLabel, Value: source})
		for at := range request.Alternatives {
			request.Alternatives[at].Selectors = request.Selectors
		}
	}
	return requests, nil
}

// assignmentOf returns what Kueue has assigned to the pod set, and an empty assignment if it has assigned nothing.
func assignmentOf(w *Workload, podSet string) Assignment {
	if w.Status.Admission != nil {
		for _, assignment := range w.Status.Admission.Assignments {
			if assignment.Name == podSet {
				return assignment
			}
		}
	}
	return Assignment{}
}

// requestOf returns the request of one pod set, without the fields that depend on the whole Workload. It returns nil if its
// pods request no TPUs.
func requestOf(w *Workload, podSet *PodSet, flavors map[string]Flavor) (*quoit.Request, error) {
	chips, err := chipsOf(&podSet.Template.Spec)
	if err != nil {
		return nil, err
	}
	assignment := assignmentOf(w, podSet.Name)
	count := podSet.Count
	if assignment.Count != nil {
		count = *assignment.Count
	}
	if chips == 0 || count == 0 {
		return nil, nil
	}
	selector, err := selectorOf(podSet, &assignment, flavors)
	if err != nil {
		return nil, err
	}
	accelerator, topology := selector[AcceleratorLabel], selector[topologyLabel]
	for key, value := range map[string]string{AcceleratorLabel: accelerator, topologyLabel: topology} {
		if value == "" {
			return nil, fmt.Errorf("its pods request %s, but neither they nor their flavors select '%s'", tpuResource, key)
		}
	}
	shapes, err := shapesOf(accelerator, topology, chips)
	if err != nil {
		return nil, err
	}
	if count*chips%shapes[0].Chips != 0 {
		return nil, fmt.Errorf("%d pods with %d chips: expected whole slices of %s, which has %d chips", count, chips,
			topology, shapes[0].Chips)
	}
	selectors, err := selectorsOf(selector, &podSet.Template.Spec)
	if err != nil {
		return nil, err
	}
	requests := make([]quoit.Request, len(shapes))
	for index, shape := range shapes {
		requests[index] = quoit.Request{
			Accelerator: accelerator, Topology: topology, ChipsPerHost: shape.ChipsPerHost,
			Slices: count * chips / shape.Chips, Selectors: selectors,
		}
	}
	requests[0].Alternatives = requests[1:]
	return &requests[0], nil
}

// selectorOf returns the labels that the nodes of the pods must have: those that the pods select, and those of the
// flavors, which Kueue adds to the pods.
func selectorOf(podSet *PodSet, assignment *Assignment, flavors map[string]Flavor) (map[string]string, error) {
	if len(assignment.TopologyAssignment) > 0 && string(assignment.TopologyAssignment) != "null" ||
		assignment.DelayedTopologyRequest != "" {
		return nil, fmt.Errorf("Kueue chooses its nodes by a topology of its own: use flavors without topologyName")
	}
	selector := map[string]string{}
	for _, name := range assignment.Flavors {
		flavor, ok := flavors[name]
		if !ok {
			return nil, &notYetError{fmt.Sprintf("flavor '%s' is not known", name)}
		}
		if flavor.Spec.TopologyName != "" {
			return nil, fmt.Errorf("flavor '%s' has the topology '%s', by which Kueue chooses nodes itself: use a flavor "+
				"without topologyName", name, flavor.Spec.TopologyName)
		}
		for key, value := range flavor.Spec.NodeLabels {
			selector[key] = value
		}
	}
	for key, value := range podSet.Template.Spec.NodeSelector {
		selector[key] = value
	}
	return selector, nil
}

// notYetError is an error that can go away without a change of the Workload.
type notYetError struct{ text string }

func (e *notYetError) Error() string { return e.text }

// shapesOf returns the kinds of slices that can run pods with that many chips. On slices of several hosts, a pod has all
// chips of its host. The hosts that have exactly that many chips come first, then larger single hosts.
func shapesOf(accelerator, topology string, chips int64) ([]quoit.Shape, error) {
	generation, err := quoit.LookupGeneration(accelerator)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", AcceleratorLabel, err)
	}
	var shapes []quoit.Shape
	var sizes []string
	for _, size := range []int64{1, 2, 4, 8} {
		shape, err := generation.LookupShape(topology, size)
		if err != nil || shape.Topology != topology {
			continue
		}
		sizes = append(sizes, fmt.Sprint(size))
		if size == chips || size > chips && size%chips == 0 && shape.Hosts == 1 {
			shapes = append(shapes, shape)
		}
	}
	if len(sizes) == 0 {
		_, err = generation.LookupShape(topology, 0)
		if err == nil {
			err = fmt.Errorf("topology '%s': expected another order of the axes", topology)
		}
		return nil, fmt.Errorf("%s: %w", topologyLabel, err)
	}
	if len(shapes) == 0 {
		return nil, fmt.Errorf("%s '%d' of a pod: expected all chips of a host of %s %s, which are %s", tpuResource, chips,
			generation.ID, topology, strings.Join(sizes, " or "))
	}
	return shapes, nil
}

// selectorsOf returns the selectors of a request: the labels without accelerator and topology, which the request has in
// other fields, and the required node affinity of the pods.
func selectorsOf(selector map[string]string, spec *PodSpec) ([]quoit.Selector, error) {
	var selectors []quoit.Selector
	for key, value := range selector {
		if key != AcceleratorLabel && key != topologyLabel {
			selectors = append(selectors, quoit.Selector{Key: key, Value: value})
		}
	}
	sort.Slice(selectors, func(i, j int) bool { return selectors[i].Key < selectors[j].Key })
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil || spec.Affinity.NodeAffinity.Required == nil {
		return selectors, nil
	}
	terms := spec.Affinity.NodeAffinity.Required.Terms
	if len(terms) != 1 || len(terms[0].MatchFields) > 0 {
		return nil, fmt.Errorf("node affinity: expected one required term, without matchFields")
	}
	for _, expression := range terms[0].MatchExpressions {
		values := "in(" + strings.Join(expression.Values, ",") + ")"
		switch expression.Operator {
		case "In":
		case "NotIn":
			values = "!" + values
		default:
			return nil, fmt.Errorf("node affinity: operator '%s' of '%s': expected In or NotIn", expression.Operator,
				expression.Key)
		}
		selectors = append(selectors, quoit.Selector{Key: expression.Key, Value: values})
	}
	return selectors, nil
}

// Waits are the shortest and the longest time after which a Workload that does not fit may try again.
type Waits struct {
	Shortest, Longest time.Duration
}

// after returns when a Workload may try again after so many refusals: the shortest time, doubled with each refusal up to
// the longest. If it is known when the request fits, it is that time, within the same bounds.
func (w Waits) after(refusals int32, fits, now time.Time) time.Duration {
	wait := w.Shortest
	for ; refusals > 0 && wait < w.Longest; refusals-- {
		wait *= 2
	}
	if !fits.IsZero() {
		wait = max(fits.Sub(now), w.Shortest)
	}
	return min(wait, w.Longest)
}

// fitsAt returns the earliest time at which the refused request fits if all leases end then and nothing else changes; the
// zero time if that is not known.
func fitsAt(report *quoit.Report) time.Time {
	if report != nil {
		for _, best := range report.BestOptions {
			if best.Order == quoit.OrderEarliest {
				return report.Options[best.Option].Time
			}
		}
	}
	return time.Time{}
}
