/* SPDX-License-Identifier: Apache-2.0 */
#include "models/kuberay/kuberay.h"

#include <string.h>

#include "base/dns.h"
#include "base/name-hash.h"
#include "models/kuberay/names.h"
#include "models/webhook/names.h"

static void
group_clear (gpointer data)
{
  QuoitKuberayGroup *group = data;

  g_free (group->name);
  g_ptr_array_unref (group->pods);
  quoit_webhook_pod_free (group->template);
}

char *
quoit_kuberay_dup_checked_name (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);

  return quoit_webhook_dup_checked_name (name);
}

char *
quoit_kuberay_dup_pod_prefix (const char *name)
{
  g_return_val_if_fail (name != NULL, NULL);

  return quoit_kuberay_pod_prefix (name);
}

QuoitKuberay *
quoit_kuberay_new (const char *cluster, uint32_t flags)
{
  QuoitKuberay *kuberay;

  g_return_val_if_fail (cluster != NULL, NULL);

  kuberay = g_new0 (QuoitKuberay, 1);
  kuberay->cluster = g_strdup (cluster);
  kuberay->service = quoit_webhook_kuberay_service (cluster);
  kuberay->flags = flags;
  kuberay->groups = g_array_new (FALSE, FALSE, sizeof (QuoitKuberayGroup));
  g_array_set_clear_func (kuberay->groups, group_clear);
  kuberay->names = g_hash_table_new (quoit_hash_text, g_str_equal);
  kuberay->pods = g_ptr_array_new ();
  kuberay->notes = g_ptr_array_new_with_free_func (g_free);
  return kuberay;
}

void
quoit_kuberay_free (QuoitKuberay *kuberay)
{
  if (kuberay == NULL)
    return;
  g_ptr_array_unref (kuberay->notes);
  g_ptr_array_unref (kuberay->pods);
  g_hash_table_unref (kuberay->names);
  g_array_unref (kuberay->groups);
  g_free (kuberay->requeued);
  g_free (kuberay->service);
  g_free (kuberay->cluster);
  g_free (kuberay);
}

const char *
quoit_kuberay_get_cluster (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, NULL);

  return kuberay->cluster;
}

bool
quoit_kuberay_is_name_assumed (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, 0);

  return kuberay->is_assumed;
}

uint32_t
quoit_kuberay_get_longest_name (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, 0);

  return quoit_webhook_longest_name (kuberay->is_assumed ? QUOIT_KUBERAY_RANDOM_END : "");
}

uint32_t
quoit_kuberay_get_n_notes (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, 0);

  return kuberay->notes->len;
}

const char *
quoit_kuberay_get_note (const QuoitKuberay *kuberay, uint32_t note)
{
  g_return_val_if_fail (kuberay != NULL && note < kuberay->notes->len, NULL);

  return kuberay->notes->pdata[note];
}

const char *
quoit_kuberay_get_service (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, NULL);

  for (guint i = 0; i < kuberay->groups->len; i++)
    if (quoit_kuberay_group (kuberay, i)->n_hosts > 1)
      return kuberay->service;
  return NULL;
}

/* --- groups --- */

static gsize
count_variable_bytes (const GArray *variables)
{
  gsize n = 0;

  for (guint i = 0; i < variables->len; i++)
    {
      const QuoitWebhookVariable *variable = &g_array_index (variables, QuoitWebhookVariable, i);

      n += sizeof *variable + strlen (variable->name) + (variable->value == NULL ? 0 : strlen (variable->value));
    }
  return n;
}

static gint64
count_bytes (const QuoitWebhookPod *template)
{
  gsize n = 0;

  for (guint c = 0; c < template->containers->len; c++)
    {
      const QuoitWebhookContainer *container = quoit_webhook_container (template->containers, c);

      n += sizeof *container + count_variable_bytes (container->sources) + count_variable_bytes (container->variables);
    }
  return (gint64) n;
}

bool
quoit_kuberay_add_group (QuoitKuberay *kuberay, const char *name, int64_t n_hosts, const QuoitWebhookPod *pod,
                         GError **error)
{
  QuoitKuberayGroup group = { .n_hosts = (gint32) n_hosts, .max_replicas = G_MAXINT32 };
  g_autofree char *quoted = NULL;

  g_return_val_if_fail (kuberay != NULL && name != NULL, 0);

  quoted = quoit_quote (name);
  if (n_hosts < 0 || n_hosts > G_MAXINT32)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "group %s: numOfHosts '%" G_GINT64_FORMAT "': expected 0 to 2147483647", quoted, n_hosts);
  if (g_hash_table_contains (kuberay->names, name))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "group %s: expected each groupName once", quoted);

  group.name = g_strdup (name);
  group.template = pod == NULL ? quoit_webhook_pod_new () : quoit_webhook_pod_copy (pod);
  group.n_bytes = count_bytes (group.template);
  group.pods = g_ptr_array_new_with_free_func (quoit_kuberay_pod_free);
  g_hash_table_add (kuberay->names, group.name);
  g_array_append_val (kuberay->groups, group);
  return 1;
}

uint32_t
quoit_kuberay_get_n_groups (const QuoitKuberay *kuberay)
{
  g_return_val_if_fail (kuberay != NULL, 0);

  return kuberay->groups->len;
}

static QuoitKuberayGroup *
group_at (const QuoitKuberay *kuberay, uint32_t group)
{
  g_return_val_if_fail (kuberay != NULL && group < kuberay->groups->len, NULL);

  return quoit_kuberay_group (kuberay, group);
}

