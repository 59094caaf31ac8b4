/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-workers.h"

#include <stdlib.h>

#include "base/natural.h"

/* --- slices --- */

/* Orders by slice, then nodes that are not dead before dead ones, then by name. If a slice has too many nodes, the
 * last ones get no place. */
static gint
by_slice (gconstpointer a, gconstpointer b)
{
  const QuoitK8sRow *x = a, *y = b;
  int order;

  if (x->pool != y->pool)
    return x->pool < y->pool ? -1 : 1;
  order = g_strcmp0 (x->slice, y->slice);
  if (order == 0 && x->slice != NULL)
    order = (x->state == QUOIT_NODE_DEAD) - (y->state == QUOIT_NODE_DEAD);
  return order != 0 ? order : quoit_natural_compare (x->name, y->name);
}

guint
quoit_k8s_rows_of_slice (const QuoitK8sRow *rows, guint n)
{
  guint i = 1;

  while (rows->slice != NULL && i < n && rows[i].pool == rows->pool && g_strcmp0 (rows[i].slice, rows->slice) == 0)
    i++;
  return i;
}

static void
level_hosts (QuoitK8sRow *rows, guint n)
{
  guint32 n_hosts = 0;

  for (guint i = 0; i < n; i++)
    n_hosts = MAX (n_hosts, rows[i].n_hosts);
  for (guint i = 0; i < n; i++)
    rows[i].n_hosts = n_hosts;
}

void
quoit_k8s_rows_sort (GArray *rows)
{
  QuoitK8sRow *all = (QuoitK8sRow *) (void *) rows->data;

  g_array_sort (rows, by_slice);
  for (guint i = 0, n; i < rows->len; i += n)
    {
      n = quoit_k8s_rows_of_slice (&all[i], rows->len - i);
      level_hosts (&all[i], n);
    }
}

/* --- worker ids and addresses of pods --- */

typedef struct {
  const QuoitK8sPods *pods;
  guint32 n_silent, n_shared; /* multi-host pods without a worker id; nodes with several pods */
  const QuoitK8sPod *silent, *shared;
  GHashTable *addresses; /* address -> pod that certainly has it */
} Hearing;

/* Addresses must be unique, because other lists identify a node by its address. */
static gboolean
check_address (const Hearing *hearing, const QuoitK8sPod *pod, GError **error)
{
  const QuoitK8sPod *other = g_hash_table_lookup (hearing->addresses, pod->address);

  if (other == NULL)
    return g_hash_table_insert (hearing->addresses, (gpointer) pod->address, (gpointer) pod);
  return quoit_tree_fail (hearing->pods->tree, pod->object, error,
                          "address '%s' of pod '%s/%s' on node '%s': expected another one, as pod '%s/%s' on node '%s' "
                          "has it",
                          pod->address, pod->space, pod->name, pod->node, other->space, other->name, other->node);
}

static gboolean
hear_row (Hearing *hearing, QuoitK8sRow *row, QuoitClaims *claims, GError **error)
{
  guint n;
  const QuoitK8sPod *all = quoit_k8s_pods_on (hearing->pods, row->name, &n);

  if (n == 0)
    return TRUE;
  if (all->address != NULL)
    row->address = quoit_claims_text (claims, all->address);
  /* A pod that is being deleted, or whose node is dead, may have left its address to another pod. */
  if (all->address != NULL && !all->is_leaving && row->state != QUOIT_NODE_DEAD && !check_address (hearing, all, error))
    return FALSE;
  if (n > 1 && all[1].has_chips == all->has_chips && !all[1].is_leaving && hearing->n_shared++ == 0)
    hearing->shared = all;
  /* The only host of a slice is always worker 0. */
  if (row->n_hosts < 2)
    return TRUE;
  if (!quoit_k8s_pods_speaker (hearing->pods, row->name, &row->speaker, error))
    return FALSE;
  if (row->speaker == NULL && all->has_chips && hearing->n_silent++ == 0)
    hearing->silent = all;
  return TRUE;
}

/* Returns whether the worker id is certain. A pod that is being deleted, or whose node is dead, may already have a
 * successor. */
static gboolean
is_firm (const QuoitK8sRow *row)
{
  return row->speaker != NULL && !row->speaker->is_leaving && row->state != QUOIT_NODE_DEAD;
}

static gboolean
refuse_twice (const Hearing *hearing, const QuoitK8sRow *row, const QuoitK8sRow *other, GError **error)
{
  return quoit_tree_fail (hearing->pods->tree, row->speaker->worker_id_node, error,
                          "worker id '%d' of node '%s': expected another one, as pod '%s/%s' on node '%s' of the same "
                          "slice has it",
                          row->speaker->worker_id, row->name, other->speaker->space, other->speaker->name, other->name);
}

