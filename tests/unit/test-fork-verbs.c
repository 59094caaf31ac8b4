/* SPDX-License-Identifier: Apache-2.0 */
/* Imports and forgotten records on forks: they do what they do in a ledger, are committed with the other changes of
 * the fork, and conflict with changes of others on which they depend.
 *
 * A line of steps has verbs with their arguments, separated by "; ":
 *
 *   import SOURCE TEXT   sync SOURCE TEXT
 *   reserve NAME N [KEY]   hold NAME LEASE   ahead NAME N   release NAME   renew NAME LEASE
 *   forget NAME@ID   forget-key KEY   forget-before MS (after NOW)
 *   at MS (after NOW): the time of the next steps
 *   mark   back (to the last mark): on forks only */
#include <glib/gstdio.h>
#include <string.h>

#include "../shortcuts.h"
#include "suite.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

typedef struct {
  QuoitLedger *ledger;
  QuoitFork *fork; /* NULL: in the ledger */
  gint64 now_ms;
  guint32 mark;
} Target;

static QuoitSnapshot *
snapshot_of (const Target *target)
{
  return target->fork != NULL ? quoit_fork_snapshot (target->fork) : quoit_ledger_snapshot (target->ledger);
}

/* --- steps --- */

typedef QuoitImport *(*ForkImport) (QuoitFork *, const QuoitInput *, int64_t, GError **);
typedef QuoitImport *(*LedgerImport) (QuoitLedger *, const QuoitInput *, int64_t, GError **);

static char *
import (Target *target, char **words, gboolean syncs, GError **error)
{
  g_autofree char *text = g_strjoinv (" ", words + 2);
  g_autoptr (QuoitInput) input = quoit_input_new (QUOIT_SOURCE_KIND_FLEET, text, strlen (text));
  ForkImport on_fork = syncs ? quoit_fork_sync : quoit_fork_import;
  LedgerImport in_ledger = syncs ? quoit_ledger_sync : quoit_ledger_import;
  g_autoptr (QuoitImport) result = NULL;
  GString *line = g_string_new (NULL);

  quoit_input_set_source (input, words[1]);
  result = target->fork != NULL ? on_fork (target->fork, input, target->now_ms, error)
                                : in_ledger (target->ledger, input, target->now_ms, error);
  if (result == NULL)
    return g_string_free (line, FALSE);
  g_string_append_printf (line, "%s %d %u %u", quoit_import_get_source (result), quoit_import_is_new (result),
                          quoit_import_get_n_nodes (result), quoit_import_get_n_warnings (result));
  for (uint32_t i = 0; i < quoit_import_get_n_changes (result); i++)
    g_string_append_printf (line, ", %d %s %s %s", (int) quoit_import_get_change_kind (result, i),
                            quoit_import_get_change_name (result, i), quoit_import_get_change_detail (result, i),
                            quoit_import_get_change_group (result, i));
  return g_string_free (line, FALSE);
}

static QuoitRequest *
request_new (char **words)
{
  QuoitRequest *request = quoit_request_new (words[1], NULL);
  gint64 n = g_ascii_strtoll (words[2], NULL, 10);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "4x4", NULL)
             && quoit_request_set_slices (request, n > 9 ? 1 : n, NULL)
             && (words[3] == NULL || quoit_request_set_key (request, words[3], NULL)));
  return request;
}

/* reserve, hold, ahead, renew */
static QuoitGroup *
take (const Target *target, char **words, GError **error)
{
  gint64 number = g_ascii_strtoll (words[2], NULL, 10), now_ms = target->now_ms;
  g_autoptr (QuoitRequest) request = request_new (words);

  if (strcmp (words[0], "renew") == 0)
    return target->fork != NULL ? quoit_fork_renew (target->fork, words[1], number, now_ms, error)
                                : quoit_ledger_renew (target->ledger, words[1], number, now_ms, error);
  if (strcmp (words[0], "hold") == 0)
    return target->fork != NULL ? quoit_fork_hold (target->fork, request, number, now_ms, NULL, error)
                                : quoit_ledger_hold (target->ledger, request, number, now_ms, NULL, error);
  if (strcmp (words[0], "ahead") == 0)
    return target->fork != NULL
               ? quoit_fork_reserve_at (target->fork, request, now_ms + 1000, 0, now_ms, NULL, error)
               : quoit_ledger_reserve_at (target->ledger, request, now_ms + 1000, 0, now_ms, NULL, error);
  return target->fork != NULL ? quoit_fork_reserve (target->fork, request, now_ms, NULL, error)
                              : quoit_ledger_reserve (target->ledger, request, now_ms, NULL, error);
}

