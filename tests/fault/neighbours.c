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
  guint codes[QUOIT_ERROR_UNCONFIRMED + 1], n_kills, n_deletions, n_links, n_looks, n_entries, n_shared;
} Yard;

static guint
below (const Yard *yard, guint n)
{
  return (guint) g_rand_int_range (yard->rand, 0, (gint) n);
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
      = { "deleted or replaced", "deletes its -wal", "another writer", "another process", NULL },
      *const store[] = { "second name", NULL }, *const unconfirmed[] = { "look, or retry", NULL },
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
find_writer (Yard *yard, guint number)
{
  for (guint i = 0; i < yard->n_writers; i++)
    if (yard->writers[i].number == number)
      return &yard->writers[i];
  return NULL;
}

static void
free_op (gpointer op)
{
  op_clear (op);
  g_free (op);
}

static void
take_answer (Yard *yard, char *line)
{
  char *message = strchr (line, '\t'), *end = strrchr (line, '\t');
  Op op, *kept;
  Writer *writer;

  if (end == NULL || strcmp (end, "\t.") != 0)
    return;
  *end = '\0';
  *message++ = '\0';
  hold (op_parse (line, &op), "%s", line);
  hold (op.code == 0 || is_explained (op.code, message), "%s: code %d: %s", line, op.code, message);
  yard->codes[op.code]++;
  writer = find_writer (yard, (guint) g_ascii_strtoull (op.tag + 1, NULL, 10));
  if (writer != NULL && op.code == 0 && op.kind != OP_LOOK)
    writer->done_us = op.invoked_us;
  kept = g_memdup2 (&op, sizeof op);
  hold (g_hash_table_insert (yard->ops, kept->tag, kept), "%s twice", op.tag);
}

/* Reads whole lines only, and no more than there is at the call; the rest follows next time. */
static void
take_answers (Yard *yard)
{
  int fd = open (yard->answers, O_RDONLY | O_CLOEXEC);
  g_autoptr (GString) text = g_string_new (NULL);
  char buffer[65536];
  struct stat file;
  gint64 left;
  gssize n;
  char *line, *end;

  hold (fd >= 0 && fstat (fd, &file) == 0, "%s", yard->answers);
  left = file.st_size - yard->n_read;
  hold (lseek (fd, yard->n_read, SEEK_SET) == yard->n_read, "%s", yard->answers);
  for (; left > 0 && (n = read (fd, buffer, (gsize) MIN (left, (gint64) sizeof buffer))) > 0; left -= n)
    g_string_append_len (text, buffer, n);
  close (fd);
  for (line = text->str; (end = strchr (line, '\n')) != NULL; line = end + 1)
    {
      *end = '\0';
      take_answer (yard, line);
    }
  yard->n_read += line - text->str;
}

/* --- writers --- */

static void
start_writer (Yard *yard, Writer *writer)
{
  g_autofree char *number = g_strdup_printf ("%u", yard->n_started), *seed = g_strdup_printf ("%u", yard->seed),
                  *start = g_strdup_printf ("%" G_GINT64_FORMAT, yard->start_us),
                  *parent = g_strdup_printf ("%d", (int) getpid ());
  const char *argv[] = { "/proc/self/exe", "writer", yard->path, yard->answers, number, seed, start, parent, NULL };
  g_autoptr (GError) error = NULL;

  *writer = (Writer) { .number = yard->n_started++ };
  hold (g_spawn_async (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &writer->pid, &error), "%s",
        said (error));
}

static void
kill_writer (Yard *yard, const Writer *writer)
{
  int status = 0;

  kill (writer->pid, SIGKILL);
  hold (waitpid (writer->pid, &status, 0) == writer->pid && WIFSIGNALED (status) && WTERMSIG (status) == SIGKILL,
        "writer %u has ended by itself", writer->number);
  yard->n_kills++;
}

static void
start_writers (Yard *yard)
{
  yard->n_writers = LEAST_WRITERS + below (yard, MOST_WRITERS - LEAST_WRITERS + 1);
  yard->guard = NOBODY;
  for (guint i = 0; i < yard->n_writers; i++)
    start_writer (yard, &yard->writers[i]);
}

/* A deleted log exists only while a process has it open, so one such process must live until it has saved the log. */
static void
let_guard_go (Yard *yard)
{
  if (yard->guard != NOBODY && yard->writers[yard->guard].done_us > yard->deleted_us)
    yard->guard = NOBODY;
}

static void
kill_one (Yard *yard)
{
  guint victim = below (yard, yard->n_writers);

  if ((int) victim == yard->guard)
    victim = (victim + 1) % yard->n_writers;
  kill_writer (yard, &yard->writers[victim]);
  start_writer (yard, &yard->writers[victim]);
}

/* --- other programs --- */

/* A writer that uses the current files. */
static int
find_guard (const Yard *yard)
{
  guint first = below (yard, yard->n_writers);

  for (guint i = 0; i < yard->n_writers; i++)
    if (yard->writers[(first + i) % yard->n_writers].done_us > yard->deleted_us)
      return (int) ((first + i) % yard->n_writers);
  return NOBODY;
}

static void
delete_companion (const Yard *yard, const char *tail)
{
  g_autofree char *name = g_strconcat (yard->path, tail, NULL);

  g_unlink (name);
}

static void
delete_companions (Yard *yard)
{
  guint which = 1 + below (yard, 3);

  if (yard->guard != NOBODY || (yard->guard = find_guard (yard)) == NOBODY)
    return;
  if ((which & 1) != 0)
    delete_companion (yard, "-wal");
  if ((which & 2) != 0)
    delete_companion (yard, "-shm");
  yard->deleted_us = g_get_monotonic_time ();
  yard->n_deletions++;
}

static void
link_for_a_moment (Yard *yard)
{
  g_autofree char *other = g_strconcat (yard->path, ".link", NULL);

  hold (link (yard->path, other) == 0, "%s", other);
  g_usleep (below (yard, 2000));
  hold (g_unlink (other) == 0, "%s", other);
  yard->n_links++;
}

static void
look_in (Yard *yard)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (yard->path, 1000, &error);

  if (ledger != NULL)
    quoit_ledger_refresh (ledger, &error);
  hold (error == NULL || is_explained (error->code, error->message), "a reader: code %d: %s", error->code,
        said (error));
  yard->n_looks++;
}

