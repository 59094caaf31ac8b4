/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "api/input.h"

#include "base/label-names.h"

QuoitInput *
quoit_input_new (QuoitSourceKind kind, const char *text, size_t length)
{
  QuoitInput *input;

  g_return_val_if_fail (text != NULL, NULL);
  g_return_val_if_fail (kind >= QUOIT_SOURCE_KIND_FLEET && kind <= QUOIT_SOURCE_KIND_K8S_NODES, NULL);

  input = g_new0 (QuoitInput, 1);
  input->kind = kind;
  input->nodes = g_bytes_new (text, length);
  return input;
}

void
quoit_input_free (QuoitInput *input)
{
  if (input == NULL)
    return;
  quoit_added_nodes_free (input->added);
  g_clear_pointer (&input->nodes, g_bytes_unref);
  g_clear_pointer (&input->groups, g_bytes_unref);
  g_clear_pointer (&input->available, g_bytes_unref);
  g_clear_pointer (&input->pods, g_bytes_unref);
  g_strfreev (input->variables);
  g_free (input->source);
  g_free (input->join);
  g_free (input->topology);
  g_free (input);
}

void
quoit_input_set_source (QuoitInput *input, const char *source)
{
  g_return_if_fail (input != NULL);

  g_free (input->source);
  input->source = g_strdup (source);
}

void
quoit_input_set_variables (QuoitInput *input, const char *const *variables)
{
  g_return_if_fail (input != NULL);

  g_strfreev (input->variables);
  input->variables = g_strdupv ((char **) variables);
}

void
quoit_input_set_join (QuoitInput *input, const char *source)
{
  g_return_if_fail (input != NULL);

  g_free (input->join);
  input->join = g_strdup (source);
}

static void
replace_bytes (GBytes **bytes, const char *text, size_t length)
{
  g_clear_pointer (bytes, g_bytes_unref);
  if (text != NULL)
    *bytes = g_bytes_new (text, length);
}

void
quoit_input_set_list (QuoitInput *input, QuoitListKind kind, const char *text, size_t length)
{
  GBytes **lists[] = { [QUOIT_LIST_RAY_GROUPS] = &input->groups,
                       [QUOIT_LIST_RAY_AVAILABLE] = &input->available,
                       [QUOIT_LIST_K8S_PODS] = &input->pods };

  g_return_if_fail (input != NULL && kind >= QUOIT_LIST_RAY_GROUPS && kind <= QUOIT_LIST_K8S_PODS);

  replace_bytes (lists[kind], text, length);
}

void
quoit_input_set_topology (QuoitInput *input, const char *topology)
{
  g_return_if_fail (input != NULL);

  g_free (input->topology);
  input->topology = g_strdup (topology);
}

bool
quoit_input_set_tpu_per_chip (QuoitInput *input, int64_t n_devices, GError **error)
{
  g_return_val_if_fail (input != NULL, false);

  if (n_devices < 1 || n_devices > 64)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "TPU per chip '%" G_GINT64_FORMAT "': expected 1 to 64",
                       (gint64) n_devices);
  input->tpu_per_chip = (guint) n_devices;
  return true;
}

void
quoit_input_set_complete (QuoitInput *input)
{
  g_return_if_fail (input != NULL);

  input->flags |= QUOIT_RAY_COMPLETE;
}

/* --- added nodes --- */

QuoitInput *
quoit_input_new_nodes (void)
{
  QuoitInput *input = g_new0 (QuoitInput, 1);

  input->kind = QUOIT_SOURCE_KIND_RAY_NODES;
  input->added = quoit_added_nodes_new ();
  return input;
}

static gboolean
check_has_nodes (const QuoitInput *input, GError **error)
{
  return input->added != NULL
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "the input has the text of a source: expected one of quoit_input_new_nodes()");
}

bool
quoit_input_add_node (QuoitInput *input, const char *id, const char *name, const char *address, QuoitNodeState state,
                      GError **error)
{
  g_return_val_if_fail (input != NULL, false);

  return check_has_nodes (input, error) && quoit_added_nodes_add (input->added, id, name, address, state, error);
}

bool
quoit_input_set_node_pool (QuoitInput *input, const char *pool, GError **error)
{
  g_return_val_if_fail (input != NULL && pool != NULL, false);

  return check_has_nodes (input, error)
         && quoit_added_nodes_set_label (input->added, QUOIT_RAY_LABEL_NODE_GROUP, pool, error);
}

bool
quoit_input_set_node_slice (QuoitInput *input, const char *slice, int64_t worker_id, const char *accelerator,
                            const char *topology, GError **error)
{
  g_return_val_if_fail (input != NULL && slice != NULL && accelerator != NULL && topology != NULL, false);

  return check_has_nodes (input, error)
         && quoit_added_nodes_set_slice (input->added, slice, worker_id, accelerator, topology, error);
}

