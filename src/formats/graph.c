/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/graph.h"

static const char *const vertex_types[QUOIT_N_VERTEX_TYPES] = {
  [QUOIT_VERTEX_FLEET] = "fleet", [QUOIT_VERTEX_SOURCE] = "source", [QUOIT_VERTEX_POOL] = "pool",
  [QUOIT_VERTEX_SLICE] = "slice", [QUOIT_VERTEX_NODE] = "node",     [QUOIT_VERTEX_CHIP] = "chip",
  [QUOIT_VERTEX_GROUP] = "group",
};

static const char *const edge_types[QUOIT_N_EDGE_TYPES] = {
  [QUOIT_EDGE_CONTAINS] = "contains",
  [QUOIT_EDGE_ICI] = "ici",
  [QUOIT_EDGE_DCN] = "dcn",
  [QUOIT_EDGE_HOLDS] = "holds",
};

QuoitGraph *
quoit_graph_new (void)
{
  QuoitGraph *graph = g_new0 (QuoitGraph, 1);

  graph->texts = g_string_chunk_new (65536);
  graph->vertices = g_array_new (FALSE, FALSE, sizeof (QuoitVertex));
  graph->facts = g_array_new (FALSE, FALSE, sizeof (QuoitFact));
  graph->edges = g_array_new (FALSE, FALSE, sizeof (QuoitEdge));
  return graph;
}

void
quoit_graph_free (QuoitGraph *graph)
{
  if (graph == NULL)
    return;
  g_string_chunk_free (graph->texts);
  g_array_unref (graph->vertices);
  g_array_unref (graph->facts);
  g_array_unref (graph->edges);
  g_free (graph);
}

guint32
quoit_graph_add_vertex (QuoitGraph *graph, QuoitVertexType type, guint32 parent, gint64 number, const char *name)
{
  QuoitVertex vertex = { .type = type,
                         .parent = parent == QUOIT_NO_PARENT ? graph->vertices->len : parent,
                         .number = number,
                         .name = g_string_chunk_insert (graph->texts, name),
                         .first_fact = graph->facts->len };

  g_assert (vertex.parent <= graph->vertices->len);
  g_array_append_val (graph->vertices, vertex);
  return graph->vertices->len - 1;
}

void
quoit_graph_add_fact (QuoitGraph *graph, const char *key, const char *value)
{
  QuoitVertex *vertex = &g_array_index (graph->vertices, QuoitVertex, graph->vertices->len - 1);
  QuoitFact fact;

  if (value == NULL || *value == '\0')
    return;
  /* Many vertices share the same few keys and values, so each text is stored once. */
  fact = (QuoitFact) { g_string_chunk_insert_const (graph->texts, key),
                       g_string_chunk_insert_const (graph->texts, value) };
  g_array_append_val (graph->facts, fact);
  vertex->n_facts++;
}

void
quoit_graph_set_place (QuoitGraph *graph, guint x, guint y, guint z)
{
  static const char *const keys[] = { "x", "y", "z" };
  QuoitVertex *vertex = &g_array_index (graph->vertices, QuoitVertex, graph->vertices->len - 1);
  const guint place[] = { x, y, z };

  vertex->has_place = TRUE;
  for (guint axis = 0; axis < G_N_ELEMENTS (place); axis++)
    {
      g_autofree char *text = g_strdup_printf ("%u", place[axis]);

      vertex->place[axis] = place[axis];
      quoit_graph_add_fact (graph, keys[axis], text);
    }
}

void
quoit_graph_add_edge (QuoitGraph *graph, QuoitEdgeType type, guint32 from, guint32 to, const char *detail)
{
  QuoitEdge edge = { type, from, to, detail == NULL ? NULL : g_string_chunk_insert_const (graph->texts, detail) };

  g_array_append_val (graph->edges, edge);
}

const char *
quoit_vertex_type_name (QuoitVertexType type)
{
  return vertex_types[type];
}

const char *
quoit_edge_type_name (QuoitEdgeType type)
{
  return edge_types[type];
}
