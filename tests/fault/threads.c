/* SPDX-License-Identifier: Apache-2.0 */
/* Threads on one handle: writers queue, readers look at snapshots while they write, and everything that is seen is a
 * whole state. */
#include "../ground.h"

enum { N_WRITERS = 3, N_READERS = 2, N_SLICES = 24 };

typedef struct {
  Quoit *quoit;
  guint32 seed;
  guint number, n_steps;
  gint *writing; /* atomic: writers that are not done */
  guint n_done;
} Work;

static gpointer
write_some (gpointer data)
{
  Work *work = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (work->seed + work->number);
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *actor = g_strdup_printf ("writer-%u", work->number);

  for (guint i = 0; i < work->n_steps; i++)
    {
      g_autoptr (GError) error = NULL;
      gboolean in_batch = g_rand_int_range (rand, 0, 8) == 0;

      quoit_set_actor (work->quoit, actor);
      if (in_batch)
        hold (quoit_begin_batch (work->quoit, &error), "%s", said (error));
      for (guint k = 0; k < (in_batch ? 3 : 1); k++)
        {
          g_autofree char *name = g_strdup_printf ("w%u-%u-%u", work->number, i, k);
          guint die = (guint) g_rand_int_range (rand, 0, 10);

          if (die < 5)
            {
              g_autoptr (QuoitRequest) request = want (name, "v6e", "4x4", g_rand_int_range (rand, 1, 4));
              g_autoptr (QuoitGroup) group = quoit_reserve (work->quoit, request, T0, &error);

              hold (group != NULL || error->code == QUOIT_ERROR_NOT_NOW, "%s", said (error));
              for (guint32 s = 0; group != NULL && s < quoit_group_get_n_slices (group); s++)
                {
                  g_autofree char *slice = quoit_group_dup_slice_name (group, s);

                  hold (g_str_has_prefix (slice, "v6e-4x4-"), "%s", slice);
                }
              if (group != NULL)
                g_ptr_array_add (own, g_steal_pointer (&name));
            }
          else if (die < 8 && own->len > 0)
            {
              hold (quoit_release (work->quoit, own->pdata[0], T0, &error), "%s", said (error));
              g_ptr_array_remove_index (own, 0);
            }
          else if (die == 8)
            {
              g_autofree char *node = g_strdup_printf ("v6e-4x4-%d-%d", g_rand_int_range (rand, 0, N_SLICES),
                                                       g_rand_int_range (rand, 0, 4));

              hold (
                  quoit_set_node_state (work->quoit, node, (QuoitNodeState) g_rand_int_range (rand, 0, 3), T0, &error),
                  "%s", said (error));
            }
          else
            {
              g_autofree char *text = g_strdup_printf ("v6e 4x4 x%d zone=z%d", N_SLICES + g_rand_int_range (rand, 0, 3),
                                                       g_rand_int_range (rand, 0, 2));

              if (!import_text (work->quoit, text, NULL, T0, &error))
                hold (error->code == QUOIT_ERROR_CONFLICT, "%s", said (error));
            }
          g_clear_error (&error);
        }
      if (in_batch)
        hold (quoit_commit_batch (work->quoit, &error), "%s", said (error));
      work->n_done++;
    }
  while (own->len > 0)
    {
      hold (quoit_release (work->quoit, own->pdata[0], T0, NULL), "%s", (char *) own->pdata[0]);
      g_ptr_array_remove_index (own, 0);
    }
  g_atomic_int_add (work->writing, -1);
  return NULL;
}

static void
look (const QuoitSnapshot *snapshot)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = quoit_snapshot_dup_json (snapshot);

  hold (json != NULL && quoit_snapshot_check (snapshot, &error), "%s", said (error));
  for (guint32 i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      for (guint32 s = 0; s < quoit_group_get_n_slices (group); s++)
        hold (quoit_group_get_worker_name (group, s, 0) != NULL, "%s", quoit_group_get_name (group));
    }
}

/* What was seen at an entry is what the past shows of it, unless it has been compacted meanwhile; and one of the
 * readers does compact. */
static void
look_back (const Work *work, const QuoitSnapshot *snapshot)
{
  guint64 seq = quoit_snapshot_get_seq (snapshot), checkpoint;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) journal = quoit_changes_since (work->quoit, seq, &error);
  g_autoptr (QuoitSnapshot) past = NULL;
  g_autofree char *then = NULL, *now = quoit_snapshot_dup_json (snapshot);

  hold (journal != NULL || error->code == QUOIT_ERROR_NOT_FOUND, "changes since %u: %s", (guint) seq, said (error));
  g_clear_error (&error);
  past = quoit_snapshot_at (work->quoit, seq, &error);
  hold (past != NULL || error->code == QUOIT_ERROR_NOT_FOUND, "the past at %u: %s", (guint) seq, said (error));
  g_clear_error (&error);
  then = past == NULL ? NULL : quoit_snapshot_dup_json (past);
  hold (then == NULL || strcmp (then, now) == 0, "at %u it was:\n%s\nand was seen as:\n%s", (guint) seq, then, now);
  if (work->number != N_WRITERS)
    return;
  hold (quoit_read_checkpoint (work->quoit, &checkpoint, NULL, &error), "%s", said (error));
  hold (checkpoint > seq || quoit_compact_journal (work->quoit, seq + 1, T0, NULL, &error), "to %u: %s", (guint) seq,
        said (error));
}

