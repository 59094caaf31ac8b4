// SPDX-License-Identifier: Apache-2.0

// Package kube is the connection of the controller to a cluster: lists that watches keep up to date, and changes that
// fail if the object is not the one that was read.
package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"quoit/contrib/kueue/admission"
)

var (
	nodeResource     = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}
	podResource      = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	workloadResource = kueueResource("workloads")
	flavorResource   = kueueResource("resourceflavors")
	checkResource    = kueueResource("admissionchecks")
)

func kueueResource(name string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "kueue.x-k8s.io", Version: "v1beta2", Resource: name}
}

// item is what a watch keeps of an object.
type item struct {
	metav1.ObjectMeta
	value any
}

// Cluster is an admission.Cluster.
type Cluster struct {
	client                                  dynamic.Interface
	nodes, pods, workloads, flavors, checks cache.SharedIndexInformer
	changed                                 chan struct{}
}

// New returns a cluster whose lists are empty until Run.
func New(config *rest.Config) (*Cluster, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &Cluster{client: client, changed: make(chan struct{}, 1)}
	for _, list := range []struct {
		informer *cache.SharedIndexInformer
		resource schema.GroupVersionResource
		selector string
		decode   func(*unstructured.Unstructured) (any, error)
	}{
		{&c.nodes, nodeResource, admission.AcceleratorLabel, decodeTo[admission.Node]},
		{&c.pods, podResource, admission.MarkKey, decodePod},
		{&c.workloads, workloadResource, "", decodeTo[admission.Workload]},
		{&c.flavors, flavorResource, "", decodeTo[admission.Flavor]},
		{&c.checks, checkResource, "", decodeTo[admission.AdmissionCheck]},
	} {
		if *list.informer, err = c.newInformer(list.resource, list.selector, list.decode); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *Cluster) newInformer(
	resource schema.GroupVersionResource, selector string, decode func(*unstructured.Unstructured) (any, error),
) (cache.SharedIndexInformer, error) {
	informer := dynamicinformer.NewFilteredDynamicInformer(c.client, resource, metav1.NamespaceAll, 0, cache.Indexers{},
		func(options *metav1.ListOptions) { options.LabelSelector = selector }).Informer()
	err := informer.SetTransform(func(object any) (any, error) {
		whole, ok := object.(*unstructured.Unstructured)
		if !ok {
			return object, nil // it is an item already
		}
		value, err := decode(whole)
		if err != nil {
			return nil, err
		}
		return &item{metav1.ObjectMeta{
			Name: whole.GetName(), Namespace: whole.GetNamespace(), UID: whole.GetUID(),
			ResourceVersion: whole.GetResourceVersion(),
		}, value}, nil
	})
	if err != nil {
		return nil, err
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { c.signal() }, UpdateFunc: func(any, any) { c.signal() }, DeleteFunc: func(any) { c.signal() },
	})
	return informer, err
}

func decodeTo[Value any](object *unstructured.Unstructured) (any, error) {
	text, err := object.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var value Value
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, fmt.Errorf("%s %s/%s: %w", object.GetKind(), object.GetNamespace(), object.GetName(), err)
	}
	return value, nil
}

// decodePod returns an admission.Pod without a node if the pod has none or has ended.
func decodePod(object *unstructured.Unstructured) (any, error) {
	pod := admission.Pod{Mark: object.GetLabels()[admission.MarkKey]}
	phase, _, _ := unstructured.NestedString(object.Object, "status", "phase")
	if phase != "Succeeded" && phase != "Failed" {
		pod.Node, _, _ = unstructured.NestedString(object.Object, "spec", "nodeName")
	}
	return pod, nil
}

// signal wakes whoever waits for Changed.
func (c *Cluster) signal() {
	select {
	case c.changed <- struct{}{}:
	default: // it is awake already
	}
}

// Changed returns a channel that receives a value after the lists have changed.
func (c *Cluster) Changed() <-chan struct{} { return c.changed }

// Run starts the watches, which end with the context, and returns when the lists are complete.
func (c *Cluster) Run(ctx context.Context) error {
	for _, informer := range []cache.SharedIndexInformer{c.nodes, c.pods, c.workloads, c.flavors, c.checks} {
		go informer.RunWithContext(ctx)
	}
	if !cache.WaitForCacheSync(ctx.Done(), c.nodes.HasSynced, c.pods.HasSynced, c.workloads.HasSynced, c.flavors.HasSynced,
		c.checks.HasSynced) {
		return ctx.Err()
	}
	return nil
}

func valuesOf[Value any](informer cache.SharedIndexInformer) ([]Value, error) {
	objects := informer.GetStore().List()
	values := make([]Value, len(objects))
	for index, object := range objects {
		one, ok := object.(*item)
		if !ok {
			return nil, fmt.Errorf("a list has %T", object)
		}
		values[index] = one.value.(Value)
	}
	return values, nil
}

// Nodes returns the nodes with TPUs. The caller must not change their maps.
func (c *Cluster) Nodes() ([]admission.Node, error) { return valuesOf[admission.Node](c.nodes) }

// Workloads returns the Workloads of all namespaces.
func (c *Cluster) Workloads() ([]admission.Workload, error) {
	return valuesOf[admission.Workload](c.workloads)
}