static char *
forget_before (const Target *target, const char *before, GError **error)
{
  gint64 before_ms = NOW + g_ascii_strtoll (before, NULL, 10);
  uint32_t n = 77;
  bool done = target->fork != NULL ? quoit_fork_forget_before (target->fork, before_ms, target->now_ms, &n, error)
                                   : quoit_ledger_forget_before (target->ledger, before_ms, target->now_ms, &n, error);

  ck_assert (done == (n != 77));
  return g_strdup_printf ("%u", n);
}

/* release, forget, forget-key */
static gboolean
drop (const Target *target, char **words, GError **error)
{
  static const struct {
    const char *verb;
    bool (*on_fork) (QuoitFork *, const char *, int64_t, GError **);
    bool (*in_ledger) (QuoitLedger *, const char *, int64_t, GError **);
  } verbs[] = { { "release", quoit_fork_release, quoit_ledger_release },
                { "forget", quoit_fork_forget, quoit_ledger_forget },
                { "forget-key", quoit_fork_forget_key, quoit_ledger_forget_key } };

  for (guint i = 0; i < G_N_ELEMENTS (verbs); i++)
    if (strcmp (words[0], verbs[i].verb) == 0)
      return target->fork != NULL ? verbs[i].on_fork (target->fork, words[1], target->now_ms, error)
                                  : verbs[i].in_ledger (target->ledger, words[1], target->now_ms, error);
  g_error ("no step: %s", words[0]);
}

/* Takes one step, and returns its result as text. */
static char *
take_step (Target *target, const char *step, GError **error)
{
  g_auto (GStrv) words = g_strsplit (step, " ", -1);
  const char *verb = words[0];

  if (strcmp (verb, "import") == 0 || strcmp (verb, "sync") == 0)
    return import (target, words, *verb == 's', error);
  if (strcmp (verb, "forget-before") == 0)
    return forget_before (target, words[1], error);
  if (strcmp (verb, "at") == 0)
    target->now_ms = NOW + g_ascii_strtoll (words[1], NULL, 10);
  else if (strcmp (verb, "mark") == 0)
    target->mark = quoit_fork_mark (target->fork);
  else if (strcmp (verb, "back") == 0)
    ck_assert (quoit_fork_roll_back (target->fork, target->mark, NULL));
  else if (strcmp (verb, "reserve") == 0 || strcmp (verb, "hold") == 0 || strcmp (verb, "ahead") == 0
           || strcmp (verb, "renew") == 0)
    {
      g_autoptr (QuoitGroup) group = take (target, words, error);

      return g_strdup (group == NULL ? "" : quoit_group_get_handle (group));
    }
  else
    drop (target, words, error);
  return g_strdup ("");
}

/* Takes steps that must succeed. */
static void
take_steps (Target *target, const char *line)
{
  g_auto (GStrv) steps = g_strsplit (line, "; ", -1);

  for (guint i = 0; steps[i] != NULL; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *result = take_step (target, steps[i], &error);

      ck_assert_msg (result != NULL && error == NULL, "%s: %s", steps[i], error == NULL ? "" : error->message);
    }
}

/* --- states --- */

/* The records and live groups with the ids 1 to 9, and the groups of the keys. */
static void
append_groups (GString *text, const QuoitSnapshot *snapshot)
{
  static const char *const keys[] = { "k", "k2", "k3" };

  for (guint64 id = 1; id < 10; id++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group_by_id (snapshot, id, NULL);

      if (group != NULL)
        g_string_append_printf (text, "%s%s%s", text->len == 0 ? "" : " ",
                                quoit_group_get_state (group) == QUOIT_GROUP_REMOVED ? "-" : "",
                                quoit_group_get_handle (group));
    }
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_lookup_group_by_key (snapshot, keys[i], NULL);

      if (group != NULL)
        g_string_append_printf (text, " %s=%s", keys[i], quoit_group_get_handle (group));
    }
}

