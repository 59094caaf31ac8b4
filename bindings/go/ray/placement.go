// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"math"
	"unsafe"

	"quoit"
	"quoit/internal/cconv"
)

// Result is the result of an attempt of Ray to place a group.
type Result int

// The results.
const (
	Success    Result = C.QUOIT_RAY_SUCCESS    // every bundle has a node
	Failed     Result = C.QUOIT_RAY_FAILED     // the group does not fit now; Ray retries
	Infeasible Result = C.QUOIT_RAY_INFEASIBLE // the group does not fit on these nodes; Ray waits until a node joins
)

// String returns Ray's name of the result.
func (r Result) String() string {
	switch r {
	case Success:
		return "SUCCESS"
	case Failed:
		return "FAILED"
	case Infeasible:
		return "INFEASIBLE"
	}
	return "UNKNOWN"
}

// Certainty is a yes or no that can be unknown.
type Certainty int

// The answers.
const (
	No      Certainty = C.QUOIT_RAY_NO
	Yes     Certainty = C.QUOIT_RAY_YES
	Unknown Certainty = C.QUOIT_RAY_UNKNOWN // the search used up its budget before it had the answer
)

// String returns the name of the answer.
func (c Certainty) String() string {
	switch c {
	case No:
		return "NO"
	case Yes:
		return "YES"
	}
	return "UNKNOWN"
}

// ParseStrategy returns the strategy with Ray's name "PACK", "SPREAD", "STRICT_PACK" or "STRICT_SPREAD".
//
// Like Ray, it fails with Invalid for any other text, such as "pack".
func ParseStrategy(name string) (quoit.Strategy, error) {
	var a call
	var strategy C.QuoitStrategy
	var gerror *C.GError
	text := a.text("strategy", name)
	if err := a.Err(); err != nil {
		return 0, err
	}
	C.quoit_ray_strategy_parse(text, &strategy, &gerror)
	if err := errorFromC(gerror); err != nil {
		return 0, err
	}
	return quoit.Strategy(strategy), nil
}

// --- nodes ---

// NodeAmount is an amount of a resource of a node, in ten-thousandths.
type NodeAmount struct {
	Name      string // "CPU", "TPU", "TPU-v6e-16-head"
	Total     int64
	Available int64 // the free part
}

// ClusterNode is a node on which Ray can place bundles: it is alive and not draining.
type ClusterNode struct {
	ID      string // Ray's id of the node, or any other unique text, for Group.SoftTarget and Group.Excluded
	Amounts []NodeAmount
	Labels  Labels
}

// Cluster is the nodes of Ray's control plane. The index of a node counts the nodes that were added before it. If nodes
// are equally good, quoit uses the one with the smallest index. Any number of goroutines can use a Cluster that does
// not change. Close frees it; the garbage collector does so if you do not.
type Cluster struct {
	h *cconv.Handle
}

// NewCluster returns a cluster without nodes.
func NewCluster() *Cluster {
	free := func(p unsafe.Pointer) { C.quoit_ray_cluster_free((*C.QuoitRayCluster)(p)) }
	return &Cluster{cconv.NewHandle("cluster", unsafe.Pointer(C.quoit_ray_cluster_new()), free)}
}

// Close frees the cluster; later calls fail. A second Close does nothing.
func (c *Cluster) Close() {
	if c != nil {
		c.h.Close()
	}
}

func (c *Cluster) with(run func(*C.QuoitRayCluster) error) error {
	if c == nil {
		return cconv.InvalidError("cluster: expected a Cluster, found nil")
	}
	pointer, err := c.h.Use()
	if err != nil {
		return err
	}
	defer c.h.Done()
	return run((*C.QuoitRayCluster)(pointer))
}

