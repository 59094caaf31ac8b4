/* SPDX-License-Identifier: Apache-2.0 */
/* What a ledger keeps: the memory of a ledger in memory, the time that entries and records are kept, and trims. */
#include <quoit/quoit.h>

#include <glib/gstdio.h>
#include <malloc.h>
#include <string.h>

#include "suite.h"
#include "test-paths.h"
#include "../sanitized.h"
#include "../shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)
#define DAY_MS G_GINT64_CONSTANT (86400000)

static TestPaths paths;

static void
set_up (void)
{
  paths = test_paths_new ();
}

static void
tear_down (void)
{
  test_paths_clear (&paths);
}

static QuoitLedger *
with_fleet (QuoitLedger *ledger, const char *text)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_nonnull (ledger);
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, text, NULL, NOW, &error));
  ck_assert_ok (error);
  return ledger;
}

static QuoitRequest *
request_of (const char *name, const char *key)
{
  QuoitRequest *request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL) && quoit_request_set_topology (request, "2x2", NULL)
             && quoit_request_set_slices (request, 1, NULL));
  ck_assert (key == NULL || quoit_request_set_key (request, key, NULL));
  return request;
}

/* Reserves and releases @n groups from the time @now_ms on, one each millisecond. With @key, each has a key of its own
 * that begins with it. */
static void
make_pairs (QuoitLedger *ledger, guint n, const char *key, gint64 now_ms)
{
  g_autoptr (QuoitRequest) plain = request_of ("g", NULL);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *name = key == NULL ? NULL : g_strdup_printf ("%s-%u", key, i);
      g_autoptr (QuoitRequest) keyed = key == NULL ? NULL : request_of ("g", name);
      g_autoptr (QuoitGroup) group = NULL;
      g_autoptr (GError) error = NULL;

      group = quoit_ledger_reserve (ledger, key == NULL ? plain : keyed, now_ms + i, NULL, &error);
      ck_assert_ok (error);
      ck_assert (quoit_ledger_release (ledger, "g", now_ms + i, &error));
    }
}

/* The same in unsynced batches, because the tests do not depend on the disk. */
static void
make_pairs_in_batches (QuoitLedger *ledger, guint n, const char *key, gint64 now_ms)
{
  ck_assert (quoit_ledger_begin_unsynced_batch (ledger, NULL));
  make_pairs (ledger, n, key, now_ms);
  ck_assert (quoit_ledger_commit_batch (ledger, NULL));
}

static guint64
last_seq (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_seq (snapshot);
}

static guint
n_records (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_n_groups (snapshot);
}

static gint64
keep_of (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_get_keep_ms (snapshot);
}

static guint64
checkpoint_of (QuoitLedger *ledger)
{
  uint64_t seq = 0;

  ck_assert (quoit_ledger_read_checkpoint (ledger, &seq, NULL, NULL));
  return seq;
}

static void
check_verified (QuoitLedger *ledger)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (quoit_ledger_verify (ledger, &error), "%s", error == NULL ? "" : error->message);
}

/* --- the memory of a ledger in memory --- */

static gsize
bytes_in_use (void)
{
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
}

/* A sanitizer replaces malloc(), so that there is nothing to count; valgrind counts nothing either. */
static gboolean
can_count_bytes (void)
{
  g_autofree void *block = g_malloc (1 << 16);
  gsize before = bytes_in_use ();
  g_autofree void *other = g_malloc (1 << 16);

  return !IS_SANITIZED && block != NULL && other != NULL && bytes_in_use () >= before + (1 << 16);
}

enum { N_PAIRS = 1000000, N_WARM_PAIRS = 20000 };

