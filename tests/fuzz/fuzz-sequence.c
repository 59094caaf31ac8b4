/* SPDX-License-Identifier: Apache-2.0 */
/* Sequences of imports, syncs and changes of one ledger, with whole slices, parts, joined cubes and bundles. After each
 * step the ledger verifies. A step on a fork has the same result as the step on the ledger. Importing the same list
 * again changes nothing. QUOIT_FUZZ_SHOW=1 prints the steps. */
#include <quoit/models.h>
#include <quoit/quoit.h>

#include <stdio.h>

#include "../follower.h"
#include "../shortcuts.h"
#include "cluster.h"

#define NOW G_GINT64_CONSTANT (1750000000000)

enum { MOST_STEPS = 20 };

typedef struct {
  QuoitLedger *ledger;
  FuzzInput in;
  gint64 now_ms;
  gboolean has_cubes; /* cubes have been read, so that some requests join cubes */
} Sequence;

static void
show (const char *what, const char *text)
{
  if (g_getenv ("QUOIT_FUZZ_SHOW") != NULL)
    fprintf (stderr, "%s: %s\n", what, text);
}

static void
require_equal (const char *what, const char *a, const char *b)
{
  if (g_strcmp0 (a, b) != 0)
    g_error ("%s:\n%s\n%s", what, a, b);
}

static void
require_and_clear (gboolean ok, GError **error)
{
  fuzz_require_error (ok, *error);
  if (*error != NULL && (*error)->code == QUOIT_ERROR_DAMAGED)
    g_error ("this ledger is not damaged: %s", (*error)->message);
  show ("  ->", ok ? "done" : (*error)->message);
  g_clear_error (error);
}

/* --- imports --- */

static char *
dup_state (QuoitLedger *ledger, guint64 *seq)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  *seq = quoit_snapshot_get_seq (snapshot);
  return quoit_snapshot_dup_json (snapshot);
}

typedef enum { WAY_IMPORT, WAY_SYNC, WAY_UPDATE } Way;

static QuoitImport *
read_input (const Sequence *sequence, const QuoitInput *input, Way way, GError **error)
{
  switch (way)
    {
    case WAY_UPDATE:
      return quoit_ledger_update_nodes (sequence->ledger, input, sequence->now_ms, error);
    case WAY_SYNC:
      return quoit_ledger_sync (sequence->ledger, input, sequence->now_ms, error);
    default:
      return quoit_ledger_import (sequence->ledger, input, sequence->now_ms, error);
    }
}

static char *
dry_run (const Sequence *sequence, const QuoitInput *input, Way way)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  QuoitFork *fork = quoit_snapshot_fork (snapshot);
  g_autoptr (GError) error = NULL;
  QuoitImport *import = (way == WAY_UPDATE ? quoit_fork_update_nodes
                         : way == WAY_SYNC ? quoit_fork_sync
                                           : quoit_fork_import) (fork, input, sequence->now_ms, &error);
  char *text = cluster_show_import (import, error);

  quoit_import_free (import);
  quoit_fork_free (fork);
  return text;
}

static void
read_again (const Sequence *sequence, const QuoitInput *input, Way way, const char *first)
{
  guint64 seq, seq_again;
  g_autofree char *state = dup_state (sequence->ledger, &seq), *again = NULL, *text = NULL;
  g_autoptr (GError) error = NULL;
  QuoitImport *import = read_input (sequence, input, way, &error);

  text = cluster_show_import (import, error);
  quoit_import_free (import);
  again = dup_state (sequence->ledger, &seq_again);
  if (error != NULL || seq != seq_again)
    g_error ("the same list changes something the second time:\n%s\n%s", first, text);
  require_equal ("the same list leads to another state", state, again);
}

static void
read_this (const Sequence *sequence, const QuoitInput *input, Way way)
{
  g_autofree char *dry = dry_run (sequence, input, way), *text = NULL;
  g_autoptr (GError) error = NULL;
  QuoitImport *import = read_input (sequence, input, way, &error);
  gboolean ok = import != NULL;

  text = cluster_show_import (import, error);
  quoit_import_free (import);
  show ("  ->", text);
  require_and_clear (ok, &error);
  require_equal ("the dry run differs", dry, text);
  if (ok)
    read_again (sequence, input, way, text);
}

