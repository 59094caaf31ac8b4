// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

type object = map[string]any

// How the leaders of a set are drawn.
const (
	sameLeader = "no leader template"
	tpuLeader  = "leader with TPU"
	cpuLeader  = "leader without TPU"
)

var topologies = map[int]string{1: "2x2", 2: "2x4", 4: "4x4", 8: "4x8"}

func pod(hosts, containers int, env []object) object {
	list := []object{}
	for i := 0; i < containers; i++ {
		chips := fmt.Sprint(4 / containers)
		container := object{
			"name": fmt.Sprintf("c%d", i), "image": "a",
			"resources": object{"limits": object{"google.com/tpu": chips}},
		}
		if env != nil {
			container["env"] = env
		}
		list = append(list, container)
	}
	return object{"spec": object{
		"nodeSelector": object{
			"cloud.google.com/gke-tpu-accelerator": "tpu-v6e-slice",
			"cloud.google.com/gke-tpu-topology":    topologies[hosts],
		},
		"containers": list,
	}}
}

// What is drawn of a set.
type drawn struct {
	name, namespace, leader      string
	replicas, size, subgroup     int
	containers                   int
	hasOwnSubdomains, isExcluded bool
	env                          []object
}

func (one drawn) hosts() int {
	switch {
	case one.subgroup > 0:
		return one.subgroup
	case one.leader == cpuLeader:
		return one.size - 1
	}
	return one.size
}

func (one drawn) set() object {
	template := object{"size": one.size, "workerTemplate": pod(one.hosts(), one.containers, one.env)}
	switch one.leader {
	case tpuLeader:
		template["leaderTemplate"] = pod(one.hosts(), one.containers, one.env)
	case cpuLeader:
		template["leaderTemplate"] = object{"spec": object{"containers": []object{{"name": "l", "image": "a"}}}}
	}
	if one.subgroup > 0 {
		policy := object{"subGroupSize": one.subgroup}
		if one.isExcluded {
			policy["subGroupPolicyType"] = "LeaderExcluded"
		}
		template["subGroupPolicy"] = policy
	}
	spec := object{"replicas": one.replicas, "leaderWorkerTemplate": template}
	if one.hasOwnSubdomains {
		spec["networkConfig"] = object{"subdomainPolicy": "UniquePerReplica"}
	}
	metadata := object{"name": one.name}
	if one.namespace != "" {
		metadata["namespace"] = one.namespace
	}
	return object{"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": metadata,
		"spec": spec}
}

func (one drawn) note() string {
	words := []string{one.leader, fmt.Sprintf("%d of %d pods", one.replicas, one.size)}
	if one.subgroup > 0 {
		words = append(words, fmt.Sprintf("subgroups of %d", one.subgroup))
	}
	if one.isExcluded {
		words = append(words, "leader excluded")
	}
	if one.containers > 1 {
		words = append(words, fmt.Sprintf("%d containers", one.containers))
	}
	if one.hasOwnSubdomains {
		words = append(words, "own subdomains")
	}
	for _, variable := range one.env {
		words = append(words, fmt.Sprintf("sets %v", variable["name"]))
	}
	return strings.Join(words, ", ")
}

func variable(name, value string) []object {
	return []object{{"name": name, "value": value}}
}

func draw() []Case {
	sets := []drawn{}
	for _, leader := range []string{sameLeader, tpuLeader, cpuLeader} {
		for _, hosts := range []int{1, 2, 4} {
			size := hosts
			if leader == cpuLeader {
				size++
			}
			for _, own := range []bool{false, true} {
				sets = append(sets, drawn{name: "serve", leader: leader, replicas: 1 + hosts%3, size: size,
					containers: 1, hasOwnSubdomains: own})
			}
			sets = append(sets, drawn{name: "two", namespace: "team-a", leader: leader, replicas: 1, size: size,
				containers: 2})
			for _, groups := range []int{1, 2, 3} {
				one := drawn{name: "parts", leader: leader, replicas: 2, size: hosts * groups, subgroup: hosts,
					containers: 1}
				if leader == cpuLeader {
					one.size++
				}
				if one.size > 13 {
					continue
				}
				sets = append(sets, one)
				one.containers, one.replicas = 2, 1
				sets = append(sets, one)
				one.containers, one.isExcluded = 1, true
				sets = append(sets, one)
			}
		}
		for _, env := range [][]object{
			variable("TPU_PROCESS_PORT", "9000"), variable("TPU_WORKER_HOSTNAMES", "a,b"),
			variable("TPU_WORKER_ID", "7"), variable("TPU_NAME", "mine"), variable("LWS_GROUP_SIZE", "99"),
			variable("TPU_PROCESS_ADDRESSES", "x:1"), variable("TPU_ACCELERATOR_TYPE", "mine"),
		} {
			one := drawn{name: "own", leader: leader, replicas: 1, size: 2, containers: 1, env: env}
			if leader == cpuLeader {
				one.size++
			}
			sets = append(sets, one)
			one.containers = 2
			sets = append(sets, one)
		}
	}
	// Sizes that the webhook refuses.
	for _, one := range []drawn{
		{size: 5, subgroup: 4, leader: tpuLeader, isExcluded: true}, {size: 4, subgroup: 8, leader: sameLeader},
		{size: 7, subgroup: 4, leader: sameLeader},
	} {
		one.name, one.replicas, one.containers = "odd", 1, 1
		sets = append(sets, one)
	}

	cases := []Case{}
	for i, one := range sets {
		text, err := json.Marshal(one.set())
		fail(err)
		since := ""
		if one.containers > 1 && one.subgroup == 0 {
			since = "0.9"
		}
		cases = append(cases, Case{ID: fmt.Sprintf("lws/%03d", i), Suite: "lws", Op: "lws_env", Note: one.note(),
			Since: since, In: Input{Set: text}})
	}
	return cases
}
