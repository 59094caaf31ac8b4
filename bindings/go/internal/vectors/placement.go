// SPDX-License-Identifier: Apache-2.0

package main

// placement: the answers of Ray's server to placement requests. If Ray can choose, its answer and quoit's answer must
// both be possible by the rules; otherwise they must be equal.

import (
	"fmt"
	"reflect"

	"quoit"
	"quoit/ray"
)

const budget = 20000 // the placements to try for an answer that places nothing

// toAmounts converts an object of ten-thousandths.
func toAmounts(value any) (map[string]int64, error) {
	given, ok := value.(*object)
	if !ok {
		return nil, skip("Go requires amounts, and the value has another type")
	}
	amounts := map[string]int64{}
	for _, name := range given.keys {
		amount, ok := given.values[name].(int64)
		if !ok {
			return nil, skip("Go requires an amount, and the value has another type")
		}
		amounts[name] = amount
	}
	return amounts, nil
}

func readClusterNode(value any) (ray.ClusterNode, error) {
	given, ok := value.(*object)
	if !ok {
		return ray.ClusterNode{}, skip("Go requires a node, and the value has another type")
	}
	r := &objectReader{object: given}
	node := ray.ClusterNode{ID: r.text("id"), Labels: r.labels("labels")}
	if r.err != nil {
		return node, r.err
	}
	total, err := toAmounts(given.values["total"])
	if err != nil {
		return node, err
	}
	free := total
	if given.has("avail") {
		if free, err = toAmounts(given.values["avail"]); err != nil {
			return node, err
		}
	}
	for _, name := range given.values["total"].(*object).keys {
		node.Amounts = append(node.Amounts, ray.NodeAmount{Name: name, Total: total[name], Available: free[name]})
	}
	return node, nil
}

func readCluster(given *object) (*ray.Cluster, error) {
	nodes, ok := given.values["nodes"].([]any)
	if !ok {
		return nil, disagreement("nodes: expected a list")
	}
	cluster := ray.NewCluster()
	for _, one := range nodes {
		node, err := readClusterNode(one)
		if err == nil {
			err = cluster.Add(node)
		}
		if err != nil {
			cluster.Close()
			return nil, err
		}
	}
	return cluster, nil
}

func readRayGroup(given *object) (*ray.Group, error) {
	r := &objectReader{object: given}
	group := &ray.Group{SoftTarget: r.textOr("soft_target", ""), Bound: r.textOrNil("pinned"), Excluded: r.texts("exclude")}
	name := r.text("strategy")
	if r.err != nil {
		return nil, r.err
	}
	strategy, err := ray.ParseStrategy(name)
	if err != nil {
		return nil, err
	}
	group.Topology = []ray.Level{{Key: "ray.io/node-id", Strategy: strategy}}
	if key := r.textOrNil("topology"); key != nil {
		group.Topology = append(group.Topology, ray.Level{Key: *key, Strategy: quoit.StrictPack})
	}
	if r.err != nil {
		return nil, r.err
	}
	if group.Bundles, err = toBundles(given.values["bundles"]); err != nil {
		return nil, err
	}
	return group, addSelectors(group.Bundles, given.values["selectors"])
}

var results = map[string]ray.Result{"SUCCESS": ray.Success, "FAILED": ray.Failed, "INFEASIBLE": ray.Infeasible}

func readAnswer(value any) (ray.Answer, error) {
	given, ok := value.(*object)
	if !ok {
		return ray.Answer{}, disagreement("an answer: expected an object")
	}
	r := &objectReader{object: given}
	result, known := results[r.text("result")]
	if !known {
		return ray.Answer{}, disagreement("an answer: expected one of Ray's results")
	}
	answer := ray.Answer{Result: result}
	if result != ray.Success {
		return answer, nil
	}
	answer.Nodes = []int{}
	for _, one := range r.list("nodes") {
		number, ok := one.(int64)
		if !ok {
			return answer, disagreement("an answer: expected indices of nodes")
		}
		answer.Nodes = append(answer.Nodes, int(number))
	}
	return answer, nil
}

