/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, one fact a line: each step looks at a fleet and says what changes, or why not. */
#include "suite.h"
#include "fixture.h"
#include "ledger/ledger.h"

#define T0 G_GINT64_CONSTANT (1750000000000)

/* --- steps, carried out --- */

static gboolean
change (QuoitFleet **fleet, QuoitStepFunc step, gconstpointer input, gint64 now_ms, gpointer result, GError **error)
{
  g_autoptr (QuoitEntry) entry = NULL;
  gpointer given = NULL;

  if (!step (*fleet, input, now_ms, &entry, result == NULL ? &given : result, error))
    return FALSE;
  if (entry != NULL)
    {
      ck_assert_uint_eq (entry->seq, (*fleet)->seq + 1);
      ck_assert (quoit_entry_apply (entry, fleet, error));
    }
  if (step == quoit_ledger_import)
    g_clear_pointer ((GArray **) &given, g_array_unref);
  else
    g_clear_pointer ((QuoitGroupData **) &given, quoit_group_data_unref);
  ck_assert (quoit_fleet_check (*fleet, error));
  return TRUE;
}

static QuoitRequest *
request_for (const char *name, const char *key, guint32 n_slices)
{
  QuoitRequest *request = quoit_request_alloc ();

  request->name = g_strdup (name);
  request->key = g_strdup (key);
  request->generation = QUOIT_GENERATION_V6E;
  request->shape = (QuoitShape) { .n_dims = 2, .dims = { 2, 4, 1 } };
  request->chips_per_host = 4;
  request->n_slices = n_slices;
  return request;
}

/* The id; 0: refused. */
static guint64
reserve_at (QuoitFleet **fleet, const QuoitRequest *request, gint64 now_ms, GError **error)
{
  g_autoptr (QuoitGroupData) group = NULL;

  return change (fleet, quoit_ledger_reserve, request, now_ms, &group, error) ? group->id : 0;
}

static guint64
reserve (QuoitFleet **fleet, const char *name, const char *key, guint32 n_slices, GError **error)
{
  g_autoptr (QuoitRequest) request = request_for (name, key, n_slices);

  return reserve_at (fleet, request, T0, error);
}

static gboolean
release (QuoitFleet **fleet, const char *text, GError **error)
{
  g_autofree char *name = NULL;
  QuoitGroupRef ref;

  return quoit_group_ref_parse (text, &ref, &name, error)
         && change (fleet, quoit_ledger_release, &ref, T0, NULL, error);
}

static gboolean
set_state (QuoitFleet **fleet, const char *node, QuoitVerb verb, QuoitNodeState state, GError **error)
{
  return change (fleet, quoit_ledger_set_state, &(QuoitStateChange) { node, verb, state }, T0, NULL, error);
}

static QuoitNodeState
state_of (const QuoitFleet *fleet, const char *name)
{
  QuoitNodeId node;

  ck_assert (quoit_layout_lookup_node (fleet->layout, name, &node, NULL));
  return quoit_fleet_node_state (fleet, node);
}

/* Slices a-0 ... of two nodes a-0-0, a-0-1. */
static QuoitFleet *
fleet_of (guint32 n_slices)
{
  return fixture_fleet (&(FixturePool) { "a", "2x4", "z", n_slices, QUOIT_GENERATION_V6E, 4 }, 1);
}

static guint32
n_free (const QuoitFleet *fleet)
{
  guint32 n = 0;

  for (guint32 s = 0; s < fleet->layout->n_slices; s++)
    n += (quoit_fleet_slice_status (fleet, (QuoitSliceId) { s })->flags & QUOIT_SLICE_FREE) != 0;
  return n;
}

/* --- keys and names --- */

START_TEST (a_retry_returns_the_group_and_reserves_nothing)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (GError) error = NULL;
  guint64 seq;

  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 1);
  seq = fleet->seq;
  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 1);
  ck_assert_uint_eq (fleet->seq, seq);
  ck_assert_uint_eq (n_free (fleet), 2);
  ck_assert_ok (error);
}
END_TEST

START_TEST (a_retry_after_release_returns_the_removed_group)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) request = request_for ("train", "k", 1);
  g_autoptr (QuoitGroupData) group = NULL;
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
  ck_assert (change (&fleet, quoit_ledger_release, &(QuoitGroupRef) { "train", 1 }, T0 + 5, NULL, &error));
  ck_assert (change (&fleet, quoit_ledger_reserve, request, T0 + 9, &group, &error));
  ck_assert_uint_eq (group->id, 1);
  ck_assert_int_eq (group->state, QUOIT_GROUP_REMOVED);
  ck_assert_int_eq (group->ended_ms, T0 + 5);
  ck_assert_uint_eq (group->n_nodes, 0);
  ck_assert_uint_eq (n_free (fleet), 3);
  ck_assert_uint_eq (fleet->seq, 2);
  /* The name is free for others, and the key still names its own group. */
  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 2);
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
}
END_TEST

