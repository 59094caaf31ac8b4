/* SPDX-License-Identifier: Apache-2.0 */
/* Changes by an import: the differences of a source, allocated nodes, and the owner of each machine. */
#include "ledger-steps.h"

/* The differences, one per line: "KIND NAME DETAIL;...". NULL: refused. */
static char *
import_claims (QuoitFleet **fleet, QuoitClaims *claims, GError **error)
{
  GString *text = g_string_new (NULL);
  g_auto (QuoitOutcome) outcome = { 0 };
  gboolean ok = change (fleet, &(QuoitAction) { QUOIT_ACTION_IMPORT, .claims = &claims }, T0, &outcome, error);

  quoit_claims_free (claims);
  for (guint i = 0; ok && i < outcome.changes->len; i++)
    {
      const QuoitNodeChange *line = &g_array_index (outcome.changes, QuoitNodeChange, i);

      g_string_append_printf (text, "%d %s%s%s;", line->kind, line->name, line->detail == NULL ? "" : " ",
                              line->detail == NULL ? "" : line->detail);
    }
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

START_TEST (import_reports_differences_and_repeating_it_changes_nothing)
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

/* "train" has slice a-0. With OK the import succeeds, and the group keeps its nodes. */
static const struct {
  const char *after, *part; /* NULL: success */
  QuoitGroupState state;
} allocated_imports[] = {
  { "..|..", NULL, QUOIT_GROUP_RESERVED },
  { "..", NULL, QUOIT_GROUP_RESERVED },
  { "..|..|..", NULL, QUOIT_GROUP_RESERVED },
  { "x.|..", NULL, QUOIT_GROUP_RESCHEDULING },
  { "xx|xx", NULL, QUOIT_GROUP_RESCHEDULING },
  { "dd|..", NULL, QUOIT_GROUP_RESCHEDULING },
  { "bb|..", NULL, QUOIT_GROUP_RESERVED },
  { "-.|..", "'a-0-0' cannot be removed: group 'train@1' uses it", 0 },
  { "--|..", "'a-0-0' cannot be removed: group 'train@1' uses it", 0 },
  { "", "cannot be removed: group 'train@1' uses it", 0 },
};

START_TEST (import_cannot_remove_an_allocated_node)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn ("..|..");
  g_autoptr (QuoitRequest) request = request_for ("train", NULL, 1);
  g_autoptr (GError) error = NULL;
  g_autofree char *lines = NULL;

  quoit_request_add_slice_name (request, request->slices, "a-0");
  ck_assert_uint_eq (reserve_at (&fleet, request, T0, &error), 1);
  lines = import_drawn (&fleet, allocated_imports[_i].after, &error);
  if (allocated_imports[_i].part != NULL)
    {
      ck_assert_ptr_null (lines);
      ck_assert_refused (error, QUOIT_ERROR_CONFLICT, allocated_imports[_i].part);
      return;
    }
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_fleet_group_state (fleet, quoit_fleet_find_group (fleet, "train")),
                    allocated_imports[_i].state);
  ck_assert_uint_eq (quoit_fleet_find_group (fleet, "train")->n_nodes, 2);
}
END_TEST

/* Allowed and refused changes of an allocated node. */
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
  { other_identity, "cannot be removed", NULL },
  { other_address, NULL, "3 a-0-0 address none -> 10.1.2.3;" },
  { other_labels, NULL, "3 a-0-0 other labels or resources;" },
};

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
      node.pool = quoit_claims_ensure_pool (claims, "a");
      node.kind = quoit_claims_intern_kind (claims, &kind, NULL);
      quoit_claims_add (claims, &node);
    }
  return claims;
}

START_TEST (import_cannot_replace_an_allocated_node)
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

START_TEST (dead_node_without_details_keeps_its_properties)
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

/* Dead nodes of a text or manifest have a class of their own, with the chips only. */
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

START_TEST (dead_node_with_details_gets_the_new_properties)
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

START_TEST (set_state_stays_until_the_source_reports_a_change)
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

/* A job runs on its own slices, and a listing shows them as used: that use belongs to the group. */
START_TEST (use_of_a_node_by_its_group_is_not_external)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn ("..|..");
  g_autoptr (GError) error = NULL;
  g_autofree char *used = NULL, *idle = NULL;

  ck_assert_uint_eq (reserve (&fleet, "train", NULL, 2, &error), 1);
  used = import_drawn (&fleet, "bb|..", &error);
  ck_assert_uint_eq (quoit_fleet_find_group (fleet, "train")->n_nodes, 2 * 2);
  ck_assert (release (&fleet, "train", &error));
  /* A node keeps its source's last report until the next one: a used host must never count as free. */
  ck_assert_uint_eq (n_free (fleet), 1);
  ck_assert_uint_eq (reserve (&fleet, "next", NULL, 2, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_NOT_NOW, "1");
  idle = import_drawn (&fleet, "..|..", &error);
  ck_assert_uint_eq (reserve (&fleet, "next", NULL, 2, &error), 2);
  ck_assert_ok (error);
}
END_TEST

START_TEST (source_has_one_kind_and_machine_has_one_source_of_each_kind)
{
  g_autoptr (QuoitFleet) fleet = fleet_drawn ("..");
  g_autoptr (GError) error = NULL;
  g_autofree char *lines = NULL;

  ck_assert_ptr_null (import_claims (&fleet, claims_of ("test", QUOIT_SOURCE_KIND_RAY_NODES, ".."), &error));
  ck_assert_refused (error, QUOIT_ERROR_CONFLICT, "is of another kind");

  for (guint by_address = 0; by_address < 2; by_address++)
    for (guint second = 0; second < 2; second++)
      {
        g_autoptr (QuoitClaims) drawn = claims_of ("x", QUOIT_SOURCE_KIND_FLEET, ".");
        QuoitClaims *claims = quoit_claims_new (second ? "two" : "one", QUOIT_SOURCE_KIND_RAY_NODES);
        guint32 n;
        QuoitNodeClaim node = *quoit_claims_nodes (drawn, &n);

        node.pool = quoit_claims_ensure_pool (claims, "a");
        node.kind = quoit_claims_intern_kind (claims, quoit_claims_kind_at (drawn, node.kind), NULL);
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

int
main (void)
{
  Suite *suite = suite_create ("imports");
  TCase *tcase = tcase_create ("imports");

  LOOP (tcase, import_reports_differences_and_repeating_it_changes_nothing, imports);
  LOOP (tcase, import_cannot_remove_an_allocated_node, allocated_imports);
  LOOP (tcase, import_cannot_replace_an_allocated_node, replacements);
  tcase_add_test (tcase, dead_node_without_details_keeps_its_properties);
  tcase_add_test (tcase, dead_node_with_details_gets_the_new_properties);
  tcase_add_test (tcase, set_state_stays_until_the_source_reports_a_change);
  tcase_add_test (tcase, use_of_a_node_by_its_group_is_not_external);
  tcase_add_test (tcase, source_has_one_kind_and_machine_has_one_source_of_each_kind);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
