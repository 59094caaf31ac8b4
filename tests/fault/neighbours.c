/* SPDX-License-Identifier: Apache-2.0 */
/* Kills several writers of one ledger, whose clocks jump, one after the other. At the same time, other programs read
 * the file, open it with their own SQLite, delete its companion files and give it a second name. No slice may be
 * allocated twice, every acknowledged change must be in the journal, and each refusal must give a reason. The
 * program runs itself as the writers. */
#include "neighbours.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { LEAST_WRITERS = 3, MOST_WRITERS = 5, KILLS_A_ROUND = 25, MOST_WAIT_S = 60, NOBODY = -1 };

/* quoit trusts the time of a folder that has been quiet for less than this. */
enum { QUIET_US = 150000 };

typedef struct {
  GPid pid;
  guint number;
  gint64 done_us; /* start of the last call that succeeded */
} Writer;

typedef struct {
  char *path, *answers;
  guint32 seed;
  GRand *rand;
  gint64 start_us;
  Writer writers[MOST_WRITERS];
  guint n_writers, n_started;
  int guard;          /* the writer that must not be killed until it has repaired the files, or NOBODY */
  gint64 deleted_us;  /* when companion files were last deleted */
  goffset n_read;     /* offset in the file of answers */
  GHashTable *ops;    /* tag -> Op: answers not yet compared with the journal */
  GHashTable *slices; /* group id -> its acknowledged slices, one bit each */
  guint64 seq;        /* last compared entry */
  guint codes[QUOIT_ERROR_UNCONFIRMED + 1], n_kills, n_deletions, n_checkpoints, n_links, n_tests, n_entries, n_shared;
  gboolean deletes_files; /* in this round; in the others, another program runs checkpoints */
} FaultRun;

static guint
random_below (const FaultRun *run, guint n)
{
  return (guint) g_rand_int_range (run->rand, 0, (gint) n);
}

/* --- answers --- */

static gboolean
has_one_of (const char *message, const char *const *texts)
{
  for (; *texts != NULL; texts++)
    if (strstr (message, *texts) != NULL)
      return TRUE;
  return FALSE;
}

/* Refusals because of the ledger's state, or caused by other programs and writers. Any other refusal is a fault. */
static gboolean
is_explained (int code, const char *message)
{
  static const char *const busy[]
      = { "deleted or replaced", "keeps deleting its -wal", "another writer", "another process", NULL },
      *const store[] = { "second name", NULL }, *const unconfirmed[] = { "repeat the call", NULL },
             *const conflict[] = { "another program has written", "open it again", NULL },
             *const invalid[] = { "clock", NULL };

  switch (code)
    {
    case QUOIT_ERROR_BUSY:
      return has_one_of (message, busy);
    case QUOIT_ERROR_STORE:
      return has_one_of (message, store);
    case QUOIT_ERROR_UNCONFIRMED:
      return has_one_of (message, unconfirmed);
    case QUOIT_ERROR_CONFLICT:
      return !has_one_of (message, conflict);
    case QUOIT_ERROR_INVALID:
      return !has_one_of (message, invalid);
    default:
      return code == QUOIT_ERROR_NOT_NOW || code == QUOIT_ERROR_NEVER || code == QUOIT_ERROR_NOT_FOUND
             || code == QUOIT_ERROR_EXPIRED;
    }
}

static Writer *
find_writer (FaultRun *run, guint number)
{
  for (guint i = 0; i < run->n_writers; i++)
    if (run->writers[i].number == number)
      return &run->writers[i];
  return NULL;
}

static void
free_op (gpointer op)
{
  op_clear (op);
  g_free (op);
}

static void
read_answer (FaultRun *run, char *line)
{
  char *message = strchr (line, '\t'), *end = strrchr (line, '\t');
  Op op, *kept;
  Writer *writer;

  if (end == NULL || strcmp (end, "\t.") != 0)
    return;
  *end = '\0';
  *message++ = '\0';
  require (op_parse (line, &op), "%s", line);
  require (op.code == 0 || is_explained (op.code, message), "%s: code %d: %s", line, op.code, message);
  run->codes[op.code]++;
  writer = find_writer (run, (guint) g_ascii_strtoull (op.tag + 1, NULL, 10));
  if (writer != NULL && op.code == 0 && op.kind != OP_LOOK)
    writer->done_us = op.invoked_us;
  kept = g_memdup2 (&op, sizeof op);
  require (g_hash_table_insert (run->ops, kept->tag, kept), "two answers for %s", op.tag);
}

