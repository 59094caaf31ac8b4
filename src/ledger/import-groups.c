/* SPDX-License-Identifier: Apache-2.0 */
/* Imports the groups of a source and the external use of its nodes. Sources report amounts, but a group of quoit has
 * chips. This file chooses the chips, and keeps them as long as the bundle stays on its node. */
#include <string.h>

#include "ledger/import-nodes.h"
#include "base/name-hash.h"
#include "models/ray/resource-names.h"

/* The state of the import of the groups. */
typedef struct {
  QuoitDifference *difference;
  gint64 time_ms;
  guint64 next_id; /* id of the next new group */
  const QuoitNodeClaim *claims;
  QuoitImportNodeTable table;
  GHashTable *names;                /* names that new groups have got in this import; owned */
  GPtrArray *source_groups;         /* the groups of the source in the fleet, by id */
  GHashTable *groups_by_foreign_id; /* the same groups by the id that the source gives them */
  GHashTable *claimed_ids;          /* foreign ids of the groups in the claims */
  GHashTable *imported_ids;         /* foreign ids of the groups that have been imported; others are removed */
  GHashTable *own_bundles;          /* bundles in the claims that are bundles of this ledger */
} GroupImport;

/* --- bundles --- */

/* The nodes and bundles of the group that is being imported. */
typedef struct {
  GArray *ids, *bundles; /* of guint32, QuoitBundle; one of each per bundle */
  GPtrArray *takes;      /* arrays of QuoitTake; the claims own their texts */
} GroupBuilder;

static void
group_builder_clear (GroupBuilder *builder)
{
  g_array_unref (builder->ids);
  g_array_unref (builder->bundles);
  g_ptr_array_unref (builder->takes);
}

static GroupBuilder
group_builder_new (void)
{
  return (GroupBuilder) { g_array_new (FALSE, FALSE, sizeof (guint32)),
                          g_array_new (FALSE, FALSE, sizeof (QuoitBundle)), g_ptr_array_new_with_free_func (g_free) };
}

static gboolean
refuse_bundle (const GroupImport *import, const char *what, const QuoitBundleClaim *claim, const QuoitResource *take,
               QuoitAmount left, GError **error)
{
  g_autofree char *want = quoit_amount_format (take->amount);
  g_autofree char *have = quoit_amount_format (left.e4 < 0 ? (QuoitAmount) { 0 } : left);

  return quoit_fail (
      error, QUOIT_ERROR_INVALID,
      "%s takes '%s' of %s on node '%s', which has %s left: expected files that describe one cluster at one time", what,
      want, take->name, import->claims[claim->node].name, have);
}

/* Subtracts the amounts of @claim from its node, but not the chips, and writes them to @takes, which must have space
 * for all of them. *@tpu gets the take of TPU, if there is one. @ignored: amounts of groups that @claim includes
 * and that are not subtracted again, by resource of the node; NULL: none. */
static gboolean
subtract_amounts (GroupImport *import, const QuoitBundleClaim *claim, const char *what, const QuoitAmount *ignored,
                  QuoitTake *takes, guint16 *n_takes, QuoitTake **tpu, GError **error)
{
  QuoitImportNode *node = quoit_import_nodes_get (&import->table, claim->node);

  for (guint16 t = 0; t < claim->n_takes; t++)
    {
      const QuoitResource *take = &claim->takes[t];
      int place = quoit_import_node_find_resource (node, take->name);
      QuoitAmount amount = take->amount;

      if (place < 0)
        continue;
      amount.e4 -= ignored == NULL ? 0 : ignored[place].e4;
      if (quoit_resource_is_rounded (take->name))
        amount.e4 = MIN (amount.e4, node->left[place].e4);
      if (amount.e4 > node->left[place].e4)
        return refuse_bundle (import, what, claim, take, node->left[place], error);
      if (amount.e4 <= 0)
        continue;
      node->left[place].e4 -= amount.e4;
      if (strcmp (take->name, "TPU") == 0)
        *tpu = &takes[*n_takes];
      takes[(*n_takes)++] = (QuoitTake) { take->name, amount };
    }
  return TRUE;
}

