/* SPDX-License-Identifier: Apache-2.0 */
/* Threads on one handle: writers queue, readers use snapshots while the writers work, and each snapshot shows a
 * whole state. */
#include "../support.h"

enum { N_WRITERS = 4, N_READERS = 2, N_FORECASTERS = 2, N_SLICES = 24 };

typedef struct {
  QuoitLedger *ledger;
  guint32 seed;
  guint number, n_steps;
  gint *writing;  /* atomic: writers still running */
  gint *clock_ms; /* atomic: shared clock, since T0 */
  guint n_done;
} Work;

typedef struct {
  Work *work;
  GRand *rand;
  GPtrArray *own; /* names of this thread's groups */
  gint64 now_ms;
} Writer;

static guint
random_below (const Writer *writer, guint n)
{
  return (guint) g_rand_int_range (writer->rand, 0, (gint) n);
}

/* Refusals because of expired leases or changes by other threads are no fault. */
static void
require_expected_result (gboolean done, GError **error)
{
  require (done == (*error == NULL), "result and error disagree: %s", error_text (*error));
  require (done || (*error)->code == QUOIT_ERROR_NOT_NOW || (*error)->code == QUOIT_ERROR_EXPIRED
               || (*error)->code == QUOIT_ERROR_CONFLICT || (*error)->code == QUOIT_ERROR_NOT_FOUND,
           "%s", error_text (*error));
  g_clear_error (error);
}

static void
make_group (const Writer *writer, guint k)
{
  g_autofree char *name = g_strdup_printf ("w%u-%u-%u", writer->work->number, writer->work->n_done, k);
  g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", "4x4", 1 + random_below (writer, 3));
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  gboolean leased = random_below (writer, 2) == 0;

  if (random_below (writer, 4) == 0)
    quoit_request_set_owner (request, random_below (writer, 2) == 0 ? "left" : "right", NULL);
  group = leased ? quoit_ledger_hold (writer->work->ledger, request, 1 + random_below (writer, 3000), writer->now_ms,
                                      NULL, &error)
                 : quoit_ledger_reserve (writer->work->ledger, request, writer->now_ms, NULL, &error);
  require_expected_result (group != NULL, &error);
  for (guint32 s = 0; group != NULL && s < quoit_group_get_n_slices (group); s++)
    {
      g_autofree char *slice = quoit_group_dup_slice_name (group, s);

      require (g_str_has_prefix (slice, "v6e-4x4-"), "%s", slice);
    }
  require (group == NULL || !leased || quoit_group_get_until_ms (group) > writer->now_ms, "%s", name);
  if (group != NULL)
    g_ptr_array_add (writer->own, g_steal_pointer (&name));
}

static void
change_group (const Writer *writer)
{
  QuoitLedger *ledger = writer->work->ledger;
  gint64 now_ms = writer->now_ms, lease_ms = 1 + random_below (writer, 5000);
  g_autoptr (GError) error = NULL;
  guint which = writer->own->len == 0 ? 0 : random_below (writer, writer->own->len);
  const char *name = writer->own->len == 0 ? "nobody" : writer->own->pdata[which];

  switch (random_below (writer, 7))
    {
    case 0:
      require_expected_result (
          drop_group (quoit_ledger_confirm (ledger, name, random_below (writer, 2) * lease_ms, now_ms, &error)),
          &error);
      return;
    case 1:
    case 2:
      require_expected_result (drop_group (quoit_ledger_renew (ledger, name, lease_ms, now_ms, &error)), &error);
      return;
    case 3:
      require_expected_result (
          drop_change (quoit_ledger_resize (ledger, name, 1 + random_below (writer, 4), now_ms, NULL, &error)), &error);
      return;
    case 4:
      require_expected_result (drop_change (quoit_ledger_repair (ledger, name, now_ms, NULL, &error)), &error);
      return;
    default:
      require_expected_result (quoit_ledger_release (ledger, name, now_ms, &error), &error);
      if (writer->own->len > 0)
        g_ptr_array_remove_index_fast (writer->own, which);
    }
}

static void
change_owner (const Writer *writer)
{
  QuoitLedger *ledger = writer->work->ledger;
  const char *owner = random_below (writer, 2) == 0 ? "left" : "right";
  gint64 lease_ms = 1 + random_below (writer, 3000);
  g_autoptr (GError) error = NULL;

  switch (random_below (writer, 4))
    {
    case 0:
      require_expected_result (quoit_ledger_end_owner (ledger, owner, writer->now_ms, NULL, &error), &error);
      return;
    case 1:
      require_expected_result (quoit_ledger_renew_owner (ledger, owner, lease_ms, writer->now_ms, &error), &error);
      return;
    default:
      require_expected_result (quoit_ledger_set_owner (ledger, owner, lease_ms, writer->now_ms, &error), &error);
    }
}

