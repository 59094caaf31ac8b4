// SPDX-License-Identifier: Apache-2.0

package ray

/*
#include <stdlib.h>
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"time"
	"unsafe"

	"quoit/internal/door"
)

// Accelerators is what workers compute with.
type Accelerators int

// What workers may compute with.
const (
	UseNone Accelerators = C.QUOIT_RAY_USE_NONE
	UseGPU  Accelerators = C.QUOIT_RAY_USE_GPU
	UseTPU  Accelerators = C.QUOIT_RAY_USE_TPU
	UseBoth Accelerators = C.QUOIT_RAY_USE_BOTH // which Ray refuses
)

// WorkerRange is how many workers an elastic job may have.
type WorkerRange struct {
	Min, Max int64
}

// Scaling is the arguments of a ScalingConfig, as a JaxTrainer takes it.
type Scaling struct {
	Workers         *int64       // num_workers; nil: 1
	Range           *WorkerRange // num_workers as a range, in place of Workers: the job is elastic, also where both are equal
	Accelerators    Accelerators
	Topology        string    // "4x4", of each slice; "" for none
	AcceleratorType string    // "TPU-V6E"; "" for none
	PerWorker       Resources // resources_per_worker; nil is not the same as nothing
	ResourcePerChip *int64    // the driver's RAY_TPU_RESOURCE_PER_CHIP; nil: 1
	Strategy        string    // placement_strategy; "" is PACK. Ray checks it when it makes the group
	// MonitorInterval is how often the size of a job that runs is looked at; nil: each 60 s.
	MonitorInterval *time.Duration
	Selector        Labels   // label_selector, one for all workers; nil: none was given
	Selectors       []Labels // label_selector as a list, one for each of the most workers, in place of Selector; nil: none
}

// TrainPlan is arguments that Ray accepts, and what they mean. It does not change, and any number of goroutines may ask
// it. Close frees it; the garbage collector does where that is forgotten. Its fields are there also then.
type TrainPlan struct {
	MinWorkers      int64
	MaxWorkers      int64
	IsElastic       bool      // a range of workers was asked for
	PerWorker       Resources // what each worker asks for; a type adds 0.001 of "accelerator_type:TPU-V6E"
	Total           Resources // what the most workers ask for together
	WorkersPerSlice int64     // 0 where the job asks for no slices
	Strategy        string    // of the placement group

	h *door.Handle
}

func (s *Scaling) opened(a *call) *C.QuoitRayScaling {
	topology, kind := a.textOrNull("topology", s.Topology), a.textOrNull("accelerator type", s.AcceleratorType)
	per, strategy := a.resourcesOrNil("resources", s.PerWorker), a.text("strategy", s.Strategy)
	selector := a.labelsOrNil("selector", s.Selector)
	selectors := C.calloc(C.size_t(len(s.Selectors)+1), C.size_t(unsafe.Sizeof(uintptr(0))))
	defer C.free(selectors)
	entries := unsafe.Slice((**C.QuoitRayLabels)(selectors), len(s.Selectors)+1)
	for index, labels := range s.Selectors {
		entries[index] = a.labelsOf("selector", labels)
	}
	c := C.quoit_ray_scaling_new()
	if a.Err() != nil {
		return c
	}
	if s.Workers != nil {
		C.quoit_ray_scaling_set_n_workers(c, C.int64_t(*s.Workers))
	}
	if s.Range != nil {
		C.quoit_ray_scaling_set_worker_range(c, C.int64_t(s.Range.Min), C.int64_t(s.Range.Max))
	}
	C.quoit_ray_scaling_set_accelerators(c, C.QuoitRayAccelerators(s.Accelerators))
	C.quoit_ray_scaling_set_topology(c, topology)
	C.quoit_ray_scaling_set_accelerator_type(c, kind)
	C.quoit_ray_scaling_set_resources(c, per)
	if s.ResourcePerChip != nil {
		C.quoit_ray_scaling_set_resource_per_chip(c, C.int64_t(*s.ResourcePerChip))
	}
	if s.Strategy != "" {
		C.quoit_ray_scaling_set_strategy(c, strategy)
	}
	if s.MonitorInterval != nil {
		C.quoit_ray_scaling_set_monitor_interval(c, C.int64_t(*s.MonitorInterval/time.Millisecond))
	}
	if s.Selectors != nil {
		C.quoit_ray_scaling_set_selectors(c, (**C.QuoitRayLabels)(selectors), C.unsigned(len(s.Selectors)))
	} else if selector != nil {
		C.quoit_ray_scaling_set_selector(c, selector)
	}
	return c
}

// Plan checks the arguments as Ray does. Whether the topology exists is not checked, as by Ray.
//
// It fails with Invalid when numbers are below 0 or in the wrong order; when TPU or GPU are asked for and not used, or used
// and none are asked for; when several workers on TPU have no topology, no type, or a selector; when WorkerResources
// fails; when the workers do not fill whole slices; or when there are not as many selectors as the most workers.
func (s Scaling) Plan() (*TrainPlan, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	scaling := s.opened(&a)
	defer C.quoit_ray_scaling_free(scaling)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_train_plan_new(scaling, &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	free := func(p unsafe.Pointer) { C.quoit_ray_train_plan_free((*C.QuoitRayTrainPlan)(p)) }
	return &TrainPlan{
		MinWorkers:      int64(C.quoit_ray_train_plan_get_min_workers(c)),
		MaxWorkers:      int64(C.quoit_ray_train_plan_get_max_workers(c)),
		IsElastic:       C.quoit_ray_train_plan_is_elastic(c) == 1,
		PerWorker:       resourcesOf(C.quoit_ray_train_plan_get_resources(c)),
		Total:           takenResources(C.quoit_ray_train_plan_dup_total_resources(c)),
		WorkersPerSlice: int64(C.quoit_ray_train_plan_get_workers_per_slice(c)),
		Strategy:        borrowed(C.quoit_ray_train_plan_get_strategy(c)),
		h:               door.NewHandle("plan", unsafe.Pointer(c), free),
	}, nil
}

// Close frees what the plan keeps; calls that come later fail. To close twice does nothing.
func (p *TrainPlan) Close() {
	if p != nil {
		p.h.Close()
	}
}

func (p *TrainPlan) with(run func(*C.QuoitRayTrainPlan) error) error {
	pointer, err := p.h.Use()
	if err != nil {
		return err
	}
	defer p.h.Done()
	return run((*C.QuoitRayTrainPlan)(pointer))
}

// Slices is how many Ray takes so many workers to fill; 1 where the job asks for none.
//
// It fails with Invalid after Close.
func (p *TrainPlan) Slices(workers int64) (slices int64, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		slices = int64(C.quoit_ray_train_plan_n_slices(c, C.int64_t(workers)))
		return nil
	})
	return slices, err
}

// SliceGroup is what Ray asks for to run so many workers on slices; nil: a plain placement group.
//
// It fails as SlicePlacementGroup does.
func (p *TrainPlan) SliceGroup(workers int64) (group *SliceGroup, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		var a call
		asked := C.quoit_ray_train_plan_dup_slice_request(c, C.int64_t(workers))
		if asked == nil {
			return nil
		}
		defer C.quoit_ray_slice_request_free(asked)
		group, err = sliceGroupOf(&a, asked, nil)
		return err
	})
	return group, err
}

// UsesSlices says whether Ray runs so many workers on slices, and not in a plain placement group.
//
// It fails with Invalid after Close.
func (p *TrainPlan) UsesSlices(workers int64) (uses bool, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		asked := C.quoit_ray_train_plan_dup_slice_request(c, C.int64_t(workers))
		uses = asked != nil
		C.quoit_ray_slice_request_free(asked)
		return nil
	})
	return uses, err
}

// Labels is what a worker, 0 for the first, selects its node by; nil where none were given.
//
// It fails with Invalid after Close.
func (p *TrainPlan) Labels(worker int64) (labels Labels, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		labels = labelsFrom(C.quoit_ray_train_plan_get_labels(c, C.int64_t(worker)))
		return nil
	})
	return labels, err
}

// CountPossible is how many workers an elastic job would run on nodes that have so much for it: as many as fit on each in
// floating-point numbers, so that five times 0.1 holds four, at most the most workers, and in slices only those that are
// whole. Intact is NodeList.Slices; nil where Ray could not tell.
//
// It fails with Invalid where Ray does: for workers that ask for less than nothing, and for nodes that have no finite
// amount.
func (p *TrainPlan) CountPossible(reserved []Resources, intact *int64) (workers int64, err error) {
	var a call
	defer a.free()
	nodes := C.calloc(C.size_t(len(reserved)+1), C.size_t(unsafe.Sizeof(uintptr(0))))
	defer C.free(nodes)
	entries := unsafe.Slice((**C.QuoitRayResources)(nodes), len(reserved)+1)
	for index, resources := range reserved {
		if resources == nil {
			resources = Resources{}
		}
		entries[index] = a.resourcesOrNil("resources", resources)
	}
	if err := a.Err(); err != nil {
		return 0, err
	}
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		var count C.int64_t
		var gerror *C.GError
		C.quoit_ray_train_count_possible(c, (**C.QuoitRayResources)(nodes), C.unsigned(len(reserved)),
			number(intact), &count, &gerror)
		if err := take(gerror); err != nil {
			return err
		}
		workers = int64(count)
		return nil
	})
	return workers, err
}

// Starts says whether an elastic job that does not run is started with so many workers as CountPossible says; nil where
// that is not known.
//
// It fails with Invalid after Close.
func (p *TrainPlan) Starts(possible *int64) (starts bool, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		starts = C.quoit_ray_train_starts(c, number(possible)) == 1
		return nil
	})
	return starts, err
}

// Looks says whether it is time to look at the size of an elastic job that runs, by one clock that counts from anywhere:
// when its workers were started, when its size was last looked at (nil: never), and now. If so, now is the next looked.
//
// It fails with Invalid after Close.
func (p *TrainPlan) Looks(started time.Duration, looked *time.Duration, now time.Duration) (looks bool, err error) {
	var last *int64
	if looked != nil {
		ms := int64(*looked / time.Millisecond)
		last = &ms
	}
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		looks = C.quoit_ray_train_looks(c, C.int64_t(started/time.Millisecond), number(last),
			C.int64_t(now/time.Millisecond)) == 1
		return nil
	})
	return looks, err
}

// Resizes says whether an elastic job that runs so many workers, and whose size is looked at, is started again with so many
// as CountPossible says; nil where that is not known.
//
// It fails with Invalid after Close.
func (p *TrainPlan) Resizes(running int64, possible *int64) (resizes bool, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		resizes = C.quoit_ray_train_resizes(c, C.int64_t(running), number(possible)) == 1
		return nil
	})
	return resizes, err
}

// --- ranks ---

// Rank is the worker of one world rank.
type Rank struct {
	Worker    int // its place in what was given
	LocalRank int // its place among those of its node
	LocalSize int // the workers on its node
	NodeRank  int // of its node, in the order in which ranks come to nodes
}

func ranksOf(c *C.QuoitRayRanks, count int) []Rank {
	ranks := make([]Rank, count)
	for index := range ranks {
		rank := C.unsigned(index)
		ranks[index] = Rank{
			Worker:    int(C.quoit_ray_ranks_get_worker(c, rank)),
			LocalRank: int(C.quoit_ray_ranks_get_local_rank(c, rank)),
			LocalSize: int(C.quoit_ray_ranks_get_local_size(c, rank)),
			NodeRank:  int(C.quoit_ray_ranks_get_node_rank(c, rank)),
		}
	}
	return ranks
}

// RankBySlice ranks workers with TPU, given in the order of bundles by the TPU_NAME of their process (nil: none) and the
// address of their node: by the name of their slice as text, "s-10" before "s-9", and within a slice as they come.
//
// It fails with Invalid when there are not as many addresses as names.
func RankBySlice(slices []*string, nodes []string) ([]Rank, error) {
	var a call
	defer a.free()
	if len(slices) != len(nodes) {
		return nil, door.Invalid("nodes: expected %d, one a worker, found %d", len(slices), len(nodes))
	}
	names, addresses := (**C.char)(a.TextsOrNil("slices", slices)), a.texts("nodes", nodes)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_ranks_new_by_slice(names, addresses, C.unsigned(len(nodes)))
	defer C.quoit_ray_ranks_free(c)
	return ranksOf(c, len(nodes)), nil
}

// RankByNode ranks workers without TPU, given in the order of bundles by the id of their node: in the order in which nodes
// first come, and on a node by their lowest GPU (nil: workers without). First is the id of the node that comes first
// whoever is there; nil: none.
//
// It fails with Invalid when there are GPUs, and not as many as workers.
func RankByNode(nodeIDs []string, lowestGPU []int64, first *string) ([]Rank, error) {
	var a call
	var lowest *C.int64_t
	defer a.free()
	if lowestGPU != nil && len(lowestGPU) != len(nodeIDs) {
		return nil, door.Invalid("lowest GPU: expected %d, one a worker, found %d", len(nodeIDs), len(lowestGPU))
	}
	if len(lowestGPU) > 0 {
		lowest = number(&lowestGPU[0])
	}
	ids, leader := a.texts("nodes", nodeIDs), a.textOrNil("first", first)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_ranks_new_by_node(ids, lowest, leader, C.unsigned(len(nodeIDs)))
	defer C.quoit_ray_ranks_free(c)
	return ranksOf(c, len(nodeIDs)), nil
}

// SliceID is the slice that the JAX backend takes a worker to be in, by its rank alone; workers beyond what the slices hold
// are in the last.
func SliceID(rank, workersPerSlice, slices int64) int64 {
	return int64(C.quoit_ray_train_slice_id(C.int64_t(rank), C.int64_t(workersPerSlice), C.int64_t(slices)))
}

// --- failures ---

// FailureKind is what went wrong with a run.
type FailureKind int

// What may go wrong.
const (
	WorkerFailure     FailureKind = C.QUOIT_RAY_FAILURE_WORKER          // a worker failed
	StartupFailed     FailureKind = C.QUOIT_RAY_FAILURE_STARTUP_FAILED  // the workers could not be started
	StartupTimeout    FailureKind = C.QUOIT_RAY_FAILURE_STARTUP_TIMEOUT // they were not started in time
	Preemption        FailureKind = C.QUOIT_RAY_FAILURE_PREEMPTION      // a node was taken away
	ControllerFailure FailureKind = C.QUOIT_RAY_FAILURE_CONTROLLER      // anything else
)

// FailureLimits are how often each kind of failure may happen, counted for itself; -1 is no limit. Ray's own are 0, -1, -1.
type FailureLimits struct {
	Worker     int64 // max_failures
	Controller int64 // controller_failure_limit, for starts that fail or take too long
	Preemption int64 // max_preemption_failures
}

// Retries says of each failure in its turn whether the run is started again after it (true), or ends.
func (l FailureLimits) Retries(failures []FailureKind) []bool {
	c := C.quoit_ray_failures_new(C.int64_t(l.Worker), C.int64_t(l.Controller), C.int64_t(l.Preemption))
	defer C.quoit_ray_failures_free(c)
	retries := make([]bool, len(failures))
	for index, kind := range failures {
		retries[index] = C.quoit_ray_failures_retries(c, C.QuoitRayFailureKind(kind)) == 1
	}
	return retries
}
