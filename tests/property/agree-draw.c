/* SPDX-License-Identifier: Apache-2.0 */
#include "agree.h"

const DrawnClass drawn_classes[9]
    = { { "v6e", "4x4", 4, 4, FALSE },       { "v6e", "2x4", 4, 2, FALSE },  { "v6e", "2x4", 8, 1, FALSE },
        { "v6e", "2x2", 4, 1, FALSE },       { "v6e", "1x1", 1, 1, FALSE },  { "v5litepod", "2x4", 4, 2, FALSE },
        { "v5litepod", "4x4", 4, 4, FALSE }, { "v4", "4x4x4", 4, 16, TRUE }, { "tpu7x", "4x4x4", 4, 16, TRUE } };

static const char *const zones[] = { "", "z1", "z2" };
static const char *const owners[] = { "", "ana", "bo" };
static const char *const teams[] = { "", "x", "y" };

guint
draw (GRand *rand, guint n)
{
  return (guint) g_rand_int_range (rand, 0, (gint32) n);
}

/* --- fleets --- */

static void
add_marks (GString *text, const DrawnPool *pool, char mark, const char *key)
{
  const char *separator = key;

  for (guint s = 0; s < pool->n_slices; s++)
    for (guint w = 0; w < drawn_classes[pool->class].n_hosts; w++)
      if (pool->mark[s][w] == mark)
        {
          g_string_append_printf (text, "%s%u.%u", separator, s, w);
          separator = ",";
        }
}

char *
drawn_fleet_text (const DrawnState *state)
{
  GString *text = g_string_new (NULL);

  for (guint p = 0; p < state->n_pools; p++)
    {
      const DrawnPool *pool = &state->pools[p];
      const DrawnClass *class = &drawn_classes[pool->class];

      g_string_append_printf (text, "%s%s %s x%u pool=p%u hostchips=%u", p == 0 ? "" : "; ", class->accelerator,
                              class->topology, pool->n_slices, p, class->chips_per_host);
      if (class->is_cube)
        g_string_append_printf (text, " block=b%u grid=2x2x%u", p % 2, (MOST_POOLS + 1) / 2 * MOST_SLICES / 4);
      if (*pool->zone != '\0')
        g_string_append_printf (text, " zone=%s", pool->zone);
      add_marks (text, pool, 'b', " busy=");
      add_marks (text, pool, 'd', " draining=");
      add_marks (text, pool, 'x', " dead=");
    }
  return g_string_free (text, FALSE);
}

static void
draw_fleet (DrawnState *state)
{
  /* Two of three pools have one of few classes, so that requests often have several pools to choose from. */
  guint usual = draw (state->rand, G_N_ELEMENTS (drawn_classes));

  state->n_pools = 1 + draw (state->rand, MOST_POOLS);
  for (guint p = 0; p < state->n_pools; p++)
    {
      DrawnPool *pool = &state->pools[p];

      pool->class = draw (state->rand, 3) > 0 ? usual : draw (state->rand, G_N_ELEMENTS (drawn_classes));
      pool->n_slices = 1 + draw (state->rand, MOST_SLICES);
      pool->zone = zones[draw (state->rand, G_N_ELEMENTS (zones))];
      for (guint s = 0; s < pool->n_slices; s++)
        for (guint w = 0; w < drawn_classes[pool->class].n_hosts; w++)
          pool->mark[s][w] = draw (state->rand, 12 * MAX (drawn_classes[pool->class].n_hosts / 4, 1)) > 0
                                 ? '.'
                                 : "bdx"[draw (state->rand, 3)];
    }
}

/* --- requests --- */

static char *
draw_slice_name (DrawnState *state)
{
  guint pool = draw (state->rand, state->n_pools);
  guint slice = draw (state->rand, state->pools[pool].n_slices);

  return draw (state->rand, 4) == 0 ? g_strdup_printf ("fleet/p%u/p%u-%u", pool, pool, slice)
                                    : g_strdup_printf ("p%u-%u", pool, slice);
}

