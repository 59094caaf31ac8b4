/* SPDX-License-Identifier: Apache-2.0 */
/* The disk fails, the memory fails, the power fails: at every single operation of a ledger's life. A step that fails
 * has changed nothing, a step that was acknowledged is there, and a retry works. */
#include "../ground.h"
#include "disk.h"

typedef struct {
  char *path, *copy;
  Quoit *quoit; /* NULL: not open */
} World;

/* --- a ledger's life, step by step --- */

static gboolean
create (World *world, gint64 now_ms, GError **error)
{
  g_clear_pointer (&world->quoit, quoit_unref);
  world->quoit = quoit_create (world->path, 0, error);
  return world->quoit != NULL;
}

static gboolean
reopen (World *world, gint64 now_ms, GError **error)
{
  g_clear_pointer (&world->quoit, quoit_unref);
  world->quoit = quoit_open (world->path, 0, error);
  return world->quoit != NULL;
}

static gboolean
import (World *world, gint64 now_ms, GError **error)
{
  return import_text (world->quoit, "v6e 4x4 x3 zone=z; v5p 2x2x2 x2", "a", now_ms, error);
}

static gboolean
import_changed (World *world, gint64 now_ms, GError **error)
{
  return import_text (world->quoit, "v6e 4x4 x4 zone=z; v5p 2x2x4 x1 pool=new dead=0.1", "a", now_ms, error);
}

static gboolean
reserve (Quoit *quoit, const char *name, const char *key, gint64 n_slices, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitRequest) request = want (name, "v6e", "4x4", n_slices);
  g_autoptr (QuoitGroup) group = NULL;

  quoit_request_set_key (request, key);
  group = quoit_reserve (quoit, request, now_ms, error);
  return group != NULL;
}

static gboolean
reserve_two (World *world, gint64 now_ms, GError **error)
{
  return reserve (world->quoit, "two", "key-two", 2, now_ms, error);
}

static gboolean
reserve_one (World *world, gint64 now_ms, GError **error)
{
  return reserve (world->quoit, "one", NULL, 1, now_ms, error);
}

static gboolean
kill_node (World *world, gint64 now_ms, GError **error)
{
  return quoit_set_node_state (world->quoit, "v6e-4x4-0-1", QUOIT_NODE_DEAD, now_ms, error);
}

/* The caller who gives up at the first failure. */
static gboolean
batch (World *world, gint64 now_ms, GError **error)
{
  if (!quoit_begin_batch (world->quoit, error))
    return FALSE;
  if (quoit_release (world->quoit, "one", now_ms, error)
      && quoit_set_node_state (world->quoit, "v6e-4x4-0-1", QUOIT_NODE_ALIVE, now_ms, error)
      && reserve (world->quoit, "in-batch", "key-batch", 1, now_ms, error))
    return quoit_commit_batch (world->quoit, error);
  return quoit_cancel_batch (world->quoit), FALSE;
}

static gboolean
release (World *world, gint64 now_ms, GError **error)
{
  return quoit_release (world->quoit, "two", now_ms, error);
}

static gboolean
backup (World *world, gint64 now_ms, GError **error)
{
  g_unlink (world->copy);
  return quoit_backup (world->quoit, world->copy, error);
}

static gboolean
verify (World *world, gint64 now_ms, GError **error)
{
  return quoit_verify (world->quoit, error);
}

static gboolean
refresh (World *world, gint64 now_ms, GError **error)
{
  return quoit_refresh (world->quoit, error);
}

static guint64
last_seq (const World *world)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (world->quoit);

  return quoit_snapshot_get_seq (snapshot);
}

static gboolean
compact_most (World *world, gint64 now_ms, GError **error)
{
  return quoit_compact_journal (world->quoit, last_seq (world) - 1, now_ms, NULL, error);
}

static gboolean
compact_all (World *world, gint64 now_ms, GError **error)
{
  return quoit_compact_journal (world->quoit, last_seq (world) + 1, now_ms, NULL, error);
}

static gboolean
look_back (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) past = quoit_snapshot_at (world->quoit, last_seq (world) - 1, error);

  return past != NULL;
}

