// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"sync"
	"time"
	"unsafe"

	"quoit/internal/cconv"
)

// Fork is a private, mutable copy of a snapshot for what-if questions and plans. It shares memory with the snapshot for
// everything that does not differ. Nothing of it is written unless Ledger.CommitFork commits it. Goroutines that use one
// fork wait for each other. Close frees it; the garbage collector does so if you do not.
//
// The methods that change a fork work like those of Ledger. They fail like those of Ledger, but never because of a
// database, and they fail with Invalid after Close.
type Fork struct {
	h  *cconv.Handle
	mu sync.Mutex // a C fork is not safe for concurrent use
}

func newFork(c *C.QuoitFork) *Fork {
	free := func(p unsafe.Pointer) { C.quoit_fork_free((*C.QuoitFork)(p)) }
	return &Fork{h: cconv.NewHandle("fork", unsafe.Pointer(c), free)}
}

// Close frees the fork. A second Close does nothing.
func (f *Fork) Close() {
	if f != nil {
		f.h.Close()
	}
}

func (f *Fork) with(run func(*C.QuoitFork) *C.GError) error {
	if f == nil {
		return closedError("nil fork")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	pointer, err := f.h.Use()
	if err != nil {
		return err
	}
	defer f.h.Done()
	return errorFromC(run((*C.QuoitFork)(pointer)))
}

// withName runs a C call that has a name as argument. what is the argument's name for messages.
func (f *Fork) withName(what, name string, run func(*C.QuoitFork, *C.char, **C.GError)) error {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text(what, name))
	if err := arguments.Err(); err != nil {
		return err
	}
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		run(c, text, &gerror)
		return gerror
	})
}

// Mark remembers the present state of the fork, so that RollBack can return to it.
//
// It fails with Invalid after Close.
func (f *Fork) Mark() (mark uint32, err error) {
	err = f.with(func(c *C.QuoitFork) *C.GError {
		mark = uint32(C.quoit_fork_mark(c))
		return nil
	})
	return mark, err
}

// RollBack undoes all changes since the mark, and forgets later marks.
//
// It fails with Invalid if the fork has no such mark.
func (f *Fork) RollBack(mark uint32) error {
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		C.quoit_fork_roll_back(c, C.uint32_t(mark), &gerror)
		return gerror
	})
}

// Snapshot returns the present state of the fork.
//
// It fails with Invalid after Close.
func (f *Fork) Snapshot() (snapshot *Snapshot, err error) {
	err = f.with(func(c *C.QuoitFork) *C.GError {
		snapshot = newSnapshot(C.quoit_fork_snapshot(c))
		return nil
	})
	return snapshot, err
}

// Reserve is like Ledger.Reserve, on the fork only. It fails like Ledger.Reserve.
func (f *Fork) Reserve(request *Request, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		group = C.quoit_fork_reserve(c, cRequest, C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// ReserveAll is like Ledger.ReserveAll, on the fork only. It fails like Ledger.ReserveAll.
func (f *Fork) ReserveAll(requests []*Request, now time.Time) ([]*Group, error) {
	list, err := newRequestList(requests)
	if err != nil {
		return nil, err
	}
	defer list.free()
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		C.quoit_fork_reserve_all(c, list.requests, list.n, C.int64_t(unixMs(now)), list.groups, &report, &gerror)
		return gerror
	})
	return list.groupsOrError(withReport(err, report))
}

// Hold is like Ledger.Hold, on the fork only. It fails like Ledger.Hold.
func (f *Fork) Hold(request *Request, lease time.Duration, now time.Time) (*Group, error) {
	cRequest, err := request.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_request_free(cRequest)
	var group *C.QuoitGroup
	var report *C.QuoitReport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		group = C.quoit_fork_hold(c, cRequest, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), &report, &gerror)
		return gerror
	})
	return groupOrError(group, withReport(err, report))
}

