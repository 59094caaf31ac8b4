/* SPDX-License-Identifier: Apache-2.0 */
/* Entries and snapshots with valid checksums that quoit cannot have written: each is refused, and changes nothing. */
#include <sys/resource.h>
#include <unistd.h>

#include "../sanitized.h"
#include "../seal-snapshot.h"
#include "store-fixture.h"
#include "store/codec.h"
#include "store/entry-bytes.h"
#include "store/store-private.h"

/* A ledger of store-fixture.h whose entries have links. */
static QuoitStore *
new_store (void)
{
  g_autoptr (GError) error = NULL;
  QuoitStore *store = quoit_store_open_fleet (NULL, &error);

  ck_assert_ok (error);
  fill (store);
  return store;
}

/* What is wrong with an entry. */
typedef struct {
  const char *what;
  void (*add_effects) (QuoitEntry *entry, const QuoitFleet *fleet); /* NULL: releases group "train" */
  void (*change) (QuoitEntry *entry);                               /* changes what the effects do not have; NULL */
  QuoitErrorCode code;
  const char *message; /* a part of it */
} Forgery;

/* Gives the entry the link of its changed columns. */
static void
link_again (QuoitEntry *entry)
{
  QuoitChainRow row = quoit_entry_row (entry);

  memcpy (entry->link->chain, entry->link->previous, sizeof entry->link->chain);
  quoit_chain_add (entry->link->chain, &row);
}

static GByteArray *
forge (QuoitStore *store, const Forgery *forgery)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store), after = NULL;
  g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_RELEASE, T0);
  g_autoptr (GError) error = NULL;
  GByteArray *bytes;

  if (forgery->add_effects == NULL)
    quoit_entry_add (entry, quoit_effect_removal (quoit_fleet_find_group (fleet, "train"), QUOIT_END_RELEASED));
  else
    forgery->add_effects (entry, fleet);
  after = quoit_fleet_fork (fleet);
  (void) quoit_entry_apply (entry, &after, NULL);
  quoit_entry_link (entry, store->chain, after);
  if (forgery->change != NULL)
    {
      forgery->change (entry);
      link_again (entry);
    }
  bytes = quoit_entry_to_bytes (entry, store->identity, &error);
  ck_assert_ok (error);
  return bytes;
}

static QuoitGroupData
group_on (const QuoitFleet *fleet, const char *name, const guint32 *node_ids, guint32 n_nodes)
{
  static const guint32 ends[] = { 2, 4 };

  return (QuoitGroupData) { .id = fleet->next_group_id,
                            .created_ms = T0,
                            .state = QUOIT_GROUP_RESERVED,
                            .n_slices = n_nodes / 2,
                            .n_nodes = n_nodes,
                            .name = name,
                            .owner = "",
                            .key = "",
                            .request = "v6e 2x4",
                            .source = "",
                            .foreign_id = "",
                            .reason = "",
                            .slice_end = ends,
                            .node_ids = node_ids };
}

static void
add_group (QuoitEntry *entry, const QuoitGroupData *data)
{
  quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (data) });
}

static void
add_group_on_held_slice (QuoitEntry *entry, const QuoitFleet *fleet)
{
  const QuoitGroupData *train = quoit_fleet_find_group (fleet, "train");
  const QuoitGroupData thief = group_on (fleet, "thief", train->node_ids, 2);

  add_group (entry, &thief);
}

static void
add_group_of_known_name (QuoitEntry *entry, const QuoitFleet *fleet)
{
  const guint32 ids[] = { fleet->layout->nodes[4].id, fleet->layout->nodes[5].id };
  const QuoitGroupData twin = group_on (fleet, "train", ids, 2);

  add_group (entry, &twin);
}

static void
add_group_with_old_id (QuoitEntry *entry, const QuoitFleet *fleet)
{
  const guint32 ids[] = { fleet->layout->nodes[4].id, fleet->layout->nodes[5].id };
  QuoitGroupData group = group_on (fleet, "new", ids, 2);

  group.id = 1;
  add_group (entry, &group);
}

static void
add_group_on_unknown_nodes (QuoitEntry *entry, const QuoitFleet *fleet)
{
  static const guint32 ids[] = { 1000000, 1000001 };
  const QuoitGroupData group = group_on (fleet, "new", ids, 2);

  add_group (entry, &group);
}

