// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"fmt"
	"time"
	"unsafe"

	"quoit/internal/cconv"
)

// SourceKind is the format that a source was read from.
type SourceKind int

// The formats of sources.
const (
	FleetText  SourceKind = C.QUOIT_SOURCE_KIND_FLEET
	RayCluster SourceKind = C.QUOIT_SOURCE_KIND_RAYCLUSTER // a manifest, with the nodes that KubeRay would create for it
	RayNodes   SourceKind = C.QUOIT_SOURCE_KIND_RAY_NODES  // `ray list nodes`, ray.nodes()
	K8sNodes   SourceKind = C.QUOIT_SOURCE_KIND_K8S_NODES  // `kubectl get nodes -o json`
)

var sourceKindNames = map[SourceKind]string{
	FleetText: "FLEET", RayCluster: "RAYCLUSTER", RayNodes: "RAY_NODES", K8sNodes: "K8S_NODES",
}

// String returns the name of the format.
func (k SourceKind) String() string { return nameOf(sourceKindNames, k) }

// NodeState is the state of a node.
type NodeState int

// The states of a node.
const (
	NodeAlive    NodeState = C.QUOIT_NODE_ALIVE
	NodeDraining NodeState = C.QUOIT_NODE_DRAINING // present groups stay; new ones do not use it
	NodeDead     NodeState = C.QUOIT_NODE_DEAD
)

var nodeStateNames = map[NodeState]string{NodeAlive: "ALIVE", NodeDraining: "DRAINING", NodeDead: "DEAD"}

// String returns the name of the state.
func (s NodeState) String() string { return nameOf(nodeStateNames, s) }

// NodeAssumptions is a set of flags for facts about a node that its source does not state, so that quoit assumes them.
type NodeAssumptions uint32

// The facts that quoit can assume.
const (
	AssumesWorkerID NodeAssumptions = C.QUOIT_NODE_ASSUMES_WORKER_ID // the worker id follows the order of the addresses
	AssumesHostName NodeAssumptions = C.QUOIT_NODE_ASSUMES_HOST_NAME // the cluster's name, and therefore the host name
)

var nodeAssumptionNames = []string{"WORKER_ID", "HOST_NAME"}

// String returns the names of the flags, separated by bars.
func (a NodeAssumptions) String() string { return flagNames(nodeAssumptionNames, a) }

// SliceFlags is a set of conditions of a slice.
type SliceFlags uint32

// The conditions of a slice.
const (
	SliceIntact    SliceFlags = C.QUOIT_SLICE_INTACT    // each worker exists once, without contradictions; else degraded
	SliceIdle      SliceFlags = C.QUOIT_SLICE_IDLE      // no node is used
	SlicePartly    SliceFlags = C.QUOIT_SLICE_PARTLY    // some nodes are used, or one is partly used
	SliceFull      SliceFlags = C.QUOIT_SLICE_FULL      // all nodes are completely used
	SliceAllocated SliceFlags = C.QUOIT_SLICE_ALLOCATED // a part or all of it is allocated to a group
	SliceDraining  SliceFlags = C.QUOIT_SLICE_DRAINING  // a node is draining
	SliceFree      SliceFlags = C.QUOIT_SLICE_FREE      // intact, idle and not draining: it can be reserved now
)

var sliceFlagNames = []string{"INTACT", "IDLE", "PARTLY", "FULL", "ALLOCATED", "DRAINING", "FREE"}

// String returns the names of the conditions, separated by bars.
func (f SliceFlags) String() string { return flagNames(sliceFlagNames, f) }

// Faults is a set of contradictions among the alive nodes of a slice.
type Faults uint32

