/* SPDX-License-Identifier: Apache-2.0 */
#include "models/kuberay/names.h"

#include <string.h>

enum { LONGEST_POD_PREFIX = 50 };

gint64
quoit_kuberay_replicas (gint64 replicas, gint64 min_replicas, gint64 max_replicas)
{
  if (replicas < min_replicas)
    return min_replicas;
  return MIN (replicas, max_replicas);
}

char *
quoit_kuberay_pod_prefix (const char *name)
{
  g_autofree char *cut = g_strndup (name, LONGEST_POD_PREFIX);
  g_autofree char *valid = g_utf8_make_valid (cut, -1);
  GString *prefix = g_string_new (NULL);

  /* g_utf8_strdown() depends on the locale, so convert each character separately. */
  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    g_string_append_unichar (prefix, g_unichar_tolower (g_utf8_get_char (p)));
  g_string_append (prefix, "-worker-");
  return g_string_free (prefix, FALSE);
}
