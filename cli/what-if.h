/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of `quoit what-if`, answered one after the other on a fork. */
#pragma once

#include <quoit/quoit.h>

#include "document.h"
#include "what-if-lines.h"

typedef enum {
  WHAT_IF_GROUP_ENDS,
  WHAT_IF_GROUP_RESERVED, /* also held */
  WHAT_IF_GROUP_RESERVED_AHEAD,
  WHAT_IF_GROUP_BEGINS,
  WHAT_IF_GROUP_GROWS,
  WHAT_IF_GROUP_SHRINKS,
  WHAT_IF_GROUP_MOVES,   /* has other slices */
  WHAT_IF_GROUP_LOSES,   /* a host of a slice is dead */
  WHAT_IF_GROUP_LEAVES,  /* a host of a slice is draining */
  WHAT_IF_GROUP_RECOVERS /* a slice is whole again */
} WhatIfChangeKind;

/* What happens to a group. */
typedef struct {
  WhatIfChangeKind kind;
  char *group;  /* NAME@ID */
  char *detail; /* NULL: none */
} WhatIfChange;

typedef struct {
  const WhatIfLine *line;
  gint64 time_ms;   /* when the line is answered */
  char *answer;     /* a sentence */
  bool has_verdict; /* the line requests slices or bundles */
  QuoitVerdict verdict;
  GPtrArray *groups;    /* of QuoitGroup: those that the line has reserved or resized */
  QuoitReport *report;  /* of a refusal; NULL: none */
  GPtrArray *changes;   /* of WhatIfChange */
  QuoitSnapshot *after; /* the state after the line */
} WhatIfStep;

typedef struct {
  QuoitSnapshot *before; /* the state before all lines */
  QuoitFork *fork;
  gint64 begin_ms, now_ms; /* the time before all lines, and after those that are answered */
  GPtrArray *lines;        /* of WhatIfLine */
  GPtrArray *steps;        /* of WhatIfStep: those that are answered */
} WhatIf;

/* Takes @lines. @now_ms: the time of @snapshot. */
WhatIf *what_if_new (QuoitSnapshot *snapshot, gint64 now_ms, GPtrArray *lines);
void what_if_free (WhatIf *what_if);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (WhatIf, what_if_free)

/* Answers all lines. A reservation that does not fit is an answer. Fails for a line that is wrong or contradicts an
 * earlier one; the message has its place. */
bool what_if_run (WhatIf *what_if, GError **error);

/* The state after the lines that are answered. */
QuoitSnapshot *what_if_present (const WhatIf *what_if);

/* Returns "s", unless @n is 1. */
const char *what_if_plural (guint n);

/* --- what-if-nodes.c: the lines that change nodes --- */

bool what_if_set_states (WhatIf *what_if, WhatIfStep *step, GError **error);
bool what_if_add_source (WhatIf *what_if, WhatIfStep *step, GError **error);
bool what_if_remove_nodes (WhatIf *what_if, WhatIfStep *step, GError **error);

/* --- what-if-verbs.c --- */

/* Answers one line. */
bool what_if_answer (WhatIf *what_if, WhatIfStep *step, GError **error);

/* Checks the number of words after the verb. @expected: what can follow it. */
bool what_if_check_words (const WhatIfStep *step, guint min, guint max, const char *expected, GError **error);

/* If a line failed because @words name nothing, and an earlier line is the reason, replaces the error @why by one that
 * names that line. Takes @why, and always returns false. */
bool what_if_blame_line (const WhatIf *what_if, bool (*is_known) (const QuoitSnapshot *snapshot, char *const *words),
                         char *const *words, const char *what, const char *expected, GError *why, GError **error);

/* --- what-if-groups.c --- */

/* Returns what happens to groups from one state to the next. @now_ms: the time of @after. */
GPtrArray *what_if_compare_groups (const QuoitSnapshot *before, const QuoitSnapshot *after, gint64 now_ms);
const char *what_if_change_word (WhatIfChangeKind kind);
/* Returns "2 groups end, 1 group loses slices", or NULL if nothing happens to a group. */
char *what_if_summarize (const GPtrArray *changes);

/* --- what-if-view.c --- */

Document *what_if_describe (const WhatIf *what_if);
