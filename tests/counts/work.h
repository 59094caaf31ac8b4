/* SPDX-License-Identifier: Apache-2.0 */
/* Fixed work on fleets of two sizes. */
#pragma once

#include "../support.h"

typedef struct Work Work;

/* A fleet of @n_slices slices of v6e 4x4 in ten pools: pool p0 is full, and the last slice of it has a dead node; half
 * of the others are allocated. */
Work *work_new (guint n_slices);
void work_free (Work *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (Work, work_free)

typedef struct {
  const char *name;
  void (*run) (Work *work, guint i); /* @i: how often it has run */
} Operation;

extern const Operation operations[7];