/* Checks that the certain worker ids of the slice are valid and unique. Ignores uncertain ids that are not. */
static gboolean
check_slice (const Hearing *hearing, QuoitK8sRow *rows, guint n, GError **error)
{
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL); /* id -> row */

  for (guint i = 0; i < n; i++)
    {
      const QuoitK8sPod *speaker = rows[i].speaker;

      if (!is_firm (&rows[i]))
        continue;
      if ((guint32) speaker->worker_id >= rows->n_hosts)
        return quoit_tree_fail (hearing->pods->tree, speaker->worker_id_node, error,
                                "worker id '%d' of node '%s': expected 0 to %u, as slice '%s' has %u hosts",
                                speaker->worker_id, rows[i].name, rows->n_hosts - 1, rows->slice, rows->n_hosts);
      if (g_hash_table_contains (taken, GINT_TO_POINTER (speaker->worker_id)))
        return refuse_twice (hearing, &rows[i], g_hash_table_lookup (taken, GINT_TO_POINTER (speaker->worker_id)),
                             error);
      g_hash_table_insert (taken, GINT_TO_POINTER (speaker->worker_id), &rows[i]);
    }
  for (guint i = 0; i < n; i++)
    if (rows[i].speaker != NULL && !is_firm (&rows[i])
        && ((guint32) rows[i].speaker->worker_id >= rows->n_hosts
            || !g_hash_table_insert (taken, GINT_TO_POINTER (rows[i].speaker->worker_id), &rows[i])))
      rows[i].speaker = NULL;
  return TRUE;
}

static void
warn (const Hearing *hearing, QuoitClaims *claims)
{
  if (hearing->n_silent > 0)
    quoit_claims_warn (claims, "pods on slices of several hosts that say no worker id: %u, such as '%s/%s'",
                       hearing->n_silent, hearing->silent->space, hearing->silent->name);
  if (hearing->n_shared > 0)
    quoit_claims_warn (claims, "nodes with several such pods: %u, such as '%s': it has the address of '%s/%s' alone",
                       hearing->n_shared, hearing->shared->node, hearing->shared->space, hearing->shared->name);
}

gboolean
quoit_k8s_rows_hear (GArray *rows, const QuoitK8sPods *pods, QuoitClaims *claims, GError **error)
{
  QuoitK8sRow *all = (QuoitK8sRow *) (void *) rows->data;
  g_autoptr (GHashTable) addresses = g_hash_table_new (g_str_hash, g_str_equal);
  Hearing hearing = { .pods = pods, .addresses = addresses };

  for (guint i = 0; i < rows->len; i++)
    if (!hear_row (&hearing, &all[i], claims, error))
      return FALSE;
  for (guint i = 0, n; i < rows->len; i += n)
    {
      n = quoit_k8s_rows_of_slice (&all[i], rows->len - i);
      if ((n > 1 || all[i].n_hosts > 1) && !check_slice (&hearing, &all[i], n, error))
        return FALSE;
    }
  warn (&hearing, claims);
  return TRUE;
}

/* --- worker ids --- */

static gint
by_name (gconstpointer a, gconstpointer b)
{
  const QuoitK8sRow *const *x = a, *const *y = b;

  return quoit_natural_compare ((*x)->name, (*y)->name);
}

/* Rows without a worker id come last, in the order of by_slice(). */
static gint
by_worker_id (gconstpointer a, gconstpointer b)
{
  const QuoitK8sRow *x = a, *y = b;

  if (x->worker_id != y->worker_id)
    return (guint32) x->worker_id < (guint32) y->worker_id ? -1 : 1;
  return by_slice (a, b);
}

void
quoit_k8s_rows_number (QuoitK8sRow *rows, guint n)
{
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);
  g_autofree QuoitK8sRow **others = g_new (QuoitK8sRow *, n);
  guint32 n_others = 0, next = 0, n_left;

  for (guint i = 0; i < n; i++)
    if (rows[i].speaker != NULL)
      g_hash_table_add (taken, GINT_TO_POINTER (rows[i].worker_id = rows[i].speaker->worker_id));
    else
      others[n_others++] = &rows[i];
  n_left = rows->n_hosts - MIN (rows->n_hosts, g_hash_table_size (taken));
  n_left = MIN (n_left, n_others);
  qsort (others, n_left, sizeof *others, by_name);
  for (guint i = 0; i < n_others; i++)
    {
      while (g_hash_table_contains (taken, GUINT_TO_POINTER (next)))
        next++;
      others[i]->worker_id = i < n_left ? (gint32) next++ : -1;
    }
  qsort (rows, n, sizeof *rows, by_worker_id);
}
