/* SPDX-License-Identifier: Apache-2.0 */
/* A MaxText settings file: quoit reads all settings in order, or none, and each value fits into one word. */
#include <string.h>

#include "formats/maxtext-config.h"

#include "fuzz.h"

/* In YAML 1.1 an integer may have a base and underscores; the resulting value contains neither of them. */
static void
check_value (const char *value)
{
  gint64 number;

  g_assert (g_utf8_validate (value, -1, NULL));
  if (g_ascii_string_to_signed (value, 10, G_MININT64, G_MAXINT64, &number, NULL))
    g_assert (strpbrk (value, "_xb") == NULL);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GHashTable) keys = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) settings = NULL;

  if (size == 0)
    return 0;
  settings = quoit_maxtext_config_read ((const char *) data, size, &error);
  fuzz_require_error (settings != NULL, error);
  for (guint i = 0; settings != NULL && i < settings->len; i++)
    {
      const QuoitConfigSetting *setting = &g_array_index (settings, QuoitConfigSetting, i);

      g_assert (g_hash_table_add (keys, setting->key));
      g_assert (setting->line > 0);
      check_value (setting->value);
    }
  return 0;
}
