/* SPDX-License-Identifier: Apache-2.0 */
/* The disk, the memory or the power fails at each operation of a ledger's life in turn. A failed step must have
 * changed nothing, an acknowledged step must be on the disk, and a retry must work. */
#include "disk.h"
#include "lives.h"

/* The whole state of a ledger. */
static char *
state_of (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autofree char *json = quoit_snapshot_dup_json (snapshot);

  return g_strdup_printf ("%u %s", (guint) quoit_snapshot_get_seq (snapshot), json);
}

static guint64
checkpoint_of (QuoitLedger *ledger)
{
  g_autoptr (GError) error = NULL;
  guint64 seq;

  require (quoit_ledger_read_checkpoint (ledger, &seq, NULL, &error), "%s", error_text (error));
  return seq;
}

/* The current life: its initial database, and the state and the checkpoint after each step without failures. */
static struct {
  const Life *life;
  char *bytes;
  gsize length;
  char *expected[MOST_STEPS];
  guint64 checkpoints[MOST_STEPS];
} led;

static gboolean
take_step (World *world, guint step, GError **error)
{
  return led.life->steps[step].run (world, time_of_step (step), error);
}

static World
new_world (char *dir)
{
  return (World) { g_build_filename (dir, "ledger.db", NULL), g_build_filename (dir, "copy.db", NULL), NULL };
}

static void
end_world (World *world)
{
  g_clear_pointer (&world->ledger, quoit_ledger_unref);
  for (guint i = 0; i < 5; i++)
    {
      static const char *const tails[] = { "", "-wal", "-shm", "-journal", "-head" };
      g_autofree char *name = g_strconcat (world->path, tails[i], NULL);
      g_autofree char *copy = g_strconcat (world->copy, tails[i], NULL);

      g_unlink (name);
      g_unlink (copy);
    }
  g_free (world->path);
  g_free (world->copy);
}

static World
begin (char *dir)
{
  World world = new_world (dir);

  if (led.bytes != NULL)
    require (
        g_file_set_contents_full (world.path, led.bytes, (gssize) led.length, G_FILE_SET_CONTENTS_NONE, 0600, NULL),
        "%s", world.path);
  return world;
}

static void
end_life (void)
{
  for (guint i = 0; i < MOST_STEPS; i++)
    g_clear_pointer (&led.expected[i], g_free);
  g_clear_pointer (&led.bytes, g_free);
}

static void
live (const Life *life, char *dir)
{
  World world = new_world (dir);

  end_life ();
  led.life = life;
  for (guint i = 0; i < life->n_steps; i++)
    {
      g_autoptr (GError) error = NULL;

      if (i > 0 && i == life->start)
        {
          g_clear_pointer (&world.ledger, quoit_ledger_unref);
          require (g_file_get_contents (world.path, &led.bytes, &led.length, NULL), "%s", world.path);
        }
      require (take_step (&world, i, &error), "%s: %s", life->steps[i].name, error_text (error));
      led.expected[i] = state_of (world.ledger);
      led.checkpoints[i] = checkpoint_of (world.ledger);
    }
  end_world (&world);
}

/* --- one failure in a life --- */

static const char *
expected_before (guint step)
{
  return step == 0 ? NULL : led.expected[step - 1];
}

/* An acknowledged copy is an independent database. */
static void
check_copy (const World *world, guint step)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) copy = NULL;
  g_autofree char *state = NULL;

  copy = quoit_ledger_open (world->copy, 0, &error);
  require (copy != NULL, "the copy: %s", error_text (error));
  require_verified (copy, "the copy");
  state = state_of (copy);
  require (strcmp (state, led.expected[step]) == 0, "the copy is not what was copied: %s", state);
}

/* After a failure: nothing has changed, and a retry works, on this handle or on a new one. */
static void
recover (World *world, guint step, const char *what)
{
  g_autoptr (GError) error = NULL, again = NULL;
  g_autofree char *state = NULL;

  if (world->ledger != NULL)
    {
      state = state_of (world->ledger);
      require (strcmp (state, expected_before (step)) == 0, "%s: changed although it failed: %s", what, state);
      require (checkpoint_of (world->ledger) == led.checkpoints[step - 1], "%s: compacted although it failed", what);
      require_consistent (world->ledger, what);
    }
  if (take_step (world, step, &error))
    return;
  require (error->code == QUOIT_ERROR_STORE, "%s: retried: %s", what, error_text (error));
  require (step > 0 && open_ledger (world, 0, &again), "%s: opened again: %s", what, error_text (again));
  g_free (state);
  state = state_of (world->ledger);
  require (strcmp (state, expected_before (step)) == 0, "%s: another state after opening: %s", what, state);
  g_clear_error (&again);
  require (take_step (world, step, &again), "%s: retried on a new handle: %s", what, error_text (again));
}

