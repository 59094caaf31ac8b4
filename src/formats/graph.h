/* SPDX-License-Identifier: Apache-2.0 */
/* A fleet as vertices and edges, for programs that draw graphs or schedule by them. */
#pragma once

#include "base/error.h"

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
  guint32 parent; /* the vertex that contains it; its own number: none does */
  gint64 number;  /* worker id or number of the chip; else among those of its type */
  const char *name;
  gboolean is_down;
  guint32 first_fact, n_facts;
} QuoitVertex;

typedef struct {
  const char *key, *value;
} QuoitFact;

typedef struct {
  QuoitEdgeType type;
  guint32 from, to;
  const char *detail; /* NULL: none */
} QuoitEdge;

/* Texts are the graph's. */
typedef struct {
  GStringChunk *texts;
  GArray *vertices; /* of QuoitVertex; parents before what they contain */
  GArray *facts;    /* of QuoitFact */
  GArray *edges;    /* of QuoitEdge, without what vertices say by their parents */
} QuoitGraph;

QuoitGraph *quoit_graph_new (void);
void quoit_graph_free (QuoitGraph *graph);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGraph, quoit_graph_free)

/* @parent: QUOIT_NO_PARENT: none. The vertex's number. */
#define QUOIT_NO_PARENT G_MAXUINT32
guint32 quoit_graph_add (QuoitGraph *graph, QuoitVertexType type, guint32 parent, gint64 number, const char *name);
/* Of the vertex that was added last. NULL and "" say nothing. */
void quoit_graph_say (QuoitGraph *graph, const char *key, const char *value);
void quoit_graph_join (QuoitGraph *graph, QuoitEdgeType type, guint32 from, guint32 to, const char *detail);

const char *quoit_vertex_type_name (QuoitVertexType type);
const char *quoit_edge_type_name (QuoitEdgeType type);

char *quoit_write_dot (const QuoitGraph *graph);
char *quoit_write_jgf (const QuoitGraph *graph);
