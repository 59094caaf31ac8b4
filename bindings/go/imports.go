// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"time"

	"quoit/internal/cconv"
)

// Input describes the nodes of a source: a node list, and optionally the cluster's groups and available resources. It
// is a plain value: an empty field means that the field is not set.
type Input struct {
	// Kind is the format of Text.
	Kind SourceKind
	// Text is fleet text, a manifest (YAML), a list of Ray's nodes (`ray list nodes` as JSON or YAML, or the JSON
	// of ray.nodes()), or a list of Kubernetes nodes (`kubectl get nodes -o json`).
	Text []byte
	// Source is the source's name. The default depends on Kind: "fleet", the manifest's metadata.name, "ray" or
	// "k8s".
	Source string
	// Variables has values for each ${NAME} in a manifest.
	Variables map[string]string
	// RayGroups is the output of `ray list placement-groups --detail`, or the JSON of placement_group_table(), from
	// the same time as the nodes. Groups of the source that are missing in RayGroups end. If RayGroups is nil, all
	// groups of the source stay.
	RayGroups []byte
	// RayAvailable is the JSON of available_resources_per_node(), from the same time as the nodes; nil if it is
	// unknown.
	RayAvailable []byte
	// K8sPods is the output of `kubectl get pods -A -o json` or `-o yaml`, from the same time as the Kubernetes
	// nodes; nil if it is unknown. It has the worker ids of the nodes, and the addresses that Ray uses for them.
	K8sPods []byte
	// Topology is the topology of slices whose nodes do not state one, such as nodes of Ray before 2.50.
	Topology string
	// TPUPerChip is the cluster's RAY_TPU_RESOURCE_PER_CHIP: 1 to 64; 0 if it is unknown.
	TPUPerChip int64
	// Join is the name of a source of another kind. Nodes of the input are joined with its nodes of the same pool,
	// slice and worker id.
	Join string
	// Complete states that a list of exactly 100 rows is complete. Ray truncates its lists there by default.
	Complete bool
	// Nodes has the nodes of a source of kind RayNodes, in place of Text; nil if Text has them.
	Nodes []NodeFacts
}

// ChangeKind is the kind of a change that an import makes.
type ChangeKind int

// The kinds of changes between the previous and the new content of a source.
const (
	ChangeAdded      ChangeKind = C.QUOIT_CHANGE_ADDED       // a node is new
	ChangeRemoved    ChangeKind = C.QUOIT_CHANGE_REMOVED     // a node is gone
	ChangeChanged    ChangeKind = C.QUOIT_CHANGE_CHANGED     // the place, labels, resources or address of a node changed
	ChangeState      ChangeKind = C.QUOIT_CHANGE_STATE       // the source reports another state of a node
	ChangePool       ChangeKind = C.QUOIT_CHANGE_POOL        // a pool is new, gone, or has other pods or environment
	ChangeLost       ChangeKind = C.QUOIT_CHANGE_LOST        // an allocated node is gone; it stays, dead, until it is free
	ChangeGroup      ChangeKind = C.QUOIT_CHANGE_GROUP       // a group that the source owns is new, gone or different
	ChangeExternal   ChangeKind = C.QUOIT_CHANGE_EXTERNAL    // the external use of a node changed
	ChangeGroupSlice ChangeKind = C.QUOIT_CHANGE_GROUP_SLICE // a slice of a group is lost or leaving, or whole again
)

var changeKindNames = map[ChangeKind]string{
	ChangeAdded: "ADDED", ChangeRemoved: "REMOVED", ChangeChanged: "CHANGED", ChangeState: "STATE", ChangePool: "POOL",
	ChangeLost: "LOST", ChangeGroup: "GROUP", ChangeExternal: "EXTERNAL", ChangeGroupSlice: "GROUP_SLICE",
}

// String returns the name of the kind.
func (k ChangeKind) String() string { return nameOf(changeKindNames, k) }

// Import is the result of an import.
type Import struct {
	Source   string
	IsNew    bool // the source was new, so there are no Changes
	Nodes    int  // number of nodes of the source
	Changes  []Change
	Warnings []string // unusual content that was accepted
}

// Change is one change between the previous and the new content of a source.
type Change struct {
	Kind   ChangeKind
	Name   string // the node, pool or group; the source for ChangeExternal
	Detail string // "alive -> dead"; "" if there is nothing to add to Kind
	Group  string // NAME@ID of the group that has the node; "" if none
}

// importOrError converts and frees the result of an import, unless the import failed with err.
func importOrError(c *C.QuoitImport, err error) (*Import, error) {
	if err != nil {
		return nil, err
	}
	defer C.quoit_import_free(c)
	found := &Import{
		Source:   C.GoString(C.quoit_import_get_source(c)),
		IsNew:    bool(C.quoit_import_is_new(c)),
		Nodes:    int(C.quoit_import_get_n_nodes(c)),
		Changes:  make([]Change, C.quoit_import_get_n_changes(c)),
		Warnings: make([]string, C.quoit_import_get_n_warnings(c)),
	}
	for index := range found.Changes {
		change := C.uint32_t(index)
		found.Changes[index] = Change{
			Kind:   ChangeKind(C.quoit_import_get_change_kind(c, change)),
			Name:   C.GoString(C.quoit_import_get_change_name(c, change)),
			Detail: C.GoString(C.quoit_import_get_change_detail(c, change)),
			Group:  C.GoString(C.quoit_import_get_change_group(c, change)),
		}
	}
	for index := range found.Warnings {
		found.Warnings[index] = C.GoString(C.quoit_import_get_warning(c, C.uint32_t(index)))
	}
	return found, nil
}

