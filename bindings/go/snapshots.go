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

	"quoit/internal/door"
)

// SourceKind is the kind of description that a source was read from.
type SourceKind int

// The kinds of sources.
const (
	FleetText  SourceKind = C.QUOIT_SOURCE_KIND_FLEET
	RayCluster SourceKind = C.QUOIT_SOURCE_KIND_RAYCLUSTER // a manifest, with the nodes that KubeRay would create for it
	RayNodes   SourceKind = C.QUOIT_SOURCE_KIND_RAY_NODES  // `ray list nodes`, ray.nodes()
	K8sNodes   SourceKind = C.QUOIT_SOURCE_KIND_K8S_NODES  // `kubectl get nodes -o json`
)

var sourceKindNames = map[SourceKind]string{
	FleetText: "FLEET", RayCluster: "RAYCLUSTER", RayNodes: "RAY_NODES", K8sNodes: "K8S_NODES",
}

// String returns the name of the kind.
func (k SourceKind) String() string { return named(sourceKindNames, k) }

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
func (s NodeState) String() string { return named(nodeStateNames, s) }

// NodeAssumptions is a set of flags for facts about a node that its source does not state, so that quoit assumes them.
type NodeAssumptions uint32

// The facts that quoit can assume.
const (
	AssumesWorkerID NodeAssumptions = C.QUOIT_NODE_ASSUMES_WORKER_ID // its worker id, by the order of addresses
	AssumesHostName NodeAssumptions = C.QUOIT_NODE_ASSUMES_HOST_NAME // the cluster's name, and therefore the host name
)

var nodeAssumptionNames = []string{"WORKER_ID", "HOST_NAME"}

// String returns the names of the flags, separated by bars.
func (a NodeAssumptions) String() string { return namedFlags(nodeAssumptionNames, a) }

// SliceFlags is a set of conditions of a slice.
type SliceFlags uint32

// The conditions of a slice.
const (
	SliceIntact   SliceFlags = C.QUOIT_SLICE_INTACT   // each worker exists once, without contradictions; else degraded
	SliceIdle     SliceFlags = C.QUOIT_SLICE_IDLE     // no node is used
	SlicePartly   SliceFlags = C.QUOIT_SLICE_PARTLY   // some nodes are used, or one is partly used
	SliceFull     SliceFlags = C.QUOIT_SLICE_FULL     // all nodes are completely used
	SliceHeld     SliceFlags = C.QUOIT_SLICE_HELD     // a group has at least a part of it
	SliceDraining SliceFlags = C.QUOIT_SLICE_DRAINING // a node is draining
	SliceFree     SliceFlags = C.QUOIT_SLICE_FREE     // intact, idle and not draining: it can be reserved now
)

var sliceFlagNames = []string{"INTACT", "IDLE", "PARTLY", "FULL", "HELD", "DRAINING", "FREE"}

// String returns the names of the conditions, separated by bars.
func (f SliceFlags) String() string { return namedFlags(sliceFlagNames, f) }

// Faults is a set of contradictions among the alive nodes of a slice.
type Faults uint32

// The contradictions.
const (
	FaultWorkerTwice  Faults = C.QUOIT_FAULT_WORKER_TWICE   // two nodes have the same worker id
	FaultNoWorkerID   Faults = C.QUOIT_FAULT_NO_WORKER_ID   // a node has no worker id
	FaultTooManyHosts Faults = C.QUOIT_FAULT_TOO_MANY_HOSTS // a worker id is too large for the topology
	FaultChips        Faults = C.QUOIT_FAULT_CHIPS          // chips disagree between nodes or with the topology
	FaultTopology     Faults = C.QUOIT_FAULT_TOPOLOGY       // two topologies, or one that is not in the catalogue
	FaultPodType      Faults = C.QUOIT_FAULT_POD_TYPE       // two pod types, or one that does not match the topology
)

var faultNames = []string{"WORKER_TWICE", "NO_WORKER_ID", "TOO_MANY_HOSTS", "CHIPS", "TOPOLOGY", "POD_TYPE"}

// String returns the names of the faults, separated by bars.
func (f Faults) String() string { return namedFlags(faultNames, f) }

