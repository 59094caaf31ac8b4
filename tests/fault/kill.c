/* SPDX-License-Identifier: Apache-2.0 */
/* Kills a writer at a random moment. Every acknowledged change must be in the ledger, the change under way must be
 * there completely or not at all, and the next writer must work. The program runs itself as the writer. */
#include "kill-facts.h"

#include <signal.h>
#include <sys/wait.h>

/* --- the expected state --- */

typedef struct {
  GHashTable *groups;    /* name -> Change: groups that must be allocated */
  GHashTable *owners;    /* name -> Change */
  GHashTable *expired;   /* name -> Change: groups whose lease, or whose owner's lease, expired before @now_ms */
  GHashTable *facts;     /* name -> Change */
  GHashTable *forgotten; /* names */
  GHashTable *prefixes;  /* of the facts that were acknowledged */
  Change trying;         /* the last change that was tried, which may be done; id 0 and no name: none */
  Change last;           /* the last acknowledged change */
  guint64 checkpoint;    /* the last acknowledged checkpoint */
  gint64 forgotten_ms;   /* no records are left of groups that ended before */
  guint n_changes, n_of_kind[128];
} Expected;

static Expected
expected_new (void)
{
  return (Expected) { .groups = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                      .owners = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                      .expired = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                      .facts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
                      .forgotten = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
                      .prefixes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
}

static void
expected_clear (Expected *expected)
{
  g_hash_table_unref (expected->groups);
  g_hash_table_unref (expected->owners);
  g_hash_table_unref (expected->expired);
  g_hash_table_unref (expected->facts);
  g_hash_table_unref (expected->forgotten);
  g_hash_table_unref (expected->prefixes);
}

static void
put_copy (GHashTable *table, const Change *change)
{
  g_hash_table_replace (table, g_strdup (change->name), g_memdup2 (change, sizeof *change));
}

/* The lease of the group expired before @time_ms. */
static void
put_expired (GHashTable *expired, const Change *group, gint64 time_ms)
{
  Change change = *group;

  change.now_ms = time_ms;
  put_copy (expired, &change);
}

static gboolean
is_over (gint64 until_ms, gint64 time_ms)
{
  return until_ms != 0 && until_ms <= time_ms;
}

/* Every change at @time_ms was made after the leases that had expired by then were freed. */
static void
expire_leases (Expected *expected, gint64 time_ms)
{
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, expected->groups);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const Change *change = data, *owner = g_hash_table_lookup (expected->owners, change->owner);

      if (!is_over (change->until_ms, time_ms) && (owner == NULL || !is_over (owner->until_ms, time_ms)))
        continue;
      put_expired (expected->expired, change, time_ms);
      g_hash_table_iter_remove (&iter);
    }
  g_hash_table_iter_init (&iter, expected->owners);
  while (g_hash_table_iter_next (&iter, NULL, &data))
    if (is_over (((const Change *) data)->until_ms, time_ms))
      g_hash_table_iter_remove (&iter);
}

static void
remove_groups_of (Expected *expected, const char *owner)
{
  GHashTableIter iter;
  gpointer change;

  g_hash_table_iter_init (&iter, expected->groups);
  while (g_hash_table_iter_next (&iter, NULL, &change))
    if (strcmp (((const Change *) change)->owner, owner) == 0)
      g_hash_table_iter_remove (&iter);
}

static void
set_lease (Expected *expected, const char *name, gint64 until_ms)
{
  Change *group = g_hash_table_lookup (expected->groups, name);

  require (group != NULL, "%s was renewed, but was not allocated", name);
  group->until_ms = until_ms;
}

static void
apply_done (Expected *expected, const Change *change)
{
  Change *group;

  expected->n_changes++;
  expected->n_of_kind[change->kind]++;
  if (change->kind != CHANGE_COMPACT)
    expire_leases (expected, change->now_ms);
  group = g_hash_table_lookup (expected->groups, change->name);
  switch (change->kind)
    {
    case CHANGE_GROUP:
      return put_copy (expected->groups, change);
    case CHANGE_RELEASE:
      require (g_hash_table_remove (expected->groups, change->name), "%s was released, but was not allocated",
               change->name);
      return;
    case CHANGE_LEASE:
    case CHANGE_SLICES:
    case CHANGE_REPAIR:
      require (group != NULL, "%s was changed, but was not allocated", change->name);
      group->n = change->n;
      if (change->kind == CHANGE_LEASE)
        group->until_ms = change->until_ms;
      return;
    case CHANGE_FORGET:
      g_hash_table_remove (expected->expired, change->name);
      g_hash_table_add (expected->forgotten, g_strdup (change->name));
      return;
    case CHANGE_OWNER:
      return put_copy (expected->owners, change);
    case CHANGE_END:
      g_hash_table_remove (expected->owners, change->name);
      return remove_groups_of (expected, change->name);
    case CHANGE_COMPACT:
      expected->checkpoint = change->n;
      return;
    case CHANGE_LEASES:
      set_lease (expected, change->name, change->until_ms);
      return set_lease (expected, change->owner, change->until_ms);
    case CHANGE_FORGET_OLD:
      expected->forgotten_ms = MAX (expected->forgotten_ms, change->until_ms);
      return;
    case CHANGE_FACT:
      g_hash_table_add (expected->prefixes, g_strndup (change->name, strcspn (change->name, ":")));
      return put_copy (expected->facts, change);
    default:
      return;
    }
}

