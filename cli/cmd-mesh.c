/* SPDX-License-Identifier: Apache-2.0 */
#include "axes.h"
#include "group-view.h"
#include "mesh-view.h"
#include "text.h"
#include "verbs.h"

enum { DEFAULT_BYTES = 1 << 30, MOST_SUGGESTED = 10 };

typedef struct {
  char *axes, *dcn, *bytes;
  gboolean contiguous, split_physical, process_granule, suggest;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->axes);
  g_free (options->dcn);
  g_free (options->bytes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* What is wanted, read from the options: all that wants no ledger. */
typedef struct {
  Axes axes;
  gint64 *dcn_sizes; /* NULL: not hybrid */
  gint64 *sizes;     /* in a granule */
  unsigned flags;
  gint64 n_bytes;
} Wish;

static void
wish_clear (Wish *wish)
{
  axes_clear (&wish->axes);
  g_free (wish->dcn_sizes);
  g_free (wish->sizes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Wish, wish_clear)

static bool
check_options (const Options *options, GError **error)
{
  bool is_hybrid = options->dcn != NULL;

  if (options->axes == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected --axes NAME=SIZE,...: the sizes of the mesh");
  else if (options->suggest && (options->contiguous || options->split_physical || options->process_granule))
    g_set_error (
        error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
        "--suggest with --contiguous, --split-physical or --process-granule: expected --axes, --dcn and --bytes "
        "alone, as it says itself what to split");
  else if (options->contiguous && is_hybrid)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "expected one of --contiguous and --dcn, got both: JAX has contiguous submeshes in one granule alone");
  else if (options->process_granule && !is_hybrid)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "--process-granule without --dcn: expected --dcn, which lays the processes out");
  else
    return true;
  return false;
}

static bool
read_sizes (const Options *options, Wish *wish, GError **error)
{
  g_auto (Axes) dcn = { NULL, NULL, 0 };

  if (!axes_parse (options->axes, "--axes", &wish->axes, error))
    return false;
  wish->sizes = g_memdup2 (wish->axes.sizes, wish->axes.n * sizeof *wish->axes.sizes);
  if (options->dcn == NULL)
    return true;

  if (!axes_parse (options->dcn, "--dcn", &dcn, error))
    return false;
  wish->dcn_sizes = axes_align (&wish->axes, &dcn, "--dcn", error);
  for (guint i = 0; wish->dcn_sizes != NULL && i < wish->axes.n; i++)
    wish->sizes[i] /= wish->dcn_sizes[i];
  return wish->dcn_sizes != NULL;
}

static bool
read_wish (const Options *options, Wish *wish, GError **error)
{
  static const NumberRule bytes = { "--bytes", "a number of bytes from 0", 0, G_MAXINT64 };

  if (!check_options (options, error) || !read_sizes (options, wish, error))
    return false;
  wish->flags = (options->contiguous ? QUOIT_MESH_CONTIGUOUS_SUBMESHES : 0)
                | (options->split_physical ? QUOIT_MESH_SPLIT_PHYSICAL_AXES : 0)
                | (options->process_granule ? QUOIT_MESH_PROCESS_GRANULES : 0);
  wish->n_bytes = DEFAULT_BYTES;
  return options->bytes == NULL || text_parse_number (options->bytes, &bytes, &wish->n_bytes, error);
}

/* --- the mesh --- */

static QuoitMesh *
new_mesh (const QuoitDevices *devices, const Wish *wish, GError **error)
{
  if (wish->dcn_sizes != NULL)
    return quoit_mesh_new_hybrid (devices, wish->sizes, wish->axes.n, wish->dcn_sizes, wish->axes.n, wish->flags,
                                  error);

  return quoit_mesh_new (devices, wish->sizes, wish->axes.n, wish->flags, error);
}

/* In which of the options the sizes stand that the library refused. */
static void
name_options (const Wish *wish, uint32_t n_slices, GError **error)
{
  g_autofree char *axes = axes_format (&wish->axes, wish->axes.sizes, 1);
  g_autofree char *dcn = wish->dcn_sizes == NULL ? NULL : axes_format (&wish->axes, wish->dcn_sizes, 2);

  if (dcn != NULL)
    g_prefix_error (error, "--axes '%s' with '%s' of it in --dcn: ", axes, dcn);
  else if (n_slices > 1)
    g_prefix_error (error, "--axes '%s' on %u slices without --dcn, which says what axis joins them: ", axes, n_slices);
  else
    g_prefix_error (error, "--axes '%s': ", axes);
}

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
mesh_facts (const QuoitGroup *group, const Wish *wish, const MeshView *view)
{
  Table *facts = table_new (fact_columns, G_N_ELEMENTS (fact_columns));

  table_take_text (facts, group_label (group));
  table_add_text (facts, quoit_devices_get_kind (view->devices));
  table_add_number (facts, quoit_mesh_get_n_devices (view->mesh));
  table_add_number (facts, quoit_group_get_n_slices (group));
  table_take_list (facts, words_of_mesh_orders (view->mesh));
  table_add_flag (facts, (wish->flags & QUOIT_MESH_CONTIGUOUS_SUBMESHES) != 0);
  table_add_flag (facts, (wish->flags & QUOIT_MESH_SPLIT_PHYSICAL_AXES) != 0);
  table_add_flag (facts, (wish->flags & QUOIT_MESH_PROCESS_GRANULES) != 0);
  table_add_number (facts, wish->n_bytes);
  return facts;
}

static bool
print_mesh (Session *session, const QuoitGroup *group, const Wish *wish, GError **error)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new_group (group, error);
  g_autoptr (QuoitMesh) mesh = devices == NULL ? NULL : new_mesh (devices, wish, error);
  g_autoptr (QuoitMeshLinks) links = NULL;
  MeshView view = { devices, mesh, NULL, &wish->axes, wish->n_bytes };
  Document *document;

  if (devices == NULL)
    return false;
  if (mesh == NULL)
    {
      name_options (wish, quoit_group_get_n_slices (group), error);
      return false;
    }
  links = quoit_mesh_links_new (devices, mesh, error);
  if (links == NULL)
    return false;

  view.links = links;
  document = document_new ();
  document_take_facts (document, mesh_facts (group, wish, &view));
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
print_choices (Session *session, const QuoitGroup *group, const Wish *wish, GError **error)
{
  g_autoptr (QuoitDevices) devices = quoit_devices_new_group (group, error);
  g_autoptr (QuoitMeshChoices) choices = NULL;
  Table *facts;
  Document *document;

  if (devices == NULL)
    return false;
  choices = quoit_mesh_choices_new (devices, wish->axes.sizes, wish->axes.n, wish->dcn_sizes, wish->n_bytes, error);
  if (choices == NULL)
    return false;

  facts = table_new (suggestion_columns, G_N_ELEMENTS (suggestion_columns));
  table_take_text (facts, group_label (group));
  table_add_text (facts, quoit_devices_get_kind (devices));
  table_add_number (facts, quoit_devices_get_n (devices));
  table_add_number (facts, quoit_group_get_n_slices (group));
  table_add_number (facts, quoit_mesh_choices_get_n (choices));
  table_add_number (facts, wish->n_bytes);
  document = document_new ();
  document_take_facts (document, facts);
  document_take_table (document, "choices", "the best first",
                       mesh_choices_table (choices, &wish->axes, MOST_SUGGESTED));
  return session_print (session, document, error);
}

static bool
print (Session *session, const Wish *wish, bool (*print_group) (Session *, const QuoitGroup *, const Wish *, GError **),
       GError **error)
{
  g_autoptr (QuoitSnapshot) snapshot = session_look (session, error);
  g_autoptr (QuoitGroup) group = snapshot == NULL ? NULL : group_find (snapshot, session->words[0], error);

  return group != NULL && print_group (session, group, wish, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry entries[] = {
    { "axes", 0, 0, G_OPTION_ARG_FILENAME, &options.axes, "the axes of the whole mesh, the last the fastest",
      "NAME=SIZE,..." },
    { "dcn", 0, 0, G_OPTION_ARG_FILENAME, &options.dcn, "how much of an axis goes from slice to slice",
      "NAME=SIZE,..." },
    { "contiguous", 0, 0, G_OPTION_ARG_NONE, &options.contiguous, "the devices of a process stay together", NULL },
    { "split-physical", 0, 0, G_OPTION_ARG_NONE, &options.split_physical, "an axis may have a part of a physical axis",
      NULL },
    { "process-granule", 0, 0, G_OPTION_ARG_NONE, &options.process_granule, "--dcn lays out processes, not slices",
      NULL },
    { "suggest", 0, 0, G_OPTION_ARG_NONE, &options.suggest, "rank the meshes that these axes can be, in any order",
      NULL },
    { "bytes", 0, 0, G_OPTION_ARG_FILENAME, &options.bytes, "of the collectives that are timed (1073741824)", "N" },
    G_OPTION_ENTRY_NULL,
  };
  g_auto (Wish) wish = { .dcn_sizes = NULL };

  return session_parse (session, entries, error) && session_check (session, usual_outputs, error)
         && read_wish (&options, &wish, error)
         && print (session, &wish, options.suggest ? print_choices : print_mesh, error);
}

const Verb verb_mesh = {
  "mesh",
  "GROUP",
  "the device mesh that JAX makes of a group, and what its axes talk over",
  "-o json is what quoit.jax.mesh() in Python makes a jax.sharding.Mesh of.",
  1,
  1,
  run,
};