/* "name@1 -ended@2 k=name@1 | number of nodes" */
static char *
describe (const QuoitSnapshot *snapshot)
{
  GString *text = g_string_new (NULL);

  append_groups (text, snapshot);
  g_string_append_printf (text, " | %u", quoit_snapshot_get_n_nodes (snapshot));
  return g_string_free (text, FALSE);
}

/* The whole state, including the number of the last entry, and all records. */
static char *
dup_state (const Target *target)
{
  g_autoptr (QuoitSnapshot) snapshot = snapshot_of (target);
  g_autofree char *json = quoit_snapshot_dup_json (snapshot), *groups = describe (snapshot);

  ck_assert (quoit_snapshot_check (snapshot, NULL));
  return g_strdup_printf ("%" G_GUINT64_FORMAT " %s %s", quoit_snapshot_get_seq (snapshot), groups, json);
}

#define START                                                                                                          \
  "import a v6e 4x4 x4 pool=p; reserve gone 1 k; release gone; reserve kept 1 k2; hold held 5000; reserve out 1 k3; "  \
  "release out"

/* A ledger with gone@1 and out@4, which have ended, kept@2, and held@3, whose lease ends after 5 seconds. */
static Target
ledger_new (void)
{
  Target target = { .ledger = quoit_ledger_open_memory (), .now_ms = NOW };

  take_steps (&target, START);
  return target;
}

static Target
fork_of (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return (Target) { .fork = quoit_snapshot_fork (snapshot), .now_ms = NOW };
}

/* --- a fork decides like the ledger --- */

static const char *const verbs[] = {
  "import a v6e 4x4 x4 pool=p",
  "import a v6e 4x4 x6 pool=p",
  "import a v6e 4x4 x4 pool=p dead=3.1",
  "import a v6e 4x4 x3 pool=p zone=z",
  "import b v5e 2x4 x2",
  "import a v6e 4x4 x1 pool=p", /* would drop a node that a group has */
  "import b v6e 4x4x",
  "sync a v6e 4x4 x1 pool=p",
  "forget gone@1",
  "forget out@1",
  "forget kept@2",
  "forget gone",
  "forget gone@",
  "forget nobody@9",
  "forget-key k",
  "forget-key k2",
  "forget-key unknown",
  "forget-before 1",
  "forget-before 0",
  "at 6000; forget-before 6001",
  "at 6000; forget held@3",
  "at 6000; forget kept@2",
  "at 90000000; forget-before 1",
  "at -1; forget-before 1",
  "at -9999999999999; forget-before 1",
  "at -9999999999999; import b v5e 2x4 x2",
  "at -9999999999999; forget-key k",
  "ahead late 2; import a v6e 4x4 x2 pool=p",
  "ahead late 2; sync a v6e 4x4 x2 pool=p",
};

/* Check itself fails on long texts that differ. */
#define ck_assert_same(a, b) ck_assert_msg (strcmp (a, b) == 0, "differ: %.2000s", a)

START_TEST (verb_on_a_fork_does_what_it_does_in_the_ledger)
{
  Target ledger = ledger_new (), fork = fork_of (ledger.ledger);
  g_auto (GStrv) steps = g_strsplit (verbs[_i], "; ", -1);
  g_autofree char *on_fork = NULL, *in_ledger = NULL;

  for (guint i = 0; steps[i] != NULL; i++)
    {
      g_autoptr (GError) fork_error = NULL, error = NULL;
      g_autofree char *before = dup_state (&ledger), *fork_result = take_step (&fork, steps[i], &fork_error);
      g_autofree char *unchanged = dup_state (&ledger), *result = take_step (&ledger, steps[i], &error);
      g_autofree char *after = dup_state (&ledger);

      ck_assert_same (before, unchanged);
      ck_assert_str_eq (fork_result, result);
      ck_assert_str_eq (fork_error == NULL ? "" : fork_error->message, error == NULL ? "" : error->message);
      ck_assert_int_eq (fork_error == NULL ? 0 : fork_error->code, error == NULL ? 0 : error->code);
      if (error != NULL)
        ck_assert_same (before, after);
    }
  on_fork = dup_state (&fork);
  in_ledger = dup_state (&ledger);
  ck_assert_same (on_fork, in_ledger);
  quoit_fork_free (fork.fork);
  quoit_ledger_unref (ledger.ledger);
}
END_TEST

