/* SPDX-License-Identifier: Apache-2.0 */
/* Meshes beyond the vectors: messages and their suggestions, limits, and the properties of a mesh. */
#include <string.h>

#include <quoit/models/mesh.h>

#include "suite.h"

typedef struct {
  int64_t sizes[64];
  unsigned n;
} Sizes;

static Sizes
sizes_of (const char *text)
{
  g_auto (GStrv) words = g_strsplit (text, ",", -1);
  Sizes sizes = { .n = g_strv_length (words) };

  for (unsigned i = 0; i < sizes.n; i++)
    ck_assert_msg (g_ascii_string_to_signed (words[i], 10, G_MININT64, G_MAXINT64, &sizes.sizes[i], NULL), "%s", text);
  return sizes;
}

static QuoitDevices *
new_slices (const char *kind, const char *topology, uint32_t n_slices)
{
  GError *error = NULL;
  QuoitDevices *devices = quoit_devices_new_slices (kind, topology, n_slices, 0, 0, &error);

  ck_assert_ok (error);
  return devices;
}

static QuoitMesh *
new_mesh (const QuoitDevices *devices, const char *text, unsigned flags)
{
  GError *error = NULL;
  Sizes sizes = sizes_of (text);
  QuoitMesh *mesh = quoit_mesh_new (devices, sizes.sizes, sizes.n, flags, &error);

  ck_assert_ok (error);
  return mesh;
}

static char *
refusal_of (const QuoitDevices *devices, const char *text, unsigned flags)
{
  g_autoptr (GError) error = NULL;
  Sizes sizes = sizes_of (text);
  QuoitMesh *mesh = quoit_mesh_new (devices, sizes.sizes, sizes.n, flags, &error);

  ck_assert_msg (mesh == NULL && error != NULL, "%s was made", text);
  ck_assert (error->domain == QUOIT_ERROR && error->code == QUOIT_ERROR_INVALID);
  return g_strdup (error->message);
}

/* "0 1 3 2" */
static char *
ids_of (const QuoitMesh *mesh)
{
  GString *text = g_string_new (NULL);

  for (uint32_t i = 0; i < quoit_mesh_get_n_devices (mesh); i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i == 0 ? "" : " ", quoit_mesh_get_ids (mesh)[i]);
  return g_string_free (text, FALSE);
}

/* --- kinds and lists --- */

static const struct {
  const char *given, *kind;
  uint32_t n; /* devices of a 2x2 or 2x2x1 */
} kinds[] = {
  { "v2", "TPU v2", 8 },       { "TPU v3", "TPU v3", 8 },
  { "v4", "TPU v4", 4 },       { "v5litepod", "TPU v5 lite", 4 },
  { "TPU v5e", "TPU v5e", 4 }, { "TPU v5", "TPU v5", 4 },
  { "v5p", "TPU v5p", 4 },     { "tpu-v6e-slice", "TPU v6 lite", 4 },
  { "ironwood", "TPU7x", 8 },  { "TPU7", "TPU7", 8 },
  { "TPU8i", "TPU8i", 0 },
};

START_TEST (device_kind_has_the_name_and_devices_of_jax)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitDevices) none = quoit_devices_new (kinds[_i].given, &error), devices = NULL;

  ck_assert_ok (error);
  ck_assert_str_eq (quoit_devices_get_kind (none), kinds[_i].kind);
  ck_assert_uint_eq (quoit_devices_get_n_devices (none), 0);
  devices = quoit_devices_new_slices (kinds[_i].given, "2x2", 1, 0, 0, &error);
  if (kinds[_i].n > 0)
    ck_assert_uint_eq (quoit_devices_get_n_devices (devices), kinds[_i].n);
}
END_TEST