static void
other_owner (QuoitRequest *request)
{
  request->owner = g_strdup ("other");
}

static void
other_name (QuoitRequest *request)
{
  g_free (request->name);
  request->name = g_strdup ("other");
}

static void
other_number (QuoitRequest *request)
{
  request->n_slices = 2;
}

static void
other_topology (QuoitRequest *request)
{
  request->shape.dims[0] = request->shape.dims[1] = 4;
}

static void
other_generation (QuoitRequest *request)
{
  request->generation = QUOIT_GENERATION_V5E;
}

static void
other_hosts (QuoitRequest *request)
{
  request->chips_per_host = 8;
}

static void
a_pool (QuoitRequest *request)
{
  request->pool = g_strdup ("a");
}

static void
a_zone (QuoitRequest *request)
{
  request->zone = g_strdup ("z");
}

static void
a_selector (QuoitRequest *request)
{
  g_ptr_array_add (request->selectors, quoit_selector_new ("k", "!v", NULL));
}

static void
a_slice (QuoitRequest *request)
{
  g_ptr_array_add (request->slices, g_strdup ("a-0"));
}

static void
an_excluded_slice (QuoitRequest *request)
{
  g_ptr_array_add (request->excluded, g_strdup ("a-2"));
}

static void (*const differences[]) (QuoitRequest *)
    = { other_owner, other_name, other_number, other_topology, other_generation, other_hosts,
        a_pool,      a_zone,     a_selector,   a_slice,        an_excluded_slice };

START_TEST (a_key_of_another_request_is_a_conflict)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) request = request_for ("train", "k", 1);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 1);
  differences[_i](request);
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'k' was used for another request: group 'train'");
  ck_assert (release (&fleet, "train", &error));
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "key 'k' was used for another request");
}
END_TEST

START_TEST (what_is_said_in_another_way_is_the_same_request)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) one = request_for ("train", "k", 1), two = request_for ("train", "k", 1);
  g_autoptr (GError) error = NULL;

  one->owner = g_strdup ("");
  g_free (one->owner);
  one->owner = NULL;
  for (guint i = 0; i < 2; i++)
    {
      g_ptr_array_add (one->excluded, g_strdup (i == 0 ? "a-0" : "a-1"));
      g_ptr_array_add (two->excluded, g_strdup (i == 0 ? "a-1" : "a-0"));
      g_ptr_array_add (one->selectors, quoit_selector_new (i == 0 ? "x" : "y", "!v", NULL));
      g_ptr_array_add (two->selectors, quoit_selector_new (i == 0 ? "y" : "x", "!v", NULL));
    }
  ck_assert_uint_eq (reserve_at (&fleet, one, T0, &error), 1);
  ck_assert_uint_eq (reserve_at (&fleet, two, T0 + 1000, &error), 1);
  ck_assert_ok (error);
}
END_TEST

START_TEST (a_name_that_is_taken_is_a_conflict)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 1);
  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "'train@1'");
  ck_assert_uint_eq (reserve (&fleet, "train", "k", 1, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "'train@1'");
  ck_assert_uint_eq (fleet->seq, 1);
}
END_TEST

static const struct {
  const char *name, *key, *owner;
} bad_names[] = {
  { "", NULL, NULL },         { "a@b", NULL, NULL },  { "a/b", NULL, NULL }, { "a\nb", NULL, NULL },
  { "\xff\xfe", NULL, NULL }, { "x", "", NULL },      { "x", "k@1", NULL },  { "x", NULL, "o\tp" },
  { "x", NULL, "\xe2\x80" },  { "x", "a\x7f", NULL }, { "x", NULL, "a/b" },
};

START_TEST (what_is_no_name_is_invalid)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) request = request_for (bad_names[_i].name, bad_names[_i].key, 1);
  g_autoptr (GError) error = NULL;

  request->owner = g_strdup (bad_names[_i].owner);
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected");
}
END_TEST

/* --- name@id --- */

static const struct {
  const char *group;
  QuoitErrorCode code;
  const char *part;
} refs[] = {
  { "train@1", QUOIT_ERROR_CONFLICT, "'train@3' now, not '@1'" },
  { "train@9", QUOIT_ERROR_CONFLICT, "'train@3' now, not '@9'" },
  { "train@2", QUOIT_ERROR_CONFLICT, "'train@3' now" },
  { "gone@2", QUOIT_ERROR_CONFLICT, "it was released" },
  { "gone", QUOIT_ERROR_NOT_FOUND, "no group 'gone'" },
  { "never", QUOIT_ERROR_NOT_FOUND, "no group 'never'" },
  { "never@4", QUOIT_ERROR_NOT_FOUND, "no group 'never'" },
  { "", QUOIT_ERROR_INVALID, "expected NAME" },
  { "@3", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@0", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@-3", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@3x", QUOIT_ERROR_INVALID, "expected NAME" },
  { "train@9223372036854775808", QUOIT_ERROR_INVALID, "expected NAME" },
};

/* train@1 was released, and so was gone@2; train is train@3 now. */
START_TEST (a_late_or_repeated_release_frees_nothing_of_others)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 1);
  ck_assert_uint_eq (reserve (&fleet, "gone", NULL, 1, &error), 2);
  ck_assert (release (&fleet, "train@1", &error) && release (&fleet, "gone", &error));
  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 1, &error), 3);
  ck_assert (!release (&fleet, refs[_i].group, &error));
  ck_assert_refused (error, refs[_i].code, refs[_i].part);
  ck_assert_uint_eq (fleet->seq, 5);
  ck_assert (release (&fleet, "train@3", &error));
  ck_assert (!release (&fleet, "train@3", &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "it was released");
}
END_TEST