static void
read_any (Sequence *sequence)
{
  Way way = (fuzz_byte (&sequence->in) & 1) != 0 ? WAY_SYNC : WAY_IMPORT;
  g_autoptr (GString) texts = g_string_new (way == WAY_SYNC ? "sync\n" : "import\n");
  g_autoptr (QuoitInput) input = cluster_any_input (&sequence->in, texts);

  show ("read", texts->str);
  read_this (sequence, input, way);
}

/* Later requests join the cubes. */
static void
read_cubes (Sequence *sequence)
{
  g_autoptr (GString) texts = g_string_new ("cubes\n");
  Way way = (fuzz_byte (&sequence->in) & 1) != 0 ? WAY_SYNC : WAY_IMPORT;
  g_autoptr (QuoitInput) input = cluster_new_input (QUOIT_SOURCE_KIND_FLEET, cluster_cubes_text (&sequence->in), texts);

  show ("read", texts->str);
  read_this (sequence, input, way);
  sequence->has_cubes = TRUE;
}

static void
update_any (Sequence *sequence)
{
  g_autoptr (GString) texts = g_string_new (NULL);
  g_autoptr (QuoitInput) input = cluster_any_update (&sequence->in, texts);

  show ("read", texts->str);
  read_this (sequence, input, WAY_UPDATE);
}

/* --- requests --- */

/* Sets where the slices may be. Some combinations are refused on use. */
static void
set_places (FuzzInput *in, QuoitRequest *request)
{
  guint8 places = fuzz_byte (in);

  quoit_request_keep_to (request, (QuoitDomain) (places % 3), NULL);
  if ((places & 0x18) == 0x18)
    quoit_request_spread_over (request, (QuoitDomain) (places / 4 % 4), 1 + (places >> 5 & 1), 1 + (places >> 6), NULL);
  if ((places & 0x60) == 0x20)
    quoit_request_set_near (request, CLUSTER_PICK (in, "a", "b", "c@1", "d"), NULL);
  if ((places & 0x60) == 0x40)
    quoit_request_exclude_node (request, CLUSTER_PICK (in, "n1", "n2", "n3", "n4"));
  if ((places & 0x1f) == 0)
    {
      quoit_request_set_cut (request, (QuoitCut) (fuzz_byte (in) % 6), NULL);
      quoit_request_set_place (request, (QuoitPlacePolicy) (fuzz_byte (in) % 5), NULL);
    }
}

/* Slices that are joined from the cubes of cluster_cubes_text(), or mostly are. */
static void
ask_for_cubes (FuzzInput *in, QuoitRequest *request)
{
  quoit_request_set_accelerator (request, CLUSTER_PICK (in, "v5p", "v5p", "v5p", "tpu7x"), NULL);
  quoit_request_set_topology (request, CLUSTER_PICK (in, "4x4x4", "4x4x8", "4x8x8", "4x4x12", "2x2x4"), NULL);
  quoit_request_set_cubes (request, (QuoitCubes) (fuzz_byte (in) % 5), NULL);
  quoit_request_set_place (request, (QuoitPlacePolicy) (fuzz_byte (in) % 5), NULL);
}

static void
ask_for_whole_slices (FuzzInput *in, QuoitRequest *request, guint8 flags)
{
  gboolean is_odd = (flags & 0xc0) == 0xc0;

  quoit_request_set_accelerator (request, is_odd ? CLUSTER_PICK (in, "v6e", "v5p", "v4") : "v6e", NULL);
  quoit_request_set_topology (request,
                              is_odd                ? CLUSTER_PICK (in, "2x4", "4x4", "2x2x2", "2x2")
                              : (flags & 0x20) != 0 ? "4x4"
                                                    : "2x4",
                              NULL);
}