/* Reads whole lines only, and no more than there is at the call; the rest follows next time. */
static void
read_answers (FaultRun *run)
{
  int fd = open (run->answers, O_RDONLY | O_CLOEXEC);
  g_autoptr (GString) text = g_string_new (NULL);
  char buffer[65536];
  struct stat file;
  gint64 left;
  gssize n;
  char *line, *end;

  require (fd >= 0 && fstat (fd, &file) == 0, "%s", run->answers);
  left = file.st_size - run->n_read;
  require (lseek (fd, run->n_read, SEEK_SET) == run->n_read, "%s", run->answers);
  for (; left > 0 && (n = read (fd, buffer, (gsize) MIN (left, (gint64) sizeof buffer))) > 0; left -= n)
    g_string_append_len (text, buffer, n);
  close (fd);
  /* Not strchr(): ASan's measures the whole text at each call, and the writers would write faster than this reads. */
  for (line = text->str; (end = memchr (line, '\n', text->len - (gsize) (line - text->str))) != NULL; line = end + 1)
    {
      *end = '\0';
      read_answer (run, line);
    }
  run->n_read += line - text->str;
}

/* --- writers --- */

static void
start_writer (FaultRun *run, Writer *writer)
{
  g_autofree char *number = g_strdup_printf ("%u", run->n_started), *seed = g_strdup_printf ("%u", run->seed),
                  *start = g_strdup_printf ("%" G_GINT64_FORMAT, run->start_us),
                  *parent = g_strdup_printf ("%d", (int) getpid ());
  const char *argv[] = { "/proc/self/exe", "writer", run->path, run->answers, number, seed, start, parent, NULL };
  g_autoptr (GError) error = NULL;

  *writer = (Writer) { .number = run->n_started++ };
  require (g_spawn_async (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &writer->pid, &error),
           "%s", error_text (error));
}

static void
kill_writer (FaultRun *run, const Writer *writer)
{
  int status = 0;

  kill (writer->pid, SIGKILL);
  require (waitpid (writer->pid, &status, 0) == writer->pid && WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL,
           "writer %u has ended by itself, with wait status %x", writer->number, (guint) status);
  run->n_kills++;
}

static void
start_writers (FaultRun *run)
{
  run->n_writers = LEAST_WRITERS + random_below (run, MOST_WRITERS - LEAST_WRITERS + 1);
  run->guard = NOBODY;
  for (guint i = 0; i < run->n_writers; i++)
    start_writer (run, &run->writers[i]);
}

/* A deleted log exists only while a process has it open, so one such process must live until it has saved the log. */
static void
release_guard (FaultRun *run)
{
  if (run->guard != NOBODY && run->writers[run->guard].done_us > run->deleted_us)
    run->guard = NOBODY;
}

static void
kill_one (FaultRun *run)
{
  guint victim = random_below (run, run->n_writers);

  if ((int) victim == run->guard)
    victim = (victim + 1) % run->n_writers;
  kill_writer (run, &run->writers[victim]);
  start_writer (run, &run->writers[victim]);
}

/* --- other programs --- */

/* A writer that uses the current files. */
static int
find_guard (const FaultRun *run)
{
  guint first = random_below (run, run->n_writers);

  for (guint i = 0; i < run->n_writers; i++)
    if (run->writers[(first + i) % run->n_writers].done_us > run->deleted_us)
      return (int) ((first + i) % run->n_writers);
  return NOBODY;
}

static void
delete_companion (const FaultRun *run, const char *tail)
{
  g_autofree char *name = g_strconcat (run->path, tail, NULL);

  g_unlink (name);
}

static void
delete_companions (FaultRun *run)
{
  guint which = 1 + random_below (run, 3);

  if (run->guard != NOBODY || (run->guard = find_guard (run)) == NOBODY)
    return;
  if ((which & 1) != 0)
    delete_companion (run, "-wal");
  if ((which & 2) != 0)
    delete_companion (run, "-shm");
  run->deleted_us = g_get_monotonic_time ();
  run->n_deletions++;
}

static void
link_temporarily (FaultRun *run)
{
  g_autofree char *other = g_strconcat (run->path, ".link", NULL);

  require (link (run->path, other) == 0, "%s", other);
  g_usleep (random_below (run, 2000));
  require (g_unlink (other) == 0, "%s", other);
  run->n_links++;
}

static void
read_as_other_program (FaultRun *run)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (run->path, 1000, &error);

  if (ledger != NULL)
    quoit_ledger_refresh (ledger, &error);
  require (error == NULL || is_explained (error->code, error->message), "a reader: code %d: %s", error->code,
           error_text (error));
  run->n_tests++;
}

