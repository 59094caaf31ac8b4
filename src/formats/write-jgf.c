/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a graph in the JSON graph format that Fluxion, the scheduler of Flux, reads. A vertex has a type, a name,
 * a number and a path per subsystem; an edge has a subsystem. */
#include "formats/graph.h"
#include "formats/writer.h"

#include <string.h>

static const char containment[] = "containment";

static const char *
subsystem_name (QuoitEdgeType type)
{
  return type == QUOIT_EDGE_CONTAINS ? containment : quoit_edge_type_name (type);
}

/* Escapes '/' and '%', so that a name is one part of a path. */
static void
append_path_part (GString *path, const char *name)
{
  g_string_append_c (path, '/');
  for (const char *p = name; *p != '\0'; p++)
    {
      if (*p == '/' || *p == '%')
        g_string_append_printf (path, "%%%02X", (unsigned) *p);
      else
        g_string_append_c (path, *p);
    }
}

/* Returns the path of each vertex. Each parent comes before its children. */
static GPtrArray *
make_paths (const QuoitGraph *graph)
{
  GPtrArray *paths = g_ptr_array_new_full (graph->vertices->len, g_free);

  for (guint32 i = 0; i < graph->vertices->len; i++)
    {
      const QuoitVertex *vertex = &g_array_index (graph->vertices, QuoitVertex, i);
      /* Fluxion treats a path with a single part as the root of its subsystem, and allows one root. So all groups
       * are below /groups. */
      GString *path = g_string_new (vertex->type == QUOIT_VERTEX_GROUP ? "/groups"
                                    : vertex->parent == i              ? NULL
                                                                       : paths->pdata[vertex->parent]);

      append_path_part (path, vertex->name);
      g_ptr_array_add (paths, g_string_free (path, FALSE));
    }
  return paths;
}

static void
write_facts (QuoitWriter *writer, const QuoitGraph *graph, const QuoitVertex *vertex)
{
  quoit_writer_open_object (writer, "properties");
  for (guint32 i = 0; i < vertex->n_facts; i++)
    {
      const QuoitFact *fact = &g_array_index (graph->facts, QuoitFact, vertex->first_fact + i);

      quoit_writer_text (writer, fact->key, fact->value);
    }
  quoit_writer_close (writer);
}

static void
write_vertex (QuoitWriter *writer, const QuoitGraph *graph, guint32 index, const char *path)
{
  const QuoitVertex *vertex = &g_array_index (graph->vertices, QuoitVertex, index);
  const char *type = quoit_vertex_type_name (vertex->type);
  g_autofree char *id = g_strdup_printf ("%u", index);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "id", id);
  quoit_writer_open_object (writer, "metadata");
  quoit_writer_text (writer, "type", type);
  quoit_writer_text (writer, "basename", type);
  quoit_writer_text (writer, "name", vertex->name);
  quoit_writer_integer (writer, "id", vertex->number);
  quoit_writer_integer (writer, "uniq_id", index);
  quoit_writer_integer (writer, "rank", -1);
  quoit_writer_integer (writer, "status", vertex->is_down);
  quoit_writer_boolean (writer, "exclusive", FALSE);
  quoit_writer_text (writer, "unit", "");
  quoit_writer_integer (writer, "size", 1);
  quoit_writer_open_object (writer, "paths");
  quoit_writer_text (writer, vertex->type == QUOIT_VERTEX_GROUP ? subsystem_name (QUOIT_EDGE_HOLDS) : containment,
                     path);
  quoit_writer_close (writer);
  write_facts (writer, graph, vertex);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
}

static void
write_edge (QuoitWriter *writer, QuoitEdgeType type, guint32 from, guint32 to, const char *detail)
{
  g_autofree char *source = g_strdup_printf ("%u", from), *target = g_strdup_printf ("%u", to);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_text (writer, "source", source);
  quoit_writer_text (writer, "target", target);
  quoit_writer_open_object (writer, "metadata");
  quoit_writer_text (writer, "subsystem", subsystem_name (type));
  if (detail != NULL)
    quoit_writer_text (writer, "detail", detail);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
}

char *
quoit_write_jgf (const QuoitGraph *graph)
{
  QuoitWriter *writer = quoit_writer_new ();
  g_autoptr (GPtrArray) paths = make_paths (graph);

  quoit_writer_open_object (writer, NULL);
  quoit_writer_open_object (writer, "graph");
  quoit_writer_open_array (writer, "nodes");
  for (guint32 i = 0; i < graph->vertices->len; i++)
    write_vertex (writer, graph, i, paths->pdata[i]);
  quoit_writer_close (writer);
  quoit_writer_open_array (writer, "edges");
  for (guint32 i = 0; i < graph->vertices->len; i++)
    {
      const QuoitVertex *vertex = &g_array_index (graph->vertices, QuoitVertex, i);

      if (vertex->parent != i)
        write_edge (writer, QUOIT_EDGE_CONTAINS, vertex->parent, i, NULL);
    }
  for (guint32 i = 0; i < graph->edges->len; i++)
    {
      const QuoitEdge *edge = &g_array_index (graph->edges, QuoitEdge, i);

      write_edge (writer, edge->type, edge->from, edge->to, edge->detail);
    }
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  quoit_writer_close (writer);
  return quoit_writer_finish (writer);
}
