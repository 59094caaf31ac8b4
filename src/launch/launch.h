/* SPDX-License-Identifier: Apache-2.0 */
/* How the processes of a group are launched. */
#pragma once

#include <quoit/topology.h>

enum { QUOIT_MOST_PER_HOST = 8 };

struct _QuoitLaunch {
  QuoitProfile profile;
  guint32 per_host;              /* processes per host */
  char *jobset, *replicated_job; /* NULL: the defaults */
  struct {
    char *name, *namespace; /* NULL: the defaults */
    guint32 slices_per_replica;
    guint flags; /* QuoitLwsFlags */
  } lws;
  struct {
    char *name, *subdomain; /* @name NULL: the default; @subdomain NULL: none */
    gboolean is_indexed;
  } job;
};

/* Fails with INVALID if @name is not a DNS label. @what has the name. */
gboolean quoit_launch_check_label (const char *what, const char *name, GError **error);
/* Fails with INVALID if Kubernetes does not accept @name for the object that makes the pods of the profile. */
gboolean quoit_launch_check_name (QuoitProfile profile, const char *name, GError **error);
/* Fails with INVALID if the name of a pod of the object @name, with the suffix of Kubernetes, is too long. */
gboolean quoit_launch_check_pod (QuoitProfile profile, const char *name, const char *pod, const char *suffix,
                                 GError **error);
/* Returns the name of the profile, such as "jobset". */
const char *quoit_profile_name (QuoitProfile profile);