static void
append_bundle (GroupImport *import, GroupBuilder *builder, const QuoitBundleClaim *claim, const QuoitBundle *chips,
               const QuoitTake *takes, guint16 n_takes)
{
  QuoitBundle bundle = *chips;

  bundle.takes = takes;
  bundle.n_takes = n_takes;
  g_array_append_val (builder->ids, import->difference->claim_ids[claim->node]);
  g_array_append_val (builder->bundles, bundle);
}

static gboolean
refuse_chips (const GroupImport *import, const char *what, const QuoitBundleClaim *claim, GError **error)
{
  return quoit_fail (error, QUOIT_ERROR_INVALID, "%s: no chip of node '%s' has enough left for its part of TPU", what,
                     import->claims[claim->node].name);
}

static QuoitTake *
new_takes (GroupBuilder *builder, guint n)
{
  QuoitTake *takes = g_new0 (QuoitTake, n + 1);

  g_ptr_array_add (builder->takes, takes);
  return takes;
}

/* Adds the bundle to the group, with the chips that choose_chips() has chosen. */
static gboolean
add_bundle (GroupImport *import, GroupBuilder *builder, const QuoitBundleClaim *claim, const char *what, GError **error)
{
  QuoitImportNode *node = quoit_import_nodes_get (&import->table, claim->node);
  QuoitTake *takes = new_takes (builder, claim->n_takes), *tpu = NULL;
  QuoitBundle chips = { 0 };
  guint16 n_takes = 0;

  if (!subtract_amounts (import, claim, what, NULL, takes, &n_takes, &tpu, error))
    return FALSE;
  if (tpu != NULL)
    chips = g_array_index (node->demands, QuoitChipDemand, node->next_demand++).assigned;
  /* Report missing chips only at the last bundle. If the node has too little TPU for all bundles, subtract_amounts()
   * has failed before with a better message. */
  if (tpu != NULL && !node->chips_suffice && node->next_demand == node->demands->len)
    return refuse_chips (import, what, claim, error);
  append_bundle (import, builder, claim, &chips, takes, n_takes);
  return TRUE;
}

/* Like add_bundle(), for external use, which may be parts of several chips. Each part becomes a bundle. */
static gboolean
add_external_bundles (GroupImport *import, GroupBuilder *builder, const QuoitBundleClaim *claim, GError **error)
{
  QuoitImportNode *node = quoit_import_nodes_get (&import->table, claim->node);
  QuoitTake *takes = new_takes (builder, claim->n_takes), *tpu = NULL;
  const char *what = "external use";
  g_autoptr (GArray) parts = NULL;
  guint16 n_takes = 0;

  if (!subtract_amounts (import, claim, what, node->unreported, takes, &n_takes, &tpu, error))
    return FALSE;
  parts
      = tpu == NULL ? NULL : quoit_chips_assign_anywhere (&node->chips, quoit_import_node_chips_e4 (node, tpu->amount));
  if (tpu != NULL && parts == NULL)
    return refuse_chips (import, what, claim, error);
  for (guint p = 1; parts != NULL && p < parts->len; p++)
    {
      const QuoitBundle *part = &g_array_index (parts, QuoitBundle, p);
      QuoitTake *take = new_takes (builder, 1);

      *take = (QuoitTake) { tpu->resource,
                            { (gint64) ((__int128) part->part.e4 * node->tpu_per_chip_e4 / QUOIT_AMOUNT_UNIT) } };
      tpu->amount.e4 -= take->amount.e4;
      append_bundle (import, builder, claim, part, take, 1);
    }
  if (n_takes > 0)
    append_bundle (import, builder, claim,
                   parts == NULL ? &(QuoitBundle) { 0 } : &g_array_index (parts, QuoitBundle, 0), takes, n_takes);
  return TRUE;
}

/* --- groups --- */

/* Returns whether a new group can have the name. Names of groups that this import removes are free. */
static gboolean
is_name_free (const GroupImport *import, const char *name)
{
  const QuoitGroupData *user = quoit_fleet_find_group (import->difference->fleet, name);

  if (g_hash_table_contains (import->names, name))
    return FALSE;
  return user == NULL
         || (g_hash_table_lookup (import->groups_by_foreign_id, user->foreign_id) == user
             && !g_hash_table_contains (import->claimed_ids, user->foreign_id));
}

