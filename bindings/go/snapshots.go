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

// SourceKind is what a source was read from.
type SourceKind int

// The kinds of sources.
const (
	FleetText  SourceKind = C.QUOIT_SOURCE_KIND_FLEET      // fleet text
	RayCluster SourceKind = C.QUOIT_SOURCE_KIND_RAYCLUSTER // a manifest: the nodes that KubeRay would make of it
	RayNodes   SourceKind = C.QUOIT_SOURCE_KIND_RAY_NODES  // `ray list nodes`, ray.nodes()
	K8sNodes   SourceKind = C.QUOIT_SOURCE_KIND_K8S_NODES  // `kubectl get nodes -o json`
)

var sourceKindNames = map[SourceKind]string{
	FleetText: "FLEET", RayCluster: "RAYCLUSTER", RayNodes: "RAY_NODES", K8sNodes: "K8S_NODES",
}

// String is the name of the kind.
func (k SourceKind) String() string { return named(sourceKindNames, k) }

// NodeState is how a node is.
type NodeState int

// The states of a node.
const (
	NodeAlive    NodeState = C.QUOIT_NODE_ALIVE
	NodeDraining NodeState = C.QUOIT_NODE_DRAINING // what runs may go on; nothing new comes
	NodeDead     NodeState = C.QUOIT_NODE_DEAD
)

var nodeStateNames = map[NodeState]string{NodeAlive: "ALIVE", NodeDraining: "DRAINING", NodeDead: "DEAD"}

// String is the name of the state.
func (s NodeState) String() string { return named(nodeStateNames, s) }

// NodeAssumptions is what a node's source did not say, so that it was assumed; any number of them may hold.
type NodeAssumptions uint32

// What may have been assumed.
const (
	AssumesWorkerID NodeAssumptions = C.QUOIT_NODE_ASSUMES_WORKER_ID // its place in the slice, by the order of addresses
	AssumesHostName NodeAssumptions = C.QUOIT_NODE_ASSUMES_HOST_NAME // the cluster's name, and so the host's
)

var nodeAssumptionNames = []string{"WORKER_ID", "HOST_NAME"}

// String is the names of all that hold, with bars between them.
func (a NodeAssumptions) String() string { return namedFlags(nodeAssumptionNames, a) }

// SliceFlags are conditions of a slice; any number of them may hold.
type SliceFlags uint32

// The conditions of a slice.
const (
	SliceIntact   SliceFlags = C.QUOIT_SLICE_INTACT   // every worker is there once, and nothing contradicts; else degraded
	SliceIdle     SliceFlags = C.QUOIT_SLICE_IDLE     // no node is used
	SlicePartly   SliceFlags = C.QUOIT_SLICE_PARTLY   // some nodes are used, or one is used in part
	SliceFull     SliceFlags = C.QUOIT_SLICE_FULL     // every node is used whole
	SliceHeld     SliceFlags = C.QUOIT_SLICE_HELD     // a group has part of it
	SliceDraining SliceFlags = C.QUOIT_SLICE_DRAINING // a node is draining
	SliceFree     SliceFlags = C.QUOIT_SLICE_FREE     // intact, idle, not draining: can be reserved now
)

var sliceFlagNames = []string{"INTACT", "IDLE", "PARTLY", "FULL", "HELD", "DRAINING", "FREE"}

// String is the names of all that hold, with bars between them.
func (f SliceFlags) String() string { return namedFlags(sliceFlagNames, f) }

// Faults are contradictions among the alive nodes of a slice; any number of them may be there.
type Faults uint32

// The contradictions.
const (
	FaultWorkerTwice  Faults = C.QUOIT_FAULT_WORKER_TWICE   // two nodes with one worker id
	FaultNoWorkerID   Faults = C.QUOIT_FAULT_NO_WORKER_ID   // a node that states none
	FaultTooManyHosts Faults = C.QUOIT_FAULT_TOO_MANY_HOSTS // a worker id that the topology has no host for
	FaultChips        Faults = C.QUOIT_FAULT_CHIPS          // chips that disagree with the others or with the topology
	FaultTopology     Faults = C.QUOIT_FAULT_TOPOLOGY       // two topologies, or one that is not in the catalogue
	FaultPodType      Faults = C.QUOIT_FAULT_POD_TYPE       // two pod types, or one that is not the topology's
)

var faultNames = []string{"WORKER_TWICE", "NO_WORKER_ID", "TOO_MANY_HOSTS", "CHIPS", "TOPOLOGY", "POD_TYPE"}

// String is the names of all that are there, with bars between them.
func (f Faults) String() string { return namedFlags(faultNames, f) }

