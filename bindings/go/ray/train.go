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

	"quoit/internal/cconv"
)

// Accelerators is the accelerators that workers use.
type Accelerators int

// The accelerators.
const (
	UseNone Accelerators = C.QUOIT_RAY_USE_NONE
	UseGPU  Accelerators = C.QUOIT_RAY_USE_GPU
	UseTPU  Accelerators = C.QUOIT_RAY_USE_TPU
	UseBoth Accelerators = C.QUOIT_RAY_USE_BOTH // refused by Ray
)

// WorkerRange is the number of workers that an elastic job can have.
type WorkerRange struct {
	Min, Max int64
}

// Scaling has the arguments of Ray Train's ScalingConfig for a JaxTrainer.
type Scaling struct {
	Workers         *int64       // num_workers; nil stands for 1
	Range           *WorkerRange // num_workers as a range, instead of Workers: the job is elastic even if both are equal
	Accelerators    Accelerators
	Topology        string    // "4x4", of each slice; "" for none
	AcceleratorType string    // "TPU-V6E"; "" for none
	PerWorker       Resources // resources_per_worker; nil differs from an empty list
	ResourcePerChip *int64    // the driver's RAY_TPU_RESOURCE_PER_CHIP; nil stands for 1
	Strategy        string    // placement_strategy; "" stands for PACK; not validated, as Ray does this only on creation
	// MonitorInterval is how often the size of a running job is checked; nil stands for 60 s.
	MonitorInterval *time.Duration
	Selector        Labels   // label_selector for all workers; nil if not given
	Selectors       []Labels // label_selector as a list, instead of Selector: one for each of the maximum of workers
}

// TrainPlan is what Ray Train computes from a Scaling. It does not change, and any number of goroutines can use it.
// Close frees it; the garbage collector does so if you do not. Its fields are still available after Close.
type TrainPlan struct {
	MinWorkers      int64
	MaxWorkers      int64
	IsElastic       bool      // a range of workers was given
	PerWorker       Resources // of each worker; an accelerator type adds 0.001 of "accelerator_type:TPU-V6E"
	Total           Resources // of all workers, if the job has MaxWorkers
	WorkersPerSlice int64     // 0 if the job does not request slices
	Strategy        string    // the strategy of the placement group

	h *cconv.Handle
}

// toC converts the arguments to a C object, which the caller frees. If an argument cannot be converted, the object is
// incomplete.
func (s *Scaling) toC(a *call) *C.QuoitRayScaling {
	topology, kind := a.textUnlessEmpty("topology", s.Topology), a.textUnlessEmpty("accelerator type", s.AcceleratorType)
	per, strategy := a.resourcesUnlessNil("resources", s.PerWorker), a.text("strategy", s.Strategy)
	selector := a.labelsUnlessNil("selector", s.Selector)
	selectors := C.calloc(C.size_t(len(s.Selectors)+1), C.size_t(unsafe.Sizeof(uintptr(0))))
	defer C.free(selectors)
	entries := unsafe.Slice((**C.QuoitRayLabels)(selectors), len(s.Selectors)+1)
	for index, labels := range s.Selectors {
		entries[index] = a.labelsOrEmpty("selector", labels)
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
		C.quoit_ray_scaling_set_selectors(c, (**C.QuoitRayLabels)(selectors), C.uint32_t(len(s.Selectors)))
	} else if selector != nil {
		C.quoit_ray_scaling_set_selector(c, selector)
	}
	return c
}

// Plan validates the arguments like Ray. Like Ray, it does not check that the topology exists.
//
// It fails with Invalid if numbers are negative or in the wrong order, if Accelerators and PerWorker contradict each
// other about TPU or GPU, if there are several TPU workers without a topology, without a type, or with a selector, if
// WorkerResources fails, if the workers do not fill whole slices, or if the number of selectors is not the maximum of
// workers.
func (s Scaling) Plan() (*TrainPlan, error) {
	var a call
	var gerror *C.GError
	defer a.free()
	scaling := s.toC(&a)
	defer C.quoit_ray_scaling_free(scaling)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_train_plan_new(scaling, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	free := func(p unsafe.Pointer) { C.quoit_ray_train_plan_free((*C.QuoitRayTrainPlan)(p)) }
	return &TrainPlan{
		MinWorkers:      int64(C.quoit_ray_train_plan_get_min_workers(c)),
		MaxWorkers:      int64(C.quoit_ray_train_plan_get_max_workers(c)),
		IsElastic:       bool(C.quoit_ray_train_plan_is_elastic(c)),
		PerWorker:       resourcesFromC(C.quoit_ray_train_plan_get_resources(c)),
		Total:           moveResources(C.quoit_ray_train_plan_dup_total_resources(c)),
		WorkersPerSlice: int64(C.quoit_ray_train_plan_get_workers_per_slice(c)),
		Strategy:        copyString(C.quoit_ray_train_plan_get_strategy(c)),
		h:               cconv.NewHandle("plan", unsafe.Pointer(c), free),
	}, nil
}

// Close frees the plan; later calls fail. A second Close does nothing.
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

// Slices returns the number of slices that Ray uses for a number of workers; 1 if the job does not request slices.
//
// It fails with Invalid after Close.
func (p *TrainPlan) Slices(workers int64) (slices int64, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		slices = int64(C.quoit_ray_train_plan_n_slices(c, C.int64_t(workers)))
		return nil
	})
	return slices, err
}