/* Sets what is requested. */
static void
ask_for_any (Sequence *sequence, QuoitRequest *request, guint8 flags)
{
  FuzzInput *in = &sequence->in;

  if ((flags & 1) != 0)
    {
      for (guint n = 1 + fuzz_byte (in) % 3; n > 0; n--)
        quoit_request_add_bundles (request, CLUSTER_PICK (in, "TPU=4", "TPU=1", "TPU=2,CPU=1", "CPU=1", "TPU=0.5"), 1,
                                   NULL);
      quoit_request_set_strategy (request, (QuoitStrategy) (fuzz_byte (in) % 5), NULL);
      if ((fuzz_byte (in) & 1) != 0)
        quoit_request_set_policy (request, (QuoitPolicy) (fuzz_byte (in) % 3), NULL);
    }
  else
    {
      guint8 number = fuzz_byte (in);
      guint least = 1 + number % 2, most = least + fuzz_byte (in) % 2;

      if (sequence->has_cubes && number >= 64)
        ask_for_cubes (in, request);
      else
        ask_for_whole_slices (in, request, flags);
      quoit_request_set_slice_range (request, least, most, NULL);
      if ((flags & 2) == 0)
        quoit_request_set_chips_per_host (request, 4, NULL);
    }
}

/* Adds one or two alternatives, some of which name a pool that does not exist. */
static void
add_alternatives (Sequence *sequence, QuoitRequest *request, const char *name)
{
  FuzzInput *in = &sequence->in;

  for (guint n = 1 + fuzz_byte (in) % 2; n > 0; n--)
    {
      g_autoptr (QuoitRequest) alternative = quoit_request_new (name, NULL);
      guint8 flags = fuzz_byte (in);

      ask_for_any (sequence, alternative, flags);
      if ((flags & 0x18) == 0x18)
        quoit_request_set_pool (alternative, CLUSTER_PICK (in, "p", "q", "g"));
      if (!quoit_request_add_alternative (request, alternative, NULL))
        g_error ("an alternative is refused");
    }
}

static QuoitRequest *
any_request (Sequence *sequence)
{
  FuzzInput *in = &sequence->in;
  const char *name = CLUSTER_PICK (in, "a", "b", "c", "d", "e", "f", "n1", "x");
  QuoitRequest *request = quoit_request_new (name, NULL);
  guint8 flags = fuzz_byte (in);

  ask_for_any (sequence, request, flags);
  if ((flags & 5) == 4)
    quoit_request_set_key (request, CLUSTER_PICK (in, "k1", "k2", "k3", "k4"), NULL);
  if ((flags & 8) != 0)
    quoit_request_set_owner (request, CLUSTER_PICK (in, "o1", "o2"), NULL);
  if ((flags & 0x18) == 0x18)
    quoit_request_set_pool (request, CLUSTER_PICK (in, "p", "q", "g"));
  if ((flags & 0x18) == 0x10)
    set_places (in, request);
  if ((flags & 0x50) == 0x40)
    add_alternatives (sequence, request, name);
  if (sequence->has_cubes)
    quoit_request_set_label (request, "a", (flags & 2) != 0 ? "1" : "2", NULL);
  return request;
}

/* Each reason removes something. Options are found only when they are read. */
static void
check_report (const QuoitReport *report)
{
  for (guint32 r = 0; r < quoit_report_get_n_reasons (report); r++)
    {
      g_autofree char *text = quoit_report_dup_reason_text (report, r);

      if (quoit_report_get_reason_after (report, r) >= quoit_report_get_reason_before (report, r))
        g_error ("the reason '%s' removes nothing", text);
    }
  for (guint32 o = 0; o < quoit_report_get_n_options (report); o++)
    if (quoit_report_get_n_steps (report, o) == 0)
      g_error ("option %u has no steps", o);
}

static char *
reserve_dry (const Sequence *sequence, const QuoitRequest *request)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  QuoitFork *fork = quoit_snapshot_fork (snapshot);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = quoit_fork_reserve (fork, request, sequence->now_ms, NULL, &error);
  g_autoptr (QuoitReport) report = quoit_snapshot_explain (snapshot, request, NULL);

  if (report != NULL)
    check_report (report);
  quoit_fork_free (fork);
  return g_strdup (group != NULL ? "done" : error->message);
}

