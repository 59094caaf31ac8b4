/* SPDX-License-Identifier: Apache-2.0 */
/* Groups in fleet text, and fleets that are written as text, through the public functions. */
#include <quoit/quoit.h>
#include <string.h>

#include "../shortcuts.h"
#include "suite.h"

#define NOW G_GINT64_CONSTANT (1767225600000) /* 2026-01-01 */

static const char fleet_text[]
    = "# a fleet; with a comment\nv6e 4x4 x4 pool=a zone=za;\n"
      "v6e 4x4 x2 pool=b draining=0; # and another\n"
      "group train v6e 4x4 x2 pool=a until=2026-01-02T00:00Z owner=ann priority=3 label.team=nlp;\n"
      "group eval v6e 4x4 pool=a slices=3";

static QuoitImport *
import_text (QuoitLedger *ledger, const char *text, GError **error)
{
  return import_as (ledger, QUOIT_SOURCE_KIND_FLEET, text, NULL, NOW, error);
}

static QuoitLedger *
ledger_of (const char *text)
{
  QuoitLedger *ledger = quoit_ledger_open_memory ();
  GError *error = NULL;

  quoit_import_free (import_text (ledger, text, &error));
  ck_assert_ok (error);
  return ledger;
}

static uint64_t
last_seq (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_seq (snapshot);
}

START_TEST (groups_are_reserved_after_the_nodes_in_one_entry)
{
  g_autoptr (QuoitLedger) ledger = ledger_of (fleet_text);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autoptr (QuoitGroup) train = quoit_snapshot_lookup_group (snapshot, "train", NULL);
  g_autoptr (QuoitGroup) eval = quoit_snapshot_lookup_group (snapshot, "eval", NULL);
  g_autofree char *slice = quoit_group_dup_slice_name (eval, 0);
  GError *error = NULL;

  ck_assert_uint_eq (quoit_snapshot_get_seq (snapshot), 1);
  ck_assert_int_eq (quoit_group_get_state (train), QUOIT_GROUP_RESERVED);
  ck_assert_uint_eq (quoit_group_get_n_slices (train), 2);
  ck_assert_int_eq (quoit_group_get_until_ms (train), NOW + 86400000);
  ck_assert_str_eq (quoit_group_get_owner (train), "ann");
  ck_assert_int_eq (quoit_group_get_priority (train), 3);
  ck_assert_str_eq (quoit_group_find_label (train, "team"), "nlp");
  ck_assert_str_eq (quoit_group_get_source (train), "");
  ck_assert_str_eq (slice, "a-3");
  ck_assert_int_eq (quoit_group_get_until_ms (eval), 0);
  ck_assert (quoit_snapshot_check (snapshot, NULL));
  ck_assert (quoit_ledger_verify (ledger, &error));
  ck_assert_ok (error);
}
END_TEST

START_TEST (same_text_again_changes_nothing_and_ended_groups_are_reserved_again)
{
  g_autoptr (QuoitLedger) ledger = ledger_of (fleet_text);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  GError *error = NULL;
  QuoitImport *import = import_text (ledger, fleet_text, &error);

  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_import_get_n_changes (import), 0);
  quoit_import_free (import);
  ck_assert_uint_eq (last_seq (ledger), 1);

  /* The groups belong to the ledger. */
  group = quoit_ledger_renew (ledger, "train", 1000, NOW, &error);
  ck_assert_ok (error);
  ck_assert (quoit_ledger_release (ledger, "eval", NOW, &error));
  import = import_text (ledger, fleet_text, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_import_get_n_changes (import), 1);
  ck_assert_int_eq (quoit_import_get_change_kind (import, 0), QUOIT_CHANGE_GROUP);
  ck_assert_str_eq (quoit_import_get_change_name (import, 0), "eval");
  ck_assert_str_eq (quoit_import_get_change_detail (import, 0), "reserved");
  quoit_import_free (import);

  /* A text without the groups leaves them. */
  quoit_import_free (import_text (ledger, "v6e 4x4 x4 pool=a zone=za; v6e 4x4 x2 pool=b draining=0", &error));
  ck_assert_ok (error);
  snapshot = quoit_ledger_snapshot (ledger);
  ck_assert_uint_eq (quoit_snapshot_get_n_groups (snapshot), 2);
  ck_assert (quoit_ledger_verify (ledger, NULL));
}
END_TEST