/* --- the clock --- */

static const struct {
  gint64 now_ms;
  const char *part;
} bad_clocks[] = {
  { T0 / 1000, "seconds" },     { T0 * 1000, "microseconds" }, { 0, "expected milliseconds" },
  { -1, "2000 to 2199" },       { G_MAXINT64, "expected" },    { G_MININT64, "expected" },
  { 946684799999, "expected" }, { 7258118400000, "expected" },
};

START_TEST (a_clock_in_another_unit_is_invalid_for_every_step)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (1);
  g_autoptr (QuoitRequest) request = request_for ("x", NULL, 1);
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("more", QUOIT_SOURCE_KIND_FLEET);
  const QuoitStateChange state = { "a-0-0", QUOIT_VERB_DRAIN, QUOIT_NODE_DRAINING };
  const QuoitGroupRef ref = { "y", 0 };
  const struct {
    QuoitStepFunc step;
    gconstpointer input;
  } steps[] = { { quoit_ledger_reserve, request },
                { quoit_ledger_release, &ref },
                { quoit_ledger_set_state, &state },
                { quoit_ledger_import, &claims } };
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      ck_assert (!change (&fleet, steps[i].step, steps[i].input, bad_clocks[_i].now_ms, NULL, &error));
      ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_clocks[_i].part);
    }
  ck_assert_uint_eq (fleet->seq, 0);
}
END_TEST

START_TEST (a_clock_that_goes_back_is_raised)
{
  static const struct {
    gint64 now_ms, time_ms;
  } clocks[] = { { 946684800000, 946684800000 },   { T0, T0 },           { T0 - 1, T0 }, { 946684800000, T0 },
                 { 7258118399999, 7258118399999 }, { T0, 7258118399999 } };
  g_autoptr (QuoitFleet) fleet = fleet_of (1);
  g_autoptr (GError) error = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS (clocks); i++)
    {
      const QuoitStateChange to = { "a-0-0", QUOIT_VERB_SET_STATE, i % 2 == 0 ? QUOIT_NODE_DEAD : QUOIT_NODE_ALIVE };

      ck_assert (change (&fleet, quoit_ledger_set_state, &to, clocks[i].now_ms, NULL, &error));
      ck_assert_int_eq (fleet->clock_ms, clocks[i].time_ms);
    }
}
END_TEST

/* --- node states --- */

enum { ALIVE = QUOIT_NODE_ALIVE, DRAINING = QUOIT_NODE_DRAINING, DEAD = QUOIT_NODE_DEAD, REFUSED = -1 };

static const struct {
  int before;
  QuoitVerb verb;
  int to, after;
} state_rules[] = {
  { ALIVE, QUOIT_VERB_DRAIN, 0, DRAINING },       { ALIVE, QUOIT_VERB_UNDRAIN, 0, ALIVE },
  { DRAINING, QUOIT_VERB_DRAIN, 0, DRAINING },    { DRAINING, QUOIT_VERB_UNDRAIN, 0, ALIVE },
  { DEAD, QUOIT_VERB_DRAIN, 0, REFUSED },         { DEAD, QUOIT_VERB_UNDRAIN, 0, REFUSED },
  { ALIVE, QUOIT_VERB_SET_STATE, DEAD, DEAD },    { DEAD, QUOIT_VERB_SET_STATE, ALIVE, ALIVE },
  { DEAD, QUOIT_VERB_SET_STATE, DEAD, DEAD },     { DEAD, QUOIT_VERB_SET_STATE, DRAINING, DRAINING },
  { DRAINING, QUOIT_VERB_SET_STATE, DEAD, DEAD }, { ALIVE, QUOIT_VERB_SET_STATE, DRAINING, DRAINING },
};

