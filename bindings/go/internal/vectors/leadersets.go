// SPDX-License-Identifier: Apache-2.0

package main

// lws: the variables for TPU in the pods of a LeaderWorkerSet, after its webhook has changed them.

import (
	"context"
	"strings"
	"time"

	"quoit"
)

// groupOfSet imports the set and reserves all its slices.
func groupOfSet(ledger *quoit.Ledger, input *quoit.Input) (*quoit.Group, string, error) {
	now := time.UnixMilli(1_793_491_200_000)
	if _, err := ledger.Import(context.Background(), input, now); err != nil {
		return nil, "", err
	}
	snapshot, err := ledger.Snapshot()
	if err != nil {
		return nil, "", err
	}
	defer snapshot.Close()
	slices, err := snapshot.Slices()
	if err != nil {
		return nil, "", err
	}
	pools, err := snapshot.Pools()
	if err != nil {
		return nil, "", err
	}
	one := slices[0]
	request := &quoit.Request{Name: "g", Accelerator: one.Accelerator, Topology: one.Topology,
		ChipsPerHost: int64(one.ChipsPerHost), Slices: int64(len(slices))}
	group, err := ledger.Reserve(context.Background(), request, now)
	return group, pools[one.Pool].Name, err
}

// isRecorded is false for variables that GKE's device plugin sets, unless the manifest does.
func isRecorded(name, set string) bool {
	if name == "TPU_TOPOLOGY" || name == "TPU_ACCELERATOR_TYPE" {
		return strings.Contains(set, name)
	}
	return strings.HasPrefix(name, "TPU_") || strings.HasPrefix(name, "LWS_")
}

// podsOf lists the pods; each process is a container.
func podsOf(topology *quoit.Topology, set string) *object {
	pods := []any{}
	for _, process := range topology.Processes {
		variables := &object{}
		for _, one := range process.Environment {
			if isRecorded(one.Name, set) {
				variables.set(one.Name, one.Value)
			}
		}
		if process.LocalIndex == 0 {
			pods = append(pods, (&object{}).set("name", process.Node).set("containers", []any{}))
		}
		pod := pods[len(pods)-1].(*object)
		pod.set("containers", append(pod.values["containers"].([]any), variables))
	}
	return (&object{}).set("pods", pods)
}

func leaderSet(in, _ any) (any, error) {
	r := newReader(in, "set")
	if r.err != nil {
		return nil, r.err
	}
	set := jsonText(in.(*object).values["set"])
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	input := &quoit.Input{Kind: quoit.RayCluster, Text: []byte(set)}
	group, pool, err := groupOfSet(ledger, input)
	if err != nil {
		return nil, err
	}
	topology, err := group.ManifestTopology(input, pool)
	if err != nil {
		return nil, err
	}
	defer topology.Close()
	return podsOf(topology, set), nil
}

var leaderSetOps = map[string]op{"lws_env": {answer: leaderSet}}
