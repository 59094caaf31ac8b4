/* SPDX-License-Identifier: Apache-2.0 */
/* Label selectors in Ray's syntax (ray-scheduling 4): "v", "!v", "in(a,b)", "!in(a,b)". */
#pragma once

#include "base/error.h"

typedef struct _QuoitSelector QuoitSelector;

/* Parse or check a selector. Blanks are kept, as in Ray: "in(a, b)" matches "a" and " b". Fail with INVALID for text
 * that Ray refuses. */
QuoitSelector *quoit_selector_new (const char *key, const char *value, GError **error);
gboolean quoit_selector_check (const char *key, const char *value, GError **error);
/* Parses any text like Ray's scheduler, including text that Ray's checks refuse: "in(a,)" matches "a", "in()"
 * matches nothing. */
QuoitSelector *quoit_selector_parse_unchecked (const char *key, const char *value);
void quoit_selector_free (QuoitSelector *selector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitSelector, quoit_selector_free)

const char *quoit_selector_key (const QuoitSelector *selector);
const char *quoit_selector_value (const QuoitSelector *selector); /* the whole text, such as "!in(a,b)" */
gboolean quoit_selector_is_negated (const QuoitSelector *selector);
const char *const *quoit_selector_values (const QuoitSelector *selector); /* such as "a", "b"; NULL-terminated */

/* Returns whether the selector matches a node whose label has the value @value; NULL: the node has no such label. */
gboolean quoit_selector_matches (const QuoitSelector *selector, const char *value);