START_TEST (a_node_goes_from_state_to_state_as_the_verbs_say)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (1);
  g_autoptr (GError) error = NULL;
  guint64 seq;
  gboolean ok;

  ck_assert (set_state (&fleet, "a-0-0", QUOIT_VERB_SET_STATE, (QuoitNodeState) state_rules[_i].before, &error));
  seq = fleet->seq;
  ok = set_state (&fleet, "a-0-0", state_rules[_i].verb, (QuoitNodeState) state_rules[_i].to, &error);
  ck_assert_int_eq (ok, state_rules[_i].after != REFUSED);
  if (!ok)
    ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "is dead");
  else
    ck_assert_int_eq (state_of (fleet, "a-0-0"), state_rules[_i].after);
  /* What changes nothing leaves no entry. */
  ck_assert_uint_eq (fleet->seq - seq, ok && state_rules[_i].before != state_rules[_i].after);
  ck_assert (!set_state (&fleet, "a-7-0", state_rules[_i].verb, QUOIT_NODE_DEAD, &error));
  ck_assert_refused (error, QUOIT_ERROR_NOT_FOUND, "a-7-0");
}
END_TEST

START_TEST (a_group_reschedules_while_a_node_of_it_is_dead_or_draining)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (2);
  g_autoptr (GError) error = NULL;
  const QuoitGroupData *group;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 2, &error), 1);
  ck_assert (set_state (&fleet, "a-1-0", QUOIT_VERB_DRAIN, 0, &error));
  group = quoit_fleet_find_group (fleet, "train");
  ck_assert_int_eq (quoit_fleet_group_state (fleet, group), QUOIT_GROUP_RESCHEDULING);
  ck_assert_int_eq (quoit_fleet_group_slice_state (fleet, group, 0), QUOIT_GROUP_SLICE_WHOLE);
  ck_assert_int_eq (quoit_fleet_group_slice_state (fleet, group, 1), QUOIT_GROUP_SLICE_LEAVING);
  ck_assert (set_state (&fleet, "a-1-0", QUOIT_VERB_SET_STATE, QUOIT_NODE_DEAD, &error));
  ck_assert_int_eq (quoit_fleet_group_state (fleet, group), QUOIT_GROUP_RESCHEDULING);
  ck_assert_int_eq (quoit_fleet_group_slice_state (fleet, group, 1), QUOIT_GROUP_SLICE_LOST);
  ck_assert (set_state (&fleet, "a-1-0", QUOIT_VERB_SET_STATE, QUOIT_NODE_ALIVE, &error));
  ck_assert_int_eq (quoit_fleet_group_state (fleet, group), QUOIT_GROUP_RESERVED);
  ck_assert (release (&fleet, "train", &error));
  ck_assert_uint_eq (n_free (fleet), 2);
}
END_TEST

/* --- imports --- */

/* One letter a node of two-host slices: '.' alive, 'd' draining, 'x' dead, 'b' used, '-' not there; "ab|.." are two
 * slices. */
static QuoitClaims *
claims_of (const char *source, QuoitSourceKind kind, const char *drawn)
{
  g_autoptr (QuoitClaims) all = quoit_claims_new (source, kind);
  QuoitClaims *claims = quoit_claims_new (source, kind);
  const FixturePool pool = { "a", "2x4", "z", 8, QUOIT_GENERATION_V6E, 4 };
  const QuoitNodeClaim *nodes;
  guint32 n, at = 0;

  fixture_add_pool (all, &pool);
  nodes = quoit_claims_nodes (all, &n);
  for (const char *p = drawn; *p != '\0'; p++)
    {
      QuoitNodeClaim node;

      if (*p == '|')
        continue;
      node = nodes[at++];
      node.pool = quoit_claims_pool (claims, "a");
      node.kind = quoit_claims_kind (claims, quoit_claims_kind_at (all, node.kind), NULL);
      node.state = *p == 'x' ? QUOIT_NODE_DEAD : *p == 'd' ? QUOIT_NODE_DRAINING : QUOIT_NODE_ALIVE;
      node.flags = *p == 'b' ? QUOIT_NODE_EXTERNAL : 0;
      if (*p != '-')
        quoit_claims_add (claims, &node);
    }
  return claims;
}

/* The lines of the difference: "KIND NAME DETAIL;...". NULL: refused. */
static char *
import_claims (QuoitFleet **fleet, QuoitClaims *claims, GError **error)
{
  GString *text = g_string_new (NULL);
  GArray *changes = NULL;
  gboolean ok = change (fleet, quoit_ledger_import, &claims, T0, &changes, error);

  quoit_claims_free (claims);
  for (guint i = 0; ok && i < changes->len; i++)
    {
      const QuoitNodeChange *line = &g_array_index (changes, QuoitNodeChange, i);

      g_string_append_printf (text, "%d %s%s%s;", line->kind, line->name, line->detail == NULL ? "" : " ",
                              line->detail == NULL ? "" : line->detail);
    }
  g_clear_pointer (&changes, g_array_unref);
  return g_string_free (text, !ok);
}

static char *
import_drawn (QuoitFleet **fleet, const char *drawn, GError **error)
{
  return import_claims (fleet, claims_of ("test", QUOIT_SOURCE_KIND_FLEET, drawn), error);
}

static QuoitFleet *
fleet_drawn (const char *drawn)
{
  g_autoptr (QuoitLayout) nothing = quoit_layout_new (NULL, 0);
  QuoitFleet *fleet = quoit_fleet_new (nothing);
  g_autofree char *lines = import_drawn (&fleet, drawn, NULL);

  ck_assert_str_eq (lines, "");
  return fleet;
}

