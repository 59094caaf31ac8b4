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

// addGroup adds a group to a cluster. Without replicas, a group has its minimum.
func (r *reading) addGroup(cluster *kuberay.Cluster, name, lowest, highest string) error {
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
	r := read(in, "numOfHosts", "replicas", "min", "max", "suspend")
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
	"toDelete":        kuberay.Named,
	"delete":          kuberay.Gone,
}

// operator is a cluster to which the steps of a row apply. The steps concern its first group.
type operator struct {
	cluster *kuberay.Cluster
	first   string
	seen    map[string]int // the names of replicas, numbered in the order of their first appearance
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
	return skip("a step of a pod that is not there")
}

func (o *operator) take(step string) error {
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
	return skip("a step that nobody knows")
}

var incarnation = regexp.MustCompile("<[0-9]+>")

func (o *operator) renumbered(text string) string {
	return incarnation.ReplaceAllStringFunc(text, func(name string) string {
		if _, known := o.seen[name]; !known {
			o.seen[name] = len(o.seen)
		}
		return fmt.Sprintf("<%d>", o.seen[name])
	})
}

func ofIndex(index int64) string {
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
	if done.IsArbitrary {
		return nil, skip("pods of which KubeRay does not say which go")
	}
	pods, err := o.cluster.Pods()
	if err != nil {
		return nil, err
	}
	said := &object{}
	if done.Requeued != "" {
		said.set("error", o.renumbered(done.Requeued))
	}
	texts := []string{}
	for _, pod := range pods {
		name := pod.Labels["ray.io/worker-group-replica-name"]
		texts = append(texts, fmt.Sprintf("%s replica=%s host=%s name=%s", pod.Group, ofIndex(pod.Replica), ofIndex(pod.Host), name))
	}
	sort.Strings(texts)
	for index := range texts {
		texts[index] = o.renumbered(texts[index])
	}
	return said.set("pods", ofTexts(texts)), nil
}

// addGroups adds the groups of a row. The steps concern the first.
func (r *reading) addGroups(o *operator) error {
	for index, one := range r.list("groups") {
		group := r.within(one, "groupName", "replicas", "minReplicas", "maxReplicas", "numOfHosts", "suspend")
		name := group.textOr("groupName", "")
		if r.take(group); r.err != nil {
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
	r := read(in, "autoscaling", "multi_host_indexing", "groups", "steps")
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
	o := &operator{cluster: cluster, seen: map[string]int{}}
	if err := r.addGroups(o); err != nil {
		return nil, err
	}
	answers := []any{}
	for _, step := range steps {
		var answer any = &object{}
		if step == "reconcile" {
			answer, err = o.pass()
		} else {
			err = o.take(step)
		}
		if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
	return answers, nil
}

// --- names ---

// onName returns an op whose input is a name.
func onName(made func(string) (string, error)) op {
	return op{answer: func(in, _ any) (any, error) {
		name, ok := in.(string)
		if !ok {
			return nil, skip("another type where Go takes a text")
		}
		return made(name)
	}}
}

func checkName(name string) (string, error) {
	if name == "" {
		return "", skip("an empty name, which the operator does not survive")
	}
	return kuberay.CheckedName(name)
}

var kuberayOps = map[string]op{
	"kuberay_CheckName": onName(checkName),
	"kuberay_PodName":   onName(kuberay.PodPrefix),
	"kuberay_desired":   {answer: desired},
	"kuberay_reconcile": {answer: reconcile},
}
