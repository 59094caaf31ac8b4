/* SPDX-License-Identifier: Apache-2.0 */
/* The groups that a source has made, and what is used of its nodes though no group explains it. Sources say amounts,
 * and quoit says chips: which ones is chosen here, and kept as long as the group stands where it stood. */
#include <string.h>

#include "ledger/difference.h"

/* --- what is left of the source's nodes, as its groups are put down --- */

typedef struct {
  const QuoitNodeKind *kind;
  const char *derived[2]; /* what Ray adds: the slice's name, the head; NULL: none */
  QuoitAmount *left;      /* of the kind's resources, then of the derived ones */
  gint32 chip_e4[64];
  guint n_chips;
  gint64 tpu_per_chip_e4;
  gboolean is_taken; /* a group of this ledger has it whole: that is who uses it */
} Room;

typedef struct {
  QuoitDifference *difference;
  gint64 time_ms;
  guint64 next_id;
  const QuoitNodeClaim *nodes;
  Room **rooms;      /* by index of the claims; made when first needed */
  GHashTable *names; /* of groups, taken in this import; owned */
  GPtrArray *heads;  /* texts */
  guint32 n_nodes;
  GPtrArray *own;   /* the source's groups that the fleet has, by id */
  GHashTable *mine; /* the same: foreign id -> group */
  GHashTable *seen; /* of them, those that the claims have again */
} Board;

static void
room_free (gpointer data)
{
  Room *room = data;

  if (room == NULL)
    return;
  g_free (room->left);
  g_free (room);
}

static void
take_share (Room *room, const QuoitBundle *bundle)
{
  for (guint16 t = 0; t < bundle->n_takes; t++)
    for (guint16 r = 0; r < room->kind->n_resources; r++)
      if (strcmp (room->kind->resources[r].name, bundle->takes[t].resource) == 0)
        room->left[r].e4 -= bundle->takes[t].amount.e4;
  for (guint c = 0; c < room->n_chips; c++)
    if ((bundle->chips >> c & 1) != 0)
      room->chip_e4[c] -= QUOIT_AMOUNT_UNIT;
  if (bundle->part.e4 > 0 && bundle->chip < room->n_chips)
    room->chip_e4[bundle->chip] -= (gint32) bundle->part.e4;
}

/* What groups of this ledger leave of the node. */
static void
take_users (const Board *board, Room *room, guint32 id)
{
  const QuoitFleet *fleet = board->difference->fleet;
  guint32 index = id < fleet->layout->n_ids ? fleet->layout->by_id[id] : QUOIT_NO_INDEX;
  const QuoitGroupData *user;
  const QuoitBundle *bundle;

  if (index == QUOIT_NO_INDEX)
    return;
  for (guint i = 0; (user = quoit_fleet_node_user (fleet, (QuoitNodeId) { index }, i, &bundle)) != NULL; i++)
    if (*user->source == '\0' && bundle == NULL)
      room->is_taken = TRUE;
    else if (*user->source == '\0')
      take_share (room, bundle);
}

static Room *
room_of (Board *board, guint32 node)
{
  const QuoitNodeClaim *claim = &board->nodes[node];
  Room *room = board->rooms[node];

  if (room != NULL)
    return room;
  room = board->rooms[node] = g_new0 (Room, 1);
  room->kind = quoit_claims_kind_at (board->difference->claims, claim->kind);
  room->n_chips = MIN (room->kind->chips, G_N_ELEMENTS (room->chip_e4));
  room->left = g_new0 (QuoitAmount, room->kind->n_resources + 2);
  for (guint c = 0; c < room->n_chips; c++)
    room->chip_e4[c] = QUOIT_AMOUNT_UNIT;
  for (guint16 r = 0; r < room->kind->n_resources; r++)
    room->left[r] = room->kind->resources[r].amount;
  room->tpu_per_chip_e4 = quoit_ledger_tpu_per_chip (room->kind).e4;
  if (claim->slice != NULL)
    room->derived[0] = claim->slice;
  if (claim->slice != NULL && claim->worker_id == 0 && room->kind->pod_type != NULL)
    {
      g_ptr_array_add (board->heads, g_strdup_printf ("TPU-%s-head", room->kind->pod_type));
      room->derived[1] = board->heads->pdata[board->heads->len - 1];
    }
  for (guint d = 0; d < 2; d++)
    room->left[room->kind->n_resources + d].e4 = QUOIT_AMOUNT_UNIT;
  take_users (board, room, board->difference->claim_ids[node]);
  return room;
}