static void
change_fleet (const Writer *writer)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *node = g_strdup_printf ("v6e-4x4-%u-%u", random_below (writer, N_SLICES), random_below (writer, 4));
  g_autofree char *text
      = g_strdup_printf ("v6e 4x4 x%u zone=z%u", N_SLICES + random_below (writer, 3), random_below (writer, 2));

  if (random_below (writer, 2) == 0)
    require_expected_result (import_text (writer->work->ledger, text, NULL, writer->now_ms, &error), &error);
  else
    require (quoit_ledger_set_node_state (writer->work->ledger, node, (QuoitNodeState) random_below (writer, 3),
                                          writer->now_ms, &error),
             "%s", error_text (error));
}

static void
write_one (const Writer *writer, guint k)
{
  guint die = random_below (writer, 12);

  if (die < 5)
    make_group (writer, k);
  else if (die < 9)
    change_group (writer);
  else if (die < 10)
    change_owner (writer);
  else
    change_fleet (writer);
}

static gpointer
write_some (gpointer data)
{
  Work *work = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (work->seed + work->number);
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *actor = g_strdup_printf ("writer-%u", work->number);
  Writer writer = { work, rand, own, 0 };

  for (; work->n_done < work->n_steps; work->n_done++)
    {
      g_autoptr (GError) error = NULL;
      gboolean in_batch = random_below (&writer, 8) == 0;

      writer.now_ms = T0 + g_atomic_int_add (work->clock_ms, (gint) random_below (&writer, 20));
      quoit_ledger_set_actor (work->ledger, actor);
      if (in_batch)
        require (quoit_ledger_begin_batch (work->ledger, &error), "%s", error_text (error));
      for (guint k = 0; k < (in_batch ? 3 : 1); k++)
        write_one (&writer, k);
      if (in_batch)
        require (quoit_ledger_commit_batch (work->ledger, &error), "%s", error_text (error));
    }
  g_atomic_int_add (work->writing, -1);
  return NULL;
}

/* @now_ms: groups whose lease has expired by then must be absent. 0: use the ledger's clock. */
static void
look (const QuoitSnapshot *snapshot, gint64 now_ms)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *json = quoit_snapshot_dup_json (snapshot);

  require (json != NULL && quoit_snapshot_check (snapshot, &error), "%s", error_text (error));
  for (guint32 i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);
      gint64 until_ms = quoit_group_get_until_ms (group);

      require (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED || until_ms == 0
                   || until_ms > MAX (now_ms, quoit_snapshot_get_clock_ms (snapshot)),
               "%s lives, though its lease has ended", quoit_group_get_name (group));
      for (guint32 s = 0; s < quoit_group_get_n_slices (group); s++)
        require (quoit_group_get_worker_name (group, s, 0) != NULL, "%s", quoit_group_get_name (group));
    }
}

/* The past state of an entry must match the snapshot seen at that entry, unless the entry has been compacted. One of
 * the readers compacts. */
static void
look_back (const Work *work, const QuoitSnapshot *snapshot)
{
  guint64 seq = quoit_snapshot_get_seq (snapshot), checkpoint;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (work->ledger, seq, &error);
  g_autoptr (QuoitSnapshot) past = NULL;
  g_autofree char *then = NULL, *now = quoit_snapshot_dup_json (snapshot);

  require (journal != NULL || error->code == QUOIT_ERROR_NOT_FOUND, "changes since %u: %s", (guint) seq,
           error_text (error));
  g_clear_error (&error);
  past = quoit_ledger_snapshot_at (work->ledger, seq, &error);
  require (past != NULL || error->code == QUOIT_ERROR_NOT_FOUND, "the past at %u: %s", (guint) seq, error_text (error));
  g_clear_error (&error);
  then = past == NULL ? NULL : quoit_snapshot_dup_json (past);
  require (then == NULL || strcmp (then, now) == 0, "entry %u led to:\n%s\na reader saw:\n%s", (guint) seq, then, now);
  if (work->number != N_WRITERS)
    return;
  require (quoit_ledger_read_checkpoint (work->ledger, &checkpoint, NULL, &error), "%s", error_text (error));
  require (checkpoint > seq || quoit_ledger_compact_journal (work->ledger, seq + 1, T0, NULL, &error), "to %u: %s",
           (guint) seq, error_text (error));
}

static gpointer
read_some (gpointer data)
{
  Work *work = data;
  guint64 seq = 0;

  while (g_atomic_int_get (work->writing) > 0)
    {
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (work->ledger);
      g_autoptr (QuoitRequest) request = new_slice_request ("what-if", "v6e", "4x4", 2);
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, T0, NULL, NULL);
      g_autoptr (QuoitSnapshot) forked = quoit_fork_snapshot (fork);

      require (quoit_snapshot_get_seq (snapshot) >= seq, "a reader went back from %u to %u", (guint) seq,
               (guint) quoit_snapshot_get_seq (snapshot));
      seq = quoit_snapshot_get_seq (snapshot);
      require (group == NULL || quoit_group_get_n_slices (group) == 2, "a fork has allocated only a part of a request");
      look (snapshot, 0);
      look (forked, 0);
      if (work->n_done++ % 16 == 0)
        look_back (work, snapshot);
    }
  return NULL;
}

