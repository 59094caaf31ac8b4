/* SPDX-License-Identifier: Apache-2.0 */
/* Preemption for slices. A group of whole slices frees its slices alone. A slice that several groups share is free when
 * all of them are released; groups that are connected by such slices form a cluster, whose sets are options of one
 * choice. */
#include "placement/domains.h"
#include "placement/ends.h"
#include "placement/preempt/preempt.h"
#include "placement/start.h"

enum {
  MOST_EXACT = 12, /* groups of a cluster of which all sets are tried */
  MOST_STEPS_OF_REPORT = 1 << 20
};

/* The victims that an option releases: the first ones of an array, which several options share. */
typedef struct {
  GArray *victims; /* of guint32 */
  guint n;
} ReleasedSet;

/* A victim of the result. quoit_victim_compare() compares two of them, because the victim is the first member. */
typedef struct {
  QuoitVictim victim;
  guint32 index; /* in Preemption.victims */
} Released;

typedef struct {
  const QuoitFleet *fleet;
  const QuoitCandidates *candidates;
  guint32 needed; /* slices that must become free */
  gint64 now_ms;
  const GArray *victims; /* of QuoitVictim */
  GHashTable *by_group;  /* QuoitGroupData -> index in victims, plus 1; NULL: all victims have whole slices */
  gint32 limit;          /* groups with a greater priority are not released */
  GArray *options;       /* of QuoitPreemptOption */
  GArray *sets;          /* of ReleasedSet, by option */
  guint32 n_choices;
  gboolean is_exact;
} Preemption;

static const QuoitVictim *
victim_at (const Preemption *preemption, guint32 v)
{
  return &g_array_index (preemption->victims, QuoitVictim, v);
}

static const QuoitGroupData *
victim_group (const Preemption *preemption, guint32 v)
{
  return quoit_fleet_group_at (preemption->fleet, victim_at (preemption, v)->slot);
}

static QuoitPreemptCost
victim_cost (const Preemption *preemption, guint32 v)
{
  return quoit_victim_cost (preemption->fleet, victim_at (preemption, v), preemption->now_ms);
}

/* Adds an option that releases the victims that are in @victims now. */
static void
add_option (Preemption *preemption, guint32 n_slices, QuoitPreemptCost cost, GArray *victims)
{
  const QuoitPreemptOption option = { preemption->n_choices, n_slices, cost };
  const ReleasedSet set = { g_array_ref (victims), victims->len };

  g_array_append_val (preemption->options, option);
  g_array_append_val (preemption->sets, set);
}

static void
released_set_clear (gpointer data)
{
  g_array_unref (((ReleasedSet *) data)->victims);
}

/* --- shared slices --- */

/* A slice that only victims share. */
typedef struct {
  guint32 slice;
  gint32 priority; /* the greatest of its users */
  GArray *users;   /* of guint32: victims */
} SharedSlice;

static void
shared_clear (gpointer data)
{
  g_array_unref (((SharedSlice *) data)->users);
}

static gboolean
contains (const GArray *numbers, guint32 number)
{
  for (guint i = 0; i < numbers->len; i++)
    if (g_array_index (numbers, guint32, i) == number)
      return TRUE;
  return FALSE;
}

/* Lists the victims on the slice. Returns FALSE if somebody else uses it too. */
static gboolean
list_users (const Preemption *preemption, SharedSlice *shared)
{
  const QuoitSlice *row = &preemption->fleet->layout->slices[shared->slice];

  shared->priority = G_MININT32;
  for (guint32 node = row->first_node; node < row->first_node + row->n_nodes; node++)
    {
      QuoitUsers users = quoit_fleet_node_users (preemption->fleet, (QuoitNodeId) { node });
      const QuoitGroupData *user;

      while ((user = quoit_fleet_users_next (&users)) != NULL)
        {
          guint32 v = GPOINTER_TO_UINT (g_hash_table_lookup (preemption->by_group, user));

          if (v-- == 0)
            return FALSE;
          shared->priority = MAX (shared->priority, user->priority);
          if (!contains (shared->users, v))
            g_array_append_val (shared->users, v);
        }
    }
  return shared->users->len > 0;
}