// The contradictions.
const (
	FaultDuplicateWorkerID Faults = C.QUOIT_FAULT_DUPLICATE_WORKER_ID // two nodes have the same worker id
	FaultNoWorkerID        Faults = C.QUOIT_FAULT_NO_WORKER_ID        // a node has no worker id
	FaultTooManyHosts      Faults = C.QUOIT_FAULT_TOO_MANY_HOSTS      // a worker id is too large for the topology
	FaultChips             Faults = C.QUOIT_FAULT_CHIPS               // chips disagree between nodes or with the topology
	FaultTopology          Faults = C.QUOIT_FAULT_TOPOLOGY            // two topologies, or one that is not in the catalogue
	FaultPodType           Faults = C.QUOIT_FAULT_POD_TYPE            // two pod types, or one that does not match the topology
)

var faultNames = []string{"DUPLICATE_WORKER_ID", "NO_WORKER_ID", "TOO_MANY_HOSTS", "CHIPS", "TOPOLOGY", "POD_TYPE"}

// String returns the names of the faults, separated by bars.
func (f Faults) String() string { return flagNames(faultNames, f) }

// Snapshot is the fleet at one journal entry: an immutable view that any number of goroutines can read while others
// write. Close frees it; the garbage collector does so if you do not. Every method fails with Invalid after Close.
//
// An index of a source, pool, slice, class or node is its index in the result of Sources, Pools, Slices, Classes or
// Nodes. The order is the natural order of the names, and within a slice that of the worker ids. Indices are valid
// within one snapshot; across snapshots use names.
type Snapshot struct {
	h *cconv.Handle
}

// Source is one importable description of nodes, such as a manifest or a node list.
type Source struct {
	Name string
	Kind SourceKind
}

// Pool is a node pool or worker group.
type Pool struct {
	Name   string
	Source int // the index of its source
	Slices int // number of slices
	Nodes  int // number of nodes, including dead ones
	Pods   int // worker pods that a manifest requests; 0 for other sources and for a head
	// CPU and Memory (bytes) are sums over the pods of their requests, or of their limits if they have no requests,
	// as decimal text. `kubectl get raycluster` shows the same sums.
	CPU, Memory string
}

// Slice is a set of nodes connected by ICI, with one topology and one slice name.
type Slice struct {
	Index        int
	Name         string // the short name
	FullName     string // source/pool/name
	Pool         int    // the index of its pool
	Accelerator  string // Ray's name of its generation; "" if its nodes match no class of the catalogue
	Topology     string // "" if it is unknown
	ChipsPerHost int    // 0 if it is unknown
	Hosts        int    // hosts of its topology; 0 if it is unknown
	Flags        SliceFlags
	Faults       Faults
	Missing      int    // workers of its topology without an alive node
	Problem      string // why it is degraded, in words; "" if it is intact
	FirstNode    int    // the index of its first node; the other nodes of the slice have the next indices
	Nodes        int    // number of nodes, including dead ones
}

// Node is a machine that Ray or Kubernetes knows.
type Node struct {
	Index       int
	ID          uint32 // the durable id: the same in all snapshots of a ledger, never used again
	Name        string // the short name
	FullName    string // source/pool/name
	Identity    string // its Ray node id, or its name if the source gives no id
	Address     string // "" if its source has none
	State       NodeState
	StateReason string // why the source reports the state: "NotReady"; "" if it states no reason, or if a user has set it
	Pool        int    // the index of its pool
	Slice       int    // the index of its slice; -1 if it is in no slice
	WorkerID    int    // its worker id in the slice; -1 if it is not stated
	Chips       int
	IsRayHead   bool     // the Ray head runs on it; a TPU node can be a Ray head
	IsExternal  bool     // the whole node is in external use
	Sources     []string // the sources that contain it; its pool belongs to the first
	Assumptions NodeAssumptions
}

// NodeUser is a group that has a node or part of it.
type NodeUser struct {
	Group *Group
	Share string // the part of the node that the group's bundles have, in words; "" if the group has the whole node
}

// Amounts is the total of something, and how much of it is in each of seven states, as decimal text. Each unit is in
// exactly one state, so that the states add up to the total.
type Amounts struct {
	Total     string
	Available string // unused, on an alive node
	Draining  string // unused, on a draining node
	Held      string // allocated to a group that is not confirmed
	Reserved  string // allocated to a confirmed group, or to a group of a source
	External  string // in external use
	Down      string // on a dead node, and not allocated
	Lost      string // on a dead node, and allocated to a group
}

