// SPDX-License-Identifier: Apache-2.0

package ray_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"quoit"
	"quoit/ray"
)

func wantInvalid(t *testing.T, err error) {
	t.Helper()
	if !errors.Is(err, quoit.Invalid) {
		t.Errorf("%v: expected INVALID", err)
	}
}

func newCluster(t *testing.T, count int) *ray.Cluster {
	t.Helper()
	cluster := ray.NewCluster()
	t.Cleanup(cluster.Close)
	for node := 0; node < count; node++ {
		err := cluster.Add(ray.ClusterNode{
			ID:      fmt.Sprint("n", node),
			Amounts: []ray.NodeAmount{{Name: "TPU", Total: 40000, Available: 40000}},
			Labels:  ray.Labels{{Key: "ray.io/tpu-slice-name", Value: fmt.Sprint("s", node/2)}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return cluster
}

func newBundles(count int) []ray.Bundle {
	all := make([]ray.Bundle, count)
	for bundle := range all {
		all[bundle].Amounts = ray.Resources{{Name: "TPU", Amount: 4}}
	}
	return all
}

func TestAllocateAndDeallocateChangeAvailableAmounts(t *testing.T) {
	cluster := newCluster(t, 4)
	group := &ray.Group{Bundles: newBundles(2), Topology: []ray.Level{{Key: "ray.io/tpu-slice-name", Strategy: quoit.StrictPack}}}
	answer, err := group.Place(cluster)
	if err != nil || answer.Result != ray.Success || answer.Nodes[0]/2 != answer.Nodes[1]/2 {
		t.Fatalf("%+v, %v: expected two nodes of one slice", answer, err)
	}
	if determined, err := group.IsDetermined(cluster, 1000); determined != ray.No || err != nil {
		t.Errorf("%v, %v: expected NO, because Ray can choose either slice", determined, err)
	}
	if err := cluster.Allocate(group, answer.Nodes); err != nil {
		t.Fatal(err)
	}
	if free, err := cluster.Available(answer.Nodes[0], "TPU"); free != 0 || err != nil {
		t.Errorf("%d, %v: expected that nothing is free", free, err)
	}
	if possible, err := group.IsPossible(cluster, answer, 1000); possible != ray.No || err != nil {
		t.Errorf("%v, %v: expected NO, because the nodes are in use", possible, err)
	}
	if err := cluster.Deallocate(group, answer.Nodes); err != nil {
		t.Fatal(err)
	}
	if free, _ := cluster.Available(answer.Nodes[1], "TPU"); free != 40000 {
		t.Errorf("%d: expected that all is free", free)
	}
}

func TestInvalidNodeIndicesAreRefused(t *testing.T) {
	cluster, group := newCluster(t, 2), &ray.Group{Bundles: newBundles(1)}
	for _, nodes := range [][]int{nil, {2}, {-1}, {math.MaxInt64}, {0, 1}} {
		wantInvalid(t, cluster.Allocate(group, nodes))
		wantInvalid(t, cluster.Deallocate(group, nodes))
	}
	for _, node := range []int{-1, 2, math.MaxInt64} {
		_, err := cluster.Available(node, "TPU")
		wantInvalid(t, err)
		wantInvalid(t, cluster.SetResource(node, "CPU", 1, 1))
	}
	wantInvalid(t, cluster.Add(ray.ClusterNode{ID: "n0"}))
	wantInvalid(t, cluster.Add(ray.ClusterNode{ID: "x", Amounts: []ray.NodeAmount{{Name: "TPU", Total: -1}}}))
	wantInvalid(t, cluster.SetResource(0, "CPU", math.NaN(), 1))
	if ids, err := cluster.NodeIDs(); len(ids) != 2 || err != nil {
		t.Errorf("%v, %v: expected that nothing was added", ids, err)
	}
	_, err := ray.BundleResource("TPU", "00", 0)
	wantInvalid(t, err)
	_, err = ray.BundleResource("TPU", strings.Repeat("0", 36), -1)
	wantInvalid(t, err)
	_, err = ray.GroupResource("", strings.Repeat("0", 36))
	wantInvalid(t, err)
}

func TestEmptyGroupsAndClustersDoNotCrash(t *testing.T) {
	cluster, group := newCluster(t, 0), &ray.Group{}
	_, _ = group.Place(cluster)
	_, _ = group.BundleOrder()
	_, _ = group.IsPossible(cluster, ray.Answer{Result: ray.Success}, 1)
	if err := cluster.Allocate(group, []int{}); err != nil {
		t.Error(err)
	}
	var nothing *ray.Cluster
	_, err := group.Place(nothing)
	wantInvalid(t, err)
}

func TestCallsOnClosedValuesFail(t *testing.T) {
	cluster := newCluster(t, 1)
	cluster.Close()
	_, err := (&ray.Group{Bundles: newBundles(1)}).Place(cluster)
	if !errors.Is(err, quoit.ErrClosed) {
		t.Errorf("%v: expected ErrClosed", err)
	}
	workers := int64(1)
	plan, err := ray.Scaling{Workers: &workers}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	plan.Close()
	_, err = plan.Slices(1)
	if !errors.Is(err, quoit.ErrClosed) {
		t.Errorf("%v: expected ErrClosed", err)
	}
	_, err = (&ray.TrainPlan{}).Labels(0)
	if !errors.Is(err, quoit.ErrClosed) {
		t.Errorf("%v: expected ErrClosed", err)
	}
}

func TestGoroutinesCanShareACluster(t *testing.T) {
	cluster, group := newCluster(t, 16), &ray.Group{Bundles: newBundles(8)}
	var all sync.WaitGroup
	for worker := 0; worker < 8; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			if answer, err := group.Place(cluster); err != nil || answer.Result != ray.Success {
				t.Errorf("%+v, %v", answer, err)
			}
		}()
	}
	all.Wait()
}

func TestElasticJobStartsAndResizes(t *testing.T) {
	interval := 30 * time.Second
	plan, err := ray.Scaling{
		Range: &ray.WorkerRange{Min: 4, Max: 8}, Accelerators: ray.UseTPU, Topology: "4x4", AcceleratorType: "TPU-V6E",
		MonitorInterval: &interval,
	}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	defer plan.Close()
	four, eight := int64(4), int64(8)
	if starts, _ := plan.WouldStart(nil); starts {
		t.Error("the job starts although the number of possible workers is unknown")
	}
	if starts, _ := plan.WouldStart(&four); !starts {
		t.Error("the job does not start with the minimum of workers")
	}
	if isDue, _ := plan.IsResizeCheckDue(0, nil, interval-time.Millisecond); isDue {
		t.Error("the resize check is due before the interval has ended")
	}
	if isDue, _ := plan.IsResizeCheckDue(0, nil, interval); !isDue {
		t.Error("the resize check is not due after the interval")
	}
	if isDue, _ := plan.IsResizeCheckDue(0, &interval, interval+time.Second); isDue {
		t.Error("the resize check is due again after one second")
	}
	if resizes, _ := plan.WouldResize(4, &eight); !resizes {
		t.Error("the job does not grow to 8 workers")
	}
	if resizes, _ := plan.WouldResize(8, &eight); resizes {
		t.Error("the job restarts although its size does not change")
	}
	group, err := plan.SliceGroup(8)
	if err != nil || group.Slices != 2 || len(group.Heads) != 2 || group.BundleCount != 8 {
		t.Errorf("%+v, %v: expected two slices", group, err)
	}
}

func TestFreeSlicesExcludesUsedSlicesThatRayCallsReady(t *testing.T) {
	list := ray.NodeList{}
	for worker := 0; worker < 4; worker++ {
		list = append(list, ray.Node{
			ID: fmt.Sprint("n", worker), Total: ray.Resources{{Name: "TPU", Amount: 4}}, Available: ray.Resources{},
			Labels: ray.Labels{
				{Key: "ray.io/tpu-slice-name", Value: "s"}, {Key: "ray.io/tpu-worker-id", Value: fmt.Sprint(worker)},
				{Key: "ray.io/tpu-pod-type", Value: "v6e-16"}, {Key: "ray.io/tpu-topology", Value: "4x4"},
			},
		})
	}
	kind := ray.SliceClass{Topology: "4x4", AcceleratorType: "TPU-V6E"}
	intact, _ := list.Slices(kind)
	ready, _ := list.ReadySlices(kind)
	free, err := list.FreeSlices(kind)
	if intact != 1 || ready != 1 || free != 0 || err != nil {
		t.Errorf("intact %d, ready %d, free %d, %v: expected that Ray calls the used slice ready, and quoit does not call it free",
			intact, ready, free, err)
	}
}

func TestTextWithNULIsRefused(t *testing.T) {
	bad := "v6e\x00"
	for name, ask := range map[string]func() error{
		"NormalizeType":     func() error { _, err := ray.NormalizeType(bad); return err },
		"VersionFromType":   func() error { _, err := ray.VersionFromType(bad); return err },
		"ChipsFromTopology": func() error { _, err := ray.ChipsFromTopology(bad); return err },
		"PodType":           func() error { _, err := ray.PodType("4x4", bad); return err },
		"NewHost":           func() error { _, err := ray.NewHost(map[string]string{"A": bad}, nil); return err },
		"VisibleEnv":        func() error { _, err := ray.VisibleEnv([]string{bad}, 1, nil); return err },
		"CheckLabelKey":     func() error { return ray.CheckLabelKey(bad) },
		"RankBySlice":       func() error { _, err := ray.RankBySlice([]*string{&bad}, []string{"a"}); return err },
		"RankByNode":        func() error { _, err := ray.RankByNode([]string{"a"}, []int64{1, 2}, nil); return err },
		"Group":             func() error { return (&ray.Group{Lifetime: bad}).Check() },
		"Subslices": func() error {
			_, err := ray.Subslices{bad: nil}.Find(nil, "s", "2x2", nil)
			return err
		},
		"SlicePlacementGroup": func() error {
			_, err := ray.SlicePlacementGroup(ray.SliceRequest{Topology: "4x4", AcceleratorVersion: bad})
			return err
		},
		"Scaling": func() error { _, err := ray.Scaling{Selector: ray.Labels{{Key: bad}}}.Plan(); return err },
	} {
		if err := ask(); !errors.Is(err, quoit.Invalid) {
			t.Errorf("%s: %v: expected INVALID", name, err)
		}
	}
	if ray.TypeIsValid("v6e-16\x00") || ray.TopologyIsValid("v6e", "4x4\x00") || ray.ValidTopologies(bad) != nil {
		t.Error("text with a NUL was truncated at the NUL")
	}
}

func ExampleGroup_Place() {
	cluster := ray.NewCluster()
	defer cluster.Close()
	for _, id := range []string{"a", "b"} {
		node := ray.ClusterNode{ID: id, Amounts: []ray.NodeAmount{{Name: "TPU", Total: 40000, Available: 40000}}}
		if err := cluster.Add(node); err != nil {
			panic(err)
		}
	}
	spread := quoit.StrictSpread
	for _, count := range []int{2, 3} {
		group := &ray.Group{Strategy: &spread, Bundles: make([]ray.Bundle, count)}
		for bundle := range group.Bundles {
			group.Bundles[bundle].Amounts = ray.Resources{{Name: "TPU", Amount: 4}}
		}
		answer, err := group.Place(cluster)
		fmt.Println(answer.Result, answer.Nodes, err)
	}
	// Output:
	// SUCCESS [0 1] <nil>
	// INFEASIBLE [] <nil>
}

func ExampleVersionFromType() {
	version, err := ray.VersionFromType("TPU-V6E")
	fmt.Println(version, err)
	_, err = ray.VersionFromType("v6e-16")
	fmt.Println(errors.Is(err, quoit.Invalid))
	// Output:
	// v6e <nil>
	// true
}
