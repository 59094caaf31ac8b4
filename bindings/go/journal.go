// SPDX-License-Identifier: Apache-2.0

package quoit

/*
#include <quoit/quoit.h>
*/
import "C"

import (
	"context"
	"time"

	"quoit/internal/door"
)

// EffectType is what kind of effect an entry of the journal has.
type EffectType int

// The kinds of effects.
const (
	EffectImport         EffectType = C.QUOIT_EFFECT_IMPORT          // a source says something new; the name is the source's
	EffectGroupAdded     EffectType = C.QUOIT_EFFECT_GROUP_ADDED     // a group has what it holds; name and id are its own
	EffectGroupRemoved   EffectType = C.QUOIT_EFFECT_GROUP_REMOVED   // a group has gone; the id is the group's
	EffectNodeState      EffectType = C.QUOIT_EFFECT_NODE_STATE      // a node has another state; the name is the node's
	EffectGroupChanged   EffectType = C.QUOIT_EFFECT_GROUP_CHANGED   // a group has other slices or bundles than it had
	EffectGroupLease     EffectType = C.QUOIT_EFFECT_GROUP_LEASE     // a group is confirmed, or has another lease
	EffectGroupForgotten EffectType = C.QUOIT_EFFECT_GROUP_FORGOTTEN // what was kept of a removed group is dropped
	EffectLedgerSet      EffectType = C.QUOIT_EFFECT_LEDGER_SET      // the ledger's epoch, next ids or clock limit are set
)

var effectTypeNames = map[EffectType]string{
	EffectImport: "IMPORT", EffectGroupAdded: "GROUP_ADDED", EffectGroupRemoved: "GROUP_REMOVED",
	EffectNodeState: "NODE_STATE", EffectGroupChanged: "GROUP_CHANGED", EffectGroupLease: "GROUP_LEASE",
	EffectGroupForgotten: "GROUP_FORGOTTEN",
}

// String is the name of the kind.
func (t EffectType) String() string { return named(effectTypeNames, t) }

// Entry is one change that was made: its effects say what happened, and never what was asked.
type Entry struct {
	Seq     uint64 // from 1, without gaps
	Time    time.Time
	Verb    string // "reserve", "release", "import"...
	Actor   string // who asked; "" where nobody said
	Effects []Effect
}

// Effect is one thing that a change has done.
type Effect struct {
	Type    EffectType
	Name    string // the source, group or node; "" where it is not known
	GroupID uint64 // 0 for effects on no group
	Text    string // in words: "train@3 holds 8 nodes of 2 slices"
}

// ChangesSince are the entries of the journal after that one, up to what this ledger knows: see Refresh.
//
// It fails with NotFound when a checkpoint has taken the place of some of them (the message names the first there is),
// Conflict inside a Batch, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) ChangesSince(ctx context.Context, seq uint64) ([]Entry, error) {
	var journal *C.QuoitJournal
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		journal = C.quoit_ledger_read_journal(c, C.uint64_t(seq), &gerror)
		return gerror
	})
	if err != nil {
		return nil, err
	}
	defer C.quoit_journal_free(journal)
	entries := make([]Entry, C.quoit_journal_get_n_entries(journal))
	for index := range entries {
		entries[index] = entryOf(journal, C.uint32_t(index))
	}
	return entries, nil
}

func entryOf(journal *C.QuoitJournal, entry C.uint32_t) Entry {
	effects := make([]Effect, C.quoit_journal_get_n_effects(journal, entry))
	for index := range effects {
		effect := C.uint32_t(index)
		effects[index] = Effect{
			Type:    EffectType(C.quoit_journal_get_effect_type(journal, entry, effect)),
			Name:    C.GoString(C.quoit_journal_get_effect_name(journal, entry, effect)),
			GroupID: uint64(C.quoit_journal_get_effect_group_id(journal, entry, effect)),
			Text:    taken(C.quoit_journal_dup_effect_text(journal, entry, effect)),
		}
	}
	return Entry{
		Seq:     uint64(C.quoit_journal_get_seq(journal, entry)),
		Time:    timeOf(int64(C.quoit_journal_get_time_ms(journal, entry))),
		Verb:    C.GoString(C.quoit_journal_get_verb(journal, entry)),
		Actor:   C.GoString(C.quoit_journal_get_actor(journal, entry)),
		Effects: effects,
	}
}

// Verify replays the journal and compares the result with the state that is kept, counts every summary again, and has
// SQLite check its file.
//
// It fails with Damaged: the message names the first difference; restore a backup. Also with Conflict inside a Batch,
// Store, Busy, Cancelled and Version.
func (l *Ledger) Verify(ctx context.Context) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_verify(c, &gerror)
		return gerror
	})
}