// Add adds a node, completely or not at all.
//
// It fails with Invalid if a node has that id, for negative amounts, and for a resource without a name.
func (c *Cluster) Add(node ClusterNode) error {
	var a call
	id := a.text("id", node.ID)
	names := make([]*C.char, len(node.Amounts))
	for index, one := range node.Amounts {
		names[index] = a.text("resource", one.Name)
		if one.Total < 0 || one.Available < 0 || one.Name == "" {
			return cconv.InvalidError("amount[%d] of node %s: expected a name and amounts of 0 or more", index,
				cconv.Quote(node.ID))
		}
	}
	keys, values := make([]*C.char, len(node.Labels)), make([]*C.char, len(node.Labels))
	for index, one := range node.Labels {
		keys[index], values[index] = a.text("key", one.Key), a.text("value", one.Value)
	}
	if err := a.Err(); err != nil {
		return err
	}
	return c.with(func(cluster *C.QuoitRayCluster) error {
		var gerror *C.GError
		index := C.quoit_ray_cluster_get_n_nodes(cluster)
		C.quoit_ray_cluster_add_node(cluster, id, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		for amount, one := range node.Amounts {
			C.quoit_ray_cluster_set_resource_e4(cluster, index, names[amount], C.int64_t(one.Total),
				C.int64_t(one.Available), &gerror)
			if err := errorFromC(gerror); err != nil {
				return err
			}
		}
		for label := range keys {
			C.quoit_ray_cluster_set_label(cluster, index, keys[label], values[label])
		}
		return nil
	})
}

// withNode checks the index of a node and calls run with it.
func (c *Cluster) withNode(node int, run func(*C.QuoitRayCluster, C.uint32_t) error) error {
	return c.with(func(cluster *C.QuoitRayCluster) error {
		if count := int(C.quoit_ray_cluster_get_n_nodes(cluster)); node < 0 || node >= count {
			return cconv.InvalidError("node index '%d': expected 0 to %d", node, count-1)
		}
		return run(cluster, C.uint32_t(node))
	})
}

// SetResource sets the amounts of a resource of a node, given by its index, like a resource report of the node to Ray.
// Ray truncates doubles to ten-thousandths: 0.57 becomes 0.5699. The amounts of a resource that was never set are 0.
//
// It fails with Invalid for amounts that are negative, not finite, or at least 922337203685477.5808, for a resource
// without a name, and for an index out of range.
func (c *Cluster) SetResource(node int, resource string, total, available float64) error {
	var a call
	name := a.text("resource", resource)
	if err := a.Err(); err != nil {
		return err
	}
	return c.withNode(node, func(cluster *C.QuoitRayCluster, index C.uint32_t) error {
		var gerror *C.GError
		C.quoit_ray_cluster_set_resource(cluster, index, name, C.double(total), C.double(available), &gerror)
		return errorFromC(gerror)
	})
}

// Available returns the free amount of a resource on a node, given by its index, in ten-thousandths. It reflects
// earlier calls of Allocate and Deallocate.
//
// It fails with Invalid for an index out of range.
func (c *Cluster) Available(node int, resource string) (e4 int64, err error) {
	var a call
	name := a.text("resource", resource)
	if err := a.Err(); err != nil {
		return 0, err
	}
	err = c.withNode(node, func(cluster *C.QuoitRayCluster, index C.uint32_t) error {
		e4 = int64(C.quoit_ray_cluster_get_available_e4(cluster, index, name))
		return nil
	})
	return e4, err
}

// NodeIDs returns the ids of the nodes, in the order of their indices.
//
// It fails with Invalid after Close.
func (c *Cluster) NodeIDs() (ids []string, err error) {
	err = c.with(func(cluster *C.QuoitRayCluster) error {
		ids = make([]string, C.quoit_ray_cluster_get_n_nodes(cluster))
		for node := range ids {
			ids[node] = copyString(C.quoit_ray_cluster_get_node_id(cluster, C.uint32_t(node)))
		}
		return nil
	})
	return ids, err
}

// --- groups ---

// Bundle is one requested bundle.
type Bundle struct {
	Amounts Resources
	// Selectors must match its node. If a key occurs twice, the last value counts.
	Selectors Labels
}

// Level is one entry of Ray's topology_strategy: a node label and a strategy. The key "ray.io/node-id" stands for the
// nodes themselves. With another key, all bundles are placed on nodes with the same value of that label.
type Level struct {
	Key      string
	Strategy quoit.Strategy
}

// Group has the arguments of placement_group().
type Group struct {
	Bundles []Bundle
	// Strategy is the placement strategy; nil stands for that of Topology or else, like in Ray, for PACK.
	Strategy   *quoit.Strategy
	Topology   []Level
	SoftTarget string // the id of the node that STRICT_PACK prefers; "" for none
	Lifetime   string // "detached" or "" for none; it is only validated
	// Bound and Excluded are for placing only the lost bundles of a group. They describe the bundles that still
	// have nodes: Bound is the value of the topology label of these nodes (nil allows any value), and Excluded is
	// the ids of the nodes that STRICT_SPREAD must not use.
	Bound    *string
	Excluded []string
}

// toC converts the group to a C object, which the caller frees.
func (g *Group) toC(a *call) *C.QuoitRayGroup {
	c := C.quoit_ray_group_new()
	if g.Strategy != nil {
		C.quoit_ray_group_set_strategy(c, C.QuoitStrategy(*g.Strategy))
	}
	for _, bundle := range g.Bundles {
		index := C.quoit_ray_group_add_bundle(c)
		for _, one := range bundle.Amounts {
			if name := a.text("resource", one.Name); a.Err() == nil {
				C.quoit_ray_group_set_amount(c, index, name, C.double(one.Amount))
			}
		}
		for _, one := range bundle.Selectors {
			if key, value := a.text("key", one.Key), a.text("value", one.Value); a.Err() == nil {
				C.quoit_ray_group_set_selector(c, index, key, value)
			}
		}
	}
	for _, level := range g.Topology {
		if key := a.text("key", level.Key); a.Err() == nil {
			C.quoit_ray_group_add_topology(c, key, C.QuoitStrategy(level.Strategy))
		}
	}
	for _, id := range g.Excluded {
		if text := a.text("id", id); a.Err() == nil {
			C.quoit_ray_group_exclude(c, text)
		}
	}
	bound, target := a.textUnlessNil("bound", g.Bound), a.textUnlessEmpty("soft target", g.SoftTarget)
	if lifetime := a.textUnlessEmpty("lifetime", g.Lifetime); a.Err() == nil {
		C.quoit_ray_group_bind(c, bound)
		C.quoit_ray_group_set_soft_target(c, target)
		C.quoit_ray_group_set_lifetime(c, lifetime)
	}
	return c
}

func (g *Group) with(run func(*C.QuoitRayGroup) error) error {
	var a call
	c := g.toC(&a)
	defer C.quoit_ray_group_free(c)
	if err := a.Err(); err != nil {
		return err
	}
	return run(c)
}

// withCluster calls run with the group and a cluster.
func (g *Group) withCluster(cluster *Cluster, run func(*C.QuoitRayGroup, *C.QuoitRayCluster, **C.GError)) error {
	return g.with(func(group *C.QuoitRayGroup) error {
		return cluster.with(func(cluster *C.QuoitRayCluster) error {
			var gerror *C.GError
			run(group, cluster, &gerror)
			return errorFromC(gerror)
		})
	})
}

// Check runs the checks of placement_group() itself, which come before those of Ray's control plane. Place runs the
// checks of the control plane, so it can refuse a group that Check accepts, and place one that Check refuses.
//
// It fails with Invalid if placement_group() raises an error; the first check that fails determines the message.
func (g *Group) Check() error {
	return g.with(func(c *C.QuoitRayGroup) error {
		var gerror *C.GError
		C.quoit_ray_group_check(c, &gerror)
		return errorFromC(gerror)
	})
}

// Answer is Ray's answer for a group.
type Answer struct {
	Result Result
	Nodes  []int // the index of a node for each bundle if Result is Success; otherwise empty
}

// newNodeArray returns an array for C with one number per bundle. Its capacity is never 0, so that firstElement works.
func newNodeArray(count int) []C.uint32_t {
	return make([]C.uint32_t, count, count+1)
}

// firstElement returns the address of the first element of a result of newNodeArray, which can be empty.
func firstElement(numbers []C.uint32_t) *C.uint32_t {
	return &numbers[:1][0]
}

// nodeArray converts the index of a node for each bundle to an array for C.
func (g *Group) nodeArray(nodes []int) ([]C.uint32_t, error) {
	if len(nodes) != len(g.Bundles) {
		return nil, cconv.InvalidError("nodes: expected %d, one per bundle, found %d", len(g.Bundles), len(nodes))
	}
	numbers := newNodeArray(len(nodes))
	for bundle, node := range nodes {
		if node < 0 || node >= math.MaxUint32 {
			return nil, cconv.InvalidError("nodes[%d] '%d': expected the index of a node", bundle, node)
		}
		numbers[bundle] = C.uint32_t(node)
	}
	return numbers, nil
}

// Place returns where Ray's control plane would place the bundles, all or none. If nodes are equally good, Ray chooses
// arbitrarily and can choose differently each time; Place uses the node that was added first.
//
// It fails with Invalid for amounts that are not finite or at least 922337203685477.5808, for sums of that size if Ray
// adds bundles up, for a resource without a name or with the name "bundle", for several topology labels, and for input
// that needs too much memory.
func (g *Group) Place(cluster *Cluster) (Answer, error) {
	var result C.QuoitRayResult
	numbers := newNodeArray(len(g.Bundles))
	err := g.withCluster(cluster, func(group *C.QuoitRayGroup, nodes *C.QuoitRayCluster, gerror **C.GError) {
		C.quoit_ray_group_place(group, nodes, &result, firstElement(numbers), gerror)
	})
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Result: Result(result)}
	if answer.Result == Success {
		answer.Nodes = make([]int, len(numbers))
		for bundle, node := range numbers {
			answer.Nodes[bundle] = int(node)
		}
	}
	return answer, nil
}