static void
apply_line (Expected *expected, const char *line)
{
  Change change;

  require (change_parse (line, &change), "'%s'", line);
  expected->trying = change.is_done ? (Change) { .is_done = TRUE } : change;
  if (change.is_done)
    apply_done (expected, &change);
  expected->last = change;
}

static gboolean
may_have (const Expected *expected, ChangeKind kind, const char *name)
{
  return !expected->trying.is_done && expected->trying.kind == kind && strcmp (expected->trying.name, name) == 0;
}

/* Whether the last change may have given this lease to the group. */
static gboolean
may_have_lease (const Expected *expected, const char *name, gint64 until_ms)
{
  const Change *trying = &expected->trying;

  return until_ms == trying->until_ms
         && (may_have (expected, CHANGE_LEASE, name) || may_have (expected, CHANGE_LEASES, name)
             || (!trying->is_done && trying->kind == CHANGE_LEASES && strcmp (trying->owner, name) == 0));
}

/* --- the state found --- */

typedef struct {
  const Expected *expected;
  guint round;
  gint64 clock_ms;
  GHashTable *live, *expired; /* names */
  GHashTable *ever;           /* names of all groups in the snapshot, including removed ones */
  guint n_new, n_of_batch;
  guint n_renewed; /* groups with the lease that may have been given */
} Found;

/* Whether the record of a group that ended before @ended_ms can have been deleted because of its age. The clock of the
 * writer advances by a minute between the end and when it is noticed. */
static gboolean
can_be_too_old (const Found *found, gint64 ended_ms)
{
  return ended_ms < found->clock_ms - KEPT_MS + 120000;
}

/* Compares a live group with the expected state, and updates that state. */
static void
check_live (Found *found, const QuoitGroup *group, Change *change)
{
  const char *name = quoit_group_get_name (group);
  gint64 until_ms = quoit_group_get_until_ms (group);
  const Change *trying = &found->expected->trying;

  require (change->id == quoit_group_get_id (group), "round %u: %s is @%u", found->round, name,
           (guint) quoit_group_get_id (group));
  require (quoit_group_get_n_slices (group) == change->n
               || (may_have (found->expected, CHANGE_SLICES, name) && quoit_group_get_n_slices (group) >= trying->n
                   && quoit_group_get_n_slices (group) <= trying->most),
           "round %u: %s has %u slices, expected %u", found->round, name, quoit_group_get_n_slices (group), change->n);
  change->n = quoit_group_get_n_slices (group);
  if (*quoit_group_get_owner (group) != '\0')
    return;
  require (until_ms == change->until_ms || may_have_lease (found->expected, name, until_ms),
           "round %u: the lease of %s ends at %" G_GINT64_FORMAT ": expected %" G_GINT64_FORMAT, found->round, name,
           until_ms, change->until_ms);
  found->n_renewed += until_ms != change->until_ms;
  change->until_ms = until_ms;
}

static void
find_group (Found *found, const QuoitGroup *group)
{
  const char *name = quoit_group_get_name (group);
  Change *change = g_hash_table_lookup (found->expected->groups, name);

  g_hash_table_add (found->ever, g_strdup (name));
  if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED)
    {
      require (quoit_group_get_ended_ms (group) >= found->expected->forgotten_ms,
               "round %u: the record of %s was deleted because of its age, and is there", found->round, name);
      if (quoit_group_has_expired (group))
        g_hash_table_add (found->expired, g_strdup (name));
      return;
    }
  g_hash_table_add (found->live, g_strdup (name));
  require (!is_over (quoit_group_get_until_ms (group), found->clock_ms),
           "round %u: %s is live, although its lease has ended", found->round, name);
  if (change != NULL)
    return check_live (found, group, change);

  Change fresh = { .id = (guint) quoit_group_get_id (group), .n = quoit_group_get_n_slices (group) };

  found->n_new++;
  found->n_of_batch += *name == 'b';
  g_strlcpy (fresh.name, name, CHANGE_NAME_BYTES);
  g_strlcpy (fresh.owner, *quoit_group_get_owner (group) == '\0' ? "-" : quoit_group_get_owner (group),
             CHANGE_NAME_BYTES);
  fresh.until_ms = *quoit_group_get_owner (group) == '\0' ? quoit_group_get_until_ms (group) : 0;
  put_copy (found->expected->groups, &fresh);
}