// Backup copies the database to a new file while others may use it: the copy is the state at one moment, a database of
// its own, of mode 0600.
//
// It fails with Conflict when there is a file or link of that name already, or inside a Batch, Invalid for a ledger in
// memory, Store when it cannot be written (nothing is left there), Busy, Cancelled and Version.
func (l *Ledger) Backup(ctx context.Context, path string) error {
	return l.onName(ctx, "path", path, func(c *C.QuoitLedger, name *C.char, gerror **C.GError) {
		C.quoit_ledger_backup(c, name, gerror)
	})
}

// Restore puts a backup in the place of the ledger at path, and begins a new epoch of it: no id of a group is ever issued
// twice. The backup is proved first and stays as it is. Ledgers that are open fail with Conflict until they are opened
// again. With backup equal to path, the ledger goes on from what the file contains. Actor is who restores, for the
// journal; "" is nobody.
//
// It fails with NotFound when there is no backup, Damaged or Version by what it contains, Conflict when path is another
// ledger than the backup, Invalid when it is no ledger or a path is empty, Busy when a process uses a database that cannot
// be read, and Store when the disk refuses. Nothing has changed then.
func Restore(path, backup string, wait time.Duration, actor string, now time.Time) error {
	var arguments door.Arguments
	defer arguments.Free()
	var gerror *C.GError
	name := (*C.char)(arguments.Text("path", path))
	from := (*C.char)(arguments.Text("backup", backup))
	who := (*C.char)(arguments.TextOrNull("actor", actor))
	if err := arguments.Err(); err != nil {
		return err
	}
	if path == "" || backup == "" {
		return door.Invalid("path '': expected the name of a file")
	}
	if wait < 0 {
		return door.Invalid("wait '%v': expected 0 or more", wait)
	}
	C.quoit_ledger_restore(name, from, C.int64_t(milliseconds(wait)), who, C.int64_t(clock(now)), &gerror)
	return take(gerror)
}

// Identity is a random number that the ledger got when it was made, as 32 hexadecimal digits; "" in memory.
//
// It fails with Invalid after Close.
func (l *Ledger) Identity() (identity string, err error) {
	err = l.with(func(c *C.QuoitLedger) error {
		identity = taken(C.quoit_ledger_dup_identity(c))
		return nil
	})
	return identity, err
}

// SetClock sets the ledger's clock, forwards or back, as one journal entry. Leases that have ended stay ended.
//
// It fails with Invalid outside the years 2000 to 2199, Conflict inside a Batch of another thread, Store, Busy, Cancelled,
// Version and Damaged.
func (l *Ledger) SetClock(ctx context.Context, now time.Time) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_set_clock(c, C.int64_t(clock(now)), &gerror)
		return gerror
	})
}

// SetMaxClockJump sets how far a change's clock may be ahead of the last entry; 0 is one day, and without limit in memory.
//
// It fails with Invalid below 0, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) SetMaxClockJump(ctx context.Context, limit time.Duration, now time.Time) error {
	return l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_set_max_clock_jump(c, C.int64_t(limit.Milliseconds()), C.int64_t(clock(now)), &gerror)
		return gerror
	})
}

// Compact puts a checkpoint, a checked image of the state right before the entry of that number, in the place of all
// entries before it, in one transaction, and says how many have gone. The past before the checkpoint can be neither seen
// nor verified any more.
//
// It fails with Invalid for a number before the checkpoint that there is, or beyond the next entry; Damaged when the
// journal contradicts itself (nothing is dropped then), Conflict inside a Batch, Store, Busy, Cancelled and Version.
func (l *Ledger) Compact(ctx context.Context, before uint64, now time.Time) (uint64, error) {
	var removed C.uint64_t
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_compact_journal(c, C.uint64_t(before), C.int64_t(clock(now)), &removed, &gerror)
		return gerror
	})
	if err != nil {
		return 0, err
	}
	return uint64(removed), nil
}

// Checkpoint is where a journal begins.
type Checkpoint struct {
	Seq  uint64    // the last entry that it has taken the place of; 0: there is no checkpoint
	Made time.Time // the clock of who asked for it; the zero time: there is none
}

// Checkpoint is where the journal begins: the entries behind it are kept, and SnapshotAt goes back to it.
//
// It fails with Conflict inside a Batch, Store, Busy, Cancelled, Version and Damaged.
func (l *Ledger) Checkpoint(ctx context.Context) (Checkpoint, error) {
	var seq C.uint64_t
	var made C.int64_t
	err := l.wait(ctx, func(c *C.QuoitLedger) (gerror *C.GError) {
		C.quoit_ledger_read_checkpoint(c, &seq, &made, &gerror)
		return gerror
	})
	if err != nil {
		return Checkpoint{}, err
	}
	return Checkpoint{Seq: uint64(seq), Made: timeOf(int64(made))}, nil
}
