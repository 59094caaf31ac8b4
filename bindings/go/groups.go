// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"
	"unsafe"

	"quoit/internal/door"
)

// GroupState is what has become of a group. Ray's words for them stand beside.
type GroupState int

// The states of a group.
const (
	GroupHeld         GroupState = C.QUOIT_GROUP_HELD         // not yet confirmed
	GroupReserved     GroupState = C.QUOIT_GROUP_RESERVED     // Ray: CREATED
	GroupRescheduling GroupState = C.QUOIT_GROUP_RESCHEDULING // a node is dead or draining, or a bundle not placed any more
	GroupRemoved      GroupState = C.QUOIT_GROUP_REMOVED      // gone; kept for its key, or to tell that its lease has ended
	GroupPending      GroupState = C.QUOIT_GROUP_PENDING      // imported from Ray alone: not placed yet; Ray: PENDING
)

var groupStateNames = map[GroupState]string{
	GroupHeld: "HELD", GroupReserved: "RESERVED", GroupRescheduling: "RESCHEDULING", GroupRemoved: "REMOVED",
	GroupPending: "PENDING",
}

// String is the name of the state.
func (s GroupState) String() string { return named(groupStateNames, s) }

// GroupSliceState is how a slice or a bundle of a group is.
type GroupSliceState int

// The states of a slice or a bundle of a group.
const (
	SliceWhole   GroupSliceState = C.QUOIT_GROUP_SLICE_WHOLE
	SliceLeaving GroupSliceState = C.QUOIT_GROUP_SLICE_LEAVING // a host is draining
	SliceLost    GroupSliceState = C.QUOIT_GROUP_SLICE_LOST    // a host is dead, or the bundle is not placed
)

var groupSliceStateNames = map[GroupSliceState]string{SliceWhole: "WHOLE", SliceLeaving: "LEAVING", SliceLost: "LOST"}

// String is the name of the state.
func (s GroupSliceState) String() string { return named(groupSliceStateNames, s) }

// Group is what one request holds, as it was when this value was made. It does not change, any number of goroutines may
// read it, and it outlives the ledger that it came from. Close frees what it keeps; the garbage collector does where
// that is forgotten. Its id and name are there also then.
type Group struct {
	h      *door.Handle
	id     uint64
	name   string
	handle string
}

// GroupInfo is all that a group says of itself.
type GroupInfo struct {
	ID      uint64 // no other group of the ledger ever had it or will have it
	Name    string // unique among the live groups
	Owner   string // "" where none was given
	Key     string // the request key; "" where none was given
	Request string // what was asked, in canonical text
	Source  string // the source that has made it and can remove it alone; "" for a group that was made here
	State   GroupState
	Since   time.Time // when it was reserved, by the ledger's clock
	Ended   time.Time // when it was released; the zero time while it is not
	Until   time.Time // when it ends unless it, or its owner, is renewed; the zero time where neither has a lease
	Expired bool      // it is gone because its lease, or its owner's, has ended

	Slices  []GroupSlice  // in natural order: their indices are slice ids; none of a removed group
	Bundles []GroupBundle // none of a group that has its nodes whole
}

// GroupSlice is a slice that a group has, or the part of it that the group has.
type GroupSlice struct {
	Name    string // the short name where it is unambiguous in the fleet, else source/pool/name
	State   GroupSliceState
	Workers []GroupWorker // by worker id
}

// GroupWorker is a node of a slice of a group.
type GroupWorker struct {
	Name     string // the node's short name, which another pool can have too
	Address  string // "" if its source has no address, such as a manifest
	NodeID   uint32 // the node's durable id, for Snapshot.NodeByID
	FullName string // source/pool/name
}

// GroupBundle is one bundle of a group.
type GroupBundle struct {
	Node      string // the node's short name; "" if the bundle is not placed
	NodeID    uint32 // the node's durable id, for Snapshot.NodeByID; 0 if the bundle is not placed
	Chips     uint64 // the chips of its node that it has, wholly or in part: bit 0 is chip 0
	State     GroupSliceState
	Text      string // what it has, in words: "chips 0,1: CPU 1, TPU 2"; "" where it is not placed
	Resources []Amount
}

// Amount is how much of a resource there is, as decimal text.
type Amount struct {
	Name, Amount string
}

func newGroup(c *C.QuoitGroup) *Group {
	return &Group{
		h:      door.NewHandle("group", unsafe.Pointer(c), func(p unsafe.Pointer) { C.quoit_group_unref((*C.QuoitGroup)(p)) }),
		id:     uint64(C.quoit_group_get_id(c)),
		name:   C.GoString(C.quoit_group_get_name(c)),
		handle: C.GoString(C.quoit_group_get_handle(c)),
	}
}

// madeGroup is a group of a call that may have failed.
func madeGroup(c *C.QuoitGroup, err error) (*Group, error) {
	if err != nil {
		return nil, err
	}
	return newGroup(c), nil
}

