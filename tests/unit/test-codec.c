/* SPDX-License-Identifier: Apache-2.0 */
/* Journal entries as bytes: encoded entries can be decoded, and other bytes are refused or harmless. */
#include "suite.h"
#include "fixture.h"
#include "base/time.h"
#include "ledger/ledger.h"
#include "store/codec.h"

#define T0 G_GINT64_CONSTANT (1750000000000)

/* --- one entry of each type --- */

static QuoitEffect
import_of_everything (void)
{
  QuoitClaims *claims = quoit_claims_new ("ray", QUOIT_SOURCE_KIND_RAY_NODES);
  QuoitPair env[] = { { "MEGASCALE_PORT", "9915" }, { "EMPTY", "" } }, label = { "k", "v" };
  QuoitResource resources[] = { { "CPU", { 8 } }, { "TPU", { 4 * QUOIT_AMOUNT_UNIT } } };
  QuoitNodeKind kind = { .generation = QUOIT_GENERATION_V6E, .topology = "2x4", .pod_type = "v6e-8", .chips = 4 };
  QuoitNodeKind plain = { .n_resources = 1, .resources = resources };
  guint32 pool = quoit_claims_ensure_pool (claims, "default"), *ids = g_new (guint32, 3), *removed = g_new (guint32, 2),
          index;
  const guint8 events[] = { QUOIT_NODE_EVENT_ADDED, QUOIT_NODE_EVENT_MOVED, QUOIT_NODE_EVENT_LOST };
  QuoitSourceUpdate *import;

  kind.shape = (QuoitShape) { .n_dims = 2, .dims = { 2, 4, 1 } };
  kind.labels = &label;
  kind.n_labels = 1;
  kind.resources = resources;
  kind.n_resources = 2;
  quoit_claims_set_pool_env (claims, pool, env, 2);
  quoit_claims_pool_at (claims, pool)->n_pods = 2;
  quoit_claims_pool_at (claims, pool)->pod_memory.e4 = (__int128) 1 << 70;
  index = quoit_claims_intern_kind (claims, &kind, NULL);
  quoit_claims_add (claims, &(QuoitNodeClaim) { .name = "n0",
                                                .identity = "id0",
                                                .address = "10.0.0.1",
                                                .slice = "s",
                                                .incarnation = "r1",
                                                .pool = pool,
                                                .kind = index,
                                                .worker_id = 1,
                                                .state = QUOIT_NODE_DRAINING,
                                                .flags = QUOIT_NODE_EXTERNAL });
  quoit_claims_add (claims, &(QuoitNodeClaim) { .name = "head", .pool = pool, .worker_id = -1 });
  quoit_claims_add (claims, &(QuoitNodeClaim) { .name = "p",
                                                .pool = pool,
                                                .kind = quoit_claims_intern_kind (claims, &plain, NULL),
                                                .worker_id = -1 });
  ids[0] = 40;
  ids[1] = 300;
  ids[2] = 41;
  removed[0] = 2;
  removed[1] = 200;
  import = quoit_source_update_new (claims, ids, removed, 2);
  import->events = g_memdup2 (events, sizeof events);
  import->removed_names = g_new0 (const char *, 2);
  import->removed_names[0] = quoit_claims_intern_text (claims, "gone");
  import->removed_names[1] = "";
  return (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT, .import = import };
}

static QuoitEffect
small_import (void)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  guint32 *ids = g_new (guint32, 2), *removed = g_new0 (guint32, 1);

  fixture_add_slice (claims, &(FixturePool) { "a", "2x4", "z", 1, QUOIT_GENERATION_V6E, 4 }, "a-0");
  ids[0] = 1;
  ids[1] = 2;
  return (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT,
                         .import = quoit_source_update_new (g_steal_pointer (&claims), ids, removed, 0) };
}

static QuoitEffect
states_of_a_source (void)
{
  const QuoitReportedState states[]
      = { { 6, QUOIT_NODE_DEAD, QUOIT_CAUSE_NOT_READY }, { 4, QUOIT_NODE_DRAINING, QUOIT_CAUSE_UNCHANGED } };
  QuoitSourceUpdate *import = quoit_source_update_new (quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET),
                                                       g_new (guint32, 1), g_new (guint32, 1), 0);

  import->keeps_pools = TRUE;
  import->n_states = 2;
  import->states = g_memdup2 (states, sizeof states);
  return (QuoitEffect) { .type = QUOIT_EFFECT_IMPORT, .import = import };
}