/* Not in a round in which files are deleted: the other program could have the old log with a new index, and copy old
 * pages over the file. quoit detects that, but cannot prevent it. */
static void
checkpoint (FaultRun *run)
{
  checkpoint_with_other_sqlite (run->path);
  run->n_checkpoints++;
}

static void
run_other_programs (FaultRun *run)
{
  switch (random_below (run, 8))
    {
    case 0:
      return read_whole_file (run->path);
    case 1:
      return read_with_other_sqlite (run->path);
    case 2:
    case 3:
      return run->deletes_files ? delete_companions (run) : checkpoint (run);
    case 4:
      return delete_companion (run, "-head");
    case 5:
      return link_temporarily (run);
    case 6:
      return read_as_other_program (run);
    default:
      return;
    }
}

/* --- invariants after all processes ended --- */

static gboolean
makes_group (const Op *op)
{
  return op->kind == OP_RESERVE || op->kind == OP_HOLD;
}

/* Calls that always change something. */
static gboolean
must_change (const Op *op)
{
  return (makes_group (op) && *op->key == '\0') || op->kind == OP_RELEASE || op->kind == OP_RELEASE_SLICE;
}

static void
take_slices (FaultRun *run, guint64 id, guint32 slices, guint64 seq)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, run->slices);
  while (g_hash_table_iter_next (&iter, &key, &value))
    require (GPOINTER_TO_SIZE (key) == id || (GPOINTER_TO_UINT (value) & slices) == 0,
             "entry %u: groups @%u and @%u both hold slices %x", (guint) seq, (guint) GPOINTER_TO_SIZE (key),
             (guint) id, GPOINTER_TO_UINT (value) & slices);
  run->n_shared += g_hash_table_size (run->slices);
  g_hash_table_insert (run->slices, GSIZE_TO_POINTER (id), GUINT_TO_POINTER (slices));
}

/* The changes of a writer that was killed before its answer are unknown. */
static void
compare_effect (FaultRun *run, const QuoitJournal *journal, guint32 entry, guint32 effect, const Op *op)
{
  QuoitEffectType type = quoit_journal_get_effect_type (journal, entry, effect);
  guint64 id = quoit_journal_get_effect_group_id (journal, entry, effect);

  if (type != QUOIT_EFFECT_GROUP_ADDED && type != QUOIT_EFFECT_GROUP_CHANGED && type != QUOIT_EFFECT_GROUP_REMOVED)
    return;
  if (type == QUOIT_EFFECT_GROUP_REMOVED || op == NULL)
    {
      g_hash_table_remove (run->slices, GSIZE_TO_POINTER (id));
      return;
    }
  require (op->group_id == id || !makes_group (op), "%s got the answer @%u, but the journal has @%u", op->tag,
           (guint) op->group_id, (guint) id);
  if (op->group_id == id)
    take_slices (run, id, op->after, quoit_journal_get_seq (journal, entry));
}

static void
compare_entry (FaultRun *run, const QuoitJournal *journal, guint32 entry)
{
  const char *actor = quoit_journal_get_actor (journal, entry), *verb = quoit_journal_get_verb (journal, entry);
  guint64 seq = quoit_journal_get_seq (journal, entry);
  gboolean is_expiry = strcmp (verb, "expire") == 0;
  Op *op = is_expiry ? NULL : g_hash_table_lookup (run->ops, actor);

  require (seq == run->seq + 1, "entry %u follows entry %u", (guint) seq, (guint) run->seq);
  run->seq = seq;
  run->n_entries++;
  if (op != NULL)
    {
      require (op->code == 0 || op->code == QUOIT_ERROR_UNCONFIRMED, "%s was refused with code %d, but has entry %u",
               actor, op->code, (guint) seq);
      require (op->code != 0 || op->seq == seq, "%s got the answer entry %u, but wrote entry %u", actor,
               (guint) op->seq, (guint) seq);
      require (strcmp (op_entry_verb (op), verb) == 0, "%s has an entry of verb %s", actor, verb);
    }
  for (guint32 i = 0; i < quoit_journal_get_n_effects (journal, entry); i++)
    compare_effect (run, journal, entry, i, op != NULL && op->code == 0 ? op : NULL);
  if (op != NULL)
    g_hash_table_remove (run->ops, actor);
}

/* Every answer that requires an entry has one. */
static gboolean
is_settled (gpointer tag, gpointer data, gpointer user_data)
{
  const Op *op = data;
  const FaultRun *run = user_data;

  require (op->code != 0 || !must_change (op), "%s of '%s' was acknowledged, but is not in the journal", (char *) tag,
           op->name);
  require (op->seq <= run->seq, "%s has seen entry %u, but the last one is %u", (char *) tag, (guint) op->seq,
           (guint) run->seq);
  return TRUE;
}

