/* SPDX-License-Identifier: Apache-2.0 */
/* The view of a fleet that policies get: nodes, free amounts, labels. */
#include "suite.h"
#include "fixture.h"
#include "placement/view.h"

/* Pool a: two v6e 4x4 slices of four hosts in zone z; pool b: three 2x4 slices of one host of 8 chips. */
static QuoitFleet *
fleet_new (void)
{
  static const FixturePool pools[]
      = { { "a", "4x4", "z", 2, QUOIT_GENERATION_V6E, 4 }, { "b", "2x4", NULL, 3, QUOIT_GENERATION_V6E, 8 } };

  return fixture_fleet (pools, G_N_ELEMENTS (pools));
}

static QuoitNodeId
node_of (const QuoitFleet *fleet, const char *name)
{
  QuoitNodeId node = { 0 };

  ck_assert (quoit_layout_lookup_node (fleet->layout, name, &node, NULL));
  return node;
}

/* A group of one bundle on @name. */
static void
take_part (QuoitFleet *fleet, const char *name, QuoitBundle bundle)
{
  guint32 id = fleet->layout->nodes[node_of (fleet, name).index].id;
  g_autofree char *group = g_strdup_printf ("g%u", (guint) fleet->next_group_id);
  GError *error = NULL;

  quoit_fleet_add_group (fleet,
                         quoit_group_data_new (&(QuoitGroupData) { .id = fleet->next_group_id,
                                                                   .state = QUOIT_GROUP_RESERVED,
                                                                   .kind = QUOIT_RECORD_BUNDLES,
                                                                   .name = group,
                                                                   .owner = "",
                                                                   .key = "",
                                                                   .request = "PACK 1x{TPU=1}",
                                                                   .n_nodes = 1,
                                                                   .node_ids = &id,
                                                                   .bundles = &bundle }),
                         &error);
  ck_assert_ok (error);
}

/* "dead b-1-0", "draining b-1-0", "whole a-1", "TPU a-0-0": 1.5 chips and 2 CPU; "head a-0-0", "implicit a-0-0". */
static void
apply_action (QuoitFleet *fleet, const char *action)
{
  g_auto (GStrv) words = g_strsplit (action, " ", 2);
  QuoitTake chips[] = { { "CPU", { 20000 } }, { "TPU", { 15000 } } }, head[] = { { "TPU-v6e-16-head", { 10000 } } },
            implicit[] = { { "node:__internal_implicit_resource_x", { 4000 } } };
  QuoitSliceId slice;

  if (strcmp (action, "ever") == 0)
    return;
  if (strcmp (words[0], "dead") == 0)
    quoit_fleet_set_node_state (fleet, node_of (fleet, words[1]), QUOIT_NODE_DEAD);
  else if (strcmp (words[0], "draining") == 0)
    quoit_fleet_set_node_state (fleet, node_of (fleet, words[1]), QUOIT_NODE_DRAINING);
  else if (strcmp (words[0], "TPU") == 0)
    take_part (fleet, words[1],
               (QuoitBundle) { .n_takes = 2, .takes = chips, .chips = 1, .chip = 2, .part = { 5000 } });
  else if (strcmp (words[0], "head") == 0)
    take_part (fleet, words[1], (QuoitBundle) { .n_takes = 1, .takes = head });
  else if (strcmp (words[0], "implicit") == 0)
    take_part (fleet, words[1], (QuoitBundle) { .n_takes = 1, .takes = implicit });
  else
    {
      ck_assert (quoit_layout_lookup_slice (fleet->layout, words[1], &slice, NULL));
      ck_assert (quoit_fleet_add_group (
          fleet, fixture_group (fleet, words[1], "", fleet->next_group_id, &slice.index, 1), NULL));
    }
}

static void
put_amount (GString *text, gint64 e4)
{
  g_autofree char *amount = quoit_amount_format ((QuoitAmount) { e4 });

  g_string_append (text, amount);
}

