/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's own listings as files, and the parsed result as text for tests. */
#pragma once

#include "claims-suite.h"

/* The text of a capture, or NULL if there is none of that state and form. */
static inline char *
capture_text (const char *state, const char *form)
{
  g_autofree char *name = g_strdup_printf ("%s.%s", state, form), *text = NULL;
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "tests", "data", "captures", name, NULL);

  return g_file_get_contents (path, &text, NULL, NULL) ? g_steal_pointer (&text) : NULL;
}

/* Texts as files; @groups and @available may be NULL. */
static inline QuoitClaims *
read_texts (const char *nodes, const char *groups, const char *available, GError **error)
{
  QuoitRayFiles files = { .nodes = nodes,
                          .n_nodes = strlen (nodes),
                          .groups = groups,
                          .n_groups = groups == NULL ? 0 : strlen (groups),
                          .available = available,
                          .n_available = available == NULL ? 0 : strlen (available) };

  return quoit_read_ray_files (&files, error);
}

static inline int
by_line (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *) a, *(const char *const *) b);
}

/* Sorted, because the forms of one list have different orders. */
static inline char *
join_sorted (GPtrArray *lines)
{
  g_autoptr (GPtrArray) owned = lines;

  g_ptr_array_sort (owned, by_line);
  g_ptr_array_add (owned, NULL);
  return g_strjoinv ("; ", (char **) owned->pdata);
}

static inline void
append_takes_text (GString *line, const QuoitBundleClaim *bundle)
{
  for (guint16 i = 0; i < bundle->n_takes; i++)
    {
      g_autofree char *amount = quoit_amount_format (bundle->takes[i].amount);

      g_string_append_printf (line, " %s=%s", bundle->takes[i].name, amount);
    }
}

/* "71fd 'train-a' RESERVED 10.0.0.1 CPU=1 TPU=4, - CPU=1 TPU=4; ...": the start of the id, and the node of each
 * bundle. */
static inline char *
groups_as_text (const QuoitClaims *claims)
{
  static const char *const states[] = { NULL, "HELD", "RESERVED", "RESCHEDULING", "REMOVED", "PENDING" };
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  guint32 n_groups, n_nodes;
  const QuoitGroupClaim *groups = quoit_claims_groups (claims, &n_groups);
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_groups; i++)
    {
      GString *line = g_string_new (NULL);

      g_string_append_printf (line, "%.4s '%s' %s", groups[i].identity, groups[i].name, states[groups[i].state]);
      for (guint32 j = 0; j < groups[i].n_bundles; j++)
        {
          const QuoitBundleClaim *bundle = &groups[i].bundles[j];

          g_string_append_printf (line, "%s %s", j > 0 ? "," : "",
                                  bundle->node == QUOIT_NOT_PLACED ? "-" : nodes[bundle->node].name);
          append_takes_text (line, bundle);
        }
      g_ptr_array_add (lines, g_string_free (line, FALSE));
    }
  return join_sorted (lines);
}

/* "10.0.0.1 CPU=1 TPU=4; ..." */
static inline char *
external_as_text (const QuoitClaims *claims)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func (g_free);
  guint32 n, n_nodes;
  const QuoitBundleClaim *external = quoit_claims_external (claims, &n);
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n; i++)
    {
      GString *line = g_string_new (nodes[external[i].node].name);

      append_takes_text (line, &external[i]);
      g_ptr_array_add (lines, g_string_free (line, FALSE));
    }
  return join_sorted (lines);
}
