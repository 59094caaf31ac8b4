/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the groups of a source and the external use of its nodes. Sources report amounts, but quoit needs chips.
 * This file chooses the chips and keeps them while the bundle stays on its node. */
#include <string.h>

#include "ledger/import-rooms.h"

typedef struct {
  QuoitDifference *difference;
  gint64 time_ms;
  guint64 next_id;
  const QuoitNodeClaim *nodes;
  QuoitImportRooms rooms;
  GHashTable *names;   /* names of groups taken in this import; owned */
  GPtrArray *own;      /* groups of the source in the fleet, by id */
  GHashTable *mine;    /* foreign id -> group, of own */
  GHashTable *claimed; /* foreign ids of the groups in the claims */
  GHashTable *seen;    /* the foreign ids that have been placed in this import */
  GHashTable *ours;    /* bundles that are bundles of this ledger */
} Board;

/* Lists round memory, so that the bundles of a node may sum up to more than the node has. */
static gboolean
is_rounded (const char *resource)
{
  return strcmp (resource, "memory") == 0 || strcmp (resource, "object_store_memory") == 0;
}

/* --- bundles --- */

typedef struct {
  GArray *ids, *bundles; /* of guint32, QuoitBundle */
  GPtrArray *takes;      /* arrays of QuoitTake; the claims own their texts */
} Making;

static void
making_clear (Making *making)
{
  g_array_unref (making->ids);
  g_array_unref (making->bundles);
  g_ptr_array_unref (making->takes);
}

static Making
making_new (void)
{
  return (Making) { g_array_new (FALSE, FALSE, sizeof (guint32)), g_array_new (FALSE, FALSE, sizeof (QuoitBundle)),
                    g_ptr_array_new_with_free_func (g_free) };
}

static gboolean
refuse_bundle (const Board *board, const char *what, const QuoitBundleClaim *claim, const QuoitResource *take,
               QuoitAmount left, GError **error)
{
  g_autofree char *want = quoit_amount_format (take->amount);
  g_autofree char *have = quoit_amount_format (left.e4 < 0 ? (QuoitAmount) { 0 } : left);

  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "%s takes '%s' of %s on node '%s', which has %s left: expected files of one cluster and one moment", what, want,
      take->name, board->nodes[claim->node].name, have);
}

/* Takes the amounts of @claim from its node, but not the chips. @takes must have space for all of them. *@tpu is set
 * to the take of TPU, if there is one. @beyond: amounts that are not counted, per resource of the room; may be NULL. */
static gboolean
take_amounts (Board *board, const QuoitBundleClaim *claim, const char *what, const QuoitAmount *beyond,
              QuoitTake *takes, guint16 *n_takes, QuoitTake **tpu, GError **error)
{
  QuoitImportRoom *room = quoit_import_room (&board->rooms, claim->node);

  for (guint16 t = 0; t < claim->n_takes; t++)
    {
      const QuoitResource *take = &claim->takes[t];
      int place = quoit_import_room_place (room, take->name);
      QuoitAmount amount = take->amount;

      if (place < 0)
        continue;
      amount.e4 -= beyond == NULL ? 0 : beyond[place].e4;
      if (is_rounded (take->name))
        amount.e4 = MIN (amount.e4, room->left[place].e4);
      if (amount.e4 > room->left[place].e4)
        return refuse_bundle (board, what, claim, take, room->left[place], error);
      if (amount.e4 <= 0)
        continue;
      room->left[place].e4 -= amount.e4;
      if (strcmp (take->name, "TPU") == 0)
        *tpu = &takes[*n_takes];
      takes[(*n_takes)++] = (QuoitTake) { take->name, amount };
    }
  return TRUE;
}

static void
append_bundle (Board *board, Making *making, const QuoitBundleClaim *claim, const QuoitBundle *chips,
               const QuoitTake *takes, guint16 n_takes)
{
  QuoitBundle bundle = *chips;

  bundle.takes = takes;
  bundle.n_takes = n_takes;
  g_array_append_val (making->ids, board->difference->claim_ids[claim->node]);
  g_array_append_val (making->bundles, bundle);
}

