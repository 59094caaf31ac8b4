/* SPDX-License-Identifier: Apache-2.0 */
/* Names of groups as people type them. Rows show only the first digits of a name that is an id of Ray, so every verb
 * also accepts these digits, with or without the id of the group: "a44a00ec" or "a44a00ec@3". */
#pragma once

#include "session.h"

/* Whether @name can be such digits. */
bool group_name_is_short (const char *name);

/* Returns the whole name for such digits, with @ID if @name has it. Returns a copy of @name if it is something else, if
 * a group has exactly this name, or if no group has the digits. Live groups take precedence over removed ones. Fails
 * with INVALID if several groups have the digits. g_free() the result. */
char *group_name_complete (const QuoitSnapshot *snapshot, const char *name, GError **error);

/* Completes each of @words in place. */
bool group_names_complete (const QuoitSnapshot *snapshot, char **words, GError **error);

/* Like session_open(), for a verb whose arguments are all names of groups: completes them. */
QuoitLedger *group_names_open (Session *session, GError **error);

/* For verbs that change nothing: returns the live group NAME or NAME@ID; otherwise the latest removed group of that
 * name that the ledger still has a record of. quoit_group_unref() it. */
QuoitGroup *group_find (const QuoitSnapshot *snapshot, const char *name, GError **error);
