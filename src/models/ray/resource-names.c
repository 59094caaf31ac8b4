/* SPDX-License-Identifier: Apache-2.0 */
#include "models/ray/resource-names.h"

#include <string.h>

gboolean
quoit_resource_is_of_group (const char *name)
{
  /* Use the last match, because the name of the resource itself may contain "_group_". */
  const char *p = g_strrstr (name, "_group_"), *digits;

  if (p == NULL)
    return FALSE;
  p += strlen ("_group_");
  for (digits = p; g_ascii_isdigit (*digits); digits++)
    ;
  if (digits > p && *digits == '_')
    p = digits + 1;
  for (digits = p; g_ascii_isxdigit (*digits); digits++)
    ;
  /* The id is hexadecimal and long, so a user's resource "my_group_a" does not match. */
  return *digits == '\0' && digits - p >= 16;
}

gboolean
quoit_resource_is_predefined (const char *name)
{
  static const char *const names[] = { "CPU", "GPU", "TPU", "memory", "object_store_memory" };

  for (unsigned i = 0; i < G_N_ELEMENTS (names); i++)
    if (strcmp (name, names[i]) == 0)
      return TRUE;
  return FALSE;
}

gboolean
quoit_resource_is_rounded (const char *name)
{
  return strcmp (name, "memory") == 0 || strcmp (name, "object_store_memory") == 0;
}

gboolean
quoit_resource_is_slice_head (const char *name)
{
  return g_str_has_prefix (name, "TPU-") && g_str_has_suffix (name, "-head") && strlen (name) >= strlen ("TPU--head");
}

gboolean
quoit_resource_is_implicit (const char *name)
{
  return g_str_has_prefix (name, "node:__internal_implicit_resource_");
}