// SliceGroup returns what Ray requests to run a number of workers on slices; nil if it uses a plain placement group.
//
// It fails like SlicePlacementGroup.
func (p *TrainPlan) SliceGroup(workers int64) (group *SliceGroup, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		var a call
		request := C.quoit_ray_train_plan_dup_slice_request(c, C.int64_t(workers))
		if request == nil {
			return nil
		}
		defer C.quoit_ray_slice_request_free(request)
		group, err = newSliceGroup(&a, request, nil)
		return err
	})
	return group, err
}

// UsesSlices reports whether Ray runs a number of workers on slices, and not in a plain placement group.
//
// It fails with Invalid after Close.
func (p *TrainPlan) UsesSlices(workers int64) (uses bool, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		request := C.quoit_ray_train_plan_dup_slice_request(c, C.int64_t(workers))
		uses = request != nil
		C.quoit_ray_slice_request_free(request)
		return nil
	})
	return uses, err
}

// Labels returns the selector of a worker, counted from 0; nil if none was given.
//
// It fails with Invalid after Close.
func (p *TrainPlan) Labels(worker int64) (labels Labels, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		labels = labelsFromC(C.quoit_ray_train_plan_get_labels(c, C.int64_t(worker)))
		return nil
	})
	return labels, err
}

// CountPossible returns the number of workers that an elastic job would run on nodes with the given resources. It sums
// up how many workers fit on each node, and computes like Ray in floating point: a node whose amount is the sum of five
// times 0.1 has room for four workers of 0.1. The result is at most the maximum of workers, and if the job requests
// slices, only whole slices count. intact is the result of NodeList.Slices; nil if Ray does not know it.
//
// It fails with Invalid like Ray: for workers with negative resources, and for nodes without a finite amount.
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
		entries[index] = a.resourcesUnlessNil("resources", resources)
	}
	if err := a.Err(); err != nil {
		return 0, err
	}
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		var count C.int64_t
		var gerror *C.GError
		C.quoit_ray_train_count_possible(c, (**C.QuoitRayResources)(nodes), C.uint32_t(len(reserved)),
			cNumber(intact), &count, &gerror)
		if err := errorFromC(gerror); err != nil {
			return err
		}
		workers = int64(count)
		return nil
	})
	return workers, err
}

// WouldStart reports whether Ray would start an elastic job that is not running. possible is the result of
// CountPossible; nil if it is unknown.
//
// It fails with Invalid after Close.
func (p *TrainPlan) WouldStart(possible *int64) (starts bool, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		starts = bool(C.quoit_ray_train_would_start(c, cNumber(possible)))
		return nil
	})
	return starts, err
}

// IsResizeCheckDue reports whether Ray would now check whether to resize a running elastic job. started is when its
// workers started, and checked is when the last check was; nil if there was none. All times are from the same clock,
// with any origin. If the result is true, pass now as checked in the next calls.
//
// It fails with Invalid after Close.
func (p *TrainPlan) IsResizeCheckDue(
	started time.Duration, checkText *time.Duration, now time.Duration,
) (isDue bool, err error) {
	var last *int64
	if checkText != nil {
		ms := int64(*checkText / time.Millisecond)
		last = &ms
	}
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		isDue = bool(C.quoit_ray_train_is_resize_check_due(c, C.int64_t(started/time.Millisecond), cNumber(last),
			C.int64_t(now/time.Millisecond)))
		return nil
	})
	return isDue, err
}

// WouldResize reports whether a resize check of Ray would restart an elastic job that has a number of running workers.
// possible is the result of CountPossible; nil if it is unknown.
//
// It fails with Invalid after Close.
func (p *TrainPlan) WouldResize(running int64, possible *int64) (resizes bool, err error) {
	err = p.with(func(c *C.QuoitRayTrainPlan) error {
		resizes = bool(C.quoit_ray_train_would_resize(c, C.int64_t(running), cNumber(possible)))
		return nil
	})
	return resizes, err
}

// --- ranks ---

// Rank is the worker that has a world rank, which is the index of the Rank in its list.
type Rank struct {
	Worker    int // the index of the worker in the input
	LocalRank int // its rank among the workers of its node
	LocalSize int // the number of workers on its node
	NodeRank  int // the rank of its node; the nodes are ordered by the lowest rank on each
}

