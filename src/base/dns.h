/* SPDX-License-Identifier: Apache-2.0 */
/* The syntax of host names in DNS and Kubernetes. */
#pragma once

#include <glib.h>

enum { QUOIT_LONGEST_DNS_LABEL = 63 };

/* Returns whether @text is a lower-case DNS label of at most @most bytes. The label may begin with a digit (RFC
 * 1123; RFC 1035 does not allow that). */
gboolean quoit_dns_is_label (const char *text, gsize most);
