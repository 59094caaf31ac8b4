/* SPDX-License-Identifier: Apache-2.0 */
/* YAML, as a manifest with and without variables, and as a node list. */
#include <string.h>

#include "formats/formats.h"
#include "formats/json.h"
#include "formats/writer.h"
#include "fuzz.h"

static void
check (QuoitClaims *claims, GError *error)
{
  fuzz_hold_error (claims != NULL, error);
  if (error != NULL)
    {
      g_error_free (error);
      return;
    }
  {
    g_autofree char *json = quoit_write_claims_json (claims);
    guint32 n_nodes;

    quoit_claims_nodes (claims, &n_nodes);
    g_assert (n_nodes > 1000 || quoit_json_check (json, strlen (json), NULL));
  }
  quoit_claims_free (claims);
}

/* Manifests of a million pods are legal, and slow. */
static gboolean
has_long_number (const char *text, gsize size)
{
  unsigned run = 0;

  for (gsize i = 0; i < size; i++)
    {
      run = g_ascii_isdigit (text[i]) ? run + 1 : 0;
      if (run >= 5)
        return TRUE;
    }
  return FALSE;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const set[] = { "N=2", "NAME=x", "IMAGE=y", NULL };
  const char *text = (const char *) data;
  GError *error = NULL;
  QuoitClaims *claims;

  if (!has_long_number (text, size))
    {
      claims = quoit_read_raycluster (text, size, NULL, NULL, &error);
      check (claims, g_steal_pointer (&error));
      claims = quoit_read_raycluster (text, size, "s", set, &error);
      check (claims, g_steal_pointer (&error));
    }
  claims = quoit_read_ray_nodes (text, size, NULL, &error);
  check (claims, error);
  return 0;
}