/* Lists the candidates that victims without whole slices use, if only victims use them. */
static GArray *
list_shared (const Preemption *preemption)
{
  GArray *list = g_array_new (FALSE, FALSE, sizeof (SharedSlice));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);

  g_array_set_clear_func (list, shared_clear);
  for (guint32 v = 0; v < preemption->victims->len; v++)
    {
      const QuoitGroupData *group = victim_group (preemption, v);

      for (guint32 i = 0; !quoit_group_has_whole_slices (group) && i < group->n_nodes; i++)
        {
          SharedSlice shared = { .slice = quoit_layout_slice_of_id (preemption->fleet->layout, group->node_ids[i]) };

          if (shared.slice == QUOIT_NO_INDEX || !g_hash_table_add (seen, GUINT_TO_POINTER (shared.slice))
              || !quoit_candidates_can_become_free (preemption->candidates, preemption->fleet, shared.slice))
            continue;
          shared.users = g_array_new (FALSE, FALSE, sizeof (guint32));
          if (list_users (preemption, &shared))
            g_array_append_val (list, shared);
          else
            g_array_unref (shared.users);
        }
    }
  return list;
}

/* --- clusters: groups that shared slices connect --- */

typedef struct {
  GArray *members; /* of guint32: victims */
  GArray *slices;  /* of guint32: indices in the list of shared slices */
} Cluster;

/* Moves the slice to the cluster, then its users, then all slices of these users, and so on. @slices_of: victim -> its
 * shared slices; the victims that are moved are removed from it. */
static void
grow_cluster (const GArray *list, GHashTable *slices_of, gboolean *is_done, guint32 first, Cluster *cluster)
{
  g_array_append_val (cluster->slices, first);
  is_done[first] = TRUE;
  for (guint i = 0; i < cluster->slices->len; i++)
    {
      const SharedSlice *shared = &g_array_index (list, SharedSlice, g_array_index (cluster->slices, guint32, i));

      for (guint u = 0; u < shared->users->len; u++)
        {
          guint32 v = g_array_index (shared->users, guint32, u);
          const GArray *others = g_hash_table_lookup (slices_of, GUINT_TO_POINTER (v));

          for (guint o = 0; others != NULL && o < others->len; o++)
            {
              guint32 other = g_array_index (others, guint32, o);

              if (!is_done[other])
                g_array_append_val (cluster->slices, other);
              is_done[other] = TRUE;
            }
          if (others != NULL)
            g_array_append_val (cluster->members, v);
          g_hash_table_remove (slices_of, GUINT_TO_POINTER (v));
        }
    }
}

/* Returns the positions of the slice's users in the cluster, as bits. */
static guint64
users_mask (const Cluster *cluster, const SharedSlice *shared)
{
  guint64 mask = 0;

  for (guint m = 0; m < cluster->members->len; m++)
    if (contains (shared->users, g_array_index (cluster->members, guint32, m)))
      mask |= (guint64) 1 << m;
  return mask;
}

/* Adds the sets of groups as options, the cheapest one for each number of slices. */
static void
add_all_sets (Preemption *preemption, const GArray *list, const Cluster *cluster)
{
  const guint n_members = cluster->members->len, n_slices = cluster->slices->len;
  g_autofree guint64 *masks = g_new (guint64, n_slices + 1);
  g_autofree QuoitPreemptCost *costs = g_new (QuoitPreemptCost, n_slices + 1);
  g_autofree guint32 *best = g_new0 (guint32, n_slices + 1);
  QuoitPreemptCost member_costs[MOST_EXACT];

  for (guint m = 0; m < n_members; m++)
    member_costs[m] = victim_cost (preemption, g_array_index (cluster->members, guint32, m));
  for (guint i = 0; i < n_slices; i++)
    masks[i] = users_mask (cluster, &g_array_index (list, SharedSlice, g_array_index (cluster->slices, guint32, i)));
  for (guint32 set = 1; set < 1u << n_members; set++)
    {
      QuoitPreemptCost cost = { 0, 0 };
      guint n = 0;

      for (guint m = 0; m < n_members; m++)
        if ((set >> m & 1) != 0)
          cost = quoit_preempt_cost_add (cost, member_costs[m]);
      for (guint i = 0; i < n_slices; i++)
        n += (masks[i] & ~(guint64) set) == 0;
      if (n > 0 && (best[n] == 0 || quoit_preempt_cost_compare (cost, costs[n]) < 0))
        {
          best[n] = set;
          costs[n] = cost;
        }
    }
  for (guint n = 1; n <= n_slices; n++)
    {
      g_autoptr (GArray) members = g_array_new (FALSE, FALSE, sizeof (guint32));

      if (best[n] == 0)
        continue;
      for (guint m = 0; m < n_members; m++)
        if ((best[n] >> m & 1) != 0)
          g_array_append_val (members, g_array_index (cluster->members, guint32, m));
      add_option (preemption, n, costs[n], members);
    }
}

/* Adds options that release the users of the first slice, of the first two, and so on, for a cluster with too many
 * sets. */
