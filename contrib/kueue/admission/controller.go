// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"quoit"
)

// ErrConflict is in the chain of an error of a Cluster whose object has changed since it was read, or is gone. The next
// pass decides again.
var ErrConflict = errors.New("the object has changed")

// Cluster is what the controller reads and changes in Kubernetes. The lists can be somewhat older than the cluster: each
// change has the version of the object that it is based on. Before a release, the controller reads the Workload and its
// pods again.
type Cluster interface {
	Nodes() ([]Node, error) // those with TPUs
	Workloads() ([]Workload, error)
	Flavors() (map[string]Flavor, error)
	Checks() ([]AdmissionCheck, error)
	Pods() ([]Pod, error) // those with a mark, on a node, that have not ended

	// ReadWorkload reads a Workload from the server itself. It returns nil if there is none.
	ReadWorkload(ctx context.Context, namespace, name string) (*Workload, error)
	// ReadPods reads the pods with the mark from the server itself: those on a node that have not ended.
	ReadPods(ctx context.Context, mark string) ([]Pod, error)

	// PatchNode returns the new version of the node.
	PatchNode(ctx context.Context, node string, patch []byte) (string, error)
	SetChecks(ctx context.Context, workload *Workload, changes []CheckState) error
	Activate(ctx context.Context, check *AdmissionCheck) error
}

// Controller admits Workloads. Set the fields before the first Pass.
type Controller struct {
	Ledger  *quoit.Ledger
	Cluster Cluster
	Source  string // the name of this cluster in the ledger
	Waits   Waits
	// RejectNever rejects a Workload that cannot fit the known fleet, which deactivates it. Otherwise it tries again after
	// the longest wait, because fleets grow.
	RejectNever bool
	// LostAfter is how long a slice may be lost, while the nodes exist, before a running Workload gets another one. Nodes
	// that are not Ready, or offer no chips, are often back soon, and the pods on them still run.
	LostAfter time.Duration
	Now       func() time.Time
	// Guard is called before each change. It returns an error if this controller is not the leader any more.
	Guard func() error
	// Step is called before and after each change; nil except in tests.
	Step func(step string)
	Log  func(format string, arguments ...any)

	Metrics   Metrics
	identity  string
	nodeList  []byte               // the last list that the ledger has accepted
	warnings  string               // the ledger's warnings about this list
	lostSince map[string]time.Time // when a slice of a group was first seen lost
}

// group is a live group of this controller.
type group struct {
	handle, key, workload, mark string
	slices, nodes               []string
	lost                        []lostSlice
	leaving                     []string // slices with a draining host: repair replaces them together with lost ones
}

// lostSlice is a lost slice of a group.
type lostSlice struct {
	name  string
	nodes []string
}

// repairedNames returns the slices that a repair replaces: "lost: pool0; leaving: pool1".
func (g *group) repairedNames() string {
	names := make([]string, len(g.lost))
	for index, slice := range g.lost {
		names[index] = slice.name
	}
	text := "lost: " + strings.Join(names, ", ")
	if len(g.leaving) > 0 {
		text += "; leaving: " + strings.Join(g.leaving, ", ")
	}
	return text
}

// pass is the state of one pass.
type pass struct {
	*Controller
	nodes     map[string]*Node
	pods      []Pod
	workloads []Workload // in the order in which they get slices
	byUID     map[string]*Workload
	flavors   map[string]Flavor
	checks    map[string]bool
	groups    map[string][]*group // by the UID of the Workload
	refused   map[string]string   // why a Workload with lost slices gets no others, by its UID
	isSynced  bool                // the ledger has the nodes of this pass
	ending    int                 // groups that are to be released, but whose pods have not ended
	errors    []error
}

// Pass compares the cluster with the ledger, and changes both until they agree or something has to be waited for. It
// remembers nothing that it needs later, so it can be repeated, or ended at any point and started elsewhere. It returns
// the errors of all parts; those that do not depend on a failed part were done.
func (c *Controller) Pass(ctx context.Context) error {
	begin := time.Now()
	p := &pass{Controller: c, nodes: map[string]*Node{}, checks: map[string]bool{}, refused: map[string]string{}}
	err := p.run(ctx)
	c.Metrics.add("quoit_kueue_passes_total", "", 1)
	c.Metrics.add("quoit_kueue_pass_seconds_total", "", time.Since(begin).Seconds())
	return err
}

