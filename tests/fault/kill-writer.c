/* SPDX-License-Identifier: Apache-2.0 */
#include "kill-facts.h"

typedef struct {
  QuoitLedger *ledger;
  GRand *rand;
  guint round, step;
  gint64 now_ms;
} Writer;

gint64
time_of_round (guint round)
{
  return T0 + round * G_GINT64_CONSTANT (60000);
}

/* --- reports --- */

/* One write, which a pipe does not split. */
static void
print_change (const Change *change)
{
  char line[192];
  gint length = g_snprintf (line, sizeof line, "%c%c %s %s %u %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                            change->is_done ? '!' : '?', (char) change->kind, change->name,
                            *change->owner == '\0' ? "-" : change->owner, change->id, change->n, change->most,
                            change->now_ms, change->until_ms);

  if (write (STDOUT_FILENO, line, (gsize) length) != length)
    exit (EXIT_FAILURE);
}

gboolean
change_parse (const char *line, Change *change)
{
  char phase, kind;

  if (sscanf (line, "%c%c %31s %31s %u %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, &phase, &kind, change->name,
              change->owner, &change->id, &change->n, &change->most, &change->now_ms, &change->until_ms)
      != 9)
    return FALSE;
  change->is_done = phase == '!';
  change->kind = (ChangeKind) kind;
  return TRUE;
}

static Change
change_new (const Writer *writer, ChangeKind kind, const char *name)
{
  Change change = { .kind = kind, .now_ms = writer->now_ms };

  g_strlcpy (change.name, name, CHANGE_NAME_BYTES);
  return change;
}

static void
acknowledge (Change change)
{
  change.is_done = TRUE;
  print_change (&change);
}

/* Refusals caused by expired leases or by other changes to a group are no fault. */
static gboolean
require_expected_result (gboolean done, GError **error)
{
  require (done == (*error == NULL), "result and error disagree: %s", error_text (*error));
  require (done || (*error)->code == QUOIT_ERROR_NOT_NOW || (*error)->code == QUOIT_ERROR_EXPIRED
               || (*error)->code == QUOIT_ERROR_CONFLICT || (*error)->code == QUOIT_ERROR_NOT_FOUND,
           "%s", error_text (*error));
  return done;
}

static guint
random_below (const Writer *writer, guint n)
{
  return (guint) g_rand_int_range (writer->rand, 0, (gint) n);
}

static gint64
random_lease (const Writer *writer)
{
  return 10000 + (gint64) random_below (writer, 230000);
}

/* --- making groups --- */

static Change
make_group (const Writer *writer, const char *name, gint64 n_slices)
{
  const gboolean has_cubes = random_below (writer, 5) == 0;
  g_autoptr (QuoitRequest) request
      = new_slice_request (name, has_cubes ? "v5p" : "v6e", has_cubes ? "4x4x8" : "4x4", n_slices);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  Change change = change_new (writer, CHANGE_GROUP, name);
  guint die = random_below (writer, 5);
  gint64 from_ms;

  quoit_request_set_key (request, name, NULL);
  require (quoit_request_set_cubes (request, has_cubes ? QUOIT_CUBES_ANY : QUOIT_CUBES_NONE, NULL), "cubes");
  if (die == 0)
    {
      g_snprintf (change.owner, CHANGE_NAME_BYTES, "owner-%u", random_below (writer, 3));
      quoit_request_set_owner (request, change.owner, NULL);
    }
  switch (die)
    {
    case 1:
      group = quoit_ledger_hold (writer->ledger, request, random_lease (writer), writer->now_ms, NULL, &error);
      break;
    case 2:
      from_ms = writer->now_ms + 1 + random_below (writer, 150000);
      /* An import can remove slices that are only promised. */
      require (has_cubes
                   || quoit_request_add_selector (request, "ray.io/tpu-slice-name", "!in(v6e-4x4-12,v6e-4x4-13)", NULL),
               "a selector");
      group = quoit_ledger_reserve_at (writer->ledger, request, from_ms, from_ms + random_lease (writer),
                                       writer->now_ms, NULL, &error);
      break;
    default:
      group = quoit_ledger_reserve (writer->ledger, request, writer->now_ms, NULL, &error);
    }
  if (!require_expected_result (group != NULL, &error))
    return change;
  change.id = (guint) quoit_group_get_id (group);
  change.n = quoit_group_get_n_slices (group);
  change.until_ms = *change.owner == '\0' ? quoit_group_get_until_ms (group) : 0;
  return change;
}

