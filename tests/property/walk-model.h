/* SPDX-License-Identifier: Apache-2.0 */
/* A ledger in a few tables: slow, small, and made independently of the library, which it is compared with. Names are
 * full names (source/pool/name). */
#pragma once

#include "../ground.h"

enum { N_SOURCES = 3, N_POOLS = 3, MOST_SLICES = 5, MOST_HOSTS = 4 };

typedef struct {
  const char *accelerator, *topology;
  guint hosts, chips; /* chips of a host */
} Shape;
extern const Shape shapes[];
enum { N_SHAPES = 5 }; /* the last one is never in the fleet */

typedef struct {
  char *slice;
  guint shape, pool, zone;
  QuoitNodeState state, claimed;
  gboolean external;
  guint64 group; /* 0: none */
} ModelNode;

typedef struct {
  guint64 id;
  char *name, *key, *owner; /* "": none */
  char *request;            /* all that "the same request" compares */
} ModelGroup;

typedef struct {
  GHashTable *nodes; /* name -> ModelNode */
  GHashTable *live;  /* name -> ModelGroup */
  GHashTable *keys;  /* key -> ModelGroup, live or not */
  guint64 last_id;
} Model;

/* What a source may say: a letter a node, '.' alive, 'd' draining, 'x' dead, 'b' used. */
typedef struct {
  guint n_slices, shape, zone;
  char marks[MOST_SLICES * MOST_HOSTS];
} Pool;
typedef struct {
  Pool pools[N_POOLS];
} Source;

typedef struct {
  char *name, *key, *owner;
  guint shape, n_slices;
  int pool, zone;         /* -1: any; N_POOLS: one that is not there */
  int selector;           /* of selectors[], -1: none */
  char *slice, *excluded; /* NULL: none */
} Wish;

typedef struct {
  const char *text;
  gboolean holds[2]; /* for each zone */
} Selector;
extern const Selector selectors[];
enum { N_SELECTORS = 5 };

Model *model_new (void);
Model *model_copy (const Model *model);
void model_free (Model *model);

char *source_text (const Source *source);

/* Whether the source may say that now; and then it does. */
gboolean model_may_import (const Model *model, guint index, const Source *source);
void model_import (Model *model, guint index, const Source *source);

char *wish_text (const Wish *wish);
/* Slices that satisfy @wish and are free; that could be: all of their workers are known. @n_loose counts those with
 * nothing alive too, whose labels nobody looks at. */
GHashTable *model_free_slices (const Model *model, const Wish *wish);
void model_count_known (const Model *model, const Wish *wish, guint *n_strict, guint *n_loose);
gboolean model_has_pool (const Model *model, guint pool);

void model_reserve (Model *model, guint64 id, const Wish *wish, GPtrArray *slices);
QuoitGroupState model_state (const Model *model, const ModelGroup *group);
void model_release (Model *model, const ModelGroup *group);

/* Says what is different; NULL: nothing. */
char *model_difference (const Model *model, const QuoitSnapshot *snapshot);
