/* SPDX-License-Identifier: Apache-2.0 */
/* KubeRay's labels say it; where there are none, the pods that there are: an order that a loss in the middle upsets. */
#include "topology/webhook-index.h"

#include <string.h>

#include "model/webhook-hosts.h"

/* A host of a replica that has been made. */
typedef struct {
  gint64 replica, host;
} Place;

static gboolean
read_label (const QuoitWebhookPod *pod, const char *key, gint64 *value, GError **error)
{
  const char *text = quoit_webhook_pod_label (pod, key);
  g_autofree char *quoted = NULL;

  if (quoit_webhook_integer (text, value))
    return TRUE;
  quoted = quoit_quote (text);
  return quoit_fail (error, QUOIT_ERROR_INVALID, "label %s %s: expected an integer", key, quoted);
}

/* "GROUP-3": Go's integer of what is no number is 0, and of what is too large the largest. */
static gint64
replica_of (const char *label)
{
  const char *dash = strrchr (label, '-'), *text = dash != NULL ? dash + 1 : label;
  gint64 replica = 0;

  if (!quoit_webhook_integer (text, &replica) && *text != '\0' && strspn (text, "0123456789") == strlen (text))
    replica = G_MAXINT64;
  return replica;
}

/* The worker id of the first container that has a number, over the containers; FALSE with an error where one has none
 * at all. @is_known: there is such a number. */
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

static gint
by_place (gconstpointer a, gconstpointer b)
{
  const Place *x = a, *y = b;

  if (x->replica != y->replica)
    return x->replica < y->replica ? -1 : 1;
  return (x->host > y->host) - (x->host < y->host);
}

/* Sorted; NULL on failure. Behind a pod without TPUs the webhook looks no further. */
static GArray *
find_places (const QuoitWebhookPod *const *others, GError **error)
{
  g_autoptr (GArray) places = g_array_new (FALSE, FALSE, sizeof (Place));

  for (; others != NULL && *others != NULL && quoit_webhook_count_tpu_containers (*others) > 0; others++)
    {
      const char *label = quoit_webhook_pod_label (*others, QUOIT_WEBHOOK_REPLICA_LABEL);
      Place place = { replica_of (label), 0 };
      gboolean is_known;

      if (*label == '\0')
        continue;
      if (!find_host (*others, &place.host, &is_known, error))
        return NULL;
      if (is_known)
        g_array_append_val (places, place);
    }
  g_array_sort (places, by_place);
  return g_steal_pointer (&places);
}

static guint
end_of_replica (const GArray *places, guint first)
{
  const Place *all = (const Place *) (gconstpointer) places->data;
  guint end = first;

  while (end < places->len && all[end].replica == all[first].replica)
    end++;
  return end;
}

/* The lowest replica that has room, else as many as there are: which may be one that there is. */
static gint64
choose_replica (const GArray *places, gint32 n_hosts)
{
  gint64 n_replicas = 0;

  for (guint first = 0, end; first < places->len; first = end)
    {
      gint64 replica = g_array_index (places, Place, first).replica;

      end = end_of_replica (places, first);
      if ((gint64) (end - first) < n_hosts && replica < G_MAXINT32)
        return replica;
      n_replicas++;
    }
  return n_replicas;
}

/* The lowest number that no pod of the replica has. */
static gboolean
choose_host (const GArray *places, gint64 replica, gint64 *host, GError **error)
{
  gint64 last = 0, next = 0;
  guint n_seen = 0;

  for (guint i = 0; i < places->len; i++)
    {
      const Place *place = &g_array_index (places, Place, i);

      if (place->replica != replica)
        continue;
      if (n_seen++ > 0 && place->host == last)
        return quoit_fail (error, QUOIT_ERROR_INVALID,
                           "TPU_WORKER_ID of the pods of replica '%" G_GINT64_FORMAT
                           "': expected each once, found host '%" G_GINT64_FORMAT "' twice",
                           replica, last);
      last = place->host;
      if (place->host != next)
        break;
      next++;
    }
  *host = next;
  return TRUE;
}

gboolean
quoit_webhook_index (const QuoitWebhookPod *pod, const QuoitWebhookPod *const *others, gint32 n_hosts,
                     QuoitWebhookIndex *index, GError **error)
{
  static const char replica_key[] = "ray.io/worker-group-replica-index", host_key[] = "ray.io/replica-host-index";
  QuoitWebhookIndex found = { 0, 0, QUOIT_WEBHOOK_OF_KUBERAY };
  g_autoptr (GArray) places = NULL;

  if (g_hash_table_contains (pod->labels, replica_key) && g_hash_table_contains (pod->labels, host_key))
    {
      if (!read_label (pod, replica_key, &found.replica, error) || !read_label (pod, host_key, &found.host, error))
        return FALSE;
      *index = found;
      return TRUE;
    }
  places = find_places (others, error);
  if (places == NULL)
    return FALSE;
  found.how = QUOIT_WEBHOOK_COUNTED;
  found.replica = choose_replica (places, n_hosts);
  if (!choose_host (places, found.replica, &found.host, error))
    return FALSE;
  *index = found;
  return TRUE;
}
