/* SPDX-License-Identifier: Apache-2.0 */
/* Listings of a Ray cluster. The first byte chooses how they are read; then follow nodes, groups and available
 * resources, where a byte 0xff precedes each of the last two and occurs in no text. An error is set exactly if
 * nothing is returned, and names its text. External uses are sorted, positive and on existing nodes. Rows that are read
 * from text are equal to those that are read from a tree. */
#include <string.h>

#include "formats/formats.h"
#include "formats/json.h"
#include "formats/writer.h"
#include "parsed-rows.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

enum { COMPLETE = 1 << 0, TWO_DEVICES = 1 << 1, STATED = 1 << 2 };

/* Returns the text before the marker, and skips the marker. NULL if no text is left. */
static const char *
next_text (const char **at, const char *end, gsize *length)
{
  const char *text = *at, *marker;

  *length = 0;
  if (text == NULL)
    return NULL;
  marker = memchr (text, 0xff, (gsize) (end - text));
  *length = (gsize) ((marker == NULL ? end : marker) - text);
  *at = marker == NULL ? NULL : marker + 1;
  return text;
}

static void
check_bundle (const QuoitBundleClaim *bundle, guint32 n_nodes)
{
  g_assert (bundle->node == QUOIT_NOT_PLACED || bundle->node < n_nodes);
  for (guint16 i = 0; i < bundle->n_takes; i++)
    {
      g_assert (bundle->takes[i].amount.e4 > 0);
      g_assert (i == 0 || strcmp (bundle->takes[i - 1].name, bundle->takes[i].name) < 0);
    }
}

static void
check (const QuoitClaims *claims)
{
  g_autofree char *json = quoit_write_claims_json (claims);
  guint32 n_nodes, n_groups, n_external;
  const QuoitGroupClaim *groups = quoit_claims_groups (claims, &n_groups);
  const QuoitBundleClaim *external = quoit_claims_external (claims, &n_external);

  g_assert (quoit_json_check (json, strlen (json), NULL));
  quoit_claims_nodes (claims, &n_nodes);
  for (guint32 i = 0; i < n_groups; i++)
    {
      g_assert (groups[i].n_bundles > 0 && *groups[i].identity != '\0');
      for (guint32 j = 0; j < groups[i].n_bundles; j++)
        check_bundle (&groups[i].bundles[j], n_nodes);
    }
  for (guint32 i = 0; i < n_external; i++)
    {
      check_bundle (&external[i], n_nodes);
      g_assert (external[i].n_takes > 0 && (i == 0 || external[i - 1].node < external[i].node));
    }
}

static void
compare_readers (const QuoitRayFiles *files)
{
  g_autofree char *escaped = with_escaped_keys (files->nodes, files->n_nodes), *result = NULL, *parsed = NULL;
  QuoitRayFiles parsed_files = *files;

  if (escaped == NULL)
    return;
  parsed_files.nodes = escaped;
  parsed_files.n_nodes = strlen (escaped);
  result = read_rows (files);
  parsed = read_rows (&parsed_files);
  g_assert_cmpstr (result, ==, parsed);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *at = (const char *) data + 1, *end = (const char *) data + size;
  g_autoptr (GError) error = NULL;
  g_autoptr (QuoitClaims) claims = NULL;
  QuoitRayFiles files = { 0 };

  if (size == 0)
    return 0;
  files.flags = (data[0] & COMPLETE) != 0 ? QUOIT_RAY_COMPLETE : 0;
  files.tpu_per_chip = (data[0] & TWO_DEVICES) != 0 ? 2 : 0;
  files.topology = (data[0] & STATED) != 0 ? "2x2x4" : NULL;
  files.nodes = next_text (&at, end, &files.n_nodes);
  files.groups = next_text (&at, end, &files.n_groups);
  files.available = next_text (&at, end, &files.n_available);

  compare_readers (&files);
  claims = quoit_read_ray_files (&files, &error);
  g_assert ((claims == NULL) == (error != NULL));
  if (claims != NULL)
    {
      check (claims);
      return 0;
    }
  g_assert (g_utf8_validate (error->message, -1, NULL));
  g_assert (g_str_has_prefix (error->message, "nodes: ") || g_str_has_prefix (error->message, "groups: ")
            || g_str_has_prefix (error->message, "available: "));
  return 0;
}
