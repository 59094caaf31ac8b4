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

	"quoit/internal/cconv"
)

// Profile is the system whose environment variables are computed.
type Profile int

// The profiles.
const (
	// ProfileQuoit has slices and workers in natural order and TPU_ACCELERATOR_TYPE in GKE's spelling. It sets
	// MEGASCALE_* only for more than one slice.
	ProfileQuoit Profile = C.QUOIT_PROFILE_QUOIT
	// ProfileRayTrain is what Ray Train 2.60's JAX backend sets, in Ray's order: slices sorted as text.
	ProfileRayTrain Profile = C.QUOIT_PROFILE_RAY_TRAIN
	// ProfileKubeRay is the environment of a pod after GKE's TPU webhook has changed it. The id of a slice is the
	// index of its replica, and MEGASCALE_* is set only if the manifest sets MEGASCALE_NUM_SLICES.
	ProfileKubeRay Profile = C.QUOIT_PROFILE_KUBERAY
	// ProfileJobSet is the environment of the pods of a JobSet. The slices are its jobs, in natural order, and the
	// workers are the pods of these jobs.
	ProfileJobSet Profile = C.QUOIT_PROFILE_JOBSET
	// ProfileLWS is the environment of a pod after the webhook of LeaderWorkerSet 0.9. The slices are the replicas, or
	// their subgroups, in natural order; each replica is a job of its own.
	ProfileLWS Profile = C.QUOIT_PROFILE_LWS
	// ProfileJob is the environment of a pod of one indexed Job on one slice, or of pods that each have a slice with
	// one host.
	ProfileJob Profile = C.QUOIT_PROFILE_JOB
)

var profileNames = map[Profile]string{
	ProfileQuoit: "QUOIT", ProfileRayTrain: "RAY_TRAIN", ProfileKubeRay: "KUBERAY", ProfileJobSet: "JOBSET",
	ProfileLWS: "LWS", ProfileJob: "JOB",
}

// String returns the name of the profile.
func (p Profile) String() string { return nameOf(profileNames, p) }

// Job is how the processes of a group work together.
type Job int

// The ways in which processes work together.
const (
	// JobSlices is one job on whole slices with the same number of processes on each host.
	JobSlices Job = C.QUOIT_JOB_SLICES
	// JobBoxes is one job on the same box of chips in each slice. The processes divide the box as a grid. JAX
	// counts chips and devices from the first chip of the box.
	JobBoxes Job = C.QUOIT_JOB_BOXES
	// JobSeparate is no common job over ICI: each process starts alone, as process 0 of 1, and counts its own chips.
	// Topology.Notes has the reason.
	JobSeparate Job = C.QUOIT_JOB_SEPARATE
)

var jobNames = map[Job]string{JobSlices: "SLICES", JobBoxes: "BOXES", JobSeparate: "SEPARATE"}

// String returns the name of the value.
func (j Job) String() string { return nameOf(jobNames, j) }

// Topology is the processes of a group, in the order of the profile. Close frees the C data that Renumber needs; the
// garbage collector does so if you do not. The fields are still available after Close.
type Topology struct {
	Processes        []Process // in the order of their process ids: Processes[i].ProcessID is i
	Job              Job       // how the processes work together; processes without chips are in no job and come last
	ProcessesPerHost int       // processes of each host; 0 unless Job is JobSlices, because hosts can differ otherwise
	Notes            []string  // warnings, such as unknown addresses or a dead host

	h *cconv.Handle
}