static void
make_one (const Writer *writer)
{
  g_autofree char *name = g_strdup_printf ("g-%u-%u", writer->round, writer->step);
  Change change = make_group (writer, name, 1 + random_below (writer, 3));

  if (change.id != 0)
    acknowledge (change);
}

static void
make_batch (const Writer *writer)
{
  Change changes[2];

  require (quoit_ledger_begin_batch (writer->ledger, NULL), "batch");
  for (guint k = 0; k < 2; k++)
    {
      g_autofree char *name = g_strdup_printf ("b-%u-%u-%c", writer->round, writer->step, "xy"[k]);

      changes[k] = make_group (writer, name, 1);
    }
  if (changes[0].id == 0 || changes[1].id == 0)
    return quoit_ledger_cancel_batch (writer->ledger);
  require (quoit_ledger_commit_batch (writer->ledger, NULL), "batch");
  acknowledge (changes[0]);
  acknowledge (changes[1]);
}

/* Reserves two groups on a fork, or with one call. Both are there, or neither is. */
static void
make_pair (const Writer *writer, gboolean on_fork)
{
  g_autoptr (QuoitSnapshot) before = quoit_ledger_snapshot (writer->ledger), after = NULL;
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (before);
  QuoitRequest *requests[2];
  QuoitGroup *groups[2] = { NULL, NULL };
  char *names[2];
  g_autoptr (GError) error = NULL;
  gboolean done = TRUE;

  for (guint k = 0; k < 2; k++)
    {
      names[k] = g_strdup_printf ("b-%u-%u-%c", writer->round, writer->step, "xy"[k]);
      requests[k] = new_slice_request (names[k], "v6e", "4x4", 1 + k);
      quoit_request_set_key (requests[k], names[k], NULL);
      if (on_fork)
        done = done && drop_group (quoit_fork_reserve (fork, requests[k], writer->now_ms, NULL, &error));
    }
  if (done)
    done = on_fork ? quoit_ledger_commit_fork (writer->ledger, fork, writer->now_ms, &error)
                   : quoit_ledger_reserve_all (writer->ledger, (const QuoitRequest *const *) requests, 2,
                                               writer->now_ms, groups, NULL, &error);
  require_expected_result (done, &error);
  after = quoit_ledger_snapshot (writer->ledger);
  for (guint k = 0; k < 2; k++)
    {
      g_autoptr (QuoitGroup) group = done ? quoit_snapshot_lookup_group (after, names[k], NULL) : NULL;
      Change change = change_new (writer, CHANGE_GROUP, names[k]);

      if (done)
        {
          require (group != NULL, "%s is not there", names[k]);
          change.id = (guint) quoit_group_get_id (group);
          change.n = quoit_group_get_n_slices (group);
          acknowledge (change);
        }
      quoit_group_unref (groups[k]);
      quoit_request_free (requests[k]);
      g_free (names[k]);
    }
}

/* --- changing groups --- */

static gboolean
change_lease (const Writer *writer, Change *change, const char *ref)
{
  gboolean confirms = random_below (writer, 2) == 0;
  gint64 lease_ms = confirms && random_below (writer, 2) == 0 ? 0 : random_lease (writer);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  change->until_ms = lease_ms == 0 ? 0 : writer->now_ms + lease_ms;
  print_change (change);
  group
      = (confirms ? quoit_ledger_confirm : quoit_ledger_renew) (writer->ledger, ref, lease_ms, writer->now_ms, &error);
  if (group != NULL)
    change->until_ms = quoit_group_get_until_ms (group);
  return require_expected_result (group != NULL, &error);
}