func (p *pass) run(ctx context.Context) error {
	for _, part := range []func(context.Context) error{
		p.read, p.activateChecks, p.readGroups, p.syncNodes, p.repairGroups, p.endGroups, p.markNodes, p.setChecks, p.report,
	} {
		if err := part(ctx); err != nil {
			return errors.Join(append(p.errors, err)...)
		}
	}
	return errors.Join(p.errors...)
}

// failed records the error of a part that others do not depend on. It returns the error if nothing else can be done
// either.
func (p *pass) failed(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, ErrConflict) {
		p.Metrics.add("quoit_kueue_conflicts_total", "", 1)
	}
	for _, code := range []quoit.Code{quoit.Fenced, quoit.Damaged, quoit.Version, quoit.Store, quoit.Cancelled, quoit.Busy} {
		if errors.Is(err, code) {
			return err
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, ErrNotLeader) {
		return err
	}
	p.errors = append(p.errors, err)
	return nil
}

// ErrNotLeader is in the chain of the errors of a Guard.
var ErrNotLeader = errors.New("not the leader")

// change makes one change of the ledger or of the cluster.
func (p *pass) change(step string, change func() error) error {
	if err := p.Guard(); err != nil {
		return err
	}
	if p.Step != nil {
		p.Step("before " + step)
	}
	if err := change(); err != nil {
		return fmt.Errorf("%s: %w", step, err)
	}
	if p.Step != nil {
		p.Step("after " + step)
	}
	return nil
}

// --- reading ---

func (p *pass) read(context.Context) error {
	nodes, err := p.Cluster.Nodes()
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	for index := range nodes {
		p.nodes[nodes[index].Metadata.Name] = &nodes[index]
	}
	if p.pods, err = p.Cluster.Pods(); err != nil {
		return fmt.Errorf("pods: %w", err)
	}
	if p.workloads, err = p.Cluster.Workloads(); err != nil {
		return fmt.Errorf("Workloads: %w", err)
	}
	sort.Slice(p.workloads, func(i, j int) bool { return p.workloads[i].isBefore(&p.workloads[j]) })
	p.byUID = make(map[string]*Workload, len(p.workloads))
	for index := range p.workloads {
		p.byUID[p.workloads[index].Metadata.UID] = &p.workloads[index]
	}
	if p.flavors, err = p.Cluster.Flavors(); err != nil {
		return fmt.Errorf("ResourceFlavors: %w", err)
	}
	return nil
}

// activateChecks finds the AdmissionChecks of this controller and reports that they work. Kueue admits nothing through a
// queue before.
func (p *pass) activateChecks(ctx context.Context) error {
	checks, err := p.Cluster.Checks()
	if err != nil {
		return fmt.Errorf("AdmissionChecks: %w", err)
	}
	for index := range checks {
		check := &checks[index]
		if check.Spec.ControllerName != ControllerName {
			continue
		}
		p.checks[check.Metadata.Name] = true
		if check.IsActive() {
			continue
		}
		err := p.change("activate check "+check.Metadata.Name, func() error { return p.Cluster.Activate(ctx, check) })
		if err = p.failed(err); err != nil {
			return err
		}
	}
	return nil
}

// marks returns the mark of each node that a group has.
func (p *pass) marks() map[string]string {
	marks := map[string]string{}
	for _, groups := range p.groups {
		for _, one := range groups {
			for _, name := range one.nodes {
				marks[name] = one.mark
			}
		}
	}
	return marks
}

// busyNodes returns the nodes on which pods run whose group has other nodes now, or has gone: after a repair, the pods of a
// lost slice can still run on its other hosts.
func (p *pass) busyNodes() map[string]bool {
	marks := p.marks()
	busy := map[string]bool{}
	for _, pod := range p.pods {
		if marks[pod.Node] != pod.Mark {
			busy[pod.Node] = true
		}
	}
	return busy
}

