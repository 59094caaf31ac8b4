/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_LEDGER_H
#define QUOIT_LEDGER_H

#include <stddef.h>
#include <quoit/journal.h>
#include <quoit/snapshot.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitLedger:
 *
 * An open ledger: in a database file that any number of processes share, or in memory.
 *
 * A handle may be used from several threads: writers queue, readers take snapshots and never wait for a disk. It must
 * not be used after fork(2) in the child: calls fail with %QUOIT_ERROR_FAILED there. The library reads no clock: times
 * come in as arguments, and the ledger's own clock never goes back (an earlier time is raised to that of the last
 * entry).
 *
 * Every call that changes the ledger is one transaction: when it returns success it is on the disk whole; when it fails
 * nothing has changed. The exception is %QUOIT_ERROR_UNCONFIRMED: the change was written, but the files were replaced
 * meanwhile: look, or retry with the same request key. Each of these calls also fails with %QUOIT_ERROR_CONFLICT after
 * the ledger was restored (open it again), with %QUOIT_ERROR_DAMAGED when an older copy was put in its place
 * (quoit_ledger_restore()), with %QUOIT_ERROR_INVALID for a clock that is further ahead than
 * quoit_ledger_set_max_clock_jump() allows, and with %QUOIT_ERROR_STORE when the file gets a second name.
 *
 * Since: 0.1
 */
typedef struct _QuoitLedger QuoitLedger;

/**
 * QuoitImport:
 *
 * What an import found and changed. Immutable.
 *
 * Since: 0.1
 */
typedef struct _QuoitImport QuoitImport;

/**
 * QuoitChangeKind:
 *
 * One line of the difference between what a source said before and says now.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_CHANGE_ADDED = 1,      /* a node is new */
  QUOIT_CHANGE_REMOVED = 2,    /* a node is gone */
  QUOIT_CHANGE_CHANGED = 3,    /* a node is another in place, labels, resources or address */
  QUOIT_CHANGE_STATE = 4,      /* the source says another state of a node */
  QUOIT_CHANGE_POOL = 5,       /* a pool is new, gone, or has other pods or environment */
  QUOIT_CHANGE_LOST = 6,       /* a held node is gone: it stays, dead, for as long as a group has it */
  QUOIT_CHANGE_GROUP = 7,      /* a group that the source has made is new, gone or another */
  QUOIT_CHANGE_EXTERNAL = 8,   /* more or less of a node is used by something that no group explains */
  QUOIT_CHANGE_GROUP_SLICE = 9 /* a slice of a group is lost or leaving, or whole again */
} QuoitChangeKind;