static void
check_all (FaultRun *run)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (run->path, 1000, &error);
  g_autoptr (QuoitJournal) journal = NULL;

  require (ledger != NULL, "%s", error_text (error));
  require_verified (ledger, "after the kills");
  require_consistent (ledger, "after the kills");
  journal = quoit_ledger_read_journal (ledger, run->seq, &error);
  require (journal != NULL, "%s", error_text (error));
  for (guint32 i = 0; i < quoit_journal_get_n_entries (journal); i++)
    compare_entry (run, journal, i);
  g_hash_table_foreach_remove (run->ops, is_settled, run);
  if (random_below (run, 4) == 0)
    require (quoit_ledger_compact_journal (ledger, run->seq + 1, T0, NULL, &error), "%s", error_text (error));
}

/* Waits until every writer works again before all are killed, because deleted files are lost once no process has
 * them open. */
static void
settle (FaultRun *run)
{
  gint64 end_us = g_get_monotonic_time () + MOST_WAIT_S * G_USEC_PER_SEC;

  for (read_answers (run), release_guard (run); run->guard != NOBODY; read_answers (run), release_guard (run))
    {
      require (g_get_monotonic_time () < end_us, "no writer made a change for %d s after files were deleted",
               MOST_WAIT_S);
      g_usleep (1000);
    }
  for (guint i = 0; i < run->n_writers; i++)
    kill_writer (run, &run->writers[i]);
  read_answers (run);
  run->n_writers = 0;
  check_all (run);
}

static void
do_round (FaultRun *run)
{
  run->deletes_files = !run->deletes_files;
  start_writers (run);
  for (guint i = 0; i < KILLS_A_ROUND; i++)
    {
      g_usleep (random_below (run, 12) == 0 ? QUIET_US : 500 + random_below (run, 12000));
      read_answers (run);
      release_guard (run);
      run_other_programs (run);
      g_usleep (random_below (run, 3000));
      read_answers (run);
      release_guard (run);
      kill_one (run);
    }
  settle (run);
}

static void
print_tally (const FaultRun *run)
{
  printf ("%u kills of 3 to 5 writers, %u deletions of -wal or -shm, %u checkpoints, %u second names, %u readers\n",
          run->n_kills, run->n_deletions, run->n_checkpoints, run->n_links, run->n_tests);
  printf ("%u entries, %u comparisons of slices; answers:", run->n_entries, run->n_shared);
  for (guint code = 0; code < G_N_ELEMENTS (run->codes); code++)
    if (run->codes[code] > 0)
      printf (" %s %u", code == 0 ? "done" : quoit_error_code_name ((QuoitErrorCode) code), run->codes[code]);
  printf ("\n");
}

int
main (int argc, char **argv)
{
  FaultRun run = { 0 };
  guint n_rounds = scaled (6);
  char *dir;

  if (argc > 7 && strcmp (argv[1], "writer") == 0)
    return run_writer (argv[2], argv[3], (guint) g_ascii_strtoull (argv[4], NULL, 10),
                       (guint32) g_ascii_strtoull (argv[5], NULL, 10), g_ascii_strtoll (argv[6], NULL, 10),
                       (pid_t) g_ascii_strtoll (argv[7], NULL, 10));
  run.seed = random_seed ("neighbours", 11);
  run.rand = g_rand_new_with_seed (run.seed);
  run.start_us = g_get_monotonic_time ();
  run.ops = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_op);
  run.slices = g_hash_table_new (NULL, NULL);
  dir = fast_dir ();
  run.path = g_build_filename (dir, "fleet.db", NULL);
  run.answers = g_build_filename (dir, "answers.txt", NULL);
  require (g_file_set_contents (run.answers, "", 0, NULL), "%s", run.answers);
  {
    g_autoptr (QuoitLedger) ledger = quoit_ledger_create (run.path, 1000, NULL);

    require (ledger != NULL && import_text (ledger, "v6e 4x4 x5", NULL, T0, NULL), "a ledger to work on");
    run.seq = 1;
  }
  for (guint i = 0; i < n_rounds; i++)
    do_round (&run);
  print_tally (&run);
  remove_dir (dir);
  g_free (dir);
  g_free (run.path);
  g_free (run.answers);
  g_hash_table_unref (run.ops);
  g_hash_table_unref (run.slices);
  g_rand_free (run.rand);
  printf ("%u passed, 0 failed\n", n_rounds);
  return EXIT_SUCCESS;
}
