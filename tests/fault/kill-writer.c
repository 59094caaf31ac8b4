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
tell (const Deed *deed)
{
  char line[192];
  gint length = g_snprintf (line, sizeof line, "%c%c %s %s %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
                            deed->is_done ? '!' : '?', (char) deed->kind, deed->name,
                            *deed->owner == '\0' ? "-" : deed->owner, deed->id, deed->n, deed->now_ms, deed->until_ms);

  if (write (STDOUT_FILENO, line, (gsize) length) != length)
    exit (EXIT_FAILURE);
}

gboolean
deed_parse (const char *line, Deed *deed)
{
  char phase, kind;

  if (sscanf (line, "%c%c %31s %31s %u %u %" G_GINT64_FORMAT " %" G_GINT64_FORMAT, &phase, &kind, deed->name,
              deed->owner, &deed->id, &deed->n, &deed->now_ms, &deed->until_ms)
      != 8)
    return FALSE;
  deed->is_done = phase == '!';
  deed->kind = (DeedKind) kind;
  return TRUE;
}

static Deed
deed_on (const Writer *writer, DeedKind kind, const char *name)
{
  Deed deed = { .kind = kind, .now_ms = writer->now_ms };

  g_strlcpy (deed.name, name, DEED_NAME_BYTES);
  return deed;
}

static void
acknowledge (Deed deed)
{
  deed.is_done = TRUE;
  tell (&deed);
}

/* Refusals caused by expired leases or by other changes to a group are no fault. */
static gboolean
may_be (gboolean done, GError **error)
{
  hold (done == (*error == NULL), "result and error disagree: %s", said (*error));
  hold (done || (*error)->code == QUOIT_ERROR_NOT_NOW || (*error)->code == QUOIT_ERROR_EXPIRED
            || (*error)->code == QUOIT_ERROR_CONFLICT || (*error)->code == QUOIT_ERROR_NOT_FOUND,
        "%s", said (*error));
  return done;
}

static guint
below (const Writer *writer, guint n)
{
  return (guint) g_rand_int_range (writer->rand, 0, (gint) n);
}

static gint64
some_lease (const Writer *writer)
{
  return 10000 + (gint64) below (writer, 230000);
}

/* --- making groups --- */

static Deed
make_group (const Writer *writer, const char *name, gint64 n_slices)
{
  g_autoptr (QuoitRequest) request = want (name, "v6e", "4x4", n_slices);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  Deed deed = deed_on (writer, DEED_GROUP, name);
  guint die = below (writer, 4);

  quoit_request_set_key (request, name);
  if (die == 0)
    {
      g_snprintf (deed.owner, DEED_NAME_BYTES, "owner-%u", below (writer, 3));
      quoit_request_set_owner (request, deed.owner);
    }
  group = die == 1 ? quoit_ledger_hold (writer->ledger, request, some_lease (writer), writer->now_ms, NULL, &error)
                   : quoit_ledger_reserve (writer->ledger, request, writer->now_ms, NULL, &error);
  if (!may_be (group != NULL, &error))
    return deed;
  deed.id = (guint) quoit_group_get_id (group);
  deed.n = quoit_group_get_n_slices (group);
  deed.until_ms = *deed.owner == '\0' ? quoit_group_get_until_ms (group) : 0;
  return deed;
}

static void
make_one (const Writer *writer)
{
  g_autofree char *name = g_strdup_printf ("g-%u-%u", writer->round, writer->step);
  Deed deed = make_group (writer, name, 1 + below (writer, 3));

  if (deed.id != 0)
    acknowledge (deed);
}

static void
make_batch (const Writer *writer)
{
  Deed deeds[2];

  hold (quoit_ledger_begin_batch (writer->ledger, NULL), "batch");
  for (guint k = 0; k < 2; k++)
    {
      g_autofree char *name = g_strdup_printf ("b-%u-%u-%c", writer->round, writer->step, "xy"[k]);

      deeds[k] = make_group (writer, name, 1);
    }
  if (deeds[0].id == 0 || deeds[1].id == 0)
    return quoit_ledger_cancel_batch (writer->ledger);
  hold (quoit_ledger_commit_batch (writer->ledger, NULL), "batch");
  acknowledge (deeds[0]);
  acknowledge (deeds[1]);
}

/* --- changing groups --- */

static gboolean
change_lease (const Writer *writer, Deed *deed, const char *ref)
{
  gboolean confirms = below (writer, 2) == 0;
  gint64 lease_ms = confirms && below (writer, 2) == 0 ? 0 : some_lease (writer);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  deed->until_ms = lease_ms == 0 ? 0 : writer->now_ms + lease_ms;
  tell (deed);
  group
      = (confirms ? quoit_ledger_confirm : quoit_ledger_renew) (writer->ledger, ref, lease_ms, writer->now_ms, &error);
  if (group != NULL)
    deed->until_ms = quoit_group_get_until_ms (group);
  return may_be (group != NULL, &error);
}

static gboolean
change_slices (const Writer *writer, Deed *deed, const char *ref)
{
  g_autoptr (GError) error = NULL;
  QuoitGroupChange *change;

  deed->n = deed->kind == DEED_REPAIR ? deed->n : 1 + below (writer, 4);
  tell (deed);
  change = deed->kind == DEED_REPAIR ? quoit_ledger_repair (writer->ledger, ref, writer->now_ms, NULL, &error)
                                     : quoit_ledger_resize (writer->ledger, ref, deed->n, writer->now_ms, NULL, &error);
  quoit_group_change_free (change);
  return may_be (change != NULL, &error);
}

