/* SPDX-License-Identifier: Apache-2.0 */
#include "models/webhook/pod.h"

#include <string.h>

static GHashTable *
new_texts (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
}

QuoitWebhookPod *
quoit_webhook_pod_new (void)
{
  QuoitWebhookPod *pod = g_new0 (QuoitWebhookPod, 1);

  pod->labels = new_texts ();
  pod->selectors = new_texts ();
  pod->containers = quoit_webhook_containers_new ();
  return pod;
}

void
quoit_webhook_pod_free (QuoitWebhookPod *pod)
{
  if (pod == NULL)
    return;
  g_hash_table_unref (pod->labels);
  g_hash_table_unref (pod->selectors);
  g_array_unref (pod->containers);
  g_free (pod);
}

static void
copy_texts (GHashTable *from, GHashTable *to)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, from);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_hash_table_insert (to, g_strdup (key), g_strdup (value));
}

QuoitWebhookPod *
quoit_webhook_pod_copy (const QuoitWebhookPod *pod)
{
  QuoitWebhookPod *copy = quoit_webhook_pod_new ();

  copy_texts (pod->labels, copy->labels);
  copy_texts (pod->selectors, copy->selectors);
  for (guint i = 0; i < pod->containers->len; i++)
    quoit_webhook_copy_container (quoit_webhook_container (pod->containers, i), copy->containers);
  return copy;
}

static void
set_text (GHashTable *texts, const char *key, const char *value)
{
  if (value == NULL)
    g_hash_table_remove (texts, key);
  else
    g_hash_table_replace (texts, g_strdup (key), g_strdup (value));
}

static gint
by_text (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

char **
quoit_webhook_dup_texts (GHashTable *texts)
{
  g_autoptr (GPtrArray) pairs = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, texts);
  while (g_hash_table_iter_next (&iter, &key, &value))
    g_ptr_array_add (pairs, g_strdup_printf ("%s=%s", (char *) key, (char *) value));
  g_ptr_array_sort (pairs, by_text);
  g_ptr_array_add (pairs, NULL);
  return (char **) g_ptr_array_free (g_steal_pointer (&pairs), FALSE);
}

void
quoit_webhook_pod_set_label (QuoitWebhookPod *pod, const char *key, const char *value)
{
  g_return_if_fail (pod != NULL && key != NULL);

  set_text (pod->labels, key, value);
}

void
quoit_webhook_pod_set_selector (QuoitWebhookPod *pod, const char *key, const char *value)
{
  g_return_if_fail (pod != NULL && key != NULL);

  set_text (pod->selectors, key, value);
}

void
quoit_webhook_pod_add_variable (QuoitWebhookPod *pod, const char *name, const char *value)
{
  g_return_if_fail (pod != NULL && pod->containers->len > 0 && name != NULL);

  quoit_webhook_add_variable (pod->containers, pod->containers->len - 1,
                              (QuoitWebhookVariable) { g_strdup (name), g_strdup (value), NULL, QUOIT_WEBHOOK_OWN });
}

static const char *
text_or_empty (GHashTable *texts, const char *key)
{
  const char *text = g_hash_table_lookup (texts, key);

  return text != NULL ? text : "";
}

const char *
quoit_webhook_pod_label (const QuoitWebhookPod *pod, const char *key)
{
  return text_or_empty (pod->labels, key);
}

const char *
quoit_webhook_pod_selector (const QuoitWebhookPod *pod, const char *key)
{
  return text_or_empty (pod->selectors, key);
}

guint
quoit_webhook_count_tpu_containers (const QuoitWebhookPod *pod)
{
  guint n = 0;

  for (guint i = 0; i < pod->containers->len; i++)
    n += quoit_webhook_wants_tpu (quoit_webhook_container (pod->containers, i));
  return n;
}

gint64
quoit_webhook_pod_chips (const QuoitWebhookPod *pod)
{
  guint64 chips = 0;

  for (guint i = 0; i < pod->containers->len; i++)
    {
      const QuoitWebhookContainer *container = quoit_webhook_container (pod->containers, i);
      gint64 e4 = container->request.e4 != 0 ? container->request.e4 : container->limit.e4;

      chips += (guint64) (e4 / QUOIT_AMOUNT_UNIT + (e4 % QUOIT_AMOUNT_UNIT > 0));
    }
  return (gint64) chips;
}