static void
reserve_any (Sequence *sequence)
{
  g_autoptr (QuoitRequest) request = any_request (sequence);
  g_autofree char *dry = reserve_dry (sequence, request);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = quoit_ledger_reserve (sequence->ledger, request, sequence->now_ms, NULL, &error);

  show ("reserve", dry);
  require_equal ("the dry run differs", dry, group != NULL ? "done" : error->message);
  require_and_clear (group != NULL, &error);
}

static void
reserve_all_any (Sequence *sequence)
{
  g_autoptr (QuoitRequest) first = any_request (sequence), second = any_request (sequence);
  const QuoitRequest *const requests[] = { first, second };
  QuoitGroup *groups[2] = { NULL, NULL };
  QuoitReport *report = NULL;
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_ledger_reserve_all (sequence->ledger, requests, 2, sequence->now_ms, groups, &report, &error);

  show ("reserve all", ok ? "done" : error->message);
  for (guint i = 0; i < 2; i++)
    {
      if ((groups[i] != NULL) != ok)
        g_error ("reserve all has group %u, and the result %d", i, ok);
      quoit_group_unref (groups[i]);
    }
  if (ok && report != NULL)
    g_error ("reserve all is granted, and has a report");
  quoit_report_unref (report);
  require_and_clear (ok, &error);
}

static void
hold_any (Sequence *sequence)
{
  g_autoptr (QuoitRequest) request = any_request (sequence);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = quoit_ledger_hold (sequence->ledger, request, 1 + fuzz_byte (&sequence->in) * 20,
                                                    sequence->now_ms, NULL, &error);

  show ("hold", "");
  require_and_clear (group != NULL, &error);
}

/* --- look-up --- */

/* "NAME@ID", or NULL if there is no group. */
static char *
any_group (Sequence *sequence)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  g_autoptr (QuoitGroup) group = NULL;
  guint n = quoit_snapshot_get_n_groups (snapshot);

  if (n == 0)
    return NULL;
  group = quoit_snapshot_dup_group (snapshot, fuzz_byte (&sequence->in) % n);
  return g_strdup_printf ("%s@%" G_GUINT64_FORMAT, quoit_group_get_name (group), quoit_group_get_id (group));
}

static char *
any_node (Sequence *sequence)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  guint n = quoit_snapshot_get_n_nodes (snapshot);

  return n == 0 ? NULL : quoit_snapshot_dup_node_full_name (snapshot, fuzz_byte (&sequence->in) % n);
}

/* A fork gives up the slice like the ledger. */
static QuoitGroupChange *
release_slice (const Sequence *sequence, const char *group, guint8 byte, GError **error)
{
  g_autofree char *slice = g_strdup_printf ("%u", byte % 3u);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (GError) dry_error = NULL;
  QuoitGroupChange *dry = quoit_fork_release_slice (fork, group, slice, sequence->now_ms, &dry_error);
  QuoitGroupChange *change = quoit_ledger_release_slice (sequence->ledger, group, slice, sequence->now_ms, error);

  require_equal ("the dry run differs", dry != NULL ? "done" : dry_error->message,
                 change != NULL ? "done" : (*error)->message);
  quoit_group_change_free (dry);
  return change;
}

/* Sets and removes labels; some of them are not valid. */
static QuoitGroup *
label_group (Sequence *sequence, const char *group, guint8 byte, GError **error)
{
  const char *keys[] = { "a", (byte & 2) != 0 ? "b" : "a", (byte & 4) != 0 ? "c=" : "c" };
  const char *values[] = { "1", (byte & 8) != 0 ? NULL : "2", (byte & 16) != 0 ? "\n" : "3" };

  return quoit_ledger_set_labels (sequence->ledger, group, keys, values, byte % 4, sequence->now_ms, error);
}

