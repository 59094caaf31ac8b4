/* SPDX-License-Identifier: Apache-2.0 */
/* What quoit top shows of one state of a ledger. */
#pragma once

#include <quoit/quoit.h>

/* A slice, or a group that has lost something. */
typedef struct {
  bool is_group;
  uint32_t index; /* of the slice, or in TopState.groups */
} TopProblem;

typedef struct {
  guint64 number; /* each state of this process has another one, from 1 on */
  QuoitSnapshot *snapshot;
  GPtrArray *groups;                            /* of QuoitGroup: all but removed ones */
  GArray *problems;                             /* of TopProblem */
  GArray *waiting;                              /* of uint32_t, in groups: pending and rescheduling ones */
  guint n_free, n_held, n_degraded, n_draining; /* slices */
  char *chips_used, *chips_total;
  gint64 next_end_ms; /* when the first lease ends; G_MAXINT64: never */
} TopState;

/* Takes a reference to @snapshot. */
TopState *top_state_new (QuoitSnapshot *snapshot);
void top_state_free (TopState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (TopState, top_state_free)

static inline const QuoitGroup *
top_state_get_group (const TopState *state, uint32_t index)
{
  return (const QuoitGroup *) state->groups->pdata[index];
}

/* The texts of the details of a slice, and of a group with what it waits for, in lines of @width. g_free() them. NULL:
 * it is gone. */
char *top_describe_slice (const TopState *state, const char *full_name, guint width);
char *top_describe_group (const TopState *state, const char *handle, guint width);

/* Returns why a waiting group waits, in a sentence. g_free() it. */
char *top_describe_reason (const TopState *state, const char *handle);