/* Returns Ray's name of the group. If that is empty, invalid or in use, returns Ray's id, with a number appended if
 * the id is in use too. The caller owns the name. */
static char *
choose_name (GroupImport *import, const QuoitGroupClaim *claim, GError **error)
{
  char *name = g_strdup (claim->name);

  if (*name == '\0' || !is_name_free (import, name) || !quoit_name_check ("group name", name, NULL))
    {
      g_free (name);
      name = g_strdup (claim->identity);
    }
  for (guint n = 2; !is_name_free (import, name); n++)
    {
      g_free (name);
      name = g_strdup_printf ("%s~%u", claim->identity, n);
    }
  if (!quoit_name_check ("group name", name, error))
    return g_free (name), NULL;
  g_hash_table_add (import->names, g_strdup (name));
  return name;
}

/* Adds a bundle without a node, with the amounts that it needs and without chips. */
static void
append_unplaced (GroupBuilder *builder, const QuoitBundleClaim *claim)
{
  QuoitTake *takes = new_takes (builder, claim->n_takes);
  QuoitBundle bundle = { .n_takes = claim->n_takes, .takes = takes };
  guint32 no_node = 0;

  for (guint16 t = 0; t < claim->n_takes; t++)
    takes[t] = (QuoitTake) { claim->takes[t].name, claim->takes[t].amount };
  g_array_append_val (builder->ids, no_node);
  g_array_append_val (builder->bundles, bundle);
}

/* Returns whether the bundle is on a node. A bundle on a dead node counts as not placed. */
static gboolean
is_placed (const GroupImport *import, const QuoitBundleClaim *bundle)
{
  return bundle->node != QUOIT_NOT_PLACED && import->claims[bundle->node].state != QUOIT_NODE_DEAD;
}

/* Returns whether the bundle or the external use counts as part of a group of this ledger and is not imported. */
static gboolean
is_own (GroupImport *import, const QuoitBundleClaim *bundle)
{
  return is_placed (import, bundle)
         && (quoit_import_nodes_get (&import->table, bundle->node)->has_slice_group
             || g_hash_table_contains (import->own_bundles, bundle));
}

/* Returns bundle @i of @before if it is on the node of @claim, otherwise NULL. */
static const QuoitBundle *
find_previous_bundle (const GroupImport *import, const QuoitBundleClaim *claim, const QuoitGroupData *before, guint32 i)
{
  return before != NULL && i < before->n_nodes && before->node_ids[i] == import->difference->claim_ids[claim->node]
             ? &before->bundles[i]
             : NULL;
}

/* Chooses the chips of all bundles together, because the choices depend on each other. */
static void
choose_chips (GroupImport *import, const QuoitGroupClaim *claims, guint32 n)
{
  for (guint32 g = 0; g < n; g++)
    {
      const QuoitGroupData *before = g_hash_table_lookup (import->groups_by_foreign_id, claims[g].identity);

      for (guint32 i = 0, n_imported = 0; i < claims[g].n_bundles; i++)
        {
          const QuoitBundleClaim *bundle = &claims[g].bundles[i];
          QuoitImportNode *node;

          if (is_own (import, bundle))
            continue;
          n_imported++;
          if (!is_placed (import, bundle))
            continue;
          node = quoit_import_nodes_get (&import->table, bundle->node);
          for (guint16 t = 0; t < bundle->n_takes; t++)
            if (strcmp (bundle->takes[t].name, "TPU") == 0 && quoit_import_node_find_resource (node, "TPU") >= 0)
              {
                QuoitChipDemand demand = { .needed_e4 = quoit_import_node_chips_e4 (node, bundle->takes[t].amount),
                                           .previous = find_previous_bundle (import, bundle, before, n_imported - 1) };

                g_array_append_val (node->demands, demand);
              }
        }
    }
  quoit_import_nodes_assign_chips (&import->table);
}

/* Adds an effect that removes @group from all its nodes. Groups can exchange nodes, so that all changed groups leave
 * their nodes before any of them gets new ones. */
