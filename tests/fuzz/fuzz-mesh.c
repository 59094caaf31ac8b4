/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes of any axes on any slices. Fields: numbers of slices, of chips per host and of devices per chip, flags;
 * then an accelerator, a topology, axes, axes between slices, bytes. A mesh has each device once and the requested
 * sizes, and its shares multiply to them; a refusal has an error. */
#include <string.h>

#include <quoit/models/maxtext.h>
#include <quoit/models/mesh-choices.h>
#include <quoit/models/mesh-links.h>

#include "cli/axes.h"
#include "fuzz.h"

enum { MOST_SLICES = 64, MOST_DEVICES = 2048, MOST_CHOSEN_DEVICES = 64, MOST_CHOSEN_AXES = 3 };

static void
require_devices (const QuoitMesh *mesh)
{
  guint32 n = quoit_mesh_get_n_devices (mesh);
  const guint32 *indices = quoit_mesh_get_indices (mesh);
  g_autofree gboolean *seen = g_new0 (gboolean, n);
  guint64 product = 1;

  for (guint32 i = 0; i < n; i++)
    {
      g_assert (indices[i] < n && !seen[indices[i]]);
      seen[indices[i]] = TRUE;
    }
  for (guint l = 0; l < quoit_mesh_get_n_axes (mesh); l++)
    product *= quoit_mesh_get_size (mesh, l);
  g_assert (product == n);
}

/* If there are physical axes, an axis's shares of them multiply to its size inside a granule. */
static void
require_shares (const QuoitMesh *mesh)
{
  for (guint32 g = 0; g < quoit_mesh_get_n_granules (mesh); g++)
    for (guint l = 0; quoit_mesh_get_order (mesh, g) == QUOIT_MESH_ORDER_TORUS && l < quoit_mesh_get_n_axes (mesh); l++)
      {
        guint64 product = 1;

        for (guint p = 0; p < quoit_mesh_get_n_physical_axes (mesh, g); p++)
          product *= quoit_mesh_get_share (mesh, g, p, l);
        g_assert (product * quoit_mesh_get_dcn_size (mesh, l) == quoit_mesh_get_size (mesh, l));
      }
}

static void
require_links (const QuoitDevices *devices, const QuoitMesh *mesh, gint64 n_bytes)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitMeshLinks) links = quoit_mesh_links_new (devices, mesh, &error);

  fuzz_require_error (links != NULL, error);
  for (guint l = 0; links != NULL && l < quoit_mesh_get_n_axes (mesh); l++)
    {
      g_autofree char *physical = quoit_mesh_links_dup_physical (links, l);
      gint64 gather = quoit_mesh_links_get_all_gather_ns (links, l, n_bytes),
             reduce = quoit_mesh_links_get_all_reduce_ns (links, l, n_bytes);

      g_assert (physical != NULL && gather >= -1 && reduce >= gather);
      g_assert (quoit_mesh_get_size (mesh, l) > 1
                || (quoit_mesh_links_get_hops (links, l) == 0 && quoit_mesh_links_get_hops_back (links, l) == 0));
      if (quoit_mesh_links_get_form (links, l) == QUOIT_MESH_FORM_RING)
        g_assert (quoit_mesh_links_get_hops (links, l) <= 1 && quoit_mesh_links_get_hops_back (links, l) <= 1);
    }
}

/* Frees @mesh and the error that @error points to. */
static void
require_mesh (const QuoitDevices *devices, QuoitMesh *mesh, GError **error, gint64 n_bytes)
{
  fuzz_require_error (mesh != NULL, *error);
  g_clear_error (error);
  if (mesh == NULL)
    return;
  require_devices (mesh);
  require_shares (mesh);
  if (devices != NULL)
    require_links (devices, mesh, n_bytes);
  quoit_mesh_free (mesh);
}

/* The time along the axis that was given last. It is 0 for an axis of size 1. */
static gint64
time_of_last (const QuoitMeshChoices *choices, guint choice, guint n)
{
  for (guint place = 0; place < n; place++)
    if (quoit_mesh_choices_get_axis (choices, choice, place) == n - 1)
      return quoit_mesh_choices_get_all_reduce_ns (choices, choice, place);
  g_assert_not_reached ();
}

/* Each choice can be made, and the mesh then takes the reported time. */
static void
require_choice (const QuoitDevices *devices, const Axes *axes, const QuoitMeshChoices *choices, guint choice,
                gint64 n_bytes)
{
  g_autofree gint64 *ici = g_new (gint64, axes->n), *dcn = g_new (gint64, axes->n);
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (QuoitMeshLinks) links = NULL;

  for (guint place = 0; place < axes->n; place++)
    {
      dcn[place] = quoit_mesh_choices_get_dcn_size (choices, choice, place);
      ici[place] = axes->sizes[quoit_mesh_choices_get_axis (choices, choice, place)] / dcn[place];
    }
  mesh = quoit_mesh_new_hybrid (devices, ici, axes->n, dcn, axes->n, quoit_mesh_choices_get_flags (choices, choice),
                                NULL);
  g_assert (mesh != NULL);
  links = quoit_mesh_links_new (devices, mesh, NULL);
  for (guint place = 0; place < axes->n; place++)
    g_assert (quoit_mesh_links_get_all_reduce_ns (links, place, n_bytes)
              == quoit_mesh_choices_get_all_reduce_ns (choices, choice, place));
}

