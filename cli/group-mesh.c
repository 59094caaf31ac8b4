/* SPDX-License-Identifier: Apache-2.0 */
#include "group-mesh.h"

#include <string.h>

void
mesh_options_clear (MeshOptions *options)
{
  g_free (options->axes);
  g_free (options->dcn);
}

static guint
count_entries (const GOptionEntry *entries)
{
  guint n = 0;

  while (entries[n].long_name != NULL)
    n++;
  return n;
}

GOptionEntry *
mesh_entries (MeshOptions *o, const GOptionEntry *others)
{
  const GOptionEntry entries[] = {
    { "axes", 0, 0, G_OPTION_ARG_FILENAME, &o->axes, "the axes of the mesh; the last one varies fastest",
      "NAME=SIZE,..." },
    { "dcn", 0, 0, G_OPTION_ARG_FILENAME, &o->dcn, "the part of each axis that crosses slices", "NAME=SIZE,..." },
    { "contiguous", 0, 0, G_OPTION_ARG_NONE, &o->contiguous, "keep the devices of a process together", NULL },
    { "split-physical", 0, 0, G_OPTION_ARG_NONE, &o->split_physical, "allow an axis to use a part of a physical axis",
      NULL },
    { "process-granule", 0, 0, G_OPTION_ARG_NONE, &o->process_granule, "apply --dcn to processes instead of slices",
      NULL },
  };
  guint n_others = count_entries (others) + 1;
  GOptionEntry *all = g_new (GOptionEntry, G_N_ELEMENTS (entries) + n_others);

  memcpy (all, entries, sizeof entries);
  memcpy (all + G_N_ELEMENTS (entries), others, n_others * sizeof *others);
  return all;
}

/* --- options --- */

void
mesh_spec_clear (MeshSpec *spec)
{
  axes_clear (&spec->axes);
  g_clear_pointer (&spec->dcn_sizes, g_free);
  g_clear_pointer (&spec->sizes, g_free);
}

static bool
check_options (const MeshOptions *options, GError **error)
{
  bool is_hybrid = options->dcn != NULL;

  if (options->axes == NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "expected --axes NAME=SIZE,...: the axes of the mesh");
  else if (options->contiguous && is_hybrid)
    g_set_error (
        error, QUOIT_ERROR, QUOIT_ERROR_USAGE,
        "expected one of --contiguous and --dcn, got both: JAX supports contiguous submeshes only in one granule");
  else if (options->process_granule && !is_hybrid)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_USAGE, "--process-granule requires --dcn NAME=SIZE,...");
  else
    return true;
  return false;
}

static bool
read_sizes (const MeshOptions *options, MeshSpec *spec, GError **error)
{
  g_auto (Axes) dcn = { NULL, NULL, 0 };

  if (!axes_parse (options->axes, "--axes", &spec->axes, error))
    return false;
  spec->sizes = g_memdup2 (spec->axes.sizes, spec->axes.n * sizeof *spec->axes.sizes);
  if (options->dcn == NULL)
    return true;

  if (!axes_parse (options->dcn, "--dcn", &dcn, error))
    return false;
  spec->dcn_sizes = axes_align (&spec->axes, &dcn, "--dcn", error);
  for (guint i = 0; spec->dcn_sizes != NULL && i < spec->axes.n; i++)
    spec->sizes[i] /= spec->dcn_sizes[i];
  return spec->dcn_sizes != NULL;
}

bool
mesh_spec_parse (const MeshOptions *options, MeshSpec *spec, GError **error)
{
  if (!check_options (options, error) || !read_sizes (options, spec, error))
    return false;
  spec->flags = (options->contiguous ? QUOIT_MESH_CONTIGUOUS_SUBMESHES : 0)
                | (options->split_physical ? QUOIT_MESH_SPLIT_PHYSICAL_AXES : 0)
                | (options->process_granule ? QUOIT_MESH_PROCESS_GRANULES : 0);
  return true;
}

/* --- the mesh --- */

void
group_mesh_clear (GroupMesh *group_mesh)
{
  quoit_mesh_links_free (group_mesh->links);
  quoit_mesh_free (group_mesh->mesh);
  quoit_devices_free (group_mesh->devices);
}

static QuoitMesh *
new_mesh (const QuoitDevices *devices, const MeshSpec *spec, GError **error)
{
  if (spec->dcn_sizes != NULL)
    return quoit_mesh_new_hybrid (devices, spec->sizes, spec->axes.n, spec->dcn_sizes, spec->axes.n, spec->flags,
                                  error);

  return quoit_mesh_new (devices, spec->sizes, spec->axes.n, spec->flags, error);
}

