/* SPDX-License-Identifier: Apache-2.0 */
/* Ledgers in memory that a caller stores elsewhere: entries and snapshots as bytes. */
#include <quoit/quoit.h>

#include <string.h>

#include "../follower.h"
#include "suite.h"
#include "test-paths.h"
#include "../shortcuts.h"

#define NOW G_GINT64_CONSTANT (1767225600000)

static QuoitLedger *
open_at (const QuoitSnapshot *snapshot)
{
  g_autoptr (GError) error = NULL;
  QuoitLedger *ledger = quoit_ledger_open_snapshot (snapshot, &error);

  ck_assert_ok (error);
  return ledger;
}

static void
import (QuoitLedger *ledger, const char *text)
{
  g_autoptr (GError) error = NULL;

  quoit_import_free (import_as (ledger, QUOIT_SOURCE_KIND_FLEET, text, NULL, NOW, &error));
  ck_assert_ok (error);
}

/* NULL: refused. */
static QuoitGroup *
reserve (QuoitLedger *ledger, const char *name, const char *key, GError **error)
{
  g_autoptr (QuoitRequest) request = quoit_request_new (name, NULL);

  ck_assert (quoit_request_set_accelerator (request, "v6e", NULL));
  ck_assert (quoit_request_set_topology (request, "2x2", NULL));
  ck_assert (quoit_request_set_chips_per_host (request, 4, NULL));
  ck_assert (quoit_request_set_slices (request, 1, NULL));
  if (key != NULL)
    ck_assert (quoit_request_set_key (request, key, NULL));
  return quoit_ledger_reserve (ledger, request, NOW, NULL, error);
}

static void
reserve_well (QuoitLedger *ledger, const char *name)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitGroup) group = reserve (ledger, name, NULL, &error);

  ck_assert_ok (error);
  ck_assert_ptr_nonnull (group);
}

/* Bytes of an entry or of a snapshot. */
typedef struct {
  guint8 *data;
  size_t length;
} Bytes;

static void
bytes_clear (Bytes *bytes)
{
  g_free (bytes->data);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Bytes, bytes_clear)

static Bytes
state_of (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);
  Bytes bytes;

  bytes.data = quoit_snapshot_dup_bytes (snapshot, &bytes.length);
  return bytes;
}

static Bytes
entry_of (QuoitLedger *ledger, guint64 seq)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (ledger, seq - 1, &error);
  Bytes bytes;

  ck_assert_ok (error);
  bytes.data = quoit_journal_dup_entry (journal, 0, &bytes.length, &error);
  ck_assert_ok (error);
  return bytes;
}

static void
apply_well (QuoitLedger *ledger, Bytes bytes)
{
  g_autoptr (GError) error = NULL;

  ck_assert_msg (quoit_ledger_apply_entry (ledger, bytes.data, bytes.length, &error), "%s", error->message);
}

/* The entry is refused, outside of a batch and in one, and nothing has changed. */
static void
check_refused (QuoitLedger *ledger, Bytes bytes, QuoitErrorCode code, const char *part)
{
  g_auto (Bytes) before = state_of (ledger), after = { 0 };
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (QuoitJournal) batch = NULL;

      if (i == 1)
        ck_assert (quoit_ledger_begin_batch (ledger, NULL));
      ck_assert (!quoit_ledger_apply_entry (ledger, bytes.data, bytes.length, &error));
      ck_assert_refused (error, code, part);
      if (i == 0)
        continue;
      batch = quoit_ledger_read_batch (ledger, NULL);
      ck_assert_uint_eq (quoit_journal_get_n_entries (batch), 0);
      ck_assert (quoit_ledger_commit_batch (ledger, NULL));
    }
  after = state_of (ledger);
  ck_assert_mem_eq (before.data, after.data, before.length);
}

static char *
link_of (QuoitLedger *ledger)
{
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (ledger);

  return quoit_snapshot_dup_link (snapshot);
}