// IsDetermined reports whether Ray always gives the answer of Place. budget is the number of placements to try in the
// search for another answer; 1,000 takes some milliseconds.
//
// It fails like Place.
func (g *Group) IsDetermined(cluster *Cluster, budget uint64) (Certainty, error) {
	var determined C.QuoitRayCertainty
	err := g.withCluster(cluster, func(group *C.QuoitRayGroup, nodes *C.QuoitRayCluster, gerror **C.GError) {
		C.quoit_ray_group_is_determined(group, nodes, C.uint64_t(budget), &determined, gerror)
	})
	return Certainty(determined), err
}

// IsPossible reports whether Ray could give an answer. budget is the number of placements to try if the answer is not
// Success. For Success, the result is never Unknown.
//
// It fails like Place, and with Invalid for an answer of Success without a node for each bundle.
func (g *Group) IsPossible(cluster *Cluster, answer Answer, budget uint64) (Certainty, error) {
	var possible C.QuoitRayCertainty
	var first *C.uint32_t
	if answer.Result == Success {
		numbers, err := g.nodeArray(answer.Nodes)
		if err != nil {
			return Unknown, err
		}
		first = firstElement(numbers)
	}
	err := g.withCluster(cluster, func(group *C.QuoitRayGroup, nodes *C.QuoitRayCluster, gerror **C.GError) {
		C.quoit_ray_group_is_possible(group, nodes, C.QuoitRayResult(answer.Result), first, C.uint64_t(budget),
			&possible, gerror)
	})
	return Certainty(possible), err
}