/**
 * quoit_ledger_create:
 * @path: of the database file
 * @wait_ms: how long calls may wait for other writers; 0: not at all
 * @error: (out) (optional): set on failure
 *
 * Makes a new, empty database of mode 0600 and opens it; an empty file is taken over.
 *
 * Fails with %QUOIT_ERROR_CONFLICT when there is a file already, or another process was
 * quicker (quoit_ledger_open() it then), %QUOIT_ERROR_VERSION, %QUOIT_ERROR_DAMAGED or %QUOIT_ERROR_BUSY by what that
 * file is, %QUOIT_ERROR_STORE when the place cannot be written, has a second name, or is on a file system that is not
 * known to have safe locks (docs/ledger.md lists those that have).
 *
 * Returns: (transfer full): the handle; quoit_ledger_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitLedger *quoit_ledger_create (const char *path, int64_t wait_ms, GError **error);

/**
 * quoit_ledger_open:
 * @path: of the database file
 * @wait_ms: how long calls may wait for other writers; 0: not at all
 * @error: (out) (optional): set on failure
 *
 * Opens a database and reads its state. Nothing in it is changed, except that one of an older quoit is upgraded.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when there is no file (quoit_ledger_create() makes one), %QUOIT_ERROR_INVALID for a
 * file that is not quoit's, %QUOIT_ERROR_VERSION for one of a newer quoit, %QUOIT_ERROR_DAMAGED for one that is cut
 * off, contradicts itself, has another schema than quoit makes, or lacks entries that were acknowledged
 * (quoit_ledger_restore() is the way on), %QUOIT_ERROR_CONFLICT when another program has written to it,
 * %QUOIT_ERROR_STORE when it cannot be read, is of an older quoit and cannot be written, has a second name, or is on a
 * file system that is not known to have safe locks, %QUOIT_ERROR_BUSY, %QUOIT_ERROR_FAILED in a child of fork(2) that
 * was made while its parent was inside a call or a batch of the same file.
 *
 * Returns: (transfer full): the handle; quoit_ledger_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitLedger *quoit_ledger_open (const char *path, int64_t wait_ms, GError **error);

/**
 * quoit_ledger_restore:
 * @path: of the database file; it may be missing or damaged
 * @backup: a file that quoit_ledger_backup() wrote, or @path itself
 * @wait_ms: how long to wait for other writers; 0: not at all
 * @actor: (nullable): who restores, for the journal
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Puts a backup in the place of a ledger, and begins a new epoch of it: new groups get ids that no group of the lost
 * ledger can have had, and every handle that was open fails with %QUOIT_ERROR_CONFLICT until it is opened again. The
 * backup is proved first, as quoit_ledger_verify() does, and its file stays as it is. The change is one transaction:
 * after a crash the ledger is wholly the old one or wholly the restored one. A file that cannot be read is kept,
 * renamed to PATH.replaced-1 or the next free number.
 *
 * With @backup equal to @path, the ledger goes on from what the file has, which is the way on after
 * "an older copy of the file was put here".
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when there is no backup, %QUOIT_ERROR_DAMAGED or %QUOIT_ERROR_VERSION by what it
 * contains, %QUOIT_ERROR_CONFLICT when @path is another ledger than the backup, %QUOIT_ERROR_INVALID when it is no
 * ledger at all, %QUOIT_ERROR_BUSY when a process uses a file that cannot be read, %QUOIT_ERROR_STORE when the disk
 * refuses. Nothing has changed then. After %QUOIT_ERROR_UNCONFIRMED the backup is in place, but the files were replaced
 * meanwhile: restore it once more.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_restore (const char *path, const char *backup, int64_t wait_ms, const char *actor,
                                     int64_t now_ms, GError **error);

/**
 * quoit_ledger_dup_identity:
 * @ledger: the handle
 *
 * A random number that the ledger got when it was made, and that its backups share.
 *
 * Returns: (transfer full) (nullable): 32 hexadecimal digits, "" for a ledger in memory; g_free() it. %NULL in a forked
 * child
 * Since: 0.1
 */
QUOIT_API char *quoit_ledger_dup_identity (QuoitLedger *ledger);

/**
 * quoit_ledger_set_clock:
 * @ledger: the handle
 * @clock_ms: the new time, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Sets the ledger's clock, forwards or back: the way back for a ledger whose clock a wrong caller has taken ahead, and
 * the way on for one that was not used for longer than its limit (quoit_ledger_set_max_clock_jump()). It is one journal
 * entry. Leases that have ended stay ended, and leases that were given meanwhile keep their ends.
 *
 * Fails with %QUOIT_ERROR_INVALID outside the years 2000 to 2199, and as any change (quoit_ledger_release()).
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_set_clock (QuoitLedger *ledger, int64_t clock_ms, GError **error);

/**
 * quoit_ledger_set_max_clock_jump:
 * @ledger: the handle
 * @max_jump_ms: at most how far ahead; 0: one day, and without limit in memory; INT64_MAX: without limit
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Sets how far a change's clock may be ahead of the last entry. Time that this machine has been up since that entry
 * does not count. A change further ahead fails with %QUOIT_ERROR_INVALID, since it would end every lease.
 *
 * Fails with %QUOIT_ERROR_INVALID below 0, and as any change (quoit_ledger_release()).
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_set_max_clock_jump (QuoitLedger *ledger, int64_t max_jump_ms, int64_t now_ms,
                                                GError **error);

/**
 * quoit_ledger_open_memory:
 *
 * An empty ledger in memory: the same rules and the same calls, without durability. For those who keep their own store.
 *
 * Returns: (transfer full): the handle; quoit_ledger_unref() it
 * Since: 0.1
 */
QUOIT_API QuoitLedger *quoit_ledger_open_memory (void);

/**
 * quoit_ledger_ref:
 * @ledger: the handle
 *
 * Returns: (transfer full): @ledger with one more owner
 * Since: 0.1
 */