static void
remove_from_nodes (GroupImport *import, const QuoitGroupData *group)
{
  g_autofree guint32 *nowhere = g_new0 (guint32, group->n_nodes + 1);
  QuoitGroupData facts = quoit_group_data_copy_fields (group);
  gboolean has_node = FALSE;

  for (guint32 i = 0; i < group->n_nodes; i++)
    has_node |= group->node_ids[i] != 0;
  facts.node_ids = nowhere;
  /* Only groups keep bundles without a node; external use does not. */
  if (group->kind == QUOIT_RECORD_EXTERNAL)
    {
      facts.n_nodes = 0;
      facts.bundles = NULL;
    }
  if (has_node)
    {
      QuoitEffect effect = { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) };

      g_array_append_val (import->difference->effects_before, effect);
    }
}

/* Adds the effect that makes @before, the group in the fleet, or NULL if the group is new, to @after. Takes the
 * reference to @after. */
static void
add_group_effect (GroupImport *import, const QuoitGroupData *before, QuoitGroupData *after, QuoitChangeKind kind,
                  const char *detail)
{
  QuoitEffect effect
      = { .type = before == NULL ? QUOIT_EFFECT_GROUP_ADDED : QUOIT_EFFECT_GROUP_CHANGED, .group = after };

  if (before != NULL && before->state == after->state && strcmp (before->request, after->request) == 0
      && quoit_group_same_nodes (before, after))
    return quoit_group_data_unref (after);
  if (before != NULL)
    remove_from_nodes (import, before);
  quoit_difference_add_change (import->difference, kind, kind == QUOIT_CHANGE_EXTERNAL ? after->source : after->name,
                               g_strdup (detail));
  g_array_append_val (import->difference->effects_after, effect);
}

static QuoitGroupData *
build_group (GroupImport *import, const QuoitGroupData *before, QuoitGroupData *facts, GroupBuilder *builder)
{
  facts->n_nodes = builder->ids->len;
  facts->node_ids = (const guint32 *) (void *) builder->ids->data;
  facts->bundles = (const QuoitBundle *) (void *) builder->bundles->data;
  facts->owner = facts->key = "";
  facts->source = quoit_claims_source (import->difference->claims);
  facts->id = before != NULL ? before->id : import->next_id++;
  facts->created_ms = before != NULL ? before->created_ms : import->time_ms;
  return quoit_group_data_new (facts);
}

static gboolean
import_claimed_group (GroupImport *import, const QuoitGroupClaim *claim, GError **error)
{
  const QuoitGroupData *before = g_hash_table_lookup (import->groups_by_foreign_id, claim->identity);
  g_autofree char *name = before != NULL ? g_strdup (before->name) : choose_name (import, claim, error);
  g_autofree char *what = g_strdup_printf ("group '%s'", name);
  QuoitGroupData facts = { .state = (QuoitGroupState) claim->state,
                           .kind = QUOIT_RECORD_BUNDLES,
                           .name = name,
                           .request = claim->request,
                           .foreign_id = claim->identity };
  GroupBuilder builder;
  guint32 n_own = 0;
  gboolean ok = TRUE;

  if (name == NULL)
    return FALSE;
  builder = group_builder_new ();

  g_hash_table_add (import->imported_ids, (gpointer) claim->identity);
  for (guint32 i = 0; ok && i < claim->n_bundles; i++)
    {
      const QuoitBundleClaim *bundle = &claim->bundles[i];

      if (!is_placed (import, bundle))
        append_unplaced (&builder, bundle);
      else if (is_own (import, bundle))
        n_own++;
      else
        ok = add_bundle (import, &builder, bundle, what, error);
    }
  /* If all bundles belong to groups of this ledger, the group is not recorded a second time. */
  if (ok && n_own < claim->n_bundles)
    add_group_effect (import, before, build_group (import, before, &facts, &builder), QUOIT_CHANGE_GROUP,
                      before == NULL ? "new" : "other bundles or state");
  else if (ok)
    g_hash_table_remove (import->imported_ids, claim->identity);
  group_builder_clear (&builder);
  return ok;
}

/* Removes the groups that the source no longer has, and those whose bundles all belong to groups of this ledger. */
static void
remove_unclaimed_groups (GroupImport *import)
{
  for (guint i = 0; i < import->source_groups->len; i++)
    {
      const QuoitGroupData *group = import->source_groups->pdata[i];
      QuoitEffect effect;

      if (g_hash_table_contains (import->imported_ids, group->foreign_id))
        continue;
      effect = quoit_effect_removal (group, QUOIT_END_SOURCE);
      g_array_append_val (import->difference->effects_before, effect);
      quoit_difference_add_change (import->difference, QUOIT_CHANGE_GROUP, group->name, g_strdup ("gone"));
    }
}

