/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hidden.h"

gboolean
quoit_is_hidden (gunichar c)
{
  if (c < 0x7f)
    return c < 0x20;
  switch (g_unichar_type (c))
    {
    case G_UNICODE_CONTROL:
    case G_UNICODE_FORMAT:
    case G_UNICODE_LINE_SEPARATOR:
    case G_UNICODE_PARAGRAPH_SEPARATOR:
      return TRUE;
    default:
      return FALSE;
    }
}