/* The resource's place in what is left; -1: the node does not state it, as with what Ray adds for its own use. */
static int
place_of (const Room *room, const char *resource)
{
  for (guint16 r = 0; r < room->kind->n_resources; r++)
    if (strcmp (room->kind->resources[r].name, resource) == 0)
      return r;
  for (int d = 0; d < 2; d++)
    if (g_strcmp0 (room->derived[d], resource) == 0)
      return room->kind->n_resources + d;
  return -1;
}

/* Lists round memory, so that what groups take of it may be more than there is. */
static gboolean
is_rounded (const char *resource)
{
  return strcmp (resource, "memory") == 0 || strcmp (resource, "object_store_memory") == 0;
}

/* --- chips --- */

/* The chip that the fraction fits most tightly; of equals the first. -1: none has room. */
static int
tightest (const Room *room, gint32 part_e4)
{
  int best = -1;

  for (guint c = 0; c < room->n_chips; c++)
    if (room->chip_e4[c] >= part_e4 && (best < 0 || room->chip_e4[c] < room->chip_e4[best]))
      best = (int) c;
  return best;
}

static gboolean
choose_chips (Room *room, gint64 tpu_e4, QuoitBundle *bundle)
{
  gint64 chips_e4
      = room->tpu_per_chip_e4 > 0 ? (gint64) ((__int128) tpu_e4 * QUOIT_AMOUNT_UNIT / room->tpu_per_chip_e4) : 0;
  gint64 n_whole = chips_e4 / QUOIT_AMOUNT_UNIT;
  int chip;

  for (guint c = 0; c < room->n_chips && n_whole > 0; c++)
    if (room->chip_e4[c] == QUOIT_AMOUNT_UNIT)
      {
        bundle->chips |= (guint64) 1 << c;
        room->chip_e4[c] = 0;
        n_whole--;
      }
  bundle->part.e4 = chips_e4 % QUOIT_AMOUNT_UNIT;
  chip = bundle->part.e4 == 0 ? 0 : tightest (room, (gint32) bundle->part.e4);
  if (n_whole > 0 || chip < 0)
    return FALSE;
  bundle->chip = bundle->part.e4 == 0 ? 0 : (guint8) chip;
  if (bundle->part.e4 != 0)
    room->chip_e4[chip] -= (gint32) bundle->part.e4;
  return TRUE;
}

/* --- bundles --- */

