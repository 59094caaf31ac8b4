// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/models.h>
#include <quoit/quoit.h>
*/
import "C"

import (
	"unsafe"

	"quoit/internal/door"
)

// JAXClusterKind is which of JAX's ways to find a cluster on a TPU host it takes. JAX looks for Open MPI and Slurm before
// these, and for a Kubernetes without TPUs after them: not modelled.
type JAXClusterKind int

// The kinds of clusters.
const (
	JAXClusterNone   JAXClusterKind = C.QUOIT_JAX_CLUSTER_NONE    // none of these finds one
	JAXClusterGCETPU JAXClusterKind = C.QUOIT_JAX_CLUSTER_GCE_TPU // "gcetpu", a TPU VM by itself, which asks its metadata server
	JAXClusterGKETPU JAXClusterKind = C.QUOIT_JAX_CLUSTER_GKE_TPU // "gketpu", a pod, which asks its environment
)

var jaxClusterKindNames = map[JAXClusterKind]string{
	JAXClusterNone: "NONE", JAXClusterGCETPU: "GCE_TPU", JAXClusterGKETPU: "GKE_TPU",
}

// String is the name of the kind.
func (k JAXClusterKind) String() string { return named(jaxClusterKindNames, k) }

// JAXProcess is what a process of JAX can find out. Nothing is read from the process that asks.
type JAXProcess struct {
	Environment map[string]string
	// Metadata is what the metadata server says: "agent-worker-number", "worker-network-endpoints", "tpu-env"; nil where no
	// server answers.
	Metadata map[string]string
	// Addresses is what is in the file that TPU_PROCESS_ADDRESSES_PATH names; nil: it cannot be read.
	Addresses *string
}

// JAXCluster is the cluster that JAX 0.12.0.1 finds around one process. JAX finds each fact by itself: one that is refused
// leaves others. It does not change, and any number of goroutines may ask it. Close frees it; the garbage collector does
// where that is forgotten. Its kind is there also then.
type JAXCluster struct {
	Kind JAXClusterKind

	h *door.Handle
}

// DetectJAXCluster is the cluster that jax.distributed.initialize(), given no arguments, chooses on a TPU host: a TPU VM by
// itself where the metadata has an agent-worker-number and TPU_SKIP_MDS_QUERY is not set, else a pod where its environment
// lists workers.
//
// It fails with Invalid when JAX gives up while it looks: the file that TPU_PROCESS_ADDRESSES_PATH names is empty or cannot
// be read; and for a name with a '='.
func DetectJAXCluster(process JAXProcess) (*JAXCluster, error) {
	return process.cluster(func(env, metadata **C.char, addresses *C.char, gerror **C.GError) *C.QuoitJaxCluster {
		return C.quoit_jax_cluster_detect(env, metadata, addresses, gerror)
	})
}

// JAXClusterOf is the cluster that JAX finds when it is told which kind to look for, whatever it would have chosen.
//
// It fails with Invalid for a kind that is none, and for a name with a '='.
func JAXClusterOf(kind JAXClusterKind, process JAXProcess) (*JAXCluster, error) {
	if _, known := jaxClusterKindNames[kind]; !known {
		return nil, door.Invalid("kind '%v': expected JAXClusterNone, JAXClusterGCETPU or JAXClusterGKETPU", kind)
	}
	return process.cluster(func(env, metadata **C.char, addresses *C.char, _ **C.GError) *C.QuoitJaxCluster {
		return C.quoit_jax_cluster_new(C.QuoitJaxClusterKind(kind), env, metadata, addresses)
	})
}

