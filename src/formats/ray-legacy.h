/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the slices of clusters whose Ray has no TPU labels (2.40 and earlier). In these versions, each host of a slice
   has 1 of a resource with the name of the slice, and worker 0 also has 1 of TPU-<pod type>-head. */
#pragma once

#include "formats/ray-nodes.h"

/* The rows to place, and what is known about the cluster. */
typedef struct {
  const QuoitRayRow *rows; /* the rows without labels */
  guint n_rows;
  GHashTable *other_resources; /* resources with amount 1 of nodes without chips: they cannot be names of slices */
  guint devices_per_chip;
  QuoitShape stated; /* used if the catalogue has several topologies for a pod type; no dimensions: not stated */
} QuoitRayUnlabelled;

/* The places that were found. */
typedef struct {
  QuoitRayPlace *places; /* one per row */
  GStringChunk *texts;   /* owns the texts of the places */
  guint n_unplaced;      /* rows that are in no slice */
  guint first_unplaced;
  guint n_stated;   /* slices that got the stated topology */
  guint failed_row; /* on failure: the row that the message is about */
} QuoitRayPlaces;

/* Finds the place of each row. The caller clears @places, even after a failure. */
gboolean quoit_ray_places_find (const QuoitRayUnlabelled *unlabelled, QuoitRayPlaces *places, GError **error);
void quoit_ray_places_clear (QuoitRayPlaces *places);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayPlaces, quoit_ray_places_clear)

/* Returns whether the name of a resource with amount 1 may be the name of a slice. */
gboolean quoit_ray_may_name_slice (const char *resource);
