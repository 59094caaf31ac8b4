// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"math"
	"time"

	"quoit/internal/cconv"
)

// EffectType is what kind of change an effect is.
type EffectType int

// The types of effects. EffectImport sets Effect.Source and Effect.Nodes, EffectNodeState sets
// Effect.Node and Effect.Nodes, and the effects on groups
// set Effect.GroupName and Effect.GroupID.
const (
	EffectImport           EffectType = C.QUOIT_EFFECT_IMPORT             // a source has new content
	EffectGroupAdded       EffectType = C.QUOIT_EFFECT_GROUP_ADDED        // a group was created
	EffectGroupRemoved     EffectType = C.QUOIT_EFFECT_GROUP_REMOVED      // a group has ended
	EffectNodeState        EffectType = C.QUOIT_EFFECT_NODE_STATE         // the state of a node has changed
	EffectGroupChanged     EffectType = C.QUOIT_EFFECT_GROUP_CHANGED      // the slices or bundles of a group have changed
	EffectGroupLease       EffectType = C.QUOIT_EFFECT_GROUP_LEASE        // a group was confirmed, or its lease was replaced
	EffectGroupForgotten   EffectType = C.QUOIT_EFFECT_GROUP_FORGOTTEN    // the record of an ended group was deleted
	EffectLedgerNumbersSet EffectType = C.QUOIT_EFFECT_LEDGER_NUMBERS_SET // the ledger's epoch, next ids or limits were set
)

var effectTypeNames = map[EffectType]string{
	EffectImport: "IMPORT", EffectGroupAdded: "GROUP_ADDED", EffectGroupRemoved: "GROUP_REMOVED",
	EffectNodeState: "NODE_STATE", EffectGroupChanged: "GROUP_CHANGED", EffectGroupLease: "GROUP_LEASE",
	EffectGroupForgotten: "GROUP_FORGOTTEN", EffectLedgerNumbersSet: "LEDGER_NUMBERS_SET",
}

// String returns the name of the type.
func (t EffectType) String() string { return nameOf(effectTypeNames, t) }

// NodeEvent is what an effect does to a node.
type NodeEvent int

// The events of nodes.
const (
	NodeEventUnrecorded NodeEvent = C.QUOIT_NODE_EVENT_UNRECORDED // new or different; an earlier version did not record it
	NodeEventAdded      NodeEvent = C.QUOIT_NODE_EVENT_ADDED      // new in the fleet
	NodeEventRemoved    NodeEvent = C.QUOIT_NODE_EVENT_REMOVED    // no longer in the fleet
	NodeEventMoved      NodeEvent = C.QUOIT_NODE_EVENT_MOVED      // another slice, worker id or pool
	NodeEventChanged    NodeEvent = C.QUOIT_NODE_EVENT_CHANGED    // another name, address, label or resource, or other sources
	NodeEventState      NodeEvent = C.QUOIT_NODE_EVENT_STATE      // another state
	NodeEventLost       NodeEvent = C.QUOIT_NODE_EVENT_LOST       // its source no longer has it; dead while a group has it
)

var nodeEventNames = map[NodeEvent]string{
	NodeEventUnrecorded: "UNRECORDED", NodeEventAdded: "ADDED", NodeEventRemoved: "REMOVED", NodeEventMoved: "MOVED",
	NodeEventChanged: "CHANGED", NodeEventState: "STATE", NodeEventLost: "LOST",
}

// String returns the name of the event.
func (e NodeEvent) String() string { return nameOf(nodeEventNames, e) }

// NodeChange is a node that an effect adds, changes or removes.
type NodeChange struct {
	ID       uint32 // the durable id
	Name     string // the short name; "" if the state has changed and the fleet no longer has the node
	Event    NodeEvent
	HasState bool      // whether the effect sets the state
	State    NodeState // the state after the effect
}

// Entry is one change in the journal. Its effects are what happened, not what was requested.
type Entry struct {
	Seq     uint64 // the sequence number; the first entry has 1, and there are no gaps
	Time    time.Time
	Verb    string // "reserve", "release", "import"...
	Actor   string // the actor (see SetActor); "" if none was set
	Effects []Effect
}

// Effect is one effect of an entry.
type Effect struct {
	Type   EffectType
	Source string // the source of an import
	Node   string // the node whose state has changed; "" if the fleet no longer has it
	// Nodes are those that an import adds, changes or removes, up to millions, or the one whose state has changed. To follow
	// the states of all nodes, take the State of each node with HasState, in order.
	Nodes     []NodeChange
	GroupName string // the group that the effect changes; "" if its name is unknown
	GroupID   uint64 // the id of that group; 0 for other effects
	// ReleaseReason is why the group was released; "" for other effects, and if no reason was given.
	ReleaseReason string
	Text          string // description: "train@3 holds 8 nodes of 2 slices"
}