START_TEST (memory_does_not_grow_with_pairs_of_reserve_and_release)
{
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_open_memory (), "v6e 2x2 x64");
  guint step = can_count_bytes () ? (N_PAIRS - N_WARM_PAIRS) / 4 : 2000;
  gsize before, most = 0;

  make_pairs (ledger, N_WARM_PAIRS, NULL, NOW);
  before = bytes_in_use ();
  for (guint i = 0; i < 4; i++)
    {
      make_pairs (ledger, step, NULL, NOW + N_WARM_PAIRS);
      most = MAX (most, bytes_in_use ());
    }
  /* The number of entries that are kept varies by 4,096; an entry and its effect have about 300 bytes. */
  if (can_count_bytes ())
    ck_assert_msg (most < before + (4 << 20), "%" G_GSIZE_FORMAT " bytes more than the %" G_GSIZE_FORMAT " at first",
                   most - before, before);
  check_verified (ledger);
}
END_TEST

/* The journal of a ledger in memory and its readers. */
START_TEST (memory_keeps_the_last_entries)
{
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_open_memory (), "v6e 2x2 x4");
  g_autoptr (GError) error = NULL;
  guint64 most_kept = 0;

  for (guint i = 0; i < 60; i++)
    {
      guint64 last, first;
      g_autoptr (QuoitJournal) journal = NULL;
      g_autoptr (QuoitSnapshot) past = NULL;

      make_pairs (ledger, 173, NULL, NOW + i);
      last = last_seq (ledger);
      first = checkpoint_of (ledger);
      most_kept = MAX (most_kept, last - first);
      ck_assert_uint_ge (last - first, MIN (last, 4096));
      journal = quoit_ledger_read_journal (ledger, first, &error);
      ck_assert_ok (error);
      ck_assert_uint_eq (quoit_journal_get_n_entries (journal), last - first);
      ck_assert_uint_eq (quoit_journal_get_seq (journal, 0), first + 1);
      past = quoit_ledger_snapshot_at (ledger, first, &error);
      ck_assert_ok (error);
      ck_assert_uint_eq (quoit_snapshot_get_seq (past), first);
      check_verified (ledger);
    }
  ck_assert_uint_le (most_kept, 3 * 4096);
  ck_assert_uint_gt (checkpoint_of (ledger), 0);
  ck_assert_ptr_null (quoit_ledger_read_journal (ledger, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "a checkpoint replaced the entries");
  ck_assert_ptr_null (quoit_ledger_snapshot_at (ledger, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "a checkpoint replaced");
}
END_TEST

START_TEST (explicit_and_automatic_compaction_in_memory_combine)
{
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_open_memory (), "v6e 2x2 x4");

  for (guint i = 0; i < 30; i++)
    {
      uint64_t n_removed = 0;

      make_pairs (ledger, 800, NULL, NOW + i);
      ck_assert (
          i % 7 != 3
          || quoit_ledger_compact_journal (ledger, last_seq (ledger) + 1 - (i % 2) * 100, NOW, &n_removed, NULL));
      ck_assert (quoit_ledger_begin_batch (ledger, NULL));
      make_pairs (ledger, 50, NULL, NOW + i);
      if (i % 2 == 0)
        quoit_ledger_cancel_batch (ledger);
      else
        ck_assert (quoit_ledger_commit_batch (ledger, NULL));
      check_verified (ledger);
    }
}
END_TEST

START_TEST (memory_can_keep_all_entries)
{
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_open_memory (), "v6e 2x2 x4");
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) journal = NULL;

  ck_assert (quoit_ledger_set_keep (ledger, INT64_MAX, NOW, &error));
  make_pairs (ledger, 10000, NULL, NOW);
  journal = quoit_ledger_read_journal (ledger, 0, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_journal_get_n_entries (journal), 20002);
}
END_TEST

START_TEST (memory_keeps_entries_for_a_time)
{
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_open_memory (), "v6e 2x2 x4");
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) journal = NULL;

  ck_assert (quoit_ledger_set_keep (ledger, 20000, NOW, &error));
  make_pairs (ledger, 20000, NULL, NOW);
  ck_assert_uint_eq (checkpoint_of (ledger), 0);
  make_pairs (ledger, 40000, NULL, NOW + 20000);
  ck_assert_uint_gt (checkpoint_of (ledger), 0);
  journal = quoit_ledger_read_journal (ledger, checkpoint_of (ledger), &error);
  ck_assert_ok (error);
  ck_assert_int_le (quoit_journal_get_time_ms (journal, 0), NOW + 60000 - 20000);
  ck_assert_int_ge (quoit_journal_get_time_ms (journal, 0), NOW + 60000 - 3 * 20000);
  check_verified (ledger);
}
END_TEST