static gboolean
let_go (const Writer *writer, Deed *deed, const char *ref)
{
  g_autoptr (GError) error = NULL;
  gboolean done;

  tell (deed);
  done = (deed->kind == DEED_FORGET ? quoit_ledger_forget : quoit_ledger_release) (writer->ledger, ref, writer->now_ms,
                                                                                   &error);
  return may_be (done, &error);
}

/* Changes a group of this writer or of one that was killed before. */
static void
change_one (const Writer *writer, DeedKind kind)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (writer->ledger);
  guint32 n = quoit_snapshot_get_n_groups (snapshot);

  for (guint32 g = n == 0 ? 0 : below (writer, n); g < n; g++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, g);
      const char *name = quoit_group_get_name (group);
      gboolean removed = quoit_group_get_state (group) == QUOIT_GROUP_REMOVED;
      g_autofree char *ref = g_strdup_printf ("%s@%u", name, (guint) quoit_group_get_id (group));
      Deed deed = deed_on (writer, kind, name);
      gboolean done;

      /* Keeps all groups of a batch, so that check_batches() can see whether both exist. The lease of a group with
       * an owner cannot be changed. */
      if (removed != (kind == DEED_FORGET) || (removed && *name == 'b')
          || (kind == DEED_LEASE && *quoit_group_get_owner (group) != '\0'))
        continue;
      deed.id = (guint) quoit_group_get_id (group);
      deed.n = quoit_group_get_n_slices (group);
      deed.until_ms = quoit_group_get_until_ms (group);
      done = kind == DEED_LEASE                           ? change_lease (writer, &deed, ref)
             : kind == DEED_SLICES || kind == DEED_REPAIR ? change_slices (writer, &deed, ref)
                                                          : let_go (writer, &deed, ref);
      if (done)
        acknowledge (deed);
      return;
    }
}

/* --- owners, nodes, the fleet, the journal --- */

static void
change_owner (const Writer *writer, DeedKind kind)
{
  g_autofree char *name = g_strdup_printf ("owner-%u", below (writer, 3));
  gint64 lease_ms = some_lease (writer);
  g_autoptr (GError) error = NULL;
  Deed deed = deed_on (writer, kind, name);
  gboolean done;

  deed.until_ms = kind == DEED_END ? 0 : writer->now_ms + lease_ms;
  tell (&deed);
  if (kind == DEED_END)
    done = quoit_ledger_end_owner (writer->ledger, name, writer->now_ms, NULL, &error);
  else
    done = (below (writer, 2) == 0 ? quoit_ledger_set_owner : quoit_ledger_renew_owner) (writer->ledger, name, lease_ms,
                                                                                         writer->now_ms, &error);
  if (may_be (done, &error))
    acknowledge (deed);
}

static void
change_node (const Writer *writer)
{
  g_autofree char *name = g_strdup_printf ("v6e-4x4-%u-%u", below (writer, 12), below (writer, 4));
  g_autoptr (GError) error = NULL;
  Deed deed = deed_on (writer, DEED_NODE, name);

  deed.n = below (writer, 2) == 0 ? QUOIT_NODE_ALIVE : below (writer, 3);
  hold (quoit_ledger_set_node_state (writer->ledger, name, (QuoitNodeState) deed.n, writer->now_ms, &error), "%s",
        said (error));
  acknowledge (deed);
}

static void
import_fleet (const Writer *writer)
{
  g_autofree char *text = g_strdup_printf ("v6e 4x4 x%u", 12 + below (writer, 3));
  g_autoptr (GError) error = NULL;
  Deed deed = deed_on (writer, DEED_IMPORT, "fleet");

  tell (&deed);
  if (may_be (import_text (writer->ledger, text, NULL, writer->now_ms, &error), &error))
    acknowledge (deed);
}

/* Compacts all of the journal, or its older half. */
static void
compact (const Writer *writer)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (writer->ledger);
  g_autoptr (GError) error = NULL;
  Deed deed = deed_on (writer, DEED_COMPACT, "journal");
  guint64 checkpoint, last = quoit_snapshot_get_seq (snapshot);

  hold (quoit_ledger_read_checkpoint (writer->ledger, &checkpoint, NULL, &error), "%s", said (error));
  if (below (writer, 2) == 0)
    last -= (last - checkpoint) / 2;
  hold (quoit_ledger_compact_journal (writer->ledger, last + 1, writer->now_ms, NULL, &error), "%s", said (error));
  deed.n = (guint) last;
  acknowledge (deed);
}

static void
do_something (const Writer *writer)
{
  static const DeedKind changes[]
      = { DEED_RELEASE, DEED_RELEASE, DEED_LEASE, DEED_LEASE, DEED_SLICES, DEED_REPAIR, DEED_FORGET, DEED_SLICES };
  guint die = below (writer, 24);

  if (die < 6)
    make_one (writer);
  else if (die < 8)
    make_batch (writer);
  else if (die < 16)
    change_one (writer, changes[die - 8]);
  else if (die < 18)
    change_owner (writer, DEED_OWNER);
  else if (die < 19)
    change_owner (writer, DEED_END);
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

  hold (ledger != NULL, "%s", said (error));
  for (;; writer.step++)
    {
      do_something (&writer);
      writer.now_ms += 10;
    }
}