QUOIT_API QuoitLedger *quoit_ledger_ref (QuoitLedger *ledger);

/**
 * quoit_ledger_unref:
 * @ledger: (nullable): the handle
 *
 * The last owner closes the database. What was reserved stays reserved.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ledger_unref (QuoitLedger *ledger);

/**
 * quoit_ledger_set_actor:
 * @ledger: the handle
 * @actor: (nullable): any text; %NULL: nobody
 *
 * Who is written into the journal as asking for the changes that follow.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ledger_set_actor (QuoitLedger *ledger, const char *actor);

/**
 * quoit_ledger_interrupt:
 * @ledger: the handle
 *
 * Ends the waits that calls of this handle are in: they fail with %QUOIT_ERROR_CANCELLED. May be called from any
 * thread.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ledger_interrupt (QuoitLedger *ledger);

/**
 * quoit_ledger_snapshot:
 * @ledger: the handle
 *
 * The fleet as this handle knows it: with its own changes and those of others up to the last change or
 * quoit_ledger_refresh().
 *
 * Returns: (transfer full) (nullable): the snapshot; quoit_snapshot_unref() it. %NULL in a forked child, where every
 * call on the handle fails: open the ledger again there
 * Since: 0.1
 */
QUOIT_API QuoitSnapshot *quoit_ledger_snapshot (QuoitLedger *ledger);