static const struct {
  const char *text;
  QuoitErrorCode code;
  const char *message;
} refused[] = {
  { "group", QUOIT_ERROR_INVALID, "byte 5: the end: expected the name of a group" },
  { "group g", QUOIT_ERROR_INVALID, "byte 7: the end: expected a TPU generation such as v6e" },
  { "group g v6e", QUOIT_ERROR_INVALID, "byte 11: the end: expected a topology such as 4x4" },
  { "group g v6e 4x4", QUOIT_ERROR_INVALID, "byte 15: the end: expected also slices, such as v6e 4x4 x2" },
  { "v6e 4x4; group g v9 4x4", QUOIT_ERROR_INVALID, "byte 17: generation 'v9'" },
  { "v6e 4x4; group g v6e 3x3", QUOIT_ERROR_INVALID, "byte 21: " },
  { "v6e 4x4; group g v6e 4x4 hostchips=3", QUOIT_ERROR_INVALID, "3" },
  { "v6e 4x4; group g v6e 4x4 x0", QUOIT_ERROR_INVALID, "byte 26: '0': expected how many slices: 1 to 1000000" },
  { "v6e 4x4; group g v6e 4x4 x1 x1", QUOIT_ERROR_INVALID, "byte 28: 'x1': expected the number of slices once" },
  { "v6e 4x4; group g v6e 4x4 fast", QUOIT_ERROR_INVALID, "byte 25: 'fast': expected key=value" },
  { "v6e 4x4; group g v6e 4x4 size=2", QUOIT_ERROR_INVALID, "byte 25: 'size': expected one of pool, zone" },
  { "v6e 4x4; group g v6e 4x4 owner=a owner=b", QUOIT_ERROR_INVALID, "byte 33: 'owner=b': expected each key once" },
  { "v6e 4x4; group g v6e 4x4 pool=", QUOIT_ERROR_INVALID, "byte 25: 'pool=': expected a value behind '='" },
  { "v6e 4x4; group g v6e 4x4 until=soon", QUOIT_ERROR_INVALID, "byte 31: 'soon': expected ISO 8601 with an offset" },
  { "v6e 4x4; group g v6e 4x4 until=2300-01-01T00:00Z", QUOIT_ERROR_INVALID, "before the year 2200" },
  { "v6e 4x4; group g v6e 4x4 until=2025-01-01T00:00Z", QUOIT_ERROR_INVALID,
    "group 'g': until '2025-01-01T00:00:00.000Z': expected a time after 2026-01-01T00:00:00.000Z" },
  { "v6e 4x4; group g v6e 4x4 priority=high", QUOIT_ERROR_INVALID, "byte 34: 'high': expected a number" },
  { "v6e 4x4; group g v6e 4x4 priority=2147483648", QUOIT_ERROR_INVALID, "expected a number" },
  { "v6e 4x4; group g v6e 4x4 label.a=1 label.a=2", QUOIT_ERROR_INVALID,
    "byte 35: 'label.a=2': expected each label once" },
  { "v6e 4x4; group g v6e 4x4 slices=0", QUOIT_ERROR_INVALID, "byte 32: '0': expected also pool=" },
  { "v6e 4x4; group g v6e 4x4 pool=z slices=0", QUOIT_ERROR_INVALID,
    "expected also pool=, with a pool of an item before" },
  { "v6e 4x4 x2 pool=p; group g v6e 4x4 pool=p slices=2", QUOIT_ERROR_INVALID,
    "expected slices of pool 'p': 0 to 1 in order" },
  { "v6e 4x4 x2 pool=p; group g v6e 4x4 pool=p slices=1,0", QUOIT_ERROR_INVALID, "'1,0': expected slices of pool 'p'" },
  { "v6e 4x4 x2 pool=p; group g v6e 4x4 pool=p slices=0,", QUOIT_ERROR_INVALID, "'0,': expected slices of pool 'p'" },
  { "v6e 4x4 x2 pool=p; group g v6e 4x4 pool=p slices=0-", QUOIT_ERROR_INVALID, "'0-': expected slices of pool 'p'" },
  { "v6e 4x4 x2 pool=p; group g v6e 4x4 x2 pool=p slices=0", QUOIT_ERROR_INVALID, "'2': expected as many slices" },
  { "v6e 4x4 x2; group g v6e 4x4; group g v6e 4x4", QUOIT_ERROR_INVALID, "byte 35: 'g': expected another name" },
  { "v6e 4x4; group a/b v6e 4x4", QUOIT_ERROR_INVALID, "group 'a/b': group name 'a/b'" },
  { "v6e 4x4; group g v6e 4x4 owner=a/b", QUOIT_ERROR_INVALID, "group 'g': owner 'a/b'" },
  { "v6e 4x4; group g v6e 4x4 x2", QUOIT_ERROR_NEVER, "group 'g': 2 x v6e 4x4: never" },
  { "v6e 4x4 draining=0; group g v6e 4x4", QUOIT_ERROR_NOT_NOW, "group 'g': 1 x v6e 4x4: not now" },
  { "v6e 4x4 pool=p busy=0; group g v6e 4x4 pool=p slices=0", QUOIT_ERROR_NOT_NOW, "group 'g': " },
  { "v6e 4x4 x2 pool=p; group g v6e 4x4 pool=p slices=0; group h v6e 4x4 pool=p slices=0", QUOIT_ERROR_NOT_NOW,
    "group 'h': " },
  { "v6e 4x4 pool=p; v6e 2x4 pool=p; group g v6e 4x4 pool=p slices=1", QUOIT_ERROR_NEVER, "group 'g': " },
  { "v6e 4x4; group g v6e 4x4 pool=z", QUOIT_ERROR_NOT_FOUND, "group 'g': " },
  { "v6e 4x4 pool=p; group held v6e 4x4 pool=p slices=0", QUOIT_ERROR_CONFLICT, "there is a group 'held' already" },
  { "v6e 4x4; group held v6e 4x4", QUOIT_ERROR_CONFLICT, "group 'held': there is a group 'held' already" },
};