/* A key names its group also after the release, so that a retry makes no second group. */
START_TEST (records_with_keys_are_kept_until_they_are_too_old)
{
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_open_memory (), "v6e 2x2 x4");
  g_autoptr (QuoitRequest) retried = request_of ("g", "a-0");
  g_autoptr (QuoitGroup) same = NULL, other = NULL;
  g_autoptr (GError) error = NULL;
  gsize before, after;

  make_pairs (ledger, 10000, "a", NOW);
  ck_assert_uint_eq (n_records (ledger), 10000);
  same = quoit_ledger_reserve (ledger, retried, NOW + 10000, NULL, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_group_get_id (same), 1);

  /* From here on, a record is kept for 5 s, in which 5,000 groups end. */
  ck_assert (quoit_ledger_set_keep (ledger, 5000, NOW + 10000, &error));
  make_pairs (ledger, 30000, "b", NOW + 10000);
  ck_assert_uint_le (n_records (ledger), 5000 + 3 * 4096);
  before = bytes_in_use ();
  make_pairs (ledger, 60000, "c", NOW + 40000);
  after = bytes_in_use ();
  ck_assert_uint_le (n_records (ledger), 5000 + 3 * 4096);
  if (can_count_bytes ())
    ck_assert_uint_lt (after, before + (8 << 20));
  other = quoit_ledger_reserve (ledger, retried, NOW + 100000, NULL, &error);
  ck_assert_ok (error);
  ck_assert_uint_gt (quoit_group_get_id (other), 1);
  check_verified (ledger);
}
END_TEST

/* --- a ledger in a file --- */

