/* SPDX-License-Identifier: Apache-2.0 */
#include "models/webhook/names.h"

#include <string.h>

#include "catalogue/catalogue.h"

char *
quoit_webhook_kuberay_service (const char *cluster)
{
  return g_strconcat (cluster, "-headless", NULL);
}

/* Punctuation according to Go: '$', '+', '<', '=', '>', '^', '`', '|' and '~' are symbols instead. KubeRay checks a
 * single byte; bytes beyond ASCII count as Latin-1 characters. */
static gboolean
is_go_punctuation (char byte)
{
  return byte != '\0' && strchr ("!\"#%&'()*,-./:;?@[\\]_{}\xa1\xa7\xab\xb6\xb7\xbb\xbf", byte) != NULL;
}

static const char *
suffix (const char *name, gsize most)
{
  gsize length = strlen (name);

  return length > most ? name + length - most : name;
}

char *
quoit_webhook_dup_checked_name (const char *name)
{
  char *checked = g_strdup (suffix (name, QUOIT_WEBHOOK_LONGEST_SERVICE));

  if (g_ascii_isdigit (*checked) || is_go_punctuation (*checked))
    *checked = 'r';
  return checked;
}

char *
quoit_webhook_dup_checked_label (const char *value)
{
  char *checked = g_strdup (suffix (value, QUOIT_WEBHOOK_LONGEST_LABEL));

  if (is_go_punctuation (*checked))
    *checked = 'r';
  return checked;
}

char *
quoit_webhook_service (const char *cluster)
{
  g_autofree char *name = quoit_webhook_kuberay_service (cluster);

  return quoit_webhook_dup_checked_name (name);
}

guint32
quoit_webhook_longest_name (const char *end)
{
  g_autofree char *rest = quoit_webhook_kuberay_service (end);

  return QUOIT_WEBHOOK_LONGEST_SERVICE - (guint32) strlen (rest);
}

gboolean
quoit_webhook_has_process_addresses (const char *accelerator)
{
  const QuoitGenerationFacts *facts;

  for (unsigned i = 0; accelerator != NULL && (facts = quoit_generation_row (i)) != NULL; i++)
    if ((facts->traits & QUOIT_GENERATION_PROCESS_ADDRESSES) != 0 && g_str_has_prefix (accelerator, facts->id))
      return TRUE;
  return FALSE;
}