// Confirm is like Ledger.Confirm, on the fork only. It fails like Ledger.Confirm.
func (f *Fork) Confirm(group string, lease time.Duration, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_confirm(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// Renew is like Ledger.Renew, on the fork only. It fails like Ledger.Renew.
func (f *Fork) Renew(group string, lease time.Duration, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_renew(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// RenewGroups is like Ledger.RenewGroups, on the fork only. It fails like Ledger.RenewGroups.
func (f *Fork) RenewGroups(groups []string, lease time.Duration, now time.Time) error {
	return f.withNames("group", groups, func(c *C.QuoitFork, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_fork_renew_groups(c, names, n, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
}

// SetExpectedEnd is like Ledger.SetExpectedEnd, on the fork only. It fails like Ledger.SetExpectedEnd.
func (f *Fork) SetExpectedEnd(group string, end, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_set_expected_end(c, name, C.int64_t(unixMsOrZero(end)), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// SetPriority is like Ledger.SetPriority, on the fork only. It fails like Ledger.SetPriority.
func (f *Fork) SetPriority(group string, priority int32, now time.Time) (*Group, error) {
	var result *C.QuoitGroup
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_set_priority(c, name, C.int32_t(priority), C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// SetLabels is like Ledger.SetLabels, on the fork only. It fails like Ledger.SetLabels.
func (f *Fork) SetLabels(group string, labels map[string]string, remove []string, now time.Time) (*Group, error) {
	arguments, keys, values, n := labelArguments(labels, remove)
	defer arguments.Free()
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	var result *C.QuoitGroup
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_set_labels(c, name, keys, values, n, C.int64_t(unixMs(now)), gerror)
	})
	return groupOrError(result, err)
}

// ReleaseWithReason is like Ledger.ReleaseWithReason, on the fork only. It fails like Ledger.ReleaseWithReason.
func (f *Fork) ReleaseWithReason(group, reason string, now time.Time) error {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("reason", reason))
	if err := arguments.Err(); err != nil {
		return err
	}
	return f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_release_with_reason(c, name, text, C.int64_t(unixMs(now)), gerror)
	})
}

// Release is like Ledger.Release, on the fork only. It fails like Ledger.Release.
func (f *Fork) Release(group string, now time.Time) error {
	return f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_release(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// Resize is like Ledger.Resize, on the fork only. It fails like Ledger.Resize.
func (f *Fork) Resize(group string, slices int64, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_resize(c, name, C.int64_t(slices), C.int64_t(unixMs(now)), &report, gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// ResizeBetween is like Ledger.ResizeBetween, on the fork only. It fails like Ledger.ResizeBetween.
func (f *Fork) ResizeBetween(group string, least, most int64, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_resize_between(c, name, C.int64_t(least), C.int64_t(most), C.int64_t(unixMs(now)), &report,
			gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// Repair is like Ledger.Repair, on the fork only. It fails like Ledger.Repair.
func (f *Fork) Repair(group string, now time.Time) (*GroupChange, error) {
	var result *C.QuoitGroupChange
	var report *C.QuoitReport
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_repair(c, name, C.int64_t(unixMs(now)), &report, gerror)
	})
	return changeOrError(result, withReport(err, report))
}

// ReleaseSlice is like Ledger.ReleaseSlice, on the fork only. It fails like Ledger.ReleaseSlice.
func (f *Fork) ReleaseSlice(group, slice string, now time.Time) (*GroupChange, error) {
	var arguments cconv.Arguments
	text := (*C.char)(arguments.Text("slice", slice))
	if err := arguments.Err(); err != nil {
		return nil, err
	}
	var result *C.QuoitGroupChange
	err := f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		result = C.quoit_fork_release_slice(c, name, text, C.int64_t(unixMs(now)), gerror)
	})
	return changeOrError(result, err)
}

// Forget is like Ledger.Forget, on the fork only. A commit does not conflict with others who have forgotten the record
// too. It fails like Ledger.Forget.
func (f *Fork) Forget(group string, now time.Time) error {
	return f.withName("group", group, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_forget(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// ForgetKey is like Ledger.ForgetKey, on the fork only. A commit forgets the group that has the key on the fork, not
// another one to which others have given the key since. It fails like Ledger.Forget.
func (f *Fork) ForgetKey(key string, now time.Time) error {
	return f.withName("key", key, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_forget_key(c, name, C.int64_t(unixMs(now)), gerror)
	})
}

// ForgetBefore is like Ledger.ForgetBefore, on the fork only. A commit forgets the groups that have ended on the fork,
// not those that have ended in the ledger since.
//
// It fails with Invalid for a clock that is not valid.
func (f *Fork) ForgetBefore(before, now time.Time) (int, error) {
	var groups C.uint32_t
	err := f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		C.quoit_fork_forget_before(c, C.int64_t(unixMs(before)), C.int64_t(unixMs(now)), &groups, &gerror)
		return gerror
	})
	if err != nil {
		return 0, err
	}
	return int(groups), nil
}

// SetOwner is like Ledger.SetOwner, on the fork only. It fails like Ledger.SetOwner.
func (f *Fork) SetOwner(owner string, lease time.Duration, now time.Time) error {
	return f.withName("owner", owner, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_set_owner(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
}

// RenewOwner is like Ledger.RenewOwner, on the fork only. It fails like Ledger.RenewOwner.
func (f *Fork) RenewOwner(owner string, lease time.Duration, now time.Time) error {
	return f.withName("owner", owner, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_renew_owner(c, name, C.int64_t(durationMs(lease)), C.int64_t(unixMs(now)), gerror)
	})
}

// EndOwner is like Ledger.EndOwner, on the fork only. It fails like Ledger.EndOwner.
func (f *Fork) EndOwner(owner string, now time.Time) (int, error) {
	var groups C.uint32_t
	err := f.withName("owner", owner, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_end_owner(c, name, C.int64_t(unixMs(now)), &groups, gerror)
	})
	if err != nil {
		return 0, err
	}
	return int(groups), nil
}

// SetNodeStates is like Ledger.SetNodeStates, on the fork only. It fails like Ledger.SetNodeState.
func (f *Fork) SetNodeStates(nodes []string, state NodeState, now time.Time) error {
	return f.withNames("node", nodes, func(c *C.QuoitFork, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_fork_set_node_states(c, names, n, C.QuoitNodeState(state), C.int64_t(unixMs(now)), gerror)
	})
}

// DrainNodes is like Ledger.DrainNodes, on the fork only. It fails like Ledger.DrainNode.
func (f *Fork) DrainNodes(nodes []string, now time.Time) error {
	return f.withNames("node", nodes, func(c *C.QuoitFork, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_fork_drain_nodes(c, names, n, C.int64_t(unixMs(now)), gerror)
	})
}

// UndrainNodes reverts DrainNodes. It fails like Ledger.DrainNode.
func (f *Fork) UndrainNodes(nodes []string, now time.Time) error {
	return f.withNames("node", nodes, func(c *C.QuoitFork, names **C.char, n C.uint32_t, gerror **C.GError) {
		C.quoit_fork_undrain_nodes(c, names, n, C.int64_t(unixMs(now)), gerror)
	})
}

// withNames runs a C call that has names as argument.
func (f *Fork) withNames(what string, texts []string, run func(*C.QuoitFork, **C.char, C.uint32_t, **C.GError)) error {
	var arguments cconv.Arguments
	defer arguments.Free()
	names := (**C.char)(arguments.Texts(what, texts))
	if err := arguments.Err(); err != nil {
		return err
	}
	return f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		run(c, names, C.uint32_t(len(texts)), &gerror)
		return gerror
	})
}

// SetNodeState is like Ledger.SetNodeState, on the fork only. It fails like Ledger.SetNodeState.
func (f *Fork) SetNodeState(node string, state NodeState, now time.Time) error {
	return f.withName("node", node, func(c *C.QuoitFork, name *C.char, gerror **C.GError) {
		C.quoit_fork_set_node_state(c, name, C.QuoitNodeState(state), C.int64_t(unixMs(now)), gerror)
	})
}

// Import is like Ledger.Import, on the fork only. It returns what an Import of the ledger would change. It fails like
// Ledger.Import.
func (f *Fork) Import(input *Input, now time.Time) (*Import, error) {
	return f.withInput(input, func(c *C.QuoitFork, cInput *C.QuoitInput, gerror **C.GError) *C.QuoitImport {
		return C.quoit_fork_import(c, cInput, C.int64_t(unixMs(now)), gerror)
	})
}

// Sync is like Ledger.Sync, on the fork only. It returns what a Sync of the ledger would change. It fails like
// Ledger.Sync.
func (f *Fork) Sync(input *Input, now time.Time) (*Import, error) {
	return f.withInput(input, func(c *C.QuoitFork, cInput *C.QuoitInput, gerror **C.GError) *C.QuoitImport {
		return C.quoit_fork_sync(c, cInput, C.int64_t(unixMs(now)), gerror)
	})
}

// withInput runs a C call that reads an input.
func (f *Fork) withInput(
	input *Input, run func(*C.QuoitFork, *C.QuoitInput, **C.GError) *C.QuoitImport,
) (*Import, error) {
	cInput, err := input.toC()
	if err != nil {
		return nil, err
	}
	defer C.quoit_input_free(cInput)
	var result *C.QuoitImport
	err = f.with(func(c *C.QuoitFork) (gerror *C.GError) {
		result = run(c, cInput, &gerror)
		return gerror
	})
	return importOrError(result, err)
}
