/* SPDX-License-Identifier: Apache-2.0 */
#include "suite.h"
#include "fixture.h"
#include "launch/topology.h"
#include "launch/webhook.h"

/* A group of the first slices of one pool, or of a manifest if there is a cluster. */
typedef struct {
  const char *cluster;
  FixturePool pool;
  guint32 n_slices;
  gboolean has_addresses, has_assumed_names;
  QuoitPair env[6];
} Case;

static void
add_head (QuoitClaims *claims, const char *cluster)
{
  g_autofree char *name = g_strconcat (cluster, "-head", NULL);
  QuoitNodeKind kind = { 0 };

  quoit_claims_add (claims, &(QuoitNodeClaim) { .name = name,
                                                .pool = quoit_claims_ensure_pool (claims, "headgroup"),
                                                .kind = quoit_claims_intern_kind (claims, &kind, NULL),
                                                .worker_id = -1,
                                                .flags = QUOIT_NODE_RAY_HEAD });
}

static void
give_addresses (QuoitClaims *claims)
{
  guint32 n;
  QuoitNodeClaim *nodes = (QuoitNodeClaim *) quoit_claims_nodes (claims, &n);

  for (guint32 i = 0; i < n; i++)
    {
      g_autofree char *address = g_strdup_printf ("10.0.0.%u", i);

      nodes[i].address = quoit_claims_intern_text (claims, address);
    }
}

static void
assume_names (QuoitClaims *claims)
{
  guint32 n;
  QuoitNodeClaim *nodes = (QuoitNodeClaim *) quoit_claims_nodes (claims, &n);

  for (guint32 i = 0; i < n; i++)
    nodes[i].flags |= QUOIT_NODE_ASSUMED_NAME;
}

static QuoitTopology *
topology_of (const Case *of)
{
  g_autoptr (QuoitClaims) claims
      = quoit_claims_new ("test", of->cluster == NULL ? QUOIT_SOURCE_KIND_FLEET : QUOIT_SOURCE_KIND_RAYCLUSTER);
  g_autoptr (QuoitLayout) layout = NULL;
  g_autoptr (QuoitFleet) fleet = NULL;
  g_autoptr (QuoitGroupData) group = NULL;
  g_autofree guint32 *slices = g_new (guint32, of->n_slices);
  guint16 n_env = 0;

  if (of->cluster != NULL)
    add_head (claims, of->cluster);
  fixture_add_pool (claims, &of->pool);
  if (of->has_addresses)
    give_addresses (claims);
  if (of->has_assumed_names)
    assume_names (claims);
  while (n_env < G_N_ELEMENTS (of->env) && of->env[n_env].key != NULL)
    n_env++;
  quoit_claims_set_pool_env (claims, quoit_claims_ensure_pool (claims, of->pool.pool), of->env, n_env);

  layout = fixture_layout (claims);
  fleet = quoit_fleet_new (layout);
  for (guint32 i = 0; i < of->n_slices; i++)
    slices[i] = i;
  group = fixture_group (fleet, "g", "", 1, slices, of->n_slices);
  return quoit_topology_quoit (&(QuoitTopologyInput) { layout, group, NULL },
                               &(QuoitLaunch) { .profile = QUOIT_PROFILE_QUOIT, .per_host = 1 }, NULL);
}

static char *
variables_as_text (const QuoitTopology *topology, guint process)
{
  const QuoitProcess *of = &g_array_index (topology->processes, QuoitProcess, process);
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < of->variables->len; i++)
    g_string_append_printf (text, "%s%s=%s", i > 0 ? " " : "", quoit_variable_name (of->variables->pdata[i]),
                            quoit_variable_value (of->variables->pdata[i]));
  return g_string_free (text, FALSE);
}

static gboolean
has_note (const QuoitTopology *topology, const char *part)
{
  for (guint i = 0; i < topology->notes->len; i++)
    if (strstr (topology->notes->pdata[i], part) != NULL)
      return TRUE;
  return FALSE;
}