/* @failed and @mend: of the disk or of the memory. FALSE if the life had fewer operations than the failure needs. */
static gboolean
live_with_failure (char *dir, gboolean (*failed) (void), void (*mend) (void), const char *what)
{
  World world = begin (dir);
  gboolean seen = FALSE, verified = FALSE;

  for (guint i = led.life->start; i < led.life->n_steps; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *state = NULL, *where = g_strdup_printf ("%s, in '%s'", what, led.life->steps[i].name);
      gboolean ok = take_step (&world, i, &error);

      seen |= failed ();
      require (ok == (error == NULL), "%s: result and error disagree", where);
      if (!ok)
        {
          mend ();
          require (seen && error->code == QUOIT_ERROR_STORE, "%s: %s", where, error_text (error));
          recover (&world, i, where);
        }
      if (!seen)
        continue;
      mend ();
      state = state_of (world.ledger);
      require (strcmp (state, led.expected[i]) == 0, "%s: not what it should be:\n%s\n%s", where, state,
               led.expected[i]);
      require (checkpoint_of (world.ledger) == led.checkpoints[i], "%s: compacted to %u", where,
               (guint) checkpoint_of (world.ledger));
      if (led.life->steps[i].run == backup_ledger)
        check_copy (&world, i);
      /* Once after the failure, and once at the end. */
      if (!verified)
        require_verified (world.ledger, where);
      verified = TRUE;
    }
  mend ();
  require (open_ledger (&world, 0, NULL), "%s: cannot be opened at the end", what);
  require_verified (world.ledger, what);
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
      printf ("  %s: at each of %u operations\n", disk_troubles[f].name, n - 2);
    }
  return runs;
}

/* All of the first allocations, then every n-th: a life has thousands, and most of them are alike. */
static guint
every_allocation (char *dir, DiskFailure failure)
{
  const guint step = MAX (1, 113 / scaled (1));
  gboolean seen = TRUE;
  guint runs = 0, n;

  for (n = 1; seen; n += n < 60 ? 1 : step)
    {
      g_autofree char *what = g_strdup_printf ("allocation %u fails", n);

      memory_fail (n, failure);
      seen = live_with_failure (dir, memory_failed, memory_mend, what);
      runs++;
    }
  printf ("  allocations of SQLite: %u of %u fail%s\n", runs - 1, n,
          failure == DISK_IS_GONE ? ", and all after it" : "");
  return runs;
}

/* --- a batch whose caller continues after a failure --- */

