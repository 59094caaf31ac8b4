/* SPDX-License-Identifier: Apache-2.0 */
/* The slices from which parts for a request can be cut: those of every class that is large enough, if they pass the
 * rules of the request. */
#pragma once

#include "placement/cut/memory.h"
#include "placement/placement.h"

/* The slices of one class. */
typedef struct {
  const QuoitClass *class;
  QuoitCutting cutting;
  QuoitCutStore *store;
  guint32 n_slices; /* of the class */
  GArray *slices;   /* of guint32: those that pass the rules, in the order of the layout */
  gboolean is_all;  /* they are all slices of the class */
  guint32 most;     /* so many parts may be cut from them, as far as quotas for the class decide */
} QuoitCutSource;

/* Returns an array of QuoitCutSource, which the caller owns, by the number of chips per host: all parts of a group have
 * hosts of one size. Also validates the request. Fails like quoit_plan_slices(). */
GArray *quoit_cut_list_sources (const QuoitFleet *fleet, const QuoitRequest *request, GError **error);
/* Returns the position in quoit_cut_store_slices() of a slice of the source. */
guint32 quoit_cut_source_position (const QuoitCutSource *source, guint32 index);
/* Returns the end of the sources with hosts like those of source @first. */
guint quoit_cut_sources_end (const GArray *sources, guint first);
