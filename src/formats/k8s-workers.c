/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-workers.h"

#include <stdlib.h>

#include "base/name-hash.h"
#include "base/natural.h"

/* --- slices --- */

/* Compares by slice, then puts dead nodes last, then compares by name. The order matters: if a slice has too many
 * nodes, the last ones get no worker id. */
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
quoit_k8s_rows_count_slice (const QuoitK8sRow *rows, guint n)
{
  guint i = 1;

  while (rows->slice != NULL && i < n && rows[i].pool == rows->pool && g_strcmp0 (rows[i].slice, rows->slice) == 0)
    i++;
  return i;
}

static void
set_largest_n_hosts (QuoitK8sRow *rows, guint n)
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
      n = quoit_k8s_rows_count_slice (&all[i], rows->len - i);
      set_largest_n_hosts (&all[i], n);
    }
}

/* --- worker ids and addresses of pods --- */

/* The state while the pods are applied to the rows. */
typedef struct {
  const QuoitK8sPods *pods;
  guint32 n_without_id;              /* nodes of multi-host slices whose pods have no worker id */
  const QuoitK8sPod *without_id;     /* the first such pod */
  guint32 n_shared_nodes;            /* nodes with several pods */
  const QuoitK8sPod *on_shared_node; /* the first pod of the first such node */
  GHashTable *addresses;             /* address -> the pod that certainly has it */
} PodResults;

/* Checks that no other pod has the address, because other sources identify a node by its address. */
static gboolean
check_address (const PodResults *results, const QuoitK8sPod *pod, GError **error)
{
  const QuoitK8sPod *other = g_hash_table_lookup (results->addresses, pod->address);

  if (other == NULL)
    return g_hash_table_insert (results->addresses, (gpointer) pod->address, (gpointer) pod);
  return quoit_tree_fail (results->pods->tree, pod->object, error,
                          "address '%s' of pod '%s/%s' on node '%s': expected another one, because pod '%s/%s' on node "
                          "'%s' has it",
                          pod->address, pod->namespace, pod->name, pod->node, other->namespace, other->name,
                          other->node);
}

static gboolean
apply_pods_to_row (PodResults *results, QuoitK8sRow *row, QuoitClaims *claims, GError **error)
{
  guint n;
  const QuoitK8sPod *all = quoit_k8s_pods_find_on_node (results->pods, row->name, &n);

  if (n == 0)
    return TRUE;
  if (all->address != NULL)
    row->address = quoit_claims_intern_text (claims, all->address);
  /* A pod that is being deleted, or whose node is dead, may have left its address to another pod. */
  if (all->address != NULL && !all->is_deleting && row->state != QUOIT_NODE_DEAD
      && !check_address (results, all, error))
    return FALSE;
  if (n > 1 && all[1].has_chips == all->has_chips && !all[1].is_deleting && results->n_shared_nodes++ == 0)
    results->on_shared_node = all;
  /* The only host of a slice is always worker 0. */
  if (row->n_hosts < 2)
    return TRUE;
  if (!quoit_k8s_pods_find_id_pod (results->pods, row->name, &row->id_pod, error))
    return FALSE;
  if (row->id_pod == NULL && all->has_chips && results->n_without_id++ == 0)
    results->without_id = all;
  return TRUE;
}

/* Returns whether the worker id is certain. If the pod is being deleted, or its node is dead, another pod may
 * already have the id. */
static gboolean
is_certain (const QuoitK8sRow *row)
{
  return row->id_pod != NULL && !row->id_pod->is_deleting && row->state != QUOIT_NODE_DEAD;
}

static gboolean
refuse_duplicate_id (const PodResults *results, const QuoitK8sRow *row, const QuoitK8sRow *other, GError **error)
{
  return quoit_tree_fail (results->pods->tree, row->id_pod->worker_id_node, error,
                          "worker id '%d' of node '%s': expected another one, because pod '%s/%s' on node '%s' of the "
                          "same slice has it",
                          row->id_pod->worker_id, row->name, other->id_pod->namespace, other->id_pod->name,
                          other->name);
}