static const struct {
  const char *before, *after, *lines;
} imports[] = {
  { "..|..", "..|..", "" },
  { "bx|d.", "bx|d.", "" },
  { "..", "..|..", "1 a-1-0;1 a-1-1;" },
  { "..|..", "..", "2 a-1-0;2 a-1-1;" },
  { "..|..", "..|-.", "2 a-1-0;" },
  { "..|..", "x.|d.", "4 a-0-0 alive -> dead;4 a-1-0 alive -> draining;" },
  { "x.|d.", "..|..", "4 a-0-0 dead -> alive;4 a-1-0 draining -> alive;" },
  { "..", "b.", "3 a-0-0 other flags;" },
  { "b.", "..", "3 a-0-0 other flags;" },
  { "..", "", "2 a-0-0;2 a-0-1;5 a gone;" },
  { "", "..", "5 a new;1 a-0-0;1 a-0-1;" },
};

START_TEST (an_import_says_what_is_different_and_twice_is_once)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn (imports[_i].before), straight = fleet_drawn (imports[_i].after);
  g_autoptr (GError) error = NULL;
  g_autofree char *lines = import_drawn (&fleet, imports[_i].after, &error), *again = NULL;
  guint64 seq = fleet->seq;

  ck_assert_ok (error);
  ck_assert_str_eq (lines, imports[_i].lines);
  ck_assert_uint_eq (seq, *lines == '\0' ? 1 : 2);
  again = import_drawn (&fleet, imports[_i].after, &error);
  ck_assert_str_eq (again, "");
  ck_assert_uint_eq (fleet->seq, seq);
  ck_assert_uint_eq (fleet->layout->n_nodes, straight->layout->n_nodes);
  ck_assert_uint_eq (n_free (fleet), n_free (straight));
}
END_TEST

/* "train" has slice a-0; OK: the import is taken, and the group has what it had. */
static const struct {
  const char *after, *part; /* NULL: taken */
  QuoitGroupState state;
} held_imports[] = {
  { "..|..", NULL, QUOIT_GROUP_RESERVED },
  { "..", NULL, QUOIT_GROUP_RESERVED },
  { "..|..|..", NULL, QUOIT_GROUP_RESERVED },
  { "x.|..", NULL, QUOIT_GROUP_RESCHEDULING },
  { "xx|xx", NULL, QUOIT_GROUP_RESCHEDULING },
  { "dd|..", NULL, QUOIT_GROUP_RESCHEDULING },
  { "bb|..", NULL, QUOIT_GROUP_RESERVED },
  { "-.|..", "'a-0-0' would go, but group 'train@1' holds it", 0 },
  { "--|..", "'a-0-0' would go, but group 'train@1' holds it", 0 },
  { "", "would go, but group 'train@1' holds it", 0 },
};

START_TEST (a_held_node_cannot_go)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn ("..|..");
  g_autoptr (QuoitRequest) request = request_for ("train", NULL, 1);
  g_autoptr (GError) error = NULL;
  g_autofree char *lines = NULL;

  g_ptr_array_add (request->slices, g_strdup ("a-0"));
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
  lines = import_drawn (&fleet, held_imports[_i].after, &error);
  if (held_imports[_i].part != NULL)
    {
      ck_assert_ptr_null (lines);
      ck_assert_refused (error, QUOIT_ERROR_CONFLICT, held_imports[_i].part);
      return;
    }
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_fleet_group_state (fleet, quoit_fleet_find_group (fleet, "train")), held_imports[_i].state);
  ck_assert_uint_eq (quoit_fleet_find_group (fleet, "train")->n_nodes, 2);
}
END_TEST

/* What a held node may become, and what not. */
static void
other_worker (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->worker_id = 1 - node->worker_id;
}

static void
other_slice (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->slice = "elsewhere";
}

static void
no_slice (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->slice = NULL;
  node->worker_id = -1;
}

static void
other_incarnation (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->incarnation = "r2";
}

static void
other_chips (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  kind->chips = 8;
}

static void
other_pod_type (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  kind->pod_type = "v6e-16";
}

static void
other_address (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->address = "10.1.2.3";
}

static void
other_labels (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  kind->n_labels = 0;
}

static void
other_identity (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->identity = "a-new-machine";
}

static const struct {
  void (*change) (QuoitNodeClaim *, QuoitNodeKind *);
  const char *refusal; /* NULL: allowed */
  const char *lines;
} replacements[] = {
  { other_worker, "worker 0 -> 1", NULL },
  { other_slice, "slice a-0 -> elsewhere", NULL },
  { no_slice, "slice a-0 -> none", NULL },
  { other_incarnation, "another incarnation", NULL },
  { other_chips, "other topology, pod type or chips", NULL },
  { other_pod_type, "other topology, pod type or chips", NULL },
  { other_identity, "would go", NULL },
  { other_address, NULL, "3 a-0-0 address none -> 10.1.2.3;" },
  { other_labels, NULL, "3 a-0-0 other labels or resources;" },
};

