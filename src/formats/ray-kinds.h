/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of Kubernetes objects from which KubeRay makes a Ray cluster. */
#pragma once

#include <glib.h>

typedef enum { QUOIT_RAY_CLUSTER, QUOIT_RAY_JOB, QUOIT_RAY_SERVICE, QUOIT_N_RAY_KINDS } QuoitRayKind;

/* What the readers need to know about a kind. */
typedef struct {
  const char *name;      /* "RayJob" */
  const char *spec;      /* the member of the object's spec that holds the spec of the cluster; NULL: the object's
                            spec itself */
  const char *status[3]; /* path to the name that KubeRay gave the cluster; ended by NULL if shorter */
  gsize longest_name;    /* of the object, in bytes; the limit of KubeRay 1.7.0 */
} QuoitRayKindFacts;

extern const QuoitRayKindFacts quoit_ray_kinds[QUOIT_N_RAY_KINDS];

/* Returns FALSE if @name is NULL or not one of the kinds. */
gboolean quoit_ray_kind_find (const char *name, QuoitRayKind *kind);