static void
require_choices (const QuoitDevices *devices, const Axes *axes, const gint64 *dcn, gint64 n_bytes)
{
  guint n_long = 0;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitMeshChoices) choices = NULL;

  for (guint l = 0; l < axes->n; l++)
    n_long += axes->sizes[l] > 1;
  if (n_long > MOST_CHOSEN_AXES || quoit_devices_get_n_devices (devices) > MOST_CHOSEN_DEVICES)
    return;
  choices = quoit_mesh_choices_new (devices, axes->sizes, axes->n, dcn, n_bytes, &error);
  fuzz_require_error (choices != NULL, error);
  for (guint c = 0; choices != NULL && c < quoit_mesh_choices_get_n (choices); c++)
    {
      gint64 before = time_of_last (choices, c == 0 ? 0 : c - 1, axes->n), after = time_of_last (choices, c, axes->n);

      g_assert (before < 0 || after < 0 || before <= after);
      require_choice (devices, axes, choices, c, n_bytes);
    }
}

/* Creates a mesh of @axes with each constructor, and checks it or its error. @dcn has the sizes between granules. */
static void
require_constructors (const QuoitDevices *devices, const Axes *axes, const gint64 *dcn, unsigned flags, gint64 n_bytes)
{
  const char *custom = flags & 8 ? "hybrid_ring_64x4" : NULL;
  g_autofree gint64 *ici = g_new (gint64, axes->n + 1);
  GError *error = NULL;

  for (guint l = 0; l < axes->n; l++)
    ici[l] = axes->sizes[l] / dcn[l];
  require_mesh (devices, quoit_mesh_new (devices, axes->sizes, axes->n, flags, &error), &error, n_bytes);
  require_mesh (devices, quoit_mesh_new_hybrid (devices, ici, axes->n, dcn, axes->n, flags, &error), &error, n_bytes);
  require_mesh (NULL, quoit_mesh_new_auto (devices, axes->sizes, axes->n, &error), &error, n_bytes);
  require_mesh (devices, quoit_maxtext_mesh_new (devices, ici, dcn, axes->n, flags % 5, custom, flags & 3, &error),
                &error, n_bytes);
}

static void
require_torus (const char *kind, const char *topology, const Axes *axes, unsigned flags)
{
  g_auto (GStrv) sides = g_strsplit (topology, "x", 10);
  gint64 physical[10], volume = 1;
  guint n = g_strv_length (sides);
  GError *error = NULL;

  for (guint p = 0; p < n; p++)
    {
      physical[p] = g_ascii_strtoll (sides[p], NULL, 10);
      if (physical[p] > 0 && __builtin_mul_overflow (volume, physical[p], &volume))
        volume = G_MAXINT64;
    }
  if (volume <= MOST_DEVICES || volume > 1 << 22)
    require_mesh (NULL, quoit_mesh_new_torus (kind, physical, n, axes->sizes, axes->n, flags & 2, &error), &error, 0);
}

/* Does not check that the error is printable: the command quotes its arguments and escapes the message later. */
static gboolean
read_axes (const char *text, const char *option, Axes *axes)
{
  g_autoptr (GError) error = NULL;
  gboolean ok = axes_parse (text, option, axes, &error);

  g_assert (ok == (error == NULL) && ok == (axes->names != NULL));
  return ok;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  guint n_slices = fuzz_byte (&in) % MOST_SLICES, per_host = fuzz_byte (&in), per_chip = fuzz_byte (&in);
  guint flags = fuzz_byte (&in);
  g_autofree char *kind = fuzz_text (&in), *topology = fuzz_text (&in), *whole = fuzz_text (&in);
  g_autofree char *between = fuzz_text (&in), *bytes = fuzz_text (&in);
  gint64 n_bytes = MAX (0, g_ascii_strtoll (bytes, NULL, 10));
  g_auto (Axes) axes = { NULL, NULL, 0 }, part = { NULL, NULL, 0 };
  g_autoptr (GError) of_devices = NULL, of_part = NULL;
  g_autoptr (QuoitDevices) devices
      = quoit_devices_new_slices (kind, topology, n_slices, per_host, per_chip, &of_devices);
  g_autofree gint64 *dcn = NULL;

  fuzz_require_error (devices != NULL, of_devices);
  if (!read_axes (whole, "--axes", &axes))
    return 0;
  require_torus (*kind == '\0' ? NULL : kind, topology, &axes, flags);
  if (*between != '\0' && !read_axes (between, "--dcn", &part))
    return 0;
  dcn = axes_align (&axes, &part, "--dcn", &of_part);
  g_assert ((dcn == NULL) == (of_part != NULL));
  if (devices == NULL || dcn == NULL || quoit_devices_get_n_devices (devices) > MOST_DEVICES)
    return 0;
  require_constructors (devices, &axes, dcn, flags, n_bytes);
  require_choices (devices, &axes, *between == '\0' ? NULL : dcn, n_bytes);
  return 0;
}
