/* SPDX-License-Identifier: Apache-2.0 */
/* Makes, repairs and resizes groups of slices that are joined from cubes. The slices of a group are in the order of
 * their first cubes, so that their numbers depend only on which cubes they have. */
#include <stdlib.h>
#include <string.h>

#include "ledger/elastic.h"
#include "ledger/quotas.h"
#include "placement/ahead.h"
#include "placement/cubes/cubes.h"
#include "placement/quota.h"
#include "placement/shrink.h"

/* A slice of the new group. */
typedef struct {
  guint32 first_cube; /* in the layout; QUOIT_NO_INDEX: no longer in the fleet */
  guint32 of_before;  /* index in the group before; QUOIT_NO_INDEX: a new slice */
  QuoitShape box;     /* of a new slice */
  guint32 cubes;      /* of a new slice: where its cubes are in QuoitJoined.cubes */
} Member;

static int
by_first_cube (const void *a, const void *b)
{
  const Member *x = a, *y = b;

  if (x->first_cube != y->first_cube)
    return x->first_cube < y->first_cube ? -1 : 1;
  return (x->of_before > y->of_before) - (x->of_before < y->of_before);
}

/* Lists the slices in @kept of @before (NULL: none), and the new ones. */
static GArray *
list_members (const QuoitFleet *fleet, const QuoitGroupData *before, const guint8 *kept, const QuoitJoined *joined)
{
  GArray *members = g_array_new (FALSE, FALSE, sizeof (Member));
  guint32 at = 0;

  for (guint32 s = 0; before != NULL && s < before->n_slices; s++)
    {
      const Member member = { quoit_layout_group_slice (fleet->layout, before, s), s, { { 0 }, 0 }, 0 };

      if (kept[s])
        g_array_append_val (members, member);
    }
  for (guint i = 0; joined != NULL && i < joined->boxes->len; i++)
    {
      const QuoitShape box = g_array_index (joined->boxes, QuoitShape, i);
      const Member member = { g_array_index (joined->cubes, guint32, at), QUOIT_NO_INDEX, box, at };

      g_array_append_val (members, member);
      at += quoit_shape_chips (box);
    }
  if (members->len > 0)
    qsort (members->data, members->len, sizeof (Member), by_first_cube);
  return members;
}

/* Returns @before (NULL: nothing) with only the slices in @kept, and with the chosen ones. */
static QuoitGroupData *
make_group (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitGroupData *before, const guint8 *kept,
            const QuoitJoined *joined)
{
  g_autoptr (GArray) members = list_members (fleet, before, kept, joined);
  g_autoptr (GArray) ids = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autofree guint32 *ends = g_new (guint32, members->len + 1);
  QuoitGroupData fields = quoit_group_data_copy_fields (facts);

  for (guint m = 0; m < members->len; m++)
    {
      const Member *member = &g_array_index (members, Member, m);

      if (member->of_before != QUOIT_NO_INDEX)
        {
          const guint32 first = quoit_group_first_node (before, member->of_before);

          g_array_append_vals (ids, before->node_ids + first, before->slice_end[member->of_before] - first);
        }
      else
        {
          g_array_set_size (nodes, 0);
          /* NOLINTNEXTLINE: a member that the group did not have has cubes of @joined */
          quoit_joined_list_nodes (fleet, member->box, &g_array_index (joined->cubes, guint32, member->cubes), nodes);
          for (guint i = 0; i < nodes->len; i++)
            g_array_append_val (ids, fleet->layout->nodes[g_array_index (nodes, guint32, i)].id);
        }
      ends[m] = ids->len;
    }
  fields.kind = QUOIT_RECORD_CUBES;
  fields.n_slices = members->len;
  fields.slice_end = ends;
  fields.n_nodes = ids->len;
  fields.node_ids = (const guint32 *) (const void *) ids->data;
  fields.bundles = NULL;
  return quoit_group_data_new (&fields);
}

/* Returns how many of @n slices the quotas admit. */
static guint32
limit_by_quotas (const QuoitFleet *fleet, const QuoitRequest *request, guint32 n)
{
  return fleet->quotas == NULL ? n : MIN (n, quoit_quota_admit_slices (fleet, request, NULL).n_now);
}

