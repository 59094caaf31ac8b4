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

/* --- output --- */

static bool
show (Session *session, const Map *map, const Options *options, const char *title, GError **error)
{
  g_autofree char *svg = options->svg == NULL ? NULL : map_format_svg (map, title), *text = NULL;
  const OutputFile file = { "--svg", options->svg, "SVG picture", output_kind_svg, options->is_forced };

  if (svg != NULL && !output_file_write (&file, svg, error))
    return false;
  if (session_wants_json (session))
    return session_print (session, map_document (map), error);
  text = map_format_text (map, session_get_width (session));
  return session_write (session, text, error);
}

static bool
print_groups (Session *session, const Options *options, GError **error)
{
  const char *name = session->words[0];
  g_autofree char *title = g_strdup_printf ("Groups on the chips of %s", name == NULL ? "all slices" : name);
  g_autoptr (QuoitSnapshot) snapshot = session_snapshot (session, error);
  g_autoptr (GArray) slices = snapshot == NULL ? NULL : find_slices (snapshot, name, error);
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
  g_set_error_literal (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--force requires --svg FILE");
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
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "%s requires --axis NAME, the axis to show", mesh_option);
  else if (options->axis != NULL && mesh->axes == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
                 "--axis '%s' requires --axes NAME=SIZE,..., the axes of the mesh", options->axis);
  else if (options->axis != NULL && session->words[0] == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--axis '%s' requires the name of a GROUP", options->axis);
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
  guint axis;

  if (!mesh_spec_parse (&options->mesh, &spec, error)
      || !axes_lookup (&spec.axes, options->axis, "--axis", &axis, error))
    return false;
  snapshot = session_snapshot (session, error);
  group = snapshot == NULL ? NULL : find_mesh_group (snapshot, session->words[0], error);
  if (group == NULL || !group_check_has_begun (group, "map", error)
      || !group_mesh_build (group, &spec, &group_mesh, error))
    return false;
  processes = quoit_topology_new (group, NULL, error);
  slices = processes == NULL ? NULL : find_slices_of_processes (snapshot, processes, error);
  if (slices == NULL)
    return false;

  map = map_new (snapshot, slices);
  label = g_strdup (quoit_group_get_handle (group));
  map_set_axis (map, label, &spec, &group_mesh, processes, axis);
  title = map_axis_title (map->axis);
  return show (session, map, options, title, error);
}

static bool
run (Session *session, GError **error)
{
  g_auto (Options) options = { 0 };
  const GOptionEntry others[] = {
    { "axis", 0, 0, G_OPTION_ARG_FILENAME, &options.axis,
      "show the index of each chip along this axis of a group's mesh", "NAME" },
    { "svg", 0, 0, G_OPTION_ARG_FILENAME, &options.svg, "also write the map as an SVG picture to this file", "FILE" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &options.is_forced,
      "with --svg: replace a symbolic link, or a file that is not SVG", NULL },
    G_OPTION_ENTRY_NULL,
  };
  g_autofree GOptionEntry *entries = mesh_entries (&options.mesh, others);

  return session_parse (session, entries, error) && session_check (session, error) && check_force (&options, error)
         && check_axis (session, &options, error)
         && (options.axis == NULL ? print_groups : print_axis) (session, &options, error);
}

const Verb verb_map = {
  "map",
  "[SLICE|GROUP|POOL]",
  "draw the torus of each slice, and the group of each chip",
  "Draws all slices, one slice, or the slices of a group or pool. A letter is a group, '.' an idle chip, '~' a\n"
  "chip of a draining host, '#' of a dead host, and '+' a chip in external use. x goes to the right, y down;\n"
  "each z is a layer. With --axis, each chip shows its index along that axis of the group's mesh, which --axes\n"
  "and its options describe.",
  0,
  1,
  run,
};