// amountsFromC reads the total and the states with a function that returns a C string.
func amountsFromC(read func(C.QuoitAmountPart) *C.char) Amounts {
	text := func(part C.QuoitAmountPart) string { return moveString(read(part)) }
	return Amounts{
		Total:     text(C.QUOIT_AMOUNT_TOTAL),
		Available: text(C.QUOIT_AMOUNT_AVAILABLE),
		Draining:  text(C.QUOIT_AMOUNT_DRAINING),
		Held:      text(C.QUOIT_AMOUNT_HELD),
		Reserved:  text(C.QUOIT_AMOUNT_RESERVED),
		External:  text(C.QUOIT_AMOUNT_EXTERNAL),
		Down:      text(C.QUOIT_AMOUNT_DOWN),
		Lost:      text(C.QUOIT_AMOUNT_LOST),
	}
}

// NodeResource is a resource of a node.
type NodeResource struct {
	Name string
	Amounts
}

// Resource is the exact sum of a resource over all nodes, including dead ones.
type Resource struct {
	Name string
	Amounts
}

// Class is all slices of the same generation, topology and chips per host.
type Class struct {
	Index        int
	Accelerator  string // Ray's name of its generation
	Topology     string
	ChipsPerHost int
	Hosts        int // hosts of each slice
	Slices       int // number of slices
}

// Owner is a registered owner of groups.
type Owner struct {
	Name       string
	Registered time.Time // when it was registered
	Until      time.Time // when its lease ends; the zero time if it has no lease
	Groups     int       // number of its groups
}

func newSnapshot(c *C.QuoitSnapshot) *Snapshot {
	free := func(p unsafe.Pointer) { C.quoit_snapshot_unref((*C.QuoitSnapshot)(p)) }
	return &Snapshot{cconv.NewHandle("snapshot", unsafe.Pointer(c), free)}
}

// Close frees the snapshot. A second Close does nothing.
func (s *Snapshot) Close() {
	if s != nil {
		s.h.Close()
	}
}

func (s *Snapshot) with(run func(*C.QuoitSnapshot) error) error {
	if s == nil {
		return closedError("nil snapshot")
	}
	pointer, err := s.h.Use()
	if err != nil {
		return err
	}
	defer s.h.Done()
	return run((*C.QuoitSnapshot)(pointer))
}

// collect returns fromC(i) for each index i below count.
func collect[Value any](s *Snapshot, count func(*C.QuoitSnapshot) C.uint32_t,
	fromC func(*C.QuoitSnapshot, C.uint32_t) Value) ([]Value, error) {
	var values []Value
	err := s.with(func(c *C.QuoitSnapshot) error {
		values = make([]Value, count(c))
		for index := range values {
			values[index] = fromC(c, C.uint32_t(index))
		}
		return nil
	})
	return values, err
}

// checkIndex checks that an index is below count. what is the indexed object for the message, such as "node".
func checkIndex(what string, index int, count C.uint32_t) error {
	if index < 0 || index >= int(count) {
		return cconv.InvalidError("%s index '%d': expected 0 to %d", what, index, int(count)-1)
	}
	return nil
}

// moveString copies a C string and frees the C string.
func moveString(text *C.char) string {
	return cconv.MoveString(unsafe.Pointer(text))
}

// Seq returns the number of the last journal entry in the snapshot; 0 if the journal is empty.
func (s *Snapshot) Seq() (seq uint64, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		seq = uint64(C.quoit_snapshot_get_seq(c))
		return nil
	})
	return seq, err
}

// Epoch returns how many times the ledger had been restored from a backup.
func (s *Snapshot) Epoch() (epoch int, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		epoch = int(C.quoit_snapshot_get_epoch(c))
		return nil
	})
	return epoch, err
}

