/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of Kubernetes objects from which KubeRay makes a cluster. */
#pragma once

#include <glib.h>

typedef enum { QUOIT_RAY_CLUSTER, QUOIT_RAY_JOB, QUOIT_RAY_SERVICE, QUOIT_N_RAY_KINDS } QuoitRayKind;

typedef struct {
  const char *name;
  const char *spec;      /* the member of the object's spec that is the cluster's; NULL: it is the cluster's itself */
  const char *status[3]; /* members down to the name that KubeRay gave the cluster; NULL ends them */
  gsize longest_name;    /* of the object, that KubeRay 1.7.0 takes */
} QuoitRayKindFacts;

extern const QuoitRayKindFacts quoit_ray_kinds[QUOIT_N_RAY_KINDS];

/* FALSE: @name, which may be NULL, is none of them. */
gboolean quoit_ray_kind_find (const char *name, QuoitRayKind *kind);
