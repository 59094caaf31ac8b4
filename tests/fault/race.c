/* SPDX-License-Identifier: Apache-2.0 */
/* Processes reserve the same slices at the same time. Exactly one gets all of its slices, and the journal records
 * which one. The program runs itself as the racing processes. */
#include "../support.h"

#include <sys/stat.h>
#include <sys/wait.h>

/* --- the child processes --- */

enum { LONGEST_LINE = 255 };

static gboolean
read_line (char *line)
{
  gssize n;
  guint length = 0;

  while ((n = read (STDIN_FILENO, line + length, 1)) == 1 && line[length] != '\n')
    if (++length == LONGEST_LINE)
      return FALSE;
  line[length] = '\0';
  return n == 1;
}

static void
answer (const char *text)
{
  gsize length = strlen (text);

  require (write (STDOUT_FILENO, text, length) == (gssize) length, "the parent is gone");
}

static const char *
reserve (QuoitLedger *ledger, const char *name, gint64 n_slices)
{
  g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", "4x4", n_slices);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (ledger, request, T0, NULL, &error);

  return group != NULL ? "OK" : quoit_error_code_name ((QuoitErrorCode) error->code);
}

/* Each input line starts a race: reserve two slices, then print the result. */
static int
racer (const char *path, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (ledger_name (path), 60000, &error);
  char line[LONGEST_LINE + 1];

  require (ledger != NULL, "%s", error_text (error));
  while (read_line (line))
    {
      g_autofree char *text = g_strconcat (reserve (ledger, name, 2), "\n", NULL);

      answer (text);
    }
  return EXIT_SUCCESS;
}

/* "NAME@ID SLICE SLICE..." */
static char *
group_line (const QuoitGroup *group)
{
  GString *line = g_string_new (NULL);

  g_string_append_printf (line, "%s@%u", quoit_group_get_name (group), (guint) quoit_group_get_id (group));
  for (guint32 i = 0; i < quoit_group_get_n_slices (group); i++)
    {
      g_autofree char *slice = quoit_group_dup_slice_name (group, i);

      g_string_append_printf (line, " %s", slice);
    }
  g_string_append_c (line, '\n');
  return g_string_free (line, FALSE);
}

static void
release_at (QuoitLedger *ledger, GPtrArray *own, guint at)
{
  g_autoptr (GError) error = NULL;

  require (quoit_ledger_release (ledger, own->pdata[at], T0, &error), "%s: %s", (char *) own->pdata[at],
           error_text (error));
  g_ptr_array_remove_index_fast (own, at);
}

/* Reserves and releases at random, and prints the slices of each group. */
static int
worker (const char *path, const char *name, guint32 seed, guint n_steps)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (ledger_name (path), 60000, &error);
  g_autoptr (GPtrArray) own = g_ptr_array_new_with_free_func (g_free);

  require (ledger != NULL, "%s", error_text (error));
  for (guint i = 0; i < n_steps; i++)
    {
      if (own->len > 0 && g_rand_boolean (rand))
        {
          release_at (ledger, own, (guint) g_rand_int_range (rand, 0, (gint) own->len));
          continue;
        }
      g_autofree char *group_name = g_strdup_printf ("%s-%u", name, i), *text = NULL;
      g_autoptr (QuoitRequest) request = new_slice_request (group_name, "v6e", "4x4", g_rand_int_range (rand, 1, 4));
      g_autoptr (QuoitGroup) group = NULL;

      quoit_request_set_owner (request, name, NULL);
      group = quoit_ledger_reserve (ledger, request, T0, NULL, &error);
      require (group != NULL || error->code == QUOIT_ERROR_NOT_NOW, "%s: %s", group_name, error_text (error));
      g_clear_error (&error);
      if (group == NULL)
        continue;
      g_ptr_array_add (own, g_strdup_printf ("%s@%u", group_name, (guint) quoit_group_get_id (group)));
      text = group_line (group);
      answer (text);
    }
  while (own->len > 0)
    release_at (ledger, own, 0);
  return EXIT_SUCCESS;
}

/* Each input line makes all processes create the same database. */
static int
creator (const char *path)
{
  char line[LONGEST_LINE + 1];

  while (read_line (line))
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *own = g_strconcat (path, line, NULL), *text = NULL;
      g_autoptr (QuoitLedger) ledger
          = quoit_ledger_create (ledger_name (own), g_str_has_suffix (line, "0") ? 0 : 1000, &error);

      if (ledger != NULL && !import_text (ledger, "v6e 4x4 x3", NULL, T0, &error))
        text = g_strdup_printf ("IMPORT %s\n", error->message);
      else
        text = g_strdup_printf ("%s\n", ledger != NULL ? "OK" : quoit_error_code_name ((QuoitErrorCode) error->code));
      answer (text);
    }
  return EXIT_SUCCESS;
}

