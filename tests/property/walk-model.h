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
  gboolean external, lost;
  guint64 group; /* 0: none */
} ModelNode;

/* Bundles of so many whole chips each. */
typedef struct {
  guint n, chips; /* n 0: slices are wished for */
  QuoitStrategy strategy;
  QuoitPolicy policy;
  gboolean in_one_slice;
} BundleWish;

typedef struct {
  char *name, *key, *owner;     /* NULL: none */
  guint shape, n_slices, least; /* least 0: all or none */
  int pool, zone;               /* -1: any; N_POOLS: one that is not there */
  int selector;                 /* of selectors[], -1: none */
  char *slice, *excluded;       /* NULL: none */
  gint64 lease_ms;              /* 0: none */
  BundleWish bundles;
} Wish;

/* A group, live or remembered. */
typedef struct {
  guint64 id;
  Wish wish;
  char *request;         /* all that "the same request" compares but name and owner */
  GHashTable *seats;     /* of bundles: node -> how many are there; NULL: it has slices */
  QuoitGroupState state; /* HELD, RESERVED, REMOVED */
  gint64 until_ms, ended_ms;
  gboolean expired;
} ModelGroup;

typedef struct {
  guint64 id;
  gint64 until_ms;
  gboolean ended; /* by its lease; else it is set */
} ModelOwner;

typedef struct {
  GHashTable *nodes;  /* name -> ModelNode */
  GHashTable *owners; /* name -> ModelOwner */
  GPtrArray *groups;  /* of ModelGroup, by id */
  guint64 last_id, seq;
  gint64 clock_ms;
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
  const char *text;
  gboolean holds[2]; /* for each zone */
} Selector;
extern const Selector selectors[];
enum { N_SELECTORS = 5 };

Model *model_new (void);
Model *model_copy (const Model *model);
void model_free (Model *model);
/* Puts @from (transfer full) in the place of @to. */
void model_become (Model *to, Model *from);

char *source_text (const Source *source);

typedef enum { IMPORT, SYNC } ImportWay;
/* Whether the source may say that now; and then it does. */
gboolean model_may_import (const Model *model, guint index, const Source *source, ImportWay way);
void model_import (Model *model, guint index, const Source *source);

void wish_clear (Wish *wish);
char *wish_text (const Wish *wish);
/* Slices that satisfy @wish and are free; that could be: all of their workers are known. @n_loose counts those with
 * nothing alive too, whose labels nobody looks at. */
GHashTable *model_free_slices (const Model *model, const Wish *wish);
void model_count_known (const Model *model, const Wish *wish, guint *n_strict, guint *n_loose);
gboolean model_has_pool (const Model *model, guint pool);
gboolean model_has_slice (const Model *model, const char *slice);

/* --- walk-bundles.c: who sits where --- */

/* The chips that bundles have of the node; appends their groups, by id, to @groups (or NULL). */
guint model_seated (const Model *model, const char *node, GPtrArray *groups);
/* Whether the slices of the @index-th source's pool may be of @shape from now on: what a slice is of which hosts with
 * bundles stay, lost, and others come, its nodes vote on, and the model has no vote. */
gboolean model_may_reshape (const Model *model, guint index, guint pool, guint shape);
gboolean model_has_lost_seats (const Model *model, const ModelGroup *group);
char *model_seats_difference (const Model *model, const QuoitSnapshot *snapshot, const ModelGroup *known);

/* --- walk-groups.c: who has what until when --- */

/* The model as it is once all has ended that ends by @now_ms; a copy. */
Model *model_at (const Model *model, gint64 now_ms);
/* An entry is written at @now_ms. */
void model_write (Model *model, gint64 now_ms);

ModelGroup *model_live (const Model *model, const char *name);
ModelGroup *model_keyed (const Model *model, const char *key);
/* The live group that "name" or "name@id" names, or why it is none: in *@code. @id 0: none. */
ModelGroup *model_lookup (const Model *model, const char *name, guint64 id, QuoitErrorCode *code);

/* Makes the next group, which holds @slices; a copy of @wish. */
ModelGroup *model_take (Model *model, const Wish *wish, QuoitGroupState state, gint64 until_ms, GPtrArray *slices);
void model_release (Model *model, ModelGroup *group);
void model_forget (Model *model, ModelGroup *group);
/* The end that is shown: its own or its owner's. */
gint64 model_until (const Model *model, const ModelGroup *group);
QuoitGroupState model_state (const Model *model, const ModelGroup *group);
QuoitGroupSliceState model_slice_state (const Model *model, const char *slice);

/* Full names in order. */
GPtrArray *model_slices_of (const Model *model, const ModelGroup *group);
void model_leave_slice (Model *model, const ModelGroup *group, const char *slice);
void model_take_slice (Model *model, const ModelGroup *group, const char *slice);

ModelOwner *model_owner (const Model *model, const char *name);
/* Frees all that is held in the name; how many groups. */
guint model_end_owner (Model *model, const char *name);

/* Says what is different; NULL: nothing. */
char *model_group_difference (const Model *model, const QuoitSnapshot *snapshot);
char *model_difference (const Model *model, const QuoitSnapshot *snapshot);
