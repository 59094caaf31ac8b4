// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"testing"
	"time"

	"quoit"
)

func environmentOf(process quoit.Process) map[string]string {
	values := map[string]string{}
	for _, one := range process.Environment {
		values[one.Name] = one.Value
	}
	return values
}

func TestProcessesOfAHostShareItsChips(t *testing.T) {
	group := reserve(t, newLedger(t, "v6e 4x4 x2"), sliceRequest("train", 2))
	torus := newCoordinates(t, "v6e", "4x4", quoit.WiringStraight)
	for _, perHost := range []int{0, 1, 2, 4} {
		launch := quoit.Launch{Profile: quoit.ProfileQuoit, ProcessesPerHost: perHost}
		topology := must[*quoit.Topology](t)(group.Topology(launch))
		count := max(perHost, 1)
		if topology.ProcessesPerHost != count || len(topology.Processes) != 8*count {
			t.Fatalf("%d processes, %d per host: expected %d per host", len(topology.Processes), topology.ProcessesPerHost, count)
		}
		seen, devices := map[[2]int]bool{}, map[int64]bool{}
		for number, process := range topology.Processes {
			if process.LocalIndex != number%count || process.WorkerID != number/count%4 || len(process.Chips) != 4/count ||
				process.GroupSlice != number/count/4 {
				t.Errorf("process %d is %+v", number, process)
			}
			for index, chip := range process.Chips {
				worker, _, err := torus.ChipWorker(chip)
				if err != nil || worker != process.WorkerID || must[quoit.Place](t)(torus.ChipPlace(chip)) != process.Places[index] {
					t.Errorf("chip %d has the place %+v and the worker %d, %v", chip, process.Places[index], worker, err)
				}
				seen[[2]int{process.GroupSlice, chip}] = true
			}
			for _, device := range process.Devices {
				if device/16 != int64(process.SliceID) {
					t.Errorf("device %d is in slice %d", device, process.SliceID)
				}
				devices[device] = true
			}
		}
		if len(seen) != 32 || len(devices) != 32 {
			t.Errorf("the processes have %d chips and %d devices: expected 32 and 32", len(seen), len(devices))
		}
		topology.Close()
	}
}

func TestEnvironmentNamesTheChipsOfEachProcess(t *testing.T) {
	group := reserve(t, newLedger(t, "v6e 4x4"), sliceRequest("train", 1))
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{Profile: quoit.ProfileQuoit, ProcessesPerHost: 4}))
	last := environmentOf(topology.Processes[15])
	if last["TPU_PROCESS_BOUNDS"] != "4,4,1" || last["TPU_CHIPS_PER_PROCESS_BOUNDS"] != "1,1,1" ||
		last["TPU_VISIBLE_CHIPS"] != "3" || last["CLOUD_TPU_TASK_ID"] != "15" {
		t.Errorf("%v", last)
	}
}

func TestJobSetProfileUsesHostNamesOfPods(t *testing.T) {
	group := reserve(t, newLedger(t, "v6e 4x4 x2"), sliceRequest("train", 2))
	for _, one := range []struct {
		launch quoit.Launch
		host   string
	}{
		{quoit.Launch{Profile: quoit.ProfileJobSet}, "train-slice-job-1-0.train"},
		{quoit.Launch{Profile: quoit.ProfileJobSet, JobSet: "mine", ReplicatedJob: "workers"}, "mine-workers-1-0.mine"},
	} {
		topology := must[*quoit.Topology](t)(group.Topology(one.launch))
		process := topology.Processes[5]
		hosts := strings.Split(environmentOf(process)["TPU_WORKER_HOSTNAMES"], ",")
		if hosts[0] != one.host || environmentOf(process)["JOB_COMPLETION_INDEX"] != "1" {
			t.Errorf("%v, expected '%s'", environmentOf(process), one.host)
		}
		topology.Close()
	}
}

func TestLeaderWorkerSetAndJobNameTheirPods(t *testing.T) {
	group := reserve(t, newLedger(t, "v6e 4x4 x2"), sliceRequest("train", 2))
	lws := quoit.LeaderWorkerSet{Name: "serve", Namespace: "team", LeaderApart: true, OwnSubdomains: true}
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{Profile: quoit.ProfileLWS, LWS: lws}))
	environment := environmentOf(topology.Processes[5])
	hosts := strings.Split(environment["TPU_WORKER_HOSTNAMES"], ",")
	if hosts[1] != "serve-1-2.serve-1" || environment["LWS_LEADER_ADDRESS"] != "serve-1.serve-1.team" ||
		environment["LWS_GROUP_SIZE"] != "5" || environment["TPU_WORKER_ID"] != "1" {
		t.Errorf("%v", environment)
	}
	lws = quoit.LeaderWorkerSet{Name: "serve", Subgroups: 2}
	topology = must[*quoit.Topology](t)(group.Topology(quoit.Launch{Profile: quoit.ProfileLWS, LWS: lws}))
	environment = environmentOf(topology.Processes[5])
	if environment["TPU_NAME"] != "serve-0" || environment["LWS_WORKER_INDEX"] != "5" {
		t.Errorf("%v", environment)
	}

	one := reserve(t, newLedger(t, "v6e 4x4"), sliceRequest("train", 1))
	launch := quoit.Launch{Profile: quoit.ProfileJob, Job: "fit", Subdomain: "hosts"}
	environment = environmentOf(must[*quoit.Topology](t)(one.Topology(launch)).Processes[3])
	if !strings.HasSuffix(environment["TPU_WORKER_HOSTNAMES"], ",fit-3.hosts") || environment["JOB_COMPLETION_INDEX"] != "3" {
		t.Errorf("%v", environment)
	}
}