#define V6E(n)                                                                                                         \
  {                                                                                                                    \
    .pool = "tpu", .topology = "4x4", .n_slices = n, .generation = QUOIT_GENERATION_V6E                                \
  }
#define ALONE(n)                                                                                                       \
  {                                                                                                                    \
    .pool = "tpu", .topology = "2x4", .n_slices = n, .generation = QUOIT_GENERATION_V6E                                \
  }
#define TPU7X(shape, n)                                                                                                \
  {                                                                                                                    \
    .pool = "tpu", .topology = shape, .n_slices = n, .generation = QUOIT_GENERATION_TPU7X                              \
  }
#define LONG_NAME "extremely-long-raycluster-name-to-be-truncated"

static const struct {
  Case of;
  guint process, n_processes;
  const char *variables;
} environments[] = {
  { { .pool = V6E (1), .n_slices = 1 },
    3,
    4,
    "TPU_ACCELERATOR_TYPE=v6e-16 TPU_NAME=tpu-0 TPU_TOPOLOGY=4x4 TPU_WORKER_HOSTNAMES=tpu-0-0,tpu-0-1,tpu-0-2,tpu-0-3 "
    "TPU_WORKER_ID=3" },
  { { .pool = V6E (2), .n_slices = 1, .has_addresses = TRUE },
    0,
    4,
    "TPU_ACCELERATOR_TYPE=v6e-16 TPU_NAME=tpu-0 TPU_TOPOLOGY=4x4 "
    "TPU_WORKER_HOSTNAMES=10.0.0.0,10.0.0.1,10.0.0.2,10.0.0.3 TPU_WORKER_ID=0" },
  { { .pool = V6E (3), .n_slices = 3 },
    9,
    12,
    "MEGASCALE_COORDINATOR_ADDRESS=tpu-0-0 MEGASCALE_NUM_SLICES=3 MEGASCALE_PORT=8081 MEGASCALE_SLICE_ID=2 "
    "TPU_ACCELERATOR_TYPE=v6e-16 TPU_NAME=tpu-2 TPU_TOPOLOGY=4x4 TPU_WORKER_HOSTNAMES=tpu-2-0,tpu-2-1,tpu-2-2,tpu-2-3 "
    "TPU_WORKER_ID=1" },
  { { .cluster = "two",
      .pool = V6E (2),
      .n_slices = 2,
      .env = { { "MEGASCALE_NUM_SLICES", "2" }, { "MEGASCALE_PORT", "9915" }, { "JAX_PLATFORMS", "tpu,cpu" } } },
    4,
    8,
    "JAX_PLATFORMS=tpu,cpu MEGASCALE_COORDINATOR_ADDRESS=tpu-0-0.two-headless MEGASCALE_NUM_SLICES=2 "
    "MEGASCALE_PORT=9915 MEGASCALE_SLICE_ID=1 TPU_ACCELERATOR_TYPE=v6e-16 TPU_NAME=tpu-1 TPU_TOPOLOGY=4x4 "
    "TPU_WORKER_HOSTNAMES=tpu-1-0.two-headless,tpu-1-1.two-headless,tpu-1-2.two-headless,tpu-1-3.two-headless "
    "TPU_WORKER_ID=0" },
  { { .pool = ALONE (2), .n_slices = 2 },
    1,
    2,
    "MEGASCALE_COORDINATOR_ADDRESS=tpu-0-0 MEGASCALE_NUM_SLICES=2 MEGASCALE_PORT=8081 MEGASCALE_SLICE_ID=1 "
    "TPU_ACCELERATOR_TYPE=v6e-8 TPU_NAME=tpu-1 TPU_TOPOLOGY=2x4 TPU_WORKER_HOSTNAMES=localhost TPU_WORKER_ID=0" },
  /* Variables from the place, and from the manifest. */
  { { .cluster = "c",
      .pool = ALONE (1),
      .n_slices = 1,
      .env = { { "TPU_NAME", "mine" }, { "TPU_WORKER_ID", "7" }, { "MEGASCALE_PORT", "1" }, { "EMPTY", "" } } },
    0,
    1,
    "EMPTY= TPU_ACCELERATOR_TYPE=v6e-8 TPU_NAME=tpu-0 TPU_TOPOLOGY=2x4 TPU_WORKER_HOSTNAMES=localhost "
    "TPU_WORKER_ID=0" },
  { { .pool = TPU7X ("2x2x1", 1), .n_slices = 1 },
    0,
    1,
    "TPU_ACCELERATOR_TYPE=tpu7x-8 TPU_NAME=tpu-0 TPU_TOPOLOGY=2x2x1 TPU_WORKER_HOSTNAMES=tpu-0-0 TPU_WORKER_ID=0" },
  { { .pool = TPU7X ("2x2x2", 1), .n_slices = 1 },
    1,
    2,
    "TPU_ACCELERATOR_TYPE=tpu7x-16 TPU_NAME=tpu-0 TPU_PROCESS_ADDRESSES=tpu-0-0:8471,tpu-0-1:8471 "
    "TPU_PROCESS_PORT=8471 TPU_TOPOLOGY=2x2x2 TPU_WORKER_HOSTNAMES=tpu-0-0,tpu-0-1 TPU_WORKER_ID=1" },
  { { .cluster = "c",
      .pool = TPU7X ("2x2x2", 1),
      .n_slices = 1,
      .env = { { "TPU_PROCESS_PORT", "9000" }, { "TPU_PROCESS_ADDRESSES", "x:1" } } },
    0,
    2,
    "TPU_ACCELERATOR_TYPE=tpu7x-16 TPU_NAME=tpu-0 "
    "TPU_PROCESS_ADDRESSES=tpu-0-0.c-headless:9000,tpu-0-1.c-headless:9000 TPU_PROCESS_PORT=9000 TPU_TOPOLOGY=2x2x2 "
    "TPU_WORKER_HOSTNAMES=tpu-0-0.c-headless,tpu-0-1.c-headless TPU_WORKER_ID=0" },
  /* The last 50 bytes of a long name, like in the webhook. */
  { { .cluster = LONG_NAME, .pool = TPU7X ("2x2x1", 1), .n_slices = 1 },
    0,
    1,
    "TPU_ACCELERATOR_TYPE=tpu7x-8 TPU_NAME=tpu-0 TPU_TOPOLOGY=2x2x1 "
    "TPU_WORKER_HOSTNAMES=tpu-0-0.mely-long-raycluster-name-to-be-truncated-headless TPU_WORKER_ID=0" },
};

