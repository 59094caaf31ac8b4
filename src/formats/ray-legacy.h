/* SPDX-License-Identifier: Apache-2.0 */
/* Slices of clusters whose Ray has no labels for them (2.40 and before): each host of a slice has 1 of a resource that
 * bears the slice's name, and worker 0 has 1 of TPU-<pod type>-head. */
#pragma once

#include "formats/ray-nodes.h"

typedef struct {
  const QuoitRayRow *rows; /* those that lack labels */
  guint n_rows;
  GHashTable *elsewhere; /* names of resources of amount 1 on other nodes */
  guint devices_per_chip;
  QuoitShape stated; /* for what the catalogue leaves open; no dimensions: not stated */
} QuoitRayUnlabelled;

typedef struct {
  QuoitRayPlace *places; /* one a row */
  GStringChunk *texts;   /* theirs */
  guint n_outside;       /* rows that are in no slice */
  guint first_outside;
  guint n_stated; /* slices whose topology was the stated one */
  guint wrong;    /* on failure: the row that the message is about */
} QuoitRayPlaces;

gboolean quoit_ray_places_find (const QuoitRayUnlabelled *unlabelled, QuoitRayPlaces *places, GError **error);
void quoit_ray_places_clear (QuoitRayPlaces *places);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitRayPlaces, quoit_ray_places_clear)

/* A resource of amount 1 that may be a slice's name, as far as its own name tells. */
gboolean quoit_ray_may_name_slice (const char *resource);