/* Sets or removes a quota for a label of label_group(); some of them are not valid. Cubes have sixteen hosts. */
static gboolean
change_quota (Sequence *sequence, guint8 byte, GError **error)
{
  const char *name = (byte & 1) != 0 ? "q" : "r", *accelerator = sequence->has_cubes ? "v5p" : "v6e";
  const gint64 unit = sequence->has_cubes ? 16 : 1;

  if ((byte & 14) == 0)
    return quoit_ledger_remove_quota (sequence->ledger, name, sequence->now_ms, error);
  return quoit_ledger_set_quota (
      sequence->ledger, name, "a", (byte & 1) != 0 ? "1" : "2", (byte & 2) != 0 ? accelerator : NULL, NULL,
      (byte & 12) * unit, (byte & 16) != 0 ? -1 : 8 * unit, (byte & 4) != 0 ? "c" : NULL, sequence->now_ms, error);
}

/* A fork forgets like the ledger. */
static gboolean
forget (const Sequence *sequence, const char *group, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (GError) dry_error = NULL;
  gboolean dry = quoit_fork_forget (fork, group, sequence->now_ms, &dry_error);
  gboolean done = quoit_ledger_forget (sequence->ledger, group, sequence->now_ms, error);

  require_equal ("the dry run differs", dry ? "done" : dry_error->message, done ? "done" : (*error)->message);
  return done;
}

static void
change_group (Sequence *sequence, guint8 how)
{
  g_autofree char *group = any_group (sequence);
  g_autoptr (GError) error = NULL;
  QuoitGroupChange *change = NULL;
  QuoitGroup *after = NULL;
  gboolean ok;
  guint8 byte;

  if (group == NULL)
    return;
  byte = fuzz_byte (&sequence->in);
  show ((const char *const[]) { "release", "resize", "repair", "confirm", "renew", "forget" }[how], group);
  switch (how)
    {
    case 0:
      if (sequence->has_cubes && byte >= 192)
        ok = (change = release_slice (sequence, group, byte, &error)) != NULL;
      else
        ok = byte < 128 ? quoit_ledger_release (sequence->ledger, group, sequence->now_ms, &error)
                        : quoit_ledger_release_with_reason (sequence->ledger, group, byte == 128 ? "" : "fuzz",
                                                            sequence->now_ms, &error);
      break;
    case 1:
      change = byte < 128 ? quoit_ledger_resize (sequence->ledger, group, 1 + byte % 3, sequence->now_ms, NULL, &error)
                          : quoit_ledger_resize_between (sequence->ledger, group, byte % 4, 1 + byte % 7,
                                                         sequence->now_ms, NULL, &error);
      ok = change != NULL;
      break;
    case 2:
      ok = (change = quoit_ledger_repair (sequence->ledger, group, sequence->now_ms, NULL, &error)) != NULL;
      break;
    case 3:
      ok = (after = quoit_ledger_confirm (sequence->ledger, group, byte * 10, sequence->now_ms, &error)) != NULL;
      break;
    case 4:
      ok = (after = quoit_ledger_renew (sequence->ledger, group, 1 + byte * 10, sequence->now_ms, &error)) != NULL;
      break;
    default:
      ok = byte < 128   ? forget (sequence, group, &error)
           : byte < 192 ? (after = label_group (sequence, group, byte, &error)) != NULL
                        : change_quota (sequence, byte, &error);
    }
  quoit_group_change_free (change);
  if (after != NULL)
    quoit_group_unref (after);
  require_and_clear (ok, &error);
}

static void
change_node (Sequence *sequence)
{
  g_autofree char *node = any_node (sequence);
  g_autoptr (GError) error = NULL;
  gboolean ok;
  guint8 byte;

  if (node == NULL)
    return;
  byte = fuzz_byte (&sequence->in) % 5;
  show ("node", node);
  if (byte < 3)
    ok = quoit_ledger_set_node_state (sequence->ledger, node, (QuoitNodeState) byte, sequence->now_ms, &error);
  else
    ok = (byte == 3 ? quoit_ledger_drain_node : quoit_ledger_undrain_node) (sequence->ledger, node, sequence->now_ms,
                                                                            &error);
  require_and_clear (ok, &error);
}