// ChangesSince returns the journal entries after seq, up to what this ledger knows (see Refresh).
//
// It fails with NotFound if a checkpoint has replaced some of them (the message names the first one that is kept),
// Conflict inside a Batch, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) ChangesSince(ctx context.Context, seq uint64) ([]Entry, error) {
	journal, err := l.readJournal(ctx, seq)
	if err != nil {
		return nil, err
	}
	defer C.quoit_journal_free(journal)
	return entriesFromC(journal), nil
}

// readJournal returns the journal after seq, which the caller frees.
func (l *Ledger) readJournal(ctx context.Context, seq uint64) (journal *C.QuoitJournal, err error) {
	err = l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		journal = C.quoit_ledger_read_journal(c, C.uint64_t(seq), &gerror)
		return gerror
	})
	return journal, err
}

func entriesFromC(journal *C.QuoitJournal) []Entry {
	entries := make([]Entry, C.quoit_journal_get_n_entries(journal))
	for index := range entries {
		entries[index] = entryFromC(journal, C.uint32_t(index))
	}
	return entries
}

func entryFromC(journal *C.QuoitJournal, entry C.uint32_t) Entry {
	effects := make([]Effect, C.quoit_journal_get_n_effects(journal, entry))
	for index := range effects {
		effect := C.uint32_t(index)
		effects[index] = Effect{
			Type:          EffectType(C.quoit_journal_get_effect_type(journal, entry, effect)),
			Source:        C.GoString(C.quoit_journal_get_effect_source(journal, entry, effect)),
			Nodes:         nodeChangesFromC(journal, entry, effect),
			GroupName:     C.GoString(C.quoit_journal_get_effect_group_name(journal, entry, effect)),
			GroupID:       uint64(C.quoit_journal_get_effect_group_id(journal, entry, effect)),
			ReleaseReason: C.GoString(C.quoit_journal_get_effect_release_reason(journal, entry, effect)),
			Text:          moveString(C.quoit_journal_dup_effect_text(journal, entry, effect)),
		}
		if effects[index].Type == EffectNodeState {
			effects[index].Node = effects[index].Nodes[0].Name
		}
	}
	return Entry{
		Seq:     uint64(C.quoit_journal_get_seq(journal, entry)),
		Time:    timeFromC(int64(C.quoit_journal_get_time_ms(journal, entry))),
		Verb:    C.GoString(C.quoit_journal_get_verb(journal, entry)),
		Actor:   C.GoString(C.quoit_journal_get_actor(journal, entry)),
		Effects: effects,
	}
}

func nodeChangesFromC(journal *C.QuoitJournal, entry, effect C.uint32_t) []NodeChange {
	nodes := make([]NodeChange, C.quoit_journal_get_n_nodes(journal, entry, effect))
	for index := range nodes {
		node := C.uint32_t(index)
		var state C.QuoitNodeState
		hasState := bool(C.quoit_journal_find_node_state(journal, entry, effect, node, &state))
		nodes[index] = NodeChange{
			ID:       uint32(C.quoit_journal_get_node_id(journal, entry, effect, node)),
			Name:     C.GoString(C.quoit_journal_get_node_name(journal, entry, effect, node)),
			Event:    NodeEvent(C.quoit_journal_get_node_event(journal, entry, effect, node)),
			HasState: hasState,
			State:    NodeState(state),
		}
	}
	return nodes
}

// Verify replays the journal, compares the result with the saved state, recomputes every summary, and lets SQLite check
// the database file. On a server, it checks each link of the journal and each image instead.
//
// It fails with Damaged (the message names the first difference; restore a backup), Conflict inside a Batch, Store,
// Busy, Cancelled and Version.
func (l *Ledger) Verify(ctx context.Context) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_verify(c, &gerror)
		return gerror
	})
}

// Backup copies the database to a new file while others use the database. The copy has the state at one moment, and the
// mode 0600. The backup of a ledger on a server is a file with its whole history.
//
// It fails with Conflict if a file or link of that name exists, or inside a Batch, Invalid for a ledger of OpenMemory,
// Store if the copy cannot be written (no file remains then), Busy, Cancelled and Version.
func (l *Ledger) Backup(ctx context.Context, path string) error {
	return l.withName(ctx, "path", path, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_backup(c, name, gerror)
	})
}

// Restore replaces the ledger at path by a backup and begins a new epoch: new groups get ids that no earlier group had.
// The backup is verified first, and its file is not changed. Open ledgers fail with Conflict until they are opened
// again. If backup equals path, the ledger continues from the content of the file. actor is the name for the journal;
// "" means no name.
//
// It fails with NotFound if there is no backup, Damaged or Version depending on its content, Conflict if path is
// another ledger than the backup, Invalid if it is not a ledger in a file or a path is empty, Busy if a process uses an
// unreadable file, and Store if the disk refuses. After a failure, nothing has changed.
func Restore(path, backup string, wait time.Duration, actor string, now time.Time) error {
	var arguments cconv.Arguments
	defer arguments.Free()
	var gerror *C.GError
	name := (*C.char)(arguments.Text("path", path))
	backupName := (*C.char)(arguments.Text("backup", backup))
	actorName := (*C.char)(arguments.TextUnlessEmpty("actor", actor))
	if err := arguments.Err(); err != nil {
		return err
	}
	if path == "" || backup == "" {
		return cconv.InvalidError("path '': expected the name of a file")
	}
	if wait < 0 {
		return cconv.InvalidError("wait '%v': expected 0 or more", wait)
	}
	C.quoit_ledger_restore(name, backupName, C.int64_t(durationMs(wait)), actorName, C.int64_t(unixMs(now)), &gerror)
	return errorFromC(gerror)
}

