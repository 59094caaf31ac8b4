/* SPDX-License-Identifier: Apache-2.0 */
/* The names that Kubernetes accepts for objects that make pods, and for their pods. */
#include <string.h>

#include "base/dns.h"
#include "base/error.h"
#include "launch/launch.h"

static const struct {
  const char *name;  /* of the profile */
  const char *kind;  /* of the object that makes the pods; NULL: the profile does not need its name */
  gboolean is_label; /* the name can begin with a digit */
} profiles[] = {
  [QUOIT_PROFILE_QUOIT] = { "quoit", NULL, FALSE },          [QUOIT_PROFILE_RAY_TRAIN] = { "ray-train", NULL, FALSE },
  [QUOIT_PROFILE_KUBERAY] = { "kuberay", NULL, FALSE },      [QUOIT_PROFILE_JOBSET] = { "jobset", "JobSet", FALSE },
  [QUOIT_PROFILE_LWS] = { "lws", "LeaderWorkerSet", FALSE }, [QUOIT_PROFILE_JOB] = { "job", "Job", TRUE },
};

const char *
quoit_profile_name (QuoitProfile profile)
{
  return profiles[profile].name;
}

static gboolean
fail_name (const char *what, const char *name, const char *rule, GError **error)
{
  g_autofree char *quoted = quoit_quote (name);

  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "%s %s: expected a name of at most %d lower-case letters, digits and '-', %s", what, quoted,
                     QUOIT_MAX_DNS_LABEL_BYTES, rule);
}

gboolean
quoit_launch_check_label (const char *what, const char *name, GError **error)
{
  return quoit_dns_is_label (name, QUOIT_MAX_DNS_LABEL_BYTES) || fail_name (what, name, "no '-' first or last", error);
}

gboolean
quoit_launch_check_name (QuoitProfile profile, const char *name, GError **error)
{
  if (profiles[profile].is_label)
    return quoit_launch_check_label (profiles[profile].kind, name, error);
  return (quoit_dns_is_label (name, QUOIT_MAX_DNS_LABEL_BYTES) && g_ascii_islower (*name))
         || fail_name (profiles[profile].kind, name, "a letter first and no '-' last", error);
}

gboolean
quoit_launch_check_pod (QuoitProfile profile, const char *name, const char *pod, const char *suffix, GError **error)
{
  const gsize length = strlen (pod) + strlen (suffix);

  if (length <= QUOIT_MAX_DNS_LABEL_BYTES)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "%s '%s': expected pod names of at most %d bytes, but '%s'%s%s%s %s %" G_GSIZE_FORMAT
                     ": choose a shorter name",
                     profiles[profile].kind, name, QUOIT_MAX_DNS_LABEL_BYTES, pod, *suffix == '\0' ? "" : " and the '",
                     suffix, *suffix == '\0' ? "" : "' of Kubernetes", *suffix == '\0' ? "has" : "have", length);
}