/* The first node is another. */
static QuoitClaims *
claims_changed (const char *drawn, void (*alter) (QuoitNodeClaim *, QuoitNodeKind *))
{
  g_autoptr (QuoitClaims) all = claims_of ("test", QUOIT_SOURCE_KIND_FLEET, drawn);
  QuoitClaims *claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_FLEET);
  guint32 n;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (all, &n);

  for (guint32 i = 0; i < n; i++)
    {
      QuoitNodeClaim node = nodes[i];
      QuoitNodeKind kind = *quoit_claims_kind_at (all, node.kind);

      if (i == 0)
        alter (&node, &kind);
      node.pool = quoit_claims_pool (claims, "a");
      node.kind = quoit_claims_kind (claims, &kind, NULL);
      quoit_claims_add (claims, &node);
    }
  return claims;
}

START_TEST (a_held_node_cannot_become_another)
{
  for (guint free_first = 0; free_first < 2; free_first++)
    {
      g_autoptr (QuoitFleet) fleet = fleet_drawn ("..|..");
      g_autoptr (GError) error = NULL;
      g_autofree char *lines = NULL;

      ck_assert_uint_eq (reserve (&fleet, "train", NULL, 2, &error), 1);
      if (free_first)
        ck_assert (release (&fleet, "train", &error));
      lines = import_claims (&fleet, claims_changed ("..|..", replacements[_i].change), &error);
      if (free_first || replacements[_i].refusal == NULL)
        ck_assert_ok (error);
      else
        ck_assert_refused (error, QUOIT_ERROR_CONFLICT, replacements[_i].refusal);
      if (replacements[_i].lines != NULL)
        ck_assert_str_eq (lines, replacements[_i].lines);
    }
}
END_TEST

static void
kind_of_dead (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->state = QUOIT_NODE_DEAD;
  kind->n_resources = 0;
}

static void
kind_of_dead_with_assumed_chips (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  node->state = QUOIT_NODE_DEAD;
  kind->resources++;
  kind->n_resources = 1;
}

START_TEST (a_dead_node_of_which_nothing_is_told_keeps_what_it_had)
{
  static void (*const dead[]) (QuoitNodeClaim *, QuoitNodeKind *) = { kind_of_dead, kind_of_dead_with_assumed_chips };

  for (guint i = 0; i < G_N_ELEMENTS (dead); i++)
    {
      g_autoptr (QuoitFleet) fleet = fleet_drawn ("..");
      g_autoptr (GError) error = NULL;
      g_autofree char *lines = import_claims (&fleet, claims_changed ("..", dead[i]), &error), *back = NULL;

      ck_assert_ok (error);
      ck_assert_str_eq (lines, "4 a-0-0 alive -> dead;");
      ck_assert_uint_eq (quoit_layout_node_kind (fleet->layout, (QuoitNodeId) { 0 })->n_resources, 2);
      back = import_drawn (&fleet, "..", &error);
      ck_assert_str_eq (back, "4 a-0-0 dead -> alive;");
    }
}
END_TEST

/* A text or manifest has dead nodes of another kind with no more than chips. */
static void
kind_of_dead_in_another_zone (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  kind_of_dead_with_assumed_chips (node, kind);
  kind->n_labels = 0;
}

static void
kind_of_dead_of_another_machine (QuoitNodeClaim *node, QuoitNodeKind *kind)
{
  kind_of_dead_with_assumed_chips (node, kind);
  kind->pod_type = "v6e-16";
}

START_TEST (a_dead_node_of_which_something_is_told_is_what_is_told)
{
  static const struct {
    void (*change) (QuoitNodeClaim *, QuoitNodeKind *);
    const char *detail;
  } dead[] = { { kind_of_dead_in_another_zone, "other labels or resources" },
               { kind_of_dead_of_another_machine, "other topology, pod type or chips" } };

  for (guint i = 0; i < G_N_ELEMENTS (dead); i++)
    {
      g_autoptr (QuoitFleet) fleet = fleet_drawn ("..");
      g_autoptr (GError) error = NULL;
      g_autofree char *lines = import_claims (&fleet, claims_changed ("..", dead[i].change), &error);
      g_autofree char *expected = g_strdup_printf ("3 a-0-0 %s;4 a-0-0 alive -> dead;", dead[i].detail);

      ck_assert_ok (error);
      ck_assert_str_eq (lines, expected);
      ck_assert_uint_eq (quoit_layout_node_kind (fleet->layout, (QuoitNodeId) { 0 })->n_resources, 1);
    }
}
END_TEST

