/* SPDX-License-Identifier: Apache-2.0 */
/* What Ray calls strategies, and the parts of resources that belong to groups. */
#pragma once

#include <quoit/request.h>

#include "base/error.h"

enum { QUOIT_RAY_NODE_DIGITS = 56, QUOIT_RAY_GROUP_DIGITS = 36 }; /* of their ids */

/* Whether @text is so many hexadecimal digits. */
gboolean quoit_ray_is_hex (const char *text, gsize length);

/* "PACK", "STRICT_SPREAD", as Ray writes it. NULL: there is no such strategy. */
const char *quoit_strategy_name (QuoitStrategy strategy);
gboolean quoit_strategy_parse (const char *text, QuoitStrategy *strategy);

/* Owned. INVALID for a resource without a name, or what is no id. */
char *quoit_ray_bundle_resource (const char *resource, const char *group_id, guint32 bundle, GError **error);
char *quoit_ray_group_resource (const char *resource, const char *group_id, GError **error);