static gboolean
change_slices (const Writer *writer, Change *change, const char *ref)
{
  g_autoptr (GError) error = NULL;
  QuoitGroupChange *result;

  change->n = change->kind == CHANGE_REPAIR ? change->n : 1 + random_below (writer, 4);
  change->most = change->n + (change->kind == CHANGE_REPAIR ? 0 : random_below (writer, 2) * random_below (writer, 3));
  print_change (change);
  if (change->kind == CHANGE_REPAIR)
    result = quoit_ledger_repair (writer->ledger, ref, writer->now_ms, NULL, &error);
  else if (change->most > change->n)
    result = quoit_ledger_resize_between (writer->ledger, ref, change->n, change->most, writer->now_ms, NULL, &error);
  else
    result = quoit_ledger_resize (writer->ledger, ref, change->n, writer->now_ms, NULL, &error);
  if (result != NULL && change->kind == CHANGE_SLICES)
    change->n = quoit_group_get_n_slices (quoit_group_change_get_after (result));
  quoit_group_change_free (result);
  return require_expected_result (result != NULL, &error);
}

/* Forgets a group on a fork, or the groups that ended before a time, and commits it. */
static gboolean
forget_on_fork (const Writer *writer, const char *ref, gint64 before_ms, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (writer->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);

  return (ref != NULL ? quoit_fork_forget (fork, ref, writer->now_ms, error)
                      : quoit_fork_forget_before (fork, before_ms, writer->now_ms, NULL, error))
         && quoit_ledger_commit_fork (writer->ledger, fork, writer->now_ms, error);
}

static gboolean
release_or_forget (const Writer *writer, Change *change, const char *ref)
{
  g_autoptr (GError) error = NULL;
  gboolean done;

  print_change (change);
  if (change->kind == CHANGE_FORGET && random_below (writer, 2) == 0)
    return require_expected_result (forget_on_fork (writer, ref, 0, &error), &error);
  done = (change->kind == CHANGE_FORGET ? quoit_ledger_forget : quoit_ledger_release) (writer->ledger, ref,
                                                                                       writer->now_ms, &error);
  return require_expected_result (done, &error);
}

/* Sets a fact. A release with a reason is announced, and acknowledged, as a release too. */
static void
change_fact (const Writer *writer, const char *prefix, const char *name, gint64 value)
{
  g_autofree char *fact = g_strconcat (prefix, name, NULL);
  g_autoptr (GError) error = NULL;
  gboolean releases = strcmp (prefix, "reason:") == 0;
  Change change = change_new (writer, CHANGE_FACT, fact), release = change_new (writer, CHANGE_RELEASE, name);

  change.until_ms = value;
  print_change (releases ? &release : &change);
  if (!require_expected_result (fact_set (writer->ledger, fact, value, writer->now_ms, &error), &error))
    return;
  if (releases)
    acknowledge (release);
  acknowledge (change);
}

