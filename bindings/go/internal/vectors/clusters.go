// SPDX-License-Identifier: Apache-2.0

package main

// cluster-env: the cluster that JAX finds for a process, and how it divides the chips of a host.

import (
	"errors"

	"quoit"
)

// answerOr returns an answer, or its refusal as an answer.
func answerOr(answer any, err error) (any, error) {
	if errors.Is(err, quoit.Invalid) {
		return refusal{err}, nil
	}
	return answer, err
}

// clusterFacts returns the facts about a cluster. Each can be refused separately.
func clusterFacts(cluster *quoit.JAXCluster) (*object, error) {
	facts := &object{}
	for _, one := range []struct {
		name string
		find func() (any, error)
	}{
		{"coordinator", func() (any, error) { return cluster.Coordinator() }},
		{"process_count", func() (any, error) { return cluster.CountProcesses() }},
		{"process_id", func() (any, error) { return cluster.ProcessID() }},
		{"workers", func() (any, error) {
			workers, err := cluster.Workers()
			return textsToJSON(workers), err
		}},
	} {
		fact, err := answerOr(one.find())
		if err != nil {
			return nil, err
		}
		facts.set(one.name, fact)
	}
	return facts, nil
}

func clusterFactsOfKind(kind quoit.JAXClusterKind, process quoit.JAXProcess) (*object, error) {
	cluster, err := quoit.JAXClusterOf(kind, process)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	return clusterFacts(cluster)
}

// initializeArguments returns the arguments of initialize() in JAX's order: coordinator, count, id, and the local
// devices, which JAX never sets on TPU hosts.
func initializeArguments(process quoit.JAXProcess) (any, error) {
	cluster, err := quoit.DetectJAXCluster(process)
	if err != nil {
		return nil, err
	}
	defer cluster.Close()
	if cluster.Kind == quoit.JAXClusterNone {
		return []any{nil, nil, nil, nil}, nil
	}
	coordinator, err := cluster.Coordinator()
	if err != nil {
		return nil, err
	}
	count, err := cluster.CountProcesses()
	if err != nil {
		return nil, err
	}
	id, err := cluster.ProcessID()
	return []any{coordinator, count, id, nil}, err
}

// detectCluster returns the cluster that JAX chooses, and the facts for each kind as if JAX were forced to use it.
func detectCluster(in, recorded any) (any, error) {
	r := newReader(in, "name", "env", "tpu_vm", "metadata", "file", "gke_present", "gce_present")
	if r.err == nil && !r.flag("tpu_vm", true) {
		r.fail("a host without TPUs, which quoit does not model")
	}
	process := quoit.JAXProcess{
		Environment: r.variables("env"), Metadata: r.variables("metadata"), Addresses: r.textOrNil("file"),
	}
	if r.err != nil {
		return nil, r.err
	}
	gke, err := clusterFactsOfKind(quoit.JAXClusterGKETPU, process)
	if err != nil {
		return nil, err
	}
	gceNode, err := clusterFactsOfKind(quoit.JAXClusterGCETPU, process)
	if err != nil {
		return nil, err
	}
	auto, err := answerOr(initializeArguments(process))
	if err != nil {
		return nil, err
	}
	return keepRecorded((&object{}).set("gke", gke).set("gce", gceNode).set("auto", auto), recorded), nil
}

func processBounds(in, _ any) (any, error) {
	r := newReader(in, "version", "host_chips", "chips_per_process")
	version, chips, per := r.text("version"), r.integer("host_chips"), r.integer("chips_per_process")
	if r.err != nil {
		return nil, r.err
	}
	bounds, err := quoit.JAXProcessBounds(version, chips, per)
	return (&object{}).set("process_bounds", bounds.Process).set("chips_per_process_bounds", bounds.ChipsPerProcess), err
}

var clusterOps = map[string]op{
	"jax_cluster_detect": {answer: detectCluster, refusals: true},
	"tpu_process_bounds": {answer: processBounds},
}
