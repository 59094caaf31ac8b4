// SPDX-License-Identifier: Apache-2.0

package kuberay_test

import (
	"errors"
	"fmt"
	"log"
	"reflect"
	"strings"
	"sync"
	"testing"

	"quoit"
	"quoit/kuberay"
	"quoit/webhook"
)

const manifest = `
kind: RayCluster
metadata: {name: c}
spec:
  enableInTreeAutoscaling: true
  workerGroupSpecs:
  - {groupName: g, replicas: 2, numOfHosts: 2, template: {spec: {containers: [{}]}}}
  - {groupName: "${NAME}", minReplicas: 1, template: {spec: {}}}
`

func must[Value any](t *testing.T) func(Value, error) Value {
	return func(value Value, err error) Value {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func wantCode(t *testing.T, err error, code quoit.Code) {
	t.Helper()
	if !errors.Is(err, code) {
		t.Errorf("%v: expected %v", err, code)
	}
}

func tpuTemplate() *webhook.Pod {
	chips := "4"
	return &webhook.Pod{
		Selectors:  map[string]string{webhook.TopologySelector: "2x4"},
		Containers: []webhook.Container{{}, {Limit: &chips}},
	}
}

func newCluster(t *testing.T, group kuberay.Group, options kuberay.Options) *kuberay.Cluster {
	t.Helper()
	cluster := must[*kuberay.Cluster](t)(kuberay.New("c", options))
	t.Cleanup(cluster.Close)
	if err := cluster.AddGroup(group); err != nil {
		t.Fatal(err)
	}
	return cluster
}

func twoReplicas() kuberay.Group { return kuberay.Group{Name: "g", Hosts: 2, Replicas: 2} }

// podPlaces returns the replica, host and incarnation of each pod.
func podPlaces(t *testing.T, cluster *kuberay.Cluster) [][3]int64 {
	t.Helper()
	found := [][3]int64{}
	for _, pod := range must[[]kuberay.Pod](t)(cluster.Pods()) {
		found = append(found, [3]int64{pod.Replica, pod.Host, pod.Incarnation})
	}
	return found
}

func wantPodPlaces(t *testing.T, cluster *kuberay.Cluster, expected ...[3]int64) {
	t.Helper()
	if found := podPlaces(t, cluster); !reflect.DeepEqual(found, expected) {
		t.Errorf("%v: expected %v", found, expected)
	}
}

func TestReplicaOfALostPodIsDeletedAndCreatedAgain(t *testing.T) {
	cluster := newCluster(t, twoReplicas(), kuberay.Options{})
	if done := must[kuberay.Pass](t)(cluster.Reconcile()); done != (kuberay.Pass{}) {
		t.Errorf("%+v", done)
	}
	if err := cluster.Mark(1, kuberay.Gone); err != nil {
		t.Fatal(err)
	}
	done := must[kuberay.Pass](t)(cluster.Reconcile())
	if done.Requeued != "cleaned up incomplete replica group g-<0>, requeueing" {
		t.Errorf("'%s'", done.Requeued)
	}
	wantPodPlaces(t, cluster, [3]int64{1, 0, 1}, [3]int64{1, 1, 1})
	must[kuberay.Pass](t)(cluster.Reconcile())
	wantPodPlaces(t, cluster, [3]int64{0, 0, 2}, [3]int64{0, 1, 2}, [3]int64{1, 0, 1}, [3]int64{1, 1, 1})
	wantCode(t, cluster.Mark(1, kuberay.Failed), quoit.NotFound)
	_, err := cluster.Mutate(1)
	wantCode(t, err, quoit.NotFound)
}

// Each event is marked on one of the four pods of a cluster. kept is whether the pod survives the event.
func TestEventsReplaceReplicasLikeTheOperator(t *testing.T) {
	for event, kept := range map[kuberay.Event]bool{
		kuberay.Failed: false, kuberay.Ended: false, kuberay.Restarted: true, kuberay.ToDelete: false,
	} {
		cluster := newCluster(t, twoReplicas(), kuberay.Options{})
		must[kuberay.Pass](t)(cluster.Reconcile())
		if err := cluster.Mark(0, event); err != nil {
			t.Fatal(err)
		}
		must[kuberay.Pass](t)(cluster.Reconcile())
		must[kuberay.Pass](t)(cluster.Reconcile())
		if pods := podPlaces(t, cluster); len(pods) != 4 || (pods[0][2] == 0) != kept {
			t.Errorf("after %d: %v", event, pods)
		}
	}
}

func TestProcessesGetTheVariablesOfEnvFromAndExpandedReferences(t *testing.T) {
	manifest := []byte(`kind: RayCluster
metadata: {name: c}
spec: {workerGroupSpecs: [{groupName: g, replicas: 1, template: {spec: {containers: [
  {envFrom: [{configMapRef: {name: m}}, {secretRef: {name: gone}}], env: [{name: B, value: $(A)!}]}]}}}]}
---
kind: ConfigMap
metadata: {name: m}
data: {A: x}
`)
	cluster := must[*kuberay.Cluster](t)(kuberay.ParseManifest(manifest, nil, kuberay.Options{}))
	defer cluster.Close()
	must[kuberay.Pass](t)(cluster.Reconcile())
	pods := must[[]kuberay.Pod](t)(cluster.Pods())
	variables := must[*webhook.Admitted](t)(cluster.Admit(pods[0].Serial)).Containers[0]
	if len(variables) != 2 || *variables[0].Value != "x" || *variables[1].Value != "x!" {
		t.Errorf("%+v", variables)
	}
	if len(cluster.Notes) != 1 || !strings.Contains(cluster.Notes[0], "no Secret 'gone' in the file") {
		t.Errorf("%q", cluster.Notes)
	}
}

func TestArbitraryDeletionsAreReported(t *testing.T) {
	for _, one := range []struct {
		options   kuberay.Options
		pods      int
		arbitrary bool
	}{
		{kuberay.Options{}, 2, true},
		{kuberay.Options{Autoscaling: true}, 4, false},
		{kuberay.Options{Autoscaling: true, RandomDeletion: true}, 2, true},
	} {
		cluster := newCluster(t, twoReplicas(), one.options)
		must[kuberay.Pass](t)(cluster.Reconcile())
		if err := cluster.SetReplicas("g", 1); err != nil {
			t.Fatal(err)
		}
		done := must[kuberay.Pass](t)(cluster.Reconcile())
		if found := podPlaces(t, cluster); done.IsDeletionArbitrary != one.arbitrary || len(found) != one.pods {
			t.Errorf("%+v: %+v, %v", one.options, done, found)
		}
	}
	bare := newCluster(t, twoReplicas(), kuberay.Options{NoIndices: true})
	must[kuberay.Pass](t)(bare.Reconcile())
	wantPodPlaces(t, bare, [3]int64{-1, -1, -1}, [3]int64{-1, -1, -1}, [3]int64{-1, -1, -1}, [3]int64{-1, -1, -1})
}

func desired(t *testing.T, cluster *kuberay.Cluster) int {
	t.Helper()
	return must[[]kuberay.GroupInfo](t)(cluster.Groups())[0].Desired
}

func TestBoundsAndSuspensionLimitDesiredPods(t *testing.T) {
	cluster := newCluster(t, kuberay.Group{Name: "g", Hosts: 2, Replicas: 9}, kuberay.Options{})
	for _, step := range []struct {
		do       func() error
		expected int
	}{
		{func() error { return nil }, 18},
		{func() error { return cluster.SetBounds("g", 1, 3) }, 6},
		{func() error { return cluster.Suspend("g") }, 0},
		{func() error { return cluster.Resume("g") }, 6},
		{func() error { return cluster.SetReplicas("g", -5) }, 2},
		{func() error { return cluster.SetBounds("g", 1<<31-1, 1<<31-1) }, -2},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		if found := desired(t, cluster); found != step.expected {
			t.Errorf("%d pods: expected %d", found, step.expected)
		}
	}
}

func TestPodHasKubeRaysLabelsAndTheWebhooksPatch(t *testing.T) {
	group := twoReplicas()
	group.Template = tpuTemplate()
	cluster := newCluster(t, group, kuberay.Options{})
	must[kuberay.Pass](t)(cluster.Reconcile())
	pod := must[[]kuberay.Pod](t)(cluster.Pods())[3]
	if pod.Serial != 3 || pod.Group != "g" || pod.Labels["ray.io/worker-group-replica-name"] != "g-<1>" {
		t.Errorf("%+v", pod)
	}
	patch := must[*webhook.Patch](t)(cluster.Mutate(pod.Serial))
	service := must[string](t)(cluster.Service())
	if patch.HostName != "g-1-1" || patch.Subdomain != "c-headless" || service != "c-headless" {
		t.Errorf("%+v, service '%s'", patch, service)
	}
	template := tpuTemplate()
	template.Labels = pod.Labels
	if direct := must[*webhook.Patch](t)(webhook.Mutate(*template, nil)); !reflect.DeepEqual(patch, direct) {
		t.Errorf("%+v: expected %+v", patch, direct)
	}
	if groups := must[[]kuberay.GroupInfo](t)(cluster.Groups()); groups[0].Containers != 2 || groups[0].Hosts != 2 {
		t.Errorf("%+v", groups)
	}
}

func TestParseManifestReturnsItsGroups(t *testing.T) {
	cluster := must[*kuberay.Cluster](t)(
		kuberay.ParseManifest([]byte(manifest), map[string]string{"NAME": "h"}, kuberay.Options{}))
	t.Cleanup(cluster.Close)
	if len(podPlaces(t, cluster)) != 0 || cluster.Name != "c" {
		t.Errorf("'%s' has pods before a pass", cluster.Name)
	}
	must[kuberay.Pass](t)(cluster.Reconcile())
	pods := must[[]kuberay.Pod](t)(cluster.Pods())
	if len(pods) != 5 || pods[3].Group != "g" || pods[4].Group != "h" || pods[4].Host != -1 || pods[4].Incarnation != -1 {
		t.Errorf("%+v", pods)
	}
	for text, variables := range map[string]map[string]string{
		manifest: nil, "kind: Pod": nil, "": nil, "kind: RayCluster\x00": nil, manifest + " ": {"A=B": "c"}, manifest + "  ": {"A": "\x00"},
	} {
		_, err := kuberay.ParseManifest([]byte(text), variables, kuberay.Options{})
		wantCode(t, err, quoit.Invalid)
	}
}

func TestTooLongNamesAreRefused(t *testing.T) {
	long := must[*kuberay.Cluster](t)(kuberay.New(strings.Repeat("c", 42), kuberay.Options{}))
	t.Cleanup(long.Close)
	group := twoReplicas()
	group.Template = tpuTemplate()
	if err := long.AddGroup(group); err != nil {
		t.Fatal(err)
	}
	err := long.CheckNames()
	if wantCode(t, err, quoit.Invalid); err != nil && !strings.Contains(err.Error(), "expected at most 41 bytes") {
		t.Errorf("'%v'", err)
	}
	if err := newCluster(t, group, kuberay.Options{}).CheckNames(); err != nil {
		t.Error(err)
	}
	nines := strings.Repeat("9", 51)
	if name := must[string](t)(kuberay.CheckedName(nines)); name != "r"+nines[:49] {
		t.Errorf("'%s'", name)
	}
	if prefix := must[string](t)(kuberay.PodPrefix("C-G")); prefix != "c-g-worker-" {
		t.Errorf("'%s'", prefix)
	}
	_, err = kuberay.CheckedName("\x00")
	wantCode(t, err, quoit.Invalid)
	_, err = kuberay.PodPrefix("\x00")
	wantCode(t, err, quoit.Invalid)
	_, err = kuberay.New("\x00", kuberay.Options{})
	wantCode(t, err, quoit.Invalid)
}

func TestInvalidArgumentsAreRefusedAndChangeNothing(t *testing.T) {
	cluster := newCluster(t, twoReplicas(), kuberay.Options{})
	must[kuberay.Pass](t)(cluster.Reconcile())
	groups, pods := must[[]kuberay.GroupInfo](t)(cluster.Groups()), must[[]kuberay.Pod](t)(cluster.Pods())
	wrong := "four"
	for _, one := range []struct {
		err     error
		code    quoit.Code
		message string
	}{
		{cluster.AddGroup(twoReplicas()), quoit.Invalid, "group 'g'"},
		{cluster.AddGroup(kuberay.Group{Name: "h", Hosts: -1}), quoit.Invalid, "numOfHosts '-1'"},
		{cluster.AddGroup(kuberay.Group{Name: "h", Replicas: 1 << 31}), quoit.Invalid, "replicas '2147483648'"},
		{cluster.AddGroup(kuberay.Group{Name: "h\x00"}), quoit.Invalid, "group '"},
		{cluster.AddGroup(kuberay.Group{Name: "h", Template: &webhook.Pod{Containers: []webhook.Container{{Limit: &wrong}}}}),
			quoit.Invalid, "'four'"},
		{cluster.SetReplicas("x", 1), quoit.NotFound, "group 'x'"},
		{cluster.SetReplicas("g", -1<<40), quoit.Invalid, "replicas '-"},
		{cluster.SetBounds("x", 0, 1), quoit.NotFound, "group 'x'"},
		{cluster.SetBounds("g", 1<<31, 1), quoit.Invalid, "lowest '2147483648'"},
		{cluster.SetBounds("g", 0, 1<<31), quoit.Invalid, "highest '2147483648'"},
		{cluster.Suspend("x\x00"), quoit.NotFound, "group 'x"},
		{cluster.Resume("x"), quoit.NotFound, "group 'x'"},
		{cluster.Mark(0, 99), quoit.Invalid, "event '99'"},
		{cluster.Mark(99, kuberay.Gone), quoit.NotFound, "pod '99'"},
	} {
		wantCode(t, one.err, one.code)
		if one.err != nil && !strings.Contains(one.err.Error(), one.message) {
			t.Errorf("'%v': expected '%s'", one.err, one.message)
		}
	}
	if now := must[[]kuberay.GroupInfo](t)(cluster.Groups()); !reflect.DeepEqual(groups, now) {
		t.Errorf("%+v: expected %+v", now, groups)
	}
	if err := cluster.SetReplicas("g", 1_000_000); err != nil {
		t.Fatal(err)
	}
	_, err := cluster.Reconcile()
	wantCode(t, err, quoit.Invalid)
	if now := must[[]kuberay.Pod](t)(cluster.Pods()); !reflect.DeepEqual(pods, now) {
		t.Errorf("%+v: expected %+v", now, pods)
	}
}

func TestEveryCallOnAClosedClusterFails(t *testing.T) {
	cluster := newCluster(t, twoReplicas(), kuberay.Options{})
	cluster.Close()
	cluster.Close()
	for _, one := range []*kuberay.Cluster{cluster, nil, {}} {
		_, service := one.Service()
		_, groups := one.Groups()
		_, pass := one.Reconcile()
		_, pods := one.Pods()
		_, patch := one.Mutate(0)
		for index, err := range []error{
			service, groups, pass, pods, patch, one.CheckNames(), one.AddGroup(twoReplicas()), one.SetReplicas("g", 1),
			one.SetBounds("g", 0, 1), one.Suspend("g"), one.Resume("g"), one.Mark(0, kuberay.Gone),
		} {
			if !errors.Is(err, quoit.ErrClosed) || !errors.Is(err, quoit.Invalid) {
				t.Errorf("call %d: %v: expected ErrClosed", index, err)
			}
		}
	}
}

func TestGoroutinesCanShareACluster(t *testing.T) {
	cluster := newCluster(t, twoReplicas(), kuberay.Options{})
	var all sync.WaitGroup
	for worker := int64(0); worker < 4; worker++ {
		all.Add(1)
		go func(replicas int64) {
			defer all.Done()
			for round := 0; round < 20; round++ {
				_, err := cluster.Reconcile()
				pods, later := cluster.Pods()
				if wrong := errors.Join(cluster.SetReplicas("g", replicas), err, later); wrong != nil || len(pods)%2 != 0 {
					t.Errorf("%d pods, %v", len(pods), wrong)
					return
				}
			}
		}(worker)
	}
	all.Wait()
}

func ExampleCluster_Reconcile() {
	cluster, err := kuberay.New("c", kuberay.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer cluster.Close()
	if err := cluster.AddGroup(kuberay.Group{Name: "g", Hosts: 2, Replicas: 2}); err != nil {
		log.Fatal(err)
	}
	for pass := 0; pass < 2; pass++ {
		if _, err := cluster.Reconcile(); err != nil {
			log.Fatal(err)
		}
		pods, err := cluster.Pods()
		if err != nil {
			log.Fatal(err)
		}
		for _, pod := range pods {
			fmt.Println("pass", pass, "replica", pod.Replica, "host", pod.Host, "of incarnation", pod.Incarnation)
		}
		if err := cluster.Mark(pods[0].Serial, kuberay.Failed); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// pass 0 replica 0 host 0 of incarnation 0
	// pass 0 replica 0 host 1 of incarnation 0
	// pass 0 replica 1 host 0 of incarnation 1
	// pass 0 replica 1 host 1 of incarnation 1
	// pass 1 replica 0 host 0 of incarnation 2
	// pass 1 replica 0 host 1 of incarnation 2
	// pass 1 replica 1 host 0 of incarnation 1
	// pass 1 replica 1 host 1 of incarnation 1
}

func TestClusterOfARayJobHasAnAssumedName(t *testing.T) {
	job := must[*kuberay.Cluster](t)(kuberay.ParseManifest(
		[]byte("kind: RayJob\nmetadata: {name: j}\nspec: {rayClusterSpec: {workerGroupSpecs: []}}"), nil, kuberay.Options{}))
	defer job.Close()
	if job.Name != "j-xxxxx" || !job.IsNameAssumed || job.LongestName != 35 {
		t.Errorf("%s, assumed %v, %d", job.Name, job.IsNameAssumed, job.LongestName)
	}
	if known := newCluster(t, twoReplicas(), kuberay.Options{}); known.IsNameAssumed || known.LongestName != 41 {
		t.Errorf("assumed %v, %d", known.IsNameAssumed, known.LongestName)
	}
}

func TestCheckGroupReturnsTheWebhooksDenial(t *testing.T) {
	for hosts, denied := range map[int64]bool{2: false, 3: true} {
		cluster := newCluster(t, kuberay.Group{Name: "g", Hosts: hosts, Template: tpuTemplate()}, kuberay.Options{})
		if denial, err := cluster.CheckGroup("g"); err != nil || (denial != "") != denied {
			t.Errorf("%d hosts: '%s', %v", hosts, denial, err)
		}
		_, err := cluster.CheckGroup("x")
		wantCode(t, err, quoit.NotFound)
	}
	_, err := newCluster(t, kuberay.Group{Name: "g", Template: tpuTemplate()}, kuberay.Options{}).CheckGroup("g")
	wantCode(t, err, quoit.Invalid)
}

func TestAdmittedPodHasTheVariablesOfItsProcesses(t *testing.T) {
	group := twoReplicas()
	group.Template = tpuTemplate()
	cluster := newCluster(t, group, kuberay.Options{})
	must[kuberay.Pass](t)(cluster.Reconcile())
	pods := must[[]kuberay.Pod](t)(cluster.Pods())
	admitted := must[*webhook.Admitted](t)(cluster.Admit(pods[3].Serial))
	if admitted.Labels["ray.io/replica-host-index"] != "1" || len(admitted.Containers) != 2 || len(admitted.Containers[0]) != 0 {
		t.Errorf("%+v", admitted)
	}
	found := ""
	for _, variable := range admitted.Containers[1] {
		if variable.Name == "TPU_WORKER_ID" && variable.IsEffective {
			found = *variable.Value
		}
	}
	if found != "1" {
		t.Errorf("worker '%s': expected 1", found)
	}
	_, err := cluster.Admit(99)
	wantCode(t, err, quoit.NotFound)
}
