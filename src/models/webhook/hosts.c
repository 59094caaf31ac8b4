/* SPDX-License-Identifier: Apache-2.0 */
#include "models/webhook/hosts.h"

#include <string.h>

gboolean
quoit_webhook_parse_integer (const char *text, gint64 *value)
{
  const char *digits = text + (*text == '+' || *text == '-');

  return g_ascii_isdigit (*digits) && strspn (digits, "0123456789") == strlen (digits)
         && g_ascii_string_to_signed (*text == '+' ? digits : text, 10, G_MININT64, G_MAXINT64, value, NULL);
}

char *
quoit_webhook_parse_topology (const char *topology, gint32 *chips)
{
  g_auto (GStrv) sides = g_strsplit (topology, "x", -1);
  guint64 product = 1;

  if (sides[0] == NULL)
    return g_strdup ("");
  for (char **side = sides; *side != NULL; side++)
    {
      gint64 value;

      if (!quoit_webhook_parse_integer (*side, &value))
        return g_strdup (*side);
      product *= (guint64) value;
    }
  *chips = (gint32) (guint32) product;
  return NULL;
}

gboolean
quoit_webhook_compute_hosts (gint32 chips, gint64 pod_chips, gint32 *hosts)
{
  gint32 divisor = (gint32) (guint32) (guint64) pod_chips;

  if (divisor == 0)
    return FALSE;
  /* The quotient of these two values does not fit in 32 bits. In Go it wraps to a negative number, which counts as 1.
   */
  *hosts = chips == G_MININT32 && divisor == -1 ? 1 : MAX (chips / divisor, 1);
  return TRUE;
}
