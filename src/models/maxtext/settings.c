/* SPDX-License-Identifier: Apache-2.0 */
/* Reads settings as MaxText does: files first, then KEY=VALUE words of the command line, which override them. */
#include <math.h>
#include <string.h>

#include "base/name-hash.h"
#include "models/maxtext/maxtext.h"

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
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_KEY_UNKNOWN, NULL, key, "a setting of MaxText, such as '%s'",
                              nearest);
  else
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_KEY_UNKNOWN, NULL, key,
                              "a setting of MaxText; none has a similar name");
}

/* --- files --- */

/* MaxText first reads the file that base_config names. quoit does not read it. */
static void
check_base_config (QuoitMaxtextSettings *settings, const QuoitMaxtextFileSetting *file_setting, gboolean is_first)
{
  const char *slash = strrchr (file_setting->value, '/');

  if (is_first && strcmp (slash != NULL ? slash + 1 : file_setting->value, "base.yml") != 0)
    quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_CONFIG_FILE, file_setting->key, file_setting->value,
                              "base.yml: to check against another file, give that file before this one");
}

static void
read_file_setting (QuoitMaxtextSettings *settings, const QuoitMaxtextFileSetting *file_setting, gboolean is_first)
{
  settings->report->current_location = &file_setting->location;
  /* Only words can set a part of a setting with a point. */
  if (strchr (file_setting->key, '.') != NULL || !quoit_maxtext_is_key (file_setting->key))
    refuse_key (settings->report, file_setting->key);
  else
    {
      quoit_maxtext_report_set_location (settings->report, file_setting->key, &file_setting->location);
      g_hash_table_replace (settings->values, g_strdup (file_setting->key), g_strdup (file_setting->value));
      if (strcmp (file_setting->key, "base_config") == 0)
        check_base_config (settings, file_setting, is_first);
    }
  settings->report->current_location = NULL;
}

static void
read_file_settings (QuoitMaxtextSettings *settings, const GArray *file_settings)
{
  for (guint i = 0; i < file_settings->len; i++)
    {
      const QuoitMaxtextFileSetting *first = &g_array_index (file_settings, QuoitMaxtextFileSetting, 0);
      const QuoitMaxtextFileSetting *file_setting = &g_array_index (file_settings, QuoitMaxtextFileSetting, i);

      read_file_setting (settings, file_setting, strcmp (file_setting->location.file, first->location.file) == 0);
    }
}

/* --- words --- */

/* A word that overrides a file is not a repetition. */
static void
set_word (QuoitMaxtextSettings *settings, GHashTable *given, const char *key, const char *value)
{
  const char *before = g_hash_table_lookup (given, key);

  quoit_maxtext_report_set_location (settings->report, key, NULL);
  if (before != NULL)
    {
      g_autofree char *last = quoit_quote (value);

      quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_KEY_REPEATED, key, before,
                                "each setting once: MaxText uses the last value, %s", last);
    }
  g_hash_table_replace (given, g_strdup (key), (char *) value);
  g_hash_table_replace (settings->values, g_strdup (key), g_strdup (value));
}

static void
read_word (QuoitMaxtextSettings *settings, GHashTable *given, const char *word)
{
  const char *equals = strchr (word, '=');
  g_autofree char *key = equals == NULL ? NULL : g_strndup (word, (gsize) (equals - word));

  if (key == NULL || *key == '\0')
    quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_SETTING, NULL, word, "KEY=VALUE");
  else if (!quoit_maxtext_is_key (key))
    refuse_key (settings->report, key);
  else
    set_word (settings, given, key, equals + 1);
}

static void
read_words (QuoitMaxtextSettings *settings, const GPtrArray *words, gboolean has_files)
{
  g_autoptr (GHashTable) given = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, NULL);

  for (guint i = 0; i < words->len; i++)
    {
      const char *word = words->pdata[i];

      if (strchr (word, '=') != NULL || !is_config_file (word))
        read_word (settings, given, word);
      /* The file on the command line is the given file, or one of the files that it includes. */
      else if (!has_files)
        quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_CONFIG_FILE, NULL, word,
                                  "settings: this file is not read, and base.yml of MaxText 0.2.5 is used instead");
    }
}

QuoitMaxtextSettings *
quoit_maxtext_settings_new (const GArray *file_settings, const GPtrArray *words, QuoitMaxtextReport *report)
{
  QuoitMaxtextSettings *settings = g_new0 (QuoitMaxtextSettings, 1);

  settings->values = g_hash_table_new_full (quoit_hash_text, g_str_equal, g_free, g_free);
  settings->report = report;
  read_file_settings (settings, file_settings);
  read_words (settings, words, file_settings->len > 0);
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

/* Reports a value of the wrong type once. After that it counts as not given. */
static void
refuse_value (QuoitMaxtextSettings *settings, const char *key, const char *expected)
{
  quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_VALUE, key,
                            quoit_maxtext_settings_find (settings, key), "%s", expected);
  g_hash_table_remove (settings->values, key);
}

/* Parses a decimal number. Unlike strtod() it refuses hexadecimal numbers, words and blanks. */
static gboolean
parse_number (const char *text, double *number)
{
  char *end;

  if (*text == '\0' || strspn (text, "+-0123456789.eE") != strlen (text))
    return FALSE;
  *number = g_ascii_strtod (text, &end);
  return *end == '\0' && isfinite (*number);
}

/* Like pydantic, accepts a float without a fractional part as an integer. */
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
quoit_maxtext_settings_integer (QuoitMaxtextSettings *settings, const char *key, int64_t default_value)
{
  const char *text = quoit_maxtext_settings_find (settings, key);
  int64_t integer;

  if (text == NULL)
    return default_value;
  if (parse_integer (text, &integer))
    return integer;

  refuse_value (settings, key, "an integer of at most 64 bits");
  return default_value;
}

double
quoit_maxtext_settings_number (QuoitMaxtextSettings *settings, const char *key, double default_value)
{
  const char *text = quoit_maxtext_settings_find (settings, key);
  double number;

  if (text == NULL)
    return default_value;
  if (parse_number (text, &number))
    return number;

  refuse_value (settings, key, "a number");
  return default_value;
}

gboolean
quoit_maxtext_settings_flag (QuoitMaxtextSettings *settings, const char *key, gboolean default_value)
{
  static const char *const yes[] = { "true", "yes", "on", "1", "t", "y", NULL };
  static const char *const no[] = { "false", "no", "off", "0", "f", "n", NULL };
  const char *text = quoit_maxtext_settings_find (settings, key);
  g_autofree char *lower = text == NULL ? NULL : g_ascii_strdown (text, -1);

  if (lower == NULL)
    return default_value;
  if (g_strv_contains (yes, lower))
    return TRUE;
  if (!g_strv_contains (no, lower))
    {
      refuse_value (settings, key, "true or false");
      return default_value;
    }
  return FALSE;
}