static gboolean
list (World *world, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitJournal) journal = NULL;
  guint64 seq;

  if (!quoit_read_checkpoint (world->quoit, &seq, NULL, error))
    return FALSE;
  journal = quoit_changes_since (world->quoit, seq, error);
  hold (journal == NULL || quoit_journal_get_n_entries (journal) == last_seq (world) - seq, "%u entries behind %u",
        quoit_journal_get_n_entries (journal), (guint) seq);
  return journal != NULL;
}

static const struct {
  const char *name;
  gboolean (*run) (World *, gint64, GError **);
} steps[] = {
  { "create", create },
  { "import", import },
  { "reserve two", reserve_two },
  { "reserve one", reserve_one },
  { "kill a node", kill_node },
  { "batch", batch },
  { "backup", backup },
  { "compact", compact_most },
  { "look back", look_back },
  { "release", release },
  { "import changed", import_changed },
  { "verify", verify },
  { "open", reopen },
  { "refresh", refresh },
  { "compact all", compact_all },
  { "reserve again", reserve_one },
  { "list", list },
  { "open again", reopen },
};

/* All that there is to know of a ledger. */
static char *
state_of (Quoit *quoit)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);
  g_autofree char *json = quoit_snapshot_dup_json (snapshot);

  return g_strdup_printf ("%u %s", (guint) quoit_snapshot_get_seq (snapshot), json);
}

static guint64
checkpoint_of (Quoit *quoit)
{
  g_autoptr (GError) error = NULL;
  guint64 seq;

  hold (quoit_read_checkpoint (quoit, &seq, NULL, &error), "%s", said (error));
  return seq;
}

/* The state after each step of a life without failures, and where the checkpoint stands. */
static char *expected[G_N_ELEMENTS (steps)];
static guint64 checkpoints[G_N_ELEMENTS (steps)];

static World
new_world (char *dir)
{
  return (World) { g_build_filename (dir, "ledger.db", NULL), g_build_filename (dir, "copy.db", NULL), NULL };
}

static void
end_world (World *world)
{
  g_clear_pointer (&world->quoit, quoit_unref);
  for (guint i = 0; i < 4; i++)
    {
      static const char *const tails[] = { "", "-wal", "-shm", "-journal" };
      g_autofree char *name = g_strconcat (world->path, tails[i], NULL);
      g_autofree char *copy = g_strconcat (world->copy, tails[i], NULL);

      g_unlink (name);
      g_unlink (copy);
    }
  g_free (world->path);
  g_free (world->copy);
}

static void
live (char *dir)
{
  World world = new_world (dir);

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autoptr (GError) error = NULL;

      hold (steps[i].run (&world, T0 + i, &error), "%s: %s", steps[i].name, said (error));
      g_free (expected[i]);
      expected[i] = state_of (world.quoit);
      checkpoints[i] = checkpoint_of (world.quoit);
    }
  end_world (&world);
}

/* --- one failure in a life --- */

static const char *
expected_before (guint step)
{
  return step == 0 ? NULL : expected[step - 1];
}

/* A copy that was acknowledged is a database of its own. */
static void
check_copy (const World *world, guint step)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Quoit) copy = NULL;
  g_autofree char *state = NULL;

  copy = quoit_open (world->copy, 0, &error);
  hold (copy != NULL, "the copy: %s", said (error));
  hold_verified (copy, "the copy");
  state = state_of (copy);
  hold (strcmp (state, expected[step]) == 0, "the copy is not what was copied: %s", state);
}

/* After a failure: nothing has changed, and a retry works, on this handle or on a new one. */
static void
recover (World *world, guint step, const char *what)
{
  g_autoptr (GError) error = NULL, again = NULL;
  g_autofree char *state = NULL;

  if (world->quoit != NULL)
    {
      state = state_of (world->quoit);
      hold (strcmp (state, expected_before (step)) == 0, "%s: changed although it failed: %s", what, state);
      hold (checkpoint_of (world->quoit) == checkpoints[step - 1], "%s: compacted although it failed", what);
      hold_together (world->quoit, what);
    }
  if (steps[step].run (world, T0 + step, &error))
    return;
  hold (error->code == QUOIT_ERROR_STORE, "%s: retried: %s", what, said (error));
  hold (step > 0 && reopen (world, 0, &again), "%s: opened again: %s", what, said (again));
  g_free (state);
  state = state_of (world->quoit);
  hold (strcmp (state, expected_before (step)) == 0, "%s: another state after opening: %s", what, state);
  g_clear_error (&again);
  hold (steps[step].run (world, T0 + step, &again), "%s: retried on a new handle: %s", what, said (again));
}

