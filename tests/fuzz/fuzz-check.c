/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a manifest, with and without variables: every finding is complete, and findings are in order. */
#include <string.h>

#include "formats/check.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

static void
check (const guint8 *data, gsize size, const char *const *set)
{
  GError *error = NULL;
  g_autoptr (GArray) findings = quoit_manifest_check ((const char *) data, size, set, &error);

  g_assert ((findings == NULL) == (error != NULL));
  g_clear_error (&error);
  for (guint i = 0; findings != NULL && i < findings->len; i++)
    {
      const QuoitFinding *finding = &g_array_index (findings, QuoitFinding, i);

      g_assert (finding->line > 0 && finding->column > 0);
      g_assert (i == 0 || finding->line >= finding[-1].line);
      g_assert (finding->path[0] == '$' && g_utf8_validate (finding->path, -1, NULL));
      g_assert (finding->value == NULL || g_utf8_validate (finding->value, -1, NULL));
      g_assert (finding->expected[0] != '\0' && g_str_has_suffix (finding->message, finding->expected));
      g_assert (g_utf8_validate (finding->message, -1, NULL) && strchr (finding->message, '\n') == NULL);
    }
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  static const char *const set[] = { "N=2", "NAME=x", "IMAGE=y", NULL };

  if (size == 0)
    return 0;
  check (data, size, NULL);
  if (memchr (data, '$', size) != NULL)
    check (data, size, set);
  return 0;
}
