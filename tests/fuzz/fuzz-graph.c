/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of a fleet from a list of Kubernetes nodes with any names. Bytes choose the reservations; the texts of the
 * list follow. Fluxion's format must be strict JSON with distinct paths, whose edges connect existing vertices; in
 * Graphviz' format all text must stay inside its quotes. */
#include <quoit/quoit.h>
#include <quoit/models/systems.h>

#include "formats/json.h"
#include "k8s-list.h"
#include "read-back.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

static QuoitLedger *
import (const char *list, FuzzInput *in)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_K8S_NODES, list, strlen (list));
  g_autofree char *source = fuzz_text (in);
  g_autoptr (GError) error = NULL;
  QuoitImport *import;

  if (*source != '\0')
    quoit_input_set_source (input, source);
  import = quoit_ledger_import (ledger, input, NOW, &error);
  fuzz_require_error (import != NULL, error);
  quoit_import_free (import);
  return ledger;
}

static void
reserve (QuoitLedger *ledger, const char *topology, const char *accelerator, const char *name)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  quoit_request_set_topology (request, topology, NULL);
  quoit_request_set_accelerator (request, accelerator, NULL);
  quoit_request_set_slices (request, 1, NULL);
  group = quoit_ledger_reserve (ledger, request, NOW, NULL, &error);
  fuzz_require_error (group != NULL, error);
}

/* --- Fluxion's --- */

static void
require_paths (FuzzValue node, GHashTable *paths)
{
  FuzzValue metadata = fuzz_member (node, "metadata"), of = fuzz_member (metadata, "paths"), at = fuzz_first (of);

  g_assert (at != NULL);
  for (; at != NULL; at = fuzz_next (fuzz_skip (at)))
    {
      g_autofree char *subsystem = fuzz_read_text (at), *path = NULL;

      at = fuzz_skip_blanks (fuzz_skip_string (at));
      at = fuzz_skip_blanks (at + 1);
      path = fuzz_read_text (at);
      g_assert (path[0] == '/' && g_hash_table_add (paths, g_strconcat (subsystem, ":", path, NULL)));
    }
}

static void
require_edge (FuzzValue edge, guint n_vertices)
{
  static const char *const ends[] = { "source", "target" };

  for (guint i = 0; i < G_N_ELEMENTS (ends); i++)
    {
      g_autofree char *end = fuzz_read_text (fuzz_member (edge, ends[i]));
      guint64 vertex;

      g_assert (g_ascii_string_to_unsigned (end, 10, 0, n_vertices - 1, &vertex, NULL));
    }
}

static void
require_jgf (const char *json)
{
  g_autoptr (GHashTable) paths = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  FuzzValue graph, nodes, edges;
  guint n_vertices;

  g_assert (quoit_json_check (json, strlen (json), NULL));
  graph = fuzz_member (fuzz_skip_blanks (json), "graph");
  nodes = fuzz_member (graph, "nodes");
  edges = fuzz_member (graph, "edges");
  n_vertices = fuzz_length (nodes);
  for (FuzzValue node = fuzz_first (nodes); node != NULL; node = fuzz_next (fuzz_skip (node)))
    require_paths (node, paths);
  for (FuzzValue edge = fuzz_first (edges); edge != NULL; edge = fuzz_next (fuzz_skip (edge)))
    require_edge (edge, n_vertices);
}

/* --- Graphviz' --- */

static const char *
skip_quoted (const char *at)
{
  for (at++; *at != '"'; at++)
    {
      g_assert ((guchar) *at >= 0x20 && *at != 0x7f);
      if (*at == '\\')
        {
          at++;
          g_assert (*at == '\\' || *at == '"' || *at == 'n');
        }
    }
  return at;
}

static void
require_dot (const char *text)
{
  gint depth = 0;

  g_assert (g_str_has_prefix (text, "digraph fleet {\n") && g_str_has_suffix (text, "\n}\n"));
  g_assert (g_utf8_validate (text, -1, NULL));
  for (const char *at = text; *at != '\0'; at++)
    if (*at == '"')
      at = skip_quoted (at);
    else
      {
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        g_assert (depth >= 0 && depth <= 2);
        g_assert (g_ascii_isalnum (*at) || strchr ("_->=,; \n{}[]", *at) != NULL);
      }
  g_assert (depth == 0);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const topologies[] = { "2x2", "2x4", "4x4", "2x2x2" }, *const kinds[] = { "v6e", "v4", "tpu7x" };
  FuzzInput in = fuzz_input (data, size);
  const char *topology = topologies[fuzz_byte (&in) % G_N_ELEMENTS (topologies)];
  const char *kind = kinds[fuzz_byte (&in) % G_N_ELEMENTS (kinds)];
  g_autofree char *list = fuzz_write_k8s_list (&in);
  g_autoptr (QuoitLedger) ledger = import (list, &in);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *jgf = NULL, *dot = NULL;

  reserve (ledger, topology, kind, "train");
  snapshot = quoit_ledger_snapshot (ledger);
  jgf = quoit_snapshot_dup_graph (snapshot, QUOIT_GRAPH_FORM_JGF, &error);
  fuzz_require_error (jgf != NULL, error);
  dot = quoit_snapshot_dup_graph (snapshot, QUOIT_GRAPH_FORM_DOT, NULL);
  g_assert ((jgf == NULL) == (dot == NULL));
  if (jgf == NULL)
    return 0;
  require_jgf (jgf);
  require_dot (dot);
  return 0;
}
