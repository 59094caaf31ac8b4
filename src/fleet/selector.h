/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and selectors in Ray's grammar (ray-scheduling 4): "v", "!v", "in(a,b)", "!in(a,b)". */
#pragma once

#include "fleet/layout.h"

typedef struct _QuoitSelector QuoitSelector;

/* Nothing is trimmed, as in Ray: "in(a, b)" holds for "a" and " b". INVALID for text that Ray refuses. */
QuoitSelector *quoit_selector_new (const char *key, const char *value, GError **error);
gboolean quoit_selector_check (const char *key, const char *value, GError **error);
/* What Ray's scheduler makes of any text, also of one that Ray's checks refuse: "in(a,)" is "a", "in()" nothing. */
QuoitSelector *quoit_selector_read (const char *key, const char *value);
void quoit_selector_free (QuoitSelector *selector);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (QuoitSelector, quoit_selector_free)

const char *quoit_selector_key (const QuoitSelector *selector);
const char *quoit_selector_value (const QuoitSelector *selector); /* as it was written */
gboolean quoit_selector_is_negated (const QuoitSelector *selector);
const char *const *quoit_selector_values (const QuoitSelector *selector); /* as they were written, ends with NULL */

/* @value: the label's, NULL where the node has no such label. */
gboolean quoit_selector_holds (const QuoitSelector *selector, const char *value);