typedef struct {
  GArray *ids, *bundles; /* of guint32, QuoitBundle */
  GPtrArray *takes;      /* arrays of QuoitTake; texts are the claims' */
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

/* Appends the bundle as it stands on its node. @kept: chips that it had there before; NULL: they are chosen. */
static gboolean
put_down (Board *board, Making *making, const QuoitBundleClaim *claim, const char *what, const QuoitBundle *kept,
          GError **error)
{
  Room *room = room_of (board, claim->node);
  QuoitTake *takes = g_new0 (QuoitTake, claim->n_takes + 1);
  QuoitBundle bundle = { .takes = takes };

  g_ptr_array_add (making->takes, takes);
  for (guint16 t = 0; t < claim->n_takes; t++)
    {
      const QuoitResource *take = &claim->takes[t];
      int place = place_of (room, take->name);
      QuoitAmount amount = take->amount;

      if (place < 0)
        continue;
      if (is_rounded (take->name))
        amount.e4 = MIN (amount.e4, room->left[place].e4);
      if (amount.e4 > room->left[place].e4)
        return refuse_bundle (board, what, claim, take, room->left[place], error);
      if (amount.e4 <= 0)
        continue;
      room->left[place].e4 -= amount.e4;
      takes[bundle.n_takes++] = (QuoitTake) { take->name, amount };
      if (strcmp (take->name, "TPU") == 0 && kept != NULL)
        {
          bundle.chips = kept->chips;
          bundle.chip = kept->chip;
          bundle.part = kept->part;
        }
      else if (strcmp (take->name, "TPU") == 0 && !choose_chips (room, amount.e4, &bundle))
        return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: no chip of node '%s' has room for its part of TPU", what,
                           board->nodes[claim->node].name);
    }
  g_array_append_val (making->ids, board->difference->claim_ids[claim->node]);
  g_array_append_val (making->bundles, bundle);
  return TRUE;
}

/* --- groups --- */

/* "Ray's, else, when empty or taken, Ray's id". */
static char *
name_of (Board *board, const QuoitGroupClaim *claim)
{
  const QuoitGroupData *taken
      = *claim->name == '\0' ? NULL : quoit_fleet_find_group (board->difference->fleet, claim->name);
  const char *name = *claim->name != '\0' && taken == NULL && !g_hash_table_contains (board->names, claim->name)
                             && quoit_name_check ("group name", claim->name, NULL)
                         ? claim->name
                         : claim->identity;

  g_hash_table_add (board->names, g_strdup (name));
  return g_strdup (name);
}

/* Whether bundle i of the claim stands where bundle i of @before does, and takes the same. */
static gboolean
stands_as_before (const Board *board, const QuoitBundleClaim *claim, const QuoitGroupData *before, guint32 i)
{
  const QuoitBundle *bundle;

  if (before == NULL || i >= before->n_nodes || claim->node == QUOIT_NOT_PLACED
      || before->node_ids[i] != board->difference->claim_ids[claim->node])
    return FALSE;
  bundle = &before->bundles[i];
  for (guint16 t = 0; t < claim->n_takes; t++)
    if (strcmp (claim->takes[t].name, "TPU") == 0)
      for (guint16 u = 0; u < bundle->n_takes; u++)
        if (strcmp (bundle->takes[u].resource, "TPU") == 0 && bundle->takes[u].amount.e4 == claim->takes[t].amount.e4)
          return TRUE;
  return FALSE;
}

/* Chips that stay are taken before any are chosen. */
static void
reserve_kept_chips (Board *board, const QuoitGroupClaim *claims, guint32 n)
{
  for (guint32 g = 0; g < n; g++)
    {
      const QuoitGroupData *before = g_hash_table_lookup (board->mine, claims[g].identity);

      for (guint32 i = 0; i < claims[g].n_bundles; i++)
        if (stands_as_before (board, &claims[g].bundles[i], before, i))
          {
            QuoitBundle chips = before->bundles[i];

            chips.n_takes = 0;
            take_share (room_of (board, claims[g].bundles[i].node), &chips);
          }
    }
}

static void
append_unplaced (Making *making)
{
  static const QuoitBundle none;
  guint32 nowhere = 0;

  g_array_append_val (making->ids, nowhere);
  g_array_append_val (making->bundles, none);
}

/* Dead nodes hold nothing. */
static gboolean
is_placed (const Board *board, const QuoitBundleClaim *bundle)
{
  return bundle->node != QUOIT_NOT_PLACED && board->nodes[bundle->node].state != QUOIT_NODE_DEAD;
}