START_TEST (process_has_the_expected_variables)
{
  g_autoptr (QuoitTopology) topology = topology_of (&environments[_i].of);
  g_autofree char *text = NULL;

  ck_assert_uint_eq (topology->processes->len, environments[_i].n_processes);
  text = variables_as_text (topology, environments[_i].process);
  ck_assert_str_eq (text, environments[_i].variables);
}
END_TEST

/* Notes that a group must or must not have. */
static const struct {
  Case of;
  const char *has, *has_not;
} notes[] = {
  { { .pool = V6E (1), .n_slices = 1 }, "no addresses are known: hosts have the names of their nodes", "webhook" },
  { { .pool = V6E (1), .n_slices = 1, .has_addresses = TRUE }, NULL, "" },
  { { .cluster = "c", .pool = V6E (1), .n_slices = 1 }, "the names that the TPU webhook gives", "MEGASCALE" },
  { { .cluster = "c", .pool = V6E (2), .n_slices = 1, .env = { { "MEGASCALE_NUM_SLICES", "2" } } },
    "MEGASCALE_NUM_SLICES: the manifest has '2', the group has one slice and needs none of MEGASCALE_*",
    "decides" },
  { { .cluster = "c", .pool = V6E (3), .n_slices = 3, .env = { { "MEGASCALE_NUM_SLICES", "2" } } },
    "MEGASCALE_NUM_SLICES: the manifest has '2', the group has 3",
    "decides" },
  { { .cluster = "c", .pool = V6E (2), .n_slices = 2, .env = { { "MEGASCALE_NUM_SLICES", "2" } } },
    NULL,
    "MEGASCALE_NUM_SLICES" },
  { { .cluster = "c",
      .pool = V6E (2),
      .n_slices = 2,
      .env = { { "TPU_NAME", "mine" },
               { "TPU_WORKER_ID", "0" },
               { "TPU_WORKER_HOSTNAMES", "localhost" },
               { "MEGASCALE_COORDINATOR_ADDRESS", "me" },
               { "MEGASCALE_SLICE_ID", "0" },
               { "MEGASCALE_PORT", "9915" } } },
    "these values come from the place of the group, not from the manifest: TPU_NAME, TPU_WORKER_HOSTNAMES, "
    "MEGASCALE_COORDINATOR_ADDRESS, "
    "TPU_WORKER_ID, MEGASCALE_SLICE_ID",
    "PORT" },
  { { .cluster = "c", .pool = ALONE (1), .n_slices = 1, .env = { { "TPU_NAME", "tpu-0" }, { "X", "y" } } },
    NULL,
    "decides" },
  { { .cluster = "c",
      .pool = V6E (1),
      .n_slices = 1,
      .env = { { "A", "x $(B) y" }, { "C", "$$(B)" }, { "D", "$(B" }, { "E", "$" }, { "F", "$$$(B)" } } },
    "Kubernetes would expand $(NAME) in A, F: quoit does not",
    "decides" },
  { { .cluster = "c", .pool = ALONE (2), .n_slices = 2 },
    "the names in MEGASCALE_COORDINATOR_ADDRESS resolve only if something else sets one",
    "TPU_WORKER_HOSTNAMES" },
  { { .cluster = "c", .pool = ALONE (1), .n_slices = 1 }, NULL, "resolves only" },
  { { .cluster = "c", .pool = TPU7X ("2x2x1", 1), .n_slices = 1 },
    "the names in TPU_WORKER_HOSTNAMES resolve",
    "MEGA" },
  { { .pool = ALONE (2), .n_slices = 2 }, NULL, "resolves only" },
  { { .cluster = LONG_NAME, .pool = V6E (1), .n_slices = 1 },
    "KubeRay names the cluster's service '" LONG_NAME "-headless', the TPU webhook "
    "'mely-long-raycluster-name-to-be-truncated-headless'",
    "decides" },
  { { .cluster = "1c", .pool = V6E (1), .n_slices = 1 }, "the TPU webhook 'rc-headless'", "decides" },
  { { .cluster = "a2345678901234567890123456789012345678901", .pool = V6E (1), .n_slices = 1 }, NULL, "KubeRay" },
  { { .cluster = "j-xxxxx", .pool = V6E (1), .n_slices = 1, .has_assumed_names = TRUE },
    "the name of cluster 'j-xxxxx' is assumed, because KubeRay ends it with five random characters: the hosts in "
    "TPU_WORKER_HOSTNAMES are not right until",
    "MEGASCALE" },
  { { .cluster = "j-xxxxx", .pool = V6E (2), .n_slices = 2, .has_assumed_names = TRUE },
    "the hosts in TPU_WORKER_HOSTNAMES, MEGASCALE_COORDINATOR_ADDRESS are not right",
    "TPU_PROCESS" },
  { { .cluster = "j-xxxxx", .pool = TPU7X ("2x2x2", 1), .n_slices = 1, .has_assumed_names = TRUE },
    "the hosts in TPU_WORKER_HOSTNAMES, TPU_PROCESS_ADDRESSES are not right",
    "MEGASCALE" },
  { { .cluster = "j-xxxxx", .pool = ALONE (2), .n_slices = 2, .has_assumed_names = TRUE },
    "the hosts in MEGASCALE_COORDINATOR_ADDRESS are not right",
    "TPU_WORKER" },
  /* No variable of the group contains the cluster's name. */
  { { .cluster = "j-xxxxx", .pool = ALONE (1), .n_slices = 1, .has_assumed_names = TRUE }, NULL, "assumed" },
  { { .cluster = "j-xxxxx", .pool = V6E (1), .n_slices = 1, .has_assumed_names = TRUE, .has_addresses = TRUE },
    NULL,
    "assumed" },
};

