/* SPDX-License-Identifier: Apache-2.0 */
/* A model of a ledger in a few tables. It is slow, small, and independent of the library that it is compared with.
 * Names are full names (source/pool/name). */
#pragma once

#include "../support.h"

enum { N_SOURCES = 3, N_POOLS = 3, MOST_SLICES = 5, MOST_CUBES = 4, MOST_HOSTS = 16 };

typedef struct {
  const char *accelerator, *topology;
  guint hosts, chips; /* chips per host */
} Shape;
extern const Shape shapes[];
enum { CUBE_SHAPE = 4, N_SHAPES = 6 }; /* the last one is never in the fleet */

typedef struct {
  char *slice;
  guint shape, pool, zone;
  QuoitNodeState state, claimed;
  gboolean external, lost;
  guint64 group; /* 0: none */
} ModelNode;

/* Bundles with @chips whole chips each. */
typedef struct {
  guint n, chips; /* n 0: the request is for slices */
  QuoitStrategy strategy;
  QuoitPolicy policy;
  gboolean in_one_slice;
  gboolean are_parts; /* each is a part of a slice, with one host */
} BundleSpec;

typedef struct {
  char *name, *key, *owner;     /* NULL: none */
  guint shape, n_slices, least; /* least 0: all or none */
  int pool, zone;               /* -1: any; N_POOLS: one that does not exist */
  int selector;                 /* index into selectors[]; -1: none */
  char *slice, *excluded;       /* NULL: none */
  gint64 lease_ms;              /* 0: none */
  BundleSpec bundles;
  guint n_cubes; /* of each slice, which is joined from them; 0: slices of the fleet */
  gboolean are_adjacent;
} RequestSpec;

enum { N_LABELS = 3 };
extern const char *const label_keys[N_LABELS]; /* sorted */

/* A group, live or remembered. */
typedef struct {
  guint64 id;
  RequestSpec spec;
  char *request;            /* all that a retry with the same key compares, except name and owner */
  GHashTable *n_bundles_on; /* for bundles: node -> number of bundles; NULL: the group has slices */
  GPtrArray *cubes;         /* names of the cubes of joined slices, slice by slice; NULL: other slices */
  QuoitGroupState state;    /* HELD, RESERVED, REMOVED */
  gint64 until_ms, ended_ms;
  gboolean expired;
  const char *labels[N_LABELS]; /* values of label_keys[]; NULL: not set */
  const char *reason;           /* of the release; NULL: none */
} ModelGroup;

typedef struct {
  guint64 id;
  gint64 until_ms;
  gboolean ended; /* by an expired lease; otherwise explicitly */
} ModelOwner;

typedef struct {
  GHashTable *nodes;  /* name -> ModelNode */
  GHashTable *owners; /* name -> ModelOwner */
  GPtrArray *groups;  /* of ModelGroup, by id */
  guint64 last_id, seq;
  gint64 clock_ms;
} Model;

/* A source's description: one letter per node, '.' alive, 'd' draining, 'x' dead, 'b' used. */
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
/* Replaces the content of @to by @from (transfer full). */
void model_become (Model *to, Model *from);

char *source_text (const Source *source);

typedef enum { IMPORT, SYNC } ImportWay;
/* Whether the source may be imported now, and the import itself. */
gboolean model_may_import (const Model *model, guint index, const Source *source, ImportWay way);
void model_import (Model *model, guint index, const Source *source);

void spec_clear (RequestSpec *spec);
char *spec_text (const RequestSpec *spec);
/* The free slices that satisfy @spec, and the number of slices that could satisfy it because all their workers are
 * known. @n_loose also counts those without a live node, whose labels are not checked. */
GHashTable *model_free_slices (const Model *model, const RequestSpec *spec);
void model_count_known (const Model *model, const RequestSpec *spec, guint *n_strict, guint *n_loose);
gboolean model_has_pool (const Model *model, guint pool);
gboolean model_has_slice (const Model *model, const char *slice);
/* Whether the names of the spec still exist. An excluded slice that no longer exists has no effect. */
gboolean model_has_named_objects (const Model *model, const RequestSpec *spec);

