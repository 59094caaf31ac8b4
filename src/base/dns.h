/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of host names in DNS and Kubernetes, and of IP addresses. */
#pragma once

#include <glib.h>

enum { QUOIT_MAX_DNS_LABEL_BYTES = 63 };

/* Returns whether @text is a lower-case DNS label of at most @most bytes. The label may begin with a digit (RFC
 * 1123; RFC 1035 does not allow that). */
gboolean quoit_dns_is_label (const char *text, gsize most);

/* Returns whether @text is an IPv4 address, or an IPv6 address without brackets and zone. */
gboolean quoit_is_ip_address (const char *text);