START_TEST (keep_is_a_part_of_the_ledger)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_create (paths.path, 0, &error), "v6e 2x2 x4");
  g_autoptr (QuoitLedger) other = quoit_ledger_open (paths.path, 0, &error), again = NULL, restored = NULL;
  g_autoptr (QuoitJournal) journal = NULL;
  g_autofree char *copy = g_build_filename (paths.dir, "copy.db", NULL), *text = NULL;
  guint64 seq = last_seq (ledger);

  ck_assert_int_eq (keep_of (ledger), 0);
  ck_assert (quoit_ledger_set_keep (ledger, 7 * DAY_MS, NOW, &error));
  ck_assert (quoit_ledger_set_keep (ledger, 7 * DAY_MS, NOW, &error)); /* already so: no entry */
  ck_assert_uint_eq (last_seq (ledger), seq + 1);
  ck_assert (!quoit_ledger_set_keep (ledger, -1, NOW, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "keep '-1' ms: expected 0 or more");
  ck_assert (!quoit_ledger_set_keep (ledger, 1, NOW / 1000, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "milliseconds");
  ck_assert_int_eq (keep_of (ledger), 7 * DAY_MS);
  journal = quoit_ledger_read_journal (ledger, seq, &error);
  ck_assert_ok (error);
  ck_assert_str_eq (quoit_journal_get_verb (journal, 0), "set-keep");
  text = quoit_journal_dup_effect_text (journal, 0, 0);
  ck_assert_msg (strstr (text, "entries kept: 604800 s") != NULL, "%s", text);

  ck_assert (quoit_ledger_refresh (other, &error));
  ck_assert_int_eq (keep_of (other), 7 * DAY_MS);
  ck_assert (quoit_ledger_compact_journal (ledger, last_seq (ledger) + 1, NOW, NULL, &error));
  check_verified (ledger);
  again = quoit_ledger_open (paths.path, 0, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (keep_of (again), 7 * DAY_MS);
  ck_assert (quoit_ledger_set_max_clock_jump (again, DAY_MS * 9, NOW, &error));
  ck_assert_int_eq (keep_of (again), 7 * DAY_MS);

  ck_assert (quoit_ledger_backup (again, copy, &error));
  g_clear_pointer (&again, quoit_ledger_unref);
  g_clear_pointer (&other, quoit_ledger_unref);
  g_clear_pointer (&ledger, quoit_ledger_unref);
  ck_assert_msg (quoit_ledger_restore (paths.path, copy, 0, NULL, NOW, &error), "%s",
                 error == NULL ? "" : error->message);
  restored = quoit_ledger_open (paths.path, 0, &error);
  ck_assert_int_eq (keep_of (restored), 7 * DAY_MS);
  check_verified (restored);
}
END_TEST

START_TEST (trim_removes_old_entries_and_records)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *made = _i == 0 ? quoit_ledger_create (paths.path, 0, &error) : quoit_ledger_open_memory ();
  g_autoptr (QuoitLedger) ledger = with_fleet (made, "v6e 2x2 x4");
  g_autoptr (QuoitRequest) old = request_of ("g", "a-7"), recent = request_of ("g", "b-7");
  g_autoptr (QuoitGroup) kept = NULL, made_again = NULL;
  uint64_t n_entries = 1;
  uint32_t n_groups = 1;

  make_pairs_in_batches (ledger, 100, "a", NOW);
  make_pairs_in_batches (ledger, 100, "b", NOW + 1000);
  ck_assert (quoit_ledger_trim (ledger, NOW + 1100, &n_entries, &n_groups, &error));
  ck_assert_uint_eq (n_entries + n_groups, 0);
  ck_assert (quoit_ledger_set_keep (ledger, 1000, NOW + 1100, &error));
  ck_assert (!quoit_ledger_trim (ledger, NOW / 1000, &n_entries, &n_groups, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "milliseconds");
  ck_assert (quoit_ledger_begin_batch (ledger, &error));
  ck_assert (!quoit_ledger_trim (ledger, NOW + 1500, &n_entries, &n_groups, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "in a batch");
  quoit_ledger_cancel_batch (ledger);
  ck_assert_uint_eq (checkpoint_of (ledger), 0);
  ck_assert_uint_eq (n_records (ledger), 200);

  ck_assert_msg (quoit_ledger_trim (ledger, NOW + 1500, &n_entries, &n_groups, &error), "%s", error->message);
  ck_assert_uint_eq (n_entries, 201); /* the import, and two for each group */
  ck_assert_uint_eq (n_groups, 100);
  ck_assert_uint_eq (checkpoint_of (ledger), 201);
  ck_assert_uint_eq (n_records (ledger), 100);
  check_verified (ledger);
  ck_assert (quoit_ledger_trim (ledger, NOW + 1500, &n_entries, &n_groups, &error));
  ck_assert_uint_eq (n_entries + n_groups, 0);

  kept = quoit_ledger_reserve (ledger, recent, NOW + 1500, NULL, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_group_get_state (kept), QUOIT_GROUP_REMOVED);
  made_again = quoit_ledger_reserve (ledger, old, NOW + 1500, NULL, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_group_get_state (made_again), QUOIT_GROUP_RESERVED);
  check_verified (ledger);
}
END_TEST

START_TEST (trim_forgets_more_records_than_one_transaction)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitLedger) ledger = with_fleet (quoit_ledger_create (paths.path, 0, &error), "v6e 2x2 x4");
  g_autoptr (QuoitJournal) journal = NULL;
  uint32_t n_groups = 0;
  guint64 seq;

  make_pairs_in_batches (ledger, 9000, "a", NOW);
  ck_assert (quoit_ledger_set_keep (ledger, 1, NOW + 9000, &error));
  seq = last_seq (ledger);
  ck_assert (quoit_ledger_trim (ledger, NOW + 9500, NULL, &n_groups, &error));
  ck_assert_uint_eq (n_groups, 9000);
  ck_assert_uint_eq (n_records (ledger), 0);
  ck_assert_uint_eq (last_seq (ledger), seq + 3);
  journal = quoit_ledger_read_journal (ledger, seq, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_journal_get_n_effects (journal, 0), 4096);
  check_verified (ledger);
}
END_TEST

/* Calls that reserve, renew or release never trim. */
START_TEST (file_trims_itself_after_an_import_and_when_it_is_closed)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = with_fleet (quoit_ledger_create (paths.path, 0, &error), "v6e 2x2 x4");
  g_autoptr (QuoitLedger) other = NULL;
  uint64_t checkpoint;

  ck_assert (quoit_ledger_set_keep (ledger, 1000, NOW, &error));
  make_pairs_in_batches (ledger, 2000, NULL, NOW);
  make_pairs (ledger, 2, NULL, NOW + 100000);
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 2x2 x5", NULL, NOW + 100000, &error));
  ck_assert_uint_eq (checkpoint_of (ledger), 0); /* too few entries are old */

  make_pairs_in_batches (ledger, 100, NULL, NOW + 100000);
  make_pairs (ledger, 2, NULL, NOW + 200000);
  ck_assert_uint_eq (checkpoint_of (ledger), 0); /* enough, but no call may trim */
  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, "v6e 2x2 x6", NULL, NOW + 200000, &error));
  ck_assert_ok (error);
  checkpoint = checkpoint_of (ledger);
  ck_assert_uint_gt (checkpoint, 4096);
  check_verified (ledger);

  make_pairs_in_batches (ledger, 2200, NULL, NOW + 300000);
  make_pairs (ledger, 2, NULL, NOW + 400000);
  other = quoit_ledger_open (paths.path, 0, &error);
  ck_assert_ok (error);
  quoit_ledger_unref (g_steal_pointer (&other)); /* it has changed nothing */
  ck_assert_uint_eq (checkpoint_of (ledger), checkpoint);
  quoit_ledger_unref (ledger);
  other = quoit_ledger_open (paths.path, 0, &error);
  ck_assert_uint_gt (checkpoint_of (other), checkpoint + 4096);
  check_verified (other);
}
END_TEST

