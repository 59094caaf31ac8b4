// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"math/bits"
	"unsafe"

	"quoit/internal/door"
)

// Profile is whose environment is made.
type Profile int

// The profiles.
const (
	// ProfileQuoit has slices and workers in natural order, TPU_ACCELERATOR_TYPE in GKE's spelling, and MEGASCALE_* only
	// for more than one slice.
	ProfileQuoit Profile = C.QUOIT_PROFILE_QUOIT
	// ProfileRayTrain is what Ray Train 2.60's JAX backend sets, in Ray's order: slices sorted as text.
	ProfileRayTrain Profile = C.QUOIT_PROFILE_RAY_TRAIN
	// ProfileKubeRay is what stands in a pod once GKE's TPU webhook has seen it: a slice's id is its replica's index, and
	// there are MEGASCALE_* only where the manifest sets MEGASCALE_NUM_SLICES.
	ProfileKubeRay Profile = C.QUOIT_PROFILE_KUBERAY
	// ProfileJobSet has the slices as the jobs of a JobSet, in natural order, and the workers as their pods.
	ProfileJobSet Profile = C.QUOIT_PROFILE_JOBSET
)

var profileNames = map[Profile]string{
	ProfileQuoit: "QUOIT", ProfileRayTrain: "RAY_TRAIN", ProfileKubeRay: "KUBERAY", ProfileJobSet: "JOBSET",
}

// String is the name of the profile.
func (p Profile) String() string { return named(profileNames, p) }

// Job is what the processes of a group are together.
type Job int

// What processes are together.
const (
	// JobSlices is one job on whole slices, each host of which has as many processes as any other.
	JobSlices Job = C.QUOIT_JOB_SLICES
	// JobBoxes is one job on a part of each slice: a box of chips, the same of every slice, which the processes divide as a
	// grid. JAX counts chips and devices from the first chip of the box.
	JobBoxes Job = C.QUOIT_JOB_BOXES
	// JobApart is no job over ICI: each process starts alone, as process 0 of 1, and counts its own chips. Notes say why.
	JobApart Job = C.QUOIT_JOB_APART
)

var jobNames = map[Job]string{JobSlices: "SLICES", JobBoxes: "BOXES", JobApart: "APART"}

// String is the name of what they are together.
func (j Job) String() string { return named(jobNames, j) }

// Topology is where each process of a group stands, in the order of the profile. Close frees what it keeps for Renumber;
// the garbage collector does where that is forgotten. What it says is there also then.
type Topology struct {
	Processes        []Process // by process id
	Job              Job       // what they are together; those without chips are in no job, and behind all others
	ProcessesPerHost int       // how many each host has; 0 unless Job is JobSlices, as hosts may differ then
	Notes            []string  // what the caller should know, such as that no addresses are known or that a host is dead

	h *door.Handle
}

// Process is one process of a group: its place, and its environment.
type Process struct {
	SliceID       int    // the slice id that the profile gives its slice; 0 where it has no chips
	Slice         string // the name of that slice; "": its node is in none
	SliceFullName string // source/pool/name; "" likewise
	// GroupSlice is which slice of the group that is, in every profile: in GroupInfo.Slices, or of a group of bundles among
	// those that its chips are in, in natural order; -1: it has no chips.
	GroupSlice   int
	Bundle       int             // which bundle of the group it is; -1: the group has its hosts whole
	WorkerID     int             // of its host in the slice; 0 where a process of a bundle has none
	Local        int             // its number among the processes of its host, from 0
	Node         string          // the node that it runs on
	NodeFullName string          // source/pool/name
	Address      string          // of that node; "" where it is not known
	Assumptions  NodeAssumptions // what its sources did not say; notes say which variables are not right for a host name
	Environment  []Variable

	// HostChips are those that it has, by the numbers that TPU_VISIBLE_CHIPS, Ray and bundles know them by; none where it has
	// none, or which these are is not known.
	HostChips []int
	// Chips are the same by their numbers in the slice, as in Coordinates, ascending, as JAX lists its devices; none where its
	// place in a slice is not known.
	Chips  []int
	Places []Place // where each of these is on the torus of its slice
	// Devices are the ids of what JAX calls its local devices in the whole job, chip by chip.
	Devices []int64
	// SliceIDs is what each profile gives its slice, without those that give it none. They differ: Ray Train overrides the
	// webhook's.
	SliceIDs map[Profile]int
}

// Variable is one of an environment. The value stands as it is: whoever writes it to a shell must quote it.
type Variable struct {
	Name, Value string
}

