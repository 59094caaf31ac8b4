/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_LEDGER_H
#define QUOIT_LEDGER_H

#include <stdbool.h>

#include <quoit/fork.h>
#include <quoit/input.h>
#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitLedger:
 *
 * An open ledger. It is in a database file that any number of processes can share, or in memory.
 *
 * Several threads can use one handle: writers wait for each other, readers take snapshots and never wait for the disk.
 * After fork(2) the child must not use the handle: its calls fail with %QUOIT_ERROR_FAILED and print nothing. Open the
 * ledger again there. Snapshots, forks, groups, reports and journals are values in memory; the child can use them,
 * unless another thread of the parent was using one during fork(2).
 *
 * The library reads no clock; the caller passes the time. All times are milliseconds since 1970-01-01 UTC. The ledger's
 * own clock never goes back: an earlier time counts as the time of the last entry.
 *
 * Each call that changes the ledger is one transaction. When it succeeds, the change is on the disk. When it fails,
 * nothing has changed, except after %QUOIT_ERROR_UNCONFIRMED.
 *
 * Errors of changes. Each call that changes the ledger can fail with:
 *
 * - %QUOIT_ERROR_INVALID: @now_ms is outside the years 2000 to 2199, further ahead than
 *   quoit_ledger_set_max_clock_jump() allows, or more than 5 seconds ahead of the clock of a PostgreSQL server. Correct
 *   the clock.
 * - %QUOIT_ERROR_BUSY: another writer had the database for longer than the handle waits. Retry.
 * - %QUOIT_ERROR_CANCELLED: quoit_ledger_interrupt() ended the wait.
 * - %QUOIT_ERROR_STORE: the database cannot be written (the disk, its permissions or its free space; or the server, its
 *   grants or the connection), or its file has a second name. Nothing was written. Remove the cause and retry.
 * - %QUOIT_ERROR_UNCONFIRMED: the change was written, but then the files of the database were replaced; or the
 *   connection to the server was lost while the change was written, and it is not known whether it was. Read the state,
 *   or retry with the same request key.
 * - %QUOIT_ERROR_FENCED: a later leader has begun its term. This handle can write nothing until it leads again; see
 *   quoit_ledger_lead().
 * - %QUOIT_ERROR_CONFLICT: the ledger was restored, or another program wrote to its file. Open it again.
 * - %QUOIT_ERROR_VERSION: a newer quoit has upgraded the database.
 * - %QUOIT_ERROR_DAMAGED: the database contradicts itself, an older copy replaced it, or the server has lost an entry
 *   that this handle has read. See quoit_ledger_restore().
 * - %QUOIT_ERROR_FAILED: the caller is a forked child.
 *
 * Errors of reads. Each call that reads the database can fail with %QUOIT_ERROR_BUSY, %QUOIT_ERROR_CANCELLED,
 * %QUOIT_ERROR_STORE, %QUOIT_ERROR_VERSION, %QUOIT_ERROR_DAMAGED and %QUOIT_ERROR_FAILED for the same reasons, and with
 * %QUOIT_ERROR_CONFLICT inside a batch of the same thread.
 *
 * Errors of group names. Each call that takes NAME or NAME@ID can also fail with:
 *
 * - %QUOIT_ERROR_NOT_FOUND: no live group has the name.
 * - %QUOIT_ERROR_CONFLICT: the live group of that name has another id, or a source owns the group.
 * - %QUOIT_ERROR_EXPIRED: the group's lease has ended and its slices are free. Reserve again.
 * - %QUOIT_ERROR_INVALID: the text is neither NAME nor NAME@ID.
 *
 * Reports of refusals. If a call with an argument @report fails with %QUOIT_ERROR_NOT_NOW or %QUOIT_ERROR_NEVER, it
 * sets @report to the reasons; quoit_report_unref() it. Otherwise, @report is unchanged. %NULL: no report is made.
 */
typedef struct _QuoitLedger QuoitLedger;

/**
 * quoit_ledger_create:
 * @path: path of the database file, or the URL of a ledger in PostgreSQL: postgresql://HOST/DATABASE#FLEET, also with
 *   postgres://
 * @wait_ms: how long calls wait for other writers, in milliseconds; 0: not at all. Connecting to a server may take up
 *   to 10 s more, and so may its answers, counted from the last bytes that were sent or received
 *
 * Creates an empty database with mode 0600 and opens it. An existing empty file is used. The time of the first change
 * cannot be compared with an earlier one, and sets the ledger's clock: pass the time of the system clock. On a server,
 * makes quoit's tables if they are missing, and a fleet of that name.
 *
 * Fails with %QUOIT_ERROR_CONFLICT if the file or the fleet exists (open it with quoit_ledger_open()),
 * %QUOIT_ERROR_VERSION, %QUOIT_ERROR_DAMAGED or %QUOIT_ERROR_BUSY depending on what that file is, %QUOIT_ERROR_INVALID
 * for a URL without the name of a fleet, and %QUOIT_ERROR_STORE if @path cannot be written, has a second name, or is on
 * a file system without safe locks (docs/ledger.md lists the safe ones), if the server cannot be used, or if libquoit
 * was built without PostgreSQL.
 *
 * Returns: (transfer full): the handle; quoit_ledger_unref() it
 */
