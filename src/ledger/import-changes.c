/* SPDX-License-Identifier: Apache-2.0 */
/* Describes how a node of a source differs from its previous claim, and lists the changes for the caller. */
#include <string.h>

#include "fleet/kind.h"
#include "ledger/difference.h"

void
quoit_difference_add_change (QuoitDifference *difference, QuoitChangeKind kind, const char *name,
                             char *detail) /* NOLINT: takes @detail */
{
  QuoitNodeChange change = { kind, g_strdup (name), detail, NULL };

  g_array_append_val (difference->changes, change);
}

const QuoitGroupData *
quoit_step_find_own_group (const QuoitFleet *fleet, QuoitNodeId node)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, node);
  const QuoitGroupData *group;

  while ((group = quoit_fleet_users_next (&users)) != NULL)
    if (*group->source == '\0')
      return group;
  return NULL;
}

const QuoitGroupData *
quoit_difference_find_own_group (const QuoitDifference *difference, guint32 index)
{
  return quoit_step_find_own_group (difference->fleet, (QuoitNodeId) { index });
}

gboolean
quoit_difference_is_equal_kind (QuoitDifference *difference, guint32 claimed, guint32 layout_kind)
{
  if (difference->equal_kinds[claimed] == layout_kind)
    return TRUE;
  if (!quoit_node_kind_equal (quoit_claims_kind_at (difference->claims, claimed),
                              quoit_claims_kind_at (difference->fleet->layout->kinds, layout_kind)))
    return FALSE;
  difference->equal_kinds[claimed] = layout_kind;
  return TRUE;
}

static const char *
text_or_none (const char *text)
{
  return text == NULL ? "none" : text;
}

QuoitNodeClaim
quoit_difference_previous_claim (const QuoitDifference *difference, guint32 index, char **identity)
{
  return quoit_layout_claim (difference->fleet->layout, difference->source, (QuoitNodeId) { index }, identity);
}

gboolean
quoit_difference_is_bare_dead_claim (const QuoitDifference *difference, const QuoitNodeClaim *claim,
                                     const QuoitNodeClaim *previous)
{
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  const QuoitNodeKind *before = quoit_claims_kind_at (difference->fleet->layout->kinds, previous->kind);

  if (claim->state != QUOIT_NODE_DEAD || kind->chips == 0)
    return claim->state == QUOIT_NODE_DEAD;
  return quoit_node_kind_is_bare (kind) && quoit_node_kind_same_machine (kind, before)
         && quoit_pairs_equal (kind->labels, kind->n_labels, before->labels, before->n_labels);
}

gboolean
quoit_difference_is_same_machine (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim)
{
  guint32 known = difference->fleet->layout->n_joined == 0 ? index : quoit_difference_find_node (difference, claim);

  return known == index;
}

/* Describes how the kind of the node differs from @before. Sets *@breaks_use if a group cannot keep such a node. */
static char *
describe_kind (const QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim,
               const QuoitNodeKind *before, gboolean *breaks_use)
{
  const QuoitNodeKind *kind = quoit_claims_kind_at (difference->claims, claim->kind);
  gboolean same_machine = quoit_node_kind_same_machine (kind, before);
  gboolean same_tpu = quoit_node_kind_tpu_per_chip (kind).e4 == quoit_node_kind_tpu_per_chip (before).e4;

  /* For a shared node, only the best-informed source determines the kind. */
  *breaks_use = quoit_difference_is_shared (difference, index)
                    ? quoit_difference_changes_hardware (difference, index, claim)
                    : !same_machine || !same_tpu;
  if (!*breaks_use && quoit_difference_has_precedence (difference, index)
      && !quoit_step_kind_has_room (difference->fleet, (QuoitNodeId) { index }, kind))
    return *breaks_use = TRUE, g_strdup ("other resources, too few for the bundles there");
  if (!same_machine)
    return g_strdup ("other topology, pod type or chips");
  return g_strdup (same_tpu ? "other labels or resources" : "another number of devices per chip");
}

/* Returns whether the slice and worker id in the claim of this source count for the node. Kubernetes may only assume a
 * worker id; if Ray states one, Ray's counts. */
static gboolean
determines_place (const QuoitDifference *difference, guint32 index)
{
  return quoit_claims_source_kind (difference->claims) != QUOIT_SOURCE_KIND_K8S_NODES
         || !quoit_difference_is_placed_by_other_source (difference, index)
         || quoit_difference_has_precedence (difference, index);
}

static char *
describe_flags (guint8 previous, guint8 now)
{
  if (((previous ^ now) & QUOIT_NODE_LOST) != 0)
    return g_strdup ("in this source again");
  if (((previous ^ now) & QUOIT_NODE_ASSUMED_ID) != 0)
    return g_strdup ((now & QUOIT_NODE_ASSUMED_ID) != 0 ? "worker id assumed" : "worker id stated");
  return ((previous ^ now) & ~QUOIT_NODE_CAUSE) != 0 ? g_strdup ("other flags") : NULL;
}

char *
quoit_difference_describe_change (QuoitDifference *difference, guint32 index, const QuoitNodeClaim *claim,
                                  gboolean *breaks_use, QuoitNodeEvent *event)
{
  const QuoitLayout *layout = difference->fleet->layout;
  QuoitNodeClaim previous = quoit_difference_previous_claim (difference, index, NULL);
  const char *pool = quoit_layout_text (layout, layout->pools[previous.pool].name);
  const char *new_pool = quoit_claims_pool_at (difference->claims, claim->pool)->name;

  *breaks_use = TRUE;
  *event = QUOIT_NODE_EVENT_CHANGED;
  if (!quoit_difference_is_same_machine (difference, index, claim))
    return g_strdup ("another machine");
  *breaks_use = determines_place (difference, index);
  *event = QUOIT_NODE_EVENT_MOVED;
  if (g_strcmp0 (previous.slice, claim->slice) != 0)
    return g_strdup_printf ("slice %s -> %s", text_or_none (previous.slice), text_or_none (claim->slice));
  if (g_strcmp0 (previous.incarnation, claim->incarnation) != 0)
    return g_strdup ("another incarnation of its slice");
  if (strcmp (pool, new_pool) != 0)
    return g_strdup_printf ("pool %s -> %s", pool, new_pool);
  if (previous.worker_id != claim->worker_id)
    return g_strdup_printf ("worker %d -> %d", previous.worker_id, claim->worker_id);
  *event = QUOIT_NODE_EVENT_CHANGED;
  if (!quoit_difference_is_bare_dead_claim (difference, claim, &previous)
      && !quoit_difference_is_equal_kind (difference, claim->kind, previous.kind))
    return describe_kind (difference, index, claim, quoit_claims_kind_at (layout->kinds, previous.kind), breaks_use);
  *breaks_use = FALSE;
  if (strcmp (previous.name, claim->name) != 0)
    return g_strdup_printf ("name %s -> %s", previous.name, claim->name);
  if (g_strcmp0 (previous.address, claim->address) != 0)
    return g_strdup_printf ("address %s -> %s", text_or_none (previous.address), text_or_none (claim->address));
  return describe_flags (previous.flags, claim->flags);
}