START_TEST (a_state_stays_until_the_source_says_another_than_it_did)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn ("..");
  g_autoptr (GError) error = NULL;
  g_autofree char *same = NULL, *other = NULL, *agreed = NULL;

  ck_assert (set_state (&fleet, "a-0-0", QUOIT_VERB_SET_STATE, QUOIT_NODE_DEAD, &error));
  same = import_drawn (&fleet, "..", &error);
  ck_assert_str_eq (same, "");
  ck_assert_int_eq (state_of (fleet, "a-0-0"), QUOIT_NODE_DEAD);
  other = import_drawn (&fleet, "d.", &error);
  ck_assert_int_eq (state_of (fleet, "a-0-0"), QUOIT_NODE_DRAINING);
  ck_assert (set_state (&fleet, "a-0-0", QUOIT_VERB_UNDRAIN, 0, &error));
  agreed = import_drawn (&fleet, "..", &error);
  ck_assert_int_eq (state_of (fleet, "a-0-0"), QUOIT_NODE_ALIVE);
  ck_assert_ok (error);
}
END_TEST

/* A job runs on the slices that it holds, and a listing shows them used: that is the group's own use. */
START_TEST (what_a_group_explains_is_not_external)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn ("..|..");
  g_autoptr (GError) error = NULL;
  g_autofree char *used = NULL, *idle = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 2, &error), 1);
  used = import_drawn (&fleet, "bb|..", &error);
  ck_assert_uint_eq (quoit_fleet_find_group (fleet, "train")->n_nodes, 2 * 2);
  ck_assert (release (&fleet, "train", &error));
  /* What the source said last stands until it says something else: a used host must never read as free. */
  ck_assert_uint_eq (n_free (fleet), 1);
  ck_assert_uint_eq (reserve (&fleet, "next", NULL, 2, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "1");
  idle = import_drawn (&fleet, "..|..", &error);
  ck_assert_uint_eq (reserve (&fleet, "next", NULL, 2, &error), 2);
  ck_assert_ok (error);
}
END_TEST

START_TEST (a_source_is_of_one_kind_and_a_machine_of_one_source_of_a_kind)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn ("..");
  g_autoptr (GError) error = NULL;
  g_autofree char *lines = NULL;

  ck_assert_ptr_null (import_claims (&fleet, claims_of ("test", QUOIT_SOURCE_KIND_RAY_NODES, ".."), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "of another kind already");

  for (guint by_address = 0; by_address < 2; by_address++)
    for (guint second = 0; second < 2; second++)
      {
        g_autoptr (QuoitClaims) drawn = claims_of ("x", QUOIT_SOURCE_KIND_FLEET, ".");
        QuoitClaims *claims = quoit_claims_new (second ? "two" : "one", QUOIT_SOURCE_KIND_RAY_NODES);
        guint32 n;
        QuoitNodeClaim node = *quoit_claims_nodes (drawn, &n);

        node.pool = quoit_claims_pool (claims, "a");
        node.kind = quoit_claims_kind (claims, quoit_claims_kind_at (drawn, node.kind), NULL);
        node.name = second ? "n2" : "n1";
        node.identity = by_address ? node.name : "machine";
        node.address = by_address ? "10.0.0.1" : NULL;
        quoit_claims_add (claims, &node);
        g_free (lines);
        lines = import_claims (&fleet, claims, &error);
        if (second)
          ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "is a machine that source 'one' claims already");
        ck_assert_ok (error);
      }
}
END_TEST

/* --- what a group has, and what it was asked for --- */

static const struct {
  gint64 tpu_e4; /* a bundle, as it was placed; 0: whole hosts */
  const char *request, *part;
} requests[] = {
  { 0, "v6e 2x4 x 1 hostchips=4", NULL },
  { 10000, "v6e 2x4 x 1 hostchips=4 tpu-per-bundle=1", NULL },
  { 0, "v6e 2x4 x 1 hostchips=4 tpu-per-bundle=1", "group 'train@1' has whole hosts" },
  { 0, "v6e 2x4 x 1 hostchips=4 tpu-per-bundle=4", "group 'train@1' has whole hosts" },
  { 10000, "v6e 2x4 x 1 hostchips=4", "group 'train@1' has bundles" },
};

START_TEST (a_group_grows_only_by_what_it_has)
{
  g_autoptr (QuoitFleet) fleet = fleet_of (3);
  g_autoptr (QuoitRequest) request = request_for ("train", NULL, 1);
  g_autoptr (QuoitEntry) entry = NULL;
  g_autoptr (GError) error = NULL;
  QuoitGroupData facts;
  gboolean ok;

  request->tpu_per_bundle.e4 = requests[_i].tpu_e4;
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
  facts = quoit_group_data_facts (quoit_fleet_find_group (fleet, "train"));
  facts.request = requests[_i].request;
  ck_assert (quoit_fleet_replace_group (fleet, quoit_group_data_new (&facts), &error));
  ok = quoit_ledger_resize (fleet, &(QuoitResize) { { "train", 0 }, 2 }, T0, &entry, NULL, &error);
  ck_assert_int_eq (ok, requests[_i].part == NULL);
  ck_assert_int_eq (ok, entry != NULL);
  if (ok)
    ck_assert (quoit_entry_apply (entry, &fleet, &error) && quoit_fleet_check (fleet, &error));
  else
    ck_assert_refused (error, QUOIT_ERROR_DAMAGED, requests[_i].part);
}
END_TEST