/* --- commits --- */

typedef struct {
  const char *what;
  const char *plan, *others;
  const char *expected; /* the state after the commit, or the message of the conflict */
} Fact;

#define KEPT "kept@2 held@3"

static const Fact facts[] = {
  { "an import is committed", "import a v6e 4x4 x6 pool=p", "",
    "-gone@1 " KEPT " -out@4 k=gone@1 k2=kept@2 k3=out@4 | 24" },
  { "a group can use a node that an import of the fork adds", "import a v6e 4x4 x6 pool=p; reserve new 4",
    "forget gone@1", KEPT " -out@4 new@5 k2=kept@2 k3=out@4 | 24" },
  { "an import commutes with reservations elsewhere", "import a v6e 4x4 x6 pool=p; reserve new 3",
    "release kept; reserve other 1", "" },
  { "an import of a new source is committed", "import b v6e 4x4 x1 pool=q", "reserve other 1; renew held 60000",
    "-gone@1 " KEPT " -out@4 other@5 k=gone@1 k2=kept@2 k3=out@4 | 20" },
  { "several imports are committed",
    "import a v6e 4x4 x6 pool=p; import b v6e 4x4 x1 pool=q; import a v6e 4x4 x5 pool=p", "",
    "-gone@1 " KEPT " -out@4 k=gone@1 k2=kept@2 k3=out@4 | 24" },
  { "a release makes an import possible that drops the nodes", "release kept; import a v6e 4x4 x2 pool=p", "", "" },
  { "an import conflicts with an import of its source", "import a v6e 4x4 x6 pool=p", "import a v6e 4x4 x5 pool=p",
    "fork: it has imported source 'a', and the fleet was imported again since" },
  { "an import conflicts with an import of another source", "import a v6e 4x4 x6 pool=p", "import b v6e 4x4 x1 pool=q",
    "fork: it has imported source 'a', and the fleet was imported again since" },
  { "an import conflicts with a state that others have imported", "import a v6e 4x4 x6 pool=p",
    "sync a v6e 4x4 x4 pool=p dead=3.1", "the fleet was imported again since" },
  { "an import that changes nothing does not conflict", "import a v6e 4x4 x4 pool=p; forget gone@1",
    "import b v6e 4x4 x1 pool=q", KEPT " -out@4 k2=kept@2 k3=out@4 | 20" },
  { "an import that others repeat without a change does not conflict", "import a v6e 4x4 x6 pool=p",
    "import a v6e 4x4 x4 pool=p", "-gone@1 " KEPT " -out@4 k=gone@1 k2=kept@2 k3=out@4 | 24" },
  { "an import conflicts with a group on a node that it drops", "import a v6e 4x4 x2 pool=p", "reserve other 2",
    "fork: group 'other' has taken a node that an import of the fork changes" },
  { "an import conflicts with a group that got no such node, but stays in the ledger",
    "release held; import a v6e 4x4 x1 pool=p", "renew held 60000",
    "-gone@1 kept@2 -out@4 k=gone@1 k2=kept@2 k3=out@4 | 4" },
  { "a rolled back import is not committed", "forget gone@1; mark; import a v6e 4x4 x6 pool=p; forget out@4; back",
    "import b v6e 4x4 x1 pool=q", KEPT " -out@4 k2=kept@2 k3=out@4 | 20" },

  { "forgotten records are committed", "forget gone@1; forget-key k3", "", KEPT " k2=kept@2 | 16" },
  { "records that others have forgotten are no conflict", "forget gone@1; forget-before 1",
    "forget-key k; forget-key k3", KEPT " k2=kept@2 | 16" },
  { "a record that others have forgotten does not hinder other changes", "forget-before 1; reserve new 1 k",
    "forget gone@1", KEPT " new@5 k=new@5 k2=kept@2 | 16" },
  { "a key that others have used again stays", "forget-key k", "forget gone@1; reserve other 1 k",
    KEPT " -out@4 other@5 k=other@5 k2=kept@2 k3=out@4 | 16" },
  { "a key of the fork conflicts with the same key of others", "forget-key k; reserve new 1 k",
    "forget gone@1; reserve other 1 k", "fork: key 'k' is in use now" },
  { "records of groups that have ended since stay", "forget-before 9000", "release kept",
    "-kept@2 held@3 k2=kept@2 | 16" },
  { "a fork forgets a group that it has released", "release kept; forget kept@2", "",
    "-gone@1 held@3 -out@4 k=gone@1 k3=out@4 | 16" },
  { "a release conflicts even if the record is forgotten afterwards", "release kept; forget kept@2", "release kept",
    "fork: group 'kept' has changed since the snapshot" },
  { "a fork forgets a group whose lease has ended on it", "at 5000; forget held@3", "",
    "-gone@1 kept@2 -out@4 k=gone@1 k2=kept@2 k3=out@4 | 16" },
  { "a fork forgets a group whose lease has ended on it, and which others have released", "at 5000; forget held@3",
    "release held", "-gone@1 kept@2 -out@4 k=gone@1 k2=kept@2 k3=out@4 | 16" },
  { "a forgotten group must have ended in the ledger too", "at 5000; forget held@3", "renew held 60000",
    "fork: group 'held' has not ended" },
  { "a fork forgets a group that it has made", "hold new 1000; at 1000; forget new@5; reserve next 1", "",
    "-gone@1 " KEPT " -out@4 next@6 k=gone@1 k2=kept@2 k3=out@4 | 16" },
  { "a fork forgets a group that it has made, beside new groups of others",
    "hold new 1000; at 1000; forget new@5; reserve next 1", "release kept; reserve other 1",
    "-gone@1 -kept@2 held@3 -out@4 other@5 next@7 k=gone@1 k2=kept@2 k3=out@4 | 16" },
};

