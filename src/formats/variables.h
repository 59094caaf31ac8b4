/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces ${NAME} in a manifest by the values of --set. */
#pragma once

#include "base/error.h"

/* Checks that each entry of @set is "NAME=value", and that no name occurs twice. @set may be NULL. */
gboolean quoit_variables_check (const char *const *set, GError **error);

/* Returns @text with each ${NAME} replaced; free it with g_free(). INVALID if a variable has no value. @used may be
   NULL; otherwise it has one element per entry of @set, and the function sets the elements of the entries that it
   uses. */
char *quoit_variables_expand (const char *text, const char *const *set, gboolean *used, GError **error);

/* Returns the length of the name at the start of @text: of NAME in "NAME=value". 0: none. */
gsize quoit_variables_name_length (const char *text);