static QuoitEffect
whole_group (void)
{
  guint32 ends[] = { 2, 4 }, ids[] = { 1, 2, 3, 4 };
  QuoitGroupData group = { .id = 7,
                           .created_ms = T0,
                           .state = QUOIT_GROUP_RESERVED,
                           .name = "train",
                           .owner = "me",
                           .key = "k",
                           .request = "v6e 2x4 x 2",
                           .n_labels = 2,
                           .labels = (const QuoitLabel[]) { { "run", "7" }, { "team", "nlp" } },
                           .n_slices = 2,
                           .slice_end = ends,
                           .n_nodes = 4,
                           .node_ids = ids };

  return (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) };
}

static QuoitEffect
group_of_parts (void)
{
  guint32 ends[] = { 2 }, ids[] = { 6, 5 };
  QuoitTake takes[] = { { "CPU", { 5000 } }, { "TPU", { QUOIT_AMOUNT_UNIT } } }, tpu = { "TPU", { 5000 } };
  QuoitBundle bundles[]
      = { { .chips = 4, .n_takes = 2, .takes = takes }, { .chip = 1, .part = { 5000 }, .n_takes = 1, .takes = &tpu } };
  QuoitGroupData group = { .id = 8,
                           .created_ms = T0,
                           .state = QUOIT_GROUP_RESERVED,
                           .name = "part",
                           .owner = "",
                           .key = "",
                           .request = "",
                           .n_slices = 1,
                           .slice_end = ends,
                           .n_nodes = 2,
                           .node_ids = ids,
                           .bundles = bundles };

  return (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) };
}

static QuoitEffect
removal (void)
{
  return (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_REMOVED, .group_id = 3, .group_name = g_strdup ("old") };
}

/* In the entry with all effects, this removes the group of group_of_parts(). */
static QuoitEffect
removal_with_reason (void)
{
  return (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_REMOVED,
                         .group_id = 8,
                         .group_name = g_strdup ("part"),
                         .end = QUOIT_END_RELEASED,
                         .reason = g_strdup ("preempted by job-7") };
}

static QuoitEffect
removed_group (void)
{
  QuoitGroupData group = { .id = 9,
                           .created_ms = T0,
                           .ended_ms = T0,
                           .state = QUOIT_GROUP_REMOVED,
                           .end = QUOIT_END_RELEASED,
                           .name = "gone",
                           .owner = "",
                           .key = "",
                           .request = "",
                           .reason = "preempted by job-7" };

  return (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) };
}

static QuoitEffect
state (void)
{
  return (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE, .node_id = 5, .state = QUOIT_NODE_DEAD };
}

static QuoitEffect (*const effects[]) (void)
    = { import_of_everything, small_import,  whole_group,       group_of_parts, removal, state,
        removal_with_reason,  removed_group, states_of_a_source };

/* Entry @which: one effect each, and all of them in the last one. */
static QuoitEntry *
entry_at (const QuoitFleet *fleet, int which)
{
  QuoitEntry *entry = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, T0);

  for (int i = 0; i < (int) G_N_ELEMENTS (effects); i++)
    if (i == which || which == (int) G_N_ELEMENTS (effects))
      quoit_entry_add (entry, effects[i]());
  return entry;
}

/* Three slices of two nodes, ids 1 to 6, and a group to be removed. */
static QuoitFleet *
fleet_to_change (void)
{
  static const FixturePool pool = { "a", "2x4", "z", 4, QUOIT_GENERATION_V6E, 4 };
  QuoitFleet *fleet = fixture_fleet (&pool, 1);
  guint32 slice = 3;

  ck_assert (quoit_fleet_add_group (fleet, fixture_group (fleet, "old", "key-old", 3, &slice, 1), NULL));
  return fleet;
}

