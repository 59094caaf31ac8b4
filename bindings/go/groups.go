// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"
	"unsafe"

	"quoit/internal/cconv"
)

// GroupState is the state of a group. The comments of the constants give Ray's names.
type GroupState int

// The states of a group.
const (
	GroupHeld         GroupState = C.QUOIT_GROUP_HELD         // not confirmed yet
	GroupReserved     GroupState = C.QUOIT_GROUP_RESERVED     // Ray: CREATED
	GroupRescheduling GroupState = C.QUOIT_GROUP_RESCHEDULING // a node is dead or draining, or a bundle is no longer placed
	GroupRemoved      GroupState = C.QUOIT_GROUP_REMOVED      // ended; its record is kept for its key, lease or reason
	GroupPending      GroupState = C.QUOIT_GROUP_PENDING      // only imported from Ray: not placed yet; Ray: PENDING
	GroupAhead        GroupState = C.QUOIT_GROUP_AHEAD        // a reservation ahead, which holds nothing before it begins
)

var groupStateNames = map[GroupState]string{
	GroupHeld: "HELD", GroupReserved: "RESERVED", GroupRescheduling: "RESCHEDULING", GroupRemoved: "REMOVED",
	GroupPending: "PENDING", GroupAhead: "AHEAD",
}

// String returns the name of the state.
func (s GroupState) String() string { return nameOf(groupStateNames, s) }

// GroupSliceState is the state of a slice or a bundle of a group.
type GroupSliceState int

// The states of a slice or a bundle of a group.
const (
	SliceWhole   GroupSliceState = C.QUOIT_GROUP_SLICE_WHOLE
	SliceLeaving GroupSliceState = C.QUOIT_GROUP_SLICE_LEAVING // a host is draining
	SliceLost    GroupSliceState = C.QUOIT_GROUP_SLICE_LOST    // a host is dead, or the bundle is not placed
)

var groupSliceStateNames = map[GroupSliceState]string{SliceWhole: "WHOLE", SliceLeaving: "LEAVING", SliceLost: "LOST"}

// String returns the name of the state.
func (s GroupSliceState) String() string { return nameOf(groupSliceStateNames, s) }

// Group is the state of a group when the value was made. It does not change, any number of goroutines can read it, and
// it outlives its ledger. Close frees it; the garbage collector does so if you do not. Its id and name are still
// available after Close.
type Group struct {
	h      *cconv.Handle
	id     uint64
	name   string
	handle string
}

// GroupInfo is everything that a group contains.
type GroupInfo struct {
	ID      uint64 // unique in the ledger, never used again
	Name    string // unique among the live groups
	Owner   string // "" if it has none
	Key     string // the request key; "" if it has none
	Request string // the request, in canonical text; of one with alternatives, the one that the group got comes first
	// Alternative is which alternative of its request the group got, counted from 1; 0 is the request itself.
	Alternative int
	Source      string // the source that owns it, so that only an import can end it; "" for a group of this ledger
	State       GroupState
	Created     time.Time // when it was reserved, held or first imported, by the ledger's clock
	Begins      time.Time // when ReserveAt lets it begin, also after that; the zero time if it began when it was made
	Ended       time.Time // when it ended; the zero time for a live group
	Until       time.Time // when its lease or that of its owner ends; the zero time if neither has a lease
	Expired     bool      // it ended because its lease or that of its owner ended

	ExpectedEnd time.Time // the estimate, which ends nothing; the zero time if unknown
	Priority    int32     // a greater one is more important

	Labels        map[string]string // data of the caller; empty without labels
	ReleaseReason string            // why the group was released; "" if it is live or no reason was given

	Slices  []GroupSlice  // in natural order: a slice id is an index of Slices; empty for an ended group
	Bundles []GroupBundle // empty for a group that has whole nodes
}

// GroupSlice is a slice of a group, or the part of a slice that the group has.
type GroupSlice struct {
	Name    string // the short name if it is unambiguous in the fleet, else source/pool/name
	State   GroupSliceState
	Workers []GroupWorker // by worker id
	Part    *Part         // where it is in the slice that it is cut from; nil: a whole slice
	Joined  *Joined       // what it is joined from; nil: it is not joined from cubes
}

// Joined is a slice that is joined from cubes.
type Joined struct {
	Shape        [3]uint32 // its chips along x, y and z, x fastest in the order of its workers
	WorkerSlices []string  // the name of the cube of each worker; "" if its node has left the fleet
}

// Part is where a part is in the slice that it is cut from. A part that crosses the wraparound of an axis ends outside of
// the slice.
type Part struct {
	Origin [3]uint32 // the coordinates of its first chip
	Shape  [3]uint32 // its chips along x, y and z
}

// GroupWorker is a node of a group's slice.
type GroupWorker struct {
	Name     string // the node's short name; a node in another pool can have the same one
	Address  string // "" if its source has no address, such as a manifest
	NodeID   uint32 // the node's durable id, for Snapshot.NodeByID
	FullName string // source/pool/name
}

