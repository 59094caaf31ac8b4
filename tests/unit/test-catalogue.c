/* SPDX-License-Identifier: Apache-2.0 */
/* tests/data/tpu-catalogue.json has the catalogue from its sources; the library must have the same data. */
#include <json-glib/json-glib.h>
#include <string.h>

#include <quoit/catalogue.h>

#include "suite.h"
#include "catalogue/catalogue.h"

static JsonObject *catalogue;

static void
load_catalogue (void)
{
  JsonParser *parser = json_parser_new ();
  g_autofree char *path = g_build_filename (g_getenv ("top_srcdir"), "tests/data/tpu-catalogue.json", NULL);
  GError *error = NULL;

  json_parser_load_from_file (parser, path, &error);
  ck_assert_ok (error);
  catalogue = json_object_ref (json_node_get_object (json_parser_get_root (parser)));
  g_object_unref (parser);
}

static void
drop_catalogue (void)
{
  g_clear_pointer (&catalogue, json_object_unref);
}

static const char *
text_or_null (JsonObject *object, const char *member)
{
  return json_object_get_string_member_with_default (object, member, NULL);
}

static gint64
number_or (JsonObject *object, const char *member, gint64 absent)
{
  return json_object_get_int_member_with_default (object, member, absent);
}

static const QuoitCatalogueGeneration *
public_generation (const char *id)
{
  GError *error = NULL;
  const QuoitCatalogueGeneration *generation = quoit_catalogue_lookup_generation (id, &error);

  ck_assert_ok (error);
  return generation;
}

/* The list of texts in the JSON equals the list for @which, in order. */
static void
same_texts (const QuoitCatalogueGeneration *generation, QuoitGenerationText which, JsonObject *row, const char *member)
{
  JsonArray *array = json_object_has_member (row, member) ? json_object_get_array_member (row, member) : NULL;
  unsigned n = array != NULL ? json_array_get_length (array) : 0;

  for (unsigned i = 0; i <= n; i++)
    {
      g_autofree char *text = quoit_catalogue_generation_dup_text (generation, which, i);

      ck_assert_pstr_eq (text, i < n ? json_array_get_string_element (array, i) : NULL);
    }
}

static void
same_machines (const QuoitCatalogueGeneration *generation, JsonObject *row)
{
  JsonArray *array
      = json_object_has_member (row, "machine_types") ? json_object_get_array_member (row, "machine_types") : NULL;
  unsigned n = array != NULL ? json_array_get_length (array) : 0;

  for (unsigned i = 0; i < n; i++)
    {
      const QuoitCatalogueMachine *machine = quoit_catalogue_get_machine (generation, i);
      g_autofree char *name = NULL;

      ck_assert_ptr_nonnull (machine);
      name = quoit_catalogue_machine_dup_text (machine, QUOIT_MACHINE_TEXT_NAME);
      ck_assert_str_eq (name, json_array_get_string_element (array, i));
    }
  ck_assert_ptr_null (quoit_catalogue_get_machine (generation, n));
}