static char *
draw_node_name (DrawnState *state)
{
  guint p = draw (state->rand, state->n_pools);
  const DrawnPool *pool = &state->pools[p];

  return g_strdup_printf ("p%u-%u-%u", p, draw (state->rand, pool->n_slices),
                          draw (state->rand, drawn_classes[pool->class].n_hosts));
}

/* A selector for slices, or for bundles. For slices, dead nodes decide only if no node is alive, so a label that
 * differs from node to node would make the verdict depend on which nodes are dead. */
enum { SLICE_SELECTORS = 6, BUNDLE_SELECTORS = 7 };

static void
draw_selector (DrawnState *state, guint n_choices, char **key, char **value)
{
  guint pool = draw (state->rand, state->n_pools);

  switch (draw (state->rand, n_choices))
    {
    case 0:
      *key = g_strdup ("ray.io/node-group");
      *value = g_strdup_printf ("p%u", pool);
      return;
    case 1:
      *key = g_strdup ("ray.io/node-group");
      *value = g_strdup_printf ("!p%u", pool);
      return;
    case 2:
      *key = g_strdup ("ray.io/availability-zone");
      *value = g_strdup (draw (state->rand, 2) == 0 ? "z1" : "!in(z2)");
      return;
    case 3:
      *key = g_strdup ("ray.io/tpu-topology");
      *value = g_strdup (drawn_classes[state->pools[pool].class].topology);
      return;
    case 4:
      *key = g_strdup ("ray.io/tpu-slice-name");
      *value = g_strdup_printf ("!in(p%u-0,p0-1)", pool);
      return;
    case 5:
      *key = g_strdup ("ray.io/accelerator-type");
      *value = g_strdup (draw (state->rand, 2) == 0 ? "TPU-V6E" : "!TPU-V6E");
      return;
    default:
      *key = g_strdup ("ray.io/tpu-worker-id");
      *value = g_strdup (draw (state->rand, 2) == 0 ? "0" : "!in(1,2)");
    }
}

/* Parts that are smaller than the slices of the class, or as large. */
static void
draw_cut (DrawnState *state, QuoitRequest *request, const char *topology)
{
  static const char *const topologies[] = { "2x2", "2x4" };
  guint i = draw (state->rand, 3);

  quoit_request_set_cut (request, draw (state->rand, 2) == 0 ? QUOIT_CUT_ANY : QUOIT_CUT_ALIGNED, NULL);
  quoit_request_set_topology (request, i == 2 ? topology : topologies[i], NULL);
}

/* GKE's partitions of a cube, which tpu7x has. */
static void
draw_partition (DrawnState *state, QuoitRequest *request)
{
  static const char *const topologies[] = { "2x2x1", "2x2x2", "2x2x4", "2x4x4", "4x4x4" };

  quoit_request_set_cut (request, QUOIT_CUT_PARTITION, NULL);
  quoit_request_set_topology (request, topologies[draw (state->rand, G_N_ELEMENTS (topologies))], NULL);
}

/* Slices of one to six cubes. Returns the topology. */
static const char *
draw_cubes (DrawnState *state, DrawnAlternative *alternative)
{
  static const char *const topologies[] = { "4x4x4", "4x4x8", "4x8x8", "4x4x12", "4x8x12" };

  quoit_request_set_cubes (alternative->request, draw (state->rand, 2) == 0 ? QUOIT_CUBES_ANY : QUOIT_CUBES_ADJACENT,
                           NULL);
  return topologies[draw (state->rand, G_N_ELEMENTS (topologies))];
}

