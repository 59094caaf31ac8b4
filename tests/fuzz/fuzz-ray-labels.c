/* SPDX-License-Identifier: Apache-2.0 */
/* Ray's labels and selectors from any text: parsed labels pass the checks and can be read back; a selector matches
 * the values it lists. Fields: a command line, a document, a request, a label's value. */
#include <quoit/models/ray-labels.h>
#include <string.h>

#include "fuzz.h"

/* Writes a command line; NULL if it cannot express a key or a value. */
static char *
written (const QuoitRayLabels *labels)
{
  g_autoptr (GString) text = g_string_new (NULL);
  const char *key;

  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    {
      const char *value = quoit_ray_labels_get_value (labels, i);

      if (!quoit_ray_label_check_key (key, NULL) || !quoit_ray_label_check_value (value, NULL))
        return NULL;
      g_string_append_printf (text, "%s%s=%s", i > 0 ? "," : "", key, value);
    }
  return g_strdup (text->str);
}

static void
require_same (const QuoitRayLabels *a, const QuoitRayLabels *b)
{
  unsigned i = 0;

  for (; quoit_ray_labels_get_key (a, i) != NULL; i++)
    {
      g_assert_cmpstr (quoit_ray_labels_get_key (a, i), ==, quoit_ray_labels_get_key (b, i));
      g_assert_cmpstr (quoit_ray_labels_get_value (a, i), ==, quoit_ray_labels_get_value (b, i));
      g_assert (quoit_ray_labels_find (a, quoit_ray_labels_get_key (a, i)) == quoit_ray_labels_get_value (a, i));
    }
  g_assert (quoit_ray_labels_get_key (b, i) == NULL);
}

static void
require_written (const QuoitRayLabels *labels)
{
  g_autofree char *text = written (labels);
  g_autoptr (QuoitRayLabels) again = text != NULL ? quoit_ray_labels_parse (text, NULL) : NULL;

  if (text == NULL)
    return;
  g_assert (again != NULL);
  require_same (labels, again);
}

static void
require_command_line (const char *text)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_parse (text, &error);
  g_autofree char *again = labels != NULL ? written (labels) : NULL;

  fuzz_require_error (labels != NULL, error);
  g_assert ((labels != NULL) == (again != NULL));
  if (labels != NULL)
    require_written (labels);
}

static void
require_document (const char *text)
{
  g_autoptr (GError) error = NULL, strategy_error = NULL;
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_parse_json (text, strlen (text), &error);
  g_autofree char *strategy = g_strdup_printf ("[{\"label_selector\":%s}]", text);
  gboolean is_strategy = quoit_ray_fallback_check_json (strategy, strlen (strategy), &strategy_error);
  const char *key;

  fuzz_require_error (labels != NULL, error);
  fuzz_require_error (is_strategy, strategy_error);
  if (labels == NULL)
    return;
  require_written (labels);
  for (unsigned i = 0; (key = quoit_ray_labels_get_key (labels, i)) != NULL; i++)
    g_assert (!g_str_has_prefix (key, "ray.io/") && quoit_ray_labels_get_value (labels, i) != NULL);
  /* The selector check gives the same result for labels and for their JSON text. */
  g_assert (quoit_ray_selector_check (labels, NULL) == is_strategy);
}

static void
require_selector (const char *asked, const char *value)
{
  g_auto (GStrv) values = quoit_ray_selector_dup_values (asked);
  g_autoptr (QuoitRayLabels) labels = quoit_ray_labels_new (), selector = quoit_ray_labels_new ();
  int is_negated = quoit_ray_selector_is_negated (asked);
  g_autoptr (GError) error = NULL;
  int is_asked = quoit_ray_selector_check_value (asked, &error);

  fuzz_require_error (is_asked, error);
  quoit_ray_labels_set (selector, "k", asked);
  g_assert (quoit_ray_selector_check (selector, NULL) == is_asked);
  g_assert (quoit_ray_selector_holds (selector, labels) == is_negated);
  quoit_ray_labels_set (labels, "k", value);
  g_assert (quoit_ray_selector_holds (selector, labels)
            == (g_strv_contains ((const char *const *) values, value) != is_negated));
  for (unsigned i = 0; values[i] != NULL; i++)
    {
      g_assert (i == 0 || strcmp (values[i - 1], values[i]) < 0);
      quoit_ray_labels_set (labels, "k", values[i]);
      g_assert (quoit_ray_selector_holds (selector, labels) != is_negated);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *line = fuzz_text (&in), *document = fuzz_text (&in), *asked = fuzz_text (&in);
  g_autofree char *value = fuzz_text (&in);

  require_command_line (line);
  require_document (document);
  require_selector (asked, value);
  return 0;
}
