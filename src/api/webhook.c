/* SPDX-License-Identifier: Apache-2.0 */
/* Adds a container to a pod of the TPU webhook. It reads the chips as Kubernetes quantities, which only src/formats
 * knows. */
#include <quoit/models/webhook.h>

#include "formats/quantity.h"
#include "models/webhook/pod.h"

static gboolean
read_chips (const char *text, const char *where, QuoitAmount *amount, GError **error)
{
  *amount = (QuoitAmount) { 0 };
  if (text == NULL || quoit_quantity_parse (text, amount, error))
    return TRUE;

  g_prefix_error (error, "%s of google.com/tpu: ", where);
  return FALSE;
}

bool
quoit_webhook_pod_add_container (QuoitWebhookPod *pod, const char *request, const char *limit, GError **error)
{
  QuoitAmount requested, limited;

  g_return_val_if_fail (pod != NULL, 0);

  if (!read_chips (request, "request", &requested, error) || !read_chips (limit, "limit", &limited, error))
    return 0;

  quoit_webhook_add_container (pod->containers, requested, limited);
  return 1;
}