// Snapshot is the fleet at one journal entry: an immutable view that any number of goroutines can read while others
// write. Close frees it; the garbage collector does so if you do not. Every method fails with Invalid after Close.
//
// Sources, pools, slices and nodes are numbered from 0 in natural order of their names (nodes by worker id within their
// slice). The numbers are indices of Sources, Pools, Slices and Nodes. They are valid within one snapshot; across
// snapshots use names.
type Snapshot struct {
	h *door.Handle
}

// Source is the origin of nodes.
type Source struct {
	Name string
	Kind SourceKind
}

// Pool is a node pool or worker group.
type Pool struct {
	Name   string
	Source int // the number of its source
	Slices int // number of slices
	Nodes  int // number of nodes, including dead ones
	Pods   int // worker pods that a manifest requests; 0 for other sources and for a head
	// CPU and Memory (bytes) are sums over the pods of their requests, or of their limits if they have no requests,
	// as decimal text. `kubectl get raycluster` shows the same sums.
	CPU, Memory string
}

// Slice is a set of nodes connected by ICI, with one topology and one slice name.
type Slice struct {
	Number       int
	Name         string // the short name
	FullName     string // source/pool/name
	Pool         int    // the number of its pool
	Accelerator  string // Ray's name of its generation; "" if its nodes match no class of the catalogue
	Topology     string // "" if it is unknown
	ChipsPerHost int    // 0 if it is unknown
	Hosts        int    // hosts of its topology; 0 if it is unknown
	Flags        SliceFlags
	Faults       Faults
	Missing      int    // workers of its topology without an alive node
	Problem      string // why it is degraded, in words; "" if it is intact
	FirstNode    int    // the number of its first node; the others follow
	Nodes        int    // number of nodes, including dead ones
}

// Node is one host.
type Node struct {
	Number      int
	ID          uint32 // the durable id: the same in all snapshots of a ledger, never used again
	Name        string // the short name
	FullName    string // source/pool/name
	Identity    string // its Ray node id, or its name if the source gives no id
	Address     string // "" if its source has none
	State       NodeState
	Pool        int // the number of its pool
	Slice       int // the number of its slice; -1 if it has none
	WorkerID    int // its worker id in the slice; -1 if it is not stated
	Chips       int
	IsRayHead   bool     // the Ray head runs on it; a TPU node can be a Ray head
	IsExternal  bool     // all of it is used outside of groups
	Sources     []string // the sources that contain it; its pool belongs to the first
	Assumptions NodeAssumptions
}

// NodeUser is a group that has a node or part of it.
type NodeUser struct {
	Group *Group
	Share string // what its bundles have of the node, in words; "" if the group has the whole node
}

// NodeResource is a resource of a node. The amounts are decimal text.
type NodeResource struct {
	Name     string
	Total    string
	Left     string // the free amount
	External string // the amount used outside of groups; groups have the rest of Total
}

// Resource is an exact sum over the nodes that are not dead, as decimal text.
type Resource struct {
	Name  string
	Total string
	Left  string // the free amount
}

// Class is all slices of the same generation, topology and chips per host.
type Class struct {
	Number       int
	Accelerator  string // Ray's name of its generation
	Topology     string
	ChipsPerHost int
	Hosts        int // hosts of each slice
	Slices       int // number of slices
}

// Owner is a registered owner of groups.
type Owner struct {
	Name   string
	Since  time.Time // when it was registered
	Until  time.Time // when its lease ends; the zero time if it has no lease
	Groups int       // number of its groups
}

func newSnapshot(c *C.QuoitSnapshot) *Snapshot {
	free := func(p unsafe.Pointer) { C.quoit_snapshot_unref((*C.QuoitSnapshot)(p)) }
	return &Snapshot{door.NewHandle("snapshot", unsafe.Pointer(c), free)}
}

// Close frees the snapshot. A second Close does nothing.
func (s *Snapshot) Close() {
	if s != nil {
		s.h.Close()
	}
}

func (s *Snapshot) with(run func(*C.QuoitSnapshot) error) error {
	if s == nil {
		return closed("nil snapshot")
	}
	pointer, err := s.h.Use()
	if err != nil {
		return err
	}
	defer s.h.Done()
	return run((*C.QuoitSnapshot)(pointer))
}

