// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"encoding/json"
	"strconv"
)

// markOf returns the mark of a group: the value of its nodes' label and taint. It has the beginning of the ledger's
// identity, so that groups of different ledgers have different marks.
func markOf(identity string, group uint64) string {
	if identity == "" {
		return "g" + strconv.FormatUint(group, 10)
	}
	return identity[:min(8, len(identity))] + "-" + strconv.FormatUint(group, 10)
}

// otherTaints returns a new list of the taints that are no marks.
func otherTaints(taints []Taint) []Taint {
	others := make([]Taint, 0, len(taints)+1)
	for _, taint := range taints {
		if taint.Key != MarkKey {
			others = append(others, taint)
		}
	}
	return others
}

// HasMark returns whether the label and the taint of the node are exactly those of the mark; "" is no mark.
func (n *Node) HasMark(mark string) bool {
	label, isLabelled := n.Metadata.Labels[MarkKey]
	found := 0
	for _, taint := range n.Spec.Taints {
		if taint.Key != MarkKey {
			continue
		}
		if taint.Value != mark || taint.Effect != "NoSchedule" {
			return false
		}
		found++
	}
	if mark == "" {
		return !isLabelled && found == 0
	}
	return isLabelled && label == mark && found == 1
}

// MarkPatch returns a merge patch that gives the node the mark as a label and a taint, or removes both if the mark is "".
// The patch has the version of the node, so that it fails if anything has changed since the node was read. Therefore a
// controller that was paused, and has lost its lease, cannot undo what its successor has done.
func (n *Node) MarkPatch(mark string) []byte {
	var label *string
	taints := otherTaints(n.Spec.Taints)
	if mark != "" {
		label = &mark
		taints = append(taints, Taint{Key: MarkKey, Value: mark, Effect: "NoSchedule"})
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{
			"resourceVersion": n.Metadata.ResourceVersion,
			"labels":          map[string]*string{MarkKey: label},
		},
		"spec": map[string]any{"taints": taints},
	})
	if err != nil {
		panic(err) // only strings and maps: cannot fail
	}
	return patch
}

// updateOf returns what Kueue must add to the pods of a pod set, so that they run on the nodes with the mark and nowhere
// else.
func updateOf(podSet, mark string) PodSetUpdate {
	return PodSetUpdate{
		Name:         podSet,
		Labels:       map[string]string{MarkKey: mark},
		NodeSelector: map[string]string{MarkKey: mark},
		Tolerations:  []Toleration{{Key: MarkKey, Operator: "Equal", Value: mark, Effect: "NoSchedule"}},
	}
}

// mentions returns whether the label or a taint of the node has the mark.
func (n *Node) mentions(mark string) bool {
	if n.Metadata.Labels[MarkKey] == mark {
		return true
	}
	for _, taint := range n.Spec.Taints {
		if taint.Key == MarkKey && taint.Value == mark {
			return true
		}
	}
	return false
}

// setMark changes the node as MarkPatch does.
func (n *Node) setMark(mark, version string) {
	labels := map[string]string{}
	for key, value := range n.Metadata.Labels {
		if key != MarkKey {
			labels[key] = value
		}
	}
	n.Spec.Taints = otherTaints(n.Spec.Taints)
	if mark != "" {
		labels[MarkKey] = mark
		n.Spec.Taints = append(n.Spec.Taints, Taint{Key: MarkKey, Value: mark, Effect: "NoSchedule"})
	}
	n.Metadata.Labels, n.Metadata.ResourceVersion = labels, version
}