START_TEST (every_entry_is_decoded_as_encoded)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = entry_at (fleet, _i), read = NULL;
  g_autoptr (GByteArray) bytes = quoit_codec_encode (entry), again = NULL;
  g_autoptr (GError) error = NULL;

  read = quoit_codec_decode (9, T0, QUOIT_VERB_RESERVE, "somebody", bytes->data, bytes->len, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (read->seq, 9);
  ck_assert_int_eq (read->time_ms, T0);
  ck_assert_str_eq (read->actor, "somebody");
  ck_assert_uint_eq (read->n_effects, entry->n_effects);
  again = quoit_codec_encode (read);
  ck_assert_uint_eq (again->len, bytes->len);
  ck_assert_mem_eq (again->data, bytes->data, bytes->len);
}
END_TEST

START_TEST (truncated_entry_is_refused)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = entry_at (fleet, _i);
  g_autoptr (GByteArray) bytes = quoit_codec_encode (entry);

  for (guint length = 0; length < bytes->len; length++)
    {
      /* A buffer of exactly that size, so that sanitizers detect reads beyond it. */
      g_autofree guint8 *part = g_memdup2 (bytes->data, length);
      g_autoptr (GError) error = NULL;

      ck_assert_ptr_null (quoit_codec_decode (1, T0, QUOIT_VERB_RESERVE, NULL, part, length, &error));
      ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "journal entry 1");
    }
}
END_TEST

START_TEST (states_of_a_source_are_those_that_it_claims)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change (), after = quoit_fleet_fork (fleet);
  g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_SYNC, T0);
  g_autoptr (GError) error = NULL;

  quoit_entry_add (entry, states_of_a_source ());
  ck_assert (quoit_entry_apply (entry, &after, &error));
  ck_assert_int_eq (quoit_layout_claimed_state (after->layout, (QuoitNodeId) { 5 }), QUOIT_NODE_DEAD);
  ck_assert_int_eq (quoit_layout_claimed_state (after->layout, (QuoitNodeId) { 3 }), QUOIT_NODE_DRAINING);
  ck_assert_int_eq (quoit_layout_claimed_state (fleet->layout, (QuoitNodeId) { 5 }), QUOIT_NODE_ALIVE);
  ck_assert_int_eq (quoit_layout_node_cause (after->layout, (QuoitNodeId) { 5 }), QUOIT_CAUSE_NOT_READY);
  ck_assert_int_eq (quoit_layout_node_cause (after->layout, (QuoitNodeId) { 3 }), QUOIT_CAUSE_NONE);
  ck_assert_int_eq (quoit_layout_node_cause (fleet->layout, (QuoitNodeId) { 5 }), QUOIT_CAUSE_NONE);
}
END_TEST

/* Returns whether the next bytes are @expected, and skips them. */
static gboolean
skip_bytes (const guint8 **at, const guint8 *end, const guint8 *expected, gsize n)
{
  if ((gsize) (end - *at) < n || memcmp (*at, expected, n) != 0)
    return FALSE;
  *at += n;
  return TRUE;
}

/* Returns the entry of states_of_a_source() as format 4, which has no causes. */
static GByteArray *
encode_without_causes (const QuoitEntry *entry)
{
  static const guint8 with[]
      = { 6, QUOIT_NODE_DEAD, QUOIT_CAUSE_NOT_READY, 4, QUOIT_NODE_DRAINING, QUOIT_CAUSE_UNCHANGED },
      without[] = { 6, QUOIT_NODE_DEAD, 4, QUOIT_NODE_DRAINING };
  g_autoptr (GByteArray) bytes = quoit_codec_encode (entry);
  GByteArray *before = g_byte_array_new ();
  const guint8 *at = bytes->data, *end = bytes->data + bytes->len;
  guint n_found = 0;

  while (at < end)
    if (skip_bytes (&at, end, with, sizeof with))
      {
        g_byte_array_append (before, without, sizeof without);
        n_found++;
      }
    else
      g_byte_array_append (before, at++, 1);
  ck_assert_uint_eq (n_found, 1);
  before->data[0] = 4;
  return before;
}