/* A batch in which one change could not be written has all acknowledged changes, or none. */
static gboolean
batch_with_failure (char *dir, guint n, gboolean of_memory)
{
  static const char *const names[] = { "x", "y", "z" };
  World world = new_world (dir);
  gboolean made[3], committed, seen;
  g_autoptr (GError) error = NULL;

  require (create_ledger (&world, T0, &error) && import_slices (&world, T0, &error), "%s", error_text (error));
  if (of_memory)
    memory_fail (n, DISK_FAILS_ONCE);
  else
    disk_fail (DISK_WRITE | DISK_SYNC | DISK_READ | DISK_OPEN, n, DISK_FAILS_ONCE);
  committed = quoit_ledger_begin_batch (world.ledger, NULL);
  for (guint i = 0; i < 3; i++)
    made[i] = committed && reserve_slices (world.ledger, names[i], NULL, 1, T0 + i, NULL);
  committed = committed && quoit_ledger_commit_batch (world.ledger, &error);
  seen = of_memory ? memory_failed () : disk_failed ();
  disk_mend ();
  memory_mend ();
  for (guint handle = 0; handle < 2; handle++)
    {
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (world.ledger);

      for (guint i = 0; i < 3; i++)
        {
          g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, names[i], NULL);

          require ((group != NULL) == (committed && made[i]), "failure %u, handle %u: group %s is %s: %s", n, handle,
                   names[i], group == NULL ? "not there" : "there", error_text (error));
        }
      require_verified (world.ledger, "a batch with a failure");
      require (open_ledger (&world, 0, NULL), "after a batch with failure %u", n);
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

/* The remaining database opens, is consistent and has all acknowledged changes. The change under way is there
 * completely or not at all. */
static void
check_image (const DiskImage *image, char *dir)
{
  World world = new_world (dir);
  g_autoptr (GError) error = NULL;
  g_autofree char *state = NULL;
  guint acknowledged = image->acknowledged;

  disk_image_save (image, dir);
  if (!open_ledger (&world, 0, &error))
    {
      require (acknowledged == 0, "image %u after step %u: %s", image->at, acknowledged, error_text (error));
      g_clear_error (&error);
      /* The unacknowledged file must not block another attempt: creation replaces it or uses it. */
      if (!create_ledger (&world, T0, &error))
        {
          g_unlink (world.path);
          require (create_ledger (&world, T0, NULL), "image %u: %s", image->at, error_text (error));
        }
      return end_world (&world);
    }
  require_verified (world.ledger, "what a power loss left");
  for (guint i = 0; i < acknowledged; i++)
    if (led.life->steps[i].run == backup_ledger)
      check_copy (&world, i);
  state = state_of (world.ledger);
  require (acknowledged == 0 || strcmp (state, led.expected[acknowledged - 1]) == 0
               || (acknowledged < led.life->n_steps && strcmp (state, led.expected[acknowledged]) == 0),
           "image %u after step %u: %s", image->at, acknowledged, state);
  require (acknowledged == 0 || checkpoint_of (world.ledger) == led.checkpoints[acknowledged - 1]
               || (acknowledged < led.life->n_steps && checkpoint_of (world.ledger) == led.checkpoints[acknowledged]),
           "image %u after step %u: compacted to %u", image->at, acknowledged, (guint) checkpoint_of (world.ledger));
  if (acknowledged > 0 && acknowledged < led.life->n_steps && strcmp (state, led.expected[acknowledged - 1]) == 0)
    {
      require (take_step (&world, acknowledged, &error), "image %u: '%s' again: %s", image->at,
               led.life->steps[acknowledged].name, error_text (error));
      g_free (state);
      state = state_of (world.ledger);
      require (strcmp (state, led.expected[acknowledged]) == 0, "image %u: '%s' again: %s", image->at,
               led.life->steps[acknowledged].name, state);
    }
  end_world (&world);
}

/* @rand NULL: all unsynced data is lost; else a random part of it. */
static guint
every_power_loss (char *dir, GRand *rand)
{
  g_autoptr (GPtrArray) images = NULL;
  World world = begin (dir);

  disk_record (rand);
  disk_acknowledge (led.life->start);
  for (guint i = led.life->start; i < led.life->n_steps; i++)
    {
      require (take_step (&world, i, NULL), "%s", led.life->steps[i].name);
      disk_acknowledge (i + 1);
    }
  g_clear_pointer (&world.ledger, quoit_ledger_unref);
  images = disk_images ();
  end_world (&world);
  for (guint i = 0; i < images->len; i++)
    check_image (images->pdata[i], dir);
  return images->len;
}

/* --- loss of power after a batch without syncs --- */

enum { UNSYNCED_STEPS = 4 };

/* a and d wait for the disk, b and c do not. */
static void
reserve_step (World *world, guint step)
{
  static const char *const names[UNSYNCED_STEPS] = { "a", "b", "c", "d" };
  gboolean unsynced = step == 1 || step == 2, ok;
  guint before;

  ok = unsynced ? quoit_ledger_begin_unsynced_batch (world->ledger, NULL)
                : quoit_ledger_begin_batch (world->ledger, NULL);
  ok = ok && reserve_slices (world->ledger, names[step], NULL, 1, T0 + step, NULL);
  before = disk_count ();
  ok = ok && quoit_ledger_commit_batch (world->ledger, NULL);
  require (ok, "step %u", step);
  require ((disk_count () > before) == !unsynced, "step %u: %u syncs", step, disk_count () - before);
}

/* The number of the four groups that exist. They must be the first ones. */
static guint
n_groups_left (QuoitLedger *ledger, const DiskImage *image)
{
  static const char *const names[UNSYNCED_STEPS] = { "a", "b", "c", "d" };
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  guint n = 0;

  for (guint i = 0; i < UNSYNCED_STEPS; i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group (snapshot, names[i], NULL);

      require (group == NULL || n == i, "image %u: %s is there, and one before it is not", image->at, names[i]);
      n += group != NULL;
    }
  return n;
}

/* The database is consistent, has each synced group and all before it, and lost only the last groups. @rand NULL:
 * all unsynced data is lost, which must happen at least once. */
static guint
every_power_loss_without_syncs (char *dir, GRand *rand)
{
  g_autoptr (GPtrArray) images = NULL;
  World world = new_world (dir);

  require (create_ledger (&world, T0, NULL) && import_text (world.ledger, "v6e 4x4 x4", "a", T0, NULL), "a ledger");
  g_clear_pointer (&world.ledger, quoit_ledger_unref);
  disk_fail (DISK_SYNC, 0, DISK_FAILS_ONCE);
  disk_record (rand);
  require (open_ledger (&world, 0, NULL), "opened");
  for (guint i = 0; i < UNSYNCED_STEPS; i++)
    {
      reserve_step (&world, i);
      disk_acknowledge (i + 1);
    }
  g_clear_pointer (&world.ledger, quoit_ledger_unref);
  images = disk_images ();
  disk_mend ();
  end_world (&world);
  for (guint i = 0; i < images->len; i++)
    {
      const DiskImage *image = images->pdata[i];
      World left = new_world (dir);
      guint n, told = image->acknowledged;

      disk_image_save (image, dir);
      require (open_ledger (&left, 0, NULL), "image %u", image->at);
      require_verified (left.ledger, "what a power loss left");
      n = n_groups_left (left.ledger, image);
      require (n >= (told == UNSYNCED_STEPS ? UNSYNCED_STEPS : told > 0) && n <= told + 1, "image %u after step %u: %u",
               image->at, told, n);
      require (rand != NULL || (n != 2 && n != 3), "image %u after step %u: %u are on the disk already", image->at,
               told, n);
      end_world (&left);
    }
  return images->len;
}

/* When a retry finds its group by key, the group must be on the disk, although the retry writes nothing. */
static void
require_restored_data_is_synced (char *dir)
{
  World world = new_world (dir);
  guint before;

  require (create_ledger (&world, T0, NULL) && import_text (world.ledger, "v6e 4x4 x4", "a", T0, NULL), "a ledger");
  disk_fail (DISK_SYNC, 0, DISK_FAILS_ONCE);
  require (quoit_ledger_begin_unsynced_batch (world.ledger, NULL)
               && reserve_slices (world.ledger, "a", "key", 1, T0, NULL)
               && quoit_ledger_commit_batch (world.ledger, NULL) && disk_count () == 0,
           "an unsynced batch: %u syncs", disk_count ());
  for (guint again = 0; again < 2; again++)
    {
      before = disk_count ();
      require (reserve_slices (world.ledger, "a", "key", 1, T0, NULL), "the same by its key");
      require (disk_count () - before == (again == 0 ? 1 : 0), "the same by its key, time %u: %u syncs", again + 1,
               disk_count () - before);
    }
  disk_mend ();
  end_world (&world);
}

static guint
lead (const Life *life, char *dir, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint runs = 0, losses;

  printf ("%s\n", life->name);
  live (life, dir);
  runs += every_disk_failure (dir);
  losses = every_power_loss (dir, NULL);
  for (guint round = 0; round < scaled (2); round++)
    losses += every_power_loss (dir, rand);
  printf ("  the power fails: %u times\n", losses);
  runs += every_allocation (dir, DISK_FAILS_ONCE);
  runs += every_allocation (dir, DISK_IS_GONE);
  fflush (stdout);
  return runs + losses;
}

int
main (void)
{
  g_autofree char *dir = fast_dir ();
  guint32 seed = random_seed ("power loss", 1);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint runs = 0;

  disk_install ();
  for (guint i = 0; i < N_LIVES; i++)
    runs += lead (&lives[i], dir, seed + i);
  end_life ();
  runs += every_failure_in_a_batch (dir);
  require_restored_data_is_synced (dir);
  runs += every_power_loss_without_syncs (dir, NULL);
  for (guint round = 0; round < scaled (2); round++)
    runs += every_power_loss_without_syncs (dir, rand);
  remove_dir (dir);
  printf ("%u passed, 0 failed\n", runs);
  return EXIT_SUCCESS;
}