// newC returns a C object with the nodes of the input.
func (i *Input) newC(arguments *cconv.Arguments) (*C.QuoitInput, error) {
	if i.Nodes == nil {
		text, length := arguments.Bytes(i.Text)
		return C.quoit_input_new(C.QuoitSourceKind(i.Kind), (*C.char)(text), C.size_t(length)), nil
	}
	if i.Kind != RayNodes || i.Text != nil {
		return nil, cconv.InvalidError("nodes: expected the kind RayNodes, and no Text")
	}
	return newNodesInput(i.Nodes)
}

// toC converts the input to a C object, which copies the data. The caller frees it.
func (i *Input) toC() (*C.QuoitInput, error) {
	if i == nil {
		return nil, cconv.InvalidError("input: expected an Input, found nil")
	}
	if _, known := sourceKindNames[i.Kind]; !known {
		return nil, cconv.InvalidError("input kind '%d': expected FleetText, RayCluster, RayNodes or K8sNodes", int(i.Kind))
	}
	var arguments cconv.Arguments
	defer arguments.Free()
	source := (*C.char)(arguments.TextUnlessEmpty("source", i.Source))
	topology := (*C.char)(arguments.TextUnlessEmpty("topology", i.Topology))
	join := (*C.char)(arguments.TextUnlessEmpty("join", i.Join))
	variables := (**C.char)(arguments.Pairs("variables", i.Variables))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c, err := i.newC(&arguments)
	if err != nil {
		return nil, err
	}
	C.quoit_input_set_source(c, source)
	C.quoit_input_set_topology(c, topology)
	C.quoit_input_set_join(c, join)
	C.quoit_input_set_variables(c, variables)
	if i.RayGroups != nil {
		text, length := arguments.Bytes(i.RayGroups)
		C.quoit_input_set_list(c, C.QUOIT_LIST_RAY_GROUPS, (*C.char)(text), C.size_t(length))
	}
	if i.RayAvailable != nil {
		text, length := arguments.Bytes(i.RayAvailable)
		C.quoit_input_set_list(c, C.QUOIT_LIST_RAY_AVAILABLE, (*C.char)(text), C.size_t(length))
	}
	if i.K8sPods != nil {
		text, length := arguments.Bytes(i.K8sPods)
		C.quoit_input_set_list(c, C.QUOIT_LIST_K8S_PODS, (*C.char)(text), C.size_t(length))
	}
	if i.Complete {
		C.quoit_input_set_complete(c)
	}
	if i.TPUPerChip != 0 {
		var gerror *C.GError
		C.quoit_input_set_tpu_per_chip(c, C.int64_t(i.TPUPerChip), &gerror)
		if err := errorFromC(gerror); err != nil {
			C.quoit_input_free(c)
			return nil, err
		}
	}
	return c, nil
}

// ImportFleetText imports fleet text, such as "v6e 4x4 x2; v5p 2x2x4 x3 pool=big busy=0-1 dead=2.3", for the source
// "fleet".
//
// It fails like Import.
func (l *Ledger) ImportFleetText(ctx context.Context, text string, now time.Time) (*Import, error) {
	return l.Import(ctx, &Input{Kind: FleetText, Text: []byte(text)}, now)
}

// Import replaces the content of a source by the input. A second import of the same input changes nothing.
//
// It fails with Conflict if an allocated node would be dropped or replaced (the message names the node and its group;
// Sync keeps the node), if another source of the same kind claims one of the machines, if the source's name belongs to
// a source of another kind, or if a join would give an allocated node another topology or other chips. It fails with
// NotFound if there is no source to join. It fails with Invalid if the text breaks a rule of its format (the message
// has the place, the value and what was expected), for files of different times or clusters, and for a join with a
// source of the same kind.
func (l *Ledger) Import(ctx context.Context, input *Input, now time.Time) (*Import, error) {
	cInput, err := input.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_input_free(cInput)
	var result *C.QuoitImport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		result = C.quoit_ledger_import(c, cInput, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
	return importOrError(result, err)
}

// Sync is like Import, for a fleet that changes while groups use parts of it. An allocated node that is missing in the
// input is lost: it stays in its place as a dead node until no group has it. The result reports which slices of which
// groups are lost, leaving or whole again. Use Repair and Resize to react.
//
// It fails like Import, except for lost nodes.
func (l *Ledger) Sync(ctx context.Context, input *Input, now time.Time) (*Import, error) {
	cInput, err := input.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_input_free(cInput)
	var result *C.QuoitImport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		result = C.quoit_ledger_sync(c, cInput, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
	return importOrError(result, err)
}