static gboolean
refuse_chips (const Board *board, const char *what, const QuoitBundleClaim *claim, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: no chip of node '%s' has room for its part of TPU", what,
                     board->nodes[claim->node].name);
}

static QuoitTake *
new_takes (Making *making, guint n)
{
  QuoitTake *takes = g_new0 (QuoitTake, n + 1);

  g_ptr_array_add (making->takes, takes);
  return takes;
}

/* Appends the bundle with the chips that share_out_chips() chose. */
static gboolean
put_down (Board *board, Making *making, const QuoitBundleClaim *claim, const char *what, GError **error)
{
  QuoitImportRoom *room = quoit_import_room (&board->rooms, claim->node);
  QuoitTake *takes = new_takes (making, claim->n_takes), *tpu = NULL;
  QuoitBundle chips = { 0 };
  guint16 n_takes = 0;

  if (!take_amounts (board, claim, what, NULL, takes, &n_takes, &tpu, error))
    return FALSE;
  if (tpu != NULL)
    chips = g_array_index (room->wishes, QuoitChipWish, room->next_wish++).has;
  /* Only for the last bundle: if the node has too little TPU for all, refuse_bundle() gives the better message. */
  if (tpu != NULL && !room->chips_fit && room->next_wish == room->wishes->len)
    return refuse_chips (board, what, claim, error);
  append_bundle (board, making, claim, &chips, takes, n_takes);
  return TRUE;
}

/* As put_down(), for external use. This may be parts of several chips; each part becomes a bundle. */
static gboolean
put_use_down (Board *board, Making *making, const QuoitBundleClaim *claim, GError **error)
{
  QuoitImportRoom *room = quoit_import_room (&board->rooms, claim->node);
  QuoitTake *takes = new_takes (making, claim->n_takes), *tpu = NULL;
  const char *what = "what no group explains";
  g_autoptr (GArray) parts = NULL;
  guint16 n_takes = 0;

  if (!take_amounts (board, claim, what, room->explained, takes, &n_takes, &tpu, error))
    return FALSE;
  parts = tpu == NULL ? NULL : quoit_chips_spread (&room->chips, quoit_import_room_chips_e4 (room, tpu->amount));
  if (tpu != NULL && parts == NULL)
    return refuse_chips (board, what, claim, error);
  for (guint p = 1; parts != NULL && p < parts->len; p++)
    {
      const QuoitBundle *part = &g_array_index (parts, QuoitBundle, p);
      QuoitTake *take = new_takes (making, 1);

      *take = (QuoitTake) { tpu->resource,
                            { (gint64) ((__int128) part->part.e4 * room->tpu_per_chip_e4 / QUOIT_AMOUNT_UNIT) } };
      tpu->amount.e4 -= take->amount.e4;
      append_bundle (board, making, claim, part, take, 1);
    }
  if (n_takes > 0)
    append_bundle (board, making, claim, parts == NULL ? &(QuoitBundle) { 0 } : &g_array_index (parts, QuoitBundle, 0),
                   takes, n_takes);
  return TRUE;
}

/* --- groups --- */

/* Whether a group can have the name. A group of the source that this import removes does not count. */
static gboolean
is_free_name (const Board *board, const char *name)
{
  const QuoitGroupData *bearer = quoit_fleet_find_group (board->difference->fleet, name);

  if (g_hash_table_contains (board->names, name))
    return FALSE;
  return bearer == NULL
         || (g_hash_table_lookup (board->mine, bearer->foreign_id) == bearer
             && !g_hash_table_contains (board->claimed, bearer->foreign_id));
}

/* Returns Ray's name of the group. If that is empty, invalid or in use, returns Ray's id, with a number appended if
 * the id is in use too. The caller owns the name. */