static gboolean
import_groups (GroupImport *import, GError **error)
{
  guint32 n;
  const QuoitGroupClaim *claims = quoit_claims_groups (import->difference->claims, &n);

  for (guint32 g = 0; g < n; g++)
    g_hash_table_add (import->claimed_ids, (gpointer) claims[g].identity);
  choose_chips (import, claims, n);
  for (guint32 g = 0; g < n; g++)
    if (!import_claimed_group (import, &claims[g], error))
      return FALSE;
  remove_unclaimed_groups (import);
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
import_external_use (GroupImport *import, GError **error)
{
  const QuoitGroupData *before = find_external (import->difference);
  g_autofree char *name = quoit_external_record_name (quoit_claims_source (import->difference->claims));
  QuoitGroupData facts = { .state = QUOIT_GROUP_RESERVED, .kind = QUOIT_RECORD_EXTERNAL, .name = name, .request = "" };
  GroupBuilder builder = group_builder_new ();
  guint32 n;
  const QuoitBundleClaim *uses = quoit_claims_external (import->difference->claims, &n);
  gboolean ok = TRUE;

  for (guint32 i = 0; ok && i < n; i++)
    if (is_placed (import, &uses[i]) && !is_own (import, &uses[i]))
      ok = add_external_bundles (import, &builder, &uses[i], error);
  if (ok && builder.ids->len > 0)
    add_group_effect (import, before, build_group (import, before, &facts, &builder), QUOIT_CHANGE_EXTERNAL,
                      before == NULL ? "use of nodes begins" : "use of nodes changes");
  else if (ok && before != NULL)
    {
      QuoitEffect effect = quoit_effect_removal (before, QUOIT_END_SOURCE);

      g_array_append_val (import->difference->effects_before, effect);
      quoit_difference_add_change (import->difference, QUOIT_CHANGE_EXTERNAL, before->source,
                                   g_strdup ("use of nodes ends"));
    }
  group_builder_clear (&builder);
  return ok;
}

/* --- groups and use that the source does not report in this import --- */

/* How many bundles of a group move to another node, and how many lose their node. */
typedef struct {
  guint32 n_moved, n_lost;
} NodeChanges;

static guint32
find_successor (NodeChanges *changes, const QuoitDifference *difference, guint32 id)
{
  guint32 after = quoit_import_successor_id (difference, id);

  changes->n_moved += after != id && after != 0;
  changes->n_lost += after != id && after == 0;
  return after;
}

/* Adds the effect of a group whose nodes change. If bundles only lose their nodes, the effect comes before the nodes
 * change. If bundles move, it comes afterwards, because the new nodes must exist first. */
static void
add_node_change_effect (GroupImport *import, const QuoitGroupData *group, QuoitEffect effect,
                        const NodeChanges *changes)
{
  gboolean is_external = group->kind == QUOIT_RECORD_EXTERNAL;

  if (changes->n_moved > 0)
    remove_from_nodes (import, group);
  g_array_append_val (changes->n_moved > 0 ? import->difference->effects_after : import->difference->effects_before,
                      effect);
  if (changes->n_lost > 0)
    quoit_difference_add_change (import->difference, is_external ? QUOIT_CHANGE_EXTERNAL : QUOIT_CHANGE_GROUP,
                                 is_external ? group->source : group->name,
                                 g_strdup_printf ("%u bundles lost their nodes", changes->n_lost));
}

/* Updates the nodes of a group that the source does not report in this import. */
static void
move_group (GroupImport *import, const QuoitGroupData *group)
{
  g_autofree guint32 *ids = g_new (guint32, group->n_nodes + 1);
  QuoitGroupData facts = quoit_group_data_copy_fields (group);
  NodeChanges changes = { 0 };

  for (guint32 i = 0; i < group->n_nodes; i++)
    ids[i] = find_successor (&changes, import->difference, group->node_ids[i]);
  if (changes.n_moved == 0 && changes.n_lost == 0)
    return;
  facts.node_ids = ids;
  if (group->state == QUOIT_GROUP_RESERVED && changes.n_lost > 0)
    facts.state = QUOIT_GROUP_RESCHEDULING;
  add_node_change_effect (import, group,
                          (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) },
                          &changes);
}