START_TEST (closing_does_not_wait_for_a_writer)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = with_fleet (quoit_ledger_create (paths.path, 3600000, &error), "v6e 2x2 x4");
  g_autoptr (QuoitLedger) writer = NULL;

  ck_assert (quoit_ledger_set_keep (ledger, 1000, NOW, &error));
  make_pairs_in_batches (ledger, 2200, NULL, NOW);
  make_pairs (ledger, 1, NULL, NOW + 100000);
  writer = quoit_ledger_open (paths.path, 0, &error);
  ck_assert (quoit_ledger_begin_batch (writer, &error));
  quoit_ledger_unref (ledger);
  ck_assert (quoit_ledger_commit_batch (writer, &error));
  ck_assert_uint_eq (checkpoint_of (writer), 0);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("upkeep");
  TCase *tcase = tcase_create ("upkeep");

  tcase_add_checked_fixture (tcase, set_up, tear_down);
  tcase_set_timeout (tcase, 300);
  tcase_add_test (tcase, memory_does_not_grow_with_pairs_of_reserve_and_release);
  tcase_add_test (tcase, memory_keeps_the_last_entries);
  tcase_add_test (tcase, explicit_and_automatic_compaction_in_memory_combine);
  tcase_add_test (tcase, memory_can_keep_all_entries);
  tcase_add_test (tcase, memory_keeps_entries_for_a_time);
  tcase_add_test (tcase, records_with_keys_are_kept_until_they_are_too_old);
  tcase_add_test (tcase, keep_is_a_part_of_the_ledger);
  tcase_add_loop_test (tcase, trim_removes_old_entries_and_records, 0, 2);
  tcase_add_test (tcase, trim_forgets_more_records_than_one_transaction);
  tcase_add_test (tcase, file_trims_itself_after_an_import_and_when_it_is_closed);
  tcase_add_test (tcase, closing_does_not_wait_for_a_writer);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
