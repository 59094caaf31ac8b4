/* SPDX-License-Identifier: Apache-2.0 */
/* The condition of a slice is one small number that says whether the slice is intact, draining and used. A fleet counts
 * the slices of each class by condition, so that a question about a class does not visit its slices. */
#pragma once

#include <quoit/snapshot.h>

#include <glib.h>

/* How much of a slice is used, and whether a group has some of it. */
typedef enum {
  QUOIT_SLICE_USE_NONE,
  QUOIT_SLICE_USE_PARTLY_EXTERNAL,
  QUOIT_SLICE_USE_FULL_EXTERNAL,
  QUOIT_SLICE_USE_PARTLY_ALLOCATED,
  QUOIT_SLICE_USE_FULL_ALLOCATED,
  QUOIT_N_SLICE_USES
} QuoitSliceUse;

typedef enum {
  QUOIT_SLICE_CANNOT_BE_INTACT, /* a worker has no node, not even a dead one, or alive nodes contradict each other */
  QUOIT_SLICE_COULD_BE_INTACT,  /* it would be intact if all of its nodes were alive */
  QUOIT_SLICE_IS_INTACT,
  QUOIT_N_SLICE_HEALTHS
} QuoitSliceHealth;

enum {
  QUOIT_N_SLICE_CONDITIONS = QUOIT_N_SLICE_HEALTHS * 2 * QUOIT_N_SLICE_USES,
  QUOIT_CONDITION_FREE = QUOIT_SLICE_IS_INTACT * 2 * QUOIT_N_SLICE_USES /* the only one with the flag FREE */
};

static inline guint8
quoit_condition (QuoitSliceHealth health, gboolean is_draining, QuoitSliceUse use)
{
  return (guint8) ((health * 2 + (is_draining != 0)) * QUOIT_N_SLICE_USES + use);
}

static inline QuoitSliceHealth
quoit_condition_health (guint8 condition)
{
  return (QuoitSliceHealth) (condition / (2 * QUOIT_N_SLICE_USES));
}

static inline QuoitSliceFlags
quoit_condition_flags (guint8 condition)
{
  static const guint8 of_use[QUOIT_N_SLICE_USES] = {
    [QUOIT_SLICE_USE_NONE] = QUOIT_SLICE_IDLE,
    [QUOIT_SLICE_USE_PARTLY_EXTERNAL] = QUOIT_SLICE_PARTLY,
    [QUOIT_SLICE_USE_FULL_EXTERNAL] = QUOIT_SLICE_FULL,
    [QUOIT_SLICE_USE_PARTLY_ALLOCATED] = QUOIT_SLICE_PARTLY | QUOIT_SLICE_ALLOCATED,
    [QUOIT_SLICE_USE_FULL_ALLOCATED] = QUOIT_SLICE_FULL | QUOIT_SLICE_ALLOCATED,
  };
  guint flags = of_use[condition % QUOIT_N_SLICE_USES];

  if (quoit_condition_health (condition) == QUOIT_SLICE_IS_INTACT)
    flags |= QUOIT_SLICE_INTACT;
  if (condition / QUOIT_N_SLICE_USES % 2 != 0)
    flags |= QUOIT_SLICE_DRAINING;
  if (condition == QUOIT_CONDITION_FREE)
    flags |= QUOIT_SLICE_FREE;
  return (QuoitSliceFlags) flags;
}