// all returns the results of one for each number below count.
func all[Value any](s *Snapshot, count func(*C.QuoitSnapshot) C.uint32_t,
	one func(*C.QuoitSnapshot, C.uint32_t) Value) ([]Value, error) {
	var values []Value
	err := s.with(func(c *C.QuoitSnapshot) error {
		values = make([]Value, count(c))
		for number := range values {
			values[number] = one(c, C.uint32_t(number))
		}
		return nil
	})
	return values, err
}

func checkNumber(what string, number int, count C.uint32_t) error {
	if number < 0 || number >= int(count) {
		return door.Invalid("number of a %s '%d': expected 0 to %d", what, number, int(count)-1)
	}
	return nil
}

func taken(text *C.char) string {
	return door.TakenString(unsafe.Pointer(text))
}

// Seq returns the number of the last journal entry in the snapshot; 0 if the journal is empty.
func (s *Snapshot) Seq() (seq uint64, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		seq = uint64(C.quoit_snapshot_get_seq(c))
		return nil
	})
	return seq, err
}

// Epoch returns how often the ledger had been restored from a backup.
func (s *Snapshot) Epoch() (epoch int, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		epoch = int(C.quoit_snapshot_get_epoch(c))
		return nil
	})
	return epoch, err
}

// LayoutNumber returns a number that identifies the numbering of the snapshot. Within one process, snapshots with the
// same LayoutNumber have the same sources, pools, slices and nodes at the same numbers; only their states can differ.
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
		clock = timeOf(int64(C.quoit_snapshot_get_clock_ms(c)))
		return nil
	})
	return clock, err
}

// AsOf returns the fleet as a change at that time would find it: groups whose lease, or whose owner's lease, has ended
// are freed. It writes nothing. Use it to display the state; changes and Explain apply ended leases themselves.
//
// It fails with Invalid for a clock outside the years 2000 to 2199.
func (s *Snapshot) AsOf(now time.Time) (*Snapshot, error) {
	var later *Snapshot
	err := s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		made := C.quoit_snapshot_as_of(c, C.int64_t(clock(now)), &gerror)
		if err := take(gerror); err != nil {
			return err
		}
		later = newSnapshot(made)
		return nil
	})
	return later, err
}

// JSON returns the whole state as one JSON document with "schema": "quoit/1". Amounts are decimal text. Equal states
// give equal text.
func (s *Snapshot) JSON() (text string, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		text = taken(C.quoit_snapshot_dup_json(c))
		return nil
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
		return take(gerror)
	})
}

// --- sources and pools ---

// Sources returns all sources, by their numbers.
func (s *Snapshot) Sources() ([]Source, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_sources(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) Source {
			return Source{
				Name: C.GoString(C.quoit_snapshot_get_source_name(c, number)),
				Kind: SourceKind(C.quoit_snapshot_get_source_kind(c, number)),
			}
		})
}

// Pools returns all pools, by their numbers.
func (s *Snapshot) Pools() ([]Pool, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_pools(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) Pool {
			return Pool{
				Name:   C.GoString(C.quoit_snapshot_get_pool_name(c, number)),
				Source: int(C.quoit_snapshot_get_pool_source(c, number)),
				Slices: int(C.quoit_snapshot_get_pool_n_slices(c, number)),
				Nodes:  int(C.quoit_snapshot_get_pool_n_nodes(c, number)),
				Pods:   int(C.quoit_snapshot_get_pool_n_pods(c, number)),
				CPU:    taken(C.quoit_snapshot_dup_pool_cpu(c, number)),
				Memory: taken(C.quoit_snapshot_dup_pool_memory(c, number)),
			}
		})
}

// --- slices ---

// Slices returns all slices, by their numbers.
func (s *Snapshot) Slices() ([]Slice, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_slices(c) }, sliceOf)
}