// GroupBundle is a bundle of a group.
type GroupBundle struct {
	Node      string // the node's short name; "" if the bundle is not placed
	NodeID    uint32 // the node's durable id, for Snapshot.NodeByID; 0 if the bundle is not placed
	Chips     uint64 // the chips of the node that the bundle has, wholly or in part, as bits: bit 0 is chip 0
	State     GroupSliceState
	Resources []Amount
}

// Amount is an amount of a resource, as decimal text.
type Amount struct {
	Name, Amount string
}

func newGroup(c *C.QuoitGroup) *Group {
	free := func(p unsafe.Pointer) { C.quoit_group_unref((*C.QuoitGroup)(p)) }
	return &Group{
		h:      cconv.NewHandle("group", unsafe.Pointer(c), free),
		id:     uint64(C.quoit_group_get_id(c)),
		name:   C.GoString(C.quoit_group_get_name(c)),
		handle: C.GoString(C.quoit_group_get_handle(c)),
	}
}

// groupOrError returns the group of a C call, unless the call failed with err.
func groupOrError(c *C.QuoitGroup, err error) (*Group, error) {
	if err != nil {
		return nil, err
	}
	return newGroup(c), nil
}

// Close frees the group. A second Close does nothing.
func (g *Group) Close() {
	if g != nil {
		g.h.Close()
	}
}

// ID returns the group's id, which is unique in its ledger and never used again.
func (g *Group) ID() uint64 { return g.id }

// Name returns the group's name, which is unique among the live groups.
func (g *Group) Name() string { return g.name }

// Handle returns NAME@ID. A late or repeated call with it never affects a newer group of that name. It is valid in the
// group's ledger.
func (g *Group) Handle() string {
	return g.handle
}

// String returns the group's Handle.
func (g *Group) String() string { return g.Handle() }

// Info returns the content of the group.
//
// It fails with Invalid after Close.
func (g *Group) Info() (GroupInfo, error) {
	pointer, err := g.h.Use()
	if err != nil {
		return GroupInfo{}, err
	}
	defer g.h.Done()
	c := (*C.QuoitGroup)(pointer)
	info := GroupInfo{
		ID:          g.id,
		Name:        g.name,
		Owner:       C.GoString(C.quoit_group_get_owner(c)),
		Key:         C.GoString(C.quoit_group_get_key(c)),
		Request:     C.GoString(C.quoit_group_get_request(c)),
		Alternative: int(C.quoit_group_get_alternative(c)),
		Source:      C.GoString(C.quoit_group_get_source(c)),
		State:       GroupState(C.quoit_group_get_state(c)),
		Created:     timeFromC(int64(C.quoit_group_get_created_ms(c))),
		Ended:       timeFromC(int64(C.quoit_group_get_ended_ms(c))),
		Until:       timeFromC(int64(C.quoit_group_get_until_ms(c))),
		Begins:      timeFromC(int64(C.quoit_group_get_begins_ms(c))),
		Expired:     bool(C.quoit_group_has_expired(c)),
		ExpectedEnd: timeFromC(int64(C.quoit_group_get_expected_end_ms(c))),
		Priority:    int32(C.quoit_group_get_priority(c)),
		Labels:      make(map[string]string),
		Slices:      make([]GroupSlice, C.quoit_group_get_n_slices(c)),
		Bundles:     make([]GroupBundle, C.quoit_group_get_n_bundles(c)),
	}
	info.ReleaseReason = C.GoString(C.quoit_group_get_release_reason(c))
	for label := C.uint32_t(0); label < C.quoit_group_get_n_labels(c); label++ {
		key := C.GoString(C.quoit_group_get_label_key(c, label))
		info.Labels[key] = C.GoString(C.quoit_group_get_label_value(c, label))
	}
	for slice := range info.Slices {
		info.Slices[slice] = groupSliceFromC(c, C.uint32_t(slice))
	}
	for bundle := range info.Bundles {
		info.Bundles[bundle] = groupBundleFromC(c, C.uint32_t(bundle))
	}
	return info, nil
}

// Label returns the value of a label, and whether the group has it. Info has all labels.
//
// It fails with Invalid after Close.
func (g *Group) Label(key string) (value string, ok bool, err error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("label key", key))
	if err := arguments.Err(); err != nil {
		return "", false, err
	}
	pointer, err := g.h.Use()
	if err != nil {
		return "", false, err
	}
	defer g.h.Done()
	found := C.quoit_group_find_label((*C.QuoitGroup)(pointer), text)
	return C.GoString(found), found != nil, nil
}

func groupSliceFromC(c *C.QuoitGroup, slice C.uint32_t) GroupSlice {
	workers := make([]GroupWorker, C.quoit_group_get_n_workers(c, slice))
	for worker := range workers {
		workers[worker] = GroupWorker{
			Name:    C.GoString(C.quoit_group_get_worker_name(c, slice, C.uint32_t(worker))),
			Address: C.GoString(C.quoit_group_get_worker_address(c, slice, C.uint32_t(worker))),
			NodeID:  uint32(C.quoit_group_get_worker_node_id(c, slice, C.uint32_t(worker))),
			FullName: cconv.MoveString(
				unsafe.Pointer(C.quoit_group_dup_worker_full_name(c, slice, C.uint32_t(worker)))),
		}
	}
	return GroupSlice{
		Name:    cconv.MoveString(unsafe.Pointer(C.quoit_group_dup_slice_name(c, slice))),
		State:   GroupSliceState(C.quoit_group_get_slice_state(c, slice)),
		Workers: workers,
		Part:    partFromC(c, slice),
		Joined:  joinedFromC(c, slice),
	}
}