START_TEST (states_of_format_4_keep_their_causes)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change (), after = quoit_fleet_fork (fleet);
  g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_SYNC, T0), read = NULL;
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;

  quoit_entry_add (entry, states_of_a_source ());
  ck_assert (quoit_entry_apply (entry, &after, &error));
  bytes = encode_without_causes (entry);
  read = quoit_codec_decode (2, T0, QUOIT_VERB_SYNC, NULL, bytes->data, bytes->len, &error);
  ck_assert_ok (error);
  ck_assert (quoit_entry_apply (read, &after, &error));
  ck_assert_int_eq (quoit_layout_claimed_state (after->layout, (QuoitNodeId) { 5 }), QUOIT_NODE_DEAD);
  ck_assert_int_eq (quoit_layout_node_cause (after->layout, (QuoitNodeId) { 5 }), QUOIT_CAUSE_NOT_READY);
}
END_TEST

/* A decoded entry is applied or refused. The resulting fleet is valid, or known to be unusable. */
static void
carry_out (const QuoitEntry *entry, const QuoitFleet *fleet, guint at, guint value)
{
  g_autoptr (QuoitFleet) copy = quoit_fleet_fork (fleet);
  g_autoptr (GError) error = NULL;

  ((QuoitEntry *) entry)->seq = fleet->seq + 1;
  if (!quoit_entry_apply (entry, &copy, &error))
    ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "entry 1");
  else
    ck_assert_msg (quoit_fleet_check (copy, &error), "byte %u as %u: %s", at, value, error->message);
}

START_TEST (entry_with_one_changed_byte_is_refused_or_harmless)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = entry_at (fleet, _i);
  g_autoptr (GByteArray) bytes = quoit_codec_encode (entry);
  guint n_read = 0;

  for (guint at = 0; at < bytes->len; at++)
    for (guint value = 0; value < 256; value++)
      {
        g_autofree guint8 *changed = g_memdup2 (bytes->data, bytes->len);
        g_autoptr (QuoitEntry) read = NULL;
        g_autoptr (GError) error = NULL;

        changed[at] = (guint8) value;
        read = quoit_codec_decode (1, T0, QUOIT_VERB_RESERVE, NULL, changed, bytes->len, &error);
        ck_assert_int_eq (read == NULL, error != NULL);
        if (read == NULL)
          ck_assert_msg (error->code == QUOIT_ERROR_DAMAGED || error->code == QUOIT_ERROR_VERSION, "byte %u as %u: %s",
                         at, value, error->message);
        else
          {
            n_read++;
            carry_out (read, fleet, at, value);
          }
      }
  ck_assert_uint_ge (n_read, bytes->len);
}
END_TEST

START_TEST (entry_with_random_bytes_is_refused_or_harmless)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = entry_at (fleet, (int) G_N_ELEMENTS (effects));
  g_autoptr (GByteArray) bytes = quoit_codec_encode (entry);
  g_autoptr (GRand) rand = g_rand_new_with_seed (5);
  guint n_read = 0;

  for (guint round = 0; round < 20000; round++)
    {
      g_autofree guint8 *changed = g_memdup2 (bytes->data, bytes->len);
      g_autoptr (QuoitEntry) read = NULL;

      for (gint i = g_rand_int_range (rand, 1, 8); i > 0; i--)
        changed[g_rand_int_range (rand, 1, (gint) bytes->len)] = (guint8) g_rand_int_range (rand, 0, 256);
      read = quoit_codec_decode (1, T0, QUOIT_VERB_RESERVE, NULL, changed, bytes->len, NULL);
      if (read == NULL)
        continue;
      n_read++;
      carry_out (read, fleet, 0, round);
    }
  /* Some mutations change only a value, so both outcomes must occur. */
  ck_assert_uint_gt (n_read, 100);
  ck_assert_uint_lt (n_read, 19900);
}
END_TEST