func (p *JAXProcess) cluster(
	find func(env, metadata **C.char, addresses *C.char, gerror **C.GError) *C.QuoitJaxCluster) (*JAXCluster, error) {
	var arguments door.Arguments
	var gerror *C.GError
	defer arguments.Free()
	env := (**C.char)(arguments.Pairs("environment", p.Environment))
	metadata := (**C.char)(arguments.Pairs("metadata", p.Metadata))
	addresses := (*C.char)(arguments.TextOrNil("addresses", p.Addresses))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	c := find(env, metadata, addresses, &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return newJAXCluster(c), nil
}

func newJAXCluster(c *C.QuoitJaxCluster) *JAXCluster {
	free := func(p unsafe.Pointer) { C.quoit_jax_cluster_free((*C.QuoitJaxCluster)(p)) }
	return &JAXCluster{JAXClusterKind(C.quoit_jax_cluster_get_kind(c)), door.NewHandle("cluster", unsafe.Pointer(c), free)}
}

// JAXCluster is the cluster that JAX chooses in the environment that the topology has for one of its processes, where no
// metadata server answers and no file can be read: DetectJAXCluster of that environment. Lists of hosts, which all processes of
// a slice are told, are not copied: to ask all of them takes as long as there are processes.
//
// It fails with Invalid where there is no such process, when JAX gives up while it looks (TPU_PROCESS_ADDRESSES_PATH names a
// file), and after Close.
func (t *Topology) JAXCluster(process int) (*JAXCluster, error) {
	if t == nil {
		return nil, closed("nil topology")
	}
	if process < 0 || process >= len(t.Processes) {
		return nil, door.Invalid("process '%d': expected 0 to %d", process, len(t.Processes)-1)
	}
	pointer, err := t.h.Use()
	if err != nil {
		return nil, err
	}
	defer t.h.Done()
	var gerror *C.GError
	c := C.quoit_jax_cluster_detect_process((*C.QuoitTopology)(pointer), C.uint32_t(process), &gerror)
	if err := take(gerror); err != nil {
		return nil, err
	}
	return newJAXCluster(c), nil
}

// Close frees what the cluster keeps; calls that come later fail. To close twice does nothing.
func (j *JAXCluster) Close() {
	if j != nil {
		j.h.Close()
	}
}

func (j *JAXCluster) with(run func(*C.QuoitJaxCluster, **C.GError)) error {
	if j == nil {
		return closed("nil cluster")
	}
	pointer, err := j.h.Use()
	if err != nil {
		return err
	}
	defer j.h.Done()
	var gerror *C.GError
	run((*C.QuoitJaxCluster)(pointer), &gerror)
	return take(gerror)
}

// Workers are the processes of its slice, as hosts or addresses and as they are written: JAX strips no blanks, and two
// commas have an empty one between them.
//
// It fails with Invalid when the list cannot be read, and NotFound when the cluster is of kind JAXClusterNone, as the
// methods below do.
func (j *JAXCluster) Workers() (workers []string, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		workers = door.TakenStrings(unsafe.Pointer(C.quoit_jax_cluster_list_workers(c, gerror)))
	})
	return workers, err
}

// Coordinator is where JAX meets the other processes, "HOST:PORT": MEGASCALE_COORDINATOR_ADDRESS, else the first worker, up
// to its first colon (so that an IPv6 address is broken), and JAX_COORDINATOR_PORT, else 8482. Whether the host is known is
// not asked.
//
// It fails with Invalid when the list of workers is needed and cannot be read, or the cluster is a pod whose
// TPU_PROCESS_ADDRESSES_PATH names a file that is empty or cannot be read, and NotFound when the cluster is of kind
// JAXClusterNone.
func (j *JAXCluster) Coordinator() (coordinator string, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		coordinator = taken(C.quoit_jax_cluster_dup_coordinator(c, gerror))
	})
	return coordinator, err
}

// CountProcesses is the processes of the job: the workers times MEGASCALE_NUM_SLICES, 1 where that is not set or empty. JAX
// checks no range: it may be 0 or less.
//
// It fails with Invalid when a number is none for Python's int(), or beyond 64 bits, or the list of workers cannot be read,
// and NotFound when the cluster is of kind JAXClusterNone.
func (j *JAXCluster) CountProcesses() (count int64, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		var found C.int64_t
		C.quoit_jax_cluster_count_processes(c, &found, gerror)
		count = int64(found)
	})
	return count, err
}

// ProcessID is the worker's number in its slice, and the workers of a slice for each of the slices before:
// MEGASCALE_SLICE_ID, 0 where that is not set or empty. JAX checks no range: it may be negative, and no less than the count
// of processes.
//
// It fails with Invalid when a number is missing, none for Python's int(), or beyond 64 bits, or the list of workers cannot
// be read, and NotFound when the cluster is of kind JAXClusterNone.
func (j *JAXCluster) ProcessID() (id int64, err error) {
	err = j.with(func(c *C.QuoitJaxCluster, gerror **C.GError) {
		var found C.int64_t
		C.quoit_jax_cluster_find_process_id(c, &found, gerror)
		id = int64(found)
	})
	return id, err
}

// JAXBounds is how the chips of a host are dealt to several processes of it.
type JAXBounds struct {
	Process         string // for TPU_PROCESS_BOUNDS, "2,2,1"
	ChipsPerProcess string // for TPU_CHIPS_PER_PROCESS_BOUNDS, "1,1,1"
}

// JAXProcessBounds is how JAX deals a host's chips to several processes of it. The generation may be called as any system
// calls it, or as JAX does: "plc", "tpu8i", "tpu8t". 0 of either number means no bounds: two empty texts.
//
// It fails with Invalid when JAX knows no such host or does not deal its chips so; the message has the numbers that it
// knows.
func JAXProcessBounds(generation string, hostChips, chipsPerProcess int64) (JAXBounds, error) {
	var arguments door.Arguments
	var gerror *C.GError
	var process, chipsOfProcess *C.char
	name := (*C.char)(arguments.Text("generation", generation))
	if err := arguments.Err(); err != nil {
		return JAXBounds{}, err
	}
	C.quoit_jax_process_bounds(name, C.int64_t(hostChips), C.int64_t(chipsPerProcess), &process, &chipsOfProcess, &gerror)
	if err := take(gerror); err != nil {
		return JAXBounds{}, err
	}
	return JAXBounds{C.GoString(process), C.GoString(chipsOfProcess)}, nil
}