START_TEST (unknown_device_kind_is_refused_with_the_known_kinds)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_devices_new ("TPU v99", &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'TPU v99'");
  ck_assert_ptr_null (quoit_devices_new_slices ("TPU v4 lite", "2x2", 1, 0, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "devices per chip '0': expected 1 or 2");
}
END_TEST

static const struct {
  const char *topology;
  uint32_t n_slices;
  unsigned chips_per_host, devices_per_chip;
  const char *expected;
} bad_slices[] = {
  { "3x4", 1, 0, 0, "topology '3x4': expected sides in x and y that are 1 or even" },
  { "4x4xa", 1, 0, 0, "topology '4x4xa'" },
  { "99999x99999", 1, 0, 0, "99999x99999" },
  { "4096x4096", 1, 0, 0, "expected 1 or more slices, and at most 4194304 devices" },
  { "4x4", 4294967295, 0, 0, "slices '4294967295'" },
  { "4x4", 0, 0, 0, "slices '0'" },
  { "4x4", 1, 0, 3, "devices per chip '3': expected 1 or 2" },
  { "4x4", 1, 3, 0, "chips per host '3': expected 1, 2, 4 or 8" },
};

START_TEST (invalid_slices_are_refused)
{
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (quoit_devices_new_slices ("v6e", bad_slices[_i].topology, bad_slices[_i].n_slices,
                                                bad_slices[_i].chips_per_host, bad_slices[_i].devices_per_chip,
                                                &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_slices[_i].expected);
}
END_TEST

/* The ids of a slice's first process, and the number of processes. */
static const struct {
  const char *kind, *topology;
  unsigned chips_per_host;
  const char *first_ids;
  int32_t n_processes;
} hosts[] = {
  { "v6e", "4x4", 0, "0 1 4 5", 4 },   { "v6e", "2x4", 8, "0 1 2 3 4 5 6 7", 1 },
  { "v6e", "2x4", 4, "0 1 2 3", 2 },   { "v6e", "4x8", 0, "0 1 4 5", 8 },
  { "v5p", "2x2x4", 4, "0 1 2 3", 4 }, { "tpu7x", "2x2x2", 0, "0 1 2 3 4 5 6 7", 2 },
  { "v6e", "1x1", 1, "0", 1 },
};

START_TEST (a_process_has_the_devices_of_a_block_of_chips)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GString) first = g_string_new (NULL);
  g_autoptr (QuoitDevices) devices
      = quoit_devices_new_slices (hosts[_i].kind, hosts[_i].topology, 2, hosts[_i].chips_per_host, 0, &error);
  uint32_t n;

  ck_assert_ok (error);
  n = quoit_devices_get_n_devices (devices);
  for (uint32_t i = 0; i < n && quoit_devices_get_process_index (devices, i) == 0; i++)
    g_string_append_printf (first, "%s%d", i == 0 ? "" : " ", (int) quoit_devices_get_id (devices, i));
  ck_assert_str_eq (first->str, hosts[_i].first_ids);
  ck_assert_int_eq (quoit_devices_get_process_index (devices, n / 2), hosts[_i].n_processes);
  ck_assert_int_eq (quoit_devices_get_process_index (devices, n - 1), 2 * hosts[_i].n_processes - 1);
  ck_assert_int_eq (quoit_devices_get_slice_index (devices, n / 2 - 1), 0);
  ck_assert_int_eq (quoit_devices_get_slice_index (devices, n / 2), 1);
}
END_TEST