static void
draw_slices (DrawnState *state, DrawnAlternative *alternative)
{
  QuoitRequest *request = alternative->request;
  const DrawnClass *class = &drawn_classes[draw (state->rand, 8) == 0
                                               ? draw (state->rand, G_N_ELEMENTS (drawn_classes))
                                               : state->pools[draw (state->rand, state->n_pools)].class];
  gint64 n = 1 + draw (state->rand, 1 + 2 * draw (state->rand, 4));
  gboolean is_parted;

  quoit_request_set_accelerator (request, class->accelerator, NULL);
  is_parted = class->is_cube && g_str_equal (class->accelerator, "tpu7x") && draw (state->rand, 3) == 0;
  alternative->has_cubes = class->is_cube && !is_parted && (alternative->has_cut || draw (state->rand, 2) == 0);
  alternative->has_cut = is_parted || (alternative->has_cut && !alternative->has_cubes);
  if (is_parted)
    draw_partition (state, request);
  else if (alternative->has_cut)
    draw_cut (state, request, class->topology);
  else if (alternative->has_cubes)
    quoit_request_set_topology (request, draw_cubes (state, alternative), NULL);
  else if (class->is_cube && draw (state->rand, 3) == 0)
    quoit_request_set_topology (request, "4x4x8", NULL); /* an option can be to join cubes */
  else
    quoit_request_set_topology (request, class->topology, NULL);
  if (draw (state->rand, 3) > 0)
    quoit_request_set_chips_per_host (request, class->chips_per_host, NULL);
  if (draw (state->rand, 5) == 0)
    quoit_request_set_slice_range (request, n, n + draw (state->rand, 4), NULL);
  else
    quoit_request_set_slices (request, n, NULL);
  if (draw (state->rand, alternative->has_cut || alternative->has_cubes ? 80 : 8) == 0)
    quoit_request_set_tpu_per_bundle (request, draw (state->rand, 2) == 0 ? "1" : "2", NULL);
  for (guint i = draw (state->rand, 12) == 0 ? 1 + draw (state->rand, 5) : 0; i > 0; i--)
    {
      g_autofree char *slice = draw_slice_name (state);

      quoit_request_add_slice (request, slice);
    }
  for (guint i = draw (state->rand, 6) == 0 ? 1 + draw (state->rand, 3) : 0; i > 0; i--)
    {
      g_autofree char *slice = draw_slice_name (state);

      quoit_request_exclude_slice (request, slice);
    }
}

static void
draw_bundles (DrawnState *state, QuoitRequest *request)
{
  static const char *const amounts[] = { "TPU=1", "TPU=2", "TPU=4", "TPU=0.5", "CPU=1" };
  guint n_kinds = 1 + draw (state->rand, 2), n_bundles = 0;

  for (guint i = 0; i < n_kinds; i++)
    {
      guint n = 1 + draw (state->rand, 3);

      quoit_request_add_bundles (request, amounts[draw (state->rand, G_N_ELEMENTS (amounts))], n, NULL);
      n_bundles += n;
    }
  quoit_request_set_strategy (request, (QuoitStrategy) draw (state->rand, 4), NULL);
  if (draw (state->rand, 3) == 0)
    quoit_request_set_policy (request, QUOIT_POLICY_RAY, NULL);
  if (draw (state->rand, 4) == 0)
    quoit_request_set_topology_label (request, "ray.io/tpu-slice-name", 1 + draw (state->rand, 2), NULL);
  for (guint i = draw (state->rand, 3); i > 1; i--)
    {
      g_autofree char *key = NULL, *value = NULL;

      draw_selector (state, BUNDLE_SELECTORS, &key, &value);
      quoit_request_select_bundle (request, draw (state->rand, n_bundles), key, value, NULL);
    }
}

gint64
draw_lease_ms (DrawnState *state)
{
  return draw (state->rand, 3) == 0 ? 0 : MINUTE_MS * (1 + draw (state->rand, 10));
}

