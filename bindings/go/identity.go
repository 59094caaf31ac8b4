// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/cconv"
)

// JAXClusterKind is the environment in which JAX finds its cluster on a TPU host. JAX also detects Open MPI and Slurm,
// which it checks first, and Kubernetes without TPUs, which it checks last. quoit does not model these.
type JAXClusterKind int

// The kinds of clusters.
const (
	JAXClusterNone   JAXClusterKind = C.QUOIT_JAX_CLUSTER_NONE    // JAX finds no cluster
	JAXClusterGCETPU JAXClusterKind = C.QUOIT_JAX_CLUSTER_GCE_TPU // "gcetpu", a TPU VM, from its metadata server
	JAXClusterGKETPU JAXClusterKind = C.QUOIT_JAX_CLUSTER_GKE_TPU // "gketpu", a pod, from its environment
)

var jaxClusterKindNames = map[JAXClusterKind]string{
	JAXClusterNone: "NONE", JAXClusterGCETPU: "GCE_TPU", JAXClusterGKETPU: "GKE_TPU",
}

// String returns the name of the kind.
func (k JAXClusterKind) String() string { return nameOf(jaxClusterKindNames, k) }

// JAXProcess is the input of JAX's cluster detection in one process. Nothing is read from the calling process.
type JAXProcess struct {
	Environment map[string]string
	// Metadata is the content of the metadata server, with the keys "agent-worker-number",
	// "worker-network-endpoints" and "tpu-env"; nil if no server answers.
	Metadata map[string]string
	// Addresses is the content of the file that TPU_PROCESS_ADDRESSES_PATH names; nil if it cannot be read.
	Addresses *string
}

// JAXCluster is the cluster that JAX 0.12.0.1 finds for one process. JAX derives each fact separately, so one method
// can fail while others succeed. A JAXCluster does not change, and any number of goroutines can use it. Close frees it;
// the garbage collector does so if you do not. Its kind is still available after Close.
type JAXCluster struct {
	Kind JAXClusterKind

	h *cconv.Handle
}

// DetectJAXCluster returns the cluster that jax.distributed.initialize() chooses on a TPU host if it has no arguments:
// a TPU VM if the metadata has an agent-worker-number and TPU_SKIP_MDS_QUERY is not set, else a pod if the environment
// lists workers.
//
// It fails with Invalid if the detection raises an error in JAX, because the file that TPU_PROCESS_ADDRESSES_PATH names
// is empty or cannot be read, and for a name with a '='.
func DetectJAXCluster(process JAXProcess) (*JAXCluster, error) {
	return process.newCluster(func(env, metadata **C.char, addresses *C.char, gerror **C.GError) *C.QuoitJaxCluster {
		return C.quoit_jax_cluster_detect(env, metadata, addresses, gerror)
	})
}

// JAXClusterOf returns the cluster that JAX finds if it is forced to use one kind, without detection.
//
// It fails with Invalid for an unknown kind, and for a name with a '='.
func JAXClusterOf(kind JAXClusterKind, process JAXProcess) (*JAXCluster, error) {
	if _, known := jaxClusterKindNames[kind]; !known {
		return nil, cconv.InvalidError("kind '%v': expected JAXClusterNone, JAXClusterGCETPU or JAXClusterGKETPU", kind)
	}
	return process.newCluster(func(env, metadata **C.char, addresses *C.char, _ **C.GError) *C.QuoitJaxCluster {
		return C.quoit_jax_cluster_new(C.QuoitJaxClusterKind(kind), env, metadata, addresses)
	})
}