/* Both groups of a batch exist, or neither does. Every group has a key, so the ledger still remembers it after its
 * release. */
static void
check_batches (const Found *found)
{
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, found->ever);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    {
      g_autofree char *other = g_strdup (name);
      char *last = other + strlen (other) - 1;

      *last = *last == 'x' ? 'y' : 'x';
      require (*other != 'b' || g_hash_table_contains (found->ever, other)
                   || can_be_too_old (found, time_of_round ((guint) g_ascii_strtoull (other + 2, NULL, 10))),
               "%s exists without %s", (char *) name, other);
    }
}

static gboolean
owner_has_ended (const Found *found, const char *owner)
{
  const Change *change = g_hash_table_lookup (found->expected->owners, owner);

  return change != NULL && is_over (change->until_ms, found->clock_ms);
}

/* A group that was acknowledged and is missing must have a reason, such as an expired lease. */
static void
check_gone (const Found *found)
{
  GHashTableIter iter;
  gpointer name, data;

  g_hash_table_iter_init (&iter, found->expected->groups);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      const Change *change = data;

      if (g_hash_table_contains (found->live, name))
        continue;
      if (is_over (change->until_ms, found->clock_ms) || owner_has_ended (found, change->owner))
        put_expired (found->expected->expired, change, found->clock_ms);
      else
        require (may_have (found->expected, CHANGE_RELEASE, name)
                     || may_have (found->expected, CHANGE_END, change->owner),
                 "round %u: %s was acknowledged, but is missing", found->round, change->name);
      g_hash_table_iter_remove (&iter);
    }
}

static void
check_expired (const Found *found)
{
  GHashTableIter iter;
  gpointer name, change;

  g_hash_table_iter_init (&iter, found->expected->expired);
  while (g_hash_table_iter_next (&iter, &name, &change))
    if (!g_hash_table_contains (found->expired, name))
      {
        require ((may_have (found->expected, CHANGE_FORGET, name)
                  || can_be_too_old (found, ((const Change *) change)->now_ms))
                     && !g_hash_table_contains (found->ever, name),
                 "round %u: the lease of %s has ended, but the ledger has no record of it", found->round,
                 (char *) name);
        g_hash_table_iter_remove (&iter);
      }
}

static void
check_owners (const Found *found, const QuoitSnapshot *snapshot)
{
  GHashTableIter iter;
  gpointer name, data;
  g_autoptr (GHashTable) there = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint32 i = 0; i < quoit_snapshot_get_n_owners (snapshot); i++)
    {
      const char *owner = quoit_snapshot_get_owner_name (snapshot, i);
      Change *change = g_hash_table_lookup (found->expected->owners, owner), fresh = { .kind = CHANGE_OWNER };
      gint64 until_ms = quoit_snapshot_get_owner_until_ms (snapshot, i);

      g_hash_table_add (there, (gpointer) owner);
      require (!is_over (until_ms, found->clock_ms), "round %u: owner %s is live, although its lease has ended",
               found->round, owner);
      require ((change != NULL && until_ms == change->until_ms)
                   || (may_have (found->expected, CHANGE_OWNER, owner) && until_ms == found->expected->trying.until_ms),
               "round %u: the lease of owner %s ends at %" G_GINT64_FORMAT ": expected %" G_GINT64_FORMAT, found->round,
               owner, until_ms, change == NULL ? 0 : change->until_ms);
      g_strlcpy (fresh.name, owner, CHANGE_NAME_BYTES);
      fresh.until_ms = until_ms;
      put_copy (found->expected->owners, &fresh);
    }
  g_hash_table_iter_init (&iter, found->expected->owners);
  while (g_hash_table_iter_next (&iter, &name, &data))
    if (!g_hash_table_contains (there, name))
      {
        require (owner_has_ended (found, name) || may_have (found->expected, CHANGE_END, name),
                 "round %u: owner %s was acknowledged, but is missing", found->round, (char *) name);
        g_hash_table_iter_remove (&iter);
      }
}