/* Mostly a group that exists. */
static void
draw_near (DrawnState *state, DrawnAlternative *alternative)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (state->ledger);
  guint n_groups = quoit_snapshot_get_n_groups (snapshot);

  if (n_groups > 0 && draw (state->rand, 12) > 0)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, draw (state->rand, n_groups));

      g_strlcpy (alternative->near, quoit_group_get_name (group), sizeof alternative->near);
    }
  else
    g_snprintf (alternative->near, sizeof alternative->near, "g%u", draw (state->rand, state->n_named + 1));
  require (quoit_request_set_near (alternative->request, alternative->near, NULL), "near %s", alternative->near);
}

/* Which domains of slices are used, and near which group. */
static void
draw_domains (DrawnState *state, DrawnAlternative *alternative)
{
  QuoitDomain domain = draw (state->rand, 2) == 0 ? QUOIT_DOMAIN_POOL : QUOIT_DOMAIN_ZONE;

  switch (draw (state->rand, 6))
    {
    case 0:
      require (quoit_request_keep_to (alternative->request, domain, NULL), "domain %d", (int) domain);
      alternative->has_domains = TRUE;
      break;
    case 1:
      require (quoit_request_spread_over (alternative->request, domain, 1 + draw (state->rand, 3),
                                          1 + draw (state->rand, 3), NULL),
               "domain %d", (int) domain);
      alternative->has_domains = TRUE;
      break;
    default:
      break;
    }
  if (draw (state->rand, 6) == 0)
    draw_near (state, alternative);
}

/* Draws what is requested, and where. Returns its own expected run time; 0: that of the request. */
static gint64
draw_alternative (DrawnState *state, DrawnAlternative *alternative)
{
  QuoitRequest *request = alternative->request;
  gint64 runtime_ms = draw (state->rand, 5) == 0 ? MINUTE_MS * (1 + draw (state->rand, 12)) : 0;

  alternative->has_bundles = draw (state->rand, 4) == 0;
  if (alternative->has_bundles)
    draw_bundles (state, request);
  else
    {
      alternative->has_cut = draw (state->rand, 10) == 0;
      draw_slices (state, alternative);
      if ((!alternative->has_cut && !alternative->has_cubes) || draw (state->rand, 20) == 0)
        draw_domains (state, alternative);
    }
  if (draw (state->rand, 4) == 0)
    {
      guint pool = draw (state->rand, 20) == 0 ? 77 : draw (state->rand, state->n_pools);
      g_autofree char *text = g_strdup_printf (draw (state->rand, 2) == 0 ? "p%u" : "fleet/p%u", pool);

      quoit_request_set_pool (request, text);
    }
  if (draw (state->rand, 5) == 0)
    quoit_request_set_zone (request, draw (state->rand, 8) == 0 ? "z9" : zones[1 + draw (state->rand, 2)]);
  for (guint i = draw (state->rand, 4); i > 2; i--)
    {
      g_autofree char *key = NULL, *value = NULL;

      draw_selector (state, SLICE_SELECTORS, &key, &value);
      quoit_request_add_selector (request, key, value, NULL);
    }
  for (guint i = draw (state->rand, 6) == 0 ? 1 + draw (state->rand, 3) : 0; i > 0; i--)
    {
      g_autofree char *node = draw_node_name (state);

      quoit_request_exclude_node (request, node);
    }
  if (runtime_ms != 0)
    quoit_request_set_expected_runtime_ms (request, runtime_ms, NULL);
  return runtime_ms;
}

/* What the alternatives have in common. */
typedef struct {
  const char *owner, *team;
  gint64 lease_ms;
  gint32 priority;
} Common;

static void
set_common (QuoitRequest *request, const Common *common)
{
  if (common->lease_ms != 0)
    quoit_request_set_lease_ms (request, common->lease_ms, NULL);
  if (*common->owner != '\0')
    quoit_request_set_owner (request, common->owner, NULL);
  if (*common->team != '\0')
    quoit_request_set_label (request, "team", common->team, NULL);
  quoit_request_set_priority (request, common->priority);
}