QUOIT_API QuoitLedger *quoit_ledger_create (const char *path, int64_t wait_ms, GError **error);

/**
 * quoit_ledger_open:
 * @path: path of the database file, or the URL of a ledger in PostgreSQL: postgresql://HOST/DATABASE#FLEET, also with
 *   postgres://
 * @wait_ms: how long calls wait for other writers, in milliseconds; 0: not at all. Connecting to a server may take up
 *   to 10 s more, and so may its answers, counted from the last bytes that were sent or received
 *
 * Opens a database and reads its saved state. Only a database of an older quoit is changed: it is upgraded.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_NOT_FOUND: there is no file, or the database has no such fleet; quoit_ledger_create() creates one.
 * - %QUOIT_ERROR_INVALID: the file is not a quoit database, or the URL has no name of a fleet.
 * - %QUOIT_ERROR_VERSION: the database belongs to a newer quoit.
 * - %QUOIT_ERROR_DAMAGED: it is truncated, contradicts itself, has an unknown schema, or lacks acknowledged entries.
 *   Use quoit_ledger_restore().
 * - %QUOIT_ERROR_CONFLICT: another program has written to it.
 * - %QUOIT_ERROR_STORE: it cannot be read, is of an older quoit and cannot be written, has a second name, or is on a
 *   file system without safe locks; the server cannot be used; or libquoit was built without PostgreSQL.
 * - %QUOIT_ERROR_BUSY: another process locked it for longer than @wait_ms.
 * - %QUOIT_ERROR_FAILED: the process was forked while its parent was inside a call or a batch on the same file.
 *
 * Returns: (transfer full): the handle; quoit_ledger_unref() it
 */
QUOIT_API QuoitLedger *quoit_ledger_open (const char *path, int64_t wait_ms, GError **error);

/**
 * quoit_ledger_open_memory:
 *
 * Creates an empty ledger in memory. It has the same rules and calls as one in a file, but is not durable.
 *
 * Returns: (transfer full): the handle; quoit_ledger_unref() it
 */
QUOIT_API QuoitLedger *quoit_ledger_open_memory (void);

/**
 * quoit_ledger_ref:
 *
 * Returns: (transfer full): @ledger with one more owner
 */
QUOIT_API QuoitLedger *quoit_ledger_ref (QuoitLedger *ledger);

/**
 * quoit_ledger_unref:
 * @ledger: (nullable): the handle
 *
 * Gives up one owner. The last one closes the database; all reservations stay.
 */
QUOIT_API void quoit_ledger_unref (QuoitLedger *ledger);

/**
 * quoit_ledger_lead:
 * @leader: who leads, such as a host name; 1 to 256 bytes of UTF-8 without control characters
 * @term: (out): the term that has begun, from 1 on
 *
 * Makes this handle the leader of a ledger in PostgreSQL. From then on, handles that have led earlier fail with
 * %QUOIT_ERROR_FENCED when they write, also if they were paused meanwhile and do not know of the new leader. Handles
 * that have never led write as before: let each process of an active/standby scheduler lead before it writes.
 *
 * The handle keeps its term until it is closed. Call this again to begin another term.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_INVALID: the ledger is not in PostgreSQL, or @leader is not valid.
 * - %QUOIT_ERROR_CONFLICT: inside a batch of this thread.
 * - %QUOIT_ERROR_FENCED: another handle has begun a term meanwhile.
 * - %QUOIT_ERROR_STORE and %QUOIT_ERROR_CANCELLED, as in "Errors of changes" of #QuoitLedger.
 *
 * After a failure, a term may have begun: call this again.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_lead (QuoitLedger *ledger, const char *leader, uint64_t *term, GError **error);

/**
 * quoit_ledger_restore:
 * @path: path of the database file, which can be missing or damaged
 * @backup: a file that quoit_ledger_backup() wrote, or @path itself
 * @wait_ms: how long to wait for other writers, in milliseconds; 0: not at all
 * @actor: (nullable): who restores, for the journal
 * @now_ms: the caller's clock
 *
 * Replaces a ledger by a backup and begins a new epoch. New groups get ids that no group of the lost ledger can have
 * had, and each handle that was open fails with %QUOIT_ERROR_CONFLICT until it is opened again.
 *
 * The backup is verified first, as by quoit_ledger_verify(), and its file is not changed. The change is one
 * transaction: after a crash the ledger is the old one or the restored one. An unreadable file is kept under the name
 * PATH.replaced-1, or with the next free number.
 *
 * If @backup is @path, the ledger continues from the content of the file. Do this after the message "an older copy of
 * the file was put here".
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_NOT_FOUND: there is no backup.
 * - %QUOIT_ERROR_DAMAGED, %QUOIT_ERROR_VERSION: the backup is damaged, or of another version of quoit.
 * - %QUOIT_ERROR_CONFLICT: @path is another ledger than the backup.
 * - %QUOIT_ERROR_INVALID: @path or @backup is not a ledger in a file, such as a URL. A backup in a file gets to a
 *   server with quoit_ledger_copy().
 * - %QUOIT_ERROR_BUSY: a process uses @path, which is unreadable, or a batch of this process has the ledger locked.
 * - %QUOIT_ERROR_STORE: a file cannot be written.
 * - %QUOIT_ERROR_UNCONFIRMED: the backup was put in place, but then the files were replaced. Restore again.
 */