/* Before the expected state is updated: all groups of an ended owner exist, or none does. */
static void
check_end (const Found *found)
{
  GHashTableIter iter;
  gpointer name, data;
  guint n_there = 0, n_gone = 0;

  if (found->expected->trying.is_done || found->expected->trying.kind != CHANGE_END)
    return;
  g_hash_table_iter_init (&iter, found->expected->groups);
  while (g_hash_table_iter_next (&iter, &name, &data))
    if (strcmp (((const Change *) data)->owner, found->expected->trying.name) == 0)
      *(g_hash_table_contains (found->live, name) ? &n_there : &n_gone) += 1;
  require (n_there == 0 || n_gone == 0, "round %u: %u groups of %s exist, %u are missing", found->round, n_there,
           found->expected->trying.name, n_gone);
}

/* Whether the fact can be gone: its group or window has ended, or its record was deleted. */
static gboolean
can_be_gone (const Found *found, const Change *fact)
{
  const char *name = strchr (fact->name, ':') + 1;

  if (g_str_has_prefix (fact->name, "window:"))
    return is_over (fact->until_ms, found->clock_ms);
  if (g_str_has_prefix (fact->name, "label:"))
    return !g_hash_table_contains (found->live, name);
  return g_str_has_prefix (fact->name, "reason:")
         && (g_hash_table_contains (found->expected->forgotten, name) || may_have (found->expected, CHANGE_FORGET, name)
             || can_be_too_old (found, fact->now_ms));
}

static void
check_facts (const Found *found, const QuoitSnapshot *snapshot)
{
  const Change *trying = &found->expected->trying;
  GHashTableIter iter;
  gpointer name, data;
  gint64 value;

  g_hash_table_iter_init (&iter, found->expected->facts);
  while (g_hash_table_iter_next (&iter, &name, &data))
    {
      Change *fact = data;

      if (!fact_read (snapshot, name, &value))
        {
          require (can_be_gone (found, fact), "round %u: %s was acknowledged, but is missing", found->round,
                   (char *) name);
          g_hash_table_iter_remove (&iter);
          continue;
        }
      require (value == fact->until_ms || (may_have (found->expected, CHANGE_FACT, name) && value == trying->until_ms),
               "round %u: %s is %" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT, found->round, (char *) name, value,
               fact->until_ms);
      fact->until_ms = value;
    }
  if (!trying->is_done && trying->kind == CHANGE_FACT && fact_read (snapshot, trying->name, &value)
      && value == trying->until_ms)
    put_copy (found->expected->facts, trying);
}

static void
check_forgotten (const Found *found)
{
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, found->expected->forgotten);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    require (!g_hash_table_contains (found->ever, name), "round %u: %s was forgotten, but has a record", found->round,
             (char *) name);
}

static void
check_last (const Found *found, const QuoitSnapshot *snapshot)
{
  const Change *last = &found->expected->last;
  guint32 node;

  if (!last->is_done || last->kind != CHANGE_NODE)
    return;
  require (quoit_snapshot_lookup_node (snapshot, last->name, &node, NULL)
               && ((guint) quoit_snapshot_get_node_state (snapshot, node) == last->n || found->n_new > 0),
           "round %u: %s is not in state %u", found->round, last->name, last->n);
}

/* A server can have received the last change of a killed writer, and not have committed it yet. After another change,
 * it cannot do so any more. */
static void
overtake (QuoitLedger *ledger, guint round)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (GError) error = NULL;

  require (quoit_ledger_set_quota (ledger, "overtaking", "none", "nobody", NULL, NULL, round, -1, NULL,
                                   quoit_snapshot_get_clock_ms (snapshot), &error),
           "round %u: %s", round, error_text (error));
}

static void
check_round (const char *path, Expected *expected, guint round)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (ledger_name (path), 1000, &error);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (GHashTable) live = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) expired = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GHashTable) ever = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  Found found = { expected, round, 0, live, expired, ever, 0, 0, 0 };
  guint64 checkpoint;

  require (ledger != NULL, "round %u: %s", round, error_text (error));
  if (is_on_server ())
    overtake (ledger, round);
  require_verified (ledger, "after a kill");
  require_consistent (ledger, "after a kill");
  require (quoit_ledger_read_checkpoint (ledger, &checkpoint, NULL, &error), "%s", error_text (error));
  require (checkpoint >= expected->checkpoint, "round %u: the checkpoint was at entry %u, and is now at %u", round,
           (guint) expected->checkpoint, (guint) checkpoint);
  snapshot = quoit_ledger_snapshot (ledger);
  found.clock_ms = quoit_snapshot_get_clock_ms (snapshot);
  for (guint32 i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      find_group (&found, group);
    }
  /* The unreported groups: one under way, or the two of a batch. */
  require (found.n_new <= 1 || (found.n_new == 2 && found.n_of_batch == 2),
           "round %u: %u groups that the writer did not report", round, found.n_new);
  require (expected->trying.is_done || expected->trying.kind != CHANGE_LEASES || found.n_renewed != 1
               || is_over (expected->trying.until_ms, found.clock_ms),
           "round %u: only one of %s and %s was renewed", round, expected->trying.name, expected->trying.owner);
  check_batches (&found);
  check_end (&found);
  check_gone (&found);
  check_expired (&found);
  check_owners (&found, snapshot);
  check_facts (&found, snapshot);
  check_forgotten (&found);
  check_last (&found, snapshot);
  expected->trying = expected->last = (Change) { .is_done = TRUE };
}