void
draw_request (DrawnState *state, const char *name, gint64 lease_ms, DrawnRequest *drawn)
{
  const Common common
      = { owners[draw (state->rand, G_N_ELEMENTS (owners))], teams[draw (state->rand, G_N_ELEMENTS (teams))], lease_ms,
          (gint32) draw (state->rand, 4) - 1 };
  gint64 runtime_ms[1 + MOST_ALTERNATIVES];

  *drawn = (DrawnRequest) { .n_alone = draw (state->rand, 6) == 0 ? 2 + draw (state->rand, MOST_ALTERNATIVES) : 1 };
  for (guint i = 0; i < drawn->n_alone; i++)
    {
      drawn->alone[i].request = quoit_request_new (name, NULL);
      runtime_ms[i] = draw_alternative (state, &drawn->alone[i]);
    }
  drawn->request = quoit_request_copy (drawn->alone[0].request, name, NULL);
  for (guint i = 1; i < drawn->n_alone; i++)
    require (quoit_request_add_alternative (drawn->request, drawn->alone[i].request, NULL), "alternative %u", i);
  set_common (drawn->request, &common);
  for (guint i = 0; i < drawn->n_alone; i++)
    {
      set_common (drawn->alone[i].request, &common);
      if (runtime_ms[i] == 0 && runtime_ms[0] != 0)
        quoit_request_set_expected_runtime_ms (drawn->alone[i].request, runtime_ms[0], NULL);
    }
}

void
drawn_request_clear (DrawnRequest *drawn)
{
  quoit_request_free (drawn->request);
  for (guint i = 0; i < drawn->n_alone; i++)
    quoit_request_free (drawn->alone[i].request);
}

/* --- what has happened --- */

static void
draw_quota (DrawnState *state)
{
  const DrawnClass *class = &drawn_classes[state->pools[draw (state->rand, state->n_pools)].class];
  g_autofree char *name = g_strdup_printf ("q%u", state->n_named++);
  gboolean is_for_team = draw (state->rand, 2) == 0;
  guint depth = draw (state->rand, 3);
  gint64 nominal = 4 * draw (state->rand, 12),
         most = draw (state->rand, 2) == 0 ? -1 : nominal + 4 * draw (state->rand, 6);
  const char *cohort = draw (state->rand, 2) == 0 ? "red" : NULL;

  quoit_ledger_set_quota (state->ledger, name, is_for_team ? "team" : NULL,
                          (is_for_team ? teams : owners)[1 + draw (state->rand, 2)],
                          depth > 0 ? class->accelerator : NULL, depth > 1 ? class->topology : NULL, nominal,
                          cohort == NULL ? -1 : most, cohort, state->now_ms, NULL);
}

static void
draw_window (DrawnState *state)
{
  g_autofree char *name = g_strdup_printf ("w%u", state->n_named++);
  guint pool = draw (state->rand, state->n_pools);
  gint64 from_ms = state->now_ms + MINUTE_MS * ((gint64) draw (state->rand, 12) - 3);
  gint64 until_ms = MAX (from_ms, state->now_ms) + MINUTE_MS * (1 + draw (state->rand, 6));
  QuoitWindowScope scope = QUOIT_WINDOW_POOL;
  g_autofree char *target = NULL;

  switch (draw (state->rand, 4))
    {
    case 0:
      scope = QUOIT_WINDOW_NODE;
      target = g_strdup_printf ("p%u-0-0", pool);
      break;
    case 1:
      scope = QUOIT_WINDOW_SLICE;
      target = draw_slice_name (state);
      break;
    case 2:
      scope = QUOIT_WINDOW_ZONE;
      target = g_strdup (zones[1 + draw (state->rand, 2)]);
      break;
    default:
      target = g_strdup_printf ("p%u", pool);
    }
  state->has_windows
      |= quoit_ledger_add_window (state->ledger, name, scope, target, from_ms, until_ms, state->now_ms, NULL);
}