/* Returns whether the sizes of --axes, which are those of the whole mesh, multiply to the number of devices. */
static bool
has_all_devices (const MeshSpec *spec, uint32_t n_devices)
{
  uint64_t product = 1;

  for (guint i = 0; i < spec->axes.n && product <= n_devices; i++)
    product *= spec->axes.sizes[i];
  return product == n_devices;
}

/* Returns an example of --dcn: the first axis whose size @n_slices divides, or NULL if there is none. g_free() it. */
static char *
suggest_dcn (const Axes *axes, uint32_t n_slices)
{
  for (guint i = 0; i < axes->n; i++)
    if (axes->sizes[i] % n_slices == 0)
      return g_strdup_printf ("--dcn %s=%u", axes->names[i], n_slices);
  return NULL;
}

/* Reports that the mesh needs --dcn. JAX's reason would not help: it finds several devices at each place of a slice. */
static void
refuse_missing_dcn (const MeshSpec *spec, uint32_t n_slices, uint32_t n_devices, GError **error)
{
  g_autofree char *axes = axes_format (&spec->axes, spec->axes.sizes, 1),
                  *example = suggest_dcn (&spec->axes, n_slices);

  if (!has_all_devices (spec, n_devices))
    g_set_error (
        error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
        "--axes '%s': expected sizes that multiply to %u, the devices of %u slices, and --dcn for the axis that "
        "spans the slices",
        axes, n_devices, n_slices);
  else if (example != NULL)
    g_set_error (error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
                 "--axes '%s': mesh spans %u slices: add --dcn, for example %s", axes, n_slices, example);
  else
    g_set_error (
        error, QUOIT_ERROR, QUOIT_ERROR_INVALID,
        "--axes '%s': mesh spans %u slices: expected an axis whose size is a multiple of %u, and --dcn with that "
        "axis",
        axes, n_slices, n_slices);
}

/* Prefixes the message with the options that contain the refused sizes, and adds what they have to multiply to. */
static void
explain_options (const MeshSpec *spec, uint32_t n_devices, GError **error)
{
  g_autofree char *axes = axes_format (&spec->axes, spec->axes.sizes, 1);
  g_autofree char *dcn = spec->dcn_sizes == NULL ? NULL : axes_format (&spec->axes, spec->dcn_sizes, 2);
  g_autofree char *message = NULL;

  if (dcn != NULL)
    g_prefix_error (error, "--axes '%s' with --dcn '%s': ", axes, dcn);
  if (dcn != NULL && !has_all_devices (spec, n_devices))
    {
      message = (*error)->message;
      (*error)->message
          = g_strdup_printf ("%s; the sizes of --axes have to multiply to %u, the devices of all slices: each is JAX's "
                             "mesh_shape times dcn_mesh_shape",
                             message, n_devices);
    }
  if (dcn == NULL)
    g_prefix_error (error, "--axes '%s': ", axes);
}

uint32_t
group_mesh_count_slices (const QuoitDevices *devices)
{
  int32_t last = -1;

  for (uint32_t i = 0; i < quoit_devices_get_n_devices (devices); i++)
    last = MAX (last, quoit_devices_get_slice_index (devices, i));
  return (uint32_t) (last + 1);
}

bool
group_mesh_build (const QuoitGroup *group, const MeshSpec *spec, GroupMesh *group_mesh, GError **error)
{
  g_autoptr (GError) refusal = NULL;
  uint32_t n_slices;

  group_mesh->devices = quoit_devices_new_group (group, error);
  if (group_mesh->devices == NULL)
    return false;
  group_mesh->mesh = new_mesh (group_mesh->devices, spec, &refusal);
  if (group_mesh->mesh == NULL)
    {
      n_slices = group_mesh_count_slices (group_mesh->devices);
      if (spec->dcn_sizes == NULL && n_slices > 1)
        {
          refuse_missing_dcn (spec, n_slices, quoit_devices_get_n_devices (group_mesh->devices), error);
          return false;
        }
      explain_options (spec, quoit_devices_get_n_devices (group_mesh->devices), &refusal);
      g_propagate_error (error, g_steal_pointer (&refusal));
      return false;
    }
  group_mesh->links = quoit_mesh_links_new (group_mesh->devices, group_mesh->mesh, error);
  return group_mesh->links != NULL;
}