static void
kill_one (const char *path, Expected *expected, GRand *rand, guint round, guint32 seed, guint most_us)
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

  require (g_spawn_async_with_pipes (NULL, (char **) argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, NULL,
                                     &from, NULL, &error),
           "%s", error_text (error));
  /* The writer does not fill the pipe's 64 KiB in this time. */
  /* Connecting to a server takes longer than opening a file. */
  g_usleep ((gulong) g_rand_int_range (rand, 0, (gint) (is_on_server () ? 15 * most_us : most_us)));
  kill (pid, SIGKILL);
  require (waitpid (pid, &status, 0) == pid && WIFSIGNALED (status), "round %u: the writer ended by itself", round);
  while ((n = read (from, buffer, sizeof buffer)) > 0)
    g_string_append_len (heard, buffer, n);
  close (from);
  lines = g_strsplit (heard->str, "\n", -1);
  for (guint i = 0; lines[i] != NULL && *lines[i] != '\0'; i++)
    apply_line (expected, lines[i]);
}

/* Many acknowledged changes are of all kinds. A loaded machine makes few. */
static void
check_kinds (const Expected *expected)
{
  const gboolean are_many = expected->n_changes >= 2000;

  static const ChangeKind kinds[]
      = { CHANGE_GROUP, CHANGE_RELEASE, CHANGE_LEASE,   CHANGE_SLICES, CHANGE_REPAIR, CHANGE_FORGET,     CHANGE_OWNER,
          CHANGE_END,   CHANGE_NODE,    CHANGE_COMPACT, CHANGE_TRIM,   CHANGE_LEASES, CHANGE_FORGET_OLD, CHANGE_FACT };

  for (guint i = 0; are_many && i < G_N_ELEMENTS (kinds); i++)
    require (expected->n_of_kind[kinds[i]] > 0, "no change of kind '%c' was acknowledged", kinds[i]);
  require (!are_many || g_hash_table_size (expected->prefixes) == N_FACT_KINDS, "%u kinds of facts were acknowledged",
           g_hash_table_size (expected->prefixes));
}

static guint
rounds_in (char *dir, guint32 seed, guint n_rounds, guint most_us)
{
  g_autofree char *path = g_build_filename (dir, "ledger.db", NULL);
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_create (ledger_name (path), 0, NULL);
  Expected expected = expected_new ();

  require (ledger != NULL && import_text (ledger, "v6e 4x4 x12; " KILL_CUBES, NULL, T0, NULL)
               && facts_init (ledger, T0),
           "the ledger of the test cannot be created");
  g_clear_pointer (&ledger, quoit_ledger_unref);
  for (guint round = 0; round < n_rounds; round++)
    {
      kill_one (path, &expected, rand, round, seed, most_us);
      check_round (path, &expected, round);
    }
  ledger = quoit_ledger_open (ledger_name (path), 0, NULL);
  snapshot = quoit_ledger_snapshot (ledger);
  printf ("killed %u times, %u changes were acknowledged, %u entries written, compacted to %u\n", n_rounds,
          expected.n_changes, (guint) quoit_snapshot_get_seq (snapshot), (guint) expected.checkpoint);
  check_kinds (&expected);
  expected_clear (&expected);
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
    return write_for_ever (argv[2], (guint) g_ascii_strtoull (argv[3], NULL, 10),
                           (guint32) g_ascii_strtoull (argv[4], NULL, 10));
  seed = random_seed ("kill", 4);
  n += rounds_in (fast_dir (), seed, scaled (160), 30000);
  n += rounds_in (g_dir_make_tmp ("quoit-XXXXXX", NULL), seed + 1, scaled (40), 100000);
  printf ("%u passed, 0 failed\n", n);
  return EXIT_SUCCESS;
}