/* --- plans on forks --- */

/* Releases on the fork what must give way to the request, which must fit then. */
static void
preempt_on_fork (QuoitFork *fork, const QuoitRequest *request, gint64 now_ms)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_fork_snapshot (fork);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitPreemption) preemption = quoit_snapshot_find_preemption (snapshot, request, now_ms, &error);
  g_autoptr (QuoitGroup) made = NULL;

  if (preemption == NULL)
    {
      require_and_clear (FALSE, &error);
      return;
    }
  for (guint32 i = 0; i < quoit_preemption_get_n_groups (preemption); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_preemption_dup_group (preemption, i);

      if (!quoit_fork_release_with_reason (fork, quoit_group_get_handle (group), "preempted", now_ms, &error))
        g_error ("a group of a preemption cannot be released: %s", error->message);
    }
  made = quoit_fork_reserve (fork, request, now_ms, NULL, &error);
  if (made == NULL && (error->code == QUOIT_ERROR_NOT_NOW || error->code == QUOIT_ERROR_NEVER))
    g_error ("the request does not fit after a preemption: %s", error->message);
}

static void
check_plan (const QuoitQueuePlan *plan, guint32 i)
{
  QuoitQueuedState state = quoit_queue_plan_get_state (plan, i);
  g_autoptr (QuoitGroup) group = quoit_queue_plan_dup_group (plan, i);

  if ((group != NULL) != (state == QUOIT_QUEUED_STARTS)
      || quoit_queue_plan_check (plan, i, NULL) != (state != QUOIT_QUEUED_REFUSED))
    g_error ("request %u of the queue has the state %d, %s group", i, (int) state, group == NULL ? "no" : "a");
}

/* Commits the fork. Nobody else has written, so the ledger must have the state of the fork then. */
static void
commit_fork (Sequence *sequence, QuoitFork *fork)
{
  g_autoptr (QuoitSnapshot) planned = quoit_fork_snapshot (fork);
  g_autofree char *before = quoit_snapshot_dup_json (planned), *after = NULL;
  g_autoptr (GError) error = NULL;
  guint64 seq;

  if (!quoit_ledger_commit_fork (sequence->ledger, fork, sequence->now_ms, &error))
    g_error ("the fork is not committed: %s", error->message);
  after = dup_state (sequence->ledger, &seq);
  /* The entries of the fork become one, so the numbers before the sources differ. */
  require_equal ("the committed state differs from the fork", strstr (before, "\"sources\""),
                 strstr (after, "\"sources\""));
}

static void
plan_any (Sequence *sequence)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (QuoitQueuePlan) plan = NULL;
  g_autoptr (GError) error = NULL;
  QuoitRequest *queue[4];
  guint32 n = 1 + fuzz_byte (&sequence->in) % G_N_ELEMENTS (queue);

  for (guint32 i = 0; i < n; i++)
    {
      guint8 byte = fuzz_byte (&sequence->in);

      queue[i] = any_request (sequence);
      quoit_request_set_priority (queue[i], byte % 4);
      if (byte >= 64)
        quoit_request_set_expected_runtime_ms (queue[i], byte, NULL);
    }
  show ("plan", "");
  plan = quoit_fork_plan_queue (fork, (const QuoitRequest *const *) queue, n,
                                (QuoitBackfill) (fuzz_byte (&sequence->in) % 4), sequence->now_ms, &error);
  for (guint32 i = 0; plan != NULL && i < n; i++)
    {
      check_plan (plan, i);
      if (quoit_queue_plan_get_state (plan, i) == QUOIT_QUEUED_WAITS)
        preempt_on_fork (fork, queue[i], sequence->now_ms);
    }
  if (plan == NULL)
    require_and_clear (FALSE, &error);
  else
    {
      /* Some plans also forget what has ended. */
      if (n == 1 && !quoit_fork_forget_before (fork, sequence->now_ms, sequence->now_ms, NULL, &error))
        g_error ("records are not forgotten: %s", error->message);
      commit_fork (sequence, fork);
    }
  for (guint32 i = 0; i < n; i++)
    quoit_request_free (queue[i]);
}