START_TEST (differences_from_the_manifest_are_noted)
{
  g_autoptr (QuoitTopology) topology = topology_of (&notes[_i].of);
  g_autofree char *all = NULL;

  g_ptr_array_add (topology->notes, NULL);
  all = g_strjoinv ("; ", (char **) topology->notes->pdata);
  g_ptr_array_set_size (topology->notes, (gint) topology->notes->len - 1);
  if (notes[_i].has != NULL)
    ck_assert_msg (has_note (topology, notes[_i].has), "'%s' not in: %s", notes[_i].has, all);
  ck_assert_msg (!has_note (topology, notes[_i].has_not), "'%s' in: %s", notes[_i].has_not, all);
}
END_TEST

static const struct {
  const char *cluster, *service;
} services[] = {
  { "test-cluster", "test-cluster-headless" },
  { "extremely-long-raycluster-name-to-be-truncated", "mely-long-raycluster-name-to-be-truncated-headless" },
  { "a23456789012345678901234567890123456789012345678", "r9012345678901234567890123456789012345678-headless" },
  { "1cluster", "rcluster-headless" },
  { "abcdefgh-9-bcdefghij-abcdefghij-abcdefghij-abcde", "h-9-bcdefghij-abcdefghij-abcdefghij-abcde-headless" },
  { "abcdefghi-.-bcdefghij-abcdefghij-abcdefghij-abcdef", "r.-bcdefghij-abcdefghij-abcdefghij-abcdef-headless" },
  { "-a", "ra-headless" },
  /* Go does not treat it as punctuation. */
  { "$a", "$a-headless" },
  { "\xc2\xa7", "\xc2\xa7-headless" },
};