static char *
name_of (Board *board, const QuoitGroupClaim *claim, GError **error)
{
  char *name = g_strdup (claim->name);

  if (*name == '\0' || !is_free_name (board, name) || !quoit_name_check ("group name", name, NULL))
    {
      g_free (name);
      name = g_strdup (claim->identity);
    }
  for (guint n = 2; !is_free_name (board, name); n++)
    {
      g_free (name);
      name = g_strdup_printf ("%s~%u", claim->identity, n);
    }
  if (!quoit_name_check ("group name", name, error))
    return g_free (name), NULL;
  g_hash_table_add (board->names, g_strdup (name));
  return name;
}

/* A bundle without a node has no resources, but its amounts are kept as wanted. */
static void
append_unplaced (Making *making, const QuoitBundleClaim *claim)
{
  QuoitTake *takes = new_takes (making, claim->n_takes);
  QuoitBundle wanted = { .n_takes = claim->n_takes, .takes = takes };
  guint32 nowhere = 0;

  for (guint16 t = 0; t < claim->n_takes; t++)
    takes[t] = (QuoitTake) { claim->takes[t].name, claim->takes[t].amount };
  g_array_append_val (making->ids, nowhere);
  g_array_append_val (making->bundles, wanted);
}

/* Bundles on dead nodes count as not placed. */
static gboolean
is_placed (const Board *board, const QuoitBundleClaim *bundle)
{
  return bundle->node != QUOIT_NOT_PLACED && board->nodes[bundle->node].state != QUOIT_NODE_DEAD;
}

/* Whether a group of this ledger explains the bundle or the use. */
static gboolean
is_explained (Board *board, const QuoitBundleClaim *bundle)
{
  return is_placed (board, bundle)
         && (quoit_import_room (&board->rooms, bundle->node)->is_taken || g_hash_table_contains (board->ours, bundle));
}

/* Returns bundle @i of @before if it is on the node of @claim, otherwise NULL. */
static const QuoitBundle *
stood_there (const Board *board, const QuoitBundleClaim *claim, const QuoitGroupData *before, guint32 i)
{
  return before != NULL && i < before->n_nodes && before->node_ids[i] == board->difference->claim_ids[claim->node]
             ? &before->bundles[i]
             : NULL;
}

/* Chooses chips for all bundles together, because the choices depend on each other. */
static void
share_out_chips (Board *board, const QuoitGroupClaim *claims, guint32 n)
{
  for (guint32 g = 0; g < n; g++)
    {
      const QuoitGroupData *before = g_hash_table_lookup (board->mine, claims[g].identity);

      for (guint32 i = 0, at = 0; i < claims[g].n_bundles; i++)
        {
          const QuoitBundleClaim *bundle = &claims[g].bundles[i];
          QuoitImportRoom *room;

          /* Explained bundles are not part of the group. */
          if (is_explained (board, bundle))
            continue;
          at++;
          if (!is_placed (board, bundle))
            continue;
          room = quoit_import_room (&board->rooms, bundle->node);
          for (guint16 t = 0; t < bundle->n_takes; t++)
            if (strcmp (bundle->takes[t].name, "TPU") == 0 && quoit_import_room_place (room, "TPU") >= 0)
              {
                QuoitChipWish wish = { .want_e4 = quoit_import_room_chips_e4 (room, bundle->takes[t].amount),
                                       .kept = stood_there (board, bundle, before, at - 1) };

                g_array_append_val (room->wishes, wish);
              }
        }
    }
  quoit_import_rooms_share_out (&board->rooms);
}

/* Removes @group from all its nodes until the new nodes of all groups are known. */
static void
lift (Board *board, const QuoitGroupData *group)
{
  g_autofree guint32 *nowhere = g_new0 (guint32, group->n_nodes + 1);
  QuoitGroupData facts = quoit_group_data_facts (group);
  gboolean stands = FALSE;

  for (guint32 i = 0; i < group->n_nodes; i++)
    stands |= group->node_ids[i] != 0;
  facts.node_ids = nowhere;
  /* Only groups keep bundles without a node; external use does not. */
  if (group->kind == QUOIT_HOLDER_EXTERNAL)
    {
      facts.n_nodes = 0;
      facts.bundles = NULL;
    }
  if (stands)
    {
      QuoitEffect effect = { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) };

      g_array_append_val (board->difference->lifted, effect);
    }
}

