/* SPDX-License-Identifier: Apache-2.0 */
/* Words of MaxText's command line, KEY=VALUE, read as MaxText reads them. */
#include <math.h>
#include <string.h>

#include "topology/maxtext.h"

struct _QuoitMaxtextSettings {
  GHashTable *values; /* key -> text */
  QuoitMaxtextReport *report;
};

static gboolean
is_config_file (const char *word)
{
  return g_str_has_suffix (word, ".yml") || g_str_has_suffix (word, ".yaml");
}

static void
refuse_key (QuoitMaxtextReport *report, const char *key)
{
  const char *nearest = quoit_maxtext_nearest_key (key);

  if (nearest != NULL)
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_KEY_UNKNOWN, NULL, key, "a setting of MaxText's, as '%s'",
                              nearest);
  else
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_KEY_UNKNOWN, NULL, key,
                              "a setting of MaxText's; none is called alike");
}

static void
read_word (QuoitMaxtextSettings *settings, const char *word)
{
  const char *equals = strchr (word, '=');
  g_autofree char *key = equals == NULL ? NULL : g_strndup (word, (gsize) (equals - word));
  const char *before;

  if (key == NULL && is_config_file (word))
    {
      quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_CONFIG_FILE, NULL, word,
                                "settings: a file is not read, and base.yml of MaxText 0.2.5 stands for it");
      return;
    }
  if (key == NULL || *key == '\0')
    {
      quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_SETTING, NULL, word, "KEY=VALUE");
      return;
    }
  if (!quoit_maxtext_is_key (key))
    {
      refuse_key (settings->report, key);
      return;
    }
  before = g_hash_table_lookup (settings->values, key);
  if (before != NULL)
    {
      g_autofree char *last = quoit_quote (equals + 1);

      quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_KEY_REPEATED, key, before,
                                "it once: MaxText takes what was given last, %s", last);
    }
  g_hash_table_replace (settings->values, g_steal_pointer (&key), g_strdup (equals + 1));
}

QuoitMaxtextSettings *
quoit_maxtext_settings_new (const GPtrArray *words, QuoitMaxtextReport *report)
{
  QuoitMaxtextSettings *settings = g_new0 (QuoitMaxtextSettings, 1);

  settings->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  settings->report = report;
  for (guint i = 0; i < words->len; i++)
    read_word (settings, words->pdata[i]);
  return settings;
}

void
quoit_maxtext_settings_free (QuoitMaxtextSettings *settings)
{
  if (settings == NULL)
    return;

  g_hash_table_unref (settings->values);
  g_free (settings);
}

const char *
quoit_maxtext_settings_find (const QuoitMaxtextSettings *settings, const char *key)
{
  return g_hash_table_lookup (settings->values, key);
}

/* What is of another type is told once, and counts as not given. */
static void
refuse_value (QuoitMaxtextSettings *settings, const char *key, const char *expected)
{
  quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_VALUE, key,
                            quoit_maxtext_settings_find (settings, key), "%s", expected);
  g_hash_table_remove (settings->values, key);
}

/* A decimal number without what strtod() takes besides: hexadecimal digits, words, blanks. */
static gboolean
parse_number (const char *text, double *number)
{
  char *end;

  if (*text == '\0' || strspn (text, "+-0123456789.eE") != strlen (text))
    return FALSE;
  *number = g_ascii_strtod (text, &end);
  return *end == '\0' && isfinite (*number);
}

/* pydantic takes a number with nothing behind its point for an integer. */
static gboolean
parse_integer (const char *text, int64_t *integer)
{
  const char *digits = *text == '+' ? text + 1 : text;
  gint64 whole;
  double number;

  if (g_ascii_isdigit (*digits) || *text == '-')
    if (g_ascii_string_to_signed (digits, 10, G_MININT64, G_MAXINT64, &whole, NULL))
      return *integer = whole, TRUE;
  if (strpbrk (text, ".eE") == NULL || !parse_number (text, &number) || floor (number) != number
      || fabs (number) > 0x1p53)
    return FALSE;
  *integer = (int64_t) number;
  return TRUE;
}

int64_t
quoit_maxtext_settings_integer (QuoitMaxtextSettings *settings, const char *key, int64_t unset)
{
  const char *text = quoit_maxtext_settings_find (settings, key);
  int64_t integer;

  if (text == NULL)
    return unset;
  if (parse_integer (text, &integer))
    return integer;

  refuse_value (settings, key, "an integer of at most 64 bits");
  return unset;
}

double
quoit_maxtext_settings_number (QuoitMaxtextSettings *settings, const char *key, double unset)
{
  const char *text = quoit_maxtext_settings_find (settings, key);
  double number;

  if (text == NULL)
    return unset;
  if (parse_number (text, &number))
    return number;

  refuse_value (settings, key, "a number");
  return unset;
}

gboolean
quoit_maxtext_settings_flag (QuoitMaxtextSettings *settings, const char *key, gboolean unset)
{
  static const char *const yes[] = { "true", "yes", "on", "1", "t", "y", NULL };
  static const char *const no[] = { "false", "no", "off", "0", "f", "n", NULL };
  const char *text = quoit_maxtext_settings_find (settings, key);
  g_autofree char *small = text == NULL ? NULL : g_ascii_strdown (text, -1);

  if (small == NULL)
    return unset;
  if (g_strv_contains (yes, small))
    return TRUE;
  if (!g_strv_contains (no, small))
    {
      refuse_value (settings, key, "true or false");
      return unset;
    }
  return FALSE;
}
