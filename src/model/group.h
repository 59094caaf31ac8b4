/* SPDX-License-Identifier: Apache-2.0 */
/* A group: what one request holds. Immutable and shared once it is made; a new state is a new group. */
#pragma once

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

/* One allocation, texts included. Nodes stand slice by slice, within a slice by worker id. */
typedef struct {
  guint64 id;
  gint64 since_ms, ended_ms;
  QuoitGroupState state;
  guint32 n_slices, n_nodes;
  guint32 name_hash, key_hash;
  const char *name, *owner, *key; /* "": none */
  const char *request;            /* what was asked, in canonical form: what "the same request" compares */
  const guint32 *slice_end;       /* the nodes of slice i end before node_ids[slice_end[i]] */
  const guint32 *node_ids;        /* durable */
  const QuoitBundle *bundles;     /* one a node; NULL: every node is taken whole */
  gatomicrefcount refs;           /* of quoit_group_data_new()'s; nobody else looks at it */
} QuoitGroupData;

/* Copies everything that @data points to; hashes are computed here. */
QuoitGroupData *quoit_group_data_new (const QuoitGroupData *data);

/* The same without the nodes, for which there is room: the caller writes them, n_slices and n_nodes in number, before
 * anybody else sees the group. */
QuoitGroupData *quoit_group_data_alloc (const QuoitGroupData *data, guint32 **slice_end, guint32 **node_ids);
QuoitGroupData *quoit_group_data_ref (const QuoitGroupData *data);
void quoit_group_data_unref (QuoitGroupData *data);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitGroupData, quoit_group_data_unref)

guint32 quoit_group_text_hash (const char *text);