static void
add_growing_sets (Preemption *preemption, const GArray *list, const Cluster *cluster)
{
  g_autoptr (GArray) released = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  QuoitPreemptCost cost = { 0, 0 };

  preemption->is_exact = FALSE;
  for (guint i = 0; i < cluster->slices->len && i < preemption->needed; i++)
    {
      const SharedSlice *shared = &g_array_index (list, SharedSlice, g_array_index (cluster->slices, guint32, i));

      for (guint u = 0; u < shared->users->len; u++)
        {
          guint32 v = g_array_index (shared->users, guint32, u);

          if (!g_hash_table_add (seen, GUINT_TO_POINTER (v)))
            continue;
          g_array_append_val (released, v);
          cost = quoit_preempt_cost_add (cost, victim_cost (preemption, v));
        }
      add_option (preemption, i + 1, cost, released);
    }
}

/* Returns the shared slices (GArray of guint32: indices in @list) of each victim. */
static GHashTable *
list_slices_of (const GArray *list)
{
  GHashTable *slices_of = g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);

  for (guint32 i = 0; i < list->len; i++)
    {
      const GArray *users = g_array_index (list, SharedSlice, i).users;

      for (guint u = 0; u < users->len; u++)
        {
          gpointer key = GUINT_TO_POINTER (g_array_index (users, guint32, u));
          GArray *slices = g_hash_table_lookup (slices_of, key);

          if (slices == NULL)
            g_hash_table_insert (slices_of, key, slices = g_array_new (FALSE, FALSE, sizeof (guint32)));
          g_array_append_val (slices, i);
        }
    }
  return slices_of;
}

static void
add_clusters (Preemption *preemption, const GArray *list)
{
  g_autoptr (GHashTable) slices_of = list_slices_of (list);
  g_autofree gboolean *is_done = g_new0 (gboolean, list->len + 1);

  for (guint32 i = 0; i < list->len; i++)
    is_done[i] = g_array_index (list, SharedSlice, i).priority > preemption->limit;
  for (guint i = 0; i < list->len; i++)
    {
      Cluster cluster;

      if (is_done[i])
        continue;
      cluster
          = (Cluster) { g_array_new (FALSE, FALSE, sizeof (guint32)), g_array_new (FALSE, FALSE, sizeof (guint32)) };
      grow_cluster (list, slices_of, is_done, i, &cluster);
      if (cluster.members->len <= MOST_EXACT)
        add_all_sets (preemption, list, &cluster);
      else
        add_growing_sets (preemption, list, &cluster);
      preemption->n_choices++;
      g_array_unref (cluster.members);
      g_array_unref (cluster.slices);
    }
}

/* --- the search --- */

/* The victims of each priority, as linked lists. */
typedef struct {
  GArray *priorities; /* of gint32, each once */
  GHashTable *first;  /* priority -> index of a victim, plus 1 */
  guint32 *next;      /* by victim: index of the next one of that priority, plus 1; 0: none */
} Priorities;

static gint
compare_priorities (gconstpointer a, gconstpointer b)
{
  const gint32 x = *(const gint32 *) a, y = *(const gint32 *) b;

  return (x > y) - (x < y);
}

static Priorities
list_priorities (const GArray *victims)
{
  Priorities by = { g_array_new (FALSE, FALSE, sizeof (gint32)), g_hash_table_new (NULL, NULL),
                    g_new (guint32, victims->len + 1) };

  for (guint32 v = 0; v < victims->len; v++)
    {
      gint32 priority = g_array_index (victims, QuoitVictim, v).priority;

      by.next[v] = GPOINTER_TO_UINT (g_hash_table_lookup (by.first, GINT_TO_POINTER (priority)));
      if (by.next[v] == 0)
        g_array_append_val (by.priorities, priority);
      g_hash_table_insert (by.first, GINT_TO_POINTER (priority), GUINT_TO_POINTER (v + 1));
    }
  g_array_sort (by.priorities, compare_priorities);
  return by;
}

static void
priorities_clear (Priorities *by)
{
  g_array_unref (by->priorities);
  g_hash_table_unref (by->first);
  g_free (by->next);
}

/* Returns priority -> number of shared slices. */
static GHashTable *
count_by_priority (const GArray *list)
{
  GHashTable *counts = g_hash_table_new (NULL, NULL);

  for (guint32 i = 0; i < list->len; i++)
    {
      gpointer key = GINT_TO_POINTER (g_array_index (list, SharedSlice, i).priority);

      g_hash_table_insert (counts, key, GUINT_TO_POINTER (GPOINTER_TO_UINT (g_hash_table_lookup (counts, key)) + 1));
    }
  return counts;
}