/**
 * quoit_ledger_refresh:
 * @ledger: the handle
 * @error: (out) (optional): set on failure
 *
 * Reads what other processes have written. Costs what changed.
 *
 * Fails with %QUOIT_ERROR_BUSY, %QUOIT_ERROR_STORE, %QUOIT_ERROR_VERSION, %QUOIT_ERROR_DAMAGED as
 * quoit_ledger_reserve().
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_refresh (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_reserve:
 * @ledger: the handle
 * @request: what is wanted; kept no longer than this call
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Places @request, all slices or bundles or none, and writes the group in one transaction: after a crash it is wholly
 * there or not at all. With a request key a retry returns the group that was made, and reserves nothing.
 *
 * Fails with %QUOIT_ERROR_NOT_NOW or %QUOIT_ERROR_NEVER (the message has the dominant reason and what would help;
 * quoit_snapshot_explain() has all), %QUOIT_ERROR_CONFLICT when the name is taken, or the key was used for another
 * request or for a hold that is not confirmed, %QUOIT_ERROR_EXPIRED when the lease of the owner that it gives has ended
 * (quoit_ledger_set_owner() begins anew), %QUOIT_ERROR_INVALID when the request is not complete, not in the catalogue
 * or says what does not go together, or is longer than 4 MiB in canonical text, %QUOIT_ERROR_NOT_FOUND when it names a
 * pool, slice or node that is not there. Fails also with what any change can fail with: %QUOIT_ERROR_INVALID for a
 * clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another writer held the database for longer than the
 * handle waits (retry), %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses
 * (nothing was written; mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database,
 * %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Returns: (transfer full): the group; quoit_group_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitGroup *quoit_ledger_reserve (QuoitLedger *ledger, const QuoitRequest *request, int64_t now_ms,
                                            GError **error);

/**
 * quoit_ledger_release:
 * @ledger: the handle
 * @group: NAME or NAME@ID
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Frees all that the group has. With NAME@ID a late or repeated call never frees a group that took the name since.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when no group bears the name, %QUOIT_ERROR_CONFLICT when the id is not that of the
 * group that bears it now or the group belongs to a source (it goes when that has it no longer), %QUOIT_ERROR_EXPIRED
 * when its lease has ended and it is free already, %QUOIT_ERROR_INVALID when @group is neither NAME nor NAME@ID. Fails
 * also with what any change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199,
 * %QUOIT_ERROR_BUSY when another writer held the database for longer than the handle waits (retry),
 * %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written;
 * mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it
 * contradicts itself.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_release (QuoitLedger *ledger, const char *group, int64_t now_ms, GError **error);

/**
 * quoit_ledger_set_node_state:
 * @ledger: the handle
 * @node: short or full name (source/pool/name)
 * @state: the new state
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Stays until the node's source itself says another state than it did. A state that the node has already changes
 * nothing.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND, or %QUOIT_ERROR_INVALID when the name is ambiguous. Fails also with what any
 * change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another
 * writer held the database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after
 * quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry),
 * %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_set_node_state (QuoitLedger *ledger, const char *node, QuoitNodeState state, int64_t now_ms,
                                            GError **error);

/**
 * quoit_ledger_drain_node:
 * @ledger: the handle
 * @node: short or full name (source/pool/name)
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * No new group comes to the node or its slice; groups that have it stay.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND, %QUOIT_ERROR_INVALID when the name is ambiguous, %QUOIT_ERROR_CONFLICT when the
 * node is dead. Fails also with what any change can fail with: %QUOIT_ERROR_INVALID for a clock outside the years 2000
 * to 2199, %QUOIT_ERROR_BUSY when another writer held the database for longer than the handle waits (retry),
 * %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(), %QUOIT_ERROR_STORE when the disk refuses (nothing was written;
 * mend it and retry), %QUOIT_ERROR_VERSION when a newer quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it
 * contradicts itself.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_drain_node (QuoitLedger *ledger, const char *node, int64_t now_ms, GError **error);

/**
 * quoit_ledger_undrain_node:
 * @ledger: the handle
 * @node: short or full name (source/pool/name)
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Takes quoit_ledger_drain_node() back. Fails as it does.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_undrain_node (QuoitLedger *ledger, const char *node, int64_t now_ms, GError **error);

/**
 * quoit_load_text:
 * @path: of the file
 * @text: (out): the bytes, and a NUL behind them; g_free() them
 * @length: (out): how many there are, without the NUL
 * @error: (out) (optional): set on failure
 *
 * Reads a whole file for one of the imports: a regular file or a pipe, of at most 256 MiB.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND, %QUOIT_ERROR_INVALID for a directory, a device or too many bytes (found before
 * they are read), %QUOIT_ERROR_STORE when it cannot be read.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_load_text (const char *path, char **text, size_t *length, GError **error);

/**
 * quoit_ledger_import_fleet_text:
 * @ledger: the handle
 * @text: the bytes
 * @length: how many
 * @source: (nullable): the source's name; %NULL: "fleet"
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Reads fleet text: "v6e 4x4 x2; v5p 2x2x4 x3 pool=big zone=us-east5-b busy=0-1 dead=2.3".
 *
 * An import replaces what its source said before; doing it twice is doing it once. A node that is held can be neither
 * dropped nor replaced: %QUOIT_ERROR_CONFLICT names it and its group. %QUOIT_ERROR_CONFLICT also when another source of
 * the kind claims one of the machines, or the source's name is one of another kind. %QUOIT_ERROR_INVALID for text that
 * is not what it should be: the message has place, value and expectation. Fails also with what any change can fail
 * with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another writer held the
 * database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(),
 * %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry), %QUOIT_ERROR_VERSION when a newer
 * quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_ledger_import_fleet_text (QuoitLedger *ledger, const char *text, size_t length,
                                                       const char *source, int64_t now_ms, GError **error);

/**
 * quoit_ledger_import_raycluster:
 * @ledger: the handle
 * @text: the bytes of the YAML file
 * @length: how many
 * @source: (nullable): the source's name; %NULL: metadata.name
 * @variables: (nullable): "NAME=value" strings for ${NAME} in fields that are read; %NULL-terminated
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Reads a manifest with a RayCluster, a RayJob (its rayClusterSpec) or a RayService (its rayClusterConfig): the nodes
 * that KubeRay 1.7 would make of it, by the names that the TPU webhook gives them. A file may have other documents, or
 * be a List of them: of those, ResourceClaims and ResourceClaimTemplates say how many devices of a class a node has
 * whose pod claims them, and the rest is passed over. Only one document may be a Ray object.
 *
 * What is suspended has no pods. KubeRay ends the name of a job's or service's cluster with five random characters:
 * unless the document has been read back from Kubernetes, and its status says the name, that is assumed, which is a
 * warning of the import and stays with the nodes (quoit_snapshot_get_node_assumptions()). A warning is also what a pod
 * claims that the file does not tell. A job with a clusterSelector has no cluster of its own and is refused.
 *
 * An import replaces what its source said before; doing it twice is doing it once. A node that is held can be neither
 * dropped nor replaced: %QUOIT_ERROR_CONFLICT names it and its group. %QUOIT_ERROR_CONFLICT also when another source of
 * the kind claims one of the machines, or the source's name is one of another kind. %QUOIT_ERROR_INVALID for text that
 * is not what it should be: the message has place, value and expectation. Fails also with what any change can fail
 * with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another writer held the
 * database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(),
 * %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry), %QUOIT_ERROR_VERSION when a newer
 * quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_ledger_import_raycluster (QuoitLedger *ledger, const char *text, size_t length,
                                                       const char *source, const char *const *variables, int64_t now_ms,
                                                       GError **error);

/**
 * quoit_ledger_import_ray_nodes:
 * @ledger: the handle
 * @text: the bytes
 * @length: how many
 * @source: (nullable): the source's name; %NULL: "ray"
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @error: (out) (optional): set on failure
 *
 * Reads `ray list nodes` as JSON or YAML, with or without --detail, or the JSON of ray.nodes().
 *
 * An import replaces what its source said before; doing it twice is doing it once. A node that is held can be neither
 * dropped nor replaced: %QUOIT_ERROR_CONFLICT names it and its group. %QUOIT_ERROR_CONFLICT also when another source of
 * the kind claims one of the machines, or the source's name is one of another kind. %QUOIT_ERROR_INVALID for text that
 * is not what it should be: the message has place, value and expectation. Fails also with what any change can fail
 * with: %QUOIT_ERROR_INVALID for a clock outside the years 2000 to 2199, %QUOIT_ERROR_BUSY when another writer held the
 * database for longer than the handle waits (retry), %QUOIT_ERROR_CANCELLED after quoit_ledger_interrupt(),
 * %QUOIT_ERROR_STORE when the disk refuses (nothing was written; mend it and retry), %QUOIT_ERROR_VERSION when a newer
 * quoit has upgraded the database, %QUOIT_ERROR_DAMAGED when it contradicts itself.
 *
 * Returns: (transfer full): what changed; quoit_import_free() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitImport *quoit_ledger_import_ray_nodes (QuoitLedger *ledger, const char *text, size_t length,
                                                      const char *source, int64_t now_ms, GError **error);

/**
 * quoit_import_free:
 * @import: (nullable): what an import found
 *
 * Since: 0.1
 */