static gpointer
link_in_thread (gpointer ledger)
{
  return link_of (ledger);
}

/* Two ledgers with the same history: an import, and a group "one". */
typedef struct {
  QuoitLedger *leader, *follower;
} Pair;

static Pair
pair_new (void)
{
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  Pair pair = { .leader = open_at (NULL) };

  import (pair.leader, "v6e 2x2 x4");
  reserve_well (pair.leader, "one");
  snapshot = quoit_ledger_snapshot (pair.leader);
  pair.follower = follower_open (snapshot);
  return pair;
}

static void
pair_clear (Pair *pair)
{
  quoit_ledger_unref (pair->leader);
  quoit_ledger_unref (pair->follower);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pair, pair_clear)

/* --- batches --- */

START_TEST (entries_of_a_batch_can_be_stored_before_its_commit)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) batch = NULL, journal = NULL;
  g_autofree char *before = link_of (pair.leader), *stored = NULL, *after = NULL, *unread = NULL, *none = NULL;

  ck_assert (quoit_ledger_begin_batch (pair.leader, NULL));
  reserve_well (pair.leader, "two");
  ck_assert (quoit_ledger_release (pair.leader, "one", NOW, NULL));
  batch = quoit_ledger_read_batch (pair.leader, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_journal_get_n_entries (batch), 2);
  ck_assert_uint_eq (quoit_journal_get_seq (batch, 0), 3);
  ck_assert_str_eq (quoit_journal_get_verb (batch, 1), "release");
  stored = quoit_journal_dup_link (batch, 1);
  /* Other threads see nothing of it yet, and this one no link. */
  unread = g_thread_join (g_thread_new ("reader", link_in_thread, pair.leader));
  ck_assert_str_eq (unread, before);
  none = link_of (pair.leader);
  ck_assert_str_eq (none, "");
  follower_apply (pair.follower, batch);
  ck_assert (quoit_ledger_commit_batch (pair.leader, NULL));
  after = link_of (pair.leader);
  ck_assert_str_eq (after, stored);
  journal = quoit_ledger_read_journal (pair.leader, 2, NULL);
  for (uint32_t i = 0; i < 2; i++)
    {
      g_auto (Bytes) one = { 0 }, other = { 0 };

      one.data = quoit_journal_dup_entry (batch, i, &one.length, NULL);
      other.data = quoit_journal_dup_entry (journal, i, &other.length, NULL);
      ck_assert_uint_eq (one.length, other.length);
      ck_assert_mem_eq (one.data, other.data, one.length);
    }
  ck_assert (quoit_ledger_verify (pair.follower, NULL) && quoit_ledger_verify (pair.leader, NULL));
}
END_TEST

START_TEST (cancelled_batch_leaves_nothing_and_the_entry_of_another_can_follow)
{
  g_auto (Pair) pair = pair_new ();
  g_auto (Bytes) before = state_of (pair.follower), after = { 0 }, entry = { 0 };
  g_autofree char *one = NULL, *other = NULL;

  /* Both reserve; the leader is faster. */
  ck_assert (quoit_ledger_begin_batch (pair.follower, NULL));
  reserve_well (pair.follower, "mine");
  quoit_ledger_cancel_batch (pair.follower);
  after = state_of (pair.follower);
  ck_assert_mem_eq (before.data, after.data, before.length);
  reserve_well (pair.leader, "theirs");
  entry = entry_of (pair.leader, 3);
  apply_well (pair.follower, entry);
  one = link_of (pair.leader);
  other = link_of (pair.follower);
  ck_assert_str_eq (one, other);
}
END_TEST