QuoitGroupData *
quoit_step_make_cube_group (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitRequest *request,
                            QuoitRefusal *refusal, GError **error)
{
  const guint32 least = quoit_request_min_slices (request), most = limit_by_quotas (fleet, request, request->n_slices);
  g_auto (QuoitJoined) joined = { 0 };
  g_autoptr (GError) failure = NULL;

  quoit_joined_init (&joined);
  if (quoit_cubes_choose (fleet, request, least, MAX (most, 1), &joined, &failure) && most >= least)
    return make_group (fleet, facts, NULL, NULL, &joined);
  if (failure != NULL)
    g_propagate_error (error, g_steal_pointer (&failure));
  else
    quoit_refusal_set (refusal, request);
  return NULL;
}

QuoitGroupData *
quoit_step_take_cube_group (const QuoitFleet *fleet, const QuoitGroupData *facts, const QuoitRequest *request,
                            const QuoitPlan *chosen, QuoitRefusal *refusal, GError **error)
{
  g_auto (QuoitJoined) joined = { 0 };

  quoit_joined_init (&joined);
  if (!quoit_cubes_take_named (fleet, request, chosen->slices, chosen->n, &joined, error))
    return NULL;
  if (limit_by_quotas (fleet, request, joined.boxes->len) < joined.boxes->len)
    return quoit_refusal_set (refusal, request), NULL;
  return make_group (fleet, facts, NULL, NULL, &joined);
}

/* Fails with DAMAGED if the request joins no cubes. */
static gboolean
check_request (const QuoitGroupData *group, const QuoitRequest *request, GError **error)
{
  return request->cubes != QUOIT_CUBES_NONE
         || quoit_fail (error, QUOIT_ERROR_DAMAGED,
                        "group '%s@%" G_GUINT64_FORMAT "' has cubes, but its request is '%s': restore a backup",
                        group->name, group->id, group->request);
}

/* --- repair --- */

/* A slice that has lost cubes, and keeps the others if it can. */
typedef struct {
  guint32 slice; /* of the group */
  guint32 block; /* of its cubes; QUOIT_NO_INDEX: unknown */
  QuoitShape box;
  guint32 *cubes; /* in the layout; QUOIT_NO_INDEX: to be replaced */
  guint32 n_lost;
} Lost;

static void
lost_clear (gpointer data)
{
  g_free (((Lost *) data)->cubes);
}

typedef struct {
  const QuoitCubing *cubing;
  const QuoitGroupData *group;
  QuoitCubeSet *free; /* cubes that the repaired slices can get */
  GArray *lost;       /* of Lost */
} Repair;

/* Whether the group can have the cube again that it has left. Use that no group explains is that of its own processes.
 */
static gboolean
can_keep (const QuoitFleet *fleet, guint32 cube)
{
  const QuoitSliceFlags flags
      = quoit_condition_flags (quoit_fleet_slice_status (fleet, (QuoitSliceId) { cube })->condition);

  return (flags & (QUOIT_SLICE_INTACT | QUOIT_SLICE_DRAINING | QUOIT_SLICE_ALLOCATED)) == QUOIT_SLICE_INTACT;
}

/* Keeps the cubes of the slice that no other group has. They count even if the rules of the request exclude them by
 * now, because the group had them before. */
static Lost
find_lost (const Repair *repair, guint32 slice)
{
  const QuoitFleet *fleet = repair->cubing->fleet;
  const QuoitBlocks *blocks = repair->cubing->blocks;
  const guint32 n = repair->cubing->n_cubes;
  Lost lost = { slice, QUOIT_NO_INDEX, { { 0 }, 0 }, g_new (guint32, n + 1), n };

  if (blocks == NULL || !quoit_group_find_cubes (fleet->layout, repair->group, slice, &lost.box, lost.cubes))
    return lost;
  for (guint32 i = 0; i < n; i++)
    {
      const guint32 cube = lost.cubes[i];
      const guint32 block = cube == QUOIT_NO_INDEX ? QUOIT_NO_INDEX : blocks->of_slice[cube];

      if (block == QUOIT_NO_INDEX || !can_keep (fleet, cube) || (lost.block != QUOIT_NO_INDEX && lost.block != block))
        {
          lost.cubes[i] = QUOIT_NO_INDEX;
          continue;
        }
      lost.block = block;
      lost.n_lost--;
    }
  return lost;
}

/* Those with the fewest lost cubes come first. */
static gint
by_losses (gconstpointer a, gconstpointer b)
{
  const Lost *x = a, *y = b;

  if (x->n_lost != y->n_lost)
    return x->n_lost < y->n_lost ? -1 : 1;
  return x->slice < y->slice ? -1 : 1;
}