const char *
quoit_kuberay_get_group_name (const QuoitKuberay *kuberay, uint32_t group)
{
  const QuoitKuberayGroup *row = group_at (kuberay, group);

  return row == NULL ? NULL : row->name;
}

int64_t
quoit_kuberay_get_group_hosts (const QuoitKuberay *kuberay, uint32_t group)
{
  const QuoitKuberayGroup *row = group_at (kuberay, group);

  return row == NULL ? 0 : row->n_hosts;
}

uint32_t
quoit_kuberay_get_group_containers (const QuoitKuberay *kuberay, uint32_t group)
{
  const QuoitKuberayGroup *row = group_at (kuberay, group);

  return row == NULL ? 0 : row->template->containers->len;
}

bool
quoit_kuberay_check_group (const QuoitKuberay *kuberay, uint32_t group, const char **denial, GError **error)
{
  const QuoitKuberayGroup *row = group_at (kuberay, group);

  return row != NULL && quoit_webhook_check_group (row->template, row->n_hosts, denial, error);
}

void
quoit_kuberay_set_replicas (QuoitKuberay *kuberay, uint32_t group, int32_t replicas)
{
  QuoitKuberayGroup *row = group_at (kuberay, group);

  if (row != NULL)
    row->replicas = replicas;
}

void
quoit_kuberay_set_bounds (QuoitKuberay *kuberay, uint32_t group, int32_t lowest, int32_t highest)
{
  QuoitKuberayGroup *row = group_at (kuberay, group);

  if (row == NULL)
    return;
  row->min_replicas = lowest;
  row->max_replicas = highest;
}

static void
set_suspended (QuoitKuberay *kuberay, uint32_t group, gboolean is_suspended)
{
  QuoitKuberayGroup *row = group_at (kuberay, group);

  if (row != NULL)
    row->is_suspended = is_suspended;
}

void
quoit_kuberay_suspend_group (QuoitKuberay *kuberay, uint32_t group)
{
  set_suspended (kuberay, group, TRUE);
}

void
quoit_kuberay_resume_group (QuoitKuberay *kuberay, uint32_t group)
{
  set_suspended (kuberay, group, FALSE);
}

int32_t
quoit_kuberay_get_n_desired (const QuoitKuberay *kuberay, uint32_t group)
{
  const QuoitKuberayGroup *row = group_at (kuberay, group);
  gint64 replicas;

  if (row == NULL || row->is_suspended)
    return 0;
  replicas = quoit_kuberay_replicas (row->replicas, row->min_replicas, row->max_replicas);
  return (gint32) (guint32) (guint64) (replicas * row->n_hosts);
}

/* --- names --- */

static gboolean
check_service (const QuoitKuberay *kuberay, GError **error)
{
  g_autofree char *webhook_service = quoit_webhook_service (kuberay->cluster), *quoted = quoit_quote (kuberay->cluster);
  g_autofree char *quoted_kuberay_service = quoit_quote (kuberay->service),
                  *quoted_webhook_service = quoit_quote (webhook_service);

  if (strcmp (kuberay->service, webhook_service) == 0)
    return TRUE;
  return quoit_fail (error, QUOIT_ERROR_INVALID,
                     "cluster %s: expected at most %u bytes%s, with a letter first: KubeRay names the headless "
                     "service %s, but the TPU webhook assigns the hosts to service %s",
                     quoted, quoit_kuberay_get_longest_name (kuberay),
                     kuberay->is_assumed ? " before the characters that KubeRay appends" : "", quoted_kuberay_service,
                     quoted_webhook_service);
}

static gboolean
check_host_names (const QuoitKuberayGroup *group, GError **error)
{
  gint64 replicas = quoit_kuberay_replicas (group->replicas, group->min_replicas, group->max_replicas);
  g_autofree char *name
      = g_strdup_printf ("%s-%" G_GINT64_FORMAT "-%d", group->name, MAX (replicas, 1) - 1, group->n_hosts - 1);
  g_autofree char *quoted_group = quoit_quote (group->name), *quoted_host = quoit_quote (name);
  gsize length = strlen (name);

  if (length > QUOIT_MAX_DNS_LABEL_BYTES)
    return quoit_fail (
        error, QUOIT_ERROR_INVALID,
        "group %s: host name %s of %" G_GSIZE_FORMAT " bytes: expected at most %d: shorten the groupName "
        "by %" G_GSIZE_FORMAT,
        quoted_group, quoted_host, length, QUOIT_MAX_DNS_LABEL_BYTES, length - QUOIT_MAX_DNS_LABEL_BYTES);
  if (!quoit_dns_is_label (name, QUOIT_MAX_DNS_LABEL_BYTES))
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "group %s: host name %s: expected a groupName of lower-case letters, digits and '-', with a "
                       "letter or digit first",
                       quoted_group, quoted_host);
  return TRUE;
}

bool
quoit_kuberay_check_names (const QuoitKuberay *kuberay, GError **error)
{
  g_return_val_if_fail (kuberay != NULL, 0);

  for (guint i = 0; i < kuberay->groups->len; i++)
    {
      const QuoitKuberayGroup *group = quoit_kuberay_group (kuberay, i);

      if (group->n_hosts < 2 || quoit_webhook_count_tpu_containers (group->template) == 0)
        continue;
      if (!check_service (kuberay, error) || !check_host_names (group, error))
        return 0;
    }
  return 1;
}
