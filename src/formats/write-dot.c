/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a graph in DOT, the language of Graphviz. Names are escaped, so that they can neither end their quotes nor
 * be taken for the escape sequences of a label. */
#include "formats/graph.h"

#include "base/hidden.h"

static const char *const edge_styles[QUOIT_N_EDGE_TYPES] = {
  [QUOIT_EDGE_CONTAINS] = "color=gray",
  [QUOIT_EDGE_ICI] = "dir=none, color=blue, constraint=false",
  [QUOIT_EDGE_DCN] = "dir=none, style=dashed, constraint=false",
  [QUOIT_EDGE_HOLDS] = "color=red, constraint=false",
};

static const char *const shapes[QUOIT_N_VERTEX_TYPES] = {
  [QUOIT_VERTEX_FLEET] = "house",   [QUOIT_VERTEX_SOURCE] = "folder", [QUOIT_VERTEX_POOL] = "tab",
  [QUOIT_VERTEX_SLICE] = "box3d",   [QUOIT_VERTEX_NODE] = "box",      [QUOIT_VERTEX_CHIP] = "square",
  [QUOIT_VERTEX_GROUP] = "ellipse",
};

static void
append_text (GString *out, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text, -1);

  for (const char *p = valid; *p != '\0'; p = g_utf8_next_char (p))
    {
      gunichar c = g_utf8_get_char (p);
      gsize n = (gsize) (g_utf8_next_char (p) - p);

      if (c == '"' || c == '\\')
        g_string_append_printf (out, "\\%c", (char) c);
      else if (quoit_is_hidden (c))
        for (gsize i = 0; i < n; i++)
          g_string_append_printf (out, "\\\\x%02x", (guchar) p[i]);
      else
        g_string_append_len (out, p, n);
    }
}

static void
append_vertex (GString *out, const QuoitGraph *graph, guint32 index, QuoitPoint point)
{
  const QuoitVertex *vertex = &g_array_index (graph->vertices, QuoitVertex, index);

  g_string_append_printf (out, "  v%u [shape=%s, label=\"", index, shapes[vertex->type]);
  append_text (out, vertex->name);
  g_string_append_printf (out, "\", tooltip=\"%s", quoit_vertex_type_name (vertex->type));
  for (guint32 i = 0; i < vertex->n_facts; i++)
    {
      const QuoitFact *fact = &g_array_index (graph->facts, QuoitFact, vertex->first_fact + i);

      g_string_append (out, "\\n");
      append_text (out, fact->key);
      g_string_append (out, ": ");
      append_text (out, fact->value);
    }
  g_string_append_printf (out, "\", pos=\"%d,%d\"%s];\n", point.x, -point.y, vertex->is_down ? ", style=dotted" : "");
}

static void
append_edge (GString *out, QuoitEdgeType type, guint32 from, guint32 to, const char *detail)
{
  g_string_append_printf (out, "  v%u -> v%u [class=%s, %s", from, to, quoit_edge_type_name (type), edge_styles[type]);
  if (detail != NULL)
    {
      g_string_append (out, ", label=\"");
      append_text (out, detail);
      g_string_append_c (out, '"');
    }
  g_string_append (out, "];\n");
}

char *
quoit_write_dot (const QuoitGraph *graph)
{
  GString *out = g_string_new ("digraph fleet {\n");
  g_autofree QuoitPoint *points = quoit_graph_place (graph);

  for (guint32 i = 0; i < graph->vertices->len; i++)
    append_vertex (out, graph, i, points[i]);
  for (guint32 i = 0; i < graph->vertices->len; i++)
    {
      const QuoitVertex *vertex = &g_array_index (graph->vertices, QuoitVertex, i);

      if (vertex->parent != i)
        append_edge (out, QUOIT_EDGE_CONTAINS, vertex->parent, i, NULL);
    }
  for (guint32 i = 0; i < graph->edges->len; i++)
    {
      const QuoitEdge *edge = &g_array_index (graph->edges, QuoitEdge, i);

      append_edge (out, edge->type, edge->from, edge->to, edge->detail);
    }
  g_string_append (out, "}\n");
  return g_string_free (out, FALSE);
}
