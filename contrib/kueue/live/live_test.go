// SPDX-License-Identifier: Apache-2.0

// Package live tests the controller with a real control plane of Kubernetes and the real Kueue.
package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"quoit"
	"quoit/contrib/kueue/admission"
)

var (
	namespaces = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	nodes      = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	pods       = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	jobs       = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	workloads  = schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: "workloads"}
)

var (
	background   = metav1.DeletePropagationBackground
	inBackground = metav1.DeleteOptions{PropagationPolicy: &background}
)

// --- kubelets ---

var ended sync.Map // names of Jobs whose pods end

// kubelet does what kubelets do: it starts the pods of its nodes, ends them, and removes deleted ones. It also removes the
// pods of nodes that are gone, as the pod garbage collector does after a while.
func (p *plane) kubelet() {
	for {
		time.Sleep(100 * time.Millisecond)
		list, err := p.client.Resource(pods).Namespace("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		present := map[string]bool{}
		all, err := p.client.Resource(nodes).List(ctx, metav1.ListOptions{})
		if err != nil {
			continue
		}
		for _, node := range all.Items {
			present[node.GetName()] = true
		}
		for _, pod := range list.Items {
			node, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
			phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
			_, isEnded := ended.Load(pod.GetLabels()["batch.kubernetes.io/job-name"])
			now := int64(0)
			switch {
			case node == "":
			case pod.GetDeletionTimestamp() != nil || !present[node]:
				p.setPhase(pod.GetName(), "Failed")
				p.client.Resource(pods).Namespace("default").Delete(ctx, pod.GetName(), metav1.DeleteOptions{GracePeriodSeconds: &now})
			case phase == "Running" && isEnded:
				p.setPhase(pod.GetName(), "Succeeded")
			case phase == "Pending":
				p.setPhase(pod.GetName(), "Running")
			}
		}
	}
}

func (p *plane) setPhase(pod, phase string) {
	ready := map[string]string{"Running": "True", "Succeeded": "False", "Failed": "False"}[phase]
	patch := fmt.Sprintf(`{"status":{"phase":%q,"conditions":[{"type":"Ready","status":%q}]}}`, phase, ready)
	p.client.Resource(pods).Namespace("default").Patch(ctx, pod, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
}

// --- a test ---

// world is one test: its own slices, ledger and controllers.
type world struct {
	*plane
	t       *testing.T
	ledger  string
	pools   []string
	metrics int
}

func newWorld(t *testing.T, ledger string, slices int) *world {
	w := &world{plane: shared, t: t, ledger: ledger}
	port, err := freePort()
	w.must(err)
	w.metrics = port
	for slice := 0; slice < slices; slice++ {
		w.addSlice(fmt.Sprintf("pool%d", slice))
	}
	t.Cleanup(func() {
		if t.Failed() {
			text, err := w.kubectl("get", "jobs,pods,workloads,nodes", "--output=wide", "--show-labels")
			t.Logf("%s %v", text, err)
		}
		w.client.Resource(jobs).Namespace("default").DeleteCollection(ctx, inBackground, metav1.ListOptions{})
		w.client.Resource(pods).Namespace("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		w.client.Resource(nodes).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
		w.eventually(30*time.Second, func() error { return w.checkGone("") })
	})
	return w
}

// ledgers returns the places where the tests keep their ledgers: a file, and a server if there is one.
func ledgers(t *testing.T) map[string]string {
	places := map[string]string{"sqlite": t.TempDir() + "/quoit.db"}
	if server := os.Getenv("QUOIT_TEST_SERVER"); server != "" {
		places["postgresql"] = fmt.Sprintf("%s#kueue-%d", server, time.Now().UnixNano())
	}
	return places
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) eventually(limit time.Duration, call func() error) {
	w.t.Helper()
	if err := waitFor(limit, call); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) create(resource schema.GroupVersionResource, namespace, text string) *unstructured.Unstructured {
	w.t.Helper()
	object := &unstructured.Unstructured{}
	w.must(json.Unmarshal([]byte(text), &object.Object))
	var created *unstructured.Unstructured
	w.eventually(20*time.Second, func() (err error) {
		if namespace == "" {
			created, err = w.client.Resource(resource).Create(ctx, object, metav1.CreateOptions{})
		} else {
			created, err = w.client.Resource(resource).Namespace(namespace).Create(ctx, object, metav1.CreateOptions{})
		}
		return err
	})
	return created
}

func (w *world) addSlice(pool string) {
	w.t.Helper()
	w.pools = append(w.pools, pool)
	for worker := 0; worker < 4; worker++ {
		w.addNode(pool, worker)
	}
}

// addNode adds a node of a v6e 4x4 slice, as GKE does.
func (w *world) addNode(pool string, worker int) {
	w.t.Helper()
	name := fmt.Sprintf("%s-%d", pool, worker)
	w.create(nodes, "", fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{
		"cloud.google.com/gke-tpu-accelerator":"tpu-v6e-slice","cloud.google.com/gke-tpu-topology":"4x4",
		"cloud.google.com/gke-nodepool":%q,"kubernetes.io/hostname":%q}}}`, name, pool, name))
	resources := `{"google.com/tpu":"4","cpu":"100","memory":"400Gi","pods":"50"}`
	status := fmt.Sprintf(`{"status":{"capacity":%s,"allocatable":%s,"conditions":[{"type":"Ready","status":"True"}]}}`, resources, resources)
	_, err := w.client.Resource(nodes).Patch(ctx, name, types.MergePatchType, []byte(status), metav1.PatchOptions{}, "status")
	w.must(err)
	taints := `{"spec":{"taints":[{"key":"google.com/tpu","value":"present","effect":"NoSchedule"}]}}`
	_, err = w.client.Resource(nodes).Patch(ctx, name, types.MergePatchType, []byte(taints), metav1.PatchOptions{})
	w.must(err)
}

// --- controllers ---

// controller is a controller that runs. Like a kubelet, it starts a program again that has ended by itself, unless it ends or
// stops at a step.
type controller struct {
	mu        sync.Mutex
	command   *exec.Cmd
	log       string
	isStopped bool
	done      chan struct{} // closed when the program has ended and is not started again
}

var started int

// startController starts the controller with the rights of its manifests. step is where it ends or stops; see step_hook.go.
func (w *world) startController(identity, step string) *controller {
	w.t.Helper()
	started++
	name := fmt.Sprintf("controller-%d-%s", started, identity)
	c := &controller{log: w.file(name + ".log"), done: make(chan struct{})}
	start := func() error {
		command, err := w.newCommand(name, os.Getenv("QUOIT_KUEUE"), "-kubeconfig", w.file("quoit.kubeconfig"), "-ledger",
			w.ledger, "-identity", identity, "-lease-duration", "4s", "-renew-deadline", "3s", "-retry-period", "500ms",
			"-period", "2s", "-retry-shortest", "2s", "-retry-longest", "4s",
			"-listen", fmt.Sprintf("127.0.0.1:%d", w.metrics))
		if err != nil {
			return err
		}
		command.Env = append(os.Environ(), "QUOIT_TEST_STEP="+step)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.isStopped {
			return errors.New("it was ended")
		}
		if err := command.Start(); err != nil {
			return err
		}
		c.command = command
		return nil
	}
	w.must(start())
	go func() {
		defer close(c.done)
		for {
			c.command.Wait()
			if step != "" || start() != nil {
				return
			}
		}
	}()
	w.t.Cleanup(c.kill)
	return c
}

// kill ends the controller by kill -9 for good.
func (c *controller) kill() {
	c.mu.Lock()
	c.isStopped = true
	c.command.Process.Kill()
	c.mu.Unlock()
	<-c.done
}

func (c *controller) isRunning() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// state returns the letter of the process's state in /proc: T is stopped.
func (c *controller) state() string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.command.Process.Pid))
	if err != nil {
		return ""
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))[0]
}

// --- Jobs ---

// addJob adds a Job that needs whole 4x4 slices. Kueue starts it.
func (w *world) addJob(name, queue string, slices int) {
	w.t.Helper()
	w.create(jobs, "default", fmt.Sprintf(`{"apiVersion":"batch/v1","kind":"Job",
		"metadata":{"name":%q,"labels":{"kueue.x-k8s.io/queue-name":%q}},
		"spec":{"parallelism":%d,"completions":%d,"completionMode":"Indexed","suspend":true,"backoffLimitPerIndex":100,"template":{"spec":{
			"restartPolicy":"Never","nodeSelector":{"cloud.google.com/gke-tpu-topology":"4x4"},
			"tolerations":[{"key":"google.com/tpu","operator":"Exists","effect":"NoSchedule"}],
			"containers":[{"name":"c","image":"x","resources":{"limits":{"google.com/tpu":"4"}}}]}}}}`,
		name, queue, slices*4, slices*4))
}

func (w *world) deleteJob(name string) {
	w.t.Helper()
	w.must(w.client.Resource(jobs).Namespace("default").Delete(ctx, name, inBackground))
}

// workloadOf returns the Workload of a Job.
func (w *world) workloadOf(job string) (*admission.Workload, error) {
	list, err := w.client.Resource(workloads).Namespace("default").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, object := range list.Items {
		for _, owner := range object.GetOwnerReferences() {
			if owner.Name != job {
				continue
			}
			text, err := object.MarshalJSON()
			if err != nil {
				return nil, err
			}
			workload := &admission.Workload{}
			return workload, json.Unmarshal(text, workload)
		}
	}
	return nil, fmt.Errorf("Job %s has no Workload", job)
}

func (w *world) readNode(name string) (*admission.Node, error) {
	object, err := w.client.Resource(nodes).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, err
	}
	text, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	node := &admission.Node{}
	return node, json.Unmarshal(text, node)
}

// checkRuns checks that all pods of a Job run, on marked nodes of the group of its Workload, and that each slice is whole.
func (w *world) checkRuns(job string, slices int) error {
	workload, err := w.workloadOf(job)
	if err != nil {
		return err
	}
	if len(workload.Status.Checks) != 1 || workload.Status.Checks[0].State != admission.Ready {
		return fmt.Errorf("%s: checks %+v", job, workload.Status.Checks)
	}
	mark := workload.Status.Checks[0].PodSetUpdates[0].NodeSelector[admission.MarkKey]
	list, err := w.client.Resource(pods).Namespace("default").List(ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job})
	if err != nil {
		return err
	}
	perPool, names := map[string]int{}, []string{}
	for _, pod := range list.Items {
		phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
		name, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
		if phase != "Running" || pod.GetDeletionTimestamp() != nil {
			continue
		}
		node, err := w.readNode(name)
		if err != nil {
			return err
		}
		if !node.HasMark(mark) {
			return fmt.Errorf("pod %s runs on %s without the mark %s", pod.GetName(), name, mark)
		}
		perPool[node.Metadata.Labels["cloud.google.com/gke-nodepool"]]++
		names = append(names, name)
	}
	if len(names) != slices*4 || len(perPool) != slices {
		return fmt.Errorf("%s runs on %v, expected %d whole slices", job, names, slices)
	}
	return nil
}

func (w *world) checkState(job, state, message string) error {
	workload, err := w.workloadOf(job)
	if err != nil {
		return err
	}
	for _, check := range workload.Status.Checks {
		if check.State == state && strings.Contains(check.Message, message) {
			return nil
		}
	}
	return fmt.Errorf("%s: checks %+v, expected %s with '%s'", job, workload.Status.Checks, state, message)
}

// checkGone checks that a Job has no Workload and no pods; "" is all Jobs.
func (w *world) checkGone(job string) error {
	for _, resource := range []schema.GroupVersionResource{workloads, pods} {
		list, err := w.client.Resource(resource).Namespace("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, object := range list.Items {
			if strings.Contains(object.GetName(), job) {
				return fmt.Errorf("%s %s is left", resource.Resource, object.GetName())
			}
		}
	}
	return nil
}

// countEntries returns the number of journal entries of an actor.
func (w *world) countEntries(actor string) int {
	w.t.Helper()
	ledger, err := quoit.Open(w.ledger, 5*time.Second)
	w.must(err)
	defer ledger.Close()
	w.must(ledger.Refresh(ctx))
	entries, err := ledger.ChangesSince(ctx, 0)
	w.must(err)
	count := 0
	for _, entry := range entries {
		if entry.Actor == actor {
			count++
		}
	}
	return count
}

// checkNothingLeft checks that no node has a mark, and that the ledger has no group, no record of one, and is consistent.
func (w *world) checkNothingLeft() error {
	list, err := w.client.Resource(nodes).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, object := range list.Items {
		node, err := w.readNode(object.GetName())
		if err != nil {
			return err
		}
		if !node.HasMark("") {
			return fmt.Errorf("node %s has a mark: %v %v", object.GetName(), node.Metadata.Labels, node.Spec.Taints)
		}
		if len(node.Spec.Taints) != 1 {
			return fmt.Errorf("node %s: taints %v, expected GKE's own", object.GetName(), node.Spec.Taints)
		}
	}
	ledger, err := quoit.Open(w.ledger, 5*time.Second)
	if err != nil {
		return err
	}
	defer ledger.Close()
	snapshot, err := ledger.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	groups, err := snapshot.Groups()
	if err != nil {
		return err
	}
	if len(groups) > 0 {
		return fmt.Errorf("group %s is left", groups[0])
	}
	return ledger.Verify(ctx)
}

// --- tests ---

const patience = 60 * time.Second

func TestManifestsAreAccepted(t *testing.T) {
	apply := func(arguments ...string) {
		t.Helper()
		if err := waitFor(patience, func() error {
			_, err := shared.kubectl(append([]string{"apply", "--server-side"}, arguments...)...)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	config := os.Getenv("QUOIT_KUEUE_CONFIG")
	apply("-k", config+"/base") // its RBAC is that of the controllers of the other tests
	apply("--dry-run=server", "-k", config+"/postgresql")
	text, err := shared.kubectl("kustomize", config+"/postgresql")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"replicas: 2", "name: quoit-ledger", "key: password"} {
		if !strings.Contains(string(text), word) {
			t.Errorf("no '%s' in %s", word, text)
		}
	}
	for _, word := range []string{"PersistentVolumeClaim", "/ledger"} {
		if strings.Contains(string(text), word) {
			t.Errorf("'%s' in %s", word, text)
		}
	}
}

// The controller ends by kill -9 at each step of a Job's admission and of its end, until a life needs fewer steps.
func TestKillAtEveryStep(t *testing.T) {
	for name, ledger := range ledgers(t) {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, ledger, 2)
			kills := 0
			for step := 1; ; step++ {
				job := fmt.Sprintf("train-%s-%d", name, step)
				first := w.startController("a", fmt.Sprintf("kill %d", step))
				second := (*controller)(nil)
				restart := func(err error) error {
					if second == nil && !first.isRunning() {
						second = w.startController("a", "")
						kills++
					}
					return err
				}
				w.addJob(job, "tpus", 1)
				w.eventually(patience, func() error { return restart(w.checkRuns(job, 1)) })
				if step%2 == 0 {
					ended.Store(job, true)
				} else {
					w.deleteJob(job)
				}
				w.eventually(patience, func() error { return restart(w.checkNothingLeft()) })
				first.kill()
				if second == nil {
					break
				}
				second.kill()
			}
			t.Logf("killed at %d steps", kills)
			if kills < 20 {
				t.Errorf("only %d steps", kills)
			}
		})
	}
}

func TestWaitingKeepsNoQuotaAndStartsLater(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/quoit.db", 2)
	w.startController("a", "")
	w.addJob("first", "tpus", 2)
	w.eventually(patience, func() error { return w.checkRuns("first", 2) })
	w.addJob("second", "tpus", 1)
	w.eventually(patience, func() error { return w.checkState("second", admission.Pending, "Previously: Retry") })
	w.eventually(patience, func() error {
		workload, err := w.workloadOf("second")
		if err == nil && workload.MayHold() {
			err = errors.New("second keeps its quota")
		}
		return err
	})
	w.checkMetrics(`quoit_kueue_refusals_total{verdict="not-now"}`, "quoit_kueue_groups 1", "quoit_kueue_leader 1")
	ended.Store("first", true)
	w.eventually(patience, func() error { return w.checkRuns("second", 1) })
}

func (w *world) checkMetrics(lines ...string) {
	w.t.Helper()
	answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/metrics", w.metrics))
	w.must(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	w.must(err)
	for _, line := range lines {
		if !strings.Contains(string(text), line) {
			w.t.Errorf("no '%s' in %s", line, text)
		}
	}
}

// Pods that do not come through Kueue stay away from held nodes, even if they select them by name.
func TestHeldNodesGetNoOtherPods(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/quoit.db", 2)
	w.startController("a", "")
	w.addJob("holder", "tpus", 1)
	w.eventually(patience, func() error { return w.checkRuns("holder", 1) })
	stranger := `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"stranger-%s-%d"},"spec":{
		"nodeSelector":{"kubernetes.io/hostname":"%s-%d"},"tolerations":[{"key":"google.com/tpu","operator":"Exists"}],
		"containers":[{"name":"c","image":"x","resources":{"limits":{"cpu":"1"}}}]}}`
	for _, pool := range w.pools {
		for worker := 0; worker < 4; worker++ {
			w.create(pods, "default", fmt.Sprintf(stranger, pool, worker, pool, worker))
		}
	}
	reasons := func() (placed, refused int, err error) {
		list, err := w.client.Resource(pods).Namespace("default").List(ctx, metav1.ListOptions{})
		if err != nil {
			return 0, 0, err
		}
		for _, pod := range list.Items {
			if !strings.HasPrefix(pod.GetName(), "stranger-") {
				continue
			}
			name, _, _ := unstructured.NestedString(pod.Object, "spec", "nodeName")
			text, _ := pod.MarshalJSON()
			if name != "" {
				placed++
				node, err := w.readNode(name)
				if err != nil || !node.HasMark("") {
					return 0, 0, fmt.Errorf("a stranger runs on the held node %s", name)
				}
			} else if strings.Contains(string(text), "untolerated taint") {
				refused++
			}
		}
		return placed, refused, nil
	}
	w.eventually(patience, func() error {
		placed, refused, err := reasons()
		if err == nil && (placed != 4 || refused != 4) {
			err = fmt.Errorf("%d strangers are placed and %d refused because of the taint, expected 4 and 4", placed, refused)
		}
		return err
	})
}

func TestNodeLossIsRepairedOrEvicts(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/quoit.db", 2)
	w.startController("a", "")
	w.addJob("lossy", "tpus", 1)
	w.eventually(patience, func() error { return w.checkRuns("lossy", 1) })
	workload, err := w.workloadOf("lossy")
	w.must(err)
	first := workload.Status.Checks[0].Message
	pool, other := "pool0", "pool1"
	if strings.Contains(first, "pool1") {
		pool, other = other, pool
	}
	// A host is lost, so all pods of the slice end: the job is one program. The Job starts them again.
	w.must(w.client.Resource(nodes).Delete(ctx, pool+"-1", metav1.DeleteOptions{}))
	w.eventually(patience, func() error { return w.checkState("lossy", admission.Ready, other) })
	w.must(w.client.Resource(pods).Namespace("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
	w.eventually(patience, func() error { return w.checkRuns("lossy", 1) })
	w.checkMetrics(`quoit_kueue_repairs_total{result="done"} 1`)

	// Now no other slice is whole: Kueue evicts the job, and starts it again when the host is back.
	w.must(w.client.Resource(nodes).Delete(ctx, other+"-2", metav1.DeleteOptions{}))
	w.eventually(patience, func() error {
		workload, err := w.workloadOf("lossy")
		if err == nil && workload.MayHold() {
			err = fmt.Errorf("lossy keeps its quota: %+v", workload.Status)
		}
		return err
	})
	w.eventually(patience, w.checkNothingLeft)
	w.addNode(other, 2)
	w.eventually(patience, func() error { return w.checkRuns("lossy", 1) })
}

func TestFlavorWithTopologyOfKueueIsRejected(t *testing.T) {
	w := newWorld(t, t.TempDir()+"/quoit.db", 1)
	w.startController("a", "")
	w.addJob("blocks", "blocks", 1)
	w.eventually(patience, func() error {
		workload, err := w.workloadOf("blocks")
		if err != nil {
			return err
		}
		for _, check := range workload.Status.Checks {
			if strings.Contains(check.Message, "topology") || strings.Contains(check.Message, "Previously: Rejected") {
				return w.checkNothingLeft()
			}
		}
		return fmt.Errorf("checks %+v", workload.Status.Checks)
	})
}

// A leader stops at a step, in the middle of its work, and another controller leads. The Job ends, and another one gets the
// slices. Then the first one wakes, and makes this very step before it can notice. It must do no harm, and end.
func TestPausedLeaderIsFenced(t *testing.T) {
	for name, ledger := range ledgers(t) {
		for _, step := range []string{"before reservation", "after reservation", "before mark", "before check", "before release", "before removal"} {
			t.Run(name+" "+step, func(t *testing.T) {
				w := newWorld(t, ledger, 1)
				paused := w.startController("paused", "stop "+step)
				job := name + "-" + strings.ReplaceAll(step, " ", "-")
				w.addJob(job, "tpus", 1)
				if strings.Contains(step, "rele") || strings.Contains(step, "removal") {
					w.eventually(patience, func() error { return w.checkRuns(job, 1) })
					w.deleteJob(job)
				}
				w.eventually(patience, func() error {
					if state := paused.state(); state != "T" {
						return fmt.Errorf("the first controller is in state '%s'", state)
					}
					return nil
				})
				w.metrics, _ = freePort()
				w.startController("next", "")
				if !strings.Contains(step, "rele") && !strings.Contains(step, "removal") {
					w.eventually(patience, func() error { return w.checkRuns(job, 1) })
					w.deleteJob(job)
				}
				w.eventually(patience, w.checkNothingLeft)
				w.addJob("two-"+job, "tpus", 1)
				w.eventually(patience, func() error { return w.checkRuns("two-"+job, 1) })
				written := w.countEntries("kueue:paused")
				if written == 0 {
					t.Error("the first controller has written no entries")
				}
				w.must(paused.command.Process.Signal(syscall.SIGCONT))
				w.eventually(patience, func() error {
					if paused.isRunning() {
						return errors.New("the first controller still runs")
					}
					return nil
				})
				if name == "postgresql" { // the term of the next leader fences it; a Lease alone does not
					if entries := w.countEntries("kueue:paused"); entries != written {
						log, _ := os.ReadFile(paused.log)
						t.Errorf("the first controller has written %d entries after its term: %s", entries-written, log)
					}
				}
				if code := paused.command.ProcessState.ExitCode(); code != 1 {
					t.Errorf("exit status %d", code)
				}
				w.eventually(patience, func() error { return w.checkRuns("two-"+job, 1) })
				ended.Store("two-"+job, true)
				w.eventually(patience, w.checkNothingLeft)
			})
		}
	}
}
