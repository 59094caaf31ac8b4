/* SPDX-License-Identifier: Apache-2.0 */
#include "group-mesh.h"
#include "group-names.h"
#include "group-view.h"
#include "mesh-view.h"
#include "text.h"
#include "verbs.h"

enum { DEFAULT_BYTES = 1 << 30, MAX_SUGGESTED = 10 };

typedef struct {
  MeshOptions mesh;
  char *bytes;
  gboolean suggest;
} Options;

static void
options_clear (Options *options)
{
  mesh_options_clear (&options->mesh);
  g_free (options->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* The parsed options. Parsing them needs no ledger. */
typedef struct {
  MeshSpec mesh;
  gint64 n_bytes;
} ParsedOptions;

static void
parsed_options_clear (ParsedOptions *parsed)
{
  mesh_spec_clear (&parsed->mesh);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ParsedOptions, parsed_options_clear)

static bool
parse_options (const Options *options, ParsedOptions *parsed, GError **error)
{
  static const NumberRule bytes = { "--bytes", "a number of bytes from 0", 0, G_MAXINT64 };
  const MeshOptions *mesh = &options->mesh;

  if (options->suggest && (mesh->contiguous || mesh->split_physical || mesh->process_granule))
    {
      g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                   "--suggest cannot be combined with --contiguous, --split-physical or --process-granule: expected "
                   "--axes, --dcn and --bytes");
      return false;
    }
  if (!mesh_spec_parse (mesh, &parsed->mesh, error))
    return false;
  parsed->n_bytes = DEFAULT_BYTES;
  return options->bytes == NULL || text_parse_number (options->bytes, &bytes, &parsed->n_bytes, error);
}

/* --- the mesh --- */

static const Column fact_columns[] = {
  { "group", "group", CELL_TEXT },
  { "kind", "devices", CELL_TEXT },
  { "n_devices", "number", CELL_NUMBER },
  { "n_slices", "slices", CELL_NUMBER },
  { "orders", "order", CELL_LIST },
  { "contiguous_submeshes", "contiguous submeshes", CELL_FLAG },
  { "allow_split_physical_axes", "physical axes may be split", CELL_FLAG },
  { "process_is_granule", "processes are granules", CELL_FLAG },
  { "n_bytes", "bytes of collectives", CELL_NUMBER },
};

static Table *
mesh_facts (const QuoitGroup *group, const ParsedOptions *parsed, const MeshView *view)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  table_add_text (facts, quoit_group_get_handle (group));
  table_add_text (facts, quoit_devices_get_kind (view->devices));
  table_add_number (facts, quoit_mesh_get_n_devices (view->mesh));
  table_add_number (facts, group_mesh_count_slices (view->devices));
  table_take_list (facts, mesh_order_words (view->mesh));
  table_add_flag (facts, (parsed->mesh.flags & QUOIT_MESH_CONTIGUOUS_SUBMESHES) != 0);
  table_add_flag (facts, (parsed->mesh.flags & QUOIT_MESH_SPLIT_PHYSICAL_AXES) != 0);
  table_add_flag (facts, (parsed->mesh.flags & QUOIT_MESH_PROCESS_GRANULES) != 0);
  table_add_number (facts, parsed->n_bytes);
  return facts;
}

static bool
print_mesh (Session *session, const QuoitGroup *group, const ParsedOptions *parsed, GError **error)
{
  g_auto (GroupMesh) group_mesh = { NULL, NULL, NULL };
  MeshView view;
  Document *document;

  if (!group_mesh_build (group, &parsed->mesh, &group_mesh, error))
    return false;

  view = (MeshView) { group_mesh.devices, group_mesh.mesh, group_mesh.links, &parsed->mesh.axes, parsed->n_bytes };
  document = document_new ();
  document_take_facts (document, mesh_facts (group, parsed, &view));
  document_take_table (document, "axes", "axes", mesh_axes_table (&view));
  document_take_table (document, "devices", "places", mesh_devices_table (&view));
  return session_print (session, document, error);
}

static const Column suggestion_columns[] = {
  { "group", "group", CELL_TEXT },
  { "kind", "devices", CELL_TEXT },
  { "n_devices", "number", CELL_NUMBER },
  { "n_slices", "slices", CELL_NUMBER },
  { "n_choices", "meshes that differ", CELL_NUMBER },
  { "n_bytes", "bytes of collectives", CELL_NUMBER },
};

static bool
print_choices (Session *session, const QuoitGroup *group, const ParsedOptions *parsed, GError **error)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new_group (group, error);
  g_autoptr (QuoitMeshChoices) choices = NULL;
  const Axes *axes = &parsed->mesh.axes;
  Table *facts;
  Document *document;

  if (devices == NULL)
    return false;
  choices = quoit_mesh_choices_new (devices, axes->sizes, axes->n, parsed->mesh.dcn_sizes, parsed->n_bytes, error);
  if (choices == NULL)
    {
      g_autofree char *given = axes_format (axes, axes->sizes, 1);

      g_prefix_error (error, "--axes '%s': ", given);
      return false;
    }

  facts = table_new (suggestion_columns, G_N_ELEMENTS (suggestion_columns));
  table_add_text (facts, quoit_group_get_handle (group));
  table_add_text (facts, quoit_devices_get_kind (devices));
  table_add_number (facts, quoit_devices_get_n_devices (devices));
  table_add_number (facts, group_mesh_count_slices (devices));
  table_add_number (facts, quoit_mesh_choices_get_n (choices));
  table_add_number (facts, parsed->n_bytes);
  document = document_new ();
  document_take_facts (document, facts);
  document_take_table (document, "choices", "the best first", mesh_choices_table (choices, axes, MAX_SUGGESTED));
  return session_print (session, document, error);
}

static bool
print (Session *session, const ParsedOptions *parsed,
       bool (*print_group) (Session *, const QuoitGroup *, const ParsedOptions *, GError **), GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);
  g_autoptr (QuoitGroup) group = snapshot == NULL ? NULL : group_find (snapshot, session->words[0], error);

  return group != NULL && group_check_has_begun (group, "mesh", error) && print_group (session, group, parsed, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry others[] = {
    { "suggest", 0, 0, G_OPTION_ARG_NONE, &options.suggest,
      "rank the meshes that these axes allow, in any order of the axes", NULL },
    { "bytes", 0, 0, G_OPTION_ARG_FILENAME, &options.bytes, "bytes of the timed collectives (1073741824)", "N" },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree GOptionEntry *entries = mesh_entries (&options.mesh, others);
  g_auto (ParsedOptions) parsed = { .n_bytes = 0 };

  return session_parse (session, entries, error) && session_check (session, error)
         && parse_options (&options, &parsed, error)
         && print (session, &parsed, options.suggest ? print_choices : print_mesh, error);
}

const Verb verb_mesh = {
  "mesh",
  "GROUP",
  "show the device mesh that JAX makes of a group, and the network of each axis",
  "In Python, quoit.jax.mesh() makes a jax.sharding.Mesh from the output of -o json.",
  1,
  1,
  run,
};