/* Without changes of others, the ledger has the state of the plan after the commit. */
static void
check_committed (const Fact *fact, const Target *ledger, const char *planned)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger->ledger);
  g_autofree char *text = describe (snapshot), *committed = dup_state (ledger);

  ck_assert_msg (*fact->expected == '\0' || strcmp (text, fact->expected) == 0, "%s: %s", fact->what, text);
  /* The entries of the fork have become one, so the numbers before the sources differ. */
  if (*fact->others == '\0')
    ck_assert_same (strstr (planned, "\"sources\""), strstr (committed, "\"sources\""));
}

/* Commits the plan beside the changes of others. @expected "": any state, without a conflict. */
static void
check_fact (const Fact *fact, Target *ledger)
{
  Target fork = fork_of (ledger->ledger);
  g_autofree char *before = NULL, *planned = NULL;
  g_autoptr (GError) error = NULL;

  take_steps (&fork, fact->plan);
  if (*fact->others != '\0')
    take_steps (ledger, fact->others);
  before = dup_state (ledger);
  planned = dup_state (&fork);
  if (quoit_ledger_commit_fork (ledger->ledger, fork.fork, fork.now_ms, &error))
    check_committed (fact, ledger, planned);
  else
    {
      g_autofree char *after = dup_state (ledger), *unchanged = dup_state (&fork);

      ck_assert_msg (*fact->expected != '\0' && strstr (error->message, fact->expected) != NULL, "%s: %s", fact->what,
                     error->message);
      ck_assert_int_eq (error->code, QUOIT_ERROR_CONFLICT);
      ck_assert_same (before, after);
      ck_assert_same (planned, unchanged);
    }
  ck_assert (quoit_ledger_verify (ledger->ledger, NULL));
  quoit_fork_free (fork.fork);
}

START_TEST (fork_is_committed_unless_what_it_depends_on_has_changed)
{
  Target ledger = ledger_new ();

  check_fact (&facts[_i], &ledger);
  quoit_ledger_unref (ledger.ledger);
}
END_TEST