/* "a-0-0 TPU 2.5/4 chips 0,1,0.5,1 filters 0,2 domain 1": free and total amounts, and the filters that match. */
static void
put_node (GString *text, const QuoitFleetView *v, guint32 i)
{
  gsize n = v->bundles.n_resources;
  const QuoitNodeChips *chips = v->view.chips == NULL ? NULL : &v->view.chips[i];

  g_string_append (text, quoit_layout_node_name (v->fleet->layout, (QuoitNodeId) { v->nodes[i] }));
  for (guint32 r = 0; r < n; r++)
    {
      g_string_append_printf (text, " %s ", v->bundles.resources[r]);
      put_amount (text, v->view.available[i * n + r]);
      g_string_append_c (text, '/');
      put_amount (text, v->view.total[i * n + r]);
    }
  for (guint c = 0; chips != NULL && c < chips->n; c++)
    {
      g_string_append (text, c == 0 ? " chips " : ",");
      put_amount (text, chips->chip_e4[c]);
    }
  for (guint32 f = 0, any = 0; f < v->bundles.n_filters; f++)
    if ((v->view.passes[f * quoit_view_words (&v->view) + i / 64] >> (i % 64) & 1) != 0)
      g_string_append_printf (text, "%s%u", any++ == 0 ? " filters " : ",", f);
  if (v->view.domain != NULL && v->view.domain[i] != QUOIT_NO_INDEX)
    g_string_append_printf (text, " domain %u", v->view.domain[i]);
}

