// SPDX-License-Identifier: Apache-2.0

package main

// KubeRay's arithmetic and names of pods, as readers of manifests have them: groups make a manifest, pods its nodes.

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"quoit"
)

var manifestClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

var groupFields = []string{"replicas", "minReplicas", "maxReplicas", "numOfHosts"}

func pod() *object {
	spec := (&object{}).set("containers", []any{&object{}})
	return (&object{}).set("spec", spec)
}

// groupOf is a worker group, whose numbers are called as the row calls them.
func groupOf(name string, r *reading, called []string) *object {
	group := (&object{}).set("groupName", name).set("template", pod())
	for index, field := range groupFields {
		if number := r.integerOrNil(called[index]); number != nil {
			if *number < 0 {
				r.fail("a negative number, which quoit refuses")
			}
			group.set(field, *number)
		}
	}
	return group
}

// importedSnapshot is what quoit makes of a manifest of groups; the caller closes it.
func importedSnapshot(groups []any) (*quoit.Snapshot, error) {
	head := (&object{}).set("template", pod())
	manifest := (&object{}).set("kind", "RayCluster").
		set("metadata", (&object{}).set("name", "c")).
		set("spec", (&object{}).set("headGroupSpec", head).set("workerGroupSpecs", groups))
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	input := &quoit.Input{Kind: quoit.RayCluster, Text: []byte(shown(manifest))}
	if _, err := ledger.Import(context.Background(), input, manifestClock); err != nil {
		return nil, err
	}
	return ledger.Snapshot()
}

// desired is how many pods a group is to have.
func desired(in, _ any) (any, error) {
	r := read(in, "numOfHosts", "replicas", "min", "max", "suspend")
	group := groupOf("g", r, []string{"replicas", "min", "max", "numOfHosts"})
	if r.flag("suspend", false) {
		group.set("suspend", true)
	}
	if r.err != nil {
		return nil, r.err
	}
	snapshot, err := importedSnapshot([]any{group})
	if errors.Is(err, quoit.Invalid) && strings.Contains(err.Error(), "pods") {
		return nil, skip("more pods than a fleet has: quoit refuses what KubeRay does not guard")
	}
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	nodes, err := snapshot.Nodes()
	return int64(len(nodes) - 1), err
}

// podOf: node GROUP-R is a replica of one host; GROUP-R-H is of the n-th of several hosts that was made.
func podOf(pool, node string, replicas map[string]int) string {
	replica, host, several := strings.Cut(strings.TrimPrefix(node, pool+"-"), "-")
	if !several {
		return fmt.Sprintf("%s replica=%s host= name=", pool, replica)
	}
	number, known := replicas[pool+"/"+replica]
	if !known {
		number = len(replicas)
		replicas[pool+"/"+replica] = number
	}
	return fmt.Sprintf("%s replica=%s host=%s name=%s-<%d>", pool, replica, host, pool, number)
}

// reconcile is what a first pass makes; what becomes of pods later is not a manifest's matter.
func reconcile(in, _ any) (any, error) {
	r := read(in, "autoscaling", "multi_host_indexing", "groups", "steps")
	if steps := r.list("steps"); r.err == nil && (len(steps) != 1 || steps[0] != "reconcile") {
		r.fail("pods that come and go: a manifest has those that are desired")
	}
	if !r.flag("multi_host_indexing", true) {
		r.fail("an operator without indices, as before 1.6")
	}
	groups := []any{}
	for _, one := range r.list("groups") {
		group := read(one, append([]string{"groupName"}, groupFields...)...)
		name := group.textOrNil("groupName")
		if name == nil {
			group.fail("a group without a name, which quoit refuses")
			name = new(string)
		}
		groups = append(groups, groupOf(*name, group, groupFields))
		if group.err != nil && r.err == nil {
			r.err = group.err
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	snapshot, err := importedSnapshot(groups)
	if err != nil {
		return nil, err
	}
	defer snapshot.Close()
	pods, err := podsOf(snapshot)
	return []any{(&object{}).set("pods", ofTexts(pods))}, err
}

func podsOf(snapshot *quoit.Snapshot) ([]string, error) {
	pools, err := snapshot.Pools()
	if err != nil {
		return nil, err
	}
	nodes, err := snapshot.Nodes()
	pods, replicas := []string{}, map[string]int{}
	for _, node := range nodes {
		if !node.IsRayHead {
			pods = append(pods, podOf(pools[node.Pool].Name, node.Name, replicas))
		}
	}
	sort.Strings(pods)
	return pods, err
}

var kuberayOps = map[string]op{"kuberay_desired": {answer: desired}, "kuberay_reconcile": {answer: reconcile}}