func ranksFromC(c *C.QuoitRayRanks, count int) []Rank {
	ranks := make([]Rank, count)
	for index := range ranks {
		rank := C.uint32_t(index)
		ranks[index] = Rank{
			Worker:    int(C.quoit_ray_ranks_get_worker(c, rank)),
			LocalRank: int(C.quoit_ray_ranks_get_local_rank(c, rank)),
			LocalSize: int(C.quoit_ray_ranks_get_local_size(c, rank)),
			NodeRank:  int(C.quoit_ray_ranks_get_node_rank(c, rank)),
		}
	}
	return ranks
}

// RankBySlice ranks TPU workers. The workers are given in the order of their bundles: slices is the TPU_NAME of each
// process (nil for none), and nodes is the address of each node. They are sorted by the name of their slice as text,
// "s-10" before "s-9", and keep their order within a slice.
//
// It fails with Invalid if the number of addresses is not that of names.
func RankBySlice(slices []*string, nodes []string) ([]Rank, error) {
	var a call
	defer a.free()
	if len(slices) != len(nodes) {
		return nil, cconv.InvalidError("nodes: expected %d, one per worker, found %d", len(slices), len(nodes))
	}
	names, addresses := (**C.char)(a.TextsOrNulls("slices", slices)), a.texts("nodes", nodes)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_ranks_new_by_slice(names, addresses, C.uint32_t(len(nodes)))
	defer C.quoit_ray_ranks_free(c)
	return ranksFromC(c, len(nodes)), nil
}

// RankByNode ranks workers without TPU. The workers are given in the order of their bundles: nodeIDs is the id of each
// node, and lowestGPU is the lowest GPU of each worker; nil if the workers have no GPUs. They are sorted by the first
// appearance of their node, and on a node by their lowest GPU. first is the id of a node that comes first in any case;
// nil for none.
//
// It fails with Invalid if there are GPUs, but not one for each worker.
func RankByNode(nodeIDs []string, lowestGPU []int64, first *string) ([]Rank, error) {
	var a call
	var lowest *C.int64_t
	defer a.free()
	if lowestGPU != nil && len(lowestGPU) != len(nodeIDs) {
		return nil, cconv.InvalidError("lowest GPU: expected %d, one per worker, found %d", len(nodeIDs), len(lowestGPU))
	}
	if len(lowestGPU) > 0 {
		lowest = cNumber(&lowestGPU[0])
	}
	ids, leader := a.texts("nodes", nodeIDs), a.textUnlessNil("first", first)
	if err := a.Err(); err != nil {
		return nil, err
	}
	c := C.quoit_ray_ranks_new_by_node(ids, lowest, leader, C.uint32_t(len(nodeIDs)))
	defer C.quoit_ray_ranks_free(c)
	return ranksFromC(c, len(nodeIDs)), nil
}

// SliceID returns the slice id that the JAX backend gives to a worker. It depends only on the worker's rank, not on the
// slice of its node. Workers beyond the capacity of the slices belong to the last slice.
func SliceID(rank, workersPerSlice, slices int64) int64 {
	return int64(C.quoit_ray_train_slice_id(C.int64_t(rank), C.int64_t(workersPerSlice), C.int64_t(slices)))
}

// --- failures ---

// FailureKind is the kind of failure that a run has.
type FailureKind int

// The kinds of failures.
const (
	WorkerFailure     FailureKind = C.QUOIT_RAY_FAILURE_WORKER          // a worker failed
	StartupFailed     FailureKind = C.QUOIT_RAY_FAILURE_STARTUP_FAILED  // the workers could not be started
	StartupTimeout    FailureKind = C.QUOIT_RAY_FAILURE_STARTUP_TIMEOUT // the workers were not started in time
	Preemption        FailureKind = C.QUOIT_RAY_FAILURE_PREEMPTION      // a node was preempted
	ControllerFailure FailureKind = C.QUOIT_RAY_FAILURE_CONTROLLER      // anything else
)

// FailureLimits is how many failures of each kind Ray tolerates, counted separately; -1 means no limit. Ray's defaults
// are 0, -1 and -1.
type FailureLimits struct {
	Worker     int64 // max_failures, for WorkerFailure
	Controller int64 // controller_failure_limit, for starts that fail or time out
	Preemption int64 // max_preemption_failures
}

// Retries returns for each failure, in order, whether Ray restarts the run (true) or ends it.
func (l FailureLimits) Retries(failures []FailureKind) []bool {
	c := C.quoit_ray_failures_new(C.int64_t(l.Worker), C.int64_t(l.Controller), C.int64_t(l.Preemption))
	defer C.quoit_ray_failures_free(c)
	retries := make([]bool, len(failures))
	for index, kind := range failures {
		retries[index] = bool(C.quoit_ray_failures_retries(c, C.QuoitRayFailureKind(kind)))
	}
	return retries
}
