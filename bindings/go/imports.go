// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"time"

	"quoit/internal/door"
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
	// RayGroups is the output of `ray list placement-groups --detail`, or the JSON of placement_group_table(), of
	// the same moment as the nodes. With it, groups of the source that are missing in it end; if it is nil, they
	// stay.
	RayGroups []byte
	// RayAvailable is the JSON of available_resources_per_node(), of the same moment; nil if it is unknown.
	RayAvailable []byte
	// K8sPods is the output of `kubectl get pods -A -o json` or `-o yaml`, of the same moment as the Kubernetes
	// nodes. It provides worker ids of nodes, and the addresses that Ray uses for them; nil if it is unknown.
	K8sPods []byte
	// Topology is the topology of slices whose nodes do not have one, as in Ray before 2.50.
	Topology string
	// TPUPerChip is the cluster's RAY_TPU_RESOURCE_PER_CHIP: 1 to 64; 0 if it is unknown.
	TPUPerChip int64
	// Join is the name of a source of another kind. Nodes of the input are joined with its nodes of the same pool,
	// slice and worker id.
	Join string
	// Complete states that a list of exactly 100 rows is complete. Ray truncates its lists there by default.
	Complete bool
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
	ChangeLost       ChangeKind = C.QUOIT_CHANGE_LOST        // a held node is gone; it stays, dead, while a group has it
	ChangeGroup      ChangeKind = C.QUOIT_CHANGE_GROUP       // a group that the source owns is new, gone or different
	ChangeExternal   ChangeKind = C.QUOIT_CHANGE_EXTERNAL    // the use of a node outside of groups changed
	ChangeGroupSlice ChangeKind = C.QUOIT_CHANGE_GROUP_SLICE // a slice of a group is lost or leaving, or whole again
)

var changeKindNames = map[ChangeKind]string{
	ChangeAdded: "ADDED", ChangeRemoved: "REMOVED", ChangeChanged: "CHANGED", ChangeState: "STATE", ChangePool: "POOL",
	ChangeLost: "LOST", ChangeGroup: "GROUP", ChangeExternal: "EXTERNAL", ChangeGroupSlice: "GROUP_SLICE",
}

// String returns the name of the kind.
func (k ChangeKind) String() string { return named(changeKindNames, k) }

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
	Detail string // "alive -> dead"; "" if Kind says everything
	Group  string // NAME@ID of the group that has the node; "" if none
}

func madeImport(c *C.QuoitImport, err error) (*Import, error) {
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

type inputMaking struct {
	c *C.QuoitInput
}

// opened converts the input to a C object, which copies its data; close frees it.
func (i *Input) opened() (*inputMaking, error) {
	if i == nil {
		return nil, door.Invalid("input: expected one, not nil")
	}
	if _, known := sourceKindNames[i.Kind]; !known {
		return nil, door.Invalid("kind of the input '%d': expected FleetText, RayCluster, RayNodes or K8sNodes", int(i.Kind))
	}
	var arguments door.Arguments
	defer arguments.Free()
	source := (*C.char)(arguments.TextOrNull("source", i.Source))
	topology := (*C.char)(arguments.TextOrNull("topology", i.Topology))
	join := (*C.char)(arguments.TextOrNull("join", i.Join))
	variables := (**C.char)(arguments.Pairs("variables", i.Variables))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	text, length := arguments.Document(i.Text)
	c := C.quoit_input_new(C.QuoitSourceKind(i.Kind), (*C.char)(text), C.size_t(length))
	C.quoit_input_set_source(c, source)
	C.quoit_input_set_topology(c, topology)
	C.quoit_input_set_join(c, join)
	C.quoit_input_set_variables(c, variables)
	if i.RayGroups != nil {
		text, length := arguments.Document(i.RayGroups)
		C.quoit_input_set_list(c, C.QUOIT_LIST_RAY_GROUPS, (*C.char)(text), C.size_t(length))
	}
	if i.RayAvailable != nil {
		text, length := arguments.Document(i.RayAvailable)
		C.quoit_input_set_list(c, C.QUOIT_LIST_RAY_AVAILABLE, (*C.char)(text), C.size_t(length))
	}
	if i.K8sPods != nil {
		text, length := arguments.Document(i.K8sPods)
		C.quoit_input_set_list(c, C.QUOIT_LIST_K8S_PODS, (*C.char)(text), C.size_t(length))
	}
	if i.Complete {
		C.quoit_input_set_complete(c)
	}
	if i.TPUPerChip != 0 {
		var gerror *C.GError
		C.quoit_input_set_tpu_per_chip(c, C.int64_t(i.TPUPerChip), &gerror)
		if err := take(gerror); err != nil {
			C.quoit_input_free(c)
			return nil, err
		}
	}
	return &inputMaking{c}, nil
}

func (m *inputMaking) close() {
	C.quoit_input_free(m.c)
}

// ImportFleetText imports fleet text, such as "v6e 4x4 x2; v5p 2x2x4 x3 pool=big busy=0-1 dead=2.3", for the source
// "fleet".
//
// It fails like Import.
func (l *Ledger) ImportFleetText(ctx context.Context, text string, now time.Time) (*Import, error) {
	return l.Import(ctx, &Input{Kind: FleetText, Text: []byte(text)}, now)
}

// Import replaces the content of a source by the input. Importing the same input twice changes nothing.
//
// It fails with Conflict if a held node would be dropped or replaced (the message names it and its group; Sync keeps
// it), if another source of the same kind claims one of the machines, if the source's name belongs to a source of
// another kind, or if a join would give a held node another topology or other chips. It fails with NotFound if there is
// no source to join, and with Invalid if the text breaks a rule of its format (the message has the place, the value and
// what was expected), for files of different moments or clusters, and for a join with a source of the same kind.
func (l *Ledger) Import(ctx context.Context, input *Input, now time.Time) (*Import, error) {
	made, err := input.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	var found *C.QuoitImport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		found = C.quoit_ledger_import(c, made.c, C.int64_t(clock(now)), &gerror)
		return gerror
	})
	return madeImport(found, err)
}

// Sync is like Import, for a fleet that changes while groups hold parts of it. A held node that is missing in the input
// is lost: it stays in its place as a dead node while a group has it. The result reports which slices of which groups
// are lost, leaving or whole again; act on it with Repair and Resize.
//
// It fails like Import, except for lost nodes.
func (l *Ledger) Sync(ctx context.Context, input *Input, now time.Time) (*Import, error) {
	made, err := input.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	var found *C.QuoitImport
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		found = C.quoit_ledger_sync(c, made.c, C.int64_t(clock(now)), &gerror)
		return gerror
	})
	return madeImport(found, err)
}