static const struct {
  const char *actions, *request, *nodes; /* the action "ever": the total of every known node */
} views[] = {
  { "", "PACK 1x{TPU=8} pool=b", "3: b-0-0 TPU 8/8; b-1-0 TPU 8/8; b-2-0 TPU 8/8" },
  { "dead b-0-0,draining b-1-0", "PACK 1x{TPU=8} pool=b", "1: b-2-0 TPU 8/8" },
  { "dead b-0-0,draining b-1-0,whole b-2,ever", "PACK 1x{TPU=8} pool=b",
    "3: b-0-0 TPU 8/8; b-1-0 TPU 8/8; b-2-0 TPU 8/8" },
  { "whole b-1", "PACK 1x{CPU=1,TPU=8} pool=b",
    "3: b-0-0 CPU 8/8 TPU 8/8; b-1-0 CPU 0/8 TPU 0/8; b-2-0 CPU 8/8 TPU 8/8" },
  /* Chips are listed if sums are not enough. */
  { "TPU b-1-0", "PACK 1x{CPU=1,TPU=1} slice=b-1", "1: b-1-0 CPU 6/8 TPU 6.5/8 chips 0,1,0.5,1,1,1,1,1" },
  { "", "PACK 1x{TPU=0.5} slice=b-1", "1: b-1-0 TPU 8/8 chips 1,1,1,1,1,1,1,1" },
  { "TPU b-1-0", "PACK 1x{TPU=1} policy=ray slice=b-1", "1: b-1-0 TPU 6.5/8" },
  { "TPU b-1-0", "PACK 1x{CPU=1} slice=b-1", "1: b-1-0 CPU 6/8" },
  { "TPU b-1-0,ever", "PACK 1x{CPU=1,TPU=1} slice=b-1", "1: b-1-0 CPU 8/8 TPU 8/8" },
  /* Resources that Ray derives, and those of every node. */
  { "", "PACK 1x{TPU-v6e-16-head=1,a-0=1} slice=a-0",
    "4: a-0-0 TPU-v6e-16-head 1/1 a-0 1/1; a-0-1 TPU-v6e-16-head 0/0 a-0 1/1; a-0-2 TPU-v6e-16-head 0/0 a-0 1/1; "
    "a-0-3 TPU-v6e-16-head 0/0 a-0 1/1" },
  { "head a-0-0", "PACK 1x{TPU-v6e-16-head=1} slice=a-0 select=ray.io/tpu-worker-id=0",
    "1: a-0-0 TPU-v6e-16-head 0/1" },
  { "whole a-0", "PACK 1x{a-0=1,none=1} select=ray.io/tpu-worker-id=0 pool=a",
    "2: a-0-0 a-0 0/1 none 0/0; a-1-0 a-0 0/0 none 0/0" },
  { "implicit b-1-0,whole b-2", "PACK 1x{node:__internal_implicit_resource_x=0.5} pool=b",
    "3: b-0-0 node:__internal_implicit_resource_x 1/1; b-1-0 node:__internal_implicit_resource_x 0.6/1; "
    "b-2-0 node:__internal_implicit_resource_x 0/1" },
  { "implicit b-1-0", "PACK 1x{node:__internal_implicit_resource_y=1} slice=b-1",
    "1: b-1-0 node:__internal_implicit_resource_y 1/1" },
  { "", "PACK 1x{CPU=1} 1x{CPU=1;kubernetes.io/hostname=b-1-0} 1x{CPU=2} slice=b-0 slice=b-1",
    "2: b-0-0 CPU 8/8 filters 0; b-1-0 CPU 8/8 filters 0,1" },
  { "", "PACK 1x{CPU=1;ray.io/tpu-slice-name=in(b-2,b-0,nowhere)} 1x{CPU=1;ray.io/tpu-slice-name=b-2}",
    "2: b-0-0 CPU 8/8 filters 0; b-2-0 CPU 8/8 filters 0,1" },
  { "dead b-2-0", "PACK 1x{CPU=1;ray.io/tpu-slice-name=b-2;ray.io/tpu-worker-id=0}", "1:" },
  { "", "PACK 1x{CPU=1;ray.io/tpu-slice-name=!b-2} pool=b",
    "3: b-0-0 CPU 8/8 filters 0; b-1-0 CPU 8/8 filters 0; b-2-0 CPU 8/8" },
  { "",
    "PACK 1x{CPU=1;ray.io/availability-zone=z} 1x{CPU=1;ray.io/availability-zone=!z} slice=b-1 slice=a-1 "
    "select=ray.io/tpu-worker-id=0",
    "2: a-1-0 CPU 8/8 filters 0; b-1-0 CPU 8/8 filters 1" },
  { "", "PACK 1x{CPU=1;ray.io/node-group=a} 1x{CPU=1;ray.io/node-group=!in(a,c)} select=ray.io/tpu-worker-id=0",
    "5: a-0-0 CPU 8/8 filters 0; a-1-0 CPU 8/8 filters 0; b-0-0 CPU 8/8 filters 1; b-1-0 CPU 8/8 filters 1; "
    "b-2-0 CPU 8/8 filters 1" },
  { "", "PACK 1x{CPU=1;k=v} slice=b-1", "1: b-1-0 CPU 8/8" },
  { "", "PACK 1x{CPU=1;k=!v} 2x{CPU=1;k=!v} slice=b-1", "1: b-1-0 CPU 8/8 filters 0" },
  { "", "PACK 1x{CPU=1;ray.io/tpu-slice-name=b-0;ray.io/tpu-slice-name=b-1}", "1: b-0-0 CPU 8/8" },
  /* Constraints of the request. */
  { "", "PACK 1x{CPU=1} zone=z slice=a-1 slice=b-0 select=ray.io/tpu-worker-id=in(1,2)",
    "2: a-1-1 CPU 8/8; a-1-2 CPU 8/8" },
  { "", "PACK 1x{CPU=1} pool=b exclude-slice=b-0 exclude-slice=b-2", "1: b-1-0 CPU 8/8" },
  { "", "PACK 1x{CPU=1} topology-label=ray.io/tpu-slice-name values=1 select=ray.io/tpu-worker-id=in(0,1)",
    "7: a-0-0 CPU 8/8 domain 0; a-0-1 CPU 8/8 domain 0; a-1-0 CPU 8/8 domain 1; a-1-1 CPU 8/8 domain 1; "
    "b-0-0 CPU 8/8 domain 2; b-1-0 CPU 8/8 domain 3; b-2-0 CPU 8/8 domain 4" },
  { "", "PACK 1x{CPU=1} topology-label=ray.io/availability-zone values=1 select=ray.io/tpu-worker-id=0",
    "5: a-0-0 CPU 8/8 domain 0; a-1-0 CPU 8/8 domain 0; b-0-0 CPU 8/8; b-1-0 CPU 8/8; b-2-0 CPU 8/8" },
  { "", "PACK 1x{CPU=1} topology-label=ray.io/tpu-worker-id values=1 slice=a-0 slice=b-0",
    "5: a-0-0 CPU 8/8 domain 0; a-0-1 CPU 8/8 domain 1; a-0-2 CPU 8/8 domain 2; a-0-3 CPU 8/8 domain 3; "
    "b-0-0 CPU 8/8 domain 0" },
  { "", "PACK 1x{CPU=1;ray.io/tpu-slice-name=b-1} topology-label=k values=1 pool=b",
    "3: b-0-0 CPU 8/8; b-1-0 CPU 8/8 filters 0; b-2-0 CPU 8/8" },
};

