/* SPDX-License-Identifier: Apache-2.0 */
/* A group: what one request allocates. A group is immutable and reference-counted; a new state is a new group.
 *
 * Two other records are stored as groups, because they also have a name, an id, journal entries and leases:
 * registered owners, which have no nodes, and the external use of a source. Their names contain a '/', which callers
 * cannot use. Lists of groups omit them. */
#pragma once

#include <string.h>

#include <quoit/group.h>

#include "base/amount.h"

/* An amount that a bundle takes from a node that it does not have wholly. */
typedef struct {
  const char *resource;
  QuoitAmount amount;
} QuoitTake;

typedef struct {
  guint16 n_takes;
  guint8 chip;            /* the chip of the fraction */
  QuoitAmount part;       /* fraction of that chip; 0: no fraction */
  guint64 chips;          /* whole chips, one bit each */
  const QuoitTake *takes; /* sorted by resource, including TPU */
} QuoitBundle;

/* Stored in databases: only append. */
typedef enum {
  QUOIT_HOLDER_SLICES = 0,   /* whole slices */
  QUOIT_HOLDER_BUNDLES = 1,  /* bundles on any nodes; node id 0: not placed */
  QUOIT_HOLDER_EXTERNAL = 2, /* external use, as bundles; several per node for parts of chips; node id 0: not placed */
  QUOIT_HOLDER_OWNER = 3     /* no nodes; when it ends, groups with this owner end */
} QuoitHolderKind;

/* Why a group ended. Stored in databases: only append. */
typedef enum {
  QUOIT_END_NONE = 0,
  QUOIT_END_RELEASED = 1,
  QUOIT_END_EXPIRED = 2, /* its lease or its owner's lease expired */
  QUOIT_END_OWNER = 3,   /* its owner was ended by a call */
  QUOIT_END_SOURCE = 4   /* no longer in its source */
} QuoitEnd;

/* One allocation including its texts. Nodes are sorted by slice, then by worker id. */
typedef struct {
  guint64 id;
  gint64 since_ms, ended_ms;
  gint64 until_ms; /* its lease is valid while now < until; 0: no lease */
  QuoitGroupState state;
  guint8 kind; /* QuoitHolderKind */
  guint8 end;  /* QuoitEnd */
  guint32 n_slices, n_nodes;
  guint32 name_hash, key_hash;
  const char *name, *owner, *key; /* "": not set */
  const char *request;            /* canonical form, for comparing repeated requests */
  const char *source;             /* the source that created it; "": a caller of this ledger */
  const char *foreign_id;         /* its id at the source */
  const guint32 *slice_end;       /* the nodes of slice i end before node_ids[slice_end[i]] */
  const guint32 *node_ids;        /* durable */
  const QuoitBundle *bundles;     /* one per node; NULL: all nodes are taken whole */
  gatomicrefcount refs;           /* private to quoit_group_data_ref() and _unref() */
} QuoitGroupData;

/* Returns a mutable copy of all fields except the reference count, which other threads may change. */
static inline QuoitGroupData
quoit_group_data_facts (const QuoitGroupData *group)
{
  QuoitGroupData facts;

  memcpy (&facts, group, G_STRUCT_OFFSET (QuoitGroupData, refs));
  facts.refs = 0;
  return facts;
}

/* Returns a group with deep copies of everything that @data points to. Computes the hashes. */
QuoitGroupData *quoit_group_data_new (const QuoitGroupData *data);

/* Checks data from a file before it is used: the parts must match the kind, and bundles, names and times must be
 * valid. Enumerations and texts must have been checked before. Fails with INVALID. */
gboolean quoit_group_data_check (const QuoitGroupData *data, GError **error);

/* Like quoit_group_data_new(), but leaves @n_slices slice ends and @n_nodes node ids for the caller to fill before
 * the group is shared. */
QuoitGroupData *quoit_group_data_alloc (const QuoitGroupData *data, guint32 **slice_end, guint32 **node_ids);
QuoitGroupData *quoit_group_data_ref (const QuoitGroupData *data);
void quoit_group_data_unref (QuoitGroupData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroupData, quoit_group_data_unref)

guint32 quoit_group_text_hash (const char *text);

/* Returns whether callers see this record as a group. */
static inline gboolean
quoit_group_is_listed (const QuoitGroupData *group)
{
  return group->kind <= QUOIT_HOLDER_BUNDLES;
}

/* Returns the number of nodes of a group of slices, in which bundles of one node are adjacent. Returns 0 for other
 * groups. */
guint32 quoit_group_count_hosts (const QuoitGroupData *group);
/* Compares elements of a GPtrArray of groups by id. */
gint quoit_group_by_id (gconstpointer a, gconstpointer b);
/* Returns how much of the resource the bundle takes, in ten-thousandths. */
gint64 quoit_bundle_take_of (const QuoitBundle *bundle, const char *resource);
gboolean quoit_bundle_equal (const QuoitBundle *a, const QuoitBundle *b);
/* Returns whether both groups have the same parts of the same nodes, in the same order. */
gboolean quoit_group_same_nodes (const QuoitGroupData *a, const QuoitGroupData *b);
/* Returns text such as "chips 0,1: CPU 1, TPU 2", "0.5 of chip 3: TPU 0.5" or "CPU 1". Owned by the caller. */
char *quoit_bundle_text (const QuoitBundle *bundle);

/* Convert between names and record names ("owner/NAME", "external/SOURCE"). Record names are owned by the caller. */
char *quoit_owner_record_name (const char *owner);
const char *quoit_owner_of_record (const QuoitGroupData *record);
char *quoit_external_record_name (const char *source);