static void
be_neighbours (Yard *yard)
{
  switch (below (yard, 8))
    {
    case 0:
      return read_whole_file (yard->path);
    case 1:
      return read_with_other_sqlite (yard->path);
    case 2:
    case 3:
      return delete_companions (yard);
    case 4:
      return delete_companion (yard, "-head");
    case 5:
      return link_for_a_moment (yard);
    case 6:
      return look_in (yard);
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
take_slices (Yard *yard, guint64 id, guint32 slices, guint64 seq)
{
  GHashTableIter iter;
  gpointer key, value;

  g_hash_table_iter_init (&iter, yard->slices);
  while (g_hash_table_iter_next (&iter, &key, &value))
    hold (GPOINTER_TO_SIZE (key) == id || (GPOINTER_TO_UINT (value) & slices) == 0,
          "entry %u: groups @%u and @%u both hold slices %x", (guint) seq, (guint) GPOINTER_TO_SIZE (key), (guint) id,
          GPOINTER_TO_UINT (value) & slices);
  yard->n_shared += g_hash_table_size (yard->slices);
  g_hash_table_insert (yard->slices, GSIZE_TO_POINTER (id), GUINT_TO_POINTER (slices));
}

/* The changes of a writer that was killed before its answer are unknown. */
static void
compare_effect (Yard *yard, const QuoitJournal *journal, guint32 entry, guint32 effect, const Op *op)
{
  QuoitEffectType type = quoit_journal_get_effect_type (journal, entry, effect);
  guint64 id = quoit_journal_get_effect_group_id (journal, entry, effect);

  if (type != QUOIT_EFFECT_GROUP_ADDED && type != QUOIT_EFFECT_GROUP_CHANGED && type != QUOIT_EFFECT_GROUP_REMOVED)
    return;
  if (type == QUOIT_EFFECT_GROUP_REMOVED || op == NULL)
    {
      g_hash_table_remove (yard->slices, GSIZE_TO_POINTER (id));
      return;
    }
  hold (op->group_id == id || !makes_group (op), "%s was told of @%u, and the journal of @%u", op->tag,
        (guint) op->group_id, (guint) id);
  if (op->group_id == id)
    take_slices (yard, id, op->after, quoit_journal_get_seq (journal, entry));
}

static void
compare_entry (Yard *yard, const QuoitJournal *journal, guint32 entry)
{
  const char *actor = quoit_journal_get_actor (journal, entry), *verb = quoit_journal_get_verb (journal, entry);
  guint64 seq = quoit_journal_get_seq (journal, entry);
  gboolean is_expiry = strcmp (verb, "expire") == 0;
  Op *op = is_expiry ? NULL : g_hash_table_lookup (yard->ops, actor);

  hold (seq == yard->seq + 1, "entry %u follows entry %u", (guint) seq, (guint) yard->seq);
  yard->seq = seq;
  yard->n_entries++;
  if (op != NULL)
    {
      hold (op->code == 0 || op->code == QUOIT_ERROR_UNCONFIRMED, "%s was refused with code %d, but has entry %u",
            actor, op->code, (guint) seq);
      hold (op->code != 0 || op->seq == seq, "%s was told of entry %u, and has entry %u", actor, (guint) op->seq,
            (guint) seq);
      hold (strcmp (op_verb (op->kind), verb) == 0, "%s has an entry of verb %s", actor, verb);
    }
  for (guint32 i = 0; i < quoit_journal_get_n_effects (journal, entry); i++)
    compare_effect (yard, journal, entry, i, op != NULL && op->code == 0 ? op : NULL);
  if (op != NULL)
    g_hash_table_remove (yard->ops, actor);
}

/* Every answer that requires an entry has one. */
static gboolean
is_settled (gpointer tag, gpointer data, gpointer user_data)
{
  const Op *op = data;
  const Yard *yard = user_data;

  hold (op->code != 0 || !must_change (op), "%s of '%s' was acknowledged, and is not in the journal", (char *) tag,
        op->name);
  hold (op->seq <= yard->seq, "%s has seen entry %u, and the last one is %u", (char *) tag, (guint) op->seq,
        (guint) yard->seq);
  return TRUE;
}

static void
check_all (Yard *yard)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (yard->path, 1000, &error);
  g_autoptr (QuoitJournal) journal = NULL;

  hold (ledger != NULL, "%s", said (error));
  hold_verified (ledger, "after the kills");
  hold_together (ledger, "after the kills");
  journal = quoit_ledger_read_journal (ledger, yard->seq, &error);
  hold (journal != NULL, "%s", said (error));
  for (guint32 i = 0; i < quoit_journal_get_n_entries (journal); i++)
    compare_entry (yard, journal, i);
  g_hash_table_foreach_remove (yard->ops, is_settled, yard);
  if (below (yard, 4) == 0)
    hold (quoit_ledger_compact_journal (ledger, yard->seq + 1, T0, NULL, &error), "%s", said (error));
}

/* Waits until every writer works again before all are killed, because deleted files are lost once no process has
 * them open. */
static void
settle (Yard *yard)
{
  gint64 end_us = g_get_monotonic_time () + MOST_WAIT_S * G_USEC_PER_SEC;

  for (take_answers (yard), let_guard_go (yard); yard->guard != NOBODY; take_answers (yard), let_guard_go (yard))
    {
      hold (g_get_monotonic_time () < end_us, "nothing was done for %d s after files had been deleted", MOST_WAIT_S);
      g_usleep (1000);
    }
  for (guint i = 0; i < yard->n_writers; i++)
    kill_writer (yard, &yard->writers[i]);
  take_answers (yard);
  yard->n_writers = 0;
  check_all (yard);
}

static void
do_round (Yard *yard)
{
  start_writers (yard);
  for (guint i = 0; i < KILLS_A_ROUND; i++)
    {
      g_usleep (500 + below (yard, 12000));
      take_answers (yard);
      let_guard_go (yard);
      be_neighbours (yard);
      g_usleep (below (yard, 3000));
      take_answers (yard);
      let_guard_go (yard);
      kill_one (yard);
    }
  settle (yard);
}

static void
print_tally (const Yard *yard)
{
  printf ("%u kills of 3 to 5 writers, %u deletions of -wal or -shm, %u second names, %u readers\n", yard->n_kills,
          yard->n_deletions, yard->n_links, yard->n_looks);
  printf ("%u entries, %u comparisons of slices; answers:", yard->n_entries, yard->n_shared);
  for (guint code = 0; code < G_N_ELEMENTS (yard->codes); code++)
    if (yard->codes[code] > 0)
      printf (" %s %u", code == 0 ? "done" : quoit_error_code_name ((QuoitErrorCode) code), yard->codes[code]);
  printf ("\n");
}

int
main (int argc, char **argv)
{
  Yard yard = { 0 };
  guint n_rounds = scaled (6);
  char *dir;

  if (argc > 7 && strcmp (argv[1], "writer") == 0)
    return write_among_neighbours (argv[2], argv[3], (guint) g_ascii_strtoull (argv[4], NULL, 10),
                                   (guint32) g_ascii_strtoull (argv[5], NULL, 10), g_ascii_strtoll (argv[6], NULL, 10),
                                   (pid_t) g_ascii_strtoll (argv[7], NULL, 10));
  yard.seed = seed_of ("neighbours", 11);
  yard.rand = g_rand_new_with_seed (yard.seed);
  yard.start_us = g_get_monotonic_time ();
  yard.ops = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_op);
  yard.slices = g_hash_table_new (NULL, NULL);
  dir = fast_dir ();
  yard.path = g_build_filename (dir, "fleet.db", NULL);
  yard.answers = g_build_filename (dir, "answers.txt", NULL);
  hold (g_file_set_contents (yard.answers, "", 0, NULL), "%s", yard.answers);
  {
    g_autoptr (QuoitLedger) ledger = quoit_ledger_create (yard.path, 1000, NULL);

    hold (ledger != NULL && import_text (ledger, "v6e 4x4 x5", NULL, T0, NULL), "a ledger to work on");
    yard.seq = 1;
  }
  for (guint i = 0; i < n_rounds; i++)
    do_round (&yard);
  print_tally (&yard);
  remove_dir (dir);
  g_free (dir);
  g_free (yard.path);
  g_free (yard.answers);
  g_hash_table_unref (yard.ops);
  g_hash_table_unref (yard.slices);
  g_rand_free (yard.rand);
  printf ("%u passed, 0 failed\n", n_rounds);
  return EXIT_SUCCESS;
}
