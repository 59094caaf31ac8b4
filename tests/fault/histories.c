/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes make random calls to one ledger, each with its own wrong clock. Their answers must be
 * linearizable: a ledger that runs one call at a time could have given them. The program runs itself as the
 * processes. It first checks that the checker detects planted contradictions. */
#include "calls.h"
#include "linear.h"
#include "planted.h"

#include <sys/wait.h>

static const char fleet_text[] = "v6e 4x4 x5";

typedef struct {
  gint64 wrong_ms, wobble_ms;
} Clock;

/* Clocks differ by minutes, and are set from time to time. */
static gint64
read_clock (Clock *clock, const Caller *caller, guint step)
{
  if (caller_random_below (caller, 16) == 0)
    clock->wobble_ms = -(gint64) caller_random_below (caller, 180000);
  else if (caller_random_below (caller, 16) == 0)
    clock->wobble_ms = 0;
  return T0 + clock->wrong_ms + clock->wobble_ms + step * 700 + caller_random_below (caller, 700);
}

static int
call_and_tell (const char *path, guint number, guint32 seed, guint n_steps, gboolean has_calendar)
{
  static const gint64 wrong_ms[] = { 0, 90000, -120000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + number);
  g_autoptr (GString) lines = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (ledger_name (path), 60000, &error);
  g_autofree char *file = g_strdup_printf ("%s.p%u", path, number);
  Caller caller = { rand, ledger, number, has_calendar };
  Clock clock = { wrong_ms[number % G_N_ELEMENTS (wrong_ms)], 0 };
  char go;

  require (ledger != NULL, "%s", error_text (error));
  require (write (STDOUT_FILENO, "r", 1) == 1 && read (STDIN_FILENO, &go, 1) >= 0, "the parent is gone");
  /* The parent has closed the other end of standard output, where failures are printed. */
  require (dup2 (STDERR_FILENO, STDOUT_FILENO) >= 0, "a standard output");
  for (guint i = 0; i < n_steps; i++)
    {
      Op op = caller_make_op (&caller, i, read_clock (&clock, &caller, i));
      g_autofree char *line = NULL;

      op_run (ledger, &op);
      line = op_text (&op);
      g_string_append_printf (lines, "%s\n", line);
      op_clear (&op);
    }
  require (g_file_set_contents (file, lines->str, (gssize) lines->len, &error), "%s", error_text (error));
  return EXIT_SUCCESS;
}

/* --- the parent --- */

enum { N_CALLERS = 3, N_HISTORIES = 30 };

typedef struct {
  guint done[N_OPS], refused[N_OPS], expiries, overlapping;
  guint beginnings, moves;                      /* entries in which reservations ahead begin, or get other slices */
  guint commits, late_commits, refused_commits; /* late: others wrote between the snapshot and the commit */
  guint synced, forgotten;                      /* commits of forks that sync, or forget records */
} Tally;

static void
take_told (History *history, const char *path, guint number)
{
  g_autofree char *file = g_strdup_printf ("%s.p%u", path, number), *text = NULL;
  g_auto (GStrv) lines = NULL;

  require (g_file_get_contents (file, &text, NULL, NULL), "%s", file);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      Op op;

      require (op_parse (lines[i], &op), "%s", lines[i]);
      g_array_append_val (history->ops, op);
    }
}

/* Whether this call overlapped a call of another process. */
static gboolean
overlaps (const History *history, const Op *op)
{
  for (guint i = 0; i < history->ops->len; i++)
    {
      const Op *other = &g_array_index (history->ops, Op, i);

      if (other->tag[1] != op->tag[1] && other->invoked_us <= op->answered_us && op->invoked_us <= other->answered_us)
        return TRUE;
    }
  return FALSE;
}

