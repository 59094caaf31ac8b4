/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: json-glib reads every text that passes quoit's check without losing a member, and the node list reader
 * accepts or refuses it. */
#include <string.h>

#include "formats/formats.h"
#include "formats/json.h"
#include "formats/writer.h"
#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *text = (const char *) data;
  g_autoptr (GError) gate_error = NULL, error = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  g_autoptr (JsonNode) node = NULL;
  gboolean ok = quoit_json_check (text, size, &gate_error);

  fuzz_require_error (ok, gate_error);

  node = quoit_json_parse (text, size, &error);
  fuzz_require_error (node != NULL, error);
  g_assert (ok == (node != NULL));
  g_clear_error (&error);

  claims = quoit_read_ray_nodes (text, size, NULL, &error);
  fuzz_require_error (claims != NULL, error);
  if (claims != NULL)
    {
      g_autofree char *json = quoit_write_claims_json (claims);

      g_assert (quoit_json_check (json, strlen (json), NULL));
    }
  return 0;
}