/* Encoded values of a group, and whether a group may have them. */
static const struct {
  gboolean is_sound;
  QuoitRecordKind kind;
  const char *name, *source;
  gint64 created_ms, ended_ms, until_ms;
} group_values[] = {
  { TRUE, QUOIT_RECORD_OWNER, "owner/me", "", T0, 0, QUOIT_LAST_MS - 1 },
  { TRUE, QUOIT_RECORD_EXTERNAL, "external/ray", "ray", T0, 0, 0 },
  { TRUE, QUOIT_RECORD_BUNDLES, "pg", "ray", T0, 0, 0 },
  { TRUE, QUOIT_RECORD_SLICES, "train", "", 0, T0, T0 },
  { FALSE, QUOIT_RECORD_OWNER, "", "", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_OWNER, "me", "", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_OWNER, "owner/", "", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_OWNER, "owner/me", "ray", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_EXTERNAL, "ray", "ray", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_EXTERNAL, "external/", "", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_EXTERNAL, "external/ray", "k8s", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_BUNDLES, "pg", "", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_BUNDLES, "owner/me", "ray", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_SLICES, "train", "ray", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_SLICES, "external/ray", "", T0, 0, 0 },
  { FALSE, QUOIT_RECORD_SLICES, "train", "", -1, 0, 0 },
  { FALSE, QUOIT_RECORD_SLICES, "train", "", T0, QUOIT_LAST_MS, 0 },
  { FALSE, QUOIT_RECORD_SLICES, "train", "", T0, 0, QUOIT_LAST_MS },
  { FALSE, QUOIT_RECORD_SLICES, "train", "", T0, 0, G_GINT64_CONSTANT (9000000000000000000) },
};

START_TEST (group_is_decoded_only_if_valid)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, T0);
  g_autoptr (QuoitEntry) read = NULL;
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  QuoitGroupData group = { .id = 7,
                           .state = QUOIT_GROUP_RESERVED,
                           .kind = (guint8) group_values[_i].kind,
                           .name = group_values[_i].name,
                           .source = group_values[_i].source,
                           .created_ms = group_values[_i].created_ms,
                           .ended_ms = group_values[_i].ended_ms,
                           .until_ms = group_values[_i].until_ms,
                           .owner = "",
                           .key = "",
                           .request = "" };
  const guint32 one = 1;

  if (group.kind == QUOIT_RECORD_SLICES)
    {
      group.n_slices = group.n_nodes = 1;
      group.slice_end = group.node_ids = &one;
    }
  quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) });
  bytes = quoit_codec_encode (entry);
  read = quoit_codec_decode (4, T0, QUOIT_VERB_RESERVE, NULL, bytes->data, bytes->len, &error);
  ck_assert_int_eq (read != NULL, group_values[_i].is_sound);
  if (read == NULL)
    ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "journal entry 4");
}
END_TEST

static const struct {
  gboolean is_sound;
  guint16 n;
  QuoitLabel labels[2];
  const char *reason; /* of a removed group */
  QuoitEnd end;
} texts[] = {
  { TRUE, 2, { { "a", "1" }, { "b", "2" } }, "", QUOIT_END_NONE },
  { TRUE, 1, { { "\xc5\xbc", "=" } }, "why", QUOIT_END_RELEASED },
  { FALSE, 2, { { "b", "1" }, { "a", "2" } }, "", QUOIT_END_NONE },
  { FALSE, 2, { { "a", "1" }, { "a", "2" } }, "", QUOIT_END_NONE },
  { FALSE, 1, { { "", "1" } }, "", QUOIT_END_NONE },
  { FALSE, 1, { { "a", "" } }, "", QUOIT_END_NONE },
  { FALSE, 1, { { "a=", "1" } }, "", QUOIT_END_NONE },
  { FALSE, 1, { { "a", "\n" } }, "", QUOIT_END_NONE },
  { FALSE, 1, { { "a", "\xc5" } }, "", QUOIT_END_NONE },
  { FALSE, 0, { { NULL, NULL } }, "\x01", QUOIT_END_RELEASED },
  { FALSE, 0, { { NULL, NULL } }, "why", QUOIT_END_EXPIRED },
};

START_TEST (labels_and_reasons_are_decoded_only_if_valid)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, T0), read = NULL;
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  QuoitGroupData group = { .id = 7,
                           .state = QUOIT_GROUP_REMOVED,
                           .end = (guint8) texts[_i].end,
                           .name = "g",
                           .owner = "",
                           .key = "",
                           .request = "",
                           .n_labels = texts[_i].n,
                           .labels = texts[_i].labels,
                           .reason = texts[_i].reason };

  quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) });
  bytes = quoit_codec_encode (entry);
  read = quoit_codec_decode (4, T0, QUOIT_VERB_RESERVE, NULL, bytes->data, bytes->len, &error);
  ck_assert_int_eq (read != NULL, texts[_i].is_sound);
  if (read == NULL)
    ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "journal entry 4");
  else
    ck_assert (quoit_step_is_same_group (entry->effects[0].group, read->effects[0].group));
}
END_TEST