/* The data that every generation has, even one that is known by name only. */
static void
same_facts (const QuoitGenerationFacts *facts, JsonObject *row)
{
  static const char wrap_4[] = "all axes true when every dimension >= 4, otherwise all false";
  static const char wrap_16[] = "an axis is true only when its dimension is 16";
  const char *wrap = text_or_null (row, "wrap");
  g_autofree char *max_shape = facts->max_slice_shape.n_dims > 0 ? quoit_shape_format (facts->max_slice_shape) : NULL;

  ck_assert_str_eq (facts->id, text_or_null (row, "id"));
  ck_assert_pstr_eq (facts->ray_version, text_or_null (row, "ray_version"));
  ck_assert_pstr_eq (facts->ray_resource, text_or_null (row, "ray_resource"));
  ck_assert_pstr_eq (facts->gke_prefix, text_or_null (row, "gke_type_prefix"));
  ck_assert_int_eq (facts->dims, number_or (row, "dims", 0));
  ck_assert_int_eq (facts->cores_per_chip, number_or (row, "cores_per_chip", 0));
  ck_assert_int_eq (facts->devices_per_chip, number_or (row, "jax_devices_per_chip", 0));
  ck_assert_int_eq (facts->max_slice_chips, number_or (row, "max_slice_chips", 0));
  ck_assert_int_eq (facts->hbm_gb, number_or (row, "hbm_gb", 0));
  ck_assert_int_eq (facts->hbm_gbytes_per_s, number_or (row, "hbm_gbytes_per_s", 0));
  ck_assert_double_eq_tol (facts->bf16_gflops,
                           1000 * json_object_get_double_member_with_default (row, "bf16_tflops", 0), 1e-6);
  ck_assert_int_eq (facts->ici_gbytes_per_s, number_or (row, "ici_gbytes_per_s", 0));
  ck_assert_int_eq (facts->dcn_gbit_per_s, number_or (row, "dcn_gbit_per_s_per_chip", 0));
  ck_assert_int_eq (facts->pod_chips, number_or (row, "pod_chips", 0));
  ck_assert_pstr_eq (max_shape, text_or_null (row, "max_slice_topology"));
  ck_assert_pstr_eq (wrap, facts->wrap == QUOIT_WRAP_NOT_STATED   ? NULL
                           : facts->wrap == QUOIT_WRAP_ALL_FROM_4 ? wrap_4
                                                                  : wrap_16);
  ck_assert_int_eq ((facts->traits & QUOIT_GENERATION_MULTISLICE_ON_GKE) != 0,
                    json_object_get_boolean_member (row, "multislice_on_gke"));
  ck_assert_int_eq ((facts->traits & QUOIT_GENERATION_TWIST_DOCUMENTED) != 0, json_object_has_member (row, "twist"));
  ck_assert_int_eq (facts->ocs_cube.n_dims, json_object_has_member (row, "ocs_cube") ? 3 : 0);
  for (unsigned axis = 0; axis < facts->ocs_cube.n_dims; axis++)
    ck_assert_int_eq (facts->ocs_cube.dims[axis],
                      json_array_get_int_element (json_object_get_array_member (row, "ocs_cube"), axis));
  for (unsigned i = 0; i < 3 && facts->jax_kinds[i] != NULL; i++)
    ck_assert_str_eq (facts->jax_kinds[i],
                      json_array_get_string_element (json_object_get_array_member (row, "jax_device_kinds"), i));
}

/* The public numbers equal the table's, with -1 for unpublished ones. */
static void
same_public_numbers (const QuoitCatalogueGeneration *generation, JsonObject *row)
{
  static const struct {
    QuoitGenerationNumber which;
    const char *member;
  } numbers[] = {
    { QUOIT_GENERATION_NUMBER_DIMS, "dims" },
    { QUOIT_GENERATION_NUMBER_CORES_PER_CHIP, "cores_per_chip" },
    { QUOIT_GENERATION_NUMBER_JAX_DEVICES_PER_CHIP, "jax_devices_per_chip" },
    { QUOIT_GENERATION_NUMBER_HBM_GB, "hbm_gb" },
    { QUOIT_GENERATION_NUMBER_HBM_GBYTES_PER_S, "hbm_gbytes_per_s" },
    { QUOIT_GENERATION_NUMBER_ICI_GBYTES_PER_S, "ici_gbytes_per_s" },
    { QUOIT_GENERATION_NUMBER_DCN_GBIT_PER_S, "dcn_gbit_per_s_per_chip" },
    { QUOIT_GENERATION_NUMBER_POD_CHIPS, "pod_chips" },
    { QUOIT_GENERATION_NUMBER_MAX_SLICE_CHIPS, "max_slice_chips" },
  };
  gint64 gflops = 1000 * number_or (row, "bf16_tflops", 0);

  for (unsigned i = 0; i < G_N_ELEMENTS (numbers); i++)
    ck_assert_int_eq (quoit_catalogue_generation_get_number (generation, numbers[i].which),
                      number_or (row, numbers[i].member, -1));
  ck_assert_int_eq (quoit_catalogue_generation_get_number (generation, QUOIT_GENERATION_NUMBER_BF16_GFLOPS),
                    gflops > 0 ? gflops : -1);
  ck_assert_int_eq (quoit_catalogue_generation_get_number (generation, QUOIT_GENERATION_NUMBER_OCS_CUBE_CHIPS),
                    json_object_has_member (row, "ocs_cube") ? 64 : -1);
  ck_assert_int_eq (quoit_catalogue_generation_get_number (generation, QUOIT_GENERATION_NUMBER_MULTISLICE_ON_GKE),
                    json_object_get_boolean_member (row, "multislice_on_gke"));
  ck_assert_int_eq (quoit_catalogue_generation_get_number (generation, (QuoitGenerationNumber) 99), -1);
}

