/* SPDX-License-Identifier: Apache-2.0 */
#include "kill-writer.h"

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
  gint length = g_snprintf (line, sizeof line, "%c%c %s %s %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                            change->is_done ? '!' : '?', (char) change->kind, change->name,
                            *change->owner == '\0' ? "-" : change->owner, change->id, change->n, change->now_ms,
                            change->until_ms);

  if (write (STDOUT_FILENO, line, (gsize) length) != length)
    exit (EXIT_FAILURE);
}

gboolean
change_parse (const char *line, Change *change)
{
  char phase, kind;

  if (sscanf (line, "%c%c %31s %31s %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, &phase, &kind, change->name,
              change->owner, &change->id, &change->n, &change->now_ms, &change->until_ms)
      != 8)
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
  g_autoptr (QuoitRequest) request = new_slice_request (name, "v6e", "4x4", n_slices);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  Change change = change_new (writer, CHANGE_GROUP, name);
  guint die = random_below (writer, 4);

  quoit_request_set_key (request, name, NULL);
  if (die == 0)
    {
      g_snprintf (change.owner, CHANGE_NAME_BYTES, "owner-%u", random_below (writer, 3));
      quoit_request_set_owner (request, change.owner, NULL);
    }
  group = die == 1 ? quoit_ledger_hold (writer->ledger, request, random_lease (writer), writer->now_ms, NULL, &error)
                   : quoit_ledger_reserve (writer->ledger, request, writer->now_ms, NULL, &error);
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
  print_change (change);
  result = change->kind == CHANGE_REPAIR
               ? quoit_ledger_repair (writer->ledger, ref, writer->now_ms, NULL, &error)
               : quoit_ledger_resize (writer->ledger, ref, change->n, writer->now_ms, NULL, &error);
  quoit_group_change_free (result);
  return require_expected_result (result != NULL, &error);
}

static gboolean
release_or_forget (const Writer *writer, Change *change, const char *ref)
{
  g_autoptr (GError) error = NULL;
  gboolean done;

  print_change (change);
  done = (change->kind == CHANGE_FORGET ? quoit_ledger_forget : quoit_ledger_release) (writer->ledger, ref,
                                                                                       writer->now_ms, &error);
  return require_expected_result (done, &error);
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

static void
import_fleet (const Writer *writer)
{
  g_autofree char *text = g_strdup_printf ("v6e 4x4 x%u", 12 + random_below (writer, 3));
  g_autoptr (GError) error = NULL;
  Change change = change_new (writer, CHANGE_IMPORT, "fleet");

  print_change (&change);
  if (require_expected_result (import_text (writer->ledger, text, NULL, writer->now_ms, &error), &error))
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

static void
do_something (const Writer *writer)
{
  static const ChangeKind changes[] = { CHANGE_RELEASE, CHANGE_RELEASE, CHANGE_LEASE,  CHANGE_LEASE,
                                        CHANGE_SLICES,  CHANGE_REPAIR,  CHANGE_FORGET, CHANGE_SLICES };
  guint die = random_below (writer, 24);

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
  else
    import_fleet (writer);
}

int
write_for_ever (const char *path, guint round, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed + round);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open (path, 60000, &error);
  Writer writer = { ledger, rand, round, 0, time_of_round (round) };

  require (ledger != NULL, "%s", error_text (error));
  for (;; writer.step++)
    {
      do_something (&writer);
      writer.now_ms += 10;
    }
}