START_TEST (refusal_and_repeated_call_have_no_entries)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitJournal) batch = NULL;
  g_autoptr (QuoitGroup) first = reserve (pair.leader, "kept", "k", &error), again = NULL;

  ck_assert_ok (error);
  ck_assert (quoit_ledger_begin_batch (pair.leader, NULL));
  again = reserve (pair.leader, "kept", "k", &error);
  ck_assert_ok (error);
  ck_assert_str_eq (quoit_group_get_handle (again), quoit_group_get_handle (first));
  ck_assert_ptr_null (reserve (pair.leader, "one", NULL, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "one");
  batch = quoit_ledger_read_batch (pair.leader, &error);
  ck_assert_uint_eq (quoit_journal_get_n_entries (batch), 0);
  quoit_ledger_cancel_batch (pair.leader);
}
END_TEST

START_TEST (mark_of_a_batch_takes_entries_back)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (QuoitJournal) batch = NULL;
  g_autofree char *one = NULL, *other = NULL;
  uint32_t mark;

  ck_assert (quoit_ledger_begin_batch (pair.leader, NULL));
  reserve_well (pair.leader, "two");
  mark = quoit_ledger_mark_batch (pair.leader, NULL);
  reserve_well (pair.leader, "three");
  ck_assert (quoit_ledger_roll_back_batch (pair.leader, mark, NULL));
  reserve_well (pair.leader, "four");
  batch = quoit_ledger_read_batch (pair.leader, NULL);
  ck_assert_uint_eq (quoit_journal_get_n_entries (batch), 2);
  follower_apply (pair.follower, batch);
  ck_assert (quoit_ledger_commit_batch (pair.leader, NULL));
  one = link_of (pair.leader);
  other = link_of (pair.follower);
  ck_assert_str_eq (one, other);
}
END_TEST

START_TEST (batch_can_only_be_read_by_its_thread)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_ledger_read_batch (pair.leader, &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "in no batch");
}
END_TEST

/* --- entries that are refused --- */

START_TEST (entry_must_be_the_next_one_of_the_same_history)
{
  g_auto (Pair) pair = pair_new ();
  g_auto (Pair) other = pair_new ();
  g_auto (Bytes) first = { 0 }, second = { 0 }, foreign = { 0 };
  g_autoptr (QuoitSnapshot) snapshot = quoit_ledger_snapshot (pair.follower);
  QuoitLedger *twin = follower_open (snapshot);

  reserve_well (pair.leader, "two");
  reserve_well (pair.leader, "three");
  first = entry_of (pair.leader, 3);
  second = entry_of (pair.leader, 4);
  check_refused (pair.follower, second, QUOIT_ERROR_CONFLICT,
                 "entry 4: entries before it are missing: expected entry 3");
  apply_well (pair.follower, first);
  check_refused (pair.follower, first, QUOIT_ERROR_CONFLICT, "entry 3: the ledger is at entry 3 already");
  reserve_well (other.leader, "two");
  foreign = entry_of (other.leader, 3);
  check_refused (twin, foreign, QUOIT_ERROR_CONFLICT, "another ledger");
  /* The same ledger at the same entry, but with another entry 3. */
  reserve_well (twin, "2");
  check_refused (twin, second, QUOIT_ERROR_CONFLICT, "histories differ");
  quoit_ledger_unref (twin);
}
END_TEST