/* Checks that the certain worker ids of the slice are valid and unique. Drops uncertain ids that are not. */
static gboolean
check_slice (const PodResults *results, QuoitK8sRow *rows, guint n, GError **error)
{
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL); /* id -> row */

  for (guint i = 0; i < n; i++)
    {
      const QuoitK8sPod *id_pod = rows[i].id_pod;

      if (!is_certain (&rows[i]))
        continue;
      if ((guint32) id_pod->worker_id >= rows->n_hosts)
        return quoit_tree_fail (results->pods->tree, id_pod->worker_id_node, error,
                                "worker id '%d' of node '%s': expected 0 to %u, because slice '%s' has %u hosts",
                                id_pod->worker_id, rows[i].name, rows->n_hosts - 1, rows->slice, rows->n_hosts);
      if (g_hash_table_contains (taken, GINT_TO_POINTER (id_pod->worker_id)))
        return refuse_duplicate_id (results, &rows[i], g_hash_table_lookup (taken, GINT_TO_POINTER (id_pod->worker_id)),
                                    error);
      g_hash_table_insert (taken, GINT_TO_POINTER (id_pod->worker_id), &rows[i]);
    }
  for (guint i = 0; i < n; i++)
    if (rows[i].id_pod != NULL && !is_certain (&rows[i])
        && ((guint32) rows[i].id_pod->worker_id >= rows->n_hosts
            || !g_hash_table_insert (taken, GINT_TO_POINTER (rows[i].id_pod->worker_id), &rows[i])))
      rows[i].id_pod = NULL;
  return TRUE;
}

static void
warn (const PodResults *results, QuoitClaims *claims)
{
  if (results->n_without_id > 0)
    quoit_claims_warn (claims, "pods without a worker id on multi-host slices: %u, such as '%s/%s'",
                       results->n_without_id, results->without_id->namespace, results->without_id->name);
  if (results->n_shared_nodes > 0)
    quoit_claims_warn (claims, "nodes with several pods: %u, such as '%s', which gets the address of '%s/%s'",
                       results->n_shared_nodes, results->on_shared_node->node, results->on_shared_node->namespace,
                       results->on_shared_node->name);
}

gboolean
quoit_k8s_rows_apply_pods (GArray *rows, const QuoitK8sPods *pods, QuoitClaims *claims, GError **error)
{
  QuoitK8sRow *all = (QuoitK8sRow *) (void *) rows->data;
  g_autoptr (GHashTable) addresses = g_hash_table_new (quoit_hash_text, g_str_equal);
  PodResults results = { .pods = pods, .addresses = addresses };

  for (guint i = 0; i < rows->len; i++)
    if (!apply_pods_to_row (&results, &all[i], claims, error))
      return FALSE;
  for (guint i = 0, n; i < rows->len; i += n)
    {
      n = quoit_k8s_rows_count_slice (&all[i], rows->len - i);
      if ((n > 1 || all[i].n_hosts > 1) && !check_slice (&results, &all[i], n, error))
        return FALSE;
    }
  warn (&results, claims);
  return TRUE;
}

/* --- worker ids --- */

static gint
by_name (gconstpointer a, gconstpointer b)
{
  const QuoitK8sRow *const *x = a, *const *y = b;

  return quoit_natural_compare ((*x)->name, (*y)->name);
}

/* Rows without a worker id (-1) come last, in the order of by_slice(). */
static gint
by_worker_id (gconstpointer a, gconstpointer b)
{
  const QuoitK8sRow *x = a, *y = b;

  if (x->worker_id != y->worker_id)
    return (guint32) x->worker_id < (guint32) y->worker_id ? -1 : 1;
  return by_slice (a, b);
}

void
quoit_k8s_rows_assign_ids (QuoitK8sRow *rows, guint n)
{
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);
  g_autofree QuoitK8sRow **unnumbered = g_new (QuoitK8sRow *, n);
  guint32 n_unnumbered = 0, next = 0, n_left;

  for (guint i = 0; i < n; i++)
    if (rows[i].id_pod != NULL)
      g_hash_table_add (taken, GINT_TO_POINTER (rows[i].worker_id = rows[i].id_pod->worker_id));
    else
      unnumbered[n_unnumbered++] = &rows[i];
  n_left = rows->n_hosts - MIN (rows->n_hosts, g_hash_table_size (taken));
  n_left = MIN (n_left, n_unnumbered);
  qsort (unnumbered, n_left, sizeof *unnumbered, by_name);
  for (guint i = 0; i < n_unnumbered; i++)
    {
      while (g_hash_table_contains (taken, GUINT_TO_POINTER (next)))
        next++;
      unnumbered[i]->worker_id = i < n_left ? (gint32) next++ : -1;
    }
  qsort (rows, n, sizeof *rows, by_worker_id);
}