START_TEST (every_generation_matches_its_sources)
{
  JsonArray *rows = json_object_get_array_member (catalogue, "generations");
  unsigned n = json_array_get_length (rows);

  for (unsigned i = 0; i < n; i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);
      const QuoitGenerationFacts *facts = quoit_generation_row (i);
      const QuoitCatalogueGeneration *generation = quoit_catalogue_get_generation (i);

      ck_assert_ptr_nonnull (facts);
      same_facts (facts, row);
      ck_assert_int_eq (facts->generation, i < QUOIT_N_GENERATIONS - 1 ? (int) i + 1 : 0);
      ck_assert_int_eq (generation != NULL, i < QUOIT_N_GENERATIONS - 1);
      if (generation == NULL)
        continue;
      ck_assert_ptr_eq (generation, public_generation (facts->id));
      same_texts (generation, QUOIT_GENERATION_TEXT_ALIAS, row, "aliases");
      same_texts (generation, QUOIT_GENERATION_TEXT_JAX_KIND, row, "jax_device_kinds");
      same_texts (generation, QUOIT_GENERATION_TEXT_GKE_LABEL, row, "gke_labels");
      same_public_numbers (generation, row);
      same_machines (generation, row);
    }
  ck_assert_ptr_null (quoit_generation_row (n));
}
END_TEST

START_TEST (every_catalogue_member_is_tested_here)
{
  static const char *const documentation[] = { "about",
                                               "sources",
                                               "rules",
                                               "disagreements",
                                               "check",
                                               "chips_per_process_src",
                                               "topology_columns",
                                               "gke_labels_columns",
                                               "machine_types_columns",
                                               NULL };
  static const char *const tested[]
      = { "generations", "machine_types", "gke_labels", "topologies", "ray_extra", "chips_per_process", NULL };
  static const char *const of_generations[] = { "id",
                                                "ray_version",
                                                "ray_resource",
                                                "gke_type_prefix",
                                                "dims",
                                                "cores_per_chip",
                                                "jax_devices_per_chip",
                                                "max_slice_chips",
                                                "hbm_gb",
                                                "hbm_gbytes_per_s",
                                                "bf16_tflops",
                                                "ici_gbytes_per_s",
                                                "dcn_gbit_per_s_per_chip",
                                                "pod_chips",
                                                "max_slice_topology",
                                                "wrap",
                                                "twist",
                                                "multislice_on_gke",
                                                "ocs_cube",
                                                "jax_device_kinds",
                                                "aliases",
                                                "gke_labels",
                                                "machine_types",
                                                "src",
                                                "note",
                                                NULL };
  g_autoptr (GList) members = json_object_get_members (catalogue);
  JsonArray *rows = json_object_get_array_member (catalogue, "generations");

  for (GList *m = members; m != NULL; m = m->next)
    ck_assert_msg (g_strv_contains (documentation, m->data) || g_strv_contains (tested, m->data), "%s",
                   (const char *) m->data);
  for (unsigned i = 0; i < json_array_get_length (rows); i++)
    {
      g_autoptr (GList) facts = json_object_get_members (json_array_get_object_element (rows, i));

      for (GList *m = facts; m != NULL; m = m->next)
        ck_assert_msg (g_strv_contains (of_generations, m->data), "%s", (const char *) m->data);
    }
}
END_TEST

START_TEST (every_machine_type_matches_its_sources)
{
  JsonArray *rows = json_object_get_array_member (catalogue, "machine_types");
  unsigned n = json_array_get_length (rows);

  for (unsigned i = 0; i < n; i++)
    {
      JsonArray *row = json_array_get_array_element (rows, i);
      const QuoitMachineType *machine = quoit_machine_type_row (i);
      const QuoitCatalogueMachine *public = (const QuoitCatalogueMachine *) machine;
      g_autofree char *name = NULL, *label = NULL, *single = NULL;
      JsonNode *vcpus = json_array_get_element (row, 4), *memory = json_array_get_element (row, 5);
      JsonNode *alone = json_array_get_element (row, 6);

      ck_assert_ptr_nonnull (machine);
      name = quoit_catalogue_machine_dup_text (public, QUOIT_MACHINE_TEXT_NAME);
      label = quoit_catalogue_machine_dup_text (public, QUOIT_MACHINE_TEXT_GKE_LABEL);
      single = quoit_catalogue_machine_dup_text (public, QUOIT_MACHINE_TEXT_SINGLE_HOST_TOPOLOGY);
      ck_assert_str_eq (name, json_array_get_string_element (row, 0));
      ck_assert_str_eq (machine->generation_id, json_array_get_string_element (row, 1));
      ck_assert_str_eq (label, json_array_get_string_element (row, 2));
      ck_assert_int_eq (quoit_catalogue_machine_get_number (public, QUOIT_MACHINE_NUMBER_CHIPS),
                        json_array_get_int_element (row, 3));
      ck_assert_int_eq (quoit_catalogue_machine_get_number (public, QUOIT_MACHINE_NUMBER_VCPUS),
                        json_node_is_null (vcpus) ? -1 : json_node_get_int (vcpus));
      ck_assert_int_eq (quoit_catalogue_machine_get_number (public, QUOIT_MACHINE_NUMBER_MEMORY_GB),
                        json_node_is_null (memory) ? -1 : json_node_get_int (memory));
      ck_assert_pstr_eq (single, json_node_is_null (alone) ? NULL : json_node_get_string (alone));
      ck_assert_int_eq (quoit_catalogue_machine_get_number (public, QUOIT_MACHINE_NUMBER_MULTI_HOST),
                        json_array_get_boolean_element (row, 7));
    }
  ck_assert_ptr_null (quoit_machine_type_row (n));
}
END_TEST

