// SPDX-License-Identifier: Apache-2.0

package quoit_test

import (
	"fmt"
	"log"
	"reflect"
	"testing"

	"quoit"
)

func newCluster(t *testing.T, process quoit.JAXProcess) *quoit.JAXCluster {
	t.Helper()
	cluster := must[*quoit.JAXCluster](t)(quoit.DetectJAXCluster(process))
	t.Cleanup(cluster.Close)
	return cluster
}

func TestJAXFindsProcessIDFromQuoitsEnvironment(t *testing.T) {
	ledger := newLedger(t, "v6e 4x4 x2")
	topology := must[*quoit.Topology](t)(reserve(t, ledger, sliceRequest("train", 2)).Topology(quoit.Launch{}))
	for process, one := range topology.Processes {
		env := map[string]string{}
		for _, variable := range one.Environment {
			env[variable.Name] = variable.Value
		}
		cluster := newCluster(t, quoit.JAXProcess{Environment: env})
		if id := must[int64](t)(cluster.ProcessID()); id != int64(process) {
			t.Errorf("process %d has the id %d for JAX", process, id)
		}
		count := must[int64](t)(cluster.CountProcesses())
		if workers := must[[]string](t)(cluster.Workers()); count != 8 || len(workers) != 4 {
			t.Errorf("%d processes, workers %v", count, workers)
		}
	}
}

func TestVMUsesMetadataAndPodUsesEnvironment(t *testing.T) {
	metadata := map[string]string{"agent-worker-number": "1", "worker-network-endpoints": "a:b:10.0.0.1,a:b:10.0.0.2"}
	env := map[string]string{"TPU_WORKER_HOSTNAMES": "h0,h1,h2", "TPU_WORKER_ID": "2"}
	for _, one := range []struct {
		process     quoit.JAXProcess
		kind        quoit.JAXClusterKind
		coordinator string
		id          int64
	}{
		{quoit.JAXProcess{Environment: env, Metadata: metadata}, quoit.JAXClusterGCETPU, "10.0.0.1:8482", 1},
		{quoit.JAXProcess{Environment: env}, quoit.JAXClusterGKETPU, "h0:8482", 2},
	} {
		cluster := newCluster(t, one.process)
		if cluster.Kind != one.kind || must[string](t)(cluster.Coordinator()) != one.coordinator ||
			must[int64](t)(cluster.ProcessID()) != one.id {
			t.Errorf("%+v", cluster)
		}
		forced := must[*quoit.JAXCluster](t)(quoit.JAXClusterOf(one.kind, one.process))
		if workers := must[[]string](t)(forced.Workers()); !reflect.DeepEqual(workers, must[[]string](t)(cluster.Workers())) {
			t.Errorf("%v", workers)
		}
		forced.Close()
	}
}

func TestProcessOutsideATPUHostHasNoCluster(t *testing.T) {
	cluster := newCluster(t, quoit.JAXProcess{})
	if cluster.Kind != quoit.JAXClusterNone {
		t.Errorf("%v: expected none", cluster.Kind)
	}
	_, workers := cluster.Workers()
	_, coordinator := cluster.Coordinator()
	_, count := cluster.CountProcesses()
	_, id := cluster.ProcessID()
	for _, err := range []error{workers, coordinator, count, id} {
		wantCode(t, err, quoit.NotFound)
	}
}

func TestEachFactFailsSeparately(t *testing.T) {
	cluster := newCluster(t, quoit.JAXProcess{Environment: map[string]string{
		"TPU_WORKER_HOSTNAMES": "h0,h1", "TPU_WORKER_ID": "x", "MEGASCALE_NUM_SLICES": "two",
	}})
	_, err := cluster.ProcessID()
	wantCode(t, err, quoit.Invalid)
	_, err = cluster.CountProcesses()
	wantCode(t, err, quoit.Invalid)
	if coordinator := must[string](t)(cluster.Coordinator()); coordinator != "h0:8482" {
		t.Errorf("'%s'", coordinator)
	}
}

