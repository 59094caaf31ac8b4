/* SPDX-License-Identifier: Apache-2.0 */
/* Reservations ahead that lack slices, because nodes die or drain, get what becomes free: drawn changes, after each of
 * which quoit_snapshot_check() searches for slices again if the ledger does not. */
#include "ahead-fixture.h"
#include "../shortcuts.h"

enum { N_WORLDS = 300, N_STEPS = 200, N_SLICES = 6, N_HOSTS = 4 };

typedef struct {
  QuoitLedger *ledger;
  GRand *rand;
  gint64 now_ms;
  guint n_named, n_waiting, n_mended;
  gboolean was_waiting;
} World;

static gint64
draw_minutes (World *world, gint32 least, gint32 most)
{
  return minute_ms * g_rand_int_range (world->rand, least, most);
}

static void
reserve (World *world, gboolean is_ahead)
{
  g_autofree char *name = g_strdup_printf ("g%u", world->n_named++);
  gint64 lease_ms = is_ahead ? 0 : draw_minutes (world, 0, 8), from_ms = world->now_ms + draw_minutes (world, 1, 12);
  g_autoptr (QuoitRequest) request = request_new (name, g_rand_int_range (world->rand, 1, 4), lease_ms);
  g_autoptr (QuoitGroup) group = NULL;

  if (g_rand_int_range (world->rand, 0, 3) == 0)
    quoit_request_set_pool (request, g_rand_int_range (world->rand, 0, 2) == 0 ? "a" : "b");
  if (is_ahead)
    group = quoit_ledger_reserve_at (world->ledger, request, from_ms, from_ms + draw_minutes (world, 1, 8),
                                     world->now_ms, NULL, NULL);
  else if (lease_ms == 0)
    group = quoit_ledger_hold (world->ledger, request, 8 * minute_ms, world->now_ms, NULL, NULL);
  else
    group = quoit_ledger_reserve (world->ledger, request, world->now_ms, NULL, NULL);
}

static void
change_group (World *world)
{
  g_autoptr (QuoitSnapshot) last = quoit_ledger_snapshot (world->ledger);
  const uint32_t n = quoit_snapshot_get_n_groups (last);
  g_autoptr (QuoitGroup) group = NULL, changed = NULL;
  g_autoptr (QuoitGroupChange) change = NULL;
  const char *handle;

  if (n == 0)
    return;
  group = quoit_snapshot_dup_group (last, (uint32_t) g_rand_int_range (world->rand, 0, (gint32) n));
  handle = quoit_group_get_handle (group);
  switch (g_rand_int_range (world->rand, 0, 7))
    {
    case 0:
      changed = quoit_ledger_renew (world->ledger, handle, draw_minutes (world, 1, 8), world->now_ms, NULL);
      return;
    case 1:
      changed = quoit_ledger_set_expected_end (world->ledger, handle, world->now_ms + draw_minutes (world, 0, 9),
                                               world->now_ms, NULL);
      return;
    case 2:
      change = quoit_ledger_resize (world->ledger, handle, g_rand_int_range (world->rand, 1, 4), world->now_ms, NULL,
                                    NULL);
      return;
    case 3:
      change = quoit_ledger_repair (world->ledger, handle, world->now_ms, NULL, NULL);
      return;
    case 4:
      changed = quoit_ledger_confirm (world->ledger, handle, draw_minutes (world, 0, 4), world->now_ms, NULL);
      return;
    default:
      quoit_ledger_release (world->ledger, handle, world->now_ms, NULL);
    }
}

static void
change_node (World *world)
{
  static const QuoitNodeState states[] = { QUOIT_NODE_ALIVE, QUOIT_NODE_ALIVE, QUOIT_NODE_DRAINING, QUOIT_NODE_DEAD };
  const guint slice = (guint) g_rand_int_range (world->rand, 0, N_SLICES);
  g_autofree char *node
      = g_strdup_printf ("%c-%u-%u", "ab"[slice / 3], slice % 3, (guint) g_rand_int_range (world->rand, 0, N_HOSTS));

  ck_assert (quoit_ledger_set_node_state (world->ledger, node, states[g_rand_int_range (world->rand, 0, 4)],
                                          world->now_ms, NULL));
}

static void
change_window (World *world)
{
  const gint64 from_ms = world->now_ms + draw_minutes (world, 0, 8);

  if (g_rand_int_range (world->rand, 0, 2) == 0)
    quoit_ledger_remove_window (world->ledger, "w", world->now_ms, NULL);
  else
    quoit_ledger_add_window (world->ledger, "w", QUOIT_WINDOW_SLICE, "a-0", from_ms, from_ms + 3 * minute_ms,
                             world->now_ms, NULL);
}

static void
world_step (World *world)
{
  g_autoptr (QuoitSnapshot) last = NULL, present = NULL;
  GError *error = NULL;
  gboolean is_waiting;

  world->now_ms += draw_minutes (world, 0, 2) * (g_rand_int_range (world->rand, 0, 2) == 0);
  switch (g_rand_int_range (world->rand, 0, 6))
    {
    case 0:
      reserve (world, TRUE);
      break;
    case 1:
      reserve (world, FALSE);
      break;
    case 2:
      change_node (world);
      break;
    case 3:
      change_window (world);
      break;
    default:
      change_group (world);
    }
  last = quoit_ledger_snapshot (world->ledger);
  present = quoit_snapshot_as_of (last, world->now_ms, NULL);
  quoit_snapshot_check (last, &error);
  ck_assert_ok (error);
  quoit_snapshot_check (present, &error);
  ck_assert_ok (error);
  is_waiting = has_incomplete_reservation (last);
  world->n_waiting += is_waiting;
  world->n_mended += world->was_waiting && !is_waiting;
  world->was_waiting = is_waiting;
}

START_TEST (waiting_reservations_get_what_becomes_free)
{
  guint n_waiting = 0, n_mended = 0;

  for (guint32 seed = 1; seed <= N_WORLDS; seed++)
    {
      g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      World world = { .ledger = ledger, .rand = rand, .now_ms = first_ms };

      import_fleet (ledger, "v6e 4x4 x3 pool=a; v6e 4x4 x3 pool=b");
      for (guint i = 0; i < N_STEPS; i++)
        world_step (&world);
      n_waiting += world.n_waiting;
      n_mended += world.n_mended;
    }
  ck_assert_uint_gt (n_waiting, 5 * N_WORLDS);
  ck_assert_uint_gt (n_mended, N_WORLDS);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("ahead-waiting");
  TCase *tcase = tcase_create ("ahead-waiting");

  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, waiting_reservations_get_what_becomes_free);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