START_TEST (device_with_negative_numbers_is_refused)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitDevices) devices = quoit_devices_new ("v4", &error);
  const int32_t at[] = { -7, 0, 3 };

  ck_assert (!quoit_devices_add (devices, 0, at, -1, 0, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "core '-1': expected 0 or more");
  ck_assert (!quoit_devices_add (devices, 0, at, 0, -1, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "process index '-1'");
  ck_assert (!quoit_devices_add (devices, 0, at, 0, 0, -2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "slice index '-2': expected -1 or more");
  ck_assert_uint_eq (quoit_devices_get_n_devices (devices), 0);
  ck_assert (quoit_devices_add (devices, -5, at, 1, 2, -1, &error));
  ck_assert_int_eq (quoit_devices_get_id (devices, 0), -5);
  ck_assert_int_eq (quoit_devices_get_coordinates (devices, 0)[0], -7);
  ck_assert_int_eq (quoit_devices_get_coordinates (devices, 0)[2], 3);
  ck_assert_int_eq (quoit_devices_get_core (devices, 0), 1);
  ck_assert_int_eq (quoit_devices_get_process_index (devices, 0), 2);
  ck_assert_int_eq (quoit_devices_get_slice_index (devices, 0), -1);
}
END_TEST

/* --- refusals --- */

static const struct {
  const char *kind, *topology, *sizes;
  unsigned flags;
  const char *expected;
} refused[] = {
  { "v6e", "4x4", "2,4", 0, "multiplies to 8: expected 16, the number of devices, such as '2,8'" },
  { "v6e", "4x4", "3,8", 0, "such as '2,8'" },
  { "v6e", "4x4", "1,1,32", 0, "such as '1,1,16'" },
  { "v6e", "4x4", "5,7", 0, "'5,7' multiplies to 35: expected 16, the number of devices, such as '4,4'" },
  { "v6e", "4x4", "0,16", 0, "axis 0 of size '0': expected 1 or more" },
  { "v6e", "4x4", "-4,-4", 0, "axis 0 of size '-4': expected 1 or more" },
  { "v6e", "4x4", "99999,99999", 0, "multiplies to 9999800001: expected 16" },
  { "v6e", "4x4", "3,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", 0, "such as '16,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1'" },
  { "v6e", "4x4", "9223372036854775807,9223372036854775807,4", 0, "multiplies to more than can be counted" },
  { "v6e", "4x4", "4294967296,4294967296,16", 0, "multiplies to more than can be counted" },
  { "v6e", "4x4", "2,8", 0,
    "axis 1 of size '8' is not the size of a free physical axis or the product of several (free: x 4, y 4)" },
  { "v6e", "4x4", "2,8", 0, "expected '4,4', '1,16' or '16,1', or physical axes that may be split" },
  { "v5p", "4x4x4", "2,32", 0, "(free: x 4, y 4, z 4): expected '4,16', '1,64' or '16,4', or physical" },
  { "v5p", "4x4x4", "4,16", QUOIT_MESH_CONTIGUOUS_SUBMESHES,
    "expected '16,4', and sizes of 1, for contiguous submeshes" },
  { "v5p", "4x8x8", "16,16", QUOIT_MESH_CONTIGUOUS_SUBMESHES, "expected '64,4' or '4,64'" },
  { "v5p", "4x4x8", "8,16", QUOIT_MESH_CONTIGUOUS_SUBMESHES, "'4x4x8': expected 2x2x1, 2x2x4, 4x4x4," },
  { "v6e", "4x4", "4,4", 4, "flags '4': expected some of 3" },
  { "v6e", "4x4", "4,4", 1u << 31, "flags '2147483648'" },
};

START_TEST (refusal_proposes_valid_sizes)
{
  g_autoptr (QuoitDevices) devices = new_slices (refused[_i].kind, refused[_i].topology, 1);
  g_autofree char *message = refusal_of (devices, refused[_i].sizes, refused[_i].flags);

  ck_assert_msg (strstr (message, refused[_i].expected) != NULL, "'%s' does not say '%s'", message,
                 refused[_i].expected);
}
END_TEST

START_TEST (a_mesh_has_1_to_64_axes)
{
  g_autoptr (QuoitDevices) devices = new_slices ("v5p", "4x4x4", 1);
  g_autoptr (QuoitMesh) mesh = NULL;
  g_autoptr (GError) error = NULL;
  int64_t sizes[65];

  for (unsigned i = 0; i < 65; i++)
    sizes[i] = i == 30 || i == 40 || i == 63 ? 4 : 1;
  ck_assert_ptr_null (quoit_mesh_new (devices, sizes, 65, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'65' axes: expected at most 64");
  ck_assert_ptr_null (quoit_mesh_new (devices, sizes, 0, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected the size of at least one axis");
  mesh = quoit_mesh_new (devices, sizes, 64, 0, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_mesh_get_n_axes (mesh), 64);
  ck_assert_uint_eq (quoit_mesh_get_size (mesh, 63), 4);

  quoit_mesh_free (mesh);
  mesh = quoit_mesh_new_auto (devices, &sizes[32], 32, &error);
  ck_assert_ok (error);
  ck_assert_ptr_null (quoit_mesh_new_auto (devices, &sizes[31], 33, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'33' axes: expected at most 32");

  sizes[63] = sizes[40] = 2;
  sizes[0] = 4;
  ck_assert_ptr_null (quoit_mesh_new (devices, sizes, 64, QUOIT_MESH_SPLIT_PHYSICAL_AXES, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected at most 21 if 3 physical axes are split");
}
END_TEST

START_TEST (devices_that_form_no_box_are_refused)
{
  g_autoptr (QuoitDevices) all = new_slices ("v5p", "2x2x2", 1), devices = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *two_slices = NULL, *twice = NULL, *wide = NULL;
  const int32_t far[] = { G_MAXINT32, G_MININT32, 0 };

  devices = quoit_devices_new ("v4", &error);
  for (uint32_t i = 0; i < 8; i++)
    quoit_devices_add (devices, i, quoit_devices_get_coordinates (all, i == 5 ? 7 : i), 0, 0, 0, &error);
  twice = refusal_of (devices, "8", 0);
  ck_assert_msg (strstr (twice, "no device at '1,0,1', and two at another place") != NULL, "%s", twice);

  quoit_devices_free (devices);
  devices = new_slices ("v4", "4x4x4", 2);
  two_slices = refusal_of (devices, "128", 0);
  ck_assert_msg (strstr (two_slices, "'128' devices in a box of 4x4x4 chips with 1 each") != NULL, "%s", two_slices);

  quoit_devices_free (devices);
  devices = quoit_devices_new ("v4", &error);
  quoit_devices_add (devices, 0, far, 0, 0, 0, &error);
  quoit_devices_add (devices, 1, (const int32_t[]) { G_MININT32, G_MAXINT32, 1 }, G_MAXINT32, 0, 0, &error);
  wide = refusal_of (devices, "2", 0);
  ck_assert_msg (strstr (wide, "a box of 4294967296x4294967296x2 chips with 2147483648 each") != NULL, "%s", wide);
}
END_TEST

START_TEST (second_device_of_a_chip_is_refused_if_jax_has_one)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitDevices) devices = quoit_devices_new_slices ("v4", "2x2x1", 1, 0, 2, &error);
  g_autofree char *message = refusal_of (devices, "8", 0);

  ck_assert_msg (strstr (message, "device '1' is core 1 of its chip") != NULL, "%s", message);
}
END_TEST

START_TEST (an_empty_list_is_refused_by_every_mesh)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitDevices) devices = quoit_devices_new ("v4", &error);
  const int64_t one[] = { 1 };

  ck_assert_ptr_null (quoit_mesh_new (devices, one, 1, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 0, the number of devices");
  ck_assert_ptr_null (quoit_mesh_new_auto (devices, one, 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 0, the number of devices");
  ck_assert_ptr_null (quoit_mesh_new_hybrid (devices, one, 1, one, 1, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 0, the number of granules");
  ck_assert_ptr_null (quoit_mesh_new_hybrid (devices, one, 1, NULL, 0, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 0, the number of granules");
}
END_TEST

/* --- suggestions in messages --- */

/* The quoted sizes after "expected" in a message. */
static GPtrArray *
sizes_in (const char *message)
{
  GPtrArray *found = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) parts = g_strsplit (strstr (message, "expected"), "'", -1);

  for (unsigned i = 1; parts[i] != NULL; i += 2)
    g_ptr_array_add (found, g_strdup (parts[i]));
  return found;
}

START_TEST (every_shape_in_a_message_is_valid)
{
  static const char *const topologies[] = { "4x4x4", "4x4x8", "2x2x4", "8x8x16", "4x12x16", "2x2x2", "4x8x8" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (7);
  unsigned n_named = 0;

  for (unsigned draw = 0; draw < 400; draw++)
    {
      g_autoptr (QuoitDevices) devices
          = new_slices (draw % 2 == 0 ? "v4" : "tpu7x", topologies[draw % G_N_ELEMENTS (topologies)], 1);
      Sizes sizes = { .n = (unsigned) g_rand_int_range (rand, 1, 5) };
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitMesh) mesh = NULL;
      g_autoptr (GPtrArray) named = NULL;
      uint32_t left = quoit_devices_get_n_devices (devices);

      for (unsigned i = 0; i + 1 < sizes.n; i++)
        {
          do
            sizes.sizes[i] = g_rand_int_range (rand, 1, (gint32) MIN (left, 12) + 1);
          while (left % sizes.sizes[i] != 0);
          left /= (uint32_t) sizes.sizes[i];
        }
      sizes.sizes[sizes.n - 1] = left;
      mesh = quoit_mesh_new (devices, sizes.sizes, sizes.n, 0, &error);
      if (mesh != NULL)
        continue;
      named = sizes_in (error->message);
      ck_assert_msg (named->len > 0, "%s", error->message);
      for (guint i = 0; i < named->len; i++, n_named++)
        quoit_mesh_free (new_mesh (devices, named->pdata[i], 0));
    }
  ck_assert_uint_ge (n_named, 100);
}
END_TEST

/* The smallest number of the two sizes that must change so that they multiply to @count. */
static unsigned
least_changes (const Sizes *sizes, int64_t count)
{
  if (count % sizes->sizes[0] == 0 || count % sizes->sizes[1] == 0)
    return 1;
  return 2;
}

START_TEST (proposed_sizes_multiply_to_the_devices_with_few_changes)
{
  g_autoptr (QuoitDevices) devices = new_slices ("v4", "4x4x12", 1);

  for (unsigned a = 1; a < 24; a++)
    for (unsigned b = 1; b < 24; b++)
      {
        g_autofree char *text = g_strdup_printf ("%u,%u", a, b), *message = NULL;
        g_autoptr (GPtrArray) named = NULL;
        Sizes given = sizes_of (text), near;

        if (a * b == 192)
          continue;
        message = refusal_of (devices, text, 0);
        named = sizes_in (message);
        ck_assert_uint_eq (named->len, 1);
        near = sizes_of (named->pdata[0]);
        ck_assert_int_eq (near.sizes[0] * near.sizes[1], 192);
        ck_assert_uint_eq ((near.sizes[0] != a) + (near.sizes[1] != b), least_changes (&given, 192));
      }
}
END_TEST

/* --- properties of a mesh --- */

START_TEST (shares_multiply_to_both_sizes_and_devices_occur_once)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (11);

  for (unsigned draw = 0; draw < 500; draw++)
    {
      Sizes physical = { .n = (unsigned) g_rand_int_range (rand, 1, 6) }, sizes = { .n = 1 };
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitMesh) mesh = NULL;
      g_autofree gboolean *seen = NULL;
      int64_t volume = 1, left;

      for (unsigned p = 0; p < physical.n; p++)
        volume *= physical.sizes[p] = g_rand_int_range (rand, 1, 13);
      for (left = volume; left > 1 && sizes.n < 6; sizes.n++)
        {
          int64_t size = g_rand_int_range (rand, 1, 13);

          sizes.sizes[sizes.n - 1] = left % size == 0 ? size : 1;
          left /= sizes.sizes[sizes.n - 1];
        }
      sizes.sizes[sizes.n - 1] = left;
      mesh = quoit_mesh_new_torus (NULL, physical.sizes, physical.n, sizes.sizes, sizes.n,
                                   QUOIT_MESH_SPLIT_PHYSICAL_AXES, &error);
      ck_assert_ok (error);

      for (unsigned p = 0; p < physical.n; p++)
        {
          int64_t product = 1;

          for (unsigned l = 0; l < sizes.n; l++)
            product *= quoit_mesh_get_share (mesh, 0, p, l);
          ck_assert_int_eq (product, physical.sizes[p]);
          ck_assert_int_eq (quoit_mesh_get_physical_size (mesh, 0, p), physical.sizes[p]);
        }
      for (unsigned l = 0; l < sizes.n; l++)
        {
          int64_t product = 1;

          for (unsigned p = 0; p < physical.n; p++)
            product *= quoit_mesh_get_share (mesh, 0, p, l);
          ck_assert_int_eq (product, sizes.sizes[l]);
          ck_assert_int_eq (quoit_mesh_get_size (mesh, l), sizes.sizes[l]);
        }
      seen = g_new0 (gboolean, volume);
      for (int64_t i = 0; i < volume; i++)
        {
          ck_assert (!seen[quoit_mesh_get_ids (mesh)[i]]);
          seen[quoit_mesh_get_ids (mesh)[i]] = TRUE;
          ck_assert_int_eq (quoit_mesh_get_indices (mesh)[i], quoit_mesh_get_ids (mesh)[i]);
        }
    }
}
END_TEST

START_TEST (axis_lists_its_physical_axes)
{
  g_autoptr (QuoitDevices) devices = new_slices ("v5p", "4x4x8", 1), twins = new_slices ("tpu7x", "4x4x4", 1);
  g_autoptr (QuoitMesh) mesh = new_mesh (devices, "8,16", 0), cores = new_mesh (twins, "64,2", 0);
  const uint32_t of_first[] = { 1, 1, 8 }, of_second[] = { 4, 4, 1 };

  ck_assert_int_eq (quoit_mesh_get_order (mesh, 0), QUOIT_MESH_ORDER_TORUS);
  ck_assert_uint_eq (quoit_mesh_get_n_physical_axes (mesh, 0), 3);
  for (unsigned p = 0; p < 3; p++)
    {
      ck_assert_uint_eq (quoit_mesh_get_share (mesh, 0, p, 0), of_first[p]);
      ck_assert_uint_eq (quoit_mesh_get_share (mesh, 0, p, 1), of_second[p]);
    }
  ck_assert_uint_eq (quoit_mesh_get_n_physical_axes (cores, 0), 4);
  ck_assert_str_eq (quoit_mesh_get_physical_axis (cores, 0, 3), "core");
  ck_assert_uint_eq (quoit_mesh_get_share (cores, 0, 3, 1), 2);
}
END_TEST

START_TEST (contiguous_submeshes_order_z_before_y)
{
  g_autoptr (QuoitDevices) devices = new_slices ("v4", "4x4x4", 1);
  g_autoptr (QuoitMesh) mesh = new_mesh (devices, "16,1,4", QUOIT_MESH_CONTIGUOUS_SUBMESHES);

  ck_assert_str_eq (quoit_mesh_get_physical_axis (mesh, 0, 0), "x");
  ck_assert_str_eq (quoit_mesh_get_physical_axis (mesh, 0, 1), "z");
  ck_assert_str_eq (quoit_mesh_get_physical_axis (mesh, 0, 2), "y");
}
END_TEST

START_TEST (make_mesh_splits_physical_axes_only_on_v5e)
{
  g_autoptr (QuoitDevices) v5e = new_slices ("v5e", "4x4", 1), v6e = new_slices ("v6e", "4x4", 1);
  g_autoptr (QuoitDevices) two = new_slices ("v6e", "2x2", 2);
  g_autoptr (QuoitMesh) mesh = NULL, first = NULL;
  g_autoptr (GError) error = NULL;
  const int64_t sizes[] = { 2, 8 };

  mesh = quoit_mesh_new_auto (v5e, sizes, 2, &error);
  ck_assert_ok (error);
  ck_assert_ptr_null (quoit_mesh_new_auto (v6e, sizes, 2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "is not the size of a free physical axis");
  ck_assert_ptr_null (quoit_mesh_new_auto (v6e, (const int64_t[]) { 4, 8 }, 2, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 16, the number of devices, such as '2,8'");
  ck_assert_ptr_null (quoit_mesh_new_auto (two, (const int64_t[]) { 8 }, 1, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "'8' devices of several slices");
  first = quoit_mesh_new_auto (two, (const int64_t[]) { 4 }, 1, &error);
  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_mesh_get_n_devices (first), 4);
}
END_TEST

/* --- granules --- */

START_TEST (only_the_granule_at_the_origin_is_a_ring)
{
  g_autoptr (QuoitDevices) devices = new_slices ("v6e", "4x4", 1);
  g_autoptr (GError) error = NULL;
  const int64_t four[] = { 4 };
  g_autoptr (QuoitMesh) mesh = quoit_mesh_new_hybrid (devices, four, 1, four, 1, QUOIT_MESH_PROCESS_GRANULES, &error);
  g_autofree char *ids = NULL;

  ck_assert_ok (error);
  ids = ids_of (mesh);
  ck_assert_str_eq (ids, "0 1 5 4 2 6 3 7 8 12 9 13 10 14 11 15");
  ck_assert_uint_eq (quoit_mesh_get_n_granules (mesh), 4);
  for (uint32_t g = 0; g < 4; g++)
    {
      ck_assert_int_eq (quoit_mesh_get_granule_key (mesh, g), (int) g);
      ck_assert_int_eq (quoit_mesh_get_order (mesh, g), g == 0 ? QUOIT_MESH_ORDER_RING : QUOIT_MESH_ORDER_TORUS);
      ck_assert_uint_eq (quoit_mesh_get_n_physical_axes (mesh, g), g == 0 ? 0 : 3);
    }
}
END_TEST

START_TEST (shapes_of_different_lengths_are_joined_from_the_back)
{
  g_autoptr (QuoitDevices) devices = new_slices ("v5p", "4x4x4", 4);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitMesh) mesh
      = quoit_mesh_new_hybrid (devices, (const int64_t[]) { 16, 4 }, 2, (const int64_t[]) { 2, 1, 2 }, 3, 0, &error);
  const uint32_t sizes[] = { 2, 16, 8 }, dcn[] = { 2, 1, 2 };

  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_mesh_get_n_axes (mesh), 3);
  for (unsigned axis = 0; axis < 3; axis++)
    {
      ck_assert_uint_eq (quoit_mesh_get_size (mesh, axis), sizes[axis]);
      ck_assert_uint_eq (quoit_mesh_get_dcn_size (mesh, axis), dcn[axis]);
    }
  for (unsigned p = 0; p < 3; p++)
    {
      ck_assert_uint_eq (quoit_mesh_get_share (mesh, 3, p, 0), 1);
      ck_assert_uint_eq (quoit_mesh_get_share (mesh, 3, p, 1), p == 0 ? 1 : 4);
      ck_assert_uint_eq (quoit_mesh_get_share (mesh, 3, p, 2), p == 0 ? 4 : 1);
    }
}
END_TEST

START_TEST (granules_are_sorted_by_key_unless_they_stay_as_listed)
{
  g_autoptr (QuoitDevices) all = new_slices ("v6e", "2x2", 3), devices = quoit_devices_new ("v6e", NULL);
  g_autoptr (QuoitMesh) sorted = NULL, listed = NULL;
  g_autoptr (GError) error = NULL;
  const uint32_t from[] = { 8, 0, 4, 9, 1, 5, 10, 2, 6, 11, 3, 7 };

  for (unsigned i = 0; i < 12; i++)
    quoit_devices_add (devices, from[i], quoit_devices_get_coordinates (all, from[i]), 0, 0,
                       quoit_devices_get_slice_index (all, from[i]), &error);
  sorted = quoit_mesh_new_hybrid (devices, (const int64_t[]) { 4 }, 1, (const int64_t[]) { 3 }, 1, 0, &error);
  ck_assert_ok (error);
  listed = quoit_mesh_new_hybrid (devices, (const int64_t[]) { 4 }, 1, (const int64_t[]) { 3 }, 1,
                                  QUOIT_MESH_GRANULES_AS_LISTED, &error);
  ck_assert_ok (error);
  ck_assert_int_eq (quoit_mesh_get_granule_key (sorted, 0), 0);
  ck_assert_int_eq (quoit_mesh_get_granule_key (listed, 0), 2);
  ck_assert_int_eq (quoit_mesh_get_granule_key (listed, 1), 0);
  ck_assert_int_eq (quoit_mesh_get_ids (sorted)[0], 0);
  ck_assert_int_eq (quoit_mesh_get_ids (listed)[0], 8);
  ck_assert_uint_eq (quoit_mesh_get_indices (listed)[0], 0);
}
END_TEST

START_TEST (invalid_dcn_shape_is_refused_with_a_valid_shape)
{
  g_autoptr (QuoitDevices) two = new_slices ("v6e", "4x4", 2), bare = quoit_devices_new ("v6e", NULL);
  g_autoptr (GError) error = NULL;
  const int64_t sizes[] = { 1, 16 }, odd[] = { 2, 8 }, three[] = { 3, 1 }, ok[] = { 2, 1 };

  ck_assert_ptr_null (quoit_mesh_new_hybrid (two, sizes, 2, three, 2, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID,
                     "dcn mesh shape '3,1' multiplies to 3: expected 2, the number of granules, such as '2,1'");
  ck_assert_ptr_null (quoit_mesh_new_hybrid (two, sizes, 2, NULL, 0, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "dcn mesh shape '' multiplies to 1: expected 2");
  ck_assert_ptr_null (quoit_mesh_new_hybrid (two, odd, 2, ok, 2, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "granule 0: mesh shape '2,8': axis 1 of size '8'");
  ck_assert_ptr_null (quoit_mesh_new_hybrid (two, sizes, 2, ok, 2, QUOIT_MESH_CONTIGUOUS_SUBMESHES, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "flags '1': expected some of 14");
  quoit_devices_add (bare, 5, (const int32_t[]) { 0, 0, 0 }, 0, 0, -1, &error);
  ck_assert_ptr_null (quoit_mesh_new_hybrid (bare, (const int64_t[]) { 1 }, 1, NULL, 0, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "device '5' has no slice index");
}
END_TEST

START_TEST (a_million_granules_of_64_axes_are_joined)
{
  g_autoptr (QuoitDevices) devices = new_slices ("v4", "128x128x256", 1);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitMesh) mesh = quoit_mesh_new_hybrid (
      devices, (const int64_t[]) { 4 }, 1, (const int64_t[]) { 1 << 20 }, 1, QUOIT_MESH_PROCESS_GRANULES, &error);

  ck_assert_ok (error);
  ck_assert_uint_eq (quoit_mesh_get_n_granules (mesh), 1 << 20);
  ck_assert_uint_eq (quoit_mesh_get_n_devices (mesh), 1 << 22);
  ck_assert_int_eq (quoit_devices_add (devices, 0, (const int32_t[]) { 0, 0, 0 }, 0, 0, 0, &error), 0);
  ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected at most 4194304 devices");
}
END_TEST

/* --- a torus without devices --- */

static const struct {
  const char *physical, *sizes, *expected;
} bad_tori[] = {
  { "4,0,4", "16", "physical shape '4,0,4': axis 1 of size '0'" },
  { "2,2,2,2,2,2,2,2,2", "512", "'9' physical axes: expected 1 to 8" },
  { "99999,99999", "1", "expected at most 4194304 places" },
  { "9223372036854775807,2", "2", "expected at most 4194304 places" },
  { "4,4", "17", "expected 16, the number of places, such as '16'" },
  { "4,4,4,4", "128,2", "(free: x 4, y 4, z 4, core 4)" },
};

START_TEST (invalid_physical_torus_is_refused)
{
  g_autoptr (GError) error = NULL;
  Sizes physical = sizes_of (bad_tori[_i].physical), sizes = sizes_of (bad_tori[_i].sizes);

  ck_assert_ptr_null (quoit_mesh_new_torus (NULL, physical.sizes, physical.n, sizes.sizes, sizes.n, 0, &error));
  ck_assert_refused (error, QUOIT_ERROR_INVALID, bad_tori[_i].expected);
}
END_TEST

/* JAX needs the product only if it splits physical axes, and NumPy infers one size of -1 from the others. */
static const struct {
  const char *physical, *sizes, *made; /* NULL: refused */
} inferred[] = {
  { "5", "1,5,-1", "1,5,1" }, { "2", "-1,2", "1,2" },      { "4,1", "4,-1", "4,1" }, { "2,4", "-1,2,4,1", "1,2,4,1" },
  { "1", "-1,1", "1,1" },     { "1", "-1", NULL },         { "1,1", "-1", NULL },    { "4", "-1", NULL },
  { "2,4", "-1,4", NULL },    { "2,4", "-1,2,2,2", NULL }, { "4", "-1,-1,4", NULL }, { "4", "-1,-4", NULL },
  { "4", "-2,4", NULL },      { "4", "-1,0", NULL },
};

START_TEST (one_size_is_inferred_if_the_others_are_whole_physical_axes)
{
  Sizes physical = sizes_of (inferred[_i].physical), sizes = sizes_of (inferred[_i].sizes);

  for (unsigned flags = 0; flags <= QUOIT_MESH_SPLIT_PHYSICAL_AXES; flags += QUOIT_MESH_SPLIT_PHYSICAL_AXES)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (QuoitMesh) mesh
          = quoit_mesh_new_torus (NULL, physical.sizes, physical.n, sizes.sizes, sizes.n, flags, &error);

      if (inferred[_i].made == NULL)
        {
          ck_assert_ptr_null (mesh);
          ck_assert_refused (error, QUOIT_ERROR_INVALID, "expected 1 or more");
          continue;
        }
      ck_assert_ok (error);
      sizes = sizes_of (inferred[_i].made);
      for (unsigned l = 0; l < sizes.n; l++)
        ck_assert_uint_eq (quoit_mesh_get_size (mesh, l), sizes.sizes[l]);
      sizes = sizes_of (inferred[_i].sizes);
    }
}
END_TEST

START_TEST (the_largest_torus_is_split_among_many_axes)
{
  static const char *const tori[][2] = {
    { "4194304", "2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,2" },
    { "8,8,8,8,8,8,4,4", "4,32,128,256" },
    { "12,12,12,12,12,12", "27,8,8,12,12,12" },
    { "1009,13,17", "17,1009,13" },
    { "60,60,60,10", "7,7" },
  };

  for (unsigned i = 0; i < G_N_ELEMENTS (tori); i++)
    {
      g_autoptr (GError) error = NULL;
      Sizes physical = sizes_of (tori[i][0]), sizes = sizes_of (tori[i][1]);
      g_autoptr (QuoitMesh) mesh = quoit_mesh_new_torus (NULL, physical.sizes, physical.n, sizes.sizes, sizes.n,
                                                         QUOIT_MESH_SPLIT_PHYSICAL_AXES, &error);

      ck_assert ((mesh != NULL) == (error == NULL));
      if (i + 1 < G_N_ELEMENTS (tori))
        ck_assert_ok (error);
      else
        ck_assert_refused (error, QUOIT_ERROR_INVALID, "'7,7' multiplies to 49");
    }
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("mesh");
  TCase *tcase = tcase_create ("mesh");

  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, device_kind_has_the_name_and_devices_of_jax, 0, G_N_ELEMENTS (kinds));
  tcase_add_test (tcase, unknown_device_kind_is_refused_with_the_known_kinds);
  tcase_add_loop_test (tcase, invalid_slices_are_refused, 0, G_N_ELEMENTS (bad_slices));
  tcase_add_loop_test (tcase, a_process_has_the_devices_of_a_block_of_chips, 0, G_N_ELEMENTS (hosts));
  tcase_add_test (tcase, device_with_negative_numbers_is_refused);
  tcase_add_loop_test (tcase, refusal_proposes_valid_sizes, 0, G_N_ELEMENTS (refused));
  tcase_add_test (tcase, a_mesh_has_1_to_64_axes);
  tcase_add_test (tcase, devices_that_form_no_box_are_refused);
  tcase_add_test (tcase, second_device_of_a_chip_is_refused_if_jax_has_one);
  tcase_add_test (tcase, an_empty_list_is_refused_by_every_mesh);
  tcase_add_test (tcase, every_shape_in_a_message_is_valid);
  tcase_add_test (tcase, proposed_sizes_multiply_to_the_devices_with_few_changes);
  tcase_add_test (tcase, shares_multiply_to_both_sizes_and_devices_occur_once);
  tcase_add_test (tcase, axis_lists_its_physical_axes);
  tcase_add_test (tcase, contiguous_submeshes_order_z_before_y);
  tcase_add_test (tcase, make_mesh_splits_physical_axes_only_on_v5e);
  tcase_add_test (tcase, only_the_granule_at_the_origin_is_a_ring);
  tcase_add_test (tcase, shapes_of_different_lengths_are_joined_from_the_back);
  tcase_add_test (tcase, granules_are_sorted_by_key_unless_they_stay_as_listed);
  tcase_add_test (tcase, invalid_dcn_shape_is_refused_with_a_valid_shape);
  tcase_add_test (tcase, a_million_granules_of_64_axes_are_joined);
  tcase_add_loop_test (tcase, invalid_physical_torus_is_refused, 0, G_N_ELEMENTS (bad_tori));
  tcase_add_loop_test (tcase, one_size_is_inferred_if_the_others_are_whole_physical_axes, 0, G_N_ELEMENTS (inferred));
  tcase_add_test (tcase, the_largest_torus_is_split_among_many_axes);
  suite_add_tcase (suite, tcase);
  return suite_main (suite);
}