bool
quoit_input_set_node_label (QuoitInput *input, const char *key, const char *value, GError **error)
{
  g_return_val_if_fail (input != NULL && key != NULL && value != NULL, false);

  return check_has_nodes (input, error) && quoit_added_nodes_set_label (input->added, key, value, error);
}

bool
quoit_input_set_node_resource (QuoitInput *input, const char *resource, QuoitAmount amount, GError **error)
{
  g_return_val_if_fail (input != NULL && resource != NULL, false);

  return check_has_nodes (input, error) && quoit_added_nodes_set_resource (input->added, resource, amount, error);
}

bool
quoit_input_remove_node (QuoitInput *input, const char *id, GError **error)
{
  g_return_val_if_fail (input != NULL && id != NULL, false);

  return check_has_nodes (input, error) && quoit_added_nodes_remove (input->added, id, error);
}

/* --- reading --- */

static const char *
input_text (GBytes *bytes, gsize *length)
{
  /* GBytes returns NULL for empty data, but readers expect an empty text. */
  const char *text = bytes == NULL ? NULL : g_bytes_get_data (bytes, length);

  return bytes != NULL && text == NULL ? "" : text;
}

static QuoitClaims *
read_k8s (const QuoitInput *input, GError **error)
{
  QuoitK8sFiles files = { .source = input->source };

  files.nodes = input_text (input->nodes, &files.n_nodes);
  files.pods = input_text (input->pods, &files.n_pods);
  return quoit_read_k8s_files (&files, error);
}

/* @flags: QuoitRayFlags in addition to those of the input */
static QuoitClaims *
read_ray (const QuoitInput *input, guint flags, GError **error)
{
  QuoitRayFiles files = { .added = input->added,
                          .source = input->source,
                          .topology = input->topology,
                          .tpu_per_chip = input->tpu_per_chip,
                          .flags = input->flags | flags };

  files.nodes = input_text (input->nodes, &files.n_nodes);
  files.groups = input_text (input->groups, &files.n_groups);
  files.available = input_text (input->available, &files.n_available);
  return quoit_read_ray_files (&files, error);
}

static QuoitClaims *
read_claims (const QuoitInput *input, GError **error)
{
  gsize length = 0;
  const char *text = input_text (input->nodes, &length);

  switch (input->kind)
    {
    case QUOIT_SOURCE_KIND_FLEET:
      return quoit_read_fleet_text (text, length, input->source, error);
    case QUOIT_SOURCE_KIND_RAYCLUSTER:
      return quoit_read_raycluster (text, length, input->source, (const char *const *) input->variables, error);
    case QUOIT_SOURCE_KIND_RAY_NODES:
      return read_ray (input, 0, error);
    case QUOIT_SOURCE_KIND_K8S_NODES:
      return read_k8s (input, error);
    default:
      g_assert_not_reached ();
    }
}

QuoitClaims *
quoit_input_read_workload (const QuoitInput *input, QuoitWorkload *workload, GError **error)
{
  gsize length = 0;
  const char *text = input_text (input->nodes, &length);

  if (input->kind != QUOIT_SOURCE_KIND_RAYCLUSTER || text == NULL)
    {
      quoit_fail (error, QUOIT_ERROR_INVALID, "the input is no manifest: expected one of kind raycluster");
      return NULL;
    }
  return quoit_read_workload (text, length, input->source, (const char *const *) input->variables, workload, error);
}

static gboolean
check_is_complete (const QuoitInput *input, GError **error)
{
  guint n_removed = 0;

  if (input->added != NULL)
    quoit_added_nodes_removed (input->added, &n_removed);
  return n_removed == 0
         || quoit_fail (error, QUOIT_ERROR_INVALID,
                        "the input removes nodes: expected that of an update only; the nodes that an import or a sync "
                        "does not contain are removed");
}

QuoitClaims *
quoit_input_read (const QuoitInput *input, GError **error)
{
  QuoitClaims *claims = check_is_complete (input, error) ? read_claims (input, error) : NULL;

  if (claims != NULL)
    quoit_claims_set_join (claims, input->join);
  return claims;
}

QuoitClaims *
quoit_input_read_update (const QuoitInput *input, const char *const **removed, guint *n_removed, GError **error)
{
  QuoitClaims *claims;

  if (!check_has_nodes (input, error))
    return NULL;
  if (input->groups != NULL || input->available != NULL || input->pods != NULL)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID,
                            "the input has a list of the whole cluster: expected none in an update of a few nodes");
  claims = read_ray (input, QUOIT_RAY_UPDATE, error);
  if (claims == NULL)
    return NULL;
  quoit_claims_set_join (claims, input->join);
  *removed = quoit_added_nodes_removed (input->added, n_removed);
  return claims;
}
