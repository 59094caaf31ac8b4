/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet as a graph of vertices and edges, for programs that draw graphs or use them for scheduling. */
#pragma once

#include "base/error.h"
#include "fleet/fleet.h"

typedef enum {
  QUOIT_VERTEX_FLEET,
  QUOIT_VERTEX_SOURCE,
  QUOIT_VERTEX_POOL,
  QUOIT_VERTEX_SLICE,
  QUOIT_VERTEX_NODE,
  QUOIT_VERTEX_CHIP,
  QUOIT_VERTEX_GROUP,
  QUOIT_N_VERTEX_TYPES
} QuoitVertexType;

typedef enum {
  QUOIT_EDGE_CONTAINS,
  QUOIT_EDGE_ICI,
  QUOIT_EDGE_DCN,
  QUOIT_EDGE_HOLDS,
  QUOIT_N_EDGE_TYPES
} QuoitEdgeType;

typedef struct {
  QuoitVertexType type;
  guint32 parent; /* index of the vertex that contains this one; a vertex without a parent has its own index here */
  gint64 number;  /* JGF's "id": worker id, chip number, group id; for other types an index among the same type */
  const char *name;
  gboolean is_down;
  guint32 first_fact, n_facts;
  gboolean has_place; /* of a chip: place has its x, y and z in the slice */
  guint place[3];
} QuoitVertex;

/* A property of a vertex, such as "state" and "alive". */
typedef struct {
  const char *key, *value;
} QuoitFact;

typedef struct {
  QuoitEdgeType type;
  guint32 from, to;
  const char *detail; /* NULL: none */
} QuoitEdge;

/* The graph owns all texts. */
typedef struct {
  GStringChunk *texts;
  GArray *vertices; /* of QuoitVertex; each parent comes before its children */
  GArray *facts;    /* of QuoitFact */
  GArray *edges;    /* of QuoitEdge; containment is stored only in the vertices */
} QuoitGraph;

QuoitGraph *quoit_graph_new (void);
void quoit_graph_free (QuoitGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGraph, quoit_graph_free)

/* Adds a vertex and returns its index. @parent is the index of an existing vertex, or QUOIT_NO_PARENT. */
#define QUOIT_NO_PARENT G_MAXUINT32
guint32 quoit_graph_add_vertex (QuoitGraph *graph, QuoitVertexType type, guint32 parent, gint64 number,
                                const char *name);
/* Adds a fact to the vertex that was added last. Does nothing if @value is NULL or "". */
void quoit_graph_add_fact (QuoitGraph *graph, const char *key, const char *value);
/* Sets the place of the vertex that was added last, a chip, and adds it as the facts x, y and z. */
void quoit_graph_set_place (QuoitGraph *graph, guint x, guint y, guint z);
void quoit_graph_add_edge (QuoitGraph *graph, QuoitEdgeType type, guint32 from, guint32 to, const char *detail);

const char *quoit_vertex_type_name (QuoitVertexType type);
const char *quoit_edge_type_name (QuoitEdgeType type);

/* A place in a picture, in points; y grows downwards. */
typedef struct {
  gint x, y;
} QuoitPoint;

/* Returns a place for each vertex, so that the chips of slices are grids. g_free() it. */
QuoitPoint *quoit_graph_place (const QuoitGraph *graph);

char *quoit_write_dot (const QuoitGraph *graph);
char *quoit_write_jgf (const QuoitGraph *graph);

/* Returns the graph of a fleet: sources, pools, slices, nodes and chips, their links, and the groups. */
QuoitGraph *quoit_fleet_graph (const QuoitFleet *fleet);