static char *
view_text (const QuoitFleet *fleet, const char *request_text, QuoitViewTime time)
{
  GError *error = NULL;
  g_autoptr (QuoitRequest) request = quoit_request_parse_canonical (request_text, &error);
  GString *text = g_string_new (NULL);
  QuoitFleetView view;

  ck_assert_ok (error);
  quoit_fleet_view_init (&view, fleet, request, NULL, request->bundles->len, time, &error);
  ck_assert_ok (error);
  g_string_append_printf (text, "%u:", view.view.n_candidates);
  for (guint32 i = 0; i < view.view.n_nodes; i++)
    {
      g_string_append (text, i == 0 ? " " : "; ");
      put_node (text, &view, i);
    }
  quoit_fleet_view_clear (&view);
  return g_string_free (text, FALSE);
}

START_TEST (view_has_usable_nodes_with_their_free_resources)
{
  g_autoptr (QuoitFleet) fleet = fleet_new ();
  g_auto (GStrv) actions = g_strsplit (views[_i].actions, ",", -1);
  g_autofree char *got = NULL;
  GError *error = NULL;
  const char *expected = strchr (views[_i].nodes, ':');

  for (char **action = actions; *action != NULL; action++)
    apply_action (fleet, *action);
  ck_assert (quoit_fleet_check (fleet, &error));
  got = view_text (fleet, views[_i].request,
                   g_str_has_suffix (views[_i].actions, "ever") ? QUOIT_VIEW_EVER : QUOIT_VIEW_NOW);
  ck_assert_msg (strcmp (strchr (got, ':'), expected) == 0, "%s, %s: expected\n%s\ngot\n%s", views[_i].actions,
                 views[_i].request, expected, strchr (got, ':'));
}
END_TEST

/* The numbers that matter: STRICT_SPREAD needs one node per bundle. */
static const struct {
  const char *actions, *request;
  guint32 n;
} counts[] = {
  { "", "PACK 1x{CPU=1;ray.io/tpu-slice-name=nowhere}", 1 },
  { "", "STRICT_SPREAD 9x{CPU=1;ray.io/tpu-slice-name=b-0}", 9 },
  { "", "STRICT_SPREAD 20x{CPU=1;ray.io/tpu-slice-name=b-0}", 11 },
  { "dead a-0-0,draining a-0-1", "STRICT_SPREAD 20x{CPU=1;ray.io/tpu-slice-name=b-0}", 9 },
  { "", "STRICT_SPREAD 20x{CPU=1;ray.io/tpu-slice-name=b-0} pool=b", 3 },
  { "", "STRICT_SPREAD 20x{CPU=1;ray.io/tpu-slice-name=b-0} slice=b-0", 1 },
  { "", "PACK 20x{CPU=1}", 11 },
};

START_TEST (candidates_include_nodes_without_free_resources)
{
  g_autoptr (QuoitFleet) fleet = fleet_new ();
  g_auto (GStrv) actions = g_strsplit (counts[_i].actions, ",", -1);
  g_autofree char *got = NULL, *expected = g_strdup_printf ("%u:", counts[_i].n);

  for (char **action = actions; *action != NULL; action++)
    apply_action (fleet, *action);
  got = view_text (fleet, counts[_i].request, QUOIT_VIEW_NOW);
  ck_assert_msg (g_str_has_prefix (got, expected), "%s: expected %s got %s", counts[_i].request, expected, got);
}
END_TEST