START_TEST (service_name_matches_the_webhook)
{
  g_autofree char *service = quoit_webhook_service (services[_i].cluster);

  ck_assert_str_eq (service, services[_i].service);
}
END_TEST

START_TEST (note_occurs_once_for_any_number_of_slices)
{
  Case many = { .cluster = LONG_NAME,
                .pool = ALONE (50),
                .n_slices = 50,
                .env = { { "MEGASCALE_NUM_SLICES", "2" }, { "TPU_NAME", "x" }, { "A", "$(B)" } } };
  g_autoptr (QuoitTopology) topology = topology_of (&many);

  ck_assert_uint_eq (topology->notes->len, 6);
}
END_TEST

/* "tpu-0-1 tpu-2-3~": these hosts are dead, or draining if a tilde follows. */
static GHashTable *
ailing_of (const QuoitLayout *layout, const char *hosts)
{
  GHashTable *ailing = g_hash_table_new (NULL, NULL);
  g_auto (GStrv) names = g_strsplit (hosts, " ", -1);

  for (char **name = names; *name != NULL; name++)
    {
      gboolean is_draining = g_str_has_suffix (*name, "~");
      QuoitNodeId node;

      g_strdelimit (*name, "~", '\0');
      ck_assert (quoit_layout_lookup_node (layout, *name, &node, NULL));
      g_hash_table_insert (ailing, GUINT_TO_POINTER (layout->nodes[node.index].id),
                           GUINT_TO_POINTER (is_draining ? QUOIT_NODE_DRAINING : QUOIT_NODE_DEAD));
    }
  return ailing;
}

/* Three slices of four hosts. */
static const struct {
  const char *ailing;
  gboolean is_lost;
  const char *notes;
} losses[] = {
  { "tpu-1-2", TRUE, "slice 1 (tpu-1) is lost: host tpu-1-2 is dead" },
  { "tpu-1-2~", FALSE, "slice 1 (tpu-1) is leaving: host tpu-1-2 is draining" },
  { "tpu-2-0~ tpu-2-3 tpu-2-1~", TRUE, "slice 2 (tpu-2) is lost: host tpu-2-3 is dead" },
  { "tpu-0-3 tpu-0-1", TRUE, "slice 0 (tpu-0) is lost: hosts tpu-0-1, tpu-0-3 are dead" },
  { "tpu-0-0~ tpu-0-1~ tpu-0-2~ tpu-0-3~", FALSE,
    "slice 0 (tpu-0) is leaving: hosts tpu-0-0, tpu-0-1, tpu-0-2, tpu-0-3 are draining" },
  { "tpu-2-1 tpu-0-3~", TRUE,
    "slice 0 (tpu-0) is leaving: host tpu-0-3 is draining; slice 2 (tpu-2) is lost: host tpu-2-1 is dead" },
};

