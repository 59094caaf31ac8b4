/* SPDX-License-Identifier: Apache-2.0 */
#include "base/natural.h"

#include <string.h>

static gsize
digits (const char *p)
{
  gsize n = 0;

  while (g_ascii_isdigit (p[n]))
    n++;
  return n;
}

int
quoit_natural_compare (const char *a, const char *b)
{
  const char *p = a, *q = b;

  while (*p != '\0' && *q != '\0')
    {
      if (g_ascii_isdigit (*p) && g_ascii_isdigit (*q))
        {
          gsize n, m;
          int order;

          for (; *p == '0'; p++)
            ;
          for (; *q == '0'; q++)
            ;
          n = digits (p);
          m = digits (q);
          /* Without leading zeros, the longer number is the greater one. This cannot overflow. */
          if (n != m)
            return n < m ? -1 : 1;
          order = memcmp (p, q, n);
          if (order != 0)
            return order;
          p += n;
          q += m;
          continue;
        }
      if (*p != *q)
        return (unsigned char) *p < (unsigned char) *q ? -1 : 1;
      p++;
      q++;
    }
  if (*p != *q)
    return *p == '\0' ? -1 : 1;

  return strcmp (a, b);
}
