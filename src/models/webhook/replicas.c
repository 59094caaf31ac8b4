/* SPDX-License-Identifier: Apache-2.0 */
#include "models/webhook/replicas.h"

#include <string.h>

#include "models/webhook/hosts.h"

/* A replica that has pods. */
typedef struct {
  gint64 number; /* its index in the group */
  gint64 n_pods;
  GHashTable *hosts;       /* host number (gint64) -> number of pods with it */
  gint64 next;             /* all smaller host indices are in use */
  gint64 lowest_duplicate; /* the lowest host number that two pods have */
  gboolean has_negative;   /* the webhook scans the numbers in order and stops at a negative one */
} Replica;

struct _QuoitWebhookReplicas {
  gint32 n_hosts;
  GHashTable *by_number; /* number -> Replica */
  GTree *incomplete;     /* the replicas with free hosts, by number */
};

static void
replica_free (gpointer data)
{
  Replica *replica = data;

  g_hash_table_unref (replica->hosts);
  g_free (replica);
}

static gint
by_number (gconstpointer a, gconstpointer b, gpointer data G_GNUC_UNUSED)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

QuoitWebhookReplicas *
quoit_webhook_replicas_new (gint32 n_hosts)
{
  QuoitWebhookReplicas *replicas = g_new (QuoitWebhookReplicas, 1);

  replicas->n_hosts = n_hosts;
  replicas->by_number = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, replica_free);
  replicas->incomplete = g_tree_new_full (by_number, NULL, NULL, NULL);
  return replicas;
}

void
quoit_webhook_replicas_free (QuoitWebhookReplicas *replicas)
{
  if (replicas == NULL)
    return;
  g_tree_unref (replicas->incomplete);
  g_hash_table_unref (replicas->by_number);
  g_free (replicas);
}

/* --- reading a pod --- */

/* Reads the replica from "GROUP-3". As in Go, text that is not a number gives 0, and a number that is too large
 * gives the largest integer. */
static gint64
parse_replica (const char *label)
{
  const char *dash = strrchr (label, '-'), *text = dash != NULL ? dash + 1 : label;
  gint64 replica = 0;

  if (!quoit_webhook_parse_integer (text, &replica) && *text != '\0' && strspn (text, "0123456789") == strlen (text))
    replica = G_MAXINT64;
  return replica;
}

/* Finds the host number of a pod: the first TPU_WORKER_ID that is a number, divided by the number of containers with
 * TPUs. *@is_known is FALSE if no container has a number. Returns FALSE with an error if a container before it has
 * no TPU_WORKER_ID. */
static gboolean
find_host (const QuoitWebhookPod *pod, gint64 *host, gboolean *is_known, GError **error)
{
  *is_known = FALSE;
  for (guint i = 0; i < pod->containers->len; i++)
    {
      const QuoitWebhookContainer *container = quoit_webhook_container (pod->containers, i);
      const char *text = quoit_webhook_variable (container, "TPU_WORKER_ID");
      gint64 id;

      if (!quoit_webhook_wants_tpu (container))
        continue;
      if (text == NULL || *text == '\0')
        return quoit_fail (error, QUOIT_ERROR_INVALID, "a pod of the group: expected TPU_WORKER_ID");
      if (!quoit_webhook_parse_integer (text, &id))
        continue;
      *host = id / quoit_webhook_count_tpu_containers (pod);
      *is_known = *host != -1;
      return TRUE;
    }
  return TRUE;
}

/* --- counting --- */

static Replica *
find_or_add_replica (QuoitWebhookReplicas *replicas, gint64 number)
{
  Replica *replica = g_hash_table_lookup (replicas->by_number, &number);

  if (replica != NULL)
    return replica;
  replica = g_new0 (Replica, 1);
  replica->number = number;
  replica->lowest_duplicate = G_MAXINT64;
  replica->hosts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_hash_table_insert (replicas->by_number, &replica->number, replica);
  /* A new replica has free hosts. The webhook stores replica numbers in 32 bits, and never chooses a larger one. */
  if (replicas->n_hosts > 0 && number < G_MAXINT32)
    g_tree_insert (replicas->incomplete, &replica->number, replica);
  return replica;
}

static void
add_host (QuoitWebhookReplicas *replicas, Replica *replica, gint64 host)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (replica->hosts, &host));

  g_hash_table_replace (replica->hosts, g_memdup2 (&host, sizeof host), GUINT_TO_POINTER (n + 1));
  if (n > 0)
    replica->lowest_duplicate = MIN (replica->lowest_duplicate, host);
  replica->has_negative |= host < 0;
  replica->n_pods++;
  if (replica->n_pods == replicas->n_hosts)
    g_tree_remove (replicas->incomplete, &replica->number);
}

gboolean
quoit_webhook_replicas_add_pod (QuoitWebhookReplicas *replicas, const QuoitWebhookPod *pod, GError **error)
{
  const char *label = quoit_webhook_pod_label (pod, QUOIT_WEBHOOK_REPLICA_LABEL);
  gboolean is_known;
  gint64 host = 0;

  if (*label == '\0')
    return TRUE;
  if (!find_host (pod, &host, &is_known, error))
    return FALSE;
  if (is_known)
    add_host (replicas, find_or_add_replica (replicas, parse_replica (label)), host);
  return TRUE;
}

/* --- choosing --- */

static gint64
choose_replica (const QuoitWebhookReplicas *replicas)
{
  GTreeNode *lowest = g_tree_node_first (replicas->incomplete);

  return lowest != NULL ? ((const Replica *) g_tree_node_value (lowest))->number
                        : (gint64) g_hash_table_size (replicas->by_number);
}

static gboolean
choose_host (Replica *replica, gint64 *host, GError **error)
{
  *host = 0;
  if (replica == NULL || replica->has_negative)
    return TRUE;
  while (g_hash_table_contains (replica->hosts, &replica->next))
    replica->next++;
  if (replica->lowest_duplicate < replica->next)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "TPU_WORKER_ID of the pods of replica '%" G_GINT64_FORMAT
                       "': expected each once, found host '%" G_GINT64_FORMAT "' twice",
                       replica->number, replica->lowest_duplicate);
  *host = replica->next;
  return TRUE;
}

gboolean
quoit_webhook_replicas_choose (QuoitWebhookReplicas *replicas, gint64 *replica, gint64 *host, GError **error)
{
  gint64 number = choose_replica (replicas), free_host;

  if (!choose_host (g_hash_table_lookup (replicas->by_number, &number), &free_host, error))
    return FALSE;
  *replica = number;
  *host = free_host;
  return TRUE;
}
