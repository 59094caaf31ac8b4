/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/k8s-pods.h"

#include <string.h>

#include "base/name-hash.h"
#include "base/natural.h"

void
quoit_k8s_pods_clear (QuoitK8sPods *pods)
{
  g_clear_pointer (&pods->pods, g_array_unref);
  g_clear_pointer (&pods->names, g_hash_table_unref);
  g_clear_pointer (&pods->first, g_hash_table_unref);
}

gboolean
quoit_k8s_pods_add (QuoitK8sPods *pods, JsonNode *object, GError **error)
{
  QuoitK8sPod pod;
  char *name;

  if (!quoit_k8s_pod_read (pods->tree, object, &pod, error))
    return FALSE;
  if (pods->pods == NULL)
    {
      pods->pods = g_array_new (FALSE, FALSE, sizeof (QuoitK8sPod));
      pods->names = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
    }
  name = g_strdup_printf ("%s/%s", pod.namespace, pod.name);
  if (g_hash_table_contains (pods->names, name))
    {
      quoit_tree_fail (pods->tree, object, error, "pod '%s': expected each pod once", name);
      g_free (name);
      return FALSE;
    }
  g_hash_table_add (pods->names, name);
  if (pod.node != NULL && !pod.has_ended && (pod.has_chips || pod.is_ray_pod))
    g_array_append_val (pods->pods, pod);
  return TRUE;
}

static gint
by_node (gconstpointer a, gconstpointer b)
{
  const QuoitK8sPod *x = a, *y = b;
  int order = strcmp (x->node, y->node);

  order = order != 0 ? order : y->has_chips - x->has_chips;
  order = order != 0 ? order : x->is_deleting - y->is_deleting;
  order = order != 0 ? order : quoit_natural_compare (x->namespace, y->namespace);
  return order != 0 ? order : quoit_natural_compare (x->name, y->name);
}

void
quoit_k8s_pods_build_index (QuoitK8sPods *pods)
{
  pods->first = g_hash_table_new (quoit_hash_text, g_str_equal);
  if (pods->pods == NULL)
    return;
  g_array_sort (pods->pods, by_node);
  for (guint i = pods->pods->len; i-- > 0;)
    g_hash_table_insert (pods->first, (char *) g_array_index (pods->pods, QuoitK8sPod, i).node,
                         GUINT_TO_POINTER (i + 1));
}

gboolean
quoit_k8s_pods_check_nodes (const QuoitK8sPods *pods, GHashTable *nodes, GError **error)
{
  for (guint i = 0; pods->pods != NULL && i < pods->pods->len; i++)
    {
      const QuoitK8sPod *pod = &g_array_index (pods->pods, QuoitK8sPod, i);

      if (pod->has_chips && !pod->is_deleting && !g_hash_table_contains (nodes, pod->node))
        return quoit_tree_refuse (
            pods->tree, pod->node_name_node,
            "a node in the list of nodes: get both lists from the same cluster, one right after the other", error);
    }
  return TRUE;
}

const QuoitK8sPod *
quoit_k8s_pods_find_on_node (const QuoitK8sPods *pods, const char *node, guint *n)
{
  guint first = GPOINTER_TO_UINT (g_hash_table_lookup (pods->first, node));
  const QuoitK8sPod *all;

  *n = 0;
  if (first == 0)
    return NULL;
  all = &g_array_index (pods->pods, QuoitK8sPod, first - 1);
  while (first - 1 + *n < pods->pods->len && strcmp (all[*n].node, node) == 0)
    ++*n;
  return all;
}

gboolean
quoit_k8s_pods_find_id_pod (const QuoitK8sPods *pods, const char *node, const QuoitK8sPod **id_pod, GError **error)
{
  const QuoitK8sPod *first = NULL;
  guint n;
  const QuoitK8sPod *all = quoit_k8s_pods_find_on_node (pods, node, &n);

  for (guint i = 0; i < n; i++)
    {
      if (all[i].worker_id < 0)
        continue;
      if (first == NULL)
        first = &all[i];
      else if (!all[i].is_deleting && all[i].worker_id != first->worker_id)
        return quoit_tree_fail (pods->tree, all[i].worker_id_node, error,
                                "worker id '%d' of node '%s': expected %d, which pod '%s/%s' on the same node states",
                                all[i].worker_id, node, first->worker_id, first->namespace, first->name);
    }
  *id_pod = first;
  return TRUE;
}