// Close frees what the group keeps. To close twice does nothing.
func (g *Group) Close() {
	if g != nil {
		g.h.Close()
	}
}

// ID is the group's id, which no other group of its ledger ever had or will have.
func (g *Group) ID() uint64 { return g.id }

// Name is the group's name, unique among the live groups.
func (g *Group) Name() string { return g.name }

// Handle is NAME@ID, with which a late or repeated call never touches a group that took the name since. It is good for
// the ledger that the group came from.
func (g *Group) Handle() string {
	return g.handle
}

// String is the group's Handle.
func (g *Group) String() string { return g.Handle() }

// Info is all that the group says of itself.
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
		ID:      g.id,
		Name:    g.name,
		Owner:   C.GoString(C.quoit_group_get_owner(c)),
		Key:     C.GoString(C.quoit_group_get_key(c)),
		Request: C.GoString(C.quoit_group_get_request(c)),
		Source:  C.GoString(C.quoit_group_get_source(c)),
		State:   GroupState(C.quoit_group_get_state(c)),
		Since:   timeOf(int64(C.quoit_group_get_since_ms(c))),
		Ended:   timeOf(int64(C.quoit_group_get_ended_ms(c))),
		Until:   timeOf(int64(C.quoit_group_get_until_ms(c))),
		Expired: bool(C.quoit_group_has_expired(c)),
		Slices:  make([]GroupSlice, C.quoit_group_get_n_slices(c)),
		Bundles: make([]GroupBundle, C.quoit_group_get_n_bundles(c)),
	}
	for slice := range info.Slices {
		info.Slices[slice] = groupSlice(c, C.uint32_t(slice))
	}
	for bundle := range info.Bundles {
		info.Bundles[bundle] = groupBundle(c, C.uint32_t(bundle))
	}
	return info, nil
}

func groupSlice(c *C.QuoitGroup, slice C.uint32_t) GroupSlice {
	workers := make([]GroupWorker, C.quoit_group_get_n_workers(c, slice))
	for worker := range workers {
		workers[worker] = GroupWorker{
			Name:    C.GoString(C.quoit_group_get_worker_name(c, slice, C.uint32_t(worker))),
			Address: C.GoString(C.quoit_group_get_worker_address(c, slice, C.uint32_t(worker))),
			NodeID:  uint32(C.quoit_group_get_worker_node_id(c, slice, C.uint32_t(worker))),
			FullName: door.TakenString(
				unsafe.Pointer(C.quoit_group_dup_worker_full_name(c, slice, C.uint32_t(worker)))),
		}
	}
	return GroupSlice{
		Name:    door.TakenString(unsafe.Pointer(C.quoit_group_dup_slice_name(c, slice))),
		State:   GroupSliceState(C.quoit_group_get_slice_state(c, slice)),
		Workers: workers,
	}
}

func groupBundle(c *C.QuoitGroup, bundle C.uint32_t) GroupBundle {
	resources := make([]Amount, C.quoit_group_get_bundle_n_resources(c, bundle))
	for resource := range resources {
		amount := C.quoit_amount_format(C.quoit_group_get_bundle_amount(c, bundle, C.uint32_t(resource)))
		resources[resource] = Amount{
			Name:   C.GoString(C.quoit_group_get_bundle_resource_name(c, bundle, C.uint32_t(resource))),
			Amount: door.TakenString(unsafe.Pointer(amount)),
		}
	}
	return GroupBundle{
		Node:      C.GoString(C.quoit_group_get_bundle_node(c, bundle)),
		NodeID:    uint32(C.quoit_group_get_bundle_node_id(c, bundle)),
		Chips:     uint64(C.quoit_group_get_bundle_chips(c, bundle)),
		State:     GroupSliceState(C.quoit_group_get_bundle_state(c, bundle)),
		Text:      door.TakenString(unsafe.Pointer(C.quoit_group_dup_bundle_text(c, bundle))),
		Resources: resources,
	}
}

// GroupChange is what a group was and what it is now, from one transaction: compare the two with Renumber of the
// Topology of each.
type GroupChange struct {
	Before *Group
	After  *Group // nil: its last slice went, and the group with it
	// Nothing says that the group was already what was asked for, and nothing was written.
	Nothing bool
}

func madeChange(c *C.QuoitGroupChange, err error) (*GroupChange, error) {
	if err != nil {
		return nil, err
	}
	defer C.quoit_group_change_free(c)
	change := &GroupChange{
		Before:  newGroup(C.quoit_group_ref(C.quoit_group_change_get_before(c))),
		Nothing: bool(C.quoit_group_change_is_nothing(c)),
	}
	if after := C.quoit_group_change_get_after(c); after != nil {
		change.After = newGroup(C.quoit_group_ref(after))
	}
	return change, nil
}

// Close closes both groups.
func (c *GroupChange) Close() {
	c.Before.Close()
	c.After.Close()
}
