/* SPDX-License-Identifier: Apache-2.0 */
#ifndef QUOIT_RENUMBERING_H
#define QUOIT_RENUMBERING_H

#include <quoit/topology.h>

G_BEGIN_DECLS

/* cdef-begin */

/**
 * QuoitRenumbering:
 *
 * What a change of a group means for each process: its numbers and its environment before and after. One row a process:
 * first those that there are now, in the order of their process ids, then those that are gone, in the order of theirs.
 * Immutable; any thread may read it; it outlives the topologies that it was made of.
 *
 * A process is its host, by the identity that the host's source gives it: a new machine under the name of an old one is
 * another process.
 *
 * Since: 0.1
 */
typedef struct _QuoitRenumbering QuoitRenumbering;

/**
 * QuoitRenumberingHow:
 *
 * What has become of a process. %QUOIT_RENUMBERING_SAME: nothing, it has the numbers and the environment that it had.
 * %QUOIT_RENUMBERING_CHANGED: its numbers are the same, its environment is not. %QUOIT_RENUMBERING_MOVED: it has
 * another process id, slice id or worker id.
 *
 * Since: 0.1
 */
typedef enum {
  QUOIT_RENUMBERING_SAME = 1,
  QUOIT_RENUMBERING_CHANGED = 2,
  QUOIT_RENUMBERING_MOVED = 3,
  QUOIT_RENUMBERING_JOINED = 4, /* was not there before */
  QUOIT_RENUMBERING_LEFT = 5    /* is there no more */
} QuoitRenumberingHow;

/**
 * quoit_renumbering_new:
 * @before: (nullable): the group as it was; %NULL: it had no process
 * @after: (nullable): the group as it is, in the same profile and of the same ledger; %NULL: it has no process
 *
 * Compares them. It cannot fail, and keeps nothing of either.
 *
 * Returns: (transfer full): the difference; quoit_renumbering_free() it
 * Since: 0.1
 */
QUOIT_API QuoitRenumbering *quoit_renumbering_new (const QuoitTopology *before, const QuoitTopology *after);

/**
 * quoit_renumbering_free:
 * @renumbering: (nullable): the renumbering
 *
 * Since: 0.1
 */
QUOIT_API void quoit_renumbering_free (QuoitRenumbering *renumbering);

/**
 * quoit_renumbering_get_n_rows:
 * @renumbering: the renumbering
 *
 * Returns: the processes of before and after, each once
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_renumbering_get_n_rows (const QuoitRenumbering *renumbering);

/**
 * quoit_renumbering_get_n_changed:
 * @renumbering: the renumbering
 *
 * Returns: the rows that are not %QUOIT_RENUMBERING_SAME; 0: nobody has to be told anything
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_renumbering_get_n_changed (const QuoitRenumbering *renumbering);

/**
 * quoit_renumbering_get_how:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: what has become of the process
 * Since: 0.1
 */
QUOIT_API QuoitRenumberingHow quoit_renumbering_get_how (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_node_name:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * The name is that of now, or of before where the process is gone: the short one where it is unambiguous in the fleet,
 * else source/pool/name.
 *
 * Returns: (transfer none): the node of the process
 * Since: 0.1
 */
QUOIT_API const char *quoit_renumbering_get_node_name (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_slice_name:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: (transfer none): the slice of that node, named likewise
 * Since: 0.1
 */
QUOIT_API const char *quoit_renumbering_get_slice_name (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_counterpart:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Of a process that joined, the node whose place it takes; of one that left, the node that takes its place. That is the
 * one with its worker id in the slice of that name, else in the slice of the same slice id. It may bear the same
 * name.
 *
 * Returns: (transfer none) (nullable): the node; %NULL where there is none, and for processes that stay
 * Since: 0.1
 */
QUOIT_API const char *quoit_renumbering_get_counterpart (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_process_before:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the process id that it had; -1: none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_renumbering_get_process_before (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_process_after:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the process id that it has; -1: none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_renumbering_get_process_after (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_slice_id_before:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the slice id that its slice had; -1: none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_renumbering_get_slice_id_before (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_slice_id_after:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the slice id that its slice has; -1: none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_renumbering_get_slice_id_after (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_worker_id_before:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the worker id that it had in its slice; -1: none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_renumbering_get_worker_id_before (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_worker_id_after:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the worker id that it has in its slice; -1: none
 * Since: 0.1
 */
QUOIT_API int64_t quoit_renumbering_get_worker_id_after (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_n_variables:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * Returns: the variables of its environment that differ, sorted by name; of a process that joined or left, all
 * Since: 0.1
 */
QUOIT_API uint32_t quoit_renumbering_get_n_variables (const QuoitRenumbering *renumbering, uint32_t row);

/**
 * quoit_renumbering_get_variable_name:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 * @variable: below quoit_renumbering_get_n_variables()
 *
 * Returns: (transfer none): the name
 * Since: 0.1
 */
QUOIT_API const char *quoit_renumbering_get_variable_name (const QuoitRenumbering *renumbering, uint32_t row,
                                                           uint32_t variable);

/**
 * quoit_renumbering_get_variable_before:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 * @variable: below quoit_renumbering_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the value that it had; %NULL: it was not set
 * Since: 0.1
 */
QUOIT_API const char *quoit_renumbering_get_variable_before (const QuoitRenumbering *renumbering, uint32_t row,
                                                             uint32_t variable);

/**
 * quoit_renumbering_get_variable_after:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 * @variable: below quoit_renumbering_get_n_variables()
 *
 * Returns: (transfer none) (nullable): the value that it has; %NULL: it is not set
 * Since: 0.1
 */
QUOIT_API const char *quoit_renumbering_get_variable_after (const QuoitRenumbering *renumbering, uint32_t row,
                                                            uint32_t variable);

/**
 * quoit_renumbering_dup_text:
 * @renumbering: the renumbering
 * @row: below quoit_renumbering_get_n_rows()
 *
 * The row in a line for people: "host-3: process 7 -> 3, slice 1 -> 0, worker 3; MEGASCALE_SLICE_ID 1 -> 0". Of a
 * process that joined or left the variables are not told. Values stand as they are: whoever shows the line must escape
 * it for where it goes.
 *
 * Returns: (transfer full): the line, without an end of line; g_free() it
 * Since: 0.1
 */
QUOIT_API char *quoit_renumbering_dup_text (const QuoitRenumbering *renumbering, uint32_t row);

/* cdef-end */

G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitRenumbering, quoit_renumbering_free)

G_END_DECLS

#endif
