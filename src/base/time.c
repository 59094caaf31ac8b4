/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

#include <string.h>

gboolean
quoit_time_is_valid (gint64 time_ms)
{
  return time_ms >= 0 && time_ms < QUOIT_LAST_MS;
}

char *
quoit_time_format (gint64 time_ms)
{
  g_autoptr (GDateTime) time = g_date_time_new_from_unix_utc (time_ms / 1000);
  g_autofree char *seconds = g_date_time_format (time, "%Y-%m-%dT%H:%M:%S");

  return g_strdup_printf ("%s.%03dZ", seconds, (int) (time_ms % 1000));
}

/* GLib requires seconds. Returns "...T09:30:00Z" for "...T09:30Z", and a copy of other text. */
static char *
add_seconds (const char *text)
{
  const char *time = strchr (text, 'T');
  gboolean has_minutes_only = time != NULL && g_ascii_isdigit (time[1]) && g_ascii_isdigit (time[2]) && time[3] == ':'
                              && g_ascii_isdigit (time[4]) && g_ascii_isdigit (time[5]) && time[6] != '\0'
                              && strchr ("Z+-", time[6]) != NULL;

  return has_minutes_only ? g_strdup_printf ("%.*s:00%s", (int) (time - text + 6), text, time + 6) : g_strdup (text);
}

gboolean
quoit_time_parse (const char *text, gint64 *time_ms)
{
  g_autofree char *complete = add_seconds (text);
  g_autoptr (GDateTime) time = g_date_time_new_from_iso8601 (complete, NULL);

  if (time == NULL)
    return FALSE;
  *time_ms = g_date_time_to_unix (time) * 1000 + g_date_time_get_microsecond (time) / 1000;
  return quoit_time_is_valid (*time_ms);
}
