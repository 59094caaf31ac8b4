/* SPDX-License-Identifier: Apache-2.0 */
#include "group-view.h"
#include "map.h"
#include "map-slices.h"
#include "output-file.h"
#include "verbs.h"

typedef struct {
  char *svg, *axis;
  gboolean is_forced;
  MeshOptions mesh;
} Options;

static void
options_clear (Options *options)
{
  g_free (options->svg);
  g_free (options->axis);
  mesh_options_clear (&options->mesh);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Options, options_clear)

/* --- the answer --- */

static bool
show (Session *session, const Map *map, const Options *options, const char *title, GError **error)
{
  g_autofree char *svg = options->svg == NULL ? NULL : map_format_svg (map, title), *text = NULL;
  const OutputFile file = { "--svg", options->svg, "SVG picture", output_kind_svg, options->is_forced };

  if (svg != NULL && !output_file_write (&file, svg, error))
    return false;
  if (session_wants_json (session))
    return session_print (session, map_document (map), error);
  text = map_format_text (map);
  return session_write (session, text, error);
}

static bool
print_users (Session *session, const Options *options, GError **error)
{
  const char *name = session->words[0];
  g_autofree char *title = g_strdup_printf ("Who has which chips of %s", name == NULL ? "all slices" : name);
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);
  g_autoptr (GArray) slices = snapshot == NULL ? NULL : slices_by_name (snapshot, name, error);
  g_autoptr (Map) map = NULL;

  if (slices == NULL)
    return false;
  map = map_new (snapshot, slices);
  return show (session, map, options, title, error);
}

static bool
check_force (const Options *options, GError **error)
{
  if (!options->is_forced || options->svg != NULL)
    return true;
  g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--force: expected it with --svg FILE");
  return false;
}

/* --- an axis --- */

static bool
check_axis (Session *session, const Options *options, GError **error)
{
  const MeshOptions *mesh = &options->mesh;
  const char *mesh_option = mesh->axes != NULL      ? "--axes"
                            : mesh->dcn != NULL     ? "--dcn"
                            : mesh->contiguous      ? "--contiguous"
                            : mesh->split_physical  ? "--split-physical"
                            : mesh->process_granule ? "--process-granule"
                                                    : NULL;

  if (options->axis == NULL && mesh_option != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s without --axis: expected --axis NAME, which is shown",
                 mesh_option);
  else if (options->axis != NULL && mesh->axes == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "--axis '%s' without --axes: expected --axes NAME=SIZE,..., the mesh that it is an axis of",
                 options->axis);
  else if (options->axis != NULL && session->words[0] == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--axis '%s': expected a GROUP with it, which has a mesh",
                 options->axis);
  else
    return true;
  return false;
}

static bool
print_axis (Session *session, const Options *options, GError **error)
{
  g_auto (MeshSpec) spec = { .dcn_sizes = NULL };
  g_auto (GroupMesh) group_mesh = { NULL, NULL, NULL };
  g_autoptr (QuoitSnapshot) snapshot = NULL;
  g_autoptr (QuoitGroup) group = NULL;
  g_autoptr (QuoitTopology) processes = NULL;
  g_autoptr (GArray) slices = NULL;
  g_autofree char *label = NULL, *title = NULL;
  g_autoptr (Map) map = NULL;
  guint at;

  if (!mesh_spec_parse (&options->mesh, &spec, error) || !axes_lookup (&spec.axes, options->axis, "--axis", &at, error))
    return false;
  snapshot = session_snapshot (session, error);
  group = snapshot == NULL ? NULL : find_mesh_group (snapshot, session->words[0], error);
  if (group == NULL || !group_mesh_make (group, &spec, &group_mesh, error))
    return false;
  processes = quoit_topology_new (group, NULL, error);
  slices = processes == NULL ? NULL : slices_by_id (snapshot, processes, error);
  if (slices == NULL)
    return false;

  map = map_new (snapshot, slices);
  label = g_strdup (quoit_group_get_handle (group));
  map_set_axis (map, label, &spec, &group_mesh, processes, at);
  title = map_axis_title (map->axis);
  return show (session, map, options, title, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry others[] = {
    { "axis", 0, 0, G_OPTION_ARG_FILENAME, &options.axis, "show how this axis of a group's mesh lies on the torus",
      "NAME" },
    { "svg", 0, 0, G_OPTION_ARG_FILENAME, &options.svg, "write the picture to this file too", "FILE" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &options.is_forced,
      "of --svg: replace a symbolic link, or a file of another kind", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree GOptionEntry *entries = mesh_entries (&options.mesh, others);

  return session_parse (session, entries, error) && session_check (session, usual_outputs, error)
         && check_force (&options, error) && check_axis (session, &options, error)
         && (options.axis == NULL ? print_users : print_axis) (session, &options, error);
}

const Verb verb_map = {
  "map",
  "[SLICE|GROUP|POOL]",
  "draw who has which chips of the torus",
  "All slices, or that one, those of a group, or those of a pool. A letter is a group, '.' is idle, '~' on a draining\n"
  "host, '#' on a dead one, '+' in use by something that is no group. x goes to the right, y down; each z is a layer.\n"
  "With --axis a chip is its index along that axis, in the mesh that --axes and the options with it make of a group.",
  0,
  1,
  run,
};