static void
keep_cubes (const Repair *repair, const Lost *lost)
{
  for (guint32 i = 0; i < repair->cubing->n_cubes; i++)
    if (lost->cubes[i] != QUOIT_NO_INDEX)
      quoit_cube_set_remove (repair->free, lost->cubes[i]);
}

static void
give_up_cubes (const Repair *repair, const Lost *lost)
{
  for (guint32 i = 0; i < repair->cubing->n_cubes; i++)
    if (lost->cubes[i] != QUOIT_NO_INDEX && quoit_bits_has (&repair->cubing->fleet->free_slices, lost->cubes[i])
        && quoit_candidates_contain (&repair->cubing->candidates, repair->cubing->fleet, lost->cubes[i]))
      quoit_cube_set_add (repair->free, lost->cubes[i]);
}

static guint32
count_free (const Repair *repair, guint32 block)
{
  const QuoitBlocks *blocks = repair->cubing->blocks;
  guint32 n = 0;

  for (guint32 i = blocks->blocks[block].first; i < blocks->blocks[block].first + blocks->blocks[block].n; i++)
    n += quoit_cube_set_has (repair->free, blocks->cubes[i]);
  return n;
}

/* Replaces the lost cubes of a slice by other ones of its block. Returns FALSE if there are too few. */
static gboolean
replace_cubes (const Repair *repair, Lost *lost)
{
  g_autofree guint32 *found = g_new (guint32, lost->n_lost + 1);
  guint32 n = 0;

  if (lost->block == QUOIT_NO_INDEX || count_free (repair, lost->block) < lost->n_lost)
    return FALSE;
  quoit_cubing_take (repair->cubing, repair->free, lost->block, lost->n_lost, found);
  for (guint32 i = 0; i < repair->cubing->n_cubes; i++)
    if (lost->cubes[i] == QUOIT_NO_INDEX)
      lost->cubes[i] = found[n++];
  return TRUE;
}

/* Adjacent cubes are where they must be: a lost one has no substitute, but it can be free again with other nodes. */
static gboolean
is_whole_again (const Repair *repair, const Lost *lost)
{
  g_autofree guint32 *cubes = g_new (guint32, repair->cubing->n_cubes + 1);
  QuoitShape box;

  if (lost->block == QUOIT_NO_INDEX
      || !quoit_group_find_cubes (repair->cubing->fleet->layout, repair->group, lost->slice, &box, cubes))
    return FALSE;
  for (guint32 i = 0; i < repair->cubing->n_cubes; i++)
    if (cubes[i] == QUOIT_NO_INDEX || repair->cubing->blocks->of_slice[cubes[i]] != lost->block
        || !can_keep (repair->cubing->fleet, cubes[i]))
      return FALSE;
  memcpy (lost->cubes, cubes, repair->cubing->n_cubes * sizeof *cubes);
  return TRUE;
}

/* Repairs the slices in place as far as possible, those with the fewest lost cubes first, so that as many as possible
 * stay. The others give up all their cubes, which the repaired ones can get: so the slices fit if and only if they
 * would fit without keeping any cube. */
static void
repair_in_place (const Repair *repair, QuoitJoined *joined)
{
  g_array_sort (repair->lost, by_losses);
  /* Slices with more losses are the first to give up their cubes for the others of their block. */
  for (guint i = 0; i < repair->lost->len; i++)
    keep_cubes (repair, &g_array_index (repair->lost, Lost, i));
  for (guint i = 0; i < repair->lost->len; i++)
    {
      Lost *lost = &g_array_index (repair->lost, Lost, i);
      guint last = repair->lost->len;
      gboolean stays
          = quoit_cubing_is_adjacent (repair->cubing) ? is_whole_again (repair, lost) : replace_cubes (repair, lost);

      while (!stays && !quoit_cubing_is_adjacent (repair->cubing) && lost->block != QUOIT_NO_INDEX && --last > i)
        {
          Lost *other = &g_array_index (repair->lost, Lost, last);

          if (other->block != lost->block)
            continue;
          give_up_cubes (repair, other);
          other->block = QUOIT_NO_INDEX;
          stays = replace_cubes (repair, lost);
        }
      if (stays)
        {
          g_array_append_val (joined->boxes, lost->box);
          g_array_append_vals (joined->cubes, lost->cubes, repair->cubing->n_cubes);
        }
      else if (lost->block != QUOIT_NO_INDEX)
        give_up_cubes (repair, lost);
    }
}

