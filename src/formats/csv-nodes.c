/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a list of nodes as CSV. */
#include "formats/formats.h"
#include "models/ray/label-syntax.h"

static const char header[] = "node,pool,slice,worker,accelerator,topology";

enum { COLUMN_NODE, COLUMN_POOL, COLUMN_SLICE, COLUMN_WORKER, COLUMN_ACCELERATOR, COLUMN_TOPOLOGY, N_COLUMNS };

/* Names become labels and parts of other names, so they must be valid label values. */
static gboolean
check_names (char **cells, GError **error)
{
  for (guint column = COLUMN_NODE; column <= COLUMN_SLICE; column++)
    if (cells[column][0] == '\0')
      return quoit_fail (error, QUOIT_ERROR_INVALID, "column %u is empty: expected a name", column + 1);
    else if (!quoit_label_check_value (cells[column], error))
      return FALSE;
  return TRUE;
}

static gboolean
read_slice (char **cells, QuoitSliceFacts *facts, gint32 *worker, GError **error)
{
  QuoitGeneration generation;
  QuoitShape shape;
  guint64 number;

  if (!quoit_generation_parse (cells[COLUMN_ACCELERATOR], &generation, error)
      || !quoit_shape_parse (cells[COLUMN_TOPOLOGY], &shape, error) || !quoit_shape_check (generation, shape, error)
      || !quoit_slice_facts (generation, shape, 0, facts, error))
    return FALSE;
  if (!g_ascii_string_to_unsigned (cells[COLUMN_WORKER], 10, 0, facts->hosts - 1, &number, NULL))
    {
      g_autofree char *quoted = quoit_quote (cells[COLUMN_WORKER]);

      return quoit_fail (error, QUOIT_ERROR_INVALID, "worker %s: expected 0 to %u", quoted, facts->hosts - 1);
    }
  *worker = (gint32) number;
  return TRUE;
}

static guint32
intern_kind (QuoitClaims *claims, const QuoitSliceFacts *facts)
{
  g_autofree char *topology = quoit_shape_format (facts->shape);
  g_autofree char *pod_type = quoit_pod_type_format (facts->generation, facts->shape);
  const QuoitResource resource = { "TPU", quoit_amount_from_int (facts->chips_per_host) };
  const QuoitNodeKind kind = { .generation = facts->generation,
                               .shape = facts->shape,
                               .topology = topology,
                               .pod_type = pod_type,
                               .chips = facts->chips_per_host,
                               .n_resources = 1,
                               .resources = &resource };

  return quoit_claims_intern_kind (claims, &kind, NULL);
}

static gboolean
read_row (QuoitClaims *claims, GHashTable *names, const char *line, GError **error)
{
  g_auto (GStrv) cells = g_strsplit (line, ",", -1);
  QuoitNodeClaim node = { .state = QUOIT_NODE_ALIVE };
  QuoitSliceFacts facts;

  if (g_strv_length (cells) != N_COLUMNS)
    return quoit_fail (error, QUOIT_ERROR_INVALID, "%u columns: expected %s", g_strv_length (cells), header);
  if (!check_names (cells, error) || !read_slice (cells, &facts, &node.worker_id, error))
    return FALSE;
  if (!g_hash_table_add (names, g_strdup (cells[COLUMN_NODE])))
    return quoit_fail (error, QUOIT_ERROR_INVALID, "node '%s': expected each node once", cells[COLUMN_NODE]);

  node.name = cells[COLUMN_NODE];
  node.slice = cells[COLUMN_SLICE];
  node.pool = quoit_claims_ensure_pool (claims, cells[COLUMN_POOL]);
  node.kind = intern_kind (claims, &facts);
  quoit_claims_add (claims, &node);
  return TRUE;
}

QuoitClaims *
quoit_read_csv_nodes (const char *text, gsize length, const char *source, GError **error)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new (source != NULL ? source : "csv", QUOIT_SOURCE_KIND_CSV_NODES);
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autofree char *copy = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_utf8_validate_len (text, length, NULL))
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "expected UTF-8 text without NUL");
  copy = g_strndup (text, length);
  lines = g_strsplit (copy, "\n", -1);
  if (g_strcmp0 (lines[0], header) != 0)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "line 1: expected %s", header);
  if (g_strv_length (lines) > QUOIT_MAX_NODES)
    return quoit_fail_null (error, QUOIT_ERROR_INVALID, "expected at most %u nodes", (unsigned) QUOIT_MAX_NODES);

  for (guint i = 1; lines[i] != NULL; i++)
    if (lines[i][0] != '\0' && !read_row (claims, names, lines[i], error))
      {
        g_prefix_error (error, "line %u: ", i + 1);
        return NULL;
      }
  return g_steal_pointer (&claims);
}