func TestManifestGivesTheProfileAndTheNames(t *testing.T) {
	const text = "{kind: Job, metadata: {name: fit}, spec: {completionMode: Indexed, completions: 4, parallelism: 4, " +
		"template: {spec: {subdomain: hosts, nodeSelector: {cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice, " +
		"cloud.google.com/gke-tpu-topology: 4x4}, containers: [{resources: {limits: {google.com/tpu: 4}}}]}}}}"
	ledger := quoit.OpenMemory()
	t.Cleanup(ledger.Close)
	input := &quoit.Input{Kind: quoit.RayCluster, Text: []byte(text)}
	must[*quoit.Import](t)(ledger.Import(bg, input, now))
	group := reserve(t, ledger, sliceRequest("train", 1))
	topology := must[*quoit.Topology](t)(group.ManifestTopology(input, "fit"))
	if hosts := environmentOf(topology.Processes[1])["TPU_WORKER_HOSTNAMES"]; !strings.HasPrefix(hosts, "fit-0.hosts,") {
		t.Errorf("'%s'", hosts)
	}
	_, err := group.ManifestTopology(input, "other")
	wantCode(t, err, quoit.NotFound)
	_, err = group.ManifestTopology(&quoit.Input{Kind: quoit.FleetText, Text: []byte("v6e 4x4")}, "fit")
	wantCode(t, err, quoit.Invalid)
	_, err = group.ManifestTopology(nil, "fit")
	wantCode(t, err, quoit.Invalid)
}

const replicas = `
kind: RayCluster
metadata: {name: c}
spec:
  headGroupSpec: {template: {spec: {containers: [{}]}}}
  workerGroupSpecs:
  - groupName: g
    replicas: 3
    numOfHosts: 4
    template:
      spec:
        nodeSelector:
          cloud.google.com/gke-tpu-topology: 4x4
          cloud.google.com/gke-tpu-accelerator: tpu-v6e-slice
        containers: [{resources: {limits: {google.com/tpu: "4"}}}]
`

func TestSliceIDsHasTheSliceIDOfEachProfile(t *testing.T) {
	ledger := quoit.OpenMemory()
	t.Cleanup(ledger.Close)
	input := &quoit.Input{Kind: quoit.RayCluster, Text: []byte(replicas)}
	must[*quoit.Import](t)(ledger.Import(bg, input, now))
	reserve(t, ledger, sliceRequest("first", 1))
	group := reserve(t, ledger, sliceRequest("train", 2))
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{Profile: quoit.ProfileKubeRay}))
	last := topology.Processes[7]
	expected := map[quoit.Profile]int{
		quoit.ProfileQuoit: 1, quoit.ProfileRayTrain: 1, quoit.ProfileKubeRay: 2, quoit.ProfileJobSet: 1,
	}
	if last.SliceID != 2 || last.GroupSlice != 1 || !reflect.DeepEqual(last.SliceIDs, expected) {
		t.Errorf("%+v: expected %v", last, expected)
	}
	if name := environmentOf(last)["TPU_NAME"]; name != "g-2" {
		t.Errorf("TPU_NAME is '%s': expected g-2", name)
	}
}

func TestInvalidLaunchIsRefused(t *testing.T) {
	group := reserve(t, newLedger(t, "v6e 4x4"), sliceRequest("train", 1))
	for _, launch := range []quoit.Launch{
		{Profile: 99},
		{Profile: quoit.ProfileQuoit, ProcessesPerHost: 3},
		{Profile: quoit.ProfileQuoit, ProcessesPerHost: -1},
		{Profile: quoit.ProfileQuoit, ProcessesPerHost: 1<<32 + 1},
		{Profile: quoit.ProfileQuoit, ProcessesPerHost: 8},
		{Profile: quoit.ProfileJobSet, JobSet: "No"},
		{Profile: quoit.ProfileJobSet, JobSet: strings.Repeat("n", 60)},
		{Profile: quoit.ProfileJobSet, ReplicatedJob: "-"},
		{Profile: quoit.ProfileJobSet, ReplicatedJob: "a\x00"},
		{Profile: quoit.ProfileLWS, LWS: quoit.LeaderWorkerSet{Name: "1a"}},
		{Profile: quoit.ProfileLWS, LWS: quoit.LeaderWorkerSet{Namespace: "A"}},
		{Profile: quoit.ProfileLWS, LWS: quoit.LeaderWorkerSet{Subgroups: -1}},
		{Profile: quoit.ProfileLWS, LWS: quoit.LeaderWorkerSet{Subgroups: 2}},
		{Profile: quoit.ProfileJob},
		{Profile: quoit.ProfileJob, Subdomain: "-"},
	} {
		_, err := group.Topology(launch)
		wantCode(t, err, quoit.Invalid)
	}
	_, err := group.Topology(quoit.Launch{Profile: quoit.ProfileKubeRay})
	wantCode(t, err, quoit.NotNow)
}

