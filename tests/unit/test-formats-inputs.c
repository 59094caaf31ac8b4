/* SPDX-License-Identifier: Apache-2.0 */
/* Reads each file of tests/data/captures as a list of nodes, and checks the nodes or the refusal. The expected numbers
 * were counted without quoit. The test fails if the tables below do not list a file, or list one
 * that does not exist. */
#include "base/natural.h"
#include "claims-suite.h"

/* A file is named MOMENT.FORM. */
static const struct {
  const char *moment;
  unsigned n_files;
  const char *summary; /* of the nodes that are read */
} moments[] = {
  { "gke.idle", 20, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "gke.one-reserved", 20, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "gke.hold-and-wait", 20, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "gke.two-reserved", 12, "9 nodes, 9 alive, 32 chips; default 1; v6e-group 2 x v6e 4x4 on 4" },
  { "lost.one-slice-host-lost", 20, "5 nodes, 4 alive, 12 chips; default 1; v6e-group 1 x v6e 4x4 on 4" },
  { "mixed.idle", 20,
    "6 nodes, 6 alive, 16 chips; cpu-group 2; default 1; v4-group 1 x v4 2x2x2 on 2; v5e-group 1 x v5e 2x4 on "
    "1" },
  { "mixed.both-reserved", 20,
    "6 nodes, 6 alive, 16 chips; cpu-group 2; default 1; v4-group 1 x v4 2x2x2 on 2; v5e-group 1 x v5e 2x4 on "
    "1" },
  { "plain.actor-task-and-group", 9, "7 nodes, 7 alive, 24 chips; default 1; v4-group 3 x v4 2x2x2 on 2" },
};

#define A_TABLE                                                                                                        \
  "a table, which ray prints without --format: expected the output of ray list nodes with --format json or --format "  \
  "yaml"
#define NO_NODE "a row without id: expected 'node_id' (ray list nodes) or 'NodeID'"
#define REPR "expected a key in double quotes, as Python's json.dumps() writes it"
#define NOTHING                                                                                                        \
  "'No resource in the cluster', which ray prints if it lists nothing: expected the output of ray list nodes"

/* The node list reader's refusal of each form; NULL: it has nodes. The first matching end of the file name applies. */
static const struct {
  const char *form, *message;
} forms[] = {
  { ".py-ray.nodes.json", NULL },
  { ".ray-list-nodes--detail--format-json.json", NULL },
  { ".ray-list-nodes--detail.yaml", NULL },
  { ".ray-list-nodes--format-json.json", NULL },
  { ".ray-list-nodes--format-yaml.yaml", NULL },
  { ".ray-list-nodes.table.txt", A_TABLE },
  { ".ray-list-nodes--detail--format-table.txt", A_TABLE },
  { ".py-ray.nodes.repr.txt", REPR },
  /* No nodes. Without groups, Ray prints a sentence in every form, and a Python repr may be valid JSON. */
  { "mixed.idle.ray-list-placement-groups--detail--format-json.json", NOTHING },
  { "mixed.idle.ray-list-placement-groups--detail.yaml", NOTHING },
  { "mixed.idle.ray-list-placement-groups--format-json.json", NOTHING },
  { "mixed.idle.ray-list-placement-groups.table.txt", NOTHING },
  { "mixed.idle.py-placement_group_table.repr.txt", "$: a map: expected a list" },
  { ".ray-list-placement-groups--detail--format-json.json", NO_NODE },
  { ".ray-list-placement-groups--detail.yaml", NO_NODE },
  { ".ray-list-placement-groups--format-json.json", NO_NODE },
  { ".ray-list-placement-groups.table.txt", A_TABLE },
  { ".py-placement_group_table.json", "$: a map: expected a list" },
  { ".py-placement_group_table.repr.txt", REPR },
  { ".py-available_resources.json", "$: a map: expected a list" },
  { ".py-available_resources_per_node.json", "$: a map: expected a list" },
  { ".py-cluster_resources.json", "$: a map: expected a list" },
  { ".py-total_resources_per_node.json", "$: a map: expected a list" },
  { ".ray-status-v.txt", A_TABLE },
  { ".ray-status.txt", A_TABLE },
};

static unsigned passed, failed;

static void
count (const char *name, const char *problem)
{
  if (problem == NULL)
    passed++;
  else
    {
      failed++;
      g_print ("FAIL: %s: %s\n", name, problem);
    }
}

/* --- the result in one line --- */

static gint
by_name (gconstpointer a, gconstpointer b)
{
  return quoit_natural_compare (*(const char *const *) a, *(const char *const *) b);
}

