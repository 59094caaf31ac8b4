/* SPDX-License-Identifier: Apache-2.0 */
#include "placement/ahead-moves.h"

#include "base/time.h"
#include "placement/domains.h"
#include "placement/ends.h"
#include "placement/quota.h"
#include "placement/rows.h"

/* A time in which a slice is promised. The times of a slice form a list. */
typedef struct {
  gint64 from_ms, until_ms;
  guint32 next; /* index + 1; 0: end */
} Promise;

typedef struct {
  const QuoitFleet *fleet;
  gint64 *free_from;    /* by slice: until when its groups are to be left alone */
  gint64 *certain_from; /* by slice: when its groups have certainly ended */
  guint32 *first;       /* by slice: its first promise + 1 */
  GArray *promises;     /* of Promise */
} Calendar;

static void
calendar_clear (Calendar *calendar)
{
  g_free (calendar->free_from);
  g_free (calendar->certain_from);
  g_free (calendar->first);
  g_array_unref (calendar->promises);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Calendar, calendar_clear)

static gint64
end_or_forever (gint64 until_ms)
{
  return until_ms == 0 ? QUOIT_FOREVER_MS : until_ms;
}

static void
promise (Calendar *calendar, guint32 slice, gint64 from_ms, gint64 until_ms)
{
  const Promise new = { from_ms, end_or_forever (until_ms), calendar->first[slice] };

  g_array_append_val (calendar->promises, new);
  calendar->first[slice] = calendar->promises->len;
}

static gboolean
is_promised (const Calendar *calendar, guint32 slice, gint64 from_ms, gint64 until_ms)
{
  for (guint32 p = calendar->first[slice]; p != 0; p = g_array_index (calendar->promises, Promise, p - 1).next)
    {
      const Promise *other = &g_array_index (calendar->promises, Promise, p - 1);

      if (other->from_ms < until_ms && from_ms < other->until_ms)
        return TRUE;
    }
  return FALSE;
}

/* Returns whether a reservation can keep the slice. */
static gboolean
can_keep (const Calendar *calendar, guint32 slice, gint64 from_ms, gint64 until_ms)
{
  return calendar->certain_from[slice] <= from_ms && !is_promised (calendar, slice, from_ms, end_or_forever (until_ms))
         && quoit_slice_is_free_without_groups (calendar->fleet, slice);
}

static gboolean
is_available (const Calendar *calendar, guint32 slice, gint64 from_ms, gint64 until_ms)
{
  return calendar->free_from[slice] <= from_ms && !is_promised (calendar, slice, from_ms, end_or_forever (until_ms))
         && quoit_slice_is_free_without_groups (calendar->fleet, slice);
}

/* --- what is fixed --- */

static void
raise_end (Calendar *calendar, guint32 node_id, gint64 latest_ms, gint64 certain_ms)
{
  guint32 slice = quoit_layout_slice_of_id (calendar->fleet->layout, node_id);

  if (slice == QUOIT_NO_INDEX)
    return;
  calendar->free_from[slice] = MAX (calendar->free_from[slice], latest_ms);
  calendar->certain_from[slice] = MAX (calendar->certain_from[slice], certain_ms);
}

/* A group of whole slices has all hosts of each, so one of them is enough. */
static void
raise_ends (Calendar *calendar, const QuoitGroupData *group, gint64 latest_ms, gint64 certain_ms)
{
  if (quoit_group_has_whole_slices (group))
    for (guint32 s = 0; s < group->n_slices; s++)
      raise_end (calendar, group->node_ids[quoit_group_first_node (group, s)], latest_ms, certain_ms);
  else
    for (guint32 i = 0; i < group->n_nodes; i++)
      raise_end (calendar, group->node_ids[i], latest_ms, certain_ms);
}

static void
add_groups (Calendar *calendar)
{
  for (guint32 slot = 0; slot < calendar->fleet->n_slots; slot++)
    {
      const QuoitGroupData *group = quoit_fleet_group_at (calendar->fleet, slot);

      if (group == NULL || group->state == QUOIT_GROUP_REMOVED || quoit_group_is_ahead (group))
        continue;
      if (*group->source == '\0' && quoit_group_is_listed (group))
        raise_ends (calendar, group, quoit_group_latest_end (group), quoit_group_certain_end (group));
      else
        raise_ends (calendar, group, QUOIT_FOREVER_MS, QUOIT_FOREVER_MS);
    }
}