static gboolean
same_group (const QuoitGroupData *a, const QuoitGroupData *b)
{
  if (a->state != b->state || strcmp (a->request, b->request) != 0 || a->n_nodes != b->n_nodes
      || memcmp (a->node_ids, b->node_ids, a->n_nodes * sizeof *a->node_ids) != 0)
    return FALSE;
  for (guint32 i = 0; i < a->n_nodes; i++)
    if (!quoit_bundle_equal (&a->bundles[i], &b->bundles[i]))
      return FALSE;
  return TRUE;
}

/* @group without any node, until all have found their place. */
static void
lift (Board *board, const QuoitGroupData *group)
{
  g_autofree guint32 *nowhere = g_new0 (guint32, group->n_nodes + 1);
  QuoitGroupData facts = *group;
  gboolean stands = FALSE;

  for (guint32 i = 0; i < group->n_nodes; i++)
    stands |= group->node_ids[i] != 0;
  facts.node_ids = nowhere;
  if (stands)
    {
      QuoitEffect effect = { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) };

      g_array_append_val (board->difference->lifted, effect);
    }
}

/* Takes @after. @before: the group as the fleet has it; NULL: it is new. */
static void
put_group (Board *board, const QuoitGroupData *before, QuoitGroupData *after, QuoitChangeKind kind, const char *detail)
{
  QuoitEffect effect
      = { .type = before == NULL ? QUOIT_EFFECT_GROUP_ADDED : QUOIT_EFFECT_GROUP_CHANGED, .group = after };

  if (before != NULL && same_group (before, after))
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
  g_autofree char *name = before != NULL ? g_strdup (before->name) : name_of (board, claim);
  g_autofree char *what = g_strdup_printf ("group '%s'", name);
  QuoitGroupData facts = { .state = (QuoitGroupState) claim->state,
                           .kind = QUOIT_HOLDER_BUNDLES,
                           .name = name,
                           .request = claim->request,
                           .foreign_id = claim->identity };
  Making making = making_new ();
  guint32 n_explained = 0;
  gboolean ok = TRUE;

  g_hash_table_add (board->seen, (gpointer) claim->identity);
  for (guint32 i = 0; ok && i < claim->n_bundles; i++)
    {
      const QuoitBundleClaim *bundle = &claim->bundles[i];

      if (!is_placed (board, bundle))
        append_unplaced (&making);
      else if (room_of (board, bundle->node)->is_taken)
        n_explained++;
      else
        ok = put_down (board, &making, bundle, what,
                       stands_as_before (board, bundle, before, i) ? &before->bundles[i] : NULL, error);
    }
  /* A group that stands where a group of this ledger does is that one's doing: it is not held twice. */
  if (ok && n_explained < claim->n_bundles)
    put_group (board, before, finish (board, before, &facts, &making), QUOIT_CHANGE_GROUP,
               before == NULL ? "new" : "other bundles or state");
  else if (ok)
    g_hash_table_remove (board->seen, claim->identity);
  making_clear (&making);
  return ok;
}

/* Groups that the source has no longer. */
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

  reserve_kept_chips (board, claims, n);
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
    if (is_placed (board, &uses[i]) && !room_of (board, uses[i].node)->is_taken)
      ok = put_down (board, &making, &uses[i], "what no group explains", NULL, error);
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

/* --- a source that was not asked for them --- */