/* --- the parent --- */

typedef struct {
  GPid pid;
  int to, from;
} Child;

static Child
start (const char *self, const char *role, const char *path, const char *name, guint32 seed, guint n_steps)
{
  g_autofree char *seed_text = g_strdup_printf ("%u", seed), *steps_text = g_strdup_printf ("%u", n_steps);
  const char *argv[] = { self, role, path, name, seed_text, steps_text, NULL };
  g_autoptr (GError) error = NULL;
  Child child;

  require (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &child.pid,
                                     &child.to, &child.from, NULL, &error),
           "%s", error_text (error));
  return child;
}

static void
finish (Child *child)
{
  int status;

  close (child->to);
  require (waitpid (child->pid, &status, 0) == child->pid && status == 0, "a process ended with status %d", status);
  close (child->from);
}

static void
send_line (const Child *child, const char *line)
{
  require (write (child->to, line, strlen (line)) == (gssize) strlen (line), "a process is gone");
}

static void
read_reply (const Child *child, char *line)
{
  guint n = 0;

  while (read (child->from, line + n, 1) == 1 && line[n] != '\n' && n < LONGEST_LINE - 1)
    n++;
  line[n] = '\0';
}

static guint
two_for_three (const char *self, const char *path)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (ledger_name (path), 60000, NULL);
  const guint rounds = scaled (1000);
  guint wins[2] = { 0, 0 };
  Child racers[2];

  require (ledger != NULL && import_text (ledger, "v6e 4x4 x3", NULL, T0, NULL), "a ledger to race for");
  racers[0] = start (self, "racer", path, "left", 0, 0);
  racers[1] = start (self, "racer", path, "right", 0, 0);
  for (guint round = 0; round < rounds; round++)
    {
      g_autoptr (QuoitSnapshot) snapshot = NULL;
      g_autoptr (QuoitGroup) group = NULL;
      char lines[2][LONGEST_LINE + 1];
      guint winner;

      send_line (&racers[round % 2], "go\n");
      send_line (&racers[1 - round % 2], "go\n");
      for (guint i = 0; i < 2; i++)
        read_reply (&racers[i], lines[i]);
      winner = strcmp (lines[0], "OK") == 0 ? 0 : 1;
      wins[winner]++;
      require (strcmp (lines[winner], "OK") == 0 && strcmp (lines[1 - winner], "NOT_NOW") == 0, "round %u: %s and %s",
               round, lines[0], lines[1]);
      require (quoit_ledger_refresh (ledger, NULL), "round %u", round);
      snapshot = quoit_ledger_snapshot (ledger);
      group = quoit_snapshot_dup_group (snapshot, 0);
      require (quoit_snapshot_get_n_groups (snapshot) == 1 && quoit_group_get_n_slices (group) == 2
                   && strcmp (quoit_group_get_name (group), winner == 0 ? "left" : "right") == 0,
               "round %u: %u groups, of which %s has %u slices", round, quoit_snapshot_get_n_groups (snapshot),
               quoit_group_get_name (group), quoit_group_get_n_slices (group));
      require_consistent (ledger, "a race");
      require (quoit_ledger_release (ledger, quoit_group_get_name (group), T0, NULL), "round %u", round);
    }
  finish (&racers[0]);
  finish (&racers[1]);
  require_verified (ledger, "after all races");
  printf ("two of three slices: %u rounds, left won %u, right %u\n", rounds, wins[0], wins[1]);
  return rounds;
}

static void
move_slices (GHashTable *owners, char *const *slices, const char *from, const char *to)
{
  for (guint i = 0; slices[i] != NULL; i++)
    {
      const char *owner = g_hash_table_lookup (owners, slices[i]);

      require (g_strcmp0 (owner, from) == 0, "slice %s moves from %s to %s, but %s has it", slices[i],
               from == NULL ? "nobody" : from, to == NULL ? "nobody" : to, owner == NULL ? "nobody" : owner);
      g_hash_table_insert (owners, slices[i], (char *) to);
    }
}

typedef struct {
  GHashTable *acknowledged; /* group -> slices, from the answers to the processes */
  GHashTable *owners;       /* slice -> group */
  GHashTable *added;
  guint64 seq;
} History;