/* Renews two groups together, or sets a label of one, or releases it with a reason. */
static void
change_named (const Writer *writer, guint die)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (writer->ledger);
  guint32 n = quoit_snapshot_get_n_groups (snapshot), n_chosen = 0, first = n == 0 ? 0 : random_below (writer, n);
  g_autoptr (GError) error = NULL;
  Change change = { .kind = CHANGE_LEASES, .now_ms = writer->now_ms };

  for (guint32 g = first; g < n && n_chosen < (die == 0 ? 2 : 1); g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);

      if (quoit_group_get_state (group) == QUOIT_GROUP_REMOVED
          || (die == 0
              && (*quoit_group_get_owner (group) != '\0' || quoit_group_get_until_ms (group) == 0
                  || quoit_group_get_state (group) == QUOIT_GROUP_AHEAD)))
        continue;
      g_strlcpy (n_chosen == 0 ? change.name : change.owner, quoit_group_get_name (group), CHANGE_NAME_BYTES);
      n_chosen++;
    }
  if (die > 0 && n_chosen == 1)
    return change_fact (writer, die == 1 ? "label:" : "reason:", change.name, 1 + random_below (writer, 1000));
  if (die == 0 && n_chosen == 2)
    {
      const char *const names[] = { change.name, change.owner };
      gint64 lease_ms = random_lease (writer);

      change.until_ms = writer->now_ms + lease_ms;
      print_change (&change);
      if (require_expected_result (
              quoit_ledger_renew_groups (writer->ledger, names, 2, lease_ms, writer->now_ms, &error), &error))
        acknowledge (change);
    }
}

/* Changes a group of this writer or of one that was killed before. */
static void
change_one (const Writer *writer, ChangeKind kind)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (writer->ledger);
  guint32 n = quoit_snapshot_get_n_groups (snapshot);

  for (guint32 g = n == 0 ? 0 : random_below (writer, n); g < n; g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);
      const char *name = quoit_group_get_name (group);
      gboolean removed = quoit_group_get_state (group) == QUOIT_GROUP_REMOVED;
      g_autofree char *ref = g_strdup_printf ("%s@%u", name, (guint) quoit_group_get_id (group));
      Change change = change_new (writer, kind, name);
      gboolean done;

      /* Keeps all groups of a batch, so that check_batches() can see whether both exist. The lease of a group with
       * an owner cannot be changed. */
      if (removed != (kind == CHANGE_FORGET) || (removed && *name == 'b')
          || (kind == CHANGE_LEASE && *quoit_group_get_owner (group) != '\0'))
        continue;
      change.id = (guint) quoit_group_get_id (group);
      change.n = quoit_group_get_n_slices (group);
      change.until_ms = quoit_group_get_until_ms (group);
      done = kind == CHANGE_LEASE                             ? change_lease (writer, &change, ref)
             : kind == CHANGE_SLICES || kind == CHANGE_REPAIR ? change_slices (writer, &change, ref)
                                                              : release_or_forget (writer, &change, ref);
      if (done)
        acknowledge (change);
      return;
    }
}

/* --- owners, nodes, the fleet, the journal --- */

static void
change_owner (const Writer *writer, ChangeKind kind)
{
  g_autofree char *name = g_strdup_printf ("owner-%u", random_below (writer, 3));
  gint64 lease_ms = random_lease (writer);
  g_autoptr (GError) error = NULL;
  Change change = change_new (writer, kind, name);
  gboolean done;

  change.until_ms = kind == CHANGE_END ? 0 : writer->now_ms + lease_ms;
  print_change (&change);
  if (kind == CHANGE_END)
    done = quoit_ledger_end_owner (writer->ledger, name, writer->now_ms, NULL, &error);
  else
    done = (random_below (writer, 2) == 0 ? quoit_ledger_set_owner : quoit_ledger_renew_owner) (
        writer->ledger, name, lease_ms, writer->now_ms, &error);
  if (require_expected_result (done, &error))
    acknowledge (change);
}

static void
change_node (const Writer *writer)
{
  g_autofree char *name = g_strdup_printf ("v6e-4x4-%u-%u", random_below (writer, 12), random_below (writer, 4));
  g_autoptr (GError) error = NULL;
  Change change = change_new (writer, CHANGE_NODE, name);

  change.n = random_below (writer, 2) == 0 ? QUOIT_NODE_ALIVE : random_below (writer, 3);
  /* Announced, because a kill can hide the answer, and the node may be that of the last acknowledged change. */
  print_change (&change);
  require (quoit_ledger_set_node_state (writer->ledger, name, (QuoitNodeState) change.n, writer->now_ms, &error), "%s",
           error_text (error));
  acknowledge (change);
}