// Process is one process of a group: its ids, its place and its environment.
type Process struct {
	ProcessID     int    // the id in the whole job, which JAX calls process_id; an index of Topology.Processes
	SliceID       int    // the slice id in this profile; 0 if the process has no chips
	Slice         string // the name of that slice; "" if its node is in no slice
	SliceFullName string // source/pool/name; "" if its node is in no slice
	// GroupSlice is the index of that slice in GroupInfo.Slices, in every profile. For a group of bundles, it is
	// the index among the slices with chips of the group, in natural order. It is -1 if the process has no chips.
	GroupSlice   int
	Bundle       int             // the index of its bundle in the group; -1 if the group has whole hosts
	WorkerID     int             // the worker id of its host; 0 if a process of a bundle has none
	LocalIndex   int             // the index of the process on its host
	Node         string          // the short name of its node
	NodeFullName string          // source/pool/name of its node
	Address      string          // the address of its node; "" if it is unknown
	Assumptions  NodeAssumptions // facts about its node that no source states; Topology.Notes has the affected variables
	Environment  []Variable      // sorted by name

	// HostChips is the chips of the process by their numbers on the host, which TPU_VISIBLE_CHIPS, Ray and bundles
	// use. It is empty if the process has no chips or they are unknown.
	HostChips []int
	// Chips is the same chips by their numbers in the slice, as in Coordinates, in ascending order, which is the
	// order of JAX's devices. It is empty if the place of the host in a slice is unknown.
	Chips  []int
	Places []Place // the place of each of Chips on the torus of the slice
	// Devices is the ids, in the whole job, of the local JAX devices of the process, chip by chip.
	Devices []int64
	// SliceIDs is the id that each profile gives the slice of the process; profiles that give none are missing. The
	// ids can differ: Ray Train overrides the webhook's ids.
	SliceIDs map[Profile]int
}

// Variable is a variable of an environment. The value is not quoted for a shell.
type Variable struct {
	Name, Value string
}

// Topology computes the processes of the group. Launch{} is profile quoit with one process per host. Whole hosts are
// divided as launch specifies; a bundle that is a part of a host is one process.
//
// It fails with Invalid if the group has ended or was closed, the profile is unknown, the chips of a bundle are not a
// box of 1, 2, 4 or 8 chips, a profile of pods is used for bundles that are not whole slices, JAX cannot divide a
// host's chips among that many processes, several processes per host are requested for parts of hosts or for a slice of
// which the group has only some hosts, TPU_PROCESS_PORT of the manifest leaves too few ports, Ray's arithmetic or the
// webhook refuses the slices, or Kubernetes refuses a JobSet's name. It fails with NotNow if a bundle is not placed, or
// if the profile needs addresses, the topology of a slice, or its cluster and replica, which the group's sources do not
// contain: import the node list of the running cluster, or the manifest.
func (g *Group) Topology(launch Launch) (*Topology, error) {
	cLaunch, err := launch.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_launch_free(cLaunch)
	pointer, err := g.h.Use()
	if err != nil {
		return nil, err
	}
	defer g.h.Done()
	return topologyOf((*C.QuoitGroup)(pointer), cLaunch)
}