static void
request_next (History *history, const QuoitJournal *journal, guint32 i)
{
  QuoitEffectType type = quoit_journal_get_effect_type (journal, i, 0);
  g_autofree char *key = g_strdup_printf ("%s@%u", quoit_journal_get_effect_group_name (journal, i, 0),
                                          (guint) quoit_journal_get_effect_group_id (journal, i, 0));
  gpointer name, slices;

  require (quoit_journal_get_seq (journal, i) == ++history->seq && quoit_journal_get_n_effects (journal, i) == 1,
           "entry %u", (guint) history->seq);
  if (type != QUOIT_EFFECT_GROUP_ADDED && type != QUOIT_EFFECT_GROUP_REMOVED)
    return;
  require (g_hash_table_lookup_extended (history->acknowledged, key, &name, &slices), "%s was not acknowledged", key);
  if (type == QUOIT_EFFECT_GROUP_ADDED)
    {
      move_slices (history->owners, slices, NULL, name);
      require (g_hash_table_add (history->added, g_steal_pointer (&key)), "%s was added twice", (char *) name);
    }
  else
    move_slices (history->owners, slices, name, NULL);
}

/* @journals: the whole journal, in pieces. */
static guint
check_history (const GPtrArray *journals, GHashTable *acknowledged)
{
  History history = { acknowledged, g_hash_table_new (g_str_hash, g_str_equal),
                      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL), 0 };

  for (guint j = 0; j < journals->len; j++)
    for (guint32 i = 0; i < quoit_journal_get_n_entries (journals->pdata[j]); i++)
      request_next (&history, journals->pdata[j], i);
  require (g_hash_table_size (acknowledged) == g_hash_table_size (history.added),
           "%u acknowledged groups, %u in the journal", g_hash_table_size (acknowledged),
           g_hash_table_size (history.added));
  g_hash_table_unref (history.owners);
  g_hash_table_unref (history.added);
  return (guint) history.seq;
}

/* Adds the entries after @seq; returns the last entry of the journal. */
static guint64
read_on (QuoitLedger *ledger, guint64 seq, GPtrArray *journals)
{
  g_autoptr (GError) error = NULL;
  QuoitJournal *journal;
  guint32 n;

  require (quoit_ledger_refresh (ledger, &error), "%s", error_text (error));
  journal = quoit_ledger_read_journal (ledger, seq, &error);
  require (journal != NULL, "%s", error_text (error));
  g_ptr_array_add (journals, journal);
  n = quoit_journal_get_n_entries (journal);
  return seq + n;
}

/* @n_compactions: how often the journal is read and compacted while the processes work. */
static guint
many_for_few (const char *self, const char *path, guint32 seed, guint n_compactions)
{
  enum { N_WORKERS = 8 };
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (ledger_name (path), 60000, NULL);
  g_autoptr (GHashTable) acknowledged
      = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_strfreev);
  g_autoptr (GPtrArray) journals = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_journal_free);
  g_autoptr (GError) error = NULL;
  Child workers[N_WORKERS];
  guint64 seq = 0;
  guint n_entries;

  require (ledger != NULL && import_text (ledger, "v6e 4x4 x12", NULL, T0, NULL), "a ledger to work on");
  for (guint i = 0; i < N_WORKERS; i++)
    {
      g_autofree char *name = g_strdup_printf ("w%u", i);

      workers[i] = start (self, "worker", path, name, seed + i, scaled (400));
    }
  for (guint i = 0; i < n_compactions; i++)
    {
      g_usleep (3000);
      seq = read_on (ledger, seq, journals);
      require (quoit_ledger_compact_journal (ledger, seq + 1, T0, NULL, &error), "%s", error_text (error));
    }
  for (guint i = 0; i < N_WORKERS; i++)
    {
      char line[LONGEST_LINE + 1], *space;

      for (read_reply (&workers[i], line); *line != '\0'; read_reply (&workers[i], line))
        {
          space = strchr (line, ' ');
          require (space != NULL, "%s", line);
          *space = '\0';
          g_hash_table_replace (acknowledged, g_strdup (line), g_strsplit (space + 1, " ", -1));
        }
      finish (&workers[i]);
    }
  read_on (ledger, seq, journals);
  n_entries = check_history (journals, acknowledged);
  require_verified (ledger, "after all workers");
  require_consistent (ledger, "after all workers");
  printf ("%u processes on one file: %u entries, compacted %u times to %u\n", N_WORKERS, n_entries, n_compactions,
          (guint) seq);
  return 1;
}

/* A program that changes the attributes of the file, such as its mode, makes quoit verify the file. A process that
 * verifies it while another one copies the WAL into it must not take those writes for a third program's. */
