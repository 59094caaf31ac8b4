/* SPDX-License-Identifier: Apache-2.0 */
/* Getters of pods and patches. */
#include "models/webhook/pod.h"

/* --- variables --- */

static uint32_t
n_variables (const GArray *containers, uint32_t container)
{
  return container < containers->len ? quoit_webhook_container (containers, container)->variables->len : 0;
}

/* Returns an empty variable, without a name, if the index is out of range. */
static const QuoitWebhookVariable *
variable_at (const GArray *containers, uint32_t container, uint32_t variable)
{
  static const QuoitWebhookVariable nothing = { 0 };

  g_return_val_if_fail (variable < n_variables (containers, container), &nothing);

  return &g_array_index (quoit_webhook_container (containers, container)->variables, QuoitWebhookVariable, variable);
}

/* --- pods --- */

char **
quoit_webhook_pod_dup_labels (const QuoitWebhookPod *pod)
{
  g_return_val_if_fail (pod != NULL, NULL);

  return quoit_webhook_dup_texts (pod->labels);
}

uint32_t
quoit_webhook_pod_get_n_containers (const QuoitWebhookPod *pod)
{
  g_return_val_if_fail (pod != NULL, 0);

  return pod->containers->len;
}

uint32_t
quoit_webhook_pod_get_n_variables (const QuoitWebhookPod *pod, uint32_t container)
{
  g_return_val_if_fail (pod != NULL, 0);

  return n_variables (pod->containers, container);
}

const char *
quoit_webhook_pod_get_variable_name (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (pod != NULL, NULL);

  return variable_at (pod->containers, container, variable)->name;
}

const char *
quoit_webhook_pod_get_variable_value (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (pod != NULL, NULL);

  return variable_at (pod->containers, container, variable)->value;
}

const char *
quoit_webhook_pod_get_variable_field (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (pod != NULL, NULL);

  return variable_at (pod->containers, container, variable)->field;
}

bool
quoit_webhook_pod_is_variable_written (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (pod != NULL, 0);

  return variable_at (pod->containers, container, variable)->origin == QUOIT_WEBHOOK_WRITTEN;
}

bool
quoit_webhook_pod_is_variable_effective (const QuoitWebhookPod *pod, uint32_t container, uint32_t variable)
{
  const QuoitWebhookVariable *row;

  g_return_val_if_fail (pod != NULL, 0);

  row = variable_at (pod->containers, container, variable);
  return row->name != NULL
         && row == quoit_webhook_last_variable (quoit_webhook_container (pod->containers, container), row->name);
}

/* --- patches --- */

bool
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

  return n_variables (patch->containers, container);
}

const char *
quoit_webhook_patch_get_variable_name (const QuoitWebhookPatch *patch, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (patch != NULL, NULL);

  return variable_at (patch->containers, container, variable)->name;
}

const char *
quoit_webhook_patch_get_variable_value (const QuoitWebhookPatch *patch, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (patch != NULL, NULL);

  return variable_at (patch->containers, container, variable)->value;
}

const char *
quoit_webhook_patch_get_variable_field (const QuoitWebhookPatch *patch, uint32_t container, uint32_t variable)
{
  g_return_val_if_fail (patch != NULL, NULL);

  return variable_at (patch->containers, container, variable)->field;
}