static void
add_window (Calendar *calendar, const QuoitGroupData *window)
{
  const QuoitLayout *layout = calendar->fleet->layout;
  g_autoptr (GArray) nodes = quoit_window_list_nodes (window, layout);
  guint32 before = QUOIT_NO_INDEX;

  for (guint i = 0; i < nodes->len; i++)
    {
      guint32 slice = layout->nodes[g_array_index (nodes, guint32, i)].slice;

      if (slice != QUOIT_NO_INDEX && slice != before)
        promise (calendar, slice, window->begins_ms, window->until_ms);
      before = slice;
    }
}

/* Reservations of bundles stay where they are. */
static void
add_bundles (Calendar *calendar, const QuoitGroupData *group)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    {
      guint32 slice = quoit_layout_slice_of_id (calendar->fleet->layout, group->node_ids[i]);

      if (slice != QUOIT_NO_INDEX)
        promise (calendar, slice, group->begins_ms, group->until_ms);
    }
}

static void
add_fixed (Calendar *calendar, const QuoitAheadAddition *addition)
{
  add_groups (calendar);
  for (guint i = 0; i < quoit_fleet_n_ahead (calendar->fleet); i++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (calendar->fleet, i);

      if (group->kind == QUOIT_RECORD_WINDOW)
        add_window (calendar, group);
      else if (quoit_group_is_by_host (group))
        add_bundles (calendar, group);
    }
  if (addition->window != NULL)
    add_window (calendar, addition->window);
}

/* Takes the slices that are taken now. Returns FALSE if something fixed needs one of them. */
static gboolean
take_now (Calendar *calendar, const QuoitAheadAddition *addition)
{
  for (guint32 i = 0; addition->taken != NULL && i < addition->taken->n; i++)
    {
      guint32 slice = addition->taken->slices[i];

      if (is_promised (calendar, slice, 0, addition->taken_until_ms))
        return FALSE;
      calendar->free_from[slice] = MAX (calendar->free_from[slice], addition->taken_until_ms);
      calendar->certain_from[slice] = MAX (calendar->certain_from[slice], addition->taken_until_ms);
    }
  return TRUE;
}

/* --- the slices of a reservation --- */

guint32
quoit_ahead_find_slice (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 slice)
{
  const QuoitLayout *layout = fleet->layout;
  const guint32 first = quoit_group_first_node (group, slice);
  const guint32 index = quoit_layout_slice_of_id (layout, group->node_ids[first]);
  const QuoitClass *class = index == QUOIT_NO_INDEX ? NULL
                                                    : quoit_layout_slice_class (layout, (QuoitSliceId) { index });
  guint32 n_hosts = 1;

  if (class == NULL)
    return QUOIT_NO_INDEX;
  for (guint32 i = first + 1; i < group->slice_end[slice]; i++)
    {
      if (quoit_layout_slice_of_id (layout, group->node_ids[i]) != index)
        return QUOIT_NO_INDEX;
      n_hosts += group->node_ids[i] != group->node_ids[i - 1];
    }
  return n_hosts == class->facts.hosts ? index : QUOIT_NO_INDEX;
}

static gboolean
node_is_sound (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 id)
{
  QuoitUsers users = quoit_fleet_node_users (fleet, (QuoitNodeId) { quoit_layout_find_id (fleet->layout, id) });
  const QuoitGroupData *user;

  while ((user = quoit_fleet_users_next (&users)) != NULL)
    if (*user->source != '\0' || quoit_group_certain_end (user) > group->begins_ms)
      return FALSE;
  return TRUE;
}

static gboolean
slice_is_sound (const QuoitFleet *fleet, const QuoitGroupData *group, guint32 s, const QuoitCandidates *candidates)
{
  guint32 slice = quoit_ahead_find_slice (fleet, group, s);

  if (slice == QUOIT_NO_INDEX || !quoit_slice_is_free_without_groups (fleet, slice)
      || !quoit_candidates_contain (candidates, fleet, slice))
    return FALSE;
  for (guint32 i = quoit_group_first_node (group, s); i < group->slice_end[s]; i++)
    if (!node_is_sound (fleet, group, group->node_ids[i]))
      return FALSE;
  return TRUE;
}

/* Returns how many slices of the reservation can be free when it begins. */
static guint32
count_sound (const QuoitFleet *fleet, const QuoitGroupData *group, const QuoitCandidates *candidates)
{
  guint32 n = 0;

  for (guint32 s = 0; s < group->n_slices; s++)
    n += slice_is_sound (fleet, group, s, candidates);
  return n;
}

static gboolean
bundles_are_sound (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  for (guint32 i = 0; i < group->n_nodes; i++)
    if (quoit_layout_find_id (fleet->layout, group->node_ids[i]) == QUOIT_NO_INDEX)
      return FALSE;
  return TRUE;
}