/* --- replay --- */

/* The entries say what happened: carried out again they give the same, whatever would be decided today. */
START_TEST (replay_never_decides)
{
  g_autoptr (QuoitLayout) nothing = quoit_layout_new (NULL, 0);
  g_autoptr (QuoitFleet) fleet = quoit_fleet_new (nothing);
  QuoitClaims *claims = claims_of ("test", QUOIT_SOURCE_KIND_FLEET, "..|..|..");
  g_autoptr (QuoitRequest) request = request_for ("train", NULL, 1);
  g_autoptr (QuoitEntry) import = NULL, made = NULL, moved = NULL;
  g_autoptr (QuoitGroupData) group = NULL;
  g_autoptr (GError) error = NULL;
  GArray *changes = NULL;
  const guint32 others[] = { 5, 6 };
  QuoitGroupData elsewhere;

  ck_assert (quoit_ledger_import (fleet, &claims, T0, &import, &changes, &error));
  g_array_unref (changes);
  ck_assert (quoit_entry_apply (import, &fleet, &error));
  ck_assert (quoit_ledger_reserve (fleet, request, T0, &made, &group, &error));

  /* Another policy, of another time, chose the last slice. */
  elsewhere = *group;
  elsewhere.node_ids = others;
  moved = quoit_entry_new (fleet, QUOIT_VERB_RESERVE, T0);
  quoit_entry_add (moved,
                   (QuoitEffect) { .type = QUOIT_EFFECT_GROUP_ADDED, .group = quoit_group_data_new (&elsewhere) });
  ck_assert (quoit_entry_apply (moved, &fleet, &error));
  ck_assert (quoit_fleet_check (fleet, &error));
  ck_assert_uint_eq (quoit_fleet_find_group (fleet, "train")->node_ids[0], 5);

  /* The same entry does not follow itself, and an entry of the past follows nothing. */
  ck_assert (!quoit_entry_apply (moved, &fleet, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "does not follow");
  g_clear_pointer (&made, quoit_entry_unref);
  made = quoit_entry_new (fleet, QUOIT_VERB_DRAIN, T0 - 1);
  quoit_entry_add (made, (QuoitEffect) { .type = QUOIT_EFFECT_NODE_STATE, .node_id = 1, .state = 1 });
  ck_assert (!quoit_entry_apply (made, &fleet, &error));
  ck_assert_refused (error, QUOIT_ERROR_DAMAGED, "does not follow");
}
END_TEST

#define LOOP(tcase, test, table) tcase_add_loop_test (tcase, test, 0, (int) G_N_ELEMENTS (table))

int
main (void)
{
  Suite *suite = suite_create ("ledger");
  TCase *groups = tcase_create ("groups"), *nodes = tcase_create ("nodes");

  tcase_add_test (groups, a_retry_returns_the_group_and_reserves_nothing);
  tcase_add_test (groups, a_retry_after_release_returns_the_removed_group);
  LOOP (groups, a_key_of_another_request_is_a_conflict, differences);
  tcase_add_test (groups, what_is_said_in_another_way_is_the_same_request);
  tcase_add_test (groups, a_name_that_is_taken_is_a_conflict);
  LOOP (groups, what_is_no_name_is_invalid, bad_names);
  LOOP (groups, a_late_or_repeated_release_frees_nothing_of_others, refs);
  LOOP (groups, a_clock_in_another_unit_is_invalid_for_every_step, bad_clocks);
  tcase_add_test (groups, a_clock_that_goes_back_is_raised);
  LOOP (groups, a_group_grows_only_by_what_it_has, requests);
  LOOP (nodes, a_node_goes_from_state_to_state_as_the_verbs_say, state_rules);
  tcase_add_test (nodes, a_group_reschedules_while_a_node_of_it_is_dead_or_draining);
  LOOP (nodes, an_import_says_what_is_different_and_twice_is_once, imports);
  LOOP (nodes, a_held_node_cannot_go, held_imports);
  LOOP (nodes, a_held_node_cannot_become_another, replacements);
  tcase_add_test (nodes, a_dead_node_of_which_nothing_is_told_keeps_what_it_had);
  tcase_add_test (nodes, a_dead_node_of_which_something_is_told_is_what_is_told);
  tcase_add_test (nodes, a_state_stays_until_the_source_says_another_than_it_did);
  tcase_add_test (nodes, what_a_group_explains_is_not_external);
  tcase_add_test (nodes, a_source_is_of_one_kind_and_a_machine_of_one_source_of_a_kind);
  tcase_add_test (nodes, replay_never_decides);
  suite_add_tcase (suite, groups);
  suite_add_tcase (suite, nodes);
  return suite_main (suite);
}