/* --- what lies ahead --- */

static void
reserve_ahead (Sequence *sequence, const QuoitRequest *request)
{
  const guint8 wait = fuzz_byte (&sequence->in), length = fuzz_byte (&sequence->in);
  const gint64 from_ms = sequence->now_ms + wait * 4, until_ms = length < 32 ? 0 : from_ms + length * 4 - 128;
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  g_autoptr (QuoitFork) fork = quoit_snapshot_fork (snapshot);
  g_autoptr (GError) error = NULL, dry_error = NULL;
  g_autoptr (QuoitGroup) dry
      = quoit_fork_reserve_at (fork, request, from_ms, until_ms, sequence->now_ms, NULL, &dry_error);
  g_autoptr (QuoitGroup) group
      = quoit_ledger_reserve_at (sequence->ledger, request, from_ms, until_ms, sequence->now_ms, NULL, &error);

  show ("reserve ahead", "");
  require_equal ("the dry run differs", dry != NULL ? "done" : dry_error->message,
                 group != NULL ? "done" : error->message);
  require_and_clear (group != NULL, &error);
}

static void
reserve_with_lease (Sequence *sequence, QuoitRequest *request)
{
  g_autofree char *dry = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = NULL;

  quoit_request_set_lease_ms (request, 1 + fuzz_byte (&sequence->in) * 4, NULL);
  dry = reserve_dry (sequence, request);
  group = quoit_ledger_reserve (sequence->ledger, request, sequence->now_ms, NULL, &error);
  show ("reserve with a lease", dry);
  require_equal ("the dry run differs", dry, group != NULL ? "done" : error->message);
  require_and_clear (group != NULL, &error);
}

static void
change_window (Sequence *sequence)
{
  const guint8 byte = fuzz_byte (&sequence->in), wait = fuzz_byte (&sequence->in);
  const char *name = (byte & 1) != 0 ? "w1" : "w2";
  const gint64 from_ms = sequence->now_ms + wait * 4 - 64;
  g_autofree char *node = any_node (sequence);
  g_autoptr (GError) error = NULL;
  gboolean ok;

  show ("window", name);
  if ((byte & 6) == 6)
    ok = quoit_ledger_remove_window (sequence->ledger, name, sequence->now_ms, &error);
  else if ((byte & 8) != 0 && node != NULL)
    ok = quoit_ledger_add_window (sequence->ledger, name, QUOIT_WINDOW_NODE, node, from_ms, from_ms + 4 * byte,
                                  sequence->now_ms, &error);
  else
    ok = quoit_ledger_add_window (sequence->ledger, name, (QuoitWindowScope) (byte % 5),
                                  CLUSTER_PICK (&sequence->in, "p", "q", "g", "n1"), from_ms, from_ms + 4 * byte,
                                  sequence->now_ms, &error);
  require_and_clear (ok, &error);
}

static void
change_calendar (Sequence *sequence, guint8 how)
{
  g_autoptr (QuoitRequest) request = how % 4 == 3 ? NULL : any_request (sequence);

  if (request == NULL)
    change_window (sequence);
  else if (how % 4 == 2)
    reserve_with_lease (sequence, request);
  else
    reserve_ahead (sequence, request);
}

/* --- the ledger --- */

static void
change_ledger (Sequence *sequence)
{
  guint8 how = fuzz_byte (&sequence->in);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (sequence->ledger);
  guint64 last = quoit_snapshot_get_seq (snapshot);
  g_autoptr (GError) error = NULL;
  gboolean ok;

  if (how >= 104)
    {
      if (how >= 128)
        plan_any (sequence);
      else if (how < 112)
        reserve_all_any (sequence);
      else
        change_calendar (sequence, how);
      return;
    }
  show ("ledger", how % 3 == 0 ? "owner" : how % 3 == 1 ? "end of the owner" : "compact");
  if (how % 3 == 0)
    ok = quoit_ledger_set_owner (sequence->ledger, "o1", 1 + how * 10, sequence->now_ms, &error);
  else if (how % 3 == 1)
    ok = quoit_ledger_end_owner (sequence->ledger, "o1", sequence->now_ms, NULL, &error);
  else
    ok = quoit_ledger_compact_journal (sequence->ledger, 1 + how % (last + 1), sequence->now_ms, NULL, &error);
  require_and_clear (ok, &error);
}