/* @failed and @mend: of the disk or of the memory. FALSE when the life had fewer operations than the failure needs. */
static gboolean
live_with_failure (char *dir, gboolean (*failed) (void), void (*mend) (void), const char *what)
{
  World world = new_world (dir);
  gboolean seen = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *state = NULL, *where = g_strdup_printf ("%s, in '%s'", what, steps[i].name);
      gboolean ok = steps[i].run (&world, T0 + i, &error);

      seen |= failed ();
      hold (ok == (error == NULL), "%s: result and error disagree", where);
      if (!ok)
        {
          mend ();
          hold (seen && error->code == QUOIT_ERROR_STORE, "%s: %s", where, said (error));
          recover (&world, i, where);
        }
      state = state_of (world.quoit);
      hold (strcmp (state, expected[i]) == 0, "%s: not what it should be:\n%s\n%s", where, state, expected[i]);
      if (seen)
        {
          mend ();
          hold_verified (world.quoit, where);
          hold (checkpoint_of (world.quoit) == checkpoints[i], "%s: compacted to %u", where,
                (guint) checkpoint_of (world.quoit));
          if (steps[i].run == backup)
            check_copy (&world, i);
        }
    }
  mend ();
  hold (reopen (&world, 0, NULL), "%s: cannot be opened at the end", what);
  hold_verified (world.quoit, what);
  end_world (&world);
  return seen;
}

static guint
every_disk_failure (char *dir)
{
  guint runs = 0;

  for (gsize f = 0; f < DISK_N_TROUBLES; f++)
    {
      gboolean seen = TRUE;
      guint n;

      for (n = 1; seen; n++)
        {
          g_autofree char *what = g_strdup_printf ("%s, operation %u", disk_troubles[f].name, n);

          disk_fail (disk_troubles[f].operations, n, disk_troubles[f].failure);
          seen = live_with_failure (dir, disk_failed, disk_mend, what);
          runs++;
        }
      printf ("%s: at each of %u operations\n", disk_troubles[f].name, n - 2);
    }
  return runs;
}

/* All of the first allocations, then every so many: a whole life has thousands, most of them alike. */
static guint
every_allocation (char *dir, DiskFailure failure)
{
  const guint step = MAX (1, 5 / scaled (1));
  gboolean seen = TRUE;
  guint runs = 0, n;

  for (n = 1; seen; n += n < 60 ? 1 : step)
    {
      g_autofree char *what = g_strdup_printf ("allocation %u fails", n);

      memory_fail (n, failure);
      seen = live_with_failure (dir, memory_failed, memory_mend, what);
      runs++;
    }
  printf ("allocations of SQLite: %u of %u fail%s\n", runs - 1, n, failure == DISK_IS_GONE ? ", and all after it" : "");
  return runs;
}

/* --- a batch whose caller goes on after a failure --- */