QUOIT_API void quoit_import_free (QuoitImport *import);

/**
 * quoit_import_get_source:
 * @import: what an import found
 *
 * Returns: (transfer none): the source's name
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_source (const QuoitImport *import);

/**
 * quoit_import_is_new:
 * @import: what an import found
 *
 * Returns: whether the source was not known before; there is no difference to show then
 * Since: 0.1
 */
QUOIT_API bool quoit_import_is_new (const QuoitImport *import);

/**
 * quoit_import_get_n_nodes:
 * @import: what an import found
 *
 * Returns: the nodes that the source claims
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_import_get_n_nodes (const QuoitImport *import);

/**
 * quoit_import_get_n_changes:
 * @import: what an import found
 *
 * Returns: the lines of the difference; 0 when nothing changed
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_import_get_n_changes (const QuoitImport *import);

/**
 * quoit_import_get_change_kind:
 * @import: what an import found
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: what kind of line it is
 * Since: 0.1
 */
QUOIT_API QuoitChangeKind quoit_import_get_change_kind (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_name:
 * @import: what an import found
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): the node, pool, group or, for what no group explains, the source
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_change_name (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_detail:
 * @import: what an import found
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): "alive -> dead"; "" where the kind says all
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_change_detail (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_change_group:
 * @import: the import
 * @change: below quoit_import_get_n_changes()
 *
 * Returns: (transfer none): NAME@ID of the group that has the node; "" where none has it
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_change_group (const QuoitImport *import, uint32_t change);

/**
 * quoit_import_get_n_warnings:
 * @import: what an import found
 *
 * Returns: how many things the reader noticed and took anyway
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_import_get_n_warnings (const QuoitImport *import);

/**
 * quoit_import_get_warning:
 * @import: what an import found
 * @warning: below quoit_import_get_n_warnings()
 *
 * Returns: (transfer none): one of them
 * Since: 0.1
 */
QUOIT_API const char *quoit_import_get_warning (const QuoitImport *import, uint32_t warning);

/**
 * quoit_ledger_begin_batch:
 * @ledger: the handle
 * @error: (out) (optional): set on failure
 *
 * The changes that this thread makes until quoit_ledger_commit_batch() become one transaction; other writers wait. Each
 * change is decided with those before it; one that fails is left out and does not end the batch. Only one that could
 * not be written (%QUOIT_ERROR_STORE) does: none of the batch will be, and each further call says so until it is
 * cancelled.
 *
 * Fails with %QUOIT_ERROR_CONFLICT inside a batch of the same thread, else as any change.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_begin_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_begin_unsynced_batch:
 * @ledger: the handle
 * @error: (out) (optional): set on failure
 *
 * As quoit_ledger_begin_batch(), but quoit_ledger_commit_batch() does not wait for the disk, which is most of what a
 * change takes. All see the batch as ever, and it outlives this process, however that ends. A power loss may take it
 * back, whole, with whatever unsynced batches followed it; not beyond the next change of anybody that is no such batch:
 * that puts it on the disk too. For what ends with the machine anyway: a lease that is renewed, or what this process
 * alone is using.
 *
 * The names, keys and ids of groups that a power loss takes back are given again. So tell `NAME@ID` of such a group to
 * nobody on another machine: a call of his that comes late may meet somebody else's group.
 *
 * Fails as quoit_ledger_begin_batch().
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_begin_unsynced_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_commit_batch:
 * @ledger: the handle
 * @error: (out) (optional): set on failure
 *
 * Writes the batch: on success all of it is on the disk, or will be (quoit_ledger_begin_unsynced_batch()); on failure
 * nothing is, and the groups it returned do not exist.
 *
 * Fails with %QUOIT_ERROR_CONFLICT when this thread is in no batch, else as any change.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_commit_batch (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_cancel_batch:
 * @ledger: the handle
 *
 * Drops the batch of this thread; without one it does nothing.
 *
 * Since: 0.1
 */
QUOIT_API void quoit_ledger_cancel_batch (QuoitLedger *ledger);

/**
 * quoit_ledger_verify:
 * @ledger: the handle
 * @error: (out) (optional): set on failure
 *
 * Replays the journal and compares the result with the state that is kept, counts every summary again, and has SQLite
 * check its file. Costs the whole history, or that behind the checkpoint: see quoit_ledger_compact_journal().
 *
 * Fails with %QUOIT_ERROR_DAMAGED: the message names the first difference; restore a backup. %QUOIT_ERROR_STORE,
 * %QUOIT_ERROR_BUSY.
 * Inside a batch of the same thread: %QUOIT_ERROR_CONFLICT. Also %QUOIT_ERROR_CANCELLED, %QUOIT_ERROR_VERSION, and
 * %QUOIT_ERROR_FAILED in a forked child.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_verify (QuoitLedger *ledger, GError **error);

/**
 * quoit_ledger_backup:
 * @ledger: the handle
 * @path: of the new file
 * @error: (out) (optional): set on failure
 *
 * Copies the database while others may use it: the copy is the state at one moment, a database of its own, mode 0600.
 *
 * Fails with %QUOIT_ERROR_CONFLICT when there is a file or link at @path already, when a -wal file of that
 * name is there, and when @path is the name of such a file of another database; with %QUOIT_ERROR_INVALID for a ledger
 * in memory, %QUOIT_ERROR_STORE when it cannot be written (nothing is left there), %QUOIT_ERROR_BUSY.
 * Inside a batch of the same thread: %QUOIT_ERROR_CONFLICT. Also %QUOIT_ERROR_CANCELLED, %QUOIT_ERROR_VERSION, and
 * %QUOIT_ERROR_FAILED in a forked child.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_backup (QuoitLedger *ledger, const char *path, GError **error);

/**
 * quoit_ledger_read_journal:
 * @ledger: the handle
 * @seq: a sequence number, as of a snapshot; 0: from the beginning
 * @error: (out) (optional): set on failure
 *
 * The entries after @seq, up to what this handle knows: see quoit_ledger_refresh().
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when a checkpoint has taken the place of some of them (the message names the first
 * there is; quoit_ledger_read_checkpoint() says from where on they are kept), %QUOIT_ERROR_STORE, %QUOIT_ERROR_BUSY,
 * %QUOIT_ERROR_DAMAGED.
 * Inside a batch of the same thread: %QUOIT_ERROR_CONFLICT. Also %QUOIT_ERROR_CANCELLED, %QUOIT_ERROR_VERSION, and
 * %QUOIT_ERROR_FAILED in a forked child.
 *
 * Returns: (transfer full): the entries; quoit_journal_free() them. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitJournal *quoit_ledger_read_journal (QuoitLedger *ledger, uint64_t seq, GError **error);

/**
 * quoit_ledger_snapshot_at:
 * @ledger: the handle
 * @seq: the sequence number of an entry; 0: before the first
 * @error: (out) (optional): set on failure
 *
 * The fleet as it was right after that entry, in all that a snapshot can tell. Replays the journal from the checkpoint,
 * or from its beginning; other calls on the handle go on meanwhile, unless it is in memory.
 *
 * Fails with %QUOIT_ERROR_NOT_FOUND when a checkpoint has taken the place of what was before it (the message names the
 * first entry to go back to), or when there is no such entry yet, %QUOIT_ERROR_STORE, %QUOIT_ERROR_BUSY,
 * %QUOIT_ERROR_DAMAGED.
 * Inside a batch of the same thread: %QUOIT_ERROR_CONFLICT. Also %QUOIT_ERROR_CANCELLED, %QUOIT_ERROR_VERSION, and
 * %QUOIT_ERROR_FAILED in a forked child.
 *
 * Returns: (transfer full): the snapshot; quoit_snapshot_unref() it. %NULL on failure
 * Since: 0.1
 */
QUOIT_API QuoitSnapshot *quoit_ledger_snapshot_at (QuoitLedger *ledger, uint64_t seq, GError **error);

/**
 * quoit_ledger_compact_journal:
 * @ledger: the handle
 * @before_seq: the first entry to keep; one behind the last: none
 * @now_ms: the caller's clock, milliseconds since 1970-01-01 UTC
 * @n_removed: (out) (optional): how many entries have gone
 * @error: (out) (optional): set on failure
 *
 * Puts a checkpoint, a checked image of the state right before @before_seq, in the place of all entries before it, in
 * one transaction. What the ledger is does not change, and no entry is written; the past before the checkpoint can be
 * neither seen nor verified any more. The image is computed while others may write; they wait for no more than its
 * writing. Where there is nothing before @before_seq nothing is done.
 *
 * Fails with %QUOIT_ERROR_INVALID when @before_seq is before the checkpoint that there is, or beyond the next entry, or
 * for a clock outside the years 2000 to 2199; %QUOIT_ERROR_DAMAGED when the journal contradicts itself (nothing is
 * dropped then), %QUOIT_ERROR_STORE (nothing was written; mend it and retry), %QUOIT_ERROR_BUSY.
 * Inside a batch of the same thread: %QUOIT_ERROR_CONFLICT. Also %QUOIT_ERROR_CANCELLED, %QUOIT_ERROR_VERSION, and
 * %QUOIT_ERROR_FAILED in a forked child.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_compact_journal (QuoitLedger *ledger, uint64_t before_seq, int64_t now_ms,
                                             uint64_t *n_removed, GError **error);

/**
 * quoit_ledger_read_checkpoint:
 * @ledger: the handle
 * @seq: (out): the last entry that the checkpoint has taken the place of; 0: there is no checkpoint
 * @made_ms: (out) (optional): the clock of who asked for it; 0: there is none
 * @error: (out) (optional): set on failure
 *
 * Where the journal begins: entries after @seq are kept, and quoit_ledger_snapshot_at() goes back to @seq.
 *
 * Fails with %QUOIT_ERROR_STORE, %QUOIT_ERROR_BUSY, %QUOIT_ERROR_DAMAGED.
 * Inside a batch of the same thread: %QUOIT_ERROR_CONFLICT. Also %QUOIT_ERROR_CANCELLED, %QUOIT_ERROR_VERSION, and
 * %QUOIT_ERROR_FAILED in a forked child.
 *
 * Since: 0.1
 */
QUOIT_API bool quoit_ledger_read_checkpoint (QuoitLedger *ledger, uint64_t *seq, int64_t *made_ms, GError **error);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitLedger, quoit_ledger_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitImport, quoit_import_free)

G_END_DECLS

#endif
