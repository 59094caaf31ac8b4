/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that do everything at once to one ledger, each with a clock of its own that is wrong in its own way: what
 * they were answered could have been answered by one ledger that does one thing at a time. The program runs itself as
 * the processes, and first shows that it sees what could not. */
#include "linear.h"
#include "planted.h"

#include <sys/wait.h>

static const char fleet_text[] = "v6e 4x4 x5";

/* --- calls at random --- */

typedef struct {
  GRand *rand;
  Quoit *quoit;
  guint number;    /* of the process */
  gint64 wrong_ms; /* its clock */
  gint64 wobble_ms;
} Caller;

static guint
below (const Caller *caller, guint n)
{
  return (guint) g_rand_int_range (caller->rand, 0, (gint) n);
}

static void
some_name (const Caller *caller, char *into, char of, guint n)
{
  g_snprintf (into, NAME_BYTES, "%c%u", of, below (caller, n));
}

/* Clocks are minutes apart, and now and then one is set. */
static gint64
read_clock (Caller *caller, guint step)
{
  if (below (caller, 16) == 0)
    caller->wobble_ms = -(gint64) below (caller, 180000);
  else if (below (caller, 16) == 0)
    caller->wobble_ms = 0;
  return T0 + caller->wrong_ms + caller->wobble_ms + step * 700 + below (caller, 700);
}

static gint64
some_lease (const Caller *caller)
{
  static const guint most_ms[] = { 3000, 10000, 60000, 600000 };

  return 1 + below (caller, most_ms[below (caller, G_N_ELEMENTS (most_ms))]);
}

/* A group that this process knows of, maybe not by its last id; or just a name. */
static void
refer_to_group (const Caller *caller, Op *op)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_snapshot (caller->quoit);
  guint32 n = quoit_snapshot_get_n_groups (snapshot);

  some_name (caller, op->name, 'g', 6);
  if (n > 0 && below (caller, 5) > 0)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, below (caller, n));

      g_strlcpy (op->name, quoit_group_get_name (group), NAME_BYTES);
      op->id = below (caller, 2) == 0 ? 0 : quoit_group_get_id (group);
    }
  if (below (caller, 20) == 0)
    op->id = 1 + below (caller, 40);
}

static void
ask_for_slices (const Caller *caller, Op *op)
{
  some_name (caller, op->name, 'g', 6);
  op->most = 1 + below (caller, 3);
  if (below (caller, 4) == 0)
    {
      op->least = op->most;
      op->most += 1 + below (caller, 2);
    }
  if (below (caller, 40) == 0)
    op->least = op->most = N_SLICES + 1;
  if (below (caller, 3) == 0)
    some_name (caller, op->owner, 'o', 3);
  if (below (caller, 4) == 0)
    {
      /* A retry is the same request. */
      g_snprintf (op->key, NAME_BYTES, "k%s", op->name);
      op->least = *op->owner = 0;
      op->most = 1;
    }
  if (op->kind == OP_HOLD || below (caller, 4) == 0)
    op->lease_ms = some_lease (caller);
}

static OpKind
some_kind (const Caller *caller)
{
  static const struct {
    OpKind kind;
    guint weight;
  } kinds[] = {
    { OP_RESERVE, 14 },      { OP_HOLD, 14 },     { OP_CONFIRM, 8 }, { OP_RENEW, 8 },     { OP_RELEASE, 8 },
    { OP_RELEASE_SLICE, 2 }, { OP_RESIZE, 8 },    { OP_REPAIR, 6 },  { OP_SET_OWNER, 4 }, { OP_RENEW_OWNER, 4 },
    { OP_END_OWNER, 2 },     { OP_SET_STATE, 6 }, { OP_DRAIN, 2 },   { OP_UNDRAIN, 3 },   { OP_FORGET, 2 },
    { OP_FORGET_KEY, 1 },    { OP_LOOK, 8 },
  };
  guint n = 0;

  for (gsize i = 0; i < G_N_ELEMENTS (kinds); i++)
    n += kinds[i].weight;
  n = below (caller, n);
  for (gsize i = 0;; i++)
    if (n < kinds[i].weight)
      return kinds[i].kind;
    else
      n -= kinds[i].weight;
}

