/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dns.h"

#include <arpa/inet.h>
#include <string.h>

gboolean
quoit_dns_is_label (const char *text, gsize most)
{
  gsize length = strlen (text);

  if (length == 0 || length > most || !g_ascii_isalnum (text[0]) || !g_ascii_isalnum (text[length - 1]))
    return FALSE;
  for (const char *p = text; *p != '\0'; p++)
    if (!g_ascii_islower (*p) && !g_ascii_isdigit (*p) && *p != '-')
      return FALSE;
  return TRUE;
}

gboolean
quoit_is_ip_address (const char *text)
{
  struct in6_addr address;

  return inet_pton (AF_INET, text, &address) == 1 || inet_pton (AF_INET6, text, &address) == 1;
}