// Identity returns the random number that identifies the ledger, as 32 hexadecimal digits; "" for a ledger of
// OpenMemory.
//
// It fails with Invalid after Close.
func (l *Ledger) Identity() (identity string, err error) {
	err = l.with(func(c *C.QuoitLedger) error {
		identity = moveString(C.quoit_ledger_dup_identity(c))
		return nil
	})
	return identity, err
}

// SetClock sets the ledger's clock, forwards or back, and writes a journal entry. Leases that have ended stay ended.
//
// It fails with Invalid outside the years 2000 to 2199, Conflict inside a Batch of another thread, Store, Busy,
// Cancelled, Version and Damaged.
func (l *Ledger) SetClock(ctx context.Context, now time.Time) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_set_clock(c, C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
}

// SetMaxClockJump sets how far the clock of a change can be ahead of the last entry. 0 restores the default: one day
// for a ledger in a file, no limit in memory.
//
// It fails with Invalid below 0, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) SetMaxClockJump(ctx context.Context, limit time.Duration, now time.Time) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_set_max_clock_jump(c, C.int64_t(limit.Milliseconds()), C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
}

// SetKeep sets how long the ledger keeps journal entries and records of ended groups; KeepAll means for ever, and 0
// the default, which is for ever in a file, and the last 4,096 entries in memory. Trim removes what is older. A ledger
// in a file also trims itself: after an import or sync, and when a Ledger that has changed it is closed, if enough
// entries are old. A retry with the key of a removed record makes a new group.
//
// It fails with Invalid below 0, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) SetKeep(ctx context.Context, keep time.Duration, now time.Time) error {
	ms := keep.Milliseconds()
	if keep == KeepAll {
		ms = math.MaxInt64
	}
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_set_keep(c, C.int64_t(ms), C.int64_t(unixMs(now)), &gerror)
		return gerror
	})
}

// KeepAll is the argument of SetKeep that keeps everything.
const KeepAll = time.Duration(math.MaxInt64)

// Trimmed is what Trim has removed.
type Trimmed struct {
	Entries int // entries of the journal, which a checkpoint replaces
	Groups  int // records of ended groups
}

// Trim removes what is older than SetKeep allows: at most 65,536 entries, and records of ended groups. Call it when
// there is nothing else to do, such as once an hour.
//
// It fails with Conflict inside a Batch, Damaged if the journal contradicts itself, Invalid if the clock is wrong,
// Store, Busy, Cancelled and Version.
func (l *Ledger) Trim(ctx context.Context, now time.Time) (Trimmed, error) {
	var entries C.uint64_t
	var groups C.uint32_t
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_trim(c, C.int64_t(unixMs(now)), &entries, &groups, &gerror)
		return gerror
	})
	if err != nil {
		return Trimmed{}, err
	}
	return Trimmed{int(entries), int(groups)}, nil
}

// Compact replaces all entries before an entry by a checkpoint, which is a verified copy of the state at that point, in
// one transaction. It returns the number of removed entries. States before the checkpoint can no longer be read or
// verified.
//
// It fails with Invalid if before is below the present checkpoint or beyond the next entry, Damaged if the journal
// contradicts itself (nothing is removed then), Conflict inside a Batch, Store, Busy, Cancelled and Version.
func (l *Ledger) Compact(ctx context.Context, before uint64, now time.Time) (uint64, error) {
	var removed C.uint64_t
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_compact_journal(c, C.uint64_t(before), C.int64_t(unixMs(now)), &removed, &gerror)
		return gerror
	})
	if err != nil {
		return 0, err
	}
	return uint64(removed), nil
}

// Checkpoint is a stored state that replaces the entries before it.
type Checkpoint struct {
	Seq  uint64    // the last entry that it replaces; 0 if there is no checkpoint
	Made time.Time // the time that was passed to Compact; the zero time if there is no checkpoint
}

// Checkpoint returns where the journal begins: entries after Seq are kept, and SnapshotAt goes back to Seq.
//
// It fails with Conflict inside a Batch, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) Checkpoint(ctx context.Context) (Checkpoint, error) {
	var seq C.uint64_t
	var madeMs C.int64_t
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_read_checkpoint(c, &seq, &madeMs, &gerror)
		return gerror
	})
	if err != nil {
		return Checkpoint{}, err
	}
	return Checkpoint{Seq: uint64(seq), Made: timeFromC(int64(madeMs))}, nil
}