static Op
some_op (Caller *caller, guint step)
{
  Op op = { .kind = some_kind (caller), .now_ms = read_clock (caller, step) };

  g_snprintf (op.tag, NAME_BYTES, "p%u-%u", caller->number, step);
  switch (op.kind)
    {
    case OP_RESERVE:
    case OP_HOLD:
      ask_for_slices (caller, &op);
      break;
    case OP_SET_OWNER:
    case OP_RENEW_OWNER:
    case OP_END_OWNER:
      some_name (caller, op.name, 'o', 3);
      op.lease_ms = op.kind == OP_SET_OWNER && below (caller, 4) == 0 ? 0 : some_lease (caller);
      break;
    case OP_SET_STATE:
    case OP_DRAIN:
    case OP_UNDRAIN:
      op.at = below (caller, N_NODES);
      op.state = below (caller, 3) == 0 ? (QuoitNodeState) below (caller, 3) : QUOIT_NODE_ALIVE;
      break;
    case OP_FORGET:
      refer_to_group (caller, &op);
      op.id = MAX (op.id, 1);
      break;
    case OP_FORGET_KEY:
      g_snprintf (op.key, NAME_BYTES, "kg%u", below (caller, 6));
      break;
    case OP_LOOK:
      break;
    default:
      refer_to_group (caller, &op);
      op.at = below (caller, N_SLICES);
      op.most = op.kind == OP_RESIZE ? below (caller, 5) : 0;
      if (op.kind == OP_RENEW || (op.kind == OP_CONFIRM && below (caller, 2) == 0))
        op.lease_ms = below (caller, 30) == 0 ? 0 : some_lease (caller);
    }
  return op;
}

/* Waits until the parent lets all go, asks, and leaves what it was answered in a file. */
static int
call_and_tell (const char *path, guint number, guint32 seed, guint n_steps)
{
  static const gint64 wrong_ms[] = { 0, 90000, -120000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + number);
  g_autoptr (GString) told = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (Quoit) quoit = quoit_open (path, 60000, &error);
  g_autofree char *file = g_strdup_printf ("%s.p%u", path, number);
  Caller caller = { rand, quoit, number, wrong_ms[number % G_N_ELEMENTS (wrong_ms)], 0 };
  char go;

  hold (quoit != NULL, "%s", said (error));
  hold (write (STDOUT_FILENO, "r", 1) == 1 && read (STDIN_FILENO, &go, 1) >= 0, "the parent is gone");
  for (guint i = 0; i < n_steps; i++)
    {
      Op op = some_op (&caller, i);
      g_autofree char *line = NULL;

      op_run (quoit, &op);
      line = op_text (&op);
      g_string_append_printf (told, "%s\n", line);
      op_clear (&op);
    }
  hold (g_file_set_contents (file, told->str, (gssize) told->len, &error), "%s", said (error));
  return EXIT_SUCCESS;
}

/* --- the parent --- */

enum { N_CALLERS = 3 };

typedef struct {
  guint done[N_OPS], refused[N_OPS], expiries, overlapping;
} Tally;

static void
take_told (History *history, const char *path, guint number)
{
  g_autofree char *file = g_strdup_printf ("%s.p%u", path, number), *text = NULL;
  g_auto (GStrv) lines = NULL;

  hold (g_file_get_contents (file, &text, NULL, NULL), "%s", file);
  lines = g_strsplit (text, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    {
      Op op;

      hold (op_parse (lines[i], &op), "%s", lines[i]);
      g_array_append_val (history->ops, op);
    }
}

/* Whether another process was answered while this call lasted, or the other way round. */
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

static void
add_to (Tally *tally, const History *history)
{
  for (guint i = 0; i < history->ops->len; i++)
    {
      const Op *op = &g_array_index (history->ops, Op, i);

      (op->code == 0 ? tally->done : tally->refused)[op->kind]++;
      tally->overlapping += overlaps (history, op);
    }
  for (guint i = 0; i < history->entries->len; i++)
    tally->expiries += strcmp (((const Entry *) history->entries->pdata[i])->verb, "expire") == 0;
}

/* What it was can be looked at again, call by call. */
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
          hold (status == 0, "process %u ended with status %d", i, status);
          ended[i] = TRUE;
        }
      all = all && ended[i];
    }
  return all;
}