static void
add_group_twice_on_a_node (QuoitEntry *entry, const QuoitFleet *fleet)
{
  const guint32 ids[] = { fleet->layout->nodes[4].id, fleet->layout->nodes[4].id };
  const QuoitGroupData group = group_on (fleet, "new", ids, 2);

  add_group (entry, &group);
}

/* The first effect can be applied, and the second cannot. */
static void
remove_twice (QuoitEntry *entry, const QuoitFleet *fleet)
{
  for (guint i = 0; i < 2; i++)
    quoit_entry_add (entry, quoit_effect_removal (quoit_fleet_find_group (fleet, "train"), QUOIT_END_RELEASED));
}

static void
forget_live_group (QuoitEntry *entry, const QuoitFleet *fleet)
{
  quoit_entry_add (entry, quoit_effect_forgetting (quoit_fleet_find_group (fleet, "train")));
}

static void
set_state_of_unknown_node (QuoitEntry *entry, const QuoitFleet *fleet)
{
  quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE, .node_id = 77, .state = QUOIT_NODE_DEAD });
}

static void
decrease_next_id (QuoitEntry *entry, const QuoitFleet *fleet)
{
  QuoitEffect effect = quoit_effect_numbers (fleet);

  effect.numbers.next_group_id--;
  quoit_entry_add (entry, effect);
}

static void
set_time (QuoitEntry *entry, gint64 time_ms)
{
  entry->time_ms = time_ms;
}

static void
make_early (QuoitEntry *entry)
{
  set_time (entry, T0 - 1);
}

static void
make_timeless (QuoitEntry *entry)
{
  set_time (entry, G_MAXINT64);
}

static void
make_verbless (QuoitEntry *entry)
{
  entry->verb = 0;
}

static void
skip_group_ids (QuoitEntry *entry)
{
  entry->link->next_group_id++;
}

static void
skip_node_ids (QuoitEntry *entry)
{
  entry->link->next_node_id += 5;
}

static void
set_effects (QuoitEntry *entry, const char *bytes, gsize length)
{
  g_bytes_unref (entry->link->effects);
  entry->link->effects = g_bytes_new (bytes, length);
}

static void
make_effects_of_later_format (QuoitEntry *entry)
{
  const guint8 effects[] = { QUOIT_CODEC_FORMAT + 1, 1, 1 };

  set_effects (entry, (const char *) effects, sizeof effects);
}

static void
make_effects_empty (QuoitEntry *entry)
{
  set_effects (entry, "\x04\x00", 2);
}

static void
cut_effects (QuoitEntry *entry)
{
  g_autoptr (GBytes) effects = g_bytes_ref (entry->link->effects);
  gsize length;
  const char *bytes = g_bytes_get_data (effects, &length);

  set_effects (entry, bytes, length - 1);
}

static void
lengthen_effects (QuoitEntry *entry)
{
  g_autoptr (GByteArray) longer = g_bytes_unref_to_array (g_bytes_ref (entry->link->effects));

  g_byte_array_append (longer, (const guint8 *) "", 1);
  set_effects (entry, (const char *) longer->data, longer->len);
}

/* Each is 100 bytes at most, and states counts of millions of elements. */
static void
state_great_counts (QuoitEntry *entry)
{
  static const char bytes[] = "\x04\xff\xff\xff\xff\x07\x01\x02s\x05\x01\xff\xff\xff\xff\x07\xff\xff\xff\xff\x07";

  set_effects (entry, bytes, sizeof bytes - 1);
}