/* --- steps --- */

static void
take_step (Sequence *sequence)
{
  const guint8 byte = fuzz_byte (&sequence->in), step = byte % 16;
  g_autoptr (GError) error = NULL;

  sequence->now_ms += byte * 7;
  if ((byte & 0xfc) == 0xc4)
    read_cubes (sequence);
  else if (step < 8)
    read_any (sequence);
  else if (step == 8)
    update_any (sequence);
  else if (step < 11)
    reserve_any (sequence);
  else if (step == 11)
    hold_any (sequence);
  else if (step < 14)
    change_group (sequence, fuzz_byte (&sequence->in) % 6);
  else if (step == 14)
    change_node (sequence);
  else
    change_ledger (sequence);
  if (!quoit_ledger_verify (sequence->ledger, &error))
    g_error ("the ledger does not verify: %s", error->message);
}

/* A joined slice has all hosts of its cubes, sixteen of each. Hosts that are gone are in no cube. */
static void
check_joined (const QuoitGroup *group, guint32 slice)
{
  g_autoptr (GHashTable) cubes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const guint32 n_workers = quoit_group_get_n_workers (group, slice);
  guint32 shape[3];

  if (!quoit_group_find_joined (group, slice, shape))
    return;
  if (shape[0] * shape[1] * shape[2] != n_workers * 4)
    g_error ("a joined slice of %u hosts is %ux%ux%u", n_workers, shape[0], shape[1], shape[2]);
  for (guint32 worker = 0; worker < n_workers; worker++)
    {
      char *cube = quoit_group_dup_worker_slice (group, slice, worker);
      const guint n = GPOINTER_TO_UINT (g_hash_table_lookup (cubes, cube)) + 1;

      if (*cube != '\0' && n > 16)
        g_error ("cube '%s' has %u hosts of a joined slice", cube, n);
      g_hash_table_replace (cubes, cube, GUINT_TO_POINTER (n));
    }
}

static void
check_slices (const QuoitGroup *group)
{
  for (guint32 slice = 0; slice < quoit_group_get_n_slices (group); slice++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree char *object = NULL;

      check_joined (group, slice);
      object = quoit_gke_slice_format (group, slice, &error);
      require_and_clear (object != NULL, &error);
    }
}

static void
look_back (Sequence *sequence)
{
  g_autoptr (QuoitSnapshot) now = quoit_ledger_snapshot (sequence->ledger), then = NULL;
  g_autoptr (GError) error = NULL;
  guint64 last = quoit_snapshot_get_seq (now);
  g_autofree char *json = NULL;

  for (guint i = 0; i < quoit_snapshot_get_n_groups (now); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (now, i);
      QuoitTopology *topology = topology_in (group, (QuoitProfile) (QUOIT_PROFILE_QUOIT + i % 4), &error);

      if (topology != NULL)
        quoit_topology_free (topology);
      require_and_clear (topology != NULL, &error);
      check_slices (group);
    }
  then = quoit_ledger_snapshot_at (sequence->ledger, last == 0 ? 0 : (guint64) sequence->now_ms % (last + 1), &error);
  json = then == NULL ? NULL : quoit_snapshot_dup_json (then);
  require_and_clear (then != NULL, &error);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  Sequence sequence = { follower_new_ledger ((guint) size), fuzz_input (data, size), NOW, FALSE };

  for (guint i = 0; i < MOST_STEPS && sequence.in.at < sequence.in.end; i++)
    take_step (&sequence);
  look_back (&sequence);
  follower_replay (sequence.ledger);
  quoit_ledger_unref (sequence.ledger);
  return 0;
}