// syncNodes imports the nodes of the cluster into the ledger, unless they are the same as in the last pass, and reads the
// states of the groups' slices again. If the ledger refuses the nodes, nothing is reserved or repaired in this pass, but
// groups still end.
func (p *pass) syncNodes(ctx context.Context) error {
	names := sortedKeys(p.nodes)
	nodes := make([]Node, len(names))
	for index, name := range names {
		nodes[index] = *p.nodes[name]
	}
	text, err := NodeList(nodes, p.busyNodes(), p.Source)
	if err != nil {
		return err
	}
	if p.isSynced = bytes.Equal(text, p.nodeList); p.isSynced {
		return nil
	}
	var result *quoit.Import
	err = p.change("sync of nodes", func() (err error) {
		result, err = p.Ledger.Sync(ctx, &quoit.Input{Kind: quoit.K8sNodes, Text: text, Source: p.Source}, p.Now())
		return err
	})
	if err != nil {
		return p.failed(err)
	}
	p.nodeList, p.isSynced = text, true
	if warnings := strings.Join(result.Warnings, "; "); warnings != p.warnings {
		p.warnings = warnings
		if warnings == "" {
			warnings = "no more warnings"
		}
		p.Log("nodes: %s", warnings)
	}
	return p.readGroups(ctx)
}

// readGroups finds the groups of this controller. It forgets those that have ended, for example because another caller has
// released them, so that their keys can be used again.
func (p *pass) readGroups(ctx context.Context) error {
	if p.identity == "" {
		identity, err := p.Ledger.Identity()
		if err != nil {
			return err
		}
		p.identity = identity
	}
	if err := p.Ledger.Refresh(ctx); err != nil {
		return err
	}
	snapshot, err := p.Ledger.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	all, err := snapshot.Groups()
	if err != nil {
		return err
	}
	p.groups = map[string][]*group{}
	for _, one := range all {
		info, err := one.Info()
		one.Close()
		if err != nil {
			return err
		}
		if info.Labels[groupClusterLabel] != p.Source || info.Key == "" || info.Source != "" {
			continue
		}
		if info.State == quoit.GroupRemoved {
			err := p.change("forget of "+info.Name, func() error { return p.Ledger.ForgetKey(ctx, info.Key, p.Now()) })
			if err = p.failed(err); err != nil {
				return err
			}
			continue
		}
		p.addGroup(&info)
	}
	return nil
}

func (p *pass) addGroup(info *quoit.GroupInfo) *group {
	added := &group{
		handle: fmt.Sprintf("%s@%d", info.Name, info.ID), key: info.Key, workload: info.Labels[groupWorkloadLabel],
		mark: markOf(p.identity, info.ID),
	}
	for _, slice := range info.Slices {
		added.slices = append(added.slices, slice.Name)
		first := len(added.nodes)
		for _, worker := range slice.Workers {
			added.nodes = append(added.nodes, worker.Name)
		}
		switch slice.State {
		case quoit.SliceLost:
			added.lost = append(added.lost, lostSlice{slice.Name, added.nodes[first:]})
		case quoit.SliceLeaving:
			added.leaving = append(added.leaving, slice.Name)
		}
	}
	uid := uidOf(info.Key)
	for index, other := range p.groups[uid] {
		if other.key == added.key {
			p.groups[uid][index] = added
			return added
		}
	}
	p.groups[uid] = append(p.groups[uid], added)
	return added
}

// --- lost slices ---

// repairGroups replaces the lost slices of groups, in the order of the Workloads. The nodes that take their place get the
// same mark, so that the pods that replace the lost ones run there.
func (p *pass) repairGroups(ctx context.Context) error {
	if !p.isSynced {
		return nil
	}
	p.forgetFound()
	for index := range p.workloads {
		uid := p.workloads[index].Metadata.UID
		for _, lossy := range p.groups[uid] {
			if !p.needsRepair(uid, lossy) {
				continue
			}
			var info quoit.GroupInfo
			err := p.change("repair of "+lossy.handle, func() (err error) {
				info, err = p.repair(ctx, lossy.handle)
				return err
			})
			switch {
			case errors.Is(err, quoit.NotNow), errors.Is(err, quoit.Never):
				p.Metrics.add("quoit_kueue_repairs_total", `result="refused"`, 1)
				p.refused[uid] = lossy.repairedNames() + "; " + reasonOf(err)
			case err != nil:
				if err = p.failed(err); err != nil {
					return err
				}
			default:
				p.Metrics.add("quoit_kueue_repairs_total", `result="done"`, 1)
				p.Log("%s: repaired: %s; has %v", lossy.handle, lossy.repairedNames(), p.addGroup(&info).slices)
			}
		}
	}
	return nil
}