/* Whether a call that changes no slices of its own group gives other slices to reservations ahead. */
static gboolean
moves_reservations (const Entry *entry)
{
  static const char *const verbs[] = { "reserve", "hold", "renew", "calendar add", NULL };

  for (guint i = 0; g_strv_contains (verbs, entry->verb) && i < entry->effects->len; i++)
    if (g_array_index (entry->effects, Effect, i).type == QUOIT_EFFECT_GROUP_CHANGED)
      return TRUE;
  return FALSE;
}

static void
add_to (Tally *tally, const History *history)
{
  for (guint i = 0; i < history->ops->len; i++)
    {
      const Op *op = &g_array_index (history->ops, Op, i);

      (op->code == 0 ? tally->done : tally->refused)[op->kind]++;
      tally->overlapping += overlaps (history, op);
      tally->commits += op->on_fork && op->code == 0;
      tally->late_commits += op->on_fork && op->code == 0 && op->seq > op->forked_at + 1;
      tally->refused_commits += op->is_commit_refused;
      tally->synced += op->on_fork && op->code == 0 && op->kind == OP_SYNC;
      tally->forgotten += op->on_fork && op->code == 0 && (op->kind == OP_FORGET || op->kind == OP_FORGET_KEY);
    }
  for (guint i = 0; i < history->entries->len; i++)
    {
      const Entry *entry = history->entries->pdata[i];

      tally->expiries += strcmp (entry->verb, "expire") == 0;
      tally->beginnings += strcmp (entry->verb, "begin") == 0;
      tally->moves += moves_reservations (entry);
    }
}

/* Keeps the history of a failed run, one call per line. */
static void
keep_history (const History *history, const char *dir)
{
  g_autofree char *file = g_build_filename (dir, "history.txt", NULL);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < history->entries->len; i++)
    {
      const Entry *entry = history->entries->pdata[i];

      g_string_append_printf (text, "entry %u %" G_GINT64_FORMAT " %s %s\n", (guint) entry->seq, entry->time_ms,
                              entry->verb, entry->actor);
    }
  for (guint i = 0; i < history->ops->len; i++)
    {
      g_autofree char *line = op_text (&g_array_index (history->ops, Op, i));

      g_string_append_printf (text, "%s\n", line);
    }
  g_file_set_contents (file, text->str, (gssize) text->len, NULL);
}

static gboolean
all_have_ended (const GPid *pids, gboolean *ended)
{
  gboolean all = TRUE;

  for (guint i = 0; i < N_CALLERS; i++)
    {
      int status = 0;

      if (!ended[i] && waitpid (pids[i], &status, WNOHANG) == pids[i])
        {
          require (status == 0, "process %u ended with status %d", i, status);
          ended[i] = TRUE;
        }
      all = all && ended[i];
    }
  return all;
}

static void
let_go (const int *to, const int *from)
{
  char ready;

  for (guint i = 0; i < N_CALLERS; i++)
    {
      require (read (from[i], &ready, 1) == 1, "process %u is gone", i);
      close (from[i]);
    }
  for (guint i = 0; i < N_CALLERS; i++)
    close (to[i]);
}

typedef enum {
  PLAIN,
  COMPACTS, /* the journal is compacted while the processes work, as fast as it can be read */
  HAS_CALENDAR,
  N_KINDS
} HistoryKind;