/* The fork forgets the record of the owner's end, which the ledger has only after it has ended the owner itself. */
START_TEST (owner_whose_lease_has_ended_is_registered_again)
{
  Target ledger = ledger_new (), fork;
  GError *error = NULL;

  ck_assert (quoit_ledger_set_owner (ledger.ledger, "ann", 5000, NOW, NULL));
  fork = fork_of (ledger.ledger);
  ck_assert (quoit_fork_set_owner (fork.fork, "ann", 60000, NOW + 6000, NULL));
  if (_i == 1)
    ck_assert (quoit_ledger_renew_owner (ledger.ledger, "ann", 60000, NOW, NULL));
  if (quoit_ledger_commit_fork (ledger.ledger, fork.fork, NOW + 6000, &error))
    {
      g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger.ledger);

      ck_assert_int_eq (_i, 0);
      ck_assert_uint_eq (quoit_snapshot_get_n_owners (snapshot), 1);
      ck_assert_int_eq (quoit_snapshot_get_owner_until_ms (snapshot, 0), NOW + 66000);
      ck_assert (quoit_ledger_verify (ledger.ledger, NULL));
    }
  else
    {
      ck_assert_int_eq (_i, 1);
      ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "fork: owner 'ann' has not ended");
    }
  quoit_fork_free (fork.fork);
  quoit_ledger_unref (ledger.ledger);
}
END_TEST

START_TEST (commit_writes_nothing_if_others_have_forgotten_the_same)
{
  Target ledger = ledger_new (), fork = fork_of (ledger.ledger);
  g_autofree char *before = NULL, *after = NULL;
  GError *error = NULL;

  take_steps (&fork, "forget gone@1; forget-before 1");
  take_steps (&ledger, "forget-before 1");
  before = dup_state (&ledger);
  ck_assert (quoit_ledger_commit_fork (ledger.ledger, fork.fork, NOW, &error));
  after = dup_state (&ledger);
  ck_assert_same (before, after);
  quoit_fork_free (fork.fork);
  quoit_ledger_unref (ledger.ledger);
}
END_TEST

/* The entry has an import and a forgotten record: a reader replays it, and the past before it can be read. */
START_TEST (committed_imports_and_forgotten_records_survive_a_restart)
{
  g_autofree char *dir = g_dir_make_tmp ("quoit-XXXXXX", NULL), *path = g_build_filename (dir, "l.db", NULL);
  Target ledger = { .ledger = quoit_ledger_create (path, 1000, NULL), .now_ms = NOW }, fork;
  g_autofree char *before = NULL, *after = NULL, *was = NULL, *is = NULL;
  g_autoptr (QuoitJournal) journal = NULL;
  g_autoptr (QuoitSnapshot) past = NULL, now = NULL;
  GError *error = NULL;

  take_steps (&ledger, START);
  was = dup_state (&ledger);
  fork = fork_of (ledger.ledger);
  take_steps (&fork, "import a v6e 4x4 x6 pool=p; reserve new 3; forget-before 1");
  ck_assert (quoit_ledger_commit_fork (ledger.ledger, fork.fork, NOW, &error));
  quoit_fork_free (fork.fork);
  before = dup_state (&ledger);
  quoit_ledger_unref (ledger.ledger);

  ledger.ledger = quoit_ledger_open (path, 1000, &error);
  ck_assert_ok (error);
  after = dup_state (&ledger);
  ck_assert_same (before, after);
  ck_assert (quoit_ledger_verify (ledger.ledger, &error));
  now = quoit_ledger_snapshot (ledger.ledger);
  journal = quoit_ledger_read_journal (ledger.ledger, quoit_snapshot_get_seq (now) - 1, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_journal_get_n_entries (journal), 1);
  ck_assert_str_eq (quoit_journal_get_verb (journal, 0), "commit-fork");
  past = quoit_ledger_snapshot_at (ledger.ledger, quoit_snapshot_get_seq (now) - 1, &error);
  ck_assert_ok (error);
  is = quoit_snapshot_dup_json (past);
  ck_assert_ptr_nonnull (strstr (was, is));
  quoit_ledger_unref (ledger.ledger);
  g_unlink (path);
  g_rmdir (dir);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("fork verbs");
  TCase *tcase = tcase_create ("fork verbs");

  tcase_add_loop_test (tcase, verb_on_a_fork_does_what_it_does_in_the_ledger, 0, (int) G_N_ELEMENTS (verbs));
  tcase_add_loop_test (tcase, fork_is_committed_unless_what_it_depends_on_has_changed, 0, (int) G_N_ELEMENTS (facts));
  tcase_add_loop_test (tcase, owner_whose_lease_has_ended_is_registered_again, 0, 2);
  tcase_add_test (tcase, commit_writes_nothing_if_others_have_forgotten_the_same);
  tcase_add_test (tcase, committed_imports_and_forgotten_records_survive_a_restart);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
