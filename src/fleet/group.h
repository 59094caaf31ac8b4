/* SPDX-License-Identifier: Apache-2.0 */
/* A group: a named allocation of slices or bundles. QuoitGroupData is immutable and reference-counted. To change a
 * group, the fleet replaces its data by new data.
 *
 * Four other records are stored like groups, because they also have a name, an id, journal entries and an end:
 * registered owners, which have no nodes, the external use of a source, windows of the calendar, and quotas. Their
 * names contain a '/', which names of callers cannot contain. Lists of groups omit them. */
#pragma once

#include <string.h>

#include <quoit/group.h>

#include "base/amount.h"
#include "fleet/labels.h"

/* The amount of one resource that a bundle takes from its node. */
typedef struct {
  const char *resource;
  QuoitAmount amount;
} QuoitTake;

/* The part of a node that a bundle has: amounts of resources and, for TPU, certain chips. */
typedef struct {
  guint16 n_takes;
  guint8 chip;            /* the chip of which the bundle has only a part */
  QuoitAmount part;       /* the part of that chip, below 1; 0: none */
  guint64 chips;          /* chips that the bundle has completely, as bits */
  const QuoitTake *takes; /* sorted by resource; includes TPU */
} QuoitBundle;

/* What a record is. The numbers are stored in databases: only append. */
typedef enum {
  QUOIT_RECORD_SLICES = 0,   /* whole slices */
  QUOIT_RECORD_BUNDLES = 1,  /* bundles on any nodes; node id 0: the bundle is not placed */
  QUOIT_RECORD_EXTERNAL = 2, /* external use, as bundles like in a group; a node can have several */
  QUOIT_RECORD_OWNER = 3,    /* an owner, without nodes; when the owner ends, its groups end */
  QUOIT_RECORD_WINDOW = 4,   /* a window of the calendar, without nodes; see fleet/ahead.h */
  QUOIT_RECORD_QUOTA = 5,    /* a quota, without nodes; see fleet/quota.h */
  QUOIT_RECORD_PARTS = 6,    /* parts of slices: each slice of the group is a box of whole hosts of a slice of the
                              * layout, in the order of the box, x fastest; a bundle has all chips of its host */
  QUOIT_RECORD_CUBES = 7,    /* slices that are joined from cubes: each slice of the group has all hosts of its cubes,
                              * in the order of the joined box, x fastest; see fleet/joined.h */
  QUOIT_LAST_RECORD_KIND = QUOIT_RECORD_CUBES
} QuoitRecordKind;

/* Why a group ended. The numbers are stored in databases: only append. */
typedef enum {
  QUOIT_END_NONE = 0,
  QUOIT_END_RELEASED = 1,
  QUOIT_END_EXPIRED = 2, /* the lease of the group or of its owner expired */
  QUOIT_END_OWNER = 3,   /* a call ended the owner of the group */
  QUOIT_END_SOURCE = 4   /* the source of the group no longer reports it */
} QuoitEnd;

/* Limits of one ledger. Changes beyond them are refused, and so is a file that exceeds them. */
enum {
  QUOIT_MAX_GROUPS = 1000000,       /* records of groups, owners and external use, with those of removed groups */
  QUOIT_MAX_GROUP_TEXT_BYTES = 512, /* of each text of a group except the request; names of callers have at most 253 */
  QUOIT_LONGEST_REQUEST = 4 * 1024 * 1024
};

/* The data of a group, in one allocation with all texts. Nodes are sorted by slice, then by worker id. The worker ids
 * of parts and of joined cubes are those in the slice of the group. */
typedef struct {
  guint64 id;
  gint64 created_ms, ended_ms;
  gint64 begins_ms;       /* of a reservation ahead or a window; 0: the group began when it was made */
  gint64 until_ms;        /* the lease is valid before this time; 0: no lease */
  gint64 expected_end_ms; /* the caller's estimate, which ends nothing; 0: unknown */
  gint32 priority;        /* a greater one is more important */
  QuoitGroupState state;
  guint8 kind; /* QuoitRecordKind */
  guint8 end;  /* QuoitEnd */
  guint16 n_labels;
  guint32 n_slices, n_nodes;
  guint32 name_hash, key_hash;
  const char *name, *owner, *key; /* "": not set */
  const char *request;            /* in canonical form, to compare repeated requests */
  const char *source;             /* the source that created the group; "": a caller of this ledger */
  const char *foreign_id;         /* the id of the group at the source */
  const char *reason;             /* why the group was released, in the caller's words; "": not stated */
  const QuoitLabel *labels;       /* sorted by key */
  const guint32 *slice_end;       /* the nodes of slice i end before node_ids[slice_end[i]] */
  const guint32 *node_ids;        /* durable node ids */
  const QuoitBundle *bundles;     /* one per element of node_ids; NULL: the group has all nodes completely */
  gatomicrefcount refs;           /* private to quoit_group_data_ref() and _unref() */
} QuoitGroupData;