// LayoutNumber returns a number that identifies the layout of the snapshot. Within one process, snapshots with the same
// LayoutNumber have the same sources, pools, slices and nodes at the same indices; only their states can differ.
func (s *Snapshot) LayoutNumber() (number uint64, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		number = uint64(C.quoit_snapshot_get_layout_number(c))
		return nil
	})
	return number, err
}

// Clock returns the ledger's clock, which is the time of the last entry; the zero time if the journal is empty.
func (s *Snapshot) Clock() (clock time.Time, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		clock = timeFromC(int64(C.quoit_snapshot_get_clock_ms(c)))
		return nil
	})
	return clock, err
}

// Keep returns how long the ledger keeps journal entries and records of ended groups, as SetKeep has set it: KeepAll, a
// time, or 0 for the default.
func (s *Snapshot) Keep() (keep time.Duration, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		ms := int64(C.quoit_snapshot_get_keep_ms(c))
		if keep = time.Duration(ms) * time.Millisecond; ms > int64(KeepAll/time.Millisecond) {
			keep = KeepAll
		}
		return nil
	})
	return keep, err
}

// AsOf returns the fleet as a change at that time would find it: groups whose lease, or whose owner's lease, has ended
// are freed. It writes nothing. Use it to display the state; changes and Explain apply ended leases themselves.
//
// It fails with Invalid for a clock outside the years 2000 to 2199.
func (s *Snapshot) AsOf(now time.Time) (*Snapshot, error) {
	var later *Snapshot
	err := s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		result := C.quoit_snapshot_as_of(c, C.int64_t(unixMs(now)), &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		later = newSnapshot(result)
		return nil
	})
	return later, err
}

// JSON returns the whole state as one JSON document with "schema": "quoit/1". Amounts are decimal text. Equal states
// give equal text.
func (s *Snapshot) JSON() (text string, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		text = moveString(C.quoit_snapshot_dup_json(c))
		return nil
	})
	return text, err
}

// FleetText returns the slices and groups as fleet text. Importing it into an empty ledger makes slices of the same
// classes, with the same numbers of free, draining and degraded ones, and the groups of whole, intact slices. Nodes
// outside of slices, reservations ahead, windows and quotas are left out.
//
// It fails with NotFound if there is no slice to write.
func (s *Snapshot) FleetText() (text string, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		text = moveString(C.quoit_snapshot_dup_fleet_text(c, &gerror))
		return errorFromC(gerror)
	})
	return text, err
}

// Check recomputes and compares all summaries, indexes and allocations. It is meant for tests and diagnosis.
//
// It fails with Failed, which is a bug of quoit; the message names the contradiction.
func (s *Snapshot) Check() error {
	return s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		C.quoit_snapshot_check(c, &gerror)
		return errorFromC(gerror)
	})
}

// --- sources and pools ---

// Sources returns all sources, in the order of their indices.
func (s *Snapshot) Sources() ([]Source, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_sources(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) Source {
			return Source{
				Name: C.GoString(C.quoit_snapshot_get_source_name(c, index)),
				Kind: SourceKind(C.quoit_snapshot_get_source_kind(c, index)),
			}
		})
}

// Pools returns all pools, in the order of their indices.
func (s *Snapshot) Pools() ([]Pool, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_pools(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) Pool {
			return Pool{
				Name:   C.GoString(C.quoit_snapshot_get_pool_name(c, index)),
				Source: int(C.quoit_snapshot_get_pool_source(c, index)),
				Slices: int(C.quoit_snapshot_get_pool_n_slices(c, index)),
				Nodes:  int(C.quoit_snapshot_get_pool_n_nodes(c, index)),
				Pods:   int(C.quoit_snapshot_get_pool_n_pods(c, index)),
				CPU:    moveString(C.quoit_snapshot_dup_pool_cpu(c, index)),
				Memory: moveString(C.quoit_snapshot_dup_pool_memory(c, index)),
			}
		})
}

// --- slices ---

// Slices returns all slices, in the order of their indices.
func (s *Snapshot) Slices() ([]Slice, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_slices(c) }, sliceFromC)
}