// Snapshot is the fleet at one journal entry: an immutable view that any number of goroutines may read, for as long as
// they like, while others write. Close frees it; the garbage collector does where that is forgotten. Every method fails
// with Invalid after Close.
//
// Sources, pools, slices and nodes are numbered from 0 in natural order of their names (nodes by worker id within their
// slice): the numbers are indices of Sources, Pools, Slices and Nodes. They are good within one snapshot; across
// snapshots use names.
type Snapshot struct {
	h *door.Handle
}

// Source is where nodes came from.
type Source struct {
	Name string
	Kind SourceKind
}

// Pool is a node pool or worker group.
type Pool struct {
	Name   string
	Source int // the number of its source
	Slices int // how many it has
	Nodes  int // how many it has, dead ones included
	Pods   int // the worker pods that a manifest desires; 0 for other sources and for a head
	// CPU and Memory (bytes) are sums over the pods of what they request, or else limit, as decimal text: what
	// `kubectl get raycluster` adds up.
	CPU, Memory string
}

// Slice is nodes joined by ICI, with one topology and one slice name.
type Slice struct {
	Number       int
	Name         string // the short name
	FullName     string // source/pool/name
	Pool         int    // the number of its pool
	Accelerator  string // its generation by Ray's name; "" where its nodes name no class of the catalogue
	Topology     string // "" where it is not known
	ChipsPerHost int    // 0 where it is not known
	Hosts        int    // those that its topology has; 0 where it is not known
	Flags        SliceFlags
	Faults       Faults
	Missing      int    // workers of its topology that no alive node is
	Problem      string // why it is degraded, in words; "" when it is intact
	FirstNode    int    // the number of its first node; the others follow
	Nodes        int    // how many it has, dead ones included
}

// Node is one machine.
type Node struct {
	Number      int
	ID          uint32 // the durable id: the same in all snapshots of a ledger, and never used again
	Name        string // the short name
	FullName    string // source/pool/name
	Identity    string // its Ray node id, or its name where the source gives no id
	Address     string // "" where its source knows none
	State       NodeState
	Pool        int      // the number of its pool
	Slice       int      // the number of its slice; -1: it is in none
	WorkerID    int      // in the slice; -1: not stated
	Chips       int      // its TPU chips
	IsRayHead   bool     // Ray's head runs on it; a Ray head may be a TPU node
	IsExternal  bool     // something that is no group uses all of it
	Sources     []string // those that claim it: the first is the one in whose pool it stands
	Assumptions NodeAssumptions
}

// NodeUser is a group that has a node or part of it.
type NodeUser struct {
	Group *Group
	Share string // what its bundles have of the node, in words; "" when the group has the node whole
}

// NodeResource is a resource of a node; the amounts are decimal text.
type NodeResource struct {
	Name     string
	Total    string // how much the node has
	Left     string // how much nobody has
	External string // how much something that no group explains has; what is neither left nor had so groups have
}

// Resource is a sum over the nodes that are not dead, exact, as decimal text.
type Resource struct {
	Name  string
	Total string
	Left  string // what nobody has
}

// Class is all slices of one generation, topology and number of chips a host.
type Class struct {
	Number       int
	Accelerator  string // its generation by Ray's name
	Topology     string
	ChipsPerHost int
	Hosts        int // of each slice
	Slices       int // how many it has
}

// Owner is a name in which groups are held, and which was set.
type Owner struct {
	Name   string
	Since  time.Time // when it was set
	Until  time.Time // when its lease ends; the zero time: it has none
	Groups int       // how many are held in its name
}

func newSnapshot(c *C.QuoitSnapshot) *Snapshot {
	free := func(p unsafe.Pointer) { C.quoit_snapshot_unref((*C.QuoitSnapshot)(p)) }
	return &Snapshot{door.NewHandle("snapshot", unsafe.Pointer(c), free)}
}

// Close frees what the snapshot keeps. To close twice does nothing.
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

// all is what one gives for each number below count.
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

// Seq is the number of the last journal entry that the snapshot contains; 0: none.
func (s *Snapshot) Seq() (seq uint64, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		seq = uint64(C.quoit_snapshot_get_seq(c))
		return nil
	})
	return seq, err
}

// Epoch is how often the ledger had been restored from a backup.
func (s *Snapshot) Epoch() (epoch int, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		epoch = int(C.quoit_snapshot_get_epoch(c))
		return nil
	})
	return epoch, err
}

// LayoutNumber tells whether two snapshots use the same numbers: in one process, snapshots with the same LayoutNumber have the
// same sources, pools, slices and nodes at the same numbers. Only their states can differ.
func (s *Snapshot) LayoutNumber() (number uint64, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		number = uint64(C.quoit_snapshot_get_layout_number(c))
		return nil
	})
	return number, err
}

// Clock is the ledger's clock: the time of that entry; the zero time: none.
func (s *Snapshot) Clock() (clock time.Time, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		clock = timeOf(int64(C.quoit_snapshot_get_clock_ms(c)))
		return nil
	})
	return clock, err
}