START_TEST (slice_with_dead_or_draining_host_is_noted)
{
  Case three = { .pool = V6E (3), .n_slices = 3, .has_addresses = TRUE };
  g_autoptr (QuoitTopology) topology = topology_of (&three);
  g_autoptr (GHashTable) ailing = ailing_of (topology->layout, losses[_i].ailing);
  g_autofree char *all = NULL;

  ck_assert_int_eq (quoit_topology_note_losses (topology, ailing), losses[_i].is_lost);
  g_ptr_array_add (topology->notes, NULL);
  all = g_strjoinv ("; ", (char **) topology->notes->pdata);
  ck_assert_str_eq (all, losses[_i].notes);
}
END_TEST

START_TEST (note_names_only_the_first_dead_hosts)
{
  Case large = { .pool = { .pool = "tpu", .topology = "8x8", .n_slices = 1, .generation = QUOIT_GENERATION_V6E },
                 .n_slices = 1 };
  g_autoptr (QuoitTopology) topology = topology_of (&large);
  g_autoptr (GHashTable) ailing
      = ailing_of (topology->layout, "tpu-0-2 tpu-0-3 tpu-0-4 tpu-0-5 tpu-0-15 tpu-0-6 tpu-0-0~");

  ck_assert (quoit_topology_note_losses (topology, ailing));
  ck_assert (
      has_note (topology, "slice 0 (tpu-0) is lost: hosts tpu-0-2, tpu-0-3, tpu-0-4, tpu-0-5 and 2 more are dead"));
}
END_TEST

START_TEST (variable_that_is_set_again_occurs_once)
{
  QuoitProcess process = { .variables = g_ptr_array_new_with_free_func ((GDestroyNotify) quoit_variable_unref) };
  char *shared = quoit_variable_new ("AB", "both");

  quoit_process_set_variable (&process, "B", "1");
  quoit_process_set_variable (&process, "A", "x=y");
  quoit_process_set_variable (&process, "AB", "");
  quoit_process_set_variable (&process, "A", "2");
  quoit_process_share_variable (&process, shared);
  quoit_variable_unref (shared);
  ck_assert_uint_eq (process.variables->len, 3);
  ck_assert_str_eq (quoit_variable_name (process.variables->pdata[0]), "A");
  ck_assert_str_eq (quoit_variable_name (process.variables->pdata[1]), "AB");
  ck_assert_str_eq (quoit_process_find_value (&process, "A"), "2");
  ck_assert_str_eq (quoit_process_find_value (&process, "AB"), "both");
  ck_assert_str_eq (quoit_process_find_value (&process, "B"), "1");
  ck_assert_ptr_null (quoit_process_find_value (&process, "C"));
  g_ptr_array_unref (process.variables);
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("topology");
  TCase *ledger = tcase_create ("quoit");

  tcase_add_loop_test (ledger, process_has_the_expected_variables, 0, G_N_ELEMENTS (environments));
  tcase_add_loop_test (ledger, differences_from_the_manifest_are_noted, 0, G_N_ELEMENTS (notes));
  tcase_add_loop_test (ledger, service_name_matches_the_webhook, 0, G_N_ELEMENTS (services));
  tcase_add_test (ledger, note_occurs_once_for_any_number_of_slices);
  tcase_add_loop_test (ledger, slice_with_dead_or_draining_host_is_noted, 0, G_N_ELEMENTS (losses));
  tcase_add_test (ledger, note_names_only_the_first_dead_hosts);
  tcase_add_test (ledger, variable_that_is_set_again_occurs_once);
  suite_add_tcase (suite, ledger);
  return suite_main (suite);
}