static guint
change_attributes (const char *self, const char *path, guint32 seed)
{
  enum { N_WORKERS = 2 };
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (ledger_name (path), 60000, NULL);
  const guint n_changes = scaled (400);
  g_autoptr (GError) error = NULL;
  Child workers[N_WORKERS];
  char line[LONGEST_LINE + 1];

  require (ledger != NULL && import_text (ledger, "v6e 4x4 x12", NULL, T0, NULL), "a ledger to work on");
  for (guint i = 0; i < N_WORKERS; i++)
    workers[i] = start (self, "worker", path, i == 0 ? "left" : "right", seed + i, scaled (1000));
  for (guint i = 0; i < n_changes; i++)
    {
      require (chmod (path, i % 2 == 0 ? 0600 : 0640) == 0, "%s", path);
      require (quoit_ledger_refresh (ledger, &error), "change %u: %s", i, error_text (error));
    }
  for (guint i = 0; i < N_WORKERS; i++)
    {
      for (read_reply (&workers[i], line); *line != '\0'; read_reply (&workers[i], line))
        continue;
      finish (&workers[i]);
    }
  require_verified (ledger, "after the changes");
  printf ("a file whose attributes change: %u changes\n", n_changes);
  return 1;
}

/* One process creates the database, the others find it, and none destroys it. */
static guint
create_once (const char *self, const char *path)
{
  const guint rounds = scaled (100);
  Child creators[3];

  for (guint i = 0; i < 3; i++)
    creators[i] = start (self, "creator", path, "", 0, 0);
  for (guint round = 0; round < rounds; round++)
    {
      g_autofree char *line = g_strdup_printf ("%u\n", round), *own = g_strdup_printf ("%s%u", path, round);
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitLedger) ledger = NULL;
      guint n_made = 0;

      for (guint i = 0; i < 3; i++)
        send_line (&creators[(i + round) % 3], line);
      for (guint i = 0; i < 3; i++)
        {
          char reason_by[LONGEST_LINE + 1];

          read_reply (&creators[i], reason_by);
          n_made += strcmp (reason_by, "OK") == 0;
          require (strcmp (reason_by, "OK") == 0 || strcmp (reason_by, "CONFLICT") == 0
                       || strcmp (reason_by, "BUSY") == 0,
                   "round %u: %s", round, reason_by);
        }
      require (n_made <= 1, "round %u: %u processes have created the database", round, n_made);
      if (n_made == 0)
        continue;
      ledger = quoit_ledger_open (ledger_name (own), 1000, &error);
      require (ledger != NULL, "round %u: %s", round, error_text (error));
      require_verified (ledger, "a new database");
      {
        g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

        require (quoit_snapshot_get_n_slices (snapshot) == 3, "round %u: the import was lost", round);
      }
    }
  for (guint i = 0; i < 3; i++)
    finish (&creators[i]);
  printf ("three processes create one database: %u rounds\n", rounds);
  return rounds;
}

int
main (int argc, char **argv)
{
  char *dir;
  g_autofree char *race = NULL, *work = NULL, *years = NULL, *modes = NULL, *new = NULL;
  guint32 seed;
  guint n = 0;

  if (argc > 3 && strcmp (argv[1], "racer") == 0)
    return racer (argv[2], argv[3]);
  if (argc > 5 && strcmp (argv[1], "worker") == 0)
    return worker (argv[2], argv[3], (guint32) g_ascii_strtoull (argv[4], NULL, 10),
                   (guint) g_ascii_strtoull (argv[5], NULL, 10));
  if (argc > 2 && strcmp (argv[1], "creator") == 0)
    return creator (argv[2]);

  seed = random_seed ("race", 3);
  dir = fast_dir ();
  race = g_build_filename (dir, "race.db", NULL);
  work = g_build_filename (dir, "work.db", NULL);
  years = g_build_filename (dir, "years.db", NULL);
  modes = g_build_filename (dir, "modes.db", NULL);
  new = g_build_filename (dir, "new.db", NULL);
  n += create_once ("/proc/self/exe", new);
  n += two_for_three ("/proc/self/exe", race);
  n += many_for_few ("/proc/self/exe", work, seed, 0);
  n += many_for_few ("/proc/self/exe", years, seed + 100, scaled (150));
  if (!is_on_server ())
    n += change_attributes ("/proc/self/exe", modes, seed + 200);
  remove_dir (dir);
  g_free (dir);
  printf ("%u passed, 0 failed\n", n);
  return EXIT_SUCCESS;
}