// Pods returns the pods with a mark, on a node, that have not ended.
func (c *Cluster) Pods() ([]admission.Pod, error) {
	all, err := valuesOf[admission.Pod](c.pods)
	running := make([]admission.Pod, 0, len(all))
	for _, pod := range all {
		if pod.Node != "" {
			running = append(running, pod)
		}
	}
	return running, err
}

// Flavors returns the ResourceFlavors by name.
func (c *Cluster) Flavors() (map[string]admission.Flavor, error) {
	flavors, err := valuesOf[admission.Flavor](c.flavors)
	byName := map[string]admission.Flavor{}
	for _, flavor := range flavors {
		byName[flavor.Metadata.Name] = flavor
	}
	return byName, err
}

// Checks returns the AdmissionChecks, also those of other controllers.
func (c *Cluster) Checks() ([]admission.AdmissionCheck, error) {
	return valuesOf[admission.AdmissionCheck](c.checks)
}

// ReadWorkload reads a Workload from the server. It returns nil if it does not exist.
func (c *Cluster) ReadWorkload(ctx context.Context, namespace, name string) (*admission.Workload, error) {
	object, err := c.client.Resource(workloadResource).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value, err := decodeTo[admission.Workload](object)
	if err != nil {
		return nil, err
	}
	workload := value.(admission.Workload)
	return &workload, nil
}

// ReadPods reads the pods with the mark from the server: those on a node that have not ended.
func (c *Cluster) ReadPods(ctx context.Context, mark string) ([]admission.Pod, error) {
	selector := labels.Set{admission.MarkKey: mark}.String()
	list, err := c.client.Resource(podResource).List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, err
	}
	var pods []admission.Pod
	for index := range list.Items {
		pod, err := decodePod(&list.Items[index])
		if err != nil {
			return nil, err
		}
		if pod := pod.(admission.Pod); pod.Node != "" {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

// asConflict marks the errors after which the next pass decides again.
func asConflict(err error) error {
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return errors.Join(err, admission.ErrConflict)
	}
	return err
}

// PatchNode applies a merge patch to a node, and returns its new version.
func (c *Cluster) PatchNode(ctx context.Context, node string, patch []byte) (string, error) {
	changed, err := c.client.Resource(nodeResource).Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	if err != nil {
		return "", asConflict(err)
	}
	return changed.GetResourceVersion(), nil
}

// SetChecks sets the states of some checks of the Workload, and leaves everything else as it is. It fails if the Workload
// is not the one that was seen.
func (c *Cluster) SetChecks(ctx context.Context, seen *admission.Workload, changes []admission.CheckState) error {
	client := c.client.Resource(workloadResource).Namespace(seen.Metadata.Namespace)
	object, err := client.Get(ctx, seen.Metadata.Name, metav1.GetOptions{})
	if err != nil {
		return asConflict(err)
	}
	if object.GetResourceVersion() != seen.Metadata.ResourceVersion {
		return fmt.Errorf("version %s, expected %s: %w", object.GetResourceVersion(), seen.Metadata.ResourceVersion,
			admission.ErrConflict)
	}
	checks, _, err := unstructured.NestedSlice(object.Object, "status", "admissionChecks")
	if err != nil {
		return err
	}
	for _, change := range changes {
		if err := setCheck(checks, change); err != nil {
			return err
		}
	}
	if err := unstructured.SetNestedSlice(object.Object, checks, "status", "admissionChecks"); err != nil {
		return err
	}
	_, err = client.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return asConflict(err)
}

func setCheck(checks []any, change admission.CheckState) error {
	text, err := json.Marshal(change)
	if err != nil {
		return err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	if change.RequeueAfterSeconds != nil {
		fields["requeueAfterSeconds"] = int64(*change.RequeueAfterSeconds)
	}
	for _, check := range checks {
		present, ok := check.(map[string]any)
		if !ok || present["name"] != change.Name {
			continue
		}
		delete(present, "podSetUpdates")
		delete(present, "requeueAfterSeconds")
		for key, value := range fields {
			present[key] = value
		}
	}
	return nil
}

// Activate reports that the AdmissionCheck has a controller that works.
func (c *Cluster) Activate(ctx context.Context, check *admission.AdmissionCheck) error {
	client := c.client.Resource(checkResource)
	object, err := client.Get(ctx, check.Metadata.Name, metav1.GetOptions{})
	if err != nil {
		return asConflict(err)
	}
	conditions, _, err := unstructured.NestedSlice(object.Object, "status", "conditions")
	if err != nil {
		return err
	}
	others := []any{}
	for _, condition := range conditions {
		if fields, ok := condition.(map[string]any); ok && fields["type"] != "Active" {
			others = append(others, condition)
		}
	}
	active := map[string]any{
		"type": "Active", "status": "True", "reason": "Active", "message": "quoit reserves slices for this check",
		"lastTransitionTime": time.Now().UTC().Format(time.RFC3339), "observedGeneration": object.GetGeneration(),
	}
	if err := unstructured.SetNestedSlice(object.Object, append(others, active), "status", "conditions"); err != nil {
		return err
	}
	_, err = client.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return asConflict(err)
}
