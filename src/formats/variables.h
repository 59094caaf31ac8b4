/* SPDX-License-Identifier: Apache-2.0 */
/* ${NAME} in a manifest, and the values that --set gives. */
#pragma once

#include "base/error.h"

/* Whether each of @set is "NAME=value" and no name is given twice. NULL is no variables. */
gboolean quoit_variables_check (const char *const *set, GError **error);

/* @text with each ${NAME} replaced. INVALID names the variable that has no value. @used (NULL: nobody asks) has a place
 * for each of @set: TRUE is written where it was of use. */
char *quoit_variables_expand (const char *text, const char *const *set, gboolean *used, GError **error);

/* The length of NAME in "NAME=value". */
gsize quoit_variables_name_length (const char *text);