/* Chooses @n slices for those in @lost, on the fleet without them. */
static gboolean
choose_repaired (const QuoitFleet *seen, const QuoitGroupData *group, const QuoitRequest *request, const guint8 *kept,
                 guint32 n_lost, QuoitJoined *joined, GError **error)
{
  g_auto (QuoitCubing) cubing = { 0 };
  g_autofree QuoitCubeSet *free = NULL, *all = NULL;
  g_autoptr (GArray) lost = g_array_new (FALSE, FALSE, sizeof (Lost));

  g_array_set_clear_func (lost, lost_clear);
  if (!quoit_cubing_init (&cubing, seen, request, error))
    return FALSE;
  free = quoit_cubing_list (&cubing, QUOIT_CUBE_FREE);
  all = g_memdup2 (free, quoit_cubing_set_bytes (&cubing));
  for (guint32 s = 0; s < group->n_slices; s++)
    if (!kept[s])
      {
        const Lost one = find_lost (&(const Repair) { &cubing, group, free, lost }, s);

        g_array_append_val (lost, one);
      }
  repair_in_place (&(const Repair) { &cubing, group, free, lost }, joined);
  quoit_cubing_choose (&cubing, free, n_lost, joined);
  if (joined->boxes->len >= n_lost || !quoit_cubing_is_adjacent (&cubing))
    return joined->boxes->len >= n_lost;
  /* Slices that stay where they are can leave too little room for the others. */
  g_array_set_size (joined->boxes, 0);
  g_array_set_size (joined->cubes, 0);
  quoit_cubing_choose (&cubing, all, n_lost, joined);
  return joined->boxes->len >= n_lost;
}

QuoitGroupData *
quoit_step_repair_cubes (const QuoitFleet *fleet, const QuoitGroupData *group, QuoitRefusal *refusal, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_of_group (fleet->layout, group, error);
  g_autofree guint8 *kept = g_malloc (group->n_slices + 1);
  g_auto (QuoitJoined) joined = { 0 };
  g_autoptr (QuoitFleet) seen = NULL;
  g_autoptr (GError) failure = NULL;
  guint32 n_kept, n_lost;

  if (request == NULL || !check_request (group, request, error))
    return NULL;
  n_kept = quoit_elastic_keep_whole (fleet, group, kept);
  n_lost = group->n_slices - n_kept;
  if (n_lost == 0)
    return quoit_group_data_ref (group);
  quoit_joined_init (&joined);
  seen = quoit_elastic_see_without (fleet, group, n_kept == 0 ? NULL : make_group (fleet, group, group, kept, NULL));
  if (choose_repaired (seen, group, request, kept, n_lost, &joined, &failure))
    return make_group (seen, group, group, kept, &joined);
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  quoit_elastic_refuse_repair (fleet, group, 1, request, refusal);
  return NULL;
}

/* --- resize --- */

QuoitGroupData *
quoit_step_resize_cubes (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 least, guint32 most,
                         QuoitRequest *request, QuoitRefusal *refusal, GError **error)
{
  const guint32 n_now = group->n_slices, n_least = MAX (least, n_now + 1);
  g_autofree guint8 *kept = g_malloc (n_now + 1);
  g_auto (QuoitJoined) joined = { 0 };
  g_autoptr (QuoitFleet) seen = NULL;
  g_autoptr (GError) failure = NULL;
  guint32 n_more;

  if (!check_request (group, request, error))
    return NULL;
  quoit_group_choose_dropped (fleet, group, most < n_now ? n_now - most : 0, kept);
  if (most == n_now)
    return quoit_group_data_ref (group);
  if (most < n_now)
    return make_group (fleet, group, group, kept, NULL);
  seen = quoit_elastic_see_without (fleet, group, quoit_group_data_ref (group));
  quoit_step_set_quota_target (request, group);
  n_more = limit_by_quotas (seen, request, most - n_now);
  quoit_joined_init (&joined);
  if (quoit_cubes_choose (seen, request, n_least - n_now, n_more, &joined, &failure))
    return make_group (seen, group, group, kept, &joined);
  if (failure != NULL)
    return g_propagate_error (error, g_steal_pointer (&failure)), NULL;
  if (least <= n_now)
    return quoit_group_data_ref (group);
  quoit_elastic_refuse (fleet, group, least, request, refusal);
  return NULL;
}
