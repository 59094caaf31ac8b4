/* SPDX-License-Identifier: Apache-2.0 */
/* A writer is killed at some moment. What it was told is done is there, what it was doing is there whole or not at all,
 * and the next one goes on. The program runs itself as the writer. */
#include "../ground.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

/* --- the writer --- */

/* A change that was acknowledged, as the parent will look for it: one write, which a pipe keeps in one piece. */
static void
acknowledge (const char *what, const char *name, guint64 id, guint n)
{
  char line[64];
  gint length = g_snprintf (line, sizeof line, "%s %s %u %u\n", what, name, (guint) id, n);

  if (write (STDOUT_FILENO, line, (gsize) length) != length)
    exit (EXIT_FAILURE);
}

static guint64
reserve (Quoit *quoit, const char *name, gint64 n_slices)
{
  g_autoptr (QuoitRequest) request = want (name, "v6e", "4x4", n_slices);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  quoit_request_set_key (request, name);
  group = quoit_reserve (quoit, request, T0, &error);
  hold (group != NULL || error->code == QUOIT_ERROR_NOT_NOW, "%s", said (error));
  return group == NULL ? 0 : quoit_group_get_id (group);
}

/* Two groups that are there together or not at all. */
static void
write_batch (Quoit *quoit, guint round, guint i)
{
  char names[2][32];
  guint64 ids[2];

  hold (quoit_begin_batch (quoit, NULL), "batch");
  for (guint k = 0; k < 2; k++)
    {
      g_snprintf (names[k], sizeof names[k], "b-%u-%u-%c", round, i, "xy"[k]);
      ids[k] = reserve (quoit, names[k], 1);
    }
  if (ids[0] == 0 || ids[1] == 0)
    return quoit_cancel_batch (quoit);
  hold (quoit_commit_batch (quoit, NULL), "batch");
  acknowledge ("+", names[0], ids[0], 1);
  acknowledge ("+", names[1], ids[1], 1);
}

/* Of as much of the journal as there is, or of the older half of it. */
static void
compact (Quoit *quoit, GRand *rand)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);
  g_autoptr (GError) error = NULL;
  guint64 checkpoint, last = quoit_snapshot_get_seq (snapshot);

  hold (quoit_read_checkpoint (quoit, &checkpoint, NULL, &error), "%s", said (error));
  if (g_rand_boolean (rand))
    last -= (last - checkpoint) / 2;
  hold (quoit_compact_journal (quoit, last + 1, T0, NULL, &error), "%s", said (error));
  acknowledge ("c", "journal", last, 0);
}

static int
writer (const char *path, guint round, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + round);
  g_autoptr (GError) error = NULL;
  g_autoptr (Quoit) quoit = quoit_open (path, 60000, &error);

  hold (quoit != NULL, "%s", said (error));
  for (guint i = 0;; i++)
    {
      g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);
      guint die = (guint) g_rand_int_range (rand, 0, 12);
      char name[32];
      guint64 id;

      g_snprintf (name, sizeof name, "g-%u-%u", round, i);
      if (die < 4)
        {
          guint n = (guint) g_rand_int_range (rand, 1, 4);

          id = reserve (quoit, name, n);
          if (id != 0)
            acknowledge ("+", name, id, n);
        }
      else if (die < 6)
        write_batch (quoit, round, i);
      else if (die < 9)
        {
          /* The groups of earlier writers too: they are anybody's. */
          for (guint32 g = 0; g < quoit_snapshot_get_n_groups (snapshot); g++)
            {
              g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);
              g_autofree char *ref = g_strdup (quoit_group_get_name (group));

              if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED || g_rand_boolean (rand))
                continue;
              acknowledge ("?", ref, quoit_group_get_id (group), 0);
              hold (quoit_release (quoit, ref, T0, &error), "%s", said (error));
              acknowledge ("-", ref, quoit_group_get_id (group), 0);
              break;
            }
        }
      else if (die < 11)
        compact (quoit, rand);
      else
        {
          g_autofree char *text = g_strdup_printf ("v6e 4x4 x%d", g_rand_int_range (rand, 12, 15));

          if (import_text (quoit, text, NULL, T0, &error))
            acknowledge ("i", "fleet", 0, 0);
          else
            hold (error->code == QUOIT_ERROR_CONFLICT, "%s", said (error));
          g_clear_error (&error);
        }
    }
}

/* --- the parent --- */

typedef struct {
  GHashTable *groups; /* name -> slices, of what is known to be held */
  char *releasing;    /* what was being released when the writer was killed; NULL: nothing */
  guint64 checkpoint; /* the last one that was acknowledged */
} Known;

static void
take_line (Known *known, const char *line)
{
  char what, name[32];
  guint id, n;

  hold (sscanf (line, "%c %31s %u %u", &what, name, &id, &n) == 4, "'%s'", line);
  if (what == '+')
    g_hash_table_insert (known->groups, g_strdup (name), GUINT_TO_POINTER (n));
  if (what == 'c')
    known->checkpoint = id;
  if (what == '-')
    hold (g_hash_table_remove (known->groups, name), "%s was released, but not held", name);
  g_clear_pointer (&known->releasing, g_free);
  if (what == '?')
    known->releasing = g_strdup (name);
}