func ExampleGroup_Topology() {
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ledger := quoit.OpenMemory()
	defer ledger.Close()
	if _, err := ledger.ImportFleetText(bg, "v5p 2x2x2", clock); err != nil {
		log.Fatal(err)
	}
	train, err := ledger.Reserve(bg, &quoit.Request{Name: "train", Accelerator: "v5p", Topology: "2x2x2", Slices: 1}, clock)
	if err != nil {
		log.Fatal(err)
	}
	defer train.Close()
	topology, err := train.Topology(quoit.Launch{Profile: quoit.ProfileQuoit, ProcessesPerHost: 4})
	if err != nil {
		log.Fatal(err)
	}
	defer topology.Close()
	last := topology.Processes[7]
	fmt.Println(last.Node, last.LocalIndex, last.Chips, last.Places, last.Devices)
	// Output: v5p-2x2x2-0-1 3 [7] [{1 1 1}] [7]
}

func TestEachBundleIsOneProcess(t *testing.T) {
	for _, one := range []struct {
		request       quoit.Request
		job           quoit.Job
		perHost       int
		bounds, chips string
	}{
		{quoit.Request{Name: "train", Accelerator: "v6e", Topology: "4x4", Slices: 1, TPUPerBundle: "2"}, quoit.JobSlices, 2, "4,2,1", "2,3"},
		{quoit.Request{Name: "train", Bundles: []quoit.BundleRequest{{Amounts: "TPU=2"}, {Amounts: "TPU=2"}}}, quoit.JobBoxes, 0, "2,1,1", "2,3"},
		{quoit.Request{Name: "train", Bundles: []quoit.BundleRequest{{Amounts: "TPU=1"}, {Amounts: "TPU=2"}}}, quoit.JobSeparate, 0, "1,1,1", "2,3"},
	} {
		group := reserve(t, newLedger(t, "v6e 4x4"), &one.request)
		topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{}))
		second := topology.Processes[1]
		if topology.Job != one.job || topology.ProcessesPerHost != one.perHost || second.Bundle != 1 ||
			!reflect.DeepEqual(second.HostChips, []int{2, 3}) || environmentOf(second)["TPU_PROCESS_BOUNDS"] != one.bounds ||
			environmentOf(second)["TPU_VISIBLE_CHIPS"] != one.chips || second.SliceFullName != "fleet/v6e-4x4/v6e-4x4-0" ||
			second.NodeFullName != "fleet/v6e-4x4/v6e-4x4-0-0" || second.GroupSlice != 0 {
			t.Errorf("%v: %+v", topology.Job, second)
		}
		topology.Close()
		_, err := group.Devices()
		if (err != nil) != (one.job == quoit.JobSeparate) || (err != nil && !errors.Is(err, quoit.Invalid)) {
			t.Errorf("%v: %v", one.job, err)
		}
	}
}

func TestProcessWithoutTPUComesLast(t *testing.T) {
	ledger := quoit.OpenMemory()
	t.Cleanup(ledger.Close)
	nodes := `[{"NodeID": "` + strings.Repeat("1", 56) + `", "Alive": true, "NodeName": "cpu", "Resources": {"CPU": 8.0}, "Labels": {}},
		{"NodeID": "` + strings.Repeat("2", 56) + `", "Alive": true, "NodeName": "tpu", "Resources": {"CPU": 2.0, "TPU": 4.0}, "Labels": {}}]`
	must[*quoit.Import](t)(ledger.Import(bg, &quoit.Input{Kind: quoit.RayNodes, Text: []byte(nodes)}, now))
	group := reserve(t, ledger, &quoit.Request{Name: "train", Bundles: []quoit.BundleRequest{{Amounts: "CPU=8"}, {Amounts: "TPU=4"}}})
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{}))
	last := topology.Processes[1]
	if last.Bundle != 0 || last.GroupSlice != -1 || len(last.Environment) != 0 || last.Slice != "" || last.SliceFullName != "" {
		t.Errorf("%+v", last)
	}
}