static gpointer
read_some (gpointer data)
{
  Work *work = data;
  guint64 seq = 0;

  while (g_atomic_int_get (work->writing) > 0)
    {
      g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (work->quoit);
      g_autoptr (QuoitRequest) request = want ("what-if", "v6e", "4x4", 2);
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, T0, NULL);
      g_autoptr (QuoitSnapshot) forked = quoit_fork_snapshot (fork);

      hold (quoit_snapshot_get_seq (snapshot) >= seq, "a reader went back from %u to %u", (guint) seq,
            (guint) quoit_snapshot_get_seq (snapshot));
      seq = quoit_snapshot_get_seq (snapshot);
      hold (group == NULL || quoit_group_get_n_slices (group) == 2, "half of a what-if");
      look (snapshot);
      look (forked);
      if (work->n_done++ % 16 == 0)
        look_back (work, snapshot);
    }
  return NULL;
}

static void
run (const char *what, Quoit *quoit, guint32 seed, guint n_steps)
{
  gint writing = N_WRITERS;
  Work works[N_WRITERS + N_READERS];
  GThread *threads[N_WRITERS + N_READERS];
  guint n_read = 0;
  g_autofree char *text = g_strdup_printf ("v6e 4x4 x%d", N_SLICES);

  hold (import_text (quoit, text, NULL, T0, NULL), "%s", text);
  for (guint i = 0; i < N_WRITERS + N_READERS; i++)
    {
      works[i] = (Work) { quoit, seed, i, n_steps, &writing, 0 };
      threads[i] = g_thread_new ("work", i < N_WRITERS ? write_some : read_some, &works[i]);
    }
  for (guint i = 0; i < N_WRITERS + N_READERS; i++)
    {
      g_thread_join (threads[i]);
      n_read += i < N_WRITERS ? 0 : works[i].n_done;
    }
  hold_together (quoit, what);
  hold_verified (quoit, what);
  printf ("%s: %u writers, %u readers, %u looks while they wrote\n", what, N_WRITERS, N_READERS, n_read);
  quoit_unref (quoit);
}

/* Snapshots and forks of one snapshot, in many threads at once: they share chunks that nobody may write to. */
static gpointer
fork_and_write (gpointer data)
{
  Work *work = data;
  QuoitSnapshot *snapshot = (QuoitSnapshot *) work->quoit;

  for (guint i = 0; i < work->n_steps; i++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autofree char *name = g_strdup_printf ("f%u", work->number);
      g_autoptr (QuoitRequest) request = want (name, "v6e", "4x4", 1 + i % 3);
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, T0, NULL);

      hold (group != NULL && quoit_fork_release (fork, name, T0, NULL), "%s", name);
      hold (quoit_fork_set_node_state (fork, "v6e-4x4-0-0", QUOIT_NODE_DEAD, T0, NULL), "state");
    }
  return NULL;
}

static void
forks_of_one (guint n_steps)
{
  g_autoptr (Quoit) quoit = quoit_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *before = NULL, *after = NULL;
  GThread *threads[4];
  Work works[4];

  hold (import_text (quoit, "v6e 4x4 x8", NULL, T0, NULL), "import");
  snapshot = quoit_snapshot (quoit);
  before = quoit_snapshot_dup_json (snapshot);
  for (guint i = 0; i < 4; i++)
    {
      works[i] = (Work) { (Quoit *) snapshot, 0, i, n_steps, NULL, 0 };
      threads[i] = g_thread_new ("fork", fork_and_write, &works[i]);
    }
  for (guint i = 0; i < 4; i++)
    g_thread_join (threads[i]);
  after = quoit_snapshot_dup_json (snapshot);
  hold (strcmp (before, after) == 0, "a fork wrote into its snapshot");
}

int
main (void)
{
  guint32 seed = seed_of ("threads", 5);
  char *dir = fast_dir ();
  g_autofree char *path = g_build_filename (dir, "ledger.db", NULL);

  run ("in memory", quoit_open_memory (), seed, scaled (1500));
  run ("in a file", quoit_create (path, 60000, NULL), seed, scaled (600));
  forks_of_one (scaled (300));
  remove_dir (dir);
  g_free (dir);
  printf ("3 passed, 0 failed\n");
  return EXIT_SUCCESS;
}