// needsRepair returns whether a Workload that was started must get other slices now: at once if a node is gone, and otherwise
// when the slice has been lost for some time.
func (p *pass) needsRepair(uid string, lossy *group) bool {
	workload := p.holder(uid)
	if len(lossy.lost) == 0 || workload == nil || workload.IsEvicted() {
		return false
	}
	if check := workload.check(p.checks); check == nil || check.State != Ready {
		return false // admit() gives it other slices
	}
	for _, slice := range lossy.lost {
		key := lossy.handle + " " + slice.name
		if p.lostSince[key].IsZero() {
			p.lostSince[key] = p.Now()
			p.Log("%s: slice %s is lost", lossy.handle, slice.name)
		}
		if p.Now().Sub(p.lostSince[key]) >= p.LostAfter {
			return true
		}
		for _, node := range slice.nodes {
			if p.nodes[node] == nil {
				return true
			}
		}
	}
	return false
}

// forgetFound forgets since when slices are lost that are not lost any more.
func (p *pass) forgetFound() {
	lost := map[string]time.Time{}
	for _, groups := range p.groups {
		for _, one := range groups {
			for _, slice := range one.lost {
				key := one.handle + " " + slice.name
				if since, ok := p.lostSince[key]; ok {
					lost[key] = since
				}
			}
		}
	}
	p.lostSince = lost
}

func (p *pass) repair(ctx context.Context, handle string) (quoit.GroupInfo, error) {
	change, err := p.Ledger.Repair(ctx, handle, p.Now())
	if err != nil {
		return quoit.GroupInfo{}, err
	}
	defer change.Close()
	return change.After.Info()
}

// holder returns the Workload with the UID if its groups stay, and otherwise nil.
func (p *pass) holder(uid string) *Workload {
	if workload := p.byUID[uid]; workload != nil && workload.MayHold() {
		return workload
	}
	return nil
}

// --- ends ---

// endGroups releases the groups of Workloads that have finished, have lost their quota or are gone. First the marks go,
// then the groups and their keys, in one transaction. Groups whose pods have not ended stay until they have.
func (p *pass) endGroups(ctx context.Context) error {
	for _, uid := range sortedKeys(p.groups) {
		if p.holder(uid) != nil {
			continue
		}
		isHeld, err := p.isHeld(ctx, uid)
		if err == nil && !isHeld {
			_, err = p.end(ctx, uid)
		}
		if err = p.failed(err); err != nil {
			return err
		}
	}
	return nil
}

// isHeld returns whether the Workload keeps its groups after all, because the list of Workloads was too old.
func (p *pass) isHeld(ctx context.Context, uid string) (bool, error) {
	namespace, name, _ := strings.Cut(p.groups[uid][0].workload, "/")
	workload, err := p.Cluster.ReadWorkload(ctx, namespace, name)
	return err == nil && workload != nil && workload.Metadata.UID == uid && workload.MayHold(), err
}

// hasPods returns whether pods of the groups can still use their nodes, and then counts the groups as ending. Pods on nodes
// that are gone or not Ready do not count: the ledger does not give out the slices of such nodes either, and nothing reports
// the end of these pods. If the ledger does not have the nodes of this pass, all pods count.
func (p *pass) hasPods(ctx context.Context, groups []*group) (bool, error) {
	for _, one := range groups {
		pods, err := p.Cluster.ReadPods(ctx, one.mark)
		if err != nil {
			return false, err
		}
		for _, pod := range pods {
			if node := p.nodes[pod.Node]; !p.isSynced || node != nil && node.IsReady() {
				p.ending += len(groups)
				return true, nil
			}
		}
	}
	return false, nil
}

