/* SPDX-License-Identifier: Apache-2.0 */
#include "api/handles.h"
#include "api/input.h"

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
  g_bytes_unref (input->nodes);
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

static QuoitClaims *
read_claims (const QuoitInput *input, GError **error)
{
  QuoitRayFiles files = {
    .source = input->source, .topology = input->topology, .tpu_per_chip = input->tpu_per_chip, .flags = input->flags
  };

  files.nodes = input_text (input->nodes, &files.n_nodes);
  files.groups = input_text (input->groups, &files.n_groups);
  files.available = input_text (input->available, &files.n_available);
  switch (input->kind)
    {
    case QUOIT_SOURCE_KIND_FLEET:
      return quoit_read_fleet_text (files.nodes, files.n_nodes, input->source, error);
    case QUOIT_SOURCE_KIND_RAYCLUSTER:
      return quoit_read_raycluster (files.nodes, files.n_nodes, input->source, (const char *const *) input->variables,
                                    error);
    case QUOIT_SOURCE_KIND_RAY_NODES:
      return quoit_read_ray_files (&files, error);
    case QUOIT_SOURCE_KIND_K8S_NODES:
      return read_k8s (input, error);
    default:
      g_assert_not_reached ();
    }
}

QuoitClaims *
quoit_input_read (const QuoitInput *input, GError **error)
{
  QuoitClaims *claims = read_claims (input, error);

  if (claims != NULL)
    quoit_claims_set_join (claims, input->join);
  return claims;
}