func TestMissingAddressFileIsRefused(t *testing.T) {
	env, addresses := map[string]string{"TPU_PROCESS_ADDRESSES_PATH": "/addresses"}, "a:1,b:2"
	_, err := quoit.DetectJAXCluster(quoit.JAXProcess{Environment: env})
	wantCode(t, err, quoit.Invalid)
	cluster := newCluster(t, quoit.JAXProcess{Environment: env, Addresses: &addresses})
	if workers := must[[]string](t)(cluster.Workers()); len(workers) != 2 {
		t.Errorf("%v: expected two", workers)
	}
	for _, wrong := range []map[string]string{{"A=B": ""}, {"A": "\x00"}} {
		_, err = quoit.DetectJAXCluster(quoit.JAXProcess{Environment: wrong})
		wantCode(t, err, quoit.Invalid)
	}
	_, err = quoit.JAXClusterOf(7, quoit.JAXProcess{})
	wantCode(t, err, quoit.Invalid)
}

func TestTopologyJAXClusterEqualsDetectionFromEnvironment(t *testing.T) {
	group := reserve(t, newLedger(t, "v6e 4x4 x2"), sliceRequest("train", 2))
	topology := must[*quoit.Topology](t)(group.Topology(quoit.Launch{Profile: quoit.ProfileQuoit, ProcessesPerHost: 4}))
	for number, process := range topology.Processes {
		cluster := must[*quoit.JAXCluster](t)(topology.JAXCluster(number))
		detected := newCluster(t, quoit.JAXProcess{Environment: environmentOf(process)})
		if cluster.Kind != detected.Kind || must[string](t)(cluster.Coordinator()) != must[string](t)(detected.Coordinator()) ||
			must[int64](t)(cluster.CountProcesses()) != 32 || must[int64](t)(cluster.ProcessID()) != int64(number) ||
			must[int64](t)(detected.ProcessID()) != int64(number) {
			t.Errorf("process %d: %+v, %+v", number, cluster, detected)
		}
		cluster.Close()
	}
	for _, wrong := range []int{-1, 32, 1 << 40} {
		_, err := topology.JAXCluster(wrong)
		wantCode(t, err, quoit.Invalid)
	}
	topology.Close()
	_, err := topology.JAXCluster(0)
	wantCode(t, err, quoit.Invalid)
	_, err = (*quoit.Topology)(nil).JAXCluster(0)
	wantCode(t, err, quoit.Invalid)
}

func TestJAXProcessBoundsEqualThoseOfJAX(t *testing.T) {
	for _, one := range []struct {
		generation string
		chips, per int64
		expected   quoit.JAXBounds
	}{
		{"v5p", 4, 1, quoit.JAXBounds{Process: "2,2,1", ChipsPerProcess: "1,1,1"}},
		{"v6e", 8, 4, quoit.JAXBounds{Process: "1,2,1", ChipsPerProcess: "2,2,1"}},
		{"v5e", 8, 4, quoit.JAXBounds{Process: "2,1,1", ChipsPerProcess: "2,2,1"}},
		{"v6e", 0, 4, quoit.JAXBounds{}},
	} {
		if bounds := must[quoit.JAXBounds](t)(quoit.JAXProcessBounds(one.generation, one.chips, one.per)); bounds != one.expected {
			t.Errorf("%+v: expected %+v", bounds, one.expected)
		}
	}
	for _, wrong := range []int64{3, -1, 1 << 62} {
		_, err := quoit.JAXProcessBounds("v6e", wrong, 1)
		wantCode(t, err, quoit.Invalid)
		_, err = quoit.JAXProcessBounds("v6e", 8, wrong)
		wantCode(t, err, quoit.Invalid)
	}
	_, err := quoit.JAXProcessBounds("\x00", 8, 1)
	wantCode(t, err, quoit.Invalid)
}

func ExampleDetectJAXCluster() {
	cluster, err := quoit.DetectJAXCluster(quoit.JAXProcess{Environment: map[string]string{
		"TPU_WORKER_HOSTNAMES": "host-0,host-1", "TPU_WORKER_ID": "1",
	}})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	coordinator, err := cluster.Coordinator()
	if err != nil {
		log.Fatal(err)
	}
	count, err := cluster.CountProcesses()
	if err != nil {
		log.Fatal(err)
	}
	id, err := cluster.ProcessID()
	fmt.Println(cluster.Kind, coordinator, count, id, err)
	// Output: GKE_TPU host-0:8482 2 1 <nil>
}
