/* SPDX-License-Identifier: Apache-2.0 */
/* The names that scripts for shells propose. */
#include <string.h>

#include "completion.h"
#include "node-scope.h"

/* A list of more names is of no use at a prompt. */
enum { MAX_NAMES = 5000 };

typedef struct {
  GString *lines;
  GHashTable *seen; /* not owned: the names are in the snapshot, or in owned */
  GPtrArray *owned; /* names that are made for this list */
} Names;

static void
names_clear (Names *names)
{
  g_hash_table_unref (names->seen);
  g_ptr_array_unref (names->owned);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Names, names_clear)

static void
add_name (Names *names, const char *name)
{
  /* A line feed in a name would make two names of it. */
  if (g_hash_table_size (names->seen) < MAX_NAMES && strpbrk (name, "\n\r") == NULL
      && g_hash_table_add (names->seen, (gpointer) name))
    g_string_append_printf (names->lines, "%s\n", name);
}

static void
take_name (Names *names, char *name)
{
  g_ptr_array_add (names->owned, name);
  add_name (names, name);
}

/* --- names in the ledger --- */

static void
add_groups (Names *names, const QuoitSnapshot *snapshot)
{
  for (uint32_t i = 0; i < quoit_snapshot_get_n_groups (snapshot); i++)
    {
      g_autoptr (QuoitGroup) group = quoit_snapshot_dup_group (snapshot, i);

      if (quoit_group_get_state (group) != QUOIT_GROUP_REMOVED)
        take_name (names, g_strdup (quoit_group_get_name (group)));
    }
}

static void
add_zones (Names *names, const QuoitSnapshot *snapshot)
{
  for (uint32_t node = 0; node < quoit_snapshot_get_n_nodes (snapshot); node++)
    {
      char *zone = node_scope_dup_zone (snapshot, node);

      if (zone != NULL && !g_hash_table_contains (names->seen, zone))
        take_name (names, zone);
      else
        g_free (zone);
    }
}

static const struct {
  const char *kind;
  bool is_object;                                            /* of COMPLETE_NAMES */
  void (*add) (Names *names, const QuoitSnapshot *snapshot); /* NULL: the next two */
  uint32_t (*count) (const QuoitSnapshot *snapshot);
  const char *(*get_name) (const QuoitSnapshot *snapshot, uint32_t index);
} kinds[] = {
  { COMPLETE_GROUPS, true, add_groups, NULL, NULL },
  { COMPLETE_POOLS, true, NULL, quoit_snapshot_get_n_pools, quoit_snapshot_get_pool_name },
  { COMPLETE_SLICES, true, NULL, quoit_snapshot_get_n_slices, quoit_snapshot_get_slice_name },
  { COMPLETE_NODES, true, NULL, quoit_snapshot_get_n_nodes, quoit_snapshot_get_node_name },
  { COMPLETE_ZONES, false, add_zones, NULL, NULL },
  { COMPLETE_OWNERS, false, NULL, quoit_snapshot_get_n_owners, quoit_snapshot_get_owner_name },
  { COMPLETE_QUOTAS, false, NULL, quoit_snapshot_get_n_quotas, quoit_snapshot_get_quota_name },
  { COMPLETE_WINDOWS, false, NULL, quoit_snapshot_get_n_windows, quoit_snapshot_get_window_name },
  { COMPLETE_SOURCES, false, NULL, quoit_snapshot_get_n_sources, quoit_snapshot_get_source_name },
};

/* @wanted: "group"; NULL: all objects. */
static bool
wants (const char *wanted, guint kind)
{
  return wanted == NULL ? kinds[kind].is_object : g_str_equal (wanted, kinds[kind].kind + 1);
}

static bool
add_names_of_ledger (Session *session, const char *wanted, Names *names, GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);

  if (snapshot == NULL)
    return false;
  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    {
      if (!wants (wanted, kind))
        continue;
      if (kinds[kind].add != NULL)
        kinds[kind].add (names, snapshot);
      for (uint32_t i = 0; kinds[kind].add == NULL && i < kinds[kind].count (snapshot); i++)
        add_name (names, kinds[kind].get_name (snapshot, i));
    }
  return true;
}

/* --- topologies of the catalogue --- */

static void
add_topologies_of (Names *names, const QuoitCatalogueGeneration *generation)
{
  const QuoitCatalogueTopology *topology;

  for (uint32_t i = 0; (topology = quoit_catalogue_get_topology (generation, i)) != NULL; i++)
    take_name (names, quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_SHAPE));
}

/* @generation: NULL for the topologies of all generations. */
static bool
add_topologies (const char *generation, Names *names, GError **error)
{
  const QuoitCatalogueGeneration *one
      = generation == NULL ? NULL : quoit_catalogue_lookup_generation (generation, error);

  if (one != NULL)
    add_topologies_of (names, one);
  for (uint32_t i = 0; generation == NULL && (one = quoit_catalogue_get_generation (i)) != NULL; i++)
    add_topologies_of (names, one);
  return one != NULL || generation == NULL;
}

/* --- kinds --- */

/* Without the mark of a kind. */
static const char *const topology_kind = &COMPLETE_TOPOLOGIES[1];

static bool
check_kind (const char *wanted, GError **error)
{
  g_autoptr (GString) expected = g_string_new (NULL);

  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    {
      if (wants (wanted, kind))
        return true;
      g_string_append_printf (expected, "%s, ", kinds[kind].kind + 1);
    }
  g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "names of '%s': expected %s%s or %s/GEN", wanted, expected->str,
               topology_kind, topology_kind);
  return false;
}

bool
completion_write_names (Session *session, const char *wanted, GString *lines, GError **error)
{
  g_auto (Names) names = { lines, g_hash_table_new (g_str_hash, g_str_equal), g_ptr_array_new_with_free_func (g_free) };
  const gsize n_topologies = strlen (topology_kind);

  if (wanted != NULL && strncmp (wanted, topology_kind, n_topologies) == 0
      && (wanted[n_topologies] == '\0' || wanted[n_topologies] == '/'))
    return add_topologies (wanted[n_topologies] == '\0' ? NULL : wanted + n_topologies + 1, &names, error);
  return check_kind (wanted, error) && add_names_of_ledger (session, wanted, &names, error);
}