/* What stood on nodes that are gone, or others now, stands nowhere. */
static void
leave_changed_nodes (Board *board, const QuoitGroupData *group)
{
  const QuoitDifference *difference = board->difference;
  const QuoitLayout *layout = difference->fleet->layout;
  g_autofree guint32 *ids = g_memdup2 (group->node_ids, group->n_nodes * sizeof *ids + 1);
  QuoitGroupData facts = *group;
  guint32 n_left = 0;

  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 index = ids[i] < layout->n_ids ? layout->by_id[ids[i]] : QUOIT_NO_INDEX;

      if (index != QUOIT_NO_INDEX && index >= difference->first_node
          && index - difference->first_node < layout->sources[difference->source.index].n_nodes
          && difference->changed[index - difference->first_node])
        {
          ids[i] = 0;
          n_left++;
        }
    }
  if (n_left == 0)
    return;
  facts.node_ids = ids;
  if (group->kind == QUOIT_HOLDER_BUNDLES && group->state == QUOIT_GROUP_RESERVED)
    facts.state = QUOIT_GROUP_RESCHEDULING;
  {
    QuoitEffect effect = { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) };

    g_array_append_val (board->difference->lifted, effect);
  }
  quoit_difference_note (board->difference,
                         group->kind == QUOIT_HOLDER_EXTERNAL ? QUOIT_CHANGE_EXTERNAL : QUOIT_CHANGE_GROUP,
                         group->kind == QUOIT_HOLDER_EXTERNAL ? group->source : group->name,
                         g_strdup_printf ("%u bundles stood on nodes that are gone or others", n_left));
}

/* --- all of it --- */

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

/* What is used without a group is what groups leave of it: it cannot be told from groups of another moment. */
static gboolean
scope_is_sound (const Board *board, guint scope, GError **error)
{
  return (scope & QUOIT_CLAIMS_SAY_EXTERNAL) == 0 || (scope & QUOIT_CLAIMS_SAY_GROUPS) != 0 || board->own->len == 0
         || quoit_fail (
             error, QUOIT_ERROR_INVALID,
             "source '%s' has groups of an earlier import: expected its groups of this moment beside what is "
             "available",
             quoit_claims_source (board->difference->claims));
}

static void
drop_external (Board *board, const QuoitGroupData *external)
{
  QuoitEffect effect = quoit_effect_removal (external, QUOIT_END_SOURCE);

  g_array_append_val (board->difference->lifted, effect);
  quoit_difference_note (board->difference, QUOIT_CHANGE_EXTERNAL, external->source,
                         g_strdup ("not known any more: groups were said without what is available"));
}

static gboolean
put_all (Board *board, GError **error)
{
  guint scope = quoit_claims_scope (board->difference->claims);
  const QuoitGroupData *external = find_external (board->difference);

  if (!scope_is_sound (board, scope, error) || ((scope & QUOIT_CLAIMS_SAY_GROUPS) != 0 && !put_groups (board, error)))
    return FALSE;
  for (guint i = 0; (scope & QUOIT_CLAIMS_SAY_GROUPS) == 0 && i < board->own->len; i++)
    leave_changed_nodes (board, board->own->pdata[i]);
  if ((scope & QUOIT_CLAIMS_SAY_EXTERNAL) != 0)
    return put_external (board, error);
  if (external != NULL && (scope & QUOIT_CLAIMS_SAY_GROUPS) != 0)
    drop_external (board, external);
  else if (external != NULL)
    leave_changed_nodes (board, external);
  return TRUE;
}

gboolean
quoit_difference_of_groups (QuoitDifference *difference, gint64 time_ms, GError **error)
{
  Board board = { .difference = difference, .time_ms = time_ms, .next_id = difference->fleet->next_group_id };
  gboolean ok;

  board.nodes = quoit_claims_nodes (difference->claims, &board.n_nodes);
  board.rooms = g_new0 (Room *, board.n_nodes + 1);
  board.names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  board.heads = g_ptr_array_new_with_free_func (g_free);
  board.own = g_ptr_array_new ();
  board.mine = g_hash_table_new (g_str_hash, g_str_equal);
  board.seen = g_hash_table_new (g_str_hash, g_str_equal);
  find_mine (&board);
  ok = put_all (&board, error);
  for (guint32 i = 0; i < board.n_nodes; i++)
    room_free (board.rooms[i]);
  g_free (board.rooms);
  g_hash_table_unref (board.names);
  g_ptr_array_unref (board.heads);
  g_ptr_array_unref (board.own);
  g_hash_table_unref (board.mine);
  g_hash_table_unref (board.seen);
  return ok;
}