/* Takes the reference to @after. @before: the group in the fleet; NULL: new. */
static void
put_group (Board *board, const QuoitGroupData *before, QuoitGroupData *after, QuoitChangeKind kind, const char *detail)
{
  QuoitEffect effect
      = { .type = before == NULL ? QUOIT_EFFECT_GROUP_ADDED : QUOIT_EFFECT_GROUP_CHANGED, .group = after };

  if (before != NULL && before->state == after->state && strcmp (before->request, after->request) == 0
      && quoit_group_same_nodes (before, after))
    return quoit_group_data_unref (after);
  if (before != NULL)
    lift (board, before);
  quoit_difference_note (board->difference, kind, kind == QUOIT_CHANGE_EXTERNAL ? after->source : after->name,
                         g_strdup (detail));
  g_array_append_val (board->difference->placed, effect);
}

static QuoitGroupData *
finish (Board *board, const QuoitGroupData *before, QuoitGroupData *facts, Making *making)
{
  facts->n_nodes = making->ids->len;
  facts->node_ids = (const guint32 *) (void *) making->ids->data;
  facts->bundles = (const QuoitBundle *) (void *) making->bundles->data;
  facts->owner = facts->key = "";
  facts->source = quoit_claims_source (board->difference->claims);
  facts->id = before != NULL ? before->id : board->next_id++;
  facts->since_ms = before != NULL ? before->since_ms : board->time_ms;
  return quoit_group_data_new (facts);
}

static gboolean
put_claimed_group (Board *board, const QuoitGroupClaim *claim, GError **error)
{
  const QuoitGroupData *before = g_hash_table_lookup (board->mine, claim->identity);
  g_autofree char *name = before != NULL ? g_strdup (before->name) : name_of (board, claim, error);
  g_autofree char *what = g_strdup_printf ("group '%s'", name);
  QuoitGroupData facts = { .state = (QuoitGroupState) claim->state,
                           .kind = QUOIT_HOLDER_BUNDLES,
                           .name = name,
                           .request = claim->request,
                           .foreign_id = claim->identity };
  Making making;
  guint32 n_explained = 0;
  gboolean ok = TRUE;

  if (name == NULL)
    return FALSE;
  making = making_new ();

  g_hash_table_add (board->seen, (gpointer) claim->identity);
  for (guint32 i = 0; ok && i < claim->n_bundles; i++)
    {
      const QuoitBundleClaim *bundle = &claim->bundles[i];

      if (!is_placed (board, bundle))
        append_unplaced (&making, bundle);
      else if (is_explained (board, bundle))
        n_explained++;
      else
        ok = put_down (board, &making, bundle, what, error);
    }
  /* If groups of this ledger explain all bundles, the group is not recorded a second time. */
  if (ok && n_explained < claim->n_bundles)
    put_group (board, before, finish (board, before, &facts, &making), QUOIT_CHANGE_GROUP,
               before == NULL ? "new" : "other bundles or state");
  else if (ok)
    g_hash_table_remove (board->seen, claim->identity);
  making_clear (&making);
  return ok;
}

/* Removes groups that the source no longer has. */
static void
remove_unseen (Board *board)
{
  for (guint i = 0; i < board->own->len; i++)
    {
      const QuoitGroupData *group = board->own->pdata[i];
      QuoitEffect effect;

      if (g_hash_table_contains (board->seen, group->foreign_id))
        continue;
      effect = quoit_effect_removal (group, QUOIT_END_SOURCE);
      g_array_append_val (board->difference->lifted, effect);
      quoit_difference_note (board->difference, QUOIT_CHANGE_GROUP, group->name, g_strdup ("gone"));
    }
}