// Allocate reduces the free amounts of the nodes of a group, like Ray's control plane does when it has placed the group.
// No amount becomes less than 0.
//
// It fails with Invalid for an index out of range, and for a group that Place would refuse.
func (c *Cluster) Allocate(group *Group, nodes []int) error {
	numbers, err := group.nodeArray(nodes)
	if err != nil {
		return err
	}
	return group.withCluster(c, func(placed *C.QuoitRayGroup, cluster *C.QuoitRayCluster, gerror **C.GError) {
		C.quoit_ray_cluster_allocate(cluster, placed, firstElement(numbers), gerror)
	})
}

// Deallocate increases the free amounts of the nodes of a group, like the nodes' reports do after the group was removed.
// No amount becomes more than the total.
//
// It fails with Invalid for an index out of range, and for a group that Place would refuse.
func (c *Cluster) Deallocate(group *Group, nodes []int) error {
	numbers, err := group.nodeArray(nodes)
	if err != nil {
		return err
	}
	return group.withCluster(c, func(placed *C.QuoitRayGroup, cluster *C.QuoitRayCluster, gerror **C.GError) {
		C.quoit_ray_cluster_deallocate(cluster, placed, firstElement(numbers), gerror)
	})
}

// BundleOrder returns the order in which PACK, SPREAD and STRICT_SPREAD place the bundles.
//
// It fails with Invalid for amounts and numbers of bundles that Place refuses.
func (g *Group) BundleOrder() ([]int, error) {
	numbers := newNodeArray(len(g.Bundles))
	err := g.with(func(c *C.QuoitRayGroup) error {
		var gerror *C.GError
		C.quoit_ray_bundle_order(c, firstElement(numbers), &gerror)
		return errorFromC(gerror)
	})
	if err != nil {
		return nil, err
	}
	order := make([]int, len(numbers))
	for position, bundle := range numbers {
		order[position] = int(bundle)
	}
	return order, nil
}

// --- names ---

// ResourceID returns the number by which Ray orders resources: 0 to 3 for CPU, memory, GPU and object_store_memory, and
// for others the hash of the name that libstdc++ computes, as a signed number.
//
// It fails with Invalid only for text with a NUL.
func ResourceID(resource string) (int64, error) {
	var a call
	name := a.text("resource", resource)
	if err := a.Err(); err != nil {
		return 0, err
	}
	return int64(C.quoit_ray_resource_id(name)), nil
}

// BundleResource returns Ray's name for the part of a node's resource that belongs to one bundle: "TPU_group_0_<id>".
// Ray adds 1000 of the resource "bundle" to each bundle.
//
// It fails with Invalid for a resource without a name, a negative number, or an id that is not 36 hexadecimal digits.
func BundleResource(resource, groupID string, bundle int) (string, error) {
	var a call
	var gerror *C.GError
	name, id := a.text("resource", resource), a.text("group", groupID)
	if err := a.Err(); err != nil {
		return "", err
	}
	if bundle < 0 || bundle > math.MaxUint32 {
		return "", cconv.InvalidError("bundle '%d': expected 0 to %d", bundle, uint32(math.MaxUint32))
	}
	text := C.quoit_ray_dup_bundle_resource(name, id, C.uint32_t(bundle), &gerror)
	return moveString(text), errorFromC(gerror)
}

// GroupResource returns Ray's name for the part of a node's resource that belongs to any bundle of a group:
// "TPU_group_<id>".
//
// It fails like BundleResource.
func GroupResource(resource, groupID string) (string, error) {
	var a call
	var gerror *C.GError
	name, id := a.text("resource", resource), a.text("group", groupID)
	if err := a.Err(); err != nil {
		return "", err
	}
	text := C.quoit_ray_dup_group_resource(name, id, &gerror)
	return moveString(text), errorFromC(gerror)
}
