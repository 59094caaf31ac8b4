/* SPDX-License-Identifier: Apache-2.0 */
/* What DNS, and Kubernetes after it, takes for the name of a host. */
#pragma once

#include <glib.h>

enum { QUOIT_LONGEST_DNS_LABEL = 63 };

/* A DNS label in lower case of at most @most bytes; RFC 1123 lets it begin with a digit, RFC 1035 does not. */
gboolean quoit_dns_is_label (const char *text, gsize most);