func joinedFromC(c *C.QuoitGroup, slice C.uint32_t) *Joined {
	var shape [3]C.uint32_t
	if !C.quoit_group_find_joined(c, slice, &shape[0]) {
		return nil
	}
	joined := Joined{WorkerSlices: make([]string, C.quoit_group_get_n_workers(c, slice))}
	for axis := range joined.Shape {
		joined.Shape[axis] = uint32(shape[axis])
	}
	for worker := range joined.WorkerSlices {
		joined.WorkerSlices[worker] = cconv.MoveString(
			unsafe.Pointer(C.quoit_group_dup_worker_slice(c, slice, C.uint32_t(worker))))
	}
	return &joined
}

// GKESlice returns GKE's Slice object for a slice that is joined from cubes, or for a partition of a cube, as YAML. Its
// name is the name of the group, '-' and the slice id. Nothing is sent to a cluster.
//
// It fails with Invalid after Close, if the group has no such slice, if nodes of one partition state different ids, or if
// GKE cannot have it: only tpu7x; of joined slices, only sides in ascending order and at most 9216 chips; of whole slices
// and parts, only 2x2x1, 2x2x2, 2x2x4, 2x4x4 and 4x4x4; and a name of at most 54 bytes that Kubernetes accepts. It fails
// with NotFound if a node has no label with the id of its cube or partition, or the node or the group is no longer in the
// fleet, and with Conflict if the group has not begun.
func (g *Group) GKESlice(slice int) (string, error) {
	pointer, err := g.h.Use()
	if err != nil {
		return "", err
	}
	defer g.h.Done()
	c := (*C.QuoitGroup)(pointer)
	if n := int(C.quoit_group_get_n_slices(c)); slice < 0 || slice >= n {
		return "", cconv.InvalidError("slice '%d': expected one of the %d slices of the group, from 0 on", slice, n)
	}
	var gerror *C.GError
	text := C.quoit_gke_slice_format(c, C.uint32_t(slice), &gerror)
	if err := errorFromC(gerror); err != nil {
		return "", err
	}
	return cconv.MoveString(unsafe.Pointer(text)), nil
}

func partFromC(c *C.QuoitGroup, slice C.uint32_t) *Part {
	var origin, shape [3]C.uint32_t
	if !C.quoit_group_find_part(c, slice, &origin[0], &shape[0]) {
		return nil
	}
	var part Part
	for axis := range part.Origin {
		part.Origin[axis], part.Shape[axis] = uint32(origin[axis]), uint32(shape[axis])
	}
	return &part
}

func groupBundleFromC(c *C.QuoitGroup, bundle C.uint32_t) GroupBundle {
	resources := make([]Amount, C.quoit_group_get_bundle_n_resources(c, bundle))
	for resource := range resources {
		amount := C.quoit_amount_format(C.quoit_group_get_bundle_amount(c, bundle, C.uint32_t(resource)))
		resources[resource] = Amount{
			Name:   C.GoString(C.quoit_group_get_bundle_resource_name(c, bundle, C.uint32_t(resource))),
			Amount: cconv.MoveString(unsafe.Pointer(amount)),
		}
	}
	return GroupBundle{
		Node:      C.GoString(C.quoit_group_get_bundle_node(c, bundle)),
		NodeID:    uint32(C.quoit_group_get_bundle_node_id(c, bundle)),
		Chips:     uint64(C.quoit_group_get_bundle_chips(c, bundle)),
		State:     GroupSliceState(C.quoit_group_get_bundle_state(c, bundle)),
		Resources: resources,
	}
}

// GroupChange is a group before and after one transaction. To compare the two, pass their topologies to Renumber.
type GroupChange struct {
	Before *Group
	After  *Group // nil if the group ended with its last slice
	// Unchanged is true if the group did not have to change, so that nothing was written.
	Unchanged bool
}

// changeOrError converts and frees the change of a C call, unless the call failed with err.
func changeOrError(c *C.QuoitGroupChange, err error) (*GroupChange, error) {
	if err != nil {
		return nil, err
	}
	defer C.quoit_group_change_free(c)
	after := C.quoit_group_change_get_after(c)
	change := &GroupChange{
		Before:    newGroup(C.quoit_group_ref(C.quoit_group_change_get_before(c))),
		Unchanged: after == C.quoit_group_change_get_before(c),
	}
	if after != nil {
		change.After = newGroup(C.quoit_group_ref(after))
	}
	return change, nil
}

// Close closes both groups.
func (c *GroupChange) Close() {
	c.Before.Close()
	c.After.Close()
}