START_TEST (wrong_group_is_refused_and_nothing_is_imported)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  GError *error = NULL;

  quoit_import_free (
      import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v5p 2x2x2 pool=other; group held v5p 2x2x2", "old", NOW, &error));
  ck_assert_ok (error);
  ck_assert_ptr_null (import_text (ledger, refused[_i].text, &error));
  ck_assert_refused (error, refused[_i].code, refused[_i].message);
  ck_assert_ptr_null (import_text (ledger, refused[_i].text, NULL));
  ck_assert_uint_eq (last_seq (ledger), 1);
}
END_TEST

/* --- written fleets --- */

/* Counts the slices of a class that have all of @flags. */
static uint32_t
count_slices (const QuoitSnapshot *snapshot, uint32_t class, uint32_t flags)
{
  uint32_t n = 0;

  for (uint32_t slice = 0; slice < quoit_snapshot_get_n_slices (snapshot); slice++)
    n += quoit_snapshot_get_slice_class (snapshot, slice) == class
         && (quoit_snapshot_get_slice_flags (snapshot, slice) & flags) == flags;
  return n;
}

/* Returns a line for each class: how many slices there are, how many are intact, and so on. */
static char *
describe_classes (const QuoitSnapshot *snapshot)
{
  static const uint32_t flags[]
      = { 0, QUOIT_SLICE_INTACT, QUOIT_SLICE_INTACT | QUOIT_SLICE_IDLE, QUOIT_SLICE_DRAINING, QUOIT_SLICE_FREE };
  GString *text = g_string_new (NULL);

  for (uint32_t class = 0; class < quoit_snapshot_get_n_classes (snapshot); class ++)
    {
      g_autofree char *topology = quoit_snapshot_dup_class_topology (snapshot, class);

      g_string_append_printf (text, "%s %s %u:", quoit_snapshot_get_class_accelerator (snapshot, class), topology,
                              quoit_snapshot_get_class_chips_per_host (snapshot, class));
      for (guint i = 0; i < G_N_ELEMENTS (flags); i++)
        g_string_append_printf (text, " %u", count_slices (snapshot, class, flags[i]));
      g_string_append (text, "; ");
    }
  return g_string_free (text, FALSE);
}

/* Checks that a ledger with @text has the same classes. */
static void
check_text (const char *text, const char *classes, guint32 seed)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *read = NULL;
  GError *error = NULL;

  quoit_import_free (import_text (ledger, text, &error));
  if (error != NULL)
    ck_abort_msg ("seed %u: %s\n%s", seed, error->message, text);
  snapshot = quoit_ledger_snapshot (ledger);
  read = describe_classes (snapshot);
  if (strcmp (read, classes) != 0)
    ck_abort_msg ("seed %u: %s\n%s\n%s", seed, classes, read, text);
  ck_assert (quoit_snapshot_check (snapshot, NULL));
  ck_assert (quoit_ledger_verify (ledger, NULL));
  /* Reading the text again changes nothing. */
  quoit_import_free (import_text (ledger, text, &error));
  ck_assert_ok (error);
  ck_assert_uint_eq (last_seq (ledger), 1);
}