/* Finds the lowest priority up to which groups must be released. Returns how many slices they free, and writes to
 * @n_freed how many each of them frees alone. */
static guint64
find_limit (Preemption *preemption, guint32 *n_freed, const GArray *list)
{
  Priorities by = list_priorities (preemption->victims);
  g_autoptr (GHashTable) n_shared = count_by_priority (list);
  guint64 n = 0;

  for (guint p = 0; p < by.priorities->len && n < preemption->needed; p++)
    {
      guint32 v;

      preemption->limit = g_array_index (by.priorities, gint32, p);
      v = GPOINTER_TO_UINT (g_hash_table_lookup (by.first, GINT_TO_POINTER (preemption->limit)));
      for (; v != 0; v = by.next[v - 1])
        if (quoit_group_has_whole_slices (victim_group (preemption, v - 1)))
          n += n_freed[v - 1] = quoit_candidates_count_freed (preemption->candidates, preemption->fleet,
                                                              victim_group (preemption, v - 1));
      n += GPOINTER_TO_UINT (g_hash_table_lookup (n_shared, GINT_TO_POINTER (preemption->limit)));
    }
  priorities_clear (&by);
  return n;
}

static void
add_whole_groups (Preemption *preemption, const guint32 *n_freed)
{
  for (guint32 v = 0; v < preemption->victims->len; v++)
    {
      g_autoptr (GArray) set = NULL;

      if (n_freed[v] == 0)
        continue;
      set = g_array_sized_new (FALSE, FALSE, sizeof (guint32), 1);
      g_array_append_val (set, v);
      add_option (preemption, n_freed[v], victim_cost (preemption, v), set);
      preemption->n_choices++;
    }
}

/* Adds @difference to the number of released users of each shared slice of victim @v. Returns how many of these slices
 * had only released users before. */
static guint64
count_released_users (const GArray *list, const GArray *slices, guint32 *n_released, gint difference)
{
  guint64 n = 0;

  for (guint o = 0; slices != NULL && o < slices->len; o++)
    {
      guint32 i = g_array_index (slices, guint32, o);

      n += n_released[i] == g_array_index (list, SharedSlice, i).users->len;
      n_released[i] += (guint32) difference;
    }
  return n;
}

/* Keeps running what need not be released: tries each group, the most expensive one first. An exact search has released
 * no such group. */
static void
keep_running (const Preemption *preemption, const guint32 *n_freed, const GArray *list, GArray *victims)
{
  g_autoptr (GHashTable) slices_of = list_slices_of (list);
  g_autofree guint32 *n_released = g_new0 (guint32, list->len + 1); /* by shared slice: its released users */
  guint64 n = 0;

  for (guint i = 0; i < victims->len; i++)
    {
      guint32 v = g_array_index (victims, Released, i).index;

      n += n_freed[v];
      count_released_users (list, g_hash_table_lookup (slices_of, GUINT_TO_POINTER (v)), n_released, 1);
    }
  for (guint32 i = 0; i < list->len; i++)
    n += n_released[i] == g_array_index (list, SharedSlice, i).users->len;
  for (guint i = victims->len; i > 0; i--)
    {
      guint32 v = g_array_index (victims, Released, i - 1).index;
      const GArray *slices = g_hash_table_lookup (slices_of, GUINT_TO_POINTER (v));
      guint64 lost = n_freed[v] + count_released_users (list, slices, n_released, -1);

      if (n - lost < preemption->needed)
        {
          count_released_users (list, slices, n_released, 1);
          continue;
        }
      n -= lost;
      g_array_remove_index (victims, i - 1);
    }
}

/* Lists the victims of the taken options in order. */
static GArray *
list_released (const Preemption *preemption, const GArray *taken)
{
  GArray *victims = g_array_new (FALSE, FALSE, sizeof (Released));

  for (guint i = 0; i < taken->len; i++)
    {
      const ReleasedSet *set = &g_array_index (preemption->sets, ReleasedSet, g_array_index (taken, guint32, i));

      for (guint s = 0; s < set->n; s++)
        {
          guint32 v = g_array_index (set->victims, guint32, s);
          Released released = { *victim_at (preemption, v), v };

          released.victim.cost = victim_cost (preemption, v);
          g_array_append_val (victims, released);
        }
    }
  g_array_sort (victims, quoit_victim_compare);
  return victims;
}

/* Finds the groups whose release makes enough slices free. Returns FALSE with the number of slices in *@n_freeable if
 * there are not enough. */