static const Forgery forgeries[] = {
  { "a held slice", add_group_on_held_slice, NULL, QUOIT_ERROR_DAMAGED, "entry 6" },
  { "a known name", add_group_of_known_name, NULL, QUOIT_ERROR_DAMAGED, "train" },
  { "an old id", add_group_with_old_id, NULL, QUOIT_ERROR_DAMAGED, "issued before" },
  { "unknown nodes", add_group_on_unknown_nodes, NULL, QUOIT_ERROR_DAMAGED, "entry 6" },
  { "a node twice", add_group_twice_on_a_node, NULL, QUOIT_ERROR_DAMAGED, "entry 6" },
  { "a second removal", remove_twice, NULL, QUOIT_ERROR_DAMAGED, "train" },
  { "forgets a live group", forget_live_group, NULL, QUOIT_ERROR_DAMAGED, "no removed group" },
  { "an unknown node", set_state_of_unknown_node, NULL, QUOIT_ERROR_DAMAGED, "no such node" },
  { "a smaller next id", decrease_next_id, NULL, QUOIT_ERROR_DAMAGED, "must not decrease" },
  { "before the last entry", NULL, make_early, QUOIT_ERROR_DAMAGED, "does not follow" },
  { "no time", NULL, make_timeless, QUOIT_ERROR_DAMAGED, "before the year 2200" },
  { "no verb", NULL, make_verbless, QUOIT_ERROR_DAMAGED, "checksum" },
  { "another next group id", NULL, skip_group_ids, QUOIT_ERROR_DAMAGED, "counters" },
  { "another next node id", NULL, skip_node_ids, QUOIT_ERROR_DAMAGED, "counters" },
  { "a later format", NULL, make_effects_of_later_format, QUOIT_ERROR_VERSION, "use a newer quoit" },
  { "no effects", NULL, make_effects_empty, QUOIT_ERROR_DAMAGED, "damaged near byte" },
  { "effects without an end", NULL, cut_effects, QUOIT_ERROR_DAMAGED, "damaged near byte" },
  { "effects after the end", NULL, lengthen_effects, QUOIT_ERROR_DAMAGED, "damaged near byte" },
  { "great counts", NULL, state_great_counts, QUOIT_ERROR_DAMAGED, "damaged near byte" },
};

