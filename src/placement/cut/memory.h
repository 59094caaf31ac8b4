/* SPDX-License-Identifier: Apache-2.0 */
/* What was found out about the parts of a class. The layout keeps it from one call to the next, because most slices
 * have the free hosts that they had before, and many slices have the same.
 *
 * A memory refers to the states of nodes that it has seen (QuoitTable), so that writers copy what they change. A slice
 * whose nodes are in the same chunk as before has the same free hosts, and is not read again. */
#pragma once

#include "geometry/places.h"
#include "placement/cut/cutting.h"

/* A set of free hosts. Slices with equal sets share it. */
typedef struct {
  guint32 n_slices; /* that have it, as they were last seen */
  guint32 hash, n_bytes;
  const guint16 *rows;
} QuoitFreeSet;

/* Something that is asked about the free hosts of a slice. */
typedef struct {
  GBytes *key;
  guint64 used;        /* when it was last asked, in calls */
  GHashTable *results; /* QuoitFreeSet -> result, for g_free() */
  GArray *changed;     /* of guint32: positions of slices whose free hosts have changed since @state was made */
  gpointer state;      /* the results of all slices together; NULL: not made */
  GDestroyNotify free_state;
} QuoitCutQuestion;

typedef struct _QuoitCutStore QuoitCutStore;

typedef struct {
  QuoitCutStore *store;
  QuoitGrid grid;
  QuoitPlaceCosts *costs; /* see quoit_cut_memory_costs() */
  QuoitTable nodes;       /* as they were last seen; root NULL: never */
  QuoitFreeSet **at;      /* by position in quoit_cut_store_slices() */
  GHashTable *sets;       /* of QuoitFreeSet */
  GPtrArray *questions;   /* of QuoitCutQuestion */
  guint64 n_asked;
} QuoitCutMemory;

/* Returns what the layout keeps of a class, and of parts that can wrap like @grid; unref it. */
QuoitCutStore *quoit_cut_store_get (const QuoitLayout *layout, const QuoitClass *class, const QuoitGrid *grid);
void quoit_cut_store_unref (QuoitCutStore *store);
/* Returns the slices of the class, of guint32, in the order of the layout. The store owns it. */
GArray *quoit_cut_store_slices (const QuoitCutStore *store);

/* Returns a memory for one user, with the free hosts of @fleet. */
QuoitCutMemory *quoit_cut_memory_take (QuoitCutStore *store, const QuoitFleet *fleet);
/* Keeps the memory for the next user. */
void quoit_cut_memory_keep (QuoitCutMemory *memory);

/* Returns the costs of places, which depend on the class and on the axes that wrap. */
const QuoitPlaceCosts *quoit_cut_memory_costs (QuoitCutMemory *memory);

/* Returns the set with these hosts. It is valid until the memory is kept. */
QuoitFreeSet *quoit_cut_memory_find (QuoitCutMemory *memory, const QuoitHostSet *free);
/* Sets @free to the hosts of the set. */
void quoit_free_set_copy (const QuoitFreeSet *set, QuoitHostSet *free);

/* Returns a question, which is valid until the memory is kept. @what distinguishes questions about equal parts, and
 * @detail those with an equal @what. */
QuoitCutQuestion *quoit_cut_memory_ask (QuoitCutMemory *memory, const QuoitCutting *cutting, guint8 what,
                                        guint64 detail);