/* Computes the expiries of a future time on the fleet that other threads read and writers change. */
static gpointer
forecast_expiries (gpointer data)
{
  Work *work = data;
  g_autoptr (GRand) rand = g_rand_new_with_seed (work->seed + work->number);

  for (; g_atomic_int_get (work->writing) > 0; work->n_done++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (work->ledger), later = NULL;
      gint64 now_ms = T0 + g_atomic_int_get (work->clock_ms) + g_rand_int_range (rand, -1000, 3000);

      later = quoit_snapshot_as_of (snapshot, now_ms, &error);
      require (later != NULL, "%s", error_text (error));
      look (later, now_ms);
    }
  return NULL;
}

static void
run (const char *what, QuoitLedger *ledger, guint32 seed, guint n_steps)
{
  enum { N_THREADS = N_WRITERS + N_READERS + N_FORECASTERS };
  gint writing = N_WRITERS, clock_ms = 0;
  Work works[N_THREADS];
  GThread *threads[N_THREADS];
  guint n_read = 0, n_forecasts = 0;
  g_autofree char *text = g_strdup_printf ("v6e 4x4 x%d", N_SLICES);

  require (import_text (ledger, text, NULL, T0, NULL), "%s", text);
  for (guint i = 0; i < N_THREADS; i++)
    {
      works[i] = (Work) { ledger, seed, i, n_steps, &writing, &clock_ms, 0 };
      threads[i] = g_thread_new ("work",
                                 i < N_WRITERS               ? write_some
                                 : i < N_WRITERS + N_READERS ? read_some
                                                             : forecast_expiries,
                                 &works[i]);
    }
  for (guint i = 0; i < N_THREADS; i++)
    g_thread_join (threads[i]);
  for (guint i = N_WRITERS; i < N_THREADS; i++)
    *(i < N_WRITERS + N_READERS ? &n_read : &n_forecasts) += works[i].n_done;
  require_consistent (ledger, what);
  require_verified (ledger, what);
  printf (
      "%s: %u writers, %u readers, which read %u snapshots meanwhile; %u threads computed future expiries, %u times\n",
      what, N_WRITERS, N_READERS, n_read, N_FORECASTERS, n_forecasts);
  quoit_ledger_unref (ledger);
}

/* Snapshots and forks of one snapshot in many threads share read-only chunks. */
static gpointer
fork_and_write (gpointer data)
{
  Work *work = data;
  QuoitSnapshot *snapshot = (QuoitSnapshot *) work->ledger;

  for (guint i = 0; i < work->n_steps; i++)
    {
      g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
      g_autofree char *name = g_strdup_printf ("f%u", work->number);
      g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", "4x4", 1 + i % 3);
      g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, T0, NULL, NULL);

      require (group != NULL && quoit_fork_release (fork, name, T0, NULL), "%s", name);
      require (quoit_fork_set_node_state (fork, "v6e-4x4-0-0", QUOIT_NODE_DEAD, T0, NULL), "state");
    }
  return NULL;
}

static void
forks_of_one (guint n_steps)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *before = NULL, *after = NULL;
  GThread *threads[4];
  Work works[4];

  require (import_text (ledger, "v6e 4x4 x8", NULL, T0, NULL), "import");
  snapshot = quoit_ledger_snapshot (ledger);
  before = quoit_snapshot_dup_json (snapshot);
  for (guint i = 0; i < 4; i++)
    {
      works[i] = (Work) { (QuoitLedger *) snapshot, 0, i, n_steps, NULL, NULL, 0 };
      threads[i] = g_thread_new ("fork", fork_and_write, &works[i]);
    }
  for (guint i = 0; i < 4; i++)
    g_thread_join (threads[i]);
  after = quoit_snapshot_dup_json (snapshot);
  require (strcmp (before, after) == 0, "a fork wrote into its snapshot");
}

int
main (void)
{
  guint32 seed = random_seed ("threads", 5);
  char *dir = fast_dir ();
  g_autofree char *path = g_build_filename (dir, "ledger.db", NULL);

  run ("in memory", quoit_ledger_open_memory (), seed, scaled (1500));
  run ("in a file", quoit_ledger_create (ledger_name (path), 60000, NULL), seed, scaled (600));
  forks_of_one (scaled (300));
  remove_dir (dir);
  g_free (dir);
  printf ("3 passed, 0 failed\n");
  return EXIT_SUCCESS;
}