/* A group of slices that are joined from cubes, and whether it may be. */
static const struct {
  gboolean is_sound;
  const char *request;
  guint32 n_slices, n_nodes; /* of each slice */
} joined_groups[] = {
  { TRUE, "v5p 4x4x8 x 1 hostchips=4 cubes=any", 1, 32 },
  { TRUE, "v5p 4x4x4 x 2 hostchips=4 cubes=any", 2, 16 },
  { FALSE, "v5p 4x4x8 x 1 hostchips=4 cubes=any", 1, 31 },
  { FALSE, "v5p 4x4x8 x 1 hostchips=4 cubes=any", 1, 16 },
  { FALSE, "v5p 4x4x8 x 1 hostchips=4 cubes=any", 0, 0 },
  { FALSE, "v5p 4x4x2 x 1 hostchips=4 cubes=any", 1, 16 },
  { FALSE, "v5p 4x4 x 1 hostchips=4 cubes=any", 1, 16 },
  { FALSE, "v5p 65532x65532x4 x 1 hostchips=4 cubes=any", 1, 16 },
  { FALSE, "cubes", 1, 16 },
  { FALSE, "", 1, 16 },
};

START_TEST (joined_slices_are_decoded_only_if_whole)
{
  enum { MOST_NODES = 64 };
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, T0), read = NULL;
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  guint32 ends[2], nodes[MOST_NODES];
  QuoitGroupData group = { .id = 7,
                           .state = QUOIT_GROUP_RESERVED,
                           .kind = QUOIT_RECORD_CUBES,
                           .name = "g",
                           .owner = "",
                           .key = "",
                           .request = joined_groups[_i].request,
                           .n_slices = joined_groups[_i].n_slices,
                           .n_nodes = joined_groups[_i].n_slices * joined_groups[_i].n_nodes,
                           .slice_end = ends,
                           .node_ids = nodes };

  for (guint32 i = 0; i < MOST_NODES; i++)
    nodes[i] = i + 1;
  for (guint32 i = 0; i < 2; i++)
    ends[i] = (i + 1) * joined_groups[_i].n_nodes;
  quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) });
  bytes = quoit_codec_encode (entry);
  read = quoit_codec_decode (4, T0, QUOIT_VERB_RESERVE, NULL, bytes->data, bytes->len, &error);
  ck_assert_int_eq (read != NULL, joined_groups[_i].is_sound);
  if (read == NULL)
    ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "journal entry 4");
}
END_TEST

START_TEST (more_labels_than_a_group_has_are_refused)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (GArray) labels = quoit_labels_new (NULL, 0);

  for (guint i = 0; i <= QUOIT_MAX_LABELS; i++)
    {
      g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, T0), read = NULL;
      g_autofree char *key = g_strdup_printf ("%03u", i);
      g_autoptr (GByteArray) bytes = NULL;
      QuoitGroupData group = {
        .id = 7, .state = QUOIT_GROUP_REMOVED, .name = "g", .owner = "", .key = "", .request = "", .n_labels = i + 1
      };

      ck_assert (quoit_labels_set (labels, key, "v", QUOIT_MAX_LABELS + 1, NULL));
      group.labels = (const QuoitLabel *) (const void *) labels->data;
      quoit_entry_add (entry,
                       (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) });
      bytes = quoit_codec_encode (entry);
      read = quoit_codec_decode (4, T0, QUOIT_VERB_RESERVE, NULL, bytes->data, bytes->len, NULL);
      ck_assert_msg ((read != NULL) == (i < QUOIT_MAX_LABELS), "%u labels", i + 1);
    }
}
END_TEST