/* Returns whether the reservation can begin with the slices that it lists. */
static gboolean
group_is_sound (const QuoitFleet *fleet, const QuoitGroupData *group)
{
  g_autoptr (QuoitRequest) request = NULL;
  QuoitCandidates candidates;
  gboolean is_sound;

  if (group->kind != QUOIT_RECORD_SLICES)
    return group->kind == QUOIT_RECORD_WINDOW || bundles_are_sound (fleet, group);
  request = quoit_request_of_group (fleet->layout, group, NULL);
  if (request == NULL || !quoit_candidates_find (fleet, request, &candidates, NULL))
    return FALSE;
  is_sound = count_sound (fleet, group, &candidates) == group->n_slices;
  quoit_candidates_clear (&candidates);
  return is_sound;
}

gboolean
quoit_ahead_is_sound (const QuoitFleet *fleet)
{
  for (guint i = 0; i < quoit_fleet_n_ahead (fleet); i++)
    if (!group_is_sound (fleet, quoit_fleet_ahead_at (fleet, i)))
      return FALSE;
  return TRUE;
}

/* --- serving --- */

/* Returns whether the slice is better left to something that begins now. */
static gboolean
is_idle (const Calendar *calendar, guint32 slice)
{
  return calendar->first[slice] == 0 && quoit_bits_has (&calendar->fleet->free_slices, slice);
}

/* Appends up to @n available candidates. @idle: those that are_idle(), or the others. */
static void
choose_available (Calendar *calendar, const QuoitCandidates *candidates, gint64 from_ms, gint64 until_ms, guint32 n,
                  gboolean idle, GArray *slices)
{
  for (guint32 s = 0; s < calendar->fleet->layout->n_slices && slices->len < n; s++)
    if (quoit_candidates_contain (candidates, calendar->fleet, s) && is_idle (calendar, s) == idle
        && is_available (calendar, s, from_ms, until_ms))
      {
        g_array_append_val (slices, s);
        promise (calendar, s, from_ms, until_ms);
      }
}

static void
take_in_domains (Calendar *calendar, const QuoitDomains *domains, gint64 from_ms, gint64 until_ms, gboolean idle,
                 guint32 *shares, GArray *slices)
{
  for (guint32 s = 0; s < calendar->fleet->layout->n_slices; s++)
    {
      guint32 domain = quoit_domain_of_slice (domains->map, calendar->fleet->layout, s);

      if (domain == QUOIT_NO_INDEX || shares[domain] == 0
          || !quoit_candidates_contain (domains->candidates, calendar->fleet, s) || is_idle (calendar, s) != idle
          || !is_available (calendar, s, from_ms, until_ms))
        continue;
      shares[domain]--;
      g_array_append_val (slices, s);
      promise (calendar, s, from_ms, until_ms);
    }
}

/* Appends available candidates until there are @n slices, as the pools or zones of the request require. */
static void
choose_in_domains (Calendar *calendar, const QuoitRequest *request, const QuoitCandidates *candidates, gint64 from_ms,
                   gint64 until_ms, guint32 n, GArray *slices)
{
  QuoitRequest more = *request;
  g_auto (QuoitDomains) domains = { 0 };
  g_autofree guint32 *shares = NULL;

  n -= slices->len;
  more.members = slices;
  quoit_domains_init (&domains, calendar->fleet, &more, candidates);
  for (guint32 s = 0; s < calendar->fleet->layout->n_slices; s++)
    {
      guint32 domain = quoit_domain_of_slice (domains.map, calendar->fleet->layout, s);

      if (domain != QUOIT_NO_INDEX && quoit_candidates_contain (candidates, calendar->fleet, s)
          && is_available (calendar, s, from_ms, until_ms))
        domains.counts[domain].n_available++;
    }
  if (quoit_domains_most (&domains) < n)
    return;
  shares = quoit_domains_divide (&domains, n);
  take_in_domains (calendar, &domains, from_ms, until_ms, FALSE, shares, slices);
  take_in_domains (calendar, &domains, from_ms, until_ms, TRUE, shares, slices);
}

/* Serves a reservation of @n slices, of which it keeps those in @slices. */
static gboolean
serve (Calendar *calendar, const QuoitRequest *request, gint64 from_ms, gint64 until_ms, guint32 n, GArray *slices)
{
  QuoitCandidates candidates;

  if (slices->len == n)
    return TRUE;
  if (!quoit_candidates_find (calendar->fleet, request, &candidates, NULL))
    return FALSE;
  if (quoit_request_has_domains (request) && candidates.class_index != QUOIT_NO_INDEX)
    choose_in_domains (calendar, request, &candidates, from_ms, until_ms, n, slices);
  else
    {
      choose_available (calendar, &candidates, from_ms, until_ms, n, FALSE, slices);
      choose_available (calendar, &candidates, from_ms, until_ms, n, TRUE, slices);
    }
  quoit_candidates_clear (&candidates);
  quoit_numbers_sort ((guint32 *) (void *) slices->data, slices->len);
  return slices->len == n;
}

