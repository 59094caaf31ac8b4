/* SPDX-License-Identifier: Apache-2.0 */
#include "model/webhook-names.h"

#include <string.h>

char *
quoit_webhook_kuberay_service (const char *cluster)
{
  return g_strconcat (cluster, "-headless", NULL);
}

/* KubeRay's CheckName: the last 50 bytes, and a first byte that a DNS name may begin with. */
char *
quoit_webhook_service (const char *cluster)
{
  g_autofree char *name = quoit_webhook_kuberay_service (cluster);
  gsize length = strlen (name);
  char *cut = g_strdup (length > QUOIT_WEBHOOK_LONGEST_SERVICE ? name + length - QUOIT_WEBHOOK_LONGEST_SERVICE : name);

  if (g_ascii_isdigit (*cut) || g_ascii_ispunct (*cut))
    *cut = 'r';
  return cut;
}