static const struct {
  gboolean is_sound;
  QuoitBundle bundle;
} bundles_said[] = {
  { TRUE, { .chips = 3, .chip = 2, .part = { 9999 } } },
  { TRUE, { .n_takes = 2, .takes = (const QuoitTake[]) { { "CPU", { 1 } }, { "TPU", { G_MAXINT64 } } } } },
  { TRUE, { .n_takes = 1, .takes = (const QuoitTake[]) { { "CPU", { 0 } } } } },
  { FALSE, { .part = { -1 } } },
  { FALSE, { .part = { QUOIT_AMOUNT_UNIT } } },
  { FALSE, { .part = { (gint64) 1 << 32 } } },
  { FALSE, { .n_takes = 1, .takes = (const QuoitTake[]) { { "CPU", { -1 } } } } },
  { FALSE, { .n_takes = 2, .takes = (const QuoitTake[]) { { "CPU", { G_MAXINT64 } }, { "CPU", { G_MAXINT64 } } } } },
  { FALSE, { .n_takes = 2, .takes = (const QuoitTake[]) { { "TPU", { 1 } }, { "CPU", { 1 } } } } },
};

START_TEST (bundle_is_decoded_only_if_valid)
{
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_IMPORT, T0), read = NULL;
  g_autoptr (GByteArray) bytes = NULL;
  g_autoptr (GError) error = NULL;
  QuoitBundle both[] = { { .chips = 1 }, bundles_said[_i].bundle };
  QuoitGroupData group = { .id = 7,
                           .state = QUOIT_GROUP_RESERVED,
                           .kind = QUOIT_RECORD_BUNDLES,
                           .name = "pg",
                           .source = "ray",
                           .n_nodes = 2,
                           .node_ids = (const guint32[]) { 1, 2 },
                           .bundles = both,
                           .owner = "",
                           .key = "",
                           .request = "" };

  quoit_entry_add (entry, (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&group) });
  bytes = quoit_codec_encode (entry);
  read = quoit_codec_decode (4, T0, QUOIT_VERB_IMPORT, NULL, bytes->data, bytes->len, &error);
  ck_assert_int_eq (read != NULL, bundles_said[_i].is_sound);
  if (read == NULL)
    ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "journal entry 4");
}
END_TEST

START_TEST (a_lease_ends_before_2200)
{
  static const gint64 leases[] = { 0, T0, QUOIT_LAST_MS - 1, QUOIT_LAST_MS, G_MAXINT64, -1 };

  for (gsize i = 0; i < G_N_ELEMENTS (leases); i++)
    {
      g_autoptr (QuoitFleet) fleet = fleet_to_change ();
      g_autoptr (QuoitEntry) entry = quoit_entry_new (fleet, QUOIT_VERB_RENEW, T0), read = NULL;
      g_autoptr (GByteArray) bytes = NULL;

      quoit_entry_add (entry, quoit_effect_lease (quoit_fleet_find_group (fleet, "old"), QUOIT_GROUP_HELD, leases[i]));
      bytes = quoit_codec_encode (entry);
      read = quoit_codec_decode (4, T0, QUOIT_VERB_RENEW, NULL, bytes->data, bytes->len, NULL);
      ck_assert_msg ((read != NULL) == (i < 3), "%" G_GINT64_FORMAT, leases[i]);
    }
}
END_TEST

START_TEST (entry_with_invalid_time_is_refused)
{
  static const gint64 times[] = { -1, QUOIT_LAST_MS, G_MAXINT64 };
  g_autoptr (QuoitFleet) fleet = fleet_to_change ();
  g_autoptr (QuoitEntry) entry = entry_at (fleet, 4);
  g_autoptr (GByteArray) bytes = quoit_codec_encode (entry);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_codec_decode (4, times[_i], QUOIT_VERB_RESERVE, NULL, bytes->data, bytes->len, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "journal entry 4: time '");
}
END_TEST

START_TEST (entry_of_a_later_format_is_a_version_error)
{
  const guint8 later[] = { QUOIT_CODEC_FORMAT + 1, 1, 99 };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_codec_decode (4, T0, QUOIT_VERB_RESERVE, NULL, later, sizeof later, &error));
  ck_assert_refused (error, QUOIT_ERROR_VERSION, "journal entry 4 is of format 6");
}
END_TEST