/* Like move_group(), for external use. Bundles that lose their node are dropped. */
static void
move_external_use (GroupImport *import, const QuoitGroupData *external)
{
  g_autofree guint32 *ids = g_new (guint32, external->n_nodes + 1);
  g_autofree QuoitBundle *bundles = g_new (QuoitBundle, external->n_nodes + 1);
  QuoitGroupData facts = quoit_group_data_copy_fields (external);
  NodeChanges changes = { 0 };
  guint32 n = 0;

  for (guint32 i = 0; i < external->n_nodes; i++)
    {
      ids[n] = find_successor (&changes, import->difference, external->node_ids[i]);
      bundles[n] = external->bundles[i];
      n += ids[n] != 0;
    }
  if (changes.n_moved == 0 && changes.n_lost == 0)
    return;
  facts.n_nodes = n;
  facts.node_ids = ids;
  facts.bundles = bundles;
  add_node_change_effect (
      import, external,
      n == 0 ? quoit_effect_removal (external, QUOIT_END_SOURCE)
             : (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_CHANGED, .group = quoit_group_data_new (&facts) },
      &changes);
}

/* --- entry point --- */

static void
find_source_groups (GroupImport *import)
{
  const QuoitFleet *fleet = import->difference->fleet;
  const char *source = quoit_claims_source (import->difference->claims);

  for (guint32 slot = 0; slot < fleet->n_slots && import->difference->source.index != QUOIT_NO_INDEX; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (fleet, slot);

      if (group != NULL && group->state != QUOIT_GROUP_REMOVED && group->kind == QUOIT_RECORD_BUNDLES
          && strcmp (group->source, source) == 0)
        {
          g_hash_table_insert (import->groups_by_foreign_id, (gpointer) group->foreign_id, (gpointer) group);
          g_ptr_array_add (import->source_groups, (gpointer) group);
        }
    }
  g_ptr_array_sort (import->source_groups, quoit_group_by_id);
}

static gboolean
import_all (GroupImport *import, GError **error)
{
  guint scope = quoit_claims_scope (import->difference->claims);
  const QuoitGroupData *external = find_external (import->difference);

  if ((scope & QUOIT_CLAIMS_SCOPE_GROUPS) != 0 && !import_groups (import, error))
    return FALSE;
  for (guint i = 0; (scope & QUOIT_CLAIMS_SCOPE_GROUPS) == 0 && i < import->source_groups->len; i++)
    move_group (import, import->source_groups->pdata[i]);
  if ((scope & QUOIT_CLAIMS_SCOPE_EXTERNAL) != 0)
    return import_external_use (import, error);
  if (external != NULL)
    move_external_use (import, external);
  return TRUE;
}

gboolean
quoit_difference_import_groups (QuoitDifference *difference, gint64 time_ms, GError **error)
{
  GroupImport import = { .difference = difference, .time_ms = time_ms, .next_id = difference->fleet->next_group_id };
  gboolean ok;

  quoit_import_nodes_init (&import.table, difference);
  import.claims = import.table.claims;
  import.names = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);
  import.source_groups = g_ptr_array_new ();
  import.groups_by_foreign_id = g_hash_table_new (quoit_hash_text, g_str_equal);
  import.claimed_ids = g_hash_table_new (quoit_hash_text, g_str_equal);
  import.imported_ids = g_hash_table_new (quoit_hash_text, g_str_equal);
  find_source_groups (&import);
  import.own_bundles = quoit_import_match_own_bundles (&import.table, import.groups_by_foreign_id);
  ok = import_all (&import, error);
  quoit_import_nodes_clear (&import.table);
  g_hash_table_unref (import.names);
  g_ptr_array_unref (import.source_groups);
  g_hash_table_unref (import.groups_by_foreign_id);
  g_hash_table_unref (import.imported_ids);
  g_hash_table_unref (import.claimed_ids);
  g_hash_table_unref (import.own_bundles);
  return ok;
}
