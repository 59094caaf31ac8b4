/* SPDX-License-Identifier: Apache-2.0 */
/* Reads settings as MaxText does: files first, then KEY=VALUE words of the command line, which override them. */
#include <math.h>
#include <string.h>

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
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_KEY_UNKNOWN, NULL, key, "a setting of MaxText's, as '%s'",
                              nearest);
  else
    quoit_maxtext_report_add (report, QUOIT_MAXTEXT_RULE_KEY_UNKNOWN, NULL, key,
                              "a setting of MaxText's; none is called alike");
}

/* --- files --- */

/* MaxText first reads the file that base_config names. quoit does not read it. */
static void
check_base (QuoitMaxtextSettings *settings, const QuoitMaxtextEntry *entry, gboolean is_first)
{
  const char *slash = strrchr (entry->value, '/');

  if (is_first && strcmp (slash != NULL ? slash + 1 : entry->value, "base.yml") != 0)
    quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_CONFIG_FILE, entry->key, entry->value,
                              "base.yml, or that file given before this one: it is not read by itself");
}

static void
read_entry (QuoitMaxtextSettings *settings, const QuoitMaxtextEntry *entry, gboolean is_first)
{
  settings->report->reading = &entry->place;
  /* Only words can set a part of a setting with a point. */
  if (strchr (entry->key, '.') != NULL || !quoit_maxtext_is_key (entry->key))
    refuse_key (settings->report, entry->key);
  else
    {
      quoit_maxtext_report_place (settings->report, entry->key, &entry->place);
      g_hash_table_replace (settings->values, g_strdup (entry->key), g_strdup (entry->value));
      if (strcmp (entry->key, "base_config") == 0)
        check_base (settings, entry, is_first);
    }
  settings->report->reading = NULL;
}

static void
read_entries (QuoitMaxtextSettings *settings, const GArray *entries)
{
  for (guint i = 0; i < entries->len; i++)
    {
      const QuoitMaxtextEntry *first = &g_array_index (entries, QuoitMaxtextEntry, 0);
      const QuoitMaxtextEntry *entry = &g_array_index (entries, QuoitMaxtextEntry, i);

      read_entry (settings, entry, strcmp (entry->place.file, first->place.file) == 0);
    }
}

/* --- words --- */

/* A word that overrides a file is not a repetition. */
static void
set_word (QuoitMaxtextSettings *settings, GHashTable *given, const char *key, const char *value)
{
  const char *before = g_hash_table_lookup (given, key);

  quoit_maxtext_report_place (settings->report, key, NULL);
  if (before != NULL)
    {
      g_autofree char *last = quoit_quote (value);

      quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_KEY_REPEATED, key, before,
                                "it once: MaxText takes what was given last, %s", last);
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
  g_autoptr (GHashTable) given = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (guint i = 0; i < words->len; i++)
    {
      const char *word = words->pdata[i];

      if (strchr (word, '=') != NULL || !is_config_file (word))
        read_word (settings, given, word);
      /* The file on the command line is the given file, or one of the files that it includes. */
      else if (!has_files)
        quoit_maxtext_report_add (settings->report, QUOIT_MAXTEXT_RULE_CONFIG_FILE, NULL, word,
                                  "settings: a file that is only named is not read, and base.yml of MaxText 0.2.5 "
                                  "stands for it");
    }
}

QuoitMaxtextSettings *
quoit_maxtext_settings_new (const GArray *entries, const GPtrArray *words, QuoitMaxtextReport *report)
{
  QuoitMaxtextSettings *settings = g_new0 (QuoitMaxtextSettings, 1);

  settings->values = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  settings->report = report;
  read_entries (settings, entries);
  read_words (settings, words, entries->len > 0);
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