/* "POOL N": nodes outside any slice; "POOL S x GENERATION TOPOLOGY on HOSTS" */
static void
append_pool (GString *text, const QuoitClaims *claims, const char *name)
{
  g_autoptr (GHashTable) slices = g_hash_table_new (g_str_hash, g_str_equal);
  const QuoitNodeKind *kind = NULL;
  guint32 n_nodes, n_here = 0, n_hosts = 0;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (strcmp (quoit_claims_pool_at (claims, nodes[i].pool)->name, name) == 0)
      {
        n_here++;
        if (nodes[i].slice == NULL)
          continue;
        g_hash_table_add (slices, (char *) nodes[i].slice);
        kind = quoit_claims_kind_at (claims, nodes[i].kind);
        n_hosts++;
      }
  if (kind == NULL)
    g_string_append_printf (text, "; %s %u", name, n_here);
  else if (n_hosts != n_here || n_hosts % g_hash_table_size (slices) != 0)
    g_string_append_printf (text, "; %s: %u of %u nodes in %u slices", name, n_hosts, n_here,
                            g_hash_table_size (slices));
  else
    g_string_append_printf (text, "; %s %u x %s %s on %u", name, g_hash_table_size (slices),
                            quoit_generation_name (kind->generation), kind->topology,
                            n_hosts / g_hash_table_size (slices));
}

static char *
nodes_in_words (const QuoitClaims *claims)
{
  GString *text = g_string_new (NULL);
  g_autoptr (GPtrArray) pools = g_ptr_array_new ();
  guint32 n_nodes, n_alive = 0, n_chips = 0;
  const QuoitNodeClaim *nodes = quoit_claims_nodes (claims, &n_nodes);

  for (guint32 i = 0; i < n_nodes; i++)
    if (nodes[i].state == QUOIT_NODE_ALIVE)
      {
        n_alive++;
        n_chips += quoit_claims_kind_at (claims, nodes[i].kind)->chips;
      }
  for (guint32 i = 0; i < quoit_claims_n_pools (claims); i++)
    g_ptr_array_add (pools, (char *) quoit_claims_pool_at (claims, i)->name);
  g_ptr_array_sort (pools, by_name);

  g_string_append_printf (text, "%u nodes, %u alive, %u chips", n_nodes, n_alive, n_chips);
  for (guint i = 0; i < pools->len; i++)
    append_pool (text, claims, pools->pdata[i]);
  return g_string_free (text, FALSE);
}

/* --- one file --- */

static char *
compare_refusal (const QuoitClaims *claims, const GError *error, const char *message)
{
  if (claims != NULL)
    return g_strdup_printf ("was accepted, expected: %s", message);
  if (!g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_INVALID) || strstr (error->message, message) == NULL)
    return g_strdup_printf ("refused with '%s', expected: %s", error == NULL ? "nothing" : error->message, message);
  return NULL;
}

static char *
check_capture (const char *message, const char *expected, const char *text, gsize length)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = quoit_read_ray_nodes (text, length, NULL, &error);
  g_autofree char *is = NULL;

  if (message != NULL)
    return compare_refusal (claims, error, message);
  if (claims == NULL)
    return g_strdup_printf ("refused: %s", error->message);
  is = nodes_in_words (claims);
  return strcmp (is, expected) == 0 ? NULL : g_strdup_printf ("read as '%s'", is);
}

/* --- the folder --- */

/* The names in the folder. */
static GPtrArray *
list (const char *folder)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  g_assert (dir != NULL);
  for (const char *name = g_dir_read_name (dir); name != NULL; name = g_dir_read_name (dir))
    g_ptr_array_add (names, g_strdup (name));
  return names;
}

/* -1: none */
static int
find_moment (const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (moments); i++)
    if (g_str_has_prefix (name, moments[i].moment) && name[strlen (moments[i].moment)] == '.')
      return (int) i;
  return -1;
}

static int
find_form (const char *name)
{
  for (unsigned i = 0; i < G_N_ELEMENTS (forms); i++)
    if (g_str_has_suffix (name, forms[i].form))
      return (int) i;
  return -1;
}

static void
check_captures (void)
{
  g_autofree char *folder = g_build_filename (g_getenv ("top_srcdir"), "tests", "data", "captures", NULL);
  g_autoptr (GPtrArray) names = list (folder);
  unsigned n_files[G_N_ELEMENTS (moments)] = { 0 };

  for (guint i = 0; i < names->len; i++)
    {
      const char *name = names->pdata[i];
      g_autofree char *path = g_build_filename (folder, name, NULL), *text = NULL, *problem = NULL;
      int moment = find_moment (name), form = find_form (name);
      gsize length;

      if (moment < 0 || form < 0)
        problem = g_strdup ("no row has it");
      else if (!quoit_read_file (path, &text, &length, NULL))
        problem = g_strdup ("cannot be read");
      else
        problem = check_capture (forms[form].message, moments[moment].summary, text, length);
      if (moment >= 0)
        n_files[moment]++;
      count (name, problem);
    }
  for (unsigned i = 0; i < G_N_ELEMENTS (moments); i++)
    count (moments[i].moment, n_files[i] == moments[i].n_files ? NULL : "other files than there were");
}

int
main (void)
{
  check_captures ();
  g_print ("%u passed, %u failed\n", passed, failed);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