START_TEST (candidates_include_nodes_of_remaining_bundles)
{
  g_autoptr (QuoitFleet) fleet = fleet_new ();
  g_autoptr (QuoitRequest) request
      = quoit_request_parse_canonical ("STRICT_SPREAD 9x{CPU=1;ray.io/tpu-slice-name=b-0}", NULL);
  const guint32 lost[] = { 4 };
  QuoitFleetView view;

  ck_assert (quoit_fleet_view_init (&view, fleet, request, lost, 1, QUOIT_VIEW_NOW, NULL));
  ck_assert_uint_eq (view.view.n_nodes, 1);
  ck_assert_uint_eq (view.view.n_candidates, 9);
  quoit_fleet_view_clear (&view);
}
END_TEST

static const struct {
  const char *request;
  QuoitErrorCode code;
  const char *part;
} refusals[] = {
  { "PACK 1x{CPU=1} pool=c", QUOIT_ERROR_NOT_FOUND, "no pool 'c'" },
  { "PACK 1x{CPU=1} slice=c", QUOIT_ERROR_NOT_FOUND, "no slice 'c'" },
  { "PACK 1x{CPU=1} exclude-slice=c", QUOIT_ERROR_NOT_FOUND, "no slice 'c'" },
  { "STRICT_PACK 1x{CPU=1} soft-target=c", QUOIT_ERROR_NOT_FOUND, "soft target: no node 'c'" },
};

START_TEST (view_with_unknown_name_is_refused)
{
  g_autoptr (QuoitFleet) fleet = fleet_new ();
  g_autoptr (QuoitRequest) request = quoit_request_parse_canonical (refusals[_i].request, NULL);
  GError *error = NULL;
  QuoitFleetView view;

  ck_assert (!quoit_fleet_view_init (&view, fleet, request, NULL, 1, QUOIT_VIEW_NOW, &error));
  ck_assert_refused (error, refusals[_i].code, refusals[_i].part);
}
END_TEST

/* The same worker, lost twice and then replaced, counts as one machine, not three. */
START_TEST (replaced_dead_node_is_counted_once)
{
  g_autoptr (QuoitClaims) claims = quoit_claims_new ("test", QUOIT_SOURCE_KIND_RAY_NODES);
  g_autoptr (QuoitRequest) request = quoit_request_parse_canonical ("PACK 1x{CPU=1}", NULL);
  static const FixturePool pool = { "a", "4x4", NULL, 1, QUOIT_GENERATION_V6E, 4 };
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;
  QuoitFleetView view;

  fixture_add_slice (claims, &pool, "a-0");
  for (guint i = 0; i < 2; i++)
    {
      g_autofree char *name = g_strdup_printf ("a-0-1~%u", i);

      quoit_claims_add (claims,
                        &(QuoitNodeClaim) { .name = name, .slice = "a-0", .worker_id = 1, .state = QUOIT_NODE_DEAD });
    }
  layout = fixture_layout (claims);
  fleet = quoit_fleet_new (layout);
  ck_assert (quoit_fleet_view_init (&view, fleet, request, NULL, 1, QUOIT_VIEW_EVER, NULL));
  ck_assert_uint_eq (view.view.n_nodes, 4);
  quoit_fleet_view_clear (&view);
  quoit_fleet_set_node_state (fleet, node_of (fleet, "a-0-1"), QUOIT_NODE_DEAD);
  ck_assert (quoit_fleet_view_init (&view, fleet, request, NULL, 1, QUOIT_VIEW_EVER, NULL));
  ck_assert_uint_eq (view.view.n_nodes, 4);
  quoit_fleet_view_clear (&view);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("view");
  TCase *tcase = tcase_create ("view");

  tcase_add_loop_test (tcase, view_has_usable_nodes_with_their_free_resources, 0, G_N_ELEMENTS (views));
  tcase_add_loop_test (tcase, candidates_include_nodes_without_free_resources, 0, G_N_ELEMENTS (counts));
  tcase_add_test (tcase, candidates_include_nodes_of_remaining_bundles);
  tcase_add_loop_test (tcase, view_with_unknown_name_is_refused, 0, G_N_ELEMENTS (refusals));
  tcase_add_test (tcase, replaced_dead_node_is_counted_once);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
