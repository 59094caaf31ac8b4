// SPDX-License-Identifier: Apache-2.0

package main

// kuberay: the number of pods of a group, the pods after each step, and names, in KubeRay's operator.

import (
	"fmt"
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"quoit/kuberay"
)

// addGroup adds a group to a cluster. A group without replicas has the number of its lower bound.
func (r *objectReader) addGroup(cluster *kuberay.Cluster, name, lowest, highest string) error {
	least := r.integerOr(lowest, 0)
	group := kuberay.Group{Name: name, Hosts: r.integerOr("numOfHosts", 1), Replicas: r.integerOr("replicas", least)}
	most, isSuspended := r.integerOr(highest, math.MaxInt32), r.flag("suspend", false)
	if r.err != nil {
		return r.err
	}
	if err := cluster.AddGroup(group); err != nil {
		return err
	}
	if isSuspended {
		if err := cluster.Suspend(name); err != nil {
			return err
		}
	}
	return cluster.SetBounds(name, least, most)
}

// desired returns the number of pods that a group should have.
func desired(in, _ any) (any, error) {
	r := newReader(in, "numOfHosts", "replicas", "min", "max", "suspend")
	cluster, err := kuberay.New("c", kuberay.Options{})
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	if err := r.addGroup(cluster, "g", "min", "max"); err != nil {
		return nil, err
	}
	groups, err := cluster.Groups()
	if err != nil {
		return nil, err
	}
	return int64(groups[0].Desired), nil
}

// --- steps ---

var podEvents = map[string]kuberay.Event{
	"fail Failed":     kuberay.Failed,
	"fail Succeeded":  kuberay.Failed,
	"crash Never":     kuberay.Ended,
	"crash Always":    kuberay.Restarted,
	"crash OnFailure": kuberay.Restarted,
	"toDelete":        kuberay.ToDelete,
	"delete":          kuberay.Gone,
}

// operator runs the steps of a row on a cluster. All steps are for its first group.
type operator struct {
	cluster          *kuberay.Cluster
	first            string
	visibleVariables map[string]int // a number for each name of a replica, in the order of first appearance
}

// mark applies an event to a pod, which is named by its indices. A pod of a replica with one host is named by the
// replica's index only.
func (o *operator) mark(indices []int64, event kuberay.Event) error {
	pods, err := o.cluster.Pods()
	if err != nil {
		return err
	}
	host := int64(-1)
	if len(indices) > 1 {
		host = indices[1]
	}
	for _, pod := range pods {
		if pod.Group == o.first && pod.Replica == indices[0] && pod.Host == host {
			return o.cluster.Mark(pod.Serial, event)
		}
	}
	return skip("a step for a pod that does not exist")
}

// runStep runs a step other than "reconcile".
func (o *operator) runStep(step string) error {
	words := strings.Fields(step)
	names, indices := []string{}, []int64{}
	for _, word := range words {
		if number, err := strconv.ParseInt(word, 10, 64); err == nil {
			indices = append(indices, number)
		} else {
			names = append(names, word)
		}
	}
	verb := strings.Join(names, " ")
	event, isEvent := podEvents[verb]
	switch {
	case verb == "suspend true" && len(indices) == 0:
		return o.cluster.Suspend(o.first)
	case verb == "suspend false" && len(indices) == 0:
		return o.cluster.Resume(o.first)
	case verb == "replicas" && len(indices) == 1:
		return o.cluster.SetReplicas(o.first, indices[0])
	case isEvent && len(indices) > 0:
		return o.mark(indices, event)
	}
	return skip("an unknown step")
}

var incarnation = regexp.MustCompile("<[0-9]+>")

// renumbered replaces each incarnation in a text by the number of its first appearance, as in the rows.
func (o *operator) renumbered(text string) string {
	return incarnation.ReplaceAllStringFunc(text, func(name string) string {
		if _, known := o.visibleVariables[name]; !known {
			o.visibleVariables[name] = len(o.visibleVariables)
		}
		return fmt.Sprintf("<%d>", o.visibleVariables[name])
	})
}

func formatIndex(index int64) string {
	if index < 0 {
		return ""
	}
	return strconv.FormatInt(index, 10)
}

// pass runs one reconciliation and returns the remaining pods, sorted as text.
func (o *operator) pass() (any, error) {
	done, err := o.cluster.Reconcile()
	if err != nil {
		return nil, err
	}
	if done.IsDeletionArbitrary {
		return nil, skip("an arbitrary deletion, for which any pods are correct")
	}
	pods, err := o.cluster.Pods()
	if err != nil {
		return nil, err
	}
	input := &object{}
	if done.Requeued != "" {
		input.set("error", o.renumbered(done.Requeued))
	}
	texts := []string{}
	for _, pod := range pods {
		name := pod.Labels["ray.io/worker-group-replica-name"]
		texts = append(texts, fmt.Sprintf("%s replica=%s host=%s name=%s", pod.Group, formatIndex(pod.Replica), formatIndex(pod.Host), name))
	}
	sort.Strings(texts)
	for index := range texts {
		texts[index] = o.renumbered(texts[index])
	}
	return input.set("pods", textsToJSON(texts)), nil
}

// addGroups adds the groups of a row. The steps are for the first one.
func (r *objectReader) addGroups(o *operator) error {
	for index, one := range r.list("groups") {
		group := r.readObjectMember(one, "groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", "suspend")
		name := group.textOr("groupName", "")
		if r.addError(group); r.err != nil {
			return r.err
		}
		if index == 0 {
			o.first = name
		}
		if err := group.addGroup(o.cluster, name, "minReplicas", "maxReplicas"); err != nil {
			return err
		}
	}
	return r.err
}

// reconcile returns the state after each step.
func reconcile(in, _ any) (any, error) {
	r := newReader(in, "autoscaling", "multi_host_indexing", "groups", "steps")
	options := kuberay.Options{
		Autoscaling: r.flag("autoscaling", false), NoIndices: !r.flag("multi_host_indexing", true),
	}
	steps := r.texts("steps")
	if r.err != nil {
		return nil, r.err
	}
	cluster, err := kuberay.New("c", options)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	o := &operator{cluster: cluster, visibleVariables: map[string]int{}}
	if err := r.addGroups(o); err != nil {
		return nil, err
	}
	answers := []any{}
	for _, step := range steps {
		var answer any = &object{}
		if step == "reconcile" {
			answer, err = o.pass()
		} else {
			err = o.runStep(step)
		}
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// --- names ---

// nameOp returns an op whose input is a name.
func nameOp(made func(string) (string, error)) op {
	return op{answer: func(in, _ any) (any, error) {
		name, ok := in.(string)
		if !ok {
			return nil, skip("Go requires a text, and the value has another type")
		}
		return made(name)
	}}
}

func checkName(name string) (string, error) {
	if name == "" {
		return "", skip("an empty name, which makes the operator crash")
	}
	return kuberay.CheckedName(name)
}

var kuberayOps = map[string]op{
	"kuberay_CheckName": nameOp(checkName),
	"kuberay_PodName":   nameOp(kuberay.PodPrefix),
	"kuberay_desired":   {answer: desired},
	"kuberay_reconcile": {answer: reconcile},
}