QUOIT_API bool quoit_ledger_restore (const char *path, const char *backup, int64_t wait_ms, const char *actor,
                                     int64_t now_ms, GError **error);

/**
 * quoit_ledger_dup_identity:
 *
 * Returns the random number that identifies the ledger. Its backups have the same one.
 *
 * Returns: (transfer full) (nullable): 32 hexadecimal digits, "" for a ledger of quoit_ledger_open_memory(); g_free()
 *   it. %NULL in a forked child
 */
QUOIT_API char *quoit_ledger_dup_identity (QuoitLedger *ledger);

/**
 * quoit_ledger_set_clock:
 * @clock_ms: the new time, milliseconds since 1970-01-01 UTC
 *
 * Sets the ledger's clock, forwards or back, and writes a journal entry. Use it if a caller with a wrong clock set the
 * ledger's clock too far ahead, or if the ledger was unused for longer than the limit of
 * quoit_ledger_set_max_clock_jump(). Leases that have ended stay ended; the others keep their end times.
 *
 * Fails with %QUOIT_ERROR_INVALID outside the years 2000 to 2199. See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_set_clock (QuoitLedger *ledger, int64_t clock_ms, GError **error);

/**
 * quoit_ledger_set_max_clock_jump:
 * @max_jump_ms: the limit; 0: one day, in memory none; INT64_MAX: none
 * @now_ms: the caller's clock
 *
 * Limits how far the time of a change can be ahead of the last entry. The time for which this machine has been up since
 * that entry does not count. A change further ahead fails with %QUOIT_ERROR_INVALID, because it would end every lease.
 *
 * Fails with %QUOIT_ERROR_INVALID below 0. See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_set_max_clock_jump (QuoitLedger *ledger, int64_t max_jump_ms, int64_t now_ms,
                                                GError **error);

/**
 * quoit_ledger_set_actor:
 * @actor: (nullable): any text; %NULL: none
 *
 * Sets the name that the journal records as the actor of the following changes.
 */
QUOIT_API void quoit_ledger_set_actor (QuoitLedger *ledger, const char *actor);

/**
 * quoit_ledger_interrupt:
 *
 * Cancels the calls of this handle that are waiting: they fail with %QUOIT_ERROR_CANCELLED. Any thread can call it.
 */
QUOIT_API void quoit_ledger_interrupt (QuoitLedger *ledger);

/**
 * quoit_ledger_snapshot:
 *
 * Returns the state that this handle has read: with its own changes, and with those of other processes up to its last
 * change or quoit_ledger_refresh(). It does not wait for the disk.
 *
 * Returns: (transfer full) (nullable): the snapshot; quoit_snapshot_unref() it. %NULL in a forked child
 */
QUOIT_API QuoitSnapshot *quoit_ledger_snapshot (QuoitLedger *ledger);

/**
 * quoit_ledger_snapshot_at:
 * @seq: the sequence number of an entry; 0: before the first
 *
 * Returns the state after that entry. Replays the journal from the checkpoint, or from the beginning. Other calls on
 * the handle continue in the meantime, unless the ledger is in memory.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if a checkpoint has replaced that entry (the message names the first one that is
 * kept) or if there is no such entry yet. See also "Errors of reads" of #QuoitLedger.
 *
 * Returns: (transfer full): the snapshot; quoit_snapshot_unref() it
 */
QUOIT_API QuoitSnapshot *quoit_ledger_snapshot_at (QuoitLedger *ledger, uint64_t seq, GError **error);