func sliceFromC(c *C.QuoitSnapshot, index C.uint32_t) Slice {
	slice := Slice{
		Index:     int(index),
		Name:      C.GoString(C.quoit_snapshot_get_slice_name(c, index)),
		FullName:  moveString(C.quoit_snapshot_dup_slice_full_name(c, index)),
		Pool:      int(C.quoit_snapshot_get_slice_pool(c, index)),
		Flags:     SliceFlags(C.quoit_snapshot_get_slice_flags(c, index)),
		Faults:    Faults(C.quoit_snapshot_get_slice_faults(c, index)),
		Missing:   int(C.quoit_snapshot_get_slice_n_missing(c, index)),
		Problem:   moveString(C.quoit_snapshot_dup_slice_problem(c, index)),
		FirstNode: int(C.quoit_snapshot_get_slice_first_node(c, index)),
		Nodes:     int(C.quoit_snapshot_get_slice_n_nodes(c, index)),
	}
	if classIndex := C.quoit_snapshot_get_slice_class(c, index); classIndex >= 0 {
		class := C.uint32_t(classIndex)
		slice.Accelerator = C.GoString(C.quoit_snapshot_get_class_accelerator(c, class))
		slice.Topology = moveString(C.quoit_snapshot_dup_class_topology(c, class))
		slice.ChipsPerHost = int(C.quoit_snapshot_get_class_chips_per_host(c, class))
		slice.Hosts = int(C.quoit_snapshot_get_class_n_hosts(c, class))
	}
	return slice
}

// Slice returns the slice with a short or full name.
//
// It fails with NotFound for an unknown name, and Invalid for an ambiguous short name; the message has the full names.
func (s *Snapshot) Slice(name string) (slice Slice, err error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("slice", name))
	if err := arguments.Err(); err != nil {
		return Slice{}, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var index C.uint32_t
		var gerror *C.GError
		C.quoit_snapshot_lookup_slice(c, text, &index, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		slice = sliceFromC(c, index)
		return nil
	})
	return slice, err
}

// Classes returns all classes, in the order of their indices.
func (s *Snapshot) Classes() ([]Class, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_classes(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) Class {
			return Class{
				Index:        int(index),
				Accelerator:  C.GoString(C.quoit_snapshot_get_class_accelerator(c, index)),
				Topology:     moveString(C.quoit_snapshot_dup_class_topology(c, index)),
				ChipsPerHost: int(C.quoit_snapshot_get_class_chips_per_host(c, index)),
				Hosts:        int(C.quoit_snapshot_get_class_n_hosts(c, index)),
				Slices:       int(C.quoit_snapshot_count_slices_of_class(c, index, 0)),
			}
		})
}

// CountSlicesOfClass returns how many slices of a class, given by its index, have a condition. The cost does not depend
// on the size of the fleet.
//
// It fails with Invalid for an index out of range, and if flag is not exactly one condition.
func (s *Snapshot) CountSlicesOfClass(class int, flag SliceFlags) (count int, err error) {
	if flag == 0 || flag&(flag-1) != 0 || flag > SliceFree {
		return 0, cconv.InvalidError("condition '%v': expected one of SliceFlags", flag)
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		if err := checkIndex("class", class, C.quoit_snapshot_get_n_classes(c)); err != nil {
			return err
		}
		count = int(C.quoit_snapshot_count_slices_of_class(c, C.uint32_t(class), C.QuoitSliceFlags(flag)))
		return nil
	})
	return count, err
}

// --- nodes ---

// Nodes returns all nodes, in the order of their indices, including dead ones.
func (s *Snapshot) Nodes() ([]Node, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_nodes(c) }, nodeFromC)
}

