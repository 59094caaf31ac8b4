/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and selectors: a second, independent implementation here must agree about each match. */
#include <string.h>

#include "fuzz.h"
#include "models/ray/label-syntax.h"
#include "models/ray/selector.h"

static void
require_checks (const char *key, const char *value)
{
  g_autoptr (GError) key_error = NULL, value_error = NULL;
  gboolean is_key = quoit_label_check_key (key, &key_error), is_value = quoit_label_check_value (value, &value_error);

  fuzz_require_error (is_key, key_error);
  fuzz_require_error (is_value, value_error);
  g_assert (!is_key || (fuzz_can_be_shown (key) && strlen (key) <= 253 + 1 + 63));
  g_assert (!is_value || (fuzz_can_be_shown (value) && strlen (value) <= 63));
}

/* Whether @label is an element of "in(a,b)", or equals a text without such a list. */
static gboolean
is_among (const char *text, const char *label)
{
  g_autofree char *list = NULL, *wanted = NULL;

  if (!g_str_has_prefix (text, "in("))
    return strcmp (text, label) == 0;
  if (strchr (label, ',') != NULL)
    return FALSE;
  list = g_strdup_printf (",%.*s,", (int) strlen (text) - 4, text + 3);
  wanted = g_strdup_printf (",%s,", label);
  return strstr (list, wanted) != NULL;
}

/* A selector with '!' matches exactly if the one without does not, also on a node without the label. */
static void
require_opposite (const char *key, const QuoitSelector *selector, const char *label)
{
  const char *value = quoit_selector_value (selector);
  g_autofree char *opposite = *value == '!' ? g_strdup (value + 1) : g_strconcat ("!", value, NULL);
  g_autoptr (QuoitSelector) other = quoit_selector_new (key, opposite, NULL);

  if (*value == '\0')
    return;
  g_assert (other != NULL);
  g_assert (quoit_selector_matches (other, label) != quoit_selector_matches (selector, label));
  g_assert (quoit_selector_matches (other, NULL) != quoit_selector_matches (selector, NULL));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  FuzzInput in = fuzz_input (data, size);
  g_autofree char *key = fuzz_text (&in), *value = fuzz_text (&in), *label = fuzz_text (&in);
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitSelector) selector = quoit_selector_new (key, value, &error);
  gboolean is_negated = *value == '!';

  require_checks (key, label);
  fuzz_require_error (selector != NULL, error);
  if (selector == NULL)
    return 0;
  g_assert (quoit_label_check_key (key, NULL) && fuzz_can_be_shown (value));
  g_assert (strcmp (quoit_selector_key (selector), key) == 0);
  g_assert (strcmp (quoit_selector_value (selector), value) == 0);
  g_assert (quoit_selector_matches (selector, label) == (is_among (value + is_negated, label) != is_negated));
  g_assert (quoit_selector_matches (selector, NULL) == is_negated);
  require_opposite (key, selector, label);
  return 0;
}