// newCluster converts the input to C, and returns the cluster that find finds for it.
func (p *JAXProcess) newCluster(
	find func(env, metadata **C.char, addresses *C.char, gerror **C.GError) *C.QuoitJaxCluster) (*JAXCluster, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	defer arguments.Free()
	env := (**C.char)(arguments.Pairs("environment", p.Environment))
	metadata := (**C.char)(arguments.Pairs("metadata", p.Metadata))
	addresses := (*C.char)(arguments.TextUnlessNil("addresses", p.Addresses))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := find(env, metadata, addresses, &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newJAXCluster(c), nil
}

func newJAXCluster(c *C.QuoitJaxCluster) *JAXCluster {
	free := func(p unsafe.Pointer) { C.quoit_jax_cluster_free((*C.QuoitJaxCluster)(p)) }
	return &JAXCluster{JAXClusterKind(C.quoit_jax_cluster_get_kind(c)), cconv.NewHandle("cluster", unsafe.Pointer(c), free)}
}

// JAXCluster returns the cluster that JAX chooses in the environment of one process of the topology, without a metadata
// server and readable files: DetectJAXCluster of that environment. Host lists, which all processes of a slice share,
// are not copied, so that the cost of one call does not depend on their length.
//
// It fails with Invalid if there is no such process, if TPU_PROCESS_ADDRESSES_PATH names a file, and after Close.
func (t *Topology) JAXCluster(process int) (*JAXCluster, error) {
	if t == nil {
		return nil, closedError("nil topology")
	}
	if process < 0 || process >= len(t.Processes) {
		return nil, cconv.InvalidError("process '%d': expected 0 to %d", process, len(t.Processes)-1)
	}
	pointer, err := t.h.Use()
	if err != nil {
		return nil, err
	}
	defer t.h.Done()
	var gerror *C.GError
	c := C.quoit_jax_cluster_detect_process((*C.QuoitTopology)(pointer), C.uint32_t(process), &gerror)
	if err := errorFromC(gerror); err != nil {
		return nil, err
	}
	return newJAXCluster(c), nil
}

// Close frees the cluster; later calls fail. A second Close does nothing.
func (j *JAXCluster) Close() {
	if j != nil {
		j.h.Close()
	}
}

func (j *JAXCluster) with(run func(*C.QuoitJaxCluster, **C.GError)) error {
	if j == nil {
		return closedError("nil cluster")
	}
	pointer, err := j.h.Use()
	if err != nil {
		return err
	}
	defer j.h.Done()
	var gerror *C.GError
	run((*C.QuoitJaxCluster)(pointer), &gerror)
	return errorFromC(gerror)
}

// Workers returns the hosts or addresses of the processes of the slice, unchanged: JAX does not strip blanks, and two
// adjacent commas enclose an empty entry.
//
// It fails with Invalid if the list cannot be read, and with NotFound for JAXClusterNone.
func (j *JAXCluster) Workers() (workers []string, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		workers = cconv.MoveStrings(unsafe.Pointer(C.quoit_jax_cluster_list_workers(c, gerror)))
	})
	return workers, err
}

// Coordinator returns the address where JAX connects the processes, "HOST:PORT". The host is
// MEGASCALE_COORDINATOR_ADDRESS or else the first worker, up to its first colon (which breaks IPv6 addresses). The port
// is JAX_COORDINATOR_PORT or else 8482. Coordinator does not resolve the host.
//
// It fails with Invalid if the list of workers is needed and cannot be read, or if the cluster is a pod whose
// TPU_PROCESS_ADDRESSES_PATH names a file that is empty or cannot be read. It fails with NotFound for JAXClusterNone.
func (j *JAXCluster) Coordinator() (coordinator string, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		coordinator = moveString(C.quoit_jax_cluster_dup_coordinator(c, gerror))
	})
	return coordinator, err
}

// CountProcesses returns the number of processes of the job: the number of workers times MEGASCALE_NUM_SLICES, or times
// 1 if that is unset or empty. JAX checks no range, so the result can be 0 or less.
//
// It fails with Invalid if a number is not valid for Python's int() or exceeds 64 bits, or the list of workers cannot
// be read, and with NotFound for JAXClusterNone.
func (j *JAXCluster) CountProcesses() (count int64, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		var found C.int64_t
		C.quoit_jax_cluster_count_processes(c, &found, gerror)
		count = int64(found)
	})
	return count, err
}

// ProcessID returns the process id: the worker's number in its slice plus the number of workers per slice times
// MEGASCALE_SLICE_ID, which is 0 if unset or empty. JAX checks no range, so the result can be negative or not below the
// number of processes.
//
// It fails with Invalid if a number is missing, not valid for Python's int(), or exceeds 64 bits, or the list of
// workers cannot be read, and with NotFound for JAXClusterNone.
func (j *JAXCluster) ProcessID() (id int64, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		var found C.int64_t
		C.quoit_jax_cluster_find_process_id(c, &found, gerror)
		id = int64(found)
	})
	return id, err
}

// JAXBounds is how the chips of a host are divided among its processes.
type JAXBounds struct {
	Process         string // the value of TPU_PROCESS_BOUNDS, "2,2,1"
	ChipsPerProcess string // the value of TPU_CHIPS_PER_PROCESS_BOUNDS, "1,1,1"
}

// JAXProcessBounds returns how JAX divides the chips of a host among several processes. generation has any system's
// spelling, or one of JAX's: "plc", "tpu8i", "tpu8t". If either number is 0, JAX sets no bounds and both texts are
// empty.
//
// It fails with Invalid if JAX does not know a host with so many chips, or does not divide its chips in this way; the
// message has the valid numbers.
func JAXProcessBounds(generation string, hostChips, chipsPerProcess int64) (JAXBounds, error) {
	var arguments cconv.Arguments
	var gerror *C.GError
	var processBounds, chipBounds *C.char
	name := (*C.char)(arguments.Text("generation", generation))
	if err := arguments.Err(); err != nil {
		return JAXBounds{}, err
	}
	C.quoit_jax_process_bounds(name, C.int64_t(hostChips), C.int64_t(chipsPerProcess), &processBounds, &chipBounds, &gerror)
	if err := errorFromC(gerror); err != nil {
		return JAXBounds{}, err
	}
	return JAXBounds{C.GoString(processBounds), C.GoString(chipBounds)}, nil
}