func checkPossible(group *ray.Group, cluster *ray.Cluster, answer ray.Answer, whose string) error {
	possible, err := group.IsPossible(cluster, answer, budget)
	if err != nil {
		return err
	}
	if possible != ray.Yes {
		return disagreement(fmt.Sprintf("%s answer %v: whether it is possible is %v", whose, answer, possible))
	}
	return nil
}

func placeAndCheck(group *ray.Group, cluster *ray.Cluster) (ray.Answer, error) {
	ours, err := group.Place(cluster)
	if err != nil {
		return ours, err
	}
	return ours, checkPossible(group, cluster, ours, "our")
}

// checkDetermined checks whether quoit knows if Ray has only one possible answer. The member "possible" is the number
// of possible answers; it is not a number if counting them took too long.
func checkDetermined(group *ray.Group, cluster *ray.Cluster, isDetermined bool, recorded *object) error {
	if _, counted := toNumber(recorded.values["possible"]); !isDetermined && !counted {
		return nil
	}
	determined, err := group.IsDetermined(cluster, budget)
	if err != nil {
		return err
	}
	if determined == ray.Unknown || (determined == ray.Yes) != isDetermined {
		return disagreement(fmt.Sprintf("determined is %v", determined))
	}
	return nil
}

func place(in, out any) (any, error) {
	given, ok := in.(*object)
	recorded, isObject := out.(*object)
	if !ok || !isObject {
		return nil, skip("an input or answer that is not an object")
	}
	cluster, err := readCluster(given)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	group, err := readRayGroup(given)
	if err != nil {
		return nil, err
	}
	ours, err := placeAndCheck(group, cluster)
	if err != nil {
		return nil, err
	}
	r := &objectReader{object: recorded}
	isDetermined := r.flag("deterministic", false)
	if err := checkDetermined(group, cluster, isDetermined, recorded); err != nil {
		return nil, err
	}
	for _, one := range r.list("answers") {
		theirs, err := readAnswer(one)
		if err != nil {
			return nil, err
		}
		if err := checkPossible(group, cluster, theirs, "Ray's"); err != nil {
			return nil, err
		}
		if isDetermined && !reflect.DeepEqual(theirs, ours) {
			return nil, disagreement(fmt.Sprintf("%v: Ray's answer is %v", ours, theirs))
		}
	}
	return recorded, r.err
}

// placed is a group that Ray has placed, and the indices of its nodes.
type placed struct {
	group *ray.Group
	nodes []int
}

// sequence checks Ray's answers step by step. Each step starts from Ray's previous answers, not from quoit's.
func sequence(in, out any) (any, error) {
	given, ok := in.(*object)
	if !ok {
		return nil, skip("the input is not an object")
	}
	cluster, err := readCluster(given)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	placedGroups := map[int64]placed{}
	steps, _ := given.values["steps"].([]any)
	for index, one := range steps {
		step, ok := one.(*object)
		if !ok {
			return nil, disagreement("steps: expected objects")
		}
		if err := runStep(cluster, step, int64(index), placedGroups); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func runStep(cluster *ray.Cluster, step *object, index int64, placedGroups map[int64]placed) error {
	if step.values["op"] == "remove" {
		if number, given := step.values["pg"].(int64); given {
			gone := placedGroups[number]
			return cluster.Deallocate(gone.group, gone.nodes)
		}
		return nil
	}
	group, err := readRayGroup(step)
	if err != nil {
		return err
	}
	if _, err := placeAndCheck(group, cluster); err != nil {
		return err
	}
	theirs, err := readAnswer(step.values["answer"])
	if err != nil {
		return err
	}
	if err := checkPossible(group, cluster, theirs, fmt.Sprintf("step %d: Ray's", index)); err != nil {
		return err
	}
	if theirs.Result != ray.Success {
		return nil
	}
	placedGroups[index] = placed{group, theirs.Nodes}
	return cluster.Allocate(group, theirs.Nodes)
}

var placementOps = map[string]op{"place": {answer: place}, "sequence": {answer: sequence}}