/* What is in a batch when one of its changes could not be written: all that was acknowledged, or nothing at all. */
static gboolean
batch_with_failure (char *dir, guint n, gboolean of_memory)
{
  static const char *const names[] = { "x", "y", "z" };
  World world = new_world (dir);
  gboolean made[3], committed, seen;
  g_autoptr (GError) error = NULL;

  hold (create (&world, T0, &error) && import (&world, T0, &error), "%s", said (error));
  if (of_memory)
    memory_fail (n, DISK_FAILS_ONCE);
  else
    disk_fail (DISK_WRITE | DISK_SYNC | DISK_READ | DISK_OPEN, n, DISK_FAILS_ONCE);
  committed = quoit_begin_batch (world.quoit, NULL);
  for (guint i = 0; i < 3; i++)
    made[i] = committed && reserve (world.quoit, names[i], NULL, 1, T0 + i, NULL);
  committed = committed && quoit_commit_batch (world.quoit, &error);
  seen = of_memory ? memory_failed () : disk_failed ();
  disk_mend ();
  memory_mend ();
  for (guint handle = 0; handle < 2; handle++)
    {
      g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (world.quoit);

      for (guint i = 0; i < 3; i++)
        {
          g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, names[i], NULL);

          hold ((group != NULL) == (committed && made[i]), "failure %u, handle %u: group %s is %s: %s", n, handle,
                names[i], group == NULL ? "not there" : "there", said (error));
        }
      hold_verified (world.quoit, "a batch with a failure");
      hold (reopen (&world, 0, NULL), "after a batch with failure %u", n);
    }
  end_world (&world);
  return seen;
}

static guint
every_failure_in_a_batch (char *dir)
{
  guint runs = 0;

  for (guint n = 1; batch_with_failure (dir, n, FALSE); n++)
    runs++;
  for (guint n = 1; batch_with_failure (dir, n, TRUE); n++)
    runs++;
  return runs;
}

/* --- power loss --- */

/* What is left opens, holds together, and has all that was acknowledged; what was under way is there whole or not. */
static void
check_image (const DiskImage *image, char *dir)
{
  World world = new_world (dir);
  g_autoptr (GError) error = NULL;
  g_autofree char *state = NULL;
  guint acknowledged = image->acknowledged;

  disk_image_save (image, dir);
  if (!reopen (&world, 0, &error))
    {
      hold (acknowledged == 0, "image %u after step %u: %s", image->at, acknowledged, said (error));
      g_clear_error (&error);
      /* Not acknowledged, and not in the way of another attempt: what is there is removed, or taken over. */
      if (!create (&world, T0, &error))
        {
          g_unlink (world.path);
          hold (create (&world, T0, NULL), "image %u: %s", image->at, said (error));
        }
      return end_world (&world);
    }
  hold_verified (world.quoit, "what a power loss left");
  for (guint i = 0; i < acknowledged; i++)
    if (steps[i].run == backup)
      check_copy (&world, i);
  state = state_of (world.quoit);
  hold (acknowledged == 0 || strcmp (state, expected[acknowledged - 1]) == 0
            || (acknowledged < G_N_ELEMENTS (steps) && strcmp (state, expected[acknowledged]) == 0),
        "image %u after step %u: %s", image->at, acknowledged, state);
  hold (acknowledged == 0 || checkpoint_of (world.quoit) == checkpoints[acknowledged - 1]
            || (acknowledged < G_N_ELEMENTS (steps) && checkpoint_of (world.quoit) == checkpoints[acknowledged]),
        "image %u after step %u: compacted to %u", image->at, acknowledged, (guint) checkpoint_of (world.quoit));
  end_world (&world);
}

static guint
every_power_loss (char *dir, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GPtrArray) images = NULL;
  World world = new_world (dir);
  guint n;

  disk_record (rand);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      hold (steps[i].run (&world, T0 + i, NULL), "%s", steps[i].name);
      disk_acknowledge (i + 1);
    }
  g_clear_pointer (&world.quoit, quoit_unref);
  images = disk_images ();
  end_world (&world);
  for (guint i = 0; i < images->len; i++)
    check_image (images->pdata[i], dir);
  n = images->len;
  return n;
}

int
main (void)
{
  g_autofree char *dir = fast_dir ();
  guint32 seed = seed_of ("power loss", 1);
  guint runs = 0, losses = 0;

  disk_install ();
  live (dir);
  runs += every_disk_failure (dir);
  runs += every_failure_in_a_batch (dir);
  for (guint round = 0; round < scaled (8); round++)
    losses += every_power_loss (dir, seed + round);
  printf ("the power fails: %u times\n", losses);
  runs += every_allocation (dir, DISK_FAILS_ONCE);
  runs += every_allocation (dir, DISK_IS_GONE);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    g_free (expected[i]);
  remove_dir (dir);
  printf ("%u passed, 0 failed\n", runs + losses);
  return EXIT_SUCCESS;
}
