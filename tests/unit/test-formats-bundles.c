/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "suite.h"
#include "formats/bundles.h"

static gboolean
write_down (const QuoitBundlesFile *file, gpointer data, GError **error)
{
  GString *text = data;

  (void) error;
  g_string_append_printf (text, "%s %s", file->strategy == NULL ? "-" : file->strategy,
                          file->topology_label == NULL ? "-" : file->topology_label);
  for (guint i = 0; i < file->n_bundles; i++)
    {
      const QuoitFileBundle *bundle = &file->bundles[i];

      g_string_append_c (text, ';');
      for (guint t = 0; t < bundle->n_takes; t++)
        {
          g_autofree char *amount = quoit_amount_format (bundle->takes[t].amount);

          g_string_append_printf (text, " %s=%s", bundle->takes[t].name, amount);
        }
      for (guint s = 0; s < bundle->n_selectors; s++)
        g_string_append_printf (text, " [%s=%s]", bundle->selectors[s].key, bundle->selectors[s].value);
    }
  return TRUE;
}

static const struct {
  const char *file, *is;
} accepted[] = {
  { "[{\"CPU\": 1, \"TPU\": 4}, {\"CPU\": 0.5}]", "- -; CPU=1 TPU=4; CPU=0.5" },
  { " \n[{\"a\": 0, \"b\": 2}]", "- -; b=2" },
  { "- CPU: 1\n  TPU: 4\n- TPU: 2\n", "- -; CPU=1 TPU=4; TPU=2" },
  { "bundles:\n- {TPU: 4}\n- {TPU: 4}\nstrategy: STRICT_SPREAD\n", "STRICT_SPREAD -; TPU=4; TPU=4" },
  { "{\"bundles\": [{\"TPU\": 4}], \"strategy\": null, \"bundle_label_selector\": null, \"topology_strategy\": null}",
    "- -; TPU=4" },
  { "{\"bundles\": [{\"TPU\": 4}, {\"TPU\": 1}], \"bundle_label_selector\": [{\"a\": \"!in(x,y)\", \"b\": \"\"}, {}]}",
    "- -; TPU=4 [a=!in(x,y)] [b=]; TPU=1" },
  { "bundles: [{TPU: 1}]\nbundle_label_selector: [{rack: 7}]\n", "- -; TPU=1 [rack=7]" },
  { "bundles: [{TPU: 1}]\ntopology_strategy: {ray.io/tpu-slice-name: STRICT_PACK, ray.io/node-id: SPREAD}\n",
    "SPREAD ray.io/tpu-slice-name; TPU=1" },
  { "bundles: [{TPU: 1}]\ntopology_strategy: {}\n", "- -; TPU=1" },
  /* Ray truncates 0.57 * 10000, which is less than 5700 as a double. */
  { "[{\"CPU\": 0.57}]", "- -; CPU=0.5699" },
};

static const struct {
  const char *file, *message;
} refused[] = {
  { "", "expected a YAML document" },
  { "TPU=4", "expected a list of bundles, or a map that has them" },
  { "[]", "0 bundles: expected 1 to 10000" },
  { "[{}]", "$[0]: a map: expected a bundle with an amount above 0" },
  { "[{\"CPU\": 1}, {\"CPU\": 0, \"TPU\": 0}]", "$[1]" },
  { "[{\"CPU\": -1}]", "$[0].CPU" },
  { "[{\"CPU\": \"many\"}]", "$[0].CPU" },
  { "[{\"\": 1}]", "a resource without name" },
  { "[[1]]", "$[0]" },
  { "- CPU: 1\n- 2\n", "line 2" },
  { "a: 1\n---\nb: 2\n", "2 documents: expected one" },
  { "strategy: PACK\n", "no 'bundles'" },
  { "bundles: {TPU: 4}\n", "bundles" },
  { "bundles: [{TPU: 4}]\nname: train\n", "line 2: name: 'name': expected bundles, strategy" },
  { "bundles: [{TPU: 4}]\nstrategy: [PACK]\n", "expected PACK, SPREAD" },
  { "bundles: [{TPU: 4}]\nbundle_label_selector: []\n", "selectors of 0 bundles: expected those of 1" },
  { "bundles: [{TPU: 4}]\nbundle_label_selector: [{a: [b]}]\n", "a selector as text" },
  { "bundles: [{TPU: 4}]\nbundle_label_selector: [a]\n", "line 2" },
  { "bundles: [{TPU: 4}]\nstrategy: PACK\ntopology_strategy: {}\n", "expected one of them" },
  { "bundles: [{TPU: 4}]\ntopology_strategy: {zone: SPREAD}\n", "'SPREAD': expected STRICT_PACK" },
  { "bundles: [{TPU: 4}]\ntopology_strategy: {zone: STRICT_PACK, rack: STRICT_PACK}\n",
    "label 'rack' in addition to 'zone': expected one label" },
};

START_TEST (every_form_of_bundles_file_is_read)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  gboolean ok = quoit_read_bundles (accepted[_i].file, strlen (accepted[_i].file), write_down, text, &error);

  ck_assert_msg (ok, "%s: %s", accepted[_i].file, error == NULL ? "" : error->message);
  ck_assert_str_eq (text->str, accepted[_i].is);
}
END_TEST

START_TEST (invalid_bundles_file_is_refused_with_the_place)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  ck_assert (!quoit_read_bundles (refused[_i].file, strlen (refused[_i].file), write_down, text, &error));
  ck_assert_msg (g_error_matches (error, QUOIT_ERROR, QUOIT_ERROR_INVALID)
                     && strstr (error->message, refused[_i].message) != NULL,
                 "%s: %s", refused[_i].file, error->message);
  ck_assert_str_eq (text->str, "");
}
END_TEST

START_TEST (bundles_file_has_at_most_ten_thousand_bundles)
{
  g_autoptr (GString) file = g_string_new ("[{\"CPU\": 1}");
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;

  for (guint i = 1; i < QUOIT_FILE_MOST_BUNDLES; i++)
    g_string_append (file, ",{\"CPU\": 1}");
  g_string_append_c (file, ']');
  ck_assert (quoit_read_bundles (file->str, file->len, write_down, text, NULL));
  g_string_insert (file, 1, "{\"CPU\": 1},");
  ck_assert (!quoit_read_bundles (file->str, file->len, write_down, text, &error));
  ck_assert_ptr_nonnull (strstr (error->message, "10001 bundles: expected 1 to 10000"));
}
END_TEST

int
main (void)
{
  Suite *suite = suite_create ("formats-bundles");
  TCase *bundles = tcase_create ("bundles");

  tcase_add_loop_test (bundles, every_form_of_bundles_file_is_read, 0, G_N_ELEMENTS (accepted));
  tcase_add_loop_test (bundles, invalid_bundles_file_is_refused_with_the_place, 0, G_N_ELEMENTS (refused));
  tcase_add_test (bundles, bundles_file_has_at_most_ten_thousand_bundles);
  suite_add_tcase (suite, bundles);
  return suite_main (suite);
}
