/* SPDX-License-Identifier: Apache-2.0 */
#include "models/webhook/places.h"

#include <string.h>

#include "models/webhook/hosts.h"

typedef struct {
  gint64 number;
  gint64 n_pods;
  GHashTable *hosts;     /* host number (gint64) -> number of pods with it */
  gint64 next;           /* all smaller host numbers are in use */
  gint64 lowest_double;  /* the lowest host number that two pods have */
  gboolean has_negative; /* the webhook scans the numbers in order and stops at a negative one */
} Replica;

struct _QuoitWebhookPlaces {
  gint32 n_hosts;
  GHashTable *replicas; /* number -> Replica */
  GTree *roomy;         /* the replicas with free hosts */
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

QuoitWebhookPlaces *
quoit_webhook_places_new (gint32 n_hosts)
{
  QuoitWebhookPlaces *places = g_new (QuoitWebhookPlaces, 1);

  places->n_hosts = n_hosts;
  places->replicas = g_hash_table_new_full (g_int64_hash, g_int64_equal, NULL, replica_free);
  places->roomy = g_tree_new_full (by_number, NULL, NULL, NULL);
  return places;
}

void
quoit_webhook_places_free (QuoitWebhookPlaces *places)
{
  if (places == NULL)
    return;
  g_tree_unref (places->roomy);
  g_hash_table_unref (places->replicas);
  g_free (places);
}

/* --- reading a pod --- */

/* Reads the replica from "GROUP-3". As in Go, text that is not a number gives 0, and a number that is too large
 * gives the largest integer. */
static gint64
replica_of (const char *label)
{
  const char *dash = strrchr (label, '-'), *text = dash != NULL ? dash + 1 : label;
  gint64 replica = 0;

  if (!quoit_webhook_integer (text, &replica) && *text != '\0' && strspn (text, "0123456789") == strlen (text))
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
      if (!quoit_webhook_integer (text, &id))
        continue;
      *host = id / quoit_webhook_count_tpu_containers (pod);
      *is_known = *host != -1;
      return TRUE;
    }
  return TRUE;
}

/* --- counting --- */

static Replica *
take_replica (QuoitWebhookPlaces *places, gint64 number)
{
  Replica *replica = g_hash_table_lookup (places->replicas, &number);

  if (replica != NULL)
    return replica;
  replica = g_new0 (Replica, 1);
  replica->number = number;
  replica->lowest_double = G_MAXINT64;
  replica->hosts = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  g_hash_table_insert (places->replicas, &replica->number, replica);
  /* The webhook stores replica numbers in 32 bits. */
  if (places->n_hosts > 0 && number < G_MAXINT32)
    g_tree_insert (places->roomy, &replica->number, replica);
  return replica;
}

static void
take_host (QuoitWebhookPlaces *places, Replica *replica, gint64 host)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (replica->hosts, &host));

  g_hash_table_replace (replica->hosts, g_memdup2 (&host, sizeof host), GUINT_TO_POINTER (n + 1));
  if (n > 0)
    replica->lowest_double = MIN (replica->lowest_double, host);
  replica->has_negative |= host < 0;
  replica->n_pods++;
  if (replica->n_pods == places->n_hosts)
    g_tree_remove (places->roomy, &replica->number);
}

gboolean
quoit_webhook_places_add (QuoitWebhookPlaces *places, const QuoitWebhookPod *pod, GError **error)
{
  const char *label = quoit_webhook_pod_label (pod, QUOIT_WEBHOOK_REPLICA_LABEL);
  gboolean is_known;
  gint64 host = 0;

  if (*label == '\0')
    return TRUE;
  if (!find_host (pod, &host, &is_known, error))
    return FALSE;
  if (is_known)
    take_host (places, take_replica (places, replica_of (label)), host);
  return TRUE;
}

/* --- choosing --- */

static gint64
choose_replica (const QuoitWebhookPlaces *places)
{
  GTreeNode *lowest = g_tree_node_first (places->roomy);

  return lowest != NULL ? ((const Replica *) g_tree_node_value (lowest))->number
                        : (gint64) g_hash_table_size (places->replicas);
}

static gboolean
choose_host (Replica *replica, gint64 *host, GError **error)
{
  *host = 0;
  if (replica == NULL || replica->has_negative)
    return TRUE;
  while (g_hash_table_contains (replica->hosts, &replica->next))
    replica->next++;
  if (replica->lowest_double < replica->next)
    return quoit_fail (error, QUOIT_ERROR_INVALID,
                       "TPU_WORKER_ID of the pods of replica '%" G_GINT64_FORMAT
                       "': expected each once, found host '%" G_GINT64_FORMAT "' twice",
                       replica->number, replica->lowest_double);
  *host = replica->next;
  return TRUE;
}

gboolean
quoit_webhook_places_choose (QuoitWebhookPlaces *places, gint64 *replica, gint64 *host, GError **error)
{
  gint64 number = choose_replica (places), free_host;

  if (!choose_host (g_hash_table_lookup (places->replicas, &number), &free_host, error))
    return FALSE;
  *replica = number;
  *host = free_host;
  return TRUE;
}