func nodeFromC(c *C.QuoitSnapshot, index C.uint32_t) Node {
	return Node{
		Index:       int(index),
		ID:          uint32(C.quoit_snapshot_get_node_id(c, index)),
		Name:        C.GoString(C.quoit_snapshot_get_node_name(c, index)),
		FullName:    moveString(C.quoit_snapshot_dup_node_full_name(c, index)),
		Identity:    moveString(C.quoit_snapshot_dup_node_identity(c, index)),
		Address:     C.GoString(C.quoit_snapshot_get_node_address(c, index)),
		State:       NodeState(C.quoit_snapshot_get_node_state(c, index)),
		StateReason: C.GoString(C.quoit_snapshot_get_node_reason(c, index)),
		Pool:        int(C.quoit_snapshot_get_node_pool(c, index)),
		Slice:       int(C.quoit_snapshot_get_node_slice(c, index)),
		WorkerID:    int(C.quoit_snapshot_get_node_worker_id(c, index)),
		Chips:       int(C.quoit_snapshot_get_node_chip_amount(c, index, C.QUOIT_AMOUNT_TOTAL).e4 / 10000),
		IsRayHead:   bool(C.quoit_snapshot_is_node_ray_head(c, index)),
		IsExternal:  bool(C.quoit_snapshot_is_node_external(c, index)),
		Sources:     nodeSources(c, index),
		Assumptions: NodeAssumptions(C.quoit_snapshot_get_node_assumptions(c, index)),
	}
}

func nodeSources(c *C.QuoitSnapshot, index C.uint32_t) []string {
	sources := []string{}
	for {
		source := C.quoit_snapshot_get_node_source(c, index, C.uint32_t(len(sources)))
		if source == nil {
			return sources
		}
		sources = append(sources, C.GoString(source))
	}
}

// Node returns the node with a short or full name.
//
// It fails with NotFound for an unknown name, and Invalid for an ambiguous short name; the message has the full names.
func (s *Snapshot) Node(name string) (node Node, err error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("node", name))
	if err := arguments.Err(); err != nil {
		return Node{}, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var index C.uint32_t
		var gerror *C.GError
		C.quoit_snapshot_lookup_node(c, text, &index, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		node = nodeFromC(c, index)
		return nil
	})
	return node, err
}

// withNode checks the index of a node and calls run with it.
func (s *Snapshot) withNode(nodeIndex int, run func(*C.QuoitSnapshot, C.uint32_t)) error {
	return s.with(func(c *C.QuoitSnapshot) error {
		if err := checkIndex("node", nodeIndex, C.quoit_snapshot_get_n_nodes(c)); err != nil {
			return err
		}
		run(c, C.uint32_t(nodeIndex))
		return nil
	})
}

// NodeUsers returns the groups that have a node, given by its index, or a part of it.
//
// It fails with Invalid for an index out of range.
func (s *Snapshot) NodeUsers(node int) (users []NodeUser, err error) {
	err = s.withNode(node, func(c *C.QuoitSnapshot, nodeIndex C.uint32_t) {
		users = make([]NodeUser, C.quoit_snapshot_get_node_n_users(c, nodeIndex))
		for index := range users {
			user := C.uint32_t(index)
			groupID := C.quoit_snapshot_get_node_user_id(c, nodeIndex, user)
			users[index] = NodeUser{
				// The lookup cannot fail: the users of a node are groups of the same snapshot.
				Group: newGroup(C.quoit_snapshot_lookup_group_by_id(c, groupID, nil)),
				Share: moveString(C.quoit_snapshot_dup_node_user_share(c, nodeIndex, user)),
			}
		}
	})
	return users, err
}

// NodeLabel returns the value of a label of a node, given by its index, and whether the node has the label.
//
// It fails with Invalid for an index out of range.
func (s *Snapshot) NodeLabel(node int, key string) (value string, ok bool, err error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("key", key))
	if err := arguments.Err(); err != nil {
		return "", false, err
	}
	err = s.withNode(node, func(c *C.QuoitSnapshot, nodeIndex C.uint32_t) {
		label := C.quoit_snapshot_dup_node_label(c, nodeIndex, text)
		value, ok = moveString(label), label != nil
	})
	return value, ok, err
}