/* --- walk-bundles.c: where bundles are placed --- */

/* The chips of the node that bundles use. Appends these groups to @groups (or NULL). */
guint model_used_chips (const Model *model, const char *node, GPtrArray *groups);
/* Whether the slices of the pool may change to @shape. If hosts with bundles stay as lost and others are added, the
 * nodes of a slice vote on its class, which the model does not implement. A group of joined slices keeps its hosts even
 * if they are in other slices then, as when GKE has made the joined slice. */
gboolean model_may_reshape (const Model *model, guint index, guint pool, guint shape);
gboolean model_has_lost_bundles (const Model *model, const ModelGroup *group);
guint model_count_lost_bundles (const Model *model, const ModelGroup *group);
char *model_bundles_difference (const Model *model, const QuoitSnapshot *snapshot, const ModelGroup *known);

/* --- walk-parts.c --- */

/* Whether nodes of one slice have different shapes. They vote on its class, which the model does not implement. */
gboolean model_has_mixed_slices (const Model *model);

/* Whether a part that the spec requests can be on a host of this shape. */
gboolean model_may_cut (guint shape, const RequestSpec *spec);

/* --- walk-cubes.c --- */

/* How the slices and their states differ from the model, or NULL. */
char *model_cubes_difference (const Model *model, const QuoitSnapshot *snapshot, const ModelGroup *known,
                              const QuoitGroup *group);
/* Whether a group of joined slices has the node. */
gboolean model_is_joined (const Model *model, const ModelNode *node);
GPtrArray *model_copy_names (const GPtrArray *names);

/* --- walk-groups.c: groups, leases and owners over time --- */

/* A copy of the model at @now_ms, after all leases that expire by then. */
Model *model_at (const Model *model, gint64 now_ms);
/* Counts a journal entry at @now_ms. */
void model_write (Model *model, gint64 now_ms);

ModelGroup *model_live (const Model *model, const char *name);
ModelGroup *model_keyed (const Model *model, const char *key);
/* The live group "name" or "name@id", or NULL and the reason in *@code. @id 0: none. */
ModelGroup *model_lookup (const Model *model, const char *name, guint64 id, QuoitErrorCode *code);

/* Makes the next group with a copy of @spec and with @slices. */
ModelGroup *model_take (Model *model, const RequestSpec *spec, QuoitGroupState state, gint64 until_ms,
                        GPtrArray *slices);
void model_release (Model *model, ModelGroup *group);
/* The record of the group stays, even without a key, and old records are forgotten. */
void model_release_with_reason (Model *model, ModelGroup *group, const char *reason);

/* --- walk-texts.c --- */

/* How labels or reason of @group differ from the model, or NULL. */
char *model_text_difference (const ModelGroup *known, const QuoitGroup *group);

/* --- walk-groups.c --- */
void model_forget (Model *model, ModelGroup *group);
/* The expiry that is shown: the group's own or its owner's. */
gint64 model_until (const Model *model, const ModelGroup *group);
QuoitGroupState model_state (const Model *model, const ModelGroup *group);
QuoitGroupSliceState model_slice_state (const Model *model, const char *slice);

/* Full names in order. */
GPtrArray *model_slices_of (const Model *model, const ModelGroup *group);
void model_leave_slice (Model *model, const ModelGroup *group, const char *slice);
void model_take_slice (Model *model, const ModelGroup *group, const char *slice);

ModelOwner *model_owner (const Model *model, const char *name);
/* Frees all groups of the owner; returns their number. */
guint model_end_owner (Model *model, const char *name);

/* A description of the difference, or NULL. */
char *model_group_difference (const Model *model, const QuoitSnapshot *snapshot);
char *model_difference (const Model *model, const QuoitSnapshot *snapshot);
