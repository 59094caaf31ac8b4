/* SPDX-License-Identifier: Apache-2.0 */
#include "models/webhook/containers.h"

#include <string.h>

#include "base/name-hash.h"

static void
variable_clear (gpointer data)
{
  QuoitWebhookVariable *variable = data;

  g_free (variable->name);
  g_free (variable->value);
}

static void
container_clear (gpointer data)
{
  QuoitWebhookContainer *container = data;

  g_hash_table_unref (container->last);
  g_array_unref (container->variables);
  g_array_unref (container->sources);
}

static GArray *
variables_new (void)
{
  GArray *variables = g_array_new (FALSE, FALSE, sizeof (QuoitWebhookVariable));

  g_array_set_clear_func (variables, variable_clear);
  return variables;
}

GArray *
quoit_webhook_containers_new (void)
{
  GArray *containers = g_array_new (FALSE, FALSE, sizeof (QuoitWebhookContainer));

  g_array_set_clear_func (containers, container_clear);
  return containers;
}

const QuoitWebhookContainer *
quoit_webhook_container (const GArray *containers, guint at)
{
  return &g_array_index (containers, QuoitWebhookContainer, at);
}

void
quoit_webhook_add_container (GArray *containers, QuoitAmount request, QuoitAmount limit)
{
  QuoitWebhookContainer container
      = { request, limit, variables_new (), variables_new (), g_hash_table_new (quoit_hash_text, g_str_equal) };

  g_array_append_val (containers, container);
}

void
quoit_webhook_add_source_variable (GArray *containers, guint at, const char *name, const char *value)
{
  QuoitWebhookVariable variable = { g_strdup (name), g_strdup (value), NULL, QUOIT_WEBHOOK_OWN };

  g_array_append_val (quoit_webhook_container (containers, at)->sources, variable);
}

void
quoit_webhook_add_variable (GArray *containers, guint at, QuoitWebhookVariable variable)
{
  const QuoitWebhookContainer *container = quoit_webhook_container (containers, at);

  g_hash_table_insert (container->last, variable.name, GUINT_TO_POINTER (container->variables->len));
  g_array_append_val (container->variables, variable);
}

void
quoit_webhook_copy_variable (GArray *containers, guint at, const QuoitWebhookVariable *variable)
{
  QuoitWebhookVariable copy = *variable;

  copy.name = g_strdup (variable->name);
  copy.value = g_strdup (variable->value);
  quoit_webhook_add_variable (containers, at, copy);
}

void
quoit_webhook_copy_container (const QuoitWebhookContainer *container, GArray *containers)
{
  quoit_webhook_add_container (containers, container->request, container->limit);
  for (guint i = 0; i < container->sources->len; i++)
    {
      const QuoitWebhookVariable *source = &g_array_index (container->sources, QuoitWebhookVariable, i);

      quoit_webhook_add_source_variable (containers, containers->len - 1, source->name, source->value);
    }
  for (guint i = 0; i < container->variables->len; i++)
    quoit_webhook_copy_variable (containers, containers->len - 1,
                                 &g_array_index (container->variables, QuoitWebhookVariable, i));
}

gboolean
quoit_webhook_wants_tpu (const QuoitWebhookContainer *container)
{
  return container->request.e4 != 0 || container->limit.e4 != 0;
}

const char *
quoit_webhook_variable (const QuoitWebhookContainer *container, const char *name)
{
  for (guint i = 0; i < container->variables->len; i++)
    {
      const QuoitWebhookVariable *variable = &g_array_index (container->variables, QuoitWebhookVariable, i);

      if (strcmp (variable->name, name) != 0)
        continue;
      if (variable->value == NULL)
        return "";
      if (*variable->value != '\0')
        return variable->value;
    }
  return NULL;
}

const QuoitWebhookVariable *
quoit_webhook_last_variable (const QuoitWebhookContainer *container, const char *name)
{
  gpointer at;

  return g_hash_table_lookup_extended (container->last, name, NULL, &at)
             ? &g_array_index (container->variables, QuoitWebhookVariable, GPOINTER_TO_UINT (at))
             : NULL;
}

/* The device plugin sets the index of the container as default. The webhook replaces a value that equals it. */
char *
quoit_webhook_worker_id (const QuoitWebhookContainer *container, guint number, guint n_containers,
                         gboolean has_process_addresses, gint64 host)
{
  gint64 id = (gint64) (has_process_addresses ? (guint64) host * n_containers + number : (guint64) host);
  const char *set = quoit_webhook_variable (container, "TPU_WORKER_ID");
  g_autofree char *new_id = g_strdup_printf ("%" G_GINT64_FORMAT, id);
  g_autofree char *plugin_default = g_strdup_printf ("%u", number);

  if (set == NULL || *set == '\0' || (strcmp (set, plugin_default) == 0 && strcmp (set, new_id) != 0))
    return g_steal_pointer (&new_id);
  return NULL;
}