// NodeResources returns the resources of a node, given by its index: those that it states, and those that Ray derives
// (the name of its slice and, on worker 0, the head resource, such as "TPU-v6e-16-head").
//
// It fails with Invalid for an index out of range.
func (s *Snapshot) NodeResources(node int) (resources []NodeResource, err error) {
	err = s.withNode(node, func(c *C.QuoitSnapshot, nodeIndex C.uint32_t) {
		resources = make([]NodeResource, C.quoit_snapshot_get_node_n_resources(c, nodeIndex))
		for index := range resources {
			resource := C.uint32_t(index)
			resources[index] = NodeResource{
				Name: C.GoString(C.quoit_snapshot_get_node_resource_name(c, nodeIndex, resource)),
				Amounts: amountsFromC(func(part C.QuoitAmountPart) *C.char {
					return C.quoit_amount_format(C.quoit_snapshot_get_node_amount(c, nodeIndex, resource, part))
				}),
			}
		}
	})
	return resources, err
}

// Resources returns the sums over all nodes, sorted by name. They include resources that Ray derives, except those with
// the names of slices.
func (s *Snapshot) Resources() ([]Resource, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_resources(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) Resource {
			return Resource{
				Name: C.GoString(C.quoit_snapshot_get_resource_name(c, index)),
				Amounts: amountsFromC(func(part C.QuoitAmountPart) *C.char {
					return C.quoit_snapshot_dup_resource_sum(c, index, part)
				}),
			}
		})
}

// --- groups and owners ---

// Groups returns all groups by id: the live ones, and ended ones whose record is kept.
func (s *Snapshot) Groups() ([]*Group, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_groups(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) *Group {
			return newGroup(C.quoit_snapshot_dup_group(c, index))
		})
}

// Group returns the live group of a NAME or NAME@ID.
//
// It fails with NotFound if no live group has the name, Conflict if the live group of that name has another id, and
// Invalid if the text is neither NAME nor NAME@ID.
func (s *Snapshot) Group(name string) (group *Group, err error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("group", name))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found := C.quoit_snapshot_lookup_group(c, text, &gerror)
		var err error
		group, err = groupOrError(found, errorFromC(gerror))
		return err
	})
	return group, err
}

// GroupByID returns the group with that id, including an ended one whose record is kept.
//
// It fails with NotFound if no live or recorded group has the id.
func (s *Snapshot) GroupByID(id uint64) (group *Group, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found := C.quoit_snapshot_lookup_group_by_id(c, C.uint64_t(id), &gerror)
		var err error
		group, err = groupOrError(found, errorFromC(gerror))
		return err
	})
	return group, err
}

// GroupByKey returns the group of a request key, including an ended one until Ledger.Forget.
//
// It fails with NotFound if no live or recorded group has the key, and Invalid for a key with a NUL.
func (s *Snapshot) GroupByKey(key string) (group *Group, err error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("key", key))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found := C.quoit_snapshot_lookup_group_by_key(c, text, &gerror)
		var err error
		group, err = groupOrError(found, errorFromC(gerror))
		return err
	})
	return group, err
}

// GroupsOfOwner returns the live groups of an owner, by id. The owner need not be registered.
//
// It fails with Invalid for a name with a NUL.
func (s *Snapshot) GroupsOfOwner(owner string) ([]*Group, error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("owner", owner))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_count_owner_groups(c, text) },
		func(c *C.QuoitSnapshot, index C.uint32_t) *Group {
			return newGroup(C.quoit_snapshot_dup_owner_group(c, text, index))
		})
}

// NodeByID returns the node with that durable id.
//
// It fails with NotFound if the snapshot has none.
func (s *Snapshot) NodeByID(id uint32) (node Node, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		index := int64(C.quoit_snapshot_find_node(c, C.uint32_t(id)))
		if index < 0 {
			return &Error{Code: NotFound, Message: fmt.Sprintf("node id '%d': no node has this id", id)}
		}
		node = nodeFromC(c, C.uint32_t(index))
		return nil
	})
	return node, err
}

