// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"sort"
	"time"

	"quoit/internal/cconv"
)

// NodeFacts is what a source reports about one node. Empty texts mean that a fact is not known.
type NodeFacts struct {
	// ID identifies the node in its source, such as Ray's node id; "": the name.
	ID string
	// Name is the host name; "": the address, or else the ID.
	Name string
	// Address is the address by which the node joins nodes of other sources.
	Address string
	// State is the state of the node; the zero value is NodeAlive.
	State NodeState
	// Pool is the pool; "": "default".
	Pool string
	// Slice is the slice of which the node is a host. If it is set, the three fields below are needed.
	Slice string
	// WorkerID is the host's number in the slice, from 0.
	WorkerID int64
	// Accelerator is the TPU generation, such as "v6e", and Topology the topology of the slice, such as "4x4".
	Accelerator, Topology string
	// TenThousandths has the amounts of the resources, in ten-thousandths: 4 chips are {"TPU": 40000}.
	TenThousandths map[string]int64
	// Labels has labels, with the keys that Ray gives them. Those of pool and slice need not be stated again.
	Labels map[string]string
}

// NodesUpdate changes a few nodes of a source.
type NodesUpdate struct {
	// Nodes has the nodes to add, or to replace if the source has nodes of the same ids.
	Nodes []NodeFacts
	// Remove has the ids of the nodes to remove. The name is the id of a node without one.
	Remove []string
	// Source is the name of the source; "": "ray".
	Source string
	// Join is the name of the source to join, as in Input.Join.
	Join string
	// TPUPerChip is the cluster's RAY_TPU_RESOURCE_PER_CHIP: 1 to 64; 0 if it is unknown.
	TPUPerChip int64
}

// sortedKeys returns the keys in order, so that of several bad values always the same one is reported.
func sortedKeys[Value any](values map[string]Value) []string {
	keys := make([]string, 0, len(values))
	for key := range values {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// addNode adds a node to an input of added nodes.
func addNode(c *C.QuoitInput, node *NodeFacts) error {
	var arguments cconv.Arguments
	text := func(what, value string) *C.char { return (*C.char)(arguments.Text(what, value)) }
	id, name, address := text("id", node.ID), text("name", node.Name), text("address", node.Address)
	pool, slice := text("pool", node.Pool), text("slice", node.Slice)
	accelerator, topology := text("accelerator", node.Accelerator), text("topology", node.Topology)
	if err := arguments.Err(); err != nil {
		return err
	}
	var gerror *C.GError
	C.quoit_input_add_node(c, id, name, address, C.QuoitNodeState(node.State), &gerror)
	if gerror == nil && node.Pool != "" {
		C.quoit_input_set_node_pool(c, pool, &gerror)
	}
	if gerror == nil && (node.Slice != "" || node.WorkerID != 0 || node.Accelerator != "" || node.Topology != "") {
		C.quoit_input_set_node_slice(c, slice, C.int64_t(node.WorkerID), accelerator, topology, &gerror)
	}
	for _, key := range sortedKeys(node.Labels) {
		cKey, value := text("label", key), text("label", node.Labels[key])
		if gerror == nil && arguments.Err() == nil {
			C.quoit_input_set_node_label(c, cKey, value, &gerror)
		}
	}
	for _, resource := range sortedKeys(node.TenThousandths) {
		cResource := text("resource", resource)
		amount := C.QuoitAmount{e4: C.int64_t(node.TenThousandths[resource])}
		if gerror == nil && arguments.Err() == nil {
			C.quoit_input_set_node_resource(c, cResource, amount, &gerror)
		}
	}
	if err := errorFromC(gerror); err != nil {
		return err
	}
	return arguments.Err()
}

// newNodesInput returns an input of added nodes, which the caller frees.
func newNodesInput(nodes []NodeFacts) (*C.QuoitInput, error) {
	c := C.quoit_input_new_nodes()
	for index := range nodes {
		if err := addNode(c, &nodes[index]); err != nil {
			C.quoit_input_free(c)
			return nil, err
		}
	}
	return c, nil
}

// toC converts the update to a C object, which copies the data. The caller frees it.
func (u *NodesUpdate) toC() (*C.QuoitInput, error) {
	if u == nil {
		return nil, cconv.InvalidError("update: expected a NodesUpdate, found nil")
	}
	nodes := u.Nodes
	if nodes == nil {
		nodes = []NodeFacts{}
	}
	input := Input{Kind: RayNodes, Nodes: nodes, Source: u.Source, Join: u.Join, TPUPerChip: u.TPUPerChip}
	c, err := input.toC()
	for index := 0; err == nil && index < len(u.Remove); index++ {
		var arguments cconv.Arguments
		id := (*C.char)(arguments.Text("remove", u.Remove[index]))
		if err = arguments.Err(); err == nil {
			var gerror *C.GError
			C.quoit_input_remove_node(c, id, &gerror)
			err = errorFromC(gerror)
		}
	}
	if err != nil {
		C.quoit_input_free(c)
		return nil, err
	}
	return c, nil
}

// UpdateNodes adds or replaces a few nodes of a source, and removes others. All other nodes of the source stay. The
// result is that of Sync with the complete list: an allocated node that is removed is lost. Removing a node that the
// source does not have changes nothing. An update without Nodes can be one of a source of any kind.
//
// It fails like Sync, with NotFound if there is no such source, with Invalid if a fact of a node is wrong, if the same
// id is added and removed, or if a node with chips lacks Ray's TPU labels (NodeFacts.Slice sets them), and with
// Conflict if another alive node of the source has the name of one of the nodes.
func (l *Ledger) UpdateNodes(ctx context.Context, update *NodesUpdate, now time.Time) (*Import, error) {
	cInput, err := update.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_input_free(cInput)
	var result *C.QuoitImport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		result = C.quoit_ledger_update_nodes(c, cInput, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
	return importOrError(result, err)
}

// UpdateNodes is like Ledger.UpdateNodes, on the fork only. It fails like Ledger.UpdateNodes.
func (f *Fork) UpdateNodes(update *NodesUpdate, now time.Time) (*Import, error) {
	cInput, err := update.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_input_free(cInput)
	var result *C.QuoitImport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		result = C.quoit_fork_update_nodes(c, cInput, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
	return importOrError(result, err)
}