// Topology computes the processes of the group. Launch{} is profile quoit with one process per host. Whole hosts are divided
// as launch says; a bundle that is a part of a host is one process.
//
// It fails with Invalid if the group has ended or was closed, the profile is unknown, the chips of a bundle are not a box of
// 1, 2, 4 or 8 chips, a profile of pods is used for bundles that are not whole slices, JAX cannot divide a host's chips among
// that many processes, several processes per host are wanted for parts of hosts or for a slice of which the group has only some
// hosts, TPU_PROCESS_PORT of the manifest leaves too few ports, Ray's arithmetic or the webhook refuses the slices, or Kubernetes
// refuses a JobSet's name. It fails with NotNow if a bundle is not placed, or the profile needs addresses, the topology of a
// slice, or its cluster and replica, which the group's sources do not contain: import the node list of the running cluster, or
// the manifest.
func (g *Group) Topology(launch Launch) (*Topology, error) {
	how, err := launch.opened()
	if err != nil {
		return nil, err
	}
	defer C.quoit_launch_free(how)
	pointer, err := g.h.Use()
	if err != nil {
		return nil, err
	}
	defer g.h.Done()
	var gerror *C.GError
	c := C.quoit_topology_new((*C.QuoitGroup)(pointer), how, &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return newTopology(c), nil
}

func newTopology(c *C.QuoitTopology) *Topology {
	free := func(p unsafe.Pointer) { C.quoit_topology_unref((*C.QuoitTopology)(p)) }
	topology := &Topology{
		Processes:        make([]Process, C.quoit_topology_get_n_processes(c)),
		Job:              Job(C.quoit_topology_get_job(c)),
		ProcessesPerHost: int(C.quoit_topology_get_processes_per_host(c)),
		Notes:            make([]string, C.quoit_topology_get_n_notes(c)),
		h:                door.NewHandle("topology", unsafe.Pointer(c), free),
	}
	for process := range topology.Processes {
		topology.Processes[process] = processOf(c, C.uint32_t(process))
	}
	for note := range topology.Notes {
		topology.Notes[note] = C.GoString(C.quoit_topology_get_note(c, C.uint32_t(note)))
	}
	return topology
}

func processOf(c *C.QuoitTopology, process C.uint32_t) Process {
	made := Process{
		SliceID:       int(C.quoit_topology_get_slice_id(c, process)),
		Slice:         C.GoString(C.quoit_topology_get_slice_name(c, process)),
		SliceFullName: taken(C.quoit_topology_dup_slice_full_name(c, process)),
		GroupSlice:    int(C.int32_t(C.quoit_topology_get_group_slice(c, process))),
		Bundle:        int(C.quoit_topology_get_bundle(c, process)),
		WorkerID:      int(C.quoit_topology_get_worker_id(c, process)),
		Local:         int(C.quoit_topology_get_local(c, process)),
		Node:          C.GoString(C.quoit_topology_get_node_name(c, process)),
		NodeFullName:  taken(C.quoit_topology_dup_node_full_name(c, process)),
		Address:       C.GoString(C.quoit_topology_get_node_address(c, process)),
		Assumptions:   NodeAssumptions(C.quoit_topology_get_node_assumptions(c, process)),
		Environment:   make([]Variable, C.quoit_topology_get_n_variables(c, process)),
		Chips:         make([]int, C.quoit_topology_get_n_chips(c, process)),
		Devices:       make([]int64, C.quoit_topology_get_n_devices(c, process)),
		SliceIDs:      map[Profile]int{},
	}
	for left := uint64(C.quoit_topology_get_host_chips(c, process)); left != 0; left &= left - 1 {
		made.HostChips = append(made.HostChips, bits.TrailingZeros64(left))
	}
	for variable := range made.Environment {
		made.Environment[variable] = Variable{
			Name:  C.GoString(C.quoit_topology_get_variable_name(c, process, C.uint32_t(variable))),
			Value: C.GoString(C.quoit_topology_get_variable_value(c, process, C.uint32_t(variable))),
		}
	}
	made.Places = make([]Place, len(made.Chips))
	for chip := range made.Chips {
		made.Chips[chip] = int(C.quoit_topology_get_chip(c, process, C.uint32_t(chip)))
		made.Places[chip] = placeOf(func(axis C.QuoitAxis) C.uint32_t {
			return C.quoit_topology_get_chip_at(c, process, C.uint32_t(chip), axis)
		})
	}
	for device := range made.Devices {
		made.Devices[device] = int64(C.quoit_topology_get_device(c, process, C.uint32_t(device)))
	}
	for profile := range profileNames {
		if id := C.quoit_topology_find_slice_id(c, process, C.QuoitProfile(profile)); id >= 0 {
			made.SliceIDs[profile] = int(id)
		}
	}
	return made
}

// Close frees what the topology keeps. To close twice does nothing.
func (t *Topology) Close() {
	if t != nil {
		t.h.Close()
	}
}

// --- renumbering ---

// RenumberingHow is what has become of a process.
type RenumberingHow int

// What may have become of a process.
const (
	ProcessSame    RenumberingHow = C.QUOIT_RENUMBERING_SAME    // it has the numbers and the environment that it had
	ProcessChanged RenumberingHow = C.QUOIT_RENUMBERING_CHANGED // its numbers are the same, its environment is not
	ProcessMoved   RenumberingHow = C.QUOIT_RENUMBERING_MOVED   // it has another process id, slice id or worker id
	ProcessJoined  RenumberingHow = C.QUOIT_RENUMBERING_JOINED  // it was not there before
	ProcessLeft    RenumberingHow = C.QUOIT_RENUMBERING_LEFT    // it is there no more
)

var renumberingHowNames = map[RenumberingHow]string{
	ProcessSame: "SAME", ProcessChanged: "CHANGED", ProcessMoved: "MOVED", ProcessJoined: "JOINED", ProcessLeft: "LEFT",
}

// String is the name of what has become of it.
func (h RenumberingHow) String() string { return named(renumberingHowNames, h) }

// Renumbering is what a change of a group means for each process: first those that there are now, in the order of their
// process ids, then those that are gone, in the order of theirs.
type Renumbering struct {
	Rows    []RenumberingRow
	Changed int // the rows that are not ProcessSame; 0: nobody has to be told anything
}

// Numbers are those of a process; -1: none.
type Numbers struct {
	Process, SliceID, WorkerID int
}

// RenumberingRow is what has become of one process.
type RenumberingRow struct {
	How           RenumberingHow
	Node, Slice   string // as they are named now, or were where the process is gone
	Counterpart   string // the node whose place it takes, or that takes its place; "" where there is none
	Before, After Numbers
	Variables     []VariableChange // those that differ, sorted by name; of a process that joined or left, all
	Text          string           // the row in a line for people, values as they are
}

// VariableChange is what has become of one variable; nil: it was, or is, not set.
type VariableChange struct {
	Name          string
	Before, After *string
}

// Renumber compares two topologies of one group, of the same profile; nil: it had, or has, no process.
//
// It fails with Invalid when one of them has been closed.
func Renumber(before, after *Topology) (*Renumbering, error) {
	old, done, err := before.compared()
	if err != nil {
		return nil, err
	}
	defer done()
	now := old
	if after != before { // a lock is not taken twice
		var doneToo func()
		if now, doneToo, err = after.compared(); err != nil {
			return nil, err
		}
		defer doneToo()
	}
	c := C.quoit_renumbering_new(old, now)
	defer C.quoit_renumbering_free(c)
	renumbering := &Renumbering{
		Rows: make([]RenumberingRow, C.quoit_renumbering_get_n_rows(c)),
	}
	for row := range renumbering.Rows {
		renumbering.Rows[row] = rowOf(c, C.uint32_t(row))
		if renumbering.Rows[row].How != ProcessSame {
			renumbering.Changed++
		}
	}
	return renumbering, nil
}

func (t *Topology) compared() (*C.QuoitTopology, func(), error) {
	if t == nil {
		return nil, func() {}, nil
	}
	pointer, err := t.h.Use()
	if err != nil {
		return nil, nil, err
	}
	return (*C.QuoitTopology)(pointer), t.h.Done, nil
}

func rowOf(c *C.QuoitRenumbering, row C.uint32_t) RenumberingRow {
	variables := make([]VariableChange, C.quoit_renumbering_get_n_variables(c, row))
	for index := range variables {
		variable := C.uint32_t(index)
		variables[index] = VariableChange{
			Name:   C.GoString(C.quoit_renumbering_get_variable_name(c, row, variable)),
			Before: textOrNil(C.quoit_renumbering_get_variable_value(c, row, variable, C.QUOIT_RENUMBERING_BEFORE)),
			After:  textOrNil(C.quoit_renumbering_get_variable_value(c, row, variable, C.QUOIT_RENUMBERING_AFTER)),
		}
	}
	return RenumberingRow{
		How:         RenumberingHow(C.quoit_renumbering_get_how(c, row)),
		Node:        C.GoString(C.quoit_renumbering_get_node_name(c, row)),
		Slice:       C.GoString(C.quoit_renumbering_get_slice_name(c, row)),
		Counterpart: C.GoString(C.quoit_renumbering_get_counterpart(c, row)),
		Before: Numbers{
			Process:  int(C.quoit_renumbering_get_process(c, row, C.QUOIT_RENUMBERING_BEFORE)),
			SliceID:  int(C.quoit_renumbering_get_slice_id(c, row, C.QUOIT_RENUMBERING_BEFORE)),
			WorkerID: int(C.quoit_renumbering_get_worker_id(c, row, C.QUOIT_RENUMBERING_BEFORE)),
		},
		After: Numbers{
			Process:  int(C.quoit_renumbering_get_process(c, row, C.QUOIT_RENUMBERING_AFTER)),
			SliceID:  int(C.quoit_renumbering_get_slice_id(c, row, C.QUOIT_RENUMBERING_AFTER)),
			WorkerID: int(C.quoit_renumbering_get_worker_id(c, row, C.QUOIT_RENUMBERING_AFTER)),
		},
		Variables: variables,
		Text:      taken(C.quoit_renumbering_dup_text(c, row)),
	}
}

func textOrNil(text *C.char) *string {
	if text == nil {
		return nil
	}
	value := C.GoString(text)
	return &value
}