static void
check_one (const char *dir, guint32 seed, guint n_steps, HistoryKind kind, Tally *tally)
{
  g_autofree char *path = g_strdup_printf ("%s/history-%u.db", dir, seed), *why = NULL;
  g_autofree char *seed_text = g_strdup_printf ("%u", seed), *steps_text = g_strdup_printf ("%u", n_steps);
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (ledger_name (path), 60000, NULL);
  g_autoptr (History) history = history_new ();
  g_autoptr (GError) error = NULL;
  gboolean ended[N_CALLERS] = { FALSE };
  GPid pids[N_CALLERS];
  int to[N_CALLERS], from[N_CALLERS];
  Op last = { .kind = OP_LOOK, .tag = "last" };

  require (ledger != NULL && import_text (ledger, fleet_text, NULL, T0, NULL), "a ledger to work on");
  for (guint i = 0; i < N_CALLERS; i++)
    {
      g_autofree char *number = g_strdup_printf ("%u", i);
      const char *argv[] = {
        "/proc/self/exe", "caller", path, number, seed_text, steps_text, kind == HAS_CALENDAR ? "calendar" : NULL, NULL
      };

      require (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pids[i],
                                         &to[i], &from[i], NULL, &error),
               "%s", error_text (error));
    }
  history->reads_slices = kind == HAS_CALENDAR;
  let_go (to, from);
  while (!all_have_ended (pids, ended))
    {
      g_usleep (2000);
      history_read_on (history, ledger);
      if (kind == COMPACTS)
        require (quoit_ledger_compact_journal (ledger, history->entries->len + 1, T0, NULL, &error), "%s",
                 error_text (error));
    }
  history_read_on (history, ledger);
  for (guint i = 0; i < N_CALLERS; i++)
    take_told (history, path, i);
  op_run (ledger, &last);
  g_array_append_val (history->ops, last);
  require_verified (ledger, "after all calls");
  require_consistent (ledger, "after all calls");
  why = linear_contradiction (history);
  if (why != NULL)
    keep_history (history, dir);
  require (why == NULL, "seed %u, see %s/history.txt: %s", seed, dir, why);
  add_to (tally, history);
}

static void
print_tally (const Tally *tally)
{
  guint n = 0;

  printf ("done/refused:");
  for (guint k = 0; k < N_OPS; k++)
    {
      n += tally->done[k] + tally->refused[k];
      printf (" %s%s %u/%u", op_verb ((OpKind) k),
              k == OP_RELEASE_SLICE ? " slice"
              : k == OP_FORGET_KEY  ? " key"
              : k == OP_RESERVE_AT  ? " ahead"
                                    : "",
              tally->done[k], tally->refused[k]);
    }
  printf ("\n%u entries began reservations ahead, %u gave them other slices\n", tally->beginnings, tally->moves);
  printf (
      "%u forks committed, %u of them after changes by others; %u commits refused; %u syncs, %u records forgotten\n",
      tally->commits, tally->late_commits, tally->refused_commits, tally->synced, tally->forgotten);
  printf ("%u calls by processes whose clocks disagree, %u of them while another called, %u expiries: linearizable\n",
          n, tally->overlapping, tally->expiries);
}

int
main (int argc, char **argv)
{
  guint32 seed;
  guint n_histories = scaled (N_HISTORIES), n_planted;
  Tally tally = { 0 };
  char *dir;

  if (argc > 5 && strcmp (argv[1], "caller") == 0)
    return call_and_tell (argv[2], (guint) g_ascii_strtoull (argv[3], NULL, 10),
                          (guint32) g_ascii_strtoull (argv[4], NULL, 10), (guint) g_ascii_strtoull (argv[5], NULL, 10),
                          argc > 6);
  seed = random_seed ("histories", 6);
  n_planted = find_planted ();
  dir = fast_dir ();
  for (guint i = 0; i < n_histories; i++)
    check_one (dir, seed + i * N_CALLERS, 200, (HistoryKind) (i % N_KINDS), &tally);
  print_tally (&tally);
  require (tally.late_commits > 0 && tally.refused_commits > 0,
           "no fork was committed after changes by others, or none refused");
  require (n_histories < N_HISTORIES
               || (tally.beginnings > n_histories / 6 && tally.moves > 0 && tally.done[OP_RESERVE_AT] > n_histories
                   && tally.done[OP_ADD_WINDOW] > n_histories),
           "the calendars were nearly empty");
  require (n_histories < N_HISTORIES || (tally.synced > n_histories && tally.forgotten > n_histories / 6),
           "few forks synced or forgot");
  remove_dir (dir);
  g_free (dir);
  printf ("%u passed, 0 failed\n", n_planted + n_histories);
  return EXIT_SUCCESS;
}