func sliceOf(c *C.QuoitSnapshot, number C.uint32_t) Slice {
	slice := Slice{
		Number:    int(number),
		Name:      C.GoString(C.quoit_snapshot_get_slice_name(c, number)),
		FullName:  taken(C.quoit_snapshot_dup_slice_full_name(c, number)),
		Pool:      int(C.quoit_snapshot_get_slice_pool(c, number)),
		Flags:     SliceFlags(C.quoit_snapshot_get_slice_flags(c, number)),
		Faults:    Faults(C.quoit_snapshot_get_slice_faults(c, number)),
		Missing:   int(C.quoit_snapshot_get_slice_n_missing(c, number)),
		Problem:   taken(C.quoit_snapshot_dup_slice_problem(c, number)),
		FirstNode: int(C.quoit_snapshot_get_slice_first_node(c, number)),
		Nodes:     int(C.quoit_snapshot_get_slice_n_nodes(c, number)),
	}
	if index := C.quoit_snapshot_get_slice_class(c, number); index >= 0 {
		class := C.uint32_t(index)
		slice.Accelerator = C.GoString(C.quoit_snapshot_get_class_accelerator(c, class))
		slice.Topology = taken(C.quoit_snapshot_dup_class_topology(c, class))
		slice.ChipsPerHost = int(C.quoit_snapshot_get_class_chips_per_host(c, class))
		slice.Hosts = int(C.quoit_snapshot_get_class_n_hosts(c, class))
	}
	return slice
}

// Slice returns the slice with a short or full name.
//
// It fails with NotFound for an unknown name, and Invalid for an ambiguous short name; the message has the full names.
func (s *Snapshot) Slice(name string) (slice Slice, err error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("slice", name))
	if err := arguments.Err(); err != nil {
		return Slice{}, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var number C.uint32_t
		var gerror *C.GError
		C.quoit_snapshot_lookup_slice(c, text, &number, &gerror)
		if err := take(gerror); err != nil {
			return err
		}
		slice = sliceOf(c, number)
		return nil
	})
	return slice, err
}

// Classes returns all classes, by their numbers.
func (s *Snapshot) Classes() ([]Class, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_classes(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) Class {
			return Class{
				Number:       int(number),
				Accelerator:  C.GoString(C.quoit_snapshot_get_class_accelerator(c, number)),
				Topology:     taken(C.quoit_snapshot_dup_class_topology(c, number)),
				ChipsPerHost: int(C.quoit_snapshot_get_class_chips_per_host(c, number)),
				Hosts:        int(C.quoit_snapshot_get_class_n_hosts(c, number)),
				Slices:       int(C.quoit_snapshot_count_class(c, number, 0)),
			}
		})
}

// CountClass returns how many slices of a class, given by its number, have a condition. The cost does not depend on the
// size of the fleet.
//
// It fails with Invalid for a number out of range, and if flag is not exactly one condition.
func (s *Snapshot) CountClass(class int, flag SliceFlags) (count int, err error) {
	if flag == 0 || flag&(flag-1) != 0 || flag > SliceFree {
		return 0, door.Invalid("condition '%v': expected one of SliceFlags", flag)
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		if err := checkNumber("class", class, C.quoit_snapshot_get_n_classes(c)); err != nil {
			return err
		}
		count = int(C.quoit_snapshot_count_class(c, C.uint32_t(class), C.QuoitSliceFlags(flag)))
		return nil
	})
	return count, err
}

// --- nodes ---

// Nodes returns all nodes, by their numbers, including dead ones.
func (s *Snapshot) Nodes() ([]Node, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_nodes(c) }, nodeOf)
}

func nodeOf(c *C.QuoitSnapshot, number C.uint32_t) Node {
	return Node{
		Number:      int(number),
		ID:          uint32(C.quoit_snapshot_get_node_id(c, number)),
		Name:        C.GoString(C.quoit_snapshot_get_node_name(c, number)),
		FullName:    taken(C.quoit_snapshot_dup_node_full_name(c, number)),
		Identity:    taken(C.quoit_snapshot_dup_node_identity(c, number)),
		Address:     C.GoString(C.quoit_snapshot_get_node_address(c, number)),
		State:       NodeState(C.quoit_snapshot_get_node_state(c, number)),
		Pool:        int(C.quoit_snapshot_get_node_pool(c, number)),
		Slice:       int(C.quoit_snapshot_get_node_slice(c, number)),
		WorkerID:    int(C.quoit_snapshot_get_node_worker_id(c, number)),
		Chips:       int(C.quoit_snapshot_get_node_chips(c, number)),
		IsRayHead:   bool(C.quoit_snapshot_is_node_ray_head(c, number)),
		IsExternal:  bool(C.quoit_snapshot_is_node_external(c, number)),
		Sources:     nodeSources(c, number),
		Assumptions: NodeAssumptions(C.quoit_snapshot_get_node_assumptions(c, number)),
	}
}

