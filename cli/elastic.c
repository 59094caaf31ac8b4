/* SPDX-License-Identifier: Apache-2.0 */
#include "elastic.h"

#include <string.h>

#include "group-names.h"
#include "group-view.h"
#include "renumbering-view.h"
#include "report-view.h"
#include "text.h"

static const Column columns[] = {
  { "group", NULL, CELL_TEXT },
  { "changed", NULL, CELL_FLAG },
  { "gone", NULL, CELL_FLAG },
};

static Table *
change_facts (QuoitGroupChange *change)
{
  Table *facts = table_new (columns, G_N_ELEMENTS (columns));
  QuoitGroup *after = quoit_group_change_get_after (change);

  table_add_text (facts, quoit_group_get_handle (quoit_group_change_get_before (change)));
  table_add_flag (facts, quoit_group_change_get_before (change) != after);
  table_add_flag (facts, after == NULL);
  return facts;
}

/* Returns NULL and adds a note if the group has no environment, for example because the chips of a bundle are not a
 * box. */
static QuoitTopology *
new_topology (const QuoitGroup *group, GPtrArray *notes)
{
  g_autoptr (GError) why = NULL;
  QuoitTopology *topology = group == NULL ? NULL : quoit_topology_new (group, NULL, &why);

  if (why != NULL)
    g_ptr_array_add (notes, g_strdup (why->message));
  return topology;
}

bool
print_group_change (Session *session, const QuoitSnapshot *snapshot, QuoitGroupChange *taken, const char *outcome,
                    GError **error)
{
  g_autoptr (QuoitGroupChange) change = taken;
  GPtrArray *notes = g_ptr_array_new_with_free_func (g_free);
  QuoitGroup *after = quoit_group_change_get_after (change);
  g_autoptr (QuoitTopology) old = new_topology (quoit_group_change_get_before (change), notes);
  g_autoptr (QuoitTopology) new = new_topology (after, notes);
  g_autoptr (QuoitRenumbering) renumbering = quoit_renumbering_new (old, new);
  Document *document = document_new ();
  const char *label = quoit_group_get_handle (quoit_group_change_get_before (change));

  document_take_sentence (document, g_strdup_printf ("%s %s", label,
                                                     quoit_group_change_get_before (change) == after
                                                         ? "needs no change: nothing has changed"
                                                     : after == NULL ? "is released with its last slice"
                                                                     : outcome));
  document_take_facts (document, change_facts (change));
  if (after != NULL)
    describe_group (document, snapshot, after);
  if (notes->len == 0)
    describe_renumbering (document, renumbering);
  document_take_lines (document, "notes", "notes", notes);
  return session_print (session, document, error);
}

static QuoitLedger *
open_ledger (Session *session, gint64 *now_ms, GError **error)
{
  g_autoptr (QuoitLedger) ledger = group_names_open (session, error);

  return ledger != NULL && session_now (session, now_ms, error) ? g_steal_pointer (&ledger) : NULL;
}

bool
make_group_change (Session *session, const ElasticVerb *verb, const SliceNumbers *slices, GError **error)
{
  gint64 now_ms = 0;
  g_autoptr (QuoitLedger) ledger = open_ledger (session, &now_ms, error);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitReport) report = NULL;
  QuoitGroupChange *change;

  if (ledger == NULL)
    return false;
  change = verb->change_ledger (ledger, session->words[0], slices, now_ms, &report, error);
  if (change == NULL)
    return explain_refusal (session, report, error);
  snapshot = quoit_ledger_snapshot (ledger);
  return print_group_change (session, snapshot, change, verb->outcome, error);
}

bool
try_group_change (Session *session, const ElasticVerb *verb, const SliceNumbers *slices, GError **error)
{
  gint64 now_ms = 0;
  g_autoptr (QuoitLedger) ledger = open_ledger (session, &now_ms, error);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitFork) fork = NULL;
  g_autoptr (QuoitReport) report = NULL;
  QuoitGroupChange *change;

  if (ledger == NULL)
    return false;
  snapshot = quoit_ledger_snapshot (ledger);
  fork = quoit_snapshot_fork (snapshot);
  change = verb->change_fork (fork, session->words[0], slices, now_ms, &report, error);
  return change == NULL ? explain_refusal (session, report, error)
                        : print_group_change (session, snapshot, change, verb->dry_run_outcome, error);
}

bool
slice_numbers_parse (const char *text, SliceNumbers *slices, GError **error)
{
  static const NumberRule rule = { "--slices", "1 to 1000000 slices, or a range such as 1..2", G_MININT64, G_MAXINT64 };
  const char *dots = strstr (text, "..");
  g_autofree char *first = dots == NULL ? NULL : g_strndup (text, (gsize) (dots - text));
  gint64 least = 0, most = 0;

  if ((dots != NULL && !text_parse_number (first, &rule, &least, error))
      || !text_parse_number (dots == NULL ? text : dots + 2, &rule, &most, error))
    return false;
  *slices = (SliceNumbers) { least, most, dots != NULL };
  return true;
}