// end removes the marks of all groups of a Workload and releases the groups. It returns false if their pods have not ended.
// It reads the pods before the marks go, and again afterwards: until then the scheduler can place a pod. In this case the
// nodes get their marks back.
func (p *pass) end(ctx context.Context, uid string) (bool, error) {
	groups := p.groups[uid]
	if hasPods, err := p.hasPods(ctx, groups); hasPods || err != nil {
		return false, err
	}
	for _, ending := range groups {
		for _, name := range sortedKeys(p.nodes) {
			if !p.nodes[name].mentions(ending.mark) {
				continue
			}
			if err := p.mark(ctx, name, ""); err != nil {
				return false, err
			}
		}
	}
	if hasPods, err := p.hasPods(ctx, groups); err != nil {
		return false, err
	} else if hasPods {
		return false, p.markNodes(ctx)
	}
	err := p.change("release of "+groups[0].handle, func() error {
		return p.Ledger.Batch(ctx, func() error {
			for _, ending := range groups {
				if err := p.Ledger.Release(ctx, ending.handle, p.Now()); err != nil {
					return err
				}
				if err := p.Ledger.ForgetKey(ctx, ending.key, p.Now()); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return false, err
	}
	delete(p.groups, uid)
	p.Metrics.add("quoit_kueue_releases_total", "", float64(len(groups)))
	for _, ended := range groups {
		p.Log("%s: released %s", ended.workload, ended.handle)
	}
	return true, nil
}

// --- marks ---

// mark gives a node the mark, or removes it if the mark is "", unless the node has it already.
func (p *pass) mark(ctx context.Context, name, mark string) error {
	node := p.nodes[name]
	if node.HasMark(mark) {
		return nil
	}
	step := "mark of " + name
	if mark == "" {
		step = "removal of the mark of " + name
	}
	return p.change(step, func() error {
		version, err := p.Cluster.PatchNode(ctx, name, node.MarkPatch(mark))
		if err == nil {
			node.setMark(mark, version)
		}
		return err
	})
}

// markNodes gives all nodes the mark of the group that has them, and removes all other marks.
func (p *pass) markNodes(ctx context.Context) error {
	marks := p.marks()
	for _, name := range sortedKeys(p.nodes) {
		if err := p.failed(p.mark(ctx, name, marks[name])); err != nil {
			return err
		}
	}
	return nil
}

// --- checks ---

// setChecks decides about the Workloads that wait for a check of this controller, and about those whose slices are lost.
func (p *pass) setChecks(ctx context.Context) error {
	if !p.isSynced {
		return nil
	}
	for index := range p.workloads {
		workload := &p.workloads[index]
		check := workload.check(p.checks)
		if check == nil || !workload.MayHold() || workload.IsEvicted() {
			continue
		}
		uid := workload.Metadata.UID
		var err error
		switch {
		case check.State != Pending && check.State != Ready:
		case p.refused[uid] != "":
			err = p.retry(ctx, workload, check, p.refused[uid], p.Waits.Shortest)
		case check.State == Pending:
			err = p.admit(ctx, workload, check)
		case !p.hasGroups(uid, check.PodSetUpdates):
			err = p.retry(ctx, workload, check, "its slices are not in the ledger any more", p.Waits.Shortest)
		case len(p.groups[uid]) > 0:
			err = p.setReady(ctx, workload, p.groups[uid], check.PodSetUpdates)
		}
		if err = p.failed(err); err != nil {
			return err
		}
	}
	return nil
}

// hasGroups returns whether the Workload has the group of each of these updates.
func (p *pass) hasGroups(uid string, updates []PodSetUpdate) bool {
	for _, update := range updates {
		if !slices.ContainsFunc(p.groups[uid], func(one *group) bool { return one.mark == update.Labels[MarkKey] }) {
			return false
		}
	}
	return true
}

// set sets all checks of this controller to a state, unless they have it.
func (p *pass) set(ctx context.Context, workload *Workload, state CheckState) error {
	var changes []CheckState
	now := p.Now().UTC().Format(time.RFC3339)
	for _, present := range workload.Status.Checks {
		if !p.checks[present.Name] || present.State == state.State && present.Message == state.Message {
			continue
		}
		changed := state
		changed.Name, changed.LastTransitionTime = present.Name, present.LastTransitionTime
		if present.State != state.State {
			changed.LastTransitionTime = now
		}
		if present.Name != workload.check(p.checks).Name {
			changed.PodSetUpdates = nil // Kueue accepts the same update from one check only
		}
		changes = append(changes, changed)
	}
	if len(changes) == 0 {
		return nil
	}
	return p.change(fmt.Sprintf("check of %s: %s", workload.Name(), state.State), func() error {
		return p.Cluster.SetChecks(ctx, workload, changes)
	})
}

func (p *pass) reject(ctx context.Context, workload *Workload, message string) error {
	p.Metrics.add("quoit_kueue_refusals_total", `verdict="rejected"`, 1)
	p.Log("%s: rejected: %s", workload.Name(), message)
	return p.set(ctx, workload, CheckState{State: Rejected, Message: message})
}

// retry sends the Workload back to its queue, without quota, for a time.
func (p *pass) retry(ctx context.Context, workload *Workload, check *CheckState, message string, wait time.Duration) error {
	after := int32((wait + time.Second - 1) / time.Second)
	p.Log("%s: again in %d s: %s", workload.Name(), after, message)
	return p.set(ctx, workload, CheckState{State: Retry, Message: message, RequeueAfterSeconds: &after})
}

// admit reserves the slices of a Workload, marks their nodes, and reports that the Workload can start.
func (p *pass) admit(ctx context.Context, workload *Workload, check *CheckState) error {
	requests, err := requestsOf(workload, p.flavors, p.Source)
	var notYet *notYetError
	if errors.As(err, &notYet) {
		return fmt.Errorf("%s: %w", workload.Name(), err)
	}
	if err != nil {
		return p.reject(ctx, workload, err.Error())
	}
	for _, present := range p.groups[workload.Metadata.UID] {
		isRequested := slices.ContainsFunc(requests, func(one podSetRequest) bool { return one.request.Key == present.key })
		if !isRequested || len(present.lost) > 0 || len(present.leaving) > 0 {
			return p.endForAnother(ctx, workload)
		}
	}
	if len(requests) == 0 {
		return p.set(ctx, workload, CheckState{State: Ready, Message: "no pod requests " + tpuResource})
	}
	isNew := len(p.groups[workload.Metadata.UID]) == 0
	infos, err := p.reserve(ctx, workload, requests)
	if err != nil {
		return p.refuse(ctx, workload, check, requests, err)
	}
	groups := make([]*group, len(infos))
	updates := make([]PodSetUpdate, len(infos))
	for index := range infos {
		groups[index] = p.addGroup(&infos[index])
		updates[index] = updateOf(requests[index].podSet, groups[index].mark)
		for _, name := range groups[index].nodes {
			if p.nodes[name] == nil {
				return fmt.Errorf("node %s of %s: %w", name, groups[index].handle, ErrConflict)
			}
			if err := p.mark(ctx, name, groups[index].mark); err != nil {
				return err
			}
		}
	}
	if isNew {
		p.Metrics.add("quoit_kueue_reservations_total", "", float64(len(groups)))
	}
	return p.setReady(ctx, workload, groups, updates)
}

// setReady reports that the groups have the slices of the Workload, and which ones.
func (p *pass) setReady(ctx context.Context, workload *Workload, groups []*group, updates []PodSetUpdate) error {
	texts := make([]string, len(groups))
	for index, one := range groups {
		texts[index] = one.handle + " has " + strings.Join(one.slices, ", ")
	}
	sort.Strings(texts)
	message := strings.Join(texts, "; ")
	message = message[:min(len(message), 30000)]
	return p.set(ctx, workload, CheckState{State: Ready, Message: message, PodSetUpdates: updates})
}

// reserve reserves all requests or none. With the keys of the requests, a repeated call returns the same groups.
func (p *pass) reserve(ctx context.Context, workload *Workload, requests []podSetRequest) ([]quoit.GroupInfo, error) {
	plain := make([]*quoit.Request, len(requests))
	for index := range requests {
		plain[index] = requests[index].request
	}
	var groups []*quoit.Group
	err := p.change("reservation for "+workload.Name(), func() (err error) {
		groups, err = p.Ledger.ReserveAll(ctx, plain, p.Now())
		return err
	})
	if err != nil {
		return nil, err
	}
	infos := make([]quoit.GroupInfo, len(groups))
	for index, one := range groups {
		infos[index], err = one.Info()
		one.Close()
		if err == nil && infos[index].State == quoit.GroupRemoved {
			err = fmt.Errorf("%s@%d has ended: %w", infos[index].Name, infos[index].ID, ErrConflict)
		}
		if err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// refuse reports why a Workload gets no slices now.
func (p *pass) refuse(
	ctx context.Context, workload *Workload, check *CheckState, requests []podSetRequest, err error,
) error {
	var refusal *quoit.Error
	refusals := int32(0)
	if check.RetryCount != nil {
		refusals = *check.RetryCount
	}
	switch {
	case errors.Is(err, quoit.NotNow) && errors.As(err, &refusal):
		p.Metrics.add("quoit_kueue_refusals_total", `verdict="not-now"`, 1)
		wait := p.Waits.after(refusals, fitsAt(refusal.Report()), p.Now())
		return p.retry(ctx, workload, check, reasonOf(err), wait)
	case errors.Is(err, quoit.Invalid):
		// A wrong clock has the same code, but goes away, and a rejected Workload is not tried again.
		if invalid := p.checkRequests(requests); errors.Is(invalid, quoit.Invalid) {
			return p.reject(ctx, workload, reasonOf(invalid))
		}
	case errors.Is(err, quoit.Never) && p.RejectNever:
		return p.reject(ctx, workload, reasonOf(err))
	case errors.Is(err, quoit.Never):
		p.Metrics.add("quoit_kueue_refusals_total", `verdict="never"`, 1)
		return p.retry(ctx, workload, check, reasonOf(err), p.Waits.Longest)
	case errors.Is(err, quoit.Conflict) && len(p.groups[workload.Metadata.UID]) > 0:
		// Kueue has evicted the Workload and given it quota again, for other counts or flavors, before a pass came.
		return p.endForAnother(ctx, workload)
	}
	return err
}

// checkRequests validates the requests independently of the time. It fails with quoit.Invalid if one of them can never be
// granted by any ledger.
func (p *pass) checkRequests(requests []podSetRequest) error {
	snapshot, err := p.Ledger.Snapshot()
	if err != nil {
		return err
	}
	defer snapshot.Close()
	for _, one := range requests {
		if _, _, err := snapshot.Test(one.request); errors.Is(err, quoit.Invalid) {
			return err
		}
	}
	return nil
}

// endForAnother ends groups that belong to an earlier admission of the Workload, once their pods have ended. Then it reserves
// again.
func (p *pass) endForAnother(ctx context.Context, workload *Workload) error {
	if ended, err := p.end(ctx, workload.Metadata.UID); !ended {
		return err
	}
	return p.admit(ctx, workload, workload.check(p.checks))
}

// reasonOf returns the message of the ledger's error, with what would help.
func reasonOf(err error) string {
	var refusal *quoit.Error
	if !errors.As(err, &refusal) {
		return err.Error()
	}
	text := refusal.Error()
	if report := refusal.Report(); report != nil && len(report.Options) > 0 {
		text += "; would help: " + report.Options[0].Text
	}
	return text[:min(len(text), 30000)]
}

// --- report ---

// report sets the gauges.
func (p *pass) report(context.Context) error {
	groups, nodes := 0, 0
	for _, list := range p.groups {
		groups += len(list)
		for _, one := range list {
			nodes += len(one.nodes)
		}
	}
	p.Metrics.set("quoit_kueue_ending_groups", "", float64(p.ending))
	p.Metrics.set("quoit_kueue_groups", "", float64(groups))
	p.Metrics.set("quoit_kueue_held_nodes", "", float64(nodes))
	p.Metrics.set("quoit_kueue_nodes", "", float64(len(p.nodes)))
	return nil
}