START_TEST (every_gke_label_matches_its_sources)
{
  JsonArray *rows = json_object_get_array_member (catalogue, "gke_labels");
  unsigned n = json_array_get_length (rows);

  for (unsigned i = 0; i < n; i++)
    {
      JsonArray *row = json_array_get_array_element (rows, i);
      const QuoitGkeLabel *label = quoit_gke_label_row (i);
      JsonNode *most = json_array_get_element (row, 3);

      ck_assert_ptr_nonnull (label);
      ck_assert_str_eq (label->label, json_array_get_string_element (row, 0));
      ck_assert_str_eq (label->generation_id, json_array_get_string_element (row, 1));
      ck_assert_int_eq (label->hosts == QUOIT_LABEL_MULTI_HOST, json_array_get_boolean_element (row, 2));
      ck_assert_int_eq (label->max_tpu_per_container, json_node_is_null (most) ? 0 : json_node_get_int (most));
    }
  ck_assert_ptr_null (quoit_gke_label_row (n));
}
END_TEST

START_TEST (every_division_of_a_host_matches_jax)
{
  JsonArray *rows = json_object_get_array_member (catalogue, "chips_per_process");
  unsigned n = json_array_get_length (rows);

  for (unsigned i = 0; i < n; i++)
    {
      JsonObject *row = json_array_get_object_element (rows, i);
      JsonArray *versions = json_object_get_array_member (row, "versions");
      JsonArray *result = json_object_get_array_member (row, "result");
      const QuoitProcessBounds *bounds = quoit_process_bounds_row (i);
      g_autoptr (GString) words = g_string_new (" ");

      ck_assert_ptr_nonnull (bounds);
      for (unsigned v = 0; v < json_array_get_length (versions); v++)
        {
          const char *version = json_array_get_string_element (versions, v);

          g_string_append_printf (words, "%s ", version);
          ck_assert_ptr_eq (bounds, quoit_process_bounds_find (version, number_or (row, "host_chips", 0),
                                                               number_or (row, "chips_per_process", 0)));
        }
      ck_assert_str_eq (bounds->versions, words->str);
      ck_assert_str_eq (bounds->process_bounds, json_array_get_string_element (result, 0));
      ck_assert_str_eq (bounds->chips_per_process_bounds, json_array_get_string_element (result, 1));
    }
  ck_assert_ptr_null (quoit_process_bounds_row (n));
  ck_assert_ptr_null (quoit_process_bounds_find ("v6e", 3, 1));
  ck_assert_ptr_null (quoit_process_bounds_find ("", 1, 1));
}
END_TEST