/* Compacts all of the journal, or its older half. */
static void
compact (const Writer *writer)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (writer->ledger);
  g_autoptr (GError) error = NULL;
  Change change = change_new (writer, CHANGE_COMPACT, "journal");
  guint64 checkpoint, last = quoit_snapshot_get_seq (snapshot);

  require (quoit_ledger_read_checkpoint (writer->ledger, &checkpoint, NULL, &error), "%s", error_text (error));
  if (random_below (writer, 2) == 0)
    last -= (last - checkpoint) / 2;
  require (quoit_ledger_compact_journal (writer->ledger, last + 1, writer->now_ms, NULL, &error), "%s",
           error_text (error));
  change.n = (guint) last;
  acknowledge (change);
}

/* Removes what is older than the limit, or the records of old groups. */
static void
forget_old (const Writer *writer)
{
  g_autoptr (GError) error = NULL;
  Change change = change_new (writer, random_below (writer, 2) == 0 ? CHANGE_TRIM : CHANGE_FORGET_OLD, "ledger");
  gboolean done;

  change.until_ms = writer->now_ms - KEPT_MS;
  print_change (&change);
  if (change.kind == CHANGE_TRIM)
    done = quoit_ledger_trim (writer->ledger, writer->now_ms, NULL, NULL, &error);
  else if (random_below (writer, 2) == 0)
    done = quoit_ledger_forget_before (writer->ledger, change.until_ms, writer->now_ms, NULL, &error);
  else
    done = forget_on_fork (writer, NULL, change.until_ms, &error);
  require (done, "%s", error_text (error));
  acknowledge (change);
}

static void
change_some_fact (const Writer *writer)
{
  guint n = random_below (writer, 4);
  g_autofree char *quota = g_strdup_printf ("q%u", n), *window = g_strdup_printf ("w%u", n),
                  *node = g_strdup_printf ("host-%u", n);

  switch (random_below (writer, 7))
    {
    case 0:
    case 1:
      return change_fact (writer, "quota:", quota, random_below (writer, 1000));
    case 2:
    case 3:
      return change_fact (writer, "window:", window, writer->now_ms + random_lease (writer));
    case 4:
    case 5:
      return change_fact (writer, "node:", node, random_below (writer, 2));
    default:
      return change_fact (writer, "keep:", "ledger", KEPT_MS + random_below (writer, 60000));
    }
}

static void
do_something (const Writer *writer)
{
  static const ChangeKind changes[] = { CHANGE_RELEASE, CHANGE_RELEASE, CHANGE_LEASE,  CHANGE_LEASE,
                                        CHANGE_SLICES,  CHANGE_REPAIR,  CHANGE_FORGET, CHANGE_SLICES };
  guint die = random_below (writer, 36);

  if (die < 6)
    make_one (writer);
  else if (die < 8)
    make_batch (writer);
  else if (die < 16)
    change_one (writer, changes[die - 8]);
  else if (die < 18)
    change_owner (writer, CHANGE_OWNER);
  else if (die < 19)
    change_owner (writer, CHANGE_END);
  else if (die < 21)
    change_node (writer);
  else if (die < 23)
    compact (writer);
  else if (die < 24)
    change_fact (writer, "slices:", "fleet", 12 + random_below (writer, 3));
  else if (die < 28)
    make_pair (writer, die % 2 == 0);
  else if (die < 31)
    change_named (writer, die - 28);
  else if (die < 35)
    change_some_fact (writer);
  else
    forget_old (writer);
}

int
write_for_ever (const char *path, guint round, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + round);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (ledger_name (path), 60000, &error);
  Writer writer = { ledger, rand, round, 0, time_of_round (round) };

  require (ledger != NULL, "%s", error_text (error));
  for (;; writer.step++)
    {
      do_something (&writer);
      writer.now_ms += 10;
    }
}
