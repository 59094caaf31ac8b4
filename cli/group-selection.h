/* SPDX-License-Identifier: Apache-2.0 */
/* The options that select groups from a list. */
#pragma once

#include <quoit/quoit.h>

/* The options as given. */
typedef struct {
  char **labels;
  char *owner, *state, *priority, *expect_after, *expect_before, *reason;
} SelectionOptions;

void selection_options_clear (SelectionOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (SelectionOptions, selection_options_clear)

/* Returns the options for session_parse(); g_free() them. */
GOptionEntry *selection_entries (SelectionOptions *options);

/* What is selected. It refers to the texts of the options. */
typedef struct {
  const SelectionOptions *options;
  QuoitGroupState state; /* 0: any */
  gint64 priority_least, priority_most;
  gint64 end_after_ms, end_before_ms; /* of the expected end: after_ms <= end < before_ms */
} GroupSelection;

bool selection_parse (const SelectionOptions *options, GroupSelection *selection, GError **error);
bool selection_has (const GroupSelection *selection, const QuoitGroup *group);