/**
 * quoit_ledger_refresh:
 *
 * Reads what other processes have written. The cost depends on the number of new entries only.
 *
 * Fails with the codes in "Errors of reads" of #QuoitLedger, and with %QUOIT_ERROR_CONFLICT if the ledger was restored
 * or another program wrote to its file. Inside a batch, it does nothing.
 */
QUOIT_API bool quoit_ledger_refresh (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_import:
 * @input: what the source contains
 * @now_ms: the caller's clock
 *
 * Makes the nodes of @input the nodes of its source. An import replaces what the source contained before; importing the
 * same input twice changes nothing. Node states, groups and external use follow the input.
 *
 * Fails with %QUOIT_ERROR_INVALID if the text breaks a rule of its format (the message has the place, the value and
 * what was expected) or its lists are of different moments or clusters, and with %QUOIT_ERROR_CONFLICT if an allocated
 * node would be dropped or replaced (the message names it and its group; quoit_ledger_sync() keeps it), if another
 * source of the same kind claims one of the machines, or if the source's name belongs to a source of another kind. See
 * also "Errors of changes" of #QuoitLedger.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it
 */
QUOIT_API QuoitImport *quoit_ledger_import (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms,
                                            GError **error);

/**
 * quoit_ledger_sync:
 * @input: what the source contains
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_import(), for a fleet that changes while parts of it are allocated. An allocated node that is
 * missing from @input is lost: it stays in its place as dead while a group has it. Once no group has it, the next
 * import or sync removes it. The result reports which slices of which groups are lost (a host is dead), leaving (a host
 * is draining) or whole again. React with quoit_ledger_repair() or quoit_ledger_resize().
 *
 * Fails like quoit_ledger_import(), but not because of lost nodes.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it
 */
QUOIT_API QuoitImport *quoit_ledger_sync (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms, GError **error);

/**
 * quoit_ledger_update_nodes:
 * @input: from quoit_input_new_nodes()
 * @now_ms: the caller's clock
 *
 * Changes a few nodes of a source: adds the nodes of @input that the source does not have, replaces those that it has,
 * and removes the nodes of quoit_input_remove_node(). All other nodes stay. The result is that of quoit_ledger_sync()
 * with the complete list, with the same rules: an allocated node that is removed is lost, and stays as dead while a
 * group has it. The entry contains only what changes. Removing a node that the source does not have changes nothing.
 * An input that only removes nodes can be for a source of any kind.
 *
 * The time depends on the number of changed nodes, and a little on the size of the fleet: see docs/performance.md. It
 * is short as long as nodes only change their state, address or name, or replace each other in their places. New places
 * rebuild the layout of the fleet, as an import does. While there are sources of other kinds, the update compares the
 * complete source, because any of its nodes can be joined with theirs.
 *
 * Fails like quoit_ledger_sync(), and with %QUOIT_ERROR_NOT_FOUND if there is no such source, with
 * %QUOIT_ERROR_INVALID if @input has a text or a list of the whole cluster, adds and removes the same id, or has a node
 * with chips without Ray's TPU labels, and with %QUOIT_ERROR_CONFLICT if another alive node of the source, which is not
 * part of the update, has the name of an alive node of @input.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_ledger_update_nodes (QuoitLedger *ledger, const QuoitInput *input, int64_t now_ms,
                                                  GError **error);

/**
 * quoit_ledger_reserve:
 * @request: the request; not kept
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Places all slices or bundles of @request, or none, and writes the group in one transaction. A retry with the same
 * request key returns the group of the first call and reserves nothing.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_NOT_NOW, %QUOIT_ERROR_NEVER: the request does not fit; the message has the main reason, and @report
 *   all reasons and options. With alternatives, see quoit_request_add_alternative().
 * - %QUOIT_ERROR_CONFLICT: the name is in use, or the key belongs to another request or to an unconfirmed hold.
 * - %QUOIT_ERROR_EXPIRED: the lease of the request's owner has ended; quoit_ledger_set_owner() starts a new one.
 * - %QUOIT_ERROR_INVALID: the request is incomplete, not in the catalogue, contradictory, or longer than 4 MiB as text.
 * - %QUOIT_ERROR_NOT_FOUND: the request names an unknown pool, slice or node.
 *
 * See also "Errors of changes" of #QuoitLedger.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_ledger_reserve (QuoitLedger *ledger, const QuoitRequest *request, int64_t now_ms,
                                            QuoitReport **report, GError **error);

/**
 * quoit_ledger_reserve_all:
 * @requests: (array length=n_requests): the requests, 1 to 64, each for another group; not kept
 * @n_requests: number of requests
 * @now_ms: the caller's clock
 * @groups: (out caller-allocates) (array length=n_requests): set to the group of each request; not written on failure
 * @report: (out) (optional): set to a report on the refused request if placement refused
 *
 * Reserves several groups in one entry of the journal, all or none: for example slices for the workers of a job, and a
 * bundle on a CPU node for its head. The groups never share a slice or an amount, and each is a group like any other
 * afterwards. Use the same owner for groups that are to end together.
 *
 * The requests are placed one after the other. If one is refused, it is placed first and the others after it, because
 * these may accept something else; each request gets this chance once. A combination of whole slices of one class with
 * different restrictions, or of bundles that compete for the same nodes, can therefore be refused although there is a
 * way to place all. Each request can have alternatives. A request that is to be near the group of another one
 * (quoit_request_set_near()) is placed after it; if they are to be near to each other, the call fails with
 * %QUOIT_ERROR_NOT_FOUND.
 *
 * Give each request a key to make a retry safe: requests whose keys have groups return these, and the others are
 * reserved.
 *
 * Fails like quoit_ledger_reserve() for one of the requests; the message begins with the name of its group. The code is
 * %QUOIT_ERROR_NEVER if that request never fits by itself. If other requests have what it needs, the report has reasons
 * and no options. Also fails with %QUOIT_ERROR_INVALID if two requests are for the same group, or for another number of
 * requests.
 *
 * Returns: true if all groups are reserved; quoit_group_unref() each of them
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_reserve_all (QuoitLedger *ledger, const QuoitRequest *const *requests, uint32_t n_requests,
                                         int64_t now_ms, QuoitGroup **groups, QuoitReport **report, GError **error);

/**
 * quoit_ledger_reserve_at:
 * @request: the request; not kept. It has no lease, because @until_ms ends the group
 * @from_ms: when the group begins, after now
 * @until_ms: when the group ends, after @from_ms; 0: when it is released
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Reserves all slices or bundles of @request, or none, from @from_ms on. Until then the group is %QUOIT_GROUP_AHEAD: it
 * holds nothing, and its slices can be used by groups that end before. The first change after @from_ms makes it
 * %QUOIT_GROUP_RESERVED; quoit_snapshot_as_of() shows it so already before. Its end is a lease, which
 * quoit_ledger_renew() can extend after the group has begun.
 *
 * That the group gets its slices does not change, while the slices live: nothing is granted or renewed that could
 * still have them at @from_ms. A group counts as having its slices until the end of its lease, or until its expected
 * end if that is later. A group without a lease, or one that is only held, counts forever, whatever its expected end:
 * an estimate ends nothing. To run on promised slices before @from_ms, a job needs a lease. Leases of owners do not
 * count.
 *
 * Which slices the group gets can change until @from_ms: when something else needs them and equal ones are free at
 * that time, when one of their nodes dies or drains, or when a source reports that it uses one. The group then gets
 * other slices, if there are any. If there are none when it is to begin, then it begins with dead or draining nodes
 * (%QUOIT_GROUP_RESCHEDULING; quoit_ledger_repair() helps), but waits for nodes that others still use, because their
 * source says so. Reservations of bundles keep their nodes until they begin.
 *
 * If all reservations ahead are for the same slices (accelerator, topology and the same rules), and there is no window
 * of the calendar, then a refusal proves that they do not fit together. Otherwise a way to give them other slices may
 * exist that was not found.
 *
 * A request with a minimum number of slices gets as many as are free for the whole time, and keeps that number.
 *
 * Fails like quoit_ledger_reserve(), with a report on the time of the reservation, and with %QUOIT_ERROR_INVALID for
 * times that are not in order, or for a request with a lease.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_reserve_at (QuoitLedger *ledger, const QuoitRequest *request, int64_t from_ms,
                                               int64_t until_ms, int64_t now_ms, QuoitReport **report, GError **error);

/**
 * quoit_ledger_hold:
 * @request: the request; not kept
 * @lease_ms: how long the group lives unless it is confirmed or renewed, from 1 ms
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Like quoit_ledger_reserve(), but the group is %QUOIT_GROUP_HELD and ends with its lease unless quoit_ledger_confirm()
 * comes first. Use it as the first half of a reservation that depends on something else, such as placement groups of a
 * cluster.
 *
 * Fails like quoit_ledger_reserve(), and with %QUOIT_ERROR_INVALID for a lease below 1 ms or beyond the year 2199.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_ledger_hold (QuoitLedger *ledger, const QuoitRequest *request, int64_t lease_ms,
                                         int64_t now_ms, QuoitReport **report, GError **error);

/**
 * quoit_ledger_confirm:
 * @group: NAME or NAME@ID
 * @lease_ms: how long the group lives from now on unless it is renewed; 0: until it is released
 * @now_ms: the caller's clock
 *
 * Makes a held group a reserved one. A reserved group stays as it is, so that a retry is safe.
 *
 * Fails with %QUOIT_ERROR_INVALID for a lease below 0 or beyond the year 2199. See also "Errors of changes" and "Errors
 * of group names" of #QuoitLedger.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_ledger_confirm (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms,
                                            GError **error);

/**
 * quoit_ledger_renew:
 * @group: NAME or NAME@ID
 * @lease_ms: how long the group lives from now on, from 1 ms
 * @now_ms: the caller's clock
 *
 * Replaces the lease of a group by one that begins now.
 *
 * Fails with %QUOIT_ERROR_CONFLICT for a group without a lease, for a reservation ahead that has not begun, and if the
 * nodes are promised to a reservation ahead, or belong to a window of the calendar, that begins before the new end: the
 * message names it and its time. Also fails with %QUOIT_ERROR_INVALID for a lease below 1 ms or
 * beyond the year 2199. See also "Errors of changes" and "Errors of group names" of #QuoitLedger.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 */
QUOIT_API QuoitGroup *quoit_ledger_renew (QuoitLedger *ledger, const char *group, int64_t lease_ms, int64_t now_ms,
                                          GError **error);

/**
 * quoit_ledger_renew_groups:
 * @groups: (array length=n_groups): NAME or NAME@ID; a group may occur more than once
 * @lease_ms: how long each group lives from now on, from 1 ms
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_renew(), for many groups in one transaction and one journal entry: all of them, or none. If one of
 * them has ended, does not exist or has no lease, the call fails like quoit_ledger_renew() for that group, its message
 * names the first such group, and no lease has changed. Remove that group from @groups and call again, before the other
 * leases end.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_renew_groups (QuoitLedger *ledger, const char *const *groups, uint32_t n_groups,
                                          int64_t lease_ms, int64_t now_ms, GError **error);

/**
 * quoit_ledger_set_expected_end:
 * @group: NAME or NAME@ID
 * @end_ms: when the group is expected to end, not before it was created; 0: unknown
 * @now_ms: the caller's clock
 *
 * Replaces the estimate of a group. An estimate ends nothing: see quoit_request_set_expected_runtime_ms().
 *
 * Fails with %QUOIT_ERROR_INVALID for a time before the group was created or after the year 2199. See also "Errors of
 * changes" and "Errors of group names" of #QuoitLedger.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_set_expected_end (QuoitLedger *ledger, const char *group, int64_t end_ms,
                                                     int64_t now_ms, GError **error);

/**
 * quoit_ledger_set_priority:
 * @group: NAME or NAME@ID
 * @priority: the new priority
 * @now_ms: the caller's clock
 *
 * Replaces the priority of a group: see quoit_request_set_priority().
 *
 * See "Errors of changes" and "Errors of group names" of #QuoitLedger.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_set_priority (QuoitLedger *ledger, const char *group, int32_t priority,
                                                 int64_t now_ms, GError **error);

/**
 * quoit_ledger_set_labels:
 * @group: NAME or NAME@ID
 * @keys: (array length=n_labels): the keys of the labels, as for quoit_request_set_label()
 * @values: (array length=n_labels): their new values; %NULL: removes the label, if the group has it
 * @n_labels: 0 to 64
 * @now_ms: the caller's clock
 *
 * Sets and removes labels of a group, in one journal entry: all of them, or none. Other labels stay. If a key occurs
 * more than once, its last value counts.
 *
 * Fails with %QUOIT_ERROR_INVALID for a text that is not valid, for more than 64 labels in one call, and if the group
 * would have more than 64 labels. See also "Errors of changes" and "Errors of group names" of #QuoitLedger.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_set_labels (QuoitLedger *ledger, const char *group, const char *const *keys,
                                               const char *const *values, uint32_t n_labels, int64_t now_ms,
                                               GError **error);

/**
 * quoit_ledger_release:
 * @group: NAME or NAME@ID
 * @now_ms: the caller's clock
 *
 * Frees everything that is allocated to the group. With NAME@ID, a late or repeated call never frees a newer group of
 * that name. A group that was imported from a source cannot be released; it ends when the source no longer contains it.
 *
 * See also "Errors of changes" and "Errors of group names" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_release (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error);

/**
 * quoit_ledger_release_with_reason:
 * @group: NAME or NAME@ID
 * @reason: why the group is released, such as "preempted by job-7": 1 to 1,024 bytes of UTF-8 without control
 * characters
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_release(), but the journal and the record of the group keep the reason. A group without a request
 * key is recorded too: at least for a day, until the next release with a reason or the next end of a lease after that
 * day, or until quoit_ledger_forget(). Late calls with the id of the group fail with %QUOIT_ERROR_CONFLICT, and their
 * message has the reason.
 *
 * Fails with %QUOIT_ERROR_INVALID for any other reason. See also "Errors of changes" and "Errors of group names" of
 * #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_release_with_reason (QuoitLedger *ledger, const char *group, const char *reason,
                                                 int64_t now_ms, GError **error);

/**
 * quoit_ledger_resize:
 * @group: NAME or NAME@ID
 * @n_slices: the new number of slices
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Grows or shrinks a group, completely or not at all. It adds slices that match the group's request. It removes lost
 * slices first, then leaving ones, then those with the highest slice ids. Afterwards the slices are in natural order
 * again, so slice ids, process ids and environments can change also for slices that stay. A group that already has
 * @n_slices stays as it is.
 *
 * A group that was requested with quoit_request_set_slice_range() stays within that range. A group that was requested
 * with one number can have any number of slices from 1.
 *
 * Fails with %QUOIT_ERROR_NOT_NOW or %QUOIT_ERROR_NEVER like quoit_ledger_reserve(), and %QUOIT_ERROR_INVALID for a
 * number below 1 or outside the range (the message has it), or if the group does not have whole slices. See also
 * "Errors of changes" and "Errors of group names" of #QuoitLedger.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 */
QUOIT_API QuoitGroupChange *quoit_ledger_resize (QuoitLedger *ledger, const char *group, int64_t n_slices,
                                                 int64_t now_ms, QuoitReport **report, GError **error);

/**
 * quoit_ledger_resize_between:
 * @group: NAME or NAME@ID
 * @least: the smallest sufficient number of slices, from 1
 * @most: the wanted number of slices, @least to 1,000,000
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused @least
 *
 * Grows or shrinks a group to as many slices as possible, at least @least and at most @most. The result is that of
 * quoit_ledger_resize() to the largest number of this range to which it succeeds, so a group that cannot grow stays as
 * it is if it has @least slices already. Lost and leaving slices count until quoit_ledger_repair() replaces them.
 *
 * What is free now decides, as well as quotas, reservations ahead and windows. Slices that are promised to nobody come
 * first. For more, reservations ahead get other slices; if these accept different slices, and more than 8 slices could
 * be added so, then a larger number can exist that was not found.
 *
 * Fails like quoit_ledger_resize(): with %QUOIT_ERROR_NOT_NOW or %QUOIT_ERROR_NEVER if the group cannot even have
 * @least slices, and with %QUOIT_ERROR_INVALID if a part of the range is outside quoit_request_set_slice_range(). See
 * also "Errors of changes" and "Errors of group names" of #QuoitLedger.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 *
 * Since: 0.1
 */
QUOIT_API QuoitGroupChange *quoit_ledger_resize_between (QuoitLedger *ledger, const char *group, int64_t least,
                                                         int64_t most, int64_t now_ms, QuoitReport **report,
                                                         GError **error);

/**
 * quoit_ledger_repair:
 * @group: NAME or NAME@ID
 * @now_ms: the caller's clock
 * @report: (out) (optional): set to a report if placement refused
 *
 * Replaces all lost and leaving slices of a group, or none. If a slice of the same pool and name is whole again (a
 * host was replaced, or the slice was created again), the group gets that slice. Otherwise it gets another slice that
 * matches its request. The other slices stay. If no slice is lost or leaving, nothing changes.
 *
 * In a group of bundles, the bundles on lost or leaving nodes are placed again with the same strategy and policy, like
 * Ray does. %QUOIT_STRATEGY_STRICT_SPREAD avoids the nodes of the other bundles. With a topology label, a bundle gets a
 * node with the same value of the label as before, unless all bundles with that value are lost.
 *
 * Fails with %QUOIT_ERROR_NOT_NOW or %QUOIT_ERROR_NEVER if too few slices are free or the bundles do not fit. If the
 * group can have fewer slices, an option of @report is %QUOIT_STEP_SHRINK of the group itself: resize it to that number
 * with quoit_ledger_resize(), and repair it again. See also "Errors of changes" and "Errors of group names" of
 * #QuoitLedger.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 */
QUOIT_API QuoitGroupChange *quoit_ledger_repair (QuoitLedger *ledger, const char *group, int64_t now_ms,
                                                 QuoitReport **report, GError **error);

/**
 * quoit_ledger_release_slice:
 * @group: NAME or NAME@ID
 * @slice: short or full name (source/pool/name); for a group of parts also a slice id, such as "2"
 * @now_ms: the caller's clock
 *
 * Frees one slice of a group. The group ends with its last slice.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no such slice or the group does not have it, and %QUOIT_ERROR_INVALID
 * if the group has bundles, or several parts in the slice. See also "Errors of changes" and "Errors of group names" of
 * #QuoitLedger.
 *
 * Returns: (transfer full): the group before and after; quoit_group_change_free() it
 */
QUOIT_API QuoitGroupChange *quoit_ledger_release_slice (QuoitLedger *ledger, const char *group, const char *slice,
                                                        int64_t now_ms, GError **error);

/**
 * quoit_ledger_forget:
 * @group: NAME@ID
 * @now_ms: the caller's clock
 *
 * Deletes the record of an ended group. Its request key can be used again, and a late quoit_ledger_confirm() of it
 * fails with %QUOIT_ERROR_CONFLICT instead of %QUOIT_ERROR_EXPIRED.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND if there is no such record, %QUOIT_ERROR_CONFLICT if the group is live (release
 * it), and %QUOIT_ERROR_INVALID without an id. See also "Errors of changes" of #QuoitLedger.
 */
QUOIT_API bool quoit_ledger_forget (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error);

/**
 * quoit_ledger_forget_key:
 * @key: a request key
 * @now_ms: the caller's clock
 *
 * Like quoit_ledger_forget(), for the group that the key names.
 */
QUOIT_API bool quoit_ledger_forget_key (QuoitLedger *ledger, const char *key, int64_t now_ms, GError **error);

/**
 * quoit_ledger_forget_before:
 * @before_ms: a time in milliseconds since 1970
 * @now_ms: the caller's clock
 * @n_groups: (out) (optional): the number of records that were deleted
 *
 * Deletes the records of all groups that ended before @before_ms, in one transaction; writes nothing if there are none.
 * A long-running ledger whose requests have keys needs this from time to time, because the record of such a group is
 * kept until it is forgotten, and a ledger has at most 1,000,000 records. Choose a time before which no caller still
 * retries: a retry with a forgotten key makes a new group.
 *
 * See "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_forget_before (QuoitLedger *ledger, int64_t before_ms, int64_t now_ms, uint32_t *n_groups,
                                           GError **error);

/**
 * quoit_ledger_commit_fork:
 * @fork: a fork of a snapshot of this ledger, through any handle
 * @now_ms: the caller's clock, at least the time of the fork's last change
 *
 * Writes everything that was done on @fork as one journal entry, or nothing. There is no entry if the ledger already
 * has all changes. Others may have changed the ledger since the snapshot; the commit succeeds if they changed nothing
 * that the changes of the fork depend on:
 *
 * - A new group: its name and key are not in use, and its owner has not ended.
 * - A group that the fork has changed or removed: it is as it was in the snapshot, except for its lease, which stays.
 * - A node that a group gets: it is alive, undrained, free, and in the same slice and of the same kind as in the
 * snapshot. The slice of a group of slices is intact.
 * - A node whose state the fork has set: it has the state of the snapshot, or already the new one.
 * - A group that the fork has added, resized or given labels: the quotas admit it.
 * - A quota that the fork has set or removed: it is as it was in the snapshot, or already as the fork has set it. No
 * other quota is for the same groups and class.
 * - An import, a sync or an update of nodes on the fork: no import, sync or update of others has changed any source
 * since, and no other group has taken a node that the fork's changes or removes.
 * - A record that the fork has forgotten: its group has ended in the ledger, too. If others have forgotten it already,
 * nothing is written for it. Records of groups that have ended since the snapshot stay.
 *
 * The ledger does not decide again whether other slices would now be better. Groups of the ledger whose lease has ended
 * on the fork are left to the ledger, which ends leases itself. An answer of the fork that changed nothing, such as
 * that of a retry by key, is not checked: if the clock of the fork was ahead, others can have renewed a group that had
 * ended on it.
 *
 * If others have added groups meanwhile, new groups get other ids than on the fork. On success the fork continues from
 * the committed state, with these ids and without marks; in a batch, free the fork if the batch is cancelled or fails.
 * On failure the fork is unchanged, and the caller makes a new fork of a new snapshot and decides again. After
 * %QUOIT_ERROR_UNCONFIRMED, look for the new groups by name or key first.
 *
 * Fails with:
 *
 * - %QUOIT_ERROR_CONFLICT: something that the fork depends on has changed, or the ledger was restored.
 * - %QUOIT_ERROR_EXPIRED: an owner, or a lease that the fork has set, has ended.
 * - %QUOIT_ERROR_INVALID: @now_ms is before the last change of the fork, or the fork was not made from a snapshot of
 * this ledger.
 *
 * See also "Errors of changes" of #QuoitLedger.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_commit_fork (QuoitLedger *ledger, QuoitFork *fork, int64_t now_ms, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitLedger, quoit_ledger_unref)

G_END_DECLS

#endif
