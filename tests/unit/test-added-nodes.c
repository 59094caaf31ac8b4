/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes that a caller adds: the same nodes as Ray's JSON make the same claims and the same journal, and an update of a
 * few nodes makes the same fleet as a sync of all. */
#include "nodes-model.h"

#include "store/codec.h"

enum { N_FLEETS = 300, N_WALKS = 60, N_STEPS = 60 };

/* --- checks --- */

static const QuoitAmount one = { QUOIT_AMOUNT_UNIT };

static gboolean
add_wrong (QuoitAddedNodes *added, int which, GError **error)
{
  char long_text[300] = { 0 };

  memset (long_text, 'n', 254);
  switch (which)
    {
    case 0:
      return quoit_added_nodes_add (added, NULL, "", "10.0.0.1", QUOIT_NODE_ALIVE, error);
    case 1:
      return quoit_added_nodes_add (added, NULL, "y", NULL, (QuoitNodeState) 3, error);
    case 2:
      return quoit_added_nodes_add (added, NULL, long_text, NULL, QUOIT_NODE_ALIVE, error);
    case 3:
      return quoit_added_nodes_add (added, "\xff", "y", NULL, QUOIT_NODE_ALIVE, error);
    case 4:
      return quoit_added_nodes_set_label (added, "-k", "v", error);
    case 5:
      return quoit_added_nodes_set_label (added, "k", "a b", error);
    case 6:
      return quoit_added_nodes_set_resource (added, "chips", (QuoitAmount) { -1 }, error);
    case 7:
      return quoit_added_nodes_set_resource (added, "", one, error);
    case 8:
      return quoit_added_nodes_set_resource (added, long_text, one, error);
    case 9:
      return quoit_added_nodes_set_resource (added, "\xff", one, error);
    case 10:
      return quoit_added_nodes_set_slice (added, "", 0, "v6e", "4x4", error);
    case 11:
      return quoit_added_nodes_set_slice (added, "a b", 0, "v6e", "4x4", error);
    case 12:
      return quoit_added_nodes_set_slice (added, "s", -1, "v6e", "4x4", error);
    case 13:
      return quoit_added_nodes_set_slice (added, "s", 32768, "v6e", "4x4", error);
    case 14:
      return quoit_added_nodes_set_slice (added, "s", 0, "v99", "4x4", error);
    case 15:
      return quoit_added_nodes_set_slice (added, "s", 0, "v6e", "4x4x4", error);
    case 16:
      return quoit_added_nodes_remove (added, "", error);
    default:
      return quoit_added_nodes_remove (added, long_text, error);
    }
}

static const char *const wrong[] = {
  "node 1: neither an id nor a name",
  "node 1 'y': state '3': expected a QuoitNodeState",
  ": expected at most 253 bytes",
  "node 1 'y': id '\\xff': expected UTF-8",
  "node 0 'x': label '-k': label key '-k': expected [PREFIX/]NAME",
  "node 0 'x': label 'k': label value 'a b': expected at most 63",
  "node 0 'x': resource 'chips': '-1': expected an amount in ten-thousandths that is not negative",
  "node 0 'x': resource '': no name: expected one such as CPU",
  ": 254 bytes: expected at most 253",
  "expected UTF-8",
  "node 0 'x': slice '': expected a name",
  "node 0 'x': slice: label value 'a b': expected",
  "node 0 'x': worker id '-1': expected 0 to 32767",
  "node 0 'x': worker id '32768': expected 0 to 32767",
  "node 0 'x': ",
  "node 0 'x': ",
  "id '': expected the id of a node to remove",
  "expected at most 253 bytes",
};

static guint32
count_nodes (const QuoitClaims *claims)
{
  guint32 n;

  quoit_claims_nodes (claims, &n);
  return n;
}