// AsOf is the fleet as a change at that time would find it: what groups hold whose lease, or whose owner's lease, has
// ended is free. Nothing is written. What decides does the same by itself; this is for looking.
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

// JSON is everything that the ledger knows, as one JSON document with "schema": "quoit/1". Amounts are decimal text.
// Equal states give equal text.
func (s *Snapshot) JSON() (text string, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		text = taken(C.quoit_snapshot_dup_json(c))
		return nil
	})
	return text, err
}

// Check counts everything again: summaries, indexes, who holds what. For tests and for the suspicious.
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

// Sources are all sources, by their numbers.
func (s *Snapshot) Sources() ([]Source, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_sources(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) Source {
			return Source{
				Name: C.GoString(C.quoit_snapshot_get_source_name(c, number)),
				Kind: SourceKind(C.quoit_snapshot_get_source_kind(c, number)),
			}
		})
}

// Pools are all pools, by their numbers.
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

// Slices are all slices, by their numbers.
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

// Slice is the slice of that short or full name.
//
// It fails with NotFound, and with Invalid when the short name is ambiguous: the message has full names.
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

// Classes are all classes, by their numbers.
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

// CountClass is how many slices of a class, by its number, have one condition. The cost does not depend on the fleet.
//
// It fails with Invalid for a number that no class has, and for what is not one condition.
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

// Nodes are all nodes, by their numbers, dead ones included.
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

// Node is the node of that short or full name.
//
// It fails with NotFound, and with Invalid when the short name is ambiguous: the message has full names.
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

// onNode runs what is asked of the node of a number.
func (s *Snapshot) onNode(number int, run func(*C.QuoitSnapshot, C.uint32_t)) error {
	return s.with(func(c *C.QuoitSnapshot) error {
		if err := checkNumber("node", number, C.quoit_snapshot_get_n_nodes(c)); err != nil {
			return err
		}
		run(c, C.uint32_t(number))
		return nil
	})
}

// NodeUsers are the groups that have the node of that number, or part of it.
//
// It fails with Invalid for a number that no node has.
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

// NodeLabel is the label of that key of the node of that number, and whether it has one.
//
// It fails with Invalid for a number that no node has.
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

// NodeResources are the resources of the node of that number: those that it states, and those that Ray derives, its
// slice's name and on worker 0 the head ("TPU-v6e-16-head").
//
// It fails with Invalid for a number that no node has.
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

// Resources are sums over the nodes that are not dead, those that Ray derives included, but not one for each slice's
// name; sorted by name as text.
func (s *Snapshot) Resources() ([]Resource, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_resources(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) Resource {
			return Resource{
				Name:  C.GoString(C.quoit_snapshot_get_resource_name(c, number)),
				Total: taken(C.quoit_snapshot_dup_resource_total(c, number)),
				Left:  taken(C.quoit_snapshot_dup_resource_left(c, number)),
			}
		})
}

// --- groups and owners ---

// Groups are those that are kept, in the order of ids: live ones, and removed ones that a request key names.
func (s *Snapshot) Groups() ([]*Group, error) {
	return all(s, func(c *C.QuoitSnapshot) C.uint32_t { return C.quoit_snapshot_get_n_groups(c) },
		func(c *C.QuoitSnapshot, number C.uint32_t) *Group {
			return newGroup(C.quoit_snapshot_dup_group(c, number))
		})
}

// Group is the group of that NAME or NAME@ID.
//
// It fails with NotFound when no live group bears the name, Conflict when the id is not that of the group that bears it
// now, and Invalid when it is neither NAME nor NAME@ID.
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

// GroupByID returns the group with that id, also after its end while its record is kept.
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

// GroupByKey returns the group of a request key, also after its end until Ledger.Forget.
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

// GroupsOfOwner returns the live groups of an owner, by id. The owner need not be set.
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

// Owners are those that are set, in the order in which they were.
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

// --- asking ---

// Explain says whether the request fits now, and why not: the decision that Ledger.Reserve would make, without making
// it. A request that does not fit is no failure: see Report.Verdict.
//
// It fails with Invalid when the request is not complete, not in the catalogue or says what does not go together, and
// NotFound when it names a pool, slice or node that is not there.
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

// ExplainGroup says why bundles of a group, NAME or NAME@ID, that are not placed, or have lost their nodes, are not
// placed now.
//
// It fails with NotFound when there is no such group, and Conflict when all of it is placed.
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

// Fork is a copy of the snapshot that can be changed.
func (s *Snapshot) Fork() (fork *Fork, err error) {
	err = s.with(func(c *C.QuoitSnapshot) error {
		fork = newFork(C.quoit_snapshot_fork(c))
		return nil
	})
	return fork, err
}