// Owners returns the registered owners, in the order of their registration.
func (s *Snapshot) Owners() ([]Owner, error) {
	return collect(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_owners(c) },
		func(c *C.QuoitSnapshot, index C.uint32_t) Owner {
			return Owner{
				Name:       C.GoString(C.quoit_snapshot_get_owner_name(c, index)),
				Registered: timeFromC(int64(C.quoit_snapshot_get_owner_registered_ms(c, index))),
				Until:      timeFromC(int64(C.quoit_snapshot_get_owner_until_ms(c, index))),
				Groups:     int(C.quoit_snapshot_count_owner_groups(c, C.quoit_snapshot_get_owner_name(c, index))),
			}
		})
}

// --- reports ---

// Explain reports whether the request fits now, and if not, why. It makes the same decision as Ledger.Reserve, without
// a change. A request that does not fit is not a failure: see Report.Verdict.
//
// It fails with Invalid if the request is incomplete, not in the catalogue or contradictory, and NotFound if it names
// an unknown pool, slice or node.
func (s *Snapshot) Explain(request *Request) (*Report, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	return s.report(func(c *C.QuoitSnapshot, gerror **C.GError) *C.QuoitReport {
		return C.quoit_snapshot_explain(c, cRequest, gerror)
	})
}

// Test makes the same decision as Ledger.Reserve, without a change and without a report: the verdict, and how many slices
// that the request accepts are free now. Its cost does not depend on the size of the fleet if the request has no pool,
// zone, selector or slice name. A request that does not fit is not a failure.
//
// It fails with Invalid if the request has bundles, is incomplete or not in the catalogue, and NotFound if it names an
// unknown pool or slice.
func (s *Snapshot) Test(request *Request) (verdict Verdict, free int, err error) {
	cRequest, err := request.toC()
	if err != nil {
		return 0, 0, err
	}
	defer C.quoit_request_free(cRequest)
	err = s.with(func(c *C.QuoitSnapshot) error {
		var cVerdict C.QuoitVerdict
		var cFree C.uint32_t
		var gerror *C.GError
		C.quoit_snapshot_test(c, cRequest, &cVerdict, &cFree, &gerror)
		verdict, free = Verdict(cVerdict), int(cFree)
		return errorFromC(gerror)
	})
	return verdict, free, err
}

// ExplainGroup reports whether a group, given as NAME or NAME@ID, can have now what it has lost, or what was never
// placed. The report on a group of slices states whether Repair would succeed, and counts the slices that the group
// keeps as well. The report on a group of bundles is about those that have no node.
//
// It fails with NotFound if there is no such group, and Conflict if it has all of its slices or bundles, or has not
// begun.
func (s *Snapshot) ExplainGroup(group string) (*Report, error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("group", group))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	return s.report(func(c *C.QuoitSnapshot, gerror **C.GError) *C.QuoitReport {
		return C.quoit_snapshot_explain_group(c, text, gerror)
	})
}

// HoldAndWait describes a deadlock of Ray's callers, if a group, given as NAME or NAME@ID, waits in one. They reserve the
// heads of their slices one after the other, so two of them can each have a head and wait for another one. It returns
// "" if the group does not wait, or waits for something else. It fails with NotFound if there is no such group.
func (s *Snapshot) HoldAndWait(group string) (sentence string, err error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("group", group))
	if err := arguments.Err(); err != nil {
		return "", err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		result := C.quoit_snapshot_dup_hold_and_wait(c, text, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		sentence = moveString(result)
		return nil
	})
	return sentence, err
}

// report returns the report that run makes.
func (s *Snapshot) report(run func(*C.QuoitSnapshot, **C.GError) *C.QuoitReport) (report *Report, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		result := run(c, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		report = moveReport(result)
		return nil
	})
	return report, err
}

// Fork returns a mutable copy of the snapshot.
func (s *Snapshot) Fork() (fork *Fork, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		fork = newFork(C.quoit_snapshot_fork(c))
		return nil
	})
	return fork, err
}