static gboolean
search (Preemption *preemption, GArray *released, guint64 *n_freeable)
{
  g_autofree guint32 *n_freed = g_new0 (guint32, preemption->victims->len + 1);
  g_autoptr (GArray) list = list_shared (preemption), taken = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) victims = NULL;

  *n_freeable = find_limit (preemption, n_freed, list);
  if (*n_freeable < preemption->needed)
    return FALSE;
  add_whole_groups (preemption, n_freed);
  add_clusters (preemption, list);
  preemption->is_exact
      &= victim_at (preemption, 0)->aim == QUOIT_PREEMPT_PRIORITY
             ? quoit_preempt_cover (preemption->options, preemption->needed, taken)
             : quoit_preempt_cover_within (preemption->options, preemption->needed, MOST_STEPS_OF_REPORT, taken);
  victims = list_released (preemption, taken);
  if (!preemption->is_exact)
    keep_running (preemption, n_freed, list, victims);
  for (guint i = 0; i < victims->len; i++)
    g_array_append_val (released, g_array_index (victims, Released, i).victim);
  return TRUE;
}

static GHashTable *
index_victims (const QuoitFleet *fleet, const GArray *victims)
{
  GHashTable *by_group = g_hash_table_new (NULL, NULL);

  for (guint32 v = 0; v < victims->len; v++)
    g_hash_table_insert (by_group,
                         (gpointer) quoit_fleet_group_at (fleet, g_array_index (victims, QuoitVictim, v).slot),
                         GUINT_TO_POINTER (v + 1));
  return by_group;
}

static gboolean
have_whole_slices (const QuoitFleet *fleet, const GArray *victims)
{
  for (guint32 v = 0; v < victims->len; v++)
    if (!quoit_group_has_whole_slices (quoit_fleet_group_at (fleet, g_array_index (victims, QuoitVictim, v).slot)))
      return FALSE;
  return TRUE;
}

gboolean
quoit_preempt_among (const QuoitFleet *fleet, const QuoitCandidates *candidates, guint32 needed, gint64 now_ms,
                     const GArray *victims, GArray *released, gboolean *is_cheapest, guint64 *n_freeable)
{
  g_autoptr (GHashTable) by_group = have_whole_slices (fleet, victims) ? NULL : index_victims (fleet, victims);
  g_autoptr (GArray) options = g_array_new (FALSE, FALSE, sizeof (QuoitPreemptOption));
  g_autoptr (GArray) sets = g_array_new (FALSE, FALSE, sizeof (ReleasedSet));
  Preemption preemption = { .fleet = fleet,
                            .candidates = candidates,
                            .needed = needed,
                            .now_ms = now_ms,
                            .victims = victims,
                            .by_group = by_group,
                            .options = options,
                            .sets = sets,
                            .is_exact = TRUE };
  gboolean found;

  g_array_set_clear_func (sets, released_set_clear);
  found = search (&preemption, released, n_freeable);
  *is_cheapest = preemption.is_exact;
  return found;
}

gboolean
quoit_preempt_fail_not_now (const QuoitRequest *request, guint64 n_freeable, GError **error)
{
  return quoit_fail (
      error, QUOIT_ERROR_NOT_NOW,
      "not now, at most %" G_GUINT64_FORMAT " of %u slices, even if all groups of a priority below %d%s%s "
      "are released",
      n_freeable, quoit_request_min_slices (request), request->priority,
      request->near == NULL ? "" : " except the near group ", request->near == NULL ? "" : request->near);
}

gboolean
quoit_preempt_for_slices (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms, const GArray *victims,
                          GArray *released, gboolean *is_cheapest, GError **error)
{
  const guint32 n = quoit_request_min_slices (request);
  QuoitCandidates candidates;
  QuoitCandidateCounts counts;
  gboolean ok = TRUE;
  guint64 n_freeable = 0;

  *is_cheapest = TRUE;
  if (!quoit_candidates_find (fleet, request, &candidates, error))
    return FALSE;
  quoit_domains_count (&candidates, fleet, request, &counts);
  if (counts.n_possible < n)
    ok = quoit_start_fail_never (request, counts.n_possible, error);
  else if (counts.n_free_now < n && quoit_request_has_domains (request))
    ok = quoit_preempt_in_domains (fleet, request, &candidates, now_ms, victims, released, is_cheapest, error);
  else if (counts.n_free_now < n
           && !quoit_preempt_among (fleet, &candidates, n - counts.n_free_now, now_ms, victims, released, is_cheapest,
                                    &n_freeable))
    ok = quoit_preempt_fail_not_now (request, counts.n_free_now + n_freeable, error);
  quoit_candidates_clear (&candidates);
  return ok;
}
