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

// Input is what a source says, as the files that tell it: a node list, and beside it what the cluster says of groups and
// of what is available. It is a value: the empty value of a field is as good as not setting it.
type Input struct {
	// Kind is what Text is.
	Kind SourceKind
	// Text is fleet text, a manifest (YAML), a list of Ray's nodes (`ray list nodes` as JSON or YAML, the JSON of
	// ray.nodes()), or one of Kubernetes's (`kubectl get nodes -o json`).
	Text []byte
	// Source is the source's name; "" is "fleet", the manifest's metadata.name, "ray", "k8s".
	Source string
	// Variables are values for ${NAME} in a manifest.
	Variables map[string]string
	// RayGroups is `ray list placement-groups --detail`, or the JSON of placement_group_table(), of the same moment as the
	// nodes. With it the source says all of its groups; nil: those that it had stay.
	RayGroups []byte
	// RayAvailable is the JSON of available_resources_per_node(), of the same moment; nil: not told.
	RayAvailable []byte
	// K8sPods is `kubectl get pods -A -o json` or `-o yaml`, of the same moment as Kubernetes's nodes: worker ids of nodes, and
	// addresses by which Ray's list knows them; nil: not told.
	K8sPods []byte
	// Topology is that of slices whose nodes do not say it, as those of Ray before 2.50.
	Topology string
	// TPUPerChip is the cluster's RAY_TPU_RESOURCE_PER_CHIP: 1 to 64; 0: not told.
	TPUPerChip int64
	// Join is the name of a source of another kind, whose nodes those of the input are, by pool, slice and worker id.
	Join string
	// Complete says that lists of exactly 100 rows are all there is: Ray cuts its lists there unless it is told otherwise.
	Complete bool
}

// ChangeKind is what a line of a difference is.
type ChangeKind int

// The lines of the difference between what a source said before and says now.
const (
	ChangeAdded      ChangeKind = C.QUOIT_CHANGE_ADDED       // a node is new
	ChangeRemoved    ChangeKind = C.QUOIT_CHANGE_REMOVED     // a node is gone
	ChangeChanged    ChangeKind = C.QUOIT_CHANGE_CHANGED     // a node is another in place, labels, resources or address
	ChangeState      ChangeKind = C.QUOIT_CHANGE_STATE       // the source says another state of a node
	ChangePool       ChangeKind = C.QUOIT_CHANGE_POOL        // a pool is new, gone, or has other pods or environment
	ChangeLost       ChangeKind = C.QUOIT_CHANGE_LOST        // a held node is gone: it stays, dead, while a group has it
	ChangeGroup      ChangeKind = C.QUOIT_CHANGE_GROUP       // a group that the source has made is new, gone or another
	ChangeExternal   ChangeKind = C.QUOIT_CHANGE_EXTERNAL    // other use of a node that no group explains
	ChangeGroupSlice ChangeKind = C.QUOIT_CHANGE_GROUP_SLICE // a slice of a group is lost or leaving, or whole again
)

var changeKindNames = map[ChangeKind]string{
	ChangeAdded: "ADDED", ChangeRemoved: "REMOVED", ChangeChanged: "CHANGED", ChangeState: "STATE", ChangePool: "POOL",
	ChangeLost: "LOST", ChangeGroup: "GROUP", ChangeExternal: "EXTERNAL", ChangeGroupSlice: "GROUP_SLICE",
}

// String is the name of the kind.
func (k ChangeKind) String() string { return named(changeKindNames, k) }

// Import is what an import found and changed.
type Import struct {
	Source   string
	IsNew    bool // the source was not known before; there is no difference to show then
	Nodes    int  // those that the source claims
	Changes  []Change
	Warnings []string // what the reader noticed and took anyway
}

// Change is one line of the difference between what a source said before and says now.
type Change struct {
	Kind   ChangeKind
	Name   string // the node, pool, group or, for what no group explains, the source
	Detail string // "alive -> dead"; "" where the kind says all
	Group  string // NAME@ID of the group that has the node; "" where none has it
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

// inputMaking is an input of C.
type inputMaking struct {
	c *C.QuoitInput
}

// opened is the input as C has it, which copies what it is given; close frees it.
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

// ImportFleetText reads fleet text, "v6e 4x4 x2; v5p 2x2x4 x3 pool=big busy=0-1 dead=2.3", for the source "fleet".
//
// It fails as Import does.
func (l *Ledger) ImportFleetText(ctx context.Context, text string, now time.Time) (*Import, error) {
	return l.Import(ctx, &Input{Kind: FleetText, Text: []byte(text)}, now)
}

// Import reads what a source says, in place of what it said before; doing it twice is doing it once.
//
// It fails with Conflict when a node that is held would be dropped or replaced (the message names it and its group),
// another source of the kind claims one of the machines, the source's name is one of another kind, or a held node would
// get another topology or other chips by a join; NotFound when there is no source to join; and Invalid for text that is
// not what it should be (the message has place, value and expectation), for files of different moments or clusters, and
// for a join with a source of the same kind.
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

// Sync is an import of a fleet that has changed: a held node that the source has no longer is lost. It stays in its
// place, dead, for as long as a group has it. The difference says which slices of which groups are lost, leaving, or
// whole again; Repair and Resize act on it.
//
// It fails as Import does, but for such nodes.
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
