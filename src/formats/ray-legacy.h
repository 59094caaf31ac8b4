/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the slices of clusters whose Ray has no TPU labels (2.40 and earlier). There, each host of a slice has 1 of
   a resource with the name of the slice, and worker 0 has 1 of TPU-<pod type>-head. */
#pragma once

#include "formats/ray-nodes.h"

typedef struct {
  const QuoitRayRow *rows; /* the rows without labels */
  guint n_rows;
  GHashTable *elsewhere; /* names of resources of amount 1 on other nodes */
  guint devices_per_chip;
  QuoitShape stated; /* used if the catalogue has several topologies; no dimensions: not stated */
} QuoitRayUnlabelled;

typedef struct {
  QuoitRayPlace *places; /* one per row */
  GStringChunk *texts;   /* owns the texts of the places */
  guint n_outside;       /* rows that are in no slice */
  guint first_outside;
  guint n_stated; /* slices that got the stated topology */
  guint wrong;    /* on failure: the row that the message is about */
} QuoitRayPlaces;

gboolean quoit_ray_places_find (const QuoitRayUnlabelled *unlabelled, QuoitRayPlaces *places, GError **error);
void quoit_ray_places_clear (QuoitRayPlaces *places);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayPlaces, quoit_ray_places_clear)

/* Returns whether a resource of amount 1 can be the name of a slice, judged by the resource's name alone. */
gboolean quoit_ray_may_name_slice (const char *resource);