static void
add_move (GArray *moves, const QuoitGroupData *group, GArray *slices)
{
  const QuoitAheadMove move = { group, g_array_ref (slices) };

  g_array_append_val (moves, move);
}

/* Promises the slices that the reservation keeps, and appends them to @slices. @candidates: of its request. */
static void
keep_slices (Calendar *calendar, const QuoitGroupData *group, const QuoitCandidates *candidates, GArray *slices)
{
  for (guint32 s = 0; s < group->n_slices; s++)
    {
      guint32 slice = quoit_ahead_find_slice (calendar->fleet, group, s);

      if (slice == QUOIT_NO_INDEX || !quoit_candidates_contain (candidates, calendar->fleet, slice)
          || !can_keep (calendar, slice, group->begins_ms, group->until_ms))
        continue;
      g_array_append_val (slices, slice);
      promise (calendar, slice, group->begins_ms, group->until_ms);
    }
}

/* A reservation that lacks slices, with or without the change, does not stop others while it keeps the rest. */
static gboolean
serve_group (Calendar *calendar, const QuoitGroupData *group, GArray *moves)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (QuoitRequest) request = quoit_request_of_group (calendar->fleet->layout, group, NULL);
  QuoitCandidates candidates;
  guint32 n_sound, n_kept;

  if (request == NULL || !quoit_candidates_find (calendar->fleet, request, &candidates, NULL))
    return TRUE;
  keep_slices (calendar, group, &candidates, slices);
  n_sound = count_sound (calendar->fleet, group, &candidates);
  quoit_candidates_clear (&candidates);
  n_kept = slices->len;
  if (!serve (calendar, request, group->begins_ms, group->until_ms, group->n_slices, slices))
    return n_sound < group->n_slices && n_kept >= n_sound;
  if (n_kept < group->n_slices)
    add_move (moves, group, slices);
  return TRUE;
}

static gboolean
serve_new (Calendar *calendar, const QuoitAheadAddition *addition, GArray *moves)
{
  g_autoptr (GArray) slices = g_array_new (FALSE, FALSE, sizeof (guint32));

  if (!serve (calendar, addition->request, addition->from_ms, addition->until_ms,
              quoit_request_min_slices (addition->request), slices))
    return FALSE;
  add_move (moves, NULL, slices);
  return TRUE;
}

static gboolean
serve_all (Calendar *calendar, const QuoitAheadAddition *addition, GArray *moves)
{
  gboolean is_served = addition->request == NULL;

  for (guint i = 0; i < quoit_fleet_n_ahead (calendar->fleet); i++)
    {
      const QuoitGroupData *group = quoit_fleet_ahead_at (calendar->fleet, i);

      if (group->kind != QUOIT_RECORD_SLICES)
        continue;
      if (!is_served && addition->from_ms < group->begins_ms)
        {
          is_served = TRUE;
          if (!serve_new (calendar, addition, moves))
            return FALSE;
        }
      if (!serve_group (calendar, group, moves))
        return FALSE;
    }
  return is_served || serve_new (calendar, addition, moves);
}

static void
clear_move (gpointer data)
{
  g_array_unref (((QuoitAheadMove *) data)->slices);
}

static Calendar
calendar_new (const QuoitFleet *fleet)
{
  const guint32 n = fleet->layout->n_slices + 1;

  return (Calendar) { fleet, g_new0 (gint64, n), g_new0 (gint64, n), g_new0 (guint32, n),
                      g_array_new (FALSE, FALSE, sizeof (Promise)) };
}

GArray *
quoit_ahead_move (const QuoitFleet *fleet, const QuoitAheadAddition *addition)
{
  g_auto (Calendar) calendar = calendar_new (fleet);
  GArray *moves = g_array_new (FALSE, FALSE, sizeof (QuoitAheadMove));

  g_array_set_clear_func (moves, clear_move);
  add_fixed (&calendar, addition);
  if (take_now (&calendar, addition) && serve_all (&calendar, addition, moves))
    return moves;
  g_array_unref (moves);
  return NULL;
}