// ManifestTopology returns the processes of the group for the pods of a manifest, whose object gives the profile and the
// names: a JobSet, a LeaderWorkerSet, a Job, StatefulSet, Deployment, ReplicaSet, CronJob or Pod, or a Ray object. The
// group is on the nodes that an import of the manifest makes. pool is the pool of the pods: for a JobSet, the name of a
// replicated job.
//
// It fails like Topology, with NotFound if the manifest does not have the pool, and with Invalid for an input that is no
// manifest.
func (g *Group) ManifestTopology(manifest *Input, pool string) (*Topology, error) {
	pointer, err := g.h.Use()
	if err != nil {
		return nil, err
	}
	defer g.h.Done()
	input, err := manifest.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_input_free(input)
	var arguments cconv.Arguments
	defer arguments.Free()
	name := (*C.char)(arguments.Text("pool", pool))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	var gerror *C.GError
	launch := C.quoit_launch_new_for_manifest(input, name, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	defer C.quoit_launch_free(launch)
	return topologyOf((*C.QuoitGroup)(pointer), launch)
}

func topologyOf(group *C.QuoitGroup, launch *C.QuoitLaunch) (*Topology, error) {
	var gerror *C.GError
	c := C.quoit_topology_new(group, launch, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newTopology(c), nil
}

func newTopology(c *C.QuoitTopology) *Topology {
	free := func(p unsafe.Pointer) { C.quoit_topology_free((*C.QuoitTopology)(p)) }
	topology := &Topology{
		Processes: make([]Process, C.quoit_topology_get_n_processes(c)),
		Job:       Job(C.quoit_topology_get_job(c)),
		Notes:     make([]string, C.quoit_topology_get_n_notes(c)),
		h:         cconv.NewHandle("topology", unsafe.Pointer(c), free),
	}
	for process := range topology.Processes {
		topology.Processes[process] = processFromC(c, C.uint32_t(process))
		if topology.Job == JobSlices {
			topology.ProcessesPerHost = max(topology.ProcessesPerHost, topology.Processes[process].LocalIndex+1)
		}
	}
	for note := range topology.Notes {
		topology.Notes[note] = C.GoString(C.quoit_topology_get_note(c, C.uint32_t(note)))
	}
	return topology
}

func processFromC(c *C.QuoitTopology, process C.uint32_t) Process {
	result := Process{
		ProcessID:     int(process),
		SliceID:       int(C.quoit_topology_get_slice_id(c, process)),
		Slice:         C.GoString(C.quoit_topology_get_slice_name(c, process)),
		SliceFullName: moveString(C.quoit_topology_dup_slice_full_name(c, process)),
		GroupSlice:    int(C.int32_t(C.quoit_topology_get_group_slice(c, process))),
		Bundle:        int(C.quoit_topology_get_bundle(c, process)),
		WorkerID:      int(C.quoit_topology_get_worker_id(c, process)),
		LocalIndex:    int(C.quoit_topology_get_local_index(c, process)),
		Node:          C.GoString(C.quoit_topology_get_node_name(c, process)),
		NodeFullName:  moveString(C.quoit_topology_dup_node_full_name(c, process)),
		Address:       C.GoString(C.quoit_topology_get_node_address(c, process)),
		Assumptions:   NodeAssumptions(C.quoit_topology_get_node_assumptions(c, process)),
		Environment:   make([]Variable, C.quoit_topology_get_n_variables(c, process)),
		Chips:         make([]int, C.quoit_topology_get_n_chips(c, process)),
		Devices:       make([]int64, C.quoit_topology_get_n_devices(c, process)),
		SliceIDs:      map[Profile]int{},
	}
	// Each step clears the lowest bit that is set.
	for chips := uint64(C.quoit_topology_get_host_chips(c, process)); chips != 0; chips &= chips - 1 {
		result.HostChips = append(result.HostChips, bits.TrailingZeros64(chips))
	}
	for variable := range result.Environment {
		result.Environment[variable] = Variable{
			Name:  C.GoString(C.quoit_topology_get_variable_name(c, process, C.uint32_t(variable))),
			Value: C.GoString(C.quoit_topology_get_variable_value(c, process, C.uint32_t(variable))),
		}
	}
	result.Places = make([]Place, len(result.Chips))
	for chip := range result.Chips {
		result.Chips[chip] = int(C.quoit_topology_get_chip(c, process, C.uint32_t(chip)))
		result.Places[chip] = placeFromC(func(axis C.QuoitAxis) C.uint32_t {
			return C.quoit_topology_get_chip_at(c, process, C.uint32_t(chip), axis)
		})
	}
	for device := range result.Devices {
		result.Devices[device] = int64(C.quoit_topology_get_device(c, process, C.uint32_t(device)))
	}
	for profile := range profileNames {
		if id := C.quoit_topology_find_profile_slice_id(c, process, C.QuoitProfile(profile)); id >= 0 {
			result.SliceIDs[profile] = int(id)
		}
	}
	return result
}

// Close frees the topology. A second Close does nothing.
func (t *Topology) Close() {
	if t != nil {
		t.h.Close()
	}
}

// --- renumbering ---

// ProcessChange is how a change of a group affects a process.
type ProcessChange int

// The changes of a process.
const (
	ProcessSame    ProcessChange = C.QUOIT_PROCESS_SAME    // the ids and the environment are the same
	ProcessChanged ProcessChange = C.QUOIT_PROCESS_CHANGED // the ids are the same, the environment differs
	ProcessMoved   ProcessChange = C.QUOIT_PROCESS_MOVED   // the process id, slice id or worker id differs
	ProcessJoined  ProcessChange = C.QUOIT_PROCESS_JOINED  // the process is new
	ProcessLeft    ProcessChange = C.QUOIT_PROCESS_LEFT    // the process is gone
)

var processChangeNames = map[ProcessChange]string{
	ProcessSame: "SAME", ProcessChanged: "CHANGED", ProcessMoved: "MOVED", ProcessJoined: "JOINED", ProcessLeft: "LEFT",
}

// String returns the name of the change.
func (c ProcessChange) String() string { return nameOf(processChangeNames, c) }

// Renumbering is how a change of a group affects each of its processes.
type Renumbering struct {
	Rows    []RenumberingRow // first the present processes by process id, then those that are gone by their former id
	Changed int              // number of rows that are not ProcessSame; if it is 0, no process needs an update
}

// ProcessIDs is the ids of a process before or after a change; -1 for an id that it does not have.
type ProcessIDs struct {
	ProcessID, SliceID, WorkerID int
}

// RenumberingRow is the change of one process.
type RenumberingRow struct {
	Change        ProcessChange
	Node, Slice   string // the present names of its node and slice, or the last ones if the process is gone
	Counterpart   string // the node that a new process replaces, or that replaces a process that is gone; else ""
	Before, After ProcessIDs
	Variables     []VariableChange // the variables that differ, sorted by name; all of a process that is new or gone
}

// VariableChange is the change of a variable of the environment.
type VariableChange struct {
	Name          string
	Before, After *string // the values; nil if the variable is not set
}

// Renumber compares two topologies of one group in the same profile. nil stands for a group without processes.
//
// It fails with Invalid if one of them was closed.
func Renumber(before, after *Topology) (*Renumbering, error) {
	cBefore, doneBefore, err := before.useOrNil()
	if err != nil {
		return nil, err
	}
	defer doneBefore()
	cAfter := cBefore
	if after != before { // one goroutine must not use a handle twice, because its lock is not recursive
		var doneAfter func()
		if cAfter, doneAfter, err = after.useOrNil(); err != nil {
			return nil, err
		}
		defer doneAfter()
	}
	c := C.quoit_renumbering_new(cBefore, cAfter)
	defer C.quoit_renumbering_free(c)
	renumbering := &Renumbering{
		Rows: make([]RenumberingRow, C.quoit_renumbering_get_n_rows(c)),
	}
	for row := range renumbering.Rows {
		renumbering.Rows[row] = renumberingRowFromC(c, C.uint32_t(row))
		if renumbering.Rows[row].Change != ProcessSame {
			renumbering.Changed++
		}
	}
	return renumbering, nil
}

// useOrNil returns the C object, or NULL for nil, and the function that ends the use.
func (t *Topology) useOrNil() (*C.QuoitTopology, func(), error) {
	if t == nil {
		return nil, func() {}, nil
	}
	pointer, err := t.h.Use()
	if err != nil {
		return nil, nil, err
	}
	return (*C.QuoitTopology)(pointer), t.h.Done, nil
}

func renumberingRowFromC(c *C.QuoitRenumbering, row C.uint32_t) RenumberingRow {
	variables := make([]VariableChange, C.quoit_renumbering_get_n_variables(c, row))
	for index := range variables {
		variable := C.uint32_t(index)
		variables[index] = VariableChange{
			Name:   C.GoString(C.quoit_renumbering_get_variable_name(c, row, variable)),
			Before: copyStringOrNil(C.quoit_renumbering_get_variable_value(c, row, variable, C.QUOIT_RENUMBERING_BEFORE)),
			After:  copyStringOrNil(C.quoit_renumbering_get_variable_value(c, row, variable, C.QUOIT_RENUMBERING_AFTER)),
		}
	}
	return RenumberingRow{
		Change:      ProcessChange(C.quoit_renumbering_get_change(c, row)),
		Node:        C.GoString(C.quoit_renumbering_get_node_name(c, row)),
		Slice:       C.GoString(C.quoit_renumbering_get_slice_name(c, row)),
		Counterpart: C.GoString(C.quoit_renumbering_get_counterpart(c, row)),
		Before: ProcessIDs{
			ProcessID: int(C.quoit_renumbering_get_process(c, row, C.QUOIT_RENUMBERING_BEFORE)),
			SliceID:   int(C.quoit_renumbering_get_slice_id(c, row, C.QUOIT_RENUMBERING_BEFORE)),
			WorkerID:  int(C.quoit_renumbering_get_worker_id(c, row, C.QUOIT_RENUMBERING_BEFORE)),
		},
		After: ProcessIDs{
			ProcessID: int(C.quoit_renumbering_get_process(c, row, C.QUOIT_RENUMBERING_AFTER)),
			SliceID:   int(C.quoit_renumbering_get_slice_id(c, row, C.QUOIT_RENUMBERING_AFTER)),
			WorkerID:  int(C.quoit_renumbering_get_worker_id(c, row, C.QUOIT_RENUMBERING_AFTER)),
		},
		Variables: variables,
	}
}

func copyStringOrNil(text *C.char) *string {
	if text == nil {
		return nil
	}
	value := C.GoString(text)
	return &value
}
