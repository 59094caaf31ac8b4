/* SPDX-License-Identifier: Apache-2.0 */
/* Pods and patches of the TPU webhook, for those who fill in the one and read the other. */
#include <quoit/webhook.h>

#include "formats/quantity.h"
#include "topology/webhook-pod.h"

static gboolean
read_chips (const char *text, const char *where, QuoitAmount *amount, GError **error)
{
  *amount = (QuoitAmount) { 0 };
  if (text == NULL || quoit_quantity_parse (text, amount, error))
    return TRUE;

  g_prefix_error (error, "%s of google.com/tpu: ", where);
  return FALSE;
}

int
quoit_webhook_pod_add_container (QuoitWebhookPod *pod, const char *request, const char *limit, GError **error)
{
  QuoitAmount requested, limited;

  g_return_val_if_fail (pod != NULL, 0);

  if (!read_chips (request, "request", &requested, error) || !read_chips (limit, "limit", &limited, error))
    return 0;

  quoit_webhook_add_container (pod->containers, requested, limited);
  return 1;
}

int
quoit_webhook_patch_is_empty (const QuoitWebhookPatch *patch)
{
  g_return_val_if_fail (patch != NULL, 0);

  return patch->containers->len == 0;
}

const char *
quoit_webhook_patch_get_hostname (const QuoitWebhookPatch *patch)
{
  g_return_val_if_fail (patch != NULL, NULL);

  return patch->hostname;
}

const char *
quoit_webhook_patch_get_subdomain (const QuoitWebhookPatch *patch)
{
  g_return_val_if_fail (patch != NULL, NULL);

  return patch->subdomain;
}

const char *
quoit_webhook_patch_get_replica_label (const QuoitWebhookPatch *patch)
{
  g_return_val_if_fail (patch != NULL, NULL);

  return patch->replica_label;
}

const char *
quoit_webhook_patch_get_affinity (const QuoitWebhookPatch *patch, QuoitWebhookTerm term, uint32_t requirement)
{
  g_return_val_if_fail (patch != NULL, NULL);

  if ((guint) term >= QUOIT_WEBHOOK_N_TERMS || requirement >= patch->terms[term]->len)
    return NULL;
  return patch->terms[term]->pdata[requirement];
}

uint32_t
quoit_webhook_patch_get_n_variables (const QuoitWebhookPatch *patch, uint32_t container)
{
  g_return_val_if_fail (patch != NULL, 0);

  return container < patch->containers->len ? quoit_webhook_container (patch->containers, container)->variables->len
                                            : 0;
}

static const QuoitWebhookVariable *
variable_at (const QuoitWebhookPatch *patch, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (patch != NULL && variable < quoit_webhook_patch_get_n_variables (patch, container), NULL);

  return &g_array_index (quoit_webhook_container (patch->containers, container)->variables, QuoitWebhookVariable,
                         variable);
}

const char *
quoit_webhook_patch_get_variable_name (const QuoitWebhookPatch *patch, uint32_t container, uint32_t variable)
{
  const QuoitWebhookVariable *row = variable_at (patch, container, variable);

  return row == NULL ? NULL : row->name;
}

const char *
quoit_webhook_patch_get_variable_value (const QuoitWebhookPatch *patch, uint32_t container, uint32_t variable)
{
  const QuoitWebhookVariable *row = variable_at (patch, container, variable);

  return row == NULL ? NULL : row->value;
}

const char *
quoit_webhook_patch_get_variable_field (const QuoitWebhookPatch *patch, uint32_t container, uint32_t variable)
{
  const QuoitWebhookVariable *row = variable_at (patch, container, variable);

  return row == NULL ? NULL : row->field;
}