static void
same_topology (const QuoitCatalogueTopology *topology, QuoitGeneration generation, JsonArray *row)
{
  const char *machine = json_node_get_string (json_array_get_element (row, 4));
  JsonNode *ray_pod_type = json_array_get_element (row, 6);
  JsonArray *grid = json_array_get_array_element (row, 9);
  g_autofree char *shape = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_SHAPE);
  g_autofree char *machine_is = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_MACHINE_TYPE);
  g_autofree char *pod_type = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_POD_TYPE);
  g_autofree char *gke_type = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_GKE_ACCELERATOR_TYPE);
  g_autofree char *accepted = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_ACCEPTED_BY);
  g_autofree char *wrap = quoit_catalogue_topology_dup_text (topology, QUOIT_TOPOLOGY_TEXT_WRAP);
  g_autoptr (GString) axes = g_string_new (NULL);
  GError *error = NULL;
  QuoitSliceFacts facts;
  QuoitShape parsed;

  ck_assert_str_eq (shape, json_array_get_string_element (row, 0));
  ck_assert (quoit_shape_parse (shape, &parsed, &error));
  ck_assert (quoit_shape_check (generation, parsed, &error));
  ck_assert (quoit_slice_facts (generation, parsed, json_array_get_int_element (row, 3), &facts, &error));
  ck_assert_int_eq (quoit_shape_chips (parsed), json_array_get_int_element (row, 1));
  ck_assert_int_eq (facts.hosts, json_array_get_int_element (row, 2));
  ck_assert_int_eq (facts.chips_per_host, json_array_get_int_element (row, 3));
  ck_assert_int_eq (topology->chips_per_host, json_array_get_int_element (row, 3));
  ck_assert_pstr_eq (machine_is, machine);
  ck_assert_str_eq (gke_type, json_array_get_string_element (row, 5));
  ck_assert_str_eq (pod_type,
                    JSON_NODE_HOLDS_VALUE (ray_pod_type) && json_node_get_value_type (ray_pod_type) == G_TYPE_STRING
                        ? json_node_get_string (ray_pod_type)
                        : gke_type);
  ck_assert_int_eq (quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_JAX_DEVICES),
                    json_array_get_int_element (row, 8));
  for (unsigned axis = 0; axis < 3; axis++)
    {
      ck_assert_int_eq (facts.host_grid.dims[axis], json_array_get_int_element (grid, axis));
      if ((json_array_get_int_element (row, 10) & 1 << axis) != 0)
        g_string_append_c (axes, "xyz"[axis]);
    }
  ck_assert_str_eq (wrap, axes->str);
  ck_assert_int_eq (quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_TWISTABLE),
                    json_array_get_int_element (row, 11));
  ck_assert_str_eq (accepted, json_array_get_string_element (row, 12));
  ck_assert_int_eq (quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_RAY_ONLY), 0);
}

START_TEST (topologies_are_exactly_those_of_the_sources)
{
  JsonObject *topologies = json_object_get_object_member (catalogue, "topologies");
  JsonObject *only
      = json_object_get_object_member (json_object_get_object_member (catalogue, "ray_extra"), "not_in_rows");
  unsigned n_rows = 0, n_generations = 0;

  for (QuoitGeneration generation = 1; generation < QUOIT_N_GENERATIONS; generation++)
    {
      const QuoitGenerationFacts *facts = quoit_generation_facts (generation);
      const QuoitCatalogueGeneration *public = public_generation (facts->id);
      JsonArray *rows = json_object_get_array_member (topologies, facts->id);
      JsonArray *extra = facts->ray_version != NULL ? json_object_get_array_member (only, facts->ray_version) : NULL;
      unsigned n = json_array_get_length (rows), n_extra = extra != NULL ? json_array_get_length (extra) : 0;

      for (unsigned i = 0; i < n; i++)
        same_topology (quoit_catalogue_get_topology (public, i), generation, json_array_get_array_element (rows, i));
      for (unsigned i = 0; i < n_extra; i++)
        {
          const QuoitCatalogueTopology *topology
              = quoit_catalogue_lookup_topology (public, json_array_get_string_element (extra, i), 0, NULL);

          ck_assert_ptr_nonnull (topology);
          ck_assert_int_eq (topology->accepted_by, QUOIT_ACCEPTED_BY_RAY);
          ck_assert_int_eq (quoit_catalogue_topology_get_number (topology, QUOIT_TOPOLOGY_NUMBER_RAY_ONLY), 1);
        }
      ck_assert_ptr_null (quoit_catalogue_get_topology (public, n + n_extra));
      n_rows += n;
      n_generations++;
    }
  ck_assert_uint_eq (n_generations, json_object_get_size (topologies));
  ck_assert_uint_eq (n_rows, json_object_get_int_member (json_object_get_object_member (catalogue, "check"), "rows"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("catalogue");
  TCase *data = tcase_create ("data");

  tcase_add_checked_fixture (data, load_catalogue, drop_catalogue);
  tcase_add_test (data, every_generation_matches_its_sources);
  tcase_add_test (data, every_catalogue_member_is_tested_here);
  tcase_add_test (data, every_machine_type_matches_its_sources);
  tcase_add_test (data, every_gke_label_matches_its_sources);
  tcase_add_test (data, every_division_of_a_host_matches_jax);
  tcase_add_test (data, topologies_are_exactly_those_of_the_sources);
  suite_add_tcase (suite, data);
  return suite_main (suite);
}