START_TEST (wrong_fact_is_refused_and_changes_nothing)
{
  g_autoptr (QuoitAddedNodes) added = quoit_added_nodes_new ();
  g_autoptr (QuoitClaims) claims = NULL;
  GError *error = NULL;
  guint n_removed;

  ck_assert (!quoit_added_nodes_set_label (added, "k", "v", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "label 'k': no node has it");
  ck_assert (!quoit_added_nodes_set_resource (added, "CPU", one, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "resource 'CPU': no node has it");
  ck_assert (!quoit_added_nodes_set_slice (added, "s", 0, "v6e", "4x4", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "slice 's': no node has it");

  ck_assert (quoit_added_nodes_add (added, NULL, "x", NULL, QUOIT_NODE_ALIVE, NULL));
  ck_assert (!add_wrong (added, _i, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, wrong[_i]);
  ck_assert (!add_wrong (added, _i, NULL));

  quoit_added_nodes_removed (added, &n_removed);
  ck_assert_uint_eq (n_removed, 0);
  claims = quoit_read_ray_files (&(QuoitRayFiles) { .added = added }, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (count_nodes (claims), 1);
  ck_assert_uint_eq (quoit_claims_kind_at (claims, 0)->n_labels + quoit_claims_kind_at (claims, 0)->n_resources, 0);
}
END_TEST

START_TEST (last_label_and_resource_replace_earlier_ones_and_256_are_the_most)
{
  g_autoptr (QuoitAddedNodes) added = quoit_added_nodes_new ();
  g_autoptr (QuoitClaims) claims = NULL;
  GError *error = NULL;

  ck_assert (quoit_added_nodes_add (added, NULL, "x", NULL, QUOIT_NODE_ALIVE, NULL));
  for (guint i = 0; i < 256; i++)
    {
      g_autofree char *name = g_strdup_printf ("k%u", i);

      ck_assert (quoit_added_nodes_set_label (added, name, "v", NULL));
      ck_assert (quoit_added_nodes_set_resource (added, name, one, NULL));
    }
  ck_assert (quoit_added_nodes_set_label (added, "k7", "w", NULL));
  ck_assert (quoit_added_nodes_set_resource (added, "k7", (QuoitAmount) { 5 }, NULL));
  ck_assert (!quoit_added_nodes_set_label (added, "more", "v", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "node 0 'x': label 'more': one label too many: expected at most 256");
  ck_assert (!quoit_added_nodes_set_resource (added, "more", one, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "node 0 'x': resource 'more': one resource too many");
  ck_assert (!quoit_added_nodes_set_slice (added, "s", 0, "v6e", "4x4", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "one label too many");

  claims = quoit_read_ray_files (&(QuoitRayFiles) { .added = added }, &error);
  ck_assert_ok (error);
  for (guint i = 0; i < 256; i++)
    {
      const QuoitNodeKind *kind = quoit_claims_kind_at (claims, 0);
      gboolean is_replaced = strcmp (kind->labels[i].key, "k7") == 0;

      ck_assert_str_eq (kind->labels[i].value, is_replaced ? "w" : "v");
      ck_assert_int_eq (kind->resources[i].amount.e4, is_replaced ? 5 : QUOIT_AMOUNT_UNIT);
    }
}
END_TEST

/* Facts that are wrong together are found by the reader. "id|label=value|resource:e4"; words of one node. */
static const struct {
  const char *nodes, *message;
} refused_together[] = {
  { "a TPU:15000", "node 0 'a': resource 'TPU': '1.5': expected a whole number of chips, at most 65535" },
  { "a TPU:655360000", "node 0 'a': resource 'TPU': '65536': expected a whole number of chips" },
  { "a;a", "node 1 'a': node id 'a': expected each id once" },
  { "b;a ray.io/tpu-worker-id=x", "node 1 'a': label 'ray.io/tpu-worker-id': 'x': expected a worker id" },
  { "a ray.io/tpu-pod-type=v6e", "node 0 'a': label 'ray.io/tpu-pod-type': 'v6e': expected a pod type" },
  { "a ray.io/accelerator-type=TPU-V99", "node 0 'a': label 'ray.io/accelerator-type': " },
  { "a ray.io/accelerator-type=TPU-V4 ray.io/tpu-pod-type=v6e-16",
    "node 0 'a': label 'ray.io/accelerator-type': 'TPU-V4': expected the generation of the pod type 'v6e-16'" },
};

static QuoitAddedNodes *
added_from (const char *text)
{
  QuoitAddedNodes *added = quoit_added_nodes_new ();
  g_auto (GStrv) nodes = g_strsplit (text, ";", -1);

  for (guint i = 0; nodes[i] != NULL; i++)
    {
      g_auto (GStrv) words = g_strsplit (nodes[i], " ", -1);

      ck_assert (quoit_added_nodes_add (added, words[0], NULL, NULL, QUOIT_NODE_ALIVE, NULL));
      for (guint w = 1; words[w] != NULL; w++)
        {
          char *end = strpbrk (words[w], "=:");
          gboolean is_label = *end == '=';

          *end = '\0';
          ck_assert (is_label ? quoit_added_nodes_set_label (added, words[w], end + 1, NULL)
                              : quoit_added_nodes_set_resource (
                                  added, words[w], (QuoitAmount) { g_ascii_strtoll (end + 1, NULL, 10) }, NULL));
        }
    }
  return added;
}

START_TEST (facts_that_are_wrong_together_are_refused_with_their_node)
{
  g_autoptr (QuoitAddedNodes) added = added_from (refused_together[_i].nodes);
  GError *error = NULL;

  ck_assert_ptr_null (quoit_read_ray_files (&(QuoitRayFiles) { .added = added }, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, refused_together[_i].message);
}
END_TEST

START_TEST (update_refuses_chips_without_labels)
{
  g_autoptr (QuoitAddedNodes) added = added_from ("a TPU:40000");
  g_autoptr (QuoitClaims) claims = quoit_read_ray_files (&(QuoitRayFiles) { .added = added }, NULL);
  GError *error = NULL;

  ck_assert_uint_eq (count_nodes (claims), 1);
  ck_assert_ptr_null (quoit_read_ray_files (&(QuoitRayFiles) { .added = added, .flags = QUOIT_RAY_UPDATE }, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "node 0 'a': chips, but none of Ray's TPU labels");
}
END_TEST

START_TEST (name_is_the_id_of_a_node_without_one)
{
  g_autoptr (QuoitAddedNodes) added = quoit_added_nodes_new ();
  g_autoptr (QuoitClaims) claims = NULL;
  const QuoitNodeClaim *nodes;
  guint32 n;

  ck_assert (quoit_added_nodes_add (added, NULL, "x", "x", QUOIT_NODE_ALIVE, NULL));
  ck_assert (quoit_added_nodes_add (added, "1", NULL, "10.0.0.1", QUOIT_NODE_DEAD, NULL));
  ck_assert (quoit_added_nodes_add (added, "2", NULL, NULL, QUOIT_NODE_DRAINING, NULL));
  ck_assert (quoit_added_nodes_set_resource (added, "node:__internal_head__", one, NULL));
  ck_assert (quoit_added_nodes_add (added, "3", "x", NULL, QUOIT_NODE_ALIVE, NULL));
  claims = quoit_read_ray_files (&(QuoitRayFiles) { .added = added }, NULL);
  nodes = quoit_claims_nodes (claims, &n);
  ck_assert_uint_eq (n, 4);
  /* Two alive nodes have the name, so each gets its id too. */
  ck_assert_str_eq (nodes[0].name, "x~x");
  ck_assert_str_eq (nodes[0].identity, "x");
  ck_assert_str_eq (nodes[0].address, "x");
  ck_assert_str_eq (nodes[1].name, "10.0.0.1");
  ck_assert_str_eq (nodes[1].identity, "1");
  ck_assert_int_eq (nodes[1].state, QUOIT_NODE_DEAD);
  ck_assert_str_eq (nodes[2].name, "2");
  ck_assert_ptr_null (nodes[2].address);
  ck_assert_int_eq (nodes[2].flags, QUOIT_NODE_RAY_HEAD);
  ck_assert_str_eq (nodes[3].name, "x~3");
}
END_TEST

/* --- the same nodes as JSON --- */

static QuoitEntry *
last_entry (QuoitStore *store)
{
  g_autoptr (QuoitFleet) fleet = quoit_store_fleet (store);
  g_autoptr (GPtrArray) entries = quoit_store_entries (store, fleet->seq - 1, NULL);

  ck_assert_uint_eq (entries->len, 1);
  return quoit_entry_ref (entries->pdata[0]);
}

static void
assert_same_bytes (QuoitStore *a, QuoitStore *b)
{
  g_autoptr (QuoitEntry) entry_a = last_entry (a), entry_b = last_entry (b);
  g_autoptr (GByteArray) bytes_a = quoit_codec_encode (entry_a), bytes_b = quoit_codec_encode (entry_b);

  ck_assert_uint_eq (entry_a->seq, entry_b->seq);
  ck_assert_uint_eq (bytes_a->len, bytes_b->len);
  ck_assert_mem_eq (bytes_a->data, bytes_b->data, bytes_a->len);
}

static void
assert_same_fleets (QuoitStore *a, QuoitStore *b)
{
  g_autoptr (QuoitFleet) fleet_a = quoit_store_fleet (a), fleet_b = quoit_store_fleet (b);
  GError *error = NULL;

  ck_assert_msg (quoit_step_compare (fleet_a, fleet_b, &error), "%s", error == NULL ? "" : error->message);
}

static void
sync_claims (QuoitStore *store, QuoitClaims *claims)
{
  g_autoptr (QuoitClaims) taken = claims;
  GError *error = NULL;

  ck_assert_ptr_nonnull (claims);
  ck_assert_msg (
      quoit_store_change (store, &(QuoitAction) { QUOIT_ACTION_SYNC, .claims = &taken }, T0, NULL, NULL, &error), "%s",
      error == NULL ? "" : error->message);
}

/* Both readers refuse the nodes with the same message, apart from the place. */
static gboolean
are_both_refused (const GError *json, const GError *added)
{
  if (json == NULL && added == NULL)
    return FALSE;
  ck_assert_msg (json != NULL && added != NULL, "%s", json != NULL ? json->message : added->message);
  ck_assert_str_eq (strstr (json->message, "]: ") + 2, strchr (added->message, ':') + 1);
  return TRUE;
}

START_TEST (same_nodes_as_json_make_the_same_entries)
{
  for (guint seed = (guint) _i * 1000; seed < (guint) _i * 1000 + N_FLEETS; seed++)
    {
      g_auto (Model) model = model_new (seed);
      g_autoptr (QuoitStore) by_json = quoit_store_new_memory (), by_added = quoit_store_new_memory ();

      model.has_labels = _i == 0;
      for (guint step = 0; step < 5; step++)
        {
          g_autoptr (GError) json_error = NULL, added_error = NULL;
          QuoitClaims *json = model_read_json (&model, &json_error), *added = model_read_added (&model, &added_error);

          if (!are_both_refused (json_error, added_error))
            {
              sync_claims (by_json, json);
              sync_claims (by_added, added);
              assert_same_bytes (by_json, by_added);
              assert_same_fleets (by_json, by_added);
            }
          for (guint i = 0; i < 4; i++)
            model_change (&model, model_below (&model, MODEL_PLACES));
        }
    }
}
END_TEST

/* --- updates --- */

typedef struct {
  Model model;
  Model before; /* the last list */
  QuoitStore *synced, *updated;
  guint n_groups;
} Walk;

/* Adds a node of the plan: a manifest with the places of the hosts. */
static QuoitClaims *
plan_of (const Model *model)
{
  g_autoptr (QuoitClaims) nodes = model_read_json (model, NULL);
  QuoitClaims *plan = quoit_claims_new ("plan", QUOIT_SOURCE_KIND_RAYCLUSTER);
  guint32 n;
  const QuoitNodeClaim *claims = quoit_claims_nodes (nodes, &n);

  for (guint32 i = 0; i < n; i++)
    if (claims[i].slice != NULL && i % 3 != 0)
      {
        g_autofree char *name = g_strdup_printf ("planned-%u", i);
        QuoitNodeClaim copy = { .name = name, .slice = claims[i].slice, .worker_id = claims[i].worker_id };

        copy.pool = quoit_claims_ensure_pool (plan, quoit_claims_pool_at (nodes, claims[i].pool)->name);
        copy.kind = quoit_claims_intern_kind (plan, quoit_claims_kind_at (nodes, claims[i].kind), NULL);
        quoit_claims_add (plan, &copy);
      }
  return plan;
}

/* Returns the claims of the nodes that differ from the last list, and adds the others that it had to @added. */
static QuoitClaims *
read_changes (const Walk *walk, QuoitAddedNodes *added)
{
  GError *error = NULL;
  QuoitClaims *claims;

  for (guint place = 0; place < MODEL_PLACES; place++)
    {
      const ModelNode *node = &walk->model.nodes[place], *before = &walk->before.nodes[place];

      if (memcmp (node, before, sizeof *node) == 0)
        continue;
      if (before->is_there && (!node->is_there || node->number != before->number))
        {
          ModelFacts gone;

          model_facts (&walk->before, place, &gone);
          ck_assert (quoit_added_nodes_remove (added, gone.id, NULL));
        }
      if (node->is_there)
        {
          ModelFacts facts;

          model_facts (&walk->model, place, &facts);
          model_add (added, &facts, node->state);
        }
    }
  claims = quoit_read_ray_files (&(QuoitRayFiles) { .added = added, .flags = QUOIT_RAY_UPDATE }, &error);
  ck_assert_ok (error);
  return claims;
}

static gboolean
update (QuoitStore *store, QuoitClaims *claims, const QuoitAddedNodes *added, QuoitOutcome *outcome, GError **error)
{
  QuoitAction action = { QUOIT_ACTION_UPDATE_NODES, .nodes = { .claims = claims } };

  action.nodes.removed = quoit_added_nodes_removed (added, &action.nodes.n_removed);
  return quoit_store_change (store, &action, T0, outcome, NULL, error);
}

/* Asserts that both entries have the same effects. The pools of a source can be in another order. */
static void
assert_same_effects (QuoitStore *a, QuoitStore *b)
{
  g_autoptr (QuoitEntry) x = last_entry (a), y = last_entry (b);

  ck_assert_uint_eq (x->seq, y->seq);
  ck_assert_int_eq (x->verb, y->verb);
  ck_assert_uint_eq (x->n_effects, y->n_effects);
  for (guint i = 0; i < x->n_effects; i++)
    {
      ck_assert_int_eq (x->effects[i].type, y->effects[i].type);
      if (x->effects[i].type == QUOIT_EFFECT_IMPORT)
        {
          const QuoitSourceUpdate *p = x->effects[i].import, *q = y->effects[i].import;

          ck_assert_uint_eq (count_nodes (p->claims), count_nodes (q->claims));
          ck_assert_uint_eq (p->n_removed, q->n_removed);
          ck_assert_uint_eq (quoit_claims_n_pools (p->claims), quoit_claims_n_pools (q->claims));
        }
    }
}

static void
sync_and_update (Walk *walk)
{
  g_autoptr (QuoitAddedNodes) added = quoit_added_nodes_new ();
  g_autoptr (QuoitClaims) all = model_read_added (&walk->model, NULL), some = read_changes (walk, added);
  g_auto (QuoitOutcome) after_sync = { 0 }, after_update = { 0 };
  g_autoptr (GError) first = NULL, second = NULL;
  gboolean is_synced = quoit_store_change (walk->synced, &(QuoitAction) { QUOIT_ACTION_SYNC, .claims = &all }, T0,
                                           &after_sync, NULL, &first),
           is_updated = update (walk->updated, some, added, &after_update, &second);

  ck_assert_msg (is_synced == is_updated, "%s / %s", first == NULL ? "" : first->message,
                 second == NULL ? "" : second->message);
  if (!is_synced)
    {
      ck_assert_str_eq (first->message, second->message);
      /* Nothing has changed, so the next list differs from this one. */
      memcpy (walk->model.nodes, walk->before.nodes, sizeof walk->model.nodes);
      return;
    }
  ck_assert_uint_eq (after_sync.changes->len, after_update.changes->len);
  assert_same_effects (walk->synced, walk->updated);
  assert_same_fleets (walk->synced, walk->updated);
  walk->before = walk->model;
}

static void
reserve_or_release (Walk *walk)
{
  g_autofree char *name = g_strdup_printf ("g%u", model_below (&walk->model, 4));
  g_autoptr (QuoitRequest) request = request_for (name, NULL, 1);
  QuoitStore *stores[] = { walk->synced, walk->updated };
  gboolean is_release = model_below (&walk->model, 2) == 0, ok[2];

  request->shape = (QuoitShape) { .n_dims = 2, .dims = { 4, 4, 1 } };
  for (guint i = 0; i < 2; i++)
    ok[i] = is_release ? store_release (stores[i], name, NULL)
                       : quoit_store_change (stores[i], &(QuoitAction) { QUOIT_ACTION_RESERVE, .request = request }, T0,
                                             NULL, NULL, NULL);
  ck_assert_int_eq (ok[0], ok[1]);
}

static void
run_walk (guint32 seed, gboolean has_plan, QuoitStore *updated)
{
  g_autoptr (QuoitStore) synced = quoit_store_new_memory ();
  g_auto (Model) model = model_new (seed);
  Walk walk = { .model = model, .before = model, .synced = synced, .updated = updated };
  QuoitStore *stores[] = { synced, updated };

  for (guint i = 0; i < 2; i++)
    {
      QuoitClaims *claims = model_read_json (&model, NULL);

      if (has_plan)
        {
          sync_claims (stores[i], plan_of (&model));
          quoit_claims_set_join (claims, "plan");
        }
      sync_claims (stores[i], claims);
    }
  for (guint step = 0; step < N_STEPS; step++)
    {
      reserve_or_release (&walk);
      for (guint n = model_below (&walk.model, 4); n > 0; n--)
        model_change (&walk.model, model_below (&walk.model, MODEL_PLACES));
      sync_and_update (&walk);
    }
}

START_TEST (update_makes_the_fleet_of_a_sync)
{
  for (guint32 seed = 0; seed < N_WALKS; seed++)
    {
      g_autoptr (QuoitStore) updated = quoit_store_new_memory ();

      run_walk (seed, _i == 1, updated);
      ck_assert (quoit_store_verify (updated, NULL));
    }
}
END_TEST

START_TEST (updates_survive_a_restart)
{
  TestPaths paths = test_paths_new ();
  GError *error = NULL;
  g_autoptr (QuoitStore) store = quoit_store_create (paths.path, 1000, &error), again = NULL;

  ck_assert_ok (error);
  run_walk (7, _i == 1, store);
  again = quoit_store_open (paths.path, 1000, &error);
  ck_assert_ok (error);
  assert_same_fleets (store, again);
  ck_assert (quoit_store_verify (again, &error));
  test_paths_clear (&paths);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("added nodes");
  TCase *tcase = tcase_create ("added nodes");

  G_STATIC_ASSERT (G_N_ELEMENTS (wrong) == 18);
  tcase_add_loop_test (tcase, wrong_fact_is_refused_and_changes_nothing, 0, (int) G_N_ELEMENTS (wrong));
  tcase_add_test (tcase, last_label_and_resource_replace_earlier_ones_and_256_are_the_most);
  tcase_add_loop_test (tcase, facts_that_are_wrong_together_are_refused_with_their_node, 0,
                       (int) G_N_ELEMENTS (refused_together));
  tcase_add_test (tcase, update_refuses_chips_without_labels);
  tcase_add_test (tcase, name_is_the_id_of_a_node_without_one);
  tcase_add_loop_test (tcase, same_nodes_as_json_make_the_same_entries, 0, 2);
  tcase_add_loop_test (tcase, update_makes_the_fleet_of_a_sync, 0, 2);
  tcase_add_loop_test (tcase, updates_survive_a_restart, 0, 2);
  tcase_set_timeout (tcase, 300);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