/* Makes a drawn change, which may be refused. */
static void
change_at_random (QuoitLedger *ledger, GRand *rand, guint i)
{
  g_autofree char *name = g_strdup_printf ("g%u", i);
  g_autofree char *node = g_strdup_printf ("%c-%d-%d", 'a' + g_rand_int_range (rand, 0, 3),
                                           g_rand_int_range (rand, 0, 4), g_rand_int_range (rand, 0, 4));
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

  switch (g_rand_int_range (rand, 0, 5))
    {
    case 0:
      quoit_ledger_drain_node (ledger, node, NOW, NULL);
      return;
    case 1:
      quoit_ledger_set_node_state (ledger, node, QUOIT_NODE_DEAD, NOW, NULL);
      return;
    case 2:
      ck_assert (quoit_request_add_bundles (request, "TPU=2", 1, NULL));
      break;
    default:
      ck_assert (quoit_request_set_accelerator (request, "v6e", NULL));
      ck_assert (quoit_request_set_topology (request, g_rand_boolean (rand) ? "4x4" : "2x4", NULL));
      ck_assert (quoit_request_set_slices (request, g_rand_int_range (rand, 1, 3), NULL));
      if (g_rand_boolean (rand))
        ck_assert (quoit_request_set_lease_ms (request, 60000, NULL));
      if (g_rand_boolean (rand))
        ck_assert (quoit_request_set_owner (request, "ann", NULL));
    }
  quoit_group_unref (quoit_ledger_reserve (ledger, request, NOW, NULL, NULL));
}

START_TEST (written_fleet_has_the_same_classes)
{
  static const char *const fleets[] = {
    "v6e 4x4 x4 pool=a zone=za busy=2.1; v6e 4x4 x2 pool=b; v6e 2x4 x2 pool=c hostchips=4 dead=1.0; v6e 2x4 x3 pool=b "
    "zone=x",
    "v6e 2x4 x4 pool=a; v6e 4x4 x3 pool=c draining=1.0-2,2; v5p 2x2x4 pool=d busy=0; v6e 4x4 x1 pool=b zone=zb",
  };
  const guint32 seed = 1000u + (guint32) _i;
  g_autoptr (QuoitLedger) ledger = ledger_of (fleets[_i % 2]);
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autofree char *text = NULL, *classes = NULL;
  GRand *rand = g_rand_new_with_seed (seed);
  GError *error = NULL;

  for (guint i = 0; i < 8; i++)
    change_at_random (ledger, rand, i);
  g_rand_free (rand);
  if (_i % 3 == 0)
    quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 4x4 x2 pool=a", "other", NOW, NULL));
  snapshot = quoit_ledger_snapshot (ledger);
  text = quoit_snapshot_dup_fleet_text (snapshot, &error);
  ck_assert_ok (error);
  classes = describe_classes (snapshot);
  check_text (text, classes, seed);
}
END_TEST

START_TEST (fleet_without_slices_is_not_written)
{
  g_autoptr (QuoitLedger) ledger = quoit_ledger_open_memory ();
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_snapshot_dup_fleet_text (snapshot, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "the fleet has no slice that fleet text can describe");
}
END_TEST

START_TEST (groups_keep_their_slices_owners_ends_and_labels)
{
  g_autoptr (QuoitLedger) ledger = ledger_of (fleet_text);
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  g_autofree char *text = quoit_snapshot_dup_fleet_text (snapshot, NULL);

  ck_assert_str_eq (text,
                    "v6e 4x4 x4 pool=a zone=za;\nv6e 4x4 x2 pool=b draining=0;\n"
                    "group train v6e 4x4 x2 pool=a slices=0-1 until=2026-01-02T00:00:00.000Z owner=ann priority=3 "
                    "label.team=nlp;\ngroup eval v6e 4x4 x1 pool=a slices=3\n");
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("groups of fleet text");
  TCase *tcase = tcase_create ("groups of fleet text");

  tcase_set_timeout (tcase, 60);
  tcase_add_test (tcase, groups_are_reserved_after_the_nodes_in_one_entry);
  tcase_add_test (tcase, same_text_again_changes_nothing_and_ended_groups_are_reserved_again);
  tcase_add_loop_test (tcase, wrong_group_is_refused_and_nothing_is_imported, 0, (int) G_N_ELEMENTS (refused));
  tcase_add_loop_test (tcase, written_fleet_has_the_same_classes, 0, 200);
  tcase_add_test (tcase, fleet_without_slices_is_not_written);
  tcase_add_test (tcase, groups_keep_their_slices_owners_ends_and_labels);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