START_TEST (impossible_count_allocates_no_memory)
{
  /* format 1, one effect, a group: id 1, reserved, times 0, four empty texts, 2^40 slices */
  const guint8 huge[] = { 1, 1, 2, 1, 2, 0, 0, 2, 'a', 1, 1, 1, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20 };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_codec_decode (1, T0, QUOIT_VERB_RESERVE, NULL, huge, sizeof huge, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "damaged near byte");
}
END_TEST

/* --- columns --- */

START_TEST (column_with_one_changed_byte_is_refused_or_decoded)
{
  QuoitEffect effect = import_of_everything (), parts = group_of_parts ();
  GByteArray *columns[] = { quoit_codec_encode_kind (quoit_claims_kind_at (effect.import->claims, 0)),
                            quoit_codec_encode_pool (quoit_claims_pool_at (effect.import->claims, 0)),
                            quoit_codec_encode_bundle (&parts.group->bundles[0]) };

  for (guint column = 0; column < 3; column++)
    for (guint at = 0; at < columns[column]->len; at++)
      for (guint value = 0; value < 256; value++)
        {
          g_autoptr (QuoitClaims) claims = quoit_claims_new ("", QUOIT_SOURCE_KIND_FLEET);
          g_autoptr (GPtrArray) takes = g_ptr_array_new_with_free_func (g_free);
          g_autofree guint8 *changed = g_memdup2 (columns[column]->data, columns[column]->len);
          g_autoptr (GError) error = NULL;
          QuoitBundle bundle;
          gsize length = columns[column]->len;
          guint32 index;
          gboolean ok;

          changed[at] = (guint8) value;
          if (column == 0)
            ok = quoit_codec_decode_kind (changed, length, claims, &index, &error);
          else if (column == 1)
            ok = quoit_codec_decode_pool (changed, length, claims, "p", &index, &error);
          else
            ok = quoit_codec_decode_bundle (changed, length, &bundle, takes, &error);
          ck_assert_int_eq (ok, error == NULL);
          ck_assert (ok || error->code == QUOIT_ERROR_DAMAGED);
        }
  quoit_source_update_unref (effect.import);
  quoit_group_data_unref (parts.group);
  for (guint column = 0; column < 3; column++)
    g_byte_array_unref (columns[column]);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("codec");
  TCase *entries = tcase_create ("entries"), *columns = tcase_create ("columns");
  const int forms = (int) G_N_ELEMENTS (effects) + 1;

  tcase_set_timeout (entries, 60);
  tcase_add_loop_test (entries, every_entry_is_decoded_as_encoded, 0, forms);
  tcase_add_test (entries, states_of_a_source_are_those_that_it_claims);
  tcase_add_test (entries, states_of_format_4_keep_their_causes);
  tcase_add_loop_test (entries, truncated_entry_is_refused, 0, forms);
  tcase_add_loop_test (entries, entry_with_one_changed_byte_is_refused_or_harmless, 0, forms);
  tcase_add_test (entries, entry_with_random_bytes_is_refused_or_harmless);
  tcase_add_loop_test (entries, group_is_decoded_only_if_valid, 0, (int) G_N_ELEMENTS (group_values));
  tcase_add_loop_test (entries, bundle_is_decoded_only_if_valid, 0, (int) G_N_ELEMENTS (bundles_said));
  tcase_add_loop_test (entries, labels_and_reasons_are_decoded_only_if_valid, 0, (int) G_N_ELEMENTS (texts));
  tcase_add_loop_test (entries, joined_slices_are_decoded_only_if_whole, 0, (int) G_N_ELEMENTS (joined_groups));
  tcase_add_test (entries, more_labels_than_a_group_has_are_refused);
  tcase_add_test (entries, a_lease_ends_before_2200);
  tcase_add_loop_test (entries, entry_with_invalid_time_is_refused, 0, 3);
  tcase_add_test (entries, entry_of_a_later_format_is_a_version_error);
  tcase_add_test (entries, impossible_count_allocates_no_memory);
  tcase_add_test (columns, column_with_one_changed_byte_is_refused_or_decoded);
  suite_add_tcase (suite, entries);
  suite_add_tcase (suite, columns);
  return suite_main (suite);
}