static gboolean
put_groups (Board *board, GError **error)
{
  guint32 n;
  const QuoitGroupClaim *claims = quoit_claims_groups (board->difference->claims, &n);

  for (guint32 g = 0; g < n; g++)
    g_hash_table_add (board->claimed, (gpointer) claims[g].identity);
  share_out_chips (board, claims, n);
  for (guint32 g = 0; g < n; g++)
    if (!put_claimed_group (board, &claims[g], error))
      return FALSE;
  remove_unseen (board);
  return TRUE;
}

/* --- external use --- */

static const QuoitGroupData *
find_external (const QuoitDifference *difference)
{
  g_autofree char *name = quoit_external_record_name (quoit_claims_source (difference->claims));

  return quoit_fleet_find_group (difference->fleet, name);
}

static gboolean
put_external (Board *board, GError **error)
{
  const QuoitGroupData *before = find_external (board->difference);
  g_autofree char *name = quoit_external_record_name (quoit_claims_source (board->difference->claims));
  QuoitGroupData facts = { .state = QUOIT_GROUP_RESERVED, .kind = QUOIT_HOLDER_EXTERNAL, .name = name, .request = "" };
  Making making = making_new ();
  guint32 n;
  const QuoitBundleClaim *uses = quoit_claims_external (board->difference->claims, &n);
  gboolean ok = TRUE;

  for (guint32 i = 0; ok && i < n; i++)
    if (is_placed (board, &uses[i]) && !is_explained (board, &uses[i]))
      ok = put_use_down (board, &making, &uses[i], error);
  if (ok && making.ids->len > 0)
    put_group (board, before, finish (board, before, &facts, &making), QUOIT_CHANGE_EXTERNAL,
               before == NULL ? "some nodes are used" : "other nodes, or more or less of them");
  else if (ok && before != NULL)
    {
      QuoitEffect effect = quoit_effect_removal (before, QUOIT_END_SOURCE);

      g_array_append_val (board->difference->lifted, effect);
      quoit_difference_note (board->difference, QUOIT_CHANGE_EXTERNAL, before->source, g_strdup ("none any more"));
    }
  making_clear (&making);
  return ok;
}

/* --- a source that did not report groups or use --- */

/* How many bundles of a group moved to another node, and how many lost their node. */
typedef struct {
  guint32 n_moved, n_left;
} Walk;

static guint32
walk (Walk *walk, const QuoitDifference *difference, guint32 id)
{
  guint32 after = quoit_import_id_after (difference, id);

  walk->n_moved += after != id && after != 0;
  walk->n_left += after != id && after == 0;
  return after;
}

/* An effect that only leaves nodes comes before the nodes change. An effect that moves bundles comes after it,
 * because the new nodes must exist first. */
static void
take_walk (Board *board, const QuoitGroupData *group, QuoitEffect effect, const Walk *walk)
{
  gboolean is_external = group->kind == QUOIT_HOLDER_EXTERNAL;

  if (walk->n_moved > 0)
    lift (board, group);
  g_array_append_val (walk->n_moved > 0 ? board->difference->placed : board->difference->lifted, effect);
  if (walk->n_left > 0)
    quoit_difference_note (board->difference, is_external ? QUOIT_CHANGE_EXTERNAL : QUOIT_CHANGE_GROUP,
                           is_external ? group->source : group->name,
                           g_strdup_printf ("%u bundles stood on nodes that are gone or others", walk->n_left));
}

static void
leave_changed_nodes (Board *board, const QuoitGroupData *group)
{
  g_autofree guint32 *ids = g_new (guint32, group->n_nodes + 1);
  QuoitGroupData facts = quoit_group_data_facts (group);
  Walk steps = { 0 };

  for (guint32 i = 0; i < group->n_nodes; i++)
    ids[i] = walk (&steps, board->difference, group->node_ids[i]);
  if (steps.n_moved == 0 && steps.n_left == 0)
    return;
  facts.node_ids = ids;
  if (group->state == QUOIT_GROUP_RESERVED && steps.n_left > 0)
    facts.state = QUOIT_GROUP_RESCHEDULING;
  take_walk (board, group, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) },
             &steps);
}