/* Returns the moves after which the request, for slices, fits; NULL if there are none. */
static GArray *
find_moves_for (const QuoitFleet *fleet, const QuoitRequest *request, gint64 end_ms)
{
  const QuoitRequest fewest = quoit_request_for_fewest (request);
  QuoitAheadAddition addition = { .taken_until_ms = end_ms };
  GArray *moves = NULL;
  QuoitPlan plan;

  quoit_plan_init (&plan);
  addition.taken = &plan;
  if (quoit_plan_slices (fleet, &fewest, &plan, NULL, NULL))
    moves = quoit_ahead_move (fleet, &addition);
  quoit_plan_clear (&plan);
  return moves;
}

static void
make_moves (QuoitFleet *fork, const GArray *moves)
{
  for (guint i = 0; i < moves->len; i++)
    {
      const QuoitAheadMove *move = &g_array_index (moves, QuoitAheadMove, i);

      quoit_fleet_replace_group (fork,
                                 quoit_fleet_group_of_slices (fork, move->group,
                                                              (const guint32 *) (const void *) move->slices->data,
                                                              move->slices->len),
                                 NULL);
    }
}

/* Returns a fork of @fleet in which the moves are made, and everything that begins before @end_ms has begun. */
static QuoitFleet *
seen_after_moves (const QuoitFleet *fleet, const GArray *moves, gint64 end_ms)
{
  g_autoptr (QuoitFleet) fork = quoit_fleet_fork (fleet);
  QuoitFleet *seen;

  make_moves (fork, moves);
  seen = quoit_fleet_seen_until (fork, end_ms);
  quoit_fleet_share_quotas (seen, fleet);
  return seen;
}

void
quoit_fork_mend_ahead (QuoitFleet *fork)
{
  const QuoitAheadAddition nothing = { 0 };
  g_autoptr (GArray) moves = NULL;

  if (quoit_fleet_n_ahead (fork) == 0 || quoit_fleet_ahead_is_sound (fork) || quoit_fleet_ahead_is_stuck (fork))
    return;
  moves = quoit_ahead_is_sound (fork) ? NULL : quoit_ahead_move (fork, &nothing);
  if (moves != NULL)
    make_moves (fork, moves);
  if (moves == NULL || moves->len == 0)
    quoit_fleet_ahead_set_stuck (fork);
}

gboolean
quoit_ahead_check_stuck (const QuoitFleet *fleet, GError **error)
{
  const QuoitAheadAddition nothing = { 0 };
  g_autoptr (GArray) moves = NULL;
  const QuoitGroupData *group;

  if (quoit_fleet_n_ahead (fleet) == 0 || !quoit_fleet_ahead_is_stuck (fleet))
    return TRUE;
  moves = quoit_ahead_move (fleet, &nothing);
  if (moves == NULL || moves->len == 0)
    return TRUE;
  group = g_array_index (moves, QuoitAheadMove, 0).group;
  return quoit_fail (error, QUOIT_ERROR_FAILED,
                     "reservation '%s@%" G_GUINT64_FORMAT "' lacks slices, and does not get those that are free",
                     group->name, group->id);
}

/* Returns what the request sees if reservations ahead keep their slices in @seen, or get others. Takes @seen. */
static QuoitFleet *
see_after_moves (const QuoitFleet *fleet, const QuoitRequest *request, gint64 end_ms, QuoitFleet *seen)
{
  g_autoptr (GArray) moves = NULL;
  QuoitFleet *after;

  if (seen == NULL || quoit_request_is_by_host (request) || quoit_slices_fit (seen, request)
      || !quoit_quota_admits_after (fleet, request, NULL, 0))
    return seen;
  moves = find_moves_for (fleet, request, end_ms);
  if (moves == NULL)
    return seen;
  after = seen_after_moves (fleet, moves, end_ms);
  quoit_fleet_unref (seen);
  return after;
}

QuoitFleet *
quoit_fleet_seen_by (const QuoitFleet *fleet, const QuoitRequest *request, gint64 now_ms)
{
  const gint64 end_ms = quoit_request_latest_end (request, now_ms);

  return see_after_moves (fleet, request, end_ms, quoit_fleet_seen_until (fleet, end_ms));
}

QuoitFleet *
quoit_fleet_seen_for (const QuoitFleet *fleet, const QuoitRequest *request, gint64 from_ms, gint64 end_ms)
{
  if (quoit_fleet_n_ahead (fleet) == 0 || quoit_fleet_ahead_at (fleet, 0)->begins_ms >= end_ms)
    return NULL;
  return see_after_moves (fleet, request, end_ms, quoit_fleet_seen_between (fleet, from_ms, end_ms));
}
