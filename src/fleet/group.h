/* SPDX-License-Identifier: Apache-2.0 */
/* A group: what one request holds. Immutable and shared once it is made; a new state is a new group.
 *
 * Two more things are kept as groups, because they live as groups do (by name, with an id, in the journal, with a
 * lease): an owner that was made known, which holds no node, and what a source calls used though no group explains it.
 * Their names have a '/', which no name of a caller may have; lists of groups leave them out. */
#pragma once

#include <string.h>

#include <quoit/group.h>

#include "base/amount.h"

/* What a bundle takes of a node that it does not take whole. */
typedef struct {
  const char *resource;
  QuoitAmount amount;
} QuoitTake;

typedef struct {
  guint16 n_takes;
  guint8 chip;            /* the chip that a fraction is of */
  QuoitAmount part;       /* that fraction; 0: none */
  guint64 chips;          /* whole chips, a bit each */
  const QuoitTake *takes; /* sorted by resource, TPU included */
} QuoitBundle;

/* Stored in databases: append only. */
typedef enum {
  QUOIT_HOLDER_SLICES = 0,  /* whole slices */
  QUOIT_HOLDER_BUNDLES = 1, /* bundles wherever they were placed; one that is not placed has node id 0 */
  QUOIT_HOLDER_EXTERNAL
  = 2, /* bundles that no group explains; several a node where they are parts of chips; id 0 likewise */
  QUOIT_HOLDER_OWNER = 3 /* no nodes; what has its name as owner goes when it ends */
} QuoitHolderKind;

/* Why a group has gone. Stored in databases: append only. */
typedef enum {
  QUOIT_END_NONE = 0,
  QUOIT_END_RELEASED = 1,
  QUOIT_END_EXPIRED = 2, /* its lease, or its owner's */
  QUOIT_END_OWNER = 3,   /* its owner ended */
  QUOIT_END_SOURCE = 4   /* its source has it no longer */
} QuoitEnd;

/* One allocation, texts included. Nodes stand slice by slice, within a slice by worker id. */
typedef struct {
  guint64 id;
  gint64 since_ms, ended_ms;
  gint64 until_ms; /* its lease lives while now < until; 0: it has none */
  QuoitGroupState state;
  guint8 kind; /* QuoitHolderKind */
  guint8 end;  /* QuoitEnd */
  guint32 n_slices, n_nodes;
  guint32 name_hash, key_hash;
  const char *name, *owner, *key; /* "": none */
  const char *request;            /* what was asked, in canonical form: what "the same request" compares */
  const char *source;             /* whose it is, when a source has made it; "": a caller of this ledger */
  const char *foreign_id;         /* its id there */
  const guint32 *slice_end;       /* the nodes of slice i end before node_ids[slice_end[i]] */
  const guint32 *node_ids;        /* durable */
  const QuoitBundle *bundles;     /* one a node; NULL: every node is taken whole */
  gatomicrefcount refs;           /* of quoit_group_data_new()'s; nobody else looks at it */
} QuoitGroupData;

/* What is said of a group, to be said otherwise: all but its references, which others may be counting. */
static inline QuoitGroupData
quoit_group_data_facts (const QuoitGroupData *group)
{
  QuoitGroupData facts;

  memcpy (&facts, group, G_STRUCT_OFFSET (QuoitGroupData, refs));
  facts.refs = 0;
  return facts;
}

/* Copies everything that @data points to; hashes are computed here. */
QuoitGroupData *quoit_group_data_new (const QuoitGroupData *data);

/* Whether the parts of @data are those of its kind, and its bundles, names and times such that everything else may
 * count on them: what comes from a file is looked at before anybody uses it. Enumerations and texts are there already.
 * INVALID.
 */
gboolean quoit_group_data_check (const QuoitGroupData *data, GError **error);

/* The same without the nodes, for which there is room: the caller writes them, n_slices and n_nodes in number, before
 * anybody else sees the group. */
QuoitGroupData *quoit_group_data_alloc (const QuoitGroupData *data, guint32 **slice_end, guint32 **node_ids);
QuoitGroupData *quoit_group_data_ref (const QuoitGroupData *data);
void quoit_group_data_unref (QuoitGroupData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroupData, quoit_group_data_unref)

guint32 quoit_group_text_hash (const char *text);

/* What callers call a group. */
static inline gboolean
quoit_group_is_listed (const QuoitGroupData *group)
{
  return group->kind <= QUOIT_HOLDER_BUNDLES;
}

/* The nodes of a group of slices; bundles of one node stand together. 0 for any other group. */
guint32 quoit_group_count_hosts (const QuoitGroupData *group);
/* Of a GPtrArray of groups. */
gint quoit_group_by_id (gconstpointer a, gconstpointer b);
/* How much of the resource the bundle takes, in ten-thousandths. */
gint64 quoit_bundle_take_of (const QuoitBundle *bundle, const char *resource);
gboolean quoit_bundle_equal (const QuoitBundle *a, const QuoitBundle *b);
/* Whether both have the same of the same nodes, in the same order. */
gboolean quoit_group_same_nodes (const QuoitGroupData *a, const QuoitGroupData *b);
/* "chips 0,1: CPU 1, TPU 2", "0.5 of chip 3: TPU 0.5", "CPU 1". Owned. */
char *quoit_bundle_text (const QuoitBundle *bundle);

/* "owner/NAME", "external/SOURCE": the name of the record. Owned. */
char *quoit_owner_record_name (const char *owner);
const char *quoit_owner_of_record (const QuoitGroupData *record);
char *quoit_external_record_name (const char *source);