START_TEST (forged_entries_are_refused)
{
  const Forgery *forgery = &forgeries[_i];
  g_autoptr (QuoitStore) store = new_store ();
  g_autoptr (QuoitFleet) before = quoit_store_fleet (store), after = NULL;
  g_autoptr (GByteArray) bytes = forge (store, forgery), first = quoit_fleet_to_bytes (before, 0), last = NULL;
  const Forgery sound = { .what = "sound" };
  g_autoptr (GByteArray) next = forge (store, &sound);
  g_autoptr (GError) error = NULL;

  ck_assert_msg (!quoit_store_apply_entry (store, bytes->data, bytes->len, &error), "%s", forgery->what);
  ck_assert_refused (error, forgery->code, forgery->message);
  /* Also in a batch, which can go on. */
  ck_assert (quoit_store_begin_batch (store, NULL));
  ck_assert (!quoit_store_apply_entry (store, bytes->data, bytes->len, &error));
  ck_assert_refused (error, forgery->code, forgery->message);
  ck_assert (quoit_store_commit_batch (store, NULL));
  after = quoit_store_fleet (store);
  last = quoit_fleet_to_bytes (after, 0);
  ck_assert_uint_eq (first->len, last->len);
  ck_assert_mem_eq (first->data, last->data, first->len);
  ck_assert_msg (quoit_store_apply_entry (store, next->data, next->len, &error), "%s", error->message);
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

static void
add_group_on_free_slice (QuoitEntry *entry, const QuoitFleet *fleet)
{
  const guint32 ids[] = { fleet->layout->nodes[4].id, fleet->layout->nodes[5].id };
  const QuoitGroupData group = group_on (fleet, "new", ids, 2);

  add_group (entry, &group);
}

START_TEST (forged_entry_that_breaks_a_promise_is_refused)
{
  g_autoptr (QuoitStore) store = new_store ();
  g_autoptr (QuoitRequest) request = request_for ("later", NULL, 1);
  const QuoitAction ahead = { QUOIT_ACTION_RESERVE_AHEAD, .ahead = { request, T0 + 1000, 0 } };
  const Forgery forgery = { .what = "a promised slice", .add_effects = add_group_on_free_slice };
  g_autoptr (GByteArray) allowed = NULL, forbidden = NULL;
  g_autoptr (GError) error = NULL;

  ck_assert (store_set_state (store, "a-2-0", QUOIT_NODE_ALIVE, &error));
  ck_assert (store_release (store, "train", &error));
  allowed = forge (store, &forgery);
  /* Three slices are free. The promise can still be kept. */
  ck_assert (quoit_store_begin_batch (store, NULL));
  ck_assert_msg (quoit_store_apply_entry (store, allowed->data, allowed->len, &error), "%s", error->message);
  quoit_store_cancel_batch (store);
  ck_assert_uint_eq (store_reserve (store, "train", NULL, 2, &error), 3);
  ck_assert (quoit_store_change (store, &ahead, T0, NULL, NULL, &error));
  forbidden = forge (store, &forgery);
  ck_assert (!quoit_store_apply_entry (store, forbidden->data, forbidden->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "promised to reservation 'later@4'");
  ck_assert (quoit_store_verify (store, &error));
}
END_TEST

/* --- snapshots --- */

static GByteArray *
copy_bytes (const GByteArray *bytes, guint length)
{
  return g_byte_array_append (g_byte_array_new (), bytes->data, length);
}

/* Reads changed bytes; a snapshot that they give is sound. Returns whether they do. */
static gboolean
try_snapshot (const GByteArray *bytes)
{
  g_autoptr (GError) error = NULL;
  gint64 now_ms;
  g_autoptr (QuoitFleet) fleet = quoit_fleet_from_bytes (bytes->data, bytes->len, &now_ms, &error);

  if (fleet != NULL)
    {
      ck_assert_msg (quoit_fleet_check (fleet, &error), "%s", error == NULL ? "" : error->message);
      return TRUE;
    }
  ck_assert (error->code == QUOIT_ERROR_DAMAGED || error->code == QUOIT_ERROR_INVALID
             || error->code == QUOIT_ERROR_VERSION);
  return FALSE;
}

START_TEST (changed_snapshots_with_valid_checksums_are_sound_or_refused)
{
  g_autoptr (QuoitStore) store = new_store ();
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  g_autoptr (GByteArray) bytes = quoit_fleet_to_bytes (fleet, 0);
  g_autoptr (GByteArray) same = copy_bytes (bytes, bytes->len);
  guint n_sound = 0, n_refused = 0;

  seal_snapshot (same->data, same->len);
  ck_assert_mem_eq (same->data, bytes->data, bytes->len);
  for (guint i = 0; i < bytes->len; i++)
    {
      g_autoptr (GByteArray) prefix = copy_bytes (bytes, i);

      seal_snapshot (prefix->data, prefix->len);
      ck_assert_msg (!try_snapshot (prefix), "prefix %u", i);
      for (guint bit = 0; bit < 8; bit++)
        {
          g_autoptr (GByteArray) changed = copy_bytes (bytes, bytes->len);

          changed->data[i] ^= (guint8) (1u << bit);
          seal_snapshot (changed->data, changed->len);
          if (try_snapshot (changed))
            n_sound++;
          else
            n_refused++;
        }
    }
  /* Many bytes are of names and times, which can have other values. */
  ck_assert_uint_gt (n_sound, 500);
  ck_assert_uint_gt (n_refused, 500);
}
END_TEST

START_TEST (great_numbers_do_not_allocate)
{
  g_autoptr (QuoitStore) store = new_store ();
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  g_autoptr (GByteArray) snapshot = quoit_fleet_to_bytes (fleet, 0);
  struct rlimit limit;

  if (IS_SANITIZED)
    return;
  /* 256 MiB for the whole process. GLib aborts if more is needed. */
  ck_assert_int_eq (getrlimit (RLIMIT_AS, &limit), 0);
  limit.rlim_cur = 256 << 20;
  ck_assert_int_eq (setrlimit (RLIMIT_AS, &limit), 0);
  for (guint i = 0; i < snapshot->len; i++)
    {
      g_autoptr (GByteArray) changed = copy_bytes (snapshot, snapshot->len);

      /* Numbers of the header, lengths and counts become as great as they can be. */
      for (guint n = 0; n < 5 && i + n < changed->len; n++)
        {
          changed->data[i + n] = n < 4 ? 0xff : 0x07;
          seal_snapshot (changed->data, changed->len);
          try_snapshot (changed);
        }
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("forged");
  TCase *tcase = tcase_create ("forged");

  tcase_set_timeout (tcase, 120);
  tcase_add_loop_test (tcase, forged_entries_are_refused, 0, G_N_ELEMENTS (forgeries));
  tcase_add_test (tcase, forged_entry_that_breaks_a_promise_is_refused);
  tcase_add_test (tcase, changed_snapshots_with_valid_checksums_are_sound_or_refused);
  tcase_add_test (tcase, great_numbers_do_not_allocate);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
