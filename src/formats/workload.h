/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of manifests that make pods without Ray. */
#pragma once

#include <quoit/topology.h>

#include "fleet/claims.h"

/* The object of a manifest that makes pods without Ray: what their environment depends on. */
typedef struct {
  QuoitProfile profile;   /* jobset, lws or job */
  char *name, *namespace; /* @namespace NULL: not stated */
  char *subdomain;        /* of the pods of a Job; NULL: not stated */
  gboolean is_indexed;    /* the Job is */
  guint flags;            /* QuoitLwsFlags */
  guint32 slices_per_replica;
  guint32 n_containers; /* with chips, in each pod with chips */
} QuoitWorkload;

void quoit_workload_clear (QuoitWorkload *workload);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (QuoitWorkload, quoit_workload_clear)

/* Like quoit_read_raycluster(). Also fills @workload if the object makes pods without Ray; otherwise its profile is 0.
 */
QuoitClaims *quoit_read_workload (const char *text, gsize length, const char *source, const char *const *set,
                                  QuoitWorkload *workload, GError **error);