static void
draw_group (DrawnState *state)
{
  g_autofree char *name = g_strdup_printf ("g%u", state->n_named++);
  g_auto (DrawnRequest) drawn = { 0 };
  g_autoptr (QuoitGroup) group = NULL;
  gint64 lease_ms = MINUTE_MS * (1 + draw (state->rand, 10));

  draw_request (state, name, draw_lease_ms (state), &drawn);
  if (draw (state->rand, 6) == 0)
    group = quoit_ledger_hold (state->ledger, drawn.request, lease_ms, state->now_ms, NULL, NULL);
  else
    group = quoit_ledger_reserve (state->ledger, drawn.request, state->now_ms, NULL, NULL);
  if (group != NULL && draw (state->rand, 3) == 0)
    {
      quoit_group_unref (quoit_ledger_set_expected_end (
          state->ledger, name, state->now_ms + MINUTE_MS * (1 + draw (state->rand, 15)), state->now_ms, NULL));
      state->has_estimates = TRUE;
    }
}

static void
draw_reservation_ahead (DrawnState *state)
{
  g_autofree char *name = g_strdup_printf ("r%u", state->n_named++);
  g_auto (DrawnRequest) drawn = { 0 };
  g_autoptr (QuoitGroup) group = NULL;
  gint64 from_ms = state->now_ms + MINUTE_MS * (1 + draw (state->rand, 10));
  gint64 until_ms = draw (state->rand, 4) == 0 ? 0 : from_ms + MINUTE_MS * (1 + draw (state->rand, 6));

  draw_request (state, name, 0, &drawn);
  group = quoit_ledger_reserve_at (state->ledger, drawn.request, from_ms, until_ms, state->now_ms, NULL, NULL);
  state->has_ahead |= group != NULL;
}

static void
draw_node_state (DrawnState *state)
{
  g_autofree char *node = draw_node_name (state);

  quoit_ledger_set_node_state (state->ledger, node, (QuoitNodeState) draw (state->rand, 3), state->now_ms, NULL);
}

/* Each state has another mixture, so that many have no calendar, and many no quotas. */
static void
draw_past (DrawnState *state)
{
  guint n_steps = draw (state->rand, 25);
  gboolean has_ahead = draw (state->rand, 2) == 0, has_windows = draw (state->rand, 3) == 0;

  for (guint i = draw (state->rand, 2) * draw (state->rand, 5); i > 0; i--)
    draw_quota (state);
  for (guint i = 0; i < n_steps; i++)
    {
      guint step = draw (state->rand, 12);

      state->now_ms += MINUTE_MS * (draw (state->rand, 4) == 0);
      if (step < 2 && has_ahead)
        draw_reservation_ahead (state);
      else if (step == 2 && has_windows)
        draw_window (state);
      else if (step == 3)
        draw_node_state (state);
      else if (step == 4)
        quoit_ledger_set_owner (state->ledger, owners[1 + draw (state->rand, 2)], 0, state->now_ms, NULL);
      else
        draw_group (state);
    }
  state->now_ms += MINUTE_MS * draw (state->rand, 2);
}

void
drawn_state_init (DrawnState *state, guint32 seed)
{
  g_autofree char *text = NULL;
  g_autoptr (GError) error = NULL;

  *state = (DrawnState) {
    .rand = g_rand_new_with_seed (seed), .seed = seed, .ledger = quoit_ledger_open_memory (), .now_ms = T0
  };
  draw_fleet (state);
  text = drawn_fleet_text (state);
  require (import_text (state->ledger, text, NULL, state->now_ms, &error), "seed %u: %s: %s", seed, text,
           error_text (error));
  draw_past (state);
}

void
drawn_state_clear (DrawnState *state)
{
  quoit_ledger_unref (state->ledger);
  g_rand_free (state->rand);
}