/* As leave_changed_nodes(), for external use. Bundles without a node are dropped. */
static void
leave_changed_uses (Board *board, const QuoitGroupData *external)
{
  g_autofree guint32 *ids = g_new (guint32, external->n_nodes + 1);
  g_autofree QuoitBundle *bundles = g_new (QuoitBundle, external->n_nodes + 1);
  QuoitGroupData facts = quoit_group_data_facts (external);
  Walk steps = { 0 };
  guint32 n = 0;

  for (guint32 i = 0; i < external->n_nodes; i++)
    {
      ids[n] = walk (&steps, board->difference, external->node_ids[i]);
      bundles[n] = external->bundles[i];
      n += ids[n] != 0;
    }
  if (steps.n_moved == 0 && steps.n_left == 0)
    return;
  facts.n_nodes = n;
  facts.node_ids = ids;
  facts.bundles = bundles;
  take_walk (board, external,
             n == 0 ? quoit_effect_removal (external, QUOIT_END_SOURCE)
                    : (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) },
             &steps);
}

/* --- entry point --- */

static void
find_mine (Board *board)
{
  const QuoitFleet *fleet = board->difference->fleet;
  const char *source = quoit_claims_source (board->difference->claims);

  for (guint32 slot = 0; slot < fleet->n_slots && board->difference->source.index != QUOIT_NO_INDEX; slot++)
    {
      QuoitGroupData *group = (QuoitGroupData *) quoit_fleet_group_at (fleet, slot);

      if (group != NULL && group->state != QUOIT_GROUP_REMOVED && group->kind == QUOIT_HOLDER_BUNDLES
          && strcmp (group->source, source) == 0)
        {
          g_hash_table_insert (board->mine, (gpointer) group->foreign_id, group);
          g_ptr_array_add (board->own, group);
        }
    }
  g_ptr_array_sort (board->own, quoit_group_by_id);
}

static gboolean
put_all (Board *board, GError **error)
{
  guint scope = quoit_claims_scope (board->difference->claims);
  const QuoitGroupData *external = find_external (board->difference);

  if ((scope & QUOIT_CLAIMS_SAY_GROUPS) != 0 && !put_groups (board, error))
    return FALSE;
  for (guint i = 0; (scope & QUOIT_CLAIMS_SAY_GROUPS) == 0 && i < board->own->len; i++)
    leave_changed_nodes (board, board->own->pdata[i]);
  if ((scope & QUOIT_CLAIMS_SAY_EXTERNAL) != 0)
    return put_external (board, error);
  if (external != NULL)
    leave_changed_uses (board, external);
  return TRUE;
}

gboolean
quoit_difference_of_groups (QuoitDifference *difference, gint64 time_ms, GError **error)
{
  Board board = { .difference = difference, .time_ms = time_ms, .next_id = difference->fleet->next_group_id };
  gboolean ok;

  quoit_import_rooms_init (&board.rooms, difference);
  board.nodes = board.rooms.nodes;
  board.names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  board.own = g_ptr_array_new ();
  board.mine = g_hash_table_new (g_str_hash, g_str_equal);
  board.claimed = g_hash_table_new (g_str_hash, g_str_equal);
  board.seen = g_hash_table_new (g_str_hash, g_str_equal);
  find_mine (&board);
  board.ours = quoit_import_own (&board.rooms, board.mine);
  ok = put_all (&board, error);
  quoit_import_rooms_clear (&board.rooms);
  g_hash_table_unref (board.names);
  g_ptr_array_unref (board.own);
  g_hash_table_unref (board.mine);
  g_hash_table_unref (board.seen);
  g_hash_table_unref (board.claimed);
  g_hash_table_unref (board.ours);
  return ok;
}