START_TEST (ledgers_that_do_not_link_are_refused)
{
  g_auto (Pair) pair = pair_new ();
  g_auto (TestPaths) paths = test_paths_new ();
  g_auto (Bytes) entry = entry_of (pair.leader, 2);
  g_autoptr (GError) error = NULL;
  QuoitLedger *plain = quoit_ledger_open_memory (), *file = quoit_ledger_create (paths.path, 0, &error);
  g_autoptr (QuoitJournal) journal = NULL;
  g_autofree char *link = NULL, *none = link_of (plain);
  size_t n_bytes;

  ck_assert (!quoit_ledger_apply_entry (plain, entry.data, entry.length, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "opened from a snapshot");
  ck_assert (!quoit_ledger_apply_entry (file, entry.data, entry.length, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "stores its entries itself");
  ck_assert_ptr_null (quoit_ledger_read_batch (file, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "stores its entries itself");
  import (plain, "v6e 2x2 x1");
  journal = quoit_ledger_read_journal (plain, 0, NULL);
  ck_assert_ptr_null (quoit_journal_dup_entry (journal, 0, &n_bytes, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "opened from a snapshot");
  link = quoit_journal_dup_link (journal, 0);
  ck_assert_str_eq (link, "");
  ck_assert_str_eq (none, "");
  quoit_ledger_unref (plain);
  quoit_ledger_unref (file);
}
END_TEST

/* Every prefix and every change of one byte is refused. */
static void
check_damage_to_entry (QuoitLedger *ledger, Bytes entry)
{
  g_autofree guint8 *copy = g_memdup2 (entry.data, entry.length);
  g_auto (Bytes) before = state_of (ledger), after = { 0 };
  guint n_codes[QUOIT_ERROR_FENCED + 1] = { 0 };

  for (size_t i = 0; i < entry.length; i++)
    {
      g_autoptr (GError) error = NULL, cut = NULL;
      g_autofree guint8 *prefix = g_memdup2 (entry.data, i);

      ck_assert_msg (!quoit_ledger_apply_entry (ledger, prefix == NULL ? copy : prefix, i, &cut), "prefix %zu", i);
      for (guint bit = 0; bit < 8; bit++)
        {
          copy[i] = (guint8) (entry.data[i] ^ 1u << bit);
          ck_assert_msg (!quoit_ledger_apply_entry (ledger, copy, entry.length, &error), "byte %zu", i);
          n_codes[error->code]++;
          g_clear_error (&error);
        }
      copy[i] = (guint8) ~entry.data[i];
      ck_assert_msg (!quoit_ledger_apply_entry (ledger, copy, entry.length, &error), "byte %zu", i);
      copy[i] = entry.data[i];
    }
  after = state_of (ledger);
  ck_assert_mem_eq (before.data, after.data, before.length);
  /* The text before the version, the version, the identity, and all the rest. */
  ck_assert_uint_eq (n_codes[QUOIT_ERROR_INVALID], 12 * 8);
  ck_assert_uint_eq (n_codes[QUOIT_ERROR_VERSION], 4 * 8);
  ck_assert_uint_eq (n_codes[QUOIT_ERROR_CONFLICT], 16 * 8);
  ck_assert_uint_eq (n_codes[QUOIT_ERROR_DAMAGED], (entry.length - 32) * 8);
  apply_well (ledger, entry);
}

START_TEST (damaged_entries_are_refused)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (GError) error = NULL;

  quoit_ledger_set_actor (pair.leader, "ana");
  reserve_well (pair.leader, "two");
  ck_assert (quoit_ledger_release (pair.leader, "one", NOW, NULL));
  ck_assert (quoit_ledger_set_node_state (pair.leader, "v6e-2x2-3-0", QUOIT_NODE_DEAD, NOW, &error));
  quoit_ledger_set_actor (pair.leader, NULL);
  ck_assert (quoit_ledger_set_keep (pair.leader, 1000000, NOW, &error));
  import (pair.leader, "v6e 2x2 x4; v5p 2x2x4 x2");
  for (guint64 seq = 3; seq <= 7; seq++)
    {
      g_auto (Bytes) entry = entry_of (pair.leader, seq);

      check_damage_to_entry (pair.follower, entry);
    }
}
END_TEST

START_TEST (foreign_bytes_are_refused)
{
  static const char *const texts[] = { "",
                                       "q",
                                       "quoit entry",
                                       "quoit entry 1\n",
                                       "SQLite format 3",
                                       "quoit snapshot 1 and so on, a long text, which is no entry at all" };
  g_auto (Pair) pair = pair_new ();
  g_auto (Bytes) state = state_of (pair.leader), entry = entry_of (pair.leader, 2);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (texts); i++)
    {
      ck_assert (!quoit_ledger_apply_entry (pair.follower, (const guint8 *) texts[i], strlen (texts[i]), &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, "no entry");
    }
  ck_assert (!quoit_ledger_apply_entry (pair.follower, state.data, state.length, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "no entry");
  ck_assert_ptr_null (quoit_snapshot_from_bytes (entry.data, entry.length, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "no snapshot");
  ck_assert_ptr_null (quoit_snapshot_from_bytes (entry.data, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "no snapshot");
}
END_TEST

START_TEST (entries_and_snapshots_of_a_later_version_are_refused)
{
  g_auto (Pair) pair = pair_new ();
  g_auto (Bytes) state = state_of (pair.leader), entry = { 0 };
  g_autoptr (GError) error = NULL;

  reserve_well (pair.leader, "two");
  entry = entry_of (pair.leader, 3);
  entry.data[strlen ("quoit entry ")] = '2';
  check_refused (pair.follower, entry, QUOIT_ERROR_VERSION, "use a newer quoit");
  state.data[strlen ("quoit snapshot ")] = '2';
  ck_assert_ptr_null (quoit_snapshot_from_bytes (state.data, state.length, &error));
  ck_assert_refused (error, QUOIT_ERROR_VERSION, "use a newer quoit");
}
END_TEST

/* --- snapshots --- */

START_TEST (damaged_snapshots_are_refused)
{
  g_auto (Pair) pair = pair_new ();
  g_auto (Bytes) state = { 0 };
  g_autofree guint8 *copy = NULL;
  guint n_codes[QUOIT_ERROR_FENCED + 1] = { 0 };

  ck_assert (quoit_ledger_set_node_state (pair.leader, "v6e-2x2-3-0", QUOIT_NODE_DEAD, NOW, NULL));
  state = state_of (pair.leader);
  copy = g_memdup2 (state.data, state.length);
  for (size_t i = 0; i < state.length; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autofree guint8 *prefix = g_memdup2 (state.data, i);

      ck_assert_ptr_null (quoit_snapshot_from_bytes (prefix == NULL ? copy : prefix, i, NULL));
      for (guint bit = 0; bit < 8; bit++)
        {
          copy[i] = (guint8) (state.data[i] ^ 1u << bit);
          ck_assert_msg (quoit_snapshot_from_bytes (copy, state.length, &error) == NULL, "byte %zu", i);
          n_codes[error->code]++;
          g_clear_error (&error);
        }
      copy[i] = state.data[i];
    }
  ck_assert_uint_eq (n_codes[QUOIT_ERROR_INVALID], 15 * 8);
  ck_assert_uint_eq (n_codes[QUOIT_ERROR_VERSION], 1 * 8);
  ck_assert_uint_eq (n_codes[QUOIT_ERROR_DAMAGED], (state.length - 16) * 8);
}
END_TEST

START_TEST (snapshot_of_bytes_keeps_its_time)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (QuoitSnapshot) now = quoit_ledger_snapshot (pair.leader), later = NULL, copy = NULL;
  g_auto (Bytes) bytes = { 0 }, again = { 0 };
  g_autoptr (GError) error = NULL;

  later = quoit_snapshot_as_of (now, NOW + 1000, &error);
  ck_assert_ok (error);
  bytes.data = quoit_snapshot_dup_bytes (later, &bytes.length);
  copy = quoit_snapshot_from_bytes (bytes.data, bytes.length, &error);
  ck_assert_ok (error);
  again.data = quoit_snapshot_dup_bytes (copy, &again.length);
  ck_assert_uint_eq (bytes.length, again.length);
  ck_assert_mem_eq (bytes.data, again.data, bytes.length);
  g_free (bytes.data);
  bytes.data = quoit_snapshot_dup_bytes (now, &bytes.length);
  ck_assert (bytes.length != again.length || memcmp (bytes.data, again.data, bytes.length) != 0);
}
END_TEST

START_TEST (snapshot_of_a_fork_begins_a_history_of_its_own)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (QuoitSnapshot) now = quoit_ledger_snapshot (pair.leader), there = NULL;
  QuoitFork *fork = quoit_snapshot_fork (now);
  g_autofree char *link = NULL, *begun = NULL, *identity = NULL, *other = NULL;
  g_autoptr (GError) error = NULL;
  g_auto (Bytes) entry = { 0 };
  QuoitLedger *ledger;

  ck_assert (quoit_fork_release (fork, "one", NOW, &error));
  there = quoit_fork_snapshot (fork);
  quoit_fork_free (fork);
  link = quoit_snapshot_dup_link (there);
  ck_assert_str_eq (link, "");
  ledger = follower_open (there);
  begun = link_of (ledger);
  ck_assert_uint_eq (strlen (begun), 64);
  identity = quoit_ledger_dup_identity (ledger);
  other = quoit_ledger_dup_identity (pair.leader);
  ck_assert_str_ne (identity, other);
  ck_assert_uint_eq (strlen (identity), 32);
  reserve_well (ledger, "two");
  entry = entry_of (ledger, 4);
  ck_assert (quoit_ledger_release (pair.leader, "one", NOW, NULL));
  check_refused (pair.leader, entry, QUOIT_ERROR_CONFLICT, "another ledger");
  follower_replay (ledger);
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (new_ledgers_have_different_identities)
{
  QuoitLedger *one = open_at (NULL), *other = open_at (NULL);
  g_autofree char *identity = quoit_ledger_dup_identity (one), *second = quoit_ledger_dup_identity (other);

  ck_assert_uint_eq (strlen (identity), 32);
  ck_assert_str_ne (identity, second);
  quoit_ledger_unref (one);
  quoit_ledger_unref (other);
}
END_TEST

/* --- other engines --- */

START_TEST (ledger_in_memory_follows_one_in_a_file)
{
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  QuoitLedger *file = quoit_ledger_create (paths.path, 0, &error);
  g_autofree char *identity = NULL, *copied = NULL, *link = NULL, *second = NULL;
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  QuoitLedger *follower, *opened;

  import (file, "v6e 2x2 x4");
  reserve_well (file, "one");
  follower_replay (file);
  ck_assert (quoit_ledger_compact_journal (file, 2, NOW, NULL, NULL));
  reserve_well (file, "two");
  follower_replay (file);
  snapshot = quoit_ledger_snapshot (file);
  follower = follower_open (snapshot);
  identity = quoit_ledger_dup_identity (file);
  copied = quoit_ledger_dup_identity (follower);
  ck_assert_str_eq (identity, copied);
  link = link_of (file);
  quoit_ledger_unref (file);
  opened = quoit_ledger_open (paths.path, 0, &error);
  second = link_of (opened);
  ck_assert_str_eq (link, second);
  quoit_ledger_unref (opened);
  quoit_ledger_unref (follower);
}
END_TEST

START_TEST (ledger_with_links_can_be_copied_to_a_file)
{
  g_auto (Pair) pair = pair_new ();
  g_auto (TestPaths) paths = test_paths_new ();
  g_autoptr (GError) error = NULL;
  QuoitLedger *copy, *plain = quoit_ledger_open_memory ();
  QuoitLedger *both[] = { pair.leader, pair.follower };
  g_autofree char *other = NULL;

  /* The journal of the leader begins with entry 1, and that of the follower with a checkpoint. */
  for (guint i = 0; i < G_N_ELEMENTS (both); i++)
    {
      g_autoptr (QuoitSnapshot) here = NULL, there = NULL;
      const char *path = i == 0 ? paths.path : paths.copy;

      reserve_well (both[i], "two");
      ck_assert_msg (quoit_ledger_copy (both[i], path, &error), "%s", error->message);
      copy = quoit_ledger_open (path, 0, &error);
      ck_assert_ok (error);
      here = quoit_ledger_snapshot (both[i]);
      there = quoit_ledger_snapshot (copy);
      follower_compare (here, there);
      follower_replay (copy);
      quoit_ledger_unref (copy);
    }
  other = g_strconcat (paths.path, "-other", NULL);
  ck_assert (!quoit_ledger_copy (plain, other, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "no database");
  ck_assert (!g_file_test (other, G_FILE_TEST_EXISTS));
  quoit_ledger_unref (plain);
}
END_TEST

START_TEST (dropped_and_compacted_entries_leave_the_links)
{
  QuoitLedger *ledger = open_at (NULL);
  g_autoptr (GError) error = NULL;
  uint64_t checkpoint;

  import (ledger, "v6e 2x2 x4");
  for (guint i = 0; i < 9000; i++)
    ck_assert (quoit_ledger_set_node_state (ledger, "v6e-2x2-0-0", i % 2 == 0 ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE, NOW,
                                            &error));
  ck_assert (quoit_ledger_read_checkpoint (ledger, &checkpoint, NULL, NULL));
  ck_assert_uint_gt (checkpoint, 0);
  follower_replay (ledger);
  ck_assert (quoit_ledger_compact_journal (ledger, 8000, NOW, NULL, &error));
  follower_replay (ledger);
  quoit_ledger_unref (ledger);
}
END_TEST

START_TEST (past_states_have_links)
{
  g_auto (Pair) pair = pair_new ();
  g_autoptr (QuoitSnapshot) empty = quoit_ledger_snapshot_at (pair.leader, 0, NULL), first = NULL;
  g_autofree char *one = NULL, *other = NULL;
  g_autoptr (QuoitJournal) journal = quoit_ledger_read_journal (pair.leader, 0, NULL);
  QuoitLedger *follower = follower_open (empty);

  follower_apply (follower, journal);
  first = quoit_ledger_snapshot_at (pair.leader, 1, NULL);
  one = quoit_snapshot_dup_link (first);
  other = quoit_journal_dup_link (journal, 0);
  ck_assert_str_eq (one, other);
  quoit_ledger_unref (follower);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("own-store");
  TCase *tcase = tcase_create ("own-store");

  tcase_set_timeout (tcase, 60);
  tcase_add_test (tcase, entries_of_a_batch_can_be_stored_before_its_commit);
  tcase_add_test (tcase, cancelled_batch_leaves_nothing_and_the_entry_of_another_can_follow);
  tcase_add_test (tcase, refusal_and_repeated_call_have_no_entries);
  tcase_add_test (tcase, mark_of_a_batch_takes_entries_back);
  tcase_add_test (tcase, batch_can_only_be_read_by_its_thread);
  tcase_add_test (tcase, entry_must_be_the_next_one_of_the_same_history);
  tcase_add_test (tcase, ledgers_that_do_not_link_are_refused);
  tcase_add_test (tcase, damaged_entries_are_refused);
  tcase_add_test (tcase, foreign_bytes_are_refused);
  tcase_add_test (tcase, entries_and_snapshots_of_a_later_version_are_refused);
  tcase_add_test (tcase, damaged_snapshots_are_refused);
  tcase_add_test (tcase, snapshot_of_bytes_keeps_its_time);
  tcase_add_test (tcase, snapshot_of_a_fork_begins_a_history_of_its_own);
  tcase_add_test (tcase, new_ledgers_have_different_identities);
  tcase_add_test (tcase, ledger_in_memory_follows_one_in_a_file);
  tcase_add_test (tcase, ledger_with_links_can_be_copied_to_a_file);
  tcase_add_test (tcase, dropped_and_compacted_entries_leave_the_links);
  tcase_add_test (tcase, past_states_have_links);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