func nodeSources(c *C.QuoitSnapshot, number C.uint32_t) []string {
	sources := []string{}
	for {
		source := C.quoit_snapshot_get_node_source(c, number, C.uint32_t(len(sources)))
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
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("node", name))
	if err := arguments.Err(); err != nil {
		return Node{}, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var number C.uint32_t
		var gerror *C.GError
		C.quoit_snapshot_lookup_node(c, text, &number, &gerror)
		if err := take(gerror); err != nil {
			return err
		}
		node = nodeOf(c, number)
		return nil
	})
	return node, err
}

// onNode checks the number of a node and runs a function on it.
func (s *Snapshot) onNode(number int, run func(*C.QuoitSnapshot, C.uint32_t)) error {
	return s.with(func(c *C.QuoitSnapshot) error {
		if err := checkNumber("node", number, C.quoit_snapshot_get_n_nodes(c)); err != nil {
			return err
		}
		run(c, C.uint32_t(number))
		return nil
	})
}

// NodeUsers returns the groups that have a node, given by its number, or part of it.
//
// It fails with Invalid for a number out of range.
func (s *Snapshot) NodeUsers(node int) (users []NodeUser, err error) {
	err = s.onNode(node, func(c *C.QuoitSnapshot, number C.uint32_t) {
		users = make([]NodeUser, C.quoit_snapshot_get_node_n_users(c, number))
		for user := range users {
			users[user] = NodeUser{
				Group: newGroup(C.quoit_snapshot_lookup_group_by_id(c, C.quoit_snapshot_get_node_user_id(c, number, C.uint32_t(user)), nil)),
				Share: taken(C.quoit_snapshot_dup_node_user_share(c, number, C.uint32_t(user))),
			}
		}
	})
	return users, err
}

// NodeLabel returns the value of a label of a node, given by its number, and whether the node has the label.
//
// It fails with Invalid for a number out of range.
func (s *Snapshot) NodeLabel(node int, key string) (value string, ok bool, err error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("key", key))
	if err := arguments.Err(); err != nil {
		return "", false, err
	}
	err = s.onNode(node, func(c *C.QuoitSnapshot, number C.uint32_t) {
		label := C.quoit_snapshot_dup_node_label(c, number, text)
		value, ok = taken(label), label != nil
	})
	return value, ok, err
}

// NodeResources returns the resources of a node, given by its number: those that it states, and those that Ray derives
// (the name of its slice and, on worker 0, the head resource, such as "TPU-v6e-16-head").
//
// It fails with Invalid for a number out of range.
func (s *Snapshot) NodeResources(node int) (resources []NodeResource, err error) {
	err = s.onNode(node, func(c *C.QuoitSnapshot, number C.uint32_t) {
		resources = make([]NodeResource, C.quoit_snapshot_get_node_n_resources(c, number))
		for index := range resources {
			resource := C.uint32_t(index)
			resources[index] = NodeResource{
				Name:     C.GoString(C.quoit_snapshot_get_node_resource_name(c, number, resource)),
				Total:    taken(C.quoit_amount_format(C.quoit_snapshot_get_node_amount(c, number, resource, C.QUOIT_AMOUNT_TOTAL))),
				Left:     taken(C.quoit_amount_format(C.quoit_snapshot_get_node_amount(c, number, resource, C.QUOIT_AMOUNT_LEFT))),
				External: taken(C.quoit_amount_format(C.quoit_snapshot_get_node_amount(c, number, resource, C.QUOIT_AMOUNT_EXTERNAL))),
			}
		}
	})
	return resources, err
}

