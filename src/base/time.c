/* SPDX-License-Identifier: Apache-2.0 */
#include "base/time.h"

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