/* All at once, when all are there. */
static void
let_go (const int *to, const int *from)
{
  char ready;

  for (guint i = 0; i < N_CALLERS; i++)
    {
      hold (read (from[i], &ready, 1) == 1, "process %u is gone", i);
      close (from[i]);
    }
  for (guint i = 0; i < N_CALLERS; i++)
    close (to[i]);
}

/* With @compacts the journal is cut off beneath the processes as fast as it can be read. */
static void
check_one (const char *dir, guint32 seed, guint n_steps, gboolean compacts, Tally *tally)
{
  g_autofree char *path = g_strdup_printf ("%s/history-%u.db", dir, seed), *why = NULL;
  g_autofree char *seed_text = g_strdup_printf ("%u", seed), *steps_text = g_strdup_printf ("%u", n_steps);
  g_autoptr (Quoit) quoit = quoit_create (path, 60000, NULL);
  g_autoptr (History) history = history_new ();
  g_autoptr (GError) error = NULL;
  gboolean ended[N_CALLERS] = { FALSE };
  GPid pids[N_CALLERS];
  int to[N_CALLERS], from[N_CALLERS];
  Op last = { .kind = OP_LOOK, .tag = "last" };

  hold (quoit != NULL && import_text (quoit, fleet_text, NULL, T0, NULL), "a ledger to work on");
  for (guint i = 0; i < N_CALLERS; i++)
    {
      g_autofree char *number = g_strdup_printf ("%u", i);
      const char *argv[] = { "/proc/self/exe", "caller", path, number, seed_text, steps_text, NULL };

      hold (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pids[i],
                                      &to[i], &from[i], NULL, &error),
            "%s", said (error));
    }
  let_go (to, from);
  while (!all_have_ended (pids, ended))
    {
      g_usleep (2000);
      history_read_on (history, quoit);
      if (compacts)
        hold (quoit_compact_journal (quoit, history->entries->len + 1, T0, NULL, &error), "%s", said (error));
    }
  history_read_on (history, quoit);
  for (guint i = 0; i < N_CALLERS; i++)
    take_told (history, path, i);
  op_run (quoit, &last);
  g_array_append_val (history->ops, last);
  hold_verified (quoit, "after all calls");
  hold_together (quoit, "after all calls");
  why = linear_contradiction (history);
  if (why != NULL)
    keep_history (history, dir);
  hold (why == NULL, "seed %u, see %s/history.txt: %s", seed, dir, why);
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
                                    : "",
              tally->done[k], tally->refused[k]);
    }
  printf ("\n%u calls by processes whose clocks disagree, %u of them while another called, %u expiries: linearizable\n",
          n, tally->overlapping, tally->expiries);
}

int
main (int argc, char **argv)
{
  guint32 seed;
  guint n_histories = scaled (24), n_planted;
  Tally tally = { 0 };
  char *dir;

  if (argc > 5 && strcmp (argv[1], "caller") == 0)
    return call_and_tell (argv[2], (guint) g_ascii_strtoull (argv[3], NULL, 10),
                          (guint32) g_ascii_strtoull (argv[4], NULL, 10), (guint) g_ascii_strtoull (argv[5], NULL, 10));
  seed = seed_of ("histories", 6);
  n_planted = find_planted ();
  dir = fast_dir ();
  for (guint i = 0; i < n_histories; i++)
    check_one (dir, seed + i * N_CALLERS, 200, i % 2 == 1, &tally);
  print_tally (&tally);
  remove_dir (dir);
  g_free (dir);
  printf ("%u passed, 0 failed\n", n_planted + n_histories);
  return EXIT_SUCCESS;
}