// Resources returns the sums over all nodes that are not dead, sorted by name. They include resources that Ray derives,
// except those with the names of slices.
func (s *Snapshot) Resources() ([]Resource, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_resources(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) Resource {
			return Resource{
				Name:  C.GoString(C.quoit_snapshot_get_resource_name(c, number)),
				Total: taken(C.quoit_snapshot_dup_resource_sum(c, number, C.QUOIT_AMOUNT_TOTAL)),
				Left:  taken(C.quoit_snapshot_dup_resource_sum(c, number, C.QUOIT_AMOUNT_LEFT)),
			}
		})
}

// --- groups and owners ---

// Groups returns all groups by id: the live ones, and ended ones whose record is kept.
func (s *Snapshot) Groups() ([]*Group, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_groups(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) *Group {
			return newGroup(C.quoit_snapshot_dup_group(c, number))
		})
}

// Group returns the live group of a NAME or NAME@ID.
//
// It fails with NotFound if no live group has the name, Conflict if the live group of that name has another id, and
// Invalid if the text is neither NAME nor NAME@ID.
func (s *Snapshot) Group(name string) (group *Group, err error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("group", name))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found := C.quoit_snapshot_lookup_group(c, text, &gerror)
		var err error
		group, err = madeGroup(found, take(gerror))
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
		group, err = madeGroup(found, take(gerror))
		return err
	})
	return group, err
}

// GroupByKey returns the group of a request key, including an ended one until Ledger.Forget.
//
// It fails with NotFound if no live or recorded group has the key, and Invalid for a key with a NUL.
func (s *Snapshot) GroupByKey(key string) (group *Group, err error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("key", key))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		found := C.quoit_snapshot_lookup_group_by_key(c, text, &gerror)
		var err error
		group, err = madeGroup(found, take(gerror))
		return err
	})
	return group, err
}

// GroupsOfOwner returns the live groups of an owner, by id. The owner need not be registered.
//
// It fails with Invalid for a name with a NUL.
func (s *Snapshot) GroupsOfOwner(owner string) ([]*Group, error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("owner", owner))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_count_owner_groups(c, text) },
		func(c *C.QuoitSnapshot, number C.uint32_t) *Group {
			return newGroup(C.quoit_snapshot_dup_owner_group(c, text, number))
		})
}

// NodeByID returns the node with that durable id.
//
// It fails with NotFound if the snapshot has none.
func (s *Snapshot) NodeByID(id uint32) (node Node, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		index := int64(C.quoit_snapshot_find_node(c, C.uint32_t(id)))
		if index < 0 {
			return &Error{Code: NotFound, Message: fmt.Sprintf("node id '%d': no node has it", id)}
		}
		node = nodeOf(c, C.uint32_t(index))
		return nil
	})
	return node, err
}

// Owners returns the registered owners, in the order of their registration.
func (s *Snapshot) Owners() ([]Owner, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_owners(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) Owner {
			return Owner{
				Name:   C.GoString(C.quoit_snapshot_get_owner_name(c, number)),
				Since:  timeOf(int64(C.quoit_snapshot_get_owner_since_ms(c, number))),
				Until:  timeOf(int64(C.quoit_snapshot_get_owner_until_ms(c, number))),
				Groups: int(C.quoit_snapshot_count_owner_groups(c, C.quoit_snapshot_get_owner_name(c, number))),
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
	made, err := request.opened()
	if err != nil {
		return nil, err
	}
	defer made.close()
	return s.explained(func(c *C.QuoitSnapshot, gerror **C.GError) *C.QuoitReport {
		return C.quoit_snapshot_explain(c, made.c, gerror)
	})
}

// ExplainGroup reports why bundles of a group, given as NAME or NAME@ID, that are not placed or have lost their nodes
// cannot be placed now.
//
// It fails with NotFound if there is no such group, and Conflict if all its bundles are placed.
func (s *Snapshot) ExplainGroup(group string) (*Report, error) {
	var arguments door.Arguments
	text := (*C.char)(arguments.Text("group", group))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	return s.explained(func(c *C.QuoitSnapshot, gerror **C.GError) *C.QuoitReport {
		return C.quoit_snapshot_explain_group(c, text, gerror)
	})
}

func (s *Snapshot) explained(run func(*C.QuoitSnapshot, **C.GError) *C.QuoitReport) (report *Report, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		var gerror *C.GError
		made := run(c, &gerror)
		if err := take(gerror); err != nil {
			return err
		}
		report = takenReport(made)
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