/* Returns a copy of all fields, so that the caller can change some and pass it to quoit_group_data_new(). Does not read
 * the reference count, which other threads may change at the same time. */
static inline QuoitGroupData
quoit_group_data_copy_fields (const QuoitGroupData *group)
{
  QuoitGroupData fields;

  memcpy (&fields, group, G_STRUCT_OFFSET (QuoitGroupData, refs));
  fields.refs = 0;
  return fields;
}

/* Returns a group with deep copies of everything that @data points to. Computes the hashes. */
QuoitGroupData *quoit_group_data_new (const QuoitGroupData *data);

/* Checks data from a file: slices, nodes and bundles must be those of a record of its kind, and names and times must be
 * valid. The caller must have checked enumerations and texts before. Fails with INVALID. */
gboolean quoit_group_data_check (const QuoitGroupData *data, GError **error);

/* Like quoit_group_data_new(), for a group that has all its nodes completely. Ignores the slices and nodes of @data.
 * Leaves slice_end and node_ids, of @n_slices and @n_nodes elements, for the caller to fill before the group is shared.
 * The caller may reduce the number of nodes then. */
QuoitGroupData *quoit_group_data_alloc (const QuoitGroupData *data, guint32 n_slices, guint32 n_nodes);
/* Adds a reference. @data is const because readers share groups and the reference count is not part of the value. */
QuoitGroupData *quoit_group_data_ref (const QuoitGroupData *data);
void quoit_group_data_unref (QuoitGroupData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroupData, quoit_group_data_unref)

/* Returns whether callers see this record as a group. */
static inline gboolean
quoit_group_is_listed (const QuoitGroupData *group)
{
  return group->kind <= QUOIT_RECORD_BUNDLES || group->kind >= QUOIT_RECORD_PARTS;
}

/* Returns whether the group has hosts of slices rather than whole ones: bundles, parts of slices, or joined cubes. */
static inline gboolean
quoit_group_is_by_host (const QuoitGroupData *group)
{
  return group->kind == QUOIT_RECORD_BUNDLES || group->kind >= QUOIT_RECORD_PARTS;
}

/* Returns whether the group has slices of its own: whole ones, parts, or joined cubes. */
static inline gboolean
quoit_group_has_slices (const QuoitGroupData *group)
{
  return group->kind == QUOIT_RECORD_SLICES || group->kind >= QUOIT_RECORD_PARTS;
}

/* Returns whether the group has whole slices. It is then the only user of them. */
static inline gboolean
quoit_group_has_whole_slices (const QuoitGroupData *group)
{
  return group->kind == QUOIT_RECORD_SLICES && group->bundles == NULL;
}

/* Returns where the nodes of the slice begin in node_ids and bundles. */
static inline guint32
quoit_group_first_node (const QuoitGroupData *group, guint32 slice)
{
  return slice == 0 ? 0 : group->slice_end[slice - 1];
}

/* Returns whether the group was made by a caller of this ledger, and lives. */
static inline gboolean
quoit_group_is_callers (const QuoitGroupData *group)
{
  return group->state != QUOIT_GROUP_REMOVED && quoit_group_is_listed (group) && *group->source == '\0';
}

/* Returns the number of different nodes of a group of slices, in which the bundles of a node are adjacent. Returns 0
 * for other groups. */
guint32 quoit_group_count_hosts (const QuoitGroupData *group);
/* Compares elements of a GPtrArray of QuoitGroupData by id. */
gint quoit_group_by_id (gconstpointer a, gconstpointer b);
/* Returns how much of @resource the bundle takes, in ten-thousandths. */
gint64 quoit_bundle_amount (const QuoitBundle *bundle, const char *resource);
gboolean quoit_bundle_equal (const QuoitBundle *a, const QuoitBundle *b);
/* Returns whether both groups have the same bundles on the same nodes, in the same order. */
gboolean quoit_group_same_nodes (const QuoitGroupData *a, const QuoitGroupData *b);
/* Returns text such as "chips 0,1: CPU 1, TPU 2", "0.5 of chip 3: TPU 0.5" or "CPU 1". Owned by the caller. */
char *quoit_bundle_text (const QuoitBundle *bundle);

/* Convert between the name of an owner or source and the name of its record ("owner/NAME", "external/SOURCE"). The
 * caller owns record names. */
char *quoit_owner_record_name (const char *owner);
const char *quoit_owner_record_owner (const QuoitGroupData *record);
char *quoit_external_record_name (const char *source);
char *quoit_window_record_name (const char *window);
const char *quoit_window_record_window (const QuoitGroupData *record);