/* Both of a batch, or none: every group has a key, so that whatever was made is still told of. */
static void
check_batches (GHashTable *ever)
{
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, ever);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      g_autofree char *other = g_strdup (name);
      char *last = other + strlen (other) - 1;

      *last = *last == 'x' ? 'y' : 'x';
      hold (*other != 'b' || g_hash_table_contains (ever, other), "%s is there without %s", (char *) name, other);
    }
}

static void
check_acknowledged (Known *known, GHashTable *live, guint round)
{
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, known->groups);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      if (g_hash_table_contains (live, name))
        continue;
      hold (known->releasing != NULL && strcmp (name, known->releasing) == 0,
            "round %u: %s was acknowledged, and is gone", round, (char *) name);
      g_hash_table_iter_remove (&iter);
    }
  g_clear_pointer (&known->releasing, g_free);
}

static void
check_round (const char *path, Known *known, guint round)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (Quoit) quoit = quoit_open (path, 1000, &error);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GHashTable) live = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) ever = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint64 checkpoint;
  guint n_new = 0, n_of_batch = 0;

  hold (quoit != NULL, "round %u: %s", round, said (error));
  hold_verified (quoit, "after a kill");
  hold_together (quoit, "after a kill");
  hold (quoit_read_checkpoint (quoit, &checkpoint, NULL, &error), "%s", said (error));
  hold (checkpoint >= known->checkpoint, "round %u: compacted to %u, and to %u afterwards", round,
        (guint) known->checkpoint, (guint) checkpoint);
  snapshot = quoit_snapshot (quoit);
  for (guint32 i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);
      const char *name = quoit_group_get_name (group);
      gpointer n_slices;

      g_hash_table_add (ever, g_strdup (name));
      if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED)
        continue;
      g_hash_table_add (live, g_strdup (name));
      if (g_hash_table_lookup_extended (known->groups, name, NULL, &n_slices))
        hold (GPOINTER_TO_UINT (n_slices) == quoit_group_get_n_slices (group), "round %u: %s has %u slices", round,
              name, quoit_group_get_n_slices (group));
      else
        {
          n_new++;
          n_of_batch += *name == 'b';
          g_hash_table_insert (known->groups, g_strdup (name), GUINT_TO_POINTER (quoit_group_get_n_slices (group)));
        }
    }
  /* What was under way: one group, or those of a batch that were not yet spoken of. */
  hold (n_new <= 1 || (n_new == 2 && n_of_batch == 2), "round %u: %u groups nobody spoke of", round, n_new);
  check_batches (ever);
  check_acknowledged (known, live, round);
}

static void
kill_one (const char *path, Known *known, GRand *rand, guint round, guint32 seed, guint most_us)
{
  g_autofree char *round_text = g_strdup_printf ("%u", round), *seed_text = g_strdup_printf ("%u", seed);
  const char *argv[] = { "/proc/self/exe", "writer", path, round_text, seed_text, NULL };
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) heard = g_string_new (NULL);
  g_auto (GStrv) lines = NULL;
  int from, status;
  char buffer[4096];
  gssize n;
  GPid pid;

  hold (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, NULL, &from,
                                  NULL, &error),
        "%s", said (error));
  /* A pipe takes 64 KiB; a writer does not fill it in that time. */
  g_usleep ((gulong) g_rand_int_range (rand, 0, (gint) most_us));
  kill (pid, SIGKILL);
  hold (waitpid (pid, &status, 0) == pid && WIFSIGNALED (status), "round %u: the writer ended by itself", round);
  while ((n = read (from, buffer, sizeof buffer)) > 0)
    g_string_append_len (heard, buffer, n);
  close (from);
  lines = g_strsplit (heard->str, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    take_line (known, lines[i]);
}

static guint
rounds_in (char *dir, guint32 seed, guint n_rounds, guint most_us)
{
  g_autofree char *path = g_build_filename (dir, "ledger.db", NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (Quoit) quoit = quoit_create (path, 0, NULL);
  Known known = { g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), NULL, 0 };

  hold (quoit != NULL && import_text (quoit, "v6e 4x4 x12", NULL, T0, NULL), "a ledger to write to");
  g_clear_pointer (&quoit, quoit_unref);
  for (guint round = 0; round < n_rounds; round++)
    {
      kill_one (path, &known, rand, round, seed, most_us);
      check_round (path, &known, round);
    }
  quoit = quoit_open (path, 0, NULL);
  {
    g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (quoit);

    printf ("killed %u times, %u entries were written, compacted to %u\n", n_rounds,
            (guint) quoit_snapshot_get_seq (snapshot), (guint) known.checkpoint);
  }
  g_hash_table_unref (known.groups);
  remove_dir (dir);
  g_free (dir);
  return n_rounds;
}

int
main (int argc, char **argv)
{
  guint32 seed;
  guint n = 0;

  if (argc > 4 && strcmp (argv[1], "writer") == 0)
    return writer (argv[2], (guint) g_ascii_strtoull (argv[3], NULL, 10),
                   (guint32) g_ascii_strtoull (argv[4], NULL, 10));
  seed = seed_of ("kill", 4);
  n += rounds_in (fast_dir (), seed, scaled (160), 30000);
  n += rounds_in (g_dir_make_tmp ("quoit-XXXXXX", NULL), seed + 1, scaled (40), 100000);
  printf ("%u passed, 0 failed\n", n);
  return EXIT_SUCCESS;
}
